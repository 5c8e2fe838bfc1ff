"""One fact being edited in the place of its row: from opening the editor to the saved file, come what may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.commands.fact_edits import FactRow, edit_fact, facts_view
from core.commands.workspace import Workspace
from gui.flow import FlowList
from gui.shell import Shell
from gui.theme import Look
from gui.views.bullet_editor import BulletEditor, shortened
from gui.views.facts_rows import same_words, values_of
from gui.widgets import field, hint, text
from gui.widgets_layout import lowered

FIELDS = 28 + 8  # the row of small fields, and what is below it
ATTEMPTS = 5
OTHER_WORDS = "other-words"
STAYS = "Its id, its dates and its confirmations stay"
CHANGED = "The file was changed outside while you were writing, so nothing was written."
SMALL = (
    ("confidence", "Confidence", 64, "0.0 to 1.0, or a percentage"),
    ("tags", "Tags", 190, "lower-case letters, digits and hyphens, with spaces between"),
    ("expires", "Expires", 104, "a day such as 2026-12-31, or nothing"),
)


class FactEditor(BulletEditor):
    """The editor of a bullet with three small fields below the words."""

    def build(self, parent: int) -> None:
        """Make all items inside the overlay of a list; once."""
        super().build(parent)
        inside = int(dpg.get_item_parent(self.field) or 0)
        row = int(dpg.add_group(horizontal=True, parent=inside, before=self._question))
        self.small: dict[str, int] = {}
        for name, label, width, tip in SMALL:
            text(self._look, lowered(self._look, row, 7), label, "small", "hint")
            self.small[name] = field(self._look, row, width=width)
            hint(self._look, self.small[name], tip)

    @property
    def height(self) -> float:
        """How high it wants to be, in unscaled pixels."""
        return super().height + FIELDS

    def fill(self, row: FactRow) -> None:
        """Put the small fields right for a fact."""
        shown = {"confidence": f"{row.stated:g}", "tags": " ".join(row.fact.tags), "expires": row.fact.expires}
        for name, item in self.small.items():
            dpg.set_value(item, shown[name])

    def values(self, row: FactRow) -> Result[dict[str, Any]]:
        """What was changed."""
        typed = {name: str(dpg.get_value(item)) for name, item in self.small.items()}
        return values_of(row, self.words, **typed)


class FactSession:
    """The editor of the list of facts with what it is about; `target` is None while nothing is edited."""

    def __init__(
        self,
        look: Look,
        shell: Shell,
        rows: FlowList,
        *,
        on_arrange: Callable[[], object],
        on_saved: Callable[[Any], object],
    ) -> None:
        self._shell, self._list, self._on_arrange, self._on_saved = shell, rows, on_arrange, on_saved
        self.target: FactRow | None = None
        self._writing = False
        self.editor = FactEditor(
            look,
            on_save=lambda _words: self._save(),
            on_cancel=self.cancel,
            on_choice=self._choose,
            on_height=self.cover,
            room=lambda: rows.width,
        )

    def build(self) -> None:
        """Make the editor inside the overlay of the list, which stands already."""
        self.editor.build(self._list.overlay)

    @property
    def key(self) -> tuple[str, ...] | None:
        """The key of the row that is edited."""
        return ("fact", self.target.fact.id) if self.target is not None else None

    def edit(self, row: FactRow) -> None:
        """Open the editor in the place of a row."""
        self.target = row
        self.editor.begin(row.fact.fact, STAYS)
        self.editor.fill(row)
        self._on_arrange()

    def press(self, key: str) -> bool:
        """A key while something is edited; true when it was used."""
        return self.target is not None and self.editor.press(key)

    def cover(self) -> None:
        """Keep the editor in its place."""
        if self.key is not None:
            self._list.cover(self.key, self.editor.height)

    def cancel(self) -> None:
        """Close the editor; words that were written can be brought back for a moment."""
        target, words = self.target, self.editor.typed
        changed = words != self.editor.before and bool(words)
        self._close()
        if changed and target is not None:
            self._shell.toast("Your words were put aside", icon="undo-2", color="accent", action="Bring back",
                              on_action=lambda: self._bring_back(target, words))  # fmt: skip

    def _bring_back(self, target: FactRow, words: str) -> None:
        if self.target is None:
            self.target = target
            self.editor.begin(target.fact.fact, STAYS, mine=words)
            self.editor.fill(target)
            self._on_arrange()

    def _close(self) -> None:
        self.target = None
        self.editor.close()
        self._list.uncover()
        self._on_arrange()

    def _save(self) -> None:
        target = self.target
        if target is None or self._writing:
            return
        values = self.editor.values(target)
        if isinstance(values, Err):
            self.editor.refuse(str(values.error))
        elif not values.value:
            self._close()
        else:
            changes = values.value
            self.editor.tell("Saving…")
            self._write(lambda core: edit_fact(core, target.fact.id, changes, seen=target.sha256), self._not_saved)

    def _write(self, act: Callable[[Workspace], Result[Any]], failed: Callable[[ErrorInfo], object]) -> None:
        self._writing = True

        def refused(error: ErrorInfo) -> None:
            self._writing = False
            failed(error)

        def done(value: Any) -> None:
            self._writing = False
            self._on_saved(value)
            if self.target is not None:
                self._close()

        self._shell.write("The edit", act, done=done, failed=refused, said="Changed the fact")

    def _not_saved(self, error: ErrorInfo) -> None:
        if self.target is None:
            self._shell.error(error)
        elif error.code == "changed-outside":
            self.editor.ask(CHANGED)
        else:
            self.editor.refuse(str(error))

    def _choose(self, which: str) -> None:
        if which == "copy":
            self._shell.copy(self.editor.words, "Your words are on the clipboard")
        elif which == "theirs":
            self.cancel()
        elif self.target is not None and not self._writing:
            self._again(self.target)

    def _again(self, target: FactRow) -> None:
        """Look at the file as it is now and write at once, unless other words stand there: those are shown first."""
        values = self.editor.values(target)
        if isinstance(values, Err):
            self.editor.refuse(str(values.error))
            return
        words, changes = self.editor.words, values.value
        looked: list[FactRow] = []

        def failed(error: ErrorInfo) -> None:
            if error.code == OTHER_WORDS and self.target is not None:
                self.target = looked[0]
                note = f"Now it says: {shortened(looked[0].fact.fact)}"
                self.editor.begin(looked[0].fact.fact, note, "Put mine there", mine=words)
                self._on_arrange()
            elif error.code == "changed-outside":
                self._not_saved(error)
            else:
                self.editor.settle()
                self._not_saved(error)

        self._write(lambda core: written_again(core, target, changes, looked), failed)


def written_again(core: Workspace, target: FactRow, changes: Mapping[str, Any], looked: list[FactRow]) -> Result[Any]:
    """Write onto the file as it is now; on a worker. `looked` gets the fact as it stands there."""
    result: Result[Any] = fail("not-saved", "it was not saved")
    for _ in range(ATTEMPTS):
        view = facts_view(core)
        if isinstance(view, Err):
            return view
        looked[:] = [row for row in view.value.rows if row.fact.id == target.fact.id]
        if not looked:
            return fail("no-match", f"{target.fact.id} is gone from the files", hint="copy your words before you leave")
        if not same_words(looked[0], target):
            return fail(OTHER_WORDS, "other words stand there now")
        result = edit_fact(core, target.fact.id, changes, seen=looked[0].sha256)
        if isinstance(result, Ok) or result.error.code != "changed-outside":
            break
    return result
