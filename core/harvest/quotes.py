"""Is a quote that a model gives really in the conversation, and who said it? And whose work is an open task?

Findings in the review of somebody else's pull request are that person's. Structure alone tells it: the session was
asked to review (a command of that name, a request that names a pull request, `gh pr review`), and `gh pr view` told an
author who is not the user. A task is the author's where its quote stands in the review, before this session changed
anything; what the user said themselves is always the user's own.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, Commit, Edit, PullRequest
from core.harvest.support import pieces
from core.knowledge.same import mark_of_text

MIN_SIMILARITY = 88.0
SHORT = 12
FUZZY_CHARACTERS = 500
"""As much of a quote is compared with allowance for differences: beyond that the search takes minutes."""
MIN_MARKED_CHARACTERS = 40
"""Words of at least this many characters are hardly said twice in two sessions."""
LEAST_COPIED = 24
"""This many bytes of words are a sentence, which nobody finds by chance."""
_ELLIPSIS = re.compile(r"\.\.\.|…|\[redacted[^\]]*\]")
_NOT_WORD = re.compile(r"[\W_]+")
_LETTERS = re.compile(r"[^\W_]+")


class Spoken(NamedTuple):
    """One turn, reduced to words: its number, the bytes at which it stands, and `said`, by which the same turn is known
    again in a snapshot or a fork of its session ("" for one that is too short to be told from others)."""

    words: str
    number: int
    start: int
    end: int
    said: str


@dataclass(frozen=True)
class Source:
    """The text a quote may come from: what people and the assistant said, and what tools and the system put in.

    Both are reduced to words (case folded, punctuation and white space as one space). `conversation` is the whole one,
    by which `support.py` judges who said an item; None where everything is the user's own. `turns` are the words of
    each turn with its number in the whole conversation and its place in the file.
    """

    said: str
    tool: str
    conversation: Conversation | None = None
    turns: tuple[Spoken, ...] = ()


NO_SOURCE = Source("  ", "  ")
"""For answers without a quote: there is nothing to look for, and no text to prepare."""


def reduce_to_words(text: str) -> str:
    return _NOT_WORD.sub(" ", text.casefold()).strip()


def source_of(conversation: Conversation, whole: Conversation | None = None) -> Source:
    """Prepare a conversation, and the whole of which it is the end, for `find_quote` and for judging who said what."""
    said, tool = _words_of(conversation, foreign=False), _words_of(conversation, foreign=True)
    numbers = {(turn.start, turn.end, turn.text): at for at, turn in enumerate((whole or conversation).turns)}
    turns = []
    for at, turn in enumerate(conversation.turns):
        if words := reduce_to_words(turn.text):
            number = numbers.get((turn.start, turn.end, turn.text), at)
            mark = mark_of_text(words) if len(words) >= MIN_MARKED_CHARACTERS else ""
            turns.append(Spoken(f" {words} ", number, turn.start, turn.end, mark))
    return Source(said, tool, whole or conversation, tuple(turns))


def shown_source(summary: str, source: Source) -> Source:
    """The same conversation where the model was shown a summary of it: a quote is one of the words that were shown."""
    return Source(f" {reduce_to_words(summary)} ", "  ", source.conversation, source.turns)


def _words_of(conversation: Conversation, *, foreign: bool) -> str:
    said = (text for turn in conversation.turns for text, told in pieces(turn) if told == foreign)
    words = [reduced for text in said if (reduced := reduce_to_words(text))]
    return " ".join(["", *words, ""]) if words else "  "


def place_of(quote: str, source: Source) -> Spoken | None:
    """The first turn in which a quote stands, None for one that stands in none as it is."""
    return next(_places_of(quote, source), None)


def turns_of(quote: str, source: Source) -> list[int]:
    """The numbers of all turns in which a quote stands as it is."""
    return [turn.number for turn in _places_of(quote, source)]


def _places_of(quote: str, source: Source) -> Iterator[Spoken]:
    if parts := _parts(quote):
        longest = max(parts, key=len)
        yield from (turn for turn in source.turns if f" {longest} " in turn.words)


def _parts(quote: str) -> list[str]:
    """The words of a quote, in as many pieces as it has places where something was left out."""
    return [reduced for part in _ELLIPSIS.split(quote) if (reduced := reduce_to_words(part))]


def find_quote(quote: str, source: Source) -> str | None:
    """`said`, `tool`, or None when the quote is nowhere. Small differences (a word, an ellipsis) are allowed."""
    parts, texts = _parts(quote), (("said", source.said), ("tool", source.tool))
    if not parts:
        return None
    for name, text in texts:
        if all(f" {part} " in text or (len(part.encode()) >= SHORT and part in text) for part in parts):
            return name
    longest = max(parts, key=len)[:FUZZY_CHARACTERS]
    if len(longest) < SHORT:
        return None
    for name, text in texts:
        if len(text) >= len(longest) and fuzz.partial_ratio(longest, text, score_cutoff=MIN_SIMILARITY) > 0:
            return name
    return None


def is_copied(text: str, source: Source) -> bool:
    """Whether a statement stands word for word in what tools said: then it is what its author wants to be kept, not
    what the session found out, in whatever language and however it is worded."""
    words = reduce_to_words(text.partition(" — ")[0])
    return len(words.encode()) >= LEAST_COPIED and words in source.tool


def is_elsewhere(path: str, source: Source) -> bool:
    """Whether a file that a note is about lies outside of the folder that the conversation worked in: what only a tool
    told stays in its project."""
    folder = source.conversation.folder if source.conversation is not None else ""
    if not folder.startswith("/") or not path.startswith(("/", "~", "..")):
        return False
    try:
        whole = posixpath.normpath(posixpath.join(folder, posixpath.expanduser(path)))
    except ValueError:  # no file can be called so
        return True
    return posixpath.commonpath([folder, whole]) != posixpath.normpath(folder)


def span_of(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in the text of its turn, from its first to behind its last letter; None for nowhere. What a
    quote leaves out ("…") is a part of it where both of its ends are there."""
    parts = _parts(quote)
    if not parts:
        return None
    words, starts, ends = list[str](), list[int](), list[int]()
    for found in _LETTERS.finditer(text):
        word = reduce_to_words(found[0])  # a letter may become two, and a mark in it parts it
        words.append(word)
        if len(word) == len(found[0]):
            starts += range(found.start(), found.end() + 1)
            ends += [*range(found.start() + 1, found.end() + 1), found.end()]
        else:
            starts += [found.start()] * (len(word) + 1)
            ends += [found.end()] * (len(word) + 1)
    whole = f" {' '.join(words)} "

    def find(part: str, since: int = 0) -> tuple[int, int] | None:
        found = whole.find(f" {part} ", since)
        if found < 0 and len(part.encode()) >= SHORT:  # scripts without blanks, and a word that was cut
            found = whole.find(part, since) - 1
        return (found, found + len(part)) if found >= 0 else None

    longest = max(parts, key=len)
    place = find(longest)
    if place is None:
        return None
    first, last = place
    if len(parts) > 1:
        begin = find(parts[0])
        end = find(parts[-1], begin[1]) if begin is not None else None
        if begin is not None and end is not None and begin[0] <= first and end[1] >= last:
            first, last = begin[0], end[1]
    return starts[first], ends[last - 1]


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
    changed something itself, and those in which the user spoke (counted from 0)."""

    author: str
    begins: int
    changed: int
    said: frozenset[int]

    def owns(self, text: str, turn: int) -> bool:
        """Whether an open task is the author's: `turn` is where its quote stands, -1 for nowhere."""
        if re.match(rf"\W*{re.escape(self.author)}\b(?!/)", text, re.IGNORECASE):  # not a branch named after them
            return True
        return self.begins <= turn < self.changed and turn not in self.said


def review_of(conversation: Conversation) -> Review | None:
    """The review that a session is, None for any other session."""
    turns = conversation.turns
    if not any(map(_asks_for_review, turns)):
        return None
    mine = {found["name"].casefold() for found in _HOME.finditer(conversation.folder)}
    mine |= {found["name"].casefold() for turn in turns for found in _ACCOUNT.finditer(turn.text)}
    review = next(_authors(turns), None)
    if review is None or review[1].casefold() in mine:
        return None
    if any(isinstance(event, PullRequest) for turn in turns for event in turn.events):
        return None  # one that was opened here is the user's own
    changes = (at for at, turn in enumerate(turns) if any(isinstance(event, Edit | Commit) for event in turn.events))
    said = frozenset(at for at, turn in enumerate(turns) if turn.role == "user")
    return Review(review[1], review[0], next(changes, len(turns)), said)


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
