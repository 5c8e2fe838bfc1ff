"""Decisions in a record of decisions: a text with a title in which "we will" is said in earnest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Conversation
from core.offline.prose import Row, looks_like_code, sentences
from core.offline.statements import Found

_CUES = ("we will", "we'll", "we shall", "going to", "should be used", "chosen", "we use", "will be used", "will use")
_WILL = re.compile(
    r"(?:(?:therefore|so|hence|instead|for now|as a result|going forward),? )?"
    r"(?:(?:we|the team)(?:'ll| will| shall| are going to| have chosen to| use)(?: now| also| not| only| always)? "
    r"(?!be able\b|need\b|see\b|have to\b|likely\b|probably\b|get\b|lose\b|know\b|find\b|still\b)"
    r"|[\"`*'\w][^.:;,]{2,60} will(?: not| only)? (?:be used|use|be stored|live|be the)\b)",
    re.IGNORECASE,
)
MOST = 3


def find_resolutions(rows: list[Row], conversation: Conversation) -> Iterator[Found]:
    """The first sentences that say what "we will" do. What comes further down mostly tells the consequences."""
    if not any(re.match(r"(?:---\n|# |[^\n]+\n=+\n)", turn.text) for turn in conversation.turns):
        return
    count = 0
    for row in rows:
        if row.kind == "check" or not any(cue in row.low for cue in _CUES):
            continue
        for sentence in sentences(row, _CUES):
            text = sentence.text
            if not _WILL.match(text) or text.endswith(("?", ":")) or looks_like_code(text) or len(text.split()) < 5:
                continue
            yield Found("decisions", {"statement": text, "detail": "", "quote": sentence.quote}, 2, row.turn)
            count += 1
            if count == MOST:
                return
