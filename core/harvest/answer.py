"""From a model's answer to items that may stand in a knowledge file. Nothing in the answer is trusted.

The seven arrays are the seed's; storage.md, "The model's answer", settles what it leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.base.markdown import sanitise_line
from core.base.redact import redact
from core.base.repository import slug
from core.base.result import Err, Ok, Result
from core.harvest.json_object import find_object
from core.harvest.orders import is_order
from core.harvest.quotes import Source, find_quote
from core.harvest.support import GOVERNED, Voices
from core.knowledge.categories import CATEGORIES

MAX_ITEMS = 200
FACTUAL = ("facts", "playbooks", "questions")
"""The categories whose rows become facts of the fact index (seed 5)."""
KINDS = ("fact", "pitfall", "pattern", "tool-quirk", "question")
MAX_TAGS = 8
DOMAIN_CHARACTERS = 40
"""A model's word for a project is a name; what is longer is a sentence."""
_TAG = re.compile(r"[a-z0-9-]{1,40}")


@dataclass(frozen=True)
class Item:
    """One piece of knowledge. `text` is one sanitised line; `path` is the file a note is about, as the model wrote it.

    `held` says why the item must wait in the quarantine ("" for one that may go in): `secret`, `quote-not-found`,
    `no-quote` or `from-tool-output`. `by_tool` says that only a tool's output, or a page, told what may go in all the
    same. The last four are for the fact index: what the model said about a row, if it did.
    """

    category: str
    text: str
    path: str = ""
    quote: str = ""
    held: str = ""
    by_tool: bool = False
    kind: str = ""
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    domain: str = ""


@dataclass(frozen=True)
class Items:
    """The valid items of an answer and how many rows were skipped, by reason."""

    items: tuple[Item, ...]
    skipped: dict[str, int]


_ABOUT: dict[str, Any] = {
    "kind": {"type": "string", "enum": list(KINDS)},
    "confidence": {"type": "number"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "domain": {"type": "string"},
}
"""What a row may say for the fact index; none of it is required."""


def _array(name: str, *keys: str) -> dict[str, Any]:
    text = {"type": "string"}
    properties: dict[str, Any] = dict.fromkeys((*keys, "quote"), text)
    required = list(properties)
    properties |= _ABOUT if name in FACTUAL else {}
    row = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "array", "items": row}


_KEYS = {"playbooks": ("name", "steps"), "files": ("path", "note")}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {row.name: _array(row.name, *_KEYS.get(row.name, ("statement", "detail"))) for row in CATEGORIES},
    "required": [row.name for row in CATEGORIES],
    "additionalProperties": False,
}


def parse_answer(text: str) -> Result[dict[str, list[Any]]]:
    """The seven arrays of an answer. A category that is missing or no list is empty; `{}` is a valid harvest.

    A fence around the whole answer is tolerated, and so are words around the one object that names a category.
    Err(invalid-answer) as `find_object` tells it.
    """
    found = find_object(text, SCHEMA["properties"])
    if isinstance(found, Err):
        return found
    payload = found.value
    return Ok({row.name: rows if isinstance(rows := payload.get(row.name), list) else [] for row in CATEGORIES})


def needs_source(arrays: Mapping[str, list[Any]]) -> bool:
    """Whether anything must be looked for in the conversation: its quote, and who said it."""
    return any(arrays.values())


def items_from(arrays: Mapping[str, list[Any]], source: Source, *, quotes: str, secrets: bool) -> Items:
    """Validate, sanitise, redact and check the quote of every row.

    `quotes` is check, require or off; `secrets` says whether to look for secrets. A row of a wrong shape, an empty one,
    one that repeats another, and what exceeds MAX_ITEMS is skipped and counted.
    """
    kept: list[Item] = []
    voices = Voices(source.conversation, _texts(arrays)) if source.conversation is not None else None
    seen: set[tuple[str, str, str]] = set()
    skipped: dict[str, int] = {}
    for row in CATEGORIES:
        for raw in arrays.get(row.name, []):
            item = _item(row.name, raw)
            if item is not None and row.name in FACTUAL and isinstance(raw, dict):
                item = _with_about(item, raw, secrets)
            problem = "wrong shape" if item is None else "empty" if not item.text else ""
            if item is not None and not problem:
                key = (item.category, item.text, item.path)
                problem = "repeated" if key in seen else "too many" if len(kept) >= MAX_ITEMS else ""
                seen.add(key)
            if problem or item is None:
                skipped[problem] = skipped.get(problem, 0) + 1
                continue
            kept.append((secrets and _with_secret(row.name, raw)) or _hold(item, source, voices, quotes, secrets))
    done = {item.text for item in kept if item.category == "tasks_done"}
    finished = [item for item in kept if item.category == "tasks_open" and item.text in done]
    if finished:  # a task that is named in both lists is done
        skipped["repeated"] = skipped.get("repeated", 0) + len(finished)
    return Items(tuple(item for item in kept if item not in finished), skipped)


def _item(category: str, raw: Any) -> Item | None:
    """One row as an item, or None when it has a wrong shape."""
    if isinstance(raw, str):
        return None if category == "files" else Item(category, sanitise_line(raw))
    if not isinstance(raw, dict):
        return None
    fields = {key: value for key, value in raw.items() if isinstance(value, str)}
    if any(isinstance(raw.get(key), (dict, list)) for key in ("statement", "detail", "name", "steps", "path", "note")):
        return None
    quote = fields.get("quote", "")
    if category == "files":
        return Item(category, sanitise_line(fields.get("note", "")), fields.get("path", "").strip(), quote)
    if category == "playbooks":
        name, steps = fields.get("name", "").strip(), fields.get("steps", "").strip()
        name = name.strip("*: ") if steps else name
        text = f"**{name}**: {steps}" if name and steps else name or steps
        return Item(category, sanitise_line(text or fields.get("statement", "")), quote=quote)
    statement, detail = fields.get("statement", "").strip(), fields.get("detail", "").strip()
    if not statement:
        return Item(category, "")
    return Item(category, sanitise_line(f"{statement} — {detail}" if detail else statement), quote=quote)


def _with_secret(category: str, raw: Any) -> Item | None:
    """The item of a row that has a secret in it, cleared and held; None for a row without. Asked before the row becomes
    one line of bounded length: a cut could leave half of a secret, which nobody would recognise."""
    fields = {"": raw} if isinstance(raw, str) else {key: row for key, row in raw.items() if isinstance(row, str)}
    clean = {key: redact(text) for key, text in fields.items() if key != "quote"}
    if not any(found.counts for found in clean.values()):
        return None
    texts = {key: found.text for key, found in clean.items()}
    item = _item(category, texts[""] if isinstance(raw, str) else {**raw, "quote": "", **texts})
    return replace(item, held="secret") if item is not None and item.text else None


def _with_about(item: Item, raw: Mapping[str, Any], secrets: bool) -> Item:
    """The item with what its row says for the fact index. What is not as it should be is as if it were not said."""
    kind, confidence, domain = raw.get("kind"), raw.get("confidence"), raw.get("domain")
    number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool) and 0 <= confidence <= 1
    rows = raw.get("tags") if isinstance(raw.get("tags"), list) else []
    tags = [tag for one in rows or () if isinstance(one, str) and (tag := slug(one)) and _TAG.fullmatch(tag)]
    if secrets:
        tags = [tag for tag in tags if not redact(tag).counts]
    place = slug(domain) if isinstance(domain, str) else ""
    place = place if len(place) <= DOMAIN_CHARACTERS else ""
    return replace(
        item,
        kind=kind if kind in KINDS else "",
        confidence=round(float(confidence), 2) if number and confidence is not None else None,
        tags=tuple(dict.fromkeys(tags))[:MAX_TAGS],
        domain="" if secrets and redact(place).counts else place,
    )


def _texts(arrays: Mapping[str, list[Any]]) -> list[str]:
    """Every text of an answer."""
    rows = [row for found in arrays.values() for row in found]
    texts = [text for row in rows if isinstance(row, dict) for text in row.values() if isinstance(text, str)]
    return [*texts, *(row for row in rows if isinstance(row, str))]


def _hold(item: Item, source: Source, voices: Voices | None, quotes: str, secrets: bool) -> Item:
    """Mark an item that must not go in without the person's word."""
    if secrets:
        clean, path = redact(item.text), redact(item.path)
        if clean.counts or path.counts:
            return replace(item, text=sanitise_line(clean.text), path=path.text, quote="", held="secret")
    followed = item.category in GOVERNED or is_order(item.text)
    if voices is not None and voices.only_tools(item.category, item.text):
        if followed:
            return replace(item, held="from-tool-output")
        item = replace(item, by_tool=True)
    if quotes == "off":
        return item
    if not item.quote.strip():
        return replace(item, held="no-quote") if quotes == "require" else item
    where = find_quote(item.quote, source)
    if where is None:
        return replace(item, held="quote-not-found")
    if where == "tool" and followed:
        return replace(item, held="from-tool-output")
    return replace(item, by_tool=True) if where == "tool" else item
