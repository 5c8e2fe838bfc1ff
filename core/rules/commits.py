"""Why something was committed, as the message of the commit says it: a subject alone says what the log says too, the
words below it say why."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.conversations.conversation import Turn
from core.conversations.events import MESSAGE, Commit
from core.rules import words
from core.rules.closing import CAUSES, WHY, with_stop
from core.rules.prose import begun, clean
from core.rules.sentence import Found, found, named, whole_quotes
from core.rules.session import Session, rows_of

MAX_COMMITS, SHORTEST, LONGEST = 3, 60, 480
_TRAILER = re.compile(r"^\s*(?:[A-Z][\w-]+-[Bb]y:|[A-Z][\w-]+: .*<.+@|🤖|Generated with|Test: ).*$", re.MULTILINE)
_PREFIX = re.compile(r"^(?:\w+(?:\([^)]*\))?!?:\s+)")
_LEADS_TO = re.compile(
    r"\b(?:causes?|caused|leads? to|results? in|relie[sd] on|enables?|breaks?|crash\w*|fail\w*)\b",
    re.IGNORECASE,
)
_ESCAPED = re.compile(r"\\([`\"$\\])")


def find_commits(session: Session) -> Iterator[Found]:
    """The words below a commit's subject where they give a reason or a limit, with the subject where there is room."""
    made = {row.start for _, row in session.events if isinstance(row, Commit) and row.succeeded is not False}
    told: list[Found] = []
    for number, command in session.commands:
        if command.start not in made or command.failed or command.refused:
            continue
        messages = [
            next(filter(None, said.group("here", "file", "double", "single")), "") for said in _messages(command.words)
        ]
        if messages:
            subject, _, body = messages[0].strip().partition("\n")
            for text in _paragraphs("\n\n".join([body, *messages[1:]])):
                whole = f"{begun(_PREFIX.sub('', subject.strip()))}: {text}"
                line = whole if len(whole) <= LONGEST else text
                told.append(found("facts", with_stop(line), number, score=60))
    yield from told[-MAX_COMMITS:]


def _messages(line: str) -> Iterator[re.Match[str]]:
    return MESSAGE.finditer(line)


def _paragraphs(body: str) -> Iterator[str]:
    """The paragraphs of a message that explain, those together that a line holds."""
    told = ""
    for row in rows_of(Turn("assistant", _TRAILER.sub("", _ESCAPED.sub(r"\1", body))), 0):
        text = clean(row.text)
        fits = row.kind == "prose" and whole_quotes(text) and SHORTEST <= len(text) <= LONGEST
        if not fits or not (told or _explains(text)):
            continue
        if told and len(told) + len(text) >= LONGEST:
            yield told
            told = text if _explains(text) else ""
        else:
            told = f"{with_stop(told)} {text}" if told else text
    if told:
        yield told


def _explains(text: str) -> bool:
    return named(text) and any(why.search(text) for why in (WHY, CAUSES, words.LIMIT, _LEADS_TO))
