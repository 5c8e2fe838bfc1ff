"""The model of `minilm` out of its wheel, so that measuring it needs no network."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from core.base.entry import Embed
from core.search.embedders import local_embedder

KEPT = "knowledge-bench-minilm.db"
"""In the folder for temporary files: what was embedded once. The sets never change, and embedding them takes longer
than everything else together."""
AT_ONCE = 32


def minilm() -> Embed:
    """The embedder, loaded; what it embedded before on this computer it knows."""
    embed = local_embedder("minilm-int8")
    known = sqlite3.connect(Path(tempfile.gettempdir()) / KEPT, timeout=60, isolation_level=None)
    known.execute("CREATE TABLE IF NOT EXISTS vectors(key BLOB PRIMARY KEY, vector BLOB)")

    def find(key: bytes) -> Any:
        row = known.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
        return np.frombuffer(row[0], np.float32) if row is not None else None

    def remembered(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        keys = [blake2b(text.encode("utf-8", "replace"), digest_size=16).digest() for text in texts]
        found = {key: find(key) for key in keys}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if found[key] is None}
        order = sorted(missing.items(), key=lambda row: len(row[1]))
        for start in range(0, len(order), AT_ONCE):
            part = order[start : start + AT_ONCE]
            made = embed([text for _, text in part])
            for (key, _), vector in zip(part, np.asarray(made, np.float32), strict=True):
                found[key] = vector
                known.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key, vector.tobytes()))
        return [found[key] for key in keys]

    return remembered
