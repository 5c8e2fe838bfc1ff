"""Changes to the text of a knowledge file that touch nothing else: new items, single values, items taken out.

Values are replaced in place, character for character, so that headings, remarks, order and a user's own way of
writing stay. Every operation is plain data, says what it expects to find, and does nothing when it is done already or
when a user has changed the place meanwhile: it can be repeated after a crash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from core.factindex.facts import CATEGORIES, KEYS, Fact, fact_from
from core.factindex.items import BOM, Item, block_at, frontmatter, scan

Operation = dict[str, Any]
"""`{"op": "add", "fact": row}`, `{"op": "set", "id": …, "from": values, "to": values}`, `{"op": "remove", "id": …,
"raw": the item's own lines}` or `{"op": "date", "day": …}`."""

HARVESTED = "## Harvested"
DIGITS = 6
"""Of a confidence, behind its point."""
TITLES = dict(zip(CATEGORIES, ("Facts", "Pitfalls", "Patterns", "Tool quirks", "Questions"), strict=True))
_INTRO = {
    "fact": "What is so.",
    "pitfall": "What went wrong before, and what was assumed wrongly.",
    "pattern": "Steps that worked and can be taken again.",
    "tool-quirk": "How tools and environments behave, against expectation.",
    "question": "What was asked and not answered yet.",
}
_SAFE_TAG = re.compile(r"[a-z][a-z0-9-]*")
_YAML_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_SAFE_ID = re.compile(r"[\w][\w.:-]*")
_FRONT_DATE = re.compile(r"(?m)^(last_updated[ \t]*:[ \t]*)([\"']?)(\d{4}-\d{2}-\d{2})\2(?=[ \t]*(?:#|\r?$))")


# --- values as they are written --------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """A text in double quotes that JSON and YAML read alike; what neither shows on one line is escaped."""
    plain = json.dumps(text, ensure_ascii=False)
    if plain.isprintable():
        return plain
    return "".join(
        char if char.isprintable() else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
        for char in plain
    )


def written(key: str, value: Any) -> str:
    """A value of a field as it stands in an item."""
    if key == "confidence":
        text = f"{value:.{DIGITS}f}".rstrip("0")
        return text + "0" if text.endswith(".") else text
    if key == "source_count":
        return str(value)
    if key == "tags":
        rows = [one if _SAFE_TAG.fullmatch(one) and one not in _YAML_WORDS else quoted(one) for one in value]
        return f"[{', '.join(rows)}]"
    if key == "related":
        return f"[{', '.join(one if _SAFE_ID.fullmatch(one) else quoted(one) for one in value)}]"
    if key in ("id", "domain", "category"):
        return str(value) if _SAFE_ID.fullmatch(value) else quoted(value)
    return quoted(value)


def item_text(fact: Fact) -> str:
    """A fact as an item of our own shape, with a line break at its end."""
    return _item_with(fact.to_json())


def _item_with(fields: Mapping[str, Any]) -> str:
    rows = [
        f"{key}: {written(key, fields[key])}"
        for key in KEYS
        if key not in ("category", "domain") and fields.get(key) not in (None, "", (), [])
    ]
    return f"- {rows[0]}\n" + "".join(f"  {line}\n" for line in rows[1:])


def new_file_text(domain: str, category: str, day: str) -> str:
    """The beginning of a new file: frontmatter, heading, one sentence, and the heading of what is harvested."""
    front = (
        f'---\ndomain: {written("domain", domain)}\ncategory: {category}\nversion: 1\nlast_updated: "{day}"\n---\n\n'
    )
    return f"{front}# {TITLES[category]} ({domain})\n\n{_INTRO[category]}\n\n{HARVESTED}\n\n"


def is_bare(data: bytes) -> bool:
    """Whether a file is as we began it, with nothing in it that we or a user have added."""
    text = data.decode("utf-8", "replace")
    front = frontmatter(text)[0]
    domain, category, day = (front.get(key, "") for key in ("domain", "category", "last_updated"))
    return category in TITLES and text.strip() == new_file_text(domain, category, day).strip()


# --- operations on a whole file --------------------------------------------------------------------------------------


def apply_operations(text: str, operations: Sequence[Operation]) -> str:
    """The text after the operations. Those that are done already, or whose place a user has changed, do nothing."""
    if not operations:
        return text
    items = scan(text)
    ending = "\r\n" if "\r\n" in text[:4096] else "\n"
    by_id: dict[str, Item] = {}
    for item in items:
        by_id.setdefault(item.id, item)
    pieces: list[tuple[int, int, str]] = []
    for row in operations:
        known = by_id.get(row["id"]) if "id" in row else None
        if known is None:
            continue
        item = known
        if row["op"] == "remove" and text[item.start : item.end] == row["raw"]:
            pieces.append((item.start, item.end, ""))
        elif row["op"] == "set" and not item.problem:
            # Only what still is as it was when the change was decided.
            was = {key for key in row["to"] if (item.fields.get(key) or None) == (row["from"].get(key) or None)}
            changed = with_values(text, item, {key: value for key, value in row["to"].items() if key in was})
            if changed is not None:
                pieces.append((item.start, item.end, changed))
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    added = [fact_from(row["fact"]) for row in operations if row["op"] == "add" and row["fact"]["id"] not in by_id]
    if added:
        text = _with_items(text, added, ending)
    days = [row["day"] for row in operations if row["op"] == "date"]
    return _with_date(text, max(days)) if days else text


def _with_date(text: str, day: str) -> str:
    found = _FRONT_DATE.search(text, 0, frontmatter(text)[1])
    if found is None or found[3] >= day:
        return text
    return text[: found.start()] + f"{found[1]}{found[2]}{day}{found[2]}" + text[found.end() :]


def _with_items(text: str, facts: Sequence[Fact], ending: str) -> str:
    """New items at the end of the section of harvested ones, which is made at the end of the file if it is not there.
    A user moves them to other headings; new ones still come to this one."""
    new = "".join(map(item_text, facts))
    heading = next((found for found in re.finditer(r"(?m)^## Harvested[ \t]*\r?$", text)), None)
    if heading is None:
        text = _ended(text, ending)
        if text.removeprefix(BOM) and not text.endswith((f"{ending}{ending}", "\n\n")):
            text += ending
        return text + f"{HARVESTED}\n\n{new}".replace("\n", ending)
    following = re.compile(r"(?m)^#{1,2} ").search(text, heading.end())
    stop = following.start() if following is not None else len(text)
    inside = text[heading.end() : stop]
    kept = inside.rstrip()
    gap = inside[len(kept) :] if following is not None else ""
    items = scan(text[: heading.end() + len(kept)]) if kept else []
    lead = ending if items and items[-1].end >= heading.end() + len(kept) else f"{ending}{ending}"
    tail = (gap.lstrip(" \t").removeprefix("\r").removeprefix("\n") or ending) if following is not None else ""
    return text[: heading.end()] + kept + lead + new.replace("\n", ending) + tail + text[stop:]


def _ended(text: str, ending: str) -> str:
    return text if not text.removeprefix(BOM) or text.endswith("\n") else text + ending


# --- single values ---------------------------------------------------------------------------------------------------


def differing(item: Item, values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that do not stand in the item yet, a confidence rounded as it is written."""
    rounded = {key: round(value, DIGITS) if isinstance(value, float) else value for key, value in values.items()}
    return {
        key: value
        for key, value in rounded.items()
        if (_comparable(item.fields.get(key)) or None) != (_comparable(value) or None)
    }


def with_values(text: str, item: Item, values: Mapping[str, Any]) -> str | None:
    """The lines of one item with other values; None when nothing changes (see `differing`) or it cannot be done without
    touching more.

    A value of None is taken away (an emptied `expires` stays as "" in an item that a user has written)."""
    wanted = differing(item, values)
    if not wanted:
        return None
    raw = text[item.start : item.end]
    if item.ours:
        new = _item_with({**item.fields, **wanted})
        return new.replace("\n", "\r\n") if "\r\n" in raw else new
    block = block_at(text, item.start)
    if block is None:
        return None
    ending = "\r\n" if "\r\n" in raw else "\n"
    margin = " " * (block.indent if block.flush else block.key_column)
    lines = raw.splitlines(keepends=True)
    for key in sorted(wanted, key=KEYS.index):
        empty = "[]" if key in ("tags", "related") else '""'
        value = written(key, wanted[key]) if wanted[key] not in (None, ()) else empty
        found = [(at, row) for at, line in enumerate(lines) if (row := _value_of(key).match(line)) is not None]
        if found:
            at, row = found[0]
            lines[at] = f"{row['lead']} {value}{row['tail']}"
            blank = r"[ \t]*\r?\n|" if re.search(r":[ \t]*[>|][^\n]*\n?\Z", row[0]) else ""
            rest = re.compile(rf"{blank}{margin}(?:[ \t]+[^ \t#\r\n]|- )")  # what else the value has, below its key
            while at + 1 < len(lines) and rest.match(lines[at + 1]):
                del lines[at + 1]
        elif value != empty:
            lines[-1] = lines[-1] if lines[-1].endswith("\n") else lines[-1] + ending
            lines.append(f"{margin}{key}: {value}{ending}")
    result = "".join(lines)
    result = result if raw.endswith("\n") else result.rstrip("\r\n")
    return result if _says(result, item, wanted) else None


@cache
def _value_of(key: str) -> re.Pattern[str]:
    """The line on which a field stands with its whole value."""
    return re.compile(
        rf"(?P<lead>[ ]*(?:-[ \t]+)?[\"']?{key}[\"']?[ \t]*:)[ \t]*"
        r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|\[[^\]]*\]|[^#\r\n]*?)(?P<tail>[ \t]*(?:\#[^\n]*)?\r?\n?)\Z"""
    )


def _says(raw: str, item: Item, wanted: Mapping[str, Any]) -> bool:
    """Whether the changed lines say what was wanted, and otherwise the same as before."""
    items = scan(raw) if not raw.startswith("---") else []
    if len(items) != 1 or items[0].problem or items[0].end != len(raw):
        return False
    before = {key: _comparable(value) for key, value in {**item.fields, **wanted}.items()}
    after = {key: _comparable(value) for key, value in items[0].fields.items()}
    return {key: value for key, value in before.items() if value} == {
        key: value for key, value in after.items() if value
    }


def _comparable(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
