"""What every tool does with its answer: pages, warnings within bounds, no secrets in any text.

Each begins with the settings as they are on disk now (`reopened`), for a server lives for days, and is refused while
they cannot be read: they say what may be shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from core.base.marks import NOTICE, for_prompt
from core.base.result import ErrorInfo
from core.base.secrets.redact import redact
from core.commands.workspace import Workspace

ANSWER_CHARACTERS = 60_000
MAX_WARNINGS, WARNING_CHARACTERS = 10, 1000
_OURS = frozenset(("provenance", "confirmations"))
"""Fields in which a provenance of ours stands, as it must not in any other text."""
Row = TypeVar("Row")


def sentence(error: ErrorInfo) -> str:
    return for_prompt(redact(str(error)).text)


def page_of(
    now: Workspace,
    rows: Sequence[Row],
    made: Callable[[Row], dict[str, Any]],
    offset: int,
    limit: int,
    room: int = ANSWER_CHARACTERS,
) -> tuple[list[dict[str, Any]], int | None]:
    """The rows of one page, clean, and where the next one begins. The first row is there however long it is."""
    page: list[dict[str, Any]] = []
    for row in rows[offset : offset + limit]:
        clean = _clean(made(row), now.config.redact)
        room -= size_of(clean)
        if page and room < 0:
            break
        page.append(clean)
    after = offset + len(page)
    return page, after if page and after < len(rows) else None


def paged(
    now: Workspace,
    name: str,
    rows: Sequence[Row],
    made: Callable[[Row], dict[str, Any]],
    offset: int,
    limit: int,
    **head: Any,
) -> dict[str, Any]:
    """An answer with one page of rows, under `name`."""
    page, after = page_of(now, rows, made, offset, limit)
    return safe(now, {**head, "count": len(rows), "offset": offset, "next_offset": after}) | {name: page}


def size_of(row: Any) -> int:
    return len(json.dumps(row, ensure_ascii=False))


def safe(now: Workspace, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer clean, its warnings within bounds, and marked as data."""
    warnings: list[str] = answer.get("warnings", [])
    if answer.get("next_offset") is not None:
        warnings = [f"this is a part: ask again with offset {answer['next_offset']} for what comes next", *warnings]
    if len(warnings) > MAX_WARNINGS:
        warnings = [*warnings[:MAX_WARNINGS], f"and {len(warnings) - MAX_WARNINGS:,} more"]
    clean: dict[str, Any] = _clean({**answer, "warnings": warnings}, now.config.redact)
    # Shortened when it is clean: half of a secret is no secret to any rule.
    most = WARNING_CHARACTERS
    short = [row if len(row) <= most else f"{row[:most]} … (it goes on)" for row in clean["warnings"]]
    return {**clean, "warnings": short, "notice": NOTICE}


def _clean(value: Any, secrets: bool, origins: bool = False) -> Any:
    """Every text in it as the gate lets it through."""
    if isinstance(value, dict):
        return {_clean(key, secrets): _clean(row, secrets, key in _OURS) for key, row in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(row, secrets, origins) for row in value]
    return for_prompt(value, secrets=secrets, origins=origins) if isinstance(value, str) else value
