"""`knowledge context` and `knowledge digest`: what a new conversation starts with, and the switch for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from core.base import files
from core.base.result import Err, Ok, Result, fail
from core.commands.project import find_project
from core.commands.workspace import Workspace
from core.injection import Prefix, stable_prefix
from core.knowledge.digest import regenerate_digest


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
        why = "injected into every new conversation"
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


def digest(workspace: Workspace, action: str = "show") -> Result[DigestState]:
    """Show the digest, write it anew (`on`), or delete it (`off`: its absence is the switch)."""
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
    return digest_state(workspace)


_HARVEST = "'knowledge harvest --apply' fills it"


@dataclass(frozen=True)
class ContextPrefix:
    """What a new conversation starts with, and what is known of its parts; `warnings` go to stderr."""

    prefix: Prefix
    project: str

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.prefix.warnings

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


def context(workspace: Workspace, project: str = "") -> Result[ContextPrefix]:
    """The stable prompt prefix that a new conversation in `project` would get: "" when there is nothing to inject."""
    config = workspace.config
    found = find_project(workspace, project)
    if isinstance(found, Err):
        return found
    try:
        prefix = stable_prefix(workspace.paths, found.value, enabled=config.digest_enabled, secrets=config.redact)
    except OSError as error:
        return fail("digest-unreadable", f"the digest cannot be read: {error.strerror}", workspace.paths.digest)
    if config.bootstrap_facts:
        from core.commands.facts import fact_block

        prefix = replace(prefix, text=prefix.text + fact_block(workspace, found.value))
    return Ok(ContextPrefix(prefix, str(found.value or "")))
