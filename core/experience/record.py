"""How what was handed out has served: one file for bullets, facts, memories, notes, documents, turns and hints.

A use belongs to what was said (`base/entry.statement_mark`), or to a place in a conversation (`session:turn`); so it
stays when a file is edited around it. Other words for the same thing take it along, as of an earlier version. The
chunks of the library have their traces beside their documents, where a team shares them.

Counts stand by kind of task: what has misled for facts may be what debugging needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from core.base import files
from core.base.choices import OUTCOMES
from core.base.entry import statement_mark
from core.base.result import KnowledgeError

NOTES = 400
"""Characters of a why."""
IGNORED_OFTEN, MISLED_OFTEN = 5, 2
"""Ignored so often, a line is not handed out unasked again; misleading so often neither."""
DECISIVE = 3
"""So many misleadings for a kind of task, and no more wins than these, put a thing last for that kind."""
PATIENCE = 5.0
"""Seconds for which another writer is waited for."""
_COLUMNS = "id, mark, place, task, outcome, at, why, by, session"
_TABLES = f"""
CREATE TABLE IF NOT EXISTS used({_COLUMNS.replace("id,", "id TEXT PRIMARY KEY,")}) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS used_by_mark ON used(mark);
CREATE TABLE IF NOT EXISTS reworded(mark TEXT PRIMARY KEY, now TEXT NOT NULL) WITHOUT ROWID;
"""
_OF_ONE = """
WITH RECURSIVE same(mark, steps) AS (
  SELECT ?, 0 UNION SELECT reworded.mark, 1 FROM reworded JOIN same ON reworded.now = same.mark)
SELECT task, outcome, why, steps FROM used JOIN same ON used.mark = same.mark ORDER BY at, id
"""


@dataclass(frozen=True)
class Use:
    """One use of what `of` says, or of a place (`session:turn`). `at` is in ISO 8601, `task` a kind of task, `by` who
    tells it (agent, user, hook of TOOL, transcript), `session` where it was used. A use with the same `once` is
    written down once."""

    of: str
    outcome: str
    at: str
    task: str = "other"
    why: str = ""
    by: str = "agent"
    place: str = ""
    session: str = ""
    once: str = ""


@dataclass(frozen=True)
class Served:
    """How one thing has served: kind of task -> outcome -> how often; `earlier` uses were of other words for it;
    `misled` has for a kind of task why it led astray the last time."""

    tally: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    earlier: int = 0
    misled: Mapping[str, str] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Outcome -> how often, whatever the task."""
        whole: Counter[str] = Counter()
        for row in self.tally.values():
            whole.update(row)
        return {name: whole[name] for name in OUTCOMES if whole[name]}

    def warning(self, task: str) -> str:
        """What is to be said first of a thing that has misled too often at a kind of task; "" for one that has not."""
        counts = self.tally.get(task, {})
        if not misleads(counts):
            return ""
        why = self.misled.get(task, "").replace("[", "(").replace("]", ")").replace("; ", ", ")
        return f"misled {counts['misleading']}× for {task.replace('_', ' ')}{f': {why}' if why else ''}"


def misleads(counts: Mapping[str, int]) -> bool:
    """Whether outcomes for one kind of task are decisive against a thing: three misleadings, and no more wins."""
    return counts.get("misleading", 0) >= max(DECISIVE, counts.get("win", 0))


def record(path: Path, uses: Iterable[Use]) -> int:
    """Write uses down; how many were new. Raises KnowledgeError for an outcome that is none, or where the file cannot
    be written."""
    rows = []
    for use in uses:
        if use.outcome not in OUTCOMES:
            raise KnowledgeError("bad-outcome", f"{use.outcome!r} is no outcome", hint=f"one of {', '.join(OUTCOMES)}")
        mark = statement_mark(use.of)
        name = "\n".join((mark, use.outcome, use.session, use.once or os.urandom(8).hex()))
        key = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
        why = " ".join(use.why.split())[:NOTES].encode("utf-8", "replace").decode()
        rows.append((key, mark, use.place, use.task, use.outcome, use.at, why, use.by, use.session))
    marks = ", ".join("?" * len(_COLUMNS.split(", ")))
    with _writing(path) as database:
        return max(0, database.executemany(f"INSERT OR IGNORE INTO used({_COLUMNS}) VALUES ({marks})", rows).rowcount)


def served(path: Path, texts: Iterable[str]) -> dict[str, Served]:
    """How each of these statements or places has served, of those that were used; none where the file is damaged, which
    `doctor` says."""
    found: dict[str, Served] = {}
    with _reading(path) as database:
        for text in dict.fromkeys(texts) if database is not None else ():
            rows = database.execute(_OF_ONE, (statement_mark(text),)).fetchall() if database is not None else []
            tally: dict[str, Counter[str]] = {}
            for task, outcome, *_ in rows:
                tally.setdefault(task, Counter())[outcome] += 1
            misled = {task: why for task, outcome, why, _ in rows if outcome == "misleading"}
            if rows:
                found[text] = Served(tally, sum(steps > 0 for *_, steps in rows), misled)
    return found


def together(some: Iterable[Served]) -> Served:
    """One record of several names of a thing."""
    tally: dict[str, Counter[str]] = {}
    earlier, misled = 0, dict[str, str]()
    for one in some:
        for task, row in one.tally.items():
            tally.setdefault(task, Counter()).update(row)
        earlier += one.earlier
        misled |= one.misled
    return Served(tally, earlier, misled)


def follow(path: Path, old: str, new: str) -> None:
    """What is said in other words keeps its record. Raises KnowledgeError where it cannot be written."""
    one, other = statement_mark(old), statement_mark(new)
    if one == other or not files.exists(path):
        return
    with _writing(path) as database:
        database.execute("DELETE FROM reworded WHERE mark = ?", (other,))  # it is what stands now: no way round
        database.execute("INSERT OR REPLACE INTO reworded(mark, now) VALUES (?, ?)", (one, other))


def forget(
    path: Path, *, marks: Iterable[str] = (), session: str = "", holds: Callable[[str], bool] | None = None
) -> int:
    """Delete for good the uses of statements by their marks, those of a conversation and in it, and those whose why
    `holds` what was purged; how many. Raises KnowledgeError where the file cannot be written."""
    if not files.exists(path):
        return 0
    with _writing(path) as database:
        gone = {row for mark in marks for row in database.execute("SELECT id FROM used WHERE mark = ?", (mark,))}
        if session:
            asked = "SELECT id FROM used WHERE session = ?1 OR substr(place, 1, length(?1) + 1) = ?1 || ':'"
            gone |= set(database.execute(asked, (session,)))
        if holds is not None:
            gone |= {(key,) for key, why in database.execute("SELECT id, why FROM used") if holds(why)}
        for mark in marks:
            database.execute("DELETE FROM reworded WHERE ? IN (mark, now)", (mark,))
        database.executemany("DELETE FROM used WHERE id = ?", list(gone))
        return len(gone)


def problem(path: Path) -> str:
    """What is wrong with the file, "" for a sound one and for none."""
    if not files.exists(path):
        return ""
    try:
        with contextlib.closing(_opened(path, "ro")) as database:
            said = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
            database.execute(f"SELECT {_COLUMNS} FROM used LIMIT 1")
        return "" if said == "ok" else said
    except sqlite3.Error as error:
        return str(error)


def in_words(counts: Mapping[str, int]) -> str:
    """`helped 3×, misled 1×`; "" for nothing."""
    said = {"win": "helped", "partial": "helped in part", "miss": "was beside the point", "misleading": "misled"}
    parts = [f"{words} {counts[name]}×" for name, words in said.items() if counts.get(name)]
    return ", ".join(parts)


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    database = sqlite3.connect(f"file:{quote(str(path))}?mode={mode}", uri=True, timeout=PATIENCE)
    database.execute("PRAGMA secure_delete = ON")
    return database


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction: all of it, or nothing."""
    try:
        files.make_folder(path.parent)
        os.close(files.open_for_append(path))  # 0600 from the first byte on
        with contextlib.closing(_opened(path, "rw")) as database:
            database.executescript(_TABLES)
            with database:
                database.execute("BEGIN IMMEDIATE")
                yield database
    except (OSError, sqlite3.Error) as error:
        said = getattr(error, "strerror", None) or error
        raise KnowledgeError(
            "unwritable", f"how it served cannot be written down: {said}", path, "'knowledge doctor' looks at it"
        ) from error


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    with contextlib.ExitStack() as opened:
        sound = None
        with contextlib.suppress(sqlite3.Error):
            if files.exists(path):
                database = opened.enter_context(contextlib.closing(_opened(path, "ro")))
                database.execute(f"SELECT {_COLUMNS} FROM used LIMIT 1")
                sound = database
        yield sound
