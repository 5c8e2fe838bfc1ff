"""What a text marks itself: what was learned and decided, boxes, lists of what remains, questions that are called open.

Used where no events tell more: in chats, and in texts that people wrote for themselves. Sentences without such a mark
are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.rules import words
from core.rules.prose import Row, Sentence, clean, has, looks_like_code, sentences, whole
from core.rules.sentence import Found, found
from core.rules.units import LEANS

# A row is looked at more closely only if one of these is in it: a plain search is far cheaper than the patterns.
_CUES = (
    "turned out", "turns out", "root cause", "note that", "found that", "found out", "discovered", "learned", "decid",
    "decision", "agreed", "chose", "go with",
)  # fmt: skip
_LEARNED = re.compile(
    r"^(?:(?:it |this )?turn(?:s|ed) out(?: to be)?(?: that)?,? |root cause: |"
    r"(?:we|i)(?:'ve| have)? (?:learned|discovered|found(?: out)?) that )(?P<rest>.+)$|"
    r"^(?P<cause>(?:so,? )?the (?:root|real|actual) cause (?:is|was) .+)$|"
    r"^note that (?P<noted>.+\b(?:requires?|needs?|only|does not|doesn't|cannot|can't|must|is not|isn't|are not|aren't|"
    r"never|always)\b.+)$",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b(?:you|your|yours|please|let me|let's|i'll|i'm|need to|we should|make sure)\b", re.IGNORECASE)
_DECIDED = re.compile(
    r"^(?:decision|decided): ?(?P<rest>.+)$|"
    r"\b(?:we|i|they)(?:'ve| have| had)?(?: all| now| finally)? "
    r"(?:(?:decided|agreed) (?:not )?(?:to|on|that|for|against)|chose)\b",
    re.IGNORECASE,
)
_GO_WITH = re.compile(r"\b(?:let's|let us|we'll|i'll|ok(?:ay)?,?|yes,?) (?:go|stick) with\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:if|should|could|would|might|maybe|whether|once|until|unless|did|do) (?:we|i|you|they)\b", re.I
)
_REASON = re.compile(r"[,;]? (?:because|since|so that|due to) ", re.IGNORECASE)
_NAMED = re.compile(rf"{words.ANCHOR.pattern}|\b[A-Z]{{2,}}\b|\b[vA-Z]?\d+(?:\.\d+)*\b|(?<=[a-z,] )[A-Z][a-z]{{2,}}")
MOST_WORDS, LEAST_OF_BOX = 60, 3


def find_statements(rows: list[Row]) -> Iterator[Found]:
    """Facts and decisions in the rows. A sentence is one or the other, a decision first."""
    for row in rows:
        if row.kind != "check" and has(row.low, _CUES):
            for sentence in sentences(row, _CUES):
                item = _decision(row, sentence) or _fact(row, sentence)
                if item:
                    yield item


def _decision(row: Row, sentence: Sentence) -> Found | None:
    text, person = sentence.text, row.role == "user"
    decided = _DECIDED.search(text) or (person and _GO_WITH.search(text) and _NAMED.search(text[1:]))
    if not decided or text.endswith(("?", ":")) or _OPEN.search(text):
        return None
    body = decided["rest"] if decided.re is _DECIDED and decided["rest"] else text
    if not _sound(body, least=3 if person else 5):
        return None
    statement, because, detail = body, _REASON.search(body), ""
    if because:
        statement, detail = body[: because.start()], body[because.end() :]
    return _item("decisions", statement, sentence, 4 + bool(detail) + person, row, detail)


def _fact(row: Row, sentence: Sentence) -> Found | None:
    learned = _LEARNED.match(sentence.text)
    if not learned or sentence.text.endswith(("?", ":")):
        return None
    statement = learned["rest"] or learned["cause"] or learned["noted"]
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
    return found(category, text, row.turn, detail=detail.strip(" ,;—–-"), quote=said.quote, score=score)


# --- tasks and questions ---

_TODO = re.compile(r"^(?:TODO|FIXME|action(?: item)?)(?:\([^()\n]{1,40}\))? ?[:—–-] ?(?P<rest>.+)$", re.IGNORECASE)
_TEST_CASE = re.compile(r"^(?:setup|given|arrange|precondition|state|before)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_OF_ANY_TASK = re.compile(
    r"^\w+ (?:(?:an?|the|all|any|new|edge|existing) )*(?:requirements?|results?|implementation|tests?|solution|"
    r"changes?|code(?:base)?|files?|plan|steps?|documentation|cases|summary|features?|structure)$",
    re.IGNORECASE,
)
_LOOKED = re.compile(r"(?:read|examine|understand|review|analy[sz]e|look|explore|inspect|check|identify|find)\b", re.I)
"""Having looked at something is no work that anybody will ask for."""
_QUESTION = re.compile(
    r"^(?:(?:open|unresolved) questions?|tbd|to be (?:decided|determined)) ?[:—–-] ?(?P<rest>.+)$", re.IGNORECASE
)
_OPEN_HEADING = re.compile(r"^(?:open|unresolved) questions?\b", re.IGNORECASE)


def find_tasks(rows: list[Row]) -> Iterator[Found]:
    """Open and done tasks. Of a box that is shown again and again, the last state counts."""
    boxes: dict[str, Found] = {}
    # An assistant shows its whole list again at every step: what is open stands in the last one.
    listed = max((row.turn for row in rows if row.kind == "check" and row.role == "assistant"), default=-1)
    for row, before in zip(rows, ("", *(row.text for row in rows)), strict=False):
        if row.kind == "check":
            item = _box(row)
            if item:
                key = " ".join(_WORD.findall(item.fields["statement"].casefold()))
                boxes.pop(key, None)
                if item.category == "tasks_done" or row.role == "user" or row.turn == listed:
                    boxes[key] = item
        elif has(row.low, ("todo", "fixme", "action")) and not _TEST_CASE.match(before):
            parts = [whole(row)] if _TODO.match(clean(row.text)) else sentences(row)
            for part in parts:  # what a test does is nobody's task
                opened = _TODO.match(part.text)
                if opened and _sound(opened["rest"], least=3):
                    yield _item("tasks_open", opened["rest"], part, 3 + (row.role == "user"), row)
    yield from boxes.values()


def _box(row: Row) -> Found | None:
    said = whole(row)
    named = re.findall(r"[^\W\d_]+", said.text.lower())
    if len(said.text) > 300 or len(named) < LEAST_OF_BOX or _OF_ANY_TASK.match(said.text):
        return None
    if row.mark != " " and _LOOKED.match(said.text):
        return None
    # Dropped or half done ("-", "~", "/"), tools differ in what they mean by it: as open it is looked at again.
    return _item("tasks_open" if row.mark in " -~/" else "tasks_done", said.text, said, 3, row)


def find_questions(rows: list[Row]) -> Iterator[Found]:
    """Questions that are called open, by their heading or their first words."""
    for row in rows:
        below = row.kind != "check" and _OPEN_HEADING.match(row.heading) is not None
        for sentence in sentences(row) if below or has(row.low, ("question", "tbd", "to be de")) else ():
            explicit = _QUESTION.match(sentence.text)
            text = explicit["rest"] if explicit else sentence.text if below and sentence.text.endswith("?") else ""
            if _sound(text, least=4):
                yield _item("questions", text, sentence, 4 + (row.role == "user"), row)
