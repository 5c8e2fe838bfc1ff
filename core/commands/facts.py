"""`knowledge facts`: the fact index, looked at, checked, brought up to date, put before a conversation.

A change goes into the YAML file, can be taken back with `knowledge undo`, and reaches the index at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.choices import FACT_CATEGORIES
from core.base.entry import Entry
from core.base.project import GLOBAL, is_below
from core.base.result import ErrorInfo, KnowledgeError, attempt, disk_errors
from core.base.secrets.redact import redact
from core.commands.fact_feed import left_out, lines_too_long, sync_facts
from core.commands.fact_follow import LINE_STAYS, bullets_told
from core.commands.row import flag, group, listed, option, optional, repeated, single, whole_number
from core.commands.text import count
from core.commands.workspace import Clock, Workspace, utc_now
from core.factindex import index
from core.factindex.bootstrap import BUDGET, Bootstrap, choose
from core.factindex.edits import differing, with_values
from core.factindex.facts import DAMAGE, ENDINGS, Fact, Problem, check, entries, sort_key
from core.factindex.held import hold, read_known
from core.factindex.places import Placed, read_all, read_one, together
from core.factindex.sync import SyncReport, project
from core.knowledge.edit import Edited, change_file
from core.knowledge.hunks import Hunk, made
from core.knowledge.projects import domains_in, here_in, known_projects


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
        rows = [problem.to_json() for problem in self.problems]
        counts = {"path": self.path, "facts": self.facts, "files": self.files, "too_long": list(self.too_long)}
        return {"valid": not rows, **counts, "problems": rows}


@dataclass(frozen=True)
class FactList:
    """Facts that fit what was asked for."""

    facts: tuple[Fact, ...]
    warnings: tuple[str, ...] = ()

    def to_json(self) -> list[dict[str, Any]]:
        """The list of `knowledge facts list --json`."""
        return [row.to_json() for row in self.facts]


# --- reading ---------------------------------------------------------------------------------------------------------


def current_facts(workspace: Workspace, now: datetime) -> tuple[list[Fact], list[Problem]]:
    """All facts as the YAML files have them now, aged as in the index, in its order; nothing is written. What a user
    has edited shows at once, and a missing index.json is no loss."""
    with disk_errors("facts-unreadable", "the facts cannot be read"):
        bullets, _ = bullets_told(workspace.paths)
        facts, found, _ = project(workspace.paths.knowledge, workspace.paths.state, now, bullets)
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
    facts, problems = current_facts(workspace, now())
    facts = [fact for fact in facts if fact.stale or not stale]
    facts = [fact for fact in facts if category in ("", fact.category) and (not tag or tag in fact.tags)]
    chosen = tuple(fact for fact in facts if not domains or fact.domain in domains)
    return FactList(chosen, tuple(left_out(problems)))


def bootstrap(workspace: Workspace, domains: Sequence[str] = (), *, budget: int | None = None) -> Bootstrap:
    """The facts that a new conversation starts with: those of `domains` (none given: of the repository around the
    current folder) and the global ones."""
    if budget is not None and budget < 0:
        raise KnowledgeError("usage", f"--budget cannot be {budget}")
    return _bootstrap(workspace, domains, BUDGET if budget is None else budget)[0]


def _bootstrap(workspace: Workspace, domains: Sequence[str], budget: int) -> tuple[Bootstrap, list[Problem]]:
    wanted = tuple(dict.fromkeys((*(domains or _domains_around(workspace, workspace.cwd)), GLOBAL)))
    facts, problems = current_facts(workspace, utc_now())
    clean = (lambda text: redact(text).text) if workspace.config.redact else str
    return choose(facts, wanted, budget, clean), problems


def _domains_around(workspace: Workspace, folder: Path) -> tuple[str, ...]:
    """The domains of the project that a folder belongs to. Raises KnowledgeError for a ledger that cannot be read."""
    known = known_projects(workspace.paths, workspace.environment)
    here = here_in(os.path.abspath(folder), known, workspace.environment)
    return domains_in(here, known)


def facts_for_context(
    workspace: Workspace, project: Path | None = None, *, users_only: bool = False
) -> tuple[str, str]:
    """What `knowledge context` puts behind the digest when `bootstrap_facts` is on, "" for no facts; and a sentence
    about why they cannot be had, "" for nothing."""
    inside = project is None or is_below(os.path.abspath(workspace.cwd), str(project))
    asked = workspace.cwd if inside or project is None else project
    try:
        around = (GLOBAL,) if users_only else _domains_around(workspace, asked)
        chosen, problems = _bootstrap(workspace, around, BUDGET)
    except KnowledgeError as failed:
        return "", f"the conversation starts without the facts: {failed.error}"
    broken = next((str(problem.error) for problem in problems if problem.code in DAMAGE), "")
    return chosen.text, f"the conversation starts without some of the facts: {broken}" if broken else ""


def entries_of_file(path: Path, data: bytes) -> Sequence[Entry]:
    """The valid facts of one YAML file as rows for the search. Raises KnowledgeError when it is broken."""
    read = read_one(path.name, data)
    if read.broken:
        raise KnowledgeError("facts-unreadable", read.problems[0].message, path)
    return list(entries((row.fact for row in read.placed), str(path)))


# --- validation ------------------------------------------------------------------------------------------------------


def validate(workspace: Workspace, path: str = "") -> Validation:
    """Check a YAML file, an index.json, or a knowledge folder with both; without a path the home's own."""
    place = workspace.cwd / os.path.expanduser(path) if path else workspace.paths.knowledge
    with disk_errors("facts-unreadable", "it cannot be read", place):
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


# --- changing one ----------------------------------------------------------------------------------------------------


def delete_fact(workspace: Workspace, fact_id: str, *, now: Clock = utc_now) -> Edited:
    """Take a fact out of its file. No harvest brings it back; `knowledge undo` does."""
    placed = _placed(workspace, fact_id)
    return _finished(workspace, _change(workspace, placed, None, now()), now)


def confirm_fact(workspace: Workspace, fact_id: str, *, now: Clock = utc_now) -> Edited:
    """The fact still holds, as of today: its day of expiry goes where that has passed."""
    placed, today = _placed(workspace, fact_id), now().astimezone(UTC).date().isoformat()
    expired = bool(placed.fact.expires) and placed.fact.expires < today
    values = {"last_confirmed": today} | ({"expires": None} if expired else {})
    return _finished(workspace, _change(workspace, placed, values, now()), now)


def _placed(workspace: Workspace, fact_id: str) -> Placed:
    with disk_errors("facts-unreadable", "the facts cannot be read", hint="mend the file"):
        found = read_all(workspace.paths.knowledge)
    placed = found.placed.get(fact_id)
    if placed is not None:
        return placed
    if fact_id in found.taken:
        raise KnowledgeError("not-valid", f"{fact_id} is not valid", hint="'knowledge facts validate' tells why")
    from rapidfuzz import process  # for this mistake alone

    near = process.extractOne(fact_id, list(found.placed), score_cutoff=60)
    hint = f"the nearest id is {near[0]}" if near is not None else "'knowledge facts list' shows their ids"
    raise KnowledgeError("no-match", f"there is no fact {fact_id!r}", hint=hint)


def _change(workspace: Workspace, placed: Placed, values: Mapping[str, Any] | None, moment: datetime) -> Edited:
    """Other values for a fact, or (None) the fact taken out, in the file as it is at that moment."""

    def hunks(lines: list[str]) -> list[Hunk]:
        read = read_one(placed.file, "".join(lines).encode("utf-8"))
        here = next((row for row in read.placed if row.fact.id == placed.fact.id), None)
        if here is None or here.fact != placed.fact:
            message = f"{placed.fact.id} has changed since you saw it"
            raise KnowledgeError("changed-outside", message, placed.file, "look again")
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

    return change_file(workspace.paths, placed.file, hunks, moment)


def _finished(workspace: Workspace, edited: Edited, now: Clock) -> Edited:
    """Bring the index up to date after a change; when that fails the change stands, with a warning."""
    done = attempt(sync_facts, workspace, run=edited.run, now=now)
    if isinstance(done, KnowledgeError):
        notes = [f"the index is not up to date yet: {done.error}"]
    else:
        notes = [note for note in done.value.notes if note.startswith(LINE_STAYS)]
    return replace(edited, warning="; ".join(filter(None, (edited.warning, *notes))))


# --- at the command line --------------------------------------------------------------------------------------------


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


def list_text(found: FactList) -> str:
    """A fact a line."""
    width = max((len(fact.id) for fact in found.facts), default=0)
    rows = []
    for fact in found.facts:
        marks = "[stale] " * fact.stale + "[file unreadable] " * fact.unread
        marks += f"{fact.source_count}x " if (fact.source_count or 0) > 1 else ""
        rows.append(f"{fact.id:<{width}}  {fact.confidence:<6g} {marks}{fact.fact}")
    return "\n".join([*rows, count(len(found.facts), "fact")]) + "\n"


_DOMAIN = repeated("--domain", "a repository, an agent or global (repeatable)", "NAME", dest="domains", default=[])


COMMANDS = (
    group(
        "facts",
        "list --category pitfall",
        single(
            "list",
            "the facts",
            "--category pitfall",
            list_facts,
            list_text,
            _DOMAIN,
            option("--category", listed(FACT_CATEGORIES), "C", choices=FACT_CATEGORIES),
            option("--tag", "only facts with this tag", "T"),
            flag("--stale", "only facts that have expired"),
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
    ),
)
