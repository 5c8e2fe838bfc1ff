"""What a text marks itself: what was learned and decided, boxes and lists of tasks, questions that are called open.

Used where no events tell more: in chats, and in texts that people wrote for themselves. Sentences without such a mark
are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Conversation, Turn
from core.rules import words
from core.rules.prose import Row, Sentence, clean, has, looks_like_code, sentences, whole
from core.rules.sentence import Found, found
from core.rules.units import LEANS

# A row is looked at more closely only if one of these is in it: a plain search is far cheaper than the patterns.
FACT_CUES = (
    "turned out", "turns out", "root cause", "gotcha", "caveat", "learned", "lesson", "finding", "note that", "note:",
    "found that", "found out", "discovered", "confirmed", "insight", "fact:", "fyi", "til:", "remember:", "verified",
    "established", "the cause", "culprit",
)  # fmt: skip
DECISION_CUES = (
    "decid", "decision", "agreed", "resolved", "go with", "going with", "stick with", "resolution", "consensus",
    "chosen", "chose", "settled on", "opted",
)  # fmt: skip
_CUES = FACT_CUES + DECISION_CUES

_LEARNED = re.compile(
    r"^(?:(?:so|and|but|ok(?:ay)?|yes|yeah|also|ah|right),? )?(?:(?:it |this )?turn(?:s|ed) out(?: to be)?(?: that)?,? "
    r"|(?:we|i)(?:'ve| have)?(?: now| also| just)? (?:learned|discovered|found(?: out)?|confirmed|verified|"
    r"established) that |(?:gotcha|caveat|lessons? learned|learned|key (?:finding|insight|fact)|finding|fact|fyi|til|"
    r"remember|confirmed|root cause) ?[:—–-] ?)(?P<rest>.+)$|"
    r"^(?:please |also |important: )?note(?: that|:|,) (?P<noted>.+\b(?:requires?|needs?|only|does not|doesn't|cannot|"
    r"can't|must|is not|isn't|are not|aren't|never|always)\b.+)$",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"^(?:so,? |and )?(?:the|our) (?:(?:root|real|actual|true) cause|culprit)\b.{0,80}?\b(?:is|was|were|are)\s",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"\b(?:you|your|yours|please|let me|let's|let us|i'll|i will|i'm|i am|need to|we should|make sure|ensure)\b",
    re.IGNORECASE,
)
_DECLARED = re.compile(
    r"^(?:final )?(?:decision|decided|resolved|resolution|agreed|consensus|chosen option)(?: ?#?\d{1,3})?: ?"
    r"(?P<rest>.+)$",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:we|i|they|the (?:team|group|wg))(?:'ve| have| had)?(?: all| both| also| now| finally| already)? "
    r"(?:(?:decided|agreed|opted|chose)(?: not)? (?:to|on|that|for|against|upon)|settled on|chose)\b"
    r"|\b(?:it was|has been) (?:decided|agreed) (?:to|that)\b",
    re.IGNORECASE,
)
_GO_WITH = re.compile(
    r"\b(?:let's|let us|we'll|we will|i'll|i will|ok(?:ay)?,?|yes,?|then|so) (?:just |rather )?(?:go|stick) with\b"
    r"|^(?:go|going|stick) with\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:if|should|could|would|might|maybe|whether|once|until|unless|did|do) (?:we|i|you|they)\b", re.IGNORECASE
)
_REASON = re.compile(
    r"[,;]? (?:because|since|so that|due to|as otherwise|to avoid|the reason being)(?: |:?$)|; reason: | — ",
    re.IGNORECASE,
)
_UNDER = re.compile(
    r"^(?:\d+\.? )?(?:decisions?(?: (?:outcome|made|taken))?|what we decided|agreed|decided)$", re.IGNORECASE
)
_NO = re.compile(r"^(?:no|yes|ok|okay|and|so|but)\b,? ", re.IGNORECASE)
_EMPTY_TAIL = re.compile(r"\b(?:with|that|this|it|because|…)[.!]?$", re.IGNORECASE)
_NAMED = re.compile(rf"{words.ANCHOR.pattern}|\b[A-Z]{{2,}}\b|\b[vA-Z]?\d+(?:\.\d+)*\b|(?<=[a-z,] )[A-Z][a-z]{{2,}}")
MOST_WORDS, LEAST_OF_BOX = 60, 3


def find_statements(rows: list[Row]) -> Iterator[Found]:
    """Facts and decisions in the rows. A sentence is one or the other, a decision first."""
    for row in rows:
        if row.kind == "check":
            continue
        decision = has(row.low, DECISION_CUES)
        under = bool(row.heading) and "deci" in row.heading.lower() and _UNDER.match(row.heading) is not None
        if not (decision or under or has(row.low, FACT_CUES)):
            continue
        for sentence in sentences(row, ("",) if under else _CUES):
            item = _decision(row, sentence) if decision or under else None
            item = item or _fact(row, sentence)
            if item:
                yield item


def _decision(row: Row, sentence: Sentence) -> Found | None:
    text, person = sentence.text, row.role == "user"
    declared = _DECLARED.match(text)
    settled = _DECIDED.search(text) or (person and _GO_WITH.search(text) and _NAMED.search(text[1:]))
    below = _UNDER.match(row.heading) and re.match(
        r"we (?:will|use|do|shall|now|are going)\b|use ", text, re.IGNORECASE
    )
    if not declared and (text.endswith(("?", ":")) or not (settled or below) or _OPEN.search(text)):
        return None
    body = declared["rest"] if declared else text
    if not _sound(body, least=3 if person else 5):
        return None
    because = _REASON.search(body)
    statement, detail = body, ""
    if because and because.start() >= 9:
        statement, detail = body[: because.start()], body[because.end() :]
        detail = "" if "see below" in detail else detail
    statement = _NO.sub("", statement) if person else statement
    if _EMPTY_TAIL.search(statement):
        return None
    return _item("decisions", statement, sentence, 4 + bool(detail) + person, row, detail)


def _fact(row: Row, sentence: Sentence) -> Found | None:
    text = sentence.text
    learned = _LEARNED.match(text)
    if not (learned or _CAUSE.match(text)) or text.endswith(("?", ":")):
        return None
    statement = (learned["rest"] or learned["noted"]) if learned else text
    if _ADDRESS.search(statement) or LEANS.match(statement):
        return None
    if not _NAMED.search(statement[1:]) or not _sound(statement, least=4):
        return None
    return _item("facts", statement, sentence, 4 + (row.role == "user"), row)


def _sound(text: str, least: int) -> bool:
    """Whether it reads as one statement: enough words, not too many, not code, not cut off."""
    return (
        least <= len(text.split()) <= MOST_WORDS and not looks_like_code(text) and not text.endswith(("...", "…", ":"))
    )


def _item(category: str, text: str, said: Sentence, score: int, row: Row, detail: str = "") -> Found:
    text = clean(text).strip(" ,;—–-")
    if text[:1] == '"' and text[-1:] == '"' and text.count('"') == 2:
        text = text[1:-1]
    return found(category, text, row.turn, detail=detail.strip(" ,;—–-"), quote=said.quote, score=score)


# --- tasks and questions ---

_TODO = re.compile(
    r"^(?:TODO|FIXME|XXX)(?:\([^()\n]{1,40}\))?\s?[:—–-]\s?(?P<rest>.+)$|^todo: ?(?P<lower>.+)$|"
    r"^(?:action(?: item)?|follow[- ]?up)(?: ?#?\d{1,3})? ?: ?(?P<action>.+)$",
    re.IGNORECASE,
)
_TEST_CASE = re.compile(r"^(?:setup|given|arrange|precondition|state|before)\b", re.IGNORECASE)
_REMAINING = re.compile(
    r"^(?:what(?:'s| is) (?:left|missing)|remaining(?: (?:work|tasks?|items?|steps))?|"
    r"still (?:to do|open|missing|todo)|"
    r"left to do|to[- ]?dos?|open (?:items?|tasks?|points?|work)|outstanding(?: (?:items?|work|tasks?))?|deferred|"
    r"follow[- ]?ups?|action items?|not (?:yet )?(?:done|implemented|finished))\b[^.?!]{0,40}$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\b(?:a|an|the|to|of)\b")
_OF_ANY_TASK = re.compile(
    r"^\w+ (?:(?:an?|the|all|any|new|edge|existing) )*(?:requirements?|results?|implementation|tests?|solution|"
    r"changes?|code(?:base)?|files?|plan|steps?|documentation|cases|summary|features?|structure)$",
    re.IGNORECASE,
)
_LOOKED = re.compile(r"(?:read|examine|understand|review|analy[sz]e|look|explore|inspect|check|identify|find)\b", re.I)
"""Having looked at something is no work that anybody will ask for."""
_VAGUE = re.compile(r"^(?:\w+ )?(?:it|this|that|they|these|those|there)\b", re.IGNORECASE)
_EXPLICIT_QUESTION = re.compile(
    r"^(?:(?:open|unresolved|unanswered|remaining) questions?(?: ?#?\d{1,3})?|tbd|to be (?:decided|determined)) ?"
    r"[:—–-] ?(?P<rest>.+)$",
    re.IGNORECASE,
)
_OPEN_HEADING = re.compile(
    r"^(?:\d+\.? )?(?:open|unresolved|unanswered|remaining) (?:questions?|issues?)\b.{0,30}$", re.IGNORECASE
)
_REQUEST = re.compile(
    r"^(?:(?:hi|hello|hey|ok(?:ay)?|now|also|and|so),? )?(?:can|could|would|will) you(?: please)? (?P<rest>\w.+?)\??$"
    r"|^(?:please|pls) (?P<please>\w.+)$",
    re.IGNORECASE,
)
_TO_SOMEBODY = re.compile(r"\b(?:I|you|me|my|your|it|this|that)\b", re.IGNORECASE)
LEAST_UNNAMED = 8
"""Words of a question that names nothing and yet says what it is about."""
_QUESTION_CUES = ("question", "tbd", "to be de")
_SLASH = re.compile(r"[/!](?!ask\b|code\b|architect\b)\w")
_NONE = re.compile(r"^(?:none|n/a|nothing|no|null|tbd|done)\b.{0,20}$", re.IGNORECASE)


def find_tasks(rows: list[Row], conversation: Conversation) -> Iterator[Found]:
    """Open and done tasks. Of a box that is shown again and again, the last state counts."""
    boxes: dict[str, Found] = {}
    final = max((at for at, turn in enumerate(conversation.turns) if turn.role == "assistant"), default=-1)
    # An assistant shows its whole list again at every step: what is open stands in the last one.
    listed = max((row.turn for row in rows if row.kind == "check" and row.role == "assistant"), default=-1)
    for row, before in zip(rows, ("", *(row.text for row in rows)), strict=False):
        if row.kind == "check":
            item = _box(row)
            if item:
                key = " ".join(_WORD.findall(_ARTICLE.sub(" ", item.fields["statement"].casefold())))
                boxes.pop(key, None)
                if item.category == "tasks_done" or row.role == "user" or row.turn == listed:
                    boxes[key] = item
            continue
        if row.kind == "bullet" and _REMAINING.match(row.heading) and (row.turn == final or row.role == "user"):
            yield from _task(whole(row).text, whole(row), 2, row)
        elif has(row.low, ("todo", "fixme", "xxx", "action", "follow")):
            said = whole(row)
            parts = [said] if _TODO.match(said.text) and len(row.text) <= 500 else list(sentences(row))
            for part in parts if not _TEST_CASE.match(before) else ():  # what a test does is nobody's task
                if opened := _TODO.match(part.text):
                    yield from _task(next(filter(None, opened.groups())), part, 3, row)
    yield from boxes.values()


def find_questions(rows: list[Row], conversation: Conversation) -> Iterator[Found]:
    """Questions that are called open, and what the user asked last if nobody answered it, where it names a thing.

    An unanswered request ("can you …") is work that was not done: it is yielded as an open task.
    """
    for row in rows:
        if row.kind in ("bullet", "prose") and row.heading and _OPEN_HEADING.match(row.heading):
            asked = next((said for said in sentences(row) if said.text.endswith("?")), None)
            if asked and len(asked.text.split()) > 5:
                yield from _question(asked.text, asked, 4, row)
                continue
        for sentence in sentences(row, _QUESTION_CUES) if has(row.low, _QUESTION_CUES) else ():
            if explicit := _EXPLICIT_QUESTION.match(sentence.text):
                yield from _question(explicit["rest"], sentence, 4, row)
    number = _unanswered(conversation)
    if number < 0 or not any(turn.role == "assistant" for turn in conversation.turns):
        # Where nobody could answer, nobody can tell a question that waits from a figure of speech.
        return
    for row in [row for row in rows if row.turn == number][-3:]:
        for sentence in sentences(row):
            text = sentence.text
            request = _REQUEST.match(text)
            names = _NAMED.search(text[1:]) or (len(text.split()) >= LEAST_UNNAMED and not _TO_SOMEBODY.search(text))
            if looks_like_code(text) or _SLASH.match(text) or not names:
                continue
            if request:
                yield from _task(next(filter(None, request.groups())), sentence, 3, row)
            elif text.endswith("?") and not text.lower().startswith(("will you", "would you")):
                yield from _question(text, sentence, 3, row)


def _box(row: Row) -> Found | None:
    said = whole(row)
    named = re.findall(r"[^\W\d_]+", said.text.lower())
    if len(said.text) > 300 or len(named) < LEAST_OF_BOX or _OF_ANY_TASK.match(said.text):
        return None
    if row.mark != " " and _LOOKED.match(said.text):
        return None
    if row.mark in "-~/":
        # Dropped or half done, tools differ in what they mean by it: as open it is looked at again.
        return _item("tasks_open", said.text, said, 2, row)
    return _item("tasks_open" if row.mark == " " else "tasks_done", said.text, said, 3, row)


def _task(text: str, said: Sentence, score: int, row: Row) -> Iterator[Found]:
    text = text.strip(" -—–:")
    if _sound(text, least=3) and not _NONE.match(text) and text[-1:] != "?":
        yield _item("tasks_open", text, said, score + (row.role == "user"), row)


def _question(text: str, said: Sentence, score: int, row: Row) -> Iterator[Found]:
    text = text.strip(" -—–:")
    if _VAGUE.match(text) and len(text.split()) < 8:
        return
    if _sound(text, least=4) and not _NONE.match(text):
        yield _item("questions", text, said, score + (row.role == "user"), row)


def _unanswered(conversation: Conversation) -> int:
    """The number of the user's last turn if no assistant spoke after it, else -1."""

    def speaks(turn: Turn) -> bool:
        return turn.role in ("user", "assistant") and not _SLASH.match(turn.text)

    spoken = [number for number, turn in enumerate(conversation.turns) if speaks(turn)]
    return spoken[-1] if spoken and conversation.turns[spoken[-1]].role == "user" else -1
