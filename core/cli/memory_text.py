"""The texts of `save`, `recall` and `memories`: what seed 3 shows an agent, a person sees too."""

from __future__ import annotations

from core.cli.store_text import change_text
from core.commands.memory_records import Listed, Moved, Recalled, Reworded, Saved


def save_text(saved: Saved) -> str:
    return saved.display + "\n"


def recall_text(recalled: Recalled) -> str:
    return recalled.display.rstrip("\n") + "\n"


def memories_text(value: Listed | Reworded | Moved) -> str:
    if isinstance(value, Listed):
        return value.display.rstrip("\n") + "\n"
    if isinstance(value, Reworded):
        whose = " of this project" if value.scope == "project" else ""
        first, _, rest = change_text(value).partition("\n")
        return f"{first}{whose}\n{rest}"
    return f"{'archived' if value.archived else 'restored'} memory {value.memory.id}: {value.path}\n"


def mcp_text(served: str) -> str:
    """Nothing: standard output belongs to the protocol."""
    return served
