"""A small library for tests: sources, documents of a few chunks, what was said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

from core.library import rows, schema
from core.library.database import Library
from core.library.records import Chunk, Concept, Document, Link, Retrieval, SourceProfile, UsageTrace, day_of, new_id
from core.library.searched import sources
from core.library.use import usage
from core.library.use.consolidate import Consolidation, consolidate
from core.library.use.retrieve import Retrieved, retrieve
from core.search import kept_vectors
from core.search.index import open_index
from core.search.kept_vectors import embed_one
from tests.library_place import NOW


def asked(library: Library, query: str, **more: Any) -> Retrieved:
    """What is retrieved for a question, from a library in a file through a search index of it, whose vectors an
    `embedder` makes."""
    if library.path is None:
        return retrieve(library, query, index=None, **more)
    folder, embedder = library.path.parent / "search", more.pop("embedder", None)
    with closing(open_index(folder, lambda: sources(library.path))) as index:
        near = None
        if embedder is not None:
            kept_vectors.build(folder, embedder.model, embedder.embed)
            near = kept_vectors.near(index.database, embedder.model, embed_one(query, embedder.embed))
        return retrieve(library, query, index=index, near=near, **more)


class Shelf:
    """Puts things into a library, and remembers their ids by name. Its clock moves only when it is told to."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.now = NOW
        self.sources: dict[str, str] = {}
        self.documents: dict[str, str] = {}
        self.chunks: dict[str, str] = {}
        self.concepts: dict[str, str] = {}

    def source(self, domain: str, kind: str = "forum") -> str:
        """A source, made once."""
        if domain not in self.sources:
            self.sources[domain] = new_id()
            record = SourceProfile(self.sources[domain], domain, kind, self.now, self.now)
            with self.library.writing() as connection:
                rows.put(connection, schema.source_profile, record)
        return self.sources[domain]

    def document(
        self,
        title: str,
        texts: Mapping[str, str] | Sequence[str],
        source: str = "reddit.com/r/python",
        written: datetime | None = None,
        kind: str = "article",
        **more: str,
    ) -> list[str]:
        """A document whose chunks are these texts, by name where they have one; the ids of the chunks. `more` are
        fields of each chunk."""
        named = texts if isinstance(texts, Mapping) else {f"{title} {at}": text for at, text in enumerate(texts)}
        raw = "\n".join(named.values())
        document = self.documents[title] = new_id()
        begins, chunks = 0, []
        for at, (name, text) in enumerate(named.items()):
            self.chunks[name] = new_id()
            summary = text.split(". ")[0][:120]
            chunks.append(
                Chunk(
                    self.chunks[name], document, text, at, summary, token_count=len(text) // 4, begins=begins,
                    ends=begins + len(text), day=day_of(written), **more,  # type: ignore[arg-type]
                )
            )  # fmt: skip
            begins += len(text) + 1
        place = self.source(source)
        record = Document(document, f"https://{source}/{title}", kind, title, raw, self.now, place, written_at=written)
        with self.library.writing() as connection:
            rows.add_document(connection, record)
            rows.add_chunks(connection, chunks)
        return [chunk.id for chunk in chunks]

    def concept(self, name: str, *chunks: str, kind: str = "topic", aliases: tuple[str, ...] = ()) -> str:
        """A concept that stands in these chunks (by name)."""
        self.concepts[name] = new_id()
        record = Concept(self.concepts[name], name, self.now, self.now, aliases, concept_type=kind)
        with self.library.writing() as connection:
            rows.add_concept(connection, record)
            rows.add_mentions(connection, {(self.chunks[chunk], record.id): 1 for chunk in chunks})
        return record.id

    def used(
        self, *chunks: str, task: str = "debugging", outcome: str = "win", query: str = "", notes: str = "",
        session: str = "",
    ) -> UsageTrace:  # fmt: skip
        """One use of these chunks (by name), a minute after the last."""
        self.now += timedelta(minutes=1)
        ids = tuple(self.chunks[name] for name in chunks)
        return usage.record(
            self.library,
            UsageTrace(new_id(), ids, task, outcome, self.now, session, query or "a task", query, notes, project=""),
        )

    def consolidate(self, **more: Any) -> Consolidation:
        """What was learned becomes part of the library."""
        return consolidate(self.library, now=self.now, **more)

    def link(self, one: str, other: str, relation: str, **more: Any) -> None:
        """Two chunks (by name) belong together."""
        ends = ("chunk", self.chunks[one], "chunk", self.chunks[other])
        with self.library.writing() as connection:
            rows.add_links(connection, [Link(new_id(), *ends, relation, self.now, **more)])

    def ask(self, query: str, **more: Any) -> Retrieved:
        """What is retrieved for a question."""
        return asked(self.library, query, now=self.now, **more)

    def unfound(self, query: str) -> None:
        """A question that was asked, and to which nothing was found."""
        with self.library.writing() as connection:
            rows.add_retrieval(connection, Retrieval(new_id(), query, "debugging", self.now), [])

    def names(self, found: Retrieved) -> list[str]:
        """The names of the chunks in an answer, best first."""
        by_id = {key: name for name, key in self.chunks.items()}
        return [by_id[dossier.chunk.id] for dossier in found.dossiers]
