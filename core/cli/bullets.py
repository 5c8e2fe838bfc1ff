"""Single bullets: `notes`, `add`, `done`, `reopen`, `edit`, `rm`, `unstrike`, and the `evidence` of one."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from core.base.choices import ANY_CATEGORY
from core.cli.table import CATEGORY, MATCH, NAMED, OF_BULLET, SECRETS, Argument, flag, needed, option, single
from core.cli.text import change_text, one_line

if TYPE_CHECKING:
    from core.base.markdown import Bullet
    from core.commands.bullets import Listed, Notes
    from core.commands.panel.evidence import Evidence
    from core.knowledge.edit import Edited


def notes_text(notes: Notes) -> str:
    if not notes.note and not notes.bullets:
        return f"{notes.path}: no notes\n"
    own = [_bullet(found.bullet) for found in notes.bullets if found.category == "files"]
    facts = [_bullet(found.bullet) for found in notes.bullets if found.category != "files"]
    rows = [notes.path, *own]
    if notes.note:
        rows.append(f"({notes.note})")
    if facts:
        there = os.path.lexists(notes.path)
        why = "told of it on another machine, or before it went"
        if there:
            why = "told of it before it was on this disk"
        if there and notes.outside:
            why = "told of it by conversations that worked elsewhere; it lies outside file_roots"
        rows += [f"{why} (facts.md):", *facts]
    return "\n".join(rows) + "\n"


_TITLES = {"tasks_open": "open tasks", "tasks_done": "tasks done", "files": "notes on files"}


def list_text(listed: Listed) -> str:
    """Each statement behind its id, below the name of its category."""
    rows, before = [], ""
    for one, project in listed.rows:
        if one.found.category != before:
            before = one.found.category
            rows.append(f"{_TITLES.get(before, before)}:")
        bullet = one.found.bullet
        marks = [bullet.provenance.date if bullet.provenance is not None else "", "" if listed.project else project]
        marks += [f"in {one.conversations} conversations"] if one.conversations > 1 else []
        rows.append(f"{one.found.id}  {bullet.text} ({', '.join(filter(None, marks)) or 'no date'})")
    rows += [] if listed.rows else ["nothing"]
    if listed.elsewhere:
        rows.append(f"({listed.elsewhere} of other projects: 'knowledge list --project all' shows them too)")
    return "\n".join(rows) + "\n"


def _bullet(bullet: Bullet) -> str:
    return "\n".join([bullet.raw, *bullet.more])


def moved_text(section: str, edited: Edited) -> str:
    """A task that is done says the same as before: what changed is where it stands."""
    tasks = [line for line in edited.removed if line.startswith("- ")]
    if not tasks or not set(tasks) <= set(edited.added):
        return change_text(edited)
    rows = [edited.file, *(f"  moved to {section}: {line.removeprefix('- ')}" for line in tasks)]
    rows += [f"'knowledge undo {edited.run}' takes this back", *([f"note: {edited.warning}"] if edited.warning else [])]
    return "\n".join(rows) + "\n"


_WHY = {
    "gone": "its conversation is not there any more",
    "long": "its conversation is too long to be read for one passage",
    "elsewhere": "it does not stand in its conversation any more, or not in these words",
}
_EDGE = "   | "


def evidence_text(value: Evidence | tuple[str, ...]) -> str:
    """The line, its quote, the passage in which it stands, and the steps; of `--steps` the steps alone."""
    if isinstance(value, tuple):
        return "".join(f"{step}\n" for step in value)
    rows = [f"{value.file}:{value.line} {value.text}"]
    if not value.quote:
        rows.append("no quote was kept: it was written by hand or changed, or its harvest gave none")
    elif value.passage is None:
        rows.append(f'"{value.quote}"')
        rows.append(f"   ({_where(value)}; {_WHY.get(value.problem, value.problem)})")
    else:
        place = value.passage
        rows.append(f"{place.role} in turn {place.turn} of {place.of}{f', {one_line(place.time)}' * bool(place.time)}:")
        marked = f"{place.before}>>{place.quote}<<{place.after}"
        rows += [_EDGE + one_line(line) for line in marked.strip().split("\n")]
        rows.append(f"   ({_where(value)})")
    rows += [f"{number}. {step}" for number, step in enumerate(value.steps, start=1)]
    return "\n".join(rows) + "\n"


def _where(value: Evidence) -> str:
    turn = f"turn {value.turn}, bytes {value.start:,} to {value.end:,} of " if value.turn else ""
    return turn + one_line(value.conversation or value.sha256)


_TEXT = needed("text", "one line")
COMMANDS = (
    single(
        "list",
        "bullets and tasks with their ids, which done, edit and rm take",
        "tasks",
        ".bullets:listing",
        list_text,
        Argument(
            CATEGORY.names,
            f"{CATEGORY.help}; without one, all but tasks that are done",
            {**OF_BULLET.options, "nargs": "?", "default": ANY_CATEGORY},
        ),
        option("--project", "a project's folder, or 'all' (default: the project around this folder)", "DIR"),
        flag("--done", "the tasks that are done, instead"),
    ),
    single(
        "notes",
        "the notes of a source file, whatever it was called before",
        "src/app.py",
        ".bullets:notes",
        notes_text,
        needed("path", "a source file"),
    ),
    single(
        "add",
        "add one bullet",
        'decisions "SQLite, because there is one writer"',
        ".bullets:add",
        change_text,
        CATEGORY,
        _TEXT,
        option("--file", "the source file that a note is about", "PATH"),
        SECRETS,
    ),
    single("done", "move an open task to Done", '"release notes"', ".bullets:done", partial(moved_text, "Done"), MATCH),
    single(
        "reopen",
        "move a task that is done back to Open",
        '"release notes"',
        ".bullets:reopen",
        partial(moved_text, "Open"),
        MATCH,
    ),
    single(
        "edit",
        "change what one bullet says",
        'facts "port 8080" "The server listens on port 8081"',
        ".bullets:edit",
        change_text,
        OF_BULLET,
        MATCH,
        needed("text", "the new text"),
        SECRETS,
    ),
    single(
        "rm",
        "delete one bullet, or strike it through",
        'facts "port 8080" --strike',
        ".bullets:remove",
        change_text,
        OF_BULLET,
        MATCH,
        flag("--strike", "strike it through instead of deleting it: it stays in the file but leaves the digest"),
    ),
    single(
        "unstrike",
        "take the strike-through of one bullet away",
        'facts "port 8080"',
        ".bullets:unstrike",
        change_text,
        OF_BULLET,
        MATCH,
    ),
    single(
        "evidence",
        "the quote that showed a line to be true, in its place; a playbook's steps",
        "facts.md:12",
        ".panel.evidence:evidence",
        evidence_text,
        needed("match", "the bullet's text or a unique part of it, or FILE:LINE"),
        flag("--steps", "the steps of a playbook alone, one a line"),
        words=NAMED,
    ),
)
