"""Files and folders that the person named. In a folder the beginning of each file of data is read, to tell a
conversation from settings and an export that holds many from one, and of a `.zip` the list of what is in it.
"""

from __future__ import annotations

import os

from core.base import files
from core.base.result import ErrorInfo
from core.harvest.artifact import Artifact
from core.harvest.sources import FILES
from core.harvest.walk import HIDDEN, STORES, artifact_at, folder_store, folders_in, listed

_SUFFIXES = (".jsonl", ".json", ".md", ".txt", ".traj", ".toml", ".zst", *STORES)


def named_trouble(path: str) -> ErrorInfo | None:
    """Why a file or folder that the person named cannot be read; None when it can, and when nothing is there: the disk
    may be one that is not there today."""
    if not os.path.lexists(path):
        return None
    is_folder = os.path.isdir(path)
    try:
        if is_folder:
            os.scandir(path).close()
        else:
            os.close(files.open_regular(path))
    except OSError as error:
        message = f"the {'folder' if is_folder else 'file'} cannot be read: {error.strerror or error}"
        return ErrorInfo("unreadable", message, path, "name another, or see that you may read it")
    return None


def named_files(path: str, found: dict[str, Artifact], notes: list[str]) -> None:
    """A file that the person named, or the files of known kinds in a folder and the folders below it."""
    if not os.path.isdir(path):
        item = artifact_at(path, FILES, f"{FILES}/{os.path.basename(path)}")
        if item is None:
            notes.append(f"{path} is not there")
        elif path.lower().endswith(".zip") or _is_export(path):
            found.setdefault(path, item._replace(kind="store"))
        elif item.kind == "conversation" and (why := _why_not(path)) and path.lower().endswith(_DATA):
            notes.append(f"no conversation, and not read: {path} ({why})")
        else:
            found.setdefault(path, item)
        return
    if (storage := folder_store(path, "opencode")) is not None:
        found.setdefault(path, storage)
        return
    others: list[str] = []
    for folder in folders_in(path, set(), notes, HIDDEN):
        for name, is_folder in listed(folder, notes):
            item = None if is_folder else artifact_at(os.path.join(folder, name), FILES, "")
            if item is None or not name.lower().endswith((*_SUFFIXES, ".zip")):
                continue
            if _is_export(item.path):
                item = item._replace(kind="store")
            elif name.lower().endswith(".zip"):
                continue
            elif _why_not(item.path):
                others.append(name)
                continue
            below = os.path.relpath(item.path, path).replace(os.sep, "/")
            found.setdefault(item.path, item._replace(name=f"{FILES}/{below}"))
    if others:
        names = ", ".join(others[:_TOLD]) + f" and {len(others) - _TOLD} more" * (len(others) > _TOLD)
        notes.append(f"no conversation of a known kind in {path}, and not read: {names}")


def _is_export(path: str) -> bool:
    """Whether many conversations stand in a file that is named like one. What cannot be read is none: whoever reads it
    as a file will tell."""
    if not path.lower().endswith((".json", ".zip")):
        return False
    from core.conversations.export_file import export_kind

    try:
        return bool(export_kind(path))
    except OSError:
        return False


_TOLD = 4
_DATA = (".json", ".jsonl", ".toml", ".traj")


def _why_not(path: str) -> str:
    """Why a file cannot be a conversation, as its beginning tells: settings, data, pictures. "" for one that may be,
    and for one that cannot be looked at: whoever reads it tells. Data that is not JSON is none of a known kind."""
    from core.conversations.read import HEAD_BYTES, format_of, why_not_read

    try:
        fd = files.open_regular(path)
        try:
            head = files.read_beginning(fd, HEAD_BYTES)
        finally:
            os.close(fd)
    except OSError:
        return ""
    why = why_not_read(head)
    return why or (
        "of no known kind" if path.lower().endswith(_DATA) and format_of(head) in ("plain", "unknown-json") else ""
    )
