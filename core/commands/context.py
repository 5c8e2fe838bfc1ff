"""`knowledge context` and `knowledge digest`: what a new conversation starts with, and the switch for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.frontmatter import render_frontmatter
from core.base.result import Err, Ok, Result, fail
from core.base.trust import allow_written
from core.commands.actions import Takes, not_taken
from core.commands.known_projects import known_projects
from core.commands.project import find_project, places, project_warnings
from core.commands.workspace import Workspace, utc_now
from core.context_files import GLOBAL as GLOBAL
from core.context_files import PROJECT as PROJECT
from core.context_files import ContextFile as ContextFile
from core.context_files import join_context, read_context
from core.injection import Prefix, stable_prefix
from core.knowledge.digest import project_digest, regenerate_digest
from core.knowledge.projects import project_around


@dataclass(frozen=True)
class DigestState:
    """The digest as it is now. `why` says in words whether it is injected; `text` is its content, "" when absent."""

    path: str
    exists: bool
    bytes: int
    max_bytes: int
    enabled: bool
    injected: bool
    why: str
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def digest_state(workspace: Workspace) -> Result[DigestState]:
    """Look at the digest file and the setting. Err when the file cannot be read."""
    path, config = workspace.paths.digest, workspace.config
    try:
        data = files.read_or_empty(path)
    except OSError as error:
        return fail("digest-unreadable", f"the digest cannot be read: {error.strerror}", path)
    exists = files.exists(path)
    if not config.digest_enabled:
        why = f"switched off: digest_enabled = false in {workspace.loaded.origins['digest_enabled']}"
    elif not exists:
        why = "not injected: there is no digest.md ('knowledge digest on' writes it)"
    elif not data.strip():
        why = "not injected: digest.md is empty"
    else:
        why = "ready for every new conversation"
    return Ok(
        DigestState(
            str(path),
            exists,
            len(data),
            config.digest_max_bytes,
            config.digest_enabled,
            config.digest_enabled and bool(data.strip()),
            why,
            data.decode("utf-8", "replace"),
        )
    )


TAKES: Takes = {"show": ("--project",), "on": (), "off": ()}


def digest(workspace: Workspace, action: str = "show", project: str = "") -> Result[DigestState]:
    """Show the digest, write it anew (`on`), or delete it (`off`: its absence is the switch). With a `project`, what is
    shown is what a conversation there would see."""
    wrong = not_taken("digest", action, TAKES, {"--project": project})
    if wrong is not None:
        return wrong
    paths, config = workspace.paths, workspace.config
    try:
        if action == "off":
            files.remove_file(paths.digest)
        elif action == "on":
            if not config.digest_enabled:
                hint = "'knowledge config set digest_enabled true' first"
                where = workspace.loaded.origins["digest_enabled"]
                return fail("digest-disabled", "the digest is switched off by digest_enabled = false", where, hint)
            if paths.knowledge.is_dir() and regenerate_digest(paths, config.digest_max_bytes) is None:
                return fail("digest-empty", "there is no knowledge yet, so there is no digest", hint=_HARVEST)
            if not paths.knowledge.is_dir():
                return fail("digest-empty", "there is no knowledge yet, so there is no digest", hint=_HARVEST)
    except OSError as error:
        return fail("digest-failed", f"the digest could not be changed: {error.strerror}", paths.digest)
    state = digest_state(workspace)
    if isinstance(state, Err) or not project:
        return state
    found = find_project(workspace, project)
    if isinstance(found, Err):
        return found
    try:
        text, warning = scoped_digest(workspace, str(found.value or ""))
    except OSError as error:
        return fail("digest-unreadable", f"the digest cannot be made: {error.strerror}", error.filename or "")
    shown = replace(state.value, why=warning) if warning else state.value
    if text is None or not shown.exists:
        return Ok(shown)
    injected = shown.injected and bool(text.strip())
    return Ok(replace(shown, text=text, bytes=len(text.encode("utf-8", "replace")), injected=injected))


_HARVEST = "'knowledge harvest --apply' fills it"


@dataclass(frozen=True)
class ContextPrefix:
    """What a new conversation starts with. `told` are sentences about its parts, such as facts that could not be read;
    with those about the context files they are the `warnings`, which go to stderr."""

    prefix: Prefix
    project: str
    told: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.prefix.warnings, *self.told)

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge context --json`."""
        context = self.prefix.context
        return {
            "prefix": self.prefix.text,
            "bytes": len(self.prefix.text.encode("utf-8")),
            "project": self.project or None,
            "context": {"bytes": context.bytes, "files": [row.to_json() for row in context.files]},
            "warnings": list(self.warnings),
        }


def scoped_digest(workspace: Workspace, project: str = "") -> tuple[str | None, str]:
    """The digest for a project by `digest_scope`, None where the whole one is meant; and a warning, "" for none.

    Without a project asked for, it is the one around the current folder in which conversations were held. Raises
    OSError when a file cannot be read.
    """
    config = workspace.config
    if config.digest_scope == "global":
        return None, ""
    only = config.digest_scope == "project"
    known = known_projects(workspace)
    if isinstance(known, Err):
        # Only the ledger knows which words are whose: without it the fence stays shut, and the order is the usual one.
        so = "nothing of the digest is shown" if only else "the digest does not put this project's own first"
        return "" if only else None, f"WARNING: {known.error.message}, so {so}; {known.error.hint}"
    projects = known.value
    folder = project or project_around(str(workspace.cwd), projects)
    if not folder:
        return None, ""
    found = project_digest(workspace.paths, config.digest_max_bytes, projects, folder, only=only)
    return (found.text if found is not None else ""), ""


def context(workspace: Workspace, project: str = "") -> Result[ContextPrefix]:
    """The stable prompt prefix that a new conversation in `project` would get: "" when there is nothing to inject."""
    config = workspace.config
    found = find_project(workspace, project)
    if isinstance(found, Err):
        return found
    try:
        own: str | None = ""
        warning = ""
        if config.digest_enabled and files.exists(workspace.paths.digest):
            own, warning = scoped_digest(workspace, str(found.value or ""))
        prefix = stable_prefix(
            workspace.paths,
            found.value,
            enabled=config.digest_enabled,
            secrets=config.redact,
            digest=own,
            environment=workspace.environment,
        )
    except OSError as error:
        return fail("digest-unreadable", f"the digest cannot be read: {error.strerror}", workspace.paths.digest)
    problem = ""
    if config.bootstrap_facts:
        from core.commands.facts import fact_block

        block, problem = fact_block(workspace, found.value)
        prefix = replace(prefix, text=prefix.text + block)
    told = [one for one in (warning, problem) if one]
    if all(row.trusted for row in prefix.context.files):  # else it is told of the file
        told += project_warnings(workspace, project, refused=True)
    return Ok(ContextPrefix(prefix, str(found.value or ""), tuple(told)))


@dataclass(frozen=True)
class ContextFiles:
    """The context files as they are; `heavy` is a sentence about their size together, "" while that is fine."""

    files: tuple[ContextFile, ...]
    heavy: str = ""


def context_files(workspace: Workspace) -> Result[ContextFiles]:
    """The `context.md` of the home, and of the project around the current folder when there is one."""
    found = find_project(workspace)
    if isinstance(found, Err):
        return found
    rows = tuple(
        read_context(scope, where.context, workspace.environment) for scope, where in places(workspace, found.value)
    )
    _, _, sentence = join_context(rows, secrets=False)
    return Ok(ContextFiles(rows, sentence.partition(": ")[2]))


def begin_context(workspace: Workspace, scope: str = GLOBAL, now: Callable[[], datetime] = utc_now) -> Result[Path]:
    """Make the `context.md` of the home or of the project with nothing but a valid frontmatter, and return its path.

    An empty one changes no conversation. Err when there is a file already (it is never replaced), or no project.
    """
    found = find_project(workspace)
    if isinstance(found, Err):
        return found
    where = dict(places(workspace, found.value)).get(scope)
    if where is None:
        hint = "start in the folder of a project that has .manual_slop/knowledge"
        return fail("no-project", f"there is no {PROJECT} around this folder", workspace.cwd, hint)
    updated = now().astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()
    text = render_frontmatter({"version": 1, "updated": updated}, "")
    try:
        files.make_folder(where.knowledge)
        files.create_atomic(where.context, text.encode("utf-8"))
        files.sync_folder(where.knowledge)
        if scope == PROJECT and found.value is not None:
            noted = allow_written(found.value, workspace.environment, [where.context])
            if isinstance(noted, Err):
                return noted
    except FileExistsError:
        return fail("exists", "there is a context file already; nothing was written", where.context, "open it")
    except OSError as error:
        return fail("store-failed", f"the context file cannot be written: {error.strerror or error}", where.context)
    return Ok(where.context)
