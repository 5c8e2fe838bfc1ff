"""`python -m tests.quality.exam.grep [--json FILE]`: what a plain search of the raw files gives, the floor of the exam.

For each question the words that say something (without stop words) are counted in the transcripts of its repository,
as `grep -oiF -e WORD -e WORD …` finds them: anywhere, whatever the case. The session with the most comes first
("most"), or that with the most different words ("different", then with the most). Snapshots of one session count as
one. Then its best lines (`LINES`; those with the most different words, of these the shortest): how many characters they
have, since one line of a transcript is a whole record, and whether the passage stands in them as `score.py` judges it.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from core.conversations.read import read_conversation
from core.search.words import FOREIGN_STOP_WORDS, STOP_WORDS, words_of
from tests.quality.exam.__main__ import arguments, sessions, write_rows
from tests.quality.exam.score import FIRST, NEVER, Question, has_point
from tests.quality.real_home import CONVERSATIONS, repository_of

LINES = 5
ORDERS: dict[str, Callable[[Sequence[int]], tuple[int, int]]] = {
    "most": lambda counts: (sum(counts), 0),
    "different": lambda counts: (sum(map(bool, counts)), sum(counts)),
}


class Found(NamedTuple):
    """The place of the right session by each order (0 for none), the characters of the best lines of all, and whether
    the passage is in them."""

    ranks: dict[str, int]
    characters: int
    passage: bool


def words_asked(question: str) -> list[str]:
    """The words that are looked for."""
    words = dict.fromkeys(word for word in words_of(question) if len(word) > 1)
    return [word for word in words if word not in STOP_WORDS | FOREIGN_STOP_WORDS]


def grepped(question: Question, files: Sequence[str], text_of: Callable[[str], str], same: frozenset[str]) -> Found:
    """The search of these files (names of sessions) for one question; `same` are the snapshots of its session."""
    words = words_asked(question.question)
    counts = {file: [text_of(file).count(word) for word in words] for file in files}
    ranks = {}
    for name, order in ORDERS.items():
        best = sorted((file for file in files if any(counts[file])), key=lambda file: order(counts[file]), reverse=True)
        ranks[name] = next((at for at, file in enumerate(best, start=1) if file in same), 0)
    lines = {line for file in files for line in text_of(file).splitlines() if any(word in line for word in words)}
    shown = sorted(lines, key=lambda line: (-sum(word in line for word in words), len(line), line))[:LINES]
    passage = any(has_point(line, point, question.question) for line in shown for point in question.points)
    return Found(ranks, sum(map(len, shown)), passage)


@cache
def raw(session: str) -> str:
    """A transcript as it lies there, in lower case."""
    return (CONVERSATIONS / session).read_text(encoding="utf-8", errors="replace").lower()


@cache
def session_id(session: str) -> str:
    """What several snapshots of a session have in common."""
    talk = read_conversation(Path(session).name, (CONVERSATIONS / session).read_bytes())
    return session if talk.id == Path(session).name else f"{talk.format} {talk.id}"


def table(asked: Sequence[Question], found: Sequence[Found]) -> list[str]:
    """A line a kind, and their sum; of questions to which nobody said the answer only how much comes."""
    lines = [
        f"{'grep':20} {'asked':>5} {'most: 1':>9} {'of 3':>9} {'diff.: 1':>9} {'of 3':>9} {'passage':>9} {'chars':>9}"
    ]
    known = [kind for kind in dict.fromkeys(one.kind for one in asked) if kind != NEVER]
    for kind in (*known, "", NEVER):
        pairs = zip(asked, found, strict=True)
        rows = [row for one, row in pairs if one.kind == kind or (not kind and one.kind != NEVER)]
        if not rows:
            continue
        cells = [f"{'-':>9}"] * 5
        if kind != NEVER:
            ranks = [[row.ranks[name] for row in rows] for name in ORDERS]
            numbers = [number for by in ranks for number in (by.count(1), sum(0 < rank <= FIRST for rank in by))]
            cells = [f"{number:9}" for number in (*numbers, sum(row.passage for row in rows))]
        middle = statistics.median(row.characters for row in rows)
        lines.append(f"{kind or 'all':20} {len(rows):5} {' '.join(cells)} {middle:9.0f}")
    return lines


def main() -> None:
    """Print the table."""
    asked, file = arguments("tests.quality.exam.grep", main.__doc__)
    found, everything = [], sessions()
    for question in asked:
        files = [session for session in everything if repository_of(session) == repository_of(question.about)]
        own = session_id(question.session) if question.session else ""
        found.append(grepped(question, files, raw, frozenset(file for file in files if session_id(file) == own)))
    sys.stdout.write("\n".join(table(asked, found)) + "\n")
    pairs = zip(asked, found, strict=True)
    write_rows(file, [{"id": one.id, "kind": one.kind, **row._asdict()} for one, row in pairs])


if __name__ == "__main__":
    main()
