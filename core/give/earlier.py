"""What earlier sessions did of the same: the request that was asked before, and the work on the branch that is checked
out. No likeness of single words: most of one request stands in the other, or the branch has that name.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Mapping
from itertools import pairwise

from core.give.sentences import Asked, Thread, Told, cut, parted, tells, turns_of
from core.search.words import STOP_WORDS, words_of

SAME, SAME_WORDS = 0.4, 6
"""So large a part of each request stands in the other, and so many words: a short one means another thing each time."""
SHOWN, CAME = 110, 260
BRANCH_WORDS = 2
"""So many rare words of a prompt stand in the session on its branch, unless the prompt asks for work."""
_HEAD = re.compile(r"ref: refs/heads/(\S+)")
_GITDIR = re.compile(r"gitdir: (.+)")


def again(talks: sqlite3.Connection, threads: Mapping[int, Thread], asked: Asked) -> list[Told]:
    """What came of the newest request that asked for the same. Raises sqlite3.Error."""
    told: list[Told] = []
    best = [id for id in asked.best if asked.mass(id) >= SAME * asked.whole]
    for thread, position, role, date, text in turns_of(talks, best):
        words = [word for word in dict.fromkeys(words_of(text)) if len(word) > 2 and word not in STOP_WORDS]
        known = asked.stems.learn(words)
        stems = {known[word] for word in words}
        if thread in threads and role == "user" and len(stems & asked.all) >= max(SAME_WORDS, SAME * len(stems)):
            one = threads[thread]
            if came := _came_of(talks, one, position):
                line = f"asked before: “{_short(text)}”; {came}"
                told.append(Told(line, f"{one.name}:{position + 1}", date or one.day, 3.0, "asked before", one.branch))
    return sorted(told, key=lambda row: row.day)[-1:]


def on_branch(
    talks: sqlite3.Connection, threads: Mapping[int, Thread], branch: str, asked: Asked | None, *, works: bool
) -> list[Told]:
    """What the last session on a branch was asked for and how it was left, where the prompt asks for work or has to do
    with it. Raises sqlite3.Error."""
    there = [one for one in threads.values() if branch and one.branch == branch]
    from core.give.still import MAIN

    if not there or branch in MAIN:
        return []
    one = max(there, key=lambda thread: (thread.day, thread.id))
    if not works:
        ids = talks.execute("SELECT id FROM turns WHERE thread = ?", (one.id,)) if asked is not None else ()
        shared = {stem for (id,) in ids for stem in asked.has.get(id, ())} if asked is not None else set()
        if len(shared) < BRANCH_WORDS:
            return []
    sql = (
        "SELECT position, text FROM turns WHERE thread = ? AND role = 'user' AND position >= 0 AND length(text) > 20"
        " ORDER BY position LIMIT 1"
    )
    first = talks.execute(sql, (one.id,)).fetchone()
    came = _came_of(talks, one, -1, last=True)
    if first is None or not came:
        return []
    line = f"the last session on `{branch}` was asked “{_short(first[1])}”; {came}"
    return [Told(line, one.name, one.day, 2.0, f"branch: {branch}")]


def _came_of(talks: sqlite3.Connection, thread: Thread, position: int, *, last: bool = False) -> str:
    """What came of a request: what closes its exchange, or else the session (with `last` that alone), and how the
    session was left; "" where nothing tells."""
    sql = (
        "SELECT role, text FROM turns WHERE thread = ? AND position > ? AND role IN ('user', 'assistant')"
        " AND text <> '' ORDER BY position"
    )
    rows = [*talks.execute(sql, (thread.id, position)), ("user", "")]
    ends = [text for (role, text), (then, _) in pairwise(rows) if (role, then) == ("assistant", "user")]
    for text in ends[-1:] if last else (*ends[:1], *ends[-1:]):
        if parts := [part for part in parted(text) if tells(part, done=True)]:
            return "; ".join(filter(None, (f"it came to: {cut(' '.join(parts[:2]), CAME)}", thread.state)))
    return thread.state


def _short(text: str) -> str:
    return cut(" ".join(text.split()), SHOWN)


def branch_of(folder: str) -> str:
    """The branch that is checked out where a folder (its real path) lies, read from git's own file; "" for none."""
    from core.base.project import repository_root

    root = repository_root(folder)
    git = os.path.join(root, ".git")
    if not root:
        return ""
    try:
        if os.path.isfile(git):
            with open(git, encoding="utf-8", errors="replace") as file:
                found = _GITDIR.match(file.read(4096))
            git = os.path.join(root, found[1].strip()) if found else git
        with open(os.path.join(git, "HEAD"), encoding="utf-8", errors="replace") as file:
            head = _HEAD.match(file.read(4096))
    except OSError:
        return ""
    return head[1] if head else ""
