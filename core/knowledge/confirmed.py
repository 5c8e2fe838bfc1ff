"""Which conversations said a statement again whose line stands already: `.state/confirmed.json`.

    {"format": 1, "files": {"facts.md": {MARK: {"count": 2, "last": "2026-06-12", "from": {NAME: DAY, …}}}}}

MARK is the statement's (`statement_mark`), `count` how many conversations said it beside the line's own (or with it),
`from` the newest of them, SOURCES at the most. A projection of the committed plans: harvest/landed.py makes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.base import files
from core.base.entry import mark_of_key
from core.base.markdown import Bullet, Provenance
from core.base.paths import Paths

CONFIRMED = "confirmed.json"
SOURCES = 50
"""The most conversations that are named of one statement; the others are counted."""


@dataclass(frozen=True)
class Again:
    """Who said one statement again: `count` conversations, the newest of them by name with their days."""

    count: int
    sources: Mapping[str, str]


Confirmations = dict[str, dict[str, Again]]
"""A file below the knowledge folder -> the mark of a statement -> who said it again."""


def read_confirmed(paths: Paths) -> Confirmations | None:
    """What is written down, None where nothing is that could be read. Raises OSError."""
    try:
        found = json.loads(files.read_or_empty(paths.state / CONFIRMED) or b"null")
        return {
            str(file): {str(mark): _again(row) for mark, row in rows.items()} for file, rows in found["files"].items()
        }
    except files.DAMAGED:
        return None


def _again(row: Mapping[str, Any]) -> Again:
    return Again(int(row["count"]), {str(name): str(day) for name, day in row["from"].items()})


def write_confirmed(paths: Paths, rows: Confirmations) -> None:
    """Raises OSError."""
    table = {
        file: {
            mark: {"count": one.count, "last": max(one.sources.values()), "from": dict(one.sources)}
            for mark, one in sorted(marks.items())
            if one.sources
        }
        for file, marks in sorted(rows.items())
    }
    data = json.dumps({"format": 1, "files": table}, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    path = paths.state / CONFIRMED
    if files.read_or_empty(path) != data:
        files.make_folder(path.parent)
        files.write_atomic(path, data)


def with_more(rows: Confirmations, file: str, mark: str, came: Provenance) -> None:
    """Note that a conversation said a statement (again); one that is noted already counts once."""
    old = rows.get(file, {}).get(mark, Again(0, {}))
    sources = {**old.sources, came.source: max(came.date, old.sources.get(came.source, ""))}
    count = old.count + len(sources) - len(old.sources)
    newest = sorted(sources.items(), key=lambda row: (row[1], row[0]), reverse=True)
    rows.setdefault(file, {})[mark] = Again(count, dict(newest[:SOURCES]))


def confirmed_bullets(rows: Confirmations | None, file: str, bullets: list[Bullet]) -> list[Bullet]:
    """The bullets of a file, each with the other conversations that said the same."""
    again = rows.get(file) if rows else None
    if not again:
        return bullets
    return [_confirmed(row, again.get(mark_of_key(row.key))) for row in bullets]


def _confirmed(bullet: Bullet, again: Again | None) -> Bullet:
    if again is None or bullet.struck:
        return bullet
    own = bullet.provenance.source if bullet.provenance is not None else ""
    others = tuple(Provenance(name, day) for name, day in again.sources.items() if name != own)
    return replace(bullet, again=others, more_again=again.count - len(again.sources))
