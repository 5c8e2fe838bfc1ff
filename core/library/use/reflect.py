"""Questions about the library itself, answered from what was recorded: which tasks it serves, which sources
pull their weight, what is missing, what should be retired, what goes together unexpectedly, how a concept evolved.

Everything here is counted, nothing is written, and each answer has its numbers, so that a user can disagree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from core.base.choices import SCOPES, task_words
from core.base.result import KnowledgeError
from core.experience.kinds import Tally, merged, over_tasks, rate_of, success, total
from core.library import schema
from core.library.concepts import definitions
from core.library.database import Library
from core.library.records import Concept, Link, UsageTrace, folded
from core.library.rows import among, read, told_links, traces
from core.library.use.gaps import asked_about, gist, lonely_chunks, stale_chunks, unanswered
from core.library.use.profiles import BAD, GOOD, strengths_of
from core.library.use.usage import by_chunk, by_source, tally_of

RETIRE_USES, RETIRE_SUCCESS = 3, 0.2
"""A chunk that was used so often with so little success should go."""
SHOWN = 20


@dataclass(frozen=True)
class Served:
    """A kind of task: outcomes of its traces, questions asked or recorded, each once, and those of them that nothing of
    use was found for."""

    task_type: str
    outcomes: Mapping[str, int]
    success: float | None
    verdict: str
    questions: int
    unanswered: int


@dataclass(frozen=True)
class Pulling:
    """A source: what it has, how often that was shown, and how it did, by task."""

    domain: str
    source_type: str
    documents: int
    chunks: int
    retrieved: int
    outcomes_by_task: Tally
    outcomes: Mapping[str, int]
    success: float | None
    verdict: str


@dataclass(frozen=True)
class Gap:
    """A concept that comes up in questions, and what is missing about it; `chunks` mention it."""

    concept: str
    questions: int
    chunks: int
    notes: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class Failing:
    """A chunk that keeps being used without success."""

    chunk_id: str
    title: str
    text: str
    outcomes: Mapping[str, int]
    success: float
    retrieved: int


@dataclass(frozen=True)
class Joined:
    """Two chunks that work together although nothing but usage says so."""

    one: str
    other: str
    one_text: str
    other_text: str
    weight: float
    note: str


@dataclass(frozen=True)
class Evolution:
    """How the understanding of a concept changed: documents that speak of it by month, outcomes by month, the profiles
    that it had, oldest first, and how it stands to other things."""

    concept: str
    description: str
    documents: Mapping[str, int]
    outcomes: Mapping[str, Mapping[str, int]]
    profiles: tuple[Mapping[str, str], ...]
    gaps: str
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reflection:
    """The report. What the scope leaves out is empty."""

    scope: str
    traces: int
    tasks: tuple[Served, ...] = ()
    sources: tuple[Pulling, ...] = ()
    gaps: tuple[Gap, ...] = ()
    unanswered: tuple[Mapping[str, str], ...] = ()
    retire: tuple[Failing, ...] = ()
    lonely: int = 0
    stale: int = 0
    connections: tuple[Joined, ...] = ()
    concept: Evolution | None = None

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return asdict(self)


def reflect(library: Library, *, scope: str = "all", concept: str = "", now: datetime) -> Reflection:
    """Answer the questions of a scope, or all of them. `concept` asks how one evolved: its name or an alias."""
    if scope not in SCOPES:
        raise KnowledgeError("bad-scope", f"{scope!r} is no scope", hint=f"one of {', '.join(SCOPES)}")
    if scope == "concept" and not concept:
        raise KnowledgeError("no-concept", "which concept is not said", hint="name it with --concept")
    with library.reading() as connection:
        known, lost = traces(connection), unanswered(connection)
        made: dict[str, Any] = {"scope": scope, "traces": len(known)}
        if scope in ("all", "tasks"):
            made["tasks"] = _tasks(connection, known, lost)
        if scope in ("all", "sources"):
            made["sources"] = _sources(connection, known)
        if scope in ("all", "gaps"):
            made["gaps"] = _gaps(connection)
            made["unanswered"] = tuple(
                {"query": query, "task_type": task, "at": at.isoformat(timespec="seconds")}
                for query, task, at in lost[:SHOWN]
            )
        if scope in ("all", "retire"):
            made["retire"] = _retire(connection, known)
            made["lonely"], made["stale"] = lonely_chunks(connection, 1)[1], stale_chunks(connection, now, 1)[1]
        if scope in ("all", "connections"):
            made["connections"] = _connections(connection)
        if concept:
            found = _evolution(connection, concept, known)
            if found is None:
                hint = "'knowledge library list' shows them"
                raise KnowledgeError("no-concept", f"there is no concept {concept!r}", hint=hint)
            made["concept"] = found
    return Reflection(**made)


def _verdict(rate: float | None, good: str, bad: str) -> str:
    if rate is None:
        return "too little known"
    return good if rate >= GOOD else bad if rate <= BAD else "mixed"


def _tasks(
    connection: Connection, known: Sequence[UsageTrace], lost: Sequence[tuple[str, str, datetime]]
) -> tuple[Served, ...]:
    r, t = schema.retrieval.c, schema.usage_trace.c
    questions = select(r.task_type, r.query).union(select(t.task_type, t.query).where(t.query != ""))
    asked = Counter(task for task, _query in connection.execute(questions))
    tally = tally_of(known)
    empty = Counter(task for _query, task, _at in lost)
    made = []
    for task in sorted({*tally, *asked}):
        counts = tally.get(task, {})
        rate = success(counts)
        verdict = _verdict(rate, "served well", "served badly")
        made.append(Served(task, counts, rate, verdict, asked.get(task, 0), empty[task]))
    return tuple(sorted(made, key=lambda one: (-sum(one.outcomes.values()), one.task_type)))


def _sources(connection: Connection, known: Sequence[UsageTrace]) -> tuple[Pulling, ...]:
    s, d, c = schema.source_profile.c, schema.document.c, schema.chunk.c
    asked = (
        select(s.id, s.domain, s.source_type, func.count(d.id.distinct()).label("documents"),
               func.count(c.id).label("chunks"), func.coalesce(func.sum(c.retrieved_count), 0).label("retrieved"))
        .outerjoin(schema.document, d.source_profile_id == s.id)
        .outerjoin(schema.chunk, c.document_id == d.id)
        .group_by(s.id, s.domain, s.source_type)
    )  # fmt: skip
    tally = {source: tally_of(used) for source, used in by_source(connection, known).items()}
    made = []
    for row in connection.execute(asked):
        counts = tally.get(row.id, {})
        outcomes = over_tasks(counts)
        rate = success(outcomes)
        if rate is None and row.retrieved >= RETIRE_USES and not counts:
            verdict = "shown and never used"
        else:
            good, bad = (", ".join(map(task_words, some)) for some in strengths_of(counts))
            both = f"good for {good}, not for {bad}" if good and bad else ""
            fails = all(rate_of(one) <= BAD for one in counts.values())
            bad_at_all = "noise" if fails else f"good for {good}" if good else "mixed"
            verdict = both or _verdict(rate, "pulls its weight", bad_at_all)
        made.append(Pulling(row.domain, row.source_type, row.documents, row.chunks, int(row.retrieved), counts,
                            outcomes, rate, verdict))  # fmt: skip
    return tuple(sorted(made, key=lambda one: (-total(one.outcomes_by_task), -one.retrieved, one.domain)))


def _gaps(connection: Connection) -> tuple[Gap, ...]:
    """Concepts that questions without an answer of use name, and covered ones with a gap that are asked about."""
    asked = asked_about(connection)
    k, m, c, d = schema.concept.c, schema.mention.c, schema.chunk.c, schema.document.c
    active = select(c.id).join(schema.document, d.id == c.document_id).where(d.status == "active")
    number = select(func.count()).where(m.concept_id == k.id, m.chunk_id.in_(active)).scalar_subquery()
    made = []
    named = select(k.id, k.name, k.gap_notes, number.label("chunks"))
    for row in among(connection, named, k.id, asked):
        known = "nothing mentions it" if not row.chunks else "covered, and not of use"
        queries = asked[row.id]
        made.append(Gap(row.name, len(queries), row.chunks, row.gap_notes or known, tuple(queries[:3])))
    return tuple(sorted(made, key=lambda one: (-one.questions, one.chunks, one.concept))[:SHOWN])


def _retire(connection: Connection, known: Sequence[UsageTrace]) -> tuple[Failing, ...]:
    """Chunks that fail at whatever they are used for; one that serves a kind of task is not to go."""
    of_chunk = {chunk: tally_of(used) for chunk, used in by_chunk(known).items()}
    counts = {chunk: over_tasks(tally) for chunk, tally in of_chunk.items()}
    failing = {
        chunk: rate
        for chunk, row in counts.items()
        if sum(row.values()) >= RETIRE_USES
        and (rate := success(row)) is not None
        and rate <= RETIRE_SUCCESS
        and all((success(one) or 0.0) <= BAD for one in of_chunk[chunk].values())
    }
    c, d = schema.chunk.c, schema.document.c
    asked = select(c.id, d.title, c.summary, c.content, c.retrieved_count)
    active = asked.join(schema.document, d.id == c.document_id).where(d.status == "active")
    made = [
        Failing(row.id, row.title, gist(row), counts[row.id], failing[row.id], row.retrieved_count)
        for row in among(connection, active, c.id, failing)
    ]
    return tuple(sorted(made, key=lambda one: (one.success, -sum(one.outcomes.values()), one.chunk_id))[:SHOWN])


def _connections(connection: Connection) -> tuple[Joined, ...]:
    """Chunks of different documents that usage has joined, without a concept in common."""
    m, c, d = schema.mention.c, schema.chunk.c, schema.document.c
    pairs = read(connection, schema.link, Link, schema.link.c.relation == "complements",
                 order=(schema.link.c.weight.desc(), schema.link.c.id))  # fmt: skip
    made: list[Joined] = []
    for link in pairs:
        ends = (link.source_id, link.target_id)
        asked = select(c.id, c.document_id, d.title, c.summary, c.content).join(schema.document, d.id == c.document_id)
        rows = {row.id: row for row in connection.execute(asked.where(c.id.in_(ends)))}
        if len(rows) < 2 or rows[ends[0]].document_id == rows[ends[1]].document_id:
            continue
        shared = select(m.concept_id).where(m.chunk_id.in_(ends)).group_by(m.concept_id).having(func.count() > 1)
        if connection.execute(shared.limit(1)).first() is not None:
            continue
        one, other = (f"{rows[end].title}: {gist(rows[end])[:120]}" for end in ends)
        made.append(Joined(*ends, one, other, link.weight, link.note))
    return tuple(made[:SHOWN])


def _evolution(connection: Connection, name: str, known: Sequence[UsageTrace]) -> Evolution | None:
    a, k = schema.concept_alias.c, schema.concept
    key = connection.execute(select(a.concept_id).where(a.folded == folded(name))).scalar()
    if key is None:
        return None
    (concept,) = read(connection, k, Concept, k.c.id == key)
    m, c, d = schema.mention.c, schema.chunk.c, schema.document.c
    written = func.coalesce(d.written_at, d.ingested_at)
    asked = (
        select(d.id, written.label("at")).distinct()
        .join(schema.chunk, c.document_id == d.id)
        .join(schema.mention, m.chunk_id == c.id)
        .where(m.concept_id == key)
    )  # fmt: skip
    months = Counter(str(row.at)[:7] for row in connection.execute(asked))
    chunks = set(connection.execute(select(m.chunk_id).where(m.concept_id == key)).scalars())
    about = [trace for trace in known if chunks.intersection(trace.chunk_ids)]
    outcomes = merged([{f"{trace.timestamp:%Y-%m}": {trace.outcome: 1}} for trace in about])
    description = concept.description or _defined_in(connection, chunks, concept)
    return Evolution(
        concept.name, description, dict(sorted(months.items())), outcomes,
        tuple(_profiles(connection, key, concept)), concept.gap_notes,
        tuple(told_links(connection, [key]).get(key, ())),
    )  # fmt: skip


def _defined_in(connection: Connection, chunks: Iterable[str], concept: Concept) -> str:
    """What the chunks that may be told say that a concept is, where what it is elsewhere may not be."""
    c = schema.chunk.c
    for (text,) in among(connection, select(c.content).order_by(c.number), c.id, sorted(chunks)):
        if said := definitions(text, [concept.folded]):
            return said[concept.folded]
    return ""


def _profiles(connection: Connection, key: str, concept: Concept) -> list[dict[str, str]]:
    """The profiles that a concept had, from the log of changes, oldest first; none to whom today's is not told."""
    if not concept.functional_profile:
        return []
    g, r = schema.change.c, schema.change_run.c
    asked = (
        select(g.row_key, g.after, r.started_at)
        .join(schema.change_run, r.id == g.run_id)
        .where(g.table_name == "concept", r.undone_at.is_(None))
        .order_by(r.started_at, g.id)
    )
    return [
        {"at": row.started_at.date().isoformat(), "text": row.after["functional_profile"]}
        for row in connection.execute(asked)
        if row.row_key.get("id") == key and (row.after or {}).get("functional_profile")
    ]
