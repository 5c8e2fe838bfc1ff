"""Two machines have counted on alone, and their files were merged: numbers that stand twice, both sides of a conflict.

All of it is computed from the files alone and never from what one machine remembers, and in an order that the facts
themselves give, so that both machines arrive at the same files whoever merges. Text in, text out; nothing here touches
the disk.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.base.conflict import both_sides
from core.base.entry import statement_key
from core.factindex.edits import differing, with_values
from core.factindex.facts import Fact, format_id, split_id
from core.factindex.items import scan
from core.factindex.places import FactFile, FactFiles, Placed, read_one

FAR = 10**15
"""Numbers from here on were made up: counting goes on below them."""


@dataclass(frozen=True)
class Change:
    """Other values for the item at `line` of its file; None takes it out."""

    line: int
    values: Mapping[str, Any] | None


Changes = dict[str, list[Change]]
"""By the name of the file."""


def plan_renumbering(found: FactFiles) -> Changes:
    """Give each fact whose number stands twice one of its own. The oldest keeps it (`first_seen`, then its words); the
    others are counted on from the highest number that stands in any file. Two items of one number that say the same are
    joined into one. A reference to a number that stood twice names both from now on: nobody can tell which was
    meant. Nothing is changed while a file is broken: the numbers in it are not known."""
    plan: Changes = defaultdict(list)
    if any(read.broken for read in found.by_name.values()):
        return plan
    groups: dict[str, list[Placed]] = defaultdict(list)
    for read in found.by_name.values():
        for row in read.placed:
            groups[row.fact.id].append(row)
    last: dict[tuple[str, str], int] = {}
    for name in {name for read in found.by_name.values() for name in read.ids}:
        parts = split_id(name)
        if parts is not None and parts[2] < FAR:
            last[parts[:2]] = max(parts[2], last.get(parts[:2], 0))
    heirs: dict[str, list[str]] = {}
    for name in sorted((name for name, rows in groups.items() if len(rows) > 1), key=_order):
        texts: dict[str, list[Placed]] = defaultdict(list)
        for row in groups[name]:
            texts[statement_key(row.fact.fact)].append(row)
        for number, text in enumerate(sorted(texts, key=lambda text: (_since(texts[text]), text))):
            new = name if not number else _next(name, last)
            if number:
                heirs.setdefault(name, []).append(new)
            _place(texts[text], name, new, plan)
    _follow(groups, heirs, plan)
    return plan


def _order(name: str) -> tuple[str, str, int]:
    parts = split_id(name)
    return parts if parts is not None else ("", name, 0)


def _since(rows: Sequence[Placed]) -> str:
    return min((row.fact.first_seen for row in rows if row.fact.first_seen), default="9999")


def _next(name: str, last: dict[tuple[str, str], int]) -> str:
    domain, category, _ = _order(name)
    last[domain, category] = last.get((domain, category), 0) + 1
    return format_id(domain, category, last[domain, category])


def _place(rows: Sequence[Placed], old: str, new: str, plan: Changes) -> None:
    """The items of one text under one number: the first in the files stays, with what the others know as well."""
    kept, *rest = rows
    values = joined([row.fact for row in rows]) if rest else {}
    if new != old:
        values = {"id": new, **values}
    if differing(kept.item, values):
        plan[kept.file].append(Change(kept.line, values))
    for row in rest:
        plan[row.file].append(Change(row.line, None))


def joined(facts: Sequence[Fact]) -> dict[str, Any]:
    """What items of one fact know together: the surer confidence, the higher count, all tags and related ids, the
    earlier first and the later last date."""
    first = facts[0]
    counts = [fact.source_count for fact in facts if fact.source_count is not None]
    values: dict[str, Any] = {
        "confidence": max(fact.confidence for fact in facts),
        "tags": _all(first.tags, (tag for fact in facts for tag in fact.tags)),
        "source_count": max(counts, default=None),
        "first_seen": min((fact.first_seen for fact in facts if fact.first_seen), default=""),
        "last_confirmed": max(fact.last_confirmed for fact in facts),
        "related": _all(first.related, (name for fact in facts for name in fact.related)),
    }
    return {key: value for key, value in values.items() if value not in (None, "", ())}


def _all(first: tuple[str, ...], every: Iterable[str]) -> tuple[str, ...]:
    new = set(every)
    return first if new == set(first) else tuple(sorted(new))


def _follow(groups: Mapping[str, list[Placed]], heirs: Mapping[str, list[str]], plan: Changes) -> None:
    for row in (row for rows in groups.values() for row in rows):
        split = [name for name in row.fact.related if name in heirs]
        if not split:
            continue
        wanted = tuple(dict.fromkeys(one for name in row.fact.related for one in (name, *heirs.get(name, ()))))
        if wanted == row.fact.related:
            continue
        changes = plan[row.file]
        at = next((at for at, change in enumerate(changes) if change.line == row.line), None)
        if at is None:
            changes.append(Change(row.line, {"related": wanted}))
        elif (values := changes[at].values) is not None:
            changes[at] = Change(row.line, {**values, "related": wanted})


def changed_text(read: FactFile, changes: Sequence[Change]) -> tuple[str, bool]:
    """The text of a file after the changes, and whether that was all: an item stays that cannot be changed without
    touching more."""
    text, whole = read.text, True
    by_line = {change.line: change for change in changes}
    for item in reversed(scan(read.text)):
        change = by_line.get(item.line)
        if change is None:
            continue
        new = "" if change.values is None else with_values(read.text, item, change.values)
        if new is None:
            whole = False
        else:
            text = text[: item.start] + new + text[item.end :]
    return text, whole


# --- both sides of a conflict ----------------------------------------------------------------------------------------


def united(name: str, data: bytes) -> bytes | None:
    """A YAML file with merge conflicts as it is with the facts of both sides: what both have stands there once, with
    what either knows of it. None where that is not certain: a conflict that is not whole, an item that cannot be read,
    or words between the items that only one side has."""
    try:
        sides = both_sides(data.decode("utf-8"))
    except UnicodeDecodeError:
        return None
    if sides is None:
        return None
    # In an order that is the same on both machines, whichever of them merges.
    one, other = sorted(
        (read_one(name, side.encode("utf-8")) for side in sides),
        key=lambda read: (max((row.fact.last_confirmed for row in read.placed), default=""), read.text),
    )
    if any(read.broken or any(row.problem for row in scan(read.text)) for read in (one, other)):
        return None
    if not _prose(other) <= _prose(one):
        one, other = other, one
        if not _prose(other) <= _prose(one):
            return None
    text = one.text
    ending = "\r\n" if "\r\n" in text[:4096] else "\n"
    known = {(row.fact.id, statement_key(row.fact.fact)): row for row in one.placed}
    changes: list[Change] = []
    added: list[str] = []
    have = {text[item.start : item.end].strip() for item in scan(text)}
    for item in scan(other.text):
        raw = other.text[item.start : item.end]
        row = next((row for row in other.placed if row.line == item.line), None)
        twin = known.get((row.fact.id, statement_key(row.fact.fact))) if row is not None else None
        if twin is not None and row is not None:
            values = joined([twin.fact, row.fact])
            if differing(twin.item, values):
                changes.append(Change(twin.line, values))
        elif raw.strip() not in have:
            added.append(raw if raw.endswith("\n") else raw + ending)
    text, whole = changed_text(one, changes)
    if not whole:
        return None
    if added and not text.endswith("\n"):
        text += ending
    return (text + "".join(added)).encode("utf-8")


def _prose(read: FactFile) -> set[str]:
    """The lines between the items, the day in the frontmatter apart."""
    text = read.text
    for item in reversed(scan(text)):
        text = text[: item.start] + text[item.end :]
    return {line.strip() for line in text.split("\n") if line.strip() and not line.startswith("last_updated")}
