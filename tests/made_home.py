"""A home on disk for the tests of commands, harvested by a made-up model that never answers the same twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

from core.base.answer import Answer
from core.base.paths import project_paths
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.base.trust import allow, folder_mark
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import Workspace, open_workspace
from core.harvest.report import HarvestReport
from core.knowledge.swap import EditorWait

T = TypeVar("T")
HURRIED = EditorWait(0, 0, 0)
START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"


class Clock:
    """A clock that goes on a second each time it is asked; `days` moves it."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at

    def days(self, number: int) -> None:
        self.at += timedelta(days=number)


class Model:
    """Answers each time with other words: a repeated question would show. `rows` are added to every answer."""

    def __init__(self, **rows: Any) -> None:
        self.rows, self.asked, self.numbers = rows, 0, count(1)

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        self.asked += 1
        number = next(self.numbers)
        items = {"facts": [f"fact {number} of the model"], "tasks_open": [f"task {number}"], **self.rows}
        return Answer(json.dumps(items))


def make_home(tmp_path: Path, settings: str = "", home: str = "home") -> Workspace:
    """An empty home with settings of its own; `settings` are lines of `[ai_settings.knowledge]`."""
    config = tmp_path / "config.toml"
    config.write_text(f'[ai_settings.knowledge]\nfile_roots = ["{tmp_path}"]\nreclaim = "always"\n{settings}\n')
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    return open_workspace(str(tmp_path / home), config, environment, tmp_path)


def trusted(project: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """A project whose `.manual_slop` the user has said yes to."""
    allow_project(project, environment)
    return project


@pytest.fixture(name="workspace")
def workspace_fixture(tmp_path: Path) -> Workspace:
    """An empty home."""
    return make_home(tmp_path)


@pytest.fixture(name="clock")
def clock_fixture() -> Clock:
    return Clock()


def converse(workspace: Workspace, name: str = "chat", text: str = "hello") -> Path:
    """Leave an archived conversation behind."""
    folder = workspace.paths.conversations
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{UUID}"
    path.write_text(f"User: {text}\n\nAssistant: noted, {text}\n")
    return path


def harvested(workspace: Workspace, model: Model, clock: Clock, **request: Any) -> HarvestReport:
    """Harvest all that lies there, without waiting for editors."""
    wanted = HarvestRequest(apply=True, provider="openai", **request)
    cache = {"XDG_CACHE_HOME": workspace.environment["XDG_CACHE_HOME"]}
    with patch.dict(os.environ, cache):
        report = harvest(workspace, wanted, now=clock, generate=model, editor_wait=HURRIED)
    assert isinstance(report, HarvestReport)
    return report


def one_harvest(workspace: Workspace, clock: Clock) -> tuple[Path, HarvestReport]:
    """Where a conversation stood that was harvested, and the report."""
    return converse(workspace), harvested(workspace, Model(), clock)


def error(call: Callable[..., Any], *arguments: Any, **named: Any) -> ErrorInfo:
    """The error that a call is refused with."""
    found = attempt(call, *arguments, **named)
    assert isinstance(found, KnowledgeError), found
    return found.error


def write(workspace: Workspace, name: str, text: str) -> Path:
    """Put a file below the knowledge folder."""
    path = workspace.paths.knowledge / name
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.write_text(text)
    path.chmod(0o600)
    return path


def read(workspace: Workspace, name: str) -> str:
    return (workspace.paths.knowledge / name).read_bytes().decode()


def allow_project(project: Path, environment: Mapping[str, str]) -> None:
    """The user's yes to a project's folder, as `knowledge trust allow` records it."""
    allow(environment, {project_paths(project).home: folder_mark(project)})
