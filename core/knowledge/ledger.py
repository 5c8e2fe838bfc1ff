"""The audit log `ledger.json`: sha256 of a conversation's content -> what became of it.

Its first keys are `path`, `status`, `at`, `items`, `deleted` and `error`; readers of these do not notice the
others (`provider`, `model`, `input_tokens`, `output_tokens`, `prompt`, `run`, `trash`, `trashed_until`,
`quarantined`, `notes_as_facts`, `from_tools`, `restored`).
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import threading
import time
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from contextlib import contextmanager, suppress
from datetime import datetime
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from core.base import files
from core.base.conflict import both_sides, without_marks
from core.base.paths import Paths
from core.base.ready import state_of
from core.base.result import KnowledgeError, Ok, attempt

if TYPE_CHECKING:
    from core.knowledge.journal import Pending

Entry = dict[str, Any]
Entries = dict[str, Entry]

PART_BYTES = 1 << 16
"""Larger ledgers are parsed in parts of about this size: json.loads lets no other thread work until it has ended, and a
window must not stand still while a hundred thousand entries are read."""
LARGE_BYTES = 4 << 20
"""Of a larger ledger who only looks holds nothing: neither its bytes nor its entries."""
BETWEEN = b'\n    },\n    "'
"""Between two entries of a ledger that we wrote. In valid JSON a string holds no line break, so this is never text."""
HEAD, TAIL = b'{\n  "entries": {\n    "', b"\n    }\n  }\n}\n"
_BETWEEN, _END = re.compile(re.escape(BETWEEN)), b"\n    }"
_ENTRY_BYTES = 4096
"""The bytes of an entry that are read at first: most are shorter."""

UNDONE = "undone"
"""The status of a conversation whose harvest was undone; and the key, of whatever status, that names that run."""
FORGOTTEN = "forgotten"
"""The status of a conversation that the user wants forgotten: never harvested again, not searched, not shown."""
STATUSES = ("harvested", "harvest-failed", "deleted-unharvested", "too-large", "pruned", UNDONE, FORGOTTEN)


OF_ARCHIVE = ("archived", "archive-removed")
"""The status of rows under `archive:…`: a copy of a conversation is kept, or shall not be (sources/archive.py)."""


def parse_ledger(data: bytes, path: Path) -> Entries:
    """The entries of a ledger file; of one with merge conflicts those of both sides. An empty or foreign file is an
    error, never an empty ledger."""
    if b"\n>>>>>>> " in data or data.startswith(b"<<<<<<< "):
        united = _of_both_sides(data)
        if united is not None:
            return united
    if len(data) > PART_BYTES:  # in steps between which other threads work; of another layout at once
        with suppress(ValueError, RecursionError):
            return {key: entry for _, key, entry in entries_of(BytesIO(data))}
    try:
        loaded = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise KnowledgeError("ledger-corrupt", f"the ledger is not readable JSON: {error}", path, _REPAIR) from error
    entries = loaded.get("entries") if isinstance(loaded, dict) else None
    if not isinstance(entries, dict) or not all(isinstance(entry, dict) for entry in entries.values()):
        raise KnowledgeError("ledger-corrupt", "the ledger has no table of entries", path, _REPAIR)
    return entries


def _rows_of(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Some entries at a time, cut where one ends, behind the place of the quote before the first of their keys. Raises
    ValueError for another layout. A cut at a wrong place leaves a brace open, so that part is no JSON."""
    held, begin = file.read(PART_BYTES), len(HEAD) - 1
    if not held.startswith(HEAD):
        raise ValueError("not our layout")
    held = held[len(HEAD) :]
    while more := file.read(PART_BYTES):
        cut = held.rfind(BETWEEN)
        if cut >= 0:
            yield begin, held[:cut]
            held, begin = held[cut + len(BETWEEN) :], begin + cut + len(BETWEEN)
        held += more
    if not held.endswith(TAIL):
        raise ValueError("not our layout")
    yield begin, held[: -len(TAIL)]


def entries_of(file: BinaryIO) -> Iterator[tuple[int, str, Entry]]:
    """Where each entry of a ledger begins, its key and itself, of a file in our own layout, of which no more than a
    part is held. Raises ValueError or RecursionError for another one, and where keys do not stand in their order."""
    last = ""
    for begin, rows in _rows_of(file):
        part = json.loads('{"' + rows.decode("utf-8") + "}}")
        begins = [begin, *(begin + found.end() for found in _BETWEEN.finditer(rows))]
        for at, (key, entry) in zip(begins, part.items(), strict=True):
            if not isinstance(entry, dict) or key <= last:
                raise ValueError("not our layout")
            last = key
            yield at, key, entry


def entry_at(file: BinaryIO, begin: int) -> tuple[str, Entry]:
    """Key and entry of what begins there. Raises OSError, and ValueError or RecursionError where nothing does."""
    file.seek(begin)
    data, end = b"", -1
    while end < 0:
        more = file.read(max(_ENTRY_BYTES, 3 * len(data)))
        data += more
        end = data.find(_END)
        if end < 0 and not more:
            raise ValueError("the entry has no end")
    ((key, entry),) = json.loads(b"{" + data[:end] + b"}}").items()
    if not isinstance(entry, dict):
        raise ValueError("this is no entry")
    return key, entry


def read_entry(ledger: Path, state: list[int], begin: int) -> tuple[str, Entry]:
    """Key and entry of what begins there. Raises OSError, and ValueError or RecursionError where the file is another
    one by now."""
    with os.fdopen(files.open_regular(ledger), "rb") as file:
        if state_of(os.fstat(file.fileno())) != state:
            raise ValueError("the ledger has changed")
        return entry_at(file, begin)


def _of_both_sides(data: bytes) -> Entries | None:
    """The entries of both sides of a merge; None when one of them cannot be read."""
    sides = both_sides(data.decode("utf-8", "replace"))
    found: Entries = {}
    for side in sides or ():
        parsed = attempt(parse_ledger, side.encode("utf-8"), Path())
        if isinstance(parsed, KnowledgeError):
            return None
        found = joined(found, parsed.value)
    return found if sides is not None else None


def joined(one: Entries, other: Entries) -> Entries:
    """The entries of two ledgers. Of one content told by both: the proof of a harvest before a failure, the later
    before the earlier, with where either of them says that copies lie."""
    found = dict(one)
    for sha, entry in other.items():
        known = found.get(sha)
        if known is None:
            found[sha] = entry
            continue
        old, new = sorted((known, entry), key=lambda row: (row.get("status") == "harvested", str(row.get("at", ""))))
        trash = {**table_in(old, "trash"), **table_in(new, "trash")}
        places = sorted(restored_paths(old) | restored_paths(new))
        found[sha] = {**new, **({"trash": trash} if trash else {}), **({"restored": places} if places else {})}
    return found


def table_in(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The table that stands under a key of an entry, or of the facts of a plan; {} where something else does."""
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def salvaged(data: bytes) -> Entries:
    """Every entry that can still be read in a damaged ledger, or in one with merge conflicts, one by one."""
    text = data.decode("utf-8", "replace")
    found: Entries = {}
    decoder = json.JSONDecoder()
    for side in both_sides(text) or (without_marks(text),):
        read: Entries = {}
        for start in _KEY.finditer(side):
            try:
                key, entry = json.loads(f'"{start["key"]}"'), decoder.raw_decode(side, start.end())[0]
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict) and entry.get("status") in (*STATUSES, *OF_ARCHIVE):
                read[key] = entry
        found = joined(found, read)
    return found


_KEY = re.compile(r'"(?P<key>[0-9a-f]{64}|archive:[0-9a-f]{16}|path:(?:[^"\\\n]|\\.)*)"\s*:\s*(?=\{)')
_REPAIR = "it is set aside and rebuilt from the committed plans by the next 'knowledge harvest --apply'"
_MOVE_AWAY = "move it away, then the next 'knowledge harvest --apply' rebuilds it from the committed plans"


def read_ledger(paths: Paths) -> Entries:
    """The ledger on disk. No file at all is a new store, unless runs are archived: then it is rebuilt from them."""
    read = _content(paths)
    if read is None:
        return rebuild(paths)
    return parse_ledger(read.data, paths.ledger)


def _content(paths: Paths) -> files.FileRead | None:
    """The ledger's file, None where there is none."""
    try:
        return files.read_file(paths.ledger)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(paths, error) from error


def _unreadable(paths: Paths, error: OSError) -> KnowledgeError:
    denied = error.errno in (errno.EACCES, errno.EPERM)
    hint = "check its permissions" if denied else _MOVE_AWAY
    return KnowledgeError("ledger-unreadable", f"the ledger cannot be read: {error.strerror}", paths.ledger, hint)


class _Index(NamedTuple):
    """Where the entries of a ledger begin whose file was in that `state`, by the hashes of their keys, sorted."""

    state: list[int]
    counts: dict[str, int]
    hashes: array[int]
    begins: array[int]


def _indexed(file: BinaryIO) -> _Index:
    """Raises ValueError or RecursionError for a file that is not in our own layout."""
    state = state_of(os.fstat(file.fileno()))
    statuses, hashes, begins = Counter[str](), array("q"), array("Q")
    for begin, key, entry in entries_of(file):
        statuses[str(entry.get("status", "unknown"))] += 1
        hashes.append(hash(key))
        begins.append(begin)
    order = sorted(range(len(hashes)), key=hashes.__getitem__)
    ordered = array("q", map(hashes.__getitem__, order)), array("Q", map(begins.__getitem__, order))
    return _Index(state, statuses, *ordered)


class LargeLedger(Mapping[str, Entry]):
    """A large ledger for who looks. No entry is kept, but where each stands: a walk reads the file from its beginning,
    one entry is read where it stands, and both see the file as it is then. `counts` are by status.

    Walks and looks raise KnowledgeError where the file cannot be read as it could when it was opened."""

    def __init__(self, paths: Paths, file: BinaryIO) -> None:
        """Raises ValueError or RecursionError for a file that is not in our own layout."""
        self._paths = paths
        self._index = _indexed(file)

    @property
    def counts(self) -> dict[str, int]:
        """How many entries of each status there are."""
        return self._index.counts

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[str]:
        return (key for _, key, _ in self.walk())

    def items(self) -> ItemsView[str, Entry]:
        return _Items(self)

    def values(self) -> ValuesView[Entry]:
        return _Values(self)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            with os.fdopen(files.open_regular(self._paths.ledger), "rb") as file:
                yield file
        except (ValueError, RecursionError) as error:
            words = "the ledger was changed by another program while it was read; look again"
            raise KnowledgeError("ledger-unreadable", words, self._paths.ledger) from error
        except OSError as error:
            raise _unreadable(self._paths, error) from error

    def walk(self) -> Iterator[tuple[int, str, Entry]]:
        """Where each entry begins, its key and itself, in the order of the file."""
        with self._opened() as file:
            yield from entries_of(file)

    def __getitem__(self, key: str) -> Entry:
        number = hash(key)
        with self._opened() as file:
            index = self._index
            if state_of(os.fstat(file.fileno())) != index.state:
                index = self._index = _indexed(file)  # at once: another thread may look meanwhile
            at = bisect_left(index.hashes, number)
            while at < len(index.hashes) and index.hashes[at] == number:
                found, entry = entry_at(file, index.begins[at])
                if found == key:
                    return entry
                at += 1
        raise KeyError(key)


class _Items(ItemsView[str, Entry]):
    _mapping: LargeLedger

    def __iter__(self) -> Iterator[tuple[str, Entry]]:
        return ((key, entry) for _, key, entry in self._mapping.walk())


class _Values(ValuesView[Entry]):
    _mapping: LargeLedger

    def __iter__(self) -> Iterator[Entry]:
        return (entry for _, _, entry in self._mapping.walk())


_seen: tuple[str, str, Mapping[str, Entry], tuple[int, ...]] = ("", "", {}, ())
"""The ledger that was read last, its hash, what it holds, and which file that was where its times say for certain that
it is still the same (else empty). One value, since several threads look."""
_looking = threading.RLock()
"""Two threads of a window that look at once would each parse the whole, and each keep one of their own."""
_SETTLED_NS = 2_000_000_000
"""A file that was changed longer ago than this shows every further change in its times."""


def seen_ledger(paths: Paths) -> Mapping[str, Entry]:
    """The same for whoever only looks: a file with the content of last time is not parsed again, and all who look
    share one copy; of a large one a `LargeLedger`. Never change what it returns."""
    global _seen
    with _looking:
        path, digest, entries, seen_file = _seen
        file = _file_of(paths)
        if file and (path, seen_file) == (str(paths.ledger), file):
            return entries
        read = _large(paths, digest if path == str(paths.ledger) else "")
        if read is None:
            whole = _content(paths)
            if whole is None:
                return rebuild(paths)
            known = (path, digest) == (str(paths.ledger), whole.sha256)
            entries = entries if known else parse_ledger(whole.data, paths.ledger)
            read = whole.sha256, None
        settled = file and file == _file_of(paths) and time.time_ns() - max(file[-2:]) > _SETTLED_NS
        digest, entries = read[0], entries if read[1] is None else read[1]
        _seen = (str(paths.ledger), digest, entries, file if settled else ())
        return entries


def known_entries(paths: Paths) -> Mapping[str, Entry]:
    """The same; nothing where it cannot be read."""
    found = attempt(seen_ledger, paths)
    return found.value if isinstance(found, Ok) else {}


def _large(paths: Paths, known: str) -> tuple[str, LargeLedger | None] | None:
    """Hash of a large ledger and itself (None where it is the `known` one); None for another one, and where it is not
    in our layout."""
    try:
        with os.fdopen(files.open_regular(paths.ledger), "rb") as file:
            if os.fstat(file.fileno()).st_size <= LARGE_BYTES:
                return None
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest == known:
                return digest, None
            file.seek(0)
            return digest, LargeLedger(paths, file)
    except (OSError, ValueError, RecursionError):
        return None


def _file_of(paths: Paths) -> tuple[int, ...]:
    """Which file the ledger is, the times of its last change at the end; empty where there is none."""
    try:
        return tuple(state_of(paths.ledger.lstat()))
    except OSError:
        return ()


def format_ledger(entries: Entries) -> bytes:
    """Indented and sorted, so that two ledgers can be compared and merged line by line. Entry by entry: of a whole
    large ledger the encoder would hold every piece at once."""
    made = bytearray(b'{\n  "entries": {')
    for number, sha in enumerate(sorted(entries)):
        row = f"{_json(sha)}: {_json(entries[sha])}".replace("\n", _BREAK)
        made += f"{',' if number else ''}{_BREAK}{row}".encode("utf-8", "backslashreplace")
    made += b"\n  }\n}\n" if entries else b"}\n}\n"
    return bytes(made)


_json = json.JSONEncoder(indent=2, sort_keys=True, ensure_ascii=False).encode
_BREAK = "\n    "


def write_ledger(paths: Paths, entries: Entries) -> int:
    """Replace ledger.json durably; how many bytes it holds. Raises OSError."""
    files.make_folder(paths.knowledge)
    data = format_ledger(entries)
    files.write_atomic(paths.ledger, data)
    return len(data)


def note_entries(paths: Paths, entries: Entries, rows: Mapping[str, Entry], label: str, now: datetime) -> None:
    """Put entries into the ledger that no harvest made: into the archived plans first, under this label, from which a
    lost ledger is made again. The caller holds the run lock. Raises OSError."""
    from core.base.checked_lines import encode

    entries.update(rows)
    told = [{"t": "entry", "sha": key, "entry": entry} for key, entry in rows.items()]
    files.make_folder(paths.plans)
    files.write_atomic(paths.plans / f"{label}-{now:%Y%m%dT%H%M%S%f}.jsonl", b"".join(map(encode, told)))
    write_ledger(paths, entries)


def set_aside(paths: Paths, now: datetime) -> Path:
    """Move a corrupt ledger to a dated name and return that. Raises OSError."""
    aside = paths.ledger.with_name(f"ledger.corrupt-{now:%Y%m%dT%H%M%S%f}.json")
    files.rename_without_replacing(paths.ledger, aside)
    files.sync_folder(paths.knowledge)
    return aside


def rebuild_with(paths: Paths, damaged: bytes) -> tuple[Entries, int]:
    """The entries of the archived runs and, from the damaged ledger, those that only it tells of, such as another
    machine's; and how many these are. Raises OSError."""
    proven, found = rebuild(paths), salvaged(damaged)
    entries = found | {sha: merged_entry(found.get(sha), entry) for sha, entry in proven.items()}
    return entries, len(entries) - len(proven)


def rebuild(paths: Paths) -> Entries:
    """All entries that the archived runs tell of, the later run winning. Raises OSError."""
    entries: Entries = {}
    trash: dict[str, list[str]] | None = None
    if not paths.plans.is_dir():
        return entries
    from core.knowledge.journal import read_journal, states_by_sha

    for archived in sorted(paths.plans.glob("*.jsonl")):
        for sha, state in states_by_sha(read_journal(archived)).items():
            if state.entry is not None:
                entries[sha] = merged_entry(entries.get(sha), state.entry)
            for moved in state.reclaimed:
                note_reclaimed(entries.setdefault(sha, dict(state.entry or {})), moved)
            if sha in entries and state.unrecorded:
                trash = in_trash(paths) if trash is None else trash
                note_unrecorded_moves(state, entries[sha], trash)
    return entries


def in_trash(paths: Paths) -> dict[str, list[str]]:
    """The names of what lies in the trash, by the sha256 that they begin with. Raises OSError."""
    found: dict[str, list[str]] = {}
    for path in sorted(paths.trash.iterdir()) if paths.trash.is_dir() else ():
        found.setdefault(path.name.partition(".")[0], []).append(path.name)
    return found


def note_unrecorded_moves(state: Pending, entry: Entry, trash: Mapping[str, list[str]]) -> None:
    """Write into an entry the moves that a crash kept from being recorded: from which place each copy came that lies in
    the trash. A power cut may have brought one back to its place, and kept the other: its place is known then too.

    Without a date in the ledger the trash keeps it for the whole grace period from the moment of the rename.
    """
    known = {*table_in(entry, "trash"), *(str(row.get("trash", "")) for row in state.reclaimed)}
    names = [name for name in trash.get(state.sha256, ()) if name not in known]
    moving = sorted(state.unrecorded, key=files.exists)  # those that are gone first
    for path, name in zip_longest(moving, names[: len(moving)], fillvalue=""):
        stands = files.exists(path)
        if name or not stands:
            note_reclaimed(entry, {"trash": name, "path": path, "until": ""})
            entry["deleted"] = not stands


def merged_entry(old: Entry | None, new: Entry) -> Entry:
    """A failure does not erase the proof of an earlier harvest of the same content, nor that it was undone, nor where
    copies of it lie. Told again by the same run, after a power cut that took the end of its journal, it stays `deleted`
    if it was."""
    failed = new.get("status") in ("harvest-failed", "too-large")
    if old is not None and old.get("status") == "harvested" and failed:
        return {**old, "last_error": new.get("error", new["status"])}
    lasting = ("trash", "trashed_until", "restored", *([UNDONE] if failed else []))
    kept = {key: value for key, value in (old or {}).items() if key in lasting}
    again = old is not None and bool(old.get("run")) and all(old.get(key) == new.get(key) for key in ("run", "status"))
    return kept | new | ({"deleted": True} if again and old is not None and old.get("deleted") else {})


def note_reclaimed(entry: Entry, moved: dict[str, Any]) -> None:
    """Write into an entry that its conversation was moved to the trash (or removed, with a grace period of none)."""
    entry["deleted"] = True
    if moved.get("trash"):
        entry["trash"] = {**table_in(entry, "trash"), str(moved["trash"]): str(moved.get("path", ""))}
        entry["trashed_until"] = str(moved.get("until", ""))


def note_restored(entry: Entry, name: str) -> None:
    """Write into an entry that one copy of its conversation has left the trash for its place."""
    drop_from_trash(entry, name)
    entry["deleted"] = False


def keep_in_place(entry: Entry, path: str) -> None:
    """Write into an entry that the user wants this copy where it is: no harvest takes it away again."""
    entry["restored"] = sorted({*restored_paths(entry), path})


def forget_restored(entry: Entry, path: str) -> None:
    """Take a place out of what `keep_in_place` wrote."""
    left = sorted(restored_paths(entry) - {path})
    if left:
        entry["restored"] = left
    else:
        entry.pop("restored", None)


def restored_paths(entry: Mapping[str, Any]) -> set[str]:
    """Where the user has brought copies of a conversation back to."""
    known = entry.get("restored")
    return set(map(str, known)) if isinstance(known, list) else set()


def drop_from_trash(entry: Entry, name: str) -> None:
    """Take one name out of an entry's map of the trash."""
    left = {key: path for key, path in entry.get("trash", {}).items() if key != name}
    if left:
        entry["trash"] = left
    else:
        entry.pop("trash", None)
        entry.pop("trashed_until", None)


def counts_by_status(entries: Mapping[str, Entry]) -> dict[str, int]:
    """How many entries of each status; those of a harvest are always there."""
    counts = dict.fromkeys(STATUSES, 0)
    if isinstance(entries, LargeLedger):
        return counts | entries.counts
    for entry in entries.values():
        status = str(entry.get("status", "unknown"))
        counts[status] = counts.get(status, 0) + 1
    return counts
