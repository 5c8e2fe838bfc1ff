"""What a text marks itself: what was learned and decided, boxes, what is to be done, questions that are called open.

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
    "decision", "agreed", "chose", "go with", "todo", "fixme", "action item", "open question", "unresolved question",
    "tbd",
)  # fmt: skip
_TODO = re.compile(r"^(?:TODO|FIXME|action item)(?:\([^()\n]{1,40}\))? ?[:—–-] ?(?P<rest>.+)$", re.IGNORECASE)
_QUESTION = re.compile(r"^(?:(?:open|unresolved) questions?|tbd|to be decided) ?[:—–-] ?(?P<rest>.+)$", re.IGNORECASE)
_OPEN_HEADING = re.compile(r"^(?:open|unresolved) questions?\b", re.IGNORECASE)
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
_OF_ANY_TASK = re.compile(
    r"^\w+ (?:(?:an?|the|all|any|new|edge|existing) )*(?:requirements?|results?|implementation|tests?|solution|"
    r"changes?|code(?:base)?|files?|plan|steps?|documentation|cases|summary|features?|structure)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
MOST_WORDS, LEAST_OF_BOX, LONGEST_BOX = 60, 3, 300


def find_marked(rows: list[Row]) -> Iterator[Found]:
    """What the rows mark. A sentence is one thing only, a decision before a fact."""
    yield from _boxes(rows)
    for row in rows:
        below = _OPEN_HEADING.match(row.heading) is not None
        if row.kind == "check" or not (below or has(row.low, _CUES)):
            continue
        for said in [whole(row)] if _TODO.match(clean(row.text)) else sentences(row):
            item = _labelled(row, said, below) or _decision(row, said) or _fact(row, said)
            if item:
                yield item


def _labelled(row: Row, said: Sentence, below: bool) -> Found | None:
    """A task or question that is called so by its first words, or a question below such a heading."""
    task, question = _TODO.match(said.text), _QUESTION.match(said.text)
    if task and _sound(task["rest"], least=3):
        return _item("tasks_open", task["rest"], said, row)
    text = question["rest"] if question else said.text if below and said.text.endswith("?") else ""
    return _item("questions", text, said, row) if _sound(text, least=4) else None


def _decision(row: Row, said: Sentence) -> Found | None:
    text, person = said.text, row.role == "user"
    decided = _DECIDED.search(text)
    if not decided and not (person and _GO_WITH.search(text) and _NAMED.search(text[1:])):
        return None
    body = decided["rest"] if decided and decided["rest"] else text
    if text.endswith(("?", ":")) or _OPEN.search(text) or not _sound(body, least=3 if person else 5):
        return None
    because = _REASON.search(body)
    return _item(
        "decisions", body[: because.start()] if because else body, said, row, body[because.end() :] if because else ""
    )


def _fact(row: Row, said: Sentence) -> Found | None:
    learned = _LEARNED.match(said.text)
    if not learned or said.text.endswith(("?", ":")):
        return None
    text = learned["rest"] or learned["cause"] or learned["noted"]
    if _ADDRESS.search(text) or LEANS.match(text) or not _NAMED.search(text[1:]) or not _sound(text, least=4):
        return None
    return _item("facts", text, said, row)


def _boxes(rows: list[Row]) -> Iterator[Found]:
    """Open and done tasks: of a box that is shown again and again the last state, and of an assistant's lists, which it
    shows whole at every step, what is open in the last one."""
    boxes: dict[str, Found] = {}
    checks = [row for row in rows if row.kind == "check"]
    listed = max((row.turn for row in checks if row.role == "assistant"), default=-1)
    for row in checks:
        said, is_open = whole(row), row.mark in " -~/"  # dropped or half done: tools differ in what they mean by it
        named = re.findall(r"[^\W\d_]+", said.text)
        if len(said.text) > LONGEST_BOX or len(named) < LEAST_OF_BOX or _OF_ANY_TASK.match(said.text):
            continue
        key = " ".join(_WORD.findall(said.text.casefold()))
        boxes.pop(key, None)
        if not is_open or row.role == "user" or row.turn == listed:
            boxes[key] = _item("tasks_open" if is_open else "tasks_done", said.text, said, row)
    yield from boxes.values()


def _sound(text: str, least: int) -> bool:
    """Whether it reads as one statement: enough words, not too many, not code, not cut off."""
    return (
        least <= len(text.split()) <= MOST_WORDS and not looks_like_code(text) and not text.endswith(("...", "…", ":"))
    )


def _item(category: str, text: str, said: Sentence, row: Row, detail: str = "") -> Found:
    return found(
        category, clean(text).strip(" ,;—–-"), row.turn, detail=detail.strip(" ,;—–-"), quote=said.quote,
        score=3 + bool(detail) + (row.role == "user"),
    )  # fmt: skip
