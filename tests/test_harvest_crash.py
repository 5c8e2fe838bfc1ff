"""Crashes that were found once, by name, and the order of durable steps, which a kill alone cannot show: the page cache
outlives a process, not a power cut. The campaigns that look for more of them are in tests/faults."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import files
from core.knowledge.journal import Journal, read_journal
from tests.harvest_world import NOW, FakeModel, World, never, ordinary, says, sha256


def test_nothing_is_taken_away_before_its_lines_are_durable(world: World) -> None:
    """Power cut: what was not synced may be gone. Lines, then their names, then DONE, and only then the move."""
    world.knowledge("facts.md", "# Facts\n")
    world.knowledge("tasks.md", "# Tasks\n")
    events: list[str] = []
    real = {name: getattr(files, name) for name in ("write_all", "sync", "sync_folder", "rename_without_replacing")}
    extend = Journal.extend

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

    def journal(self: Journal, records: Sequence[dict[str, Any]], *, durable: bool = False) -> None:
        events.extend(f"journal {record['t']}" for record in records)
        extend(self, records, durable=durable)

    world.converse("a")
    world.paths.trash.mkdir()
    with (
        patch.multiple(files, write_all=write_all, sync=sync, rename_without_replacing=move),
        patch.object(Journal, "extend", journal),
    ):
        world.run(FakeModel())
    told = [event for event in events if event != "write journal"]
    start, end = told.index("journal intent"), told.index("take away")
    assert told[start : end + 1] == [
        "journal intent", "sync .state", "sync journal",
        "write facts.md", "sync facts.md", "journal applied",
        "write new decisions", "sync new decisions", "name decisions.md",
        "write new tasks", "sync new tasks",
        "sync knowledge", "journal applied", "journal applied",
        "journal done", "sync journal",
        "journal moving", "take away",
    ]  # fmt: skip
    rest = told[end:]
    last = ["sync .trash", "sync conversations", "sync new ledger", "sync plans", "sync .state"]
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
    """Its file was applied before the crash: the person has seen the line and did not want it."""
    path = world.converse("a")
    world.knowledge("facts.md", "# Facts\n")
    with patch.object(files, "create_atomic", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(says(facts=["unwanted"], questions=["really?"]))
    assert "unwanted" in world.text("facts.md")
    world.knowledge("facts.md", "# Facts\n")
    world.run(FakeModel(never))
    assert world.text("facts.md") == "# Facts\n" and "really?" in world.text("questions.md") and not path.exists()


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

    def append(self: Journal, record: dict[str, Any], *, durable: bool = False) -> None:
        if record["t"] == "reclaimed":
            moves.append(record)
            if len(moves) == 2:
                raise KeyboardInterrupt
        real(self, record, durable=durable)

    with patch.object(Journal, "append", append), pytest.raises(KeyboardInterrupt):
        world.run(FakeModel())
    world.run(FakeModel(never))
    assert sorted(world.entry("same")["trash"].values()) == sorted(map(str, paths))
    assert sorted(world.entry("same")["trash"]) == [sha256("same"), f"{sha256('same')}.1"]


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
