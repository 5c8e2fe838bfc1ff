"""Still true? What a line names and git once tracked here and no longer has."""

from __future__ import annotations

import os
import re
import subprocess

MOST = 3
"""So many paths, and so many names, of one line are asked for."""
SECONDS = 0.5
MAIN = ("main", "master", "trunk", "develop")
_PATH = re.compile(r"(?<![\w/.:@-])(?:[\w@.-]+/)+[\w@-][\w@.-]*\.[A-Za-z]\w{0,7}\b")
_SYMBOL = re.compile(r"`(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w{3,60})(?:\(\))?`")
_IS_SYMBOL = re.compile(r"\(\)|[a-z0-9]_[a-z0-9]|[a-z][A-Z]")
"""A call, snake_case or camelCase: other words in backticks are commands and values."""
_SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
    "-c", "log.showSignature=false", "--no-optional-locks", "--no-pager", "--literal-pathspecs",
)  # fmt: skip
"""Nothing that a repository names is run: no hook, no monitor, no signature check."""


def gone(root: str, text: str) -> list[str]:
    """The paths in a text that the repository at `root` tracked once and has no more, and the names of functions and
    classes that stood in its files once and stand in none now; [] where git cannot be asked."""
    if not root or not os.path.lexists(os.path.join(root, ".git")):
        return []
    named = dict.fromkeys(found[0] for found in _PATH.finditer(text) if "://" not in found[0])
    missing = [path for path in named if not os.path.lexists(os.path.join(root, path))][:MOST]
    symbols = dict.fromkeys(found[1] for found in _SYMBOL.finditer(text) if _IS_SYMBOL.search(found[0]))
    paths = [path for path in missing if _was_tracked(root, path)]
    return paths + [name for name in list(symbols)[:MOST] if _is_absent(root, name) and _stood(root, name)]


def stands(file: str, line: str) -> bool:
    """Whether a file still says a line that an index has of it: the user may have removed it or struck it through, and
    nobody has searched since."""
    from core.base.entry import statement_key
    from core.base.markdown import parse_bullets

    line = line.partition("\n")[0]
    telling, said = max(re.findall(r"\w+", line), key=len, default=""), statement_key(line)
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            rows = [row for row in opened if row.startswith("- ") and telling in row]
    except OSError:
        return False
    return any(row.key == said and not row.struck for row in parse_bullets("".join(rows)))


def never_merged(root: str, branch: str) -> bool:
    """Whether a branch is there and holds what the main one does not; False where git cannot tell."""
    if not branch or branch in MAIN or not os.path.lexists(os.path.join(root, ".git")):
        return False
    ref = f"refs/heads/{branch}"
    for main in (f"refs/heads/{name}" for name in MAIN):
        if git(root, "rev-parse", "--verify", "--quiet", main) is not None:
            there = git(root, "rev-parse", "--verify", "--quiet", ref)
            return there is not None and bool(git(root, "rev-list", "-1", ref, f"^{main}"))
    return False


def _was_tracked(root: str, path: str) -> bool:
    return bool(git(root, "log", "-1", "--no-ext-diff", "--no-textconv", "--format=%h", "--", path))


def _is_absent(root: str, name: str) -> bool:
    """Whether no tracked file has the word; False where git cannot tell."""
    done = _run(root, "grep", "-q", "-w", "-F", "--no-textconv", "-e", name, seconds=SECONDS)
    return done is not None and done.returncode == 1


def _stood(root: str, name: str) -> bool:
    """Whether a commit brought the word or took it out, among those that can be looked through in time."""
    return bool(git(root, "log", "-1", "--no-ext-diff", "--no-textconv", "--format=%h", f"-S{name}"))


def git(root: str, *asked: str, seconds: float = SECONDS) -> str | None:
    """What git answers, None where it refuses or takes longer than so many `seconds`. It runs nothing that a repository
    names."""
    done = _run(root, *asked, seconds=seconds)
    return done.stdout.decode("utf-8", "replace").strip() if done is not None and done.returncode == 0 else None


def committed(root: str, name: str) -> list[str] | None:
    """The lines of a file in the newest commit, None where there is none. The file itself is never given to git, which
    would run the filters that the repository names."""
    done = _run(root, "cat-file", "blob", f"HEAD:{name}", seconds=SECONDS)
    return done.stdout.decode("utf-8", "replace").splitlines() if done is not None and done.returncode == 0 else None


def _run(root: str, *asked: str, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
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
