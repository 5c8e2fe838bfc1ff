"""Brings YAML files, record and index together, in an order that a crash cannot harm.

1. What a crashed sync had decided is finished first. 2. The files and the record are read; what the committed harvests
taught is decided (feed.py) and written down durably as one intent in the log of short changes, `.state/log`. 3. Each
file gets its changes, by comparing and replacing, so that an editor's save in that moment is never lost; what is
applied is noted in the log. 4. The record is appended to, durably; only then the intent is done. 5. The index is
computed from the files as they stand and replaced if its bytes differ. Cut anywhere, the next sync goes on from there;
run twice, nothing changes.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from core.base import files
from core.base.checked_lines import Record, append, decode, each, finish, unfinished
from core.base.result import ErrorInfo
from core.factindex import index
from core.factindex.edits import Operation, apply_operations, is_bare, new_file_text
from core.factindex.facts import Fact, Problem
from core.factindex.feed import Harvests as Harvests
from core.factindex.feed import Plan, plan_feed
from core.factindex.follow import Bullets, follow
from core.factindex.held import Known, hold, read_known, write_known
from core.factindex.places import FILE_BYTES, FactFiles, read_all, read_at, read_one, together, why_broken
from core.factindex.record import History, aged, append_records, counted, history_of, read_history, record_path
from core.factindex.reunite import changed_text, plan_renumbering

ATTEMPTS = 10
TOLD = 20
"""This many problems are reported one by one."""
LOG = "log"
JOURNAL = "facts.journal"
"""Where earlier versions wrote their plan: read still, and taken away when it is carried out."""

Replace = Callable[[Path, bytes | None, bytes], bool]
"""`replace(path, new, expected)`: put `new` in place of exactly `expected`, durably, or return False. None takes
the file away."""


@dataclass
class SyncReport:
    """What a sync did: facts made, confirmed, found deleted by hand (`gone`) and taken back; how many stand in the
    index now, how many of them are stale or have decayed; and what keeps items out of it (`problems`)."""

    new: int = 0
    confirmed: int = 0
    gone: int = 0
    taken_back: int = 0
    stayed: list[str] = field(default_factory=list)
    total: int = 0
    stale: int = 0
    decayed: int = 0
    files: list[str] = field(default_factory=list)
    index: str = ""
    written: bool = False
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    dropped: dict[str, list[str]] = field(default_factory=dict)
    reworded: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What the user took out of the YAML files or gave other words there, by the mark of the bullet (follow.py)."""
    too_long: Sequence[str] = ()
    """What is new and longer than a fact may be."""

    @property
    def errors(self) -> list[ErrorInfo]:
        """One sentence for each thing that is not valid, of very many the first: with any, the command ends with 1."""
        first = [problem.error for problem in self.problems[:TOLD]]
        more = len(self.problems) - len(first)
        return first + [ErrorInfo("more", f"and {more} more ('knowledge facts validate' lists them)")] * bool(more)

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge facts sync --json`."""
        row = {key: value for key, value in vars(self).items() if key not in ("dropped", "reworded", "too_long")}
        return {**row, "problems": [problem.to_json() for problem in self.problems]}


def sync(
    knowledge: Path,
    state: Path,
    harvests: Callable[[History], Harvests],
    now: datetime,
    *,
    replace: Replace,
    accept_removals: bool = False,
) -> SyncReport:
    """Do all of it. The caller holds the lock of the fact index. `harvests` is asked once, with the history so far, so
    that archives that are fed already need not be read again. A broken file is left out and reported; the facts that
    are missed with it stay in the index until it is whole again or `accept_removals` says that they may go. Raises
    OSError."""
    known = read_known(state)
    report = SyncReport(index=str(knowledge / index.NAME))
    at_work = _Sync(knowledge, state, replace, report, Known() if accept_removals else known, read_all(knowledge))
    at_work.finish_cut()
    at_work.number_once()
    at_work.hold()
    records, history = read_history(record_path(state))
    if history.damaged:
        report.notes.append(f"{history.damaged} damaged lines of {record_path(state)} were passed over")
    harvested = harvests(history)
    lost = at_work.found.lost_ids
    plan = plan_feed(at_work.found, records, harvested, let_go=accept_removals)
    plan.records += [
        {"t": "archive", "run": run, "size": size}
        for run, size in harvested.sizes.items()
        if history.archives.get(run) != size and run not in plan.wait
    ]
    meant = at_work.carry_out(plan)
    if plan.operations or plan.records or plan.followed.settled:
        at_work.look_again(plan, lost)
        history = history_of([*records, *plan.records])
    report.too_long = harvested.too_long
    _tell(report, plan, len(lost))
    at_work.write_index(history, now, plan.records, meant)
    return report


def project(
    knowledge: Path, state: Path, now: datetime, bullets: Bullets | None = None
) -> tuple[list[Fact], FactFiles, History]:
    """The facts as the index should hold them, computed from files and record, and with `bullets` as these say it now;
    nothing is written. Raises OSError."""
    found = hold(knowledge, read_all(knowledge), read_known(state))
    history = read_history(record_path(state))[1]
    facts = _aged(found, history, now)
    if bullets is not None:
        followed = follow(found, history, bullets)
        words = {fact.id: text for fact, text in followed.reword}
        gone = {fact.id for fact in (*followed.leave, *followed.held)}
        facts = [fact._replace(fact=words.get(fact.id, fact.fact)) for fact in facts if fact.id not in gone]
        facts += followed.back
    return facts, found, history


def _aged(found: FactFiles, history: History, now: datetime) -> list[Fact]:
    today = now.astimezone(UTC).date().isoformat()
    return [*(aged(row.fact, history, today) for row in found.placed.values()), *chain(*found.held.values())]


# --- the steps --------------------------------------------------------------------------------------------------------


@dataclass
class _Sync:
    """A sync at work: what the last one saw, the files as they were last read, and the ids of the facts that were taken
    out on purpose."""

    knowledge: Path
    state: Path
    replace: Replace
    report: SyncReport
    known: Known
    found: FactFiles
    removed: set[str] = field(default_factory=set)

    def finish_cut(self) -> None:
        """Carry out what a crashed sync had decided."""
        for cut in cut_off(self.state):
            self._change_files(cut)
            append_records(record_path(self.state), cut.records)
            _close(self.state, cut)
            self._read_again(self.report.files)

    def number_once(self) -> None:
        """Give each fact a number of its own, where two machines were merged through git. What somebody saves in that
        moment is left for the next sync."""
        done: list[str] = []
        for name, rows in plan_renumbering(self.found).items():
            read = self.found.by_name[name]
            text, whole = changed_text(read, rows)
            if text != read.text and self.replace(self.knowledge / name, text.encode(), read.data):
                done.append(name)
            if not whole:
                self.report.notes.append(f"{name}: a number stands twice in an item that only a text editor can change")
        if done:
            self.report.files += done
            self.report.notes.append(f"numbers that stood twice were given once each: {', '.join(sorted(done))}")
        self._read_again(done)

    def hold(self) -> None:
        """See which facts are missed."""
        hold(self.knowledge, self.found, self.known, self.removed)

    def carry_out(self, plan: Plan) -> Meant | None:
        """Write down what a plan is to do, and do it; None where it changes no file."""
        if not plan.operations:
            return None
        row: Record = {"files": plan.operations, "made_for": plan.made_for, "records": plan.records}
        meant = Meant(files.new_id(), **row)
        append(self.state / LOG, {"t": "intent", "id": meant.id, "facts": row}, durable=True)
        self._change_files(meant)
        return meant

    def _change_files(self, meant: Meant) -> None:
        """Bring every file of a plan up to date. What is done already does nothing."""
        for name, operations in meant.files.items():
            if name in meant.applied:
                continue
            written = _change(self.knowledge, name, operations, meant.made_for.get(name), self.replace)
            if written:
                self.report.files.append(written)
            self.removed.update(str(row["id"]) for row in operations if row["op"] == "remove")
            if meant.id:  # written in its turn, and durable with the next record that must be
                append(self.state / LOG, {"t": "applied", "id": meant.id, "file": name})

    def look_again(self, plan: Plan, lost: AbstractSet[str]) -> None:
        """Read what a plan has made of the files; of those that were `lost` before, some are settled by it."""
        self._read_again([*plan.operations, *self.report.files])
        self.known = Known(self.known.ids, self.known.kept, lost - plan.followed.settled)
        self.hold()
        if stuck := _unchanged(plan, self.found):
            which = ", ".join(stuck[:5]) + (" and others" if len(stuck) > 5 else "")
            self.report.notes.append(
                f"not counted, for it cannot be changed without touching more of its line: {which}"
            )

    def _read_again(self, names: list[str]) -> None:
        """See what these files say now."""
        read = dict(self.found.by_name)
        for name in names:
            try:
                read[name] = read_one(name, files.read_file(self.knowledge / name, FILE_BYTES).data)
            except FileNotFoundError:
                read.pop(name, None)  # any other trouble is raised: what was just written has to be read back
        self.found = together((read[name] for name in sorted(read)), self.found.passed)

    def write_index(self, history: History, now: datetime, news: list[Record], meant: Meant | None) -> None:
        """Append `news` and what the index adds to it to the record, close the plan that they are about, and write the
        index."""
        found, report, news = self.found, self.report, list(news)
        # What a user has written counts from now on.
        states = {name: [row.fact.confidence, row.fact.last_confirmed] for name, row in found.placed.items()}
        known = {name: state for name, state in states.items() if history.known.get(name) != state}
        if known:
            news.append({"t": "known", "facts": known})
            for name in known:
                history.anchors[name] = history.total
        news += counted((row.fact for row in found.placed.values()), history)
        facts = _aged(found, history, now)
        report.problems = found.problems
        if not facts and not history.index_sum and not files.exists(self.knowledge / index.NAME):
            append_records(record_path(self.state), news)
            _close(self.state, meant)
            return  # a store that never had facts has no index
        write_known(self.state, found)
        rows = index.rows_of(facts)
        name = index.sum_of(rows)
        at = history.index_at
        if name != history.index_sum:
            moment = now.astimezone(UTC)
            at = max(at, moment.isoformat(timespec="seconds"))
            day = max(history.day, moment.date().isoformat())
            news.append({"t": "index", "sum": name, "at": at, "day": day})
        report.total, report.stale = len(facts), sum(fact.stale for fact in facts)
        report.decayed = sum(
            fact.id in found.placed and fact.confidence != found.placed[fact.id].fact.confidence for fact in facts
        )
        append_records(record_path(self.state), news)
        _close(self.state, meant)
        data = index.format_index(rows, at)
        path = self.knowledge / index.NAME
        if files.read_or_empty(path) != data:
            files.make_folder(self.knowledge)
            files.write_atomic(path, data, lasting=False)
            report.written = True


def _tell(report: SyncReport, plan: Plan, lost: int) -> None:
    """What a plan has done, into the report; `lost` is how many facts were lost before it."""
    report.new, report.confirmed, report.gone = plan.new, plan.confirmed, plan.gone
    report.taken_back, report.stayed = plan.taken_back, plan.stayed
    report.dropped, report.reworded = plan.followed.dropped, plan.followed.reworded
    if plan.wait:
        report.notes.append(
            "harvests that say what stands in a file with a merge conflict become facts when the conflict has ended"
        )
    if plan.followed.held:
        report.notes.append(
            f"{len(plan.followed.held)} facts have lost their bullets at once and stay: 'knowledge review --kind"
            " vanished' lists what is missing"
        )
    if plan.followed.again:
        report.notes.append(
            f"{plan.followed.again} of {lost} facts whose files and index.json were gone are made again of their"
            " bullets, without tags and other details"
        )


# --- what is meant, in the log ---------------------------------------------------------------------------------------


@dataclass
class Meant:
    """A plan as it stands in the log (`id`; "" for the file of an earlier version): operations by file, for which
    domain and category a new file is, the records of what it does, and the files that are through."""

    id: str
    files: dict[str, list[Operation]]
    made_for: dict[str, list[str]]
    records: list[Record]
    applied: set[str] = field(default_factory=set)


def cut_off(state: Path) -> list[Meant]:
    """The plans that a crash has cut off. Raises OSError."""
    data = files.read_or_empty(state / LOG)
    open_ones = {name: row["facts"] for name, row in unfinished(data).items() if "facts" in row}
    found = [Meant(name, row["files"], row["made_for"], row["records"]) for name, row in open_ones.items()]
    for meant in found:
        mine = (row for row in each(data) if row.get("t") == "applied" and row.get("id") == meant.id)
        meant.applied.update(str(row.get("file")) for row in mine)
    if files.exists(state / JOURNAL):
        rows = decode(files.read_or_empty(state / JOURNAL))
        first = next(rows, {})
        through = {str(row.get("file")) for row in rows}
        found.append(Meant("", first.get("files", {}), first.get("made_for", {}), first.get("records", []), through))
    return found


def _close(state: Path, meant: Meant | None) -> None:
    """A plan is carried out, and its records are durable."""
    if meant is not None and meant.id:
        finish(state / LOG, meant.id)
    elif meant is not None:
        files.remove_file(state / JOURNAL)


def _change(
    knowledge: Path, name: str, operations: list[Operation], made_for: list[str] | None, replace: Replace
) -> str:
    """Bring one file up to date; the name of what was written, "" for nothing. Nothing is written into a file that is
    broken: what would have been added to it goes into a new one beside it. Raises OSError."""
    path = knowledge / name
    for _ in range(ATTEMPTS):
        try:
            data: bytes | None = files.read_file(path).data
        except FileNotFoundError:
            data = None
        if data is None and made_for is None:
            return ""  # the user has taken the whole file away meanwhile
        if data is not None and why_broken(data)[0]:
            return _change_beside(knowledge, name, operations, replace)
        day = next((str(row["day"]) for row in operations if row["op"] == "date"), "")
        text = new_file_text(made_for[0], made_for[1], day) if data is None and made_for else (data or b"").decode()
        new = apply_operations(text, operations).encode("utf-8")
        if data is None:
            files.make_folder(path.parent)
            try:
                files.create_atomic(path, new)
            except FileExistsError:
                continue
            files.sync_folder(path.parent)
            return name
        if new == data:
            return ""
        bare = any(row["op"] == "remove" for row in operations) and is_bare(new)
        if replace(path, None if bare else new, data):
            if bare:
                folder = path.parent  # a repository of which nothing is known any more needs none
                while folder != knowledge and files.remove_if_empty(folder):
                    folder = folder.parent
            return name
    raise OSError(errno.EBUSY, "another program keeps saving the file", str(path))


def _change_beside(knowledge: Path, name: str, operations: list[Operation], replace: Replace) -> str:
    """Add what a broken file should have got to `NAME-2.yaml` and so on, the first that is whole or not there yet."""
    added = [row for row in operations if row["op"] in ("add", "date")]
    first = next((row["fact"] for row in added if row["op"] == "add"), None)
    if first is None:
        return ""
    stem, number = name.removesuffix(".yaml").removesuffix(".yml"), 2
    while files.exists(knowledge / f"{stem}-{number}.yaml") and read_at(knowledge, f"{stem}-{number}.yaml").broken:
        number += 1
    return _change(knowledge, f"{stem}-{number}.yaml", added, [first["domain"], first["category"]], replace)


def _unchanged(plan: Plan, found: FactFiles) -> list[str]:
    """Facts whose new values do not stand in their files."""
    rows = [row for operations in plan.operations.values() for row in operations if row["op"] == "set"]
    placed = [(row, found.placed.get(row["id"])) for row in rows]
    return [
        str(row["id"])
        for row, one in placed
        if one is not None and any(one.item.fields.get(key) == row["from"].get(key) for key in row["to"])
    ]
