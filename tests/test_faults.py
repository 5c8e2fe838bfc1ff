"""Samples of the campaigns of tests/faults: if these fail, a kill, an error or a power cut costs a user something."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import files
from core.base.result import Ok, attempt
from core.knowledge.file_notes import merge_records
from core.knowledge.ledger import merged_entry
from core.knowledge.swap import folders_below
from tests.faults import machines, seeded, truth
from tests.faults.errors import errors
from tests.faults.fault import Counter, Fault, kill_points
from tests.faults.kills import kills
from tests.faults.meddling import meddling
from tests.faults.pairs import pairs, singles
from tests.faults.platter import LOSSES, Platter
from tests.faults.power import power
from tests.faults.scenarios import SCENARIO
from tests.faults.server import Campaign, on_scenario
from tests.faults.store import performing
from tests.harvest_world import FakeModel, World

# --- A sample of the crash and the error campaign (tests/faults). If these fail, a kill or a full disk costs a person a
# conversation, a line of their own, or the truth about what was harvested.

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


ALL = (*SCENARIO,)


def tried(campaign: Campaign, stride: int, names: Iterable[str] = ALL) -> int:
    """How many points a sample of the campaign tried in these scenarios; none of them may have broken anything."""
    points = 0
    for number, name in enumerate(names):
        sample = on_scenario(campaign, SCENARIO[name], stride, start=number)
        assert not sample.findings, "\n".join(map(str, sample.findings))
        points += sample.points
    return points


def test_a_kill_at_any_change_of_the_disk_loses_nothing() -> None:
    """Real kills of forked processes."""
    assert tried(kills, 150, ALL[::2]) >= 6


def test_what_a_kill_at_any_change_of_the_disk_leaves_is_mended() -> None:
    """The same states, taken down in passing."""
    assert tried(singles, 32, ALL[1::2]) >= 12


def test_a_second_kill_during_the_recovery_loses_nothing() -> None:
    assert tried(pairs, 1800, ALL[1::4]) >= 3


def test_an_error_at_any_operation_loses_nothing_and_is_told_in_a_sentence() -> None:
    assert tried(errors, 720, ALL[1::2]) >= 11


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
        refused = attempt(world.try_run, FakeModel())
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


# --- Samples of the power cuts, of meddling and of the bugs sown on purpose (tests/faults). If these fail, a power cut
# costs a user a conversation, or the campaigns would not notice if it did.

SPARSER = {"power": 6, "errors": 4}
"""Campaign -> how many points of its sample are left out where one sown bug is looked for."""
SMALL = ("purge in a run", "undo")
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


@needs_proc
def test_a_power_cut_at_any_change_of_the_disk_loses_nothing() -> None:
    assert tried(power, 140, SMALL) >= 2


@needs_proc
def test_a_power_cut_never_leaves_an_edit_that_undo_does_not_know() -> None:
    """The words that it took out are nowhere else."""
    assert tried(power, 7, ("edit", "edit, then harvest")) >= 40


@needs_proc
def test_what_is_written_to_a_conversation_while_it_is_harvested_is_found_again() -> None:
    assert tried(meddling, 32, ALL[::4]) >= 3


@needs_proc
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
    caught = seeded.catch(seeded.SEEDS[bug], (campaign,), ("tasks",), SPARSER.get(campaign, 1))
    assert caught.shown[campaign], f"{bug} was not seen at {caught.tried[campaign]} points"


@needs_proc
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


@needs_proc
def test_a_power_cut_after_the_ledger_was_written_does_not_bring_a_conversation_back_in_it() -> None:
    """The journal lost its last records, the ledger has them: told again, the harvest is still one that was deleted."""
    entry = {"status": "harvested", "run": "r1", "deleted": False}
    told = {**entry, "deleted": True, "trash": {"a": "/x"}}
    assert merged_entry(told, entry) == told
    assert not merged_entry({**told, "run": "r0"}, entry)["deleted"]


@needs_proc
def test_what_a_crash_left_in_a_folder_of_any_room_is_cleared(world: World) -> None:
    """Temporary files would pile up beside what people look at."""
    folder = world.paths.knowledge / "global" / "deep"
    folder.mkdir(parents=True)
    left = folder / f".facts.yaml..999999-1{files.TEMPORARY_MARK}"
    left.write_bytes(b"half")
    assert folder in folders_below(world.paths.knowledge)
    world.run(FakeModel())
    assert not left.exists()


# --- The counter of the campaigns sees every change of the disk, and real disks that fail lose nothing (tests/faults).
# If these fail, the campaigns look past what they should try, and their silence means nothing.


@pytest.fixture(scope="module")
def tracing() -> None:
    if reason := truth.why_not():
        pytest.skip(reason)


@pytest.mark.parametrize("name", ["tasks", "prune", "accept"])
def test_strace_sees_no_change_of_the_disk_that_the_counter_does_not_see(tracing: None, name: str) -> None:
    compared = truth.same(name)
    assert compared.points > 10 and not compared.findings, compared.findings


def test_a_change_that_goes_past_the_counter_is_noticed(tracing: None) -> None:
    with patch.object(files, "discard", lambda path: Path(path).unlink(missing_ok=True)):
        assert truth.same("tasks").findings


def test_a_harvest_that_strace_kills_is_mended(tracing: None) -> None:
    tried = truth.killed("tasks", (2,))
    assert tried.points >= 4 and not tried.findings, tried.findings


def test_a_line_of_strace_is_read_as_the_counter_would_name_it() -> None:
    assert truth.operation('12 unlinkat(3</x/home>, "a", AT_REMOVEDIR) = 0', "/x") == "rmdir"
    assert truth.operation('openat(AT_FDCWD, "/x/a", O_WRONLY|O_CREAT, 0600) = 3</x/a>', "/x") == "create"
    assert truth.operation('openat(AT_FDCWD, "/x/a", O_RDONLY) = 3</x/a>', "/x") == ""
    assert truth.operation('write(1</dev/pts/0>, "a", 1) = 1', "/x") == ""
    assert truth.operation('symlink("a", "/x/b") = 0', "/x") == "symlink"


def test_a_full_disk_is_told_and_loses_nothing() -> None:
    """A real one, as small as the store: every harvest ends with a sentence, and the next one finishes it."""
    try:
        tried = machines.full_disk("twice", range(0, 60, 20))
    except machines.CannotRun as reason:
        pytest.skip(f"a small disk cannot be mounted here: {reason}")
    assert tried.points == 3 and not tried.findings, tried.findings


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_real_file_system_that_is_shut_down_loses_nothing(kind: str) -> None:
    if shutil.which(f"mkfs.{kind}") is None:
        pytest.skip(f"there is no mkfs.{kind}")
    try:
        tried = machines.power_fails(kind, "edited files", 3)
    except (machines.CannotRun, OSError) as reason:
        pytest.skip(f"it cannot be mounted and shut down here: {reason}")
    assert tried.points == 3 and not tried.findings, tried.findings
