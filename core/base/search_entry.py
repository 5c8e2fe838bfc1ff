"""SearchEntry: what every room has in common on the reading side. Each room yields rows; `commands` feeds them to
`search`. It is never written back: the truth stays where the entry came from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    pass


class SearchEntry(NamedTuple):
    """One thing that can be found.

    `kind` is one of ENTRY_KINDS; `key` names it within its kind and stays the same while the text changes (`facts:…`, a
    memory's id, a fact's id); `title` is a short heading or "", `text` all that is searched. `date` is YYYY-MM-DD or
    "", `provenance` the bracketed source as it stands in a file or "". `project` is a folder's path or "" for what
    belongs to no project; `path` is the file in which a user can read it.

    `thread` names the conversation or document that this is a piece of ("" for what stands alone) and `position` its
    place in it, counted from 0: what stands beside a hit, and the whole it is a part of, speak for it. `role` is who
    spoke in a conversation: user, assistant or tool; "" where there are no such roles.
    """

    kind: str
    key: str
    title: str
    text: str
    date: str = ""
    provenance: str = ""
    tags: tuple[str, ...] = ()
    project: str = ""
    path: str = ""
    thread: str = ""
    position: int = 0
    role: str = ""


class SearchSource(NamedTuple):
    """One file that entries come from. `name` is stable and unique (`bullets:facts.md`); `entries` turns the file's
    bytes into rows, Raises KnowledgeError for a file that holds none and should. It is called only when the bytes have
    changed."""

    name: str
    path: Path
    entries: Callable[[bytes], Sequence[SearchEntry]]


Embed: TypeAlias = "Callable[[Sequence[str]], Sequence[Sequence[float]]]"
"""Turns texts into vectors of one length, one for each text; close vectors mean alike texts. Never raises for anything
that a network or a missing model can do."""
