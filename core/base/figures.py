"""Numbers as a user reads them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache


def size(number: int) -> str:
    """`17B`, `2.3KB`, `2.3MB`."""
    if number < 1 << 10:
        return f"{number}B"
    if number < 1 << 20:
        return f"{number / (1 << 10):.1f}KB"
    return f"{number / (1 << 20):.1f}MB" if number < 1 << 30 else f"{number / (1 << 30):.1f}GB"


def tokens(number: int) -> str:
    """`950`, `12K`, `1.2M`."""
    if number < 1000:
        return str(number)
    if number < 999_500:
        return f"{round(number / 1000)}K"
    return f"{number / 1_000_000:.1f}M"


def dollars(amount: float) -> str:
    """`$0.00` for nothing, four digits below ten cents, two above."""
    return f"${amount:.2f}" if amount == 0 or amount >= 0.1 else f"${amount:.4f}"


def age(modified: float, now: float | None = None) -> str:
    """`3 s`, `5 min`, `2 h`, `4 d`, `5 mo`, `6 y` since a time in seconds since 1970; "" for 0."""
    if not modified:
        return ""
    seconds = max(0.0, (time.time() if now is None else now) - modified)
    for limit, divisor, unit in _AGES:
        if seconds < limit:
            return f"{int(seconds / divisor)} {unit}"
    return f"{int(seconds / (365.25 * DAY))} y"


DAY = 86_400
_AGES = ((60, 1, "s"), (3600, 60, "min"), (DAY, 3600, "h"), (100 * DAY, DAY, "d"), (731 * DAY, 30.44 * DAY, "mo"))


def seconds_of(when: object) -> float:
    """An ISO 8601 time in seconds since 1970, 0.0 for anything else."""
    try:
        return datetime.fromisoformat(when).timestamp() if isinstance(when, str) else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0


def iso_of(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC; "" for 0, and for an invalid time, as some stand in the databases of
    other tools."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""


@lru_cache(maxsize=512)
def local_date(when: str) -> str:
    """The local day (YYYY-MM-DD) of an ISO 8601 time; a time without a zone is local already. "" for none."""
    try:
        return datetime.fromisoformat(when).astimezone().date().isoformat() if when else ""
    except (ValueError, OverflowError):
        return ""


def count(number: int, one: str, many: str = "") -> str:
    """`1 bullet`, `1,500 bullets`; with `many`, where not an `s` alone makes it of `one`: `2 conversations wait`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
