"""The cards of the context files: how much of its budget each takes, what is wrong with it, and a way into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
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
    above = Path(file.path).parents
    return str(above[2] if len(above) > 2 else above[-1])


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


class CardPart:
    """One card, made once; `on_act()` hears that its file should be opened, or begun where there is none."""

    def __init__(self, look: Look, parent: int, icon: str, key: str, on_act: Callable[[], object]) -> None:
        self._look = look
        self.shown: ContextCard | None = None
        self.item = box(look, parent, "card", height=0)
        left, right = spread(look, self.item)
        words = lowered(look, left, 6)
        self._icon = text(look, words, icon_of(icon), "text", "accent")
        self._title = text(look, words, "", "strong", fit=END)
        self._path = hint(look, self._title, "")
        self._amount = text(look, lowered(look, right, 8), "", "small", "muted")
        self._below = text(look, self.item, "", "small", "muted", fit=END)
        dpg.configure_item(self._below, show=False)
        self.button = Button(look, right, "Open", on_act, icon="external-link",
                             tip="Open this context.md in the editor, or write one", shortcut=key)  # fmt: skip
        self._bar = SegmentBar(look, self.item, self.item, height=8, most=1)
        self._about = text(look, self.item, "", "small", "hint", wrap=True)
        self._problems = []
        for _ in range(SENTENCES):
            row = int(dpg.add_group(horizontal=True, parent=self.item, show=False))
            text(look, row, icon_of("triangle-alert"), "small", "edited")
            self._problems.append((row, text(look, row, "", "small", "text", wrap=True)))
        look.follow(self.item, self._fit)

    def _fit(self, width: float, _height: float) -> None:
        narrow = width < self._look.px(NARROW)
        dpg.configure_item(self._amount, show=not narrow)
        dpg.configure_item(self._below, show=narrow)

    def show(self, card: ContextCard | None) -> None:
        """Fill it; None hides it."""
        dpg.configure_item(self.item, show=card is not None)
        self.shown, look = card, self._look
        if card is None:
            return
        dpg.set_value(self._title, card.title)
        say_hint(self._path, card.path)
        look.tint(self._icon, card.color)
        for item in (self._amount, self._below):
            dpg.set_value(item, card.amount)
            look.tint(item, "edited" if card.color == "edited" else "muted")
        self.button.set_label("Open" if card.exists else "Write one", "external-link" if card.exists else "plus")
        parts = [Part("", card.bytes, card.color)] if card.bytes else []
        over = card.bytes > card.budget  # a mark shows where the budget ends
        self._bar.set(parts, max(card.budget, card.bytes), float(card.budget) if over else 0.0)
        dpg.configure_item(self._bar.item, show=card.exists)
        dpg.configure_item(self._about, show=bool(card.about))
        dpg.set_value(self._about, card.about)
        for number, (row, words) in enumerate(self._problems):
            said = card.problems[number] if number < len(card.problems) else ""
            dpg.configure_item(row, show=bool(said))
            dpg.set_value(words, said)


class ContextCards:
    """Both cards. `on_act(scope)` hears that a file should be opened, or begun where there is none."""

    def __init__(self, look: Look, on_act: Callable[[str], object]) -> None:
        self._look, self._on_act = look, on_act
        self._cards: dict[str, CardPart] = {}

    def build(self, parent: int) -> None:
        """Make the cards, and the line that says why there is only one."""
        look = self._look
        for scope, icon, key in SCOPES:
            self._cards[scope] = CardPart(look, parent, icon, key, partial(self._on_act, scope))
        row = self._none = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        text(look, row, icon_of("folder"), "small", "hint")
        text(look, row, "A project adds its own: start the panel in a folder that has .manual_slop/knowledge", "small",
             "hint", wrap=True)  # fmt: skip
        row = self._heavy = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        text(look, row, icon_of("triangle-alert"), "text", "edited")
        self._heavy_words = text(look, row, "", wrap=True)

    def button(self, scope: str) -> int:
        """The item of a card's button."""
        return self._cards[scope].button.item

    def card(self, scope: str) -> ContextCard | None:
        """What a card shows."""
        return self._cards[scope].shown

    def show(self, found: Sequence[ContextFile], heavy: str) -> None:
        """Show the files as they are."""
        files = {file.scope: context_card(file) for file in found}
        for scope, card in self._cards.items():
            card.show(files.get(scope))
        dpg.configure_item(self._none, show=bool(files) and PROJECT not in files)
        dpg.configure_item(self._heavy, show=bool(heavy))
        dpg.set_value(self._heavy_words, heavy)
