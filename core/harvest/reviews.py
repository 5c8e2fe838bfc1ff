"""Whose work an open task is: findings in the review of somebody else's pull request are that person's.

Told by structure alone: the session was asked to review (a command of that name, a request that names a pull request,
`gh pr review`), and `gh pr view` told an author who is not the person. A task is the author's where its quote stands in
the review, before this session changed anything; what the person said themselves is always the person's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, Commit, Edit, PullRequest

OTHERS_WORK = "others-work"
"""Why such a task is held back."""
_REVIEWS = re.compile(r"\bgh\s+(?:-R\s+\S+\s+)?pr\s+review\b")
_COMMAND = re.compile(r"<command-name>\s*/?[\w:-]*review[\w:-]*", re.IGNORECASE)
_ASKED = re.compile(
    r"\b(?:review|code[- ]review)\w*\b[^.\n]{0,80}(?:\bpr\b|\bpull request|/pull/\d|#\d)|"
    r"(?:\bpr\b|\bpull request|/pull/\d)[^.\n]{0,80}\breview",
    re.IGNORECASE,
)
_AUTHOR = re.compile(r"^(?:[^\n]{0,60}?\b)?author:[ \t]+(?P<name>[\w-]{1,60})[ \t]*$", re.MULTILINE)
_OF_PULL_REQUEST = re.compile(r"^(?:additions|number|reviewers|auto-merge):[ \t]|/pull/\d", re.MULTILINE)
_LOGIN = re.compile(r'"author"\s*:\s*\{[^{}]{0,200}?"login"\s*:\s*"(?P<name>[\w-]{1,60})')
_ACCOUNT = re.compile(r"Logged in to \S{1,80} (?:account|as) (?P<name>[\w-]{1,60})")
_HOME = re.compile(r"(?:/Users/|/home/|\\Users\\)(?P<name>[^/\\]{1,60})")


@dataclass(frozen=True)
class Review:
    """The review of somebody else's work: who they are, the turn in which it begins, the first one in which the session
    changed something itself, and those in which the person spoke (counted from 0)."""

    author: str
    begins: int
    changed: int
    said: frozenset[int]

    def owns(self, text: str, turn: int) -> bool:
        """Whether an open task is the author's: `turn` is where its quote stands, -1 for nowhere."""
        if re.match(rf"\W*{re.escape(self.author)}\b", text, re.IGNORECASE):
            return True
        return self.begins <= turn < self.changed and turn not in self.said


def review_of(conversation: Conversation) -> Review | None:
    """The review that a session is, None for any other session."""
    turns = conversation.turns
    if not any(map(_asks_for_review, turns)):
        return None
    mine = {found["name"].casefold() for found in _HOME.finditer(conversation.folder)}
    mine |= {found["name"].casefold() for turn in turns for found in _ACCOUNT.finditer(turn.text)}
    told = next(_authors(turns), None)
    if told is None or told[1].casefold() in mine:
        return None
    if any(isinstance(event, PullRequest) for turn in turns for event in turn.events):
        return None  # one that was opened here is the person's own
    changes = (at for at, turn in enumerate(turns) if any(isinstance(event, Edit | Commit) for event in turn.events))
    said = frozenset(at for at, turn in enumerate(turns) if turn.role == "user")
    return Review(told[1], told[0], next(changes, len(turns)), said)


def _asks_for_review(turn: Turn) -> bool:
    if turn.role == "user":
        return _ASKED.search(turn.text[:4000]) is not None
    if turn.role == "system":
        return _COMMAND.search(turn.text[:400]) is not None
    return any(_REVIEWS.search(event.words) for event in turn.events if isinstance(event, Command))


def _authors(turns: tuple[Turn, ...]) -> Iterator[tuple[int, str]]:
    """Who opened the pull request that was looked at, and the turn that tells."""
    for at, turn in enumerate(turns):
        if turn.role not in ("tool", "system"):
            continue
        for found in _AUTHOR.finditer(turn.text):
            if _OF_PULL_REQUEST.search(turn.text):
                yield at, found["name"]
        if found_login := _LOGIN.search(turn.text):
            yield at, found_login["name"]
