"""`knowledge find`, and `search` beside it: the answer in one line a hit, what the own project said first.

It asks the searches that stand (entries, and turns of conversations), and says what they found as somebody wants it who
works: the sentences that answer, where they stand, how they served, and in what state their session was left. Three
answers are kept apart: the project is not known, its conversations are not indexed yet, and it was never said.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from core.base.choices import ENTRY_KINDS
from core.base.result import KnowledgeError
from core.commands.conversations import ConversationFilters, filters_of, scope_meant, understood_as
from core.commands.moment.found import (
    FindReport,
    FoundRow,
    as_a_whole,
    asked_in_another,
    asks_what_is_open,
    chosen_rows,
    in_another_language,
    told_against,
)
from core.commands.moment.look import SURE_SHARE, Asked, Look
from core.commands.project import ALLOWING, EVERY, IN_NO_PROJECT, Scope
from core.commands.search import MAX_LIMIT, remarks
from core.commands.text import count
from core.commands.transcript import LOOK_SECONDS, opened_index
from core.commands.workspace import Workspace
from core.experience.kinds import infer_task_type
from core.give.still import gone, never_merged
from core.knowledge.categories import CATEGORY
from core.search import conversations as stored
from core.search.answering import answering
from core.search.conversation_query import called_alike, known_project, unread
from core.search.days import Question, question
from core.search.terms import parse_query
from core.search.words import Stems, words_of

if TYPE_CHECKING:
    from core.conversations.readable import ReadableConversation, ReadableTurn
    from core.search.conversations import Database

LIMIT = 5
ROOM = 3100
"""The characters that the passages of all conversations share; with more, the lines beside them do not fit. Of 168
questions the first conversation was the right one in 151. A weak answer has the same room."""
LEAST_ROOM = 140
"""The characters that each of them has at least."""
LINE = 300
"""The characters of a hit of another kind."""
SHARPNESS = 0.6
"""A conversation whose score is lower than the first one's by this has a third of its room. Of 66 questions the first
answers tell half of each key point of 36 and 60 % of its words; with 1.2, of 33 and 59 %."""
SAID = 0.7
"""A hit that shares this part of its words with one before it says nothing more, where what was asked for and each
number stand there too: of two services only the name and the port differ. A line is what holds, and is not left out for
a conversation, which is what was said."""
ALIKE = 3
"""The most other projects of the same name that are told."""
_ASKS_BRANCH = re.compile(r"\b(?:branch(?:es)?|zweig|branche|rama|ramo)\b|分支|ブランチ", re.IGNORECASE)


def find(
    workspace: Workspace,
    query: str | Sequence[str] = "",
    project: str = "",
    kind: str = "",
    since: str = "",
    before: str = "",
    limit: int = LIMIT,
    scope: Scope | None = None,
    tag: Sequence[str] | None = None,
    source: Sequence[str] | None = None,
    role: str = "",
    *,
    likely: str = "",
    lists: bool = False,
    tells: bool = True,
) -> FindReport:
    """What any words are about, in the project around the workspace first; with a `project` (a folder, a repository or
    a short name) in that alone; without words the newest conversations that the filters let through. With a `scope`
    only what an agent may be told. `likely` are words that the answer probably has: where the question does not share
    its words they find it. `lists`: also everything that matches, in one order whatever project it is of; without
    `tells` nothing but that. Raises KnowledgeError for neither words nor filters, an unknown filter, and a project
    that nobody knows."""
    text = query if isinstance(query, str) else " ".join(query)
    asked = Asked(text, project, kind, since, before, limit, scope, tag, source, role, likely, lists, tells)
    days = question(text if not (since or before) else "", date.today())
    if days.said and not (days.open and (tag or kind in ENTRY_KINDS)):
        dated = _of_days(workspace, asked, days)
        if days.open or dated.hits or dated.listed:
            return dated
    return _found(workspace, asked)


def _found(workspace: Workspace, asked: Asked) -> FindReport:
    """What is found, days in the words or not."""
    wanted = _filters(asked)
    wide = asked.scope or replace(scope_meant(workspace, asked.project), everything=asked.project in ("", EVERY))
    own = replace(wide, everything=False)  # with the user's own lines, which hold in each project
    with opened_index(workspace, LOOK_SECONDS) as (database, brought, problem):
        look = Look(wide, asked, wanted, database, brought)
        rows, wider = _rows(look, own, wide, asked)
        missing = look.missing_phrases()
        shown = _shown(look, own, wide, asked, rows, missing)
        spoken = look.searched(wide if wider else own)
        notes = [look.understood] if look.understood else []
        for typed, word in look.misspelt() if asked.tells else ():
            if word:
                notes.append(f"nobody said {typed}: it was taken for {word}")
            elif typed not in shown.unsaid:
                notes.append(f"nobody said {typed}")
        notes += _of_its_name(database, own, wide, asked)
        notes += _of_the_whole(look, own, wide, asked, shown, spoken)
        unreadable = unread(database) if database is not None and not shown.firm else 0
        notes += [f"{count(unreadable, 'conversation')} could not be read"] if unreadable else []
        names = own.folder and asked.tells and not (shown.firm or look.filtered)
        others = look.sessions(own, {row.session for row in shown.rows}) if names else []
    ends = "stands nowhere that is searched (of what a tool printed only its ends are); its words were"
    lost = [f"the phrase {phrase!r} {ends}" for phrase in missing]
    if look.none_open:
        lost.append(f"no task is open{f' in {os.path.basename(own.folder)}' if own.folder else ''}")
    warnings = [one for one in (problem, *wide.warnings, *look.warnings) if one]
    if asked.lists:
        warnings = list(dict.fromkeys((*warnings, *look.asides, *remarks(asked.text, look.hits, look.nothing))))
    return FindReport(
        own.folder, look.entries, spoken, tuple(shown.rows), "; ".join(notes), tuple(warnings),
        tuple(look.hits[:asked.limit]) if asked.lists else (), look.turns, brought.waiting, look.understood,
        "; ".join(lost), tuple(others),
    )  # fmt: skip


def _filters(asked: Asked) -> ConversationFilters:
    """The filters that were asked for. Raises KnowledgeError for no words and none, unknown ones, and a wrong limit."""
    wanted = filters_of(asked.kind, asked.since, asked.before, asked.tag, asked.source, asked.role)
    narrows = (asked.source, asked.role, asked.project, asked.since, asked.before)
    narrowed = asked.kind == "conversation" or any(narrows)
    if not asked.text.strip() and (not narrowed or asked.kind in ENTRY_KINDS or asked.tag):
        hint = "give some words; 'knowledge recall' lists memories, 'knowledge search --since yesterday' conversations"
        raise KnowledgeError("usage", "there is nothing to search for", hint=hint)
    if not 1 <= asked.limit <= MAX_LIMIT:
        raise KnowledgeError("usage", f"the limit is {asked.limit}", hint=f"give a number from 1 to {MAX_LIMIT}")
    return wanted


class _Shown(NamedTuple):
    """The hits that are told, and whether they are an answer that is `firm`. Of the question nobody said the words
    `unsaid`, in any conversation of a scope; a tool `printed` some of them, at a `place`."""

    rows: Sequence[FoundRow]
    firm: bool
    unsaid: Sequence[str]
    printed: Sequence[str]
    place: str


def _shown(
    look: Look, own: Scope, wide: Scope, asked: Asked, rows: Sequence[FoundRow], missing: Sequence[str]
) -> _Shown:
    """Which hits are told, each with its passage, and how sure they are. `missing` are phrases that stand nowhere."""
    text = asked.text
    lacks = bool(missing) and set(words_of(text)) <= set(words_of(" ".join(missing)))  # nothing else was asked for
    if lacks:
        rows = [row for row in rows if row.sharp >= SURE_SHARE]
    task = infer_task_type(text) if any(row.served.tally for row in rows) else "other"
    chosen = chosen_rows(rows, task, asked.limit)
    best = 1.0 if look.is_exact else max((row.sharp for row in chosen), default=0.0)
    answers = best >= look.least
    searched_in = own if own.folder and all(row.own for row in chosen) else wide
    unsaid = look.unsaid(searched_in, names=True) if asked.tells and answers else []
    sure = not text.strip() or (answers and not (lacks or unsaid or look.is_guessed))
    spare = [row for row in chosen_rows(rows, task, 2 * asked.limit) if row not in chosen]
    told = [row for row in _given_room(chosen, spare, look) if row.text]
    told = [replace(_as_it_stands(row, own.folder, text) if row.own else row, weak=not sure) for row in told]
    firm = bool(told) and sure
    if asked.tells and not (unsaid or firm):
        searched_in = own if own.folder else wide
        unsaid = look.unsaid(searched_in, names=False)
    return _Shown(told_against(told, wide.workspace.paths), firm, unsaid, *look.printed(searched_in, unsaid))


def _rows(look: Look, own: Scope, wide: Scope, asked: Asked) -> tuple[list[FoundRow], bool]:
    """The hits of the own project, then those of all that may be told where these are too few; and whether all was
    looked at."""
    tells = asked.tells
    rows = look.rows(own, is_own=True) if own.folder and tells else []
    if tells and not look.filtered and asks_what_is_open(look.text):
        rest = (row for row in rows if not row.key.startswith(CATEGORY["tasks_open"].file))
        rows = [*look.open_tasks(own if own.folder else wide), *rest]
    enough = sum(not row.weak for row in rows) >= asked.limit and not look.inexact
    wider = not (own.folder and tells) or (not wide.narrow and (asked.lists or not enough))
    if wider:
        missed, more = look.inexact, look.rows(wide, is_own=False, tells=tells and not enough)
        rows = more if missed and not look.inexact else rows + more
    return rows, wider


def _of_its_name(database: Database | None, own: Scope, wide: Scope, asked: Asked) -> list[str]:
    """That another project has the name of the one that was searched alone."""
    may_tell = wide.narrow and (asked.scope is None or wide.workspace.config.mcp_all_conversations)
    alike = called_alike(database, own.folder) if database is not None and own.folder and may_tell else []
    return [f"of {own.folder} alone; another project of that name: {', '.join(alike[:ALIKE])}"] if alike else []


def _of_the_whole(look: Look, own: Scope, wide: Scope, asked: Asked, shown: _Shown, spoken: int) -> list[str]:
    """What is to be known of an answer as a whole: where it was looked, how much it is worth, what nobody said."""
    foreign = any(in_another_language(look.text, row) for row in shown.rows if row.own or not own.folder)
    notes: list[str] = []
    if not shown.rows and look.narrowed:
        notes += look.nothing if look.text.strip() or not asked.lists else []  # a list tells it as a warning
    elif not shown.rows and look.dated:
        notes.append("nothing of these days says this; without a date all days are searched")
    elif own.folder or wide.everything or shown.firm:
        where = os.path.basename(own.folder) if own.folder and wide.narrow else ""
        searched = spoken if look.is_open else None
        notes += as_a_whole(look.entries, searched, look.waiting, where, shown=bool(shown.rows), firm=shown.firm)
        words = [word for word in shown.unsaid if word not in shown.printed]
        if words and spoken and not foreign:
            project = os.path.basename(own.folder) if own.folder else "any conversation"
            notes.append(f"nobody said {', '.join(words)} in {project}")
        if shown.printed:
            notes.append(f"only a tool printed {', '.join(shown.printed)}: read {shown.place} with the question")
    else:
        notes.append(f"{IN_NO_PROJECT}; {ALLOWING}")
    if foreign:
        notes.append("sessions here are in another language: ask in that too")
    elif not shown.rows and spoken and asked_in_another(look.text):
        notes.append("sessions here may be in another language: then ask in that")
    return notes


def _of_days(workspace: Workspace, asked: Asked, days: Question) -> FindReport:
    """What a question about days means, as if they and the project had been given as options: what is of other days
    is no answer to it."""
    words, scope, folder = days.words, asked.scope, ""
    if days.place:
        with opened_index(workspace, LOOK_SECONDS) as (database, _, _):
            folder = known_project(database, days.place) if database is not None and not asked.project else ""
        if scope is not None and folder:
            folder = folder if scope.tells_conversation(folder) else ""
            scope = scope_meant(scope.workspace, folder) if folder else scope
        words = words if folder else f"{words} {days.place}".strip()
    project, since, before = asked.project or folder, days.span.since, days.span.before
    found = _found(workspace, replace(asked, text=words, project=project, since=since, before=before, scope=scope))
    understood = understood_as(days.span, folder)
    return replace(found, understood=understood, note="; ".join(filter(None, (understood, found.note))))


def _as_it_stands(row: FoundRow, root: str, asked: str) -> FoundRow:
    """A hit of the own project with what is not so any more: paths that are gone, a branch that was never merged; and
    where a branch is `asked` for with that which the session's record names: no turn may."""
    state = row.state
    apart = ", which is not merged" if row.branch and never_merged(root, row.branch) else ""
    if row.branch not in ("", "HEAD") and (apart or _ASKS_BRANCH.search(asked)):
        began = f"{'' if apart else 'began '}on {row.branch}{apart}"
        state = f"{state}, {began}" if state else began
    return replace(row, gone=tuple(gone(root, row.text)), state=state)


def _given_room(rows: Sequence[FoundRow], spare: Sequence[FoundRow], look: Look) -> list[FoundRow]:
    """Each conversation with the more of what it says the better it fits, and no hit that only says again what stands
    before it: one that is `spare` takes its place."""
    best = max((row.fit for row in rows if row.places), default=0.0)
    parts = [math.exp((row.fit - best) / SHARPNESS) if row.places else 0.0 for row in rows]
    asked = set(words_of(look.text))
    given: list[FoundRow] = []
    said: list[tuple[bool, set[str]]] = []
    for row, part in (*zip(rows, parts, strict=True), *((row, 0.0) for row in spare)):
        if len(given) == len(rows):
            break
        room = max(LEAST_ROOM, int(ROOM * part / sum(parts)) if part else 0) if row.places else LINE
        told = look.told(row, room)
        words = set(words_of(told.text))
        telling = {word for word in words if word in asked or not word.isalpha()}
        before = [had for is_line, had in said if is_line or row.places]
        if told.served.counts() or not any(telling <= had and len(words & had) > SAID * len(words) for had in before):
            given.append(told)
            said.append((not row.places, words))
    return given


def passage(
    workspace: Workspace,
    question: str,
    talk: ReadableConversation,
    turn: int,
    room: int,
    told: str = "",
    role: str = "",
    likely: str = "",
) -> str:
    """What answers a question in a conversation that was read, above all at a turn (from 1, 0 for none): its own words,
    with a `role` those of one speaker, at most `room` characters and nothing that was `told` before; "" where nothing
    does. `likely` are words that the answer probably has."""
    with opened_index(workspace, 0.0) as (database, _, _):
        if database is None:
            return ""
        held = stored.named(database, talk.path)
        held = held or [row for row in stored.named(database, talk.name) if row.folder == talk.folder]
        if not held:
            return ""
        places = (turn - 1, *range(talk.count)) if turn else ()
        query = parse_query(question, database, stems := Stems(), likely)
        printed = {one.number - 1: _words_of(one) for one in talk.turns if one.role == "tool"}
        weighed = answering(database, query, stems, held[-1].id, places, told, role, printed)
        made = weighed.excerpt(room) if weighed is not None else None
    return made.text if made is not None else ""


def _words_of(turn: ReadableTurn) -> str:
    """What a tool gave back, or what an edit wrote without the marks of a patch around it; of any other call all."""
    from core.conversations.searched import written  # whoever only finds reads no conversation

    return (turn.is_call and written(turn.text, str, len(turn.text))) or turn.text
