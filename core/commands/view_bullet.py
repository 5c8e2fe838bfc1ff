"""What a window reads of one bullet: as it stands now, its past, and the conversation that it came from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from core.base import files
from core.base.markdown import parse_bullets, split_provenance
from core.base.result import Ok, Result, fail
from core.commands.bullets import Found
from core.commands.statements import said_with
from core.commands.view import VIEWS, Event, bullet_history
from core.commands.view_conversation import conversation_key
from core.commands.workspace import Workspace
from core.harvest.lessons import mark_of_text
from core.knowledge.categories import CATEGORY, bullets_in
from core.knowledge.edit import QUARANTINE
from core.knowledge.journal import read_plans


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


def bullet_view(workspace: Workspace, file: str, raw: str, line: int = 0) -> Result[BulletView]:
    """The bullet of a file with these very words; of several equal ones the one nearest to `line`.

    `file` is a path below the knowledge folder. Err when the file cannot be read or is no file of bullets.
    """
    if file not in (QUARANTINE, *(CATEGORY[name].file for name in CATEGORY)) and not file.startswith("files/"):
        return fail("not-bullets", "this is no file of bullets", file)
    path = workspace.paths.knowledge / file
    try:
        data = files.read_or_empty(path)
    except OSError as error:
        return fail("unreadable", f"{file} cannot be read: {error.strerror or error}", path)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    rows = _rows(file, text)
    same = [found for found in rows if found.bullet.raw == raw]
    found = min(same, key=lambda row: abs(row.bullet.line - line)) if same else None
    past = bullet_history(workspace, file, raw)
    events = past.value if isinstance(past, Ok) else ()
    key = next((event.sha for event in reversed(events) if event.sha), "")
    if not key and found is not None and found.bullet.provenance is not None:
        asked = conversation_key(workspace, found.bullet.provenance.source)
        key = asked.value if isinstance(asked, Ok) else ""
    others: tuple[Found, ...] = ()
    if found is not None and found.category in CATEGORY and found.category != "files":
        others = said_with([row for row in rows if row.category == found.category], found).others
    sha256, by_tool = hashlib.sha256(data).hexdigest(), _is_by_tool(workspace, events)
    return Ok(BulletView(file, str(path), raw, found, sha256, events, key, others, by_tool))


def _is_by_tool(workspace: Workspace, events: tuple[Event, ...]) -> bool:
    """Whether the plan that wrote a bullet says that only a tool told it, and nobody has worded it anew since."""
    if not events or events[0].what != "harvested":
        return False
    event = events[0]
    try:
        plan = read_plans(workspace.paths.plans, event.run).get(event.sha)
    except OSError:
        return False
    rows = plan.facts.get("rows") if plan is not None else None
    row = rows.get(mark_of_text(split_provenance(event.after[2:])[0])) if isinstance(rows, dict) else None
    return isinstance(row, dict) and row.get("by_tool") is True


def _rows(file: str, text: str) -> list[Found]:
    if file.startswith("files/"):
        return [Found("files", file, bullet) for bullet in parse_bullets(text)]
    names = [name for name in VIEWS if (QUARANTINE if name == "quarantine" else CATEGORY[name].file) == file]
    return [Found(name, file, bullet) for name in names for bullet in bullets_in(text, name)]
