"""Every test has folders of its own: nothing here may touch the settings, the cache or the home of who runs it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.harvest_world import World

# No clock decides, and an innocent change meets the same examples as the last one; campaigns draw new ones.
settings.register_profile(
    "same", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


@pytest.fixture(autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("xdg")
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    for name in ("MANUAL_SLOP_HOME", "SLOP_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    yield


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home, empty."""
    return World(tmp_path)
