"""What wants a look: all that waits for a word of the user (`knowledge review`), decided in place, one by one.

What waits is found by comparing: ten thousand bullets in seconds, not in a moment. That is done on a worker of its own
when the bullets have changed, and only while somebody looks at them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.markdown import without_emphasis
from core.base.result import KnowledgeError
from core.commands.panel.bullets import local_day
from core.commands.review.decide import LATER, NO, YES, Decision, decide
from core.commands.review.waiting import Waiting, waiting
from core.commands.workspace import Workspace
from gui.shell import COMPARE, Reading, Shell
from gui.toolkit.drawing import Drawing
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, gap, lowered, spread
from gui.toolkit.letters import shortened
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import Button, text
from gui.views.list_view import the_same
from gui.views.looks import capital, joined, short_name

NAMED = {"held": "held", "outdated": "outdated?", "finished": "done?", "alike": "said twice?", "vanished": "gone?",
         "kept-away": "removed", "stale": "expired?"}  # fmt: skip
"""What waits, in words that need no page of the documentation."""
ASKS = {"outdated": "Is it out of date? ", "alike": "Do they say the same? ", "stale": "Is it no longer so? "}
"""The question before why it waits, where the answers alone do not ask it."""
CLOSED, OPEN, BOX, MARKS, NARROW = 48, 262, 112, 20, 820
DONE, LATE = "edited", "hint"


def answered(workspace: Workspace, rows: Sequence[Waiting], answer: str) -> Decision:
    """Carry one answer out, on a worker; the first decision. Raises KnowledgeError where nothing was done."""
    decided = decide(workspace, rows, answer)
    if not decided.rows:
        raise KnowledgeError.of(decided.errors[0])
    first = decided.rows[0]
    return replace(first, warning=first.warning or (str(decided.errors[0]) if decided.errors else ""))


def ordered(rows: Sequence[Waiting]) -> list[Waiting]:
    """What was held first, then what needs a decision, then the rest; each kind as it comes."""
    place = {kind: at for at, kind in enumerate(NAMED)}
    return sorted(rows, key=lambda row: place.get(row.kind, len(place)))


def sides(row: Waiting) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two texts that are compared, each with the small line below it: what is said, and what stands against it; of
    a held item its quote, of lines that vanished all of them."""
    words = row.text.replace("**", "")  # code keeps its signs: it is decided about letter by letter
    meta = joined(local_day(row.day) if row.day else "", short_name(row.source) if row.source else "", row.project)
    if row.lines:
        return (words, meta), ("\n".join(line.removeprefix("- ").replace("**", "") for line in row.lines), "")
    if row.other:
        return (words, joined("Older", meta)), (row.other.replace("**", ""), "Newer")
    return (words, meta), (f"“{row.quote}”" if row.quote else "", "what was quoted" if row.quote else "")


class LookCard:
    """A line that says how much waits; opened, one thing after the other with its answers."""

    keys = (
        ("Wants a look: Y, N, L", "Yes, no, later"),
        ("Wants a look: Ctrl+Enter, Shift+Delete", "Yes, or no, for all of this kind"),
        ("Wants a look: R", "Read the conversation"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.waiting: list[Waiting] = []
        self.at = 0
        self.is_open = False
        self._marks: dict[str, str] = {}  # what was answered since it was opened, by its key
        self._answers = 0
        self._pending = self._narrow = False
        self._room = 0
        self._of: tuple[object, ...] = ()

    def build(self, parent: int, view: int) -> None:
        """Make it inside `parent`, as wide as `view`; hidden while nothing waits."""
        look = self._look
        self.item = box(look, parent, "wants", height=CLOSED, show=False)
        left, right = spread(look, self.item)
        words = lowered(look, left, 5)
        text(look, words, icon("eye"), "text", "edited")
        self._name = text(look, words, "Wants a look", "strong")
        gap(look, left, 3)
        self.kinds = {kind: Button(look, left, "", partial(self.begin, kind), kind="words") for kind in NAMED}
        self._place = text(look, lowered(look, right, 6), "", "small", "muted")
        self.begin_button = Button(look, right, "One by one", self.begin, icon="arrow-right", shortcut="W")
        self.close_button = Button(look, right, "", self.close, icon="x", kind="ghost", tip="Close", shortcut="Esc")
        self._body = int(dpg.add_group(parent=self.item, show=False))
        self._squares = Drawing(look, self._body, 8, self._draw)
        self._title = text(look, self._body, "", "strong", wrap=True)
        row = int(dpg.add_group(horizontal=True, parent=self._body))
        self._boxes = [box(look, row, "well", height=BOX, scroll=True) for _ in range(2)]
        self._texts = [(text(look, one, "", wrap=True), text(look, one, "", "small", "hint", wrap=True))
                       for one in self._boxes]  # fmt: skip
        left, right = spread(look, self._body)
        self.answers = {
            YES: Button(look, left, "Yes", partial(self.answer, YES), icon="check", shortcut="Y"),
            NO: Button(look, left, "No", partial(self.answer, NO), icon="x", shortcut="N"),
            LATER: Button(look, left, "Later", partial(self.answer, LATER), icon="clock", kind="ghost", shortcut="L",
                          tip="Ask again in a week"),
        }  # fmt: skip
        self.read = Button(look, right, "Read", self._read, icon="book-open", kind="ghost", shortcut="R",
                           tip="Read the conversation that it comes from")  # fmt: skip
        self.undo = Button(look, right, "Undo the last", self._shell.take_back, icon="undo-2", kind="ghost",
                           shortcut="Ctrl+Z")  # fmt: skip
        look.follow(view, self._fit)

    def _fit(self, width: float, _height: float) -> None:
        self._room = int(width) - self._look.px(24 + 2)
        self._narrow = width < self._look.px(NARROW)
        dpg.configure_item(self._name, show=not self._narrow)
        for button in (self.begin_button, self.undo):
            button.words(not self._narrow)
        self._show()

    # --- what waits ---

    def ask(self, *of: object) -> None:
        """Look for what waits, when the bullets or the ledger are others than the last time, or the user was away."""
        if self._pending or of[-1] is None or the_same(of, self._of):
            return
        self._pending, self._of = True, of
        workspace, answers = self._shell.workspace, self._answers

        def ended(take: Callable[[], object]) -> None:
            self._pending = False
            if self._shell.workspace.paths == workspace.paths:
                if answers == self._answers:  # else it was found before something was answered
                    take()
            else:
                self._of, self.waiting = (), []
                self._show()
            self._shell.change()  # the bullets may have changed meanwhile: the view asks again

        self._shell.submit(
            "What wants a look",
            lambda _job: waiting(workspace),
            lambda rows: ended(lambda: self._take(rows)),
            failed=lambda error: ended(lambda: self._shell.error(error)),
            lane=COMPARE,
        )

    def _take(self, rows: Sequence[Waiting]) -> None:
        """Others wait; what is looked at stays, where it is still there."""
        key, found = self.waiting[self.at].key if self.at < len(self.waiting) else "", ordered(rows)
        if found == self.waiting:
            return
        self.waiting = found
        stays = self.at if self.at < len(found) else 0
        self.at = next((at for at, row in enumerate(found) if row.key == key), stays)
        self._show()

    @property
    def row(self) -> Waiting | None:
        """What is asked about now."""
        return self.waiting[self.at] if self.is_open and self.at < len(self.waiting) else None

    # --- one after the other ---

    def begin(self, kind: str = "") -> None:
        """Open it at the first, or at the first of a kind."""
        if not self.waiting:
            return
        if not self.is_open:
            self._marks, self.at = {}, 0
            self._shell.select()  # evidence would lie over the second text and the answers
        self.is_open = True
        self.at = next((at for at, row in enumerate(self.waiting) if row.kind == kind), 0) if kind else self.at
        self._show()

    def close(self) -> None:
        """The line alone again."""
        self.is_open = False
        self._shell.change()  # what made room for it comes back
        self._show()

    def answer(self, which: str, every: bool = False) -> None:
        """Carry out an answer to what is asked; with `every` for all of its kind, after a question."""
        row = self.row
        if row is None or self._shell.defers(partial(self.answer, which, every)):
            return
        rows = [one for one in self.waiting if one.kind == row.kind] if every else [row]
        does = row.yes if which == YES else row.no
        if every:
            words = "\n".join(shortened(without_emphasis(one.text)) for one in rows[:8])
            words += f"\nand {len(rows) - 8:,} more" if len(rows) > 8 else ""
            title = f"{capital(does)}: all {len(rows):,} that are {NAMED[row.kind].rstrip('?')}?"
            self._shell.ask(title, words, capital(which), partial(self._carry_out, rows, which, does),
                            kind="primary" if which == YES else "danger")  # fmt: skip
        else:
            self._carry_out(rows, which, f"Answered: {does}" if which != LATER else "Asked again in a week")

    def _carry_out(self, rows: Sequence[Waiting], which: str, does: str) -> None:
        keys = {row.key for row in rows}

        def done(_value: Any) -> None:
            self._marks |= dict.fromkeys(keys, LATE if which == LATER else DONE)
            self._answers += 1
            self.at -= sum(row.key in keys for row in self.waiting[: self.at])
            self.waiting = [row for row in self.waiting if row.key not in keys]
            if self.at >= len(self.waiting):
                self.at = 0
            if not self.waiting:
                self.is_open = False
                self._shell.toast("Nothing wants a look any more", action="Undo", on_action=self._shell.take_back)
            self._of = ()
            self._show()

        self._shell.write("The answer", lambda workspace: answered(workspace, rows, which), done=done,
                          said=capital(does))  # fmt: skip

    def press(self, key: str) -> bool:
        """W opens it; while it is open, its answers."""
        if not self.is_open:
            if key == "W" and self.waiting:
                self.begin()
                return True
            return False
        acts: dict[str, Callable[[], object]] = {
            **{name: partial(self.answer, which) for name, which in (("Y", YES), ("N", NO), ("L", LATER))},
            "Ctrl+Enter": partial(self.answer, YES, True), "Shift+Delete": partial(self.answer, NO, True),
            "Esc": self.close, "W": self.close, "R": self._read,
        }  # fmt: skip
        if key in acts:
            acts[key]()
        return key in acts

    def _read(self) -> None:
        if self.row is not None and self.row.source:
            self._shell.on_read(Reading(name=self.row.source))

    # --- what is shown ---

    def _answered(self) -> list[str]:
        """The marks of what was answered since it was opened; what was taken back waits again."""
        waiting = {row.key for row in self.waiting}
        return [mark for key, mark in self._marks.items() if key not in waiting]

    def _show(self) -> None:
        kinds = Counter(row.kind for row in self.waiting)
        dpg.configure_item(self.item, show=bool(self.waiting))
        self._look.size(self.item, height=OPEN if self.is_open else CLOSED)
        dpg.configure_item(self._body, show=self.is_open)
        row = self.row
        for kind, button in self.kinds.items():
            button.show(kinds[kind] > 0)
            button.set_label(f"{kinds[kind]:,} {NAMED[kind]}")
            button.set_kind("words-lit" if row is not None and row.kind == kind else "words")
        self.begin_button.show(not self.is_open)
        self.close_button.show(self.is_open)
        done = len(self._answered())
        place = f"{done + self.at + 1:,} of {done + len(self.waiting):,}"
        dpg.set_value(self._place, place if row is not None else "")
        if row is None:
            return
        does = f". Yes: {row.yes}; no: {row.no}" if self._narrow else ""  # the buttons have no room for it
        dpg.set_value(self._title, lettered(f"{ASKS.get(row.kind, '')}{capital(row.why)}{does}"))
        for (words, meta), (item, small), well in zip(sides(row), self._texts, self._boxes, strict=True):
            dpg.set_value(item, lettered(words))
            dpg.set_value(small, lettered(meta))
            dpg.set_y_scroll(well, 0)
        two = bool(sides(row)[1][0])
        for one in self._boxes:
            dpg.configure_item(one, width=max((self._room - self._look.px(8)) // 2 if two else self._room, 40))
        dpg.configure_item(self._boxes[1], show=two)
        self.answers[YES].set_label("Yes" if self._narrow else f"Yes: {row.yes}")
        self.answers[NO].set_label("No" if self._narrow else f"No: {row.no}")
        self.read.show(bool(row.source))
        self._squares.redraw()

    def _draw(self, drawing: Drawing) -> None:
        px = self._look.px
        before = [*self._answered(), *["handle"] * self.at][-MARKS:]
        colors = [*before, "text", *["handle"] * (len(self.waiting) - self.at - 1)][: 2 * MARKS]
        for at, color in enumerate(colors):
            drawing.below.box(at * px(8), 0, at * px(8) + px(6), px(6), color, px(1))
