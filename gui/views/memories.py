"""What agents can recall, as rows among the bullets; and a sentence about each context file that wants mending."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile

from core.base.markdown import without_emphasis
from core.base.result import ErrorInfo
from core.commands.context import GLOBAL, ContextFile, context_files
from core.commands.memories import (
    ARCHIVE,
    Memory,
    Moved,
    Saved,
    all_memories,
    memories_archive,
    memories_restore,
    newest_first,
    save,
)
from core.commands.panel.bullets import local_day
from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.toolkit.flow_rows import FlowRow, RowAction
from gui.toolkit.letters import shortened
from gui.views.looks import MEMORY_CATEGORIES, Looks, joined, short_folder, tags_words

MEMORIES = "memories"
"""The name of the category."""
SHOWN_LINES, SHOWN_LETTERS = 8, 420
"""The lines and letters of a memory in the list; the rest is in the inspector."""
ACTIONS = (
    RowAction("restore", "archive-restore", "Bring it back", "R"),
    RowAction("open", "external-link", "Open the file in the editor", "Enter"),
    RowAction("archive", "archive", "Archive: out of the way, comes back with one key", "Delete"),
)
SAVED_CAN = frozenset({"copy", "open", "archive"})
ARCHIVED_CAN = frozenset({"restore", "copy", "open"})
UNKNOWN = Looks("", "bookmark", "accent")


@dataclass(frozen=True)
class MemoryBook:
    """Both context files, the memories newest first, those in the archive, and sentences about files that were left
    out. `heavy` is what is wrong with all context together."""

    context: tuple[ContextFile, ...] = ()
    heavy: str = ""
    saved: tuple[Memory, ...] = ()
    archived: tuple[Memory, ...] = ()
    skipped: tuple[str, ...] = ()

    def find(self, key: object) -> Memory | None:
        """The memory of a row; its key is the path of its file."""
        return next((row for row in (*self.saved, *self.archived) if str(row.path) == key), None)

    @property
    def problems(self) -> tuple[str, ...]:
        """What was left out, and what is wrong with a context file."""
        wrong = (words for file in self.context for words in context_words(file))
        return (*self.skipped, *filter(None, [self.heavy]), *wrong)


def gather(workspace: Workspace, before: MemoryBook | None) -> MemoryBook:
    """Read all of it; on a worker. The same object as before when nothing has changed."""
    files, saved = context_files(workspace), all_memories(workspace)
    archived = all_memories(workspace, archived=True)
    now = MemoryBook(
        files.files,
        files.heavy,
        tuple(newest_first(saved.memories)),
        tuple(newest_first(archived.memories)),
        tuple(error.message for error in (*saved.skipped, *archived.skipped)),
    )
    return before if before == now and before is not None else now


def rows(book: MemoryBook) -> tuple[FlowRow, ...]:
    """The memories, newest first; below their own head those in the archive."""
    saved = tuple(row_of(memory, False) for memory in book.saved)
    if not book.archived:
        return saved
    head = FlowRow(("group", ARCHIVE, 0), "Archived", "no agent recalls these", "archive", "hint", head=True)
    return (*saved, head, *(row_of(memory, True) for memory in book.archived))


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


def which(rows: Sequence[Memory], memory: Memory) -> str:
    """The name of one of some memories for the commands: its file name, with the scope's id where both places have one
    such."""
    twins = [row for row in rows if row.path.name == memory.path.name]
    return memory.path.stem if len(twins) == 1 else f"{memory.scope}:{memory.id}"


def written(workspace: Workspace, words: str) -> Saved:
    """Save a new memory; words at its end that begin with # are its tags."""
    told = words.split()
    tags = [word.lstrip("#") for word in takewhile(lambda word: word[:1] == "#" and word.strip("#"), reversed(told))]
    kept = words if not tags else words[: words.rindex(f"#{tags[-1]}")]
    return save(workspace, kept.rstrip(), tag=tags[::-1])


def move(shell: Shell, book: MemoryBook, memory: Memory, action: str) -> None:
    """Archive a memory as it was seen, or restore it."""
    name = which(book.archived if action == "restore" else book.saved, memory)

    def moved(workspace: Workspace) -> Moved:
        if action == "restore":
            return memories_restore(workspace, name)
        return memories_archive(workspace, name, seen=memory.sha256)

    def done(value: Moved) -> None:
        said, sign = ("Archived", "archive") if value.archived else ("Back again", "archive-restore")
        now = replace(memory, path=value.path)
        back = partial(move, shell, MemoryBook(archived=(now,)), now, "restore")
        shell.toast(f"{said}: {shortened(memory.summary)}", icon=sign, action="Bring back" if value.archived else "",
                    on_action=back)  # fmt: skip

    def failed(error: ErrorInfo) -> None:
        shell.error(error)
        shell.refresh()

    shell.write("The memory", moved, done=done, failed=failed)
