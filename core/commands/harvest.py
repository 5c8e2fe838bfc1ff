"""`knowledge harvest`: the dry run and the run itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.paths import cache_folder, shipped_root
from core.base.price import price
from core.base.result import Err, Ok, Result, fail
from core.base.settings import find_setting
from core.commands.sources import chosen_sources, elsewhere
from core.commands.workspace import Workspace, utc_now
from core.harvest.artifact import HOME
from core.harvest.classify import Limits
from core.harvest.hashes import HashCache
from core.harvest.options import DistilSettings, HarvestOptions, read_prompt
from core.harvest.plan import plan_harvest
from core.harvest.report import HarvestReport, Report
from core.harvest.sources import ALL, places
from core.knowledge.ledger import rebuild, seen_ledger
from core.knowledge.patience import DEFAULT_PATIENCE, Patience

if TYPE_CHECKING:
    from core.base.answer import Answer, Generate

HARVEST_PROMPT = "harvest-conversation.md"
CATEGORY_PROMPT = "harvest-category.md"
SUMMARIZE_PROMPT = "summarize.md"
EXPECTED_OUTPUT_TOKENS = 700
"""What one harvest's answer usually takes, for the estimate of a price."""


@dataclass(frozen=True)
class HarvestRequest:
    """What the person asked for. Sizes in bytes; None, "" and () mean: as the settings say. `sources` are names as
    `core.harvest.sources.known_name` gives them; `look_around`: a dry run also tells what it did not look at."""

    apply: bool = False
    no_harvest: bool = False
    keep: bool = False
    max_harvest_bytes: int | None = None
    limit: int | None = None
    provider: str = ""
    model: str = ""
    jobs: int | None = None
    sources: tuple[str, ...] = ()
    look_around: bool = False


def harvest(
    workspace: Workspace,
    request: HarvestRequest,
    *,
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    now: Callable[[], datetime] = utc_now,
    generate: Generate | None = None,
    patience: Patience = DEFAULT_PATIENCE,
) -> Result[HarvestReport]:
    """Dry run or, with `request.apply`, the harvest. `generate` stands in for the configured provider (for tests).

    Err when the run cannot start: a prompt that cannot be read, a lock held by another run, an unusable store.
    """
    options = harvest_options(workspace, request, patience)
    if isinstance(options, Err):
        return options
    cache_file = cache_folder(workspace.paths.home, workspace.environment) / "hashes"
    cache = _read_cache(cache_file)
    report = (
        _apply(workspace, request, options.value, cache, progress, cancelled, now, generate)
        if request.apply
        else _dry_run(workspace, request, options.value, cache, now())
    )
    if cache.changed:
        files.write_cache(cache_file, cache.to_bytes())  # a projection: whether it can be written does not matter
    if isinstance(report, Ok):
        _estimate(workspace, request, options.value, report.value)
    if isinstance(report, Ok) and report.value.applied:
        _feed_facts(workspace, report.value, now)
    return report


def _feed_facts(workspace: Workspace, report: HarvestReport, now: Callable[[], datetime]) -> None:
    """The fact index gets what committed harvests taught. Like the digest, it blocks nothing: the next run goes on."""
    from core.commands.fact_feed import after_harvest

    report.facts, notes, problem = after_harvest(workspace, now)
    report.notes += notes
    report.errors += [problem] if problem is not None else []


def harvest_command(
    workspace: Workspace,
    *,
    apply: bool = False,
    no_harvest: bool = False,
    keep: bool = False,
    max_harvest_bytes: int | None = None,
    limit: int | None = None,
    provider: str | None = None,
    model: str | None = None,
    jobs: int | None = None,
    source: Sequence[str] | None = None,
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Result[HarvestReport]:
    """`harvest` with the arguments of the command line, checked."""
    if provider and provider != "offline":
        from core.llm.generate import PROVIDERS

        if provider not in PROVIDERS:
            known = ", ".join(["offline", *PROVIDERS])
            return fail("unknown-provider", f"there is no provider {provider!r}", hint=f"choose one of {known}")
    for name, number in (("--max-harvest-bytes", max_harvest_bytes), ("--limit", limit)):
        if number is not None and number < 0:
            return fail("usage", f"{name} cannot be {number}")
    allowed = find_setting("jobs")
    if jobs is not None and allowed is not None and not allowed.check(jobs):
        return fail("usage", f"--jobs cannot be {jobs}", hint=f"accepted: {allowed.accepted}")
    named = chosen_sources(source or (), typed=True)
    if isinstance(named, Err):
        return named
    request = HarvestRequest(
        apply,
        no_harvest,
        keep,
        max_harvest_bytes,
        limit,
        provider or "",
        model or "",
        jobs,
        named.value,
        look_around=not apply,
    )
    return harvest(workspace, request, progress=progress, cancelled=cancelled)


def _dry_run(
    workspace: Workspace, request: HarvestRequest, options: HarvestOptions, cache: HashCache, now: datetime
) -> Result[HarvestReport]:
    paths, notes = workspace.paths, []
    ledger = seen_ledger(paths)
    if isinstance(ledger, Err):
        notes.append(str(ledger.error))
    if files.exists(paths.journal):
        notes.append("a run is at work, or the last one was interrupted; 'knowledge harvest --apply' finishes it first")
    try:
        entries = ledger.value if isinstance(ledger, Ok) else rebuild(paths)
        plan = plan_harvest(paths, options, entries, now, cache)
    except OSError as error:
        return fail("scan-failed", f"the conversations cannot be listed: {error.strerror}", error.filename or "")
    if plan.careful:
        notes.append(f"nothing will be reclaimed: {plan.careful}")
    notes += [*plan.notes, *_before_applying(workspace, request, options)]
    if request.look_around:
        notes += elsewhere(workspace, request.sources or workspace.config.sources)
    report = HarvestReport(applied=False, plan=plan, notes=notes, ledger=str(paths.ledger))
    actions = [step.action for step in plan.steps]
    report.too_large, report.deferred = actions.count("too-large"), actions.count("defer")
    return Ok(report)


def _before_applying(workspace: Workspace, request: HarvestRequest, options: HarvestOptions) -> list[str]:
    """What a person should know before they say --apply."""
    limits, notes = options.limits, []
    if options.home and not files.exists(workspace.paths.conversations):
        notes.append(f"conversations are looked for in {workspace.paths.conversations}, which does not exist yet")
    if limits.harvest and limits.provider != "offline":
        connected = connect_provider(workspace, limits.provider, request.model)
        if isinstance(connected, Err):
            notes.append(f"the model cannot be asked: {connected.error}")
    if not limits.harvest:
        notes.append("--no-harvest: nothing is read; what would be harvested goes to the trash as it is")
    elif limits.keep or limits.reclaim == "never":
        notes.append("no conversation is taken away")
    elif limits.provider == "offline" and limits.reclaim == "model":
        notes.append("the offline rules take no conversation away; a language model would")
    return notes


def _apply(
    workspace: Workspace,
    request: HarvestRequest,
    options: HarvestOptions,
    cache: HashCache,
    progress: Report,
    cancelled: Callable[[], bool],
    now: Callable[[], datetime],
    generate: Generate | None,
) -> Result[HarvestReport]:
    from core.harvest.pipeline import run_harvest  # a dry run does not pay for it

    if generate is None and options.limits.provider != "offline" and not request.no_harvest:
        generate = _connect(workspace, options.limits.provider, request, cancelled)
    return run_harvest(workspace.paths, options, generate, now=now, progress=progress, cancelled=cancelled, cache=cache)


def prompt_names(style: str) -> tuple[str, str]:
    """The files of the two prompts that a way of asking needs."""
    return (CATEGORY_PROMPT if style == "per_category" else HARVEST_PROMPT, SUMMARIZE_PROMPT)


def harvest_options(workspace: Workspace, request: HarvestRequest, patience: Patience) -> Result[HarvestOptions]:
    """All settings of a run. Err for a prompt that cannot be read or a source that there is not."""
    config, paths = workspace.config, workspace.paths
    shipped = shipped_root() / "assets" / "prompts"
    try:
        prompts = [read_prompt(name, paths.prompts, shipped) for name in prompt_names(config.harvest_style)]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        where = error.filename if isinstance(error, OSError) and error.filename else paths.prompts
        return fail("bad-prompt", f"a prompt cannot be read: {why}", where, "mend it, or remove your copy")
    limits = Limits(
        provider=request.provider or config.provider,
        max_source_bytes=config.max_harvest_source_bytes,
        reclaim=config.reclaim,
        harvest=not request.no_harvest,
        keep=request.keep,
        max_run_bytes=request.max_harvest_bytes,
        limit=request.limit,
        reclaim_foreign=config.reclaim_foreign,
    )
    named = chosen_sources(request.sources or config.sources)
    if isinstance(named, Err):
        return named
    distil = DistilSettings(
        attempts=config.harvest_max_attempts,
        summarize_bytes=config.summarize_threshold_bytes,
        quotes=config.quotes,
        redact=config.redact,
        part_bytes=config.summary_part_bytes,
        harvest_prompt=prompts[0],
        summarize_prompt=prompts[1],
        style=config.harvest_style,
    )
    return Ok(
        HarvestOptions(
            limits,
            distil,
            trash_days=config.trash_days,
            file_roots=tuple(os.path.expanduser(root) for root in config.file_roots),
            digest_max_bytes=config.digest_max_bytes if config.digest_enabled else None,
            jobs=request.jobs or config.jobs,
            max_run_tokens=config.max_run_tokens,
            patience=patience,
            home=HOME in named.value or ALL in named.value,
            copies=cache_folder(workspace.paths.home, workspace.environment) / "stores",
            places=places(named.value, workspace.environment, config.project_roots),
        )
    )


# --- the provider ----------------------------------------------------------------------------------------------------


def _connect(workspace: Workspace, provider: str, request: HarvestRequest, cancelled: Callable[[], bool]) -> Generate:
    """The configured model. One that cannot be reached at all is a callable whose every answer is that error, so that
    each conversation ends `harvest-failed` with the reason."""
    connected = connect_provider(workspace, provider, request.model, cancelled)
    if isinstance(connected, Ok):
        return connected.value
    error = connected

    def refuse(prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        return error

    return refuse


def connect_provider(
    workspace: Workspace, provider: str, model: str, cancelled: Callable[[], bool] = lambda: False
) -> Result[Generate]:
    """Ready the provider for calls; nothing is sent yet. Err for missing credentials or settings."""
    from core.llm.credentials import keys_from
    from core.llm.generate import connect
    from core.llm.wire import ModelSettings

    config = workspace.config
    settings = ModelSettings(
        provider=provider,
        model=model or (config.model if provider == config.provider else ""),
        base_url=config.base_url if provider == config.provider else "",
        command=config.command,
        timeout_seconds=config.request_timeout_seconds,
        max_answer_bytes=config.max_answer_bytes,
        max_output_tokens=config.max_output_tokens,
    )
    keys = keys_from(workspace.loaded.file.with_name("credentials.toml"), workspace.environment)
    return connect(settings, credentials=keys, cancelled=cancelled)


def _estimate(workspace: Workspace, request: HarvestRequest, options: HarvestOptions, report: HarvestReport) -> None:
    """Fill in tokens and prices: what the plan would cost, and what the run did cost."""
    config, provider = workspace.config, options.limits.provider
    model = request.model or config.model
    override = (config.price_input_per_million, config.price_output_per_million)
    report.tokens = report.plan.bytes_to_send() // 4
    calls = [step.action for step in report.plan.steps].count("harvest")
    report.price = price(provider, model, report.tokens, calls * EXPECTED_OUTPUT_TOKENS, override)
    if report.applied:
        report.spent = price(provider, model, report.input_tokens, report.output_tokens, override)


# --- the cache of hashes ---------------------------------------------------------------------------------------------


def _read_cache(path: Path) -> HashCache:
    try:
        return HashCache.from_bytes(files.read_or_empty(path))
    except OSError:
        return HashCache()
