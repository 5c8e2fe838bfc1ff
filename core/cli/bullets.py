"""Single bullets: `notes`, `add`, `done`, `reopen`, `edit`, `rm`, `unstrike`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from core.cli.table import CATEGORY, MATCH, OF_BULLET, SECRETS, Command, flag, needed, option
from core.cli.text import change_text

if TYPE_CHECKING:
    from core.base.markdown import Bullet
    from core.commands.notes import Notes
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
        why = "told of it before it was on this disk" if there else "told of it on another machine, or before it went"
        rows += [f"{why} (facts.md):", *facts]
    return "\n".join(rows) + "\n"


def _bullet(bullet: Bullet) -> str:
    return "\n".join([bullet.raw, *bullet.more])


def done_text(edited: Edited) -> str:
    return _moved_text(edited, "Done")


def reopen_text(edited: Edited) -> str:
    return _moved_text(edited, "Open")


def _moved_text(edited: Edited, section: str) -> str:
    """A task that is done says the same as before: what changed is where it stands."""
    tasks = [line for line in edited.removed if line.startswith("- ")]
    if not tasks or not set(tasks) <= set(edited.added):
        return change_text(edited)
    rows = [edited.file, *(f"  moved to {section}: {line.removeprefix('- ')}" for line in tasks)]
    rows += [f"'knowledge undo {edited.run}' takes this back", *([f"note: {edited.warning}"] if edited.warning else [])]
    return "\n".join(rows) + "\n"


_TEXT = needed("text", "one line")
COMMANDS = (
    Command(
        "notes",
        "the notes of a source file, whatever it was called before",
        "knowledge notes src/app.py",
        "core.commands.notes:notes",
        notes_text,
        (needed("path", "a source file"),),
    ),
    Command(
        "add",
        "add one bullet",
        'knowledge add decisions "SQLite, because there is one writer"',
        "core.commands.bullets:add",
        change_text,
        (CATEGORY, _TEXT, option("--file", "the source file that a note is about", "PATH"), SECRETS),
    ),
    Command(
        "done",
        "move an open task to Done",
        'knowledge done "release notes"',
        "core.commands.bullets:done",
        done_text,
        (MATCH,),
    ),
    Command(
        "reopen",
        "move a task that is done back to Open",
        'knowledge reopen "release notes"',
        "core.commands.bullets:reopen",
        reopen_text,
        (MATCH,),
    ),
    Command(
        "edit",
        "change what one bullet says",
        'knowledge edit facts "port 8080" "The server listens on port 8081"',
        "core.commands.bullets:edit",
        change_text,
        (OF_BULLET, MATCH, needed("text", "the new text"), SECRETS),
    ),
    Command(
        "rm",
        "delete one bullet, or strike it through",
        'knowledge rm facts "port 8080" --strike',
        "core.commands.bullets:remove",
        change_text,
        (
            OF_BULLET,
            MATCH,
            flag("--strike", "strike it through instead of deleting it: it stays in the file but leaves the digest"),
        ),
    ),
    Command(
        "unstrike",
        "take the strike-through of one bullet away",
        'knowledge unstrike facts "port 8080"',
        "core.commands.bullets:unstrike",
        change_text,
        (OF_BULLET, MATCH),
    ),
)
