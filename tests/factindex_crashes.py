"""Kills a sync of the fact index at every operation that changes the disk, syncs again, and compares with a sync that
nobody disturbed. `python -m tests.factindex_crashes [STRIDE]` tries all points, errors and pairs of kills included."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from core.base import files
from core.factindex.facts import FOLDERS
from core.factindex.record import read_history, record_path
from core.knowledge.swap import clear_leftovers
from tests.factindex_world import Shelf, lesson
from tests.faults.fault import Counter, Fault, error_points, kill_points
from tests.faults.store import performing, place

MINE = "# my own remark\n"
HAND = "---\ndomain: global\ncategory: question\n---\n\n- id: global:question:001\n  fact: mine?\n  confidence: 1\n"


def build(folder: Path) -> Shelf:
    """Facts that a user has edited, one of them deleted; then new, confirming, undone and expired ones to come."""
    shelf = Shelf(folder / "knowledge")
    shelf.teach("One", "Two", "Deleted", lesson("Three", "pitfall", "the-nexus"))
    undone = shelf.teach("Taken back", "One")
    shelf.sync()
    text = shelf.text("global/facts.yaml")
    start, end = text.index("- id: global:fact:003"), text.index("- id: global:fact:004")
    shelf.write("global/facts.yaml", text[:start] + MINE + text[end:])
    shelf.edit("global/facts.yaml", '"Two"\n', '"Two"\n  # my own remark\n  expires: "2026-01-01"\n')
    shelf.write("global/questions.yaml", HAND)
    shelf.undo(undone)
    shelf.teach("two", "Deleted", "Four", lesson("Mine?", "question"))
    shelf.teach(lesson("Three", "pitfall", "the-nexus"), lesson("Five", "pattern", "the-nexus"), "four.")
    return shelf


def trail_of(folder: Path) -> list[str]:
    """The operations of a sync that nobody disturbs."""
    counter = Counter()
    shelf = build(folder)
    with performing(counter):
        shelf.sync()
    return counter.trail


def knowledge_of(shelf: Shelf) -> dict[str, bytes]:
    """What must not depend on where a sync was cut: YAML files, index, and what the record says."""
    found = {name: data for name, data in shelf.files().items() if not name.startswith(".state/")}
    records = read_history(record_path(shelf.state))[0]
    found["record"] = repr([row for row in records if row["t"] != "index"]).encode()
    return found


def in_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except OSError:
            os._exit(3)
        except BaseException:  # noqa: BLE001 - the child must not go on as if it were the tests
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def recovered(shelf: Shelf) -> None:
    """What the next sync does, through the command."""
    folders = [shelf.knowledge, shelf.state, *(shelf.knowledge / name for name in FOLDERS)]
    for folder in [*folders, *(below for top in folders[2:] if top.is_dir() for below in top.iterdir())]:
        if folder.is_dir():
            clear_leftovers(folder)
    shelf.sync()


def try_point(folder: Path, faults: Sequence[Fault], wanted: dict[str, bytes]) -> list[str]:
    """Syncs with one fault each, then one without; what is wrong after that, in words."""
    shelf = build(folder)
    for fault in faults:

        def work(fault: Fault = fault) -> None:
            with performing(Counter(fault)):
                shelf.sync()

        if in_child(work) not in (0, 3, -9):
            return ["the sync ended with a traceback"]
        if shelf.text("global/facts.yaml").count("# my own remark") != 2:
            return ["a user's remark is lost"]
    try:
        recovered(shelf)
        after = knowledge_of(shelf)
        wrong = [f"{name} differs" for name in wanted.keys() | after.keys() if wanted.get(name) != after.get(name)]
        before = shelf.files()
        shelf.sync()
        wrong += ["a further sync changed something"] * (shelf.files() != before)
        return wrong + [f"left behind: {path}" for path in shelf.knowledge.rglob(f"*{files.TEMPORARY_MARK}")]
    except Exception:  # noqa: BLE001 - a finding like any other
        return [traceback.format_exc()]


def pair_points(trail: list[str]) -> list[tuple[Fault, Fault]]:
    """A kill, and another one while the next sync mends what the first one left."""
    kinds = ("before", "half", "after")
    pairs = [(one, other) for one in range(1, len(trail) + 1, 3) for other in range(1, 30, 2)]
    return [
        (Fault(one, kinds[number % 3]), Fault(other, kinds[number % 2 + 1]))
        for number, (one, other) in enumerate(pairs)
    ]


def campaign(stride: int = 1, kinds: str = "kep") -> tuple[int, dict[str, list[str]]]:
    """How many points were tried and what is wrong, by point. `kinds`: kills, errors, pairs."""
    folder = Path(tempfile.mkdtemp(prefix="knowledge-facts-", dir=place()))
    try:
        trail = trail_of(folder / "counted")
        whole = build(folder / "whole")
        whole.sync()
        wanted = knowledge_of(whole)
        points: list[Sequence[Fault]] = []
        points += [(fault,) for fault in kill_points(trail, stride)] if "k" in kinds else []
        points += [(fault,) for fault in error_points(trail, stride)] if "e" in kinds else []
        points += pair_points(trail)[::stride] if "p" in kinds else []
        return len(points), dict(_tried(folder, points, wanted))
    finally:
        shutil.rmtree(folder)


def _tried(
    folder: Path, points: Iterable[Sequence[Fault]], wanted: dict[str, bytes]
) -> Iterable[tuple[str, list[str]]]:
    for number, faults in enumerate(points):
        point = folder / f"point-{number}"
        wrong = try_point(point, faults, wanted)
        if wrong:
            yield ", then ".join(map(str, faults)), wrong
        shutil.rmtree(point, ignore_errors=True)


if __name__ == "__main__":
    tried, findings = campaign(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    for point, told in findings.items():
        print(point, *told, sep="\n  ")
    print(f"{tried} points, {len(findings)} with findings")
    sys.exit(bool(findings))
