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
from core.conversations.events import Call, Command, OtherCall
from core.experience.kinds import infer_task_type
from core.experience.record import CHUNK, INFERRED, Use
from core.experience.verdict import by_user, has_written, name_words, verdict
from core.search.words import STOP_WORDS, words_of

RUN = 5
"""The words in a row that an answer repeats where it used a thing."""
SHARE = 0.5
"""The share of a thing's telling words that makes a use without a repetition."""
TELLING = 5
"""The fewest of these words."""
AT_ONCE = 4
"""The fewest within one turn, where a name of code is among them."""
LOOKED = 20_000
"""Characters of an answer that are looked at."""

_ASKED = re.compile(r"(?:knowledge|memory|manual.slop).*find\Z|\Afind\Z", re.IGNORECASE)
_NAMED = re.compile(r'"find"')
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
        for things, outcome, why in outcomes(told, asked, conversation.turns[at:], conversation.turns[:at]):
            made += [
                Use(one.of, outcome, when, infer_task_type(asked), why, INFERRED, one.place, conversation.id,
                    f"{at}:{one.of}", project)
                for one in things
            ]  # fmt: skip
    return made


def outcomes(
    told: Sequence[Told], asked: str, turns: Sequence[Turn], before: Sequence[Turn] = ()
) -> list[tuple[list[Told], str, str]]:
    """How what was told served in the turns from its answer on, with the words that show it; `before` are the turns up
    to it. Where nothing of it was used nothing is said, whoever complained."""
    uses = _uses(told, asked, turns)
    found: dict[tuple[str, str], list[Told]] = {}
    for one, at in uses:
        found.setdefault(verdict(one.text, turns, at, before) or ("partial", ""), []).append(one)
    rows = [(things, outcome, why) for (outcome, why), things in found.items()]
    used = [one for one, _ in uses]
    rest = [one for one in told if one not in used]
    return [*rows, (rest, "miss", "found, and nothing of it was used")] if rows and rest else rows


class _Sought(NamedTuple):
    """What shows that a thing was used: its key, the runs of its words and its telling words that the question had not,
    and those of them that are of names of code. `words` are all that say something, short numbers too."""

    told: Told
    key: str
    runs: set[tuple[str, ...]]
    telling: set[str]
    named: set[str]
    words: set[str]


def _sought(one: Told, asked: Sequence[str]) -> _Sought:
    words = words_of(one.text)
    telling = {word for word in words if word not in STOP_WORDS and len(word) > 2}.difference(asked)
    name = one.of[:8] if CHUNK.fullmatch(one.of) else one.of
    key = name if " " not in one.of and len(name) >= 8 else ""
    said = set(words) - STOP_WORDS
    return _Sought(one, key, _runs(words) - _runs(asked), telling, telling & name_words(one.text), said)


def _uses(told: Sequence[Told], asked: str, turns: Sequence[Turn]) -> list[tuple[Told, int]]:
    """What was used, with the turn that used it: of the words that were written and run up to the user's next reply,
    and so on from reply to reply. Of two lines that begin alike the one was used of which more was said."""
    question = words_of(asked)
    sought = [_sought(one, question) for one in told]
    found: dict[Told, int] = {}
    said: set[str] = set()
    repeated: set[tuple[str, ...]] = set()
    before: list[str] = []
    room = LOOKED
    for at, turn in enumerate(turns):
        if room <= 0:
            break
        if by_user(turn):
            said, repeated, before = set(), set(), []
        text = _said(turn)[:room]
        if not text:
            continue
        room -= len(text)
        words = words_of(text)
        runs = _runs([*before[1 - RUN :], *words])
        before, here = words, set(words)
        said |= here
        repeated |= runs
        used = []
        for one in sought:
            at_once, so_far = one.telling & here, one.telling & said
            if (
                (one.key and one.key in text)
                or one.runs & runs
                or len(so_far) >= max(TELLING, SHARE * len(one.telling))
                or (len(at_once) >= max(AT_ONCE, SHARE * len(one.telling)) and at_once & one.named)
            ):
                used.append(one)
        rivals = [(one, _Shown.of(one, said, repeated)) for one in used]
        for one, shown in rivals:
            named = one.key and one.key in text
            if named or not any(shown.is_less(more, other.told in found) for other, more in rivals if other is not one):
                found.setdefault(one.told, at)
    return list(found.items())


class _Shown(NamedTuple):
    """What of a thing was said: words and runs of them, and which share of its words."""

    words: frozenset[tuple[str, ...]]
    share: float

    @classmethod
    def of(cls, one: _Sought, said: set[str], repeated: set[tuple[str, ...]]) -> _Shown:
        words = one.words & said
        return cls(frozenset(one.runs & repeated | {(word,) for word in words}), len(words) / max(1, len(one.words)))

    def is_less(self, more: _Shown, known: bool) -> bool:
        """Whether what was said is rather of the other thing: all of this, and more, and no smaller part of it. Where
        it is as much, the one that is known to be used has it. A passage that holds a line does not take it away."""
        return (self.words < more.words and self.share <= more.share) or (known and self.words == more.words)


def _answers(turns: Sequence[Turn]) -> Iterator[tuple[int, str, list[Told]]]:
    """Each turn in which `find` answered, with what the user had asked last and what was told."""
    asked = ""
    for at, turn in enumerate(turns):
        if by_user(turn):
            asked = turn.text
        for event in turn.events:
            if not isinstance(event, Call) or not event.output:
                continue
            if _is_ours(event) and (told := told_in(event.output)):
                yield at, asked, told


def _is_ours(event: Call) -> bool:
    """Whether `find` was called: by its name, on a command line, or by a tool that calls any server's."""
    if isinstance(event, Command):
        return bool(_RAN.search(event.words))
    through = isinstance(event, OtherCall) and "mcp" in event.tool.lower() and _NAMED.search(event.words)
    return bool(through or _ASKED.search(event.tool))


def _said(turn: Turn) -> str:
    """What an assistant wrote, ran and put into files in a turn; not what tools gave back."""
    if turn.role != "assistant" and not has_written(turn):
        return ""
    return "\n".join((turn.text, *(event.words for event in turn.events if isinstance(event, Command))))


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    found = {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}
    return {run for run in found if sum(word not in STOP_WORDS for word in run) >= 3}
