"""`knowledge context` a second time, answered before the program is loaded: a hook at every session start waits for it.

What was printed is kept in the cache folder with a list of all paths that it depends on, and is printed again while
every one of them is what it was. It was made by the usual way and went through the gate (base/marks.py). Nothing is
imported here but what a bare Python has loaded already, and json: the program takes four times as long to load as this
answer to look up. Where an answer depends on more than paths (a project's own knowledge, a link, a warning, a settings
file that was named, facts that age), nothing is kept.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from core.commands.context import ContextPrefix
    from core.commands.workspace import Workspace

WHICH = 5
"""So many fields tell which path it is and whose."""
VARIABLES = (
    "HOME",
    "MANUAL_SLOP_HOME",
    "SLOP_CONFIG",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "GIT_CEILING_DIRECTORIES",
    "KNOWLEDGE_HARVEST",
)
GROUPS = ("/etc/group", "/etc/passwd")
SETTLED_SECONDS = 2.0
"""What was changed so lately may change again without its time telling so: such an answer is not kept."""


def kept_answer(arguments: Sequence[str]) -> str | None:
    """What `knowledge context` printed when it was last asked in these words, here; None to ask the usual way."""
    try:
        asked = _asked(arguments)
        place = place_of(asked) if asked is not None else None
        kept = kept_at(place, asked) if place is not None else None
        if kept is None:
            return None
        if kept["until"]:
            import time

            if time.time() >= kept["until"]:
                return None  # the start of a session has something to catch up with
        text = kept["text"]
        return text if isinstance(text, str) else None
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def keep_answer(arguments: Sequence[str], workspace: Workspace, made: ContextPrefix, text: str, begun: float) -> None:
    """Keep what was printed, unless something about it cannot be told by looking at paths. `begun` is when the work
    on it began (seconds, as `time.time`): what was changed since may not be in it."""
    from pathlib import Path

    from core.base.config import SHIPPED_FILE, user_config_file
    from core.base.paths import PROJECT_FOLDER
    from core.base.trust import trust_file

    asked = _asked(arguments)
    place = place_of(asked) if asked is not None else None
    paths, environment, here = workspace.paths, workspace.environment, workspace.cwd
    ages = workspace.config.bootstrap_facts
    named = workspace.named is not None or environment.get("SLOP_CONFIG")
    if place is None or environment is not os.environ or named or ages:
        return
    if made.project or made.warnings or workspace.loaded.warnings:
        return
    above = (here, *here.parents)
    until = 0.0
    if made.hook:
        from core.commands.daily.autopilot import quiet_until

        until = quiet_until(workspace)
        if made.message or not until:
            return
    which = [*above, *(folder / ".git" for folder in above), paths.home, paths.state]
    whole = [SHIPPED_FILE, user_config_file(environment), here / "config.toml", trust_file(environment)]
    whole += [folder / name for folder in above for name in (PROJECT_FOLDER, f"{PROJECT_FOLDER}/knowledge")]
    whole += [paths.autopilot, paths.ended] if made.hook else []
    whole += [*map(Path, GROUPS)]  # whether a group may write is asked of its members
    whole += [paths.knowledge, *(row for row in paths.knowledge.glob("*") if not row.is_dir())]
    code = [module.__file__ or "" for name, module in sys.modules.items() if name.partition(".")[0] == "core"]
    rows = [seen(str(path), False) for path in which]
    rows += [seen(name, True) for name in dict.fromkeys([*map(str, whole), *filter(None, code)])]
    if any(len(row) > 1 and stat.S_ISLNK(row[1]) for row in rows):
        return  # the times of a link are not those of what it leads to
    keep_at(place, asked, rows, begun, text=text, until=until)


def _asked(arguments: Sequence[str]) -> list[Any] | None:
    """The words, the folder and the variables by which an answer is found again; None for words of another kind."""
    rest = iter(arguments[1:])
    for word in rest:
        if word != "--quiet" and (word not in ("--home", "--hook") or not next(rest, "")):
            return None
    return [[*arguments], os.getcwd(), *asked_of_process()] if [*arguments[:1]] == ["context"] else None


def asked_of_process() -> list[Any]:
    """What else of this process an answer hangs on: its variables, its Python and its user."""
    return [[os.environ.get(name) for name in VARIABLES], sys.version, getattr(os, "geteuid", int)()]


def place_of(asked: list[Any]) -> str | None:
    """Where it is kept: one of 256 places; what stands there says itself what it answers."""
    if not sys.platform.startswith("linux"):
        return None  # elsewhere the cache folder is not known without a library
    base = os.environ.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else os.path.expanduser("~/.cache")
    from binascii import crc32

    slot = crc32(repr(asked).encode("utf-8", "surrogatepass")) & 0xFF
    return f"{base}/manual_slop/knowledge/start/{slot:02x}" if os.path.isabs(base) else None


def kept_at(place: str, asked: list[Any] | None) -> dict[str, Any] | None:
    """What is kept there for these words, while every path that it depends on is what it was. What is damaged raises
    OSError, ValueError, KeyError, TypeError, IndexError or RecursionError."""
    with open(place, "rb", opener=_no_link) as stream:
        found = os.fstat(stream.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            return None  # it must be a file of this person that nobody else may write or read
        import json

        kept: dict[str, Any] = json.loads(stream.read())
    same = kept["asked"] == asked and all(seen(row[0], len(row) != WHICH) == row for row in kept["paths"])
    return kept if same else None


def keep_at(place: str, asked: list[Any] | None, rows: list[list[Any]], begun: float, **what: object) -> None:
    """Keep something with the state of the paths that it depends on (`rows`, each as `seen`), unless one of them has
    changed just now."""
    import json
    from pathlib import Path

    from core.base import files

    newest = max((max(row[-2:]) for row in rows if len(row) > WHICH), default=0)
    if newest < (begun - SETTLED_SECONDS) * 1e9:
        files.write_cache(Path(place), json.dumps({"asked": asked, "paths": rows, **what}).encode())


def _no_link(path: str, flags: int) -> int:
    """An opener that follows no link and waits for nobody."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def seen(path: str, whole: bool) -> list[Any]:
    """What stands at a path: nothing; with `whole` in what state it is; else only which it is and whose."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return [path]
    which = [path, found.st_mode, found.st_uid, found.st_gid, found.st_ino]
    return [*which, found.st_size, found.st_mtime_ns, found.st_ctime_ns] if whole else which
