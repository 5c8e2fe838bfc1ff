"""What `find` found, as rows and as lines: a line for each hit, then what is to be known of the answer as a whole."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from core.base import late
from core.base.entry import statement_key
from core.base.paths import Paths
from core.commands.text import count, one_line
from core.experience import record
from core.experience.record import Served
from core.knowledge.removed import Removed, read_removed
from core.search.answering import sentences
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, words_of

if TYPE_CHECKING:
    from core.commands.conversations import ConversationHit
    from core.search.query import Hit


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
    path: str = ""
    """The file of the conversation: another project may have one of that name."""
    called: str = ""
    """The session by the end of its name, where no other has it."""
    places: tuple[int, ...] = ()
    """The positions of the turns of a conversation that match, the best one first."""
    sharp: float = 1.0
    """The share of the question that two sentences side by side have, 0 to 1."""
    fit: float = 0.0
    """How well a conversation fits as a whole, comparable within one answer."""
    against: str = ""
    """Why the text does not hold any more: it is done, or what the user did to the line that says it."""
    misled: str = ""
    """A warning, where it led astray too often at this kind of task: it stands last then."""

    def to_json(self) -> dict[str, Any]:
        row = asdict(self)
        numbers = {"served": self.served.counts(), "score": round(self.score, 4)}
        against = {"against": self.against} if self.against else {}
        return {name: row[name] for name in _KEYS} | numbers | against


_KEYS = ("kind", "key", "text", "day", "project", "session", "turn", "served", "state", "score")


@dataclass(frozen=True)
class FindReport:
    """What was found, best first. `project` is the folder that was meant, "" for none; `conversations` were searched,
    `waiting` are not indexed yet. `note` says what is to be known of the answer as a whole. `listed`: everything that
    matches, where it was asked for, as the indexes have it; `turns` there are in all, `understood` says how a question
    about days was taken, `lost` which phrases nobody said: told before the hits, which are of their words. `others` are
    the project's newest sessions, beside a weak answer."""

    project: str
    entries: int
    conversations: int
    hits: tuple[FoundRow, ...]
    note: str
    warnings: tuple[str, ...] = ()
    listed: tuple[Hit | ConversationHit, ...] = ()
    turns: int = 0
    waiting: int = 0
    understood: str = ""
    lost: str = ""
    others: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The document of `--json`."""
        of = self.conversations + self.waiting
        searched = {"entries": self.entries, "conversations": self.conversations, "of": of}
        hits = [row.to_json() for row in self.hits]
        others = f"sessions here: {', '.join(self.others)}" if self.others else ""
        note = "; ".join(filter(None, (self.lost, self.note, others)))
        return {"project": self.project or None, "searched": searched, "hits": hits, "note": note}


def in_one_order(entries: Sequence[Hit], spoken: Sequence[ConversationHit]) -> list[Hit | ConversationHit]:
    """The score of a conversation's best turn and that of an entry are of one kind; conversations stay in the order
    that their whole threads gave them."""
    rows: list[tuple[float, Hit | ConversationHit]] = [(hit.score, hit) for hit in entries]
    rows += zip(accumulate((hit.rank for hit in spoken), min), spoken, strict=True)
    rows.sort(key=lambda row: row[0], reverse=True)  # what is equal stays as it is: entries first
    return [hit for _, hit in rows]


WEAK_SHOWN = 2
"""The most weak hits that are shown."""
OTHERS_SHOWN = 2
"""The most hits of other projects beside those of the own one."""
NEAR = 0.6
"""The most that its outcomes add to a hit's score, a logarithm of odds, against those just before it."""


def chosen_rows(rows: Sequence[FoundRow], task: str, limit: int) -> list[FoundRow]:
    """The hits that are shown: the own project's first, of others few, weak ones only where little else is there."""
    told = [replace(row, misled=row.served.warning(task)) for row in _without_repeats(rows)]
    firm = [row for row in told if not row.weak]
    few = sum(row.own for row in firm) < WEAK_SHOWN
    weak = [row for row in told if row.weak and ((row.own and few) or not firm)][:WEAK_SHOWN]
    ranked = _what_helped_first(_lines_first(sorted((*firm, *weak), key=_group)), task)
    elsewhere = OTHERS_SHOWN if any(row.own for row in ranked) else limit
    ranked = [row for row in ranked if row.own] + [row for row in ranked if not row.own][:elsewhere]
    return record.warned_last(ranked, lambda row: row.served.stands_last(task), limit, _group)


SAYS_HALF = 0.5
"""The share of the question from which a line stands before a conversation that has no more of it."""
_LINES = ("bullet", "note", "memory", "fact")


def _lines_first(rows: Sequence[FoundRow]) -> list[FoundRow]:
    """One statement with half of the question says it, while a long session has such words anywhere."""
    order: list[FoundRow] = []
    for row in rows:
        at = len(order)
        while row.kind in _LINES and row.sharp >= SAYS_HALF and at and _group(order[at - 1]) == _group(row):
            before = order[at - 1]
            if not before.places or before.sharp > row.sharp:
                break
            at -= 1
        order.insert(at, row)
    return order


def _what_helped_first(rows: Sequence[FoundRow], task: str) -> list[FoundRow]:
    """Of hits of a group that fit about as well, those first that served better at a kind of task."""
    order: list[FoundRow] = []
    for row in rows:
        at = len(order)
        while at and _group(order[at - 1]) == _group(row):
            better = row.served.speaks(task) - order[at - 1].served.speaks(task)
            if not 0 <= order[at - 1].score - row.score < NEAR * better:
                break
            at -= 1
        order.insert(at, row)
    return order


def _group(row: FoundRow) -> tuple[bool, bool]:
    """The own project's first, and of each what answers firmly."""
    return not row.own, row.weak


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


SAYS_SO = 0.8
"""The share of a statement's words with which two sentences side by side say it, where they have all its numbers."""
SAYS_ENOUGH = 3
"""The words of the shortest statement that is looked for so."""
_WENT = {"replaced": "changed", "retracted": "withdrew", "struck": "struck", "removed": "removed"}


def told_against(rows: Sequence[FoundRow], paths: Paths) -> list[FoundRow]:
    """What was said in a conversation is history: where the user changed, withdrew or removed the line that says it,
    and no line that was found says it as well, the hit tells so, behind those of its group that still hold. The line
    itself is not told: it may be of another project. What cannot be read `doctor` tells."""
    removed = Removed()
    with suppress(OSError):
        removed = read_removed(paths)
    gone = [(set(words_of(one.text)) - STOP_WORDS, one) for one in removed.rows if one.how in _WENT]
    gone = [(words, one) for words, one in gone if len(words) >= SAYS_ENOUGH]
    stand = [set(words_of(row.text)) - STOP_WORDS for row in rows if row.kind == "bullet" and not row.against]

    def read(row: FoundRow) -> FoundRow:
        said = [set(words_of(one)) for one in sentences(row.text.replace(" … ", "\n"))] if row.places else []
        beside = [first | second for first, second in pairwise([*said, set()])]
        whole = set[str]().union(*said)
        for words, one in reversed([row for row in gone if _says(whole, row[0])]):
            saying = [has for has in beside if _says(has, words)]
            if saying and not any(_says(has, other) for has in saying for other in stand):
                return replace(row, against=f"the user {_WENT[one.how]} on {one.day} what this says")
        return row

    return sorted(map(read, rows) if gone else rows, key=lambda row: (*_group(row), bool(row.against)))


def _says(has: set[str], words: set[str]) -> bool:
    """Whether a text with some words says a statement with others."""
    return {word for word in words if not word.isalpha()} <= has and len(words & has) >= SAYS_SO * len(words)


_OTHER_SCRIPT = late(r"[\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Letters of which a question in Latin ones has none of the words."""
OTHER_SHARE = 0.1
"""The share of characters in another script from which a session is in another language, whatever names it has."""


def in_another_language(question: str, row: FoundRow) -> bool:
    """Whether a conversation is in letters of which the question has none, or a weak hit in English where that is in
    another language of Latin letters: then they share names alone."""
    if not row.places:
        return False
    strange = len(_OTHER_SCRIPT.findall(row.text))
    if strange > OTHER_SHARE * len(row.text) and not _OTHER_SCRIPT.search(question):
        return True
    said = words_of(row.text)
    english, foreign = (sum(word in table for word in said) for table in (STOP_WORDS, FOREIGN_STOP_WORDS))
    return row.weak and english > 2 * foreign and asked_in_another(question)


def asked_in_another(question: str) -> bool:
    """Whether a question is in a language of `FOREIGN_STOP_WORDS`."""
    return len(FOREIGN_STOP_WORDS.intersection(words_of(question))) > 1


_SAYS_OPEN = """open left remaining remains unfinished pending todo todos outstanding offen offene offenen übrig reste
pendiente pendientes aperto aperte"""
_OF_TASKS = """still remain tasks task done do next leave steps work things aufgaben aufgabe noch ist faire qu est ce à
tâches tareas attività"""


def asks_what_is_open(text: str) -> bool:
    """Whether a question asks what is left to do, and for nothing in particular."""
    words = set(words_of(text)) - STOP_WORDS - FOREIGN_STOP_WORDS
    says = set(_SAYS_OPEN.split())
    return bool(words & says) and words <= says | set(_OF_TASKS.split())


def name_of(kind: str, key: str) -> str:
    """By which name `worked` takes an entry."""
    return key if kind in ("bullet", "note", "document") else f"{kind}:{key}"


def short(folder: str) -> str:
    """A project as people call it, whatever system its path is of."""
    return re.split(r"[\\/]", folder.rstrip("\\/"))[-1]


def as_a_whole(entries: int, spoken: int | None, waiting: int, where: str, *, shown: bool, firm: bool) -> list[str]:
    """What is to be said of an answer: that it is weak, that nothing was searched because nothing is indexed yet or
    there is nothing, or that it was never said. `spoken` conversations were, None where none can be."""
    of = f" of {where}" if where else ""
    left = f"{count(waiting, 'conversation')} {'are' if waiting != 1 else 'is'} not indexed yet"
    left += " ('knowledge search --build' reads all)"
    if firm:
        return [left] if waiting else []
    if spoken is None and not entries:
        return [f"nothing is known{of} yet, and conversations were not searched"]
    if not (entries or spoken):
        said = f"nothing was said {f'in {where}' if where else 'here'} yet that could be searched"
        return [f"not indexed yet: nothing{of} was searched, and {left}" if waiting else said]
    spoken = spoken or 0
    were = "was" if spoken == 1 and not entries else "were"
    looked = f"{'what is known and ' if entries else ''}{count(spoken, 'conversation')}{of} {were} searched"
    said = f"weak: {looked}, and nothing says just this" if shown else f"never said: {looked}"
    return [f"{said}, but {left}" if waiting else said]


LEAST_TEXT = 90
"""A hit is shortened to no fewer characters of its text: less says too little for its place."""
_SENTENCE_END = re.compile(r"[.!?。！？…](?=\s)")
_TURN = re.compile(r" … (?=\[\d+[^\]]*\] )")
_FILES = re.compile(r" \((?:`[^`]*`(?:, )?|…)+\)")


def short_state(state: str) -> str:
    """How a session was left, without the names of files: their number is enough."""
    return _FILES.sub("", state)


def find_lines(report: FindReport, room: int = 0, clean: Callable[[str], str] = str) -> list[str]:
    """Which phrases nobody said, a line for each hit, then what is to be known of the answer (of a weak one before it);
    within `room` characters, 0 for any number. What does not fit is shortened to the sentences that do; what follows is
    left out, and counted. `clean` is what text goes through before it is told, each by itself: the name of a session
    behind a word like "password" is none."""
    lines: list[str] = []
    head, tail = ([clean(part) for part in parts] for parts in _around(report))
    others = _others(report, clean)
    left = room - sum(map(len, (*head, *tail, *others))) - 40 if room else 1 << 30
    for number, row in enumerate(report.hits, start=1):
        line = f"{number}. {_line(row, clean)}"
        if len(line) >= left:
            text = _beginning(row.text, len(row.text) + left - len(line) - 3)
            line = f"{number}. {_line(replace(row, text=text or row.text), clean)}"
            if lines and (not text or len(line) >= left):
                tail.append(f"{len(report.hits) - number + 1} more did not fit")
                break
        lines.append(line[:left])
        left -= len(line) + 1
    before, behind = ([f"({one_line(part)})" for part in parts] for parts in (head, tail))
    return [*before, *lines, *behind, *others]


def _around(report: FindReport) -> tuple[list[str], list[str]]:
    """What is to be known before the hits, and what behind them. A weak one makes all weak: that comes first."""
    note = [report.note] if report.note else []
    weak = any(row.weak for row in report.hits[:1])
    return [*([report.lost] if report.lost else []), *(note if weak else [])], [] if weak else note


def _others(report: FindReport, clean: Callable[[str], str]) -> list[str]:
    """The lines that name other sessions beside a weak answer."""
    return ["sessions here:", *(one_line(f"  {clean(row)}") for row in report.others)] if report.others else []


def _beginning(text: str, room: int) -> str:
    """The sentences of a text that fit, behind them an ellipsis; "" where too little is left to say anything."""
    if room < LEAST_TEXT:
        return ""
    ends = [found.end() for found in _SENTENCE_END.finditer(text[: room + 1])]
    end = ends[-1] if ends and ends[-1] >= LEAST_TEXT else text.rfind(" ", 0, room)
    return f"{text[: end if end > 0 else room].rstrip(' …')} …"


def _line(row: FoundRow, clean: Callable[[str], str]) -> str:
    said = clean(f"[{_about(row)}] {row.text}")
    return one_line(" ".join([said, *_behind(row, clean)]))


def _about(row: FoundRow) -> str:
    file = row.key.rpartition("/")[2]  # `facts.md:3`: a fact
    name = file.partition(".")[0].removesuffix("s") if row.kind == "bullet" else row.kind
    weak = (f"{row.misled}; " if row.misled else "") + ("weak; " if row.weak else "")
    return weak + ", ".join(filter(None, (name, row.day, row.project)))


def _behind(row: FoundRow, clean: Callable[[str], str]) -> list[str]:
    """Where it stands, and what is known of it."""
    place = f"{row.called}:{row.turn}" if row.turn else row.called
    arrow = [f"→ {clean(place or row.key)}"] if place or row.kind != "conversation" else []
    more = [f"(session: {short_state(row.state)})"] if row.state else []
    if used := record.in_words(row.served.counts()):
        more.append(f"({used})")
    more += [f"({row.against})"] if row.against else []
    more += [f"(gone from git since: {', '.join(row.gone)})"] if row.gone else []
    return [*arrow, *map(clean, more)]


def piped_text(report: FindReport) -> str:
    """A line for each hit, for a pipe, which may end in a prompt. Each part goes through the gate by itself: in a whole
    line the name of a session behind a sentence on a password was taken for the password."""
    from core.base.marks import for_prompt  # a terminal does without

    return "\n".join(find_lines(report, clean=for_prompt) or ["nothing found"]) + "\n"


FIRST_LINES = 14
"""The lines of the first hit at a terminal."""
OTHER_LINES = 3
"""The lines of each other hit there."""
WIDEST = 110
"""The characters of the longest line there."""


def terminal_text(report: FindReport) -> str:
    """The same for a person at a terminal: below each hit's head its passage, a paragraph for each turn."""
    width = max(40, min(WIDEST, shutil.get_terminal_size().columns)) - 3
    wrapper = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    head, tail = ([f"({one_line(part)})" for part in parts] for parts in _around(report))
    rows = head
    for number, row in enumerate(report.hits, start=1):
        rows.append(one_line(f"{number}. {' '.join([f'[{_about(row)}]', *_behind(row, str)])}"))
        said = _TURN.sub("\n", row.text).split("\n")
        lines = [line for part in said for line in wrapper.wrap(part)]
        most = FIRST_LINES if number == 1 else OTHER_LINES
        rows += [f"   {line}" for line in lines[:most]] + ["   …"] * (len(lines) > most)
    return "\n".join([*rows, *tail, *_others(report, str)] or ["nothing found"]) + "\n"
