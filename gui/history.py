"""What this window did and can take back, and what it took back and can do again. Nobody else's writes stand here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gui.toolkit.keys import Shortcut

UNDO, REDO = "undo", "redo"

HISTORY_KEYS: tuple[Shortcut, ...] = (
    Shortcut("Z", UNDO, "Take back what you did last in this window", ("Ctrl",)),
    Shortcut("Y", REDO, "Do again what you took back", ("Ctrl",)),
    Shortcut("Z", REDO, "Do again what you took back", ("Ctrl", "Shift")),
)


@dataclass(frozen=True)
class Step:
    """One thing that was done, or taken back. `act()` goes the other way; `run` is that of an edit, "" for none."""

    act: Callable[[], object]
    run: str = ""


@dataclass
class History:
    """Both ends of the way, the last step at the end of each."""

    done: list[Step] = field(default_factory=list)
    taken_back: list[Step] = field(default_factory=list)

    def did(self, step: Step) -> None:
        """Something new was done: what was taken back before cannot be done again."""
        self.done.append(step)
        self.taken_back.clear()

    def went_back(self, inverse: Step, run: str = "") -> None:
        """The last step, or the one of a run, was taken back; `inverse` does it again. What another window or the list
        of runs did is not of this window, and does not come in."""
        if self._leave(self.done, run):
            self.taken_back.append(inverse)

    def went_on(self, inverse: Step, run: str = "") -> None:
        """The last step that was taken back, or that of a run, was done again; `inverse` takes it back."""
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
        at = next((at for at in reversed(range(len(steps))) if not run or steps[at].run == run), None)
        if at is None:
            return False
        del steps[at]
        return True
