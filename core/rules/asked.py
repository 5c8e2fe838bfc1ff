"""What a session was asked: each request of the user with its turn, from which of them on somebody who goes on has to
know them, and where in a long session the last of its subjects begins."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.conversations.events import Call, Plan
from core.conversations.ran import orders_tool
from core.rules.prose import by_person
from core.rules.quote import one_line
from core.rules.sentence import FILE, stems
from core.rules.session import Session

LATER_REQUEST = 240
"""The characters of a question that stand beside its answer."""
SHORT_REQUEST = 40
"""A request of fewer characters is told with the question that it answers."""
MIN_AGAIN, ALIKE = 12, 0.8
"""A request that begins like the one before was typed once more."""
MANY = 14
"""The requests above which a session may have several subjects."""
BEGUN = 3
"""The requests that the first subject has at least."""
LAST = 3
"""Those that the last one has at least."""
LEAST_TOLD = 4
"""The telling words of a request that may begin a subject."""
SHARED = 0.2
"""The part of these words that it shares, and no file, with the exchange before, where it does not."""
ANSWERED = 4000
"""The characters of the answer before that are compared."""
_LEANS = re.compile(r".{0,40}\b(?:this|that|it|these|those|them)\b", re.IGNORECASE)
"""How a request begins that goes on with the one before."""
_SAYS_NOTHING = re.compile(
    r"\W*(?:ok(?:ay)?|yes|thanks?|continue|proceed|go on|next|hi|hello|q|quit|exit|"
    r"(?:are )?you (?:good |still )?there|request interrupted by user( for tool use)?)\W*",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\W*(\d|[a-dA-D])\b(?!\w)")
_AND_MORE = re.compile(r"\W*\d\W*(?:but|and|with|then)\b", re.IGNORECASE)
"""A choice of which something more is said."""
_COMMAND = re.compile(r"<command-name>\s*/?([\w:-]+)(?:.*?<command-args>(.*?)</command-args>)?", re.DOTALL)
_BARE_COMMAND = re.compile(r"/[\w:-]+")
_OF_TOOL = re.compile(r"clear|compact|exit|quit|model|log(?:in|out)|resume|context|cost|help|config|mcp|agents?|status")
_TO_TOOL = re.compile(
    rf"<blank>|/(?:{_OF_TOOL.pattern}|bye|add|drop|undo|diff|commit|ls|tokens|map|reset|models|settings|voice|paste|copy|save|"
    r"load|read-only|git|run|lint|test)\b.*",
    re.DOTALL,
)
"""What is typed to the tool itself, and asks for no work."""


def requests(session: Session) -> list[tuple[int, str]]:
    """What the user asked for (its turn), also by a command of their own, with what it chose of a list, the question
    that it answers, or the plan that it leads to; of one that was typed again the last."""
    rows: list[tuple[int, str]] = []
    question = offered = ""
    for at, turn in enumerate(session.conversation.turns):
        text = turn.text.strip()
        if turn.role == "assistant" and not turn.agent and text:
            last, offered = text.splitlines()[-1], text
            question = last if last.rstrip(" *_)`").endswith(("?", "？")) else ""
        elif turn.role == "system" and (named := _COMMAND.search(text)) and not _OF_TOOL.fullmatch(named[1]):
            rows.append((at, f"/{named[1]} {(named[2] or '').strip()}".rstrip()))
        elif by_person(turn) and text and asks_for_work(text, question):
            before = rows[-1][1] if rows else ""
            if rows and rows[-1][0] == at - 1 and _BARE_COMMAND.fullmatch(before):
                rows[-1] = (at, f"{before} {text}")  # what was typed behind it is a turn of its own
                continue
            again = len(before) >= MIN_AGAIN and text.startswith(before[: int(ALIKE * len(before))])
            if again and not _is_answered(session, rows[-1][0], at):
                rows.pop()  # typed once more
            answers = rows and question and len(text) < SHORT_REQUEST
            if chosen := _chosen(text, offered):
                text = chosen
            elif answers:
                text = f"{text} (asked: “{one_line(question)[-LATER_REQUEST:]}”)"
            elif text.endswith((":", "：")):  # what it leads to, a plan mostly, is a turn of its own
                events = (event for turn in session.conversation.turns[at : at + 3] for event in turn.events)
                text = "\n".join((text, *(event.text for event in events if isinstance(event, Plan))))
            rows.append((at, text))
    return rows


def _is_answered(session: Session, asked: int, until: int) -> bool:
    """Whether something was said or done between a request and a later one."""
    turns = session.conversation.turns[asked + 1 : until]
    said = (turn.text.strip() for turn in turns if turn.role == "assistant" and not turn.agent)
    done = any(
        isinstance(event, Call) and event.answered and not event.refused for turn in turns for event in turn.events
    )
    return done or any(text and not text.startswith("API Error") for text in said)


def _chosen(text: str, offered: str) -> str:
    """An answer that chooses from the list of a message, with what stands there and the question to it; "" for any
    other."""
    mark = _CHOICE.match(text) if len(text) < SHORT_REQUEST or _AND_MORE.match(text) else None
    row = mark and re.search(rf"^[^\w\n]*{mark[1]}(?:[.):]|[^\w\n]*\|)\W+.*", offered, re.MULTILINE)
    if not row:
        return ""
    questions = [line for line in map(str.strip, offered.splitlines()) if line.rstrip(" *_)`").endswith(("?", "？"))]
    asked = f"“{one_line(questions[-1])[-LATER_REQUEST:]}” " if questions else ""
    return f"{text} (of the list: {asked}“{one_line(row[0]).strip('| ')}”)"


def asks_for_work(text: str, question: str) -> bool:
    """Whether the user's words ask for something, or answer a question."""
    return not (_TO_TOOL.fullmatch(text) or (text[:1] == "!" and orders_tool(text))) and bool(
        question or not _SAYS_NOTHING.fullmatch(text)
    )


def from_the_goal(session: Session) -> list[tuple[int, str]]:
    """The requests from the first that says what is wanted: what a command alone stands for is known to its tool, and
    to nobody who goes on."""
    asked = requests(session)
    words = (text.partition(" (asked: “")[0] for _, text in asked)
    tells = (not (_BARE_COMMAND.fullmatch(text) or _SAYS_NOTHING.fullmatch(text)) for text in words)
    return asked[next((at for at, told in enumerate(tells) if told), 0) :]


def last_subject(session: Session, exchanges: Sequence[tuple[int, str, str]]) -> int:
    """Where among many requests, each with its turn and its answer, the subject of the last begins: 0 where they are
    few, one leads to the other, or a file that was written or named in the first of them is in the last too."""
    for at in range(len(exchanges) - LAST, BEGUN, -1) if len(exchanges) > MANY else ():
        text, (_, asked, answer) = exchanges[at][1], exchanges[at - 1]
        before = f"{asked}\n{answer[:ANSWERED]}"
        told, shared = stems(text), stems(text) & stems(before)
        if _LEANS.match(text) or len(told) < LEAST_TOLD or len(shared) >= SHARED * len(told):
            continue
        if not _named(text) & _named(before):
            first = _files(session, exchanges[:BEGUN], exchanges[BEGUN][0])
            last = _files(session, exchanges[at:], len(session.conversation.turns))
            return at if last and not first & last else 0
    return 0


def _files(session: Session, exchanges: Sequence[tuple[int, str, str]], until: int) -> set[str]:
    """The files that were written or named in some exchanges, which end before a turn."""
    wrote = {name for at, edit in session.edits if exchanges[0][0] <= at < until for name in edit.names}
    return wrote | _named("\n".join(text for _, *said in exchanges for text in said))


def _named(text: str) -> set[str]:
    return {found.rsplit("/", 1)[-1] for found in FILE.findall(text)}
