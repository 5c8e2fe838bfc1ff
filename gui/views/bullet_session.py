"""One bullet being edited or written: from opening the editor to the saved line, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.commands import bullets
from core.commands.bullets import Found
from core.commands.statements import Said, change_all, said_with
from core.commands.view import CategoryView, category_view
from core.commands.workspace import Workspace
from gui.flow import FlowList
from gui.shell import Shell
from gui.theme import Look
from gui.views.bullet_editor import BulletEditor, shortened
from gui.views.knowledge_rows import CATEGORY_LOOKS, BulletKey, found_again

ADDING: BulletKey = ("", "", 0)
CHANGED = "The file was changed outside while you were writing, so nothing was written."
OTHER_WORDS = "other-words"
ATTEMPTS = 5
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


class BulletSession:
    """The editor of a list of bullets with what it is about. `target` is None while nothing is edited.

    `on_arrange()` is called when the list must make room or close the gap; `on_saved(value)` hears what a command
    answered; `on_show(category)` asks for a category to be shown.
    """

    def __init__(
        self,
        look: Look,
        shell: Shell,
        rows: FlowList,
        *,
        on_arrange: Callable[[], object],
        on_saved: Callable[[Any], object],
        on_show: Callable[[str], object],
    ) -> None:
        self._shell, self._list = shell, rows
        self._on_arrange, self._on_saved, self._on_show = on_arrange, on_saved, on_show
        self.target: Target | None = None
        self._writing = False
        self.editor = BulletEditor(
            look,
            on_save=self._save,
            on_cancel=self.cancel,
            on_choice=self._choose,
            on_height=self.cover,
            room=lambda: rows.width,
        )

    def build(self) -> None:
        """Make the editor inside the overlay of the list, which stands already."""
        self.editor.build(self._list.overlay)

    def edit(self, key: BulletKey, found: Found, seen: str, others: tuple[Found, ...] = ()) -> None:
        """Open the editor in the place of a row; `others` say the same, and are changed with it."""
        self.target = Target(key, found.category, seen, found, others)
        self.editor.begin(found.bullet.text, self.target.note)
        self._on_arrange()

    def add(self, category: str, seen: str) -> None:
        """Open the editor over a new row at the top."""
        self.target = Target(ADDING, category, seen)
        label, _, _, noun = CATEGORY_LOOKS[category]
        self.editor.begin("", f"A new {noun}, written by hand, for {label}", "Add")
        self._on_arrange()

    def press(self, key: str) -> bool:
        """A key while something is edited; true when it was used."""
        return self.target is not None and self.editor.press(key)

    def cover(self) -> None:
        """Keep the editor in its place."""
        if self.target is not None:
            self._list.cover(self.target.key, self.editor.height)

    def cancel(self) -> None:
        """Close the editor; what was written can be brought back for a moment."""
        target, words = self.target, self.editor.typed
        changed = words != self.editor.before and bool(words)
        self._close()
        if changed and target is not None:
            self._shell.toast(
                "Your words were put aside",
                icon="undo-2",
                color="accent",
                action="Bring back",
                on_action=lambda: self._bring_back(target, words),
            )

    def _bring_back(self, target: Target, words: str) -> None:
        if self.target is None:
            self._on_show(target.category)
            self.target = target
            before = target.found.bullet.text if target.found is not None else ""
            self.editor.begin(before, target.note, "Save" if before else "Add", mine=words)
            self._on_arrange()

    def _close(self) -> None:
        self.target = None
        self.editor.close()
        self._list.uncover()
        self._on_arrange()

    # --- saving ---

    def _save(self, words: str) -> None:
        target = self.target
        if target is None or self._writing:
            return
        if target.found is not None and words == target.found.bullet.text:
            self._close()
            return
        self.editor.tell("Saving…")
        category, seen = target.category, target.seen
        one = Said(target.found, target.others) if target.found is not None else None

        def write(core: Workspace) -> Result[Any]:
            return written(core, category, one, words, seen)

        self._write(write, target, self._not_saved)

    def _write(
        self, act: Callable[[Workspace], Result[Any]], target: Target, failed: Callable[[ErrorInfo], object]
    ) -> None:
        """One at a time: whoever presses twice must not write twice."""
        self._writing = True

        def refused(error: ErrorInfo) -> None:
            self._writing = False
            failed(error)

        self._shell.write("The edit", act, done=self._saved, failed=refused, said=said_of(target))

    def _saved(self, value: Any) -> None:
        self._writing = False
        self._on_saved(value)
        if self.target is not None:
            self._close()

    def _not_saved(self, error: ErrorInfo) -> None:
        if self.target is None:
            self._shell.error(error)
        elif error.code == "changed-outside":
            self.editor.ask(CHANGED)
        else:
            self.editor.refuse(str(error))

    # --- the file is another one ---

    def _choose(self, which: str) -> None:
        target = self.target
        if which == "copy":
            self._shell.copy(self.editor.words, "Your words are on the clipboard")
        elif which == "theirs":
            self.cancel()
        elif target is not None and not self._writing:
            self._write_again(target, self.editor.words)

    def _write_again(self, target: Target, words: str) -> None:
        """Look at the file as it is now and write at once, in one piece of work: between two frames a harvest would
        change the file again, and the person would be refused for as long as it runs."""
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

        def failed(error: ErrorInfo) -> None:
            if looked and self.target is not None:
                view, found = looked[0]
                others = said_with(view.rows, found).others if found is not None else ()
                self.target = Target(target.key, target.category, view.sha256, found, others)
            if error.code == OTHER_WORDS:
                self._show_other(looked[0][1], words)
            else:
                self._not_saved(error)

        self._write(write, target, failed)

    def _show_other(self, found: Found | None, words: str) -> None:
        """The bullet itself is another one, or gone: shown before anything is written."""
        if self.target is None:
            return
        if found is None:
            self.editor.begin("", "It is gone from the file; Add writes yours as a new one", "Add", mine=words)
        else:
            note = f"Now it says: {shortened(found.bullet.text)}"
            self.editor.begin(found.bullet.text, note, "Put mine there", mine=words)
        self._on_arrange()


def written(core: Workspace, category: str, one: Said | None, words: str, seen: str) -> Result[Any]:
    """Put the words into all lines of that statement, or into a new bullet; on a worker."""
    if one is None:
        return bullets.add(core, category, words, seen=seen)
    if one.others:
        return change_all(core, "edit", one.refs, words, seen=seen)
    return bullets.edit(core, category, one.found.ref, words, seen=seen)


def said_of(target: Target) -> str:
    """What the toast says when it is saved."""
    return "Changed the bullet" if target.found is not None else f"Added to {CATEGORY_LOOKS[target.category][0]}"
