"""A sample of the crash and the error campaign (tests/faults). If these fail, a kill or a full disk costs a person a
conversation, a line of their own, or the truth about what was harvested."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from core.base import files
from core.base.result import Ok
from core.knowledge.file_notes import merge_records
from tests.faults.errors import errors
from tests.faults.fault import Counter, Fault, kill_points
from tests.faults.kills import kills
from tests.faults.pairs import pairs, singles
from tests.faults.scenarios import SCENARIO
from tests.faults.server import Campaign, on_scenario
from tests.faults.store import performing
from tests.harvest_world import FakeModel, World

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def tried(campaign: Campaign, stride: int, names: Iterable[str] = (*SCENARIO,)) -> int:
    """How many points a sample of the campaign tried in these scenarios; none of them may have broken anything."""
    points = 0
    for number, name in enumerate(names):
        sample = on_scenario(campaign, SCENARIO[name], stride, start=number)
        assert not sample.findings, "\n".join(map(str, sample.findings))
        points += sample.points
    return points


def test_a_kill_at_any_change_of_the_disk_loses_nothing() -> None:
    """Real kills of forked processes."""
    assert tried(kills, 100) >= 18


def test_what_a_kill_at_any_change_of_the_disk_leaves_is_mended() -> None:
    """The same states, taken down in passing."""
    assert tried(singles, 8) >= 100


def test_a_second_kill_during_the_recovery_loses_nothing() -> None:
    assert tried(pairs, 1800) >= 15


def test_an_error_at_any_operation_loses_nothing_and_is_told_in_a_sentence() -> None:
    assert tried(errors, 180) >= 90


def test_the_points_of_a_campaign_are_before_in_and_after_every_operation() -> None:
    assert [str(point) for point in kill_points(["create", "write"])] == [
        "before at 1", "after at 1", "before at 2", "half at 2", "after at 2",
    ]  # fmt: skip


def test_a_failed_sync_of_a_folder_ends_the_taking_away(world: World) -> None:
    """Whatever the disk did not confirm may be gone after a power cut: the second conversation stays in its place."""
    paths = [world.converse(str(number)) for number in range(2)]
    real = files.sync_folder

    def sync_folder(path: str | Path) -> None:
        if str(path) == str(world.paths.conversations):
            raise files.SyncError(5, "Input/output error")
        real(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "sync_folder", sync_folder)
        report = world.run(FakeModel())
    assert all(path.exists() for path in paths) and "sync-failed" in [error.code for error in report.errors]


def test_a_list_of_notes_that_cannot_be_read_is_not_written_over(world: World) -> None:
    """A disk that fails for a moment must not cost the notes the files that they belong to."""
    merge_records(world.paths, {"1:2.md": {"path": "/gone.py", "birth": 7, "size": 1, "head": ""}})
    before = world.paths.file_ids.read_bytes()
    world.converse("a")

    def perform(name: str, call: object, *arguments: object, **named: object) -> object:
        if name == "open" and str(arguments[0]).endswith("file_ids.json"):
            raise OSError(5, "Input/output error", str(arguments[0]))
        return call(*arguments, **named)  # type: ignore[operator]

    with performing(perform):
        refused = world.try_run(FakeModel())
    assert not isinstance(refused, Ok) and "Input/output error" in refused.error.message
    assert world.paths.file_ids.read_bytes() == before
    world.run(FakeModel())
    assert world.paths.file_ids.read_bytes() == before


def test_a_removal_of_splits_that_was_cut_is_finished(world: World) -> None:
    """Half a folder of splits, its index gone, would stay for ever: what cannot be read is kept."""
    folder = world.paths.splits / "big"
    folder.mkdir(parents=True)
    (folder / "index.json").write_text(f'{{"source_path": "{world.folder}/gone"}}')
    (folder / "1.txt").write_text("cut")
    counter = Counter(Fault(2, "EIO"), frozenset(("unlink",)))
    with performing(counter):
        report = world.run(FakeModel(), trash_days=0)
    assert report.errors and [path.name.endswith(files.TEMPORARY_MARK) for path in world.paths.splits.iterdir()] == [
        True
    ]
    assert not world.run(FakeModel()).errors and not list(world.paths.splits.iterdir())
