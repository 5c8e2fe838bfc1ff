"""Which home the panel shows: the person's own, or another one for a while, such as the demo's; and watching it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from core.commands.workspace import Workspace
from gui.shell import Shell
from gui.state import NOTHING
from gui.watch import Watcher


class Homes:
    """`own` is the home to come back to. `changed()` is called, from any thread, when something changed on disk;
    `ask()` reads another home once it is shown."""

    def __init__(self, shell: Shell, own: Workspace, changed: Callable[[], object], ask: Callable[[], object]) -> None:
        self._shell, self.own, self._changed, self._ask = shell, own, changed, ask
        self._watcher: Watcher | None = None

    @property
    def away(self) -> bool:
        """Whether another home than the person's own is shown."""
        return self._shell.workspace.paths.home != self.own.paths.home

    def use(self, workspace: Workspace) -> None:
        """Show another home in the same window. A harvest that runs goes on in its own."""
        self._shell.workspace = workspace
        self._shell.forget_selections()
        self._shell.change(
            home=str(workspace.paths.home), away=self.away, snapshot=None, data={}, selected=NOTHING, problem=None
        )
        self.watch()
        self._ask()

    def back(self) -> None:
        """Show the person's own home again."""
        if not self.away:
            self._shell.toast("This is your own home", icon="house", color="accent")
            return
        self.use(self.own)
        self._shell.toast("Back in your own home", icon="house", color="accent")

    def watch(self) -> None:
        """Begin to watch the home that is shown."""
        self.stop()
        self._watcher = Watcher(self._shell.workspace.paths, self._changed)
        self._watcher.start()

    def also(self, files: Sequence[str]) -> None:
        """Watch these files, too."""
        if self._watcher is not None:
            self._watcher.also(files)

    def stop(self) -> None:
        """Watch no longer."""
        if self._watcher is not None:
            self._watcher.stop()
            self._watcher = None
