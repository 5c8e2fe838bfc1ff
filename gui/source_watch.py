"""Notices that one source file was changed, renamed or removed outside, a second later at the most."""

from __future__ import annotations

import threading
from collections.abc import Callable

from core.commands.panel.files import source_mark

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
