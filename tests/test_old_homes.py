"""Homes of the program before the store changed are read, carried over at the first write, and can be brought back. If
these fail, an update costs a user what two years have taught.

`tests/homes` made them with that program. What must not change is compared to the byte; what does change stands in
`CHANGES`.
"""

from __future__ import annotations

import json
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk
from core.base.homes import FORMAT
from tests.cli_call import call
from tests.harvest_world import nobody_waits_for_editors
from tests.homes import names, put_down

READS = (
    ("status",),
    ("context",),
    ("list", "--project", "all"),
    ("facts", "list"),
    ("search", "port"),
    ("recall", "tabs"),
    ("doctor",),
    ("quarantine",),
    ("supersede",),
    ("missing",),
    ("ledger",),
    ("trash",),
    ("undo",),
    ("facts", "validate"),
    ("harvest",),
)
WHOLE = ("each_kind", "two_years", "old_library")
KNOWLEDGE = "home/knowledge/"


@pytest.fixture
def home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that holds the home whose name is the test's parameter. Short, for a plan tells whole paths."""
    with tempfile.TemporaryDirectory(prefix="home-") as place:
        folder = put_down(request.param, Path(place))
        for variable, name in (("CACHE", "cache"), ("CONFIG", "settings"), ("DATA", "share"), ("STATE", "state")):
            monkeypatch.setenv(f"XDG_{variable}_HOME", str(folder / name))
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.chdir(folder)
        nobody_waits_for_editors(monkeypatch)
        yield folder


def knowledge(folder: Path, *words: str) -> tuple[int, str, str]:
    return call(*words, "--home", str(folder / "home"), "--config", str(folder / "config.toml"))


def done(folder: Path, *words: str) -> str:
    code, out, err = knowledge(folder, *words)
    assert code == 0, (words, out, err)
    return out


def look(folder: Path) -> dict[str, bytes]:
    """Every file of the store but locks."""
    found = (path for path in sorted((folder / KNOWLEDGE).rglob("*")) if path.is_file())
    rows = {str(path.relative_to(folder / KNOWLEDGE)): path.read_bytes() for path in found}
    return {name: data for name, data in rows.items() if not name.endswith("lock")}


def unpacked(folder: Path) -> dict[str, bytes]:
    """What the one copy holds."""
    (copy,) = (folder / KNOWLEDGE / "backups").glob("store-before-*")
    with tarfile.open(copy) as archive:
        return {row.name: archive.extractfile(row).read() for row in archive if row.isfile()}  # type: ignore[union-attr]


def without_library(seen: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in seen.items() if not name.startswith(("library.db", "backups/"))}


@pytest.mark.parametrize("home", names(), indirect=True)
def test_whoever_only_looks_changes_nothing(home: Path) -> None:
    before = look(home)
    for words in READS:
        code, out, err = knowledge(home, *words)
        assert code in (0, 1) and "Traceback" not in err, (words, out, err)
        assert out or err, words
    assert look(home) == before


