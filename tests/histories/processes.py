"""Real processes on one home at the same time: harvests, and a user's edits as the panel makes them.

Each round starts three processes of the same program: two harvest (one meets the lock of the other and tries again),
the third adds, edits, moves and deletes bullets meanwhile. After the round the home must be as if they had worked one
after the other: every conversation harvested once, no line lost, doubled or torn, each of the user's edits there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.knowledge.changes import read_changes
from tests.harvest_world import FakeModel, sha256, snapshot
from tests.histories.ground import PLACE, Face
from tests.histories.look import doubled, look, torn
from tests.waiting import PATIENCE_SECONDS

TALKS, EDITS = 12, 16


def one_round(folder: Path, number: int) -> list[str]:
    """What is wrong after one round, in words."""
    with Face(folder) as face:
        return _round(face, number)


def _round(face: Face, number: int) -> list[str]:
    world = face.world
    texts = [f"User: talk {number} {at}\n" for at in range(TALKS)]
    for text in [*texts, texts[0]]:
        world.converse(text)
    world.knowledge("facts.md", "# Facts\n\n- mine, always\n- old words\n")
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- a task of mine\n\n## Done\n")
    (world.folder / "code.py").write_text("pass\n")
    works = [lambda: _harvests(face, 1), lambda: _harvests(face, 2), lambda: _edits(face, number)]
    ended = _together(works)
    if ended != [0, 0, 0]:
        return [f"the processes ended with {ended}"]
    return _wrong(face, texts)


def _together(works: list[Callable[[], None]]) -> list[int]:
    """Start all at once, and wait for all."""
    start = time.time() + 0.02
    children = []
    for work in works:
        child = os.fork()
        if child == 0:
            try:
                time.sleep(max(0.0, start - time.time()))
                work()
                os._exit(0)
            except BaseException:  # noqa: BLE001 - the child must not go on as if it were the tests
                import traceback

                traceback.print_exc()
                os._exit(1)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _harvests(face: Face, who: int) -> None:
    """Until nothing is left, with words of its own in every answer."""

    def answer(number: int, prompt: str) -> dict[str, Any]:
        at = f"{who}-{os.getpid()}-{number}"
        note = {"path": str(face.world.folder / "code.py"), "note": f"note {at}"}
        return {"facts": [f"fact {at}"], "tasks_open": [f"task {at}"], "tasks_done": [f"done {at}"], "files": [note]}

    model = FakeModel(answer)
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:  # how often the other one holds the lock depends on the machine
        told = face.harvest(model, "--limit", "3")
        if told.document is None:
            assert "at work" in told.err, told  # the other one holds the lock
            time.sleep(0.002)
            continue
        assert told.code == 0, told
        if not list(face.world.paths.conversations.glob("talk-*")):
            return
    raise AssertionError("the conversations never ended")


def _edits(face: Face, number: int) -> None:
    """A user who types while all this runs; a refused edit is tried again, as they would."""

    def until(*words: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            told = face.knowledge(*words, now=True)
            if told.document is not None:
                assert not told.document["warning"], told.document["warning"]
                return
            assert told.code == 1, told
        raise AssertionError("an edit was refused for ever")

    def add(at: int) -> None:
        until("add", ("facts", "tasks", "decisions")[at % 3], f"panel {number} {at}")

    for at in range(EDITS):
        add(at)
    until("edit", "facts", "old words", "new words")
    until("done", "a task of mine")
    until("rm", "facts", f"panel {number} 0")


def _wrong(face: Face, texts: list[str]) -> list[str]:
    world = face.world
    now = look(world.paths)
    wrong = torn(now) + doubled(now, now)
    lines = [line for name in now.texts for line in now.lines(name)]
    entries = world.entries()
    for text in texts:
        entry, copies = entries.get(sha256(text), {}), 1 + (text == texts[0])
        if entry.get("status") != "harvested" or now.held[sha256(text)] != copies:
            wrong.append(f"{text!r}: {entry.get('status')}, {now.held[sha256(text)]} of {copies} copies")
        names = {Path(path).name for path in [entry.get("path", ""), *entry.get("trash", {}).values()]}
        found = [line for line in lines if any(f"[from: {name}," in line for name in names)]
        if len(found) != 4:
            wrong.append(f"{len(found)} lines instead of 4 of {text!r}: {found}")
    words = Counter(line.split(" [from: by-hand")[0] for line in lines)
    for line in ["- mine, always", "- new words", "- a task of mine"]:
        wrong += [f"{words[line]} times {line!r}"] * (words[line] != 1)
    own = sum(number for line, number in words.items() if line.startswith("- panel "))
    wrong += [f"{own} lines of the panel instead of {EDITS - 1}"] * (own != EDITS - 1)
    if world.text("tasks.md").index("- a task of mine") < world.text("tasks.md").index("## Done"):
        wrong.append("the task is not done")
    told = Counter((row.file, line) for row in read_changes(world.paths) for line in row.added)
    wrong += [f"changes.jsonl tells {number} times of {line}" for line, number in told.items() if number > 1]
    before = snapshot(world.paths.home)
    face.harvest(FakeModel(lambda number, prompt: {"facts": ["never asked"]}))
    after = snapshot(world.paths.home)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    told = ("lock", "digest.md", ".state/log")  # the last edit may have come after the last run, which empties the log
    return wrong + [f"a further run changed {name}" for name in changed if not name.endswith(told)]


def rounds(number: int) -> dict[int, list[str]]:
    """This many rounds; what broke, by round."""
    found = {}
    for at in range(number):
        folder = Path(tempfile.mkdtemp(prefix="processes-", dir=PLACE))
        try:
            if wrong := one_round(folder, at):
                found[at] = wrong
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return found
