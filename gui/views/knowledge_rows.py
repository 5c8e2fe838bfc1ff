"""The bullets of a category as rows, and words on their way through an editor. Plain functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.base.figures import count
from core.base.markdown import without_emphasis
from core.commands.bullets import Found
from core.commands.quarantine import HELD, HeldItem, held_item
from core.commands.statements import Said, said
from core.commands.view import CategoryView, category_views, local_day
from core.commands.workspace import Workspace
from gui.toolkit.flow_rows import FlowRow, RowAction
from gui.views.looks import CATEGORIES, short_name

EMPTY: dict[str, tuple[str, str]] = {
    "facts": ("No facts yet", "What is true about your projects and machines,\nas your conversations told it."),
    "decisions": ("No decisions yet", "What was decided and why, so that nobody\nhas to argue it out again."),
    "questions": ("No open questions", "What was asked and not answered yet\nwaits here."),
    "playbooks": ("No playbooks yet", "Steps that worked, ready to be followed\nthe next time."),
    "tasks_open": ("Nothing to do", "What was left to do stands here\nuntil you tick it off."),
    "tasks_done": ("Nothing done yet", "Tasks that you tick off move here."),
    "quarantine": (
        "Nothing is held back",
        "Items that could not be proven wait here: a quote that is\nnot in the conversation, what looks like a secret.",
    ),
}
ACTIONS = (
    RowAction("done", "check", "Mark done", "Space"),
    RowAction("reopen", "undo-2", "Open again", "Space"),
    RowAction("accept", "check", "Let it in", "Space"),
    RowAction("edit", "pencil", "Edit", "Enter"),
    RowAction("strike", "strikethrough", "Strike through: stays in the file, leaves the digest", "S"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("delete", "trash-2", "Delete", "Delete"),
)
CAN: dict[str, frozenset[str]] = {
    "tasks_open": frozenset({"done", "edit", "strike", "copy", "delete"}),
    "tasks_done": frozenset({"reopen", "edit", "strike", "copy", "delete"}),
    "quarantine": frozenset({"accept", "copy", "delete"}),
}
USUAL = frozenset({"edit", "strike", "copy", "delete"})
BulletKey = tuple[str, str, int]  # category, the line as it stands there, which of several equal ones


@dataclass(frozen=True)
class Knowledge:
    """What the view shows: the categories as they were read, their rows newest first, and what is behind a row: the
    newest line of a statement (`found`), and the older lines that say the same (`others`, where there are any)."""

    views: tuple[CategoryView, ...] = ()
    rows: Mapping[str, tuple[FlowRow, ...]] = field(default_factory=dict)
    found: Mapping[BulletKey, Found] = field(default_factory=dict)
    others: Mapping[BulletKey, tuple[Found, ...]] = field(default_factory=dict)

    def view(self, name: str) -> CategoryView | None:
        """One category, None before anything was read."""
        return next((view for view in self.views if view.name == name), None)

    def key_of(self, file: str, raw: str, line: int = 0) -> BulletKey | None:
        """The key of the row that shows a bullet of a file with these words; of several equal ones the one on that
        line, or the first."""
        keys = [(key, found) for key, found in self.found.items() if key[1] == raw]
        keys += [(key, one) for key, older in self.others.items() for one in older if one.bullet.raw == raw]
        fits = [(key, found.bullet.line) for key, found in keys if found.file == file]
        return next((key for key, at in fits if at == line), fits[0][0] if fits else None)


def gather(workspace: Workspace, before: Knowledge | None) -> Knowledge:
    """Read all categories; on a worker. What did not change is the same object as before."""
    views = category_views(workspace, before.views if before is not None else ())
    if before is not None and views is before.views:
        return before
    known = {view.name: view for view in before.views} if before is not None else {}
    rows: dict[str, tuple[FlowRow, ...]] = {}
    found: dict[BulletKey, Found] = {}
    others: dict[BulletKey, tuple[Found, ...]] = {}
    for view in views:
        if before is not None and known.get(view.name) is view:
            found.update({key: one for key, one in before.found.items() if key[0] == view.name})
            others.update({key: older for key, older in before.others.items() if key[0] == view.name})
            rows[view.name] = before.rows[view.name]
            continue
        keyed = keyed_rows(view)
        found.update({key: one.found for key, one in keyed.items()})
        others.update({key: one.others for key, one in keyed.items() if one.others})
        rows[view.name] = tuple(row_of(key, one.found, one.conversations) for key, one in reversed(keyed.items()))
    return Knowledge(views, rows, found, others)


def keyed_rows(view: CategoryView) -> dict[BulletKey, Said]:
    """The statements of a category under keys that stay theirs when lines above come and go."""
    counts: dict[str, int] = {}
    keyed: dict[BulletKey, Said] = {}
    for one in said(view.rows):
        raw = one.found.bullet.raw
        counts[raw] = counts.get(raw, 0) + 1
        keyed[(view.name, raw, counts[raw])] = one
    return keyed


def row_of(key: BulletKey, found: Found, conversations: int = 1) -> FlowRow:
    """One bullet as a row; several conversations have said it."""
    _, icon, color, _ = CATEGORIES[found.category]
    bullet = found.bullet
    text, meta = without_emphasis(bullet.text), meta_of(found)
    if conversations > 1:
        meta = f"in {count(conversations, 'conversation')}  ·  {meta}"
    if found.category == "quarantine":
        item = held_item(bullet)
        text, meta = item.text, held_words(item, meta)
    if bullet.more:
        text += "\n" + "\n".join(line.strip() for line in bullet.more)
    can = CAN.get(found.category, USUAL)
    if bullet.struck:
        return FlowRow(key, text, f"struck through  ·  {meta}", "strikethrough", "hint", "hint", can)
    return FlowRow(key, text, meta, icon, color, "muted" if found.category == "tasks_done" else "text", can)


def meta_of(found: Found) -> str:
    """Where a bullet comes from, in a few words."""
    came = found.bullet.provenance
    if came is None:
        return "written by hand"
    return f"{short_name(came.source)}  ·  {local_day(came.date)}"


def held_words(item: HeldItem, meta: str) -> str:
    """Why an item is held, where it would go, and where it comes from."""
    why = HELD.get(item.held, item.held) + (f': "{item.quote}"' if item.quote else "")
    goes = f"for {CATEGORIES[item.category].name.lower()}" if item.category in CATEGORIES else item.path
    return "  ·  ".join(part for part in (why, goes, meta) if part)


# --- an edit that met a change from outside --------------------------------------------------------------------------


def found_again(rows: Sequence[Found], old: Found) -> tuple[Found | None, bool]:
    """The bullet that an edit meant, in the file as it is now, and whether it still says the same.

    The same line wins (the nearest of several), then the one from the same conversation that is most like it, then any
    that is very much like it. None: it is gone.
    """
    same = [row for row in rows if row.bullet.raw == old.bullet.raw]
    if same:
        return min(same, key=lambda row: abs(row.bullet.line - old.bullet.line)), True
    from rapidfuzz import fuzz

    best: Found | None = None
    most = 0.0
    for row in rows:
        likeness = fuzz.ratio(row.bullet.text, old.bullet.text) / 100
        if old.bullet.provenance is not None and row.bullet.provenance == old.bullet.provenance:
            likeness += 0.15
        if row.bullet.line == old.bullet.line:
            likeness += 0.2
        if likeness > most:
            best, most = row, likeness
    return (best, False) if most >= 0.72 else (None, False)
