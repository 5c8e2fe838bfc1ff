"""`knowledge library`: what its results look like, and its rows in the table of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import (
    NAMED,
    Argument,
    flag,
    group,
    listed,
    needed,
    option,
    optional,
    repeated,
    single,
    whole_number,
)
from core.cli.text import count, one_line, short
from core.library.use.tasks import outcomes_text

if TYPE_CHECKING:
    from core.commands.library.documents import Changed, Copied, LibraryState, Shelf
    from core.commands.library.ingest import Ingested
    from core.commands.library.use import Answered, Recorded, Traced
    from core.library.catalogue import Shown
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
CONTENT_TYPES = ("article", "paper", "note", "code", "conversation", "reference")
STATUSES = ("active", "archived", "superseded", "all")
_WORDS = {
    "new": "new",
    "changed": "changed",
    "known": "known from elsewhere",
    "restored": "as it was before",
    "unchanged": "unchanged",
    "archived": "taken out by you, left out",
}


def ingested_text(done: Ingested) -> str:
    counts = dict(done.counts)
    counts["unchanged"] = counts.get("unchanged", 0) + done.unchanged
    counted = [f"{counts[status]} {words}" for status, words in _WORDS.items() if counts.get(status)]
    chunks = sum(row["chunks"] for row in done.documents if row["status"] in ("new", "changed", "restored"))
    lines = [f"documents: {', '.join(counted) or 'none'}"]
    if chunks:
        lines.append(f"chunks: {chunks}")
    if done.redacted:
        lines.append(f"secrets replaced: {done.redacted}")
    if done.skipped:
        lines.append("passed over: " + ", ".join(f"{number} {what}" for what, number in sorted(done.skipped.items())))
    if done.backup:
        lines.append(f"the library was copied before it was migrated: {done.backup}")
    if done.stopped:
        lines.append(f"{done.stopped}; run it again to go on")
    return "\n".join(lines) + "\n"


def list_text(shelf: Shelf) -> str:
    if not shelf.documents:
        return "no documents; 'knowledge library ingest PATH' takes some in\n"
    lines = [
        f"{row['id'][:8]}  {row['content_type']:<12} {row['chunks']:>4}  {short(row['title'])}  {one_line(row['path'])}"
        for row in shelf.documents
    ]
    if shelf.found > len(shelf.documents):
        lines.append(f"… and {shelf.found - len(shelf.documents)} more (--limit)")
    return "\n".join(lines) + "\n"


def show_text(shown: Shown) -> str:
    document, profile = shown.document, shown.profile
    lines = [document.title, f"{document.id}  {document.content_type}, {document.status}", *shown.places]
    if profile is not None:
        lines.append(f"source: {profile.domain} ({profile.source_type})")
        lines += [f"  {profile.functional_profile}"] if profile.functional_profile else []
    lines += ["", document.top_summary] if document.top_summary else []
    if document.key_claims:
        lines += ["", *(f"- {claim}" for claim in document.key_claims)]
    if shown.concepts:
        lines += ["", "concepts: " + ", ".join(f"{name} ({number})" for name, number in shown.concepts)]
    for row in shown.chunks:
        leans = ", needs its context" if row.needs_context else ""
        about = f"{row.chunk_type}, {row.rhetorical_mode}, {row.token_count} tokens{leans}"
        lines += ["", f"[{row.id[:8]}] {row.heading or '-'} ({about})", f"  {row.summary}"]
        lines += [f"  good for: {row.functional_profile}"] if row.functional_profile else []
    return "\n".join(lines) + "\n"


def changed_text(changed: Changed) -> str:
    words = {"archived": "taken out", "active": "brought back", "erased": "erased"}
    return f"{words[changed.status]}: {changed.title} ({changed.chunks} chunks)\n"


def state_text(state: LibraryState) -> str:
    counts = state.counts
    size = f", {state.bytes / (1 << 20):.1f}MB" if state.bytes else ""
    others = [
        f"{counts.get(name, 0)} {name.removeprefix('documents_')}" for name in counts if name.startswith("documents_")
    ]
    names = {"chunk": "chunks", "concept": "concepts", "mention": "mentions", "link": "links"}
    more = {"source_profile": "sources", "usage_trace": "usage traces", "embedding": "vectors"}
    lines = [
        f"library: {state.address} (version {state.version}{size})",
        f"documents: {', '.join(others) or 'none'}",
        *([f"types: {', '.join(f'{name}:{number}' for name, number in state.types.items())}"] if state.types else []),
        ", ".join(f"{label}: {counts.get(name, 0)}" for name, label in (names | more).items()),
        f"copies: {len(state.backups)}" + (f", the latest {state.backups[-1]}" if state.backups else ""),
    ]
    return "\n".join(lines) + "\n"


def copied_text(copied: Copied) -> str:
    if copied.rows:
        return f"copied {sum(copied.rows.values())} rows to {copied.path}\n"
    return f"copied to {copied.path} ({copied.bytes / (1 << 20):.1f}MB)\n"


# --- what documents are used for ----------------------------------------------------------------------------------


def answered_text(answer: Answered) -> str:
    """The dossiers as a model or a person reads them."""
    from core.library.use.dossier import as_text

    found = answer.retrieved
    guessed, asked = " (inferred)" * found.inferred, f"; retrieval {found.id}" if found.id else ""
    rows = [f"task: {found.task_type}{guessed}{asked}"]
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
    rows = []
    for name, changed, did in (
        ("profiles", done.of("chunk", "source_profile", "concept"), "written"),
        ("links", done.of("link"), "changed"),
    ):
        rows += [f"{name}: {len(changed)} {would}{did}"]
        rows += [f"  {one_line(one.what)}" for one in changed[:SHOWN]] + _more(len(changed), SHOWN)
    rows += [one_line(one.what) for one in done.of("ranking")]
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

    lately = f" in the last {count(found.days, 'day')}" if found.days else ""
    rows = [f"{count(found.traces, 'trace')} recorded{lately}"]
    tasks = [
        f"  {one.task_type}: {one.verdict}{_rate(one.success)} ({outcomes_text(one.outcomes)}; "
        f"{count(one.questions, 'question')}, {one.unanswered} without an answer of use)"
        for one in found.tasks
    ]
    sources = [
        f"  {one_line(one.domain)} ({one.source_type}): {one.verdict}{_rate(one.success)} "
        f"({outcomes_text(one.outcomes)}; {count(one.documents, 'document')}, shown {one.retrieved} times)"
        for one in found.sources
    ]
    gaps = [
        f"  {one_line(one.concept)}: {count(one.questions, 'question')}; {one_line(one.notes)}" for one in found.gaps
    ]
    gaps += [f"  {at[:10]} [{task}] {one_line(query)!r}" for query, task, at in found.unanswered]
    failing = [
        f"  {one.chunk_id[:8]} {one_line(one.title)}: {outcomes_text(one.outcomes)}{_rate(one.success)}: "
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
        rows += [f"  {at}: {one_line(text)}" for at, text in about.profiles]
        rows += [f"  missing: {one_line(about.gaps)}"] if about.gaps else []
    return "\n".join(rows) + "\n"


def _rate(rate: float | None) -> str:
    return "" if rate is None else f", success {rate:.2f}"


# --- rows ---------------------------------------------------------------------------------------------------------


def _type(words: str) -> Argument:
    return option("--type", words, "TYPE", choices=("", *CONTENT_TYPES))


_WHICH = needed("which", "a document's id (its first letters are enough), the id of a chunk of it, or its path", "ID")
_TASK = option("--task", f"what it is for: {listed(TASK_TYPES)} (default: told from the question)", "TASK",
               choices=("", *TASK_TYPES))  # fmt: skip
_SESSION = option("--session", "the work session that it belongs to, any name", "S")
COMMANDS = (
    group(
        "library",
        "documents and what each was good for: ingest PATH, retrieve QUERY, record, consolidate, reflect, list, …",
        "ingest ~/notes",
        single(
            "list",
            "the documents, the latest first",
            "--type code",
            ".library.documents:library_list",
            list_text,
            _type("only documents of this type"),
            Argument(("--status",), "only those of this status", {"choices": STATUSES, "default": "active"}),
            whole_number("--limit", "at most N (default: 50)", 50),
            words=NAMED,
        ),
        single(
            "ingest",
            "take in files, folders and addresses: what is there already is not taken in again",
            "~/notes https://example.org/page",
            ".library.ingest:library_ingest",
            ingested_text,
            Argument(("paths",), "files, folders and http(s) addresses", {"nargs": "+", "metavar": "PATH"}),
            _type("what the documents are, where that is not to be told by their content"),
            option("--provider", "who describes them: 'offline' asks no model (default: the setting)", "P"),
            option("--scheduler", "read them on the cluster of this scheduler (default: workers)", "ADDRESS"),
            flag("--again", "prepare also what has not changed"),
            flag("--yes", "do not ask: take in also a new text that leaves behind what was learned of the old one"),
            long=True,
            asks=True,
            words=NAMED,
        ),
        single(
            "show",
            "one document: its summary, source, concepts and chunks",
            "3f2a91c0",
            ".library.documents:library_show",
            show_text,
            _WHICH,
            words=NAMED,
        ),
        single(
            "remove",
            "take a document out: it is retrieved no more, and can be restored",
            "3f2a91c0",
            ".library.documents:library_remove",
            changed_text,
            _WHICH,
        ),
        single(
            "restore",
            "bring back a document that was taken out",
            "3f2a91c0",
            ".library.documents:library_restore",
            changed_text,
            _WHICH,
        ),
        single(
            "forget",
            "erase a document for good, with what was learned of it",
            "3f2a91c0",
            ".library.documents:library_forget",
            changed_text,
            _WHICH,
        ),
        single(
            "status",
            "where the library is and what it holds; --check reads all of it",
            "--check",
            ".library.documents:library_status",
            state_text,
            flag("--check", "see whether it is whole"),
        ),
        single(
            "backup",
            "copy the library while it is in use: to its folder of copies, another folder, "
            "or another library's address",
            "",
            ".library.documents:library_backup",
            copied_text,
            optional("to", "a folder, or the address of an empty library (postgresql://…)"),
        ),
        single(
            "retrieve",
            "the best chunks for a question, each with what it was good and bad for",
            "why does it deadlock --task debugging",
            ".library.use:library_retrieve",
            answered_text,
            Argument(("query",), "any words", {"nargs": "+", "metavar": "QUERY"}),
            _TASK,
            whole_number("--limit", "at most N (default: 10)", 10),
            repeated("--strategy", f"only {listed(STRATEGIES)} (repeatable)", "S", choices=STRATEGIES),
            _SESSION,
            flag("--judge", "let the configured model read the dossiers and put them in order"),
            flag("--bullets", "also what the harvested files say"),
            flag("--unlogged", "do not remember that this was asked"),
            words=NAMED,
        ),
        single(
            "record",
            "write down how a use went and why, or read it from conversations (--from)",
            "--chunk 3f2a91c0 --outcome win",
            ".library.use:library_record",
            recorded_text,
            repeated("--chunk", "a chunk that was used: its id or the beginning of it (repeatable)", "ID"),
            option("--outcome", f"how it went: {listed(OUTCOMES)}", "O", choices=("", *OUTCOMES)),
            option("--notes", "why: the richest signal of all", "TEXT"),
            _TASK,
            option("--context", "what you were doing", "TEXT"),
            option("--query", "the question (default: that of the retrieval)", "TEXT"),
            _SESSION,
            option("--retrieval", "the retrieval that it is about, by its id", "ID"),
            option("--undo", "take this record back, by its id ('knowledge library traces')", "TRACE"),
            repeated(
                "--from",
                "read what this conversation used of what was retrieved in it (repeatable; a folder: all in it)",
                "FILE",
                dest="conversation",
            ),
        ),
        single(
            "traces",
            "what was recorded, by session",
            "--session monday",
            ".library.use:library_traces",
            traces_text,
            option("--session", "only this session", "S"),
            option("--chunk", "only what this chunk was used for", "ID"),
            whole_number("--limit", "at most N sessions (default: 20)", 20),
        ),
        single(
            "consolidate",
            "turn traces into profiles, patterns into links; tell what is lonely, stale or contradictory",
            "--dry-run",
            ".library.use:library_consolidate",
            consolidated_text,
            flag("--dry-run", "show what would change"),
            flag("--rules", "ask no model"),
        ),
        single(
            "reflect",
            "what the library serves well and badly, what is missing, what to retire, what goes together",
            "--concept 'event loop'",
            ".library.use:library_reflect",
            reflected_text,
            Argument(("--scope",), f"only {listed(SCOPES[1:])}", {"choices": SCOPES, "default": "all"}),
            option("--concept", "also how this concept evolved", "NAME"),
            whole_number("--days", "only what was asked and recorded in the last N days (default: ever)", 0),
            words=NAMED,
        ),
        single(
            "undo",
            "take a consolidation back, or list them",
            "3f2a91c0",
            ".library.use:library_undo",
            undone_text,
            optional("run", "the run, or the beginning of it"),
        ),
    ),
)
