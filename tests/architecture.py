"""What the source says about its own shape: rooms and their sizes, who imports whom, circles of imports.

`python -m tests.architecture` prints it. tests/test_architecture.py asks the same functions, and forgives only what
tests/architecture.toml lists: debts that may be paid and never made. `--forgive` writes that list as the source stands
now; its diff says what was paid, and what somebody would like to owe.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
FOLDERS = ("core", "gui")
FILES_A_FOLDER = 30
LINES_AT_MOST = 600
LINES_AT_LEAST = 60


class Import(NamedTuple):
    """One import: the module that is named, and the line."""

    target: str
    line: int


class Module:
    """One file of the source, read and parsed once."""

    def __init__(self, path: Path, root: Path = ROOT) -> None:
        self.path = path
        self.file = path.relative_to(root).as_posix()
        self.name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text, self.file)
        self.lines = self.text.count("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, those inside functions too."""
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> list[Import]:
        """What it imports, wherever in the file: `from a import b` is `a`, and `a.b` where that is a module too."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found += [Import(row.name, node.lineno) for row in node.names]
            elif isinstance(node, ast.ImportFrom):
                owner = "." * node.level + (node.module or "")
                found += [
                    Import(owner, node.lineno),
                    *(Import(f"{owner}.{row.name}", node.lineno) for row in node.names),
                ]
        return found

    @property
    def room(self) -> str:
        """The folder that it lies in; a file that lies in `core` beside the rooms is a room of its own."""
        folder = self.file.rpartition("/")[0].replace("/", ".")
        return self.name if folder == "core" else folder


@cache
def modules(root: Path = ROOT) -> tuple[Module, ...]:
    """Every file of the source."""
    return tuple(Module(path, root) for folder in FOLDERS for path in sorted((root / folder).rglob("*.py")))


Graph = dict[str, dict[str, int]]  # module -> the modules that it imports, and the first line that does


def graph_of(source: Iterable[Module]) -> Graph:
    """Who imports whom, file by file; imports inside functions and for types alone count like any other."""
    source = list(source)
    names = {module.name for module in source}
    graph: Graph = {}
    for module in source:
        row = graph.setdefault(module.name, {})
        for target, line in sorted(module.imports, key=lambda found: found.line):
            if target in names and target != module.name and not _package_alone(target, line, module, names):
                row.setdefault(target, line)
    return graph


def _package_alone(target: str, line: int, module: Module, names: set[str]) -> bool:
    """`from gui import panel` names the package `gui` only on the way to `gui.panel`."""
    inner = [row.target for row in module.imports if row.line == line and row.target.startswith(f"{target}.")]
    return bool(inner) and all(name in names for name in inner)


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """Groups of modules each of which imports, over others, itself."""
    reached = {name: _reached(graph, name) for name in graph}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached[other]))
        for name in graph
        if name in reached[name]
    }
    return sorted(groups)


def _reached(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()].keys() - seen
        seen |= new
        waiting.extend(new)
    return seen


def way_round(graph: Graph, group: Iterable[str]) -> str:
    """The shortest circle of a group in words: `a:12 imports b, b:3 imports a`."""
    inside = sorted(group)
    best: list[str] = []
    for start in inside:
        ways = [[start]]
        for way in ways:
            if best and len(way) + 1 >= len(best):
                break
            for name in graph[way[-1]]:
                if name == start:
                    best = [*way, start]
                elif name in inside and name not in way:
                    ways.append([*way, name])
    return ", ".join(f"{one}:{graph[one][other]} imports {other}" for one, other in pairwise(best))


class Debts(NamedTuple):
    """What the rules of size and of circles forbid: found in the source, or forgiven by the list."""

    circles: set[str]
    crowded: dict[str, int]  # folder -> files in it, not counting __init__.py
    long: set[str]
    short: set[str]


def debts(source: Iterable[Module]) -> Debts:
    """What the source owes."""
    source = list(source)
    counted = [module for module in source if module.path.name not in ("__init__.py", "__main__.py")]
    folders = [module.file.rpartition("/")[0] for module in counted]
    return Debts(
        {" ".join(group) for group in circles(graph_of(source))},
        {name: folders.count(name) for name in sorted(set(folders)) if folders.count(name) > FILES_A_FOLDER},
        {module.file for module in source if module.lines > LINES_AT_MOST},
        {module.file for module in counted if module.lines < LINES_AT_LEAST},
    )


def forgiven() -> Debts:
    """The list of tests/architecture.toml."""
    read = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return Debts(set(read["circles"]), dict(read["crowded"]), set(read["long"]), set(read["short"]))


def unforgiven(owed: Debts, listed: Debts, source: Iterable[Module]) -> Iterator[str]:
    """One sentence for every debt that the list does not have, and for every one that it has in vain."""
    source = list(source)
    lines = {module.file: module.lines for module in source}
    graph = graph_of(source)
    for group in sorted(owed.circles - listed.circles):
        yield f"a circle of imports: {way_round(graph, group.split())}. What both need belongs below both"
    for folder, count in owed.crowded.items():
        if count > listed.crowded.get(folder, 0):
            limit = max(listed.crowded.get(folder, 0), FILES_A_FOLDER)
            yield f"{folder}/ has {count} files, {limit} at the most: it holds two subjects, or too many small files"
    for file in sorted(owed.long - listed.long):
        yield f"{file} has {lines[file]} lines, {LINES_AT_MOST} at the most: split it by a second noun"
    for file in sorted(owed.short - listed.short):
        yield f"{file} has {lines[file]} lines, {LINES_AT_LEAST} at the least: it belongs to the file it is read with"
    for kind, left in (
        ("circles", listed.circles - owed.circles),
        ("crowded", listed.crowded.keys() - owed.crowded.keys()),
        ("long", listed.long - owed.long),
        ("short", listed.short - owed.short),
    ):
        for entry in sorted(left):
            yield f"{LIST.name}, {kind}: {entry!r} is paid, take it off (python -m tests.architecture --forgive)"


def as_list(owed: Debts) -> str:
    """The text of tests/architecture.toml."""
    parts = [
        "# What the rules of tests/architecture.py forbid and the source still does. It may only shrink:",
        "# a new entry is a decision to be defended, and one that is no longer needed turns the tests red.",
    ]
    for kind in ("circles", "long", "short"):
        rows = "".join(f'    "{entry}",\n' for entry in sorted(getattr(owed, kind)))
        parts.append(f"{kind} = [\n{rows}]" if rows else f"{kind} = []")
    parts.append("\n[crowded] # folder = files in it")
    parts += [f'"{folder}" = {count}' for folder, count in sorted(owed.crowded.items())]
    return "\n".join(parts) + "\n"


def told(source: Iterable[Module]) -> Iterator[str]:
    """The rooms with files and lines, who imports whom, and circles, as lines to print."""
    source = list(source)
    rooms = sorted({module.room for module in source})
    home = {module.name: module.room for module in source}
    graph = graph_of(source)
    width = max(len(room) for room in rooms)
    yield f"{'room':<{width}}  files   lines  imports"
    for room in rooms:
        mine = [module for module in source if module.room == room]
        others = sorted({home[target] for module in mine for target in graph[module.name]} - {room})
        listed = ", ".join(re.sub(r"^core\.", "", name) for name in others) or "nothing"
        yield f"{room:<{width}}  {len(mine):>5}  {sum(module.lines for module in mine):>6}  {listed}"
    yield f"{'in all':<{width}}  {len(source):>5}  {sum(module.lines for module in source):>6}"
    owed = debts(source)
    crowded = ", ".join(f"{folder} ({count})" for folder, count in owed.crowded.items()) or "none"
    yield f"folders of more than {FILES_A_FOLDER} files: {crowded}"
    yield f"files above {LINES_AT_MOST} lines: {', '.join(sorted(owed.long)) or 'none'}"
    yield f"files below {LINES_AT_LEAST} lines: {len(owed.short) or 'none'}"
    yield f"circles: {len(owed.circles) or 'none'}"
    for group in sorted(owed.circles):
        yield f"  {way_round(graph, group.split())}"


def main() -> int:
    """Print the shape; with --forgive, write the list of debts again."""
    parser = argparse.ArgumentParser(prog="python -m tests.architecture", description=__doc__)
    parser.add_argument("--forgive", action="store_true", help=f"write {LIST.name} as the source stands now")
    if parser.parse_args().forgive:
        LIST.write_text(as_list(debts(modules())), encoding="utf-8")
    print("\n".join(told(modules())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
