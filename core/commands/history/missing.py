"""`knowledge missing`: harvested lines that vanished from the files, put back or let go."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from core.base import files
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.commands.row import group, optional, single
from core.commands.statements import refresh_digest
from core.commands.table import SUMMARY
from core.commands.text import KEY_CHARACTERS, count, one_line
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.proofs import Missing, Proofs, find_missing
from core.harvest.recovery import Recovered, with_store
from core.knowledge.changes import Change, append_changes
from core.knowledge.edit import could_not_write, new_edit_run
from core.knowledge.ledger import seen_ledger
from core.knowledge.lines import PlannedFile, ensure_lines, require_lines
from core.knowledge.log import carry_out
from core.knowledge.swap import EDITOR_WAIT, EditorWait

__all__ = ["Missing", "Settled", "missing", "missing_list"]


@dataclass(frozen=True)
class Settled:
    """Missing lines were put back (`restored`) or let go. `run` takes that back; `warning` is a sentence about what did
    not work beside it ("" for nothing)."""

    run: str
    restored: bool
    rows: tuple[Missing, ...]
    warning: str = ""
    single: int = 0
    """This many missing lines were left alone, because they look like an edit by hand."""

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        rows = [row.to_json() for row in self.rows]
        single = {"single": self.single}
        return {"run": self.run, "restored": self.restored, "missing": rows, "warning": self.warning or None} | single


def missing(
    workspace: Workspace,
    action: str = "list",
    which: str = "",
    *,
    now: Clock = utc_now,
    editor_wait: EditorWait = EDITOR_WAIT,
) -> list[Missing] | Settled:
    """`knowledge missing list|restore|accept`. `which` begins a conversation's hash or is a run's id, "" is all."""
    if action == "list":
        return missing_list(workspace, which, now=now)
    return with_store(
        workspace.paths,
        "missing",
        now(),
        lambda store: _settle(workspace, action == "restore", which, store, now()),
        editor_wait,
    )


def missing_list(workspace: Workspace, which: str = "", *, now: Clock = utc_now) -> list[Missing]:
    """What is missing of the harvests within the grace period and of those whose conversation is in the trash; single
    lines that look like an edit by hand are among them, and marked."""
    return _chosen(workspace, seen_ledger(workspace.paths), which, now())


def _chosen(workspace: Workspace, entries: Any, which: str, now: datetime) -> list[Missing]:
    paths = workspace.paths
    try:
        also = entries if which else ()
        rows = find_missing(paths, entries, Proofs(paths), now, workspace.config.trash_days, also, single=True)
    except OSError as error:
        raise KnowledgeError(
            "unreadable", f"the files cannot be looked at: {error.strerror}", error.filename or paths.knowledge
        ) from error
    found = [row for row in rows if row.run == which or row.sha256.startswith(which.lower())]
    if which and not found:
        raise KnowledgeError(
            "nothing-missing", f"no line of {which!r} is missing", hint="'knowledge missing' lists what is"
        )
    return found


def _settle(workspace: Workspace, back: bool, which: str, store: Recovered, now: datetime) -> Settled:
    """Put them back, one file after the other, or write down that they are gone on purpose."""
    paths, run = workspace.paths, new_edit_run(now)
    chosen = _chosen(workspace, store.entries, which, now)
    # An edit by hand is put back only where its harvest is named.
    settled = [row for row in chosen if which or not back or not row.single]
    single = sum(len(row.lines) for row in chosen) - sum(len(row.lines) for row in settled)
    lines: dict[str, list[Missing]] = {}
    for row in settled:
        lines.setdefault(row.file, []).append(row)
    warnings: list[str | None] = []
    for file, rows in lines.items():
        gone = tuple(dict.fromkeys(line for row in rows for line in row.lines))
        done = tuple(line for line in gone if any(line in row.done for row in rows))
        try:
            if back:
                opened = tuple(line for line in gone if line not in done)
                planned = PlannedFile(file, rows[0].header, opened, done)
                warnings.append(
                    carry_out(paths, Change(now.isoformat(), run, file, gone), partial(_put, paths, planned))
                )
            else:
                append_changes(paths, [Change(now.isoformat(), run, file, (), gone)])
        except OSError as error:
            raise could_not_write(paths.knowledge / file, error) from error
    warnings.append(refresh_digest(workspace) if lines else "")
    return Settled(run if lines else "", back, tuple(settled), "; ".join(filter(None, warnings)), single)


def _put(paths: Paths, planned: PlannedFile) -> bool:
    _, new_name = ensure_lines(paths.knowledge, planned)
    if new_name:
        files.sync_folder((paths.knowledge / planned.name).parent)
    if require_lines(paths.knowledge, planned):
        raise OSError(errno.EBUSY, "another program keeps saving the file", str(paths.knowledge / planned.name))
    return True


# --- at the command line --------------------------------------------------------------------------------------------


def missing_text(value: list[Missing]) -> str:
    if not value:
        return "nothing is missing\n"
    lost, edited = [row for row in value if not row.single], [row for row in value if row.single]
    rows = _missing(lost)
    if lost:
        rows.append(
            f"{_lines(lost)} missing: 'knowledge missing restore' puts back, 'knowledge missing accept' lets go"
        )
    if edited:
        rows += [*_missing(edited), f"{_lines(edited)} {_BY_HAND}"]
    return "\n".join(rows) + "\n"


_BY_HAND = (
    "gone beside others that stand, as an edit by hand leaves it: 'knowledge missing restore HASH' puts them back"
)


def settled_text(value: Settled) -> str:
    found = list(value.rows)
    left = [f"{count(value.single, 'line')} {_BY_HAND}"] if value.single else []
    if not found:
        return "\n".join(left or ["nothing is missing"]) + "\n"
    rows = [*_missing(found), f"{_lines(found)} {'put back' if value.restored else 'gone on purpose'}", *left]
    rows.append(f"'knowledge undo {value.run}' takes this back")
    return "\n".join(rows + [f"note: {value.warning}"] * bool(value.warning)) + "\n"


def _missing(found: list[Missing]) -> list[str]:
    rows = []
    for row in found:
        rows.append(f"{row.sha256[:KEY_CHARACTERS]}  {row.file}  {one_line(row.path.rpartition('/')[2])}")
        rows += [f"    {line}" for line in row.lines]
    return rows


def _lines(found: list[Missing]) -> str:
    return count(sum(len(row.lines) for row in found), "line")


_OF = optional("which", "a run, or the beginning of a hash; all without it")


COMMANDS = (
    group(
        "missing",
        SUMMARY["missing"],
        "restore",
        single("list", "which lines, and of which conversation", "", missing_list, missing_text, _OF),
        single("restore", "put them back", "", missing, settled_text, _OF, given={"action": "restore"}),
        single("accept", "they are gone on purpose", "3fa9", missing, settled_text, _OF, given={"action": "accept"}),
    ),
)
