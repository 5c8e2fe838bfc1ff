"""The view of the bullets: by project, newest first; edited, struck, ticked off and deleted where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

import dearpygui.dearpygui as dpg

from core.commands.panel.evidence import say_how_it_served
from core.commands.panel.start import bullet_words
from core.commands.statements import Said
from gui.shell import Shell
from gui.state import Selection, State
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.layout import ChipRow
from gui.toolkit.letters import shortened
from gui.toolkit.messages import Teach
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.views import knowledge_rows, memories
from gui.views.editing import UNSAVED, BulletSession
from gui.views.knowledge_rows import (
    ACTIONS,
    ALL,
    EMPTY,
    NAMES,
    BulletKey,
    Knowledge,
    act_of,
    change,
    coded,
    copied,
    own_first,
    select_added,
)
from gui.views.list_view import SIDEWAYS, ListView, beside
from gui.views.look_card import LookCard
from gui.views.memories import MEMORIES
from gui.views.start import StartColumn

KEYS = {"F2": "edit", "E": "edit", "S": "strike", "Delete": "delete", "Ctrl+C": "copy"}
OF_MEMORY = {"open": "O", "archive": "Delete", "restore": "R", "copy": "Ctrl+C"}
"""The keys of a memory."""
ALL_BUT = "Current"
"""What the first chip is called while there are tasks that are done, which it leaves to a chip of their own."""
SERVED = {"win": ("It helped", "thumbs-up"), "partial": ("It helped in part", "check"),
          "miss": ("It was beside the point", "x"), "misleading": ("It misled", "triangle-alert")}  # fmt: skip
"""How a bullet may have served, as it is asked."""
FILLS = {ALL: ("Harvest…", "harvest"), "tasks_done": ("", "")}
"""What fills a list that is empty: the words of a button, and the method of the view."""
SHORT = 420
"""In a view lower than this, in unscaled pixels, there is room for the list or for what stands above it."""
WRITE = ("Write one", "begin_add")
TEACH = {name: Teach(NAMES[name].icon, *words, "", *FILLS.get(name, WRITE)) for name, words in EMPTY.items()}


class KnowledgeView(ListView):
    """All bullets by project, or those of a category, with an editor in the place of a row; above them what waits for
    the user's word."""

    name = "knowledge"
    gather = staticmethod(knowledge_rows.gather)
    keys = (
        ("W", "What wants a look, one by one"),
        ("Left, Right", "Another category"),
        ("N, +", "Write a bullet"),
        ("F2, E, Enter", "Edit the bullet"),
        ("Ctrl+Enter", "Save what is written"),
        ("Space", "Done, or open again"),
        ("S", "Strike through, or take the line away"),
        ("Delete", "Delete it"),
        ("U", "Say how it served"),
        ("O, Delete, R", "A memory: open its file, archive it, bring it back"),
        ("Ctrl+Shift+O", "Open or begin context.md"),
        ("Ctrl+C", "Copy the bullet; of a playbook its steps, one a line"),
        *LookCard.keys,
    )
    ACTIONS = ACTIONS
    ACTION_KEYS = KEYS
    TEACH = TEACH
    ASIDE = True

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.data = Knowledge()
        self.category = ALL
        self.session = BulletSession(look, shell, self.list, on_arrange=self.rearrange, on_show=self.show,
                                     on_saved=partial(select_added, shell))  # fmt: skip
        self.looks = LookCard(look, shell)
        self._menu = Menu(look, most=len(SERVED))
        self.side = self._start = StartColumn(look, shell)
        self._wanted: object = None
        self._selected: object = None
        self._own = ""
        self._short = False

    @property
    def is_editing(self) -> bool:
        """Whether a bullet is being written."""
        return self.session.target is not None

    @property
    def is_asking(self) -> bool:
        """Whether that, or a question about a bullet, is open."""
        return self.is_editing or self.looks.is_open

    def build(self, parent: int) -> None:
        """Above the rows what wants a look, and a chip a category."""
        self._top = int(dpg.add_group(parent=parent))
        self.looks.build(self._top, parent)
        chips = ChipRow(self._look, self._top, parent)
        self.tabs = {
            name: chips.add(looks.name, looks.color, partial(self.show, name)) for name, looks in NAMES.items()
        }
        self.plus = chips.add("+", "muted", self._shell.in_order(self.begin_add), "Write a bullet by hand")
        self.at_rest = self.plus.item
        self._look.follow(parent, self._fit)
        super().build(parent)
        self.session.build()
        self._shell.layers.append(self._menu.key)
        self.show(self.category)

    def _fit(self, _width: float, height: float) -> None:
        self._short = height < self._look.px(SHORT)
        self._make_room()

    def _make_room(self) -> None:
        """In a low window what stands above gives way to what is being written."""
        dpg.configure_item(self._top, show=not self._short or self.session.target is None)

    def refresh(self, state: State) -> None:
        """Show what was read, and what was asked for elsewhere; look for what waits while somebody looks."""
        data, wanted, chosen = state.of(self.name), state.of("wanted"), state.selected
        if data is not None and data is not self.data:
            self.data = data
            self.take(data)
            self.arrange(keep=True)
        if chosen is not self._selected:
            self._selected = chosen if self.follow(chosen) else None
        if self._start.own != self._own:
            self._own = self._start.own
            self.arrange(keep=False)
        if isinstance(wanted, Selection) and wanted is not self._wanted:
            self._wanted = wanted
            self._go(wanted)
        if state.view == self.name:
            unsaved = self._shell.choice(UNSAVED) if state.snapshot is not None and not self.is_editing else ""
            if unsaved and self.session.resume(unsaved, self.data.said):
                del self._shell.choices[UNSAVED]
            self.looks.ask(state.returns, self.data, state.snapshot)

    def _go(self, wanted: Selection) -> None:
        """A category, or the bullet with the words of a line of the digest."""
        if wanted.kind == "category":
            self.show(wanted.key)
            return
        begun = bullet_words(wanted.key).rstrip("…")
        rows = self.data.rows.get(ALL, ())
        row = next((row for row in rows if row.text.startswith((begun, coded(begun)[0])) and not row.head), None)
        if row is None:
            self._shell.select("file", "digest.md")
        else:
            self.show(ALL)
            self.list.select(row.key)
            self.select(row)

    def above(self, parent: int) -> None:
        """What is wrong with memories and context files, beside the memories."""
        self.add_remark(parent)

    # --- what is shown ---

    def take(self, data: Knowledge) -> None:
        """Count what the chips stand for; one without a bullet is not there."""
        self.tabs[ALL].name = ALL_BUT if data.rows.get("tasks_done") else NAMES[ALL].name
        for name, chip in self.tabs.items():
            number = data.number if name == ALL else len(data.rows.get(name, ()))
            number = len(data.memories.saved) if name == MEMORIES else number
            chip.set_count(number)
            dpg.configure_item(chip.item, show=bool(data.rows.get(name)) or name in (self.category, ALL))
        self.tell(data.memories.problems if self.category == MEMORIES else ())

    def rows(self) -> Sequence[FlowRow]:
        """All bullets by project, the chosen one first; or those of the category. An open editor never loses its
        place: newest first, so lines count downwards."""
        shown, target = list(self.data.rows.get(self.category, ())), self.session.target
        if self.category == ALL:
            shown = list(own_first(shown, self._own))
        if target is None or self.category not in (ALL, target.category) or any(row.key == target.key for row in shown):
            return shown
        at = 0
        if target.one is not None and self.category != ALL:
            lines = [one.found.bullet.line for row in shown if (one := self._said(row)) is not None]
            at = sum(line > target.one.found.bullet.line for line in lines)
        return [*shown[:at], FlowRow(target.key, ""), *shown[at:]]

    def arrange(self, keep: bool) -> None:
        super().arrange(keep)
        self.session.cover()

    def rearrange(self) -> None:
        """The editor was opened, or closed: the evidence gives it room."""
        self._shell.change()
        self._make_room()
        self.arrange(keep=True)
        if self.session.target is None:
            self.rest()

    def teach(self) -> str:
        return self.category

    def show(self, category: str) -> None:
        """Show another category, or all, from the newest bullet."""
        self.category = category if category in self.tabs else ALL
        for name, chip in self.tabs.items():
            chip.set_on(name == self.category)
        self.take(self.data)
        self.arrange(keep=False)

    def press(self, key: str, typing: bool) -> bool:
        """An open editor has its keys first, then what wants a look, while it is open."""
        if self.session.target is None:
            return (not typing and self.looks.press(key)) or super().press(key, typing)
        return self.session.editor.press(key) or (not typing and super().press(key, typing))

    def do(self, key: str) -> bool:
        """Another category; a new bullet."""
        if key in ("N", "Plus"):
            self.begin_add()
        elif key == "Ctrl+Shift+O":
            self._start.write_context()
        elif key == "U" and self.list.current is not None:
            self._ask_served(self.list.current)
        elif key in SIDEWAYS:
            there = [name for name in self.tabs if dpg.is_item_shown(self.tabs[name].item)]
            self.show(beside(there, self.category, SIDEWAYS[key]))
        else:
            return False
        return True

    def _ask_served(self, row: FlowRow) -> None:
        """How a bullet served, in a menu beside it."""
        one = self._said(row)
        if one is None:
            return
        words = one.found.bullet.text

        def say(outcome: str) -> None:
            self._shell.write("How it served", lambda workspace: say_how_it_served(workspace, words, outcome),
                              done=lambda said: self._shell.toast(f"Written down. So far: it {said}"))  # fmt: skip

        self._menu.open([MenuRow(name, sign, partial(say, outcome)) for outcome, (name, sign) in SERVED.items()],
                        self.list.place_of(row.key))  # fmt: skip

    def select(self, row: FlowRow) -> None:
        """Its evidence, over the list."""
        one, memory = self._said(row), self.data.memories.find(row.key)
        if one is not None:
            found = one.found
            self._shell.select("bullet", found.file, found.bullet.line, found.bullet.raw)
        elif memory is not None:
            below = self._shell.workspace.paths.knowledge
            inside = memory.path.is_relative_to(below)
            self._shell.select("file", memory.path.relative_to(below).as_posix() if inside else str(memory.path))
        self._selected = self._shell.state.selected

    def follow(self, chosen: Selection) -> bool:
        """Mark a bullet that was chosen elsewhere; in all, or in its category. False when it is not there yet, and has
        to be looked for again."""
        memory = self.data.memories.find(str(self._shell.workspace.paths.knowledge / chosen.key))
        if chosen.kind == "file" and memory is not None:
            if self.list.row(str(memory.path)) is None:
                self.show(MEMORIES)
            self.list.select(str(memory.path))
            return True
        if chosen.kind != "bullet":
            self.list.select(None, scroll=False)
            return True
        key = self.data.key_of(chosen.key, chosen.raw, chosen.line)
        if key is None:
            return False  # what was just written has not been read back
        if key != self.list.selected:
            if self.list.row(key) is None:
                self.show(key[0])
            self.list.select(key)
        return True

    def _said(self, row: FlowRow) -> Said | None:
        return self.data.said.get(cast(BulletKey, row.key))

    # --- single changes ---

    def action_of(self, key: str, row: FlowRow) -> str:
        """Space does what there is to be done with a bullet."""
        if key == "Space":
            return next(iter(row.can & {"done", "reopen"}), "")
        if row.can & {"archive", "restore"}:
            return next((name for name, one in OF_MEMORY.items() if one == key and name in row.can), "")
        return super().action_of(key, row)

    def act(self, name: str, row: FlowRow) -> None:
        one, memory = self._said(row), self.data.memories.find(row.key)
        if memory is not None and name == "copy":
            self._shell.copy(memory.content, "Copied the memory")
        elif memory is not None and name == "open":
            self._shell.open_path(str(memory.path))
        elif memory is not None:
            self.list.leave(row.key)
            memories.move(self._shell, self.data.memories, memory, name)
        if one is None:
            return
        if name == "copy":
            self._shell.copy(*copied(one.found))
        elif name == "edit":
            self.begin_edit(row)
        else:
            view = self.data.view(one.found.category)
            said, act = act_of(name, one, view.sha256 if view is not None else "")
            strike = name == "strike"
            if not strike:
                self.list.leave(row.key)  # the row goes, so the selection moves on to its neighbour
            change(self._shell, said, act, f"{said}: {shortened(row.text)}",
                   partial(select_added, self._shell) if strike else None)  # fmt: skip

    def open(self, row: FlowRow) -> None:
        """Enter, or a double click: edit the bullet; a memory in the editor that its file opens in."""
        if self.data.memories.find(row.key) is not None:
            self.act("open", row)
        else:
            self.begin_edit(row)

    def begin_edit(self, row: FlowRow) -> None:
        """Open the editor in the place of a row, unless something else is edited."""
        one = self._said(row)
        if one is None or "edit" not in row.can or self.session.target is not None:
            return
        self.list.select(row.key)
        self.select(row)
        found = one.found
        if lettered(found.bullet.text) != found.bullet.text:  # nobody can edit what has no letters here
            self._shell.open_path(str(self._shell.workspace.paths.knowledge / found.file), found.bullet.line)
            return
        self.session.edit(cast(BulletKey, row.key), one)

    def harvest(self) -> None:
        """Show what a harvest would do."""
        self._shell.run("harvest")

    def begin_add(self) -> None:
        if self.session.target is None:
            self.session.add("facts" if self.category == ALL else self.category)
