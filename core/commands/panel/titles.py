"""What a user calls a conversation: its title, with the tool it was held in, its day and its project.

A harvest writes them into the ledger. Of entries from before, and of conversations that nobody has harvested yet, the
file is read; what was found is remembered in the cache folder, by the content (or size and time) that it was found in.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any, overload

from core.base import files
from core.base.markdown import sanitise_name
from core.base.paths import cache_folder
from core.base.secrets.repeats import clear_title
from core.commands import sources
from core.commands.history.ledger import LedgerRow
from core.commands.panel.conversations import name_of, whereabouts
from core.commands.workspace import Workspace
from core.conversations.read import read_conversation
from core.conversations.searched import title_of
from core.knowledge.ledger_index import LedgerGlance, glance
from core.knowledge.projects import UNTOLD
from core.sources.artifact import HOME, Artifact

READ_BYTES = 2_000_000
"""Larger files are not read for their title alone; their next harvest tells it."""
SECONDS, FIRST_SECONDS = 0.5, 0.1
"""So long one look may read files, and the first one: the others come with the next."""
KEPT = 20_000
"""Of so many conversations, the newest, files are read for their titles, and so many titles are remembered."""
MAX_UNWRITTEN_TITLES = 4000
"""More titles than this that were read and not yet written are written before all are read."""
PLAIN_NAME = re.compile(r"\w[\w.-]{0,200}", re.ASCII)
"""Names that `sanitise_name` leaves as they are; most are."""
NO_TOOL = {"", "plain", "home", "manual_slop", "store", "packed", "unknown-json", HOME}


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


def called(entry: Mapping[str, Any], known: Called | None = None) -> Called:
    """What the ledger says of a conversation, with what was read of its file where the ledger says nothing."""
    found = known or UNCALLED
    source, form, project = entry.get("source"), entry.get("format"), entry.get("project_root") or entry.get("project")
    title, day = entry.get("title") or found.title, entry.get("date") or found.day
    tool = (source if source and str(source) not in NO_TOOL else form) or found.tool
    project = project if project and project != UNTOLD else found.project
    return Called(str(title), str(tool), str(day), str(project)) if title or tool or day or project else UNCALLED


@dataclass(frozen=True)
class Titles:
    """What conversations are called, as far as anybody knows: by their key in the ledger where their file told it
    (else `called` finds it in the entry), and by the name that provenances tell them by. `rest` are those whose files
    have not been read for it yet, None for none. `days` (ISO dates) and `projects` (folders) count conversations."""

    by_key: Mapping[str, Called]
    by_name: Mapping[str, Called]
    rest: _Rest | None = None
    days: Mapping[str, int] = field(default_factory=dict)
    projects: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Rest:
    """Rows of a ledger whose files are still to be read, by their places in it, the next one last."""

    rows: Sequence[LedgerRow]
    places: list[int]
    cache: _TitleCache


NO_TITLES = Titles({}, {})


def titles(workspace: Workspace, rows: Sequence[LedgerRow], before: Titles | None = None) -> Titles:
    """What every conversation of the ledger is called, `rows` with the newest first; `before` itself when that has not
    changed. Files are read for half a second at the most, at the first look for less: somebody waits for it."""
    rest = before.rest if before is not None else None
    cache = rest.cache if rest is not None else _TitleCache(workspace)  # with what has not been written yet
    cache.workspace = workspace  # its settings may be others by now
    if before is not None and rest is not None and rest.rows is rows:
        learned = _read_on(rest, SECONDS)
        if rest.places:
            return replace(before, by_key={**before.by_key, **learned}) if learned else before
    else:
        rest = _Rest(rows, [at for at in range(min(KEPT, len(rows)) - 1, -1, -1) if cache.lacks(*rows[at])], cache)
        _read_on(rest, SECONDS if before is not None else FIRST_SECONDS)
    by_key: dict[str, Called] = {}
    by_name: dict[str, Called] = {}
    days, projects = Counter[str](), Counter[str]()
    for key, entry in rows:
        known = cache.rows.get(key)
        if known is not None and known != UNCALLED:
            by_key[key] = known
        here = called(entry, known)
        if here is UNCALLED:
            continue  # a hundred thousand names that nothing is known of are not kept
        days[here.day[:10]] += 1
        projects[here.project] += 1
        name = name_of(entry)
        by_name.setdefault(name, here)  # the newest harvest of that name
        if not PLAIN_NAME.fullmatch(name):
            by_name.setdefault(sanitise_name(name), here)
    left = rest if rest.places else None
    found = Titles(by_key, by_name, left, days, projects)
    if before is None or replace(before, rest=left) != found:
        return found
    return before if before.rest is left else replace(before, rest=left)  # nothing is drawn again for what is equal


def _read_on(rest: _Rest, seconds: float) -> dict[str, Called]:
    """Read titles for so long; those that were found, by key."""
    found: dict[str, Called] = {}
    until = time.monotonic() + seconds
    while rest.places and time.monotonic() < until:
        key, entry = rest.rows[rest.places.pop()]
        if (known := rest.cache.read(key, entry)) != UNCALLED:
            found[key] = known
    rest.cache.keep(at_end=not rest.places)
    return found


class FirstRows(Sequence[LedgerRow]):
    """The rows of a large ledger before the whole of it has been read, newest first, each read when it is asked for.
    `counts` are by status, `names` what is remembered of titles."""

    def __init__(self, found: LedgerGlance, names: Mapping[str, Called]) -> None:
        self._found, self.counts, self.names = found, found.counts, names

    def __len__(self) -> int:
        return len(self._found)

    @overload
    def __getitem__(self, place: int) -> LedgerRow: ...

    @overload
    def __getitem__(self, place: slice) -> list[LedgerRow]: ...

    def __getitem__(self, place: int | slice) -> LedgerRow | list[LedgerRow]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        found = self._found.entry(place)
        return LedgerRow(*found) if found is not None else LedgerRow("", {"name": "Reading…"})


def first_rows(workspace: Workspace) -> FirstRows | None:
    """What can be shown of a large ledger at once; None where reading it whole is quick, or the only way."""
    found = glance(workspace.paths)
    if found is None:
        return None
    return FirstRows(found, {key: row for key, row in _TitleCache(workspace).rows.items() if row != UNCALLED})


def titles_of(workspace: Workspace, artifacts: Iterable[Artifact]) -> dict[str, Called]:
    """What conversations that lie on the disk are called, by their paths; read for a while, the others by name."""
    cache, found, until = _TitleCache(workspace), dict[str, Called](), time.monotonic() + 4 * SECONDS
    for item in artifacts:
        key = f"{item.path}:{item.size}:{item.mtime_ns}"
        known = cache.rows.get(key)
        wanted = known is None and item.kind == "conversation" and item.size <= READ_BYTES
        if wanted and time.monotonic() < until:
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

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._file = cache_folder(workspace.paths.home, workspace.environment) / "titles.json"
        self._new = 0
        self.rows: dict[str, Called] = {}
        try:
            cached = json.loads(files.read_or_empty(self._file) or b"{}")
            # A file without `cleared` is of a time when a title could keep a part of a secret.
            self.rows = {str(key): Called(*map(str, row)) for key, row in cached.get("cleared", {}).items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            self.rows = {}

    def lacks(self, key: str, entry: Mapping[str, Any]) -> bool:
        """Whether only the file of a conversation can tell its title, and has not been read for it."""
        return key not in self.rows and not entry.get("title") and entry.get("status") == "harvested"

    def read(self, key: str, entry: dict[str, Any]) -> Called:
        """The title of a conversation that was harvested, from its file or from the trash."""
        _, now, _ = whereabouts(self.workspace.paths, key, entry, str(entry.get("path", "")))
        return self.read_file(key, now) if now else self._learn(key, UNCALLED)

    def read_file(self, key: str, path: str) -> Called:
        """The title that stands in a file; remembered, also when there is none."""
        try:
            data = files.read_file(path, READ_BYTES).data
        except (OSError, ValueError):
            return self._learn(key, UNCALLED)
        read = read_conversation(Path(path).name, data)
        title = read.title
        if self.workspace.config.redact:
            title = clear_title(title, (turn.text for turn in read.turns))
        return self._learn(key, Called(title_of(title), read.format, (read.ended or read.started)[:10], read.folder))

    def _learn(self, key: str, row: Called) -> Called:
        self._new += 1
        self.rows[key] = row
        return row

    def keep(self, at_end: bool = True) -> None:
        """Write what was learned, before the end only where that is much: whether it can be done does not matter."""
        if self._new > (0 if at_end else MAX_UNWRITTEN_TITLES):
            self._new = 0
            newest = dict(list(self.rows.items())[-KEPT:])
            rows = {key: list(asdict(row).values()) for key, row in newest.items()}
            text = json.dumps({"cleared": rows}, ensure_ascii=False)
            files.write_cache(self._file, text.encode("utf-8", "replace"))
