"""Memories on disk for tests, as a person may have written them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

NOW = datetime(2026, 2, 10, 9, 0, tzinfo=UTC)
FILE = "---\nid: {id}\ncreated: {created}\ntags: {tags}\n---\n\n{body}\n"


def put(folder: Path, number: int, body: str, *, created: str = "2026-02-09T14:00:00Z", tags: str = "[]") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{number:03d}-x{len(list(folder.iterdir()))}.md"
    path.write_text(FILE.format(id=number, created=created, tags=tags, body=body), encoding="utf-8")
    return path
