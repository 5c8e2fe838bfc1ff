"""The reader: if these fail, a user reads something else than what was said, or waits for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.commands.bullets import add
from core.commands.conversations import BuildReport
from core.commands.history.runs import runs
from core.commands.history.undo import undo
from core.commands.panel.conversations import conversation_key
from core.commands.transcript import read_entry
from core.commands.workspace import Workspace
from core.conversations.events import Command, Reminder
from core.conversations.readable import HarvestedItem, ReadableConversation, ReadableTurn
from gui.toolkit.typeset import colours_of, lines_of_code, lines_of_words, visible
from gui.views.reader_rows import (
    CALL,
    CODE,
    HEAD,
    OUTPUT,
    WORDS,
    Script,
    blocks,
    code_language,
    places_of,
    script_of,
    with_tables,
)  # fmt: skip
from gui.views.reader_sheet import geometry
from gui.views.search_rows import Wanted, find
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import Clock, Model, converse, harvested, make_home
from tests.panel_desk import Seat, at_home_fixture, seated  # noqa: F401 - a fixture

ANSWER = "The clock is **frozen** by `freeze_time`:\n\n```python\ndef now():\n    return 1\n```\n\nTwo clocks, then."
TURNS = (
    ReadableTurn(1, "system", "<reminder>be kind</reminder>", events=(Reminder(text="be kind"),)),
    ReadableTurn(2, "user", "Why is it flaky?\n\n- on CI\n- お湯は100度 🔥", "2026-05-01T10:00:00"),
    ReadableTurn(3, "assistant", "Let me look.\n\n```bash\npytest -q\n```", "2026-05-01T10:01:00",
                 events=(Command(tool="Bash", words="pytest -q", answered=True, failed=True, status=1, result=700,
                                 output="1 failed"),), start=500),
    ReadableTurn(4, "tool", "line one\n1 failed: \x1b[31mtest_clock\x1b[0m", start=700),
    ReadableTurn(5, "assistant", ANSWER, "2026-05-01T10:02:00", start=900),
    ReadableTurn(6, "user", "Then one clock everywhere.", "2026-05-01T10:03:00", start=1200),
)  # fmt: skip
ITEMS = (
    HarvestedItem("facts", "freeze_time freezes one clock", "facts.md", 3, "frozen by freeze_time", 5),
    HarvestedItem("decisions", "One clock everywhere", "decisions.md", 0, "one clock … everywhere", 6),
    HarvestedItem("tasks", "Somewhere", "tasks.md", 9),
)
TALK = ReadableConversation("chat", "Why the test is flaky", "Claude Code", "home", "/nowhere/chat", folder="/src/shop",
                            branch="main", started="2026-05-01T10:00:00", ended="2026-05-01T10:03:00", count=6,
                            turns=TURNS, items=ITEMS, resume="claude --resume abcd")  # fmt: skip


def by_letter(words: str, role: str) -> float:
    return len(words) * (8.0 if role == "mono" else 10.0)


# --- plain -----------------------------------------------------------------------------------------------------------


def test_turns_become_pieces_with_calls_folded_and_answers_in_their_call() -> None:
    script = script_of(TALK)
    shown = [(piece.turn, piece.kind, piece.label or piece.text.split("\n")[0]) for piece in script.pieces]
    assert shown == [
        (1, CALL, "Reminder"), (1, OUTPUT, "<reminder>be kind</reminder>"),
        (2, HEAD, "You"), (2, WORDS, "Why is it flaky?"),
        (3, HEAD, "Claude Code"), (3, WORDS, "Let me look."), (3, CALL, "Bash"), (4, OUTPUT, "line one"),
        (5, WORDS, "The clock is frozen by freeze_time:"), (5, CODE, "python"), (5, WORDS, "Two clocks, then."),
        (6, HEAD, "You"), (6, WORDS, "Then one clock everywhere."),
    ]  # fmt: skip
    call, answer = script.pieces[6], script.pieces[7]
    assert (call.text, call.state, call.aside, call.fold) == ("pytest -q", "failed", "exit 1", answer.fold)
    assert "\x1b" not in answer.text and "test_clock" in answer.text
    assert (script.calls, script.failed) == (1, 1), "a reminder is no call"
    words = script.pieces[8]
    assert [words.text[begin:end] for begin, end, _ in words.styles] == ["frozen", "freeze_time"]


def test_items_stand_at_their_quotes_and_words_are_found_also_where_they_are_folded() -> None:
    script = script_of(TALK)
    first, second = script.marks
    assert script.pieces[first.piece].text[first.begin : first.end] == "frozen by freeze_time"
    assert script.pieces[second.piece].turn == 6 and [item.text for item in script.elsewhere] == ["Somewhere"]
    assert [mark.category for mark in script.marks] == ["facts", "decisions"]
    found = places_of(script, "CLOCK")
    assert [script.pieces[place.piece].turn for place in found] == [4, 5, 5, 6]
    assert places_of(script, "  ") == () and places_of(script, "zz(") == ()


def test_untrusted_text_cannot_turn_the_reading_round_or_grow_without_end() -> None:
    assert visible("a\u202eb\x07c\x1b[2Jd\ue211e\u200df\u00a0g") == "a\ufffdb\ufffdcd\ufffdef g"
    long = ReadableTurn(1, "user", "x" * 300_000 + "\n" + "漢" * 9_000)
    pieces = script_of(ReadableConversation("n", "", "", "home", "", count=1, turns=(long,))).pieces
    assert max(len(piece.text) for piece in pieces) <= 1200
    assert "".join(piece.text for piece in pieces[1:]) == long.text.replace("\n", "")
    lines = lines_of_words("x" * 1200, (), 100, by_letter)
    assert len(lines) == 120 and all(run.end - run.begin == 10 for (run,) in lines)
    assert all(sum(run.end - run.begin for run in line) <= 12 for line in lines_of_code("y" * 900, 100, by_letter))


def test_words_wrap_as_a_person_writes_and_nothing_is_lost() -> None:
    text = "one two `three` four\n- a list goes on\n漢字仮名交じり文、です"
    lines = lines_of_words(text, ((8, 15, "code"),), 120, by_letter)
    rows = ["".join(text[run.begin : run.end] for run in line) for line in lines]
    assert rows == ["one two ", "`three` four", "- a list ", "goes on", "漢字仮名交じり文、です"]
    assert lines[3][0].x == 20, "a list goes on below its words"
    assert "".join(rows) == text.replace("\n", "")


def test_only_a_language_that_is_named_has_colours() -> None:
    code = "def f():\n    return 'x'  # why\n"
    named = {code[begin:end]: colour for begin, end, colour in colours_of(code, "python")}
    assert named["def"] == "code-word" and named["# why"] == "code-note" and "code-text" in named.values()
    assert colours_of(code, "src/app.py") == colours_of(code, "python")
    assert colours_of(code, "") == colours_of(code, "no such language") == ()
    kinds = [(kind, info) for kind, _, info in blocks("a\n~~~py\nb\n~~~\n```\nopen to the end")]
    assert kinds == [(WORDS, ""), (CODE, "py"), (CODE, "")]
    assert [*with_tables("So:\n| a | `bb` |\n|---|:-:|\n| 漢字 | c |\nand")] == [
        (WORDS, "So:\n"), (CODE, "a    │ bb\n─────┼───\n漢字 │ c"), (WORDS, "\nand")]  # fmt: skip
    assert code_language("src/app.py:12") == ("src/app.py", "src/app.py:12")
    assert code_language("", "--- a\n+++ b") == ("diff", "diff")


def test_a_narrow_window_keeps_the_words_and_shows_items_as_icons() -> None:
    wide, middle, thin = (geometry(width, round) for width in (1300, 880, 420))
    assert wide.width >= 760 and wide.notes >= 300
    great = geometry(1880, round)
    assert 760 < great.width <= 840 and great.notes > 400, "the room of a great window is used"
    assert middle.notes >= 210 and middle.width > 350 and middle.notes_at + middle.notes <= 880
    assert thin.notes == 0 and thin.width > 300 and thin.notes_at + 24 <= 420


# --- in the window ---------------------------------------------------------------------------------------------------


@pytest.fixture(name="seat")
def seat_fixture(desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Seat]:
    import gui.views.reader

    home = make_home(at_home)
    converse(home, "kettle", "The kettle needs descaling every month")
    quoted = [{"statement": "Descale monthly", "quote": "needs descaling every month"}]
    harvested(home, Model(facts=quoted), Clock())
    real = gui.views.reader.read_script

    def read(workspace: Workspace, wanted: Any) -> Any:
        return (TALK, script_of(TALK)) if wanted.name == "made" else real(workspace, wanted)

    monkeypatch.setattr(gui.views.reader, "read_script", read)
    with seated(desk, home) as seat:
        yield seat


def open_made(seat: Seat, **wanted: Any) -> Any:
    seat.panel.shell.read(name="made", **wanted)
    reader = seat.panel.reading
    seat.until(lambda: reader.talk is not None and not seat.panel.shell.busy())
    seat.desk.frames(4)
    return reader


def test_a_call_unfolds_where_it_is_clicked_and_escape_leads_back(seat: Seat) -> None:
    reader, desk = open_made(seat), seat.desk
    assert not desk.dpg.is_item_shown(seat.panel._middle)
    fold = next(piece.fold for piece in reader.script.pieces if piece.label == "Bash")
    spot = next(one for one in reader.sheet.spots if getattr(one.act, "args", ()) == (fold,))
    left, top = desk.dpg.get_item_rect_min(reader.canvas.drawn)
    before = reader.sheet.heights.total
    desk.click_at(int(left + (spot.x0 + spot.x1) / 2), int(top + (spot.y0 + spot.y1) / 2))
    seat.settle()
    assert reader.sheet.open_folds == {fold} and reader.sheet.heights.total > before
    desk.press("f")
    assert reader.sheet.open_folds == set()
    desk.press("Escape")
    seat.settle()
    assert not reader.is_open and desk.dpg.is_item_shown(seat.panel._middle)
    open_made(seat)
    desk.press("f")
    desk.press("Escape")
    assert open_made(seat)._unfold.label.endswith(" Unfold"), "another conversation begins folded"


def test_finding_unfolds_what_hides_the_words_and_n_goes_to_the_items(seat: Seat) -> None:
    reader, desk = open_made(seat), seat.desk
    desk.press("slash")
    desk.type_text("1 failed")
    seat.settle()
    assert len(reader.sheet.places) == 1 and reader.sheet.open_folds, "a call's answer is unfolded for what is in it"
    assert reader._unfold.label.endswith(" Fold"), "F does now what the button says"
    desk.press("Escape")
    seat.settle()
    assert reader.is_open and reader.sheet.places == ()
    desk.press("n")
    assert reader.sheet.mark == 0
    desk.press("n")
    assert reader.sheet.mark == 1
    desk.press("shift+n")
    assert reader.sheet.mark == 0


def test_a_bullet_opens_its_conversation_at_its_turn(seat: Seat) -> None:
    shell, panel = seat.panel.shell, seat.panel
    shell.run("view.knowledge")
    seat.settle()
    view: Any = panel.workbench.views["knowledge"]
    row = next(row for row in view.list.rows if row.text == "Descale monthly")
    view.list.select(row.key)
    view.select(row)
    seat.settle()
    panel.inspector.act("read")
    seat.until(lambda: panel.reading.talk is not None and not shell.busy())
    marks = panel.reading.script.marks
    assert panel.reading.sheet.mark >= 0 and marks[panel.reading.sheet.mark].item.text == "Descale monthly"
    seat.desk.press("g")
    seat.settle()
    assert not panel.reading.is_open and shell.state.view == "knowledge"
    assert shell.state.selected.kind == "bullet" and "Descale monthly" in shell.state.selected.raw


def test_a_conversation_that_is_gone_says_so(seat: Seat) -> None:
    home = seat.workspace
    key = conversation_key(home, f"kettle-{'0f8fad5b-d9cb-469f-a165-70867728950e'}")
    assert read_entry(home, key).in_trash
    reader = open_made(seat)
    seat.settle()
    assert seat.desk.drawn(reader.map.item)
    for left in home.paths.trash.iterdir():
        left.unlink()
    seat.panel.shell.read(key=key)
    seat.until(lambda: "cannot be shown" in str(seat.desk.dpg.get_value(reader._title)))
    assert "not there any more" in str(seat.desk.dpg.get_value(reader._says))
    seat.settle()
    assert not seat.desk.drawn(reader.map.item), "the strip was that of the conversation before"


def test_thousands_of_turns_make_no_more_items_than_ten(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrolling must cost what is in sight: nothing but the heights may grow with the conversation."""
    import gui.views.reader

    words = [json.dumps({"text": ANSWER * 3}), ANSWER, "short", "x " * 900]
    turns = tuple(
        ReadableTurn(number, "user" if number % 2 else "assistant", words[number % 4]) for number in range(1, 3_001)
    )
    talk = ReadableConversation("n", "Long", "Tool", "home", "/n", count=3_000, turns=turns)
    script = script_of(talk)
    monkeypatch.setattr(gui.views.reader, "read_script", lambda *_: (talk, script))
    reader, desk = open_made(seat), seat.desk
    for share in (0.1, 0.9, 0.5):
        reader.go_share(share)
        desk.frames(4)
    seat.settle()
    items, pictures = desk.items(), reader.canvas.pictures
    for share in (0.3, 0.7, 0.2):
        reader.go_share(share)
        desk.frames(4)
    seat.settle()
    assert desk.items() - items < 60, "the pool is as large as what is in sight"
    painted = reader.canvas.pictures
    assert painted - pictures < 20
    for _ in range(3):
        reader.scroll_by(20)
        desk.frames(2)
    assert reader.canvas.pictures - painted == 3, "what asks for a place is painted once"
    desk.frames(10)
    assert reader.canvas.pictures - painted == 3, "at rest nothing is painted"
    assert isinstance(reader.script, Script) and len(reader.sheet._laid) <= 700


def test_a_search_finds_conversations_and_enter_reads_the_best_turn(
    seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gui.views import search

    shell, panel = seat.panel.shell, seat.panel
    shell.run("view.search")
    seat.settle()
    view: Any = panel.workbench.views["search"]
    asked: list[str] = []

    def waiting(workspace: Workspace, wanted: Wanted, project: str) -> Any:
        found = find(workspace, wanted, project)
        return replace(found, waits="" if asked else "1 conversation not searched yet") if wanted.asks else found

    def read_all(*_: Any, progress: Any, cancelled: Any) -> Any:
        asked.append("read")
        return BuildReport(1, 0, 1, 2, 3, 0, 0)

    monkeypatch.setattr(search, "find", waiting)
    monkeypatch.setattr(search, "build", read_all)
    view.typed("needs descaling")
    seat.until(lambda: not view.pending and view.list.rows)
    row = next(row for row in view.list.rows if row.icon == "messages-square")
    assert "The kettle needs descaling" in row.text and ", turn " in row.text and row.marks
    assert seat.desk.dpg.is_item_shown(view._waits), "there is more to read, and a button for it"
    seat.desk.click(view.build_all.item)
    seat.until(lambda: asked and not view.pending and not shell.busy())
    seat.settle()
    assert not seat.desk.dpg.is_item_shown(view._waits)
    view.open(row)
    seat.until(lambda: panel.reading.talk is not None and not shell.busy())
    assert panel.reading.sheet.places
    assert panel.reading.script.pieces[panel.reading.sheet.places[0].piece].turn in (1, 2)
    seat.desk.press("ctrl+3")
    seat.settle()
    assert not panel.reading.is_open, "a view that is asked for takes the place of what was read"


def test_enter_in_the_ledger_reads_the_conversation(seat: Seat) -> None:
    shell = seat.panel.shell
    shell.run("view.conversations")
    seat.settle()
    seat.desk.press("Down")
    seat.desk.press("Return")
    seat.until(lambda: seat.panel.reading.talk is not None and not shell.busy())
    seat.desk.frames(3)
    assert "descaling" in seat.panel.reading.talk.turns[0].text
    seat.desk.press("Escape")
    seat.settle()
    assert not seat.panel.reading.is_open


def test_what_was_taken_back_elsewhere_leaves_the_margin(seat: Seat) -> None:
    """It went on telling of bullets that had left the files, and of none after a harvest; also after F5."""
    reader, desk = seat.panel.reading, seat.desk
    run = runs(seat.workspace)[0].run
    seat.panel.shell.read(key=seat.state.snapshot.ledger[0].key)
    seat.until(lambda: reader.talk is not None)
    assert desk.dpg.get_value(reader._marks).startswith("1 fact")
    undo(seat.workspace, run)
    seat.until(lambda: desk.dpg.get_value(reader._marks) == "nothing was harvested here")


def test_what_is_read_again_stays_in_its_place(seat: Seat) -> None:
    """A bullet that comes while somebody reads must not throw them back to the beginning."""
    seat.desk.resize(height=420)
    reader = open_made(seat, words="clock")
    reader.scroll_by(90)
    seat.settle()
    before = (reader.canvas.scroll, set(reader.sheet.open_folds), reader.sheet.places, reader.script)
    assert before[0] > 0 and before[1] and before[2]
    add(seat.workspace, "facts", "The lamp burns")
    seat.until(lambda: reader.script is not before[3])
    seat.settle()
    assert (reader.canvas.scroll, reader.sheet.open_folds, reader.sheet.places) == before[:3]
    seat.desk.resize()
