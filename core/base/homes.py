"""What a folder is: a home, or the `.manual_slop` of a project; and whether this person may use it.

A home has the same name as a project's folder (`~/.manual_slop`), so the name alone does not tell them apart.
"""

from __future__ import annotations

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
