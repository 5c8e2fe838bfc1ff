"""What the panel knows, as plain data. Views read it and never change it; the shell exchanges it for another.

The worker gathers a `Snapshot` of the store and whatever each view wants beside it (`View.gather`); the interface
thread puts both into a new `State` and calls `refresh(state)` of the view that is open. What the views see is frozen,
and a part that did not change is the same object as before: `before.snapshot is now.snapshot` tells cheaply that
nothing is new. `History` is what this window did and can take back; nobody else's writes stand in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from core.base.result import ErrorInfo
from core.commands.panel.ledger_rows import LedgerRows, rows_of
from core.commands.panel.overview import Overview
from core.commands.settings import Settings, TrustRow


@dataclass(frozen=True)
class Selection:
    """What the evidence is of. `kind` says what the other parts mean:

    - "": nothing.
    - "conversation": `key` is the key of a ledger entry (a sha256, or `path:...` for what was pruned).
    - "bullet": `key` is the file below the knowledge folder (`facts.md`, `files/66310-123.md`), `line` the line of
      the bullet counted from 1, `raw` that line as it was seen.
    - "file": `key` is a file of the store: its path below the knowledge folder (`digest.md`, `prompts/summarize.md`).
    - "source": `key` is the absolute path of a source file that has notes, `line` a line to bring into sight (0: none).
    """

    kind: str = ""
    key: str = ""
    line: int = 0
    raw: str = ""

    @property
    def home(self) -> str:
        """The view in which such a thing is seen, "" for none in particular."""
        if self.kind == "bullet":
            return "files" if self.key.startswith("files/") else "knowledge"
        return {"conversation": "conversations", "source": "files"}.get(self.kind, "")


NOTHING = Selection()


NO_ROWS = rows_of(())


@dataclass(frozen=True)
class Snapshot:
    """The store as it was read once. `ledger` is newest first; `settings_sha` is the sha256 of the file that a change
    of a setting goes to, as it was read; `problems` is what could not be read; `waiting` is what the current folder
    wants a yes for."""

    overview: Overview
    settings: Settings
    ledger: LedgerRows = NO_ROWS
    settings_sha: str = ""
    problems: tuple[ErrorInfo, ...] = ()
    waiting: tuple[TrustRow, ...] = ()


@dataclass(frozen=True)
class Activity:
    """The harvest that runs: how far it is (`done` of `total`, 0 when unknown), whether it was asked to stop. `tokens`
    spent so far, `price` in US dollars; `left` is how many seconds it will still take, 0 while nobody knows; `failed`
    is how many of those that are done were not to be read."""

    done: int = 0
    total: int = 0
    stopping: bool = False
    tokens: int = 0
    price: float | None = None
    left: float = 0.0
    failed: int = 0


@dataclass(frozen=True)
class State:
    """Everything that a view may show.

    `away` says that the home is not the user's own but the demo's. `data` holds what the `gather` function of each
    view returned, by the view's name; `view` names the view that is open; `problem` is why nothing could be
    gathered. Of a large ledger `first_counts` (by status) and `first_rows` are there before a snapshot is. `returns`
    counts how often the user came back to the window, or wanted all read again.
    """

    home: str = ""
    away: bool = False
    view: str = "knowledge"
    snapshot: Snapshot | None = None
    first_counts: Mapping[str, int] | None = None
    first_rows: LedgerRows | None = None
    data: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    selected: Selection = NOTHING
    activity: Activity | None = None
    problem: ErrorInfo | None = None
    returns: int = 0

    def of(self, view: str) -> Any:
        """What that view's `gather` returned last, None before the first time."""
        return self.data.get(view)


@dataclass(frozen=True)
class Step:
    """One thing that was done, or taken back. `act()` goes the other way; `run` is that of an edit, or a setting's."""

    act: Callable[[], object]
    run: str


@dataclass
class History:
    """Both ends of the way, the last step at the end of each."""

    done: list[Step] = field(default_factory=list)
    taken_back: list[Step] = field(default_factory=list)

    def did(self, step: Step) -> None:
        """Something new was done: what was taken back before cannot be done again."""
        self.done.append(step)
        self.taken_back.clear()

    def went_back(self, inverse: Step, run: str) -> None:
        """The step of a run was taken back; `inverse` does it again. What another window or the list of runs did is not
        of this window, and does not come in."""
        if self._leave(self.done, run):
            self.taken_back.append(inverse)

    def went_on(self, inverse: Step, run: str) -> None:
        """The step of a run that was taken back was done again; `inverse` takes it back."""
        if self._leave(self.taken_back, run):
            self.done.append(inverse)

    def drop(self, run: str) -> None:
        """A step that cannot be gone any more: somebody has changed since what it wrote."""
        self._leave(self.done, run)
        self._leave(self.taken_back, run)

    def clear(self) -> None:
        """For another home."""
        self.done.clear()
        self.taken_back.clear()

    def _leave(self, steps: list[Step], run: str) -> bool:
        found = [one for one in steps if one.run == run]
        if found:
            steps.remove(found[-1])
        return bool(found)
