"""COMMANDS: one row a command. The command line, the panel's palette, MCP and the documentation are made from it.

A target is named, not imported, so that `knowledge --help` costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.commands.row import Argument, Command, action, flag

_REPEATED: Mapping[str, Any] = {"action": "append", "metavar": "T"}
_TRASH = ("list", "restore", "release", "purge")
_LEAST: Mapping[str, Any] = {"type": int, "default": 85, "metavar": "N"}
_CATEGORIES = ("facts", "decisions", "questions", "playbooks", "tasks", "files")
_CATEGORY = Argument(("category",), "facts, decisions, questions, playbooks, tasks or files", {"choices": _CATEGORIES})
_OF_BULLET = Argument(_CATEGORY.names, f"{_CATEGORY.help}; FILE:LINE does without", _CATEGORY.options)
_SECRETS = flag("--keep-secrets", "write passwords and keys in the text as they are, instead of placeholders")
_MATCH = Argument(("match",), "its text, or a part that nothing else has: all lines that say it; or FILE:LINE")

_KIND = {"default": "", "choices": ("bullet", "note", "memory", "context", "fact", "document")}
_DATE = {"default": "", "metavar": "DATE"}
_PROJECT = Argument(
    ("--project",), "a project's folder (default: the one around this folder)", {"default": "", "metavar": "DIR"}
)

COMMANDS: tuple[Command, ...] = (
    Command(
        "harvest",
        "turn conversations into knowledge (a dry run unless --apply)",
        "knowledge harvest --apply --limit 10",
        "core.commands.harvest:harvest_command",
        True,
        (
            flag("--apply", "harvest and reclaim; without it nothing changes"),
            flag("--no-harvest", "remove the candidates without asking a model"),
            flag("--keep", "harvest, but reclaim nothing"),
            Argument(
                ("--source",),
                "read only this source: a name that 'knowledge sources' prints, all, or a path; may be repeated",
                {"action": "append", "metavar": "NAME"},
            ),
            Argument(("--max-harvest-bytes",), "read at most N bytes of conversations", {"type": int, "metavar": "N"}),
            Argument(("--limit",), "harvest or take away at most N conversations", {"type": int, "metavar": "N"}),
            Argument(("--provider",), "offline, openai, ollama, anthropic, gemini or command", {"metavar": "P"}),
            Argument(("--model",), "the model's name", {"metavar": "M"}),
            Argument(("--jobs",), "model calls at the same time", {"type": int, "metavar": "N"}),
        ),
        long=True,
    ),
    Command(
        "sources",
        "where conversations were found, how many, and which expire when",
        "knowledge sources --json",
        "core.commands.sources:sources",
        False,
        (Argument(("name",), "only this source, with its places", {"nargs": "?", "default": ""}),),
    ),
    Command(
        "import",
        "take over what other tools remember: CLAUDE.md, MEMORY.md, memory banks (a dry run unless --apply)",
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
            Argument(
                ("--project",), "as a conversation in this folder would see it", {"default": "", "metavar": "DIR"}
            ),
        ),
    ),
    Command(
        "context",
        "print what a new conversation would start with",
        "knowledge context > prefix.txt",
        "core.commands.context:context",
        False,
        (_PROJECT,),
    ),
    Command(
        "notes",
        "the notes of a source file, whatever it was called before",
        "knowledge notes src/app.py",
        "core.commands.bullets:notes",
        False,
        (Argument(("path",), "a source file"),),
    ),
    Command(
        "add",
        "add one bullet",
        'knowledge add decisions "SQLite, because there is one writer"',
        "core.commands.bullets:add",
        True,
        (
            _CATEGORY,
            Argument(("text",), "one line"),
            Argument(("--file",), "the source file that a note is about", {"default": "", "metavar": "PATH"}),
            _SECRETS,
        ),
    ),
    Command(
        "done",
        "move an open task to Done",
        'knowledge done "release notes"',
        "core.commands.bullets:done",
        True,
        (_MATCH,),
    ),
    Command(
        "edit",
        "change what one bullet says",
        'knowledge edit facts "port 8080" "The server listens on port 8081"',
        "core.commands.bullets:edit",
        True,
        (_OF_BULLET, _MATCH, Argument(("text",), "the new text"), _SECRETS),
    ),
    Command(
        "rm",
        "delete one bullet, or strike it through",
        'knowledge rm facts "port 8080" --strike',
        "core.commands.bullets:remove",
        True,
        (_OF_BULLET, _MATCH, flag("--strike", "strike it through instead: kept, but in no digest")),
    ),
    Command(
        "search",
        "find anything in the store, best first",
        "knowledge search port 8080 --kind bullet --since 2026-05",
        "core.commands.search:search",
        False,
        (
            Argument(("query",), "any words; in quotation marks: a phrase", {"nargs": "+"}),
            Argument(("--kind",), "only bullet, note, memory, context, fact or document", _KIND),
            Argument(("--since",), "only what is dated from then on: 2026, 2026-05 or 2026-05-31", _DATE),
            Argument(("--tag",), "only what has this tag, such as decisions (repeatable)", _REPEATED),
            Argument(("--project",), "only what belongs to this folder", {"default": "", "metavar": "DIR"}),
            Argument(("--limit",), "at most N hits (default: 10)", {"type": int, "default": 10, "metavar": "N"}),
        ),
    ),
    Command(
        "save",
        "save a memory: a short text that an agent can recall",
        'knowledge save "Prefers tabs in Makefiles" --tag preference',
        "core.commands.memories:save",
        True,
        (
            Argument(("text",), "what to remember"),
            Argument(
                ("--tag",),
                (
                    "a tag (repeatable); preference, correction, decision, context and pattern are categories too, "
                    "and the file then says 'source: detected'"
                ),
                _REPEATED,
            ),
            Argument(("--project",), "save it for this project alone", {"default": "", "metavar": "DIR"}),
            _SECRETS,
        ),
    ),
    Command(
        "recall",
        "find memories by their words and tags, newest first",
        'knowledge recall "makefile tabs"',
        "core.commands.memories:recall_command",
        False,
        (
            Argument(("query",), "words, or nothing for all", {"nargs": "?", "default": ""}),
            Argument(("--limit",), "at most N memories (default: 5)", {"type": int, "default": 5, "metavar": "N"}),
            _PROJECT,
        ),
    ),
    Command(
        "memories",
        "the saved memories: list, edit ID TEXT, archive ID, restore ID",
        "knowledge memories archive 3",
        "core.commands.memories:memories",
        True,
        (
            action("list, edit, archive or restore", "list", "edit", "archive", "restore"),
            Argument(
                ("which",),
                "a memory's id, project:ID or global:ID where both have it, or its file name",
                {"nargs": "?", "default": ""},
            ),
            Argument(("text",), "its new text", {"nargs": "?", "default": ""}),
            _PROJECT,
            _SECRETS,
        ),
    ),
    Command(
        "facts",
        "the fact index: list, validate PATH, sync, bootstrap, merge ID ID",
        "knowledge facts list --category pitfall --format md",
        "core.commands.facts:facts_command",
        True,
        (
            action("list, validate, sync, bootstrap or merge", "list", "validate", "sync", "bootstrap", "merge"),
            Argument(("names",), "a path to validate, or the two ids to merge", {"nargs": "*", "metavar": "NAME"}),
            Argument(("--domain",), "a repository, an agent or global (repeatable)", {"action": "append"}),
            Argument(("--category",), "fact, pitfall, pattern, tool-quirk or question", {"metavar": "C"}),
            Argument(("--tag",), "only facts with this tag", {"metavar": "T"}),
            flag("--stale", "only facts that have expired"),
            flag("--similar", "pairs of facts that nearly say the same"),
            Argument(
                ("--format",),
                "text, json, yaml, csv or md",
                {"choices": ("text", "json", "yaml", "csv", "md")},
            ),
            Argument(("--budget",), "bootstrap: at most N tokens (default: 2000)", {"type": int, "metavar": "N"}),
        ),
    ),
    Command(
        "ledger",
        "the audit log: what became of each conversation",
        "knowledge ledger --status harvest-failed",
        "core.commands.history:ledger",
        False,
        (
            Argument(("sha",), "the beginning of a hash: that entry alone", {"nargs": "?", "default": ""}),
            Argument(("--status",), "only entries of this status", {"default": "", "metavar": "S"}),
        ),
    ),
    Command(
        "trash",
        "reclaimed conversations: list, restore SHA, release SHA, purge",
        "knowledge trash restore 3fa9",
        "core.commands.history:trash",
        True,
        (
            action("list, restore, release (let a restored one go again) or purge", *_TRASH),
            Argument(("sha",), "the beginning of a hash, to restore or release", {"nargs": "?", "default": ""}),
            flag("--all", "purge also what is still in its grace period"),
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
            Argument(("match",), "the item's text, or a part of it", {"nargs": "?", "default": ""}),
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
        "doctor",
        "check the store, like a file system check",
        "knowledge doctor --repair",
        "core.commands.doctor:doctor",
        True,
        (flag("--repair", "mend what can be mended"),),
    ),
    Command(
        "similar",
        "bullets that are alike without being the same",
        "knowledge similar --least 90",
        "core.commands.alike:similar",
        False,
        (Argument(("--least",), "likeness from which on, 50 to 100 (default: 85)", _LEAST),),
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
        local=False,
    ),
    Command(
        "demo",
        "a temporary home with sample conversations: dry run, apply, status",
        "knowledge demo",
        "core.commands.demo:demo",
        True,
        (
            flag("--no-panel", "do not open the panel afterwards"),
            Argument(("--into",), "make the home in this new folder and keep it", {"default": "", "metavar": "DIR"}),
        ),
        long=True,
    ),
)
COMMAND = {row.name: row for row in COMMANDS}
