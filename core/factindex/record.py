"""`.state/facts.jsonl`: which conversation taught which fact. What ages, undoes and does not bring back is told here.

Appended to, never rewritten; each line has its own checksum, and a damaged one is left out and counted. Kinds:

- `fed`      one conversation (`sha`, `run`, `path`, `day`) and what became of its items: rows of
             `[mark, id, what, confidence, last]` with `what` one of new, same (a confirmation), gone (the user has
             deleted it: it stays so), kept (it stands there but is not valid)
- `undone`   the harvest `sha` of `run` was taken back; `kept` are `[mark, id]` that stay deleted, `known` as below
- `known`    `{id: [confidence, last_confirmed]}` of facts that a user has written or changed
- `counted`  `{id: source_count}` as the files had them after a sync (`after` so many records): what they say more, or
             less, by the next one was counted elsewhere
- `merged`   `from` became a part of `into`
- `left`     the `fact` (a row) went, for the bullet that it was made of went; `back`: both are back, also what was told
- `reworded` the fact follows its bullet, whose text now has this `mark`
- `told`     `ids` of facts that are gone from the YAML files, and whose bullets were looked at
- `archive`  all of a run's plans up to `size` bytes are fed
- `index`    what `index.json` holds: sum of its facts, `at` (ISO 8601), and the newest `day` there has been

Deleting index.json changes nothing here. Deleting this file makes the program forget what was deleted by hand.

What time does to a fact (confidence that fades while nobody says it again, the day after which it is stale) is computed
from this record and written into the index only: the number in the YAML file stays the user's, and computing twice
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.base import files
from core.base.checked_lines import Record, decode_line, encode, opened
from core.factindex.facts import Fact, split_id

NAME = "facts.jsonl"
NEW, SAME, GONE, KEPT = "new", "same", "gone", "kept"

_MARKS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
"""Of a merge conflict: the lines of both sides are records, so nothing is damaged."""

Key = tuple[str, str]
"""sha256 and run of one harvest."""


def record_path(state: Path) -> Path:
    """Where the record lies, in the store's folder of states."""
    return state / NAME


@dataclass(frozen=True)
class Fed:
    """One conversation whose items have become facts."""

    sha: str
    run: str
    day: str
    rows: tuple[tuple[str, str, str], ...]


@dataclass
class History:
    """What the record says, undone harvests taken out.

    `seen` tells which fact a text (domain, mark) has become; `anchors` the position at which a fact was last confirmed
    or changed; `known` its confidence and last_confirmed as the program or the user last wrote them; `made` the mark
    of the text that it was made of or follows by now. `left` are the facts that went with their bullet, as rows; `told`
    the ids of facts that were taken out of the YAML files and whose bullets have been dealt with, None in a store that
    does not follow them yet.
    """

    fed: dict[Key, Fed] = field(default_factory=dict)
    seen: dict[tuple[str, str], str] = field(default_factory=dict)
    marks: dict[str, set[str]] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    merged: dict[str, str] = field(default_factory=dict)
    known: dict[str, list[Any]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    size: int = 0
    """How many records there are."""
    anchors: dict[str, int] = field(default_factory=dict)
    archives: dict[str, int] = field(default_factory=dict)
    total: int = 0
    index_sum: str = ""
    index_at: str = ""
    day: str = ""
    damaged: int = 0
    made: dict[str, str] = field(default_factory=dict)
    left: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: set[str] | None = None
    anchored: dict[str, str] = field(default_factory=dict)
    """Fact -> the run that made or confirmed it last; the rest of that run ages it not."""
    ends: dict[str, int] = field(default_factory=dict)
    newest: str = ""
    """The newest day that a conversation has had: what is older was said before, and ages nothing."""

    def marks_of(self, sha: str, path: str) -> set[str]:
        """The marks of everything that this conversation, under this content or this path, has said."""
        return self.marks.get(f"sha:{sha}", set()) | (self.marks.get(f"path:{path}", set()) if path else set())


def read_history(path: Path) -> tuple[list[Record], History]:
    """The records and what they say. Raises OSError when the file is there and cannot be read."""
    data = files.read_or_empty(path)
    lines = [line for line in data.split(b"\n") if line and not line.startswith(_MARKS)]
    records = [record for record in map(decode_line, lines) if record is not None]
    history = history_of(records)
    history.damaged = len(lines) - len(records)
    return records, history


def history_of(records: Iterable[Record]) -> History:
    """Go through the records once. A record of a shape that is not ours says nothing."""
    rows = list(records)
    undone: dict[Key, int] = {}
    for at, row in enumerate(rows):
        if row.get("t") == "undone":
            undone[str(row.get("sha")), str(row.get("run"))] = at
    history = History(size=len(rows))
    people: set[str] = set()
    for at, row in enumerate(rows):
        try:
            _take(row, history, people, at < undone.get((str(row.get("sha")), str(row.get("run"))), -1))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            continue
    for name, run in history.anchored.items():
        if name in history.anchors:
            history.anchors[name] = max(history.anchors[name], history.ends.get(run, 0))
    return history


def _take(row: Record, history: History, people: set[str], is_undone: bool) -> None:
    kind = row["t"]
    if kind == "fed":
        history.ids.update(str(item[1]) for item in row["items"])
        if not is_undone:
            _take_fed(row, history, people)
        for mark, name, what, *_ in row["items"] if is_undone else ():  # of what another harvest confirmed since
            if what == NEW:
                history.made.setdefault(name, mark)
    elif kind == "undone":
        for mark, name in row.get("kept", ()):
            parts = split_id(name)
            if parts is not None:
                history.seen.setdefault((parts[0], mark), name)
        _know(row.get("known", {}), history, None)
    elif kind == "known":
        _know(row["facts"], history, history.total)
    elif kind == "counted":
        history.counts |= {str(name): int(number) for name, number in row["facts"].items()}
    elif kind == "merged":
        history.merged[str(row["from"])] = str(row["into"])
        history.ids.add(str(row["from"]))
    elif kind == "left":
        history.left[str(row["id"])] = row["fact"]
        history.ids.add(str(row["id"]))
    elif kind == "back":
        history.left.pop(str(row["id"]), None)
        (history.told or set()).discard(str(row["id"]))
    elif kind == "reworded":
        history.made[str(row["id"])] = str(row["mark"])
        parts = split_id(str(row["id"]))
        if parts is not None:
            history.seen.setdefault((parts[0], str(row["mark"])), str(row["id"]))
    elif kind == "told":
        history.told = (history.told or set()) | set(map(str, row["ids"]))
    elif kind == "archive":
        history.archives[str(row["run"])] = int(row["size"])
    elif kind == "index":
        history.index_sum, history.index_at = str(row["sum"]), str(row["at"])
        history.day = max(history.day, str(row["day"]))


def _take_fed(row: Record, history: History, people: set[str]) -> None:
    sha, run, path, day = (str(row[key]) for key in ("sha", "run", "path", "day"))
    names = [f"sha:{sha}", *([f"path:{path}"] if path else [])]
    if not any(name in people for name in names) and day >= history.newest:
        history.total += 1
    history.newest = max(history.newest, day)
    history.ends[run] = history.total
    people.update(names)
    rows = []
    for mark, name, what, *rest in row["items"]:
        parts = split_id(name)
        if parts is None:
            continue
        rows.append((mark, name, what))
        history.seen.setdefault((parts[0], mark), name)
        for key in names:
            history.marks.setdefault(key, set()).add(mark)
        if what == NEW:
            history.made.setdefault(name, mark)
        if what in (NEW, SAME):
            history.anchors[name] = history.total
            history.anchored[name] = run
            history.known[name] = [float(rest[0]), str(rest[1])]
    history.fed[sha, run] = Fed(sha, run, day, tuple(rows))


def _know(facts: dict[str, list[Any]], history: History, anchor: int | None) -> None:
    for name, (confidence, last) in facts.items():
        history.known[name] = [float(confidence), str(last)]
        history.ids.add(name)
        if anchor is not None:
            history.anchors[name] = anchor
            history.anchored.pop(name, None)


def counted(facts: Iterable[Fact], history: History) -> list[Record]:
    """The record of how many said each fact, of those of which it is another number than the history has."""
    numbers = {fact.id: said_by(fact) for fact in facts}
    new = {name: number for name, number in numbers.items() if history.counts.get(name) != number}
    return [{"t": "counted", "after": history.size, "facts": new}] if new else []


def said_by(fact: Fact) -> int:
    """How many said a fact: where no number is written, whoever wrote it."""
    return 1 if fact.source_count is None else fact.source_count


def append_records(path: Path, records: Iterable[Record]) -> None:
    """Add records durably; one that stands there already is not added twice. Raises OSError."""
    wanted = [encode(record) for record in records]
    if not wanted:
        return
    with opened(path) as fd, files.naming(path):
        data = files.read_descriptor(fd)
        known = set(data.split(b"\n"))
        lines = [line for line in wanted if line[:-1] not in known]
        if lines:
            torn = b"" if not data or data.endswith(b"\n") else b"\n"
            files.append(fd, torn + b"".join(lines), len(data))
            files.sync(fd)


SESSIONS = 30
FACTOR = 0.9
DIGITS = 4


def decayed(confidence: float, sessions: int) -> float:
    """The confidence after `sessions` further conversations without a confirmation: × 0.9 at each crossing of 30."""
    crossings = max(0, sessions) // SESSIONS
    return round(confidence * FACTOR**crossings, DIGITS) if crossings else confidence


def aged(fact: Fact, history: History, today: str) -> Fact:
    """The fact as it stands in the index. `today` is YYYY-MM-DD; an earlier day than one that was recorded does not
    count, so that a clock that is set back brings no fact back to life."""
    # Conversations that were harvested since it was last confirmed, or written or changed by a user.
    left = decayed(fact.confidence, history.total - history.anchors.get(fact.id, history.total))
    stale = bool(fact.expires) and max(today, history.day) > fact.expires
    return fact if left == fact.confidence and not stale else fact._replace(confidence=left, stale=stale)
