"""The view of what conversations start with and what agents can recall: context files with their budgets, memories."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import dearpygui.dearpygui as dpg

from core.commands.context import GLOBAL, PROJECT, begin_context
from core.commands.memories import ARCHIVE
from gui.shell import Shell
from gui.state import State
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow, box, gap, spread
from gui.toolkit.messages import EmptyState, Teaching
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text, text_field
from gui.views import memories_rows
from gui.views.memories_changes import MemoryChanges
from gui.views.memories_context import ContextCards
from gui.views.memories_rows import ACTIONS, TAG_CHIPS, MemoryBook, rows, tags_of, which
from gui.views.memories_session import MemorySession

SELECTED = "file"
KEYS = {"F2": "edit", "E": "edit", "Delete": "archive", "R": "restore", "Ctrl+C": "copy", "O": "open"}


class MemoriesView:
    """Context cards above, memories below: filtered, written, edited in place, archived, restored. See gui/view.py."""

    name = "memories"
    gather = staticmethod(memories_rows.gather)
    keys = (
        ("N", "Write a memory"),
        ("F2, E, Enter", "Edit the memory"),
        ("Ctrl+Enter", "Save what is written"),
        ("Delete", "Archive the memory"),
        ("R", "Bring an archived memory back"),
        ("Left, Right", "The saved or the archived ones"),
        ("Ctrl+C", "Copy the memory"),
        ("O", "Open its file in the editor"),
        ("Ctrl+O, Ctrl+Shift+O", "Open or begin the context.md of the home, of the project"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.data = MemoryBook()
        self.archived, self.words = False, ""
        self.tags: tuple[str, ...] = ()
        self.changes = MemoryChanges(shell, lambda: self.data, self._select_when_read)
        self.cards = ContextCards(look, self.act_on_context)
        self.list = FlowList(look, actions=ACTIONS, on_select=self._select,
                             on_open=shell.in_order(self.begin_edit), on_action=shell.in_order(self.act))  # fmt: skip
        self.session = MemorySession(look, shell, self.list, on_arrange=self._rearrange, on_saved=self.changes.saved)
        self._seen: object = None
        self._selected: object = None
        self._new = ""

    def build(self, parent: int) -> None:
        """Make cards, chips, filter, list, editor and what teaches."""
        look = self._look
        self.cards.build(parent)
        chips = ChipRow(look, parent, parent)
        self.piles = {
            False: chips.add("Memories", "accent", lambda _on: self.show(False)),
            True: chips.add("Archived", "waiting", lambda _on: self.show(True)),
        }
        self.tag_chips = [chips.add("", f"ramp:{at % 5 + 1}", partial(self._tag, at)) for at in range(TAG_CHIPS)]
        left, right = spread(look, parent)
        self.filter = text_field(look, left, placeholder=f"{icon('funnel')}  Filter by word, tag or date      /",
                            on_change=self._filter)  # fmt: skip
        gap(look, right, 1)
        self.add = Button(look, right, "Add", self.begin_add, icon="plus", kind="secondary",
                          tip="Write a memory by hand", shortcut="N")  # fmt: skip
        self._skipped = int(dpg.add_group(horizontal=True, parent=parent, show=False))
        text(look, self._skipped, icon("triangle-alert"), "small", "edited")
        self._skipped_words = text(look, self._skipped, "", "small", "muted", wrap=True)
        area = box(look, parent, "clear")
        self.list.build(area)
        self.session.build()
        self._states = {
            "none": EmptyState(
                look, area, area, icon="bookmark", title="No memories yet",
                words="A memory is a short text that an agent recalls when it fits:\na preference, a correction, "
                "how something is done here.\nAgents save them over MCP, you with Add or on the command line.",
                command='knowledge save "Use tabs in Makefiles" --tag preference', action="Write the first one",
                on_action=self.begin_add,
            ),
            "no-archived": EmptyState(
                look, area, area, icon="archive", title="Nothing is archived",
                words="What you archive is out of the way of agents and\nof the search, and comes back with one key.",
            ),
            "nothing": EmptyState(
                look, area, area, icon="funnel", title="Nothing matches", words="No memory has these words and tags.",
                action="Clear the filter", on_action=self._clear_filter,
            ),
        }  # fmt: skip
        self._teaching = Teaching(self.list.holder, self._states)
        self.show(False)

    def refresh(self, state: State) -> None:
        """Take over what was read, keep the place, follow a selection made elsewhere."""
        data = state.of(self.name)
        if isinstance(data, MemoryBook) and data is not self._seen:
            self._seen = self.data = data
            self.session.project = data.project
            self.cards.show(data.context, data.heavy)
            for archived, chip in self.piles.items():
                chip.set_count(len(data.of(archived)))
            dpg.configure_item(self._skipped, show=bool(data.skipped))
            dpg.set_value(self._skipped_words, _left_out(data.skipped))
            self._arrange(keep=True)
            self._show_new()
        chosen = self._shell.state.selected
        if chosen is not self._selected:
            self._selected = chosen
            self._follow(chosen.key if chosen.kind == SELECTED else "")

    def _follow(self, file: str) -> None:
        """Select the memory of a file that was chosen elsewhere: below the knowledge folder, or by its whole path."""
        path = self._shell.workspace.paths.knowledge / file
        memory = self.data.find(str(path)) if file else None
        if memory is None:
            self.list.select(None, scroll=False)
            return
        if (memory.path.parent.name == ARCHIVE) != self.archived:
            self.show(not self.archived)
        if self.list.row(str(path)) is None:
            self._clear_filter()
        if self.list.selected != str(path):
            self.list.select(str(path))

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; see the tooltips of its buttons."""
        if self.session.press(key):
            return True
        if self.session.target is not None and typing:
            return False
        if key == "Esc" and (typing or self.words or self.tags):
            self._clear_filter()
            dpg.focus_item(self.add.item)
            return True
        if typing:
            return key in ("Up", "Down", "Page up", "Page down") and self.list.press(key)
        simple: dict[str, Callable[[], object]] = {
            "/": lambda: self._look.keys_to(self.filter),
            "Ctrl+F": lambda: self._look.keys_to(self.filter),
            "N": self.begin_add,
            "Left": lambda: self.show(not self.archived),
            "Right": lambda: self.show(not self.archived),
            "Ctrl+O": lambda: self.act_on_context(GLOBAL),
            "Ctrl+Shift+O": lambda: self.act_on_context(PROJECT),
        }
        if key in simple:
            simple[key]()
            return True
        wanted = KEYS.get(key, "")
        row = self.list.current
        if wanted and row is not None and wanted in row.can:
            self.act(wanted, row)
            return True
        return self.list.press(key)

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""

    # --- what is shown ---

    def show(self, archived: bool) -> None:
        """Show the saved memories or those in the archive."""
        if self.session.target is not None:
            archived = False  # the editor stands among the saved ones
        self.archived, self.tags = archived, ()
        for pile, chip in self.piles.items():
            chip.set_on(pile == archived)
        self._arrange(keep=False)

    def _arrange(self, keep: bool) -> None:
        all_of = self.data.of(self.archived)
        names = self._name_tags()
        self.tags = tuple(tag for tag in self.tags if tag in names)
        shown = rows(self.data, self.archived, self.words, self.tags)
        found, target = len(shown), self.session.target
        if target is not None and all(row.key != target.key for row in shown):
            shown.insert(0, FlowRow(target.key, ""))  # an open editor never loses its place
        self.list.set_rows(shown, keep_place=keep)
        self.session.cover()
        teaching = "" if shown else "nothing" if all_of else "no-archived" if self.archived else "none"
        self._teaching.show(teaching)
        self._shell.rows_shown(found, len(all_of), self.name)

    def _name_tags(self) -> list[str]:
        """Give the chips the tags of this list; what is chosen keeps its place also when it is seldom."""
        tags = tags_of(self.data.of(self.archived))
        for chip, (name, number) in zip(self.tag_chips, tags, strict=False):
            chip.name = f"#{name}"
            chip.set_count(number)
            chip.set_on(name in self.tags)
        for at, chip in enumerate(self.tag_chips):
            dpg.configure_item(chip.item, show=at < len(tags))
        return [name for name, _ in tags]

    def _tag(self, at: int, on: bool) -> None:
        name = self.tag_chips[at].name.removeprefix("#")
        self.tags = (*self.tags, name) if on else tuple(tag for tag in self.tags if tag != name)
        self._arrange(keep=False)

    def _rearrange(self) -> None:
        self._arrange(keep=True)
        if self.session.target is None:
            dpg.focus_item(self.add.item)  # the field must not keep the keys

    def _filter(self, words: str) -> None:
        self.words = words
        self._arrange(keep=False)

    def _clear_filter(self) -> None:
        dpg.set_value(self.filter, "")
        self.tags = ()
        self._filter("")

    def _select(self, row: FlowRow) -> None:
        """The inspector shows the whole file: the list shows the beginning of a long one."""
        memory = self.data.find(row.key)
        if memory is not None:
            knowledge = self._shell.workspace.paths.knowledge
            inside = memory.path.is_relative_to(knowledge)
            self._shell.select(SELECTED, memory.path.relative_to(knowledge).as_posix() if inside else str(memory.path))
            self._selected = self._shell.state.selected

    # --- changes ---

    def act(self, name: str, row: FlowRow) -> None:
        """Do one of `ACTIONS` to a row."""
        memory = self.data.find(row.key)
        if memory is None:
            return
        if name == "copy":
            self._shell.copy(memory.content, "Copied the memory")
        elif name == "open":
            self._shell.open_path(str(memory.path))
        elif name == "edit":
            self.begin_edit(row)
        else:
            self.list.leave(row.key)
            self.changes.move(memory, name)

    def begin_edit(self, row: FlowRow) -> None:
        """Open the editor in the place of a row."""
        memory = self.data.find(row.key)
        if memory is None or "edit" not in row.can or self.session.target is not None:
            return
        self.list.select(row.key)
        self._select(row)
        self.session.edit(memory, which(self.data, memory, False))

    def begin_add(self) -> None:
        """Open the editor over a new row at the top."""
        if self.session.target is None:
            self.show(False)
            self.session.add()

    def _select_when_read(self, key: str) -> None:
        self._new = key

    def _show_new(self) -> None:
        """Select the memory that was just saved, once it has been read."""
        row = self.list.row(self._new) if self._new else None
        if row is not None:
            self._new = ""
            self.list.select(row.key)
            self._select(row)

    # --- context files ---

    def act_on_context(self, scope: str) -> None:
        """Open a context file in the editor; where there is none, make one with valid frontmatter first."""
        file = next((one for one in self.data.context if one.scope == scope), None)
        if file is None:
            self._shell.toast("There is no project around this folder", icon="info", color="accent", seconds=3.0)
        elif file.exists:
            self._shell.open_path(str(file.path))
        else:
            self._shell.write(
                "The context file",
                lambda core: begin_context(core, scope),
                done=lambda path: self._shell.open_path(str(path)),
                said="Made context.md, ready to be written",
            )


def _left_out(skipped: tuple[str, ...]) -> str:
    """What was left out, in a sentence."""
    return "" if not skipped else skipped[0] + (f"  (and {len(skipped) - 1} more)" if len(skipped) > 1 else "")
