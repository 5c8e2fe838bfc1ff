"""`knowledge ledger` and `knowledge undo`: what became of each conversation, and the way back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from core.base.project import project_root
from core.base.result import KnowledgeError
from core.commands.history.runs import Run, UndoReport, runs
from core.commands.row import NAMED, listed, nearest, option, optional, top
from core.commands.text import KEY_CHARACTERS, count, one_line
from core.commands.workspace import Workspace, utc_now
from core.knowledge.ledger import OF_ARCHIVE, STATUSES, Entry, seen_ledger, write_ledger
from core.knowledge.projects import entry_name
from core.sources.tools import known_as

if TYPE_CHECKING:
    from core.harvest.recovery import Recovered


class LedgerRow(NamedTuple):
    """One entry of the ledger: `key` is the conversation's sha256, or `path:…` for what was pruned."""

    key: str
    entry: Entry

    def to_json(self) -> dict[str, Any]:
        """The entry with its key as `sha256`, None for what was pruned."""
        return {"sha256": None if self.key.startswith("path:") else self.key, **self.entry}


NO_PROJECT = "none"
LEAST_OF_HASH = 4
"""A shorter beginning of a hash is one of too many."""


def ledger(workspace: Workspace, sha: str = "", status: str = "", project: str = "") -> list[LedgerRow]:
    """The audit log, newest entry first. `sha` names one conversation (`named_entries`); `status` keeps the entries of
    that status. With `project`, a folder or "none", that conversation belongs to its project from now on, in all of its
    entries."""
    if project:
        from core.harvest.recovery import with_store  # who only looks loads nothing of a harvest

        named = partial(_name_project, workspace, sha, project)
        return with_store(workspace.paths, "ledger", utc_now(), named)
    entries = seen_ledger(workspace.paths)
    if sha:
        return [LedgerRow(key, entries[key]) for key in named_entries(entries, sha)]
    known = (*STATUSES, *OF_ARCHIVE)
    if status and status not in known:
        hint = f"choose {listed(known)}{nearest(status, known)}"
        raise KnowledgeError("usage", f"there is no status {status!r}", hint=hint)
    rows = [LedgerRow(key, entry) for key, entry in entries.items() if status in ("", entry.get("status"))]
    rows.sort(key=itemgetter(0), reverse=True)  # two sorts of text take half of what one of pairs takes
    return sorted(rows, key=lambda row: str(row.entry.get("at", "")), reverse=True)


def named_entries(entries: Mapping[str, Entry], which: str) -> list[str]:
    """The keys of the one conversation that is meant by a name or a part of it, a path, or the beginning of a hash, by
    which that entry alone is meant. Raises KnowledgeError for none and for several."""
    wanted = which.strip()
    if not wanted:
        raise KnowledgeError("usage", "no conversation is named", hint="'knowledge ledger' lists them")
    folded = wanted.casefold()
    by_hash = [key for key in entries if len(wanted) >= LEAST_OF_HASH and key.startswith(folded)]
    exact = [key for key, entry in entries.items() if wanted in (entry_name(entry), str(entry.get("path", "")))]
    found = by_hash or exact or [key for key, row in entries.items() if folded in entry_name(row).casefold()]
    places = {conversation_of(entries[key]) for key in found}
    if not found:
        raise KnowledgeError("no-entry", f"no conversation is called {which!r}", hint="'knowledge ledger' lists them")
    if len(places) > 1:
        some = ", ".join(sorted({entry_name(entries[key]) for key in found})[:3])
        raise KnowledgeError("ambiguous", f"{len(places)} conversations match: {some}", hint="give more of the name")
    return found


def conversation_of(entry: Mapping[str, Any]) -> str:
    """By what the entries of one conversation are known: it may have gone on several times, and its archive copy has
    one too."""
    return known_as(str(entry.get("path", "")), str(entry.get("source", "")))


def _name_project(workspace: Workspace, sha: str, project: str, store: Recovered) -> list[LedgerRow]:
    from core.harvest.distil import project_entry

    if not sha:
        raise KnowledgeError("no-entry", "name the conversation: NAME --project DIR")
    meant = {conversation_of(store.entries[key]) for key in named_entries(store.entries, sha)}
    folder = os.path.abspath(os.path.join(workspace.cwd, os.path.expanduser(project)))
    if project != NO_PROJECT and not os.path.isdir(folder):
        raise KnowledgeError("no-project", "there is no folder of that name", folder, "name the project's folder")
    if project != NO_PROJECT and not project_root(folder):
        raise KnowledgeError("no-project", "this folder is no project", folder, "name the folder that you worked in")
    rows = [LedgerRow(key, entry) for key, entry in store.entries.items() if conversation_of(entry) in meant]
    for _, entry in rows:
        for name in ("project", "project_root", "project_key"):
            entry.pop(name, None)
        if project != NO_PROJECT:
            entry.update(project_entry(folder))
    write_ledger(workspace.paths, store.entries)
    return rows


def undo_command(workspace: Workspace, run: str = "") -> list[Run] | UndoReport:
    """`knowledge undo [RUN]`: without a name, the runs that there were."""
    if not run:
        return runs(workspace)
    from core.commands.history.undo import undo

    return undo(workspace, run)


def ledger_text(rows: list[LedgerRow]) -> str:
    if len(rows) == 1:
        row = rows[0]
        return f"{row.key}\n" + "".join(f"  {name}: {_value(value)}\n" for name, value in row.entry.items())
    lines = []
    for row in rows:
        entry = row.entry
        items = entry.get("items")
        number = sum(items.values()) if isinstance(items, dict) else 0
        held = f", {entry['quarantined']} held back" if entry.get("quarantined") else ""
        detail = entry.get("error") or (f"{count(number, 'item')}{held}" if items is not None else "")
        key = row.key[:KEY_CHARACTERS] if not row.key.startswith("path:") else "-" * KEY_CHARACTERS
        gone = entry.get("status") == "forgotten"  # its title is forgotten, too
        name = str(entry.get("path", "")).rpartition("/")[2] if gone else entry_name(entry)
        at = str(entry.get("at", ""))[:19]
        lines.append(f"{key}  {at}  {entry.get('status', '?'):<19}  {one_line(name)}  {one_line(detail)}".rstrip())
    return "\n".join([*lines, count(len(rows), "entry", "entries")]) + "\n"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{number}" for name, number in value.items())
    return one_line(value)


def undo_text(value: list[Run] | UndoReport) -> str:
    """The runs that there are, or what taking one back did."""
    return runs_text(value) if isinstance(value, list) else undone_text(value)


def undone_text(value: UndoReport) -> str:
    if value.already:
        return "\n".join([f"already undone: {value.run}", *(f"note: {note}" for note in value.notes)]) + "\n"
    did = (
        (len(value.restored), "conversation", "restored"), (value.forgotten, "conversation", "undone"),
        (value.lines_out, "line", "taken out"), (value.lines_back, "line", "brought back"),
    )  # fmt: skip
    parts = ", ".join(f"{count(number, what)} {done}" for number, what, done in did if number)
    nothing = "nothing " if not parts and (value.nothing or value.stayed or value.gone or value.errors) else ""
    rows = [f"{nothing}undone: {value.run}{f' ({parts})' if parts else ''}"]
    why = value.stayed_why
    rows += [f"stayed{f' ({why[line]})' if line in why else ''}: {line}" for line in value.stayed]
    rows += [f"gone before: {line}" for line in value.gone]
    return "\n".join(rows + [f"note: {note}" for note in value.notes]) + "\n"


def runs_text(value: list[Run]) -> str:
    if not value:
        return "there is no run to undo\n"
    rows = []
    for run in value:
        is_harvest = run.kind == "harvest"
        # What was undone is no longer known as harvested.
        what = f"{run.harvested} harvested, {run.reclaimed} taken away, " if is_harvest and not run.undone else ""
        undone = "  (undone)" if run.undone else ""
        lines = f"+{run.added} -{run.removed} lines" if what or run.added or run.removed or undone else ""
        rows.append(f"{run.run}  {run.kind:<7}  {what}{lines}{undone}".rstrip())
        if run.text:
            rows.append(f"    {one_line(run.text)}")
    return "\n".join([*rows, "'knowledge undo RUN' takes one back"]) + "\n"


COMMANDS = (
    top(
        "ledger",
        "--status harvest-failed",
        ledger,
        ledger_text,
        optional("sha", "only this conversation: its name or a part of it, its path, or the beginning of its hash"),
        option("--status", "only entries of this status", "S"),
        option("--project", "say in which project this conversation was held: its folder, or 'none'", "DIR"),
        words=NAMED,
    ),
    top("undo", "20260612T142300-a1b2c3", undo_command, undo_text, optional("run", "the id of the run")),
)
