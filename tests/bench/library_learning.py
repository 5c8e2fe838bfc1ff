"""Does retrieval get better with use? Recall@10 after 0, 100 and 1,000 traces, on questions that no trace saw.

Each set of `retrieval/` becomes a library: each session, scene or dialogue is a document, each turn a chunk. Some
collections are for use, the others are never used. A simulated person asks training questions about the former, and
records for what is shown: `win` with the chunks that answer, `miss` with the others; of every ten verdicts one is
wrong. Then the library is consolidated. Recall is measured on questions of the latter (documents and questions that no
trace saw) and on other questions of the former (questions that no trace saw). `plain` is `core.search` on the same
texts.

    python -m tests.bench.library_learning [--questions N] [--seed N]

One run says little: with `--seeds N` only what a consolidation teaches about ranking is measured, on documents left out
whole, and often. Each question's candidates are looked for once; N times other documents are left out, other questions
are asked, and other verdicts are wrong. What is printed, and drawn with `--svg FILE`, is by how much recall@10 rises on
the documents left out, with the interval of 95 %. `--wrong traces` makes whole records wrong and not single verdicts.

    python -m tests.bench.library_learning --seeds 10 [--wrong traces] [--svg FILE]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from core.base.result import Ok
from core.base.search_entry import SearchEntry, SearchSource
from core.library import rows
from core.library.database import Library, open_library
from core.library.records import Chunk, Document, SourceProfile, new_id
from core.library.use.consolidate import consolidate
from core.library.use.learning import Lesson, adjust, learn
from core.library.use.retrieve import by_words, retrieve, stems
from core.library.use.usage import record
from core.library.use.words import understand
from core.search.index import open_index
from core.search.query import search
from tests.bench.retrieval_sets import FOLDER, SETS, Asked, Collection

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
STEPS = (0, 100, 1000)
WRONG = 0.1
SHARES = {"locomo": 10, "friendsqa": 400, "molweni": 1000, "qmsum": 12}
"""So many collections of a set, at most."""
DEPTH = 10
KINDS = ("unseen documents", "documents in use")


class Question(NamedTuple):
    """One question with the keys of what answers it, of a set."""

    name: str
    asked: Asked


class World(NamedTuple):
    """Everything in one library: key of an entry -> its chunk, and the questions by what they are for."""

    entries: list[SearchEntry]
    ids: dict[str, str]
    training: list[Question]
    seen: list[Question]
    unseen: list[Question]


def copied_groups(collections: Sequence[Collection]) -> list[list[Collection]]:
    """Collections, those together that share a question or a line of eight words. Many dialogues of Molweni are windows
    on one talk: what was used in one of them is not unseen in the next."""
    groups: dict[int, list[Collection]] = {}
    of_text: dict[str, int] = {}
    for number, collection in enumerate(collections):
        asked = {f"? {one.text}" for one in collection.asked}
        texts = {" ".join(text.lower().split()) for text in (*asked, *(one.text for one in collection.entries))}
        texts = {text for text in texts if text.startswith("? ") or text.count(" ") >= 7}
        joined = {of_text[text] for text in texts if text in of_text}
        groups[number] = [one for group in sorted(joined) for one in groups.pop(group)] + [collection]
        of_text |= dict.fromkeys(texts, number)
        of_text.update({text: number for text, group in of_text.items() if group in joined})
    return list(groups.values())


def build(library: Library, sets: Sequence[str], most: int, seed: int, shares: Mapping[str, int] = SHARES) -> World:
    """Fill the library, and part the questions: for use, for documents in use, for the others."""
    chance = random.Random(seed)
    entries: list[SearchEntry] = []
    ids: dict[str, str] = {}
    training, seen, unseen = [], [], []
    for name in sets:
        groups = copied_groups([one for one in SETS[name]() if one.asked])
        chance.shuffle(groups)
        collections = [one for group in groups for one in group][: shares.get(name, 20)]
        unused, left_out = {""}, max(1, len(collections) * 2 // 5)
        for group in groups:
            if len(unused) <= left_out:
                unused |= {one.name for one in group}
        source = SourceProfile(new_id(), name, "conversation", NOW, NOW)
        with library.writing() as connection:
            rows.add_profile(connection, source)
        for collection in collections:
            shelved = [
                one._replace(key=f"{name}:{one.key}", thread=f"{name}:{one.thread}") for one in collection.entries
            ]
            entries += shelved
            _shelve(library, source.id, shelved, ids)
            asked = [Question(name, _named(name, one)) for one in collection.asked]
            chance.shuffle(asked)
            if collection.name in unused:
                unseen += asked
            else:
                training += asked[: len(asked) * 4 // 5]
                seen += asked[len(asked) * 4 // 5 :]
    for part in (training, seen, unseen):
        chance.shuffle(part)
    return World(entries, ids, training, _even(seen, most), _even(unseen, most))


def _named(name: str, asked: Asked) -> Asked:
    own = f"{name}:{asked.own}" if asked.own else ""
    return Asked(asked.text, frozenset(f"{name}:{key}" for key in asked.answers), own)


def _even(questions: Sequence[Question], most: int) -> list[Question]:
    """As many of each set, as far as there are."""
    chosen: list[Question] = []
    for name in sorted({one.name for one in questions}):
        chosen += [one for one in questions if one.name == name][:most]
    return chosen


def _name(thread: str) -> str:
    """What a document is called: plain search is told no titles, so they say nothing."""
    return "x" + sha256(thread.encode()).hexdigest()[:15]


def _shelve(library: Library, source: str, entries: Sequence[SearchEntry], ids: dict[str, str]) -> None:
    threads: dict[str, list[SearchEntry]] = {}
    for one in entries:
        threads.setdefault(one.thread, []).append(one)
    with library.writing() as connection:
        for thread, turns in threads.items():
            document = new_id()
            raw = "\n".join(one.text for one in turns)
            day = next((one.date for one in turns if one.date), "")
            written = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None
            rows.add_document(
                connection,
                Document(document, _name(thread), "conversation", _name(thread), f"{thread}\n{raw}", NOW, source,
                         written_at=written),
            )  # fmt: skip
            chunks = []
            for one in turns:
                ids[one.key] = new_id()
                chunks.append(
                    Chunk(ids[one.key], document, one.text or "-", one.position, heading=one.title, day=one.date)
                )
            rows.add_chunks(connection, chunks)


def recall(library: Library, world: World, questions: Sequence[Question]) -> tuple[float, dict[str, float]]:
    """Recall@10 in per cent, over all and by set."""
    keys = {chunk: key for key, chunk in world.ids.items()}
    by_set: dict[str, list[float]] = {}
    for one in questions:
        found = retrieve(library, one.asked.text, now=NOW, limit=DEPTH + 1, log=False)
        assert isinstance(found, Ok), found
        got = [keys[row.chunk.id] for row in found.value.dossiers]
        by_set.setdefault(one.name, []).append(_share([key for key in got if key != one.asked.own], one.asked))
    return _means(by_set)


def _share(got: Sequence[str], asked: Asked) -> float:
    return 100 * len(asked.answers & set(got[:DEPTH])) / len(asked.answers)


def _means(by_set: dict[str, list[float]]) -> tuple[float, dict[str, float]]:
    means = {name: statistics.fmean(values) for name, values in by_set.items()}
    return statistics.fmean(value for values in by_set.values() for value in values), means


def plain(world: World, questions: Sequence[Question]) -> tuple[float, dict[str, float]]:
    """The same of `core.search`."""
    by_set: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        path = Path(folder) / "source"
        path.write_text("x", encoding="ascii")
        # Of equals the library shows first what stands first in what it was taken from; here the key tells that.
        placed = {f"{_name(one.thread)} {one.position:06}": one for one in world.entries}
        entries = [one._replace(key=place) for place, one in placed.items()]
        index = open_index(Path(folder) / "cache", [SearchSource("all", path, lambda _: Ok(entries))])
        for one in questions:
            got = [placed[hit.entry.key].key for hit in search(index, one.asked.text, limit=DEPTH + 1)]
            by_set.setdefault(one.name, []).append(_share([key for key in got if key != one.asked.own], one.asked))
        index.close()
    return _means(by_set)


def use(library: Library, world: World, questions: Sequence[Question], traces: int, done: int, seed: int) -> int:
    """Ask and record until there are so many traces; `done` are there already. Which question comes next is returned
    with their number by the caller's count: two traces a question."""
    chance = random.Random(seed + done)
    keys = {chunk: key for key, chunk in world.ids.items()}
    at = NOW
    for number in range(done // 2, len(questions)):
        if done >= traces:
            break
        one = questions[number]
        at += timedelta(seconds=1)
        found = retrieve(library, one.asked.text, now=at, limit=DEPTH, session_id=f"session {number // 8}")
        assert isinstance(found, Ok)
        shown = [row.chunk.id for row in found.value.dossiers if keys[row.chunk.id] != one.asked.own]
        good = [chunk for chunk in shown if (keys[chunk] in one.asked.answers) != (chance.random() < WRONG)]
        for chunks, outcome in ((good, "win"), ([chunk for chunk in shown if chunk not in good], "miss")):
            if chunks:
                told = record(library, session_id=f"session {number // 8}", chunk_ids=chunks, now=at, outcome=outcome,
                              task_type=found.value.task_type, retrieval_id=found.value.id)  # fmt: skip
                assert isinstance(told, Ok), told
        done += 2
    return done


# --- often ------------------------------------------------------------------------------------------------------------

SETS_TOGETHER = "all together"
LOOKED_FOR, CANDIDATES, UNSEEN = 1_600, 80, 0.4
"""So many questions of a set, and candidates of each; so large a share of the documents is left out."""
ALONE = {"locomo": 10, "friendsqa": 300, "molweni": 600, "qmsum": 30}
TOGETHER = {"locomo": 10, "friendsqa": 150, "molweni": 300, "qmsum": 12}
"""So many collections of a set that is alone in its library, and of one among others."""


class Case(NamedTuple):
    """A question with its candidates: source, document, score, features, and whether each answers; how many do."""

    collection: str
    sources: list[str]
    documents: list[str]
    scores: list[float]
    rows: list[list[float]]
    answers: list[bool]
    number: int


def cases(sets: Sequence[str], most: int = LOOKED_FOR) -> list[Case]:
    """The questions of these sets in one library."""
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        opened = open_library(str(Path(folder) / "library.db"))
        assert isinstance(opened, Ok), opened
        library = opened.value
        world = build(library, sets, 10**9, 1, ALONE if len(sets) == 1 else TOGETHER)
        entries = {one.key: one for one in world.entries}
        keys = {chunk: key for key, chunk in world.ids.items()}
        asked = [*world.training, *world.seen, *world.unseen]
        random.Random(0).shuffle(asked)
        made = []
        with library.reading() as connection:
            for one in _even(asked, most // len(sets)):
                seen = by_words(connection, understand(connection, one.asked.text, stems()), DEPTH)
                ranked = [(keys[row.seen.row.key], row) for row in seen.ranked[:CANDIDATES]]
                ranked = [(key, row) for key, row in ranked if key != one.asked.own]
                where = next((entries[key].project for key in sorted(one.asked.answers) if key in entries), "")
                made.append(Case(
                    f"{one.name}:{where}", [key.partition(":")[0] for key, _ in ranked],
                    [entries[key].thread for key, _ in ranked], [row.score for _, row in ranked],
                    [seen.features.of(row.seen) for _, row in ranked],
                    [key in one.asked.answers for key, _ in ranked], len(one.asked.answers),
                ))  # fmt: skip
        library.close()
    return made


def verdicts(case: Case, chance: random.Random, whole: bool) -> list[bool]:
    """What a person says of the ten that are shown, of ten verdicts (or `whole` records) one the wrong way round."""
    shown = case.answers[:DEPTH]
    if not whole:
        return [answers != (chance.random() < WRONG) for answers in shown]
    turned = {answers: chance.random() < WRONG for answers in (True, False)}
    return [answers != turned[answers] for answers in shown]


def lessons_in(used: Sequence[Case], chance: random.Random, whole: bool) -> dict[str, list[Lesson]]:
    """Source -> what was said of its chunks, as a consolidation reads it from traces."""
    made: dict[str, list[Lesson]] = {}
    for case in used:
        said = verdicts(case, chance, whole)
        for source in dict.fromkeys(case.sources[: len(said)]):
            places = [at for at in range(len(said)) if case.sources[at] == source]
            helped = [said[at] for at in places]
            if any(helped):
                first = case.documents[places[helped.index(True)]]
                scores, rows_of = [case.scores[at] for at in places], [case.rows[at] for at in places]
                made.setdefault(source, []).append(Lesson(scores, rows_of, helped, first))
    return made


def found_in(case: Case, weights: Mapping[str, Mapping[str, float]]) -> float:
    """Recall@10 of a question in per cent with what was learned, applied as a retrieval applies it."""
    scores = list(case.scores)
    for source in dict.fromkeys(case.sources):
        if source in weights:
            places = [at for at, one in enumerate(case.sources) if one == source]
            for at, more in zip(places, adjust(weights[source], [case.rows[at] for at in places]), strict=True):
                scores[at] += more
    best = sorted(range(len(scores)), key=lambda at: -scores[at])[:DEPTH]
    return 100 * sum(case.answers[at] for at in best) / case.number


def rises(known: Sequence[Case], traces: int, seeds: int, whole: bool) -> tuple[float, float, float]:
    """Recall@10 on documents left out whole before any use, by how much it rises with so many traces, and half the
    interval of 95 % of that, over seeds."""
    before, after = [], []
    for seed in range(seeds):
        chance = random.Random(seed)
        collections = sorted({one.collection for one in known})
        chance.shuffle(collections)
        left_out = set(collections[: max(1, round(len(collections) * UNSEEN))])
        used = [one for one in known if one.collection not in left_out]
        chance.shuffle(used)
        found = {source: learn(told) for source, told in lessons_in(used[: traces // 2], chance, whole).items()}
        weights = {source: one.weights for source, one in found.items() if one is not None}
        tested = [one for one in known if one.collection in left_out]
        before.append(statistics.fmean(found_in(one, {}) for one in tested))
        after.append(statistics.fmean(found_in(one, weights) for one in tested))
    gains = [one - other for one, other in zip(after, before, strict=True)]
    spread = statistics.stdev(gains) / len(gains) ** 0.5 if len(gains) > 1 else 0.0
    return statistics.fmean(before), statistics.fmean(gains), STUDENT.get(len(gains), 1.96) * spread


STUDENT = {5: 2.776, 8: 2.365, 10: 2.262, 20: 2.093}
"""Student's t for so many seeds."""


def often(sets: Sequence[str], seeds: int, whole: bool, svg: str) -> int:
    """Print the table; 1 where a set falls by more than chance."""
    lines: dict[str, list[tuple[int, float, float]]] = {}
    fell = False
    print(f"{'set':<14} {'traces':>7}  recall@10 on documents left out, {seeds} seeds")
    for name, together in [*((one, [one]) for one in sets), (SETS_TOGETHER, list(sets))]:
        known = cases(together)
        for traces in STEPS:
            base, gain, half = rises(known, traces, seeds, whole)
            lines.setdefault(name, []).append((traces, gain, half))
            fell |= gain + half < 0
            print(f"{name:<14} {traces:>7}  {base:6.2f} {gain:+.2f} ± {half:.2f}", flush=True)
    if svg:
        Path(svg).write_text(drawn(lines), encoding="utf-8")
    print(f"no set falls: {'MISSED' if fell else 'met'}")
    return int(fell)


def drawn(lines: Mapping[str, Sequence[tuple[int, float, float]]]) -> str:
    """A plot: traces from left to right, the rise of recall upwards, a bar for each interval."""
    colors = ("#2563eb", "#059669", "#d97706", "#dc2626", "#374151")
    top = max(gain + half for rows_of in lines.values() for _, gain, half in rows_of)
    low = min(0.0, *(gain - half for rows_of in lines.values() for _, gain, half in rows_of))

    def up(gain: float) -> float:
        return round(250 - 210 * (gain - low) / max(top - low, 0.1), 1)

    title = "Rise of recall@10 on documents that no trace saw, with 95 % intervals"
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 300" font-family="sans-serif" font-size="13">',
        '<rect width="640" height="300" fill="white"/>',
        f'<text x="20" y="22">{title}</text>',
    ]
    for mark in range(int(low) - (low < 0), int(top) + 1):
        parts.append(f'<path d="M60 {up(mark)}H470" stroke="#e5e7eb"/><text x="24" y="{up(mark) + 4}">{mark:+d}</text>')
    for place, step in enumerate(STEPS):
        parts.append(f'<text x="{70 + 190 * place}" y="285">{step:,} traces</text>')
    for at, (name, rows_of) in enumerate(lines.items()):
        color, x = colors[at % len(colors)], 80 + 6 * at
        places = [(x + 180 * place, gain, half) for place, (_, gain, half) in enumerate(rows_of)]
        way = " ".join(f"{one},{up(gain)}" for one, gain, _ in places)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="2"/>')
        for one, gain, half in places:
            parts.append(f'<path d="M{one} {up(gain - half)}V{up(gain + half)}" stroke="{color}"/>')
        parts.append(f'<text x="490" y="{60 + 22 * at}" fill="{color}">{name} {rows_of[-1][1]:+.2f}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where retrieval fell behind plain search or did not rise."""
    parser = argparse.ArgumentParser(prog="library_learning")
    parser.add_argument("--questions", type=int, default=150, help="test questions of each set and kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", nargs="*", default=list(SHARES))
    parser.add_argument("--seeds", type=int, default=0, help="measure what is learned so many times")
    parser.add_argument("--wrong", choices=("verdicts", "traces"), default="verdicts")
    parser.add_argument("--svg", default="", help="with --seeds: draw it into this file")
    options = parser.parse_args(arguments)
    sets = [name for name in options.sets if (FOLDER / name).is_dir()]
    if not sets:
        print("no retrieval sets beside the project: nothing is measured")
        return 0
    if options.seeds:
        return often(sets, options.seeds, options.wrong == "traces", options.svg)
    figures: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    print(f"{'set':<10} {'traces':>7} {'questions on':<18} recall@10", flush=True)
    for name in sets:
        for kind, row in measured(name, options.questions, options.seed).items():
            figures[kind].append(row)
    behind = risen = False
    for kind, rows_of in figures.items():
        means = [statistics.fmean(column) for column in zip(*rows_of, strict=True)]
        for label, mean in zip(("plain", *map(str, STEPS)), means, strict=True):
            _print("all", label, kind, mean)
        behind |= min(means[1:]) < means[0] - 0.25
        risen |= means[-1] > means[1] and kind == KINDS[0]
    print(f"at least plain search: {'MISSED' if behind else 'met'}")
    print(f"rising on unseen documents: {'met' if risen else 'MISSED'}")
    return int(behind or not risen)


def measured(name: str, most: int, seed: int) -> dict[str, list[float]]:
    """Kind of question -> recall of plain search and after each step, for one set in a library of its own."""
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        opened = open_library(str(Path(folder) / "library.db"))
        assert isinstance(opened, Ok), opened
        library = opened.value
        world = build(library, [name], most, seed)
        kinds = dict(zip(KINDS, (world.unseen, world.seen), strict=True))
        figures = {kind: [plain(world, questions)[0]] for kind, questions in kinds.items()}
        for kind in kinds:
            _print(name, "plain", kind, figures[kind][0], f"{len(kinds[kind])} questions, {len(world.entries)} chunks")
        done = 0
        for step in STEPS:
            began = time.perf_counter()
            done = use(library, world, world.training, step, done, seed)
            learned = consolidate(library, now=NOW + timedelta(days=1))
            assert isinstance(learned, Ok)
            told = "; ".join(one.what for one in learned.value.of("ranking"))
            took = time.perf_counter() - began
            for kind, questions in kinds.items():
                figures[kind].append(recall(library, world, questions)[0])
                _print(name, str(done), kind, figures[kind][-1], told)
            print(f"{'':<18} {took:.0f} s for use and consolidation", flush=True)
        library.close()
    return figures


def _print(name: str, traces: str, kind: str, found: float, note: str = "") -> None:
    bar = "#" * round(found / 2)
    print(f"{name:<10} {traces:>7} {kind:<18} {found:6.2f}  {bar:<50} {note}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
