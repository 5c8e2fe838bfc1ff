"""What must not happen on the way: a move of what is not proven, a name that is not synced, a descriptor left open.

Found by mutation: with these lines left out nothing else noticed. A person would lose a conversation to a power cut, or
the right to say which of two files is theirs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.base import files, reading
from core.base.result import Err, Ok
from core.harvest import merge, named_paths
from core.harvest.answer import Item
from core.harvest.freeze import with_old_dates
from core.harvest.named_paths import source_file
from core.harvest.reclaim import finish_removals, purge, reclaim, remove_split, restore, sync_reclaimed
from core.knowledge.file_notes import NoteRecords
from core.knowledge.journal import FrozenPlan, encode, plan_to_json, read_plans
from core.knowledge.ledger import counts_by_status, drop_from_trash, read_ledger, set_aside
from core.knowledge.lines import PlannedFile
from tests.harvest_world import NOW, World, sha256


def code(result: object) -> str:
    assert isinstance(result, Err), result
    return result.error.code


def later(real: Callable[..., object], at: int, other: object) -> Callable[..., object]:
    """A function that answers `other` in its call number `at`."""
    calls = iter(range(1, 1000))
    return lambda *rest: other if next(calls) == at else real(*rest)


@pytest.mark.parametrize("call", ["sha256_of_descriptor", "is_same_file"])
def test_what_is_not_the_proven_file_never_leaves_its_place(
    world: World, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = world.converse("a")
    moved: list[object] = []
    with monkeypatch.context() as patched:
        patched.setattr(files, call, later(getattr(files, call), 1, False))
        patched.setattr(files, "rename_without_replacing", lambda *names: moved.append(names))
        assert code(reclaim(world.paths, str(path), sha256("a"), 14, NOW)) == "changed"
    assert moved == [] and path.exists()


@pytest.mark.parametrize("call", ["sha256_of_descriptor", "is_same_file", "identity_of"])
def test_what_changed_in_the_moment_of_the_move_is_put_back(
    world: World, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = world.converse("a")
    with monkeypatch.context() as patched:
        patched.setattr(files, call, later(getattr(files, call), 2, False))
        found = reclaim(world.paths, str(path), sha256("a"), 14, NOW)
    assert isinstance(found, Err) and found.error.message.endswith("; it stays")
    assert path.read_text() == "a" and not world.trash()


def test_names_are_made_durable_in_their_order(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The trash first, then the place that was left: a power cut between them may only bring a conversation back."""
    synced: list[Path] = []
    real = files.sync_folder
    monkeypatch.setattr(files, "sync_folder", lambda path: (synced.append(Path(path)), real(path))[1])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "talk").write_text("b")
    path = world.converse("a")
    sync_reclaimed(world.paths)
    assert synced == []
    world.paths.trash.mkdir()
    assert isinstance(reclaim(world.paths, str(path), sha256("a"), 14, NOW), Ok) and synced == []
    sync_reclaimed(world.paths)
    assert synced == [world.paths.trash, world.paths.conversations]
    synced.clear()
    assert isinstance(reclaim(world.paths, str(elsewhere / "talk"), sha256("b"), 14, NOW), Ok)
    assert synced == [world.paths.trash, elsewhere]
    elsewhere.rmdir()
    synced.clear()
    assert restore(world.paths, sha256("b"), str(elsewhere / "talk"), sha256("b")) == Ok(elsewhere / "talk")
    assert synced[-2:] == [elsewhere, world.paths.trash] and (elsewhere / "talk").read_text() == "b"
    synced.clear()
    world.paths.knowledge.mkdir(exist_ok=True)
    world.paths.ledger.write_text("garbage")
    set_aside(world.paths, NOW)
    assert synced == [world.paths.knowledge]
    (tmp_path / "tree").mkdir()
    synced.clear()
    files.remove_tree(tmp_path / "tree")
    assert synced == [tmp_path, tmp_path]
    (tmp_path / "new").touch()
    synced.clear()
    files.replace_file(tmp_path / "new", tmp_path / "old")
    assert synced == [tmp_path]


def test_each_refusal_has_its_own_code(world: World, tmp_path: Path) -> None:
    """Scripts and the panel tell them apart by it."""
    world.paths.trash.mkdir(parents=True)
    held = world.paths.trash / sha256("a")
    held.write_text("changed")
    assert code(restore(world.paths, held.name, str(tmp_path / "x"), sha256("a"))) == "trash-damaged"
    assert code(purge(held, sha256("a"))) == "trash-damaged"
    assert code(remove_split(world.paths, str(tmp_path), 14, NOW)) == "prune-failed"
    world.paths.splits.mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    (world.paths.splits / "link").symlink_to(tmp_path / "mine")
    (world.paths.splits / "file").touch()
    for name in ("link", "file", "nothing"):
        found = remove_split(world.paths, str(world.paths.splits / name), 14, NOW)
        assert isinstance(found, Err) and found.error.message == "this is not a folder of splits; it stays"
    (world.paths.splits / "whole").mkdir()
    assert remove_split(world.paths, str(world.paths.splits / "whole"), 0, NOW) == Ok(None)
    (world.paths.splits / f".x..1-0{files.TEMPORARY_MARK}").symlink_to(tmp_path / "mine")
    assert finish_removals(world.paths) == [] and (tmp_path / "mine").is_dir()
    (world.paths.knowledge / "ledger.json").mkdir(parents=True)
    assert code(read_ledger(world.paths)) == "ledger-unreadable"


def test_no_descriptor_is_left_open(world: World, tmp_path: Path) -> None:
    """A run over a hundred thousand conversations would end with `too many open files`."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not list open descriptors")
    path = world.converse("a")
    (tmp_path / "folder").mkdir()

    def work() -> None:
        reclaim(world.paths, str(path), sha256("b"), 14, NOW)
        purge(path, sha256("b"))
        files.sha256_of_file(path)
        files.write_cache(tmp_path / "cache", b"x")
        files.write_atomic(tmp_path / "file", b"x")
        with pytest.raises(OSError, match="not a regular file"):
            files.open_regular(tmp_path / "folder")

    work()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        work()
    assert len(os.listdir("/proc/self/fd")) == before


def test_reading_tells_a_link_a_replaced_file_and_the_last_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(OSError, match="a symbolic link stands there, which is not followed"):
        reading.open_regular(tmp_path / "link")
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    fd = reading.open_regular(path)
    assert reading.last_byte(fd) == b"c" and reading.is_same_file(fd, path) is True
    path.rename(tmp_path / "b")
    assert reading.is_same_file(fd, path) is False
    path.symlink_to("b")
    assert reading.is_same_file(fd, path) is False
    os.close(fd)


def test_a_file_that_is_being_saved_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs in one folder are daily life: a reader that meets a writer tries again before it gives up."""
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    read, times = reading.read_descriptor, 0

    def saved_meanwhile(fd: int, limit: int | None = None) -> bytes:
        nonlocal times
        data = read(fd, limit)
        times += 1
        if times <= saves:
            path.write_bytes(b"abc" + b"d" * times)
        return data

    monkeypatch.setattr(reading, "read_descriptor", saved_meanwhile)
    saves = 2
    assert reading.read_file(path).data == b"abcdd"
    times, saves = 0, 100
    with pytest.raises(OSError, match="the file changed while it was read"):
        reading.read_file(path)
    assert times == len(reading.PAUSES) + 1


# --- plans, notes, ledger --------------------------------------------------------------------------------------------


def test_only_proven_plans_of_a_proper_run_are_read(tmp_path: Path) -> None:
    """A run's name stands in the ledger, which a person may edit: it must not lead to another file."""
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", ("- a",)),), {})
    intent = {"t": "intent", "sha": "a", "path": "/x", "plan": plan_to_json(plan)}
    done = {"t": "done", "sha": "a", "entry": {}}
    plans = tmp_path / "plans"
    (plans / "deep").mkdir(parents=True)
    for name in ("run", ".run", "", "deep/run"):
        (plans / f"{name}.jsonl").write_bytes(encode(intent) + encode(done))
    assert read_plans(plans, "run") == {"a": plan}
    for name in ("", ".run", "deep/run", "../plans/run", "r\0n", "nothing"):
        assert read_plans(plans, name) == {}
    (plans / "half.jsonl").write_bytes(encode(intent))
    (plans / "bare.jsonl").write_bytes(encode(done))
    assert read_plans(plans, "half") == read_plans(plans, "bare") == {}


def test_a_note_whose_file_got_another_inode_is_written_down_at_once(world: World) -> None:
    """A crash before the end of the run would leave a note that nobody knows any more."""
    source = world.folder / "a.py"
    source.write_text("x")
    world.paths.file_notes.mkdir(parents=True)
    records: NoteRecords = {}

    def freeze() -> str:
        item = Item("files", "n", str(source))
        plan = merge.freeze([item], "talk", "2026-06-12", [str(world.folder)], world.paths, records)
        [planned] = plan.files
        return planned.name.removeprefix("files/")

    first = freeze()
    assert not world.paths.file_ids.exists() and first in records, "a new note needs no rename, so nothing is urgent"
    (world.paths.file_notes / first).write_text(f"# {source}\n\n- n\n")
    assert freeze() == first and not world.paths.file_ids.exists()
    records["9:9.md"] = {"path": "/other", "birth": 1, "size": 1, "head": ""}
    saved = world.folder / "saved"
    saved.write_text("y")
    saved.replace(source)
    second = freeze()
    assert second != first and list(json.loads(world.paths.file_ids.read_bytes())) == [second]
    assert not (world.paths.file_notes / first).exists() and (world.paths.file_notes / second).exists()
    records[second] = records[second] | {"birth": 5, "size": 9, "path": "/stranger"}
    third = freeze()
    assert third == second and set(json.loads(world.paths.file_ids.read_bytes())) == {second, f"{second[:-3]}@5.md"}


def test_every_note_and_a_done_task_alone_come_into_the_plan(world: World) -> None:
    for name in ("a.py", "b.py"):
        (world.folder / name).write_text("x")
    items = [Item("files", f"about {name}", str(world.folder / name)) for name in ("a.py", "b.py")]
    plan = merge.freeze(items, "talk", "2026-06-12", [str(world.folder)], world.paths, {})
    assert [row.all_lines[0].split(" [")[0] for row in plan.files] == ["- about a.py", "- about b.py"]
    [tasks] = merge.freeze([Item("tasks_done", "swept")], "talk", "2026-06-12", [], world.paths, {}).files
    assert tasks.name == "tasks.md" and tasks.lines == () and tasks.done == ("- swept [from: talk, 2026-06-12]",)


def test_what_stands_above_the_roots_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x")
    looked: list[str] = []
    real = os.lstat
    root = os.path.realpath(tmp_path)
    monkeypatch.setattr(named_paths.os.path, "realpath", lambda path: path)
    monkeypatch.setattr(named_paths.os, "lstat", lambda path: (looked.append(str(path)), real(path))[1])
    assert named_paths._first_link(f"{root}/a.py", [root]) is None
    assert looked == [root, f"{root}/a.py"]


def test_an_older_date_is_taken_from_this_conversations_line_alone(world: World) -> None:
    """The same words of another conversation, or of the person, have a provenance of their own."""
    world.knowledge("facts.md", "# Facts\n\n- a [from: theirs, 2020-01-01]\n- b\n- c [from: mine, 2021-01-01]\n")
    lines = tuple(f"- {text} [from: mine, 2026-06-12]" for text in "abc")
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", lines),), {"facts": 3})
    [kept] = with_old_dates(world.paths, plan, ["mine"]).files
    assert kept.lines == (*lines[:2], "- c [from: mine, 2021-01-01]")


def test_the_content_of_a_file_that_a_model_named_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    found = source_file(f"{tmp_path}/a.py", [str(tmp_path)])
    assert found is not None and found.head == ""
    assert source_file(f"{tmp_path}/a.py", ["/nowhere", f"{tmp_path}/"]) == found


def test_the_ledger_counts_what_it_does_not_know_and_forgets_an_empty_trash() -> None:
    assert counts_by_status({"a": {}, "b": {"status": "odd"}, "c": {"status": "odd"}}) | {"odd": 2, "unknown": 1} == (
        counts_by_status({"a": {}, "b": {"status": "odd"}, "c": {"status": "odd"}})
    )
    entry = {"trash": {"x": "/x", "y": "/y"}, "trashed_until": "soon"}
    drop_from_trash(entry, "x")
    assert entry == {"trash": {"y": "/y"}, "trashed_until": "soon"}
    drop_from_trash(entry, "y")
    assert entry == {}
