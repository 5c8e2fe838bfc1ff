"""One memory being written or edited: from opening the editor to the saved file, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.base.result import Err, ErrorInfo, Ok, Result
from core.commands.context import GLOBAL
from core.commands.memories import Memory, memories, read_memory, save
from core.commands.workspace import Workspace
from gui.flow import FlowList
from gui.shell import Shell
from gui.theme import Look
from gui.views.bullet_editor import shortened
from gui.views.memories_editor import MemoryEditor
from gui.views.memories_rows import tags_in

ADDING = "\n new"  # no file is called so
NEW = "A file of its own; any agent can recall it"
STAYS = "Its tags and its date stay"
CHANGED = "The file was changed outside while you were writing, so nothing was written. Now it says: "
GONE = "The file is gone: it was deleted or archived outside. Yours can be saved as a new memory."


@dataclass(frozen=True)
class Target:
    """What is edited: the row in whose place the editor stands, the memory (None: a new one) as it was seen, and its
    name for the commands."""

    key: str
    memory: Memory | None = None
    name: str = ""


class MemorySession:
    """The editor of the list of memories with what it is about. `target` is None while nothing is edited.

    `on_arrange()` is called when the list must make room or close the gap; `on_saved(target, value)` hears what a
    command answered.
    """

    def __init__(
        self,
        look: Look,
        shell: Shell,
        rows: FlowList,
        *,
        on_arrange: Callable[[], object],
        on_saved: Callable[[Target, Any], object],
    ) -> None:
        self._shell, self._list = shell, rows
        self._on_arrange, self._on_saved = on_arrange, on_saved
        self.target: Target | None = None
        self.project = ""
        self._writing = False
        self.editor = MemoryEditor(
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

    def edit(self, memory: Memory, name: str) -> None:
        """Open the editor in the place of a row."""
        self.target = Target(str(memory.path), memory, name)
        self.editor.begin(memory.content, STAYS, new=False)
        self._on_arrange()

    def add(self, words: str = "", tags: str = "") -> None:
        """Open the editor over a new row at the top."""
        self.target = Target(ADDING)
        self.editor.begin("", NEW, new=True, project=bool(self.project), mine=words or None, tags=tags)
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
        target, (words, tags) = self.target, self.editor.typed
        changed = bool(words.strip()) and words != self.editor.before
        self._close()
        if changed and target is not None:
            self._shell.toast(
                "Your words were put aside",
                icon="undo-2",
                color="accent",
                action="Bring back",
                on_action=lambda: self._bring_back(target, words, tags),
            )

    def _bring_back(self, target: Target, words: str, tags: str) -> None:
        if self.target is not None:
            return
        if target.memory is None:
            self.add(words, tags)
            return
        self.target = target
        self.editor.begin(target.memory.content, STAYS, new=False, mine=words)
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
        if target.memory is not None and words.strip() == target.memory.content:
            self._close()
            return
        tags = tags_in(self.editor.tag_words)
        project = self.project if self.editor.new and self.project and self.editor.scope.on else ""
        self.editor.tell("Saving…")
        self._write(target, lambda core: written(core, target, words, tags, project))

    def _write(self, target: Target, act: Callable[[Workspace], Result[Any]]) -> None:
        """One at a time: whoever presses twice must not write twice."""
        self._writing = True

        def done(value: Any) -> None:
            self._writing = False
            if self.target is target:
                self._close()
            self._on_saved(target, value)

        def failed(error: ErrorInfo) -> None:
            self._writing = False
            if self.target is None:
                self._shell.error(error)
            elif target.memory is not None and error.code in ("changed-outside", "no-match"):
                self._look_again(target.memory)
            else:
                self.editor.tell(str(error))

        self._shell.write("The memory", act, done=done, failed=failed)

    def _look_again(self, old: Memory) -> None:
        """Show what stands there now, before anything is written over it."""

        def looked(result: Result[Any]) -> None:
            if self.target is None:
                return
            if isinstance(result, Err):
                self.editor.tell(str(result.error))
                return
            found: Memory | None = result.value
            words, tags = self.editor.words, self.editor.tag_words
            if found is None:
                self.target = Target(self.target.key)
                self.editor.begin("", GONE, new=True, project=bool(self.project), mine=words, tags=tags)
            else:
                self.target = Target(self.target.key, found, self.target.name)
                self.editor.ask(CHANGED + shortened(" ".join(found.content.split())))
            self._on_arrange()

        self._shell.submit(
            "The memory", lambda _job: read_memory(old.path, old.scope) if old.path.exists() else None, looked
        )

    def _choose(self, which: str) -> None:
        target = self.target
        if which == "copy":
            self._shell.copy(self.editor.words, "Your words are on the clipboard")
        elif which == "theirs":
            self.cancel()
        elif target is not None and not self._writing:
            self.editor.settle()
            words = self.editor.words
            self._write(target, lambda core: written(core, target, words, (), ""))


def written(
    core: Workspace, target: Target, words: str, tags: list[str] | tuple[str, ...], project: str
) -> Result[Any]:
    """Put the words into that memory, or into a new one; on a worker."""
    if target.memory is None:
        return save(core, words, tag=tags, project=project)
    edited = memories(core, "edit", target.name, words, seen=target.memory.sha256)
    if isinstance(edited, Err) and edited.error.code == "unchanged":
        return Ok(None)  # the same words stand there already, whoever wrote them
    return edited


def is_undone_here(target: Target, value: Any) -> bool:
    """Whether `knowledge undo` can take it back: what was edited in the home, not in a project's folder."""
    return target.memory is not None and target.memory.scope == GLOBAL and bool(getattr(value, "run", ""))
