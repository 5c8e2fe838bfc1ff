"""Does retrieval get better with use? Recall@10 after 0, 100 and 1,000 traces, on questions that no trace saw.

Each set of `retrieval/` becomes a library: each session, scene or dialogue is a document, each turn a chunk. Some
collections are for use, the others are never used. A simulated person asks training questions about the former, and
records for what is shown: `win` with the chunks that answer, `miss` with the others; of every ten verdicts one is
wrong. Then the library is consolidated. Recall is measured on other questions of the former, and on questions of the
latter (documents and questions that no trace saw). The weights of the ranking were fitted on these sets; a second time,
as `strange`, each is ranked by weights that were fitted on the others alone, as a collection of a new kind would be.
Before use the order is that of plain search (a test holds it to that).

    python -m tests.bench.library_learning [--questions N] [--seeds N] [--sets NAME …] [--whole] [--svg FILE]

One walk says little, so each library is walked N times: each time other collections are left out, other questions are
asked, and other verdicts are wrong. What is printed, and drawn with `--svg`, is by how much recall@10 rises over the
same questions before use, with the standard error of the mean over the walks. The candidates of each question are
searched once, and walks show what consolidation learns about ranking, by its own code. `--whole` asks, records and
consolidates in a real library: then earlier uses, records of chunks and links count too.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from core.base.entry import Entry
from core.base.result import Ok, attempt
from core.library import rows, schema
from core.library.database import Library, open_library
from core.library.records import Chunk, Document, SourceProfile, new_id
from core.library.use.consolidate import consolidate
from core.library.use.learning import Lesson, learn
from core.library.use.retrieve import POOL, by_words, retrieve, stems
from core.library.use.usage import record
from core.library.use.words import understand
from core.search.weights import NAMES, WEIGHTS
from tests.bench.retrieval_fit import Group, fit
from tests.bench.retrieval_sets import FOLDER, SETS, Asked, Collection

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
STEPS = (0, 100, 1000)
WRONG = 0.1
SHARES = {"locomo": 10, "friendsqa": 400, "molweni": 1000, "qmsum": 30}
"""This many collections of a set, at most."""
DEPTH = 10
IN_USE, UNSEEN = KINDS = ("documents in use", "unseen documents")
STRANGE = ", strange"
SURE = 2.8
"""A rise, or a fall, is beyond chance where it is so many standard errors: Student's t for five walks, 95 %."""


class World(NamedTuple):
    """What is in a library: key of an entry -> its chunk, and the groups of collections that share text, as questions
    by the collection that they are about."""

    ids: dict[str, str]
    groups: list[dict[str, list[Asked]]]


class Parts(NamedTuple):
    """The questions of one walk: those that are asked and recorded, and those of each kind that are tested."""

    training: list[Asked]
    tested: dict[str, list[Asked]]

    def all(self) -> list[list[Asked]]:
        """The questions that are asked at all: after the last step no more are."""
        return [self.training[: STEPS[-1] // 2], *self.tested.values()]


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


def build(library: Library, name: str) -> World:
    """Fill the library with a set."""
    world = World({}, [])
    groups = copied_groups([one for one in SETS[name]() if one.asked])
    random.Random(name).shuffle(groups)
    source = SourceProfile(new_id(), name, "conversation", NOW, NOW)
    with library.writing() as connection:
        rows.put(connection, schema.source_profile, rows.row_of(source))
    for group in groups:
        if sum(map(len, world.groups)) >= SHARES.get(name, 20):
            break
        world.groups.append({one.name: one.asked for one in group})
        for collection in group:
            _shelve(library, source.id, collection.entries, world.ids)
    return world


def parted(world: World, most: int, seed: int) -> Parts:
    """The questions of one walk. Two fifths of the collections are left out."""
    chance = random.Random(seed)
    parts = Parts([], {kind: [] for kind in KINDS})
    left_out, number = sum(map(len, world.groups)) * 2 / 5, 0
    for group in chance.sample(world.groups, len(world.groups)):
        unseen = number < left_out
        number += len(group)
        for asked in group.values():
            asked = chance.sample(asked, len(asked))
            kept = 0 if unseen else max(1, len(asked) * 4 // 5)
            parts.training.extend(asked[:kept])
            parts.tested[UNSEEN if unseen else IN_USE].extend(asked[kept:])
    for questions in (parts.training, *parts.tested.values()):
        chance.shuffle(questions)
    return Parts(parts.training, {kind: questions[:most] for kind, questions in parts.tested.items()})


def _name(thread: str) -> str:
    """What a document is called: plain search is told no titles, so they say nothing."""
    return "x" + sha256(thread.encode()).hexdigest()[:15]


def _shelve(library: Library, source: str, entries: Sequence[Entry], ids: dict[str, str]) -> None:
    threads: dict[str, list[Entry]] = {}
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


def recall(library: Library, world: World, questions: Sequence[Asked]) -> list[float]:
    """Recall@10 of each question in per cent."""
    keys = {chunk: key for key, chunk in world.ids.items()}
    shares = []
    for one in questions:
        found = retrieve(library, one.text, now=NOW, limit=DEPTH + 1, log=False)
        got = [keys[row.chunk.id] for row in found.dossiers]
        shares.append(_share([key for key in got if key != one.own], one))
    return shares


def _share(got: Sequence[str], asked: Asked) -> float:
    return 100 * len(asked.answers & set(got[:DEPTH])) / len(asked.answers)


def use(library: Library, world: World, questions: Sequence[Asked], traces: int, done: int, seed: int) -> int:
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
        found = retrieve(library, one.text, now=at, limit=DEPTH, session_id=f"session {number // 8}")
        shown = [row.chunk.id for row in found.dossiers if keys[row.chunk.id] != one.own]
        good = [chunk for chunk in shown if (keys[chunk] in one.answers) != (chance.random() < WRONG)]
        for chunks, outcome in ((good, "win"), ([chunk for chunk in shown if chunk not in good], "miss")):
            if chunks:
                record(library, session_id=f"session {number // 8}", chunk_ids=chunks, now=at, outcome=outcome,
                              task_type=found.task_type, retrieval_id=found.id)  # fmt: skip
        done += 2
    return done


# --- often ------------------------------------------------------------------------------------------------------------


class Kept(NamedTuple):
    """The best candidates of a question before use, with what the ranking saw of them."""

    keys: list[str]
    documents: list[str]
    scores: Any
    features: Any

    def shown(self, learned: Any, own: str) -> list[int]:
        """The best candidates, best first, with what was learned about their source; not the question itself."""
        order = numpy.argsort(-(self.scores + self.features @ learned), kind="stable")
        return [int(at) for at in order if self.keys[at] != own][:DEPTH]


def keep(library: Library, world: World, questions: Sequence[Asked]) -> dict[Asked, Kept]:
    """The candidates of questions: what no use has changed is the same in all walks."""
    keys = {chunk: key for key, chunk in world.ids.items()}
    kept = {}
    with library.reading() as connection:
        for one in questions:
            ranked, features = by_words(connection, understand(connection, one.text, stems()), DEPTH + 1)
            head = ranked[:POOL]
            kept[one] = Kept(
                [keys[row.seen.row.key] for row in head],
                [row.seen.row.thread for row in head],
                numpy.array([row.score for row in head]),
                numpy.array([features.of(row.seen) for row in head]).reshape(len(head), len(NAMES)),
            )
    return kept


def walk_kept(kept: Mapping[Asked, Kept], parts: Parts, seed: int) -> dict[str, list[list[float]]]:
    """Kind of question -> recall of each of them before use and after each step, by what is learned about ranking."""
    chance = random.Random(seed)
    lessons: list[Lesson] = []
    learned = numpy.zeros(len(NAMES))
    figures: dict[str, list[list[float]]] = {kind: [] for kind in parts.tested}
    for before, step in zip((0, *STEPS), STEPS, strict=False):
        for one in parts.training[before // 2 : step // 2]:
            of = kept[one]
            said = {at: (of.keys[at] in one.answers) != (chance.random() < WRONG) for at in of.shown(learned, one.own)}
            good = [at for at in said if said[at]]
            if good:
                table, scores = [of.features[at].tolist() for at in said], [float(of.scores[at]) for at in said]
                lessons.append(Lesson(scores, table, list(said.values()), of.documents[min(good)]))
        found = learn(lessons)
        learned = numpy.array([found.weights.get(name, 0.0) if found else 0.0 for name in NAMES])
        for kind, questions in parts.tested.items():
            shown = [[kept[one].keys[at] for at in kept[one].shown(learned, one.own)] for one in questions]
            figures[kind].append([_share(keys, one) for keys, one in zip(shown, questions, strict=True)])
    return figures


def walk(library: Library, world: World, parts: Parts, seed: int) -> dict[str, list[list[float]]]:
    """The same through retrieve, record and consolidate, with all that use changes."""
    figures = {kind: [recall(library, world, questions)] for kind, questions in parts.tested.items()}
    done = 0
    for step in STEPS[1:]:
        done = use(library, world, parts.training, step, done, seed)
        assert isinstance(attempt(consolidate, library, now=NOW + timedelta(days=1)), Ok)
        for kind, questions in parts.tested.items():
            figures[kind].append(recall(library, world, questions))
    return figures


def kept_walks(name: str, most: int, seeds: int) -> tuple[list[Parts], dict[Asked, Kept]]:
    """The questions of each walk over a set, and the candidates of all of them."""
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        library = _opened(Path(folder))
        world = build(library, name)
        walks = [parted(world, most, seed) for seed in range(1, seeds + 1)]
        asked = dict.fromkeys(one for parts in walks for part in parts.all() for one in part)
        kept = keep(library, world, list(asked))
        library.close()
    return walks, kept


def strange(kept: Mapping[str, Mapping[Asked, Kept]], name: str) -> dict[Asked, Kept]:
    """The candidates of a set with the scores of weights that were fitted on the other sets alone."""
    others = []
    for other, held in kept.items():
        answered = ((one, [at for at, key in enumerate(of.keys) if key in one.answers]) for one, of in held.items())
        if other != name:
            others.append((1.0, [Group(held[one].features, wanted) for one, wanted in answered if wanted]))
    change = fit(others) - numpy.array(list(WEIGHTS.values()))
    return {one: of._replace(scores=of.scores + of.features @ change) for one, of in kept[name].items()}


def whole_walks(name: str, most: int, seeds: int) -> list[dict[str, list[list[float]]]]:
    """The figures of each walk through real libraries: all begin with the same, filled once."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        filled = Path(folder) / "filled"
        filled.mkdir()
        library = _opened(filled)
        world = build(library, name)
        library.close()
        for seed in range(1, seeds + 1):
            library = _opened(Path(shutil.copytree(filled, Path(folder) / str(seed))))
            figures.append(walk(library, world, parted(world, most, seed), seed))
            library.close()
    return figures


def _opened(folder: Path) -> Library:
    return open_library(str(folder / "library.db"))


def rise(walks: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float]:
    """By how much the mean rises, from (before, after) of each walk, and the standard error of that."""
    gains = [statistics.fmean(after) - statistics.fmean(before) for before, after in walks]
    spread = statistics.stdev(gains) if len(gains) > 1 else 0.0
    return statistics.fmean(gains), spread / len(gains) ** 0.5


def drawn(lines: Mapping[str, Sequence[tuple[int, float, float]]]) -> str:
    """A plot: traces from left to right, the rise of recall upwards, a bar for each error; dashed where strange."""
    colors = ("#2563eb", "#059669", "#d97706", "#dc2626")
    top = max(gain + half for rows_of in lines.values() for _, gain, half in rows_of)
    low = min(0.0, *(gain - half for rows_of in lines.values() for _, gain, half in rows_of))

    def up(gain: float) -> float:
        return round(250 - 210 * (gain - low) / max(top - low, 0.1), 1)

    title = "Rise of recall@10 on documents that no trace saw, with standard errors"
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 300" font-family="sans-serif" font-size="13">',
        '<rect width="680" height="300" fill="white"/>',
        f'<text x="20" y="22">{title}</text>',
    ]
    for mark in range(int(low) - (low < 0), int(top) + 1):
        parts.append(f'<path d="M60 {up(mark)}H470" stroke="#e5e7eb"/><text x="24" y="{up(mark) + 4}">{mark:+d}</text>')
    for place, step in enumerate(STEPS):
        parts.append(f'<text x="{70 + 190 * place}" y="285">{step:,} traces</text>')
    for at, (name, rows_of) in enumerate(lines.items()):
        color, x = colors[at % len(colors)], 80 + 6 * at
        dashed = ' stroke-dasharray="6 4"' if name.endswith(STRANGE) else ""
        places = [(x + 180 * place, gain, half) for place, (_, gain, half) in enumerate(rows_of)]
        way = " ".join(f"{one},{up(gain)}" for one, gain, _ in places)
        parts.append(f'<polyline points="{way}" fill="none" stroke="{color}" stroke-width="2"{dashed}/>')
        for one, gain, half in places:
            parts.append(f'<path d="M{one} {up(gain - half)}V{up(gain + half)}" stroke="{color}"/>')
        parts.append(f'<text x="490" y="{60 + 22 * at}" fill="{color}">{name} {rows_of[-1][1]:+.2f}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _walked(
    sets: Sequence[str], most: int, seeds: int, whole: bool
) -> Iterator[tuple[str, list[dict[str, list[list[float]]]]]]:
    """The figures of the walks over each library, by its name."""
    if whole:
        yield from ((name, whole_walks(name, most, seeds)) for name in sets)
        return
    parts, kept = {}, {}
    for name in sets:
        parts[name], kept[name] = kept_walks(name, most, seeds)
        yield name, [walk_kept(kept[name], one, seed) for seed, one in enumerate(parts[name], start=1)]
    for name in sets if len(sets) > 1 else ():
        found = strange(kept, name)
        yield f"{name}{STRANGE}", [walk_kept(found, one, seed) for seed, one in enumerate(parts[name], start=1)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where recall fell by more than chance, or rose nowhere."""
    parser = argparse.ArgumentParser(prog="library_learning")
    parser.add_argument("--questions", type=int, default=300, help="test questions of each walk and kind")
    parser.add_argument("--seeds", type=int, default=5, help="walk so many times")
    parser.add_argument("--sets", nargs="*", default=list(SHARES))
    parser.add_argument("--whole", action="store_true", help="ask, record and consolidate in a real library: slow")
    parser.add_argument("--svg", default="", help="draw what rises on unseen documents into this file")
    options = parser.parse_args(arguments)
    sets = [name for name in options.sets if (FOLDER / name).is_dir()]
    if not sets:
        print("no retrieval sets beside the project: nothing is measured")
        return 0
    steps = "  ".join(f"{step:>7,} traces" for step in STEPS[1:])
    print(f"{'library':<18} {'questions on':<18} number  before  {steps}")
    lines: dict[str, list[tuple[int, float, float]]] = {}
    fell = rose = False
    for name, walks in _walked(sets, options.questions, options.seeds, options.whole):
        for kind in KINDS:
            held = [one[kind] for one in walks]
            before = statistics.fmean(share for one in held for share in one[0])
            rises = [rise([(one[0], one[at]) for one in held]) for at in range(len(STEPS))]
            risen = "  ".join(f"{gain:+6.2f} ± {error:.2f}" for gain, error in rises[1:])
            number = sum(len(one[0]) for one in held)
            print(f"{name:<18} {kind:<18} {number:>6} {before:6.2f}  {risen}", flush=True)
            fell |= any(gain + SURE * error < 0 for gain, error in rises)
            if kind == UNSEEN:
                rose |= any(gain - SURE * error > 0 for gain, error in rises)
                lines[name] = [(step, *one) for step, one in zip(STEPS, rises, strict=True)]
    if options.svg:
        Path(options.svg).write_text(drawn(lines), encoding="utf-8")
    print(f"nothing falls by more than chance: {'MISSED' if fell else 'met'}")
    print(f"rising on unseen documents somewhere: {'met' if rose else 'MISSED'}")
    return int(fell or not rose)


if __name__ == "__main__":
    sys.exit(main())
