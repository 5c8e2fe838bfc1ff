"""Which YAML files there are, what they say, and into which of them a new fact goes (seed 5, "Directory Structure").

One file for each domain and category: `global/pitfalls.yaml`, `repos/<domain>/pitfalls.yaml`, and for what is about a
kind of agent `agents/<domain>/pitfalls.yaml`. The seed's `repos/<name>.yaml` and `agents/<name>.yaml` are read as well,
and written to where their frontmatter fits. Hidden files and deeper folders are not looked at. Symbolic links
are not followed, and named as a problem.
"""

from __future__ import annotations

import errno
import gc
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.base import files
from core.factindex.facts import CATEGORIES, GLOBAL, Fact, Problem, check, fact_from, shown
from core.factindex.items import BOM, Item, scan

FOLDERS = ("global", "repos", "agents")
ENDINGS = (".yaml", ".yml")
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
    """One YAML file as it was read. `ids` are all ids that stand in it, also of items that are not valid."""

    name: str
    data: bytes
    sha256: str
    text: str
    domain: str
    category: str
    placed: list[Placed]
    problems: list[Problem]
    ids: dict[str, int]


@dataclass
class FactFiles:
    """All of them. `placed` has every valid fact once, by id; `taken` every id that stands anywhere;
    `passed`, also among the `problems`, is what is no file."""

    by_name: dict[str, FactFile] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    passed: list[Problem] = field(default_factory=list)

    @property
    def taken(self) -> set[str]:
        return {name for read in self.by_name.values() for name in read.ids}


class UnreadableError(OSError):
    """A YAML file cannot be read at all: nothing is decided while it is unknown what stands in it."""


def fact_file_names(knowledge: Path) -> Iterator[str]:
    """The names of the YAML files below the knowledge folder, sorted. Raises OSError."""
    return (name for name, why in fact_places(knowledge) if not why)


def fact_places(knowledge: Path) -> Iterator[tuple[str, str]]:
    """The same, and between them what a person may take for one: (name, why it is not read, "" for a file). Raises
    OSError."""
    for folder in FOLDERS:
        try:
            why = _why_no_folder(knowledge / folder)
        except FileNotFoundError:
            continue
        if why:
            yield folder, why
            continue
        for entry in sorted(os.scandir(knowledge / folder), key=lambda one: one.name):
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                for one in sorted(os.scandir(entry.path), key=lambda one: one.name):
                    if _is_ours(one.name) and not one.is_dir(follow_symlinks=False):
                        yield f"{folder}/{entry.name}/{one.name}", _why_no_file(one)
            elif _is_ours(entry.name) or (entry.is_symlink() and entry.is_dir()):
                yield f"{folder}/{entry.name}", _why_no_file(entry)


LINK = "a symbolic link, which is not followed"


def _why_no_folder(path: Path) -> str:
    mode = path.lstat().st_mode
    return "" if stat.S_ISDIR(mode) else LINK if stat.S_ISLNK(mode) else "no folder"


def _why_no_file(entry: os.DirEntry[str]) -> str:
    if entry.is_file(follow_symlinks=False):
        return ""
    return LINK if entry.is_symlink() else "a pipe, socket or device"


def _is_ours(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith(".")


def read_all(knowledge: Path) -> FactFiles:
    """Read every YAML file. Raises UnreadableError, which names the file, when one cannot be read."""
    read, passed = [], []
    collecting = gc.isenabled()
    gc.disable()  # very many small records and no cycles: looking for cycles again and again is a third of the time
    try:
        for name, why in fact_places(knowledge):
            if why:
                passed.append(Problem("not-a-file", name, 0, "", f"it is {why}; allowed: a file, in its place"))
            else:
                read.append(read_one(name, files.read_file(knowledge / name, FILE_BYTES).data))
        return together(read, passed)
    except UnreadableError:
        raise
    except OSError as error:
        raise UnreadableError(error.errno or errno.EIO, error.strerror or str(error), error.filename) from error
    finally:
        if collecting:
            gc.enable()


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
                found.problems.append(Problem("duplicate-id", row.file, row.line, row.fact.id, message))
    return found


def read_one(name: str, data: bytes) -> FactFile:
    """What one file says. Raises UnreadableError for bytes that are no UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(errno.EILSEQ, f"line {line} is not UTF-8 text", name) from None
    scanned = scan(text)
    front = scanned.front
    domain, category = front.get("domain", ""), front.get("category", "")
    problems: list[Problem] = []
    if category and category not in CATEGORIES:
        message = f"the file's category is {shown(category)}; allowed: {', '.join(CATEGORIES)}"
        problems.append(Problem("bad-category", name, _line_of(text, "category"), "", message))
        category = ""
    placed: list[Placed] = []
    ids: dict[str, int] = {}
    for item in scanned.items:
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
    return FactFile(name, data, hashlib.sha256(data).hexdigest(), text, domain, category, placed, problems, ids)


def _line_of(text: str, key: str) -> int:
    """The line on which a key of the frontmatter stands."""
    return next((at for at, line in enumerate(text.split("\n"), start=1) if line.startswith(key)), 1)


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
        if read.domain != domain or not (read.placed or read.text.strip(BOM)):
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
    while name in found.by_name:  # there, but its frontmatter says something else
        number += 1
        name = f"{place}/{PLURAL[category]}-{number}.yaml"
    return name
