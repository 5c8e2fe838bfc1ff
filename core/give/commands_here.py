"""What commands of a project came to: the one that works where another failed, and what cured an error.

By the keys of command and error (`base/command_line.py`), out of the table that the index of conversations keeps.
"""

from __future__ import annotations

import re
import sqlite3
from typing import NamedTuple

from core.base.command_line import goals

SESSIONS = 400
"""So many of the newest sessions of a project are asked."""
AHEAD = 14
"""So many commands behind a failure are looked at for what worked."""
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
    " WHERE project = ? AND session <> ? ORDER BY ended DESC LIMIT ?)"
    " SELECT c.thread, c.position, c.key, c.words, c.failed, c.line, c.wrong, substr(v.ended, 1, 10) FROM newest v"
    " CROSS JOIN commands c ON c.thread = v.id AND {} ORDER BY v.ended, c.thread, c.rowid"
)


def before(database: sqlite3.Connection, project: str, session: str, key: str) -> Known | None:
    """What is known of a command that is about to be run: that it failed here each time since, and what works."""
    rows = _rows(database, project, session, "c.key = ?", key)
    told = [row for row in rows if row.failed >= 0]
    if not told or told[-1].failed == 0:
        return None
    last = max((at for at, row in enumerate(told) if row.failed == 0), default=-1)
    failures = told[last + 1 :]
    for row in reversed(failures):
        found = _instead(database, project, session, row)
        if found is not None:
            failed = f"`{_short(row.words)}` failed here on {row.day} ({_short(row.line)})"
            return Known(f"{failed}; `{_short(found[0])}` works, {found[1]}×", found[0], f"command: {row.key}")
    wrong = [row for row in failures if row.wrong]
    if wrong and last < 0:
        row = wrong[-1]
        failed = f"`{_short(row.words)}` has failed here {len(wrong)}×, last on {row.day}: {_short(row.line)}"
        return Known(failed, "", f"command: {row.key}")
    return None


def after(database: sqlite3.Connection, project: str, session: str, key: str, error: str) -> Known | None:
    """What is known of an error that has just come: what followed it when the same command passed again, or what was
    run in its place."""
    rows = _rows(database, project, session, "c.error = ? AND c.error <> ''", error)
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
        found = _instead(database, project, session, row)
        if found is not None:
            passed = f"on {row.day} this error was passed by running `{_short(found[0])}` instead"
            return Known(passed, found[0], f"error: {error}")
    return None


def _instead(database: sqlite3.Connection, project: str, session: str, row: _Row) -> tuple[str, int] | None:
    """The command that worked for the same end in the same session soon after a failure, and how often it did here."""
    for other in _behind(database, row):
        if not other.key:
            if not row.wrong:
                return None  # a file was edited: what passed then need not be another command
            continue
        if other.key == row.key and other.failed == 0:
            return None
        if other.failed == 0 and row.wrong and (_serves(other.key, row.key) or _stands_for(other, row)):
            again = [one for one in _rows(database, project, session, "c.key = ?", other.key) if one.failed >= 0]
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


def _rows(database: sqlite3.Connection, project: str, session: str, condition: str, value: str) -> list[_Row]:
    return [_Row(*row) for row in database.execute(_ROWS.format(condition), (project, session, SESSIONS, value))]


def _behind(database: sqlite3.Connection, row: _Row) -> list[_Row]:
    sql = (
        "SELECT thread, position, key, words, failed, line, wrong, '' FROM commands"
        " WHERE thread = ? AND position > ? ORDER BY rowid LIMIT ?"
    )
    return [_Row(*one) for one in database.execute(sql, (row.thread, row.position, AHEAD))]


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: max(text.rfind(' ', 0, SHOWN), SHOWN // 2)]} …"
