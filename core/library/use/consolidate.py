"""Episodes become knowledge: traces into profiles, patterns into links, and what is lonely, stale or contradictory is
told.

First everything is planned as changes of rows, with a model asked where one is handed in; nothing is written. Then all
changes are made in one transaction, each with its values before and after, so that a run that is killed has done
nothing, and one that is regretted can be taken back. A second run finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from core.base.answer import Generate
from core.base.result import Ok, attempt
from core.experience.kinds import Tally, total
from core.library import schema
from core.library.database import Library
from core.library.records import Concept, Link, SourceProfile, UsageTrace, new_id
from core.library.rows import among, by_ids, read, row_of, traces
from core.library.use import patterns
from core.library.use.changes import Change, Values, apply, difference, of_link, plain
from core.library.use.gaps import Quiet, asked_about, lonely_chunks, stale_chunks
from core.library.use.patterns import Pair
from core.library.use.profiles import gaps_by_rules, profile_by_model, profile_by_rules, strengths_of
from core.library.use.retrieve import stems
from core.library.use.usage import OUTDATED, by_chunk, by_source, tally_of

CHUNK_TRACES = 5
"""The traces from which a chunk or a concept gets a profile."""
SOURCE_TRACES = 10
"""Those from which a source does."""
KIND = "consolidate"


@dataclass(frozen=True)
class Consolidation:
    """What a consolidation did, or with `dry_run` would do. `run_id` takes it back."""

    dry_run: bool
    changes: tuple[Change, ...]
    contradictions: tuple[tuple[str, str, str], ...]
    lonely: tuple[Quiet, ...]
    lonely_count: int
    stale: tuple[Quiet, ...]
    stale_count: int
    archived: int
    run_id: str = ""
    passed_over: int = 0
    warnings: tuple[str, ...] = ()

    def of(self, *tables: str) -> list[Change]:
        """The changes of these tables."""
        return [change for change in self.changes if change.table in tables]

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        profiles = self.of("chunk", "source_profile", "concept")
        return {
            "run": self.run_id or None,
            "dry_run": self.dry_run,
            "profiles": [{"of": one.table, **one.key, "what": one.what, **(one.after or {})} for one in profiles],
            "links": [{**one.key, "what": one.what, **(one.after or {})} for one in self.of("link")],
            "contradictions": [{"one": one, "other": other, "why": why} for one, other, why in self.contradictions],
            "lonely": [one.to_json() for one in self.lonely],
            "lonely_count": self.lonely_count,
            "stale": [one.to_json() for one in self.stale],
            "stale_count": self.stale_count,
            "archived": self.archived,
            "changed": len(self.changes),
            "passed_over": self.passed_over,
            "warnings": list(self.warnings),
        }


def consolidate(
    library: Library,
    *,
    now: datetime,
    generate: Generate | None = None,
    dry_run: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Consolidation:
    """Carry out the maintenance. With `dry_run` nothing is written and no model is asked. A run
    that is cancelled before it writes has done nothing."""
    with library.reading() as connection:
        plan = _Plan(connection, now, None if dry_run else generate)
        for step in (_chunks, _sources, _concepts, _links, _opposites):
            if cancelled():
                break
            step(plan)
        lonely, lonely_count = lonely_chunks(connection)
        stale, stale_count = stale_chunks(connection, now)
    stopped = cancelled()
    if stopped:
        plan.warnings.append("Cancelled before anything was written.")
    surfaced = (tuple(plan.against), tuple(lonely), lonely_count, tuple(stale), stale_count)
    planned = () if stopped else tuple(plan.changes)
    made = Consolidation(dry_run or stopped, planned, *surfaced, plan.archived, warnings=tuple(plan.warnings))
    if made.dry_run or not planned:
        return made
    with library.writing() as connection:
        run_id, done = apply(connection, KIND, planned, {"archived": plan.archived}, now)
    return replace(made, changes=done, run_id=run_id, passed_over=len(planned) - len(done))


# --- the plan ---------------------------------------------------------------------------------------------------------


class _Plan:
    """What the steps read and add to."""

    def __init__(self, connection: Connection, now: datetime, generate: Generate | None) -> None:
        self.connection, self.now, self.generate = connection, now, generate
        self.traces: list[UsageTrace] = traces(connection)
        self.of_chunk = by_chunk(self.traces)
        self.tallies = {chunk: tally_of(used) for chunk, used in self.of_chunk.items()}
        self.changes: list[Change] = []
        self.warnings: list[str] = []
        self.against: list[tuple[str, str, str]] = []
        self.archived = 0

    def written(self, what: str, about: str, tally: Tally, used: list[UsageTrace]) -> str:
        """A profile by the model, or by the rules where there is none or it fails."""
        if self.generate is not None:
            made = attempt(profile_by_model, what, about, tally, used, self.generate)
            if isinstance(made, Ok):
                return made.value
            self.warnings.append(f"{made.error} The profile was made from the numbers instead.")
            if len(self.warnings) >= 3:
                self.generate = None  # it will not answer the next hundred either
        return profile_by_rules(tally, used)

    def renew(self, table: str, record: Concept | SourceProfile, wanted: Values, what: str) -> None:
        """Plan what a record should have, and when it got that."""
        now = {name: getattr(record, name) for name in wanted}
        for one in difference(table, {"id": record.id}, now, wanted, what):
            before = {**(one.before or {}), "updated_at": plain(record.updated_at)}
            after = {**(one.after or {}), "updated_at": plain(self.now)}
            self.changes.append(replace(one, before=before, after=after))


def _chunks(plan: _Plan) -> None:
    """From the fifth trace on a chunk has a profile, written again when there are more. The traces that it has taken in
    are archived: dossiers tell less of them, and their numbers stay."""
    c = schema.chunk.c
    due = sorted(chunk for chunk, tally in plan.tallies.items() if total(tally) >= CHUNK_TRACES)
    outdated = select(c.id, c.functional_profile, c.profiled_traces).where(c.profiled_traces == OUTDATED).order_by(c.id)
    for key, profile, number in plan.connection.execute(outdated).all():
        if key not in due:
            now = {"functional_profile": profile, "profiled_traces": number}
            said = f"chunk {key[:8]}: no profile any more, an outcome was taken back"
            plan.changes += difference("chunk", {"id": key}, now, _NO_PROFILE, said)
    asked = select(c.id, c.content, c.functional_profile, c.profiled_traces).order_by(c.id)
    for row in among(plan.connection, asked, c.id, due):
        tally, used = plan.tallies[row.id], plan.of_chunk[row.id]
        number = total(tally)
        if number == row.profiled_traces:
            continue
        text = plan.written("a piece of text", row.content, tally, used)
        now = {"functional_profile": row.functional_profile, "profiled_traces": row.profiled_traces}
        wanted = {"functional_profile": text, "profiled_traces": number}
        plan.changes += difference("chunk", {"id": row.id}, now, wanted, f"chunk {row.id[:8]}: {text}")
        plan.archived += number - max(row.profiled_traces, 0)


_NO_PROFILE = {"functional_profile": None, "profiled_traces": 0}


def _sources(plan: _Plan) -> None:
    """What a source's chunks did, by task; from the tenth trace on it has a profile."""
    of_source = by_source(plan.connection, plan.traces)
    for source in read(plan.connection, schema.source_profile, SourceProfile, order=(schema.source_profile.c.id,)):
        used = of_source.get(source.id, [])[::-1]
        tally = tally_of(used)
        wanted: dict[str, Any] = {"trace_counts_by_task": tally}
        text = ""
        if len(used) >= SOURCE_TRACES and len(used) != source.profiled_traces:
            good, bad = strengths_of(tally)
            text = plan.written(f"a source of documents, {source.domain} ({source.source_type})", "", tally, used)
            wanted |= {"functional_profile": text, "profiled_traces": len(used)}
            wanted |= {"strengths": list(good), "weaknesses": list(bad)}
        elif source.profiled_traces == OUTDATED:
            wanted |= {**_NO_PROFILE, "strengths": [], "weaknesses": []}
        elif not used and not source.trace_counts_by_task:
            continue
        plan.renew("source_profile", source, wanted, f"{source.domain}: {text or f'{total(tally)} uses counted'}")


def _concepts(plan: _Plan) -> None:
    """From the fifth use of chunks that mention it on a concept has a profile; what was asked about it in vain, or went
    badly, is told as its gaps. Of one that nobody used or missed nothing is said."""
    connection, m, k = plan.connection, schema.mention.c, schema.concept.c
    used: dict[str, dict[str, UsageTrace]] = {}
    for row in among(connection, select(m.concept_id, m.chunk_id), m.chunk_id, sorted(plan.of_chunk)):
        used.setdefault(row.concept_id, {}).update((trace.id, trace) for trace in plan.of_chunk[row.chunk_id])
    asked = asked_about(connection)
    due = {concept for concept, found in used.items() if len(found) >= CHUNK_TRACES} | asked.keys()
    told = (k.functional_profile.is_not(None)) | (k.gap_notes != "")
    table = {one.id: one for one in read(connection, schema.concept, Concept, told)}
    table |= by_ids(connection, schema.concept, Concept, sorted(due - table.keys()))
    for concept in sorted(table.values(), key=lambda one: one.id):
        found = sorted(used.get(concept.id, {}).values(), key=lambda trace: trace.timestamp, reverse=True)
        tally = tally_of(found)
        number, profile = len(found), concept.functional_profile
        if number < CHUNK_TRACES:
            profile = None
        elif not profile or number != concept.profiled_traces:
            about = f"{concept.name}: {concept.description}"
            profile = plan.written("what is known about a concept", about, tally, found)
        gaps = gaps_by_rules(tally, asked.get(concept.id, []))
        wanted = {"functional_profile": profile, "gap_notes": gaps, "profiled_traces": number if profile else 0}
        plan.renew("concept", concept, wanted, f"{concept.name}: {profile or gaps or 'nothing to say any more'}")


def _links(plan: _Plan) -> None:
    """Links that patterns of usage call for, with the weights that they have now."""
    pairs = [*patterns.complements(plan.traces), *patterns.better_for(plan.traces, plan.tallies, stems())]
    _make_links(plan, pairs, ("complements", "better_for"))


def _opposites(plan: _Plan) -> None:
    """What stands against each other is linked, so that each dossier tells of the other. A link that consolidation made
    goes when nothing calls for it any more, but not what a model has read: that is not asked again."""
    c, k = schema.link.c, schema.concept
    links = read(plan.connection, schema.link, Link, c.relation.in_(("supports", "contradicts")))
    opposite = patterns.opposite_claims(read(plan.connection, k, Concept, k.c.concept_type == "claim"))
    found = patterns.contradictions([link for link in links if link.created_by != "consolidated"], opposite)
    read_so = [link for link in links if link.created_by == "consolidated" and link.weight == patterns.READ_SO]
    pairs = [Pair(one, other, "contradicts", 1.0, note=why) for one, other, why in found]
    pairs += patterns.corrected(plan.traces)
    pairs += [Pair(link.source_id, link.target_id, link.relation, patterns.READ_SO, note=link.note) for link in read_so]
    if plan.generate is not None:
        made = attempt(patterns.read_together, plan.connection, plan.generate)
        if isinstance(made, Ok):
            pairs += [pair for pair in made.value if pair.relation == "contradicts"]
            _make_links(plan, [pair for pair in made.value if pair.relation != "contradicts"], ())
        else:
            plan.warnings.append(f"{made.error} No passages were compared by the model.")
    first = {(pair.one, pair.other): pair for pair in reversed(pairs)}
    plan.against = [(one, other, pair.note) for (one, other), pair in sorted(first.items())]
    _make_links(plan, first.values(), ("contradicts",))


def _make_links(plan: _Plan, pairs: Collection[Pair], kept_up: tuple[str, ...]) -> None:
    """`kept_up`: relations of which the links that usage made are taken away where it does not call for them now."""
    c, e = schema.link.c, schema.entity.c
    standing = {
        (link.source_id, link.target_id, link.relation, link.task_type): link
        for link in read(plan.connection, schema.link, Link, c.relation.in_({*kept_up, "contradicts"}))
    }
    ends = sorted({one for pair in pairs for one in pair[:2]})
    kinds = {row.id: row.kind for row in among(plan.connection, select(e.id, e.kind), e.id, ends)}
    wanted = set()
    for pair in pairs:
        key = (pair.one, pair.other, pair.relation, pair.task_type)
        if not {pair.one, pair.other} <= kinds.keys():
            continue
        wanted.add(key)
        said = f"{pair.one[:8]} {pair.relation} {pair.other[:8]} {pair.task_type}".rstrip() + f" ({pair.note})"
        link = standing.get(key)
        if link is None:
            made = Link(
                new_id(), kinds[pair.one], pair.one, kinds[pair.other], pair.other, pair.relation, plan.now,
                pair.weight, "consolidated", pair.task_type, pair.note,
            )  # fmt: skip
            plan.changes.append(of_link(row_of(made), said))
        elif link.created_by == "consolidated":
            now = {"weight": link.weight, "note": link.note}
            plan.changes += difference("link", {"id": link.id}, now, {"weight": pair.weight, "note": pair.note}, said)
    for key, link in sorted(standing.items()):
        if link.created_by == "consolidated" and link.relation in kept_up and key not in wanted:
            said = f"{link.source_id[:8]} {link.relation} {link.target_id[:8]}: no longer so"
            plan.changes.append(of_link(row_of(link), said, goes=True))
