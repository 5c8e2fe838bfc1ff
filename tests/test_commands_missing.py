"""Lines that an editor swallowed: noticed, told once, put back by the command that is named, or let go for good."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.base.result import Ok, Result
from core.cli.history import missing_text, settled_text
from core.commands.missing import Settled, missing
from core.commands.trash import trash_purge, trash_restore
from core.commands.undo import undo
from core.harvest.proofs import Missing
from tests.harvest_world import HURRIED, NOW, FakeModel, World, never, ordinary, says, workspace_of

ROWS: dict[str, Any] = {"facts": ["one", "two"], "tasks_open": ["open it"], "tasks_done": ["did it"]}


def listed(world: World) -> list[Missing]:
    found = missing(workspace_of(world), now=lambda: world.clock)
    assert isinstance(found, Ok) and isinstance(found.value, list)
    return found.value


def settled(world: World, action: str, which: str = "") -> Result[Any]:
    return missing(workspace_of(world), action, which, now=lambda: world.clock, editor_wait=HURRIED)


def swallowed(world: World) -> dict[str, bytes]:
    """A harvest, and then an editor that saves what it had loaded before it; the files as the harvest left them."""
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- buy milk\n\n## Done\n\n- slept\n")
    stale = {name: (world.paths.knowledge / name).read_bytes() for name in ("facts.md", "tasks.md")}
    world.converse("a")
    world.run(FakeModel(lambda number, prompt: ROWS))
    whole = {name: (world.paths.knowledge / name).read_bytes() for name in stale}
    for name, data in stale.items():
        world.knowledge(name, data)
    return whole


def test_the_next_run_says_so_once_and_the_named_command_puts_everything_back(world: World) -> None:
    whole = swallowed(world)
    report = world.run(FakeModel(never))
    assert report.notes == [
        "4 harvested lines vanished from facts.md and tasks.md; if an editor saved an older text, 'knowledge missing "
        "restore' puts them back; if you removed them, 'knowledge missing accept' says so"
    ]
    assert world.run(FakeModel(never)).notes == [] and world.trash()
    assert [(row.file, len(row.lines)) for row in listed(world)] == [("facts.md", 2), ("tasks.md", 2)]
    assert "4 lines missing" in missing_text(listed(world)) and "    - one [from:" in missing_text(listed(world))
    back = settled(world, "restore")
    assert isinstance(back, Ok) and "4 lines put back" in settled_text(back.value)
    assert {name: (world.paths.knowledge / name).read_bytes() for name in whole} == whole
    assert listed(world) == [] and missing_text([]) == "nothing is missing\n"
    assert isinstance(undo(workspace_of(world), back.value.run, editor_wait=HURRIED), Ok)
    assert world.text("facts.md") == "# Facts\n\n- mine\n" and listed(world) == []  # taken out on purpose now


def test_lines_that_vanish_a_second_time_are_told_again(world: World) -> None:
    whole = swallowed(world)
    stale = world.text("facts.md")
    assert world.run(FakeModel(never)).notes
    settled(world, "restore")
    assert world.run(FakeModel(never)).notes == []
    world.knowledge("facts.md", stale)
    assert "2 harvested lines vanished from facts.md;" in world.run(FakeModel(never)).notes[0]
    assert whole


def test_what_is_gone_on_purpose_is_never_spoken_of_again(world: World) -> None:
    """A person who empties a file in an editor is not asked for ever, and the trash goes when its time has come."""
    swallowed(world)
    gone = settled(world, "accept")
    assert isinstance(gone, Ok) and isinstance(gone.value, Settled) and "gone on purpose" in settled_text(gone.value)
    assert listed(world) == [] and world.run(FakeModel(never)).notes == []
    world.clock = NOW + timedelta(days=99)
    assert not world.run(FakeModel(never)).errors and not world.trash()
    assert world.text("facts.md") == "# Facts\n\n- mine\n"


def test_a_word_given_too_early_can_be_taken_back(world: World) -> None:
    swallowed(world)
    gone = settled(world, "accept")
    assert isinstance(gone, Ok)
    done = undo(workspace_of(world), gone.value.run, editor_wait=HURRIED)
    assert isinstance(done, Ok) and any("missing restore" in note for note in done.value.notes)
    assert len(listed(world)) == 2 and world.text("facts.md") == "# Facts\n\n- mine\n"


def test_one_deleted_bullet_is_told_once_and_its_conversation_stays_in_the_trash(world: World) -> None:
    """The trash copy of a one-line harvest whose line was deleted in an editor cost a sentence with every run."""
    world.converse("a")
    world.run(says(facts=["only this"]))
    world.knowledge("facts.md", "# Facts\n")
    assert len(world.run(FakeModel(never)).notes) == 1
    world.clock = NOW + timedelta(days=99)
    quiet = world.run(FakeModel(never))
    assert not quiet.notes and not quiet.errors and len(world.trash()) == 1
    purged = trash_purge(workspace_of(world), now=lambda: world.clock, editor_wait=HURRIED)
    assert isinstance(purged, Ok) and "missing accept" in purged.value.errors[0].hint


@pytest.mark.parametrize("act", ["reword", "move", "rm", "undo", "one-of-two"])
def test_what_a_person_does_to_lines_is_not_called_missing(world: World, act: str) -> None:
    from core.commands import bullets

    world.converse("a")
    report = world.run(says(facts=["one", "two"]))
    lines = world.text("facts.md").split("\n")[2:4]
    if act == "reword":
        world.knowledge("facts.md", "# Facts\n\n" + lines[0].replace("one", "number one") + "\n")
    elif act == "move":
        world.knowledge("facts.md", "# Facts\n")
        world.knowledge("decisions.md", "\n".join(["# Decisions", "", *lines, ""]))
    elif act == "rm":
        for text in ("one", "two"):
            assert isinstance(bullets.remove(workspace_of(world), "facts", text), Ok)
    elif act == "undo":
        assert isinstance(undo(workspace_of(world), report.run, editor_wait=HURRIED), Ok)
    else:
        world.knowledge("facts.md", f"# Facts\n\n{lines[1]}\n")
    assert listed(world) == []


def test_a_deleted_file_comes_back_with_its_lines(world: World) -> None:
    swallowed(world)
    for name in ("facts.md", "tasks.md"):
        (world.paths.knowledge / name).unlink()
    assert isinstance(settled(world, "restore"), Ok)
    assert world.text("facts.md").startswith("# Facts\n\n- one [from:")
    assert world.text("tasks.md").index("open it") < world.text("tasks.md").index("## Done")


def test_one_harvest_alone_can_be_chosen(world: World) -> None:
    world.knowledge("facts.md", "# Facts\n")
    for text in ("a", "b"):
        world.converse(text)
    report = world.run(FakeModel(lambda number, prompt: {"facts": [f"fact {number}"]}))
    world.knowledge("facts.md", "# Facts\n")
    first, second = listed(world)
    assert isinstance(settled(world, "restore", first.sha256[:8]), Ok)
    assert listed(world) == [second] and world.text("facts.md").count("- ") == 1
    assert isinstance(settled(world, "restore", report.run), Ok) and listed(world) == []
    nothing = settled(world, "restore", "ffff")
    assert not isinstance(nothing, Ok) and nothing.error.code == "nothing-missing"


def test_a_note_that_vanished_is_missing_too(world: World, tmp_path: Path) -> None:
    code = world.folder / "code.py"
    code.write_text("x")
    world.converse("a")
    world.run(says(files=[{"path": str(code), "note": "slow"}]))
    [note] = world.paths.file_notes.glob("*.md")
    text = note.read_text()
    note.unlink()
    assert [row.file for row in listed(world)] == [f"files/{note.name}"]
    settled(world, "restore")
    assert note.read_text() == text


def test_a_restored_conversation_whose_lines_are_gone_is_still_the_persons(world: World) -> None:
    swallowed(world)
    trash_restore(workspace_of(world), world.trash()[0].name, editor_wait=HURRIED)
    report = world.run(FakeModel(ordinary))
    assert not report.errors and report.reclaimed == 0 and len(report.notes) == 1
