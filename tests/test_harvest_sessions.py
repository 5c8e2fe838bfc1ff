"""Conversations inside other tools' databases, harvested. A person would lose rows of a store, or pay twice."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from core.harvest.hashes import HashCache
from core.harvest.options import HarvestOptions
from core.harvest.sources import FILES, Place
from tests.harvest_world import FakeModel, World
from tests.store_makers import MAKERS, say_in_opencode


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
