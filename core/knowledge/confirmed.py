"""Which bullets usage has confirmed, and how often: a list that the library leaves for the digest.

`.state/confirmed.json` is a projection of the library's traces: it is made anew by every consolidation, and deleting it
loses nothing. The digest needs no database for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from core.base import files
from core.base.paths import Paths
from core.knowledge.same import Statement

FILE = "confirmed.json"
MOST_BYTES = 16 << 20


def write_confirmed(paths: Paths, counts: Mapping[str, int]) -> None:
    """Leave the texts of bullets with the number of uses that confirmed them; no file where there is none. Raises
    OSError."""
    path = paths.state / FILE
    if not counts:
        if files.exists(path):
            files.remove_file(path)
        return
    data = json.dumps(dict(sorted(counts.items())), ensure_ascii=False, indent=1).encode("utf-8", "replace")
    if files.read_or_empty(path) != data:
        files.make_folder(path.parent)
        files.write_atomic(path, data, lasting=False)


def read_confirmed(paths: Paths) -> dict[str, int]:
    """Bullet text -> confirmations; {} where there is no list, or none that can be read."""
    try:
        found = json.loads(files.read_or_empty(paths.state / FILE) or b"{}")
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {text: number for text, number in found.items() if isinstance(number, int) and number > 0}


def confirmed_first(
    paths: Paths, rank: Callable[[Statement], int] = lambda _statement: 0
) -> Callable[[Statement], int]:
    """The rank of statements in a digest, those that usage confirmed before others of the same `rank`."""
    counts = read_confirmed(paths)
    if not counts:
        return rank

    def ranked(statement: Statement) -> int:
        said = (statement.bullet, *statement.others)
        return 2 * rank(statement) + (0 if any(counts.get(bullet.text) for bullet in said) else 1)

    return ranked
