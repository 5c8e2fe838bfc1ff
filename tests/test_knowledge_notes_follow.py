"""A note follows its source file through renames, saves, moves, harvests and reused inodes, in any order: real
files against a plain model of what a user would expect. What fails here is a note shown for a stranger, or for
nobody."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable
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
from core.base.system import birth_ns
from core.commands.bullets import add, notes
from core.commands.review.waiting import missing_list, settle_missing
from core.knowledge.file_notes import (
    refresh_notes,
)
from tests.faults.fault import Counter, Fault
from tests.harvest_world import HURRIED, FakeModel, World, says, workspace_of
from tests.histories.ground import in_child

pytestmark = pytest.mark.skipif(birth_ns("/") is None and birth_ns(__file__) is None, reason="no birth times here")


# --- the ways that were found ----------------------------------------------------------------------------------------


def teach(world: World, path: Path, text: str) -> None:
    """A harvest that writes one note."""
    world.converse(f"User: {text}\n")
    report = world.run(FakeModel(lambda number, prompt: {"files": [{"path": str(path), "note": text}]}))
    assert not report.errors and not any("vanished" in note for note in report.notes), report


def shown(world: World, path: Path) -> list[str]:
    """The notes that a user sees who asks for a file; facts that name it are none."""
    found = notes(workspace_of(world), str(path))
    return [row.bullet.text for row in found.bullets if row.category == "files"]


def write(path: Path, text: str = "x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def save_atomically(path: Path, text: str = "saved\n") -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text)
    part.replace(path)


def on_the_inode_of(path: Path, new: Path) -> Path:
    """Remove a file and make another on its inode; where the file system gives it another one the test says so."""
    inode = path.stat().st_ino
    new.parent.mkdir(exist_ok=True)
    path.unlink()  # nothing in between: other programs make files, too
    others = [write(new)]
    while others[-1].stat().st_ino != inode and len(others) < 3000:
        others.append(write(new.with_name(f"filler-{len(others)}")))
    if others[-1].stat().st_ino != inode:
        pytest.skip("the file system does not give this inode again")
    if len(others) > 1:
        new.unlink()
        others[-1].rename(new)
    return new


def nothing_is_missing(world: World) -> None:
    report = world.run(says())
    assert not [note for note in report.notes if "vanished" in note], report.notes
    assert missing_list(workspace_of(world), everything=True, now=lambda: world.clock) == []


def test_a_stranger_on_a_reused_inode_gets_nothing_and_nothing_counts_as_vanished(world: World) -> None:
    one = write(world.folder / "src" / "a.py")
    teach(world, one, "about A")
    two = on_the_inode_of(one, world.folder / "src" / "b.py")
    assert shown(world, two) == []
    teach(world, two, "about B")
    nothing_is_missing(world)
    assert shown(world, two) == ["about B"] and shown(world, one) == ["about A"]


def test_lines_that_did_vanish_come_back_into_their_own_note(world: World) -> None:
    one = write(world.folder / "src" / "a.py")
    teach(world, one, "about A")
    two = on_the_inode_of(one, world.folder / "src" / "b.py")
    teach(world, two, "about B")
    note = next(path for path in world.paths.file_notes.iterdir() if "about A" in path.read_text())
    note.unlink()
    workspace, clock = workspace_of(world), lambda: world.clock
    settle_missing(workspace, missing_list(workspace, now=clock), back=True, now=clock, editor_wait=HURRIED)
    assert shown(world, two) == ["about B"] and shown(world, one) == ["about A"]
    nothing_is_missing(world)


def test_two_atomic_saves_that_pass_an_inode_on_leave_each_note_with_its_file(world: World) -> None:
    one, two = write(world.folder / "src" / "a.py"), write(world.folder / "src" / "b.py")
    teach(world, one, "about A")
    teach(world, two, "about B")
    for _ in range(3):
        time.sleep(0.02)
        save_atomically(one)
        time.sleep(0.02)
        save_atomically(two)
        nothing_is_missing(world)
        assert shown(world, one) == ["about A"] and shown(world, two) == ["about B"]


@pytest.mark.parametrize("look", ["harvest", "notes"])
def test_a_rename_that_was_seen_and_then_a_save(world: World, look: str) -> None:
    path, moved = write(world.folder / "src" / "a.py"), world.folder / "src" / "moved.py"
    teach(world, path, "about A")
    path.rename(moved)
    world.run(says()) if look == "harvest" else shown(world, moved)
    save_atomically(moved)
    assert shown(world, moved) == ["about A"]
    moved.rename(world.folder / "src" / "again.py")
    assert shown(world, world.folder / "src" / "again.py") == ["about A"]
    nothing_is_missing(world)


def test_a_note_that_the_person_removed_is_not_missed_under_another_name(world: World) -> None:
    from core.commands.bullets import remove

    path = write(world.folder / "src" / "a.py")
    teach(world, path, "about A")
    save_atomically(path)
    assert shown(world, path) == ["about A"]
    remove(workspace_of(world), "files", "about A")
    nothing_is_missing(world)


@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE, errno.ESTALE])
def test_a_disk_that_stumbles_makes_no_fact_of_a_note(world: World, code: int) -> None:
    """While the file cannot be looked at, the conversation waits."""
    path, honest = write(world.folder / "src" / "a.py"), disk.perform

    def stumbling(name: str, call: Callable[..., Any], *rest: Any, **named: Any) -> Any:
        if name == "open" and str(rest[0]) == str(path):
            raise OSError(code, os.strerror(code), str(path))
        return honest(name, call, *rest, **named)

    talk = world.converse("User: talk\n")
    model = FakeModel(lambda number, prompt: {"files": [{"path": str(path), "note": f"about A {number}"}]})
    with patch.object(disk, "perform", stumbling):
        report = world.run(model)
    assert talk.exists() and world.bullets() == [] and "a.py" in str(report.errors[0]) and report.failed == 1
    assert not world.run(model).errors
    assert shown(world, path) == ["about A 2"] and len(world.bullets()) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("at", "kind"), [(at, ("after", "before", "half")[at % 3]) for at in range(1, 26, 2)])
def test_names_that_pass_from_note_to_note_survive_a_kill(world: World, at: int, kind: str) -> None:
    """The note of a gone file is in the way of another's: two renames, and a crash may come between them."""
    one, two = write(world.folder / "src" / "a.py"), write(world.folder / "src" / "b.py")
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
    """A file as a user thinks of it. `path` is where the program has last seen it, "" for never; `inode` likewise.
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

    # --- what a user does with files ---

    @rule(name=names)
    def create(self, name: str) -> None:
        if name not in self.files:
            time.sleep(0.006)
            self._create(name)

    def _create(self, name: str) -> None:
        write(self.at(name), f"{next(self.numbers)}\n")
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
            save_atomically(self.at(name), f"{next(self.numbers)}\n")
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
            add(workspace_of(self.world), "files", text, file=str(self.at(name)))
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
        assert missing_list(workspace_of(self.world), now=lambda: self.world.clock) == []
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
