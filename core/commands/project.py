"""Which project a command speaks of: the folder that has knowledge of its own, `<project>/.manual_slop/knowledge`; and
what an agent that works in a project may be told.

It is looked for from the current folder up to the root of the repository or the user's home, and must be this
person's own (homes.py); what lies in it is read only where they trust it (trust.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from core.base import files
from core.base.entry import Entry
from core.base.homes import is_home, why_foreign_file, why_refused
from core.base.markdown import Bullet, parse_bullets, split_lines, split_provenance
from core.base.paths import PROJECT_FOLDER, Paths, choose_home, project_paths
from core.base.project import GLOBAL, domain_named, folders_around, is_below, project_root, repository_root
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.base.trust import REFUSED, left_out, read_trust
from core.commands.workspace import Workspace
from core.knowledge import projects
from core.knowledge.confirmed import Confirmations, confirmed_bullets, read_confirmed
from core.knowledge.projects import (
    NONE,
    NOWHERE,
    OWN,
    UNTOLD,
    Here,
    Projects,
    domain_in,
    domains_in,
    here_in,
    known_projects,
    named_root,
    namesakes,
    nearness,
    waiting_sentence,
)


def find_project(workspace: Workspace, asked: str = "") -> Path | None:
    """The project's folder: the one that was asked for by its path, its repository or its short name (KnowledgeError
    when nobody knows it; it may be gone), else the nearest one above the current folder that has knowledge of its own,
    or None. No home is a project, neither the one in use (then None) nor another: `~` holds the usual one, and what
    that knows belongs to nobody who has named a home of his own."""
    if asked:
        folder = Path(os.path.abspath(workspace.cwd / os.path.expanduser(asked)))
        if not folder.is_dir():
            known = known_projects(workspace.paths, workspace.environment)
            own = here_in(os.path.abspath(workspace.cwd), known, workspace.environment)
            root = own.root if _is_called(own, asked) else named_root(known, asked)
            if not root:
                raise _unknown(asked, known)
            folder = Path(root)
        if os.path.realpath(folder / PROJECT_FOLDER) == os.path.realpath(workspace.paths.home):
            return None
        if _holds_home(workspace, folder):
            message = "this folder holds another home, so it is no project"
            raise KnowledgeError("other-home", message, folder, f"use that home with --home {folder / PROJECT_FOLDER}")
        return folder
    return next((folder for folder in _candidates(workspace) if not why_refused(folder)), None)


def which_of_name(workspace: Workspace, asked: str, found: Path | None) -> tuple[str, ...]:
    """What a command tells where several known projects have the name that was asked for: the one that it took, and
    where the others lie. Empty for any other answer."""
    if found is None or not asked or os.path.isdir(workspace.cwd / os.path.expanduser(asked)):
        return ()
    if domain_named(str(found)) != domain_named(asked):
        return ()
    others = namesakes(known_projects(workspace.paths, workspace.environment), str(found))
    more = f" and {len(others) - MAX_NAMESAKES} more" if len(others) > MAX_NAMESAKES else ""
    return (f"of {found} alone; others of that name: {', '.join(others[:MAX_NAMESAKES])}{more}",) if others else ()


def _candidates(workspace: Workspace) -> list[Path]:
    """The folders around the current one that have knowledge of their own, the nearest first."""
    # os.path: a folder above that is closed to this user is no project, and no error
    return [
        folder
        for folder in folders_around(workspace.cwd)
        if os.path.isdir(project_paths(folder).knowledge) and not _holds_home(workspace, folder)
    ]


def project_problem(workspace: Workspace, asked: str = "") -> ErrorInfo | None:
    """What of a project's own knowledge is left out here and why: it waits for the user's word, or it is not theirs.
    None when nothing is left out."""
    found = attempt(find_project, workspace, asked)
    if isinstance(found, KnowledgeError) or (asked and found.value is None):
        return None
    if asked:
        near = [found.value] if found.value is not None else []
    else:
        near = [folder for folder in _candidates(workspace) if folder == found.value or why_refused(folder)]
    return next((problem for folder in near if (problem := left_out(folder, workspace.environment))), None)


def project_warnings(workspace: Workspace, asked: str = "", *, refused: bool = False) -> tuple[str, ...]:
    """The same as what a command tells beside its result; with `refused` only that a folder may not be used at all."""
    problem = project_problem(workspace, asked)
    counts = problem is not None and (problem.code == REFUSED or not refused)
    return (f"WARNING: {problem}",) if counts else ()


def _holds_home(workspace: Workspace, folder: Path) -> bool:
    """Whether the knowledge of a folder is a home's: of the one in use, the one that is set, or any other."""
    usual = choose_home("", workspace.loaded.home_setting, workspace.environment)
    return is_home(folder / PROJECT_FOLDER, workspace.paths.home, usual)


def places(workspace: Workspace, project: Path | None) -> list[tuple[str, Paths]]:
    """Where knowledge of the home and of the project lies, as (scope, places); without a project's that may not be
    used. Of one that may, each file is read only where `may_read` says so."""
    found = [("global", workspace.paths)]
    usable = project is not None and not why_refused(project)
    return [*found, ("project", project_paths(project))] if project is not None and usable else found


def may_read(workspace: Workspace, project: Path | None) -> Callable[[Path], bool]:
    """Whether a file in the `.manual_slop` of a project may be read: the user trusts the folder, or it as it is."""
    if project is None or why_refused(project):
        return lambda path: False
    trust = read_trust(workspace.environment)
    if trust.has_folder(project):  # asked once, and not for each file
        return lambda path: not why_foreign_file(path)
    return lambda path: trust.allows(project, path)


def projects_named(bullet: Bullet, known: Projects) -> str:
    """What the projects are called that a line comes from, "" for none that is known."""
    came = [one.source for one in (bullet.provenance, *bullet.again) if one is not None]
    roots = [root for name in came for root in known.get(name, ()) if root not in (NOWHERE, UNTOLD)]
    return ", ".join(sorted({domain_in(root, known) for root in roots}))


# --- what an agent may be told ----------------------------------------------------------------------------------------
# What belongs to the project that it works in, and what is the user's own. That is the project around the folder in
# which the server was started: an argument may name it again, and nothing else. Whose a line is, knowledge/projects.py
# tells by the conversation that said it; a file is its repository's, and the user's where it lies in no project.

EVERY = "all"
MAX_NAMESAKES = 3
ALLOWING = "the user can allow all projects with 'knowledge config set mcp_all_conversations true'"


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

    def as_told(self, bullet: Bullet) -> Bullet:
        """A line that may be told, without the conversations of other projects that said the same."""
        farthest = OWN if self.narrow else NONE
        return bullet if self.everything else projects.as_told(bullet, self.projects, self.here, farthest) or bullet

    def is_own(self, bullet: Bullet) -> bool:
        """Whether a line was said in this very project."""
        return nearness((bullet,), self.projects, self.here) == OWN

    def tells_conversation(self, folder: str) -> bool:
        """Whether a conversation may be told that was held in a folder: one of the project."""
        return self.everything or self.holds(project_root(folder))

    def tells_use(self, root: str) -> bool:
        """Whether the words may be told that were said of a use in the project at `root`, "" for none."""
        return not root or self.tells_conversation(root)

    def holds(self, root: str) -> bool:
        """Whether the top folder of a project is this one's, or a plain one in it. Another repository in the project's
        folder is none of it, whether anything was harvested there or not."""
        roots = self.here.roots
        inside = bool(root and roots) and is_below(root, self.folder) and repository_root(root) in ("", *roots)
        return root in roots or inside

    def tells_file(self, path: str, project: str | None = None) -> bool:
        """Whether what is known about a file or folder (an absolute path) may be told: it belongs to the project, or to
        none. What this program and other tools keep of all projects is none of the user's files. `project` is the root
        of the repository that it was in, "" for none; where nobody knows (None) it must be there to be of none."""
        if self.everything:
            return True
        if project:
            return self.holds(project_root(project))
        top = project_root(path if os.path.isdir(path) else os.path.dirname(path))
        if self.holds(top):
            return True
        real = os.path.realpath(path)
        elsewhere = repository_root(real) or any(is_below(real, place) for place in self._elsewhere)
        return not (elsewhere or self.narrow) and (project is not None or os.path.exists(path))

    def tells_folder(self, path: str) -> bool:
        """The same of all that lies in a folder."""
        if self.everything:
            return True
        inside = [place for place in self._elsewhere if is_below(place, os.path.realpath(path))]
        return self.tells_file(path) and all(map(self.holds, inside))

    @cached_property
    def _elsewhere(self) -> tuple[str, ...]:
        """The projects that are known, and where conversations of all of them lie, and what they taught."""
        from core.sources.tools import ALL, places

        known = tuple(self.projects.places)
        kept = [place.folder for place in places((ALL,), self.workspace.environment, ())]
        return (*known, *map(os.path.realpath, (str(self.workspace.paths.home), *kept)))

    def tells_entry(self, entry: Entry) -> bool:
        """Whether a search may tell what it found."""
        if self.everything:
            return True
        if entry.kind == "fact":
            return entry.key.partition(":")[0] in (self.domains[:-1] if self.narrow else self.domains)
        if entry.kind == "document":
            return "://" in entry.path or self.tells_file(entry.path, entry.project or None)
        if entry.project and entry.kind != "note":  # what lies in the project's own folder
            return self.holds(project_root(entry.project))
        if entry.kind == "note" and os.path.isabs(entry.title):
            return self.tells_file(entry.title)
        return self.tells(self._bullet(entry)) if entry.kind in ("bullet", "note") else not self.narrow

    def _bullet(self, entry: Entry) -> Bullet:
        """The line that was found, as its file has it: an entry has its words without emphasis."""
        if entry.path not in self._lines:
            self._lines[entry.path] = split_lines(files.read_or_empty(entry.path).decode("utf-8", "replace"))
        lines, at = self._lines[entry.path], int(entry.key.rpartition(":")[2]) - 1
        file = entry.key.rpartition(":")[0]
        for found in confirmed_bullets(self._again, file, parse_bullets(lines[at])) if at < len(lines) else ():
            if str(found.provenance or "") == entry.provenance:
                return found
        return Bullet(entry.text, split_provenance(entry.provenance)[1], entry.text, 0)

    @cached_property
    def _again(self) -> Confirmations:
        return read_confirmed(self.workspace.paths) or {}

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {}


def scope_of(
    workspace: Workspace, project: str = "", *, all_projects: bool = False, allowed: bool | None = None
) -> Scope:
    """What may be told to who works in the workspace's folder and asks for a `project`: "" for the one around it, its
    name or a folder in it for its own lines, another project or "all" for more. A project is named by a folder (also
    one of another system, or that is gone), by its repository (`owner/name`) or by its short name. `allowed`: more than
    the own project may be told; None: as the user's settings say. Raises KnowledgeError for a project that nobody
    knows, for more than is allowed, and where nobody can tell whose lines are whose."""
    known = known_projects(workspace.paths, workspace.environment)
    own = here_in(os.path.abspath(workspace.cwd), known, workspace.environment)
    allowed = workspace.config.mcp_all_conversations if allowed is None else allowed
    if all_projects or project == EVERY:
        if not allowed:
            raise _refused(own)
        return Scope(workspace, known, own, everything=True)
    if not project:
        return Scope(workspace, known, own)
    if _is_called(own, project):
        return Scope(workspace, known, own, own.root, narrow=True)
    folder = os.path.abspath(workspace.cwd / os.path.expanduser(project))
    if not os.path.isdir(folder):
        folder = named_root(known, project)
        if not folder or not (allowed or Scope(workspace, known, own).holds(folder)):  # nor is told that there is one
            raise _unknown(project, known, "" if allowed else "leave it out for the one that you work in")
    here = here_in(folder, known, workspace.environment)
    if not (allowed or Scope(workspace, known, own).holds(here.root)):
        raise _refused(own)
    if not here.root:
        raise KnowledgeError("no-project", "this folder is no project", folder, "name the project's folder")
    there = replace(workspace, cwd=Path(folder)) if os.path.isdir(folder) else workspace
    return Scope(there, known, here, folder, narrow=True)


def _is_called(own: Here, name: str) -> bool:
    """Whether the project that somebody works in has this short name: then it is meant, whatever others have it."""
    return own.root != "" and name.strip("/").casefold() == os.path.basename(own.root).casefold()


def _unknown(project: str, known: Projects, hint: str = "") -> KnowledgeError:
    places = list(known.places)
    named = f"known are {', '.join(places[-10:])}" if places else "none is known yet; name its folder"
    return KnowledgeError("no-project", "no project of that name is known", project, hint or named)


IN_NO_PROJECT = "this server was not started in a project's folder, so it tells what is the user's alone"


def _refused(own: Here) -> KnowledgeError:
    what = "what belongs to other projects is not told to agents" if own.root else IN_NO_PROJECT
    return KnowledgeError("other-project", what, hint=ALLOWING)
