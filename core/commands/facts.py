"""`knowledge facts`: the fact index, looked at, checked, brought up to date, put before a conversation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.repository import GLOBAL, domain_of
from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.base.search_entry import SearchEntry
from core.base.secrets.redact import redact
from core.commands import fact_feed
from core.commands.fact_feed import lines_too_long
from core.commands.workspace import Workspace, utc_now
from core.factindex import index
from core.factindex.bootstrap import BUDGET, choose, from_index
from core.factindex.bootstrap import Bootstrap as Bootstrap
from core.factindex.edits import item_text
from core.factindex.facts import CATEGORIES, DAMAGE, entries, sort_key
from core.factindex.facts import Fact as Fact
from core.factindex.facts import Problem as Problem
from core.factindex.held import hold, read_known
from core.factindex.places import ENDINGS, read_all, read_one, together
from core.factindex.similar import Pair as Pair
from core.factindex.similar import similar_pairs as similar_pairs
from core.factindex.sync import SyncReport as SyncReport
from core.factindex.sync import project
from core.knowledge.projects import is_inside

FEW = 5
"""So many damaged files are named one by one."""


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
    now: Callable[[], datetime] = utc_now,
) -> Result[FactList]:
    """`knowledge facts list`: the facts that are asked for in a `format`, or (`similar`) the pairs of them that are
    alike."""
    if similar and format:
        return fail("usage", "--similar and --format cannot be used together")
    listed = list_facts(workspace, domains, category, tag, stale=stale, now=now)
    if isinstance(listed, Err):
        return listed
    found = replace(listed.value, format=format or "text")
    return Ok(replace(found, pairs=tuple(similar_pairs(found.facts))) if similar else found)


# --- reading ---------------------------------------------------------------------------------------------------------


def current_facts(workspace: Workspace, now: datetime) -> Result[tuple[list[Fact], list[Problem]]]:
    """All facts as the YAML files have them now, aged as in the index, in its order; nothing is written. What a person
    has edited shows at once, and a missing index.json is no loss."""
    if fact_feed.unchanged(workspace, now) is not None:
        whole = index.read_index(workspace.paths.knowledge)
        if isinstance(whole, Ok):
            return Ok((whole.value, []))
    try:
        facts, found, _ = project(workspace.paths.knowledge, workspace.paths.state, now)
    except OSError as error:
        return fail("facts-unreadable", f"the facts cannot be read: {error.strerror}", error.filename or "")
    return Ok((sorted(facts, key=sort_key), found.problems))


def list_facts(
    workspace: Workspace,
    domains: Sequence[str] = (),
    category: str = "",
    tag: str = "",
    *,
    stale: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> Result[FactList]:
    """The facts of these domains, of a category, with a tag, or (`stale`) only those that have expired."""
    if category and category not in CATEGORIES:
        return fail("no-category", f"there is no category {category!r}", hint=f"choose one of {', '.join(CATEGORIES)}")
    read = current_facts(workspace, now())
    if isinstance(read, Err):
        return read
    facts, problems = read.value
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
    return Ok(FactList(chosen, warnings=tuple(warnings + [left_out] * bool(number))))


def bootstrap(
    workspace: Workspace,
    domains: Sequence[str] = (),
    *,
    budget: int | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Bootstrap]:
    """The facts that a new conversation starts with: those of `domains` (none given: of the repository around the
    current folder) and the global ones. Read from index.json, which is what it is for; from the YAML files where that
    is missing or damaged."""
    if budget is not None and budget < 0:
        return fail("usage", f"--budget cannot be {budget}")
    chosen = _bootstrap(workspace, domains, BUDGET if budget is None else budget, now())
    return chosen if isinstance(chosen, Err) else Ok(chosen.value[0])


def _bootstrap(
    workspace: Workspace, domains: Sequence[str], budget: int, now: datetime
) -> Result[tuple[Bootstrap, list[Problem]]]:
    wanted = tuple(dict.fromkeys((*(domains or (domain_of(str(workspace.cwd)),)), GLOBAL)))
    secrets = workspace.config.redact
    read = from_index(workspace.paths.knowledge, wanted, now, budget, secrets=secrets)
    if isinstance(read, Ok):
        return Ok((read.value, []))
    computed = current_facts(workspace, now)
    if isinstance(computed, Err):
        return computed
    facts, problems = computed.value
    return Ok((choose(facts, wanted, budget, lambda text: redact(text).text if secrets else text), problems))


def facts_for_context(workspace: Workspace, project: Path | None = None) -> tuple[str, str]:
    """What `knowledge context` puts behind the digest when `bootstrap_facts` is on, "" otherwise or for no facts; and a
    sentence about why they cannot be had, "" for nothing."""
    if not workspace.config.bootstrap_facts:
        return "", ""
    # Below a project there may be a repository of its own, or a folder in which conversations worked.
    inside = project is None or is_inside(os.path.abspath(workspace.cwd), str(project))
    around = [str(workspace.cwd)] * inside + [str(project)] * (project is not None)
    chosen = _bootstrap(workspace, tuple(dict.fromkeys(map(domain_of, around))), BUDGET, utc_now())
    if isinstance(chosen, Err):
        return "", f"the conversation starts without the facts: {chosen.error}"
    broken = next((str(problem.error) for problem in chosen.value[1] if problem.code in DAMAGE), "")
    problem = f"the conversation starts without some of the facts: {broken}" if broken else ""
    return chosen.value[0].text, problem


def entries_of_file(path: Path, data: bytes) -> Result[Sequence[SearchEntry]]:
    """The valid facts of one YAML file as rows for the search. Err when it is broken."""
    read = read_one(path.name, data)
    if read.broken:
        return fail("facts-unreadable", read.problems[0].message, path)
    return Ok(list(entries((row.fact for row in read.placed), str(path))))


def fact_yaml(fact: Fact) -> str:
    """A fact as an item of a YAML list."""
    return item_text(fact)


# --- validation ------------------------------------------------------------------------------------------------------


def validate(workspace: Workspace, path: str = "") -> Result[Validation]:
    """Check a YAML file, an index.json, or a knowledge folder with both; without a path the home's own."""
    place = workspace.cwd / os.path.expanduser(path) if path else workspace.paths.knowledge
    try:
        if not path and not files.exists(place):
            return Ok(Validation(str(place), 0, 0, ()))  # nothing there yet is nothing wrong
        if place.is_dir():
            own = place.resolve() == workspace.paths.knowledge.resolve()
            long = () if path else tuple(lines_too_long(workspace.paths))
            return Ok(replace(_validate_folder(place, workspace.paths.state if own else None), too_long=long))
        if place.suffix in ENDINGS:
            read = together([read_one(place.name, files.read_file(place).data)])
            return Ok(Validation(str(place), len(read.placed), 1, tuple(read.problems)))
        if place.suffix == ".json":
            number, problems = index.validate_index(place.name, files.read_file(place).data)
            return Ok(Validation(str(place), number, 1, tuple(problems)))
    except OSError as error:
        return fail("facts-unreadable", f"it cannot be read: {error.strerror}", place)
    return fail("usage", "this is neither a folder, a .yaml file nor an index.json", place)


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
