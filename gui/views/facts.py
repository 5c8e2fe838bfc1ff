"""The view of the fact index: filtered by category, domain and word, edited in place; pairs to merge, what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

import dearpygui.dearpygui as dpg

from core.commands.fact_edits import delete_fact, merge_facts
from gui.shell import Shell
from gui.state import State
from gui.toolkit.editor import shortened
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, matching
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow, box
from gui.toolkit.messages import EmptyState, Teaching
from gui.toolkit.theme import Look
from gui.toolkit.widgets import text_field
from gui.views import facts_rows
from gui.views.bullet_acts import Act, refusal
from gui.views.facts_rows import ACTIONS, KINDS, Facts, Key, chosen
from gui.views.facts_session import FactSession
from gui.views.looks import FACT_CATEGORIES

DOMAINS = 8  # so many have a chip; the field finds the others
TURNS = {"X": "stale", "A": "alike", "V": "wrong"}  # keys that show one of `KINDS`, and everything again
KEYS = {"M": "merge", "Shift+M": "merge-other", "F2": "edit", "O": "open", "Delete": "delete", "Ctrl+C": "copy"}


class FactsView:
    """Facts with their confidence, age and confirmations. See gui/view.py."""

    name = "facts"
    gather = staticmethod(facts_rows.gather)
    keys = (
        ("Left, Right", "Another category"),
        ("Shift+Left, Shift+Right", "Another domain"),
        ("A, V, X", "Pairs that are alike, what is not valid, what has expired"),
        ("F2, E, Enter", "Edit the fact"),
        ("Ctrl+Enter", "Save what is written"),
        ("M, Shift+M", "Merge two that are alike into the first, or the second"),
        ("O", "Open its file"),
        ("Ctrl+C", "Copy the fact"),
        ("Delete", "Delete the fact"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.data = Facts()
        self.kind = self.words = ""
        self.categories: set[str] = set()
        self.domains: set[str] = set()
        self.list = FlowList(look, actions=ACTIONS, on_select=self._select, shares=True,
                             on_open=shell.in_order(self._open), on_action=shell.in_order(self.act))  # fmt: skip
        self.session = FactSession(look, shell, self.list, on_arrange=self._rearrange,
                                   on_saved=lambda _target, _value: None)  # fmt: skip
        self._seen: object = None

    def build(self, parent: int) -> None:
        """Make chips, filter, list, editor and what teaches."""
        look = self._look
        row = ChipRow(look, parent, parent)
        self.chips = {
            name: row.add(label, color, partial(self._category, name))
            for name, (label, _, color, _) in FACT_CATEGORIES.items()
        }
        places = ChipRow(look, parent, parent)
        self.places = [places.add("", "muted", partial(self._domain, number)) for number in range(DOMAINS)]
        self.kinds = {name: places.add(label, color, partial(self._kind, name), tip)
                      for name, (label, color, tip) in KINDS.items()}  # fmt: skip
        self.filter = text_field(look, parent, placeholder=f"{icon('funnel')}  Filter by word, tag or domain      /",
                            on_change=self._filter)  # fmt: skip
        area = box(look, parent, "clear")
        self.list.build(area)
        self.session.build()
        self._states = {
            "empty": EmptyState(look, area, area, icon="lightbulb", title="No facts in the index yet",
                                words="Every harvest turns what it learned into facts with an id,\n"
                                "a confidence that fades, and the conversations that confirmed it.",
                                command="knowledge harvest --apply"),
            "nothing": EmptyState(look, area, area, icon="funnel", title="Nothing matches",
                                  words="No fact fits what is chosen above.", action="Show all facts",
                                  on_action=self.clear),
        }  # fmt: skip
        self._teaching = Teaching(self.list.holder, self._states)
        for chip in (*self.kinds.values(), *self.places):
            dpg.configure_item(chip.item, show=False)

    def refresh(self, state: State) -> None:
        """Take over what was read and keep the place."""
        data = state.of(self.name)
        if isinstance(data, Facts) and data is not self._seen:
            self._seen = self.data = data
            self._count()
            self._arrange(keep=True)
        elif state.shown != (len(self.list.rows), len(self.data.rows.get(self.kind, ()))):
            self._tell()

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; see `keys`."""
        if self.session.press(key):
            return True
        filtered = self.words or self.kind or self.categories or self.domains
        if key == "Esc" and (typing or filtered):
            self.clear()
            dpg.focus_item(self.chips["fact"].item)
            return True
        if typing:
            moves = key in ("Up", "Down", "Page up", "Page down")
            return self.session.target is None and moves and self.list.press(key)
        if key in ("/", "Ctrl+F"):
            self._look.keys_to(self.filter)
            return True
        if key in ("Left", "Right"):
            self._step(1 if key == "Right" else -1)
            return True
        if key in ("Shift+Left", "Shift+Right"):
            self._step_domain(1 if key == "Shift+Right" else -1)
            return True
        if key in TURNS:
            self._kind(TURNS[key], self.kind != TURNS[key])
            return True
        row = self.list.current
        wanted = KEYS.get("F2" if key == "E" else key, "")
        if wanted and row is not None and wanted in row.can:
            self.act(wanted, row)
            return True
        return self.list.press(key)

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""

    # --- what is shown ---

    def _count(self) -> None:
        counts = dict.fromkeys(FACT_CATEGORIES, 0)
        for found in self.data.view.rows:
            counts[found.fact.category] = counts.get(found.fact.category, 0) + 1
        for name, chip in self.chips.items():
            chip.set_count(counts[name])
        for name, chip in self.kinds.items():
            chip.set_count(len(self.data.rows.get(name, ())))
            dpg.configure_item(chip.item, show=chip.count > 0 or self.kind == name)
        self.domains &= {name for name, _ in self.data.domains}
        for number, chip in enumerate(self.places):
            there = number < len(self.data.domains) and len(self.data.domains) > 1
            dpg.configure_item(chip.item, show=there)
            if there:
                chip.name = self.data.domains[number][0]
                chip.set_count(self.data.domains[number][1])
                chip.set_on(chip.name in self.domains)

    def _arrange(self, keep: bool) -> None:
        shown = list(matching(chosen(self.data, self.kind, self.categories, self.domains), self.words))
        target = self.session.target
        key = self.session.key_of(target) if target is not None else None
        if key is not None and all(row.key != key for row in shown):
            shown.insert(0, FlowRow(key, ""))  # an open editor never loses its place
        self.list.set_rows(shown, keep_place=keep)
        self.session.cover()
        filtered = self.words or self.kind or self.categories or self.domains
        teaching = "" if shown else "nothing" if filtered else "empty"
        self._teaching.show(teaching)
        self._tell()

    def _tell(self) -> None:
        if self._shell.state.view == self.name:
            self._shell.rows_shown(len(self.list.rows), len(self.data.rows.get(self.kind, ())))

    def _rearrange(self) -> None:
        self._arrange(keep=True)
        if self.session.target is None:
            dpg.focus_item(self.chips["fact"].item)  # the field must not keep the keys

    def _category(self, name: str, on: bool) -> None:
        (self.categories.add if on else self.categories.discard)(name)
        self._arrange(keep=False)

    def _domain(self, number: int, on: bool) -> None:
        (self.domains.add if on else self.domains.discard)(self.places[number].name)
        self._arrange(keep=False)

    def _kind(self, name: str, on: bool) -> None:
        self.kind = name if on else ""
        for other, chip in self.kinds.items():
            chip.set_on(other == self.kind)
            dpg.configure_item(chip.item, show=chip.count > 0 or other == self.kind)
        self._arrange(keep=False)

    def _step(self, by: int) -> None:
        """One category after the other, and all of them."""
        names = ["", *FACT_CATEGORIES]
        now = next(iter(self.categories)) if len(self.categories) == 1 else ""
        wanted = names[(names.index(now) + by) % len(names)]
        self.categories = {wanted} if wanted else set()
        for name, chip in self.chips.items():
            chip.set_on(name in self.categories)
        self._arrange(keep=False)

    def _step_domain(self, by: int) -> None:
        """One domain after the other, and all of them."""
        there = [chip for number, chip in enumerate(self.places) if number < len(self.data.domains)]
        names = ["", *(chip.name for chip in there)]
        now = next(iter(self.domains)) if len(self.domains) == 1 else ""
        wanted = names[((names.index(now) if now in names else 0) + by) % len(names)]
        self.domains = {wanted} if wanted else set()
        for chip in there:
            chip.set_on(chip.name in self.domains)
        self._arrange(keep=False)

    def _filter(self, words: str) -> None:
        self.words = words
        self._arrange(keep=False)

    def clear(self) -> None:
        """Show every fact again."""
        dpg.set_value(self.filter, "")
        self.words = self.kind = ""
        self.categories, self.domains = set(), set()
        for chip in (*self.chips.values(), *self.kinds.values(), *self.places):
            chip.set_on(False)
        self._arrange(keep=False)

    # --- what the person does ---

    def _select(self, row: FlowRow) -> None:
        """The inspector shows the fact, of a pair the first; of what is not valid its place in the file."""
        key = cast(Key, row.key)
        wrong = self.data.problems.get(key)
        self._shell.select(*(("file", wrong.file, wrong.line) if wrong is not None else ("fact", key[1])))

    def _open(self, row: FlowRow) -> None:
        if "edit" in row.can:
            self.act("edit", row)
        elif "open" in row.can:
            self.act("open", row)

    def act(self, name: str, row: FlowRow) -> None:
        """Do one of `ACTIONS` to a row."""
        key = cast(Key, row.key)
        acts: dict[str, Callable[[], object]] = {
            "copy": lambda: self._shell.copy(row.text, "Copied the words"),
            "edit": lambda: self._edit(key),
            "delete": lambda: self._delete(key),
            "merge": lambda: self._merge(key[1], key[2]),
            "merge-other": lambda: self._merge(key[2], key[1]),
            "open": lambda: self._open_file(key),
        }
        acts[name]()

    def _open_file(self, key: Key) -> None:
        """The file of a fact; of what is wrong, at its line."""
        line = self.data.problems[key].line if key[0] == "wrong" else 0
        self._shell.open_path(str(self._shell.workspace.paths.knowledge / self._file_of(key)), line)

    def _file_of(self, key: Key) -> str:
        return self.data.problems[key].file if key[0] == "wrong" else self.data.found[key[1]].file

    def _edit(self, key: Key) -> None:
        found = self.data.found.get(key[1])
        if found is not None and self.session.target is None:
            self.list.select(key)
            self.session.edit(found)

    def _delete(self, key: Key) -> None:
        found = self.data.found.get(key[1])
        if found is not None:
            self.list.leave(key)
            said = f"Deleted the fact: {shortened(found.fact.fact)}"
            self._write("The fact", lambda core: delete_fact(core, found.fact.id, seen=found.sha256), said)

    def _merge(self, keep: str, gone: str) -> None:
        found = self.data.found[keep]
        said = f"Merged {gone} into {keep}"
        self._write("The merge", lambda core: merge_facts(core, keep, gone, seen=found.sha256), said)

    def _write(self, name: str, act: Act, said: str) -> None:
        self._shell.write(name, act, failed=lambda error: self._shell.error(refusal(error)), said=said)
