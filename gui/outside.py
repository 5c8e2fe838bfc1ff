"""Hands a file to the program that the system opens it with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from core.base.result import Ok, Result, fail

# What a desktop starts instead of showing it: a name that stands in a conversation must not run a program.
STARTED = frozenset({".desktop", ".exe", ".bat", ".cmd", ".com", ".lnk", ".app", ".command", ".msi", ".scr", ".vbs"})


def open_outside(path: str) -> Result[str]:
    """Open a file in the editor, or a folder in the file browser, of this desktop; returns what was opened.

    A file that the desktop would run is not opened but shown in its folder. Does not wait for the program to end.
    Err when there is no such file, or nothing that opens it. For the worker.
    """
    target = Path(path)
    if not target.exists():
        return fail("not-there", "there is no such file (any more)", path)
    if target.suffix.lower() in STARTED or (
        target.is_file() and sys.platform != "win32" and os.access(target, os.X_OK)
    ):
        target = target.parent
    try:
        if sys.platform == "win32":
            os.startfile(target)  # type: ignore[attr-defined,unused-ignore]
            return Ok(str(target))
        command = "open" if sys.platform == "darwin" else "xdg-open"
        subprocess.Popen(
            [command, str(target.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        hint = "open it by hand; the button beside its name copies the path"
        return fail("no-editor", f"no program could be started to open it: {error.strerror or error}", path, hint)
    return Ok(str(target))
