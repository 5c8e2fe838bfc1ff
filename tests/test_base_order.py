"""A long list is sorted as `sorted` sorts it: a person must not see other rows at the top because there are many."""

from __future__ import annotations

import random

import pytest

from core.base.order import PART, in_order


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("amount", [0, 1, PART, PART + 1, 3 * PART + 7])
def test_rows_and_their_ties_stand_where_sorted_puts_them(amount: int, reverse: bool) -> None:
    """Equal rows keep the order of the ledger, in either direction."""
    chance = random.Random(amount)
    rows = [(chance.randrange(50), number) for number in range(amount)]
    assert in_order(rows, lambda row: row[0], reverse) == sorted(rows, key=lambda row: row[0], reverse=reverse)
