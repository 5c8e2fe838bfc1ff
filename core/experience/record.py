"""How what was handed out has served: one file for bullets, facts, memories, notes, chunks, turns and hints.

A trace is one use: for what kind of task, with what outcome, and why. It belongs to the chunks of the library that were
used, by their ids, to what was said (`base/entry.statement_mark`), or to a place in a conversation (`session:turn`); so
it stays when a file is edited around it. Other words for the same thing take it along, as of an earlier version. The
library attaches this file to its own (`library/database.py`); a team's traces of chunks stay in its PostgreSQL.

Counts stand by kind of task: what has misled for facts may be what debugging needs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from core.base import files
from core.base.choices import OUTCOMES, TASK_TYPES
from core.base.entry import statement_mark
from core.base.result import KnowledgeError
from core.experience.kinds import Tally, counts_for, merged, over_tasks, speaks_for

NOTES = 4_000
"""Characters of a why, a question or a context."""
IGNORED_OFTEN = 5
"""A line that was ignored this often is not handed out unasked again."""
MISLED_OFTEN = 2
"""Nor is one that misled this often."""
DECISIVE = 3
"""A thing that misled this often for a kind of task, and won no more often, is shown last for that kind."""
WARNED = 160
"""Characters of a why in a warning."""
PATIENCE = 5.0
"""Seconds for which another writer is waited for."""
INFERRED = "inferred"
"""What was read in a transcript says so."""
CHUNK = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The id of a chunk."""
_TABLES = """
CREATE TABLE IF NOT EXISTS usage_trace(
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL DEFAULT '', task_type TEXT NOT NULL,
  context_summary TEXT NOT NULL DEFAULT '', query TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL,
  notes TEXT NOT NULL DEFAULT '', timestamp TEXT NOT NULL, recorded TEXT NOT NULL, retrieval_id TEXT, project TEXT,
  place TEXT NOT NULL DEFAULT '');
CREATE INDEX IF NOT EXISTS usage_trace_by_session ON usage_trace(session_id);
CREATE INDEX IF NOT EXISTS usage_trace_by_time ON usage_trace(timestamp);
CREATE TABLE IF NOT EXISTS trace_chunk(
  trace_id TEXT NOT NULL REFERENCES usage_trace(id) ON DELETE CASCADE, chunk_id TEXT NOT NULL,
  position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(trace_id, chunk_id)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS trace_chunk_by_chunk ON trace_chunk(chunk_id);
CREATE TABLE IF NOT EXISTS reworded(mark TEXT PRIMARY KEY, now TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS trace_words USING fts5(trace_id UNINDEXED, query, context_summary,
  tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'");
CREATE TRIGGER IF NOT EXISTS trace_words_add AFTER INSERT ON usage_trace WHEN new.query || new.context_summary <> ''
BEGIN INSERT INTO trace_words(trace_id, query, context_summary) VALUES (new.id, new.query, new.context_summary); END;
CREATE TRIGGER IF NOT EXISTS trace_words_drop AFTER DELETE ON usage_trace
BEGIN DELETE FROM trace_words WHERE trace_id = old.id; END;
CREATE TRIGGER IF NOT EXISTS trace_words_change AFTER UPDATE OF query, context_summary ON usage_trace
BEGIN UPDATE trace_words SET query = new.query, context_summary = new.context_summary WHERE trace_id = old.id; END;
"""
_OF_AN_EARLIER_FORMAT = """
INSERT OR IGNORE INTO usage_trace(id, session_id, task_type, outcome, notes, timestamp, recorded, place)
  SELECT id, session, task, outcome, why, CASE at WHEN '' THEN strftime('%Y-%m-%dT%H:%M:%f+00:00') ELSE at END,
    CASE "by" WHEN 'transcript' THEN 'inferred' ELSE "by" END, place FROM used;
INSERT OR IGNORE INTO trace_chunk(trace_id, chunk_id) SELECT id, mark FROM used;
DROP TABLE used;
"""
_OF_ONE = """
WITH RECURSIVE same(mark, steps) AS (
  SELECT ?, 0 UNION SELECT reworded.mark, 1 FROM reworded JOIN same ON reworded.now = same.mark)
SELECT t.task_type, t.outcome, t.notes, t.project, steps FROM same JOIN trace_chunk j ON j.chunk_id = same.mark
JOIN usage_trace t ON t.id = j.trace_id ORDER BY t.timestamp, t.id
"""
_SCHEMA_VERSION = 1
T = TypeVar("T")


@dataclass(frozen=True)
class Use:
    """One use of what `of` says, of a chunk (its id), or of a place (`session:turn`). `at` is in ISO 8601, `task` a
    kind of task, `by` who tells it (agent, user, hook of TOOL, inferred), `session` and `project` where it was used
    ("" outside of any, None where nobody knows). A use with the same `once` is written down once."""

    of: str
    outcome: str
    at: str
    task: str = "other"
    why: str = ""
    by: str = "agent"
    place: str = ""
    session: str = ""
    once: str = ""
    project: str | None = None


@dataclass(frozen=True)
class Served:
    """How one thing has served: kind of task -> outcome -> how often; `earlier` uses were of other words for it;
    `misled` has for a kind of task why it led astray the last time."""

    tally: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    earlier: int = 0
    misled: Mapping[str, str] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Outcome -> how often, whatever the task."""
        whole = over_tasks(self.tally)
        return {name: whole[name] for name in OUTCOMES if name in whole}

    def speaks(self, task: str) -> float:
        """How it speaks for itself at a kind of task, from -1 to 1; by all its outcomes where that is not known."""
        return speaks_for(over_tasks(self.tally) if task == "other" else counts_for(self.tally, task))

    def stands_last(self, task: str) -> bool:
        """Whether it has misled too often at a kind of task."""
        return misleads(counts_for(self.tally, task))

    def warning(self, task: str) -> str:
        """What is to be said first of a thing that has misled too often at a kind of task, or at any where that is not
        known; "" for one that has not."""
        times = misled_at(self.tally, task)
        if not times:
            return ""
        why = next((self.misled[kind] for kind in times if self.misled.get(kind)), "")
        why = why[:WARNED].replace("[", "(").replace("]", ")").replace("; ", ", ")
        return f"misled {at_tasks(times)}{f': {why}' if why else ''}"


def misleads(counts: Mapping[str, int]) -> bool:
    """Whether the outcomes for a kind of task (`counts_for`) are decisive against a thing: three misleadings, and no
    more wins."""
    return counts.get("misleading", 0) >= max(DECISIVE, counts.get("win", 0))


def misled_at(tally: Tally, task: str) -> dict[str, int]:
    """At which kinds of task a thing has misled too often, and how often, of those that a question may be of: its own,
    or any where that is not known. What was recorded without a kind counts for each."""
    asked = [kind for kind in (tally if task == "other" else (task,)) if misleads(counts_for(tally, kind))]
    kinds = dict.fromkeys((*asked, "other")) if asked else {}
    return {kind: number for kind in kinds if (number := tally.get(kind, {}).get("misleading", 0))}


def at_tasks(times: Mapping[str, int]) -> str:
    """`3× for debugging and 1× for tasks of no known kind`."""
    kinds = {kind: kind.replace("_", " ") if kind != "other" else "tasks of no known kind" for kind in times}
    return " and ".join(f"{number}× for {kinds[kind]}" for kind, number in times.items())


def record(path: Path, uses: Iterable[Use]) -> int:
    """Write uses down; how many were new. Raises KnowledgeError for an unknown outcome, or where the file cannot
    be written."""
    rows = []
    for use in uses:
        thing = thing_of(use.of)
        name = "\n".join((thing, use.outcome, use.session, use.once or os.urandom(8).hex()))
        key = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32]
        trace = {
            "id": key, "session_id": use.session, "task_type": use.task, "outcome": use.outcome, "notes": use.why,
            "timestamp": _moment(use.at), "recorded": use.by, "place": use.place, "project": use.project,
        }  # fmt: skip
        rows.append((trace, thing))
    with _writing(path) as database:
        return sum(write(database.execute, trace, [thing]) for trace, thing in rows)


def warned_last(
    rows: Sequence[T], is_warned: Callable[[T], bool], limit: int, group: Callable[[T], Any] = lambda _row: 0
) -> list[T]:
    """The first `limit` rows of an order, with those that are warned of last, each in its group. One that stood
    among the first does not fall off for that, but keeps the last place of several: it may be the only answer."""
    first = next(filter(is_warned, rows[:limit]), None)
    shown = sorted(rows, key=lambda row: (group(row), is_warned(row)))[:limit]
    if first is not None and limit > 1 and not any(map(is_warned, shown)):
        shown[-1] = first
    return shown


def write(execute: Callable[[str, Any], Any], trace: Mapping[str, Any], things: Sequence[str]) -> bool:
    """Every trace comes through here, whoever tells it: an agent, the user, a hook or a transcript; whether it was
    new. `execute` runs a statement with named parameters in the transaction of whoever has the table, this file's or
    a server's. Raises KnowledgeError for an unknown outcome or kind of task."""
    if trace["outcome"] not in OUTCOMES:
        raise KnowledgeError("bad-outcome", f"{trace['outcome']!r} is no outcome", hint=f"one of {', '.join(OUTCOMES)}")
    if trace["task_type"] not in TASK_TYPES:
        message = f"{trace['task_type']!r} is no kind of task"
        raise KnowledgeError("bad-task", message, hint=f"one of {', '.join(TASK_TYPES)}")
    row = {name: kept(value) if name in _TEXTS else value for name, value in trace.items()}
    names = ", ".join(row)
    given = ", ".join(f":{name}" for name in row)
    made = execute(f"INSERT INTO usage_trace({names}) VALUES ({given}) ON CONFLICT DO NOTHING", row)
    for position, thing in enumerate(dict.fromkeys(things)):
        of = {"trace": row["id"], "chunk": thing, "position": position}
        execute("INSERT INTO trace_chunk(trace_id, chunk_id, position) VALUES (:trace, :chunk, :position) "
                "ON CONFLICT DO NOTHING", of)  # fmt: skip
    return bool(made.rowcount > 0)


_TEXTS = frozenset(("session_id", "context_summary", "query", "notes"))


def kept(text: str) -> str:
    """A text as every database can hold it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode().strip()[:NOTES]


def thing_of(of: str) -> str:
    """What a trace belongs to: the id of a chunk as it is, of all else the mark of what it says."""
    return of if CHUNK.fullmatch(of) else statement_mark(of)


def _moment(at: str) -> str:
    """A time as the library writes it; that of now where none is told that can be read."""
    try:
        when = datetime.fromisoformat(at)
    except ValueError:
        when = datetime.now(UTC)
    return when.astimezone(UTC).isoformat(timespec="microseconds")


def served(path: Path, texts: Iterable[str], tells: Callable[[str], bool] | None = None) -> dict[str, Served]:
    """How each of these statements, places or chunks has served, of those that were used; none where the file is
    damaged, which `doctor` says. A file of an earlier format is brought up to date first, for it may be that nobody
    ever writes into it. Two projects may share a statement: with `tells` why it misled is told of uses in a
    project that it lets through, and of none of which nobody knows the project."""
    found: dict[str, Served] = {}
    if not files.exists(path):
        return found
    with contextlib.suppress(sqlite3.Error, KnowledgeError), contextlib.closing(_opened(path)) as database:
        if database.execute("PRAGMA user_version").fetchone()[0] < _SCHEMA_VERSION:
            prepare(path)
        for text in dict.fromkeys(texts):
            rows = database.execute(_OF_ONE, (thing_of(text),)).fetchall()
            tally: dict[str, Counter[str]] = {}
            for task, outcome, *_ in rows:
                tally.setdefault(task, Counter())[outcome] += 1
            misled = {
                task: " ".join(why.split())
                for task, outcome, why, project, _ in rows
                if outcome == "misleading" and (tells is None or (project is not None and tells(project)))
            }
            if rows:
                found[text] = Served(tally, sum(steps > 0 for *_, steps in rows), misled)
    return found


def together(some: Iterable[Served]) -> Served:
    """One record of several names of a thing."""
    all_of_it = list(some)
    misled = {task: why for one in all_of_it for task, why in one.misled.items()}
    return Served(merged(one.tally for one in all_of_it), sum(one.earlier for one in all_of_it), misled)


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
    """Delete for good the uses of chunks by their ids or statements by their marks, those of a conversation and in it,
    and those that tell what was purged, as `holds` says; how many. Raises KnowledgeError where the file cannot be
    written."""
    if not files.exists(path):
        return 0
    with _writing(path) as database:
        gone = set()
        for mark in marks:
            gone |= {key for (key,) in database.execute("SELECT trace_id FROM trace_chunk WHERE chunk_id = ?", (mark,))}
            database.execute("DELETE FROM reworded WHERE ? IN (mark, now)", (mark,))
        if session:
            asked = "SELECT id FROM usage_trace WHERE session_id = ?1 OR substr(place, 1, length(?1) + 1) = ?1 || ':'"
            gone |= {key for (key,) in database.execute(asked, (session,))}
        if holds is not None:
            told = database.execute("SELECT id, notes, query, context_summary FROM usage_trace")
            gone |= {key for key, *texts in told if any(map(holds, texts))}
        database.executemany("DELETE FROM usage_trace WHERE id = ?", [(key,) for key in gone])
    with contextlib.closing(_opened(path)) as database:
        database.execute("INSERT INTO trace_words(trace_words) VALUES ('optimize')")
        database.commit()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # nothing of them stays in the log
    return len(gone)


def problem(path: Path) -> str:
    """What is wrong with the file, "" for a sound one and for none."""
    if not files.exists(path):
        return ""
    try:
        with contextlib.closing(_opened(path)) as database:
            said = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
        return "" if said == "ok" else said
    except sqlite3.Error as error:
        return str(error)


def in_words(counts: Mapping[str, int]) -> str:
    """`helped 3×, misled 1×`; "" for nothing."""
    said = {"win": "helped", "partial": "helped in part", "miss": "was beside the point", "misleading": "misled"}
    parts = [f"{words} {counts[name]}×" for name, words in said.items() if counts.get(name)]
    return ", ".join(parts)


def prepare(path: Path) -> None:
    """Make the file, or bring one of an earlier format up to date. Raises KnowledgeError where it cannot be written."""
    with _writing(path):
        pass


def _opened(path: Path) -> sqlite3.Connection:
    """Also to read alone: whoever may not write leaves the files of the log behind."""
    database = sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, timeout=PATIENCE)
    database.execute("PRAGMA secure_delete = ON")
    database.execute("PRAGMA foreign_keys = ON")
    return database


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[sqlite3.Connection]:
    """One transaction: all of it, or nothing."""
    try:
        files.make_folder(path.parent)
        os.close(files.open_for_append(path))  # 0600 from the first byte on
        with contextlib.closing(_opened(path)) as database:
            if database.execute("PRAGMA user_version").fetchone()[0] < _SCHEMA_VERSION:
                database.execute("PRAGMA journal_mode = WAL")  # a long consolidation reads while hooks write
                earlier = "SELECT count(*) FROM sqlite_master WHERE name = 'used'"
                carried = _OF_AN_EARLIER_FORMAT * database.execute(earlier).fetchone()[0]
                database.executescript(
                    f"BEGIN IMMEDIATE; {_TABLES} {carried} PRAGMA user_version = {_SCHEMA_VERSION}; COMMIT;"
                )
            with database:
                database.execute("BEGIN IMMEDIATE")
                yield database
    except (OSError, sqlite3.Error) as error:
        said = getattr(error, "strerror", None) or error
        message = f"how it served cannot be written down: {said}"
        raise KnowledgeError("unwritable", message, path, "'knowledge doctor' looks at it") from error
