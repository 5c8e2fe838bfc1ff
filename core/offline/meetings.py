"""What a talk of several people leaves behind: what was agreed, who took something on, what nobody answered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.offline.features import Seen, line_features, question_features
from core.offline.prose import begun, looks_like_code
from core.offline.statements import Found
from core.offline.talk import Said, Talk
from core.offline.weights import Models, chance, chance_at, places

_MARKED = re.compile(
    r"(?:(?P<decision>resol(?:ved|ution)s?|decision|decided|agreed|consensus)"
    r"|(?P<action>action(?: items?)?|to-?do|follow[- ]?up))(?: ?#?\d{1,3})? ?(?::|[-—–] ) ?(?P<rest>\S.*)",
    re.IGNORECASE,
)
_PROPOSED = re.compile(
    r"(?:proposed resolution|proposal|proposed|straw ?poll|poll)(?: ?#?\d{1,3})? ?: ?", re.IGNORECASE
)
# Asking whether one may ask, or whether anybody listens, is no question that somebody would want back.
_EMPTY = re.compile(
    r"(?:(?:hi|hello|hey)\b.{0,20}|any ?(?:one|body) (?:here|there|awake|alive)|(?:can|may) i ask .{0,30})\?",
    re.IGNORECASE,
)
MOST_WORDS = 80


def find_in_talk(talk: Talk, models: Models) -> Iterator[Found]:
    """Decisions, open tasks and open questions of a talk. Marked lines (`RESOLVED: …`, `ACTION: …`) need no model."""
    seen = Seen(talk)
    decided: set[str] = set()
    for at, line in enumerate(talk.lines):
        marked = _MARKED.match(line.text)
        if marked:
            rest = marked["rest"].strip(" *_")
            if len(rest.split()) > 1:
                yield _found("decisions" if marked["decision"] else "tasks_open", rest, line, 9)
            continue
        if not 2 <= len(line.text.split()) <= MOST_WORDS or seen.votes[at]:
            continue
        if line.text.endswith("?"):
            yield from _question(seen, at, models)
        elif seen.keys[at] not in decided:
            for found in _agreed(seen, at, models):
                if looks_like_code(line.text):
                    continue
                if found.category == "decisions":
                    decided.add(seen.keys[at])
                yield found


def _agreed(seen: Seen, at: int, models: Models) -> Iterator[Found]:
    line, decision, action = seen.lines[at], models.get("decision"), models.get("action")
    if not decision or not action:
        return
    features = line_features(seen, at)
    found = places(features, len(decision.buckets))
    yes = chance_at(decision, found)
    if yes >= decision.threshold:
        yield _found("decisions", _PROPOSED.sub("", line.text, count=1), line, 2 + 4 * yes)
        return
    same = len(action.buckets) == len(decision.buckets)
    yes = chance_at(action, found if same else places(features, len(action.buckets)))
    if yes >= action.threshold:
        yield _found("tasks_open", line.text, line, 2 + 4 * yes)


def _question(seen: Seen, at: int, models: Models) -> Iterator[Found]:
    line, weights = seen.lines[at], models.get("unanswered")
    if not weights or len(line.text.split()) < 3 or _EMPTY.fullmatch(line.text):
        return
    if not seen.by_name:
        # Two or three people in turn: whoever speaks next answers. Only the last word can have been left standing.
        if len(set(seen.speakers[at:])) == 1 and seen.speakers[at]:
            yield _found("questions", line.text, line, 3)
        return
    yes = chance(weights, question_features(seen, at))
    if yes >= weights.threshold:
        yield _found("questions", line.text, line, 2 + 4 * yes)


def _found(category: str, text: str, line: Said, score: float) -> Found:
    text = begun(text)
    return Found(category, {"statement": text, "detail": "", "quote": line.quote}, round(score), line.turn)
