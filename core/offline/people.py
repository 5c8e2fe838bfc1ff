"""What people leave who write to each other: what was agreed, taken on, asked for, left unanswered, and decided."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Conversation
from core.offline.models import Models, Seen, chance, line_features, question_features, request_features
from core.offline.prose import Row, begun, clean, looks_like_code, sentences
from core.offline.statements import Found
from core.offline.talk import Said, Talk

# --- talks of several people ---


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
MAX_WORDS = 80


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
        if not 2 <= len(line.text.split()) <= MAX_WORDS or seen.votes[at]:
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
    yes = chance(decision, features)
    if yes >= decision.threshold:
        yield _found("decisions", _PROPOSED.sub("", line.text, count=1), line, 2 + 4 * yes)
        return
    yes = chance(action, features)
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


# --- a message that stands alone ---


MAX_ROWS = 40
_TAG = re.compile(r"&(?:quot|amp|lt|gt|#\d{1,5});")
_CHARACTERS = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}


def find_requests(rows: list[Row], conversation: Conversation, models: Models) -> Iterator[Found]:
    """What a message asks for, as open tasks: nobody answered, so each request and each question waits.

    Only for texts without an assistant and without headings, at most `MAX_ROWS` paragraphs: in documentation every
    second sentence is an imperative that asks nobody for anything.
    """
    weights = models.get("request")
    if not weights or not 0 < len(rows) <= MAX_ROWS or any(row.kind == "check" for row in rows):
        return
    if any(turn.text.startswith("#") or "\n#" in turn.text or "```" in turn.text for turn in conversation.turns):
        return
    for row in rows:
        for sentence in sentences(row):
            text = _TAG.sub(lambda tag: _CHARACTERS.get(tag[0], " "), sentence.text)
            if len(text.split()) < 2 or looks_like_code(text):
                continue
            yes = chance(weights, request_features(text))
            if yes >= weights.threshold:
                text = begun(clean(text))
                fields = {"statement": text, "detail": "", "quote": sentence.quote}
                yield Found("tasks_open", fields, round(1 + 4 * yes), row.turn)


# --- a record of decisions ---


_CUES = ("we will", "we'll", "we shall", "going to", "should be used", "chosen", "we use", "will be used", "will use")
_WILL = re.compile(
    r"(?:(?:therefore|so|hence|instead|for now|as a result|going forward),? )?"
    r"(?:(?:we|the team)(?:'ll| will| shall| are going to| have chosen to| use)(?: now| also| not| only| always)? "
    r"(?!be able\b|need\b|see\b|have to\b|likely\b|probably\b|get\b|lose\b|know\b|find\b|still\b)"
    r"|[\"`*'\w][^.:;,]{2,60} will(?: not| only)? (?:be used|use|be stored|live|be the)\b)",
    re.IGNORECASE,
)
MAX_RESOLUTIONS = 3


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
            if count == MAX_RESOLUTIONS:
                return
