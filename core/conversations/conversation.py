"""One record for a conversation of any tool."""

from __future__ import annotations

from dataclasses import dataclass

from core.conversations.events import Call, Command, Event

ROLES = ("user", "assistant", "tool", "system")


@dataclass(frozen=True)
class Turn:
    """One utterance, and what happened in it. `start` and `end` are byte offsets into the source file; `time` is
    ISO 8601 or ""; `events` are in the order in which they began. `agent` names the sub-agent that speaks, or "" for
    the conversation's own assistant and person. `doubtful`: the format cannot tell whether `role` spoke, or a tool
    whose output looks like that.
    """

    role: str
    text: str
    time: str = ""
    start: int = 0
    end: int = 0
    events: tuple[Event, ...] = ()
    agent: str = ""
    doubtful: bool = False

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tools that were called in this turn."""
        return tuple(event for event in self.events if isinstance(event, Call))

    @property
    def commands(self) -> tuple[Command, ...]:
        """The command lines that were run in this turn, not merely shown."""
        return tuple(event for event in self.events if isinstance(event, Command))

    @property
    def is_call(self) -> bool:
        """Whether a tool's turn holds what the assistant called it with, not what came back."""
        return self.role == "tool" and bool(self.calls)


@dataclass(frozen=True)
class Conversation:
    """A conversation with its turns in the order they were spoken.

    `folder` is the absolute working folder of the session, or "" when the source does not tell.
    `format` names the reader that understood it (`plain`, `aider`, `specstory`, ...), `model` the language model that
    answered last, `repository` and `branch` what was checked out when it began; "" where the file does not tell.
    """

    id: str
    format: str
    turns: tuple[Turn, ...]
    title: str = ""
    folder: str = ""
    started: str = ""
    ended: str = ""
    skipped: int = 0
    model: str = ""
    repository: str = ""
    branch: str = ""
