"""What the acceptance tests say, look for everywhere, and take away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.stand import Machine

KESTREL = "The kestrel exporter listens on port 8123"
PLOVER = "The plover importer reads its files as UTF-8"
GANNET = "Paint the gannet page of the manual"
HERON = "The heron cache keeps its rows in SQLite"
SMEW = "The smew queue is emptied at midnight"
LATER = "The dunlin worker retries twice"
TALKED = ("list", "context", "digest.md", "search", "prompt_prefix", "MCP search_knowledge", "MCP get_context")
"""Where everything that holds is told, whatever its kind."""
SECRET = "ghp_" + "q7Zx2Lm9Kd4Rt8Wb3Vn6Yc1Hs5Pf0Ja2Ge4U"
VARIANTS = {
    "another case": KESTREL.upper(),
    "a full stop": f"{KESTREL}.",
    "white space": KESTREL.replace(" ", "  ").replace("  on", " \u00a0on"),
    "invisible characters": KESTREL.replace("exporter", "ex\u200bpor\u00adter"),
    "look-alike letters": KESTREL.replace("exporter", "\u0435xp\u043ert\u0435r").replace("port", "p\u043ert"),
}


@pytest.fixture(name="one")
def one_fixture(tmp_path: Path) -> Machine:
    """A machine on which two sessions were harvested, one of each tool."""
    machine = Machine(tmp_path / "one")
    told = (f"Keep in mind: {KESTREL}", f"Keep in mind: {PLOVER}", f"Still to do: {GANNET}")
    machine.claude("first", *told, f"About {machine.project()}/app.py: starts the kestrel exporter")
    machine.codex("second", f"We decided: {HERON}", f"Keep in mind: {SMEW}")
    machine.learn()
    return machine


def with_library(machine: Machine) -> Machine:
    """The machine with a library: a document of the user's, and a copy of the category files."""
    paper = machine.folder / "papers/tides.md"
    paper.parent.mkdir(exist_ok=True)
    paper.write_text(
        "# Tides\n\n## Terms\n\n`tide_gate` is the gate that keeps the turnstone harbour dry.\n\n"
        "## Floods\n\nThe turnstone harbour floods at spring tide, so boats leave before noon.\n"
    )
    machine.ok("library", "ingest", str(paper), str(machine.knowledge_folder / "facts.md"))
    return machine


def is_told(machine: Machine, words: str, places: tuple[str, ...] = TALKED) -> None:
    """The positive control: every place of these tells it."""
    assert set(places) <= machine.telling(words), f"{words!r} is told in {sorted(machine.telling(words))} only"


def is_gone(machine: Machine, words: str) -> None:
    """No place tells it, whatever asks."""
    told = sorted(machine.telling(words))
    assert not told, f"{words!r} is still told by {told}"


def take_away(machine: Machine, how: str, words: str) -> None:
    """What a user does who wants a statement gone."""
    name = machine.id_of(words)
    typed: dict[str, tuple[str, ...]] = {
        "rm": ("rm", name),
        "strike": ("rm", name, "--strike"),
        "rm --forever": ("rm", name, "--forever", "--yes"),
        "retract": ("retract", name),
    }
    if how == "edit":
        machine.ok("edit", name, words.replace("8123", "9999"))
    elif how == "supersede":
        machine.claude("correction", f"We decided: {words.replace('8123', '9999')} (no longer: {words})")
        machine.learn()
        machine.answer("outdated", words)
    else:
        machine.ok(*typed[how])


def say_again(machine: Machine, words: str, name: str = "again") -> None:
    """It is said in a new session of each tool, and in the one that it came from, with something new beside it."""
    machine.claude(f"{name} 1", f"Keep in mind: {words}", f"Keep in mind: {LATER}")
    machine.codex(f"{name} 2", f"We decided: {words}")
    machine.claude("first", f"Keep in mind: {words}")
    machine.learn()
