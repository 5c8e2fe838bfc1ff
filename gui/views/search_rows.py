"""What a search asks for, and what it found as rows with their matched words marked; plain functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from core.base.choices import ENTRY_KINDS as ENTRIES
from core.base.entry import Entry
from core.base.figures import count
from core.base.markdown import split_provenance
from core.base.result import KnowledgeError
from core.commands.conversations import ConversationHit
from core.commands.moment.find import find as find_everything
from core.commands.panel.bullets import bullets_of, local_day
from core.commands.statements import Found
from core.commands.workspace import Workspace
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.typeset import visible
from gui.views.looks import CATEGORIES, ENTRY_KINDS, Looks, capital, joined, project_of, short_folder, short_name
from gui.views.reader_rows import marked_down, one_line_of

if TYPE_CHECKING:
    from core.commands.moment.found import FindReport
    from core.commands.search import Hit

LIMIT = 60
EXCERPT = 420
"""The letters of a long text that are shown."""
SAID = 240
"""Those of what somebody said."""
BEFORE = 90
"""Those of either that stand before the first match."""
SHORTEST = 3
_TERMS = re.compile(r"(?:exact|words|part of the name|begins like|part of a word): (.*)", re.DOTALL)
_SCRIPTS = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"  # written without blanks, or with word endings
_WIDE = re.compile(f"[{_SCRIPTS}]")
_NO_WORD_BEFORE = rf"(?<![^\W{_SCRIPTS}])"


PERIODS = {"": "Any time", "7 days ago": "Last 7 days", "30 days ago": "Last 30 days", "365 days ago": "Last year"}
"""Days from which on, as `--since` takes them, and how they are called."""
ROLES = {"": "Said by anyone", "user": "Said by me", "assistant": "By the assistant", "tool": "By a tool"}


@dataclass(frozen=True)
class Wanted:
    """What is asked for: words, and the arguments of `knowledge search` by their names; "" asks for nothing."""

    query: str = ""
    kind: str = ""
    since: str = ""
    role: str = ""

    @property
    def asks(self) -> bool:
        """Whether the command would look for anything: words, or what the newest conversations are told by."""
        spoken = self.kind == "conversation" or bool(self.role)
        return bool(self.query.strip()) or spoken or (bool(self.since) and self.kind not in ENTRIES)

    @property
    def narrow(self) -> bool:
        """Whether anything is asked for beside words."""
        return bool(self.kind or self.since or self.role)

    def but(self, name: str, value: str) -> Wanted:
        """With one part of it another one ("": none). Only conversations have somebody who says them: a kind of entry
        and these exclude each other, and the last one that was chosen counts."""
        now = replace(self, **{name: value})
        if value and name == "role" and now.kind in ENTRIES:
            return replace(now, kind="")
        return replace(now, role="") if name == "kind" and value in ENTRIES else now


@dataclass(frozen=True)
class Findings:
    """The answer to what was `wanted`. `counts` says how many of each kind there are among the best; `notes` are
    sentences about what could not be searched or asked. `waits`: there are conversations that are not indexed yet.
    `searched` says what was looked through, `left` how much is not searched yet."""

    wanted: Wanted = field(default_factory=Wanted)
    hits: tuple[Hit | ConversationHit, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    waits: str = ""
    searched: str = ""
    left: str = ""


def kind_of(hit: Hit | ConversationHit) -> str:
    """The kind of a hit, a key of `ENTRY_KINDS`."""
    return "conversation" if isinstance(hit, ConversationHit) else hit.entry.kind


def find(workspace: Workspace, wanted: Wanted, project: str = "") -> Findings:
    """Search, as `knowledge search` does; on a worker. With a kind, the best of that kind, and beside them the counts
    of all kinds. What is of `project` (a folder) comes first."""
    if not wanted.asks:
        return Findings(wanted)
    narrowed: dict[str, Any] = {"since": wanted.since, "role": wanted.role, "lists": True, "tells": False}
    report = find_everything(workspace, wanted.query, kind=wanted.kind, **narrowed, limit=LIMIT)
    among = report.listed
    if wanted.kind and replace(wanted, kind="").asks:
        with suppress(KnowledgeError):
            among = find_everything(workspace, wanted.query, **narrowed, limit=LIMIT).listed
    counts = Counter(map(kind_of, among))
    if wanted.kind:
        counts[wanted.kind] = len(report.listed)
    said = filter(None, (report.understood, *report.warnings))
    notes = tuple(one for one in said if not one.startswith(NOT_YET))
    waits = next((waiting_words(one) for one in report.warnings if one.startswith(NOT_YET)), "")
    hits: dict[str, Hit | ConversationHit] = {}
    for hit in sorted(report.listed, key=lambda hit: not is_of(hit, project)):
        hits.setdefault(key_of(hit), hit)
    left = count(report.waiting, "conversation is left", "conversations are left") if report.waiting else ""
    return Findings(wanted, tuple(hits.values()), dict(counts), notes, waits, searched_words(report), left)


def is_of(hit: Hit | ConversationHit, project: str) -> bool:
    """Whether a hit is of a project; nothing is of no project."""
    if not project:
        return False
    if isinstance(hit, ConversationHit):
        return hit.project == project
    _, came = split_provenance(f"x {hit.entry.provenance}")
    return came is not None and project_of(came.source) == PurePath(project).name


def searched_words(report: FindReport) -> str:
    """`Searched: 4 entries and 30 conversations with 512 turns`."""
    entries = count(report.entries, "entry", "entries")
    if not report.turns:
        return f"Searched: {entries}"
    spoken = f"{count(report.conversations, 'conversation')} with {count(report.turns, 'turn')}"
    return f"Searched: {entries} and {spoken}" if report.entries else f"Searched: {spoken}"


NOT_YET = "not searched yet"
_TAKES = re.compile(rf"{NOT_YET}: (.+?) \(.+?\): about (.+?), ")


def waiting_words(warning: str) -> str:
    """What stands beside the button that reads what is not searched yet: how much it is, and how long that takes."""
    takes = _TAKES.match(warning)
    return f"{takes[1]} not searched yet, about {takes[2]}" if takes else capital(warning.partition(";")[0])


def key_of(hit: Hit | ConversationHit) -> str:
    """What names a hit among all of them."""
    if isinstance(hit, ConversationHit):
        return f"conversation:{hit.path}:{hit.name}"
    return f"{hit.entry.kind}:{hit.entry.path}:{hit.entry.key}"


def conversation_row(hit: ConversationHit) -> FlowRow:
    """A conversation as a row: its title, its best turn, and which of its turns speak of it."""
    terms, looks = terms_of(hit.why), ENTRY_KINDS["conversation"]
    who = "You" if hit.role == "user" else capital(hit.role)
    begin = f"{who}, turn {hit.turn:,}:  " if hit.turn else ""
    said = _CELLS.sub(lambda line: line[0].replace("|", " "), _SIGNS.sub(" ", visible(hit.text)))
    said = " ".join(said.split())
    title = one_line_of(hit.title) or short_name(hit.name)
    many = len(hit.places)
    folder = short_folder(hit.project or hit.folder).rpartition("/")[2]
    turns = f"in {many:,} of {count(hit.turns, 'turn')}" if many > 1 else count(hit.turns, "turn")
    about = (local_day(hit.day) if hit.day else "", hit.tool, folder, turns, "in the trash" if hit.in_trash else "",
             hit.branch, why_words(hit.why))  # fmt: skip
    meta, can = joined(*map(one_line_of, about)), frozenset({"read", "copy", "open"} if hit.path else {"read", "copy"})
    row = marked_row(key_of(hit), f"{title}\n{begin}{excerpt(said, terms, SAID)}" if said else title, terms)
    return replace(row, meta=meta, icon=looks.icon, color=looks.color, can=can, strong=len(title))


_SIGNS = re.compile(r"\|(?=[:| ]*-)[-:| ]+\||(?:^|\n)#+ ")
_CELLS = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
"""A row of a table: elsewhere the sign is a pipe, without which a command is another one."""


def marked_row(key: str, words: str, terms: Sequence[str]) -> FlowRow:
    """Words as a row: code as code, without the signs of markdown, and the terms marked."""
    row = marked_down(key, words)
    return replace(row, marks=tuple(spans(row.text, terms)))


def row_of(hit: Hit | ConversationHit) -> FlowRow:
    """One hit as a row: what it says, why it was found, when and where it was said, how often it was confirmed."""
    if isinstance(hit, ConversationHit):
        return conversation_row(hit)
    entry, terms = hit.entry, terms_of(hit.why)
    icon, color = look_of(entry)
    seen = f"confirmed by {count(len(hit.confirmations), 'other')}" if hit.confirmations else ""
    date = local_day(entry.date) if entry.date else ""
    meta = joined(why_words(hit.why), date, source_of(entry), seen)
    can = frozenset({"go", "copy", "open"} if entry.path else {"copy"})
    row = marked_row(key_of(hit), excerpt(visible(entry.text), terms), terms)
    return replace(row, meta=meta, icon=icon, color=color, can=can)


def look_of(entry: Entry) -> tuple[str, str]:
    """Icon and colour of its kind; bullets have those of their category."""
    looks = ENTRY_KINDS.get(entry.kind, Looks("", "file", "accent"))
    if entry.kind == "bullet":
        looks = next((CATEGORIES[tag] for tag in reversed(entry.tags) if tag in CATEGORIES), looks)
    return looks.icon, looks.color


def why_words(why: Sequence[str]) -> str:
    """Why it was found, in a few words; not again the words of what stands there letter by letter."""
    exact = next((one.removeprefix("exact: ").lower() for one in why if one.startswith("exact: ")), "")
    said = []
    for one in why:
        words = one.removeprefix("words: ")
        if words != one:
            words = ", ".join(word for word in words.split(", ") if word.lower() not in exact)
        said += [words] if words else []
    return ", ".join(said)


def source_of(entry: Entry) -> str:
    """Where it comes from: its conversation, the source file of a note, the heading of a context file."""
    if entry.provenance:
        _, came = split_provenance(f"x {entry.provenance}")
        if came is not None:
            return short_name(came.source)
        return entry.provenance.strip("[]").removeprefix("from: ")
    if entry.kind == "note":
        return entry.title.replace("\\", "/").rpartition("/")[2]
    if entry.kind == "context":
        return f"context.md, {entry.title}" if entry.title else "context.md"
    if entry.kind == "memory":
        return "memory" + (f", {', '.join(entry.tags)}" if entry.tags else "")
    return "written by hand" if entry.kind == "bullet" else entry.title


def terms_of(why: Sequence[str]) -> tuple[str, ...]:
    """The words to mark, the longest first."""
    found: list[str] = []
    for one in why:
        terms = _TERMS.match(one)
        if terms is not None:
            found += [terms[1]] if one.startswith(("exact", "part of a word")) else terms[1].split(", ")
    return tuple(sorted({term.lower() for term in found if term.strip()}, key=lambda term: (-len(term), term)))


def excerpt(text: str, terms: Sequence[str], most: int = EXCERPT) -> str:
    """A text as it is shown: of a long one the part around its first match."""
    if len(text) <= most:
        return text
    places = spans(text, terms)
    begin = max(0, places[0][0] - BEFORE) if places else 0
    if begin:
        begin = text.find(" ", begin, begin + 30) + 1 or begin
    cut = text[begin : begin + most].strip()
    return ("… " if begin else "") + cut + (" …" if begin + most < len(text) else "")


def spans(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Where the terms stand in one text, from left to right, none over another. A term that stands nowhere marks the
    words that begin like it: `retry` marks `retries`."""
    low = text.lower()
    if len(low) != len(text):  # a few capital letters become two small ones
        low = text
    taken: list[tuple[int, int]] = []
    for term in terms:
        places = [(one.start(), one.end()) for one in re.finditer(_pattern(term), low)]
        stem = term
        while not places and len(stem) > SHORTEST and len(term) - len(stem) < 3:
            stem = stem[:-1]
            places = [(one.start(), one.end()) for one in re.finditer(rf"{_NO_WORD_BEFORE}{re.escape(stem)}\w*", low)]
        taken += [one for one in places if all(one[1] <= begin or one[0] >= end for begin, end in taken)]
    return sorted(taken)


def _pattern(term: str) -> str:
    """Only where a word begins, a short one only as a whole word; in scripts without blanks, wherever it stands."""
    begin = _NO_WORD_BEFORE if term[0].isalnum() and not _WIDE.match(term[0]) else ""
    end = r"(?!\w)" if begin and len(term) < SHORTEST and term[-1].isalnum() else ""
    return begin + re.escape(term) + end


def bullet_of(workspace: Workspace, entry: Entry) -> Found | None:
    """The bullet or note that a hit means, as it stands in its file now; None when it is gone. On a worker."""
    file, _, line = entry.key.rpartition(":")
    same = bullets_of(workspace, file)
    at = int(line) if line.isdecimal() else 0
    first = entry.text.split("\n", 1)[0]
    near = [row for row in same if row.bullet.line == at] or [row for row in same if first in row.bullet.text]
    return near[0] if near else None


def chip_kinds(found: Findings) -> list[str]:
    """The kinds that have a chip: those among the best, and the one that is chosen."""
    return [kind for kind in ENTRY_KINDS if found.counts.get(kind) or kind == found.wanted.kind]


def longest(query: str, hit: ConversationHit) -> str:
    """What the reader marks: the words of the question where the turn has them as they are, else the longest of those
    that were found."""
    words = query.strip().strip('"')
    if words.casefold() in hit.text.casefold():
        return words
    return next((term for term in terms_of(hit.why) if term in hit.text.casefold()), "")
