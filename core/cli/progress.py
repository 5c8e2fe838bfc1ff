"""While a long command runs: progress on stderr, and Ctrl-C, which stops it after its current durable step."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import IO, TYPE_CHECKING, Any

from core.cli.text import short

if TYPE_CHECKING:
    from core.harvest.report import Progress, Report


LATER = "deferred"
"""What becomes of a conversation that another run will read, in the words of a step."""


def reporter(stream: IO[str], quiet: bool) -> Report:
    """A bar on a terminal, one plain line for each whose turn it was otherwise, nothing when quiet."""
    if quiet:
        return lambda _: None
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        return _Bar(stream)

    def line(step: Progress) -> None:
        if step.outcome != LATER:  # the report has their number
            print(f"({step.done}/{step.total}) {short(step.name)}: {step.outcome}", file=stream, flush=True)

    return line


class _Bar:
    """A tqdm bar that is made at the first step, when the total is known."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._bar: Any = None

    def __call__(self, step: Progress) -> None:
        if not step.done:  # what it will take is told before anything is done, and stays
            print(f"{short(step.name)}: {step.outcome}", file=self._stream, flush=True)
            return
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=step.total,
                file=self._stream,
                unit="conversation",
                leave=False,
                mininterval=0.0,
                ascii=True if os.environ.get("NO_COLOR") else None,
                bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}] {postfix}",
            )
        tokens = f"{step.tokens:,} tokens, " if step.tokens else ""
        self._bar.set_postfix_str(f"{tokens}{short(step.name)[:40]}: {step.outcome}", refresh=False)
        self._bar.update(step.done - self._bar.n)
        if step.done == step.total:
            self._bar.close()


class Interrupt:
    """While open, the first Ctrl-C only asks the run to stop; the second one ends the program at once."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._pressed = False
        self._old: Any = None

    def pressed(self) -> bool:
        return self._pressed

    def __enter__(self) -> Interrupt:
        if self._enabled:
            try:
                self._old = signal.signal(signal.SIGINT, self._handle)
            except ValueError:  # not in the main thread: whoever runs us there cancels in another way
                self._enabled = False
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._enabled:
            signal.signal(signal.SIGINT, self._old)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = True
