"""How things of the store are called and shown: one table a kind of thing, for every view that shows one.

The order of a table is the order on the screen.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from core.base.figures import age, count, seconds_of
from core.base.project import is_below
from core.base.result import ErrorInfo
from core.commands.daily.autopilot import Autopilot
from core.commands.panel.ledger_rows import rows_of
from core.commands.panel.overview import WAITING
from core.commands.panel.titles import Called
from gui.toolkit.flow_rows import SEPARATOR


class Looks(NamedTuple):
    """What a thing is called (above many of them, on a chip), its icon and its colour; `noun` is one of them."""

    name: str
    icon: str
    color: str
    noun: str = ""


CATEGORIES: Mapping[str, Looks] = {
    "facts": Looks("Facts", "lightbulb", "ramp:0", "fact"),
    "decisions": Looks("Decisions", "git-branch", "ramp:1", "decision"),
    "questions": Looks("Questions", "circle-question-mark", "ramp:3", "question"),
    "playbooks": Looks("Playbooks", "book-open", "ramp:5", "playbook"),
    "tasks_open": Looks("Tasks", "square", "ramp:2", "task"),
    "tasks_done": Looks("Tasks done", "square-check-big", "ramp:4", "task"),
    "files": Looks("Notes on files", "file-code", "ramp:6", "note"),
    "quarantine": Looks("Held", "shield", "edited", "held item"),
}
OF_FILE: Mapping[str, str] = {
    f"{name.partition('_')[0]}.md": name for name in CATEGORIES if name not in ("files", "tasks_done")
}
"""The category that a file of the store belongs to."""
MEMORY_CATEGORIES: Mapping[str, Looks] = {
    "preference": Looks("Preferences", "thumbs-up", "ramp:0"),
    "correction": Looks("Corrections", "pen", "ramp:3"),
    "decision": CATEGORIES["decisions"],
    "context": Looks("Context", "layers", "ramp:2"),
    "pattern": Looks("Patterns", "book-open", "ramp:5"),
}
NOT_HARVESTED = "not harvested yet"
"""What a conversation is that the next harvest reads."""
NO_PROJECT = "No project"
"""Where a conversation was held, or will be, that belongs to none."""
ENTRY_KINDS: Mapping[str, Looks] = {
    "conversation": Looks("Conversations", "messages-square", "ramp:4"),
    "bullet": Looks("Bullets", "lightbulb", "ramp:0"),
    "note": CATEGORIES["files"]._replace(name="Notes"),
    "memory": Looks("Memories", "bookmark", "ramp:3"),
    "context": Looks("Context", "layers", "ramp:5"),
    "fact": Looks("Facts", "hash", "ramp:1"),
}
"""Kinds of entries of the search."""
STATUSES: Mapping[str, Looks] = {
    WAITING: Looks(NOT_HARVESTED.capitalize(), "circle-dashed", "accent"),
    "harvested": Looks("Harvested", "circle-check", "harvested"),
    "harvest-failed": Looks("Failed", "circle-x", "failed"),
    "deleted-unharvested": Looks("Removed unread", "file-x", "deleted"),
    "too-large": Looks("Too large", "weight", "too-large"),
    "pruned": Looks("Removed", "archive", "muted"),
    "undone": Looks("Undone", "undo-2", "muted"),
    "forgotten": Looks("Forgotten", "x", "muted"),
}
"""Statuses of an entry of the ledger, before them what is none yet."""
OTHER = Looks("Other", "circle-question-mark", "hint")
ROLES: Mapping[str, Looks] = {
    "user": Looks("you", "user", "accent"),
    "assistant": Looks("assistant", "sparkles", "ramp:2"),
    "agent": Looks("agent", "users", "ramp:5"),
    "system": Looks("system", "settings", "hint"),
    "tool": Looks("tool", "terminal", "hint"),
}
"""Who speaks in a conversation."""


def who_speaks(role: str) -> Looks:
    """How a role looks, also one that no reader gives today."""
    return ROLES.get(role, Looks(role, "message-square", "hint"))


_HEX = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UNIQUE = re.compile(rf"\A{_HEX}-|[-_]{_HEX}(?=\W|\Z)|[-_]\d{{10,}}(?=\W|\Z)")


_called: Callable[[str], Called] = rows_of(()).called


def learn(names: Callable[[str], Called]) -> None:
    """Take over who tells what conversations are called, by the names that provenances tell them by; in another home
    another conversation may have the same name."""
    global _called
    _called = names


def category_of(file: str) -> str:
    """The category that the lines of a file of the store belong to."""
    return "files" if file.startswith("files/") else OF_FILE.get(file, "facts")


def joined(*parts: str | None) -> str:
    """Parts of a small line, without those that are empty."""
    return SEPARATOR.join(part for part in parts if part)


def tags_words(tags: Sequence[str]) -> str:
    """Tags as they are shown."""
    return " ".join(f"#{tag}" for tag in tags)


def short_name(source: str) -> str:
    """What a user calls a conversation: its title, else its name without the long number that makes it unique (the
    whole name is in the inspector)."""
    if title := _called(source).title:
        return title
    return "written by hand" if source == "by-hand" else plain_name(source)


def project_of(source: str) -> str:
    """The project that a conversation was held in, by its last folder; "" where nobody knows."""
    return _called(source).project_name


def plain_name(source: str) -> str:
    """A conversation's own name without the long number that makes it unique."""
    return _UNIQUE.sub("", source) or source


def short_folder(folder: str) -> str:
    """A path with the home of the user as `~`."""
    home = os.path.expanduser("~")
    return "~" + folder[len(home) :] if is_below(folder, home) else folder


def ago(when: float, now: float | None = None) -> str:
    """How long ago something was, as a window says it that counts by the minute: `just now`, `5 min ago`; "" for 0."""
    if not when:
        return ""
    return "just now" if (time.time() if now is None else now) - when < 60 else f"{age(when, now)} ago"


def left_words(seconds: float) -> str:
    """How long it will still take, never more exactly than anybody knows."""
    if seconds <= 0:
        return ""
    if seconds < 60:
        return f"about {max(10, round(seconds / 10) * 10)} s left"
    return f"about {round(seconds / 60)} min left" if seconds < 5400 else f"about {seconds / 3600:.0f} h left"


def day_words(day: str) -> str:
    """A day as a table has room for it: `17 Dec`, of another year `12.2024`."""
    try:
        at = date.fromisoformat(day)
    except ValueError:
        return ""
    return f"{at.day} {at:%b}" if at.year == date.today().year else f"{at:%m.%Y}"


def ledger_unread(problems: Iterable[ErrorInfo]) -> bool:
    """Whether nobody can tell what was harvested."""
    return any(one.code in ("ledger-corrupt", "ledger-unreadable") for one in problems)


def capital(sentence: str) -> str:
    """A sentence as it begins on a page."""
    return sentence[:1].upper() + sentence[1:]


def autopilot_words(last: Autopilot, now: float) -> tuple[str, str, str]:
    """The last harvest that nobody waited for: what came of it, what it left for the next."""
    words = f"Harvested by itself {ago(seconds_of(last.at), now)}: {count(last.harvested, 'conversation')}"
    words += f", {count(last.items, 'bullet')}"
    rest = ((last.left, "left for the next time"), (last.writing, "still being written"), (last.failed, "failed"))
    words += "".join(f" · {number} {what}" for number, what in rest if number)
    return ("circle-x", "failed", words) if last.failed else ("circle-check", "harvested", words)
