"""Is a quote that a model gives really in the conversation, and who said it?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.conversations.conversation import Conversation
from core.harvest.support import is_foreign

CLOSE_ENOUGH = 88.0
SHORT = 12
FUZZY_CHARACTERS = 500
"""As much of a quote is compared with allowance for differences: beyond that the search takes minutes."""
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Source:
    """The text a quote may come from: what people and the assistant said, and what tools and the system put in.

    Both are reduced to words (case folded, punctuation and white space as one space). `conversation` is the whole one,
    by which `support.py` judges who said an item; None where everything is the person's own.
    """

    said: str
    tool: str
    conversation: Conversation | None = None


NO_SOURCE = Source("  ", "  ")
"""For answers without a quote: there is nothing to look for, and no text to prepare."""


def reduce_to_words(text: str) -> str:
    return _NOT_WORD.sub(" ", text.casefold()).strip()


def source_of(conversation: Conversation, whole: Conversation | None = None) -> Source:
    """Prepare a conversation, and the whole of which it is the end, for `find_quote` and for judging who said what."""
    said, tool = _words_of(conversation, foreign=False), _words_of(conversation, foreign=True)
    return Source(said, tool, whole or conversation)


def shown_source(summary: str, source: Source) -> Source:
    """The same conversation where the model was shown a summary of it: a quote is one of the words that were shown."""
    return Source(f" {reduce_to_words(summary)} ", "  ", source.conversation)


def _words_of(conversation: Conversation, *, foreign: bool) -> str:
    words = [reduce_to_words(turn.text) for turn in conversation.turns if is_foreign(turn) == foreign]
    return " ".join(["", *words, ""]) if words else "  "


def find_quote(quote: str, source: Source) -> str | None:
    """`said`, `tool`, or None when the quote is nowhere. Small differences (a word, an ellipsis) are allowed."""
    parts = [reduced for part in re.split(r"\.\.\.|…|\[redacted[^\]]*\]", quote) if (reduced := reduce_to_words(part))]
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
