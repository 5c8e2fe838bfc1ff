"""From a model's answer to items that may stand in a knowledge file. Nothing in the answer is trusted.

The seven arrays are the seed's; storage.md, "The model's answer", settles what it leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.base.markdown import ITEM_CHARACTERS, sanitise_line
from core.base.redact import redact
from core.base.repository import slug
from core.base.result import Err, Ok, Result
from core.harvest.json_object import find_object, refused
from core.harvest.orders import is_order
from core.harvest.quotes import Source, find_quote
from core.harvest.support import GOVERNED, Voices
from core.knowledge.categories import CATEGORIES

MAX_ITEMS = 200
"""What a conversation teaches beyond these waits in the quarantine."""
FLOOD_ROWS = 1000
"""An answer with more different rows is that of a model which does not find its end: it is no answer."""
PLAYBOOK_CHARACTERS = 4000
"""A playbook may be this long, any other item `ITEM_CHARACTERS`. What is longer is never cut: it is held back whole."""
FIELD_CHARACTERS, STEPS_CHARACTERS = 600, 2000
"""The longest field, and the longest `steps`, that the schema of one category lets a server write (llama.cpp compiles
no longer repetition). A field of exactly this length was ended by the server, not by the model."""
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
    `no-quote`, `from-tool-output`, `too-long` or `too-many`. `by_tool` says that only a tool's output, or a page, told
    what may go in all the same. The last four are for the fact index: what the model said about a row, if it did.
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
    """The valid items of an answer and how many rows were skipped, by reason; under `part of a row` how many of the
    items had a field that nobody reads, under `category full` how many arrays may have been ended by their schema."""

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


UNASKED = ""
"""The key of rows that came without being asked for, beside the seven arrays."""
FULL = "full"
"""The key of the names of categories that came with as many rows as they may have: there may have been more."""
_NAMES = tuple(row.name for row in CATEGORIES)
_NUMBERED = re.compile(r"\d{1,3}[.)]\s|[-*]\s")
_FAILURES = ("error", "errors", "refusal")


def parse_answer(text: str, names: Collection[str] = _NAMES) -> Result[dict[str, list[Any]]]:
    """The arrays `names` of an answer, and under UNASKED the rows of arrays that were not asked for, if there are any.
    `{}` is a valid harvest; a category that is missing or null is empty.

    Stricter than the parser of seed 1 (4.2), because here an answer lets a conversation go: what could not be read
    proves nothing. A fence around the whole answer is tolerated, and so are words around the one object that names a
    category. Err(invalid-answer) as `find_object` tells it, and for an object with other keys alone, a category that is
    no array, a report of a failure, more than FLOOD_ROWS different rows, or rows of which none could be read.
    """
    found = find_object(text, names)
    if isinstance(found, Err):
        return found
    payload = {
        key: [_with_steps(row) for row in value] if key == "playbooks" and isinstance(value, list) else value
        for key, value in found.value.items()
    }
    problem = _why_invalid(payload, names)
    arrays = {name: payload.get(name) or [] for name in names}
    others = [row for key, rows in payload.items() if key not in names and isinstance(rows, list) for row in rows]
    return refused(problem, text) if problem else Ok(arrays | ({UNASKED: others} if others else {}))


def _with_steps(row: Any) -> Any:
    """A playbook whose steps came as a list of texts, as many models write them, with its steps as one numbered text;
    anything else as it is."""
    steps = row.get("steps") if isinstance(row, dict) else None
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        return row
    said = [step.strip() for step in steps if step.strip()]
    bare = len(said) < 2 or all(_NUMBERED.match(step) for step in said)
    return {**row, "steps": " ".join(said if bare else [f"{number}. {step}" for number, step in enumerate(said, 1)])}


def _why_invalid(payload: Mapping[str, Any], names: Collection[str]) -> str:
    """Why an object is no answer, "" for one that is; goes on from "the model's answer"."""
    if not payload:
        return ""
    if payload.keys().isdisjoint(names):
        return f"has none of the keys that were asked for, such as {next(iter(names))!r}"
    meant = {_letters(name) for name in names}
    for key, value in payload.items():
        if key in names:
            if value is not None and not isinstance(value, list):
                return f"has {_KINDS.get(type(value), 'something else')} under {key!r} where an array was asked for"
        elif not _says_something(value):
            continue
        elif key in _FAILURES:
            return "reports a failure"
        elif _letters(key) in meant or (isinstance(value, dict) and not value.keys().isdisjoint(names)):
            return f"has rows under {sanitise_line(key)[:DOMAIN_CHARACTERS]!r}, which was not asked for"
    rows = [(key, row) for key, value in payload.items() if isinstance(value, list) for row in value]
    different = len({repr(row) for _, row in rows}) if len(rows) > FLOOD_ROWS else 0
    if different > FLOOD_ROWS:
        return f"has {different:,} rows, more than any conversation teaches"
    read = [_item(key, row) if key in names else None for key, row in rows]
    if None in read and not any(item is not None and item.text for item in read):
        return f"has {len(rows)} row{'s' * (len(rows) != 1)} of which none could be read"
    return ""


_KINDS: dict[type, str] = {dict: "an object", str: "a text", bool: "true or false", int: "a number", float: "a number"}


def _letters(key: str) -> str:
    """A key as somebody who writes `Tasks-Open` for `tasks_open` means it."""
    return "".join(char for char in key.casefold() if char.isalnum())


def _says_something(value: Any) -> bool:
    """Whether there is anything in a value: not in null, false, blanks, an empty array or object."""
    return bool(value.strip()) if isinstance(value, str) else value is not None and value not in (False, [], {})


def needs_source(arrays: Mapping[str, list[Any]]) -> bool:
    """Whether anything must be looked for in the conversation: its quote, and who said it."""
    return any(arrays.values())


def items_from(arrays: Mapping[str, list[Any]], source: Source, *, quotes: str, secrets: bool) -> Items:
    """Validate, sanitise, redact and check the quote of every row.

    `quotes` is check, require or off; `secrets` says whether to look for secrets. A row of a wrong shape, an empty one,
    one that repeats another and one that was not asked for is skipped and counted. An item that is too long, and what
    exceeds MAX_ITEMS, is held back whole.
    """
    kept: list[Item] = []
    voices = Voices(source.conversation, _texts(arrays)) if source.conversation is not None else None
    seen: set[tuple[str, str, str]] = set()
    skipped: dict[str, int] = {}

    def count(reason: str, number: int = 1) -> None:
        if number:
            skipped[reason] = skipped.get(reason, 0) + number

    for row in CATEGORIES:
        for raw in arrays.get(row.name, []):
            item = _item(row.name, raw)
            if item is not None and row.name in FACTUAL and isinstance(raw, dict):
                item = _with_about(item, raw, secrets)
            if item is None or not item.text:
                count("wrong shape" if item is None else "empty")
                continue
            key = (item.category, item.text, item.path)
            if key in seen:
                count("repeated")
                continue
            seen.add(key)
            count("part of a row", isinstance(raw, dict) and bool(_unread_keys(row.name, raw)))
            item = (secrets and _with_secret(row.name, raw)) or _hold(item, source, voices, quotes, secrets)
            kept.append(item if item.held else replace(item, held=_too_much(item, raw, len(kept))))
    count("not asked for", len(arrays.get(UNASKED, ())))
    count("category full", len(arrays.get(FULL, ())))
    done = {item.text for item in kept if item.category == "tasks_done"}
    finished = [item for item in kept if item.category == "tasks_open" and item.text in done]
    count("repeated", len(finished))  # a task that is named in both lists is done
    return Items(tuple(item for item in kept if item not in finished), skipped)


def _too_much(item: Item, raw: Any, before: int) -> str:
    """Why a good item is held back for its length or its number, "" for one that is not."""
    long = len(item.text) > (PLAYBOOK_CHARACTERS if item.category == "playbooks" else ITEM_CHARACTERS)
    if item.category == "playbooks" and isinstance(raw, dict):
        ends = (("name", FIELD_CHARACTERS), ("steps", STEPS_CHARACTERS))
        long = long or any(isinstance(raw.get(key), str) and len(raw[key]) == limit for key, limit in ends)
    return "too-long" if long else "too-many" if before >= MAX_ITEMS else ""


def _item(category: str, raw: Any) -> Item | None:
    """One row as an item, without text for one that says nothing, or None when it has a wrong shape: what it says
    stands where nobody looks."""
    if isinstance(raw, str):
        return Item(category, sanitise_line(raw, None)) if category != "files" or not raw.strip() else None
    if not isinstance(raw, dict):
        return None
    fields = {key: value for key, value in raw.items() if isinstance(value, str)}
    if any(isinstance(raw.get(key), (dict, list)) for key in ("statement", "detail", "name", "steps", "path", "note")):
        return None
    quote, path = fields.get("quote", ""), ""
    if category == "files":
        text, path = fields.get("note", ""), fields.get("path", "").strip()
    elif category == "playbooks":
        name, steps = fields.get("name", "").strip(), fields.get("steps", "").strip()
        name = name.strip("*: ") if steps else name
        text = f"**{name}**: {steps}" if name and steps else name or steps or fields.get("statement", "")
    else:
        text, detail = fields.get("statement", "").strip(), fields.get("detail", "").strip()
        text = f"{text} — {detail}" if text and detail else text
    item = Item(category, sanitise_line(text, None), path, quote)
    if not item.text and any(_says_something(raw[key]) for key in raw.keys() - _ABOUT.keys() - {"path"}):
        return None
    return item


def _unread_keys(category: str, raw: Mapping[str, Any]) -> list[str]:
    """The keys of a row that says more than its item holds."""
    keys = {*_KEYS.get(category, ("statement", "detail")), "quote", *_ABOUT}
    texts = {key for key in keys if raw.get(key) is None or isinstance(raw[key], str) or key in _ABOUT}
    if category == "playbooks" and not any(_says_something(raw.get(key)) for key in _KEYS[category]):
        texts.add("statement")
    return [key for key, value in raw.items() if key not in texts and _says_something(value)]


def _with_secret(category: str, raw: Any) -> Item | None:
    """The item of a row that has a secret in it, cleared and held; None for a row without. Asked before the row becomes
    one line: a key of many lines would not be recognised any more."""
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
            return replace(item, text=sanitise_line(clean.text, None), path=path.text, quote="", held="secret")
        item = replace(item, quote=redact(item.quote).text) if item.quote else item
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
