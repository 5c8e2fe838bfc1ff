"""Patterns in usage: what works together, and what is better for a task.

Everything here is arithmetic on plain records, so that a pattern can be told with its numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

from core.experience.kinds import Tally, success
from core.library.records import UsageTrace
from core.search.words import STOP_WORDS, Stems, words_of

JOINT_WINS, FULL_WEIGHT = 3, 10
"""From so many joint successes two chunks complement each other; with so many fully."""
BETTER_BY, ALIKE = 0.3, 0.5
"""A chunk is better for a task by at least this difference of success, on questions that have so much in common."""
MAX_CHUNKS_PER_TRACE, MAX_CHUNKS_PER_TASK = 20, 300
"""At most this many chunks of one use, and of one task, are compared with each other."""


class Pair(NamedTuple):
    """Two chunks that go together; of `better_for` the first is the better one, at `task_type`."""

    one: str
    other: str
    relation: str
    weight: float
    task_type: str = ""
    note: str = ""


# --- together ---------------------------------------------------------------------------------------------------------


def joint_wins(traces: Iterable[UsageTrace]) -> Counter[tuple[str, str]]:
    """How often two chunks succeeded together: in one winning trace, or each in its own for one question of a
    session."""
    found: Counter[tuple[str, str]] = Counter()
    apart: dict[tuple[str, str], list[UsageTrace]] = {}
    for trace in traces:
        if trace.outcome != "win":
            continue
        found.update(combinations(sorted(set(trace.chunk_ids))[:MAX_CHUNKS_PER_TRACE], 2))
        if trace.retrieval_id or (trace.session_id and trace.query):
            apart.setdefault((trace.session_id, trace.retrieval_id or trace.query), []).append(trace)
    for group in apart.values():
        inside = {pair for trace in group for pair in combinations(sorted(set(trace.chunk_ids)), 2)}
        whole = sorted({chunk for trace in group for chunk in trace.chunk_ids})[:MAX_CHUNKS_PER_TRACE]
        found.update(pair for pair in combinations(whole, 2) if pair not in inside)
    return found


def complements(traces: Iterable[UsageTrace]) -> list[Pair]:
    """Chunks that succeeded together three times or more."""
    return [
        Pair(one, other, "complements", min(1.0, number / FULL_WEIGHT), note=f"{number} joint wins")
        for (one, other), number in sorted(joint_wins(traces).items())
        if number >= JOINT_WINS
    ]


# --- better for a task ------------------------------------------------------------------------------------------------


def better_for(traces: Iterable[UsageTrace], tallies: Mapping[str, Tally], stems: Stems) -> list[Pair]:
    """Of two chunks that were used for similar questions, the one that served a kind of task clearly better."""
    asked: dict[str, dict[str, set[frozenset[str]]]] = {}
    for trace in traces:
        words = [word for word in words_of(trace.query or trace.context_summary) if word not in STOP_WORDS]
        learned = stems.learn(words)
        question = frozenset(learned[word] for word in words)
        for chunk in trace.chunk_ids:
            asked.setdefault(trace.task_type, {}).setdefault(chunk, set()).add(question)
    found = []
    for task, chunks in sorted(asked.items()):
        rates = {chunk: success(tallies.get(chunk, {}).get(task, {})) for chunk in sorted(chunks)}
        known = {chunk: rate for chunk, rate in rates.items() if rate is not None}
        best = sorted(known, key=lambda chunk: (-len(chunks[chunk]), chunk))[:MAX_CHUNKS_PER_TASK]
        for one, other in combinations(sorted(best), 2):
            if known[one] < known[other]:
                one, other = other, one
            gap = known[one] - known[other]
            if gap >= BETTER_BY - 1e-9 and _alike(chunks[one], chunks[other]):
                note = f"success {known[one]:.2f} against {known[other]:.2f}"
                found.append(Pair(one, other, "better_for", round(gap, 4), task, note))
    return found


def _alike(one: set[frozenset[str]], other: set[frozenset[str]]) -> bool:
    if one & other:
        return True
    return any(
        left and right and len(left & right) / len(left | right) >= ALIKE
        for left in sorted(one, key=sorted)[:50]
        for right in sorted(other, key=sorted)[:50]
    )
