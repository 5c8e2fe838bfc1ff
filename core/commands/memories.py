"""`knowledge save`, `recall` and `memories`: three tools of an agent with their display texts, and what a user needs
beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from core.base import locks
from core.base.homes import FORMAT, format_of, why_refused
from core.base.markdown import sanitise_line
from core.base.marks import tame
from core.base.paths import Paths, project_paths
from core.base.result import ErrorInfo, KnowledgeError
from core.base.trust import ALLOW, REFUSED, allow_written, read_trust
from core.commands.history.runs import settled, undone_elsewhere
from core.commands.project import find_project, may_read, places, project_problem
from core.commands.row import (
    PROJECT_OPTION,
    SECRETS,
    group,
    needed,
    option,
    optional,
    repeated,
    single,
    top,
    whole_number,
)
from core.commands.statements import record_follows
from core.commands.text import change_text
from core.commands.workspace import BY_COMMAND, Clock, Workspace, all_without_secrets, utc_now
from core.knowledge.edit import Edited, change_file
from core.knowledge.hunks import Hunk, bare, line_break, made
from core.knowledge.log import carry_over
from core.memories import ARCHIVE as ARCHIVE
from core.memories import Memories, Shelf, all_of, archive_memory, recall, restore_memory, write_memory
from core.memories import newest_first as newest_first
from core.memory_file import Memory as Memory
from core.memory_file import clean_content, clean_tags, trust_of
from core.memory_file import read_memory as read_memory

ROW = ("id", "created", "tags", "summary", "scope", "path", "source")
"""What `memories --json` and `recall --json` tell of each memory."""


def _told(memory: Memory, *names: str) -> dict[str, Any]:
    """These attributes of a memory for JSON; what others may have written goes through the gate."""
    cleaned: dict[str, Callable[[Any], Any]] = {"content": tame, "summary": tame, "source": tame, "path": str}
    row = {name: cleaned.get(name, lambda value: value)(getattr(memory, name)) for name in names}
    return row | ({"tags": list(map(tame, memory.tags))} if "tags" in names else {})


def _of(number: int, rows: Sequence[Memory]) -> tuple[int, str]:
    """How many there are, and how many of these are here where that is a part."""
    number = max(number, len(rows))
    return number, f", here {len(rows)} of them" if number > len(rows) else ""


@dataclass(frozen=True)
class Saved:
    """A memory that was written, or (`already`) one that says the same and stood there before. `display` is what an
    agent is told; `warning` a sentence about the secrets that were replaced in it ("" for none)."""

    memory: Memory
    warning: str = ""
    already: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        return (self.warning,) if self.warning else ()

    @property
    def display(self) -> str:
        path = self.memory.path
        did = f"Already saved as {self.memory.id:03d}" if self.already else f"Saved memory {self.memory.id}"
        return f"✓ {did}: {path.name}\nLocation: {path}"

    def to_json(self) -> dict[str, Any]:
        """The return value of the tool `save_memory`, with `warnings` when there are any."""
        row = {"display": self.display, "path": str(self.memory.path), "memory_id": self.memory.id}
        return {**row, "warnings": list(self.warnings)} if self.warning else row


@dataclass(frozen=True)
class Recalled:
    """What fits a query in the order that `why` says; `warnings` tell which files were skipped. `scoped`: an id is said
    with its scope, for there are memories of the home and of a project."""

    query: str
    memories: tuple[Memory, ...]
    warnings: tuple[str, ...] = ()
    why: str = "newest first"
    scoped: bool = False
    found: int = 0
    """How many fit the query, where these are a part of them; 0 for all of them."""

    @property
    def display(self) -> str:
        if not self.memories:
            return f"No memories found matching '{tame(self.query)}'"
        number, here = _of(self.found, self.memories)
        parts = [f"Found {number} {'memory' if number == 1 else 'memories'} matching '{tame(self.query)}'{here}:\n"]
        parts += [self.shown(row, tame(row.content)) for row in self.memories]
        return tame("\n".join(parts) + "\n")

    def shown(self, row: Memory, words: str) -> str:
        """One memory as `display` has it, with its text or other `words`."""
        tags = f"Tags: {', '.join(map(tame, row.tags))}\n" if row.tags else ""
        name = f"{row.scope}:{row.id}" if self.scoped else row.id
        about = "; ".join(filter(None, (f"created {row.created[:10]}", row.saved_by)))
        return f"**Memory {name}** ({about})\n{tags}{words}\n"

    def tool_result(self) -> dict[str, Any]:
        """The return value of the tool `recall_memory`."""
        results = [_told(row, "id", "content", "tags", "created", "path") for row in self.memories]
        return {"display": self.display, "count": max(self.found, len(results)), "results": results}

    def to_json(self) -> list[dict[str, Any]]:
        """`--json`: a list, best first, with the keys that every search of ours has, and all that a row of
        `memories --json` has."""
        number = len(self.memories)
        return [
            {
                "kind": "memory",
                "key": f"{row.scope}:{row.id}",
                "text": tame(row.content),
                "score": number - at,
                "why": self.why,
                "provenance": f"[from: {row.source}, {row.created[:10]}]",
                **_told(row, *ROW),
            }
            for at, row in enumerate(self.memories)
        ]


@dataclass(frozen=True)
class Listed:
    """All memories by id. `exists` is false when there is no folder yet."""

    memories: tuple[Memory, ...]
    exists: bool
    warnings: tuple[str, ...] = ()
    found: int = 0
    """How many there are, where these are a part of them; 0 for all of them."""

    @property
    def display(self) -> str:
        if not self.memories:
            return "No memories found." if self.exists else "No memories saved yet."
        number, here = _of(self.found, self.memories)
        parts = [f"Total memories: {number}{here}\n\n"]
        scoped = len({row.scope for row in self.memories}) > 1  # each scope counts from 1
        for row in self.memories:
            tags = f" [{', '.join(map(tame, row.tags))}]" if row.tags else ""
            scope = f"{row.scope}:" if scoped else ""
            about = "; ".join(filter(None, (row.created[:10], row.saved_by)))
            parts.append(f"**{scope}{row.id:03d}** ({about}){tags}: {tame(row.summary)}\n")
        return tame("".join(parts))

    def to_json(self) -> dict[str, Any]:
        """The return value of the tool `list_memories`; each row has its scope, path and source too."""
        rows = [_told(row, *ROW) for row in self.memories]
        return {"display": self.display, "count": max(self.found, len(rows)), "memories": rows}


@dataclass(frozen=True)
class Moved:
    """A memory that was moved into the archive or out of it; `path` is where it is now."""

    memory: Memory
    path: Path
    archived: bool

    def to_json(self) -> dict[str, Any]:
        return {"memory_id": self.memory.id, "path": str(self.path), "archived": self.archived}


@dataclass(frozen=True)
class Preview:
    """The text and tags as the file would hold them; `folder` is that of the project ("": for everything), one line."""

    content: str
    tags: tuple[str, ...]
    folder: str = ""


def words_of(
    workspace: Workspace, content: str, tags: Sequence[str] = (), keep_secrets: bool = False
) -> tuple[str, tuple[str, ...], str]:
    """Content and tags as they will stand in the file, and a sentence about the secrets that were replaced in them, ""
    for none. Raises KnowledgeError: nothing to save, too much, an invalid tag."""
    way = BY_COMMAND.format("save or memories edit")
    masked, note = all_without_secrets(workspace, (content, *tags), keep_secrets, way)
    return clean_content(masked[0]), clean_tags(masked[1:]), note


def preview(workspace: Workspace, content: str, tags: Sequence[str], project: str) -> Preview:
    """Raises KnowledgeError as saving would have it: nothing to save, too much, an invalid tag, no such folder."""
    words = words_of(workspace, content, tags)
    found = _project_on_disk(workspace, project) if project else None
    return Preview(words[0], words[1], sanitise_line(str(found or ""), None))


def _project_on_disk(workspace: Workspace, project: str) -> Path | None:
    """The folder of a project that something is written into: several may have a name."""
    if not os.path.isdir(workspace.cwd / os.path.expanduser(project)):
        raise KnowledgeError("no-project", "there is no folder of that name", project, "name the project's folder")
    return find_project(workspace, project)


LOCK_SECONDS = 5.0
MAX_RESULTS = 5


def save(
    workspace: Workspace,
    text: str,
    *,
    tag: Sequence[str] | None = None,
    project: str = "",
    keep_secrets: bool = False,
    source: str = "",
    now: Clock = utc_now,
) -> Saved:
    """Write a memory, into the home or with `project` into that project's folder. Secrets in it are replaced and
    reported, unless the user insists with `keep_secrets` or the setting `redact` is off. `source` is one of AGENTS
    where an agent saves it: what such a one says is not yet said by the user, who may still save the same."""
    content, tags, note = words_of(workspace, text, tag or (), keep_secrets)
    where = workspace.paths
    if project:
        found = _project_on_disk(workspace, project)
        if found is not None and (refused := why_refused(found, to_write=True)):
            raise KnowledgeError(REFUSED, f"{refused}; nothing was written", project_paths(found).home)
        where = project_paths(found) if found is not None else where
    scope = "project" if where is not workspace.paths else "global"
    with _locked(workspace, where):
        shelf = Shelf(scope, where.memories)
        readable = may_read(workspace, where.home.parent)  # or tags of somebody else would be trusted with the words

        def counts(one: Memory) -> bool:
            return (scope != "project" or readable(one.path)) and trust_of(one.source) <= trust_of(source)

        same = shelf.same(content, tags, counts)
        memory = same or write_memory(shelf, content, tags, now(), source)
    note = "; ".join(filter(None, (note, _kept_trusted(workspace, where, memory.path))))
    return Saved(Memory(**{**vars(memory), "scope": scope}), note, same is not None)


def recall_command(workspace: Workspace, query: str = "", *, limit: int = MAX_RESULTS, project: str = "") -> Recalled:
    """The memories of the home and of the project that fit `query`; an empty one fits all. Several words that no memory
    has all of are searched for: then the best hit comes first."""
    if limit < 1:
        raise KnowledgeError("usage", "--limit must be at least 1")
    shelves, left_out = _shelves(workspace, project)
    rows, why = list(islice(recall(shelves, query), limit)), "newest first"
    notes: tuple[str, ...] = ()
    if not rows and query.strip():
        (rows, notes), why = _searched(workspace, shelves, query, limit), "most words first"
    skipped = [*(error for shelf in shelves for error in shelf.skipped), *left_out]
    scoped = sum(bool(shelf.rows) for shelf in shelves) > 1
    return Recalled(query, tuple(rows), _warnings(skipped, notes), why, scoped)


def _searched(
    workspace: Workspace, shelves: Sequence[Shelf], query: str, limit: int
) -> tuple[list[Memory], tuple[str, ...]]:
    """What the search finds among memories, best first, and what it warns of; nothing when it cannot be asked."""
    from core.commands.search import MAX_LIMIT, search

    try:
        found = search(workspace, query, kind="memory", limit=min(limit, MAX_LIMIT))
    except KnowledgeError as failed:
        return [], (f"there may be more matches: the search index is unavailable ({failed.error})",)
    wanted = [hit.entry.path for hit in found.hits]
    by_path = {str(row.path): row for shelf in shelves for row in shelf.rows}
    return [by_path[path] for path in wanted if path in by_path], found.warnings


def memories_list(workspace: Workspace, *, project: str = "") -> Listed:
    """All memories of the home and of the project."""
    found = all_memories(workspace, project)
    return Listed(found.memories, found.exists, _warnings(found.skipped))


def memories_edit(
    workspace: Workspace,
    which: str,
    text: str,
    *,
    project: str = "",
    keep_secrets: bool = False,
    seen: str | None = None,
    now: Clock = utc_now,
) -> Edited:
    """Give one other words. `which` is its id or file name, `seen` the sha256 of the file that the user looked at.
    Secrets in the new words: as in `save`."""
    memory = _chosen(workspace, which, project, seen=seen)
    wanted, _, replaced = words_of(workspace, text, keep_secrets=keep_secrets)
    where = Paths(memory.path.parents[2])
    own, trusted = where == workspace.paths, read_trust(workspace.environment).has_folder(where.home.parent)
    unsettled = settled(where) if trusted and not own else ""
    file, seen = f"memories/{memory.path.name}", memory.sha256
    edited = change_file(where, file, lambda lines: _with_body(lines, wanted), now(), seen=seen, settles=own)
    unsettled = unsettled or (settled(where) if trusted and not own else "")
    unread = _kept_trusted(workspace, where, memory.path, where.changes)
    kept = record_follows(workspace.paths, memory.content, wanted)
    sentences = (replaced, kept, edited.warning, unsettled, undone_elsewhere(workspace, where), unread)
    return replace(edited, warning="; ".join(filter(None, sentences)), scope=memory.scope)


def memories_archive(workspace: Workspace, which: str, *, project: str = "", seen: str | None = None) -> Moved:
    """Move one out of the way: it is listed and recalled no more."""
    memory = _chosen(workspace, which, project, seen=seen)
    return _moved(workspace, memory, Paths(memory.path.parents[2]), archive_memory)


def memories_restore(workspace: Workspace, which: str, *, project: str = "") -> Moved:
    """Bring one back from the archive."""
    memory = _chosen(workspace, which, project, archived=True)
    return _moved(workspace, memory, Paths(memory.path.parents[3]), restore_memory)


def _moved(workspace: Workspace, memory: Memory, where: Paths, move: Callable[[Path], Path]) -> Moved:
    with _locked(workspace, where):
        moved = move(memory.path)
    _kept_trusted(workspace, where, moved)
    return Moved(memory, moved, move is archive_memory)


def _chosen(
    workspace: Workspace, which: str, project: str, *, seen: str | None = None, archived: bool = False
) -> Memory:
    """The memory of that id, `project:ID`, or file name. Raises KnowledgeError when there is none, or one in the home
    and the project, or when it is another by now than the user has `seen`."""
    wanted = which.strip().removesuffix(".md")
    if not wanted:
        raise KnowledgeError("usage", "which memory? give its id", hint="'knowledge memories' lists the ids")
    scope, _, number = wanted.rpartition(":")
    wanted_id = int(number) if number.isdecimal() and len(number) < 10 else 0  # no memory has the id 0
    found = all_memories(workspace, project, archived=archived).memories
    rows = [row for row in found if wanted == row.path.stem or (row.id == wanted_id and scope in ("", row.scope))]
    if not rows:
        raise KnowledgeError("no-match", f"there is no memory {which!r}", hint="'knowledge memories' lists them")
    if len(rows) > 1:
        names = "; ".join(f"{row.scope}:{row.id} {row.path.name}" for row in rows)
        message = f"{len(rows)} memories have the id {wanted}: {names}"
        raise KnowledgeError("ambiguous", message, hint="give SCOPE:ID or the name")
    if seen not in (None, rows[0].sha256):
        message = "the memory has changed since you saw it; nothing was written"
        raise KnowledgeError("changed-outside", message, rows[0].path, "look again")
    return rows[0]


def all_memories(workspace: Workspace, project: str = "", *, archived: bool = False) -> Memories:
    """Those of the home and of the project (the one asked for, or the one around the current folder), or the ones that
    were archived there. What a project has and the user does not trust is among the skipped."""
    shelves, left_out = _shelves(workspace, project, archived=archived)
    read = all_of(shelves)
    return replace(read, skipped=(*read.skipped, *left_out)) if left_out else read


def _shelves(workspace: Workspace, project: str, *, archived: bool = False) -> tuple[list[Shelf], list[ErrorInfo]]:
    """The folders of `all_memories`, and what of the project is left out."""
    found = find_project(workspace, project)
    readable, problem = may_read(workspace, found), project_problem(workspace, project)
    below = ARCHIVE if archived else ""
    shelves = [
        Shelf(scope, where.memories / below, lambda _scope, path: readable(path))
        for scope, where in places(workspace, found)
    ]
    return shelves, [] if problem is None else [replace(problem, message=str(problem), hint="")]


def _kept_trusted(workspace: Workspace, where: Paths, *written: Path) -> str:
    """What was written into a project for the user is read there from now on, whatever else lies in it. Returns a
    sentence about why it is not, or ""."""
    if where == workspace.paths:
        return ""
    try:
        allow_written(where.home.parent, workspace.environment, written)
    except KnowledgeError as failed:
        return f"it will not be read before {ALLOW}: {failed.error}"
    return ""


def _with_body(lines: list[str], content: str) -> list[Hunk]:
    """Other text below the frontmatter, which stays as the user has it."""
    close = next((at for at, line in enumerate(lines[1:], start=1) if bare(line).rstrip() == "---"), None)
    if close is None:
        raise KnowledgeError("malformed", "the frontmatter of this memory has no end", hint="mend it in a text editor")
    ending = line_break(lines)
    body = [bare(lines[close]) + ending, ending, *(line + ending for line in content.split("\n"))]
    if list(map(bare, lines[close:])) == list(map(bare, body)):
        raise KnowledgeError("unchanged", "this is the text it has already")
    _, hunk = made(lines, close, len(lines) - close, tuple(body))
    return [hunk]


def _warnings(errors: Sequence[ErrorInfo], more: Sequence[str] = ()) -> tuple[str, ...]:
    """What was skipped, and what the search says beside that."""
    skipped = [error.message for error in errors]
    return tuple(f"WARNING: {message}" for message in (*skipped, *(one for one in more if one not in skipped)))


@contextmanager
def _locked(workspace: Workspace, where: Paths) -> Iterator[None]:
    """Within it no other process writes memories there: an id is given once."""
    try:
        if where == workspace.paths and format_of(where) != FORMAT:
            carry_over(where)
        with locks.locked(where.state / "memories.lock", work="memories", editor_wait=LOCK_SECONDS):
            yield
    except locks.LockHeldError as error:
        raise locks.refused(error) from error
    except OSError as error:
        message = f"the memory cannot be written: {error.strerror or error}"
        raise KnowledgeError("store-failed", message, error.filename or where.memories) from error


def display_text(value: Saved | Recalled | Listed) -> str:
    """What an agent is told as well."""
    return value.display.rstrip("\n") + "\n"


def reworded_text(value: Edited) -> str:
    whose = " of this project" if value.scope == "project" else ""
    first, _, rest = change_text(value).partition("\n")
    return f"{first}{whose}\n{rest}"


def moved_text(value: Moved) -> str:
    return f"{'archived' if value.archived else 'restored'} memory {value.memory.id}: {value.path}\n"


_WHICH = needed("which", "a memory's id, project:ID or global:ID where both have it, or its file name", "ID")


COMMANDS = (
    top(
        "save",
        '"Prefers tabs in Makefiles" --tag preference',
        save,
        display_text,
        needed("text", "what to remember"),
        repeated(
            "--tag",
            "a tag (repeatable); preference, correction, decision, context and pattern are categories too, "
            "and the file then says 'source: detected'",
            "T",
        ),
        option("--project", "save it for this project alone", "DIR"),
        SECRETS,
    ),
    top(
        "recall",
        '"makefile tabs"',
        recall_command,
        display_text,
        optional("query", "words, or nothing for all"),
        whole_number("--limit", "at most N memories (default: 5)", 5),
        PROJECT_OPTION,
    ),
    group(
        "memories",
        "archive 3",
        single("list", "all memories of the home and of the project", "", memories_list, display_text, PROJECT_OPTION),
        single(
            "edit",
            "give one another text",
            '3 "Prefers spaces in Makefiles"',
            memories_edit,
            reworded_text,
            _WHICH,
            needed("text", "its new text"),
            PROJECT_OPTION,
            SECRETS,
        ),
        single(
            "archive",
            "move one out of the way: it is not recalled any more",
            "3",
            memories_archive,
            moved_text,
            _WHICH,
            PROJECT_OPTION,
        ),
        single("restore", "bring one back from the archive", "3", memories_restore, moved_text, _WHICH, PROJECT_OPTION),
    ),
)
