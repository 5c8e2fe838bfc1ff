"""One record for a conversation of any tool."""

from __future__ import annotations

from dataclasses import dataclass

ROLES = ("user", "assistant", "tool", "system")


@dataclass(frozen=True)
class Turn:
    """One utterance. `start` and `end` are byte offsets into the source file; `time` is ISO 8601 or "".

    `ran` are the command lines in an assistant's text that a shell was called with, not merely shown. `call`: a tool's
    turn that holds what the assistant called it with, not what came back. `doubtful`: the format cannot tell whether
    `role` spoke, or a tool whose output looks like that.
    """

    role: str
    text: str
    time: str = ""
    start: int = 0
    end: int = 0
    ran: tuple[str, ...] = ()
    call: bool = False
    doubtful: bool = False


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
