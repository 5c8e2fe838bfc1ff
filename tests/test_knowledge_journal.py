"""The journal and the ledger: what a crash leaves must be read as far as it can be trusted, and no further."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base import files
from core.base.paths import Paths
from core.base.result import Err, Ok
from core.knowledge.journal import (
    FrozenPlan,
    Journal,
    JournalError,
    archive,
    decode,
    encode,
    plan_from_json,
    plan_to_json,
    read_journal,
    read_plans,
    states_by_sha,
)
from core.knowledge.ledger import (
    counts_by_status,
    find_entry,
    format_ledger,
    merged_entry,
    note_reclaimed,
    parse_ledger,
    rebuild,
    write_ledger,
)
from core.knowledge.lines import PlannedFile

PLAN = FrozenPlan(
    (
        PlannedFile("facts.md", "# Facts", ("- é [from: a, 2026-01-01]",)),
        PlannedFile("tasks.md", "# Tasks", (), ("- d",)),
    ),
    {"facts": 1, "tasks_done": 1},
    {"1:2.md": {"path": "/x", "birth": 3}},
    {"status": "harvested", "run": "r"},
)
RECORDS: list[dict[str, Any]] = [
    {"t": "run", "run": "r"},
    {"t": "intent", "sha": "a", "path": "/c/a", "plan": json.loads(json.dumps(plan_to_json(PLAN)))},
    {"t": "applied", "sha": "a", "file": "facts.md", "added": ["- é [from: a, 2026-01-01]"]},
    {"t": "done", "sha": "a", "entry": {"status": "harvested", "run": "r"}},
    {"t": "reclaimed", "sha": "a", "path": "/c/\udcff", "trash": "a", "until": ""},
]


def test_a_record_to_the_byte() -> None:
    body = b'{"t":"run","run":"\\u00e9"}'
    assert encode({"t": "run", "run": "é"}) == b"%08x " % zlib.crc32(body) + body + b"\n"


def test_a_journal_torn_at_any_byte_is_trusted_up_to_there() -> None:
    data = b"".join(map(encode, RECORDS))
    ends = [sum(len(encode(record)) for record in RECORDS[:number]) for number in range(len(RECORDS) + 1)]
    for cut in range(len(data) + 1):
        whole = [number for number, end in enumerate(ends) if end <= cut][-1]
        found = list(decode(data[:cut]))
        assert found == RECORDS[: len(found)] and len(found) - whole in (0, 1)
        assert len(found) == whole or cut == ends[whole + 1] - 1  # only the line break was missing


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_flipped_byte_ends_the_trust(at: int, mask: int) -> None:
    data = bytearray(b"".join(map(encode, RECORDS)))
    at %= len(data)
    data[at] ^= mask
    line = bytes(data[:at]).count(b"\n")
    found = list(decode(bytes(data)))
    assert found == RECORDS[: len(found)] and len(found) <= len(RECORDS)
    assert len(found) <= line or (data[at] ^ mask) == 10


@given(st.binary(max_size=200))
def test_any_bytes_can_be_read(data: bytes) -> None:
    assert len(states_by_sha(decode(data))) <= data.count(b"\n")
    assert (
        states_by_sha(decode(encode(RECORDS[1]) + data))["a"].path == "/c/a"
    )  # what came before the damage still counts


odd_values = st.one_of(
    st.none(),
    st.integers(),
    st.sampled_from(["intent", "done", "applied", "a"]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["files", "items"]), st.lists(st.integers(), max_size=2)),
)
odd_keys = st.sampled_from(["t", "sha", "plan", "entry", "file", "path"])


@given(st.lists(st.dictionaries(odd_keys, odd_values), max_size=6))
def test_any_records_can_be_gathered(records: list[dict[str, Any]]) -> None:
    found = states_by_sha(records)
    assert set(found) == {row["sha"] for row in records if isinstance(row.get("sha"), str)}
    assert all(state.sha256 == sha for sha, state in found.items())


def test_a_plan_reads_back_as_it_was() -> None:
    assert plan_from_json(json.loads(json.dumps(plan_to_json(PLAN)))) == PLAN


def test_the_states_of_a_conversation() -> None:
    state = states_by_sha(RECORDS)["a"]
    assert (state.plan, state.done, state.applied, state.path) == (PLAN, True, {"facts.md"}, "/c/a")
    again = states_by_sha([*RECORDS, RECORDS[1]])["a"]
    assert not again.done and not again.applied  # a new plan for the same content begins anew


def test_after_a_failed_record_no_other_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "state" / "journal")
    journal.append(RECORDS[0])
    with monkeypatch.context() as patch:
        patch.setattr(files, "sync", lambda *_, **__: (_ for _ in ()).throw(files.SyncError(5, "Input/output error")))
        with pytest.raises(JournalError):
            journal.append(RECORDS[1], durable=True)
    with pytest.raises(JournalError):
        journal.append(RECORDS[2])
    journal.close()
    assert read_journal(tmp_path / "state" / "journal") == RECORDS[:2]


def test_an_archive_is_there_before_the_journal_shrinks(tmp_path: Path) -> None:
    journal, plans = tmp_path / "journal", tmp_path / "plans"
    journal.write_bytes(b"".join(map(encode, RECORDS)))
    archive(journal, plans, "r", RECORDS[:4], RECORDS[1:2])
    assert read_journal(journal) == RECORDS[1:2] and read_journal(plans / "r.jsonl") == RECORDS[:4]
    archive(journal, plans, "r", RECORDS[3:], [])
    assert not journal.exists() and read_journal(plans / "r.jsonl") == RECORDS
    assert read_plans(plans, "r") == {"a": PLAN}


@pytest.mark.parametrize("run", ["", "../r", ".hidden", "a/b", "nothing", "a\0b"])
def test_a_run_that_a_ledger_made_up_leads_nowhere(tmp_path: Path, run: str) -> None:
    assert read_plans(tmp_path, run) == {}


# --- the ledger ------------------------------------------------------------------------------------------------------


def test_a_ledger_to_the_byte() -> None:
    entries = {"b": {"status": "x"}, "a": {"path": "/ü/\udcff", "deleted": True, "at": "2026"}}
    assert format_ledger(entries) == (
        b'{\n  "entries": {\n    "a": {\n      "at": "2026",\n      "deleted": true,\n'
        b'      "path": "/\xc3\xbc/\\udcff"\n    },\n    "b": {\n      "status": "x"\n    }\n  }\n}\n'
    )
    assert parse_ledger(format_ledger(entries), Path("l")) == Ok(entries)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"entries": []}', b'{"entries": {"a": 1}}', b"\xff", b"[" * 99999]
)
def test_a_damaged_ledger_is_never_an_empty_one(data: bytes) -> None:
    found = parse_ledger(data, Path("ledger.json"))
    assert isinstance(found, Err) and found.error.code == "ledger-corrupt"


@given(st.binary(max_size=100))
def test_any_bytes_are_a_ledger_or_an_error(data: bytes) -> None:
    """A ledger that a crash or a person spoilt is told as such; none may end the program."""
    found = parse_ledger(data, Path("ledger.json"))
    assert isinstance(found, Ok) or found.error.code == "ledger-corrupt"


def test_a_rebuilt_ledger_holds_what_the_runs_proved(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    archive(paths.journal, paths.plans, "20260101-a", RECORDS, [])
    failed = {"t": "entry", "sha": "a", "entry": {"status": "harvest-failed", "error": "no"}}
    archive(paths.journal, paths.plans, "20260102-b", [failed], [])
    entry = rebuild(paths)["a"]
    assert (entry["status"], entry["last_error"], entry["deleted"]) == ("harvested", "no", True)
    assert entry["trash"] == {"a": "/c/\udcff"}


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


def test_a_unique_prefix_finds_an_entry(tmp_path: Path) -> None:
    entries = {"abc": {"status": "harvested"}, "abd": {"status": "odd"}}
    assert find_entry(entries, "abc") == Ok(("abc", {"status": "harvested"}))
    assert [row.error.code for prefix in ("ab", "x") if isinstance(row := find_entry(entries, prefix), Err)] == [
        "ambiguous",
        "no-entry",
    ]
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


def test_a_plan_says_nothing_of_facts_where_there_are_none() -> None:
    """Plans from before facts were kept read and write as they always did."""
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", ("- a",)),), {"facts": 1})
    row = plan_to_json(plan)
    assert "facts" not in row and row["items"] == {"facts": 1} and len(row["files"]) == 1
    told = plan_to_json(replace(plan, facts={"domain": "cli"}))
    assert told["facts"] == {"domain": "cli"} and set(told) == {*row, "facts"}
