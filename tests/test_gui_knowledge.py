"""Bullets in the window: if these fail, a user's words are lost, or go into the wrong line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.commands.panel.bullets import category_view
from core.commands.panel.ledger_rows import rows_of
from core.commands.statements import Found
from core.commands.workspace import Workspace
from gui.toolkit.typeset import lines_of_words
from gui.views.knowledge import KnowledgeView
from gui.views.knowledge_rows import coded, found_again, gather, meta_of
from gui.views.looks import learn, short_name
from tests.gui_stand import Stand, standing
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import make_home, read, write
from tests.waiting import PATIENCE_SECONDS

UUID = "-0f8fad5b-d9cb-469f-a165-70867728950e"
FACTS = f"""# Facts

- The kettle boils at 100 [from: kettle{UUID}, 2026-05-01]
- お湯は100度で沸く [from: kettle{UUID}, 2026-05-02]
  mit Umlaut: ä
- ~~The kettle is red~~ [from: colours, 2026-05-03]
- Чайник стоит на плите
"""
TASKS = "# Tasks\n\n## Open\n\n- buy tea\n- clean the kettle\n  with vinegar\n\n## Done\n\n- boil water\n"
HELD = (
    "# Quarantine\n\n- [quote-not-found] decisions: green tea only [from: tea, 2026-05-01]\n- [secret] facts: hidden\n"
)


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    learn(rows_of(()).called)  # the window has one home: what another test's conversations were called, these are not
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    write(workspace, "tasks.md", TASKS)
    write(workspace, "quarantine.md", HELD)
    return workspace


stand_fixture = standing(KnowledgeView)


# --- plain -----------------------------------------------------------------------------------------------------------


def test_rows_are_newest_first_and_say_where_they_come_from(home: Workspace) -> None:
    data = gather(home, None)
    assert [row.text for row in data.rows["facts"]] == [
        "Чайник стоит на плите", "The kettle is red", "お湯は100度で沸く\nmit Umlaut: ä", "The kettle boils at 100",
    ]  # fmt: skip
    metas = [row.meta for row in data.rows["facts"]]
    assert metas == ["written by hand", "struck through  ·  3 May  ·  colours", "2 May  ·  kettle", "1 May  ·  kettle"]
    whole = data.rows["all"]
    assert whole[0].meta == f"{len(whole) - 1} bullets  ·  1 task done", "what is done does not flood the rest"
    assert [row.text for row in whole[1:3]] == ["The kettle is red", "お湯は100度で沸く\nmit Umlaut: ä"]
    assert gather(home, data) is data
    write(home, "facts.md", FACTS + "- new\n")
    again = gather(home, data)
    assert again.rows["tasks_open"] is data.rows["tasks_open"] and len(again.rows["facts"]) == 5
    assert (
        short_name("by-hand") == "written by hand" and short_name(UUID) and short_name("a-1747130000000.md") == "a.md"
    )


def test_a_key_stays_when_lines_above_come_and_go(home: Workspace) -> None:
    """Else the editor would move to another bullet while somebody types."""
    write(home, "facts.md", "# Facts\n\n- same\n  but in detail\n- other\n- same\n")
    data = gather(home, None)
    assert [key[2] for key in data.said if key[1] == "- same"] == [1, 2]
    assert data.key_of("facts.md", "- same", 6) == ("facts", "- same", 2)
    write(home, "facts.md", "# Facts\n\n- first\n- same\n  but in detail\n- other\n- same\n")
    moved = gather(home, data)
    assert moved.said[("facts", "- same", 2)].found.bullet.line == 7 and moved.key_of("facts.md", "- none") is None


def test_an_edited_bullet_is_found_again(home: Workspace) -> None:
    rows = category_view(home, "facts").rows
    write(
        home, "facts.md", FACTS.replace("# Facts\n", "# Facts\n\n- one more\n").replace("boils at 100", "boils at 99")
    )
    now = category_view(home, "facts").rows

    def again(old: Found) -> tuple[str, bool]:
        found, same = found_again(now, old)
        return found.bullet.text if found is not None else "", same

    assert again(rows[3]) == ("Чайник стоит на плите", True)
    assert again(rows[0]) == ("The kettle boils at 99", False)
    write(home, "facts.md", "# Facts\n\n- entirely different words stand here\n")
    assert found_again(category_view(home, "facts").rows, rows[0]) == (None, False)
    assert meta_of(rows[3]) == "written by hand"


# --- in the window ---------------------------------------------------------------------------------------------------


def test_a_bullet_is_edited_where_it_stands_and_taken_back(stand: Stand, home: Workspace) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    stand.press("ctrl+Return")
    assert f"- The kettle boils at 100 deg [from: kettle{UUID}, 2026-05-01]\n" in read(home, "facts.md")
    assert "The kettle boils at 100 deg" in stand.texts() and stand.view.session.target is None
    words, button = stand.toast()
    assert words == "Changed the bullet"
    stand.click(button)
    assert read(home, "facts.md") == FACTS and "The kettle boils at 100" in stand.texts()


def test_esc_leaves_the_file_alone_and_gives_the_words_back(stand: Stand, home: Workspace) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    stand.press("Escape")
    assert read(home, "facts.md") == FACTS and stand.view.session.target is None
    words, button = stand.toast()
    assert words == "Your words were put aside"
    stand.click(button)
    assert stand.view.session.editor.words == "The kettle boils at 100 deg"


def test_strike_delete_and_undo_by_the_buttons_of_a_row(stand: Stand, home: Workspace) -> None:
    buttons = stand.view.list.bar.buttons
    stand.desk.move(*stand.desk.middle(stand.slot("boils at 100")))
    stand.settle()
    stand.click(buttons["strike"].item)
    assert "- ~~The kettle boils at 100~~ [from" in read(home, "facts.md")
    assert stand.row("boils at 100").text_color == "hint"
    stand.desk.move(*stand.desk.middle(stand.slot("お湯")))
    stand.settle()
    stand.click(buttons["delete"].item)
    assert "お湯" not in read(home, "facts.md") and "Umlaut" not in read(home, "facts.md")
    stand.press("ctrl+z")
    assert "- お湯は100度で沸く" in read(home, "facts.md") and "  mit Umlaut: ä\n" in read(home, "facts.md")
    stand.press("ctrl+z")
    assert read(home, "facts.md") == FACTS


def test_the_keyboard_alone_ticks_off_and_adds(stand: Stand, home: Workspace) -> None:
    stand.press("Right", "Right")
    assert stand.view.category == "tasks_open" and stand.texts() == ["clean the kettle\nwith vinegar", "buy tea"]
    stand.press("Down", "space")
    assert "## Done\n\n- boil water\n- clean the kettle\n  with vinegar\n" in read(home, "tasks.md")
    assert stand.view.list.selected is not None, "the next task is selected, so that the keys can go on"
    stand.press("Right", "Home", "space")
    assert "- buy tea\n- clean the kettle\n  with vinegar\n\n## Done" in read(home, "tasks.md")
    stand.press("n")
    stand.type_text("drink tea")
    stand.press("ctrl+Return")
    assert "- drink tea [from: by-hand," in read(home, "tasks.md").split("## Done")[1]


def test_an_edit_of_a_file_changed_outside_loses_nothing_of_either(stand: Stand, home: Workspace) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    outside = FACTS + "- from outside\n"  # the bullet's own line is as it was: only the hash tells
    write(home, "facts.md", outside)
    stand.press("ctrl+Return")
    assert read(home, "facts.md") == outside.replace("at 100 [", "at 100 deg [")
    assert "from outside" in stand.texts(), "the user sees what is there now"


@pytest.mark.parametrize("is_new", [True, False])
def test_words_begun_in_one_home_are_written_into_no_other(
    stand: Stand, home: Workspace, tmp_path: Path, is_new: bool
) -> None:
    """What was typed in the demo stood in the user's own facts after it was left."""
    (tmp_path / "second").mkdir()
    second = make_home(tmp_path / "second")
    write(second, "facts.md", FACTS)
    if is_new:
        stand.press("n")
    else:
        stand.begin("boils at 100")
    stand.type_text(" typed in the first")
    stand.shell.workspace = second
    stand.press("ctrl+Return")
    assert read(second, "facts.md") == read(home, "facts.md") == FACTS
    stand.shell.workspace = home
    stand.press("ctrl+Return")
    assert "typed in the first" in read(home, "facts.md")


def test_what_a_bullet_says_by_now_stands_in_the_list_too(stand: Stand, home: Workspace) -> None:
    """Whoever looked at the other words and put theirs aside still saw the old ones."""
    stand.begin("boils at 100")
    stand.type_text(" deg")
    write(home, "facts.md", FACTS.replace("boils at 100", "boils at 99"))
    stand.press("ctrl+Return", "Escape")
    assert [row for row in stand.texts() if "boils at 99" in row] and "boils at 99" in read(home, "facts.md")


def test_the_first_row_comes_into_sight_with_the_head_above_it(stand: Stand, home: Workspace) -> None:
    """The name of the first group could only be had back with the wheel."""
    write(home, "facts.md", "# Facts\n\n" + "".join(f"- fact number {number} of them\n" for number in range(120)))
    stand.shell.refresh()
    stand.settle()
    stand.press("End")
    assert stand.view.list.canvas.scroll > 0
    stand.press("Home")
    assert stand.view.list.canvas.scroll == 0


def test_a_file_that_changes_all_the_time_does_not_keep_a_person_from_saving(
    stand: Stand, home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A quick harvest writes between any two frames: a save must look and write in one go, and only once."""
    from gui.views import editing

    facts, looks, look = home.paths.knowledge / "facts.md", [0], editing.category_view
    stand.press("n")
    stand.type_text("kept")
    write(home, "facts.md", FACTS + "- line of a harvest\n")

    def looked(workspace: Workspace, category: str) -> Any:
        found = look(workspace, category)
        looks[0] += 1
        if looks[0] < 4:
            with facts.open("a", encoding="utf-8") as file:
                file.write(f"- line of a harvest {looks[0]}\n")
        return found

    monkeypatch.setattr(editing, "category_view", looked)
    session = stand.view.session
    session.save()
    session.save()
    stand.settle()
    assert session.target is None and looks == [4]
    assert read(home, "facts.md").count("- kept") == 1 and read(home, "facts.md").count("line of a harvest") == 4


def test_a_bullet_that_was_itself_changed_is_shown_before_it_is_overwritten(stand: Stand, home: Workspace) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    write(home, "facts.md", FACTS.replace("boils at 100", "boils at 99"))
    stand.press("ctrl+Return")
    editor = stand.view.session.editor
    assert "boils at 99" in read(home, "facts.md")
    assert "Now it says: The kettle boils at 99" in stand.desk.dpg.get_value(editor.note)
    assert editor.words == "The kettle boils at 100 deg"
    stand.press("ctrl+Return")
    assert "- The kettle boils at 100 deg [from" in read(home, "facts.md") and "at 99" not in read(home, "facts.md")


def test_a_bullet_that_is_gone_can_be_written_anew(stand: Stand, home: Workspace) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    write(home, "facts.md", "# Facts\n\n- nothing of that kind is here now\n")
    stand.press("ctrl+Return")
    assert "boils at 100" not in read(home, "facts.md"), "that it is gone is said first"
    stand.press("ctrl+Return")
    text = read(home, "facts.md")
    assert "- nothing of that kind is here now\n" in text and "- The kettle boils at 100 deg [from: by-hand" in text


def test_a_selection_from_elsewhere_is_marked(stand: Stand) -> None:
    stand.shell.select("bullet", "tasks.md", 6, "- clean the kettle")
    stand.settle()
    assert stand.view.list.current.text.startswith("clean the kettle")
    stand.click(stand.slot("buy tea"))
    assert stand.shell.state.selected.raw == "- buy tea"


def test_refreshing_makes_no_item_with_thousands_of_bullets(stand: Stand, home: Workspace) -> None:
    lines = "".join(f"- fact {number} {'with many words ' * (number % 9)}\n" for number in range(2_000))
    write(home, "facts.md", f"# Facts\n\n{lines}")
    stand.read_again()
    stand.press("Down")
    before = stand.desk.items()
    for number in range(3):
        write(home, "facts.md", f"# Facts\n\n{lines}- one more {number}\n")
        stand.read_again()
    stand.press("End", "Home", "Down")
    assert len(stand.view.list.rows) > 2000 and stand.desk.items() - before < 60, "lines of long rows come from pools"


def test_what_is_empty_teaches(stand: Stand) -> None:
    stand.view.show("playbooks")
    stand.settle()
    assert stand.desk.dpg.is_item_shown(stand.view._states["playbooks"].item)
    assert stand.view._states["playbooks"]._button and not stand.view._states["tasks_done"]._button, "one is ticked off"
    stand.view.show("facts")
    stand.settle()
    assert not stand.desk.dpg.is_item_shown(stand.view._states["playbooks"].item) and len(stand.texts()) == 4


def test_code_is_shown_as_code_wherever_its_line_breaks() -> None:
    """Backticks are for the file; without a ground nobody sees where a command ends."""
    words, spans = coded("**Checks**: `make lint` → ``a ` b`` and *so* on")
    assert words == "Checks: make lint → a ` b and *so* on" and [words[a:b] for a, b in spans] == ["make lint", "a ` b"]
    lines = lines_of_words(words, [(*span, "code") for span in spans], 14, lambda said, _role: float(len(said)))
    shown = [
        [(words[run.begin : run.end], run.style) for run in line if words[run.begin : run.end].strip()]
        for line in lines
    ]
    assert shown[0] == [("Checks: ", ""), ("make ", "code")] and shown[1][0] == ("lint", "code")


# --- Ctrl+Z is of this window ----------------------------------------------------------------------------------------


def elsewhere(home: Workspace, *arguments: str) -> None:
    """Another process of the program, as a user or an agent starts it in a terminal."""
    command = [sys.executable, "-m", "core", "--home", str(home.paths.home), *arguments]
    environment = os.environ | {"XDG_CONFIG_HOME": str(home.paths.home.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=environment)
    assert done.returncode == 0, done.stderr


def test_ctrl_z_takes_back_what_this_window_did_and_never_another_process(stand: Stand, home: Workspace) -> None:
    stand.press("ctrl+z")
    assert read(home, "facts.md") == FACTS and "Nothing was done in this window" in stand.toast()[0]
    elsewhere(home, "add", "facts", "theirs before")
    stand.read_again()
    stand.begin("boils at 100")
    stand.type_text(" deg")
    stand.press("ctrl+Return")
    elsewhere(home, "add", "facts", "theirs after")
    elsewhere(home, "add", "decisions", "theirs, too")
    stand.press("ctrl+z")
    text = read(home, "facts.md")
    assert "boils at 100 [from" in text and text.count("theirs") == 2 and "theirs, too" in read(home, "decisions.md")
    assert stand.toast()[0] == "Took back: 'The kettle boils at 100 deg' in facts.md"
    assert stand.view.list.current.text == "The kettle boils at 100", "the keys still go to the bullet"
    stand.press("ctrl+z")
    assert read(home, "facts.md") == text and "Nothing was done" in stand.toast()[0]
    stand.press("ctrl+y")
    assert "boils at 100 deg [from" in read(home, "facts.md") and read(home, "facts.md").count("theirs") == 2
    assert stand.toast()[0] == "Done again: 'The kettle boils at 100 deg' in facts.md"
    assert stand.view.list.current.text == "The kettle boils at 100 deg"
    stand.press("ctrl+z")
    stand.press("ctrl+shift+z")
    assert "boils at 100 deg [from" in read(home, "facts.md")


def test_ctrl_z_leaves_the_same_words_of_another_file_selected(stand: Stand, home: Workspace) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    stand.press("ctrl+Return")
    raw = next(line for line in read(home, "facts.md").splitlines() if "100 deg" in line)
    write(home, "decisions.md", f"# Decisions\n\n{raw}\n")
    stand.read_again()
    row = next(row for row in stand.view.list.rows if not row.head and row.key[0] == "decisions")
    stand.view.select(row)
    stand.settle()
    stand.press("ctrl+z")
    assert raw not in read(home, "facts.md")
    chosen = stand.shell.state.selected
    assert (chosen.key, chosen.raw) == ("decisions.md", raw)


def test_a_line_that_somebody_has_changed_since_stays_and_is_told(stand: Stand, home: Workspace) -> None:
    stand.begin("boils at 100")
    stand.type_text(" deg")
    stand.press("ctrl+Return")
    elsewhere(home, "edit", "facts", "boils at 100", "It boils at 99")
    text = read(home, "facts.md")
    stand.press("ctrl+z")
    assert read(home, "facts.md") == text
    assert "changed since, so it stays as it is: 'The kettle boils at 100 deg' in facts.md" in stand.errors[-1].message


def test_a_bullet_that_the_fonts_cannot_show_is_edited_in_the_users_editor(
    stand: Stand, home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The field held replacement marks, and whoever corrected one saved over what nobody could read."""
    opened: list[tuple[str, int]] = []
    monkeypatch.setattr(stand.shell, "open_path", lambda path, line=0: opened.append((path, line)))
    path = write(home, "facts.md", "# Facts\n\n- הקומקום רותח ב-100\n")
    stand.shell.refresh()
    stand.settle()
    stand.view.act("edit", next(row for row in stand.view.list.rows if "Hebrew" in row.text))
    assert opened == [(str(path), 3)] and stand.view.session.target is None
