"""`knowledge library`: what its results look like, and its rows in the table of commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.library_use import SUBCOMMANDS as OF_USE
from core.cli.table import NAMED, Argument, Command, flag, needed, option, optional, whole_number
from core.cli.text import one_line, short

if TYPE_CHECKING:
    from core.commands.library.documents import Changed, Copied, LibraryState, Shelf
    from core.commands.library.ingest import Ingested
    from core.library.catalogue import Shown

CONTENT_TYPES = ("article", "paper", "note", "code", "conversation", "reference")
STATUSES = ("active", "archived", "superseded", "all")
_WORDS = {
    "new": "new",
    "changed": "changed",
    "known": "known from elsewhere",
    "restored": "as it was before",
    "unchanged": "unchanged",
    "archived": "taken out by you, left out",
}


def ingested_text(done: Ingested) -> str:
    counts = dict(done.counts)
    counts["unchanged"] = counts.get("unchanged", 0) + done.unchanged
    counted = [f"{counts[status]} {words}" for status, words in _WORDS.items() if counts.get(status)]
    chunks = sum(row["chunks"] for row in done.documents if row["status"] in ("new", "changed", "restored"))
    lines = [f"documents: {', '.join(counted) or 'none'}"]
    if chunks:
        lines.append(f"chunks: {chunks}")
    if done.redacted:
        lines.append(f"secrets replaced: {done.redacted}")
    if done.skipped:
        lines.append("passed over: " + ", ".join(f"{number} {what}" for what, number in sorted(done.skipped.items())))
    if done.backup:
        lines.append(f"the library was copied before it was migrated: {done.backup}")
    if done.stopped:
        lines.append(f"{done.stopped}; run it again to go on")
    return "\n".join(lines) + "\n"


def list_text(shelf: Shelf) -> str:
    if not shelf.documents:
        return "no documents; 'knowledge library ingest PATH' takes some in\n"
    lines = [
        f"{row['id'][:8]}  {row['content_type']:<12} {row['chunks']:>4}  {short(row['title'])}  {one_line(row['path'])}"
        for row in shelf.documents
    ]
    if shelf.found > len(shelf.documents):
        lines.append(f"… and {shelf.found - len(shelf.documents)} more (--limit)")
    return "\n".join(lines) + "\n"


def show_text(shown: Shown) -> str:
    document, profile = shown.document, shown.profile
    lines = [document.title, f"{document.id}  {document.content_type}, {document.status}", *shown.places]
    if profile is not None:
        lines.append(f"source: {profile.domain} ({profile.source_type})")
        lines += [f"  {profile.functional_profile}"] if profile.functional_profile else []
    lines += ["", document.top_summary] if document.top_summary else []
    if document.key_claims:
        lines += ["", *(f"- {claim}" for claim in document.key_claims)]
    if shown.concepts:
        lines += ["", "concepts: " + ", ".join(f"{name} ({number})" for name, number in shown.concepts)]
    for row in shown.chunks:
        leans = ", needs its context" if row.needs_context else ""
        about = f"{row.chunk_type}, {row.rhetorical_mode}, {row.token_count} tokens{leans}"
        lines += ["", f"[{row.id[:8]}] {row.heading or '-'} ({about})", f"  {row.summary}"]
        lines += [f"  good for: {row.functional_profile}"] if row.functional_profile else []
    return "\n".join(lines) + "\n"


def changed_text(changed: Changed) -> str:
    words = {"archived": "taken out", "active": "brought back", "erased": "erased"}
    return f"{words[changed.status]}: {changed.title} ({changed.chunks} chunks)\n"


def state_text(state: LibraryState) -> str:
    counts = state.counts
    size = f", {state.bytes / (1 << 20):.1f}MB" if state.bytes else ""
    others = [
        f"{counts.get(name, 0)} {name.removeprefix('documents_')}" for name in counts if name.startswith("documents_")
    ]
    names = {"chunk": "chunks", "concept": "concepts", "mention": "mentions", "link": "links"}
    more = {"source_profile": "sources", "usage_trace": "usage traces", "embedding": "vectors"}
    lines = [
        f"library: {state.address} (version {state.version}{size})",
        f"documents: {', '.join(others) or 'none'}",
        *([f"types: {', '.join(f'{name}:{number}' for name, number in state.types.items())}"] if state.types else []),
        ", ".join(f"{label}: {counts.get(name, 0)}" for name, label in (names | more).items()),
        f"copies: {len(state.backups)}" + (f", the latest {state.backups[-1]}" if state.backups else ""),
    ]
    return "\n".join(lines) + "\n"


def copied_text(copied: Copied) -> str:
    if copied.rows:
        return f"copied {sum(copied.rows.values())} rows to {copied.path}\n"
    return f"copied to {copied.path} ({copied.bytes / (1 << 20):.1f}MB)\n"


def _type(words: str) -> Argument:
    return option("--type", words, "TYPE", choices=("", *CONTENT_TYPES))


_WHICH = needed("which", "a document's id (its first letters are enough), the id of a chunk of it, or its path", "ID")
SUBCOMMANDS = (
    Command(
        "list",
        "the documents, the latest first",
        "knowledge library list --type code",
        "core.commands.library.documents:library_list",
        list_text,
        (
            _type("only documents of this type"),
            Argument(("--status",), "only those of this status", {"choices": STATUSES, "default": "active"}),
            whole_number("--limit", "at most N (default: 50)", 50),
        ),
        words=NAMED,
    ),
    Command(
        "ingest",
        "take in files, folders and addresses: what is there already is not taken in again",
        "knowledge library ingest ~/notes https://example.org/page",
        "core.commands.library.ingest:library_ingest",
        ingested_text,
        (
            Argument(("paths",), "files, folders and http(s) addresses", {"nargs": "+", "metavar": "PATH"}),
            _type("what the documents are, where that is not to be told by their content"),
            option("--provider", "who describes them: 'offline' asks no model (default: the setting)", "P"),
            option("--scheduler", "read them on the cluster of this scheduler (default: workers)", "ADDRESS"),
            flag("--again", "prepare also what has not changed"),
        ),
        long=True,
        words=NAMED,
    ),
    Command(
        "show",
        "one document: its summary, source, concepts and chunks",
        "knowledge library show 3f2a91c0",
        "core.commands.library.documents:library_show",
        show_text,
        (_WHICH,),
        words=NAMED,
    ),
    Command(
        "remove",
        "take a document out: it is retrieved no more, and can be restored",
        "knowledge library remove 3f2a91c0",
        "core.commands.library.documents:library_remove",
        changed_text,
        (_WHICH,),
    ),
    Command(
        "restore",
        "bring back a document that was taken out",
        "knowledge library restore 3f2a91c0",
        "core.commands.library.documents:library_restore",
        changed_text,
        (_WHICH,),
    ),
    Command(
        "forget",
        "erase a document for good, with what was learned of it",
        "knowledge library forget 3f2a91c0",
        "core.commands.library.documents:library_forget",
        changed_text,
        (_WHICH,),
    ),
    Command(
        "status",
        "where the library is and what it holds; --check reads all of it",
        "knowledge library status --check",
        "core.commands.library.documents:library_status",
        state_text,
        (flag("--check", "see whether it is whole"),),
    ),
    Command(
        "backup",
        "copy the library while it is in use: to its folder of copies, another folder, or another library's address",
        "knowledge library backup",
        "core.commands.library.documents:library_backup",
        copied_text,
        (optional("to", "a folder, or the address of an empty library (postgresql://…)"),),
    ),
)
COMMANDS = (
    Command(
        "library",
        "documents and what each was good for: ingest PATH, retrieve QUERY, record, consolidate, reflect, list, …",
        "knowledge library ingest ~/notes",
        subcommands=(*SUBCOMMANDS, *OF_USE),
    ),
)
