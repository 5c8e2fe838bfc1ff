"""A harvest that was killed goes on where it was."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import files, locks
from core.base.answer import Answer
from core.base.result import KnowledgeError, Ok, Result, attempt
from core.commands import bullets
from core.commands.history.undo import undo
from core.commands.workspace import Workspace, open_workspace
from core.harvest.committer import Committer
from core.harvest.report import THROUGH, Progress
from core.knowledge import ledger
from core.knowledge.journal import Journal, encode, read_journal
from tests.bad_input import as_nobody, closed_to_nobody, give_away
from tests.harvest_world import NOW, FakeModel, World, never, ordinary, says, sha256
from tests.waiting import wait_until

# --- Crashes that were found once, by name, and the order of durable steps, which a kill alone cannot show: the page
# cache outlives a process, not a power cut. The campaigns that look for more of them are in tests/faults.


def test_nothing_is_taken_away_before_its_lines_are_durable(world: World) -> None:
    """Power cut: what was not synced may be gone. Lines, then their names, then DONE, and only then the move."""
    world.knowledge("facts.md", "# Facts\n")
    world.knowledge("tasks.md", "# Tasks\n")
    events: list[str] = []
    real = {name: getattr(files, name) for name in ("write_all", "sync", "sync_folder", "rename_without_replacing")}
    append = Journal.append

    def name_of(fd: int) -> str:
        path = Path(os.readlink(f"/proc/self/fd/{fd}"))
        return path.name if files.TEMPORARY_MARK not in path.name else "new " + path.name.split(".")[1]

    def write_all(fd: int, data: bytes) -> None:
        events.append(f"write {name_of(fd)}")
        real["write_all"](fd, data)

    def sync(fd: int, *, data_only: bool = False) -> None:
        events.append(f"sync {name_of(fd)}")
        real["sync"](fd, data_only=data_only)

    def move(source: Path, target: Path) -> None:
        events.append("take away" if source.parent.name == "conversations" else f"name {target.name}")
        real["rename_without_replacing"](source, target)

    def journal(self: Journal, *records: dict[str, Any], durable: bool = False) -> None:
        events.extend(f"journal {record['t']}" for record in records)
        append(self, *records, durable=durable)

    world.converse("a")
    world.paths.trash.mkdir()
    with (
        patch.multiple(files, write_all=write_all, sync=sync, rename_without_replacing=move),
        patch.object(Journal, "append", journal),
    ):
        world.run(FakeModel())
    told = [event for event in events if event != "write journal"]
    start, end = told.index("journal intent"), told.index("take away")
    assert told[start : end + 1] == [
        "journal intent", "sync .state", "sync journal",
        "write facts.md", "sync facts.md", "journal applied",
        "write new decisions", "sync new decisions", "name decisions.md",
        "write new tasks", "sync new tasks",
        "sync knowledge", "journal applied", "journal applied", "journal done", "journal moving", "sync journal",
        "take away",
    ]  # fmt: skip
    rest = told[end:]
    last = ["sync .trash", "sync changes.jsonl", "sync new ledger", "sync plans"]
    places = [len(rest) - rest[::-1].index(event) for event in last]
    assert places == sorted(places)  # the journal goes last


@pytest.mark.skipif(sys.platform == "win32", reason="names of open files from /proc")
def test_the_journal_is_not_written_after_a_torn_line(world: World) -> None:
    """A reader stops at the torn line: whatever stood behind it would be forgotten, and asked of the model again."""
    paths = [world.converse(str(number)) for number in range(3)]
    real, seen = files.write_all, []

    def write_all(fd: int, data: bytes) -> None:
        if b'"t":"applied"' in data:
            seen.append(data)
            real(fd, data[:5])
            raise OSError(28, "No space left on device")
        real(fd, data)

    model = FakeModel()
    with patch.object(files, "write_all", write_all):
        report = world.run(model)
    assert len(seen) == 1 and all(path.exists() for path in paths) and report.errors
    asked, planned = model.calls, sum(row["t"] == "intent" for row in read_journal(world.paths.journal))
    assert not world.run(model).errors and not any(path.exists() for path in paths)
    assert planned and model.calls == asked + 3 - planned


def test_a_bullet_deleted_after_a_crash_does_not_come_back(world: World) -> None:
    """Its file was applied before the crash: the user has seen the line and did not want it."""
    path = world.converse("a")
    world.knowledge("facts.md", "# Facts\n")
    with patch.object(files, "create_atomic", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(says(facts=["unwanted"], questions=["really?"]))
    assert "unwanted" in world.text("facts.md")
    world.knowledge("facts.md", "# Facts\n")
    world.run(FakeModel(never))
    assert world.text("facts.md") == "# Facts\n" and "really?" in world.text("questions.md") and not path.exists()


def test_a_line_that_was_moved_after_a_crash_is_not_written_again(world: World) -> None:
    """No record says that its file was applied; the user has seen it there, and put it where it belongs."""
    world.converse("a")
    world.knowledge("facts.md", "# Facts\n")
    with patch.object(Committer, "_applied_records", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(says(facts=["moved", "stays"], questions=["really?"]))
    line = next(line for line in world.text("facts.md").splitlines() if "moved" in line)
    world.knowledge("facts.md", world.text("facts.md").replace(f"{line}\n", ""))
    world.knowledge("decisions.md", f"# Decisions\n\n{line}\n")
    world.run(FakeModel(never))
    assert "moved" not in world.text("facts.md") and "stays" in world.text("facts.md")
    assert world.text("decisions.md").count("moved") == 1 and "really?" in world.text("questions.md")


def test_answers_are_kept_until_what_they_gave_is_proven(world: World, tmp_path: Path) -> None:
    """They cost money: where a file could not be written, and the plan of it is lost as well, nobody is asked again."""
    kept = tmp_path / "kept"
    talk = world.converse("User: a\n\nAssistant: b\n")
    world.knowledge("facts.md", "# Facts\n")
    _folder(world.paths.knowledge / "facts.md")
    world.run(says(facts=["paid"]), kept=kept)
    assert world.entry(talk.read_bytes())["status"] == "harvest-failed" and len(list(kept.glob("*.json"))) == 1
    (world.paths.knowledge / "facts.md").rmdir()
    world.paths.journal.unlink()
    world.knowledge("facts.md", "# Facts\n")
    world.run(FakeModel(never), kept=kept)
    assert "paid" in world.text("facts.md") and not list(kept.glob("*.json"))


def test_the_plan_of_a_crashed_run_keeps_its_own_date(world: World) -> None:
    world.converse("a")
    with patch.object(files, "create_atomic", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(says(facts=["x"]))
    world.clock = NOW + timedelta(days=2)
    report = world.run(FakeModel(never))
    assert world.text("facts.md").endswith(", 2026-06-12]\n") and any("finished 1 harvest" in n for n in report.notes)


def test_a_move_that_was_not_recorded_is_found_in_the_trash(world: World) -> None:
    """Without its place of origin, `trash restore` could not bring the conversation back."""
    paths = [world.converse("same") for _ in range(2)]
    real, moves = Journal.append, []

    def append(self: Journal, *records: dict[str, Any], durable: bool = False) -> None:
        moves.extend(record for record in records if record["t"] == "reclaimed")
        if len(moves) == 2:
            raise KeyboardInterrupt
        real(self, *records, durable=durable)

    with patch.object(Journal, "append", append), pytest.raises(KeyboardInterrupt):
        world.run(FakeModel())
    world.run(FakeModel(never))
    assert sorted(world.entry("same")["trash"].values()) == sorted(map(str, paths))
    assert sorted(world.entry("same")["trash"]) == [sha256("same"), f"{sha256('same')}.1"]


def test_what_lies_in_the_trash_is_known_though_a_power_cut_took_the_last_records_and_the_ledger(world: World) -> None:
    """Records behind DONE are not synced. Without `moving`, which is, `trash restore` would not know the place."""
    path = world.converse("a")
    world.run(FakeModel())
    [archive] = world.paths.plans.iterdir()
    data = archive.read_bytes()
    last = data.index(b'"t":"reclaimed"')
    archive.write_bytes(data[: data.rindex(b"\n", 0, last) + 9])
    world.paths.ledger.unlink()
    assert world.entry("a")["trash"] == {sha256("a"): str(path)} and world.entry("a")["deleted"]
    world.run(FakeModel(never))
    assert world.entry("a")["trash"] == {sha256("a"): str(path)}


def test_a_lost_ledger_looks_into_the_trash_once_for_all_moves_that_were_refused(world: World) -> None:
    """It listed the whole trash for each: two thousand of them in a folder that may not be written took minutes."""
    paths = [world.converse(str(number)) for number in range(3)]
    refused = OSError(errno.EROFS, "Read-only file system")
    with patch("core.harvest.reclaim._rename_into", side_effect=refused):
        assert len(world.run(FakeModel()).errors) == 3
    world.paths.ledger.unlink()
    with patch("core.knowledge.ledger.in_trash", wraps=ledger.in_trash) as listed:
        assert not any(entry["deleted"] for entry in world.entries().values())
    assert listed.call_count == 1 and all(path.exists() for path in paths)


def test_records_of_another_kind_than_ours_cost_no_rebuilt_ledger(world: World) -> None:
    """A store may come from elsewhere, and anybody can write a checksum."""
    world.converse("a")
    world.run(FakeModel())
    [archive] = world.paths.plans.iterdir()
    odd: list[dict[str, Any]] = [
        {"t": "reclaimed", "sha": sha256("a"), "path": ["x"], "trash": ["y"]},
        {"t": "moving", "sha": sha256("a"), "path": "\0"},
        {"t": "entry", "sha": "b", "entry": {"status": "harvested", "trash": 7}},
        {"t": "moving", "sha": "b", "path": 7},
        {"t": "reclaimed", "sha": "b", "trash": "b"},
    ]
    archive.write_bytes(archive.read_bytes() + b"".join(map(encode, odd)))
    world.paths.ledger.unlink()
    assert world.entry("a")["status"] == "harvested"


def test_a_copy_in_the_trash_keeps_its_place_when_a_power_cut_brings_the_other_back(world: World) -> None:
    """Both halves of a move are certain one after the other: the conversation may stand in both places."""
    path = world.converse("a")
    real = Journal.append

    def append(self: Journal, *records: dict[str, Any], durable: bool = False) -> None:
        if any(record["t"] == "reclaimed" for record in records):
            raise KeyboardInterrupt
        real(self, *records, durable=durable)

    with (
        patch.object(Journal, "append", append),
        patch.object(Committer, "finish", Committer.sync),  # the end of the run does not come either
        pytest.raises(KeyboardInterrupt),
    ):
        world.run(FakeModel())
    path.write_text("a")
    world.run(FakeModel(never))
    assert not path.exists() and world.entry("a")["deleted"]
    assert world.entry("a")["trash"] == {sha256("a"): str(path), f"{sha256('a')}.1": str(path)}


@pytest.mark.skipif(sys.platform == "win32", reason="names of open files from /proc")
def test_content_that_was_harvested_before_is_moved_only_when_its_place_is_on_the_disk(world: World) -> None:
    """Else the next purge takes it for the copy whose grace period is over."""
    world.converse("a")
    world.run(FakeModel())
    world.converse("a")
    events: list[str] = []
    sync, move = files.sync, files.rename_without_replacing

    def synced(fd: int, *, data_only: bool = False) -> None:
        events.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
        sync(fd, data_only=data_only)

    def moved(source: Path, target: Path) -> None:
        events.append(source.parent.name)
        move(source, target)

    with patch.multiple(files, sync=synced, rename_without_replacing=moved):
        world.run(FakeModel(never))
    assert events[: events.index("conversations")] == [".state", "journal"]


def test_a_run_that_a_power_cut_brings_back_does_not_undo_an_undo(world: World) -> None:
    """That a journal is gone is certain only with the next sync of its folder, which comes before any other work."""
    path = world.converse("a")
    run = world.run(FakeModel()).run
    before: list[bool] = []
    real, synced = files.rename_without_replacing, []
    sync_folder = files.sync_folder

    def move(source: Path, target: Path) -> None:
        before.append(world.paths.state in synced)
        real(source, target)

    with (
        patch.object(files, "rename_without_replacing", move),
        patch.object(files, "sync_folder", lambda folder: (synced.append(Path(folder)), sync_folder(folder))[1]),
    ):
        assert isinstance(attempt(undo, opened(world), run), Ok)
    assert before == [True] and path.exists()


def test_an_archive_never_loses_what_it_holds(world: World) -> None:
    """A power cut while the journal becomes the archive may keep both names, and take the end of the journal."""
    world.converse("a")
    world.converse(b"x" * ((1 << 20) + 1))
    real = files.rename_without_replacing

    def rename(source: Path, target: Path) -> None:
        if source == world.paths.journal:
            target.write_bytes(source.read_bytes())
            raise KeyboardInterrupt
        real(source, target)

    with patch.object(files, "rename_without_replacing", rename), pytest.raises(KeyboardInterrupt):
        world.run(FakeModel())
    lines = world.paths.journal.read_bytes().split(b"\n")
    kept = [line for line in lines if b"too-large" not in line]
    world.paths.journal.write_bytes(b"\n".join(kept))
    world.run(FakeModel(never))
    archives = b"".join(path.read_bytes() for path in world.paths.plans.iterdir())
    assert archives.count(b"too-large") >= 1 and archives.count(b'"t":"done"') == 1
    assert not world.paths.journal.exists()


def test_an_editor_that_saves_in_the_very_moment_of_a_failed_swap_keeps_its_bytes(world: World) -> None:
    """Our tasks went in, their save came out, then the disk was full: theirs must stand there again."""
    path = world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n## Done\n")
    world.converse("a")
    real, seen = files.write_temporary, []

    def write_temporary(place: Path, data: bytes, mode: int, note: str = "") -> Path:
        if place.name == "tasks.md":
            seen.append(place)
            if len(seen) == 1:
                made = real(place, data, mode, note)
                path.write_text("# Tasks\n\n## Open\n\n- saved just now\n\n## Done\n")
                return made
            if len(seen) == 2:
                raise OSError(28, "No space left on device")
        return real(place, data, mode, note)

    with patch.object(files, "write_temporary", write_temporary):
        report = world.run(says(tasks_open=["new"]))
    assert report.errors and path.read_text() == "# Tasks\n\n## Open\n\n- saved just now\n\n## Done\n"
    world.run(FakeModel(never))
    assert "- saved just now\n- new [from: " in path.read_text()


def test_a_save_in_the_very_moment_of_a_swap_is_merged(world: World) -> None:
    path = world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- old\n\n## Done\n")
    world.converse("a")
    real, seen = files.exchange, []

    def exchange(one: Path, other: Path) -> bool:
        if other.name == "tasks.md" and not seen:
            seen.append(other)
            path.write_text("# Tasks\n\n## Open\n\n- old\n- saved just now\n\n## Done\n")
        return real(one, other)

    with patch.object(files, "exchange", exchange):
        report = world.run(says(tasks_open=["new"]))
    name = next(iter(world.entries().values()))["path"].rsplit("/", 1)[1]
    assert not report.errors
    assert path.read_text() == (
        f"# Tasks\n\n## Open\n\n- old\n- saved just now\n- new [from: {name}, 2026-06-12]\n\n## Done\n"
    )


def test_a_save_by_rename_while_we_append_is_appended_to_again(world: World) -> None:
    """Vim and its kin write a new file and rename it over the old one: our line must be in the new one."""
    path = world.knowledge("facts.md", "# Facts\n")
    world.converse("a")
    real, seen = files.append, []

    def append(fd: int, data: bytes, size: int) -> None:
        real(fd, data, size)
        if not seen:
            seen.append(fd)
            other = path.with_name("other")
            other.write_text("# Facts\n\n- theirs\n")
            other.replace(path)

    with patch.object(files, "append", append):
        report = world.run(FakeModel(ordinary))
    assert not report.errors and path.read_text().startswith("# Facts\n\n- theirs\n- Fact 1 about the cache [from: ")


# --- A store that cannot be written, two runs at once, a run that is stopped: what the next run makes of it.

DATE = "2026-06-12"


# --- a store that cannot be written ----------------------------------------------------------------------------------


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere.md"
    elsewhere.write_text("not ours\n")
    path.unlink(missing_ok=True)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("spoil", [_folder, _link])
def test_a_spoilt_file_fails_one_harvest_and_its_plan_is_finished_later(world: World, spoil: Any) -> None:
    """Stands for a read-only file (these tests may run as root, who may write everything)."""
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    first, second = world.converse("a"), world.converse("b")
    spoil(world.paths.knowledge / "facts.md")
    rows: list[dict[str, Any]] = [{"facts": ["first"], "decisions": ["first too"]}, {"questions": ["second?"]}]
    report = world.run(FakeModel(lambda number, prompt: rows[number - 1]))
    assert (first.exists(), second.exists()) == (True, False)
    assert [error.code for error in report.errors] == ["harvest-failed", "digest-failed"]
    assert "facts.md" in report.errors[0].message
    assert world.entry("a")["status"] == "harvest-failed" and world.entry("b")["status"] == "harvested"
    again = world.run(FakeModel(never))
    assert first.exists() and [error.code for error in again.errors] == ["harvest-failed", "digest-failed"]
    spoilt = world.paths.knowledge / "facts.md"
    spoilt.unlink() if spoilt.is_symlink() else spoilt.rmdir()
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    final = world.run(FakeModel(never))
    assert not final.errors and not first.exists()
    assert world.text("facts.md") == f"# Facts\n\n- mine\n- first [from: {first.name}, {DATE}]\n"
    assert world.text("decisions.md").count("first too") == 1
    assert world.entry("a")["status"] == "harvested"
    if (elsewhere := world.paths.home / "elsewhere.md").exists():
        assert elsewhere.read_text() == "not ours\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.skipif(bool(closed_to_nobody()), reason=f"nobody but root may enter {closed_to_nobody()}")
def test_a_read_only_file_fails_the_harvest_of_an_ordinary_person(world: World) -> None:
    for name in ("facts.md", "tasks.md"):
        world.knowledge(name, f"# {name}\n").chmod(0o444)
    path = world.converse("a")
    give_away(world.folder)

    def harvested() -> bool:
        report = world.run(says(facts=["x"], tasks_open=["y"]))
        return [error.code for error in report.errors] != ["harvest-failed"]

    assert as_nobody(harvested) == 0
    assert path.exists() and world.text("facts.md") == "# facts.md\n" and world.text("tasks.md") == "# tasks.md\n"
    assert world.entry("a")["status"] == "harvest-failed"


def test_a_full_disk_keeps_every_conversation(world: World) -> None:
    paths = [world.converse(str(number)) for number in range(3)]
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch.object(files, "append", side_effect=full), patch.object(files, "create_atomic", side_effect=full):
        report = world.run(FakeModel())
    assert all(path.exists() for path in paths) and len(report.errors) == 3
    world.run(FakeModel(never))
    assert not any(path.exists() for path in paths)


def test_a_disk_that_does_not_confirm_ends_the_run(world: World) -> None:
    """After a failed fsync the kernel may have dropped the data: nothing more may be reclaimed on its word."""
    paths = [world.converse(str(number)) for number in range(3)]
    world.knowledge("facts.md", "# Facts\n")
    real, seen = files.sync, []

    def sync(fd: int, *, data_only: bool = False) -> None:
        if True in seen and not data_only and not failed:  # the plan is in the journal, the lines are not on the disk
            failed.append(fd)
            raise files.SyncError(errno.EIO, "Input/output error")
        seen.append(data_only)
        real(fd, data_only=data_only)

    model, failed = FakeModel(), list[int]()
    with patch.object(files, "sync", sync):
        report = world.run(model)
    asked, planned = model.calls, len({row["sha"] for row in read_journal(world.paths.journal) if row["t"] == "intent"})
    assert all(path.exists() for path in paths) and planned
    assert report.errors[0].code == "sync-failed"
    report = world.run(model)
    assert not report.errors and model.calls == asked + 3 - planned and not any(path.exists() for path in paths)


def test_a_ledger_that_cannot_be_read_stops_the_run(world: World) -> None:
    """Unreadable is not corrupt: setting it aside would forget everything for a passing error."""
    path = world.converse("a")
    world.paths.ledger.mkdir(parents=True)
    result = attempt(world.try_run, FakeModel(never))
    assert isinstance(result, KnowledgeError) and "ledger" in result.error.message and path.exists()
    assert world.paths.ledger.is_dir()


# --- two at once, and stopping ---------------------------------------------------------------------------------------


def test_a_second_run_says_who_holds_the_lock(world: World) -> None:
    path = world.converse("a")
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom core.base import locks\n"
        "with locks.locked(Path(sys.argv[1])):\n print('held', flush=True)\n time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, str(world.paths.lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        result = attempt(world.try_run, FakeModel(never))
        other.kill()
    assert (
        isinstance(result, KnowledgeError)
        and result.error.code == "lock-held"
        and str(other.pid) in result.error.message
    )
    assert path.exists()
    world.run(FakeModel())  # the lock of a dead process holds nobody up
    assert not path.exists()


def test_the_lock_names_its_holder(world: World) -> None:
    """Who waits for `undo` should not be told to wait for a harvest."""
    with locks.locked(world.paths.lock, work="undo"):
        refused = attempt(world.try_run, FakeModel(never))
    assert isinstance(refused, KnowledgeError)
    assert refused.error.message == f"'knowledge undo' is at work (process {os.getpid()})"


def test_a_cancelled_run_keeps_what_it_did_and_the_next_one_goes_on(world: World) -> None:
    """And what was answered is written while the model thinks about the next one: nobody waits for the whole run."""
    paths = [world.converse(str(number)) for number in range(6)]
    done: list[Progress] = []

    def answer(number: int, prompt: str) -> dict[str, Any]:
        assert number <= 2 or wait_until(lambda: len(done) >= 2)
        return ordinary(number, prompt)

    model = FakeModel(answer)
    report = world.run(
        model,
        progress=lambda news: done.append(news) if news.kind == THROUGH else None,
        cancelled=lambda: len(done) >= 2,
    )
    first = report.harvested
    assert report.cancelled and 2 <= first <= 4
    assert [path.exists() for path in paths] == [False] * first + [True] * (6 - first)
    assert len(world.entries()) == first and not world.paths.journal.exists()
    report = world.run(model, jobs=3)
    assert not report.cancelled and report.harvested == 6 - first


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_conversation_in_flight_when_the_run_is_stopped_is_untouched(world: World, jobs: int) -> None:
    """Ctrl-C cuts the call that waits for an answer: a `harvest-failed` in the ledger would be a lie about it."""
    for number in range(4):
        world.converse(str(number))
    stop: list[bool] = []

    def answer(number: int, prompt: str) -> dict[str, Any] | Result[Answer]:
        if number >= 2:
            stop.append(True)
            raise KnowledgeError("cancelled", "the call was cancelled")
        return ordinary(number, prompt)

    report = world.run(FakeModel(answer), jobs=jobs, cancelled=lambda: bool(stop))
    assert report.cancelled and not report.errors
    assert {entry["status"] for entry in world.entries().values()} <= {"harvested"}
    assert not any(number.get("last_error") for number in world.entries().values())


def test_an_interrupt_in_the_middle_leaves_a_store_that_the_next_run_finishes(world: World) -> None:
    paths = [world.converse(str(number)) for number in range(2)]
    model = FakeModel()
    with patch.object(files, "create_atomic", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(model)
    asked, planned = model.calls, sum(row["t"] == "intent" for row in read_journal(world.paths.journal))
    world.run(model)
    assert planned and model.calls == asked + 2 - planned and not any(path.exists() for path in paths)


def test_an_unfinished_line_of_the_person_is_not_taken_for_a_torn_one(world: World) -> None:
    """It stood there before the harvest; completing it would turn the user's words into the model's."""
    mine = b"# Facts\n\n- Fact"
    world.knowledge("facts.md", mine)
    world.converse("a")
    with patch.object(files, "append", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(FakeModel())
    intent = json.loads(world.paths.journal.read_bytes().split(b"\n")[0][9:])
    assert {row["name"]: row["tail"] for row in intent["plan"]["files"]}["facts.md"] == "- Fact"
    assert not world.run(FakeModel()).errors
    assert world.text("facts.md").encode().startswith(mine + b"\n- Fact 1 about the cache [from: ")


@pytest.mark.parametrize("tail", ["", "- mi", "- Fa", "- \udcff"])
def test_a_line_torn_by_a_crash_is_completed_whatever_stood_above_it(world: World, tail: str) -> None:
    """The user's last line had no line break; what a crash tore is ours, and no half line may stay."""
    above = ("# Facts\n\n" + tail).encode("utf-8", "surrogateescape")
    world.knowledge("facts.md", above)
    world.converse("a")

    def half(fd: int, data: bytes, size: int) -> None:
        os.write(fd, data[:15])
        raise KeyboardInterrupt

    with patch.object(files, "append", half), pytest.raises(KeyboardInterrupt):
        world.run(FakeModel())
    assert not world.run(FakeModel(never)).errors
    lines = (world.paths.knowledge / "facts.md").read_bytes().removeprefix(above).lstrip(b"\n").split(b"\n")
    assert len(lines) == 2 and lines[0].startswith(b"- Fact 1 about the cache [from: ")


# --- What a user has struck through stays struck: a harvest that reads the conversation once more does not bring it
# back beside itself.


def opened(world: World) -> Workspace:
    return open_workspace(str(world.paths.home))


@pytest.mark.parametrize(("category", "file"), [("facts", "facts.md"), ("tasks_open", "tasks.md")])
def test_a_struck_line_is_not_written_beside_itself_after_an_undo(world: World, category: str, file: str) -> None:
    """Undo leaves it, for the user has changed it; the next harvest reads the conversation again."""
    world.converse("a")
    first = world.run(says(**{category: ["one", "two"]}))
    assert isinstance(attempt(bullets.remove, opened(world), category, "one", strike=True), Ok)
    undone = attempt(undo, opened(world), first.run)
    assert isinstance(undone, Ok) and list(undone.value.stayed_why.values()) == ["struck through since"]
    struck = [line for line in world.text(file).split("\n") if line.startswith("- ")]
    assert len(struck) == 1 and struck[0].startswith("- ~~one~~")
    again = world.limits(again=True).run(says(**{category: ["one", "two", "three"]}))
    lines = [line.split(" [from")[0] for line in world.text(file).split("\n") if line.startswith("- ")]
    assert lines == ["- ~~one~~", "- two", "- three"] and not again.errors


def test_what_is_struck_through_stays_so_whoever_says_it_again(world: World) -> None:
    """The user struck it because it is wrong, not because of who had said it."""
    world.knowledge("facts.md", "# Facts\n\n- ~~one~~ [from: theirs, 2026-01-01]\n- ~~two~~\n")
    world.converse("a")
    world.run(says(facts=["one", "two"]))
    assert "\n- one" not in world.text("facts.md") and "\n- two" not in world.text("facts.md")
