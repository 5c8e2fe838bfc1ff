"""`knowledge library`, its second half: how answers, traces, consolidations and reflections read, and their rows in the
table of commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import NAMED, Argument, Command, flag, listed, option, optional, repeated, whole_number
from core.cli.text import count, one_line

if TYPE_CHECKING:
    from core.commands.library.use import Answered, Recorded, Traced
    from core.library.records import ChangeRun, UsageTrace
    from core.library.use.changes import Undone
    from core.library.use.consolidate import Consolidation
    from core.library.use.reflect import Reflection

TASK_TYPES = (
    "factual_lookup", "implementation_howto", "conceptual_understanding", "opinion_gathering", "decision_support",
    "debugging", "exploratory_research", "creative_inspiration", "other",
)  # fmt: skip
OUTCOMES = ("win", "partial", "miss", "misleading")
STRATEGIES = ("keyword", "semantic", "concept", "usage", "graph", "temporal")
SCOPES = ("all", "tasks", "sources", "gaps", "retire", "connections", "concept")
SHOWN = 20


def answered_text(answer: Answered) -> str:
    """The dossiers as a model or a person reads them."""
    from core.library.use.dossier import as_text

    found = answer.retrieved
    guessed = " (inferred)" if found.inferred else ""
    rows = [
        f"task: {found.task_type}{guessed}; retrieval {found.id}" if found.id else f"task: {found.task_type}{guessed}"
    ]
    rows += [f"reasoning: {found.reasoning}"] if found.reasoning else []
    rows += [as_text(dossier, number) for number, dossier in enumerate(found.dossiers, start=1)]
    for hit in answer.bullets:
        rows.append(f"- {hit.entry.text} {hit.entry.provenance}\n  (bullet; {one_line(', '.join(hit.why))})")
    if not found.dossiers and not answer.bullets:
        rows.append(f"nothing found for {one_line(found.query)!r}; this is remembered as a gap")
    rows += [f"note: {one_line(note)}" for note in answer.warnings]
    return "\n\n".join(rows) + "\n"


def recorded_text(done: Recorded) -> str:
    rows = [f"taken back: {_trace(trace)}" if done.withdrawn else _trace(trace) for trace in done.traces]
    if done.conversations or done.errors:
        rows.append(f"{count(done.conversations, 'conversation')} read, {count(len(done.traces), 'trace')} inferred")
    return "\n".join(rows) + "\n"


def _trace(trace: UsageTrace) -> str:
    chunks = ", ".join(key[:8] for key in trace.chunk_ids)
    said = f": {one_line(trace.notes)}" if trace.notes else ""
    asked = f" {one_line(trace.query)!r}" if trace.query else ""
    guessed = " (inferred)" if trace.recorded == "inferred" else ""
    when = f"{trace.id[:8]}  {trace.timestamp:%Y-%m-%d %H:%M}"
    return f"{when} [{trace.task_type}] {trace.outcome}{guessed}{asked} {chunks}{said}"


def traces_text(found: Traced) -> str:
    if not found.sessions:
        return "nothing was recorded yet: 'knowledge library record' writes down how a use went\n"
    rows = []
    for one in found.sessions:
        rows.append(f"session {one_line(one.session_id) or '-'} ({count(len(one.traces), 'trace')})")
        rows += [f"  {_trace(trace)}" for trace in one.traces]
    return "\n".join(rows) + "\n"


def consolidated_text(done: Consolidation) -> str:
    would = "would be " if done.dry_run else ""
    profiles = done.of("chunk", "source_profile", "concept")
    links, ranking = done.of("link"), done.of("ranking")
    rows = [f"profiles: {len(profiles)} {would}written"]
    rows += [f"  {one_line(one.what)}" for one in profiles[:SHOWN]] + _more(len(profiles))
    rows += [f"links: {len(links)} {would}changed"]
    rows += [f"  {one_line(one.what)}" for one in links[:SHOWN]] + _more(len(links))
    rows += [f"{one_line(one.what)}" for one in ranking]
    rows += [f"traces: {done.archived} {would}archived, their counts kept"]
    rows += [f"contradictions: {len(done.contradictions)}"]
    rows += [f"  {one[:8]} against {other[:8]}: {one_line(why)}" for one, other, why in done.contradictions[:SHOWN]]
    for name, said, number, found in (
        ("lonely", "never retrieved or used", done.lonely_count, done.lonely),
        ("stale", "not touched for 90 days", done.stale_count, done.stale),
    ):
        rows += [f"{name}: {count(number, 'chunk')} {said}"]
        rows += [f"  {one.chunk_id[:8]} {one_line(one.document)}: {one_line(one.text)}" for one in found[:5]]
        rows += _more(number, 5)
    rows += [f"note: {one_line(note)}" for note in done.warnings]
    if done.dry_run:
        rows.append("dry run; nothing was changed")
    elif done.run_id:
        rows.append(f"'knowledge library undo {done.run_id[:8]}' takes this back")
    else:
        rows.append("nothing to change")
    return "\n".join(rows) + "\n"


def _more(number: int, shown: int = SHOWN) -> list[str]:
    return [f"  … and {number - shown} more (--json)"] if number > shown else []


def undone_text(value: Undone | list[ChangeRun]) -> str:
    if isinstance(value, list):
        if not value:
            return "there is no consolidation to undo\n"
        rows = []
        for run in value:
            number = count(int(run.report.get("changed", 0)), "change")
            undone = "  (undone)" if run.undone_at else ""
            rows.append(f"{run.id[:8]}  {run.started_at:%Y-%m-%d %H:%M}  {run.kind}  {number}{undone}")
        return "\n".join([*rows, "'knowledge library undo RUN' takes one back"]) + "\n"
    if value.already:
        return f"already undone: {value.run_id[:8]}\n"
    rows = [f"undone: {value.run_id[:8]} ({count(value.changed, 'change')} taken back)"]
    return "\n".join([*rows, *(f"kept: {one}" for one in value.kept)]) + "\n"


def reflected_text(found: Reflection) -> str:
    from core.library.use.tasks import outcomes_text

    lately = f" in the last {count(found.days, 'day')}" if found.days else ""
    rows = [f"{count(found.traces, 'trace')} recorded{lately}"]
    if found.tasks:
        rows += ["", "What kinds of task are served well, and which badly?"]
        rows += [
            f"  {one.task_type}: {one.verdict}{_rate(one.success)} ({outcomes_text(one.outcomes)}; "
            f"{count(one.questions, 'question')}, {one.unanswered} without an answer of use)"
            for one in found.tasks
        ]
    if found.sources:
        rows += ["", "Which sources pull their weight, and which are noise?"]
        rows += [
            f"  {one_line(one.domain)} ({one.source_type}): {one.verdict}{_rate(one.success)} "
            f"({outcomes_text(one.outcomes)}; "
            f"{count(one.documents, 'document')}, shown {one.retrieved} times)"
            for one in found.sources
        ]
    if found.gaps or found.unanswered:
        rows += ["", "What keeps coming up that we have gaps in?"]
        rows += [
            f"  {one_line(one.concept)}: {count(one.questions, 'question')}; {one_line(one.notes)}"
            for one in found.gaps
        ]
        rows += [f"  {at[:10]} [{task}] {one_line(query)!r}" for query, task, at in found.unanswered]
    if found.retire:
        rows += ["", "Which chunks keep failing?"]
        rows += [
            f"  {one.chunk_id[:8]} {one_line(one.title)}: {outcomes_text(one.outcomes)}{_rate(one.success)}: "
            f"{one_line(one.text)}"
            for one in found.retire
        ]
    if found.lonely or found.stale:
        rows += ["", f"{found.lonely} chunks were never used, {found.stale} not touched for 90 days"]
    if found.connections:
        rows += ["", "What goes together unexpectedly?"]
        rows += [
            f"  {one_line(one.one_text)} + {one_line(one.other_text)} ({one_line(one.note)})"
            for one in found.connections
        ]
    if found.concept is not None:
        about = found.concept
        rows += ["", f"How has the understanding of {one_line(about.concept)} evolved?"]
        rows += [f"  {month}: {count(number, 'document')}" for month, number in about.documents.items()]
        rows += [f"  {month}: {outcomes_text(counts)}" for month, counts in about.outcomes.items()]
        rows += [f"  {at}: {one_line(text)}" for at, text in about.profiles]
        rows += [f"  missing: {one_line(about.gaps)}"] if about.gaps else []
    return "\n".join(rows) + "\n"


def _rate(rate: float | None) -> str:
    return "" if rate is None else f", success {rate:.2f}"


_TASK = option("--task", f"what it is for: {listed(TASK_TYPES)} (default: told from the question)", "TASK",
               choices=("", *TASK_TYPES))  # fmt: skip
_SESSION = option("--session", "the work session that it belongs to, any name", "S")
SUBCOMMANDS = (
    Command(
        "retrieve",
        "the best chunks for a question, each with what it was good and bad for",
        "knowledge library retrieve why does it deadlock --task debugging",
        "core.commands.library.use:library_retrieve",
        answered_text,
        (
            Argument(("query",), "any words", {"nargs": "+", "metavar": "QUERY"}),
            _TASK,
            whole_number("--limit", "at most N (default: 10)", 10),
            repeated("--strategy", f"only {listed(STRATEGIES)} (repeatable)", "S", choices=STRATEGIES),
            _SESSION,
            flag("--judge", "let the configured model read the dossiers and put them in order"),
            flag("--bullets", "also what the harvested files say"),
            flag("--unlogged", "do not remember that this was asked"),
        ),
        words=NAMED,
    ),
    Command(
        "record",
        "write down how a use went and why, or read it from conversations (--from)",
        "knowledge library record --chunk 3f2a91c0 --outcome win",
        "core.commands.library.use:library_record",
        recorded_text,
        (
            repeated("--chunk", "a chunk that was used: its id or the beginning of it (repeatable)", "ID"),
            option("--outcome", f"how it went: {listed(OUTCOMES)}", "O", choices=("", *OUTCOMES)),
            option("--notes", "why: the richest signal of all", "TEXT"),
            _TASK,
            option("--context", "what you were doing", "TEXT"),
            option("--query", "the question (default: that of the retrieval)", "TEXT"),
            _SESSION,
            option("--retrieval", "the retrieval that it is about, by its id", "ID"),
            option("--undo", "take this record back, by its id ('knowledge library traces')", "TRACE"),
            Argument(
                ("--from",),
                "read what this conversation used of what was retrieved in it (repeatable; a folder: all in it)",
                {"action": "append", "metavar": "FILE", "dest": "conversation", "default": None},
            ),
        ),
    ),
    Command(
        "traces",
        "what was recorded, by session",
        "knowledge library traces --session monday",
        "core.commands.library.use:library_traces",
        traces_text,
        (
            option("--session", "only this session", "S"),
            option("--chunk", "only what this chunk was used for", "ID"),
            whole_number("--limit", "at most N sessions (default: 20)", 20),
        ),
    ),
    Command(
        "consolidate",
        "turn traces into profiles, patterns into links; tell what is lonely, stale or contradictory",
        "knowledge library consolidate --dry-run",
        "core.commands.library.use:library_consolidate",
        consolidated_text,
        (flag("--dry-run", "show what would change"), flag("--rules", "ask no model")),
    ),
    Command(
        "reflect",
        "what the library serves well and badly, what is missing, what to retire, what goes together",
        "knowledge library reflect --concept 'event loop'",
        "core.commands.library.use:library_reflect",
        reflected_text,
        (
            Argument(("--scope",), f"only {listed(SCOPES[1:])}", {"choices": SCOPES, "default": "all"}),
            option("--concept", "also how this concept evolved", "NAME"),
            whole_number("--days", "only what was asked and recorded in the last N days (default: ever)", 0),
        ),
        words=NAMED,
    ),
    Command(
        "undo",
        "take a consolidation back, or list them",
        "knowledge library undo 3f2a91c0",
        "core.commands.library.use:library_undo",
        undone_text,
        (optional("run", "the run, or the beginning of it"),),
    ),
)
"""Rows of `knowledge library`, for the table in `library.py`."""
