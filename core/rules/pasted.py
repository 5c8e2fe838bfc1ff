"""Errors that the user pasted, with what the assistant found to be the cause, where they did not come back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from core.rules import words
from core.rules.closing import WHY, cure_of, is_cause, is_past, leaning, states, thoughts, with_cure
from core.rules.prose import by_person, clean
from core.rules.sentence import Found, found, is_latin, names_in, stems
from core.rules.session import Session, rows_of

MAX_ERRORS = 3
SHORTEST, LONGEST = 15, 200
LOOKED_AT = 8
SAME_ABOUT = 3
"""So many rows of an answer may hold what was wrong; behind them it tells what was done."""
_TELLS = re.compile(
    r"(?P<line>(?:\b[\w.]*(?:Error|Exception|Panic|Fault)\b\s*[:(]|^\s*(?:error|fatal(?: error)?|ERR!|E)\b[ :\[]|"
    r"\b(?:error|ERROR)\b[ :\[]|command not found|\bis not recognized as|\bCannot find module|\bModule not found|"
    r"\bFailed to (?:load|resolve|compile|fetch|parse|start|connect)|\bERR_[A-Z_]+|Uncaught |\b\w+Warning: |"
    r"\bSQLSTATE\[|\bPermission denied\b|No such file or directory|\bversion solving failed|"
    r"\b(?:unexpected|invalid|undefined) (?:token|keyword|reference|symbol|variable|function|method|syntax)\b|"
    r"\bcould not (?:find|resolve|open|connect|build|compile|load)\b|\bBUILD FAILED|错误[:：]|エラー[:：])[^\n]*)",
    re.MULTILINE,
)
_PLACE = re.compile(
    r"^(?:#\d+ )?(?:\d+\.\d+ )?(?:FAILED \S+ - )?(?:\S+?[:(]\d+(?:[:,]\d+)?\)?:?\s+)?(?:\[[\w:./ -]+\]\s*)*"
)
_RULED_OUT = re.compile(
    r"\b0 errors?\b|\bno errors?\b|[?？:]\s*$|^\s*(?:at|File|import|from|raise|throw|console|print|what|why|how|when|"
    r"where|I|"
    r"it|there|this|that|can|could|please|fix|still)\b",
    re.IGNORECASE,
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
    kinds = [line for line in named if not line.startswith(("Error", "Exception"))]
    return clean((kinds or named or told)[-1]) if told else ""


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
        for place in (closing.number, *(at for at, _ in session.said_before(closing))):
            cause, quote = _cause(session, place, error)
            if cause:
                told[error] = found("facts", f"“{error}”: {cause}", place, quote=quote, score=64, kind="pitfall")
                break
    yield from [item for item in told.values() if item][-MAX_ERRORS:]
    yield from _unproven(session, told)


def _unproven(session: Session, told: Mapping[str, Found | None]) -> Iterator[Found]:
    """The error that the user pasted last, where the session ends with an answer that tells no cause of it: nothing
    shows that it is gone."""
    asked = [(at, turn) for at, turn in enumerate(session.conversation.turns) if by_person(turn)]
    closing = session.closings[-1] if session.closings else None
    error = error_in(asked[-1][1].text) if asked and closing is not None and closing.at_end else ""
    if not error or told.get(error) or closing is None or any(at > asked[-1][0] for at, _ in session.commands):
        return
    rows = rows_of(closing.turn, closing.number)
    first = next(iter(thoughts(rows)), None)
    cure = cure_of(rows, first) if first else ""
    detail = f"pasted last, and nothing shows that it is gone{f'; proposed: {cure}' if cure else ''}"
    yield found("tasks_open", f"Check whether “{error}” is gone", asked[-1][0], detail=detail, score=57)


def _comes_again(session: Session, number: int, error: str) -> bool:
    """Whether an error of the same kind about the same is shown after a turn, pasted or by a tool."""
    about = stems(error)
    later = (turn for turn in session.conversation.turns[number + 1 :] if turn.role in ("user", "tool"))
    shown = (error_in(turn.text) for turn in later)
    return any(len(about & stems(other)) >= SAME_ABOUT for other in shown)


def _cause(session: Session, number: int, error: str) -> tuple[str, str]:
    """What an answer says of an error first: its cause, with what cures it; with the quote."""
    rows = rows_of(session.conversation.turns[number], number)
    names, about = names_in(error), stems(error)
    for thought in thoughts(rows[:LOOKED_AT]):
        text = _SAME_ERROR.sub("", thought.text)
        lacks = _LACKS.search(text) is not None
        common = len(about & stems(text)) >= (1 if lacks else 2) or bool(names & names_in(text)) or not is_latin(text)
        cause = is_cause(rows, thought) or _SAME_ERROR.match(thought.text)
        if not (cause or (common and (lacks or WHY.search(text)))) or error in text or _WILL.search(text):
            continue
        if states(text, to_user=True) and (cause or not leaning(text)):
            return with_cure(text, cure_of(rows, thought)), thought.quote
    first = next(thoughts(rows[:1]), None)
    if first and names & names_in(first.text) and states(first.text) and not is_past(first.text):
        return with_cure(first.text, cure_of(rows, first)), first.quote  # an answer begins with what went wrong
    return "", ""


_SAME_ERROR = re.compile(
    r"^(?:the|this|that) (?:[\w`-]+ ){0,3}(?:error|issue|problem|warning|failure|message|exception)s?\b"
    r"(?: (?:message|itself))?\s+(?:\w+ly )?(?:(?:indicates?|means?|says?|tells)(?: us| you)? (?:that )?|"
    r"(?:(?:is|was|occurs?|occurred|happens?|happened|comes?|came|arises?|appears?|stems?)(?: \w+ly)? )?"
    r"(?=because|due to|caused by|since|from|when|that)(?:that )?)|"
    r"^(?:这个?|该|此)?(?:错误|报错|问题|警告)(?:信息|消息)?(?:的原因)?(?:是|在于|表明|说明|提示|意味着)(?:因为|由于|说)?"
    r"\s*[:：,，]?\s*|"
    r"^(?:эта )?(?:ошибка|проблема) (?:возникает|возникла|означает|связана|вызвана|говорит о том)\s*,?\s*(?:что )?|"
    r"^(?:この)?(?:エラー|警告|問題)(?:の原因)?は[、,]?|^(?:이 )?(?:오류|에러|경고|문제)(?:의 원인)?[는은]\s*",
    re.IGNORECASE,
)
"""What stands in front of a cause where the error is known."""
