"""The inspector: if these fail, a user cannot see where a bullet came from, or get a conversation back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.base.result import KnowledgeError, attempt
from core.commands import bullets
from core.commands.history.undo import undo
from core.commands.memories import save
from core.commands.panel.bullets import bullet_view, category_view
from core.commands.panel.conversations import Given, conversation_key
from core.commands.panel.overview import overview
from core.commands.workspace import Workspace
from core.conversations.conversation import Turn
from gui.state import NOTHING, Selection
from gui.views.inspector.rows import CHUNK, Page, line_row, load, turn_rows
from tests.gui_stand import Stand
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import Clock, Model, converse, harvested, make_home, read


@dataclass(frozen=True)
class Home:
    """A home with one harvested conversation."""

    core: Workspace
    chat: Path
    key: str


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Home:
    core = make_home(tmp_path)
    chat = converse(core, "kettle", "お湯は100度 🔥")
    harvested(core, Model(facts=["water boils"], decisions=["buy a red kettle"]), Clock())
    return Home(core, chat, conversation_key(core, chat.name))


@pytest.fixture(name="stand")
def stand_fixture(desk: Desk, home: Home) -> Iterator[Stand]:
    from gui.views.inspector.view import Inspector

    stand = Stand(desk, home.core, Inspector, width=352)
    yield stand
    stand.close()


def select(stand: Stand, kind: str, key: str, line: int = 0, raw: str = "") -> None:
    stand.shell.select(kind, key, line, raw)
    stand.settle()


def fact(home: Home) -> tuple[str, int, str]:
    row = next(row for row in category_view(home.core, "facts").rows if row.bullet.text == "water boils")
    return row.file, row.bullet.line, row.bullet.raw


# --- plain -----------------------------------------------------------------------------------------------------------


def test_a_conversation_tells_what_became_of_it_and_what_it_gave(home: Home) -> None:
    page = load(home.core, Selection("conversation", home.key))
    assert page.title == "お湯は100度 🔥" and page.color == "harvested" and page.can == {"open", "read", "restore"}
    assert page.facts[0].startswith("Harvested") and "in the trash until" in page.facts[0] and "openai" in page.facts[1]
    assert {"water boils", "buy a red kettle"} <= {row.text for row in page.parts[0].rows}
    assert isinstance(attempt(load, home.core, Selection("conversation", "0" * 64)), KnowledgeError)


def test_code_of_what_a_conversation_gave_is_code() -> None:
    row = line_row(("given", 0), Given("facts.md", 3, "", "run `make check`, **always**"))
    assert row.text == "run make check, always" and row.text[slice(*row.code[0])] == "make check"


def test_a_failed_conversation_says_why(tmp_path: Path) -> None:
    core = make_home(tmp_path)
    chat = converse(core, "kettle", "words")

    def refuses(*_: object) -> KnowledgeError:

        raise KnowledgeError("no-credentials", "no key was found")

    harvested(core, refuses, Clock())  # type: ignore[arg-type]
    page = load(core, Selection("conversation", conversation_key(core, chat.name)))
    assert page.color == "failed" and "no key was found" in page.warning and "harvest" in page.can
    assert page.parts[0].empty == "It was not harvested."


def test_a_bullet_tells_where_it_came_from(home: Home) -> None:
    file, line, raw = fact(home)
    page = load(home.core, Selection("bullet", file, line, raw))
    assert page.body == "water boils" and "from" in page.can and page.facts[1] == f"facts.md:{line}"
    assert [(part.name, [row.text for row in part.rows]) for part in page.parts] == [
        ("Evidence", []), ("History", ["Harvested"]),
    ]  # fmt: skip
    assert "No quote was kept" in page.parts[0].empty, "nobody looks for what is not there"
    gone = load(home.core, Selection("bullet", file, line, "- never was"))
    assert "from" not in gone.can and gone.warning and gone.parts[0].rows == ()
    assert isinstance(attempt(bullet_view, home.core, "../../etc/passwd", "- x"), KnowledgeError)


def test_what_ctrl_z_took_back_is_shown_as_it_is_again(home: Home) -> None:
    """One's own undo showed "Not there any more … the file has changed"."""
    bullets.add(home.core, "facts", "The kettle boils")
    changed = bullets.edit(home.core, "facts", "The kettle boils", "The kettle sings")
    raw = next(line for line in read(home.core, "facts.md").split("\n") if "sings" in line)
    undo(home.core, changed.run)
    page = load(home.core, Selection("bullet", "facts.md", 0, raw))
    assert page.body == "The kettle boils" and page.subject.found is not None and not page.warning


def test_files_of_the_store_are_shown(home: Home) -> None:
    state = overview(home.core)
    page = load(home.core, Selection("file", "facts.md"), state.file("facts.md"))
    assert page.can == {"open"} and "water boils" in page.parts[0].rows[0].text and "bullet" in page.facts[0]
    absent = load(home.core, Selection("file", "playbooks.md"), state.file("playbooks.md"))
    assert absent.can == frozenset() and absent.parts[0].empty


def test_a_long_turn_is_shown_in_pieces_and_whole() -> None:
    text = "\n\n".join("word " * 60 for _ in range(30))
    rows = turn_rows(0, Turn("assistant", text, "2026-05-01T10:00:00"))
    assert len(rows) > 5 and all(len(row.text) <= CHUNK for row in rows)
    assert "".join(row.text for row in rows).replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(
        " ", ""
    )
    assert [bool(row.icon) for row in rows[:2]] == [True, False] and rows[-1].meta == "assistant  ·  10:00"
    rows = turn_rows(0, Turn("assistant", "x" * 3000, ""))
    assert [len(row.text) for row in rows] == [CHUNK, CHUNK, 600]


# --- in the window ---------------------------------------------------------------------------------------------------


def test_a_conversation_comes_back_from_the_trash(stand: Stand, home: Home) -> None:
    select(stand, "conversation", home.key)
    assert not home.chat.exists()
    stand.click(stand.view.buttons["restore"].item)
    assert home.chat.exists() and "is back in its place" in stand.toast()[0]
    stand.shell.change(data={})  # as after a gathering
    stand.settle()
    assert "in its place" in stand.view.page.facts[0] and "restore" not in stand.view.page.can


def test_from_a_conversation_to_its_bullet_and_back(stand: Stand, home: Home) -> None:
    select(stand, "conversation", home.key)
    row = next(row for row in stand.view.list.rows if row.text == "water boils")
    stand.click(stand.slot(row.text))
    chosen = stand.shell.state.selected
    assert (chosen.kind, chosen.key, chosen.line, chosen.raw) == ("bullet", *fact(home))
    assert stand.desk.dpg.get_value(stand.view._body) == "water boils"
    stand.click(stand.view.buttons["from"].item)
    assert stand.shell.state.selected == Selection("conversation", home.key)
    rows = [row.text for row in stand.view.list.rows]
    assert rows[0].startswith("Bullets") and {"water boils", "buy a red kettle"} <= set(rows)


def test_a_bullet_is_struck_and_deleted_here_too(stand: Stand, home: Home) -> None:
    select(stand, "bullet", *fact(home))
    stand.click(stand.view.buttons["strike"].item)
    assert "- ~~water boils~~" in read(home.core, "facts.md") and stand.shell.state.selected.raw.startswith("- ~~water")
    assert [row.text for row in stand.view.list.rows][-2:] == ["Struck through", "Harvested"]
    stand.click(stand.view.buttons["delete"].item)
    assert "water boils" not in read(home.core, "facts.md")
    stand.click(stand.toast()[1])
    assert "- ~~water boils~~" in read(home.core, "facts.md")


def test_a_change_from_outside_is_told_and_nothing_is_written(stand: Stand, home: Home) -> None:
    select(stand, "bullet", *fact(home))
    path = home.core.paths.knowledge / "facts.md"
    outside = path.read_text(encoding="utf-8") + "- from outside\n"
    path.write_text(outside, encoding="utf-8")
    stand.click(stand.view.buttons["delete"].item)
    assert path.read_text(encoding="utf-8") == outside
    assert [error.code for error in stand.errors] == ["changed-outside"]


def test_keys_move_in_the_evidence(stand: Stand, home: Home) -> None:
    select(stand, "file", "facts.md")
    stand.press("alt+End")
    assert stand.view.list.selected == ("text", "all", 0)
    select(stand, "conversation", home.key)
    stand.press("alt+Down")
    assert stand.shell.state.selected.kind == "bullet", "what it gave leads on"
    stand.shell.change(selected=NOTHING)
    stand.settle()
    assert stand.view.page is None


def test_a_title_as_long_as_a_message_leaves_room_for_the_rest(stand: Stand) -> None:
    """A tool took a whole first message as the title: the page was full of it."""
    title = "why does the kettle trip the fuse " * 40
    stand.view._show(Page("x", "accent", title))
    shown = stand.desk.dpg.get_value(stand.view._title)
    assert len(shown) <= 120 and title.startswith(shown[:-1])
    assert stand.desk.dpg.get_value(stand.view._title_tip).replace("\n", " ").split() == title.split()


def test_one_thing_after_the_other_makes_no_item(stand: Stand, home: Home) -> None:
    file, line, raw = fact(home)
    select(stand, "conversation", home.key)
    stand.press("alt+End", "alt+Home")
    before = 0
    for again in range(3):
        select(stand, "bullet", file, line, raw)
        select(stand, "file", "digest.md")
        select(stand, "conversation", home.key)
        before = before if again else stand.desk.items()  # what a list draws with is made once
    assert stand.desk.items() == before


def test_a_memory_is_its_words_and_not_what_stands_above_them_in_its_file(home: Home) -> None:
    saved = save(home.core, "Use tabs in Makefiles.", tag=["make"])
    page = load(home.core, Selection("file", f"memories/{saved.memory.path.name}"))
    assert [row.text for row in page.parts[0].rows] == ["Use tabs in Makefiles."] and "#make" in page.facts[0]
    assert page.can == {"open"} and page.copy == "Use tabs in Makefiles." and ".md" not in page.title
