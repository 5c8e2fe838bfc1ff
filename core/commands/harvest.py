"""`knowledge harvest`: the dry run and the run itself. `knowledge import`: what other tools remember, as bullets of our
own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.answer import Generate
from core.base.choices import PROVIDERS
from core.base.homes import ADVICE, unwritable_folder
from core.base.markdown import split_provenance
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt, disk_errors
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
from core.commands.harvest_report import harvest_text
from core.commands.row import NAMED, flag, listed, needed, option, repeated, top, whole_number
from core.commands.sources import HOME, NAMES, chosen_sources, elsewhere, title_of
from core.commands.statements import bullets_of
from core.commands.text import count, fed, one_line
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.classify import fate_of
from core.harvest.meter import BYTES_A_TOKEN, NO_ACCOUNT, UNKNOWN, Counted, note_usage, read_usage
from core.harvest.plan import first, plan_harvest
from core.harvest.report import HarvestReport, Report
from core.harvest.steps import HarvestOptions
from core.knowledge.categories import CATEGORIES
from core.knowledge.changes import read_changes
from core.knowledge.ledger import Entry, known_entries, rebuild, seen_ledger
from core.knowledge.run_state import INTERRUPTED, Seen, look, store_state
from core.knowledge.same import statements
from core.knowledge.spending import Account, account_trouble
from core.knowledge.swap import EDITOR_WAIT, EditorWait
from core.sources.artifact import HashCache

if TYPE_CHECKING:
    from core.harvest.imports import ImportReport


NewLines = list[tuple[str, str, int]]
"""Category, text, and how many conversations have said it."""
READY_SECONDS = 5.0
"""How long a harvest that nobody waits for reads conversations into the index afterwards, at most."""
WAITED_SECONDS = 10.0
"""How long any other does."""
MIN_HARVESTED_FOR_HINT = 10
"""A run that harvested at least this many conversations and found next to nothing says why that may be."""


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
    options = harvest_options(workspace, request, editor_wait)
    if request.apply:
        require_price(workspace, options, request.model)
    if generate is None and not (request.rough or request.no_harvest):
        window = window_tokens(workspace, options.limits.provider, request.model)
        options = replace(options, distil=replace(options.distil, context_tokens=window))
    cache_file, cache = workspace.cache / "hashes", HashCache()
    with suppress(OSError):
        cache = HashCache.from_bytes(files.read_or_empty(cache_file))
    reader = None
    if request.apply:
        from core.commands.moment.worked import UsageReader  # neither a dry run nor 'status' pays for it

        reader = UsageReader(workspace)
        options = replace(options, read_by=reader)
    try:
        if request.apply:
            report = _apply(workspace, request, options, cache, progress, cancelled, now, generate)
        else:
            report = _dry_run(workspace, request, options, cache, now())
    finally:
        if cache.changed:
            files.write_cache(cache_file, cache.to_bytes())  # a projection: whether it can be written does not matter
    _estimate(workspace, request, options, report)
    report.notes += _none_of(request.sources, report)
    if report.applied:
        feed_facts(workspace, report, now)
        report.notes += _not_looked_at(workspace, request)
        _make_ready(workspace, request.unattended, report.harvested, cancelled)
        report.notes += reader.record() if reader is not None else []
        # The packages of the library are loaded only where this computer has one.
        if report.harvested and not workspace.config.library_url and files.exists(workspace.paths.library):
            from core.commands.library.upkeep import keep_up

            report.notes += keep_up(workspace, now)
        report.lines, settled = _came_of(workspace, report, report.run)
        report.notes += settled
        if report.finished:
            report.finished_lines, settled = _came_of(workspace, report, report.finished)
            report.notes += settled
        if options.limits.provider == "offline":
            report.notes += _little_found(report)
    return report


def _make_ready(workspace: Workspace, unattended: bool, harvested: int, cancelled: Callable[[], bool]) -> None:
    """What hooks read and never bring up to date themselves: both indexes; and how the hints of sessions that are over
    went. Who harvested something is likely to search for it next, and a search reads less than half a second of what
    is new. A projection: the next search makes it good where it fails."""
    from core.agents.connections import known_tools, read_record

    connected = unattended or bool(known_tools(read_record(workspace.environment)))
    if not connected and not harvested:
        return
    from core.commands.moment.hints import judge
    from core.commands.search import opened_search
    from core.commands.transcript import opened_index

    if connected:
        with suppress(OSError, KnowledgeError):
            judge(workspace)
    if workspace.config.search_conversations:
        seconds = READY_SECONDS if unattended else WAITED_SECONDS
        with suppress(OSError, KnowledgeError), opened_index(workspace, seconds, cancelled):
            opened_search(workspace, None).close()


def _little_found(report: HarvestReport) -> list[str]:
    """What a user should know when the built-in rules read much and found next to nothing."""
    if report.harvested < MIN_HARVESTED_FOR_HINT or report.empty * 4 <= report.harvested * 3:
        return []
    return [
        f"{report.empty} of {report.harvested} conversations gave nothing: the built-in rules know English best, and "
        "keep what you said for good and what coding sessions show; a language model finds more ('knowledge config "
        "set provider …')"
    ]


def _came_of(
    workspace: Workspace, report: HarvestReport | ImportReport, run: str
) -> tuple[list[tuple[str, str, int]], list[str]]:
    """The lines that `run` wrote, that of the report or one that it finished, as `_new_lines` has them, and a sentence
    about those that it took out."""
    try:
        return _new_lines(workspace, run), _settled(workspace, run)
    except OSError as error:
        why = f"the run is over, and its new lines cannot be shown: {error.strerror or error}"
        report.errors.append(ErrorInfo("lines-unreadable", why, str(error.filename or ""), "open the file"))
        return [], []


def _settled(workspace: Workspace, run: str) -> list[str]:
    """What a run took out of the files, in a sentence. Raises OSError."""
    changes = [row for row in read_changes(workspace.paths) if row.run == run]
    lines = [line for row in changes for line in row.removed if line.startswith("- ") and line not in row.added]
    if not lines:
        return []
    texts = [split_provenance(line.removeprefix("- "))[0] for line in lines]
    back = f"'knowledge undo {run}' takes the whole run back"
    return [f"{count(len(lines), 'line')} settled by the rest of the session, and taken out: {first(texts)}; {back}"]


def _new_lines(workspace: Workspace, run: str) -> NewLines:
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


def feed_facts(workspace: Workspace, report: HarvestReport | ImportReport, now: Clock) -> None:
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
    if not done.notes and not done.errors:
        done.notes.append("no harvest was cut off: there was nothing to finish")
    return done


def harvest_command(
    workspace: Workspace,
    *,
    finish: bool = False,
    since_last: bool = False,
    ended: Sequence[str] = (),
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    **asked: Any,
) -> HarvestReport:
    """`harvest` with the arguments of the command line, checked; `asked` are fields of a HarvestRequest."""
    request = HarvestRequest(**asked)
    if request.provider and request.provider not in PROVIDERS:
        hint = f"choose one of {', '.join(PROVIDERS)}"
        raise KnowledgeError("unknown-provider", f"there is no provider {request.provider!r}", hint=hint)
    if finish:
        return finish_harvest(workspace)
    if request.no_harvest and request.keep:
        hint = "--no-harvest takes conversations away unread, --keep takes none away"
        raise KnowledgeError("usage", "--no-harvest and --keep cannot be used together", hint=hint)
    for name, number in (("--max-harvest-bytes", request.max_harvest_bytes), ("--limit", request.limit)):
        if number is not None and number < 0:
            raise KnowledgeError("usage", f"{name} cannot be {number}")
    allowed = find_setting("jobs")
    if request.jobs is not None and allowed is not None and not allowed.check(request.jobs):
        raise KnowledgeError("usage", f"--jobs cannot be {request.jobs}", hint=f"accepted: {allowed.accepted}")
    by_itself = request.apply and since_last
    request = replace(request, sources=chosen_sources(request.sources, typed=True), look_around=not by_itself)
    if by_itself:
        return run_by_itself(workspace, request, ended, harvest, progress=progress, cancelled=cancelled)
    return harvest(workspace, request, progress=progress, cancelled=cancelled)


def _dry_run(
    workspace: Workspace, request: HarvestRequest, options: HarvestOptions, cache: HashCache, now: datetime
) -> HarvestReport:
    paths, notes = workspace.paths, []
    entries: Mapping[str, Entry] | None = None
    try:
        entries = seen_ledger(paths)
    except KnowledgeError as failed:
        notes += [] if request.rough else [str(failed.error)]
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
    with disk_errors("scan-failed", "the conversations cannot be listed"):
        entries = rebuild(paths) if entries is None else entries
        plan = plan_harvest(paths, options, entries, now, cache)
    if plan.careful:
        notes.append(f"no conversation will be taken away: {plan.careful}")
    fate = fate_of(plan, options.limits, options.trash_days, interrupted)
    notes += [*plan.notes, *_before_applying(workspace, request, options), *([fate.words] if fate.words else [])]
    notes += _not_looked_at(workspace, request, entries)
    report = HarvestReport(False, plan=plan, interrupted=interrupted, notes=notes, ledger=str(paths.ledger), fate=fate)
    report.errors += plan.errors
    actions = [step.action for step in plan.steps]
    report.too_large, report.deferred = actions.count("too-large"), actions.count("defer")
    return report


def _not_looked_at(
    workspace: Workspace, request: HarvestRequest, entries: Mapping[str, Entry] | None = None
) -> list[str]:
    """A sentence about conversations of tools that the settings do not name. Who names a source knows what they want,
    and whose ledger cannot be read has heard of it."""
    if not request.look_around or request.sources:
        return []
    found = attempt(seen_ledger, workspace.paths) if entries is None else Ok(entries)
    return elsewhere(workspace, workspace.config.sources, found.value) if isinstance(found, Ok) else []


def _none_of(named: Sequence[str], report: HarvestReport) -> list[str]:
    """A sentence about the tools that the user named and that hold no conversation: it is not that all are read."""
    there = report.plan.by_source()
    absent = [name for name in named if name in NAMES and name != HOME and name not in there]
    if not absent or report.plan.writing:
        return []
    shown = f"'knowledge sources {absent[0]}' tells where was looked"
    return [f"no conversation of {listed([title_of(name) for name in absent])} was found; {shown}"]


def _before_applying(workspace: Workspace, request: HarvestRequest, options: HarvestOptions) -> list[str]:
    """What a user should know before they say --apply."""
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
    from core.commands.purge import complete

    complete(workspace, now)
    if generate is None and options.limits.provider != "offline" and not request.no_harvest:
        generate = connect_or_refuse(workspace, options.limits.provider, request.model, cancelled)
        if workspace.config.workers:
            from core.commands.library.ingest import on_cluster

            generate = far = on_cluster(workspace, options.limits.provider, request.model)
            options = replace(options, jobs=max(options.jobs, far.threads))
    from core.harvest.pipeline import run_harvest  # a dry run does not pay for it

    counted = Counted(generate) if generate is not None else None
    try:
        report = run_harvest(
            workspace.paths, options, counted, now=now, progress=progress, cancelled=cancelled, cache=cache
        )
    finally:
        if counted is not None and options.usage is not None:
            note_usage(options.usage, options.asked, counted.usage)
    if counted is not None:
        report.sent_tokens = counted.sent
        if not options.caps:  # else every call was booked at once
            _book(workspace, options, report, now)
    return report


def _book(workspace: Workspace, options: HarvestOptions, report: HarvestReport, now: Clock) -> None:
    """What the run has cost goes into the account, for a cap that is set tomorrow. It blocks nothing."""
    tokens = report.input_tokens + report.output_tokens
    cost = options.price(report.input_tokens, report.output_tokens) or 0.0
    try:
        if tokens:
            Account(workspace.paths.spending, now).add(tokens, cost)
    except OSError as error:
        report.errors.append(ErrorInfo(NO_ACCOUNT, account_trouble(error).rstrip("."), str(error.filename or "")))


def _estimate(workspace: Workspace, request: HarvestRequest, options: HarvestOptions, report: HarvestReport) -> None:
    """Fill in tokens and prices: what the plan would cost, or what the run did cost."""
    if options.limits.provider == "offline" or request.no_harvest or request.rough:
        report.tokens = report.plan.bytes_to_send() // BYTES_A_TOKEN  # about what a model would read of them
    elif report.applied:
        report.tokens, report.expected_output = report.input_tokens, report.output_tokens
    else:
        from core.harvest.estimate import estimate
        from core.harvest.known import KnownStore  # with what it needs: the offline rules ask no model

        if options.limits.harvest:
            options = replace(options, known=KnownStore.read(workspace.paths, known_entries(workspace.paths)))
        usage = read_usage(options.usage, options.asked) if options.usage is not None else UNKNOWN
        found = estimate(report.plan, options, usage=usage)
        report.calls, report.tokens, report.expected_output = found.total
        report.token_factor, report.factor_calls = usage.factor, usage.calls
        longest = found.total.calls * usage.seconds_a_call
        report.seconds = (longest / max(1, options.jobs), longest)
        report.notes += _cap_note(options.max_run_tokens, found.fitting, report)
    priced = round(report.tokens * report.token_factor)
    report.price = options.price(priced, report.expected_output)
    if report.applied:
        report.spent = options.price(report.input_tokens, report.output_tokens)


def _cap_note(cap: int, fitting: int | None, report: HarvestReport) -> list[str]:
    """What the cap on tokens will do to the run, before it does it."""
    wanted = sum(step.action == "harvest" for step in report.plan.steps)
    if fitting is None or fitting >= wanted:
        return []
    how_many = f"about {fitting} of {wanted} conversations fit" if fitting else "not even one conversation fits"
    return [f"the cap of {cap:,} tokens a run (max_run_tokens) is too low for all: {how_many}; the others wait"]


# --- what other tools remember ---------------------------------------------------------------------------------------


def import_memories(workspace: Workspace, path: str, *, apply: bool = False) -> ImportReport:
    """A dry run, or with `apply` the import. Raises KnowledgeError when nothing is there or the store cannot be
    used."""
    from core.harvest.imports import plan_import, run_import  # a harvest does not pay for it

    if not path.strip():
        raise KnowledgeError("usage", "which file or folder?", hint="'knowledge import .' takes the current folder")
    where = Path(os.path.abspath(workspace.cwd / os.path.expanduser(path)))
    if not apply:
        ledger = attempt(seen_ledger, workspace.paths)
        entries = ledger.value if isinstance(ledger, Ok) else rebuild(workspace.paths)
        return plan_import(workspace.paths, where, entries, secrets=workspace.config.redact)
    options = harvest_options(workspace, HarvestRequest(), EDITOR_WAIT)
    done = run_import(workspace.paths, where, options, utc_now)
    if done.imported:
        feed_facts(workspace, done, utc_now)
        done.added = len(_came_of(workspace, done, done.run)[0])
    return done


ITEMS_SHOWN = 200
"""This many items are shown before an import."""


def imports_text(report: ImportReport) -> str:
    """A dry run shows every item (the first `ITEMS_SHOWN` of them); an import tells what became of the files."""
    lines: list[str] = []
    left = 0 if report.applied else ITEMS_SHOWN
    for row in report.rows:
        number = f": {count(len(row.items), 'item')}" if row.items else ""
        lines.append(f"{one_line(row.path)} ({row.status}){number}")
        for item in row.items[:left]:
            held = f"  [to the quarantine: {item.held}]" if item.held else ""
            lines.append(f"  {item.category:<10}  {one_line(item.text)}{held}")
        left = max(0, left - len(row.items))
    total = sum(report.items.values())
    items = ", ".join(f"{name}:{number}" for name, number in report.items.items())
    items = f" ({items})" if items else ""
    if report.applied:
        lines.append(f"imported: {count(total, 'item')} of {count(report.imported, 'file')}{items}")
        lines += [f"of these: {report.added} new, {total - report.added} known"] if total else []
        lines += [f"'knowledge undo {report.run}' takes this back"] if report.run else []
        lines += fed(report.facts)
    else:
        lines.append(f"would import: {count(total, 'item')}{items}")
        lines.append("dry run; pass --apply to import")
    if report.skipped:
        lines.append("left out: " + ", ".join(f"{kind}:{number}" for kind, number in sorted(report.skipped.items())))
    return "\n".join(lines + [f"note: {one_line(note)}" for note in report.notes]) + "\n"


COMMANDS = (
    top(
        "harvest",
        "--apply --limit 10",
        harvest_command,
        harvest_text,
        flag("--apply", "do it; without it nothing changes"),
        flag("--finish", "bring a harvest that was cut off to its end, and read nothing new"),
        flag("--no-harvest", "move the candidates to the trash without asking a model"),
        flag("--keep", "harvest, but take no conversation away"),
        repeated(
            "--source",
            "read only this source: a name that 'knowledge sources' prints, all, or a path; may be repeated",
            "NAME",
            dest="sources",
            default=[],
        )._replace(offers=lambda: NAMES),
        flag(
            "--now", "also conversations that changed in the last ten minutes and may still be written", dest="at_once"
        ),
        flag("--again", "also conversations whose harvest you undid"),
        flag("--since-last", "a harvest that nobody waits for: within the budgets, quietly; for hooks and timers"),
        repeated("--ended", "with --since-last: this conversation has ended; may be repeated", "PATH", default=[]),
        whole_number(
            "--max-harvest-bytes",
            "read at most N bytes in this run; how large one may be says max_harvest_source_bytes",
        ),
        whole_number("--limit", "harvest, or move to the trash, at most N conversations"),
        option("--provider", listed(PROVIDERS), "P"),
        option("--model", "the model's name", "M"),
        whole_number("--jobs", "model calls at the same time"),
        long=True,
        quiet_text=partial(harvest_text, quiet=True),
        words=NAMED,
    ),
    top(
        "import",
        ". --apply",
        import_memories,
        imports_text,
        needed("path", "a file, or a folder to look for memories in"),
        flag("--apply", "add the bullets; without it nothing changes"),
    ),
)
