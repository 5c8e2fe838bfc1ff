"""Journal, log and ledger: what was done, and what a killed run still owes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base import disk, files
from core.base.checked_lines import decode_line
from core.base.checked_lines import encode as log_encode
from core.base.paths import Paths
from core.base.result import Ok, attempt
from core.commands import bullets
from core.commands.history.runs import runs
from core.commands.history.undo import undo
from core.knowledge.changes import Change, append_changes, read_changes
from core.knowledge.hunks import FileEdit, Hunk
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
    rebuild,
)
from core.knowledge.lines import PlannedFile
from core.knowledge.log import carry_out, settle, take_away, untold
from tests.faults.fault import Counter, Fault
from tests.harvest_world import HURRIED, NOW, World, workspace_of
from tests.histories.ground import in_child

# --- The journal and the ledger: what a crash leaves must be read as far as it can be trusted, and no further.

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
    assert not again.done and not again.applied  # a new plan for the same content begins again


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


def test_a_rebuilt_ledger_holds_what_the_runs_proved(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    archive(paths.journal, paths.plans, "20260101-a", RECORDS, [])
    failed = {"t": "entry", "sha": "a", "entry": {"status": "harvest-failed", "error": "no"}}
    archive(paths.journal, paths.plans, "20260102-b", [failed], [])
    entry = rebuild(paths)["a"]
    assert (entry["status"], entry["last_error"], entry["deleted"]) == ("harvested", "no", True)
    assert entry["trash"] == {"a": "/c/\udcff"}


def test_a_plan_says_nothing_of_facts_where_there_are_none() -> None:
    """Plans from before facts were kept read and write as they always did."""
    plan = FrozenPlan((PlannedFile("facts.md", "# Facts", ("- a",)),), {"facts": 1})
    row = plan_to_json(plan)
    assert "facts" not in row and row["items"] == {"facts": 1} and len(row["files"]) == 1
    told = plan_to_json(replace(plan, facts={"domain": "cli"}))
    assert told["facts"] == {"domain": "cli"} and set(told) == {*row, "facts"}


# --- An edit that a crash cut off can still be undone: else a slip just before it could not be taken back.

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
BEFORE = "# Facts\n\n- one\n- two\n"


def kills(end: int) -> list[tuple[int, str]]:
    """After or in the middle of every third operation (`tests/faults` tries all); before one is after the last."""
    return [(at, ("after", "half")[at % 2]) for at in range(1, end, 3)]


def remove_one(world: World) -> Any:
    return bullets.remove(workspace_of(world), "facts", "one", now=lambda: NOW)


@needs_fork
@pytest.mark.parametrize(("at", "kind"), kills(36))
def test_whatever_an_edit_had_done_when_it_was_killed_can_be_taken_back(world: World, at: int, kind: str) -> None:
    world.knowledge("facts.md", BEFORE)

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            remove_one(world)

    assert in_child(killed) in (0, -9)
    after = world.text("facts.md")
    listed = runs(workspace_of(world))  # at once: nobody waits for the next harvest to take a slip back
    if (
        world.paths.knowledge / "removed.md"
    ).exists() and after == BEFORE:  # what is removed is written down before it goes
        assert [(row.kind, row.added) for row in listed] == [("edit", 1)]
    else:
        assert [(row.kind, row.removed) for row in listed] == ([("edit", 1)] if after != BEFORE else [])
    world.run()
    told = lines_told(world)
    assert [row.removed for row in told] == ([("- one",)] if after != BEFORE else [])
    if told:
        done = attempt(undo, workspace_of(world), told[0].run, editor_wait=HURRIED)
        assert isinstance(done, Ok) and done.value.lines_back == 1
    assert world.text("facts.md") == BEFORE and not untold(world.paths)


@needs_fork
@pytest.mark.parametrize(("at", "kind"), kills(26))
def test_a_first_bullet_that_was_killed_half_way_can_be_taken_back(world: World, at: int, kind: str) -> None:
    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            bullets.add(workspace_of(world), "decisions", "we keep it small", now=lambda: NOW)

    assert in_child(killed) in (0, -9)
    path = world.paths.knowledge / "decisions.md"
    stands = "we keep it small" in path.read_text() if path.exists() else False
    world.run()
    told = read_changes(world.paths)
    assert [row.file for row in told] == ["decisions.md"] * stands
    if told:
        undo(workspace_of(world), told[0].run, editor_wait=HURRIED)
        assert "we keep it small" not in path.read_text()
    assert not untold(world.paths)


@needs_fork
def test_an_edit_at_work_is_left_alone(world: World) -> None:
    """Its row would be told twice, and an undo would take it back twice."""
    world.knowledge("facts.md", BEFORE)
    real = files.sync_folder
    seen: list[int] = []

    def meanwhile(path: Any) -> None:
        real(path)
        if path == world.paths.knowledge:
            seen.append(settle(world.paths))

    with patch.object(files, "sync_folder", meanwhile):
        remove_one(world)
    assert seen and not any(seen) and len(lines_told(world)) == 1


def lines_told(world: World) -> list[Change]:
    """The changes of the files with bullets: what was removed is told beside them."""
    return [row for row in read_changes(world.paths) if row.file != "removed.md"]


def a_process_that_ended() -> int:
    return int(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True).stdout)


@needs_fork
@pytest.mark.parametrize(
    ("now", "made"),
    [
        ("# Facts\n\n- new\n- two\n- more\n", True),
        ("# Facts\n\n- one\n- two\n- more\n", False),
        ("# Facts\n\n- two\n", False),
        ("", False),
    ],
)
def test_after_another_save_the_lines_tell_whether_it_was_made(world: World, now: str, made: bool) -> None:
    world.knowledge("facts.md", BEFORE)
    bullets.edit(workspace_of(world), "facts", "one", "new", now=lambda: NOW)
    [change] = lines_told(world)
    world.paths.changes.unlink()
    world.paths.log.unlink()
    gone = a_process_that_ended()
    assert change.edit is not None
    with patch("os.getpid", lambda: gone), pytest.raises(OSError):
        carry_out(world.paths, change, cut_off, before=change.edit.before, after=change.edit.after)
    world.knowledge("facts.md", now)
    assert settle(world.paths) == made == len(read_changes(world.paths))
    assert not files.read_or_empty(world.paths.log)


def cut_off() -> bool:
    raise OSError("killed here")


@needs_fork
@pytest.mark.parametrize("cut", ["- by", "- by hand", "\0\0\0\0\0\0", "- b\0\0\0"])
@pytest.mark.parametrize("then", ["run", "edit"])
def test_a_bullet_that_a_crash_tore_is_whole_again(world: World, cut: str, then: str) -> None:
    """An append that was killed in its middle, or whose bytes a power cut took: half a bullet stays nobody's."""
    world.knowledge("facts.md", BEFORE)
    gone = a_process_that_ended()
    with patch("os.getpid", lambda: gone):
        bullets.add(workspace_of(world), "facts", "by hand", now=lambda: NOW)
    whole = world.text("facts.md")
    world.paths.changes.unlink()
    log = world.paths.log.read_bytes().split(b"\n")
    world.paths.log.write_bytes(log[0] + b"\n" + log[1][:7])
    world.knowledge("facts.md", BEFORE + cut)
    if then == "run":
        world.run()
    else:
        bullets.add(workspace_of(world), "facts", "more", now=lambda: NOW)
        whole += whole.split("\n")[-2].replace("by hand", "more", 1) + "\n"
    assert world.text("facts.md") == whole
    row = read_changes(world.paths)[0]
    done = attempt(undo, workspace_of(world), row.run, editor_wait=HURRIED)
    assert isinstance(done, Ok) and done.value.lines_out == 1 and "- by hand" not in world.text("facts.md")


@needs_fork
@pytest.mark.parametrize("start", ["", BEFORE])
def test_a_file_in_another_encoding_since_stops_nobody(world: World, start: str) -> None:
    """An edit was killed, and an editor has saved the file in Latin-1: each later edit and run would end there."""
    old = b"# Facts\n\n- one\n" + b"- caf\xe9\n"
    world.knowledge("facts.md", start or old)
    gone = a_process_that_ended()
    edit = FileEdit("", "", (Hunk(4, (), ("- new\n",), "- one", None),))
    change = Change(NOW.isoformat(), "edit-1", "facts.md", ("- new",), edit=edit)
    expected = hashlib.sha256(start.encode() or old).hexdigest()
    row = {"t": "intent", "id": "a", "pid": gone, "change": change.to_json(), "before": expected, "after": "0" * 64}
    world.paths.state.mkdir(exist_ok=True)
    world.paths.log.write_bytes(log_encode(row | {"size": len(start.encode() or old)}))
    world.knowledge("facts.md", old + b"- ne")
    assert settle(world.paths) == 0 and not read_changes(world.paths)
    assert world.paths.log.read_bytes() == b""
    assert (world.paths.knowledge / "facts.md").read_bytes() == old + b"- ne"


@needs_fork
def test_a_row_that_a_power_cut_took_is_told_again(world: World) -> None:
    """changes.jsonl is not synced for each edit; the log is, and the row is made from it, also of a later-changed
    line."""
    world.knowledge("facts.md", BEFORE)
    for old, new in (("one", "three"), ("three", "four")):
        bullets.edit(workspace_of(world), "facts", old, new, now=lambda: NOW)
    told = read_changes(world.paths)
    world.paths.changes.write_bytes(b"\0" * 40)
    listed = attempt(runs, workspace_of(world))
    assert isinstance(listed, Ok) and [row.added for row in listed.value] == [1, 1]
    world.run()
    assert read_changes(world.paths) == told


@needs_fork
def test_the_log_does_not_grow_for_ever(world: World) -> None:
    world.knowledge("facts.md", BEFORE)
    sizes = []
    for number in range(60):
        text = f"{number} " + "x" * 400
        bullets.add(workspace_of(world), "facts", text, now=lambda: NOW)
        sizes.append(world.paths.log.stat().st_size)
    assert max(sizes) < 80_000 and min(sizes[30:]) < 40_000 and len(read_changes(world.paths)) == 60


@needs_fork
@pytest.mark.parametrize("file", ["../outside.md", "/etc/passwd", "a\0b"])
def test_a_log_that_names_other_places_moves_nothing(world: World, file: str) -> None:
    world.knowledge("facts.md", BEFORE)
    append_changes(world.paths, [])
    world.paths.state.mkdir(exist_ok=True)
    change = Change(NOW.isoformat(), "edit-1", file, ("- x",))
    row = {"t": "intent", "id": "a", "pid": 0, "at": 0, "change": change.to_json(), "size": 0}
    world.paths.log.write_bytes(log_encode(row) + log_encode({"t": "done", "id": "a"}))
    assert settle(world.paths) == 0 and not read_changes(world.paths)


@needs_fork
def test_two_programs_edit_at_once(world: World) -> None:
    """No line of the log is torn by another writer, and every edit can be taken back."""
    world.knowledge("facts.md", BEFORE)
    children = []
    for name in "abcd":
        child = os.fork()
        if child == 0:
            made = [
                attempt(bullets.add, workspace_of(world), "facts", f"{name} {n}", now=lambda: NOW) for n in range(8)
            ]
            os._exit(0 if all(isinstance(row, Ok) for row in made) else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    lines = world.paths.log.read_bytes().split(b"\n")
    assert all(decode_line(line) for line in lines[:-1]) and lines[-1] == b""
    assert len(read_changes(world.paths)) == 32 == world.text("facts.md").count("by-hand")
    assert settle(world.paths) == 0 and len(read_changes(world.paths)) == 32
    for _ in range(2):
        take_away(world.paths)
        assert not world.paths.log.exists()
