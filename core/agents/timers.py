"""The system's own scheduler, so that a harvest comes by itself: a systemd user timer, launchd, or the Task Scheduler.

Each is files of the user's own and two commands that tell the system of them. A run that was missed, because the
computer slept or was off, is made up for by the scheduler: `Persistent=true` (systemd.timer(5)), launchd's own way with
`StartCalendarInterval` (launchd.plist(5)), `StartWhenAvailable` (Task Scheduler schema).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from core.base.paths import user_folder
from core.base.result import KnowledgeError, Ok, attempt

NAME = "knowledge-harvest"
NO_SCHEDULER = "no-scheduler"
LABEL = "org.knowledge-memory.harvest"
SECONDS = 20


class Timer(NamedTuple):
    """A scheduler of this system: the files with their text, the commands that turn the timer on and off, and the one
    that says whether it is on."""

    title: str
    files: tuple[tuple[Path, str], ...]
    on: tuple[tuple[str, ...], ...]
    off: tuple[tuple[str, ...], ...]
    asks: tuple[str, ...]


def timer_of(system: str, words: Sequence[str], environment: Mapping[str, str]) -> Timer:
    """The timer of a system (`sys.platform`) that runs `words` each hour. Raises KnowledgeError where it has no
    scheduler that is known, with a line for cron."""
    home = Path(environment.get("HOME") or environment.get("USERPROFILE") or os.path.expanduser("~"))
    path = environment.get("PATH", os.defpath)
    if system == "darwin":
        return _launchd(words, home)
    if system == "win32":
        return _task_scheduler(words, user_folder(environment))
    if shutil.which("systemctl", path=path):
        config = environment.get("XDG_CONFIG_HOME", "")
        folder = Path(config) if os.path.isabs(config) else home / ".config"
        return _systemd(words, folder / "systemd" / "user")
    line = f"17 * * * * {shlex.join(words)}"
    hint = f"'crontab -e' takes this line instead: {line}"
    raise KnowledgeError(NO_SCHEDULER, "this system has no systemd for its users", hint=hint)


def _quoted(word: str) -> str:
    """A word of a command line as systemd.service(5) reads it."""
    for char, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        word = word.replace(char, written)
    return f'"{word}"'


def _systemd(words: Sequence[str], folder: Path) -> Timer:
    quoted = " ".join(map(_quoted, words))
    service = (
        "[Unit]\nDescription=Harvest the AI conversations of this person\n\n"
        f"[Service]\nType=oneshot\nExecStart={quoted}\nNice=10\n"
    )
    timer = (
        "[Unit]\nDescription=Harvest the AI conversations of this person each hour\n\n"
        "[Timer]\nOnCalendar=hourly\nRandomizedDelaySec=10min\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n"
    )
    unit, base = f"{NAME}.timer", ("systemctl", "--user")
    return Timer(
        "systemd user timer",
        ((folder / f"{NAME}.service", service), (folder / unit, timer)),
        ((*base, "daemon-reload"), (*base, "enable", "--now", unit)),
        ((*base, "disable", "--now", unit),),
        (*base, "is-active", unit),
    )


def _launchd(words: Sequence[str], home: Path) -> Timer:
    rows = "".join(f"    <string>{escape(word)}</string>\n" for word in words)
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" '
        '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n<plist version="1.0">\n<dict>\n'
        f"  <key>Label</key>\n  <string>{LABEL}</string>\n  <key>ProgramArguments</key>\n  <array>\n{rows}  </array>\n"
        "  <key>StartCalendarInterval</key>\n  <dict>\n    <key>Minute</key>\n    <integer>17</integer>\n  </dict>\n"
        "  <key>ProcessType</key>\n  <string>Background</string>\n</dict>\n</plist>\n"
    )
    file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    domain = f"gui/{os.getuid() if hasattr(os, 'getuid') else 0}"
    return Timer(
        "launchd agent",
        ((file, text),),
        (("launchctl", "bootstrap", domain, str(file)),),
        (("launchctl", "bootout", f"{domain}/{LABEL}"),),
        ("launchctl", "print", f"{domain}/{LABEL}"),
    )


def _task_scheduler(words: Sequence[str], folder: Path) -> Timer:
    program, arguments = escape(words[0]), escape(subprocess.list2cmdline(words[1:]))
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">\n'
        "  <Triggers>\n    <CalendarTrigger>\n      <Repetition>\n        <Interval>PT1H</Interval>\n"
        "      </Repetition>\n      <StartBoundary>2026-01-01T00:17:00</StartBoundary>\n"
        "      <ScheduleByDay>\n        <DaysInterval>1</DaysInterval>\n      </ScheduleByDay>\n"
        "    </CalendarTrigger>\n  </Triggers>\n  <Settings>\n"
        "    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>\n"
        "    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>\n"
        "    <StartWhenAvailable>true</StartWhenAvailable>\n    <Hidden>true</Hidden>\n  </Settings>\n"
        f"  <Actions>\n    <Exec>\n      <Command>{program}</Command>\n      <Arguments>{arguments}</Arguments>\n"
        "    </Exec>\n  </Actions>\n</Task>\n"
    )
    file = folder / f"{NAME}.xml"
    return Timer(
        "Task Scheduler",
        ((file, text),),
        (("schtasks", "/Create", "/TN", NAME, "/XML", str(file), "/F"),),
        (("schtasks", "/Delete", "/TN", NAME, "/F"),),
        ("schtasks", "/Query", "/TN", NAME),
    )


def tell_system(commands: Sequence[Sequence[str]], environment: Mapping[str, str]) -> None:
    """Run the commands in their order; the first that fails ends it with a KnowledgeError."""
    for words in commands:
        program = shutil.which(words[0], path=environment.get("PATH", os.defpath))
        line = " ".join(words)
        if program is None:
            raise KnowledgeError(NO_SCHEDULER, f"the program {words[0]} was not found", hint=f"run it by hand: {line}")
        try:
            done = subprocess.run(
                [program, *words[1:]], capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            why = "it did not end" if isinstance(error, subprocess.TimeoutExpired) else str(error.strerror)
            message = f"{line!r} failed: {why}"
            raise KnowledgeError("scheduler-failed", message, hint="run it by hand and see what it says") from error
        if done.returncode != 0:
            said = " ".join((done.stderr or done.stdout).split())[:200]
            hint = "run it by hand and see what it says"
            raise KnowledgeError("scheduler-failed", f"'{line}' ended with status {done.returncode}: {said}", hint=hint)


def is_on(timer: Timer, environment: Mapping[str, str]) -> bool:
    """Whether the system has the timer at work."""
    return isinstance(attempt(tell_system, [timer.asks], environment), Ok)


def this_system() -> str:
    """`sys.platform`, in a function so that tests can play the others."""
    return sys.platform
