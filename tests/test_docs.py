"""Every command and every setting is documented: what a user cannot find does not exist for them."""

from __future__ import annotations

import ast
import inspect
import re
import shlex
import tomllib
from pathlib import Path

from core.base.result import KnowledgeError, attempt
from core.base.settings import SETTINGS
from core.cli.parser import parse, show_help
from core.commands.harvest_options import HarvestRequest
from core.commands.table import commands
from tests.architecture import modules

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "assets" / "docs").glob("*.md"))}
SHIPPED = (ROOT / "config.toml").read_text(encoding="utf-8")


def test_every_command_is_documented() -> None:
    """It stands in the table of commands; it and each of its subcommands has an example that parses, a function behind
    it and a report in front."""
    wrong = []
    for command in commands():
        if f"| `knowledge {command.name}` |" not in PAGES["commands"]:
            wrong.append(f"{command.name} has no row in assets/docs/commands.md")
        for row in (command, *command.subcommands):
            whole = f"knowledge {command.name}" if row is command else f"knowledge {command.name} {row.name}"
            found, given = parse(shlex.split(f"{whole} {row.example}".partition(" > ")[0])[1:])
            unknown = set(given) - {"home", "config", "json", "quiet", "debug"}
            itself = found in command.leaves and (row is command or found is row)
            taken = inspect.signature(found.runs).parameters
            fields = inspect.signature(HarvestRequest).parameters if "asked" in taken else {}
            checks = {
                "says nothing about itself": bool(row.summary),
                "has an example that does not parse as it": itself,
                "passes what its function does not take": unknown <= {*taken, *fields},
                "has no text form": callable(found.text),
            }
            checks |= {f"{argument.names} says nothing about itself": bool(argument.help) for argument in row.arguments}
            wrong += [f"{whole} {sentence}" for sentence, right in checks.items() if not right]
    assert not wrong, "\n".join(wrong)


def test_an_option_that_a_page_names_is_there() -> None:
    """Who types what a page says must not be told that there is no such option."""
    known = {
        name for row in commands() for leaf in row.leaves for argument in leaf.arguments for name in argument.names
    }
    known |= {"--home", "--config", "--json", "--quiet", "--debug", "--help", "--version"}
    others = re.compile(r"\b(?:uv|pipx|dask|aider|knowledge-panel)\b")
    wrong = [
        f"{name}.md names {word}"
        for name, page in {**PAGES, "README": README}.items()
        for line in page.split("\n")
        for word in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)
        if word not in known and not others.search(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_setting_is_documented() -> None:
    """The shipped config.toml has it with a comment above, and the page of settings names it."""
    lines = SHIPPED.split("\n")
    wrong = []
    for setting in SETTINGS:
        at = next((number for number, line in enumerate(lines) if re.match(rf"{setting.key}\s*=", line)), 0)
        if not lines[at - 1].startswith("#"):
            wrong.append(f"{setting.key} is not in config.toml with a comment above it")
        if f"`{setting.key}`" not in PAGES["settings"]:
            wrong.append(f"{setting.key} is not in assets/docs/settings.md")
    assert not wrong, "\n".join(wrong)


def test_config_has_no_key_that_nothing_reads() -> None:
    """A setting without a row in SETTINGS would be ignored without a word."""
    tables = tomllib.loads(SHIPPED)
    written = set(tables["paths"]) | set(tables["ai_settings"]["knowledge"])
    assert written == {setting.key for setting in SETTINGS}


def test_links_of_the_documents_lead_somewhere() -> None:
    """A newcomer who follows a link finds the file."""
    for name in ("README.md", "CONTRIBUTING.md", "core/README.md", *(f"assets/docs/{page}.md" for page in PAGES)):
        page = ROOT / name
        targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        assert targets or name != "README.md", "the README has no links any more, or this test does not find them"
        for target in targets:
            assert (page.parent / target).exists(), f"{name} links to {target}"


def test_the_readme_is_short_and_leads_to_every_page() -> None:
    """Who has one minute reads all of it; what it leaves out has one place, which `knowledge help` prints as well."""
    assert len(README.split("\n")) <= 115
    assert [page for page in PAGES if f"| [{page}](assets/docs/{page}.md)" not in README] == []
    assert [page.topic for page in show_help().pages] == list(PAGES)
    assert show_help("settings").text == PAGES["settings"]
    assert isinstance(attempt(show_help, "nonsense"), KnowledgeError)


def test_commands_in_the_documents_parse() -> None:
    """Whoever types what a page shows is understood."""
    shown = [
        line.partition("  #")[0].removeprefix("$ ")
        for text in (README, *PAGES.values())
        for block in re.findall(r"```\n(.*?)```", text, re.DOTALL)
        for line in block.split("\n")
        if line.removeprefix("$ ").startswith("knowledge ")
    ]
    shown += [words for text in (README, *PAGES.values()) for words in re.findall(r"`(knowledge [a-z][^`]*)`", text)]
    assert len(shown) > 60, "the commands are shown in another way, or this test does not find them"
    for line in shown:
        words = shlex.split(line.replace("\n", " ").replace("…", "x"))[1:]
        try:
            parse(words)
        except KnowledgeError as error:  # in a sentence a command may stand without what it needs
            assert len(words) <= 2 and " needs " in str(error), f"{line}: {error}"


def test_messages_that_pages_explain_are_real() -> None:
    """Whoever looks for the sentence on their screen finds it: the program says each quoted one, `…` is any name."""
    texts = [_written(node) for module in modules() for node in module.nodes if isinstance(node, ast.expr)]
    said = "\n".join(text for text in texts if text)
    for page in ("machines", "troubleshooting"):
        quoted = re.findall(r'^\| "([^"]+)" \|', PAGES[page], re.MULTILINE)
        assert len(quoted) > 5, "messages are shown in another way, or this test does not find them"
        pieces = [piece.strip() for message in quoted for piece in re.split("'?…'?", message) if len(piece.strip()) > 5]
        assert len(pieces) >= len(quoted) and [piece for piece in pieces if piece not in said] == []


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
    for module in modules():
        for node in module.nodes if module.name.startswith("core") else ():
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and name in ("KnowledgeError", "ErrorInfo"):
                hints = [row.value for row in node.keywords if row.arg == "hint"]
                texts = [_written(part) for part in [*node.args[1:2], *node.args[3:4], *hints]]
                checked += len(texts)
                wrong += [f"{module.file}:{node.lineno}: {text}" for text in texts if text[:1].isupper() or "`" in text]
    assert checked > 300 and wrong == []


def _written(part: ast.expr) -> str:
    """The text of a literal, with {} for what is put in; "" for any other expression."""
    if isinstance(part, ast.JoinedStr):
        return "".join(_written(piece) or "{}" for piece in part.values)
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else ""
