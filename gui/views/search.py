"""The view that searches everything: results as you type, ranked, marked, and with the reason for each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dearpygui.dearpygui as dpg

from core.base.result import Err, Result
from gui.shell import Shell
from gui.state import State
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, wrap_of
from gui.toolkit.icons import icon
from gui.toolkit.keys import LETTERS
from gui.toolkit.layout import ChipRow, box
from gui.toolkit.messages import EmptyState, Teaching
from gui.toolkit.theme import Look
from gui.toolkit.widgets import text, text_field
from gui.views.looks import ENTRY_KINDS
from gui.views.search_rows import ACTIONS, MARKS, Asked, Findings, bullet_of, chip_kinds, find, rows

if TYPE_CHECKING:
    from core.commands.search import Hit

PARTS = ("knowledge", "files", "memories")
HOMES = {"bullet": "knowledge", "note": "files", "memory": "memories", "context": "memories", "fact": "facts"}


class SearchView:
    """One field and what it finds. See gui/view.py."""

    name = "search"
    keys = (
        ("/, any letter", "Search"),
        ("Up, Down", "Choose, also while you type"),
        ("Enter", "Show it where it stands"),
        ("Left, Right", "Another kind"),
        ("Ctrl+C", "Copy it"),
        ("Ctrl+O", "Open its file in the editor"),
        ("Esc", "Clear the search"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.found = Findings()
        self.query = self.kind = ""
        self.pending = False
        self.list = FlowList(
            look, actions=ACTIONS, on_select=self._look_at, on_open=self.go, on_action=self.act, marks=MARKS
        )
        self._hits: dict[object, Hit] = {}
        self._asked: object = None
        self._entered = False  # Enter was pressed before the answer came
        self._seen: tuple[object, ...] = ()
        self._width = 0
        self._selecting = 0

    def build(self, parent: int) -> None:
        """Make field, chips, note, list and what teaches."""
        look = self._look
        self.field = text_field(look, parent, placeholder=f"{icon('search')}  Search everything      /",
                           on_change=self._typed, anew=True)  # fmt: skip
        look.theme(self.field, "search")
        chips = ChipRow(look, parent, parent)
        self.all = chips.add("All", "accent", lambda _on: self.choose(""))
        self.chips = {
            kind: chips.add(looks.name, looks.color, partial(self._chosen, kind)) for kind, looks in ENTRY_KINDS.items()
        }
        self._note = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        text(look, self._note, icon("triangle-alert"), "small", "edited")
        self.note = text(look, self._note, "", "small", "text", wrap=True)
        area = box(look, parent, "clear")
        self.list.build(area)
        self._states = {
            "begin": EmptyState(
                look, area, area, icon="search", title="Search everything",
                words="Bullets, notes, memories, context files and facts,\nthe best first, each with the reason why.\n"
                "Any text will do: session_store.py, C++, \"an exact phrase\".",
                command='knowledge search "retry policy"',
            ),
            "nothing": EmptyState(
                look, area, area, icon="search", title="Nothing found",
                words="No entry has these words, nor anything like them.\nFewer or shorter words find more.",
                action="Clear the search", on_action=self.clear,
            ),
            "none-of-kind": EmptyState(
                look, area, area, icon="funnel", title="Nothing of this kind", words="Other kinds may have it.",
                action="Look in everything", on_action=lambda: self.choose(""),
            ),
        }  # fmt: skip
        self._teaching = Teaching(self.list.holder, self._states)
        look.every_tick(self.tick)
        self._show()

    def refresh(self, state: State) -> None:
        """Search again when the store has changed, or somebody asked elsewhere."""
        asked = state.of(self.name)
        if isinstance(asked, Asked) and asked is not self._asked:
            self._asked = asked
            dpg.set_value(self.field, asked.words)
            self.kind = ""
            self._typed(asked.words)
        seen = (state.home, state.snapshot, *(state.of(part) for part in PARTS))
        if len(seen) != len(self._seen) or any(one is not other for one, other in zip(seen, self._seen, strict=True)):
            self._seen = seen
            self._ask(again=True)
        self._shell.rows_shown(len(self.list.rows), self.found.entries or len(self.list.rows))

    def opened(self) -> None:
        """Whoever comes here wants to search: what is typed goes into the field."""
        self._look.keys_to(self.field)

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; see the tooltips of its buttons."""
        if key == "Esc" and (typing or self.query or self.kind):
            self.clear()
            dpg.focus_item(self.all.item)  # the field must not keep the keys
            return True
        if key in ("Up", "Down", "Page up", "Page down"):
            return self.list.press(key)
        if key in ("Enter", "Keypad Enter"):
            if self.pending or str(dpg.get_value(self.field)) != self.found.query:
                self._entered = True  # the rows are still those of other words
                return True
            row = self.list.current or next(iter(self.list.rows), None)
            if row is not None:
                self.go(row)
            return row is not None
        if typing:
            return False
        if key in LETTERS or key in ("/", "Ctrl+F"):
            self._look.keys_to(self.field, self._look.words if key in LETTERS else "")
            return True
        if key in ("Left", "Right"):
            kinds = ["", *chip_kinds(self.found)]
            self.choose(kinds[(kinds.index(self.kind) + (1 if key == "Right" else -1)) % len(kinds)])
            return True
        row = self.list.current
        wanted = {"Ctrl+C": "copy", "Ctrl+O": "open"}.get(key, "")
        if wanted and row is not None and wanted in row.can:
            self.act(wanted, row)
            return True
        return self.list.press(key)

    def tick(self) -> bool:
        """Break the texts anew when the list has another width."""
        if self.list.width == self._width:
            return False
        self._width = self.list.width
        self._fill(keep=True)
        return True

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""

    # --- asking ---

    def _typed(self, words: str) -> None:
        self.query = words
        self._ask()

    def clear(self) -> None:
        """Search for nothing."""
        dpg.set_value(self.field, "")
        self.kind = ""
        self._typed("")

    def choose(self, kind: str) -> None:
        """Only this kind, or with "" all."""
        self.kind = kind
        self._name_chips()
        self._ask()

    def _chosen(self, kind: str, on: bool) -> None:
        self.choose(kind if on else "")

    def _ask(self, again: bool = False) -> None:
        """Search for what is wanted now; one question at a time, and only the answer to the last one is shown."""
        wanted = (self.query, self.kind)
        if self.pending or (not again and wanted == (self.found.query, self.found.kind)):
            return
        self.pending = True
        workspace = self._shell.workspace

        def done(result: Result[Findings]) -> None:
            self.pending = False
            if wanted != (self.query, self.kind):
                self._ask(again=True)
                return
            kept = again and wanted == (self.found.query, self.found.kind)
            self.found = Findings(*wanted, notes=(str(result.error),)) if isinstance(result, Err) else result.value
            self._show(keep=kept)
            if self._entered:
                self._entered = False
                self.press("Enter", True)

        self._shell.submit("The search", lambda _job: find(workspace, *wanted), done)

    # --- what is shown ---

    def _show(self, keep: bool = False) -> None:
        self._name_chips()
        notes = self.found.notes
        dpg.configure_item(self._note, show=bool(notes))
        more = f"  (and {len(notes) - 1} more)" if len(notes) > 1 else ""
        dpg.set_value(self.note, notes[0] + more if notes else "")
        self._fill(keep)
        shown = bool(self.list.rows)
        teaching = "" if shown else "none-of-kind" if self.found.kind else "nothing"
        teaching = "begin" if not self.found.query.strip() else teaching
        self._teaching.show(teaching)
        if self._shell.state.view == self.name:
            self._shell.rows_shown(len(self.list.rows), self.found.entries or len(self.list.rows))

    def _fill(self, keep: bool) -> None:
        room, font = wrap_of(self._look, self.list.width) - 2, self._look.font_id("text")

        def fits(line: str) -> bool:
            size = dpg.get_text_size(line, font=font)
            return not size or size[0] <= room

        shown = rows(self.found, fits)
        hits: dict[object, Hit] = {}
        for hit in self.found.hits:
            hits.setdefault(f"{hit.entry.kind}:{hit.entry.path}:{hit.entry.key}", hit)
        self._hits = hits
        if not keep or self.list.selected not in hits:
            self.list.selected = None
        self.list.set_rows(shown, keep_place=keep)

    def _name_chips(self) -> None:
        found, kinds = self.found, chip_kinds(self.found)
        dpg.configure_item(self.all.item, show=bool(found.query.strip()))
        self.all.set_count(sum(found.counts.values()))
        self.all.set_on(not self.kind)
        for kind, chip in self.chips.items():
            dpg.configure_item(chip.item, show=bool(found.query.strip()) and (kind in kinds or kind == self.kind))
            chip.set_count(found.counts.get(kind, 0))
            chip.set_on(kind == self.kind)

    # --- what can be done ---

    def act(self, name: str, row: FlowRow) -> None:
        """Do one of `ACTIONS` to a row."""
        hit = self._hits.get(row.key)
        if hit is None:
            return
        if name == "copy":
            self._shell.copy(hit.entry.text, "Copied what was found")
        elif name == "open":
            self._shell.open_path(hit.entry.path)
        else:
            self.go(row)

    def go(self, row: FlowRow) -> None:
        """Open the view in which it stands, with it selected."""
        hit = self._hits.get(row.key)
        if hit is None:
            return
        view = HOMES.get(hit.entry.kind, "")
        if f"view.{view}" not in self._shell.actions:
            self._look_at(row)
            return
        self._look_at(row, lambda: self._shell.run(f"view.{view}"))

    def _look_at(self, row: FlowRow, then: Callable[[], object] | None = None) -> None:
        """Show a hit in the inspector, and do something else once it is selected."""
        hit, shell = self._hits.get(row.key), self._shell
        self._selecting += 1
        mine = self._selecting
        if hit is None:
            return
        self.list.select(row.key)
        entry, workspace = hit.entry, shell.workspace
        inside = Path(entry.path).is_relative_to(workspace.paths.knowledge)
        if entry.kind not in ("bullet", "note") or not inside:
            shell.select("file", Path(entry.path).relative_to(workspace.paths.knowledge).as_posix() if inside
                         else entry.path)  # fmt: skip
            if then is not None:
                then()
            return

        def looked(result: Result[Any]) -> None:
            if mine != self._selecting:
                return  # another one was chosen meanwhile
            found = None if isinstance(result, Err) else result.value
            if found is None:
                shell.toast("It is not there any more", icon="info", color="accent", seconds=3.0)
                self._ask(again=True)
                return
            shell.select("bullet", found.file, found.bullet.line, found.bullet.raw)
            if then is not None:
                then()

        shell.submit("What was found", lambda _job: bullet_of(workspace, entry), looked)
