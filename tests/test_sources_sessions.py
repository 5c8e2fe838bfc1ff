"""Conversations inside other tools' databases, harvested. A person would lose rows of a store, or pay twice."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core.conversations.collections.store_file import StoreError
from core.harvest.steps import HarvestOptions
from core.sources.artifact import Artifact, HashCache
from core.sources.sessions import StoreCache
from core.sources.tools import FILES, Place
from tests.harvest_world import FakeModel, World
from tests.store_makers import MAKERS, opencode_files, say_in_opencode


def reading(world: World, path: Path, source: str, **limits: bool) -> HarvestOptions:
    places = (Place(FILES, str(path)),) if source == FILES else (Place(source, str(path.parent)),)
    changed = replace(world.options.limits, **limits)
    return replace(world.options, home=False, places=places, limits=changed, copies=world.folder / "copies")


@pytest.mark.parametrize(("kind", "name"), [("opencode", "opencode.db"), ("cursor", "state.vscdb"), ("llm", "logs.db")])
def test_sessions_are_harvested_once_and_the_store_is_left_as_it_was(kind: str, name: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    path = tmp_path / "theirs" / name
    MAKERS[kind](path).close()
    before = (hashlib.sha256(path.read_bytes()).hexdigest(), os.listdir(path.parent))
    everything = {"reclaim_foreign": True, "reclaim": "always"}
    options = reading(world, path, kind, **everything)  # type: ignore[arg-type]
    report = world.run(FakeModel(), **vars(options))
    assert report.harvested == len(world.entries()) > 1
    assert not report.errors
    assert report.reclaimed == 0
    entries = list(world.entries().values())
    assert {entry["source"] for entry in entries} == {kind}
    assert all(entry["path"].startswith(f"{path}#") and entry["name"].startswith(f"{kind}/") for entry in entries)
    again = FakeModel()
    assert world.run(again, **vars(options)).harvested == 0
    assert not again.prompts
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), os.listdir(path.parent)) == before


def test_a_session_that_goes_on_is_seen_although_only_the_log_of_the_store_changed(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = tmp_path / "theirs" / "opencode.db"
    made = MAKERS["opencode"](path)
    cache, options = HashCache(), reading(world, path, "opencode")
    assert world.run(FakeModel(), cache, **vars(options)).harvested == 3
    say_in_opencode(made, "ses_1", 7, "user", "One more thing")
    model = FakeModel()
    assert world.run(model, cache, **vars(options)).harvested == 1
    assert "One more thing" in model.prompts[0]
    made.close()


def test_a_store_that_cannot_be_read_is_told_and_stops_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = tmp_path / "theirs" / "opencode.db"
    path.parent.mkdir()
    path.write_bytes(b"no database" * 50)
    other = tmp_path / "other" / "state.vscdb"
    MAKERS["cursor"](other).close()
    options = replace(
        reading(world, path, "opencode"),
        places=(Place("opencode", str(path.parent)), Place("cursor", str(other.parent))),
    )
    report = world.run(FakeModel(), **vars(options))
    assert report.harvested == 2
    assert any("opencode.db: this is no SQLite database" in note for note in report.plan.notes)


def test_a_store_anywhere_can_be_named(tmp_path: Path) -> None:
    """An export on a stick, a copy of another computer's folder."""
    world = World(tmp_path)
    made = MAKERS["goose"](tmp_path / "theirs" / "a#b.db")
    made.close()
    path = shutil.copy(tmp_path / "theirs" / "a#b.db", tmp_path / "c#d.db")
    assert world.run(FakeModel(), **vars(reading(world, Path(path), FILES))).harvested == 2


def test_a_tool_that_moves_from_files_to_a_database_is_not_paid_for_again(tmp_path: Path) -> None:
    """OpenCode leaves its files behind: each session is one, and after the move only what is said anew is read."""
    world = World(tmp_path)
    path = tmp_path / "theirs" / "opencode.db"
    storage = opencode_files(path.parent / "storage")
    opencode_files(path.parent / "project" / "app" / "storage", first=True)
    options, model = reading(world, path, "opencode"), FakeModel()
    report = world.run(model, **vars(options))
    assert (report.harvested, report.plan.notes) == (2, ())
    assert "Which port do we use?" in "".join(model.prompts)
    made = MAKERS["opencode"](path)
    made.execute("DELETE FROM session WHERE id = 'ses_3'")
    again = FakeModel()
    assert world.run(again, **vars(options)).harvested == 0
    assert not again.prompts
    say_in_opencode(made, "ses_1", 7, "user", "One more thing")
    os.utime(storage / "part/msg_ses_1-0001/prt_ses_1-0001.json")  # a copy of the old files looks new
    report = world.run(again, **vars(options))
    assert (report.harvested, report.changed) == (1, {"grown": 1})
    assert "One more thing" in again.prompts[0]
    made.close()


def test_the_older_storage_is_found_by_its_path_too(tmp_path: Path) -> None:
    world = World(tmp_path)
    storage = opencode_files(tmp_path / "copy" / "storage")
    model = FakeModel()
    assert world.run(model, **vars(reading(world, storage, FILES))).harvested == 2
    assert {row["name"] for row in world.entries().values()} == {"opencode/ses_1", "opencode/ses_2"}


def test_a_session_that_cannot_be_read_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """27 damaged pieces of one store made every run fail, for ever."""
    world = World(tmp_path)
    path = tmp_path / "theirs" / "opencode.db"
    made = MAKERS["opencode"](path)
    options = reading(world, path, "opencode")
    real = StoreCache.content

    def content(shelf: StoreCache, item: Artifact) -> bytes:
        if item.path.endswith("ses_1"):
            raise StoreError("the database cannot be read: database disk image is malformed", item.path)
        return real(shelf, item)

    with monkeypatch.context() as patched:
        patched.setattr(StoreCache, "content", content)
        first = world.run(FakeModel(), **vars(options))
        assert (first.harvested, first.failed, len(first.errors)) == (2, 1, 1)
        second = world.run(FakeModel(), **vars(options))
        assert (second.failed, second.errors) == (0, [])
        assert [note for note in second.notes if "1 that could not be read before" in note]
    assert world.run(FakeModel(), **vars(options)).harvested == 1, "it is whole again"
    made.close()


def test_a_conversation_that_holds_nothing_readable_is_told_once_until_it_changes(world: World) -> None:
    path = world.converse('{"type":"session_meta","timestamp":"2026-02-03T04:05:06Z","payload":{}}\n' + "{broken\n" * 9)
    model = FakeModel()
    assert [error.code for error in world.run(model).errors] == ["unread-conversation"]
    assert not world.run(model).errors and path.exists()
    path.write_text(path.read_text() + "{more\n")
    assert [error.code for error in world.run(model).errors] == ["unread-conversation"] and not model.calls
