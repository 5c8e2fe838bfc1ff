"""The texts of `save`, `recall` and `memories`: what seed 3 shows an agent, a person sees too."""

from __future__ import annotations

from core.cli.store_text import change_text
from core.commands.memory_records import Listed, Moved, Recalled, Saved
from core.knowledge.edit import Edited


def save_text(saved: Saved) -> str:
    return saved.display + "\n"


def recall_text(recalled: Recalled) -> str:
    return recalled.display.rstrip("\n") + "\n"


def memories_text(value: Listed | Edited | Moved) -> str:
    if isinstance(value, Listed):
        return value.display.rstrip("\n") + "\n"
    if isinstance(value, Edited):
        return change_text(value)
    return f"{'archived' if value.archived else 'restored'} memory {value.memory.id}: {value.path}\n"


def mcp_text(served: str) -> str:
    """Nothing: standard output belongs to the protocol."""
    return served
