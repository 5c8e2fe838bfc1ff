"""What is known already when a conversation is read: shown to the model, so that it confirms instead of repeating.

Known is the store as the run began, what the run has learned since, and what earlier parts of the same conversation
gave. The conversations of one project are read one after the other, the oldest first, so that each knows what those
before it taught. Of the store a conversation sees the lines of its own project and the user's that are like it, the
nearest first, and the newest open tasks and questions; never those of another project. A note is shown where its file
lies in the project and the conversation names it. What waits in the quarantine is among them, so that it is not
proposed again. Each has a short id (`k1`), which the answer may name: `confirms`,
`supersedes`, `finishes`, `answers`, `retracts`. Nothing in the store changes by that: what is confirmed is counted, the
rest is offered to the user.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, takewhile
from threading import Condition, Lock
from typing import Any

from core.base import files
from core.base.entry import statement_key
from core.base.markdown import Bullet, parse_bullets, sanitise_line
from core.base.marks import for_prompt
from core.base.paths import Paths
from core.base.project import is_below, project_root, repository_root
from core.base.secrets.redact import redact
from core.harvest.named_paths import note_roots
from core.knowledge.bullet_text import held_item
from core.knowledge.categories import note_files, read_category, read_text
from core.knowledge.confirmed import Confirmations, confirmed_bullets, read_confirmed
from core.knowledge.file_notes import read_records
from core.knowledge.projects import OTHER, OWN, Here, Projects, here_in, nearness, projects_of
from core.knowledge.removed import Removed, read_hidden
from core.knowledge.same import statements

SHOWN = ("facts", "decisions", "playbooks", "tasks_open", "questions", "files")
LABELS = {
    "facts": "fact",
    "decisions": "decision",
    "playbooks": "playbook",
    "tasks_open": "open task",
    "questions": "open question",
    "tasks_done": "task done",
    "files": "note on a file",
}
KNOWN_BYTES = 4096
"""The bytes of what is known that are shown beside a part, and as many of what earlier parts gave."""
KNOWN_SHARE = 8
"""Of a small window each of them gets this part at most."""
EARLIER_CHARACTERS = 200
"""The characters of a row of an earlier part that are shown beside the next one."""
ALWAYS = 0.25
"""The share of that room which the newest open tasks and questions of the project get, near or not."""
LIKE = 0.4
"""The share of a line's words, the rare ones counting more, from which it is shown beside a conversation. Of what
readers kept of 66 sessions 96 % reach it in their own session, 35 % in another of the repository (`tests/quality`)."""
NEARLY = 0.3
"""The share that is enough for a line of the project itself, or what a later session says in other words would stand
twice. Of 134 lines of readers between 0.2 and this one was said again, at 550 bytes a session."""
NEARLY_BYTES = 1024
"""The bytes up to which such lines are shown."""
_WORD = re.compile(r"[^\W_]{3,}")

INTRODUCTION = """\
Between the marks `known` stands what is known: id, kind, and day, or "earlier" (in an earlier part of this
conversation) or "waiting" (the user has yet to decide). It is data; most of it does not matter here. Never say it again
in other words. A row names a line by its id:
- borne out once more: {"statement": "", "quote": "the tests need Redis", "confirms": "k1"}
- false or outdated: {"statement": "The tests need Redis 7.", "quote": "…", "supersedes": "k1"}
- an open task finished, in tasks_done: {"statement": "Ported the tests.", "quote": "…", "finishes": "k2"}; with "" as
its statement where it was finished elsewhere
- an open question answered: {"statement": "The port is 6380.", "quote": "…", "answers": "k3"}
- taken back by the user ("forget the port"), nothing instead: {"statement": "", "retracts": "k1"}
"""


@dataclass(frozen=True)
class Known:
    """One line that is known. `earlier`: an earlier part of the same conversation gave it, and it is in no file yet.
    `date` is the day it was said last (YYYY-MM-DD), "" where nothing tells. `waits`: it lies in the quarantine. `path`
    is the file that a note is about."""

    category: str
    text: str
    earlier: bool = False
    date: str = ""
    waits: bool = False
    path: str = ""

    def line(self, folder: str = "") -> str:
        """What it says; a note stands behind its path, as it is told from `folder`."""
        path = os.path.relpath(self.path, folder) if folder and is_below(self.path, folder) else self.path
        return sanitise_line(f"{path}: {self.text}", None) if path else self.text


@dataclass(frozen=True)
class _Row:
    """`root` is the project in which this run learned it, "" for what stood there before."""

    known: Known
    bullets: tuple[Bullet, ...]
    words: frozenset[str]
    root: str = ""


_Lines = tuple[str, str, Sequence[Bullet]]
"""A category, the file that its lines are notes on ("" for none), and the lines."""


class KnownStore:
    """The lines that a model may be shown: those of the store as they were when a run began, and what it learned."""

    def __init__(
        self, rows: Iterable[_Lines], projects: Projects, unread: str = "", held: Sequence[Bullet] = ()
    ) -> None:
        self._projects, self.unread = projects, unread
        self._rows: list[_Row] = []
        self._having: dict[str, list[int]] = {}
        self._lock, self._turns, self._number = Lock(), Condition(), count()
        self._rank: dict[str, int] = {}
        self._next: dict[str, list[tuple[str, int]]] = {}
        self._unread: dict[str, None] = {}
        self._reading: set[str] = set()
        for category, path, bullets in rows:
            for statement in statements(bullets):
                bullet = statement.bullet
                # Indented lines would not travel with a confirmation.
                if bullet.struck or bullet.more:
                    continue
                same = (bullet, *statement.others)
                dates = [one.provenance.date for one in same if one.provenance is not None]
                self._add(Known(category, bullet.text, date=max(dates, default=""), path=path), same)
        for bullet in held:
            item = held_item(bullet)
            if item.category in SHOWN and not bullet.struck:
                self._add(Known(item.category, item.text, waits=True, path=item.path), (bullet,))

    def _add(self, known: Known, bullets: tuple[Bullet, ...] = (), root: str = "") -> None:
        if not known.text or redact(known.line()).counts:  # a secret must not travel at all
            return
        row = _Row(known, bullets, frozenset(words_of(known.line())), root)
        self._rows.append(row)
        for word in row.words:
            self._having.setdefault(word, []).append(len(self._rows) - 1)

    def learn(self, rows: Iterable[Known], folder: str) -> None:
        """What a conversation that worked in `folder` taught; from any thread. Where no project is known, nothing."""
        root = project_root(folder)
        with self._lock:
            known = {row.known for row in self._rows if row.root == root}
            for row in rows if root else ():
                if row.category in SHOWN and row not in known:
                    self._add(row, root=root)

    def expect(self, name: str) -> None:
        """A conversation will be read; told in the order in which they are to be, the oldest first."""
        with self._turns:
            self._unread[name] = None
            self._rank[name] = next(self._number)

    def is_read(self, name: str) -> None:
        """It is known which project a conversation is of, or it will not be read."""
        with self._turns:
            self._unread.pop(name, None)
            self._turns.notify_all()

    @contextmanager
    def turn(self, folder: str, began: str, name: str = "") -> Iterator[None]:
        """The time in which the conversation `name` of a project is read: one after the other, of those that wait the
        oldest first, and once it is known of what project those before it are."""
        root = project_root(folder)
        if not root:
            self.is_read(name)
            yield
            return
        with self._turns:
            mine = (began, self._rank.pop(name) if name in self._rank else next(self._number))
            before = list(takewhile(lambda other: other != name, self._unread)) if name in self._unread else []
            self._next.setdefault(root, []).append(mine)
            self._unread.pop(name, None)
            self._turns.notify_all()
            self._turns.wait_for(
                lambda: (
                    root not in self._reading
                    and min(self._next[root]) == mine
                    and not any(other in self._unread for other in before)
                )
            )
            self._next[root].remove(mine)
            self._reading.add(root)
        try:
            yield
        finally:
            with self._turns:
                self._reading.discard(root)
                self._turns.notify_all()

    @staticmethod
    def read(paths: Paths, entries: Mapping[str, Mapping[str, Any]]) -> KnownStore:
        """The store as it lies on the disk. Of a file that cannot be read nothing is known: who writes tells that. Nor
        is anything where what was removed, has expired or was said again cannot be read: `unread` tells it."""
        rows: list[_Lines] = []
        try:
            removed, again = read_hidden(paths), read_confirmed(paths) or {}
        except OSError as error:
            why = f"the model was not shown what is known: what may not be told cannot be read: {error.strerror}"
            return KnownStore((), projects_of(entries), why)
        for name in SHOWN[:-1]:
            with suppress(OSError):
                rows.append((name, "", read_category(paths, name, removed, again)))
        with suppress(OSError):
            rows += _notes(paths, removed, again)
        held = list[Bullet]()
        with suppress(OSError):
            held = parse_bullets(read_text(paths.quarantine))
        return KnownStore(rows, projects_of(entries), held=held)

    def nearest(self, text: str, folder: str, room: int) -> list[Known]:
        """What is nearest to a text, in at most `room` bytes. `folder` is where the conversation worked, "" for none:
        then only what belongs to no project is shown."""
        here, place = here_in(folder, self._projects), next(iter(note_roots(folder, ())), "")
        with self._lock:
            return self._nearest(text, here, place, room)

    def _nearest(self, text: str, here: Here, place: str, room: int) -> list[Known]:
        words = words_of(text)
        weight = {word: math.log(1 + len(self._rows) / len(rows)) for word, rows in self._having.items()}
        score: dict[int, float] = {}
        for word in words & self._having.keys():
            for at in self._having[word]:
                score[at] = score.get(at, 0.0) + weight[word]
        for at in [at for at in score if self._rows[at].known.path]:
            if not _names(text, self._rows[at].known.path, place):
                del score[at]
        # A long line shares more words with anything: what counts is which part of its own is there.
        near = {at: found / (sum(weight[word] for word in self._rows[at].words) or 1.0) for at, found in score.items()}
        ranked = sorted((at for at in near if near[at] >= NEARLY), key=lambda at: (-near[at], at))
        waiting = [at for at, row in enumerate(self._rows) if row.known.category in ("tasks_open", "questions")]
        waiting.sort(key=lambda at: self._rows[at].known.date, reverse=True)
        chosen: dict[int, None] = {}
        own = (at for at in waiting if self._nearness(at, here) == OWN and not self._rows[at].known.waits)
        left = self._take(own, chosen, here, int(room * ALWAYS))
        room += left - int(room * ALWAYS)
        left = self._take((at for at in ranked if near[at] >= LIKE), chosen, here, room)
        nearly = (at for at in ranked if near[at] < LIKE and self._nearness(at, here) == OWN)
        self._take(nearly, chosen, here, min(left, NEARLY_BYTES - (room - left)))
        return [self._rows[at].known for at in chosen]

    def _nearness(self, at: int, here: Here) -> int:
        row = self._rows[at]
        if row.known.path:
            return OWN  # only those of the project get so far
        if row.root:
            return OWN if row.root == here.root or row.root in here.roots else OTHER
        return nearness(row.bullets, self._projects, here)

    def _take(self, rows: Iterable[int], chosen: dict[int, None], here: Here, room: int) -> int:
        """Choose rows until the room is full; how much of it is left."""
        for at in rows:
            row = self._rows[at]
            if at in chosen or self._nearness(at, here) == OTHER:
                continue
            size = _size(row.known)
            if size > room:
                break
            chosen[at] = None
            room -= size
        return room


@dataclass
class Shown:
    """What one conversation has been shown, with its ids: the same line keeps its id from part to part. `date` is the
    conversation's day, "" where nobody knows it."""

    store: KnownStore | None
    folder: str
    room: int
    date: str = ""
    rows: list[Known] = field(default_factory=list)
    earlier: list[Known] = field(default_factory=list)

    def block(self, text: str) -> str:
        """The lines known for a part, as they stand above it; "" for none."""
        shown = self.store.nearest(text, self.folder, self.room) if self.store is not None else []
        left, newest = self.room, list[Known]()
        for row in reversed(self.earlier):  # the newest are what the next part goes on from
            left -= _size(row)
            if left < 0:
                break
            newest.insert(0, row)
        shown += newest
        if not shown:
            return ""
        lines = [f"{self._id(row)} ({_about(row)}): {_safe(_shown(row, self.folder))}" for row in shown]
        return f"{INTRODUCTION}<known>\n" + "\n".join(lines) + "\n</known>\n"

    def add(self, rows: Iterable[Known]) -> None:
        """What a part gave."""
        self.earlier += [row for row in rows if row not in self.earlier]

    def named(self, said: Any) -> list[Known]:
        """The lines that an answer names: one id, or several."""
        ids = [said] if isinstance(said, str) else said if isinstance(said, list) else []
        found = [
            re.fullmatch(r"\s*[\[(]?k(\d{1,5})[\])]?\s*", one, re.IGNORECASE) for one in ids if isinstance(one, str)
        ]
        numbers = [int(one[1]) for one in found if one is not None]
        return [self.rows[number - 1] for number in numbers if 0 < number <= len(self.rows)]

    def _id(self, row: Known) -> str:
        if row not in self.rows:
            self.rows.append(row)
        return f"k{self.rows.index(row) + 1}"


def _notes(paths: Paths, removed: Removed, again: Confirmations) -> Iterator[_Lines]:
    """The notes on files that are still there. Raises OSError."""
    records = read_records(paths)
    for note in note_files(paths):
        path = str(records.get(note.name, {}).get("path", ""))
        if "@" not in note.name and path and files.exists(path):
            bullets = confirmed_bullets(again, f"files/{note.name}", parse_bullets(read_text(note)))
            yield "files", path, [row for row in bullets if not removed.keeps_away(row)]


def _names(text: str, path: str, place: str) -> bool:
    """Whether a text names a file that lies in the project whose folder is `place`, perhaps behind a link."""
    place = os.path.realpath(place) if place else ""
    name = os.path.relpath(path, place) if place and is_below(path, place) else ""
    if not name or name not in text or not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text):
        return False
    return repository_root(os.path.dirname(path)) in ("", place)


NOTHING = Shown(None, "", 0)
"""For answers to which nothing known was shown."""


def words_of(text: str) -> set[str]:
    """The words of a text by which it is compared."""
    return set(_WORD.findall(statement_key(text)))


def _about(row: Known) -> str:
    day = "earlier" if row.earlier else "waiting" if row.waits else row.date
    return f"{LABELS[row.category]}, {day}" if day else LABELS[row.category]


def _shown(row: Known, folder: str = "") -> str:
    """What is shown of a line. One of an earlier part was just written by the model that reads it."""
    return sanitise_line(row.line(folder), EARLIER_CHARACTERS) if row.earlier else row.line(folder)


def _size(row: Known) -> int:
    return len(_shown(row).encode("utf-8", "replace")) + len(_about(row)) + 12


def _safe(text: str) -> str:
    return for_prompt(text).replace("\n", " ").replace("<", "‹") if "known" in text.casefold() else for_prompt(text)
