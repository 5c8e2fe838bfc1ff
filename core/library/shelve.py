"""A prepared document into the library: one document is one transaction, all of it or nothing.

What was learned of a chunk belongs to its words. When a file has changed, its document becomes a new one that
supersedes the old; chunks whose words are the same move over and keep their id, and with it their usage, profile and
links; so do those that were used, where nearly all of their words stand still. The old document keeps its whole text,
and the chunks that are gone from the new one, with what was learned of these: it comes back with their words.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from rapidfuzz.distance import LCSseq
from sqlalchemy import Connection, delete, func, select, true
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError

from core.base.project import project_root, repository_root
from core.library import records, rows, schema
from core.library.concepts import Names
from core.library.database import Library
from core.library.fetch import is_address
from core.library.prepare import Prepared
from core.library.records import Chunk, Concept, Document, Link, Location, day_of, folded, new_id, sha256_of

T = TypeVar("T")
TRIES = 6
"""How often a transaction is begun when another program was in its way."""
STANDS = 0.9
"""A used chunk of which this share of the words stands in a new one, in their order, has grown or was mended there."""
SHIFTED = 0.5
"""The same share where each line of the chunk stands still in the text: only the borders of chunks have moved. Of the
chunks that 218 edits of our pages changed, 389 of 627 stand so or so; of 283 edits of our code 531 of 835."""
CONCEPTS_OF_DOCUMENT = 8
"""Links from a document to its main concepts."""


@dataclass(frozen=True)
class Shelved:
    """What became of a prepared document. `status`: new, changed, known (the same content from elsewhere), restored
    (it has become again what it was before), unchanged, archived (a user took it out; it stays out). `left`: uses of
    chunks that the former version keeps, since the new text does not have them."""

    id: str
    source: str
    title: str
    content_type: str
    chunks: int
    status: str
    left: int = 0

    def to_json(self) -> dict[str, Any]:
        """A document as `library ingest` and `library list` show it."""
        return {"path" if name == "source" else name: value for name, value in vars(self).items() if name != "left"}


@dataclass
class KnownNames:
    """Every spelling of every concept, kept beside the database while documents come in."""

    names: Names = field(default_factory=Names)
    _rows: int = -1

    def current(self, connection: Connection) -> Names:
        """As the database has them; read again when another program has added some."""
        number = rows.counted(connection, schema.concept_alias)
        if number != self._rows:
            alias = schema.concept_alias.c
            asked = connection.execute(select(alias.folded, alias.concept_id))
            self.names = Names({row.folded: row.concept_id for row in asked})
            self._rows = number
        return self.names

    def added(self, spellings: Mapping[str, str]) -> None:
        """Spellings that this program put in."""
        for name, concept in spellings.items():
            self.names.add(name, concept)
        self._rows += len(spellings)

    def forget(self) -> None:
        """A transaction was taken back: what was added in it is not there."""
        self._rows = -1


def in_turn(library: Library, work: Callable[[Connection], T], refused: Callable[[], None] = lambda: None) -> T:
    """Do the work in one transaction; again, from its beginning, where another program was in the way. Raises what the
    database raises for anything else."""
    for tried in range(1, TRIES + 1):
        try:
            with library.writing() as connection:
                return work(connection)
        except (IntegrityError, OperationalError) as error:
            refused()
            if tried == TRIES or not _passes(error):
                raise
            time.sleep(0.05 * 2**tried)
    raise AssertionError("unreachable")


def _passes(error: DBAPIError) -> bool:
    """Whether the same may succeed a moment later: two made the same row, or waited for each other."""
    code = getattr(error.orig, "sqlstate", None)
    if code is not None:
        return str(code) in ("40001", "40P01", "23505", "55P03") or str(code).startswith("08")
    return isinstance(error, IntegrityError) or "locked" in str(error) or "busy" in str(error)


def shelve(library: Library, prepared: Prepared, sha256: str, state: str, now: datetime, known: KnownNames) -> Shelved:
    """Store one document and where it was found. `sha256` is that of the bytes there, `state` as in `Location`."""
    place = Location(prepared.source, "", sha256, now, state, _project(prepared.source))
    return in_turn(library, lambda connection: _Shelving(connection, prepared, place, known).done(), known.forget)


def _project(source: str) -> str:
    """The root of the repository that a file lies in, "" for none and for a page."""
    folder = "" if is_address(source) else os.path.dirname(os.path.realpath(source))
    return project_root(folder) if folder and repository_root(folder) else ""


@dataclass
class _Shelving:
    """One prepared document on its way into the library, in one transaction."""

    connection: Connection
    prepared: Prepared
    place: Location
    known: KnownNames

    @property
    def now(self) -> datetime:
        """It comes in when it is seen."""
        return self.place.seen_at

    def done(self) -> Shelved:
        """Store it, or what is new of it."""
        prepared = self.prepared
        same, before = self._there()
        if same is not None:
            status, left = self._again(same, before)
            number = rows.counted(self.connection, schema.chunk, schema.chunk.c.document_id == same.id)
            return Shelved(same.id, prepared.source, same.title, same.content_type, number, status, left)
        text, said = prepared.document, prepared.said
        document = Document(
            new_id(), prepared.source, text.content_type, text.title, text.text, self.now, self._profile(),
            said.top_summary, said.key_claims, written_at=text.written_at, language=text.language,
        )  # fmt: skip
        rows.add_document(self.connection, document)
        old = self._superseded(before, document.id)
        left = self._settle(document.id, old)
        status, number = "changed" if before is not None else "new", len(prepared.chunks)
        return Shelved(document.id, prepared.source, document.title, document.content_type, number, status, left)

    def _there(self) -> tuple[Document | None, Document | None]:
        """The document with this content, and the one that its place has until now."""
        content = schema.document.c.content_sha256 == sha256_of(self.prepared.document.text)
        same = next(iter(rows.read(self.connection, schema.document, Document, content)), None)
        at = schema.location.c.source == self.prepared.source
        here = next(iter(rows.read(self.connection, schema.location, Location, at)), None)
        return same, rows.document_of(self.connection, here.document_id) if here is not None else None

    def _again(self, same: Document, before: Document | None) -> tuple[str, int]:
        """The library has this content already: here, elsewhere, or as the former version of something. What became of
        it, and how many uses are left with what was there."""
        if before is not None and before.id == same.id:
            rows.put(self.connection, schema.location, replace(self.place, document_id=same.id))
            return "archived" if same.status == "archived" else "unchanged", 0
        old = self._superseded(before, same.id)
        if same.status != "superseded":
            left = sum(_used(self.connection, old).values())
            return "archived" if same.status == "archived" else "known", left
        rows.change(self.connection, schema.document, same.id, status="active")
        link = schema.link.c
        self.connection.execute(delete(schema.link).where(link.target_id == same.id, link.relation == "supersedes"))
        left = self._settle(same.id, [*old, *rows.chunks_of(self.connection, same.id)])
        return "restored", left

    def _superseded(self, before: Document | None, document_id: str) -> list[Chunk]:
        """The place has another document now; the former one is that of the other places where it is found, or
        superseded where there is none. Its chunks, of which the same words move over."""
        rows.put(self.connection, schema.location, replace(self.place, document_id=document_id))
        if before is None:
            return []
        if elsewhere := rows.locations_of(self.connection, before.id):
            if before.source == self.place.source:
                rows.change(self.connection, schema.document, before.id, source=elsewhere[0].source)
            return []
        rows.change(self.connection, schema.document, before.id, status="superseded")
        link = Link(new_id(), "document", document_id, "document", before.id, "supersedes", self.now)
        rows.add_links(self.connection, [link])
        return rows.chunks_of(self.connection, before.id)

    def _profile(self) -> str:
        """The id of the profile of its source, which is made where there is none."""
        prepared = self.prepared
        c = schema.source_profile.c
        asked = select(c.id).where(c.domain == prepared.domain, c.source_type == prepared.source_type)
        found = self.connection.execute(asked).scalar()
        if found is None:
            record = records.SourceProfile(new_id(), prepared.domain, prepared.source_type, self.now, self.now)
            rows.put_new(self.connection, schema.source_profile, [rows.row_of(record)])
            found = self.connection.execute(asked).scalar_one()
        return str(found)

    # --- chunks -------------------------------------------------------------------------------------------------------

    def _settle(self, document_id: str, old: Sequence[Chunk]) -> int:
        """Give a document its chunks: those of `old` that stand still move here, the others are new. How many uses are
        left with chunks that do not move."""
        d = schema.document.c
        day = day_of(self.connection.execute(select(d.written_at).where(d.id == document_id)).scalar())
        made = [replace(chunk, document_id=document_id, day=day) for chunk in self.prepared.chunks]
        used = _used(self.connection, old)
        stay = _kept(made, old, used)
        settled: list[Chunk] = []
        fresh: list[Chunk] = []
        for chunk, kept in zip(made, stay, strict=True):
            if kept is not None:
                if chunk.content_sha256 != kept.content_sha256:
                    self.connection.execute(delete(schema.embedding).where(schema.embedding.c.chunk_id == kept.id))
                chunk = replace(
                    chunk, id=kept.id, number=kept.number, functional_profile=kept.functional_profile,
                    profiled_traces=kept.profiled_traces, retrieved_count=kept.retrieved_count,
                    last_retrieved=kept.last_retrieved,
                )  # fmt: skip
                rows.change(self.connection, schema.chunk, kept.id, **rows.row_of(chunk))
            else:
                fresh.append(chunk)
            settled.append(chunk)
        rows.add_chunks(self.connection, fresh)
        moved = {chunk.id for chunk in stay if chunk is not None}
        left = [chunk for chunk in old if chunk.id not in moved]
        # Of this very document, which was parted otherwise once, what nobody used goes.
        rows.forget(self.connection, [one.id for one in left if one.document_id == document_id and one.id not in used])
        spoken = self._spoken_of(settled)
        self._linked(document_id, settled, spoken)
        return sum(used.get(chunk.id, 0) for chunk in left if chunk.document_id != document_id)

    # --- concepts -----------------------------------------------------------------------------------------------------

    def _spoken_of(self, settled: Sequence[Chunk]) -> dict[str, Counter[str]]:
        """Chunk -> concept -> how often, for the chunks of the document: of its concepts and of all that are known."""
        names = self.known.current(self.connection)
        self._concepts()
        counts = {chunk.id: names.counted(chunk.content) for chunk in settled}
        for part in rows.in_parts(counts):
            self.connection.execute(delete(schema.mention).where(schema.mention.c.chunk_id.in_(part)))
        found = {(chunk, concept): number for chunk, row in counts.items() for concept, number in row.items()}
        rows.add_mentions(self.connection, found)
        return counts

    def _concepts(self) -> None:
        """Make those that nobody knows yet; give a known one the other names and the description that it lacks."""
        named = self.prepared.said.concepts
        there = rows.concepts_by_name(self.connection, (name for row in named for name in (row.name, *row.aliases)))
        for row in named:
            spellings = [folded(name) for name in (row.name, *row.aliases)]
            old = next((there[name] for name in spellings if name in there), None)
            if old is None:
                named_so = (new_id(), row.name, self.now, self.now, row.aliases, row.description, row.concept_type)
                made = Concept(*named_so, folded=folded(row.name))
                rows.add_concept(self.connection, made)
                came = {name: made.id for name in dict.fromkeys(spellings) if name and name not in there}
            else:
                more = tuple(name for name in (row.name, *row.aliases) if folded(name) not in there)
                came = {folded(name): old.id for name in more if folded(name)}
                made = replace(old, aliases=(*old.aliases, *more), description=old.description or row.description)
                if made != old:
                    values = {"aliases": made.aliases, "description": made.description, "updated_at": self.now}
                    rows.change(self.connection, schema.concept, old.id, **values)
                    alike = [{"folded": name, "concept_id": old.id} for name in came]
                    rows.put_new(self.connection, schema.concept_alias, alike)
            there |= dict.fromkeys(spellings, made)
            self.known.added(came)

    # --- links --------------------------------------------------------------------------------------------------------

    def _linked(self, document_id: str, settled: Sequence[Chunk], spoken: Mapping[str, Counter[str]]) -> None:
        """A section elaborates the one above it, a method its class; a chunk that defines a concept elaborates that;
        the document is related to what it speaks of most. Which concepts stand together the mentions tell."""
        link = schema.link.c
        for part in rows.in_parts(chunk.id for chunk in settled):
            made_before = (link.source_id.in_(part), link.relation == "elaborates", link.created_by == "auto")
            self.connection.execute(delete(schema.link).where(*made_before))
        parents = _parents(self.prepared, settled)
        made = [Link(new_id(), "chunk", below, "chunk", above, "elaborates", self.now) for below, above in parents]
        within: Counter[str] = Counter(concept for counts in spoken.values() for concept in counts)
        named = rows.by_ids(self.connection, schema.concept, Concept, within)
        last_words = {one: record.folded.rpartition(".")[2] for one, record in named.items()}
        for chunk in settled:
            last = folded(re.split(r" > |\.", chunk.heading)[-1]) if chunk.heading else ""
            for concept in spoken[chunk.id]:
                if last and last_words.get(concept) == last:
                    made.append(Link(new_id(), "chunk", chunk.id, "concept", concept, "elaborates", self.now))
        # Of equals that with the longer name, which says more.
        order = sorted(within.items(), key=lambda row: (-row[1], -len(named[row[0]].name), named[row[0]].folded))
        for concept, number in order[:CONCEPTS_OF_DOCUMENT]:
            share = round(number / max(1, len(settled)), 3)
            made.append(Link(new_id(), "document", document_id, "concept", concept, "related_to", self.now, share))
        rows.add_links(self.connection, made)


def _kept(made: Sequence[Chunk], old: Sequence[Chunk], used: Container[str]) -> list[Chunk | None]:
    """For each chunk of a new text the old one that it is still: the one with the same words, else a used one that
    stands in it."""
    pool: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in sorted(old, key=lambda one: one.id not in used):
        pool[chunk.content_sha256].append(chunk)
    found = [waiting.pop(0) if (waiting := pool.get(chunk.content_sha256)) else None for chunk in made]
    left = [chunk for waiting in pool.values() for chunk in waiting if chunk.id in used]
    texts = [chunk.content.split() for chunk in made] if left else []
    whole = " ".join(word for words in texts for word in words)
    places: dict[str, set[int]] = defaultdict(set)
    for at, words in enumerate(texts):
        for word in words if found[at] is None else ():
            places[word].add(at)
    likely: list[tuple[float, int, Chunk]] = []
    for chunk in left:
        stands = all(" ".join(line.split()) in whole for line in chunk.content.split("\n"))
        words, needed = chunk.content.split(), SHIFTED if stands else STANDS
        # Of this many words one must be there; for the rarest few texts come into question.
        rare = sorted(words, key=lambda word: len(places.get(word, ())))[: int(len(words) * (1 - needed)) + 1]
        for at in set[int]().union(*(places.get(word, ()) for word in rare)):
            if (share := LCSseq.similarity(words, texts[at]) / len(words)) >= needed:
                likely.append((share, at, chunk))
    taken: set[str] = set()
    for _share, at, chunk in sorted(likely, key=lambda row: (-row[0], row[1])):
        if found[at] is None and chunk.id not in taken:
            found[at] = chunk
            taken.add(chunk.id)
    return found


def _used(connection: Connection, chunks: Sequence[Chunk]) -> dict[str, int]:
    """Chunks of which something was learned -> how many uses of them are recorded."""
    found = {chunk.id: 0 for chunk in chunks if chunk.functional_profile is not None}
    t = schema.trace_chunk.c
    asked = select(t.chunk_id, func.count()).group_by(t.chunk_id)
    used = rows.among(connection, asked, t.chunk_id, (chunk.id for chunk in chunks))
    return found | {chunk: int(number) for chunk, number in used}


def _parents(prepared: Prepared, settled: Sequence[Chunk]) -> Iterable[tuple[str, str]]:
    """(chunk, the chunk that it goes deeper into): by the way to its heading."""
    border = "." if prepared.document.form == "code" else " > "
    first: dict[str, str] = {}
    for chunk in settled:
        first.setdefault(chunk.heading, chunk.id)
    for chunk in settled:
        above = chunk.heading.rpartition(border)[0]
        while above and above not in first:
            above = above.rpartition(border)[0]
        if above and first[above] != chunk.id:
            yield chunk.id, first[above]


def counts_of(connection: Connection) -> dict[str, int]:
    """What the library holds: documents by status, and the other entities."""
    c = schema.document.c
    by_status = connection.execute(select(c.status, func.count()).group_by(c.status))
    tables = ("chunk", "concept", "mention", "link", "source_profile", "usage_trace")
    others = {
        name: rows.counted(connection, schema.metadata.tables[name], schema.OF_CHUNKS.get(name, true()))
        for name in tables
    }
    return {**{f"documents_{status}": int(number) for status, number in by_status}, **others}
