"""Still true? What the user has taken back, and what a line names that git once tracked here and no longer has."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Sequence

from core.base.paths import Paths
from core.base.project import MAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

    from core.knowledge.removed import Removed

MOST = 3
"""The most paths, and the most names, of one line that git is asked about."""
SECONDS = 0.5
"""The longest wait for one answer of git."""
LEAST = 30
"""The characters of the shortest part by which a sentence is known."""
_ENDS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|; ")
_PATH = re.compile(r"(?<![\w/.:@-])(?:[\w@.-]+/)+[\w@-][\w@.-]*\.[A-Za-z]\w{0,7}\b")
_SYMBOL = re.compile(r"`(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w{3,60})(?:\(\))?`")
_IS_SYMBOL = re.compile(r"\(\)|[a-z0-9]_[a-z0-9]|[a-z][A-Z]")
"""A call, snake_case or camelCase: other words in backticks are commands and values."""
_SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
    "-c", "log.showSignature=false", "--no-optional-locks", "--no-pager", "--literal-pathspecs",
)  # fmt: skip
"""Nothing that a repository names is run: no hook, no monitor, no signature check."""


def taken_back(paths: Paths) -> Callable[[str], bool]:
    """Whether a sentence, or one that is in it, says what the user removed, what has expired or what waits in the
    quarantine, or is a part of that or around it. Raises OSError where nobody can know."""
    from core.base.entry import statement_key

    removed, texts = _away(paths)
    keys = [f" {key} " for key in {statement_key(text) for text in texts} | removed.expired]

    def is_away(line: str) -> bool:
        whole = (line.rpartition(" → ")[0] or line).removesuffix(" …")
        for said in (whole, *_ENDS.split(whole)):
            key = f" {statement_key(said)} "
            if removed.is_purged(said) or any(key == one or _is_part(key, one) for one in keys):
                return True
        return False

    return is_away


def _is_part(one: str, other: str) -> bool:
    """Whether of two texts one is a part of the other, neither of them short."""
    return min(len(one), len(other)) > LEAST and (one in other or other in one)


def lesson_taken_back(paths: Paths, line: str, instead: str) -> bool:
    """Whether the commands of a hint, the first that it names and what it recommends, stand together in such a line:
    it tells the same in other words. Raises OSError where nobody can know."""
    from core.base.command_line import KEY_CHARACTERS, command_key, is_told  # most lines and hints are of no lesson

    named = []
    for command in (*line.split("`")[1:2], instead):
        whole = command.removesuffix(" …")
        if key := command_key(whole):
            named.append((key, whole != command or len(command) >= KEY_CHARACTERS))
    for text in _away(paths)[1] if named else ():
        said = text.split("`")
        if all(any(is_told(one, key, is_cut=is_cut) for one in said) for key, is_cut in named):
            return True
    return False


def _away(paths: Paths) -> tuple[Removed, list[str]]:
    from core.base import files
    from core.base.markdown import parse_bullets
    from core.knowledge.removed import FOREVER, read_hidden

    removed = read_hidden(paths)
    waits = parse_bullets(files.read_or_empty(paths.quarantine).decode("utf-8", "replace"))
    return removed, [row.text for row in removed.rows if row.how != FOREVER] + [bullet.text for bullet in waits]


def gone(root: str, text: str, until: float = math.inf) -> list[str]:
    """The paths in a text that the repository at `root` tracked once and has no more, and the names of functions and
    classes that stood in its files once and stand in none now; [] where git cannot be asked. `until` is when git must
    have answered, in seconds of the monotonic clock."""
    if not root or not os.path.lexists(os.path.join(root, ".git")):
        return []
    named = dict.fromkeys(found[0] for found in _PATH.finditer(text) if "://" not in found[0])
    missing = [path for path in named if not os.path.lexists(os.path.join(root, path))][:MOST]
    symbols = dict.fromkeys(found[1] for found in _SYMBOL.finditer(text) if _IS_SYMBOL.search(found[0]))
    paths = [path for path in missing if _in_log(root, until, "--", path)]
    names = list(symbols)[:MOST]
    return paths + [name for name in names if _is_absent(root, name, until) and _in_log(root, until, f"-S{name}")]


def committed_since(root: str, names: Sequence[str], day: str, until: float = math.inf) -> str:
    """The newest commit from a `day` on (ISO) that has these files of a repository, named without their folders, each
    as it was changed last: its short hash. "" where one of them is in no such commit, was touched behind it (also by a
    checkout: whether git's files differ cannot be asked without the filters that a repository names), is gone, has the
    name of another file there, or where git cannot be asked."""
    if not names or not day or not os.path.lexists(os.path.join(root, ".git")):
        return ""
    there: dict[str, list[str]] = {name: [] for name in names}
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", until=until) or ""
    for path in listed.split("\0"):
        there.get(path.rpartition("/")[2], []).append(path)
    newest = (0, "")
    for paths in there.values():
        asked = ("log", "-1", f"--since={day}T00:00:00Z", "--format=%ct %h", "--no-ext-diff", "--no-textconv", "--")
        told = git(root, *asked, paths[0], until=until) if len(paths) == 1 else ""
        when, _, short = (told or "").partition(" ")
        if not short or not 0 < _changed_at(root, paths[0]) <= int(when) + 1:
            return ""
        newest = max(newest, (int(when), short))
    return newest[1]


def _changed_at(root: str, path: str) -> float:
    """When a file was changed last, in seconds since 1970; 0 where it is not there."""
    try:
        return os.stat(os.path.join(root, path), follow_symlinks=False).st_mtime
    except OSError:
        return 0.0


def stands(file: str, line: str) -> bool:
    """Whether a file still says a line that an index has of it: the user may have removed it or struck it through, and
    nobody has searched since."""
    return bool(standing(file, line))


def standing(file: str, line: str) -> str:
    """A line that an index has of a file as it stands there, with its marks; "" where it does no more."""
    from core.base.entry import statement_key
    from core.base.markdown import is_bullet, parse_bullets

    line = line.partition("\n")[0]
    telling, said = max(re.findall(r"\w+", line), key=len, default=""), statement_key(line)
    blocks: list[str] = []  # each bullet with what is indented below it
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            for row in opened:
                if is_bullet(row):
                    blocks.append(row)
                elif blocks and row[:1] in (" ", "\t"):
                    blocks[-1] += row
    except OSError:
        return ""
    rows = parse_bullets("".join(block for block in blocks if telling in block))
    return next((row.text for row in rows if row.key == said and not row.struck), "")


def never_merged(root: str, branch: str, until: float = math.inf) -> bool:
    """Whether a branch is there and holds what the main one does not; False where git cannot tell, or not `until`
    then."""
    if not branch or branch in MAIN or not os.path.lexists(os.path.join(root, ".git")):
        return False
    ref = f"refs/heads/{branch}"
    for main in (f"refs/heads/{name}" for name in MAIN):
        if git(root, "rev-parse", "--verify", "--quiet", main, until=until) is not None:
            there = git(root, "rev-parse", "--verify", "--quiet", ref, until=until)
            return there is not None and bool(git(root, "rev-list", "-1", ref, f"^{main}", until=until))
    return False


def _is_absent(root: str, name: str, until: float) -> bool:
    """Whether no tracked file has the word; False where git cannot tell."""
    done = _run(root, "grep", "-q", "-w", "-F", "--no-textconv", "-e", name, seconds=SECONDS, until=until)
    return done is not None and done.returncode == 1


def _in_log(root: str, until: float, *what: str) -> bool:
    """Whether there is a commit of a path, or one that brought a word or took it out, among those that can be looked
    through in time."""
    return bool(git(root, "log", "-1", "--no-ext-diff", "--no-textconv", "--format=%h", *what, until=until))


def git(root: str, *asked: str, seconds: float = SECONDS, until: float = math.inf) -> str | None:
    """What git answers, None where it refuses, takes longer than `seconds` or has not answered `until` then. It
    runs nothing that a repository names."""
    done = _run(root, *asked, seconds=seconds, until=until)
    return done.stdout.decode("utf-8", "replace").strip() if done is not None and done.returncode == 0 else None


def committed(root: str, name: str) -> list[str] | None:
    """The lines of a file in the newest commit, None where there is none. The file itself is never given to git, which
    would run the filters that the repository names."""
    done = _run(root, "cat-file", "blob", f"HEAD:{name}", seconds=SECONDS)
    return done.stdout.decode("utf-8", "replace").splitlines() if done is not None and done.returncode == 0 else None


def _run(root: str, *asked: str, seconds: float, until: float = math.inf) -> subprocess.CompletedProcess[bytes] | None:
    import subprocess  # most lines name nothing that git is asked about

    seconds = min(seconds, until - time.monotonic())
    if seconds <= 0:
        return None
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    try:
        return subprocess.run(
            ["git", *_SAFE, *asked],
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
