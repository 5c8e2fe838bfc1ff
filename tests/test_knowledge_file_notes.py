"""Notes on source files: bound to the file, wherever it moves."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from core.base import disk
from core.base.markdown import parse_bullets
from core.base.result import Ok
from core.base.system import birth_ns
from core.commands import bullets
from core.commands.bullets import add, notes
from core.commands.bullets import notes as facts_notes_of
from core.commands.missing import missing
from core.knowledge.file_facts import facts_about
from core.knowledge.file_notes import (
    SourceFile,
    apply_binding,
    bind,
    bind_note,
    examine,
    file_id,
    merge_records,
    notes_for,
    read_records,
    refresh_notes,
    write_records,
)
from tests.faults.fault import Counter, Fault
from tests.harvest_world import HURRIED, FakeModel, World, says, workspace_of
from tests.histories.ground import in_child
from tests.made_home import make_home, value, write

# --- notes: A note follows its file through renames and editors' saves, and never goes over to a stranger.


@pytest.fixture
def noted(world: World) -> World:
    """A home with one note on `code.py`."""
    (world.folder / "src").mkdir()
    (world.folder / "src" / "code.py").write_text("first\n")
    note(world, "src/code.py", "about the first")
    return world


def note(world: World, name: str, text: str) -> None:
    world.converse(f"User: {text}\n")
    answer = {"files": [{"path": str(world.folder / name), "note": text}]}
    assert not world.run(FakeModel(lambda number, prompt: answer)).errors


def notes_of(world: World, name: str) -> list[str]:
    found, _ = notes_for(world.paths, str(world.folder / name))
    if found is None:
        return []
    return [line[2:].split(" [from")[0] for line in found.read_text().split("\n") if line.startswith("- ")]


def save_atomically(path: Path, text: str) -> None:
    """What editors do: a new file renamed over the old one, so that its inode changes."""
    new = path.with_name("new.part")
    new.write_text(text)
    new.replace(path)


def test_a_renamed_file_keeps_its_notes(noted: World) -> None:
    (noted.folder / "src" / "code.py").rename(noted.folder / "src" / "moved.py")
    assert notes_of(noted, "src/moved.py") == ["about the first"]
    note(noted, "src/moved.py", "under its new name")
    assert notes_of(noted, "src/moved.py") == ["about the first", "under its new name"]
    assert len(list(noted.paths.file_notes.iterdir())) == 1
    assert notes_of(noted, "src/code.py") == ["about the first", "under its new name"]  # its old name still leads there


def test_an_atomic_save_keeps_the_notes(noted: World) -> None:
    path = noted.folder / "src" / "code.py"
    save_atomically(path, "second\n")
    assert notes_of(noted, "src/code.py") == ["about the first"]
    note(noted, "src/code.py", "after the save")
    assert notes_of(noted, "src/code.py") == ["about the first", "after the save"]
    found = path.stat()
    assert [entry.name for entry in noted.paths.file_notes.iterdir()] == [f"{found.st_dev}:{found.st_ino}.md"]


def test_a_save_that_leaves_a_backup_keeps_the_notes(noted: World) -> None:
    """The old inode lives on as `code.py~`, which is no file that anybody works on."""
    path = noted.folder / "src" / "code.py"
    path.rename(path.with_name("code.py~"))
    path.write_text("second\n")
    assert notes_of(noted, "src/code.py") == ["about the first"]


def test_a_new_file_at_the_old_place_does_not_inherit_while_the_old_one_lives(noted: World) -> None:
    (noted.folder / "src" / "code.py").rename(noted.folder / "old.py")
    (noted.folder / "src" / "code.py").write_text("somebody else\n")
    assert notes_of(noted, "src/code.py") == [] and notes_of(noted, "old.py") == ["about the first"]
    note(noted, "src/code.py", "about the second")
    assert notes_of(noted, "src/code.py") == ["about the second"]
    assert notes_of(noted, "old.py") == ["about the first"]


@pytest.mark.skipif(birth_ns("/") is None and birth_ns(__file__) is None, reason="no birth times on this file system")
def test_a_stranger_on_a_reused_inode_never_inherits(noted: World) -> None:
    path = noted.folder / "src" / "code.py"
    name = f"{file_id(path.stat().st_dev, path.stat().st_ino)}.md"
    records = read_records(noted.paths)
    records[name] |= {"path": "/elsewhere/gone.py", "birth": 12345}  # so it looks after the inode was reused
    write_records(noted.paths, records)
    assert notes_of(noted, "src/code.py") == []
    note(noted, "src/code.py", "about the stranger")
    assert notes_of(noted, "src/code.py") == ["about the stranger"]
    assert (noted.paths.file_notes / f"{name[:-3]}@12345.md").read_text().count("about the first") == 1


def test_two_strangers_in_a_row_lose_nobodys_note(noted: World) -> None:
    """The name for a note that is put aside may be taken already."""
    for number in range(2):
        path = noted.folder / "src" / "code.py"
        name = f"{file_id(path.stat().st_dev, path.stat().st_ino)}.md"
        records = read_records(noted.paths)
        records[name] |= {"path": "/elsewhere/gone.py", "birth": 12345}
        write_records(noted.paths, records)
        note(noted, "src/code.py", f"stranger {number}")
    texts = "".join(entry.read_text() for entry in noted.paths.file_notes.iterdir())
    assert [texts.count(text) for text in ("about the first", "stranger 0", "stranger 1")] == [1, 1, 1]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"1:2.md": 5}', '{"1:2.md": {"path": 5}}'])
def test_lost_records_are_rebuilt_from_the_headers(noted: World, content: str | None) -> None:
    noted.paths.file_ids.unlink()
    if content is not None:
        noted.paths.file_ids.write_text(content)
    assert notes_of(noted, "src/code.py") == ["about the first"]
    save_atomically(noted.folder / "src" / "code.py", "second\n")
    assert notes_of(noted, "src/code.py") == ["about the first"]


def test_a_note_named_in_the_way_of_windows_is_read_too(noted: World) -> None:
    only = next(noted.paths.file_notes.iterdir())
    only.rename(only.with_name(only.name.replace(":", "-")))
    noted.paths.file_ids.unlink()
    assert notes_of(noted, "src/code.py") == ["about the first"]
    note(noted, "src/code.py", "one more")
    assert len(list(noted.paths.file_notes.iterdir())) == 1


def test_a_rename_that_a_crash_interrupted_is_taken_up(noted: World) -> None:
    path = noted.folder / "src" / "code.py"
    save_atomically(path, "second\n")
    records = read_records(noted.paths)
    binding = bind(examine(str(path)), records)
    assert binding.move
    (noted.paths.file_notes / binding.move).rename(noted.paths.file_notes / binding.note)  # and no record of it
    assert notes_of(noted, "src/code.py") == ["about the first"]
    apply_binding(noted.paths, binding, records)
    apply_binding(noted.paths, binding, records)
    assert records[binding.note]["path"] == str(path)


def test_the_content_of_a_file_that_a_model_named_is_not_read(world: World) -> None:
    path = world.folder / "unreadable"
    path.write_text("x")
    before = path.stat().st_atime_ns
    found = examine(str(path), read_head=False)
    assert found.head == "" and path.stat().st_atime_ns == before
    with pytest.raises(OSError):
        (world.folder / "link").symlink_to(path)
        examine(str(world.folder / "link"), read_head=False)


def test_records_to_the_byte(noted: World) -> None:
    path = noted.folder / "src" / "code.py"
    name = f"{path.stat().st_dev}:{path.stat().st_ino}.md"
    row = {"birth": birth_ns(path), "head": "", "path": str(path), "size": 6}
    assert noted.paths.file_ids.read_text() == json.dumps({name: row}, indent=1) + "\n"
    assert os.stat(noted.paths.state).st_mode & 0o777 == 0o700


def test_a_note_that_the_panel_binds_during_a_run_keeps_its_row(noted: World) -> None:
    """The run remembers the rows from its start; writing those back would make the other note homeless."""
    at_start = read_records(noted.paths)
    other = noted.folder / "other.py"
    other.write_text("pass\n")
    bound = bind_note(noted.paths, examine(str(other)))
    old = next(iter(at_start))
    new_row = {**at_start[old], "size": 99}
    merge_records(noted.paths, {"1:2.md": new_row}, [old])
    rows = json.loads(noted.paths.file_ids.read_text())
    assert set(rows) >= {"1:2.md", bound.note} and rows["1:2.md"] == new_row


def test_two_that_bind_notes_at_once_lose_no_row(noted: World) -> None:
    sources = [noted.folder / f"source-{number}.py" for number in range(12)]
    for source in sources:
        source.write_text("pass\n")
    with ThreadPoolExecutor(4) as pool:
        bound = list(pool.map(lambda source: bind_note(noted.paths, examine(str(source))).note, sources))
    assert set(bound) <= set(json.loads(noted.paths.file_ids.read_text()))


def test_a_row_that_knows_only_another_path_is_another_file() -> None:
    """Rebuilt from a header, it would else give its note to any stranger on a reused inode."""
    stranger = SourceFile("/here/new.py", "5:6", 123, 10, "aa")
    rebuilt = {"5:6.md": {"path": "/there/old.py", "birth": None, "size": None, "head": ""}}
    assert bind(stranger, rebuilt).aside is not None
    assert bind(SourceFile("/there/old.py", "5:6", 123, 10, "aa"), rebuilt).aside is None


# --- facts: Notes on files that were on another computer became facts. If these fail, they are lost to whoever asks
# about the file, or a stranger's file of the same name speaks for it.

ALEX = {"talk": frozenset({"/Users/alex/code/cli"}), "other": frozenset({"/srv/shop"})}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a repository called `cli`."""
    (tmp_path / "cli" / ".git").mkdir(parents=True)
    (tmp_path / "cli" / "cmd" / "log").mkdir(parents=True)
    return tmp_path / "cli"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("- {clone}/cmd/log/logger.go: rotates [from: x, 2026-01-01]", True),
        ("- /Users/alex/code/cli/.worktrees/1/cmd/log/logger.go: rotates [from: x, 2026-01-01]", True),
        ("- C:\\src\\cli\\cmd\\log\\logger.go: rotates", True),
        ("- ~/cli/cmd/log/logger.go: rotates", True),
        ("- cmd/log/logger.go: rotates [from: talk, 2026-01-01]", True),
        ("- cli/cmd/log/logger.go: rotates [from: talk, 2026-01-01]", True),
        ("- cmd/log/logger.go: rotates [from: nobody knows where, 2026-01-01]", True),
        ("- cmd/log/logger.go: rotates [from: other, 2026-01-01]", False),
        ("- /Users/alex/code/shop/cmd/log/logger.go: rotates", False),
        ("- logger.go: rotates [from: talk, 2026-01-01]", False),
        ("- cmd/log/logger.go.bak: rotates [from: talk, 2026-01-01]", False),
        ("- The file cmd/log/logger.go rotates [from: talk, 2026-01-01]", False),
        ("- ~~cmd/log/logger.go: rotates~~ [from: talk, 2026-01-01]", False),
    ],
)
def test_which_facts_speak_of_a_file(clone: Path, line: str, told: bool) -> None:
    found = parse_bullets(line.replace("{clone}", str(clone)) + "\n")
    assert len(found) == 1
    assert bool(facts_about(found, str(clone / "cmd" / "log" / "logger.go"), ALEX)) is told


def test_a_work_tree_is_the_repository_that_it_belongs_to(clone: Path) -> None:
    """Whoever lets agents work in work trees asks about their files there."""
    tree = clone / ".worktrees" / "7"
    (tree / "cmd").mkdir(parents=True)
    (tree / ".git").write_text("gitdir: ../../.git/worktrees/7\n")
    rows = parse_bullets("- cmd/run.go: slow [from: talk, 2026-01-01]\n- /Users/alex/code/cli/cmd/run.go: fast\n")
    assert len(facts_about(rows, str(tree / "cmd" / "run.go"), ALEX)) == 2


def test_a_file_at_the_top_is_not_every_file_of_its_name(clone: Path) -> None:
    rows = parse_bullets(
        "- README.md: ours [from: talk, 2026-01-01]\n- README.md: whose [from: nobody, 2026-01-01]\n"
        "- README.md: theirs [from: other, 2026-01-01]\n- /Users/alex/code/cli/README.md: ours too\n"
        "- /Users/alex/cli/deep/README.md: a deep one\n"
    )
    found = facts_about(rows, str(clone / "README.md"), ALEX)
    assert [row.text.partition(": ")[2] for row in found] == ["ours", "ours too"]


def test_outside_of_a_repository_only_the_very_path_counts(tmp_path: Path) -> None:
    rows = parse_bullets(f"- {tmp_path}/a/b.py: this one\n- a/b.py: whose\n")
    assert [row.line for row in facts_about(rows, str(tmp_path / "a" / "b.py"), {})] == [1]


def test_asked_about_a_file_they_stand_behind_its_notes(tmp_path: Path, clone: Path) -> None:
    workspace = make_home(tmp_path)
    source = clone / "cmd" / "log" / "logger.go"
    source.write_text("package log\n")
    write(workspace, "facts.md", "# Facts\n\n- cmd/log/logger.go: rotates at midnight\n")
    alone = value(facts_notes_of(workspace, str(source)))
    assert [(row.file, row.bullet.text) for row in alone.bullets] == [
        ("facts.md", "cmd/log/logger.go: rotates at midnight")
    ]
    value(bullets.add(workspace, "files", "Needs a lock", file=str(source)))
    both = value(facts_notes_of(workspace, str(source)))
    assert [row.bullet.text for row in both.bullets] == ["Needs a lock", "cmd/log/logger.go: rotates at midnight"]


# --- follow: A note follows its source file through renames, saves, moves, harvests and reused inodes, in any order:
# real files against a plain model of what a person would expect. What fails here is a note shown for a stranger, or
# for nobody.

needs_births = pytest.mark.skipif(birth_ns("/") is None and birth_ns(__file__) is None, reason="no birth times here")


# --- the ways that were found ----------------------------------------------------------------------------------------


def teach(world: World, path: Path, text: str) -> None:
    """A harvest that writes one note."""
    world.converse(f"User: {text}\n")
    report = world.run(FakeModel(lambda number, prompt: {"files": [{"path": str(path), "note": text}]}))
    assert not report.errors and not any("vanished" in note for note in report.notes), report


def shown(world: World, path: Path) -> list[str]:
    """The notes that a person sees who asks for a file; facts that name it are none."""
    found = notes(workspace_of(world), str(path))
    assert isinstance(found, Ok)
    return [row.bullet.text for row in found.value.bullets if row.category == "files"]


def follow_write(path: Path, text: str = "x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def follow_save_atomically(path: Path, text: str = "saved\n") -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    part.replace(path)


def on_the_inode_of(path: Path, new: Path) -> Path:
    """Remove a file and make another on its inode; where the file system gives it another one the test says so."""
    inode = path.stat().st_ino
    new.parent.mkdir(exist_ok=True)
    path.unlink()  # nothing in between: other programs make files, too
    others = [follow_write(new)]
    while others[-1].stat().st_ino != inode and len(others) < 3000:
        others.append(follow_write(new.with_name(f"filler-{len(others)}")))
    if others[-1].stat().st_ino != inode:
        pytest.skip("the file system does not give this inode again")
    if len(others) > 1:
        new.unlink()
        others[-1].rename(new)
    return new


def nothing_is_missing(world: World) -> None:
    report = world.run(says())
    assert not [note for note in report.notes if "vanished" in note], report.notes
    listed = missing(workspace_of(world), now=lambda: world.clock)
    assert isinstance(listed, Ok) and listed.value == []


@needs_births
def test_a_stranger_on_a_reused_inode_gets_nothing_and_nothing_counts_as_vanished(world: World) -> None:
    one = follow_write(world.folder / "src" / "a.py")
    teach(world, one, "about A")
    two = on_the_inode_of(one, world.folder / "src" / "b.py")
    assert shown(world, two) == []
    teach(world, two, "about B")
    nothing_is_missing(world)
    assert shown(world, two) == ["about B"] and shown(world, one) == ["about A"]


@needs_births
def test_lines_that_did_vanish_come_back_into_their_own_note(world: World) -> None:
    one = follow_write(world.folder / "src" / "a.py")
    teach(world, one, "about A")
    two = on_the_inode_of(one, world.folder / "src" / "b.py")
    teach(world, two, "about B")
    note = next(path for path in world.paths.file_notes.iterdir() if "about A" in path.read_text())
    note.unlink()
    back = missing(workspace_of(world), "restore", now=lambda: world.clock, editor_wait=HURRIED)
    assert isinstance(back, Ok)
    assert shown(world, two) == ["about B"] and shown(world, one) == ["about A"]
    nothing_is_missing(world)


@needs_births
def test_two_atomic_saves_that_pass_an_inode_on_leave_each_note_with_its_file(world: World) -> None:
    one, two = follow_write(world.folder / "src" / "a.py"), follow_write(world.folder / "src" / "b.py")
    teach(world, one, "about A")
    teach(world, two, "about B")
    for _ in range(3):
        time.sleep(0.02)
        follow_save_atomically(one)
        time.sleep(0.02)
        follow_save_atomically(two)
        nothing_is_missing(world)
        assert shown(world, one) == ["about A"] and shown(world, two) == ["about B"]


@needs_births
@pytest.mark.parametrize("look", ["harvest", "notes"])
def test_a_rename_that_was_seen_and_then_a_save(world: World, look: str) -> None:
    path, moved = follow_write(world.folder / "src" / "a.py"), world.folder / "src" / "moved.py"
    teach(world, path, "about A")
    path.rename(moved)
    world.run(says()) if look == "harvest" else shown(world, moved)
    follow_save_atomically(moved)
    assert shown(world, moved) == ["about A"]
    moved.rename(world.folder / "src" / "again.py")
    assert shown(world, world.folder / "src" / "again.py") == ["about A"]
    nothing_is_missing(world)


@needs_births
def test_two_saves_that_come_back_to_the_first_inode(world: World) -> None:
    path = follow_write(world.folder / "src" / "a.py")
    teach(world, path, "about A")
    first = path.stat().st_ino
    for _ in range(50):
        time.sleep(0.02)
        follow_save_atomically(path)
        if path.stat().st_ino == first:
            break
    assert shown(world, path) == ["about A"]


@needs_births
def test_a_note_that_the_person_removed_is_not_missed_under_another_name(world: World) -> None:
    from core.commands.bullets import remove

    path = follow_write(world.folder / "src" / "a.py")
    teach(world, path, "about A")
    follow_save_atomically(path)
    assert shown(world, path) == ["about A"]
    gone = remove(workspace_of(world), "files", "about A")
    assert isinstance(gone, Ok), gone
    nothing_is_missing(world)


@needs_births
@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.ESTALE])
@pytest.mark.parametrize("times", [1, 10_000])
def test_a_disk_that_stumbles_makes_no_fact_of_a_note(world: World, code: int, times: int) -> None:
    """Looked at once more the file is there; and while it cannot be looked at, the conversation waits."""
    path, honest, left = follow_write(world.folder / "src" / "a.py"), disk.perform, [times]

    def stumbling(name: str, call: Callable[..., Any], *rest: Any, **named: Any) -> Any:
        if name == "open" and str(rest[0]) == str(path) and left[0]:
            left[0] -= 1
            raise OSError(code, os.strerror(code), str(path))
        return honest(name, call, *rest, **named)

    talk = world.converse("User: talk\n")
    model = FakeModel(lambda number, prompt: {"files": [{"path": str(path), "note": f"about A {number}"}]})
    with patch.object(disk, "perform", stumbling):
        report = world.run(model)
    if times == 1:
        assert not report.errors and shown(world, path) == ["about A 1"]
        return
    assert talk.exists() and world.bullets() == [] and "a.py" in str(report.errors[0]) and report.failed == 1
    assert not world.run(model).errors
    assert shown(world, path) == ["about A 2"] and len(world.bullets()) == 1


@needs_births
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", ["before", "half", "after"])
@pytest.mark.parametrize("at", range(1, 26, 2))
def test_names_that_pass_from_note_to_note_survive_a_kill(world: World, at: int, kind: str) -> None:
    """The note of a gone file is in the way of another's: two renames, and a crash may come between them."""
    one, two = follow_write(world.folder / "src" / "a.py"), follow_write(world.folder / "src" / "b.py")
    teach(world, one, "about A")
    teach(world, two, "about B")
    time.sleep(0.02)
    on_the_inode_of(one, world.folder / "src" / "part").replace(two)

    def save() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            refresh_notes(world.paths)

    assert in_child(save) in (0, -9)
    assert shown(world, two) == ["about B"] and shown(world, one) == ["about A"]
    nothing_is_missing(world)
    assert sorted(line[2:].split(" [from")[0] for line in world.bullets()) == ["about A", "about B"]


# --- any order -------------------------------------------------------------------------------------------------------

NAMES = ("a.py", "b.py", "c.py", "sub/d.py", "sub/e.py")
names, words = st.sampled_from(NAMES), st.integers(0, 10**6)


@dataclass
class Source:
    """A file as a person thinks of it. `path` is where the program has last seen it, "" for never; `inode` likewise.
    `lost` says that it changed both its name and its inode between two looks, or left while another came: then nobody
    can tell any more, and its notes may be shown for it or not, but must still be there."""

    notes: list[str] = field(default_factory=list)
    seen: tuple[str, int] | None = None
    lost: bool = False


class Notes(RuleBasedStateMachine):
    """Source files in one folder of a repository, and a home whose notes are about them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="notes-"))
        self.world = World(self.folder)
        self.root = self.folder / "src"
        self.files: dict[str, Source] = {}
        self.shaky: set[str] = set()  # names at which a file was followed by another between two looks
        self.texts: set[str] = set()
        self.numbers = count(1)
        for name in NAMES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def at(self, name: str) -> Path:
        return self.root / name

    def inode(self, name: str) -> int:
        return self.at(name).stat().st_ino

    def _looked(self) -> None:
        """The program has looked at everything: it knows names and inodes as they are."""
        for name, source in self.files.items():
            if source.notes and not source.lost:
                source.seen = (name, self.inode(name))
        self.shaky.clear()

    def _check_chain(self, name: str) -> None:
        source = self.files[name]
        if source.seen is not None and source.seen[0] != name and source.seen[1] != self.inode(name):
            source.lost = True

    # --- what a person does with files ---

    @rule(name=names)
    def create(self, name: str) -> None:
        if name not in self.files:
            time.sleep(0.006)
            self._create(name)

    def _create(self, name: str) -> None:
        follow_write(self.at(name), f"{next(self.numbers)}\n")
        self.files[name] = Source()
        if self._of_name(
            name
        ):  # the same name again: the program takes it for the file that was there, as after a checkout
            self.shaky.add(name)

    def _of_name(self, name: str) -> list[Source]:
        """Files that were seen under a name and are not there now, nor anywhere else with the inode they had."""
        gone = [source for source in self.dead if source.seen is not None and source.seen[0] == name]
        for now, source in self.files.items():
            if now != name and source.seen is not None and source.seen[0] == name and source.seen[1] != self.inode(now):
                gone.append(source)
        return gone

    @property
    def dead(self) -> list[Source]:
        return self.__dict__.setdefault("_dead", [])

    @rule(name=names)
    def edit_in_place(self, name: str) -> None:
        if name in self.files:
            with self.at(name).open("a") as file:
                file.write("more\n")

    @rule(name=names)
    def save(self, name: str) -> None:
        if name in self.files:
            time.sleep(0.006)
            follow_save_atomically(self.at(name), f"{next(self.numbers)}\n")
            self._check_chain(name)

    @rule(name=names, other=names)
    def rename(self, name: str, other: str) -> None:
        if name in self.files and other not in self.files:
            self.at(name).rename(self.at(other))
            self.files[other] = self.files.pop(name)
            if self._of_name(other):
                self.shaky.add(other)
            self._check_chain(other)

    @rule(name=names)
    def delete(self, name: str) -> None:
        if name in self.files:
            self.at(name).unlink()
            source = self.files.pop(name)
            if source.notes:
                self.dead.append(source)

    @rule(name=names, other=names)
    def copy(self, name: str, other: str) -> None:
        if name in self.files and other not in self.files:
            time.sleep(0.006)
            shutil.copy(self.at(name), self.at(other))
            self.files[other] = Source()
            if self._of_name(other):
                self.shaky.add(other)

    @rule(name=names, data=words)
    def reuse_an_inode(self, name: str, data: int) -> None:
        """A file goes, and the next one gets its inode (ext4 and tmpfs do so at once)."""
        free = [other for other in NAMES if other not in self.files]
        if name in self.files and free:
            time.sleep(0.006)  # the birth of a file is told to a few thousandths of a second
            self.delete(name)
            self._create(free[data % len(free)])

    @rule(name=names, data=words)
    def another_takes_the_old_name(self, name: str, data: int) -> None:
        free = [other for other in NAMES if other not in self.files]
        if name in self.files and free:
            self.rename(name, free[data % len(free)])
            self.create(name)
            self.asks_for_notes(name)

    @rule(name=names)
    def hard_link_for_a_moment(self, name: str) -> None:
        """What a backup does: a second name, and the file is looked at while it is there."""
        if name in self.files:
            second = self.root / "backup" / "kept"
            second.parent.mkdir(exist_ok=True)
            os.link(self.at(name), second)
            expected = self.files[name]
            if not expected.lost and name not in self.shaky:
                assert shown(self.world, self.at(name)) == expected.notes
                self._looked()
            second.unlink()

    # --- what the program does ---

    @rule(name=names)
    def harvest_gives_a_note(self, name: str) -> None:
        if name in self.files and not self._unclear(name):
            text = f"note {next(self.numbers)}"
            teach(self.world, self.at(name), text)
            self.texts.add(text)
            self.files[name].notes.append(text)
            self._looked()

    @rule(name=names)
    def person_writes_a_note(self, name: str) -> None:
        if name in self.files and not self._unclear(name):
            text = f"note {next(self.numbers)}"
            assert isinstance(add(workspace_of(self.world), "files", text, file=str(self.at(name))), Ok)
            self.texts.add(text)
            self.files[name].notes.append(text)
            self.files[name].seen = (name, self.inode(name))

    @rule()
    def harvest_gives_nothing(self) -> None:
        self.world.converse(f"User: nothing {next(self.numbers)}\n")
        report = self.world.run(says())
        assert not report.errors and not [note for note in report.notes if "vanished" in note], report.notes
        self._settle_shaky()
        self._looked()

    @rule()
    def restore_what_is_missing(self) -> None:
        back = missing(workspace_of(self.world), "restore", now=lambda: self.world.clock, editor_wait=HURRIED)
        assert isinstance(back, Ok) and not back.value.rows, back  # type: ignore[union-attr]
        self._settle_shaky()
        self._looked()

    @rule(name=names)
    def asks_for_notes(self, name: str) -> None:
        if name in self.files and not self._unclear(name):
            assert shown(self.world, self.at(name)) == self.files[name].notes
            self._settle_shaky()
            self._looked()

    def _unclear(self, name: str) -> bool:
        return self.files[name].lost or name in self.shaky

    def _settle_shaky(self) -> None:
        """What nobody can tell, the program has decided: the model takes over what it shows."""
        for name in [*self.shaky, *(name for name, source in self.files.items() if source.lost)]:
            if name in self.files:
                source = self.files[name]
                theirs = [text for other in self.files.values() if other is not source for text in other.notes]
                source.notes = shown(self.world, self.at(name))
                assert not set(source.notes) & set(theirs) or source.lost or name in self.shaky
                source.lost, source.seen = False, (name, self.inode(name)) if source.notes else None

    # --- what must hold ---

    @invariant()
    def no_line_is_lost_and_each_stands_once(self) -> None:
        standing = [line[2:].split(" [from")[0] for line in self.world.bullets()] if self.texts else []
        assert sorted(standing) == sorted(self.texts)


Notes.TestCase.settings = settings(
    max_examples=int(os.environ.get("NOTES_EXAMPLES", "25")),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestNotesFollow = Notes.TestCase
