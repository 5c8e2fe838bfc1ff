"""Bullets that are alike, and those that seem to contradict: lists for a user, who alone decides.

Nothing is merged and nothing is struck through by a rule. A pair is looked at only when the two share one of their
rarest words, so that ten thousand bullets are compared in a moment and not pair by pair.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.base.markdown import BY_HAND, Bullet
from core.base.project import is_below, same_key
from core.knowledge.projects import Projects, projects_of
from core.knowledge.same import Statement, mark_of_text, statements

_MARKS = str.maketrans("", "", "`*_\"'")
LEAST_ALIKE = 85
RAREST = 4
COMMON = 100
"""A word that more bullets than this have in common says nothing about any two of them."""
SHARED_WORDS, SHARED_PART, VALUE_WORDS = 2, 0.5, 3

_NOTE_ON = re.compile(r"`?(?P<path>[^\s`:]*(?:[/\\][^\s`:]*|\.[A-Za-z]\w{0,9}))`?: ")
_STEPS = re.compile(r"→|->|=>|(?:^| )1 .+ 2 ")
"""What stands between steps, or before them, in a key: they say something else in another order."""
_WORD = re.compile(r"[^\W_]+(?:[._:/+#-][^\W_]+)*\+*#?")


def _set(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


_STOP = _set("a an the of and or that this it its as so then also now")
# `flat` takes apostrophes out.
_NEGATIONS = _set("not no never none without cannot cant dont doesnt isnt arent wont shouldnt")
_OPPOSITES = {
    frozenset(pair.split("/"))
    for pair in _set(
        "on/off true/false yes/no enabled/disabled enable/disable always/never required/optional allow/deny",
        "before/after sync/async public/private mutable/immutable up/down start/stop use/avoid",
    )
}
# A value stands after one of these: `port is 8080`, `uses Redis`, `written in Go`.
_BEFORE_VALUE = _set(
    "is are was be becomes equals use uses using used with by in on at to from for needs requires prefers prefer",
    "runs listens supports chose chosen choose version port default defaults",
)
# Of two lines that a user typed, who wrote both on purpose, only the plainest of these.
_BEFORE_TYPED_VALUE = _set("is are was be equals use uses port version default defaults")


@dataclass(frozen=True)
class Placed:
    """A statement with the category and the file (below the knowledge folder) it stands in."""

    category: str
    file: str
    statement: Statement

    @property
    def bullet(self) -> Bullet:
        return self.statement.bullet


@dataclass(frozen=True)
class Alike:
    """Two statements of one category, `score` 0 to 100; `first` stands before `second` in the file."""

    first: Placed
    second: Placed
    score: float


@dataclass(frozen=True)
class Superseding:
    """A proposal: `new` seems to say otherwise than `old` about the same subject. `why` is a few words; `key` names
    the pair for as long as neither is edited."""

    old: Placed
    new: Placed
    why: str
    act: str = "supersede"
    """What accepting it does to the old one: `supersede` and `retract` strike it through, `done` moves an open task."""
    kind: str = ""
    """Of what a model has offered: a key of OFFER_WORDS; "" for what comparing found."""

    @property
    def key(self) -> str:
        return hashlib.sha256(f"{self.old.bullet.raw}\n{self.new.bullet.raw}".encode()).hexdigest()[:16]


def flat(key: str) -> str:
    """What a statement says (its key) without the marks that stand in the middle of words: for comparing letters."""
    return key.translate(_MARKS)


def placed(category: str, file: str, bullets: Sequence[Bullet]) -> list[Placed]:
    """The statements of a file that are not struck through."""
    return [Placed(category, file, row) for row in statements(bullets) if not row.bullet.struck and row.bullet.text]


def alike(rows: Sequence[Placed], least: float = LEAST_ALIKE) -> list[Alike]:
    """Pairs of one category whose texts are alike by at least `least` of 100, the likest first."""
    texts = [flat(row.bullet.key) for row in rows]
    found = [
        Alike(rows[one], rows[other], score)
        for one, other, score in near_pairs(texts, [row.category for row in rows], least)
        if texts[one] != texts[other]
    ]
    return sorted(found, key=lambda pair: (-pair.score, pair.first.file, pair.first.bullet.line))


def near_pairs(texts: Sequence[str], groups: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """The places of two `texts` of one group, and how alike they are, 0 to 100, in whatever order their words stand,
    but for steps: from `least` on. The texts are keys."""
    from rapidfuzz import fuzz, process  # a glance at what waits compares no letters

    # As fuzz.token_sort_ratio compares them, but each is sorted once and not with every other.
    in_order = [text if _STEPS.search(text) else " ".join(sorted(text.split())) for text in texts]
    for at, near in _candidates(groups, [_words(text) for text in texts]):
        scores = dict[int, float]()
        for words in (texts, in_order):
            before = [words[other] for other in near]
            for _, score, place in process.extract_iter(words[at], before, scorer=fuzz.ratio, score_cutoff=least):
                scores[near[place]] = max(score, scores.get(near[place], 0.0))
        yield from ((other, at, round(scores[other], 1)) for other in near if other in scores)


def superseding(rows: Sequence[Placed]) -> list[Superseding]:
    """Pairs of one category in which the newer statement, from another conversation or written by hand, has another
    value, the opposite word or a negation where the older one has not, and else speaks of the same. Oldest first."""
    words = [_words(flat(row.bullet.key)) for row in rows]
    sets = [set(some) for some in words]
    found: list[Superseding] = []
    groups = [row.category for row in rows]
    pairs = ((one, other) for other, near in _candidates(groups, words) for one in near)
    for one, other in pairs:
        shared, longer = len(sets[one] & sets[other]), max(len(sets[one]), len(sets[other]))
        if not (SHARED_WORDS <= shared >= SHARED_PART * longer and longer - shared <= VALUE_WORDS):
            continue  # they have too little in common to speak of the same
        first, second = rows[one], rows[other]
        old, new = (first, second) if age_of(first) <= age_of(second) else (second, first)
        if old.bullet.provenance is None or new.bullet.provenance is None:
            continue
        if old.bullet.provenance.source == new.bullet.provenance.source != BY_HAND:
            continue  # one conversation may weigh both; what is written by hand is written on its own
        files = {_file_of(old.bullet.text), _file_of(new.bullet.text)} - {""}
        if len(files) > 1:
            continue  # notes on two files speak of two things, however alike they are
        typed = old.bullet.provenance.source == new.bullet.provenance.source
        before = _BEFORE_TYPED_VALUE if typed else _BEFORE_VALUE
        earlier, later = (words[one], words[other]) if old is first else (words[other], words[one])
        why = _contradiction(earlier, later, before)
        if why:
            found.append(Superseding(old, new, why))
    return sorted(found, key=lambda pair: (pair.old.file, pair.old.bullet.line, age_of(pair.new)))


OFFER_WORDS = {
    "supersedes": "a later conversation says otherwise",
    "finishes": "a later conversation finished it",
    "answers": "a later conversation answers it",
    "retracts": "a later conversation takes it back",
}


ACT_ALONE = {"finishes": "done", "retracts": "retract"}
"""Kinds of offer that need no newer line -> what accepting one does."""


def offered(rows: Sequence[Placed], offers: Iterable[Mapping[str, Any]], projects: Projects) -> list[Superseding]:
    """What models have said of lines of the store (`offers`, as ledger entries keep them), as far as both lines still
    stand as they were. A task that is said to be finished without a line about that is its own news, and so is what is
    taken back. A task that several projects have is finished by none: a yes would end it in all of them."""
    by_mark: dict[str, list[Placed]] = {}
    for row in rows:
        by_mark.setdefault(mark_of_text(row.bullet.text), []).append(row)
    found: dict[str, Superseding] = {}
    for offer in offers:
        kind, old, new = (offer.get(key) for key in ("kind", "old", "new"))
        if kind not in OFFER_WORDS or not isinstance(old, str):
            continue
        category = {"finishes": "tasks_open", "answers": "questions"}.get(kind)
        olds = [
            row for row in by_mark.get(old, ()) if category in (None, row.category) and row.category != "tasks_done"
        ]
        if kind == "finishes":
            olds = [row for row in olds if _is_of_one_project(row, projects)]
        alone = kind in ACT_ALONE
        news = by_mark.get(new, []) if isinstance(new, str) else olds if alone else []
        if olds and news and (news[0] != olds[0] or alone):
            act = ACT_ALONE.get(kind, "supersede")
            pair = Superseding(olds[0], news[0], OFFER_WORDS[kind], act, kind)
            found.setdefault(pair.key, pair)
    return list(found.values())


def offers_in(
    entries: Mapping[str, Mapping[str, Any]], rows: Sequence[Placed], projects: Projects | None = None
) -> list[Superseding]:
    """What models have said of `rows`, as the entries of the ledger keep it; `projects` where the caller has what
    `projects_of` says of them."""
    kept = (entry.get("offers") for entry in entries.values())
    offers = [offer for some in kept if isinstance(some, list) for offer in some if isinstance(offer, dict)]
    if projects is None and any(offer.get("kind") == "finishes" for offer in offers):
        projects = projects_of(entries)
    return offered(rows, offers, projects or Projects()) if offers else []


def _is_of_one_project(row: Placed, projects: Projects) -> bool:
    """Whether all conversations that said a statement worked in one project, or in none that is known: in a plain
    folder of it, or in another place of the same repository, too."""
    came = (one for bullet in (row.bullet, *row.statement.others) for one in (bullet.provenance, *bullet.again))
    roots = {root for one in came if one is not None for root in projects.get(one.source, ()) if root}
    keys = {root: projects.places.get(root, "") for root in roots}
    tops = [
        root for root, key in keys.items() if key or not any(root != other and is_below(root, other) for other in roots)
    ]
    return all(same_key(keys[root], keys[tops[0]]) for root in tops[1:])


def _file_of(text: str) -> str:
    """The file that a text is a note on ("PATH: note"), "" for none."""
    found = _NOTE_ON.match(text)
    return found["path"] if found is not None else ""


def age_of(row: Placed) -> tuple[str, int]:
    """The day and the line of a bullet: of two the smaller is the older."""
    provenance = row.bullet.provenance
    return (provenance.date if provenance is not None else "", row.bullet.line)


def _words(text: str) -> list[str]:
    # Interned: what is looked up a million times is found by its address.
    return [sys.intern(word) for word in _WORD.findall(text) if word not in _STOP]


def differs_in_value(one: str, other: str) -> bool:
    """Whether two flat texts differ in a figure, or one of them says not."""
    first, second = set(_words(one)), set(_words(other))
    apart = first ^ second
    return any(map(_is_value, apart)) or bool(apart & _NEGATIONS) or _opposite(first, second)


def says_the_contrary(one: str, other: str) -> bool:
    """Whether one of two flat texts says not and the other does not, or one says the opposite of a word."""
    first, second = set(_words(one)), set(_words(other))
    return first.isdisjoint(_NEGATIONS) != second.isdisjoint(_NEGATIONS) or _opposite(first, second)


def _opposite(first: set[str], second: set[str]) -> bool:
    return any(frozenset((a, b)) in _OPPOSITES for a in first - second for b in second - first)


def _candidates(groups: Sequence[str], words: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[int]]]:
    """A text, and those of its group before it that share one of the rarest words of either."""
    counts = Counter(word for found in words for word in set(found))
    having: dict[str, dict[str, list[int]]] = {group: {} for group in groups}
    for at, found in enumerate(words):
        earlier, near = having[groups[at]], set[int]()
        for word in set(found):
            if counts[word] <= COMMON:
                near.update(earlier.get(word, ()))
        if near:
            yield at, sorted(near)
        for word in sorted(sorted(set(found)), key=counts.__getitem__)[:RAREST]:
            earlier.setdefault(word, []).append(at)


def _contradiction(old: Sequence[str], new: Sequence[str], before: frozenset[str]) -> str:
    """What differs between two statements about the same, in a few words; "" when they do not differ in a value. A
    value that is no number is one after a word of `before`."""
    shared = set(old) & set(new)
    gone, came = [word for word in old if word not in shared], [word for word in new if word not in shared]
    negated = bool(_NEGATIONS & set(gone)) != bool(_NEGATIONS & set(came))
    if negated and len([word for word in (*gone, *came) if word not in _NEGATIONS]) <= 1:
        return "one says not"
    if not gone or not came:
        return ""
    change = f"{' '.join(gone)} -> {' '.join(came)}"
    if len(gone) == len(came) == 1 and _opposite(set(gone), set(came)):
        return change
    together = _run(old, gone) and _run(new, came)
    if all(map(_is_value, (*gone, *came))):
        return change if together else ""  # of "service 1 on port 801" and "service 4 on port 804" both hold
    one, other = _before(old, gone[0]), _before(new, came[0])
    return change if together and one == other and one in before else ""


def _is_value(word: str) -> bool:
    return any(map(str.isdigit, word))


def _before(words: Sequence[str], word: str) -> str:
    at = words.index(word)
    return words[at - 1] if at else ""


def _run(words: Sequence[str], some: Sequence[str]) -> bool:
    """Whether `some` stand side by side in `words`."""
    at = words.index(some[0])
    return list(words[at : at + len(some)]) == list(some)
