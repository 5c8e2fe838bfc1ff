"""The quarantine: items that a harvest held back, until the person lets them in or drops them.

A line there is `- [why] category: text [from: …]`, for a file note `- [why] files PATH: text [from: …]`, as
`harvest/merge.freeze` writes it. An accepted item leaves quarantine.md only after it is proven to be in its file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.base import files
from core.base.markdown import Bullet, bullet_line, parse_bullets, sanitise_line
from core.base.paths import Paths
from core.base.result import Err, Ok, Result, fail
from core.commands.actions import Takes, not_taken
from core.commands.meant import Found, Match, choose
from core.commands.statements import refresh_digest
from core.commands.workspace import Workspace, utc_now
from core.harvest.named_paths import source_file
from core.knowledge.bullet_text import LOOK_AGAIN, BulletRef
from core.knowledge.categories import CATEGORY, read_text
from core.knowledge.edit import QUARANTINE, Edited, add_line, delete_bullet, new_edit_run, read_editable, section_of
from core.knowledge.file_notes import bind_note
from core.knowledge.lines import missing_lines

_LINE = re.compile(rf"\[(?P<held>[a-z-]+)\] (?P<category>{'|'.join(CATEGORY)})(?P<rest>[: ].*)\Z")

HELD = {
    "secret": "looks like a secret",
    "quote-not-found": "its quote is not in the conversation",
    "no-quote": "came without a quote",
    "from-tool-output": "came from a tool's output",
    "order-in-file": "is an order or a procedure in a file of a project",
}
"""Why an item is held back: the mark in the file, and what it means."""


@dataclass(frozen=True)
class HeldItem:
    """One item in quarantine. `held` says why (`secret`, `quote-not-found`, `no-quote`, `from-tool-output`), `path` is
    the file that a note is about. Both and `category` are "" for a line of another form."""

    ref: BulletRef
    held: str
    category: str
    path: str
    text: str
    provenance: str
    more: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        row = {key: value for key, value in vars(self).items() if key not in ("ref", "more")}
        return {"line": self.ref.line, **row, "path": self.path or None, "provenance": self.provenance or None}


@dataclass(frozen=True)
class Released:
    """An item left the quarantine. `file` is where it is now ("": dropped), `sha256` that of quarantine.md."""

    run: str
    file: str
    text: str
    sha256: str
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {**vars(self), "file": self.file or None, "warning": self.warning or None}


TAKES: Takes = {"list": (), "accept": ("MATCH",), "drop": ("MATCH",)}


def quarantine(
    workspace: Workspace, action: str = "list", match: str = ""
) -> Result[list[HeldItem]] | Result[Released]:
    """`knowledge quarantine list|accept|drop`."""
    wrong = not_taken("quarantine", action, TAKES, {"MATCH": match})
    if wrong is not None:
        return wrong
    if action == "list":
        return quarantine_list(workspace)
    return quarantine_accept(workspace, match) if action == "accept" else quarantine_drop(workspace, match)


def quarantine_list(workspace: Workspace) -> Result[list[HeldItem]]:
    """All items held back, oldest first. No quarantine.md: none."""
    try:
        text = read_text(workspace.paths.quarantine)
    except OSError as error:
        return fail("unreadable", f"the quarantine cannot be read: {error.strerror}", workspace.paths.quarantine)
    return Ok([held_item(bullet) for bullet in parse_bullets(text)])


def quarantine_accept(
    workspace: Workspace, match: Match, *, seen: str | None = None, now: Callable[[], datetime] = utc_now
) -> Result[Released]:
    """Let one item in: it goes into its category file, or a note to its file, with its provenance; what can be a fact
    becomes one."""
    paths = workspace.paths
    found = _chosen(paths, match, seen)
    if isinstance(found, Err):
        return found
    item = found.value
    if not item.category:
        hint = "copy what you need with 'knowledge add', then drop it"
        return fail("not-an-item", f"line {item.ref.line} is not a held item", paths.quarantine, hint)
    at = now()
    run = new_edit_run(at)
    try:
        file, header, section, line = _target(workspace, item)
        added = add_line(paths, file, header, line, at, section=section, more=item.more, run=run)
        if isinstance(added, Err) and added.error.code != "already-there":
            return added
        if missing_lines(files.read_or_empty(paths.knowledge / file), [line]):
            return fail(
                "not-proven", "the item is not in its file when read back; it stays held", paths.knowledge / file
            )
    except OSError as error:
        return fail("accept-failed", f"the item stays held: {error.strerror or error}", error.filename or "")
    gone = delete_bullet(paths, item.ref, at, run=run)
    if isinstance(gone, Err):
        message = f"the item is in {file}, but it is still in the quarantine too: {gone.error.message}"
        return fail(gone.error.code, message, paths.quarantine, "accept it again, then it only leaves the quarantine")
    from core.commands.fact_feed import after_accept

    warnings = [added.value.warning if isinstance(added, Ok) else "", after_accept(workspace, now)]
    return Ok(_released(workspace, gone.value, file, line, "; ".join(filter(None, warnings))))


def quarantine_drop(
    workspace: Workspace, match: Match, *, seen: str | None = None, now: Callable[[], datetime] = utc_now
) -> Result[Released]:
    """Remove one item for good; `knowledge undo RUN` brings it back."""
    found = _chosen(workspace.paths, match, seen)
    if isinstance(found, Err):
        return found
    gone = delete_bullet(workspace.paths, found.value.ref, now(), seen=seen)
    return gone if isinstance(gone, Err) else Ok(_released(workspace, gone.value, "", found.value.ref.raw, ""))


def _released(workspace: Workspace, gone: Edited, file: str, line: str, warning: str) -> Released:
    problems = [text for text in (warning, gone.warning, refresh_digest(workspace)) if text]
    return Released(gone.run, file, line, gone.sha256, "; ".join(problems))


# --- one line --------------------------------------------------------------------------------------------------------


def _chosen(paths: Paths, match: Match, seen: str | None) -> Result[HeldItem]:
    """The item that `match` names, in the file as the person saw it."""
    if not files.exists(paths.quarantine):
        return fail("no-match", "the quarantine is empty", paths.quarantine)
    read = read_editable(paths, QUARANTINE)
    if isinstance(read, Err):
        return read
    changed = fail("changed-outside", "the quarantine has changed since you saw it", paths.quarantine, LOOK_AGAIN)
    if seen is not None and seen.lower() != read.value.sha256:
        return changed
    bullets = parse_bullets(read.value.data.decode("utf-8").removeprefix("\ufeff"))
    if isinstance(match, BulletRef):
        same = [bullet for bullet in bullets if (bullet.line, bullet.raw) == (match.line, match.raw)]
        return Ok(held_item(same[0])) if same else changed
    chosen = choose([Found("quarantine", QUARANTINE, bullet) for bullet in bullets], match, "the quarantine")
    if isinstance(chosen, Err):
        return chosen
    return Ok(held_item(next(bullet for bullet in bullets if bullet.line == chosen.value.refs[0].line)))


def held_item(bullet: Bullet) -> HeldItem:
    """A line of quarantine.md, taken apart. A line of another form is an item without category and reason."""
    ref = BulletRef(QUARANTINE, bullet.line, bullet.raw)
    provenance = str(bullet.provenance) if bullet.provenance is not None else ""
    found = _LINE.match(bullet.text)
    splits = list(_splits(found["rest"], found["category"])) if found is not None else []
    if found is None or not splits:
        return HeldItem(ref, "", "", "", bullet.text, provenance, bullet.more)
    path, text = splits[0]  # which of them is a file is asked when it is let in, and only of paths that are allowed
    return HeldItem(ref, found["held"], found["category"], path, text, provenance, bullet.more)


def _splits(rest: str, category: str) -> Iterator[tuple[str, str]]:
    """The ways to read what follows the category as path and text; a path may have a colon in it."""
    if rest.startswith(": "):
        yield "", rest[2:].strip()
        return
    if category != "files" or not rest.startswith(" "):
        return
    for found in re.finditer(": ", rest):
        path, text = rest[1 : found.start()], rest[found.end() :].strip()
        if path and text:
            yield path, text


def _target(workspace: Workspace, item: HeldItem) -> tuple[str, str, str, str]:
    """Where an item goes: file, first line of a new file, section, and the line itself. Binds a note to its file, of
    which nothing is read: only a model has named it. Raises OSError."""
    paths, row = workspace.paths, CATEGORY[item.category]
    provenance = f" {item.provenance}" if item.provenance else ""
    text = sanitise_line(item.text, None)
    if item.category != "files":
        return row.file, row.header, section_of(item.category), bullet_line(text, None) + provenance
    roots = [os.path.expanduser(root) for root in workspace.config.file_roots]
    read = ((source_file(path, roots), words) for path, words in _splits(f" {item.path}: {item.text}", "files"))
    source, words = next(((found, words) for found, words in read if found is not None), (None, ""))
    text = sanitise_line(words, None)
    if source is None:
        about = f"{item.path}: " if item.path else ""
        facts = CATEGORY["facts"]
        return facts.file, facts.header, "", bullet_line(sanitise_line(about + item.text, None), None) + provenance
    binding = bind_note(paths, source)
    header = f"# {sanitise_line(source.path, None)}"
    return f"files/{binding.note}", header, "", bullet_line(text, None) + provenance
