"""The shape of what the inspector shows, and a text as rows that are not endlessly long. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gui.toolkit.flow_rows import FlowRow

CHUNK = 1200
"""So many characters of a text stand in one row; a long one is several."""
FILE_BYTES = 200_000
COPY = frozenset({"copy"})
HERE = ("text", "here")
"""The row of a file's text that is brought into sight."""
# name -> (row, label, icon, kind, tooltip, key). The first of a row is always there: a hidden one would shift the row.
BUTTONS: dict[str, tuple[int, str, str, str, str, str]] = {
    "open": (0, "Open", "external-link", "secondary", "Open it in the program that the system has for it", "Alt+O"),
    "restore": (0, "Restore", "archive-restore", "secondary", "Put it back where it was", "Alt+R"),
    "harvest": (0, "Harvest…", "wheat", "secondary", "Harvest what waits: a dry run first", "Alt+H"),
    "show": (0, "Show", "eye", "secondary", "Show it in its view", "Alt+V"),
    "from": (0, "Conversation", "message-square", "secondary", "The conversation that it came from", "Alt+F"),
    "copy": (1, "Copy", "copy", "ghost", "Put it on the clipboard", "Alt+C"),
    "done": (1, "Done", "check", "ghost", "Mark done", "Alt+D"),
    "reopen": (1, "Open again", "undo-2", "ghost", "Bring it back to the open tasks", "Alt+D"),
    "accept": (1, "Let in", "check", "ghost", "Put it where it belongs", "Alt+D"),
    "strike": (1, "", "strikethrough", "ghost", "Strike through, or take the line away", "Alt+S"),
    "delete": (1, "", "trash-2", "ghost", "Delete", "Alt+Delete"),
}


@dataclass(frozen=True)
class Tab:
    """One part of what is shown below; `empty` says in a sentence that there is nothing."""

    name: str
    rows: tuple[FlowRow, ...]
    empty: str = ""
    counted: bool = True  # whether the number of rows says something


@dataclass(frozen=True)
class Page:
    """One selected thing. `body` is a text that wraps, `facts` are short lines below; `can` names the buttons that are
    offered; `subject` is what they act upon; `copy` goes to the clipboard, by a button called `copied`."""

    icon: str
    color: str
    title: str
    path: str = ""
    body: str = ""
    facts: tuple[str, ...] = ()
    can: frozenset[str] = frozenset()
    tabs: tuple[Tab, ...] = ()
    warning: str = ""
    subject: Any = None
    copy: str = ""
    copied: str = "Copy"
    at: Any = None  # the key of the row that is brought into sight


def chunks(text: str, limit: int = CHUNK) -> list[str]:
    """A text in pieces of at most `limit` characters, broken at a paragraph, a line or a space where there is one."""
    text = "".join(letter if letter.isprintable() or letter in "\n\t" else " " for letter in text.replace("\r", ""))
    pieces = []
    while len(text) > limit:
        cut = max(text.rfind("\n\n", limit // 2, limit), 0) or max(text.rfind("\n", limit // 2, limit), 0)
        cut = cut or max(text.rfind(" ", limit // 2, limit), 0) or limit
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip("\n")
    return [*pieces, text]


def text_rows(text: str, line: int = 0) -> tuple[FlowRow, ...]:
    """The text of a file as rows; what begins at `line` (from 1; 0: nothing), to the next item or empty line, is a row
    of its own that stands out."""
    lines = text.split("\n")
    if not text or not 0 < line <= len(lines):
        return _rows("all", text) if text else ()
    end = line
    while end < len(lines) and lines[end].strip() and not lines[end].startswith(("- ", "#")):
        end += 1
    here = FlowRow(HERE, "\n".join(lines[line - 1 : end]), f"line {line}", "arrow-right", "accent", "text", COPY)
    before, after = "\n".join(lines[: line - 1]).strip("\n"), "\n".join(lines[end:]).strip("\n")
    return (*(_rows("before", before) if before else ()), here, *(_rows("after", after) if after else ()))


def _rows(part: str, text: str) -> tuple[FlowRow, ...]:
    pieces = enumerate(chunks(text))
    return tuple(FlowRow(("text", part, at), piece, "", "", "hint", "muted", COPY) for at, piece in pieces)
