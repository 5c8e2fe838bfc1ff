"""`knowledge mcp`: answers on standard output until the client closes standard input."""

from __future__ import annotations

from core.base.result import KnowledgeError
from core.commands.daily.connect import hand_over
from core.commands.row import flag, option, top
from core.commands.workspace import Workspace


def serve(workspace: Workspace, *, allow_writes: bool = False, harvest_at_end: bool = False, tools: str = "") -> str:
    """Serve until the client goes; with `harvest_at_end` a harvest of its own process begins then; `tools` is
    `all` for those of earlier versions too. Raises
    KnowledgeError when the protocol's library is gone."""
    try:
        from core.mcp_server.server import build_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "pydantic", "anyio"):
            raise
        message = "the package 'mcp' is missing"
        raise KnowledgeError("not-installed", message, hint="install the program again") from error
    try:
        build_server(workspace, allow_writes=allow_writes, everything=tools == "all").run("stdio")
    finally:
        if harvest_at_end:
            hand_over(workspace)
    return ""


COMMANDS = (
    top(
        "mcp",
        "",
        serve,
        str,  # it is "": standard output belongs to the protocol
        flag("--allow-writes", "save memories without asking; for clients that ask for every call themselves"),
        option("--tools", "all: list the tools of earlier versions as well", "WHICH", choices=("all",)),
        flag("--harvest-at-end", "harvest what is new once the client has gone; for tools without hooks"),
    ),
)
