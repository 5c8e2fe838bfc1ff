"""The counter of the campaigns sees every change of the disk, and real disks that fail lose nothing (tests/faults).
If these fail, the campaigns look past what they should try, and their silence means nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import files
from tests.faults import machines, truth

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.fixture(scope="module")
def tracing() -> None:
    if reason := truth.why_not():
        pytest.skip(reason)


@pytest.mark.parametrize("name", ["tasks", "prune", "accept"])
def test_strace_sees_no_change_of_the_disk_that_the_counter_does_not_see(tracing: None, name: str) -> None:
    compared = truth.same(name)
    assert compared.points > 10 and not compared.findings, compared.findings


def test_a_change_that_goes_past_the_counter_is_noticed(tracing: None) -> None:
    with patch.object(files, "discard", lambda path: Path(path).unlink(missing_ok=True)):
        assert truth.same("tasks").findings


def test_a_harvest_that_strace_kills_is_mended(tracing: None) -> None:
    tried = truth.killed("tasks", (2,))
    assert tried.points >= 4 and not tried.findings, tried.findings


def test_a_line_of_strace_is_read_as_the_counter_would_name_it() -> None:
    assert truth.operation('12 unlinkat(3</x/home>, "a", AT_REMOVEDIR) = 0', "/x") == "rmdir"
    assert truth.operation('openat(AT_FDCWD, "/x/a", O_WRONLY|O_CREAT, 0600) = 3</x/a>', "/x") == "create"
    assert truth.operation('openat(AT_FDCWD, "/x/a", O_RDONLY) = 3</x/a>', "/x") == ""
    assert truth.operation('write(1</dev/pts/0>, "a", 1) = 1', "/x") == ""
    assert truth.operation('symlink("a", "/x/b") = 0', "/x") == "symlink"


def test_a_full_disk_is_told_and_loses_nothing() -> None:
    """A real one, as small as the store: every harvest ends with a sentence, and the next one finishes it."""
    try:
        tried = machines.full_disk("twice", range(0, 60, 20))
    except machines.CannotRun as reason:
        pytest.skip(f"a small disk cannot be mounted here: {reason}")
    assert tried.points == 3 and not tried.findings, tried.findings


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_real_file_system_that_is_shut_down_loses_nothing(kind: str) -> None:
    if shutil.which(f"mkfs.{kind}") is None:
        pytest.skip(f"there is no mkfs.{kind}")
    try:
        tried = machines.power_fails(kind, "edited files", 3)
    except (machines.CannotRun, OSError) as reason:
        pytest.skip(f"it cannot be mounted and shut down here: {reason}")
    assert tried.points == 3 and not tried.findings, tried.findings
