"""The lines that speak to a prompt. Not a search: a search may bring ten hits and call them weak; what nobody asked for
must be right or not be there.

Of two kinds, the surest first: what is known of the kind of work that is asked for, and sentences about the rare words
of the prompt. On later sessions of seven repositories they spoke to 3 of 286 prompts (4 lines, all useful); a reader
who knew the earlier sessions would have had something to say at about 16. Tried and taken out again, with the lines
that a reader found useful:

- on other sessions: the commands that check here (0 of 13), what the last session on the branch came to (0 of 2), what
  came of the same request before (0 of 3)
- a lower threshold for kept lines and last messages of the last twelve hours (5 of 9, all of two repositories)
- at any time for the last message before each of the user's (1 of 4 more)
- what was said of the files that the prompt names (0 of 3); of a file that is read or changed (14 of 19, but the names
  of files led to other files and projects, a line that was taken back stood on, and long messages took seconds)
- at a session's first prompt, or where one names a branch, the end of the last session there (1 of 4), and in what
  state the last session of the project was left (1 of 22)
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Mapping

from core.give.sentences import KEPT_CHARACTERS, Thread, Told, adds, asked_here, cut, source_of, speaking, threads_of
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, words_of

_KINDS = (
    ("merge", r"\b(?:merg(?:e|es|ing)|conflicts?|rebas(?:e|ing))\b", r"\bgit (?:-\S+ )*(?:merge|rebase|pull)\b"),
    ("branch", r"\b(?:branch off|(?:new|create|appropriate|another|switch) \w*\s?branch|worktrees?)\b",
     r"\bgit (?:-\S+ )*(?:checkout|switch|branch|worktree)\b"),
)  # fmt: skip
"""A kind of work: how a prompt asks for it, and the commands that do it."""
_LESSON = re.compile(
    r"\A(?P<command>.{3,200}?) fails (?:\d+ times )?\(“|"
    r"the user (?:refused|interrupted) (?P<refused>.+?)(?= on branch |; |$)"
)
_NAMED = re.compile(
    r"\b(?:parent|branch|from|into|onto|off|merge|rebase) (?:origin )?`?"
    r"(?P<branch>(?![\w./-]*\.[a-z]{1,4}\b)[\w.-]+/[\w./-]*\w)",
    re.IGNORECASE,
)
"""A branch by its name, which has no ending as a file has: what was learned with another one contradicts who names
theirs."""
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
    talks: sqlite3.Connection, entries: sqlite3.Connection | None, roots: Collection[str], session: str, prompt: str
) -> list[Told]:
    """The lines of a project (its places) for a prompt, at most three, best first. Raises sqlite3.Error."""
    threads = threads_of(talks, roots, session)
    if not threads:
        return []
    prompt = prompt[:PROMPT_CHARACTERS]
    told = _lessons(entries, threads, prompt) if entries is not None else []
    asked = asked_here(talks, threads, telling(prompt))
    if asked is not None:
        told += [row for row in speaking(talks, entries, threads, asked) if adds(prompt, row.text)]
    found = _once(told)[:LINES]
    branches = {thread.name: thread.branch for thread in threads.values()}
    return [
        row._replace(branch=branches.get(row.place, branches.get(row.place.rpartition(":")[0], ""))) for row in found
    ]


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


# --- the kind of work ---------------------------------------------------------------------------------------------


def _lessons(entries: sqlite3.Connection, threads: Mapping[int, Thread], prompt: str) -> list[Told]:
    """The newest kept line about a command for what is asked that failed here, or that the user refused."""
    asked = [(name, command) for name, asks, command in _KINDS if re.search(asks, prompt, re.IGNORECASE)]
    if not asked:
        return []
    branches = [found["branch"] for found in _NAMED.finditer(prompt)]
    names = {thread.name: thread for thread in threads.values()}
    sql = (
        "SELECT text, provenance, path FROM entries WHERE kind = 'bullet' AND key NOT LIKE 'tasks%'"
        " AND (text LIKE '% fails %(“%' OR text LIKE '%the user %') ORDER BY date DESC LIMIT 300"
    )
    from core.give.still import stands

    told = []
    for text, provenance, file in entries.execute(sql):
        thread = names.get(source_of(provenance))
        found = _LESSON.search(text) if thread is not None else None
        command = (found["command"] or found["refused"]) if found else ""
        kind = next((name for name, does in asked if re.search(does, command)), "")
        if kind and thread is not None and all(branch in text for branch in branches) and stands(file, text):
            line = cut(" ".join(text.split()), KEPT_CHARACTERS)
            told.append(Told(line, thread.name, thread.day, 1.5, f"kind of work: {kind}"))
    return told[:1]
