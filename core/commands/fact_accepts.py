"""What a person let out of the quarantine, as something that its conversation taught.

Nothing is kept of it beside changes.jsonl: an edit that took a held line out, and one that put what it says into its
file. The conversation, and the repository it was about, are told by the archived plan that the line came with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from core.base.markdown import bullet_line, parse_bullets, sanitise_line
from core.base.paths import Paths
from core.commands.quarantine import held_item
from core.commands.runs import UNDO_RUN
from core.knowledge.categories import CATEGORY
from core.knowledge.changes import Change
from core.knowledge.edit import EDIT_RUN, QUARANTINE
from core.knowledge.journal import FrozenPlan, Pending, gather, read_journal


class Accepted(NamedTuple):
    """One item that was let in by the edit `run`, now a line of the file of `category`. `plan` is the one that held it
    back, of the conversation `sha`, and `state` how that stands; both None when no plan tells."""

    run: str
    day: str
    category: str
    text: str
    sha: str
    state: Pending | None = None
    plan: FrozenPlan | None = None


def accepted_items(paths: Paths, changes: Iterable[Change], fed: Iterable[str]) -> list[Accepted]:
    """All of them that may become facts, in the order of the edits; not those of runs that are `fed`, or were undone.
    Raises OSError."""
    rows = [row for row in changes if not row.sha]
    gone = {*fed, *(row.run.removeprefix(UNDO_RUN) for row in rows if row.run.startswith(UNDO_RUN))}
    rows = [row for row in rows if row.run.startswith(EDIT_RUN) and row.run not in gone]
    let_in = {(row.file, line) for row in rows for line in row.added}
    found: dict[str, Accepted] = {}
    for row in rows:
        for line in row.removed if row.file == QUARANTINE else ():
            for bullet in parse_bullets(line):
                item = held_item(bullet)
                file = CATEGORY[item.category].file if item.category else ""
                told = f"{bullet_line(sanitise_line(item.text, None), None)} {item.provenance}".rstrip()
                if (file, told) in let_in:
                    sha = hashlib.sha256(line.encode("utf-8", "replace")).hexdigest()
                    found[line] = Accepted(row.run, row.when[:10], item.category, item.text, sha)
    if found:
        _tell_plans(paths, found)
    return list(found.values())


def _tell_plans(paths: Paths, found: dict[str, Accepted]) -> None:
    """Put beside each item the plan that held it back, the newest if there are several."""
    waiting = set(found)
    for path in sorted(paths.plans.glob("*.jsonl"), reverse=True) if paths.plans.is_dir() else ():
        for sha, state in gather(read_journal(path)).items():
            if not state.done or state.plan is None:
                continue
            held = {line for planned in state.plan.files if planned.name == QUARANTINE for line in planned.all_lines}
            for line in held & waiting:
                found[line] = found[line]._replace(sha=sha, state=state, plan=state.plan)
                waiting.discard(line)
        if not waiting:
            return
