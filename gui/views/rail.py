"""The column at the left: the digest, every file of the store, the harvests of the last days."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import dearpygui.dearpygui as dpg

from core.base.figures import age, count, size
from core.commands.context import DigestState
from core.commands.overview import Day, FileState, Overview
from gui.shell import Shell
from gui.state import State
from gui.toolkit.charts import Bars, Legend, Part, SegmentBar
from gui.toolkit.icons import icon
from gui.toolkit.layout import card, lowered, space, trailing_row
from gui.toolkit.letters import END, PATH
from gui.toolkit.theme import Look
from gui.toolkit.widgets import hint, say_hint, text
from gui.views.looks import OF_FILE, SECTIONS, STORE_FILES, Looks

ROWS = 12
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


def file_rows(files: Sequence[FileState], now: float) -> list[FileRow]:
    """The lines of the list, in the order of the store."""
    rows = []
    for row in files:
        _, sign, color, _ = STORE_FILES.get(row.file, YOURS)
        name = "files/" if row.file == "files" else PurePosixPath(row.file).name
        if not row.exists:
            tip = f"{row.path}\nnot there: {ABSENT.get(row.kind, 'the first harvest that needs it writes it')}"
            rows.append(FileRow(row.file, sign, "hint", name, "hint", "", "absent", "hint", tip))
            continue
        old = age(row.modified, now)
        words, tone = (old, "hint")
        facts = [size(row.bytes), f"changed {old} ago"]
        if row.bullets is not None:
            facts.insert(0, count(row.bullets, "bullet"))
        if row.by_hand:
            words, tone = "edited", "edited"
            facts.append("edited by hand since the last harvest")
        if row.kind == "prompt":
            words, tone = "yours", "edited"
            facts.append("your own prompt, used instead of the shipped one")
        amount = f"{row.bullets:,}" if row.bullets is not None else size(row.bytes)
        rows.append(
            FileRow(row.file, sign, color, name, "text", amount, words, tone, f"{row.path}\n{', '.join(facts)}")
        )
    return rows


ABSENT = {
    "digest": "nothing is injected; the power button or the next harvest writes it",
    "ledger": "the first harvest writes it",
}


def digest_parts(found: Overview) -> list[Part]:
    """The segments of the digest's bar: its sections, then what is heading and note; none where there is no file."""
    if not found.status.digest.exists:
        return []
    shown = sum(amount for _, amount in found.sections)
    parts = [Part(title, amount, SECTIONS[title].color, f"{amount:,} B") for title, amount in found.sections]
    rest = found.status.digest.bytes - shown
    if parts and rest > 0:
        parts.append(Part("headings and note", rest, "handle", f"{rest:,} B"))
    return parts


def digest_words(state: DigestState, found: Overview) -> tuple[str, str, str]:
    """Icon, colour and sentence: whether new conversations get the digest, and why not."""
    if not state.enabled:
        return "eye-off", "edited", "Switched off in config.toml: not put into prompts"
    if not state.exists:
        if not found.sections:
            return "circle-dashed", "hint", "Not there yet: the first harvest writes it"
        would = sum(amount for _, amount in found.sections)
        return "eye-off", "edited", f"digest.md is deleted: nothing is put into prompts. It would hold {would:,} B"
    if not state.injected:
        why = state.why.removeprefix("not injected: ")
        return "circle-alert", "edited", f"Nothing is put into prompts: {why}"
    if found.stale:
        return "file-pen", "edited", "In every new conversation; differs from your files, the next harvest renews it"
    if found.dropped:
        return "eye", "harvested", f"In every new conversation; {count(found.dropped, 'older bullet')} did not fit"
    return "eye", "harvested", "In every new conversation"


def day_words(days: Sequence[Day]) -> str:
    """The tooltip of the bars: the days on which something was harvested, the newest first."""
    lines = [
        f"{day.date:%a %d %b}: {count(day.runs, 'harvest')}, {count(day.harvested, 'conversation')}, "
        f"{count(day.added, 'line')} added"
        for day in reversed(days)
        if day.runs
    ]
    return "\n".join(lines) or "No harvest in the last 14 days"


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
        digest = card(look, parent, "Digest", " ")
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

        files = card(look, parent, "Files", " ")
        self._files_aside = files.aside
        self._lines = [self._line(files.item, number) for number in range(ROWS)]

        days = card(look, parent, "Harvests", "last 14 days")
        self._bars = Bars(look, days.item, days.item)
        self._cards = (digest.item, files.item, days.item)
        self._tall = 0.0
        self._filled = (0, 0, 0)
        look.follow(parent, self._fit)
        look.every_tick(self._fill)

    def _fit(self, _width: float, height: float) -> None:
        self._tall = height

    def _fill(self) -> bool:
        """The list of files takes the height that is left, so that the harvests stand at the bottom."""
        digest, files, days = self._cards
        needed = self._last_line()
        if self._tall <= 0 or not needed:
            return False
        around = int(dpg.get_item_rect_size(digest)[1] + dpg.get_item_rect_size(days)[1])
        now = (int(self._tall), around, needed)
        if now == self._filled:
            return False
        self._filled = now
        height = max(self._tall - around - 2 * self._look.px(8), needed)
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
        if file == "ledger.json":
            self._shell.show("ledger")
        elif file == "files":
            self._shell.show("files")
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
            return
        now = (state.snapshot.overview, int(time.time() // 30))
        if self._seen and now[0] is self._seen[0] and now[1] == self._seen[1]:
            return
        self._seen = now
        found = state.snapshot.overview
        self._show_digest(found)
        self._rows = file_rows(found.files, time.time())[:ROWS]
        dpg.set_value(self._files_aside, count(sum(row.bullets or 0 for row in found.files), "bullet"))
        for number, line in enumerate(self._lines):
            self._show_file(line, self._rows[number] if number < len(self._rows) else None)
        self._bars.set([float(day.harvested or day.added) for day in found.days], day_words(found.days))

    def _show_digest(self, found: Overview) -> None:
        state = found.status.digest
        share = round(100 * state.bytes / max(state.max_bytes, 1))
        dpg.set_value(self._bytes, f"{state.bytes:,}" if state.exists else "0")
        dpg.set_value(self._of, f"of {state.max_bytes:,} B · {share} %")
        dpg.set_value(self._budget, f"{state.max_bytes / 1024:g} KB budget")
        self._look.tint(self._bytes, "text" if state.injected else "hint")
        parts = digest_parts(found)
        self._bar.set(parts, state.max_bytes)
        self._legend.set(parts)
        sign, color, words = digest_words(state, found)
        dpg.set_value(self._why_icon, icon(sign))
        self._look.tint(self._why_icon, color)
        dpg.set_value(self._why, words)

    def _show_file(self, line: tuple[int, ...], row: FileRow | None) -> None:
        holder, _button, sign, name, amount, old, tip = line
        dpg.configure_item(holder, show=row is not None)
        if row is None:
            return
        dpg.set_value(sign, icon(row.icon))
        self._look.tint(sign, row.icon_color)
        dpg.set_value(name, row.name)
        self._look.tint(name, row.color)
        dpg.set_value(amount, f" {row.amount}")
        dpg.set_value(old, row.age.rjust(max(6, *(len(one.age) + 2 for one in self._rows))))
        self._look.tint(old, row.age_color)
        say_hint(tip, row.tip)
