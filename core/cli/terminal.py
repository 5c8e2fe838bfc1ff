"""While a long command runs: progress on stderr, and Ctrl-C, which stops it after its current durable step."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

from core.commands.text import short, visible

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
        from core.base.secrets.redact import redact

        if step.outcome not in ("", LATER):  # the report has their number
            name = short(redact(step.name).text)  # cut, half of a key has no shape
            print(f"({step.done}/{step.total}) {name}: {step.outcome}", file=stream, flush=True)

    return line


def asker(stream: IO[str], quiet: bool) -> Callable[[str, str, Sequence[str], int], int | None]:
    """Asks a user at a terminal about a text that it shows: the number of the choice (Enter means `default`), or None
    where nobody sits there. Of choices of one word each, their first letters will do; what is none of them is asked
    again, and the end of the input stops the command."""

    def ask(shown: str, question: str, choices: Sequence[str], default: int) -> int | None:
        if quiet or not (sys.stdin and sys.stdin.isatty() and stream.isatty()):
            return None

        letters = [words[0] for words in choices]
        plain = len(set(letters)) == len(choices) and not any(" " in words for words in choices)
        rows = [] if plain else [f"  {at}  {words}" for at, words in enumerate(choices, start=1)]
        letters[default] = letters[default].upper()
        shown_letters = reversed(letters) if len(letters) == 2 else letters  # [y/N], as everywhere
        hint = f"[{'/'.join(shown_letters)}]" if plain else f"[{default + 1}]"
        named = {
            word: at for at, words in enumerate(choices) for word in ((words, words[0]) if plain else (str(at + 1),))
        }
        named[""] = default
        prompt = "\n".join([shown.rstrip("\n"), *rows, f"{question} {hint} "]).lstrip("\n")
        while True:
            print(visible(prompt), end="", file=stream)
            stream.flush()
            if not (line := sys.stdin.readline()):
                raise KeyboardInterrupt
            if (word := line.strip().lower()) in named:
                return named[word]
            known = ", ".join(choices) if plain else f"a number from 1 to {len(choices)}"
            prompt = f"That is none of the answers: {known}. {question} {hint} "

    return ask


class _Bar:
    """A tqdm bar that is made at the first step, when the total is known."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._bar: Any = None
        self._lock = threading.Lock()

    def __call__(self, step: Progress) -> None:
        if step.outcome and not step.done:  # what it will take is told before anything is done, and stays
            print(f"{short(step.name)}: {step.outcome}", file=self._stream, flush=True)
            return
        with self._lock:  # what is being read is told by the threads that read it
            self._show(step)

    def _show(self, step: Progress) -> None:
        bar = self._bar
        if bar is None:
            from tqdm import tqdm

            bar = self._bar = tqdm(
                total=step.total,
                file=self._stream,
                unit="conversation",
                leave=False,
                mininterval=0.0,
                ascii=True if os.environ.get("NO_COLOR") else None,
                bar_format="{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}] {postfix}",
            )
        name = short(step.name)[:40]
        if not step.outcome:  # a slow model: which conversation, which part, what it has cost so far
            spent, part = step.sent + step.received, f", answer {step.calls}" if step.calls else ""
            bar.set_postfix_str(f"{f'{spent:,} tokens, ' if spent else ''}reading {name}{part}")
            return
        tokens = f"{step.tokens:,} tokens, " if step.tokens else ""
        bar.set_postfix_str(f"{tokens}{name}: {step.outcome}", refresh=False)
        bar.update(step.done - bar.n)
        if step.done == step.total:
            bar.close()


@contextmanager
def interruptible(enabled: bool) -> Iterator[Callable[[], bool]]:
    """While open, the first Ctrl-C only asks the run to stop (what is yielded tells whether it was pressed); the second
    one ends the program at once."""
    pressed: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    with ExitStack() as afterwards:
        if enabled:
            with suppress(ValueError):  # not in the main thread: whoever runs us there cancels in another way
                afterwards.callback(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handle))
        yield lambda: bool(pressed)
