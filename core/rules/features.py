"""What a unit of a session looks like to the fitted selection: its words, and where and by whom it was said.

Every feature is a short string (`w:because`, `place:closing`) that has its weight in `assets/worth.tsv`. They are
read off the unit and its session alone, in time linear in the text; the tables of words hold in several languages, the
single words only in the one that they are of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from core.conversations.events import Commit
from core.rules import words
from core.rules.prose import by_person, looks_like_code
from core.rules.sentence import lost, named, names_in
from core.rules.session import Session
from core.rules.units import LEANS, Unit

_CUES = {
    "why": r"\b(?:because|since|so that|otherwise|due to|caused?|causes|reason|which (?:is why|means)|therefore|"
    r"hence)\b",
    "root": r"\b(?:root cause|culprit|turns? out|turned out|actual(?:ly)? (?:cause|problem|issue))\b",
    "rule": r"\b(?:must|never|always|only|should not|shouldn't|don't|do not|cannot|can't|required?|needs? to|has to)\b",
    "limit": r"\b(?:unless|until|silently|by default|defaults? to|no longer|not supported|does(?:n't| not)|won't|"
    r"limits?)\b",
    "contrast": r"\b(?:instead|rather than|not just|but|however|although|whereas|except|without)\b",
    "open": r"\b(?:not yet|still|remain\w*|pending|todo|later|follow[- ]?up|deferred|left|untested|unverified|"
    r"blocked|uncommitted|next steps?)\b",
    "fails": r"\b(?:fail\w*|errors?|crash\w*|broke\w*|breaks?|bug|wrong|missing|stale|leak\w*|race|hang\w*|"
    r"exception)\b",
    "fix": r"\b(?:fix\w*|solution|solve\w*|resolve\w*|workaround|cure|mitigat\w*)\b",
    "guess": r"\b(?:might|maybe|perhaps|probably|possibly|likely|seems?|appears?|could|I think|not sure)\b",
    "me": r"\b(?:I|I'm|I've|I'll|I'd|me|my|let's|let me)\b",
    "you": r"\b(?:you|your|you're|you'll)\b",
    "we": r"\b(?:we|our|us)\b",
    "please": r"\b(?:please|can you|could you|would you)\b",
    "test": r"\b(?:tests?|suite|passe?[sd]?|passing|green|build|lint\w*|typecheck)\b",
    "git": r"\b(?:commit\w*|push\w*|branch|merge\w*|PR|rebase\w*|staged)\b",
    "praise": r"\b(?:clean\w*|robust|elegant|comprehensive|well|good|great|nice|solid|excellent|correct(?:ly)?|"
    r"safe)\b|✅",
    "now": r"\b(?:now|already|currently|just)\b",
    "line": r"\blines? \d+|:\d+\b",
    "choice": r"\b(?:chose|chosen|decided?|decision|prefer\w*|approach|trade-?off|design|convention)\b",
    "how": r"\b(?:run|use|set|install|export|pass|call|add)\b",
}
_TABLES = {
    "cause": words.CAUSE, "needs": words.LIMIT, "left": words.LEFT,
    "done": words.DONE, "monologue": words.MONOLOGUE, "offer": words.OFFER, "hedge": words.HEDGE,
    "must": words.RULE, "strong": words.STRONG,
} | {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _CUES.items()}  # fmt: skip
_TOKEN = re.compile(r"`[^`\n]*`|[A-Za-z][A-Za-z']+|\d[\d.,:]*|[^\sA-Za-z\d`]+")
_NAME = re.compile(r"[A-Za-z_][\w.-]{3,}")
_SUFFIX = re.compile(r"(?:ing|ed|es|s|ly|e)$")
_MARKS = ":;?!—→✅❌⚠("
_PATH = re.compile(r"\w/\w|\b\w+\.[a-z]{1,5}\b")
_PAST = re.compile(r"^(?:I |I've |We |We've )?(?:also |now )?[A-Za-z]+ed\b")
_THANKS = re.compile(r"\b(?:thanks?|thank you|great|perfect|nice|awesome|works|worked|good job|excellent|lgtm)\b", re.I)
_GO_ON = re.compile(
    r"^\W*(?:yes|ok(?:ay)?|sure|go ahead|do it|continue|proceed|commit|push|next|now|sounds good)\b", re.I
)
LONGEST_LOOKED_AT, LONGEST_SAID = 20_000, 400
"""Characters of a tool's output, and of what the user says next, that are looked at."""


class Scene:
    """What is asked of a session for each of its units, gathered once."""

    def __init__(self, session: Session, units: Sequence[Unit]) -> None:
        turns = session.conversation.turns
        self.turns = len(turns)
        self.with_events = bool(session.events)
        self.closings = {row.number: row for row in session.closings}
        self.said = [(at, turn.text.strip()[:LONGEST_SAID]) for at, turn in enumerate(turns) if by_person(turn)]
        self.shown: set[str] = set()
        for turn in turns:
            if turn.role == "tool":
                self.shown.update(_NAME.findall(turn.text[:LONGEST_LOOKED_AT].lower()))
        self.last_commit = max(
            (at for at, row in session.events if isinstance(row, Commit) and row.succeeded is not False), default=-1
        )
        self.last_change = session.last_change
        self.in_message: dict[tuple[int, str], int] = {}
        self.last_named: dict[str, int] = {}
        for unit in units:
            key = unit.turn, unit.place
            self.in_message[key] = self.in_message.get(key, 0) + 1
            self.last_named.update(dict.fromkeys(names_in(unit.text), unit.turn))


def features(unit: Unit, scene: Scene) -> set[str]:
    """The features of one unit."""
    return {*_of_words(unit), *_of_place(unit, scene)}


def _bucket(number: float, edges: Sequence[float]) -> int:
    return sum(number >= edge for edge in edges)


@lru_cache(maxsize=1024)
def _tokens(text: str) -> tuple[str, ...]:
    """The words of a text without their endings; code, numbers and marks by their kind."""
    found = []
    for token in _TOKEN.findall(text):
        if token[0] == "`":
            found.append("<code>")
        elif token[0].isdigit():
            found.append("<n>")
        elif token[0].isalpha():
            low = token.lower()
            found.append(_SUFFIX.sub("", low) if len(low) > 4 else low)
        else:
            found += [mark for mark in _MARKS if mark in token][:1]
    return tuple(found)


def _of_words(unit: Unit) -> Iterator[str]:
    text, side = unit.text, "u" if unit.place == "user" else "a"
    tokens = _tokens(text)
    yield from (f"w:{token}" for token in tokens)
    yield f"first:{side}:{tokens[0] if tokens else ''}"
    length = _bucket(len(text), (40, 80, 120, 180, 260, 360))
    yield from (f"long:{length}", f"long:{side}:{length}")
    number = len(words.ANCHOR.findall(text))
    yield from (f"names:{min(number, 4)}", f"code:{min(text.count('`') // 2, 4)}")
    told = {
        "path": _PATH.search(text),
        "number": any(map(str.isdigit, text)),
        "program": looks_like_code(text),
        "dangles": words.DANGLING.match(text),
        "leans": LEANS.match(text),
        "lost": lost(text),
        "unnamed": not named(text),
        "past": _PAST.match(text),
        f"order:{side}": words.ORDER.match(text),
    }
    yield from (name for name, is_so in told.items() if is_so)
    for name, pattern in _TABLES.items():
        if pattern.search(text):
            yield from (f"cue:{name}", f"cue:{name}:{unit.place}")
            if number:
                yield f"cue:{name}:named"


def _of_place(unit: Unit, scene: Scene) -> Iterator[str]:
    place = unit.place
    yield from (f"place:{place}", f"kind:{unit.kind}", f"kind:{unit.kind}:{place}")
    yield f"down:{_bucket(unit.share, (0.01, 0.25, 0.5, 0.75, 0.9))}"
    yield f"units:{_bucket(scene.in_message[unit.turn, place], (2, 4, 8, 16, 32))}:{place}"
    yield f"left:{_bucket((scene.turns - 1 - unit.turn) / max(1, scene.turns), (0.001, 0.1, 0.3, 0.6, 0.9))}"
    closing = scene.closings.get(unit.turn)
    said = next((text for at, text in scene.said if at > unit.turn), "")
    told = {
        f"items:{place}": unit.items > 1,
        "headed": unit.heading,
        "at_end": closing and closing.at_end,
        "changed": closing and closing.changed,
        "doubted": closing and (closing.refuted or closing.doubted),
        "overtaken": closing and closing.overtaken,
        f"then:thanks:{place}": _THANKS.search(said),
        f"then:go_on:{place}": _GO_ON.match(said),
        f"then:trouble:{place}": words.TROUBLE.search(said),
        f"then:wrong:{place}": words.CORRECTION.match(said),
        f"work_after:{place}": scene.last_change > unit.turn,
        f"commit_after:{place}": scene.last_commit > unit.turn,
        f"no_events:{place}": not scene.with_events,
        f"one_request:{place}": len(scene.said) == 1,
    }
    yield from (name for name, is_so in told.items() if is_so)
    if names := names_in(unit.text):
        shown = sum(any(part in scene.shown for part in _NAME.findall(name)) for name in names)
        again = sum(scene.last_named.get(name, -1) > unit.turn for name in names)
        yield f"shown:{_bucket(shown / len(names), (0.01, 0.5, 0.99))}"
        yield f"again:{_bucket(again / len(names), (0.01, 0.5, 0.99))}"
