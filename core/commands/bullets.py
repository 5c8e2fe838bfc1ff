"""What a person does to single bullets: add, edit, strike, done, remove, and back.

Which one is meant, and that all lines of one statement are changed together, statements.py tells; the panel adds the
sha256 of what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from core.base.result import Err, Ok, Result, fail
from core.commands.statements import Match, change_all, finished, resolve_bullet, without_secrets
from core.commands.workspace import Workspace, utc_now
from core.knowledge import edit as edits
from core.knowledge.edit import Edited


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
    replaced and reported as a warning, unless the person insists with `keep_secrets` or the setting `redact` is off."""
    name = {"tasks": "tasks_open"}.get(category, category)
    source = str(workspace.cwd / file) if file and not file.startswith("~") else file
    words, note = without_secrets(workspace, text, keep_secrets)
    return finished(workspace, edits.add_bullet(workspace.paths, name, words, now(), path=source, seen=seen), note)


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
        already = resolve_bullet(workspace.paths, f"tasks_{there}", match)
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
    found = resolve_bullet(workspace.paths, category, match)
    if isinstance(found, Err):
        return found
    refs, note = found.value.refs, found.value.note
    return change_all(workspace, "edit", refs, text, keep_secrets=keep_secrets, note=note, seen=seen, now=now)


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
    found = resolve_bullet(workspace.paths, category, match, struck=act == "unstrike")
    if isinstance(found, Err):
        return found
    return change_all(workspace, act, found.value.refs, note=found.value.note, seen=seen, now=now)
