"""The cache of hashes: a change that it hides would be harvested under a wrong name, or never."""

from __future__ import annotations

import os
from unittest.mock import patch

import pytest

from core.harvest.hashes import HashCache
from tests.harvest_world import FakeModel, World, never, sha256

# --- the hash cache --------------------------------------------------------------------------------------------------


def test_an_unchanged_conversation_is_not_read_again_and_a_changed_one_is(world: World) -> None:
    path = world.converse("a")
    cache = HashCache()
    plan = [step.sha256 for step in world.plan().steps]
    assert plan == [sha256("a")]
    with patch("time.time_ns", lambda: path.stat().st_ctime_ns + 3_000_000_000):
        world.limits(keep=True).run(FakeModel(), cache)
    copy = HashCache.from_json(cache.to_json())
    with patch("core.harvest.hashes._sha256", side_effect=AssertionError("read again")):
        world.run(FakeModel(never), copy)
    path.write_text("b")
    assert world.run(FakeModel(), copy).harvested == 1


def test_a_change_within_one_tick_of_the_clock_is_seen(world: World) -> None:
    """Same size, same inode, same times: only a hash that was not remembered too early shows the difference."""
    path = world.converse("a")
    cache = HashCache()
    world.limits(keep=True).run(FakeModel(), cache)
    assert cache.to_json() == b"{}"
    found = path.stat()
    path.write_text("b")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert world.run(FakeModel(), cache).harvested == 1


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"a": []}', b'{"a": 1}', b'{"a": [1, 2, 3, 4, {}]}', b"[" * 99999]
)
def test_a_damaged_cache_is_an_empty_one(world: World, data: bytes) -> None:
    world.converse("a")
    assert world.run(FakeModel(), HashCache.from_json(data)).harvested == 1
