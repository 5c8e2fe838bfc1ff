"""Valid JSON with one member of another shape: where a blind fuzzer seldom gets, and a tool's new version often."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.test_conversations_read import ODD, places, put

ODD_VALUES = (*ODD, "../../x", "/etc/passwd", "2026-01-01T00:00:00", "20260101T000000-abcdef", 1.5, {"": ""}, [[[]]])


def some_odd(data: bytes, seed: int) -> bytes | None:
    """`data` with a few members of another shape, or without them; None when there is no JSON in it."""
    rows, whole = _rows(data)
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 3)):
        if not rows or not (found := places(row := chance.choice(rows))):
            return None
        put(row, chance.choice(found), chance.choice(ODD_VALUES))
    return _joined(rows, whole)


def _rows(data: bytes) -> tuple[list[Any], bool]:
    try:
        return [json.loads(data)], True
    except (ValueError, RecursionError):
        pass
    rows = []
    for line in data.split(b"\n"):
        try:
            rows.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return rows, False


def _joined(rows: list[Any], whole: bool) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows) if not whole else json.dumps(rows[0]).encode()
