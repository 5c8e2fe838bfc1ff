"""What a person calls a conversation: its title, with the tool it was held in, its day and its project.

A harvest writes them into the ledger. Of entries from before, and of conversations that nobody has harvested yet, the
file is read; what was found is remembered in the cache folder, by the content (or size and time) that it was found in.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from core.base import files
from core.base.markdown import sanitise_name
from core.base.paths import cache_folder
from core.base.secrets.repeats import clear_title
from core.commands import sources
from core.commands.history import LedgerRow
from core.commands.panel.conversations import whereabouts
from core.commands.workspace import Workspace
from core.conversations.read import read_conversation
from core.conversations.searched import title_of
from core.knowledge.projects import UNTOLD
from core.sources.artifact import HOME, Artifact

READ_BYTES = 2_000_000
"""Larger files are not read for their title alone; their next harvest tells it."""
SECONDS, FIRST_SECONDS = 0.5, 0.1
"""So long one look may read files, and the first one: the others come with the next."""
KEPT = 20_000
"""Of so many conversations, the newest, files are read for their titles, and so many titles are remembered."""
PLAIN_NAME = re.compile(r"\w[\w.-]{0,200}", re.ASCII)
"""Names that `sanitise_name` leaves as they are; most are."""
NO_TOOL = {"", "plain", "home", "manual_slop", "store", "packed", "unknown_json", HOME}


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
        """The tool as a person calls it, "" for none that is known."""
        return "" if self.tool in NO_TOOL else sources.title_of(self.tool)

    @property
    def project_name(self) -> str:
        """The last part of the project's folder."""
        return PurePath(self.project).name


UNCALLED = Called()


def called(entry: Mapping[str, Any], known: Called | None = None) -> Called:
    """What the ledger says of a conversation, with what was read of its file where the ledger says nothing."""
    found = known or UNCALLED
    source, form, project = entry.get("source"), entry.get("format"), entry.get("project")
    title, day = entry.get("title") or found.title, entry.get("date") or found.day
    tool = (source if source and str(source) not in NO_TOOL else form) or found.tool
    project = project if project and project != UNTOLD else found.project
    return Called(str(title), str(tool), str(day), str(project)) if title or tool or day or project else UNCALLED


@dataclass(frozen=True)
class Titles:
    """What conversations are called, as far as anybody knows: by their key in the ledger where their file told it
    (else `called` finds it in the entry), and by the name that provenances tell them by. `more` says that some files
    have not been read for it yet."""

    by_key: Mapping[str, Called]
    by_name: Mapping[str, Called]
    more: bool = False


NO_TITLES = Titles({}, {})


def titles(workspace: Workspace, rows: Sequence[LedgerRow], before: Titles | None = None) -> Titles:
    """What every conversation of the ledger is called, `rows` with the newest first; `before` itself when that has not
    changed. Files are read for half a second at the most, at the first look for less: somebody waits for it."""
    cache = _TitleCache(workspace, SECONDS if before is not None else FIRST_SECONDS)
    by_key: dict[str, Called] = {}
    by_name: dict[str, Called] = {}
    for number, row in enumerate(rows):
        entry = row.entry
        known = cache.rows.get(row.key)
        if known is None and number < KEPT and not entry.get("title") and entry.get("status") == "harvested":
            known = cache.read(row.key, entry)
        if known is not None and known != UNCALLED:
            by_key[row.key] = known
        here = called(entry, known)
        if here is UNCALLED:
            continue  # a hundred thousand names that nothing is known of are not kept
        name = str(entry.get("name") or "") or str(entry.get("path", "")).replace("\\", "/").rpartition("/")[2]
        by_name.setdefault(name, here)  # the newest harvest of that name
        if not PLAIN_NAME.fullmatch(name):
            by_name.setdefault(sanitise_name(name), here)
    cache.keep()
    found = Titles(by_key, by_name, cache.more)
    return before if before == found and before is not None else found


def titles_of(workspace: Workspace, artifacts: Iterable[Artifact]) -> dict[str, Called]:
    """What conversations that lie on the disk are called, by their paths; read for a while, the others by name."""
    cache, found = _TitleCache(workspace, 4 * SECONDS), dict[str, Called]()
    for item in artifacts:
        key = f"{item.path}:{item.size}:{item.mtime_ns}"
        known = cache.rows.get(key)
        if known is None and item.kind == "conversation" and item.size <= READ_BYTES:
            known = cache.read_file(key, item.path)
        tool = item.source if item.is_foreign else known.tool if known is not None else ""
        day = known.day if known is not None and known.day else _day(item.mtime_ns)
        found[item.path] = Called(known.title if known else "", tool, day, known.project if known else "")
    cache.keep()
    return found


def _day(mtime_ns: int) -> str:
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC).date().isoformat() if mtime_ns > 0 else ""
    except (ValueError, OverflowError, OSError):
        return ""


class _TitleCache:
    """Titles that were read before, in one file of the cache folder."""

    def __init__(self, workspace: Workspace, seconds: float = SECONDS) -> None:
        self._workspace, self._until = workspace, time.monotonic() + seconds
        self._file = cache_folder(workspace.paths.home, workspace.environment) / "titles.json"
        self.more = self._new = False
        self.rows: dict[str, Called] = {}
        try:
            cached = json.loads(files.read_or_empty(self._file) or b"{}")
            # A file without `cleared` is of a time when a title could keep a part of a secret.
            self.rows = {str(key): Called(*map(str, row)) for key, row in cached.get("cleared", {}).items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            self.rows = {}

    def read(self, key: str, entry: dict[str, Any]) -> Called | None:
        """The title of a conversation that was harvested, from its file or from the trash."""
        if time.monotonic() > self._until:
            self.more = True
            return None
        path = str(entry.get("path", ""))
        _, now, _ = whereabouts(self._workspace.paths, key, entry, path)
        return self.read_file(key, now) if now else self._learn(key, Called())

    def read_file(self, key: str, path: str) -> Called | None:
        """The title that stands in a file; remembered, also when there is none."""
        if time.monotonic() > self._until:
            self.more = True
            return None
        try:
            data = files.read_file(path, READ_BYTES).data
        except (OSError, ValueError):
            return self._learn(key, Called())
        read = read_conversation(Path(path).name, data)
        title = read.title
        if self._workspace.config.redact:
            title = clear_title(title, (turn.text for turn in read.turns))
        return self._learn(key, Called(title_of(title), read.format, (read.ended or read.started)[:10], read.folder))

    def _learn(self, key: str, row: Called) -> Called:
        self._new = True
        self.rows[key] = row
        return row

    def keep(self) -> None:
        """Write what was learned: whether that can be done does not matter."""
        if self._new:
            newest = dict(list(self.rows.items())[-KEPT:])
            rows = {key: list(asdict(row).values()) for key, row in newest.items()}
            text = json.dumps({"cleared": rows}, ensure_ascii=False)
            files.write_cache(self._file, text.encode("utf-8", "replace"))
