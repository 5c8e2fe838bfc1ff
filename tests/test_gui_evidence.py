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
from core.knowledge.same import mark_of_text
from gui.state import Selection
from gui.views.inspector.rows import load
from gui.views.knowledge import KnowledgeView
from gui.views.knowledge_rows import gather, held_chosen
from tests.gui_stand import Stand, standing
from tests.gui_window import desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import Clock, Model, converse, error, harvested, make_home, read, write

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
    assert [tab.name for tab in page.tabs] == ["Evidence", "History"]
    proof = [row for row in page.tabs[0].rows if row.icon == "user"]
    assert [row.text for row in proof] == ["The kettle   needs descaling\nevery *month*,"]
    assert proof[0].meta.startswith("You  ·  turn 1 of 2") and page.reading is not None and page.reading.turn == 1
    assert all(SECRET not in row.text for row in page.tabs[0].rows)
    page = load(home, Selection("bullet", *line_of(home, "playbooks", "Release")))
    assert page.copy == "\n".join(STEPS) and page.copied == "Copy steps"
    assert [row.text for row in page.tabs[1].rows] == STEPS


def test_held_items_are_chosen_by_number_by_run_and_by_words(home: Workspace) -> None:
    converse(home, "teapot", "The teapot leaks")
    false = [{"statement": f"Teapots {word}", "quote": "seen by nobody at all"} for word in ("sing", "dance")]
    harvested(home, Model(facts=false), Clock())
    data = gather(home, None)
    texts = [row.text for row in data.rows["quarantine"]]
    assert texts[2] == "Kettles fly\n“kettles were seen in the air over there”" and len(texts) == 3
    assert [row.meta.split("  ·  ")[0] for row in held_chosen(data, "2-3")] == ["#3", "#2"]
    (fly,) = held_chosen(data, "1")
    assert fly.text.startswith("Kettles fly") and [row.text for row in held_chosen(data, "kettles")] == [fly.text]
    run = data.runs[data.held[data.rows["quarantine"][0].key].ref.raw]  # type: ignore[index]
    assert len(held_chosen(data, f"run {run}")) == 2 and len(held_chosen(data, "run of luck")) == 0


# --- in the window ---------------------------------------------------------------------------------------------------

HELD = "# Quarantine\n\n" + "".join(
    f'- [quote-not-found] facts: tea of kind {number} (quote: "nobody said {number}") [from: tea, 2026-05-0{number}]\n'
    for number in range(1, 6)
)
stand_fixture = standing(KnowledgeView)


def test_what_is_chosen_by_number_is_let_in_at_once_and_taken_back_at_once(home: Workspace, stand: Stand) -> None:
    write(home, "quarantine.md", HELD)
    stand.read_again()
    stand.view.show("quarantine")
    stand.press("slash")
    stand.type_text("2")
    stand.press("comma", "4", "minus", "5")
    assert [text.split("\n")[0] for text in stand.texts()] == [f"tea of kind {number}" for number in (5, 4, 2)]
    stand.press("ctrl+Return")
    assert stand.shell.asking
    stand.press("Return")
    facts = read(home, "facts.md")
    assert [number for number in range(1, 6) if f"tea of kind {number}" in facts] == [2, 4, 5]
    assert read(home, "quarantine.md").count("[quote-not-found]") == 2
    stand.press("Escape", "ctrl+z")
    assert read(home, "quarantine.md").count("[quote-not-found]") == 5 and "tea of kind" not in read(home, "facts.md")


def test_a_finished_task_is_offered_and_one_key_decides(home: Workspace, stand: Stand) -> None:
    tasks = "# Tasks\n\n## Open\n\n- buy tea\n- mend the lid\n\n## Done\n"
    write(home, "tasks.md", tasks)
    ledger = json.loads(home.paths.ledger.read_text())
    entry = next(iter(ledger["entries"].values()))
    entry["offers"] = [
        {"kind": "finishes", "category": "tasks_open", "old": mark_of_text(words)}
        for words in ("buy tea", "mend the lid")
    ]
    home.paths.ledger.write_text(json.dumps(ledger))
    stand.read_again()
    stand.view.show("outdated")
    assert stand.texts() == ["buy tea", "mend the lid"] and read(home, "tasks.md") == tasks
    stand.press("Down", "k")
    assert stand.texts() == ["mend the lid"] and read(home, "tasks.md") == tasks, "what is dismissed stays as it was"
    stand.press("space")
    assert "## Done\n- mend the lid" in read(home, "tasks.md").replace("\n\n", "\n") and stand.texts() == []
