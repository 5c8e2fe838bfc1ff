"""`knowledge why FILE[:LINE]`: the commit that made it so, the session that wrote it, and what was said there.

A commit is known to be a session's by its hash in what git answered there, or, where it has another one by now (a
rebase, a squash), by its subject in a commit of a session that wrote the file. Never by time: two sessions that ran in
the same hour are as likely to be wrong as right. Who commits need not have written: a line is a session's whose edit
put it in, and the reason is sought beside that edit. Where nothing tells, the answer says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
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
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, Commit, Compaction, Delegation, Edit, Plan, Question
from core.give.still import committed, git
from core.search import conversations as stored
from core.search.answering import sentences
from core.search.conversations import Held
from core.search.words import STOP_WORDS, words_of

if TYPE_CHECKING:
    from core.search.conversations import Database

LIMIT, MAX_BYTES = 3, 8 << 20
GIT_SECONDS = 10.0
HASH = 7
"""Git abbreviates to no fewer letters."""
MAX_TURNS = 40
"""So many turns that have the hash, or the subject, are looked into."""
MAX_SESSIONS = 12
"""Of so many sessions that name a file, the newest, the edits are looked at."""
LEAST_LINE = 12
"""A shorter line stands in too many edits to tell whose it is."""
LEAST_WORDS, LEAST_SENTENCE, MAX_SENTENCES = 3, 20, 2
NEAR, FAR = 4, 6
"""So much of what a line speaks of stands in a sentence of the exchange that wrote it, and in one of another."""
BEGINNING, SHORT_TURN = 6, 600
"""Words that begin with so many same letters are one; so many characters of a turn are about the edit behind it."""
ASKED = 240
UNCOMMITTED = "0" * 40
BY_HASH, BY_SUBJECT, BY_EDIT, BY_LINE = "hash", "subject and file", "edit that is not committed", "edit of the line"
BY_REMOVAL = "removal of the file"
_CALL = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
"""A call says no reason, and that which commits says its message once more."""
_ANNOUNCES = re.compile(
    r"\W*(?:now\b|next\b|need to\b|let me\b|i'll\b|i (?:will|need)\b|task \d|step \d)", re.IGNORECASE
)
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|otherwise|root cause|reason|turned out|instead of|rather than|avoid|prevent|"
    r"in order to|fails?|broke|missing|wrong|race|leak|crash|must not|needs? to|never|allows?|ensures?|which means|"
    r"bugs?|fix(?:ed|es)|incorrect(?:ly)?|silently|consistent|consistency|backward|deprecated|nobody|no one|should|"
    r"no longer|changed from|footgun|stale|misleading|unclear|clarif(?:y|ies)|requires?)\b|"
    r"因为|所以|原因|应该|需要",
    re.IGNORECASE,
)
_REMOVES = re.compile(r"(?:^|[;&|]\s*)(?:git )?rm ")
_NEW = re.compile(r"^new_?str(?:ing)?: ", re.IGNORECASE | re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_][\w.]{3,}\w")
_SUBWORD = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}|[\u4e00-\u9fff]{2}")
_EVERYWHERE = frozenset((
    "string", "error", "errors", "func", "function", "return", "const", "import", "from", "with", "this", "self",
    "test", "tests", "that", "none", "null", "true", "false", "type", "value", "default", "class", "file", "files",
    "should", "void", "async", "await", "public", "private", "export", "fmt.fprintf", "os.stderr", "t.errorf",
    "t.error", "t.fatalf", "console.log",
))  # fmt: skip
_CHOICE = re.compile(r"\W*(\d|[a-dA-D])\b(?!\w)")
_OF_CODE = re.compile(r"[a-z][A-Z]|_|\w\.\w")


@dataclass(frozen=True)
class Reason:
    """One commit of a file, newest first: its `commit` ("" for what is not committed), `subject` and `day`, the
    `message` below the subject; the `session` and the `turn` (from 1) where it was written, and `known_by` what; what
    was `asked` there and the `quote` that says why, "" where none was found; `committed` names the session and turn of
    the commit (NAME:TURN) where that session is not known to have written it."""

    commit: str
    subject: str
    day: str
    message: str = ""
    session: str = ""
    turn: int = 0
    known_by: str = ""
    asked: str = ""
    quote: str = ""
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
    """A commit (40 letters) with what it says, the text of the line that is asked about, and whether the file has been
    `gone` since."""

    hash: str
    subject: str
    day: str
    body: str
    line: str
    gone: bool = False


def why(workspace: Workspace, place: str, limit: int = LIMIT) -> WhyReport:
    """Why a line, or a file by its newest commits. Raises KnowledgeError for a file that is in no repository, or that
    git does not know, and for a line that it does not have."""
    path, line = _place(workspace, place)
    root = repository_root(os.path.dirname(path))
    if not root:
        raise KnowledgeError("no-repository", "this file is in no git repository", path)
    name = os.path.relpath(path, root)
    before, now = committed(root, name), _lines_now(path) if os.path.lexists(path) else []
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
            row = look.written(Reason("", "not committed", ""), change, BY_EDIT)
            reasons = [*([row] if row.session else []), *reasons][:limit]
    notes = []
    if reasons and not any(row.session or row.committed for row in reasons):
        notes.append("no session that was read made this: nothing says why, but for the commit itself")
    if brought.waiting:
        notes.append(f"{brought.waiting} conversations are not read yet ('knowledge search --build' reads them)")
    return WhyReport(name, line, tuple(reasons), "; ".join(notes), tuple(filter(None, (problem,))))


def _place(workspace: Workspace, place: str) -> tuple[str, int]:
    bare, _, number = place.rpartition(":")
    asked, line = (bare, int(number)) if bare and number.isdecimal() and len(number) < 8 else (place, 0)
    path = os.path.abspath(workspace.cwd / os.path.expanduser(asked))
    if not os.path.isfile(path) and (line or not _was_there(path)):
        raise KnowledgeError("no-file", "there is no such file", path, "name it as FILE or FILE:LINE")
    return os.path.realpath(path), line


def _was_there(path: str) -> bool:
    """Whether git had a file that is gone: why it went can be asked."""
    root = repository_root(os.path.dirname(path))
    asked = ("log", "-1", "--no-ext-diff", "--no-textconv", "--format=%h", "--", os.path.relpath(path, root or "/"))
    return bool(root) and bool(git(root, *asked, seconds=GIT_SECONDS))


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
        folders = "project = ? OR folder = ?"
        rows = database.execute(f"SELECT id FROM conversations WHERE {folders}", (root, root))
        self._own = {id for (id,) in rows}
        self._root = root

    def reason(self, change: _Change) -> Reason:
        """What the sessions say of a commit: the one that made it where it wrote the line, else who did."""
        row = Reason(change.hash[:10], change.subject, change.day, change.body)
        held, talk, at, known_by = self._committing(change)
        if held is not None and talk is not None:
            edit = _edit_of(talk, self._name, at, change.line)
            if edit >= 0:
                return self._told(row, held, talk, edit, change, known_by)
            row = replace(row, committed=f"{held.name}:{at + 1}", known_by=known_by)
        if change.gone:
            return self.written(row, change, BY_REMOVAL)
        return self.written(row, change, BY_LINE) if len(change.line) >= LEAST_LINE else row

    def _committing(self, change: _Change) -> tuple[Held | None, Conversation | None, int, str]:
        for held, talk in self._made(self._with(change.hash[:HASH], begins=True)):
            at = _commit_turn(talk, lambda made: bool(made.hash) and change.hash.startswith(made.hash.lower()))
            if at >= 0:
                return held, talk, at, BY_HASH
        for held, talk in self._made(self._with(change.subject)) if len(words_of(change.subject)) > 1 else ():
            at = _commit_turn(talk, lambda made: made.subject.strip() == change.subject)
            if at >= 0 and max(_edits(talk, self._name, at), default=-1) >= 0:
                return held, talk, at, BY_SUBJECT
        return None, None, -1, ""

    def written(self, row: Reason, change: _Change, known_by: str) -> Reason:
        """With the newest session of this repository that wrote the line, or without one the file."""
        for held, talk in islice(self._made(self._with(self._name, own=True), newest=True), MAX_SESSIONS):
            edit = _edit_of(talk, self._name, len(talk.turns), change.line, sure=True)
            removed = known_by != BY_REMOVAL or (edit >= 0 and _removes(talk.turns[edit]))
            if edit >= 0 and removed and (not change.day or held.started[:10] <= change.day):
                row = replace(row, day=row.day or held.ended[:10])
                return self._told(row, held, talk, edit, change, known_by)
        return row

    def _with(self, words: str, *, begins: bool = False, own: bool = False) -> list[int]:
        """The conversations in which words stand one behind the other, those of this repository first, or alone."""
        asked = '"' + " ".join(words_of(words)) + '"' + ("*" if begins else "")
        sql = "SELECT DISTINCT t.thread FROM words JOIN turns t ON t.id = words.rowid WHERE words MATCH ?"
        sql += f" AND t.thread IN ({', '.join(map(str, self._own))})" if own else f" LIMIT {MAX_TURNS}"
        found = dict.fromkeys(row[0] for row in self._database.execute(sql, (f"text : {asked}",)))
        return sorted(found, key=lambda id: id not in self._own)

    def _made(self, threads: Sequence[int], *, newest: bool = False) -> Iterator[tuple[Held, Conversation]]:
        rows = sorted(stored.held(self._database, threads).values(), key=lambda row: threads.index(row.id))
        if newest:
            rows.sort(key=lambda row: row.ended, reverse=True)
        for held in rows:
            read = attempt(whole_of, self._workspace, held)
            if isinstance(read, Ok):
                yield held, read.value.conversation

    def _told(self, row: Reason, held: Held, talk: Conversation, edit: int, change: _Change, known_by: str) -> Reason:
        asked = next((at for at in range(edit, -1, -1) if _is_asked(talk, at)), -1)
        own = (
            f"{change.subject} {Path(self._name).stem}" if known_by in (BY_HASH, BY_SUBJECT) or not change.line else ""
        )
        sought = _sought(change.line, own)
        found = _reason(talk, edit, asked, sought)
        order = _short(_request(talk, asked), sought) if asked >= 0 else ""
        return replace(row, session=held.name, turn=edit + 1, known_by=known_by, quote=found, asked=order)


class _Sought(NamedTuple):
    """What a line speaks of: names that read as code, in lower case, and the beginnings of its words and of those of
    the change as a whole."""

    names: frozenset[str]
    words: frozenset[str]
    change: frozenset[str]

    def hits(self, text: str) -> int:
        """How much of it a sentence speaks of: a word of the line counts 2, of the change 1, a name 6."""
        low, words = text.casefold(), _beginnings(text)
        return 6 * sum(name in low for name in self.names) + 2 * len(words & self.words) + len(words & self.change)


def _sought(line: str, change: str) -> _Sought:
    names = {one.casefold() for one in _NAME.findall(line or change) if _OF_CODE.search(one)}
    return _Sought(frozenset(names - _EVERYWHERE), _beginnings(line), _beginnings(change))


def _beginnings(text: str) -> frozenset[str]:
    found = (word.casefold() for word in _SUBWORD.findall(text))
    return frozenset(word[:BEGINNING] for word in found if word not in _EVERYWHERE and word not in STOP_WORDS)


def _reason(talk: Conversation, edit: int, asked: int, sought: _Sought) -> str:
    """The sentences that give the reason of an edit, "" where none does: of the last words before it; of the request or
    the plan, or a question that was answered, what speaks of the same; and of what was said before and behind that
    gives a reason, only where it names it."""
    spoken = [at for at, turn in enumerate(talk.turns) if turn.role == "assistant" or _sums_up(talk, at)]
    before = [at for at in reversed(spoken) if asked < at <= edit]
    person = next((at for at in range(edit + 1, len(talk.turns)) if _is_asked(talk, at)), len(talk.turns))
    edits = [at for at, turn in enumerate(talk.turns[:edit]) if any(isinstance(one, Edit) for one in turn.events)]
    beside = [at for at in before[:1] if at >= max(edits, default=-1)]
    for at in before:
        if found := _said(talk, at, sought, NEAR):
            return found
    for words in _orders(talk, edit, asked):
        if found := _best(sentences(words), sought, NEAR):
            return found
    for at in beside:
        if len(talk.turns[at].text) <= SHORT_TURN and (found := _said(talk, at, sought, 0)):
            return found
    for at in range(asked - 1, -1, -1):
        if _is_asked(talk, at) and (found := _best(sentences(talk.turns[at].text), sought, NEAR)):
            return found
    for at in (*reversed([at for at in spoken if at <= edit]), *(at for at in spoken if edit < at < person)):
        if found := _said(talk, at, sought, FAR):
            return found
    return ""


def _said(talk: Conversation, at: int, sought: _Sought, least: int) -> str:
    rows = sentences(_CALL.sub("\n", talk.turns[at].text))
    rows = [row for row in rows if _REASON.search(row) and not _ANNOUNCES.match(row) and not row.endswith(":")]
    if not least:  # whatever was said just before
        return " … ".join([row for row in rows if not row.startswith(("- ", "* ", "#"))][-MAX_SENTENCES:])
    return _best(rows, sought, least)


def _best(rows: Sequence[str], sought: _Sought, least: int) -> str:
    """The sentences that speak of most of it, in their order."""
    whole = [row for row in rows if len(row) >= LEAST_SENTENCE and not row.startswith("#")]
    weighed = [(sought.hits(row), -at, row) for at, row in enumerate(whole)]
    best = sorted((row for row in weighed if row[0] >= least), reverse=True)[:MAX_SENTENCES]
    return " … ".join(row for _, _, row in sorted(best, key=lambda one: -one[1]))


def _orders(talk: Conversation, edit: int, asked: int) -> Iterator[str]:
    """What was ordered before an edit, the newest first: plans, questions with what was chosen, the request."""
    for at in range(edit, max(asked, 0) - 1, -1):
        for event in talk.turns[at].events:
            if isinstance(event, Plan) and event.text:
                yield event.text
            elif isinstance(event, Question):
                yield "\n".join(f"{question} → {answer}" for question, _, answer in event.asked if answer)
    if asked >= 0:
        yield _request(talk, asked)


def _request(talk: Conversation, at: int) -> str:
    """A request; one that chooses of a list with what stands there."""
    text = talk.turns[at].text
    chosen = _CHOICE.match(text)
    offered = next((turn.text for turn in reversed(talk.turns[:at]) if turn.role == "assistant" and turn.text), "")
    found = re.search(rf"^\W*{chosen[1]}[.):]\W+.*", offered, re.MULTILINE) if chosen else None
    if text.rstrip().endswith((":", "：")):  # the plan that it leads to is a turn of its own
        events = (event for turn in talk.turns[at : at + 3] for event in turn.events)
        text = "\n".join((text, *(event.text for event in events if isinstance(event, Plan))))
    return f"{text} (of the list: “{found[0].strip()}”)" if found else text


def _sums_up(talk: Conversation, at: int) -> bool:
    return any(isinstance(event, Compaction | Delegation) for event in talk.turns[at].events)


def _is_asked(talk: Conversation, at: int) -> bool:
    turn = talk.turns[at]
    return turn.role == "user" and not turn.agent and len(turn.text.split()) > LEAST_WORDS


def _short(text: str, sought: _Sought) -> str:
    """A request, of a long one how it begins and what it says of what is sought."""
    words = " ".join(text.split())
    if len(words) <= ASKED:
        return words
    told = _best(sentences(text), sought, NEAR)
    first = words[: words.rfind(" ", 0, ASKED // 2 if told else ASKED)]
    return f"{first} … {told}" if told and told not in first else f"{first} …"


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
            if not isinstance(event, Edit | Command) or event.failed or event.refused:
                continue
            removed = isinstance(event, Command) and _REMOVES.search(event.words)
            paths = event.path.split(", ") if isinstance(event, Edit) else event.words.split() if removed else ()
            if any(path == name or path.replace("\\", "/").endswith(f"/{name}") for path in paths):
                yield at


def _removes(turn: Turn) -> bool:
    run = any(isinstance(event, Command) and _REMOVES.search(event.words) for event in turn.events)
    return run or "*** Delete File: " in turn.text


def _edit_of(talk: Conversation, name: str, until: int, line: str, *, sure: bool = False) -> int:
    """The last edit of the file that put the line in; unless that must be `sure`, also one that is not told in full.
    Of a line too short to tell, or of none, the last edit; -1 where there is none."""
    turns = list(_edits(talk, name, until))
    if len(line) >= LEAST_LINE:
        cut = [] if sure else [at for at in turns if " characters left out" in talk.turns[at].text]
        turns = [at for at in turns if _puts_in(talk.turns[at].text, line)] or cut
    return max(turns, default=-1)


def _puts_in(call: str, line: str) -> bool:
    """Whether an edit, as its call tells it, has a line that what it replaces has not."""
    if "*** Begin Patch" in call:
        return any(row[:1] == "+" and row[1:].strip() == line for row in call.split("\n"))
    old, *new = _NEW.split(call, maxsplit=1)
    return line in new[0] and line not in old if new else line in call


# --- at the command line --------------------------------------------------------------------------------------------


def why_text(report: WhyReport) -> str:
    """A paragraph a commit."""
    rows = [f"{report.file}{f':{report.line}' if report.line else ''}"]
    for row in report.reasons:
        rows += ["", " ".join(filter(None, (row.commit, row.day, one_line(row.subject))))]
        rows += [f"  {one_line(line)}" for line in row.message.split("\n")[:4] if line.strip()]
        if row.session:
            known = f"written in {row.session}:{row.turn} (turn {row.turn}, known by its {row.known_by})"
            told = bool(row.quote) and all(part in row.asked for part in row.quote.split(" … "))
            said = "as asked" if told else row.quote
            why = f"why: {said}" if said else "no reason found near the edit, or where its words are spoken of"
            rows += [f"  {one_line(line)}" for line in (known, f"asked: {row.asked}" if row.asked else "", why) if line]
        if row.committed:
            of = "" if row.session else "; no session is known to have written this"
            rows.append(f"  committed in {one_line(row.committed)} (turn {row.committed.rpartition(':')[2]}{of})")
        if not (row.session or row.committed):
            rows.append("  no session that was read made this commit")
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
