"""What the library knows of files is brought up to date: changed ones are read again, moved ones keep what was learned
of them, and those that are gone are told.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from core.library.database import Library
from core.library.ingest import IngestReport, Progress, Source, ingest
from core.library.places import Known, known_files, leave, move, moved_to, state_of
from core.library.prepare import Way
from core.library.shelve import in_turn


@dataclass(frozen=True)
class Refreshed:
    """What a refresh found: the report on changed files, old path -> new one, paths that are gone with the ids of
    their documents, and how many files are as they were."""

    changed: IngestReport
    moved: dict[str, str] = field(default_factory=dict)
    gone: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchanged: int = 0

    def to_json(self) -> dict[str, Any]:
        """As `--json` tells it."""
        return {**vars(self), "changed": self.changed.to_json()}


def refresh(
    library: Library,
    way: Way,
    *,
    now: Callable[[], datetime],
    progress: Progress | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Refreshed:
    """Look at every file that the library has read. Nothing new is taken in, and nothing taken out: who deleted a file
    may still want what it said."""
    with library.reading() as connection:
        known = known_files(connection)
    states = {file.path: state_of(file.path) for file in known}
    away = [file for file in known if not states[file.path]]
    moved = moved_to(away, known) if away else {}

    def settle(connection: Connection) -> list[Known]:
        for file in away:
            if file.path in moved:
                move(connection, file, moved[file.path])
        return [file for file in away if file.path not in moved and not leave(connection, file)]

    gone = in_turn(library, settle) if away else []
    changed = [file for file in known if states[file.path] not in ("", file.state)]
    sources = [Source(file.path, file.path, file.domain, named=False) for file in changed]
    report = ingest(library, sources, way, now=now, folder=Path(), progress=progress, stopped=stopped)
    told = {file.path: tuple(sorted(set(file.documents.values()))) for file in gone}
    return Refreshed(report, moved, told, len(known) - len(changed) - len(away))
