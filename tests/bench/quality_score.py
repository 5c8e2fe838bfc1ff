"""How well items agree with labels: what is found, what is missed, what is made up."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.bench.quality_labels import Case, normal

Harvested = Mapping[str, Sequence[Mapping[str, str]]]
Distiller = Callable[[Case], Harvested]
KEYWORDS = {
    "questions": re.compile(r"\?\s*$"),
    "tasks_open": re.compile(
        r"\?|\b(?:please|pls|(?:can|could|would|will) you|let me know|need to|todo|action|should|must|"
        r"(?:to|will) (?:send|create|make|merge|check|open|review|write|add|update|contact|ping))\b",
        re.IGNORECASE,
    ),
    "decisions": re.compile(
        r"\b(?:decid|decision|agree|resol|will (?:use|adopt|be|add|remove|publish|accept)|we will|approve|consensus|"
        r"adopt|accept|chosen|choose)",
        re.IGNORECASE,
    ),
    "playbooks": re.compile(
        r"^(?:sudo|git|docker|kubectl|npm|pip|apt|cd|\$ ?)\b|\s--?\w|^(?:check|verify|run|make sure|ensure|restart|"
        r"update|use|if|look|increase|set)\b",
        re.IGNORECASE,
    ),
}


@dataclass
class Score:
    """Counts over the cases of a set. A wrong one is an item that no label supports."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 0.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (2 * self.right + self.wrong + self.missed) if self.right else 0.0

    def add(self, other: Score) -> None:
        self.right += other.right
        self.wrong += other.wrong
        self.missed += other.missed


@dataclass
class Cleanliness:
    """What is wrong with items whatever they say: without support in the source, repeated, or none at all."""

    items: int = 0
    junk: int = 0
    repeated: int = 0
    conversations: int = 0
    empty: int = 0
    seen: set[str] = field(default_factory=set)

    def add(self, harvested: Harvested, source: str) -> None:
        words = set(normal(source).split())
        found = [" ".join(texts([row], category)) for category, rows in harvested.items() for row in rows]
        found = [text for text in found if text]
        self.conversations += 1
        self.empty += not found
        for text in found:
            key = normal(text)
            self.items += 1
            self.repeated += key in self.seen
            self.seen.add(key)
            own = [word for word in key.split() if len(word) > 3]
            self.junk += sum(word in words for word in own) < 0.7 * len(own)


def texts(rows: Iterable[Mapping[str, str]], category: str) -> list[str]:
    """What an answer's rows say, one text each; a playbook gives one for each step."""
    found: list[str] = []
    for row in rows:
        if category == "playbooks":
            found += [
                step.strip()
                for step in re.split(r" && |; |\n|(?:^| )\d{1,2}[.)] ", row.get("steps", ""))
                if step.strip()
            ]
        elif category == "files":
            found.append(row.get("note", ""))
        else:
            found.append(" ".join(filter(None, (row.get("statement", ""), row.get("detail", "")))))
    return [text for text in found if normal(text)]


def score(case: Case, category: str, found: Sequence[str], same: Callable[[str, str], bool] | None = None) -> Score:
    """Compare what was found with what was marked. Each label counts once; the same words twice count once.

    `same` says whether two statements agree; `alike` unless told otherwise."""
    same = same or alike
    open_ = [normal(text) for text in case.gold.get(category, ()) if normal(text)]
    total, right, wrong = len(open_), 0, 0
    if case.whole:
        yes = bool(found)
        return Score(int(yes and total > 0), int(yes and not total), int(not yes and total > 0))
    told: set[str] = set()
    late: list[str] = []
    for text in found:
        key = normal(text)
        if key in told or (case.judged is not None and key not in case.judged):
            continue
        told.add(key)
        if key in open_:
            open_.remove(key)
            right += 1
        else:
            late.append(key)
    for key in late:
        match = next((gold for gold in open_ if same(key, gold)), None)
        if match is not None:
            open_.remove(match)
            right += 1
        elif not any(key in free or free in key for free in case.neutral):
            wrong += 1
    return Score(right, wrong, total - right)


def alike(one: str, other: str) -> bool:
    """Whether two statements, as `normal` gives them, say the same: most words of one stand in the other."""
    short, long = sorted((one, other), key=len)
    if short in long and len(short) > 0.5 * len(long):
        return True
    first, second = set(one.split()), set(other.split())
    return len(first & second) >= 0.7 * len(first | second)


def near(one: str, other: str) -> bool:
    """Whether two statements in different words are about the same: they share half of their longer words."""
    first, second = ({word[:6] for word in text.split() if len(word) > 3} for text in (one, other))
    return len(first & second) >= 0.5 * min(len(first), len(second)) if min(len(first), len(second)) > 2 else False


def keyword_grep(case: Case, category: str) -> list[str]:
    return [unit for unit in case.units if KEYWORDS[category].search(unit)]


def every_unit(case: Case, category: str) -> list[str]:
    return list(case.units)
