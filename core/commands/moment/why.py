"""`knowledge why FILE[:LINE]`: the commit that made it so, the session that wrote it, and what was said there.

A commit is known to be a session's by its hash in what git answered there, or, where it has another one by now (a
rebase, a squash), by its subject in a commit of a session that wrote the file. Never by time: two sessions that ran in
the same hour are as likely to be wrong as right; a time only rules out what was edited behind the commit. Who commits
need not have written: a line is a session's whose edit put it in last before that, and the reason is sought around that
edit (`reasons.py`). What was asked for is told apart from why; where
nothing tells, the answer says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from core.base import files
from core.base.project import project_root, repository_root
from core.base.result import KnowledgeError, Ok, attempt, disk_errors
from core.base.secrets.redact import redact
from core.commands.moment.reasons import (
    ALL_OF_IT,
    LEAST_LINE,
    Quote,
    Written,
    beside,
    commit_turn,
    edit_of,
    edits,
    is_by,
    removes,
    sought,
    told_of,
)  # fmt: skip
from core.commands.row import FOREIGN, needed, top, whole_number
from core.commands.text import count, one_line
from core.commands.transcript import LOOK_SECONDS, opened_index, whole_of
from core.commands.workspace import Workspace
from core.conversations.conversation import Conversation
from core.give.still import committed, git
from core.search import conversations as stored
from core.search.conversations import Database, Held
from core.search.words import words_of

LIMIT, MAX_BYTES = 3, 8 << 20
GIT_SECONDS = 10.0
HASH = 7
"""Git abbreviates to no fewer letters."""
MAX_TURNS = 40
"""The turns with the hash, or the subject, that are looked into."""
MAX_SESSIONS = 12
"""The newest sessions that name a file, whose edits are looked at."""
OWN_LINE = 20
"""A shorter line may as well be another repository's."""
LONGEST_LINE = 200
MESSAGE = 700
"""The characters of what a commit says below its subject that are shown, in whole sentences."""
UNCOMMITTED = "0" * 40
BY_HASH, BY_SUBJECT, BY_EDIT, BY_LINE = "hash", "subject and file", "edit that is not committed", "edit of the line"
BY_COPY = "edit of the line, in a session of another folder or of none that is known"
BY_REMOVAL = "removal of the file"
_TRAILER = re.compile(
    r"(?:Co-Authored-By|Signed-off-by|Generated with|[\w-]+-Checkpoint|[\w-]+-Session)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Reason:
    """One commit of a file, newest first: its `commit` ("" for what is not committed), `subject` and `day`, the
    `message` below the subject; the `session` and the `turn` (from 1) where it was written, and `known_by` what; what
    was `asked` for, in `asked_turn` (0: none is known), and the sentences that give the reason, best first;
    `committed` names the session and turn of the commit (NAME:TURN) where that session is not known to have written
    it."""

    commit: str
    subject: str
    day: str
    message: str = ""
    session: str = ""
    turn: int = 0
    known_by: str = ""
    asked: str = ""
    asked_turn: int = 0
    quotes: tuple[Quote, ...] = ()
    committed: str = ""


@dataclass(frozen=True)
class WhyReport:
    """Why a file or a line of it is as it is. `line` is 0 for all of the file; `note` says what is not known."""

    file: str
    line: int
    reasons: tuple[Reason, ...]
    note: str = ""
    warnings: tuple[str, ...] = ()


class _Change(NamedTuple):
    """A commit (40 letters) with what it says, the text of the line that is asked about, whether the file has been
    `gone` since, and, where no line is asked about, one that the commit `added`, or else `removed`. `time` is that of
    the commit, with its zone."""

    hash: str
    subject: str
    day: str
    body: str
    line: str
    gone: bool = False
    added: str = ""
    removed: str = ""
    time: str = ""


def why(workspace: Workspace, place: str, limit: int = LIMIT) -> WhyReport:
    """Why a line, or a file by its newest commits. Raises KnowledgeError for a file that is in no repository, or that
    git does not know, and for a line that it does not have."""
    if limit < 1:
        raise KnowledgeError("usage", f"the limit is {limit}", hint="give a number of commits")
    path, line = _place(workspace, place)
    root = repository_root(os.path.dirname(path))
    if not root:
        hint = _of_knowledge(workspace, Path(path), line)
        raise KnowledgeError("no-repository", "this file is in no git repository", path, hint)
    name = os.path.relpath(path, root)
    before, now = committed(root, name), list[str]()
    if os.path.lexists(path):
        with disk_errors("unreadable", "this file cannot be read", path):
            now = files.read_file(Path(path), MAX_BYTES).data.decode("utf-8", "replace").splitlines()
    changes = _blamed(root, name, line, before, now) if line else _logged(root, name, limit)
    if not os.path.lexists(path):
        changes = [one._replace(gone=not at) for at, one in enumerate(changes)]
    if not changes and before is not None:
        raise KnowledgeError("not-in-git", "git knows no commit of this file", path)
    with opened_index(workspace, LOOK_SECONDS) as (database, brought, problem):
        if database is None:
            raise KnowledgeError("no-index", problem or "there is no index of conversations")
        look = _Look(workspace, database, root, name)
        reasons = [look.reason(change) for change in changes if change.hash != UNCOMMITTED]
        if not changes or changes[0].hash == UNCOMMITTED:
            change = changes[0] if changes else _Change("", "", "", "", "")
            reasons = [look.written(Reason("", "not committed", ""), change, BY_EDIT), *reasons][:limit]
    notes = []
    if reasons and not any(row.session or row.committed for row in reasons):
        notes.append("no session that was read made this: nothing says why, but for the commit itself")
    if brought.waiting:
        notes.append(f"{brought.waiting} conversations are not indexed yet ('knowledge search --build' reads them)")
    return WhyReport(name, line, tuple(reasons), "; ".join(notes), tuple(filter(None, (problem,))))


def _place(workspace: Workspace, place: str) -> tuple[str, int]:
    bare, _, number = place.rpartition(":")
    asked, line = (bare, int(number)) if bare and number.isdecimal() and len(number) < 8 else (place, 0)
    path = os.path.abspath(workspace.cwd / os.path.expanduser(asked))
    if not os.path.isfile(path) and (line or not _was_there(path)):
        hint = _of_knowledge(workspace, workspace.paths.knowledge / asked, line) or "name it as FILE or FILE:LINE"
        raise KnowledgeError("no-file", "there is no such file", path, hint)
    if asked != place and not line:
        raise KnowledgeError("usage", "the lines of a file are counted from 1", place)
    return os.path.realpath(path), line


def _of_knowledge(workspace: Workspace, path: Path, line: int) -> str:
    """What tells where a line of the knowledge comes from; "" for any other file."""
    folder = workspace.paths.knowledge
    if path.suffix != ".md" or folder not in path.parents or not files.exists(path):
        return ""
    name = path.relative_to(folder).as_posix()
    return f"'knowledge evidence {name}:{line or 'LINE'}' tells where a line of your knowledge comes from"


def _was_there(path: str) -> bool:
    """Whether git had a file that is gone: why it went can be asked."""
    root = repository_root(os.path.dirname(path))
    if not root:
        return False
    return bool(_git(root, "log", "-1", "--no-ext-diff", "--format=%h", "--", os.path.relpath(path, root)))


# --- git -------------------------------------------------------------------------------------------------------------


def _git(root: str, command: str, *words: str) -> str | None:
    return git(root, command, "--no-textconv", *words, seconds=GIT_SECONDS)


def _blamed(root: str, name: str, line: int, before: list[str] | None, now: Sequence[str]) -> list[_Change]:
    """The commit of a line as the file is now, found as the line that it was in the newest commit."""
    if not 0 < line <= len(now):
        message = f"there is no line {line}: the file has {count(len(now), 'line')}"
        raise KnowledgeError("no-line", message, os.path.join(root, name))
    text, at = now[line - 1].strip(), line
    if before != now:
        blocks = SequenceMatcher(None, before or [], now, autojunk=False).get_matching_blocks()
        at = next((one.a + line - one.b for one in blocks if one.b < line <= one.b + one.size), 0)
    if not at:
        return [_Change(UNCOMMITTED, "", "", "", text)]
    told = _git(root, "blame", "-w", "--porcelain", f"-L{at},{at}", "HEAD", "--", name)
    if told is None:
        raise KnowledgeError("no-line", f"git tells nothing of line {line}", os.path.join(root, name))
    return [_commit(root, told.split(" ", 1)[0], text)]


def _logged(root: str, name: str, limit: int) -> list[_Change]:
    told = _git(root, "log", f"-{limit}", "--follow", "--no-ext-diff", "--format=%H", "--", name)
    return [_told_by_lines(root, name, _commit(root, hash, "")) for hash in (told or "").split()]


def _told_by_lines(root: str, name: str, change: _Change) -> _Change:
    """With the longest line that a commit put into the file, or where it put none in took out of it, by which its
    writer can be told."""
    told = _git(root, "show", "--no-ext-diff", "--format=", "--unified=0", change.hash, "--", name)
    rows = (told or "").partition("\n@@")[2].split("\n")
    added, removed = (
        max((row[1:].strip() for row in rows if row[:1] == sign and len(row) <= LONGEST_LINE), key=len, default="")
        for sign in "+-"
    )
    return change._replace(added=added, removed="" if added else removed)


def _commit(root: str, hash: str, line: str) -> _Change:
    told = _git(root, "show", "-s", "--no-ext-diff", "--format=%cI%n%s%n%b", hash)
    time, subject, *body = [*(told or "").split("\n"), "", ""]
    message = "\n".join(row for row in body if not _TRAILER.match(row.strip()))
    return _Change(hash, subject, time[:10], message.strip(), line, time=time)


# --- sessions --------------------------------------------------------------------------------------------------------


class _Look:
    """The conversations of a repository, asked about one of its files."""

    def __init__(self, workspace: Workspace, database: Database, root: str, name: str) -> None:
        self._workspace, self._database, self._name = workspace, database, name
        folders = "project = ? OR folder = ?"
        known = (project_root(root) or root, root)  # a work tree belongs to its repository
        tools = dict(database.execute(f"SELECT id, tool FROM conversations WHERE {folders}", known).fetchall())
        self._own = set(tools)
        self._of_aider = [id for id, tool in tools.items() if tool == "aider"]
        self._root = root

    def reason(self, change: _Change) -> Reason:
        """What the sessions say of a commit: the one that made it where it wrote the line, else who did."""
        row = Reason(change.hash[:10], redact(change.subject).text, change.day, redact(change.body).text)
        held, talk, at, known_by = self._committing(change)
        if held is not None and talk is not None:
            edit = edit_of(talk, self._name, at, change.line).turn
            if edit >= 0:
                return self._told(row, held, talk, edit, change, known_by)
            row = replace(row, committed=f"{held.name}:{at + 1}", known_by=known_by)
        if change.gone:
            return self.written(row, change, BY_REMOVAL)
        line = change.line or change.added
        return self.written(row, change._replace(line=line), BY_LINE) if line or change.removed else row

    def _committing(self, change: _Change) -> tuple[Held | None, Conversation | None, int, str]:
        # What aider says of its commits is an event and no words: its sessions here are looked into themselves.
        for held, talk in self._made([*self._with(change.hash[:HASH], begins=True), *self._of_aider]):
            at = commit_turn(talk, lambda made: bool(made.hash) and change.hash.startswith(made.hash.lower()))
            if at >= 0:
                return held, talk, at, BY_HASH
        named = [*self._with(change.subject), *self._of_aider] if len(words_of(change.subject)) > 1 else ()
        for held, talk in self._made(named):
            at = commit_turn(talk, lambda made: made.subject.strip() == change.subject)
            if at >= 0 and any(told for _, told in edits(talk, self._name, at)):
                return held, talk, at, BY_SUBJECT
        return None, None, -1, ""

    def written(self, row: Reason, change: _Change, known_by: str) -> Reason:
        """With the session of this repository that wrote the line last before the commit, all of it before a part, or
        without one the file. Where none shows that it did, with one of an unknown or another folder that wrote this
        line."""
        gone = not change.line and known_by == BY_LINE
        line = change.removed if gone else change.line
        best: tuple[Held, Conversation, Written] | None = None
        for held, talk in (
            self._naming(self._name, change.time, own=True) if not line or len(line) >= LEAST_LINE else ()
        ):
            if best is not None and best[2].kind == ALL_OF_IT and not is_by(_time(best), held.ended):
                break  # this one, and all that follow, ended before that edit
            edit = edit_of(
                talk, self._name, len(talk.turns), line, sure=True, when=change.time, gone=gone,
                source=partial(_source, held),
            )  # fmt: skip
            if edit.turn < 0 or (known_by == BY_REMOVAL and not removes(talk.turns[edit.turn])):
                continue
            newer = best is None or (_time(best) and not is_by(talk.turns[edit.turn].time, _time(best)))
            if best is None or edit.kind > best[2].kind or (edit.kind == best[2].kind and newer):
                best = held, talk, edit
            if best[2].kind == ALL_OF_IT and not _time(best):
                break
        if best is not None:
            held, talk, edit = best
            return self._told(replace(row, day=row.day or held.ended[:10]), held, talk, edit.turn, change, known_by)
        if known_by != BY_REMOVAL and len(line) >= OWN_LINE:
            for held, talk in self._naming(self._name, change.time, own=False):
                edit = edit_of(talk, self._name, len(talk.turns), line, sure=True, when=change.time, gone=gone)
                if edit.turn >= 0:
                    return self._told(row, held, talk, edit.turn, change, BY_COPY)
        return row

    def _naming(self, name: str, time: str, *, own: bool) -> Iterator[tuple[Held, Conversation]]:
        """The newest conversations that name a file, begun until a time."""
        found = self._with(name, own=own) or self._with(Path(name).name, own=own)
        yield from islice(self._made(found, until=time), MAX_SESSIONS)

    def _with(self, words: str, *, begins: bool = False, own: bool = False) -> list[int]:
        """The conversations in which words stand one behind the other, those of this repository first, or alone."""
        asked = '"' + " ".join(words_of(words)) + '"' + ("*" if begins else "")
        sql = "SELECT DISTINCT t.thread FROM words JOIN turns t ON t.id = words.rowid WHERE words MATCH ?"
        sql += f" AND t.thread IN ({', '.join(map(str, self._own))})" if own else f" LIMIT {MAX_TURNS}"
        found = dict.fromkeys(row[0] for row in self._database.execute(sql, (f"text : {asked}",)))
        return sorted(found, key=lambda id: id not in self._own)

    def _made(self, threads: Sequence[int], *, until: str | None = None) -> Iterator[tuple[Held, Conversation]]:
        """The conversations, or the newest first of those that were begun `until` a time."""
        rows = sorted(stored.held(self._database, threads).values(), key=lambda row: threads.index(row.id))
        if until is not None:
            rows = [row for row in rows if is_by(row.started, until)]
            rows.sort(key=lambda row: row.ended, reverse=True)
        for held in rows:
            read = attempt(whole_of, self._workspace, held)
            if isinstance(read, Ok):
                yield held, read.value.conversation

    def _told(self, row: Reason, held: Held, talk: Conversation, edit: int, change: _Change, known_by: str) -> Reason:
        about = [beside(talk, edit, change.line)]
        if known_by in (BY_HASH, BY_SUBJECT) or not change.line:
            about += [change.subject, change.body, Path(self._name).stem]
        secrets = whole_of(self._workspace, held).secrets

        def clean(text: str) -> str:
            return secrets.hide(secrets.clear(text))

        told = told_of(talk, edit, sought(self._name, change.line, "\n".join(about)))
        return replace(
            row, session=held.name, turn=edit + 1, known_by=known_by, asked=clean(told.asked),
            asked_turn=told.turn, quotes=tuple(replace(quote, text=clean(quote.text)) for quote in told.quotes),
        )  # fmt: skip


def _time(found: tuple[Held, Conversation, Written]) -> str:
    """When the turn that was found was spoken, "" where its source does not tell."""
    return found[1].turns[found[2].turn].time


def _source(held: Held) -> bytes:
    """The file of a conversation; nothing of one inside a database, or that only the archive has."""
    with suppress(OSError):
        return files.read_file(Path(held.path)).data
    return b""


# --- at the command line --------------------------------------------------------------------------------------------


def why_text(report: WhyReport) -> str:
    """A paragraph a commit. Each text was cleared by itself: behind a word like "token" a session's name is none."""
    rows = [f"{report.file}{f':{report.line}' if report.line else ''}"]
    for row in report.reasons:
        rows += ["", " ".join(filter(None, (row.commit, row.day, one_line(row.subject))))]
        rows += [f"  {one_line(line)}" for line in _message(row.message)]
        if row.session:
            rows += [f"  {one_line(line)}" for line in _said(row)]
        if row.committed:
            of = "" if row.session else "; no session is known to have written this"
            rows.append(f"  committed in {_named(row.committed)} (turn {row.committed.rpartition(':')[2]}{of})")
        if not (row.session or row.committed):
            rows.append(f"  no session that was read {'made this commit' if row.commit else 'wrote this'}")
    rows += [f"({one_line(report.note)})"] if report.note else []
    return "\n".join(rows) + "\n"


def _said(row: Reason) -> Iterator[str]:
    yield f"written in {_named(row.session)}:{row.turn} (turn {row.turn}, known by its {row.known_by})"
    if row.asked:
        yield f"asked for{f' (turn {row.asked_turn})' if row.asked_turn else ''}: {row.asked}"
    for quote in row.quotes:
        yield f"reason ({quote.by}, turn {quote.turn}): {quote.text}"
    if not row.quotes and row.message:
        yield "reason: what the commit says above; nothing nearer was found in the session"
    elif not row.quotes:
        told = "; what was asked for is all that is known" if row.asked else ", nor what was asked for"
        yield f"no reason is stated around the edit{told}"


def _named(session: str) -> str:
    return one_line(redact(session).text)


def _message(text: str) -> list[str]:
    """A commit's message below its subject, a paragraph or item a line, in whole lines."""
    lines = re.sub(r"(?<=\S)\n(?=[^\s*-])", " ", text).split("\n")
    shown: list[str] = []
    for line in filter(None, map(str.strip, lines)):
        if shown and len("".join(shown)) + len(line) > MESSAGE:
            return [*shown, "…"]
        shown.append(line)
    return shown


COMMANDS = (
    top(
        "why",
        "core/pool.py:42",
        why,
        why_text,
        needed("place", "a file in a git repository, or FILE:LINE"),
        whole_number("--limit", f"at most N commits of a file (default: {LIMIT})", LIMIT),
        words=FOREIGN,
    ),
)
