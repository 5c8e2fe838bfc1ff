"""Answers a question with dossiers: candidates of all strategies, one score, what each has been good for.

What the words, their places and the vectors say is ranked as `core/search` ranks it, and stays so in a library that
nothing was learned in. Earlier uses, counted by kind of task, and links that a user or use made, add to
that score. Concepts have not been shown to know better than the words: what these bring stands behind. It chooses
candidates; who reads the dossiers decides what to trust.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, select, update

from core.base.choices import TASK_TYPES
from core.base.result import KnowledgeError, attempt
from core.experience.kinds import counts_for, infer_task_type, speaks_for, total
from core.experience.record import misleads, warned_last
from core.library import schema
from core.library.database import Library, cause_of, database_errors
from core.library.places import standing_at, without_file
from core.library.records import Chunk, Document, Retrieval, SourceProfile, new_id
from core.library.rows import add_retrieval, among, by_ids, columns_of, record_of, told_links
from core.library.use import candidates, strategies
from core.library.use.dossier import COMPACT, FULL, RECENT, Dossier, level_of, shown_traces
from core.library.use.postgresql import Embedder, fill_vectors
from core.library.use.postgresql import near as near_there
from core.library.use.usage import by_earlier_use, histories, newest, tallies
from core.search.answering import chosen
from core.search.candidates import Candidates
from core.search.index import Index
from core.search.query import Ranked, rank_found
from core.search.store import Row
from core.search.terms import Query
from core.search.words import Stems, storable

LIMIT, MAX_LIMIT = 10, 100
QUERY_CHARACTERS = 4_000
BROUGHT = 40
"""This many of the best of a strategy become candidates, whatever their words."""
SEEDS = 8
"""The best hits from which the graph is walked."""
POOL = 100
"""This many of the best are weighed by age and by what they have been good for."""
USAGE, GRAPH, NEW = 2.0, 0.6, 2.0
"""What the full score of a strategy adds to that of the words, which are logarithms of odds; NEW is that of time where
the question asks for what is new. Else the age only decides between equals."""


@dataclass(frozen=True)
class Retrieved:
    """The answer: dossiers, best first, of a question that is logged under `id` ("" where it is not)."""

    id: str
    query: str
    task_type: str
    inferred: bool
    dossiers: tuple[Dossier, ...]
    session_id: str = ""
    warnings: tuple[str, ...] = ()

    def to_json(self, size: str = FULL) -> list[dict[str, Any]]:
        """The list of `--json`; each row names the retrieval that it belongs to."""
        about = {"retrieval": self.id or None, "task_type": self.task_type}
        return [{**dossier.to_json(size), **about} for dossier in self.dossiers]


@cache
def stems() -> Stems:
    """The tokenizer with the stems that it knows, one for the process."""
    return Stems()


def retrieve(
    library: Library,
    query: str,
    *,
    now: datetime,
    index: Index | None,
    task_type: str = "",
    limit: int = LIMIT,
    near: Mapping[int, float] | None = None,
    embedder: Embedder | None = None,
    session_id: str = "",
    project: str = "",
    log: bool = True,
) -> Retrieved:
    """The best chunks for a question, each with its dossier.

    `index` is the search index that has the documents of a library in a file, and `near` what its vectors say of the
    question; None of one in PostgreSQL, which is asked itself, with an `embedder` by meaning too: where that fails, a
    warning says so. `task_type` "" is inferred from the question. Logged, unless told otherwise: what was retrieved and
    never used, or asked for and never found, is what `reflect` and `consolidate` learn from.
    """
    query = storable(query[:QUERY_CHARACTERS]).strip()
    if task_type and task_type not in TASK_TYPES:
        raise KnowledgeError("bad-task", f"{task_type!r} is no kind of task", hint=f"one of {', '.join(TASK_TYPES)}")
    inferred, task_type = not task_type, task_type or infer_task_type(query)
    limit = min(max(limit, 1), MAX_LIMIT)
    warnings: list[str] = []
    if embedder is not None and query:
        found = attempt(_near_of_team, library, query, embedder)
        if isinstance(found, KnowledgeError):
            warnings.append(f"{found.error} Words alone were compared.")
        else:
            near = found.value
    with library.reading() as connection:
        asked = candidates.understand(connection, index, query, stems())
        order = _order(connection, index, asked, task_type, near or {}, limit, now)[:limit] if query else []
        dossiers = _dossiers(connection, order, task_type, asked)
    made = Retrieved("", query, task_type, inferred, tuple(dossiers), session_id, tuple(warnings))
    if not log or not query:
        return made
    try:
        return _logged(library, made, project, now)
    except database_errors() as error:  # somebody who may only read, or a writer that takes long
        warning = f"That this was asked cannot be remembered: {cause_of(error)}"
        return replace(made, warnings=(*made.warnings, warning))


# --- candidates -------------------------------------------------------------------------------------------------------


def _near_of_team(library: Library, query: str, embedder: Embedder) -> Mapping[int, float]:
    """How near chunks in PostgreSQL are, once those have vectors that lacked them."""
    fill_vectors(library, embedder)
    with library.reading() as connection:
        return near_there(connection, query, embedder)


def _ranked(query: Query, found: Candidates, near: Mapping[int, float]) -> list[Ranked]:
    """Ranked as the search of the store would."""
    return rank_found(query, found, stems(), near, order=_in_place)[0]


def _in_place(row: Row) -> tuple[Any, ...]:
    """Equals stand as in what they were taken from. A chunk's key would not do: it is made at random."""
    return row.path, row.position, row.key


Scored = tuple[str, float, dict[str, float]]
"""A chunk's id, its score, and what each strategy said."""


def _order(
    connection: Connection,
    index: Index | None,
    query: Query,
    task_type: str,
    near: Mapping[int, float],
    limit: int,
    now: datetime,
) -> list[Scored]:
    """The best candidates by all strategies."""
    text = query.text
    concepts = strategies.by_concept(connection, strategies.concepts_in(connection, text), query.entries)
    worths = {stem: term.worth for term in query.terms for stem in term.stems}
    used = by_earlier_use(connection, text, task_type, worths, stems())
    brought = [chunk for chunk in _best(used) if used[chunk] > 0]
    found = candidates.find(connection, index, query, limit, near)
    candidates.add_ids(connection, found, brought)
    table = _Table(connection, query, near)
    table.take(_ranked(query, found, near))
    table.bring(_best(concepts))
    table.add("concept", 0.0, concepts)
    table.add("usage", USAGE, used)
    seeds = {key: 1 / place for place, (key, *_) in enumerate(table.best(SEEDS), start=1)}
    walk = strategies.by_graph(connection, {**seeds, **table.documents_of(seeds)}, task_type)
    linked = {key: score for key, score in strategies.chunks_reached(connection, walk).items() if key not in seeds}
    table.bring(linked, behind=False)
    table.add("graph", GRAPH, linked)
    pool = [key for key, *_ in table.best(max(POOL, limit))]
    counts = tallies(connection, pool)
    table.last = {key for key in pool if misleads(counts_for(counts.get(key, {}), task_type))}
    role = {key: speaks_for(counts.get(key, {}).get(task_type, {})) for key in pool if key not in table.last}
    table.add("usage", USAGE, {key: strategies.ROLE * speaks for key, speaks in role.items()})
    weight = NEW if strategies.ASKS_FOR_NEW.search(text) else 0.0
    table.add("temporal", weight, {key: strategies.by_time(str(table.rows[key].date), now) for key in pool})
    return table.best(limit, pool)


def _best(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda key: (-scores[key], key))[:BROUGHT]


@dataclass
class _Table:
    """The candidates of one question with what was said of each."""

    connection: Connection
    query: Query
    near: Mapping[int, float]
    rows: dict[str, Any] = field(default_factory=dict)
    _score: dict[str, float] = field(default_factory=dict)
    _why: dict[str, dict[str, float]] = field(default_factory=dict)
    _behind: set[str] = field(default_factory=set)
    last: set[str] = field(default_factory=set)
    """What has misled too often at this kind of task stands behind everything else that is shown: that is decisive, and
    its words alone say whether it belongs to the answer."""

    def take(self, ranked: Iterable[Ranked]) -> None:
        """New candidates, with what their words and their meaning say."""
        for one in ranked:
            row = one.seen.row
            self.rows[row.key], self._score[row.key] = row, one.score
            self._why[row.key] = {"keyword": one.score}
            if near_by := self.near.get(row.id, 0.0):
                self._why[row.key]["semantic"] = near_by

    def add(self, name: str, weight: float, scores: Mapping[str, float]) -> None:
        """What a strategy says of chunks, by their ids."""
        for key, score in scores.items():
            if key in self.rows and abs(score) > 1e-6:
                self._score[key] += weight * score
                self._why[key][name] = self._why[key].get(name, 0.0) + score

    def best(self, count: int, among: Sequence[str] | None = None) -> list[Scored]:
        """The best chunks. What stands behind scores no more than the last of the others."""
        keys = sorted(among or self.rows, key=lambda key: self.rows[key].date, reverse=True)
        keys.sort(key=lambda key: -self._score[key])  # of equals the newer first, as everywhere
        keys.sort(key=self._behind.__contains__)
        behind = self._behind | self.last
        least = min((self._score[key] for key in keys if key not in behind), default=math.inf)
        keys = warned_last(keys, self.last.__contains__, count)
        scores = ((key, min(self._score[key], least) if key in behind else self._score[key]) for key in keys)
        return [(key, score, self._why[key]) for key, score in scores]

    def bring(self, keys: Iterable[str], behind: bool = True) -> None:
        """Make chunks candidates that the words did not find."""
        found = Candidates({}, {})
        candidates.add_ids(self.connection, found, [key for key in keys if key not in self.rows])
        if found.rows:
            self.take(_ranked(self.query, found, self.near))
            if behind:
                self._behind |= {row.key for row in found.rows.values()}

    def documents_of(self, seeds: Mapping[str, float]) -> dict[str, float]:
        """The documents of chunks, half as strong."""
        strengths: dict[str, float] = {}
        for key, strength in seeds.items():
            document = self.rows[key].thread
            strengths[document] = max(strengths.get(document, 0.0), strength / 2)
        return strengths


# --- dossiers ---------------------------------------------------------------------------------------------------------


def documents_without_content(connection: Connection, ids: Iterable[str]) -> dict[str, Document]:
    """Documents by id, their raw content left where it is."""
    asked = select(*(column for column in columns_of(schema.document, Document) if column.name != "raw_content"))
    found = among(connection, asked, schema.document.c.id, ids)
    return {row.id: record_of(Document, {**row._mapping, "raw_content": ""}) for row in found}


def _dossiers(connection: Connection, order: Sequence[Scored], task_type: str, asked: Query) -> list[Dossier]:
    chunks = by_ids(connection, schema.chunk, Chunk, [key for key, *_ in order])
    order = [row for row in order if row[0] in chunks]  # the index may know one that went a moment ago
    keys = [key for key, *_ in order]
    documents = documents_without_content(connection, [chunk.document_id for chunk in chunks.values()])
    wanted = sorted({one.source_profile_id for one in documents.values() if one.source_profile_id})
    sources = by_ids(connection, schema.source_profile, SourceProfile, wanted)
    counts = tallies(connection, keys)
    levels = {key: level_of(total(counts.get(key, {})), chunks[key].functional_profile) for key in keys}
    used = histories(connection, [key for key in keys if levels[key] == FULL])
    used |= newest(connection, [key for key in keys if levels[key] == COMPACT], task_type, RECENT)
    beside = _beside(connection, {key: chunks[key] for key in keys})
    at = standing_at(connection, keys)
    gone = without_file(connection, list(documents))
    least = min((score for _, score, _ in order), default=0.0)
    made = []
    for key, score, why in sorted(order, key=lambda row: chunks[row[0]].document_id in gone):
        chunk = chunks[key]
        document = documents[chunk.document_id]
        notes = tuple(beside.get(key, ()))
        if document.id in gone:
            score, notes = min(score, least), ("the file that it was read from is not there any more", *notes)
        made.append(
            Dossier(
                chunk, document, sources.get(document.source_profile_id or ""), score, why, task_type,
                counts.get(key, {}), shown_traces(used.get(key, []), task_type, levels[key]), levels[key], notes,
                place=at.get(key, ""), answer=chosen(asked, stems(), chunk.content),
            )
        )  # fmt: skip
    return made


def _beside(connection: Connection, chunks: Mapping[str, Chunk]) -> dict[str, list[str]]:
    """What links of chunks and of their documents should be known to who trusts them, by chunk."""
    told = told_links(connection, {*chunks, *(one.document_id for one in chunks.values())})
    of_document = {one: [f"its document: {said}" for said in told.get(one, ())] for one in told}
    return {key: [*told.get(key, ()), *of_document.get(one.document_id, ())] for key, one in chunks.items()}


# --- the log ----------------------------------------------------------------------------------------------------------


def _logged(library: Library, made: Retrieved, project: str, now: datetime) -> Retrieved:
    """Write down what was asked and what was shown; a document that is shown counts as accessed."""
    record = Retrieval(new_id(), made.query, made.task_type, now, made.session_id, project=project)
    rows = [
        (one.chunk.id, one.score, {name: round(score, 4) for name, score in one.why.items()}) for one in made.dossiers
    ]
    c, d = schema.chunk.c, schema.document.c
    with library.writing() as connection:
        add_retrieval(connection, record, rows)
        shown = {"retrieved_count": c.retrieved_count + 1, "last_retrieved": now}
        ids = [one.chunk.id for one in made.dossiers]
        connection.execute(update(schema.chunk).where(c.id.in_(ids)).values(shown))
        opened = {"access_count": d.access_count + 1, "last_accessed": now}
        documents = sorted({one.document.id for one in made.dossiers})
        connection.execute(update(schema.document).where(d.id.in_(documents)).values(opened))
    return replace(made, id=record.id)
