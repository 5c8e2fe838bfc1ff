"""The quarantine: items that a harvest held back, until the user lets them in or drops them.

A line there is `- [why] category: text (quote: "…") [from: …]`, for a file note `- [why] files PATH: text …`, as
`harvest/freeze.py` writes it; the quote is there when the item came with one. An accepted item leaves quarantine.md
only after it is proven to be in its file. Several are let in or dropped as one edit, which one undo takes back.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from core.base import files
from core.base.markdown import bullet_line, parse_bullets, sanitise_line
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.commands.statements import refresh_digest
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.named_paths import source_file
from core.knowledge.bullet_text import HELD as HELD
from core.knowledge.bullet_text import LOOK_AGAIN, BulletRef, ways_to_read
from core.knowledge.bullet_text import HeldItem as HeldItem
from core.knowledge.bullet_text import held_item as held_item
from core.knowledge.categories import CATEGORY, QUARANTINE, read_text
from core.knowledge.edit import Edited, add_lines, delete_bullets, new_edit_run, read_editable, section_of
from core.knowledge.file_notes import bind_note
from core.knowledge.lines import missing_lines


@dataclass(frozen=True)
class Released:
    """Items left the quarantine in one edit: file ("": dropped) and line of each. `sha256` is that of quarantine.md;
    `errors` are about those that stay."""

    run: str
    items: tuple[tuple[str, str], ...]
    sha256: str
    warning: str = ""
    errors: list[ErrorInfo] = field(default_factory=list)

    @property
    def file(self) -> str:
        """Where the first of them is now, "" where it was dropped."""
        return self.items[0][0]


def quarantine_list(workspace: Workspace) -> list[HeldItem]:
    """All items held back, oldest first. No quarantine.md: none."""
    with disk_errors("unreadable", "the quarantine cannot be read", workspace.paths.quarantine):
        text = read_text(workspace.paths.quarantine)
    return [held_item(bullet, number) for number, bullet in enumerate(parse_bullets(text), start=1)]


def quarantine_accept(
    workspace: Workspace, ref: BulletRef, *, seen: str | None = None, now: Clock = utc_now
) -> Released:
    """Let one item in: it goes into its category file, or a note to its file, with its provenance; what can be a fact
    becomes one. An item that was held back for its length goes in whole."""
    return _one(accept_all(workspace, [_standing(workspace.paths, ref, seen)], now=now))


def quarantine_drop(workspace: Workspace, ref: BulletRef, *, seen: str | None = None, now: Clock = utc_now) -> Released:
    """Remove one item for good; `knowledge undo RUN` brings it back."""
    return _one(drop_all(workspace, [_standing(workspace.paths, ref, seen)], seen=seen, now=now))


def _standing(paths: Paths, ref: BulletRef, seen: str | None) -> HeldItem:
    """The item that stands there, in the file as the user saw it."""
    read = read_editable(paths, QUARANTINE) if files.exists(paths.quarantine) else None
    bullets = parse_bullets(read.data.decode("utf-8").removeprefix("\ufeff")) if read is not None else []
    same = [bullet for bullet in bullets if (bullet.line, bullet.raw) == (ref.line, ref.raw)]
    if read is None or not same or (seen is not None and seen.lower() != read.sha256):
        message = "the quarantine has changed since you saw it"
        raise KnowledgeError("changed-outside", message, paths.quarantine, LOOK_AGAIN)
    return held_item(same[0])


def _one(done: Released) -> Released:
    if done.errors:
        raise KnowledgeError.of(done.errors[0])
    return done


def accept_all(workspace: Workspace, items: Sequence[HeldItem], *, run: str = "", now: Clock = utc_now) -> Released:
    """Let several items in as the edit `run`, each file written once. One that cannot go in stays held and is reported;
    raises KnowledgeError when none can, or when they are in their files and could not leave the quarantine."""
    paths, at, errors = workspace.paths, now(), list[ErrorInfo]()
    run = run or new_edit_run(at)
    targets: dict[tuple[str, str, str], list[tuple[HeldItem, str]]] = {}
    for item in items:
        if not item.category:
            hint = "copy what you need with 'knowledge add', then drop it"
            message = f"line {item.ref.line} is not a held item"
            errors.append(ErrorInfo("not-an-item", message, str(paths.quarantine), hint))
            continue
        try:
            file, header, section, line = _target(workspace, item)
        except OSError as error:
            errors.append(_stays(error))
            continue
        targets.setdefault((file, header, section), []).append((item, line))
    let_in: list[tuple[HeldItem, str, str]] = []
    warnings: list[str] = []
    for (file, header, section), rows in targets.items():
        lines = [(line, *item.more) for item, line in rows]
        try:
            warnings.append(add_lines(paths, file, header, lines, at, section=section, run=run).warning)
        except KnowledgeError as failed:
            if failed.error.code != "already-there":
                errors.append(failed.error)
                continue
        try:
            absent = missing_lines(files.read_or_empty(paths.knowledge / file), [line for _, line in rows])
        except OSError as error:
            errors.append(_stays(error))
            continue
        let_in += [(item, file, line) for item, line in rows if line.encode() not in absent]
        if absent:
            message = "the item is not in its file when read back; it stays held"
            errors.append(ErrorInfo("not-proven", message, str(paths.knowledge / file)))
    if not let_in:
        raise KnowledgeError.of(errors[0])
    try:
        gone = delete_bullets(paths, [item.ref for item, _, _ in let_in], at, run=run)
    except KnowledgeError as failed:
        where = ", ".join(dict.fromkeys(file for _, file, _ in let_in))
        message = f"the item is in {where}, but it is still in the quarantine too: {failed.error.message}"
        hint = "accept it again, then it only leaves the quarantine"
        raise KnowledgeError(failed.error.code, message, paths.quarantine, hint) from failed
    from core.commands.fact_feed import after_accept  # whoever counts what waits feeds no facts

    warnings += [after_accept(workspace, now)]
    return _released(workspace, gone, [(file, line) for _, file, line in let_in], warnings, errors)


def _stays(error: OSError) -> ErrorInfo:
    return ErrorInfo("accept-failed", f"the item stays held: {error.strerror or error}", str(error.filename or ""))


def drop_all(
    workspace: Workspace, items: Sequence[HeldItem], *, seen: str | None = None, run: str = "", now: Clock = utc_now
) -> Released:
    """Remove several items; `knowledge undo RUN` brings them back."""
    gone = delete_bullets(workspace.paths, [item.ref for item in items], now(), seen=seen, run=run)
    return _released(workspace, gone, [("", item.ref.raw) for item in items], [], [])


def _released(
    workspace: Workspace, gone: Edited, rows: list[tuple[str, str]], warnings: list[str], errors: list[ErrorInfo]
) -> Released:
    problems = [text for text in (*warnings, gone.warning, refresh_digest(workspace)) if text]
    return Released(gone.run, tuple(rows), gone.sha256, "; ".join(dict.fromkeys(problems)), errors)


# --- one line --------------------------------------------------------------------------------------------------------


def _target(workspace: Workspace, item: HeldItem) -> tuple[str, str, str, str]:
    """Where an item goes: file, first line of a new file, section, and the line itself. Binds a note to its file, of
    which nothing is read: only a model has named it. Raises OSError."""
    paths, row = workspace.paths, CATEGORY[item.category]
    provenance = f" {item.provenance}" if item.provenance else ""
    text = sanitise_line(item.text, None)
    if item.category != "files":
        return row.file, row.header, section_of(item.category), bullet_line(text, None) + provenance
    roots = [os.path.expanduser(root) for root in workspace.config.file_roots]
    read = ((source_file(path, roots), words) for path, words in ways_to_read(f" {item.path}: {item.text}", "files"))
    source, words = next(((found, words) for found, words in read if found is not None), (None, ""))
    text = sanitise_line(words, None)
    if source is None:
        about = f"{item.path}: " if item.path else ""
        facts = CATEGORY["facts"]
        return facts.file, facts.header, "", bullet_line(sanitise_line(about + item.text, None), None) + provenance
    binding = bind_note(paths, source)
    header = f"# {sanitise_line(source.path, None)}"
    return f"files/{binding.note}", header, "", bullet_line(text, None) + provenance
