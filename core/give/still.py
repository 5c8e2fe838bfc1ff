"""Still true? What a line names and git once tracked here and no longer has."""

from __future__ import annotations

import os
import re
import subprocess

MOST = 3
"""So many paths of one line are asked for."""
SECONDS = 0.5
MAIN = ("main", "master", "trunk", "develop")
_PATH = re.compile(r"(?<![\w/.:@-])(?:[\w@.-]+/)+[\w@-][\w@.-]*\.[A-Za-z]\w{0,7}\b")
_SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false",
    "-c", "log.showSignature=false", "--no-optional-locks", "--no-pager", "--literal-pathspecs",
)  # fmt: skip
"""Nothing that a repository names is run: no hook, no monitor, no signature check."""


def gone(root: str, text: str) -> list[str]:
    """The paths in a text that the repository at `root` tracked once and has no more; [] where git cannot be asked."""
    if not root or not os.path.lexists(os.path.join(root, ".git")):
        return []
    named = dict.fromkeys(found[0] for found in _PATH.finditer(text) if "://" not in found[0])
    missing = [path for path in named if not os.path.lexists(os.path.join(root, path))][:MOST]
    return [path for path in missing if _was_tracked(root, path)]


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


def git(root: str, *asked: str, seconds: float = SECONDS) -> str | None:
    """What git answers, None where it refuses or takes longer than so many `seconds`. It runs nothing that a repository
    names."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    try:
        done = subprocess.run(
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
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
