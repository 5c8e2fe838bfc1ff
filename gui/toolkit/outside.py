"""Hands a file to the program that the system opens it with, or to the user's editor at a line."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from core.base.result import KnowledgeError

# What a desktop starts instead of showing it: a name that stands in a conversation must not run a program.
STARTED = frozenset({".desktop", ".exe", ".bat", ".cmd", ".com", ".lnk", ".app", ".command", ".msi", ".scr", ".vbs"})

AT_LINE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("vi", "vim", "nvim", "nano", "emacs", "gvim", "gedit"), ("+{line}", "{file}")),
    **dict.fromkeys(("code", "codium", "code-insiders"), ("-g", "{file}:{line}")),
    "subl": ("{file}:{line}",),
    "kate": ("-l", "{line}", "{file}"),
}
"""How an editor is asked for a line, by the name of its program."""
IN_TERMINAL = frozenset({"vi", "vim", "nvim", "nano"})
TERMINAL = "x-terminal-emulator"


def editor_at(
    path: str, line: int, environment: Mapping[str, str], which: Callable[[str], str | None] = shutil.which
) -> list[str]:
    """The command that opens a file at a line (from 1) in the editor of $VISUAL or $EDITOR; empty when that is none of
    `AT_LINE`, is not installed, or needs a terminal and there is none to be opened."""
    words: list[str] = []
    for name in ("VISUAL", "EDITOR"):
        try:
            words = words or shlex.split(environment.get(name, ""))
        except ValueError:  # an open quotation mark: as good as not set
            continue
    form = AT_LINE.get(Path(words[0]).name) if words else None
    if not line or form is None or which(words[0]) is None:
        return []
    command = [*words, *(part.format(file=path, line=line) for part in form)]
    if Path(words[0]).name not in IN_TERMINAL and not {"-nw", "--no-window-system"} & {*words}:
        return command
    return [TERMINAL, "-e", *command] if which(TERMINAL) is not None else []


def open_outside(path: str, line: int = 0) -> str:
    """Open a file in the editor, or a folder in the file browser, of this desktop; returns what was opened.

    With a `line` it is opened there, by an editor of `AT_LINE` that the user has chosen; else at its beginning.
    A file that the desktop would run is not opened but shown in its folder. Does not wait for the program to end.
    Raises KnowledgeError when there is no such file, or nothing that opens it. For the worker.
    """
    target = Path(path)
    if not target.exists():
        raise KnowledgeError("not-there", "there is no such file (any more)", path)
    if target.suffix.lower() in STARTED or (
        target.is_file() and sys.platform != "win32" and os.access(target, os.X_OK)
    ):
        target = target.parent
    at_line = editor_at(str(target.absolute()), line, os.environ) if target.is_file() else []
    try:
        if sys.platform == "win32" and not at_line:
            os.startfile(target)  # type: ignore[attr-defined,unused-ignore]
            return str(target)
        command = "open" if sys.platform == "darwin" else "xdg-open"
        subprocess.Popen(
            at_line or [command, str(target.absolute())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        hint = "open it by hand; the button beside its name copies the path"
        raise KnowledgeError(
            "no-editor", f"no program could be started to open it: {error.strerror or error}", path, hint
        ) from error
    return str(target)
