"""`knowledge context` and `knowledge digest`: what a new conversation starts with, and the switch for it."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from core.agents.hand_over import is_ours, is_tried
from core.base import files
from core.base.frontmatter import render_frontmatter
from core.base.marks import for_prompt
from core.base.result import KnowledgeError, disk_errors
from core.commands.project import find_project, places, project_warnings, which_of_name
from core.commands.row import OURS, PROJECT_OPTION, group, listed, option, single, top
from core.commands.workspace import Clock, Workspace, utc_now
from core.context_files import GLOBAL as GLOBAL
from core.context_files import PROJECT as PROJECT
from core.context_files import Context, join_context, read_context
from core.context_files import ContextFile as ContextFile
from core.injection import Prefix, ShownDigest, shown_digest, stable_prefix
from core.knowledge.digest import delete_digest, regenerate_digest


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


def digest_state(workspace: Workspace, project: Path | None = None, *, scoped: bool = False) -> DigestState:
    """The digest file, and whether a conversation that begins here gets it: in `project`, or where none is given in the
    one around the current folder. `scoped` shows the text that it gets instead of the file's."""
    path, config = workspace.paths.digest, workspace.config
    here = project or find_project(workspace)
    shown, data, exists = shown_digest(workspace.paths, config, here, workspace.cwd, workspace.environment), b"", True
    with suppress(OSError):  # then `why` says so
        data, exists = files.read_or_empty(path), files.exists(path)
    text = shown.text if scoped else data.decode("utf-8", "replace")
    text = for_prompt(text, secrets=True, origins=True) if config.redact else text
    why = shown.why if config.digest_enabled else f"{shown.why} in {workspace.loaded.origins['digest_enabled']}"
    return DigestState(
        str(path),
        exists,
        len(text.encode("utf-8", "replace")) if scoped else len(data),
        config.digest_max_bytes,
        config.digest_enabled,
        bool(shown.text),
        shown.warning if scoped and shown.warning else why,
        text,
    )


def digest_show(workspace: Workspace, project: str = "") -> DigestState:
    """The digest as it is; with a `project`, what a conversation there would see."""
    if not project:
        return digest_state(workspace)
    return digest_state(workspace, find_project(workspace, project), scoped=True)


def digest_on(workspace: Workspace) -> DigestState:
    """Write it again. Raises KnowledgeError while the settings switch it off, or where there is nothing to write."""
    paths, config = workspace.paths, workspace.config
    if not config.digest_enabled:
        hint = "'knowledge config set digest_enabled true' first"
        where = workspace.loaded.origins["digest_enabled"]
        raise KnowledgeError("digest-disabled", "the digest is switched off by digest_enabled = false", where, hint)
    with disk_errors("digest-failed", "the digest could not be changed", paths.digest):
        if (
            not paths.knowledge.is_dir()
            or regenerate_digest(paths, config.digest_max_bytes, secrets=config.redact) is None
        ):
            hint = "'knowledge harvest --apply' fills it"
            raise KnowledgeError("digest-empty", "there is no knowledge yet, so there is no digest", hint=hint)
    return digest_state(workspace)


def digest_off(workspace: Workspace) -> DigestState:
    """Delete it: its absence is the switch."""
    with disk_errors("digest-failed", "the digest could not be changed", workspace.paths.digest):
        delete_digest(workspace.paths)
    return digest_state(workspace)


@dataclass(frozen=True)
class ContextPrefix:
    """What a new conversation starts with. `notes` are sentences about its parts, such as facts that could not be read;
    with those about the context files they are the `warnings`, which go to stderr."""

    prefix: Prefix
    project: str
    notes: tuple[str, ...] = ()
    hook: str = ""
    """The tool whose hook asks, "" for a user."""
    message: str = ""
    """What its person is shown beside it, "" for nothing."""

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self.prefix.warnings, *self.notes)

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


def context(workspace: Workspace, project: str = "", hook: str = "", *, users_only: bool = False) -> ContextPrefix:
    """The stable prompt prefix that a new conversation in `project` would get: "" when there is nothing to inject. With
    `users_only` it has nothing of any project.

    With `hook` the tool of that name asks for its new session. It gets nothing where this program itself asks the tool:
    what a harvest reads must not be told what was harvested.
    """
    if hook and is_ours(workspace.environment):
        return ContextPrefix(Prefix("", Context("", 0, ()), ShownDigest("", "")), "", (), hook)
    found = find_project(workspace, project)
    facts, problem = "", ""
    if workspace.config.bootstrap_facts:
        from core.commands.facts import facts_for_context

        facts, problem = facts_for_context(workspace, found, users_only=users_only)
    prefix = stable_prefix(
        workspace.paths, workspace.config, found, workspace.cwd, facts, workspace.environment,
        users_only=users_only,
    )  # fmt: skip
    notes = [*([problem] if problem else []), *which_of_name(workspace, project, found)]
    if all(row.trusted for row in prefix.context.files):  # else the file is reported
        notes += project_warnings(workspace, project, refused=True)
    message = ""
    if hook and not is_tried(workspace.environment):
        from core.commands.daily.autopilot import at_session_start

        message = at_session_start(workspace)
    return ContextPrefix(prefix, str(found or ""), tuple(notes), hook, message)


@dataclass(frozen=True)
class ContextFiles:
    """The context files as they are; `heavy` is a sentence about their size together, "" while that is fine."""

    files: tuple[ContextFile, ...]
    heavy: str = ""


def context_files(workspace: Workspace) -> ContextFiles:
    """The `context.md` of the home, and of the project around the current folder when there is one."""
    found = find_project(workspace)
    rows = tuple(read_context(scope, where.context, workspace.environment) for scope, where in places(workspace, found))
    _, _, sentence = join_context(rows, secrets=False)
    return ContextFiles(rows, sentence.partition(": ")[2])


def begin_context(workspace: Workspace, now: Clock = utc_now) -> Path:
    """Make the `context.md` of the home with nothing but a valid frontmatter, and return its path.

    An empty one changes no conversation. Raises KnowledgeError when there is a file already (it is never replaced).
    """
    where = workspace.paths
    updated = now().astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()
    text = render_frontmatter({"version": 1, "updated": updated}, "")
    with disk_errors("store-failed", "the context file cannot be written", where.context):
        try:
            files.make_folder(where.knowledge)
            files.create_atomic(where.context, text.encode("utf-8"))
            files.sync_folder(where.knowledge)
        except FileExistsError:
            message = "there is a context file already; nothing was written"
            raise KnowledgeError("exists", message, where.context, "open it") from None
    return where.context


# --- at the command line --------------------------------------------------------------------------------------------


HOOKED = ("claude_code", "codex", "antigravity", "gemini_cli", "cursor")
"""The tools that run this command when a session starts (`core/agents/tools.py`)."""

FAILED = "Tell the user once: knowledge memory could not harvest, and 'knowledge status' says why."


WAITING = "Tell the user once: 'knowledge trust' shows what waits for their word here."


def digest_text(state: DigestState) -> str:
    return state.text + ("" if state.text.endswith("\n") or not state.text else "\n") + f"({state.why})\n"


def context_text(context: ContextPrefix) -> str:
    """The text itself; for the hook of a tool the JSON in which that tool takes it, nothing where there is none."""
    text, waits = context.prefix.text, context.prefix.digest.waits
    if not context.hook:
        return text
    if not (text or context.message or waits):
        return "{}\n" if context.hook == "antigravity" else ""
    if context.hook in ("cursor", "antigravity"):
        # They show their user nothing of it, and neither what servers said nor the name of a folder is an order.
        asks = FAILED if context.message else WAITING if waits else ""
        said = "\n".join(filter(None, (text, asks)))
        cursor = context.hook == "cursor"
        return (
            json.dumps({"additional_context": said} if cursor else {"injectSteps": [{"ephemeralMessage": said}]}) + "\n"
        )
    row: dict[str, object] = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
    told = context.message or waits
    return json.dumps(row | ({"systemMessage": told} if told else {})) + "\n"


COMMANDS = (
    group(
        "digest",
        "on",
        single(
            "show",
            "show it, and whether a new conversation gets it",
            "--project .",
            digest_show,
            digest_text,
            option("--project", "as a conversation in this project would see it", "PROJECT"),
        ),
        single("on", "write it again", "", digest_on, digest_text),
        single("off", "delete it: no new conversation gets one", "", digest_off, digest_text),
    ),
    top(
        "context",
        "> prefix.txt",
        context,
        context_text,
        PROJECT_OPTION,
        option("--hook", f"as the hook of this tool wants it: {listed(HOOKED)}", "TOOL", choices=("", *HOOKED)),
        words=OURS,
    ),
)
