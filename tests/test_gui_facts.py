"""Facts in the window: if these fail, a user's words go into the wrong fact, or overwrite somebody else's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.commands.fact_edits import FactRow, facts_view
from core.commands.facts import Fact
from core.commands.workspace import Workspace
from gui.views.facts import Facts, FactsView, chosen, gather, row_of, same_words, tags_in, values_of
from tests.gui_stand import Stand, standing
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import error, make_home, read, write

FACTS = """# Facts

- id: global:fact:001
  fact: "The kettle boils at 100"
  category: fact
  domain: global
  confidence: 0.8
  tags: [kettle, tea]
  source_count: 3
  first_seen: 2026-05-01
  last_confirmed: 2026-05-03

# mine
- id: global:fact:002
  fact: "The kettle boils at 101"
  category: fact
  domain: global
  confidence: 0.4

- id: global:fact:003
  fact: "お湯は100度で沸く 🫖"
  category: fact
  domain: global
  confidence: 1.0
  expires: 2026-01-31
"""
PITFALLS = """- id: teapot:pitfall:001
  fact: "Чайник нельзя ставить пустым"
  category: pitfall
  domain: teapot
  confidence: 0.9
- id: teapot:pitfall:002
  fact: ""
  category: pitfall
  domain: teapot
  confidence: 0.9
"""
GLOBAL, TEAPOT = "global/facts.yaml", "repos/teapot/pitfalls.yaml"


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    write(workspace, GLOBAL, FACTS)
    write(workspace, TEAPOT, PITFALLS)
    return workspace


stand_fixture = standing(FactsView)


# --- plain -----------------------------------------------------------------------------------------------------------


def test_a_row_tells_how_sure_it_is_where_and_how_often_it_was_said(home: Workspace) -> None:
    data = value_of(gather(home, None))
    assert [row.text for row in data.rows[""]] == [
        "The kettle boils at 100", "The kettle boils at 101", "お湯は100度で沸く 🫖", "Чайник нельзя ставить пустым",
    ]  # fmt: skip
    first, stale = data.rows[""][0], data.rows[""][2]
    assert first.share == 0.8 and first.meta == "0.80  ·  global  ·  in 3 conversations  ·  3 May 2026  ·  #kettle #tea"
    assert stale.icon == "hourglass" and "expired 31 Jan 2026" in stale.meta and data.rows["stale"] == (stale,)
    assert data.domains == (("global", 3), ("teapot", 1))
    faded = FactRow(Fact("a:fact:001", "x", "fact", "a", 0.72), 0.8, "", 1, "", 31)
    assert row_of(faded).meta.startswith("0.72, was 0.80: not heard again in 31 conversations")
    assert row_of(faded).share == 0.72


def value_of(found: Any) -> Any:
    assert not hasattr(found, "error"), found
    return found


def test_pairs_and_what_is_not_valid_stand_where_they_can_be_mended(home: Workspace) -> None:
    data = value_of(gather(home, None))
    (pair,) = data.rows["alike"]
    assert pair.text == "1.  The kettle boils at 100\n2.  The kettle boils at 101" and "% alike" in pair.meta
    (wrong,) = data.rows["wrong"]
    assert wrong.meta == "repos/teapot/pitfalls.yaml:6  ·  teapot:pitfall:002" and "not empty" in wrong.text


def test_the_same_object_comes_back_until_something_changes(home: Workspace) -> None:
    """Else everything is drawn again after every change of anything."""
    data: Facts = value_of(gather(home, None))
    assert gather(home, data) is data  # also while the files are still fresh
    write(home, TEAPOT, PITFALLS.replace("0.9", "0.5", 1))
    again = value_of(gather(home, data))
    assert again is not data and again.found["teapot:pitfall:001"].stated == 0.5


def test_chips_choose_by_category_and_domain(home: Workspace) -> None:
    data = value_of(gather(home, None))
    assert len(chosen(data, "", {"fact"}, set())) == 3 and len(chosen(data, "", set(), {"teapot"})) == 1
    assert chosen(data, "", {"fact"}, {"teapot"}) == [] and len(chosen(data, "alike", {"fact"}, {"global"})) == 1
    assert chosen(data, "alike", {"pitfall"}, set()) == [] and len(chosen(data, "wrong", {"fact"}, set())) == 1


def test_only_what_was_changed_is_written(home: Workspace) -> None:
    """Else a user's own way of writing the other fields would be lost."""
    row = facts_view(home).rows[0]
    same = ("The kettle boils at 100", "0.8", "kettle tea", "")
    assert values_of(row, *same) == {}
    assert values_of(row, "x", "85%", "#tea, kettle tea", "2027-01-01") == {
        "fact": "x", "confidence": 0.85, "tags": ["tea", "kettle"], "expires": "2027-01-01"}  # fmt: skip
    assert "not 'much'" in error(values_of, row, "x", "much", "", "").message
    assert tags_in(" #a,b  a ") == ["a", "b"] and same_words(row, replace(row, sha256="other"))
    assert not same_words(row, replace(row, stated=0.1))


# --- in the window ---------------------------------------------------------------------------------------------------


def test_a_fact_is_edited_where_it_stands_and_taken_back(stand: Stand, home: Workspace) -> None:
    editor = stand.begin("boils at 100")
    stand.type_text(" deg")
    stand.click(editor.small["confidence"], times=2)
    stand.press("ctrl+a")
    stand.desk.type_text("1")
    stand.press("ctrl+Return")
    wanted = FACTS.replace('at 100"', 'at 100 deg"').replace("confidence: 0.8", "confidence: 1.0", 1)
    assert read(home, GLOBAL).replace("confidence: 1\n", "confidence: 1.0\n") == wanted, "no other byte has changed"
    assert "The kettle boils at 100 deg" in stand.texts() and stand.view.session.target is None
    words, button = stand.toast()
    assert words == "Changed the fact"
    stand.click(button)
    assert read(home, GLOBAL) == FACTS and "The kettle boils at 100" in stand.texts()


def test_a_value_that_is_not_allowed_is_told_beside_the_buttons(stand: Stand, home: Workspace) -> None:
    editor = stand.begin("boils at 101")
    stand.desk.dpg.set_value(editor.small["tags"], "NOT_A_TAG")
    stand.press("ctrl+Return")
    note = stand.desk.dpg.get_value(editor.sentence)
    assert "tags have 'NOT_A_TAG'" in note and stand.view.session.target is not None and read(home, GLOBAL) == FACTS
    stand.press("Escape")
    assert stand.view.session.target is None and read(home, GLOBAL) == FACTS


def test_in_a_low_window_the_buttons_of_the_editor_are_in_sight(stand: Stand) -> None:
    """Chips in three rows left so little below them that Save could only be found by scrolling."""
    chips = stand.view.chips["fact"].item
    stand.look.size(stand.parent, height=260)
    stand.settle()
    editor = stand.begin("boils at 101")
    assert not stand.desk.dpg.is_item_visible(chips) and stand.desk.dpg.is_item_visible(editor.save.item)
    stand.press("Escape")
    assert stand.desk.dpg.is_item_visible(chips)


@pytest.mark.parametrize("choice", ["again", "theirs", "copy"])
def test_a_file_changed_outside_refuses_the_edit_and_loses_nothing(stand: Stand, home: Workspace, choice: str) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    outside = FACTS + "\n# from outside\n"
    write(home, GLOBAL, outside)
    stand.press("ctrl+Return")
    stand.answer(choice, "The kettle boils at 100 deg", lambda: read(home, GLOBAL), before=outside,
                 after=outside.replace('at 100"', 'at 100 deg"'))  # fmt: skip


def test_a_fact_that_was_itself_changed_is_shown_before_it_is_overwritten(stand: Stand, home: Workspace) -> None:
    editor = stand.begin("boils at 100")
    stand.type_text(" deg")
    write(home, GLOBAL, FACTS.replace("boils at 100", "boils at 99"))
    stand.press("ctrl+Return", "ctrl+Return")  # the second one: try again
    assert "boils at 99" in read(home, GLOBAL) and not editor.asking
    assert "Now it says: The kettle boils at 99" in stand.desk.dpg.get_value(editor.note)
    stand.press("ctrl+Return")
    assert "boils at 100 deg" in read(home, GLOBAL) and "at 99" not in read(home, GLOBAL)


def test_a_pair_is_merged_by_key_or_button_and_taken_back(stand: Stand, home: Workspace) -> None:
    stand.click(stand.view.kinds["alike"].item)
    stand.press("Down", "m")
    assert "global:fact:002\n" not in read(home, GLOBAL) and "related: [global:fact:002]" in read(home, GLOBAL)
    assert stand.texts() == []
    stand.press("ctrl+z")
    assert read(home, GLOBAL) == FACTS
    stand.desk.move(*stand.desk.middle(stand.slot("boils")))
    stand.settle()
    stand.click(stand.view.list.bar.buttons["merge-other"].item)
    assert "related: [global:fact:001]" in read(home, GLOBAL) and "at 100" not in read(home, GLOBAL)


def test_chips_keys_and_words_filter_and_esc_shows_all(stand: Stand, home: Workspace) -> None:
    stand.click(stand.view.chips["pitfall"].item)
    assert stand.texts() == ["Чайник нельзя ставить пустым"]
    stand.click(stand.view.chips["pitfall"].item)
    stand.click(stand.view.places[0].item)
    assert len(stand.texts()) == 3
    stand.press("Escape", "Left")
    assert stand.texts() == [] and stand.desk.dpg.is_item_shown(stand.view._states["nothing"].item)
    stand.press("Escape", "slash")
    stand.type_text("tea")
    assert len(stand.texts()) == 2, "a tag of one, the domain of the other"
    stand.press("Escape")
    stand.click(stand.view.kinds["wrong"].item)
    assert len(stand.texts()) == 1
    opened: list[tuple[str, int]] = []
    stand.shell.open_path = lambda *what: opened.append(what)  # type: ignore[method-assign, assignment, misc]
    stand.press("Down", "o")
    stand.press("v")
    assert len(stand.texts()) == 4, "the key that shows what is not valid also leaves it"
    stand.press("shift+Right", "shift+Right")
    assert stand.texts() == ["Чайник нельзя ставить пустым"] and stand.view.domains == {"teapot"}
    stand.press("shift+Right", "x")
    assert stand.texts() == ["お湯は100度で沸く 🫖"]
    stand.press("x", "a")
    assert len(stand.texts()) == 1 and stand.view.kind == "alike"
    assert opened == [(str(stand.shell.workspace.paths.knowledge / TEAPOT), 6)], "at the line that is wrong"
    items = []
    for number in range(2):
        write(home, GLOBAL, FACTS + f"\n# mine {number}\n")
        stand.read_again()
        items.append(stand.desk.items())
    assert items[0] == items[1], "what is read again is shown by the items that are there"


def test_a_fact_and_both_of_a_pair_are_copied_by_key(stand: Stand) -> None:
    """What a user takes into another program must be the words that were chosen, and all of them."""
    stand.press("Down", "Down", "ctrl+c")
    assert stand.desk.dpg.get_clipboard_text() == "The kettle boils at 101" and "Copied" in stand.toast()[0]
    stand.press("a", "Down", "ctrl+c")
    copied = stand.desk.dpg.get_clipboard_text()
    assert "The kettle boils at 100" in copied and "The kettle boils at 101" in copied


def test_a_fact_is_deleted_and_comes_back(stand: Stand, home: Workspace) -> None:
    stand.press("Down")
    chosen = stand.shell.state.selected
    assert (chosen.kind, chosen.key) == ("fact", "global:fact:001"), "the inspector shows the fact"
    stand.press("Delete")
    assert "global:fact:001" not in read(home, GLOBAL) and stand.view.list.current.text == "The kettle boils at 101"
    stand.press("ctrl+z")
    assert read(home, GLOBAL) == FACTS
