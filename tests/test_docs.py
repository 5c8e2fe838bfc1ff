"""Every command and every setting is documented: what a user cannot find does not exist for them."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from core.base.settings import SETTINGS
from core.cli.parser import parse
from core.cli.table import commands

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHIPPED = (ROOT / "config.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", commands(), ids=lambda row: row.name)
def test_every_command_is_documented(command) -> None:  # type: ignore[no-untyped-def]
    """It stands in the README's table; it and each of its subcommands has an example that parses, a function behind it
    and a report in front."""
    assert f"| `knowledge {command.name}` |" in README
    for row in (command, *command.subcommands):
        whole = f"knowledge {command.name}" if row is command else f"knowledge {command.name} {row.name}"
        assert row.summary and row.example.startswith(whole if row is not command else f"knowledge {command.name}")
        found, given = parse(shlex.split(row.example.partition(" > ")[0])[1:])
        assert found in command.leaves and (row is command or found is row)
        taken = inspect.signature(found.function()).parameters
        everywhere = {"home", "config", "json", "quiet", "debug"}
        assert set(given) - everywhere <= set(taken), f"{whole} passes what its function does not take"
        assert callable(found.text)
        for argument in row.arguments:
            assert argument.help, f"{whole} {argument.names} says nothing about itself"


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
        places = (ROOT, ROOT / "core", ROOT / "core" / "commands")
        assert any((place / name).exists() for place in places), f"no core/{name}"


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
