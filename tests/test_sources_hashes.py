"""The cache of hashes: a change that it hides would be harvested under a wrong name, or never."""

from __future__ import annotations

import os
import uuid
from unittest.mock import patch

import pytest

from core.harvest.plan import plan_harvest
from core.sources.artifact import HashCache
from tests.harvest_world import FakeModel, World, never, sha256

# --- the hash cache --------------------------------------------------------------------------------------------------


def test_an_unchanged_conversation_is_not_read_again_and_a_changed_one_is(world: World) -> None:
    path = world.converse("a")
    cache = HashCache()
    plan = [step.sha256 for step in world.plan().steps]
    assert plan == [sha256("a")]
    with patch("time.time_ns", lambda: path.stat().st_ctime_ns + 3_000_000_000):
        world.limits(keep=True).run(FakeModel(), cache)
    copy = HashCache.from_bytes(cache.to_bytes())
    with patch("core.sources.artifact._sha256", side_effect=AssertionError("read again")):
        world.run(FakeModel(never), copy)
    path.write_text("b")
    assert world.run(FakeModel(), copy).harvested == 1


def test_a_change_within_one_tick_of_the_clock_is_seen(world: World) -> None:
    """Same size, same inode, same times: only a hash that was not remembered too early shows the difference."""
    path = world.converse("a")
    cache = HashCache()
    world.limits(keep=True).run(FakeModel(), cache)
    assert cache.to_bytes() == HashCache().to_bytes()
    found = path.stat()
    path.write_text("b")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert world.run(FakeModel(), cache).harvested == 1


def test_conversations_that_changed_places_keep_their_own_hashes(world: World) -> None:
    """A hash belongs to a file, not to a name."""
    paths = [world.converse("a", f"talk-{uuid.uuid4()}"), world.converse("b", f"talk-{uuid.uuid4()}")]
    cache = HashCache()
    with patch("time.time_ns", lambda: paths[1].stat().st_ctime_ns + 3_000_000_000):
        plan_harvest(world.paths, world.options, {}, world.clock, cache)
    spare = paths[0].with_name("spare")
    paths[0].rename(spare)
    paths[1].rename(paths[0])
    spare.rename(paths[1])
    steps = plan_harvest(world.paths, world.options, {}, world.clock, HashCache.from_bytes(cache.to_bytes())).steps
    assert {step.artifact.path: step.sha256 for step in steps} == {
        str(paths[0]): sha256("b"),
        str(paths[1]): sha256("a"),
    }


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "longer", "json"])
def test_a_damaged_cache_is_an_empty_one(world: World, damage: str) -> None:
    """A wrong hash would keep a conversation from being harvested, in every run."""
    path = world.converse("a")
    cache = HashCache()
    with patch("time.time_ns", lambda: path.stat().st_ctime_ns + 3_000_000_000):
        plan_harvest(world.paths, world.options, {}, world.clock, cache)
    data = cache.to_bytes()
    data = {
        "empty": b"",
        "cut": data[:-1],
        "flipped": data[:-1] + bytes([data[-1] ^ 1]),
        "longer": data + data[-72:],
        "json": b'{"a": "1 2 3 4"}',
    }[damage]
    assert world.run(FakeModel(), HashCache.from_bytes(data)).harvested == 1
