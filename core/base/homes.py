"""What a folder is: a home, or the `.manual_slop` of a project; and whether this person may use it.

A home has the same name as a project's folder (`~/.manual_slop`), so the name alone does not tell them apart.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from core.base.paths import Paths, choose_home


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
"""What helps where this person may not do what the program has to."""


def closed_folder(paths: Paths) -> Path | None:
    """The first folder of a home that this person may not enter, None for none. What is absent is not closed."""
    for folder in (paths.home, paths.knowledge, paths.state):
        try:
            os.lstat(os.path.join(folder, "."))
        except PermissionError:
            return folder
        except OSError:
            continue  # absent, or no folder: whoever needs it says so
    return None


def unwritable_folder(paths: Paths) -> Path | None:
    """The first folder of a home in which this person may not make files, None for none."""
    for folder in (paths.home, paths.knowledge, paths.state):
        if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


def advice(error: OSError) -> str:
    """What to do about a refusal of the disk, "" where this is not a matter of rights."""
    return ADVICE if isinstance(error, PermissionError) or error.errno == errno.EROFS else ""
