"""What a window reads of the bullets: each category with the sha256 of the bytes that were seen, all at once, and one
with its past and the conversation that it came from.

A change then carries that sha256 (`seen`) together with the `BulletRef` of a row to the functions of bullets.py and
quarantine.py, which refuse it with "changed-outside" when the file is no longer the one that was seen.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from core.base import files
from core.base.markdown import parse_bullets, split_provenance
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.commands.panel.conversations import conversation_key
from core.commands.statements import Found, said_with
from core.commands.workspace import Workspace
from core.harvest.freeze import mark_of_text
from core.knowledge.bullet_text import split_quote
from core.knowledge.categories import CATEGORY, QUARANTINE, bullets_in, read_text, text_in
from core.knowledge.changes import EDIT_RUN, Change, read_changes
from core.knowledge.confirmed import Confirmations, confirmed_bullets, read_confirmed
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.log import untold

VIEWS = ("facts", "decisions", "questions", "playbooks", "tasks_open", "tasks_done", "quarantine")
UNDO = "undo-"
STEPS = 50


@dataclass(frozen=True)
class CategoryView:
    """One category as it stands on disk: `rows` in the order of the file, oldest first.

    `name` is one of `VIEWS`. `sha256` (hex) is that of the bytes that `rows` were read from, also when the file is not
    there yet (then that of no bytes). `problem` says why the file could not be read.
    """

    name: str
    sha256: str
    rows: tuple[Found, ...] = ()
    problem: ErrorInfo | None = None
    again: int = 0
    """How often something in it was said again by other conversations."""


@dataclass(frozen=True)
class Event:
    """One thing that happened to a bullet. `what` is harvested, added, edited, struck, unstruck, moved, accepted,
    removed or undone; `when` is ISO 8601; `sha` the conversation of a harvest; `before` the line as it was ("": none),
    `after` the line as it became."""

    when: str
    what: str
    run: str
    sha: str
    before: str
    after: str


def category_view(workspace: Workspace, name: str) -> CategoryView:
    """One of `VIEWS`. A file that is not there has no rows; raises KnowledgeError for another name or a file that
    cannot be read."""
    if name not in VIEWS:
        raise KnowledgeError("no-category", f"there is no category {name!r}", hint=f"choose one of {', '.join(VIEWS)}")
    view = _view(workspace, name)
    if view.problem is not None:
        raise KnowledgeError(view.problem.code, view.problem.message, view.problem.path)
    return view


def category_views(workspace: Workspace, before: tuple[CategoryView, ...] = ()) -> tuple[CategoryView, ...]:
    """All of `VIEWS`, in that order. A view that is the same as in `before` is that very object; so is the tuple."""
    known = {view.name: view for view in before}
    found = tuple(_view(workspace, name, known.get(name)) for name in VIEWS)
    return before if found == before else found


def _view(workspace: Workspace, name: str, before: CategoryView | None = None) -> CategoryView:
    file = QUARANTINE if name == "quarantine" else CATEGORY[name].file
    path = workspace.paths.knowledge / file
    try:
        data = files.read_or_empty(path)
    except OSError as error:
        problem = ErrorInfo("unreadable", f"{file} cannot be read: {error.strerror or error}", str(path))
        view = CategoryView(name, "", problem=problem)
        return before if before == view else view
    sha = hashlib.sha256(data).hexdigest()
    confirmed = confirmed_here(workspace)
    again = sum(one.count for one in confirmed.get(file, {}).values())
    if before is not None and (before.sha256, before.again) == (sha, again):
        return before
    bullets = confirmed_bullets(confirmed, file, bullets_in(text_in(data), name))
    rows = tuple(Found(name, file, bullet) for bullet in bullets)
    return CategoryView(name, sha, rows, again=again)


def confirmed_here(workspace: Workspace) -> Confirmations:
    """What was said again by other conversations; nothing where that cannot be read."""
    try:
        return read_confirmed(workspace.paths) or {}
    except OSError:
        return {}


def bullets_of(workspace: Workspace, file: str) -> list[Found]:
    """The bullets of one file, a path below the knowledge folder; none where it cannot be read."""
    try:
        return _rows(workspace, file, read_text(workspace.paths.knowledge / file))
    except OSError:
        return []


# --- one bullet's past -----------------------------------------------------------------------------------------------


def events_of(workspace: Workspace, file: str, raw: str) -> tuple[Event, ...]:
    """What became of one line, newest first, as far as changes.jsonl tells: followed through edits, strikes and moves
    between files. Empty for a line that nobody recorded (written in an editor), and where the history cannot be
    read."""
    try:
        changes = read_changes(workspace.paths)
    except OSError:
        return ()
    events: list[Event] = []
    at = len(changes)
    while at > 0 and raw and len(events) < STEPS:
        at -= 1
        row = changes[at]
        if raw not in row.added or not _is_same_file(row.file, file):
            continue
        before, origin = _before(row, raw), file
        what = _what(row, before, raw)
        if not before and not row.sha:  # it may have come from another file in the same step
            other = next((one for one in changes if one.run == row.run and one.file != row.file and one.removed), None)
            moved = next((line for line in other.removed if _says(line, raw)), "") if other is not None else ""
            if other is not None and moved:
                before, origin, what = moved, other.file, "accepted" if other.file == QUARANTINE else "moved"
        events.append(Event(row.when, what, row.run, row.sha, before, raw))
        if not before:
            break
        raw, file = before, origin
    return tuple(events)


def _is_same_file(recorded: str, file: str) -> bool:
    """A note file is renamed with its source, so all notes count as one."""
    return recorded == file or (recorded.startswith("files/") and file.startswith("files/"))


def _before(row: Change, raw: str) -> str:
    """The line that `raw` replaced in one change, "" when it is new."""
    if raw in row.removed:
        return raw
    if len(row.added) == len(row.removed):
        return row.removed[row.added.index(raw)]
    return ""


def _says(held: str, raw: str) -> bool:
    """Whether a line of the quarantine holds the words of `raw` (there a reason stands before them)."""
    text, provenance = split_provenance(held)
    plain = f"{split_quote(text)[0]} {provenance}" if provenance is not None else split_quote(text)[0]
    return plain.endswith(raw[2:]) or held == raw


def _what(row: Change, before: str, after: str) -> str:
    if row.run.startswith(UNDO):
        return "undone"
    if not before:
        return "harvested" if row.sha else "added"
    if before == after:
        return "moved"
    if before.replace("~~", "") == after.replace("~~", ""):
        return "struck" if after.count("~~") > before.count("~~") else "unstruck"
    return "edited" if row.run.startswith(EDIT_RUN) else "harvested"


def local_day(when: str) -> str:
    """`2 May 2026` in local time for an ISO 8601 date or time; what cannot be read comes back as it is."""
    try:
        at = datetime.fromisoformat(when)
    except ValueError:
        return when
    local = at.astimezone() if at.tzinfo is not None else at
    return f"{local.day} {local:%b %Y}"


@dataclass(frozen=True)
class BulletView:
    """One bullet: `found` as it stands now (None: not there any more), `sha256` of the file that was seen, its past
    (newest first), the ledger's key of its conversation ("" when the ledger knows none), and the other lines of a
    category that say the same (its confirmations). `by_tool`: only a tool's output, or a page, told it."""

    file: str
    path: str
    raw: str
    found: Found | None
    sha256: str
    events: tuple[Event, ...] = ()
    conversation: str = ""
    others: tuple[Found, ...] = ()
    by_tool: bool = False
    went: Event | None = None
    """What took the line away, where the journal knows: the program itself, not an editor."""


def bullet_view(workspace: Workspace, file: str, raw: str, line: int = 0) -> BulletView:
    """The bullet of a file with these very words; of several equal ones the one nearest to `line`.

    `file` is a path below the knowledge folder. Raises KnowledgeError when the file cannot be read or is no file of
    bullets.
    """
    if file not in (QUARANTINE, *(CATEGORY[name].file for name in CATEGORY)) and not file.startswith("files/"):
        raise KnowledgeError("not-bullets", "this is no file of bullets", file)
    path = workspace.paths.knowledge / file
    with disk_errors("unreadable", f"{file} cannot be read", path):
        data = files.read_or_empty(path)
    rows = _rows(workspace, file, text_in(data))
    same = [found for found in rows if found.bullet.raw == raw]
    found = min(same, key=lambda row: abs(row.bullet.line - line)) if same else None
    events = events_of(workspace, file, raw)
    key = next((event.sha for event in reversed(events) if event.sha), "")
    if not key and found is not None and found.bullet.provenance is not None:
        with suppress(KnowledgeError):
            key = conversation_key(workspace, found.bullet.provenance.source)
    others: tuple[Found, ...] = ()
    if found is not None and found.category in CATEGORY and found.category != "files":
        others = said_with([row for row in rows if row.category == found.category], found).others
    sha256, by_tool = hashlib.sha256(data).hexdigest(), _is_by_tool(workspace, events)
    went = _taken_away(workspace, file, raw) if found is None else None
    return BulletView(file, str(path), raw, found, sha256, events, key, others, by_tool, went)


def _taken_away(workspace: Workspace, file: str, raw: str) -> Event | None:
    """The newest change on record that took a line out of a file, None where it put it there again since."""
    try:
        changes = [*read_changes(workspace.paths), *untold(workspace.paths)]
    except OSError:
        return None
    row = next((row for row in reversed(changes) if _is_same_file(row.file, file) and raw in row.added + row.removed),
               None)  # fmt: skip
    if row is None or raw in row.added:
        return None
    after = row.added[row.removed.index(raw)] if len(row.added) == len(row.removed) else ""
    what = "undone" if row.run.startswith(UNDO) else "edited" if row.run.startswith(EDIT_RUN) else "harvested"
    return Event(row.when, what, row.run, row.sha, raw, after)


def _is_by_tool(workspace: Workspace, events: tuple[Event, ...]) -> bool:
    """Whether the plan that wrote a bullet says that only a tool told it, and nobody has worded it again since."""
    if not events or events[0].what != "harvested":
        return False
    event = events[0]
    plan = plan_of(workspace, event.run, event.sha)
    rows = plan.facts.get("rows") if plan is not None else None
    row = rows.get(mark_of_text(split_provenance(event.after[2:])[0])) if isinstance(rows, dict) else None
    return isinstance(row, dict) and row.get("by_tool") is True


def plan_of(workspace: Workspace, run: str, sha: str) -> FrozenPlan | None:
    """The plan that a run made of a conversation; None where there is none that could be read."""
    try:
        return read_plans(workspace.paths.plans, run).get(sha)
    except OSError:
        return None


def _rows(workspace: Workspace, file: str, text: str) -> list[Found]:
    if file.startswith("files/"):
        bullets = {"files": parse_bullets(text)}
    else:
        names = [name for name in VIEWS if (QUARANTINE if name == "quarantine" else CATEGORY[name].file) == file]
        bullets = {name: bullets_in(text, name) for name in names}
    again = confirmed_here(workspace)
    return [Found(name, file, row) for name, rows in bullets.items() for row in confirmed_bullets(again, file, rows)]
