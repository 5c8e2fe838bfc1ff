"""Every command and every setting is documented: what a user cannot find does not exist for them."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from core.base.settings import SETTINGS
from core.cli.text import TEXT
from core.commands.table import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHIPPED = (ROOT / "config.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda row: row.name)
def test_every_command_is_documented(command) -> None:  # type: ignore[no-untyped-def]
    """It stands in the README's table, has a text form, an example that parses, and a function behind it."""
    assert f"| `knowledge {command.name}` |" in README
    assert command.name in TEXT
    assert command.example.startswith(f"knowledge {command.name}")
    assert callable(command.function())
    for argument in command.arguments:
        assert argument.help, f"{command.name} {argument.names} says nothing about itself"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda row: row.key)
def test_every_setting_is_documented(setting) -> None:  # type: ignore[no-untyped-def]
    """The shipped config.toml has it with a comment above, and the README names it."""
    lines = SHIPPED.split("\n")
    at = next(number for number, line in enumerate(lines) if re.match(rf"{setting.key}\s*=", line))
    assert lines[at - 1].startswith("#"), f"{setting.key} has no comment above it in config.toml"
    assert f"`{setting.key}`" in README


def test_config_has_no_key_that_nothing_reads() -> None:
    """A setting without a row in SETTINGS would be ignored without a word."""
    tables = tomllib.loads(SHIPPED)
    written = set(tables["paths"]) | set(tables["ai_settings"]["knowledge"])
    assert written == {setting.key for setting in SETTINGS}


def test_links_of_the_documents_lead_somewhere() -> None:
    """A newcomer who follows a link finds the file."""
    for name in ("README.md", "CONTRIBUTING.md", "core/README.md"):
        page = ROOT / name
        targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        assert targets or name != "README.md", "the README has no links any more, or this test does not find them"
        for target in targets:
            assert (page.parent / target).exists(), f"{name} links to {target}"


def test_modules_that_the_journey_names_exist() -> None:
    """core/README.md is read with the code beside it: a renamed file must be renamed there too."""
    text = (ROOT / "core" / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"`([a-z_]+/[a-z_]+\.py|[a-z_]+\.py)`", text)
    assert len(names) > 20, "the journey is told in another way, or this test does not find it"
    for name in names:
        assert (
            (ROOT / name).exists() or (ROOT / "core" / name).exists() or (ROOT / "core" / "commands" / name).exists()
        ), f"no core/{name}"


def test_errors_speak_with_one_voice() -> None:
    """Messages stand one under the other behind `knowledge: `: small letters, and commands between single quotes."""
    checked, wrong = 0, []
    for path in sorted((ROOT / "core").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in ("fail", "ErrorInfo"):
                hints = [row.value for row in node.keywords if row.arg == "hint"]
                texts = [_written(part) for part in [*node.args[1:2], *node.args[3:4], *hints]]
                checked += len(texts)
                wrong += [f"{path.name}:{node.lineno}: {text}" for text in texts if text[:1].isupper() or "`" in text]
    assert checked > 300 and wrong == []


def _written(part: ast.expr) -> str:
    """The text of a literal, with {} for what is put in; "" for any other expression."""
    if isinstance(part, ast.JoinedStr):
        return "".join(_written(piece) or "{}" for piece in part.values)
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
