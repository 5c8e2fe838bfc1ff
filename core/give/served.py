"""How what was handed out served: one line a use, by the mark of the words (`base/entry.statement_mark`).

An entry keeps its record when its file is edited elsewhere, and loses it when its statement becomes another one. The
library has a record of its own for its chunks.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from core.base import files
from core.base.entry import statement_mark
from core.base.paths import Paths

OUTCOMES = ("win", "partial", "miss", "misleading")
NOTES = 400
IGNORED_OFTEN, MISLED_OFTEN = 5, 2
"""Ignored so often, a line is not offered again; misleading so often, it is put to the user."""


def record(paths: Paths, text: str, outcome: str, notes: str, by: str, at: str) -> None:
    """Write down one use: of which words, how it went, why, by whom and when (ISO 8601). Raises OSError."""
    row = {"mark": statement_mark(text), "outcome": outcome, "notes": notes[:NOTES], "by": by, "at": at}
    files.make_folder(paths.state)
    add(paths.served, json.dumps(row, ensure_ascii=False).encode() + b"\n")


def add(path: Path, data: bytes) -> None:
    """Write at the end of a file of lines, all of it or nothing. Raises OSError."""
    fd = files.open_for_append(path)
    try:
        files.append(fd, data, os.fstat(fd).st_size)
    finally:
        os.close(fd)


def read(paths: Paths) -> Mapping[str, Counter[str]]:
    """The mark of each statement that was used -> outcome -> how often. A line that is none is left out."""
    found: dict[str, Counter[str]] = {}
    try:
        data = files.read_or_empty(paths.served)
    except OSError:
        return found
    for line in data.splitlines():
        try:
            row = json.loads(line)
            found.setdefault(row["mark"], Counter())[row["outcome"]] += 1
        except (ValueError, KeyError, TypeError):
            continue
    return found


def in_words(counts: Mapping[str, int]) -> str:
    """`helped 3 times, misled once`; "" for nothing."""
    said = {"win": "helped", "partial": "helped in part", "miss": "was beside the point", "misleading": "misled"}
    parts = [f"{words} {counts[name]}×" for name, words in said.items() if counts.get(name)]
    return ", ".join(parts)
