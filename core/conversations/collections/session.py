"""One conversation of a store, as a list shows it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from core.conversations.turns import clean, iso_time


class StoredSession(NamedTuple):
    """`updated` is seconds since 1970 (0.0: not told), `size` bytes of what was said as the owner stores it.

    `folder` is the working folder, `delegated` that an assistant opened the session for a sub-agent.
    """

    id: str
    title: str = ""
    folder: str = ""
    updated: float = 0.0
    size: int = 0
    delegated: bool = False


def text(value: Any) -> str:
    """A column that should hold text; bytes are UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return clean(value) if isinstance(value, str) else ""


def number(value: Any) -> int:
    """A column that should hold a number."""
    return value if isinstance(value, int) else int(value) if isinstance(value, float) and abs(value) < 1e18 else 0


def seconds(value: Any) -> float:
    """A time of any kind (seconds, milliseconds, ISO 8601 with or without a zone, which is UTC then) since 1970."""
    from datetime import UTC, datetime

    stamp = iso_time(value)
    try:
        found = datetime.fromisoformat(stamp)
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def parsed(value: Any) -> Any:
    """The JSON in a column; None for what is none."""
    try:
        return json.loads(text(value), strict=False)
    except (ValueError, RecursionError):
        return None
