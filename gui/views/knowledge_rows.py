"""The bullets as rows: by project with the newest first, or those of one category; and what can be done to one, as
commands that carry what was seen, for the list and for the evidence beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from rapidfuzz import fuzz

from core.base.figures import count
from core.base.result import ErrorInfo
from core.commands.bullets import change_all
from core.commands.panel.bullets import CategoryView, category_views
from core.commands.panel.evidence import steps_in
from core.commands.quarantine import HELD, HeldItem, held_item, quarantine_accept, quarantine_drop
from core.commands.statements import Found, LineChange, Said, said
from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.toolkit.flow_rows import FlowRow, RowAction
from gui.toolkit.typeset import lettered
from gui.views import memories
from gui.views.looks import CATEGORIES, NO_PROJECT, Looks, day_words, joined, project_of, short_name
from gui.views.memories import MEMORIES, MemoryBook

EMPTY: dict[str, tuple[str, str]] = {
    "all": ("Nothing is known yet", "What your conversations taught stands here,\nby project, the newest first."),
    "facts": ("No facts yet", "What is true about your projects and machines,\nas your conversations told it."),
    "decisions": ("No decisions yet", "What was decided and why, so that nobody\nhas to argue it out again."),
    "questions": ("No open questions", "What was asked and not answered yet\nwaits here."),
    "playbooks": ("No playbooks yet", "Steps that worked, ready to be followed\nthe next time."),
    "tasks_open": ("Nothing to do", "What was left to do stands here\nuntil you tick it off."),
    "tasks_done": ("Nothing done yet", "Tasks that you tick off move here."),
    "memories": ("No memories yet", "A memory is a short text that an agent recalls when it fits:\na preference, a "
                 "correction, how something is done here."),
}  # fmt: skip
ALL = "all"
"""All categories together, by project; without the tasks that are done, which would flood it."""
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.{1,400}?)(?<!`)\1(?!`)")
NAMES = {
    ALL: Looks("All", "layers", "accent"),
    **{name: CATEGORIES[name] for name in EMPTY if name in CATEGORIES},
    MEMORIES: Looks("Memories", "bookmark", "ramp:3", "memory"),
}
ACTIONS = (
    RowAction("done", "check", "Mark done", "Space"),
    RowAction("reopen", "undo-2", "Open again", "Space"),
    RowAction("edit", "pencil", "Edit", "Enter"),
    RowAction("strike", "strikethrough", "Strike through: stays in the file, leaves the digest", "S"),
    RowAction("copy", "copy", "Copy; of a playbook its steps, one a line", "Ctrl+C"),
    RowAction("delete", "trash-2", "Delete", "Delete"),
    *memories.ACTIONS,
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
    """What the view shows: the categories as they were read, their rows newest first and those of all together by
    project, and the statement behind each row."""

    views: tuple[CategoryView, ...] = ()
    rows: Mapping[str, tuple[FlowRow, ...]] = field(default_factory=dict)
    said: Mapping[BulletKey, Said] = field(default_factory=dict)
    memories: MemoryBook = field(default_factory=MemoryBook)

    @property
    def number(self) -> int:
        """How many bullets all categories have together, without tasks that are done and what is held."""
        return sum(not row.head for row in self.rows.get(ALL, ()))

    def view(self, name: str) -> CategoryView | None:
        """One category, None before anything was read."""
        return next((view for view in self.views if view.name == name), None)

    def key_of(self, file: str, raw: str, line: int = 0) -> BulletKey | None:
        """The key of the row that shows a bullet of a file with these words; of several equal ones the one on that
        line, or the first."""
        fits = [(key, found.bullet.line) for key, one in self.said.items() for found in (one.found, *one.others)
                if found.bullet.raw == raw and found.file == file]  # fmt: skip
        return next((key for key, at in fits if at == line), fits[0][0] if fits else None)


def gather(workspace: Workspace, before: Knowledge | None) -> Knowledge:
    """Read all categories; on a worker. What did not change is the same object as before."""
    views = category_views(workspace, before.views if before is not None else ())
    book = memories.gather(workspace, before.memories if before is not None else None)
    if before is not None and views is before.views and book is before.memories:
        return before
    known = {view.name: view for view in before.views} if before is not None else {}
    rows: dict[str, tuple[FlowRow, ...]] = {}
    said: dict[BulletKey, Said] = {}
    for view in views:
        if before is not None and known.get(view.name) is view:
            keyed = {key: one for key, one in before.said.items() if key[0] == view.name}
            rows[view.name] = before.rows[view.name]
        else:
            keyed = keyed_rows(view)
            rows[view.name] = tuple(row_of(key, one) for key, one in reversed(keyed.items()))
        said.update(keyed)
    return Knowledge(views, {**rows, ALL: by_project(rows, said), MEMORIES: memories.rows(book)}, said, book)


def by_project(rows: Mapping[str, Sequence[FlowRow]], behind: Mapping[BulletKey, Said]) -> tuple[FlowRow, ...]:
    """The rows of all categories in groups, the newest first in each, and the group with the newest first; above each
    its name, how many it has, and how many tasks of it are done."""
    groups: dict[str, list[tuple[str, FlowRow]]] = {}
    done: dict[str, int] = {}
    for category in EMPTY:
        for row in rows.get(category, ()):
            came = behind[row.key].found.bullet.provenance  # type: ignore[index]
            project = project_of(came.source) if came is not None else ""
            if category == "tasks_done":
                done[project] = done.get(project, 0) + 1
            else:
                groups.setdefault(project, []).append((came.date if came is not None else "", row))
    for members in groups.values():  # of one day as above: a line that comes, or goes, moves no other
        members.sort(key=itemgetter(0), reverse=True)
    order = sorted(groups, key=lambda name: (bool(name), groups[name][0][0]), reverse=True)
    shown: list[FlowRow] = []
    for project in order:
        members = groups[project]
        ticked = f"{count(done[project], 'task')} done" if done.get(project) else ""
        number = count(len(members), "bullet")
        shown.append(FlowRow(("group", project, 0), project or NO_PROJECT, joined(number, ticked),
                             "folder", "hint", head=True))  # fmt: skip
        shown += [row for _, row in members]
    return tuple(shown)


def own_first(rows: Sequence[FlowRow], project: str) -> Sequence[FlowRow]:
    """The same with the group of one project before the others."""
    begins = [at for at, row in enumerate(rows) if row.head]
    at = next((at for at in begins if rows[at].text == project), -1) if project else -1
    if at < 1:
        return rows
    end = next((one for one in begins if one > at), len(rows))
    return (*rows[at:end], *rows[:at], *rows[end:])


def coded(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A bullet's text without the signs around its code and the stars of a playbook's name, and where the code is."""
    name, stars, rest = text[2:].partition("**") if text.startswith("**") else ("", "", "")
    text = f"{name}{rest}" if stars else text
    words, spans, end = "", list[tuple[int, int]](), 0
    for one in _CODE.finditer(text):
        words += text[end : one.start()]
        code = one[2].strip() or one[2]
        spans.append((len(words), len(words) + len(code)))
        words, end = words + code, one.end()
    whole = words + text[end:]
    shown = lettered(whole)
    return (whole, tuple(spans)) if shown == whole else (shown, ())


def keyed_rows(view: CategoryView) -> dict[BulletKey, Said]:
    """The statements of a category under keys that stay theirs when lines above come and go."""
    counts: dict[str, int] = {}
    keyed: dict[BulletKey, Said] = {}
    for one in said(view.rows):
        raw = one.found.bullet.raw
        counts[raw] = counts.get(raw, 0) + 1
        keyed[(view.name, raw, counts[raw])] = one
    return keyed


def row_of(key: BulletKey, one: Said) -> FlowRow:
    """One bullet as a row; several conversations may have said it."""
    found = one.found
    _, icon, color, _ = CATEGORIES[found.category]
    bullet = found.bullet
    text, code = coded(bullet.text)
    meta = meta_of(found, one.conversations)
    if found.category == "quarantine":
        item = held_item(bullet, 0)
        code, text, meta = (), item.text + (f"\n“{item.quote}”" if item.quote else ""), held_words(item, meta)
    if bullet.more:
        text += "\n" + "\n".join(line.strip() for line in bullet.more)
    can = CAN.get(found.category, USUAL)
    if bullet.struck:
        return FlowRow(key, text, joined("struck through", meta), "strikethrough", "hint", "hint", can, code=code)
    tone = "muted" if found.category == "tasks_done" else "text"
    return FlowRow(key, text, meta, icon, color, tone, can, code=code)


def meta_of(found: Found, conversations: int = 1) -> str:
    """Where a bullet comes from, in a few words: `in 17` where seventeen said it, the day, and the conversation."""
    came = found.bullet.provenance
    if came is None:
        return "written by hand"
    times = f"in {conversations:,}" if conversations > 1 else ""
    return joined(times, day_words(came.date), short_name(came.source))


def held_words(item: HeldItem, meta: str) -> str:
    """Why an item is held, where it would go, and where it comes from."""
    goes = f"for {CATEGORIES[item.category].name.lower()}" if item.category in CATEGORIES else item.path
    return joined(HELD.get(item.held, item.held), goes, meta)


def copied(found: Found) -> tuple[str, str]:
    """What is copied of a bullet, and what is said then: a playbook is its steps, one a line, ready to be run."""
    steps = steps_in(found.bullet.text) if found.category == "playbooks" else ()
    if steps:
        return "\n".join(steps), f"Copied {count(len(steps), 'step')}, one a line"
    return found.bullet.text, "Copied the bullet"


# --- an edit that met a change from outside --------------------------------------------------------------------------


def found_again(rows: Sequence[Found], old: Found) -> tuple[Found | None, bool]:
    """The bullet that an edit meant, in the file as it is now, and whether it still says the same.

    The same line wins (the nearest of several), then the one from the same conversation that is most like it, then any
    that is very much like it. None: it is gone.
    """
    same = [row for row in rows if row.bullet.raw == old.bullet.raw]
    if same:
        return min(same, key=lambda row: abs(row.bullet.line - old.bullet.line)), True

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


Act = Callable[[Workspace], Any]


def act_of(name: str, one: Said, seen: str) -> tuple[str, Act]:
    """What is said afterwards, and the command: done, reopen, accept, strike or delete. It is done to all lines of a
    statement."""
    found, noun = one.found, CATEGORIES[one.found.category].noun
    if name == "accept":
        return "Let in", lambda workspace: quarantine_accept(workspace, found.ref, seen=seen)
    if name == "delete" and found.category == "quarantine":
        return "Dropped the held item", lambda workspace: quarantine_drop(workspace, found.ref, seen=seen)
    act = "unstrike" if name == "strike" and found.bullet.struck else name
    said = {"done": "Done", "reopen": "Opened again", "strike": f"Struck the {noun} through",
            "unstrike": "Took the line away", "delete": f"Deleted the {noun}"}[act]  # fmt: skip
    return said, lambda workspace: change_all(workspace, LineChange(act, one.refs, seen=seen))


def change(shell: Shell, name: str, act: Act, said: str, done: Callable[[Any], object] | None = None) -> None:
    """Run a command on a line that was seen. Where the file was changed outside, it is said what is shown now."""

    def failed(error: ErrorInfo) -> None:
        if error.code == "changed-outside":
            sentence = "The file was changed outside, so nothing was written; it is shown as it is now"
            error = ErrorInfo(error.code, sentence, error.path, "Look again, then decide")
        shell.error(error)

    shell.write(name, act, done=done, failed=failed, said=said)


def select_added(shell: Shell, value: Any, line: int = 0) -> None:
    """A bullet stays selected under its new words."""
    added = [row for row in getattr(value, "added", ()) if row.startswith("- ")]
    if added:
        shell.select("bullet", value.file, line, added[0])
