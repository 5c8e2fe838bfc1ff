"""The weights of the ranking, by the names of the features that rank.py makes, in its order.

They were fitted on questions with known answers about conversations of several kinds at once: a listwise softmax, each
collection judged by weights that never saw it. `make retrieval-fit` prints the rows of numbers that stand here.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES = (
    "match", "cover", "cover2", "titled", "before", "after", "before2", "after2", "before3", "after3", "pair", "window",
    "around", "thread", "thread_best", "asks", "asked", "asked_match", "long", "long_titled", "close", "first", "dated",
    "dated_before", "dated_after", "tool", "exchange", "exchange_best", "request", "closing", "heading",
)  # fmt: skip
_FITTED = (
    1.602, 2.740, -2.801, -0.832, -0.046, 0.212, 0.637, -0.307, 0.256, -0.415, 1.816, -0.169, 0.968, 0.896, 6.133,
    -0.489, 0.379, 0.690, 0.012, 0.494, 0.787, 0.412, 7.433, 7.847, 6.021, -1.350, 0.570, 2.342, 1.932, 1.248, -4.712,
)  # fmt: skip
WEIGHTS: Mapping[str, float] = dict(zip(NAMES, _FITTED, strict=True))
DATED = {name: WEIGHTS[name] for name in ("dated", "dated_before", "dated_after")}
ALONE = {
    **WEIGHTS,
    "match": sum(WEIGHTS[name] for name in ("match", "around", "thread", "thread_best", "exchange", "exchange_best")),
    "cover": WEIGHTS["cover"] + WEIGHTS["pair"] + WEIGHTS["window"],
}
"""The weights of an entry that is its own thread, with those of equal features taken together."""
NEAR_NAMES = ("alike", "alike_before", "alike_after", "alike_thread")
"""With vectors: how near an entry, its neighbours and the nearest of its thread are, in standard deviations."""
_HYBRID_FITTED = (
    -1.723, 1.867, -0.494, -0.604, -2.217, -0.614, 0.884, -0.604, -0.340, -1.227, 3.150, -0.278, 1.046, 0.564, 2.694,
    -0.905, 0.432, 1.279, 0.591, 0.420, 0.436, 0.546, 6.742, 7.513, 7.010, -1.350, 1.046, 2.157, 1.932, 1.248, -4.712,
    0.526, 0.200, 0.125, 0.473,
)  # fmt: skip
"""What only sessions of tools can tell (tool, request, closing, heading) is as it was fitted without vectors."""
HYBRID_WEIGHTS: Mapping[str, float] = dict(zip(NAMES + NEAR_NAMES, _HYBRID_FITTED, strict=True))
THREAD_NAMES = ("first", "mass", "thread", "own", "dated", "dated_before", "dated_after")
NEAR_THREAD_NAMES = ("alike_first", "alike_three")
"""With vectors: how near the nearest of a thread is, and its nearest three on average."""
_THREAD_FITTED = (0.378, 0.483, 0.187, 1.029, 0.611, -0.210, 1.544)
THREAD_WEIGHTS: Mapping[str, float] = dict(zip(THREAD_NAMES, _THREAD_FITTED, strict=True))
_HYBRID_THREAD_FITTED = (0.443, 0.338, 2.131, -1.299, 1.559, 1.152, 1.777, 0.073, 0.049)
HYBRID_THREAD_WEIGHTS: Mapping[str, float] = dict(
    zip(THREAD_NAMES + NEAR_THREAD_NAMES, _HYBRID_THREAD_FITTED, strict=True)
)
