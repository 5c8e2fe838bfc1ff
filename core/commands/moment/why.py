"""`knowledge why FILE[:LINE]`: the commit that made it so, the session that made the commit, and what was said there.

A commit is known to be a session's by its hash in what git answered there, or, where it has another one by now (a
rebase, a squash), by its subject in a commit of a session that wrote the file. Never by time: two sessions that ran in
the same hour are as likely to be wrong as right. Where nothing tells, the answer says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.base import files
from core.base.project import repository_root
from core.base.result import KnowledgeError, Ok, attempt
from core.commands.row import NAMED, needed, single, whole_number
from core.commands.table import SUMMARY
from core.commands.text import one_line
from core.commands.transcript import LOOK_SECONDS, opened_index, whole_of
from core.commands.workspace import Workspace
from core.conversations.conversation import Conversation
from core.conversations.events import Commit, Edit
from core.give.still import committed, git
from core.search import conversations as stored
from core.search.answering import Excerpt, chosen
from core.search.conversations import Held, Piece
from core.search.terms import Query, parse_query
from core.search.words import Stems, words_of

if TYPE_CHECKING:
    from core.search.conversations import Database

LIMIT, MAX_BYTES = 3, 8 << 20
GIT_SECONDS = 10.0
HASH = 7
"""Git abbreviates to no fewer letters."""
MAX_TURNS = 40
"""So many turns that have the hash, or the subject, are looked into."""
MOST_BEFORE, BEHIND = 400, 3
"""The reason is sought between the commit before and this one: at most so many turns back, so many behind."""
LEAST_SHARE, LEAST_WORDS = 0.2, 3
"""A quote has this share of what is asked about."""
ASKED = 240
UNCOMMITTED = "0" * 40
BY_HASH, BY_SUBJECT, BY_EDIT = "hash", "subject and file", "edit that is not committed"
_CALL = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
"""A call says no reason, and that which commits says its message once more."""
_ANNOUNCES = re.compile(r"\W*(?:now\b|next\b|let me\b|i'll\b|i (?:will|need)\b|task \d|step \d)", re.IGNORECASE)
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|otherwise|root cause|reason|turned out|instead of|rather than|avoid|prevent|"
    r"in order to|fails?|broke|missing|wrong|race|leak|crash|must not|needs? to|never|allows?|ensures?|which means|"
    r"bugs?|fix(?:ed|es)|incorrect(?:ly)?|silently|consistent|consistency|backward|deprecated|nobody|no one)\b|"
    r"因为|所以|原因",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Reason:
    """One commit of a file, newest first: its `commit` ("" for what is not committed), `subject` and `day`, the
    `message` below the subject; the `session` and the `turn` (from 1) where it was made, and `known_by` what; what was
    `asked` there and the `quote` that says why, "" where nobody does."""

    commit: str
    subject: str
    day: str
    message: str = ""
    session: str = ""
    turn: int = 0
    known_by: str = ""
    asked: str = ""
    quote: str = ""


@dataclass(frozen=True)
class WhyReport:
    """Why a file or a line of it is as it is. `line` is 0 for all of the file; `note` says what is not known."""

    file: str
    line: int
    reasons: tuple[Reason, ...]
    note: str = ""
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "line": self.line or None, "reasons": [asdict(row) for row in self.reasons]}


class _Change(NamedTuple):
    """A commit (40 letters) with what it says, and the text of the line that is asked about."""

    hash: str
    subject: str
    day: str
    body: str
    line: str


def why(workspace: Workspace, place: str, limit: int = LIMIT) -> WhyReport:
    """Why a line, or a file by its newest commits. Raises KnowledgeError for a file that is in no repository, or that
    git does not know, and for a line that it does not have."""
    path, line = _place(workspace, place)
    root = repository_root(os.path.dirname(path))
    if not root:
        raise KnowledgeError("no-repository", "this file is in no git repository", path)
    name = os.path.relpath(path, root)
    before, now = committed(root, name), _lines_now(path)
    changes = _blamed(root, name, line, before, now) if line else _logged(root, name, limit)
    if not changes and before is not None:
        raise KnowledgeError("not-in-git", "git knows no commit of this file", path)
    with opened_index(workspace, LOOK_SECONDS) as (database, brought, problem):
        if database is None:
            raise KnowledgeError("no-index", problem or "there is no index of conversations")
        look = _Look(workspace, database, root, name)
        reasons = [look.reason(change) for change in changes if change.hash != UNCOMMITTED]
        if not changes or changes[0].hash == UNCOMMITTED:
            reasons = [*look.uncommitted(changes[0].line if changes else ""), *reasons][:limit]
    silent = [row for row in reasons if not row.session]
    notes = []
    if silent and len(silent) == len(reasons):
        notes.append("no session that was read made this: nothing says why, but for the commit itself")
    if brought.waiting:
        notes.append(f"{brought.waiting} conversations are not read yet ('knowledge search --build' reads them)")
    return WhyReport(name, line, tuple(reasons), "; ".join(notes), tuple(filter(None, (problem,))))


def _place(workspace: Workspace, place: str) -> tuple[str, int]:
    bare, _, number = place.rpartition(":")
    asked, line = (bare, int(number)) if bare and number.isdecimal() and len(number) < 8 else (place, 0)
    path = os.path.abspath(workspace.cwd / os.path.expanduser(asked))
    if not os.path.isfile(path):
        raise KnowledgeError("no-file", "there is no such file", path, "name it as FILE or FILE:LINE")
    return os.path.realpath(path), line


# --- git -------------------------------------------------------------------------------------------------------------


def _lines_now(path: str) -> list[str]:
    try:
        return files.read_file(Path(path), MAX_BYTES).data.decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise KnowledgeError("unreadable", f"this file cannot be read: {error.strerror or error}", path) from error


def _blamed(root: str, name: str, line: int, before: list[str] | None, now: Sequence[str]) -> list[_Change]:
    """The commit of a line as the file is now, found as the line that it was in the newest commit."""
    if not 0 < line <= len(now):
        raise KnowledgeError("no-line", f"git tells nothing of line {line}", os.path.join(root, name))
    text, at = now[line - 1].strip(), line
    if before != now:
        blocks = SequenceMatcher(None, before or [], now, autojunk=False).get_matching_blocks()
        at = next((one.a + line - one.b for one in blocks if one.b < line <= one.b + one.size), 0)
    if not at:
        return [_Change(UNCOMMITTED, "", "", "", text)]
    told = git(
        root, "blame", "--no-textconv", "-w", "--porcelain", f"-L{at},{at}", "HEAD", "--", name, seconds=GIT_SECONDS
    )
    if told is None:
        raise KnowledgeError("no-line", f"git tells nothing of line {line}", os.path.join(root, name))
    return [_commit(root, told.split(" ", 1)[0], text)]


def _logged(root: str, name: str, limit: int) -> list[_Change]:
    told = git(
        root, "log", f"-{limit}", "--follow", "--no-ext-diff", "--no-textconv", "--format=%H", "--", name,
        seconds=GIT_SECONDS,
    )  # fmt: skip
    return [_commit(root, hash, "") for hash in (told or "").split()]


def _commit(root: str, hash: str, line: str) -> _Change:
    told = git(root, "show", "-s", "--no-ext-diff", "--no-textconv", "--format=%cs%n%s%n%b", hash, seconds=GIT_SECONDS)
    day, subject, *body = [*(told or "").split("\n"), "", ""]
    message = "\n".join(
        row for row in body if not re.match(r"(?:Co-Authored-By|Signed-off-by|Generated with)\b", row, re.I)
    )
    return _Change(hash, subject, day, message.strip(), line)


# --- sessions --------------------------------------------------------------------------------------------------------


class _Look:
    """The conversations of a repository, asked about one of its files."""

    def __init__(self, workspace: Workspace, database: Database, root: str, name: str) -> None:
        self._workspace, self._database, self._name = workspace, database, name
        self._stems = Stems()
        folders = "project = ? OR folder = ?"
        rows = database.execute(f"SELECT id FROM conversations WHERE {folders}", (root, root))
        self._own = {id for (id,) in rows}
        self._root = root

    def reason(self, change: _Change) -> Reason:
        """What the sessions say of a commit."""
        row = Reason(change.hash[:10], change.subject, change.day, change.body)
        for held, talk in self._made(self._with(change.hash[:HASH], begins=True)):
            at = _commit_turn(talk, lambda made: bool(made.hash) and change.hash.startswith(made.hash.lower()))
            if at >= 0:
                return self._told(row, held, talk, at, change, BY_HASH)
        for held, talk in self._made(self._with(change.subject)) if len(words_of(change.subject)) > 1 else ():
            at = _commit_turn(talk, lambda made: made.subject.strip() == change.subject)
            if at >= 0 and _last_edit(talk, self._name, at) >= 0:
                return self._told(row, held, talk, at, change, BY_SUBJECT)
        return row

    def uncommitted(self, line: str) -> Iterator[Reason]:
        """The newest session that wrote the file."""
        name = os.path.basename(self._name)
        for held, talk in self._made(self._with(name), newest=True):
            at = _last_edit(talk, self._name, len(talk.turns))
            if at >= 0 and held.id in self._own:
                row = Reason("", "not committed", held.ended[:10])
                yield self._told(row, held, talk, at, _Change("", "", "", "", line), BY_EDIT)
                return

    def _with(self, words: str, *, begins: bool = False) -> list[int]:
        """The conversations in which words stand one behind the other, those of this repository first."""
        asked = '"' + " ".join(words_of(words)) + '"' + ("*" if begins else "")
        sql = "SELECT t.thread FROM words JOIN turns t ON t.id = words.rowid WHERE words MATCH ? LIMIT ?"
        found = dict.fromkeys(row[0] for row in self._database.execute(sql, (f"text : {asked}", MAX_TURNS)))
        return sorted(found, key=lambda id: id not in self._own)

    def _made(self, threads: Sequence[int], *, newest: bool = False) -> Iterator[tuple[Held, Conversation]]:
        rows = list(stored.held(self._database, threads).values())
        rows.sort(key=lambda row: threads.index(row.id))
        if newest:
            rows.sort(key=lambda row: row.ended, reverse=True)
        for held in rows:
            read = attempt(whole_of, self._workspace, held)
            if isinstance(read, Ok):
                yield held, read.value.conversation

    def _told(self, row: Reason, held: Held, talk: Conversation, at: int, change: _Change, known_by: str) -> Reason:
        edit = _edit_of(talk, self._name, at, change.line)
        edit = edit if edit >= 0 else at
        first = max([made for made in _commits(talk) if made < min(at, edit)], default=-1) + 1
        about = f"why {change.subject} {os.path.basename(self._name)} {change.line}"
        query = parse_query(about, self._database, self._stems)
        spoken = [
            piece
            for piece in stored.texts(self._database, held.id, max(first, at - MOST_BEFORE), at + BEHIND)
            if piece.role in ("user", "assistant")
        ]
        asked = self._asked(talk, spoken, query, edit)
        answers = [piece for piece in spoken if piece.role == "assistant" or piece.position == asked]
        best = self._best(query, [_reasons_in(piece) for piece in answers], edit)
        return replace(
            row, session=held.name, turn=(best.position if best is not None else at) + 1, known_by=known_by,
            asked=_short(talk.turns[asked].text) if asked >= 0 else "", quote=best.text if best is not None else "",
        )  # fmt: skip

    def _best(self, query: Query, pieces: Sequence[Piece], at: int) -> Excerpt | None:
        told = [piece for piece in pieces if piece.text.strip()]
        best = chosen(query, self._stems, told, at) if query.terms and told else None
        return best if best is not None and best.share >= LEAST_SHARE else None

    def _asked(self, talk: Conversation, spoken: Sequence[Piece], query: Query, edit: int) -> int:
        """The request that led to the edit: of those before it the one that is most about it, of equals the last."""
        rows = [(self._share(query, piece.text), piece.position) for piece in spoken if piece.position <= edit]
        return max((row for row in rows if _is_asked(talk, row[1])), default=(0.0, -1))[1]

    def _share(self, query: Query, text: str) -> float:
        best = chosen(query, self._stems, [Piece(0, "user", "", text)], 0) if query.terms else None
        return round(best.share, 1) if best is not None else 0.0


def _reasons_in(piece: Piece) -> Piece:
    """Of a turn the sentences that give a reason."""
    rows = re.split(r"(?<=[.!?。])\s+|\n+", _CALL.sub("\n", piece.text))
    return piece._replace(text="\n".join(row for row in rows if _REASON.search(row) and not _ANNOUNCES.match(row)))


def _is_asked(talk: Conversation, at: int) -> bool:
    turn = talk.turns[at]
    return turn.role == "user" and not turn.agent and len(turn.text.split()) > LEAST_WORDS


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= ASKED else words[: words.rfind(" ", 0, ASKED)] + " …"


def _commits(talk: Conversation) -> list[int]:
    """The turns in which something was committed."""
    made = (at for at, turn in enumerate(talk.turns) for event in turn.events if isinstance(event, Commit))
    return list(dict.fromkeys(made))


def _commit_turn(talk: Conversation, is_it: Any) -> int:
    """The turn (from 0) of the commit, -1 where there is none."""
    for at, turn in enumerate(talk.turns):
        if any(isinstance(event, Commit) and event.succeeded is not False and is_it(event) for event in turn.events):
            return at
    return -1


def _edits(talk: Conversation, name: str, until: int) -> Iterator[int]:
    """The turns up to `until` in which the file was written; a file of that path below any folder."""
    for at, turn in enumerate(talk.turns[: until + 1]):
        for event in turn.events:
            paths = event.path.split(", ") if isinstance(event, Edit) and not (event.failed or event.refused) else ()
            if any(path == name or path.replace("\\", "/").endswith(f"/{name}") for path in paths):
                yield at


def _last_edit(talk: Conversation, name: str, until: int) -> int:
    return max(_edits(talk, name, until), default=-1)


def _edit_of(talk: Conversation, name: str, until: int, line: str) -> int:
    """The last edit of the file that has the line in it, else the last one."""
    turns = list(_edits(talk, name, until))
    having = [at for at in turns if len(line) > HASH and line in talk.turns[at].text]
    return max(having or turns, default=-1)


# --- at the command line --------------------------------------------------------------------------------------------


def why_text(report: WhyReport) -> str:
    """A paragraph a commit."""
    rows = [f"{report.file}{f':{report.line}' if report.line else ''}"]
    for row in report.reasons:
        rows += ["", " ".join(filter(None, (row.commit, row.day, one_line(row.subject))))]
        rows += [f"  {one_line(line)}" for line in row.message.split("\n")[:4] if line.strip()]
        if not row.session:
            rows.append("  no session that was read made this commit")
            continue
        rows.append(f"  made in {one_line(row.session)}:{row.turn} (known by its {row.known_by})")
        rows += [f"  asked: {one_line(row.asked)}"] if row.asked else []
        rows.append(f"  why: {one_line(row.quote)}" if row.quote else "  the session does not say why")
    rows += [f"({one_line(report.note)})"] if report.note else []
    return "\n".join(rows) + "\n"


COMMANDS = (
    single(
        "why",
        SUMMARY["why"],
        "core/pool.py:42",
        why,
        why_text,
        needed("place", "a file in a git repository, or FILE:LINE"),
        whole_number("--limit", f"at most N commits of a file (default: {LIMIT})", LIMIT),
        words=NAMED,
    ),
)
