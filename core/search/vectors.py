"""Vectors: what is meant, where the words differ. Made by an embedder, which is foreign and checked, and compared with
that of a query. Optional; without them nothing is lost. Those of an index are kept by `kept_vectors`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.base.entry import Embed
from core.base.result import KnowledgeError

BATCH = 64
"""This many texts are embedded in one go."""
TEXT_CHARACTERS = 2000


def nearness(ids: Any, products: Any) -> dict[int, float]:
    """Entry -> how near it is, in standard deviations from the mean, the nearest first, by the products of its vector
    with a query's (numpy); {} where they all say the same, or nothing."""
    spread = float(products.std()) if len(products) else 0.0
    if not math.isfinite(spread) or spread <= 1e-9:
        return {}
    order = (-products).argsort(kind="stable")
    near = (products[order] - products.mean()) / spread
    return dict(zip(ids[order].tolist(), near.tolist(), strict=True))


def embed_all(texts: Sequence[str], embed: Embed) -> list[bytes]:
    """A unit vector for each text, as little-endian float32."""
    made = _embedded([text[:TEXT_CHARACTERS] for text in texts], embed)
    return [row.astype("<f4").tobytes() for row in made]


def embed_one(text: str, embed: Embed) -> Sequence[float]:
    """The unit vector of a query."""
    found: Sequence[float] = _embedded([text[:TEXT_CHARACTERS]], embed)[0].tolist()
    return found


def _embedded(texts: Sequence[str], embed: Embed) -> Any:
    """A numpy matrix of unit vectors. What comes back is foreign: it is checked before it is used."""
    import numpy

    parts: list[Any] = []
    for start in range(0, len(texts), BATCH):
        part = texts[start : start + BATCH]
        made = embed(part)
        try:
            matrix = numpy.asarray(made, numpy.float32)
        except (ValueError, TypeError, OverflowError):
            matrix = numpy.zeros((0, 0), numpy.float32)
        if matrix.ndim != 2 or len(matrix) != len(part) or matrix.shape[1] == 0 or not numpy.isfinite(matrix).all():
            raise KnowledgeError(
                "bad-vectors", "the embedder answered with something that is not a vector for each text"
            )
        if parts and parts[0].shape[1] != matrix.shape[1]:
            raise KnowledgeError("bad-vectors", "the embedder answered with vectors of different lengths")
        lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        parts.append(matrix / numpy.where(lengths > 0, lengths, 1))
    return numpy.concatenate(parts) if parts else numpy.zeros((0, 0), numpy.float32)
