"""What saving a memory would write, for whoever is asked first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.base.markdown import sanitise_line
from core.base.result import Err, Ok, Result
from core.commands.project import find_project
from core.commands.workspace import Workspace
from core.memories import clean_content, clean_tags


@dataclass(frozen=True)
class Preview:
    """The text and tags as the file would hold them; `folder` is that of the project ("": for everything), one line."""

    content: str
    tags: tuple[str, ...]
    folder: str = ""


def preview(workspace: Workspace, content: str, tags: Sequence[str], project: str) -> Result[Preview]:
    """Err as saving would have it: nothing to save, too much, a tag that is none, no such folder."""
    clean, tagged = clean_content(content), clean_tags(tags)
    if isinstance(clean, Err):
        return clean
    if isinstance(tagged, Err):
        return tagged
    folder = ""
    if project:
        found = find_project(workspace, project)
        if isinstance(found, Err):
            return found
        folder = sanitise_line(str(found.value or ""), None)
    return Ok(Preview(clean.value, tagged.value, folder))
