"""What a person does to single bullets (add, edit, strike, done, remove, and back) and the notes of a source file.

Which one is meant, meant.py tells; the panel adds the sha256 of what was seen. What several conversations said is one
statement: all of its lines are changed together (statements.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.base.markdown import parse_bullets
from core.base.result import Err, Ok, Result, fail
from core.commands.masking import without_secrets
from core.commands.meant import Found as Found
from core.commands.meant import Match, bullets_of, find_meant
from core.commands.statements import change_all, finished
from core.commands.workspace import Workspace, utc_now
from core.knowledge import edit as edits
from core.knowledge.categories import CATEGORY, bullets_in, read_text
from core.knowledge.edit import Edited
from core.knowledge.file_facts import facts_about
from core.knowledge.file_notes import notes_for, refresh_notes
from core.knowledge.projects import known_projects


@dataclass(frozen=True)
class Notes:
    """What is known of one source file: `path` is where it is now, `note` the file that holds its notes ("" for none).
    Behind its notes stand the facts that name it: notes of conversations that were harvested without the file."""

    path: str
    note: str
    bullets: tuple[Found, ...]

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge notes --json`."""
        return {"path": self.path, "note": self.note or None, "bullets": [row.to_json() for row in self.bullets]}


# --- the commands ----------------------------------------------------------------------------------------------------


def add(
    workspace: Workspace,
    category: str,
    text: str,
    *,
    file: str = "",
    keep_secrets: bool = False,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Write a bullet by hand. `file` names the source file of a note (category `files`). Secrets in the text are
    replaced and told as a warning, unless the person insists with `keep_secrets` or the setting `redact` is off."""
    name = {"tasks": "tasks_open"}.get(category, category)
    source = str(workspace.cwd / file) if file and not file.startswith("~") else file
    words, told = without_secrets(workspace, text, keep_secrets)
    return finished(workspace, edits.add_bullet(workspace.paths, name, words, now(), path=source, seen=seen), told)


def done(
    workspace: Workspace, match: Match, *, seen: str | None = None, now: Callable[[], datetime] = utc_now
) -> Result[Edited]:
    """Mark an open task done: it moves, with its details, to the end of `## Done`."""
    return _moved(workspace, "done", match, seen, now)


def reopen(
    workspace: Workspace, match: Match, *, seen: str | None = None, now: Callable[[], datetime] = utc_now
) -> Result[Edited]:
    """Bring a task that is done back, with its details, to the end of `## Open`."""
    return _moved(workspace, "reopen", match, seen, now)


def _moved(
    workspace: Workspace, act: str, match: Match, seen: str | None, now: Callable[[], datetime]
) -> Result[Edited]:
    here, there = ("open", "done") if act == "done" else ("done", "open")
    made = _changed(workspace, act, f"tasks_{here}", match, seen, now)
    if isinstance(made, Err) and made.error.code == "no-match":
        already = find_meant(workspace.paths, f"tasks_{there}", match)
        if isinstance(already, Ok):
            return fail(f"already-{there}", f"this task is {there} already", already.value.refs[0].file)
    return made


def edit(
    workspace: Workspace,
    category: str,
    match: Match,
    text: str,
    *,
    keep_secrets: bool = False,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Other words for what one bullet says; where it came from stays. Secrets in the new words: as in `add`."""
    found = find_meant(workspace.paths, category, match)
    if isinstance(found, Err):
        return found
    refs, told = found.value.refs, found.value.told
    return change_all(workspace, "edit", refs, text, keep_secrets=keep_secrets, told=told, seen=seen, now=now)


def strike(
    workspace: Workspace,
    category: str,
    match: Match,
    *,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Strike one bullet through."""
    return _changed(workspace, "strike", category, match, seen, now)


def unstrike(
    workspace: Workspace,
    category: str,
    match: Match,
    *,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Take the strike-through of one bullet away: it is in the digest again. Words name struck lines only."""
    return _changed(workspace, "unstrike", category, match, seen, now)


def remove(
    workspace: Workspace,
    category: str,
    match: Match,
    *,
    strike: bool = False,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Delete one bullet with its indented lines, or with `strike` strike it through. Undo brings it back."""
    return _changed(workspace, "strike" if strike else "delete", category, match, seen, now)


def _changed(
    workspace: Workspace, act: str, category: str, match: Match, seen: str | None, now: Callable[[], datetime]
) -> Result[Edited]:
    found = find_meant(workspace.paths, category, match, struck=act == "unstrike")
    if isinstance(found, Err):
        return found
    return change_all(workspace, act, found.value.refs, told=found.value.told, seen=seen, now=now)


def notes(workspace: Workspace, path: str) -> Result[Notes]:
    """The notes of a source file, whatever it was called before, and the facts that name it."""
    asked = path if path.startswith("~") else str(workspace.cwd / path)
    with contextlib.suppress(OSError):
        refresh_notes(workspace.paths)  # a home that cannot be written answers from what it knows
    try:
        note, current = notes_for(workspace.paths, asked)
        text = read_text(note) if note is not None else ""
        facts = bullets_in(read_text(workspace.paths.knowledge / CATEGORY["facts"].file), "facts")
    except (OSError, ValueError) as error:
        return fail("unreadable", f"the notes cannot be read: {error}", asked)
    # A ledger that cannot be read costs the way from a fact to its project, and no more.
    known = known_projects(workspace.paths, workspace.environment)
    projects = known.value if isinstance(known, Ok) else {}
    named = [Found("facts", CATEGORY["facts"].file, row) for row in facts_about(facts, current, projects)]
    if note is None:
        return Ok(Notes(current, "", tuple(named)))
    file = f"files/{note.name}"
    return Ok(Notes(current, str(note), (*(Found("files", file, row) for row in parse_bullets(text)), *named)))


def list_tasks(workspace: Workspace, state: str) -> Result[list[Found]]:
    """The tasks that are `open` or `done`, in the order of the file."""
    try:
        return Ok(list(bullets_of(workspace.paths, (f"tasks_{state}",))))
    except OSError as error:
        return fail("unreadable", f"the tasks cannot be read: {error.strerror}", error.filename or "")
