"""A small deterministic part of `make fuzz`, in every run: a parser that raises would end a whole harvest.

Inputs: the seeds, seeds with one member of another shape, and seeds with bytes changed by a generator of fixed numbers.
"""

from __future__ import annotations

import random

import pytest

from tests.fuzz.seeds import own_seeds
from tests.fuzz.shapes import some_odd
from tests.fuzz.targets import TARGETS

INTERESTING = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\n",
    b"\r\n",
    b"[" * 3000,
    b"{",
    b'"',
    b"\\",
    b"- ",
    b"## Done\n",
    b"~~",
)
SLOW, QUICK = 3, 60


def changed(data: bytes, chance: random.Random) -> bytes:
    """Some bytes cut out, doubled, or replaced by awkward ones."""
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randint(0, len(data)), chance.randint(0, 24)
        piece = chance.choice((b"", data[at : at + size] * 2, chance.choice(INTERESTING), chance.randbytes(size)))
        data = data[:at] + piece + data[at + size :]
    return data


@pytest.mark.parametrize("name", TARGETS)
def test_a_sample_of_hostile_inputs_breaks_no_promise(name: str) -> None:
    chance, seeds = random.Random(name), own_seeds(name)
    inputs = [b"", *seeds] if not name.startswith("store-") else seeds[:1]
    for number in range(SLOW if name.startswith("store-") else QUICK):
        seed = chance.choice(seeds)
        odd = some_odd(seed, number) if number % 2 else None
        inputs.append(odd if odd is not None else changed(seed, chance))
    for data in inputs:
        TARGETS[name](data)


def test_a_target_that_breaks_a_promise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test of the test: with the guard taken out of the parser, the sample goes red."""
    monkeypatch.setattr("core.knowledge.ledger.fail", lambda *_: (_ for _ in ()).throw(ValueError("unguarded")))
    with pytest.raises(ValueError, match="unguarded"):
        TARGETS["ledger"](b"{")
