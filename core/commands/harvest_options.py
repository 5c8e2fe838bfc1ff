"""What the user asked of a harvest, and the settings, as the options of a run; and the provider that they name, made
ready for calls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from core.base.answer import Answer, Generate, price
from core.base.paths import asking_folder, shipped_root
from core.base.result import KnowledgeError
from core.commands.sources import chosen_sources, days_kept, set_sources, unknown_names
from core.commands.workspace import Workspace
from core.harvest.meter import read_usage
from core.harvest.steps import QUIET_SECONDS, Archiving, DistilSettings, HarvestOptions, Limits, read_prompt
from core.knowledge.spending import Caps
from core.knowledge.swap import EditorWait
from core.llm.credentials import KeyFinder, keys_from
from core.sources.artifact import HOME
from core.sources.tools import ALL, NAMES, known_name, places

if TYPE_CHECKING:
    from core.base.config import Config
    from core.llm.wire import ModelSettings


HARVEST_PROMPT = "harvest-conversation.md"
CATEGORY_PROMPT = "harvest-category.md"
SUMMARIZE_PROMPT = "summarize.md"


@dataclass(frozen=True)
class HarvestRequest:
    """What the user asked for. Sizes in bytes; None, "" and () mean: as the settings say. `sources` are names as
    `core.sources.tools.known_name` gives them; `look_around`: it also tells what it did not look at;
    `rough`: it estimates tokens from sizes alone and reads nothing for it; `at_once`: also what a tool may still be
    writing; `again`: also what was harvested and undone. `unattended`: a hook or a timer began it, so a digest that the
    user deleted stays away, and a path of the settings is no request of this moment; then `ended` are conversations
    whose session has ended (path -> modification time), and what failed at `retry_before` or later is not tried again.
    """

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
    rough: bool = False
    at_once: bool = False
    again: bool = False
    unattended: bool = False
    ended: Mapping[str, int] = field(default_factory=dict)
    retry_before: str = ""


def prompt_names(style: str) -> tuple[str, str]:
    """The files of the two prompts that a way of asking needs."""
    return (CATEGORY_PROMPT if style == "per_category" else HARVEST_PROMPT, SUMMARIZE_PROMPT)


def harvest_options(workspace: Workspace, request: HarvestRequest, editor_wait: EditorWait) -> HarvestOptions:
    """All settings of a run. Raises KnowledgeError for a prompt that cannot be read or an unknown source."""
    config, paths = workspace.config, workspace.paths
    shipped = shipped_root() / "assets" / "prompts"
    try:
        prompts = [read_prompt(name, paths.prompts, shipped) for name in prompt_names(config.harvest_style)]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        where = error.filename if isinstance(error, OSError) and error.filename else paths.prompts
        message = f"a prompt cannot be read: {why}"
        raise KnowledgeError("bad-prompt", message, where, "mend it, or remove your copy") from error
    limits = Limits(
        provider=request.provider or config.provider,
        max_source_bytes=config.max_harvest_source_bytes,
        reclaim=config.reclaim,
        harvest=not request.no_harvest,
        keep=request.keep,
        max_run_bytes=request.max_harvest_bytes,
        limit=request.limit,
        reclaim_foreign=config.reclaim_foreign,
        retry_before=request.retry_before,
        again=request.again,
        named=frozenset() if request.unattended else _named_files(request.sources),
    )
    of_settings, problem = ((), "") if request.sources else set_sources(workspace)
    if problem and not request.rough:  # who only looks reads it elsewhere
        raise KnowledgeError("bad-setting", problem, workspace.loaded.file)
    named = chosen_sources(request.sources or of_settings)
    distil = DistilSettings(
        attempts=config.harvest_max_attempts,
        summarize_bytes=config.summarize_threshold_bytes,
        quotes=config.quotes,
        redact=config.redact,
        harvest_prompt=prompts[0],
        summarize_prompt=prompts[1],
        style=config.harvest_style,
        waiting=workspace.cache / "waiting.json",
        long=config.long_conversations,
        context_tokens=config.model_context_tokens,
        answer_tokens=config.max_output_tokens,
    )
    usage = workspace.cache / "usage.json"
    # What may be spent, and what one call costs at its worst.
    caps = Caps(config.max_day_tokens, config.max_run_price, config.max_month_price, config.max_output_tokens)
    asked = " ".join((limits.provider, request.model or config.model, config.base_url, *config.command))
    return HarvestOptions(
        limits,
        distil,
        trash_days=config.trash_days,
        file_roots=tuple(os.path.expanduser(root) for root in config.file_roots),
        digest_max_bytes=config.digest_max_bytes if config.digest_enabled else None,
        jobs=request.jobs or config.jobs,
        max_run_tokens=config.max_run_tokens,
        editor_wait=editor_wait,
        home=HOME in named or ALL in named,
        copies=workspace.cache / "stores",
        kept=workspace.cache / "answers",
        usage=usage,
        asked=asked,
        model_name=request.model or (config.model if limits.provider == config.provider else ""),
        places=(found := places(named, workspace.environment, config.project_roots)),
        caps=replace(caps, factor=max(1.0, read_usage(usage, asked).factor)) if caps else caps,
        price=partial(price_of, workspace, limits.provider, request.model or config.model),
        quiet_seconds=0.0 if request.at_once else QUIET_SECONDS,
        ended=request.ended,
        archive=archiving(config),
        unattended=request.unattended,
        days_kept={name: days for name in {row.source for row in found} if (days := days_kept(name, found))},
    )


def archiving(config: Config) -> Archiving:
    """What the settings say of the archive. Raises KnowledgeError where they leave out what there is not: what the user
    meant would be kept."""
    if config.archive != "off" and (problem := unknown_names("archive_without", config.archive_without)):
        raise KnowledgeError("bad-setting", problem)
    left_out = tuple(
        known_name(name) if "/" not in name else os.path.expanduser(name) for name in config.archive_without
    )
    return Archiving(config.archive, left_out)


def _named_files(sources: Sequence[str]) -> frozenset[str]:
    """The files among sources; a folder may hold anything, and asks for nothing in particular."""
    paths = (os.path.abspath(os.path.expanduser(name)) for name in sources if name not in NAMES)
    return frozenset(path for path in paths if os.path.isfile(path))


def price_of(workspace: Workspace, provider: str, model: str, tokens_in: int, tokens_out: int) -> float | None:
    """What tokens cost in US dollars, by the user's own prices where they have set them; None: nobody knows."""
    own = (workspace.config.price_input_per_million, workspace.config.price_output_per_million)
    return price(provider, model, tokens_in, tokens_out, own)


def require_price(workspace: Workspace, options: HarvestOptions, model: str) -> None:
    """Let no run begin under a cap in money while nobody knows what the model costs."""
    if not options.caps.in_money or options.limits.provider == "offline" or not options.limits.harvest:
        return
    if options.price(1, 1) is not None:
        return
    which = f"{options.limits.provider} {model or workspace.config.model}".strip()
    caps = [name for name in ("max_run_price", "max_month_price") if getattr(workspace.config, name)]
    message = f"what {which} costs is not known, so {' and '.join(caps)} cannot be kept, and nothing was run"
    hint = "set price_input_per_million and price_output_per_million (0 for a model that is free)"
    raise KnowledgeError("price-unknown", message, hint=hint)


def connect_or_refuse(workspace: Workspace, provider: str, model: str, cancelled: Callable[[], bool]) -> Generate:
    """The configured model. One that cannot be reached at all is a callable whose every answer is that error, so that
    each conversation ends `harvest-failed` with the reason."""
    try:
        return connect_provider(workspace, provider, model, cancelled)
    except KnowledgeError as failed:
        error = failed.error

    def refuse(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        raise KnowledgeError.of(error)

    return refuse


def connect_provider(
    workspace: Workspace, provider: str, model: str, cancelled: Callable[[], bool] = lambda: False
) -> Generate:
    """Ready the provider for calls; nothing is sent yet. Raises KnowledgeError for missing credentials or settings."""
    from core.llm.generate import connect

    return connect(_settings(workspace, provider, model), credentials=keys_of(workspace), cancelled=cancelled)


def window_tokens(workspace: Workspace, provider: str, model: str) -> int:
    """The model's window in tokens: as the settings say, else its server, else its name; 0 where nobody does."""
    config = workspace.config
    if config.model_context_tokens or provider == "offline":
        return config.model_context_tokens
    from core.llm.window import window_of

    return window_of(_settings(workspace, provider, model), keys_of(workspace))


def keys_of(workspace: Workspace) -> KeyFinder:
    """Where keys of providers are looked for: the environment, and `credentials.toml` beside the user's settings."""
    return keys_from(workspace.credentials, workspace.environment)


def _settings(workspace: Workspace, provider: str, model: str) -> ModelSettings:
    from core.llm.wire import ModelSettings  # what the rules read needs no wire

    config = workspace.config
    return ModelSettings(
        provider=provider,
        model=model or (config.model if provider == config.provider else ""),
        base_url=config.base_url if provider == config.provider else "",
        command=config.command,
        timeout_seconds=config.request_timeout_seconds,
        max_output_tokens=config.max_output_tokens,
        folder=str(asking_folder(workspace.environment)),
        context_tokens=config.model_context_tokens,
    )
