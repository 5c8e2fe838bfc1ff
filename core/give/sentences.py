"""Sentences that speak to a prompt: what was said or kept in the same project about the rare words of it.

Not a search: a search may bring ten hits and call them weak; what nobody asked for must be right or not be there. So a
sentence counts only when the rare words that it shares with the prompt are a good part of what it says. The figures
were set on questions about sessions of the corpus, and on prompts about nothing, of repositories that the published
figures are not taken from.
"""

from __future__ import annotations

import heapq
import math
import re
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from core.search.words import STOP_WORDS, Stems, words_of

LINE_CHARACTERS = 420
"""The characters of a sentence of a session, with the one behind it where both have room."""
KEPT_CHARACTERS = 500
"""The longest line of a category file: as long as a harvest writes it, for what works instead comes last in it."""
NEW = 0.4
"""The least share of a line's words that the prompt does not have."""
MOST_TERMS = 14
"""The most words of a prompt that are looked for, the rarest first."""
COMMON = 3000
"""The turns above which a word is not rare."""
LEAST_TERMS = 2
"""The rare words that a prompt and a line must share; one more in a project where that may be chance."""
FEW_TURNS = 200
"""The turns from which it may be: in more of them two words meet by chance."""
FEW_SESSIONS = 8
"""The sessions below which it may be: with fewer nobody knows yet which words are rare."""
MASS = 1.25
"""The least weight of the shared words, in words that stand in a single turn of the project."""
DENSITY = 0.27
"""The least part of the weight of the line that they are."""
CLOSING = 3
"""The turns at the end of a session in which the assistant tells its outcome."""
COVERED = 0.1
"""The least part of the weight of the prompt that they are: some words of a long paste meet any line."""
ROWS = 60
"""The most turns that are read."""
THREADS = 1000
"""The newest sessions that are looked into."""
LEAST_SENTENCE = 30
"""The characters of the shortest sentence that is handed out."""
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"'(])|\n+|(?<=[。！？])")
_MARK = re.compile(r"\A(?:[-*+•]|\d{1,2}[.)]) (?=\S)")
_TALK = re.compile(
    r"(?:let me|i'?ll|i will|now |next|ok|okay|great|perfect|sure|yes|no\b|thanks|here(?:'s| is)|done|good|please|"
    r"can you|could you|looking|checking|reading|i (?:have|need|want|see|think|can|am|was)|i'?(?:m|ve|d)|"
    r"we(?:'ll| will)|there (?:are|is|were|was))\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"```|[;{}]\s*\Z|\w\(.*\)\s*\Z|^\s*(?:#|//|import |from |def |return )|=[\"'\w\[{(]|</")
_HEDGED = re.compile(
    r"\b(?:might|may|maybe|perhaps|probably|likely|typically|usually|could|would|should|look for|something like|"
    r"let's|we (?:need|can))\b",
    re.IGNORECASE,
)
"""What was only supposed, or proposed."""
_ADVICE = re.compile(r"\byou(?:r|'re)?\b", re.IGNORECASE)
"""What was said to whoever was spoken to, and what was asked for, is of its moment."""
_REQUEST = re.compile(
    r"\b(?:please|can you|could you|i(?:'m| am)? (?:want|get|got|see|trying|need)|interrupted|reply)\b|"
    r"^\W*(?:add|fix|make|create|change|remove|update|check|run|show|do not add|include|convert|implement|put|write|"
    r"rename|move|replace|build|install|refactor|commit|push|merge|open|delete|look|take|go|let|consider|explain|give|"
    r"tell|find|test|try|just|also|so|then|read|review|some|mind)\b",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"\b(?:because|since|so that|due to|root cause|reason|turned out|instead of|rather than|decided|must|never|always|"
    r"requires?|unless|relies|rely on|hiding|masks?)\b",
    re.IGNORECASE,
)
"""An assistant's sentence counts when it tells a cause or a rule, not when it tells what is being done."""
_DONE = re.compile(
    r"\b(?:fixed|added|moved|removed|replaced|changed|updated|renamed|resolved|implemented|merged|converted|reverted|"
    r"now|no longer|was|were|caused|passes|works|supports?|uses)\b",
    re.IGNORECASE,
)
"""At the end of a session it counts, too, when it tells what was done."""
_STATED = re.compile(r"[A-Z`\"'\d#*-].*[.;)`]\Z", re.DOTALL)
"""A user's sentence counts when it is written like something to be kept."""
_ADDRESS = re.compile(r"\w+://\S+")
_SPOKEN = re.compile(r"[^\W\d_]{2,}")


class Thread(NamedTuple):
    """One earlier session of the project."""

    name: str
    day: str
    branch: str
    turns: int


class Told(NamedTuple):
    """A line about an earlier session, its place and day, how strongly it speaks, by what, and the session's branch."""

    text: str
    place: str
    day: str
    score: float
    why: str
    branch: str = ""


def threads_of(talks: sqlite3.Connection, roots: Collection[str], session: str) -> dict[int, Thread]:
    """The newest other sessions of a project (its places) whose words are in the index."""
    sql = (
        "SELECT id, name, substr(ended, 1, 10), branch, turns FROM conversations"
        f" WHERE project IN ({', '.join('?' * len(roots))}) AND session <> ? AND problem = ''"
        " ORDER BY ended DESC LIMIT ?"
    )
    return {id: Thread(*row) for id, *row in talks.execute(sql, (*roots, session, THREADS))}


class Asked(NamedTuple):
    """The rare words of a prompt, as stems: how each is `spelled` and what it is `worth` in a project of `total` turns;
    the turns with most of them, the `best` first; what the `whole` prompt is worth, with the words that nobody said
    here. `least` are shared by a sentence that speaks to it."""

    spelled: Mapping[str, str]
    worth: Mapping[str, float]
    best: Sequence[int]
    whole: float
    stems: Stems
    total: int
    least: int


def asked_here(talks: sqlite3.Connection, threads: Mapping[int, Thread], words: Sequence[str]) -> Asked | None:
    """What the words of a prompt are worth in a project; None where too few of them are rare. Raises sqlite3.Error."""
    stems = Stems()
    known = stems.learn(words)
    wanted = list(dict.fromkeys(known[word] for word in words))
    marks = ", ".join("?" * len(wanted))
    found = dict(talks.execute(f"SELECT term, doc FROM stems WHERE term IN ({marks})", wanted).fetchall())
    rare = sorted((stem for stem in wanted if 0 < found.get(stem, 0) <= COMMON), key=lambda stem: found[stem])
    rare = rare[:MOST_TERMS]
    if len(rare) < LEAST_TERMS:
        return None
    spelled = {known[word]: word for word in reversed(words)}
    # What a turn is of is looked up for all at once, in the index alone: row by row it takes as long as the words.
    own = f"SELECT id FROM turns WHERE thread IN ({', '.join(map(str, threads))})"
    here = {id for (id,) in talks.execute(own)}
    total = len(here)
    worth: dict[str, float] = {}
    has: dict[int, set[str]] = {}
    for stem in rare:
        asked = talks.execute("SELECT rowid FROM words WHERE words MATCH ?", (f'text : "{spelled[stem]}"',))
        ids = [id for (id,) in asked if id in here]
        worth[stem] = math.log(1 + (total - len(ids) + 0.5) / (len(ids) + 0.5))
        for id in ids:
            has.setdefault(id, set()).add(stem)
    best = heapq.nlargest(ROWS, has, key=lambda id: sum(worth[stem] for stem in has[id]))
    whole = sum(worth.values()) + sum(stem not in found for stem in wanted) * math.log(1 + total)
    many = total < FEW_TURNS and len(threads) >= FEW_SESSIONS
    least = LEAST_TERMS if many else LEAST_TERMS + 1
    said = {stem: spelled[stem] for stem in rare}
    return Asked(said, worth, best, whole, stems, total, least)


def speaking(
    talks: sqlite3.Connection, entries: sqlite3.Connection | None, threads: Mapping[int, Thread], asked: Asked
) -> list[Told]:
    """The sentences of these sessions that speak to a prompt, best first. Raises sqlite3.Error."""
    told: list[Told] = []
    for thread, position, role, date, text in turns_of(talks, asked.best):
        if thread in threads:
            place = f"{threads[thread].name}:{position + 1}"
            last = position >= threads[thread].turns - CLOSING
            told += _sentences(text, role, last, place, date or threads[thread].day, asked)
    if entries is not None:
        names = {thread.name: thread.day for thread in threads.values()}
        told += _kept(entries, names, asked)
    return _best(told)


def _kept(entries: sqlite3.Connection, names: Mapping[str, str], asked: Asked) -> list[Told]:
    """Lines of the category files that conversations of this project said, and that stand there now."""
    words = " OR ".join(f'"{word}"' for word in asked.spelled.values())
    sql = (
        "SELECT e.text, e.provenance, e.date, e.path FROM words JOIN entries e ON e.id = words.rowid"
        " WHERE words MATCH ? AND e.kind = 'bullet' AND e.key NOT LIKE 'tasks%'"
        " AND e.text NOT LIKE 'Checks of %' ORDER BY bm25(words) LIMIT 200"
    )
    made = []
    for text, provenance, date, file in entries.execute(sql, (f"text : ({words})",)):
        name = source_of(provenance)
        if name in names:
            line = " ".join(text.partition("\n")[0].split())
            row = _weighed(line, name, date, asked)
            made += [(file, line, row._replace(text=cut(line, KEPT_CHARACTERS)))] if row is not None else []
    if not made:
        return []
    from core.give.still import stands  # it loads what asks git, and most prompts have no such line

    return [row for file, line, row in made if stands(file, line)]


def turns_of(talks: sqlite3.Connection, ids: Sequence[int]) -> list[tuple[int, int, str, str, str]]:
    """What was said in these turns: thread, position, role, day, words."""
    sql = (
        f"SELECT thread, position, role, date, text FROM turns WHERE id IN ({', '.join('?' * len(ids))})"
        " AND role IN ('user', 'assistant') AND position >= 0"
    )
    return talks.execute(sql, list(ids)).fetchall() if ids else []


def _sentences(text: str, role: str, last: bool, place: str, date: str, asked: Asked) -> list[Told]:
    parts = parted(text)
    made = []
    for at, part in enumerate(parts):
        if _says_nothing(part) or (role == "assistant" and (not tells(part, done=last) or _ADVICE.search(part))):
            continue
        if role == "user" and (_REQUEST.search(part) or not _STATED.match(part)):
            continue
        row = _weighed(part, place, date, asked)
        if row is not None:
            behind = parts[at + 1] if at + 1 < len(parts) else ""
            near = len(part) + len(behind) < LINE_CHARACTERS and len(_SPOKEN.findall(behind)) > 3
            near = near and not _TALK.match(behind) and not _HEDGED.search(behind)
            joined = f"{part} {behind}" if part[-1] in ".!?。！？)" else f"{part}; {behind}"  # of a list
            made.append(row._replace(text=joined if near and not behind.endswith("?") else part))
    return made


def parted(text: str) -> list[str]:
    """The sentences and lines of a text, those of a list without their marks."""
    return [_MARK.sub("", " ".join(part.split())) for part in _ENDS.split(text[:20_000])]


def _says_nothing(part: str) -> bool:
    talk = len(part) < LEAST_SENTENCE or part.endswith(("?", "？", ":")) or _TALK.match(part.lstrip("*_#- "))
    return bool(talk or _CODE.search(part))


def tells(part: str, *, done: bool) -> bool:
    """Whether an assistant's sentence tells a cause or a rule for sure, or what was `done`."""
    found = _TELLS.search(part) or (done and _DONE.search(part))
    return bool(found) and not (_says_nothing(part) or _HEDGED.search(part))


def _weighed(text: str, place: str, date: str, asked: Asked) -> Told | None:
    worth, stems, total = asked.worth, asked.stems, asked.total
    said = dict.fromkeys(words_of(_ADDRESS.sub(" ", text[:800])))
    words = [word for word in said if len(word) > 2 and word not in STOP_WORDS]
    known = stems.learn(words)
    shared = {known[word] for word in words} & worth.keys()
    mass = sum(worth[stem] for stem in shared)
    # What else the sentence says weighs as a word of middling frequency.
    other = math.log(1 + total / 20) * len({known[word] for word in words} - shared)
    density = mass / (mass + other * 0.7) if mass else 0.0
    if len(shared) < asked.least or mass < max(MASS * math.log(1 + total), COVERED * asked.whole) or density < DENSITY:
        return None
    return Told(cut(text), place, date, mass * density, f"words: {', '.join(sorted(shared))}")


def _best(told: Sequence[Told]) -> list[Told]:
    """The strongest, each statement and each set of shared words once."""
    kept: list[Told] = []
    for row in sorted(told, key=lambda row: -row.score):
        if kept and row.score < kept[0].score * 0.5:
            break
        if sum(one.why == row.why for one in kept) < 2:
            kept.append(row)
    return kept


def source_of(provenance: str) -> str:
    """The conversation that a line's provenance names."""
    inside = provenance.removeprefix("[from: ").removesuffix("]")
    return inside.rpartition(", ")[0] or inside


def adds(prompt: str, text: str) -> bool:
    """Whether a line says more than the prompt itself does."""
    words = {word for word in words_of(text) if word not in STOP_WORDS}
    return len(words - set(words_of(prompt))) >= NEW * len(words)


def cut(text: str, most: int = LINE_CHARACTERS) -> str:
    """A text of at most `most` characters, cut between words; one without blanks whole: what was removed is known again
    by its whole words."""
    blank = text.rfind(" ", 0, most)
    return text if len(text) <= most or blank < 0 else f"{text[:blank]} …"
