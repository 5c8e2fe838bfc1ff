"""Makes sure that planned lines stand in a knowledge file, exactly once, and touches no other byte of it.

After storage.md, "Making sure the lines are there". The person may edit the same file at the same moment: an append
never truncates, an insertion swaps files in one step and compares what came out with what was read.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.base import files
from core.knowledge.categories import NEW_TASKS, TASKS_FILE, is_done_heading, is_open_heading
from core.knowledge.swap import swap_in

ATTEMPTS = 10


@dataclass(frozen=True)
class Patience:
    """How long to wait for an editor that is at work on the same file, in seconds."""

    missing: float = 2.0
    settle: float = 1.0
    swap_file: float = 2.0
    step: float = 0.05
    sleep: Callable[[float], None] = time.sleep


DEFAULT_PATIENCE = Patience()


@dataclass(frozen=True)
class PlannedFile:
    """The exact lines that one file must hold. `name` is relative to the knowledge folder; `done` is for tasks.md,
    whose `lines` are the open ones. `header` is the first line of the file when it is new."""

    name: str
    header: str
    lines: tuple[str, ...]
    done: tuple[str, ...] = ()

    @property
    def all_lines(self) -> tuple[str, ...]:
        return self.lines + self.done


@dataclass
class OwnWrites:
    """The state in which this process left each file, so that its own writes do not look like an editor's."""

    seen: dict[Path, files.Identity]


def missing_lines(data: bytes, lines: Sequence[str]) -> list[bytes]:
    """Those of `lines` that the file does not hold, as bytes, each once."""
    present = {line.removesuffix(b"\r") for line in data.split(b"\n")}
    wanted = dict.fromkeys(line.encode("utf-8") for line in lines)
    return [line for line in wanted if line not in present]


def ensure_lines(
    folder: Path,
    planned: PlannedFile,
    *,
    known: bool = False,
    recovering: bool = False,
    patience: Patience = DEFAULT_PATIENCE,
    own: OwnWrites | None = None,
) -> tuple[tuple[str, ...], bool]:
    """Make `planned.lines` stand in the file and be durable; returns the lines added and whether a name changed.

    `known` says that the file existed before: when it is missing, an editor may be about to rename it back, so wait.
    `recovering` completes a line that a crash tore. A changed name still wants its folder synced (by the caller, once
    for all files of a conversation). Raises OSError; `files.SyncError` means that the disk cannot be trusted.
    """
    path = folder / planned.name
    own = own or OwnWrites({})
    for _ in range(ATTEMPTS):
        if not path.exists() and not path.is_symlink():
            if known and not _wait_for(path, patience):
                known = False
            if not path.exists():
                try:
                    files.create_atomic(path, _new_file(planned))
                except FileExistsError:
                    continue
                _remember(path, own)
                return planned.all_lines, True
        _settle(path, patience, own)
        try:
            if planned.name == TASKS_FILE:
                added = _insert(path, planned, recovering)
            else:
                added = _append(path, planned, recovering)
        except FileNotFoundError:
            known = True
            continue
        if added is not None:
            _remember(path, own)
            return tuple(line.decode("utf-8") for line in added), bool(added) and planned.name == TASKS_FILE
    raise OSError(errno.EBUSY, "another program keeps replacing the file", str(path))


def require_lines(folder: Path, planned: PlannedFile) -> list[str]:
    """Read the file back by its path; the lines that are not there (empty: proven)."""
    data = files.read_or_empty(folder / planned.name)
    return [line.decode("utf-8") for line in missing_lines(data, planned.all_lines)]


# --- appending -------------------------------------------------------------------------------------------------------


def _append(path: Path, planned: PlannedFile, recovering: bool) -> list[bytes] | None:
    """One write at the end of the file; None when another file took the name meanwhile.

    When recovering, the whole file is written anew instead: a write whose fsync failed before the crash looks fine in
    memory and would pass a second fsync, though it is not on the disk.
    """
    fd = files.open_regular(path, os.O_RDWR | os.O_APPEND)
    try:
        data = files.read_descriptor(fd)
        lines = missing_lines(data, planned.all_lines)
        if recovering:
            swap_in(path, with_lines(data, planned, recovering=True), data, lambda found: with_lines(found, planned))
            return lines
        if lines:
            files.write_all(fd, _payload(data, lines, False))
        files.sync(fd)
        return lines if files.is_same_file(fd, path) else None
    finally:
        os.close(fd)


def with_lines(data: bytes, planned: PlannedFile, *, recovering: bool = False) -> bytes:
    """The file's bytes with the planned lines in it; pure. `recovering` also mends what a torn write left at its end:
    zero bytes go, the beginning of a planned line is completed."""
    kept = data.rstrip(b"\0") if recovering else data
    if planned.name == TASKS_FILE:
        opened, done = missing_lines(kept, planned.lines), missing_lines(kept, planned.done)
        return insert_tasks(kept, _text(opened), _text(done)) if opened or done else kept
    return kept + _payload(kept, missing_lines(kept, planned.all_lines), recovering)


def _payload(data: bytes, lines: list[bytes], recovering: bool) -> bytes:
    """What to append: a line break first when the last byte is none, or the rest of a line that a crash tore."""
    end = b"\r\n" if b"\r\n" in data[:4096] else b"\n"
    body = b"".join(line + end for line in lines)
    if not lines or not data or data.endswith(b"\n"):
        return body
    tail = data[data.rfind(b"\n") + 1 :].removesuffix(b"\r")
    if recovering and len(tail) > 2 and body.startswith(tail):
        return body[len(tail) :]
    return end + body


def _new_file(planned: PlannedFile) -> bytes:
    if planned.name == TASKS_FILE:
        return insert_tasks(NEW_TASKS.encode(), planned.lines, planned.done)
    return "\n".join([planned.header, "", *planned.lines, ""]).encode("utf-8")


# --- tasks.md --------------------------------------------------------------------------------------------------------


def insert_tasks(data: bytes, opened: Sequence[str], done: Sequence[str]) -> bytes:
    """Put open tasks at the end of the open section and done ones at the end of `## Done`; pure.

    A heading that is missing is added at the end of the file. Nothing but the new lines changes.
    """
    newline = b"\r\n" if b"\r\n" in data[:4096] else b"\n"
    lines = data.split(b"\n")
    last = lines.pop()
    if last:
        lines.append(last + (b"\r" if newline == b"\r\n" else b""))
    for heading, texts in ((b"## Open", opened), (b"## Done", done)):
        bullets = [text.encode("utf-8") + newline[:-1] for text in texts]
        if not bullets:
            continue
        at = _end_of_section(lines, heading == b"## Done")
        if at is None:
            gap = [newline[:-1]] if lines and lines[-1].strip() else []
            lines += [*gap, heading + newline[:-1], newline[:-1], *bullets]
            continue
        before = lines[at - 1]
        gap = [] if before.startswith((b"- ", b" ", b"\t")) or not before.strip() else [newline[:-1]]
        tight = before.startswith(b"- ")
        after = [newline[:-1]] if at < len(lines) and lines[at].startswith(b"#") and not tight else []
        if gap and at < len(lines) and not lines[at].strip():
            at, gap = at + 1, []
            after = [newline[:-1]] if at < len(lines) and lines[at].strip() else []
        lines[at:at] = [*gap, *bullets, *after]
    return b"".join(line + b"\n" for line in lines)


def _end_of_section(lines: list[bytes], done: bool) -> int | None:
    """Where a new bullet of the open (or done) section goes: after the last line of its last bullet or heading."""
    in_done, seen, end = False, False, None
    for number, line in enumerate(lines):
        text = line.decode("utf-8", "replace")
        if is_done_heading(text) or is_open_heading(text):
            in_done = is_done_heading(text)
            seen = seen or in_done == done
            end = number + 1 if in_done == done else end
        elif in_done == done and text.strip() and (seen or (not done and text.startswith("- "))):
            seen, end = True, number + 1
        elif line.startswith(b"#") and in_done == done and not seen:
            end = None
    return end if seen else None


def _insert(path: Path, planned: PlannedFile, recovering: bool) -> list[bytes] | None:
    fd = files.open_regular(path, os.O_RDWR)
    try:
        data = files.read_descriptor(fd)
        lines = missing_lines(data, planned.all_lines)
        if not lines and not recovering:
            files.sync(fd)
            return [] if files.is_same_file(fd, path) else None
    finally:
        os.close(fd)
    new = with_lines(data, planned, recovering=recovering)
    swap_in(path, new, data, lambda found: with_lines(found, planned))
    return lines


def _text(lines: list[bytes]) -> list[str]:
    return [line.decode("utf-8") for line in lines]


# --- waiting for editors ---------------------------------------------------------------------------------------------


def _wait_for(path: Path, patience: Patience) -> bool:
    waited = 0.0
    while waited < patience.missing:
        if path.exists():
            return True
        patience.sleep(patience.step)
        waited += patience.step
    return path.exists()


def _settle(path: Path, patience: Patience, own: OwnWrites) -> None:
    """Wait while somebody else has just written the file, or has it open in an editor."""
    waited = 0.0
    while waited < max(patience.settle, patience.swap_file):
        try:
            found = path.stat()
        except FileNotFoundError:
            return
        now = files.Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
        fresh = own.seen.get(path) != now and 0 <= time.time() - found.st_mtime < patience.settle
        busy = waited < patience.swap_file and any(swap.exists() for swap in _swap_files(path))
        if not fresh and not busy:
            return
        patience.sleep(patience.step)
        waited += patience.step


def _swap_files(path: Path) -> list[Path]:
    return [path.with_name(name) for name in (f".{path.name}.swp", f".#{path.name}")]


def _remember(path: Path, own: OwnWrites) -> None:
    found = path.stat()
    own.seen[path] = files.Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
