"""What the search of entries reads: every file of the home and of a trusted project that entries come from, and the
documents of the library.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def _files(paths: Paths, project: str) -> list[SearchSource]:
    """Every file of a home (`project` "") or of a project that entries come from. May raise OSError."""
    scope = PROJECT if project else GLOBAL
    found = bullet_sources(paths, project)
    for path in sorted(paths.memories.iterdir()) if paths.memories.is_dir() else ():
        if path.name.endswith(".md") and not path.name.startswith("."):
            memory = partial(_memory, path, scope, project)
            found.append(SearchSource(f"memories:{project}:{path.name}", _linked(path, project), memory))
    context = partial(_context, paths.context, scope, project)
    found.append(SearchSource(f"context:{project}", _linked(paths.context, project), context))
    for name in () if project else fact_file_names(paths.knowledge):
        place = paths.knowledge / name
        found.append(SearchSource(f"facts::{name}", place, partial(_facts, place)))
    return found


def _linked(path: Path, project: str) -> Path:
    """Where a file of the home lies when it is linked to and the user's own. What is not is named by the index."""
    try:
        return path if project else own_target(path)
    except OSError:
        return path


def _memory(path: Path, scope: str, project: str, _data: bytes) -> Sequence[Entry]:
    return memories.entries([read_memory(path, scope)], project)


def _context(path: Path, scope: str, project: str, _data: bytes) -> Sequence[Entry]:
    found = read_context(scope, path)
    return entries([found] if found.body else [], project)


def _facts(path: Path, data: bytes) -> Sequence[Entry]:
    from core.commands.facts import entries_of_file

    return entries_of_file(path, data)


def library_address(workspace: Workspace) -> str:
    """Where the library is: the setting `library_url`, else a file in the home."""
    return workspace.config.library_url or str(workspace.paths.library)


def library_file(workspace: Workspace) -> Path | None:
    """The file that the library is in; None where a server has it."""
    return searched.file_at(library_address(workspace))


def search_sources(workspace: Workspace, project: Path | None) -> list[SearchSource]:
    """Every file that is searched; of a project's own, those that the user trusts. Raises OSError when a folder
    cannot be listed."""
    found = _files(workspace.paths, "")
    readable = may_read(workspace, project)
    for _, where in places(workspace, project)[1:]:
        found += [one for one in _files(where, str(project)) if readable(one.path)]
    if workspace.config.redact:
        found = [SearchSource(f"cleared {one.name}", one.path, partial(_cleared, one)) for one in found]
    library = library_file(workspace)
    return [*found, *(searched.sources(library) if library is not None else ())]


def _cleared(source: SearchSource, data: bytes) -> Sequence[Entry]:
    """Its entries without secrets: harvested lines were cleared before they were written, what a user writes with an
    editor was not, and the index is a file of its own. The source's name says so, so that switching `redact` makes the
    entries again."""
    rows = source.entries(data)
    # Of a bullet there is no title, and an empty one costs as much.
    titles = [redact(row.title).text if row.title else "" for row in rows]
    return [row._replace(title=title, text=redact(row.text).text) for row, title in zip(rows, titles, strict=True)]
