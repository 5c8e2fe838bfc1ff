"""How a repository is checked: the commands that ran and passed after an edit, as one set in their usual order.

Checks that ran in one session are too weak to be kept; they count when a second session of the project ran them too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.base.checks import check_kind
from core.conversations.events import Command
from core.rules import words
from core.rules.failures import bare, failure, folder_of
from core.rules.sentence import Found
from core.rules.session import Session, is_change

LEAST_STEPS, LEAST_RUNS = 2, 2
MAX_WAITING = 200
_ONE_PLACE = re.compile(r"\s(?:\./)?[\w.-]+/(?!\.\.\.(?:\s|$))[\w./-]*")


def check_steps(session: Session) -> tuple[list[str], int]:
    """The commands with which a change is checked here, and the turn of the last: those that ran and passed after an
    edit, in the order of their last runs. What an assistant ran once need not be how the place is checked."""
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
            if kind and not words.ONE_OFF.search(part) and not _ONE_PLACE.search(part):
                ran[kind] = (turn, place, f"cd {inside} && {part}" if inside else part)
    steps = list(dict.fromkeys(step for *_, step in sorted(ran.values())))
    return (steps, max(turn for turn, *_ in ran.values())) if are_checks(steps) else ([], -1)


def are_checks(steps: Sequence[str]) -> bool:
    """Whether steps are worth a playbook: several, and a test among them; a lint or a build alone anybody finds."""
    kinds = {check_kind(step.split(" && ")[-1]) for step in steps}
    return len(steps) >= LEAST_STEPS and bool(kinds & {"test", "integration"})


def checks_of(project: str, steps: Sequence[str]) -> dict[str, str]:
    """The fields of the playbook with which a project is checked."""
    return {"name": f"Checks of {project}" if project else "Checks", "steps": " -> ".join(steps), "quote": ""}


def find_checks(session: Session) -> Iterator[Found]:
    """The checks that ran several times. Others wait for a second session."""
    steps, turn = check_steps(session)
    # What ran several times is how the work was judged, and no single look.
    ran = Counter(part for _, row in session.commands if row.answered for part in {*_parts(row.words)})
    again = [step for step in steps if ran[step.split(" && ")[-1]] >= LEAST_RUNS]
    if are_checks(again):
        yield Found("playbooks", checks_of(session.project, again), 60, turn)


def _parts(command: str) -> list[str]:
    return re.split(r"\s*(?:&&|;)\s*", bare(command))


def _inside(session: Session, folder: str) -> str | None:
    """A folder as seen from the session's own; None for one that lies elsewhere."""
    own = session.conversation.folder.rstrip("/")
    if own and (folder == own or folder.startswith(own + "/")):
        return folder[len(own) + 1 :]
    return None if folder.startswith(("/", "~", "..", "$")) and folder else folder


# --- what waits for a second session ---


def checks_borne_out(
    project: str, steps: Sequence[str], waiting: Sequence[Mapping[str, Any]], session: str, time: str
) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """The playbook of the checks that another session of the project ran too, and what waits from now on."""
    rows = [dict(row) for row in waiting if _is_row(row)]
    ran = [
        row for row in rows if row.get("checks") and row["session"] != session and not (time and row["time"] == time)
    ]
    both = [step for step in steps if any(step in row["words"] for row in ran)]
    if steps and not any(row.get("checks") and row["session"] == session for row in rows):
        rows.append({"session": session, "words": list(steps), "statement": "", "time": time, "checks": True})
    return ([checks_of(project, both)] if are_checks(both) else []), rows[-MAX_WAITING:]


def add_borne_out(arrays: Mapping[str, list[dict[str, str]]], found: Mapping[str, list[dict[str, str]]]) -> None:
    """Add what another session bore out to what this one gave; of two playbooks of a name the longer one stands."""
    for kind, rows in found.items():
        kept = arrays[kind]
        for row in rows:
            at = next((at for at, other in enumerate(kept) if "name" in row and other.get("name") == row["name"]), -1)
            if at < 0 and row not in kept:
                kept.append(row)
            elif at >= 0 and row["steps"].count(" -> ") > kept[at]["steps"].count(" -> "):
                kept[at] = row


def _is_row(row: Mapping[str, Any]) -> bool:
    """Whether a row has what is asked of it: the file lies in a cache, and anything may have happened to it."""
    texts = all(isinstance(row.get(name), str) for name in ("session", "statement", "time"))
    held = row.get("words")
    return texts and isinstance(held, list) and all(isinstance(word, str) for word in held)
