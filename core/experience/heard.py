"""Reads in a conversation how what it was handed served: what it drew on, and what the user said of that.

What was handed out is known by the key or the words that the answer had, so nothing is guessed. A thing was used where
what the assistant wrote or ran afterwards names it, repeats a run of its words, or has most of its telling words that
were not in the question. What the user said next tells the outcome; where they said nothing of it, it counts as
partial.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.base.project import project_root
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call, Command
from core.experience.kinds import infer_task_type
from core.experience.record import CHUNK, INFERRED, Use
from core.search.words import STOP_WORDS, words_of

RUN, RUNS = 5, 1
"""This many words in a row that both have are a repetition; so many repetitions are a use."""
SHARE, TELLING = 0.5, 5
"""Such a share of a thing's telling words, and at least so many of them, are a use too."""
OPENING, GO_ON = 3, 6
"""A verdict stands in so many first sentences of the user's reply; where it has so few words, in that of the next reply
too."""
ASKS = 120
"""An answer that has a question mark in so many of its last characters asks something."""
LOOKED = 20_000
"""Characters of an answer that are looked at."""

_WORKS = re.compile(
    r"\b(?:it|that|this|all|everything|now)(?: (?:now|all|just|really|actually|finally))*"
    r"(?: (?:works?|worked|helped|did (?:it|the trick)|solved|fixed)|"
    r"(?:'s| is| got| was)(?: now| exactly| really| just)? "
    r"(?:fixed|solved|working|perfect|right|correct|great|awesome|excellent))\b|"
    r"\A\W*(?:(?:ok|okay|yes|yep|great|cool|nice|good|thanks|perfect)\b\W*)?"
    r"(?:works|worked|(?:exactly|correct|perfect|fixed|solved|yes,? that)(?= *(?:[.,!]|\Z)))",
    re.IGNORECASE,
)
_GOOD = re.compile(
    r"\A\W*(?:(?:ok|okay|yes|oh|wow|so)\b\W*)?(?:thanks?|thank you|great|awesome|excellent|nice|perfect)\b",
    re.IGNORECASE,
)
"""Praise opens a reply: at the end of a request it is politeness, in the middle an adjective."""
_BAD = re.compile(
    r"\A\W*(?:wrong|incorrect)\b|"
    r"\b(?:that|this|it|you|your \w+|the (?:answer|fix|advice|suggestion))(?:'s|'re| is| was| are| were| looks| seems)?"
    r"(?: \w+)? (?:wrong|incorrect|misleading|outdated|misled)\b|"
    r"\b(?:that|this|it)(?:'s| is| was)(?: not|n't) (?:right|true|correct|what i|it)\b|"
    r"\b(?:that|this|it) (?:did|does)(?:n't| not) help\b|\bled .{1,20} astray\b|\bmade it worse\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\A\W*(?:no|nope)\b\W+(?:that|this|it|you|not)\b", re.IGNORECASE)
"""What it denies, unless it answers a question."""
_FAILS = re.compile(
    r"\bnot working\b|\b(?:does|did|do|is|was|has)(?:n't| not) (?:work|fix|solve|compil)\w*|"
    r"\A\W*(?:it )?still\b|\bstill (?:fail\w*|broken|hangs?|the same|not|doesn't|isn't|crash\w*)\b|"
    r"\b(?:it|that|this)(?:'s| is) not \w+ing\b|"
    r"\bI(?:'m)? still (?:get|getting|see|seeing|"
    r"(?:don't|do not|can't|cannot) (?:see|get|reach|open|run|build|find))\b",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(r"\b(other|another|next|second|different|remaining|unrelated|else)\b", re.IGNORECASE)
"""What fails is not what was asked about."""
_ENGLISH = frozenset(
    ("the", "and", "but", "that", "this", "it", "to", "my", "you", "your", "for", "not", "with", "now", "what", "how",
     "can", "let", "add", "does", "still", "works", "worked")
)  # fmt: skip
"""Words of which a longer reply in English has one, and hardly another language."""
_SENTENCE_ENDS = re.compile(r"(?<=[.!?;…])\s+|\n+|,?\s+(?=but\b)")
_ASKED = re.compile(r"(?:knowledge|memory|manual.slop).*find\Z|\Afind\Z", re.IGNORECASE)
_RAN = re.compile(r"(?:\A|[;&|/]\s*)knowledge\s+find\b")
_HIT = re.compile(r"^\d+\. \[(?P<about>[^\]]*)\] (?P<rest>.+)$", re.MULTILINE)
_PLACE = re.compile(r" → (?P<place>\S+)(?: \(.*\))?\Z")


class Told(NamedTuple):
    """A line that an answer of `find` had: its words, what names it in the record, and where it was said."""

    text: str
    of: str
    place: str


def told_in(output: str) -> list[Told]:
    """The lines of an answer of `find`; one that was cut short names nothing."""
    found = []
    for line in _HIT.finditer(output):
        rest, kind = line["rest"], line["about"].rpartition("; ")[2].partition(",")[0]
        place = _PLACE.search(rest)
        text = rest[: place.start()] if place is not None else rest
        named = place["place"] if place is not None else ""
        if "…" in line[0] or not (named or text):
            continue
        is_turn = ":" in named and kind == "conversation"
        found.append(Told(text, named if is_turn or kind == "document" else text, named if is_turn else ""))
    return found


def uses_in(conversation: Conversation) -> list[Use]:
    """How what `find` told a conversation served in it. Its secrets must be replaced."""
    made: list[Use] = []
    project = project_root(conversation.folder) if conversation.folder else None
    for at, asked, told in _answers(conversation.turns):
        when = conversation.turns[at].time or conversation.ended or conversation.started
        for things, outcome, why in outcomes(told, asked, conversation.turns[at:]):
            made += [
                Use(one.of, outcome, when, infer_task_type(asked), why, INFERRED, one.place, conversation.id,
                    f"{at}:{one.of}", project)
                for one in things
            ]  # fmt: skip
    return made


def outcomes(told: Sequence[Told], asked: str, turns: Sequence[Turn]) -> list[tuple[list[Told], str, str]]:
    """How what was told served in the turns from its answer on, with the words that show it. Where nothing of it was
    used nothing is said, whoever complained."""
    answer = "\n".join(_said(turn) for turn in turns if turn.role == "assistant")[:LOOKED]
    used = [one for one in told if is_used(one.of, one.text, asked, answer)]
    if not used:
        return []
    rest = [one for one in told if one not in used]
    found = [(used, *(verdict(turns) or ("partial", "")))]
    return [*found, (rest, "miss", "found, and nothing of it was used")] if rest else found


def _answers(turns: Sequence[Turn]) -> Iterator[tuple[int, str, list[Told]]]:
    """Each turn in which `find` answered, with what the user had asked last and what was told."""
    asked = ""
    for at, turn in enumerate(turns):
        if turn.role == "user" and turn.text.strip():
            asked = turn.text
        for event in turn.events:
            if not isinstance(event, Call) or not event.output:
                continue
            ran = isinstance(event, Command) and _RAN.search(event.words)
            if (ran or _ASKED.search(event.tool)) and (told := told_in(event.output)):
                yield at, asked, told


def _said(turn: Turn) -> str:
    """What a turn wrote and ran; not what tools gave back."""
    return "\n".join((turn.text, *(event.words for event in turn.events if isinstance(event, Command))))


def is_used(key: str, text: str, query: str, answer: str) -> bool:
    """Whether an answer draws on a thing of this key and text."""
    name = key[:8] if CHUNK.fullmatch(key) else key
    if " " not in key and len(name) >= 8 and name in answer:
        return True
    words, said = words_of(text), words_of(answer)
    runs = _runs(said)
    asked = _runs(words_of(query))
    if len((_runs(words) & runs) - asked) >= RUNS:
        return True
    telling = {word for word in words if word not in STOP_WORDS and len(word) > 2} - set(words_of(query))
    return len(telling) >= TELLING and len(telling.intersection(said)) >= max(TELLING, SHARE * len(telling))


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    found = {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
    return {run for run in found if sum(word not in STOP_WORDS for word in run) >= 3}


def verdict(turns: Sequence[Turn]) -> tuple[str, str] | None:
    """What the user said of the answer, with their words; None where they said nothing of it, or not in English. What
    fails after it is said that this works is something else; a question tells at most that something fails."""
    answered = next((at for at, turn in enumerate(turns) if turn.role == "assistant" and turn.text.strip()), len(turns))
    asked = False
    replies = 0
    for turn in turns[answered:]:
        if turn.role == "assistant" and turn.text.strip():
            asked = "?" in turn.text.strip()[-ASKS:]
        if turn.role != "user" or not turn.text.strip() or replies == 2:
            continue
        replies += 1
        words = turn.text.strip()[:300]
        outcome = _outcome(words, asked)
        if outcome and not _is_foreign(words):
            return outcome, " ".join(words.split())
        if len(words.split()) > GO_ON:
            return None
    return None


def _outcome(words: str, asked: bool) -> str:
    """What a reply says of the answer before it, which `asked` something or not; "" for nothing."""
    works = False
    for one in _SENTENCE_ENDS.split(words)[:OPENING]:
        asks = one.rstrip().endswith("?")
        fails = _FAILS.search(one) and not works and not _ELSEWHERE.search(one)
        denies = _BAD.search(one) or (_NO.search(one) and not asked)
        if fails or (denies and not asks):
            return "misleading"
        works = works or bool(_WORKS.search(one) and not _FAILS.search(one) and not asks)
    return "win" if works or _GOOD.search(words) else ""


def _is_foreign(words: str) -> bool:
    """Whether somebody goes on in another language: *great, ma non funziona* praises nothing."""
    said = words_of(words)
    return len(said) > 3 and _ENGLISH.isdisjoint(said)
