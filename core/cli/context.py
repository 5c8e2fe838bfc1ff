"""`knowledge context` and `knowledge digest`: what a new conversation starts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.row import PROJECT, Command, option

if TYPE_CHECKING:
    from core.commands.context import ContextPrefix, DigestState


def digest_text(state: DigestState) -> str:
    return state.text + ("" if state.text.endswith("\n") or not state.text else "\n") + f"({state.why})\n"


def context_text(context: ContextPrefix) -> str:
    return context.prefix.text


_DIGEST = "core.commands.context:digest"
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
                _DIGEST,
                digest_text,
                (option("--project", "as a conversation in this folder would see it", "DIR"),),
            ),
            Command("on", "write it anew", "knowledge digest on", _DIGEST, digest_text, given={"action": "on"}),
            Command(
                "off",
                "delete it: no new conversation gets one",
                "knowledge digest off",
                _DIGEST,
                digest_text,
                given={"action": "off"},
            ),
        ),
    ),
    Command(
        "context",
        "print what a new conversation would start with",
        "knowledge context > prefix.txt",
        "core.commands.context:context",
        context_text,
        (PROJECT,),
    ),
)
