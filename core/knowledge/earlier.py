"""A whole copy of the store as an earlier version left it, made before this one writes into it for the first time.

One archive in `backups/`, whose name tells the format that came after it and the beginning of the hash of its bytes:
it stands under that name only when it is whole and durable, and what a crash cut off is made again, the same to the
byte. The library has copies of its own, made before its tables change (library/database.py).

What the user took out under that version stands in changes.jsonl alone: it is written into `removed.md`, so that it
stays away from other conversations too.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from core.base import files
from core.base.entry import statement_key
from core.base.homes import FORMAT
from core.base.markdown import is_bullet, parse_bullets, split_provenance
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.knowledge.categories import QUARANTINE
from core.knowledge.changes import EDIT_RUN, read_changes, removed_by_hand
from core.knowledge.removed import HEADER, REMOVED

_NAMES = "store-before-*.tar.gz"
_STATE = ".state"
_DATABASES = ("library.db", "experience.db")
_NOT_KEPT = ("lock", files.TEMPORARY_MARK)


def copies(paths: Paths) -> list[Path]:
    """The copies that earlier carryings over made."""
    return sorted(paths.backups.glob(_NAMES))


def copy_store(paths: Paths) -> Path | None:
    """Copy the store, None where there is nothing yet, and of a clone, which git has as it came. The caller holds the
    run lock. Raises KnowledgeError: then nothing was changed."""
    try:
        if _is_new_clone(paths):
            return None
        data = _archive(paths.knowledge)
        if not data:
            return None
        target = paths.backups / f"store-before-{FORMAT}-{hashlib.sha256(data).hexdigest()[:8]}.tar.gz"
        files.make_folder(paths.backups)
        files.write_atomic(target, data, 0o600)
    except OSError as error:
        message = f"an earlier version wrote this store, and the copy that comes first cannot be made: {error.strerror}"
        hint = "put that right and try again; nothing was changed"
        raise KnowledgeError("not-copied", message, error.filename or paths.backups, hint) from error
    return target


def _is_new_clone(paths: Paths) -> bool:
    """Whether no program has written into a store on this computer: beside what git brought, it has locks at most."""
    made = [path.name for path in paths.state.glob("*") if not path.name.endswith("lock")]
    return files.exists(paths.knowledge / ".git") and set(made) <= {paths.plans.name}


def remember_removed(paths: Paths) -> None:
    """Write `removed.md` from what the user took out and what says the same nowhere now. A file that stands is left
    alone: git brought it from a machine that was carried over before. Raises OSError."""
    target = paths.knowledge / REMOVED
    taken = {
        split_provenance(line[2:])[0]
        for file, line in removed_by_hand(read_changes(paths), EDIT_RUN)
        if is_bullet(line) and file.endswith(".md") and file != QUARANTINE
    }
    if not taken or target.exists():
        return
    standing = {
        statement_key(bullet.text)
        for path in (*paths.knowledge.glob("*.md"), *paths.knowledge.glob("files/*.md"))
        for bullet in parse_bullets(path.read_text("utf-8", "surrogateescape"))
    }
    rows = sorted(text for text in taken if text and statement_key(text) not in standing)
    if rows:
        day = datetime.now(UTC).date().isoformat()
        lines = "".join(f"- {text} [removed: {day}]\n" for text in rows)
        files.write_atomic(target, f"{HEADER}\n\n{lines}".encode("utf-8", "surrogateescape"))


def _archive(knowledge: Path) -> bytes:
    """All that the program may change below the folder, b"" where there is no knowledge yet."""
    import tarfile  # once in the life of a store

    held, found = io.BytesIO(), False
    with (
        gzip.GzipFile(fileobj=held, mode="wb", mtime=0) as packed,
        tarfile.TarFile(fileobj=packed, mode="w") as archive,
    ):
        for path in _below(knowledge, knowledge):
            now = path.stat()
            row = tarfile.TarInfo(path.relative_to(knowledge).as_posix())
            row.mode, row.mtime = stat.S_IMODE(now.st_mode), int(now.st_mtime)
            if stat.S_ISDIR(now.st_mode):
                row.type = tarfile.DIRTYPE
                archive.addfile(row)
                continue
            data = path.read_bytes()
            row.size = len(data)
            archive.addfile(row, io.BytesIO(data))
            found = found or not row.name.startswith(_STATE)
    return held.getvalue() if found else b""


def _below(folder: Path, top: Path) -> Iterator[Path]:
    """Files and folders, in the order of their names. A link of the user's to one of the folders is followed; left out
    are the library and the record of uses, which have copies of their own, copies, the archive, what another program
    keeps here (`.git`), and of our own state locks and what a crash left.
    """
    ours = folder.name == _STATE
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir():
            kept = path.name not in ("backups", "archive") and (path.name == _STATE or path.name[0] != ".")
            if kept if folder == top else not path.is_symlink():
                yield path
                yield from _below(path, top)
        elif path.is_file() and not path.name.startswith(_DATABASES) and not (ours and path.name.endswith(_NOT_KEPT)):
            yield path
