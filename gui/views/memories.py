"""The view of what agents can recall: memories; and a sentence about each context file that wants mending.

First the memories as rows, as plain functions; then the editor of one, what is done to them, and the view.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import dearpygui.dearpygui as dpg

from core.base.markdown import without_emphasis
from core.base.result import ErrorInfo, KnowledgeError, Result
from core.commands.context import GLOBAL, PROJECT, ContextFile, begin_context, context_files
from core.commands.memories import (
    ARCHIVE,
    Memory,
    Moved,
    all_memories,
    memories_archive,
    memories_edit,
    memories_restore,
    newest_first,
    read_memory,
    save,
)
from core.commands.panel.bullets import local_day
from core.commands.project import find_project
from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.state import Selection, State, Step
from gui.toolkit.editor import EditorKind, SmallField, Typed, shortened
from gui.toolkit.flow_rows import FlowRow, RowAction
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow
from gui.toolkit.messages import error_words
from gui.toolkit.theme import Look
from gui.views.list_view import CHANGED, SIDEWAYS, Editing, ListView, Teach
from gui.views.looks import MEMORY_CATEGORIES, Looks, joined, short_folder, tags_words

SHOWN_LINES, SHOWN_LETTERS = 8, 420
"""So much of a memory stands in the list; the rest is in the inspector."""
ACTIONS = (
    RowAction("edit", "pencil", "Edit", "Enter"),
    RowAction("restore", "archive-restore", "Bring it back", "R"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("open", "external-link", "Open the file in the editor", "O"),
    RowAction("archive", "archive", "Archive: out of the way, comes back with one key", "Delete"),
)
SAVED_CAN = frozenset({"edit", "copy", "open", "archive"})
ARCHIVED_CAN = frozenset({"restore", "copy", "open"})
UNKNOWN = Looks("", "bookmark", "accent")


@dataclass(frozen=True)
class MemoryBook:
    """What the view shows: both context files, the memories newest first, those in the archive, and sentences about
    files that were left out. `project` is its folder, "" for none; `heavy` is what is wrong with all context together.
    """

    context: tuple[ContextFile, ...] = ()
    heavy: str = ""
    saved: tuple[Memory, ...] = ()
    archived: tuple[Memory, ...] = ()
    skipped: tuple[str, ...] = ()
    project: str = ""

    def of(self, archived: bool) -> tuple[Memory, ...]:
        """The memories of the one list or the other."""
        return self.archived if archived else self.saved

    def find(self, key: object) -> Memory | None:
        """The memory of a row; its key is the path of its file."""
        return next((row for row in (*self.saved, *self.archived) if str(row.path) == key), None)


def gather(workspace: Workspace, before: MemoryBook | None) -> MemoryBook:
    """Read all of it; on a worker. The same object as before when nothing has changed."""
    files, saved = context_files(workspace), all_memories(workspace)
    archived, project = all_memories(workspace, archived=True), find_project(workspace)
    now = MemoryBook(
        files.files,
        files.heavy,
        tuple(newest_first(saved.memories)),
        tuple(newest_first(archived.memories)),
        tuple(error.message for error in (*saved.skipped, *archived.skipped)),
        str(project or ""),
    )
    return before if before == now and before is not None else now


def rows(book: MemoryBook, archived: bool = False) -> list[FlowRow]:
    """The memories of the one list or the other, newest first."""
    return [row_of(memory, archived) for memory in book.of(archived)]


def context_words(file: ContextFile) -> tuple[str, ...]:
    """Sentences about what is wrong with a context file: what its head lacks, and how far it is over its budget."""
    name = short_folder(str(file.path))
    said = tuple(problem.replace(str(file.path), name, 1) for problem in file.problems)
    if file.bytes > file.budget:
        said += (f"{name} has {file.bytes:,} of {file.budget:,} bytes: shorten it, or move what is seldom needed into "
                 "memories",)  # fmt: skip
    return said


def row_of(memory: Memory, archived: bool) -> FlowRow:
    """One memory as a row."""
    _, icon, color, _ = MEMORY_CATEGORIES.get(memory.category, UNKNOWN)
    scope = "" if memory.scope == GLOBAL else "this project"
    about = (tags_words(memory.tags), local_day(memory.created), scope, memory.saved_by)
    key, text = str(memory.path), without_emphasis(shown(memory.content))
    if archived:
        return FlowRow(key, text, joined(*about, "archived"), "archive", "hint", "muted", ARCHIVED_CAN)
    return FlowRow(key, text, joined(*about), icon, color, "text", SAVED_CAN)


def shown(content: str) -> str:
    """A text as it stands in the list: its beginning when it is long."""
    lines = content.split("\n")
    text = "\n".join(lines[:SHOWN_LINES])
    cut = len(lines) > SHOWN_LINES or len(text) > SHOWN_LETTERS
    return text[:SHOWN_LETTERS].rstrip() + " …" if cut else text


def which(book: MemoryBook, memory: Memory, archived: bool) -> str:
    """The name of a memory for the commands: its file name, with the scope's id where both places have one such."""
    twins = [row for row in book.of(archived) if row.path.name == memory.path.name]
    return memory.path.stem if len(twins) == 1 else f"{memory.scope}:{memory.id}"


def tags_in(words: str) -> list[str]:
    """The tags that somebody wrote with commas between them; a leading # is not part of a tag."""
    return [tag for part in words.split(",") if (tag := part.strip().lstrip("#").strip())]


ADDING = "\n new"  # no file is called so
NEW = "Agents can recall it"
STAYS = "Its tags and its date stay"
GONE = "The file is gone: it was deleted or archived outside. Yours can be saved as a new memory."


@dataclass(frozen=True)
class MemoryTarget:
    """What is edited: the row in whose place the editor stands, the memory (None: a new one) as it was seen, and its
    name for the commands."""

    key: str
    memory: Memory | None = None
    name: str = ""


class MemorySession(Editing[MemoryTarget]):
    """The editor of the list of memories. `project` is the folder of the project that a new one may go into."""

    NAME = "The memory"
    REMEMBERED = False
    KIND = EditorKind(
        again=("Put mine there", "Write your words over what stands in the file now"),
        theirs=("Keep theirs", "Leave the file as it is; your words can be brought back"),
        lines=True,
        least=4,
        most=14,
        spare=1,
        small=(SmallField("tags", 300, placeholder=f"{icon('tag')}  Tags, with commas"),),
        switch=("Only in this project", "Save it into the project around this folder instead of your home"),
    )
    project = ""

    def edit(self, memory: Memory, name: str) -> None:
        self.open(MemoryTarget(str(memory.path), memory, name), memory.content, STAYS)

    def add(self, words: str = "", tags: str = "", note: str = NEW, key: str = ADDING) -> None:
        """Open the editor over a new row at the top, or in the place of another one."""
        switch = False if self.project else None
        self.open(MemoryTarget(key), "", note, "Save it", mine=words or None, small={"tags": tags}, switch=switch)

    def key_of(self, target: MemoryTarget) -> Hashable:
        return target.key

    def reopen(self, target: MemoryTarget, typed: Typed) -> None:
        if target.memory is None:
            self.add(typed.words, typed.small["tags"])
        else:
            self.open(target, target.memory.content, STAYS, mine=typed.words)

    def save(self, target: MemoryTarget) -> None:
        """Write the words into the memory as it was seen, or as a new one."""
        typed = self.editor.now
        if target.memory is not None and typed.words.strip() == target.memory.content:
            self.close()
            return
        project = self.project if target.memory is None and typed.switch else ""
        tags = tags_in(typed.small["tags"])
        self.write(target, lambda workspace: written(workspace, target, typed.words, tags, project))

    def again(self, target: MemoryTarget) -> None:
        """Write over what the question has shown."""
        self.editor.settle()
        words = self.editor.words
        self.write(target, lambda workspace: written(workspace, target, words, (), ""))

    def refused(self, target: MemoryTarget, error: ErrorInfo) -> None:
        """What was not saved, and why; of a file that changed it shows what stands there now, before anything is
        written over it."""
        old = target.memory
        if old is None or error.code not in ("changed-outside", "no-match"):
            self.editor.refuse(error_words(error))
            return

        def looked(result: Result[Any]) -> None:
            if self.target is None:
                return
            if isinstance(result, KnowledgeError):
                self.editor.refuse(error_words(result.error))
                return
            found: Memory | None = result.value
            if found is None:
                typed = self.editor.now
                self.add(typed.words, typed.small["tags"], GONE, target.key)
            else:
                self.target = MemoryTarget(target.key, found, target.name)
                self.editor.ask(f"{CHANGED} Now it says: {shortened(' '.join(found.content.split()))}")

        self._shell.submit(
            self.NAME, lambda _job: read_memory(old.path, old.scope) if old.path.exists() else None, looked
        )


def written(workspace: Workspace, target: MemoryTarget, words: str, tags: Sequence[str], project: str) -> Any:
    """Put the words into that memory, or into a new one; on a worker."""
    if target.memory is None:
        return save(workspace, words, tag=list(tags), project=project)
    try:
        return memories_edit(workspace, target.name, words, seen=target.memory.sha256)
    except KnowledgeError as failed:
        if failed.error.code != "unchanged":
            raise
        return None  # the same words stand there already, whoever wrote them


Way = Literal["did", "back", "on"]
DID: Way = "did"
BACK: Way = "back"
ON: Way = "on"
"""How a move came about: as something new, or by going back or on in the history of the window."""


SELECTED = "file"
KEYS = {"F2": "edit", "E": "edit", "Delete": "archive", "R": "restore", "Ctrl+C": "copy", "O": "open"}
TEACH = {
    "none": Teach(
        "bookmark",
        "No memories yet",
        "A memory is a short text that an agent recalls when it fits:\na preference, a correction, how something is "
        "done here.\nAgents save them over MCP, you with Add or on the command line.",
        command='knowledge save "Use tabs in Makefiles" --tag preference',
        action="Write the first one",
        act="begin_add",
    ),
}


class MemoriesView(ListView[MemoryBook]):
    """Memories: written, edited in place, archived, restored."""

    name = "memories"
    gather = staticmethod(gather)
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
    DATA = MemoryBook
    ACTIONS = ACTIONS
    ACTION_KEYS = KEYS
    TEACH = TEACH
    ADD = "Write a memory by hand"
    session: MemorySession

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell, MemoryBook())
        self.archived = False
        self.session = MemorySession(look, shell, self.list, on_arrange=self.rearrange, on_saved=self._saved)
        self._new = ""

    def build(self, parent: int) -> None:
        super().build(parent)
        self.show(False)

    def above(self, parent: int, view: int) -> None:
        """A chip a pile."""
        chips = ChipRow(self._look, parent, view)
        self.piles = {
            False: chips.add("Memories", "accent", lambda _on: self.show(False)),
            True: chips.add("Archived", "waiting", lambda _on: self.show(True)),
        }

    def below(self, parent: int) -> None:
        """What was left out, and what is wrong with a context file."""
        self.add_remark(parent)

    # --- what is shown ---

    def refresh(self, state: State) -> None:
        """Show what was read; select the memory that was just saved, once it has been read."""
        super().refresh(state)
        row = self.list.row(self._new) if self._new else None
        if row is not None:
            self._new = ""
            self.list.select(row.key)
            self.pick(row)

    def take(self, data: MemoryBook) -> None:
        """Count the piles; one with nothing in it needs no chip."""
        self.session.project = data.project
        for archived, chip in self.piles.items():
            chip.set_count(len(data.of(archived)))
            dpg.configure_item(chip.item, show=bool(data.archived))
        if self.archived and not data.archived:
            self.show(False)
        wrong = (words for file in data.context for words in context_words(file))
        self.tell((*data.skipped, *filter(None, [data.heavy]), *wrong))

    def rows(self) -> tuple[Sequence[FlowRow], int]:
        """The saved memories or those in the archive."""
        found = rows(self.data, self.archived)
        return found, len(found)

    def teach(self, total: int) -> str:
        return "none"

    def show(self, archived: bool) -> None:
        """Show the saved memories or those in the archive."""
        if self.session.target is not None:
            archived = False  # the editor stands among the saved ones
        self.archived = archived
        for pile, chip in self.piles.items():
            chip.set_on(pile == archived)
        self.arrange(keep=False)

    def do(self, key: str) -> bool:
        """The other list; a new memory; the context files."""
        if key == "N":
            self.begin_add()
        elif key in SIDEWAYS:
            self.show(not self.archived and bool(self.data.archived))
        elif key in ("Ctrl+O", "Ctrl+Shift+O"):
            self.act_on_context(GLOBAL if key == "Ctrl+O" else PROJECT)
        else:
            return False
        return True

    def select(self, row: FlowRow) -> None:
        """The inspector shows the whole file: the list shows the beginning of a long one."""
        memory = self.data.find(row.key)
        if memory is not None:
            knowledge = self._shell.workspace.paths.knowledge
            inside = memory.path.is_relative_to(knowledge)
            self._shell.select(SELECTED, memory.path.relative_to(knowledge).as_posix() if inside else str(memory.path))

    def follow(self, chosen: Selection) -> bool:
        """Mark the memory of a file that was chosen: below the knowledge folder, or by its whole path."""
        path = str(self._shell.workspace.paths.knowledge / chosen.key)
        memory = self.data.find(path) if chosen.kind == SELECTED and chosen.key else None
        if memory is None:
            self.list.select(None, scroll=False)
            return True
        if (memory.path.parent.name == ARCHIVE) != self.archived:
            self.show(not self.archived)
        if self.list.selected != path:
            self.list.select(path)
        return True

    # --- changes ---

    def act(self, name: str, row: FlowRow) -> None:
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
            self._move(memory, name)

    def edit(self, row: FlowRow) -> None:
        memory = self.data.find(row.key)
        if memory is not None:
            self.session.edit(memory, which(self.data, memory, False))

    def begin_add(self) -> None:
        if self.session.target is None:
            self.show(False)
            self.session.add()

    def _move(self, memory: Memory, action: str, way: Way = DID) -> None:
        """Archive a memory as it was seen, or restore it: something new, or a step of the window's history."""
        name = which(self.data, memory, action == "restore")

        def moved(workspace: Workspace) -> Moved:
            if action == "restore":
                return memories_restore(workspace, name)
            return memories_archive(workspace, name, seen=memory.sha256)

        def failed(error: ErrorInfo) -> None:
            self._shell.error(error)
            self._shell.refresh()

        self._shell.write("The memory", moved, done=lambda value: self._moved(memory, value, way), failed=failed)

    def _moved(self, memory: Memory, value: Moved, way: Way) -> None:
        now, history = replace(memory, path=value.path), self._shell.history
        action, other = "restore" if value.archived else "archive", ON if way == BACK else BACK
        step = Step(partial(self._move, now, action, other), f"memory {memory.scope} {memory.id}")
        if way == DID:
            history.did(step)
        else:
            (history.went_back if way == BACK else history.went_on)(step, step.run)

        def again() -> None:
            """The way that the last step of the history would go, once."""
            if step in history.done or step in history.taken_back:
                step.act()

        said, icon = ("Archived", "archive") if value.archived else ("Back again", "archive-restore")
        self._shell.toast(f"{said}: {shortened(memory.summary)}", icon=icon,
                          action="Bring back" if value.archived else "", on_action=again)  # fmt: skip

    def _saved(self, target: MemoryTarget, value: Any) -> None:
        """Say what was saved, with the way back: `knowledge undo` has one for what was edited in the home, not in a
        project's folder."""
        if target.memory is None:
            memory: Memory = value.memory
            self._shell.toast(f"Saved memory {memory.id}: {shortened(memory.summary)}")
            self._new = str(memory.path)
            return
        run = str(getattr(value, "run", "") or "") if target.memory.scope == GLOBAL else ""
        back = partial(self._shell.undo, run)
        if run:
            self._shell.history.did(Step(back, run))
        self._shell.toast("Changed the memory", action="Undo" if run else "", on_action=back)

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
                lambda workspace: begin_context(workspace, scope),
                done=lambda path: self._shell.open_path(str(path)),
                said="Made context.md, ready to be written",
            )
