"""Any program as a model: the prompt on its standard input, the answer on its standard output.

Meant for the print mode of a coding agent. The program runs in a process group of its own, so that whatever it has
started ends with it when time is up; where there are no process groups (Windows) its process tree is ended.

A conversation may hold instructions that somebody planted. So each question has an empty folder of its own: no rules,
servers or hooks of a project are there, and what a program leaves there reaches no other question.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, NamedTuple

from core.base import files
from core.base.exchange import SLICE_SECONDS
from core.base.paths import ASKED, ASKED_LINE, asking_folder
from core.base.result import KnowledgeError
from core.llm.wire import excerpt

MARK = "KNOWLEDGE_HARVEST"
"""Set in the environment of whatever answers for us: the hooks of ours that it may run do nothing then (the same word
as in agents/hand_over.py)."""
NESTED = (
    *("CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SESSION_ACCESS_TOKEN"),
    *("CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR", "ANTIGRAVITY_CONVERSATION_ID"),
)
"""By these an agent knows that it runs inside a session, and refuses to start or joins it. A harvest that a hook began
inherits them; what an agent is asked by us is no part of that session."""
COMPLAINT_BYTES = 16 << 10
"""What the error sentence tells of its complaints."""
MOST_COMPLAINTS = 64 << 20
"""The bytes of complaints with which it is ended."""
FAREWELL_SECONDS = 0.5  # for what a program leaves running, before the polite signal and before the final one


class Finished(NamedTuple):
    """A program that ended by itself: its status, its whole output, and the beginning of its complaints."""

    name: str
    status: int
    output: bytes
    complaints: bytes


@contextlib.contextmanager
def asking_place(folder: str = "") -> Iterator[Path]:
    """A private folder for one question, below `folder` (empty: asking_folder), with the empty `ASKED` in it, where the
    program runs; what else the program is given lies beside that. Gone afterwards, with all that was left there. Raises
    OSError."""
    place = (Path(folder) if folder else asking_folder(os.environ)) / files.new_id()
    files.make_folder(place / ASKED, durable=False)
    try:
        yield place
    finally:
        with contextlib.suppress(OSError):
            files.remove_tree(place)


def output_of(ended: Finished) -> str:
    """The output of a program as text. Raises KnowledgeError: `command-failed`, `bad-answer`."""
    if ended.status != 0:
        how = f"ended with status {ended.status}" if ended.status > 0 else f"was ended by signal {-ended.status}"
        said = excerpt(ended.complaints.decode("utf-8", "replace").strip().split("\n")[0])
        hint = "run the program by hand with a short prompt on its standard input"
        raise KnowledgeError("command-failed", f"{ended.name} {how}" + (f": {said}" if said else ""), hint=hint)
    try:
        return ended.output.decode("utf-8")
    except UnicodeDecodeError:
        hint = "check what the program prints"
        raise KnowledgeError("bad-answer", f"the output of {ended.name} is not UTF-8 text", hint=hint) from None


def finished(
    command: Sequence[str],
    prompt: str,
    *,
    seconds: float,
    max_bytes: int,
    cancelled: Callable[[], bool],
    folder: Path,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Finished:
    """Run `command` (an argument list, no shell) once in `folder`, for at most `seconds` of wall-clock time, and ask it
    `prompt` below `ASKED_LINE`. `environment` is added to that of this process.

    Raises KnowledgeError: `command-missing`, `timed-out`, `cancelled`, `answer-too-large`.
    """
    deadline = time.monotonic() + seconds
    name = excerpt(command[0], limit=80)
    found = shutil.which(str(Path(command[0]).expanduser()) if command[0].startswith("~") else command[0])
    if found is None:
        hint = "check [ai_settings.knowledge].command; the program must be installed and executable"
        raise KnowledgeError("command-missing", f"the program {name} was not found", hint=hint)
    own = {key: value for key, value in os.environ.items() if key not in NESTED}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                [os.path.abspath(found), *command[1:]],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=complaints,
                bufsize=0,
                start_new_session=True,
                env={**own, **environment, MARK: "1"},
                cwd=folder,
            )
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or "an argument cannot be passed"
            hint = "check [ai_settings.knowledge].command"
            message = f"the program {name} cannot be started ({reason})"
            raise KnowledgeError("command-missing", message, hint=hint) from problem
        assert process.stdin is not None
        asked = f"{ASKED_LINE}\n\n{prompt}".encode()
        threading.Thread(target=_feed, args=(process.stdin, asked), name="llm-command", daemon=True).start()

        def too_large() -> bool:
            sizes = [os.fstat(file.fileno()).st_size for file in (output, complaints)]
            return sizes[0] > max_bytes or sizes[1] > MOST_COMPLAINTS

        try:
            _wait_for(process, name, deadline, cancelled, too_large)
        finally:
            _end(process)  # whatever it has left running, also when Ctrl-C ends the waiting
        output.seek(0)
        complaints.seek(0)
        return Finished(name, process.returncode, output.read(), complaints.read(COMPLAINT_BYTES))


def _feed(pipe: IO[bytes], data: bytes) -> None:
    """Write the prompt and close. A program may stop reading early: what it answers is judged, not how it reads."""
    with contextlib.suppress(OSError), pipe:
        rest = memoryview(data)
        while rest:
            rest = rest[pipe.write(rest) :]


def _wait_for(
    process: subprocess.Popen[bytes],
    name: str,
    deadline: float,
    cancelled: Callable[[], bool],
    too_large: Callable[[], bool],
) -> None:
    """Wait until the program has ended. Raises KnowledgeError where it must not go on."""
    is_running = True
    while is_running:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SLICE_SECONDS)
            is_running = False
        if too_large():
            hint = "have the program print its answer alone"
            raise KnowledgeError("answer-too-large", f"the output of {name} is too large", hint=hint)
        if is_running and cancelled():
            raise KnowledgeError("cancelled", f"the call to {name} was cancelled", hint="run again to go on")
        if is_running and time.monotonic() >= deadline:
            hint = "raise request_timeout_seconds, or try the program by hand: it may be waiting for a login"
            raise KnowledgeError("timed-out", f"{name} did not finish in the time allowed", hint=hint)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and all that runs in its process group, politely first."""
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/T", "/F", "/PID", str(process.pid)], capture_output=True, check=False)
        process.wait()
        return
    # What an ended program began may still be writing the answer.
    is_empty = process.poll() is not None and _empties(process)
    for polite in (True, False):
        if is_empty:
            break
        try:
            os.killpg(process.pid, signal.SIGTERM if polite else signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            break  # nobody is left in the group (macOS says "not permitted" when only zombies are)
        is_empty = polite and _empties(process)
    process.wait()


def _empties(process: subprocess.Popen[bytes]) -> bool:
    """Wait for FAREWELL_SECONDS at most until nobody is left in the process group; whether that came."""
    until = time.monotonic() + FAREWELL_SECONDS
    while time.monotonic() < until:
        process.poll()  # a program that ended stays in its group until somebody asks
        try:
            os.killpg(process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return True
        time.sleep(SLICE_SECONDS)
    return False
