"""Replaces a knowledge file in one step, and notices when a person saved it in that very moment.

Two files are exchanged, then what came out is compared with what was read. What came out is kept under its temporary
name until all is well: `leftovers.py` knows what to do with it after a crash, by the hashes in the name.

An editor that is at work on the same file is waited for, within bounds.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from core.base import files, temporaries
from core.base.late import dataclass
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


@temporaries.at_work
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
    """Before giving up: what the person saved last waits in a temporary file; put it back in place of our bytes. Where
    that fails too it stays, and leftovers.py deals with it."""
    with contextlib.suppress(OSError):
        if spent and files.read_or_empty(path) == standing and files.exchange(spent[-1], path):
            for temporary in spent:
                files.discard(temporary)


@temporaries.at_work
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
        fd = files.open_regular(path, os.O_RDWR | os.O_APPEND)
        try:
            if files.read_descriptor(fd) != expected:
                return False
            with files.naming(path):
                files.append(fd, payload, len(expected))
                files.sync(fd)
        finally:
            os.close(fd)
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
        temporaries.made(aside.name)
        files.rename_without_replacing(path, aside)
        if files.read_or_empty(aside) != expected:
            with contextlib.suppress(FileExistsError):  # saved again: leftovers.py keeps what lies aside
                files.rename_without_replacing(aside, path)
            return False
        files.discard(aside)
        files.sync_folder(path.parent)
    return True


def _writable_mode(path: Path) -> int:
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return stat.S_IMODE(path.stat().st_mode)


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
