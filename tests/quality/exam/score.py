"""How an answer to a question of the exam is judged, as plain functions of data.

A hit *answers* where it is the session that the question is about with a turn that answers (`turns` of the question,
found by who spoke and how the quote begins), or an entry (bullet, note, fact) that was harvested from that session.
Several snapshots of one session count as one.

A hit has the *passage* where the text that it shows has at least half (`PASSAGE`) of the content words of one of the
question's key points, and no fewer than `LEAST_WORDS` where there are so many: words without stop words, brought to
their stems, and without those that the question has itself, unless none is left; else a turn that repeats the question
would count. This is a judgement of words: a text may say the point in others, or have the words and say something else.
Of the answers to one question 5 % have the "passage" of another, about another session, in their first three hits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from core.conversations.conversation import Conversation
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, Stems, words_of
from tests.quality.real_home import Answer, Hit, repository_of

PASSAGE = 0.5
LEAST_WORDS = 2
NEVER = "never-said"
FIRST = 3
"""So many hits are looked at beside the first one."""


@dataclass(frozen=True)
class Question:
    """One line of `questions.jsonl`. `session` is the path below the corpus's conversations, "" where nobody ever said
    it; then `near` is the session that comes nearest. `project` is the working folder as the transcript names it.
    `turns` have `role` and `quote_start`; `points` is what an answer has to tell, `gold` a whole one."""

    id: str
    kind: str
    session: str
    project: str
    question: str
    gold: str = ""
    points: tuple[str, ...] = ()
    turns: tuple[Mapping[str, str], ...] = ()
    why: str = ""
    near: str = ""

    @staticmethod
    def of(row: Mapping[str, Any]) -> Question:
        """The question that a line holds; what it has beside is left out."""
        known = {name: row[name] for name in Question.__dataclass_fields__ if row.get(name) is not None}
        lists = {name: tuple(known.get(name, ())) for name in ("points", "turns")}
        return Question(**{**known, **lists, "id": str(row["id"])})

    @property
    def about(self) -> str:
        """The session by which its project is told."""
        return self.session or self.near


class Score(NamedTuple):
    """How one answer did. Ranks are counted from 1, 0 where there is none: `session` of the first hit from the right
    session, `answer` and `passage` as the module tells. `told` is the share of the key points that the first three hits
    have, `other` how many hits come from another repository, `firm` how many are not called weak."""

    hits: int
    session: int
    answer: int
    passage: int
    told: float
    other: int
    firm: int
    characters: int
    seconds: float
    refused: str = ""


@cache
def _stems() -> Stems:
    return Stems()


def content_words(text: str) -> frozenset[str]:
    """The stems of the words of a text that say something; of single letters only those that are words by themselves
    (a digit, a character of a script without spaces)."""
    words = {word for word in words_of(text) if len(word) > 1 or word.isdigit() or not word.isascii()}
    words -= STOP_WORDS | FOREIGN_STOP_WORDS
    known = _stems().learn(words)
    return frozenset(known[word] for word in words)


def wanted_words(point: str, question: str) -> frozenset[str]:
    """The words of a key point that an answer has to bring."""
    words = content_words(point)
    return words - content_words(question) or words


def has_point(text: str, point: str, question: str) -> bool:
    """Whether a text has enough of the words of a key point."""
    wanted = wanted_words(point, question)
    least = max(PASSAGE * len(wanted), min(LEAST_WORDS, len(wanted)))
    return bool(wanted) and len(wanted & content_words(text)) >= least


def turns_of(talk: Conversation, turns: Sequence[Mapping[str, str]], *, any_role: bool = False) -> frozenset[int]:
    """The turns of a conversation that answer, counted from 1: those of that role in which the beginning of the quote
    stands, however its blanks and line breaks lie. With `any_role` whoever spoke: a reader gives what a person pasted,
    or a tool put in for them, to somebody else than the record does."""
    begins = [(turn.get("role", ""), " ".join(turn["quote_start"].split())) for turn in turns]
    return frozenset(
        number
        for number, said in enumerate(talk.turns, start=1)
        for role, begin in begins
        if (any_role or role in ("", said.role)) and begin and begin in " ".join(said.text.split())
    )


def rank(hits: Sequence[Hit], is_right: Callable[[Hit], bool]) -> int:
    """The place of the first hit that is right, from 1; 0 for none."""
    return next((at for at, hit in enumerate(hits, start=1) if is_right(hit)), 0)


def scored(question: Question, answer: Answer, right: Mapping[str, frozenset[int]]) -> Score:
    """Judge an answer. `right`: the snapshots of the session -> their answering turns."""
    hits = answer.hits

    def answers(hit: Hit) -> bool:
        if hit.kind != "conversation":
            return not hit.sessions.isdisjoint(right)
        return any(hit.turn in right.get(one, ()) for one in hit.sessions)

    def has_any(hit: Hit) -> bool:
        return any(has_point(hit.text, point, question.question) for point in question.points)

    shown = "\n".join(hit.text for hit in hits[:FIRST])
    told = [has_point(shown, point, question.question) for point in question.points]
    own = repository_of(question.about)
    return Score(
        len(hits),
        rank(hits, lambda hit: not hit.sessions.isdisjoint(right)),
        rank(hits, answers),
        rank(hits, has_any),
        sum(told) / len(told) if told else 0.0,
        sum(own not in {repository_of(one) for one in hit.sessions} for hit in hits),
        sum(not hit.weak for hit in hits),
        answer.characters,
        answer.seconds,
        answer.refused,
    )


def together(scores: Sequence[Score]) -> Score:
    """What somebody has who asks several tools and looks at the same places of each answer."""

    def first(ranks: Sequence[int]) -> int:
        return min((one for one in ranks if one), default=0)

    return Score(
        sum(one.hits for one in scores),
        first([one.session for one in scores]),
        first([one.answer for one in scores]),
        first([one.passage for one in scores]),
        max(one.told for one in scores),
        sum(one.other for one in scores),
        sum(one.firm for one in scores),
        sum(one.characters for one in scores),
        sum(one.seconds for one in scores),
        " ".join(filter(None, (one.refused for one in scores))),
    )
