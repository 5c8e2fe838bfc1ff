"""Commands over what is known: bullets and notes, the search, memories, facts."""

from __future__ import annotations

from core.base.choices import ENTRY_KINDS, FACT_CATEGORIES, FACT_FORMATS
from core.commands.arguments import CATEGORY, MATCH, OF_BULLET, PROJECT, REPEATED, SECRETS, listed, option
from core.commands.row import Argument, Command, action, flag

KNOWLEDGE: tuple[Command, ...] = (
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
            CATEGORY,
            Argument(("text",), "one line"),
            option("--file", "the source file that a note is about", "PATH"),
            SECRETS,
        ),
    ),
    Command(
        "done",
        "move an open task to Done",
        'knowledge done "release notes"',
        "core.commands.bullets:done",
        True,
        (MATCH,),
    ),
    Command(
        "reopen",
        "move a task that is done back to Open",
        'knowledge reopen "release notes"',
        "core.commands.bullets:reopen",
        True,
        (MATCH,),
    ),
    Command(
        "edit",
        "change what one bullet says",
        'knowledge edit facts "port 8080" "The server listens on port 8081"',
        "core.commands.bullets:edit",
        True,
        (OF_BULLET, MATCH, Argument(("text",), "the new text"), SECRETS),
    ),
    Command(
        "rm",
        "delete one bullet, or strike it through",
        'knowledge rm facts "port 8080" --strike',
        "core.commands.bullets:remove",
        True,
        (
            OF_BULLET,
            MATCH,
            flag("--strike", "strike it through instead of deleting it: it stays in the file but leaves the digest"),
        ),
    ),
    Command(
        "unstrike",
        "take the strike-through of one bullet away",
        'knowledge unstrike facts "port 8080"',
        "core.commands.bullets:unstrike",
        True,
        (OF_BULLET, MATCH),
    ),
    Command(
        "search",
        "find anything in the store, best first",
        "knowledge search port 8080 --kind bullet --since 2026-05",
        "core.commands.search:search",
        False,
        (
            Argument(("query",), "any words; in quotation marks: a phrase", {"nargs": "+"}),
            option("--kind", f"only {listed(ENTRY_KINDS)}", "KIND", choices=ENTRY_KINDS),
            option("--since", "only what is dated from then on: 2026, 2026-05 or 2026-05-31", "DATE"),
            Argument(("--tag",), "only what has this tag, such as decisions (repeatable)", REPEATED),
            option("--project", "only what belongs to this folder", "DIR"),
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
                REPEATED,
            ),
            option("--project", "save it for this project alone", "DIR"),
            SECRETS,
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
            PROJECT,
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
            PROJECT,
            SECRETS,
        ),
    ),
    Command(
        "facts",
        "the fact index: list, validate PATH, sync, bootstrap, merge ID ID, renumber",
        "knowledge facts list --category pitfall --format md",
        "core.commands.facts:facts_command",
        True,
        (
            action(
                "list, validate, sync, bootstrap, merge, or renumber (ids that stand twice)",
                *("list", "validate", "sync", "bootstrap", "merge", "renumber"),
            ),
            Argument(("names",), "a path to validate, or the two ids to merge", {"nargs": "*", "metavar": "NAME"}),
            Argument(("--domain",), "a repository, an agent or global (repeatable)", {"action": "append"}),
            Argument(("--category",), listed(FACT_CATEGORIES), {"metavar": "C"}),
            Argument(("--tag",), "only facts with this tag", {"metavar": "T"}),
            flag("--stale", "only facts that have expired"),
            flag("--similar", "pairs of facts that nearly say the same"),
            Argument(("--format",), listed(FACT_FORMATS), {"choices": FACT_FORMATS, "metavar": "F"}),
            Argument(("--budget",), "bootstrap: at most N tokens (default: 2000)", {"type": int, "metavar": "N"}),
            flag("--accept-removals", "sync: let go of the facts of files that are broken or gone"),
            flag("--apply", "renumber: write it (without: show what would be written)"),
        ),
    ),
)
