"""Notes while a run is at work: what an edit binds meanwhile, a run must not unbind. Otherwise a person's note and the
harvest's end up in two files, and one of them is shown for no source file at all."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from core.base.result import Ok
from core.harvest.named_paths import Bindings
from core.knowledge.edit import add_bullet
from core.knowledge.file_notes import file_id, merge_records, read_records, still_true
from tests.harvest_world import NOW, FakeModel, World


def note_name(path: Path) -> str:
    found = path.stat()
    return f"{file_id(found.st_dev, found.st_ino)}.md"


def wait_for_a_plan(world: World) -> None:
    """The next conversation is asked about while the first is planned: here the plan comes first."""
    for _ in range(1000):
        if b'"intent"' in (world.paths.journal.read_bytes() if world.paths.journal.exists() else b""):
            return
        time.sleep(0.01)
    raise AssertionError("nothing was planned")


def test_a_note_that_an_edit_binds_during_a_run_gets_the_harvest_too(world: World) -> None:
    """The inode was another file's when the run began; the person's note on the new file was written since."""
    code = world.folder / "code.py"
    code.write_text("pass\n")
    name = note_name(code)
    world.knowledge(f"files/{name}", "# /gone.py\n\n- about a file that is gone\n")
    stranger = {"path": "/gone.py", "birth": 1, "size": 1, "head": ""}
    merge_records(world.paths, {name: stranger})

    def answer(number: int, prompt: str) -> dict[str, Any]:
        assert isinstance(add_bullet(world.paths, "files", "by the person", NOW, path=str(code)), Ok)
        return {"files": [{"path": str(code), "note": "by the model"}]}

    world.converse("a")
    world.run(FakeModel(answer))
    assert "by the person" in world.text(f"files/{name}") and "by the model" in world.text(f"files/{name}")
    assert len(list(world.paths.file_notes.glob("*.md"))) == 2
    assert read_records(world.paths)[name]["path"] == str(code)


def test_what_the_run_itself_has_bound_is_still_known_after_an_edit(world: World) -> None:
    first, second = world.folder / "first.py", world.folder / "second.py"
    for path in (first, second):
        path.write_text(path.name)

    def answer(number: int, prompt: str) -> dict[str, Any]:
        if number == 2:
            wait_for_a_plan(world)
            add_bullet(world.paths, "files", "by the person", NOW, path=str(second))
            os.replace(first, world.folder / "renamed.py")
        path = first if number == 1 else world.folder / "renamed.py"
        return {"files": [{"path": str(path), "note": f"note {number}"}]}

    world.converse("a")
    world.converse("b")
    world.run(FakeModel(answer))
    text = world.text(f"files/{note_name(world.folder / 'renamed.py')}")
    assert "note 1" in text and "note 2" in text
    row = read_records(world.paths)[note_name(world.folder / "renamed.py")]
    assert (row["path"], row["was"]) == (str(world.folder / "renamed.py"), [str(first)])


def test_the_end_of_a_run_does_not_bring_an_old_path_back(world: World) -> None:
    """The person renamed the file and wrote on it after the run had read its name."""
    old, new = world.folder / "old.py", world.folder / "new.py"
    old.write_text("x")

    def answer(number: int, prompt: str) -> dict[str, Any]:
        if number == 1:
            return {"files": [{"path": str(old), "note": "note"}]}
        wait_for_a_plan(world)
        os.replace(old, new)
        add_bullet(world.paths, "files", "by the person", NOW, path=str(new))
        return {}

    world.converse("a")
    world.converse("b")
    world.run(FakeModel(answer))
    assert read_records(world.paths)[note_name(new)]["path"] == str(new)


def test_the_list_is_read_again_only_when_somebody_wrote_it(world: World) -> None:
    """It may hold ten thousand notes, and a run looks at it for each conversation."""
    code = world.folder / "code.py"
    code.write_text("x")
    add_bullet(world.paths, "files", "one", NOW, path=str(code))
    bindings = Bindings(world.paths)
    records = bindings.records
    bindings.refresh()
    assert bindings.records is records
    merge_records(world.paths, {"1:2.md": {"path": "/x", "birth": None, "size": None, "head": ""}})
    bindings.refresh()
    assert set(bindings.records) == {note_name(code), "1:2.md"}


def test_what_waits_to_be_written_is_still_known_after_an_edit(world: World) -> None:
    """Else the second of two conversations about one file forgets the name that the file had in the first."""
    code = world.folder / "code.py"
    code.write_text("x")
    bindings = Bindings(world.paths)
    staged = {note_name(code): {"path": str(code), "birth": None, "size": 1, "head": ""}}
    bindings.stage(staged)
    merge_records(world.paths, {"1:2.md": {"path": "/x", "birth": None, "size": None, "head": ""}})
    bindings.refresh()
    assert set(bindings.records) == {note_name(code), "1:2.md"}
    bindings.add(staged)
    merge_records(world.paths, {"1:3.md": {"path": "/y", "birth": None, "size": None, "head": ""}})
    bindings.refresh()
    assert set(bindings.records) == {"1:2.md", "1:3.md"}, "a note that was written and is gone is forgotten"


def test_rows_of_a_run_win_unless_their_file_has_moved(world: World) -> None:
    here = world.folder / "here.py"
    here.write_text("x")
    gone, there = {"path": "/gone.py", "birth": 1}, {"path": str(here), "birth": 1}
    assert still_true({"n": gone}, {"n": there}) == {"n": there}
    assert still_true({"n": there}, {"n": gone}) == {"n": there}
    assert still_true({"n": gone}, {}) == {"n": gone}


def test_a_name_that_is_another_files_by_now_is_not_taken_back(world: World) -> None:
    """The inode was given to a stranger while the run was at work, and the note was renamed by who saw that."""
    mine = {"1:5.md": {"path": "/a.py", "birth": 1}}
    stranger = {"path": "/b.py", "birth": 9}
    assert still_true(mine, {"1:5.md": stranger}) == {}
    moved = {"path": "/a.py", "birth": 7, "origin": "1:5@1"}
    assert still_true(mine, {"1:5.md": stranger, "1:7.md": moved}) == {}
    assert still_true(mine, {"1:7.md": moved}) == {}
