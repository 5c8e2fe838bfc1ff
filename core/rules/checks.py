"""How a repository is checked: the commands that ran and passed after an edit, as one set in their usual order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.base.checks import check_kind
from core.conversations.events import Command
from core.rules import words
from core.rules.failures import bare, failure, folder_of
from core.rules.sentence import Found
from core.rules.session import Session, is_change

LEAST_STEPS = 2
_IN_PART = re.compile(
    r"\s(?:\./)?[\w.-]+/(?!\.\.\.(?:\s|$))[\w./-]*|\s-{1,2}(?:k|t|run|grep|filter|testNamePattern)\b|::|"
    r"\s[\w-]+\.[a-z]\w{0,3}\b"
)
"""What a check names that looks at one place or at some of the tests."""


def _steps(session: Session) -> tuple[list[str], int]:
    """The commands with which a change is checked here, and the turn of the last: those that ran and passed after an
    edit, in the order of their last runs."""
    first_edit = next((at for at, (_, row) in enumerate(session.events) if is_change(row)), 0)
    ran: dict[str, tuple[int, int, str]] = {}
    for turn, row in session.events[first_edit:]:
        if not isinstance(row, Command) or not row.answered or row.failed or failure(row):
            continue
        inside = _inside(session, folder_of(row.words))
        if inside is None:
            continue
        for place, part in enumerate(_parts(row.words)):
            kind = check_kind(part)
            if kind and not words.ONE_OFF.search(part) and not _IN_PART.search(part):
                ran[kind] = (turn, place, f"cd {inside} && {part}" if inside else part)
    steps = list(dict.fromkeys(step for *_, step in sorted(ran.values())))
    return steps, max((turn for turn, *_ in ran.values()), default=-1)


def find_checks(session: Session) -> Iterator[Found]:
    """The playbook of the checks, where several passed and a test is among them: a build alone anybody finds."""
    steps, turn = _steps(session)
    if len(steps) >= LEAST_STEPS and {check_kind(step.split(" && ")[-1]) for step in steps} & {"test", "integration"}:
        name = f"Checks of {session.project}" if session.project else "Checks"
        yield Found("playbooks", {"name": name, "steps": " -> ".join(steps), "quote": ""}, 60, turn)


def _parts(command: str) -> list[str]:
    return re.split(r"\s*(?:&&|;)\s*", bare(command))


def _inside(session: Session, folder: str) -> str | None:
    """A folder as seen from the session's own; None for one that lies elsewhere."""
    own = session.conversation.folder.rstrip("/")
    if own and (folder == own or folder.startswith(own + "/")):
        return folder[len(own) + 1 :]
    return None if folder.startswith(("/", "~", "..", "$")) and folder else folder
