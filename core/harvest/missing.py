"""Harvested lines that have vanished from the files without a word: found at the start of a run, told once.

An editor that saves a text which it had loaded before a harvest swallows what the harvest wrote. Nobody can tell that
from a person who deletes a bullet, so nothing is put back by itself: the run says so once, and `knowledge missing` puts
the lines back or writes down that they are gone on purpose. Until then their conversations stay in the trash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from core.base import files
from core.base.paths import Paths
from core.harvest.proofs import Proofs
from core.knowledge.journal import FrozenPlan
from core.knowledge.ledger import Entries, Entry

TOLD = "missing_told"
"""The key of a ledger entry that names the run which told that lines of this harvest are missing."""


@dataclass(frozen=True)
class Missing:
    """All that one harvest had put into one file is gone from there. `path` is where the conversation was, `header` the
    first line of the file if it must be made anew, `done` those of `lines` that belong under `## Done`."""

    sha256: str
    run: str
    path: str
    file: str
    header: str
    lines: tuple[str, ...]
    done: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        row = {key: value for key, value in vars(self).items() if key not in ("header", "done")}
        return {**row, "lines": list(self.lines)}


def find_missing(
    paths: Paths, entries: Mapping[str, Entry], proofs: Proofs, now: datetime, days: int, also: Iterable[str] = ()
) -> list[Missing]:
    """What is missing of the harvests of the last `days`, of those whose conversation is in the trash, and of those of
    the hashes `also`; by run, then by file. Raises OSError."""
    wanted, since, standing = set(also), now - timedelta(days=days), _Standing(paths)
    found: list[Missing] = []
    for sha in sorted(entries, key=lambda sha: str(entries[sha].get("run", ""))):
        entry = entries[sha]
        if entry.get("status") != "harvested" or not (sha in wanted or entry.get("trash") or _is_since(entry, since)):
            continue
        plan = proofs.plan(sha, entry)
        if plan is None or standing.has_some_in_each_file(plan):
            continue
        for name, lines in proofs.lost(plan).items():
            row = next(row for row in plan.files if row.name == name)
            done = tuple(line for line in lines if line in row.done and line not in row.lines)
            place, run = str(entry.get("path", "")), str(entry.get("run", ""))
            file = proofs.name_now(plan, name, lines)
            found.append(Missing(sha, run, place, file, row.header, tuple(lines), done))
    return found


def tell_missing(found: list[Missing], entries: Entries, run: str) -> str:
    """A sentence about what has not been told yet, "" for nothing. Marks the entries; one whose lines stand again can
    be told of anew. The caller writes the ledger if anything changed (`marks`)."""
    missing = {row.sha256 for row in found}
    new = [row for row in found if not entries[row.sha256].get(TOLD)]
    for sha, entry in entries.items():
        if sha in missing:
            entry.setdefault(TOLD, run)
        else:
            entry.pop(TOLD, None)
    if not new:
        return ""
    number, where = sum(len(row.lines) for row in new), sorted({row.file for row in new})
    return (
        f"{number} harvested line{'s' * (number != 1)} vanished from {' and '.join(where)}; if an editor saved an "
        "older text, 'knowledge missing restore' puts them back; if you removed them, 'knowledge missing accept' says "
        "so"
    )


def marks(entries: Mapping[str, Entry]) -> set[str]:
    """The harvests of which a run has told that lines are missing."""
    return {sha for sha, entry in entries.items() if TOLD in entry}


class _Standing:
    """The lines that stand in each file, read once: most harvests are whole, and are seen to be at one glance."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._lines: dict[str, frozenset[bytes]] = {}

    def has_some_in_each_file(self, plan: FrozenPlan) -> bool:
        return all(
            not row.all_lines or any(self._is_there(row.name, line) for line in row.all_lines) for row in plan.files
        )

    def _is_there(self, name: str, line: str) -> bool:
        if name not in self._lines:
            data = files.read_or_empty(self._paths.knowledge / name)
            self._lines[name] = frozenset(_each_line(data))
        return line.encode("utf-8") in self._lines[name]


def _each_line(data: bytes) -> Iterator[bytes]:
    return (line.removesuffix(b"\r") for line in data.split(b"\n"))


def _is_since(entry: Entry, since: datetime) -> bool:
    try:
        at = datetime.fromisoformat(str(entry.get("at", "")))
    except ValueError:
        return False
    return at.tzinfo is not None and at >= since
