"""`knowledge sources`: which tools left conversations on this disk, how much of them is harvested, what will vanish.

Looks at names and sizes and at our own ledger; no conversation is opened. Nothing here changes anything.
"""

from __future__ import annotations

import json
import os
import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.figures import iso_of, seconds_of
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.commands.row import nearest, optional, top
from core.commands.text import collected, count, one_line, size
from core.commands.workspace import Workspace, utc_now
from core.harvest.classify import classify_conversation
from core.harvest.steps import KEEP_DAYS as KEEP_DAYS
from core.knowledge.ledger import Entry, seen_ledger
from core.sources.archive import held, stand_ins
from core.sources.artifact import HOME as HOME
from core.sources.artifact import Artifact, Survey
from core.sources.scan import read_protection, scan_conversations
from core.sources.sessions import StoreCache, list_sessions
from core.sources.tools import ALL as ALL
from core.sources.tools import EXPORTS, FILES, MOVING, SOURCE, SOURCES, Place, forgotten_places, known_as, places
from core.sources.tools import NAMES as NAMES
from core.sources.tools import known_name as known_name
from core.sources.tools import title_of as title_of
from core.sources.walk import as_it_is, survey

CLAUDE_DAYS = 30
"""After how many days Claude Code deletes a transcript unless its settings say `cleanupPeriodDays`."""
FOR_EVER = 36_500
"""Whoever has a tool keep its transcripts for this many days means that it shall delete none."""
SETTINGS_BYTES = 1 << 20


@dataclass
class SourceFound:
    """One source. Sizes in bytes, times ISO 8601 in UTC ("" for none).

    `harvested` conversations are in the ledger as they are now, `grown` ones were and have changed since, `new` ones
    were never harvested, and of those `too_large` ones were found too large by a harvest, as they will be while
    `max_harvest_source_bytes` is what it is (they are not counted as new). `expires_days` is after how many days
    without a change the tool deletes one (0: it does not, or does not say); `expiring` how many it will delete within
    `KEEP_DAYS` days, of which `expiring_unharvested` would be lost; `next_expiry` is when the first goes. `picked`: the
    settings name it. `days` is how many were last written to on which day of the user's calendar (for a picture; the
    JSON leaves it out).
    """

    name: str
    title: str
    picked: bool
    places: list[str] = field(default_factory=list)
    conversations: int = 0
    bytes: int = 0
    newest: str = ""
    harvested: int = 0
    grown: int = 0
    new: int = 0
    too_large: int = 0
    expires_days: int = 0
    expiring: int = 0
    expiring_unharvested: int = 0
    next_expiry: str = ""
    days: dict[date, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "days"}


@dataclass
class SourcesReport:
    """What `knowledge sources` tells. `rows` are those asked for, in the order of the table; the home folder first.
    `picked` are the sources of the settings, files too."""

    rows: list[SourceFound]
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)
    picked: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"sources": self.rows, "notes": self.notes, "errors": self.errors}


def chosen_sources(names: Sequence[str], *, typed: bool = False) -> tuple[str, ...]:
    """The sources that were typed or set, each as it is meant. Raises KnowledgeError for an unknown one; with
    `typed` also for a path at which there is nothing (one in the settings may be on a disk that is not there today)."""
    found: list[str] = []
    for text in names:
        name = known_name(text) or (os.path.join(os.curdir, text) if os.path.lexists(text) else "")
        service = text.strip().lower().replace("-", "_").replace(".", "_")
        is_there = name in (*NAMES, ALL) or not typed or os.path.lexists(os.path.expanduser(name))
        if not name and service in EXPORTS:
            hint = "name its conversations.json, or the zip or folder it is in: --source PATH"
            message = f"{EXPORTS[service]} keeps conversations in an export alone"
            raise KnowledgeError("unknown-source", message, hint=hint)
        if not name or not is_there:
            such = "" if os.sep in text else f", such as ./{text}"
            hint = f"choose of {', '.join(NAMES)}, {ALL}, or write a path that exists{such}"
            near = nearest(service.rpartition("/")[2], [*NAMES, ALL])
            raise KnowledgeError("unknown-source", f"there is no source and no file {text!r}{near}", hint=hint)
        found.append(name)
    return tuple(dict.fromkeys(found))


def set_sources(workspace: Workspace) -> tuple[tuple[str, ...], str]:
    """The sources that the settings name, and a sentence about those of them that there are not ("" for none)."""
    wanted = workspace.config.sources
    known = [text for text in wanted if isinstance(attempt(chosen_sources, [text]), Ok)]
    return chosen_sources(known), unknown_sources(wanted)


def unknown_sources(names: Sequence[str]) -> str:
    """What is wrong with these names in the setting `sources`, and what is accepted; "" where nothing is."""
    unknown = [text for text in names if isinstance(attempt(chosen_sources, [text]), KnowledgeError)]
    if not unknown:
        return ""
    which = ", ".join(map(repr, unknown))
    return f"the setting sources names {which}; accepted: {', '.join(NAMES)}, {ALL}, or a path such as ./{unknown[0]}"


def unknown_names(setting: str, names: Sequence[str]) -> str:
    """What is wrong with the names in another setting that takes sources and folders, "" where nothing is."""
    unknown = [text for text in names if not known_name(text)]
    which = ", ".join(map(repr, unknown))
    return f"the setting {setting} names {which}; accepted: {', '.join(NAMES)}, or a folder" if unknown else ""


def sources(workspace: Workspace, name: str = "", now: datetime | None = None) -> SourcesReport:
    """Look at every place there is, or at those of one source. Raises KnowledgeError for an unknown source."""
    named = chosen_sources([name] if name else [*NAMES], typed=True)
    picked, problem = set_sources(workspace)
    report = SourcesReport([], picked=picked)
    entries: Mapping[str, Entry] = {}
    with collected(report.errors):
        entries = seen_ledger(workspace.paths)
    rows = places(named, workspace.environment, workspace.config.project_roots)
    found = survey(rows)
    asked = {row.folder for row in rows if row.source == FILES}
    inside = _listed(workspace, [row for row in found.artifacts if row.kind == "store"], asked)
    report.notes += [*([problem] if problem else []), *found.notes, *inside.notes]
    report.errors += [*found.errors, *inside.errors]
    by_source: dict[str, list[Artifact]] = {}
    for item in (*(row for row in found.artifacts if row.kind != "store"), *inside.artifacts):
        by_source.setdefault(item.source, []).append(item)
    if HOME in named or ALL in named:
        by_source[HOME] = _at_home(workspace)
    wanted, forgotten = [*NAMES] if ALL in named else named, forgotten_places(entries)
    by_source = {one: [row for row in seen if _key(row) not in forgotten] for one, seen in by_source.items()}
    there = {_key(item) for items in by_source.values() for item in items}
    known, refused = _told_of(entries, there)
    for source in dict.fromkeys([*(row for row in wanted if row in NAMES), *by_source]):
        seen = by_source.get(source, [])
        folders = (
            [str(workspace.paths.conversations)]
            if source == HOME
            else sorted({item.path.rpartition("#")[0] for item in seen})
            if source in EXPORTS
            else [row.folder for row in rows if row.source == source and (seen or name)]
        )
        row = SourceFound(source, title_of(source), source in picked or ALL in picked, folders)
        _count(row, seen, known, refused, workspace.config.max_harvest_source_bytes)
        _expiry(row, seen, known, days_kept(source, rows), now or utc_now())
        report.rows.append(row)
    return report


def _listed(workspace: Workspace, stores: Sequence[Artifact], asked: Collection[str] = ()) -> Survey:
    """The conversations in these stores; those of `asked` folders were named by the user."""
    with StoreCache(workspace.cache / "stores") as opened:
        return list_sessions(stores, opened, asked)


NOT_LOOKED_AT = "not looked at: "


def elsewhere(workspace: Workspace, asked: Sequence[str], entries: Mapping[str, Entry]) -> list[str]:
    """What a dry run should say about conversations that it did not look at, one sentence or none: only of those that
    are not harvested as they are now. Tools that keep them in project folders are left out: finding those takes a walk
    through the disk. A database is opened only where conversations of its tool were harvested before."""
    left = [row.name for row in SOURCES if row.name not in asked and not row.project]
    if ALL in asked or not left:
        return []
    found = survey(places(left, workspace.environment, ())).artifacts
    if not found:
        return []
    read = {str(entry.get("source", "")) for entry in entries.values() if entry.get("status") == "harvested"}
    opened = [item for item in found if item.kind == "store" and item.source in read]
    inside = _listed(workspace, opened).artifacts if opened else []
    counts: dict[str, list[str]] = {}
    here, forgotten = [*(row for row in found if row not in opened), *inside], forgotten_places(entries)
    known, _ = _told_of(entries, {_key(item) for item in here})
    for item in here:
        if not _is_harvested(item, known) and _key(item) not in forgotten:
            counts.setdefault(item.source, []).append(item.kind)
    if not counts:
        return []
    unread = ", ".join(f"{name} ({'a database' if 'store' in kinds else len(kinds)})" for name, kinds in counts.items())
    first = next(iter(counts))
    return [f"{NOT_LOOKED_AT}{unread}; '--source {first}' reads one of them, 'knowledge sources' tells more"]


def _at_home(workspace: Workspace) -> list[Artifact]:
    """The conversations of the home folder that a harvest would read: not live ones, nor those the user keeps."""
    rows, folder = scan_conversations(workspace.paths), os.path.realpath(workspace.paths.conversations)
    protection = read_protection(rows)
    conversations = [row for row in rows if row.kind == "conversation"]
    return [row for row in conversations if classify_conversation(row, protection, folder).verdict == "harvest"]


def _told_of(entries: Mapping[str, Entry], there: Collection[str]) -> tuple[dict[str, tuple[int, float]], set[str]]:
    """Of what is `there`, by what `known_as` says: size (-1 where the ledger does not tell) and time of the newest
    harvest; and what a harvest found too large, of which the size on the disk alone tells nothing: what a model would
    be sent of it is smaller."""
    known, refused = dict[str, tuple[str, int]](), set[str]()
    for entry in entries.values() if there else ():
        path, status = known_as(str(entry.get("path", "")), str(entry.get("source", ""))), entry.get("status")
        if path in there and status == "harvested":
            at, size = str(entry.get("at", "")), entry.get("bytes", -1)
            if at >= known.get(path, ("", 0))[0]:
                known[path] = (at, size if isinstance(size, int) else -1)
        elif path in there and status == "too-large":
            refused.add(path)
    return {path: (size, seconds_of(at)) for path, (at, size) in known.items()}, refused


def _key(item: Artifact) -> str:
    return known_as(item.path, item.source)


def _is_harvested(item: Artifact, known: Mapping[str, tuple[int, float]]) -> bool:
    size, at = known.get(_key(item), (0, 0.0))
    return _key(item) in known and (size == item.size or (size < 0 and item.mtime_ns / 1e9 <= at))


def _count(
    row: SourceFound, seen: list[Artifact], known: Mapping[str, tuple[int, float]], refused: set[str], limit: int
) -> None:
    row.conversations, row.bytes = len(seen), sum(item.size for item in seen)
    row.newest = iso_of(max((item.mtime_ns for item in seen), default=0) / 1e9)
    row.days = dict(Counter(day for item in seen if (day := day_of(item.mtime_ns)) is not None))
    row.harvested = sum(_is_harvested(item, known) for item in seen)
    row.grown = sum(_key(item) in known for item in seen) - row.harvested
    row.too_large = sum(item.size > limit and _key(item) in refused for item in seen if _key(item) not in known)
    row.new = row.conversations - row.harvested - row.grown - row.too_large


def day_of(nanoseconds: int) -> date | None:
    """The day of the user's calendar, None for an invalid time: some stand in a tool's own database."""
    try:
        return date.fromtimestamp(nanoseconds / 1e9) if nanoseconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


# --- what a tool deletes itself --------------------------------------------------------------------------------------


def _expiry(
    row: SourceFound, seen: list[Artifact], known: Mapping[str, tuple[int, float]], days: int, now: datetime
) -> None:
    row.expires_days = days
    if not days or not seen:
        return
    ends = [(item.mtime_ns / 1e9 + days * 86_400, item) for item in seen]
    row.next_expiry = iso_of(min(end for end, _ in ends))
    soon = [item for end, item in ends if end <= now.timestamp() + KEEP_DAYS * 86_400]
    row.expiring = len(soon)
    row.expiring_unharvested = sum(not _is_harvested(item, known) for item in soon)


def deleted_by_tools(workspace: Workspace) -> tuple[list[Artifact], dict[str, int]]:
    """The conversations that their tools will delete, and after how many days without a change, by source."""
    rows = places([row.name for row in SOURCES], workspace.environment, ())
    deletes = {row.name: days for row in SOURCES if (days := days_kept(row.name, rows))}
    found = survey([row for row in rows if row.source in deletes]).artifacts
    return [item for item in found if item.kind != "store"], deletes


def gone_from_tools(workspace: Workspace, entries: Mapping[str, Entry]) -> list[tuple[Artifact, str]]:
    """The conversations that their tools have deleted and the archive has, each with the sha256 of what its tool had.
    Of a file its path tells; a database or a folder that holds many is looked into."""
    rows = held(workspace.paths.archive, entries).values()
    told = [(str(row.get("path", "")), str(row.get("source", ""))) for row in rows]
    inside = {(path.rpartition("#")[0], source) for path, source in told if "#" in path and not os.path.lexists(path)}
    moved = sorted({source for _, source in inside} & MOVING)
    seen = {row.path: row for row in survey(places(moved, workspace.environment, ())).artifacts if row.kind == "store"}
    seen |= {row.path: row for one in inside if (row := as_it_is(*one, one[1], "store")) is not None}
    there = {_key(row) for row in _listed(workspace, list(seen.values())).artifacts}
    return list(stand_ins(workspace.paths.archive, entries, SOURCE, there))


def ends(workspace: Workspace) -> dict[str, float]:
    """When its tool deletes each conversation, in seconds since 1970 by the path of its file; none that are kept."""
    found, deletes = deleted_by_tools(workspace)
    return {item.path: item.mtime_ns / 1e9 + deletes[item.source] * 86_400 for item in found}


def days_kept(source: str, rows: Sequence[Place]) -> int:
    """After how many days the tool deletes a conversation, by its own settings; 0: it does not."""
    if source not in ("claude_code", "gemini_cli"):
        return 0
    places_of = [Path(row.folder).parent / "settings.json" for row in rows if row.source == source]
    settings = [files.read_object(place, SETTINGS_BYTES) or {} for place in places_of]
    if source == "claude_code":
        days = [one.get("cleanupPeriodDays") for one in settings]
        found = next((row for row in days if isinstance(row, int) and not isinstance(row, bool)), CLAUDE_DAYS)
        return found if 0 < found < FOR_EVER else 0
    for one in settings:
        general = one.get("general")
        kept = general.get("sessionRetention") if isinstance(general, dict) else None
        if isinstance(kept, dict) and kept.get("enabled") is True:
            return _days(str(kept.get("maxAge", "")))
    return 0


def _days(text: str) -> int:
    """`30d`, `2w`, `48h`, `1m` (a month) as days, at least one; 0 for anything else."""
    number, unit = text[:-1], text[-1:]
    hours = {"h": 1, "d": 24, "w": 168, "m": 720}.get(unit, 0)
    found = max(1, int(number) * hours // 24) if number.isdecimal() and len(number) < 7 and hours else 0
    return found if found < FOR_EVER else 0


# --- at the command line --------------------------------------------------------------------------------------------


def sources_text(report: SourcesReport) -> str:
    """A table of what was found; places only for one that was asked for alone."""
    alone = len(report.rows) == 1
    shown = [row for row in report.rows if row.conversations or row.picked or alone]
    absent = [row.name for row in report.rows if row not in shown]
    lines = table_rows(shown)
    if alone:
        lines += [f"  {one_line(place)}" for place in report.rows[0].places]
    if absent:
        lines.append(f"nothing of: {', '.join(absent)}")
    lines += filter(None, map(expiry_text, shown))
    unpicked = [row.name for row in shown if not row.picked and row.conversations]
    if unpicked and not alone:
        name = unpicked[0]
        lines.append(f"* is read by 'knowledge harvest'; 'knowledge harvest --source {name}' reads another, and")
        wanted = json.dumps([*report.picked, name], ensure_ascii=False)
        lines.append(f"  knowledge config set sources {shlex.quote(wanted)} makes it one of them")
    return "\n".join(lines + [f"note: {one_line(note)}" for note in report.notes]) + "\n"


def table_rows(rows: Sequence[SourceFound]) -> list[str]:
    """A line for each source: whether a harvest reads it, how much there is, and how much of it is harvested."""
    width = max([len(row.name) for row in rows], default=0)
    lines = []
    for row in rows:
        counted = ((row.harvested, "harvested"), (row.grown, "grown since"), (row.too_large, "too large"))
        states = [f"{number} {word}" for number, word in counted if number]
        states += [f"{row.new} new"] if row.new or not states else []
        about = f"{count(row.conversations, 'conversation')}, {size(row.bytes)}, newest {row.newest[:10]}"
        told = f"{about}: {', '.join(states)}" if row.conversations else "nothing found"
        lines.append(f"{'*' if row.picked else ' '} {row.name:<{width}}  {told}")
    return lines


def expiry_text(row: SourceFound) -> str:
    """What its tool deletes and when, "" where it deletes nothing."""
    if not row.expires_days or not row.conversations:
        return ""
    habit = f"{row.title} deletes what has not changed for {count(row.expires_days, 'day')}"
    if not row.expiring:
        return f"{habit}; the next on {row.next_expiry[:10]}"
    lost = f", {row.expiring_unharvested} of them not harvested" if row.expiring_unharvested else ", all harvested"
    return f"{habit}: {count(row.expiring, 'conversation')} within {count(KEEP_DAYS, 'day')}{lost}"


COMMANDS = (
    top(
        "sources",
        "--json",
        sources,
        sources_text,
        optional("name", "only this source, with its places")._replace(offers=lambda: NAMES),
    ),
)
