"""`knowledge find`: the answer in one line a hit, what the own project said first.

It asks the searches that stand (entries, and turns of conversations), and says what they found as somebody wants it who
works: the sentences that answer, where they stand, how they served, and in what state their session was left. Three
answers are kept apart: the project is not known, its conversations are not read yet, and it was never said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from core.base.choices import SEARCH_KINDS
from core.base.entry import statement_key
from core.base.markdown import BY_HAND, split_provenance
from core.base.result import KnowledgeError, attempt
from core.commands.conversations import ConversationFilters, ConversationHit, find_in, first_day
from core.commands.entry_sources import library_file
from core.commands.project import ALLOWING, IN_NO_PROJECT, Scope, scope_of
from core.commands.row import NAMED, Argument, listed, option, single, whole_number
from core.commands.search import search
from core.commands.table import SUMMARY
from core.commands.text import count, one_line
from core.commands.transcript import LOOK_SECONDS, opened_index
from core.commands.workspace import Workspace
from core.experience import record
from core.experience.kinds import infer_task_type
from core.experience.record import Served
from core.give.still import gone, never_merged
from core.search import conversations as stored
from core.search.answering import CHARACTERS, answering, chosen
from core.search.conversation_query import known_project, unread
from core.search.query import WEAK
from core.search.terms import parse_query, phrases_in
from core.search.words import Stems, folded

if TYPE_CHECKING:
    from core.search.conversations import Database, Held
    from core.search.query import Hit

LIMIT, MAX_LIMIT = 5, 50
LOOKED = 20
"""So many of each kind are looked at before what is said twice is left out."""
WEAK_SHOWN, OTHERS_SHOWN = 2, 2
"""So many weak hits of the own project, and so many hits of others where it has any."""
LEAST_SHARE = 0.2
"""An excerpt with less of what was asked for is weak, whatever stands elsewhere in its session."""


@dataclass(frozen=True)
class FoundRow:
    """One hit. `kind` is that of an entry, or `conversation`; `key` names it for `worked`; `text` is what answers.
    `project` is the short name of the project, `session` and `turn` (from 1, 0 for none) where it was said, `served`
    outcome -> how often, `state` how the session stood at its end, "" where nothing is known."""

    kind: str
    key: str
    text: str
    day: str
    project: str
    session: str
    turn: int
    served: Served
    state: str
    score: float
    weak: bool = False
    own: bool = False
    branch: str = ""
    gone: tuple[str, ...] = ()
    """Paths in the text that the repository tracked once and has no more."""
    called: str = ""
    """The session by the end of its name, where no other has it."""
    misled: str = ""
    """A warning, where it led astray too often at this kind of task: it stands last then."""

    def to_json(self) -> dict[str, Any]:
        row = asdict(self)
        numbers = {"served": self.served.counts(), "score": round(self.score, 4)}
        return {name: row[name] for name in _KEYS} | numbers


_KEYS = ("kind", "key", "text", "day", "project", "session", "turn", "served", "state", "score")


@dataclass(frozen=True)
class FindReport:
    """What was found, best first. `project` is the folder that was meant, "" for none; `of` conversations there are,
    `conversations` of them were searched. `note` says what is to be known of the answer as a whole."""

    query: str
    project: str
    entries: int
    conversations: int
    of: int
    hits: tuple[FoundRow, ...]
    note: str
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The document of `--json`."""
        searched = {"entries": self.entries, "conversations": self.conversations, "of": self.of}
        hits = [row.to_json() for row in self.hits]
        return {"project": self.project or None, "searched": searched, "hits": hits, "note": self.note}


def find(
    workspace: Workspace,
    query: str | Sequence[str] = "",
    project: str = "",
    kind: str = "",
    since: str = "",
    before: str = "",
    limit: int = LIMIT,
    scope: Scope | None = None,
) -> FindReport:
    """What any words are about, in the project around the workspace first; with a `project` (a folder, a repository or
    a short name) in that alone. With a `scope` only what an agent may be told. Raises KnowledgeError for no words, a
    filter that is none, and a project that nobody knows."""
    text = query if isinstance(query, str) else " ".join(query)
    if not text.strip():
        raise KnowledgeError("usage", "there is nothing to find", hint="give some words, or 'knowledge context'")
    if kind and kind not in SEARCH_KINDS:
        raise KnowledgeError("usage", f"there is no kind {kind!r}", hint=f"choose one of {', '.join(SEARCH_KINDS)}")
    if not 1 <= limit <= MAX_LIMIT:
        raise KnowledgeError("usage", f"the limit is {limit}", hint=f"give a number from 1 to {MAX_LIMIT}")
    first, last = (first_day(day, _today()) for day in (since, before))
    wide = scope if scope is not None else replace(_scope(workspace, project), everything=not project)
    own = replace(wide, everything=False, narrow=True)
    with opened_index(workspace, LOOK_SECONDS) as (database, brought, problem):
        look = _Look(workspace, text, kind, first, last, database)
        rows = look.rows(own, is_own=True) if own.folder else []
        firm = sum(not row.weak for row in rows)
        entries, spoken, of = look.entries, look.searched(own), look.searched(own) + brought.waiting
        if not own.folder or (firm < limit and not wide.narrow):
            rows += look.rows(wide, is_own=False)
            entries, spoken = look.entries, look.searched(wide)
            of = spoken + brought.waiting
        missing = look.missing_phrases()
        unreadable = unread(database) if database is not None else 0
    task = infer_task_type(text)
    told = [replace(row, misled=row.served.warning(task)) for row in _without_repeats(rows)]
    firm_rows = [row for row in told if not row.weak]
    few = sum(row.own for row in firm_rows) < WEAK_SHOWN
    weak_rows = [row for row in told if row.weak and ((row.own and few) or not firm_rows)][:WEAK_SHOWN]
    ranked = sorted((*firm_rows, *weak_rows), key=_group)
    elsewhere = OTHERS_SHOWN if any(row.own for row in ranked) else limit
    ranked = [*filter(_is_own, ranked), *[row for row in ranked if not row.own][:elsewhere]]
    shown = record.warned_last(ranked, lambda row: bool(row.misled), limit, _group)
    shown = [_as_it_stands(row, own.folder) if row.own else row for row in shown]
    notes = [f"the phrase {phrase!r} stands nowhere; its words were searched" for phrase in missing]
    where = os.path.basename(own.folder) if own.folder and wide.narrow else ""
    if own.folder or wide.everything or firm_rows:
        notes += _as_a_whole(shown, firm_rows, entries, spoken, brought.waiting, where)
    else:
        notes.append(f"{IN_NO_PROJECT}; {ALLOWING}")
    if unreadable and not firm_rows:
        notes.append(f"{count(unreadable, 'conversation')} could not be read")
    warnings = tuple(filter(None, (problem, *wide.warnings, *look.warnings)))
    folder = own.folder
    return FindReport(text, folder, entries, spoken, of, tuple(shown), "; ".join(notes), warnings)


def _scope(workspace: Workspace, project: str) -> Scope:
    """The project that is meant, also one that only conversations know."""
    found = attempt(scope_of, workspace, project, allowed=True)
    if not isinstance(found, KnowledgeError):
        return found.value
    if found.error.code != "no-project":
        raise found
    with opened_index(workspace, 0.0) as (database, _, _):
        folder = known_project(database, project) if database is not None else ""
    if not folder:
        raise found
    return scope_of(workspace, folder, allowed=True)


def _as_a_whole(
    shown: Sequence[FoundRow], firm: Sequence[FoundRow], entries: int, spoken: int, waiting: int, where: str
) -> list[str]:
    """What is to be said of an answer: that it is weak, that there was nothing to search yet, or that it was never
    said."""
    of = f" of {where}" if where else ""
    left = f"{count(waiting, 'conversation')} {'are' if waiting != 1 else 'is'} not read yet"
    if firm:
        return [left] if waiting else []
    if not (entries or spoken):
        return [f"not indexed yet: nothing{of} was searched{f', and {left}' if waiting else ''}"]
    looked = f"{'what is known and ' if entries else ''}{count(spoken, 'conversation')}{of} were searched"
    said = f"weak: {looked}, and nothing says just this" if shown else f"never said: {looked}"
    return [f"{said}, but {left}" if waiting else said]


class _Look:
    """One question to both indexes, and what its hits need to be told."""

    def __init__(
        self,
        workspace: Workspace,
        text: str,
        kind: str,
        since: str,
        before: str,
        database: Database | None,
    ) -> None:
        self._workspace, self._text, self._kind = workspace, text, kind
        self._since, self._before, self._database = since, before, database
        self._stems = Stems()
        self._texts: list[str] = []
        self.entries = 0
        self.warnings: list[str] = []

    def rows(self, scope: Scope, *, is_own: bool) -> list[FoundRow]:
        """The hits of a scope, best first: firm ones before weak ones."""
        found: list[FoundRow] = []
        if self._kind != "conversation":
            report = search(self._workspace, self._text, self._kind, self._since, None, "", LOOKED, self._before, scope)
            self.entries = 0 if report.nothing.startswith("nothing is known") else report.entries
            self.warnings += [one for one in report.warnings if one not in self.warnings]
            self._texts += [f"{hit.entry.title} {hit.entry.text}" for hit in report.hits]
            found += [self._entry(hit, is_own) for hit in report.hits]
            found += self._of_a_team(scope, is_own) if self._kind in ("", "document") else []
        if self._database is not None and self._kind in ("", "conversation"):
            wanted = ConversationFilters(since=self._since, before=self._before)
            allowed = None if scope.everything else scope.tells_conversation
            spoken = find_in(self._workspace, self._database, self._text, wanted, LOOKED, allowed)
            self._texts += [hit.text for hit in spoken]
            found += [self._conversation(hit, is_own) for hit in spoken[: LOOKED // 2]]
        return sorted(found, key=lambda row: (row.weak, -row.score))

    def _of_a_team(self, scope: Scope, is_own: bool) -> list[FoundRow]:
        """What a library in PostgreSQL says; that of a file is in the index."""
        if library_file(self._workspace) is not None:
            return []
        from core.commands.library.use import library_retrieve

        found = attempt(library_retrieve, self._workspace, self._text, unlogged=True, limit=LOOKED, scope=scope)
        if isinstance(found, KnowledgeError):
            self.warnings += [str(found.error)] if str(found.error) not in self.warnings else []
            return []
        return [
            FoundRow(
                "document", one.chunk.id, f"{one.document.title}: {self._best(one.chunk.content)}", one.chunk.day, "",
                "", 0, self._served(one.chunk.id), "", one.score, False, is_own,
            )
            for one in found.value.retrieved.dossiers
        ]  # fmt: skip

    def searched(self, scope: Scope) -> int:
        """How many conversations of a scope there are to be found."""
        if self._database is None:
            return 0
        if scope.everything:
            return stored.totals(self._database)[0]
        sql = f"SELECT folder, count(*) FROM conversations WHERE {stored.READ} GROUP BY folder"
        return sum(number for folder, number in self._database.execute(sql) if scope.tells_conversation(folder))

    def missing_phrases(self) -> list[str]:
        """What stood in quotation marks and in nothing that was found."""
        told = [folded(text) for text in self._texts]
        return [phrase for phrase in phrases_in(self._text) if not any(phrase in text for text in told)]

    def _entry(self, hit: Hit, is_own: bool) -> FoundRow:
        entry = hit.entry
        made = split_provenance(entry.provenance)[1] if entry.provenance else None
        name = made.source if made is not None and made.source != BY_HAND else ""
        held = self._held(name)
        words = entry.text.partition("\n")[0] if entry.kind in ("bullet", "note") else entry.text
        if entry.kind == "document":
            words = f"{entry.title}: {self._best(entry.text)}"
        text = f"{entry.title}: {words}" if entry.kind == "note" and entry.title else " ".join(words.split())
        turn = self._turn(held, words) if held is not None else 0
        folder = held.project if held is not None else entry.project
        named = (entry.key,) if entry.kind == "document" else (words, text, f"{name}:{turn}")
        return FoundRow(
            entry.kind, _name_of(entry.kind, entry.key), text, entry.date, _short(folder), name, turn,
            self._served(*named), held.state_end if held is not None else "", hit.score,
            _is_weak(hit.why), is_own, held.branch if held is not None else "", (), self._called(name),
        )  # fmt: skip

    def _conversation(self, hit: ConversationHit, is_own: bool) -> FoundRow:
        assert self._database is not None
        held = self._held(hit.name)
        text, turn, share = hit.text, hit.turn, 1.0
        if held is not None:
            made = answering(self._database, self._text, self._stems, held.id, max(0, hit.turn - 1))
            if made is not None:
                text, turn, share = made.text, made.position + 1, made.share
        weak = _is_weak(hit.why) or share < LEAST_SHARE
        return FoundRow(
            "conversation", f"{hit.name}:{turn}", " ".join(text.split()), hit.day, _short(hit.project), hit.name, turn,
            self._served(f"{hit.name}:{turn}"), held.state_end if held is not None else "", hit.rank,
            weak, is_own, hit.branch, (), self._called(hit.name),
        )  # fmt: skip

    def _best(self, words: str) -> str:
        """The sentences of a piece of a document that answer."""
        query = parse_query(self._text, self._database, self._stems) if self._database is not None else None
        if query is None or not query.terms:
            return words[:CHARACTERS]
        best = chosen(query, self._stems, [stored.Piece(0, "", "", words)], 0)
        return best.text if best is not None else words[:CHARACTERS]

    def _held(self, name: str) -> Held | None:
        if not name or self._database is None:
            return None
        rows = stored.named(self._database, name)
        return max(rows, key=lambda row: row.ended) if rows else None

    def _served(self, *named: str) -> Served:
        """How a statement served, and the place that it stands at."""
        return record.together(record.served(self._workspace.paths.experience, named).values())

    def _called(self, name: str) -> str:
        short = name.rpartition("/")[2]
        if not short or self._database is None:
            return name
        return short if len(stored.named_like(self._database, short, 2)) < 2 else name

    def _turn(self, held: Held, words: str) -> int:
        """The turn of a session that says best what a line says, from 1; 0 where none does."""
        assert self._database is not None
        pieces = stored.texts(self._database, held.id, 0, held.turns)
        query = parse_query(words, self._database, self._stems)
        if not query.terms or not pieces:
            return 0
        best = chosen(query, self._stems, pieces, pieces[0].position)
        return best.position + 1 if best is not None and best.share >= LEAST_SHARE else 0


def _as_it_stands(row: FoundRow, root: str) -> FoundRow:
    """A hit of the own project with what is not so any more: paths that are gone, a branch that was never merged."""
    state = row.state
    if row.branch and never_merged(root, row.branch):
        state = f"{state}, " * bool(state) + f"on {row.branch}, which is not merged"
    return replace(row, gone=tuple(gone(root, row.text)), state=state)


def _is_own(row: FoundRow) -> bool:
    return row.own


def _group(row: FoundRow) -> tuple[bool, bool]:
    """The own project's first, and of each what answers firmly."""
    return not row.own, row.weak


def _today() -> Any:
    from datetime import date

    return date.today()


def _is_weak(why: Sequence[str]) -> bool:
    return any(reason.startswith(WEAK) for reason in why)


def _short(folder: str) -> str:
    """A project as people call it, whatever system its path is of."""
    return re.split(r"[\\/]", folder.rstrip("\\/"))[-1]


def _name_of(kind: str, key: str) -> str:
    return key if kind in ("bullet", "note", "document") else f"{kind}:{key}"


def _without_repeats(rows: Sequence[FoundRow]) -> list[FoundRow]:
    """What is said twice once: the same words, a line and the very turn that it is from, and two copies of a
    session."""
    seen: set[str] = set()
    kept = []
    for row in sorted(rows, key=lambda row: row.weak):
        words = statement_key(row.text)
        said = {words[:160], f"{row.session}:{row.turn}" if row.session and row.turn else words}
        if not said & seen:
            kept.append(row)
        seen |= said
    return kept


# --- at the command line --------------------------------------------------------------------------------------------

_CATEGORY = {
    "facts": "fact",
    "decisions": "decision",
    "questions": "question",
    "playbooks": "playbook",
    "tasks": "task",
}


def find_lines(report: FindReport, room: int = 0) -> list[str]:
    """A line for each hit, then what is to be known of the answer; within `room` characters, 0 for any number. A hit
    that does not fit is left out, and counted."""
    lines: list[str] = []
    tail = [report.note] if report.note else []
    left = room - sum(map(len, tail)) - 80 if room else 1 << 30
    for number, row in enumerate(report.hits, start=1):
        line = f"{number}. {_line(row)}"
        if lines and len(line) + 1 > left:
            tail.append(f"{len(report.hits) - number + 1} more did not fit")
            break
        lines.append(line if len(line) <= left else f"{line[: max(80, left - 2)]} …")
        left -= len(line) + 1
    return [*lines, *(f"({one_line(part)})" for part in tail)]


def _line(row: FoundRow) -> str:
    name = _CATEGORY.get(row.key.partition(".")[0], row.kind) if row.kind == "bullet" else row.kind
    about = [name, row.day, row.project]
    place = f"{row.called}:{row.turn}" if row.turn else row.called
    more = [f"→ {place}"] if place else [f"→ {row.key}"] if row.kind != "conversation" else []
    more += [f"(session: {row.state})"] if row.state else []
    if used := record.in_words(row.served.counts()):
        more.append(f"({used})")
    weak = f"{row.misled}; " * bool(row.misled) + "weak; " * row.weak
    more += [f"(gone from git since: {', '.join(row.gone)})"] if row.gone else []
    return one_line(f"[{weak}{', '.join(filter(None, about))}] {row.text} {' '.join(more)}".rstrip())


def find_text(report: FindReport) -> str:
    """The lines of `knowledge find`."""
    return "\n".join(find_lines(report) or ["nothing found"]) + "\n"


COMMANDS = (
    single(
        "find",
        SUMMARY["find"],
        "why do we not use Redis --project shop",
        find,
        find_text,
        Argument(("query",), "any words; in quotation marks: a phrase", {"nargs": "+", "metavar": "QUERY"}),
        option("--project", "only this one: a folder of any system, a repository, or its short name", "PROJECT"),
        option("--kind", f"only {listed(SEARCH_KINDS)}", "KIND", choices=SEARCH_KINDS),
        option("--since", "only what is dated from then on: 2026, 2026-05, 2026-05-31, yesterday, monday", "DATE"),
        option("--before", "only what is dated before then", "DATE"),
        whole_number("--limit", f"at most N hits (default: {LIMIT})", LIMIT),
        words=NAMED,
    ),
)
