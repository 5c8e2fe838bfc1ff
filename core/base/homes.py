"""What a folder is: a home, or the `.manual_slop` of a project; whether this user may use it, and whose it is.

A home has the same name as a project's folder (`~/.manual_slop`), so the name alone does not tell them apart.

Whose something is, is asked of POSIX systems alone: Windows has no owner and mode that would say it, there the rights
of the folders above hold instead, and `why_foreign` finds nothing. Access control lists are not read anywhere.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from core.base import files
from core.base.paths import Paths, choose_home, project_paths
from core.base.result import KnowledgeError


def is_home(folder: Path, *known: Path) -> bool:
    """Whether a folder is a home rather than a project's: one of those that are `known`, the usual one, or one that
    holds what only a home has. Looks through symbolic links."""
    real = os.path.realpath(folder)
    if any(real == os.path.realpath(home) for home in (*known, choose_home("", "", {}))):
        return True
    place = Paths(folder)
    own = (place.conversations, place.splits, place.ledger, place.digest, place.journal, place.plans)
    return any(os.path.lexists(mark) for mark in own)


ADVICE = "check its owner and rights, or name another with --home"
"""What helps where this user may not do what the program has to."""


def closed_folder(paths: Paths) -> Path | None:
    """The first folder of a home that this user may not enter, None for none. What is absent is not closed."""
    for folder in (paths.home, paths.knowledge, paths.state):
        try:
            os.lstat(os.path.join(folder, "."))
        except PermissionError:
            return folder
        except OSError:
            continue  # absent, or no folder: whoever needs it says so
    return None


def unwritable_folder(paths: Paths) -> Path | None:
    """The first folder of a home in which this user may not make files, None for none."""
    for folder in (paths.home, paths.knowledge, paths.state):
        if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


def advice(error: OSError) -> str:
    """What to do about a refusal of the disk, "" where this is not a matter of rights."""
    return ADVICE if isinstance(error, PermissionError) or error.errno == errno.EROFS else ""


# --- whose it is -----------------------------------------------------------------------------------------------------


def why_foreign(found: os.stat_result) -> str:
    """Why a file or folder is not this user's alone, "" when it is: `belongs to another user`."""
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid != os.geteuid():
        return "belongs to another user"
    if found.st_mode & stat.S_IWOTH:
        return "may be written by everybody"
    return "may be written by its group" if found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid) else ""


def why_foreign_file(path: Path) -> str:
    """The same of what stands at a path; "" also where nothing can be looked at, for then nothing is read."""
    try:
        return why_foreign(os.lstat(path))
    except OSError:
        return ""


def _is_private(group: int) -> bool:
    """Whether nobody but this user is in a group: many systems give each user one of the same name, and let it write
    all that they make (umask 002)."""
    import grp
    import pwd

    try:
        row, person = grp.getgrgid(group), pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return False
    return row.gr_name == person and set(row.gr_mem) <= {person}


def why_refused(project: Path, *, to_write: bool = False) -> str:
    """Why the `.manual_slop` of a project may not be used at all, as a sentence with the way out, "" when it may or
    there is none. It must be this user's own, folder by folder, writable by nobody else, and not in a place that is
    (`/tmp`). No symbolic link is followed: one in a repository leads where somebody else wants it to. With `to_write`
    it is also said of one that would be made."""
    place = project_paths(project)
    if (to_write or os.path.lexists(place.home)) and _is_everybodys(project):
        way = "move the project elsewhere, or take that right away (chmod o-w)"
        return f"{place.home} lies in a folder that everybody may write to, so it is not used: {way}"
    memories = place.memories
    parts = (place.home, place.knowledge, memories, memories / "archive", place.file_notes, place.state)
    for part in parts:
        try:
            found = os.lstat(part)
        except OSError:
            continue  # absent, or closed to this user: then nothing is read or written there
        if stat.S_ISLNK(found.st_mode):
            return f"{part} is a symbolic link, which is not followed in a project: put a folder there instead"
        if why := why_foreign(found):
            way = "make it yours (chown)" if "belongs" in why else "take that right away (chmod go-w)"
            return f"{part} {why}, so it is not used: {way}"
    return ""


def _is_everybodys(folder: Path) -> bool:
    try:
        return hasattr(os, "geteuid") and bool(os.stat(folder).st_mode & stat.S_IWOTH)
    except OSError:
        return False


def own_target(path: Path) -> Path:
    """Where a file of the user's own home really lies: people keep such files elsewhere and link to them. What is no
    link comes back as it is; OSError for a link to what is not theirs alone."""
    if not os.path.islink(path):
        return path
    target = Path(os.path.realpath(path))
    found = os.stat(target)
    why = why_foreign(found) or (
        "lies in a folder that everybody may write to" if _is_everybodys(target.parent) else ""
    )
    if why:
        raise OSError(errno.EPERM, f"it is a symbolic link to {target}, which {why}", str(path))
    return target


# --- the format of a store -------------------------------------------------------------------------------------------

FORMAT = 3
"""Of a store that this program writes, `.state/format`: 1 (no such file), a plan of the fact index is
`.state/facts.journal`; 2, plans and edits at work are lines of `.state/log`; 3, what the user removed
stays away (`removed.md`), and a statement that is said again adds no line. A store is carried over by the
first program that writes into it (knowledge/log.py), and one that is older than a store leaves it alone."""
HINT = "use the version of this program that wrote it last, or a later one"


def refuse_newer(paths: Paths) -> None:
    """Raise KnowledgeError for a store that a later version wrote. One that says nothing passes: to look at it harms
    nobody, and before anything is written it is asked again."""
    try:
        found = format_of(paths)
    except OSError:
        return
    if found > FORMAT:
        raise KnowledgeError("newer-store", _sentence(found), paths.format, HINT)


def format_of(paths: Paths) -> int:
    """The number of a store's format. What is no number was cut off by a crash, and stands for the first. OSError."""
    found = re.match(rb"\d{1,9}(?=\n|\Z)", files.read_or_empty(paths.format))
    return int(found[0]) if found else 1


def require_known(paths: Paths) -> int:
    """The number of a store's format. Raises OSError, also for a newer one than this program knows."""
    found = format_of(paths)
    if found > FORMAT:
        raise OSError(errno.EINVAL, _sentence(found), str(paths.format))
    return found


def write_format(paths: Paths) -> None:
    """The store is one of this format from now on. Raises OSError."""
    files.make_folder(paths.state)
    files.write_atomic(paths.format, b"%d\n" % FORMAT, 0o600)


def _sentence(found: int) -> str:
    return f"this store has format {found}, and this program knows formats up to {FORMAT}"
