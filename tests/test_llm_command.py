"""Any program as a model: real programs, well behaved and not."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import Err, Ok
from core.llm.command import run_command
from core.llm.generate import connect
from core.llm.wire import ModelSettings

PATIENT_SECONDS = 20.0
posix_only = pytest.mark.skipif(os.name != "posix", reason="process groups and signals are POSIX")


def run(
    command: tuple[str, ...], prompt: str = "prompt", cancelled: Callable[[], bool] = lambda: False, **settings: Any
) -> Any:
    """Ask the program once, in a thread, and fail the test if the call does not come back."""
    settings = {"timeout_seconds": 10.0, **settings}
    connected = connect(
        ModelSettings("command", command=command, **settings),
        credentials=lambda provider, variables: Ok(""),
        cancelled=cancelled,
    )
    assert isinstance(connected, Ok)
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(connected.value(prompt)), daemon=True)
    thread.start()
    thread.join(PATIENT_SECONDS)
    assert results, "the call did not come back"
    return results[0]


def python(code: str) -> tuple[str, ...]:
    """A program that is this code."""
    return (sys.executable, "-c", code)


def told(result: Any, code: str, *words: str) -> None:
    assert isinstance(result, Err), result
    sentence = str(result.error)
    assert result.error.code == code, sentence
    assert result.error.hint and sentence.isprintable() and len(sentence) < 500
    for word in words:
        assert word in sentence


def is_gone(pid: int) -> bool:
    """Whether the process ends within the test's patience (its new parent may take a moment to bury it)."""
    until = time.monotonic() + PATIENT_SECONDS
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    return False


def test_the_prompt_goes_in_and_the_answer_comes_out() -> None:
    """Else a coding agent could not be used; long prompts and foreign letters must survive the pipes."""
    code = "import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d[::1].upper() + b' %d' % len(d))"
    prompt = "grüße " * 100_000
    result = run(python(code), prompt, model="agent")
    size = len(prompt.encode())
    expected = prompt.encode().upper().decode() + f" {size}"
    assert result == Ok(Answer(expected, "agent"))


def test_a_program_that_does_not_read_its_input_may_still_answer() -> None:
    """Else a script that ignores its input would fail as soon as the prompt is larger than a pipe."""
    assert run(python("print('{}')"), "x" * 500_000).value.text == "{}\n"


def test_a_failing_program_is_told_with_its_first_complaint() -> None:
    """Else the user would not learn that the agent wants a login."""
    code = "import sys; print('half an answer'); sys.stderr.write('not logged in\\x1b[0m\\n' * 9999); sys.exit(3)"
    told(run(python(code)), "command-failed", "status 3", "not logged in", "by hand")


@posix_only
def test_a_program_that_dies_is_told() -> None:
    """Else an answer that stopped in the middle of a crash would be believed."""
    code = "import os, sys; print('half', flush=True); os.kill(os.getpid(), 9)"
    told(run(python(code)), "command-failed", "signal 9")


def test_a_missing_program_is_told() -> None:
    """The commonest mistake: the sentence must name the program and the setting."""
    told(run(("no-such-program-here", "-p")), "command-missing", "no-such-program-here", "command")


@posix_only
def test_a_program_that_is_no_program_is_told(tmp_path: Path) -> None:
    """Else a script without its first line would end in a traceback."""
    script = tmp_path / "agent"
    script.write_bytes(b"\x7fELF nonsense")
    script.chmod(0o755)
    told(run((str(script),)), "command-missing", "cannot be started")
    script.chmod(0o644)
    told(run((str(script),)), "command-missing", "executable")


@posix_only
@pytest.mark.parametrize("deaf", [False, True], ids=["polite", "deaf"])
def test_a_program_that_hangs_ends_with_everything_it_started(tmp_path: Path, deaf: bool) -> None:
    """Else each time-out would leave an agent behind that goes on working, and costing money."""
    note = tmp_path / "pids"
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" if deaf else ""
    code = (
        f"import os, pathlib, signal, subprocess, sys, time\n{ignore}"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"note = pathlib.Path({str(note)!r})\n"
        "note.with_suffix('.new').write_text(f'{os.getpid()} {child.pid}')\n"
        "note.with_suffix('.new').rename(note)\n"
        "time.sleep(600)"
    )
    told(run(python(code), cancelled=note.exists), "cancelled")
    pids = [int(pid) for pid in note.read_text().split()]
    assert len(pids) == 2 and all(is_gone(pid) for pid in pids)


def test_a_dripping_program_ends_at_the_deadline() -> None:
    """Else a spinner on standard output would hold the run for ever."""
    code = "import time\nwhile True: print('.', end='', flush=True); time.sleep(0.01)"
    told(run(python(code), timeout_seconds=0.5), "timed-out")


def test_a_program_that_never_stops_talking_is_cut() -> None:
    """Else a runaway program could fill the memory."""
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
    told(run(python(code), max_answer_bytes=100_000), "answer-too-large")


def test_a_short_answer_over_the_limit_is_cut_too() -> None:
    """Else a program that is quick to end would slip its answer past the limit, cut in the middle."""
    told(run(python("print('x' * 2000)"), max_answer_bytes=1000), "answer-too-large")


def test_cancelling_ends_the_program() -> None:
    """Else Ctrl-C and the panel's stop button would wait for the agent."""
    asked = iter([False] * 3)
    told(run(python("import time; time.sleep(600)"), cancelled=lambda: next(asked, True)), "cancelled")


@posix_only
def test_ctrl_c_ends_the_program(tmp_path: Path) -> None:
    """Its process group is not the terminal's: Ctrl-C alone would leave the agent at work."""
    note = tmp_path / "pid"
    code = f"import os, time; os.symlink(str(os.getpid()), {str(note)!r}); time.sleep(600)"

    def interrupted() -> bool:
        if note.is_symlink():
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        run_command(python(code), "prompt", seconds=60.0, max_bytes=10, cancelled=interrupted)
    assert is_gone(int(note.readlink().name))


@posix_only
def test_a_child_left_behind_does_not_hold_the_answer(tmp_path: Path) -> None:
    """Some agents leave a server running that keeps the output open; their answer is complete all the same."""
    note = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        "print('the answer')"
    )
    assert run(python(code)).value.text == "the answer\n"
    assert is_gone(int(note.read_text()))


def test_output_that_is_no_text_is_told() -> None:
    """Else mangled letters would be written into the user's knowledge."""
    told(run(python("import sys; sys.stdout.buffer.write(b'caf\\xe9')")), "bad-answer", "UTF-8")


def test_no_output_is_told() -> None:
    """Else silence would pass for an answer."""
    told(run(python("pass")), "empty-answer")
