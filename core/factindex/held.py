"""Facts that are missed although nobody has said that they should go: kept in the index until a user decides.

A file that is broken, is gone, or has lost most of its items at once is more often an accident than a wish (after
vdirsyncer: sudden emptiness is a fault). `.state/fact_files.json` remembers which facts each file had when it was last
whole, and what those said that are missed now. Deleting it makes the next sync believe every file as it stands. What is
lost with index.json is made again of its bullet (follow.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from core.base import files
from core.base.figures import count
from core.base.result import Ok, attempt
from core.factindex.facts import Fact, Problem, fact_from
from core.factindex.index import read_index
from core.factindex.places import FactFiles

NAME = "fact_files.json"
MIN_SUDDEN_REMOVALS, PART = 10, 0.5
"""When at least this many facts of one file, and more than this part of it, vanish at once, that is reported and not
believed."""
ACCEPT = "'knowledge facts sync --accept-removals' lets them go"


@dataclass(frozen=True)
class Known:
    """What the last sync saw: the ids of each file, the facts that were missed already, as they were last seen, and the
    ids of those that were lost: they are missed also in a file that is there again."""

    ids: Mapping[str, list[str]] = field(default_factory=dict)
    kept: Mapping[str, list[Fact]] = field(default_factory=dict)
    lost: AbstractSet[str] = frozenset()


def read_known(state: Path) -> Known:
    """What the last sync noted; nothing when that is gone or damaged."""
    try:
        loaded = json.loads(files.read_or_empty(state / NAME) or b"null")
        ids = {str(name): [str(one) for one in rows] for name, rows in loaded["files"].items()}
        kept = {str(name): [fact_from(row) for row in rows] for name, rows in loaded["kept"].items()}
        return Known(ids, kept, frozenset(map(str, loaded.get("lost", ()))))
    except files.DAMAGED:
        return Known()


def write_known(state: Path, found: FactFiles) -> None:
    """Note what each file has now, with what is held of it. Raises OSError."""
    ids: dict[str, list[str]] = {}
    for name, row in found.placed.items():
        ids.setdefault(row.file, []).append(name)
    for file, facts in found.held.items():
        ids.setdefault(file, []).extend(fact.id for fact in facts)
    for file, names in found.lost.items():
        ids.setdefault(file, []).extend(names)
    noted: dict[str, object] = {"files": ids}
    noted["kept"] = {file: [fact.to_json() for fact in facts] for file, facts in found.held.items()}
    if found.lost:
        noted["lost"] = sorted(found.lost_ids)
    data = json.dumps(noted, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if files.read_or_empty(state / NAME) != data:
        files.make_folder(state)
        files.write_atomic(state / NAME, data, 0o600)


def hold(knowledge: Path, found: FactFiles, known: Known, removed: Iterable[str] = ()) -> FactFiles:
    """Fill `found.held` and `found.lost`, and tell of both among the problems. `removed` are facts that were taken out
    on purpose just now. What another file has meanwhile is not missed."""
    found.held, found.lost = {}, {}
    present = found.taken.union(removed)
    missed = {file: [name for name in ids if name not in present] for file, ids in known.ids.items()}
    for file, gone in missed.items():
        if not _is_sudden(found, file, len(gone)):
            missed[file] = [name for name in gone if name in known.lost]
    missed = {file: gone for file, gone in missed.items() if gone}
    if not missed:
        return found
    facts = {fact.id: fact for rows in known.kept.values() for fact in rows}
    if not facts.keys() >= {name for gone in missed.values() for name in gone}:
        read = attempt(read_index, knowledge)
        facts = {**{fact.id: fact for fact in (read.value if isinstance(read, Ok) else ())}, **facts}
    for file, gone in missed.items():
        rows = [facts[name]._replace(unread=True) for name in gone if name in facts]
        if rows:
            found.held[file] = rows
        if len(rows) < len(gone):
            found.lost[file] = [name for name in gone if name not in facts]
        found.problems.append(_vanished(found, file, gone, len(rows)))
    return found


def _is_sudden(found: FactFiles, file: str, gone: int) -> bool:
    read = found.by_name.get(file)
    return read is None or bool(read.broken) or is_sudden(gone, gone + len(read.placed))


def is_sudden(gone: int, total: int) -> bool:
    """Whether `gone` of `total` facts of a file are so many at once that an accident is likelier than a wish."""
    return gone >= MIN_SUDDEN_REMOVALS and gone > PART * total


def _vanished(found: FactFiles, file: str, gone: list[str], rows: int) -> Problem:
    number = count(rows or len(gone), "fact")
    read = found.by_name.get(file)
    if read is None:
        what = f"the file is gone, and {number} with it"
    elif read.broken:
        what = f"{number} stood in it before it broke"
    else:
        what = f"{number} vanished from it at once"
    if not rows:
        message = f"{what}; index.json does not have them either, so their bullets alone tell what they said ({ACCEPT})"
        return Problem("held-facts", file, 0, "", message)
    return Problem("held-facts", file, 0, "", f"{what}; they stay in the index as they were last seen ({ACCEPT})")
