"""`knowledge facts`: the fact index of seed 5, looked at, checked, brought up to date, put before a conversation."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.redact import redact
from core.base.repository import GLOBAL, domain_of
from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.base.search_entry import SearchEntry
from core.commands import fact_cache
from core.commands.actions import Takes, not_taken
from core.commands.fact_feed import sync_facts
from core.commands.workspace import Workspace, utc_now
from core.factindex import index
from core.factindex.bootstrap import BUDGET, choose, from_index
from core.factindex.bootstrap import Bootstrap as Bootstrap
from core.factindex.edits import item_text
from core.factindex.entries import entries
from core.factindex.facts import CATEGORIES, sort_key
from core.factindex.facts import Fact as Fact
from core.factindex.facts import Problem as Problem
from core.factindex.places import ENDINGS, UnreadableError, read_all, read_one, together
from core.factindex.similar import Pair as Pair
from core.factindex.similar import similar_pairs as similar_pairs
from core.factindex.sync import SyncReport as SyncReport
from core.factindex.sync import project

_CHOSEN = ("--domain", "--category", "--tag", "--stale", "--similar")
TAKES: Takes = {
    "list": (*_CHOSEN, "--format"),
    "list --similar": _CHOSEN,
    "validate": (),
    "sync": (),
    "bootstrap": ("--domain", "--budget"),
    "merge": (),
}


@dataclass(frozen=True)
class Validation:
    """What `facts validate` found: how many facts are valid in how many files, and every problem."""

    path: str
    facts: int
    files: int
    problems: tuple[Problem, ...]

    @property
    def errors(self) -> list[ErrorInfo]:
        """One sentence for each problem: with any, the command ends with 1."""
        return [problem.error for problem in self.problems]

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge facts validate --json`."""
        rows = [problem.to_json() for problem in self.problems]
        return {"valid": not rows, "path": self.path, "facts": self.facts, "files": self.files, "problems": rows}


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


def facts_command(
    workspace: Workspace,
    action: str = "list",
    names: Sequence[str] = (),
    *,
    domain: Sequence[str] | None = None,
    category: str | None = None,
    tag: str | None = None,
    stale: bool = False,
    similar: bool = False,
    format: str | None = None,
    budget: int | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Any]:
    """`knowledge facts ACTION`. `names` are a PATH to validate, or the two ids to merge."""
    given = {"--domain": domain, "--category": category, "--tag": tag, "--stale": stale, "--similar": similar}
    row = "list --similar" if action == "list" and similar else action
    wrong = not_taken("facts", row, TAKES, {**given, "--format": format, "--budget": budget})
    if wrong is not None:
        return wrong
    most = {"validate": 1, "merge": 2}.get(action, 0)
    if len(names) > most or (action == "merge" and len(names) != 2):
        hint = {"merge": "give the ids of two facts: the first stays, the second becomes a part of it"}.get(action, "")
        return fail("usage", f"'knowledge facts {action}' takes {('no name', 'one path', 'two ids')[most]}", hint=hint)
    match action:
        case "validate":
            return validate(workspace, names[0] if names else "")
        case "sync":
            return sync_facts(workspace, now=now)
        case "bootstrap":
            return bootstrap(workspace, domain or (), budget=BUDGET if budget is None else budget, now=now)
        case "merge":
            from core.commands.fact_edits import merge_facts

            return merge_facts(workspace, names[0], names[1], now=now)
        case _:
            listed = list_facts(workspace, domain or (), category or "", tag or "", stale=stale, now=now)
            if isinstance(listed, Err):
                return listed
            found = replace(listed.value, format=format or "text")
            return Ok(replace(found, pairs=tuple(similar_pairs(found.facts))) if similar else found)


# --- reading ---------------------------------------------------------------------------------------------------------


def current_facts(workspace: Workspace, now: datetime) -> Result[tuple[list[Fact], list[Problem]]]:
    """All facts as the YAML files have them now, aged as in the index, in its order; nothing is written. What a person
    has edited shows at once, and a missing index.json is no loss."""
    if fact_cache.unchanged(workspace, now) is not None:
        whole = index.read_index(workspace.paths.knowledge)
        if isinstance(whole, Ok):
            return Ok((whole.value, []))
    try:
        facts, found, _ = project(workspace.paths.knowledge, workspace.paths.state, now)
    except UnreadableError as error:
        return _unreadable(error)
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
    number = len({(problem.file, problem.line) for problem in problems})
    told = f"{number} item{'s' * (number != 1)} left out as not valid ('knowledge facts validate' tells why)"
    return Ok(FactList(chosen, warnings=(told,) if problems else ()))


def bootstrap(
    workspace: Workspace,
    domains: Sequence[str] = (),
    *,
    budget: int = BUDGET,
    now: Callable[[], datetime] = utc_now,
) -> Result[Bootstrap]:
    """The facts that a new conversation starts with: those of `domains` (none given: of the repository around the
    current folder) and the global ones. Read from index.json, which is what it is for; from the YAML files where that
    is missing or damaged."""
    if budget < 0:
        return fail("usage", f"--budget cannot be {budget}")
    wanted = tuple(dict.fromkeys((*(domains or (domain_of(str(workspace.cwd)),)), GLOBAL)))
    secrets = workspace.config.redact
    read = from_index(workspace.paths.knowledge, wanted, now(), budget, secrets=secrets)
    if isinstance(read, Ok):
        return read
    computed = current_facts(workspace, now())
    if isinstance(computed, Err):
        return computed
    return Ok(choose(computed.value[0], wanted, budget, lambda text: redact(text).text if secrets else text))


def facts_for_context(workspace: Workspace, project: Path | None = None) -> tuple[str, str]:
    """What `knowledge context` puts behind the digest when `bootstrap_facts` is on, "" otherwise or for no facts; and a
    sentence about why they cannot be had, "" for nothing."""
    if not workspace.config.bootstrap_facts:
        return "", ""
    here = (project, workspace.cwd) if project is not None else (workspace.cwd,)
    chosen = bootstrap(workspace, [domain_of(str(folder)) for folder in here])
    if isinstance(chosen, Err):
        return "", f"the conversation starts without the facts: {chosen.error}"
    return chosen.value.text, ""


def entries_of_file(path: Path, data: bytes) -> Result[Sequence[SearchEntry]]:
    """The valid facts of one YAML file as rows for the search. Err when it is no text."""
    try:
        read = read_one(path.name, data)
    except UnreadableError as error:
        return _unreadable(error)
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
            return Ok(_validate_folder(place))
        if place.suffix in ENDINGS:
            read = together([read_one(place.name, files.read_file(place).data)])
            return Ok(Validation(str(place), len(read.placed), 1, tuple(read.problems)))
        if place.suffix == ".json":
            number, problems = index.validate_index(place.name, files.read_file(place).data)
            return Ok(Validation(str(place), number, 1, tuple(problems)))
    except UnreadableError as error:
        return _unreadable(error)
    except OSError as error:
        return fail("facts-unreadable", f"it cannot be read: {error.strerror}", place)
    return fail("usage", "this is neither a folder, a .yaml file nor an index.json", place)


def _validate_folder(folder: Path) -> Validation:
    read = read_all(folder)
    number, problems = len(read.by_name), list(read.problems)
    data = files.read_or_empty(folder / index.NAME)
    if data:
        number += 1
        problems += index.validate_index(index.NAME, data)[1]
    return Validation(str(folder), len(read.placed), number, tuple(problems))


def _unreadable(error: OSError) -> Err:
    message = f"a file of facts cannot be read: {error.strerror}"
    return fail("facts-unreadable", message, error.filename or "", "mend the file")
