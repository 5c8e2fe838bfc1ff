"""Adapts a JSON schema to what each provider's structured output accepts. Pure functions; the input is not changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Keywords whose value is one schema, a list of schemas, or a table of schemas by name.
_ONE = ("items", "additionalProperties", "not")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_TABLES = ("properties", "$defs", "definitions")

# From the reference of generationConfig.responseJsonSchema (ai.google.dev/api/generate-content).
GEMINI_KEYWORDS = frozenset({
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems",
    "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required",
    "propertyOrdering",
})  # fmt: skip

# What constrained decoding does not know (platform.claude.com, Structured outputs, "JSON Schema limitations").
# They only narrow values, so dropping them leaves a schema that accepts more; the caller validates anyway.
ANTHROPIC_UNSUPPORTED = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
    "maxItems", "uniqueItems", "minProperties", "maxProperties", "patternProperties",
})  # fmt: skip


def _with_children(schema: Mapping[str, Any], adapt: Any) -> dict[str, Any]:
    """A copy of `schema` in which `adapt` has been applied to each schema directly inside it."""
    copy = dict(schema)
    for name in _ONE:
        if isinstance(copy.get(name), Mapping):
            copy[name] = adapt(copy[name])
    for name in _LISTS:
        if isinstance(copy.get(name), list | tuple):
            copy[name] = [adapt(part) if isinstance(part, Mapping) else part for part in copy[name]]
    for name in _TABLES:
        if isinstance(copy.get(name), Mapping):
            table = copy[name].items()
            copy[name] = {key: adapt(part) if isinstance(part, Mapping) else part for key, part in table}
    return copy


def _accepting_null(schema: Any) -> Any:
    """`schema`, widened so that null is accepted too: how strict mode spells an optional property."""
    if not isinstance(schema, Mapping):
        return schema
    widened = dict(schema)
    kind = widened.get("type")
    kinds = [kind] if isinstance(kind, str) else list(kind) if isinstance(kind, list | tuple) else []
    if not kinds:
        return {"anyOf": [widened, {"type": "null"}]}
    if "null" not in kinds:
        widened["type"] = [*kinds, "null"]
        if isinstance(widened.get("enum"), list | tuple):
            widened["enum"] = [*widened["enum"], None]
    return widened


def openai_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Strict mode: every object closed, every property required; one that was optional may be null instead.

    Followed: OpenAI, "Structured model outputs", section "Supported schemas".
    """
    copy = _with_children(schema, openai_schema)
    if copy.get("type") == "object" or "properties" in copy:
        properties = copy.get("properties")
        properties = dict(properties) if isinstance(properties, Mapping) else {}
        required = set(copy.get("required") or ())
        copy["properties"] = {
            name: part if name in required else _accepting_null(part) for name, part in properties.items()
        }
        copy["required"] = list(properties)
        copy["additionalProperties"] = False
    return copy


def anthropic_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Every object closed; keywords that constrained decoding does not know are left out.

    `minItems` stays only as 0 or 1. Followed: platform.claude.com, "Structured outputs".
    """
    copy = _with_children(schema, anthropic_schema)
    copy = {name: value for name, value in copy.items() if name not in ANTHROPIC_UNSUPPORTED}
    if copy.get("minItems") not in (None, 0, 1):
        del copy["minItems"]
    if copy.get("type") == "object" or "properties" in copy:
        copy["additionalProperties"] = False
    return copy


def gemini_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Only the keywords that `responseJsonSchema` lists; the rest would be refused or ignored."""
    copy = _with_children(schema, gemini_schema)
    return {name: value for name, value in copy.items() if name in GEMINI_KEYWORDS}
