"""Statements, what seems outdated and what is alike: if these fail, a wrong line is struck through."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.commands.review.alike import proposals, similar
from core.commands.workspace import Workspace
from gui.state import Selection
from gui.views.inspector.rows import load
from gui.views.knowledge import KnowledgeView
from gui.views.knowledge_rows import gather, pair_lists
from tests.gui_stand import Stand, standing
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import make_home, read, write

FACTS = """# Facts

- The tea server listens on port 8080 [from: alpha, 2026-05-01]
- お湯は100度で沸く 🫖 [from: alpha, 2026-05-01]
- The tea server listens on port `8080`. [from: beta, 2026-05-02]
- お湯は100度で沸く 🫖 [from: gamma, 2026-05-03]
- The tea server listens on port 9090 [from: gamma, 2026-05-03]
- The kettle of the kitchen boils water in three minutes [from: alpha, 2026-05-01]
- The kettle of the kitchen boils water in about three minutes [from: alpha, 2026-05-01]
"""


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    return workspace


stand_fixture = standing(KnowledgeView)


# --- plain -----------------------------------------------------------------------------------------------------------


def test_a_statement_of_several_conversations_is_one_row(home: Workspace) -> None:
    data = gather(home, None)
    rows = {row.text: row.meta for row in data.rows["facts"]}
    assert len(rows) == 5 and len(data.rows["facts"]) == 5
    assert rows["お湯は100度で沸く 🫖"] == "in 2 conversations  ·  gamma  ·  3 May 2026"
    assert rows["The tea server listens on port 8080."] == "in 2 conversations  ·  beta  ·  2 May 2026"
    older = "- The tea server listens on port 8080 [from: alpha, 2026-05-01]"
    key = data.key_of("facts.md", older, 3)
    assert key is not None and data.found[key].bullet.line == 5, "an older line leads to the row that stands for it"
    page = load(home, Selection("bullet", "facts.md", 5, data.found[key].bullet.raw))
    assert [tab.name for tab in page.tabs] == ["Confirmations", "History"] and "in 2 conversations" in page.facts[0]
    (said,) = page.tabs[0].rows
    assert (said.text, said.meta) == ("alpha", "1 May 2026  ·  facts.md:3")


def test_what_seems_outdated_and_what_is_alike_are_rows(home: Workspace) -> None:
    lists = pair_lists(home)
    (outdated,), (near,) = lists.rows["outdated"], lists.rows["alike"]
    assert outdated.text == "Old:  The tea server listens on port 8080.\nNew:  The tea server listens on port 9090"
    assert outdated.meta == "Facts  ·  8080 → 9090  ·  2 May 2026 → 3 May 2026"
    assert near.text.startswith("1.  The kettle of the kitchen boils water in three minutes\n2.  The kettle")
    assert "% alike" in near.meta and near.can == {"first", "second", "copy"}


# --- in the window ---------------------------------------------------------------------------------------------------


def test_what_is_done_to_the_row_is_done_to_every_line(stand: Stand, home: Workspace) -> None:
    stand.click(stand.point("お湯")["strike"].item)
    assert read(home, "facts.md").count("- ~~お湯は100度で沸く 🫖~~ [from: ") == 2
    stand.press("ctrl+z")
    assert read(home, "facts.md") == FACTS
    stand.click(stand.point("お湯")["delete"].item)
    assert "お湯" not in read(home, "facts.md") and len(stand.texts()) == 4
    stand.press("ctrl+z")
    assert read(home, "facts.md") == FACTS


def test_an_edit_reaches_every_line_also_one_that_came_meanwhile(stand: Stand, home: Workspace) -> None:
    row = next(row for row in stand.view.list.rows if "お湯" in row.text)
    slot = stand.view.list.slot_of(row.key)
    stand.click(slot.text, times=2)
    assert "all 2 lines" in stand.desk.dpg.get_value(stand.view.session.editor.note)
    stand.press("ctrl+End")
    stand.type_text(" ok")
    write(home, "facts.md", FACTS + "- お湯は100度で沸く 🫖 [from: delta, 2026-05-04]\n")
    stand.press("ctrl+Return")
    assert stand.view.session.editor.asking and " ok" not in read(home, "facts.md")
    stand.press("ctrl+Return")
    assert read(home, "facts.md").count("- お湯は100度で沸く 🫖 ok [from: ") == 3 and stand.view.session.target is None


def test_the_outdated_one_is_struck_through_by_key_and_comes_back(stand: Stand, home: Workspace) -> None:
    stand.press("Left")
    assert stand.view.category == "alike" and len(stand.texts()) == 1
    stand.press("Left")
    assert stand.view.category == "outdated"
    stand.press("Down", "space")
    text = read(home, "facts.md")
    assert "- ~~The tea server listens on port 8080~~ [from: alpha, 2026-05-01]\n  superseded by: " in text
    assert "- ~~The tea server listens on port `8080`.~~ [from: beta, 2026-05-02]\n  superseded by: " in text
    assert stand.texts() == [] and stand.desk.dpg.is_item_shown(stand.view._states["outdated"].item)
    stand.press("ctrl+z")
    assert read(home, "facts.md") == FACTS and len(stand.texts()) == 1


def test_keep_both_is_remembered_and_writes_no_bullet(stand: Stand, home: Workspace) -> None:
    stand.click(stand.view.tabs["outdated"].item)
    stand.click(stand.point("Old:")["both"].item)
    assert read(home, "facts.md") == FACTS and stand.texts() == [] and stand.view.tabs["outdated"].count == 0
    assert proposals(home.paths) == []


def test_the_old_one_can_stay_when_the_new_one_is_wrong(stand: Stand, home: Workspace) -> None:
    """Else a mistake of the newest conversation can only be kept beside the truth, or take its place."""
    stand.click(stand.view.tabs["outdated"].item)
    stand.press("Down", "o")
    text = read(home, "facts.md")
    assert "- ~~The tea server listens on port 9090~~" in text and "8080~~" not in text and stand.texts() == []
    stand.press("ctrl+z")
    assert read(home, "facts.md") == FACTS and len(stand.texts()) == 1
    stand.click(stand.point("Old:")["old"].item)
    assert "9090~~" in read(home, "facts.md") and "8080~~" not in read(home, "facts.md")


def test_the_buttons_of_a_pair_do_what_they_say(stand: Stand, home: Workspace) -> None:
    """With the mouse on the wrong one of two buttons' meanings, the line that still holds is struck through."""
    stand.click(stand.view.tabs["alike"].item)
    for name, goes in (("first", "in about three minutes~~"), ("second", "in three minutes~~")):
        stand.click(stand.point("kettle")[name].item)
        assert goes in read(home, "facts.md") and read(home, "facts.md").count("~~") == 2
        stand.click(stand.toast()[1])
        assert read(home, "facts.md") == FACTS and len(stand.texts()) == 1
    stand.click(stand.view.tabs["outdated"].item)
    stand.click(stand.point("Old:")["replace"].item)
    text = read(home, "facts.md")
    assert "- ~~The tea server listens on port 8080~~" in text and "9090~~" not in text and stand.texts() == []
    stand.click(stand.toast()[1])
    assert read(home, "facts.md") == FACTS


def test_a_pair_is_copied_by_key(stand: Stand) -> None:
    stand.click(stand.view.tabs["outdated"].item)
    stand.press("Down", "ctrl+c")
    copied = stand.desk.dpg.get_clipboard_text()
    assert copied == "Old:  The tea server listens on port 8080.\nNew:  The tea server listens on port 9090"


def test_a_click_on_a_confirmation_goes_to_its_line(desk: Desk, home: Workspace) -> None:
    """Else a user cannot see the older lines that say the same, nor where they came from."""
    from gui.views.inspector.view import Inspector

    stand = Stand(desk, home, Inspector, width=352)
    newer = "- お湯は100度で沸く 🫖 [from: gamma, 2026-05-03]"
    stand.shell.select("bullet", "facts.md", 6, newer)
    stand.settle()
    (row,) = stand.view.list.rows
    assert row.text == "alpha"
    stand.click(stand.view.list.slot_of(row.key).text)
    chosen = stand.shell.state.selected
    assert (chosen.kind, chosen.key, chosen.line) == ("bullet", "facts.md", 4) and "alpha" in chosen.raw
    stand.close()


@pytest.mark.parametrize("key", ["m", "shift+m"])
def test_of_two_that_are_alike_one_is_struck_through(stand: Stand, home: Workspace, key: str) -> None:
    stand.click(stand.view.tabs["alike"].item)
    stand.press("Down", key)
    goes = "in about three minutes~~" if key == "m" else "in three minutes~~"
    assert goes in read(home, "facts.md") and read(home, "facts.md").count("~~") == 2
    assert stand.texts() == [] and all("kettle" not in row.first.bullet.text for row in similar(home.paths))


def test_a_decision_about_a_file_that_has_changed_is_refused(stand: Stand, home: Workspace) -> None:
    """Else a line is struck through that says something else by now."""
    stand.press("Left")
    outside = FACTS + "- from outside [from: x, 2026-05-04]\n"
    stand.press("Down")
    write(home, "facts.md", outside)
    stand.press("m")
    assert read(home, "facts.md") == outside and "changed outside" in stand.errors[0].message
    assert len(stand.texts()) == 1


def test_comparing_makes_no_item(stand: Stand, home: Workspace) -> None:
    stand.press("Left", "Left", "Down", "Left")
    before = stand.desk.items()
    for number in range(3):
        write(home, "facts.md", FACTS + f"- one more {number} [from: x, 2026-05-04]\n")
        stand.read_again()
    stand.press("Right", "Right")
    assert stand.desk.items() == before
