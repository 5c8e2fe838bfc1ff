"""A language model that is asked by the workers of a cluster: each worker connects by the settings that travel with a
call, with keys of its own. Where a conversation is read, and who writes what it taught, does not change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.base.answer import Answer
from core.base.result import KnowledgeError, Result, attempt
from core.commands.workspace import Workspace

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from core.base.answer import Generate


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

        asked = called(self.connect, _ask_there, self.workspace, self.provider, self.model, prompt, schema)
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
