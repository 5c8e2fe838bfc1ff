"""Which commands there are: the module that has the row of each, and what it is for."""

from __future__ import annotations

from importlib import import_module

from core.commands.row import Command

LISTED = {
    "setup": ("daily.setup", "look at this computer, ask four questions at most, and set up what was answered"),
    "harvest": ("harvest", "turn conversations into knowledge (a dry run unless --apply)"),
    "connect": (
        "daily.connect",
        "have other tools use this program: MCP server, context at the start, harvest at the end, hints",
    ),
    "hint": ("moment.hints", "what a tool's hook runs: its JSON on stdin, the lines that it should know on stdout"),
    "hints": ("moment.hints", "the lines that agents were handed without asking, why, and how it went; --off EVENT"),
    "schedule": ("daily.schedule", "have the system begin a harvest each hour: systemd, launchd or Task Scheduler"),
    "uninstall": ("daily.uninstall", "take back every connection and the timer; your knowledge stays"),
    "sources": ("sources", "list the conversations that other tools keep, how many there are, and when they expire"),
    "import": (
        "harvest",
        "import what other tools remember: CLAUDE.md, MEMORY.md, memory banks (a dry run unless --apply)",
    ),
    "status": ("status", "the store at a glance"),
    "digest": ("context", "show the digest, write it again (on), or delete it (off)"),
    "context": ("context", "print what a new conversation would start with"),
    "list": ("bullets", "bullets and tasks with their ids, which done, edit and rm take"),
    "notes": ("bullets", "the notes of a source file, whatever it was called before; which files have any"),
    "add": ("bullets", "add one bullet"),
    "done": ("bullets", "move an open task to Done"),
    "reopen": ("bullets", "move a task that is done back to Open"),
    "edit": ("bullets", "change what one bullet says"),
    "rm": ("bullets", "delete one bullet, or strike it through"),
    "retract": ("bullets", "withdraw what one bullet says, without other words for it: it is struck through"),
    "forget": ("forget", "a conversation, and what rests on it alone: struck through, or with --yes removed for good"),
    "review": (
        "review.decide",
        "what waits for your yes, no or later: held, vanished, kept away, stale, outdated, finished, alike",
    ),
    "evidence": ("panel.evidence", "the quote that showed a line to be true, in its place; a playbook's steps"),
    "find": ("moment.listing", "a line for each hit, your project first: what was said, where, how it was left"),
    "worked": ("moment.worked", "say how something that was found served, and why; or ask how it has"),
    "why": ("moment.why", "why a line or a file is so: its commit, the session that made it, and what was said there"),
    "handoff": ("moment.handoff", "what a new session needs to go on with an earlier one, in this tool or another"),
    "search": ("moment.listing", "the same as find, with ten hits; with --json a list of all that matches, best first"),
    "vectors": (
        "conversations",
        "make what a search by meaning compares, of entries and of conversations; a stop loses nothing",
    ),
    "show": (
        "transcript",
        "read one conversation, from a turn on, or print the command that goes on with it in its tool",
    ),
    "save": ("memories", "save a memory: a short text that an agent can recall"),
    "recall": ("memories", "find memories by their words and tags, newest first"),
    "memories": ("memories", "the saved memories: list, edit ID TEXT, archive ID, restore ID"),
    "facts": ("facts", "the fact index: list, validate PATH, sync, bootstrap"),
    "library": (
        "library.table",
        "documents and what each was good for: ingest PATH, retrieve QUERY, record, consolidate, reflect, list, …",
    ),
    "ledger": ("history.ledger", "the audit log: what became of each conversation"),
    "trash": ("history.trash", "reclaimed conversations: list, restore SHA, purge"),
    "archive": ("history.archive", "conversations that their tools delete: list, export WHICH, remove WHICH"),
    "undo": ("history.ledger", "take back one run or one edit (without a name: list them)"),
    "config": ("settings", "the settings: show, set KEY VALUE"),
    "trust": ("settings", "what a folder's own settings and knowledge may do: list, allow, forget"),
    "doctor": ("doctor", "check the store, like a file system check"),
    "mcp": ("..mcp_server.serve", "serve coding agents over the Model Context Protocol"),
    "demo": ("demo", "a temporary home with sample conversations: dry run, apply, status"),
    "completion": ("..cli.parser", "the script by which a shell completes commands and options"),
    "help": ("..cli.parser", "the documentation: its topics, or one page"),
}
"""Command -> the module that has its row, named from this folder on, and its line in `knowledge --help`, in the order
of that. The lines stand here, since help would else load every command: nine tenths of a second instead of 0.06."""
MODULE = {name: module if module.startswith(".") else f".{module}" for name, (module, _) in LISTED.items()}
SUMMARY = {name: summary for name, (_, summary) in LISTED.items()}
SECOND_NAMES = {"documents": "library"}
"""What somebody may call a command -> its name."""
MOVED = {"quarantine": "held", "supersede": "outdated", "similar": "alike", "missing": "vanished"}
"""What was a command of its own before there was one queue -> its kind there."""


def command(name: str) -> Command:
    """The row of one command. Raises KeyError for an unknown name."""
    module = import_module(MODULE[name], "core.commands")
    rows: tuple[Command, ...] = module.COMMANDS
    return next(row for row in rows if row.name == name)._replace(summary=SUMMARY[name])


def commands() -> tuple[Command, ...]:
    """All rows."""
    return tuple(map(command, MODULE))
