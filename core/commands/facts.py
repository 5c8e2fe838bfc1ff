"""`knowledge facts`: the fact index, looked at, checked, brought up to date, put before a conversation;
and what a person does to single facts: change, delete, merge, renumber.

A change goes into the YAML file, is refused when that is no longer the one that was seen (`seen`, its sha256), can be
taken back with `knowledge undo`, and reaches the index at once.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from rapidfuzz import process

from core.base import files
from core.base.checked_lines import Record
from core.base.choices import FACT_CATEGORIES, FACT_FORMATS
from core.base.markdown import sanitise_line
from core.base.project import GLOBAL, is_below
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.base.search_entry import SearchEntry
from core.base.secrets.redact import redact
from core.commands import fact_feed
from core.commands.fact_feed import lines_too_long, sync_facts, with_facts
from core.commands.row import flag, group, listed, needed, option, optional, repeated, single, whole_number
from core.commands.text import count
from core.commands.workspace import Clock, Workspace, utc_now, without_secrets
from core.factindex import index
from core.factindex.bootstrap import BUDGET, choose, from_index
from core.factindex.bootstrap import Bootstrap as Bootstrap
from core.factindex.edits import differing, item_text, with_values
from core.factindex.facts import CATEGORIES, DAMAGE, DISK_FAILED, check, entries, mark_of, sort_key
from core.factindex.facts import Fact as Fact
from core.factindex.facts import Problem as Problem
from core.factindex.held import hold, read_known
from core.factindex.listing import ENDINGS
from core.factindex.places import FactFiles, Placed, read_all, read_one, together
from core.factindex.record import append_records, unconfirmed
from core.factindex.reunite import Renumbered, changed_text, parted, plan_renumbering, retired_id
from core.factindex.similar import Pair as Pair
from core.factindex.similar import similar_pairs as similar_pairs
from core.factindex.sync import SyncReport as SyncReport
from core.factindex.sync import project, record_path
from core.knowledge.edit import Edited, change_file, new_edit_run, read_editable
from core.knowledge.hunks import Hunk, becoming, made
from core.knowledge.projects import domains_in, here_in, known_projects

FEW = 5
"""So many damaged files are named one by one."""
fact_yaml = item_text
"""A fact as an item of a YAML list."""


@dataclass(frozen=True)
class Validation:
    """What `facts validate` found: how many facts are valid in how many files, and every problem."""

    path: str
    facts: int
    files: int
    problems: tuple[Problem, ...]
    too_long: tuple[str, ...] = ()
    """FILE:LINE of the lines of the category files that do not fit into a fact."""

    @property
    def errors(self) -> list[ErrorInfo]:
        """One sentence for each problem: with any, the command ends with 1."""
        return [problem.error for problem in self.problems]

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge facts validate --json`."""
        rows = [problem.to_json() for problem in self.problems]
        counts = {"path": self.path, "facts": self.facts, "files": self.files, "too_long": list(self.too_long)}
        return {"valid": not rows, **counts, "problems": rows}


@dataclass(frozen=True)
class FactList:
    """Facts that fit what was asked for, or pairs that are alike; `format` is how they should be shown."""

    facts: tuple[Fact, ...]
    pairs: tuple[Pair, ...] | None = None
    format: str = "text"
    warnings: tuple[str, ...] = ()

    def to_json(self) -> list[dict[str, Any]]:
        """The list of `knowledge facts list --json`."""
        return [row.to_json() for row in (self.facts if self.pairs is None else self.pairs)]


def facts_list(
    workspace: Workspace,
    domains: Sequence[str] = (),
    *,
    category: str = "",
    tag: str = "",
    stale: bool = False,
    similar: bool = False,
    format: str = "",
    now: Clock = utc_now,
) -> FactList:
    """`knowledge facts list`: the facts that are asked for in a `format`, or (`similar`) the pairs of them that are
    alike."""
    if similar and format:
        raise KnowledgeError("usage", "--similar and --format cannot be used together")
    listed = list_facts(workspace, domains, category, tag, stale=stale, now=now)
    found = replace(listed, format=format or "text")
    return replace(found, pairs=tuple(similar_pairs(found.facts))) if similar else found


# --- reading ---------------------------------------------------------------------------------------------------------


def current_facts(workspace: Workspace, now: datetime) -> tuple[list[Fact], list[Problem]]:
    """All facts as the YAML files have them now, aged as in the index, in its order; nothing is written. What a person
    has edited shows at once, and a missing index.json is no loss."""
    if fact_feed.unchanged(workspace, now) is not None:
        with contextlib.suppress(KnowledgeError):
            return index.read_index(workspace.paths.knowledge), []
    try:
        facts, found, _ = project(workspace.paths.knowledge, workspace.paths.state, now)
    except OSError as error:
        raise KnowledgeError(
            "facts-unreadable", f"the facts cannot be read: {error.strerror}", error.filename or ""
        ) from error
    return sorted(facts, key=sort_key), found.problems


def list_facts(
    workspace: Workspace,
    domains: Sequence[str] = (),
    category: str = "",
    tag: str = "",
    *,
    stale: bool = False,
    now: Clock = utc_now,
) -> FactList:
    """The facts of these domains, of a category, with a tag, or (`stale`) only those that have expired."""
    if category and category not in CATEGORIES:
        raise KnowledgeError(
            "no-category", f"there is no category {category!r}", hint=f"choose one of {', '.join(CATEGORIES)}"
        )
    facts, problems = current_facts(workspace, now())
    chosen = tuple(
        fact
        for fact in facts
        if (not domains or fact.domain in domains)
        and (not category or fact.category == category)
        and (not tag or tag in fact.tags)
        and (not stale or fact.stale)
    )
    warnings = [str(problem.error.message) for problem in problems if problem.code in DAMAGE]
    if len(warnings) > FEW:
        warnings[FEW:] = [f"and {len(warnings) - FEW} more ('knowledge facts validate' lists them)"]
    number = len({(problem.file, problem.line) for problem in problems if problem.code not in DAMAGE})
    left_out = f"{number} item{'s' * (number != 1)} left out as not valid ('knowledge facts validate' tells why)"
    return FactList(chosen, warnings=tuple(warnings + [left_out] * bool(number)))


def bootstrap(
    workspace: Workspace, domains: Sequence[str] = (), *, budget: int | None = None, now: Clock = utc_now
) -> Bootstrap:
    """The facts that a new conversation starts with: those of `domains` (none given: of the repository around the
    current folder) and the global ones. Read from index.json, which is what it is for; from the YAML files where that
    is missing or damaged."""
    if budget is not None and budget < 0:
        raise KnowledgeError("usage", f"--budget cannot be {budget}")
    return _bootstrap(workspace, domains, BUDGET if budget is None else budget, now())[0]


def _bootstrap(
    workspace: Workspace, domains: Sequence[str], budget: int, now: datetime
) -> tuple[Bootstrap, list[Problem]]:
    if not domains:
        domains = domains_around(workspace, workspace.cwd)
    wanted = tuple(dict.fromkeys((*domains, GLOBAL)))
    secrets = workspace.config.redact
    with contextlib.suppress(KnowledgeError):
        return from_index(workspace.paths.knowledge, wanted, now, budget, secrets=secrets), []
    facts, problems = current_facts(workspace, now)
    return choose(facts, wanted, budget, lambda text: redact(text).text if secrets else text), problems


def domains_around(workspace: Workspace, folder: Path) -> tuple[str, ...]:
    """The domains of the project that a folder belongs to. Raises KnowledgeError for a ledger that cannot be read."""
    known = known_projects(workspace.paths, workspace.environment)
    here = here_in(os.path.abspath(folder), known, workspace.environment)
    return domains_in(here, known)


def facts_for_context(
    workspace: Workspace, project: Path | None = None, *, users_only: bool = False
) -> tuple[str, str]:
    """What `knowledge context` puts behind the digest when `bootstrap_facts` is on, "" otherwise or for no facts; and a
    sentence about why they cannot be had, "" for nothing."""
    if not workspace.config.bootstrap_facts:
        return "", ""
    inside = project is None or is_below(os.path.abspath(workspace.cwd), str(project))
    asked = workspace.cwd if inside or project is None else project
    try:
        around = (GLOBAL,) if users_only else domains_around(workspace, asked)
        chosen, problems = _bootstrap(workspace, around, BUDGET, utc_now())
    except KnowledgeError as failed:
        return "", f"the conversation starts without the facts: {failed.error}"
    broken = next((str(problem.error) for problem in problems if problem.code in DAMAGE), "")
    return chosen.text, f"the conversation starts without some of the facts: {broken}" if broken else ""


def entries_of_file(path: Path, data: bytes) -> Sequence[SearchEntry]:
    """The valid facts of one YAML file as rows for the search. Raises KnowledgeError when it is broken."""
    read = read_one(path.name, data)
    if read.broken:
        raise KnowledgeError("facts-unreadable", read.problems[0].message, path)
    return list(entries((row.fact for row in read.placed), str(path)))


# --- validation ------------------------------------------------------------------------------------------------------


def validate(workspace: Workspace, path: str = "") -> Validation:
    """Check a YAML file, an index.json, or a knowledge folder with both; without a path the home's own."""
    place = workspace.cwd / os.path.expanduser(path) if path else workspace.paths.knowledge
    try:
        if not path and not files.exists(place):
            return Validation(str(place), 0, 0, ())  # nothing there yet is nothing wrong
        if place.is_dir():
            own = place.resolve() == workspace.paths.knowledge.resolve()
            long = () if path else tuple(lines_too_long(workspace.paths))
            return replace(_validate_folder(place, workspace.paths.state if own else None), too_long=long)
        if place.suffix in ENDINGS:
            read = together([read_one(place.name, files.read_file(place).data)])
            return Validation(str(place), len(read.placed), 1, tuple(read.problems))
        if place.suffix == ".json":
            number, problems = index.validate_index(place.name, files.read_file(place).data)
            return Validation(str(place), number, 1, tuple(problems))
    except OSError as error:
        raise KnowledgeError("facts-unreadable", f"it cannot be read: {error.strerror}", place) from error
    raise KnowledgeError("usage", "this is neither a folder, a .yaml file nor an index.json", place)


def _validate_folder(folder: Path, state: Path | None) -> Validation:
    """A folder; with the `state` of the store that it is, also whether facts are missed that the last sync saw."""
    read = read_all(folder)
    if state is not None:
        hold(folder, read, read_known(state))
    number, problems = len(read.by_name), list(read.problems)
    data = files.read_or_empty(folder / index.NAME)
    if data:
        number += 1
        problems += index.validate_index(index.NAME, data)[1]
    return Validation(str(folder), len(read.placed), number, tuple(problems))


# --- what a person does to single facts -------------------------------------------------------------------------------

BY_HAND = "to write them as they are, change the YAML file in a text editor"
EDITABLE = ("fact", "confidence", "tags", "expires", "related")


@dataclass(frozen=True)
class FactRow:
    """One fact for a window: as it stands in the index (`fact`), its confidence as written (`stated`), where it stands,
    the sha256 of that file as it was seen, and how many conversations were harvested since it was last confirmed."""

    fact: Fact
    stated: float
    file: str
    line: int
    sha256: str
    unconfirmed: int

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {**vars(self), "fact": self.fact.to_json()}


@dataclass(frozen=True)
class FactsView:
    """All facts in the order of the index, and what keeps items out of it."""

    rows: tuple[FactRow, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Merged:
    """Two facts became one: `into` as it is now, `gone` as it was. `run` takes it back."""

    into: Fact
    gone: Fact
    run: str
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge facts merge --json`."""
        return {**vars(self), "into": self.into.to_json(), "gone": self.gone.to_json(), "warning": self.warning or None}


def facts_view(workspace: Workspace, *, now: Clock = utc_now) -> FactsView:
    """What a window shows. Reads only."""
    try:
        facts, found, history = project(workspace.paths.knowledge, workspace.paths.state, now())
    except OSError as error:
        raise _unreadable(error) from error
    rows = []
    for fact in sorted((fact for fact in facts if not fact.unread), key=sort_key):
        placed = found.placed[fact.id]
        sha = found.by_name[placed.file].sha256
        rows.append(FactRow(fact, placed.fact.confidence, placed.file, placed.line, sha, unconfirmed(fact.id, history)))
    return FactsView(tuple(rows), tuple(found.problems))


def edit_fact(
    workspace: Workspace, fact_id: str, values: Mapping[str, Any], *, seen: str | None = None, now: Clock = utc_now
) -> Edited:
    """Give a fact other words, confidence, tags, expiry or related ids (EDITABLE). Everything else in its file stays.
    Secrets in new words are replaced and reported as the warning, unless the setting `redact` is off.

    Raises KnowledgeError for a value that is not allowed (the same validations as everywhere), or a file that has
    changed since `seen`.
    """
    unknown = [key for key in values if key not in EDITABLE]
    if unknown:
        raise KnowledgeError(
            "bad-field", f"{unknown[0]} cannot be edited here", hint=f"choose one of {', '.join(EDITABLE)}"
        )
    placed = _placed(workspace, fact_id)
    wanted, notice = dict(values), ""
    if isinstance(wanted.get("fact"), str):
        words = sanitise_line(wanted["fact"], None).removeprefix("\\")
        wanted["fact"], notice = without_secrets(workspace, words, False, BY_HAND)
    return _finished(workspace, _change(workspace, placed, wanted, now(), seen), now, notice)


def delete_fact(workspace: Workspace, fact_id: str, *, seen: str | None = None, now: Clock = utc_now) -> Edited:
    """Take a fact out of its file. No harvest brings it back; `knowledge undo` does."""
    placed = _placed(workspace, fact_id)
    return _finished(workspace, _change(workspace, placed, None, now(), seen), now)


def merge_facts(workspace: Workspace, keep: str, gone: str, *, seen: str | None = None, now: Clock = utc_now) -> Merged:
    """Make `gone` a part of `keep`: confirmations added up, tags and related ids joined, the surer confidence, the
    earlier first and the later last date. The id of `gone` stays as a related one, and what its words say in later
    conversations confirms `keep`. Both words stand in the history: `knowledge undo` brings `gone` back."""
    if keep == gone:
        raise KnowledgeError("usage", "a fact cannot be merged with itself", hint="give the ids of two facts")
    first = _placed(workspace, keep)
    second = _placed(workspace, gone)
    a, b = first.fact, second.fact
    values: dict[str, Any] = {"related": _joined(a.related, (b.id, *b.related), a.id)}
    if b.id not in a.related:  # else a crash came between the two steps: the counts are added up already
        counts = (a.source_count, b.source_count)
        values |= {
            "confidence": max(a.confidence, b.confidence),
            "tags": _joined(a.tags, b.tags, ""),
            "source_count": sum(1 if one is None else one for one in counts),
            "first_seen": min(filter(None, (a.first_seen, b.first_seen)), default=""),
            "last_confirmed": max(a.last_confirmed, b.last_confirmed),
        }
    read_editable(workspace.paths, second.file)
    run, moment = new_edit_run(now()), now()
    try:
        _change(workspace, first, values, moment, seen, run)
    except KnowledgeError as failed:
        if failed.error.code != "unchanged":  # that is how the crash left it
            raise
    # After the first step, so that a refused merge is none; before the second, so that no harvest in between takes the
    # words of `gone` for ones that a person has deleted.
    record: Record = {"t": "merged", "from": b.id, "into": a.id}
    with_facts(workspace.paths, lambda: append_records(record_path(workspace.paths.state), [record]))
    again = _placed(workspace, gone)
    removed = _finished(workspace, _change(workspace, again, None, moment, None, run), now)
    kept = attempt(_placed, workspace, keep)
    return Merged(kept.value.fact if isinstance(kept, Ok) else a, b, run, removed.warning)


def _joined(one: tuple[str, ...], other: tuple[str, ...], without: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in (*one, *other) if name != without))


# --- numbers that stand twice ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Renumbering:
    """The facts that get another number (with `applied`: got it) because it stood twice. `parted` names the files with
    items that held both sides of a merge and become two; `references` counts facts that name both numbers from now on;
    `run` takes it back; `errors` tell of items that could not be changed."""

    rows: tuple[Renumbered, ...]
    references: int
    applied: bool
    run: str = ""
    warnings: tuple[str, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()
    parted: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge facts renumber --json`."""
        return {
            "parted": list(self.parted),
            "renumbered": [row.to_json() for row in self.rows],
            "references": self.references,
            "applied": self.applied,
            "run": self.run or None,
            "errors": [str(error) for error in self.errors],
        }


def renumber_facts(workspace: Workspace, apply: bool = False, *, now: Clock = utc_now) -> Renumbering:
    """Give every fact whose number stands twice one of its own, as two machines leave it that were merged through git.
    Without `apply` nothing is written. Raises KnowledgeError while a file is broken: the numbers in it are not
    known."""
    try:
        found = read_all(workspace.paths.knowledge)
    except OSError as error:
        raise _unreadable(error) from error
    broken = [problem for problem in found.problems if problem.code in ("broken-file", DISK_FAILED)]
    if broken:
        raise KnowledgeError(
            "facts-unreadable", f"nothing was renumbered: {broken[0].error.message}", hint="mend it first"
        )
    there = found.by_name
    whole = {name: text for name, read in there.items() if (text := parted(read.text)) != read.text}
    if whole:
        read_anew = (read_one(name, whole[name].encode()) if name in whole else read for name, read in there.items())
        found = together(read_anew, found.passed)
    plan = plan_renumbering(found)
    if not apply or not (plan.rows or whole):
        return Renumbering(tuple(plan.rows), plan.references, False, parted=tuple(sorted(whole)))
    run, moment = new_edit_run(now()), now()
    errors: list[ErrorInfo] = []
    records: list[Record] = [
        {
            "t": "renumbered",
            "from": row.old,
            "to": row.new,
            "mark": mark_of(row.fact),
            "retired": retired_id(row.old, row.new),
        }
        for row in plan.rows
        if row.new
    ]
    with_facts(workspace.paths, lambda: append_records(record_path(workspace.paths.state), records))
    for file in sorted({*plan.changes, *whole}):
        text, stuck = changed_text(found.by_name[file], plan.changes.get(file, ()))
        read = there[file]
        for line in stuck:
            message = f"{file}:{line}: this item cannot be changed without touching more; change it in a text editor"
            errors.append(ErrorInfo("not-editable", message))
        if text == read.text:
            continue
        hunks = partial(becoming, text)
        try:
            change_file(workspace.paths, file, hunks, moment, seen=read.sha256, run=run)
        except KnowledgeError as failed:
            errors.append(failed.error)
    warning = tuple(filter(None, [_synced(workspace, now)]))
    return Renumbering(tuple(plan.rows), plan.references, True, run, warning, tuple(errors), tuple(sorted(whole)))


def _synced(workspace: Workspace, now: Clock) -> str:
    """Bring the index up to date after a change, which stands also where this fails: then a sentence about it."""
    try:
        sync_facts(workspace, now=now)
    except KnowledgeError as failed:
        return f"the index is not up to date yet: {failed.error}"
    return ""


# --- one place in one file -------------------------------------------------------------------------------------------


def _placed(workspace: Workspace, fact_id: str) -> Placed:
    try:
        found = read_all(workspace.paths.knowledge)
    except OSError as error:
        raise _unreadable(error) from error
    placed = found.placed.get(fact_id)
    if placed is not None:
        return placed
    if fact_id in found.taken:
        raise KnowledgeError("not-valid", f"{fact_id} is not valid", hint="'knowledge facts validate' tells why")
    raise KnowledgeError("no-match", f"there is no fact {fact_id!r}", hint=_nearest(found, fact_id))


def _nearest(found: FactFiles, fact_id: str) -> str:

    near = process.extractOne(fact_id, list(found.placed), score_cutoff=60)
    return f"the nearest id is {near[0]}" if near is not None else "'knowledge facts list' shows their ids"


def _change(
    workspace: Workspace,
    placed: Placed,
    values: Mapping[str, Any] | None,
    moment: datetime,
    seen: str | None,
    run: str = "",
) -> Edited:
    """Other values for a fact, or (None) the fact taken out, in the file as it is at that moment."""

    def hunks(lines: list[str]) -> list[Hunk]:
        read = read_one(placed.file, "".join(lines).encode("utf-8"))
        here = next((row for row in read.placed if row.fact.id == placed.fact.id), None)
        if here is None or here.fact != placed.fact:
            raise KnowledgeError(
                "changed-outside", f"{placed.fact.id} has changed since you saw it", placed.file, "look again"
            )
        start = here.line - 1
        size = read.text.count("\n", here.item.start, here.item.end)
        size += not read.text.endswith("\n") and here.item.end == len(read.text)
        if values is None:
            return [made(lines, start, size, ())[1]]
        wrong = check({**here.fact._asdict(), **values})
        if wrong:
            raise KnowledgeError("bad-field", f"{placed.fact.id}: {wrong[0][1]}", placed.file)
        if not differing(here.item, values):
            raise KnowledgeError("unchanged", f"{placed.fact.id} says that already", placed.file)
        text = with_values(read.text, here.item, values)
        if text is None:
            message = f"{placed.fact.id} cannot be changed here without touching more of {placed.file}:{here.line}"
            raise KnowledgeError("not-editable", message, hint="change it there in a text editor")
        rows = [line + "\n" for line in text.split("\n")]
        last = rows.pop()[:-1]
        return [made(lines, start, size, [*rows, last] if last else rows)[1]]

    return change_file(workspace.paths, placed.file, hunks, moment, seen=seen, run=run)


def _finished(workspace: Workspace, edited: Edited, now: Clock, notice: str = "") -> Edited:
    """Bring the index up to date after a change; when that fails the change stands, with a warning behind `notice`."""
    return replace(edited, warning="; ".join(filter(None, (notice, edited.warning, _synced(workspace, now)))))


def _unreadable(error: OSError) -> KnowledgeError:
    where = str(error.filename or "")
    return KnowledgeError("facts-unreadable", f"the facts cannot be read: {error.strerror}", where, "mend the file")


# --- at the command line --------------------------------------------------------------------------------------------


KEYS = (
    "id", "fact", "category", "domain", "confidence", "tags", "source_count", "first_seen", "last_confirmed",
    "expires", "related", "stale", "unread",
)  # fmt: skip


_FORMULA = ("=", "+", "-", "@", "\t")


def bootstrap_text(value: Bootstrap) -> str:
    return value.text or f"no facts for {', '.join(value.domains)}\n"


def validation_text(found: Validation) -> str:
    number = len(found.problems)
    valid = f"{count(found.facts, 'valid fact')} in {count(found.files, 'file')}"
    rows = [f"{valid}, {count(number, 'problem')}" if number else f"{valid}, no problem"]
    if found.too_long:
        where = ", ".join(found.too_long)
        rows.append(f"note: {count(len(found.too_long), 'line')} longer than a fact may be, so no fact: {where}")
    return "\n".join(rows) + "\n"


def sync_text(report: SyncReport) -> str:
    rows = [
        f"facts: {report.new} new, {report.confirmed} confirmed, {report.taken_back} taken back, {report.total} in all"
        f" ({report.stale} stale, {report.decayed} faded)",
        f"index: {report.index}{'' if report.written else ' (unchanged)'}",
    ]
    if report.gone:
        rows.append(f"deleted by hand before, and left so: {report.gone}")
    rows += [f"stayed, because it was changed since: {name}" for name in report.stayed]
    return "\n".join(rows + [f"note: {note}" for note in report.notes]) + "\n"


def merged_text(merged: Merged) -> str:
    rows = [
        f"{merged.into.id}: {merged.into.fact}",
        f"  now holds {merged.gone.id}: {merged.gone.fact}",
        f"'knowledge undo {merged.run}' takes this back",
    ]
    return "\n".join(rows + [f"note: {merged.warning}"] * bool(merged.warning)) + "\n"


def renumbered_text(done: Renumbering) -> str:
    """What gets, or got, another number, and what to do next."""
    if not done.rows and not done.parted:
        return "every number stands once: nothing to do\n"
    rows = [f"both sides of a merge stood in one item, which becomes two ({file})" for file in done.parted]
    rows += [
        f"{row.old} -> {row.new or 'joined with the same words'}  {row.fact} ({row.file}:{row.line})"
        for row in done.rows
    ]
    if done.references:
        related = count(done.references, "fact")
        rows.append(f"{related} related to one of them: both are named, for it is not known which")
    end = f"'knowledge undo {done.run}' takes this back" if done.applied else "nothing was written; --apply does it"
    return "\n".join([*rows, end]) + "\n"


def list_text(found: FactList) -> str:
    """The facts in the format that was asked for, or the pairs that are alike."""
    if found.pairs is not None:
        rows = []
        for pair in found.pairs:
            rows += [f"{pair.likeness:.0f} of 100"]
            rows += [f"  {fact.id}  {fact.fact}" for fact in (pair.first, pair.second)]
        end = [f"{count(len(found.pairs), 'pair')}; 'knowledge facts merge A B' makes B a part of A"]
        return "\n".join(rows + end) + "\n"
    if found.format == "json":
        return json.dumps([fact.to_json() for fact in found.facts], indent=2, ensure_ascii=False) + "\n"
    if found.format == "yaml":
        return "".join(map(fact_yaml, found.facts)) or "[]\n"
    if found.format == "csv":
        return _csv(found.facts)
    if found.format == "md":
        return _markdown(found.facts)
    width = max((len(fact.id) for fact in found.facts), default=0)
    rows = [f"{fact.id:<{width}}  {fact.confidence:<6g} {_age(fact)}{fact.fact}" for fact in found.facts]
    return "\n".join([*rows, count(len(found.facts), "fact")]) + "\n"


def _age(fact: Fact) -> str:
    confirmed = f"{fact.source_count}x " if fact.source_count is not None and fact.source_count > 1 else ""
    return f"{'[stale] ' * fact.stale}{'[file unreadable] ' * fact.unread}{confirmed}"


def _marks(fact: Fact) -> str:
    return ", stale" * fact.stale + ", file unreadable" * fact.unread


def _csv(facts: tuple[Fact, ...]) -> str:
    """One row a fact. A text that a spreadsheet would run as a formula gets an apostrophe in front."""

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(KEYS)
    for fact in facts:
        row = fact.to_json()
        cells = [" ".join(cell) if isinstance(cell := row.get(key, ""), list) else str(cell) for key in KEYS]
        writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells])
    return out.getvalue()


def _markdown(facts: tuple[Fact, ...]) -> str:

    rows: list[str] = []
    for (domain, category), held in groupby(facts, key=lambda fact: (fact.domain, fact.category)):
        rows += [*[""] * bool(rows), f"## {domain}: {category}", ""]
        for fact in held:
            tags = f" ({', '.join(fact.tags)})" if fact.tags else ""
            rows.append(f"- {fact.fact} [{fact.id}, {fact.confidence:g}{_marks(fact)}]{tags}")
    return "\n".join(rows) + "\n" if rows else ""


_DOMAIN = repeated("--domain", "a repository, an agent or global (repeatable)", "NAME", dest="domains", default=[])


COMMANDS = (
    group(
        "facts",
        "the fact index: list, validate PATH, sync, bootstrap, merge ID ID, renumber",
        "list --category pitfall --format md",
        single(
            "list",
            "the facts, or the pairs of them that are alike",
            "--category pitfall --format md",
            facts_list,
            list_text,
            _DOMAIN,
            option("--category", listed(FACT_CATEGORIES), "C"),
            option("--tag", "only facts with this tag", "T"),
            flag("--stale", "only facts that have expired"),
            flag("--similar", "pairs of facts that nearly say the same"),
            option("--format", listed(FACT_FORMATS), "F", choices=FACT_FORMATS),
        ),
        single(
            "validate",
            "check the fact files, or one file or folder",
            "global.yaml",
            validate,
            validation_text,
            optional("path", "a YAML file, an index.json, or a folder with both (default: the knowledge folder)"),
        ),
        single(
            "sync",
            "bring the fact files, the record and the index together",
            "",
            sync_facts,
            sync_text,
            flag("--accept-removals", "let go of the facts of files that are broken or gone"),
        ),
        single(
            "bootstrap",
            "the facts that a new conversation starts with",
            "--domain global --budget 500",
            bootstrap,
            bootstrap_text,
            _DOMAIN,
            whole_number("--budget", "at most N tokens (default: 2000)"),
        ),
        single(
            "merge",
            "make the second of two facts a part of the first",
            "global:fact:001 global:fact:002",
            merge_facts,
            merged_text,
            needed("keep", "the id of the fact that stays", "ID"),
            needed("gone", "the id of the other", "OTHER"),
        ),
        single(
            "renumber",
            "give ids that stand twice, as after a merge, a number each",
            "--apply",
            renumber_facts,
            renumbered_text,
            flag("--apply", "write it (without: show what would be written)"),
        ),
    ),
)
