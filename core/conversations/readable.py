"""A conversation as a user reads it: numbered turns without secrets, calls as data, what was harvested.

Numbers count from 1, as `knowledge show NAME:TURN` takes them. A long conversation comes in pages; its secrets are
looked for in all of it, so that what one turn gives away is hidden on every page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.base.secrets.repeats import Secrets
from core.conversations.conversation import Conversation
from core.conversations.events import Call, Command, Event, call_words, with_text
from core.conversations.lines import INJECTED
from core.conversations.searched import title_of


@dataclass(frozen=True)
class HarvestedItem:
    """One line that a conversation taught: its category and words, the file below the knowledge folder and the line on
    which it stands now (0 when it is not there any more), the passage that showed it to be true, and where that stands:
    the number of the turn (from 1; 0 when that is not known) and its first and last byte in the file."""

    category: str
    text: str
    file: str
    line: int
    quote: str = ""
    turn: int = 0
    start: int = 0
    end: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "category": self.category, "text": self.text, "file": self.file, "line": self.line or None,
            "quote": self.quote or None, "turn": self.turn or None,
        }  # fmt: skip


@dataclass(frozen=True)
class ReadableTurn:
    """One turn: its number (from 1), who spoke (user, assistant, tool or system; `agent` names a sub-agent), when (ISO
    8601 or ""), the words, and what happened in it. `is_call`: the words are what a tool was called with, and not what
    came back. `items` were harvested from it; `start` is the byte of the file at which it begins."""

    number: int
    role: str
    text: str
    time: str = ""
    agent: str = ""
    is_call: bool = False
    events: tuple[Event, ...] = ()
    items: tuple[HarvestedItem, ...] = ()
    start: int = 0

    def to_json(self) -> dict[str, Any]:
        shown = {"number": self.number, "role": self.role, "time": self.time or None, "text": self.text}
        if self.agent:
            shown["agent"] = self.agent
        calls = [call_to_json(event) for event in self.events if isinstance(event, Call)]
        return {**shown, "calls": calls, "items": [item.to_json() for item in self.items]}


@dataclass(frozen=True)
class ReadableConversation:
    """One conversation, or a page of it. `name` is what it is known by, `tool` what people call the program, `source`
    where it was found, `path` its file (or `file#id`), `in_trash` whether that is in the trash. `count` turns are in
    all of it, `turns` on this page, which begins at turn `first`; `next` is the number of the first one on the next
    page, None on the last. `items` are all that was harvested, also those of which the turn is not known. `resume` is
    the command that goes on with it in its own tool, "" with `why_not` where there is none. `secrets` were hidden.
    `end` says in which state it was left; `archived`: its tool has deleted it, and it was read out of the archive."""

    name: str
    title: str
    tool: str
    source: str
    path: str
    folder: str = ""
    repository: str = ""
    branch: str = ""
    model: str = ""
    day: str = ""
    started: str = ""
    ended: str = ""
    count: int = 0
    first: int = 1
    next: int | None = None
    turns: tuple[ReadableTurn, ...] = ()
    items: tuple[HarvestedItem, ...] = ()
    in_trash: bool = False
    resume: str = ""
    why_not: str = ""
    secrets: int = 0
    warnings: tuple[str, ...] = field(default=())
    end: str = ""
    archived: bool = False

    def to_json(self) -> dict[str, Any]:
        names = ("name", "title", "tool", "source", "path", "folder", "repository", "branch", "model", "day", "started",
                 "ended")  # fmt: skip
        return {
            **{name: getattr(self, name) or None for name in names},
            **{name: getattr(self, name) for name in ("in_trash", "archived", "count", "first", "next")},
            **{name: getattr(self, name) or None for name in ("resume", "end")},
            "turns": [turn.to_json() for turn in self.turns],
            "items": [item.to_json() for item in self.items],
        }


def call_to_json(event: Call) -> dict[str, Any]:
    """What was called and what became of it."""
    call = {"tool": event.tool, "words": call_words(event), "failed": event.failed, "refused": event.refused}
    return {**call, "status": event.status} if isinstance(event, Command) else call


@dataclass(frozen=True)
class Cleared:
    """A whole conversation without secrets: its facts, and the words of its turns in their order. The events of a turn
    are cleared when it is shown."""

    conversation: Conversation
    texts: tuple[str, ...]
    secrets: Secrets


def cleared(conversation: Conversation) -> Cleared:
    """Look for the secrets of a whole conversation, once."""
    secrets = Secrets()
    texts = [secrets.said(turn.role, turn.text) for turn in conversation.turns]
    facts = {name: secrets.clear(getattr(conversation, name)) for name in ("folder", "repository", "branch")}
    for turn in conversation.turns:
        for command in turn.commands:
            secrets.clear(command.words)
    hidden: dict[str, Any] = {name: secrets.hide(value) for name, value in facts.items()}
    said = tuple(secrets.hide(text) for text in texts) if secrets.count else tuple(texts)
    asked = (text for turn, text in zip(conversation.turns, said, strict=True) if turn.role == "user" and text.strip())
    title = title_of(secrets.title(conversation.title), next(asked, "")[:2000])
    return Cleared(replace(conversation, title=title, **hidden), said, secrets)


def page(whole: Cleared, first: int, number: int | None, items: Iterable[HarvestedItem]) -> tuple[ReadableTurn, ...]:
    """`number` turns (None: all) from the one with the number `first` on."""
    by_turn: dict[int, list[HarvestedItem]] = {}
    for item in items:
        by_turn.setdefault(item.turn, []).append(item)
    turns = whole.conversation.turns
    last = len(turns) if number is None else min(len(turns), first - 1 + number)
    return tuple(_shown(whole, at, by_turn) for at in range(first - 1, last))


_CODES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\|$)|\x1b[PX^_][^\x1b]{0,2000}\x1b\\|"
    r"\x1b[ -/]*[0-~]|\x1b|[\x00-\x08\x0e-\x1a]"
)
_WRITTEN_OVER = re.compile(r"^[^\n]*\r(?=[^\n\r])", re.MULTILINE)


def without_codes(text: str, printed: bool = True) -> str:
    """A text without what only a terminal understands: colours, titles, movements of the cursor; of a line that a
    program `printed` over again and again (a progress bar) what stood there last. In what somebody wrote each of
    these is a line of its own."""
    if "\x1b" in text or "\x9b" in text or "\b" in text or "\x07" in text:
        text = _CODES.sub("", text)
    if "\r" not in text:
        return text
    return _WRITTEN_OVER.sub("", text).replace("\r", "") if printed else re.sub("\r\n?", "\n", text)


_NAMES = "|".join(name.replace("-", "[-_]") for name in (*INJECTED, "bash-input", "user-prompt-submit-hook"))
_OPENING = re.compile(rf"<(?:{_NAMES}|command-)", re.IGNORECASE)
_ONE = rf"[ \t]*<({_NAMES})>(.*?)</\1>"
_TAGGED = re.compile(_ONE, re.DOTALL | re.IGNORECASE)
_ROW = re.compile(rf"^(?:{_ONE})+(?:[ \t]*\n)?", re.DOTALL | re.MULTILINE | re.IGNORECASE)
"""Tags of which the first begins a line and each is closed."""
_COMMAND = re.compile(
    r"^(?:[ \t\n]*(?:<command-name>.{0,20000}?</command-name>|<command-message>.{0,20000}?</command-message>|"
    r"<command-args>.{0,20000}?</command-args>)){1,3}",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
MAX_TAGS = 300
_PART = re.compile(r"<command-(name|message|args)>(.*?)</command-\1>", re.DOTALL | re.IGNORECASE)


def without_tags(text: str) -> str:
    """What a tool put between its tags as a user reads it: of a slash command the line that was typed, of a command
    of the shell `! line`, of what was printed the words alone. A tag within a line is somebody's own text."""
    if "</" not in text or sum(1 for _ in _OPENING.finditer(text)) > MAX_TAGS:  # a log of them is shown as it is
        return text
    text = _ROW.sub(lambda row: "".join(map(_untagged, _TAGGED.finditer(row[0]))), _COMMAND.sub(_typed, text))
    return text.strip("\n") or "(no output)"


def _typed(found: re.Match[str]) -> str:
    part = {name.lower(): words.strip() for name, words in _PART.findall(found[0])}
    line = f"{part.get('name') or part.get('message', '')} {part.get('args', '')}".strip()
    return f"\n{line}\n" if found.start() else f"{line}\n"


def _untagged(found: re.Match[str]) -> str:
    words = found[2].strip("\n")
    words = f"! {words.strip()}" if found[1].lower() == "bash-input" else words
    return f"{words}\n" if words.strip() else ""


def _shown(whole: Cleared, at: int, items: Mapping[int, Sequence[HarvestedItem]]) -> ReadableTurn:
    turn, secrets = whole.conversation.turns[at], whole.secrets

    def clear(text: str) -> str:
        return secrets.hide(secrets.clear(without_codes(text)))

    words = without_codes(whole.texts[at], printed=turn.role == "tool" or turn.is_call)
    words = words if turn.role == "assistant" or turn.is_call else without_tags(words)
    words = words if words == whole.texts[at] else clear(words)  # what stood apart may be one secret now
    events = tuple(with_text(event, clear) for event in turn.events)
    own = tuple(items.get(at + 1, ()))
    return ReadableTurn(at + 1, turn.role, words, turn.time, clear(turn.agent), turn.is_call, events, own, turn.start)
