"""The state machine: any order of harvests, kills, errors, edits, stale saves, clock jumps, undo, restore and purge.

A kill is a process that ends at its n-th change of the disk; an interruption is a user who saves a file, or another
process that runs a command, between two such changes of a running harvest. After every step the home is compared with
what it was (`look.py`); at the end of a history two further runs must bring it to rest.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import takewhile
from unittest.mock import patch

from hypothesis import strategies as st
from hypothesis.stateful import rule

from core.base import disk
from tests.faults.fault import Counter as Faults
from tests.faults.fault import Fault
from tests.harvest_world import FakeModel, sha256, unreachable
from tests.histories.ground import Ground, in_child_whole, only_added
from tests.histories.person import ACTS, FILES

names = st.sampled_from(FILES)
saves = st.sampled_from(("rename", "over"))
places = st.integers(0, 9)
operations = st.integers(1, 60)


class Histories(Ground):
    """One home and everything that happens to it."""

    # --- conversations and the clock ---

    @rule(same=st.booleans())
    def leave_a_conversation(self, same: bool) -> None:
        self._step("conversation")
        number = next(self.talks)
        texts = sorted(path.read_bytes() for path in self._conversations())
        text = texts[0] if same and texts else f"User: talk {number}\n".encode()
        self.world.converse(text, f"talk-00000000-0000-4000-8000-{number:012d}")
        self.left[sha256(text)] += 1

    @rule(at=places)
    def a_conversation_grows(self, at: int) -> None:
        self._step("growing conversation")
        self._grow(at)

    def _grow(self, at: int) -> None:
        talks = self._conversations()
        if talks:
            path = talks[at % len(talks)]
            old = path.read_bytes()
            with path.open("ab") as file:
                file.write(b"\nUser: and more\n")
            self.left[sha256(old)] -= 1
            self.left[sha256(path.read_bytes())] += 1

    @rule(days=st.sampled_from((-10, -1, 1, 15, 40)))
    def the_clock_jumps(self, days: int) -> None:
        self._step("clock back" if days < 0 else "clock on")
        self.world.clock += timedelta(days=days)

    # --- the user ---

    @rule(name=names, act=st.sampled_from(sorted(ACTS)), at=places, how=saves)
    def edits_a_file(self, name: str, act: str, at: int, how: str) -> None:
        self._step(f"editor: {act}")
        self.person.edit(name, act, at, how)

    @rule(name=names)
    def loads_a_file(self, name: str) -> None:
        self._step("editor: load")
        self.person.load(name)

    @rule(name=names, how=saves)
    def saves_a_stale_buffer(self, name: str, how: str) -> None:
        if name in self.person.buffers:
            self._step("editor: stale save")
            self.person.save_buffer(name, how)

    @rule(name=names, other=names, at=places)
    def moves_a_line(self, name: str, other: str, at: int) -> None:
        self._step("editor: move a line")
        self.person.move_line(name, other, at)

    @rule(name=names, gone=st.booleans())
    def takes_a_file_away(self, name: str, gone: bool) -> None:
        self._step("file deleted" if gone else "file renamed")
        if gone:
            (self.world.paths.knowledge / name).unlink(missing_ok=True)
        else:
            self.person.set_aside(name)

    # --- harvests ---

    @rule()
    def harvest(self) -> None:
        self._step("harvest")
        self._harvest(self._model())

    @rule(at=operations, kind=st.sampled_from(("before", "half", "after")))
    def harvest_is_killed(self, at: int, kind: str) -> None:
        self._step("harvest killed")
        self._killed(at, kind, lambda: self.face.harvest(self._model()))

    @rule(at=operations, kind=st.sampled_from(("EIO", "ENOSPC", "EACCES")), forever=st.booleans())
    def harvest_meets_an_error(self, at: int, kind: str, forever: bool) -> None:
        self._step("harvest with an error of the disk")
        before = self._look()
        with patch.object(disk, "perform", Faults(Fault(at, kind, forever))):
            self.face.harvest(self._model())
        self.hurt = True
        self._check(only_added(before, self._look()), resting=False)

    @rule()
    def harvest_without_a_model(self) -> None:
        self._step("harvest, model unreachable")
        self._harvest(FakeModel(unreachable))

    @rule(at=operations, name=names, act=st.sampled_from(sorted(ACTS)), line=places, how=saves)
    def harvest_while_the_person_saves(self, at: int, name: str, act: str, line: int, how: str) -> None:
        self._step("harvest, a save in the middle")
        self._interrupted(at, lambda: self.person.edit(name, act, line, how))

    @rule(at=operations, name=names, how=saves)
    def harvest_while_a_stale_buffer_is_saved(self, at: int, name: str, how: str) -> None:
        self._step("harvest, a stale save in the middle")
        self.person.load(name)
        self._interrupted(at, lambda: self.person.save_buffer(name, how))

    @rule(at=operations, which=places)
    def harvest_while_a_conversation_grows(self, at: int, which: int) -> None:
        self._step("harvest, a conversation grows in the middle")
        self._interrupted(at, lambda: self._grow(which))

    @rule(at=operations, act=st.sampled_from(("add", "harvest", "undo")))
    def harvest_while_another_process_works(self, at: int, act: str) -> None:
        self._step(f"harvest, another process: {act}")

        def other() -> None:
            with patch.object(disk, "perform", lambda name, call, *rest, **named: call(*rest, **named)):
                if act == "add":
                    self.face.knowledge("add", "facts", f"panel-{next(self.numbers)}")
                elif act == "harvest":
                    self.face.harvest(self._model())
                else:
                    known = self.face.listed("undo")
                    self.face.knowledge("undo", known[0]["run"] if known else "none")

        self._interrupted(at, lambda: in_child_whole(other))

    # --- commands ---

    @rule(at=places, kill=st.none() | operations)
    def undo_a_run(self, at: int, kill: int | None) -> None:
        known = self.face.listed("undo")
        if known:
            self._command("undo", kill, "undo", known[at % len(known)]["run"])

    @rule(at=places, kill=st.none() | operations)
    def restore_a_conversation(self, at: int, kill: int | None) -> None:
        held = self.world.trash()
        if held:
            self._command("trash restore", kill, "trash", "restore", held[at % len(held)].name)

    @rule(everything=st.booleans(), kill=st.none() | operations)
    def purge_the_trash(self, everything: bool, kill: int | None) -> None:
        self._command("trash purge", kill, "trash", "purge", *["--all"] * everything)

    @rule(act=st.sampled_from(("yes", "no")), kill=st.none() | operations)
    def settle_what_is_missing(self, act: str, kill: int | None) -> None:
        self._command(f"review vanished {act}", kill, "review", "all", "vanished", f"--{act}")

    @rule(act=st.sampled_from(("add", "edit", "rm", "strike", "done")), at=places, kill=st.none() | operations)
    def edit_a_bullet(self, act: str, at: int, kill: int | None) -> None:
        words = f"panel-{next(self.numbers)}"
        if act == "add":
            self._command("add", kill, "add", "facts", words)
            return
        file = "tasks.md" if act == "done" else "facts.md"
        text = self.person.text(file).decode("utf-8", "replace")
        refs = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.startswith("- ") and line.strip("- \r")]
        if not refs:
            return
        number, line = refs[at % len(refs)]
        details = takewhile(lambda below: below[:1] in (" ", "\t"), text.split("\n")[number:])  # they go with it
        self.touched.update(part for row in (line, *details) for part in row.split() if part.startswith("me-"))
        match = f"{file}:{number}"
        typed = {
            "edit": ("edit", "facts", match, words),
            "rm": ("rm", "facts", match),
            "strike": ("rm", "facts", match, "--strike"),
            "done": ("done", match),
        }
        self._command(act, kill, *typed[act])

    @rule(accept=st.booleans(), at=places, kill=st.none() | operations)
    def judge_a_held_item(self, accept: bool, at: int, kill: int | None) -> None:
        held = self.face.knowledge("review", "--kind", "held").document["waiting"]
        if held:
            act = "yes" if accept else "no"
            self._command(f"review held {act}", kill, "review", act, held[at % len(held)]["id"])
