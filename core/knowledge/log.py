"""The log of short changes: `.state/log`. What is about to be done is written down there before it is done.

`carry_out` is the one way in which a user's edit, an undo, or lines that are put back reach a file: intent, write,
read back, done. One checksummed record a line (base/checked_lines.py):

- `intent`  id, the change as changes.jsonl will tell it, sha256 of the file before and after, its size before an append
- `done`    id: it was made and read back; its row stands in changes.jsonl, though maybe not on the disk yet
- `void`    id: it was not made

The fact index writes its plans into the same log (factindex/sync.py). The log is synced at each intent, and emptied
only when nobody is at work and changes.jsonl, which is made from it, is synced.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from core.base import files, locks
from core.base.checked_lines import Record, append, each, opened, unfinished
from core.base.homes import FORMAT, require_known, write_format
from core.base.paths import Paths
from core.knowledge.changes import Change, append_changes, change_of, read_changes, sync_changes
from core.knowledge.earlier import copy_store, remember_removed
from core.knowledge.hunks import apply_hunks, bare, split
from core.knowledge.swap import append_expected, is_process_at_work, replace_expected

KEPT_BYTES = 1 << 16
"""The bytes to which the log may grow before it is emptied, and which are read before an edit."""
CARRYING_SECONDS = 10.0
"""How long an edit waits for another program that is just carrying the store over."""


Put = Callable[[], "Change | bool"]
Key = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Intent:
    """One change that somebody is about to make, or has begun. `after` is None where nobody can know it before; `size`
    is that of the file before an append, -1 for any other way to write."""

    change: Change
    before: str | None = None
    after: str | None = None
    size: int = -1
    state: str = ""
    at_work: bool = False


def put_in_place(paths: Paths, change: Change, new: bytes, expected: bytes) -> str | None:
    """Make the change that turns exactly `expected` into `new`; as `carry_out`. Lines that only come at the end of a
    file are appended: an editor that has it open loses nothing, and it costs the least."""
    path = paths.knowledge / change.file
    before, after = (hashlib.sha256(data).hexdigest() for data in (expected, new))
    if change.edit is not None and expected.endswith(b"\n") and new.startswith(expected):
        payload = new[len(expected) :]
        put: Put = lambda: append_expected(path, payload, expected)  # noqa: E731
        return carry_out(paths, change, put, before=before, after=after, size=len(expected))
    return carry_out(paths, change, lambda: replace_expected(path, new, expected), before=before, after=after)


@files.at_work
def carry_out(
    paths: Paths, change: Change, put: Put, *, before: str | None = None, after: str | None = None, size: int = -1
) -> str | None:
    """Make one change to one file: write down what is meant, `put` it in place (which reads it back), tell it. Returns
    None when it was not made, else "", or a sentence about what could not be told. Raises OSError; whether the change
    was made then, `settle` finds out. `put` returns False where it found something else in the file and wrote nothing;
    or the change as it is to be told."""
    name = files.new_id()
    record = {"t": "intent", "id": name, "pid": os.getpid(), "change": change.to_json()}
    files.made(name)
    append(paths.log, record | {"before": before, "after": after, "size": size}, durable=True)
    done = put()
    if done is False:
        with contextlib.suppress(OSError):  # whoever looks sees that nothing was made
            append(paths.log, {"t": "void", "id": name})
        return None
    made = done if isinstance(done, Change) else change
    try:
        append_changes(paths, [made], durable=False)
        append(paths.log, {"t": "done", "id": name} | ({} if made is change else {"change": made.to_json()}))
    except OSError as error:
        where = error.filename or paths.changes
        return f"the change was made, but it cannot be undone: {where} cannot be written ({error.strerror})"
    return ""


# --- after a crash ---------------------------------------------------------------------------------------------------


def settle(paths: Paths, *, whole: bool = True) -> int:
    """Bring what a crash cut off to its end: complete an append, tell changes.jsonl of what was made; returns how many
    rows that were. The log is emptied when nobody is at work; not `whole`, that waits until it is large. Raises
    OSError."""
    number = 0
    if not files.exists(paths.log):
        return number
    with opened(paths.log) as fd:
        size = files.identity_of(fd).size
        if not size:
            return number
        data = files.read_descriptor(fd)
        intents = _read(paths, data)
        if not whole and all(row.state for row in intents) and size < KEPT_BYTES:
            return number
        for row in _open(paths, intents):
            if _was_made(paths, row, mend=True):
                append_changes(paths, [row.change], durable=False)
                number += 1
        others = [row for row in unfinished(data).values() if "change" not in row]  # of the fact index
        if not others and not any(row.at_work for row in intents):
            if any(row.state != "void" for row in intents):
                sync_changes(paths)
            files.empty(fd)
    return number


def begin(paths: Paths) -> None:
    """Before an edit in a home: what an earlier one was killed at is brought to its end. Raises OSError."""
    carry_over(paths)
    settle(paths, whole=False)


def carry_over(paths: Paths, *, alone: bool = False) -> None:
    """Before the first write into a home: copy what an earlier version left, then make it a store of this format.
    `alone` says that the caller holds the run lock: no run, of the earlier version either, may write meanwhile. Raises
    KnowledgeError where that cannot be, OSError also for a newer store."""
    if require_known(paths) == FORMAT:
        return
    with contextlib.nullcontext() if alone else locks.only_one(paths.lock, editor_wait=CARRYING_SECONDS):
        if require_known(paths) < FORMAT:  # another program may have done it while this one waited
            copy_store(paths)
            remember_removed(paths)
            write_format(paths)
            settle(paths)


def take_away(paths: Paths) -> None:
    """No log lies about in a project when nobody needs it. Raises OSError."""
    settle(paths)
    if files.exists(paths.log) and sys.platform != "win32":  # which takes no file away that is open
        with opened(paths.log) as fd:
            if not files.identity_of(fd).size:
                files.remove_file(paths.log)


def untold(paths: Paths) -> list[Change]:
    """The rows that `settle` would tell: changes that were made and then killed. Only looks. Raises OSError."""
    intents = _read(paths, files.read_or_empty(paths.log))
    return [row.change for row in _open(paths, intents) if _was_made(paths, row)]


def _open(paths: Paths, intents: Iterable[Intent]) -> list[Intent]:
    """Those that nobody is at work on and that changes.jsonl does not tell of."""
    rows = [row for row in intents if not row.at_work and row.state != "void"]
    reported = set(map(_key, read_changes(paths))) if rows else set[Key]()
    return [row for row in rows if _key(row.change) not in reported]


def _key(change: Change) -> Key:
    """What tells a row from any other; where its lines stood in a new file is known only when it was made."""
    return change.when, change.run, change.file, change.added, change.removed


def _read(paths: Paths, data: bytes) -> list[Intent]:
    """All whole intents; each line vouches for itself, so one that was torn affects only itself."""
    found: dict[str, Record] = {}
    states: dict[str, str] = {}
    for record in each(data):
        if record.get("t") == "intent":
            found[str(record.get("id"))] = record
        elif record.get("t") in ("done", "void"):
            states[str(record.get("id"))] = str(record.get("t"))
            if "change" in record and str(record.get("id")) in found:
                found[str(record.get("id"))] |= {"change": record["change"]}
    since = paths.log.lstat().st_mtime if found else 0.0
    read = (_intent(name, record, states.get(name, ""), since) for name, record in found.items())
    return [row for row in read if row is not None]


def _intent(name: str, record: Record, state: str, since: float) -> Intent | None:
    """`since` is when the log was last written: who wrote an intent may still be at it."""
    change = change_of(record.get("change"))
    if change is None or os.path.isabs(change.file) or ".." in PurePath(change.file).parts or "\0" in change.file:
        return None
    pid, size = record.get("pid"), record.get("size")
    busy = False
    if not state and isinstance(pid, int):
        busy = files.is_live(name) if pid == os.getpid() else is_process_at_work(pid, since)
    before, after = (str(record[key]) if record.get(key) else None for key in ("before", "after"))
    return Intent(change, before, after, size if isinstance(size, int) else -1, state, busy)


def _was_made(paths: Paths, intent: Intent, *, mend: bool = False) -> bool:
    """Whether the file shows the change: by its hash, or, where somebody has written since, by the lines themselves.
    `mend` completes an append that was torn. Raises OSError."""
    change = intent.change
    if intent.state == "done":
        return True
    if not (change.added or change.removed):
        return False
    path = paths.knowledge / change.file
    data = files.read_or_empty(path)
    sha = hashlib.sha256(data).hexdigest()
    if intent.before and sha in (intent.before, intent.after):
        return sha == intent.after
    whole = _torn_append(intent, data)
    if whole is not None:
        return replace_expected(path, whole, data) if mend else True
    try:
        standing = {bare(line) for line in split(data)[1]}
    except UnicodeDecodeError:
        return False
    return standing.issuperset(change.added) and not standing & (set(change.removed) - set(change.added))


def _torn_append(intent: Intent, data: bytes) -> bytes | None:
    """The file as an append would have left it that was cut off in its middle, None where that is not so. A power cut
    may have left zeros in place of its end."""
    size, edit, begun = intent.size, intent.change.edit, data.rstrip(b"\0")
    if size < 0 or edit is None or len(data) <= size or hashlib.sha256(data[:size]).hexdigest() != intent.before:
        return None
    try:
        whole = apply_hunks(data[:size], edit.hunks)
    except (UnicodeDecodeError, IndexError):
        return None
    return whole if whole.startswith(begun) and hashlib.sha256(whole).hexdigest() == intent.after else None
