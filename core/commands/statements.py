"""What several conversations said is one statement: a change to all of its lines in one step.

The same statement from another conversation stands in the file with its own provenance (core/knowledge/same.py). A
person is shown it once; what is done to it happens to every line that says it, in one write with one undo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from core.base import files
from core.base.result import Err, Ok, Result, fail
from core.commands.masking import without_secrets
from core.commands.meant import Said as Said
from core.commands.meant import said as said
from core.commands.meant import said_with as said_with
from core.commands.workspace import Workspace, utc_now
from core.knowledge import bullet_text
from core.knowledge.alike import Placed
from core.knowledge.bullet_text import BulletRef
from core.knowledge.digest import regenerate_digest
from core.knowledge.edit import Edited, change_file
from core.knowledge.hunks import Hunk

Lines = list[str]
ACTS: dict[str, Callable[[Lines, BulletRef, str], Result[list[Hunk]]]] = {
    "edit": bullet_text.with_text,
    "strike": lambda lines, ref, _: bullet_text.struck(lines, ref),
    "unstrike": lambda lines, ref, _: bullet_text.unstruck(lines, ref),
    "delete": lambda lines, ref, _: bullet_text.without(lines, (ref,)),
    "done": lambda lines, ref, _: bullet_text.moved(lines, ref, "done"),
    "reopen": lambda lines, ref, _: bullet_text.moved(lines, ref, "open"),
    "supersede": bullet_text.superseded,
}
SAID_ALREADY = ("unchanged", "already-struck", "not-struck")


def placed_refs(place: Placed) -> tuple[BulletRef, ...]:
    """All lines of a statement as the comparing found it, the newest first."""
    return tuple(BulletRef(place.file, row.line, row.raw) for row in (place.bullet, *place.statement.others))


def change_all(
    workspace: Workspace,
    act: str,
    refs: Sequence[BulletRef],
    text: str = "",
    *,
    keep_secrets: bool = False,
    told: str = "",
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Do one of `ACTS` to all lines of one statement (of one file), in one write: all of them or none.

    `text` are the words of an edit, or the line that supersedes. Secrets in it are replaced, unless `keep_secrets` says
    otherwise; that is told as a warning, behind `told`. A line that is as wanted already is left as it is; Err when all
    are, when a line is no longer there, or when the file has changed since `seen`. One undo takes it back.
    """
    if act not in ACTS or not refs or len({ref.file for ref in refs}) > 1:
        return fail("usage", f"{act!r} cannot be done to these lines", hint=f"choose one of {', '.join(ACTS)}")
    words, replaced = without_secrets(workspace, text, keep_secrets) if text else ("", "")
    told = "; ".join(filter(None, (told, replaced)))
    ordered = tuple(reversed(refs)) if act in ("done", "reopen") else tuple(refs)  # the newest stays the last one

    def hunks(lines: Lines) -> Result[list[Hunk]]:
        return _all_hunks(lines, ordered, lambda text_now, ref: ACTS[act](text_now, ref, words))

    return finished(workspace, change_file(workspace.paths, refs[0].file, hunks, now(), seen=seen), told)


def _all_hunks(
    lines: Lines, refs: Sequence[BulletRef], act: Callable[[Lines, BulletRef], Result[list[Hunk]]]
) -> Result[list[Hunk]]:
    """The hunks of every line, each for the file as those before left it: places below a hunk move with it."""
    made: list[Hunk] = []
    refused: Err | None = None
    left = list(refs)
    while left:
        ref = left.pop(0)
        one = act(lines, ref)
        if isinstance(one, Err):
            if one.error.code not in SAID_ALREADY:
                return one
            refused = refused or one
            continue
        for hunk in one.value:
            at, grown = hunk.line - 1, len(hunk.added) - len(hunk.removed)
            lines = [*lines[:at], *hunk.added, *lines[at + len(hunk.removed) :]]
            below = hunk.line + len(hunk.removed)
            left = [replace(row, line=row.line + grown) if row.line >= below else row for row in left]
        made += one.value
    return Ok(made) if made or refused is None else refused


# --- beside a change --------------------------------------------------------------------------------------------------


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
