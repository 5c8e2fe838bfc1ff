"""Errors that the user pasted, with what the assistant found to be the cause, where they did not come back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.rules import words
from core.rules.findings import cause_in, explains, neutral
from core.rules.prose import by_person, clean, sentences
from core.rules.sentence import Found, found, is_latin, named_first, names_in, stems
from core.rules.session import Session, rows_of

MAX_ERRORS = 3
SHORTEST, LONGEST = 15, 200
LOOKED_AT = 8
SAME_ABOUT = 3
"""So many rows of an answer may hold what was wrong; behind them it tells what was done."""
_TELLS = re.compile(
    r"(?P<line>(?:\b[\w.]*(?:Error|Exception|Panic|Fault)\b\s*[:(]|^\s*(?:error|fatal(?: error)?|ERR!|E)\b[ :\[]|"
    r"\b(?:error|ERROR)\b[ :\[]|command not found|\bis not recognized as|\bCannot find module|\bModule not found|"
    r"\bFailed to (?:load|resolve|compile|fetch|parse|start|connect)|\bERR_[A-Z_]+|Uncaught )[^\n]*)",
    re.MULTILINE,
)
_PLACE = re.compile(r"^(?:FAILED \S+ - )?(?:\S+?[:(]\d+(?:[:,]\d+)?\)?:?\s+)?(?:\[[\w:./ -]+\]\s*)*")
_RULED_OUT = re.compile(
    r"\b0 errors?\b|\bno errors?\b|[?？]\s*$|^\s*(?:at|File|import|from|raise|throw|console|print)\b"
)


_LACKS = re.compile(
    r"\b(?:is missing|are missing|missing (?:from|in)|lacks?|not (?:installed|defined|exported|imported|declared|"
    r"found in)|"
    r"no longer|requires?|expects?|only (?:works|supports|accepts)|отсутству\w+|не установлен\w*|falta|fehlt|manque)\b|"
    r"缺少|未安装|没有安装|不存在|不支持",
    re.IGNORECASE,
)
_WILL = re.compile(r"\b(?:will|after|should|now)\b|после|теперь", re.IGNORECASE)
"""What is to come of an answer."""


def error_in(text: str) -> str:
    """The line of a pasted text that says what went wrong, "" where none does: the last named error, as a traceback
    ends with it."""
    lines = [_PLACE.sub("", row.strip()).strip() for row in text.split("\n")]
    told = [line for line in lines if SHORTEST <= len(line) <= LONGEST and _TELLS.search(line)]
    told = [line for line in told if not _RULED_OUT.search(line)]
    named = [line for line in told if re.match(r"[\w.]*(?:Error|Exception)\b", line)]
    return clean((named or told)[-1]) if told else ""


def find_pasted_errors(session: Session) -> Iterator[Found]:
    """A pasted error with its cause, or with what was done about it, of the last answer to it."""
    turns = session.conversation.turns
    told: dict[str, Found | None] = {}
    for number, turn in enumerate(turns):
        if turn.role != "user" or turn.agent or not (error := error_in(turn.text)):
            continue
        closing = next((row for row in session.closings if row.number > number), None)
        again = next((row for row in turns[number + 1 :] if by_person(row)), None)
        told[error] = None  # said before of the same: it did not help
        if (
            closing is None
            or _comes_again(session, closing.number, error)
            or (again and (words.CORRECTION.match(again.text.strip()) or error_in(again.text)))
        ):
            continue  # it did not help, or nobody knows
        cause, quote = _cause(session, closing.number, error)
        if cause:
            statement = f"“{error}”: {cause}"
            told[error] = found("facts", statement, closing.number, quote=quote, score=64, kind="pitfall")
    yield from [item for item in told.values() if item][-MAX_ERRORS:]


def _comes_again(session: Session, number: int, error: str) -> bool:
    """Whether an error of the same kind about the same is shown after a turn, pasted or by a tool."""
    about = stems(error)
    later = (turn for turn in session.conversation.turns[number + 1 :] if turn.role in ("user", "tool"))
    shown = (error_in(turn.text) for turn in later)
    return any(len(about & stems(other)) >= SAME_ABOUT for other in shown)


def _cause(session: Session, number: int, error: str) -> tuple[str, str]:
    """What an answer says first of an error that it names: its cause, or what cures it; with the quote."""
    rows = rows_of(session.conversation.turns[number], number)
    for at in range(min(len(rows), LOOKED_AT)):
        if said := cause_in(session, rows, at, known=True):
            return said
    names, about = names_in(error), stems(error)
    for row in rows[:LOOKED_AT]:
        for sentence in sentences(row):
            text = neutral(sentence.text)
            if error in text or _WILL.search(text):
                continue
            lacks = _LACKS.search(text) is not None
            common = len(about & stems(text))
            shared = bool(names & names_in(text)) or common >= (1 if lacks else 2) or not is_latin(text)
            cures = lacks or words.CAUSE.search(text) or words.REASON.search(text)
            if shared and cures and explains(text) and named_first(text) and not words.DANGLING.match(text):
                return text, sentence.quote
    return "", ""
