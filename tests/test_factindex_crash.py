"""A sample of the crash campaign of the fact index (tests/factindex_crashes.py). If it fails, a kill or a full disk
costs a person a fact, doubles one, or brings back one that they deleted."""

from __future__ import annotations

import os

import pytest

from tests.factindex_crashes import campaign

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize(("kinds", "stride", "least"), [("k", 10, 10), ("e", 60, 8), ("p", 24, 8)])
def test_a_sync_that_is_cut_anywhere_is_finished_by_the_next_one(kinds: str, stride: int, least: int) -> None:
    points, findings = campaign(stride, kinds)
    assert findings == {}
    assert points >= least
