"""What saving a memory writes, also for whoever is asked first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.base.markdown import sanitise_line
from core.base.result import Err, Ok, Result
from core.commands.masking import BY_COMMAND, all_without_secrets
from core.commands.project import find_project
from core.commands.workspace import Workspace
from core.memory_file import clean_content, clean_tags


@dataclass(frozen=True)
class Preview:
    """The text and tags as the file would hold them; `folder` is that of the project ("": for everything), one line."""

    content: str
    tags: tuple[str, ...]
    folder: str = ""


def words_of(
    workspace: Workspace, content: str, tags: Sequence[str] = (), keep_secrets: bool = False
) -> Result[tuple[str, tuple[str, ...], str]]:
    """Content and tags as they will stand in the file, and a sentence about the secrets that were replaced in them, ""
    for none. Err: nothing to save, too much, a tag that is none."""
    way = BY_COMMAND.format("save or memories edit")
    masked, told = all_without_secrets(workspace, (content, *tags), keep_secrets, way)
    clean, tagged = clean_content(masked[0]), clean_tags(masked[1:])
    if isinstance(clean, Err):
        return clean
    return Ok((clean.value, tagged.value, told)) if isinstance(tagged, Ok) else tagged


def preview(workspace: Workspace, content: str, tags: Sequence[str], project: str) -> Result[Preview]:
    """Err as saving would have it: nothing to save, too much, a tag that is none, no such folder."""
    words = words_of(workspace, content, tags)
    if isinstance(words, Err):
        return words
    folder = ""
    if project:
        found = find_project(workspace, project)
        if isinstance(found, Err):
            return found
        folder = sanitise_line(str(found.value or ""), None)
    return Ok(Preview(words.value[0], words.value[1], folder))
