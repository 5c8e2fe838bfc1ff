"""The ledger: what became of each conversation; of many years read in parts, and never read as something else."""

from __future__ import annotations

import json
import os
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.knowledge import ledger
from core.knowledge.journal import (
    FrozenPlan,
    plan_to_json,
    states_by_sha,
)
from core.knowledge.ledger import (
    Entries,
    LargeLedger,
    counts_by_status,
    format_ledger,
    merged_entry,
    note_reclaimed,
    parse_ledger,
    seen_ledger,
    write_ledger,
)
from core.knowledge.lines import PlannedFile

# --- the ledger ------------------------------------------------------------------------------------------------------


def test_a_ledger_to_the_byte() -> None:
    entries = {"b": {"status": "x"}, "a": {"path": "/ü/\udcff", "deleted": True, "at": "2026"}}
    assert format_ledger(entries) == (
        b'{\n  "entries": {\n    "a": {\n      "at": "2026",\n      "deleted": true,\n'
        b'      "path": "/\xc3\xbc/\\udcff"\n    },\n    "b": {\n      "status": "x"\n    }\n  }\n}\n'
    )
    assert parse_ledger(format_ledger(entries), Path("l")) == entries


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"entries": []}', b'{"entries": {"a": 1}}', b"\xff", b"[" * 99999]
)
def test_a_damaged_ledger_is_never_an_empty_one(data: bytes) -> None:
    found = attempt(parse_ledger, data, Path("ledger.json"))
    assert isinstance(found, KnowledgeError) and found.error.code == "ledger-corrupt"


@given(st.binary(max_size=100))
def test_any_bytes_are_a_ledger_or_an_error(data: bytes) -> None:
    """A ledger that a crash or a user spoilt is told as such; none may end the program."""
    found = attempt(parse_ledger, data, Path("ledger.json"))
    assert isinstance(found, Ok) or found.error.code == "ledger-corrupt"


def test_a_failure_does_not_erase_the_proof_of_a_harvest() -> None:
    old = {"status": "harvested", "run": "r", "trash": {"a": "/c"}}
    assert merged_entry(old, {"status": "too-large"}) == {**old, "last_error": "too-large"}
    new = {"status": "harvested", "run": "s"}
    assert merged_entry(old, new) == {**new, "trash": {"a": "/c"}}
    assert merged_entry(None, new) == new


def test_every_copy_in_the_trash_is_known() -> None:
    entry: dict[str, Any] = {}
    note_reclaimed(entry, {"trash": "a", "path": "/1", "until": "x"})
    note_reclaimed(entry, {"trash": "a.1", "path": "/2", "until": "y"})
    note_reclaimed(entry, {"trash": "", "path": "/3"})
    assert entry == {"deleted": True, "trash": {"a": "/1", "a.1": "/2"}, "trashed_until": "y"}


def test_a_ledger_is_counted_and_written_for_the_user_alone(tmp_path: Path) -> None:
    entries = {"abc": {"status": "harvested"}, "abd": {"status": "odd"}}
    assert counts_by_status(entries)["harvested"] == 1 and counts_by_status({})["too-large"] == 0
    write_ledger(Paths(tmp_path), {})
    assert (tmp_path / "knowledge" / "ledger.json").stat().st_mode & 0o777 == 0o600


def test_what_the_records_of_a_conversation_add_up_to() -> None:
    """Recovery acts on this: a state read wrongly writes lines twice, or takes a conversation away too early."""
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", ("- a",)),), {"facts": 1})
    records: list[dict[str, Any]] = [
        {"t": "done", "sha": "a", "path": "/talk", "entry": {"status": "harvested"}},
        {"t": "intent", "sha": "b", "path": "/broken", "plan": {"files": 1}},
        {"t": "entry", "sha": "a", "entry": {"status": "harvested", "run": "r"}},
        {"t": "moving", "sha": "a", "path": "/talk", "entry": {"status": "foreign"}},
        {"t": "entry", "sha": "a", "entry": "no table"},
        {"t": "intent", "sha": "c", "path": "/new", "plan": plan_to_json(plan)},
    ]
    found = states_by_sha(records)
    assert list(found) == ["a", "b", "c"]
    assert (found["a"].path, found["a"].done, found["a"].moving) == ("/talk", True, ["/talk"])
    assert found["a"].entry == {"status": "harvested", "run": "r"}
    assert (found["b"].plan, found["b"].done, found["c"].plan, found["c"].done) == (None, False, plan, False)
    assert states_by_sha([{"t": "entry", "sha": "d", "entry": {}}])["d"].done is False


# --- A ledger of many years: read in parts, so that the window stays alive, and never read as something else.

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


def told(data: bytes) -> Entries | ErrorInfo:
    """What a ledger of these bytes holds, or why it cannot be read."""
    found = attempt(parse_ledger, data, HERE)
    return found.value if isinstance(found, Ok) else found.error


@given(entries=ENTRIES, part=st.integers(1, 400), indent=st.sampled_from([None, 1, 2, 4]), cut=st.integers(0, 60))
def test_reading_in_parts_gives_what_reading_at_once_gives(
    entries: dict[str, dict[str, Any]], part: int, indent: int | None, cut: int
) -> None:
    """An entry that got lost at a seam would let a conversation be harvested twice."""
    ours = format_ledger(entries)
    for data in (
        ours,
        ours[: len(ours) - cut],
        ours[:-cut] + b"!" + ours[-cut:],
        json.dumps({"entries": entries, "more": 1}, indent=indent).encode(),
        ours.replace(b'    "', b'      "'),
    ):
        usual = ledger.PART_BYTES
        try:
            ledger.PART_BYTES = 1 << 30
            at_once = told(data)
            ledger.PART_BYTES = part
            assert told(data) == at_once
        finally:
            ledger.PART_BYTES = usual


def many(count: int) -> dict[str, dict[str, Any]]:
    row = {"path": "/home/someone/chats/会議", "status": "harvested", "items": {"facts": 3}, "model": "m" * 40}
    return {f"{number:064x}": {**row, "at": f"2026-05-01T00:00:{number % 60:02d}+00:00"} for number in range(count)}


def age(path: Path) -> None:
    """As if it had been written an hour ago: then its times say that it is the same."""
    os.utime(path, ns=(0, time.time_ns() - 3600 * 10**9))


def test_who_looks_while_another_thread_parses_sees_no_older_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The panel kept the number of before, and the next program read it in the cache."""
    monkeypatch.setattr(ledger, "_SETTLED_NS", -(3600 * 10**9))
    paths = Paths(tmp_path)
    write_ledger(paths, many(3))
    seen_ledger(paths)
    write_ledger(paths, many(5))
    parsing, parse, beside = threading.Event(), ledger.parse_ledger, list[int]()

    def slowly(data: bytes, path: Path) -> Any:
        if not parsing.is_set():
            parsing.set()
            found = seen_ledger(paths)
            beside.append(len(found))
        return parse(data, path)

    monkeypatch.setattr(ledger, "parse_ledger", slowly)
    found = attempt(seen_ledger, paths)
    assert isinstance(found, Ok) and (len(found.value), beside) == (5, [5])


def test_looking_again_parses_only_what_changed(tmp_path: Path) -> None:
    """The panel looks after every change on disk: four parses of the same bytes each time cost seconds."""
    paths = Paths(tmp_path)
    write_ledger(paths, many(3))
    first = attempt(seen_ledger, paths)
    assert isinstance(first, Ok) and first.value == many(3)
    again = attempt(seen_ledger, paths)
    assert isinstance(again, Ok) and again.value is first.value
    state = paths.ledger.stat()
    paths.ledger.write_bytes(paths.ledger.read_bytes().replace(b"harvested", b"too-large"))
    os.utime(paths.ledger, ns=(state.st_atime_ns, state.st_mtime_ns))  # same size, same time, other words
    other = attempt(seen_ledger, paths)
    assert isinstance(other, Ok) and {row["status"] for row in other.value.values()} == {"too-large"}
    paths.ledger.write_bytes(b"torn")
    age(paths.ledger)
    assert [isinstance(attempt(seen_ledger, paths), KnowledgeError) for _ in range(3)] == [True] * 3
    paths.ledger.unlink()
    assert seen_ledger(paths) == {}


def test_a_large_ledger_is_never_one_long_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """json.loads lets no other thread work until it ends: the panel would stand still for the whole file. The sizes of
    the steps are looked at, not the threads: how often those get a turn is a matter of the machine."""
    data, steps, loads = format_ledger(many(4000)), list[int](), json.loads

    def counting(text: str) -> Any:
        steps.append(len(text))
        return loads(text)

    monkeypatch.setattr(ledger.json, "loads", counting)
    parse_ledger(data, HERE)
    one_entry = len(data) // 3000
    assert len(steps) > 3 and max(steps) <= ledger.PART_BYTES + one_entry


def test_a_large_ledger_is_read_once_by_two_threads_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A window whose views look at once held 100,000 entries twice, and their file: 200 MB more than it needs."""
    monkeypatch.setattr(ledger, "LARGE_BYTES", 1000)
    monkeypatch.setattr(ledger, "_content", lambda _paths: pytest.fail("the whole file was read"))
    paths, read = Paths(tmp_path), ledger.entries_of
    write_ledger(paths, many(4000))
    calls, found = list[Any](), list[Any]()

    def slowly(file: Any) -> Any:
        calls.append(file)
        time.sleep(0.05)
        return read(file)

    monkeypatch.setattr(ledger, "entries_of", slowly)
    threads = [threading.Thread(target=lambda: found.append(seen_ledger(paths))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1 and found[0] is found[1] and isinstance(found[0], LargeLedger)
    assert found[0] == many(4000) and len(found[0]) == 4000


@pytest.mark.parametrize("part", [300, 4000, 1 << 16])
def test_an_entry_of_a_large_ledger_is_found_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Else a conversation that was harvested is unknown, or another one is shown in its place."""
    monkeypatch.setattr(ledger, "LARGE_BYTES", 1000)
    monkeypatch.setattr(ledger, "PART_BYTES", part)
    paths, chance = Paths(tmp_path), random.Random(part)
    words = ["", '\n    "', '": {', "\\", "会議", "x" * 900]
    made = {
        f"{chance.getrandbits(256):064x}" if number % 4 else f"path:/{chance.choice(words)}{number}": {
            "status": "harvested",
            "title": chance.choice(words) * chance.randrange(3),
            "trash": {chance.choice(words): {"a": 1}},
        }
        for number in range(400)
    }
    write_ledger(paths, made)
    found = seen_ledger(paths)
    assert isinstance(found, LargeLedger) and dict(found.items()) == made and list(found.values()) == [*found.values()]
    assert {key: found.get(key) for key in made} == made
    assert [found.get(key) for key in ("", "0", "f" * 64, "g", "path:", "\0", "\U0010ffff")] == [None] * 7


def test_a_thread_that_looks_while_another_reads_a_new_ledger_is_told_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The places of the old file were taken for those of the new one: a conversation that was harvested was unknown,
    or the ledger was said to be changed by another program."""
    monkeypatch.setattr(ledger, "LARGE_BYTES", 1000)
    paths, read = Paths(tmp_path), ledger.entries_of
    write_ledger(paths, many(400))
    found, begun, key = seen_ledger(paths), threading.Event(), f"{350:064x}"
    write_ledger(paths, {"0": {"status": "pruned"}} | many(400))

    def slowly(file: Any) -> Any:
        for at, row in enumerate(read(file)):
            if at == 100 and not begun.is_set():
                begun.set()
                time.sleep(0.3)
            yield row

    monkeypatch.setattr(ledger, "entries_of", slowly)
    other = threading.Thread(target=lambda: found.get("0"))
    other.start()
    assert begun.wait(10)
    try:
        assert found[key] == many(400)[key]
    finally:
        other.join()


def test_a_large_ledger_is_seen_as_it_is_and_never_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A harvest ends while somebody looks; an editor has put a key where it does not belong."""
    monkeypatch.setattr(ledger, "LARGE_BYTES", 1000)
    paths = Paths(tmp_path)
    write_ledger(paths, many(400))
    found = seen_ledger(paths)
    write_ledger(paths, many(300))
    assert len(dict(found)) == 300 and f"{350:064x}" not in found
    paths.ledger.write_bytes(paths.ledger.read_bytes()[:-9])
    for look in (lambda: dict(found), lambda: list(found.values())):
        with pytest.raises(KnowledgeError, match="was changed by another program"):
            look()
    paths.ledger.unlink()
    with pytest.raises(KnowledgeError, match="cannot be read"):
        found.get("a")
    rows = list(many(400).items())
    text = json.dumps({"entries": dict(rows[200:] + rows[:200])}, indent=2) + "\n"
    paths.ledger.write_text(text, "utf-8")
    assert isinstance(seen_ledger(paths), dict) and seen_ledger(paths) == many(400)
