"""For the doctor: what became of conversations. The journal, the ledger, the plans that prove it, and the trash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from core.base import files, locks
from core.base.conflict import conflict_line
from core.base.paths import Paths
from core.base.result import Err, Ok
from core.knowledge.check import Finding, in_checkout
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import Entries, Entry, drop_from_trash, read_ledger, rebuild, write_ledger
from core.sources.scan import holds, sha_in_trash, split_in_trash


def check_journal(paths: Paths, locked: bool) -> Iterator[Finding]:
    """A run that was interrupted, or one that is at work. `locked`: the caller holds the lock and has recovered."""
    if not files.exists(paths.journal):
        return
    if locked:
        message = "a planned harvest still cannot be written; mend the file that it is for, then harvest again"
        yield Finding("journal-left", message, str(paths.journal))
        return
    try:
        holder = locks.holder_of(paths.lock)
    except OSError as error:
        yield Finding("unreadable", f"the run lock cannot be used: {error.strerror}", str(paths.lock))
        return
    if holder is None:
        message = "the last run was interrupted in the middle; the next one finishes it first"
        yield Finding("journal-left", message, str(paths.journal), _done_by_recovery)
        return
    message = f"{locks.at_work(holder)}: what follows may be its work in progress"
    yield Finding("running", message, str(paths.lock), note=True)


def _done_by_recovery() -> None:
    """`with_store` has finished the journal before anything else is mended."""


def check_history(paths: Paths) -> Iterator[Finding]:
    """The ledger against the plans that prove it, the conversations in their places, and the trash."""
    loaded = read_ledger(paths)
    if isinstance(loaded, Err):
        rebuilt = loaded.error.code == "ledger-corrupt"
        message = loaded.error.message if rebuilt else f"{loaded.error.message}; {loaded.error.hint}"
        yield Finding(loaded.error.code, message, str(paths.ledger), _done_by_recovery if rebuilt else None)
        return
    entries = loaded.value
    try:
        if line := conflict_line(files.read_or_empty(paths.ledger).decode("utf-8", "replace")):
            message = f"a merge conflict begins in line {line}; the entries of both sides count, and stay"
            yield Finding("merge-conflict", message, str(paths.ledger), lambda: write_ledger(paths, entries))
        archived = rebuild(paths)
        if entries and not files.exists(paths.ledger):
            message = "the ledger is missing, though runs are archived"
            yield Finding("ledger-missing", message, str(paths.ledger), lambda: write_ledger(paths, entries))
        yield from _check_entries(paths, entries, archived)
        yield from _check_trash(paths, entries)
    except OSError as error:
        message = f"the history cannot be read: {error.strerror}"
        yield Finding("unreadable", message, str(error.filename or paths.plans))


def _check_entries(paths: Paths, entries: Entries, archived: Entries) -> Iterator[Finding]:
    plans: dict[str, dict[str, FrozenPlan]] = {}
    shared = in_checkout(paths)  # then much of it was done on another machine, where its conversations and trash are
    for sha, entry in entries.items():
        place = str(entry.get("path", ""))
        if entry.get("status") == "harvested":
            run = str(entry.get("run", ""))
            if run not in plans:
                plans[run] = read_plans(paths.plans, run)
            if sha not in plans[run] and not (shared and not holds(place, sha)):
                message = f"no committed plan proves the harvest of {place or sha}; it will be harvested again"
                where = f"{paths.ledger}#{sha}"
                yield Finding("no-plan", message, where, partial(_amend, paths, sha, _set_unproven))
        if entry.get("deleted") and entry.get("status") != "pruned" and holds(place, sha):
            message = f"the ledger says that this conversation was reclaimed, but it is in its place: {place}"
            yield Finding("not-deleted", message, place, partial(_amend, paths, sha, _set_present))
        for name in entry.get("trash", {}) if isinstance(entry.get("trash"), dict) else ():
            if not shared and not files.exists(paths.trash / name):
                message = f"the ledger looks for a conversation in the trash that is not there: {place}"
                where = str(paths.trash / name)
                yield Finding("trash-missing", message, where, partial(_amend, paths, sha, partial(_drop, name)))
    for sha, entry in archived.items():
        if sha not in entries and entry.get("status") == "harvested":
            message = f"a proven harvest has no entry in the ledger: {entry.get('path', sha)}"
            yield Finding("no-entry", message, f"{paths.ledger}#{sha}", partial(_add_entry, paths, sha, entry))


def _set_present(entry: Entry) -> None:
    entry["deleted"] = False


def _set_unproven(entry: Entry) -> None:
    """What the entry knows stays in it; only the word that stands for a proof goes."""
    entry["status"], entry["error"] = "harvest-failed", "no committed plan proves its harvest"


def _drop(name: str, entry: Entry) -> None:
    drop_from_trash(entry, name)


def _amend(paths: Paths, sha: str, change: Callable[[Entry], None]) -> None:
    entries = read_ledger(paths)
    if isinstance(entries, Ok) and sha in entries.value:
        change(entries.value[sha])
        write_ledger(paths, entries.value)


def _add_entry(paths: Paths, sha: str, entry: Entry) -> None:
    entries = read_ledger(paths)
    if isinstance(entries, Ok) and sha not in entries.value:
        held = {name: path for name, path in entry.get("trash", {}).items() if files.exists(paths.trash / name)}
        rest = {key: value for key, value in entry.items() if key not in ("trash", "trashed_until")}
        if held:
            rest |= {"trash": held, "trashed_until": entry.get("trashed_until", "")}
        if holds(str(entry.get("path", "")), sha):
            rest["deleted"] = False
        write_ledger(paths, {**entries.value, sha: rest})


def _check_trash(paths: Paths, entries: Entries) -> Iterator[Finding]:
    if not paths.trash.is_dir():
        return
    for item in sorted(paths.trash.iterdir()):
        sha = sha_in_trash(item.name)
        if split_in_trash(item.name) is not None and item.is_dir() and not item.is_symlink():
            continue
        if not sha:
            message = "this lies in the trash, but was not put there by a harvest"
            yield Finding("trash-foreign", message, str(item), note=True)
        elif not holds(str(item), sha):
            message = "a trashed conversation is no longer what went in; it is set aside there and never removed"
            yield Finding("trash-damaged", message, str(item), partial(_set_aside, paths, item.name, sha))
        elif sha not in entries:
            message = "the ledger does not know this trashed conversation; it is never removed by itself"
            yield Finding("trash-unknown", message, str(item))


def _set_aside(paths: Paths, name: str, sha: str) -> None:
    """What has changed in the trash gets a name that no purge takes and no restore believes; not a byte of it goes."""
    files.rename_without_replacing(paths.trash / name, paths.trash / f"kept-{name}")
    files.sync_folder(paths.trash)
    _amend(paths, sha, partial(_drop, name))
