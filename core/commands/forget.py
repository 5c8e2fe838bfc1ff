"""`knowledge forget NAME`: a conversation, and what rests on it alone.

Its lines are struck through and remembered as forgotten, which one undo takes back; or, with a yes, purged for good
like `rm --forever`. Either way it is never harvested again, not searched, not shown. Only the user asks for it: a
conversation that was reclaimed, or that its tool deleted, marks nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from core.base import files, locks
from core.base.entry import statement_key
from core.base.markdown import Bullet, parse_bullets, sanitise_name
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.commands.bullets import change_all
from core.commands.history.ledger import conversation_of, named_entries
from core.commands.purge import CANNOT, Purged, complete
from core.commands.row import Ask, flag, needed, nobody, top
from core.commands.statements import Found, LineChange, all_lines
from core.commands.text import collected, count
from core.commands.transcript import index_folder, opened_index
from core.commands.workspace import Clock, Workspace, utc_now
from core.experience import record
from core.harvest.landed import make_confirmed
from core.harvest.recovery import Recovered, with_store
from core.knowledge.bullet_text import held_item, without_lines
from core.knowledge.categories import QUARANTINE, read_text
from core.knowledge.edit import change_file, new_edit_run
from core.knowledge.hunks import Hunk
from core.knowledge.journal import read_journal, states_by_sha
from core.knowledge.ledger import FORGOTTEN, Entries, Entry, drop_from_trash, note_entries, seen_ledger, write_ledger
from core.knowledge.projects import cited_name, entry_name
from core.knowledge.purge import begin_purge
from core.knowledge.reversal import hand_over
from core.search import conversations, store
from core.sources.archive import KEY, file_of, key_of

CHOICES = ("strike it through", "remove it for good", "leave it as it is")
SAY = (
    "--strike strikes through what rests on it alone, which one undo brings back; --yes removes that for good; in a "
    "terminal you choose. Whichever it is, nothing lifts that the conversation is forgotten"
)
KEPT = (
    *("path", "source", "name", "date", "deleted", "trash", "trashed_until", "restored", "run"),
    *("project", "project_root", "project_key"),
)
"""What a ledger entry goes on saying of a conversation that is forgotten: a line that an undo brings back stands in its
project again."""


@dataclass(frozen=True)
class Forgotten:
    """What was forgotten: the `conversations` (keys of the ledger), the `lines` that rested on them alone, and those
    that `stayed`, for others say them too. `how` is marked, removed or "" where nothing was done; `run` is what `undo`
    takes back, "" for nothing; `purged` what a removal for good did."""

    name: str
    conversations: tuple[str, ...]
    lines: tuple[Found, ...]
    stayed: tuple[Found, ...]
    how: str = ""
    run: str = ""
    purged: Purged | None = None
    warnings: tuple[str, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "how": self.how or None, "run": self.run or None}


def forget(
    workspace: Workspace,
    which: str,
    *,
    strike: bool = False,
    yes: bool = False,
    ask: Ask = nobody,
    now: Clock = utc_now,
) -> Forgotten:
    """Forget one conversation, named as `knowledge show` or `knowledge ledger` name it. What rests on it alone is
    struck through (`strike`) or removed for good (`yes`); with neither the user is asked. Raises KnowledgeError for
    none of that name, and where nobody can be asked."""
    if strike and yes:
        raise KnowledgeError("usage", "--strike and --yes exclude each other")
    complete(workspace, now)
    keys = _named(seen_ledger(workspace.paths), which)
    names, lines, stayed = _resting(workspace.paths, keys)
    found = Forgotten(min(names), tuple(keys), tuple(lines), tuple(stayed))
    if not (strike or yes):
        answer = ask(_shown(found), "it stays forgotten whatever you choose; what shall become of it?", CHOICES, 0)
        if answer is None:
            raise KnowledgeError("needs-yes", "nobody can be asked here, so nothing was changed", hint=SAY)
        if answer == 2:
            return found
        yes = answer == 1
    notes = with_store(workspace.paths, "forget", now(), lambda store: _enter(workspace.paths, store, keys, now()))
    problems = _drop_answers(workspace, keys)
    done = _remove(workspace, found, now) if yes else _mark(workspace, found, now)
    left = forget_in_index(workspace)
    return replace(done, errors=(*done.errors, *problems), warnings=(*done.warnings, *notes, *left))


def _named(entries: Mapping[str, Entry], which: str) -> list[str]:
    """The keys of all harvests of the one conversation that is meant: it may have gone on several times."""
    places = {conversation_of(entries[key]) for key in named_entries(entries, which)}
    there = [key for key, entry in entries.items() if conversation_of(entry) in places]
    return sorted(there, key=lambda key: (key.startswith(KEY), key))


def _resting(paths: Paths, keys: Sequence[str]) -> tuple[set[str], list[Found], list[Found]]:
    """The names of a conversation, the lines that rest on it alone, and those that others say too. Raises
    KnowledgeError."""
    entries = seen_ledger(paths)
    called = {entry_name(entries[key]) for key in keys}
    names = called | {sanitise_name(cited_name(name)) for name in called}
    with disk_errors("unreadable", "what rests on it cannot be told"):
        others = {*_said_by_others(paths, keys)}
        rows = _all_lines(paths)
    own = [row for row in rows if _came_from(row) in names]
    others |= {_said(row) for row in rows if _came_from(row) not in names and not row.bullet.struck}
    return names, [row for row in own if _said(row) not in others], [row for row in own if _said(row) in others]


def _all_lines(paths: Paths) -> list[Found]:
    held = parse_bullets(read_text(paths.knowledge / QUARANTINE))
    return [*all_lines(paths), *(Found("quarantine", QUARANTINE, one) for one in held)]


def _came_from(row: Found) -> str:
    return row.bullet.provenance.source if row.bullet.provenance is not None else ""


def _said(row: Found) -> tuple[str, str]:
    return row.file, statement_key(_words(row.file, row.bullet))


def _words(file: str, bullet: Bullet) -> str:
    return held_item(bullet).text if file == QUARANTINE else bullet.text


class _Taught(NamedTuple):
    """One line of a proven plan: whose plan, the file, the line, what it says."""

    key: str
    file: str
    line: str
    words: str


def _planned(paths: Paths) -> Iterator[_Taught]:
    """Every line of every proven plan. Raises OSError."""
    for path in sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else ():
        for key, state in states_by_sha(read_journal(path)).items():
            for planned in state.plan.files if state.done and state.plan is not None else ():
                for bullet in parse_bullets("\n".join(planned.all_lines)):
                    yield _Taught(key, planned.name, bullet.raw, _words(planned.name, bullet))


def _said_by_others(paths: Paths, keys: Collection[str]) -> dict[tuple[str, str], str]:
    """What the proven plans of all other conversations say, as (file, key of the statement) -> how one has it. Raises
    OSError."""
    return {(row.file, statement_key(row.words)): row.line for row in _planned(paths) if row.key not in keys}


# --- the durable steps ------------------------------------------------------------------------------------------------


def _enter(paths: Paths, store: Recovered, keys: Sequence[str], now: datetime) -> list[str]:
    """From then on no harvest reads it, however this ends; its copy in the archive goes. What it confirmed is borne out
    once less. What recovery noted. Raises OSError."""
    entries: Entries = store.entries
    copies = {key_of(str(row.get("path", "")), str(row.get("source", ""))) for row in map(entries.__getitem__, keys)}
    note_entries(paths, entries, {key: _entry(entries[key], now) for key in keys}, FORGOTTEN, now)
    for key in copies:
        files.discard(file_of(paths.archive, key))
    make_confirmed(paths)
    return store.notes


def _entry(entry: Entry, now: datetime) -> Entry:
    kept = {key: value for key, value in entry.items() if key in KEPT}
    at = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {**kept, "status": FORGOTTEN, "at": at, "items": {}, "error": None}


def _mark(workspace: Workspace, found: Forgotten, now: Clock) -> Forgotten:
    """Strike the lines through, in one run; what was held of it leaves the quarantine in the same."""
    moment = now()
    errors: list[ErrorInfo] = []
    run = new_edit_run(moment)
    by_file: dict[str, list[Found]] = {}
    for row in found.lines:
        if not row.bullet.struck:
            by_file.setdefault(row.file, []).append(row)
    for file, rows in by_file.items():
        lines = [row.bullet.raw for row in rows]
        with collected(errors):
            if file == QUARANTINE:
                changed = change_file(workspace.paths, file, partial(_without, lines), moment, run=run)
            else:
                change = LineChange("forget", [row.ref for row in rows], run=run)
                changed = change_all(workspace, change, now=now)
            if changed.warning:
                errors.append(ErrorInfo("not-whole", changed.warning, str(workspace.paths.knowledge / file)))
    wrote = bool(by_file)
    with collected(errors):
        wrote = _hand_over(workspace.paths, found, moment, run, drop=False) or wrote
    return replace(found, how="marked", run=run if wrote else "", errors=tuple(dict.fromkeys(errors)))


def _without(lines: Sequence[str], there: list[str]) -> list[Hunk]:
    return without_lines(there, lines)[0]


def _remove(workspace: Workspace, found: Forgotten, now: Clock) -> Forgotten:
    """Purge the lines that rest on it alone, with everything that plans and logs say of it; then its copies in the
    trash. Lines that others say too lose its name only."""
    paths, moment = workspace.paths, now()
    texts = [_words(row.file, row.bullet) for row in found.lines]
    others = {*_said_by_others(paths, found.conversations), *map(_said, found.stayed)}
    taught = [row for row in _planned(paths) if row.key in found.conversations]
    texts += [row.words for row in taught if (row.file, statement_key(row.words)) not in others]
    day = moment.astimezone(UTC).date().isoformat()

    def work(store: Recovered) -> None:
        _hand_over(paths, found, moment, new_edit_run(moment), drop=True)
        begin_purge(paths, texts, day, found.conversations)
        for key in found.conversations:
            entry = store.entries.get(key, {})
            for name in {entry_name(entry), entry_name(entry).rpartition("/")[2]} - {""}:
                record.forget(paths.experience, session=name)
            for name in list(entry.get("trash") or {}):
                files.discard(paths.trash / name)
                drop_from_trash(entry, name)
        write_ledger(paths, store.entries)

    with_store(paths, "forget", moment, work)
    purged = complete(workspace, now)
    return replace(found, how="removed", purged=purged, errors=purged.errors, warnings=(*found.warnings, *purged.notes))


def _hand_over(paths: Paths, found: Forgotten, moment: datetime, run: str, *, drop: bool) -> bool:
    """Lines that name it and that others say too name one of these from now on. Where another line says the same, it
    goes (`drop`) or stays. Whether anything was written. Raises KnowledgeError."""
    everything, others = _all_lines(paths), _said_by_others(paths, found.conversations)
    heirs: dict[str, dict[str, str]] = {}
    gone: dict[str, list[str]] = {}
    for row in found.stayed:
        if any(_said(one) == _said(row) and _came_from(one) != _came_from(row) for one in everything):
            gone.setdefault(row.file, []).append(row.bullet.raw)
        else:
            heirs.setdefault(row.file, {})[row.bullet.raw] = others.get(_said(row), row.bullet.raw)
    for file, lines in heirs.items():
        hand_over(paths, file, lines, moment, run)
    for file, raws in gone.items() if drop else ():
        change_file(paths, file, partial(_without, raws), moment, run=run)
    return bool(heirs) or (drop and bool(gone))


# --- what was made of it ----------------------------------------------------------------------------------------------


def _drop_answers(workspace: Workspace, keys: Sequence[str]) -> list[ErrorInfo]:
    """What a model answered about it, and what is kept ready with titles in it."""
    problems = []
    for path in workspace.cache.rglob("*") if workspace.cache.is_dir() else ():
        if path.stem in keys or path.name in ("titles.json", "projects") or path.parent.name == "ready":
            try:
                files.discard(path)
            except OSError as error:
                problems.append(ErrorInfo("cache-failed", str(error.strerror), str(path)))
    return problems


def forget_in_index(workspace: Workspace) -> list[str]:
    """Take its words out of the index of conversations; a sentence where that did not work."""
    folder = index_folder(workspace)
    if not files.exists(folder / store.FILE):
        return []
    try:
        with opened_index(workspace, 0.0) as (database, brought, problem):
            if brought.busy:
                return ["another program writes the index of conversations; the next search takes it out"]
            if database is None:
                return [problem] if problem else []
            with locks.locked(folder / store.LOCK, work="forget", editor_wait=1.0):
                conversations.scour(database, folder)
    except (OSError, locks.LockHeldError) as error:
        return [f"the index of conversations could not be written: {error}"]
    return []


# --- at the command line ----------------------------------------------------------------------------------------------


def _shown(found: Forgotten) -> str:
    rows = [f"{found.name}: {count(len(found.lines), 'line')} said in it alone"]
    rows += [f"  {row.file}:{row.bullet.line} {row.bullet.text}" for row in found.lines]
    rows += [f"  others say it too, it stays: {row.bullet.text}" for row in found.stayed]
    return "\n".join(rows) + "\n"


def forgotten_text(found: Forgotten) -> str:
    """What rested on it, and what became of that."""
    rows = [_shown(found).rstrip("\n")]
    if not found.how:
        rows.append("nothing was changed")
    elif found.how == "marked":
        rows.append("it is not harvested, searched or shown any more")
        struck = "struck through; " if found.lines else ""
        back = f"{struck}'knowledge undo {found.run}' brings the lines back, the conversation stays forgotten"
        rows += [back] if found.run else []
    else:
        rows.append("removed for good; it is not harvested, searched or shown any more")
        left = found.purged.left if found.purged is not None else ()
        rows += [f"still says it, and is yours to change: {name}" for name in left]
        rows.append(f"not reached: the conversation's own file, {CANNOT.partition(', ')[2]}")
    return "\n".join([*rows, *(f"note: {warning}" for warning in found.warnings)]) + "\n"


COMMANDS = (
    top(
        "forget",
        "dead-links --yes",
        forget,
        forgotten_text,
        needed("which", "the conversation: a part of its name, its path, or the beginning of its hash", "NAME"),
        flag("--strike", "do not ask: strike through what rests on it alone; one undo brings these lines back"),
        flag("--yes", "do not ask: remove what rests on it alone for good"),
        asks=True,
    ),
)
