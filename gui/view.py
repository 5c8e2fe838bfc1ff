"""What a view looks like. Views never know each other, nor the panel: they ask the shell (gui/shell.py).

A new view is a file in `gui/views/` and one row in `gui/views/table.py`.

A view is a class with this shape (all on the interface thread, except `gather`):

    class KnowledgeView:
        name = "knowledge"                   # what `shell.show` and `State.view` call it
        @staticmethod
        def gather(workspace, before): ...   # optional; on a worker: read what the view shows, return plain frozen data
        def __init__(self, look, shell): ... # keep both; make no item yet
        def build(self, parent): ...         # once: make every item inside `parent`, a child window that is shown and
                                             # hidden by the panel; `look.follow(parent, fit)` tells its size
        def refresh(self, state): ...        # set values from `state`; makes no item. Called after a change of state
                                             # while the view is open, and whenever it is opened. Cheap when nothing
                                             # it shows is new: compare `state.of(self.name) is self._seen`
        def opened(self): ...                # optional: it was opened, or asked for again: give its field the keyboard
        def press(self, key, typing): ...    # a key that no dialog took: "Down", "Enter", "Delete", "Ctrl+Z"; `typing`
                                             # tells that a text field has the keyboard (then leave plain keys alone).
                                             # True when used. Number keys and shortcuts of the panel come after it.
        keys = (("N", "Write a bullet"), )   # optional: those keys with what they do, for the keys dialog
        def dispose(self): ...               # let go of what lives outside of `parent` (most views: nothing; windows
                                             # made with `look.own` and dialogs are deleted with the look)

The inspector has the same shape (its name is "inspector") and shows `state.selected`; it is always open.

**Reading.** `gather(workspace, before)` runs after every change on disk, after every edit and harvest; `before` is what
it returned last (None at first): return that very object when nothing has changed, so that nothing is drawn anew. An
exception or an `Err` from it becomes a sentence at the top of the middle. What is wanted for one selection only (a
conversation's turns, the text of a source file) is read on demand with `shell.submit`.

**Writing.** `shell.write(name, act, ...)` runs `act(workspace)`, a command of `core/commands`, on the worker, with the
sha256 of what was seen. On success the store is gathered again and `said` appears as a toast, with Undo when the answer
has a `run`. On failure `failed(error)` is called, or the error stands at the top of the middle; "changed-outside" also
gathers again, so that the person sees what is there now. Until a write has been read back keys wait by themselves; an
act by mouse begins with `if shell.puts_off(again): return`, else it would be refused as if another had changed the
file. What is edited in the place of its row: gui/editing.py.

**Places.** `shell.place(name)` remembers a small number between starts (a width), `shell.choice(name)` a word.
"""

from __future__ import annotations

from typing import Protocol

from gui.shell import Shell
from gui.state import State
from gui.toolkit.theme import Look


class View(Protocol):
    """See the top of this file."""

    name: str

    def __init__(self, look: Look, shell: Shell) -> None: ...
    def build(self, parent: int) -> object: ...
    def refresh(self, state: State) -> object: ...
    def press(self, key: str, typing: bool) -> bool: ...
    def dispose(self) -> object: ...
