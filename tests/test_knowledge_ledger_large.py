"""A ledger of many years: read in parts, so that the window stays alive, and never read as something else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.paths import Paths
from core.base.result import Err, Ok
from core.knowledge import ledger
from core.knowledge.ledger import format_ledger, parse_ledger, seen_ledger, write_ledger

HERE = Path("ledger.json")
TEXTS = st.text(max_size=12) | st.sampled_from(
    ['\n    },\n    "', "}", '"', "\\", "\n  }\n}\n", '{\n  "entries": {\n    "']
)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.dictionaries(TEXTS, inner, max_size=3) | st.lists(inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.dictionaries(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=4), max_size=12)


@given(entries=ENTRIES, part=st.integers(1, 400), indent=st.sampled_from([None, 1, 2, 4]), cut=st.integers(0, 60))
def test_reading_in_parts_gives_what_reading_at_once_gives(
    entries: dict[str, dict[str, Any]], part: int, indent: int | None, cut: int
) -> None:
    """An entry that got lost at a seam would let a conversation be harvested twice."""
    ours = format_ledger(entries)
    for data in (
        ours,
        ours[: len(ours) - cut],
        json.dumps({"entries": entries, "more": 1}, indent=indent).encode(),
        ours.replace(b'    "', b'      "'),
    ):
        usual = ledger.PART_BYTES
        try:
            ledger.PART_BYTES = 1 << 30
            at_once = parse_ledger(data, HERE)
            ledger.PART_BYTES = part
            assert parse_ledger(data, HERE) == at_once
        finally:
            ledger.PART_BYTES = usual


@given(entries=ENTRIES)
def test_the_text_of_a_ledger_is_that_of_json_to_the_byte(entries: dict[str, dict[str, Any]]) -> None:
    """Other tools, and a person's diff, know the layout of the seed; we only make it faster."""
    text = json.dumps({"entries": entries}, indent=2, sort_keys=True, ensure_ascii=False)
    assert format_ledger(entries) == (text + "\n").encode("utf-8", "backslashreplace")


def many(count: int) -> dict[str, dict[str, Any]]:
    row = {"path": "/home/someone/chats/会議", "status": "harvested", "items": {"facts": 3}, "model": "m" * 40}
    return {f"{number:064x}": {**row, "at": f"2026-05-01T00:00:{number % 60:02d}+00:00"} for number in range(count)}


def test_our_own_layout_is_read_in_parts() -> None:
    """Else a large ledger is one step again, and the window stands still for it."""
    entries = many(4000)
    data = format_ledger(entries)
    assert len(data) > 3 * ledger.PART_BYTES
    parts = ledger._in_parts(data)
    assert parts == {"entries": entries}
    assert ledger._in_parts(json.dumps({"entries": entries}).encode()) is None


def test_looking_again_parses_only_what_changed(tmp_path: Path) -> None:
    """The panel looks after every change on disk: four parses of the same bytes each time cost seconds."""
    paths = Paths(tmp_path)
    write_ledger(paths, many(3))
    first = seen_ledger(paths)
    assert isinstance(first, Ok) and first.value == many(3)
    again = seen_ledger(paths)
    assert isinstance(again, Ok) and again.value is first.value
    state = paths.ledger.stat()
    paths.ledger.write_bytes(paths.ledger.read_bytes().replace(b"harvested", b"too-large"))
    os.utime(paths.ledger, ns=(state.st_atime_ns, state.st_mtime_ns))  # same size, same time, other words
    other = seen_ledger(paths)
    assert isinstance(other, Ok) and {row["status"] for row in other.value.values()} == {"too-large"}
    paths.ledger.write_bytes(b"torn")
    assert isinstance(seen_ledger(paths), Err)
    paths.ledger.unlink()
    assert seen_ledger(paths) == Ok({})


def test_a_large_ledger_is_never_one_long_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """json.loads lets no other thread work until it ends: the panel would stand still for the whole file. The sizes of
    the steps are looked at, not the threads: how often those get a turn is a matter of the machine."""
    data, steps, loads = format_ledger(many(4000)), list[int](), json.loads

    def counting(text: str) -> Any:
        steps.append(len(text))
        return loads(text)

    monkeypatch.setattr(ledger.json, "loads", counting)
    assert isinstance(parse_ledger(data, HERE), Ok)
    one_entry = len(data) // 3000
    assert len(steps) > 3 and max(steps) <= ledger.PART_BYTES + one_entry
