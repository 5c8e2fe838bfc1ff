"""One memory being written or edited: its words, a new one's tags and place, and what when its file changed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from core.base.result import Err, ErrorInfo, Ok, Result
from core.commands.context import GLOBAL
from core.commands.memories import Memory, memories, read_memory, save
from core.commands.workspace import Workspace
from gui.editing import CHANGED, Editing
from gui.toolkit.editor import SOFT, EditorKind, SmallField, Typed, shortened, soft_broken, soft_joined
from gui.toolkit.icons import icon
from gui.views.memories_rows import tags_in

ADDING = "\n new"  # no file is called so
NEW = "A file of its own; any agent can recall it"
STAYS = "Its tags and its date stay"
GONE = "The file is gone: it was deleted or archived outside. Yours can be saved as a new memory."


@dataclass(frozen=True)
class Target:
    """What is edited: the row in whose place the editor stands, the memory (None: a new one) as it was seen, and its
    name for the commands."""

    key: str
    memory: Memory | None = None
    name: str = ""


class MemorySession(Editing[Target]):
    """The editor of the list of memories. `project` is the folder of the project that a new one may go into."""

    NAME = "The memory"
    REMEMBERED = False
    KIND = EditorKind(
        again=("Put mine there", "Write your words over what stands in the file now"),
        theirs=("Keep theirs", "Leave the file as it is; your words can be brought back"),
        shown=soft_broken,
        read=soft_joined,
        soft=f" {SOFT}\n",
        least=4,
        most=14,
        spare=1,
        small=(SmallField("tags", 300, placeholder=f"{icon('tag')}  Tags, with commas between"),),
        switch=("Only in this project", "Save it into the project around this folder instead of your home"),
    )
    project = ""

    def edit(self, memory: Memory, name: str) -> None:
        """Open the editor in the place of a row."""
        self.open(Target(str(memory.path), memory, name), memory.content, STAYS)

    def add(self, words: str = "", tags: str = "", note: str = NEW, key: str = ADDING) -> None:
        """Open the editor over a new row at the top, or in the place of another one."""
        switch = False if self.project else None
        self.open(Target(key), "", note, "Save it", mine=words or None, small={"tags": tags}, switch=switch)

    def key_of(self, target: Target) -> Hashable:
        """The key of the row in whose place the editor stands."""
        return target.key

    def reopen(self, target: Target, typed: Typed) -> None:
        """Open the editor once more, with what was typed before it was closed."""
        if target.memory is None:
            self.add(typed.words, typed.small["tags"])
        else:
            self.open(target, target.memory.content, STAYS, mine=typed.words)

    def save(self, target: Target) -> None:
        """Write the words into the memory as it was seen, or as a new one."""
        typed = self.editor.now
        if target.memory is not None and typed.words.strip() == target.memory.content:
            self.close()
            return
        project = self.project if target.memory is None and typed.switch else ""
        tags = tags_in(typed.small["tags"])
        self.write(target, lambda core: written(core, target, typed.words, tags, project))

    def again(self, target: Target) -> None:
        """Write over what the question has shown."""
        self.editor.settle()
        words = self.editor.words
        self.write(target, lambda core: written(core, target, words, (), ""))

    def refused(self, target: Target, error: ErrorInfo) -> None:
        """What was not saved, and why; of a file that changed it shows what stands there now, before anything is
        written over it."""
        old = target.memory
        if old is None or error.code not in ("changed-outside", "no-match"):
            self.editor.refuse(str(error))
            return

        def looked(result: Result[Any]) -> None:
            if self.target is None:
                return
            if isinstance(result, Err):
                self.editor.refuse(str(result.error))
                return
            found: Memory | None = result.value
            if found is None:
                typed = self.editor.now
                self.add(typed.words, typed.small["tags"], GONE, target.key)
            else:
                self.target = Target(target.key, found, target.name)
                self.editor.ask(f"{CHANGED} Now it says: {shortened(' '.join(found.content.split()))}")

        self._shell.submit(
            self.NAME, lambda _job: read_memory(old.path, old.scope) if old.path.exists() else None, looked
        )


def written(core: Workspace, target: Target, words: str, tags: Sequence[str], project: str) -> Result[Any]:
    """Put the words into that memory, or into a new one; on a worker."""
    if target.memory is None:
        return save(core, words, tag=list(tags), project=project)
    edited = memories(core, "edit", target.name, words, seen=target.memory.sha256)
    if isinstance(edited, Err) and edited.error.code == "unchanged":
        return Ok(None)  # the same words stand there already, whoever wrote them
    return edited


def is_undone_here(target: Target, value: Any) -> bool:
    """Whether `knowledge undo` can take it back: what was edited in the home, not in a project's folder."""
    return target.memory is not None and target.memory.scope == GLOBAL and bool(getattr(value, "run", ""))
