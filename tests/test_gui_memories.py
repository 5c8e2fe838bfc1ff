"""Memories and context files in the window: if these fail, a user's words are lost, or stand in no conversation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.base.paths import project_paths
from core.commands.context import begin_context, context_files
from core.commands.memories import all_memories, memories_archive, memories_edit, save
from core.commands.workspace import Workspace
from core.context_files import GLOBAL, PROJECT, ContextFile
from gui.views.memories import MemoryBook, context_words, gather, rows, tags_in, which
from gui.watch import folders_of
from tests.gui_stand import Stand
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import error, make_home, read, write

TEXTS = (
    ("Use tabs in Makefiles\nand nowhere else", ("preference", "make")),
    ("お湯は100度で沸く", ("кухня",)),
    ("회로는 30초 안에 열린다 🔥", ("make",)),
)
HEAD = "---\nversion: 1\nupdated: 2026-05-01T10:00:00\n---\n\n"


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    for day, (text, tags) in enumerate(TEXTS, start=1):
        save(workspace, text, tag=tags, now=lambda day=day: datetime(2026, 5, day, 12, tzinfo=UTC))
    return workspace


@pytest.fixture(name="at_project")
def project_fixture(home: Workspace, tmp_path: Path) -> Workspace:
    project = tmp_path / "shelf"
    project_paths(project).knowledge.mkdir(parents=True)
    return replace(home, cwd=project)


@pytest.fixture(name="stand")
def stand_fixture(desk: Desk, home: Workspace) -> Iterator[Stand]:
    yield from stand_on(desk, home)


def stand_on(desk: Desk, workspace: Workspace) -> Iterator[Stand]:
    from gui.views.memories import MemoriesView

    stand = Stand(desk, workspace, MemoriesView, width=640)
    stand.opened = []  # type: ignore[attr-defined]
    stand.shell.open_path = stand.opened.append  # type: ignore[attr-defined,method-assign]
    yield stand
    stand.close()


def contents(workspace: Workspace, archived: bool = False) -> list[str]:
    return [row.content for row in all_memories(workspace, archived=archived).memories]


# --- plain -----------------------------------------------------------------------------------------------------------


def test_rows_are_newest_first(home: Workspace) -> None:
    book = gather(home, None)
    found = rows(book)
    assert [row.text for row in found] == [text for text, _ in reversed(TEXTS)]
    assert [row.meta for row in found] == [
        "#make  ·  3 May 2026", "#кухня  ·  2 May 2026", "#preference #make  ·  1 May 2026"
    ]  # fmt: skip
    assert not rows(book, True) and tags_in(" #make, two words,, ") == ["make", "two words"]
    assert gather(home, book) is book
    write(home, "memories/009-new.md", "no memory at all\n")
    assert len(gather(home, book).skipped) == 1


def test_two_memories_of_one_name_are_told_apart(home: Workspace) -> None:
    """Else the one of the project would be archived instead of the one that was meant."""
    mine = all_memories(home).memories[0]
    book = MemoryBook(saved=(mine, replace(mine, scope="project", path=Path("/p") / mine.path.name)))
    assert [which(book, row, False) for row in book.saved] == ["global:1", "project:1"]
    assert which(MemoryBook(saved=(mine,)), mine, False) == mine.path.stem
    assert "this project" in rows(book)[1].meta
    (row,) = rows(MemoryBook(saved=(replace(mine, content="**First** `make check`"),)))
    assert row.text == "First make check", "the marks of code are for the file, not for the screen"


def test_a_context_file_over_its_budget_is_told_with_the_way_out() -> None:
    path = Path("/h/context.md")
    assert context_words(ContextFile(GLOBAL, path, True, "x", 1024, 3072)) == ()
    large = context_words(ContextFile(PROJECT, path, True, "x", 7200, 7168, problems=(f"{path}:2: no version",)))
    assert large[0] == "/h/context.md:2: no version" and large[1].startswith("/h/context.md has 7,200 of 7,168 bytes")


def test_a_context_file_is_begun_valid_and_never_replaced(home: Workspace, at_project: Workspace) -> None:
    for workspace, scope in ((home, GLOBAL), (at_project, PROJECT)):
        path = begin_context(workspace, scope)
        found = {row.scope: row for row in context_files(workspace).files}[scope]
        assert found.exists and not found.problems and found.version == 1 and found.bytes == 0
        path.write_text("mine")
        assert error(begin_context, workspace, scope).code == "exists" and path.read_text() == "mine"
    assert error(begin_context, home, PROJECT).code == "no-project"


def test_the_panel_hears_of_memories_that_others_save(home: Workspace) -> None:
    assert home.paths.memories in folders_of(home.paths)


# --- in the window ---------------------------------------------------------------------------------------------------


def test_a_memory_of_several_lines_is_edited_where_it_stands_and_taken_back(stand: Stand, home: Workspace) -> None:
    before = read(home, "memories/001-use-tabs-in-makefiles-and-nowhere-else.md")
    stand.click(stand.slot("Makefiles"), times=2)
    assert stand.look.typing()
    stand.press("ctrl+End", "Return")
    stand.type_text("ever")
    stand.press("ctrl+Return")
    assert contents(home)[0] == "Use tabs in Makefiles\nand nowhere else\never"
    assert "Use tabs in Makefiles\nand nowhere else\never" in stand.texts() and stand.view.session.target is None
    words, button = stand.toast()
    assert words == "Changed the memory"
    stand.click(button)
    assert read(home, "memories/001-use-tabs-in-makefiles-and-nowhere-else.md") == before


def test_the_keyboard_alone_writes_archives_and_brings_back(stand: Stand, home: Workspace) -> None:
    stand.press("n")
    stand.type_text("drink tea")
    stand.press("Return")
    stand.type_text("daily")
    stand.press("Tab")
    stand.desk.frames(3)
    stand.type_text("habit")
    stand.press("ctrl+Return")
    saved = all_memories(home).memories[-1]
    assert saved.content == "drink tea\ndaily" and saved.tags == ("habit",)
    assert stand.view.list.current.text == "drink tea\ndaily", "what was saved is selected"
    stand.press("Delete")
    assert contents(home, archived=True) == ["drink tea\ndaily"] and len(stand.texts()) == 3
    stand.press("Delete", "ctrl+z")
    assert len(contents(home)) == 3
    stand.press("ctrl+y")
    assert len(contents(home, archived=True)) == 2
    stand.press("ctrl+z")
    assert contents(home, archived=True) == ["drink tea\ndaily"], "what was done again can be taken back again"
    stand.press("Right", "Down", "r")
    assert "drink tea\ndaily" in contents(home) and not contents(home, archived=True)
    stand.press("Left", "Home", "ctrl+c")
    assert stand.desk.dpg.get_clipboard_text() == stand.view.data.saved[0].content
    stand.press("o")
    assert stand.opened == [str(stand.view.data.saved[0].path)]  # type: ignore[attr-defined]


def test_buttons_of_a_row_archive_and_the_toast_brings_back(stand: Stand, home: Workspace) -> None:
    stand.click(stand.point("お湯")["archive"].item)
    assert contents(home, archived=True) == ["お湯は100度で沸く"]
    assert stand.view.piles[True].count == 1
    stand.click(stand.toast()[1])
    assert not contents(home, archived=True) and len(stand.texts()) == 3
    stand.click(stand.point("お湯")["archive"].item)
    stand.click(stand.view.piles[True].item)
    assert stand.texts() == ["お湯は100度で沸く"]
    stand.click(stand.point("お湯")["restore"].item)
    assert len(contents(home)) == 3
    stand.desk.move(*stand.desk.middle(stand.view.add.item))
    stand.click(stand.view.piles[False].item)
    stand.click(stand.point("Makefiles")["copy"].item)
    assert stand.desk.dpg.get_clipboard_text() == TEXTS[0][0]


@pytest.mark.parametrize("choice", ["again", "theirs", "copy"])
def test_a_memory_changed_outside_refuses_the_edit_and_loses_nothing(
    stand: Stand, home: Workspace, choice: str
) -> None:
    stand.click(stand.slot("Makefiles"), times=2)
    stand.press("ctrl+End")
    stand.type_text(" ever")
    memories_edit(home, "1", "Use spaces")
    stand.press("ctrl+Return")
    assert "Now it says: Use spaces" in stand.desk.dpg.get_value(stand.view.session.editor.sentence)
    mine = "Use tabs in Makefiles\nand nowhere else ever"
    stand.answer(choice, mine, lambda: contents(home)[0], before="Use spaces", after=mine)


def test_a_memory_that_is_gone_can_be_saved_anew(stand: Stand, home: Workspace) -> None:
    stand.click(stand.slot("Makefiles"), times=2)
    stand.press("ctrl+End")
    stand.type_text(" ever")
    memories_archive(home, "1")
    stand.press("ctrl+Return", "ctrl+Return")
    assert contents(home)[-1] == "Use tabs in Makefiles\nand nowhere else ever"
    assert contents(home, archived=True) == [TEXTS[0][0]]


def test_esc_puts_the_words_aside_and_gives_them_back(stand: Stand, home: Workspace) -> None:
    stand.click(stand.view.add.item)
    stand.type_text("half a thought")
    stand.press("Escape")
    assert len(contents(home)) == 3 and stand.view.session.target is None
    stand.click(stand.toast()[1])
    assert stand.view.session.editor.words == "half a thought"
    stand.press("ctrl+Return")
    assert contents(home)[-1] == "half a thought"


def test_context_files_are_begun_and_opened(stand: Stand, home: Workspace) -> None:
    stand.press("ctrl+o")
    assert home.paths.context.read_text().startswith("---\nversion: 1\nupdated: ")
    assert stand.opened == [str(home.paths.context)]  # type: ignore[attr-defined]
    write(home, "context.md", HEAD + "x" * 4000)
    stand.read_again()
    assert "has 4,000 of 3,072 bytes: shorten it" in stand.desk.dpg.get_value(stand.view.remark).replace("\n", " ")
    stand.press("ctrl+o")
    assert len(stand.opened) == 2  # type: ignore[attr-defined]
    stand.press("ctrl+shift+o")
    assert stand.toast()[0] == "There is no project around this folder"


def test_a_project_has_its_own_context_and_memories(desk: Desk, at_project: Workspace) -> None:
    for stand in stand_on(desk, at_project):
        stand.press("ctrl+shift+o")
        assert project_paths(at_project.cwd).context.exists()
        stand.press("n")
        stand.type_text("only here")
        stand.click(stand.view.session.editor.switch.label)
        stand.press("ctrl+Return")
        found = all_memories(at_project).memories
        assert [row.content for row in found if row.scope == "project"] == ["only here"]


def test_what_is_empty_teaches(desk: Desk, tmp_path: Path) -> None:
    for stand in stand_on(desk, make_home(tmp_path, home="empty")):
        shown: Any = desk.dpg.is_item_shown
        assert shown(stand.view._states["none"].item)
        assert not shown(stand.view.piles[True].item), "what counts nothing needs no chip"
        stand.press("Right", "n")
        assert stand.look.typing() and not shown(stand.view._states["none"].item)
        stand.press("Escape")
        assert shown(stand.view._states["none"].item)
