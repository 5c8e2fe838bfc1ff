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
from core.commands.memories import all_memories, save
from core.commands.workspace import Workspace
from core.context_files import GLOBAL, PROJECT, ContextFile
from gui.views.memories import MemoryBook, context_words, gather, rows, which, written
from gui.watch import folders_of
from tests.gui_stand import Stand
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import error, make_home, write

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
    from gui.views.knowledge import KnowledgeView

    stand = Stand(desk, workspace, KnowledgeView, width=860)
    stand.view.show("memories")
    stand.settle()
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
    saved = [written(home, words).memory for words in ("drink tea #habit #tea", "#1 is open", "see # 3", "a #b c")]
    assert [(row.content, row.tags) for row in saved] == [
        ("drink tea", ("habit", "tea")), ("#1 is open", ()), ("see # 3", ()), ("a #b c", ())
    ]  # fmt: skip
    book = gather(home, book)
    assert len(book.saved) == 7
    assert gather(home, book) is book
    write(home, "memories/009-new.md", "no memory at all\n")
    assert len(gather(home, book).skipped) == 1


def test_two_memories_of_one_name_are_told_apart(home: Workspace) -> None:
    """Else the one of the project would be archived instead of the one that was meant."""
    mine = all_memories(home).memories[0]
    book = MemoryBook(saved=(mine, replace(mine, scope="project", path=Path("/p") / mine.path.name)))
    assert [which(book.saved, row) for row in book.saved] == ["global:1", "project:1"]
    assert which((mine,), mine) == mine.path.stem
    assert "this project" in rows(book)[1].meta
    (row,) = rows(MemoryBook(saved=(replace(mine, content="**First** `make check`"),)))
    assert row.text == "First make check", "the marks of code are for the file, not for the screen"


def test_a_context_file_over_its_budget_is_told_with_the_way_out() -> None:
    path = Path("/h/context.md")
    assert context_words(ContextFile(GLOBAL, path, True, "x", 1024, 3072)) == ()
    large = context_words(ContextFile(PROJECT, path, True, "x", 7200, 7168, problems=(f"{path}:2: no version",)))
    assert large[0] == "/h/context.md:2: no version" and large[1].startswith("/h/context.md has 7,200 of 7,168 bytes")


def test_a_context_file_is_begun_valid_and_never_replaced(home: Workspace) -> None:
    path = begin_context(home)
    [found] = context_files(home).files
    assert found.exists and not found.problems and found.version == 1 and found.bytes == 0
    path.write_text("mine")
    assert error(begin_context, home).code == "exists" and path.read_text() == "mine"


def test_the_panel_hears_of_memories_that_others_save(home: Workspace) -> None:
    assert home.paths.memories in folders_of(home.paths)


# --- in the window ---------------------------------------------------------------------------------------------------


def test_the_keyboard_alone_writes_archives_and_brings_back(stand: Stand, home: Workspace) -> None:
    stand.press("n")
    stand.type_text("drink tea ")
    stand.press("numbersign")
    stand.type_text("habit")
    stand.press("ctrl+Return")
    saved = all_memories(home).memories[-1]
    assert (saved.content, saved.tags) == ("drink tea", ("habit",))
    stand.press("Home", "Delete")
    assert contents(home, archived=True) == ["drink tea"]
    assert stand.texts()[-2:] == ["Archived", "drink tea"]
    stand.press("End", "r")
    assert "drink tea" in contents(home) and not contents(home, archived=True)
    stand.press("Home", "ctrl+c")
    assert stand.desk.dpg.get_clipboard_text() == stand.view.data.memories.saved[0].content
    stand.press("o")
    assert stand.opened == [str(stand.view.data.memories.saved[0].path)]  # type: ignore[attr-defined]


def test_a_memory_is_archived_and_the_toast_brings_it_back(stand: Stand, home: Workspace) -> None:
    stand.click(stand.point("お湯")["archive"].item)
    assert contents(home, archived=True) == ["お湯は100度で沸く"] and stand.view.tabs["memories"].count == 2
    stand.click(stand.toast()[1])
    assert not contents(home, archived=True) and len(stand.texts()) == 3


def test_a_memory_that_changed_outside_is_not_archived(stand: Stand, home: Workspace) -> None:
    """What the user has not seen must not go out of the way unread."""
    path = stand.view.data.memories.saved[0].path
    path.write_text(path.read_text("utf-8").replace("회로는", "열린다"), "utf-8")
    row = stand.view.list.rows[0]
    stand.view.act("archive", row)
    stand.settle()
    assert not contents(home, archived=True) and stand.errors


def test_context_files_are_begun_and_opened(stand: Stand, home: Workspace) -> None:
    stand.press("ctrl+shift+o")
    assert home.paths.context.read_text().startswith("---\nversion: 1\nupdated: ")
    assert stand.opened == [str(home.paths.context)]  # type: ignore[attr-defined]
    write(home, "context.md", HEAD + "x" * 4000)
    stand.read_again()
    assert "has 4,000 of 3,072 bytes: shorten it" in stand.desk.dpg.get_value(stand.view.remark).replace("\n", " ")


def test_what_is_empty_teaches(desk: Desk, tmp_path: Path) -> None:
    for stand in stand_on(desk, make_home(tmp_path, home="empty")):
        shown: Any = desk.dpg.is_item_shown
        assert shown(stand.view._states["memories"].item)
        stand.press("n")
        assert stand.look.typing() and not shown(stand.view._states["memories"].item)
        stand.press("Escape")
        assert shown(stand.view._states["memories"].item)
