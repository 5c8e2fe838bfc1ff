"""Evidence, offers and the quarantine in the window: if these fail, a user decides without seeing why, or pastes a
playbook that is not what was run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.commands import bullets
from core.commands.panel.bullets import category_view
from core.commands.panel.evidence import evidence
from core.commands.workspace import Workspace
from core.harvest.quotes import span_of
from gui.state import Selection
from gui.views.inspector.rows import load
from gui.views.knowledge import KnowledgeView
from tests.gui_stand import standing
from tests.gui_window import desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import Clock, Model, converse, error, harvested, make_home

SECRET = "ghp_" + "k7Qd2Wx9" * 4 + "ab12"
TALK = f"The kettle   needs descaling\nevery *month*, the token is {SECRET}. And お湯は100度 🔥 too"
STEPS = ["make test", "git push -u origin v1", "gh release create v1"]


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    converse(workspace, "kettle", TALK)
    facts = [
        {"statement": "Descale the kettle monthly", "quote": "The kettle needs descaling every month"},
        {"statement": "Water boils at 100 °C", "quote": "お湯は100度"},
        {"statement": "Kettles fly", "quote": "kettles were seen in the air over there"},
    ]
    plays = [{"name": "Release", "steps": STEPS, "quote": "noted"}]
    harvested(workspace, Model(facts=facts, playbooks=plays), Clock())
    return workspace


def line_of(workspace: Workspace, category: str, words: str) -> tuple[str, int, str]:
    found = next(row for row in category_view(workspace, category).rows if words in row.bullet.text)
    return found.file, found.bullet.line, found.bullet.raw


# --- plain -----------------------------------------------------------------------------------------------------------


def test_a_quote_is_found_in_its_turn_whatever_stands_between_its_words() -> None:
    text = "Hello, World: the server `listens`\non port_8080 now. Straße ÄÖ! 漢字仮名交じり文"
    for quote, words in (
        ("the server listens on port 8080", "the server `listens`\non port_8080"),
        ("Hello … 8080", "Hello, World: the server `listens`\non port_8080"),
        ("STRASSE äö", "Straße ÄÖ"),
        ("仮名交じり", "仮名交じり"),
    ):
        begin, end = span_of(quote, text) or (0, 0)
        assert text[begin:end] == words
    assert span_of("erver lis", text) is None and span_of("…", text) is None


def test_evidence_shows_the_quote_in_its_place_without_its_secrets(home: Workspace) -> None:
    kept = evidence(home, "Descale")
    place = kept.passage
    assert place is not None and (place.turn, place.of, place.role) == (1, 2, "user") and kept.turn == 1
    assert place.quote == "The kettle   needs descaling\nevery *month*," and "お湯は100度" in place.after
    assert SECRET not in place.after and "[redacted" in place.after
    whole = next(home.paths.trash.iterdir()).read_bytes()
    assert b"descaling" in whole[kept.start : kept.end] and kept.sha256


def test_steps_are_those_of_the_plan_until_the_line_is_another(home: Workspace) -> None:
    assert list(evidence(home, "Release").steps) == STEPS
    assert evidence(home, "Release", steps=True) == tuple(STEPS)
    assert error(evidence, home, "Descale", steps=True).code == "no-steps"
    bullets.edit(home, "playbooks", "Release", "**Release**: make -> git push")
    changed = evidence(home, "Release")
    assert changed.steps == ("make", "git push"), "a changed line is taken at its own words"


def test_evidence_of_what_went_away_says_so(home: Workspace) -> None:
    for left in home.paths.trash.iterdir():
        left.unlink()
    kept = evidence(home, "Descale")
    assert kept.quote and kept.passage is None and kept.problem == "gone"
    bullets.add(home, "facts", "by hand")
    assert evidence(home, "by hand").quote == ""
    assert json.dumps(kept.to_json())


def test_the_inspector_shows_evidence_and_copies_steps(home: Workspace) -> None:
    page = load(home, Selection("bullet", *line_of(home, "facts", "Descale")))
    assert [part.name for part in page.parts] == ["Evidence", "History"]
    proof = [row for row in page.parts[0].rows if row.icon == "user"]
    assert [row.text for row in proof] == ["The kettle   needs descaling\nevery *month*,"]
    assert proof[0].meta.startswith("You  ·  turn 1 of 2") and page.reading is not None and page.reading.turn == 1
    assert all(SECRET not in row.text for row in page.parts[0].rows)
    page = load(home, Selection("bullet", *line_of(home, "playbooks", "Release")))
    assert page.copy == "\n".join(STEPS) and page.copied == "Copy steps"
    assert [row.text for row in page.parts[1].rows] == STEPS


# --- in the window ---------------------------------------------------------------------------------------------------

HELD = "# Quarantine\n\n" + "".join(
    f'- [quote-not-found] facts: tea of kind {number} (quote: "nobody said {number}") [from: tea, 2026-05-0{number}]\n'
    for number in range(1, 6)
)
stand_fixture = standing(KnowledgeView)
