"""One thing of a list being edited in the place of its row: from opening the editor to what a command answered."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from core.base.result import ErrorInfo, Result
from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.toolkit.editor import Editor, EditorKind, Typed
from gui.toolkit.flow import FlowList
from gui.toolkit.theme import Look

CHANGED = "The file was changed outside while you were writing, so nothing was written."
OTHER_WORDS = "other-words"
"""The code of an error of ours: what stands in the file now is another text, and must be shown first."""
ATTEMPTS = 5
"""How often a person's words are tried on the file as it is now, while a harvest changes it again and again."""

T = TypeVar("T")


class Editing(Generic[T]):
    """The editor of a list with what it is about: `target`, None while nothing is edited.

    `on_arrange()` is called when the list must make room or close the gap; `on_saved(target, value)` hears what a
    command answered. Bullets, memories and facts each say what they are in `KIND` and the four methods below it.
    """

    NAME = "The edit"
    REMEMBERED = True
    """Whether what is saved comes into the history of the window by itself; else `on_saved` sees to that."""
    KIND: EditorKind

    def key_of(self, target: T) -> Hashable:
        """The key of the row in whose place the editor stands."""
        raise NotImplementedError

    def save(self, target: T) -> None:
        """Write what stands in the editor, with `write`; or close it when there is nothing to write."""
        raise NotImplementedError

    def again(self, target: T) -> None:
        """Write it onto the file as it is now, which the person has been told is another one."""
        raise NotImplementedError

    def reopen(self, target: T, typed: Typed) -> None:
        """Open the editor once more, with what was typed before it was closed."""
        raise NotImplementedError

    def refused(self, target: T, error: ErrorInfo) -> None:
        """What was not saved, and why; the editor is still open."""
        if error.code == "changed-outside":
            self.editor.ask(CHANGED)
        else:
            self.editor.refuse(str(error))

    # --- the same for all ---

    def __init__(
        self,
        look: Look,
        shell: Shell,
        rows: FlowList,
        *,
        on_arrange: Callable[[], object],
        on_saved: Callable[[T, Any], object],
    ) -> None:
        self._shell, self._list, self._on_arrange, self._on_saved = shell, rows, on_arrange, on_saved
        self.target: T | None = None
        self.writing = False
        self.editor = Editor(
            look, self.KIND, on_save=self._save, on_cancel=self.cancel, on_choice=self.choose, on_height=self.cover,
            room=lambda: rows.width,
        )  # fmt: skip

    def build(self) -> None:
        """Make the editor inside the overlay of the list, which stands already."""
        self.editor.build(self._list.overlay)

    def open(self, target: T, words: str, note: str, save: str = "Save", **more: Any) -> None:
        """Open the editor over a target; `more` goes to `Editor.begin`."""
        self.target = target
        self.editor.begin(words, note, save, **more)
        self._on_arrange()

    def press(self, key: str) -> bool:
        """A key while something is edited; true when it was used."""
        return self.target is not None and self.editor.press(key)

    def cover(self) -> None:
        """Keep the editor in its place."""
        if self.target is not None:
            self._list.cover(self.key_of(self.target), self.editor.height)

    def cancel(self) -> None:
        """Close the editor; words that were written can be brought back for a moment."""
        target, typed = self.target, self.editor.typed
        changed = bool(typed.words.strip()) and typed.words != self.editor.before
        self.close()
        if not changed or target is None:
            return
        put_aside = target

        def bring_back() -> None:
            if self.target is None:
                self.reopen(put_aside, typed)

        self._shell.toast("Your words were put aside", icon="undo-2", color="accent", action="Bring back",
                          on_action=bring_back)  # fmt: skip

    def close(self) -> None:
        """Close the editor, whatever stands in it."""
        self.target = None
        self.editor.close()
        self._list.uncover()
        self._on_arrange()

    def choose(self, which: str) -> None:
        """One of the three ways out of a question: `again`, `theirs` or `copy`."""
        if which == "copy":
            self._shell.copy(self.editor.words, "Your words are on the clipboard")
        elif which == "theirs":
            self.cancel()
        elif self.target is not None and not self.writing:
            self.again(self.target)

    def write(
        self,
        target: T,
        act: Callable[[Workspace], Result[Any]],
        failed: Callable[[T, ErrorInfo], object] | None = None,
        said: str = "",
    ) -> None:
        """Run a command; one at a time: whoever presses twice must not write twice."""
        self.writing = True
        self.editor.tell("Saving…")
        self.editor.let_go()

        def done(value: Any) -> None:
            self.writing = False
            self.editor.take_back()
            self._on_saved(target, value)
            if self.target is target:
                self.close()

        def not_done(error: ErrorInfo) -> None:
            self.writing = False
            self.editor.take_back()
            if self.target is None:
                self._shell.error(error)
            else:
                (failed or self.refused)(self.target, error)

        self._shell.write(self.NAME, act, done=done, failed=not_done, said=said, remember=self.REMEMBERED)

    def _save(self) -> None:
        if self.target is not None and not self.writing:
            self.save(self.target)
