"""Context files and memories as rows and words, without a window. Plain functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.base.result import Err, Ok, Result
from core.commands.context import GLOBAL, ContextFile, context_files
from core.commands.memories import Memory, all_memories, recall
from core.commands.project import find_project
from core.commands.view import local_day
from core.commands.workspace import Workspace
from gui.toolkit.flow_rows import SEPARATOR, FlowRow, RowAction
from gui.views.looks import MEMORY_CATEGORIES, Looks

SHOWN_LINES, SHOWN_LETTERS = 12, 900
"""So much of a memory stands in the list; the rest is in the inspector."""
TAG_CHIPS = 8
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


def gather(workspace: Workspace, before: MemoryBook | None) -> Result[MemoryBook]:
    """Read all of it; on a worker. The same object as before when nothing has changed."""
    files, saved = context_files(workspace), all_memories(workspace)
    archived, project = all_memories(workspace, archived=True), find_project(workspace)
    for one in (files, saved, archived, project):
        if isinstance(one, Err):
            return one
    assert isinstance(files, Ok) and isinstance(saved, Ok) and isinstance(archived, Ok) and isinstance(project, Ok)
    now = MemoryBook(
        files.value.files,
        files.value.heavy,
        tuple(recall(saved.value.memories, "")),
        tuple(recall(archived.value.memories, "")),
        tuple(error.message for error in (*saved.value.skipped, *archived.value.skipped)),
        str(project.value or ""),
    )
    return Ok(before if before == now and before is not None else now)


def rows(book: MemoryBook, archived: bool = False, words: str = "", tags: Sequence[str] = ()) -> list[FlowRow]:
    """The memories that have all the words (in text, tags or date) and all the tags, newest first."""
    wanted = words.casefold().split()
    found = []
    for memory in book.of(archived):
        text = "\n".join([memory.content, *memory.tags, memory.created[:10]]).casefold()
        if all(word in text for word in wanted) and all(tag in memory.tags for tag in tags):
            found.append(row_of(memory, archived))
    return found


def row_of(memory: Memory, archived: bool) -> FlowRow:
    """One memory as a row."""
    _, icon, color, _ = MEMORY_CATEGORIES.get(memory.category, UNKNOWN)
    if archived:
        icon, color = "archive", "hint"
    scope = ("this project",) if memory.scope != GLOBAL else ()
    parts = [", ".join(memory.tags), local_day(memory.created), *scope, "archived" if archived else ""]
    meta = SEPARATOR.join(part for part in parts if part)
    can = ARCHIVED_CAN if archived else SAVED_CAN
    return FlowRow(str(memory.path), shown(memory.content), meta, icon, color, "muted" if archived else "text", can)


def shown(content: str) -> str:
    """A text as it stands in the list: its beginning when it is long."""
    lines = content.split("\n")
    text = "\n".join(lines[:SHOWN_LINES])
    cut = len(lines) > SHOWN_LINES or len(text) > SHOWN_LETTERS
    return text[:SHOWN_LETTERS].rstrip() + " …" if cut else text


def tags_of(memories: Sequence[Memory], most: int = TAG_CHIPS) -> list[tuple[str, int]]:
    """The most used tags with their numbers, by number and then by name."""
    counted = Counter(tag for memory in memories for tag in memory.tags)
    return sorted(counted.items(), key=lambda row: (-row[1], row[0].casefold(), row[0]))[:most]


def which(book: MemoryBook, memory: Memory, archived: bool) -> str:
    """The name of a memory for the commands: its file name, with the scope's id where both places have one such."""
    twins = [row for row in book.of(archived) if row.path.name == memory.path.name]
    return memory.path.stem if len(twins) == 1 else f"{memory.scope}:{memory.id}"


def tags_in(words: str) -> list[str]:
    """The tags that somebody wrote with commas between them; a leading # is not part of a tag."""
    return [tag for part in words.split(",") if (tag := part.strip().lstrip("#").strip())]
