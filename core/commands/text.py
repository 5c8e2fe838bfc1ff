"""What the reports of several commands share, and the one JSON document that each can be instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import PurePath
from typing import TYPE_CHECKING, Any
from unicodedata import category

from core.base.figures import count as count
from core.base.figures import size as size
from core.base.result import ErrorInfo, KnowledgeError

if TYPE_CHECKING:
    from core.knowledge.edit import Edited

KEY_CHARACTERS = 12
"""The characters of a hash that are shown."""


def visible(text: str) -> str:
    """Text without characters that would command the terminal: names and words in it come from anywhere. Blanks of
    other widths, as French and Japanese have them, stay."""
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text  # nearly always, and a long report is not looked at letter by letter
    return "".join(char if char in "\n\t" or _is_seen(char) else "\ufffd" for char in text)


def _is_seen(char: str) -> bool:
    return char.isprintable() or category(char) == "Zs"


def change_text(edited: Edited) -> str:
    rows = [edited.file]
    rows += [f"  - {line.removeprefix('- ')}" for line in edited.removed]
    rows += [f"  + {line.removeprefix('- ')}" for line in edited.added]
    if not edited.removed and not edited.added:
        rows.append("  nothing to change: it is there already")
    elif edited.run:
        rows.append(f"'knowledge undo {edited.run}' takes this back")
    rows += [f"note: {edited.warning}"] if edited.warning else []
    return "\n".join(rows) + "\n"


def fed(facts: Mapping[str, int] | None) -> list[str]:
    """What the fact index made of a run, where it made anything of it."""
    too_long = facts.get("too_long", 0) if facts is not None else 0
    if facts is None or not facts["new"] + facts["confirmed"] + too_long:
        return []
    again = ", {confirmed} said again" if facts["confirmed"] else ""
    left = ", {too_long} too long for it" if too_long else ""
    return [("fact index: {new} new" + again + left + ", {total} in all").format(**facts)]


def short(name: str, characters: int = 60) -> str:
    """A name from outside on one line, its middle left out where it is long: the end tells conversations apart."""
    shown = "".join(char if _is_seen(char) else "?" for char in name)
    head = (characters - 3) // 2
    return shown if len(shown) <= characters else f"{shown[:head]}…{shown[head + 1 - characters :]}"


def one_line(value: object) -> str:
    """A value that comes from outside (a name, a path) as one line: it must not forge a line of ours."""
    return str(value).replace("\n", "\\n")


@contextmanager
def collected(errors: list[ErrorInfo]) -> Iterator[None]:
    """Within it, a KnowledgeError ends what is done there and stands among the errors of a report."""
    try:
        yield
    except KnowledgeError as failed:
        errors.append(failed.error)


def grouped(errors: list[ErrorInfo]) -> list[str]:
    """One sentence for each reason; when several places have the same one, it is said once with their number."""
    by_reason: dict[tuple[str, str], list[ErrorInfo]] = {}
    for error in errors:
        by_reason.setdefault((error.message, error.hint), []).append(error)
    return [
        one_line(rows[0]) if len(rows) == 1 else f"{one_line(rows[0])} The same for {len(rows) - 1} more."
        for rows in by_reason.values()
    ]


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """One JSON document with a line break at its end: a record as its `to_json` has it, else by its fields."""
    if isinstance(value, (list, tuple)):
        value = [_plain(row) for row in value]
    whole = {"prefix": value} if isinstance(value, str) else _plain(value)
    text = json.dumps(whole, indent=2, ensure_ascii=ascii_only, default=_plain)
    if not text.isprintable():
        text = "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text)
    return text + "\n"


def _plain(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "__dataclass_fields__"):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    return str(value) if isinstance(value, (PurePath, date)) else value


def errors_of(value: Any) -> list[ErrorInfo]:
    """The failures that a report carries; a demo carries those of its run."""
    report = getattr(value, "applied", value)
    errors: Sequence[ErrorInfo] = getattr(value if isinstance(report, bool) else report, "errors", ())
    return list(errors)
