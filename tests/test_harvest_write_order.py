"""In which order a harvest writes, and what a damaged journal costs."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk, files
from core.base.checked_lines import decode
from core.base.paths import Paths
from core.base.result import KnowledgeError, Ok, attempt
from core.commands.history.trash import trash_list, trash_restore
from core.commands.history.undo import undo
from core.harvest import named_paths
from core.harvest.answer import Item
from core.harvest.batch import write_together
from core.harvest.committer import Committer
from core.harvest.freeze import freeze, with_old_dates
from core.harvest.named_paths import allowed_path, source_file
from core.harvest.reclaim import (
    Guard,
    finish_removals,
    purge,
    purge_split,
    reclaim,
    remove_split,
    restore,
    restore_split,
    sync_reclaimed,
)
from core.knowledge.changes import Change, append_changes
from core.knowledge.file_notes import NoteRecords
from core.knowledge.journal import FrozenPlan, encode, plan_to_json, read_plans
from core.knowledge.ledger import (
    counts_by_status,
    drop_from_trash,
    forget_restored,
    read_ledger,
    rebuild,
    set_aside,
)
from core.knowledge.lines import PlannedFile
from core.sources.artifact import Artifact
from tests.faults.fault import Counter, Fault
from tests.faults.store import performing
from tests.harvest_world import HURRIED, NOW, FakeModel, World, says, sha256, workspace_of
from tests.histories.ground import in_child
from tests.made_home import error

# --- What must not happen on the way: a move of what is not proven, a name that is not synced, a descriptor left open.


def code(call: Callable[..., Any], *arguments: Any) -> str:
    return error(call, *arguments).code


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
        assert code(reclaim, world.paths, str(path), sha256("a"), 14, NOW) == "changed"
    assert moved == [] and path.exists()


@pytest.mark.parametrize("call", ["sha256_of_descriptor", "is_same_file", "identity_of"])
def test_what_changed_in_the_moment_of_the_move_is_put_back(
    world: World, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = world.converse("a")
    with monkeypatch.context() as patched:
        patched.setattr(files, call, later(getattr(files, call), 2, False))
        found = attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW)
    assert isinstance(found, KnowledgeError) and found.error.message.endswith("; it stays")
    assert path.read_text() == "a" and not world.trash()


def test_names_are_made_durable_in_their_order(world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The trash first, where what was left is synced at all: a power cut may only bring a conversation back."""
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
    assert isinstance(attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW), Ok) and synced == []
    sync_reclaimed(world.paths)
    assert synced == [world.paths.trash]
    synced.clear()
    assert isinstance(attempt(reclaim, world.paths, str(elsewhere / "talk"), sha256("b"), 14, NOW), Ok)
    assert synced == [world.paths.trash, elsewhere]
    elsewhere.rmdir()
    synced.clear()
    assert restore(world.paths, sha256("b"), str(elsewhere / "talk"), sha256("b")) == elsewhere / "talk"
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


def test_what_was_harvested_before_goes_together(world: World) -> None:
    """A wait for the disk for each of ten thousand conversations would take minutes."""
    world.limits(reclaim="never")
    paths = [world.converse(str(number)) for number in range(40)]
    world.run(FakeModel())
    counter, told = Counter(), list[str]()
    with performing(counter):
        report = world.limits(reclaim="model").run(FakeModel(), progress=lambda row: told.append(row.outcome))
    assert report.reclaimed == len(world.trash()) == len(paths) and counter.trail.count("sync") < len(paths) / 2
    assert told == ["reclaimed"] * len(paths) and not report.kept and not any(path.exists() for path in paths)


def test_each_refusal_has_its_own_code(world: World, tmp_path: Path) -> None:
    """Scripts and the panel tell them apart by it."""
    world.paths.trash.mkdir(parents=True)
    held = world.paths.trash / sha256("a")
    held.write_text("changed")
    assert code(restore, world.paths, held.name, str(tmp_path / "x"), sha256("a")) == "trash-damaged"
    assert code(purge, held, sha256("a")) == "trash-damaged"
    held.write_text("a")
    assert purge(held, sha256("a")) == 1 and not held.exists()
    assert code(remove_split, world.paths, str(tmp_path), 14, NOW) == "prune-failed"
    world.paths.splits.mkdir(parents=True)
    (tmp_path / "mine").mkdir()
    (world.paths.splits / "link").symlink_to(tmp_path / "mine")
    (world.paths.splits / "file").touch()
    for name in ("link", "file", "nothing"):
        found = attempt(remove_split, world.paths, str(world.paths.splits / name), 14, NOW)
        assert isinstance(found, KnowledgeError) and found.error.message == "this is not a folder of splits; it stays"
    (world.paths.splits / "whole").mkdir()
    assert remove_split(world.paths, str(world.paths.splits / "whole"), 0, NOW) is None
    (world.paths.splits / f".x..1-0{files.TEMPORARY_MARK}").symlink_to(tmp_path / "mine")
    assert finish_removals(world.paths) == [] and (tmp_path / "mine").is_dir()
    (world.paths.knowledge / "ledger.json").mkdir(parents=True)
    assert code(read_ledger, world.paths) == "ledger-unreadable"


class Refusing(Counter):
    """A disk that refuses one kind of operation."""

    def __init__(self, refused: str) -> None:
        super().__init__()
        self.refused = refused

    def __call__(self, name: str, call: Callable[..., object], *arguments: object, **named: object) -> object:
        if name == self.refused:
            raise PermissionError(13, "Permission denied", str(arguments[0]))
        return super().__call__(name, call, *arguments, **named)


def test_a_trash_that_is_full_of_copies_takes_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """What finds no name there stays where it is: a conversation, and a folder of splits."""
    monkeypatch.setattr("core.harvest.reclaim.MAX_COPIES", 2)
    for copy in ("1", "2", "3"):
        path = world.converse("a")
        (world.paths.splits / "cut" / copy).mkdir(parents=True)
        talk = attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW)
        folder = attempt(remove_split, world.paths, str(world.paths.splits / "cut"), 14, NOW)
    assert [one.error.code for one in (talk, folder) if isinstance(one, KnowledgeError)] == (
        ["reclaim-failed", "prune-failed"]
    )
    assert path.read_text() == "a" and (world.paths.splits / "cut" / "3").is_dir()
    assert len(world.trash()) == 4


def test_a_disk_that_refuses_costs_nothing_in_the_trash(world: World) -> None:
    """Whatever cannot be moved or removed stays whole, and is told in a sentence."""
    path = world.converse("a")
    (world.paths.splits / "cut").mkdir(parents=True)
    assert isinstance(attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW), Ok)
    assert remove_split(world.paths, str(world.paths.splits / "cut"), 14, NOW) is None
    held, split = (world.paths.trash / name for name in sorted(os.listdir(world.paths.trash)))
    with patch.object(disk, "perform", Refusing("rename-flag")):
        assert code(restore, world.paths, held.name, str(path), sha256("a")) == "restore-failed"
        assert code(restore_split, world.paths, split.name) == "restore-failed"
        assert code(purge_split, world.paths, split.name) == "purge-failed"
    with patch.object(disk, "perform", Refusing("unlink")):
        assert code(purge, held, sha256("a")) == "purge-failed"
    assert held.read_text() == "a" and split.is_dir() and not path.exists()
    (world.paths.splits / "cut").mkdir()
    assert code(restore_split, world.paths, split.name) == "occupied" and split.is_dir()
    (world.paths.splits / "cut").rmdir()
    assert restore_split(world.paths, split.name) == world.paths.splits / "cut"
    assert restore(world.paths, held.name, str(path), sha256("a")) == path


def test_only_folders_of_splits_are_purged_as_such(world: World, tmp_path: Path) -> None:
    """A folder that the user keeps in the trash, or a link to one, is nobody else's to remove."""
    (world.paths.trash / "mine").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (world.paths.trash / "split.20260101.cut").symlink_to(tmp_path / "elsewhere")
    for name in ("mine", "split.20260101.cut", "split.20260101.gone"):
        assert code(purge_split, world.paths, name) == "purge-failed"
    assert (world.paths.trash / "mine").is_dir() and (tmp_path / "elsewhere").is_dir()
    cut = world.paths.trash / f".cut..1-0{files.TEMPORARY_MARK}"
    cut.mkdir()
    with patch.object(disk, "perform", Refusing("rmdir")):
        (told,) = finish_removals(world.paths)
    assert (told.code, told.path, told.hint) == ("prune-failed", str(cut), "remove it yourself")
    assert finish_removals(world.paths) == [] and not cut.exists()


def test_nothing_is_taken_out_of_the_store_of_another_tool(world: World, tmp_path: Path) -> None:
    """A session is a part of a database that its tool goes on with: whatever a plan says, it stays."""
    session = Artifact(f"{tmp_path}/state.vscdb#1", "chat", "session", source="cursor")
    assert Guard(world.paths).objection(session) == "nothing is taken out of another tool's store"


def test_no_descriptor_is_left_open(world: World, tmp_path: Path) -> None:
    """A run over a hundred thousand conversations would end with `too many open files`."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not list open descriptors")
    path = world.converse("a")
    (tmp_path / "folder").mkdir()

    def work() -> None:
        error(reclaim, world.paths, str(path), sha256("b"), 14, NOW)
        error(purge, path, sha256("b"))
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


def test_reading_tells_a_link_a_replaced_file_and_the_last_byte(tmp_path: Path) -> None:
    """What is written into a file that an editor has just replaced would be in nobody's file."""
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(OSError, match="a symbolic link stands there, which is not followed"):
        files.open_regular(tmp_path / "link")
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    fd = files.open_regular(path)
    assert files.last_byte(fd) == b"c" and files.is_same_file(fd, path)
    path.rename(tmp_path / "b")
    assert not files.is_same_file(fd, path)
    path.symlink_to("b")
    assert not files.is_same_file(fd, path)
    os.close(fd)


def test_a_file_that_is_being_saved_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs in one folder are daily life: a reader that meets a writer tries again before it gives up."""
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    read, times = files.read_descriptor, 0

    def saved_meanwhile(fd: int, limit: int | None = None) -> bytes:
        nonlocal times
        data = read(fd, limit)
        times += 1
        if times <= saves:
            path.write_bytes(b"abc" + b"d" * times)
        return data

    monkeypatch.setattr(files, "read_descriptor", saved_meanwhile)
    saves = 2
    assert files.read_file(path).data == b"abcdd"
    times, saves = 0, 100
    with pytest.raises(OSError, match="the file changed while it was read"):
        files.read_file(path)
    assert times == len(files.PAUSES) + 1


# --- plans, notes, ledger --------------------------------------------------------------------------------------------


def test_only_proven_plans_of_a_proper_run_are_read(tmp_path: Path) -> None:
    """A run's name stands in the ledger, which a user may edit: it must not lead to another file."""
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", ("- a",)),), {})
    intent = {"t": "intent", "sha": "a", "path": "/x", "plan": plan_to_json(plan)}
    done = {"t": "done", "sha": "a", "entry": {}}
    plans = tmp_path / "plans"
    (plans / "deep").mkdir(parents=True)
    for name in ("run", ".run", "", "deep/run"):
        (plans / f"{name}.jsonl").write_bytes(encode(intent) + encode(done))
    assert read_plans(plans, "run") == {"a": plan}
    for name in ("", ".run", "deep/run", "../plans/run", f"{plans}/run", "r\0n", "x" * 300, "nothing"):
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

    def frozen() -> str:
        item = Item("files", "n", str(source))
        plan = freeze([item], "talk", "2026-06-12", [str(world.folder)], world.paths, records)
        [planned] = plan.files
        return planned.name.removeprefix("files/")

    first = frozen()
    assert not world.paths.file_ids.exists() and first in records, "a new note needs no rename, so nothing is urgent"
    (world.paths.file_notes / first).write_text(f"# {source}\n\n- n\n")
    assert frozen() == first and not world.paths.file_ids.exists()
    records["9:9.md"] = {"path": "/other", "birth": 1, "size": 1, "head": ""}
    saved = world.folder / "saved"
    saved.write_text("y")
    saved.replace(source)
    second = frozen()
    assert second != first and list(json.loads(world.paths.file_ids.read_bytes())) == [second]
    assert not (world.paths.file_notes / first).exists() and (world.paths.file_notes / second).exists()
    records[second] = records[second] | {"birth": 5, "size": 9, "path": "/stranger"}
    third = frozen()
    assert third == second and set(json.loads(world.paths.file_ids.read_bytes())) == {second, f"{second[:-3]}@5.md"}


def test_every_note_and_a_done_task_alone_come_into_the_plan(world: World) -> None:
    for name in ("a.py", "b.py"):
        (world.folder / name).write_text("x")
    items = [Item("files", f"about {name}", str(world.folder / name)) for name in ("a.py", "b.py")]
    plan = freeze(items, "talk", "2026-06-12", [str(world.folder)], world.paths, {})
    assert [row.all_lines[0].split(" [")[0] for row in plan.files] == ["- about a.py", "- about b.py"]
    [tasks] = freeze([Item("tasks_done", "swept")], "talk", "2026-06-12", [], world.paths, {}).files
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
    """The same words of another conversation, or of the user, have a provenance of their own."""
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


# --- Rare turns of the modules that write: a user would lose the proof that a line is there, or a line itself.

MINE, THEIRS = "- a fact [from: mine, 2026-01-01]", "- another [from: theirs, 2026-01-01]"


def test_lines_that_are_not_there_after_writing_are_no_proof(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate: without the read-back a conversation would be taken away for lines that an editor has just dropped."""
    world.knowledge("facts.md", "# Facts\n")
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", (MINE,)),), {"facts": 1})
    other = FrozenPlan((PlannedFile("questions.md", "# Questions", ("- why?",)),), {"questions": 1})
    world.knowledge("questions.md", "# Questions\n\n- why?\n")
    monkeypatch.setattr("core.harvest.batch.ensure_lines", lambda *_, **__: ((), False))
    wrong, _ = write_together(
        world.paths,
        [("a", plan), ("b", other)],
        known=lambda _: True,
        on_applied=lambda *_: None,
        editor_wait=HURRIED,
    )
    assert {sha: str(error.strerror) for sha, error in wrong.items()} == {
        "a": "1 planned lines are not in the file after writing"
    }


def test_only_what_was_removed_of_this_conversation_stays_away(world: World) -> None:
    """A line that the user removed from another conversation's harvest says nothing about this one's."""
    removed = Change("2026-01-02", "edit-1", "facts.md", removed=(THEIRS, MINE, "- by nobody"))
    world.paths.knowledge.mkdir(parents=True)
    append_changes(world.paths, [removed])
    lines = (MINE, THEIRS.replace("theirs", "mine"))
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", lines),), {"facts": 2})
    [kept] = with_old_dates(world.paths, plan, ["mine"]).files
    assert kept.lines == lines[1:]


def test_a_stream_of_windows_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    assert allowed_path("C:/me/a.py:hidden", ["C:/me"]) is None
    assert allowed_path("C:/me/a.py", ["C:/me"]) == "C:/me/a.py"


def test_an_archive_with_a_move_alone_still_tells_where_the_conversation_was(tmp_path: Path) -> None:
    """A damaged journal may have kept nothing else, and the trash can be put back from that."""
    paths = Paths(tmp_path)
    paths.plans.mkdir(parents=True)
    row = {"t": "reclaimed", "sha": "a" * 64, "path": "/talk", "trash": "a" * 64, "until": "2026-01-01"}
    (paths.plans / "20260101T000000-abcdef.jsonl").write_bytes(encode(row))
    [entry] = rebuild(paths).values()
    assert entry == {"deleted": True, "trash": {"a" * 64: "/talk"}, "trashed_until": "2026-01-01"}


def test_a_place_that_was_let_go_leaves_the_others_held() -> None:
    """Two copies of one conversation were restored: letting the harvest have one must not give it the other."""
    entry = {"restored": ["/a", "/b"]}
    forget_restored(entry, "/a")
    assert entry == {"restored": ["/b"]}
    forget_restored(entry, "/b")
    assert entry == {}


# --- A journal that lost records: what it told of must not be forgotten, and no conversation may become homeless.


def cut(world: World, model: FakeModel) -> None:
    """A run that ends before its records are brought in."""
    with patch.object(Committer, "finish", lambda self: self._journal.close()):
        world.run(model)


def origins(world: World) -> list[str]:
    return sorted(row.path for row in trash_list(workspace_of(world)))


@pytest.mark.parametrize("at", [0, 1, 2, 4, 7])
def test_damage_in_the_middle_is_set_aside_and_told(world: World, at: int) -> None:
    """One flipped bit: the good records behind it are evidence, and every conversation can still be restored."""
    paths = [world.converse("a"), world.converse("b")]
    cut(world, FakeModel())
    lines = world.paths.journal.read_bytes().split(b"\n")
    lines[at] = lines[at][:20] + bytes([lines[at][20] ^ 1]) + lines[at][21:]
    damaged = b"\n".join(lines)
    world.paths.journal.write_bytes(damaged)
    report = world.run(FakeModel())
    (aside,) = world.paths.state.glob("journal.damaged-*")
    assert aside.read_bytes() == damaged and any(aside.name in note for note in report.notes)
    assert origins(world) == sorted(map(str, paths))


def test_a_torn_end_is_no_damage(world: World) -> None:
    world.converse("a")
    cut(world, FakeModel())
    world.paths.journal.write_bytes(world.paths.journal.read_bytes()[:-5])
    report = world.run(FakeModel())
    assert not list(world.paths.state.glob("journal.damaged-*")) and not report.errors


@pytest.mark.parametrize("again", [False, True])
def test_a_move_that_no_record_tells_of_can_be_taken_back(world: World, again: bool) -> None:
    """A power cut keeps the rename and loses the last records, which were not durable yet."""
    if again:
        world.limits(keep=True).run(FakeModel()) if world.converse("a") else None
        path = next(world.paths.conversations.glob("talk-*"))
        cut(world.limits(keep=False), says())
        world.paths.journal.write_bytes(b"")
    else:
        path = world.converse("a")
        cut(world, FakeModel())
        lines = world.paths.journal.read_bytes().split(b"\n")
        world.paths.journal.write_bytes(
            b"\n".join(line for line in lines if b'"moving"' not in line and b'"reclaimed"' not in line)
        )
    assert not Path(path).exists()
    world.run(says())
    assert origins(world) == [str(path)] and world.entry("a")["deleted"]
    trash_restore(workspace_of(world), world.trash()[0].name, editor_wait=HURRIED)
    assert path.read_text() == "a"


# --- nothing stands twice, nothing is lost, wherever the damage is ---------------------------------------------------


def other_words() -> FakeModel:
    """A model that never says a thing in the same words, in whatever process: an item that is harvested twice is seen
    by its kind, and none confirms another."""
    told = f"{os.getpid()}.{next(_ANSWERS)}"
    return FakeModel(
        lambda number, prompt: {
            "facts": [f"The cache is slow {told}.{number}", f"The disk is old {told}.{number}"],
            "decisions": [f"We keep SQLite {told}.{number}"],
            "tasks_open": [f"Write the parser {told}.{number}"],
        }
    )


_ANSWERS = count(1)
KINDS = ("The cache is slow", "The disk is old", "We keep SQLite", "Write the parser")


def standing(world: World) -> list[str]:
    return [line for line in world.bullets() if not line.startswith("- mine")]


def times(world: World, kind: str, name: str) -> int:
    return sum(kind in line and name in line for line in standing(world))


def doubled(world: World, names: list[str]) -> list[str]:
    """Items that stand more than once, by kind and conversation."""
    return [f"{kind} {name}" for kind in KINDS for name in names if times(world, kind, name) > 1]


def whole(world: World, names: list[str]) -> list[str]:
    """Conversations of which each item stands exactly once."""
    return [name for name in names if all(times(world, kind, name) == 1 for kind in KINDS)]


def killed_run(folder: Path, kill: int | None) -> World:
    """A home after a run over two conversations that was killed: at an operation, or before its records came in."""
    world = World(folder)
    folder.mkdir()
    world.knowledge("facts.md", "# Facts\n\n- mine, and not of a model\n")
    world.converse("User: one\n")
    world.converse("User: two\n")
    if kill is None:
        cut(world, other_words())
    else:

        def work() -> None:
            with patch.object(disk, "perform", Counter(Fault(kill, "after"))):
                world.run(other_words())

        in_child(work)
    return world


def damages(data: bytes, stride: int) -> list[tuple[str, bytes]]:
    """A byte flipped, the journal cut off, at every `stride`-th position; and a file of zeros."""
    found = [("zeros", bytes(len(data)))]
    for at in range(0, len(data), stride):
        found.append((f"flip at {at}", data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]))
        found.append((f"cut at {at}", data[:at]))
    breaks = [at + 1 for at, byte in enumerate(data) if byte == 10]
    return found + [(f"cut behind a record, at {at}", data[:at]) for at in breaks]


def judged(world: World, what: str, data: bytes, before: list[str], names: list[str]) -> list[str]:
    """What is wrong after the run that finds the damage, the one after it, and the way that is told."""
    world.paths.journal.write_bytes(data)
    wrong = []
    report = world.run(other_words())
    lost = [line for line in before if line not in standing(world)]
    wrong += [f"{what}: lost {lost}"] if lost else []
    wrong += [f"{what}: twice {twice}"] if (twice := doubled(world, names)) else []
    held = [error for error in report.errors if "nothing stands there twice" in error.message]
    wrong += [f"{what}: {error}" for error in report.errors if error not in held]
    clean = data[-1:] in (b"", b"\n") and what.startswith("cut")  # nobody can see that there was more
    if held and not clean and not list(world.paths.state.glob("journal.damaged-*")):
        wrong.append(f"{what}: the damaged journal is not kept")
    texts = standing(world)
    again = world.run(other_words())
    if standing(world) != texts or again.failed:
        wrong.append(f"{what}: the second run is not quiet: {again.errors}")
    for run in dict.fromkeys(str(entry.get("run")) for entry in world.entries().values() if "unproven" in entry):
        assert isinstance(attempt(undo, workspace_of(world), run, editor_wait=HURRIED), Ok)
    world.run(other_words())
    here = [path.name for path in world.paths.conversations.glob("talk-*")]
    trashed = len(world.trash())
    if len(whole(world, names)) != len(names) or here or trashed != len(names):
        wrong.append(f"{what}: in the end {standing(world)}, {here}, {trashed} in the trash")
    return wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kill", [None, 27, 31, 37, 44])
def test_no_damage_of_the_journal_doubles_or_loses_an_item(tmp_path: Path, kill: int | None) -> None:
    """The model answers in other words each time: whoever asks it again about what stands already has it twice."""
    world = killed_run(tmp_path / "model", kill)
    data, before = world.paths.journal.read_bytes(), standing(world)
    names = [path.name for path in world.paths.conversations.glob("talk-*")]
    names += [str(row.get("path", "")).rsplit("/", 1)[-1] for row in decode(data) if row.get("t") == "intent"]
    names = list(dict.fromkeys(names))
    wrong: list[str] = []
    stride = int(os.environ.get("DAMAGE_STRIDE", "1199"))
    shutil.copytree(world.folder, tmp_path / "as it was")
    for what, bad in damages(data, stride):
        shutil.rmtree(world.folder)
        shutil.copytree(tmp_path / "as it was", world.folder)
        wrong += judged(world, what, bad, before, names)
    assert not wrong, wrong[:5]
