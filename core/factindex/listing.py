"""Which YAML files the fact index is made of. The search lists them at each start, and reads none that it knows."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("global", "repos", "agents")
ENDINGS = (".yaml", ".yml")


def fact_file_names(knowledge: Path) -> Iterator[str]:
    """The names of the YAML files below the knowledge folder, sorted. Raises OSError."""
    return (name for name, why in fact_places(knowledge) if not why)


def fact_places(knowledge: Path) -> Iterator[tuple[str, str]]:
    """The same, and between them what a user may take for one: (name, why it is not read, "" for a file). Raises
    OSError."""
    for folder in FOLDERS:
        try:
            why = _why_no_folder(knowledge / folder)
        except FileNotFoundError:
            continue
        if why:
            yield folder, why
            continue
        inside, why = _entries(knowledge / folder)
        if why:
            yield folder, why
        for entry in inside:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                below, why = _entries(Path(entry.path))
                if why:
                    yield f"{folder}/{entry.name}", why
                for one in below:
                    if _is_ours(one.name) and not one.is_dir(follow_symlinks=False):
                        yield f"{folder}/{entry.name}/{one.name}", _why_no_file(one)
            elif _is_ours(entry.name) or (entry.is_symlink() and entry.is_dir()):
                yield f"{folder}/{entry.name}", _why_no_file(entry)


LINK = "a symbolic link, which is not followed"


def _entries(folder: Path) -> tuple[list[os.DirEntry[str]], str]:
    """What lies in a folder, sorted; or why it cannot be looked at, in words."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda one: one.name), ""
    except OSError as error:
        return [], f"a folder that cannot be read ({error.strerror})"


def _why_no_folder(path: Path) -> str:
    mode = path.lstat().st_mode
    return "" if stat.S_ISDIR(mode) else LINK if stat.S_ISLNK(mode) else "no folder"


def _why_no_file(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return ""
    return LINK if entry.is_symlink() else "a pipe, socket or device"


def _is_ours(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith(".")
