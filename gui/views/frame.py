"""What stands beside and below the views: the column at the left, the line at the bottom.

`Rail` shows the digest, every file of the store and the harvests of the last days. `StatusLine` says what happened
last, what runs now and how to stop it, and how many rows are shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import dearpygui.dearpygui as dpg

import core.knowledge.run_state as run_state
from core.base.figures import count, dollars, size, tokens
from core.commands.history.ledger import newest_harvest
from core.commands.panel.overview import Day, FileState, Overview
from gui.shell import Shell
from gui.state import Activity, State
from gui.toolkit.charts import Bars, Legend, Part, Progress, SegmentBar
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, card, lowered, space, spread, trailing_row
from gui.toolkit.letters import END, LETTERS, PATH
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, hint, say_hint, text
from gui.views.looks import OF_FILE, SECTIONS, STORE_FILES, Looks, ago, autopilot_words, capital, seconds_of, since

ROWS, LOADING = 12, "loading…"
YOURS = Looks("", "file-pen", "edited")


@dataclass(frozen=True)
class FileRow:
    """One line of the list of files: what stands there, in which colours, and what the tooltip says."""

    file: str
    icon: str
    icon_color: str
    name: str
    color: str
    amount: str
    age: str
    age_color: str
    tip: str


def file_rows(files: Sequence[FileState], now: float, digest: str = "") -> list[FileRow]:
    """The lines of the list, in the order of the store. `digest` is how that stands."""
    rows = []
    for row in files:
        _, sign, color, _ = STORE_FILES.get(row.file, YOURS)
        name = "files/" if row.file == "files" else PurePosixPath(row.file).name
        if not row.exists:
            tip = f"{row.path}\nnot there: {ABSENT.get(row.kind, 'the first harvest that needs it writes it')}"
            gone = row.kind == "digest" and digest == run_state.DELETED
            words, tone = ("deleted", "edited") if gone else ("none yet", "hint")
            if row.kind == "digest" and digest in (run_state.OFF, run_state.UNREADABLE, run_state.MISSING):
                words = "none"  # there may have been one
            rows.append(FileRow(row.file, sign, "hint", name, "hint", "", words, tone, tip))
            continue
        bullets = count(row.bullets, "bullet") if row.bullets is not None else ""
        facts = [bullets, size(row.bytes), f"changed {ago(row.modified, now)}", hand_words(row) if row.by_hand else "",
                 "your own prompt, used instead of the default" if row.kind == "prompt" else ""]  # fmt: skip
        own = "yours" if row.kind == "prompt" else "edited" if row.by_hand else ""
        words, tone = (own, "edited") if own else (since(row.modified, now), "hint")
        amount = f"{row.bullets:,}" if row.bullets is not None else size(row.bytes)
        tip = f"{row.path}\n{', '.join(filter(None, facts))}"
        rows.append(FileRow(row.file, sign, color, name, "text", amount, words, tone, tip))
    return rows


def age_letters(rows: Sequence[FileRow]) -> int:
    """How many letters an age has room for; the words of a file that is not there stand where others have a figure."""
    return max(6, *(len(one.age) + 2 for one in rows if one.amount), 0)


ABSENT = {
    "digest": "nothing is put into prompts; the switch or the next harvest writes it",
    "ledger": "the first harvest writes it",
}


def hand_words(row: FileState) -> str:
    """How a file differs from what harvests wrote."""
    parts = [f"{count(row.yours, 'line')} of your own"] if row.yours else []
    parts += [f"{count(row.gone, 'line')} of a harvest that you changed or took out"] if row.gone else []
    return " and ".join(parts)


def digest_parts(found: Overview) -> list[Part]:
    """The segments of the digest's bar: its sections, then what is heading and note; none where there is no file."""
    if not found.status.digest.exists:
        return []
    shown = sum(amount for _, amount in found.sections)
    parts = [Part(title, amount, SECTIONS[title].color, f"{amount:,} B") for title, amount in found.sections]
    rest = found.status.digest.bytes - shown
    if parts and rest > 0:
        parts.append(Part("Headings and note", rest, "handle", f"{rest:,} B"))
    return parts


DIGEST_LOOKS = {
    run_state.WRITTEN: ("eye", "harvested"),
    run_state.DIFFERENT: ("file-pen", "edited"),
    run_state.DELETED: ("eye-off", "edited"),
    run_state.MISSING: ("eye-off", "edited"),
    run_state.OFF: ("eye-off", "edited"),
    run_state.UNREADABLE: ("circle-alert", "failed"),
    run_state.EMPTY: ("circle-alert", "edited"),
    run_state.UNWRITTEN: ("circle-dashed", "hint"),
}
"""Icon and colour of each way in which the digest can stand."""


def digest_words(found: Overview) -> tuple[str, str, str]:
    """Icon, colour and sentence: whether new conversations get the digest, and why not."""
    stands, state = found.status.stands.digest, found.status.digest
    sign, color = DIGEST_LOOKS[stands.state]
    words = capital(stands.words)
    if stands.state in (run_state.DELETED, run_state.MISSING) and found.sections:
        words += f". It would hold {sum(amount for _, amount in found.sections):,} B"
    if stands.state in (run_state.WRITTEN, run_state.DIFFERENT) and not state.injected:
        return "circle-alert", "edited", f"Nothing is put into prompts: {state.why.removeprefix('not injected: ')}"
    if stands.state == run_state.WRITTEN and found.dropped:
        words += f". {count(found.dropped, 'older bullet')} did not fit; the files keep them"
    return sign, color, words


def day_words(days: Sequence[Day]) -> str:
    """The tooltip of the bars: the days on which something was harvested, the newest first."""
    lines = [
        f"{day.date:%a %d %b}: {count(day.runs, 'harvest')}, {count(day.harvested, 'conversation')}, "
        f"{count(day.added, 'bullet')} added"
        for day in reversed(days)
        if day.runs
    ]
    return "\n".join(lines) or "No harvest in the last 14 days"


NARROW_RAIL, YOUNG = 236, 4


class Rail:
    """The left column. A click on a file selects it where it belongs; a double click opens it in the editor."""

    name = "rail"

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self._seen: tuple[object, ...] = ()
        self._rows: list[FileRow] = []

    def build(self, parent: int) -> None:
        """Make the three cards inside `parent`."""
        look = self._look
        digest = card(look, parent, "Digest", LOADING)
        self._budget = digest.aside
        row = int(dpg.add_group(horizontal=True, parent=digest.item))
        self._bytes = text(look, row, "–", "number")
        self._of = text(look, lowered(look, row, 11), "", "text", "muted", fit=END)
        self._bar = SegmentBar(look, digest.item, digest.item)
        self._legend = Legend(look, digest.item, 6)
        space(look, digest.item, 0.1)
        row = int(dpg.add_group(horizontal=True, parent=digest.item))
        self._why_icon = text(look, row, "", "small", "hint")
        self._why = text(look, row, "", "small", "muted", wrap=True)

        files = card(look, parent, "Files", LOADING)
        self._files_aside = files.aside
        self._lines = [self._line(files.item, number) for number in range(ROWS)]

        days = card(look, parent, "Harvests", LOADING)
        self._asides = (digest.aside, files.aside, days.aside)
        self._bars = Bars(look, days.item, days.item)
        self._cards = (digest.item, files.item, days.item)
        self._tall, self._narrow = 0.0, False
        self._inner, self._shares = 0.0, ("", "", "")
        look.follow(digest.item, self._fit_share)
        self._filled, self._young, self._earlier = (0, 0, 0), 0, 0
        self._measured: tuple[object, ...] = ()
        look.follow(parent, self._fit)
        look.every_tick(self._fill)

    def _fit(self, width: float, height: float) -> None:
        self._tall = height
        if (width < self._look.px(NARROW_RAIL)) != self._narrow:
            self._narrow = not self._narrow
            self._seen = ()
            self.refresh(self._shell.state)

    def _fill(self) -> bool:
        """The list of files takes the height that is left, so that the harvests stand at the bottom."""
        digest, files, days = self._cards
        needed = self._last_line()
        if self._tall <= 0 or not needed:
            return False
        around = int(dpg.get_item_rect_size(digest)[1] + dpg.get_item_rect_size(days)[1])
        same = (int(self._tall), needed) == (self._filled[0], self._filled[2]) and self._measured is self._seen
        # A scroll bar makes sentences wrap, and these make it come and go: the most counts, once what is new stands.
        self._young = YOUNG if self._measured is not self._seen else max(0, self._young - 1)
        most, gaps = max(around, self._filled[1]), 2 * self._look.px(8) + 2
        again = around == self._earlier or self._tall - most - gaps < needed  # it would come and go for ever
        around = most if same and not self._young and again else around
        now, self._measured = (int(self._tall), around, needed), self._seen
        if now == self._filled:
            return self._young > 0
        self._earlier, self._filled = self._filled[1] if same else 0, now
        height = max(self._tall - around - gaps, needed)
        dpg.configure_item(files, height=int(height), auto_resize_y=False)
        return True

    def _last_line(self) -> int:
        """How tall the card of the files must be, by where its last line stands; 0 while nobody knows."""
        shown = [line for line in self._lines if dpg.is_item_shown(line[0])]
        if not shown or not dpg.get_item_state(shown[-1][3]).get("visible"):
            return self._filled[2]
        first, last = dpg.get_item_rect_min(shown[0][3])[1], dpg.get_item_rect_max(shown[-1][3])[1]
        return int(last - first) + self._look.px(50)

    def _line(self, parent: int, number: int) -> tuple[int, ...]:
        look = self._look
        holder = int(dpg.add_group(parent=parent, show=False))
        look.theme(holder, "row-lines")
        row = int(dpg.add_group(horizontal=True, parent=holder, horizontal_spacing=0.01))
        button = int(dpg.add_selectable(parent=row, callback=self._clicked, user_data=number))
        look.theme(button, "row")
        one, two, three = trailing_row(look, row, 3, 1)
        sign = text(look, one, "")
        name = text(look, one, "", fit=PATH)
        amount = text(look, two, "", "mono", "hint")
        old = text(look, three, "", "mono", "hint")
        clicks = look.own(int(dpg.add_item_handler_registry()))
        dpg.add_item_double_clicked_handler(
            dpg.mvMouseButton_Left, parent=clicks, callback=lambda: self._look.jobs.post(self._open, number)
        )
        dpg.bind_item_handler_registry(button, clicks)
        return holder, button, sign, name, amount, old, hint(look, button, "")

    def _clicked(self, sender: int, _on: bool, number: int) -> None:
        self._look.jobs.post(self._pick, sender, number)

    def _pick(self, button: int, number: int) -> None:
        dpg.set_value(button, False)
        if number >= len(self._rows):
            return
        file = self._rows[number].file
        if file in ("ledger.json", "files"):
            self._shell.show(file.removesuffix(".json"))
        else:
            if file in OF_FILE and file != "quarantine.md":
                self._shell.show("knowledge")
            self._shell.select("file", file)

    def _open(self, number: int) -> None:
        snapshot = self._shell.state.snapshot
        found = snapshot.overview.file(self._rows[number].file) if snapshot and number < len(self._rows) else None
        if found is not None and found.exists:
            self._shell.open_path(found.path)

    def refresh(self, state: State) -> None:
        """Show the snapshot; the ages grow on their own, once in half a minute."""
        if state.snapshot is None:
            self._seen = ()
            for aside in self._asides:
                dpg.set_value(aside, LOADING)
            return
        now = (state.snapshot.overview, int(time.time() // 60))
        if self._seen and now[0] is self._seen[0] and now[1] == self._seen[1]:
            return
        self._seen = now
        found = state.snapshot.overview
        self._show_digest(found)
        self._rows = file_rows(found.files, time.time(), found.status.stands.digest.state)[:ROWS]
        dpg.set_value(self._asides[2], "last 14 days")
        dpg.set_value(self._files_aside, count(sum(row.bullets or 0 for row in found.files), "bullet"))
        for number, line in enumerate(self._lines):
            self._show_file(line, self._rows[number] if number < len(self._rows) else None)
        self._bars.set([float(day.harvested or day.added) for day in found.days], day_words(found.days))

    def _show_digest(self, found: Overview) -> None:
        state = found.status.digest
        share = round(100 * state.bytes / max(state.max_bytes, 1))
        number = f"{state.bytes:,}" if state.exists else "0"
        dpg.set_value(self._bytes, number)
        full = "over the limit" if state.bytes > state.max_bytes else "full" if share >= 100 else f"{share} %"
        self._shares = number, f"of {state.max_bytes:,} B · {full}", f"B · {full}"
        self._fit_share(self._inner, 0.0)
        dpg.set_value(self._budget, f"{round(state.max_bytes / 1024, 1):g} KB budget")
        self._look.tint(self._bytes, "text" if state.injected else "hint")
        parts = digest_parts(found)
        self._bar.set(parts, state.max_bytes)
        self._legend.set(parts)
        sign, color, words = digest_words(found)
        dpg.set_value(self._why_icon, icon(sign))
        self._look.tint(self._why_icon, color)
        dpg.set_value(self._why, words)

    def _fit_share(self, width: float, _height: float) -> None:
        """What stands beside the great number: whole where it fits into the card, else in short."""
        self._inner, (number, words, short) = width, self._shares
        great, small = (LETTERS.wide(self._look.font_id(role)) for role in ("number", "text"))
        if great is not None and small is not None and width > 0:
            words = words if great(number) + small(words) + self._look.px(10) <= width else short
        dpg.set_value(self._of, words)

    def _show_file(self, line: tuple[int, ...], row: FileRow | None) -> None:
        holder, _button, sign, name, amount, old, tip = line
        dpg.configure_item(holder, show=row is not None)
        if row is None:
            return
        dpg.set_value(sign, icon(row.icon))
        self._look.tint(sign, row.icon_color)
        # A name loses its ending before it loses its middle; the tooltip has all of it.
        dpg.set_value(name, row.name.removesuffix(".md") if self._narrow else row.name)
        self._look.tint(name, row.color)
        dpg.set_value(amount, f" {row.amount}")
        dpg.set_value(old, row.age.rjust(age_letters(self._rows)))
        self._look.tint(old, row.age_color)
        say_hint(tip, row.tip)


STATUS_HEIGHT = 38


def time_left(activity: Activity, now: float) -> str:
    """How long the running job will still take, from what it took so far; "" while nobody can know."""
    if not activity.done or activity.done >= activity.total:
        return ""
    if activity.left:
        now = activity.begun + activity.left * activity.done / (activity.total - activity.done)
    seconds = (now - activity.begun) / activity.done * (activity.total - activity.done)
    if seconds < 1.5:
        return "a second left"
    if seconds < 90:
        return f"{round(seconds)} s left"
    return f"{round(seconds / 60)} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"


def activity_words(activity: Activity, now: float) -> str:
    """`Harvesting 49 of 118 · 1 failed · 2 min left · $0.02`."""
    parts = [activity.name if not activity.total else f"{activity.name} {activity.done:,} of {activity.total:,}"]
    parts += [f"{activity.failed:,} failed"] if activity.failed else []
    if activity.stopping:
        return f"{parts[0]} · stopping after this step"
    if left := time_left(activity, now):
        parts.append(left)
    if activity.tokens:
        parts.append(f"{tokens(activity.tokens)} tokens")
    if activity.price:
        parts.append(dollars(activity.price))
    return " · ".join(parts)


def resting_words(state: State, now: float) -> tuple[str, str, str]:
    """Icon, colour and sentence while nothing runs."""
    if state.problem is not None:
        return "circle-alert", "failed", state.problem.message
    if state.snapshot is None:
        return "hourglass", "hint", "Reading the store…"
    found = state.snapshot
    pending, run = found.overview.status.pending, found.overview.status.stands.run
    if run.at_work:
        return "loader", "accent", capital(run.words)
    if run.state == run_state.INTERRUPTED:
        return "triangle-alert", "edited", capital(run.words)
    if found.problems:
        return "triangle-alert", "edited", f"{count(len(found.problems), 'thing')} to look at"
    waiting = int(pending.get("conversations", 0))
    harvests = [run for run in found.overview.runs if run.kind == "harvest"]
    at, failed = newest_harvest(found.ledger)
    last = max(next((run.when for run in harvests if run.when), ""), at)
    if (itself := found.overview.status.autopilot) is not None and itself.problem is not None:
        return "triangle-alert", "edited", f"The harvest by itself could not: {itself.problem}"
    if itself is not None and itself.at >= last[:19]:
        return autopilot_words(itself, now)
    words = f"Last harvest {ago(seconds_of(last), now)}" if last else "No harvest yet"
    unread = found.overview.status.ledger.get("harvest-failed", 0) - failed
    earlier = f" · {unread:,} of earlier harvests not read" if unread > 0 else ""
    if not last and not waiting and not failed:
        return "circle-dashed", "hint", words
    if waiting:
        words += f" · {count(waiting, 'conversation')} waiting"
    if failed:
        return "triangle-alert", "edited", f"{words} · {failed:,} failed"
    if waiting:
        return "circle-dot", "accent", words
    color = "muted" if earlier else "harvested"  # what failed long ago is no alarm, and no success either
    return "circle-check", color, f"Nothing is waiting · {words[0].lower()}{words[1:]}{earlier}"


class StatusLine:
    """The bottom line of the panel. `cancel` stops the running job, `finish` ends one that was cut off. While somebody
    `reads` a conversation, it counts no rows of the view behind."""

    def __init__(self, look: Look, shell: Shell, cancel: Callable[[], object], finish: Callable[[], object]) -> None:
        self._look, self._shell, self._cancel, self._finish = look, shell, cancel, finish
        self.reads: Callable[[], bool] = lambda: False
        self._shown: tuple[object, ...] = ()

    def build(self, parent: int) -> int:
        """Make the line inside `parent`."""
        look = self._look
        bar = box(look, parent, "foot", height=STATUS_HEIGHT)
        left, right = spread(look, bar)
        # Stop stands before the text, so that it does not move under the mouse while the text changes.
        self.cancel = Button(look, left, "Stop", self._cancel, icon="circle-stop",
                             tip="Ends after the current conversation; what is done stays done")  # fmt: skip
        self.finish = Button(look, left, "Finish now", self._finish, icon="circle-check", kind="secondary",
                             tip="Write what was read, and bring ledger and digest up to date")  # fmt: skip
        self.finish.show(False)
        self._bar_holder = int(dpg.add_group(parent=left))
        self._progress = Progress(look, lowered(look, self._bar_holder, 10), width=180)
        words = lowered(look, left, 6)
        self._icon = text(look, words, icon("hourglass"), "text", "hint")
        self._words = text(look, words, "", "text", "muted", fit=END)
        self._event_holder = lowered(look, left, 7)
        self._event = text(look, self._event_holder, "", "small", "hint", fit=END)
        rows = lowered(look, right, 7)
        self._rows = text(look, rows, "", "mono", "hint")
        self.cancel.show(False)
        dpg.configure_item(self._bar_holder, show=False)
        return bar

    def refresh(self, state: State) -> None:
        """Show what runs, or what was."""
        running = state.activity
        if running is not None:
            sign, color, words = "loader", "accent", activity_words(running, time.monotonic())
            fraction = running.done / running.total if running.total else 0.0
        else:
            (sign, color, words), fraction = resting_words(state, time.time()), -1.0
        stands = state.snapshot.overview.status.stands.run if state.snapshot is not None else None
        cut_off = running is None and stands is not None and stands.state == run_state.INTERRUPTED
        if running is None and stands is not None and stands.at_work and stands.of:
            fraction = stands.through / stands.of
        shown, of = state.shown if not self.reads() else (0, 0)
        rows = "" if not of else f"{shown:,} of {of:,} rows" if shown != of else "1 row" if of == 1 else f"{of:,} rows"
        event = state.event if running is None and state.event not in words else ""
        view = (sign, color, words, fraction, rows, event, cut_off, running is not None and running.stopping)
        if view == self._shown:
            return
        self._shown = view
        dpg.set_value(self._icon, icon(sign))
        self._look.tint(self._icon, color)
        dpg.set_value(self._words, words)
        dpg.set_value(self._rows, rows)
        dpg.set_value(self._event, f"· {event}" if event else "")
        self.cancel.show(running is not None)
        self.cancel.enable(running is not None and not running.stopping)
        self.finish.show(cut_off)
        dpg.configure_item(self._bar_holder, show=running is not None or fraction >= 0)
        if fraction >= 0:
            self._progress.set(fraction)
