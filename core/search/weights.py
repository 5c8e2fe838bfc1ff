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
    match=2.393, titled=-0.639, before=0.087, after=0.297, before2=0.785, after2=-0.353, pair=1.702, around=1.370,
    thread_best=7.401, asks=-0.495, asked=0.417, asked_match=0.578, long=0.092, long_titled=0.452, first=0.401,
    dated=4.352, dated_after=2.578, exchange=0.522, exchange_best=1.957, request=2.225, closing=1.646,
)  # fmt: skip
HYBRID_WEIGHTS = Marks(
    match=0.766, titled=-1.088, before=-0.933, after=-0.497, before2=0.521, after2=-0.587, pair=2.147, around=0.856,
    thread_best=4.639, asks=-0.561, asked=0.295, asked_match=0.720, long=0.113, long_titled=0.566, first=0.421,
    dated=4.166, dated_after=2.720, exchange=0.682, exchange_best=1.870, request=1.728, closing=1.446,
)  # fmt: skip
ALIKE_WEIGHTS = Alike(
    own=0.324, before=0.143, after=0.127, thread=0.784,
)  # fmt: skip
THREAD_WEIGHTS = ThreadMarks(
    first=0.331, mass=0.423, thread=1.060, own=1.113, dated=3.758, dated_before=6.691, dated_after=4.755,
)  # fmt: skip
HYBRID_THREAD_WEIGHTS = ThreadMarks(
    first=0.421, mass=0.341, thread=0.593, own=0.969, dated=3.721, dated_before=6.661, dated_after=4.847,
)  # fmt: skip
ALIKE_THREAD_WEIGHTS = ThreadAlike(
    first=0.194, three=0.105,
)  # fmt: skip
