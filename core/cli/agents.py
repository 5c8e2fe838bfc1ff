"""`knowledge mcp`: what coding agents are served."""

from __future__ import annotations

from core.cli.row import Command, flag

COMMANDS = (
    Command(
        "mcp",
        "serve coding agents over the Model Context Protocol",
        "knowledge mcp",
        "core.mcp_server.serve:serve",  # its text is "": standard output belongs to the protocol
        arguments=(
            flag("--allow-writes", "save memories without asking; for clients that ask for every call themselves"),
        ),
    ),
)
