"""Fits the weights of `core/search/weights.py` on several collections at once, says what they are worth where they were
not fitted, and writes them there.

Every candidate of every question gets its features from the product itself. A listwise softmax is fitted to the entries
that answer, each collection counting by its share, then one to the threads, with the scores of the entries as the first
weights give them. What is reported is twice left out: the whole collection (and with it what another one asks about the
same repositories), and, with all the others at hand, one part after the other of the collection itself (a conversation,
a repository). What is written is fitted on everything: the weights for words, and with `--embedder` in the same run
those for words with vectors. A look at a part of the questions, or without a feature or a set, writes nothing.

    python -m tests.bench.retrieval_fit [--embedder minilm] [--without NAME …] [--every N]
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
import time
import zlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.base.entry import Embed
from core.search import query as searching
from core.search import rank
from core.search import weights as shipped
from core.search.candidates import EVERYTHING
from core.search.index import Index
from core.search.weights import Alike, Marks
from core.search.words import Stems
from tests.bench.minilm import minilm
from tests.bench.retrieval import meaning, scored, shelf
from tests.bench.retrieval_sets import Collection, coding, friendsqa, is_there, kept, locomo, molweni, qmsum, renamed

Table = Any
"""A numpy array of floats: a row for each candidate, a column for each feature."""
ROUNDS, STEP, SHRINK = 120, 0.12, 1e-3
BEST, OTHERS = 100, 100
"""Of the candidates of a question so many are fitted on: the likeliest, and others by lot; and all that answer."""
PARTS = 5


class Source(NamedTuple):
    """A set to fit on and to judge by. `pooled` makes one index of it; of the others every `every`th question is
    fitted on. The shares say how much it counts for entries and for threads."""

    set: str
    load: Callable[[], Iterator[Collection]]
    pooled: bool
    every: int
    entries: float
    threads: float


SOURCES = {
    "locomo": Source("locomo", locomo, False, 2, 0.6, 1.0),
    "renamed": Source("locomo", renamed, False, 4, 0.6, 1.0),
    "friendsqa": Source("friendsqa", friendsqa, False, 2, 1.0, 0.0),
    "qmsum": Source("qmsum", qmsum, False, 1, 1.0, 0.0),
    "molweni": Source("molweni", molweni, False, 4, 0.4, 0.0),
    "coding": Source("coding", coding, True, 1, 1.0, 1.0),
    "kept": Source("kept", kept, True, 1, 0.5, 0.5),
    "scenes": Source("friendsqa", friendsqa, True, 8, 0.0, 1.0),
}
"""`renamed` is no collection of its own: it is left out with LoCoMo; nor is `kept`, with `coding`."""
BESIDE = {"coding": "kept"}
"""A set, and the one that asks about the same sessions in the words of other readers."""


class Group(NamedTuple):
    """One question to learn from: its candidates, and which of them answer it."""

    rows: Table
    wanted: Sequence[int]


_LIKELY = [Marks._fields.index(name) for name in ("match", "around", "pair", "thread_best", "dated", "dated_after")]


@dataclass
class Question:
    """One question with everything that can be found for it: the `keys` of entries ("" for a heading) with the numbers
    of their `threads`, whose `names` are these. `part` is what it is left out with."""

    part: str
    rows: Table
    keys: list[str]
    threads: list[str]
    wanted: frozenset[str]
    wanted_threads: frozenset[str]
    names: Mapping[int, str]
    features: rank.Features

    @cached_property
    def group(self) -> Group | None:
        """What to learn of its entries: nothing where none of those that answer is a candidate."""
        wanted = [at for at, key in enumerate(self.keys) if key in self.wanted]
        if not wanted:
            return None
        order = np.argsort(-self.rows[:, _LIKELY].sum(1), kind="stable")
        lot = np.random.default_rng(len(order)).permutation(order[BEST:])[:OTHERS]
        kept = np.union1d(np.concatenate([order[:BEST], lot]), wanted)
        return Group(self.rows[kept], np.searchsorted(kept, wanted).tolist())

    def thread_rows(self, scores: Table) -> tuple[list[str], Table]:
        """The threads with their features, once the entries have these scores."""
        held: dict[str, list[float]] = {}
        for at in np.argsort(-scores, kind="stable"):
            held.setdefault(self.threads[at], []).append(float(scores[at]))
        near = self.features.of_near_thread if self.features.near else lambda _name: ()
        made = {name: (*marks, *near(name)) for name, marks in self.features.of_threads(held).items()}
        return [self.names[int(name)] for name in made], np.array(list(made.values()))


def questions(collections: Sequence[Collection], embed: Embed | None, every: int = 1) -> Iterator[Question]:
    """Questions that have any candidate, put to one index of all these collections."""
    entries = [entry for one in collections for entry in one.entries]
    thread_of = {entry.key: entry.thread for entry in entries}
    width = len(_names(embed))
    with shelf(entries, embed) as (database, keys, names):
        index = Index(database, Stems())
        for part, asked in [(one.name, asked) for one in collections for asked in one.asked][::every]:
            near = meaning(database, asked.text, embed)
            _, _, ranked, features = searching.rank_all(index, asked.text, EVERYTHING, 10, near)
            places = [(one.seen, keys.get((int(one.seen.row.thread), one.seen.row.position), "")) for one in ranked]
            places = [(one, key) for one, key in places if key != asked.own or not key]
            rows = [(*features.of(one), *(features.of_near(one) if near else ())) for one, _ in places]
            if not features.query.moments:  # what conversations are ranked by stays, a text for each candidate goes
                features.seen = ()
            features.places, features.matches, features.exchanges, features.around = {}, {}, {}, {}
            yield Question(
                part,
                np.array(rows, np.float32).reshape(len(rows), width),
                [key for _, key in places],
                [one.row.thread for one, _ in places],
                asked.answers,
                frozenset(thread_of[key] for key in asked.answers),
                names,
                features,
            )


def fit(sets: Sequence[tuple[float, Sequence[Group]]], rounds: int = ROUNDS) -> Table:
    """Weights that make the wanted rows of each group likely: a softmax over the group, by Adam from nothing. Each set
    counts by its share, however many groups it has."""
    sets = [(share, groups) for share, groups in sets if groups and share]
    size = np.sqrt(np.mean([np.concatenate([one.rows for one in groups]).var(0) for _, groups in sets], 0)) + 1e-6
    stacked, aim = [], np.zeros(len(size))
    for share, groups in sets:
        rows = (np.concatenate([one.rows for one in groups]) / size).astype(np.float32)
        sizes = np.array([len(one.rows) for one in groups])
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        weight = share / len(groups) / sum(share for share, _ in sets)
        stacked.append((rows, starts, sizes, weight))
        for one, start in zip(groups, starts, strict=True):
            aim += weight * rows[[start + at for at in one.wanted]].mean(0)
    weights, mean, spread = np.zeros(len(size)), np.zeros(len(size)), np.zeros(len(size))
    for number in range(1, rounds + 1):
        slope = aim - SHRINK * weights
        for rows, starts, sizes, weight in stacked:
            scores = rows @ weights.astype(np.float32)
            odds = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
            slope -= weight * ((odds / np.repeat(np.add.reduceat(odds, starts), sizes)) @ rows)
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope * slope
        weights = weights + STEP * (mean / (1 - 0.9**number)) / (np.sqrt(spread / (1 - 0.99**number)) + 1e-8)
    return weights / size


def thread_groups(asked: Sequence[Question], weights: Table) -> list[Group]:
    """What to learn of threads, given the weights for entries."""
    groups = []
    for one in filter(_found_any, asked):
        names, rows = one.thread_rows(one.rows @ weights)
        wanted = [at for at, name in enumerate(names) if name in one.wanted_threads]
        if wanted:
            groups.append(Group(rows, wanted))
    return groups


def fit_both(asked: Mapping[str, Sequence[Question]]) -> tuple[Table, Table]:
    """Weights for entries and for threads."""
    learnt = {name: [one.group for one in rows if one.group] for name, rows in asked.items()}
    weights = fit([(SOURCES[name].entries, groups) for name, groups in learnt.items()])
    about = [(SOURCES[name].threads, rows) for name, rows in asked.items() if SOURCES[name].threads]
    return weights, fit([(share, thread_groups(rows, weights)) for share, rows in about])


def ranked_by(one: Question, weights: Table, thread_weights: Table) -> tuple[list[str], list[str]]:
    """The keys of the entries, and the threads, best first."""
    if not one.keys:
        return [], []
    scores = one.rows @ weights
    names, rows = one.thread_rows(scores)
    order = np.argsort(-(rows @ thread_weights), kind="stable")
    found = [one.keys[at] for at in np.argsort(-scores, kind="stable")]
    return [key for key in found if key], [names[at] for at in order]


def report(title: str, name: str, judged: Sequence[tuple[Question, Table, Table]]) -> None:
    """Print what questions get by weights that they were not fitted on."""
    answers = [(one, *ranked_by(one, weights, threads)) for one, weights, threads in judged]
    entries = scored([[(keys, one.wanted) for one, keys, _ in answers]])
    line = f"{title:<23} {name:<10} turns {entries.recall5:5.1f} / {entries.recall10:5.1f}  MRR {entries.mrr / 100:.3f}"
    if SOURCES[name].threads:
        threads = scored([[(found, one.wanted_threads) for one, _, found in answers]])
        line += f"  threads {threads.recall5:5.1f} / {threads.recall10:5.1f}"
    print(f"{line}  {entries.queries} questions", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what held-out questions get, and write the weights fitted on all."""
    parser = argparse.ArgumentParser(prog="retrieval_fit")
    parser.add_argument("--embedder", default="", choices=("", "minilm"), help="with vectors too")
    parser.add_argument("--without", nargs="*", default=[], metavar="FEATURE", help="what is a feature worth?")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth question, for a quick look")
    options = parser.parse_args(arguments)
    missing = sorted({source.set for source in SOURCES.values() if not is_there(source.set)})
    if missing:
        print(f"not beside the project, and not fitted on: {', '.join(missing)}")
    rows: dict[str, Table] = {}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:  # with and without vectors side by side
        names = dict.fromkeys(("", options.embedder))
        for job in [pool.submit(fitted, name, options.every, options.without) for name in names]:
            rows |= job.result()
    for name, values in rows.items():
        print(f"{name} = {', '.join(f'{value:.3f}' for value in values)}")
    if rows and not (missing or options.without or options.every > 1):
        place = Path(shipped.__file__)
        place.write_text(written(place.read_text(encoding="utf-8"), rows), encoding="utf-8")
        print(f"written into {place.name}")
    else:
        print("nothing is written: this was not fitted on everything")
    return 0


def fitted(embedder: str, every: int, features_left_out: Container[str]) -> dict[str, Table]:
    """Report on every set, and the weights by the names that `weights.py` has for them; {} where no set is there."""
    began = time.monotonic()
    how, embed = embedder or "words", minilm() if embedder else None
    asked = {
        name: asked_of(source, embed, every, features_left_out)
        for name, source in SOURCES.items()
        if is_there(source.set)
    }
    if not asked:
        return {}
    print(f"{how}: read in {time.monotonic() - began:.0f} s", flush=True)
    for left in dict.fromkeys(SOURCES[name].set for name in asked if name not in BESIDE.values()):
        made = {number: fit_both(without(asked, left, number)) for number in range(PARTS if left in BESIDE else 1)}
        for name in asked:
            if SOURCES[name].set == left:
                report(f"{how}, whole left out", name, [(one, *made[_part(one) % len(made)]) for one in asked[name]])
    parts = [
        fit_both({name: [one for one in rows if _part(one) != number] for name, rows in asked.items()})
        for number in range(PARTS)
    ]
    for name, rows in asked.items():
        report(f"{how}, parts left out", name, [(one, *parts[_part(one)]) for one in rows])
    weights, thread_weights = fit_both(asked)
    for name, rows in asked.items():
        report(f"{how}, fitted on", name, [(one, weights, thread_weights) for one in rows])
    print(f"{how}: fitted in {time.monotonic() - began:.0f} s", flush=True)
    if embed is None:
        return {"WEIGHTS": weights, "THREAD_WEIGHTS": thread_weights}
    own, threads = len(Marks._fields), len(shipped.ThreadMarks._fields)
    return {
        "HYBRID_WEIGHTS": weights[:own],
        "ALIKE_WEIGHTS": weights[own:],
        "HYBRID_THREAD_WEIGHTS": thread_weights[:threads],
        "ALIKE_THREAD_WEIGHTS": thread_weights[threads:],
    }


def asked_of(source: Source, embed: Embed | None, every: int, features_left_out: Container[str]) -> list[Question]:
    """The questions of a set, with nothing in the columns of features that are left out."""
    collections = [one for one in source.load() if source.pooled or one.asked]
    groups = [collections] if source.pooled else [[one] for one in collections]
    made = [one for group in groups for one in questions(group, embed, source.every * every)]
    empty = [at for at, name in enumerate(_names(embed)) if name in features_left_out]
    for one in made:
        one.rows[:, empty] = 0
    return made


def _names(embed: Embed | None) -> list[str]:
    """The features of an entry, those of vectors as `alike_own`."""
    return [*Marks._fields, *(f"alike_{name}" for name in Alike._fields if embed is not None)]


def written(text: str, rows: Mapping[str, Table]) -> str:
    """The text of `weights.py` with these numbers in it, by the names of its constants."""
    for name, values in rows.items():
        fields = getattr(shipped, name)._fields
        numbers = ", ".join(f"{field}={value:.3f}" for field, value in zip(fields, values, strict=True)) + ","
        lines = "".join(f"    {line}\n" for line in textwrap.wrap(numbers, 112))
        text, found = re.subn(
            rf"^{name} = (\w+)\([^)]*\)(  # fmt: skip)?$",
            lambda old, lines=lines, name=name: f"{name} = {old[1]}(\n{lines})  # fmt: skip",
            text,
            flags=re.MULTILINE,
        )
        if found != 1:
            raise ValueError(f"weights.py has no weights called {name}")
    return text


def without(asked: Mapping[str, Sequence[Question]], left: str, part: int) -> dict[str, Sequence[Question]]:
    """All sets but one. Where another set asks about the same sessions, those of one part are left out of it too."""
    rest = {name: rows for name, rows in asked.items() if SOURCES[name].set != left}
    if left in BESIDE and BESIDE[left] in rest:
        rest[BESIDE[left]] = [one for one in rest[BESIDE[left]] if _part(one) != part]
    return rest


def _found_any(one: Question) -> bool:
    return bool(one.keys)


def _part(one: Question) -> int:
    return zlib.crc32(one.part.encode()) % PARTS


if __name__ == "__main__":
    sys.exit(main())
