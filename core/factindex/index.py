"""`index.json`: the facts as machines look them up. A projection of the YAML files.

One fact a line, in the order of their ids, so that one fact or one tag is found without reading all of the others.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from core.base import files
from core.base.result import KnowledgeError
from core.factindex.facts import CATEGORIES, Fact, Problem, check, fact_from, shown, sort_key

NAME = "index.json"
VERSION = 1
_BYTES = 1 << 30
_FACTS = re.compile(r'"facts"\s*:\s*\[\s*')
_COMMA = re.compile(r"\s*,\s*")


def rows_of(facts: Iterable[Fact]) -> list[str]:
    """The facts as the lines of the index, sorted."""
    return ["    " + json.dumps(fact.to_json(), ensure_ascii=False) for fact in sorted(facts, key=sort_key)]


def sum_of(rows: list[str]) -> str:
    """A short name for what the index holds."""
    return hashlib.sha256("\n".join(rows).encode("utf-8", "replace")).hexdigest()[:32]


def format_index(rows: list[str], at: str) -> bytes:
    """The whole file. `at` is when its facts last changed, ISO 8601."""
    head = f'{{\n  "version": {VERSION},\n  "last_updated": "{at}",\n  "total_facts": {len(rows)},\n  "facts": ['
    body = "\n" + ",\n".join(rows) + "\n  " if rows else ""
    return f"{head}{body}]\n}}\n".encode("utf-8", "replace")


def fact_in(data: bytes, fact_id: str) -> Fact | None:
    """One fact of the bytes of an index, None where it is not there: without reading the others."""
    begin = data.find(b'{"id": ' + json.dumps(fact_id, ensure_ascii=False).encode("utf-8", "replace") + b", ")
    if begin < 0:
        return None
    try:
        return _trusted(json.loads(data[begin : data.find(b"\n", begin)].rstrip(b", \r")))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        return None


def read_index(knowledge: Path) -> list[Fact]:
    """All facts of index.json. KnowledgeError(no-index) when it is not there, KnowledgeError(bad-index) when it is no
    index of ours, also for a single row that is no fact: only what passed the validations is ever written."""
    path = knowledge / NAME
    try:
        data = files.read_file(path, _BYTES).data
    except FileNotFoundError:
        message = "there is no index.json yet"
        raise KnowledgeError("no-index", message, path, "'knowledge facts sync' writes it") from None
    except OSError as error:
        raise KnowledgeError("bad-index", f"the index cannot be read: {error.strerror}", path) from error
    try:
        loaded = json.loads(data)
        if loaded["version"] != VERSION:
            message = f"the index is of version {shown(loaded['version'])}, not {VERSION}"
            raise KnowledgeError("bad-index", message, path, _ANEW)
        return list(map(_trusted, loaded["facts"]))
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
        raise KnowledgeError("bad-index", f"the index is damaged: {type(error).__name__}", path, _ANEW) from error


def _trusted(row: dict[str, Any]) -> Fact:
    """A row of the index as a fact. Raises when it is none: then somebody else has written in the file."""
    fact = fact_from(row)
    texts = {type(one) for one in (fact.id, fact.fact, fact.domain)}
    if texts != {str} or fact.category not in CATEGORIES or type(fact.source_count) not in (int, type(None)):
        raise ValueError(fact.id)
    return fact


_ANEW = "'knowledge facts sync' writes it again"


# --- validation ------------------------------------------------------------------------------------------------------


def validate_index(name: str, data: bytes) -> tuple[int, list[Problem]]:
    """How many facts an index has, and everything that is wrong with it, with lines."""

    def wrong(message: str, line: int = 1) -> Problem:
        return Problem("bad-index", name, line, "", message)

    try:
        text = data.decode("utf-8")
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        return 0, [wrong(f"this is no JSON: {shown(str(error))}", line)]
    facts = loaded.get("facts") if isinstance(loaded, dict) else None
    if not isinstance(facts, list):
        return 0, [wrong("there is no list of facts; allowed: an object with version, total_facts and facts")]
    found: list[Problem] = []
    if loaded.get("version") != VERSION:
        found.append(wrong(f"version is {shown(loaded.get('version'))}; allowed: {VERSION}"))
    if loaded.get("total_facts") != len(facts):
        total = shown(loaded.get("total_facts"))
        found.append(wrong(f"total_facts is {total}; allowed: {len(facts)}, the number of facts"))
    first: dict[str, int] = {}
    line, counted = 1, 0
    for row, at in zip(facts, chain(_beginnings(text), repeat(0)), strict=False):
        fields = row if isinstance(row, dict) else {}
        fact_id = fields["id"] if isinstance(fields.get("id"), str) else ""
        line, counted = line + text.count("\n", counted, at), at
        found += [Problem(code, name, line, fact_id, message) for code, message in check(fields)]
        if fact_id and fact_id in first:
            message = f"the id stands twice, first in line {first[fact_id]}; allowed: each id once"
            found.append(Problem("duplicate-id", name, line, fact_id, message))
        first.setdefault(fact_id, line)
    return len(facts), found


def _beginnings(text: str) -> Iterator[int]:
    """Where each fact of the list begins, as far as that can be told."""
    start, decoder = _FACTS.search(text), json.JSONDecoder()
    at = start.end() if start is not None else len(text)
    with suppress(ValueError, RecursionError):
        while at < len(text):
            yield at
            comma = _COMMA.match(text, decoder.raw_decode(text, at)[1])
            at = comma.end() if comma is not None else len(text)
