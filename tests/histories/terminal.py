"""An editor in a terminal of its own, driven by keys as a user types them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

WAIT_SECONDS = 30.0
"""How long something may take on a busy machine before the test gives up."""
SILENCE_SECONDS = 0.08 if Path("/proc/self/stat").exists() else 0.25
"""How long an editor that waits for keys draws nothing; less where it can be seen that it sleeps."""


@dataclass(frozen=True)
class Keys:
    """How one editor is used: its command line, the keys that put a line at the top of the text, save and leave, and
    what a user answers (keys by what the screen says) who wants their own text whatever has become of the file."""

    name: str
    command: tuple[str, ...]
    top: str
    end: str
    save: str
    leave: str
    answers: tuple[tuple[str, str], ...]


YES = (
    "(progn (load \"userlock\" nil t) (fset 'yes-or-no-p (lambda (&rest _) t)) (fset 'y-or-n-p (lambda (&rest _) t))"
    " (fset 'ask-user-about-supersession-threat (lambda (&rest _) nil)))"
)
"""For emacs, which asks in the middle of typing: a user who says yes to everything."""

EDITORS = (
    Keys("vim", ("vim", "-u", "NONE", "-i", "NONE", "-N"), "ggO", "\x1b", ":w\r", ":q!\r", (
        (r"really want to write.*\(y/n\)", "y"), (r"Press ENTER", "\r"), (r"\[O\]K", "o"),
    )),
    Keys("nano", ("nano", "--ignorercfiles"), "\x1b\\", "\r", "\x0f\r", "\x18n", (
        (r"(has changed|modified).{0,200}(continue|saving|overwrite|anyway)", "y"),
    )),
    Keys("emacs", ("emacs", "-nw", "-Q", "--eval", YES), "\x1b<", "\r", "\x18\x13", "\x18\x03", ()),
)  # fmt: skip


def is_there(keys: Keys) -> bool:
    return shutil.which(keys.command[0]) is not None


class Terminal:
    """One editor at work on one file. Use it as a context: leaving ends the editor."""

    def __init__(self, keys: Keys, path: Path, home: Path) -> None:
        self.keys, self.path = keys, path
        self.screen = ""
        child, self._fd = pty.fork()
        if child == 0:
            os.environ.update(HOME=str(home), TERM="xterm", LANG="C.UTF-8")
            os.chdir(path.parent)
            os.execvp(keys.command[0], [*keys.command, path.name])
        self._child = child
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

    def __enter__(self) -> Terminal:
        self.until(lambda: self.path.name in self.screen)  # at start-up keys would be eaten, or taken for commands
        self._quiet()
        return self

    def __exit__(self, *rest: object) -> None:
        with contextlib.suppress(OSError):
            self.type(self.keys.leave)
            os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        os.close(self._fd)

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def line(self, text: str) -> None:
        """Type a line at the top of the text, which is not saved yet."""
        self.type(self.keys.top)
        self._quiet()
        self.type(text[0])  # an editor that finds the file changed asks now, and would eat the rest
        self._quiet()
        self.type(text[1:] + self.keys.end)
        self._quiet()

    def save(self, text: str) -> None:
        """Save, insisting, until `text` is in the file."""
        self.type(self.keys.save)
        self.until(lambda: text.encode() in _bytes_of(self.path))

    def until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + WAIT_SECONDS
        while not is_so():
            self._read(0.05)
            self._answer()
            if time.monotonic() > end:
                raise AssertionError(f"{self.keys.name} did not get there; its screen says {self.screen[-600:]!r}")

    def _quiet(self) -> None:
        """Wait until the editor has drawn what it had to draw and waits for keys, answering what it asks."""
        end = time.monotonic() + WAIT_SECONDS
        while (self._read(SILENCE_SECONDS) or self._answer() or self._at_work()) and time.monotonic() < end:
            pass

    def _at_work(self) -> bool:
        """Whether the editor has something to do: on a busy machine it is silent before it has drawn."""
        try:
            stat = Path(f"/proc/{self._child}/stat").read_text("ascii")
        except OSError:
            return False  # no Linux: silence is all that can be seen
        return stat.rsplit(")", 1)[1].split()[0] != "S"

    def _read(self, seconds: float) -> bool:
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:
            return False
        self.screen += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]", " ", data.decode("utf-8", "replace"))
        return bool(data)

    def _answer(self) -> bool:
        for words, keys in self.keys.answers:
            if re.search(words, self.screen, re.DOTALL):
                self.screen = ""
                self.type(keys)
                return True
        return False


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # the moment between two renames of a save
        return b""
