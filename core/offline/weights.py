"""Small linear models for the offline distiller: hashed words in, one number out. Plain Python, no library.

The weights lie in `assets/models/offline.json`; `assets/models/README.md` says what they were trained on and
`tests/bench/train_offline.py` makes them. They are read when a text without an assistant is first distilled, so an
ordinary harvest of coding sessions never opens the file.
"""

from __future__ import annotations

import base64
import json
import zlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from pathlib import Path

MODELS_FILE = Path(__file__).resolve().parents[2] / "assets" / "models" / "offline.json"
NAMES = ("request", "decision", "action", "unanswered")


@dataclass(frozen=True)
class Weights:
    """One model: a weight for each bucket (a power of two of them), a bias, and from which probability it is yes."""

    buckets: array[float]
    bias: float
    threshold: float


Models = Mapping[str, Weights]


def bucket(feature: str, size: int) -> int:
    """Where a feature's weight stands; `size` is a power of two."""
    return zlib.crc32(feature.encode("utf-8", "replace")) & (size - 1)


def chance(weights: Weights, features: Iterable[str]) -> float:
    """How likely the answer is yes, from 0 to 1. A feature that is given twice counts once."""
    return chance_at(weights, places(features, len(weights.buckets)))


def places(features: Iterable[str], size: int) -> set[int]:
    """Where the features' weights stand in every model with so many of them."""
    return {zlib.crc32(feature.encode("utf-8", "replace")) & (size - 1) for feature in features}


def chance_at(weights: Weights, found: Iterable[int]) -> float:
    """`chance` for features whose places are known already."""
    total = weights.bias + sum(map(weights.buckets.__getitem__, found))
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))


@lru_cache(maxsize=1)
def shipped_models() -> Models:
    """The models of this release; empty when the file is missing or damaged: the rules then work alone."""
    try:
        return unpack(MODELS_FILE.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zlib.error):
        return {}


def unpack(text: str) -> dict[str, Weights]:
    """Models from their file. Raises ValueError, KeyError, TypeError or zlib.error for anything else."""
    models: dict[str, Weights] = {}
    for name, row in json.loads(text)["models"].items():
        steps = array("b")
        steps.frombytes(zlib.decompress(base64.b64decode(row["weights"])))
        if not steps or len(steps) & (len(steps) - 1):
            raise ValueError("the number of weights is no power of two")
        scale = float(row["scale"])
        models[name] = Weights(
            array("f", (step * scale for step in steps)), float(row["bias"]), float(row["threshold"])
        )
    return models


def pack(models: Models) -> str:
    """The text of the file: each weight is one signed byte times a scale. The same models give the same text."""
    rows = {}
    for name, model in models.items():
        scale = max((abs(value) for value in model.buckets), default=0.0) / 127 or 1.0
        steps = array("b", (round(value / scale) for value in model.buckets))
        rows[name] = {
            "scale": float(f"{scale:.6g}"),
            "bias": round(model.bias, 4),
            "threshold": model.threshold,
            "weights": base64.b64encode(zlib.compress(steps.tobytes(), 9)).decode(),
        }
    return json.dumps({"version": 1, "models": rows}, indent=1) + "\n"
