"""Turns in a folder: without them a harvest that reads its lines back meets an edit half-way, and calls it a loss."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import files
from core.base.locks import folder_lock
from core.knowledge.lines import PlannedFile, ensure_lines, require_lines
from core.knowledge.swap import replace_expected

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="folders cannot be locked here")


def test_a_turn_waits_for_the_other_and_holds_within_itself(tmp_path: Path) -> None:
    order: list[str] = []
    begun = threading.Event()

    def other() -> None:
        begun.set()
        with folder_lock(tmp_path):
            order.append("other")

    with folder_lock(tmp_path), folder_lock(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait(10)
        thread.join(0.05)
        order.append("one")
    thread.join(10)
    assert order == ["one", "other"]


def test_nobody_waits_for_ever_and_a_folder_that_is_not_there_stops_nobody(tmp_path: Path) -> None:
    gone: list[bool] = []

    def impatient() -> None:
        with folder_lock(tmp_path, seconds=0.01):
            gone.append(True)

    with folder_lock(tmp_path):
        thread = threading.Thread(target=impatient)
        thread.start()
        thread.join(10)
    with folder_lock(tmp_path / "nowhere"):
        gone.append(True)
    assert gone == [True, True]


def test_lines_are_not_read_back_in_the_middle_of_an_edit(tmp_path: Path) -> None:
    """The harvest would call its own lines lost and the conversation failed, though the edit puts them back."""
    planned = PlannedFile("facts.md", "# Facts", ("- by the harvest [from: a, 2026-01-01]",))
    path = tmp_path / "facts.md"
    path.write_bytes(b"# Facts\n")
    exchange, found = files.exchange, []
    readers: list[threading.Thread] = []

    def in_the_middle(one: Path, two: Path) -> bool:
        if not readers:  # the moment between the look of the edit and its exchange: an editor saves
            path.write_bytes(b"# Facts\n" + planned.lines[0].encode() + b"\n")
        done = exchange(one, two)
        if not readers:
            readers.append(threading.Thread(target=lambda: found.append(require_lines(tmp_path, planned))))
            readers[0].start()
            readers[0].join(0.05)
        return done

    with patch.object(files, "exchange", in_the_middle):
        assert not replace_expected(path, b"# Facts\n- mine\n", b"# Facts\n")
    readers[0].join(10)
    assert found == [[]]
    assert ensure_lines(tmp_path, planned)[0] == ()
