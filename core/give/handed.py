"""What was handed to whom: one file a session, a line a hint, so that a hook reads little and writes at one end.

A line is handed out once a session, and once more after a compaction. What was ignored five times is not offered again,
and neither is what misled twice (`core/experience/record.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.base import files
from core.base.entry import statement_mark
from core.base.paths import Paths
from core.experience import record


class Row(NamedTuple):
    """What is handed out: the words, why, how strongly, the command that they recommend ("" for none), and the branch
    on which they were learned."""

    text: str
    why: str
    score: float = 1.0
    instead: str = ""
    branch: str = ""


COMPACTED, OUTCOME = "compact", "outcome"


class Handed:
    """What one session was handed. Raises OSError where it cannot be kept: then nothing is handed out."""

    def __init__(self, paths: Paths, session: str) -> None:
        name = hashlib.sha256(session.encode("utf-8", "replace")).hexdigest()[:24]
        self._paths, self._session, self._path = paths, session, paths.hints / f"{name}.jsonl"
        self._marks: set[str] = set()
        for row in rows_of(self._path):
            if row.get("event") == COMPACTED:
                self._marks.clear()
            elif row.get("event") != OUTCOME:
                self._marks.add(str(row.get("mark", "")))

    def is_new(self, text: str) -> bool:
        """Whether a line may be handed out: not in this session yet, and not one that nobody follows."""
        mark = statement_mark(text)
        if mark in self._marks:
            return False
        known = record.served(self._paths.experience, [text]).get(text, record.Served()).counts()
        ignored = known.get("miss", 0) >= record.IGNORED_OFTEN and not known.get("win", 0)
        return not ignored and known.get("misleading", 0) < record.MISLED_OFTEN

    def note(self, tool: str, project: str, event: str, rows: Sequence[Row], transcript: str, at: int) -> None:
        """Write down what is handed out: words, why, score and command. All of it is as an index has it, so nothing
        of what an agent has just written, and no secret."""
        self._append(
            {
                "at": at, "tool": tool, "session": self._session, "transcript": transcript, "project": project,
                "event": event, "text": row.text, "mark": statement_mark(row.text), "why": row.why,
                "score": round(row.score, 2), "instead": row.instead,
            }
            for row in rows
        )  # fmt: skip

    def forget(self, at: int) -> None:
        """After a compaction what was handed out may be handed out again."""
        if self._marks:
            self._append([{"at": at, "event": COMPACTED, "session": self._session}])

    def _append(self, rows: Any) -> None:
        files.make_folder(self._paths.hints, durable=False)
        data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "replace")
        append(self._path, data)


def append(path: Path, data: bytes) -> None:
    """Write at the end of a file of lines, all of it or nothing. Raises OSError."""
    fd = files.open_for_append(path)
    try:
        files.append(fd, data, os.fstat(fd).st_size)
    finally:
        os.close(fd)


def rows_of(path: Any) -> Iterator[dict[str, Any]]:
    """The lines of a session's file; none for a file that is not there, and none for a line that is torn."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row
