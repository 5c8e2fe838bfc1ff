"""What the index of conversations answers: the conversations that words are about, and those of a time and a place.

Words go the way of every other query (`query.rank_threads`), and with them, where there are vectors, meaning: a
conversation is a thread, its turns are the entries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import TYPE_CHECKING

from core.base.choices import TOOLS
from core.search import conversations as stored
from core.search.answering import chosen
from core.search.candidates import AT_PATHS, Filters
from core.search.conversations import HEADING, Held
from core.search.index import Index
from core.search.query import rank_threads
from core.search.store import places_of
from core.search.terms import match_any, query_of
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, Stems, words_of

if TYPE_CHECKING:
    from core.search.conversations import Database
    from core.search.query import Answer, Near

QUOTE_CHARACTERS = 600
"""The characters of a turn that are shown."""
LOOKED_THROUGH = 5000
"""The turns that are looked at of a word that stands in more."""
_NAME = re.compile(r"(?<=[\w,;] )[A-Z]\w+")
LEAST_TITLE = 3
"""The capitalised words above which a question may be written as a title, where capitals tell no names."""
MOST_NAMES = 0.4
"""The share of such words above which it is."""
_DAYS = frozenset({
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "march",
    "april", "may", "june", "july", "august", "september", "october", "november", "december",
})  # fmt: skip
_OF_TOOLS = frozenset(word for name in TOOLS for word in name.split("_"))


@dataclass(frozen=True)
class Found:
    """One conversation with its best turn: the position (from 0, `HEADING` for none), who spoke, the words, the local
    day. `score` compares conversations, `rank` the turn with entries of other kinds; `places` are the positions of all
    turns with words of the query."""

    row: Held
    position: int
    role: str
    text: str
    day: str
    why: tuple[str, ...] = ()
    score: float = 0.0
    rank: float = 0.0
    places: tuple[int, ...] = ()


Allowed = Callable[[str], bool]


def answer(
    database: Database,
    text: str,
    filters: Filters,
    limit: int,
    near: Near | None = None,
    stems: Stems | None = None,
    likely: str = "",
) -> Answer:
    """What words are about: turns and conversations, best first. `near` is what vectors say (`kept_vectors.near`);
    `stems` are those of the caller, so that no word is looked up twice; `likely` as in `rank_threads`."""
    return rank_threads(Index(database, stems or Stems()), text, filters, limit, near, likely)


def conversations(
    database: Database,
    text: str,
    filters: Filters,
    limit: int,
    allowed: Allowed | None = None,
    near: Near | None = None,
    stems: Stems | None = None,
    *,
    likely: str = "",
    quotes: bool = True,
) -> list[Found]:
    """The conversations that a text is about, best first; without words those that the filters let through, the newest
    first. Only those whose folder `allowed` lets through. Without `quotes` a long turn is told by its beginning."""
    filters = within(database, filters, allowed)
    if not text.strip():
        return _newest(database, filters, limit)
    stems = stems or Stems()
    ranked = answer(database, text, filters, limit, near, stems, likely)
    known = stored.held(database, [int(hit.thread) for hit in ranked.threads])
    made: list[Found] = []
    for hit in ranked.threads:
        row = known.get(int(hit.thread))
        if row is None:
            continue
        best = hit.best.seen.row
        if best.position == HEADING:
            position, role, words, day = _opening(database, row)
        else:
            words = beginning(best.text)
            if quotes and len(best.text) > QUOTE_CHARACTERS:
                words = chosen(ranked.query, stems, best.text) or words
            position, role, day = best.position, best.role, best.date
        places = tuple(sorted(at for at in hit.positions if at != HEADING))
        made.append(Found(row, position, role, words, day, hit.why, hit.score, hit.best.score, places))
    return made


def names_in(text: str) -> frozenset[str]:
    """The names in an English question, in lower case: words with a capital within a sentence. Other languages begin
    other words so too. Tools are none: a conversation does not name the one that it was held with; nor are days and
    months, and what looks like a title has none."""
    words = set(words_of(text))
    if words.isdisjoint(STOP_WORDS) or not words.isdisjoint(FOREIGN_STOP_WORDS):
        return frozenset()
    found = _NAME.findall(text)
    title = len(found) > max(LEAST_TITLE, MOST_NAMES * len(text.split()))
    return frozenset() if title or text.isupper() else frozenset(map(str.lower, found)) - _OF_TOOLS - _DAYS


def unsaid(
    database: Database, text: str, stems: Stems, allowed: Allowed, among: Collection[str] | None = None
) -> list[str]:
    """The most telling words of a question, or of those `among` them, that stand in no conversation whose folder is
    `allowed`. Of 139 right answers 59 lack such a word ("although", "simply"); a name, one of 136, and 11 of 18 that
    ask for what was never said."""
    if among is not None and not among:
        return []
    rows = database.execute(f"SELECT id, folder FROM conversations WHERE {stored.READ}").fetchall()
    let = {folder: allowed(folder) for folder in {row[1] for row in rows}}
    threads = {id for id, folder in rows if let[folder]}
    sql = "SELECT thread FROM turns WHERE id IN (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)"
    strange = []
    for term in query_of(text, partial(places_of, database), stems).terms:  # as they are spelled
        if among is None or term.word in among:
            found = database.execute(sql, (match_any([term]), LOOKED_THROUGH)) if term.found else ()
            if term.found < LOOKED_THROUGH and not any(thread in threads for (thread,) in found):
                strange.append(term)
    strange.sort(key=lambda term: -term.worth)
    return [term.word for term in strange[:3]]


def within(database: Database, filters: Filters, allowed: Allowed | None) -> Filters:
    """The filters with the folders that are `allowed`: what is left out must not take the place of what is not."""
    if allowed is None:
        return filters
    folders = (row[0] for row in database.execute("SELECT DISTINCT folder FROM conversations"))
    return replace(filters, folders=tuple(filter(allowed, folders)))


def _scope(filters: Filters) -> tuple[list[str], list[object]]:
    """Conditions on `conversations` for the sources, the folders and the project, with their values."""
    condition, given = filters.of_conversations()
    conditions, values = [condition or "1"], list[object](given)
    if filters.project:
        inside, folders = filters.inside("project")
        conditions.append(inside)
        values += folders
    return conditions, values


def _newest(database: Database, filters: Filters, limit: int) -> list[Found]:
    """Each with the first thing that the user said in those days."""
    conditions, values = _scope(filters)
    inside, bounds = ["position >= 0"], list[object]()
    for part, bound in (("date >= ?", filters.since), ("date < ?", filters.before)):
        if bound:
            inside.append(part)
            bounds.append(bound)
    if filters.roles:
        inside.append(f"role IN ({', '.join('?' * len(filters.roles))})")
        bounds += filters.roles
    fits = " AND ".join(inside)
    if filters.since:
        conditions.append("ended >= ?")  # that is a time in UTC, and days are local: one day more
        values.append(str(date.fromisoformat(filters.since) - timedelta(days=1)))
    if bounds:
        conditions.append(f"EXISTS (SELECT 1 FROM turns WHERE thread = conversations.id AND {fits})")
        values += bounds
    rows = stored.newest(database, " AND ".join(conditions), values, limit)
    return [Found(row, *_opening(database, row, fits, bounds)) for row in rows]


def _opening(
    database: Database, row: Held, fits: str = "position >= 0", values: Sequence[object] = ()
) -> tuple[int, str, str, str]:
    """The first thing that the user said, or that was said at all: position, role, words, day."""
    sql = (
        f"SELECT position, role, text, date FROM turns WHERE thread = ? AND {fits}"
        " ORDER BY role <> 'user', role <> 'assistant', position LIMIT 1"
    )
    found = database.execute(sql, (row.id, *values)).fetchone()
    return (found[0], found[1], beginning(found[2]), found[3]) if found is not None else (HEADING, "", "", "")


def beginning(text: str) -> str:
    """The first words of a long text."""
    if len(text) <= QUOTE_CHARACTERS:
        return text
    return f"{text[: text.rfind(' ', 0, QUOTE_CHARACTERS) + 1 or QUOTE_CHARACTERS].rstrip()} …"


def known_project(database: Database, name: str) -> str:
    """The folder of that path (of any system), around it, or of that name (also as `owner/name`), in which the newest
    conversation was held; else the only clone in `owner__name`; "" for none."""
    wanted = name.replace("\\", "/").strip("/").casefold()
    short = wanted.rpartition("/")[2] if wanted.count("/") == 1 else wanted
    held = projects_held(database)
    for folder in sorted(held, key=lambda folder: not f"/{folder}".casefold().endswith(f"/{wanted}")):
        path = folder.replace("\\", "/").strip("/").casefold()
        if wanted and (wanted == path or short == path.rpartition("/")[2] or wanted.startswith(f"{path}/")):
            return folder
    owner = re.escape(wanted.rpartition("/")[0]) if wanted.count("/") == 1 else r"[^\\/]+"
    clones = [one for one in held if re.search(rf"[\\/]{owner}__{re.escape(short)}$", one, re.IGNORECASE)]
    return clones[0] if short and len(clones) == 1 else ""


def called_alike(database: Database, folder: str) -> list[str]:
    """Other folders with the name of one, in which conversations were held, the newest first."""
    name = folder.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold()
    held = (other for other in projects_held(database) if other != folder)
    return [other for other in held if other.replace("\\", "/").rstrip("/").rpartition("/")[2].casefold() == name]


def in_scope(database: Database, filters: Filters) -> int:
    """How many conversations can be found at these sources, in these folders and in this project."""
    conditions, values = _scope(filters)
    sql = f"SELECT count(*) FROM conversations WHERE {stored.READ} AND {' AND '.join(conditions)}"
    number: int = database.execute(sql, values).fetchone()[0]
    return number


def newest_day(database: Database, filters: Filters) -> str:
    """The local day of the last turn at these sources, in these folders and in this project, whatever days are asked
    for; "" for none."""
    newest = _newest(database, replace(filters, since="", before=""), 1)
    last = "SELECT max(date) FROM turns WHERE thread = ?"
    return str(database.execute(last, (newest[0].row.id,)).fetchone()[0] or "") if newest else ""


def sources_held(database: Database) -> list[str]:
    """The sources of which there are conversations to be found, and the tools of those at paths."""
    sql = f"SELECT DISTINCT iif(source = '{AT_PATHS}', tool, source) FROM conversations WHERE {stored.READ} ORDER BY 1"
    return [row[0] for row in database.execute(sql)]


def projects_held(database: Database) -> list[str]:
    """The folders in which conversations were held, the newest first."""
    sql = "SELECT project FROM conversations WHERE project <> '' GROUP BY project ORDER BY max(ended) DESC"
    return [row[0] for row in database.execute(sql)]


def has_project(database: Database, folder: str) -> bool:
    """Whether a conversation was held in exactly that folder."""
    return database.execute("SELECT 1 FROM conversations WHERE project = ? LIMIT 1", (folder,)).fetchone() is not None


def unread(database: Database) -> int:
    """How many conversations could not be read."""
    number: int = database.execute("SELECT count(*) FROM conversations WHERE problem <> ''").fetchone()[0]
    return number
