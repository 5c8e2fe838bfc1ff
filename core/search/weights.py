"""What the ranking sees of an entry and of a thread, by name, and what each of it weighs.

The weights were fitted on questions with known answers about conversations of several kinds at once: a listwise
softmax, each collection judged by weights that never saw it. `make retrieval-fit EMBEDDER=minilm` writes the numbers
that stand here, all of one fit. What else was tried and did not pay is in `tests/bench/README.md`.
"""

from __future__ import annotations

from typing import NamedTuple


class Marks(NamedTuple):
    """One entry by its words and its place. BM25 of its own words, of the turns before and after it, of what stands
    `around` it, of the best of its thread; the share of the question that it covers together with the one before
    (`pair`); of a talk with tools all of one request (`exchange`) and the best turn of that. 0 or 1: `titled`, all of
    its title is asked for; `asks`, it is a question; `asked`, the one before is; `first` of its thread; said by a user
    (`request`); `closing`, an assistant ends with it."""

    match: float
    titled: float = 0.0
    before: float = 0.0
    after: float = 0.0
    before2: float = 0.0
    after2: float = 0.0
    pair: float = 0.0
    around: float = 0.0
    thread_best: float = 0.0
    asks: float = 0.0
    asked: float = 0.0
    asked_match: float = 0.0
    long: float = 0.0
    long_titled: float = 0.0
    first: float = 0.0
    dated: float = 0.0
    dated_after: float = 0.0
    exchange: float = 0.0
    exchange_best: float = 0.0
    request: float = 0.0
    closing: float = 0.0


class Alike(NamedTuple):
    """With vectors: how near an entry, its neighbours and the nearest of its thread are, in standard deviations."""

    own: float
    before: float
    after: float
    thread: float


class ThreadMarks(NamedTuple):
    """One thread: the score of its best entry below the best of all, that of all of them together, BM25 of the whole,
    of what those said who are named, and how close to a date that was asked for it lies."""

    first: float
    mass: float
    thread: float
    own: float
    dated: float
    dated_before: float
    dated_after: float


class ThreadAlike(NamedTuple):
    """With vectors: how near the nearest of a thread is, and its nearest three on average."""

    first: float
    three: float


WEIGHTS = Marks(
    match=2.383, titled=-0.643, before=0.071, after=0.211, before2=0.691, after2=-0.417, pair=1.531, around=1.509,
    thread_best=7.524, asks=-0.492, asked=0.427, asked_match=0.550, long=0.091, long_titled=0.452, first=0.386,
    dated=4.350, dated_after=2.580, exchange=0.617, exchange_best=1.733, request=2.224, closing=1.641,
)  # fmt: skip
HYBRID_WEIGHTS = Marks(match=0.0)
ALIKE_WEIGHTS = Alike(0.0, 0.0, 0.0, 0.0)
THREAD_WEIGHTS = ThreadMarks(
    first=0.331, mass=0.426, thread=1.018, own=1.111, dated=3.740, dated_before=6.688, dated_after=4.747,
)  # fmt: skip
HYBRID_THREAD_WEIGHTS = ThreadMarks(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
ALIKE_THREAD_WEIGHTS = ThreadAlike(0.0, 0.0)
