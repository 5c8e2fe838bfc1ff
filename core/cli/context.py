"""What an agent is given: the digest, a context at the start of a conversation, and tools (`knowledge mcp`) in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from core.cli.table import OURS, PROJECT, Command, flag, option

if TYPE_CHECKING:
    from core.commands.context import ContextPrefix, DigestState


def digest_text(state: DigestState) -> str:
    return state.text + ("" if state.text.endswith("\n") or not state.text else "\n") + f"({state.why})\n"


def context_text(context: ContextPrefix) -> str:
    """The text itself; for the hook of a tool the JSON in which that tool takes it, nothing where there is none."""
    text = context.prefix.text
    if not context.hook:
        return text
    if not text and not context.message:
        return ""
    if context.hook == "cursor":
        return json.dumps({"additional_context": text}) + "\n"
    row: dict[str, object] = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
    return json.dumps(row | ({"systemMessage": context.message} if context.message else {})) + "\n"


COMMANDS = (
    Command(
        "digest",
        "show the digest, write it anew (on), or delete it (off)",
        "knowledge digest on",
        subcommands=(
            Command(
                "show",
                "show it, and whether a new conversation gets it",
                "knowledge digest show --project .",
                "core.commands.context:digest_show",
                digest_text,
                (option("--project", "as a conversation in this folder would see it", "DIR"),),
            ),
            Command("on", "write it anew", "knowledge digest on", "core.commands.context:digest_on", digest_text),
            Command(
                "off",
                "delete it: no new conversation gets one",
                "knowledge digest off",
                "core.commands.context:digest_off",
                digest_text,
            ),
        ),
    ),
    Command(
        "context",
        "print what a new conversation would start with",
        "knowledge context > prefix.txt",
        "core.commands.context:context",
        context_text,
        (PROJECT, option("--hook", "as the hook of this tool wants it, such as claude_code", "TOOL")),
        words=OURS,
        kept=True,
    ),
    Command(
        "mcp",
        "serve coding agents over the Model Context Protocol",
        "knowledge mcp",
        "core.mcp_server.serve:serve",  # its text is "": standard output belongs to the protocol
        arguments=(
            flag("--allow-writes", "save memories without asking; for clients that ask for every call themselves"),
            flag("--harvest-at-end", "harvest what is new once the client has gone; for tools without hooks"),
        ),
    ),
)
