"""What an agent may be told: what belongs to the project that it works in, and what is the user's own.

The project is that around the folder in which the server was started. An argument may name it again, and nothing else:
more is told where the user has said so (`mcp_all_conversations`). Whose a line is, knowledge/projects.py tells by the
conversation that said it; a file is its repository's, and the user's where it lies in no project.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from core.base import files
from core.base.late import dataclass, replace
from core.base.markdown import Bullet, parse_bullets, split_lines, split_provenance
from core.base.project import GLOBAL, is_below, project_root, repository_root
from core.base.result import Err, Ok, Result, fail
from core.base.search_entry import SearchEntry
from core.commands.bullets import ALL
from core.commands.workspace import Workspace
from core.knowledge.projects import (
    NONE,
    OWN,
    Here,
    KnownProjects,
    Projects,
    domains_in,
    here_in,
    is_own,
    known_projects,
    nearness,
    waiting_sentence,
)
from core.sources.tools import ALL as TOOLS
from core.sources.tools import places

SETTING = "mcp_all_conversations"
ALLOWING = f"the user can allow all projects with 'knowledge config set {SETTING} true'"


@dataclass(frozen=True)
class Scope:
    """What may be told: the lines of the project `here` (without a root: of none) and the user's; with `everything`
    those of all projects. With `narrow` the project's alone."""

    workspace: Workspace
    projects: Projects
    here: Here
    asked: str = ""
    """The folder that was asked for, "" for the one around the workspace's."""
    everything: bool = False
    narrow: bool = False

    @property
    def folder(self) -> str:
        """The top folder of the project, "" for none."""
        return self.here.root

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why lines of the project are left out here, where they wait for the user's word."""
        return (waiting_sentence(self.here),) if self.here.waits else ()

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains of the facts that may be told."""
        return (*(domains_in(self.here, self.projects) if self.folder else ()), GLOBAL)

    def tells(self, *bullets: Bullet) -> bool:
        """Whether lines may be told that say one thing."""
        return self.everything or nearness(bullets, self.projects, self.here) <= (OWN if self.narrow else NONE)

    def is_own(self, bullet: Bullet) -> bool:
        """Whether a line was said in this very project."""
        return nearness((bullet,), self.projects, self.here) == OWN

    def tells_conversation(self, folder: str) -> bool:
        """Whether a conversation may be told that was held in a folder: one of the project."""
        return self.everything or self._is_own(project_root(folder))

    def _is_own(self, root: str) -> bool:
        """Another repository in the project's folder is none of it, whether anything was harvested there or not."""
        own = bool(root and self.folder) and is_own(root, self.projects, self.here)
        return own and (root in self.here.roots or repository_root(root) in ("", *self.here.roots))

    def tells_file(self, path: str) -> bool:
        """Whether what is known about a file or folder (an absolute path) may be told: it belongs to the project, or to
        none and is there. What this program and other tools keep of all projects is none of the user's files."""
        if self.everything:
            return True
        top = project_root(path if os.path.isdir(path) else os.path.dirname(path))
        if self._is_own(top):
            return True
        real = os.path.realpath(path)
        elsewhere = repository_root(real) or any(is_below(real, place) for place in self._elsewhere)
        return not (elsewhere or self.narrow) and os.path.exists(path)

    @cached_property
    def _elsewhere(self) -> tuple[str, ...]:
        """The projects that are known, and where conversations of all of them lie, and what they taught."""
        known = tuple(self.projects.places) if isinstance(self.projects, KnownProjects) else ()
        kept = [place.folder for place in places((TOOLS,), self.workspace.environment, ())]
        return (*known, *map(os.path.realpath, (str(self.workspace.paths.home), *kept)))

    def tells_entry(self, entry: SearchEntry) -> bool:
        """Whether a search may tell what it found."""
        if self.everything:
            return True
        if entry.kind == "fact":
            return entry.key.partition(":")[0] in (self.domains[:-1] if self.narrow else self.domains)
        if entry.project and entry.kind != "note":  # what lies in the project's own folder
            return self._is_own(project_root(entry.project))
        if entry.kind == "note" and os.path.isabs(entry.title):
            return self.tells_file(entry.title)
        return self.tells(self._bullet(entry)) if entry.kind in ("bullet", "note") else not self.narrow

    def _bullet(self, entry: SearchEntry) -> Bullet:
        """The line that was found, as its file has it: an entry has its words without emphasis."""
        if entry.path not in self._lines:
            self._lines[entry.path] = split_lines(files.read_or_empty(entry.path).decode("utf-8", "replace"))
        lines, at = self._lines[entry.path], int(entry.key.rpartition(":")[2]) - 1
        for found in parse_bullets(lines[at]) if at < len(lines) else ():
            if str(found.provenance or "") == entry.provenance:
                return found
        return Bullet(entry.text, split_provenance(entry.provenance)[1], entry.text, 0)

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {}


def scope_of(workspace: Workspace, project: str = "", *, all_projects: bool = False) -> Result[Scope]:
    """What an agent may be told that was started in the workspace's folder and asks for a `project`: "" for the one
    around it, its name or a folder in it for its own lines, another folder or "all" for more. Err for a folder that is
    not there, for more than the user has allowed, and where nobody can tell whose lines are whose."""
    known = known_projects(workspace.paths, workspace.environment)
    if isinstance(known, Err):
        return known
    own = here_in(os.path.abspath(workspace.cwd), known.value, workspace.environment)
    allowed = workspace.config.mcp_all_conversations
    if all_projects or project == ALL:
        return Ok(Scope(workspace, known.value, own, everything=True)) if allowed else _refused(own)
    if not project:
        return Ok(Scope(workspace, known.value, own))
    if own.root and project.strip("/").casefold() == os.path.basename(own.root).casefold():
        return Ok(Scope(workspace, known.value, own, own.root, narrow=True))
    folder = os.path.abspath(workspace.cwd / os.path.expanduser(project))
    if not os.path.isdir(folder):
        return fail("no-project", "there is no folder of that name", folder, "name the project's folder")
    here = here_in(folder, known.value, workspace.environment)
    if not (allowed or (here.root and own.root and is_own(here.root, known.value, own))):
        return _refused(own)
    if not here.root:
        return fail("no-project", "this folder is no project", folder, "name the project's folder")
    return Ok(Scope(replace(workspace, cwd=Path(folder)), known.value, here, folder, narrow=True))


def _refused(own: Here) -> Err:
    what = "what belongs to other projects is not told to agents"
    if not own.root:
        what = "this server was not started in a project's folder, so it tells what is the user's alone"
    return fail("other-project", what, hint=ALLOWING)
