"""A model in this very process, without any server: a GGUF file, or its name on the Hugging Face hub.

The binding of llama.cpp (`xllamacpp`) loads it when the first question is asked, and answers on a port of loopback that
nobody knows, behind a key that nobody has: so a question travels as to every server of that protocol, with its schema
as a grammar, its time and its end. The hub's own client fetches a file that is not there yet, with a bar, goes on where
a download broke off, and says what its checksum must be; it is computed here before the file is loaded for the first
time.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from core.base import files
from core.base.answer import Answer, Generate
from core.base.installed import how_to_install
from core.base.result import KnowledgeError, Result, attempt
from core.llm.wire import ModelSettings, excerpt

WINDOW = 8192
PREFERRED = ("q4_k_m", "q5_k_m", "q4_0", "q8_0")
"""Of several files of one model the first of these kinds: small enough for most computers, and hardly worse."""
_HUB_NAME = re.compile(r"(?P<repo>[\w.-]{1,96}/[\w.-]{1,96})(?::(?P<file>[\w./ -]{1,200}\.gguf))?\Z", re.ASCII)


OverHttp = Callable[[ModelSettings, str], Generate]
"""Makes a `Generate` for a server of the OpenAI protocol, with its key."""


class HubName(NamedTuple):
    """A model on the hub; `file` "": the one that fits best."""

    repo: str
    file: str = ""


class Loaded(NamedTuple):
    """A model at work: where it answers, and the key that it wants. `server` is only held."""

    address: str
    key: str
    server: object


_loaded: dict[tuple[str, int], Loaded] = {}
_lock = threading.Lock()


def named(model: str) -> Path | HubName:
    """What a setting means: `~/models/x.gguf` is a file, `owner/name` or `owner/name:file.gguf` stands on the hub. A
    path that begins in the current folder is neither: who made that folder would choose the model.
    Errors: `no-model`, `bad-settings`."""
    text = model.strip()
    if not text:
        hint = "set model to a GGUF file, or to its name on the hub such as owner/name-GGUF"
        raise KnowledgeError("no-model", "the provider local needs the name of a model", hint=hint)
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise KnowledgeError(
            "bad-settings", f"{excerpt(text)!r} names a user whom this computer does not know"
        ) from None
    if text.startswith("."):
        hint = "write the whole path, or one that begins with ~/"
        raise KnowledgeError("bad-settings", f"{excerpt(text)!r} would be another file in every folder", hint=hint)
    if path.is_absolute():
        if not path.is_file():
            raise KnowledgeError(
                "bad-settings", "there is no such model file", path, "check the path in the setting model"
            )
        return path
    found = _HUB_NAME.match(text)
    if found is None:
        hint = "a path of a .gguf file, owner/name, or owner/name:file.gguf"
        raise KnowledgeError("bad-settings", f"{excerpt(text)!r} is no file and no name on the hub", hint=hint)
    return HubName(found["repo"], found["file"] or "")


def connect_local(settings: ModelSettings, over_http: OverHttp) -> Generate:
    """A model that is loaded, and fetched where it is not there, when it is first asked. Errors: `not-installed`, those
    of `named`."""
    meant = named(settings.model)
    wanted = ["xllamacpp"] + (["huggingface_hub"] if isinstance(meant, HubName) else [])
    missing = [name for name in wanted if find_spec(name) is None]
    if missing:
        message = f"a local model needs the package {' and '.join(missing)}"
        raise KnowledgeError("not-installed", message, hint=how_to_install("local"))
    ready: list[Result[Generate]] = []

    def generate(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        with _lock:  # the first question loads; the others wait for it
            if not ready:
                ready.append(attempt(_ready, meant, settings, over_http))
        made = ready[0]
        if isinstance(made, KnowledgeError):
            raise KnowledgeError.of(made.error)  # one of its own for each thread that asks
        return made.value(prompt, schema)

    return generate


def _ready(meant: Path | HubName, settings: ModelSettings, over_http: OverHttp) -> Generate:
    file = fetched(meant) if isinstance(meant, HubName) else meant
    loaded = _load(file, settings.context_tokens or WINDOW)
    asked = replace(settings, provider="openai", model=file.stem, base_url=f"{loaded.address}/v1")
    return over_http(asked, loaded.key)


def _load(file: Path, window: int) -> Loaded:
    """Load a file once in this process. Errors: `bad-model`."""
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


def fetched(name: HubName) -> Path:
    """The file of a model of the hub: from the hub's own cache, else downloaded and checked. Errors: `no-download`."""
    import huggingface_hub

    try:
        file = name.file or _chosen(name.repo)
        if not file:
            raise KnowledgeError("no-download", f"{name.repo} has no GGUF file", hint="name another model of the hub")
        try:
            return Path(huggingface_hub.hf_hub_download(name.repo, file, local_files_only=True))
        except (OSError, ValueError):
            pass  # it is not there yet
        path = Path(huggingface_hub.hf_hub_download(name.repo, file))
        wanted = _checksum(name.repo, file)
        if wanted and files.sha256_of_file(os.path.realpath(path)) != wanted:
            message = f"what came of {name.repo} is not what the hub says it is"
            raise KnowledgeError("no-download", message, path, "delete that file, then run it again")
        return path
    except KnowledgeError:
        raise
    except Exception as error:
        said = excerpt(str(error).strip().partition("\n")[0]) or type(error).__name__
        hint = "check the name and the network; a download that broke off goes on where it was"
        raise KnowledgeError(
            "no-download", f"{name.repo} could not be fetched from the hub: {said}", hint=hint
        ) from error


def _chosen(repo: str) -> str:
    """Of the files of a model the one that fits most computers; one of many parts is none."""
    import huggingface_hub

    listed = huggingface_hub.HfApi().list_repo_files(repo)
    names = [str(name) for name in listed if str(name).endswith(".gguf") and "-of-" not in str(name)]
    names = [name for name in names if "mmproj" not in name.lower()]
    best = (name for kind in PREFERRED for name in sorted(names) if kind in name.lower())
    return next(best, min(names, default=""))


def _checksum(repo: str, file: str) -> str:
    """The SHA-256 of a file as the hub has it, "" where it does not say."""
    import huggingface_hub

    rows = huggingface_hub.HfApi().get_paths_info(repo, [file])
    stored = getattr(rows[0], "lfs", None) if rows else None
    return str(getattr(stored, "sha256", "") or "")


def kept_models(environment: Mapping[str, str]) -> list[str]:
    """Files of models that lie in the hub's own cache, as paths; nothing is imported and nobody is asked."""
    named_home = environment.get("HF_HUB_CACHE") or os.path.join(environment.get("HF_HOME", ""), "hub")
    folder = Path(named_home if os.path.isabs(named_home) else os.path.expanduser("~/.cache/huggingface/hub"))
    try:
        found = sorted(folder.glob("models--*/snapshots/*/*.gguf"))
    except OSError:
        return []
    return [str(path) for path in found if "mmproj" not in path.name.lower()]
