"""`knowledge harvest`: the dry run and the run itself; `knowledge import PATH`: what other tools remember becomes
bullets, shown first, undoable afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from core.base import files
from core.base.choices import PROVIDERS
from core.base.homes import ADVICE, unwritable_folder
from core.base.markdown import split_provenance
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.base.settings import find_setting
from core.commands.daily.autopilot import run_by_itself
from core.commands.harvest_options import (
    HarvestRequest,
    connect_or_refuse,
    connect_provider,
    harvest_options,
    require_price,
    window_tokens,
)
from core.commands.library.cluster import on_cluster
from core.commands.row import NAMED, Argument, flag, listed, needed, repeated, single, whole_number
from core.commands.sources import chosen_sources, elsewhere
from core.commands.statements import bullets_of
from core.commands.text import count, dollars, fed, one_line, short, size, tokens
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.classify import fate_of
from core.harvest.meter import BYTES_A_TOKEN, NO_ACCOUNT, UNKNOWN, Counted, note_usage, read_usage
from core.harvest.plan import first, plan_harvest
from core.harvest.report import HarvestReport, Report
from core.harvest.steps import HarvestOptions
from core.knowledge.categories import CATEGORIES
from core.knowledge.changes import read_changes
from core.knowledge.ledger import Entry, rebuild, seen_ledger
from core.knowledge.ledger_index import LedgerOnDemand
from core.knowledge.run_state import INTERRUPTED, Seen, look, store_state
from core.knowledge.same import statements
from core.knowledge.spending import Account, account_trouble
from core.knowledge.swap import EDITOR_WAIT, EditorWait
from core.sources.artifact import HashCache
from core.sources.incremental import earlier_by_path

if TYPE_CHECKING:
    from core.base.answer import Generate
    from core.commands.library.use import UsageReader
    from core.harvest.imports import ImportReport


MANY = 10
"""From so many conversations on, a run that found next to nothing says why that may be."""


def harvest(
    workspace: Workspace,
    request: HarvestRequest,
    *,
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    now: Clock = utc_now,
    generate: Generate | None = None,
    editor_wait: EditorWait = EDITOR_WAIT,
) -> HarvestReport:
    """Dry run or, with `request.apply`, the harvest. `generate` stands in for the configured provider (for tests).

    Raises KnowledgeError when the run cannot start: a prompt that cannot be read, a lock held by another run, an
    unusable store.
    """
    if request.apply:
        for room in ("fact_feed", "statements"):  # now: a full table of files at the end must not stop the report
            import_module(f"core.commands.{room}")
    options = harvest_options(workspace, request, editor_wait)
    if request.apply:
        require_price(workspace, options, request.model)
    if generate is None and not (request.rough or request.no_harvest):
        window = window_tokens(workspace, options.limits.provider, request.model)
        options = replace(options, distil=replace(options.distil, context_tokens=window))
    cache_file, cache = workspace.cache / "hashes", HashCache()
    with suppress(OSError):
        cache = HashCache.from_bytes(files.read_or_empty(cache_file))
    reader = _usage_reader(workspace) if request.apply else None
    if reader is not None:
        options = replace(options, read_by=reader)
    made = (
        attempt(_apply, workspace, request, options, cache, progress, cancelled, now, generate)
        if request.apply
        else attempt(_dry_run, workspace, request, options, cache, now())
    )
    if cache.changed:
        files.write_cache(cache_file, cache.to_bytes())  # a projection: whether it can be written does not matter
    if isinstance(made, KnowledgeError):
        raise made
    report = made.value
    _estimate(workspace, request, options, report)
    if report.applied:
        _feed_facts(workspace, report, now)
        report.notes += filter(None, [reader.record() if reader is not None else ""])
        try:
            report.lines = _new_lines(workspace, report.run)
            report.notes += _settled(workspace, report.run)
        except OSError as error:
            why = f"the run is over, and its new lines cannot be shown: {error.strerror or error}"
            report.errors.append(ErrorInfo("lines-unreadable", why, str(error.filename or ""), "open the file"))
        if options.limits.provider == "offline":
            report.notes += _little_found(report)
    return report


def _usage_reader(workspace: Workspace) -> UsageReader | None:
    """Who infers afterwards what conversations used of the library, where there is one."""
    there = workspace.config.library_url or files.exists(workspace.paths.library)
    if not (workspace.config.library_infers and there):
        return None
    from core.commands.library.use import UsageReader

    return UsageReader.of(workspace)


def _little_found(report: HarvestReport) -> list[str]:
    """What a person should know when the offline rules read much and found next to nothing."""
    if report.harvested < MANY or report.empty * 4 <= report.harvested * 3:
        return []
    return [
        f"{report.empty} of {report.harvested} conversations gave nothing: the offline rules know English and a few "
        "fixed forms; a language model finds more ('knowledge config set provider …')"
    ]


def _settled(workspace: Workspace, run: str) -> list[str]:
    """What a run took out of the files, in a sentence. Raises OSError."""

    changes = [row for row in read_changes(workspace.paths) if row.run == run]
    lines = [line for row in changes for line in row.removed if line.startswith("- ") and line not in row.added]
    if not lines:
        return []
    went = "line went" if len(lines) == 1 else "lines went"
    texts = [split_provenance(line.removeprefix("- "))[0] for line in lines]
    back = f"'knowledge undo {run}' takes the whole run back"
    settled = "it" if len(lines) == 1 else "them"
    return [f"{len(lines)} {went}, for the rest of the session has settled {settled}: {first(texts)}; {back}"]


def _new_lines(workspace: Workspace, run: str) -> list[tuple[str, str, int]]:
    """What stands in the files since this run, by category, the best first: what more conversations said before what
    was said once, the newest before the older. Nothing of what waits in the quarantine. Raises OSError."""

    came = {(row.file, line) for row in read_changes(workspace.paths) if row.run == run for line in row.added}
    if not came:
        return []
    found = []
    for category in CATEGORIES:
        for name, rows_of_file in groupby(bullets_of(workspace.paths, (category.name,)), attrgetter("file")):
            rows = [row for row in statements(row.bullet for row in rows_of_file) if not row.bullet.struck]
            new = [row for row in rows if any((name, one.raw) in came for one in (row.bullet, *row.others))]
            new.sort(key=lambda row: row.conversations)
            found += [(category.name, row.bullet.text, row.conversations) for row in reversed(new)]
    return found


def _feed_facts(workspace: Workspace, report: HarvestReport | ImportReport, now: Clock) -> None:
    """The fact index gets what committed harvests taught. Like the digest, it blocks nothing: the next run goes on."""
    from core.commands.fact_feed import after_harvest

    report.facts, notes, problem = after_harvest(workspace, now)
    report.notes += notes
    report.errors += [problem] if problem is not None else []


def finish_harvest(workspace: Workspace, *, now: Clock = utc_now) -> HarvestReport:
    """Bring a harvest that was cut off to its end, as the next one would: lines, ledger, digest, facts. Reads no
    conversation and takes none away. Its report says in a note what was finished."""
    nothing_new = HarvestRequest(apply=True, keep=True, limit=0, provider="offline")
    done = harvest(workspace, nothing_new, now=now)
    done.deferred = 0  # nobody has asked for more than the end
    if not done.notes and not done.errors:
        done.notes.append("no harvest was cut off: there was nothing to finish")
    return done


def harvest_command(
    workspace: Workspace,
    *,
    apply: bool = False,
    finish: bool = False,
    no_harvest: bool = False,
    keep: bool = False,
    max_harvest_bytes: int | None = None,
    limit: int | None = None,
    provider: str | None = None,
    model: str | None = None,
    jobs: int | None = None,
    source: Sequence[str] | None = None,
    now: bool = False,
    again: bool = False,
    since_last: bool = False,
    ended: Sequence[str] | None = None,
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> HarvestReport:
    """`harvest` with the arguments of the command line, checked."""
    if provider and provider != "offline":
        from core.llm.generate import PROVIDERS

        if provider not in PROVIDERS:
            known = ", ".join(["offline", *PROVIDERS])
            raise KnowledgeError(
                "unknown-provider", f"there is no provider {provider!r}", hint=f"choose one of {known}"
            )
    if finish:
        return finish_harvest(workspace)
    if no_harvest and keep:
        hint = "--no-harvest takes conversations away unread, --keep takes none away"
        raise KnowledgeError("usage", "--no-harvest and --keep cannot be used together", hint=hint)
    for name, number in (("--max-harvest-bytes", max_harvest_bytes), ("--limit", limit)):
        if number is not None and number < 0:
            raise KnowledgeError("usage", f"{name} cannot be {number}")
    allowed = find_setting("jobs")
    if jobs is not None and allowed is not None and not allowed.check(jobs):
        raise KnowledgeError("usage", f"--jobs cannot be {jobs}", hint=f"accepted: {allowed.accepted}")
    named = chosen_sources(source or (), typed=True)
    request = HarvestRequest(
        apply,
        no_harvest,
        keep,
        max_harvest_bytes,
        limit,
        provider or "",
        model or "",
        jobs,
        named,
        look_around=not apply,
        at_once=now,
        again=again,
    )
    if since_last and apply:
        return run_by_itself(workspace, request, ended or (), harvest, progress=progress, cancelled=cancelled)
    return harvest(workspace, request, progress=progress, cancelled=cancelled)


def _dry_run(
    workspace: Workspace, request: HarvestRequest, options: HarvestOptions, cache: HashCache, now: datetime
) -> HarvestReport:
    paths, notes = workspace.paths, []
    entries: Mapping[str, Entry] = LedgerOnDemand(paths, workspace.cache, earlier_by_path)
    if not request.rough:
        try:
            seen_ledger(paths)
        except KnowledgeError as failed:
            notes.append(str(failed.error))
    interrupted = False
    try:
        holder, records = look(paths)
        run = store_state(Seen(holder, os.getpid(), records)).run
        interrupted = run.state == INTERRUPTED
        if run.at_work:
            notes.append(f"{run.words}; a run that begins before it ends is refused")
        elif interrupted:
            notes.append(f"{run.words}; 'knowledge harvest --finish' puts that right, and so does --apply")
    except OSError as error:
        notes.append(f"nobody knows whether a run is at work: {error.strerror} ({error.filename or paths.lock})")
    try:
        plan = plan_harvest(paths, options, entries, now, cache)
    except OSError as error:
        raise KnowledgeError(
            "scan-failed", f"the conversations cannot be listed: {error.strerror}", error.filename or ""
        ) from error
    if plan.careful:
        notes.append(f"nothing will be reclaimed: {plan.careful}")
    fate = fate_of(plan, options.limits, options.trash_days, interrupted)
    notes += [*plan.notes, *_before_applying(workspace, request, options), *([fate.words] if fate.words else [])]
    if request.look_around and not request.sources:  # who names a source knows what they want
        notes += elsewhere(workspace, workspace.config.sources, entries)
    errors = [*plan.errors]
    report = HarvestReport(
        False, plan=plan, interrupted=interrupted, notes=notes, ledger=str(paths.ledger), errors=errors, fate=fate
    )
    actions = [step.action for step in plan.steps]
    report.too_large, report.deferred = actions.count("too-large"), actions.count("defer")
    return report


def _before_applying(workspace: Workspace, request: HarvestRequest, options: HarvestOptions) -> list[str]:
    """What a person should know before they say --apply."""
    limits, notes = options.limits, []
    unwritable = unwritable_folder(workspace.paths)
    if unwritable is not None:
        notes.append(f"--apply will fail: you cannot write to this home ({unwritable}): {ADVICE}")
    if options.home and not options.places and not files.exists(workspace.paths.conversations):
        notes.append(f"conversations are looked for in {workspace.paths.conversations}, which does not exist yet")
    try:
        require_price(workspace, options, request.model)
    except KnowledgeError as failed:
        notes.append(f"--apply will be refused: {failed.error}")
    if limits.harvest and limits.provider != "offline":
        try:
            connect_provider(workspace, limits.provider, request.model)
        except KnowledgeError as failed:
            notes.append(f"the model cannot be asked: {failed.error}")
    if not limits.harvest:
        notes.append("--no-harvest: nothing is read")
    return notes


def _apply(
    workspace: Workspace,
    request: HarvestRequest,
    options: HarvestOptions,
    cache: HashCache,
    progress: Report,
    cancelled: Callable[[], bool],
    now: Clock,
    generate: Generate | None,
) -> HarvestReport:
    with ExitStack() as stack:
        if generate is None and options.limits.provider != "offline" and not request.no_harvest:
            generate = connect_or_refuse(workspace, options.limits.provider, request.model, cancelled)
            if workspace.config.workers:
                far = on_cluster(workspace, options.limits.provider, request.model)
                generate = stack.enter_context(closing(far))
                options = replace(options, jobs=max(options.jobs, far.threads))
        from core.harvest.pipeline import run_harvest  # a dry run does not pay for it

        counted = Counted(generate) if generate is not None else None
        done = attempt(
            run_harvest, workspace.paths, options, counted, now=now, progress=progress, cancelled=cancelled, cache=cache
        )
        if counted is not None and options.usage is not None:
            note_usage(options.usage, options.asked, counted.usage)
        if isinstance(done, KnowledgeError):
            raise done
        if counted is not None:
            done.value.sent_tokens = counted.sent
            if not options.caps:  # else every call was booked at once
                _book(workspace, options, done.value, now)
        return done.value


def _book(workspace: Workspace, options: HarvestOptions, report: HarvestReport, now: Clock) -> None:
    """What the run has cost goes into the account, for a cap that is set tomorrow. It blocks nothing."""
    tokens = report.input_tokens + report.output_tokens
    if not tokens:
        return
    try:
        Account(workspace.paths.spending, now).add(
            tokens, options.price(report.input_tokens, report.output_tokens) or 0.0
        )
    except OSError as error:
        report.errors.append(ErrorInfo(NO_ACCOUNT, account_trouble(error).rstrip("."), str(error.filename or "")))


def _estimate(workspace: Workspace, request: HarvestRequest, options: HarvestOptions, report: HarvestReport) -> None:
    """Fill in tokens and prices: what the plan would cost, or what the run did cost."""
    notes = list[str]()
    if options.limits.provider == "offline" or request.no_harvest or request.rough:
        report.tokens = report.plan.bytes_to_send() // BYTES_A_TOKEN  # about what a model would read of them
    elif report.applied:
        report.tokens, report.expected_output = report.input_tokens, report.output_tokens
    else:
        from core.harvest.estimate import estimate
        from core.harvest.known import KnownStore  # with what it needs: the offline rules ask no model

        if options.limits.harvest:
            ledger = attempt(seen_ledger, workspace.paths)
            shown = KnownStore.read(workspace.paths, ledger.value if isinstance(ledger, Ok) else {})
            options = replace(options, known=shown)
        usage = read_usage(options.usage, options.asked) if options.usage is not None else UNKNOWN
        found = estimate(report.plan, options, usage=usage)
        report.calls, report.tokens, report.expected_output = found.total
        report.token_factor, report.factor_calls = usage.factor, usage.calls
        notes = _cap_note(options.max_run_tokens, found.fitting, report)
    priced = round(report.tokens * report.token_factor)
    report.price = options.price(priced, report.expected_output)
    report.notes += notes
    if report.applied:
        report.spent = options.price(report.input_tokens, report.output_tokens)


def _cap_note(cap: int, fitting: int | None, report: HarvestReport) -> list[str]:
    """What the cap on tokens will do to the run, before it does it."""
    wanted = sum(step.action == "harvest" for step in report.plan.steps)
    if fitting is None or fitting >= wanted:
        return []
    how_many = f"about {fitting} of {wanted} conversations fit" if fitting else "not even one conversation fits"
    return [f"the cap of {cap:,} tokens a run (max_run_tokens) is too low for all: {how_many}; the others wait"]


# --- what other tools remember ----------------------------------------------------------------------------------------

__all__ = ["ImportReport", "import_memories"]


def import_memories(
    workspace: Workspace, path: str, *, apply: bool = False, now: Clock = utc_now, editor_wait: EditorWait = EDITOR_WAIT
) -> ImportReport:
    """A dry run, or with `apply` the import. Raises KnowledgeError when nothing is there or the store cannot be
    used."""
    from core.harvest.imports import plan_import, run_import

    if not path.strip():
        raise KnowledgeError("usage", "which file or folder?", hint="'knowledge import .' takes the current folder")
    where = Path(os.path.abspath(workspace.cwd / os.path.expanduser(path)))
    if not apply:
        ledger = attempt(seen_ledger, workspace.paths)
        entries = ledger.value if isinstance(ledger, Ok) else rebuild(workspace.paths)
        return plan_import(workspace.paths, where, entries, secrets=workspace.config.redact)
    options = harvest_options(workspace, HarvestRequest(), editor_wait)
    done = run_import(workspace.paths, where, options, now)
    if done.imported:
        _feed_facts(workspace, done, now)
    return done


# --- at the command line --------------------------------------------------------------------------------------------


SHOWN, NAME_CHARACTERS = 20, 80
"""So many conversations are named before a run, and so much of a name."""


LINES, LINE_CHARACTERS = 10, 300
"""So many new lines of a category are shown, and so much of one."""


HEADINGS = {
    "facts": "facts",
    "decisions": "decisions",
    "tasks_done": "tasks done",
    "tasks_open": "open tasks",
    "questions": "open questions",
    "playbooks": "playbooks",
    "files": "notes on files",
}


# What a step of the plan does, as a person says it; the order is that of the line.
_ACTIONS = (
    ("harvest", "to harvest"),
    ("duplicate", "with the same content as another"),
    ("reclaim", "harvested before, to take away"),
    ("discard", "to take away without harvest"),
    ("unreadable", "unreadable"),
    ("prune", "to prune"),
)


def harvest_text(report: HarvestReport) -> str:
    """The whole report: of a dry run what would be done, of a run what was done and what is new in the files."""
    return _report(report, _new_lines_text(report))


def without_new_lines(report: HarvestReport) -> str:
    """The report for `--quiet`."""
    return _report(report, [])


def _report(report: HarvestReport, new_lines: list[str]) -> str:
    lines = _done(report) if report.applied else _planned(report)
    lines += _left(report)
    return "\n".join(lines + [f"note: {one_line(note)}" for note in report.notes] + new_lines) + "\n"


def _planned(report: HarvestReport) -> list[str]:
    from core.harvest.steps import CLASSES

    plan = report.plan
    lines = [
        "artifacts: " + ", ".join(f"{name}:{plan.counts.get(name, 0)}" for name in CLASSES),
        f"harvest candidates: {size(plan.candidate_bytes())} (~{tokens(report.tokens)} input tokens), "
        f"prune candidates: {size(plan.bytes_of('prune'))}",
        "dry run; pass --apply to harvest and reclaim",
    ]
    return lines + _plan_lines(report) + _named(report) + _source_lines(report)


def _done(report: HarvestReport) -> list[str]:
    lines = [
        f"reclaimed: {size(report.reclaimed_bytes)}",
        "harvested items: " + ", ".join(f"{name}:{number}" for name, number in report.items.items()),
        f"digest: {report.digest or 'none'}",
        f"ledger: {report.ledger}",
    ]
    if report.trashed:
        lines.append(
            f"moved to the trash until {_local_day(report.trash_until)}: {count(report.trashed, 'conversation')}, "
            f"{size(report.trashed_bytes)} ('knowledge trash' lists them)"
        )
    if report.reclaimed > report.trashed:
        gone, freed = report.reclaimed - report.trashed, report.reclaimed_bytes - report.trashed_bytes
        lines.append(f"removed for good: {count(gone, 'conversation')}, {size(freed)} (trash_days is 0)")
    if report.harvested or report.reclaimed or report.errors:
        lines.append(
            f"run: {report.run} (conversations: {report.harvested} harvested, {report.empty} of them with nothing "
            f"worth keeping, {report.failed} failed; {report.reclaimed} reclaimed)"
        )
    elif not (report.deferred or report.too_large or report.cancelled or report.plan.writing):
        lines.append("nothing new: no conversation waits to be harvested")
    if report.notes_as_facts:
        lines += _notes_as_facts(report.notes_as_facts - report.notes_outside, report.notes_outside)
    lines += fed(report.facts)
    if report.calls:
        lines.append(f"sent to the model: {count(report.calls, 'request')}")
    if report.input_tokens or report.output_tokens:
        cost = f", {dollars(report.spent)}" if report.spent else ""
        lines.append(
            f"spent: {tokens(report.input_tokens)} input and {tokens(report.output_tokens)} output tokens{cost}"
            f" (as the provider counts them; ~{tokens(report.sent_tokens)} input as the dry run does)"
        )
    return lines


def _notes_as_facts(missing: int, outside: int) -> list[str]:
    """Why notes on files are facts instead."""
    where = "outside file_roots and the folder of its conversation"
    rows = (
        (missing, "a file that was not found", "files that were not found"),
        (outside, f"a file {where}", f"files {where}"),
    )
    return [
        f"{number} {f'note on {one} became a fact' if number == 1 else f'notes on {many} became facts'}"
        for number, one, many in rows
        if number
    ]


def _left(report: HarvestReport) -> list[str]:
    """What was not harvested, not let in or not read as it stood, of a plan as of a run."""
    left = {
        "left for a later run": report.deferred,
        "too large": report.too_large,
        "sent, no answer": report.unanswered,
    }
    lines = [f"{name}: {number}" for name, number in left.items() if number]
    if report.quarantined:
        why = ", ".join(f"{mark}:{number}" for mark, number in sorted(report.held_by.items()))
        whole = f", all that {count(report.held, 'conversation')} taught" if report.held else ""
        why = f" ({why})" if why else ""
        lines.append(f"quarantined: {report.quarantined}{why}{whole} ('knowledge quarantine' shows them)")
    for name, counts in (
        ("changed since their last harvest", report.changed),
        ("secrets replaced", report.redacted),
        ("rows skipped", report.skipped),
    ):
        if counts:
            lines.append(f"{name}: " + ", ".join(f"{kind}:{number}" for kind, number in sorted(counts.items())))
    return lines


def _new_lines_text(report: HarvestReport) -> list[str]:
    """What is new in the files, grouped, the best first."""
    from core.base.markdown import without_emphasis
    from core.knowledge.categories import CATEGORIES

    lines: list[str] = []
    for row in CATEGORIES:
        rows = [(text, number) for category, text, number in report.lines if category == row.name]
        if rows:
            lines += ["", f"new {HEADINGS[row.name]} ({len(rows)}):"]
        for text, number in rows[:LINES]:
            often = f" (in {number} conversations)" if number > 1 else ""
            lines.append(f"  - {_shown(row.name, without_emphasis(text))}{often}")
        if len(rows) > LINES:
            lines.append(f"  and {len(rows) - LINES} more in {row.file or 'files/'}")
    return lines


def _shown(category: str, text: str) -> str:
    """A line as it fits the screen. Of a playbook whole steps: half a command is one that does something else."""
    from core.base.markdown import ARROW

    if category != "playbooks" or len(text) <= LINE_CHARACTERS:
        return short(text, LINE_CHARACTERS)
    name, _, rest = text.partition(": ")
    steps = rest.split(ARROW)
    shown, room = list[str](), LINE_CHARACTERS - len(name)
    for step in steps:
        room -= len(step) + len(ARROW)
        if room < 0:
            break
        shown.append(step)
    left = len(steps) - len(shown)
    word = ("more " if shown else "") + ("step" if left == 1 else "steps")
    return f"{short(name, LINE_CHARACTERS)}: {ARROW.join([*shown, f'({left} {word})'])}"


def _source_lines(report: HarvestReport) -> list[str]:
    """How much there is of each source, once another than the home folder is read."""
    counts = report.plan.by_source()
    if set(counts) <= {"home"}:
        return []
    counted = [
        f"{name}:{row.conversations} ({size(row.bytes)}; {row.to_harvest} to harvest"
        + (f", {size(row.to_read)})" if row.to_read else ")")
        for name, row in counts.items()
    ]
    return [f"sources: {', '.join(counted)}"]


def _named(report: HarvestReport) -> list[str]:
    """What --apply would read: the day of its last change, how big it is, which tool's it is, and its name."""
    from core.commands.sources import title_of

    found = [step.artifact for step in report.plan.steps if step.action == "harvest"]
    whose = [title_of(row.source) if row.is_foreign else "home" for row in found[:SHOWN]]
    width = max(map(len, whose), default=0)
    lines = [
        f"  {_day(row.mtime_ns):<10}  {size(row.size):>7}  {source:<{width}}  {short(row.name, NAME_CHARACTERS)}"
        for row, source in zip(found, whose, strict=False)
    ]
    return lines + [f"  and {len(found) - SHOWN} more"] * (len(found) > SHOWN)


def _local_day(when: str) -> str:
    """The day of an ISO 8601 time as the person's clock has it; what cannot be read comes back as it is."""

    try:
        return f"{datetime.fromisoformat(when).astimezone():%Y-%m-%d}"
    except (ValueError, OverflowError):
        return when


def _day(mtime_ns: int) -> str:
    """The day as the person's clock has it, "" for a time that no calendar has."""

    try:
        return f"{datetime.fromtimestamp(mtime_ns / 1e9):%Y-%m-%d}" if mtime_ns > 0 else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _plan_lines(report: HarvestReport) -> list[str]:
    """What --apply would do, and what it would cost."""
    actions = [step.action for step in report.plan.steps]
    steps = [f"{actions.count(name)} {words}" for name, words in _ACTIONS if name in actions]
    lines = [f"plan: {', '.join(steps)}"] if steps else []
    what = f"~{tokens(report.tokens)} input and ~{tokens(report.expected_output)} output tokens"
    asked = f"{count(report.calls, 'call')}, {what}"
    if report.price:
        lines.append(f"price: about {dollars(report.price)} ({asked})")
    elif report.price is None and report.tokens:
        lines.append(
            f"price: unknown for this model ({asked}); set price_input_per_million and price_output_per_million"
        )
    elif report.calls:
        lines.append(f"price: nothing ({asked})")
    if report.factor_calls and report.token_factor != 1.0:
        priced = tokens(round(report.tokens * report.token_factor))
        lines.append(
            f"tokens: about {priced} input as the provider counts them, {report.token_factor:g} for each of these "
            f"({count(report.factor_calls, 'call')} so far){'; the price is of those' if report.price else ''}"
        )
    return lines


ITEMS_SHOWN = 200
"""So many items are shown before an import."""


def imports_text(report: ImportReport) -> str:
    """A dry run shows every item (the first `ITEMS_SHOWN` of them); an import tells what became of the files."""
    lines: list[str] = []
    left = 0 if report.applied else ITEMS_SHOWN
    for row in report.rows:
        number = f": {count(len(row.items), 'item')}" if row.items else ""
        lines.append(f"{one_line(row.path)} ({row.status}){number}")
        lines += [f"  {item.category:<10}  {one_line(item.text)}{_held(item.held)}" for item in row.items[:left]]
        left = max(0, left - len(row.items))
    total = sum(report.items.values())
    items = ", ".join(f"{name}:{number}" for name, number in report.items.items())
    items = f" ({items})" if items else ""
    if report.applied:
        lines.append(f"imported: {count(total, 'item')} of {count(report.imported, 'file')}{items}")
        lines += [f"'knowledge undo {report.run}' takes this back"] if report.run else []
        lines += fed(report.facts)
    else:
        lines.append(f"would import: {count(total, 'item')}{items}")
        lines.append("dry run; pass --apply to import")
    if report.skipped:
        lines.append("left out: " + ", ".join(f"{kind}:{number}" for kind, number in sorted(report.skipped.items())))
    return "\n".join(lines + [f"note: {one_line(note)}" for note in report.notes]) + "\n"


def _held(why: str) -> str:
    return f"  [to the quarantine: {why}]" if why else ""


COMMANDS = (
    single(
        "harvest",
        "turn conversations into knowledge (a dry run unless --apply)",
        "--apply --limit 10",
        harvest_command,
        harvest_text,
        flag("--apply", "harvest and reclaim; without it nothing changes"),
        flag("--finish", "bring a harvest that was cut off to its end, and read nothing new"),
        flag("--no-harvest", "move the candidates to the trash without asking a model"),
        flag("--keep", "harvest, but reclaim nothing"),
        repeated(
            "--source",
            "read only this source: a name that 'knowledge sources' prints, all, or a path; may be repeated",
            "NAME",
        ),
        flag("--now", "also conversations that changed in the last ten minutes and may still be written"),
        flag("--again", "also conversations whose harvest you undid"),
        flag("--since-last", "a harvest that nobody waits for: within the budgets, quietly; for hooks and timers"),
        repeated("--ended", "with --since-last: this conversation has ended; may be repeated", "PATH"),
        whole_number(
            "--max-harvest-bytes",
            "read at most N bytes in this run; how large one may be says max_harvest_source_bytes",
        ),
        whole_number("--limit", "harvest, or move to the trash, at most N conversations"),
        Argument(("--provider",), listed(PROVIDERS), {"metavar": "P"}),
        Argument(("--model",), "the model's name", {"metavar": "M"}),
        whole_number("--jobs", "model calls at the same time"),
        long=True,
        quiet_text=without_new_lines,
        words=NAMED,
    ),
    single(
        "import",
        "import what other tools remember: CLAUDE.md, MEMORY.md, memory banks (a dry run unless --apply)",
        ". --apply",
        import_memories,
        imports_text,
        needed("path", "a file, or a folder to look for memories in"),
        flag("--apply", "add the bullets; without it nothing changes"),
    ),
)
