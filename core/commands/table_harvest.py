"""Commands that make knowledge of conversations, and show what a new one would begin with."""

from __future__ import annotations

from core.base.choices import PROVIDERS
from core.commands.arguments import PROJECT, listed, option
from core.commands.row import Argument, Command, action, flag

HARVEST: tuple[Command, ...] = (
    Command(
        "harvest",
        "turn conversations into knowledge (a dry run unless --apply)",
        "knowledge harvest --apply --limit 10",
        "core.commands.harvest:harvest_command",
        True,
        (
            flag("--apply", "harvest and reclaim; without it nothing changes"),
            flag("--no-harvest", "move the candidates to the trash without asking a model"),
            flag("--keep", "harvest, but reclaim nothing"),
            Argument(
                ("--source",),
                "read only this source: a name that 'knowledge sources' prints, all, or a path; may be repeated",
                {"action": "append", "metavar": "NAME"},
            ),
            Argument(
                ("--max-harvest-bytes",),
                "read at most N bytes in this run; how large one may be says max_harvest_source_bytes",
                {"type": int, "metavar": "N"},
            ),
            Argument(
                ("--limit",), "harvest, or move to the trash, at most N conversations", {"type": int, "metavar": "N"}
            ),
            Argument(("--provider",), listed(PROVIDERS), {"metavar": "P"}),
            Argument(("--model",), "the model's name", {"metavar": "M"}),
            Argument(("--jobs",), "model calls at the same time", {"type": int, "metavar": "N"}),
        ),
        long=True,
    ),
    Command(
        "sources",
        "list the conversations that other tools keep, how many there are, and when they expire",
        "knowledge sources --json",
        "core.commands.sources:sources",
        False,
        (Argument(("name",), "only this source, with its places", {"nargs": "?", "default": ""}),),
    ),
    Command(
        "import",
        "import what other tools remember: CLAUDE.md, MEMORY.md, memory banks (a dry run unless --apply)",
        "knowledge import . --apply",
        "core.commands.imports:import_memories",
        True,
        (
            Argument(("path",), "a file, or a folder to look for memories in"),
            flag("--apply", "add the bullets; without it nothing changes"),
        ),
    ),
    Command("status", "the store at a glance", "knowledge status", "core.commands.status:status", False),
    Command(
        "digest",
        "show the digest, write it anew (on), or delete it (off)",
        "knowledge digest on",
        "core.commands.context:digest",
        True,
        (
            action("show, on or off", "show", "on", "off"),
            option("--project", "as a conversation in this folder would see it", "DIR"),
        ),
    ),
    Command(
        "context",
        "print what a new conversation would start with",
        "knowledge context > prefix.txt",
        "core.commands.context:context",
        False,
        (PROJECT,),
    ),
)
