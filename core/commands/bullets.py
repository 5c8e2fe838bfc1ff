"""What a person does to single bullets: add, edit, strike, done, remove; and the notes of a source file.

A bullet is named by its words (`MATCH`: the exact text, or a part of it that only one bullet has), by `FILE:LINE`, or,
from the panel, by a `BulletRef` together with the sha256 of what was seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from core.base import files
from core.base.markdown import Bullet, parse_bullets
from core.base.paths import Paths
from core.base.redact import redact
from core.base.result import Err, Ok, Result, fail
from core.commands.workspace import Workspace, utc_now
from core.knowledge import edit as edits
from core.knowledge.bullet_text import BulletRef
from core.knowledge.categories import CATEGORY, bullets_in, note_files, read_text
from core.knowledge.digest import regenerate_digest
from core.knowledge.edit import Edited
from core.knowledge.file_notes import notes_for

SHOWN = 5
WIDTH = 90
TASKS = ("tasks_open", "tasks_done")
_ADDRESS = re.compile(r"(?P<file>[^:]+\.md):(?P<line>\d{1,9})\Z|(?P<note>files/.+\.md):(?P<at>\d{1,9})\Z")

Match = str | BulletRef


@dataclass(frozen=True)
class Found:
    """A bullet on disk with the category and the file (below the knowledge folder) it stands in."""

    category: str
    file: str
    bullet: Bullet

    @property
    def ref(self) -> BulletRef:
        return BulletRef(self.file, self.bullet.line, self.bullet.raw)

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        made = self.bullet
        return {
            "category": self.category,
            "file": self.file,
            "line": made.line,
            "text": made.text,
            "provenance": str(made.provenance) if made.provenance is not None else None,
            "more": list(made.more),
            "struck": made.struck,
        }


@dataclass(frozen=True)
class Notes:
    """The notes of one source file: `path` is where it is now, `note` the file that holds them ("" for none)."""

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
    found = find_bullet(workspace.paths, "tasks_open", match)
    if isinstance(found, Err):
        already = find_bullet(workspace.paths, "tasks_done", match)
        if found.error.code == "no-match" and isinstance(already, Ok):
            return fail("already-done", "this task is done already", already.value.file)
        return found
    return finished(workspace, edits.mark_done(workspace.paths, found.value, now(), seen=seen))


def reopen(
    workspace: Workspace, match: Match, *, seen: str | None = None, now: Callable[[], datetime] = utc_now
) -> Result[Edited]:
    """Bring a task that is done back to the open ones."""
    found = find_bullet(workspace.paths, "tasks_done", match)
    if isinstance(found, Err):
        return found
    return finished(workspace, edits.reopen(workspace.paths, found.value, now(), seen=seen))


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
    """Other words for one bullet; where it came from stays. Secrets in the new words: as in `add`."""
    found = find_bullet(workspace.paths, category, match)
    if isinstance(found, Err):
        return found
    words, told = without_secrets(workspace, text, keep_secrets)
    return finished(workspace, edits.edit_text(workspace.paths, found.value, words, now(), seen=seen), told)


def without_secrets(workspace: Workspace, text: str, keep: bool) -> tuple[str, str]:
    """The text with placeholders for its secrets, and a sentence that names their kinds, "" for none."""
    if keep or not workspace.config.redact:
        return text, ""
    clean = redact(text)
    if not clean.counts:
        return text, ""
    kinds = ", ".join(f"{kind}:{number}" for kind, number in sorted(clean.counts.items()))
    return clean.text, f"secrets replaced: {kinds} (to write them as they are: knowledge add or edit --keep-secrets)"


def strike(
    workspace: Workspace,
    category: str,
    match: Match,
    *,
    off: bool = False,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Strike one bullet through, or with `off` take the strike-through away."""
    found = find_bullet(workspace.paths, category, match)
    if isinstance(found, Err):
        return found
    act = edits.unstrike if off else edits.strike
    return finished(workspace, act(workspace.paths, found.value, now(), seen=seen))


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
    found = find_bullet(workspace.paths, category, match)
    if isinstance(found, Err):
        return found
    act = edits.strike if strike else edits.delete_bullet
    return finished(workspace, act(workspace.paths, found.value, now(), seen=seen))


def notes(workspace: Workspace, path: str) -> Result[Notes]:
    """The notes of a source file, whatever it was called before. A file without notes has no bullets."""
    asked = path if path.startswith("~") else str(workspace.cwd / path)
    try:
        note, current = notes_for(workspace.paths, asked)
        text = read_text(note) if note is not None else ""
    except (OSError, ValueError) as error:
        return fail("unreadable", f"the notes cannot be read: {error}", asked)
    if note is None:
        return Ok(Notes(current, "", ()))
    file = f"files/{note.name}"
    return Ok(Notes(current, str(note), tuple(Found("files", file, row) for row in parse_bullets(text))))


def list_tasks(workspace: Workspace, state: str) -> Result[list[Found]]:
    """The tasks that are `open` or `done`, in the order of the file."""
    try:
        return Ok(list(_bullets(workspace.paths, (f"tasks_{state}",))))
    except OSError as error:
        return fail("unreadable", f"the tasks cannot be read: {error.strerror}", error.filename or "")


def refresh_digest(workspace: Workspace) -> str:
    """Bring digest.md up to date where it exists; an absent one is switched off and stays so. Returns a sentence about
    what went wrong, or ""."""
    if not workspace.config.digest_enabled or not files.exists(workspace.paths.digest):
        return ""
    try:
        regenerate_digest(workspace.paths, workspace.config.digest_max_bytes)
    except OSError as error:
        return f"the digest could not be brought up to date: {error.strerror or error}"
    return ""


def finished(workspace: Workspace, result: Result[Edited], told: str = "") -> Result[Edited]:
    """An edit with the digest brought up to date, and what did not work beside it (`told` first) as its warning."""
    if isinstance(result, Err):
        return result
    problems = [sentence for sentence in (told, result.value.warning, refresh_digest(workspace)) if sentence]
    return Ok(replace(result.value, warning="; ".join(problems)))


# --- which bullet ----------------------------------------------------------------------------------------------------


def find_bullet(paths: Paths, category: str, match: Match) -> Result[BulletRef]:
    """The one bullet that `match` names. `category` is one of the seven, `tasks` for both kinds, or "" for all.

    Err(no-match) names the nearest; Err(ambiguous) lists the candidates.
    """
    if isinstance(match, BulletRef):
        return Ok(match)
    names = {"": tuple(CATEGORY), "tasks": TASKS}.get(category, (category,))
    if not set(names) <= set(CATEGORY):
        return fail("no-category", f"there is no category {category!r}", hint=f"choose one of {', '.join(CATEGORY)}")
    try:
        rows = list(_bullets(paths, names))
    except OSError as error:
        return fail("unreadable", f"the bullets cannot be read: {error.strerror}", error.filename or "")
    return choose(rows, match, category or "any category")


def choose(rows: list[Found], match: str, where: str) -> Result[BulletRef]:
    """The one of `rows` that `match` names; `where` says in words where was looked."""
    wanted = match.strip()
    if not wanted:
        return fail("no-match", "an empty text names no bullet", hint="give some words of it")
    address = _ADDRESS.match(wanted)
    if address is not None:
        file, line = address["file"] or address["note"], int(address["line"] or address["at"])
        here = [row for row in rows if row.file == file and row.bullet.line == line]
        if here:
            return Ok(here[0].ref)
    exact = [row for row in rows if wanted in (row.bullet.text, row.bullet.raw)]
    folded = wanted.casefold()
    found = exact or [row for row in rows if folded in row.bullet.text.casefold()]
    if len(found) == 1:
        return Ok(found[0].ref)
    if found:
        shown = "; ".join(_shown(row) for row in found[:SHOWN])
        more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        message = f"{len(found)} bullets match {wanted!r}: {shown}{more}"
        return fail("ambiguous", message, hint="give more of the text, or FILE:LINE as it stands here")
    return fail("no-match", f"no bullet in {where} matches {wanted!r}", hint=_nearest(rows, wanted))


def _bullets(paths: Paths, categories: tuple[str, ...]) -> Iterator[Found]:
    for name in categories:
        file = CATEGORY[name].file
        if file:
            yield from (Found(name, file, row) for row in bullets_in(read_text(paths.knowledge / file), name))
            continue
        for note in note_files(paths):
            yield from (Found(name, f"files/{note.name}", row) for row in parse_bullets(read_text(note)))


def _shown(row: Found) -> str:
    text = row.bullet.text
    return f"{row.file}:{row.bullet.line} {text if len(text) <= WIDTH else text[: WIDTH - 1] + '…'}"


def _nearest(rows: list[Found], wanted: str) -> str:
    from rapidfuzz import fuzz, process, utils

    texts = [row.bullet.text for row in rows]
    near = process.extractOne(wanted, texts, scorer=fuzz.WRatio, processor=utils.default_process, score_cutoff=50)
    return (
        f"the nearest is {_shown(rows[near[2]])}"
        if near is not None
        else "'knowledge status' tells where the files are"
    )
