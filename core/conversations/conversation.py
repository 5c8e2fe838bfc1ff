"""One record for a conversation of any tool."""

from __future__ import annotations

from dataclasses import dataclass

ROLES = ("user", "assistant", "tool", "system")


@dataclass(frozen=True)
class Turn:
    """One utterance. `start` and `end` are byte offsets into the source file; `time` is ISO 8601 or ""."""

    role: str
    text: str
    time: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True)
class Conversation:
    """A conversation with its turns in the order they were spoken.

    `folder` is the absolute working folder of the session, or "" when the source does not tell.
    `format` names the reader that understood it (`plain`, `aider`, `specstory`, ...).
    """

    id: str
    format: str
    turns: tuple[Turn, ...]
    title: str = ""
    folder: str = ""
    started: str = ""
    ended: str = ""
    skipped: int = 0
