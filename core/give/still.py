"""Still true? What a line names and git once tracked here and no longer has."""

from __future__ import annotations

import os
import re
import subprocess

MOST = 3
"""So many paths of one line are asked for."""
SECONDS = 0.5
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


def _was_tracked(root: str, path: str) -> bool:
    words = ["git", *_SAFE, "log", "-1", "--no-ext-diff", "--no-textconv", "--format=%h", "--", path]
    keep = ("PATH", "HOME", "SYSTEMROOT")
    environment = {name: os.environ[name] for name in keep if name in os.environ}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    try:
        done = subprocess.run(
            words,
            cwd=root,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())
