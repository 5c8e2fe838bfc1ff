"""The table of commands: the command line, the palette of the panel and the documentation are made from it.

A command is one row in the module of its noun: name, summary, example, arguments, what it runs, how its result reads.
Which module that is stands here, by name, so that one command imports no other; `knowledge --help` imports these
modules, and none of what they run.
"""

from __future__ import annotations

from importlib import import_module

from core.cli.row import Command

MODULE = {
    "harvest": "harvest",
    "sources": "sources",
    "import": "sources",
    "status": "status",
    "digest": "context",
    "context": "context",
    "notes": "bullets",
    "add": "bullets",
    "done": "bullets",
    "reopen": "bullets",
    "edit": "bullets",
    "rm": "bullets",
    "unstrike": "bullets",
    "search": "search",
    "save": "memories",
    "recall": "memories",
    "memories": "memories",
    "facts": "facts",
    "ledger": "history",
    "trash": "history",
    "undo": "history",
    "missing": "history",
    "quarantine": "quarantine",
    "config": "settings",
    "trust": "settings",
    "doctor": "status",
    "similar": "alike",
    "supersede": "alike",
    "mcp": "agents",
    "demo": "demo",
}
"""Command -> the module in this folder that has its row, in the order of `knowledge --help`."""


def command(name: str) -> Command:
    """The row of one command. Raises KeyError for a name that there is not."""
    rows: tuple[Command, ...] = import_module(f"core.cli.{MODULE[name]}").COMMANDS
    return next(row for row in rows if row.name == name)


def commands() -> tuple[Command, ...]:
    """All rows."""
    return tuple(map(command, MODULE))
