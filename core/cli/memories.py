"""`knowledge save`, `recall` and `memories`: what an agent is shown, a person sees too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import PROJECT, SECRETS, group, needed, option, optional, repeated, single, whole_number
from core.cli.text import change_text

if TYPE_CHECKING:
    from core.commands.memories import Listed, Moved, Recalled, Saved
    from core.knowledge.edit import Edited


def display_text(value: Saved | Recalled | Listed) -> str:
    return value.display.rstrip("\n") + "\n"


def reworded_text(value: Edited) -> str:
    whose = " of this project" if value.scope == "project" else ""
    first, _, rest = change_text(value).partition("\n")
    return f"{first}{whose}\n{rest}"


def moved_text(value: Moved) -> str:
    return f"{'archived' if value.archived else 'restored'} memory {value.memory.id}: {value.path}\n"


_WHICH = needed("which", "a memory's id, project:ID or global:ID where both have it, or its file name", "ID")
COMMANDS = (
    single(
        "save",
        "save a memory: a short text that an agent can recall",
        '"Prefers tabs in Makefiles" --tag preference',
        ".memories:save",
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
    single(
        "recall",
        "find memories by their words and tags, newest first",
        '"makefile tabs"',
        ".memories:recall_command",
        display_text,
        optional("query", "words, or nothing for all"),
        whole_number("--limit", "at most N memories (default: 5)", 5),
        PROJECT,
    ),
    group(
        "memories",
        "the saved memories: list, edit ID TEXT, archive ID, restore ID",
        "archive 3",
        single(
            "list", "all memories of the home and of the project", "", ".memories:memories_list", display_text, PROJECT
        ),
        single(
            "edit",
            "give one another text",
            '3 "Prefers spaces in Makefiles"',
            ".memories:memories_edit",
            reworded_text,
            _WHICH,
            needed("text", "its new text"),
            PROJECT,
            SECRETS,
        ),
        single(
            "archive",
            "move one out of the way: it is not recalled any more",
            "3",
            ".memories:memories_archive",
            moved_text,
            _WHICH,
            PROJECT,
        ),
        single(
            "restore", "bring one back from the archive", "3", ".memories:memories_restore", moved_text, _WHICH, PROJECT
        ),
    ),
)
