"""Keeps the index of conversations up to date with the files: the home folder, its trash, and what other tools left.

A look lists every conversation there is (names, sizes and times only) and compares that with the index, also those
that a harvest read at a path that the user named: what its lines cite can be found and read. What is gone
leaves it at once. What is new or has grown is read, the newest first, cleared of secrets, and added, for as many
seconds as the look was given; the rest waits for the next one. A grown transcript of one record a line is read on from
the last turn that was whole. Project folders are walked through only where the caller says so: of the conversations in
them, a look asks after those that are known, and in the folders that they are in.

Several programs may look at once: one of them writes, the others read what is there.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import locks
from core.base.paths import Paths
from core.search import conversations as index
from core.search import store
from core.sources.archive import held, stand_ins
from core.sources.artifact import HOME, SETTLED_NS, Artifact
from core.sources.scan import origin, scan_conversations, sha_in_trash
from core.sources.sessions import StoreCache, list_sessions
from core.sources.tools import FILES, Place, disambiguate, forgotten_places, known_as, may_share, project_at
from core.sources.walk import artifact_at, as_it_is, folder_state, harvested_at_paths, in_project, store_state, survey

if TYPE_CHECKING:
    from core.search.conversations import Database

BATCH_SECONDS, BATCH_BYTES = 3.0, 64 << 20
"""The time, or the bytes that were read, after which what was added is committed."""
_state = "{0.size} {0.mtime_ns} {0.ctime_ns} {0.ino}".format
RATE = 5e6
"""The bytes of files that are read in a second, about."""
SHARE = 0.4
"""The bytes of index that are made of each of them, about."""


@dataclass(frozen=True)
class Where:
    """What is looked at. `folder` is that of the index and `copies` one for databases that can only be read as copies;
    `places` are those of tools that keep their conversations in one place, `walked` the others'. `entries` gives the
    ledger, when it is needed."""

    paths: Paths
    folder: Path
    copies: Path
    home: bool
    places: tuple[Place, ...]
    walked: tuple[Place, ...]
    entries: Callable[[], Mapping[str, Mapping[str, Any]]] = dict
    around: str = ""
    """The project's folder that the caller is in: its own conversations are looked for in any case."""
    harvested: bool = False
    """Whether what was harvested at paths, and lies in no tool's place, belongs to it."""


@dataclass
class Brought:
    """What a look did. `read` conversations were read; `waiting` of `waiting_bytes` are still to be. `busy` says that
    another program is writing the index."""

    read: int = 0
    gone: int = 0
    waiting: int = 0
    waiting_bytes: int = 0
    busy: bool = False
    notes: list[str] = field(default_factory=list)


Step = Callable[[int, int, str], None]
"""Hears of every conversation that was read: how many were, of how many, and its name."""


def look(
    where: Where,
    seconds: float,
    *,
    walk: bool = False,
    wait: float = 0.0,
    step: Step = lambda done, total, name: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> tuple[Database | None, Brought]:
    """Bring the index up to date for about `seconds`, and open it; None where there is nothing to open. `wait` is how
    many seconds to wait for another writer. Raises OSError where the cache folder cannot be written."""
    try:
        with locks.locked(where.folder / store.LOCK, work="search", editor_wait=wait):
            for last in (False, True):
                database = index.open_or_make(where.folder)
                try:
                    return database, _Look(where, database, step, cancelled).run(seconds, walk)
                except BaseException as error:
                    database.close()
                    if last or not (isinstance(error, Exception) and index.is_damage(error)):
                        raise
                    index.throw_away(where.folder)
    except locks.LockHeldError:
        pass
    return index.open_sealed(where.folder) or index.open_unsealed(where.folder), Brought(busy=True)


class _Look:
    """One look at everything."""

    def __init__(self, where: Where, database: Database, step: Step, cancelled: Callable[[], bool]) -> None:
        self._where = where
        self._database = database
        self._step = step
        self._cancelled = cancelled
        self._brought = Brought()
        self._entries: Mapping[str, Mapping[str, Any]] | None = None

    def run(self, seconds: float, walk: bool) -> Brought:
        known = index.known(self._database)
        found = self._found(walk)
        new = [row for path, row in found.items() if path not in known or known[path].state != _state(row)]
        if new:  # loading what reads them is not counted among the seconds
            import core.base.secrets.nets
            import core.conversations.read  # noqa: F401
        until = time.monotonic() + seconds
        gone = [row.id for path, row in known.items() if path not in found]
        if gone:
            with index.writing(self._database, self._where.folder):
                index.forget(self._database, gone)
            self._brought.gone = len(gone)
        self._erase(until)
        new = self._named(sorted(new, key=lambda item: item.mtime_ns, reverse=True))
        left = self._read(new, known, until) if new else []
        self._brought.waiting, self._brought.waiting_bytes = len(left), sum(item.size for item in left)
        return self._brought

    # --- what there is -----------------------------------------------------------------------------------------------

    def _found(self, walk: bool) -> dict[str, Artifact]:
        where = self._where
        rows: list[Artifact] = []
        if where.home:
            rows += [row for row in scan_conversations(where.paths) if row.kind == "conversation"]
            rows += self._in_trash()
        found = survey(where.places)
        self._brought.notes += found.notes
        rows += found.artifacts
        walked = self._walked() if walk else self._known_places()
        inside = {row.path for row in rows}
        rows += [row for row in walked if row.path not in inside]
        if where.harvested:
            inside.update(row.path for row in walked)
            rows += [row for row in self._harvested() if row.path not in inside]
        stores = [row for row in rows if row.kind == "store"]
        rows = [row for row in rows if row.kind != "store"]
        rows += self._sessions(stores) if stores else []
        rows += self._kept({known_as(row.path, row.source) for row in rows})
        return self._without_forgotten({row.path: row for row in rows})

    def _without_forgotten(self, found: dict[str, Artifact]) -> dict[str, Artifact]:
        """Without what the user wants forgotten."""

        def forgotten() -> list[str]:
            rows = self._ledger()
            return [*(key for key, row in rows.items() if row.get("status") == "forgotten"), *forgotten_places(rows)]

        names = self._of_ledger("forgotten", forgotten) or []
        kept = ((one, known_as(one, row.source), sha_in_trash(row.name)) for one, row in found.items())
        return {one: found[one] for one, *called in kept if not names or not {*names} & {*called}}

    def _kept(self, there: set[str]) -> list[Artifact]:
        """What its tool has deleted, out of our archive."""
        folder, sources = self._where.paths.archive, {place.source for place in self._where.places + self._where.walked}
        if not (state := folder_state(str(folder))):
            return []
        rows = self._of_ledger("archive", lambda: held(folder, self._ledger()), state) or {}
        return [item for item, _ in stand_ins(folder, rows, sources, there)]

    def _of_ledger(self, name: str, made: Callable[[], Any], beside: str = "") -> Any:
        """What is made of the ledger, once for each state of it and of what is `beside` it; None without one."""
        state, found = json.loads(index.remembered(self._database, name) or '["", null]')
        if state != (now := store_state(str(self._where.paths.ledger)) + beside):
            found = made()
            with index.writing(self._database, self._where.folder):
                index.remember(self._database, name, json.dumps([now, found]))
        return found

    def _in_trash(self) -> list[Artifact]:
        try:
            names = sorted(os.listdir(self._where.paths.trash))
        except OSError:
            return []
        rows = [artifact_at(os.path.join(self._where.paths.trash, name), HOME, name) for name in names]
        return [row._replace(kind="trash") for row in rows if row is not None and sha_in_trash(row.name)]

    def _walked(self) -> list[Artifact]:
        """What lies in project folders and at the paths that the user named; remembered for the looks to come."""
        found = survey(self._where.walked)
        self._brought.notes += [*found.notes, *map(str, found.errors)]
        rows = json.dumps([(row.path, row.source, row.name, row.kind) for row in found.artifacts])
        with index.writing(self._database, self._where.folder):
            index.remember(self._database, "walked", rows)
        return found.artifacts

    def _known_places(self) -> list[Artifact]:
        """What lies where the last walk found conversations, and around the caller, as it is now."""
        where = self._where
        names = {place.source for place in where.walked}
        if not names:
            return []
        found: dict[str, Artifact] = {}
        projects = {where.around} if where.around else set[str]()
        for path, source, name, kind in json.loads(index.remembered(self._database, "walked") or "[]"):
            if source != FILES and (project := project_at(path)):
                projects.add(project)
            elif (source in names or FILES in names) and (row := as_it_is(path, source, name, kind)) is not None:
                found[path] = row
        found |= {row.path: row for folder in sorted(projects) for row in in_project(folder, names - {FILES})}
        return list(found.values())

    def _harvested(self) -> list[Artifact]:
        """What was harvested at paths, as it is now."""

        def rows() -> list[Any]:
            return [(row.path, row.source, row.name, row.kind) for row in harvested_at_paths(self._ledger())]

        found = self._of_ledger("harvested", rows) or []
        return [item for row in found if (item := as_it_is(*row)) is not None]

    def _sessions(self, stores: Sequence[Artifact]) -> list[Artifact]:
        """The conversations in databases and exports. A store that did not change is not opened: its conversations are
        those that the last look found."""
        kept = json.loads(index.remembered(self._database, "stores") or "{}")
        now: dict[str, list[Any]] = {}
        rows: list[Artifact] = []
        opened: list[Artifact] = []
        for item in stores:
            state = store_state(item.path)
            known = kept.get(item.path)
            if state and known is not None and known[0] == state:
                now[item.path] = known
                rows += [Artifact(*row) for row in known[1]]
            else:
                opened.append(item)
        if opened:
            with StoreCache(self._where.copies) as cache:
                for item in opened:
                    state = store_state(item.path)
                    found = list_sessions([item], cache)
                    self._brought.notes += found.notes
                    rows += found.artifacts
                    now[item.path] = [state, found.artifacts]
        if opened or now.keys() != kept.keys():
            with index.writing(self._database, self._where.folder):
                index.remember(self._database, "stores", json.dumps(now))
        return rows

    def _named(self, items: list[Artifact]) -> list[Artifact]:
        """The same with the names that the program knows them by."""
        if any(item.kind == "trash" for item in items):
            items = [self._from_trash(item) if item.kind == "trash" else item for item in items]
        if any(map(may_share, items)):
            files_alone = [item for item in items if item.kind != "session"]
            named = {row.path: row for row in disambiguate(files_alone, self._ledger())}
            items = [named.get(item.path, item) for item in items]
        return items

    def _from_trash(self, item: Artifact) -> Artifact:
        entry = self._ledger().get(sha_in_trash(item.name), {})
        path = origin(entry, item.name) or str(entry.get("path", ""))
        name = str(entry.get("name", "")) or os.path.basename(path) or item.name
        return item._replace(name=name, source=str(entry.get("source", "")) or HOME)

    def _ledger(self) -> Mapping[str, Mapping[str, Any]]:
        if self._entries is None:
            self._entries = self._where.entries()
        return self._entries

    # --- what is new -------------------------------------------------------------------------------------------------

    def _read(self, new: Sequence[Artifact], known: Mapping[str, index.Known], until: float) -> Sequence[Artifact]:
        """Read one after the other while there is time; what is left comes back."""
        done, total = 0, len(new)
        with StoreCache(self._where.copies) as stores:
            # At least one is read in every look, so that each brings the end nearer.
            while done < total and not self._cancelled() and (not done or time.monotonic() < until):
                ends = min(until, time.monotonic() + BATCH_SECONDS)
                size, first = 0, done
                with index.writing(self._database, self._where.folder):
                    free = index.next_id(self._database)
                    ids = [known[item.path].id for item in new[done : done + 500] if item.path in known]
                    held = index.held(self._database, ids)
                    while done < min(total, first + 500) and size < BATCH_BYTES:
                        item = new[done]
                        old = held.get(known[item.path].id) if item.path in known else None
                        self._add(item, old, free, stores)
                        free += old is None
                        size += item.size
                        done += 1
                        self._brought.read += 1
                        self._step(done, total, item.name)
                        if time.monotonic() >= ends or self._cancelled():
                            break
        return new[done:]

    def _erase(self, until: float) -> None:
        """Take out the words of conversations that are gone, as far as there is time."""
        left = self._brought.gone or index.remembered(self._database, "left over")
        threads = index.forgotten(self._database) if left else []
        while threads:
            with index.writing(self._database, self._where.folder):
                while threads:
                    index.erase(self._database, threads.pop())
                    if time.monotonic() >= until:
                        break
                index.remember(self._database, "left over", str(len(threads)) if threads else "")
            if time.monotonic() >= until:
                return

    def _add(self, item: Artifact, old: index.Held | None, free: int, stores: Any) -> None:
        """Read one conversation and put it in. One that cannot be read affects only itself."""
        number = old.id if old is not None else free
        state = "" if time.time_ns() - max(item.mtime_ns, item.ctime_ns) < SETTLED_NS else _state(item)
        row = index.Held(number, item.path, state, item.name, item.source, bytes=item.size, trash=item.kind == "trash")
        from core import conversation_reading as reading  # seldom is anything new, and it takes a while to load

        try:
            grown = reading.read_on(item, old, row, self._database)
            made, pieces, commands, course = grown or reading.read_whole(item, row, stores)
            first = index.HEADING if grown is None else made.cut_turn if not pieces else pieces[1].position
            index.put(self._database, made, pieces, first, commands, course)
        except (OSError, ValueError, RecursionError) as error:
            why = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
            index.put(self._database, row._replace(problem=f"it cannot be read: {why}"), ())
