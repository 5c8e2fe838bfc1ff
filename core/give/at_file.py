"""What earlier sessions of a project said of one file: why it was changed, what was wrong in it, how it has to be.

Only sentences that name the file, or stand below a heading that does, and of these those that tell a cause or a rule,
what a change was for, or what was found in a line. Of a session the last such message, for what is found first is often
mended by its end; of sessions the newest, for the older a word, the likelier it was overtaken. In 42 later sessions of
seven repositories 10 were told 19 such lines at 364 files: all right that day, 14 useful to a reader.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from core.give.sentences import (
    CLOSING,
    LINE_CHARACTERS,
    Thread,
    Told,
    counts,
    is_said,
    own_turns,
    parted,
    tells,
    threads_of,
)
from core.search.words import words_of

SESSIONS, MATCHES, TURNS = 3, 3000, 60
"""So many of the newest sessions that say something are asked; of so many turns that name the file in all projects, and
so many in this one: a hook has a tenth of a second."""
BEFORE = 100
"""What a sentence is about stands among so many of its first characters."""
LEAST_STEM = 8
"""A name of so many letters, of several words, stands for its file without its ending too."""
_OF_WORDS = re.compile(r"[a-z][A-Z]|[A-Za-z0-9][_-][A-Za-z0-9]")
_NUMBER = re.compile(r"\A[\d._-]{4,}(?=[A-Za-z])")
_MANY = frozenset((
    "readme", "index", "main", "mod", "lib", "__init__", "package", "setup", "util", "utils", "type", "types", "config",
    "page", "layout", "route", "routes", "app", "test", "tests", "conftest", "models", "views", "urls", "constants",
))  # fmt: skip
"""Names that many folders of a tree have: below the first they stand for a file only with its folder."""
_HEADING = re.compile(r"#{1,6} |\*\*[^*]+\*\*:?\Z|\*\*File\b")
_PRAISE = re.compile("[✅✓✔👍]")
_WRONG = re.compile(
    r"\b(?:bugs?|race|regression|fails?|breaks?|broken|wrong|incorrect|corrupt\w*|ignor\w+|missing|without|no|not|cannot|"
    r"\w+n['’]t|lost|leaks?|stale|orphan\w*|duplicat\w+|overwrit\w+|undefined)\b",
    re.IGNORECASE,
)
_LINE = re.compile(r":\d+\b")
_FOR = re.compile(
    r"\b(?:to|because|since|so|due to|instead|rather than|which|by|for|as|when|unless|only|must|never|always|needs?)\b",
    re.IGNORECASE,
)


def said_of(talks: sqlite3.Connection, project: str, session: str, path: str) -> Told | None:
    """The line about a file of a project, by its path from there, None for none. Raises sqlite3.Error."""
    folder, name = os.path.split(path.replace("\\", "/"))
    stem = _NUMBER.sub("", name.split(".")[0] or name)
    names = [name, stem] if len(stem) >= LEAST_STEM and _OF_WORDS.search(stem) else [name]
    asked = " OR ".join(f'"{" ".join(words)}"' for words in map(words_of, names) if words)
    sql = f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT {MATCHES}"
    ids = [id for (id,) in talks.execute(sql, (f"text : ({asked})",))] if asked else []
    if not ids:
        return None
    threads = threads_of(talks, project, session)
    turns = _turns(talks, threads, ids)
    shape = _shape(os.path.basename(folder), names, stem.casefold() in _MANY, [row[4] for row in turns])
    found: dict[int, tuple[int, float, Told]] = {}
    for thread, position, role, date, text, behind in turns:
        held = threads[thread]
        closes = behind != "tool" or position >= held.turns - CLOSING
        for part, named in _parts(text, shape):
            worth = _worth(part, named, role, closes) if len(part) <= LINE_CHARACTERS else 0.0
            if worth and (position, worth) > found.get(thread, (-1, 0.0))[:2]:
                place = f"{held.name}:{position + 1}"
                told = Told(part.replace("**", ""), place, date or held.day, worth, f"file: {path}", held.branch)
                found[thread] = (position, worth, told)
    newest = [found[id][2] for id in threads if id in found][:SESSIONS]
    return max(newest, key=lambda row: row.score, default=None)  # of equals the first, which is the newest


def _turns(
    talks: sqlite3.Connection, threads: Mapping[int, Thread], ids: Sequence[int]
) -> list[tuple[int, int, str, str, str, str]]:
    """Those of these turns in which the user or the assistant speaks in one of the sessions: thread, position, role,
    day, words, and whose the next turn is."""
    here = own_turns(talks, threads)
    sql = (
        "SELECT t.thread, t.position, t.role, t.date, t.text, coalesce((SELECT n.role FROM turns n"
        " WHERE n.thread = t.thread AND n.position > t.position ORDER BY n.position LIMIT 1), '')"
        f" FROM turns t WHERE t.id IN ({', '.join(str(id) for id in ids if id in here)})"
        f" AND t.role IN ('user', 'assistant') AND t.position >= 0 ORDER BY t.id DESC LIMIT {TURNS}"
    )
    return talks.execute(sql).fetchall()


def _shape(folder: str, names: Sequence[str], many: bool, texts: Sequence[str]) -> re.Pattern[str]:
    """How these texts name the file: with its folder, where they name another of its name or `many` files have it."""
    below = re.compile(rf"([\w@.-]+)/{re.escape(names[0])}(?!\w)")
    others = {found[1] for text in texts for found in below.finditer(text)} - {folder}
    either = "|".join(map(re.escape, names))
    if folder and (others or many):
        return re.compile(rf"(?<![\w-]){re.escape(folder)}/(?:{either})(?![\w-])", re.IGNORECASE)
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])", re.IGNORECASE)


def _parts(text: str, shape: re.Pattern[str]) -> Iterator[tuple[str, re.Match[str] | None]]:
    """The sentences that name the file, with where, and those below a heading that does."""
    below = False
    for line in text.split("\n"):
        if _HEADING.match(line.strip()):
            below = shape.search(line) is not None
            continue
        if not below and shape.search(line) is None:
            continue
        for part in parted(line):
            named = shape.search(part)
            if (named or below) and not _PRAISE.search(part):
                yield part, named


def _worth(part: str, named: re.Match[str] | None, role: str, closes: bool) -> float:
    """How much a sentence tells of the file that is `named` in it or above it, 0 for nothing; `closes` is whether its
    message is the last before the user speaks."""
    early = named is None or named.start() <= BEFORE
    wrong = _WRONG.search(part) is not None
    found_there = role == "assistant" and closes and wrong and named and _LINE.match(part, named.end())
    if found_there and is_said(part):
        return 2.0 + early
    if not counts(part, role, last=closes):
        return 0.0
    if tells(part, done=False):
        return 2.0 + early
    return 1.0 if early and (wrong or _FOR.search(part)) else 0.0
