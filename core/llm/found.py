"""Which models are there already: servers on this very machine, keys, and the command lines of agents.

Nothing leaves the machine: servers are asked for their list of models on loopback alone, of keys and programs it is
only seen that they are there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from core.base.exchange import Call, Reply, exchange, is_loopback
from core.base.installed import how_to_install
from core.base.result import KnowledgeError, attempt
from core.llm import ollama
from core.llm.credentials import KeyFinder
from core.llm.generate import PROVIDERS
from core.llm.local import kept_models
from core.llm.presets import PRESETS
from core.llm.wire import decode_object, rows, text_of

SECONDS = 1.0
MAX_ANSWER_BYTES = 4 << 20


class Server(NamedTuple):
    """A program that serves models, and where it listens unless it is told otherwise."""

    title: str
    provider: str
    address: str


USUAL_OLLAMA = "http://127.0.0.1:11434"
SERVERS: tuple[Server, ...] = (
    Server("Ollama", "ollama", USUAL_OLLAMA),
    Server("LM Studio", "openai", "http://127.0.0.1:1234/v1"),
    Server("llama.cpp", "openai", "http://127.0.0.1:8080/v1"),
    Server("vLLM", "openai", "http://127.0.0.1:8000/v1"),
)
SUGGESTED: Mapping[str, str] = {
    "openai": "gpt-5.6-luna",
    "anthropic": "claude-haiku-5-5",
    "gemini": "gemini-3.1-flash-lite",
}
"""A model of each maker that reads well for little; each has its row in the shipped table of prices."""
NO_PRESET: Mapping[str, str] = {"opencode": "OpenCode", "copilot": "Copilot CLI"}
"""Command lines that write a session for every question, which cannot be switched off: they are not asked."""
_NOT_FOR_TEXT = ("embed", "bge-", "minilm", "rerank", "whisper", "clip", "tts")


class FoundModel(NamedTuple):
    """One model that could read conversations. `where` says how it was found; `free`: it runs on this machine. `ready`
    is false with a `problem` in words."""

    provider: str
    model: str
    where: str
    base_url: str = ""
    free: bool = False
    ready: bool = True
    problem: str = ""

    @property
    def title(self) -> str:
        return f"{self.provider} {self.model}".strip()


def found_models(environment: Mapping[str, str], keys: KeyFinder) -> list[FoundModel]:
    """All that are there, those of this machine first, then agents that are logged in anyway, then keys."""
    servers = list(SERVERS)
    named = environment.get("OLLAMA_HOST", "").strip()
    if named:
        address = named if "://" in named else f"http://{named}"
        address = address.replace("://0.0.0.0", "://127.0.0.1")
        host = urlsplit(address)
        address = address if host.port else f"{address.rstrip('/')}:11434"
        servers = [row._replace(address=address) if row.provider == "ollama" else row for row in servers]
    with ThreadPoolExecutor(max(1, len(servers))) as pool:
        answers = pool.map(served_by, [row for row in servers if is_loopback(row.address)])
    here = [row for rows in answers for row in rows]
    return [*here, *_files(environment), *_programs(environment), *_keys(environment, keys)]


def served_by(server: Server) -> list[FoundModel]:
    """The models of one server on this machine; none where nobody answers."""
    base = server.address.rstrip("/")
    url = f"{base}/api/tags" if server.provider == "ollama" else f"{base}/models"
    reply = exchange(Call(server.title, url, {}, None), seconds=SECONDS, max_bytes=MAX_ANSWER_BYTES)
    listed = decode_object(reply.body) if isinstance(reply, Reply) and reply.status == 200 else None
    if listed is None:
        return []
    where = f"{server.title} at {base}"
    own = "" if server.provider == "ollama" and base in (USUAL_OLLAMA, ollama.BASE_URL) else base
    names = _names(listed)
    if not names:
        fetches = " ('ollama pull qwen3:8b' fetches one)" if server.provider == "ollama" else ""
        problem = f"it has no model yet{fetches}"
        return [FoundModel(server.provider, "", where, own, True, ready=False, problem=problem)]
    return [FoundModel(server.provider, name, where, own, True) for name in names]


def _names(listed: Mapping[str, Any]) -> list[str]:
    """The names in a list of models, of Ollama or of the OpenAI protocol, without those that write no text."""
    found = [text_of(row, "name") or text_of(row, "id") for row in rows(listed, "models") or rows(listed, "data")]
    names = [name for name in found if name.isprintable() and 0 < len(name) <= 200]
    return [name for name in names if not any(word in name.lower() for word in _NOT_FOR_TEXT)]


def _files(environment: Mapping[str, str]) -> list[FoundModel]:
    """Models in the hub's own cache, which this program can load by itself where the extra for it is installed."""
    installed = find_spec("xllamacpp") is not None
    problem = "" if installed else how_to_install("local")
    return [
        FoundModel("local", path, os.path.basename(path), "", True, installed, problem)
        for path in kept_models(environment)
    ]


def _programs(environment: Mapping[str, str]) -> list[FoundModel]:
    path = environment.get("PATH", os.defpath)
    models = []
    for name, preset in PRESETS.items():
        if found := shutil.which(preset.program, path=path):
            models.append(FoundModel(name, "", found, problem="billed by your plan with it"))
    for program, title in NO_PRESET.items():
        if found := shutil.which(program, path=path):
            problem = f"{title} writes a session for every question, so it is not asked"
            models.append(FoundModel(program, "", found, ready=False, problem=problem))
    return models


def _keys(environment: Mapping[str, str], keys: KeyFinder) -> list[FoundModel]:
    models = []
    for name, spec in PROVIDERS.items():
        if not spec.key_variables:
            continue
        found = attempt(keys, name, spec.key_variables)
        where = next(
            (f"{row} is set" for row in spec.key_variables if environment.get(row, "").strip()), "credentials.toml"
        )
        if isinstance(found, KnowledgeError):
            models.append(FoundModel(name, SUGGESTED[name], where, ready=False, problem=str(found.error)))
        elif found.value:
            models.append(FoundModel(name, SUGGESTED[name], where))
    return models
