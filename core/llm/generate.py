"""The table of providers, and the one function that turns settings into a `Generate` callable."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from core.base.answer import Answer, Generate
from core.base.exchange import Call
from core.base.paths import ASKED
from core.base.result import KnowledgeError, attempt
from core.llm import anthropic, gemini, ollama, openai_compatible
from core.llm.command import Finished, asking_place, finished, output_of
from core.llm.credentials import KeyFinder
from core.llm.local import connect_local
from core.llm.presets import PRESETS, Preset, explain
from core.llm.transport import RetryPolicy, complaint, never, post, refusal
from core.llm.wire import MODEL_CHARACTERS, Dialect, ModelSettings, Question, decode_object, excerpt, without_thinking

LOCAL = "local"
PROMPT_ALLOWANCE = 100_000
"""Tokens that a server may put around a prompt, which has at most one for each byte."""


@dataclass(frozen=True)
class Wire:
    """How one provider is spoken to over HTTP: three pure functions and the words of its refusals.

    A 400 or 422 whose text has one of `structure_words` means that structured output of that kind is not known.
    """

    build: Callable[[str, Question, Dialect], Call]
    read: Callable[[Mapping[str, Any], Question], Answer]
    first_dialect: Callable[[str], Dialect]
    structure_words: tuple[str, ...]


@dataclass(frozen=True)
class ProviderSpec:
    """One row of `PROVIDERS`.

    `key_variables` are looked up in this order; a key is required at the provider's own `base_url` alone, since a
    server of the user's own often has none. `wire` is None for a program; `preset` is how one of a coding agent is
    asked.
    """

    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    wire: Wire | None = None
    preset: Preset | None = None


def _wire(module: Any) -> Wire:
    return Wire(module.build, module.read, module.first_dialect, module.STRUCTURE_WORDS)


PROVIDERS: Mapping[str, ProviderSpec] = {
    "openai": ProviderSpec(openai_compatible.BASE_URL, ("OPENAI_API_KEY",), wire=_wire(openai_compatible)),
    "ollama": ProviderSpec(ollama.BASE_URL, wire=_wire(ollama)),
    "anthropic": ProviderSpec(anthropic.BASE_URL, ("ANTHROPIC_API_KEY",), wire=_wire(anthropic)),
    "gemini": ProviderSpec(gemini.BASE_URL, ("GEMINI_API_KEY", "GOOGLE_API_KEY"), wire=_wire(gemini)),
    "command": ProviderSpec(),
    LOCAL: ProviderSpec(),
    **{name: ProviderSpec(preset=preset) for name, preset in PRESETS.items()},
}
"""The language models. `offline` is none: it needs no connection and is not in this table."""


def connect(
    settings: ModelSettings,
    *,
    credentials: KeyFinder,
    cancelled: Callable[[], bool] = never,
    sleep: Callable[[float], None] = time.sleep,
) -> Generate:
    """The callable that asks the model of `settings`; nothing is sent yet.

    `credentials` is `credentials.keys_from(path, os.environ)`. `cancelled` is asked often while a call waits, from the
    calling thread. Raises KnowledgeError: `unknown-provider`, `bad-settings`, `no-model`, `no-command`,
    `no-credentials`, `bad-address` and those of `credentials`.
    """
    spec = PROVIDERS.get(settings.provider)
    if spec is None:
        known = ", ".join(PROVIDERS)
        message = f"there is no provider {settings.provider!r}"
        raise KnowledgeError("unknown-provider", message, hint=f"use one of: {known}")
    if settings.timeout_seconds <= 0 or settings.max_answer_bytes <= 0:
        message = "the time and the size allowed for an answer must be greater than 0"
        raise KnowledgeError("bad-settings", message, hint="check request_timeout_seconds in config.toml")
    if settings.provider == LOCAL:

        def over_http(asked: ModelSettings, key: str) -> Generate:
            return connect(asked, credentials=lambda *_: key, cancelled=cancelled, sleep=sleep)

        return connect_local(settings, over_http)
    if spec.wire is None:
        return _counting_starts(_program(settings, spec.preset, cancelled), cancelled)
    model = settings.model.strip()
    base_url = settings.base_url.strip() or spec.base_url
    if not _is_web_address(base_url):
        hint = "it begins with http:// or https:// and has no ? or #"
        raise KnowledgeError("bad-address", "base_url is not a web address", hint=hint)
    key = credentials(settings.provider, spec.key_variables)
    if not key and spec.key_variables and base_url.rstrip("/") == spec.base_url:
        where = f"set {spec.key_variables[0]}, or write {settings.provider} into [keys] of credentials.toml"
        too = "" if model else "; it needs the name of a model as well ('model' in the settings, or --model)"
        raise KnowledgeError("no-credentials", f"there is no key for {settings.provider}", hint=f"{where}{too}")
    if not model:
        hint = "set model in [ai_settings.knowledge], or pass --model"
        raise KnowledgeError("no-model", f"the provider {settings.provider} needs the name of a model", hint=hint)
    question = Question("", model, max_output_tokens=settings.max_output_tokens, key=key)
    return _http(settings, spec.wire, base_url, question, cancelled, sleep)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    clean = url.isprintable() and " " not in url and not parts.query and not parts.fragment
    return clean and parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0


def _counting_starts(ask: Generate, cancelled: Callable[[], bool]) -> Generate:
    """A program is given the question whenever it starts; none starts after the user has stopped the run."""

    def generate(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        if cancelled():
            raise KnowledgeError("cancelled", "the run was stopped before this call", hint="run again to go on")
        try:
            return replace(ask(prompt, schema), requests=1)
        except KnowledgeError as failed:
            never = failed.error.code in ("command-missing", "folder-failed")
            raise KnowledgeError.of(failed.error, 0 if never else 1) from failed

    return generate


def _program(settings: ModelSettings, preset: Preset | None, cancelled: Callable[[], bool]) -> Generate:
    """`Generate` over a program: the user's own, for which the prompt says in words what is wanted, or the command line
    of a coding agent. Raises KnowledgeError: `no-command`, `command-missing`."""
    if preset is None and (not settings.command or not settings.command[0].strip()):
        hint = 'set command in [ai_settings.knowledge], for example ["my-agent", "--print"]'
        raise KnowledgeError("no-command", "the provider command needs a program to run", hint=hint)
    if preset is not None and shutil.which(preset.program) is None:
        hint = f"install {preset.title}, or set another provider"
        message = f"the program {preset.program} of {preset.title} was not found"
        raise KnowledgeError("command-missing", message, hint=hint)

    def generate(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        try:
            with asking_place(settings.folder) as place:
                ended = finished(
                    preset.command(settings.model.strip(), place, schema) if preset is not None else settings.command,
                    _encodable(prompt),
                    seconds=settings.timeout_seconds,
                    max_bytes=settings.max_answer_bytes,
                    cancelled=cancelled,
                    folder=place / ASKED,
                    environment=preset.prepare(place) if preset is not None else {},
                )
        except OSError as error:
            message = f"the folder in which programs are asked cannot be made: {error.strerror}"
            raise KnowledgeError("folder-failed", message, error.filename or "", "check its rights") from error
        answer = Answer(output_of(ended)) if preset is None else _said_by(preset, ended)
        answer = replace(answer, text=without_thinking(answer.text))
        return _checked(answer, preset.title if preset is not None else "command", settings.model, prompt=prompt)

    return generate


def _said_by(preset: Preset, ended: Finished) -> Answer:
    """What a coding agent answered; where it failed, its own words rather than its status."""
    said = ended.output.decode("utf-8", "replace")
    explain(preset, said, ended.complaints.decode("utf-8", "replace"), ended.status)
    try:
        text = output_of(ended)
    except KnowledgeError as failed:
        reply = attempt(preset.read, said)
        raise (reply if isinstance(reply, KnowledgeError) and ":" in reply.error.message else failed) from failed
    return preset.read(text)


def _http(
    settings: ModelSettings,
    wire: Wire,
    base_url: str,
    template: Question,
    cancelled: Callable[[], bool],
    sleep: Callable[[float], None],
) -> Generate:
    """`Generate` over HTTP. It remembers for its life what the server turned out not to understand."""
    lock = threading.Lock()
    known = wire.first_dialect(base_url)

    def generate(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        until = time.monotonic() + settings.timeout_seconds
        retry_policy = RetryPolicy(until, settings.max_retries, settings.max_answer_bytes, cancelled, sleep)
        try:
            return replace(ask(prompt, schema, retry_policy), requests=retry_policy.requests)
        except KnowledgeError as failed:
            raise KnowledgeError.of(failed.error, retry_policy.requests) from failed

    def ask(prompt: str, schema: Mapping[str, Any] | None, retry_policy: RetryPolicy) -> Answer:
        nonlocal known
        question = replace(template, prompt=_encodable(prompt), schema=schema)
        with lock:
            dialect = known
        while True:  # ends: each refusal makes the dialect smaller
            call = wire.build(base_url, question, dialect)
            reply = post(call, retry_policy)
            if 200 <= reply.status <= 299:
                break
            smaller = None
            if reply.status in (400, 422):
                said = complaint(reply, call.key, 2000)
                smaller = dialect.after_refusal(said, wire.structure_words, schema is not None)
            if smaller is None:
                raise refusal(call, reply)
            dialect = smaller
        with lock:
            known = dialect
        decoded = decode_object(reply.body)
        if decoded is None:
            raise _not_json(call, reply.body)
        if decoded.get("error"):  # some gateways (OpenRouter) tell a failure with status 200
            said = complaint(reply, call.key)
            raise KnowledgeError("server-error", f"{call.label} reports a failure: {said}", hint="try again later")
        return _checked(wire.read(decoded, question), call.label, question.model, call.key, question.prompt)

    return generate


def _not_json(call: Call, body: bytes) -> KnowledgeError:
    """The sentence for a success that is no answer: a login page, a cut body, bytes that are no text."""
    if body.lstrip()[:1] == b"<":
        message = f"{call.label} answered with a web page instead of JSON"
        return KnowledgeError("bad-answer", message, hint="check base_url: it may lead to a login page or a proxy")
    message = f"{call.label} answered with something that is not a JSON object"
    return KnowledgeError("bad-answer", message, hint="try again; if it stays, check base_url")


def _checked(answer: Answer, label: str, model: str, key: str = "", prompt: str = "") -> Answer:
    """The answer with its text made storable. An empty text is an error, unless the output limit explains it.

    The model's name goes into the ledger as the server tells it: in printable characters, without the key. A count of
    tokens that the prompt has no room for is not believed.
    """
    if not answer.text.strip() and not answer.truncated:
        message = f"{label} answered with an empty text"
        raise KnowledgeError("empty-answer", message, hint="try again, or choose another model")
    named = answer.model if answer.model == model else excerpt(answer.model, key, MODEL_CHARACTERS)
    count = answer.input_tokens
    if count is not None and prompt and count > len(prompt.encode()) + PROMPT_ALLOWANCE:
        count = None
    return replace(answer, text=_encodable(answer.text), model=named or model, input_tokens=count)


def _encodable(text: str) -> str:
    """`text` with lone surrogates replaced by `?`: JSON can carry them, UTF-8 files and servers cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
