"""What the search of entries reads: every file of the home and of a trusted project that entries come from, and the
documents of the library.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from core import memories
from core.base.entry import Entry, SearchSource
from core.base.homes import own_target
from core.base.paths import Paths
from core.base.secrets.redact import redact
from core.commands.project import may_read, places
from core.commands.workspace import Workspace
from core.context_files import GLOBAL, PROJECT, entries, read_context
from core.factindex.facts import fact_file_names
from core.knowledge.entries import sources as bullet_sources
from core.library import searched
from core.memory_file import read_memory


def _memory_sources(paths: Paths, project: str) -> list[SearchSource]:
    scope = "project" if project else "global"
    try:
        names = sorted(os.listdir(paths.memories))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [
        SearchSource(f"memories:{project}:{name}", _linked(path, project), partial(_memory, path, scope, project))
        for name in names
        if name.endswith(".md") and not name.startswith(".")
        for path in (paths.memories / name,)
    ]


def _memory(path: Path, scope: str, project: str, _data: bytes) -> Sequence[Entry]:
    return memories.entries([read_memory(path, scope)], project)


def _context_sources(paths: Paths, project: str) -> list[SearchSource]:
    scope = PROJECT if project else GLOBAL
    place = _linked(paths.context, project)
    return [SearchSource(f"context:{project}", place, partial(_context, paths.context, scope, project))]


def _linked(path: Path, project: str) -> Path:
    """Where a file of the home lies when it is linked to and the user's own. What is not is named by the index."""
    try:
        return path if project else own_target(path)
    except OSError:
        return path


def _context(path: Path, scope: str, project: str, _data: bytes) -> Sequence[Entry]:
    found = read_context(scope, path)
    return entries([found] if found.body else [], project)


def _fact_sources(paths: Paths, project: str) -> list[SearchSource]:
    names = [] if project else list(fact_file_names(paths.knowledge))
    return [SearchSource(f"facts::{name}", paths.knowledge / name, partial(_facts, paths, name)) for name in names]


def _facts(paths: Paths, name: str, data: bytes) -> Sequence[Entry]:
    from core.commands.facts import entries_of_file

    return entries_of_file(paths.knowledge / name, data)


ROOMS: tuple[Callable[[Paths, str], list[SearchSource]], ...] = (
    bullet_sources,
    _memory_sources,
    _context_sources,
    _fact_sources,
)
"""One row for each room that yields entries: places and the project that they belong to ("": none) -> its files.
May raise OSError."""


def library_address(workspace: Workspace) -> str:
    """Where the library is: the setting `library_url`, else a file in the home."""
    return workspace.config.library_url or str(workspace.paths.library)


def library_file(workspace: Workspace) -> Path | None:
    """The file that the library is in; None where a server has it."""
    return searched.file_at(library_address(workspace))


def search_sources(workspace: Workspace, project: Path | None) -> list[SearchSource]:
    """Every file that is searched; of a project's own, those that the user trusts. Raises OSError when a folder
    cannot be listed."""
    found = [source for room in ROOMS for source in room(workspace.paths, "")]
    readable = may_read(workspace, project)
    for _, where in places(workspace, project)[1:]:
        found += [one for room in ROOMS for one in room(where, str(project)) if readable(one.path)]
    cleared = [_cleared(source) for source in found] if workspace.config.redact else found
    library = library_file(workspace)
    return [*cleared, *(searched.sources(library) if library is not None else ())]


def _cleared(source: SearchSource) -> SearchSource:
    """The same file, its entries without secrets: harvested lines were cleared before they were written, what a user
    writes with an editor was not, and the index is a file of its own. Its name says so, so that switching `redact`
    makes the entries again."""

    def read(data: bytes) -> Sequence[Entry]:
        return [_without_secrets(row) for row in source.entries(data)]

    return SearchSource(f"cleared {source.name}", source.path, read)


def _without_secrets(entry: Entry) -> Entry:
    title = redact(entry.title).text if entry.title else ""  # of a bullet there is none, and an empty one costs as much
    return entry._replace(title=title, text=redact(entry.text).text)
