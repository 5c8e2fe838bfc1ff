"""A bullet being edited in the place of its row: from opening the editor to what a command answered.

Where somebody else went on with the file meanwhile, the words go onto the bullet as it stands there now; where that
itself says something else by then, it is shown before anything is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.marks import BREAKS, without_invisible
from core.base.result import ErrorInfo, KnowledgeError
from core.commands import bullets
from core.commands.bullets import change_all
from core.commands.panel.bullets import category_view
from core.commands.statements import LineChange, Said, said_with
from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.toolkit.editor import Editor
from gui.toolkit.flow import FlowList
from gui.toolkit.letters import shortened
from gui.toolkit.messages import error_words
from gui.toolkit.theme import Look
from gui.views import memories
from gui.views.knowledge_rows import NAMES, BulletKey, found_again
from gui.views.looks import short_folder
from gui.views.memories import MEMORIES

ELSEWHERE = "These words were begun in another home, {}. Open that one again to save them, or copy them."
OTHER_WORDS = "other-words"
"""The code of an error of ours: what stands in the file now is another text, and must be shown first."""
ATTEMPTS = 5
"""How often a user's words are tried on the file as it is now, while a harvest changes it again and again."""
ADDING: BulletKey = ("", "", 0)
UNSAVED = "unsaved"
"""The name under which such words are remembered."""
NOT_SAVED = "Written when the window was closed, and not saved"
STAYS = "Where it came from stays with it"
STAY = "It changes in all {} lines that say it; where they came from stays"


def visible(words: str) -> str:
    """Words of somewhere else without what nobody sees in them: so they will be saved."""
    return without_invisible(BREAKS.sub("\n", words))


def insisting(act: Callable[[Workspace], Any]) -> Callable[[Workspace], Any]:
    """A command that looks at a file and writes at once, as one piece of work: between two frames a harvest would
    change the file again, and the user would be refused for as long as it runs."""

    def run(workspace: Workspace) -> Any:
        for _ in range(ATTEMPTS - 1):
            try:
                return act(workspace)
            except KnowledgeError as failed:
                if failed.error.code != "changed-outside":
                    raise
        return act(workspace)

    return run


@dataclass(frozen=True)
class BulletTarget:
    """What is being edited, in which home: the row in whose place the editor stands, and the statement (None: a new
    one)."""

    home: Path
    key: BulletKey
    category: str
    one: Said | None = None

    @property
    def words(self) -> str:
        """What it says, "" for a new one."""
        return self.one.found.bullet.text if self.one is not None else ""

    @property
    def note(self) -> str:
        """What becomes of where it came from."""
        return STAY.format(len(self.one.refs)) if self.one is not None and self.one.others else STAYS

    @property
    def said(self) -> str:
        """What the toast says when it is saved."""
        return "Changed the bullet" if self.one is not None else f"Added to {NAMES[self.category].name}"


class BulletSession:
    """The editor of a list of bullets with what it is about: `target`, None while nothing is edited.

    `on_arrange()` is called when the list must make room or close the gap, `on_saved(value)` hears what a command
    answered, `on_show(category)` asks for a category to be shown.
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
        self._shell, self._list, self._on_arrange, self._on_saved = shell, rows, on_arrange, on_saved
        self._on_show = on_show
        self.target: BulletTarget | None = None
        self.writing = False
        self.editor = Editor(
            look, on_save=self.save, on_cancel=self.cancel, on_height=self.cover,
            room=lambda: rows.width, pasted=visible,
        )  # fmt: skip

    @property
    def _home(self) -> Path:
        return self._shell.workspace.paths.home

    def build(self) -> None:
        """Make the editor inside the overlay of the list, which stands already."""
        self.editor.build(self._list.overlay)

    # --- opening and closing ---

    def edit(self, key: BulletKey, one: Said) -> None:
        """Open the editor in the place of a row; all lines of the statement are changed together."""
        target = BulletTarget(self._home, key, one.found.category, one)
        self.open(target, target.note)

    def add(self, category: str) -> None:
        """Open the editor over a new row at the top."""
        label, _, _, noun = NAMES[category]
        note = "Agents can recall it; words with # at its end are its tags" if category == MEMORIES else ""
        note = note or f"A new {noun}, written by hand, for {label}"
        self.open(BulletTarget(self._home, ADDING, category), note)

    def open(self, target: BulletTarget, note: str, save: str = "", mine: str | None = None) -> None:
        """Open the editor over a target; `save` is another label for its button, `mine` other words to begin with."""
        self.target = target
        self.editor.begin(target.words, note, save or ("Save" if target.one is not None else "Add"), mine=mine)
        self._on_arrange()

    @property
    def unsaved(self) -> str:
        """What is written and not saved, for `resume` at the next start; "" for nothing."""
        target, typed = self.target, self.editor.words
        if target is None or typed.split() in ([], target.words.split()):
            return ""
        return json.dumps([str(target.home), target.category, target.words, typed])

    def resume(self, unsaved: str, known: Mapping[BulletKey, Said]) -> bool:
        """Open the editor with what was `unsaved`, on the bullet that it was about or, where that says something else
        by now, as a new one. False where it is of another home."""
        try:
            home, category, was, typed = json.loads(unsaved)
        except (ValueError, TypeError):
            return True  # nobody can read it
        if home != str(self._home) or category not in NAMES:
            return False
        target = BulletTarget(self._home, ADDING, category)
        for key, one in known.items():
            if (one.found.category, one.found.bullet.text) == (category, was):
                target = BulletTarget(self._home, key, category, one)
        self.open(target, NOT_SAVED, mine=typed)
        return True

    def cover(self) -> None:
        """Keep the editor in its place."""
        if self.target is not None:
            self._list.cover(self.target.key, self.editor.height)

    def cancel(self) -> None:
        """Close the editor; words that were written can be brought back for a moment."""
        target, typed = self.target, self.editor.words
        self.close()
        if target is None or typed.split() in ([], target.words.split()):
            return

        def bring_back() -> None:
            if self.target is None:
                self._on_show(target.category)
                self.open(target, target.note, mine=typed)

        self._shell.toast("Your words were put aside", icon="undo-2", color="accent", action="Bring back",
                          on_action=bring_back)  # fmt: skip

    def close(self) -> None:
        """Close the editor, whatever stands in it."""
        self.target = None
        self.editor.close()
        self._list.uncover()
        self._on_arrange()

    # --- saving ---

    def save(self) -> None:
        """Write the words onto the bullet as it stands in the file now, or as a new one; one command at a time: whoever
        presses twice must not write twice."""
        target, words = self.target, self.editor.words
        if target is None or self.writing:
            return
        if target.one is not None and words == target.words:
            self.close()
            return
        if target.home != self._home:
            self.editor.refuse(ELSEWHERE.format(short_folder(str(target.home))))
            return
        looked: list[Said | None] = []

        def write(workspace: Workspace) -> Any:
            if target.category == MEMORIES:
                return memories.written(workspace, words)
            view = category_view(workspace, target.category)
            found, same = found_again(view.rows, target.one.found) if target.one is not None else (None, True)
            one = said_with(view.rows, found) if found is not None else None
            looked[:] = [one]
            if not same:
                hint = "open it again and decide"
                raise KnowledgeError(OTHER_WORDS, "the bullet says something else by now", hint=hint)
            if one is None:
                return bullets.add(workspace, target.category, words, seen=view.sha256)
            return change_all(workspace, LineChange("edit", one.refs, words, seen=view.sha256))

        def answered() -> None:
            self.writing = False
            self.editor.take_back()

        def done(value: Any) -> None:
            answered()
            self._on_saved(value)
            if self.target is target:
                self.close()

        def failed(error: ErrorInfo) -> None:
            answered()
            if self.target is None:
                self._shell.error(error)
            elif error.code == OTHER_WORDS:
                self._show_other(target, looked[0], words)
            else:
                self.editor.refuse(error_words(error))

        self.writing = True
        self.editor.leave()
        self._shell.write("The edit", insisting(write), done=done, failed=failed, said=target.said)

    def _show_other(self, target: BulletTarget, one: Said | None, words: str) -> None:
        """The bullet itself is another one, or gone: shown before anything is written."""
        self._shell.refresh()  # not every folder tells that a file of it has changed
        now = BulletTarget(target.home, target.key, target.category, one)
        if one is None:
            self.open(now, "It is gone from the file; Add writes yours as a new one", mine=words)
        else:
            self.open(now, f"Now it says: {shortened(now.words)}", "Put mine there", mine=words)
