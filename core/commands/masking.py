"""Passwords and keys in what a person writes: placeholders in their place, by one rule for every command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.base.markdown import without_invisible
from core.base.redact import redact
from core.commands.workspace import Workspace

BY_COMMAND = "to write them as they are: knowledge {} --keep-secrets"
BULLETS = BY_COMMAND.format("add or edit")


def without_secrets(workspace: Workspace, text: str, keep: bool, way: str = BULLETS) -> tuple[str, str]:
    """The text with placeholders for its secrets, and a sentence that names their kinds, "" for none. Nothing is
    replaced when the person insists (`keep`) or the setting `redact` is off; `way` says how to insist."""
    rows, told = all_without_secrets(workspace, (text,), keep, way)
    return rows[0], told


def all_without_secrets(workspace: Workspace, texts: Sequence[str], keep: bool, way: str) -> tuple[list[str], str]:
    """The same for several texts, with one sentence."""
    if keep or not workspace.config.redact:
        return list(texts), ""
    kinds: Counter[str] = Counter()
    rows = []
    for text in texts:
        # What cannot be seen is taken out before anything is written; it must not hide a key until then.
        clean = redact(without_invisible(text))
        kinds.update(clean.counts)
        rows.append(clean.text if clean.counts else text)
    named = ", ".join(f"{kind}:{number}" for kind, number in sorted(kinds.items()))
    return rows, f"secrets replaced: {named} ({way})" if kinds else ""
