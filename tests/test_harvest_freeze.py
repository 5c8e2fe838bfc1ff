"""Where a model's words may land: paths it names, the quarantine, and what is taken away afterwards."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base import files
from core.base.paths import Paths
from core.base.result import Err, Ok
from core.harvest.answer import Item
from core.harvest.freeze import freeze
from core.harvest.named_paths import allowed_path, source_file
from core.harvest.reclaim import purge, reclaim, remove_split, restore
from core.knowledge.journal import read_journal, states_by_sha
from tests.harvest_world import NOW, FakeModel, World, says, sha256


@pytest.mark.parametrize(
    "path",
    ["", "relative/x", "~/x", "/home/me/../you/x", "/home/me//x", "/home/me/x\0", "/home/me\\x", "/home/me/x\ny",
     "/etc/x", "/homer/x", "C:/x", "//host/share", "/home/me/" + "x" * 2000, "file:///home/me/x",
     "/proc/self/environ", "\ud800"],
)  # fmt: skip
def test_a_path_is_refused_before_anything_is_looked_at(path: str) -> None:
    with patch.object(os, "stat", side_effect=AssertionError), patch.object(os, "lstat", side_effect=AssertionError):
        assert allowed_path(path, ["/home/me", "/proc"]) is None


def test_a_path_below_a_root_is_allowed() -> None:
    assert allowed_path("/home/me/x y/ü.py", ["/home/me"]) == "/home/me/x y/ü.py"
    assert allowed_path("/home/me/./x", ["/home/me/"]) == "/home/me/x"
    assert allowed_path("/srv/x", ["/"]) == "/srv/x"


def test_what_is_no_regular_file_below_a_root_is_not_bound(tmp_path: Path) -> None:
    """A link out of the roots would put a note on a file the person never opened to it; a FIFO would hang."""
    root, outside = tmp_path / "root", tmp_path / "outside.py"
    root.mkdir()
    outside.write_text("x")
    (root / "link.py").symlink_to(outside)
    (root / "folder").mkdir()
    os.mkfifo(root / "fifo")
    (root / "inside.py").write_text("x")
    (root / "alias.py").symlink_to(root / "inside.py")
    roots = [str(root)]
    bound = {name: source_file(str(root / name), roots) for name in ("link.py", "folder", "fifo", "none.py")}
    assert set(bound.values()) == {None}
    alias = source_file(str(root / "alias.py"), roots)
    assert alias is not None and alias.path == str(root / "inside.py")


@given(st.text(max_size=40), st.lists(st.sampled_from(["/home/me", "/", "/srv/"]), max_size=2))
def test_any_path_is_judged(text: str, roots: list[str]) -> None:
    for path in (text, f"/home/me/{text}"):
        found = allowed_path(path, roots)
        assert found is None or (found.startswith("/") and ".." not in found.split("/") and "\0" not in found)


def test_the_conversations_own_folder_may_hold_files_for_notes(
    world: World, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = tmp_path_factory.mktemp("project")
    (project / "code.py").write_text("x")
    answer = says(files=[{"path": str(project / "code.py"), "note": "n"}])
    world.converse("a")
    world.run(answer)
    assert not world.paths.file_notes.exists() and "code.py: n" in world.text("facts.md")
    from dataclasses import replace

    from core.conversations.read import read_conversation

    with patch(
        "core.harvest.distil.read_conversation", lambda *args: replace(read_conversation(*args), folder=str(project))
    ):
        world.converse("b")
        world.run(answer)
    assert len(list(world.paths.file_notes.iterdir())) == 1


def test_nothing_is_cut_and_what_does_not_fit_is_counted(world: World) -> None:
    """The last steps of a long playbook and the end of a long fact were gone, and so was the conversation."""
    steps = " && ".join(f"make part-{number}" for number in range(90))
    long = "word " * 119 + "end"
    world.converse(f"User: {steps}\n")
    report = world.run(says(
        facts=[long, "short", {"statement": "made up", "quote": "nobody has ever said this"}],
        playbooks=[{"name": "all", "steps": steps}, {"name": "more", "steps": steps * 4}],
    ))  # fmt: skip
    assert f"- **all**: {steps} [from:" in world.text("playbooks.md")
    held = world.text("quarantine.md")
    assert f"- [too-long] facts: {long} [from:" in held and f"- [too-long] playbooks: **more**: {steps * 4} [" in held
    assert (report.quarantined, report.held_by) == (3, {"too-long": 2, "quote-not-found": 1})
    assert report.to_json()["held_by"] == report.held_by and report.harvested == 1 and not report.errors


def test_the_quotes_of_what_was_let_in_stay_in_the_plan(world: World) -> None:
    """The conversation goes, and with it went the only evidence."""
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    world.converse("User: the port is 8123, not 80\n")
    said = {"statement": "Port 8123", "quote": "the port is 8123"}
    held = {"statement": "Key", "quote": f"its token was {key} back then"}
    world.run(says(facts=[said, held], decisions=[{"statement": "Not 80", "quote": "8123, not 80"}]))
    [archive] = world.paths.plans.iterdir()
    [plan] = [record.plan for record in states_by_sha(read_journal(archive)).values()]
    assert plan is not None and sorted(plan.facts["quotes"].values()) == ["8123, not 80", "the port is 8123"]
    everything = b"".join(path.read_bytes() for path in world.paths.home.rglob("*") if path.is_file())
    assert key.encode() not in everything and b"its token was" in everything


def test_held_items_wait_in_the_quarantine_and_nowhere_else(world: World) -> None:
    path = world.converse("User: we use SQLite here, always have\n")
    report = world.run(says(
        facts=[{"statement": "made up", "quote": "a sentence that nobody has ever said"}, {"statement": "right"}],
        files=[{"path": "/x/y", "note": "also made up", "quote": "another sentence that nobody said"}],
    ))  # fmt: skip
    origin = f"[from: {path.name}, 2026-06-12]"
    assert world.text("quarantine.md") == (
        f'# Quarantine\n\n- [quote-not-found] facts: made up (quote: "a sentence that nobody has ever said") {origin}\n'
        f'- [quote-not-found] files /x/y: also made up (quote: "another sentence that nobody said") {origin}\n'
    )
    assert report.quarantined == 2 and report.items["facts"] == 1 and report.items["files"] == 0
    assert "made up" not in world.text("digest.md") + world.text("facts.md")
    assert world.entry("User: we use SQLite here, always have\n")["quarantined"] == 2


def test_names_and_paths_of_conversations_cannot_forge_lines(tmp_path: Path) -> None:
    items = [Item("facts", "x"), Item("files", "n", "/a\n## Done\n- y"), Item("files", "n", "{/knowledge}")]
    plan = freeze(items, "a\n- b [from: c, 2026-01-01]", "2026-06-12", [], Paths(tmp_path), {})
    lines = [line for planned in plan.files for line in planned.all_lines]
    assert all(line.startswith("- ") and len(line.splitlines()) == 1 and line.count("[from:") == 1 for line in lines)
    assert not any("{/knowledge}" in line for line in lines)


# --- taking away -----------------------------------------------------------------------------------------------------


def test_a_conversation_that_changed_is_not_taken(world: World) -> None:
    path = world.converse("a")
    found = reclaim(world.paths, str(path), sha256("b"), 14, NOW)
    assert isinstance(found, Err) and found.error.code == "changed" and path.read_text() == "a"


@pytest.mark.parametrize("name_taken", [False, True])
def test_a_writer_in_the_moment_of_the_move_keeps_every_byte(world: World, name_taken: bool) -> None:
    path = world.converse("a")
    real = files.rename_without_replacing

    def move(source: Path, target: Path) -> None:
        real(source, target)
        if source == path:
            with target.open("a") as late:
                late.write(" and more")
            if name_taken:
                path.write_text("new")

    with patch.object(files, "rename_without_replacing", move):
        found = reclaim(world.paths, str(path), sha256("a"), 14, NOW)
    assert isinstance(found, Err) and found.error.code == "changed"
    if not name_taken:
        assert path.read_text() == "a and more" and not world.trash()
        return
    kept = world.paths.trash / f"kept-{sha256('a')}"
    assert path.read_text() == "new" and kept.read_text() == "a and more" and kept.name in found.error.message


def test_a_link_in_the_place_of_a_conversation_is_not_followed(world: World) -> None:
    other = world.folder / "diary"
    other.write_text("a")
    path = world.paths.conversations / "talk"
    path.parent.mkdir(parents=True)
    path.symlink_to(other)
    assert isinstance(reclaim(world.paths, str(path), sha256("a"), 14, NOW), Err) and path.is_symlink()


def test_restore_brings_every_byte_back_and_refuses_an_occupied_name(world: World) -> None:
    path = world.converse("a")
    assert isinstance(reclaim(world.paths, str(path), sha256("a"), 14, NOW), Ok)
    path.write_text("new")
    found = restore(world.paths, sha256("a"), str(path), sha256("a"))
    assert isinstance(found, Err) and found.error.code == "occupied" and path.read_text() == "new"
    path.unlink()
    assert restore(world.paths, sha256("a"), str(path), sha256("a")) == Ok(path) and path.read_text() == "a"
    gone = restore(world.paths, sha256("a"), str(path), sha256("a"))
    assert isinstance(gone, Err) and gone.error.code == "not-in-trash"


def test_a_trashed_conversation_that_changed_is_not_purged(world: World) -> None:
    path = world.converse("a")
    reclaim(world.paths, str(path), sha256("a"), 14, NOW)
    held = world.paths.trash / sha256("a")
    held.write_text("changed")
    assert isinstance(purge(held, sha256("a")), Err) and held.exists()
    assert isinstance(restore(world.paths, sha256("a"), str(path), sha256("a")), Err)
    held.write_text("a")
    assert purge(held, sha256("a")) == Ok(1) and not held.exists()


def test_only_folders_of_splits_are_removed(world: World) -> None:
    world.paths.splits.mkdir(parents=True)
    (world.folder / "mine").mkdir()
    (world.paths.splits / "link").symlink_to(world.folder / "mine")
    (world.paths.splits / "file").write_text("x")
    for path in (world.folder / "mine", world.paths.splits / "link", world.paths.splits / "file", world.paths.splits):
        assert isinstance(remove_split(world.paths, str(path), 14, NOW), Err)
    assert (world.folder / "mine").is_dir()


def test_a_purged_conversation_is_no_longer_in_the_ledgers_trash(world: World) -> None:
    world.converse("a")
    world.run(FakeModel())
    world.clock = NOW + timedelta(days=15)
    world.run(FakeModel())
    assert "trash" not in world.entry("a") and not world.trash()
    assert world.entries()[f"path:{world.paths.trash / sha256('a')}"]["deleted"]


def test_nothing_is_purged_while_an_index_is_unreadable(world: World) -> None:
    world.converse("a")
    world.run(FakeModel())
    world.clock = NOW + timedelta(days=15)
    world.converse("{", "file-index-1.json")
    world.run(FakeModel())
    assert len(world.trash()) == 1
