"""`knowledge library`: documents are listed, shown, taken out and brought back; the library's state and copies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from core.base import files
from core.base.entry import Entry
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.entry_sources import library_address, library_file
from core.commands.project import Scope
from core.commands.row import Ask, agreed, nobody
from core.commands.text import one_line, short
from core.commands.workspace import Workspace, utc_now
from core.knowledge.check import Finding
from core.knowledge.purge import purge_of
from core.knowledge.removed import read_hidden
from core.library.searched import entries_around
from core.search.store import discard_holding

if TYPE_CHECKING:
    from core.library.catalogue import Shown
    from core.library.database import Library
    from core.library.records import UsageTrace
    from core.library.told import Told

T = TypeVar("T")
USES_SHOWN = 20


# --- opening ----------------------------------------------------------------------------------------------------------


@contextmanager
def opened_library(
    workspace: Workspace, patience: float | None = None, *, make: bool = False, told: Told | None = None
) -> Iterator[Library]:
    """The library of this home; what a database says becomes one sentence. `patience`: for how many seconds another
    writer is waited for; `make`: one that is not there yet is made; `told`: what of it may be read. Raises
    KnowledgeError, in one sentence, where there is none yet, its packages are missing, or it cannot be opened. Who
    needs those packages imports them within: it is this that tells which are missing."""
    paths = workspace.paths
    if not make and not workspace.config.library_url and not files.exists(paths.library):
        hint = "'knowledge library ingest PATH' makes one"
        raise KnowledgeError("no-library", "there is no library yet", paths.library, hint)
    from core.library.database import BUSY_SECONDS, cause_of, database_errors, open_library

    waits = BUSY_SECONDS if patience is None else patience
    address = library_address(workspace)
    opened = open_library(address, paths.backups, experience=paths.experience, patience=waits)
    with closing(replace(opened, told=told)) as library:
        try:
            yield library
        except database_errors() as error:
            why = f"the library cannot be used: {cause_of(error)}"
            raise KnowledgeError("library-failed", why, hint="run 'knowledge doctor'") from error


def leaving_out_removed(workspace: Workspace, value: T) -> T:
    """What the library gives, without what the user has removed, or what has expired."""
    removed = read_hidden(workspace.paths)
    if not removed and not removed.expired:
        return value
    from core.library.told import leaving_out

    return cast("T", leaving_out(value, removed.hides))


# --- looking ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shelf:
    """Documents, the latest first, as rows for a face; `found` is how many there are."""

    documents: tuple[dict[str, Any], ...]
    found: int

    def to_json(self) -> list[dict[str, Any]]:
        return list(self.documents)


def library_part(workspace: Workspace, chunk: str, around: int, scope: Scope) -> list[Entry]:
    """A chunk that a search found, by its id, with those `around` it. Raises KnowledgeError where there is
    none that may be told, or the library cannot be read."""
    library = library_file(workspace)
    try:
        found = entries_around(library, chunk, around) if library is not None and files.exists(library) else []
    except OSError as error:
        raise KnowledgeError("unreadable", "the library cannot be read", str(library)) from error
    told = [leaving_out_removed(workspace, one) for one in found if scope.tells_entry(one)]
    if not told:
        raise KnowledgeError("no-chunk", "no document that may be told has this part", chunk)
    return told


def library_list(workspace: Workspace, *, type: str = "", status: str = "active", limit: int = 50) -> Shelf:
    """Documents of a status ("all": of any) and a type, the latest first."""
    if limit < 1:
        raise KnowledgeError("usage", "--limit must be at least 1")

    try:
        with opened_library(workspace) as library:
            from core.library.catalogue import listed

            found, number = listed(library, type, "" if status == "all" else status, limit)
            return Shelf(tuple(found), number)
    except KnowledgeError as failed:
        if failed.error.code != "no-library":
            raise
        return Shelf((), 0)


def library_show(workspace: Workspace, which: str) -> Shown:
    """One document, by its id (the beginning is enough), the id of one of its chunks, or its path."""
    with opened_library(workspace) as library:
        from core.library.catalogue import chosen, shown_document

        return leaving_out_removed(workspace, shown_document(library, chosen(library, which, workspace.cwd)))


# --- taking out -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Changed:
    """A document that was taken out, brought back, or erased."""

    id: str
    title: str
    status: str
    chunks: int
    copies: tuple[str, ...] = ()
    """Of one that was erased: the backups that may still hold it."""


def library_remove(workspace: Workspace, which: str) -> Changed:
    """Take a document out: nothing of it is retrieved any more, and an ingest leaves it out. It can be restored."""
    return _set_status(workspace, which, "archived")


def library_restore(workspace: Workspace, which: str) -> Changed:
    """Bring back a document that was taken out."""
    return _set_status(workspace, which, "active")


def library_forget(workspace: Workspace, which: str, yes: bool = False, *, ask: Ask = nobody) -> Changed:
    """Erase a document for good, with its chunks, what was learned of them, and every sentence of it that stands
    elsewhere: in a concept's description, in what was recorded. Copies of the library keep it, and are named. Raises
    KnowledgeError where neither `yes` is said nor anybody can be asked."""
    with opened_library(workspace) as library:
        from core.library.catalogue import chosen, erase
        from core.library.purge import TEXTS, own_sentences, purge_rows

        document = chosen(library, which, workspace.cwd)
        if not yes and not agreed(ask, f"{one_line(document.title)}\n", "erase it for good?"):
            return Changed(document.id, document.title, "left as it is", 0)
        purge = purge_of(own_sentences(library, document), os.urandom(32))
        number = erase(library, document.id)
        purge_rows(library, purge.without, purge.says, TEXTS)
        discard_holding(workspace.cache, purge.holds)
        return Changed(document.id, document.title, "erased", number, _backups(workspace))


def _set_status(workspace: Workspace, which: str, status: str) -> Changed:
    with opened_library(workspace) as library:
        from core.library.catalogue import chosen, set_status

        document = chosen(library, which, workspace.cwd)
        if document.status == status:
            raise KnowledgeError("unchanged", f"it is {status} already: {document.title}")
        if document.status == "superseded":
            raise KnowledgeError("superseded", "it is a former version; name the one that is there now")
        return Changed(document.id, document.title, status, set_status(library, document.id, status))


# --- state, copies, checks --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LibraryState:
    """Where the library is, what it holds, how many bytes a file of it has (0 for a server), and what is wrong."""

    address: str
    counts: dict[str, int]
    types: dict[str, int]
    bytes: int
    version: str
    backups: tuple[str, ...]
    problems: tuple[str, ...] = ()

    @property
    def errors(self) -> list[ErrorInfo]:
        return [ErrorInfo("library-damaged", row, self.address) for row in self.problems]


def library_status(workspace: Workspace, check: bool = False) -> LibraryState:
    """What the library holds; with `check`, whether it is whole."""
    with opened_library(workspace) as library:
        from core.library.catalogue import state_of
        from core.library.database import problems_of, shown_url

        problems = tuple(problems_of(library)) if check else ()
        address = shown_url(library_address(workspace))
        return LibraryState(address, **state_of(library), backups=_backups(workspace), problems=problems)


def _backups(workspace: Workspace) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in workspace.paths.backups.glob("library-*.db")))


@dataclass(frozen=True)
class Copied:
    """A copy of the library: where, and how many rows of each table were copied into another database (none for a copy
    of the file)."""

    path: str
    bytes: int = 0
    rows: dict[str, int] = field(default_factory=dict)


def library_backup(workspace: Workspace, to: str = "") -> Copied:
    """Copy the library as it is at this moment, while others use it: into the folder of copies, or to `to`, a folder
    or the address of another, empty library (from a file to PostgreSQL, or back)."""
    try:
        with opened_library(workspace) as library:
            from core.library.copies import back_up, copy_library
            from core.library.database import open_library, shown_url

            if "://" in to:
                with closing(open_library(to)) as target:
                    return Copied(shown_url(to), 0, copy_library(library, target))
            folder = Path(os.path.abspath(workspace.cwd / os.path.expanduser(to))) if to else workspace.paths.backups
            made = back_up(library, folder, now=utc_now())
            return Copied(str(made), made.stat().st_size)
    except OSError as error:
        message = f"the copy cannot be written: {error.strerror or error}"
        raise KnowledgeError("store-failed", message, error.filename or to) from error


def check_library(workspace: Workspace) -> Iterator[Finding]:
    """What is wrong with the library, for `doctor`. Nothing where there is none; a library whose packages are not
    installed is not looked at, and that is said."""
    if not workspace.config.library_url and not files.exists(workspace.paths.library):
        return
    try:
        state = library_status(workspace, check=True)
    except KnowledgeError as failed:
        missing = failed.error.code == "no-library-support"
        yield Finding(failed.error.code, str(failed.error).rstrip("."), str(workspace.paths.library), note=missing)
        return
    for number, sentence in enumerate(state.problems):
        hint = "its copies are in backups/" if state.backups else "there is no copy of it"
        yield Finding("library-damaged", f"{sentence}; {hint}", state.address, at=number)


# --- at the command line --------------------------------------------------------------------------------------------


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
    lines += ["", *(one_line(said) for said in shown.links[document.id])] if document.id in shown.links else []
    for row in shown.chunks:
        leans = ", needs its context" if row.needs_context else ""
        about = f"{row.chunk_type}, {row.rhetorical_mode}, {row.token_count} tokens{leans}"
        about = f"{shown.at[row.id]}, {about}" if row.id in shown.at else about
        lines += ["", f"[{row.id[:8]}] {row.heading or '-'} ({about})", f"  {row.summary}"]
        lines += [f"  good for: {row.functional_profile}"] if row.functional_profile else []
        lines += [f"  {one_line(said)}" for said in shown.links.get(row.id, ())]
    if shown.traces:
        lines += ["", "used ('knowledge library record --undo' takes one back):"]
        lines += [f"  {trace_line(trace)}" for trace in shown.traces[:USES_SHOWN]]
        more = len(shown.traces) - USES_SHOWN
        lines += [f"  … and {more} more (--json)"] if more > 0 else []
    return "\n".join(lines) + "\n"


def trace_line(trace: UsageTrace) -> str:
    """A use on one line, with the beginning of its id in front."""
    chunks = ", ".join(key[:8] for key in trace.chunk_ids)
    said = f": {one_line(trace.notes)}" if trace.notes else ""
    asked = f" {one_line(trace.query)!r}" if trace.query else ""
    guessed = " (inferred)" if trace.recorded == "inferred" else ""
    when = f"{trace.id[:8]}  {trace.timestamp:%Y-%m-%d %H:%M}"
    return f"{when} [{trace.task_type}] {trace.outcome}{guessed}{asked} {chunks}{said}"


def changed_text(changed: Changed) -> str:
    words = {"archived": "taken out", "active": "brought back"}
    rows = [f"{words.get(changed.status, changed.status)}: {changed.title} ({changed.chunks} chunks)"]
    rows += [f"a copy of the library from before may still hold it: backups/{name}" for name in changed.copies]
    return "\n".join(rows) + "\n"


def state_text(state: LibraryState) -> str:
    counts = state.counts
    size = f", {state.bytes / (1 << 20):.1f}MB" if state.bytes else ""
    documents = {name.removeprefix("documents_"): row for name, row in counts.items() if name.startswith("documents_")}
    names = {"chunk": "chunks", "concept": "concepts", "mention": "mentions", "link": "links"}
    more = {"source_profile": "sources", "usage_trace": "usage traces"}
    lines = [
        f"library: {state.address} (version {state.version}{size})",
        f"documents: {', '.join(f'{number} {status}' for status, number in documents.items()) or 'none'}",
        *([f"types: {', '.join(f'{name}:{number}' for name, number in state.types.items())}"] if state.types else []),
        ", ".join(f"{label}: {counts.get(name, 0)}" for name, label in (names | more).items()),
        f"copies: {len(state.backups)}" + (f", the latest {state.backups[-1]}" if state.backups else ""),
    ]
    return "\n".join(lines) + "\n"


def copied_text(copied: Copied) -> str:
    if copied.rows:
        return f"copied {sum(copied.rows.values())} rows to {copied.path}\n"
    return f"copied to {copied.path} ({copied.bytes / (1 << 20):.1f}MB)\n"
