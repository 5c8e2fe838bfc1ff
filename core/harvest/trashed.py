"""What lies in the trash: how its names are read, where a conversation was, and when its grace period ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.base import files

_SPLIT = re.compile(r"split\.(?P<until>\d{8})\.(?P<split>[^/]+)\Z")
_NAME = re.compile(r"(?P<sha>[0-9a-f]{64})(?:\.\d+)?\Z")


def sha_in_trash(name: str) -> str:
    """The sha256 (hex) that a name in the trash says its content has, "" for a name that no harvest gave."""
    found = _NAME.match(name)
    return found["sha"] if found is not None else ""


def split_in_trash(name: str) -> tuple[str, datetime] | None:
    """The name of the folder of splits that lies in the trash under `name`, and when its grace period ends; None for
    what is no such folder."""
    found = _SPLIT.match(name)
    if found is None:
        return None
    try:
        return found["split"], datetime.strptime(found["until"], "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def name_of_split(split: str, until: datetime) -> str:
    """The name in the trash of a folder of splits. It tells the end of its grace period, so that no ledger need."""
    return f"split.{until.astimezone(UTC):%Y%m%d}.{split}"


def origin(entry: Mapping[str, Any], name: str) -> str:
    """Where the conversation of that name in the trash was, by its ledger entry; "" when that does not say."""
    known = entry.get("trash")
    return str(known.get(name, "")) if isinstance(known, Mapping) else ""


def holds(path: str | Path, sha256: str) -> bool:
    """Whether a regular file with that content stands at `path`."""
    try:
        return files.sha256_of_file(path) == sha256
    except (OSError, ValueError):
        return False


def grace_end(entry: Mapping[str, Any], ctime: float, trash_days: int) -> datetime:
    """When the grace period ends: by the ledger, else (no date, or one that cannot be read or has no time zone) counted
    from `ctime`, the moment of the move in seconds since 1970."""
    recorded = entry.get("trashed_until")
    if isinstance(recorded, str):
        try:
            parsed = datetime.fromisoformat(recorded)
        except ValueError:
            parsed = None
        if parsed is not None and parsed.tzinfo is not None:
            return parsed
    return datetime.fromtimestamp(ctime).astimezone() + timedelta(days=trash_days)
