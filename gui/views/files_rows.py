"""Source files that have notes, as rows, and one of them with its text and the lines its notes speak of. Plain data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from core.base.markdown import without_emphasis
from core.base.result import Err, ErrorInfo, Result
from core.commands.history import LedgerRow
from core.commands.panel.bullets import local_day
from core.commands.panel.files import (
    NotesOverview,
    NoteView,
    SourceText,
    Span,
    mentioned_lines,
    notes_overview,
    source_text,
)
from core.commands.statements import Found
from core.commands.workspace import Workspace
from gui.columns import Cell, Column
from gui.flow_rows import FlowRow, RowAction
from gui.icons import icon
from gui.views.knowledge_rows import short_name

COLUMNS = (
    Column("status", "", 26, sortable=False),
    Column("name", "File", 0, 1.3, sortable=False),
    Column("folder", "Folder", 0, 1.6, color="hint", sortable=False, least=380),
    Column("notes", "Notes", 58, role="mono", chars=6, sortable=False),
)
ACTIONS = (
    RowAction("strike", "strikethrough", "Strike through: stays in the file", "S"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("delete", "trash-2", "Delete the note", "Delete"),
)
CAN = frozenset({"strike", "copy", "delete"})
TAUGHT = """When a conversation taught something about a file,
the note stands beside the file's own text,
and follows the file when it is renamed."""


@dataclass(frozen=True)
class Loaded:
    """One source file with its notes: `lines` of its text, `spans` one a note; `problem` says why there is no text."""

    note: NoteView
    lines: tuple[str, ...] = ()
    spans: tuple[Span | None, ...] = ()
    text: SourceText | None = None
    problem: ErrorInfo | None = None

    @property
    def marks(self) -> frozenset[int]:
        """The first lines that notes speak of."""
        return frozenset(span[0] for span in self.spans if span is not None)


def gather(workspace: Workspace, before: NotesOverview | None) -> NotesOverview:
    """Which files have notes; on a worker."""
    return notes_overview(workspace, before)


def load(workspace: Workspace, note: NoteView) -> Loaded:
    """The text of a source file and where its notes belong; on a worker."""
    nowhere: tuple[Span | None, ...] = (None,) * len(note.rows)
    read: Result[SourceText] = source_text(workspace, note.source)
    if isinstance(read, Err):
        return Loaded(note, spans=nowhere, problem=read.error)
    lines = tuple(read.value.text.replace("\r\n", "\n").removesuffix("\n").split("\n"))
    spans = mentioned_lines([row.bullet.text for row in note.rows], lines)
    return Loaded(note, lines, tuple(spans), read.value)


def cell(note: NoteView, column: int) -> Cell:
    """What stands in a column of the list of files."""
    folder, name = os.path.split(note.source or note.note)
    if column == 0:
        if not note.exists:
            return icon("file-x"), "failed"
        return icon("file-pen" if note.renamed else "file-code"), "edited" if note.renamed else "accent"
    return (name, "text" if note.exists else "hint") if column == 1 else short_folder(folder) if column == 2 else str(
        len(note.rows)
    )  # fmt: skip


def short_folder(folder: str) -> str:
    """A folder with the home of the person as `~`."""
    home = os.path.expanduser("~")
    return "~" + folder[len(home) :] if folder == home or folder.startswith(home + os.sep) else folder


def matching(notes: Sequence[NoteView], words: str) -> list[int]:
    """Positions of the notes in whose path or text every word stands."""
    wanted = words.casefold().split()
    found = []
    for at, note in enumerate(notes):
        text = "\n".join([note.source, note.recorded, *(row.bullet.text for row in note.rows)]).casefold()
        if all(word in text for word in wanted):
            found.append(at)
    return found


def note_rows(loaded: Loaded) -> list[FlowRow]:
    """The notes in the order of the lines that they speak of; those about the whole file first."""
    order = sorted(range(len(loaded.note.rows)), key=lambda at: (loaded.spans[at] or (0, 0), -at))
    return [note_row(loaded.note.rows[at], at, loaded.spans[at]) for at in order]


def note_row(found: Found, at: int, span: Span | None) -> FlowRow:
    """One note as a row; its key is its position in the note file."""
    bullet = found.bullet
    came = bullet.provenance
    name = short_name(came.source).removeprefix("written ") if came is not None else ""
    where = "whole file" if span is None else f"line {span[0]}" if span[0] == span[1] else f"lines {span[0]}–{span[1]}"
    parts = [where, *([name, local_day(came.date)] if came is not None else ["by hand"])]
    text = "\n".join([without_emphasis(bullet.text), *(line.strip() for line in bullet.more)])
    if bullet.struck:
        return FlowRow(at, text, "  ·  ".join(parts), "strikethrough", "hint", "hint", CAN)
    picture = "file-text" if span is None else "arrow-left"
    return FlowRow(at, text, "  ·  ".join(parts), picture, "hint" if span is None else "accent", "text", CAN)


def capital(sentence: str) -> str:
    """A sentence as it begins on a page."""
    return sentence[:1].upper() + sentence[1:]


def headline(note: NoteView) -> tuple[str, str]:
    """A sentence about where the file is, and its colour; "" when there is nothing to say."""
    if not note.source:
        return "Nobody knows which file these notes are about.", "edited"
    if not note.exists:
        return "The file is not there any more. Its notes stay, and come back to it when it does.", "failed"
    if note.renamed:
        return f"It was renamed; before, it was {short_folder(note.recorded)}", "edited"
    return "", "hint"


def nothing_words(ledger: Sequence[LedgerRow]) -> str:
    """What is said where no file has notes: also that there were some, and where those are now."""
    became = [row.entry.get("notes_as_facts") for row in ledger]
    number = sum(one for one in became if isinstance(one, int))
    if not number:
        return TAUGHT
    if number == 1:
        gone = "1 note was about a file that is not on this disk,\nso it was kept as a fact: see Knowledge, Facts."
        return f"{gone}\n\n{TAUGHT}"
    return (
        f"{number:,} notes were about files that are not on this disk,\n"
        f"so they were kept as facts: see Knowledge, Facts.\n\n{TAUGHT}"
    )
