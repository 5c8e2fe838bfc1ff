"""How chunks were used, and how that went: traces into the library and out of it.

A trace is an episode: which chunks, for what kind of task, with what outcome, and why. It stays when a consolidation
has made it part of a chunk's profile. They stand where all that is known has its record (`core/experience/record.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, delete, func, select, text, update

from core.base.result import KnowledgeError
from core.experience.kinds import VALUE, Tally, infer_task_type, merged
from core.experience.record import kept
from core.library import schema
from core.library.database import Library
from core.library.records import UsageTrace
from core.library.rows import add_trace, among, beginning, traces
from core.library.use.postgresql import lexeme
from core.search.words import STOP_WORDS, Stems, words_of

OUTDATED = -1
"""In the place of the number of traces of a profile: it was written from one that was taken back since."""
MAX_CHUNKS = 100
"""A trace of more chunks says nothing about any of them."""
SIMILAR = 60
"""This many earlier uses are compared with a question."""
OTHER_TASK = 0.35
"""What an outcome of another kind of task counts: a chunk is good for something, not good."""
LIKE = 0.7
"""Earlier questions that have less in common with this one are not about it."""
ALIKE_WORDS = 3
"""This many telling words must two questions share to be alike."""
_t, _j = schema.usage_trace.c, schema.trace_chunk.c


# --- numbers ----------------------------------------------------------------------------------------------------------


def tally_of(used: Iterable[UsageTrace]) -> dict[str, dict[str, int]]:
    """Task -> outcome -> how often."""
    return merged({trace.task_type: {trace.outcome: 1}} for trace in used)


def by_chunk(known: Sequence[UsageTrace]) -> dict[str, list[UsageTrace]]:
    """Chunk (by id) -> its traces, newest first, of traces that come oldest first."""
    found: dict[str, list[UsageTrace]] = {}
    for trace in reversed(known):
        for chunk in trace.chunk_ids:
            found.setdefault(chunk, []).append(trace)
    return found


def tallies(connection: Connection, chunk_ids: Iterable[str]) -> Mapping[str, Tally]:
    """Chunk -> task -> outcome -> how often, of those that were used. The database counts: a chunk that serves well has
    hundreds of traces, and every question weighs dozens of chunks."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    kinds = (_j.chunk_id, _t.task_type, _t.outcome)
    asked = select(*kinds, func.count()).join(schema.usage_trace, _t.id == _j.trace_id).group_by(*kinds)
    for chunk, task, outcome, number in among(connection, asked, _j.chunk_id, chunk_ids):
        found.setdefault(chunk, {}).setdefault(task, {})[outcome] = number
    return found


def histories(connection: Connection, chunk_ids: Sequence[str]) -> dict[str, list[UsageTrace]]:
    """The traces of each of a few chunks that was used, newest first."""
    used = by_chunk(traces(connection, select(_j.trace_id).where(_j.chunk_id.in_(chunk_ids))))
    return {chunk: used[chunk] for chunk in chunk_ids if chunk in used}


def newest(connection: Connection, chunk_ids: Sequence[str], task_type: str, count: int) -> dict[str, list[UsageTrace]]:
    """Of the traces of each of a few chunks at a kind of task the newest, newest first: `count` of them, or all that
    there are. What another chunk has among its newest may stand behind them."""
    place = func.row_number().over(partition_by=_j.chunk_id, order_by=(_t.timestamp.desc(), _t.id.desc()))
    asked = select(_j.trace_id, place.label("place")).join(schema.usage_trace, _t.id == _j.trace_id)
    rows = asked.where(_j.chunk_id.in_(chunk_ids), _t.task_type == task_type).subquery()
    used = by_chunk(traces(connection, select(rows.c.trace_id).where(rows.c.place <= count)))
    return {chunk: used[chunk] for chunk in chunk_ids if chunk in used}


def by_source(connection: Connection, known: Sequence[UsageTrace]) -> dict[str, list[UsageTrace]]:
    """Source (by id) -> the traces of its chunks, in their order, each once."""
    c, d = schema.chunk.c, schema.document.c
    asked = select(c.id, d.source_profile_id).join(schema.document, d.id == c.document_id)
    used = (chunk for trace in known for chunk in trace.chunk_ids)
    source_of = {row[0]: row[1] for row in among(connection, asked, c.id, used) if row[1]}
    found: dict[str, list[UsageTrace]] = {}
    for trace in known:
        for source in {source_of[chunk] for chunk in trace.chunk_ids if chunk in source_of}:
            found.setdefault(source, []).append(trace)
    return found


# --- earlier uses like this one ---------------------------------------------------------------------------------------


_SQLITE = text("SELECT trace_id FROM trace_words WHERE trace_words MATCH :match ORDER BY rank LIMIT :most")
_POSTGRESQL = text(
    "SELECT id FROM usage_trace WHERE words @@ to_tsquery('english', :match) "
    "ORDER BY ts_rank(words, to_tsquery('english', :match), 1) DESC, id LIMIT :most"
)
_CHUNKS = text(
    "SELECT t.id, t.task_type, t.outcome, t.query, t.context_summary, j.chunk_id FROM usage_trace t "
    "JOIN trace_chunk j ON j.trace_id = t.id WHERE t.id IN :ids ORDER BY t.id, j.position"
).bindparams(bindparam("ids", expanding=True))


def by_earlier_use(
    connection: Connection, query: str, task_type: str, worths: Mapping[str, float], stems: Stems
) -> dict[str, float]:
    """Chunk (by id) -> how uses like this one speak for it, from -1 to 1: those whose question or context is most like
    a question, by the share of telling words that they have in common. `worths` says how much a stem tells; one that no
    chunk has tells most."""
    words = [word for word in dict.fromkeys(words_of(query)) if word not in STOP_WORDS][:32]
    if not words:
        return {}
    if connection.dialect.name == "sqlite":
        asked, match = _SQLITE, " OR ".join(f'"{word}"' for word in words)
    else:
        asked, match = _POSTGRESQL, " | ".join(map(lexeme, words))
    ids = connection.execute(asked, {"match": match, "most": SIMILAR}).scalars().all()
    sums: dict[str, float] = {}
    for row in connection.execute(_CHUNKS, {"ids": ids}) if ids else ():
        like = likeness(query, row.query or row.context_summary, worths, stems)
        if like >= LIKE:
            says = VALUE[row.outcome] * like**3 * (1.0 if row.task_type == task_type else OTHER_TASK)
            sums[row.chunk_id] = sums.get(row.chunk_id, 0.0) + says
    return {chunk: math.tanh(value) for chunk, value in sums.items()}


def likeness(one: str, other: str, worths: Mapping[str, float], stems: Stems) -> float:
    """How much two questions have in common, from 0 to 1: the cosine of their telling stems. Two words alone make no
    questions alike, unless they are all that they have."""
    words = [[word for word in words_of(text) if word not in STOP_WORDS] for text in (one, other)]
    known = stems.learn([*words[0], *words[1]])
    left, right = ({known[word] for word in part} for part in words)
    if len(left & right) < min(ALIKE_WORDS, max(len(left), len(right))):
        return 0.0
    most = max(worths.values(), default=1.0)

    def worth(some: Iterable[str]) -> float:
        return sum(worths.get(stem, most) ** 2 for stem in some)

    both = worth(left & right)
    return both / (worth(left) * worth(right)) ** 0.5 if both else 0.0


# --- recording --------------------------------------------------------------------------------------------------------


def whole_ids(connection: Connection, given: Sequence[str]) -> list[str]:
    """The ids of chunks that were named by id or by its beginning. Raises KnowledgeError for one that no chunk has, or
    several have."""
    c = schema.chunk.c
    found: list[str] = []
    for part in given:
        if len(part.strip()) < 4:
            message = f"{part!r} is too short to name a chunk"
            raise KnowledgeError("no-chunk", message, hint="give at least 4 letters of its id")
        ids = beginning(connection, c.id, part)
        if len(ids) != 1:
            what = "no chunk's id begins" if not ids else "the ids of several chunks begin"
            message = f"{what} with {part!r}"
            raise KnowledgeError("no-chunk", message, hint="'knowledge library retrieve' prints the ids")
        found += ids
    return list(dict.fromkeys(found))


def record(library: Library, trace: UsageTrace) -> UsageTrace:
    """Log one use, and return it as it stands. Chunks may be named by the beginning of their ids. The question is taken
    from the retrieval, or the newest one of the session that had these chunks, where none is given; so is the kind of
    task, which is else told from the words."""
    if not trace.chunk_ids or len(trace.chunk_ids) > MAX_CHUNKS:
        raise KnowledgeError("no-chunk", f"a use has 1 to {MAX_CHUNKS} chunks", hint="name each with --chunk")
    with library.reading() as connection:
        ids = whole_ids(connection, trace.chunk_ids)
    trace = replace(
        trace, chunk_ids=tuple(ids), session_id=kept(trace.session_id), context_summary=kept(trace.context_summary),
        query=kept(trace.query), notes=kept(trace.notes),
    )  # fmt: skip
    with library.writing() as connection:
        whole_ids(connection, ids)  # one may have gone meanwhile
        trace = with_question(connection, trace)
        add_trace(connection, trace)
    return trace


def with_question(connection: Connection, trace: UsageTrace) -> UsageTrace:
    """A trace with the retrieval that it is about, where one can be found, and with question and task of that."""
    r, f = schema.retrieval.c, schema.retrieval_chunk.c
    asked = select(r.id, r.query, r.task_type).order_by(r.timestamp.desc(), r.id).limit(1)
    if trace.retrieval_id:
        asked = asked.where(r.id == trace.retrieval_id)
    elif trace.session_id:
        asked = asked.join(schema.retrieval_chunk, f.retrieval_id == r.id)
        asked = asked.where(r.session_id == trace.session_id, f.chunk_id.in_(trace.chunk_ids))
        if trace.query:
            asked = asked.where(r.query == trace.query)
    found = connection.execute(asked).first() if trace.retrieval_id or trace.session_id else None
    if found is None:
        task = trace.task_type or infer_task_type(trace.query or trace.context_summary)
        return replace(trace, retrieval_id=None, task_type=task)
    task = trace.task_type or found.task_type
    return replace(trace, retrieval_id=found.id, query=trace.query or found.query, task_type=task)


def withdraw(library: Library, which: str) -> UsageTrace:
    """Take a trace back, named by its id or the beginning of it: neither it nor its numbers count any more. What was
    learned with it is written again, or goes, at the next consolidation."""
    m, c, d = schema.mention.c, schema.chunk.c, schema.document.c
    with library.reading() as connection:
        ids = beginning(connection, _t.id, which)
    if len(ids) != 1:
        what = "the ids of several records begin" if ids else "no record's id begins"
        message = f"{what} with {which!r}"
        raise KnowledgeError("no-trace", message, hint="'knowledge library show ID' prints those of a document")
    with library.writing() as connection:
        if not (found := traces(connection, select(_t.id).where(_t.id == ids[0]))):
            raise KnowledgeError("no-trace", "this record was taken back already", which)
        (trace,) = found
        connection.execute(delete(schema.usage_trace).where(_t.id == trace.id))
        ours = list(trace.chunk_ids)
        sources = select(d.source_profile_id).join(schema.chunk, c.document_id == d.id).where(c.id.in_(ours))
        for table, about in (
            (schema.chunk, ours),
            (schema.source_profile, sources),
            (schema.concept, select(m.concept_id).where(m.chunk_id.in_(ours))),
        ):
            stale = table.c.id.in_(about) & (table.c.profiled_traces > 0)
            connection.execute(update(table).where(stale).values(profiled_traces=OUTDATED))
    return trace
