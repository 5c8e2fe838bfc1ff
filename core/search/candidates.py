"""Which entries may be meant at all, by index, and what stands beside them. Ranking them comes after."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from core.search.store import COLUMNS, TAG_MARK, Row
from core.search.terms import Query, Term, match_all, match_any, match_prefix
from core.search.when import match_dates
from core.search.words import folded

if TYPE_CHECKING:
    import sqlite3

SMALL = 20_000
"""The entries up to which all are looked at; in a larger index the rarest words of a query choose."""
READABLE = 5_000
"""The entries up to which a query may read every text."""
MIN_PLACES = 80
"""In a large index what has one of the rarest words is ranked: as many of these words as have this many places."""
POSTINGS = 1_000
"""The most places that these words may have."""
PAIRED = 4
"""The next rarest words, of which an entry must have two."""
RANKED_IN_SMALL_INDEX, RANKED_IN_LARGE_INDEX = 500, 30
"""How many candidates are ranked, unless twice the limit is more."""
AROUND = 2
"""How far to each side of a hit its neighbours are looked at."""
BATCH = 400
AT_PATHS = "files"
"""The source of conversations at paths that the user named, whose tool is told by their format alone."""
NEAR = 1.0
"""The standard deviations above the mean from which an entry that is near by vector is a candidate."""

_ALL = ", ".join(f"e.{name.strip()}" for name in COLUMNS.split(","))


@dataclass(frozen=True)
class Filters:
    """What a hit must be; "" and () ask for nothing.

    - `kinds`: of one of them.
    - `tags`: with every one of them.
    - `since`: not older than this day (YYYY-MM-DD).
    - `before`: older than this day.
    - `project`: of this folder or one below it.
    - `threads`: of one of these conversations or documents (None: of any).

    Of turns of conversations alone:

    - `roles`: said by one of them.
    - `sources`: found at one of them.
    - `folders`: held in exactly one of these folders (None: in any).
    """

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: str = ""
    project: str = ""
    before: str = ""
    roles: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    folders: tuple[str, ...] | None = None
    threads: tuple[str, ...] | None = None

    def inside(self, column: str) -> tuple[str, list[str]]:
        """A condition for being in the project, with its values."""
        folder = self.project.rstrip("/\\") or self.project
        values = [folder, str(len(folder) + 1), f"{folder}/", f"{folder}\\"]
        return f"({column} = ? OR substr({column}, 1, ?) IN (?, ?))", values

    def sql(self) -> tuple[str, list[str]]:
        """Conditions on `e`, each after an AND, with their values."""
        parts: list[str] = []
        values: list[str] = []
        if self.kinds:
            parts.append(f"e.kind IN ({', '.join('?' * len(self.kinds))})")
            values += self.kinds
        for tag in self.tags:
            parts.append("instr(e.tags, ?)")
            values.append(f"{TAG_MARK}{tag.casefold()}{TAG_MARK}")
        if self.since:
            parts.append("e.date >= ?")
            values.append(self.since)
        if self.before:
            parts.append("e.date < ? AND e.date <> ''")
            values.append(self.before)
        if self.roles:
            parts.append(f"e.role IN ({', '.join('?' * len(self.roles))})")
            values += self.roles
        condition, wanted = self.of_conversations()
        if condition:
            parts.append(f"e.thread IN (SELECT id FROM conversations WHERE {condition})")
            values += wanted
        if self.threads is not None:
            parts.append("e.thread IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self.threads))
        if self.project:
            condition, folders = self.inside("e.project")
            parts.append(condition)
            values += folders
        return "".join(f" AND {part}" for part in parts), values

    def of_conversations(self) -> tuple[str, list[str]]:
        """A condition on `conversations` for sources and folders, "" for none, and its values. A conversation at a path
        that the user named, such as a copy, is of the tool whose format it has, too."""
        parts: list[str] = []
        values: list[str] = []
        if self.sources:
            marks = ", ".join("?" * len(self.sources))
            parts.append(f"(source IN ({marks}) OR (source = '{AT_PATHS}' AND tool IN ({marks})))")
            values += [*self.sources, *self.sources]
        if self.folders is not None:
            parts.append(f"folder IN ({', '.join('?' * len(self.folders))})")
            values += self.folders
        return " AND ".join(parts), values


EVERYTHING = Filters()


@dataclass
class Candidates:
    """Rows by id; `how` says for those that did not come by their words how they came: `prefix`, `part` of a word,
    `dated` as asked, `beside` a hit, `vector`."""

    rows: dict[int, Row]
    how: dict[int, str]

    def add(self, row: Row, how: str = "") -> None:
        """A row that is there already stays as it came."""
        if row.id not in self.rows:
            self.rows[row.id] = row
            if how:
                self.how[row.id] = how


def find(database: sqlite3.Connection, query: Query, filters: Filters, limit: int) -> Candidates:
    """All candidates for a query; at least `limit` where there are as many."""
    found = Candidates({}, {})
    gather(
        found,
        query,
        limit,
        lambda match, most, how: _take(database, found, match, filters, most, how),
        lambda most: _take_parts(database, found, query, filters, most),
    )
    return found


def gather(
    found: Candidates,
    query: Query,
    limit: int,
    take: Callable[[str, int, str], None],
    take_parts: Callable[[int], None],
) -> None:
    """Look for what shares words with a query, was written on a date that it names, has a word that begins so, or its
    letters inside words. `take` adds the best rows that match, with how they came; `take_parts` those with the
    letters."""
    wanted = max(RANKED_IN_SMALL_INDEX if query.entries <= SMALL else RANKED_IN_LARGE_INDEX, limit * 2)
    terms = [term for term in query.terms if term.found]
    if terms:
        for match in map(match_choice, choices(query, terms)):
            take(match, wanted, "")
            if len(found.rows) >= limit:
                break
    dated = match_dates(query.moments)
    if dated:
        both = [f"({dated}) AND ({match_any(terms)})"] if terms else []
        for match in (*both, dated):
            take(match, wanted // 2, "dated")
    if len(found.rows) < limit:
        lost = [term for term in query.terms if not term.found and len(term.word) > 2]
        if lost:
            take(match_prefix(lost), wanted, "prefix")
    if query.literal and spelling_is_open(query, found, limit):
        take_parts(wanted)


class Choice(NamedTuple):
    """What an entry must have: any of these terms, or all of one of these groups."""

    terms: list[Term]
    groups: list[tuple[Term, ...]]


def choices(query: Query, terms: Sequence[Term]) -> list[Choice]:
    """What to ask the full-text table, one after the other until enough was found. Ranking costs the table most, so a
    large index ranks what has one of the rarest words, or two of the others; what has a frequent word alone comes last.
    """
    rare = sorted(terms, key=lambda term: (term.found, term.word))
    if query.entries <= SMALL or len(terms) == 1 or sum(term.found for term in terms) <= MIN_PLACES:
        return [Choice(list(terms), [])]
    chosen: list[Term] = []
    places = 0
    for term in rare:
        if places >= MIN_PLACES or places + term.found > POSTINGS:
            break
        chosen.append(term)
        places += term.found
    rest = rare[len(chosen) : len(chosen) + PAIRED]
    first = Choice(chosen, list(combinations(rest, 2)))
    return [first, Choice(rare, [])] if any(first) else [Choice(rare, [])]


def match_choice(choice: Choice) -> str:
    """A choice for the full-text table."""
    groups = [f"({match_all(group)})" for group in choice.groups]
    return " OR ".join([match_any(choice.terms), *groups] if choice.terms else groups)


def _take(
    database: sqlite3.Connection, found: Candidates, match: str, filters: Filters, wanted: int, how: str = ""
) -> None:
    condition, values = filters.sql()
    # `+`: SQLite keeps the best while it goes through the matches; the table's own sorting makes a statement each time.
    if condition:
        sql = (
            f"SELECT {_ALL} FROM words JOIN entries e ON e.id = words.rowid WHERE words MATCH ?{condition}"
            " ORDER BY +words.rank LIMIT ?"
        )
    else:  # the rows are fetched for the best alone; CROSS keeps them in their order
        sql = (
            f"SELECT {_ALL} FROM (SELECT rowid FROM words WHERE words MATCH ? ORDER BY +rank LIMIT ?) best"
            " CROSS JOIN entries e ON e.id = best.rowid"
        )
    for row in database.execute(sql, (match, *values, wanted)):
        found.add(Row(*row), how)


def spelling_is_open(query: Query, found: Candidates, limit: int) -> bool:
    """Whether entries should be compared letter by letter: nothing found so far has the query as it was typed, and
    there is room for more, or the spelling matters, or comparing costs nothing."""
    room = len(found.rows) < limit
    if room and (query.entries <= READABLE or len(query.words) < 2):
        return True
    if not room and not query.exact and query.entries > READABLE:
        return False
    return not any(query.literal in folded(f"{row.text}\n{row.title}") for row in found.rows.values())


def _take_parts(database: sqlite3.Connection, found: Candidates, query: Query, filters: Filters, wanted: int) -> None:
    """Entries that have the letters of the query anywhere, inside words too."""
    literal = query.literal
    condition, values = filters.sql()
    # Where the query has several words, the first may be the end of a word and the last the beginning of one; those
    # between stand there whole, so the full-text table narrows it down. A stem keeps the first two letters of its word.
    inner, last = query.words[1:-1], query.words[-1][:2] if len(query.words) > 1 else ""
    narrow: list[str] = []
    if query.entries > READABLE and len(query.words) > 1:
        match = " + ".join([f'"{word}"' for word in inner] + [f'"{last}" *'])
        condition = f" AND e.id IN (SELECT rowid FROM words WHERE words MATCH ?){condition}"
        narrow = [match]
    if literal.isascii() and " " not in literal:
        # ASCII letters fold in SQLite itself; only in other text may something else fold to them, such as a sharp s.
        place = (
            "(instr(lower(e.text), ?1) OR instr(lower(e.title), ?1)"
            " OR (length(e.text) <> length(CAST(e.text AS BLOB)) AND folded_has(e.text, ?1)))"
        )
    else:
        place = "(folded_has(e.text, ?1) OR folded_has(e.title, ?1))"
    database.create_function("folded_has", 2, _folded_has, deterministic=True)
    sql = f"SELECT {_ALL} FROM entries e WHERE {place}{condition} ORDER BY e.id LIMIT {int(wanted)}"
    for row in database.execute(sql, (literal, *narrow, *values)):
        found.add(Row(*row), "part")


def _folded_has(text: str, literal: str) -> bool:
    return literal in folded(text)


def nearest(
    database: sqlite3.Connection, found: Candidates, near: Mapping[int, float], filters: Filters, wanted: int
) -> None:
    """Add the nearest entries by vector that pass the filters."""
    condition, values = filters.sql()
    ranked = sorted((number for number, how in near.items() if how >= NEAR), key=near.__getitem__, reverse=True)
    room = wanted
    for start in range(0, len(ranked), BATCH):
        part = ranked[start : start + BATCH]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT {_ALL} FROM entries e WHERE e.id IN ({marks}){condition}"
        rows = {row[0]: Row(*row) for row in database.execute(sql, (*part, *values))}
        for number in part:
            if number in rows and room:
                room -= 1
                found.add(rows[number], "vector")
        if not room:
            return


class Place(NamedTuple):
    """Where a turn stands in its talk. `at` counts what people and assistants said; what tools did in between has a
    fraction, so that it stands beside nothing. `exchange` is the number of the request that it belongs to; `closing`
    says that an assistant ends with it, or comes to rest until the user speaks."""

    at: float
    exchange: int
    closing: bool


Talk: TypeAlias = Mapping[int, Place]
"""The turns of one thread in which tools work too, by their position."""


def talks(database: sqlite3.Connection, found: Candidates) -> dict[str, Talk]:
    """The talks of all candidates that have roles, by thread."""
    threads = {row.thread for row in found.rows.values() if row.role and row.thread}
    return {thread: _talk(database, thread) for thread in threads}


def _talk(database: sqlite3.Connection, thread: str) -> Talk:
    sql = "SELECT position, role FROM turns WHERE thread = ? AND position >= 0 ORDER BY position"
    rows = database.execute(sql, (thread,)).fetchall()
    places: dict[int, Place] = {}
    said, tools, exchange = 0, 0, 0
    for number, (position, role) in enumerate(rows):
        said, tools = (said, tools + 1) if role == "tool" else (said + 1, 0)
        exchange += role == "user"
        rests = number + 1 == len(rows) or rows[number + 1][1] == "user"
        places[position] = Place(said + tools / (tools + 1), exchange, role == "assistant" and rests)
    return places


def lengths(database: sqlite3.Connection, threads: Collection[str]) -> dict[str, int]:
    """How many characters were said in each of these threads. The index of conversations counts them beforehand: they
    may be many megabytes."""
    sql = "SELECT coalesce(sum(characters), 0) FROM said WHERE thread = ?"
    return {thread: database.execute(sql, (thread,)).fetchone()[0] for thread in threads}


def neighbours(
    database: sqlite3.Connection,
    found: Candidates,
    hits: Iterable[Row],
    talks: Mapping[str, Talk],
) -> None:
    """Add what stands beside the given hits in their threads; in a talk also what was said before and after them, past
    what tools did in between."""
    said = {thread: [at for at, place in talk.items() if place.at == int(place.at)] for thread, talk in talks.items()}
    for hit in hits:
        if hit.alone:
            continue
        spoken = said.get(hit.thread, [])
        at = bisect_left(spoken, hit.position)
        beside = range(hit.position - AROUND, hit.position + AROUND + 1)
        wanted = {*beside, *spoken[max(0, at - AROUND) : at + AROUND + 1]}
        marks = ", ".join("?" * len(wanted))
        sql = f"SELECT {COLUMNS} FROM entries WHERE thread <> '' AND thread = ? AND position IN ({marks})"
        for row in database.execute(sql, (hit.thread, *wanted)):
            found.add(Row(*row), "beside")
