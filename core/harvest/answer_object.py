"""The one JSON object of a model's answer. Strict about the object and patient with the words around it: a fence around
the whole answer is tolerated, and so is a comma too many before a closing bracket. Where the whole is no JSON, the
outermost objects in it are looked at: one that names what was asked for is the answer, two are not, for nobody would
know which was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from core.base.markdown import sanitise_line
from core.base.result import KnowledgeError
from core.base.secrets.redact import redact

MAX_DEPTH = 32
OPENING_CHARACTERS = 60
TRIES = 40
"""This many opening braces are tried as the beginning of an object; a text with more of them outside is no answer."""
WHAT_TO_DO = 'run the harvest again, or choose another model; harvest_style = "per_category" asks for less at a time'

_BEGINS = re.compile(r'\{\s*(?:"|\})')
_FENCE = re.compile(r"\A```[A-Za-z]*\s(?P<body>.*)```\Z", re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|(?<![\[{,]),(?=\s*+[\]}])', re.DOTALL)
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{\]}]', re.DOTALL)


class _TooDeep(ValueError):
    """So deep that reading it could end the program."""


def find_object(text: str, names: Collection[str]) -> dict[str, Any]:
    """The object that `text` is, or the only one in it that has one of `names` as a key.

    Raises invalid-answer: no such object, several, one nested too deep, with a key twice, or with a number that JSON
    does not know. The sentence says what began the answer, without secrets.
    """
    stripped = text.strip().removeprefix("\ufeff").strip()
    first = max(0, stripped.find("{"))
    mended = stripped[:first] + _COMMA.sub(r"\1", stripped[first:])
    try:
        return _find(stripped, names)
    except KnowledgeError:
        if mended == stripped:
            raise
        return _find(mended, names)


def _find(stripped: str, names: Collection[str]) -> dict[str, Any]:
    fence = _FENCE.match(stripped)
    whole = _strict(fence["body"].strip() if fence is not None else stripped)
    if isinstance(whole, dict):
        return whole
    if not isinstance(whole, ValueError):
        raise refused("is not a JSON object", stripped)
    spans = _outermost(stripped, names)
    if len(spans) > 1:
        raise refused(f"has {len(spans)} JSON objects where one was asked for", stripped)
    if spans:
        whole = _strict(spans[0])
        if isinstance(whole, dict):
            return whole
    raise refused(str(whole) if isinstance(whole, _TooDeep) else f"is not valid JSON: {whole}", stripped)


def refused(what: str, text: str) -> KnowledgeError:
    """The error invalid-answer for an answer that `what` is said of, with the words that began it, without secrets."""
    opening = sanitise_line(redact(text[: OPENING_CHARACTERS * 10]).text, None)
    if len(opening) > OPENING_CHARACTERS:
        opening = f"{opening[: OPENING_CHARACTERS - 1].rstrip()}…"
    begins = f'; it begins "{opening}"' if opening else ""
    return KnowledgeError("invalid-answer", f"the model's answer {what}{begins}", hint=WHAT_TO_DO)


def _strict(text: str) -> Any:
    """What a JSON text holds, or the ValueError that says why it is none."""
    if _depth(text) > MAX_DEPTH:
        return _TooDeep(f"is nested deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except ValueError as error:
        return error


def _outermost(text: str, names: Collection[str]) -> list[str]:
    """The objects in a text that stand in no other one and have a key among `names`."""
    decoder, found, at = json.JSONDecoder(), list[str](), text.find("{")
    for _ in range(TRIES):
        if at < 0:
            return found
        try:
            value, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError:
            if _BEGINS.match(text, at):
                return []  # an object that is broken: nobody knows where it ends, and what follows may lie inside it
            end = at + 1
        except (ValueError, RecursionError):
            return []
        else:
            if isinstance(value, dict) and not value.keys().isdisjoint(names):
                found.append(text[at:end])
        at = text.find("{", end)
    return []


def _depth(text: str) -> int:
    """The deepest nesting, without recursion; brackets inside strings do not count. Takes time as the text is long."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        if bracket in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "]}":
            depth -= 1
    return deepest


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return result
