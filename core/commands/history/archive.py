"""`knowledge archive`: the conversations that are kept although their tools delete them: how much of which tool and
project, and what will come; written out for a reader; and removed for good."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.figures import seconds_of
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.commands.daily.autopilot import read_autopilot, sources_of
from core.commands.row import Ask, agreed, flag, group, needed, nobody, option, optional, single
from core.commands.sources import deleted_by_tools, gone_from_tools
from core.commands.text import collected, count, one_line, size
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.recovery import Recovered, with_store
from core.harvest.steps import KEEP_DAYS, expires
from core.knowledge.ledger import UNDONE, known_entries, note_entries
from core.sources.archive import LET_GO, REMOVED, file_of, held, key_of
from core.sources.tools import forgotten_places, known_as, title_of

ALL = "all"
MISSED_HOURS = 72
"""The hours without a harvest by a hook or timer after which nothing harvests by itself here."""


@dataclass(frozen=True)
class Kept:
    """One conversation of the archive. `bytes` are those of its file, `day` that of its last change, `is_gone` whether
    its tool has deleted it."""

    name: str
    source: str
    path: str
    project: str
    sha256: str
    day: str
    kept_at: str
    bytes: int
    is_gone: bool = False


@dataclass
class ArchiveReport:
    """What `knowledge archive` tells. `which` is the setting; `tools` and `projects` are name -> (how many, bytes);
    `coming` conversations will be deleted by their tools within a week and are not kept yet. `warning` is a sentence
    where nobody will keep those that come."""

    which: str
    folder: str
    rows: list[Kept] = field(default_factory=list)
    tools: dict[str, tuple[int, int]] = field(default_factory=dict)
    projects: dict[str, tuple[int, int]] = field(default_factory=dict)
    coming: int = 0
    warning: str = ""

    @property
    def bytes(self) -> int:
        """Those of all files."""
        return sum(row.bytes for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        return {
            "archive": self.which,
            "folder": self.folder,
            "bytes": self.bytes,
            "tools": {name: _sum(*row) for name, row in self.tools.items()},
            "projects": {name: _sum(*row) for name, row in self.projects.items()},
            "coming": self.coming,
            "conversations": self.rows,
            "warning": self.warning or None,
        }


def _sum(number: int, size: int) -> dict[str, int]:
    return {"conversations": number, "bytes": size}


@dataclass(frozen=True)
class Taken:
    """What a removal took out of the archive: names and bytes; `notes` are sentences about what was met on the way."""

    names: tuple[str, ...]
    bytes: int = 0
    agreed: bool = True
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"removed": self.names, "bytes": self.bytes, "notes": self.notes}


@dataclass(frozen=True)
class Exported:
    """Files that were written, one a conversation, and what could not be."""

    files: tuple[str, ...]
    errors: tuple[ErrorInfo, ...] = ()


def archive_list(workspace: Workspace, which: str = "", now: Clock = utc_now) -> ArchiveReport:
    """What the archive holds, the newest first; of what `which` names where it does."""
    report = ArchiveReport(workspace.config.archive, str(workspace.paths.archive))
    report.rows = _named(_rows(workspace), which.strip() or ALL)
    for row in report.rows:
        for table, name in ((report.tools, row.source), (report.projects, row.project)):
            number, total = table.get(name, (0, 0))
            table[name] = (number + 1, total + row.bytes)
    lost, report.warning = coming(workspace, now)
    report.coming = sum(lost.values())
    return report


def _rows(workspace: Workspace) -> list[Kept]:
    entries = known_entries(workspace.paths)
    gone = {item.path for item, _ in gone_from_tools(workspace, entries)}
    rows = [_kept(row, gone) for row in held(workspace.paths.archive, entries).values()]
    return sorted(rows, key=lambda row: (row.day, row.name), reverse=True)


def _kept(row: Mapping[str, Any], gone: Collection[str]) -> Kept:
    name, source, path, project = (str(row.get(key, "")) for key in ("name", "source", "path", "project"))
    day = datetime.fromtimestamp(int(row.get("mtime_ns", 0)) / 1e9, UTC).date().isoformat()
    at, size = str(row.get("at", "")), int(row.get("bytes", 0))
    return Kept(name, source, path, project, str(row.get("of", "")), day, at, size, path in gone)


def _is_meant(row: Kept, which: str) -> bool:
    project = os.path.abspath(os.path.expanduser(which))
    inside = row.project == project or row.project.startswith(project + os.sep)
    return which in (ALL, row.source, row.name, row.path) or inside or (len(which) > 3 and row.sha256.startswith(which))


def coming(workspace: Workspace, now: Clock = utc_now) -> tuple[Mapping[str, int], str]:
    """How many conversations of each source its tool will delete within a week of which there is no copy and no
    harvest, and a warning where no hook and no timer will see them."""
    moment, entries = now(), known_entries(workspace.paths)
    found, deletes = deleted_by_tools(workspace)
    soon = [item for item in found if expires(item, deletes, moment, KEEP_DAYS)]
    if not soon:
        return {}, ""
    archived = workspace.config.archive != "off"
    there, forgotten = held(workspace.paths.archive, entries), forgotten_places(entries)
    harvested = {
        (str(row.get("path", "")), row.get("bytes")) for row in entries.values() if row.get("status") == "harvested"
    }
    undone = {str(row.get("path", "")) for row in entries.values() if row.get("status") == UNDONE}
    again, lost = "", Counter[str]()
    for item in soon:
        row = entries.get(key_of(item.path, item.source), {})
        safe = (item.path, item.size) in harvested if not archived else key_of(item.path, item.source) in there
        if not safe and row.get("status") != LET_GO and known_as(item.path, item.source) not in forgotten:
            lost[item.source] += 1
            again = " --again" if item.path in undone else again
    if not lost or _harvests_by_itself(workspace, lost, moment):
        return lost, ""
    names = " and ".join(f"{count(number, f'{title_of(name)} conversation')}" for name, number in lost.items())
    what = "not kept yet" if archived else "not harvested"
    return lost, (
        f"{names} will be deleted within {KEEP_DAYS} days, {what}, and no hook or timer harvests here: 'knowledge "
        f"harvest --apply --source all{again}' reads them, 'knowledge connect' or 'knowledge schedule' does so from "
        "then on"
    )


def _harvests_by_itself(workspace: Workspace, sources: Iterable[str], now: datetime) -> bool:
    """Whether a hook or a timer has harvested lately, and reads these."""
    state, read = read_autopilot(workspace.paths), sources_of(workspace)
    at = seconds_of(state.at) if state is not None else 0.0
    return now.timestamp() - at < MISSED_HOURS * 3600 and (ALL in read or set(sources) <= set(read))


def archive_figures(workspace: Workspace) -> dict[str, int]:
    """How many files and bytes the archive has."""
    rows = held(workspace.paths.archive, known_entries(workspace.paths)).values()
    return {"files": len(rows), "bytes": sum(int(row.get("bytes", 0)) for row in rows)}


# --- out of it --------------------------------------------------------------------------------------------------------

_UNFIT = re.compile(r"[^\w.-]+")


def archive_export(workspace: Workspace, which: str, folder: str = "") -> Exported:
    """Write conversations as markdown into a folder (this one), one file each. `which` is a name, a tool, a project or
    `all`. A file that is there already is not touched. Raises KnowledgeError where none is meant."""
    from core.commands.transcript import Shown, read, show_text

    target = Path(workspace.cwd, os.path.expanduser(folder))
    made, errors = list[str](), list[ErrorInfo]()
    for row in _meant(workspace, which):
        file = target / f"{_UNFIT.sub('-', row.name)}.md"
        with collected(errors), disk_errors("unwritable", "it cannot be written", file):
            files.make_folder(target)
            talk = read(workspace, row.path, seconds=0.0)
            if files.exists(file):
                raise KnowledgeError("exists", "there is a file of that name already", file, "move it away")
            files.create_atomic(file, show_text(Shown(talk, "markdown")).encode("utf-8", "replace"))
            made.append(str(file))
    return Exported(tuple(made), tuple(errors))


def archive_remove(workspace: Workspace, which: str, yes: bool = False, *, ask: Ask = nobody) -> Taken:
    """Remove copies for good, and keep none of these again. What they taught stays. Raises KnowledgeError where none
    is meant, or nobody can be asked."""
    rows = _meant(workspace, which)
    total = sum(row.bytes for row in rows)
    if not yes:
        shown = "".join(f"  {one_line(row.name)}, {row.day}, {size(row.bytes)}\n" for row in rows[:SHOWN])
        if not agreed(ask, f"{count(len(rows), 'conversation')}, {size(total)}\n{shown}", "remove them for good?"):
            return Taken((), agreed=False)
    keys = {key_of(row.path, row.source) for row in rows}

    def work(store: Recovered) -> tuple[str, ...]:
        let = {key: {**store.entries[key], "status": LET_GO, "why": REMOVED} for key in keys if key in store.entries}
        note_entries(workspace.paths, store.entries, let, "archive", utc_now())
        for key in keys:
            files.discard(file_of(workspace.paths.archive, key))
        return tuple(store.notes)

    notes = with_store(workspace.paths, "archive", utc_now(), work)
    from core.commands.forget import forget_in_index

    return Taken(tuple(row.name for row in rows), total, notes=(*notes, *forget_in_index(workspace)))


def _named(rows: list[Kept], wanted: str) -> list[Kept]:
    found = [row for row in rows if wanted and _is_meant(row, wanted)]
    return found or [row for row in rows if wanted and wanted.casefold() in row.name.casefold()]


def _meant(workspace: Workspace, which: str) -> list[Kept]:
    rows = _rows(workspace)
    found = _named(rows, which.strip())
    if not rows:
        hint = "'knowledge archive' tells what a harvest would keep"
        raise KnowledgeError("not-in-archive", "there is nothing in the archive", hint=hint)
    if not found:
        hint = "'knowledge archive' lists what it holds"
        raise KnowledgeError("not-in-archive", f"nothing in the archive is called {which!r}", hint=hint)
    return found


# --- at the command line ----------------------------------------------------------------------------------------------

SHOWN = 20


def archive_text(report: ArchiveReport) -> str:
    """Sizes by tool and project, the newest conversations, and what comes."""
    total = f"{count(len(report.rows), 'conversation')}, {size(report.bytes)}"
    gone = sum(row.is_gone for row in report.rows)
    rows = [f'archive = "{report.which}": {total}' + (f", {gone} of them not in their tools any more" if gone else "")]
    for name, table in (("tool", report.tools), ("project", report.projects)):
        for key, (number, held_bytes) in sorted(table.items(), key=lambda one: -one[1][1])[:SHOWN]:
            called = title_of(key) if name == "tool" else one_line(key) or "no project"
            rows.append(f"  {called}: {count(number, 'conversation')}, {size(held_bytes)}")
    for row in report.rows[:SHOWN]:
        rows.append(f"{row.sha256[:10]}  {row.day}  {size(row.bytes):>8}  {one_line(row.name)}")
    if len(report.rows) > SHOWN:
        rows.append(f"and {len(report.rows) - SHOWN} more")
    if report.which == "off":
        rows.append("nothing is kept: 'knowledge config set archive expiring' keeps what is about to be deleted")
    elif report.coming:
        rows.append(f"{report.coming} more will be deleted by their tools within {KEEP_DAYS} days and are not kept yet")
    rows += [f"warning: {report.warning}"] if report.warning else []
    return "\n".join(rows) + "\n"


def taken_text(done: Taken) -> str:
    """What was removed."""
    if not done.agreed:
        return "nothing was changed\n"
    went = f"removed for good: {count(len(done.names), 'conversation')}, {size(done.bytes)}; none of them is kept again"
    return "\n".join([went, *(f"note: {note}" for note in done.notes)]) + "\n"


def exported_text(done: Exported) -> str:
    """Where they were written."""
    return "".join(f"written: {one_line(name)}\n" for name in done.files) or "nothing was written\n"


_WHICH = needed("which", "its name or a part of it, the beginning of its hash, a tool, a project's folder, or all")

COMMANDS = (
    group(
        "archive",
        "export claude_code/0f3c9a52",
        single(
            "list",
            "what is kept, by tool and project; what will come and what will go",
            "claude_code",
            archive_list,
            archive_text,
            optional("which", "only this tool, project or conversation"),
        ),
        single(
            "export",
            "write conversations as markdown, one file each",
            "all --to old-sessions",
            archive_export,
            exported_text,
            _WHICH,
            option("--to", "the folder to write into (default: this one)", "DIR", dest="folder"),
        ),
        single(
            "remove",
            "remove copies for good; none of them is kept again",
            "codex --yes",
            archive_remove,
            taken_text,
            _WHICH,
            flag("--yes", "do not ask"),
            asks=True,
        ),
    ),
)
