"""The system calls that change the disk, one function each, and the reads whose failure matters.

Every one of them passes through `perform`: tests replace that single function to count the operations, to end the
process before, in or after one of them, and to let one fail. Nothing else in the project changes knowledge, so what the
counter has not seen did not happen. `files.py` composes durable writes from these calls; no other module uses them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from core.base import system

P = ParamSpec("P")
T = TypeVar("T")

NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
BINARY = getattr(os, "O_BINARY", 0)
FOLDER = getattr(os, "O_DIRECTORY", 0)

CHANGING = frozenset(
    ("create", "write", "truncate", "mode", "sync", "mkdir", "rename", "rename-flag", "link", "unlink", "rmdir")
)
"""The names of the operations that change the disk or make a change durable; `open` and `read` do neither."""


def perform(name: str, call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Make one system call. `name` says which operation it is: one of CHANGING, `open` or `read`."""
    return call(*arguments, **named)


def open_file(path: str | Path, flags: int, mode: int = 0o600) -> int:
    """A descriptor; with O_CREAT in `flags` this may make a name."""
    return perform("create" if flags & os.O_CREAT else "open", os.open, path, flags | BINARY, mode)


def read(fd: int, size: int) -> bytes:
    """At most `size` bytes from where the descriptor stands."""
    return perform("read", os.read, fd, size)


def write(fd: int, data: bytes | memoryview) -> int:
    """Write some of `data`; how many bytes it were."""
    return perform("write", os.write, fd, data)


def truncate(fd: int, size: int) -> None:
    """Cut a file off after `size` bytes."""
    perform("truncate", os.ftruncate, fd, size)


def sync(fd: int, *, data_only: bool = False) -> None:
    """What this system has that makes bytes certain; with `data_only` only the content matters."""
    perform("sync", system.sync, fd, data_only)


def set_mode(target: int | Path, mode: int) -> None:
    """The permissions of a descriptor or of a path; Windows knows only the path."""
    perform("mode", os.chmod, target, mode)


def mkdir(path: Path, mode: int) -> None:
    """Make one folder; FileExistsError when the name is taken."""
    perform("mkdir", os.mkdir, path, mode)


def rename(source: Path, target: Path, *, replacing: bool = True) -> None:
    """Rename over whatever `target` is; not `replacing`, Windows refuses a name that is taken, and only Windows."""
    perform("rename", os.replace if replacing else os.rename, source, target)


def rename_flag(source: Path, target: Path, flag: int) -> bool:
    """A rename with a flag of system.py; False where the system does not have it."""
    return perform("rename-flag", system.rename_with_flag, source, target, flag)


def link(source: Path, target: Path) -> None:
    """A second name for a file; FileExistsError when it is taken."""
    perform("link", os.link, source, target, follow_symlinks=False)


def unlink(name: str | Path, folder: int | None = None) -> None:
    """Remove a name, relative to the descriptor `folder` when there is one."""
    perform("unlink", os.unlink, name, dir_fd=folder)


def rmdir(name: str | Path, folder: int | None = None) -> None:
    """Remove an empty folder, relative to the descriptor `folder` when there is one."""
    perform("rmdir", os.rmdir, name, dir_fd=folder)


def has_folder_sync() -> bool:
    """Whether the names in a folder can be synced. Windows has no such call: its rename is durable by itself."""
    return sys.platform != "win32"
