"""One bullet being edited or written: what stands in the file, what is written, and what when both went on."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.commands import bullets
from core.commands.bullets import Found
from core.commands.statements import Said, change_all, said_with
from core.commands.view import CategoryView, category_view
from core.commands.workspace import Workspace
from gui.editing import ATTEMPTS, OTHER_WORDS, Editing
from gui.shell import Shell
from gui.toolkit.editor import EditorKind, Typed, broken, joined, shortened
from gui.toolkit.flow import FlowList
from gui.toolkit.theme import Look
from gui.views.knowledge_rows import BulletKey, found_again
from gui.views.looks import CATEGORIES

ADDING: BulletKey = ("", "", 0)
STAYS = "Where it came from stays with it"
STAY = "It changes in all {} lines that say it; where they came from stays"


@dataclass(frozen=True)
class Target:
    """What is being edited: the row in whose place the editor stands, the bullet (None: a new one) with the older ones
    that say the same, what was seen."""

    key: BulletKey
    category: str
    seen: str
    found: Found | None = None
    others: tuple[Found, ...] = ()

    @property
    def note(self) -> str:
        """What becomes of where it came from."""
        return STAY.format(len(self.others) + 1) if self.others else STAYS


class BulletSession(Editing[Target]):
    """The editor of a list of bullets; `on_show(category)` asks for a category to be shown."""

    KIND = EditorKind(
        again=("Try again on the new text", "Look the bullet up in the file as it is now, and put your words there"),
        theirs=("Show theirs", "Leave the file as it is; your words can be brought back"),
        shown=broken,
        read=joined,
    )

    def __init__(
        self,
        look: Look,
        shell: Shell,
        rows: FlowList,
        *,
        on_arrange: Callable[[], object],
        on_saved: Callable[[Target, Any], object],
        on_show: Callable[[str], object],
    ) -> None:
        super().__init__(look, shell, rows, on_arrange=on_arrange, on_saved=on_saved)
        self._on_show = on_show

    def edit(self, key: BulletKey, found: Found, seen: str, others: tuple[Found, ...] = ()) -> None:
        """Open the editor in the place of a row; `others` say the same, and are changed with it."""
        target = Target(key, found.category, seen, found, others)
        self.open(target, found.bullet.text, target.note)

    def add(self, category: str, seen: str) -> None:
        """Open the editor over a new row at the top."""
        label, _, _, noun = CATEGORIES[category]
        self.open(Target(ADDING, category, seen), "", f"A new {noun}, written by hand, for {label}", "Add")

    def key_of(self, target: Target) -> Hashable:
        """The key of the row in whose place the editor stands."""
        return target.key

    def reopen(self, target: Target, typed: Typed) -> None:
        """Open the editor once more, with what was typed before it was closed."""
        self._on_show(target.category)
        before = target.found.bullet.text if target.found is not None else ""
        self.open(target, before, target.note, "Save" if before else "Add", mine=typed.words)

    def save(self, target: Target) -> None:
        """Write the words into the bullet as it was seen, or as a new one."""
        words = self.editor.words
        if target.found is not None and words == target.found.bullet.text:
            self.close()
            return
        one = Said(target.found, target.others) if target.found is not None else None
        self.write(target, lambda core: written(core, target.category, one, words, target.seen), said=said_of(target))

    def again(self, target: Target) -> None:
        """Look at the file as it is now and write at once, in one piece of work: between two frames a harvest would
        change the file again, and the person would be refused for as long as it runs."""
        words = self.editor.words
        looked: list[tuple[CategoryView, Found | None]] = []

        def write(core: Workspace) -> Result[Any]:
            result: Result[Any] = fail("not-saved", "it was not saved")
            for _ in range(ATTEMPTS):
                view = category_view(core, target.category)
                if isinstance(view, Err):
                    return view
                found, same = found_again(view.value.rows, target.found) if target.found is not None else (None, True)
                looked[:] = [(view.value, found)]
                if not same:
                    return fail(OTHER_WORDS, "other words stand there now")
                one = said_with(view.value.rows, found) if found is not None else None
                result = written(core, target.category, one, words, view.value.sha256)
                if isinstance(result, Ok) or result.error.code != "changed-outside":
                    break
            return result

        def failed(now: Target, error: ErrorInfo) -> None:
            if looked:
                view, found = looked[0]
                others = said_with(view.rows, found).others if found is not None else ()
                now = self.target = Target(target.key, target.category, view.sha256, found, others)
            if error.code == OTHER_WORDS:
                self._show_other(now, words)
            else:
                self.refused(now, error)

        self.write(target, write, failed, said_of(target))

    def _show_other(self, now: Target, words: str) -> None:
        """The bullet itself is another one, or gone: shown before anything is written."""
        if now.found is None:
            self.open(now, "", "It is gone from the file; Add writes yours as a new one", "Add", mine=words)
        else:
            note = f"Now it says: {shortened(now.found.bullet.text)}"
            self.open(now, now.found.bullet.text, note, "Put mine there", mine=words)


def written(core: Workspace, category: str, one: Said | None, words: str, seen: str) -> Result[Any]:
    """Put the words into all lines of that statement, or into a new bullet; on a worker."""
    if one is None:
        return bullets.add(core, category, words, seen=seen)
    if one.others:
        return change_all(core, "edit", one.refs, words, seen=seen)
    return bullets.edit(core, category, one.found.ref, words, seen=seen)


def said_of(target: Target) -> str:
    """What the toast says when it is saved."""
    return "Changed the bullet" if target.found is not None else f"Added to {CATEGORIES[target.category].name}"
