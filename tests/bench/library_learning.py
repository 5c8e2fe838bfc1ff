"""Does retrieval get better with use? Recall@10 after 0, 100 and 1,000 traces, on questions that no trace saw.

Each set of `retrieval/` becomes a library: each session, scene or dialogue is a document, each turn a chunk. Some
collections are for use, the others are never used. A simulated person asks training questions about the former, and
records for what is shown: `win` with the chunks that answer, `miss` with the others; of every ten verdicts one is
wrong. Then the library is consolidated. Recall is measured on other questions of the former, on questions of the latter
(documents and questions that no trace saw), and where all sets are in one library also on one set that was never used.
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
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy

from core.base.result import Ok
from core.base.search_entry import SearchEntry
from core.library import rows, schema
from core.library.database import Library, open_library
from core.library.records import Chunk, Document, SourceProfile, new_id
from core.library.use.consolidate import consolidate
from core.library.use.learning import Lesson, learn
from core.library.use.retrieve import POOL, by_words, retrieve, stems
from core.library.use.usage import record
from core.library.use.words import understand
from core.search.weights import NAMES
from tests.bench.retrieval_sets import FOLDER, SETS, Asked, Collection

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
STEPS = (0, 100, 1000)
WRONG = 0.1
SHARES = {"locomo": 10, "friendsqa": 400, "molweni": 1000, "qmsum": 12}
"""So many collections of a set, at most."""
DEPTH = 10
IN_USE, UNSEEN, UNSEEN_SET = KINDS = ("documents in use", "unseen documents", "unseen set")
SURE = 2.8
"""A rise, or a fall, is beyond chance where it is so many standard errors: Student's t for five walks, 95 %."""


class Question(NamedTuple):
    """One question with the keys of what answers it, of a set."""

    name: str
    asked: Asked


class World(NamedTuple):
    """What is in a library: key of an entry -> its chunk, and of each set the groups of collections that share
    text, as questions by the collection that they are about. `before` keeps what was measured without any use."""

    ids: dict[str, str]
    groups: dict[str, list[dict[str, list[Question]]]]


class Parts(NamedTuple):
    """The questions of one walk: those that are asked and recorded, and those of each kind that are tested."""

    training: list[Question]
    tested: dict[str, list[Question]]

    def all(self) -> list[list[Question]]:
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


def build(library: Library, sets: Sequence[str], shares: Mapping[str, int] = SHARES) -> World:
    """Fill the library."""
    world = World({}, {})
    for name in sets:
        groups = copied_groups([one for one in SETS[name]() if one.asked])
        random.Random(name).shuffle(groups)
        source = SourceProfile(new_id(), name, "conversation", NOW, NOW)
        with library.writing() as connection:
            rows.put(connection, schema.source_profile, rows.row_of(source))
        held = world.groups.setdefault(name, [])
        for group in groups:
            if sum(map(len, held)) >= shares.get(name, 20):
                break
            held.append({one.name: [Question(name, _named(name, asked)) for asked in one.asked] for one in group})
            for collection in group:
                shelved = [
                    one._replace(key=f"{name}:{one.key}", thread=f"{name}:{one.thread}") for one in collection.entries
                ]
                _shelve(library, source.id, shelved, world.ids)
    return world


def parted(world: World, most: int, seed: int) -> Parts:
    """The questions of one walk. Two fifths of each set are left out, and of several sets one whole."""
    chance = random.Random(seed)
    training: list[Question] = []
    tested: dict[str, list[Question]] = {kind: [] for kind in KINDS}
    sets = sorted(world.groups)
    whole = sets[seed % len(sets)] if len(sets) > 1 else ""
    for name in sets:
        groups = chance.sample(world.groups[name], len(world.groups[name]))
        left_out, number = sum(map(len, groups)) * 2 / 5, 0
        for group in groups:
            unused = name == whole or number < left_out
            number += len(group)
            for asked in group.values():
                asked = chance.sample(asked, len(asked))
                if unused:
                    tested[UNSEEN_SET if name == whole else UNSEEN] += asked
                else:
                    kept = max(1, len(asked) * 4 // 5)
                    training += asked[:kept]
                    tested[IN_USE] += asked[kept:]
    chance.shuffle(training)
    for questions in tested.values():
        chance.shuffle(questions)
    return Parts(training, {kind: _even(questions, most) for kind, questions in tested.items() if questions})


def _named(name: str, asked: Asked) -> Asked:
    own = f"{name}:{asked.own}" if asked.own else ""
    return Asked(asked.text, frozenset(f"{name}:{key}" for key in asked.answers), own)


def _even(questions: Sequence[Question], most: int) -> list[Question]:
    """So many in all, as many of each set, as far as there are."""
    sets = sorted({one.name for one in questions})
    return [one for name in sets for one in [one for one in questions if one.name == name][: most // len(sets)]]


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


def recall(library: Library, world: World, questions: Sequence[Question]) -> list[float]:
    """Recall@10 of each question in per cent."""
    keys = {chunk: key for key, chunk in world.ids.items()}
    shares = []
    for one in questions:
        found = retrieve(library, one.asked.text, now=NOW, limit=DEPTH + 1, log=False)
        assert isinstance(found, Ok), found
        got = [keys[row.chunk.id] for row in found.value.dossiers]
        shares.append(_share([key for key in got if key != one.asked.own], one.asked))
    return shares


def _share(got: Sequence[str], asked: Asked) -> float:
    return 100 * len(asked.answers & set(got[:DEPTH])) / len(asked.answers)


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
                kept = record(library, session_id=f"session {number // 8}", chunk_ids=chunks, now=at, outcome=outcome,
                              task_type=found.value.task_type, retrieval_id=found.value.id)  # fmt: skip
                assert isinstance(kept, Ok), kept
        done += 2
    return done


# --- often ------------------------------------------------------------------------------------------------------------

TOGETHER = "all together"
SHARES_TOGETHER = {"locomo": 2, "friendsqa": 60, "molweni": 160, "qmsum": 6}


class Kept(NamedTuple):
    """The best candidates of a question before use, with what the ranking saw of them."""

    keys: list[str]
    documents: list[str]
    sources: list[str]
    scores: Any
    features: Any

    def order(self, learned: Mapping[str, Any]) -> list[int]:
        """The candidates, best first, with what was learned about their sources: as `retrieve` adds it."""
        scores = self.scores.copy()
        for source, weights in learned.items():
            ours = [at for at, one in enumerate(self.sources) if one == source]
            if ours:
                changes = self.features[ours] @ weights
                scores[ours] += changes - changes.mean()
        return [int(at) for at in numpy.argsort(-scores, kind="stable")]


def keep(library: Library, world: World, questions: Sequence[Question]) -> dict[Question, Kept]:
    """The candidates of questions: what no use has changed is the same in all walks."""
    keys = {chunk: key for key, chunk in world.ids.items()}
    kept = {}
    with library.reading() as connection:
        for one in questions:
            seen = by_words(connection, understand(connection, one.asked.text, stems()), DEPTH + 1)
            head = seen.ranked[:POOL]
            named = [keys[row.seen.row.key] for row in head]
            kept[one] = Kept(
                named,
                [row.seen.row.thread for row in head],
                [key.partition(":")[0] for key in named],
                numpy.array([row.score for row in head]),
                numpy.array([seen.features.of(row.seen) for row in head]).reshape(len(head), len(NAMES)),
            )
    return kept


def walk_kept(kept: Mapping[Question, Kept], parts: Parts, seed: int) -> dict[str, list[list[float]]]:
    """Kind of question -> recall of each of them before use and after each step, by what is learned about ranking."""
    chance = random.Random(seed)
    lessons: dict[str, list[Lesson]] = {}
    learned: dict[str, Any] = {}
    figures: dict[str, list[list[float]]] = {kind: [] for kind in parts.tested}
    for before, step in zip((0, *STEPS), STEPS, strict=False):
        for one in parts.training[before // 2 : step // 2]:
            of, chunks = kept[one], kept[one].order(learned)
            shown = [at for at in chunks if of.keys[at] != one.asked.own][:DEPTH]
            said = {at: (of.keys[at] in one.asked.answers) != (chance.random() < WRONG) for at in shown}
            for source in sorted({of.sources[at] for at in shown}):
                ours = [at for at in sorted(shown) if of.sources[at] == source]
                good = [at for at in ours if said[at]]
                if good:
                    rows_of = [of.features[at].tolist() for at in ours]
                    scores = [float(of.scores[at]) for at in ours]
                    lesson = Lesson(scores, rows_of, [said[at] for at in ours], of.documents[good[0]])
                    lessons.setdefault(source, []).append(lesson)
        found = {source: learn(about) for source, about in lessons.items()}
        learned = {
            source: numpy.array([one.weights.get(name, 0.0) for name in NAMES]) for source, one in found.items() if one
        }
        for kind, questions in parts.tested.items():
            figures[kind].append([])
            for one in questions:
                of = kept[one]
                order = [of.keys[at] for at in of.order(learned) if of.keys[at] != one.asked.own]
                figures[kind][-1].append(_share(order, one.asked))
    return figures


def walk(library: Library, world: World, parts: Parts, seed: int) -> dict[str, list[list[float]]]:
    """The same through retrieve, record and consolidate, with all that use changes."""
    figures = {kind: [recall(library, world, questions)] for kind, questions in parts.tested.items()}
    done = 0
    for step in STEPS[1:]:
        done = use(library, world, parts.training, step, done, seed)
        assert isinstance(consolidate(library, now=NOW + timedelta(days=1)), Ok)
        for kind, questions in parts.tested.items():
            figures[kind].append(recall(library, world, questions))
    return figures


def walked(sets: Sequence[str], most: int, seeds: int, whole: bool) -> list[dict[str, list[list[float]]]]:
    """The figures of each walk: all begin with the same library, filled once."""
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        filled = Path(folder) / "filled"
        filled.mkdir()
        library = _opened(filled)
        world = build(library, sets, SHARES if len(sets) == 1 else SHARES_TOGETHER)
        walks = [parted(world, most, seed) for seed in range(1, seeds + 1)]
        if not whole:
            asked = dict.fromkeys(one for parts in walks for part in parts.all() for one in part)
            kept = keep(library, world, list(asked))
            library.close()
            return [walk_kept(kept, parts, seed) for seed, parts in enumerate(walks, start=1)]
        library.close()
        figures = []
        for seed, parts in enumerate(walks, start=1):
            library = _opened(Path(shutil.copytree(filled, Path(folder) / str(seed))))
            figures.append(walk(library, world, parts, seed))
            library.close()
        return figures


def _opened(folder: Path) -> Library:
    opened = open_library(str(folder / "library.db"))
    assert isinstance(opened, Ok), opened
    return opened.value


def rise(walks: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float, float]:
    """By how much the mean rises, from (before, after) of each walk, and the standard error of that."""
    gains = [statistics.fmean(after) - statistics.fmean(before) for before, after in walks]
    spread = statistics.stdev(gains) if len(gains) > 1 else 0.0
    return statistics.fmean(gains), spread / len(gains) ** 0.5


def drawn(lines: Mapping[str, Sequence[tuple[int, float, float]]]) -> str:
    """A plot: traces from left to right, the rise of recall upwards, a bar for each interval."""
    colors = ("#2563eb", "#059669", "#d97706", "#dc2626", "#374151")
    top = max(gain + half for rows_of in lines.values() for _, gain, half in rows_of)
    low = min(0.0, *(gain - half for rows_of in lines.values() for _, gain, half in rows_of))

    def up(gain: float) -> float:
        return round(250 - 210 * (gain - low) / max(top - low, 0.1), 1)

    title = "Rise of recall@10 on documents that no trace saw, with standard errors"
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
    libraries = [*((name, [name]) for name in sets), *([(TOGETHER, sets)] if len(sets) > 1 else [])]
    steps = "  ".join(f"{step:>7,} traces" for step in STEPS[1:])
    print(f"{'library':<14} {'questions on':<18} number  before  {steps}")
    lines: dict[str, list[tuple[int, float, float]]] = {}
    fell = rose = False
    for name, among in libraries:
        walks = walked(among, options.questions, options.seeds, options.whole)
        for kind in KINDS:
            held = [one[kind] for one in walks if kind in one]
            if not held:
                continue
            before = statistics.fmean(share for one in held for share in one[0])
            rises = [rise([(one[0], one[at]) for one in held]) for at in range(len(STEPS))]
            risen = "  ".join(f"{gain:+6.2f} ± {error:.2f}" for gain, error in rises[1:])
            number = sum(len(one[0]) for one in held)
            print(f"{name:<14} {kind:<18} {number:>6} {before:6.2f}  {risen}", flush=True)
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
