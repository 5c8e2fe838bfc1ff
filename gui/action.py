"""Something that can be done from anywhere in the panel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Action:
    """Something that a person can do anywhere in the panel: in the palette, by a shortcut, from a button.

    `name` is dotted (`harvest`, `view.ledger`, `digest.toggle`); `words` say what it does; `shortcut` is how its key is
    written, "" for none.
    """

    name: str
    words: str
    icon: str
    act: Callable[[], object]
    shortcut: str = ""
