"""Reads files of foreign formats in a process of their own, which has limits and can be ended from outside.

A damaged or hostile file affects only itself alone: whatever its reader does (runs for ever, takes all memory,
crashes), the program goes on with the next file. A process reads many files, one after the other, so a batch pays for
one start; it is replaced after it had to be ended. It is started with `subprocess`, since a worker of a cluster may be
a daemon, to which `multiprocessing` allows no children.

Both directions of the pipe carry lines of JSON: a request with its file, and the answer to it.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import faulthandler
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from core.base.installed import how_to_install
from core.base.paths import shipped_root
from core.base.result import KnowledgeError
from core.library.foreign_formats import READERS, Foreign

READ_SECONDS = 120.0
"""Seconds of wall-clock time for one file. A process that needs more ends itself, so that none outlives a program that
was killed."""
READ_MEMORY = 1536 << 20
"""Bytes of address space that the process may have: an honest page of 32 MB takes some twenty times its size. Windows
has no such limit and macOS may refuse it: there only time and the length of the answer are limited."""
MAX_ANSWER = 64 << 20
"""Bytes of an answer: the text, and little else."""

_MODULE = "core.library.extract_process"
_ENDED = ("too-slow", "too-large", "reader-died")
"""Errors after which a process is replaced."""
_MAYBE_EARLIER = ("too-large", "reader-died")
"""Errors that may be due to what the process read before: such a file is read again in another process."""
_ANOTHER_WAY = "save it as plain text or Markdown with the program that made it, and take that in"


def read_foreign(kind: str, data: bytes, name: str) -> Foreign:
    """Read `data`, a file of a `kind` of `READERS`, in another process. May be called from several threads; each has
    a process for as long as it waits. `name` is for the sentence of an error.

    Raises KnowledgeError: `too-slow`, `too-large` (memory or text), `reader-died`, `no-reader` (a package is missing),
    `broken`, `no-process`.
    """
    while True:
        try:
            reader = _borrowed()
        except OSError as error:
            message = f"no process can be started to read this {kind.upper()}: {error.strerror or error}"
            raise KnowledgeError("no-process", message, name, "close other programs and try again") from error
        used = reader.used
        try:
            return reader.read(kind, data, name)
        except KnowledgeError as failed:
            if not used or failed.error.code not in _MAYBE_EARLIER:
                raise
        finally:
            if reader.is_there:
                _idle.append(reader)


# --- the processes ----------------------------------------------------------------------------------------------------


class _Reader:
    """A process that reads one file after the other; it ends when its standard input does."""

    def __init__(self) -> None:
        """Raises OSError when the process cannot be started."""
        self.is_there, self.used = True, False
        self._process = subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=shipped_root(),  # `-m` looks there first, and never in the folder of the user
            start_new_session=True,  # Ctrl-C is for us
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout

    def read(self, kind: str, data: bytes, name: str) -> Foreign:
        """Raises KnowledgeError: those of `read_foreign`, but `no-process`. After one of `_ENDED` the process is no
        more."""
        self.used, began = True, time.monotonic()
        try:
            asked = {"kind": kind, "seconds": READ_SECONDS, "memory": READ_MEMORY}
            self._requests.write(_line({**asked, "data": base64.b64encode(data).decode()}))
            self._requests.flush()
            line = self._answers.readline(MAX_ANSWER + 1)
            if line.endswith(b"\n"):
                said = json.loads(line.decode("utf-8", "surrogatepass"))
            elif len(line) > MAX_ANSWER:
                said = {"error": "too-large", "why": f"holds more than {MAX_ANSWER >> 20} MB of text"}
            else:
                said = {"error": "too-slow" if time.monotonic() - began >= READ_SECONDS else "reader-died"}
        except OSError:
            said = {"error": "reader-died"}
        except BaseException:
            self.end()
            raise
        code = said.get("error", "")
        if code in _ENDED:
            self.end()
        if code:
            raise self._failed(code, said.get("why", ""), kind.upper(), name)
        return Foreign.of(said)

    def _failed(self, code: str, why: str, kind: str, name: str) -> KnowledgeError:
        status = self._process.returncode or 0
        how = f"signal {-status}" if status < 0 else f"status {status}"
        message = {
            "too-slow": f"this {kind} was not read in {READ_SECONDS:g} seconds and was given up",
            "too-large": f"this {kind} {why} and was given up",
            "reader-died": f"the process that read this {kind} died ({how})",
        }.get(code, why)
        hint = how_to_install("documents") if code == "no-reader" else ""
        return KnowledgeError(code, message, name, _ANOTHER_WAY if code in _ENDED else hint)

    def end(self) -> None:
        """Kill the process and wait until it is gone."""
        self.is_there = False
        self._process.kill()
        with contextlib.suppress(OSError):  # of a request that was not written to its end
            self._requests.close()
        self._answers.close()
        self._process.wait()


_idle: list[_Reader] = []


def _borrowed() -> _Reader:
    """An idle process, or a new one. Raises OSError when none can be started."""
    try:
        return _idle.pop()
    except IndexError:
        return _Reader()


def end_idle() -> None:
    """End the processes that read nothing now; a run that read files does it at its end."""
    with contextlib.suppress(IndexError):
        while True:
            _idle.pop().end()


atexit.register(end_idle)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # two programs on one pipe would take each other's answers


def _line(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


# --- inside the process -----------------------------------------------------------------------------------------------


def main() -> int:
    """Answer requests on standard input until it ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    with contextlib.suppress(BrokenPipeError):
        for line in sys.stdin.buffer:
            asked = json.loads(line)
            faulthandler.dump_traceback_later(asked["seconds"], exit=True)
            answers.write(_line(_answer(asked["kind"], base64.b64decode(asked["data"]), asked["memory"])))
            answers.flush()
            faulthandler.cancel_dump_traceback_later()
    return 0


def _answer(kind: str, data: bytes, memory: int) -> dict[str, Any]:
    try:
        _limit_memory(memory)
        return READERS[kind](data)._asdict()
    except MemoryError:
        return {"error": "too-large", "why": f"takes more than {memory >> 20} MB of memory to read"}
    except ImportError as error:
        return {"error": "no-reader", "why": f"{kind.upper()} cannot be read without the package {error.name}"}
    except Exception as error:  # noqa: BLE001 - a parser of foreign files may raise anything
        why = str(error).strip().split("\n")[0][:200] or type(error).__name__
        return {"error": "broken", "why": f"the file is damaged, or is no {kind.upper()}: {why}"}


def _limit_memory(most: int) -> None:
    """Have what would take more than `most` bytes of address space raise MemoryError, where the system can do that."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows; macOS, or a lower limit that somebody set
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


if __name__ == "__main__":
    sys.exit(main())
