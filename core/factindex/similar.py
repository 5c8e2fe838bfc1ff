"""Facts that nearly say the same: listed for the user, never merged by themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rapidfuzz import fuzz

from core.base.entry import statement_key
from core.factindex.facts import GLOBAL, Fact

LIKENESS = 82.0
"""From which on two texts are listed, of 100 (token sort ratio: the order of words does not matter)."""
_KEYS = 4
_CROWD = 64
"""A word that more facts of a domain share than this says nothing about likeness."""


@dataclass(frozen=True)
class Pair:
    """Two facts and how alike they are, of 100. `first` has the lower id."""

    first: Fact
    second: Fact
    likeness: float

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {"likeness": round(self.likeness, 1), "first": self.first.to_json(), "second": self.second.to_json()}


def similar_pairs(facts: Iterable[Fact]) -> list[Pair]:
    """All pairs of one domain (or of a domain and `global`) that are alike, the most alike first.

    Two texts are compared only when they share one of their rarest words, so the time grows with the number of facts
    and not with its square.
    """

    rows = [(fact, statement_key(fact.fact)) for fact in facts]
    words = [frozenset(word for word in text.split() if len(word) > 2) or frozenset((text,)) for _, text in rows]
    number: dict[str, int] = defaultdict(int)
    for row in words:
        for word in row:
            number[word] += 1
    by_word: dict[str, list[int]] = defaultdict(list)
    found: list[Pair] = []
    for at, (fact, text) in enumerate(rows):
        rare = sorted((word for word in words[at] if number[word] <= _CROWD), key=lambda word: (number[word], word))
        near: set[int] = set()
        for word in rare[:_KEYS]:
            near.update(by_word[word])
        for other in sorted(near):
            against, its_text = rows[other]
            if fact.domain != against.domain and GLOBAL not in (fact.domain, against.domain):
                continue
            score = fuzz.token_sort_ratio(text, its_text, score_cutoff=LIKENESS)
            if score:
                found.append(Pair(against, fact, score))
        for word in rare:
            by_word[word].append(at)
    return sorted(found, key=lambda pair: (-pair.likeness, pair.first.id, pair.second.id))
