"""Mends what a cut write left in knowledge files, where it is certain what stood there.

Both ways go through `swap.replace_expected`: whoever saves the file in that moment keeps every byte, and the doctor
finds the damage again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
from pathlib import Path

from core.base import files
from core.base.paths import Paths
from core.knowledge.changes import parse_change
from core.knowledge.journal import gather, read_journal
from core.knowledge.lines import missing_lines
from core.knowledge.swap import replace_expected


def is_torn(line: str) -> bool:
    """Whether a bullet ends in the middle of its provenance, as only a cut write leaves it."""
    start = line.rfind("[from: ")
    return start >= 0 and line.startswith("- ") and "]" not in line[start:]


def whole_of(paths: Paths, path: Path, torn: str) -> str:
    """The planned line of that file that a torn one is the beginning of; "" when no plan has one, several do, or the
    whole line stands there as well. Raises OSError."""
    name = path.relative_to(paths.knowledge).as_posix()
    found: set[str] = set()
    for archive in sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else ():
        for pending in gather(read_journal(archive)).values():
            for planned in pending.plan.files if pending.plan is not None and pending.done else ():
                if planned.name == name:
                    found.update(line for line in planned.all_lines if line.startswith(torn) and line != torn)
    if len(found) != 1:
        return ""
    [line] = found
    return line if missing_lines(files.read_or_empty(path), [line]) else ""


def complete_torn(paths: Paths, path: Path) -> None:
    """Give every torn line of a file its end back, where a plan tells it. Raises OSError."""
    data = files.read_file(path).data
    lines = data.split(b"\n")
    for at, raw in enumerate(lines):
        text = raw.removesuffix(b"\r").decode("utf-8", "replace")
        if is_torn(text) and (whole := whole_of(paths, path, text)):
            lines[at] = whole.encode("utf-8") + b"\r" * raw.endswith(b"\r")
    _replace(path, b"\n".join(lines), data)


def clear_changes(paths: Paths) -> None:
    """Take the lines that nobody can read out of changes.jsonl; they are kept beside it. Raises OSError."""
    data = files.read_file(paths.changes).data
    lines = data.split(b"\n")
    bad = [line for line in lines if line.strip() and parse_change(line) is None]
    kept = b"".join(line + b"\n" for line in bad)
    name = f"changes.damaged-{hashlib.sha256(kept).hexdigest()[:16]}.jsonl"
    with contextlib.suppress(FileExistsError):  # an earlier attempt made it, with these very lines
        files.create_atomic(paths.changes.with_name(name), kept)
        files.sync_folder(paths.knowledge)
    good = [line for line in lines if line.strip() and parse_change(line) is not None]
    _replace(paths.changes, b"".join(line + b"\n" for line in good), data)


def _replace(path: Path, new: bytes, old: bytes) -> None:
    if new != old and not replace_expected(path, new, old):
        raise OSError(errno.EBUSY, "another program saved the file just now", str(path))
