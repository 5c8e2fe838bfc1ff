"""How a model is asked: everything in one call, or one category a call; and which version of a prompt was used.

`one_call` puts the question first and the conversation below it, and gets seven arrays. `per_category` is for small
models: the conversation comes first and stays the same, so that a server keeps it in its cache, and each of the seven
questions that follow is short.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.base.answer import Generate
from core.base.markdown import sanitise_name
from core.base.result import Err, Ok, Result, fail
from core.harvest.answer import FIELD_CHARACTERS, FULL, MOST_STEPS, OFFERED, SCHEMA, UNASKED, parse_answer
from core.harvest.parts import EMPTY_ANSWER, fenced

Arrays = dict[str, list[Any]]

RETRY_SUFFIX = "\nYour previous reply was not valid JSON. Return only the JSON object.\n"
MAX_ROWS = 20
"""A small model that has nothing more to say begins again: the schema of one category ends it. What it ended is never
taken for whole: a text of that length goes to the quarantine, a full array is told."""

_VERSION = re.compile(r"\s*<!-- *(?P<name>[\w-]{1,60}), version (?P<version>[\w.-]{1,40}) *-->\s*")
_SECTION = re.compile(r"^## +(\w+) *$", re.MULTILINE)


def split_version(prompt: str) -> tuple[str, str]:
    """(the prompt without its first line, "name version"), as the first line `<!-- name, version 3 -->` tells.

    A prompt without such a line is somebody's own: it is told apart by the first eight digits of its SHA-256.
    """
    found = _VERSION.match(prompt)
    if found:
        return prompt[found.end() :], f"{found['name']} {found['version']}"
    return prompt, f"own {hashlib.sha256(prompt.encode('utf-8', 'replace')).hexdigest()[:8]}"


def category_questions(prompt: str) -> tuple[str, dict[str, str]]:
    """What stands above the conversation, and the question for each category below its heading `## facts`.

    A category that has no heading is not asked for; a heading that names no category is part of what is above it.
    """
    marks = [found for found in _SECTION.finditer(prompt) if found[1] in SCHEMA["properties"]]
    if not marks:
        return prompt.strip(), {}
    head = prompt[: marks[0].start()]
    ends = [found.start() for found in marks[1:]] + [len(prompt)]
    return head.strip(), {found[1]: prompt[found.end() : end].strip() for found, end in zip(marks, ends, strict=True)}


def ask(
    prompt: str, style: str, name: str, text: str, attempts: int, generate: Generate, known: str = ""
) -> Result[Arrays]:
    """The arrays of a model's answer; `known` stands above the conversation. Err: codes of the provider,
    `invalid-answer`, `truncated-answer`, `bad-prompt`.

    Of several questions the first that fails ends it: half a harvest would let a conversation go that taught more.
    """
    if style != "per_category":
        return _ask(build_prompt(prompt, name, text, known), SCHEMA, attempts, generate)
    head, questions = category_questions(prompt)
    if not questions:
        return fail("bad-prompt", "the prompt has no heading such as '## facts'", hint="see harvest-category.md")
    arrays: Arrays = {}
    for category, question in questions.items():
        words = f"{build_prompt(head, name, text, known)}\n{question}\n"
        answer = _ask(words, category_schema(category), attempts, generate)
        if isinstance(answer, Err):
            return answer
        arrays[category] = answer.value[category]
        for beside in (UNASKED, *OFFERED):
            if beside in answer.value:
                arrays[beside] = [*arrays.get(beside, ()), *answer.value[beside]]
        if len(arrays[category]) == MAX_ROWS:
            arrays[FULL] = [*arrays.get(FULL, ()), category]
    return Ok(arrays)


def _ask(words: str, schema: Mapping[str, Any], attempts: int, generate: Generate) -> Result[Arrays]:
    for attempt in range(max(1, attempts)):
        answer = generate(words + (RETRY_SUFFIX if attempt else ""), schema)
        if isinstance(answer, Err) and answer.error.code == EMPTY_ANSWER:
            problem = answer
            continue
        if isinstance(answer, Err):
            return answer
        if answer.value.truncated:
            hint = "raise max_output_tokens in config.toml"
            problem = fail("truncated-answer", "the model stopped at its output limit", hint=hint)
            continue
        parsed = parse_answer(answer.value.text, schema["required"])
        if isinstance(parsed, Ok):
            return parsed
        problem = parsed
    error = problem.error
    if error.code == EMPTY_ANSWER:
        return problem
    return fail(error.code, f"no valid answer in {attempts} attempts: {error.message}", hint=error.hint)


def category_schema(category: str) -> dict[str, Any]:
    """The JSON schema of an answer with one array, of at most `MAX_ROWS` rows with so many characters."""
    row = SCHEMA["properties"][category]["items"]
    fields = {key: _shorter(value, key) for key, value in row["properties"].items()}
    array = {"type": "array", "items": row | {"properties": fields}, "maxItems": MAX_ROWS}
    return {"type": "object", "properties": {category: array}, "required": [category], "additionalProperties": False}


def _shorter(field: Mapping[str, Any], key: str = "") -> dict[str, Any]:
    if field.get("type") == "array":
        most = MOST_STEPS if key == "steps" else MAX_ROWS
        return {**field, "items": _shorter(field["items"]), "maxItems": most}
    return (
        {**field, "maxLength": FIELD_CHARACTERS}
        if field.get("type") == "string" and "enum" not in field
        else dict(field)
    )


def build_prompt(template: str, name: str, text: str, known: str = "") -> str:
    """What the model is told, with the conversation below it, which cannot close its own fence."""
    above = f"{known}\n" if known else ""
    return f"{template}\n\nConversation name: {sanitise_name(name)}\n\n{above}{fenced(text)}"


def words_around(prompt: str, style: str) -> str:
    """What stands around a conversation in the longest question about it: it needs its room in the model's window."""
    if style != "per_category":
        return prompt
    head, questions = category_questions(prompt)
    return head + max(questions.values(), key=len, default="")


def joined(arrays: Sequence[Arrays]) -> Arrays:
    """What was found in the parts of one conversation, in their order."""
    found: Arrays = {}
    for one in arrays:
        for key, rows in one.items():
            found[key] = [*found.get(key, ()), *rows]
    return found
