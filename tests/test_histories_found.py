"""What the histories have found, each as a test with a name of its own: the shortest way to it, and what it cost."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk, files
from core.knowledge.journal import Journal
from core.knowledge.leftovers import clear_leftovers
from core.knowledge.swap import replace_expected
from tests.faults.fault import Counter, Fault
from tests.harvest_world import FakeModel, World, never, says
from tests.histories.ground import in_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("at", range(1, 12))
@pytest.mark.parametrize("kind", ["before", "half", "after"])
def test_a_half_written_copy_never_takes_the_place_of_the_file(world: World, at: int, kind: str) -> None:
    """An edit was killed while it wrote its copy, the person made the same edit again, and the next run took the torn
    copy for a text that somebody had saved in the moment of the swap: it put an empty file in place of quarantine.md.
    """
    path = world.knowledge("facts.md", "# Facts\n\n- one\n- two\n")
    old, new = path.read_bytes(), b"# Facts\n\n- one\n"

    def edit() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            replace_expected(path, new, old)

    assert in_child(edit) in (0, -9)
    if path.read_bytes() == old:
        assert replace_expected(path, new, old)
    clear_leftovers(path.parent)
    assert path.read_bytes() == new
    assert [name for name in os.listdir(path.parent) if name != "facts.md" and Path(name).suffix == ".md"] == []


def test_a_line_that_was_moved_after_a_crash_does_not_come_back_in_its_old_place(world: World) -> None:
    """It was written, the run was killed before it could say so, and the person sorted the line into another file: the
    next run wrote it a second time."""
    world.knowledge("decisions.md", "# Decisions\n")
    world.knowledge("facts.md", "# Facts\n\n")
    path = world.converse("a")
    model = says(facts=["first", "second"], questions=["third?"])
    with (
        patch.object(files, "create_atomic", side_effect=KeyboardInterrupt),
        patch.object(Journal, "append", _forgetful),
        pytest.raises(KeyboardInterrupt),
    ):
        world.run(model)
    lines = world.text("facts.md").split("\n")
    world.knowledge("facts.md", "\n".join(lines).replace(f"{lines[2]}\n", ""))
    world.knowledge("decisions.md", f"# Decisions\n\n{lines[2]}\n")
    assert not world.run(FakeModel(never)).errors and not path.exists()
    assert world.bullets().count(lines[2]) == 1 and lines[2] in world.text("decisions.md")
    assert "second" in world.text("facts.md") and "third?" in world.text("questions.md")


_append = Journal.append


def _forgetful(journal: Journal, record: dict[str, Any], *, durable: bool = False) -> None:
    """As if the process had ended between the writing of a file and the record about it."""
    if record["t"] != "applied":
        _append(journal, record, durable=durable)


def test_a_copy_that_its_writer_has_just_put_in_place_is_no_leftover(world: World) -> None:
    """A harvest began in the very moment in which the panel finished an edit: it found the copy of the edit, which was
    gone when it looked closer, and ended with "the knowledge folder cannot be used"."""
    path = world.knowledge("tasks.md", "# Tasks\n")
    hashes = hashlib.sha256(b"old").hexdigest()[:16] + hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    copy = path.with_name(f".tasks.md.{hashes}.{os.getppid()}-1{files.TEMPORARY_MARK}")
    copy.write_text("old")
    with patch("os.kill", lambda pid, signal: copy.unlink()):
        assert clear_leftovers(path.parent) == []
    assert path.read_text() == "# Tasks\n"
