"""What an edit is about to do, written down before it does it: a crash between the two must not cost its undo.

An edit, or a bullet that makes its file, puts that in place and then tells changes.jsonl. Before both it leaves a
promise, one file in `.state/edits/` with the row that it will tell. A promise that nobody keeps any more is looked at
by the next recovery: when the file shows that the edit was made, its row is told then; else it is forgotten.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from core.base import files, temporaries
from core.base.paths import Paths
from core.knowledge.changes import Change, append_changes, parse_change, read_changes
from core.knowledge.hunks import bare, split
from core.knowledge.leftovers import is_in_use

_NAME = re.compile(r"[^.].*\.(?P<pid>\d+)\.json\Z")


def promise(paths: Paths, change: Change) -> Path:
    """Write down what an edit is about to do, durably; returns the file to `keep` afterwards. Raises OSError."""
    files.make_folder(paths.edits)
    path = paths.edits / f"{change.run}-{change.file.replace('/', '-')[:80]}.{os.getpid()}.json"
    temporaries.made(path.name)
    files.write_atomic(path, json.dumps(change.to_json()).encode("ascii"))
    return path


def keep(path: Path) -> str:
    """Remove the promise of an edit that is told, or was not made. Returns "", or a sentence when the file cannot be
    removed: the next recovery looks at it and finds nothing to do."""
    try:
        files.discard(path)
    except OSError as error:
        return f"the change was made, but {path} cannot be removed ({error.strerror}); the next harvest does"
    return ""


def settle_promises(paths: Paths) -> int:
    """Tell changes.jsonl of edits that a crash kept from doing so; returns how many. Raises OSError."""
    if not paths.edits.is_dir():
        return 0
    settled = 0
    for path in sorted(paths.edits.iterdir()):
        found = _NAME.match(path.name)
        if found is None or is_in_use(path, int(found["pid"])):
            continue
        change = parse_change(files.read_or_empty(path))
        if change is not None and not _is_told(paths, change) and _is_made(paths, change):
            append_changes(paths, [change])
            settled += 1
        keep(path)
    return settled


def made_promises(paths: Paths) -> list[Change]:
    """The rows that `settle_promises` would tell: edits that were made and then killed. Only looks. Raises OSError."""
    found = []
    for path in sorted(paths.edits.iterdir()) if paths.edits.is_dir() else ():
        name = _NAME.match(path.name)
        change = parse_change(files.read_or_empty(path)) if name and not is_in_use(path, int(name["pid"])) else None
        if change is not None and not _is_told(paths, change) and _is_made(paths, change):
            found.append(change)
    return found


def _is_told(paths: Paths, change: Change) -> bool:
    return any((row.run, row.file) == (change.run, change.file) for row in read_changes(paths))


def _is_made(paths: Paths, change: Change) -> bool:
    """Whether the file shows the edit: by its hash, or, where somebody has written since, by the lines themselves."""
    from hashlib import sha256

    data = files.read_or_empty(paths.knowledge / change.file)
    sha = sha256(data).hexdigest()
    if change.edit is not None and sha in (change.edit.before, change.edit.after):
        return sha == change.edit.after
    try:
        standing = {bare(line) for line in split(data)[1]}
    except UnicodeDecodeError:
        return False
    return _all_in(change.added, standing) and not standing & (set(change.removed) - set(change.added))


def _all_in(lines: Sequence[str], standing: set[str]) -> bool:
    return all(line in standing for line in lines)
