"""Large readings put Python's own pauses off, and give back to the process what they took."""

from __future__ import annotations

import gc
import sys
import weakref

import pytest

from gui.quiet import LARGE_ROWS, let_go, quietly


class Thing:
    """Something that can be seen going."""


def test_the_collector_rests_during_a_large_reading_and_is_as_before_afterwards() -> None:
    """Else a window stands still for most of a second, or the host's memory grows for ever."""
    interval = sys.getswitchinterval()
    frozen = gc.get_freeze_count()
    with quietly(large=True), quietly(large=True):
        assert not gc.isenabled() and sys.getswitchinterval() < interval
        kept = [Thing() for _ in range(100)]
    assert gc.isenabled() and sys.getswitchinterval() == pytest.approx(interval)
    assert gc.get_freeze_count() >= frozen + len(kept)
    gc.unfreeze()


def test_a_small_reading_leaves_the_process_alone() -> None:
    """A host has its own plans for its collector."""
    with quietly(large=False):
        assert gc.isenabled()
    gc.disable()
    try:
        with quietly(large=True, stays=False):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_old_rows_go_and_few_at_once_need_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory would grow with every new ledger."""
    monkeypatch.setattr("gui.quiet.LINGER_SECONDS", 0.0)
    rows = [Thing() for _ in range(LARGE_ROWS)]
    last = weakref.ref(rows[-1])
    thread = let_go(rows)
    assert thread is not None and let_go(rows[:10]) is None
    rows.clear()
    thread.join(20)
    assert last() is None
