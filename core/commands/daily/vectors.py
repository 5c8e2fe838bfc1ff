"""`knowledge vectors`: make what a search by meaning compares, of entries and of turns of conversations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.base.result import KnowledgeError, attempt
from core.commands.conversations import build
from core.commands.project import find_project
from core.commands.row import option, top
from core.commands.search import opened_search, search_folder
from core.commands.text import count
from core.commands.transcript import index_folder
from core.commands.workspace import Workspace, embedder_name, embedder_of
from core.harvest.report import Progress
from core.search import kept_vectors


@dataclass(frozen=True)
class VectorsReport:
    """How many entries and how many turns of conversations have vectors now, and whose they are; `waiting` turns are
    left for the next time."""

    embedder: str
    entries: int
    turns: int = 0
    waiting: int = 0


def build_vectors(
    workspace: Workspace,
    project: str = "",
    progress: Callable[[Any], None] = lambda step: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> VectorsReport:
    """Make all vectors that a search by meaning compares, those of entries (also as projects see them), then those of
    conversations, and fetch the model where it is not there yet. Stopped, it goes on where it ended. Raises
    KnowledgeError without an embedder, or when it fails."""
    if not workspace.config.embedder:
        hint = "choose one, for example: knowledge config set embedder minilm"
        raise KnowledgeError("no-embedder", "no embedder is set", hint=hint)
    asked = find_project(workspace, project)
    embed = embedder_of(workspace, fetch=True)

    def step(name: str, done: int, total: int) -> None:
        progress(Progress(done, total, name, "made"))

    folder, home, name = search_folder(workspace, asked), search_folder(workspace, None), embedder_name(workspace)
    with closing(opened_search(workspace, asked)):
        entries = kept_vectors.build(folder, name, embed, partial(step, "entries"), cancelled, beside=home).turns
    for other in sorted(home.parent.glob(f"{home.name}-*")) if folder == home else ():  # they hold the same and more
        attempt(kept_vectors.build, other, name, embed, cancelled=cancelled, beside=home)
    if not workspace.config.search_conversations or not build(workspace, cancelled=cancelled).turns:
        return VectorsReport(workspace.config.embedder, entries)
    said = partial(step, "turns of conversations")
    made = kept_vectors.build(index_folder(workspace), name, embed, said, cancelled)
    return VectorsReport(workspace.config.embedder, entries, made.turns, made.waiting)


def vectors_text(report: VectorsReport) -> str:
    """How many entries and turns can be found by meaning now."""
    turns = f" and {count(report.turns, 'turn')} of conversations" if report.turns else ""
    left = f"; {count(report.waiting, 'turn')} left for the next time" if report.waiting else ""
    entries = count(report.entries, "entry").replace("entrys", "entries")
    return f"{entries}{turns} can be found by meaning ({report.embedder}){left}\n"


COMMANDS = (
    top(
        "vectors",
        "",
        build_vectors,
        vectors_text,
        option("--project", "with what belongs to this folder", "DIR"),
        long=True,
    ),
)
