"""What the next conversation in a project starts with: its context files and the digest as it gets them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.base.markdown import split_provenance, without_emphasis
from core.base.result import KnowledgeError, attempt
from core.commands.context import PROJECT, ContextFile, context, digest_state
from core.commands.workspace import Workspace
from core.knowledge.categories import CATEGORY
from core.knowledge.digest import NOTE, RECENT, RECENT_TITLE, section_sizes


class StartLine(NamedTuple):
    """A line of the digest: its category, its words, and of a recent conversation (`RECENT`) its short name."""

    category: str
    words: str
    name: str = ""


@dataclass(frozen=True)
class Start:
    """What a conversation in `project` (a folder, "" for none) starts with: the `words` of the context files (of which
    `file` is the one to write in; they are `words_bytes`), the lines of the digest as it gets it, its bytes of `most`,
    and those of each section by category; `cut`: not all of them fitted in.
    `problem` is why nothing is known of it."""

    project: str = ""
    words: str = ""
    words_bytes: int = 0
    file: str = ""
    lines: tuple[StartLine, ...] = ()
    bytes: int = 0
    most: int = 0
    sections: tuple[tuple[str, int], ...] = ()
    cut: bool = False
    injected: bool = False
    why: str = ""
    problem: str = ""


def start_of(workspace: Workspace, project: str) -> Start:
    """Read it."""
    found = attempt(context, workspace, project)
    if isinstance(found, KnowledgeError):
        return Start(project, problem=str(found.error))
    here = Path(found.value.project) if found.value.project else None
    digest = digest_state(workspace, here, scoped=True)
    files = found.value.prefix.context.files
    words, file = words_of(files)
    own = sum(one.bytes for one in files if one.exists)
    return Start(
        project, words, own, file, tuple(digest_lines(digest.text)), digest.bytes, digest.max_bytes,
        tuple(section_sizes(digest.text).items()), NOTE in digest.text, digest.injected, digest.why,
    )  # fmt: skip


def words_of(found: Sequence[ContextFile]) -> tuple[str, str]:
    """The person's own words, and the file that they are in: that of the project where it has one."""
    there = [one for one in found if one.exists]
    chosen = next((one for one in there if one.scope == PROJECT), there[0] if there else None)
    words = " ".join(part.lstrip("# ") for one in there for part in one.body.split("\n") if part.strip())
    words = " ".join(words.split())
    return words, str(chosen.path) if chosen is not None else ""


_ADDED = re.compile(r"(?: \((?:perhaps \w+|in \d+ conversations)\))+\Z")


def digest_lines(digest: str) -> list[StartLine]:
    """The lines of a digest, each with its category by the heading above it."""
    titles = {RECENT_TITLE: RECENT} | {row.digest_title: row.name for row in CATEGORY.values()}
    lines, category = [], "facts"
    for line in digest.splitlines():
        if line.startswith("#"):
            category = titles.get(line.lstrip("# ").strip(), category)
        elif line.startswith("- "):
            words, came = split_provenance(line[2:].removeprefix("[ ] "))
            name = came.source if came is not None and category == RECENT else ""
            lines.append(StartLine(category, without_emphasis(words), name))
    return lines


def bullet_words(line: str) -> str:
    """What a bullet says of which this is the line of a digest, without what the digest adds."""
    return _ADDED.sub("", line)
