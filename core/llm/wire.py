"""The records that cross this room (settings, dialects, questions), and readers for untrusted JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

MAX_TOKENS = 100_000_000
MODEL_CHARACTERS = 100


@dataclass(frozen=True)
class ModelSettings:
    """Which model to ask and how patiently.

    `timeout_seconds` is the wall clock of one call: connecting, retries, waiting and reading together.
    `max_answer_bytes` bounds the answer after decompression. `max_retries` counts the repetitions after a busy
    server or a broken connection (0: ask once). `max_output_tokens` is passed to the provider; 0 leaves it to it.
    An empty `base_url` means the provider's own address. `command` is used by the provider `command` alone; in `folder`
    (empty: asking_folder) each question to a program gets a folder of its own; `context_tokens` is the window of a
    model that is loaded here.
    """

    provider: str
    model: str = ""
    base_url: str = ""
    command: tuple[str, ...] = ()
    timeout_seconds: float = 120.0
    max_answer_bytes: int = 4 * 1024 * 1024
    max_retries: int = 3
    max_output_tokens: int = 0
    folder: str = ""
    context_tokens: int = 0


@dataclass(frozen=True)
class Dialect:
    """What a server is still believed to understand, best first; a refusal shortens the list.

    `structures`: `schema` (the JSON schema is enforced), `object` (some JSON object), `none` (the prompt alone).
    `limits`: names of the field that bounds the output; an empty tuple means that no bound is sent. `most_tokens`: the
    highest bound that the model takes, 0 while none is known.
    """

    structures: tuple[str, ...] = ("schema", "object", "none")
    limits: tuple[str, ...] = ()
    most_tokens: int = 0

    def bounded(self, tokens: int) -> int:
        """The bound to send where `tokens` are wanted."""
        return min(tokens, self.most_tokens) if self.most_tokens else tokens

    def after_refusal(self, complaint: str, structure_words: tuple[str, ...], structured: bool) -> Dialect | None:
        """The next dialect to try after a 400 with this text, or None when the complaint is about something else."""
        folded = complaint.casefold()
        most = most_output_tokens(folded)
        if most and (not self.most_tokens or most < self.most_tokens):
            return replace(self, most_tokens=most)
        if self.limits and any(word in folded for word in ("max_tokens", "max_completion_tokens")):
            return replace(self, limits=self.limits[1:])
        if structured and len(self.structures) > 1 and any(word in folded for word in structure_words):
            return replace(self, structures=self.structures[1:])
        return None


_OUTPUT = re.compile(r"max_tokens|max_completion_tokens|max_?output_?tokens|max tokens|(?:completion|output) tokens")
_OUTPUT_LIMIT = re.compile(
    r"\d > (\d[\d,]*)(?![\d,]| ?-)|(?:at most|less than or equal to|up to) \W?(\d[\d,]*)|\[\d+, ?(\d[\d,]*)\]|"
    r"to (\d[\d,]*) \(inclusive\)|to (\d[\d,]*)(?= \(exclusive\))"
)


def most_output_tokens(complaint: str) -> int:
    """The bound that a refusal (in lower case) names for the output, 0 when it is about something else: `max_tokens:
    8192 > 4096`, `at most 4096 completion tokens`, `the valid range of max_tokens is [1, 8192]`."""
    found = _OUTPUT_LIMIT.search(complaint) if _OUTPUT.search(complaint) else None
    if found is None:
        return 0
    number = int(next(filter(None, found.groups())).replace(",", "")[:12])
    return number - (complaint.startswith(" (exclusive)", found.end()))


@dataclass(frozen=True)
class Question:
    """One question to a model, ready to be put into a provider's words. `key` is empty where none is needed."""

    prompt: str
    model: str
    schema: Mapping[str, Any] | None = None
    max_output_tokens: int = 0
    key: str = field(default="", repr=False)

    def prompt_with_schema(self) -> str:
        """The prompt, with the schema in words: for servers that do not enforce one (JSON mode wants the word JSON)."""
        if self.schema is None:
            return self.prompt
        schema = json.dumps(self.schema, ensure_ascii=False)
        return (
            f"{self.prompt}\n\nAnswer with one JSON object that follows this JSON schema, and nothing else:\n{schema}"
        )


LENGTHS = ("maxLength",)
"""Gemini's reference of generationConfig.responseJsonSchema does not list it."""
SIZES = (*LENGTHS, "maxItems")
"""What Anthropic's constrained decoding does not know (platform.claude.com, Structured outputs, "JSON Schema
limitations")."""


def adapted(schema: Mapping[str, Any], without: Collection[str] = (), *, strict: bool = False) -> dict[str, Any]:
    """A schema of ours as a provider's structured output accepts it: every object closed, and the keywords `without`
    left out, which only narrow values. `strict`, as OpenAI means it ("Structured model outputs", "Supported schemas"):
    every property is required, and one that was optional may be null."""
    made = {name: value for name, value in schema.items() if name not in without}
    if "items" in made:
        made["items"] = adapted(made["items"], without, strict=strict)
    if "properties" in made:
        required = made.get("required", ())
        inner = {name: adapted(part, without, strict=strict) for name, part in made["properties"].items()}
        if strict:
            inner = {name: part if name in required else _or_null(part) for name, part in inner.items()}
            made["required"] = list(inner)
        made |= {"properties": inner, "additionalProperties": False}
    return made


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema that accepts null too."""
    if "enum" in schema:
        schema = {**schema, "enum": [*schema["enum"], None]}
    return {**schema, "type": [schema["type"], "null"]}


def decode_object(body: bytes | str) -> dict[str, Any] | None:
    """The JSON object in `body`, or None when it is not valid UTF-8, not JSON, nested too deep or not an object."""
    try:
        value = json.loads(body if isinstance(body, str) else body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def child(value: object, name: str) -> dict[str, Any]:
    """The object under `name`, or an empty one: whatever a server leaves out reads as absent."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, dict) else {}


def rows(value: object, name: str) -> list[Any]:
    """The list under `name`, or an empty one."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []


def text_of(value: object, name: str) -> str:
    """The string under `name`, or an empty one."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def count_of(value: object, name: str) -> int | None:
    """The non-negative whole number under `name`, or None where the provider does not report it or nobody can believe
    it: more than any model takes."""
    found = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= MAX_TOKENS:
        return found
    return None


def sum_of(value: object, *names: str) -> int | None:
    """The sum of the counts under these names that are known, or None when none is."""
    return add_counts(count_of(value, name) for name in names)


def add_counts(counts: Iterable[int | None]) -> int | None:
    """The sum of the counts that are known, or None when none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def without_thinking(text: str) -> str:
    """`text` without what some local reasoning models put before their answer: a `<think>…</think>` block, or, where
    the opening tag belongs to the prompt, all until a `</think>` that ends or begins a line. An answer that is JSON as
    a whole is never cut: such a tag in it is quoted."""
    opened = text.lstrip()
    if opened.startswith("<think>") and "</think>" in opened:
        return opened.split("</think>", 1)[1].lstrip()
    if _THOUGHT.search(text) is None or _is_json(text):
        return text
    last = list(_THOUGHT.finditer(text))[-1]
    return text[last.end() :].lstrip() or text


_THOUGHT = re.compile(r"^[ \t]*</think>|</think>[ \t]*$", re.MULTILINE)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def excerpt(text: str, key: str = "", limit: int = 200) -> str:
    """At most `limit` printable characters of untrusted text on one line, without the key or any other secret: an
    error sentence ends up in the ledger, in reports and on screenshots."""
    from core.base.secrets.redact import redact

    text = re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]", "", text)  # the colours of a terminal: a key may be parted by one
    if key:
        text = text.replace(key, "[key]")
    # The cut before the split only bounds the work; four times the limit leaves room for white space. Secrets go before
    # the last cut, which could leave half of one that nobody would recognise.
    flat = " ".join("".join(c if c.isprintable() else " " for c in text[: limit * 4]).split())
    line = redact(flat).text
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def host_of(url: str) -> str:
    """Host and port of a URL for an error sentence: no user name, password, path or query."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "an unreadable address"
    return f"{host}:{port}" if port else host
