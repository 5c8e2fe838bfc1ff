"""What can be done to one bullet, as commands that carry what was seen: for the list and for the inspector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.base.result import ErrorInfo, Result
from core.commands import bullets
from core.commands.bullets import Found
from core.commands.quarantine import quarantine_accept, quarantine_drop
from core.commands.statements import change_all
from core.commands.workspace import Workspace
from gui.views.looks import CATEGORIES

Act = Callable[[Workspace], Result[Any]]


def act_of(name: str, found: Found, seen: str, others: Sequence[Found] = ()) -> tuple[str, Act]:
    """What is said afterwards, and the command: done, reopen, accept, strike or delete. It is done to all lines of a
    statement: to `others`, which say the same, as to the one that stands for them."""
    category, ref, struck = found.category, found.ref, found.bullet.struck
    noun = CATEGORIES[category].noun
    acts: dict[str, tuple[str, Act]] = {
        "done": ("Done", lambda core: bullets.done(core, ref, seen=seen)),
        "reopen": ("Opened again", lambda core: bullets.reopen(core, ref, seen=seen)),
        "accept": ("Let in", lambda core: quarantine_accept(core, ref, seen=seen)),
        "strike": (
            "Took the line away" if struck else f"Struck the {noun} through",
            lambda core: (bullets.unstrike if struck else bullets.strike)(core, category, ref, seen=seen),
        ),
        "delete": (f"Deleted the {noun}", lambda core: bullets.remove(core, category, ref, seen=seen)),
    }
    if category == "quarantine" and name == "delete":
        return "Dropped the held item", lambda core: quarantine_drop(core, ref, seen=seen)
    if others and name != "accept":
        refs, every = (ref, *(one.ref for one in others)), "unstrike" if struck and name == "strike" else name
        return acts[name][0], lambda core: change_all(core, every, refs, seen=seen)
    return acts[name]


def refusal(error: ErrorInfo) -> ErrorInfo:
    """An error as it is told at the top: one about a change from outside says what is shown now."""
    if error.code != "changed-outside":
        return error
    sentence = "The file was changed outside, so nothing was written; it is shown as it is now"
    return ErrorInfo(error.code, sentence, error.path, "Look again, then decide")
