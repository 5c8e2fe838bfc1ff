"""What lies at the places of other tools. Looks at names and sizes only; what a file is, its content tells when it is
read. How the folders are walked is in walk.py, what the person named in named.py, what conversations are called in
names.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.base.result import ErrorInfo
from core.harvest.artifact import Artifact
from core.harvest.named import named_files, named_trouble
from core.harvest.names import name_in
from core.harvest.sources import FILES, SOURCE, Place, Source
from core.harvest.walk import PROJECT_DEPTH, artifact_at, folder_store, folders_in, matching


@dataclass
class Found:
    """What lies in the places: files, sorted by path, and what kept a look from being whole, in words; `errors` tell
    which file or folder that the person named cannot be read."""

    artifacts: list[Artifact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)


def survey(rows: Sequence[Place]) -> Found:
    """Every file that one of the tools left behind at these places. What cannot be listed is told in a note."""
    found: dict[str, Artifact] = {}
    notes: list[str] = []
    errors: list[ErrorInfo] = []
    walked: dict[str, list[Place]] = {}
    for place in rows:
        if place.source == FILES:
            if (trouble := named_trouble(place.folder)) is not None:
                errors.append(trouble)
            else:
                named_files(place.folder, found, notes)
        elif SOURCE[place.source].project:
            walked.setdefault(place.folder, []).append(place)
        else:
            _take(SOURCE[place.source], place.folder, place.folder, found, notes)
    seen: set[str] = set()
    for folder, asked in walked.items():
        for project in folders_in(folder, seen, notes, depth_limit=PROJECT_DEPTH):
            for place in asked:
                _take(SOURCE[place.source], project, project, found, notes)
    return Found(_without_second_views(sorted(found.values())), list(dict.fromkeys(notes)), errors)


def _take(source: Source, root: str, folder: str, found: dict[str, Artifact], notes: list[str]) -> None:
    for pattern in source.patterns:
        for path in matching(folder, pattern.split("/"), notes):
            if path not in found and (item := artifact_at(path, source.name, name_in(source, root, path))) is not None:
                found[path] = item
    for pattern in source.folders:
        for path in matching(folder, pattern.split("/"), notes):
            if path not in found and (item := folder_store(path, source.name)) is not None:
                found[path] = item


_PREFERRED = {"ui_messages.json": "api_conversation_history.json"}


def _without_second_views(rows: list[Artifact]) -> list[Artifact]:
    """One conversation in two files is one: the packed copy beside the plain one, what was shown beside what was
    said."""
    paths = {row.path for row in rows}

    def is_second(path: str) -> bool:
        folder, name = os.path.split(path)
        better = os.path.join(folder, _PREFERRED[name]) if name in _PREFERRED else path.removesuffix(".zst")
        return better != path and better in paths

    return [row for row in rows if not is_second(row.path)]
