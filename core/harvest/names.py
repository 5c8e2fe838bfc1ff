"""What a conversation of another tool is called in provenances, in the ledger and in reports."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.base.markdown import sanitise_name
from core.harvest.artifact import Artifact
from core.harvest.sources import SOURCE, Source


def name_in(source: Source, root: str, path: str) -> str:
    """What the conversation is called in provenances: the tool and the parts of the path that tell it apart."""
    if source.project:
        own = os.path.basename(path)
        return f"{source.name}/{os.path.basename(root)}/{own}" if source.keep > 1 else f"{source.name}/{own}"
    parts = os.path.relpath(path, root).split(os.sep)[-source.keep :]
    if source.keep > 1 and len(parts) > 1:
        parts = parts[:-1]  # the folder tells; the file is called the same in each
    name = "/".join(parts)
    for suffix in (".zst", ".jsonl", ".json"):
        name = name.removesuffix(suffix)
    return f"{source.name}/{name}"


def told_apart(rows: Sequence[Artifact], entries: Mapping[str, Mapping[str, Any]]) -> list[Artifact]:
    """The rows with names that no two of them share. aider and SpecStory give every project's file the same name, so it
    gets as many folders of the project's path in front as it takes. A conversation that was harvested before keeps the
    name that its lines bear."""
    named: dict[str, str] = {}
    for entry in sorted(entries.values(), key=lambda entry: str(entry.get("at", ""))):
        if entry.get("name"):
            named[str(entry.get("path", ""))] = str(entry["name"])
    taken = {sanitise_name(name) for name in named.values()}
    new = [row for row in rows if row.path not in named and row.source in SOURCE and SOURCE[row.source].project]
    told: dict[str, str] = {}
    parts = 0
    while new:
        names = {row.path: _longer(row, parts) for row in new}
        number = Counter(map(sanitise_name, names.values()))
        for row in new:
            name, longer = names[row.path], _longer(row, parts + 1)
            if (number[sanitise_name(name)] == 1 and sanitise_name(name) not in taken) or longer == name:
                told[row.path] = name
        new = [row for row in new if row.path not in told]
        parts += 1
    return [row._replace(name=told.get(row.path) or _name_before(row, named)) for row in rows]


def _name_before(row: Artifact, named: Mapping[str, str]) -> str:
    return named.get(row.path, row.name) if row.source in SOURCE and SOURCE[row.source].project else row.name


def _longer(row: Artifact, parts: int) -> str:
    """The name with so many more folders of the project's path in it; the whole path is the longest."""
    tool, *known = row.name.split("/")
    depth = SOURCE[row.source].patterns[0].count("/") + 1
    folders = [part for part in row.path.split(os.sep)[:-depth] if part]
    wanted = len(known) - 1 + parts
    return "/".join([tool, *(folders[-wanted:] if wanted else []), known[-1]])
