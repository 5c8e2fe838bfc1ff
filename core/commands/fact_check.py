"""What `knowledge doctor` looks at in the fact index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from core.base import files
from core.base.result import Err
from core.commands.fact_feed import lines_too_long, sync_facts
from core.commands.workspace import Workspace, utc_now
from core.factindex import index
from core.factindex.facts import DAMAGE, FACT_CHARACTERS, sort_key
from core.factindex.sync import cut_off, project
from core.knowledge.check import Finding

NAMED = (*DAMAGE, "duplicate-id")
"""What the doctor calls damage; any other problem is a slip in one item."""
MOST_NAMED = 5


def check_facts(workspace: Workspace) -> Iterator[Finding]:
    """A sync that was cut, items that are not valid, an index that differs from its files. Writes nothing."""
    paths = workspace.paths
    place = paths.knowledge / index.NAME
    try:
        if cut_off(paths.state):
            message = "a sync of the fact index was interrupted; the next one finishes it"
            yield Finding("facts-unfinished", message, str(paths.log), _mend(workspace))
        facts, found, _ = project(paths.knowledge, paths.state, utc_now())
    except OSError as error:
        yield Finding("facts-unreadable", f"the facts cannot be read: {error.strerror}", str(error.filename or ""))
        return
    for number, problem in enumerate(found.problems):
        where = paths.knowledge / problem.file
        yield Finding(problem.code, problem.error.message, str(where), note=problem.code not in NAMED, at=number)
    if workspace.config.fact_index and (long := lines_too_long(paths)):
        more = f" and {len(long) - MOST_NAMED} more" if len(long) > MOST_NAMED else ""
        named = ", ".join(long[:MOST_NAMED]) + more
        message = f"longer than a fact may be ({FACT_CHARACTERS} characters), so not in the fact index: {named}"
        yield Finding("facts-too-long", message, note=True)
    read = index.read_index(paths.knowledge)
    if isinstance(read, Err):
        if facts or read.error.code != "no-index":
            yield Finding(
                read.error.code, read.error.message, str(place), _mend(workspace), note=not files.exists(place)
            )
    elif read.value != sorted(facts, key=sort_key):
        message = "the fact index is older than its YAML files ('knowledge facts sync' writes it anew)"
        yield Finding("facts-stale", message, str(place), _mend(workspace), note=True)  # an edit by hand does that


def _mend(workspace: Workspace) -> Callable[[], object]:
    return partial(_sync, workspace)


def _sync(workspace: Workspace) -> None:
    done = sync_facts(workspace)
    if isinstance(done, Err):
        raise OSError(0, done.error.message, done.error.path)
