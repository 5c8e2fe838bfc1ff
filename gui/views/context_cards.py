"""The cards of the context files: how much of its budget each takes, what is wrong with it, and a way into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import dearpygui.dearpygui as dpg

from core.commands.context import GLOBAL, PROJECT, ContextFile
from gui.toolkit.charts import Part, SegmentBar
from gui.toolkit.icons import icon as icon_of
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, hint, say_hint, text
from gui.views.looks import short_folder

SENTENCES = 3
NARROW = 440  # a card narrower than this has the amount below its title
SCOPES = ((GLOBAL, "house", "Ctrl+O"), (PROJECT, "folder", "Ctrl+Shift+O"))


@dataclass(frozen=True)
class ContextCard:
    """A context file in words: its heading, how much of its budget it takes (`amount`, in `color`, `bytes` of
    `budget`), what to know about it, and sentences about what is wrong."""

    title: str
    path: str
    exists: bool
    amount: str
    color: str
    bytes: int
    budget: int
    about: str
    problems: tuple[str, ...] = ()


def project_of(file: ContextFile) -> str:
    """The folder of the project that a context file belongs to."""
    return str(Path(file.path).parents[2])


def context_card(file: ContextFile) -> ContextCard:
    """One file as a card."""
    everywhere = file.scope == GLOBAL
    title = "In every conversation" if everywhere else f"In the project {short_folder(project_of(file))}"
    over = file.bytes - file.budget
    amount = f"{file.bytes:,} of {file.budget:,} bytes"
    if over > 0:
        amount += f", {over:,} too many"
    if not file.exists:
        about = "No context.md yet: a few lines about " + ("you and how you work" if everywhere else "this project")
        return ContextCard(title, str(file.path), False, "", "hint", 0, file.budget, about)
    path = str(file.path)
    problems = tuple(problem.replace(f"{path}:", "Line ", 1).replace(path, "It", 1) for problem in file.problems)
    if over > 0:
        problems += ("It is longer than its budget: shorten it, or move what is seldom needed into memories",)
    about = ""
    if not file.bytes and not file.problems:
        about = "Empty so far: write what a new conversation should know"
    color = "edited" if over > 0 else "accent"
    return ContextCard(title, path, True, amount, color, file.bytes, file.budget, about, problems)


@dataclass
class _Card:
    item: int
    icon: int
    title: int
    path: int
    amount: int
    button: Button
    bar: SegmentBar
    amount_below: int
    about: int
    problems: list[tuple[int, int]]
    shown: ContextCard | None = None


class ContextCards:
    """Both cards, made once. `on_act(scope)` hears that a file should be opened, or begun where there is none."""

    def __init__(self, look: Look, on_act: Callable[[str], object]) -> None:
        self._look, self._on_act = look, on_act
        self._cards: dict[str, _Card] = {}

    def build(self, parent: int) -> None:
        """Make the cards, and the line that says why there is only one."""
        for scope, icon, key in SCOPES:
            self._cards[scope] = self._card(parent, scope, icon, key)
        look = self._look
        row = self._none = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        text(look, row, icon_of("folder"), "small", "hint")
        text(look, row, "A project adds its own: start the panel in a folder that has .manual_slop/knowledge", "small",
             "hint", wrap=True)  # fmt: skip
        row = self._heavy = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        text(look, row, icon_of("triangle-alert"), "text", "edited")
        self._heavy_words = text(look, row, "", wrap=True)

    def _card(self, parent: int, scope: str, icon: str, key: str) -> _Card:
        look = self._look
        item = box(look, parent, "card", height=0)
        left, right = spread(look, item)
        words = lowered(look, left, 6)
        sign = text(look, words, icon_of(icon), "text", "accent")
        title = text(look, words, "", "strong", fit=END)
        path = hint(look, title, "")
        amount = text(look, lowered(look, right, 8), "", "small", "muted")
        below = text(look, item, "", "small", "muted", fit=END)
        dpg.configure_item(below, show=False)
        button = Button(look, right, "Open", lambda: self._on_act(scope), icon="external-link",
                        tip="Open this context.md in the editor, or write one", shortcut=key)  # fmt: skip
        bar = SegmentBar(look, item, item, height=8, most=1)
        about = text(look, item, "", "small", "hint", wrap=True)
        problems = []
        for _ in range(SENTENCES):
            row = int(dpg.add_group(horizontal=True, parent=item, show=False))
            text(look, row, icon_of("triangle-alert"), "small", "edited")
            problems.append((row, text(look, row, "", "small", "text", wrap=True)))

        def fit(width: float, _height: float) -> None:
            narrow = width < look.px(NARROW)
            dpg.configure_item(amount, show=not narrow)
            dpg.configure_item(below, show=narrow)

        look.follow(item, fit)
        return _Card(item, sign, title, path, amount, button, bar, below, about, problems)

    def button(self, scope: str) -> int:
        """The item of a card's button."""
        return self._cards[scope].button.item

    def card(self, scope: str) -> ContextCard | None:
        """What a card shows."""
        return self._cards[scope].shown

    def show(self, found: Sequence[ContextFile], heavy: str) -> None:
        """Show the files as they are."""
        files = {file.scope: file for file in found}
        for scope, parts in self._cards.items():
            file = files.get(scope)
            dpg.configure_item(parts.item, show=file is not None)
            parts.shown = context_card(file) if file is not None else None
            if parts.shown is not None:
                self._fill(parts, parts.shown)
        dpg.configure_item(self._none, show=bool(files) and PROJECT not in files)
        dpg.configure_item(self._heavy, show=bool(heavy))
        dpg.set_value(self._heavy_words, heavy)

    def _fill(self, parts: _Card, card: ContextCard) -> None:
        look = self._look
        dpg.set_value(parts.title, card.title)
        say_hint(parts.path, card.path)
        look.tint(parts.icon, card.color)
        for item in (parts.amount, parts.amount_below):
            dpg.set_value(item, card.amount)
            look.tint(item, "edited" if card.color == "edited" else "muted")
        parts.button.set_label("Open" if card.exists else "Write one", "external-link" if card.exists else "plus")
        share = Part("", card.bytes, card.color)
        parts.bar.set([share] if card.bytes else [], max(card.budget, card.bytes), _mark(card))
        dpg.configure_item(parts.bar.item, show=card.exists)
        dpg.configure_item(parts.about, show=bool(card.about))
        dpg.set_value(parts.about, card.about)
        for number, (row, words) in enumerate(parts.problems):
            said = card.problems[number] if number < len(card.problems) else ""
            dpg.configure_item(row, show=bool(said))
            dpg.set_value(words, said)


def _mark(card: ContextCard) -> float:
    """Where the budget ends, on the bar of a file that is longer."""
    return float(card.budget) if card.bytes > card.budget else 0.0
