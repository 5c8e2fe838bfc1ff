"""`knowledge library`: what documents are used for. Retrieving, recording how it went, and learning from that.

How documents come in is in `ingest.py`, how they go in `documents.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.base.project import project_root
from core.base.result import KnowledgeError
from core.base.secrets.redact import redact
from core.commands.library.documents import leaving_out_removed, opened_library, trace_line
from core.commands.text import count, one_line
from core.commands.workspace import Workspace, utc_now
from core.experience.kinds import outcomes_text, rate_text
from core.experience.record import Served

if TYPE_CHECKING:
    from core.base.answer import Generate
    from core.commands.project import Scope
    from core.library.database import Library
    from core.library.records import ChangeRun, UsageTrace
    from core.library.told import Told
    from core.library.use.changes import Undone
    from core.library.use.consolidate import Consolidation
    from core.library.use.inference import Heard
    from core.library.use.postgresql import Embedder
    from core.library.use.reflect import Reflection
    from core.library.use.retrieve import Retrieved
    from core.search.index import Index

LIMIT = 10


SECRETS_REPLACED = "{} replaced before it was written"
"""With a count of secrets."""


def _cleared(workspace: Workspace, text: str) -> str:
    """Text that goes into the library, without secrets."""
    return redact(text).text if workspace.config.redact else text


def _model(workspace: Workspace) -> Generate | None:
    """The model that the settings name; None where they name the offline rules."""
    if workspace.config.provider == "offline":
        return None
    from core.commands.harvest_options import connect_provider

    return connect_provider(workspace, workspace.config.provider, "")


def _embedder(workspace: Workspace) -> tuple[Embedder | None, str]:
    """The embedder that the settings name, for a team's library, and a sentence where it cannot be had."""
    if not workspace.config.embedder:
        return None, ""
    from core.commands.workspace import embedder_name, embedder_of
    from core.library.use.postgresql import Embedder

    try:
        return Embedder(embedder_name(workspace)[:200], embedder_of(workspace)), ""
    except KnowledgeError as failed:
        return None, f"{failed.error} Words alone were compared."


# --- retrieve ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answered:
    """What was retrieved: dossiers, best first. `size` is how much of a dossier is told: "" for compact text and full
    JSON."""

    retrieved: Retrieved
    warnings: tuple[str, ...] = ()
    size: str = ""

    def to_json(self) -> list[dict[str, Any]]:
        """The list of `--json`: each row with `kind`, `key`, `text`, `score`, `why`, `provenance`, and what a dossier
        has more."""
        return self.retrieved.to_json(self.size or "full")


def library_retrieve(
    workspace: Workspace,
    query: str | Sequence[str],
    task: str = "",
    limit: int = LIMIT,
    session: str = "",
    size: str = "",
    *,
    unlogged: bool = False,
    scope: Scope | None = None,
) -> Answered:
    """The best chunks of the library for a question, each with its dossier. `unlogged` leaves no trace of the
    question; with a `scope` what that may be told alone."""
    text = _cleared(workspace, query if isinstance(query, str) else " ".join(query)).strip()
    if not text:
        raise KnowledgeError("usage", "what is looked for is empty")
    if limit < 1:
        raise KnowledgeError("usage", "--limit must be at least 1")
    notes: list[str] = []
    with opened_library(workspace, told=_told(scope)) as library:
        from core.commands.search import near_in, opened_search, search_folder
        from core.library.use.retrieve import retrieve

        searched: AbstractContextManager[Index | None] = nullcontext()  # a server searches by itself
        if library.is_sqlite:
            searched = closing(opened_search(workspace, None))
        with searched as index:
            near, embedder = None, None
            if index is not None:
                near, note = near_in(workspace, index, search_folder(workspace, None), text)
            else:
                embedder, note = _embedder(workspace)
            notes.extend([note] if note else [])
            found = retrieve(
                library, text, now=utc_now(), index=index, task_type=task, limit=limit, near=near,
                embedder=embedder, session_id=session, project=used_in(workspace, scope),
                log=not unlogged,
            )  # fmt: skip
        found = leaving_out_removed(workspace, found)
        kept = tuple(one for one in found.dossiers if one.chunk.content.strip())  # some have nothing left to tell
        return Answered(replace(found, dossiers=kept), (*notes, *found.warnings), size)


def _told(scope: Scope | None) -> Told | None:
    """What of the library may be read."""
    if scope is None or scope.everything:
        return None
    from core.library.fetch import is_address
    from core.library.told import Told

    return Told(lambda source, place: is_address(source) or scope.tells_file(source, place), scope.tells_use)


def used_in(workspace: Workspace, scope: Scope | None) -> str:
    """The project in which something that was told is used, "" for none."""
    return scope.folder if scope is not None else project_root(str(workspace.cwd))


# --- record -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """The traces that were written, or the one that was taken back (`withdrawn`)."""

    traces: tuple[UsageTrace, ...]
    withdrawn: bool = False
    warnings: tuple[str, ...] = ()


def library_record(
    workspace: Workspace,
    session: str = "",
    chunk: Sequence[str] | None = None,
    task: str = "",
    outcome: str = "",
    context: str = "",
    query: str = "",
    notes: str = "",
    retrieval: str = "",
    undo: str = "",
    *,
    scope: Scope | None = None,
) -> Recorded:
    """Write down how a use went: what was tried, with which chunks, the outcome, and why. With `undo`, the id of a
    trace, that one is taken back and nothing else done."""
    if undo:
        if outcome or chunk:
            message = "--undo takes a record back and writes none"
            raise KnowledgeError("usage", message, hint="run the command again without it")
        with opened_library(workspace, told=_told(scope)) as library:
            from core.library.use.usage import withdraw

            return Recorded((withdraw(library, undo),), withdrawn=True)
    if not outcome:
        raise KnowledgeError("usage", "which outcome? --outcome win, partial, miss or misleading")
    said = {"context_summary": context, "query": query, "notes": notes}
    clean = {name: _cleared(workspace, text) for name, text in said.items()}
    number = sum(sum(redact(text).counts.values()) for text in said.values()) if clean != said else 0
    warnings = (SECRETS_REPLACED.format(count(number, "secret")),) if number else ()
    with opened_library(workspace, told=_told(scope)) as library:
        from core.library.records import UsageTrace, new_id
        from core.library.use.usage import record

        used = UsageTrace(
            new_id(), tuple(chunk or ()), task, outcome, utc_now(), session,
            retrieval_id=retrieval or None, project=used_in(workspace, scope), **clean,
        )  # fmt: skip
        return Recorded((record(library, used),), warnings=warnings)


def inferred_from(library: Library, heard: Heard) -> list[UsageTrace]:
    from core.library.use.inference import record_heard

    with library.writing() as connection:
        return record_heard(connection, heard)


def served_by_library(workspace: Workspace, chunk: str, scope: Scope | None = None) -> Served:
    """How one chunk served, as the library has it; with a `scope` what that may be told alone."""
    with opened_library(workspace, told=_told(scope)) as library:
        from core.library.use.usage import histories, tally_of

        with library.reading() as connection:
            history = histories(connection, [chunk]).get(chunk, [])
        misled = {one.task_type: one.notes for one in reversed(history) if one.outcome == "misleading"}
        return Served(tally_of(history), misled=misled)


# --- learn ------------------------------------------------------------------------------------------------------------


def library_consolidate(
    workspace: Workspace,
    *,
    dry_run: bool = False,
    rules: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
    patience: float | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Consolidation:
    """Turn traces into profiles and patterns into links. `dry_run` shows what would change; with `rules` no model is
    asked, whatever the settings say."""
    model = None if rules or dry_run else _model(workspace)
    with opened_library(workspace, patience) as library:
        from core.library.use.consolidate import consolidate

        return consolidate(library, now=now(), generate=model, dry_run=dry_run, cancelled=cancelled)


def library_undo(workspace: Workspace, run: str = "") -> Undone | list[ChangeRun]:
    """Take a consolidation back; without a run, the list of them."""
    with opened_library(workspace) as library:
        from core.library.use.changes import list_runs, undo

        return undo(library, run, utc_now()) if run else list_runs(library)


def library_reflect(
    workspace: Workspace, scope: str = "all", concept: str = "", *, within: Scope | None = None
) -> Reflection:
    """Questions about the library, answered from what was recorded; `within` what may be told."""
    with opened_library(workspace, told=_told(within)) as library:
        from core.library.use.reflect import reflect

        return leaving_out_removed(workspace, reflect(library, scope=scope, concept=concept, now=utc_now()))


# --- at the command line --------------------------------------------------------------------------------------------


SHOWN = 20


def answered_text(answer: Answered) -> str:
    """The dossiers as a model or a user reads them."""
    from core.library.use.dossier import as_text

    found = answer.retrieved
    guessed, asked = " (inferred)" * found.inferred, f"; retrieval {found.id}" if found.id else ""
    rows = [f"task: {found.task_type}{guessed}{asked}"]
    rows += [
        as_text(dossier, number, answer.size or "compact") for number, dossier in enumerate(found.dossiers, start=1)
    ]
    if not found.dossiers:
        rows.append(f"nothing found for {one_line(found.query)!r}; this is remembered as a gap")
    rows += [f"note: {one_line(note)}" for note in answer.warnings]
    return "\n\n".join(rows) + "\n"


def recorded_text(done: Recorded) -> str:
    rows = [f"taken back: {trace_line(trace)}" if done.withdrawn else trace_line(trace) for trace in done.traces]
    rows += [f"note: {warning}" for warning in done.warnings]
    return "\n".join(rows) + "\n"


def consolidated_text(done: Consolidation) -> str:
    would = "would be " if done.dry_run else ""
    rows = []
    for name, changed, did in (
        ("profiles", done.of("chunk", "source_profile", "concept"), "written"),
        ("links", done.of("link"), "changed"),
    ):
        rows += [f"{name}: {len(changed)} {would}{did}"]
        rows += [f"  {one_line(one.what)}" for one in changed[:SHOWN]] + _more(len(changed), SHOWN)
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


def _more(number: int, shown: int) -> list[str]:
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
    rows = [f"{count(found.traces, 'trace')} recorded"]
    tasks = [
        f"  {one.task_type}: {one.verdict}{rate_text(one.success)} ({outcomes_text(one.outcomes)}; "
        f"{count(one.questions, 'question')}, {one.unanswered} without an answer of use)"
        for one in found.tasks
    ]
    sources = [
        f"  {one_line(one.domain)} ({one.source_type}): {one.verdict}{rate_text(one.success)} "
        f"({outcomes_text(one.outcomes)}; {count(one.documents, 'document')}, shown {one.retrieved} times)"
        for one in found.sources
    ]
    gaps = [
        f"  {one_line(one.concept)}: {count(one.questions, 'question')}; {one_line(one.notes)}" for one in found.gaps
    ]
    gaps += [f"  {one['at'][:10]} [{one['task_type']}] {one_line(one['query'])!r}" for one in found.unanswered]
    failing = [
        f"  {one.chunk_id[:8]} {one_line(one.title)}: {outcomes_text(one.outcomes)}{rate_text(one.success)}: "
        f"{one_line(one.text)}"
        for one in found.retire
    ]
    pairs = [
        f"  {one_line(one.one_text)} + {one_line(one.other_text)} ({one_line(one.note)})" for one in found.connections
    ]
    for heading, lines in (
        ("What kinds of task are served well, and which badly?", tasks),
        ("Which sources pull their weight, and which are noise?", sources),
        ("What keeps coming up that we have gaps in?", gaps),
        ("Which chunks keep failing?", failing),
    ):
        rows += ["", heading, *lines] if lines else []
    if found.lonely or found.stale:
        rows += ["", f"{found.lonely} chunks were never used, {found.stale} not touched for 90 days"]
    rows += ["", "What goes together unexpectedly?", *pairs] if pairs else []
    if found.concept is not None:
        about = found.concept
        rows += ["", f"How has the understanding of {one_line(about.concept)} evolved?"]
        rows += [f"  {month}: {count(number, 'document')}" for month, number in about.documents.items()]
        rows += [f"  {month}: {outcomes_text(counts)}" for month, counts in about.outcomes.items()]
        rows += [f"  {one['at']}: {one_line(one['text'])}" for one in about.profiles]
        rows += [f"  missing: {one_line(about.gaps)}"] if about.gaps else []
        rows += [f"  {one_line(said)}" for said in about.links]
    return "\n".join(rows) + "\n"
