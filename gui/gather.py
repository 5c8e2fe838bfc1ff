"""Reads the store for the panel, one job at a time, asked for as often as somebody likes; and which home that is: the
person's own, or another one for a while, such as the demo's."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.base import files
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.panel.ledger_rows import LedgerRows, counts_at_once, ledger_rows
from core.commands.panel.overview import overview
from core.commands.settings import NOT_TRUSTED, Settings, asked, config_show, unanswered
from core.commands.workspace import Workspace, reopened
from gui.shell import GATHER, Shell
from gui.state import NO_ROWS, NOTHING, Snapshot
from gui.views.looks import learn, ledger_unread
from gui.watch import Watcher

LATE = "archive-late"
"""The code of what its tool will have deleted before anything harvests it."""
SETTLE_SECONDS = 0.12
"""How long a change rests before the store is read: an editor's save is several changes."""

Gatherer = Callable[[Workspace, Any], Any]


@dataclass(frozen=True)
class Gathered:
    """What one reading gave: the settings as they are now, the store, what views wanted, and which ledger it was."""

    workspace: Workspace
    snapshot: Snapshot
    data: Mapping[str, Any]
    ledger_seen: tuple[Any, ...]


def gather(
    workspace: Workspace,
    gatherers: Mapping[str, Gatherer],
    before: Snapshot | None = None,
    data: Mapping[str, Any] | None = None,
    ledger_seen: tuple[Any, ...] = (),
    tell: Callable[[LedgerRows], object] = lambda _rows: None,
) -> Gathered:
    """Read the settings, the store and what views want. Parts that are as before are the same objects as before; `tell`
    hears of the ledger before all the rest is read.

    What cannot be read is named in `problems`; raises KnowledgeError only where there is nothing to show at all.
    """
    problems: list[ErrorInfo] = []
    now, unread = workspace, ""
    try:
        now = reopened(workspace)
    except KnowledgeError as failed:
        problems.append(failed.error)
        unread = str(failed.error)
    rows, seen = _ledger(now, before, ledger_seen, problems)
    learn(rows.called)
    tell(rows)
    looked = overview(now, problem=unread)
    problems += looked.status.errors
    late = looked.status.late.partition(": '")[0]  # the rest names commands
    if late and not ledger_unread(problems):
        hint = "'knowledge schedule' harvests them each hour"
        problems.append(ErrorInfo(LATE, late, hint=hint))
    settings = config_show(now)
    waiting = tuple(unanswered(now))
    found = Snapshot(
        before.overview if before is not None and before.overview == looked else looked,
        settings,
        rows,
        _sha_of(settings),
    )
    # What a conversation is called stands in many rows.
    seen_by = (data or {}) if before is None or before.ledger.mark == rows.mark else {}
    fresh = {name: _view_data(name, call, now, seen_by.get(name), problems) for name, call in gatherers.items()}
    problems += [ErrorInfo(NOT_TRUSTED, asked(row), row.path) for row in waiting]
    problems += [] if unread else odd_settings(now)
    found = replace(found, problems=tuple(dict.fromkeys(problems)), waiting=waiting)
    return Gathered(now, before if before == found and before is not None else found, fresh, seen)


def odd_settings(workspace: Workspace) -> list[ErrorInfo]:
    """What the command line says of the settings with every command; a folder's own file is asked about by itself."""
    file, folder = workspace.loaded.file, workspace.loaded.folder
    told = [words for words in workspace.loaded.warnings if folder is None or words != folder.warning]
    return [ErrorInfo("odd-settings", words.replace(str(file), file.name), str(file)) for words in told]


def _ledger(
    workspace: Workspace, before: Snapshot | None, seen: tuple[Any, ...], problems: list[ErrorInfo]
) -> tuple[LedgerRows, tuple[Any, ...]]:
    """The ledger, read again only when its file is another one: a hundred thousand entries take a second."""
    now = _ledger_state(workspace)
    if before is not None and now and now == seen:
        return before.ledger, now
    try:
        return ledger_rows(workspace), now
    except KnowledgeError as failed:
        problems.append(failed.error)
        return (before.ledger if before is not None else NO_ROWS), ()


def _ledger_state(workspace: Workspace) -> tuple[Any, ...]:
    """Which file the ledger is: path, inode, size in bytes, time of change; empty when there is none."""
    try:
        state = workspace.paths.ledger.stat()
    except OSError:
        return ()
    return str(workspace.paths.ledger), state.st_ino, state.st_size, state.st_mtime_ns


def _view_data(name: str, call: Gatherer, workspace: Workspace, before: Any, problems: list[ErrorInfo]) -> Any:
    """What one view wants. A mistake in it, or a file that cannot be read, leaves what was there before."""
    try:
        return call(workspace, before)
    except KnowledgeError as failed:
        problems.append(failed.error)
        return before
    except Exception as problem:  # noqa: BLE001 - one view's trouble is told, and hides no other view
        problems.append(ErrorInfo("view-unreadable", f"the view {name} could not be filled: {problem}"))
        return before


def _sha_of(settings: Settings) -> str:
    try:
        return hashlib.sha256(files.read_or_empty(Path(settings.writable))).hexdigest()
    except OSError:
        return ""


class Reader:
    """Asks for a gathering when something changed: never two at once, a little after the change, and during a harvest
    (which changes something all the time) with rests as long as the reading itself."""

    def __init__(
        self,
        shell: Shell,
        gatherers: Mapping[str, Gatherer],
        done: Callable[[Gathered], object],
        failed: Callable[[ErrorInfo], object],
    ) -> None:
        self._shell, self._gatherers, self._done, self._failed = shell, gatherers, done, failed
        self._wanted = 0.0  # when the next reading is due, 0 for none
        self._running = False
        self._took = 0.0
        self._ended = 0.0
        self._seen: tuple[Any, ...] = ()

    def ask(self, soon: bool = False) -> None:
        """Read again, after a moment, or with `soon` at once."""
        now = time.monotonic()
        due = now if soon else max(now + SETTLE_SECONDS, self._ended + min(2 * self._took, 0.7))
        if not self._wanted or due < self._wanted:
            self._wanted = due
            # A timer instead of drawing frames until it is due.
            timer = threading.Timer(max(due - now, 0.0), self._shell.look.jobs.post, [self.tick])
            timer.daemon = True
            timer.start()

    @property
    def waiting(self) -> bool:
        """True while a reading is due or at work."""
        return bool(self._wanted) or self._running

    def tick(self) -> bool:
        """Begin the reading that is due; true when one began."""
        if not self._wanted or self._running or time.monotonic() < self._wanted - 0.001:
            return False
        self._wanted, self._running = 0.0, True
        state, workspace, seen = self._shell.state, self._shell.workspace, self._seen
        # Only a reading that began after the wish answers it.
        calls, self._shell.on_next_reading = self._shell.on_next_reading, []
        begun = time.monotonic()

        def finish(tell: Callable[[Any], object], answer: Any) -> None:
            self._running = False
            self._ended = time.monotonic()
            self._took = self._ended - begun
            if self._shell.workspace.paths == workspace.paths:  # else another home was opened meanwhile
                tell(answer)
            for call in calls:
                self._shell.look.jobs.post(call)  # once the views have shown what was read
            self.tick()

        def show(**parts: Any) -> None:
            if self._shell.workspace.paths == workspace.paths and self._shell.state.snapshot is None:
                self._shell.change(**parts)

        def read(_job: object) -> Gathered:
            post, counts = self._shell.look.jobs.post, counts_at_once(workspace) if state.snapshot is None else None
            if counts is None:
                return gather(workspace, self._gatherers, state.snapshot, state.data, seen)
            post(partial(show, first_counts=counts))
            return gather(workspace, self._gatherers, tell=lambda rows: post(partial(show, first_rows=rows)))

        def take(found: Gathered) -> None:
            self._seen = found.ledger_seen
            self._done(found)

        self._shell.submit("Reading the store", read, partial(finish, take), failed=partial(finish, self._failed),
                           lane=GATHER)  # fmt: skip
        return True


class Homes:
    """Which home is shown, and watched. `own` is the one to come back to. `changed()` is called, from any thread, when
    something changed on disk; `ask()` reads another home once it is shown."""

    def __init__(self, shell: Shell, own: Workspace, changed: Callable[[], object], ask: Callable[[], object]) -> None:
        self._shell, self.own, self._changed, self._ask = shell, own, changed, ask
        self._watcher = Watcher(shell.workspace.paths, changed)

    @property
    def away(self) -> bool:
        """Whether another home than the user's own is shown."""
        return self._shell.workspace.paths.home != self.own.paths.home

    def use(self, workspace: Workspace) -> None:
        """Show another home in the same window. A harvest that runs goes on in its own."""
        self._shell.workspace = workspace
        self._shell.forget_selections()
        self._shell.change(
            home=str(workspace.paths.home),
            away=self.away,
            snapshot=None,
            first_counts=None,
            first_rows=None,
            data={},
            selected=NOTHING,
            problem=None,
        )
        self.stop()
        self._watcher = Watcher(workspace.paths, self._changed)
        self._ask()

    def back(self) -> None:
        """Show the user's own home again."""
        if self.away:
            self.use(self.own)
        self._shell.toast("This is your own home", icon="house", color="accent")

    def also(self, files: Sequence[str]) -> None:
        """Watch these files, too."""
        self._watcher.also(files)

    def stop(self) -> None:
        """Watch no longer."""
        self._watcher.stop()
