"""Samples of tests/histories and tests/fuzz: what a user, editors and hostile bytes do to one home."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from core.base import disk, files
from core.knowledge.journal import Journal
from core.knowledge.swap import clear_leftovers, replace_expected
from tests.faults.fault import Counter, Fault
from tests.fuzz.seeds import own_seeds, some_odd
from tests.fuzz.targets import TARGETS
from tests.harvest_world import FakeModel, World, never, says
from tests.histories import editors, everywhere, processes
from tests.histories.ground import STEPS, in_child
from tests.histories.machine import Histories

# --- A small, always equal sample of tests/histories: what a user, their editors and other processes do to one home.

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
def test_no_history_breaks_an_invariant() -> None:
    before = STEPS["histories"]
    sample = settings(
        max_examples=12,
        stateful_step_count=15,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Histories, settings=sample)
    assert STEPS["histories"] - before >= 12 and STEPS["steps"] > 60 and STEPS["harvest killed"]


@needs_fork
def test_three_processes_leave_the_home_as_if_one_after_the_other() -> None:
    assert processes.rounds(3) == {}


@needs_fork
@pytest.mark.parametrize("name", editors.NAMES)
def test_an_editor_beside_a_harvest_loses_nothing_for_good(name: str, tmp_path: Path) -> None:
    """The user's bytes stay, and what a stale save swallowed is told and brought back by the command it names."""
    if not editors.can_run(name):
        pytest.skip(f"{name} is not installed")
    wrong, _ = editors.session(name, tmp_path)
    assert wrong == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_every_place_tells_the_same_after_corrections_on_two_machines() -> None:
    """A user would be told by one place what they had corrected in another, or on their other computer."""
    assert everywhere.rounds(1) == {}


# --- What the histories have found, each as a test with a name of its own: the shortest way to it, and what it cost.


@needs_fork
@pytest.mark.parametrize("at", range(1, 12, 2))
@pytest.mark.parametrize("kind", ["before", "half", "after"])
def test_a_half_written_copy_never_takes_the_place_of_the_file(world: World, at: int, kind: str) -> None:
    """An edit was killed while it wrote its copy, the user made the same edit again, and the next run took the torn
    copy for a text that somebody had saved in the moment of the swap: it put an empty file in place of quarantine.md.
    """
    path = world.knowledge("facts.md", "# Facts\n\n- one\n- two\n")
    old, new = path.read_bytes(), b"# Facts\n\n- one\n"

    def edit() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            replace_expected(path, new, old)

    assert in_child(edit) in (0, -9)
    if path.read_bytes() == old:
        assert replace_expected(path, new, old)
    clear_leftovers(path.parent)
    assert path.read_bytes() == new
    assert [name for name in os.listdir(path.parent) if name != "facts.md" and Path(name).suffix == ".md"] == []


@needs_fork
def test_a_line_that_was_moved_after_a_crash_does_not_come_back_in_its_old_place(world: World) -> None:
    """It was written, the run was killed before it could say so, and the user sorted the line into another file: the
    next run wrote it a second time."""
    world.knowledge("decisions.md", "# Decisions\n")
    world.knowledge("facts.md", "# Facts\n\n")
    path = world.converse("a")
    model = says(facts=["first", "second"], questions=["third?"])
    with (
        patch.object(files, "create_atomic", side_effect=KeyboardInterrupt),
        patch.object(Journal, "append", _forgetful),
        pytest.raises(KeyboardInterrupt),
    ):
        world.run(model)
    lines = world.text("facts.md").split("\n")
    world.knowledge("facts.md", "\n".join(lines).replace(f"{lines[2]}\n", ""))
    world.knowledge("decisions.md", f"# Decisions\n\n{lines[2]}\n")
    assert not world.run(FakeModel(never)).errors and not path.exists()
    assert world.bullets().count(lines[2]) == 1 and lines[2] in world.text("decisions.md")
    assert "second" in world.text("facts.md") and "third?" in world.text("questions.md")


_append = Journal.append


def _forgetful(journal: Journal, *records: dict[str, Any], durable: bool = False) -> None:
    """As if the process had ended between the writing of a file and the record about it."""
    _append(journal, *(record for record in records if record["t"] != "applied"), durable=durable)


@needs_fork
def test_a_copy_that_its_writer_has_just_put_in_place_is_no_leftover(world: World) -> None:
    """A harvest began in the very moment in which the panel finished an edit: it found the copy of the edit, which was
    gone when it looked closer, and ended with "the knowledge folder cannot be used"."""
    path = world.knowledge("tasks.md", "# Tasks\n")
    hashes = hashlib.sha256(b"old").hexdigest()[:16] + hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    copy = path.with_name(f".tasks.md.{hashes}.{os.getppid()}-1{files.TEMPORARY_MARK}")
    copy.write_text("old")
    with patch("os.kill", lambda pid, signal: copy.unlink()):
        assert clear_leftovers(path.parent) == []
    assert path.read_text() == "# Tasks\n"


# --- A small deterministic part of `make fuzz`, in every run: a parser that raises would end a whole harvest.

INTERESTING = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\n",
    b"\r\n",
    b"[" * 3000,
    b"{",
    b'"',
    b"\\",
    b"- ",
    b"## Done\n",
    b"~~",
)
SLOW, QUICK = 2, 12


def changed(data: bytes, chance: random.Random) -> bytes:
    """Some bytes cut out, doubled, or replaced by awkward ones."""
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randint(0, len(data)), chance.randint(0, 24)
        piece = chance.choice((b"", data[at : at + size] * 2, chance.choice(INTERESTING), chance.randbytes(size)))
        data = data[:at] + piece + data[at + size :]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_a_sample_of_hostile_inputs_breaks_no_promise(name: str) -> None:
    chance, seeds = random.Random(name), own_seeds(name)
    inputs = [b"", *seeds] if not name.startswith("store-") else seeds[:1]
    for number in range(SLOW if name.startswith("store-") else QUICK):
        seed = chance.choice(seeds)
        odd = some_odd(seed, number) if number % 2 else None
        inputs.append(odd if odd is not None else changed(seed, chance))
    for data in inputs:
        TARGETS[name](data)


def test_a_target_that_breaks_a_promise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the test: with the guard taken out of the parser, the sample goes red."""
    monkeypatch.setattr(
        "core.knowledge.ledger.KnowledgeError", lambda *_: (_ for _ in ()).throw(ValueError("unguarded"))
    )
    with pytest.raises(ValueError, match="unguarded"):
        TARGETS["ledger"](b"{")
