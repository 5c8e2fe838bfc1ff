"""Which YAML files there are, what they say, and into which of them a new fact goes.

One file for each domain and category: `global/pitfalls.yaml`, `repos/<domain>/pitfalls.yaml`, and for what is about a
kind of agent `agents/<domain>/pitfalls.yaml`. Files of an older layout, `repos/<name>.yaml` and `agents/<name>.yaml`
are read as well, and written to where their frontmatter fits. Hidden files and deeper folders are not looked at.
Symbolic links are not followed, and named as a problem.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.base import files
from core.base.conflict import both_sides, conflict_line
from core.factindex.facts import CATEGORIES, DISK_FAILED, GLOBAL, Fact, Problem, check, fact_from, fact_places, shown
from core.factindex.items import BOM, Item, frontmatter, scan

FILE_BYTES = 1 << 28
PLURAL = dict(zip(CATEGORIES, ("facts", "pitfalls", "patterns", "tool-quirks", "questions"), strict=True))


@dataclass(frozen=True)
class Placed:
    """A fact with the file it stands in (below the knowledge folder), its line, and its item there."""

    fact: Fact
    file: str
    line: int
    item: Item


@dataclass(frozen=True)
class FactFile:
    """One YAML file as it was read. `ids` are all ids that stand in it, also of items that are not valid. `broken` says
    in words why nothing of it can be used ("" for a file that can be): it is left out, and nothing is written to it."""

    name: str
    data: bytes
    text: str
    domain: str
    category: str
    placed: list[Placed]
    problems: list[Problem]
    ids: dict[str, int]
    broken: str = ""


@dataclass
class FactFiles:
    """All of them. `placed` has every valid fact once, by id; `taken` every id that stands anywhere;
    `passed`, also among the `problems`, is what is no file. `held` are facts that are missed without anybody having
    said that they should go, as they were last seen, by the file that had them (held.py); `lost` the ids of those of
    which nothing but the bullet is left."""

    by_name: dict[str, FactFile] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    passed: list[Problem] = field(default_factory=list)
    held: dict[str, list[Fact]] = field(default_factory=dict)
    lost: dict[str, list[str]] = field(default_factory=dict)

    @property
    def taken(self) -> set[str]:
        held = {fact.id for facts in self.held.values() for fact in facts}
        return held.union(name for read in self.by_name.values() for name in read.ids)

    @property
    def lost_ids(self) -> frozenset[str]:
        """The ids of all that are lost."""
        return frozenset(name for names in self.lost.values() for name in names)

    @property
    def in_conflict(self) -> list[Fact]:
        """What both sides of merge conflicts say: it stands there, though nothing of these files can be used yet."""
        texts = ((read.name, read.data.decode("utf-8", "replace")) for read in self.by_name.values() if read.broken)
        whole = (read_one(name, side.encode("utf-8")) for name, text in texts for side in both_sides(text) or ())
        return [row.fact for read in whole for row in read.placed]

    @property
    def names(self) -> set[str]:
        """Every name that is in use, also by what is broken or no file."""
        return {*self.by_name, *(problem.file for problem in self.passed)}


def read_all(knowledge: Path) -> FactFiles:
    """Read every YAML file; one that is broken affects only itself. Raises OSError."""
    read, passed = [], []
    for name, why in fact_places(knowledge):
        if why:
            passed.append(Problem("not-a-file", name, 0, "", f"it is {why}; allowed: a file, in its place"))
        else:
            read.append(read_at(knowledge, name))
    return together(read, passed)


def read_at(knowledge: Path, name: str) -> FactFile:
    """One file below the knowledge folder. Raises FileNotFoundError; what else keeps it from being read, it tells."""
    try:
        return read_one(name, files.read_file(knowledge / name, FILE_BYTES).data)
    except FileNotFoundError:
        raise
    except OSError as error:
        closed = error.errno in (errno.EACCES, errno.EPERM, errno.EFBIG, errno.ELOOP, errno.EISDIR)
        code = "broken-file" if closed else DISK_FAILED
        return _broken(name, b"", 0, f"it cannot be read: {error.strerror or error}", code)


def together(read: Iterable[FactFile], passed: Sequence[Problem] = ()) -> FactFiles:
    """Files side by side: an id that stands twice counts where it stands first (validation 7)."""
    found = FactFiles(problems=list(passed), passed=list(passed))
    for file in read:
        found.by_name[file.name] = file
        found.problems += file.problems
        for row in file.placed:
            first = found.placed.setdefault(row.fact.id, row)
            if first is not row:
                message = f"the id stands twice, first in {first.file}:{first.line}; allowed: each id once"
                message += " ('knowledge facts sync' gives it a number of its own)"
                found.problems.append(Problem("duplicate-id", row.file, row.line, row.fact.id, message))
    return found


def read_one(name: str, data: bytes) -> FactFile:
    """What one file says. Never fails: bytes that are no YAML of ours make a file that is `broken`."""
    why, line = why_broken(data)
    if why:
        return _broken(name, data, line, why)
    text = data.decode("utf-8")
    front, body = frontmatter(text)
    items = scan(text, body)
    if not items and not front:
        said = "it is empty" if not text.strip(BOM).strip() else "there is neither frontmatter nor a fact in it"
        return _broken(
            name, data, 0, f"{said}; allowed: frontmatter between two lines of ---, and items with id and fact"
        )
    domain, category = front.get("domain", ""), front.get("category", "")
    problems: list[Problem] = []
    if category and category not in CATEGORIES:
        message = f"the file's category is {shown(category)}; allowed: {', '.join(CATEGORIES)}"
        at = next((at for at, row in enumerate(text.split("\n"), start=1) if row.startswith("category")), 1)
        problems.append(Problem("bad-category", name, at, "", message))
        category = ""
    placed: list[Placed] = []
    ids: dict[str, int] = {}
    for item in items:
        if item.id:
            ids.setdefault(item.id, item.line)
        if item.problem:
            problems.append(Problem("bad-yaml", name, item.problem_line, item.id, item.problem))
            continue
        fields = complete(item, domain, category)
        wrong = check(fields)
        if wrong:
            problems += [Problem(code, name, item.line, item.id, message) for code, message in wrong]
        else:
            placed.append(Placed(fact_from(fields), name, item.line, item))
    return FactFile(name, data, text, domain, category, placed, problems, ids)


def why_broken(data: bytes) -> tuple[str, int]:
    """Why nothing of a file can be trusted, and the line (0 for the whole file); ("", 0) for one that can be read."""
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return "it has zero bytes in it, the mark of a write that was cut or of a damaged disk", line
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return "this line is not UTF-8 text; save the file as UTF-8", data.count(b"\n", 0, error.start) + 1
    line = conflict_line(text)
    return ("a merge conflict begins here ('knowledge doctor' tells how to end it)", line) if line else ("", 0)


def _broken(name: str, data: bytes, line: int, why: str, code: str = "broken-file") -> FactFile:
    problem = Problem(code, name, line, "", f"{why}. The file is left out")
    return FactFile(name, data, "", "", "", [], [problem], {}, why)


def complete(item: Item, domain: str, category: str) -> dict[str, object]:
    """The fields of an item, with what the frontmatter or its id says about domain and category."""
    fields: dict[str, object] = dict(item.fields)
    parts = item.id.split(":")
    own = (parts[0], parts[1]) if len(parts) == 3 else ("", "")
    fields.setdefault("domain", domain or own[0])
    fields.setdefault("category", category or own[1])
    text = fields.get("fact")
    if isinstance(text, str) and ("\n" in text or "  " in text or text[:1].isspace() or text[-1:].isspace()):
        fields["fact"] = " ".join(text.split())
    return fields


def file_for(found: FactFiles, domain: str, category: str, agents: Iterable[str] = ()) -> str:
    """The name of the file that a new fact of this domain and category goes into. It need not exist yet."""
    whole = ""
    folder = "agents" if domain in agents else "repos"
    for name, read in found.by_name.items():
        if read.domain != domain or read.broken:
            continue
        if read.category == category:
            return name
        if not read.category and name.count("/") == 1:
            whole = whole or name
        folder = "agents" if name.startswith("agents/") else folder
    if whole:
        return whole
    place = GLOBAL if domain == GLOBAL else f"{folder}/{domain}"
    name = f"{place}/{PLURAL[category]}.yaml"
    number = 1
    while name in found.names:  # there, but its frontmatter says something else, or it is broken
        number += 1
        name = f"{place}/{PLURAL[category]}-{number}.yaml"
    return name
