"""What a frozen plan says beside its lines, for the fact index: the domain, and what the model said about a row.

Kept in the plan under `facts`: `{"domain": …, "rows": {mark: {"kind", "confidence", "tags", "domain"}}}` with `mark`
the beginning of the sha256 of a line's text, so that a line whose date changes keeps its row. Plans without it, and
readers that do not know it, lose nothing but this.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from typing import Any

from core.base.repository import GLOBAL, domain_of, is_working_place, repository_root
from core.harvest.answer import Item

QUOTED, UNQUOTED = 0.8, 0.6
"""The confidence of what a model says with a passage that was found in the conversation, and without one."""


def mark_of_text(text: str) -> str:
    """The name of a row: what its line says, without dash and provenance."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def lessons_of(items: Sequence[Item], folder: str, noted: Iterable[str], *, quotes_checked: bool) -> dict[str, Any]:
    """What a plan keeps for the fact index. `folder` is the working folder of the conversation, "" when unknown;
    `noted` are the source files that it left a note about, all of them known to be there."""
    domain = domain_of(folder)
    if domain == GLOBAL:
        domain = _domain_of_files(noted)
    rows = {}
    for item in items:
        if item.held or item.category not in ("facts", "playbooks", "questions"):
            continue
        row: dict[str, Any] = {}
        if item.kind:
            row["kind"] = item.kind
        if item.confidence is not None:
            row["confidence"] = item.confidence
        elif quotes_checked:
            row["confidence"] = QUOTED if item.quote.strip() else UNQUOTED
        if item.tags:
            row["tags"] = list(item.tags)
        if item.domain:
            row["domain"] = item.domain
        if row:
            rows[mark_of_text(item.text)] = row
    return {"domain": domain, "rows": rows} if rows or domain != GLOBAL else {}


def _domain_of_files(paths: Iterable[str]) -> str:
    """The one repository in which all files lie that a conversation taught something about, else `global`."""
    roots = set()
    for path in paths:
        if not path.startswith("/") or "\0" in path or len(path) > 1024:
            continue
        folder = os.path.dirname(os.path.normpath(path))
        roots.add(repository_root(folder) if is_working_place(folder) else "")
    return domain_of(roots.pop()) if len(roots) == 1 else GLOBAL
