"""Which chunks have a phrase, for a concept that a later document brings.

Of a library in a file the search index knows it, as far as it had them when it was opened; what was stored since, by
any program, is held in memory. PostgreSQL is asked itself.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy import Connection, func, select, text

from core.library import schema
from core.library.database import Library
from core.search.index import Index
from core.search.store import DOCUMENT
from core.search.words import TOKENIZER, spaced

_c = schema.chunk.c
_SERVER = text("SELECT id FROM chunk WHERE words @@ phraseto_tsquery('english', :phrase) LIMIT :most")
_INDEX = (
    "SELECT e.key FROM words JOIN entries e ON e.id = words.rowid "
    "WHERE words MATCH ? AND e.kind = ? ORDER BY words.rowid LIMIT ?"
)


class Phrases:
    """Finds chunks by a phrase. `newest` is the number up to which `index` has them; without an index, none."""

    def __init__(self, index: Index | None = None, newest: int = 0) -> None:
        self._index, self._begin, self._newest = index, newest, newest
        self._since = sqlite3.connect(":memory:")
        self._since.execute(f"CREATE VIRTUAL TABLE said USING fts5(content, content='', tokenize=\"{TOKENIZER}\")")

    def forget(self) -> None:
        """A transaction was taken back: what was stored in it is not there."""
        self._newest = self._begin
        self._since.execute("INSERT INTO said(said) VALUES ('delete-all')")

    def chunks(self, connection: Connection, words: Sequence[str], most: int) -> list[str]:
        """The ids of chunks in which these words stand one after the other, up to `most` of those that the index has
        and of the others."""
        phrase = " ".join(words)
        if connection.dialect.name == "postgresql":
            return list(connection.execute(_SERVER, {"phrase": phrase, "most": most}).scalars())
        stored = select(_c.number, _c.content).where(_c.number > self._newest).order_by(_c.number)
        for number, content in connection.execute(stored).all():
            self._since.execute("INSERT INTO said(rowid, content) VALUES (?, ?)", (number, spaced(content)))
            self._newest = number
        match = f'"{spaced(phrase)}"'
        found = self._since.execute("SELECT rowid FROM said WHERE said MATCH ? LIMIT ?", (match, most))
        numbers = [row[0] for row in found]
        ids = list(connection.execute(select(_c.id).where(_c.number.in_(numbers)).order_by(_c.number)).scalars())
        if self._index is not None:
            ids += [row[0] for row in self._index.database.execute(_INDEX, (f"text : {match}", DOCUMENT, most))]
        return ids


@contextlib.contextmanager
def phrases_of(library: Library, opened: Callable[[], Index]) -> Iterator[Phrases]:
    """Phrases of a library, by the search index that `opened` opens where it is in a file."""
    if not library.is_sqlite:
        yield Phrases()
        return
    with library.reading() as connection:  # before the index looks: what is stored meanwhile is held in memory
        newest = connection.execute(select(func.max(_c.number))).scalar() or 0
    with contextlib.closing(opened()) as index:
        yield Phrases(index, newest)
