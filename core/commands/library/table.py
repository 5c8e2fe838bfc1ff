"""The rows of `knowledge library`."""

from __future__ import annotations

from core.base.choices import CONTENT_TYPES, DOSSIER_SIZES, OUTCOMES, RELATIONS, SCOPES, TASK_TYPES
from core.commands.library.documents import (
    changed_text,
    copied_text,
    library_backup,
    library_forget,
    library_list,
    library_remove,
    library_restore,
    library_show,
    library_status,
    list_text,
    show_text,
    state_text,
)
from core.commands.library.ingest import ingested_text, library_ingest
from core.commands.library.upkeep import library_link, library_refresh, linked_text, refreshed_text
from core.commands.library.use import (
    answered_text,
    consolidated_text,
    library_consolidate,
    library_record,
    library_reflect,
    library_retrieve,
    library_undo,
    recorded_text,
    reflected_text,
    undone_text,
)
from core.commands.row import (
    NAMED,
    YES,
    Argument,
    flag,
    group,
    listed,
    needed,
    option,
    optional,
    repeated,
    single,
    whole_number,
)

STATUSES = ("active", "archived", "superseded", "all")


def _type(words: str) -> Argument:
    return option("--type", words, "TYPE", choices=("", *CONTENT_TYPES))


_WHICH = needed("which", "a document's id (its first letters are enough), the id of a chunk of it, or its path", "ID")


_TASK = option("--task", f"what it is for: {listed(TASK_TYPES)} (default: told from the question)", "TASK",
               choices=("", *TASK_TYPES))  # fmt: skip


_SESSION = option("--session", "the work session that it belongs to, any name", "S")


COMMANDS = (
    group(
        "library",
        "ingest ~/notes",
        single(
            "list",
            "the documents, the latest first",
            "--type code",
            library_list,
            list_text,
            _type("only documents of this type"),
            Argument(("--status",), "only those of this status", {"choices": STATUSES, "default": "active"}),
            whole_number("--limit", "at most N (default: 50)", 50),
            words=NAMED,
        ),
        single(
            "ingest",
            "take in files, folders and addresses: what is there already is not taken in again",
            "~/notes https://example.org/page",
            library_ingest,
            ingested_text,
            Argument(("paths",), "files, folders and http(s) addresses", {"nargs": "+", "metavar": "PATH"}),
            _type("what the documents are, where that is not to be told by their content"),
            option("--provider", "who describes them: 'offline' asks no model (default: the setting)", "P"),
            option("--scheduler", "read them on the cluster of this scheduler (default: workers)", "ADDRESS"),
            flag("--again", "prepare also what has not changed"),
            long=True,
            words=NAMED,
        ),
        single(
            "show",
            "one document: its summary, source, concepts, chunks, and how they were used",
            "3f2a91c0",
            library_show,
            show_text,
            _WHICH,
            words=NAMED,
        ),
        single(
            "remove",
            "take a document out: it is retrieved no more, and can be restored",
            "3f2a91c0",
            library_remove,
            changed_text,
            _WHICH,
        ),
        single(
            "restore", "bring back a document that was taken out", "3f2a91c0", library_restore, changed_text, _WHICH
        ),
        single(
            "forget",
            "erase a document for good, with what was learned of it",
            "3f2a91c0 --yes",
            library_forget,
            changed_text,
            _WHICH,
            YES,
            asks=True,
        ),
        single(
            "status",
            "where the library is and what it holds; --check reads all of it",
            "--check",
            library_status,
            state_text,
            flag("--check", "see whether it is whole"),
        ),
        single(
            "backup",
            "copy the library while it is in use: to its folder of copies, another folder, "
            "or another library's address",
            "",
            library_backup,
            copied_text,
            optional("to", "a folder, or the address of an empty library (postgresql://…)"),
        ),
        single(
            "retrieve",
            "the best chunks for a question, each with what it was good and bad for",
            "why does it deadlock --task debugging",
            library_retrieve,
            answered_text,
            Argument(("query",), "any words", {"nargs": "+", "metavar": "QUERY"}),
            _TASK,
            whole_number("--limit", "at most N (default: 10)", 10),
            _SESSION,
            Argument(
                ("--size",),
                "of each dossier: full, compact, minimal (at most 400 characters); default: compact, in JSON full",
                {"choices": ("", *DOSSIER_SIZES), "default": "", "metavar": "SIZE"},
            ),
            flag("--unlogged", "do not remember that this was asked"),
            words=NAMED,
        ),
        single(
            "record",
            "write down how a use went and why",
            "--chunk 3f2a91c0 --outcome win",
            library_record,
            recorded_text,
            repeated("--chunk", "a chunk that was used: its id or the beginning of it (repeatable)", "ID"),
            option("--outcome", f"how it went: {listed(OUTCOMES)}", "O", choices=("", *OUTCOMES)),
            option("--notes", "why: the richest signal of all", "TEXT"),
            _TASK,
            option("--context", "what you were doing", "TEXT"),
            option("--query", "the question (default: that of the retrieval)", "TEXT"),
            _SESSION,
            option("--retrieval", "the retrieval that it is about, by its id", "ID"),
            option("--undo", "take this record back, by its id ('knowledge library show ID')", "TRACE"),
        ),
        single(
            "consolidate",
            "turn traces into profiles, patterns into links; tell what is lonely, stale or contradictory",
            "--dry-run",
            library_consolidate,
            consolidated_text,
            flag("--dry-run", "show what would change"),
            flag("--rules", "ask no model"),
        ),
        single(
            "refresh",
            "read changed files again, follow those that moved, name those that are gone",
            "",
            library_refresh,
            refreshed_text,
            option("--provider", "who describes them: 'offline' asks no model (default: the setting)", "P"),
            long=True,
            words=NAMED,
        ),
        single(
            "link",
            "say how two things stand to each other, such as that one contradicts the other",
            "3f2a91c0 contradicts 77b0c1d2",
            library_link,
            linked_text,
            needed("one", "a chunk or document by its id (its first letters are enough), a concept by its name", "ONE"),
            Argument(("relation",), listed(RELATIONS), {"choices": RELATIONS, "metavar": "RELATION"}),
            needed("other", "the same of the other end", "OTHER"),
            option("--note", "why", "TEXT"),
        ),
        single(
            "reflect",
            "what the library serves well and badly, what is missing, what to retire, what goes together",
            "--concept 'event loop'",
            library_reflect,
            reflected_text,
            Argument(("--scope",), f"only {listed(SCOPES[1:])}", {"choices": SCOPES, "default": "all"}),
            option("--concept", "also how this concept evolved", "NAME"),
            words=NAMED,
        ),
        single(
            "undo",
            "take a consolidation back, or list them",
            "3f2a91c0",
            library_undo,
            undone_text,
            optional("run", "the run, or the beginning of it"),
        ),
    ),
)
