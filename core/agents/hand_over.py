"""Hands a harvest over to a process of its own and is gone: what the hook of another tool runs when a session ends.

Claude Code gives all of its hooks at the end 1.5 s together and ends them when it exits. So this file is a script that
Python runs without loading anything else (`python -I -S hand_over.py TOOL WORDS…`): it reads which session ended, sets
`WORDS… harvest --apply --since-last --quiet` free in a session of its own, and ends. Nothing depends on it: what is not
handed over is found by the next start, timer or harvest.

Before a model is asked for the first time in a session of Antigravity, which has no event for the start of a session,
it runs `python -I -S hand_over.py start TOOL WORDS…`: that becomes the program itself, in the folder of the session.

Where the program itself asks such a tool for an answer, it sets `MARK` in its environment: no hook of ours runs there,
or a harvest would harvest itself.
"""

from __future__ import annotations

import os
import select
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

MARK = "KNOWLEDGE_HARVEST"
CHECK = "KNOWLEDGE_CHECK"
"""Is "1" where a hook is only tried: it answers as ever, and begins no harvest."""
HARVEST = ("harvest", "--apply", "--since-last", "--quiet")
MAX_INPUT_BYTES = 1 << 16
WAIT_SECONDS = 0.03


def is_ours(environment: Mapping[str, str]) -> bool:
    """Whether a tool runs because this program asked it something."""
    return bool(environment.get(MARK))


def is_tried(environment: Mapping[str, str]) -> bool:
    """Whether `knowledge connect --check` runs this."""
    return environment.get(CHECK) == "1"


def told() -> dict[str, Any]:
    """What a tool says on its standard input as a JSON object; {} for nothing."""
    if os.name != "posix":
        return {}

    data = b""
    while len(data) < MAX_INPUT_BYTES and select.select([0], [], [], WAIT_SECONDS)[0]:
        piece = os.read(0, MAX_INPUT_BYTES)
        if not piece:
            break
        data += piece
    if not data:
        return {}
    import json

    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def start(tool: str, words: list[str]) -> int:
    """Answer the hook before a question to the model: with the context at the first one, else with nothing. The tool
    runs it in the folder of its settings, and names that of the session."""
    said = told()
    if is_ours(os.environ) or said.get("invocationNum"):
        print("{}")
        return 0
    folders = said.get("workspacePaths")
    for folder in folders if isinstance(folders, list) else []:
        if isinstance(folder, str) and os.path.isdir(folder):
            os.chdir(folder)
            break
    return os.execv(words[0], [*words, "context", "--hook", tool])


def set_free(words: list[str]) -> bool:
    """Start a program that outlives us, with no terminal and nothing of ours open. Whether it could be started."""
    folder = os.path.expanduser("~")
    if os.name != "posix":
        import subprocess

        flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        nothing = subprocess.DEVNULL
        try:
            subprocess.Popen(words, stdin=nothing, stdout=nothing, stderr=nothing, creationflags=flags, cwd=folder)
        except OSError:
            return False
        return True
    if not os.access(words[0], os.X_OK):
        return False
    child = os.fork()
    if child:
        os.waitpid(child, 0)  # it ends at once: the one that works is its child, and nobody's to wait for
        return True
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        os.closerange(3, 256)
        os.chdir(folder if os.path.isdir(folder) else os.sep)
        os.execv(words[0], words)
    finally:
        os._exit(1)


def main(arguments: list[str]) -> int:
    """`TOOL WORDS…`: the tool whose session ended, and how this program is started; or `start TOOL WORDS…`."""
    if arguments[:1] == ["start"]:
        return start(arguments[1], arguments[2:])
    if len(arguments) < 2 or is_ours(os.environ):
        return 0
    named = told().get("transcript_path")
    ended = ["--ended", named] if isinstance(named, str) and os.path.isabs(named) else []
    set_free([*arguments[1:], *HARVEST, *ended])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
