"""Clears the temporary files that a crash left beside knowledge files, without losing a byte that a person wrote.

A swap names its temporary file after the first 16 hex digits of the sha256 of what it expected to find and of what it
put in. Together with what the file holds now, this tells on which side of the swap the crash happened.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from pathlib import Path

from core.base import files, temporaries
from core.base.locks import folder_lock

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
    """Remove or put back every leftover in one folder; returns the files that were set aside for the person.

    A temporary file that may hold a person's bytes is never removed: it goes back in place when it is certain where it
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
        held, current = _short_hash(temporary), _short_hash(path)
        stale = held in (expected, put_in) or current == expected
        if stale or (current == put_in and files.exchange(temporary, path)):
            files.discard(temporary)
        else:
            aside = path.with_name(f"{path.stem}.recovered-{held}.md")
            with contextlib.suppress(FileExistsError):
                files.rename_without_replacing(temporary, aside)
            kept.append(aside)
    if found_any:
        files.sync_folder(folder)
    return kept


def is_in_use(temporary: Path, pid: int) -> bool:
    """Whether somebody is at work on it right now: a thread of this process, or another one, an edit say."""
    if pid == os.getpid():
        return temporaries.is_live(temporary.name)
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


def _short_hash(path: Path) -> str:
    return hashlib.sha256(files.read_or_empty(path)).hexdigest()[:16]
