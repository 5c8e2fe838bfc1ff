"""The weights of the ranking, by the names of the features that rank.py makes, in its order.

They were fitted on questions about conversations with known answers: a listwise softmax, every conversation ranked by
weights that were fitted without it. `make retrieval-fit` prints the rows of numbers that stand here.
"""

from __future__ import annotations

from collections.abc import Mapping

NAMES = (
    "match", "cover", "cover2", "titled", "titled_match", "titled_cover", "before", "after", "before2", "after2",
    "pair", "window", "smooth", "thread", "thread_cover", "asks", "asked", "asked_match", "long", "long_titled",
    "times", "near", "best_thread", "titled_before", "first", "before3", "long_match", "titled_times", "dated",
    "dated_before", "dated_after",
)  # fmt: skip
_FITTED = (
    -0.678, 3.957, -3.793, 0.547, 1.165, -1.851, -1.671, 0.989, 2.985, 1.058, 5.338, -0.569, 1.250, 0.219,
    3.144, -0.686, 0.524, 2.949, 0.156, 0.242, -0.107, 0.552, 0.251, -0.803, 0.745, 0.407, 0.371, 2.063,
    6.022, 5.450, 4.871
)  # fmt: skip
WEIGHTS: Mapping[str, float] = dict(zip(NAMES, _FITTED, strict=True))
DATED = {name: WEIGHTS[name] for name in ("dated", "dated_before", "dated_after")}
ALONE = {
    **WEIGHTS,
    "match": WEIGHTS["match"] + WEIGHTS["smooth"] + WEIGHTS["thread"],
    "cover": WEIGHTS["cover"] + WEIGHTS["pair"] + WEIGHTS["window"] + WEIGHTS["thread_cover"],
}
"""The weights of an entry that is its own thread, with those of equal features taken together."""
NEAR_NAMES = ("alike", "alike_before", "alike_after", "alike_thread")
"""With vectors: how near an entry, its neighbours and the nearest of its thread are, in standard deviations."""
_HYBRID_FITTED = (
    -1.931, 2.956, -2.558, 0.152, 0.902, -1.701, -2.959, 0.428, 2.290, 0.778, 5.425, -0.007, 0.321, -0.269,
    2.971, -0.605, 0.330, 3.154, 0.416, 0.362, 0.201, 0.369, 0.266, -0.756, 0.612, 0.287, 0.427, 1.867,
    5.956, 5.821, 5.211, 0.453, 0.321, 0.145, 0.433
)  # fmt: skip
HYBRID_WEIGHTS: Mapping[str, float] = dict(zip(NAMES + NEAR_NAMES, _HYBRID_FITTED, strict=True))
THREAD_NAMES = (
    "thread", "thread_cover", "own", "own_cover", "first", "second", "third", "mass", "broad_mass", "mean", "dated",
    "dated_before", "dated_after",
)  # fmt: skip
NEAR_THREAD_NAMES = ("alike_first", "alike_three", "alike_eight")
"""With vectors: how near the nearest of a thread is, and its nearest three and eight on average."""
_THREAD_FITTED = (0.178, 0.620, 0.006, 0.300, 0.433, 0.085, -0.057, 0.281, 0.026, 0.066, 1.026, 0.753, 1.226)
THREAD_WEIGHTS: Mapping[str, float] = dict(zip(THREAD_NAMES, _THREAD_FITTED, strict=True))
_HYBRID_THREAD_FITTED = (
    -0.011, 0.509, -0.053, 0.241, 0.448, 0.041, -0.037, 0.313, 0.040, 0.080, 0.929, 0.575, 0.947, 0.152, 0.115, -0.216
)  # fmt: skip
HYBRID_THREAD_WEIGHTS: Mapping[str, float] = dict(
    zip(THREAD_NAMES + NEAR_THREAD_NAMES, _HYBRID_THREAD_FITTED, strict=True)
)
