"""The lines that speak to a prompt. Not a search: a search may bring ten hits and call them weak; what nobody asked for
must be right or not be there.

Of four kinds, the surest first: kept lines that name what the prompt names, how an earlier session about the same thing
ended, what is known of the kind of work that is asked for, and sentences about the rare words of the prompt.
"""

from __future__ import annotations

import re
import sqlite3

from core.give.earlier import Told, adds, names_in, naming, threads_of, told_of
from core.give.lessons import checks, lessons
from core.give.sentences import speaking
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, Stems, words_of

LINES = 3
PROMPT_CHARACTERS = 4000
_ADDRESS = re.compile(r"\w+://\S*?(?=[\w%]+-[\w%]+-[\w%-]+|\s|$)")
"""Of an address only a last part that is written like a title says something."""


def telling(prompt: str) -> list[str]:
    """The words of a prompt that say something, in their order; few for small talk."""
    words = words_of(_ADDRESS.sub(" ", prompt[:PROMPT_CHARACTERS]))
    kept = [word for word in words if len(word) > 2 and word not in STOP_WORDS and word not in FOREIGN_STOP_WORDS]
    return list(dict.fromkeys(kept))


def lines_for(
    talks: sqlite3.Connection, entries: sqlite3.Connection | None, project: str, session: str, prompt: str
) -> list[Told]:
    """The lines of a project for a prompt, at most three, best first. Raises sqlite3.Error."""
    threads = threads_of(talks, project, session)
    if not threads:
        return []
    prompt, stems = prompt[:PROMPT_CHARACTERS], Stems()
    told = naming(entries, threads, names_in(prompt)) if entries is not None else []
    told += told_of(talks, threads, prompt, stems)
    told += lessons(entries, threads, prompt) if entries is not None else []
    told += speaking(talks, entries, project, threads, telling(prompt), stems)
    told += checks(talks, project, session, prompt)
    return _once([row for row in told if adds(prompt, row.text)])[:LINES]


def _once(told: list[Told]) -> list[Told]:
    """Each statement once, in the longest form that it has."""
    kept: list[Told] = []
    for row in told:
        plain = words_of(row.text)
        for at, one in enumerate(kept):
            other = words_of(one.text)
            if plain[: len(other)] == other[: len(plain)]:
                kept[at] = max(one, row, key=lambda two: len(two.text))
                break
        else:
            kept.append(row)
    return kept
