"""The inspector: if these fail, a user cannot see where a bullet came from, or get a conversation back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.base.result import KnowledgeError, Ok, attempt
from core.commands import bullets
from core.commands.memories import save
from core.commands.panel.bullets import bullet_view, category_view
from core.commands.panel.confidence import NO_COURSE, Moment, course_of
from core.commands.panel.conversations import conversation_key
from core.commands.panel.overview import overview
from core.commands.workspace import Workspace
from core.conversations.conversation import Turn
from core.factindex.record import decayed, history_of, unconfirmed
from gui.state import NOTHING, Selection
from gui.views.inspector.rows import CHUNK, Page, chunks, load, turn_rows
from gui.views.inspector.web import ICON_ALONE, MAX_NODES, widths_of
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


def test_a_conversation_tells_what_it_gave_and_what_was_said(home: Home) -> None:
    page = load(home.core, Selection("conversation", home.key))
    assert page.title == "お湯は100度 🔥" and page.color == "harvested" and page.can == {"open", "read", "restore"}
    assert page.facts[0].startswith("Harvested") and "in the trash until" in page.facts[0] and "openai" in page.facts[1]
    items, said = page.tabs
    assert {"water boils", "buy a red kettle"} <= {row.text for row in items.rows}
    assert [row.meta.split("  ·  ")[0] for row in said.rows] == ["you", "assistant"] and "🔥" in said.rows[0].text
    assert isinstance(attempt(load, home.core, Selection("conversation", "0" * 64)), KnowledgeError)


def test_a_failed_conversation_says_why(tmp_path: Path) -> None:
    core = make_home(tmp_path)
    chat = converse(core, "kettle", "words")

    def refuses(*_: object) -> KnowledgeError:

        raise KnowledgeError("no-credentials", "no key was found")

    harvested(core, refuses, Clock())  # type: ignore[arg-type]
    page = load(core, Selection("conversation", conversation_key(core, chat.name)))
    assert page.color == "failed" and "no key was found" in page.warning and "harvest" in page.can
    assert page.tabs[0].empty == "It was not harvested."


def test_a_bullet_tells_where_it_came_from(home: Home) -> None:
    file, line, raw = fact(home)
    page = load(home.core, Selection("bullet", file, line, raw))
    assert page.body == "water boils" and "from" in page.can and page.facts[1] == f"facts.md:{line}"
    assert [row.text for row in page.tabs[0].rows] == ["Harvested"]
    gone = load(home.core, Selection("bullet", file, line, "- never was"))
    assert "from" not in gone.can and gone.warning and gone.tabs[0].rows == ()
    assert isinstance(attempt(bullet_view, home.core, "../../etc/passwd", "- x"), KnowledgeError)


def test_files_of_the_store_and_sources_are_shown(home: Home, tmp_path: Path) -> None:
    state = overview(home.core)
    page = load(home.core, Selection("file", "facts.md"), state.file("facts.md"))
    assert page.can == {"open"} and "water boils" in page.tabs[0].rows[0].text and "bullet" in page.facts[0]
    absent = load(home.core, Selection("file", "playbooks.md"), state.file("playbooks.md"))
    assert absent.can == frozenset() and absent.tabs[0].empty
    source = tmp_path / "app.py"
    source.write_text("x = 1\n", encoding="utf-8")
    assert isinstance(attempt(bullets.add, home.core, "files", "about app", file=str(source)), Ok)
    page = load(home.core, Selection("source", str(source)))
    assert page.title == "app.py" and page.can == {"open", "show"} and page.tabs[0].rows[0].text == "about app"
    assert isinstance(attempt(load, home.core, Selection("source", "/nowhere")), KnowledgeError)


def test_a_long_turn_is_shown_in_pieces_and_whole() -> None:
    text = "\n\n".join("word " * 60 for _ in range(30))
    rows = turn_rows(0, Turn("assistant", text, "2026-05-01T10:00:00"))
    assert len(rows) > 5 and all(len(row.text) <= CHUNK for row in rows)
    assert "".join(row.text for row in rows).replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(
        " ", ""
    )
    assert [bool(row.icon) for row in rows[:2]] == [True, False] and rows[-1].meta == "assistant  ·  10:00"
    assert chunks("x" * 3000) == ["x" * CHUNK, "x" * CHUNK, "x" * 600] and chunks("a\x1bb") == ["a b"]


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
    stand.click(stand.view.list.slot_of(row.key).text)
    chosen = stand.shell.state.selected
    assert (chosen.kind, chosen.key, chosen.line, chosen.raw) == ("bullet", *fact(home))
    assert stand.desk.dpg.get_value(stand.view._body) == "water boils"
    stand.click(stand.view.buttons["from"].item)
    assert stand.shell.state.selected == Selection("conversation", home.key)
    stand.click(stand.view.tabs[1].item)
    assert "🔥" in stand.view.list.rows[0].text


def test_a_bullet_is_struck_and_deleted_here_too(stand: Stand, home: Home) -> None:
    select(stand, "bullet", *fact(home))
    stand.click(stand.view.buttons["strike"].item)
    assert "- ~~water boils~~" in read(home.core, "facts.md") and stand.shell.state.selected.raw.startswith("- ~~water")
    assert [row.text for row in stand.view.list.rows] == ["Struck through", "Harvested"]
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


def test_keys_move_in_the_inspector_and_nothing_selected_teaches(stand: Stand, home: Home) -> None:
    assert stand.desk.dpg.is_item_shown(stand.view._teach.item)
    select(stand, "conversation", home.key)
    assert not stand.desk.dpg.is_item_shown(stand.view._teach.item)
    stand.press("alt+Right")
    assert stand.view.tab == 1
    stand.press("alt+Down")
    assert stand.view.list.selected == ("turn", 0, 0)
    stand.shell.change(selected=NOTHING)
    stand.settle()
    assert stand.desk.dpg.is_item_shown(stand.view._teach.item)


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
    stand.press("alt+Right", "alt+Down")
    before = stand.desk.items()
    for _ in range(3):
        select(stand, "bullet", file, line, raw)
        select(stand, "file", "digest.md")
        select(stand, "conversation", home.key)
    assert stand.desk.items() == before


def test_a_memory_is_its_words_and_not_what_stands_above_them_in_its_file(home: Home) -> None:
    saved = save(home.core, "Use tabs in Makefiles.", tag=["make"])
    page = load(home.core, Selection("file", f"memories/{saved.memory.path.name}"))
    assert [row.text for row in page.tabs[0].rows] == ["Use tabs in Makefiles."] and "#make" in page.facts[0]
    assert page.can == {"open"} and page.copy == "Use tabs in Makefiles." and ".md" not in page.title


# --- the selection as a picture --------------------------------------------------------------------------------------


def test_a_conversation_its_items_and_their_files_are_one_graph(home: Home) -> None:
    """Where something came from, and where it went, at a glance."""
    web = load(home.core, Selection("conversation", home.key)).web
    talks, items, files = web.columns
    assert [node.label for node in talks] == ["お湯は100度 🔥"]
    assert {node.label for node in items} == {"water boils", "buy a red kettle", "task 1"}
    assert {node.label for node in files} == {"facts.md", "decisions.md", "tasks.md"} and len(web.links) == 6
    here = next(node for node in items if node.label == "water boils")
    assert here.to == Selection("bullet", *fact(home))
    back = load(home.core, here.to).web
    gap, wide = widths_of(back, 210)
    assert wide[1] == ICON_ALONE and min(wide[0], wide[2]) > 75, "in a narrow column the names have room for words"
    assert sum(wide) + 2 * gap == 210 and widths_of(back, 340)[1][1] > 100
    assert back.columns[0][0].to == Selection("conversation", home.key) and back.columns[1][0].to is None
    assert [node.to for node in back.columns[2]] == [Selection("file", "facts.md")]


def test_a_graph_of_many_items_stays_small_and_says_how_many_there_are(home: Home) -> None:
    many = converse(home.core, "many", "x")
    harvested(home.core, Model(facts=[f"item {at} of it" for at in range(20)]), Clock())
    web = load(home.core, Selection("conversation", conversation_key(home.core, many.name))).web
    assert len(web.columns[1]) == MAX_NODES and web.columns[1][-1].label == f"{21 - MAX_NODES + 1} more", (
        "20 facts and a task"
    )
    assert {begin for column, begin, _ in web.links if column == 1} == set(range(MAX_NODES))


def test_how_sure_a_fact_was_is_what_the_index_says_at_every_moment() -> None:
    """A curve of made-up points would be worse than none: each is what the record says up to there."""
    name = "global:fact:001"

    def fed(at: int, *items: list[Any]) -> dict[str, Any]:
        return {"t": "fed", "sha": f"{at:064x}", "run": f"run-{at}", "path": f"/c/talk-{at}",
                "day": f"2026-01-{at % 28 + 1:02d}", "items": list(items)}  # fmt: skip

    records: list[dict[str, Any]] = [{**fed(at), "day": "2026-02-01"} for at in range(130)]
    records[3]["items"] = [["mark", name, "new", 0.5, "2026-02-01"]]
    records[80]["items"] = [["mark", name, "same", 0.6, "2026-02-01"]]
    course = course_of(records, name)
    assert [one.sha256 for one in course.heard] == [f"{3:064x}", f"{80:064x}"]
    assert [one.conversations for one in course.moments if one.heard] == [4, 81]
    assert [one.confidence for one in course.moments if one.heard] == [0.5, 0.6]
    for one in course.moments:
        then = history_of(records[: one.conversations])
        assert one.confidence == decayed(then.known[name][0], unconfirmed(name, then))
    assert course.moments[-1] == Moment(130, decayed(0.6, 49), False)
    assert min(one.confidence for one in course.moments if one.conversations < 81) == decayed(0.5, 76)
    records.append(
        {"t": "undone", "sha": f"{80:064x}", "run": "run-80", "kept": [], "known": {name: [0.5, "2026-02-01"]}}
    )
    assert len(course_of(records, name).heard) == 1 and course_of([], name) == NO_COURSE


def test_a_click_on_a_node_goes_there(stand: Stand, home: Home) -> None:
    select(stand, "conversation", home.key)
    picture = stand.view.picture
    x, y = picture.place_of("water boils")
    left, top = stand.desk.dpg.get_item_rect_min(picture.drawing.item)
    stand.desk.move(int(left + x), int(top + y))
    stand.desk.frames(2)
    stand.desk.hand.button(1, True)
    stand.desk.frames(3)
    stand.desk.hand.button(1, False)
    stand.settle()
    assert stand.shell.state.selected == Selection("bullet", *fact(home))
    assert stand.view.page.title == "Fact" and stand.desk.dpg.is_item_shown(picture.drawing.holder)
