"""The excerpt that answers: of the turns around a match the few sentences that a reader of the question wants.

A match is where the words of a question stand, and those stand best in the question itself when it was asked before.
What answers is said around it: in the reply, in the sentence behind, with the cause or the number. So the sentences of
the exchange are weighed against each other, and those of the session's closing message stand for it where they say
more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from core.search import conversations as stored
from core.search.terms import parse_query
from core.search.words import Stems, words_of

if TYPE_CHECKING:
    from core.search.conversations import Database, Piece
    from core.search.terms import Query

CHARACTERS = 420
"""So much of it is shown."""
BEFORE, BEHIND = 2, 8
"""So many turns before and behind the match are read."""
LONG_SENTENCE, SHORT_SENTENCE = 300, 24
_ENDS = re.compile(r"(?<=[.!?。！？])\s+(?=[^\s])|\n+")
_CAUSE = re.compile(
    r"\b(?:because|since|so that|due to|caused?|root cause|reason|turned out|instead|rather than|fix(?:ed)?|decided|"
    r"the (?:problem|issue|trick)|which (?:means|is why)|must|never|always|otherwise|therefore|weil|sondern|parce que|"
    r"porque|perché)\b",
    re.IGNORECASE,
)
_ASKS_CAUSE = re.compile(r"\b(?:why|reason|cause|how come|warum|pourquoi|perché)\b|por qué", re.IGNORECASE)
_ASKS_VALUE = re.compile(r"\b(?:which|what|how (?:many|much|long|large)|where|version|number|port|limit|name)\b", re.I)
_VALUE = re.compile(r"\d|`[^`]+`|/\w+/|\w\.\w{2,4}\b")
_ANNOUNCES = re.compile(r"(?:let me|i'?ll|i will|now (?:let|i)|next,? i|looking at|checking)\b", re.IGNORECASE)


class Excerpt(NamedTuple):
    """The words, and the turn (position from 0) that most of them are from. `share` of what the question asks for
    stands in them, 0 to 1."""

    text: str
    position: int
    share: float


class _Sentence(NamedTuple):
    position: int
    at: int
    text: str
    terms: frozenset[int]
    score: float


def answering(database: Database, question: str, stems: Stems, thread: int, position: int) -> Excerpt | None:
    """The sentences around the turn at `position` of a conversation that answer a question; None where the question
    has no words."""
    query = parse_query(question, database, stems)
    if not query.terms:
        return None
    pieces = [
        one for one in stored.texts(database, thread, max(0, position - BEFORE), position + BEHIND) if one.text.strip()
    ]
    pieces = _exchange(pieces, position)
    closing = stored.closing(database, thread)
    if closing is not None and all(one.position != closing.position for one in pieces):
        pieces.append(closing)
    return chosen(query, stems, pieces, position)


def _exchange(pieces: Sequence[Piece], position: int) -> list[Piece]:
    """The turns of the exchange: from the match to what is asked next."""
    kept: list[Piece] = []
    for one in pieces:
        if one.position > position and one.role == "user":
            break
        kept.append(one)
    return kept


def chosen(query: Query, stems: Stems, pieces: Sequence[Piece], position: int) -> Excerpt | None:
    """The best sentences of these turns, in their order."""
    told = [
        (one, at, text) for one in pieces for at, text in enumerate(sentences(one.text)) if text.strip("#*-_=`| \t")
    ]
    if not told:
        return None
    known = stems.learn({word for _, _, text in told for word in words_of(text)})
    wanted: dict[str, int] = {stem: at for at, term in enumerate(query.terms) for stem in term.stems}
    rows = [_weighed(query, known, wanted, one, at, text, position) for one, at, text in told]
    picked, room, seen = list[_Sentence](), CHARACTERS, frozenset[int]()
    for row in sorted(rows, key=lambda row: -row.score):
        if row.score <= 0 and picked:
            break
        new = row.terms - seen
        if picked and (len(row.text) > room or not (new or _beside(row, picked) or row.score > 0.3)):
            continue
        picked.append(row)
        seen |= row.terms
        room -= len(row.text) + 3
        if room < SHORT_SENTENCE * 2:
            break
    picked.sort(key=lambda row: (row.position, row.at))
    share = sum(query.terms[at].worth for at in seen) / query.worth
    best = max(picked, key=lambda row: row.score)
    return Excerpt(_joined(picked), best.position, share)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a turn, the long ones cut behind a word."""
    made = []
    for part in _ENDS.split(text):
        words = " ".join(part.split())
        if len(words) > LONG_SENTENCE:
            words = words[: max(words.rfind(" ", 0, LONG_SENTENCE), LONG_SENTENCE // 2)] + " …"
        made.append(words)
    return made


def _weighed(
    query: Query, known: Mapping[str, str], wanted: Mapping[str, int], one: Piece, at: int, text: str, position: int
) -> _Sentence:
    terms = frozenset(wanted[stem] for word in words_of(text) if (stem := known[word]) in wanted)
    score = sum(query.terms[term].worth for term in terms) / query.worth
    if _CAUSE.search(text):
        score += 0.3 if _ASKS_CAUSE.search(query.text) else 0.12
    if _VALUE.search(text) and _ASKS_VALUE.search(query.text):
        score += 0.1
    if text.endswith(("?", "？")):
        score -= 0.35
    if one.role == "tool":
        score -= 0.25
    if _ANNOUNCES.match(text):
        score -= 0.2
    if len(text) < SHORT_SENTENCE:
        score -= 0.15
    apart = one.position - position
    score -= 0.25 if apart < 0 else min(0.2, 0.02 * apart)
    return _Sentence(one.position, at, text, terms, score if terms else score - 0.25)


def _beside(row: _Sentence, picked: Sequence[_Sentence]) -> bool:
    """Whether a sentence stands right behind one that was picked: the cause is often told there."""
    return any(row.position == other.position and row.at == other.at + 1 for other in picked)


def _joined(rows: Sequence[_Sentence]) -> str:
    text, before = "", None
    for row in rows:
        near = before is not None and (before.position, before.at + 1) == (row.position, row.at)
        text += ("" if not text else " " if near else " … ") + row.text
        before = row
    return text
