"""`knowledge rm ID --forever`: a statement purged from every place of the home that holds it.

Not undoable, and so a user is asked. In an order in which a kill at any step leaves a purge that the next one, a
harvest or the doctor completes: kept away, written down by its hash alone, taken out, forgotten.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC
from functools import partial
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.entry import statement_key
from core.base.markdown import BY_HAND, parse_bullets
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.commands.facts import delete_fact
from core.commands.row import Ask, agreed, nobody
from core.commands.statements import Match, refresh_digest, resolve_bullet, text_of
from core.commands.text import collected
from core.commands.workspace import Clock, Workspace, utc_now
from core.experience import record
from core.factindex.places import read_all
from core.harvest.keeping import purge_archive
from core.harvest.recovery import Recovered, with_store
from core.knowledge import purge as purging
from core.knowledge.ledger import read_ledger, write_ledger
from core.knowledge.purge import Purge
from core.knowledge.removed import FOREVER, read_removed
from core.search.store import discard_holding, is_holding

if TYPE_CHECKING:
    pass

CANNOT = (
    "the conversation that said it ('knowledge forget NAME'), git's own history of the folder, copies on other disks "
    "and machines, and what says it in other words"
)
"""What a purge does not reach, in words."""


@dataclass(frozen=True)
class Purged:
    """What a purge did: the `files` below the knowledge folder that changed, how many `facts` and rows of the `library`
    went, the `caches` that were thrown away, the `backups` that went whole, and where it is `left`: texts of the user's
    own; `notes` are sentences about what was put right on the way. `agreed` is false where nothing was done, for nobody
    said yes."""

    agreed: bool
    files: tuple[str, ...] = ()
    facts: int = 0
    library: int = 0
    caches: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    backups: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "not_reached": CANNOT}


def remove_for_ever(
    workspace: Workspace, category: str, match: Match, *, yes: bool = False, ask: Ask = nobody, now: Clock = utc_now
) -> Purged:
    """Purge what one bullet says. `match` names it as in `rm`; it may have been removed already, and is then named by
    its words as `removed.md` has them. Raises KnowledgeError where nothing is named, or nobody can be asked."""
    text, sources = _meant(workspace, category, match)
    if not yes and not agreed(ask, f"{text}\n", "purge this everywhere, for good, and backups that hold it?"):
        return Purged(agreed=False)
    before = complete(workspace, now)
    notes = [*before.notes]

    def begin(store: Recovered) -> None:
        notes.extend(store.notes)
        purging.begin_purge(workspace.paths, [text], now().astimezone(UTC).date().isoformat())

    with_store(workspace.paths, "rm", now(), begin)
    done = complete(workspace, now)
    notes += done.notes
    return replace(done, agreed=True, conversations=tuple(sources), notes=tuple(dict.fromkeys(notes)))


def _meant(workspace: Workspace, category: str, match: Match) -> tuple[str, list[str]]:
    """The words of the statement, and the conversations that said it."""
    paths = workspace.paths
    found = attempt(resolve_bullet, paths, category, match)
    if not isinstance(found, KnowledgeError):
        came = [parse_bullets(ref.raw)[0].provenance for ref in found.value.refs]
        sources = dict.fromkeys(one.source for one in came if one is not None and one.source != BY_HAND)
        return text_of(found.value.refs[0]), list(sources)
    if found.error.code != "no-match" or not isinstance(match, str):
        raise found
    removed = read_removed(paths)
    wanted = match.strip()
    rows = {statement_key(row.text): row.text for row in removed.rows if row.how != FOREVER}
    exact = [text for key, text in rows.items() if key == statement_key(wanted)]
    near = exact or [text for text in rows.values() if wanted and wanted.casefold() in text.casefold()]
    if len(near) == 1:
        return near[0], []
    if wanted in removed:  # its line is gone already: what a merge or a backup brought back goes once more
        return wanted, []
    raise found


def complete(workspace: Workspace, now: Clock = utc_now, *, locked: bool = False) -> Purged:
    """Bring a purge that was begun to its end; nothing where none was. `locked`: the caller holds the run lock."""
    purge = purging.begun(workspace.paths)
    if purge is None:
        return Purged(agreed=False)

    notes: list[str] = []

    def purge_files(store: Recovered | None = None) -> tuple[list[str], list[str]]:
        entries = store.entries if store is not None else read_ledger(workspace.paths)
        notes.extend(store.notes if store is not None else ())
        copies, damaged = purge_archive(workspace.paths, entries, purge)
        if copies:
            write_ledger(workspace.paths, entries)
        went, left = purging.purge_files(workspace.paths, purge)
        return [*went, *copies], [*left, *damaged]

    purged = purge_files if locked else partial(with_store, workspace.paths, "rm", now(), purge_files)
    went, left = purged()
    problems, rows = list[ErrorInfo](), 0
    with collected(problems):
        rows = _purge_library(workspace, purge)
    problem = refresh_digest(workspace)
    problems += [ErrorInfo("digest-failed", problem, str(workspace.paths.digest))] if problem else []
    caches = discard_holding(workspace.cache, purge.holds)
    facts, errors = _delete_facts(workspace, purge.says, now)  # those that a purge that was cut off left behind
    problems += errors
    if facts:
        purged()
    with collected(problems):
        record.forget(workspace.paths.experience, marks=purge.marks, holds=purge.holds)
    left = [*left, *purging.still_held(workspace.paths, purge)]
    backups, unreadable = _backups_with(workspace, purge)
    left += unreadable
    for name in backups:
        files.discard(workspace.paths.knowledge / name)
    if not problems:
        purging.end_purge(workspace.paths)
    return Purged(
        True, tuple(went), facts, rows, tuple(caches), tuple(dict.fromkeys(left)), backups=tuple(backups),
        errors=tuple(problems), notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _backups_with(workspace: Workspace, purge: Purge) -> tuple[list[str], list[str]]:
    """The backups that hold it, and those that are damaged, so that nobody can tell; below the knowledge folder."""
    folder = workspace.paths.backups
    held, damaged = [], []
    for path in sorted(path for path in folder.glob("*") if path.is_file()) if folder.is_dir() else []:
        name = path.relative_to(workspace.paths.knowledge).as_posix()
        try:
            held += [name] if is_holding(path, purge.holds) else []
        except (EOFError, zlib.error, gzip.BadGzipFile):
            damaged.append(f"{name} (damaged: it cannot be looked through)")
    return held, damaged


# --- facts ------------------------------------------------------------------------------------------------------------


def _delete_facts(workspace: Workspace, says: Callable[[str], bool], now: Clock) -> tuple[int, list[ErrorInfo]]:
    try:
        placed = read_all(workspace.paths.knowledge).placed
    except OSError as error:
        return 0, [ErrorInfo("unreadable", f"the facts cannot be read: {error.strerror}", error.filename or "")]
    gone, errors = 0, []
    for fact_id in [name for name, row in placed.items() if says(row.fact.fact)]:
        done = attempt(delete_fact, workspace, fact_id, now=now)
        if isinstance(done, KnowledgeError) and done.error.code != "no-match":  # that one went with the one before
            errors.append(done.error)
        else:
            gone += 1
    return gone, errors


# --- the library ------------------------------------------------------------------------------------------------------


def _purge_library(workspace: Workspace, purge: Purge) -> int:
    """Take the passages that say it out of the library, with the vectors of their chunks; how many rows changed."""
    if not workspace.config.library_url and not files.exists(workspace.paths.library):
        return 0
    from core.commands.library.documents import opened_library

    with opened_library(workspace) as library:
        from core.library.purge import purge_rows

        return purge_rows(library, lambda text: purge.without(text, blank=True), purge.says)


# --- at the command line ----------------------------------------------------------------------------------------------


def purged_text(done: Purged) -> str:
    """What went, what is left, and what no purge reaches."""
    if not done.agreed:
        return "nothing was changed\n"
    where = [*done.files, *([f"{done.facts} facts"] if done.facts else [])]
    where += [f"{done.library} rows of the library"] if done.library else []
    rows = [f"purged for good from {', '.join(where) or 'no file, for none held it'}"]
    rows += [f"thrown away, to be made again: {', '.join(done.caches)}"] if done.caches else []
    rows += [f"removed whole, for it held it: {name}" for name in done.backups]
    rows += [f"still holds it, and is yours to change: {name}" for name in done.left]
    rows += [f"said in the conversation {name}" for name in done.conversations]
    rows += [f"note: {note}" for note in done.notes]
    return "\n".join([*rows, f"not reached: {CANNOT}"]) + "\n"
