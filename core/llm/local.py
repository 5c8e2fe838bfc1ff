"""A model in this very process, without any server: a GGUF file.

The binding of llama.cpp (`xllamacpp`) loads it when the first question is asked, and answers on a port of loopback that
nobody knows, behind a key that nobody has: so a question travels as to every server of that protocol, with its schema
as a grammar, its time and its end.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from core.base.answer import Answer, Generate
from core.base.installed import how_to_install
from core.base.result import KnowledgeError, Result, attempt
from core.llm.wire import ModelSettings, excerpt

WINDOW = 8192

OverHttp = Callable[[ModelSettings, str], Generate]
"""Makes a `Generate` for a server of the OpenAI protocol, with its key."""


class Loaded(NamedTuple):
    """A model at work: where it answers, and the key that it wants. `server` is only held."""

    address: str
    key: str
    server: object


_loaded: dict[tuple[str, int], Loaded] = {}
_lock = threading.Lock()


def named(model: str) -> Path:
    """The file that a setting means: a whole path, or one below `~`. A path that begins in the current folder is none:
    who made that folder would choose the model. Raises KnowledgeError: `no-model`, `bad-settings`."""
    text = model.strip()
    if not text:
        raise KnowledgeError("no-model", "the provider local needs a model", hint="set model to a GGUF file")
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        message = f"{excerpt(text)!r} names a user whom this computer does not know"
        raise KnowledgeError("bad-settings", message) from None
    if not path.is_absolute():
        hint = "write the whole path of a GGUF file, or one that begins with ~/ (huggingface.co has such files)"
        raise KnowledgeError("bad-settings", f"{excerpt(text)!r} is no whole path of a file", hint=hint)
    if not path.is_file():
        raise KnowledgeError("bad-settings", "there is no such model file", path, "check the path in the setting model")
    return path


def connect_local(settings: ModelSettings, over_http: OverHttp) -> Generate:
    """A model that is loaded when it is first asked. Raises KnowledgeError: `not-installed`, those of `named`."""
    file = named(settings.model)
    if find_spec("xllamacpp") is None:
        message = "a local model needs the package xllamacpp"
        raise KnowledgeError("not-installed", message, hint=how_to_install("local"))
    ready: list[Result[Generate]] = []

    def generate(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        with _lock:  # the first question loads; the others wait for it
            if not ready:
                ready.append(attempt(_ready, file, settings, over_http))
        made = ready[0]
        if isinstance(made, KnowledgeError):
            raise KnowledgeError.of(made.error)  # one of its own for each thread that asks
        return made.value(prompt, schema)

    return generate


def _ready(file: Path, settings: ModelSettings, over_http: OverHttp) -> Generate:
    loaded = _load(file, settings.context_tokens or WINDOW)
    asked = replace(settings, provider="openai", model=file.stem, base_url=f"{loaded.address}/v1")
    return over_http(asked, loaded.key)


def _load(file: Path, window: int) -> Loaded:
    """Load a file once in this process. Raises KnowledgeError: `bad-model`."""
    known = _loaded.get((str(file), window))
    if known is not None:
        return known
    import xllamacpp

    key = secrets.token_hex(24)
    settings = xllamacpp.CommonParams()
    settings.model.path = str(file)
    settings.n_ctx, settings.n_parallel = window, 1
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.api_keys = [key]
    settings.sampling.temp = 0.0
    settings.verbosity = -1
    try:
        server = xllamacpp.Server(settings)
        address = str(server.listening_address)
    except (RuntimeError, ValueError, OSError) as error:
        hint = "it must be a GGUF file that llama.cpp knows, and fit into memory"
        raise KnowledgeError("bad-model", f"the model cannot be loaded: {excerpt(str(error))}", file, hint) from error
    _loaded[(str(file), window)] = Loaded(address, key, server)
    return _loaded[(str(file), window)]


def kept_models(environment: Mapping[str, str]) -> list[str]:
    """Files of models that lie in the hub's own cache, as paths; nothing is imported and nobody is asked."""
    named_home = environment.get("HF_HUB_CACHE") or os.path.join(environment.get("HF_HOME", ""), "hub")
    folder = Path(named_home if os.path.isabs(named_home) else os.path.expanduser("~/.cache/huggingface/hub"))
    try:
        found = sorted(folder.glob("models--*/snapshots/*/*.gguf"))
    except OSError:
        return []
    return [str(path) for path in found if "mmproj" not in path.name.lower()]
