"""What commands of a project came to: the one that works where another failed, and what cured an error.

By the keys of command and error (`base/command_line.py`), out of the table that the index of conversations keeps; where
that tells no way out, by the line that a harvest kept of this very failure, for as long as the user has it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from core.base.command_line import LONG_TEXT, command_key, goals, is_told

SESSIONS = 400
"""The newest sessions of a project that are read."""
AHEAD = 14
"""The commands behind a failure among which the one that worked is looked for."""
SHOWN = 160
_OF_GIT = re.compile(r"\bgit (?:-[cC] \S+ )*([a-z-]+)")


class Known(NamedTuple):
    """What is known of a command or an error: a line to hand out, what it recommends ("" for a warning alone), and the
    command or the error as the index has it, which is cleared of secrets."""

    line: str
    instead: str
    why: str


class _Row(NamedTuple):
    thread: int
    position: int
    key: str
    words: str
    failed: int
    line: str
    wrong: int
    day: str


_ROWS = (
    "WITH newest AS (SELECT id, ended FROM conversations"
    " WHERE project IN ({}) AND session <> ? ORDER BY ended DESC LIMIT ?)"
    " SELECT c.thread, c.position, c.key, c.words, c.failed, c.line, c.wrong, substr(v.ended, 1, 10) FROM newest v"
    " CROSS JOIN commands c ON c.thread = v.id AND {} ORDER BY v.ended, c.thread, c.rowid"
)

_LESSON = re.compile(
    r"\A`?(?P<command>.{3,200}?)`? fails (?:\d+ times )?\(“(?P<error>.+)”\); "
    r"(?:`?(?P<works>.+?)`?(?: was run instead and)? works\Z)?",
    re.DOTALL,
)
"""A line that a harvest by rules keeps of a failure (`rules/failures.py`), with what works instead or without."""
_LESSONS = "SELECT text, provenance, date, path FROM entries WHERE kind = 'bullet' AND text LIKE '% fails %(“%”); %'"


def before(
    database: sqlite3.Connection, entries: sqlite3.Connection | None, roots: Collection[str], session: str, key: str
) -> Known | None:
    """What is known of a command that is about to be run: that it failed here each time since, and what works."""
    rows = _rows(database, roots, session, "c.key = ?", key)
    told = [row for row in rows if row.failed >= 0]
    if not told or told[-1].failed == 0:
        return None
    last = max((at for at, row in enumerate(told) if row.failed == 0), default=-1)
    failures = told[last + 1 :]
    for row in reversed(failures):
        found = _instead(database, roots, session, row)
        if found is not None:
            failed = f"`{_short(row.words)}` failed here on {row.day} ({_short(row.line)})"
            return Known(f"{failed}; `{_short(found[0])}` works, {found[1]}×", found[0], f"command: {row.key}")
    if (lesson := _lesson(database, entries, roots, session, failures)) is not None:
        return lesson._replace(why=f"command: {key}")
    wrong = [row for row in failures if row.wrong]
    if wrong and last < 0:
        row = wrong[-1]
        failed = f"`{_short(row.words)}` has failed here {len(wrong)}×, last on {row.day}: {_short(row.line)}"
        return Known(failed, "", f"command: {row.key}")
    return None


def after(
    database: sqlite3.Connection,
    entries: sqlite3.Connection | None,
    roots: Collection[str],
    session: str,
    key: str,
    error: str,
) -> Known | None:
    """What is known of an error that has just come: what followed it when the same command passed again, or what was
    run in its place."""
    rows = _rows(database, roots, session, "c.error = ? AND c.error <> ''", error)
    same = [row for row in rows if goals(row.key) & goals(key)]
    for row in reversed(same):
        between: list[_Row] = []
        for other in _behind(database, row):
            if other.key == row.key and other.failed == 0:
                done = [one for one in between if one.key and one.failed == 0]
                if done and all(one.key for one in between) and len(done) <= 2:
                    cure = " && ".join(_short(one.words) for one in done)
                    return Known(f"this error was cured here on {row.day} by `{cure}`", cure, f"error: {error}")
                break
            between.append(other)
        found = _instead(database, roots, session, row)
        if found is not None:
            passed = f"on {row.day} this error was passed by running `{_short(found[0])}` instead"
            return Known(passed, found[0], f"error: {error}")
    lesson = _lesson(database, entries, roots, session, same)
    if lesson is None or not lesson.instead or is_told(lesson.instead, key):
        return None
    return lesson._replace(why=f"error: {error}")


def _lesson(
    database: sqlite3.Connection,
    entries: sqlite3.Connection | None,
    roots: Collection[str],
    session: str,
    failures: Sequence[_Row],
) -> Known | None:
    """What the newest kept line says of one of these failures: it is from the same conversation, tells the same command
    and still stands in its file, and what it recommends has not failed here since."""
    if entries is None or not failures:
        return None
    from core.give.sentences import source_of  # most commands did not fail here
    from core.give.still import standing

    ids = ", ".join(str(row.thread) for row in failures)
    names = dict(database.execute(f"SELECT id, name FROM conversations WHERE id IN ({ids})").fetchall())
    failed = {(names[row.thread], row.key) for row in failures}
    for text, provenance, day, file in entries.execute(f"{_LESSONS} ORDER BY date DESC"):
        source = source_of(provenance)
        if source not in names.values() or not (found := _LESSON.match(standing(file, text))):
            continue
        works = found["works"] or ""
        is_of_these = any(name == source and is_told(found["command"], key) for name, key in failed)
        if is_of_these and not (works and _fails_now(database, roots, session, works)):
            return Known(f"{' '.join(found.string.split())} ({day})", works, "")
    return None


def _fails_now(database: sqlite3.Connection, roots: Collection[str], session: str, told: str) -> bool:
    """Whether a command as a line tells it failed here when it was run last."""
    begins = command_key(told).partition(LONG_TEXT)[0]
    rows = _rows(database, roots, session, "instr(c.key, ?) = 1", begins)
    again = [row for row in rows if row.failed >= 0 and is_told(told, row.key)]
    return bool(again) and again[-1].failed == 1


def _instead(database: sqlite3.Connection, roots: Collection[str], session: str, row: _Row) -> tuple[str, int] | None:
    """The command that worked for the same end in the same session soon after a failure, and how often it did here."""
    for other in _behind(database, row):
        if not other.key:
            if not row.wrong:
                return None  # a file was edited: what passed then need not be another command
            continue
        if other.key == row.key and other.failed == 0:
            return None
        if other.failed == 0 and row.wrong and (_serves(other.key, row.key) or _stands_for(other, row)):
            again = [one for one in _rows(database, roots, session, "c.key = ?", other.key) if one.failed >= 0]
            if again and again[-1].failed == 0:
                return other.words, sum(one.failed == 0 for one in again)
    return None


def _serves(other: str, key: str) -> bool:
    """Whether a command is for the same end as another; what git did with the files of it is not, nor what git does
    else with the same branch."""
    one, two = set(_OF_GIT.findall(other)), set(_OF_GIT.findall(key))
    return bool(one & two if one and two else one == two) and bool(goals(other) & goals(key))


def _stands_for(other: _Row, row: _Row) -> bool:
    """Whether a command has the arguments of one whose program was not found: `python -m shop -h` of `shop -h`."""
    program, _, given = row.key.partition(" ")
    return bool(given) and other.key.endswith(f" {given}") and program in row.line and "not found" in row.line


def _rows(database: sqlite3.Connection, roots: Collection[str], session: str, condition: str, value: str) -> list[_Row]:
    sql = _ROWS.format(", ".join("?" * len(roots)), condition)
    return [_Row(*row) for row in database.execute(sql, (*roots, session, SESSIONS, value))]


def _behind(database: sqlite3.Connection, row: _Row) -> list[_Row]:
    sql = (
        "SELECT thread, position, key, words, failed, line, wrong, '' FROM commands"
        " WHERE thread = ? AND position > ? ORDER BY rowid LIMIT ?"
    )
    return [_Row(*one) for one in database.execute(sql, (row.thread, row.position, AHEAD))]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: max(text.rfind(' ', 0, SHOWN), SHOWN // 2)]} …"
