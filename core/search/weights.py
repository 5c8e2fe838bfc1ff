"""The weights of the ranking, by the names of the features that rank.py makes, in its order.

They were fitted on questions with known answers about conversations of several kinds at once: a listwise softmax, each
collection judged by weights that never saw it. `make retrieval-fit` prints the rows of numbers that stand here.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES = (
    "match", "cover", "cover2", "titled", "before", "after", "before2", "after2", "before3", "after3", "pair", "window",
    "around", "thread", "thread_best", "asks", "asked", "asked_match", "long", "long_titled", "close", "first", "dated",
    "dated_before", "dated_after", "tool",
)  # fmt: skip
_FITTED = (
    1.506, 2.829, -2.692, -0.891, -0.061, 0.536, 0.830, -0.362, 0.234, -0.065, 1.919, 0.058, 2.000, 0.461, 7.777, -0.476,
    0.372, 0.890, -0.026, 0.513, 1.081, 0.505, 7.585, 8.483, 6.384, -6.413
)  # fmt: skip
WEIGHTS: Mapping[str, float] = dict(zip(NAMES, _FITTED, strict=True))
DATED = {name: WEIGHTS[name] for name in ("dated", "dated_before", "dated_after")}
ALONE = {
    **WEIGHTS,
    "match": WEIGHTS["match"] + WEIGHTS["around"] + WEIGHTS["thread"] + WEIGHTS["thread_best"],
    "cover": WEIGHTS["cover"] + WEIGHTS["pair"] + WEIGHTS["window"],
}
"""The weights of an entry that is its own thread, with those of equal features taken together."""
NEAR_NAMES = ("alike", "alike_before", "alike_after", "alike_thread")
"""With vectors: how near an entry, its neighbours and the nearest of its thread are, in standard deviations."""
_HYBRID_FITTED = (
    2.053, 2.263, -2.602, -1.184, -0.061, 0.588, 0.988, -0.323, 0.174, -0.319, 1.870, -0.153, 2.104, 0.073, 8.396, -0.454, 0.210, 1.348, -0.015, 0.587, 1.057, 0.591, 4.319, 5.223, 3.337, -6.286, 0.453, 0.321, 0.145, 0.433
)  # fmt: skip
HYBRID_WEIGHTS: Mapping[str, float] = dict(zip(NAMES + NEAR_NAMES, _HYBRID_FITTED, strict=True))
THREAD_NAMES = ("first", "mass", "thread", "own", "dated", "dated_before", "dated_after")
NEAR_THREAD_NAMES = ("alike_first", "alike_three")
"""With vectors: how near the nearest of a thread is, and its nearest three on average."""
_THREAD_FITTED = (0.384, 0.452, 0.204, 1.150, 0.585, -0.276, 1.525)
THREAD_WEIGHTS: Mapping[str, float] = dict(zip(THREAD_NAMES, _THREAD_FITTED, strict=True))
_HYBRID_THREAD_FITTED = (0.356, 0.462, 0.258, 0.9, 1.417, 1.139, 1.886, 0.15, 0.1)
HYBRID_THREAD_WEIGHTS: Mapping[str, float] = dict(
    zip(THREAD_NAMES + NEAR_THREAD_NAMES, _HYBRID_THREAD_FITTED, strict=True)
)
