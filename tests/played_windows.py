"""`python -m tests.played_windows`: runs command lines, one a line of standard input, on a Python from which everything
is gone that Python does not have on Windows; prints the exit status and the last line of what each said.

Paths stay those of this system, and locks are those of `msvcrt` by name only.
"""

from __future__ import annotations

import os
import shlex
import sys
import types

GONE = (
    "fork", "forkpty", "setsid", "getuid", "geteuid", "getgid", "getegid", "getgroups", "killpg", "getpgid",
    "setpgid", "sched_getaffinity", "fdatasync", "pread", "pwrite", "preadv", "pwritev", "mkfifo", "mknod",
    "chown", "lchown", "fchown", "fchmod", "statvfs", "fstatvfs", "uname", "nice", "getloadavg", "posix_spawn",
    "posix_fallocate", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "O_NONBLOCK", "O_SYNC", "O_DSYNC", "O_NOCTTY",
    "O_PATH", "O_TMPFILE", "O_NOATIME", "WNOHANG", "wait", "wait3", "wait4", "ttyname", "openpty",
    "copy_file_range", "sendfile", "register_at_fork", "lockf", "memfd_create", "getxattr", "setxattr",
    "listxattr", "sync",
)  # fmt: skip
SIGNALS = (
    "SIGKILL", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGPIPE", "SIGCHLD", "SIGSTOP", "SIGCONT", "SIGTSTP",
    "SIGQUIT", "SIGWINCH",
)  # fmt: skip
MODULES = ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "syslog", "readline")


def play() -> None:
    """From here on. What the standard library itself needs of this system is imported before."""
    import asyncio  # noqa: F401
    import concurrent.futures  # noqa: F401
    import multiprocessing  # noqa: F401
    import pathlib
    import shutil
    import signal
    import sqlite3  # noqa: F401
    import ssl  # noqa: F401
    import tempfile  # noqa: F401
    import uuid  # noqa: F401
    import webbrowser  # noqa: F401

    for name in GONE:
        os.__dict__.pop(name, None)
    for name in SIGNALS:
        signal.__dict__.pop(name, None)
    sys.modules.update(dict.fromkeys(MODULES))  # type: ignore[arg-type]
    locks = types.ModuleType("msvcrt")
    locks.__dict__.update(LK_NBLCK=2, locking=lambda _fd, _mode, _size: None)
    sys.modules["msvcrt"] = locks
    own = types.ModuleType("os")
    own.__dict__.update(os.__dict__)
    pathlib.__dict__["os"] = own  # its paths are those of this system
    shutil.__dict__["_USE_CP_SENDFILE"] = False
    sys.platform = "win32"
    os.name = "nt"


def main() -> None:
    """Every line as it would be typed behind `knowledge`."""
    play()
    from core.cli.main import main as knowledge
    from core.commands.daily import connect

    connect.set_free = lambda words: True  # what a hook begins is another process, which is not played
    for line in sys.stdin.read().splitlines():
        import io

        out, err = io.StringIO(), io.StringIO()
        code = knowledge(shlex.split(line), out, err)
        said = (err.getvalue() or out.getvalue()).strip().splitlines()[-1:]
        print(code, line, "|", *said, flush=True)


if __name__ == "__main__":
    main()
