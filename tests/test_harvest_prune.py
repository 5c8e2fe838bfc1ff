"""What goes for good and what stays in the trash: the last moment at which a conversation can be kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from core.base.result import Ok
from core.commands import bullets
from core.commands.trash import trash_list, trash_purge, trash_restore
from core.commands.workspace import open_workspace
from core.knowledge.changes import Change, append_changes
from tests.facts_home import value
from tests.harvest_world import HURRIED, NOW, FakeModel, World, never, says, sha256, workspace_of

Purge = Callable[[World], "list[str]"]


def by_a_run(world: World) -> list[str]:
    """The purge at the end of a harvest; returns the sentences of what it refused."""
    report = world.run(FakeModel(never))
    return [*(error.message for error in report.errors), *(note for note in report.notes if "trash keeps" in note)]


def by_hand(world: World) -> list[str]:
    """`knowledge trash purge`."""
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok)
    purged = trash_purge(workspace.value, now=lambda: world.clock, editor_wait=HURRIED)
    assert isinstance(purged, Ok)
    return [error.message for error in purged.value.errors]


@pytest.fixture(params=[by_a_run, by_hand])
def purge(request: pytest.FixtureRequest) -> Purge:
    chosen: Purge = request.param
    return chosen


def harvested(world: World, **rows: list[str]) -> Path:
    """A conversation whose harvest is done and whose grace period is over."""
    path = world.converse("User: hello\n")
    world.run(says(**(rows or {"facts": ["one", "two"], "decisions": ["three"]})))
    assert not path.exists()
    world.clock = NOW + timedelta(days=30)
    return path


def lines_of(world: World, name: str) -> list[str]:
    return [line for line in world.text(name).split("\n") if line.startswith("- ")]


def test_what_is_past_its_time_and_still_stands_goes(world: World, purge: Purge) -> None:
    harvested(world)
    assert purge(world) == [] and not world.trash()


def test_a_conversation_saved_meanwhile_stays(world: World, purge: Purge) -> None:
    """The person clicks "keep" in the host application while the conversation waits in the trash."""
    path = harvested(world)
    world.converse(json.dumps({"conversations": [{"path": str(path)}]}), "index-saved-conversations-9.json")
    assert "saved" in " ".join(purge(world)) and len(world.trash()) == 1


def test_a_file_that_lost_a_whole_harvest_keeps_the_conversation(world: World, purge: Purge) -> None:
    """An editor saved a stale buffer over one file of two: what stood there is only in the conversation now."""
    harvested(world)
    world.knowledge("facts.md", "# Facts\n")
    assert "2 lines of its harvest vanished from facts.md" in " ".join(purge(world)) and len(world.trash()) == 1


def test_the_only_line_of_a_harvest_is_missed_too(world: World, purge: Purge) -> None:
    harvested(world, facts=["the only thing"])
    (world.paths.knowledge / "facts.md").unlink()
    assert "1 line of its harvest vanished from facts.md" in " ".join(purge(world)) and len(world.trash()) == 1


def test_one_recorded_removal_does_not_excuse_the_rest(world: World, purge: Purge) -> None:
    harvested(world)
    one = lines_of(world, "facts.md")[0]
    append_changes(world.paths, [Change("x", "edit-1", "facts.md", removed=(one,))])
    world.knowledge("facts.md", "# Facts\n")
    assert "1 line of its harvest vanished" in " ".join(purge(world)) and len(world.trash()) == 1


def test_a_removal_that_was_undone_excuses_nothing(world: World, purge: Purge) -> None:
    harvested(world, facts=["only"])
    line = tuple(lines_of(world, "facts.md"))
    append_changes(world.paths, [Change("x", "edit-1", "facts.md", removed=line)])
    append_changes(world.paths, [Change("y", "undo-edit-1", "facts.md", added=line)])
    world.knowledge("facts.md", "# Facts\n")
    assert purge(world) and len(world.trash()) == 1


@pytest.mark.parametrize("how", ["removed", "reworded", "struck", "moved", "one deleted"])
def test_what_the_person_did_by_hand_is_dealt_with(world: World, purge: Purge, how: str) -> None:
    """Whoever edits bullets in an editor is not told for ever that lines are missing."""
    harvested(world, facts=["only"] if how != "one deleted" else ["only", "other"])
    text, lines = world.text("facts.md"), lines_of(world, "facts.md")
    if how == "removed":
        append_changes(world.paths, [Change("x", "edit-1", "facts.md", removed=tuple(lines))])
    if how == "moved":
        world.knowledge("decisions.md", f"# Decisions\n\n{lines[0]}\n")
    edited = {"reworded": text.replace("only", "in my words"), "struck": text.replace("only", "~~only~~")}
    world.knowledge("facts.md", edited.get(how, text.replace(f"{lines[0]}\n", "")))
    assert purge(world) == [] and not world.trash()


def test_a_note_whose_file_was_saved_anew_still_stands(world: World, purge: Purge) -> None:
    source = world.folder / "code.py"
    source.write_text("pass\n")
    harvested(world, files=[{"path": str(source), "note": "needs care"}])  # type: ignore[list-item]
    (note,) = world.paths.file_notes.glob("*.md")
    note.rename(note.with_name("1:2.md"))
    assert purge(world) == [] and not world.trash()


@pytest.mark.parametrize("recorded", ["not a date", "2026-06-13T00:00:00"])
def test_both_purges_agree_on_a_date_that_cannot_be_read(world: World, purge: Purge, recorded: str) -> None:
    """Counted from the move instead: never at once, and not never."""
    harvested(world)
    ledger = json.loads(world.paths.ledger.read_text())
    for entry in ledger["entries"].values():
        entry["trashed_until"] = recorded
    world.paths.ledger.write_text(json.dumps(ledger))
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok)
    listed = trash_list(workspace.value)
    assert isinstance(listed, Ok) and listed.value[0].until != recorded
    world.clock = NOW.now(NOW.tzinfo) + timedelta(days=13)
    assert purge(world) == [] and len(world.trash()) == 1
    world.clock += timedelta(days=2)
    assert purge(world) == [] and not world.trash()


def test_a_bullet_that_the_person_removed_does_not_come_back_from_a_model(world: World) -> None:
    """The rules harvested it first, the person took it out, then a model reads the same conversation."""
    world.converse("User: We decided to use sqlite because it is small.\n\nAssistant: fine\n")
    world.run(None)
    line = lines_of(world, "decisions.md")[0]
    text = line[2:].split(" [from")[0]
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok) and isinstance(bullets.remove(workspace.value, "decisions", text), Ok)
    world.run(says(decisions=[text, "another"]))
    assert [line.split(" [from")[0] for line in lines_of(world, "decisions.md")] == ["- another"]
    assert not list(world.paths.conversations.glob("talk-*"))


def test_a_split_that_was_cut_anew_during_the_run_stays(world: World) -> None:
    """A long run looks at the splits at its beginning and removes them at its end."""
    split, source = world.paths.splits / "big", world.folder / "big.txt"
    split.mkdir(parents=True)
    source.write_text("second")
    index = {"source_path": str(source), "source_sha256": "0" * 64}
    (split / "index.json").write_text(json.dumps(index))

    def cut_anew(number: int, prompt: str) -> dict[str, list[str]]:
        (split / "index.json").write_text(json.dumps({**index, "source_sha256": sha256("second")}))
        return {"facts": ["one"]}

    world.converse("a")
    report = world.run(FakeModel(cut_anew))
    assert split.is_dir() and not report.errors
    (split / "index.json").write_text(json.dumps(index))
    world.run(FakeModel(never))
    assert not split.exists()


def stale_split(world: World) -> tuple[Path, dict[str, bytes]]:
    split = world.paths.splits / "big"
    split.mkdir(parents=True)
    index = {"source_path": str(world.folder / "gone.txt"), "source_sha256": "0" * 64}
    (split / "index.json").write_text(json.dumps(index))
    (split / "part-1.txt").write_text("words that stand nowhere else")
    return split, {path.name: path.read_bytes() for path in split.iterdir()}


def test_a_stale_split_lies_in_the_trash_for_its_grace_period(world: World) -> None:
    """It may be the last copy of a file that somebody removed by mistake."""
    split, held = stale_split(world)
    world.run(FakeModel(never))
    (trashed,) = world.paths.trash.iterdir()
    assert not split.exists() and {path.name: path.read_bytes() for path in trashed.iterdir()} == held
    world.clock += timedelta(days=13)
    world.run(FakeModel(never))
    assert trashed.exists()
    world.clock += timedelta(days=2)
    world.run(FakeModel(never))
    assert not trashed.exists()


def test_a_trashed_split_is_listed_brought_back_and_purged(world: World) -> None:
    split, held = stale_split(world)
    world.run(FakeModel(never))
    workspace = workspace_of(world)
    (row,) = value(trash_list(workspace))
    assert row.path == str(split) and row.size == sum(map(len, held.values()))
    value(trash_restore(workspace, row.name, now=lambda: world.clock))
    assert {path.name: path.read_bytes() for path in split.iterdir()} == held
    world.run(FakeModel(never))
    purged = value(trash_purge(workspace, everything=True, now=lambda: world.clock))
    assert purged.purged == [row.name] and not list(world.paths.trash.iterdir())


def test_without_a_grace_period_a_stale_split_goes_at_once(world: World) -> None:
    split, _ = stale_split(world)
    world.run(FakeModel(never), trash_days=0)
    assert not split.exists() and not (world.paths.trash.exists() and list(world.paths.trash.iterdir()))
