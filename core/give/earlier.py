"""What earlier sessions of the project left about what a prompt names: a file, a function, a ticket, a branch."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from core.search.words import STOP_WORDS, words_of

MAX_NAMES = 16
"""So many names of a prompt are looked for, the first ones."""
MAX_KEPT = 4
"""A name that stands in more kept lines than this tells none from the other."""
LINE_CHARACTERS, NEW = 420, 0.4
"""A line is at most so long, and so large a part of its words is not in the prompt."""
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


class Thread(NamedTuple):
    """One earlier session of the project."""

    id: int
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
        "SELECT id, name, substr(ended, 1, 10), branch, turns FROM conversations"
        " WHERE project = ? AND session <> ? AND problem = ''"
    )
    return {row[0]: Thread(*row) for row in talks.execute(sql, (project, session))}


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
