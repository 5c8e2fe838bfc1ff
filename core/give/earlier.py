"""Earlier sessions of the project that a prompt is about: by what it names (a file, a function, a ticket, a branch), or
because it asks for the same thing again. Of such a session its lessons are told, or how it ended.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from core.search.words import STOP_WORDS, Stems, words_of

MAX_NAMES = 16
"""So many names of a prompt are looked for, the first ones."""
MAX_ROWS, MAX_KEPT = 400, 4
"""A name that stands in more kept lines than this tells none from the other."""
ABOUT, SURELY, ALIKE = 2.0, 3.0, 0.55
"""The thresholds: how much a session has to do with the names, also where no sentence of it
names one, and how like its request must be to the prompt."""
USER, CLOSING, WORKED, MOST_WORKED = 3.0, 2.0, 0.5, 4
"""What a name counts for in a user's words, in the last words of a session, and in each turn of the assistant."""
SENTENCE, TITLE, LAST = 260, 90, 3
LINE_CHARACTERS, NEW = 420, 0.4
_GENERAL = re.compile(
    r"(?:\A|/)(?:readme|changelog|license|contributing|claude|agents|package(?:-lock)?|tsconfig|index|main|app|__init__|"
    r"config|utils|requirements|makefile|dockerfile|pyproject|cargo|go)\.\w+\Z|\A(?:e\.g|i\.e|etc)\b|"
    r"\A(?:origin|upstream)/(?:main|master|head)\Z|\A(?:java|type)script\Z|\Agithub\Z",
    re.IGNORECASE,
)
"""Names that say little: every session has to do with such a file."""
_NAME = re.compile(
    r"`[^`\n]{3,60}`|(?<![\w/.:@-])(?:[\w@.-]+/)+[\w@.-]*\w|(?<![\w/.-])[\w-]{2,}\.[A-Za-z][A-Za-z0-9]{0,4}\b|"
    r"\b[A-Za-z]{2,8}-\d{1,6}\b|(?<!\w)#\d{1,6}\b|\b[A-Za-z]+[a-z0-9]*(?:[A-Z][a-z0-9]+)+\b|"
    r"\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b"
)
_CODE_BLOCK = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\"'(])|\n+|(?<=[。！？])")
_REASON = re.compile(
    r"\b(?:because|since|so that|due to|root cause|reason|turned out|instead of|rather than|must|never|always|"
    r"requires?|fix(?:ed|es)?|bug|breaks?|broke|fails?|wrong|missing|cannot|can't|doesn't|does not|needs? to)\b",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"(?:let me|now |next|ok|okay|great|perfect|good|sure|yes|no\b|done|all (?:tests|done|clean|checks|green|passing)|"
    r"everything|committed|pushed|here(?:'s| is| are)|i'?(?:ll|m| will| am| can| could| need| want| would)|"
    r"would you|want me|shall|should|summary|changes|to summarize|if you|you can|next steps|looking|checking)\b",
    re.IGNORECASE,
)


HEDGED = re.compile(
    r"\b(?:might|may|maybe|perhaps|probably|likely|typically|usually|could|would|should (?:check|look|see|be able)|"
    r"look for|if you|you (?:can|need|want|have)|something like|let's|we (?:need|can|should))\b",
    re.IGNORECASE,
)
"""What was only supposed, or advised to whoever was spoken to."""
_WHOLE = re.compile(r"[.!)`”\"'。！]\Z")


class Thread(NamedTuple):
    """One earlier session of the project."""

    id: int
    name: str
    day: str
    title: str
    branch: str
    state: str
    turns: int


class Told(NamedTuple):
    """A line about an earlier session, its place and day, how strongly it speaks, and by what."""

    text: str
    place: str
    day: str
    score: float
    why: str


def names_in(prompt: str) -> list[str]:
    """What a prompt names, in its order, without backticks."""
    found = (name.strip("`").strip() for name in _NAME.findall(prompt))
    kept = [name for name in found if _tells(name)]
    return list(dict.fromkeys(kept))[:MAX_NAMES]


def _tells(name: str) -> bool:
    return len(name) > 2 and (len(words_of(name)) > 1 or len(name) > 4) and _GENERAL.search(name) is None


def threads_of(talks: sqlite3.Connection, project: str, session: str) -> dict[int, Thread]:
    """The other sessions of a project whose words are in the index."""
    sql = (
        "SELECT id, name, substr(ended, 1, 10), title, branch, state_end, turns FROM conversations"
        " WHERE project = ? AND session <> ? AND problem = ''"
    )
    return {row[0]: Thread(*row) for row in talks.execute(sql, (project, session))}


def by_names(
    talks: sqlite3.Connection, threads: dict[int, Thread], names: Sequence[str]
) -> tuple[dict[int, float], dict[int, list[str]], dict[str, float]]:
    """How much each session has to do with the names, which of them, and what each name is worth."""
    score: dict[int, float] = {}
    named: dict[int, list[str]] = {}
    worth: dict[str, float] = {}
    for name in names:
        phrase = '"' + " ".join(words_of(name)) + '"'
        sql = (
            "SELECT t.thread, t.position, t.role, t.text FROM words JOIN turns t ON t.id = words.rowid"
            " WHERE words MATCH ? ORDER BY t.id DESC LIMIT ?"
        )
        about: dict[int, list[float]] = {}
        plain = name.casefold()
        for thread, position, role, text in talks.execute(sql, (f"text : {phrase}", MAX_ROWS)):
            if thread not in threads or role == "tool" or plain not in text.casefold():
                continue
            last = position >= threads[thread].turns - 2
            kinds = about.setdefault(thread, [0.0, 0.0, 0.0])
            if role in ("user", "title"):
                kinds[0] = USER
            elif role == "assistant":
                kinds[1] = max(kinds[1], CLOSING * last)
                kinds[2] = min(kinds[2] + WORKED, WORKED * MOST_WORKED)
        if not about or len(about) > max(3, len(threads) / 3):
            continue
        worth[name] = math.log(1 + len(threads) / len(about)) / math.log(1 + len(threads))
        for thread, kinds in about.items():
            score[thread] = score.get(thread, 0.0) + worth[name] * sum(kinds)
            named.setdefault(thread, []).append(name)
    return score, named, worth


def alike(threads: Iterable[Thread], prompt: str, stems: Stems) -> dict[int, float]:
    """How like the request of each session is to the prompt, by the words that are rare among such requests."""
    titles = {one.id: _stems(one.title.rstrip("…"), stems) for one in threads if one.title}
    asked = _stems(prompt.strip()[:240], stems)
    spread: dict[str, int] = {}
    for words in titles.values():
        for word in words:
            spread[word] = spread.get(word, 0) + 1
    worth = {word: math.log(1 + (len(titles) + 1) / number) for word, number in spread.items()}
    other = math.log(2 + len(titles))

    def mass(words: Iterable[str]) -> float:
        return sum(worth.get(word, other) for word in words)

    whole = mass(asked)
    return {
        id: 2 * mass(words & asked) / (mass(words) + whole) for id, words in titles.items() if len(words & asked) > 1
    }


def _stems(text: str, stems: Stems) -> frozenset[str]:
    words = [word for word in dict.fromkeys(words_of(text)) if len(word) > 2 and word not in STOP_WORDS]
    known = stems.learn(words)
    return frozenset(known[word] for word in words)


def naming(entries: sqlite3.Connection, threads: Mapping[int, Thread], names: Sequence[str]) -> list[Told]:
    """Kept lines of these sessions that name one of the names, those with most of them first."""
    days = {thread.name: thread.day for thread in threads.values()}
    found: dict[str, tuple[list[str], str, str]] = {}
    for name in names:
        phrase = '"' + " ".join(words_of(name)) + '"'
        sql = (
            "SELECT e.text, e.provenance FROM words JOIN entries e ON e.id = words.rowid"
            " WHERE words MATCH ? AND e.kind = 'bullet' AND e.key NOT LIKE 'playbooks%' LIMIT 100"
        )
        rows = [
            (" ".join(text.partition("\n")[0].split()), place)
            for text, provenance in entries.execute(sql, (f"text : {phrase}",))
            if (place := source_of(provenance)) in days and name.casefold() in text.casefold()
        ]
        if len(rows) <= MAX_KEPT:
            for text, place in rows:
                found.setdefault(text, ([], place, days[place]))[0].append(name)
    best = sorted(found.items(), key=lambda row: (-len(row[1][0]), row[1][2]))
    return [
        Told(cut(text), place, day, 2.0 + len(which), f"names: {', '.join(which)}")
        for text, (which, place, day) in best[:2]
    ]


def source_of(provenance: str) -> str:
    """The conversation that a line's provenance names."""
    inside = provenance.removeprefix("[from: ").removesuffix("]")
    return inside.rpartition(", ")[0] or inside


def adds(prompt: str, text: str) -> bool:
    """Whether a line says more than the prompt itself does."""
    words = {word for word in words_of(text) if word not in STOP_WORDS}
    return len(words - set(words_of(prompt))) >= NEW * len(words)


def cut(text: str, most: int = LINE_CHARACTERS) -> str:
    """A text in so many characters, cut between words."""
    return text if len(text) <= most else f"{text[: text.rfind(' ', 0, most)]} …"


def told_of(talks: sqlite3.Connection, threads: dict[int, Thread], prompt: str, stems: Stems) -> list[Told]:
    """What the sessions that a prompt is about came to, the one that is most about it first."""
    named, which, _ = by_names(talks, threads, names_in(prompt))
    like = alike(threads.values(), prompt, stems)
    wanted = frozenset(word for word in words_of(prompt) if len(word) > 3 and word not in STOP_WORDS)
    rows = []
    for id in named.keys() | like.keys():
        if named.get(id, 0.0) >= ABOUT:
            rows.append((named[id] + like.get(id, 0.0), id, which[id]))
        elif like.get(id, 0.0) >= ALIKE:
            rows.append((like[id], id, []))
    told = []
    for score, id, names in sorted(rows, reverse=True):
        line = _line(talks, threads[id], names, wanted, score)
        told += [line] if line is not None else []
    return told


def _line(
    talks: sqlite3.Connection, thread: Thread, names: Sequence[str], wanted: frozenset[str], score: float
) -> Told | None:
    """What was asked in a session, the sentence of its last words that says most, and its state."""
    sql = (
        "SELECT position, text FROM turns WHERE thread = ? AND role = 'assistant' AND length(text) > 60"
        " ORDER BY position DESC"
    )
    title = " ".join(thread.title.split()).rstrip("…")
    shown = title if len(title) <= TITLE else title[: title.rfind(" ", 0, TITLE)]
    asked = f"“{shown}{'…' * (thread.title.rstrip().endswith('…') or shown != title)}”: " if shown else ""
    left = f" (left: {thread.state})" if thread.state else ""
    best = ("", 0)
    for at, (position, text) in enumerate(talks.execute(sql, (thread.id,))):
        sentence = _best(text, names, wanted, at < LAST)
        if sentence:
            best = (sentence, position)
            break
        if not names and at >= LAST:
            break
    if not asked or not thread.title[:1].isalnum():
        return None
    if not best[0] and not (left and score >= SURELY and len(wanted & set(words_of(thread.title))) > 1):
        return None
    if not best[0]:
        asked = f"{asked.rstrip(': ')} was about {', '.join(f'`{name}`' for name in names[:3])}"
    why = f"names: {', '.join(names)}" if names else "the same was asked"
    return Told(f"{asked}{best[0]}{left}", f"{thread.name}:{best[1] + 1}", thread.day, score, why)


def _best(text: str, names: Sequence[str], wanted: frozenset[str], last: bool) -> str:
    """The sentence of an assistant's turn that names one of these and has another wanted word or, without names, has
    two of these; in a turn that is none of the last only one that gives a reason. "" for none."""
    own = frozenset(word for name in names for word in words_of(name))
    rows = [" ".join(row.split()).strip("*#- ") for row in _ENDS.split(_CODE_BLOCK.sub("\n", text[:6000]))]
    for row in rows:
        if len(row) < 30 or not _WHOLE.search(row) or _IDLE.match(row) or row.startswith("[") or HEDGED.search(row):
            continue
        if not last and _REASON.search(row) is None:
            continue
        shared = len((wanted - own) & set(words_of(row)))
        named = any(name.casefold() in row.casefold() for name in names)
        if (shared and named) or (shared > 1 and not names):
            return cut(row, SENTENCE)
    return ""
