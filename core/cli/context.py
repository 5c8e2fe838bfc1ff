"""What an agent is given: the digest, a context at the start of a conversation, and tools (`knowledge mcp`) in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from core.cli.table import OURS, PROJECT, flag, group, option, single

if TYPE_CHECKING:
    from core.commands.context import ContextPrefix, DigestState


FAILED = "Tell the user once: knowledge memory could not harvest, and 'knowledge status' says why."
WAITING = "Tell the user once: 'knowledge trust' shows what waits for their word here."


def digest_text(state: DigestState) -> str:
    return state.text + ("" if state.text.endswith("\n") or not state.text else "\n") + f"({state.why})\n"


def context_text(context: ContextPrefix) -> str:
    """The text itself; for the hook of a tool the JSON in which that tool takes it, nothing where there is none."""
    text, waits = context.prefix.text, context.prefix.digest.waits
    if not context.hook:
        return text
    if not (text or context.message or waits):
        return "{}\n" if context.hook == "antigravity" else ""
    if context.hook in ("cursor", "antigravity"):
        # They show their user nothing of it, and neither what servers said nor the name of a folder is an order.
        asks = FAILED if context.message else WAITING if waits else ""
        said = "\n".join(filter(None, (text, asks)))
        cursor = context.hook == "cursor"
        return (
            json.dumps({"additional_context": said} if cursor else {"injectSteps": [{"ephemeralMessage": said}]}) + "\n"
        )
    row: dict[str, object] = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
    told = context.message or waits
    return json.dumps(row | ({"systemMessage": told} if told else {})) + "\n"


COMMANDS = (
    group(
        "digest",
        "show the digest, write it anew (on), or delete it (off)",
        "on",
        single(
            "show",
            "show it, and whether a new conversation gets it",
            "--project .",
            ".context:digest_show",
            digest_text,
            option("--project", "as a conversation in this folder would see it", "DIR"),
        ),
        single("on", "write it anew", "", ".context:digest_on", digest_text),
        single("off", "delete it: no new conversation gets one", "", ".context:digest_off", digest_text),
    ),
    single(
        "context",
        "print what a new conversation would start with",
        "> prefix.txt",
        ".context:context",
        context_text,
        PROJECT,
        option("--hook", "as the hook of this tool wants it, such as claude_code", "TOOL"),
        words=OURS,
    ),
    single(
        "mcp",
        "serve coding agents over the Model Context Protocol",
        "",
        "core.mcp_server.serve:serve",
        str,  # it is "": standard output belongs to the protocol
        flag("--allow-writes", "save memories without asking; for clients that ask for every call themselves"),
        flag("--harvest-at-end", "harvest what is new once the client has gone; for tools without hooks"),
    ),
)
