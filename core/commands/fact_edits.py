"""What a user does to single facts: confirm, delete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from core.base.result import KnowledgeError, attempt, disk_errors
from core.commands.fact_feed import sync_facts
from core.commands.fact_follow import LINE_STAYS
from core.commands.workspace import Clock, Workspace, utc_now
from core.factindex.edits import differing, with_values
from core.factindex.facts import check
from core.factindex.places import Placed, read_all, read_one
from core.knowledge.edit import Edited, change_file
from core.knowledge.hunks import Hunk, made

BY_HAND = "to write them as they are, change the YAML file in a text editor"


def delete_fact(workspace: Workspace, fact_id: str, *, now: Clock = utc_now) -> Edited:
    """Take a fact out of its file. No harvest brings it back; `knowledge undo` does."""
    placed = _placed(workspace, fact_id)
    return _finished(workspace, _change(workspace, placed, None, now()), now)


def confirm_fact(workspace: Workspace, fact_id: str, *, now: Clock = utc_now) -> Edited:
    """The fact still holds, as of today: its day of expiry goes where that has passed."""
    placed, today = _placed(workspace, fact_id), now().astimezone(UTC).date().isoformat()
    expired = bool(placed.fact.expires) and placed.fact.expires < today
    values = {"last_confirmed": today} | ({"expires": None} if expired else {})
    return _finished(workspace, _change(workspace, placed, values, now()), now)


def _placed(workspace: Workspace, fact_id: str) -> Placed:
    with disk_errors("facts-unreadable", "the facts cannot be read", hint="mend the file"):
        found = read_all(workspace.paths.knowledge)
    placed = found.placed.get(fact_id)
    if placed is not None:
        return placed
    if fact_id in found.taken:
        raise KnowledgeError("not-valid", f"{fact_id} is not valid", hint="'knowledge facts validate' tells why")
    from rapidfuzz import process  # for this mistake alone

    near = process.extractOne(fact_id, list(found.placed), score_cutoff=60)
    hint = f"the nearest id is {near[0]}" if near is not None else "'knowledge facts list' shows their ids"
    raise KnowledgeError("no-match", f"there is no fact {fact_id!r}", hint=hint)


def _change(workspace: Workspace, placed: Placed, values: Mapping[str, Any] | None, moment: datetime) -> Edited:
    """Other values for a fact, or (None) the fact taken out, in the file as it is at that moment."""

    def hunks(lines: list[str]) -> list[Hunk]:
        read = read_one(placed.file, "".join(lines).encode("utf-8"))
        here = next((row for row in read.placed if row.fact.id == placed.fact.id), None)
        if here is None or here.fact != placed.fact:
            raise KnowledgeError(
                "changed-outside", f"{placed.fact.id} has changed since you saw it", placed.file, "look again"
            )
        start = here.line - 1
        size = read.text.count("\n", here.item.start, here.item.end)
        size += not read.text.endswith("\n") and here.item.end == len(read.text)
        if values is None:
            return [made(lines, start, size, ())[1]]
        wrong = check({**here.fact._asdict(), **values})
        if wrong:
            raise KnowledgeError("bad-field", f"{placed.fact.id}: {wrong[0][1]}", placed.file)
        if not differing(here.item, values):
            raise KnowledgeError("unchanged", f"{placed.fact.id} says that already", placed.file)
        text = with_values(read.text, here.item, values)
        if text is None:
            message = f"{placed.fact.id} cannot be changed here without touching more of {placed.file}:{here.line}"
            raise KnowledgeError("not-editable", message, hint="change it there in a text editor")
        rows = [line + "\n" for line in text.split("\n")]
        last = rows.pop()[:-1]
        return [made(lines, start, size, [*rows, last] if last else rows)[1]]

    return change_file(workspace.paths, placed.file, hunks, moment)


def _finished(workspace: Workspace, edited: Edited, now: Clock) -> Edited:
    """Bring the index up to date after a change; when that fails the change stands, with a warning."""
    done = attempt(sync_facts, workspace, run=edited.run, now=now)
    if isinstance(done, KnowledgeError):
        notes = [f"the index is not up to date yet: {done.error}"]
    else:
        notes = [note for note in done.value.notes if note.startswith(LINE_STAYS)]
    return replace(edited, warning="; ".join(filter(None, (edited.warning, *notes))))
