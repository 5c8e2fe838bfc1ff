"""What a frozen plan says beside its lines, for the fact index: the domain, and what the model said about a row.

Kept in the plan under `facts`: `{"domain": …, "repositories": […], "rows": {mark: {"kind", "confidence", "tags",
"domain", "about", "by_tool"}}, "quotes": {mark: quote}}` with `mark` the beginning of the sha256 of a line's text, so
that a line whose date changes keeps its row. `repositories` are those of the files that got a note; `about` is the file
that a line is a note on; `by_tool` says of a line of any category that only a tool's output, or a page, told it;
`quotes` are the passages that showed items to be true, for conversations go; `evidence` tells where each stands:
`{mark: {"turn", "start", "end", "said"}}` with the number of the turn (from 0), its bytes in the file, and a mark of
what was said in it; `steps` are those of playbooks, as lists. Plans without it, and readers that do not know
it, lose nothing but this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from core.base.markdown import sanitise_line
from core.base.repository import GLOBAL, domain_of, is_working_place, repository_root
from core.harvest.answer import Item
from core.knowledge.bullet_text import QUOTE_CHARACTERS
from core.knowledge.projects import is_persons, names_place
from core.knowledge.same import mark_of_text as mark_of_text

ABOUT_CHARACTERS = 1024
QUOTED, UNQUOTED = 0.8, 0.6
"""The confidence of what a model says with a passage that was found in the conversation, and without one."""


def note_as_fact(item: Item) -> str:
    """What the note on a file that was not found says as a fact (seed 1, "files")."""
    return sanitise_line(f"{item.path}: {item.text}" if item.path else item.text, None)


def lessons_of(items: Sequence[Item], folder: str, noted: Iterable[str], *, quotes_checked: bool) -> dict[str, Any]:
    """What a plan keeps for the fact index. `folder` is the working folder of the conversation, "" when unknown;
    `noted` are the source files that it left a note about, all of them known to be there."""
    domain, repositories = domain_of(folder), _repositories(noted)
    if domain == GLOBAL and len(repositories) == 1:
        domain = repositories[0]
    rows: dict[str, dict[str, Any]] = {}
    for item in items:
        if item.held:
            continue
        row: dict[str, Any] = {"by_tool": True} if item.by_tool else {}
        if item.category == "files" and item.path:
            rows[mark_of_text(note_as_fact(item))] = {"about": item.path[:ABOUT_CHARACTERS], **row}
        if item.category not in ("facts", "playbooks", "questions"):
            if row:
                rows[mark_of_text(item.text)] = row
            continue
        if item.kind:
            row["kind"] = item.kind
        if item.confidence is not None:
            row["confidence"] = item.confidence
        elif quotes_checked:
            row["confidence"] = QUOTED if item.quote.strip() else UNQUOTED
        if item.tags:
            row["tags"] = list(item.tags)
        if item.domain:
            row["domain"] = item.domain
        if row:
            rows[mark_of_text(item.text)] = row
    quotes = {
        mark_of_text(item.text): quote
        for item in items
        if not item.held and (quote := sanitise_line(item.quote, QUOTE_CHARACTERS))
    }
    evidence = {
        mark_of_text(item.text): {"turn": item.turn, "start": item.start, "end": item.end}
        | ({"said": item.said} if item.said else {})
        for item in items
        if not item.held and item.turn >= 0
    }
    steps = {mark_of_text(item.text): list(item.steps) for item in items if not item.held and len(item.steps) > 1}
    if not rows and not quotes and not steps and domain == GLOBAL:
        return {}
    told = {"repositories": repositories, "quotes": quotes, "evidence": evidence, "steps": steps}
    return {"domain": domain, "rows": rows} | {key: value for key, value in told.items() if value}


def _repositories(paths: Iterable[str]) -> list[str]:
    """The domains of the repositories in which files lie that a conversation taught something about, `global` for those
    that lie in none."""
    found = set()
    for path in paths:
        if not path.startswith("/") or "\0" in path or len(path) > 1024:
            continue
        folder = os.path.dirname(os.path.normpath(path))
        root = repository_root(folder) if is_working_place(folder) else ""
        found.add(domain_of(root))
    return sorted(found)


def persons_of(items: Iterable[Item]) -> list[str]:
    """The marks of the lines that are the person's rather than a project's: as the model says, else by what they say;
    the quirk of a tool that names no file is met in every project."""
    return sorted({mark_of_text(item.text) for item in items if not item.held and _is_persons(item)})


def _is_persons(item: Item) -> bool:
    if item.category not in ("facts", "decisions", "playbooks") or item.scope == "project" or item.domain:
        return False
    return item.scope == "person" or is_persons(item.text) or (item.kind == "tool-quirk" and not names_place(item.text))
