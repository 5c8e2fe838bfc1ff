"""What a command's result looks like: text on a terminal, or one JSON document.

The texts are looked up by name and imported when they are printed, so that one command does not pay for the others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from core.base.result import ErrorInfo

_STATUS, _STORE = "core.cli.status_text", "core.cli.store_text"
TEXT = {
    "harvest": "core.cli.harvest_text:harvest_text",
    "import": "core.cli.imports_text:imports_text",
    "sources": "core.cli.sources_text:sources_text",
    "status": f"{_STATUS}:status_text",
    "digest": f"{_STATUS}:digest_text",
    "context": f"{_STATUS}:context_text",
    "config": f"{_STATUS}:config_text",
    "trust": f"{_STATUS}:trust_text",
    "demo": f"{_STATUS}:demo_text",
    "notes": f"{_STORE}:notes_text",
    "add": f"{_STORE}:change_text",
    "done": f"{_STORE}:done_text",
    "reopen": f"{_STORE}:reopen_text",
    "edit": f"{_STORE}:change_text",
    "rm": f"{_STORE}:change_text",
    "unstrike": f"{_STORE}:change_text",
    "search": "core.cli.search_text:search_text",
    "save": "core.cli.memory_text:save_text",
    "recall": "core.cli.memory_text:recall_text",
    "memories": "core.cli.memory_text:memories_text",
    "similar": "core.cli.alike_text:similar_text",
    "supersede": "core.cli.alike_text:supersede_text",
    "mcp": "core.cli.memory_text:mcp_text",
    "facts": "core.cli.facts_text:facts_text",
    "ledger": f"{_STORE}:ledger_text",
    "trash": f"{_STORE}:trash_text",
    "undo": f"{_STORE}:undo_text",
    "missing": f"{_STORE}:missing_text",
    "quarantine": f"{_STORE}:quarantine_text",
    "doctor": f"{_STORE}:doctor_text",
}


def to_text(command: str, value: Any) -> str:
    """The report of a command; ends with a line break unless it is empty."""
    module, name = TEXT[command].split(":")
    text: str = getattr(import_module(module), name)(value)
    return text


def prepare(command: str) -> None:
    """Import what `to_text` of this command needs."""
    if command in TEXT:
        import_module(TEXT[command].split(":")[0])


def visible(text: str) -> str:
    """Text without characters that would command the terminal: names and words in it come from anywhere."""
    return "".join(char if char in "\n\t" or char.isprintable() else "\ufffd" for char in text)


def fed(facts: Mapping[str, int] | None) -> list[str]:
    """What the fact index made of a run, where it made anything of it."""
    too_long = facts.get("too_long", 0) if facts is not None else 0
    if facts is None or not facts["new"] + facts["confirmed"] + too_long:
        return []
    again = ", {confirmed} said again" if facts["confirmed"] else ""
    left = ", {too_long} too long for it" if too_long else ""
    return [("fact index: {new} new" + again + left + ", {total} in all").format(**facts)]


def short(name: str, characters: int = 60) -> str:
    """A name from outside on one line, its middle left out where it is long: the end tells conversations apart."""
    shown = "".join(char if char.isprintable() else "?" for char in name)
    head = (characters - 3) // 2
    return shown if len(shown) <= characters else f"{shown[:head]}…{shown[head + 1 - characters :]}"


def one_line(value: object) -> str:
    """A value that comes from outside (a name, a path) as one line: it must not forge a line of ours."""
    return str(value).replace("\n", "\\n")


def grouped(errors: list[ErrorInfo]) -> list[str]:
    """One sentence for each reason; when several places have the same one, it is said once with their number."""
    by_reason: dict[tuple[str, str], list[ErrorInfo]] = {}
    for error in errors:
        by_reason.setdefault((error.message, error.hint), []).append(error)
    return [
        one_line(rows[0]) if len(rows) == 1 else f"{one_line(rows[0])} The same for {len(rows) - 1} more."
        for rows in by_reason.values()
    ]


def to_json(value: Any, *, ascii_only: bool = False) -> str:
    """One JSON document with a line break at its end."""
    text = json.dumps(_plain(value), indent=2, ensure_ascii=ascii_only, default=str)
    if not text.isprintable():
        text = "".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text)
    return text + "\n"


def _plain(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if isinstance(value, (list, tuple)):
        return [_plain(row) for row in value]
    if hasattr(value, "__dataclass_fields__"):
        from dataclasses import asdict

        return asdict(value)
    return {"prefix": value} if isinstance(value, str) else value


def errors_of(value: Any) -> list[ErrorInfo]:
    """The failures that a report carries; a demo carries those of its run."""
    report = getattr(value, "applied", value)
    errors: Sequence[ErrorInfo] = getattr(value if isinstance(report, bool) else report, "errors", ())
    return list(errors)
