"""Adapts a JSON schema to what a provider's structured output accepts. Pure; the schema that is given is not changed.

The schemas of this program are objects, lists, texts, numbers and choices, each with its `type`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

LENGTHS = ("maxLength",)
"""Gemini's reference of generationConfig.responseJsonSchema does not list it."""
SIZES = (*LENGTHS, "maxItems")
"""What Anthropic's constrained decoding does not know (platform.claude.com, Structured outputs, "JSON Schema
limitations")."""


def adapted(schema: Mapping[str, Any], without: Collection[str] = (), *, strict: bool = False) -> dict[str, Any]:
    """Every object closed, and the keywords `without` left out: these only narrow values, and the caller validates
    anyway. `strict`, as OpenAI means it ("Structured model outputs", "Supported schemas"): every property is required,
    and one that was optional may be null."""
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
