"""The search in the window: if these fail, a user does not find what they know is there, or lands elsewhere."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.commands.conversations import ConversationHit
from core.commands.memories import save
from core.commands.workspace import Workspace
from gui.state import Activity
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.icons import icon
from gui.views.search_rows import (
    Findings,
    Wanted,
    conversation_row,
    excerpt,
    find,
    marked_row,
    row_of,
    source_of,
    spans,
    terms_of,
    why_words,
)
from tests.cli_call import call
from tests.gui_stand import Stand
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import make_home, write
from tests.panel_desk import at_home_fixture, seated, workspace_at  # noqa: F401 - pytest finds the fixture by itself
from tests.waiting import PATIENCE_SECONDS

FACTS = """# Facts

- The kettle boils at 100 [from: kettle, 2026-05-01]
- お湯は100度で沸く [from: steam, 2026-05-02]
- Чайник стоит на плите
- The index retries a locked file [from: index, 2026-05-03]
"""
DECISIONS = "# Decisions\n\n- Green tea only, from the kettle [from: tea, 2026-05-04]\n"


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    write(workspace, "decisions.md", DECISIONS)
    write(
        workspace, "context.md", "---\nversion: 1\nupdated: 2026-05-01T10:00:00\n---\n\n# Tea\n\nNo kettle at night.\n"
    )
    save(workspace, "Descale the kettle in May", tag=["home"])
    return workspace


@pytest.fixture(name="stand")
def stand_fixture(desk: Desk, home: Workspace) -> Iterator[Stand]:
    from gui.views.search import SearchView

    stand = Stand(desk, home, SearchView, width=640)
    stand.ran = []  # type: ignore[attr-defined]
    stand.shell.open_path = lambda path: stand.ran.append(path)  # type: ignore[attr-defined,method-assign,assignment,return-value]
    for view in ("knowledge", "memories"):
        stand.shell.add_action(f"view.{view}", "", "x", lambda view=view: stand.ran.append(view))  # type: ignore[attr-defined,misc]
    yield stand
    stand.close()


def ask(stand: Stand, words: str) -> None:
    """Type a query into the field, and wait for the answer."""
    if not stand.look.typing():
        stand.press("slash")
    stand.type_text(words)
    settle(stand)


def test_a_search_that_takes_long_says_that_it_goes_on(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first reads what is new: for seconds the page said only what one can search for."""
    import gui.views.search

    real, begun = gui.views.search.find, threading.Event()

    def slow(*words: Any) -> Any:
        assert begun.wait(PATIENCE_SECONDS)
        return real(*words)

    monkeypatch.setattr(gui.views.search, "find", slow)
    stand.press("slash")
    stand.type_text("kettle")
    stand.desk.frames(4)
    states = stand.view._states
    shown = lambda: [name for name, state in states.items() if stand.desk.dpg.is_item_shown(state.item)]  # noqa: E731
    assert shown() == ["looking"] and not stand.view.list.rows
    for _ in "kettle":
        stand.desk.press("BackSpace")
    stand.desk.frames(4)
    assert stand.view.pending and shown() == ["begin"], "nothing is asked for any more"
    stand.type_text("zzqq")
    begun.set()
    settle(stand)
    assert shown() == ["nothing"]
    begun.clear()
    for _ in "zzqq":
        stand.desk.press("BackSpace")
    stand.type_text("kettle")
    stand.desk.frames(4)
    assert shown() == ["looking"], "nobody knows yet whether that is found"
    begun.set()
    settle(stand)
    assert stand.view.list.rows and shown() == []


def settle(stand: Stand) -> None:
    assert stand.desk.until(lambda: not stand.view.pending and not stand.shell.busy())
    stand.settle()


# --- plain -----------------------------------------------------------------------------------------------------------


def test_rows_say_why_when_and_where_from(home: Workspace) -> None:
    found = find(home, Wanted("kettle boils"))
    shown = [row_of(hit) for hit in found.hits]
    assert shown[0].text == "The kettle boils at 100" and "1 May 2026  ·  kettle" in shown[0].meta
    assert shown[0].marks == ((4, 16),) and shown[0].icon == "lightbulb"
    coded = marked_row("k", "Run `make check`, never **make** it", ("make",))
    assert coded.text == "Run make check, never make it" and coded.code == ((4, 14),), "code stays code"
    assert coded.marks == ((4, 8), (22, 26))
    assert "kettle" in shown[0].meta.split("  ·  ")[0], "why it was found comes first"
    sources = {hit.entry.kind: source_of(hit.entry) for hit in found.hits}
    assert sources["memory"] == "memory, home" and sources["context"] == "context.md, Tea"
    assert found.counts == {"bullet": 2, "memory": 1, "context": 1}
    only = find(home, Wanted("kettle", "memory"))
    assert [hit.entry.kind for hit in only.hits] == ["memory"] and only.counts["bullet"] == 2
    assert find(home, Wanted("  ")).hits == ()


def test_a_conversation_is_shown_without_the_bars_of_a_table_and_with_the_pipes_of_a_command() -> None:
    """`ls | wc` was shown as `ls wc`."""
    said = "| file | rows |\n|---|---|\n| a.py | 3 |\n\nIt ran ls | wc -l || true."
    of = dict.fromkeys(("source", "tool", "day", "project", "folder", "branch", "path"), "")
    hit = ConversationHit(name="talk", title="Rows", turns=1, turn=1, role="tool", text=said, why=("words: wc",),
                          score=1.0, rank=1.0, places=(1,), in_trash=False, **of)  # fmt: skip
    row = conversation_row(hit)
    assert row.text == "Rows\nTool, turn 1:  file rows a.py 3 It ran ls | wc -l || true."
    assert [row.text[begin:end] for begin, end in row.marks] == ["wc"]


def test_the_reason_says_nothing_twice() -> None:
    assert why_words(("exact: 429 の", "words: 429, の, retry", "title")) == "exact: 429 の, retry, title"
    assert why_words(("exact: a b", "words: a, b")) == "exact: a b" and why_words(("related",)) == "related"


def test_confirmations_are_told(home: Workspace) -> None:
    write(home, "decisions.md", DECISIONS + "- The kettle boils at 100 [from: other, 2026-05-05]\n")
    first = find(home, Wanted("kettle boils")).hits[0]
    assert row_of(first).meta.endswith("confirmed by 1 other")


def test_marks_are_where_the_words_stand() -> None:
    """A mark in the wrong place says that something matched which did not."""
    assert terms_of(("exact: session_store.py", "words: b, store", "title")) == ("session_store.py", "store", "b")
    assert terms_of(("part of the name: cli, co", "part of a word: a, b")) == ("a, b", "cli", "co")
    assert spans("Retry, retries; a retryable entry", ("retry",)) == [(0, 5), (18, 23)]
    assert spans("It retries", ("retry",)) == [(3, 10)]
    assert spans("a cat concatenates", ("cat",)) == [(2, 5)]
    assert spans("お湯は100度で沸く", ("湯", "100")) == [(1, 2), (3, 6)]
    assert spans("İİ kettle", ("kettle",)) == [(3, 9)] and spans("nothing", ("zz",)) == []
    long = "word " * 200 + "needle " + "word " * 200
    assert "needle" in excerpt(long, ("needle",)) and len(excerpt(long, ("needle",))) < 450


def test_an_embedder_that_is_down_is_said_and_words_still_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.llm.transport.FIRST_PAUSE_SECONDS", 0.01)
    settings = 'embedder = "openai"\nembedder_model = "m"\nembedder_base_url = "http://127.0.0.1:9/v1"'
    workspace = make_home(tmp_path, settings)
    write(workspace, "facts.md", FACTS)
    found = find(workspace, Wanted("boils"))
    assert [hit.entry.text for hit in found.hits] == ["The kettle boils at 100"]
    assert len(found.notes) == 1 and "Words alone were searched" in found.notes[0]


def test_a_kind_of_entry_and_who_said_it_exclude_each_other() -> None:
    """Nobody says an entry: the last one that was chosen counts."""
    note = Wanted(role="user").but("kind", "note")
    assert note == Wanted(kind="note") and note.but("role", "user") == Wanted(role="user")
    assert Wanted(kind="conversation").but("role", "tool") == Wanted(kind="conversation", role="tool")
    assert Wanted(since="7 days ago").asks and not Wanted(since="7 days ago", kind="note").asks and not Wanted().asks


# --- in the window ---------------------------------------------------------------------------------------------------


def test_results_come_while_you_type_and_esc_clears(stand: Stand) -> None:
    shown: Any = stand.desk.dpg.is_item_shown
    assert shown(stand.view._states["begin"].item)
    ask(stand, "kettle")
    assert len(stand.texts()) == 4 and not shown(stand.view._states["begin"].item)
    assert [chip.count for chip in (stand.view.all, stand.view.chips["bullet"])] == [4, 2]
    assert not shown(stand.view.chips["fact"].item)
    ask(stand, "zzqq")
    assert stand.texts() == [] and shown(stand.view._states["nothing"].item)
    stand.press("Escape")
    assert not stand.look.typing() and shown(stand.view._states["begin"].item)


def test_the_matched_words_are_shaded(stand: Stand) -> None:
    ask(stand, "boils")
    dpg = stand.desk.dpg
    shown = [box for box in stand.desk.drawn(stand.view.list.canvas.drawn) if "pmin" in box]
    begin = dpg.get_text_size("The kettle ", font=stand.look.font_id("text"))[0]
    assert len(shown) == 1 and abs(shown[0]["pmin"][0] - (36 + begin)) <= 2


def test_chips_filter_by_kind_with_mouse_and_keys(stand: Stand) -> None:
    ask(stand, "kettle")
    stand.click(stand.view.chips["memory"].item)
    assert stand.texts() == ["Descale the kettle in May"]
    stand.press("Right")
    assert stand.texts() == ["No kettle at night."]
    stand.click(stand.view.all.item)
    assert len(stand.texts()) == 4


def test_time_and_speaker_narrow_what_is_found_and_esc_takes_them_off(stand: Stand) -> None:
    dpg, view = stand.desk.dpg, stand.view
    ask(stand, "kettle")
    assert len(stand.texts()) == 4
    view._narrow("since", "Last 7 days")
    settle(stand)
    assert view.wanted == Wanted("kettle", since="7 days ago") == view.data.wanted
    assert stand.texts() == ["Descale the kettle in May"], "the others are of May"
    view._narrow("since", "Any time")
    settle(stand)
    assert len(stand.texts()) == 4
    view._narrow("role", "Said by me")
    settle(stand)
    assert view.data.wanted.role == "user" and stand.texts() == []
    assert dpg.is_item_shown(view._states["filtered"].item)
    view.unfiltered()
    settle(stand)
    assert len(stand.texts()) == 4 and dpg.get_value(view.filter) == "kettle", "the words stay"
    stand.press("Escape")
    settle(stand)
    assert view.wanted == Wanted() and dpg.get_value(view.choices["role"]) == "Said by anyone"


def test_a_click_selects_and_enter_opens_the_view_where_it_stands(stand: Stand) -> None:
    ask(stand, "kettle")
    stand.click(stand.slot("Green tea"))
    selected = stand.shell.state.selected
    assert (selected.kind, selected.key, selected.line) == ("bullet", "decisions.md", 3)
    stand.press("Return")
    assert stand.ran == ["knowledge"]  # type: ignore[attr-defined]
    stand.click(stand.slot("Descale"), times=2)
    assert stand.ran[-1] == "knowledge" and stand.shell.state.selected.key.startswith("memories/001-")  # type: ignore[attr-defined]
    stand.press("ctrl+o", "ctrl+c")
    assert stand.ran[-1].endswith(".md") and stand.desk.dpg.get_clipboard_text() == "Descale the kettle in May"  # type: ignore[attr-defined]


def test_the_keyboard_alone_finds_and_opens(stand: Stand) -> None:
    ask(stand, "boils")
    stand.press("Down", "Return")
    assert stand.ran == ["knowledge"] and stand.shell.state.selected.raw.startswith("- The kettle boils")  # type: ignore[attr-defined]


def test_the_last_query_wins_however_slow_the_first_was(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that comes late must not replace what was asked since."""
    from gui.views import search

    gate, asked, real = threading.Event(), [], search.find

    def slow(workspace: Workspace, wanted: Wanted, project: str) -> Any:
        asked.append(wanted.query)
        if wanted.query == "kettle":
            gate.wait(PATIENCE_SECONDS)
        return real(workspace, wanted, project)

    monkeypatch.setattr(search, "find", slow)
    for words in ("kettle", "kettle b", "kettle bo", "retries"):
        stand.view.typed(words)
    stand.desk.frames(3)
    assert stand.view.pending and stand.texts() == []
    gate.set()
    settle(stand)
    assert asked == ["kettle", "retries"] and stand.texts() == ["The index retries a locked file"]


def test_a_change_of_the_store_is_found_and_a_note_is_shown(stand: Stand, home: Workspace) -> None:
    ask(stand, "boils")
    write(home, "facts.md", FACTS.replace("boils at 100", "boils at 99"))
    write(home, "memories/002-bad.md", "no memory\n")
    stand.shell.put({"knowledge": object()})
    settle(stand)
    assert stand.texts() == ["The kettle boils at 99"]
    view, dpg = stand.view, stand.desk.dpg
    assert dpg.is_item_shown(view._remark) and "002-bad.md" in dpg.get_value(view.remark)


def test_a_change_of_the_store_during_a_search_is_found(
    stand: Stand, home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first search takes seconds; a line that came meanwhile stood under "Nothing found" until other words came."""
    from gui.views import search

    gate, looked, real = threading.Event(), threading.Event(), search.find

    def slow(workspace: Workspace, wanted: Wanted, project: str) -> Any:
        found = real(workspace, wanted, project)
        looked.set()
        gate.wait(PATIENCE_SECONDS)
        return found

    monkeypatch.setattr(search, "find", slow)
    stand.view.typed("samovar")
    assert looked.wait(PATIENCE_SECONDS)
    write(home, "facts.md", FACTS.replace("kettle boils", "samovar boils"))
    stand.shell.put({"knowledge": object()})
    stand.desk.frames(3)
    gate.set()
    settle(stand)
    assert stand.texts() == ["The samovar boils at 100"]


def test_searching_makes_no_item_once_the_list_is_full(stand: Stand, home: Workspace) -> None:
    lines = "".join(f"- fact {number} of many {'with words ' * (number % 7)}\n" for number in range(600))
    write(home, "facts.md", f"# Facts\n\n{lines}")
    stand.view.typed("fact")
    settle(stand)
    stand.press("Down", "End", "Home")
    before = 0
    for _ in range(2):  # what is drawn comes from pools, which are full after the first time
        before = stand.desk.items() if before else -1
        for words in ("many", "words", "fact 7", "nothing like it", "with words", "fact"):
            stand.view.typed(words)
            settle(stand)
        before = stand.desk.items() if before < 0 else before
    assert stand.texts() and stand.desk.items() == before


def test_a_result_opens_its_view(desk: Desk, at_home: Path) -> None:
    """In the whole panel: from Ctrl+K to the bullet among its kind, by keyboard alone."""
    workspace = workspace_at(at_home)
    write(workspace, "decisions.md", DECISIONS)
    with seated(desk, workspace) as seat:
        searching = seat.panel.workbench.views["search"]
        desk.press("ctrl+k")
        seat.until(seat.panel.look.typing)
        desk.type_text("green")
        seat.until(lambda: seat.state.view == "search" and not searching.pending and searching.list.rows)
        seat.settle()
        assert desk.dpg.get_value(searching.filter) == "green"
        desk.press("Down")
        desk.press("Return")
        seat.until(lambda: seat.state.view == "knowledge")
        seat.settle()
        knowledge = seat.panel.workbench.views["knowledge"]
        assert "Green tea" in knowledge.list.current.text


def test_behind_the_sign_harvest_says_that_one_is_running(desk: Desk, at_home: Path) -> None:
    """It offered to look what a harvest would do, while one ran."""
    with seated(desk, workspace_at(at_home), choices={"view": "search"}) as seat:
        view: Any = seat.panel.workbench.views["search"]

        def first() -> FlowRow:
            view.typed(">harvest")
            return view.list.rows[0]

        assert first().text == "Harvest: look first, then apply"
        seat.panel.shell.change(activity=Activity())
        row = first()
        assert row.text == "Harvest: one is running" and row.meta.startswith("Show the harvest that is running")
        assert row.key == ("action", "harvest")
        seat.panel.shell.change(activity=None)
        assert first().text == "Harvest: look first, then apply"


def test_the_window_says_what_was_searched_and_what_is_left_as_the_command_line_does(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ "Nothing found", and 30 of 233 conversations had been looked through."""
    workspace = workspace_at(at_home)
    place = ["--home", str(workspace.paths.home), "--config", str(workspace.loaded.file)]
    with seated(desk, workspace, choices={"view": "search"}) as seat:
        view: Any = seat.panel.workbench.views["search"]
        monkeypatch.setattr("core.commands.moment.find.LOOK_SECONDS", 0.0)
        said, left = list[str](), list[str]()
        for words in ("xyzzyqu", "xyzzyqu plughq"):
            view.typed(words)
            seat.until(lambda: not view.pending)
            seat.settle()
            said.append(str(desk.dpg.get_value(view.remark)))
            left.append(str(desk.dpg.get_value(view._built)) * desk.dpg.is_item_visible(view._built))
            monkeypatch.setattr("core.commands.moment.find.LOOK_SECONDS", 9.0)
        assert said[0].startswith("Searched: ") and " conversations not searched yet" in left[0] and not left[1]
        assert "left" not in said[0], "it is said once"
        conversations = re.search(r"\d+ conversations", said[1])
        assert conversations and f"{conversations[0]} were searched" in call("search", "xyzzyqu", *place)[1]


def test_a_narrow_window_says_that_a_search_is_not_complete(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left was cut off beside the button, and the line below looked like the whole answer."""
    monkeypatch.setattr("core.commands.moment.find.LOOK_SECONDS", 0.0)
    with seated(desk, workspace_at(at_home), choices={"view": "search"}, width=560) as seat:
        view: Any = seat.panel.workbench.views["search"]
        view.typed("xyzzyqu")
        seat.until(lambda: not view.pending)
        seat.settle()
        told = str(desk.dpg.get_value(view.remark))
        assert told.startswith("Searched: ") and told.replace("\n", " ").endswith(" are left")
        assert desk.dpg.get_value(view._sign) == icon("triangle-alert")


def test_a_warning_of_a_search_that_found_nothing_stands_before_what_was_searched(desk: Desk, at_home: Path) -> None:
    """It hid in "and 2 more", behind a calm sign; the other of the two said the same again."""
    with seated(desk, workspace_at(at_home), choices={"view": "search"}) as seat:
        view: Any = seat.panel.workbench.views["search"]
        view.typed("xyzzyqu")
        seat.until(lambda: not view.pending)
        seat.settle()
        notes = ("words alone were searched", "3 conversations were searched, and none says this")
        view.data = Findings(view.data.wanted, notes=notes, searched="Searched: 3 conversations")
        view._show()
        assert desk.dpg.get_value(view.remark) == "Words alone were searched  ·  Searched: 3 conversations"
        view.data = Findings(view.data.wanted, notes=notes[1:], searched="Searched: 3 conversations")
        view._show()
        assert desk.dpg.get_value(view.remark) == "Searched: 3 conversations"
