"""What each file in the home is, and what happens to it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.result import Ok, attempt
from core.commands import bullets
from core.commands.history.trash import trash_list, trash_purge, trash_restore
from core.harvest.classify import classify, classify_conversation, plan_steps
from core.harvest.steps import CLASSES, Limits
from core.knowledge.changes import Change, append_changes
from core.sources.artifact import Artifact
from core.sources.scan import Protection, Scan, Split
from tests.bad_input import make_socket
from tests.harvest_world import HURRIED, NOW, FakeModel, World, never, says, sha256, workspace_of

# --- The table of storage.md, line by line: a wrong class loses a conversation that somebody still wants.

UUID4 = "0f8fad5b-d9cb-469f-a165-70867728950e"


def verdict(world: World, name: str) -> str:
    found = [row.verdict for row in world.plan().classified if row.artifact.name == name]
    assert len(found) == 1, found
    return found[0]


def index(world: World, name: str, content: Any) -> None:
    world.converse(content if isinstance(content, str) else json.dumps(content), name)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (f"talk-{UUID4}", "harvest"),
        (f"{UUID4}-part", "harvest"),
        ("latest-box-123", "live"),
        (f"latest-box-{UUID4}", "harvest"),  # archived: first match wins
        ("talk-0f8fad5b-d9cb-169f-a165-70867728950e", "keep"),  # a UUID of version 1
        ("talk-0f8fad5b-d9cb-469f-c165-70867728950e", "keep"),  # of another variant
        (f"talk-{UUID4.upper()}", "keep"),
        (f"talk-{UUID4}.bak", "keep"),
        (f"talk-{UUID4}\n", "keep"),
        (f"talk{UUID4}", "keep"),
        (f"x{UUID4}-part", "keep"),
        (UUID4, "keep"),
        ("my diary.txt", "keep"),
        ("Latest-box-1", "keep"),
    ],
)
def test_a_name_decides_and_the_unknown_is_never_deleted(world: World, name: str, wanted: str) -> None:
    world.converse(name=name)
    assert verdict(world, name) == wanted


def test_index_files_themselves_are_live(world: World) -> None:
    index(world, "file-index-7.json", {"by_file_id": {}})
    index(world, "index-saved-conversations-7.json", {"conversations": []})
    assert world.plan().counts == {"live": 2, "user-kept": 0, "prune": 0, "harvest": 0, "keep": 0}


def test_a_saved_conversation_is_kept_by_its_resolved_path(world: World) -> None:
    """The index names it through a link; by its text alone it would be harvested away."""
    path = world.converse()
    (world.folder / "link").symlink_to(world.paths.home)
    index(
        world,
        "index-saved-conversations-1.json",
        {"conversations": [{"path": str(world.folder / "link" / "conversations" / path.name)}]},
    )
    assert verdict(world, path.name) == "user-kept"


def test_a_saved_conversation_is_kept_when_the_home_is_reached_through_a_link(world: World, tmp_path: Path) -> None:
    path = world.converse()
    index(world, "index-saved-conversations-1.json", {"conversations": [{"path": os.path.realpath(path)}]})
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "home").symlink_to(world.paths.home)
    assert verdict(World(tmp_path / "other"), path.name) == "user-kept"


def test_a_conversation_of_a_file_is_live_while_the_file_exists(world: World) -> None:
    target = world.folder / "code.py"
    target.write_text("pass")
    path, gone = world.converse("a"), world.converse("b")
    rows = {
        "1:2": {"conversation": path.name, "path": str(target)},
        "1:3": {"conversation": gone.name, "path": str(world.folder / "gone.py")},
    }
    index(world, "file-index-1.json", {"by_file_id": rows})
    assert (verdict(world, path.name), verdict(world, gone.name)) == ("live", "harvest")


def test_two_indexes_with_one_living_file_keep_the_conversation_live(world: World) -> None:
    """Two processes of the host may list the same conversation; the later index must not take it away."""
    target = world.folder / "code.py"
    target.write_text("pass")
    path = world.converse()
    for number, target_path in enumerate((str(target), "/gone/for/good")):
        rows = {"1:2": {"conversation": path.name, "path": target_path}}
        index(world, f"file-index-{number}.json", {"by_file_id": rows})
    assert verdict(world, path.name) == "live"


def test_a_saved_conversation_wins_over_a_file_that_is_gone(world: World) -> None:
    path = world.converse()
    index(world, "index-saved-conversations-1.json", {"conversations": [{"path": str(path)}]})
    index(world, "file-index-1.json", {"by_file_id": {"1:2": {"conversation": path.name, "path": "/gone"}}})
    assert verdict(world, path.name) == "user-kept"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("index-saved-conversations-1.json", "{"),
        ("index-saved-conversations-1.json", ""),
        ("index-saved-conversations-1.json", "[]"),
        ("index-saved-conversations-1.json", '{"conversations": {}}'),
        ("index-saved-conversations-1.json", '{"conversations": [3]}'),
        ("index-saved-conversations-1.json", '{"conversations": [{"path": "a\\u0000b"}]}'),
        ("index-saved-conversations-1.json", '{"conversations": [{"path": "\\ud800"}]}'),
        ("file-index-1.json", '{"by_file_id": []}'),
        ("file-index-1.json", '{"by_file_id": {"1:2": {"conversation": "x"}}}'),
        ("file-index-1.json", "[" * 100_000),
    ],
)
def test_an_unreadable_index_stops_reclaiming_but_not_harvesting(world: World, name: str, content: str) -> None:
    path = world.converse()
    index(world, name, content)
    report = world.run(FakeModel())
    assert report.harvested == 1 and path.exists() and report.reclaimed == 0
    assert any(name in note for note in report.notes)


def test_an_index_that_is_a_link_counts_as_unreadable(world: World) -> None:
    path = world.converse()
    (world.folder / "elsewhere.json").write_text('{"conversations": []}')
    (world.paths.conversations / "index-saved-conversations-1.json").symlink_to(world.folder / "elsewhere.json")
    report = world.run(FakeModel())
    assert path.exists() and "index-saved-conversations-1.json" in report.plan.careful


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/etc/hostname"), os.mkfifo, make_socket, Path.mkdir])
def test_what_is_no_regular_file_is_never_read_and_kept(world: World, make: Callable[[Path], None]) -> None:
    """A FIFO would hang the run for ever; a link would send a foreign file to the model."""
    world.converse()
    make(world.paths.conversations / f"odd-{UUID4}")
    row = next(row for row in world.plan().classified if row.artifact.name.startswith("odd"))
    assert row.verdict == "keep" and "never read" in row.reason
    model = FakeModel()
    assert world.run(model).harvested == 1 and model.calls == 1


# --- splits ----------------------------------------------------------------------------------------------------------


def split(world: World, name: str, content: str) -> None:
    folder = world.paths.splits / name
    folder.mkdir(parents=True)
    (folder / "index.json").write_text(content)
    (folder / "part-1").write_text("cut")


def test_splits_are_kept_pruned_or_live_by_their_source(world: World) -> None:
    source = world.folder / "source.txt"
    source.write_text("whole")
    right, wrong = hashlib.sha256(b"whole").hexdigest(), hashlib.sha256(b"older").hexdigest()
    split(world, "same", json.dumps({"source_path": str(source), "source_sha256": right}))
    split(world, "changed", json.dumps({"source_path": str(source), "source_sha256": wrong}))
    split(world, "gone", json.dumps({"source_path": str(world.folder / "no"), "source_sha256": right}))
    split(world, "broken", "{")
    split(world, "relative", json.dumps({"source_path": "source.txt", "source_sha256": right}))
    split(world, "odd-hash", json.dumps({"source_path": str(source), "source_sha256": 5}))
    found = {row.artifact.name: row.verdict for row in world.plan().classified}
    assert found == {
        "same": "live", "changed": "prune", "gone": "prune", "broken": "keep", "relative": "keep", "odd-hash": "keep",
    }  # fmt: skip
    world.run(FakeModel(never))
    assert sorted(path.name for path in world.paths.splits.iterdir()) == ["broken", "odd-hash", "relative", "same"]
    assert world.entries()[f"path:{world.paths.splits / 'gone'}"]["status"] == "pruned"


def test_keep_and_a_split_that_is_stale_takes_nothing_away(world: World) -> None:
    split(world, "gone", json.dumps({"source_path": "/gone", "source_sha256": "0" * 64}))
    world.limits(keep=True).run(FakeModel(never))
    assert (world.paths.splits / "gone" / "part-1").exists()


# --- trash -----------------------------------------------------------------------------------------------------------


def test_the_trash_is_pruned_only_past_its_grace_period(world: World) -> None:
    world.converse()
    world.run(FakeModel())
    world.clock = NOW + timedelta(days=13, hours=23)
    assert world.plan().counts["prune"] == 0
    world.clock = NOW + timedelta(days=14)
    assert world.plan().counts["prune"] == 1
    world.run(FakeModel(never))
    assert not world.trash()


def test_a_move_that_a_crash_left_undated_has_the_whole_grace_period(world: World) -> None:
    """Without a date in the ledger, the moment of the rename counts: purging at once would break the promise."""
    world.clock = datetime.now(UTC)
    world.converse("x")
    world.run(FakeModel())
    entries = world.entries()
    entries[sha256("x")]["trashed_until"] = ""
    world.paths.ledger.write_text(json.dumps({"entries": entries}))
    world.clock += timedelta(days=13)
    assert world.plan().counts["prune"] == 0
    world.clock += timedelta(days=2)
    assert world.plan().counts["prune"] == 1


def test_a_foreign_file_in_the_trash_is_kept(world: World) -> None:
    world.paths.trash.mkdir(parents=True)
    (world.paths.trash / "notes.txt").write_text("mine")
    (world.paths.trash / ("a" * 64)).mkdir()
    world.clock = NOW + timedelta(days=9999)
    assert world.plan().counts["keep"] == 2
    world.run(FakeModel(never))
    assert (world.paths.trash / "notes.txt").exists() and (world.paths.trash / ("a" * 64)).exists()


# --- properties ------------------------------------------------------------------------------------------------------

names = st.one_of(
    st.text(max_size=60),
    st.builds(lambda left, right: f"{left}{UUID4}{right}", st.sampled_from(["", "a-", "latest-"]), st.text(max_size=3)),
)
artifacts = st.builds(
    lambda name, kind, size, mtime: Artifact(
        f"/c/{name}", name, kind, size, mtime, mtime, 1, 1, "odd" * (kind == "odd")
    ),
    names,
    st.sampled_from(["conversation", "index", "trash", "odd", "split"]),
    st.integers(0, 1 << 21),
    st.integers(0, 1 << 60),
)
entry = st.dictionaries(
    st.sampled_from(["status", "provider", "trashed_until", "items", "run"]),
    st.one_of(st.none(), st.integers(), st.sampled_from(["harvested", "offline", "too-large", NOW.isoformat(), "x"])),
)


@given(
    st.lists(artifacts, max_size=8), entry, st.sampled_from(["always", "model", "never"]), st.booleans(), st.booleans()
)
def test_classification_is_total_and_pure(
    items: list[Artifact], row: dict[str, Any], reclaim: str, harvest: bool, keep: bool
) -> None:
    """Whatever lies there and whatever the ledger says: a class for everything, a step only for candidates."""
    scan = Scan(tuple(items), splits={item.path: Split(True, True) for item in items}, folder="/c")
    entries = {sha256("x"): row}
    classified = classify(scan, entries, NOW, 14)
    hashes = {item.path: sha256("x") for item in items}
    limits = Limits("openai", 1 << 20, reclaim, harvest, keep)
    plan = plan_steps(classified, hashes, entries, limits)
    assert plan == plan_steps(classify(scan, entries, NOW, 14), hashes, entries, limits)
    assert all(found.verdict in CLASSES and found.reason for found in plan.classified)
    assert sum(plan.counts.values()) == len(plan.classified)
    candidates = {found.artifact.path for found in classified if found.verdict in ("harvest", "prune")}
    assert {step.artifact.path for step in plan.steps} <= candidates


@given(names)
def test_only_the_two_archived_shapes_are_candidates(name: str) -> None:
    found = classify_conversation(Artifact(f"/c/{name}", name, "conversation"), Protection(), "/c")
    wanted = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
    ends = name[-37:-36] == "-" and wanted.fullmatch(name[-36:])
    begins = name[36:37] == "-" and wanted.fullmatch(name[:36])
    assert (found.verdict == "harvest") == bool(ends or begins)


# --- What goes for good and what stays in the trash: the last moment at which a conversation can be kept.

Purge = Callable[[World], "list[str]"]


def by_a_run(world: World) -> list[str]:
    """The purge at the end of a harvest; returns the sentences of what it refused."""
    report = world.run(FakeModel(never))
    return [*(error.message for error in report.errors), *(note for note in report.notes if "trash keeps" in note)]


def by_hand(world: World) -> list[str]:
    """`knowledge trash purge`."""
    purged = trash_purge(workspace_of(world), now=lambda: world.clock, editor_wait=HURRIED)
    return [error.message for error in purged.errors]


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
    """The user clicks "keep" in the host application while the conversation waits in the trash."""
    path = harvested(world)
    world.converse(json.dumps({"conversations": [{"path": str(path)}]}), "index-saved-conversations-9.json")
    assert "saved" in " ".join(purge(world)) and len(world.trash()) == 1


@pytest.mark.parametrize(
    ("facts", "told", "missed"),
    [
        (["one", "two"], "", "2 lines of its harvest vanished from facts.md"),
        (["one", "two"], "removed", "1 line of its harvest vanished from facts.md"),
        (["only"], "", "1 line of its harvest vanished from facts.md"),
        (["only"], "removed, undone", "1 line of its harvest vanished from facts.md"),
    ],
)
def test_what_vanished_without_a_word_keeps_the_conversation(
    world: World, purge: Purge, facts: list[str], told: str, missed: str
) -> None:
    """An editor saved a stale buffer over one file of two: what stood there is only in the conversation now. One
    removal that was told does not excuse the rest, and one that was undone excuses nothing."""
    harvested(world, facts=facts, decisions=["three"])
    line = tuple(lines_of(world, "facts.md")[:1])
    if "removed" in told:
        append_changes(world.paths, [Change("x", "edit-1", "facts.md", removed=line)])
    if "undone" in told:
        append_changes(world.paths, [Change("y", "undo-edit-1", "facts.md", added=line)])
    world.knowledge("facts.md", "# Facts\n") if len(facts) > 1 else (world.paths.knowledge / "facts.md").unlink()
    assert missed in " ".join(purge(world)) and len(world.trash()) == 1


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
    listed = attempt(trash_list, workspace_of(world))
    assert isinstance(listed, Ok) and listed.value[0].until != recorded
    world.clock = NOW.now(NOW.tzinfo) + timedelta(days=13)
    assert purge(world) == [] and len(world.trash()) == 1
    world.clock += timedelta(days=2)
    assert purge(world) == [] and not world.trash()


def test_a_bullet_that_the_person_removed_does_not_come_back_from_a_model(world: World) -> None:
    """The rules harvested it first, the user took it out, then a model reads the same conversation."""
    world.converse("User: We decided to use sqlite because it is small.\n\nAssistant: fine\n")
    world.run(None)
    line = lines_of(world, "decisions.md")[0]
    text = line[2:].split(" [from")[0]
    assert isinstance(attempt(bullets.remove, workspace_of(world), "decisions", text), Ok)
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
    (row,) = trash_list(workspace)
    assert row.path == str(split) and row.size == sum(map(len, held.values()))
    trash_restore(workspace, row.name, now=lambda: world.clock)
    assert {path.name: path.read_bytes() for path in split.iterdir()} == held
    world.run(FakeModel(never))
    purged = trash_purge(workspace, everything=True, now=lambda: world.clock)
    assert purged.purged == [row.name] and not list(world.paths.trash.iterdir())


def test_without_a_grace_period_a_stale_split_goes_at_once(world: World) -> None:
    split, _ = stale_split(world)
    world.run(FakeModel(never), trash_days=0)
    assert not split.exists() and not (world.paths.trash.exists() and list(world.paths.trash.iterdir()))
