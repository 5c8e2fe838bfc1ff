"""`knowledge library ingest`: by the settings, with a model or by rules, here or on a cluster; and a language model
that the workers of a cluster ask.

Each worker connects by the settings that travel with a call, with keys of its own. Where a conversation is read, and
who writes what it taught, does not change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base.answer import Answer, Generate
from core.base.result import KnowledgeError, Result, attempt
from core.commands.library.documents import opened_library
from core.commands.workspace import Workspace, utc_now
from core.harvest.report import Progress, Report
from core.library.fetch import is_address as is_address
from core.library.fetch import private_host

if TYPE_CHECKING:
    from core.library.ingest import Engine, IngestReport
    from core.library.prepare import Item, Prepared, Way

WORTH_PROCESSES = 40
"""Files from which on other processes are begun to prepare them: that takes a second by itself."""


def library_ingest(
    workspace: Workspace,
    paths: Sequence[str],
    type: str = "",
    *,
    provider: str = "",
    scheduler: str = "",
    again: bool = False,
    progress: Report = lambda _step: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> IngestReport:
    """Take in files, folders and addresses. `type` is what the documents are, "" to have it told; `provider` asks
    another one than the settings (`offline`: rules alone); `scheduler` is that of a cluster, "" as the settings say."""
    with opened_library(workspace, make=True) as library:
        from core.library.ingest import Wanted, ingest

        engine, way = _engine(workspace, scheduler, provider or workspace.config.provider)
        report = ingest(
            library,
            Wanted(list(paths), workspace.cwd, type, again),
            way,
            engine,
            now=utc_now,
            progress=lambda done, of, name, what: progress(Progress(done, of, _named(name), what)),
            stopped=cancelled,
        )
        report.backup = str(library.backup or "")
        return report


def names_private_host(source: str) -> bool:
    """Whether a source is an address that says itself that it is on this computer or in its network."""
    try:
        return is_address(source) and bool(private_host(source))
    except ValueError:
        return False  # no address at all, which will be told of it


def _named(source: str) -> str:
    return source if is_address(source) else Path(source).name


def way_of(workspace: Workspace, provider: str) -> Way:
    """How documents are described, by the settings; nothing is sent yet. From the cap of tokens on, rules describe."""
    from core.library.prepare import Way

    config = workspace.config
    way = Way(redact=config.redact, attempts=config.harvest_max_attempts)
    if provider != "offline":
        from core.commands.harvest_options import connect_provider
        from core.harvest.meter import Budget, Meter

        connected = connect_provider(workspace, provider, "")
        way = replace(way, generate=Meter(connected, Budget(config.max_run_tokens)))
    return way


def _engine(workspace: Workspace, scheduler: str, provider: str) -> tuple[Engine, Way]:
    """Who prepares, and how; on other machines the way is made there."""
    from core.library.ingest import Engine
    from core.library.prepare import Way
    from core.library.workers import cluster, local_processes, processors

    config = workspace.config
    address = scheduler or config.workers
    if address:
        if config.max_run_tokens and provider != "offline":
            hint = 'set max_run_tokens to 0, or leave the cluster out (workers = "")'
            raise KnowledgeError("cap-elsewhere", "the cap max_run_tokens cannot be kept on a cluster", hint=hint)
        connect, at_once = cluster(address)
        work = partial(_prepare_there, Travelling.of(workspace), provider)
        return Engine(connect, at_once, work=work), Way(redact=config.redact)
    way = way_of(workspace, provider)
    if provider != "offline":  # waiting for a model
        return Engine(partial(ThreadPoolExecutor, config.jobs), config.jobs), way
    number = processors()
    return Engine(local_processes(number) if number > 1 else None, 2 * number, WORTH_PROCESSES), way


@lru_cache(maxsize=2)
def _way_there(provider: str, workspace: Travelling) -> Result[Way]:
    return attempt(way_of, workspace.arrived(), provider)


def _prepare_there(workspace: Travelling, provider: str, item: Item, _way: Way) -> list[Prepared]:
    """What a worker of a cluster does with one item: by the settings that travel with it, and keys of its own."""
    from core.library.prepare import prepare

    way = _way_there(provider, workspace)
    if isinstance(way, KnowledgeError):
        raise KnowledgeError.of(replace(way.error, path=item.source))
    return prepare(item, way.value)


# --- on a cluster ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Travelling:
    """A workspace as it goes to a worker: its settings, without the variables of this computer, among which are keys.
    Two with the same settings are the same, so that a worker connects once and not for each task."""

    inner: Workspace = field(compare=False)
    settings: str

    @staticmethod
    def of(workspace: Workspace) -> Travelling:
        """One that can be pickled."""
        return Travelling(replace(workspace, environment={}), repr(workspace.config))

    def arrived(self) -> Workspace:
        """The workspace with the variables of the computer on which this runs."""
        return replace(self.inner, environment=os.environ)


@dataclass(frozen=True)
class FarModel:
    """A model behind a cluster. `threads` is how many calls it answers at a time."""

    workspace: Travelling
    provider: str
    model: str
    threads: int
    connect: Callable[[], Executor]

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        """Ask once, wherever a worker is free; again where one was lost before it answered."""
        from core.library.workers import called

        asking = partial(_ask_there, self.workspace, self.provider, self.model, prompt, schema)
        asked = called(self.connect, asking)
        if isinstance(asked, KnowledgeError):
            raise asked
        return asked.value


def on_cluster(workspace: Workspace, provider: str, model: str) -> FarModel:
    """The model of the settings, asked on the cluster of the setting `workers`. Raises KnowledgeError when its
    scheduler does not answer."""
    from core.library.workers import cluster

    connect, at_once = cluster(workspace.config.workers)
    return FarModel(Travelling.of(workspace), provider, model, at_once, connect)


def _ask_there(
    workspace: Travelling, provider: str, model: str, prompt: str, schema: Mapping[str, Any] | None
) -> Result[Answer]:
    """A failure comes back as a value: an exception would stand for a worker that was lost."""
    connected = _connected(workspace, provider, model)
    return connected if isinstance(connected, KnowledgeError) else attempt(connected.value, prompt, schema)


@lru_cache(maxsize=4)
def _connected(workspace: Travelling, provider: str, model: str) -> Result[Generate]:
    from core.commands.harvest_options import connect_provider

    return attempt(connect_provider, workspace.arrived(), provider, model)


# --- at the command line --------------------------------------------------------------------------------------------


_WORDS = {
    "new": "new",
    "changed": "changed",
    "known": "known from elsewhere",
    "restored": "as it was before",
    "unchanged": "unchanged",
    "archived": "taken out by you, left out",
}


def ingested_text(done: IngestReport) -> str:
    counts = done.counts
    counts["unchanged"] += done.unchanged
    counted = [f"{counts[status]} {words}" for status, words in _WORDS.items() if counts[status]]
    chunks = sum(row.chunks for row in done.documents if row.status in ("new", "changed", "restored"))
    lines = [f"documents: {', '.join(counted) or 'none'}"]
    if chunks:
        lines.append(f"chunks: {chunks}")
    if done.redacted:
        lines.append(f"secrets replaced: {done.redacted.total()}")
    if done.skipped:
        lines.append("passed over: " + ", ".join(f"{number} {what}" for what, number in sorted(done.skipped.items())))
    if done.backup:
        lines.append(f"the library was copied before it was migrated: {done.backup}")
    if done.stopped:
        lines.append(f"{done.stopped}; run it again to go on")
    return "\n".join(lines) + "\n"
