"""The view of the bullets: by category, newest first; edited, struck, ticked off and deleted where they stand.

First the editor: what stands in the file, what is written, and what when both went on. Then the view.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.result import ErrorInfo, KnowledgeError
from core.commands import bullets
from core.commands.bullets import change_all
from core.commands.panel.bullets import CategoryView, category_view
from core.commands.quarantine import ReleasedMany, accept_seen
from core.commands.review.alike import Superseding
from core.commands.statements import Found, Said, said_with
from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.state import Selection, State
from gui.toolkit.editor import EditorKind, Typed, shortened
from gui.toolkit.flow_rows import FlowRow, matching
from gui.toolkit.layout import ChipRow, lowered
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text
from gui.views import knowledge_rows
from gui.views.knowledge_rows import (
    ACTIONS,
    EMPTY,
    OF_RUN,
    PAIR_ACTIONS,
    PAIR_EMPTY,
    PAIR_KEYS,
    Act,
    BulletKey,
    Comparison,
    Knowledge,
    act_of,
    change,
    copied,
    found_again,
    held_chosen,
    pair_act,
    says_so,
    select_added,
    stands,
)
from gui.views.list_view import OTHER_WORDS, SIDEWAYS, Editing, ListView, Teach, beside, insisting
from gui.views.looks import CATEGORIES, OF_FILE, PAIRS

ADDING: BulletKey = ("", "", 0)
STAYS = "Where it came from stays with it"
STAY = "It changes in all {} lines that say it; where they came from stays"


@dataclass(frozen=True)
class BulletTarget:
    """What is being edited: the row in whose place the editor stands, the bullet (None: a new one) with the older ones
    that say the same, what was seen."""

    key: BulletKey
    category: str
    seen: str
    found: Found | None = None
    others: tuple[Found, ...] = ()

    @property
    def note(self) -> str:
        """What becomes of where it came from."""
        return STAY.format(len(self.others) + 1) if self.others else STAYS


class BulletSession(Editing[BulletTarget]):
    """The editor of a list of bullets; `on_show(category)` asks for a category to be shown."""

    KIND = EditorKind(
        again=("Save mine anyway", "Look the bullet up in the file as it is now, and put your words there"),
        theirs=("Show theirs", "Leave the file as it is; your words can be brought back"),
    )

    on_show: Callable[[str], object]

    def edit(self, key: BulletKey, found: Found, seen: str, others: tuple[Found, ...] = ()) -> None:
        """Open the editor in the place of a row; `others` say the same, and are changed with it."""
        target = BulletTarget(key, found.category, seen, found, others)
        self.open(target, found.bullet.text, target.note)

    def add(self, category: str, seen: str) -> None:
        """Open the editor over a new row at the top."""
        label, _, _, noun = CATEGORIES[category]
        self.open(BulletTarget(ADDING, category, seen), "", f"A new {noun}, written by hand, for {label}", "Add")

    def key_of(self, target: BulletTarget) -> Hashable:
        return target.key

    def reopen(self, target: BulletTarget, typed: Typed) -> None:
        self.on_show(target.category)
        before = target.found.bullet.text if target.found is not None else ""
        self.open(target, before, target.note, "Save" if before else "Add", mine=typed.words)

    def save(self, target: BulletTarget) -> None:
        """Write the words into the bullet as it was seen, or as a new one."""
        words = self.editor.words
        if target.found is not None and words == target.found.bullet.text:
            self.close()
            return
        one = Said(target.found, target.others) if target.found is not None else None
        self.write(
            target, lambda workspace: written(workspace, target.category, one, words, target.seen), said=said_of(target)
        )

    def again(self, target: BulletTarget) -> None:
        """Write the words onto the bullet as it stands in the file now."""
        words = self.editor.words
        looked: list[tuple[CategoryView, Found | None]] = []

        def write(workspace: Workspace) -> Any:
            view = category_view(workspace, target.category)
            found, same = found_again(view.rows, target.found) if target.found is not None else (None, True)
            looked[:] = [(view, found)]
            if not same:
                raise KnowledgeError(OTHER_WORDS, "other words stand there now")
            one = said_with(view.rows, found) if found is not None else None
            return written(workspace, target.category, one, words, view.sha256)

        def failed(now: BulletTarget, error: ErrorInfo) -> None:
            if looked:
                view, found = looked[0]
                others = said_with(view.rows, found).others if found is not None else ()
                now = self.target = BulletTarget(target.key, target.category, view.sha256, found, others)
            if error.code == OTHER_WORDS:
                self._show_other(now, words)
            else:
                self.refused(now, error)

        self.write(target, insisting(write), failed, said_of(target))

    def _show_other(self, now: BulletTarget, words: str) -> None:
        """The bullet itself is another one, or gone: shown before anything is written."""
        if now.found is None:
            self.open(now, "", "It is gone from the file; Add writes yours as a new one", "Add", mine=words)
        else:
            note = f"Now it says: {shortened(now.found.bullet.text)}"
            self.open(now, now.found.bullet.text, note, "Put mine there", mine=words)


def written(workspace: Workspace, category: str, one: Said | None, words: str, seen: str) -> Any:
    """Put the words into all lines of that statement, or into a new bullet; on a worker."""
    if one is None:
        return bullets.add(workspace, category, words, seen=seen)
    if one.others:
        return change_all(workspace, "edit", one.refs, words, seen=seen)
    return bullets.edit(workspace, category, one.found.ref, words, seen=seen)


def said_of(target: BulletTarget) -> str:
    """What the toast says when it is saved."""
    return "Changed the bullet" if target.found is not None else f"Added to {CATEGORIES[target.category].name}"


HIDDEN = ("quarantine", *PAIRS)
TABS = {**{name: CATEGORIES[name] for name in EMPTY}, **PAIRS}
KEYS = {"F2": "edit", "E": "edit", "S": "strike", "Delete": "delete", "Ctrl+C": "copy", "R": "same-run"}
MAX_ITEMS_LISTED = 8
"""At most this many held items are named one by one in a question about all of them."""
TEACH = {
    **{
        name: Teach(TABS[name].icon, *words, command="" if name in HIDDEN else "knowledge harvest --apply")
        for name, words in (EMPTY | PAIR_EMPTY).items()
    },
    "nothing": Teach(
        "funnel", "Nothing matches", "No bullet of this category has these words.",
        action="Clear the filter", act="clear",
    ),
}  # fmt: skip


class KnowledgeView(ListView[Knowledge]):
    """Bullets by category with a filter, an editor in the place of a row, and undo."""

    name = "knowledge"
    gather = staticmethod(knowledge_rows.gather)
    keys = (
        ("Left, Right", "Another category"),
        ("Alt+Down", "The fact index: how sure each is, and since when"),
        ("N", "Write a bullet"),
        ("F2, E, Enter", "Edit the bullet"),
        ("Ctrl+Enter", "Save what is written"),
        ("Space", "Done, open again, or let in what is held"),
        ("S", "Strike through, or take the line away"),
        ("Delete", "Delete, or drop what is held"),
        ("Space, O, K, Enter", "To decide: keep the new one, the old one, both; read the conversation that says so"),
        ("M, Shift+M", "Two that are alike: keep the first, or the second"),
        ("Ctrl+C", "Copy the bullet; of a playbook its steps, one a line"),
        ("R", "Held: only what the same harvest has held back"),
        ("Ctrl+Enter, Shift+Delete", "Held: let in, or drop, all that are shown; 3 5-9 in the filter chooses"),
    )
    DATA = Knowledge
    FILTER = "Filter by word or conversation"
    ACTIONS = (*PAIR_ACTIONS, *ACTIONS)
    ACTION_KEYS = KEYS
    TEACH = TEACH
    ADD = "Write a bullet by hand"
    session: BulletSession

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell, Knowledge())
        self.category = "facts"
        self.session = BulletSession(look, shell, self.list, on_arrange=self.rearrange,
                                     on_saved=lambda _target, value: select_added(shell, value))  # fmt: skip
        self.session.on_show = self.show
        self.comparison = Comparison(shell, self._compared)

    def build(self, parent: int) -> None:
        super().build(parent)
        self.show(self.category)

    def above(self, parent: int, view: int) -> None:
        """A chip a category."""
        tabs = ChipRow(self._look, parent, view)
        self.tabs = {name: tabs.add(looks.name, looks.color, partial(self._tab, name)) for name, looks in TABS.items()}

    def below(self, parent: int) -> None:
        """What can be done with all held items that are shown; hidden for every other category."""
        look = self._look
        self._all = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        let_in, drop = partial(self._ask_all, drop=False), partial(self._ask_all, drop=True)
        tip = "Let in all that are shown, each into its file; one Undo takes it back"
        self.let_in = Button(look, self._all, "", self._shell.in_order(let_in), icon="check", tip=tip,
                             shortcut="Ctrl+Enter")  # fmt: skip
        self.drop = Button(look, self._all, "", self._shell.in_order(drop), icon="trash-2", kind="ghost",
                           tip="Drop all that are shown; Undo brings them back", shortcut="Shift+Delete")  # fmt: skip
        text(look, lowered(look, self._all, 7), "To choose some, filter: 3 5-9", "small", "hint", fit=END)

    def refresh(self, state: State) -> None:
        """Show what was read; compare it while somebody looks."""
        super().refresh(state)
        if state.view == self.name:
            self.comparison.ask(self.data, state.snapshot.ledger if state.snapshot is not None else None)

    # --- what is shown ---

    def take(self, data: Knowledge) -> None:
        """Count what the chips stand for."""
        for name, chip in self.tabs.items():
            chip.set_count(len(data.rows.get(name, ())))
        self._show_held()

    def rows(self) -> tuple[Sequence[FlowRow], int]:
        """The bullets of the category, newest first."""
        rows = (self.comparison.lists if self.category in PAIRS else self.data).rows.get(self.category, ())
        held = self.category == "quarantine"
        shown = held_chosen(self.data, self.words) if held else matching(rows, self.words)
        dpg.configure_item(self._all, show=held and bool(shown))
        if held and shown:
            some = "all" if len(shown) == len(rows) else "these"
            self.let_in.set_label(f"Let in {some} {len(shown):,}")
            self.drop.set_label(f"Drop {some} {len(shown):,}")
        return shown, len(rows)

    def teach(self, total: int) -> str:
        return "nothing" if self.words and total else self.category

    def stands(self, key: Hashable, shown: Sequence[FlowRow]) -> int:
        """Where a row that is gone stood: newest first, so lines count downwards."""
        target = self.session.target
        if target is None or target.category != self.category:
            return -1
        if target.found is None:
            return 0
        lines = [found.bullet.line for row in shown if (found := self._found(row)) is not None]
        return sum(line > target.found.bullet.line for line in lines)

    def show(self, category: str) -> None:
        """Show another category, from its newest bullet."""
        self.category = category
        for name, chip in self.tabs.items():
            chip.set_on(name == category)
        self._show_held()
        self.arrange(keep=False)

    def _show_held(self) -> None:
        """What is held back, outdated or alike has a tab only while something is."""
        for name in HIDDEN:
            dpg.configure_item(self.tabs[name].item, show=self._has_tab(name))

    def _has_tab(self, name: str) -> bool:
        return name not in HIDDEN or name == self.category or self.tabs[name].count > 0

    def _compared(self) -> None:
        """What seems outdated, and what is alike, was found out."""
        for name in PAIRS:
            self.tabs[name].set_count(len(self.comparison.lists.rows.get(name, ())))
        self._show_held()
        if self.category in PAIRS:
            self.arrange(keep=True)

    def _tab(self, name: str, _on: bool) -> None:
        self.show(name)

    def do(self, key: str) -> bool:
        """Another category; a new bullet."""
        if key == "N":
            self.begin_add()
        elif self.category == "quarantine" and key in ("Ctrl+Enter", "Shift+Delete"):
            self._ask_all(drop=key == "Shift+Delete")
        elif key in SIDEWAYS:
            there = [name for name in self.tabs if self._has_tab(name)]
            self.show(beside(there, self.category, SIDEWAYS[key]))
        else:
            return False
        return True

    def select(self, row: FlowRow) -> None:
        """The inspector shows the bullet, of a pair the one that it is about."""
        found, pair = self._found(row), self.comparison.lists.pairs.get(cast(BulletKey, row.key))
        one = found if found is not None else stands(pair) if pair is not None else None
        if one is not None:
            self._shell.select("bullet", one.file, one.bullet.line, one.bullet.raw)

    def follow(self, chosen: Selection) -> bool:
        """Mark a bullet that was chosen elsewhere, in its category; of a file show the category."""
        if chosen.kind == "file" and chosen.key in OF_FILE:
            category = OF_FILE[chosen.key]
            if not self.category.startswith(category.partition("_")[0]):
                self.show(category)
        if chosen.kind != "bullet":
            self.list.select(None, scroll=False)
            return True
        key = self.data.key_of(chosen.key, chosen.raw, chosen.line)
        if key is None:
            return False  # what was just written has not been read back
        if key != self.list.selected:
            if key[0] != self.category:
                self.show(key[0])
            if self.list.row(key) is None and self.words:
                self.clear()
            self.list.select(key)
        return True

    def _found(self, row: FlowRow) -> Found | None:
        return self.data.found.get(cast(BulletKey, row.key))

    def _sha(self, category: str) -> str:
        view = self.data.view(category)
        return view.sha256 if view is not None else ""

    # --- single changes ---

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; what was just filtered can be let in out of the field."""
        if key == "Ctrl+Enter" and typing and self.category == "quarantine" and self.session.target is None:
            self._ask_all(drop=False)
            return True
        return super().press(key, typing)

    def action_of(self, key: str, row: FlowRow) -> str:
        """Pairs have keys of their own; Space does what there is to be done with a bullet."""
        if self.category in PAIRS and key in PAIR_KEYS:
            return next((name for name in PAIR_KEYS[key] if name in row.can), "")
        if key == "Space":
            return next(iter(row.can & {"done", "reopen", "accept"}), "")
        return super().action_of(key, row)

    def act(self, name: str, row: FlowRow) -> None:
        key = cast(BulletKey, row.key)
        found, pair = self._found(row), self.comparison.lists.pairs.get(key)
        if name == "copy":
            self._shell.copy(*copied(found) if found is not None else (row.text, "Copied both"))
        elif name == "same-run":
            run = self.data.runs.get(found.bullet.raw, "") if found is not None else ""
            if run:
                dpg.set_value(self.filter, OF_RUN + run)
                self.typed(OF_RUN + run)
            else:
                self._shell.toast("It is not known which harvest held it back", icon="info", color="accent")
        elif name == "read":
            wanted = says_so(pair) if isinstance(pair, Superseding) else None
            if wanted is not None:
                self._shell.on_read(wanted)
        elif pair is not None:
            said, act = pair_act(name, pair, self._sha(stands(pair).category))
            # It is no longer a pair, also where no file has changed.
            self._write(row, said, act, lambda _value: self.comparison.ask(self.data, again=True), leaves=True)
        elif name == "edit":
            self.begin_edit(row)
        elif found is not None:
            said, act = act_of(name, found, self._sha(found.category), self.data.others.get(key, ()))
            strike = name == "strike"
            self._write(row, said, act, partial(select_added, self._shell) if strike else None, leaves=not strike)

    def open(self, row: FlowRow) -> None:
        """Enter, or a double click: edit a bullet; of what is to be decided read the conversation that says so."""
        if "read" in row.can:
            self.act("read", row)
        else:
            super().open(row)

    def _write(self, row: FlowRow, said: str, act: Act, done: Callable[[Any], object] | None, *, leaves: bool) -> None:
        """Run a command for a row; `leaves`: the row goes, so the selection moves on to its neighbour."""
        if leaves:
            self.list.leave(row.key)
        change(self._shell, said, act, f"{said}: {shortened(row.text)}", done)

    def _ask_all(self, *, drop: bool) -> None:
        """Ask, then let in or drop all held items that are shown, in one edit."""
        items = [self.data.held[key] for row in self.list.rows if (key := cast(BulletKey, row.key)) in self.data.held]
        if not items or self.category != "quarantine":
            return
        number = count(len(items), "item")
        words = "\n".join(f"#{item.number}  {shortened(item.text)}" for item in reversed(items[:MAX_ITEMS_LISTED]))
        words += f"\nand {len(items) - MAX_ITEMS_LISTED:,} more" if len(items) > MAX_ITEMS_LISTED else ""

        def done(value: ReleasedMany) -> None:
            if value.errors:
                more = f" (and {len(value.errors) - 1} more)" if len(value.errors) > 1 else ""
                first = value.errors[0]
                self._shell.error(ErrorInfo(first.code, first.message + more, first.path, first.hint))

        name, said = ("Dropping held items", "Dropped") if drop else ("Letting held items in", "Let in")
        title, yes = (f"Drop {number}?", "Drop") if drop else (f"Let {number} in?", "Let in")
        command = partial(accept_seen, items=items, drop=drop)
        self._shell.ask(title, words, yes, lambda: change(self._shell, name, command, f"{said} {number}", done),
                        kind="danger" if drop else "primary")  # fmt: skip

    def edit(self, row: FlowRow) -> None:
        found, key = self._found(row), cast(BulletKey, row.key)
        if found is not None:
            self.session.edit(key, found, self._sha(found.category), self.data.others.get(key, ()))

    def begin_add(self) -> None:
        if self.session.target is not None:
            return
        if self.category in HIDDEN:
            self.show("facts")
        self.session.add(self.category, self._sha(self.category))
