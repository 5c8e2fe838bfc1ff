"""`knowledge quarantine`: items that were held back, let in or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import Argument, flag, group, option, single
from core.cli.text import count

if TYPE_CHECKING:
    from core.commands.quarantine import HeldItem, Released, ReleasedMany

SHOWN = 5000
"""So much of a held item is printed: a playbook that is somewhat too long in whole, a flood not."""


def quarantine_text(value: list[HeldItem]) -> str:
    from core.commands.quarantine import HELD

    rows = []
    for row in value:
        about = f" {row.path}" if row.path else ""
        text = row.text if len(row.text) <= SHOWN else f"{row.text[:SHOWN]}… ({len(row.text):,} characters in all)"
        rows.append(f"{row.number}  [{row.held or '?'}] {row.category}{about}: {text} {row.provenance}".rstrip())
        rows += [f'      quote: "{row.quote}"'] * bool(row.quote)
    marks = [mark for mark in HELD if any(row.held == mark for row in value)]
    rows.append(f"{count(len(value), 'item')} held back")
    if value:
        rows.append(f"note: {'; '.join(f'[{mark}] {HELD[mark]}' for mark in marks)}" if marks else "")
        rows.append(
            "'knowledge quarantine accept' lets one in, 'drop' removes it: by its words or number, --run or --all"
        )
    return "\n".join(row for row in rows if row) + "\n"


def released_text(value: Released | ReleasedMany) -> str:
    """Of one item, or of several."""
    items = getattr(value, "items", None) or ((getattr(value, "file", ""), getattr(value, "text", "")),)
    rows = [f"{f'now in {file}' if file else 'dropped'}: {text}" for file, text in items]
    rows += [f"'knowledge undo {value.run}' takes this back"]
    return "\n".join(rows + [f"note: {value.warning}"] * bool(value.warning)) + "\n"


_RUNS = ".quarantine:quarantine"
_OF_RUN = option("--run", "every item that this harvest has held back", "RUN")
_WHICH = (
    Argument(
        ("match",),
        "a part of the item's text, or numbers as the list shows them: 3, 5-9",
        {"nargs": "*", "metavar": "MATCH"},
    ),
    flag("--all", "every item that is held back"),
    _OF_RUN,
)
COMMANDS = (
    group(
        "quarantine",
        "items held back: list, accept, drop",
        'accept "port 8080"',
        single("list", "what is held back, and why", "", _RUNS, quarantine_text, _OF_RUN),
        single("accept", "let items in", '"port 8080"', _RUNS, released_text, *_WHICH, given={"action": "accept"}),
        single("drop", "remove items", "5-9", _RUNS, released_text, *_WHICH, given={"action": "drop"}),
    ),
)
