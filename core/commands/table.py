"""COMMANDS: one row a command. The command line, the panel's palette, MCP and the documentation are made from it.

The rows stand in three files: the harvest, what is known, the store. A target is named, not imported, so that
`knowledge --help` costs nothing.
"""

from __future__ import annotations

from core.commands.row import Command
from core.commands.table_harvest import HARVEST
from core.commands.table_knowledge import KNOWLEDGE
from core.commands.table_store import STORE

COMMANDS: tuple[Command, ...] = (*HARVEST, *KNOWLEDGE, *STORE)
COMMAND = {row.name: row for row in COMMANDS}
