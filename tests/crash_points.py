"""Kills a harvest at every step that changes the disk, runs it again, and checks that nothing was lost or doubled.

`python -m tests.crash_points [STRIDE]` tries every point, or every STRIDE-th. The harvest runs in a child process that
ends without a farewell (`os._exit`) before or after the n-th change, or half-way through the n-th write. Then a new
process harvests again, with a model that would answer otherwise, and the invariants of storage.md are checked.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.base import files
from tests.harvest_world import FakeModel, World, ordinary, sha256, snapshot

CHANGES = (
    "write_all", "take_back", "sync", "sync_folder", "make_folder", "discard", "remove_file", "replace_file",
    "rename_without_replacing", "exchange", "write_temporary", "write_atomic", "create_atomic",
)  # fmt: skip
MINE = {
    "facts.md": b"# Facts\n\n- mine, without a line break at the end",
    "tasks.md": b"# Tasks\r\n\r\n## Open\r\n\r\n- buy milk\r\n\r\n## Done\r\n\r\n- slept\r\n",
    "decisions.md": b"words of mine\n\n- and a bullet\n  with more below\n",
}
TEXTS = ("User: first talk\n", "User: second talk, longer\n", "User: third talk\n")


@dataclass
class Fault:
    """What happens at the n-th change: `kind` is kill-before, kill-half, kill-after or the name of an error; `forever`
    says that it goes on from there."""

    at: int
    kind: str
    forever: bool = False
    seen: int = 0

    def __str__(self) -> str:
        return f"{self.kind}{' from then on' * self.forever} at {self.at}"

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(*args: Any, **kwargs: Any) -> Any:
            self.seen += 1
            mine = self.seen == self.at or (self.forever and self.seen > self.at)
            if not mine:
                return call(*args, **kwargs)
            if self.kind == "kill-before":
                os._exit(9)
            if self.kind == "kill-half":
                if name == "write_all":
                    os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
                os._exit(9)
            if self.kind == "kill-after":
                call(*args, **kwargs)
                os._exit(9)
            number = getattr(errno, self.kind)
            if name == "write_all":
                os.write(args[0], bytes(args[1])[: len(args[1]) // 2])
            if name == "sync":
                raise files.SyncError(number, os.strerror(number))
            raise OSError(number, os.strerror(number))

        return faulty


def build(folder: Path) -> World:
    """Three conversations, one of them twice, in a store that the person has edited; one has a note on a file."""
    world = World(folder)
    for name, data in MINE.items():
        world.knowledge(name, data)
    for text in TEXTS:
        world.converse(text)
    world.converse(TEXTS[0])
    (folder / "code.py").write_text("pass\n")
    return world


def answering(world: World, run: int) -> FakeModel:
    def answer(number: int, prompt: str) -> dict[str, Any]:
        row = ordinary(run * 100 + number, prompt)
        note = {"path": str(world.folder / "code.py"), "note": f"note {run}-{number}"}
        return {**row, "files": [note, {"path": "/nowhere", "note": f"lost {run}-{number}"}]}

    return FakeModel(answer)


def harvest_with(world: World, fault: Fault, run: int = 1) -> None:
    with patch.multiple(files, **{name: fault.wrap(name, getattr(files, name)) for name in CHANGES}):
        world.try_run(answering(world, run))


def count_changes(folder: Path) -> int:
    fault = Fault(-1, "")
    harvest_with(build(folder), fault)
    return fault.seen


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a process of its own; 9 when it was killed, 0 when it came to its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child must not go on as if it were the tests
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def check(world: World) -> list[str]:
    """Run again, twice; what is wrong with the store after that, in words."""
    middle = check_loss(world)
    report = world.run(answering(world, 2))
    wrong = middle + check_loss(world)
    wrong += [f"error: {error}" for error in report.errors]
    wrong += [f"still there: {path.name}" for path in world.paths.conversations.glob("talk-*")]
    before = snapshot(world.paths.home)
    world.run(answering(world, 3))
    if (after := snapshot(world.paths.home)) != before:
        lock = str(world.paths.lock.relative_to(world.paths.home))
        changed = [name for name in before | after if before.get(name) != after.get(name) and name != lock]
        wrong += [f"a further run changed {name}" for name in changed]
    wrong += check_once(world)
    wrong += [f"left behind: {path}" for path in world.paths.home.rglob(f"*{files.TEMPORARY_MARK}")]
    return wrong


def check_loss(world: World) -> list[str]:
    """What holds at every moment: conversations whole somewhere, the person's bytes untouched."""
    wrong = []
    held = [sha256(path.read_bytes()) for path in [*world.paths.conversations.glob("talk-*"), *world.trash()]]
    for number, text in ((2, TEXTS[0]), (1, TEXTS[1]), (1, TEXTS[2])):
        if held.count(sha256(text)) != number:
            wrong.append(f"{held.count(sha256(text))} instead of {number} copies of {text!r}")
    for name, data in MINE.items():
        found = (world.paths.knowledge / name).read_bytes()
        kept = iter(found.split(b"\n"))
        if not all(
            line.rstrip(b"\r") in (other.rstrip(b"\r") for other in kept) for line in data.rstrip(b"\n").split(b"\n")
        ):
            wrong.append(f"{name} lost bytes of the person: {found!r}")
        elif name != "tasks.md" and not found.startswith(data):
            wrong.append(f"{name} changed bytes of the person: {found!r}")
    return wrong


def check_once(world: World) -> list[str]:
    """Each conversation's items stand there exactly once, from one answer, whole."""
    wrong = []
    bullets = world.bullets()
    for path in sorted(world.paths.knowledge.rglob("*.md")):
        for line in path.read_text().split("\n"):
            ours = "[from" in line or "talk-" in line
            if ours and not (line.startswith("- ") and line.rstrip("\r").endswith(", 2026-06-12]")):
                wrong.append(f"torn line in {path.name}: {line!r}")
    wrong += [f"doubled: {line}" for line in set(bullets) if bullets.count(line) > 1]
    for text in TEXTS:
        entry = world.entries().get(sha256(text), {})
        if entry.get("status") != "harvested" or not entry.get("deleted"):
            wrong.append(f"ledger of {text!r}: {entry}")
            continue
        names = {Path(path).name for path in [entry["path"], *entry.get("trash", {}).values()]}
        lines = [line for line in bullets if any(f"[from: {name}," in line for name in names)]
        if len(lines) != 6:
            wrong.append(f"{len(lines)} lines of {text!r}: {lines}")
    told = [line for change in read_added(world) for line in change]
    harvested = [line.rstrip("\r") for line in bullets if "[from: " in line]
    wrong += [f"changes.jsonl does not know {line}" for line in harvested if line not in told]
    wrong += [f"changes.jsonl tells twice of {line}" for line in set(told) if told.count(line) > 1]
    return wrong


def read_added(world: World) -> list[tuple[str, ...]]:
    from core.knowledge.changes import read_changes

    return [change.added for change in read_changes(world.paths)]


def kill_points(changes: int, stride: int) -> list[tuple[Fault, ...]]:
    kinds = ("kill-before", "kill-half", "kill-after")
    return [(Fault(at, kind),) for at in range(1, changes + 1) for kind in kinds][::stride]


def error_points(changes: int, stride: int) -> list[tuple[Fault, ...]]:
    kinds = [(name, forever) for name in ("ENOSPC", "EIO") for forever in (False, True)]
    return [(Fault(at, name, forever),) for at in range(1, changes + 1) for name, forever in kinds][::stride]


def double_points(changes: int, stride: int) -> list[tuple[Fault, ...]]:
    """A kill, and another one while the next run mends what the first one left."""
    pairs = [(one, other) for one in range(3, changes, 5) for other in range(1, 40, 3)]
    kinds = ("kill-half", "kill-after", "kill-before")
    return [
        (Fault(one, kinds[number % 3]), Fault(other, kinds[number % 2]))
        for number, (one, other) in enumerate(pairs[::stride])
    ]


def try_point(folder: Path, faults: Sequence[Fault]) -> list[str]:
    """Harvests with one fault each, then the check. `folder` is used up."""
    world = build(folder)
    for run, fault in enumerate(faults):
        ended = in_child(lambda fault=fault, run=run: harvest_with(world, fault, 10 + run))  # type: ignore[misc]
        if ended not in (0, 9):
            return [f"the run itself ended with {ended}"]
    try:
        return check(world)
    except Exception:  # noqa: BLE001 - a finding like any other
        return [traceback.format_exc()]


def try_points(folder: Path, points: Iterable[Sequence[Fault]]) -> dict[str, list[str]]:
    """What is wrong, by point; empty when all is well."""
    found = {}
    for number, faults in enumerate(points):
        place = folder / f"{number}"
        place.mkdir(parents=True)
        if wrong := try_point(place, faults):
            found[", then ".join(map(str, faults))] = wrong
        shutil.rmtree(place)
    return found


def main(stride: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="knowledge-crash-"))
    started = time.monotonic()
    changes = count_changes(folder / "count")
    faults = [*kill_points(changes, stride), *error_points(changes, stride), *double_points(changes, stride)]
    found = try_points(folder / "points", faults)
    shutil.rmtree(folder)
    for point, wrong in found.items():
        print(point, *wrong[:4], sep="\n    ")
    seconds = time.monotonic() - started
    print(f"{len(faults)} points over {changes} changes, {len(found)} broke an invariant ({seconds:.0f} s)")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
