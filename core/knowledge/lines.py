"""Makes sure that planned lines stand in a knowledge file, exactly once, and touches no other byte of it. Where the
statement of a line stands already, whoever said it, the plan confirms it, and nothing is written.

The user may edit the same file at the same moment: an append
never truncates, an insertion swaps files in one step and compares what came out with what was read.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.base import files
from core.base.entry import statement_key
from core.base.locks import folder_lock
from core.base.markdown import is_bullet, parse_bullets, split_provenance
from core.knowledge.categories import NEW_TASKS, QUARANTINE, TASKS_FILE, bullets_in, text_in
from core.knowledge.hunks import place_in
from core.knowledge.swap import EDITOR_WAIT, EditorWait, swap_in

ATTEMPTS = 10
MAX_LINES_ONE_BY_ONE = 8
"""At most this many lines are searched for one by one; for more, the file is taken apart once."""
TAIL_BYTES = 1 << 16
"""How much of a file's end is looked at for an unfinished line: far more than a planned line is long."""


@dataclass(frozen=True)
class PlannedFile:
    """The exact lines that one file must hold. `name` is relative to the knowledge folder; `done` is for tasks.md,
    whose `lines` are the open ones. `header` is the first line of the file when it is new. `tail` is what stood behind
    the last line break when the plan was made: a user's own words, also where they look like a torn line of ours."""

    name: str
    header: str
    lines: tuple[str, ...]
    done: tuple[str, ...] = ()
    tail: str = ""

    @property
    def all_lines(self) -> tuple[str, ...]:
        return self.lines + self.done


@dataclass
class OwnWrites:
    """The state in which this process left each file, so that its own writes do not look like an editor's, and which
    open editors it has waited for already: one that stays open all day costs a run its patience once."""

    seen: dict[str, files.Identity] = field(default_factory=dict)
    waited: set[str] = field(default_factory=set)


def noting_tail(folder: Path, planned: PlannedFile) -> PlannedFile:
    """The same, with the `tail` that the file has now. What cannot be read has none. tasks.md is never appended to."""
    if planned.name == TASKS_FILE:
        return planned
    try:
        fd = files.open_regular(os.path.join(folder, planned.name))
    except OSError:
        return planned
    try:
        size = os.fstat(fd).st_size
        if not size or _read_end(fd, size, 1) == b"\n":
            return planned  # as most files end: the rest need not be read
        tail = _tail(_read_end(fd, size, TAIL_BYTES))
    finally:
        os.close(fd)
    return replace(planned, tail=tail.decode("utf-8", "surrogateescape")) if tail else planned


def _read_end(fd: int, size: int, number: int) -> bytes:
    os.lseek(fd, max(0, size - number), os.SEEK_SET)
    return os.read(fd, number)


def missing_lines(data: bytes, lines: Sequence[str]) -> list[bytes]:
    """Those of `lines` that the file does not hold in these very bytes, each once."""
    wanted = dict.fromkeys(line.encode("utf-8") for line in lines)
    if len(wanted) <= MAX_LINES_ONE_BY_ONE:
        return [line for line in wanted if not _holds(data, line)]
    there = lines_in(data)
    return [line for line in wanted if line not in there]


def lines_in(data: bytes) -> set[bytes]:
    """The whole lines of a file, without what ends them."""
    return {row.removesuffix(b"\r") for row in data.split(b"\n")}


def _holds(data: bytes, line: bytes) -> bool:
    """Whether `line` is a whole line of the file. For a few lines, searching is faster than splitting a large file."""
    at = data.find(line)
    while at >= 0:
        after = data[at + len(line) : at + len(line) + 2]
        if (at == 0 or data[at - 1] == 10) and (after[:1] in (b"", b"\n") or after in (b"\r", b"\r\n")):
            return True
        at = data.find(line, at + 1)
    return False


# --- one statement, one line -----------------------------------------------------------------------------------------

_RUN = re.compile(r"[a-z0-9]+")
"""Letters that stand in every plain line that says the same."""


def key_of(line: str) -> str:
    """What a planned line says, in the form in which all say it that say the same; "" for what is no bullet."""
    return statement_key(split_provenance(line[2:])[0]) if is_bullet(line) else ""


def statements_in(name: str, data: bytes, wanted: Collection[str] | None = None) -> tuple[frozenset[str], ...]:
    """The keys of what a file says, struck through or not: those of the open section and of the done one of tasks.md,
    of any other file all of them twice. With `wanted`, few keys, at least those of them that stand there. What waits in
    the quarantine says nothing: it is let in or dropped line by line."""
    if name == QUARANTINE:
        return frozenset(), frozenset()
    text = text_in(data)
    if wanted is not None and len(wanted) <= MAX_LINES_ONE_BY_ONE:
        text = _likely(text, wanted)
    if name == TASKS_FILE:
        opened, done = (bullets_in(text, category) for category in ("tasks_open", "tasks_done"))
        ticked = [row for row in done if row.ticked and row.section.casefold() != "done"]  # where a harvest put it
        return frozenset(row.key for row in (*opened, *ticked)), frozenset(row.key for row in done)
    keys = frozenset(row.key for row in parse_bullets(text))
    return keys, keys


def _likely(text: str, wanted: Iterable[str]) -> str:
    """A text without the bullets that surely say none of what is wanted: to see that takes a tenth of making keys."""
    runs = {max(_RUN.findall(key), key=len, default="") for key in wanted}
    rows = text.split("\n")
    return "\n".join(
        row
        for row, below in zip(rows, (*rows[1:], ""), strict=True)
        if row[:2] != "- "
        or not row.isascii()
        or (below[:1] in (" ", "\t") and "[from: " not in row)  # its sentence may go on
        or any(run in row.lower() for run in runs)
    )


def absent_lines(data: bytes, planned: PlannedFile) -> tuple[list[str], list[str]]:
    """The planned lines that are to be written, those of `lines` and those of `done`: neither they nor their statements
    stand in the file."""
    gone = {line.decode("utf-8") for line in missing_lines(data, planned.all_lines)}
    opened, done = ([row for row in dict.fromkeys(rows) if row in gone] for rows in (planned.lines, planned.done))
    if gone:
        keys = {row: key for row in gone if (key := key_of(row))}
        open_said, done_said = statements_in(planned.name, data, set(keys.values()))
        opened = [row for row in opened if keys.get(row) not in open_said]
        done = [row for row in done if keys.get(row) not in done_said]
    return opened, done


def _to_write(data: bytes, planned: PlannedFile) -> tuple[list[str], list[str]]:
    """Of the absent lines one for each statement."""
    opened, done = absent_lines(data, planned)
    return (opened, done) if planned.name == QUARANTINE else (_each_once(opened), _each_once(done))


def _each_once(lines: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for line in lines:
        found.setdefault(key_of(line) or line, line)
    return list(found.values())


def ensure_lines(
    folder: Path,
    planned: PlannedFile,
    *,
    known: bool = False,
    recovering: bool = False,
    editor_wait: EditorWait = EDITOR_WAIT,
    own: OwnWrites | None = None,
) -> tuple[tuple[str, ...], bool]:
    """Make what `planned` says stand in the file and be durable; returns the lines added and whether a name changed.

    `known` says that the file existed before: when it is missing, an editor may be about to rename it back, so wait.
    `recovering` completes a line that a crash tore. A changed name still wants its folder synced (by the caller, once
    for all files of a conversation). Raises OSError; `files.SyncError` means that the disk cannot be trusted.
    """
    path = os.path.join(folder, planned.name)
    own = own or OwnWrites()
    for _ in range(ATTEMPTS):
        if not files.exists(path):
            if known and not _wait_for(path, editor_wait):
                known = False
            if not files.exists(path):
                opened, done = _to_write(b"", planned)
                whole = "\n".join([planned.header, "", *opened, ""]).encode("utf-8")
                if planned.name == TASKS_FILE:
                    whole = insert_tasks(NEW_TASKS.encode(), opened, done)
                try:
                    files.create_atomic(Path(path), whole)
                except FileExistsError:
                    continue
                own.seen[path] = files.identity_of(path)
                return (*opened, *done), True
        _settle(path, editor_wait, own)
        write = _insert if planned.name == TASKS_FILE else _append
        try:
            with folder_lock(Path(path).parent):
                added = write(path, planned, recovering)
        except FileNotFoundError:
            known = True
            continue
        if added is not None:
            own.seen[path] = files.identity_of(path)
            return tuple(added), bool(added) and planned.name == TASKS_FILE
    raise OSError(errno.EBUSY, "another program keeps replacing the file", path)


def require_lines(folder: Path, planned: PlannedFile) -> list[str]:
    """Read the file back by its path; the lines that are not there, nor anything that says the same (empty: proven)."""
    path = Path(folder, planned.name)
    with folder_lock(path.parent):  # an edit that finds the file changed puts it back: not in the middle of that
        data = files.read_or_empty(path)
    opened, done = absent_lines(data, planned)
    return opened + done


# --- appending -------------------------------------------------------------------------------------------------------


def _append(path: str, planned: PlannedFile, recovering: bool) -> list[str] | None:
    """One write at the end of the file; None when another file took the name meanwhile.

    When recovering, the whole file is written again instead: a write whose fsync failed before the crash looks fine in
    memory and would pass a second fsync, though it is not on the disk.
    """
    with files.opened(path, os.O_RDWR | os.O_APPEND) as fd:
        data = files.read_descriptor(fd)
        if recovering:
            new = with_lines(data, planned, recovering=True)
            swap_in(Path(path), new, data, lambda found: with_lines(found, planned))
            return _added(data, new, planned)
        lines = [line for rows in _to_write(data, planned) for line in rows]
        if lines:
            payload = _payload(data, lines)
            files.append(fd, payload, len(data))
            if os.fstat(fd).st_size > len(data) + len(payload) and files.is_same_file(fd, path):
                files.sync(fd)
                _unglue(Path(path), files.read_descriptor(fd), payload, planned)
                return lines if not any(absent_lines(files.read_or_empty(path), planned)) else None
        files.sync(fd)
        return lines if files.is_same_file(fd, path) else None


def _added(old: bytes, new: bytes, planned: PlannedFile) -> list[str]:
    """The planned lines that a file has got."""
    came = {*missing_lines(old, planned.all_lines)} - {*missing_lines(new, planned.all_lines)}
    return [line for line in dict.fromkeys(planned.all_lines) if line.encode("utf-8") in came]


def _unglue(path: Path, data: bytes, payload: bytes, planned: PlannedFile) -> None:
    """Another program appended between our read and our write: where it ended without a line break, our first line
    hangs on its last one. The two are parted in one step."""
    theirs = data.removesuffix(payload)
    if theirs == data or theirs.endswith(b"\n") or payload.startswith((b"\n", b"\r")):
        return
    swap_in(path, theirs + _line_break(theirs) + payload, data, lambda found: with_lines(found, planned))
    files.sync_folder(path.parent)


def with_lines(data: bytes, planned: PlannedFile, *, recovering: bool = False) -> bytes:
    """The file's bytes with the planned lines in it; pure. `recovering` also mends what a torn write left at its end:
    zero bytes go, the beginning of a planned line is completed, unless it stood there when the plan was made."""
    kept = data.rstrip(b"\0") if recovering else data
    if planned.name == TASKS_FILE:
        opened, done = _to_write(kept, planned)
        return insert_tasks(kept, opened, done) if opened or done else kept
    torn = _tail(kept) if recovering else b""
    if torn == planned.tail.encode("utf-8", "surrogateescape"):
        torn = b""
    if torn.removesuffix(b"\r").decode("utf-8", "replace") in planned.all_lines:
        kept += _line_break(kept)
    if not any(_begins(line, torn) for line in planned.all_lines):
        torn = b""
    # What was torn behind its last word says what the whole line says, and is not it.
    missing = [line for rows in _to_write(kept.removesuffix(torn), planned) for line in rows]
    if torn:  # first of all the line that was torn: of several plans it need not be the first that is missing
        missing.sort(key=lambda line: not _begins(line, torn))
    return kept + _payload(kept, missing, torn)


def _begins(line: str, torn: bytes) -> bool:
    return bool(torn) and (line.encode("utf-8") + b"\r").startswith(torn)


def _payload(data: bytes, lines: list[str], torn: bytes = b"") -> bytes:
    """What to append: a line break first when the last byte is none, or the rest of a line that a crash tore."""
    end = b"\r\n" if b"\r\n" in data[:4096] else b"\n"
    body = b"".join(line.encode("utf-8") + end for line in lines)
    if not lines or not data or data.endswith(b"\n"):
        return body
    if torn and body.startswith(torn):
        return body[len(torn) :]
    return _line_break(data) + body


def _tail(data: bytes) -> bytes:
    """What stands behind the last line break."""
    return data[data.rfind(b"\n") + 1 :]


def _line_break(data: bytes) -> bytes:
    """What ends the last line of a file in the file's own way; a carriage return that is there is not doubled."""
    return b"\r\n" if b"\r\n" in data[:4096] and not data.endswith(b"\r") else b"\n"


# --- tasks.md --------------------------------------------------------------------------------------------------------


def _insert(path: str, planned: PlannedFile, recovering: bool) -> list[str] | None:
    with files.opened(path, os.O_RDWR) as fd:
        data = files.read_descriptor(fd)
        new = with_lines(data, planned, recovering=recovering)
        if new == data and not recovering:
            files.sync(fd)
            return [] if files.is_same_file(fd, path) else None
    swap_in(Path(path), new, data, lambda found: with_lines(found, planned))
    return _added(data, new, planned)


def insert_tasks(data: bytes, opened: Sequence[str], done: Sequence[str]) -> bytes:
    """Put open tasks and done ones where `place_in` says. Nothing but the new lines changes."""
    ending = "\r\n" if b"\r\n" in data[:4096] else "\n"
    *lines, last = data.decode("utf-8", "surrogateescape").split("\n")
    lines = [line + "\n" for line in lines]
    if last:
        lines.append(last + ("\n" if last.endswith("\r") else ending))
    for section, texts in (("open", opened), ("done", done)):
        if texts:
            at, lead, trail = place_in(lines, section, ending)
            lines[at:at] = [*lead, *(text + ending for text in texts), *trail]
    return "".join(lines).encode("utf-8", "surrogateescape")


# --- waiting for editors ---------------------------------------------------------------------------------------------


def _wait_for(path: str, editor_wait: EditorWait) -> bool:
    waited = 0.0
    while waited < editor_wait.missing:
        if os.path.exists(path):
            return True
        editor_wait.sleep(editor_wait.step)
        waited += editor_wait.step
    return os.path.exists(path)


def _settle(path: str, editor_wait: EditorWait, own: OwnWrites) -> None:
    """Wait while somebody else has just written the file, or has it open in an editor."""
    folder, name = os.path.split(path)
    open_marks = (f"{folder}/.{name}.swp", f"{folder}/.#{name}")  # of vim and emacs; the latter is a dangling link
    waited = 0.0
    while waited < max(editor_wait.settle, editor_wait.swap_file):
        try:
            now = files.identity_of(path)
        except FileNotFoundError:
            return
        fresh = own.seen.get(path) != now and 0 <= time.time() - now.mtime_ns / 1e9 < editor_wait.settle
        busy = path not in own.waited and waited < editor_wait.swap_file and any(map(files.exists, open_marks))
        if not fresh and not busy:
            return
        editor_wait.sleep(editor_wait.step)
        waited += editor_wait.step
        if waited >= editor_wait.swap_file:
            own.waited.add(path)
