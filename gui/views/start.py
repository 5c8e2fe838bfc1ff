"""What the next conversation in a project starts with, and how the files of the store and its ledger stand: the left
column of Knowledge.

First the lines, as plain data; then the column; then what stands for it while there is one column alone: what the next
conversation starts with, folded into a card above the list, and below the list what of the files and the ledger is not
zero.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from pathlib import PurePath

import dearpygui.dearpygui as dpg

import core.knowledge.run_state as run_state
from core.base.figures import count, size
from core.base.project import is_below
from core.base.result import ErrorInfo
from core.commands.context import begin_context
from core.commands.panel.overview import FileState, Overview
from core.commands.panel.start import Start, StartLine, start_of
from gui.shell import Shell
from gui.state import Selection, Snapshot, State
from gui.toolkit.drawing import SegmentBar
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, lowered, space, spread
from gui.toolkit.letters import shortened
from gui.toolkit.rows import Line, Rows
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import Button, choices, hint, say, say_hint, text
from gui.views.digest_switch import DigestSwitch
from gui.views.looks import (
    CATEGORIES,
    NO_PROJECT,
    OF_FILE,
    STATUSES,
    Looks,
    ago,
    capital,
    category_of,
    ledger_unread,
)

SHOWN = 8
"""The lines of the digest that are shown."""
SHORT = 1
"""Those in a low window."""
WORDS = 220
"""The letters of context.md that are shown."""
FEW_WORDS = 80
"""Those in a low window."""
LOW = 640
"""The height below which a window is low, in unscaled pixels."""
WIDE_BAR = 4
"""The height of the bar of statuses, in unscaled pixels."""
RECENT = Looks("Recent conversations", "message-square", "muted")
EDITED = "edited: some lines are your own"
COUNTED = ("harvested", "deleted-unharvested", "harvest-failed", "too-large")
"""Statuses that are always named; others while there are any."""


def hand_words(row: FileState) -> str:
    """How a file differs from what harvests wrote."""
    parts = [f"{count(row.yours, 'line')} of your own"] if row.yours else []
    parts += [f"{count(row.gone, 'line')} of a harvest that you changed or took out"] if row.gone else []
    return " and ".join(parts)


def file_lines(found: Overview, damaged: frozenset[str], memories: int) -> list[Line]:
    """Every file of the store with its state: how many bullets, `edited`, `damaged`, `none`; those that are there."""
    lines = []
    for row in found.files:
        name = "files/" if row.file == "files" else row.file
        facts = [count(row.bullets, "bullet") if row.bullets is not None else "", size(row.bytes),
                 f"changed {ago(row.modified)}", hand_words(row) if row.by_hand else "",
                 "your own prompt, used instead of the default" if row.kind == "prompt" else ""]  # fmt: skip
        state, tone = state_of(row, row.path in damaged, found.status.stands.digest.state)
        tip = ", ".join(filter(None, facts)) if row.exists else f"not there: {ABSENT.get(row.kind, WRITES)}"
        lines.append(Line(name, tone="text" if row.exists else "hint", aside=state, aside_tone=tone,
                          key=("file", row.file), tip=tip))  # fmt: skip
    there = f"{memories:,}" if memories else "none"
    return [*lines, Line("memories/", tone="text" if memories else "hint", aside=there, key=("file", "memories"))]


ABSENT = {
    "digest": "nothing is put into prompts; the switch or the next harvest writes it",
    "ledger": "the first harvest writes it",
}
WRITES = "the first harvest that needs it writes it"


def state_of(row: FileState, damaged: bool, digest: str) -> tuple[str, str]:
    """How a file stands in a word or a figure, and the colour of that."""
    if damaged:
        return "damaged", "failed"
    if not row.exists:
        return ("deleted", "edited") if row.kind == "digest" and digest == run_state.DELETED else ("none", "hint")
    if row.by_hand or row.kind == "prompt":
        return ("yours" if row.kind == "prompt" else "edited"), "accent"
    return f"{row.bullets:,}" if row.bullets is not None else size(row.bytes), "hint"


def ledger_lines(counts: Mapping[str, int] | None) -> list[Line]:
    """What became of the conversations: the statuses that the user's card names, and others while there are any; None
    where nobody knows."""
    if counts is None:
        return [Line(STATUSES[name].name, aside="?", key=("status", name), aside_tone="failed") for name in COUNTED]
    named = [*COUNTED, *(name for name in STATUSES if name not in COUNTED and counts.get(name))]
    return [
        Line(STATUSES[name].name, aside=f"{counts.get(name, 0):,}", key=("status", name),
             aside_tone=STATUSES[name].color if counts.get(name) else "hint")
        for name in named
    ]  # fmt: skip


def known_counts(snapshot: Snapshot) -> Mapping[str, int] | None:
    """How many conversations of each status; None where the ledger cannot be read."""
    return None if ledger_unread(snapshot.problems) else snapshot.overview.status.ledger


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


def digest_words(found: Overview, start: Start | None = None) -> tuple[str, str, str]:
    """Icon, colour and sentence: whether new conversations (those of a `start`) get the digest, and why not."""
    stands, state = found.status.stands.digest, start or found.status.digest
    sign, color = DIGEST_LOOKS[stands.state]
    words = capital(stands.words)
    if stands.state in (run_state.DELETED, run_state.MISSING) and found.would:
        words += f". It would hold {found.would:,} B"
    if stands.state in (run_state.WRITTEN, run_state.DIFFERENT) and not state.injected:
        why = state.why.removeprefix("WARNING: ")
        where = why.removeprefix("not injected")
        return "circle-alert", "edited", f"Nothing is put into prompts{where if where != why else f': {why}'}"
    return sign, color, words


def named_projects(folders: Iterable[str], around: str) -> dict[str, str]:
    """What can be chosen, by name (or path, where that is taken): the project around the panel's own folder as ""."""
    known = list(dict.fromkeys(folders))
    here = max((folder for folder in known if is_below(around, folder)), key=len, default="")
    named = {PurePath(here).name or NO_PROJECT: ""}
    for folder in known:
        if folder != here:
            name = PurePath(folder).name
            named[name if name not in named else folder] = folder
    return named


def drawn_names(names: Iterable[str]) -> dict[str, str]:
    """Names as a list can show them, each another one, and what they stand for: not all letters can be drawn."""
    found: dict[str, str] = {}
    for name in names:
        words = lettered(name)
        found[words if words not in found else f"{words} ({len(found)})"] = name
    return found


class StartColumn:
    """The left column of Knowledge. `pick` is the project whose start is shown; it is remembered."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.start = Start(shell.choice("project"))
        self._seen: tuple[object, ...] = ()
        self.projects = {NO_PROJECT: ""}
        self._ticket = 0
        self._most = SHOWN
        self.digest = DigestSwitch(look, shell)

    def build(self, parent: int) -> None:
        """Make the card of the next conversation, and the two lists below it."""
        look = self._look
        self._card = box(look, parent, "card", height=0)
        text(look, self._card, "Your next conversation in", "strong")
        row = int(dpg.add_group(horizontal=True, parent=self._card))
        self.project = choices(look, row, [NO_PROJECT], self.chosen, 140)
        text(look, row, "starts with", "strong")
        self._words = text(look, self._card, "", "small", "text", wrap=True)
        self.write = Button(look, self._card, "", self.write_context, icon="pencil", kind="link",
                            tip="Your own words, before the digest. Open them in the editor",
                            shortcut="Ctrl+Shift+O")  # fmt: skip
        left, right = spread(look, self._card)
        self.digest.build(left)
        self._bytes = text(look, right, "", "strong")
        self._of = text(look, right, "", "small", "hint")
        self._bar = SegmentBar(look, self._card, height=WIDE_BAR)
        self.lines = Rows(look, self._card, self.picked)
        self._total = text(look, self._card, "", "small", "hint")
        self._why = text(look, self._card, "", "small", "muted", wrap=True)
        self._why_tip = hint(look, self._why, "")
        space(look, parent, 2)
        row = int(dpg.add_group(horizontal=True, parent=parent))
        text(look, row, "Files", "strong", "muted")
        self._edited = text(look, row, EDITED, "small", "hint")
        self.files = Rows(look, parent, self.picked, columns=2)
        space(look, parent, 2)
        text(look, parent, "Ledger", "strong", "muted")
        self.ledger = Rows(look, parent, self.picked, columns=2)

    def refresh(self, state: State) -> None:
        """Show the snapshot; read the start again when the store or the project is another one, or the user was away:
        the words of a project lie in its folder."""
        self.digest.refresh(state)
        snapshot = state.snapshot
        if snapshot is None:
            if state.first_counts is not None:
                self.ledger.set(ledger_lines(state.first_counts))
            return
        book = state.of("knowledge")
        memories = len(book.memories.saved) if book is not None else 0
        seen = (snapshot, state.returns, memories, self._look.scale, self._look.place()[3])
        self._most = SHORT if self._look.place()[3] < self._look.px(LOW) else SHOWN
        if seen != self._seen:
            again = not self._seen or self._seen[0] is not snapshot or self._seen[1] != state.returns
            self._seen = seen
            damaged = frozenset(one.path for one in snapshot.problems if one.path)
            lines = file_lines(snapshot.overview, damaged, memories)
            self.files.set(lines)
            dpg.configure_item(self._edited, show=any(line.aside == "edited" for line in lines))
            self.ledger.set(ledger_lines(known_counts(snapshot)))
            if again:
                self._read()
            else:
                self._show()

    # --- the start of a conversation ---

    def _read(self) -> None:
        """Read it again, on a worker; only the last answer counts."""
        snapshot, workspace, project = self._shell.state.snapshot, self._shell.workspace, self.start.project
        if snapshot is None:
            return
        self._ticket += 1
        ticket, number = self._ticket, snapshot.ledger.by_project
        own, around = [project] if project else [], str(workspace.cwd)

        def work(_job: object) -> tuple[Start, dict[str, str]]:
            most = sorted(number, key=lambda folder: number[folder], reverse=True)
            # No conversation begins in a folder that is not on this computer.
            there = [folder for folder in most if os.path.isdir(folder)]
            return start_of(workspace, project), named_projects([*there, *own], around)

        def done(found: tuple[Start, dict[str, str]]) -> None:
            self.start, self.projects = found
            if snapshot.overview.status.stands.digest.state == run_state.UNREADABLE:
                self.start = replace(self.start, injected=False)
            self.list_in(self.project)
            self._show()

        def failed(error: ErrorInfo) -> None:
            done((Start(project, problem=str(error)), named_projects(own, around)))

        self._shell.submit("What a conversation starts with", work, done, failed=failed,
                           wanted=lambda: ticket == self._ticket)  # fmt: skip

    def choose(self, folder: str) -> None:
        """Show what a conversation in another project starts with."""
        self._shell.choices["project"] = folder
        self.start = Start(folder)
        self._read()

    @property
    def project_name(self) -> str:
        """The project whose start is shown, as it is chosen."""
        named = {folder: name for name, folder in self.projects.items()}
        return named.get(self.start.project, named[""])

    @property
    def own(self) -> str:
        """What the folder of that project is called, "" for none."""
        name = PurePath(self.start.project).name or self.project_name
        return name if name != NO_PROJECT else ""

    def list_in(self, field: int) -> None:
        """Put the projects into a field with a list, and there the one that is shown."""
        drawn = drawn_names(self.projects)
        dpg.configure_item(field, items=list(drawn))
        dpg.set_value(field, next((words for words, name in drawn.items() if name == self.project_name), ""))

    def chosen(self, words: str) -> None:
        """A project was chosen by its name, as it is drawn."""
        self.choose(self.projects.get(drawn_names(self.projects).get(words, ""), ""))

    def _show(self) -> None:
        start, snapshot = self.start, self._shell.state.snapshot
        if snapshot is None:
            return
        self._shell.change()
        say(self._words, lettered(shortened(start.words, WORDS if self._most == SHOWN else FEW_WORDS)))
        own = f"context.md: {start.words_bytes:,} bytes"
        self.write.set_label(own if start.file else "Write a few words of your own")
        on = start.injected
        known = not start.problem and start.most > 0
        dpg.set_value(self._bytes, (f"{start.bytes:,}" if on else "0") if known else "")
        dpg.set_value(self._of, f"of {start.most:,} bytes" if known else "")
        self._look.tint(self._bytes, "text" if on else "hint")
        parts = [(amount, CATEGORIES.get(name, RECENT).color) for name, amount in start.sections]
        self._bar.set(parts if on else (), start.most or 1)
        shown = [digest_line(line, "muted" if on else "hint") for line in start.lines[: self._most]]
        more = len(start.lines) - len(shown)
        left_out = "the rest did not fit" if start.cut and on else ""
        if more > 0 or left_out:
            shown.append(Line(f"{count(more, 'more line')}" if more > 0 else "", tone="accent", aside=left_out,
                              key=("file", "digest.md")))  # fmt: skip
        self.lines.set(shown)
        together = known and on and start.words_bytes > 0
        say(self._total, f"{start.words_bytes + start.bytes:,} bytes with context.md" if together else "")
        sign, color, sentence = digest_words(snapshot.overview, start if start.most else None)
        why = capital(start.problem) or ("" if on and color == "harvested" else f"{icon(sign)}  {sentence}")
        say(self._why, why)
        self._look.tint(self._why, "failed" if start.problem else color)
        say_hint(self._why_tip, start.why if why else "")  # that of a hidden text would be the lines' above it

    def write_context(self) -> None:
        """Open the context file in the editor; begin it where there is none."""
        shell, file = self._shell, self.start.file
        if file:
            shell.open_path(file)
        else:
            shell.write("context.md", begin_context,
                        done=lambda path: shell.open_path(str(path)))  # fmt: skip

    # --- what a click does ---

    def picked(self, key: tuple[str, str]) -> None:
        """A line was clicked: go where it leads."""
        (kind, name), shell = key, self._shell
        if kind == "talk":
            shell.select("talk", name)
        elif kind == "line":
            shell.put({"wanted": Selection("words", name)})
        elif kind == "status":
            shell.run(f"show.{name}")
        elif name in ("ledger.json", "files"):
            shell.run("view.conversations" if name == "ledger.json" else "view.files")
        elif name == "memories" or (name in OF_FILE and name != "quarantine.md"):
            shell.put({"wanted": Selection("category", name if name == "memories" else category_of(name))})
        else:
            shell.select("file", name)


CARD, FOOT, LETTER = 92, 40, 9  # unscaled pixels: the heights, and a letter of the foot


def foot_lines(state: State) -> list[Line]:
    """How many files are edited or damaged, and the statuses of the ledger: what is not zero."""
    found, first = state.snapshot, state.first_counts
    counts = known_counts(found) if found is not None else first or {}
    lines: list[Line] = []
    if found is not None:
        files = file_lines(found.overview, frozenset(one.path for one in found.problems if one.path), 0)
        for word in ("edited", "damaged"):
            odd = [line for line in files if line.aside == word]
            lines += [Line(word, aside=f"{len(odd):,}", key=odd[0].key)] if odd else []
    return lines + [line for line in ledger_lines(counts)[: len(COUNTED)] if line.aside != "0"]


def foot_words(lines: Sequence[Line], letters: float) -> list[str]:
    """What the foot says: figures with their words, or with the signs of the statuses where there is no room for so
    many letters."""
    said = [f"{line.aside} {line.words.lower()}" for line in lines]
    if sum(map(len, said)) + 3 * len(said) <= letters:
        return said
    signs = (STATUSES[name].icon if kind == "status" else "file-pen" for kind, name in (line.key for line in lines))
    return [f"{icon(sign)} {line.aside}" for sign, line in zip(signs, lines, strict=True)]


def digest_line(line: StartLine, tone: str) -> Line:
    """A line of the digest, which leads to its bullet or to its conversation."""
    looks = CATEGORIES.get(line.category, RECENT)
    key = ("talk", line.name) if line.name else ("line", line.words)
    return Line(line.words, key, looks.icon, looks.color, tone)


def start_words(start: Start) -> str:
    """How much a conversation starts with."""
    if start.problem or not start.most:
        return start.problem
    if not start.injected:
        return "starts with your words only" if start.words else "starts with nothing"
    return f"{start.bytes:,} of {start.most:,} bytes in {count(len(start.lines), 'line')}"


class Brief:
    """Card and foot; `side` is the column that they stand for while there is no room for it."""

    def __init__(self, look: Look, shell: Shell, side: StartColumn) -> None:
        self._look, self._side = look, side
        self.digest = DigestSwitch(look, shell)
        self.shown = False
        self._keys: list[tuple[str, str]] = []
        self._seen: object = None

    def build_card(self, parent: int) -> None:
        """Make the card."""
        look = self._look
        self.card = box(look, parent, "gutter", height=CARD, show=False)
        inside = box(look, self.card, "card", height=CARD)
        row = int(dpg.add_group(horizontal=True, parent=inside))
        text(look, lowered(look, row, 6), "Your next conversation in", "strong")
        self.project = choices(look, row, [], self._side.chosen, 140)
        left, right = spread(look, inside)
        self.digest.build(left)
        self._words = text(look, right, "", "small", "muted")
        self._bar = SegmentBar(look, inside, height=4)

    def build_foot(self, parent: int) -> None:
        """Make the foot."""
        look = self._look
        self.foot = box(look, parent, "foot", height=FOOT, show=False)
        row = int(dpg.add_group(horizontal=True, parent=self.foot))
        self.links = [Button(look, row, "", partial(self._follow, at), kind="words-pale")
                      for at in range(len(COUNTED) + 2)]  # fmt: skip

    def _follow(self, at: int) -> None:
        self._side.picked(self._keys[at])

    def show(self, on: bool) -> bool:
        """Show both, or neither; true when that is another state."""
        if on == self.shown:
            return False
        self.shown = on
        for item in (self.card, self.foot):
            dpg.configure_item(item, show=on)
        return True

    def refresh(self, state: State) -> None:
        """Show how it stands, while they are shown."""
        if not self.shown:
            return
        self.digest.refresh(state)
        start, names = self._side.start, self._side.projects
        lines = foot_lines(state)
        seen = (start, names, lines, self._look.place()[2], self._look.scale)
        if seen == self._seen:
            return
        self._seen = seen
        self._side.list_in(self.project)
        dpg.set_value(self._words, start_words(start))
        parts = [(amount, CATEGORIES.get(name, RECENT).color) for name, amount in start.sections]
        self._bar.set(parts if start.injected else (), start.most or 1)
        self._keys = [line.key for line in lines]
        words = foot_words(lines, self._look.place()[2] / self._look.px(LETTER))
        for link, label in zip_longest(self.links, words):
            link.show(label is not None)
            if label is not None:
                link.set_label(label)
