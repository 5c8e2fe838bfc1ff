"""Notices what others do: to the store (an editor, the command line, a harvest in another window), and to the one
source file that is shown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from core.base import locks
from core.base.files import TEMPORARY_MARK
from core.base.paths import Paths
from core.base.trust import folder_mark
from core.commands.panel.files import source_mark

IGNORED_ENDINGS = (".swp", ".swx", ".swpx", "~", ".tmp")
IGNORED_BEGINNINGS = (".#", ".goutputstream", "4913")
DEBOUNCE_MILLISECONDS = 250
STEP_MILLISECONDS = 200
"""How often the system is asked for changes: each time wakes the processor, also where nothing ever changes."""
POLL_MILLISECONDS = 600


def matters(path: str, paths: Paths, others: Iterable[str] = ()) -> bool:
    """Whether a change of `path` can change what the panel shows. Pure.

    Not ours: temporary files of our own writes and of editors, and `.state`, where a harvest keeps its journal. Beside
    the home only the files named in `others` count (the settings file, the source file that is looked at).
    """
    place = Path(path)
    name = place.name
    if TEMPORARY_MARK in name or name.endswith(IGNORED_ENDINGS) or name.startswith(IGNORED_BEGINNINGS):
        return False
    if path in others:
        return True
    if paths.state in place.parents or place == paths.state:
        return False
    return place.is_relative_to(paths.home) or place in paths.home.parents


def folders_of(paths: Paths, others: Iterable[str] = ()) -> list[Path]:
    """The folders to watch, those that exist: the rooms of the home, not all that may lie below them. A home that does
    not exist yet is seen coming in the nearest folder above it."""
    rooms = (paths.home, paths.knowledge, paths.file_notes, paths.prompts, paths.conversations, paths.trash)
    more = (paths.splits, paths.memories, paths.memories / "archive")
    found = [room for room in (*rooms, *more) if room.is_dir()]
    if paths.home not in found:
        found.append(next((above for above in paths.home.parents if above.is_dir()), Path(paths.home.anchor)))
    found += [parent for other in others if (parent := Path(other).parent).is_dir()]
    return list(dict.fromkeys(found))


def which(folders: Iterable[Path]) -> set[tuple[Path, str]]:
    """Which folders these are now: one that was exchanged for its backup is another one under the same name, and who
    watched the first hears nothing of it."""
    return {(folder, folder_mark(folder)) for folder in folders}


def run_mark(paths: Paths) -> tuple[object, ...]:
    """What changes when a run begins, goes on, ends, or is killed: a lock that is let go leaves no trace in any file.
    Nobody is kept from the lock by being looked at."""
    try:
        holder = locks.holder_of(paths.lock)
    except OSError:
        holder = None
    try:
        return holder, paths.journal.stat().st_size
    except OSError:
        return holder, -1


class Watcher:
    """A thread that calls `changed()` soon after something changed in a home, from now on; `changed` must be safe on
    every thread."""

    def __init__(self, paths: Paths, changed: Callable[[], object]) -> None:
        self._paths, self._changed = paths, changed
        self._others: tuple[str, ...] = ()
        self._stop = threading.Event()
        self._again = threading.Event()
        self.polling = False
        self.ready = threading.Event()
        """Set while it really watches, for tests: what is changed from then on is seen."""
        self._thread = threading.Thread(target=self._run, name="knowledge-watch", daemon=True)
        self._thread.start()

    def also(self, others: Iterable[str]) -> None:
        """Watch these other files from now on, instead of those before."""
        wanted = tuple(others)
        if wanted != self._others:
            self._others = wanted
            self.ready.clear()
            self._again.set()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._again.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._again.clear()
            try:
                self._watch(folders_of(self._paths, self._others))
            except (OSError, RuntimeError):
                # No more watches to be had (or a folder went away in this moment): look now and then instead.
                self.polling = True
                self._stop.wait(0.5)

    def _watch(self, folders: list[Path]) -> None:
        """Watch until the thread is stopped or the set of folders is another one."""
        import watchfiles

        others, known = self._others, which(folders)
        changes: Any = watchfiles.watch(
            *folders,
            watch_filter=lambda _kind, path: matters(path, self._paths, others),
            debounce=DEBOUNCE_MILLISECONDS,
            step=STEP_MILLISECONDS,
            rust_timeout=1000,
            yield_on_timeout=True,
            stop_event=self._again,
            recursive=False,
            force_polling=True if self.polling else None,
            poll_delay_ms=POLL_MILLISECONDS,
            raise_interrupt=False,
        )
        run, missed = run_mark(self._paths), bool(others)
        for found in changes:  # the first turn of it, also without a change, begins the watching
            if not self._again.is_set():
                self.ready.set()
            now = run_mark(self._paths)
            if found or now != run or missed:  # what changed while it began anew was seen by nobody
                run, missed = now, False
                self._changed()
            if which(folders_of(self._paths, others)) != known:
                self._changed()
                return


SECONDS = 0.7


class SourceWatch:
    """Looks at one file from a thread of its own, so that an idle window draws nothing. `on_change()` is called on that
    thread, once for each change: it may only post."""

    def __init__(self, on_change: Callable[[], object]) -> None:
        self._on_change = on_change
        self._stop = threading.Event()
        self._watched: tuple[str, tuple[int, int, int]] = ("", (0, 0, 0))
        self._thread: threading.Thread | None = None

    def watch(self, path: str, mark: tuple[int, int, int]) -> None:
        """Look at another file, which was in the state `mark` when it was read; "" for none."""
        self._watched = (path, mark)
        if path and self._thread is None:
            self._thread = threading.Thread(target=self._run, name="knowledge-source", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(2.0)

    def _run(self) -> None:
        while not self._stop.wait(SECONDS):
            watched = self._watched
            now = source_mark(watched[0]) if watched[0] else watched[1]
            if now != watched[1] and self._watched is watched:
                self._watched = (watched[0], now)
                self._on_change()
