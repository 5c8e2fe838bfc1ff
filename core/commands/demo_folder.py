"""Where a demo lies: one temporary folder for each person. Every demo begins it anew, so that many tries leave one
behind; while a demo or its window is open there, the next one gets a folder of its own."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

from core.base import files, locks

NAME, LOCK = "knowledge-demo-", "lock"
_held: dict[Path, int] = {}
"""Folder -> the descriptor of its lock, open as long as this process lives."""


def demo_folder() -> Path:
    """A place for a demo home that is not there yet. Raises OSError."""
    # As long as the name of any other temporary folder, which stands in the samples: their sizes are always the same.
    person = f"{os.getuid():08}" if sys.platform != "win32" else "personal"
    own = Path(os.path.realpath(tempfile.gettempdir()), f"{NAME}{person}")
    if not _is_private(own) or not _is_free(own):
        return Path(os.path.realpath(tempfile.mkdtemp(prefix=NAME))) / "home"
    for left in own.iterdir():
        if left.name != LOCK:
            files.remove_tree(left)
    return own / "home"


def held_locks() -> tuple[int, ...]:
    """Descriptors for a window that is started on a demo: as long as it keeps them open, nobody clears its folder."""
    return tuple(_held.values())


def _is_private(folder: Path) -> bool:
    """Whether the folder is this person's alone: anybody could have put one of that name among the temporary files."""
    if not files.exists(folder):
        files.make_folder(folder, durable=False)
    found = folder.lstat()
    if sys.platform == "win32":
        return stat.S_ISDIR(found.st_mode)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _is_free(folder: Path) -> bool:
    if folder not in _held:
        try:
            _held[folder] = locks.take(folder / LOCK)
        except locks.LockHeldError:
            return False
    return True
