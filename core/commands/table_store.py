"""Commands over the store itself: what became of conversations, what is held back or missing, settings, checks."""

from __future__ import annotations

from core.commands.arguments import option
from core.commands.row import Argument, Command, action, flag

STORE: tuple[Command, ...] = (
    Command(
        "ledger",
        "the audit log: what became of each conversation",
        "knowledge ledger --status harvest-failed",
        "core.commands.history:ledger",
        False,
        (
            Argument(("sha",), "show only the entry whose hash begins with this", {"nargs": "?", "default": ""}),
            option("--status", "only entries of this status", "S"),
        ),
    ),
    Command(
        "trash",
        "reclaimed conversations: list, restore SHA, release SHA, purge",
        "knowledge trash restore 3fa9",
        "core.commands.history:trash",
        True,
        (
            action(
                "list, restore, release (let a restored one go again) or purge", "list", "restore", "release", "purge"
            ),
            Argument(("sha",), "the beginning of a hash, to restore or release", {"nargs": "?", "default": ""}),
            flag("--all", "also purge conversations still in their grace period"),
        ),
    ),
    Command(
        "undo",
        "take back one run or one edit (without a name: list them)",
        "knowledge undo 20260612T142300-a1b2c3",
        "core.commands.history:undo_command",
        True,
        (Argument(("run",), "the id of the run", {"nargs": "?", "default": ""}),),
    ),
    Command(
        "missing",
        "harvested lines that vanished from the files: list, restore, accept",
        "knowledge missing restore",
        "core.commands.missing:missing",
        True,
        (
            action("list, restore (put them back) or accept (they are gone on purpose)", "list", "restore", "accept"),
            Argument(("which",), "a run, or the beginning of a hash; all without it", {"nargs": "?", "default": ""}),
        ),
    ),
    Command(
        "quarantine",
        "items held back: list, accept, drop",
        'knowledge quarantine accept "port 8080"',
        "core.commands.quarantine:quarantine",
        True,
        (
            action("list, accept or drop", "list", "accept", "drop"),
            Argument(
                ("match",),
                "a part of the item's text, or numbers as the list shows them: 3, 5-9",
                {"nargs": "*", "metavar": "MATCH"},
            ),
            flag("--all", "every item that is held back"),
            option("--run", "every item that this harvest has held back", "RUN"),
        ),
    ),
    Command(
        "config",
        "the settings: show, set KEY VALUE",
        "knowledge config set provider ollama",
        "core.commands.settings:config",
        True,
        (
            action("show or set", "show", "set"),
            Argument(("key",), "a setting's name", {"nargs": "?", "default": ""}),
            Argument(("value",), "its new value", {"nargs": "?", "default": None}),
        ),
    ),
    Command(
        "trust",
        "what a folder's own settings and knowledge may do: list, allow, forget",
        "knowledge trust allow",
        "core.commands.trust:trust",
        True,
        (
            action("list, allow (what waits here, or FILE) or forget", "list", "allow", "forget"),
            Argument(
                ("file",),
                "a config.toml, a project's folder, or a file in its .manual_slop",
                {"nargs": "?", "default": "", "metavar": "FILE"},
            ),
        ),
    ),
    Command(
        "doctor",
        "check the store, like a file system check",
        "knowledge doctor --repair",
        "core.commands.doctor:doctor",
        True,
        (
            flag("--repair", "mend what can be mended"),
            flag("--merge-conflicts", "end merge conflicts: keep the bullets and facts of both sides, each once"),
        ),
    ),
    Command(
        "similar",
        "bullets that are alike without being the same",
        "knowledge similar --least 90",
        "core.commands.alike:similar",
        False,
        (
            Argument(
                ("--least",),
                "minimum similarity, 50 to 100 (default: 85)",
                {"type": int, "default": 85, "metavar": "N"},
            ),
        ),
    ),
    Command(
        "supersede",
        "what a newer statement seems to contradict: list, accept, dismiss",
        "knowledge supersede accept facts.md:12",
        "core.commands.alike:supersede",
        True,
        (
            action("list, accept or dismiss", "list", "accept", "dismiss"),
            Argument(("match",), "the old bullet: a part of its text, or FILE:LINE", {"nargs": "?", "default": ""}),
        ),
    ),
    Command(
        "mcp",
        "serve coding agents over the Model Context Protocol",
        "knowledge mcp",
        "core.mcp_server.serve:serve",
        True,
        (flag("--allow-writes", "save memories without asking; for clients that ask for every call themselves"),),
    ),
    Command(
        "demo",
        "a temporary home with sample conversations: dry run, apply, status",
        "knowledge demo",
        "core.commands.demo:demo",
        True,
        (
            flag("--no-panel", "do not open the panel afterwards"),
            option("--into", "make the home in this new folder and keep it", "DIR"),
        ),
        long=True,
    ),
)
