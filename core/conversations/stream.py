"""Reads a very long transcript line by line: its size on disk is not what it needs of memory.

Only formats of one record a line in which a turn can be told without what comes much later: Claude Code's sessions in
one pass, Codex's rollouts in two. Every turn is handed on as soon as it is whole; hash and words come of one reading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO, NamedTuple

from core.conversations.conversation import Conversation, Turn
from core.conversations.damage import as_utf8, many_damaged
from core.conversations.formats import claude_code, codex
from core.conversations.read import HEAD_BYTES, format_of
from core.conversations.records import LineSource, keys_in


class Streamed(NamedTuple):
    """A conversation without its turns, the sha256 (hex) and size of the file as it was read, and why that reading must
    not count, "" when it may."""

    conversation: Conversation
    sha256: str
    size: int
    damage: str = ""


def stream_turns(name: str, opened: Callable[[], BinaryIO], sink: Callable[[Turn], None]) -> Streamed | None:
    """Hand each turn of a file to `sink`, in order. `opened` gives the file from its beginning, twice if need be. None,
    with nothing handed on, for a format that must be read as a whole. Raises OSError."""
    with opened() as file:
        head = file.read(HEAD_BYTES)
    if as_utf8(head, cut=True) is not head:
        return None
    kind = format_of(head)
    keys = keys_in(head.decode("utf-8", "replace").split("\n", 1)[0])
    if kind not in ("claude_code", "codex") or "display" in keys or {"session_id", "ts", "text"} <= keys:
        return None
    with opened() as file:
        lines = LineSource(file)
        if kind == "claude_code":
            return _streamed(claude_code.stream(name, lines, sink), lines)
        with opened() as again:
            found = codex.stream(name, lines, LineSource(again), sink)
        return _streamed(found, lines)


def _streamed(found: Conversation, lines: LineSource) -> Streamed:
    return Streamed(found, lines.sha256, lines.size, many_damaged(lines.damaged, lines.records))
