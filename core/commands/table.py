"""Which module of this room has the row of which command."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from core.commands.row import Command

MODULE = {
    "setup": "daily.questions",
    "harvest": "harvest",
    "connect": "daily.connect",
    "schedule": "daily.schedule",
    "uninstall": "daily.uninstall",
    "sources": "sources",
    "import": "imports",
    "status": "status",
    "digest": "context",
    "context": "context",
    "list": "bullets",
    "notes": "bullets",
    "add": "bullets",
    "done": "bullets",
    "reopen": "bullets",
    "edit": "bullets",
    "rm": "bullets",
    "evidence": "evidence",
    "search": "search",
    "vectors": "vectors",
    "show": "transcript",
    "save": "memories",
    "recall": "memories",
    "memories": "memories",
    "facts": "facts",
    "library": "library.table",
    "ledger": "history.ledger",
    "trash": "history.trash",
    "undo": "history.ledger",
    "missing": "history.missing",
    "quarantine": "quarantine",
    "config": "settings",
    "trust": "settings",
    "doctor": "doctor",
    "similar": "alike",
    "supersede": "alike",
    "mcp": "..mcp_server.serve",
    "demo": "demo",
    "completion": "..cli.completion",
    "help": "help",
}
"""Command -> the module in this folder that has its row, in the order of `knowledge --help`."""
SECOND_NAMES = {"documents": "library"}
"""What somebody may call a command -> its name."""


def _module(name: str) -> ModuleType:
    return import_module(name if name.startswith(".") else f".{name}", "core.commands")


def command(name: str) -> Command:
    """The row of one command. Raises KeyError for a name that there is not."""
    rows: tuple[Command, ...] = _module(MODULE[name]).COMMANDS
    return next(row for row in rows if row.name == name)


def commands() -> tuple[Command, ...]:
    """All rows."""
    return tuple(map(command, MODULE))
