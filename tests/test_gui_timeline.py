"""The timeline: a day that shines says what happened on it, and every figure is that of the files beside it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.base.markdown import sanitise_name
from core.base.result import Ok, attempt
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.history.ledger import LedgerRow, ledger
from core.commands.panel import titles as titles_module
from core.commands.panel.overview import overview
from core.commands.panel.timeline import FAILED, LOST, TOO_LARGE, TRASHED, Line, costs, lines_now, timeline
from core.commands.panel.titles import titles
from core.commands.workspace import utc_now
from core.knowledge.edit import add_bullet
from gui.views.timeline.rows import (
    Wish,
    bars,
    by_day,
    first_day,
    fitting,
    groups_of,
    known,
    level,
    span,
    spending,
    squarified,
    talk_rows,
    wanted,
    with_own,
    year_words,
    zoomed,
)
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, seated, workspace_at  # noqa: F401
from tests.panel_gallery_year import year_home


def test_all_figures_are_those_of_the_files(at_home: Path) -> None:
    """Conversations by the ledger, lines by the files as they are now: struck and deleted ones are gone here, too."""
    workspace = workspace_at(at_home)
    assert isinstance(attempt(harvest, workspace, HarvestRequest(apply=True)), Ok)
    rows = ledger(workspace)
    found = timeline(rows, titles(workspace, rows), lines_now(workspace), workspace.paths.trash)
    files = overview(workspace).files
    whole = sum(row.bullets or 0 for row in files if row.file != "quarantine.md")
    assert len(found.talks) == 6 and sum(talk.kept for talk in found.talks) == whole > 5
    assert all(talk.called.title for talk in found.talks)
    facts = workspace.paths.knowledge / "decisions.md"
    lines = facts.read_text("utf-8").split("\n")
    facts.write_text("\n".join([*(line for line in lines if not line.startswith("- ")), "- Mine"]), "utf-8")
    after = timeline(rows, titles(workspace, rows), lines_now(workspace), workspace.paths.trash)
    assert not any(talk.lines.get("decisions") for talk in after.talks) and after.own == {"decisions": 1}


def test_what_went_unread_is_told_from_what_waits(tmp_path: Path) -> None:
    """A conversation that failed had "nothing new", and one that lay in the trash was lost."""
    workspace = workspace_at(tmp_path)
    there = tmp_path / "talk"
    there.write_text("hello\n", "utf-8")
    workspace.paths.trash.mkdir(parents=True)
    (workspace.paths.trash / "d").write_text("hello\n", "utf-8")
    base: dict[str, Any] = {"at": "2026-05-01T12:00:00+00:00", "deleted": False}
    rows = [
        LedgerRow("a", {**base, "status": "too-large", "path": str(there)}),
        LedgerRow("b", {**base, "status": "harvest-failed", "path": str(tmp_path / "gone")}),
        LedgerRow("c", {**base, "status": "deleted-unharvested", "path": "/x", "trash": {"c": "/x"}}),
        LedgerRow("d", {**base, "status": "deleted-unharvested", "path": "/y", "trash": {"d": "/y"}}),
        LedgerRow("e", {**base, "status": "harvest-failed", "path": str(there)}),
        LedgerRow("f", {**base, "status": "harvested", "path": str(there)}),
        LedgerRow("path:/leftover", {**base, "status": "pruned", "path": "/leftover"}),
    ]
    found = timeline(rows, titles(workspace, rows), (), workspace.paths.trash)
    fates = {talk.key: talk.fate for talk in found.talks}
    assert fates == {"a": TOO_LARGE, "b": LOST, "c": LOST, "d": TRASHED, "e": FAILED, "f": "harvested"}
    told = {str(row.key[0]): row.meta for row in talk_rows(found.talks)}
    for key, words in zip("abcdef", ("too large, not read", "lost unread", "lost unread", "in the trash, unread",
                                     "failed, not read", "nothing new"), strict=True):  # fmt: skip
        assert words in told[key], key
    assert sum(day.lost for day in by_day(found.talks).values()) == 2


def test_every_harvest_is_counted_and_its_price_not_made_up() -> None:
    """A program that is asked tells no tokens: its harvests were none, and cost nothing."""
    rows = [LedgerRow(str(at), {"run": f"run-{at}", "provider": "command", "model": "", "status": "harvested"})
            for at in range(3)]  # fmt: skip
    found = spending(costs(rows), 7, ["run-0", "run-9"])
    assert (found.runs, found.dollars, found.models) == (4, None, (("command", "price unknown"),))


def test_a_year_is_filtered_zoomed_and_summed(at_home: Path) -> None:
    workspace = year_home(at_home)
    rows = ledger(workspace)
    found = timeline(rows, titles(workspace, rows), lines_now(workspace), workspace.paths.trash)
    today = date.today()
    everything = by_day(found.talks)
    assert sum(day.talks for day in everything.values()) == len(found.talks) == len(rows)
    one = wanted(found.talks, Wish(tool="Codex", project="shop", category="facts"))
    assert (
        one and {talk.called.project_name for talk in one} == {"shop"} and all(set(t.lines) == {"facts"} for t in one)
    )
    wish = Wish()
    first, last = span(wish, today)
    assert (last - first).days == 90 and last == today
    shown = bars(everything, first, last)
    assert sum(bar.sum.kept for bar in shown) == sum(talk.kept for talk in found.talks if talk.day >= first)
    near = zoomed(wish, today, 0.5, 3)
    begin, end = span(near, today)
    assert (end - begin).days < 45 and first < begin < end < last, "the day under the mouse stays where it is"
    far = zoomed(wish, today, 1.0, -20)
    assert span(far, today) == (first_day(today), today) and len(bars(everything, *span(far, today))) <= 54
    names = [name for name, _ in groups_of([bar.sum for bar in shown])]
    assert names[0] == "Claude Code" and names[-1] == "lost"
    tiles = known(found.talks, found.own, wish)
    assert sum(sum(lines.values()) for _, lines in tiles) == sum(talk.kept for talk in found.talks)
    cost = spending(costs(rows), sum(talk.kept for talk in found.talks))
    assert cost.dollars and cost.a_line and cost.sent == sum(row.entry["input_tokens"] for row in rows)
    assert level(0, 9) == 0 and level(1, 100) == 1 and level(100, 100) == 4
    assert talk_rows(found.talks[-3:])[0].meta


def test_tiles_fill_their_room_and_nothing_else() -> None:
    for values in ([6.0, 6, 4, 3, 2, 2, 1], [1.0], [100.0, 1, 1, 1], [5.0, 0.0], [0.0], []):
        found = squarified(values, (10.0, 20.0, 300.0, 200.0))
        area = sum(w * h for _, _, w, h in found)
        assert len(found) == len(values) and (not sum(values) or abs(area - 60_000) < 1)
        assert all(x >= 9.99 and y >= 19.99 and x + w <= 310.01 and y + h <= 220.01 for x, y, w, h in found)


def test_a_click_on_a_day_a_bar_and_a_tile(desk: Desk, at_home: Path) -> None:
    """The first view with real clicks: the list is of the day, a tile filters all of it, Esc shows everything again."""
    with seated(desk, year_home(at_home), choices={}) as seat:
        view: Any = seat.panel.workbench.views["timeline"]
        seat.until(lambda: view.talks)
        assert seat.state.view == "timeline"
        seat.settle()
        left, top, pitch = view._cell(view.year)
        x, y = desk.dpg.get_item_rect_min(view.year.item)
        begin, whole = first_day(date.today()), len(view.talks)
        wanted_day = next(day for day in sorted(view.days) if day > begin + timedelta(days=200))
        at = (wanted_day - begin).days
        px, py = desk.dpg.get_viewport_pos()
        place = int(px + x + left + (at // 7 + 0.4) * pitch), int(py + y + top + (at % 7 + 0.4) * pitch)
        items = desk.items()
        desk.click_at(*place)
        seat.settle()
        assert view.day == (wanted_day, wanted_day)
        assert len(view.list.rows) == view.days[wanted_day].talks
        desk.press("Right")
        assert view.day == (wanted_day + timedelta(days=1),) * 2
        tile = next(tile for tile in view._tiles.tiles if tile.category)
        x, y = desk.dpg.get_item_rect_min(view.map.item)
        desk.click_at(int(px + x + tile.place[0] + 4), int(py + y + tile.place[1] + 4))
        seat.settle()
        assert (view.wish.project, view.wish.category) == (tile.project, tile.category)
        assert 0 < len(view.talks) < whole
        desk.press("Escape")
        seat.settle()
        assert len(view.talks) == whole and view.day is None
        view.list.press("Down")
        seat.settle()
        assert seat.state.selected.kind == "conversation" and seat.panel.columns.shows("inspector")
        assert desk.items() - items < 900, "only the pools of a fuller picture may grow"


def test_lines_written_by_hand_stand_on_their_day(desk: Desk, at_home: Path) -> None:
    """The head of the calendar, the day and the strip count the same lines, also where no conversation is."""
    workspace = workspace_at(at_home, demo=False)
    for words in ("The kettle boils", "The cup is blue", "The tea is green"):
        add_bullet(workspace.paths, "facts", words, utc_now())
    with seated(desk, workspace, choices={}) as seat:
        view: Any = seat.panel.workbench.views["timeline"]
        seat.until(lambda: view.time.own)
        seat.settle()
        assert view.time.own == {"facts": 3} and view.shown_day()[0] in view.days
        assert desk.dpg.get_value(view._sums).endswith("3 bullets kept")
        assert sum(bar.sum.lines["facts"] for bar in view._bars) == 3
    day = date(2026, 5, 1)
    lines = [Line("", day, "facts"), Line("", day + timedelta(days=1), "decisions"), Line("", None, "facts")]
    found = timeline((), titles(workspace, ()), lines, workspace.paths.trash)
    days = with_own(found.talks, found.own_days, Wish(), day)
    assert found.own == {"facts": 2, "decisions": 1}
    assert {at: dict(sums.lines) for at, sums in days.items()} == {day: {"facts": 1, "decisions": 1}}, "UTC is ahead"
    assert not with_own((), found.own_days, Wish(tool="Codex"), day)
    assert with_own((), found.own_days, Wish(category="facts"), day)[day].kept == 1


def test_the_titles_of_a_huge_ledger_come_to_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More old conversations than titles are remembered of: each look began again, and the store was read for ever."""
    monkeypatch.setattr(titles_module, "KEPT", 5)
    monkeypatch.setattr(titles_module, "FIRST_SECONDS", 9.0)
    workspace = workspace_at(tmp_path, demo=False)
    rows = [LedgerRow(f"{at:064x}", {"path": f"/gone/talk-{at}", "status": "harvested"}) for at in range(12)]
    found = titles(workspace, rows)
    assert found.rest is None and not found.by_key and titles(workspace, rows, found) is found


def test_titles_that_were_read_outlast_another_ledger_and_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a harvest runs the ledger is another one every few seconds: titles came and went, and never were all read.
    Whoever switches redaction on meanwhile means what is read from then on, too."""
    looks = itertools.count()
    monkeypatch.setattr(titles_module, "time", SimpleNamespace(monotonic=lambda: float(next(looks))))
    monkeypatch.setattr(titles_module, "FIRST_SECONDS", 4.5)
    monkeypatch.setattr(titles_module, "SECONDS", 4.5)
    workspace = workspace_at(tmp_path, demo=False)
    key = "-".join(("sk", "ant", "api03", "Ab3dEf6hIj9kLmN0pQrStUvWxYz12345678"))
    rows = []
    for at in range(20):
        talk = tmp_path / f"talk-{at}.md"
        talk.write_text(f"## User\n{at} is {key}\n\n## Assistant\nyes\n", encoding="utf-8")
        rows.append(LedgerRow(f"{at:064x}", {"path": str(talk), "status": "harvested"}))
    plain = replace(workspace, loaded=replace(workspace.loaded, config=replace(workspace.config, redact=False)))
    found = titles(plain, rows)
    assert 0 < len(found.by_key) < 10 and all(key in one.title for one in found.by_key.values())
    after = titles(workspace, rows, found)
    assert found.by_key.keys() < after.by_key.keys()
    assert not any(key in after.by_key[one].title for one in after.by_key.keys() - found.by_key.keys())
    other = titles(workspace, [*rows], after)
    assert after.by_key.keys() < other.by_key.keys()


@pytest.mark.parametrize("name", ["talk-1.md", "_x", "設計", "a b", "-dash", "[from: x]", "<script>", "x" * 300, ""])
def test_a_name_is_found_as_a_provenance_writes_it(tmp_path: Path, name: str) -> None:
    by_name = titles(workspace_at(tmp_path, demo=False), [LedgerRow("a", {"name": name, "title": "T"})]).by_name
    assert by_name[sanitise_name(name)].title == "T" == by_name[name].title


def test_the_year_says_what_fits_and_cuts_no_word() -> None:
    """What is cut in the middle of a word tells nobody what was lost."""
    first = date(2026, 1, 1)
    whole = year_words([], {"facts": 3}, first, Wish())
    assert whole == "0 conversations  ·  3 bullets kept"
    assert year_words([], {"facts": 3}, first, Wish(), lambda line: len(line) < 20) == "0 conversations"


def test_a_legend_never_loses_what_has_no_room() -> None:
    """In a narrow window the colours of a strip would have no names, and their sums would not add up."""
    parts = [("facts", "Facts", 243), ("decisions", "Decisions", 104), ("questions", "Questions", 32)]
    wide = {room: fitting(parts, room, len, 3) for room in (60, 40, 25, 3)}
    assert wide[60] == parts
    assert wide[40] == [("facts", "Facts", 243), ("decisions", "Decisions", 104), ("more", "more", 32)]
    assert wide[25] == [("facts", "Facts", 243), ("more", "more", 136)]
    assert wide[3] == []
    assert all(sum(amount for _, _, amount in row) == 379 for room, row in wide.items() if room > 3)
