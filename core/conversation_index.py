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

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from core.base import files, locks
from core.base.figures import local_date
from core.base.paths import Paths
from core.base.project import project_root
from core.conversations.days import day_of
from core.conversations.events import Call
from core.conversations.ran import Course, Ran, follow, ran_in, read_course, written
from core.conversations.searched import searched, title_of
from core.search import conversations as index
from core.search import store
from core.sources.archive import held, stand_ins
from core.sources.artifact import HOME, SETTLED_NS, Artifact
from core.sources.scan import origin, scan_conversations, sha_in_trash
from core.sources.sessions import StoreCache, list_sessions
from core.sources.tools import FILES, Place, disambiguate, forgotten_places, known_as, may_share, project_at
from core.sources.walk import (
    artifact_at,
    as_it_is,
    folder_state,
    harvested_at_paths,
    in_project,
    store_state,
    survey,
    worked_in,
)

if TYPE_CHECKING:
    from core.base.secrets.repeats import Secrets
    from core.conversations.conversation import Conversation, Turn
    from core.search.conversations import Database

BATCH_SECONDS, BATCH_BYTES = 3.0, 64 << 20
"""After so long, or so much that was read, what was added is committed."""
MAX_BYTES = 1 << 30
"""A larger file is not searched, and a note says so: to read one takes twice its size of memory."""
EDGE_BYTES = 4096
APPENDED = {
    "claude_code": (b'"queue-operation"', b'"queued_command"', b'"summary"', b"-title"),
    "codex": (b'"thread_rolled_back"',),
}
"""Formats whose files only grow at their end, one record a line, and in which a turn is in its own records; a file
in whose new part one of these words stands is read again all the same."""
WAITED = 20
"""So many turns the answer to a call may come later. Some never come, and a session without the user's words would be
read from there each time."""
_Read: TypeAlias = "tuple[index.Held, list[index.Piece], list[Ran], str]"
"""A conversation, its turns and its commands, cleared of secrets, and what the next look goes on from (`_Course`)."""
_state = "{0.size} {0.mtime_ns} {0.ctime_ns} {0.ino}".format
RATE, SHARE = 5e6, 0.4
"""About so many bytes of files are read in a second, and so many bytes of index are made of each."""


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
        rows += self._at_places()
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

    def _at_places(self) -> list[Artifact]:
        """What the tools left in their places."""
        found = survey(self._where.places)
        self._brought.notes += found.notes
        return found.artifacts

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
            while done < total and not self._over(until, done):
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

    def _over(self, until: float, done: int) -> bool:
        """Whether to stop; at least one is read in every look, so that each brings the end nearer."""
        return self._cancelled() or (done > 0 and time.monotonic() >= until)

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
        try:
            grown = _read_on(item, old, row, self._database)
            made, pieces, commands, course = grown or _read_whole(item, row, stores)
            first = index.HEADING if grown is None else made.cut_turn if not pieces else pieces[1].position
            index.put(self._database, made, pieces, first, commands, course)
        except (OSError, ValueError, RecursionError) as error:
            why = (error.strerror if isinstance(error, OSError) else "") or str(error) or type(error).__name__
            index.put(self._database, row._replace(problem=f"it cannot be read: {why}"), ())


# --- one conversation ------------------------------------------------------------------------------------------------


def _read_whole(item: Artifact, row: index.Held, stores: Any) -> _Read:
    """A conversation from its beginning. Raises OSError and ValueError."""
    from core.base.secrets.repeats import Secrets
    from core.conversations.read import TEXTS, read_conversation, why_unread

    secrets = Secrets()
    if item.kind != "session" and item.size > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MB")
    data = stores.content(item) if item.kind == "session" else files.read_file(item.path).data
    found = read_conversation(item.name, data)
    problem = why_unread(data, found)
    if problem is not None and (not found.turns or found.format in TEXTS):  # of records, what is whole is searched
        raise ValueError(problem.message)
    pieces = _pieces(found.turns, 0, found, secrets, item)
    made = _described(row, found, found.turns, len(found.turns), secrets, item)
    cut, turn = _cut(found.turns, 0) if item.kind != "session" and found.format in APPENDED else (0, 0)
    if cut:
        made = made._replace(cut=cut, cut_turn=turn, edge=_edge(data[max(0, cut - EDGE_BYTES) : cut]))
    end, course = _followed(_Course(), found.turns, turn, secrets)
    ran = ran_in(found.turns, 0, secrets.clear)
    return _with_heading(made._replace(state_end=end), pieces, secrets, ran, course if cut else "")


def _read_on(item: Artifact, old: index.Held | None, row: index.Held, database: Database) -> _Read | None:
    """What is new in a transcript that has grown; None for one that must be read from its beginning: it is of another
    format, what stood before its last turns is not the same, secrets were found in it (what is new may say them
    again), or what is new answers a call that stands before it."""
    if old is None or not old.cut or old.secrets or item.size < old.bytes or item.kind != "conversation":
        return None
    from core.base.secrets.repeats import Secrets
    from core.conversations.read import READERS

    first = max(0, old.cut - EDGE_BYTES)
    data = _bytes_from(item.path, first)
    edge, data = data[: old.cut - first], data[old.cut - first :]
    if _edge(edge) != old.edge or any(word in data for word in APPENDED[old.tool]):
        return None
    left = index.course_of(database, old.id)
    course = _Course.read(left) if left else _Course()
    if not left or any(id.encode() in data for id in course.waiting):
        return None
    reader = next(one for one in READERS if one.name == old.tool)
    found = reader.read(item.name, data)
    if not found.turns or found.turns[0].start != 0:
        return None
    cut, turn = _cut(found.turns, old.cut_turn)
    secrets = Secrets()
    end, after = _followed(course, found.turns, turn - old.cut_turn, secrets)
    pieces = _pieces(found.turns, old.cut_turn, found, secrets, item)
    if secrets.count:
        return None
    known = index.texts(database, old.id, old.cut_turn, old.cut_turn)
    if not known or not pieces or pieces[0][:2] != known[0][:2] or pieces[0].text != known[0].text:
        return None
    edge_bytes = (edge + data)[: len(edge) + cut][-EDGE_BYTES:]
    total = old.cut_turn + len(found.turns)
    made = old._replace(
        state=row.state, bytes=item.size, turns=total, ended=_ended(found, found.turns, item),
        cut=old.cut + cut, cut_turn=turn, edge=_edge(edge_bytes), state_end=end,
    )  # fmt: skip
    behind = index.runs_before(database, old.id, old.cut_turn)
    return _with_heading(made, pieces, secrets, ran_in(found.turns, old.cut_turn, secrets.clear, behind), after)


@dataclass
class _Course:
    """What the turns before the cut come to: how the session stood there (`ran.Course`), and the ids of calls that
    had no answer yet."""

    stood: Course = field(default_factory=Course)
    waiting: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, text: str) -> _Course:
        row = json.loads(text)
        return cls(read_course(row["stood"]), row["waiting"])

    @property
    def written(self) -> str:
        return json.dumps({"stood": written(self.stood), "waiting": self.waiting})


def _followed(course: _Course, turns: Sequence[Turn], number: int, secrets: Secrets) -> tuple[str, str]:
    """How a session stands behind these turns, without secrets, and the course up to the first `number` of them, ""
    where it holds what must be hidden."""
    from core.base.secrets.repeats import Secrets

    before = turns[:number]
    calls = [one for turn in before for one in turn.events if isinstance(one, Call) and one.id and not one.answered]
    kept = _Course(follow(course.stood, before), [*course.waiting, *(one.id for one in calls)])
    told = Secrets()
    told.clear("\n".join([*kept.stood.files, *kept.stood.texts]))
    text = "" if told.count else kept.written
    return secrets.clear(follow(kept.stood, turns[number:]).end.text), text


def _bytes_from(path: str, start: int) -> bytes:
    fd = files.open_regular(path)
    try:
        os.lseek(fd, start, os.SEEK_SET)
        chunks = []
        while chunk := os.read(fd, 1 << 20):
            chunks.append(chunk)
        return b"".join(chunks)
    finally:
        os.close(fd)


def _cut(turns: Sequence[Turn], first: int) -> tuple[int, int]:
    """Where reading may begin again, and the number of the turn there: the last one that a user or a tool spoke, which
    no record before or behind it is a part of, and before which no call waits for its answer: until the user speaks,
    `WAITED` turns at the most. (0, first) where there is none."""
    ends = 0
    at = (0, first)
    waits = -1
    for number, turn in enumerate(turns):
        waits = -1 if turn.role == "user" and not turn.agent else waits
        spoken = turn.role in ("user", "tool") and not turn.is_call and bool(turn.text.strip())
        if spoken and number > waits and turn.start >= ends > 0:
            following = turns[number + 1].start if number + 1 < len(turns) else turn.end
            if following >= turn.end:
                at = (turn.start, first + number)
        if number > waits and any(isinstance(one, Call) and one.id and not one.answered for one in turn.events):
            waits = number + WAITED
        ends = max(ends, turn.end)
    return at


def _edge(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _pieces(
    turns: Sequence[Turn], first: int, conversation: Conversation, secrets: Secrets, item: Artifact
) -> list[index.Piece]:

    day = _day_of(conversation, item)
    made = []
    for number, turn in enumerate(turns, start=first):
        said = searched(turn, number, partial(secrets.said, turn.role))
        if said is not None:
            made.append(index.Piece(said.turn, said.role, local_date(said.time) or day, said.text))
    return made


def _described(
    row: index.Held, found: Conversation, turns: Sequence[Turn], count: int, secrets: Secrets, item: Artifact
) -> index.Held:
    """What is known of a conversation, cleared."""

    first = next((turn.text for turn in turns if turn.role == "user" and turn.text.strip()), "")[:20_000]
    folder = found.folder
    if not project_root(folder):
        folder = worked_in(item.path, found) or folder
    started = found.started or next((turn.time for turn in turns if turn.time), "") or _day_of(found, item)
    return row._replace(
        tool=found.format, title=title_of(secrets.title(found.title), secrets.clear(first)[:2000]),
        folder=secrets.clear(folder), project=secrets.clear(place_of(folder)), branch=secrets.clear(found.branch),
        started=started, ended=_ended(found, turns, item), turns=count, session=found.id,
    )  # fmt: skip


def _ended(found: Conversation, turns: Sequence[Turn], item: Artifact) -> str:
    return found.ended or next((turn.time for turn in reversed(turns) if turn.time), "") or _day_of(found, item)


def _with_heading(row: index.Held, pieces: list[index.Piece], secrets: Secrets, ran: list[Ran], course: str) -> _Read:
    """The heading before the turns; what was a secret in one text is hidden in all, in commands too, and then the
    course is not kept."""
    row = row._replace(
        title=secrets.hide(row.title), folder=secrets.hide(row.folder), project=secrets.hide(row.project),
        branch=secrets.hide(row.branch), state_end=secrets.hide(row.state_end),
        secrets=max(row.secrets, secrets.count),
    )  # fmt: skip
    words = f"{row.title}\n{os.path.basename(row.project)} {row.branch}".strip()
    heading = index.Piece(index.HEADING, "title", local_date(row.ended), words)
    if secrets.count:
        pieces = [piece._replace(text=secrets.hide(piece.text)) for piece in pieces]
        ran = [one._replace(words=secrets.hide(one.words), key=secrets.hide(one.key)) for one in ran]
    return row, [heading, *pieces], ran, "" if row.secrets else course


def _day_of(conversation: Conversation, item: Artifact) -> str:
    return day_of(conversation, os.path.basename(item.path), item.mtime_ns)


def place_of(folder: str) -> str:
    """The top folder of the project that a session worked in; else its own folder."""
    return project_root(folder) or folder
