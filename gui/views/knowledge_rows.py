"""The bullets of a category as rows, what can be done to one, and pairs of them for the user to decide.

What is done are commands that carry what was seen: for the list and for the inspector. What seems outdated, and what is
alike, is found by comparing: ten thousand bullets in seconds, not in a moment. That is done on a worker of its own,
after the list is shown, when the bullets have changed, and only while somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

from rapidfuzz import fuzz

from core.base.figures import count
from core.base.markdown import BY_HAND, without_emphasis
from core.base.result import ErrorInfo, Ok, Result
from core.commands import bullets
from core.commands.bullets import change_all
from core.commands.panel.bullets import CategoryView, category_views, local_day
from core.commands.panel.evidence import steps_in
from core.commands.quarantine import (
    HELD,
    HeldItem,
    held_item,
    held_runs,
    numbers_of,
    quarantine_accept,
    quarantine_drop,
)
from core.commands.review.alike import (
    Alike,
    Placed,
    Superseding,
    proposals,
    similar,
    supersede_accept,
    supersede_dismiss,
)
from core.commands.statements import Found, Said, placed_refs, said
from core.commands.workspace import Workspace
from gui.shell import COMPARE, Reading, Shell
from gui.toolkit.flow_rows import FlowRow, RowAction, matching
from gui.views.looks import CATEGORIES, PAIRS, joined, short_name

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
OF_RUN = "run "
"""How the filter of what is held begins that means one harvest."""
ACTIONS = (
    RowAction("done", "check", "Mark done", "Space"),
    RowAction("reopen", "undo-2", "Open again", "Space"),
    RowAction("accept", "check", "Let it in", "Space"),
    RowAction("edit", "pencil", "Edit", "Enter"),
    RowAction("strike", "strikethrough", "Strike through: stays in the file, leaves the digest", "S"),
    RowAction("same-run", "layers", "Only what the same harvest has held back", "R"),
    RowAction("copy", "copy", "Copy; of a playbook its steps, one a line", "Ctrl+C"),
    RowAction("delete", "trash-2", "Delete", "Delete"),
)
CAN: dict[str, frozenset[str]] = {
    "tasks_open": frozenset({"done", "edit", "strike", "copy", "delete"}),
    "tasks_done": frozenset({"reopen", "edit", "strike", "copy", "delete"}),
    "quarantine": frozenset({"accept", "same-run", "copy", "delete"}),
}
USUAL = frozenset({"edit", "strike", "copy", "delete"})
BulletKey = tuple[str, str, int]  # category, the line as it stands there, which of several equal ones


@dataclass(frozen=True)
class Knowledge:
    """What the view shows: the categories as they were read, their rows newest first, and what is behind a row: the
    newest line of a statement (`found`), and the older lines that say the same (`others`, where there are any). `held`
    are the items of the quarantine, `runs` the harvests that held them back, by their lines."""

    views: tuple[CategoryView, ...] = ()
    rows: Mapping[str, tuple[FlowRow, ...]] = field(default_factory=dict)
    found: Mapping[BulletKey, Found] = field(default_factory=dict)
    others: Mapping[BulletKey, tuple[Found, ...]] = field(default_factory=dict)
    held: Mapping[BulletKey, HeldItem] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)

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
    held, runs = (before.held, before.runs) if before is not None else ({}, {})
    for view in views:
        if before is not None and known.get(view.name) is view:
            found.update({key: one for key, one in before.found.items() if key[0] == view.name})
            others.update({key: older for key, older in before.others.items() if key[0] == view.name})
            rows[view.name] = before.rows[view.name]
            continue
        keyed = keyed_rows(view)
        found.update({key: one.found for key, one in keyed.items()})
        others.update({key: one.others for key, one in keyed.items() if one.others})
        if view.name == "quarantine":
            held = {key: held_item(one.found.bullet, at) for at, (key, one) in enumerate(keyed.items(), start=1)}
            with suppress(OSError):  # without the changes nobody knows whose harvest it was, and that is all
                runs = held_runs(workspace) if held else {}
        rows[view.name] = tuple(
            row_of(key, one.found, one.conversations, held[key].number if key in held else 0)
            for key, one in reversed(keyed.items())
        )
    return Knowledge(views, rows, found, others, held, runs)


def keyed_rows(view: CategoryView) -> dict[BulletKey, Said]:
    """The statements of a category under keys that stay theirs when lines above come and go."""
    counts: dict[str, int] = {}
    keyed: dict[BulletKey, Said] = {}
    for one in said(view.rows):
        raw = one.found.bullet.raw
        counts[raw] = counts.get(raw, 0) + 1
        keyed[(view.name, raw, counts[raw])] = one
    return keyed


def row_of(key: BulletKey, found: Found, conversations: int = 1, number: int = 0) -> FlowRow:
    """One bullet as a row; several conversations have said it. `number` is that of a held item, 0 for none."""
    _, icon, color, _ = CATEGORIES[found.category]
    bullet = found.bullet
    text, meta = without_emphasis(bullet.text), meta_of(found)
    if conversations > 1:
        meta = joined(f"in {count(conversations, 'conversation')}", meta)
    if found.category == "quarantine":
        item = held_item(bullet, number)
        text, meta = item.text + (f"\n“{item.quote}”" if item.quote else ""), held_words(item, meta)
    if bullet.more:
        text += "\n" + "\n".join(line.strip() for line in bullet.more)
    can = CAN.get(found.category, USUAL)
    if bullet.struck:
        return FlowRow(key, text, joined("struck through", meta), "strikethrough", "hint", "hint", can)
    return FlowRow(key, text, meta, icon, color, "muted" if found.category == "tasks_done" else "text", can)


def meta_of(found: Found) -> str:
    """Where a bullet comes from, in a few words."""
    came = found.bullet.provenance
    if came is None:
        return "written by hand"
    return joined(short_name(came.source), local_day(came.date))


def held_words(item: HeldItem, meta: str) -> str:
    """The number of an item, why it is held, where it would go, and where it comes from."""
    number, why = f"#{item.number}" if item.number else "", HELD.get(item.held, item.held)
    goes = f"for {CATEGORIES[item.category].name.lower()}" if item.category in CATEGORIES else item.path
    return joined(number, why, goes, meta)


def held_chosen(data: Knowledge, words: str) -> Sequence[FlowRow]:
    """Those of the held items that the filter means: by their numbers (`3 5-9`), as all of one harvest (`run …`), or by
    words."""
    rows = data.rows.get("quarantine", ())
    numbers = numbers_of(words.split(), len(rows))
    if numbers:
        return [row for row in rows if data.held[cast(BulletKey, row.key)].number in numbers]
    if words.startswith(OF_RUN):
        run = words.removeprefix(OF_RUN).strip()
        return [row for row in rows if data.runs.get(data.held[cast(BulletKey, row.key)].ref.raw) == run]
    return matching(rows, words)


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


def act_of(name: str, found: Found, seen: str, others: Sequence[Found] = ()) -> tuple[str, Act]:
    """What is said afterwards, and the command: done, reopen, accept, strike or delete. It is done to all lines of a
    statement: to `others`, which say the same, as to the one that stands for them."""
    category, ref, struck = found.category, found.ref, found.bullet.struck
    noun = CATEGORIES[category].noun
    acts: dict[str, tuple[str, Act]] = {
        "done": ("Done", lambda workspace: bullets.done(workspace, ref, seen=seen)),
        "reopen": ("Opened again", lambda workspace: bullets.reopen(workspace, ref, seen=seen)),
        "accept": ("Let in", lambda workspace: quarantine_accept(workspace, ref, seen=seen)),
        "strike": (
            "Took the line away" if struck else f"Struck the {noun} through",
            lambda workspace: change_all(workspace, "unstrike" if struck else "strike", (ref,), seen=seen),
        ),
        "delete": (f"Deleted the {noun}", lambda workspace: bullets.remove(workspace, category, ref, seen=seen)),
    }
    if category == "quarantine" and name == "delete":
        return "Dropped the held item", lambda workspace: quarantine_drop(workspace, ref, seen=seen)
    if others and name != "accept":
        refs, every = (ref, *(one.ref for one in others)), "unstrike" if struck and name == "strike" else name
        return acts[name][0], lambda workspace: change_all(workspace, every, refs, seen=seen)
    return acts[name]


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


PAIR_EMPTY: dict[str, tuple[str, str]] = {
    "outdated": (
        "Nothing to decide",
        "When a newer conversation contradicts a bullet, finishes a task\nor answers a question, both stand here. "
        "Nothing changes by itself.",
    ),
    "alike": ("No two are alike", "Bullets that nearly say the same stand here side by side."),
}
PAIR_ACTIONS = (
    RowAction("replace", "check", "The old one is struck through and points to the new one", "Space", "Keep new"),
    RowAction("answered", "check", "The question is struck through and points to its answer", "Space", "Answered"),
    RowAction("old", "undo-2", "The new one is struck through, the old one stays", "O", "Keep old"),
    RowAction("retract", "check", "It was taken back: it is struck through", "Space", "Strike through"),
    RowAction("finish", "check", "Mark the task done", "Space", "Mark done"),
    RowAction("both", "columns-2", "Keep both; it is not proposed again", "K", "Keep both"),
    RowAction("dismiss", "x", "Leave it as it is; it is not proposed again", "K", "Leave open"),
    RowAction("first", "arrow-up", "Keep the first, strike the second through", "M", "Keep first"),
    RowAction("second", "arrow-down", "Keep the second, strike the first through", "Shift+M", "Keep second"),
    RowAction("read", "book-open", "Read the conversation that says so", "Enter"),
)
PAIR_KEYS = {
    "Space": ("replace", "finish", "answered", "retract"), "O": ("old",), "K": ("both", "dismiss"),
    "Ctrl+Space": ("both", "dismiss"),
    "M": ("first",), "Shift+M": ("second",),
}  # fmt: skip
BOTH_WORDS = {"finishes": ("Task", "Later"), "answers": ("Question", "Answer")}
"""What stands before the two of a pair; of any other kind Old and New."""
OFFERED = {"finishes": "check", "answers": "circle-question-mark"}
"""The icon of what a model has offered, beside that of what seems outdated."""


@dataclass(frozen=True)
class PairLists:
    """The rows of `PAIRS`, and the pair behind each."""

    rows: Mapping[str, tuple[FlowRow, ...]] = field(default_factory=dict)
    pairs: Mapping[BulletKey, Superseding | Alike] = field(default_factory=dict)


def pair_lists(workspace: Workspace) -> PairLists:
    """Compare all bullets; on a worker."""
    return lists_of(proposals(workspace.paths), similar(workspace.paths))


def lists_of(outdated: Sequence[Superseding], near: Sequence[Alike]) -> PairLists:
    """Both lists as rows. What seems outdated is not said to be alike as well."""
    old: dict[BulletKey, Superseding | Alike] = {("outdated", pair.key, 0): pair for pair in outdated}
    decided = {frozenset((pair.old.bullet.raw, pair.new.bullet.raw)) for pair in outdated}
    same: dict[BulletKey, Superseding | Alike] = {
        ("alike", f"{pair.first.bullet.raw}\n{pair.second.bullet.raw}", pair.first.bullet.line): pair
        for pair in near
        if frozenset((pair.first.bullet.raw, pair.second.bullet.raw)) not in decided
    }
    rows = {
        "outdated": tuple(outdated_row(key, cast(Superseding, pair)) for key, pair in old.items()),
        "alike": tuple(alike_row(key, cast(Alike, pair)) for key, pair in same.items()),
    }
    return PairLists(rows, {**old, **same})


def outdated_row(key: BulletKey, pair: Superseding) -> FlowRow:
    """An old statement and what a later one says: old → new. A task may be finished without a line that tells so."""
    _, sign, color, _ = PAIRS["outdated"]
    words, days = without_emphasis(pair.old.bullet.text), _day(pair.old)
    if pair.new is not pair.old:
        first, second = BOTH_WORDS.get(pair.kind, ("Old", "New"))
        words = f"{first}:  {words}\n{second}:  {without_emphasis(pair.new.bullet.text)}"
        days = f"{days} → {_day(pair.new)}"
    meta = joined(CATEGORIES[pair.old.category].name, pair.why.replace("->", "→"), days)
    can = {"answered" if pair.kind == "answers" else "replace", "both"}
    can = {"done": {"finish", "dismiss"}, "retract": {"retract", "dismiss"}}.get(pair.act, can)
    can |= {"old"} if "replace" in can and pair.new.file == pair.old.file else set()
    can |= {"read"} if says_so(pair) is not None else set()
    return FlowRow(key, words, meta, OFFERED.get(pair.kind, sign), color, "text", frozenset(can | {"copy"}))


def says_so(pair: Superseding) -> Reading | None:
    """The conversation that contradicts, finishes or answers; None where that was written by hand."""
    if pair.conversation:
        return Reading(pair.conversation)
    came = pair.new.bullet.provenance
    return Reading(name=came.source) if came is not None and came.source != BY_HAND else None


def two_words(*texts: str) -> str:
    """Two that are alike, one below the other."""
    return "\n".join(f"{at}.  {without_emphasis(text)}" for at, text in enumerate(texts, 1))


def alike_row(key: BulletKey, pair: Alike) -> FlowRow:
    """Two statements that nearly say the same."""
    _, sign, color, _ = PAIRS["alike"]
    words = two_words(pair.first.bullet.text, pair.second.bullet.text)
    days = f"{_day(pair.first)}, {_day(pair.second)}"
    meta = joined(CATEGORIES[pair.first.category].name, f"{pair.score:.0f} % alike", days)
    return FlowRow(key, words, meta, sign, color, "text", frozenset({"first", "second", "copy"}))


def _day(place: Placed) -> str:
    came = place.bullet.provenance
    return local_day(came.date) if came is not None else "by hand"


def pair_act(name: str, pair: Superseding | Alike, seen: str) -> tuple[str, Act]:
    """What is said afterwards, and the command of one of `PAIR_ACTIONS`; `seen` is the sha256 of the file."""
    if isinstance(pair, Superseding) and name != "old":
        key = pair.key
        if name in ("both", "dismiss"):
            said = "Both stay" if name == "both" else "It stays open" if pair.act == "done" else "It stays"
            return said, lambda workspace: supersede_dismiss(workspace, key)
        replaced = "Answered" if pair.kind == "answers" else "Struck through as outdated"
        return "Done" if pair.act == "done" else replaced, lambda workspace: supersede_accept(workspace, key, seen=seen)
    goes = pair.new if isinstance(pair, Superseding) else pair.second if name == "first" else pair.first
    refs, said = placed_refs(goes), "The old one stays" if name == "old" else "Struck through"
    return said, lambda workspace: change_all(workspace, "strike", refs, seen=seen)


def stands(pair: Superseding | Alike) -> Placed:
    """The one of a pair that the inspector tells of: the old one, or the first."""
    return pair.old if isinstance(pair, Superseding) else pair.first


class Comparison:
    """Keeps `lists` up to date with what the view shows: one comparing at a time, `on_new` after each."""

    def __init__(self, shell: Shell, on_new: Callable[[], object]) -> None:
        self._shell, self._on_new = shell, on_new
        self.lists = PairLists()
        self.pending = False
        self._of: tuple[object, ...] = ()
        self._offers: object = None

    def ask(self, data: Knowledge, offers: object = None, again: bool = False) -> None:
        """Compare when these are other bullets than the last time, or other `offers` (the ledger has them), or
        `again`."""
        self._offers = offers = self._offers if offers is None else offers
        if again:
            self._of = ()
        known = bool(self._of) and self._of[0] is data and self._of[1] is offers
        if self.pending or known or not data.views:
            return
        self.pending, self._of = True, (data, offers)
        workspace = self._shell.workspace

        def done(result: Result[Any]) -> None:
            self.pending = False
            if self._shell.workspace.paths != workspace.paths:
                self._of, self.lists = (), PairLists()
            elif isinstance(result, Ok):
                self.lists = result.value
            elif result.error.code != "cancelled":
                self._shell.error(result.error)
            self._on_new()
            self._shell.change()  # the bullets may have changed meanwhile: the view asks again

        self._shell.submit("Comparing the bullets", lambda _job: pair_lists(workspace), done, lane=COMPARE)
