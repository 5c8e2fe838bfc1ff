"""What each provider's structured output accepts, made from the one schema that the caller has."""

from __future__ import annotations

import copy
from typing import Any

from core.llm.schema import anthropic_schema, gemini_schema, openai_schema

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "minItems": 3,
            "maxItems": 200,
            "items": {
                "anyOf": [
                    {"type": "string", "maxLength": 500},
                    {
                        "type": "object",
                        "properties": {"statement": {"type": "string"}, "quote": {"type": "string"}},
                        "required": ["statement"],
                    },
                ]
            },
        },
        "pattern": {"type": "string", "pattern": "^a", "enum": ["a", "ab"]},
        "either": {"anyOf": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "boolean"}]},
    },
    "required": ["facts"],
}


def test_openai_strict_mode_closes_objects_and_requires_everything() -> None:
    """Else OpenAI refuses the schema, and every answer comes without one."""
    adapted = openai_schema(SCHEMA)
    assert adapted["required"] == ["facts", "pattern", "either"]
    assert adapted["additionalProperties"] is False
    row = adapted["properties"]["facts"]["items"]["anyOf"][1]
    assert (row["required"], row["additionalProperties"]) == (["statement", "quote"], False)
    assert row["properties"] == {"statement": {"type": "string"}, "quote": {"type": ["string", "null"]}}


def test_openai_optional_properties_may_be_null() -> None:
    """Else the model would have to invent a quote where there is none."""
    properties = openai_schema(SCHEMA)["properties"]
    assert properties["facts"]["type"] == "array"
    assert properties["pattern"]["type"] == ["string", "null"]
    assert properties["pattern"]["enum"] == ["a", "ab", None]
    assert properties["either"]["anyOf"][-1] == {"type": "null"}
    twice = openai_schema(openai_schema(SCHEMA))
    assert twice == openai_schema(SCHEMA)


def test_anthropic_leaves_out_what_constrained_decoding_does_not_know() -> None:
    """Else Anthropic refuses the schema; what a property is called must not matter."""
    adapted = anthropic_schema(SCHEMA)
    assert adapted["required"] == ["facts"]
    assert adapted["additionalProperties"] is False
    facts = adapted["properties"]["facts"]
    assert "maxItems" not in facts and "minItems" not in facts
    assert facts["items"]["anyOf"][0] == {"type": "string"}
    assert adapted["properties"]["pattern"] == {"type": "string", "enum": ["a", "ab"]}
    assert anthropic_schema({"type": "array", "minItems": 1}) == {"type": "array", "minItems": 1}


def test_gemini_gets_only_the_keywords_it_lists() -> None:
    """Else Gemini answers 400 to a keyword it has never heard of."""
    adapted = gemini_schema(SCHEMA)
    assert "$schema" not in adapted
    assert adapted["properties"]["facts"]["maxItems"] == 200
    assert adapted["properties"]["facts"]["items"]["anyOf"][0] == {"type": "string"}
    assert adapted["properties"]["pattern"] == {"type": "string", "enum": ["a", "ab"]}
    assert adapted["properties"]["either"]["anyOf"][0] == {"type": "integer"}


def test_the_callers_schema_is_left_alone() -> None:
    """Else the second provider asked would get what was made for the first."""
    before = copy.deepcopy(SCHEMA)
    for adapt in (openai_schema, anthropic_schema, gemini_schema):
        adapt(SCHEMA)
    assert before == SCHEMA


def test_odd_schemas_do_not_stop_the_call() -> None:
    """The schema may come from a user's own prompt file one day: nonsense is the server's to refuse."""
    for odd in ({}, {"type": "object"}, {"properties": "no"}, {"anyOf": ["x"]}, {"items": True}, {"required": None}):
        for adapt in (openai_schema, anthropic_schema, gemini_schema):
            assert isinstance(adapt(odd), dict)
