"""`knowledge save`, `recall` and `memories`: the three tools of seed 3, with what a person needs beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from core.base import locks
from core.base.homes import why_refused
from core.base.paths import Paths, project_paths
from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.base.trust import ALLOW, REFUSED, allow_written, read_trust
from core.commands.actions import Takes, not_taken
from core.commands.memory_preview import words_of
from core.commands.memory_records import Listed, Moved, Recalled, Reworded, Saved, in_two_scopes
from core.commands.project import find_project, may_read, places, project_problem
from core.commands.undo_edit import settled, undone_elsewhere
from core.commands.workspace import Workspace, utc_now
from core.knowledge.edit import change_file
from core.knowledge.hunks import Hunk, bare, line_break, made
from core.memories import ARCHIVE as ARCHIVE
from core.memories import (
    Memories,
    archive_memory,
    load_memories,
    restore_memory,
    write_memory,
)
from core.memories import recall as recall
from core.memory_file import Memory as Memory
from core.memory_file import read_memory as read_memory

LOCK_SECONDS = 5.0
MAX_RESULTS = 5
TAKES: Takes = {"list": (), "edit": ("ID", "TEXT", "--keep-secrets"), "archive": ("ID",), "restore": ("ID",)}


def save(
    workspace: Workspace,
    text: str,
    *,
    tag: Sequence[str] | None = None,
    project: str = "",
    keep_secrets: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> Result[Saved]:
    """Write a memory, into the home or with `project` into that project's folder. Secrets in it are replaced and told,
    unless the person insists with `keep_secrets` or the setting `redact` is off."""
    words = words_of(workspace, text, tag or (), keep_secrets)
    if isinstance(words, Err):
        return words
    content, tags, told = words.value
    where = workspace.paths
    if project:
        found = find_project(workspace, project)
        if isinstance(found, Err):
            return found
        if found.value is not None and (refused := why_refused(found.value, to_write=True)):
            return fail(REFUSED, f"{refused}; nothing was written", project_paths(found.value).home)
        where = project_paths(found.value) if found.value is not None else where
    scope = "project" if where is not workspace.paths else "global"

    def write() -> tuple[Memory, bool]:
        known = load_memories([(scope, where.memories)]).memories
        same = next(
            (row for row in known if row.content.strip() == content.strip() and set(tags) <= set(row.tags)), None
        )
        return (same, True) if same is not None else (write_memory(where.memories, content, tags, now()), False)

    written = _locked(where, write)
    if isinstance(written, Err):
        return written
    memory, already = written.value
    told = "; ".join(filter(None, (told, _kept_trusted(workspace, where, memory.path))))
    return Ok(Saved(Memory(**{**vars(memory), "scope": scope}), told, already))


def recall_command(
    workspace: Workspace, query: str = "", *, limit: int = MAX_RESULTS, project: str = ""
) -> Result[Recalled]:
    """The memories of the home and of the project that fit `query`; an empty one fits all. Several words that no memory
    has all of are searched for: then the best hit comes first."""
    if limit < 1:
        return fail("usage", "--limit must be at least 1")
    found = all_memories(workspace, project)
    if isinstance(found, Err):
        return found
    rows, why = recall(found.value.memories, query)[:limit], "newest first"
    told: tuple[str, ...] = ()
    if not rows and query.strip():
        (rows, told), why = _searched(workspace, found.value.memories, query, limit), "most words first"
    return Ok(Recalled(query, tuple(rows), _told(found.value, told), why, in_two_scopes(found.value.memories)))


def _searched(
    workspace: Workspace, rows: Sequence[Memory], query: str, limit: int
) -> tuple[list[Memory], tuple[str, ...]]:
    """What the search finds among memories, best first, and what it warns of; nothing when it cannot be asked."""
    from core.commands.search import MOST, search

    hits = search(workspace, query, kind="memory", limit=min(limit, MOST))
    if isinstance(hits, Err):
        return [], (f"there may be more matches: the search index is unavailable ({hits.error})",)
    by_path = {str(row.path): row for row in rows}
    return [by_path[hit.entry.path] for hit in hits.value.hits if hit.entry.path in by_path], hits.value.warnings


def memories(
    workspace: Workspace,
    action: str = "list",
    which: str = "",
    text: str = "",
    *,
    project: str = "",
    keep_secrets: bool = False,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Listed | Reworded | Moved]:
    """List them; `edit` gives one other words, `archive` moves one out of the way and `restore` back. `which` is its id
    or file name, `seen` the sha256 of the file that the person looked at. Secrets in new words: as in `save`."""
    wrong = not_taken("memories", action, TAKES, {"ID": which, "TEXT": text, "--keep-secrets": keep_secrets})
    if wrong is not None:
        return wrong
    if action != "list" and not which.strip():
        needs = "an id and the new text" if action == "edit" else "an id"
        return fail("usage", f"'knowledge memories {action}' needs {needs}", hint="'knowledge memories' lists the ids")
    found = all_memories(workspace, project, archived=action == "restore")
    if isinstance(found, Err):
        return found
    if action == "list":
        rows = found.value
        return Ok(Listed(rows.memories, rows.exists, _told(rows)))
    chosen = choose_memory(found.value, which)
    if isinstance(chosen, Err):
        return chosen
    memory = chosen.value
    if action == "restore":
        where = Paths(memory.path.parents[3])
        back = _locked(where, lambda: restore_memory(memory.path))
        if isinstance(back, Ok):
            _kept_trusted(workspace, where, back.value)
        return Ok(Moved(memory, back.value, False)) if isinstance(back, Ok) else back
    where = Paths(memory.path.parents[2])
    if seen is not None and seen != memory.sha256:
        return _stale(memory.path)
    if action == "archive":
        moved = _locked(where, lambda: archive_memory(memory.path))
        if isinstance(moved, Ok):
            _kept_trusted(workspace, where, moved.value)
        return Ok(Moved(memory, moved.value, True)) if isinstance(moved, Ok) else moved
    words = words_of(workspace, text, keep_secrets=keep_secrets)
    if isinstance(words, Err):
        return words
    wanted, _, told = words.value
    file, seen = f"memories/{memory.path.name}", memory.sha256
    own, trusted = where == workspace.paths, _is_trusted(workspace, where)
    unsettled = settled(where) if trusted and not own else ""
    edited = change_file(where, file, lambda lines: _with_body(lines, wanted), now(), seen=seen, settles=own)
    if isinstance(edited, Err):
        return edited
    unsettled = unsettled or (settled(where) if trusted and not own else "")
    unread = _kept_trusted(workspace, where, memory.path, where.changes)
    sentences = (told, edited.value.warning, unsettled, undone_elsewhere(workspace, where), unread)
    warning = "; ".join(filter(None, sentences))
    return Ok(Reworded(**{**vars(edited.value), "warning": warning}, scope=memory.scope))


def all_memories(workspace: Workspace, project: str = "", *, archived: bool = False) -> Result[Memories]:
    """Those of the home and of the project (the one asked for, or the one around the current folder), or the ones that
    were archived there. What a project has and the person does not trust is among the skipped."""
    found = find_project(workspace, project)
    if isinstance(found, Err):
        return found
    folders = [(scope, where.memories) for scope, where in places(workspace, found.value)]
    readable, problem = may_read(workspace, found.value), project_problem(workspace, project)
    read = load_memories(
        ((scope, folder / ARCHIVE if archived else folder) for scope, folder in folders),
        lambda scope, path: scope == "global" or readable(path),
    )
    if problem is None:
        return Ok(read)
    return Ok(replace(read, skipped=(*read.skipped, replace(problem, message=str(problem), hint=""))))


def _is_trusted(workspace: Workspace, where: Paths) -> bool:
    return read_trust(workspace.environment).has_folder(where.home.parent)


def _kept_trusted(workspace: Workspace, where: Paths, *written: Path) -> str:
    """What was written into a project for the person is read there from now on, whatever else lies in it. Returns a
    sentence about why it is not, or ""."""
    if where == workspace.paths:
        return ""
    noted = allow_written(where.home.parent, workspace.environment, written)
    return f"it will not be read before {ALLOW}: {noted.error}" if isinstance(noted, Err) else ""


def choose_memory(found: Memories, which: str) -> Result[Memory]:
    """The memory of that id, `project:ID`, or file name. Err when there is none, or one in the home and the project."""
    wanted = which.strip().removesuffix(".md")
    scope, _, number = wanted.rpartition(":")
    wanted_id = int(number) if number.isdecimal() and len(number) < 10 else 0  # no memory has the id 0
    rows = [
        row for row in found.memories if wanted == row.path.stem or (row.id == wanted_id and scope in ("", row.scope))
    ]
    if len(rows) == 1:
        return Ok(rows[0])
    if rows:
        names = "; ".join(f"{row.scope}:{row.id} {row.path.name}" for row in rows)
        return fail(
            "ambiguous", f"{len(rows)} memories have the id {wanted}: {names}", hint="give SCOPE:ID or the name"
        )
    return fail("no-match", f"there is no memory {which!r}", hint="'knowledge memories' lists them")


def _with_body(lines: list[str], content: str) -> Result[list[Hunk]]:
    """Other text below the frontmatter, which stays as the person has it."""
    close = next((at for at, line in enumerate(lines[1:], start=1) if bare(line).rstrip() == "---"), None)
    if close is None:
        return fail("malformed", "the frontmatter of this memory has no end", hint="mend it in a text editor")
    ending = line_break(lines)
    body = [bare(lines[close]) + ending, ending, *(line + ending for line in content.split("\n"))]
    if list(map(bare, lines[close:])) == list(map(bare, body)):
        return fail("unchanged", "this is the text it has already")
    _, hunk = made(lines, close, len(lines) - close, tuple(body))
    return Ok([hunk])


def _stale(path: Path) -> Err:
    return fail("changed-outside", "the memory has changed since you saw it; nothing was written", path, "look again")


def _told(found: Memories, more: Sequence[str] = ()) -> tuple[str, ...]:
    """What was skipped, and what the search says beside that."""
    skipped = [error.message for error in found.skipped]
    return tuple(f"WARNING: {message}" for message in (*skipped, *(one for one in more if one not in skipped)))


def _locked(where: Paths, work: Callable[[], Any]) -> Result[Any]:
    """Do the work while no other process writes memories there: an id is given once."""
    try:
        with locks.locked(where.state / "memories.lock", work="memories", patience=LOCK_SECONDS):
            return Ok(work())
    except locks.LockHeldError as error:
        return locks.refused(error)
    except OSError as error:
        message = f"the memory cannot be written: {error.strerror or error}"
        return Err(ErrorInfo("store-failed", message, str(error.filename or where.memories)))
