"""What a tool asked the user in a coding session, with what came back: an answer alone says nothing ("the second",
"yes", "All of them")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.events import Question
from core.rules import words
from core.rules.prose import by_person, clean
from core.rules.sentence import Found, found
from core.rules.session import Session

LONGEST_ANSWER = 220

_ADVISED = re.compile(r"\s*\((?:recommended|empfohlen|推荐|推奨)\)", re.IGNORECASE)
_POINTS = re.compile(r"\b(?:this|that|these|those|it)\b(?=\W*$|\s+(?:reliably|here|now|way|one|too)\b)", re.IGNORECASE)
"""A question about something that only the talk around it names."""
_IN_HAND = re.compile(
    r"\bthe (?:[\w-]+ )?(?:removal|fix|change|clean-?up|refactor(?:ing)?|rewrite|patch|task|step|finding|comment)\b|"
    r"\b(?:proceed|continue|next|commit|push|run|start|ready|go ahead|merge)\b",
    re.I,
)
"""Work that only the session knows by this name, and how it goes on."""
_OF_STATE = re.compile(r"(?:can you|do you|did you|have you|are you|is it|does it|is there|did|has)\b", re.IGNORECASE)
_ALL = re.compile(
    r"^(?:all(?: of (?:the above|them|these))?|both(?: of them)?|beides?|以上全部|全部|両方)$", re.IGNORECASE
)


def find_answers(session: Session) -> Iterator[Found]:
    """A question that was put to the user is a decision with its answer, and open without one at the very end."""
    for turn, row in session.events:
        if not isinstance(row, Question):
            continue
        glued = len(row.asked) > 1 and len({answer for *_, answer in row.asked}) == 1
        for asked, options, answer in row.asked:
            question = clean(asked)
            # Where only a tool's record has the answer, its quote would pass for the tool's own word.
            quote = "" if glued or not _typed(session, answer) else answer
            # Of the answers to several questions that stand in one line, those to the question with these options.
            mine = [option for option in options.split(" | ") if option and option in answer] if glued else [answer]
            given = clean(", ".join(mine))
            vague = _IN_HAND.search(question) or (_POINTS.search(question) and not words.ANCHOR.search(question))
            if vague or len(given) > LONGEST_ANSWER:
                continue
            if given and words.PUT_OFF.search(given):
                yield found("tasks_open", f"Put off: {question}", turn, detail=f"the user said: {given}", quote=quote)
            elif given and not words.NO_ANSWER.match(given):
                chosen, others = _chosen(_ADVISED.sub("", given), _ADVISED.sub("", options))
                kind = "facts" if _OF_STATE.match(question) and given not in options else "decisions"
                yield found(kind, f"{question} → {chosen}", turn, detail=others, quote=quote, score=75)
            elif not answer and not row.answered and (turn, row) == session.events[-1]:
                detail = f"options: {options}" if options else ""
                yield found("questions", question, turn, detail=detail, score=70)


def _typed(session: Session, answer: str) -> bool:
    """Whether an answer stands in a message of the user."""
    return any(by_person(turn) and answer in turn.text for turn in session.conversation.turns)


def _chosen(given: str, options: str) -> tuple[str, str]:
    """The answer by its name, and what was not chosen."""
    names = [clean(name) for name in options.split(" | ") if name.strip()]
    others = [name for name in names if name != given and name not in given]
    if _ALL.match(given):
        named = [name for name in others if not _ALL.match(name)]
        return (", ".join(named) or given), ""
    return given, f"not: {'; '.join(others)}" if given in names and others else ""
