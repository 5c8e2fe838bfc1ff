"""Conversations: finding one by what was said in it, and reading it. Every text in an answer is cleared of secrets.

A search looks first at what changed since the last one, for a fraction of a second: the newest conversations come
first, and what is left is reported. `build` reads all of it; `knowledge vectors` makes what a search by meaning
compares, of entries and of turns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from typing import Any

from core.base.choices import ENTRY_KINDS, SEARCH_KINDS, SPOKEN_ROLES
from core.base.figures import count, size
from core.base.project import place_of
from core.base.result import KnowledgeError, attempt, disk_errors
from core.commands.project import Scope, find_project, scope_of
from core.commands.row import option, top
from core.commands.search import LIMIT, meant, opened_search, search_folder
from core.commands.text import one_line
from core.commands.transcript import LOOK_SECONDS, forget_all, index_folder, opened_index, tool_of, where_of
from core.commands.transcript import read as read
from core.commands.workspace import Workspace, embedder_name, embedder_of
from core.conversation_index import RATE, SHARE, Brought, look
from core.knowledge.projects import Here
from core.search import conversations as stored
from core.search import kept_vectors
from core.search.candidates import Filters
from core.search.conversation_query import (
    Found,
    conversations,
    has_project,
    in_scope,
    known_project,
    newest_day,
    projects_held,
    sources_held,
    within,
)
from core.search.conversation_query import unread as unread_number
from core.search.conversations import Database
from core.search.days import Span, day_span, question
from core.search.query import Near
from core.search.words import Stems
from core.sources.tools import EXPORTS, FILES, NAMES, known_name, title_of

BUILD_SECONDS = 10.0
"""A build goes in steps of this; between them another program may have its turn."""
PROJECTS_TOLD = 10


@dataclass(frozen=True)
class ConversationFilters:
    """What a conversation must be. `sources` are names that `knowledge sources` prints; `since` and `before` are days
    (YYYY-MM-DD, a month, a year, or words such as yesterday); `role` is who must have said it. "" asks for nothing."""

    sources: tuple[str, ...] = ()
    since: str = ""
    before: str = ""
    role: str = ""


@dataclass(frozen=True)
class ConversationHit:
    """One conversation that was found, by its best turn.

    `name` is what `knowledge show` takes; `source` where it was found, `tool` what people call that; `day` the local
    day of the turn. `turn` is the number of the best turn (from 1; 0 where there is none), `role` who spoke, `text` its
    words, `places` the numbers of all turns that matched. `rank` compares it with hits of other kinds. `end` is the
    state in which it was left, "" where nothing is known."""

    name: str
    title: str
    source: str
    tool: str
    day: str
    project: str
    folder: str
    branch: str
    turns: int
    turn: int
    role: str
    text: str
    why: tuple[str, ...]
    score: float
    rank: float
    places: tuple[int, ...]
    path: str
    in_trash: bool
    end: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable keys; those that hits of all kinds have are called the same."""
        return {
            "kind": "conversation",
            "key": self.name,
            "title": self.title or None,
            "text": self.text,
            "score": round(self.rank, 4),
            "why": list(self.why),
            "provenance": f"[from: {self.name}, {self.day}]" if self.day else f"[from: {self.name}]",
            "confirmations": [],
            "date": self.day or None,
            "tags": [],
            "project": self.project or None,
            "path": self.path or None,
            "source": self.source,
            "tool": self.tool,
            "branch": self.branch or None,
            "turn": self.turn or None,
            "role": self.role or None,
            "turns": self.turns,
            "places": list(self.places),
            "in_trash": self.in_trash,
            "end": self.end or None,
        }


@dataclass(frozen=True)
class ConversationHits:
    """What was found, best first (without words: newest first). `conversations` and `turns` are how many there are to
    be found; `waiting` conversations are not indexed yet. `note` says how a question was understood, `nothing` why
    nothing was found. `warnings` are for the user."""

    hits: tuple[ConversationHit, ...] = ()
    conversations: int = 0
    turns: int = 0
    waiting: int = 0
    note: str = ""
    warnings: tuple[str, ...] = ()
    nothing: str = ""


@dataclass(frozen=True)
class BuildReport:
    """What a build did, and what the index holds now. Sizes in bytes."""

    read: int
    gone: int
    conversations: int
    turns: int
    bytes: int
    waiting: int
    unread: int
    notes: tuple[str, ...] = ()


# --- the index -------------------------------------------------------------------------------------------------------


def build(
    workspace: Workspace,
    progress: Callable[[Any], None] = lambda step: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> BuildReport:
    """Read every conversation that is not in the index yet, and look through project folders for more. What it will
    take is told first; a stop loses nothing, and the next build goes on. Raises KnowledgeError where the index cannot
    be written."""
    from core.harvest.report import Progress

    if not workspace.config.search_conversations:
        hint = "'knowledge config set search_conversations true' switches it on"
        raise KnowledgeError("switched-off", "conversations are not searched: the setting says so", hint=hint)
    where, problem = where_of(workspace)
    read = gone = total = 0
    notes: list[str] = [problem] if problem else []
    database: Database | None = None

    def step(done: int, _of: int, name: str) -> None:
        progress(Progress(read + done, max(total, read + done), name, "read"))

    def looked(seconds: float, *, walk: bool = False) -> Brought:
        nonlocal database, read, gone
        if database is not None:
            database.close()
        stop = cancelled if seconds else lambda: True
        database, brought = look(where, seconds, walk=walk, wait=10.0, step=step, cancelled=stop)
        read, gone = read + brought.read, gone + brought.gone
        notes.extend(brought.notes)
        return brought

    with disk_errors("unwritable", "the index cannot be written"):
        brought = looked(0.0, walk=True)
        if total := brought.waiting:
            what, _, costs = what_it_takes(brought).partition(": ")
            progress(Progress(0, total, what, f"{costs}; Ctrl-C stops, and the next build goes on"))
        while brought.waiting and not cancelled() and not brought.busy:
            brought = looked(BUILD_SECONDS)
    if database is None or brought.busy:
        raise KnowledgeError("busy", "another program is writing the index", hint="wait until it is done")
    try:
        number, turns = stored.totals(database)
        unread = unread_number(database)
    finally:
        database.close()
    held = stored.file_bytes(where.folder)
    return BuildReport(read, gone, number, turns, held, brought.waiting, unread, tuple(dict.fromkeys(notes)))


def build_text(built: BuildReport) -> str:
    """What a build did, in lines."""
    held = f"{count(built.conversations, 'conversation')} with {count(built.turns, 'turn')}, {size(built.bytes)}"
    rows = [f"read: {built.read}, taken out: {built.gone}; the index holds {held}"]
    if built.unread:
        rows.append(f"could not be read: {built.unread}")
    if built.waiting:
        rows.append(f"left for the next time: {built.waiting}")
    return "\n".join(rows + [f"note: {one_line(note)}" for note in built.notes])


def what_it_takes(brought: Brought) -> str:
    """`10,000 conversations (1.0GB): about 3 min, 400.0MB in the cache`."""
    seconds = brought.waiting_bytes / RATE
    duration = f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"
    held, growth = size(brought.waiting_bytes), size(int(brought.waiting_bytes * SHARE))
    return f"{count(brought.waiting, 'conversation')} ({held}): about {duration}, {growth} in the cache"


def _meant(workspace: Workspace, database: Database, text: str) -> tuple[Near | None, str]:
    """What vectors say about a query, and a sentence where they were asked for and could not be had, or not all."""
    if not workspace.config.embedder or not text.strip() or not stored.totals(database)[1]:
        return None, ""
    if not kept_vectors.are_there(database, embedder_name(workspace)):
        return None, "conversations are searched by their words alone; 'knowledge vectors' adds their meaning"
    return meant(workspace, database, text, "turns")


# --- finding ---------------------------------------------------------------------------------------------------------


def find(
    workspace: Workspace,
    words: str = "",
    filters: ConversationFilters = ConversationFilters(),
    limit: int = LIMIT,
    *,
    seconds: float = LOOK_SECONDS,
    today: date | None = None,
    allowed: Callable[[str], bool] | None = None,
) -> ConversationHits:
    """The conversations that any words are about, best first; without words those that the filters let through, the
    newest first. `seconds` bounds how long what is new is read before. Of those whose folder `allowed` refuses nothing
    is told. Raises KnowledgeError for an unknown filter."""
    with opened_index(workspace, seconds) as (database, brought, problem):
        if database is None:
            return ConversationHits(warnings=(problem,) if problem else ())
        found = find_in(workspace, database, brought, words, filters, limit, today, allowed)
    return replace(found, warnings=(problem, *found.warnings)) if problem else found


def find_in(
    workspace: Workspace,
    database: Database,
    brought: Brought,
    words: str,
    filters: ConversationFilters,
    limit: int,
    today: date | None = None,
    allowed: Callable[[str], bool] | None = None,
    stems: Stems | None = None,
    *,
    likely: str = "",
    quotes: bool = True,
) -> ConversationHits:
    """The same in an index that is open, `brought` up to date before. `likely` words and `quotes` as in
    `conversations`."""
    day = today or date.today()
    span, text = Span(first_day(filters.since, day), first_day(filters.before, day)), words
    filters = replace(filters, sources=sources_named(filters.sources))
    asked = question(words if not (filters.since or filters.before) else "", day)
    warnings: list[str] = []
    try:
        note = folder = ""
        if asked.said:
            folder = known_project(database, asked.place) if asked.place else ""
            text = asked.words if folder or not asked.place else f"{asked.words} {asked.place}".strip()
            span = asked.span
            note = understood_as(span, folder)
        wanted = Filters(
            since=span.since, before=span.before, project=folder, sources=filters.sources,
            roles=(filters.role,) if filters.role else (),
        )  # fmt: skip
        near, warning = _meant(workspace, database, text)
        warnings += [warning] if warning else []
        found = partial(
            conversations, database, limit=limit, allowed=allowed, stems=stems, likely=likely, quotes=quotes
        )
        hits = [_hit(one) for one in found(text, wanted, near=near)]
        if not hits and asked.said and (asked.words or (text and not asked.open)):
            wanted = Filters(sources=filters.sources, roles=wanted.roles)
            near, _ = _meant(workspace, database, words)
            hits, note = [_hit(one) for one in found(words, wanted, near=near)], ""
        nothing = "" if hits else _why_nothing(database, within(database, wanted, allowed), brought, text)
        number, turns = stored.totals(database)
    except stored.Trouble as error:
        if stored.is_damage(error):  # where no look noticed
            forget_all(workspace, 2.0)
        message = f"the index of conversations could not be read ({error}); the next search makes it again"
        return ConversationHits(warnings=(message,))
    if brought.waiting:
        warnings.append(f"not searched yet: {what_it_takes(brought)}; 'knowledge search --build' reads all of it")
    return ConversationHits(tuple(hits), number, turns, brought.waiting, note, tuple(warnings), nothing)


def filters_of(
    kind: str, since: str, before: str, tag: Sequence[str] | None, source: Sequence[str] | None, role: str
) -> ConversationFilters:
    """What was asked for, days as dates. Raises KnowledgeError for an unknown filter, or for two that exclude each
    other."""
    if kind and kind not in SEARCH_KINDS:
        raise KnowledgeError("usage", f"there is no kind {kind!r}", hint=f"choose one of {', '.join(SEARCH_KINDS)}")
    if role and role not in SPOKEN_ROLES:
        raise KnowledgeError("usage", f"there is no role {role!r}", hint=f"choose one of {', '.join(SPOKEN_ROLES)}")
    if (source or role or kind == "conversation") and (tag or kind in ENTRY_KINDS):
        hint = "leave out --tag and --kind, or say --kind conversation"
        message = "--source and --role are of conversations, which have no tags and are of one kind"
        raise KnowledgeError("usage", message, hint=hint)
    first, last = (first_day(day, date.today()) for day in (since, before))
    if first and last and last <= first:
        hint = "--before is the first day that is left out"
        raise KnowledgeError("usage", f"no day is from {first} and before {last}", hint=hint)
    return ConversationFilters(sources_named(source or ()), first, last, role)


def sources_named(names: Sequence[str]) -> tuple[str, ...]:
    """The sources that are meant. Raises KnowledgeError for an unknown name, with all that there are."""
    found = []
    for text in names:
        name = known_name(text) or text.strip().lower()
        if name not in (known := (*NAMES, *EXPORTS, FILES)):
            message = f"there is no source {text!r}"
            raise KnowledgeError("unknown-source", message, hint=f"choose one of {', '.join(known)}")
        found.append(name)
    return tuple(found)


def _why_nothing(database: Database, wanted: Filters, brought: Brought, words: str) -> str:
    """Why no conversation was found: none is known here yet, none is of the days that were asked for, or none of those
    that are says it."""
    of = f" of {' or '.join(map(title_of, wanted.sources))}" if wanted.sources else ""
    where = f" in {wanted.project}" if wanted.project else " of this project" if wanted.folders is not None else ""
    number = in_scope(database, wanted)
    if number:
        more = f"; {brought.waiting:,} are not indexed yet" if brought.waiting else ""
        newest = newest_day(database, wanted) if not words.strip() else ""
        if newest and (wanted.since or wanted.before):
            days = f"from {wanted.since} to {_last_day(wanted)}" if wanted.before else f"since {wanted.since}"
            days = f"{days}; the newest is of {newest}" if wanted.since else f"before {wanted.before}"
            return f"no session{of}{where} {days}{more}"
        them = count(number, "conversation")
        return f"{them}{of}{where} {'was' if number == 1 else 'were'} searched, and none says this{more}"
    yet = " yet" if brought.waiting or not wanted.sources else ""
    said = f"no conversation{of}{where} has been indexed{yet}, so this does not tell that nothing was said"
    held = sources_held(database) if wanted.sources and wanted.folders is None else []
    return f"{said}; there are conversations of {', '.join(held)}" if held else said


def first_day(text: str, today: date) -> str:
    """The day on which begins what a user calls a day, a month, a year or last week; "" for no words."""
    span = day_span(text, today) if text else Span()
    if span is None:
        hint = "write it as 2026-06-12, 2026-06 or 2026, or as yesterday, monday, last week, '3 days ago'"
        raise KnowledgeError("usage", f"{text!r} is no date", hint=hint)
    return span.since


def _place_held(workspace: Workspace, database: Database, asked: str, brought: Brought) -> str:
    """The folder of a project that conversations were held in, also one that is gone. Raises KnowledgeError for one
    that is not known."""
    folder = os.path.abspath(workspace.cwd / os.path.expanduser(asked))
    place = place_of(folder)
    # A name is not that of any project around it.
    if os.path.isdir(folder) or ((place == folder or "/" in asked) and has_project(database, place)):
        return place
    held = projects_held(database)[:PROJECTS_TOLD]
    hint = f"the newest conversations were held in {', '.join(held)}" if held else "give its folder"
    yet = f" yet, and {brought.waiting:,} conversations are not indexed" if brought.waiting else ""
    raise KnowledgeError("no-project", f"no project of that name is known{yet}", asked, hint)


def scope_meant(workspace: Workspace, project: str) -> Scope:
    """The project that is meant, also one that only conversations know, for who may be told of all. Raises
    KnowledgeError for one that nobody knows."""
    if project and os.path.isdir(workspace.cwd / os.path.expanduser(project)):
        find_project(workspace, project)  # refuses a folder that holds another home
    found = attempt(scope_of, workspace, project, allowed=True)
    if not isinstance(found, KnowledgeError):
        return found.value
    if found.error.code != "no-project":
        raise found
    with opened_index(workspace, LOOK_SECONDS) as (database, brought, _):
        if database is None:
            raise found
        folder = known_project(database, project) or _place_held(workspace, database, project, brought)
        held = has_project(database, folder)
    found = attempt(scope_of, workspace, folder, allowed=True)
    if not isinstance(found, KnowledgeError):
        return found.value
    if not held:
        raise found
    known = scope_of(workspace, all_projects=True, allowed=True).projects  # nothing was harvested there
    return Scope(workspace, known, Here(folder, frozenset((folder,))), folder, narrow=True)


def _last_day(span: Span | Filters) -> str:
    """The last of the days that end `before` one: `to` a day means that day too."""
    return str(date.fromisoformat(span.before) - timedelta(days=1))


def understood_as(span: Span, folder: str) -> str:
    """How a question about days was taken."""
    days = f"from {span.since} to {_last_day(span)}" if span.before else f"from {span.since} on"
    days = f"on {span.since}" if span.before and span.since == _last_day(span) else days
    return f"understood as: {days}{f', in {folder}' if folder else ''} (quotation marks search the words as they stand)"


def _hit(found: Found) -> ConversationHit:
    row = found.row
    return ConversationHit(
        row.name, row.title, row.source, tool_of(row), found.day or row.ended[:10], row.project,
        row.folder, row.branch, row.turns, found.position + 1, found.role, found.text, found.why, found.score,
        found.rank, tuple(at + 1 for at in found.places), row.path, bool(row.trash), row.state_end,
    )  # fmt: skip


# --- their meaning, and that of entries -------------------------------------------------------------------------------


@dataclass(frozen=True)
class VectorsReport:
    """How many entries and how many turns of conversations have vectors now, and whose they are; `waiting` turns are
    left for the next time."""

    embedder: str
    entries: int
    turns: int = 0
    waiting: int = 0


def build_vectors(
    workspace: Workspace,
    project: str = "",
    progress: Callable[[Any], None] = lambda step: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> VectorsReport:
    """Make all vectors that a search by meaning compares, those of entries (also as projects see them), then those of
    conversations, and fetch the model where it is not there yet. Stopped, it goes on where it ended. Raises
    KnowledgeError without an embedder, or when it fails."""
    from core.harvest.report import Progress

    if not workspace.config.embedder:
        hint = "choose one, for example: knowledge config set embedder minilm"
        raise KnowledgeError("no-embedder", "no embedder is set", hint=hint)
    asked = find_project(workspace, project)
    embed = embedder_of(workspace, fetch=True)

    def step(name: str, done: int, total: int) -> None:
        progress(Progress(done, total, name, "made"))

    folder, home, name = search_folder(workspace, asked), search_folder(workspace, None), embedder_name(workspace)
    with closing(opened_search(workspace, asked)):
        entries = kept_vectors.build(folder, name, embed, partial(step, "entries"), cancelled, beside=home).turns
    for other in sorted(home.parent.glob(f"{home.name}-*")) if folder == home else ():  # they hold the same and more
        attempt(kept_vectors.build, other, name, embed, cancelled=cancelled, beside=home)
    if not workspace.config.search_conversations or not build(workspace, cancelled=cancelled).turns:
        return VectorsReport(workspace.config.embedder, entries)
    said = partial(step, "turns of conversations")
    made = kept_vectors.build(index_folder(workspace), name, embed, said, cancelled)
    return VectorsReport(workspace.config.embedder, entries, made.turns, made.waiting)


def vectors_text(report: VectorsReport) -> str:
    """How many entries and turns can be found by meaning now."""
    turns = f" and {count(report.turns, 'turn')} of conversations" if report.turns else ""
    left = f"; {count(report.waiting, 'turn')} left for the next time" if report.waiting else ""
    entries = count(report.entries, "entry", "entries")
    return f"{entries}{turns} can be found by meaning ({report.embedder}){left}\n"


COMMANDS = (
    top(
        "vectors",
        "",
        build_vectors,
        vectors_text,
        option("--project", "with what belongs to this folder", "DIR"),
        long=True,
    ),
)
