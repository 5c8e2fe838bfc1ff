"""What seems outdated and what is alike, as rows for the person to decide; and the comparing, which takes its time.

Ten thousand bullets are compared in seconds, not in a moment: that is done on a worker of its own, after the list is
shown, when the bullets have changed, and only while somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from core.base.markdown import without_emphasis
from core.base.result import Err, Ok, Result
from core.commands.alike import Alike, Pairs, Placed, Proposals, Superseding, similar, supersede
from core.commands.statements import change_all, placed_refs
from core.commands.view import local_day
from core.commands.workspace import Workspace
from gui.quiet import LARGE_ROWS, quietly
from gui.shell import COMPARE, Shell
from gui.toolkit.flow_rows import SEPARATOR, FlowRow, RowAction
from gui.views.bullet_acts import Act
from gui.views.knowledge_rows import BulletKey, Knowledge
from gui.views.looks import CATEGORIES, PAIRS

PAIR_EMPTY: dict[str, tuple[str, str]] = {
    "outdated": (
        "Nothing seems outdated",
        "When a newer conversation contradicts an older one,\nboth stand here for you to decide.",
    ),
    "alike": ("No two are alike", "Bullets that nearly say the same stand here side by side."),
}
PAIR_ACTIONS = (
    RowAction("replace", "check", "Strike the old one through, with a pointer to the new one", "Space", "Accept"),
    RowAction("both", "columns-2", "Keep both; it is not proposed again", "Ctrl+Space", "Keep both"),
    RowAction("first", "arrow-up", "Keep the first, strike the second through", "M", "Keep first"),
    RowAction("second", "arrow-down", "Keep the second, strike the first through", "Shift+M", "Keep second"),
)
PAIR_KEYS = {"Space": "replace", "Ctrl+Space": "both", "M": "first", "Shift+M": "second"}


@dataclass(frozen=True)
class PairLists:
    """The rows of `PAIRS`, and the pair behind each."""

    rows: Mapping[str, tuple[FlowRow, ...]] = field(default_factory=dict)
    pairs: Mapping[BulletKey, Superseding | Alike] = field(default_factory=dict)


def pair_lists(workspace: Workspace) -> Result[PairLists]:
    """Compare all bullets; on a worker."""
    outdated, near = supersede(workspace), similar(workspace)
    if isinstance(outdated, Err):
        return outdated
    if isinstance(near, Err):
        return near
    return Ok(lists_of(cast(Proposals, outdated.value), near.value))


def lists_of(outdated: Proposals, near: Pairs) -> PairLists:
    """Both lists as rows. What seems outdated is not said to be alike as well."""
    old: dict[BulletKey, Superseding | Alike] = {("outdated", pair.key, 0): pair for pair in outdated.proposals}
    decided = {frozenset((pair.old.bullet.raw, pair.new.bullet.raw)) for pair in outdated.proposals}
    same: dict[BulletKey, Superseding | Alike] = {
        ("alike", f"{pair.first.bullet.raw}\n{pair.second.bullet.raw}", pair.first.bullet.line): pair
        for pair in near.pairs
        if frozenset((pair.first.bullet.raw, pair.second.bullet.raw)) not in decided
    }
    rows = {
        "outdated": tuple(outdated_row(key, cast(Superseding, pair)) for key, pair in old.items()),
        "alike": tuple(alike_row(key, cast(Alike, pair)) for key, pair in same.items()),
    }
    return PairLists(rows, {**old, **same})


def outdated_row(key: BulletKey, pair: Superseding) -> FlowRow:
    """An old statement and the newer one that seems to contradict it: old → new."""
    _, sign, color, _ = PAIRS["outdated"]
    words = f"{without_emphasis(pair.old.bullet.text)}\n→  {without_emphasis(pair.new.bullet.text)}"
    days = f"{_day(pair.old)} → {_day(pair.new)}"
    meta = SEPARATOR.join((CATEGORIES[pair.old.category].name, pair.why.replace("->", "→"), days))
    return FlowRow(key, words, meta, sign, color, "text", frozenset({"replace", "both", "copy"}))


def alike_row(key: BulletKey, pair: Alike) -> FlowRow:
    """Two statements that nearly say the same."""
    _, sign, color, _ = PAIRS["alike"]
    words = "\n".join(
        f"{at}.  {without_emphasis(one.bullet.text)}" for at, one in enumerate((pair.first, pair.second), 1)
    )
    days = f"{_day(pair.first)}, {_day(pair.second)}"
    meta = SEPARATOR.join((CATEGORIES[pair.first.category].name, f"{pair.score:.0f} % alike", days))
    return FlowRow(key, words, meta, sign, color, "text", frozenset({"first", "second", "copy"}))


def _day(place: Placed) -> str:
    came = place.bullet.provenance
    return local_day(came.date) if came is not None else "by hand"


def pair_act(name: str, pair: Superseding | Alike, seen: str) -> tuple[str, Act]:
    """What is said afterwards, and the command of one of `PAIR_ACTIONS`; `seen` is the sha256 of the file."""
    if isinstance(pair, Superseding):
        key = pair.key
        if name == "replace":
            return "Struck through as outdated", lambda core: supersede(core, "accept", key, seen=seen)
        return "Both stay", lambda core: supersede(core, "dismiss", key)
    goes = pair.second if name == "first" else pair.first
    refs = placed_refs(goes)
    return "Struck through", lambda core: change_all(core, "strike", refs, seen=seen)


def stands(pair: Superseding | Alike) -> Placed:
    """The one of a pair that the inspector tells of: the old one, or the first."""
    return pair.old if isinstance(pair, Superseding) else pair.first


class Comparison:
    """Keeps `lists` up to date with what the view shows: one comparing at a time, `on_new` after each."""

    def __init__(self, shell: Shell, on_new: Callable[[], object]) -> None:
        self._shell, self._on_new = shell, on_new
        self.lists = PairLists()
        self.pending = False
        self._of: Knowledge | None = None

    def ask(self, data: Knowledge, again: bool = False) -> None:
        """Compare when these are other bullets than the last time, or `again`."""
        if again:
            self._of = None
        if self.pending or data is self._of or not data.views:
            return
        self.pending, self._of = True, data
        workspace = self._shell.workspace

        def compare(_job: object) -> Result[PairLists]:
            with quietly(large=sum(len(view.rows) for view in data.views) > LARGE_ROWS):
                return pair_lists(workspace)

        def done(result: Result[Any]) -> None:
            self.pending = False
            if self._shell.workspace.paths != workspace.paths:
                self._of, self.lists = None, PairLists()
            elif isinstance(result, Ok):
                self.lists = result.value
            elif result.error.code != "cancelled":
                self._shell.error(result.error)
            self._on_new()
            self._shell.change()  # the bullets may have changed meanwhile: the view asks again

        self._shell.submit("Comparing the bullets", compare, done, lane=COMPARE)
