"""What the commands of memories return, with the display texts of seed 3."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.marks import tame
from core.knowledge.edit import Edited
from core.memory_file import Memory


def in_two_scopes(memories: Iterable[Memory]) -> bool:
    """Whether some belong to the home and some to a project. Each counts from 1: only then does an id need its scope in
    front, and the seed's texts, which know one folder, stay as they are otherwise."""
    return len({row.scope for row in memories}) > 1


@dataclass(frozen=True)
class Saved:
    """A memory that was written, or (`already`) one that says the same and stood there before. `display` is what an
    agent is told, as seed 3 has it; `warning` a sentence about the secrets that were replaced in it ("" for none)."""

    memory: Memory
    warning: str = ""
    already: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        return (self.warning,) if self.warning else ()

    @property
    def display(self) -> str:
        path = self.memory.path
        if self.already:
            return f"✓ Already saved as {self.memory.id:03d}: {path.name}\nLocation: {path}"
        return f"✓ Saved memory {self.memory.id}: {path.name}\nLocation: {path}"

    def to_json(self) -> dict[str, Any]:
        """The return value of seed 3's `save_memory`, with `warnings` when there are any."""
        row = {"display": self.display, "path": str(self.memory.path), "memory_id": self.memory.id}
        return {**row, "warnings": list(self.warnings)} if self.warning else row


@dataclass(frozen=True)
class Recalled:
    """What fits a query in the order that `why` says; `warnings` tell which files were skipped. `scoped`: an id is said
    with its scope, for there are memories of the home and of a project."""

    query: str
    memories: tuple[Memory, ...]
    warnings: tuple[str, ...] = ()
    why: str = "newest first"
    scoped: bool = False
    found: int = 0
    """How many fit the query, where these are a part of them; 0 for all of them."""

    @property
    def display(self) -> str:
        if not self.memories:
            return f"No memories found matching '{tame(self.query)}'"
        number = max(self.found, len(self.memories))
        here = f", here {len(self.memories)} of them" if number > len(self.memories) else ""
        parts = [f"Found {number} {'memory' if number == 1 else 'memories'} matching '{tame(self.query)}'{here}:\n"]
        parts += [self.shown(row, tame(row.content)) for row in self.memories]
        return tame("\n".join(parts) + "\n")

    def shown(self, row: Memory, words: str) -> str:
        """One memory as `display` has it, with its text or other `words`."""
        tags = f"Tags: {', '.join(map(tame, row.tags))}\n" if row.tags else ""
        name = f"{row.scope}:{row.id}" if self.scoped else row.id
        return f"**Memory {name}** (created {row.created[:10]})\n{tags}{words}\n"

    def tool_result(self) -> dict[str, Any]:
        """The return value of seed 3's `recall_memory`."""
        results = [
            {
                "id": row.id,
                "content": tame(row.content),
                "tags": list(map(tame, row.tags)),
                "created": row.created,
                "path": str(row.path),
            }
            for row in self.memories
        ]
        return {"display": self.display, "count": max(self.found, len(results)), "results": results}

    def to_json(self) -> list[dict[str, Any]]:
        """`--json`: a list, best first, with the keys that every search of ours has."""
        number = len(self.memories)
        return [
            {
                "kind": "memory",
                "key": f"{row.scope}:{row.id}",
                "text": tame(row.content),
                "score": number - at,
                "why": self.why,
                "provenance": f"[from: {row.source}, {row.created[:10]}]",
                "id": row.id,
                "tags": list(map(tame, row.tags)),
                "created": row.created,
                "path": str(row.path),
            }
            for at, row in enumerate(self.memories)
        ]


@dataclass(frozen=True)
class Listed:
    """All memories by id. `exists` is false when there is no folder yet."""

    memories: tuple[Memory, ...]
    exists: bool
    warnings: tuple[str, ...] = ()
    found: int = 0
    """How many there are, where these are a part of them; 0 for all of them."""

    @property
    def display(self) -> str:
        if not self.memories:
            return "No memories found." if self.exists else "No memories saved yet."
        number = max(self.found, len(self.memories))
        here = f", here {len(self.memories)} of them" if number > len(self.memories) else ""
        parts = [f"Total memories: {number}{here}\n\n"]
        scoped = in_two_scopes(self.memories)
        for row in self.memories:
            tags = f" [{', '.join(map(tame, row.tags))}]" if row.tags else ""
            scope = f"{row.scope}:" if scoped else ""
            parts.append(f"**{scope}{row.id:03d}** ({row.created[:10]}){tags}: {tame(row.summary)}\n")
        return tame("".join(parts))

    def to_json(self) -> dict[str, Any]:
        """The return value of seed 3's `list_memories`; each row has its scope and path too."""
        rows = [
            {
                "id": row.id,
                "created": row.created,
                "tags": list(map(tame, row.tags)),
                "summary": tame(row.summary),
                "scope": row.scope,
                "path": str(row.path),
            }
            for row in self.memories
        ]
        return {"display": self.display, "count": max(self.found, len(rows)), "memories": rows}


@dataclass(frozen=True)
class Reworded(Edited):
    """A memory that got other words; `scope` says whose it is: "global" or "project"."""

    scope: str = "global"


@dataclass(frozen=True)
class Moved:
    """A memory that was moved into the archive or out of it; `path` is where it is now."""

    memory: Memory
    path: Path
    archived: bool

    def to_json(self) -> dict[str, Any]:
        return {"memory_id": self.memory.id, "path": str(self.path), "archived": self.archived}
