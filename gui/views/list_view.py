"""Views that are lists: what is the same in all of them. What differs stands in the class of each, mostly as tables.

`FilteredView` has a field that filters, and the keys of it; `ListView` adds rows of wrapped text with what can be done
to them, and what teaches while there is no row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dearpygui.dearpygui as dpg

from gui.shell import Shell, View
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, RowAction
from gui.toolkit.icons import icon
from gui.toolkit.keys import moved_to
from gui.toolkit.layout import box
from gui.toolkit.messages import EmptyState, Teach
from gui.toolkit.theme import Look
from gui.toolkit.widgets import text

MOVES = ("Up", "Down", "Page up", "Page down")
"""Keys that move through the rows also while somebody types in the field."""
PAGE = 5  # parts of a page that Page down goes on

ENTER = ("Enter", "Keypad Enter")
SIDEWAYS = {"Left": -1, "Right": 1}
"""Keys that go from one chip to the one beside it."""


def beside(names: Sequence[str], now: str, by: int) -> str:
    """The name `by` places after another one, round again at the ends; an unknown one counts as the first."""
    at = names.index(now) if now in names else 0
    return names[(at + by) % len(names)]


def stepped(names: Sequence[str], now: str, key: str) -> str:
    """The name that a key for moving goes to, as far as there are any."""
    return names[moved_to(key, names.index(now) if now in names else None, len(names), PAGE) or 0]


def the_same(now: tuple[object, ...], before: tuple[object, ...]) -> bool:
    """Whether all parts are the very same objects as before."""
    return len(now) == len(before) and all(one is other for one, other in zip(now, before, strict=True))


class FilteredView(View):
    """A view that may have a field (`filter`). `at_rest` is the item that the keyboard goes to out of it.

    `/` goes to the field, or where there is none to the one search; Esc leaves and empties it, and the arrows move
    through the rows meanwhile.
    """

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.words = ""
        self.filter = self.at_rest = 0

    def move(self, key: str) -> bool:
        """A key for the rows: a move, or Enter."""
        raise NotImplementedError

    def do(self, key: str) -> bool:
        """A key of this view beside those of the field and the rows; true when it was used."""
        return False

    @property
    def filtered(self) -> bool:
        """Whether something is left out."""
        return bool(self.words)

    # --- the same for all ---

    def typed(self, words: str) -> None:
        """Other words stand in the field."""

    def clear(self) -> None:
        """Show everything again."""
        dpg.set_value(self.filter, "")
        self.typed("")

    def rest(self) -> None:
        """Give the keyboard to what stands beside the field, which must not keep it. What is not in sight cannot have
        it: the host's window would get it, and every key be lost."""
        if self.at_rest and dpg.get_item_state(self.at_rest).get("visible"):
            dpg.focus_item(self.at_rest)

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; see `keys`."""
        if key == "Esc" and (typing or self.filtered):
            self.clear()
            self.rest()
            return True
        if typing:
            return key in MOVES and self.move(key)
        if key in ("/", "Ctrl+F"):
            if self.filter:
                self._look.keys_to(self.filter)
                return True
            return self._shell.run("search")
        return self.do(key) or self.move(key)


class ListView(FilteredView):
    """A list of wrapped rows."""

    ACTIONS: tuple[RowAction, ...] = ()
    ACTION_KEYS: Mapping[str, str] = {}
    """Keys that do one of `ACTIONS` to the selected row."""
    TEACH: Mapping[str, Teach] = {}
    ASIDE = False
    """Whether the small line stands at the right where there is room."""

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.list = FlowList(look, actions=self.ACTIONS, aside=self.ASIDE, on_select=self.select,
                             on_open=shell.in_order(self.open), on_action=shell.in_order(self.act))  # fmt: skip

    # --- what differs ---

    def above(self, parent: int) -> None:
        """Make what stands above the rows: the field, where there is one, and what is below it."""

    def rows(self) -> Sequence[FlowRow]:
        """The rows that are wanted."""
        raise NotImplementedError

    def teach(self) -> str:
        """Which of `TEACH` stands there when there is no row."""
        raise NotImplementedError

    def select(self, row: FlowRow) -> None:
        """A row was chosen: let the inspector show it."""

    def act(self, name: str, row: FlowRow) -> None:
        """Do one of `ACTIONS` to a row."""
        raise NotImplementedError

    def open(self, row: FlowRow) -> None:
        """A double click, or Enter."""

    def action_of(self, key: str, row: FlowRow) -> str:
        """The name of the action that a key means for a row."""
        return self.ACTION_KEYS.get(key, "")

    # --- the same for all ---

    def build(self, parent: int) -> None:
        """Make field, rows and what teaches."""
        look = self._look
        self.above(parent)
        area = box(look, parent, "clear")
        self.list.build(area)
        self._states = {
            name: EmptyState(look, area, one, getattr(self, one.act) if one.act else None)
            for name, one in self.TEACH.items()
        }

    def add_remark(self, parent: int) -> None:
        """Make a line for a sentence about what could not be shown; hidden until `remark`."""
        self._remark = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        self._sign = text(self._look, self._remark, icon("triangle-alert"), "small", "edited")
        self.remark = text(self._look, self._remark, "", "small", "muted", wrap=True)

    def tell(self, sentences: Sequence[str], calm: bool = False) -> None:
        """Put the first of some sentences into that line, and how many more; `calm` where it is no warning."""
        dpg.set_value(self._sign, icon("info" if calm else "triangle-alert"))
        self._look.tint(self._sign, "hint" if calm else "edited")
        more = f"  (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""
        dpg.configure_item(self._remark, show=bool(sentences))
        dpg.set_value(self.remark, sentences[0] + more if sentences else "")

    def arrange(self, keep: bool) -> None:
        """Show the rows that are wanted; with `keep` what is in sight stays where it is."""
        shown = list(self.rows())
        self.list.set_rows(shown, keep_place=keep)
        taught = "" if shown else self.teach()
        for name, state in self._states.items():
            state.show(name == taught)
        dpg.configure_item(self.list.holder, show=not taught)

    def move(self, key: str) -> bool:
        """What a key does to the selected row, or a move to another."""
        row = self.list.current
        wanted = self.action_of(key, row) if row is not None else ""
        if row is not None and wanted in row.can:
            self.act(wanted, row)
            return True
        return self.list.press(key)
