"""The weights of the ranking, by the names of the features that rank.py makes, in its order.

They were fitted on questions with known answers about conversations of several kinds at once: a listwise softmax, each
collection judged by weights that never saw it. `make retrieval-fit EMBEDDER=minilm` writes the rows of numbers that
stand here, all of one fit.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES = (
    "match", "cover", "cover2", "titled", "before", "after", "before2", "after2", "before3", "after3", "pair", "window",
    "around", "thread", "thread_best", "asks", "asked", "asked_match", "long", "long_titled", "close", "first", "dated",
    "dated_before", "dated_after", "tool", "exchange", "exchange_best", "request", "closing", "heading",
)  # fmt: skip
_FITTED = (
    1.561, 2.689, -2.718, -0.831, -0.040, 0.197, 0.632, -0.318, 0.256, -0.427, 1.741, -0.116, 0.936, 0.905, 6.190,
    -0.482, 0.386, 0.691, 0.011, 0.493, 0.838, 0.421, 7.428, 7.831, 6.003, -1.344, 0.529, 2.321, 1.934, 1.246,
    -4.702,
)  # fmt: skip
WEIGHTS: Mapping[str, float] = dict(zip(NAMES, _FITTED, strict=True))
NEAR_NAMES = ("alike", "alike_before", "alike_after", "alike_thread")
"""With vectors: how near an entry, its neighbours and the nearest of its thread are, in standard deviations."""
_HYBRID_FITTED = (
    -0.040, 1.524, -1.061, -1.091, -0.905, -0.547, 0.439, -0.520, 0.168, -0.423, 1.848, 0.127, 0.801, 0.508, 3.924,
    -0.556, 0.281, 0.776, 0.075, 0.563, 0.671, 0.470, 6.595, 7.005, 6.386, 0.068, 0.567, 2.056, 1.714, 1.351,
    -4.889, 0.312, 0.149, 0.129, 0.774,
)  # fmt: skip
HYBRID_WEIGHTS: Mapping[str, float] = dict(zip(NAMES + NEAR_NAMES, _HYBRID_FITTED, strict=True))
THREAD_NAMES = ("first", "mass", "thread", "own", "dated", "dated_before", "dated_after")
NEAR_THREAD_NAMES = ("alike_first", "alike_three")
"""With vectors: how near the nearest of a thread is, and its nearest three on average."""
_THREAD_FITTED = (
    0.379, 0.480, 0.201, 1.031, 0.634, -0.187, 1.558,
)  # fmt: skip
THREAD_WEIGHTS: Mapping[str, float] = dict(zip(THREAD_NAMES, _THREAD_FITTED, strict=True))
_HYBRID_THREAD_FITTED = (
    0.442, 0.374, 0.251, 0.913, 1.620, 1.059, 1.864, 0.174, 0.068,
)  # fmt: skip
HYBRID_THREAD_WEIGHTS: Mapping[str, float] = dict(
    zip(THREAD_NAMES + NEAR_THREAD_NAMES, _HYBRID_THREAD_FITTED, strict=True)
)
