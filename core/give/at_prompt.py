"""The lines that speak to a prompt. Not a search: a search may bring ten hits and call them weak; what nobody asked for
must be right or not be there.

The surest first: what is known of the kind of work that is asked for, what the last session on the branch came to, what
came of it when the same was asked before, sentences about the rare words of the prompt, and the commands that check
here where the prompt asks for a change.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping

from core.base.command_line import goals
from core.give.earlier import again, on_branch
from core.give.sentences import Thread, Told, adds, asked_here, cut, source_of, speaking, threads_of
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, words_of

LEAST_PASSES, LEAST_SESSIONS, MAX_SESSIONS, MAX_CHECKS = 2, 2, 40, 3
"""A check passed so often, in so many of the newest sessions; at most so many are told."""
_KINDS = (
    ("merge", r"\b(?:merg(?:e|es|ing)|conflicts?|rebas(?:e|ing))\b", r"\bgit (?:-\S+ )*(?:merge|rebase|pull)\b"),
    ("branch", r"\b(?:branch off|(?:new|create|appropriate|another|switch) \w*\s?branch|worktrees?)\b",
     r"\bgit (?:-\S+ )*(?:checkout|switch|branch|worktree)\b"),
)  # fmt: skip
"""A kind of work: how a prompt asks for it, and the commands that do it."""
_LESSON = re.compile(
    r"\A(?P<command>.{3,200}?) fails \(“|the user (?:refused|interrupted) (?P<refused>.+?)(?= on branch |; |$)"
)
_CHECKS = {
    "test": ("test", "pytest", "jest", "vitest"), "lint": ("lint", "ruff", "eslint", "clippy"), "build": ("build",)
}  # fmt: skip
_ASKS_CHECKS = re.compile(
    r"\b(?:test|lint|build|CI)s?\b(?:\W+\w+){0,3}?\W+(?:fail\w*|errors?|broke\w*|issues?|red)\b|"
    r"\bfail(?:ing|ed|s|ures?)?\W+(?:\w+\W+){0,2}?(?:test|lint|build|CI)s?\b|"
    r"\b(?:lint and test|test and lint)\b",
    re.IGNORECASE,
)
_ASKS_WORK = re.compile(
    r"(?:\A|[.!?\n]\s*)(?:(?:ok(?:ay)?|so|now|please|also|then|let'?s|can you|could you|we|i|you|need|want|should|have|"
    r"to|go ahead and)\W+)*(?:implement|fix|add|refactor|rename|convert|remove|replace|change|update|migrate|extract|"
    r"move|rewrite|create|build|debug|investigate|integrate|support|encapsulate|address|"
    r"(?:check|try)(?= (?:\w+ ){0,3}(?:tests?|lint|vet|build)\b))\b",
    re.IGNORECASE,
)
"""What a prompt that asks for a change comes to will have to be checked."""
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
    talks: sqlite3.Connection, entries: sqlite3.Connection | None, project: str, session: str, prompt: str,
    branch: str = "", *, early: bool = True,
) -> list[Told]:  # fmt: skip
    """The lines of a project for a prompt on a branch, at most three, best first; those for a session that begins only
    where it is `early`. Raises sqlite3.Error."""
    threads = threads_of(talks, project, session)
    if not threads:
        return []
    prompt = prompt[:PROMPT_CHARACTERS]
    told = _lessons(entries, threads, prompt) if entries is not None else []
    asked = asked_here(talks, threads, telling(prompt))
    works = _ASKS_WORK.search(prompt) is not None
    told += on_branch(talks, threads, branch, asked, works=works) if early else []
    if asked is not None:
        told += again(talks, threads, asked)
        told += [row for row in speaking(talks, entries, threads, asked) if adds(prompt, row.text)]
    told += _checks(talks, project, session) if (works and early) or _ASKS_CHECKS.search(prompt) else []
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
    """Kept lines about a command for what is asked that failed here, or that the user refused, newest first."""
    asked = [(name, command) for name, asks, command in _KINDS if re.search(asks, prompt, re.IGNORECASE)]
    if not asked:
        return []
    names = {thread.name: thread for thread in threads.values()}
    sql = (
        "SELECT text, provenance FROM entries WHERE kind = 'bullet' AND key NOT LIKE 'tasks%'"
        " AND (text LIKE '%fails (%' OR text LIKE '%the user %') ORDER BY date DESC LIMIT 300"
    )
    told = []
    for text, provenance in entries.execute(sql):
        thread = names.get(source_of(provenance))
        found = _LESSON.search(text) if thread is not None else None
        command = (found["command"] or found["refused"]) if found else ""
        kind = next((name for name, does in asked if re.search(does, command)), "")
        if kind and thread is not None:
            told.append(Told(cut(" ".join(text.split())), thread.name, thread.day, 1.5, f"kind of work: {kind}"))
    return told[:1]


def _checks(talks: sqlite3.Connection, project: str, session: str) -> list[Told]:
    """The commands that check here."""
    sql = (
        "WITH newest AS (SELECT id, name, substr(ended, 1, 10) AS day FROM conversations"
        " WHERE project = ? AND session <> ? ORDER BY ended DESC LIMIT ?)"
        " SELECT c.key, count(*), count(DISTINCT c.thread), max(v.name), max(v.day) FROM newest v"
        " CROSS JOIN commands c ON c.thread = v.id WHERE c.failed = 0"
        " GROUP BY c.key HAVING count(*) >= ? AND count(DISTINCT c.thread) >= ? ORDER BY 3 DESC, 2 DESC LIMIT 200"
    )
    kept: dict[str, tuple[str, int]] = {}
    place, day = "", ""
    for key, times, _, name, last in talks.execute(sql, (project, session, MAX_SESSIONS, LEAST_PASSES, LEAST_SESSIONS)):
        kind = _kind_of(key)
        if kind and kind not in kept and "/" not in key.replace("./...", "") and "&&" not in key:
            kept[kind] = (key, times)
            place, day = max((place, day), (name, last), key=lambda row: row[1])
    if not kept:
        return []
    shown = ", ".join(f"`{key}` ({times}×)" for key, times in list(kept.values())[:MAX_CHECKS])
    return [Told(f"checks that passed here: {shown}", place, day, 1.2, "checks")]


def _kind_of(key: str) -> str:
    meant = goals(key)
    return next((kind for kind, words in _CHECKS.items() if meant & set(words)), "")
