"""An agent that asks, and the talks that it asks about."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.cli_call import call
from tests.shop import turn


def answered(tool: str, **given: Any) -> str:
    """What an agent that works here gets from a tool."""
    import asyncio

    from mcp import Client

    from core.commands.workspace import open_workspace
    from core.mcp_server.server import build_server

    async def run() -> str:
        async with Client(build_server(open_workspace())) as client:
            return "".join(row.text for row in (await client.call_tool(tool, given)).content)

    return asyncio.run(run())


def kept_talk(shop: Path, name: str, said: list[str]) -> None:
    """A conversation of this project: the user and the assistant by turns."""
    rows = [
        turn("user" if at % 2 == 0 else "assistant", [{"type": "text", "text": text}], at, name, shop)
        for at, text in enumerate(said)
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
