"""The view of the bullets: by category, newest first; edited, struck, ticked off and deleted where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import dearpygui.dearpygui as dpg

from core.commands.bullets import Found
from gui.shell import Shell
from gui.state import State
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, matching
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow, box, gap, spread
from gui.toolkit.messages import EmptyState, Teaching
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text_field
from gui.views import knowledge_rows
from gui.views.bullet_acts import act_of
from gui.views.bullet_changes import BulletChanges
from gui.views.bullet_session import BulletSession, Target
from gui.views.knowledge_pairs import PAIR_ACTIONS, PAIR_EMPTY, PAIR_KEYS, Comparison, pair_act, stands
from gui.views.knowledge_rows import ACTIONS, EMPTY, BulletKey, Knowledge
from gui.views.looks import CATEGORIES, OF_FILE, PAIRS

HIDDEN = ("quarantine", *PAIRS)
TABS = {**{name: CATEGORIES[name] for name in EMPTY}, **PAIRS}
KEYS = {"F2": "edit", "E": "edit", "S": "strike", "Delete": "delete"}
TAUGHT = frozenset(EMPTY) - {"quarantine"}


class KnowledgeView:
    """Bullets by category with a filter, an editor in the place of a row, and undo. See gui/view.py."""

    name = "knowledge"
    gather = staticmethod(knowledge_rows.gather)
    keys = (
        ("Left, Right", "Another category"),
        ("N", "Write a bullet"),
        ("F2, E, Enter", "Edit the bullet"),
        ("Ctrl+Enter", "Save what is written"),
        ("Space", "Done, open again, or let in what is held"),
        ("S", "Strike through, or take the line away"),
        ("Delete", "Delete, or drop what is held"),
        ("Space, Ctrl+Space", "What seems outdated: accept the new one, or keep both"),
        ("M, Shift+M", "Two that are alike: keep the first, or the second"),
        ("Ctrl+C", "Copy the bullet"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.data = Knowledge()
        self.category = "facts"
        self.words = ""
        self.list = FlowList(look, actions=(*PAIR_ACTIONS, *ACTIONS), on_select=self._select,
                             on_open=shell.in_order(self.begin_edit), on_action=shell.in_order(self.act))  # fmt: skip
        self.changes = BulletChanges(shell, self.list)
        self.session = BulletSession(
            look, shell, self.list, on_arrange=self._rearrange, on_show=self.show,
            on_saved=lambda _target, value: self.changes.followed(value),
        )  # fmt: skip
        self.comparison = Comparison(shell, self._compared)
        self._seen: object = None
        self._selected: object = None

    def build(self, parent: int) -> None:
        """Make tabs, filter, list, editor and what teaches."""
        look = self._look
        tabs = ChipRow(look, parent, parent)
        self.tabs = {
            name: tabs.add(label, color, partial(self._tab, name)) for name, (label, _, color, _) in TABS.items()
        }
        left, right = spread(look, parent)
        self.filter = text_field(look, left, placeholder=f"{icon('funnel')}  Filter by word or conversation      /",
                            on_change=self._filter)  # fmt: skip
        gap(look, right, 1)
        self.add = Button(look, right, "Add", self._shell.in_order(self.begin_add), icon="plus",
                          tip="Write a bullet by hand", shortcut="N")  # fmt: skip
        area = box(look, parent, "clear")
        self.list.build(area)
        self.session.build()
        self._states = {
            name: EmptyState(look, area, area, icon=TABS[name].icon, title=title,
                             words=words, command="knowledge harvest --apply" if name in TAUGHT else "")
            for name, (title, words) in (EMPTY | PAIR_EMPTY).items()
        }  # fmt: skip
        self._states["nothing"] = EmptyState(
            look, area, area, icon="funnel", title="Nothing matches",
            words="No bullet of this category has these words.", action="Clear the filter",
            on_action=self._clear_filter,
        )  # fmt: skip
        self._teaching = Teaching(self.list.holder, self._states)
        self.show(self.category)

    def refresh(self, state: State) -> None:
        """Take over what was read, keep the place, follow a selection made elsewhere."""
        data = state.of(self.name)
        if isinstance(data, Knowledge) and data is not self._seen:
            self._seen = self.data = data
            for name, chip in self.tabs.items():
                chip.set_count(len(data.rows.get(name, ())))
            self._show_held()
            self._arrange(keep=True)
        if state.view == self.name:
            self.comparison.ask(self.data)
        chosen = state.selected
        if chosen is self._selected and chosen.kind == "bullet":
            return
        fresh, self._selected = chosen is not self._selected, chosen
        if (
            fresh
            and chosen.kind == "file"
            and chosen.key in OF_FILE
            and not self.category.startswith(OF_FILE[chosen.key].partition("_")[0])
        ):
            self.show(OF_FILE[chosen.key])
        if chosen.kind != "bullet":
            self.list.select(None, scroll=False)
            return
        key = self.data.key_of(chosen.key, chosen.raw, chosen.line)
        if key is None:
            self._selected = None  # what was just written has not been read back: look again then
        elif key != self.list.selected:
            if key[0] != self.category:
                self.show(key[0])
            if self.list.row(key) is None and self.words:
                self._clear_filter()
            self.list.select(key)

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; see the tooltips of its buttons."""
        if self.session.press(key):
            return True
        if key == "Esc" and (typing or self.words):
            self._clear_filter()
            dpg.focus_item(self.add.item)
            return True
        if typing:
            return (
                self.session.target is None and key in ("Up", "Down", "Page up", "Page down") and self.list.press(key)
            )
        if key in ("Left", "Right"):
            names = [name for name, chip in self.tabs.items() if chip.count or name not in HIDDEN]
            names = names if self.category in names else [*names, self.category]
            self.show(names[(names.index(self.category) + (1 if key == "Right" else -1)) % len(names)])
            return True
        simple: dict[str, Callable[[], object]] = {
            "/": lambda: self._look.keys_to(self.filter),
            "Ctrl+F": lambda: self._look.keys_to(self.filter),
            "N": self.begin_add,
        }
        if key in simple:
            simple[key]()
            return True
        row = self.list.current
        keys = PAIR_KEYS if self.category in PAIRS else KEYS
        wanted = "copy" if key == "Ctrl+C" else keys.get(key, "")
        if key == "Space" and row is not None and not wanted:
            wanted = next(iter(row.can & {"done", "reopen", "accept"}), "")
        if wanted and row is not None and wanted in row.can:
            self.act(wanted, row)
            return True
        return self.list.press(key)

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""

    # --- what is shown ---

    def show(self, category: str) -> None:
        """Show another category, from its newest bullet."""
        self.category = category
        for name, chip in self.tabs.items():
            chip.set_on(name == category)
        self._show_held()
        self._arrange(keep=False)

    def _show_held(self) -> None:
        """What is held back, outdated or alike has a tab only while something is."""
        for name in HIDDEN:
            dpg.configure_item(self.tabs[name].item, show=self.tabs[name].count > 0 or self.category == name)

    def _compared(self) -> None:
        """What seems outdated, and what is alike, was found out."""
        for name in PAIRS:
            self.tabs[name].set_count(len(self.comparison.lists.rows.get(name, ())))
        self._show_held()
        if self.category in PAIRS:
            self._arrange(keep=True)

    def _arrange(self, keep: bool) -> None:
        rows: Sequence[FlowRow] = (self.comparison.lists if self.category in PAIRS else self.data).rows.get(
            self.category, ()
        )
        total, shown = len(rows), list(matching(rows, self.words))
        found = len(shown)
        target = self.session.target
        if target is not None and target.category == self.category and all(row.key != target.key for row in shown):
            shown.insert(self._place_of(target, shown), FlowRow(target.key, ""))  # an open editor never loses its place
        self.list.set_rows(shown, keep_place=keep)
        self.session.cover()
        teaching = "" if shown else ("nothing" if self.words and total else self.category)
        self._teaching.show(teaching)
        self._shell.rows_shown(found, total, self.name)

    def _place_of(self, target: Target, shown: Sequence[FlowRow]) -> int:
        """Where a row that is gone stood: newest first, so lines count downwards."""
        if target.found is None:
            return 0
        lines = [found.bullet.line for row in shown if (found := self._found(row)) is not None]
        return sum(line > target.found.bullet.line for line in lines)

    def _rearrange(self) -> None:
        self._arrange(keep=True)
        if self.session.target is None:
            dpg.focus_item(self.add.item)  # the field must not keep the keys

    def _tab(self, name: str, _on: bool) -> None:
        self.show(name)

    def _filter(self, words: str) -> None:
        self.words = words
        self._arrange(keep=False)

    def _clear_filter(self) -> None:
        dpg.set_value(self.filter, "")
        self._filter("")

    def _select(self, row: FlowRow) -> None:
        found, pair = self._found(row), self.comparison.lists.pairs.get(cast(BulletKey, row.key))
        one = found if found is not None else stands(pair) if pair is not None else None
        if one is not None:
            self._shell.select("bullet", one.file, one.bullet.line, one.bullet.raw)
            self._selected = self._shell.state.selected

    def _found(self, row: FlowRow) -> Found | None:
        return self.data.found.get(cast(BulletKey, row.key))

    def _sha(self, category: str) -> str:
        view = self.data.view(category)
        return view.sha256 if view is not None else ""

    # --- single changes ---

    def act(self, name: str, row: FlowRow) -> None:
        """Do one of `ACTIONS` or `PAIR_ACTIONS` to a row."""
        found, pair = self._found(row), self.comparison.lists.pairs.get(cast(BulletKey, row.key))
        if name == "copy":
            self._shell.copy(found.bullet.text if found is not None else row.text, "Copied the bullet")
        elif pair is not None:
            seen = self._sha(stands(pair).category)
            self.changes.write(row, *pair_act(name, pair, seen), self._decided, leaves=True)
        elif found is None:
            return
        elif name == "edit":
            self.begin_edit(row)
        else:
            self._change(name, found, row)

    def _change(self, name: str, found: Found, row: FlowRow) -> None:
        others = self.data.others.get(cast(BulletKey, row.key), ())
        said, act = act_of(name, found, self._sha(found.category), others)
        done = self.changes.followed if name == "strike" else None
        self.changes.write(row, said, act, done, leaves=name != "strike")

    def _decided(self, _value: Any) -> None:
        """A pair is no longer one, also where no file has changed."""
        self.comparison.ask(self.data, again=True)

    def begin_edit(self, row: FlowRow) -> None:
        """Open the editor in the place of a row."""
        found = self._found(row)
        if found is None or "edit" not in row.can or self.session.target is not None:
            return
        self.list.select(row.key)
        self._select(row)
        key = cast(BulletKey, row.key)
        self.session.edit(key, found, self._sha(found.category), self.data.others.get(key, ()))

    def begin_add(self) -> None:
        """Open the editor over a new row at the top."""
        if self.session.target is not None:
            return
        if self.category in HIDDEN:
            self.show("facts")
        self.session.add(self.category, self._sha(self.category))
