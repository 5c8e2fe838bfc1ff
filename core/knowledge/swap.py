"""Replaces a knowledge file in one step, and notices when a user saved it in that very moment.

Two files are exchanged, then what came out is compared with what was read. What came out is kept under its temporary
name until all is well: `clear_leftovers` knows what to do with it after a crash, by the hashes in the name.

An editor that is at work on the same file is waited for, within bounds.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.base import files
from core.base.locks import folder_lock


@dataclass(frozen=True)
class EditorWait:
    """How long to wait for an editor that is at work on the same file, in seconds."""

    missing: float = 2.0
    settle: float = 1.0
    swap_file: float = 2.0
    step: float = 0.05
    sleep: Callable[[float], None] = time.sleep


EDITOR_WAIT = EditorWait()


ATTEMPTS = 10


@files.at_work
def swap_in(path: Path, new: bytes, expected: bytes, merge: Callable[[bytes], bytes]) -> None:
    """Replace `expected` by `new`; when somebody saved in between, put `merge(what they saved)` there instead.

    The caller syncs the folder. Raises OSError(EACCES) for a file that is not writable, EBUSY when it never rests.
    """
    mode = _writable_mode(path)
    spent: list[Path] = []
    standing = expected
    try:
        for _ in range(ATTEMPTS):
            came_out = _exchange(path, new, expected, mode, spent)
            if came_out == expected:
                break
            if spent:  # our bytes stand there now, and theirs wait in the temporary file
                expected, new, standing = new, merge(came_out), new
            else:
                expected, new = came_out, merge(came_out)
        else:
            raise OSError(errno.EBUSY, "another program keeps saving the file", str(path))
    except OSError:
        _give_back(path, standing, spent)
        raise
    for temporary in spent:
        files.discard(temporary)


def _give_back(path: Path, standing: bytes, spent: list[Path]) -> None:
    """Before giving up: what the user saved last waits in a temporary file; put it back in place of our bytes. Where
    that fails too it stays, and `clear_leftovers` deals with it."""
    with contextlib.suppress(OSError):
        if spent and files.read_or_empty(path) == standing and files.exchange(spent[-1], path):
            for temporary in spent:
                files.discard(temporary)


@files.at_work
def replace_expected(path: Path, new: bytes | None, expected: bytes) -> bool:
    """Replace `expected` by `new`, durably; None takes the file away. False, and the file as it was, when it holds
    anything else."""
    if new is None:
        return _remove(path, expected)
    mode = _writable_mode(path)
    spent: list[Path] = []
    with folder_lock(path.parent):
        if files.read_or_empty(path) != expected:
            return False
        came_out = _exchange(path, new, expected, mode, spent)
        if came_out != expected and spent and files.exchange(spent[0], path) and files.read_or_empty(spent[0]) != new:
            files.exchange(spent[0], path)  # saved twice while we looked: the newest stays
        for temporary in spent:
            files.discard(temporary)
        files.sync_folder(path.parent)
    return came_out == expected


def append_expected(path: Path, payload: bytes, expected: bytes) -> bool:
    """Write `payload` at the end of a file that holds `expected`, which ends with a line break, durably, and read it
    back. False, and nothing of it in the file, when it holds something else; what another program has written into it
    in that moment stays. Raises OSError."""
    with folder_lock(path.parent):
        with files.opened(path, os.O_RDWR | os.O_APPEND) as fd:
            if files.read_descriptor(fd) != expected:
                return False
            with files.naming(path):
                files.append(fd, payload, len(expected))
                files.sync(fd)
        standing = files.read_or_empty(path)  # by its name: an editor may have put another file in its place
        theirs = standing.removesuffix(payload)
        if theirs != standing and theirs and not theirs.endswith(b"\n"):  # theirs came between, without a line break
            standing = theirs + b"\n" + payload
            return replace_expected(path, standing, theirs + payload)
    return b"\n" + payload in b"\n" + standing


def _remove(path: Path, expected: bytes) -> bool:
    """The file goes aside before it is looked at, so that a save in that very moment is not lost."""
    with folder_lock(path.parent):
        if files.read_or_empty(path) != expected:
            return False
        aside = files.temporary_name(path, _short_hash(expected) * 2)
        files.made(aside.name)
        files.rename_without_replacing(path, aside)
        if files.read_or_empty(aside) != expected:
            with contextlib.suppress(FileExistsError):  # saved again: clear_leftovers keeps what lies aside
                files.rename_without_replacing(aside, path)
            return False
        files.discard(aside)
        files.sync_folder(path.parent)
    return True


def _writable_mode(path: Path) -> int:
    mode = stat.S_IMODE(path.stat().st_mode)
    if files.is_read_only(path, mode):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return mode


def _exchange(path: Path, new: bytes, expected: bytes, mode: int, spent: list[Path]) -> bytes:
    """Put `new` at `path` and return what stood there. Where the system cannot exchange two files, compare and replace;
    what is returned then differs from `expected` only when nothing was replaced."""
    temporary = files.write_temporary(path, new, mode, _short_hash(expected) + _short_hash(new))
    try:
        if files.exchange(temporary, path):
            spent.append(temporary)
        elif (found := files.read_or_empty(path)) != expected:
            files.discard(temporary)
            return found
        else:
            files.replace_file(temporary, path)
            return expected
    except OSError:
        if temporary not in spent:
            with contextlib.suppress(OSError):
                files.discard(temporary)
        raise
    return files.read_or_empty(temporary)


def _short_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


# --- what a crash left beside knowledge files -------------------------------------------------------------------------
# A temporary file is named after the first 16 hex digits of the sha256 of what its swap expected to find and of what it
# put in. Together with what the file holds now, this tells on which side of the swap the crash happened.

_NAME = re.compile(
    r"^\.(?P<name>.+)\.(?P<hashes>[0-9a-f]{32})?\.(?P<pid>\d+)-\d+" + re.escape(files.TEMPORARY_MARK) + r"\Z"
)
IN_USE_SECONDS = 60.0
"""How long a temporary file is left to the living process that it is named after. An edit is over much sooner."""


def folders_below(folder: Path) -> list[Path]:
    """A folder with all that are in it, at any depth: whatever room writes there, a crash may leave something. Links
    are not followed."""
    return [Path(root) for root, _, _ in os.walk(folder)]


def clear_leftovers(folder: Path) -> list[Path]:
    """Remove or put back every leftover in one folder; returns the files that were set aside for the user.

    A temporary file that may hold a user's bytes is never removed: it goes back in place when it is certain where it
    belongs, else it is kept as `<name>.recovered-<hash>.md`. Raises OSError.
    """
    with folder_lock(folder):
        return _cleared(folder) if folder.is_dir() else []


def _cleared(folder: Path) -> list[Path]:
    kept: list[Path] = []
    found_any = False
    for temporary in sorted(folder.glob(f".*{files.TEMPORARY_MARK}")):
        found = _NAME.match(temporary.name)
        if found is not None and is_in_use(temporary, int(found["pid"])):
            continue
        found_any = True
        if found is None or not found["hashes"]:
            files.discard(temporary)
            continue
        expected, put_in = found["hashes"][:16], found["hashes"][16:]
        path = folder / found["name"]
        holds, current = (_short_hash(files.read_or_empty(one)) for one in (temporary, path))
        stale = holds in (expected, put_in) or current == expected
        if stale or (current == put_in and files.exchange(temporary, path)):
            files.discard(temporary)
        else:
            aside = path.with_name(f"{path.stem}.recovered-{holds}.md")
            with contextlib.suppress(FileExistsError):
                files.rename_without_replacing(temporary, aside)
            kept.append(aside)
    if found_any:
        files.sync_folder(folder)
    return kept


def is_in_use(temporary: Path, pid: int) -> bool:
    """Whether somebody is at work on it right now: a thread of this process, or another one, an edit say."""
    if pid == os.getpid():
        return files.is_live(temporary.name)
    try:
        return is_process_at_work(pid, temporary.lstat().st_mtime)
    except FileNotFoundError:  # gone since it was listed: whoever made it has just put it in place
        return True
    except OSError:
        return False


def is_process_at_work(pid: int, since: float) -> bool:
    """Whether another process may still be at what it began at that moment (seconds since 1970): it lives, and it was
    not long ago, for a system gives the number of a process that ended to another one."""
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return 0 <= time.time() - since < IN_USE_SECONDS
