"""Puts the digest into the stable part of a new conversation's prompt (seed 2, part 8).

For a host application: `knowledge_block` gives the text, `join_prompt` puts it where it belongs. The stable part comes
first and depends on nothing but the store, so a provider's prompt cache keeps it. No digest file, an empty one, or
`digest_enabled = false`: the prompt is byte for byte what it would be without this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from core.base import files
from core.base.markdown import defuse_fences
from core.base.redact import redact

OPEN, CLOSE = "{knowledge}", "{/knowledge}"


def knowledge_block(digest: Path, *, enabled: bool = True, secrets: bool = True) -> str:
    """The digest between its fences, or "" when there is nothing to inject.

    The digest's text cannot close the fence, and secrets in it are replaced when `secrets` is true. A digest that
    cannot be read raises OSError; one that is no UTF-8 shows U+FFFD where it is damaged.
    """
    if not enabled:
        return ""
    text = files.read_or_empty(digest).decode("utf-8", "replace")
    if not text.strip():
        return ""
    text = defuse_fences(text)
    if secrets:
        text = redact(text).text
    return f"{OPEN}\n{text}\n{CLOSE}\n"


def join_prompt(stable: Iterable[str], knowledge: str, volatile: Iterable[str]) -> str:
    """The whole prompt: the host's stable layers, the knowledge, then what changes from message to message."""
    return "".join([*stable, knowledge, *volatile])
