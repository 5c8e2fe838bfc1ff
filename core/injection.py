"""Puts context files and the digest into the stable part of a new conversation's prompt (seed 2, part 8; seed 3).

For a host application: `stable_prefix` gives the text, `join_prompt` puts it where it belongs. The stable part comes
first and depends on nothing but the store, so a provider's prompt cache keeps it. No digest file, an empty one, or
`digest_enabled = false`: the prompt is byte for byte what it would be without this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.base import files
from core.base.conflict import without_marks
from core.base.homes import is_home
from core.base.markdown import defuse_fences
from core.base.paths import PROJECT_FOLDER, Paths, project_paths
from core.base.redact import redact
from core.context_files import Context, load_context

OPEN, CLOSE = "{knowledge}", "{/knowledge}"


@dataclass(frozen=True)
class Prefix:
    """What stands before every conversation: `text` ("" for nothing at all), the context files in it, and `warnings`
    for stderr. The same files give the same bytes, so that a provider's prompt cache holds."""

    text: str
    context: Context

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.context.warnings


def stable_prefix(
    paths: Paths,
    project: Path | None = None,
    *,
    enabled: bool = True,
    secrets: bool = True,
    digest: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Prefix:
    """The context files of the home and of a project, then the digest (`enabled` switches that). `digest` is shown in
    place of the file's text, as long as that is there: the file is the switch. A `project` whose folder holds a home,
    as `~` does, has no context of its own; that of another one is there only where the person trusts it (`environment`
    tells where their record of that lies; None: that of the process). Raises OSError when the digest is there and
    cannot be read."""
    own = project is not None and not is_home(project / PROJECT_FOLDER, paths.home)
    local = project_paths(project).context if project is not None and own else None
    context = load_context(paths.context, local, secrets=secrets, environment=environment)
    block = knowledge_block(paths.digest, enabled=enabled, secrets=secrets)
    if block and digest is not None:
        block = _fenced(digest, secrets)
    return Prefix(context.text + block, context)


def knowledge_block(digest: Path, *, enabled: bool = True, secrets: bool = True) -> str:
    """The digest between its fences, or "" when there is nothing to inject.

    The digest's text cannot close the fence, and secrets in it are replaced when `secrets` is true. A digest that
    cannot be read raises OSError; one that is no UTF-8 shows U+FFFD where it is damaged.
    """
    if not enabled:
        return ""
    return _fenced(files.read_or_empty(digest).decode("utf-8", "replace"), secrets)


def _fenced(text: str, secrets: bool) -> str:
    if not text.strip():
        return ""
    text = defuse_fences(without_marks(text))
    if secrets:
        text = redact(text).text
    return f"{OPEN}\n{text}\n{CLOSE}\n"


def join_prompt(stable: Iterable[str], knowledge: str, volatile: Iterable[str]) -> str:
    """The whole prompt: the host's stable layers, the knowledge, then what changes from message to message."""
    return "".join([*stable, knowledge, *volatile])
