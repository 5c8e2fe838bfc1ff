"""A session with a coding assistant as the rules look at it: its events in order, its closing messages, and what the
user said with what followed.

A closing message is the assistant's last one before each word of the user, and at the end.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

from core.base.project import NO_BRANCH
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call, Command, Edit, Event, Question
from core.conversations.ran import End, read_end
from core.rules import words
from core.rules.prose import Row, by_person, clean, read_prose
from core.rules.typed import own_words, typed

_WRITES = re.compile(
    r"\bapply_patch\b|\bsed\s+(?:-\w+\s+)*-i|\bcat\s*>{1,2}\s|<<.{0,60}>\s*\S|\btee\s|\bgit (?:mv|rm|apply|revert)\b"
)


def is_change(event: Event) -> bool:
    """Whether an event changed files: an edit, or a command line that writes one."""
    if isinstance(event, Command):
        return not event.refused and not event.failed and _WRITES.search(event.words) is not None
    return isinstance(event, Edit) and not event.refused and not event.failed


@dataclass(frozen=True)
class Closing:
    """The assistant's last words before the user's next ones, or before the end (`at_end`)."""

    number: int
    turn: Turn
    at_end: bool


@dataclass(frozen=True)
class Exchange:
    """What the user said at one place and what followed until they spoke again: the assistant's texts with their
    numbers, and the events."""

    number: int
    text: str
    replies: tuple[tuple[int, Turn], ...]
    events: tuple[Event, ...]


@dataclass(frozen=True)
class Session:
    """A conversation with a coding assistant, with its events (turn, event) and closing messages in order."""

    conversation: Conversation
    events: tuple[tuple[int, Event], ...]
    closings: tuple[Closing, ...]

    @cached_property
    def commands(self) -> tuple[tuple[int, Command], ...]:
        """The command lines that were run, with their turns."""
        return tuple((at, row) for at, row in self.events if isinstance(row, Command))

    @cached_property
    def calls(self) -> tuple[tuple[int, Call], ...]:
        """The calls, with their turns."""
        return tuple((at, row) for at, row in self.events if isinstance(row, Call))

    @cached_property
    def paired(self) -> bool:
        """Whether the file tells which calls were answered, so that what is missing means something."""
        return any(row.answered for _, row in self.calls)

    @cached_property
    def edits(self) -> tuple[tuple[int, Edit], ...]:
        """The edits that were made, of files that are told, with their turns."""
        rows = ((at, row) for at, row in self.events if isinstance(row, Edit))
        return tuple((at, row) for at, row in rows if row.path and not (row.refused or row.failed))

    @cached_property
    def end(self) -> End:
        """How it was left."""
        return read_end(self.conversation.turns)

    @cached_property
    def last_change(self) -> int:
        """The turn of the last event that changed files, -1 where none did."""
        return max((at for at, row in self.events if is_change(row)), default=-1)

    # --- what it was about ---

    @property
    def project(self) -> str:
        """A short name for the repository or folder, "" where the file tells none."""
        name = self.conversation.repository.rstrip("/").removesuffix(".git").rsplit("/", 1)[-1]
        folder = re.split(r"[\\/]\.?worktrees?[\\/]", self.conversation.folder.rstrip("/\\"))[0]
        return name or re.split(r"[\\/]", folder)[-1]

    @property
    def on_branch(self) -> str:
        """ " on branch X" for a branch with work of its own, else ""."""
        branch = self.conversation.branch
        return f" on branch {branch}" if branch not in NO_BRANCH else ""

    @cached_property
    def subject(self) -> str:
        """What it was about, in few words: its title or what the user asked for first, "" where neither says it."""
        turns = self.conversation.turns
        first = next((turn.text for turn in turns if by_person(turn) and own_words(turn.text)), "")
        title = self.conversation.title or words.first_sentence(first, 120) or " ".join(first.split())[:100]
        cut = title.endswith(("…", "..."))
        title = clean(_STAMP.sub("", re.sub(r"https?://\S+", "", title))).strip(" -–—:(…")
        title = f"{title.rsplit(' ', 1)[0]} …" if len(title) in (79, 80) or cut else title  # cut in a word
        vague = title.isascii() and len(title.split()) < LEAST_SUBJECT and not words.ANCHOR.search(title)
        return "" if vague or words.NOT_MEANT.search(title) else title

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The user's own words in their order, without pasted text and what a template says in their role."""
        return tuple(_exchanges(self))


LEAST_SUBJECT = 4
_STAMP = re.compile(r"\s*\(\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}[^)]*\)\s*$")
_BOLD_LINE = re.compile(r"^\*\*([^*\n]{2,60})\*\*[:：]?$")


def rows_of(turn: Turn, number: int) -> list[Row]:
    """The prose of one turn, its rows numbered as in the conversation; a line in bold stands as a heading."""
    rows = read_prose(Conversation("", "", (turn,)))
    read: list[Row] = []
    heading = ""
    for row in rows:
        bold = _BOLD_LINE.match(row.text) if row.kind == "prose" else None
        heading = clean(bold[1]).rstrip(":：") if bold else "" if row.kind == "prose" and row.heading else heading
        read.append(replace(row, turn=number, heading=row.heading or heading))
    return read


def read_session(conversation: Conversation) -> Session:
    """The session with its events and closing messages."""
    if not any(turn.role == "assistant" and not turn.agent for turn in conversation.turns):
        # The file of a sub-agent alone: here it is the one that speaks.
        conversation = replace(conversation, turns=tuple(replace(turn, agent="") for turn in conversation.turns))
    turns = conversation.turns
    closings: list[Closing] = []
    last = -1
    for number, turn in enumerate(turns):
        if turn.agent:
            continue
        if turn.role == "user" and last >= 0:
            closings.append(Closing(last, turns[last], at_end=False))
            last = -1
        elif turn.role == "assistant" and turn.text.strip():
            last = number
    if last >= 0:
        closings.append(Closing(last, turns[last], at_end=True))
    events = tuple((number, event) for number, turn in enumerate(turns) if not turn.agent for event in turn.events)
    return Session(conversation, events, tuple(closings))


_WITH_COMMAND = re.compile(r"^/(?:ask|code|architect)[ \t]+")
"""The commands that hand a sentence to the model; whatever else begins so is said to the tool alone."""


def _exchanges(session: Session) -> list[Exchange]:
    turns = session.conversation.turns
    spoken = [number for number, turn in enumerate(turns) if by_person(turn)]
    answers = {
        answer[:40] for _, row in session.events if isinstance(row, Question) for *_, answer in row.asked if answer
    }
    rows = []
    shown = ""
    for at, number in enumerate(spoken):
        first, last = spoken[at - 1] if at else -1, spoken[at + 1] if at + 1 < len(spoken) else len(turns)
        shown += "\n".join(turn.text for turn in turns[first + 1 : number] if turn.role == "assistant")
        text = typed(_WITH_COMMAND.sub("", turns[number].text.strip()), shown)
        if not text or any(answer in text for answer in answers):
            continue  # an answer stands with its question
        behind = enumerate(turns[number + 1 : last], number + 1)
        own = (row for row in behind if row[1].role == "assistant" and not row[1].agent and row[1].text.strip())
        events = (row for place, row in session.events if number < place < last)
        rows.append(Exchange(number, text, tuple(own), tuple(events)))
    return rows
