"""One question to both indexes, that of entries and that of conversations, and what its hits need to be told."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from core.base.entry import Entry
from core.base.markdown import BY_HAND, split_provenance
from core.base.result import KnowledgeError, attempt
from core.commands.conversations import ConversationFilters, ConversationHit, find_in
from core.commands.entry_sources import library_file
from core.commands.moment.found import FoundRow, in_one_order, name_of, short
from core.commands.project import Scope
from core.commands.search import search
from core.commands.transcript import where_printed
from core.experience import record
from core.experience.record import Served
from core.search import conversations as stored
from core.search.answering import CHARACTERS, answering, chosen, share_of, without_bold
from core.search.conversation_query import names_in, unsaid
from core.search.query import EXACT, NEAR_SURE, WEAK, Hit
from core.search.terms import Term, parse_query, phrases_in
from core.search.words import STOP_WORDS, Stems, folded, words_of

if TYPE_CHECKING:
    from core.conversation_index import Brought
    from core.search.answering import Weighed
    from core.search.conversations import Database, Held
    from core.search.terms import Query

LOOKED = 20
"""The hits of each kind that are looked at, before what is said twice is left out; more where more are wanted."""
SESSIONS = 6
"""The conversations whose passage is read."""
SESSIONS_NAMED = 6
"""The other sessions of the project that a weak answer names."""
TITLE = 60
"""The characters of their titles."""
LEAST_SHARE = 0.2
"""A hit with less of what was asked for stands behind those with more."""
SURE_WORTH = 1.05
"""An answer is sure where two sentences side by side have as much of the question as this many words that one turn
alone has: a long question says much that no answer repeats. Chosen on half of the projects; in the other half 1 of 30
answers that held what was asked for is called weak, 12 of 14 where nobody ever said it, and 54 of 61 questions asked in
another project (by a share of 0.32: 12, 10 and 57)."""
SURE_SHARE = 0.5
"""Or this share of the question, where that is less."""
_ID = re.compile(r"(?:rollout-[\dT-]{19}-)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}([0-9a-f]{12})(?:\.jsonl)?\Z")


@dataclass(frozen=True)
class Asked:
    """What `find` is asked: its arguments. With a `scope` an agent asks, else the user."""

    text: str
    project: str
    kind: str
    since: str
    before: str
    limit: int
    scope: Scope | None
    tag: Sequence[str] | None
    source: Sequence[str] | None
    role: str
    likely: str
    lists: bool
    tells: bool


class Look:
    """One question to both indexes, and what its hits need to be told. `wide` is all that may be told."""

    def __init__(
        self, wide: Scope, asked: Asked, wanted: ConversationFilters, database: Database | None, brought: Brought
    ) -> None:
        text, kind, tag = asked.text, asked.kind, asked.tag
        self._workspace, self.text, self._kind, self._tag, self._wanted = wide.workspace, text, kind, tag, wanted
        self._most, self._database, self._brought = max(LOOKED, asked.limit), database, brought
        self._quotes = asked.lists or bool(asked.role or names_in(text) or phrases_in(text))
        self._tells = wide.tells_conversation
        self._tells_use = wide.tells_use if asked.scope is not None and not wide.everything else None
        self._stems = Stems()
        self._likely = asked.likely
        self._parse()
        self.is_open, self.waiting = database is not None, brought.waiting
        self.dated = bool(wanted.since or wanted.before)
        self.narrowed = bool(wanted.sources or wanted.role or tag or not text.strip())
        self.filtered = bool(kind or tag or self.dated or wanted.sources or wanted.role)
        self._texts: list[str] = []
        self._weighed: dict[tuple[int, tuple[int, ...]], Weighed | None] = {}
        self.is_exact = self.none_open = False
        self.entries = self.turns = 0
        self.hits: list[Hit | ConversationHit] = []
        self.understood = ""
        self.nothing: list[str] = []
        self.warnings: list[str] = []
        self.asides: tuple[str, ...] = ()

    def _parse(self) -> None:
        """The question against the index of conversations."""
        self._query: Query | None = None
        if self._database is not None:
            self._query = parse_query(self.text, self._database, self._stems, self._likely)
        self.least = _least(self._query)

    def rows(self, scope: Scope, *, is_own: bool, tells: bool = True) -> list[FoundRow]:
        """The hits of a scope, best first: firm ones before weak ones. Without `tells` they only become `hits`."""
        entries, spoken = self._both(scope)
        self.hits = in_one_order(entries, spoken)
        if not tells:
            return []
        if self._query is not None and self._query.name:
            exact = [one for one in entries if _told(one.why, EXACT)], [one for one in spoken if _told(one.why, EXACT)]
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
            self._keep_as_typed(entries)
            self.entries = 0 if report.nothing.startswith("nothing is known") else report.entries
            self.warnings += [one for one in report.warnings if one not in self.warnings]
            self.nothing += [report.nothing] if report.nothing else []
        if self._database is not None and self._kind in ("", "conversation") and not self._tag:
            tells = None if scope.everything else scope.tells_conversation
            found = find_in(
                self._workspace, self._database, self._brought, self.text, wanted, self._most, None, tells, self._stems,
                likely=self._likely, quotes=self._quotes,
            )  # fmt: skip
            spoken, self.turns, self.understood, self.asides = found.hits, found.turns, found.note, found.warnings
            self.nothing += [found.nothing] if found.nothing else []
        return entries, spoken

    def _keep_as_typed(self, entries: Sequence[Hit]) -> None:
        """A word that nobody said and that a line has is no slip of the hand."""
        stand = {word for hit in entries for word in words_of(f"{hit.entry.title} {hit.entry.text}")}
        if typed := stand.intersection(term.typed for term in self._terms):
            self._stems.as_typed |= typed
            self._parse()

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
        self.none_open = not found
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

    def misspelt(self) -> list[tuple[str, str]]:
        """The words of the question that stand nowhere, each with the one that it was taken for, "" where that was
        not found: the index knows the words of all projects."""
        taken = [(term.typed, term.word) for term in self._terms if term.typed]
        found = set(words_of(" ".join(self._texts))) if taken else ()
        return [(typed, word if word in found else "") for typed, word in taken]

    @property
    def is_guessed(self) -> bool:
        """Whether each word of the question was taken for another."""
        return bool(self._terms) and all(term.typed for term in self._terms)

    @property
    def _terms(self) -> Sequence[Term]:
        return self._query.terms if self._query is not None else ()

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
        share = float(not _told(hit.why, WEAK))
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
            _told(hit.why, WEAK), is_own, hit.branch, (), hit.path, self._called(hit.name), places, 0.0, hit.score,
        )  # fmt: skip
        return self.told(row, CHARACTERS)

    def told(self, row: FoundRow, room: int) -> FoundRow:
        """A hit of a conversation with the passage of its session that answers, in `room` characters; any other with
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
            row, text=made.text, turn=turn, key=key, served=self._served(key),
            weak=max(made.share, made.sharp) < LEAST_SHARE, sharp=made.sharp,
        )  # fmt: skip

    def _best(self, words: str, room: int = CHARACTERS) -> str:
        """A text, or of a long one the sentences that answer."""
        if len(words) <= room:
            return words
        best = chosen(self._query, self._stems, words, room) if self._query is not None else ""
        return best or f"{words[:room]} …"

    def _held(self, name: str) -> Held | None:
        if not name or self._database is None:
            return None
        rows = [row for row in stored.named(self._database, name) if self._tells(row.folder)]
        return max(rows, key=lambda row: row.ended) if rows else None

    def _served(self, *named: str) -> Served:
        """How a statement served, however it is spaced, and the place that it stands at."""
        named = tuple({record.thing_of(one): one for one in named}.values())
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


def _least(query: Query | None) -> float:
    """The share of a question that two sentences side by side have where the answer is there."""
    if query is None or not query.terms:
        return SURE_SHARE
    return min(SURE_SHARE, SURE_WORTH * math.log(1 + query.entries) / query.worth)


def _told(why: Sequence[str], reason: str) -> bool:
    return any(one.startswith(reason) for one in why)
