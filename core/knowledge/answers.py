"""What the user answered to what waits (`knowledge review`) where no file shows it: `.state/dismissed.json`.

A table of what was asked (its key) -> `until`, the day on which it is asked again (YYYY-MM-DD, "" for never),
and `run`, by which an undo takes the answer back. Earlier versions wrote a list of keys. A damaged file forgets them:
then the same is asked once more.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeAlias

from core.base import files, locks
from core.base.paths import Paths
from core.base.result import disk_errors
from core.knowledge.log import carry_over

NAME = "dismissed.json"
LOCK_SECONDS = 5.0
Answers: TypeAlias = dict[str, dict[str, str]]


def read_answers(paths: Paths) -> Answers:
    """All of them; none where the file cannot be read."""
    try:
        return _read(paths)
    except OSError:
        return {}


def _read(paths: Paths) -> Answers:
    try:
        found = json.loads(files.read_or_empty(paths.state / NAME) or b"{}")
    except files.DAMAGED:
        return {}
    if isinstance(found, list):
        return {key: {"until": "", "run": ""} for key in found if isinstance(key, str)}
    rows = found.items() if isinstance(found, dict) else ()
    return {
        key: {name: str(row.get(name) or "") for name in ("until", "run")} for key, row in rows if isinstance(row, dict)
    }


def silenced(paths: Paths, today: str) -> frozenset[str]:
    """The keys of what is not asked on that day."""
    return frozenset(key for key, row in read_answers(paths).items() if not row["until"] or today < row["until"])


def remember_answer(paths: Paths, keys: Iterable[str], until: str, run: str) -> None:
    """Do not ask these before the day `until`, or ("") ever again. Raises KnowledgeError when it cannot be written."""
    new = {key: {"until": until, "run": run} for key in keys}
    _changed(paths, lambda known: known | new)


def take_answers_back(paths: Paths, run: str) -> int:
    """Ask again what was answered by `run`; how many that were. Raises KnowledgeError when they cannot be read or
    written."""
    with disk_errors("store-failed", "what you answered cannot be read", paths.state / NAME):
        known = _read(paths)
    number = sum(row["run"] == run for row in known.values()) if run else 0
    if number:
        _changed(paths, lambda known: {key: row for key, row in known.items() if row["run"] != run})
    return number


def _changed(paths: Paths, change: Callable[[Answers], Answers]) -> None:
    path = paths.state / NAME
    with disk_errors("store-failed", "this cannot be remembered", path):
        carry_over(paths)
        with locks.only_one(paths.state / "dismissed.lock", work="review", editor_wait=LOCK_SECONDS):
            text = json.dumps(change(_read(paths)), indent=1, sort_keys=True)
            files.write_atomic(path, (text + "\n").encode())
