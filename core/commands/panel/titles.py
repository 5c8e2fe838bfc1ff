"""What a user calls a conversation: its title, with the tool it was held in, its day and its project.

A harvest writes them into the ledger. Of conversations that nobody has harvested yet the file is read; what was found
is remembered in the cache folder, by path, size and time.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any

from core.base import files
from core.base.figures import iso_of
from core.base.paths import cache_folder
from core.base.secrets.repeats import clear_title
from core.commands import sources
from core.commands.workspace import Workspace
from core.conversations.read import read_conversation
from core.conversations.searched import title_of
from core.knowledge.ledger import known_entries
from core.knowledge.projects import UNTOLD
from core.sources.artifact import HOME, Artifact
from core.sources.tools import forgotten_places, known_as

READ_BYTES = 2_000_000
"""Larger files are not read for their title alone; their next harvest tells it."""
SECONDS = 2.0
"""How long a dry run may read files for their titles; the others are shown by their names."""
KEPT = 20_000
"""The titles that are remembered."""
PLAIN_NAME = re.compile(r"\w[\w.-]{0,200}", re.ASCII)
"""Names that `sanitise_name` leaves as they are; most are."""
NO_TOOL = {"", "plain", "home", "manual_slop", "store", "packed", "unknown-json", "files", HOME}


@dataclass(frozen=True, slots=True)
class Called:
    """What a conversation is called. `title` is "" where nothing tells it, `tool` the name of a source or a format,
    `day` an ISO date, `project` an absolute folder; each "" where nobody knows."""

    title: str = ""
    tool: str = ""
    day: str = ""
    project: str = ""

    @property
    def tool_title(self) -> str:
        """The tool as a user calls it, "" for none that is known."""
        return "" if self.tool in NO_TOOL else sources.title_of(self.tool)

    @property
    def project_name(self) -> str:
        """The last part of the project's folder."""
        return PurePath(self.project).name


UNCALLED = Called()


def called(entry: Mapping[str, Any]) -> Called:
    """What the ledger says of a conversation."""
    source, form, project = entry.get("source"), entry.get("format"), entry.get("project_root") or entry.get("project")
    title, day = entry.get("title") or "", entry.get("date") or ""
    tool = (source if source and str(source) not in NO_TOOL else form) or ""
    project = project if project and project != UNTOLD else ""
    return Called(str(title), str(tool), str(day), str(project)) if title or tool or day or project else UNCALLED


def titles_of(workspace: Workspace, artifacts: Iterable[Artifact]) -> dict[str, Called]:
    """What conversations that lie on the disk are called, by their paths, but those that the user wants forgotten; read
    for a while, the others by name."""
    file = cache_folder(workspace.paths.home, workspace.environment) / "titles.json"
    rows, found, until = _remembered(file), dict[str, Called](), time.monotonic() + SECONDS
    before, forgotten = len(rows), forgotten_places(known_entries(workspace.paths))
    for item in (one for one in artifacts if known_as(one.path, one.source) not in forgotten):
        key = f"{item.path}:{item.size}:{item.mtime_ns}"
        known = rows.get(key)
        wanted = known is None and item.kind == "conversation" and item.size <= READ_BYTES
        if wanted and time.monotonic() < until:
            known = rows[key] = _read(workspace, item.path)
        tool = item.source if item.is_foreign else known.tool if known is not None else ""
        day = known.day if known is not None and known.day else iso_of(item.mtime_ns / 1e9)[:10]
        found[item.path] = Called(known.title if known else "", tool, day, known.project if known else "")
    if len(rows) > before:  # whether it can be kept does not matter
        newest = {key: list(asdict(row).values()) for key, row in list(rows.items())[-KEPT:]}
        text = json.dumps({"cleared": newest}, ensure_ascii=False)
        files.write_cache(file, text.encode("utf-8", "replace"))
    return found


def _remembered(file: Path) -> dict[str, Called]:
    """Titles that were read before."""
    try:
        cached = files.read_object(file) or {}
        # A file without `cleared` is of a time when a title could keep a part of a secret.
        return {str(key): Called(*map(str, row)) for key, row in cached.get("cleared", {}).items()}
    except files.DAMAGED:
        return {}


def _read(workspace: Workspace, path: str) -> Called:
    """The title that stands in a file, and what else it tells."""
    try:
        data = files.read_file(path, READ_BYTES).data
    except (OSError, ValueError):
        return UNCALLED
    read = read_conversation(Path(path).name, data)
    title = read.title
    if workspace.config.redact:
        title = clear_title(title, (turn.text for turn in read.turns))
    return Called(title_of(title), read.format, (read.ended or read.started)[:10], read.folder)
