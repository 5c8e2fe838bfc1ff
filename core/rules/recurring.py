"""What is too weak to be kept when it is seen once: the checks of a repository count when a second session ran them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.rules.checks import are_checks, checks_of

MAX_WAITING = 200


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
