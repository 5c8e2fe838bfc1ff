"""Is a quote that a model gives really in the conversation, and who said it?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from core.conversations.conversation import Conversation
from core.harvest.support import is_foreign
from core.knowledge.same import mark_of_text

CLOSE_ENOUGH = 88.0
SHORT = 12
FUZZY_CHARACTERS = 500
"""As much of a quote is compared with allowance for differences: beyond that the search takes minutes."""
LONG_ENOUGH = 40
"""Words of so many characters are hardly said twice in two sessions."""
_ELLIPSIS = re.compile(r"\.\.\.|…|\[redacted[^\]]*\]")
_NOT_WORD = re.compile(r"[\W_]+")


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
    by which `support.py` judges who said an item; None where everything is the person's own. `turns` are the words of
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
    turns = tuple(
        Spoken(f" {words} ", number, turn.start, turn.end, mark_of_text(words) if len(words) >= LONG_ENOUGH else "")
        for at, turn in enumerate(conversation.turns)
        if (words := reduce_to_words(turn.text))
        and (number := numbers.get((turn.start, turn.end, turn.text), at)) is not None
    )
    return Source(said, tool, whole or conversation, turns)


def shown_source(summary: str, source: Source) -> Source:
    """The same conversation where the model was shown a summary of it: a quote is one of the words that were shown."""
    return Source(f" {reduce_to_words(summary)} ", "  ", source.conversation, source.turns)


def _words_of(conversation: Conversation, *, foreign: bool) -> str:
    words = [reduce_to_words(turn.text) for turn in conversation.turns if is_foreign(turn) == foreign]
    return " ".join(["", *words, ""]) if words else "  "


def place_of(quote: str, source: Source) -> Spoken | None:
    """The first turn in which a quote stands, None for one that stands in none as it is."""
    parts = [reduced for part in _ELLIPSIS.split(quote) if (reduced := reduce_to_words(part))]
    if not parts:
        return None
    longest = max(parts, key=len)
    return next((turn for turn in source.turns if f" {longest} " in turn.words), None)


def find_quote(quote: str, source: Source) -> str | None:
    """`said`, `tool`, or None when the quote is nowhere. Small differences (a word, an ellipsis) are allowed."""
    parts = [reduced for part in _ELLIPSIS.split(quote) if (reduced := reduce_to_words(part))]
    if not parts:
        return None
    for name, text in (("said", source.said), ("tool", source.tool)):
        if all(f" {part} " in text or (len(part.encode()) >= SHORT and part in text) for part in parts):
            return name
    longest = max(parts, key=len)[:FUZZY_CHARACTERS]
    if len(longest) < SHORT:
        return None
    from rapidfuzz import fuzz

    for name, text in (("said", source.said), ("tool", source.tool)):
        if len(text) >= len(longest) and fuzz.partial_ratio(longest, text, score_cutoff=CLOSE_ENOUGH) > 0:
            return name
    return None
