"""A small searchable store for the tests: text files, one entry a line; and an embedder that knows three topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.base.entry import Entry, SearchSource
from core.base.result import KnowledgeError
from core.search import store
from core.search.candidates import EVERYTHING, Filters
from core.search.index import Index, open_index
from core.search.query import Hit, search


@dataclass
class Shelf:
    """Files in a folder and an index in another. A line is `text`, or `kind|date|project|tag,tag|text`."""

    folder: Path

    @property
    def cache(self) -> Path:
        return self.folder / "cache"

    def write(self, name: str, *lines: str) -> Path:
        path = self.folder / f"{name}.txt"
        path.write_text("\n".join(lines), encoding="utf-8", newline="")
        return path

    def sources(self) -> list[SearchSource]:
        return [
            SearchSource(path.stem, path, lambda data, name=path.stem: entries(name, data))
            for path in sorted(self.folder.glob("*.txt"))
        ]

    def open(self, **named: object) -> Index:
        return open_index(self.cache, self.sources, **named)  # type: ignore[arg-type]

    def find(self, query: str, filters: Filters = EVERYTHING, limit: int = 10) -> list[Hit]:
        index = self.open()
        try:
            return search(index, query, filters, limit)
        finally:
            index.close()

    def texts(self, query: str, limit: int = 10) -> list[str]:
        return [hit.entry.text for hit in self.find(query, limit=limit)]


@contextmanager
def indexed(folder: Path, rows: Sequence[Entry]) -> Iterator[Index]:
    """An index of these entries, all of one file."""
    path = folder / "rows"
    path.write_text("x", encoding="utf-8")
    index = open_index(folder / "cache", lambda: [SearchSource("rows", path, lambda _: rows)])
    try:
        yield index
    finally:
        index.close()


def entries(name: str, data: bytes) -> Sequence[Entry]:
    """The rows of one file of a shelf; a file that says `damaged` holds none."""
    if data == b"damaged":
        raise KnowledgeError("damaged", f"{name} is damaged")
    found = []
    for at, line in enumerate(data.decode("utf-8", "replace").split("\n")):
        parts = line.split("|", 4) if line.count("|") >= 4 else ["bullet", "", "", "", line]
        tags = tuple(tag for tag in parts[3].split(",") if tag)
        source = f"[from: {name}, {parts[1] or '2026-06-01'}]"
        found.append(Entry(parts[0], f"{name}:{at}", "", parts[4], parts[1], source, tags, parts[2]))
    return found


def answers(shelf: Shelf, queries: Sequence[str]) -> list[list[dict[str, object]]]:
    """What a user sees for each query."""
    return [[hit.to_json() for hit in shelf.find(query)] for query in queries]


def entries_of(index: Index) -> list[Entry]:
    """Everything in the index, in an order of its own."""
    return sorted(store.Row(*row).entry() for row in index.database.execute(f"SELECT {store.COLUMNS} FROM entries"))


TOPICS = (("car", "automobile", "vehicle"), ("soup", "broth", "cook"), ("night", "dark", "moon"))


class Topics:
    """An embedder that knows three topics, and keeps what it was given; `act` is done each time."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.act: Callable[[], object] = lambda: None

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.texts += texts
        self.act()
        return [[float(sum(word in text.lower() for word in topic)) for topic in TOPICS] + [0.1] for text in texts]
