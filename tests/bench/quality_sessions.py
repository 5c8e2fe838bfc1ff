"""Real coding conversations, with what an independent model noted about some of them: silver labels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.conversations.read import read_conversation
from core.harvest.distil import redacted_conversation
from tests.bench.quality_labels import Case

MAX_BYTES = 2_000_000


def sessions_of(folder: Path) -> Iterator[Case]:
    """Every conversation of the corpus that is not huge; `gold` is empty where nobody noted anything."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        named = path.name == "SOURCES.md" or path.name.endswith(".metadata.json")
        if not path.is_file() or named or path.stat().st_size > MAX_BYTES:
            continue
        conversation, _ = redacted_conversation(read_conversation(path.stem, path.read_bytes()))
        if conversation.turns:
            beside = path.with_name(path.name.removesuffix("".join(path.suffixes)) + ".metadata.json")
            yield Case(path.name, conversation, _noted(beside), ())


def _noted(path: Path) -> dict[str, tuple[str, ...]]:
    try:
        summary: Any = json.loads(path.read_bytes()).get("summary") or {}
    except (OSError, ValueError, AttributeError):
        return {}
    learned = summary.get("learnings") or {}
    gold = {
        "facts": tuple(learned.get("repo") or ()),
        "files": tuple(row.get("finding", "") for row in learned.get("code") or ()),
        "playbooks": tuple(learned.get("workflow") or ()),
        "tasks_open": tuple(summary.get("open_items") or ()),
    }
    return gold if any(gold.values()) else {}
