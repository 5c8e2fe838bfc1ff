"""Reads one conversation into the rows of the index of conversations: what is known of it, its turns and its commands,
cleared of secrets. A grown transcript of one record a line is read on from the last turn that was whole.

Apart from `conversation_index.py`, which every search asks and which seldom finds anything new: what reads takes long
to load.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from core.base import files
from core.base.figures import local_date
from core.base.project import place_of, project_root
from core.base.secrets.repeats import Secrets
from core.conversations.days import day_of
from core.conversations.ran import Course, Ran, follow, ran_in, read_course
from core.conversations.read import READERS, TEXTS, read_conversation, why_unread
from core.conversations.searched import searched, title_of
from core.search import conversations as index
from core.sources.walk import worked_in

if TYPE_CHECKING:
    from core.conversations.conversation import Conversation, Turn
    from core.search.conversations import Database
    from core.sources.artifact import Artifact

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
"""How many turns later the answer to a call may come. Some never do, and a session without the user's words would be
read from there each time."""
Read: TypeAlias = "tuple[index.Held, list[index.Piece], list[Ran], str]"
"""A conversation, its turns and its commands, cleared of secrets, and what the next look goes on from (`_Course`)."""


def read_whole(item: Artifact, row: index.Held, stores: Any) -> Read:
    """A conversation from its beginning. Raises OSError and ValueError."""
    secrets = Secrets()
    if item.kind != "session" and item.size > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MB")
    data = stores.content(item) if item.kind == "session" else files.read_file(item.path).data
    found = read_conversation(item.name, data)
    problem = why_unread(data, found)
    if problem is not None and (not found.turns or found.format in TEXTS):  # of records, what is whole is searched
        raise ValueError(problem.message)
    pieces = _pieces(found, 0, secrets, item)
    made = _described(row, found, secrets, item)
    cut, turn = _cut(found.turns, 0) if item.kind != "session" and found.format in APPENDED else (0, 0)
    if cut:
        made = made._replace(cut=cut, cut_turn=turn, edge=_edge(data[max(0, cut - EDGE_BYTES) : cut]))
    end, course = _followed(_Course(), found.turns, turn, secrets)
    ran = ran_in(found.turns, 0, secrets.clear)
    return _with_heading(made._replace(state_end=end), pieces, secrets, ran, course if cut else "")


def read_on(item: Artifact, old: index.Held | None, row: index.Held, database: Database) -> Read | None:
    """What is new in a transcript that has grown; None for one that must be read from its beginning: it is of another
    format, what stood before its last turns is not the same, secrets were found in it (what is new may say them
    again), or what is new answers a call that stands before it."""
    if old is None or not old.cut or old.secrets or item.size < old.bytes or item.kind != "conversation":
        return None
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
    pieces = _pieces(found, old.cut_turn, secrets, item)
    if secrets.count:
        return None
    known = index.texts(database, old.id, old.cut_turn, old.cut_turn)
    if not known or not pieces or pieces[0][:2] != known[0][:2] or pieces[0].text != known[0].text:
        return None
    edge_bytes = (edge + data)[: len(edge) + cut][-EDGE_BYTES:]
    total = old.cut_turn + len(found.turns)
    made = old._replace(
        state=row.state, bytes=item.size, turns=total, ended=_ended(found, item),
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
        return json.dumps(asdict(self))


def _followed(course: _Course, turns: Sequence[Turn], number: int, secrets: Secrets) -> tuple[str, str]:
    """How a session stands behind these turns, without secrets, and the course up to the first `number` of them, ""
    where it holds what must be hidden."""
    before = turns[:number]
    waiting = (call.id for turn in before for call in turn.calls if call.id and not call.answered)
    kept = _Course(follow(course.stood, before), [*course.waiting, *waiting])
    told = Secrets()
    told.clear("\n".join([*kept.stood.files, *kept.stood.texts]))
    text = "" if told.count else kept.written
    return secrets.clear(follow(kept.stood, turns[number:]).end.text), text


def _bytes_from(path: str, start: int) -> bytes:
    with os.fdopen(files.open_regular(path), "rb") as file:
        file.seek(start)
        return file.read()


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
        if number > waits and any(call.id and not call.answered for call in turn.calls):
            waits = number + WAITED
        ends = max(ends, turn.end)
    return at


def _edge(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _pieces(conversation: Conversation, first: int, secrets: Secrets, item: Artifact) -> list[index.Piece]:
    day = _day_of(conversation, item)
    made = []
    for number, turn in enumerate(conversation.turns, start=first):
        if text := searched(turn, partial(secrets.said, turn.role)):
            made.append(index.Piece(number, turn.role, local_date(turn.time) or day, text))
    return made


def _described(row: index.Held, found: Conversation, secrets: Secrets, item: Artifact) -> index.Held:
    """What is known of a conversation, cleared."""
    first = next((turn.text for turn in found.turns if turn.role == "user" and turn.text.strip()), "")[:20_000]
    folder = found.folder
    if not project_root(folder):
        folder = worked_in(item.path, found) or folder
    started = found.started or next((turn.time for turn in found.turns if turn.time), "") or _day_of(found, item)
    return row._replace(
        tool=found.format, title=title_of(secrets.title(found.title), secrets.clear(first)[:2000]),
        folder=secrets.clear(folder), project=secrets.clear(place_of(folder)), branch=secrets.clear(found.branch),
        started=started, ended=_ended(found, item), turns=len(found.turns), session=found.id,
    )  # fmt: skip


def _ended(found: Conversation, item: Artifact) -> str:
    return found.ended or next((turn.time for turn in reversed(found.turns) if turn.time), "") or _day_of(found, item)


def _with_heading(row: index.Held, pieces: list[index.Piece], secrets: Secrets, ran: list[Ran], course: str) -> Read:
    """The heading before the turns; what was a secret in one text is hidden in all, in commands too, and then the
    course is not kept."""
    names = ("title", "folder", "project", "branch", "state_end")
    hidden: dict[str, Any] = {name: secrets.hide(getattr(row, name)) for name in names}
    row = row._replace(secrets=max(row.secrets, secrets.count), **hidden)
    words = f"{row.title}\n{os.path.basename(row.project)} {row.branch}".strip()
    heading = index.Piece(index.HEADING, "title", local_date(row.ended), words)
    if secrets.count:
        pieces = [piece._replace(text=secrets.hide(piece.text)) for piece in pieces]
        ran = [one._replace(words=secrets.hide(one.words), key=secrets.hide(one.key)) for one in ran]
    return row, [heading, *pieces], ran, "" if row.secrets else course


def _day_of(conversation: Conversation, item: Artifact) -> str:
    return day_of(conversation, os.path.basename(item.path), item.mtime_ns)
