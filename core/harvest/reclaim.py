"""Stage 6: take a conversation away, once its harvest is proven. The only module that removes one.

The caller vouches for the gate (a DONE record for this very hash). Here the file is opened again, must be the same file
with the same hash, is renamed into the trash without replacing anything, hashed once more through the open descriptor,
and put back if it differs: whoever wrote to it in that moment keeps every byte.

A run with a slow model takes hours, and the host application runs on meanwhile: a conversation that the user saves
in that time, or that has become the one of a file again, is not taken away by a plan made before. That is asked once
more at the moment of removal.
"""

from __future__ import annotations

import errno
import os
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from core.base import files
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.harvest.classify import classify_conversation
from core.harvest.steps import QUIET_SECONDS
from core.sources.artifact import Artifact
from core.sources.scan import name_of_split, read_protection, scan_conversations, split_in_trash, why_careful

FRESH_SECONDS = 1.0


class Guard:
    """The index files as they are now; looked at again when the last look is older than `FRESH_SECONDS`."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._looked: float | None = None

    def objection(self, item: Artifact) -> str:
        """Why this conversation must stay, "" if it may go. Raises OSError when the folder cannot be listed."""
        if item.is_foreign and item.kind != "conversation":
            return "nothing is taken out of another tool's store"
        if item.is_foreign:
            try:
                age = time.time() - os.lstat(item.path).st_mtime
            except OSError:  # gone: `reclaim` cannot open it either, which costs this one alone and not the run
                return ""
            return "its tool may still be writing it" if age < QUIET_SECONDS else ""
        self._look()
        if self._protection.unreadable:
            return why_careful(self._protection.unreadable)
        found = classify_conversation(item, self._protection, self._folder)
        return "" if found.verdict == "harvest" else found.reason

    def protects(self, path: str) -> str:
        """Why what was at `path`, and is in the trash now, must not go for good; "" if it may. Raises OSError."""
        self._look()
        if self._protection.unreadable:
            return why_careful(self._protection.unreadable)
        if path and os.path.realpath(path) in self._protection.saved:
            return "you have saved it in the meantime"
        owner, there = self._protection.owners.get(os.path.basename(path), ("", False))
        return f"belongs to {owner}" if there and not files.exists(path) else ""

    def _look(self) -> None:
        now = time.monotonic()
        if self._looked is None or now - self._looked > FRESH_SECONDS:
            self._protection = read_protection(scan_conversations(self._paths))
            self._folder = os.path.realpath(self._paths.conversations)
            self._looked = now


MAX_COPIES = 1000
SYNC_FAILED = "sync-failed"
"""The code of an error after which nothing more may be taken away in this run."""


@dataclass(frozen=True)
class Reclaimed:
    """A conversation was moved away. `trash` is its name in the trash, "" when there is no grace period; `until` is
    when that ends, ISO 8601 in UTC."""

    path: str
    sha256: str
    size: int
    trash: str
    until: str


def reclaim(paths: Paths, path: str, sha256: str, trash_days: int, now: datetime) -> Reclaimed:
    """Move one conversation into the trash (`trash_days` 0: remove it). A failure leaves it where it was.

    The trash is synced by `sync_reclaimed`, once for many. The place that was left is not: a power cut may only bring
    the conversation back, and the next run, which knows it, takes it away again.
    """
    with disk_errors("reclaim-failed", "the conversation cannot be opened any more", path):
        fd = files.open_regular(path)
    try:
        return _move(fd, paths, path, sha256, trash_days, now)
    except OSError as error:
        code = SYNC_FAILED if isinstance(error, files.SyncError) else "reclaim-failed"
        message = f"the conversation could not be moved to the trash: {error.strerror}"
        raise KnowledgeError(code, message, path) from error
    finally:
        os.close(fd)


def _move(fd: int, paths: Paths, path: str, sha256: str, trash_days: int, now: datetime) -> Reclaimed:
    before = files.identity_of(fd)
    if files.sha256_of_descriptor(fd) != sha256 or not files.is_same_file(fd, path):
        raise _changed(path)
    files.make_folder(paths.trash)
    copy = _rename_into(paths.trash, Path(path), sha256)
    if files.identity_of(fd) != before or files.sha256_of_descriptor(fd) != sha256 or not files.is_same_file(fd, copy):
        raise _changed(path) if _put_back(copy, Path(path)) else _changed_twice(copy, path)
    if trash_days == 0:
        files.discard(copy)
        return Reclaimed(path, sha256, before.size, "", "")
    if Path(path).parent != paths.conversations:  # another tool's folder, which no end of a run knows
        files.sync_folder(paths.trash)
        files.sync_folder(Path(path).parent)
    until = (now + timedelta(days=trash_days)).isoformat()
    return Reclaimed(path, sha256, before.size, copy.name, until)


def _changed(path: str) -> KnowledgeError:
    message = "the conversation changed after it was read; it stays"
    return KnowledgeError("changed", message, path, "run the harvest again")


def _changed_twice(copy: Path, path: str) -> KnowledgeError:
    message = f"the conversation changed while it was moved, and its name is taken again; its old text is {copy.parent}"
    return KnowledgeError("changed", f"{message}/{_kept(copy).name}", path, "compare the two")


def _kept(copy: Path) -> Path:
    return copy.with_name(f"kept-{copy.name}")


def _rename_into(trash: Path, source: Path, name: str, what: str = "conversation") -> Path:
    """A second one of the same content gets a number: each can be restored to its own place."""
    for number in range(MAX_COPIES):
        copy = trash / (f"{name}.{number}" if number else name)
        try:
            files.rename_without_replacing(source, copy)
        except FileExistsError:
            continue
        return copy
    raise OSError(errno.EEXIST, f"the trash holds too many copies of this {what}", str(source))


def _put_back(copy: Path, path: Path) -> bool:
    """Undo the move. False when the name is taken again: then it stays in the trash, where no purge finds it."""
    try:
        files.rename_without_replacing(copy, path)
    except FileExistsError:
        files.rename_without_replacing(copy, _kept(copy))
        return False
    return True


def sync_reclaimed(paths: Paths) -> None:
    """Make certain that what was moved since the last call is in the trash. Raises OSError."""
    if paths.trash.is_dir():
        files.sync_folder(paths.trash)


def restore(paths: Paths, name: str, path: str, sha256: str) -> Path:
    """Put a trashed conversation back where it was, byte for byte. A name that something else occupies is refused."""
    copy, target = paths.trash / name, Path(path)
    try:
        if files.sha256_of_file(copy) != sha256:
            message = "the trashed conversation no longer has the hash it went in with"
            raise KnowledgeError("trash-damaged", message, copy)
        files.make_folder(target.parent)
        files.rename_without_replacing(copy, target)
        files.sync_folder(target.parent)
        files.sync_folder(paths.trash)
    except FileExistsError:
        if _stands_at(target, sha256):  # put back by hand, or before a power cut that brought the one in the trash back
            purge(copy, sha256)
            return target
        message = "another file has that name now"
        raise KnowledgeError("occupied", message, target, "move it away, then restore again") from None
    except FileNotFoundError:
        raise KnowledgeError("not-in-trash", "the conversation is not in the trash any more", copy) from None
    except OSError as error:
        message = f"the conversation could not be restored: {error.strerror}"
        raise KnowledgeError("restore-failed", message, target) from error
    return target


def _stands_at(path: Path, sha256: str) -> bool:
    """Whether that very content lies at a path, for certain and also after a power cut."""
    try:
        with files.opened(path) as fd:
            if files.sha256_of_descriptor(fd) != sha256:
                return False
            files.sync(fd)
        files.sync_folder(path.parent)
    except OSError:
        return False
    return True


def purge(path: Path, sha256: str) -> int:
    """Remove one trashed conversation for good, if it still is what went in. Returns its bytes."""
    with disk_errors("purge-failed", "a trashed conversation could not be removed", path):
        with files.opened(path) as fd:
            size = files.identity_of(fd).size
            if files.sha256_of_descriptor(fd) != sha256:
                raise KnowledgeError("trash-damaged", "a trashed conversation has changed; it stays", path)
        files.remove_file(path)
    return size


def remove_split(paths: Paths, path: str, trash_days: int, now: datetime) -> None:
    """Move a folder of cut-up copies whose source is gone or has changed into the trash (`trash_days` 0: remove it)."""
    folder = Path(path)
    if folder.parent != paths.splits or folder.is_symlink() or not folder.is_dir():
        raise KnowledgeError("prune-failed", "this is not a folder of splits; it stays", path)
    with disk_errors("prune-failed", "the folder could not be taken away", path):
        if trash_days == 0:
            files.remove_tree(folder)
            return
        files.make_folder(paths.trash)
        _rename_into(paths.trash, folder, name_of_split(folder.name, now + timedelta(days=trash_days)), "folder")
        files.sync_folder(paths.trash)
        files.sync_folder(paths.splits)


def restore_split(paths: Paths, name: str) -> Path:
    """Put a folder of splits back where it was. An occupied name is refused."""
    split = split_in_trash(name)
    target = paths.splits / (split[0] if split is not None else name)
    try:
        files.make_folder(paths.splits)
        files.rename_without_replacing(paths.trash / name, target)
        files.sync_folder(paths.splits)
        files.sync_folder(paths.trash)
    except FileExistsError:
        message = "another folder has that name now"
        raise KnowledgeError("occupied", message, target, "move it away, then restore again") from None
    except OSError as error:
        raise KnowledgeError("restore-failed", f"the folder could not be restored: {error.strerror}", target) from error
    return target


def purge_split(paths: Paths, name: str) -> None:
    """Remove a folder of splits that lies in the trash for good."""
    folder = paths.trash / name
    if split_in_trash(name) is None or folder.is_symlink() or not folder.is_dir():
        raise KnowledgeError("purge-failed", "this is not a folder of splits; it stays", folder)
    with disk_errors("purge-failed", "a trashed folder could not be removed", folder):
        files.remove_tree(folder)


def finish_removals(paths: Paths) -> list[ErrorInfo]:
    """Remove what is left of folders of splits whose removal was cut. Call it under the run lock."""
    failed = []
    places = [folder for folder in (paths.splits, paths.trash) if folder.is_dir()]
    for doomed in sorted(row for folder in places for row in folder.glob(f".*{files.TEMPORARY_MARK}")):
        try:
            if doomed.is_dir() and not doomed.is_symlink():
                files.remove_tree(doomed)
        except OSError as error:
            message = f"what is left of a folder of splits could not be removed: {error.strerror}"
            failed.append(ErrorInfo("prune-failed", message, str(doomed), "remove it yourself"))
    return failed
