"""Imports what other tools remember: each file is planned, shown, and committed like a harvested conversation.

That gives an import all that a harvest has: a frozen plan in the journal, a proof by reading back, a line in
changes.jsonl (so `undo RUN` takes it back), a ledger entry by content (so the same file is imported once), and the rule
of a conversation that went on (a changed file brings its new items only, and nothing that was deleted since). The files
themselves are never touched.

A file of a project comes with its repository and may be anybody's. What it states is taken as knowledge of that
project, told by a tool; an order in it, or a procedure, goes to the quarantine: the user who imports it has not said
it. Files that a tool keeps for the user in their home (`~/.claude/CLAUDE.md`) are the user's own, in every project.
What a plugin brought there is not: a folder is imported without it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.markdown import sanitise_name
from core.base.paths import Paths
from core.base.project import is_below, repository_root
from core.base.result import ErrorInfo, KnowledgeError
from core.harvest.answer import Item, items_from
from core.harvest.committer import Committer
from core.harvest.distil import Harvest, project_entry
from core.harvest.orders import guides
from core.harvest.pipeline import new_run, write_digest
from core.harvest.quotes import NO_SOURCE
from core.harvest.recovery import alone_with, recover
from core.harvest.report import HarvestReport, add_counts
from core.harvest.steps import HarvestOptions, Step
from core.knowledge.ledger import UNDONE
from core.sources.artifact import Artifact
from core.sources.incremental import Earlier, earlier_by_path
from core.sources.remembered import remembered

SOURCE = "import"
ORDER = "order-in-file"
"""Why an item of a project's file is held back."""
FILE_BYTES = 1 << 20
MAX_FILES = 2000
DEPTH = 5
NEW, CHANGED, KNOWN, EMPTY, FAILED = "new", "changed", "imported before", "nothing in it", "cannot be read"
# Names (in small letters) of files that hold memories wherever they lie, and folders whose notes are memories.
_NAMES = frozenset({
    "claude.md", "claude.local.md", "agents.md", "gemini.md", "memory.md", "copilot-instructions.md", ".cursorrules",
    ".windsurfrules", ".clinerules",
})  # fmt: skip
_FOLDERS = ("memory-bank", "memories", "memory", "knowledge", "rules", ".clinerules")
_NOTES = (".md", ".mdc")
# Files beside notes that repeat them, or wait for somebody's word.
_NO_NOTES = frozenset({"readme.md", "digest.md", "quarantine.md", "schema.md", "context.md"})
_HIDDEN = (".claude", ".serena", ".cursor", ".github", ".clinerules", ".windsurf")
_FETCHED = frozenset({"plugins", "marketplaces", "extensions", "skills", "cache", "repos", "worktrees", "downloads"})
"""Folders of a tool, in small letters, into which it fetches what others wrote."""
_NEVER = frozenset({"node_modules", "site-packages", "__pycache__", "venv", "target", "dist", "build", "vendor"})


@dataclass(frozen=True)
class ImportRow:
    """One file. `status` is new, changed, imported before, nothing in it or cannot be read; `items` are what it would
    add, `name` what provenances will call it."""

    path: str
    name: str
    status: str
    sha256: str = ""
    size: int = 0
    project: str = ""
    items: tuple[Item, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    error: str = ""


@dataclass
class ImportReport:
    """A dry run, or what was imported. `items` counts what was (or would be) taken, by category; `added` how many lines
    are new in the files, `facts` what the fact index made of them (None: it is off, or nothing was imported)."""

    applied: bool
    rows: list[ImportRow]
    run: str = ""
    items: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    imported: int = 0
    added: int = 0
    facts: dict[str, int] | None = None
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge import --json`."""
        rows = [
            {
                "path": row.path,
                "name": row.name,
                "status": row.status,
                "project": row.project or None,
                "items": [{"category": item.category, "text": item.text, "held": item.held} for item in row.items],
                "left_out": dict(row.skipped),
                "error": row.error or None,
            }
            for row in self.rows
        ]
        failed = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        return {
            "applied": self.applied,
            "run": self.run or None,
            "files": rows,
            "items": self.items,
            "left_out": self.skipped,
            "imported": self.imported,
            "new": self.added,
            "facts": self.facts,
            "notes": self.notes,
            "failed": failed,
        }


def plan_import(paths: Paths, path: Path, entries: Mapping[str, Mapping[str, Any]], *, secrets: bool) -> ImportReport:
    """What there is to import at a file or in a folder. Reads only. Raises KnowledgeError when there is nothing of that
    name, or only what is in the knowledge folder already."""
    own = os.path.realpath(paths.knowledge)
    notes: list[str] = []
    found = [row for row in _files(path, notes) if not is_below(os.path.realpath(row[0]), own)]
    if path.is_dir():
        others = [row for row in found if (place := _in_tools_folder(row[0])) is not None and _is_fetched(place)]
        found = [row for row in found if row not in others]
        if others:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            notes.append(
                f"not yours, it came with a plugin or a clone; name the file to import it: {others[0][0]}{more}"
            )
    if not found:
        hint = "name a file, or a folder with CLAUDE.md, MEMORY.md, memory-bank/, .serena/memories/ or knowledge/ in it"
        raise KnowledgeError("nothing-to-import", "no memories are there", path, hint)
    report = ImportReport(False, [], notes=notes)
    before, seen = _before(entries), set[str]()
    for file, root in found:
        row = _row(file, root, entries, before, secrets)
        if row.sha256 in seen:
            report.notes.append(f"the same memories as in another file: {row.path}")
            continue
        seen.add(row.sha256 or row.path)
        report.rows.append(row)
        if row.status in (NEW, CHANGED):
            for item in row.items:
                add_counts(report.items, {item.category: 1})
        if row.status == FAILED:
            report.errors.append(ErrorInfo("unreadable", row.error, row.path))
        else:
            add_counts(report.skipped, dict(row.skipped))
    orders = sum(item.held == ORDER for row in report.rows for item in row.items if row.status in (NEW, CHANGED))
    if orders:
        report.notes.append(f"orders and procedures of project files wait in the quarantine for your word: {orders}")
    return report


def _before(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """`earlier_by_path`, without what was undone: whoever imports that again wants all of it."""
    return earlier_by_path({sha: entry for sha, entry in entries.items() if entry.get("status") != UNDONE})


def _row(
    file: Path, root: Path, entries: Mapping[str, Mapping[str, Any]], before: Mapping[str, str], secrets: bool
) -> ImportRow:
    below = os.path.relpath(file, root).replace(os.sep, "/")
    name = sanitise_name(f"{SOURCE}/{root.name or 'root'}/{below}")
    own = _is_users(file)
    # The user's own holds wherever they work, but for what a tool notes for each project below `projects`.
    noted = str(_project(file)) if "projects" in file.parts else ""
    project = noted if own else repository_root(os.path.realpath(file.parent)) or str(root)
    try:
        read = files.read_file(file, FILE_BYTES)
    except OSError as error:
        return ImportRow(str(file), name, FAILED, error=f"the file cannot be read: {error.strerror or error}")
    entry = entries.get(read.sha256)
    if entry is not None and entry.get("status") == "harvested":
        return ImportRow(str(file), name, KNOWN, read.sha256, len(read.data), project)
    found = remembered(file.name, read.data.decode("utf-8", "replace"))
    items = items_from(found.arrays, NO_SOURCE, quotes="off", secrets=secrets)
    skipped = dict(found.skipped)
    add_counts(skipped, items.skipped)
    status = (CHANGED if str(file) in before else NEW) if items.items else EMPTY
    taken = items.items if own else tuple(map(_judged, items.items))
    return ImportRow(str(file), name, status, read.sha256, len(read.data), project, taken, skipped)


# --- whose word it is ------------------------------------------------------------------------------------------------

_RUNS = re.compile(
    r"https?://|\b(?:curl|wget|bash|sh|zsh|eval|sudo|rm|powershell|iex|npx|chmod)\b|\.(?:sh|ps1|bat|exe)\b",
    re.IGNORECASE,
)


def _judged(item: Item) -> Item:
    """An item of a project's file, which is a tool's word: one that would have somebody do something waits for the
    user's word. A task is something to do by its nature; it waits when it names a program or an address. What a file
    says is run (`Build: make`) is a statement; what is to be run first, an order."""
    if item.held:
        return item
    task = item.category == "tasks_open"
    guiding = item.category == "playbooks" or guides(item.text, commands=False)
    order = _RUNS.search(item.text) is not None if task else guiding
    held = ORDER if order and item.category != "tasks_done" else ""
    return replace(item, held=held, by_tool=True, scope="", domain="")


def _is_users(file: Path) -> bool:
    """Whether a file is what a tool keeps for the user: theirs, in their home itself or in a hidden folder there. What
    a tool has fetched into such a folder (a plugin, an extension, a clone) is somebody else's."""
    place = _in_tools_folder(file)
    if place is None:
        return False
    try:
        row = os.lstat(os.path.realpath(file))
    except OSError:
        return False
    theirs = row.st_uid == os.getuid() and not row.st_mode & stat.S_IWOTH if hasattr(os, "getuid") else True
    return theirs and not _is_fetched(place)


def _in_tools_folder(file: Path) -> list[str] | None:
    """The folders between the user's home and a file that lies there, or in a hidden folder there; None for others."""
    home, real = os.path.realpath(os.path.expanduser("~")), os.path.realpath(file)
    below = os.path.relpath(real, home).split(os.sep)[:-1] if is_below(real, home) else None
    return below if below is None or not below or below[0].startswith(".") else None


def _is_fetched(folders: list[str]) -> bool:
    if not _FETCHED.isdisjoint(name.lower() for name in folders):
        return True
    home = os.path.realpath(os.path.expanduser("~"))
    return any(os.path.lexists(os.path.join(home, *folders[:deep], ".git")) for deep in range(2, len(folders) + 1))


def run_import(paths: Paths, path: Path, options: HarvestOptions, now: Callable[[], datetime]) -> ImportReport:
    """Import for good. Raises KnowledgeError when there is nothing, when another run holds the lock, or the store
    cannot be used."""
    limits = replace(options.limits, provider=SOURCE, reclaim="never", keep=True, harvest=True)
    unquoted = replace(options, limits=limits, distil=replace(options.distil, quotes="off"))
    with alone_with(paths, "import"):
        recovered = recover(paths, now(), options.editor_wait)
        report = plan_import(paths, path, recovered.entries, secrets=options.distil.redact)
        done = HarvestReport(applied=True, run=new_run(now()))
        committer = Committer(paths, unquoted, recovered, done, now)
        try:
            before = _before(recovered.entries)
            for row in report.rows:
                if row.status in (NEW, CHANGED) and committer.trusted:
                    _stage(row, before, committer)
            committer.flush()
            report.imported = done.harvested
        finally:
            committer.finish()
        write_digest(paths, options, done)
        report.applied, report.run = True, done.run if report.imported else ""
        report.items = {name: number for name, number in done.items.items() if number}
        report.notes += [*recovered.notes, *done.notes]
        report.errors += [*recovered.errors, *done.errors]
        return report


def _stage(row: ImportRow, before: Mapping[str, str], committer: Committer) -> None:
    item = Artifact(row.path, row.name, "conversation", row.size, source=SOURCE)
    earlier = Earlier(before[row.path]) if row.path in before else None
    step = Step(item, "harvest", row.sha256, "imported", earlier)
    entry = {"bytes": row.size, **project_entry(row.project)}
    committer.stage(step, Harvest(row.items, dict(row.skipped), {}, row.project, entry), None)
    if committer.batch.is_full():
        committer.flush()


# --- which files -----------------------------------------------------------------------------------------------------


def _files(path: Path, notes: list[str]) -> Iterator[tuple[Path, Path]]:
    """Files of memories with the folder of the project that they belong to, in a fixed order. No links are followed,
    but for a path that the user named. `notes` hears what was not looked at."""
    if path.is_file():
        yield path, _project(path)
    elif path.is_dir():
        deep: list[Path] = []
        for number, file in enumerate(_below(path, DEPTH, notes, deep)):
            if number >= MAX_FILES:
                notes.append(
                    f"{path} holds more than {MAX_FILES:,} files of memories; name a folder in it for the rest"
                )
                return
            yield file, path
        if deep:
            more = f" and {len(deep) - 1} more" if len(deep) > 1 else ""
            notes.append(f"not looked into, they lie more than {DEPTH} folders deep: {deep[0]}{more}")


def _project(file: Path) -> Path:
    """The folder of the project around a single file: above the folders in which tools keep their memories."""
    folder = file.parent
    while folder.name in (*_FOLDERS, *_HIDDEN) and folder != folder.parent:
        folder = folder.parent
    return folder


def _below(folder: Path, depth: int, notes: list[str], deep: list[Path]) -> Iterator[Path]:
    try:
        with os.scandir(folder) as rows:
            kinds = [(row.name, row.is_dir(follow_symlinks=False), row.is_file(follow_symlinks=False)) for row in rows]
    except OSError as error:
        notes.append(f"{folder} cannot be listed: {error.strerror}")
        return
    inside, of_notes = sorted(kinds), folder.name in _FOLDERS
    for name, _, is_file in inside:
        low = name.lower()
        if is_file and (low in _NAMES or (of_notes and low.endswith(_NOTES) and low not in _NO_NOTES)):
            yield folder / name
    for name, is_folder, _ in inside:
        if is_folder and name not in _NEVER and (not name.startswith(".") or name in _HIDDEN):
            if depth > 0:
                yield from _below(folder / name, depth - 1, notes, deep)
            else:
                deep.append(folder / name)
