"""Lines that an editor swallowed: noticed, told once, put back by the command that is named, or let go."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.commands import bullets
from core.commands.history.trash import trash_purge, trash_restore
from core.commands.review.waiting import missing_list, settle_missing
from core.harvest.proofs import Missing
from core.knowledge.edit import new_edit_run
from tests.cli_call import call
from tests.harvest_world import (
    HURRIED,
    NOW,
    FakeModel,
    World,
    never,
    nobody_waits_for_editors,
    ordinary,
    says,
    taken_back,
    workspace_of,
)


@pytest.fixture(autouse=True)
def _no_editor_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_waits_for_editors(monkeypatch)


ROWS: dict[str, Any] = {"facts": ["one", "two"], "tasks_open": ["open it"], "tasks_done": ["did it"]}


def listed(world: World) -> list[Missing]:
    return missing_list(workspace_of(world), everything=True, now=lambda: world.clock)


def settled(world: World, *, back: bool, single: bool = False) -> str:
    """Of what is asked about, or of an edit by hand as well; the run that takes it back."""
    rows, run = [row for row in listed(world) if single or not row.single], new_edit_run(world.clock)
    settle_missing(workspace_of(world), rows, back=back, run=run, now=lambda: world.clock, editor_wait=HURRIED)
    return run


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
        "4 harvested lines vanished from facts.md and tasks.md; if an editor saved an older text, 'knowledge review "
        "all vanished --yes' puts them back; if you removed them, --no says so"
    ]
    assert world.run(FakeModel(never)).notes == [] and world.trash()
    assert [(row.file, len(row.lines)) for row in listed(world)] == [("facts.md", 2), ("tasks.md", 2)]
    run = settled(world, back=True)
    assert {name: (world.paths.knowledge / name).read_bytes() for name in whole} == whole
    assert listed(world) == []
    taken_back(world, run)
    assert world.text("facts.md") == "# Facts\n\n- mine\n" and len(listed(world)) == 2
    settled(world, back=True)
    assert listed(world) == []  # and the question can be answered once more


def test_lines_that_vanish_a_second_time_are_told_again(world: World) -> None:
    whole = swallowed(world)
    stale = world.text("facts.md")
    assert world.run(FakeModel(never)).notes
    settled(world, back=True)
    assert world.run(FakeModel(never)).notes == []
    world.knowledge("facts.md", stale)
    assert "2 harvested lines vanished from facts.md;" in world.run(FakeModel(never)).notes[0]
    assert whole


def test_what_is_gone_on_purpose_is_never_spoken_of_again(world: World) -> None:
    """A user who empties a file in an editor is not asked for ever, and the trash goes when its time has come."""
    swallowed(world)
    settled(world, back=False)
    assert listed(world) == [] and world.run(FakeModel(never)).notes == []
    world.clock = NOW + timedelta(days=99)
    assert not world.run(FakeModel(never)).errors and not world.trash()
    assert world.text("facts.md") == "# Facts\n\n- mine\n"


def test_a_word_given_too_early_can_be_taken_back(world: World) -> None:
    swallowed(world)
    done = taken_back(world, settled(world, back=False))
    assert any("review --kind vanished" in note for note in done.notes)
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
    assert "review --kind vanished" in purged.errors[0].hint


@pytest.mark.parametrize("act", ["reword", "move", "rm", "undo", "one-of-two"])
def test_what_a_person_does_to_lines_is_not_called_missing(world: World, act: str) -> None:
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
            bullets.remove(workspace_of(world), "facts", text)
    elif act == "undo":
        taken_back(world, report.run)
    else:
        world.knowledge("facts.md", f"# Facts\n\n{lines[1]}\n")
    assert [row for row in listed(world) if not row.single] == []


def test_what_a_stale_text_swallowed_comes_back_whole_and_an_edit_by_hand_is_named(world: World) -> None:
    """Restoring put 15 of 23 lines back and then said that nothing was missing."""
    world.knowledge("facts.md", "# Facts\n")
    for text in ("a", "b"):
        world.converse(text)
    world.run(FakeModel(lambda number, prompt: {"facts": [f"fact {number} {at}" for at in range(4)]}), jobs=1)
    whole = world.text("facts.md")
    world.knowledge("facts.md", "\n".join(whole.split("\n")[:3]) + "\n")  # the heading and two lines of the first
    assert sorted(len(row.lines) for row in listed(world)) == [2, 4] and not any(row.single for row in listed(world))
    settled(world, back=True)
    assert sorted(world.text("facts.md").split("\n")) == sorted(whole.split("\n"))
    world.knowledge("facts.md", whole.replace(whole.split("\n")[3] + "\n", ""))
    settled(world, back=True)
    [single] = listed(world)
    assert single.single
    settled(world, back=True, single=True)
    assert listed(world) == [] and sorted(world.text("facts.md").split("\n")) == sorted(whole.split("\n"))


def test_accepting_lets_go_of_an_edit_by_hand_too(world: World) -> None:
    """Who says that it is as they want it is not asked again."""
    world.knowledge("facts.md", "# Facts\n")
    world.converse("a")
    world.run(says(facts=["one", "two"]))
    world.knowledge("facts.md", "".join(f"{row}\n" for row in world.text("facts.md").split("\n") if "two" not in row))
    [single] = listed(world)
    assert single.single
    settled(world, back=False, single=True)
    assert listed(world) == [] and "two" not in world.text("facts.md")


def test_a_deleted_file_comes_back_with_its_lines(world: World) -> None:
    swallowed(world)
    for name in ("facts.md", "tasks.md"):
        (world.paths.knowledge / name).unlink()
    settled(world, back=True)
    assert world.text("facts.md").startswith("# Facts\n\n- one [from:")
    assert world.text("tasks.md").index("open it") < world.text("tasks.md").index("## Done")


def test_one_harvest_alone_can_be_chosen(world: World) -> None:
    world.knowledge("facts.md", "# Facts\n")
    for text in ("a", "b"):
        world.converse(text)
    world.run(FakeModel(lambda number, prompt: {"facts": [f"fact {number}"]}))
    world.knowledge("facts.md", "# Facts\n")
    first, second = listed(world)
    settle_missing(workspace_of(world), [first], back=True, now=lambda: world.clock, editor_wait=HURRIED)
    assert listed(world) == [second] and world.text("facts.md").count("- ") == 1


def test_a_note_that_vanished_is_missing_too(world: World, tmp_path: Path) -> None:
    code = world.folder / "code.py"
    code.write_text("x")
    world.converse("a")
    world.run(says(files=[{"path": str(code), "note": "slow"}]))
    [note] = world.paths.file_notes.glob("*.md")
    text = note.read_text()
    note.unlink()
    assert [row.file for row in listed(world)] == [f"files/{note.name}"]
    settled(world, back=True)
    assert note.read_text() == text


def test_a_restored_conversation_whose_lines_are_gone_is_still_the_persons(world: World) -> None:
    swallowed(world)
    trash_restore(workspace_of(world), world.trash()[0].name, editor_wait=HURRIED)
    report = world.run(FakeModel(ordinary))
    assert not report.errors and report.reclaimed == 0 and len(report.notes) == 1


@pytest.mark.parametrize("wish", ["", "off", "deleted"])
def test_the_digest_goes_with_the_last_line_and_comes_back_with_it(tmp_path: Path, wish: str) -> None:
    """Taking out the only line and taking that back left every new conversation without the digest, unsaid. Where the
    user did not want it, it stays away."""
    home = ("--home", str(tmp_path / "home"))
    assert call("add", "facts", "The lamp is green", *home)[0] == call("digest", "on", *home)[0] == 0
    digest = tmp_path / "home" / "knowledge" / "digest.md"
    before = digest.read_bytes()
    if wish == "deleted":
        digest.unlink()
    assert call("rm", "facts", "The lamp", *home)[0] == 0 and not digest.exists()
    if wish == "off":
        assert call("digest", "off", *home)[0] == 0
    assert call("undo", json.loads(call("undo", "--json", *home)[1])[0]["run"], *home)[0] == 0
    assert digest.exists() == (not wish)
    assert wish or (digest.read_bytes() == before and "not injected" not in call("status", *home)[1])
