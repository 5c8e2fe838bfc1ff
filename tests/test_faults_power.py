"""Samples of the power cuts, of meddling and of the bugs sown on purpose (tests/faults). If these fail, a power cut
costs a person a conversation, or the campaigns would not notice if it did."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from core.base import files
from core.knowledge.ledger import merged_entry
from core.knowledge.leftovers import folders_below
from tests.faults import seeded
from tests.faults.meddling import meddling
from tests.faults.platter import LOSSES, Platter
from tests.faults.power import power
from tests.faults.store import performing
from tests.harvest_world import FakeModel, World
from tests.test_faults_kills import tried

SMALL = ("tasks", "purge in a run", "undo", "accept")
pytestmark = pytest.mark.skipif(sys.platform != "linux" or not hasattr(os, "fork"), reason="needs /proc and fork")


def test_a_power_cut_at_any_change_of_the_disk_loses_nothing() -> None:
    assert tried(power, 40, SMALL) >= 10


def test_what_is_written_to_a_conversation_while_it_is_harvested_is_found_again() -> None:
    assert tried(meddling, 32) >= 10


@pytest.mark.parametrize(
    ("bug", "campaign"),
    [
        ("unlink first", "kills"),
        ("ledger before read-back", "kills"),
        ("reclaim without re-hash", "meddling"),
        ("sync errors ignored", "errors"),
        ("written in place", "kills"),
        ("no fsync", "power"),
    ],
)
def test_a_sown_bug_is_caught(bug: str, campaign: str) -> None:
    """A campaign that does not see the worst bugs proves nothing by its silence."""
    caught = seeded.catch(seeded.SEEDS[bug], (campaign,), ("tasks",))
    assert caught.shown[campaign], f"{bug} was not seen at {caught.tried[campaign]} points"


def test_the_model_of_a_disk_keeps_what_was_synced_and_only_that(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "old").write_bytes(b"old\n")
    platter = Platter(folder)
    with performing(platter):
        fd = files.open_for_append(folder / "old")
        files.append(fd, b"more\n", 4)
        files.create_atomic(folder / "new", b"new")
        os.close(fd)
    found = {tuple((Path(path).name, data) for path, data, _, _ in state) for _, state in platter.outcomes()}
    names = {tuple(name for name, _ in state if "tmp" not in name) for state in found}
    assert names == {("old",), ("new", "old")}
    assert {dict(state)["old"] for state in found} == {b"old\nmore\n", b"old\n", b"old\nmo", b"old\n\0\0\0\0\0"}
    assert {dict(state)["new"] for state in found if "new" in dict(state)} == {b"new"}
    with performing(platter):
        files.sync_folder(folder)
    assert all("new" in {Path(path).name for path, *_ in state} for _, state in platter.outcomes())
    assert len(LOSSES) == 4


def test_a_power_cut_after_the_ledger_was_written_does_not_bring_a_conversation_back_in_it() -> None:
    """The journal lost its last records, the ledger has them: told again, the harvest is still one that was deleted."""
    entry = {"status": "harvested", "run": "r1", "deleted": False}
    told = {**entry, "deleted": True, "trash": {"a": "/x"}}
    assert merged_entry(told, entry) == told
    assert not merged_entry({**told, "run": "r0"}, entry)["deleted"]


def test_what_a_crash_left_in_a_folder_of_any_room_is_cleared(world: World) -> None:
    """Temporary files would pile up beside what people look at."""
    folder = world.paths.knowledge / "global" / "deep"
    folder.mkdir(parents=True)
    left = folder / f".facts.yaml..999999-1{files.TEMPORARY_MARK}"
    left.write_bytes(b"half")
    assert folder in folders_below(world.paths.knowledge)
    world.run(FakeModel())
    assert not left.exists()
