"""`knowledge find`, and `search` beside it: the answer in one line a hit, what the own project said first.

It asks the searches that stand (entries, and turns of conversations), and says what they found as somebody wants it who
works: the sentences that answer, where they stand, how they served, and in what state their session was left. Three
answers are kept apart: the project is not known, its conversations are not indexed yet, and it was never said.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import TYPE_CHECKING

from core.base.choices import ENTRY_KINDS
from core.base.entry import Entry
from core.base.markdown import BY_HAND, split_provenance
from core.base.result import KnowledgeError, attempt
from core.commands.conversations import (
    MAX_LIMIT,
    ConversationFilters,
    ConversationHit,
    filters_of,
    find_in,
    scope_meant,
    understood_as,
)
from core.commands.entry_sources import library_file
from core.commands.moment.found import (
    FindReport,
    FoundRow,
    as_a_whole,
    asks_what_is_open,
    chosen_rows,
    in_another_language,
    in_one_order,
    name_of,
    short,
    told_against,
)
from core.commands.project import ALLOWING, EVERY, IN_NO_PROJECT, Scope
from core.commands.search import remarks, search
from core.commands.text import count
from core.commands.transcript import LOOK_SECONDS, opened_index, where_printed
from core.commands.workspace import Workspace
from core.experience import record
from core.experience.kinds import infer_task_type
from core.experience.record import Served
from core.give.still import gone, never_merged
from core.knowledge.categories import CATEGORY
from core.search import conversations as stored
from core.search.answering import CHARACTERS, answering, chosen, share_of, without_bold
from core.search.conversation_query import called_alike, known_project, names_in, unread, unsaid
from core.search.days import Question, question
from core.search.query import EXACT, NEAR_SURE, WEAK, Hit
from core.search.terms import parse_query, phrases_in
from core.search.words import STOP_WORDS, Stems, folded, words_of

if TYPE_CHECKING:
    from core.conversation_index import Brought
    from core.conversations.readable import ReadableConversation
    from core.search.answering import Weighed
    from core.search.conversations import Database, Held
    from core.search.terms import Query

LIMIT = 5
LOOKED = 20
"""So many of each kind, or as many as are wanted, are looked at before what is said twice is left out."""
SESSIONS = 6
"""Of so many conversations the passage is read."""
ROOM, LEAST_ROOM = 2200, 140
"""So many characters the passages of all conversations have, and each at the least. Of 168 questions the first
conversation was the right one in 151; with 420 characters of it half of what was asked for was told, with 1,600 nine
tenths. A weak answer has as much: with 900 it told 48 of 72 points of forty questions, with 2,000 51, and no answer is
longer than one that is sure. With more than this the lines beside the passage do not fit."""
SESSIONS_NAMED, TITLE = 6, 60
"""So many other sessions of the project a weak answer names, so many characters of their titles."""
LINE = 300
"""So many characters a hit of another kind has."""
SHARPNESS = 0.6
"""A conversation whose score is so much lower than that of the first has a third of its room. Of 66 questions the first
answers tell half of each point of 36 and 60 % of the words, with 1.2 of 33 and 59 %, in fewer characters."""
SAID = 0.7
"""A hit with so many of its words in a longer one before it says nothing more, where what was asked for and each
number stand there too: of two services only the name and the port differ. A line is what holds, and is not left out for
a conversation, which is what was said."""
ALIKE = 3
"""So many projects of the same name are told."""
LEAST_SHARE = 0.2
"""A hit with less of what was asked for stands behind those with more."""
SURE_WORTH, SURE_SHARE = 1.05, 0.5
"""The answer is weak where no two sentences side by side have so much of what was asked for: as much as so many words
that one turn alone has, or such a share. A share alone calls long questions weak: they say much that no answer repeats.
Chosen on half of the projects; in the other half 1 of 30 answers that held what was asked for is called weak, 12 of 14
where nobody ever said it, 54 of 61 questions asked in a project of others (by a share of 0.32: 12, 10 and 57)."""
_ASKS_BRANCH = re.compile(r"\b(?:branch(?:es)?|zweig|branche|rama|ramo)\b|分支|ブランチ", re.IGNORECASE)
_ID = re.compile(r"(?:rollout-[\dT-]{19}-)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}([0-9a-f]{12})(?:\.jsonl)?\Z")


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
    `tells` nothing but that. Raises KnowledgeError for neither words nor filters, a filter that is none, and a project
    that nobody knows."""
    text = query if isinstance(query, str) else " ".join(query)
    wanted = filters_of(kind, since, before, tag, source, role)
    asked = question(text if not (since or before) else "", date.today())
    if asked.said and not (asked.open and (tag or kind in ENTRY_KINDS)):
        dated = _of_days(
            workspace, asked, project, kind, limit, scope, tag, source, role, likely=likely, lists=lists, tells=tells
        )
        if asked.open or dated.hits or dated.listed:
            return replace(dated, query=text)
    narrowed = bool(kind == "conversation" or source or role or project or since or before)
    if not text.strip() and (not narrowed or kind in ENTRY_KINDS or tag):
        hint = "give some words; 'knowledge recall' lists memories, 'knowledge search --since yesterday' conversations"
        raise KnowledgeError("usage", "there is nothing to search for", hint=hint)
    if not 1 <= limit <= MAX_LIMIT:
        raise KnowledgeError("usage", f"the limit is {limit}", hint=f"give a number from 1 to {MAX_LIMIT}")
    wide = scope or replace(scope_meant(workspace, project), everything=project in ("", EVERY))
    own = replace(wide, everything=False)  # with the user's own lines, which hold in each project
    with opened_index(workspace, LOOK_SECONDS) as (database, brought, problem):
        tells_use = wide.tells_use if scope is not None and not wide.everything else None
        quotes = lists or bool(role or names_in(text) or phrases_in(text))
        look = _Look(
            wide, text, kind, tag, wanted, max(LOOKED, limit), database, brought, tells_use, likely, quotes=quotes
        )
        rows = look.rows(own, is_own=True) if own.folder and tells else []
        filtered = bool(kind or since or before or tag or source or role)
        if tells and not filtered and asks_what_is_open(text):
            rest = (row for row in rows if not row.key.startswith(CATEGORY["tasks_open"].file))
            rows = [*look.open_tasks(own if own.folder else wide), *rest]
        enough = sum(not row.weak for row in rows) >= limit and not look.inexact
        wider = not (own.folder and tells) or (not wide.narrow and (lists or not enough))
        if wider:
            missed, more = look.inexact, look.rows(wide, is_own=False, tells=tells and not enough)
            rows = more if missed and not look.inexact else rows + more
        entries, spoken = look.entries, look.searched(wide if wider else own)
        missing = look.missing_phrases()
        lacks = bool(missing) and set(words_of(text)) <= set(words_of(" ".join(missing)))  # nothing else was asked for
        if lacks:
            rows = [row for row in rows if row.sharp >= SURE_SHARE]
        shown = chosen_rows(rows, infer_task_type(text) if any(row.served.tally for row in rows) else "other", limit)
        best = 1.0 if look.is_exact else max((row.sharp for row in shown), default=0.0)
        searched_in = own if own.folder and all(row.own for row in shown) else wide
        strange = look.unsaid(searched_in, names=True) if tells and best >= look.least else []
        sure = not text.strip() or (best >= look.least and not lacks and not strange)
        shown = [row for row in _given_room(shown, look) if row.text]
        shown = [replace(_as_it_stands(row, own.folder, text) if row.own else row, weak=not sure) for row in shown]
        shown = told_against(shown, workspace.paths)
        if tells and not (strange or (shown and sure)):
            searched_in = own if own.folder else wide
            strange = look.unsaid(searched_in, names=False)
        seen, place = look.printed(searched_in, strange)
        strange = [word for word in strange if word not in seen]
        names = own.folder and tells and not ((shown and sure) or filtered)
        others = look.sessions(own, {row.session for row in shown}) if names else []
        may_tell = wide.narrow and (scope is None or workspace.config.mcp_all_conversations)
        alike = called_alike(database, own.folder) if database is not None and own.folder and may_tell else []
        unreadable = unread(database) if database is not None else 0
    notes = [look.understood] if look.understood else []
    ends = "stands nowhere that is searched (of what a tool printed only its ends are); its words were"
    lost = [f"the phrase {phrase!r} {ends}" for phrase in missing]
    where = os.path.basename(own.folder) if own.folder and wide.narrow else ""
    firm = bool(shown) and sure
    foreign = any(in_another_language(text, row) for row in shown if row.own or not own.folder)
    notes += [f"of {own.folder} alone; another project of that name: {', '.join(alike[:ALIKE])}"] if alike else []
    if not shown and (source or role or tag or not text.strip()):
        notes += look.nothing if text.strip() or not lists else []  # a list tells it as a warning
    elif not shown and (since or before):
        notes.append("nothing of these days says this; without a date all days are searched")
    elif own.folder or wide.everything or firm:
        spoke = spoken if database is not None else None
        notes += as_a_whole(entries, spoke, brought.waiting, where, shown=bool(shown), firm=firm)
        if strange and spoken and not foreign:
            searched = os.path.basename(own.folder) if own.folder else "any conversation"
            notes.append(f"nobody said {', '.join(strange)} in {searched}")
        if seen:
            notes.append(f"only a tool printed {', '.join(seen)}: read {place} with the question")
    else:
        notes.append(f"{IN_NO_PROJECT}; {ALLOWING}")
    if foreign:
        notes.append("sessions here are in another language: ask in that too")
    if unreadable and not firm:
        notes.append(f"{count(unreadable, 'conversation')} could not be read")
    warnings = [one for one in (problem, *wide.warnings, *look.warnings) if one]
    if lists:
        warnings = list(dict.fromkeys((*warnings, *look.asides, *remarks(text, look.hits, look.nothing))))
    return FindReport(
        text, own.folder, entries, spoken, tuple(shown), "; ".join(notes), tuple(warnings),
        tuple(look.hits[:limit]) if lists else (), look.turns, brought.waiting, look.understood, "; ".join(lost),
        tuple(others),
    )  # fmt: skip


def _of_days(
    workspace: Workspace,
    asked: Question,
    project: str,
    kind: str,
    limit: int,
    scope: Scope | None,
    tag: Sequence[str] | None,
    source: Sequence[str] | None,
    role: str,
    *,
    likely: str,
    lists: bool,
    tells: bool,
) -> FindReport:
    """What a question about days means, as if they and the project had been given as options: what is of other days
    is no answer to it."""
    words, folder = asked.words, ""
    if asked.place:
        with opened_index(workspace, LOOK_SECONDS) as (database, _, _):
            folder = known_project(database, asked.place) if database is not None and not project else ""
        if scope is not None and folder:
            folder = folder if scope.tells_conversation(folder) else ""
            scope = scope_meant(scope.workspace, folder) if folder else scope
        words = words if folder else f"{words} {asked.place}".strip()
    found = find(
        workspace, words, project or folder, kind, asked.span.since, asked.span.before, limit, scope, tag, source, role,
        likely=likely, lists=lists, tells=tells,
    )  # fmt: skip
    understood = understood_as(asked.span, folder)
    return replace(found, understood=understood, note="; ".join(filter(None, (understood, found.note))))


class _Look:
    """One question to both indexes, and what its hits need to be told."""

    def __init__(
        self,
        wide: Scope,
        text: str,
        kind: str,
        tag: Sequence[str] | None,
        wanted: ConversationFilters,
        most: int,
        database: Database | None,
        brought: Brought,
        tells_use: Callable[[str], bool] | None,
        likely: str,
        *,
        quotes: bool,
    ) -> None:
        self._workspace, self.text, self._kind, self._tag, self._wanted = wide.workspace, text, kind, tag, wanted
        self._most, self._database, self._brought, self._quotes = most, database, brought, quotes
        self._tells, self._tells_use = wide.tells_conversation, tells_use
        self._stems = Stems()
        self._query = parse_query(text, database, self._stems, likely) if database is not None else None
        self._likely = likely if self._query is not None and self._query.likely else ""
        self.least = _least(self._query)
        self._texts: list[str] = []
        self._weighed: dict[tuple[int, tuple[int, ...]], Weighed | None] = {}
        self.is_exact = False
        self.entries = self.turns = 0
        self.hits: list[Hit | ConversationHit] = []
        self.understood = ""
        self.nothing: list[str] = []
        self.warnings: list[str] = []
        self.asides: tuple[str, ...] = ()

    def rows(self, scope: Scope, *, is_own: bool, tells: bool = True) -> list[FoundRow]:
        """The hits of a scope, best first: firm ones before weak ones. Without `tells` they only become `hits`."""
        entries, spoken = self._both(scope)
        self.hits = in_one_order(entries, spoken)
        if not tells:
            return []
        if self._query is not None and self._query.name:
            exact = [one for one in entries if _is_exact(one.why)], [one for one in spoken if _is_exact(one.why)]
            if any(exact):
                (entries, spoken), self.is_exact = exact, True
        self._texts += [f"{hit.entry.title} {hit.entry.text}" for hit in entries]
        found = [self._entry(hit, is_own) for hit in entries]
        if self._kind in ("", "document") and self.text.strip():
            found += self._of_a_team(scope, is_own)
        spoken = self._once(spoken)
        self._texts += [hit.text for hit in spoken]
        scores = sorted((hit.rank for hit in spoken), reverse=True)  # conversations stay in their order
        pairs = zip(spoken[: max(SESSIONS, self._most - LOOKED)], scores, strict=False)
        found += [self._conversation(hit, score, is_own) for hit, score in pairs]
        return sorted(found, key=lambda row: (row.weak, -row.score))

    def _both(self, scope: Scope) -> tuple[Sequence[Hit], Sequence[ConversationHit]]:
        """What the index of entries and that of conversations have of a scope."""
        entries: Sequence[Hit] = ()
        spoken: Sequence[ConversationHit] = ()
        self.nothing = []
        wanted, of_conversations = self._wanted, bool(self._wanted.sources or self._wanted.role)
        if self.text.strip() and self._kind != "conversation" and not of_conversations:
            report = search(
                self._workspace, self.text, self._kind, wanted.since, self._tag, self._most, wanted.before, scope
            )
            entries = report.hits
            self.entries = 0 if report.nothing.startswith("nothing is known") else report.entries
            self.warnings += [one for one in report.warnings if one not in self.warnings]
            self.nothing += [report.nothing] if report.nothing else []
        if self._database is not None and self._kind in ("", "conversation") and not self._tag:
            tells = None if scope.everything else scope.tells_conversation
            found = find_in(
                self._workspace, self._database, self._brought, self.text, wanted, self._most, None, tells, self._stems,
                quotes=self._quotes, likely=self._likely,
            )  # fmt: skip
            spoken, self.turns, self.understood, self.asides = found.hits, found.turns, found.note, found.warnings
            self.nothing += [found.nothing] if found.nothing else []
        return entries, spoken

    def _once(self, spoken: Sequence[ConversationHit]) -> list[ConversationHit]:
        """Each session once, in the place of its first hit: the longest of its copies, its export and the index of its
        prompts."""
        told: dict[str, ConversationHit] = {}
        for hit in spoken:
            held = self._held(hit.path or hit.name)
            session = held.session if held is not None and held.session else hit.name
            before = told.get(session, hit)
            told[session] = hit if hit.turns > before.turns else before
        return list(told.values())

    def _of_a_team(self, scope: Scope, is_own: bool) -> list[FoundRow]:
        """What a library in PostgreSQL says; that of a file is in the index."""
        if library_file(self._workspace) is not None:
            return []
        from core.commands.library.use import library_retrieve

        found = attempt(library_retrieve, self._workspace, self.text, unlogged=True, limit=LOOKED, scope=scope)
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

    def open_tasks(self, scope: Scope) -> list[FoundRow]:
        """The open tasks of a scope, the newest first."""
        from core.commands.bullets import tasks_by_date  # it loads what changes bullets

        found = [row for row, _ in tasks_by_date(self._workspace, "open") if scope.tells(row.bullet)][: self._most]
        made = [(f"{row.file}:{row.bullet.line}", row.bullet.text, row.bullet.provenance) for row in found]
        entries = [Entry("bullet", key, "", text, by.date if by else "", str(by or "")) for key, text, by in made]
        return [replace(self._entry(Hit(entry, 1.0, ()), True), weak=False, sharp=1.0) for entry in entries]

    def searched(self, scope: Scope) -> int:
        """How many conversations of a scope there are to be found."""
        if self._database is None:
            return 0
        sql = f"SELECT folder, count(*) FROM conversations WHERE {stored.READ} GROUP BY folder"
        return sum(number for folder, number in self._database.execute(sql) if scope.tells_conversation(folder))

    def sessions(self, scope: Scope, told: Collection[str]) -> list[str]:
        """The newest conversations of a scope but those that are told: day and name, with the title where the name says
        nothing of it and it is words. Who asked in other words than were said sees there which one to read."""
        if self._database is None:
            return []
        sql = f"SELECT name, title, ended, folder FROM conversations WHERE {stored.READ} ORDER BY ended DESC, path"
        own = (row for row in self._database.execute(sql) if row[0] not in told and scope.tells_conversation(row[3]))
        from core.conversations.searched import title_of  # for a weak answer alone: it loads what reads conversations

        found = []
        for name, title, ended, _folder in islice(own, SESSIONS_NAMED):
            called = self._called(name)
            says_so = any(word in called.casefold() for word in words_of(title) if len(word) > 3)
            about = "" if says_so or title[:1] in "[<{/" else f" “{title_of(title, most=TITLE)}”"
            found.append(f"{ended[:10]}{about} {called}")
        return found

    def unsaid(self, scope: Scope, *, names: bool) -> list[str]:
        """Words of the question that stand in no conversation of a scope, or its `names` that no hit has either."""
        if self._database is None or (names and self.is_exact):
            return []
        among = names_in(self.text).difference(words_of(" ".join(self._texts))) if names else None
        return unsaid(self._database, self.text, self._stems, scope.tells_conversation, among)

    def printed(self, scope: Scope, words: Sequence[str]) -> tuple[list[str], str]:
        """Those of some words that a tool printed, and the conversation and turn where it did."""
        if self._database is None or not words:
            return [], ""
        seen, place = where_printed(self._workspace, self._database, self.text, words, scope.tells_conversation)
        name, _, turn = place.rpartition(":")
        return seen, f"{self._called(name)}:{turn}" if place else ""

    def missing_phrases(self) -> list[str]:
        """What stood in quotation marks, or is a name with its punctuation, and in nothing that was found."""
        told = [folded(one) for text in self._texts for one in (text, without_bold(text))]
        named = [self._query.literal] if self._query is not None and self.inexact else []
        return [*named, *(phrase for phrase in phrases_in(self.text) if not any(phrase in text for text in told))]

    @property
    def inexact(self) -> bool:
        """Whether a name was asked for that has not been found as it is spelled: `MAX_SIZE` is neither max nor size."""
        return self._query is not None and self._query.name and not self.is_exact

    def _entry(self, hit: Hit, is_own: bool) -> FoundRow:
        entry = hit.entry
        made = split_provenance(entry.provenance)[1] if entry.provenance else None
        name = made.source if made is not None and made.source != BY_HAND else ""
        held = self._held(name)
        words = entry.text.partition("\n")[0] if entry.kind in ("bullet", "note") else entry.text
        if entry.kind == "document":
            words = f"{entry.title}: {self._best(entry.text)}"
        text = f"{entry.title}: {words}" if entry.kind == "note" and entry.title else " ".join(words.split())
        if entry.kind == "memory" and "agent" in entry.provenance:
            text += f" ({entry.provenance.strip('[]')})"
        folder = held.project if held is not None else entry.project
        named = (entry.key,) if entry.kind == "document" else (words, text)
        share = float(not _is_weak(hit.why))
        if self._query is not None and hit.near < NEAR_SURE:
            share = share_of(self._query, self._stems, text)
        return FoundRow(
            entry.kind, name_of(entry.kind, entry.key), text, entry.date, short(folder), name, 0,
            self._served(*named), held.state_end if held is not None else "", hit.score,
            share < LEAST_SHARE, is_own,
            held.branch if held is not None else "", (), held.path if held is not None else "", self._called(name),
            sharp=share, against="done" * ("tasks_done" in entry.tags),
        )  # fmt: skip

    def _conversation(self, hit: ConversationHit, score: float, is_own: bool) -> FoundRow:
        assert self._database is not None
        held = self._held(hit.path or hit.name)
        places = tuple(dict.fromkeys(max(0, place - 1) for place in (hit.turn, *hit.places)))
        words, title = " ".join(hit.text.split()), " ".join(hit.title.split())
        if not self.text.strip() and not words.casefold().startswith(title.rstrip(" …").casefold()):
            words = f"{title}: {words}" if len(words) > len(title) else title  # less than the title says nothing more
        row = FoundRow(
            "conversation", f"{hit.name}:{hit.turn}", words, hit.day, short(hit.project),
            hit.name, hit.turn, Served(), held.state_end if held is not None else "", score,
            _is_weak(hit.why), is_own, hit.branch, (), hit.path, self._called(hit.name), places, 0.0, hit.score,
        )  # fmt: skip
        return self.told(row, CHARACTERS)

    def told(self, row: FoundRow, room: int) -> FoundRow:
        """A hit of a conversation with the passage of its session that answers, in so many characters; any other with
        the turn that it is from."""
        held = self._held(row.path or row.session)
        if not row.places:
            turn = self._turn(held, row.text) if held is not None else 0
            served = self._served(row.text, f"{row.session}:{turn}") if turn else row.served
            return replace(row, text=self._best(row.text, room), turn=turn, served=served)
        if held is None or self._database is None or self._query is None:
            return row
        weighed = self._weighed.get((held.id, row.places))  # read once, however often it is given other room
        if weighed is None:
            weighed = answering(self._database, self._query, self._stems, held.id, row.places, role=self._wanted.role)
            self._weighed[held.id, row.places] = weighed
        made = weighed.excerpt(room) if weighed is not None else None
        if made is None:
            return row
        key, turn = f"{row.session}:{made.position + 1}", made.position + 1
        return replace(
            row, text=made.text, turn=turn, key=key, served=self._served(key), weak=made.share < LEAST_SHARE,
            sharp=made.sharp, left=made.left,
        )  # fmt: skip

    def _best(self, words: str, room: int = CHARACTERS) -> str:
        """A text, or of a long one the sentences that answer."""
        if len(words) <= room or self._query is None or not self._query.terms:
            return words if len(words) <= room else f"{words[:room]} …"
        best = chosen(self._query, self._stems, [stored.Piece(0, "", "", words)], 0, room)
        return best.text if best is not None else f"{words[:room]} …"

    def _held(self, name: str) -> Held | None:
        if not name or self._database is None:
            return None
        rows = [row for row in stored.named(self._database, name) if self._tells(row.folder)]
        return max(rows, key=lambda row: row.ended) if rows else None

    def _served(self, *named: str) -> Served:
        """How a statement served, and the place that it stands at."""
        return record.together(record.served(self._workspace.paths.experience, named, self._tells_use).values())

    def _called(self, name: str) -> str:
        """A session by the shortest end of its name that no other has: where an id of 36 characters is all that it is
        called, the last twelve."""
        whole = name.rpartition("/")[2]
        found = _ID.match(whole)
        if self._database is not None:
            for short in (found[1] if found else "", whole):
                if short and len(stored.named_like(self._database, short, 2)) < 2:
                    return short
        return name

    def _turn(self, held: Held, words: str) -> int:
        """The turn of a session that has most of the words of a line, from 1; 0 where none has half of them."""
        assert self._database is not None
        wanted = frozenset(words_of(words)) - STOP_WORDS
        pieces = stored.texts(self._database, held.id, 0, held.turns)
        shared = [(len(wanted.intersection(words_of(one.text))), -one.position) for one in pieces]
        most, position = max(shared, default=(0, 0))
        return 1 - position if most * 2 >= max(1, len(wanted)) else 0


def _as_it_stands(row: FoundRow, root: str, asked: str) -> FoundRow:
    """A hit of the own project with what is not so any more: paths that are gone, a branch that was never merged; and
    where a branch is `asked` for with that which the session's record names: no turn may."""
    state, apart = row.state, ", which is not merged" * (bool(row.branch) and never_merged(root, row.branch))
    if row.branch not in ("", "HEAD") and (apart or _ASKS_BRANCH.search(asked)):
        state = f"{state}, " * bool(state) + f"{'' if apart else 'began '}on {row.branch}{apart}"
    return replace(row, gone=tuple(gone(root, row.text)), state=state)


def _given_room(rows: Sequence[FoundRow], look: _Look) -> list[FoundRow]:
    """Each conversation with the more of what it says the better it fits, and no hit that only says again what stands
    before it."""
    best = max((row.fit for row in rows if row.places), default=0.0)
    parts = [math.exp((row.fit - best) / SHARPNESS) if row.places else 0.0 for row in rows]
    asked = set(words_of(look.text))
    given: list[FoundRow] = []
    said: list[tuple[bool, set[str]]] = []
    for row, part in zip(rows, parts, strict=True):
        told = look.told(row, max(LEAST_ROOM, int(ROOM * part / sum(parts))) if row.places else LINE)
        words = set(words_of(told.text))
        telling = {word for word in words if word in asked or not word.isalpha()}
        before = [had for is_line, had in said if is_line or row.places]
        if told.served.counts() or not any(telling <= had and len(words & had) > SAID * len(words) for had in before):
            given.append(told)
            said.append((not row.places, words))
    return given


def _least(query: Query | None) -> float:
    """The share of a question that two sentences side by side have where the answer is there."""
    if query is None or not query.terms:
        return SURE_SHARE
    return min(SURE_SHARE, SURE_WORTH * math.log(1 + query.entries) / query.worth)


def _is_weak(why: Sequence[str]) -> bool:
    return any(reason.startswith(WEAK) for reason in why)


def _is_exact(why: Sequence[str]) -> bool:
    return any(reason.startswith(EXACT) for reason in why)


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
    with a `role` those of one speaker, at most so many characters and nothing that was `told` before; "" where nothing
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
        printed = {one.number - 1: one.text for one in talk.turns if one.role == "tool" and not one.is_call}
        weighed = answering(database, query, stems, held[-1].id, places, told, role, printed)
        made = weighed.excerpt(room) if weighed is not None else None
    return made.text if made is not None else ""
