"""A user's own changes to single bullets: durable, refused when the file has changed since it was seen, undoable.

The text is computed by bullet_text.py, put in place by `swap.replace_expected` (which notices a save in that very
moment) and told to changes.jsonl under a run of its own, `edit-<UTC time>-<hex>`. `seen` is the sha256 (hex) of the
file's bytes that the user looked at, None where nobody looked (the command line has just read the file).
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.conflict import may_conflict, roles_of
from core.base.entry import statement_key
from core.base.markdown import BY_HAND, Provenance, bullet_line, sanitise_line
from core.base.paths import Paths
from core.base.result import KnowledgeError, disk_errors
from core.knowledge import bullet_text
from core.knowledge.bullet_text import LOOK_AGAIN, BulletRef
from core.knowledge.categories import CATEGORY, CATEGORY_FILES, QUARANTINE
from core.knowledge.changes import EDIT_RUN, Change, read_changes
from core.knowledge.file_notes import bind_note, examine, notes_for
from core.knowledge.hunks import FileEdit, Hunk, apply_hunks, bare, join, line_break, made, section_at, split
from core.knowledge.lines import PlannedFile, ensure_lines
from core.knowledge.log import begin, carry_out, put_in_place
from core.knowledge.removed import HEADER, REMOVED, Removed, read_removed
from core.knowledge.swap import EditorWait

ATTEMPTS = 5
_NOTE = re.compile(r"(?:(?:files|memories)/[^/.][^/]*\.md|(?:global|repos|agents)/(?:[^/.][^/]*/)?[^/.][^/]*\.ya?ml)\Z")

PATIENCE = EditorWait(settle=0, swap_file=0)
"""Whoever types an edit does not wait for an editor to settle: a clash is noticed by the exchange itself."""

AS_FACT = "write it as a fact instead"
END_CONFLICT = "end it first: 'knowledge doctor' tells how"

Hunks = Callable[[list[str]], list[Hunk]]


@dataclass(frozen=True)
class Edited:
    """What an edit did: `file` below the knowledge folder, its new `sha256`, whole lines that went and came. `warning`
    is a sentence about what did not work beside it ("" for nothing), `scope` whose memory was edited: "global" or
    "project" ("" where it was none)."""

    run: str
    file: str
    sha256: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    warning: str = ""
    scope: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        row = {**vars(self), "added": list(self.added), "removed": list(self.removed)}
        if not self.scope:
            del row["scope"]
        return {**row, "warning": self.warning or None}


def new_edit_run(now: datetime) -> str:
    """The id of one edit: sorts by time, never repeats."""
    return f"{EDIT_RUN}{now.astimezone(UTC):%Y%m%dT%H%M%S}-{os.urandom(3).hex()}"


# --- the operations --------------------------------------------------------------------------------------------------


def delete_bullets(
    paths: Paths, refs: Sequence[BulletRef], now: datetime, *, seen: str | None = None, run: str = ""
) -> Edited:
    """Take several bullets of one file out of it, all or none."""
    return change_file(paths, refs[0].file, lambda lines: bullet_text.without(lines, refs), now, seen=seen, run=run)


def add_bullet(
    paths: Paths, category: str, text: str, now: datetime, *, path: str = "", seen: str | None = None
) -> Edited:
    """Write a new bullet `[from: by-hand, DATE]`; `path` is the source file of a note (category `files` only). What the
    user had removed and writes again is no longer kept away."""
    if category not in CATEGORY:
        message = f"there is no category {category!r}"
        raise KnowledgeError("no-category", message, hint=f"choose one of {', '.join(CATEGORY)}")
    clean = bullet_text.clean_text(text)
    if bool(path) != (category == "files"):
        wants = "a note needs the path of the file it is about" if not path else "only a note (files) takes a path"
        raise KnowledgeError("bad-path", wants, hint="'knowledge add files TEXT --file PATH' writes a note")
    line = bullet_line(clean, Provenance(BY_HAND, now.astimezone(UTC).date().isoformat()))
    row, run = CATEGORY[category], new_edit_run(now)
    name, header = note_file(paths, path) if path else (row.file, row.header)
    added = add_lines(paths, name, header, ((line,),), now, section=section_of(category), seen=seen, run=run)
    bring_back(paths, [clean], now, run)
    return added


def section_of(category: str) -> str:
    """The section of tasks.md that a category is, "" for any other category."""
    return {"tasks_open": "open", "tasks_done": "done"}.get(category, "")


def note_file(paths: Paths, path: str) -> tuple[str, str]:
    """The note of a source file (its name below the knowledge folder, and its first line when it is new).

    Binds the note to the file as it is now, renaming it where the file was renamed.
    """
    absolute = os.path.abspath(os.path.expanduser(path))
    with disk_errors("note-failed", "the note cannot be bound to the file", absolute):
        try:
            source = examine(os.path.realpath(absolute))
        except (OSError, ValueError):
            known, _ = notes_for(paths, absolute)
            if os.path.isdir(absolute):
                message = "this is a folder; a note belongs to one file"
                raise KnowledgeError("no-such-file", message, absolute, AS_FACT) from None
            if known is not None and known.is_file():
                return (f"files/{known.name}", "")
            raise KnowledgeError("no-such-file", "there is no file of that name", absolute, AS_FACT) from None
        binding = bind_note(paths, source)
    return (f"files/{binding.note}", f"# {sanitise_line(source.path, None)}")


def add_lines(
    paths: Paths,
    file: str,
    header: str,
    bullets: Sequence[tuple[str, ...]],
    now: datetime,
    *,
    section: str = "",
    seen: str | None = None,
    run: str = "",
) -> Edited:
    """Make bullets, each an exact line and the indented ones below it, stand in a file (made with `header` when it is
    not there), in one write. Those that stand there are left out; KnowledgeError(already-there) when all do."""

    def hunks(lines: list[str]) -> list[Hunk]:
        there = {text: at for at, old in reversed(list(enumerate(lines))) if (text := bare(old)) in wanted}
        new = [text for line, *more in bullets if line not in there for text in (line, *more)]
        if not new:
            done = section == "open" and section_at(lines, min(there.values())) == "done"
            hint = "it is done; 'knowledge reopen TEXT' opens it again" if done else ""
            raise KnowledgeError("already-there", "this very bullet stands there already", file, hint)
        ending = line_break(lines)
        return bullet_text.inserted(lines, [text + ending for text in new], section, ending)

    bullets = list({bullet[0]: bullet for bullet in bullets}.values())
    wanted = {line for line, *_ in bullets}
    path = paths.knowledge / file
    if header and not files.exists(path) and seen in (None, hashlib.sha256(b"").hexdigest()):
        run, block = run or new_edit_run(now), tuple(text for bullet in bullets for text in bullet)
        planned = PlannedFile(file, header, *(((), block) if section == "done" else (block, ())))
        change = Change(now.isoformat(), run, file, block)

        def put() -> Change:
            known = any(row.file == file for row in read_changes(paths))  # an editor may have it renamed away just now
            files.make_folder(path.parent)
            ensure_lines(paths.knowledge, planned, known=known, editor_wait=PATIENCE)
            files.sync_folder(path.parent)
            return replace(change, edit=_creation(files.read_file(path), block, section))

        try:
            begin(paths)
            notice = carry_out(paths, change, put)
            return Edited(run, file, files.read_file(path).sha256, block, (), notice or "")
        except OSError as error:
            raise could_not_write(path, error) from error
    return change_file(paths, file, hunks, now, seen=seen, run=run)


def _creation(read: files.FileRead, block: tuple[str, ...], section: str) -> FileEdit | None:
    """What made a file, as an edit of one without the bullet: its header stays when that is taken back."""
    mark, lines = split(read.data)
    texts = [bare(line) for line in lines]
    size = len(block)
    at = next((at for at in range(len(texts) - size + 1) if tuple(texts[at : at + size]) == block), None)
    if at is None:
        return None
    before, gone = made(lines, at, size, ())
    hunk = Hunk(gone.line, (), gone.removed, gone.above, gone.below, section)
    return FileEdit(hashlib.sha256(join(mark, before)).hexdigest(), read.sha256, (hunk,))


# --- what was removed ------------------------------------------------------------------------------------------------


def remember(paths: Paths, gone: Mapping[str, str], now: datetime, run: str) -> tuple[list[str], str]:
    """Write down in `removed.md` what is about to be taken out, as a part of the change `run`: one undo brings both
    back. `gone` has for each text how it went, one of removed.HOW. Returns those of the texts that did not stand there
    already, and a sentence about what did not work beside it, "" for nothing."""
    known = _removed(paths)
    day = now.astimezone(UTC).date().isoformat()
    new = [text for text in gone if text and text not in known]
    if new:
        rows = {statement_key(text): (f"- {text} [{gone[text]}: {day}]",) for text in new}
        return new, add_lines(paths, REMOVED, HEADER, tuple(rows.values()), now, run=run).warning
    return new, ""


def bring_back(paths: Paths, texts: Iterable[str], now: datetime, run: str) -> bool:
    """The user wants these statements again; whether any of them had been removed."""
    wanted = set(map(statement_key, texts))
    lines = [row.raw for row in _removed(paths).rows if statement_key(row.text) in wanted]
    if lines:
        change_file(paths, REMOVED, lambda there: bullet_text.without_lines(there, lines)[0], now, run=run)
    return bool(lines)


def _removed(paths: Paths) -> Removed:
    with disk_errors("unreadable", "what was removed cannot be read", paths.knowledge / REMOVED):
        return read_removed(paths)


# --- the durable step ------------------------------------------------------------------------------------------------


@files.at_work
def change_file(
    paths: Paths,
    file: str,
    hunks: Hunks,
    now: datetime,
    *,
    seen: str | None = None,
    run: str = "",
    ends_conflict: bool = False,
    settles: bool = True,
) -> Edited:
    """Compute hunks over the file as it is, put the new text in place, record the change. Raises KnowledgeError
    where nothing was written.

    What stands in a merge conflict is not touched, unless the edit is the one that ends it. What a crash cut off is
    brought to its end first; not so (`settles`) in a folder whose log somebody else may have written."""
    run = run or new_edit_run(now)
    path = paths.knowledge / file
    for _ in range(ATTEMPTS):
        try:
            if settles:
                begin(paths)
        except OSError as error:
            raise could_not_write(paths.log, error) from error
        read = read_editable(paths, file)
        before = read.sha256
        if seen is not None and seen.lower() != before:
            break
        lines = split(read.data)[1]
        wanted = hunks(lines)
        disputed = _disputed(lines)
        data = apply_hunks(read.data, wanted)
        if disputed and not ends_conflict and _disputed(split(data)[1]) != disputed:
            raise KnowledgeError("conflict", "this stands in a merge conflict; nothing was written", path, END_CONFLICT)
        edit = FileEdit(before, hashlib.sha256(data).hexdigest(), tuple(wanted))
        added = tuple(line for hunk in wanted for line in _only_in(hunk.added, hunk.removed))
        removed = tuple(line for hunk in wanted for line in _only_in(hunk.removed, hunk.added))
        if not added and not removed and any(map(_is_reordered, wanted)):
            added = tuple(line for hunk in wanted for line in _only_in(hunk.added, ()))
            removed = tuple(line for hunk in wanted for line in _only_in(hunk.removed, ()))
        change = Change(now.isoformat(), run, file, added, removed, edit=edit)
        try:
            notice = put_in_place(paths, change, data, read.data)
        except OSError as error:
            raise could_not_write(path, error) from error  # the next recovery looks whether it was made
        if notice is not None:
            return Edited(run, file, edit.after, added, removed, notice)
    message = "the file has changed since you saw it; nothing was written"
    raise KnowledgeError("changed-outside", message, path, LOOK_AGAIN)


def _disputed(lines: Sequence[str]) -> list[str]:
    """All lines of merge conflicts, their marks included."""
    if not any(map(may_conflict, lines)):
        return []
    return [bare(line) for line, role in zip(lines, roles_of(lines), strict=True) if role]


def _is_reordered(hunk: Hunk) -> bool:
    """Whether the same lines stand in another order, or one of them more or less often."""
    return list(map(bare, hunk.added)) != list(map(bare, hunk.removed))


def _only_in(lines: Sequence[str], others: Sequence[str]) -> list[str]:
    """The lines of one side of a hunk as changes.jsonl tells them: without blank ones, and without one that merely got
    a line break."""
    same = {bare(line) for line in others}
    return [text for line in lines if (text := bare(line)).strip() and text not in same]


def read_editable(paths: Paths, file: str) -> files.FileRead:
    """A knowledge file that a user may edit here, or one sentence why not."""
    path = paths.knowledge / file
    if file not in (*CATEGORY_FILES, QUARANTINE, REMOVED) and not _NOTE.match(file):
        message = f"{file!r} is not a file of bullets"
        raise KnowledgeError("not-editable", message, hint="edit a category, a note or quarantine")
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            message = "this is a symbolic link; it is not written through"
            raise KnowledgeError("symlink", message, path, "edit its target")
        if not stat.S_ISREG(found.st_mode):
            raise KnowledgeError("not-a-file", "this is not a regular file", path, "move it away")
        if files.is_read_only(path, found.st_mode):
            message = "this file is read-only; nothing was written"
            raise KnowledgeError("read-only", message, path, "make it writable first")
        read = files.read_file(path)
        read.data.decode("utf-8")
    except FileNotFoundError:
        hint = "it may be in the archive" if file.startswith("memories/") else "'knowledge add' makes it"
        raise KnowledgeError("missing", "this file does not exist", path, hint) from None
    except UnicodeDecodeError as error:
        line = read.data.count(b"\n", 0, error.start) + 1
        message = f"line {line} of this file is not UTF-8 text; nothing was written"
        raise KnowledgeError("not-utf8", message, path, _AS_UTF8) from error
    except OSError as error:
        raise KnowledgeError("unreadable", f"this file cannot be read: {error.strerror}", path) from error
    return read


_AS_UTF8 = "save it as UTF-8 in a text editor"


def could_not_write(path: Path, error: OSError) -> KnowledgeError:
    """The sentence for a write that the system refused."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        message = "this file cannot be written; nothing was changed"
        return KnowledgeError("read-only", message, path, "check its permissions")
    message = f"this file cannot be written: {error.strerror or error}"
    return KnowledgeError("edit-failed", message, path, "look at it, then try again")
