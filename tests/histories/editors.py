"""Real editors at work on a category file while a harvest runs: vim, nano and emacs by keys, and two simulated ones.

The user types a line and saves, again and again, in a text that the editor had loaded before the harvest wrote: every
save swallows what the harvest wrote since. After it: each of the user's bytes is there, and what a save swallowed is
told by the next run and brought back by the command that it names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.harvest_world import FakeModel, World
from tests.histories.ground import Face
from tests.histories.look import HARVESTED, look, plan_lines
from tests.histories.terminal import EDITORS, Terminal, is_there

MINE = "# Facts\n\n- mine, written before\n\nProse of mine, with two spaces at its end  \n"
TALKS = 6
PATIENT = {"missing": 2.0, "settle": 0.02, "swap_file": 0.05, "step": 0.01, "sleep": time.sleep}
"""How long a run waits for an editor here."""


class Editing(Protocol):
    """An editor that has loaded the file. `line` types one at the top, `save` puts the text over what is there."""

    def line(self, text: str) -> None: ...

    def save(self, text: str) -> None: ...


class Simulated:
    """An editor that never looks at the file again. `how` is rename or over, as `Person.save` has it."""

    def __init__(self, path: Path, how: str) -> None:
        self.path, self.how, self.text = path, how, path.read_text()

    def line(self, text: str) -> None:
        self.text = f"{text}\n{self.text}"

    def save(self, text: str) -> None:
        if self.how == "over":
            self.path.write_text(self.text)
            return
        other = self.path.with_name(f"{self.path.name}.new~")
        other.write_text(self.text)
        os.replace(other, self.path)


NAMES = ("rename", "over", *(keys.name for keys in EDITORS))


def can_run(name: str) -> bool:
    return name in ("rename", "over") or any(keys.name == name and is_there(keys) for keys in EDITORS)


@contextmanager
def opened(name: str, path: Path, home: Path) -> Iterator[Editing]:
    if name in ("rename", "over"):
        yield Simulated(path, name)
        return
    keys = next(keys for keys in EDITORS if keys.name == name)
    with Terminal(keys, path, home) as terminal:
        yield terminal


def session(name: str, folder: Path, file: str = "facts.md") -> tuple[list[str], int]:
    """One editor beside one harvest; what is wrong afterwards, and how many lines its saves had swallowed."""
    with Face(folder, PATIENT) as face:
        return _session(face, name, file)


def _session(face: Face, name: str, file: str) -> tuple[list[str], int]:
    world, folder = face.world, face.world.folder
    path = world.knowledge(file, MINE)
    for number in range(TALKS):
        world.converse(f"User: talk {number}\n")
    typed = [f"- typed {number} by the user" for number in range(3)]
    (folder / "person").mkdir()
    with opened(name, path, folder / "person") as editor:
        editor.line(typed[0])
        editor.save(typed[0])
        child = _harvest_beside(face, file)
        for text in typed[1:]:
            before = path.read_bytes()
            while path.read_bytes() == before and not _has_ended(child):
                time.sleep(0.01)  # until the harvest has written something more to swallow, if it still does
            editor.line(text)
            editor.save(text)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    wrong = _persons_bytes(world, file, typed)
    notes = face.harvest(_answers(file, 1)).document["notes"]
    swallowed = sum(len(row["lines"]) for row in face.knowledge("review", "--kind", "vanished").document["waiting"])
    if swallowed and not any("'knowledge review all vanished --yes'" in note for note in notes):
        wrong.append(f"{swallowed} lines are gone, and the report says only {notes}")
    back = face.knowledge("review", "all", "vanished", "--yes")
    wrong += [] if back.code == 0 else [back.err]
    face.harvest(_answers(file, 2))
    now = look(world.paths)
    planned = {line for plans in plan_lines(world.paths).values() for plan in plans for line in plan}
    found = [line for line in now.lines(file) if HARVESTED.match(line)]
    wrong += [f"{found.count(line)} times {line}" for line in planned if found.count(line) != 1]
    wrong += [f"not planned: {line}" for line in found if line not in planned]
    wrong += [f"still there: {left.name}" for left in world.paths.conversations.glob("talk-*")]
    return wrong + _persons_bytes(world, file, typed), swallowed


def _harvest_beside(face: Face, file: str) -> int:
    """A harvest in another process, whose model takes its time."""
    child = os.fork()
    if child == 0:
        try:
            told = face.harvest(_answers(file, 0, 0.08))
            assert told.document is not None, told
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child must not go on as if it were the tests
            import traceback

            traceback.print_exc()
            os._exit(1)
    time.sleep(0.1)
    return child


def _has_ended(child: int) -> bool:
    """Whether a process has come to its end, which is still there to be waited for."""
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _answers(file: str, run: int, seconds: float = 0.0) -> FakeModel:
    def answer(number: int, prompt: str) -> dict[str, Any]:
        time.sleep(seconds)
        at = f"{run}-{number}"
        tasks = {"tasks_open": [f"open {at}"], "tasks_done": [f"done {at}"]}
        return tasks if file == "tasks.md" else {"facts": [f"fact {at}", f"more {at}"]}

    return FakeModel(answer)


def _persons_bytes(world: World, file: str, typed: list[str]) -> list[str]:
    """The user's own lines, as they are without the harvest's."""
    lines = [line for line in look(world.paths).lines(file) if not HARVESTED.match(line)]
    mine = [line for line in lines if line not in ("", "## Open", "## Done")]
    wanted = [*reversed(typed), *(line for line in MINE.split("\n") if line)]
    return [] if mine == wanted else [f"the user's lines are {mine}"]
