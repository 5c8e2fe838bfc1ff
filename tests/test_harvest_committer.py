"""The one writer of a run, alone and in batches."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk, files
from core.base.paths import Paths
from core.harvest import batch
from core.harvest.batch import Batch, Staged
from core.harvest.committer import Committer
from core.harvest.distil import Harvest
from core.harvest.proofs import Proofs, find_missing
from core.harvest.report import THROUGH, Progress
from core.knowledge.changes import Change, append_changes
from core.knowledge.journal import FrozenPlan, Journal, JournalError, read_journal
from core.knowledge.lines import PlannedFile, ensure_lines, require_lines
from tests.facts_home import claude_session
from tests.harvest_world import (
    CATEGORY_FILES,
    HURRIED,
    NOW,
    FakeModel,
    World,
    never,
    ordinary,
    says,
    sha256,
    snapshot,
    taken_back,
    unreachable,
)
from tests.waiting import PATIENCE_SECONDS

# --- What may be taken away, and when: the same content again, the settings, the user's own doing in between.

DATE = "2026-06-12"


# --- the same content again ------------------------------------------------------------------------------------------


def test_nothing_goes_of_which_the_journal_could_not_say_where_it_went(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a kill in that moment nobody would know where it was."""
    path = world.converse("same")
    world.limits(keep=True).run(FakeModel())
    real = Journal.append

    def append(self: Journal, *records: Any, durable: bool = False) -> None:
        if any(record["t"] == "moving" for record in records):
            raise JournalError(28, "No space left on device")
        real(self, *records, durable=durable)

    monkeypatch.setattr(Journal, "append", append)
    report = world.limits(keep=False).run(FakeModel(never))
    assert [error.code for error in report.errors] == ["journal-failed"] and path.exists() and not world.trash()


def test_a_clock_that_was_wrong_makes_no_line_the_newest_for_years(world: World) -> None:
    world.converse(claude_session("", "hello").replace("2026-06-01", "2099-06-01"))
    world.run(says(facts=["one"]))
    assert world.text("facts.md").endswith(f"{DATE}]\n")


def test_the_same_content_later_costs_no_call_and_is_reclaimed(world: World) -> None:
    world.converse("same")
    world.run(FakeModel())
    before = world.bullets()
    again = world.converse("same")
    assert world.run(FakeModel(never)).reclaimed == 1
    assert not again.exists() and world.bullets() == before and len(world.trash()) == 2


def test_duplicates_in_one_run_are_asked_about_once(world: World) -> None:
    paths = [world.converse("same") for _ in range(3)]
    model = FakeModel()
    report = world.run(model)
    assert model.calls == 1 and report.reclaimed == 3 and not any(path.exists() for path in paths)
    assert sorted(world.entry("same")["trash"].values()) == sorted(map(str, paths))


def test_duplicates_of_a_failed_one_stay(world: World) -> None:
    paths = [world.converse("same") for _ in range(2)]
    world.run(FakeModel(unreachable))
    assert all(path.exists() for path in paths)


def test_a_harvest_without_its_committed_plan_is_no_proof(world: World) -> None:
    """The ledger alone must not take a conversation away."""
    world.converse("same")
    world.run(FakeModel())
    for archived in world.paths.plans.iterdir():
        archived.unlink()
    again, model = world.converse("same"), FakeModel()
    world.run(model)
    assert model.calls == 1 and not again.exists()


def test_a_harvest_that_vanished_from_the_files_keeps_the_conversation(world: World) -> None:
    """An editor saved a stale buffer: the knowledge is gone, so the conversation must not go as well."""
    world.converse("same")
    world.run(FakeModel())
    for name in ("facts.md", "decisions.md", "tasks.md"):
        world.knowledge(name, "# Empty\n")
    again = world.converse("same")
    report = world.run(FakeModel(never))
    assert again.exists() and report.errors[0].code == "harvest-vanished"
    assert world.text("facts.md") == "# Empty\n"  # and nothing was put back behind the user's back
    assert "'knowledge review all vanished --yes' puts them back" in report.notes[0]
    world.clock = NOW + timedelta(days=99)
    for _ in range(2):  # said once; kept as long as the user says nothing
        report = world.run(FakeModel(never))
        assert (report.errors, report.notes) == ([], []) and again.exists() and len(world.trash()) == 1


def test_a_harvest_that_vanishes_while_others_go_keeps_its_conversation(world: World) -> None:
    """An editor saves a stale buffer between the look at all that go together and the move: without a trash nothing
    would be left of the conversation, and nobody would say so."""
    world.limits(reclaim="never")
    first, second = world.converse("one"), world.converse("two")
    world.run(FakeModel())
    real = files.rename_without_replacing

    def saved_meanwhile(source: Path, target: Path) -> None:
        real(source, target)
        for name in CATEGORY_FILES if source == first else ():
            world.knowledge(name, "# Empty\n")

    with patch.object(files, "rename_without_replacing", saved_meanwhile):
        report = world.limits(reclaim="model").run(FakeModel(never), trash_days=0)
    assert not first.exists() and second.exists() and report.reclaimed == 1
    assert [error.code for error in report.errors] == ["harvest-vanished"]


def test_lines_taken_out_on_purpose_do_not_hold_a_conversation_back(world: World) -> None:
    from core.knowledge.changes import Change, append_changes

    world.converse("same")
    world.run(says(facts=["one", "two"]))
    lines = tuple(line for line in world.text("facts.md").split("\n") if line.startswith("- "))
    world.knowledge("facts.md", "# Facts\n")
    append_changes(world.paths, [Change(NOW.isoformat(), "edit-1", "facts.md", removed=lines)])
    again = world.converse("same")
    assert world.run(FakeModel(never)).reclaimed == 1 and not again.exists()


# --- what reclaims, and what does not --------------------------------------------------------------------------------


def test_an_offline_harvest_keeps_its_conversation_until_a_model_has_read_it(world: World) -> None:
    text = "User: remember\n\nAssistant: Decision: we use SQLite because it needs no server.\n"
    path = world.converse(text)
    report = world.run(None)
    entry = world.entry(text)
    assert path.exists() and report.kept == 1
    assert (entry["status"], entry["provider"], entry["deleted"]) == ("harvested", "offline", False)
    assert world.limits(provider="offline").plan().counts["keep"] == 1
    before = world.bullets()
    repeated = [line.split(" [from:")[0][2:] for line in before]
    world.limits(provider="openai").clock = NOW + timedelta(days=1)
    world.run(says(decisions=repeated or ["x"]))
    assert not path.exists() and all(world.bullets().count(line) == 1 for line in before)
    assert world.entry(text)["provider"] == "openai"


def test_lines_that_are_there_keep_their_older_date(world: World) -> None:
    """A second harvest of the same content must not double the first one's lines under a new date."""
    path = world.converse("User: x\n")
    with patch("core.harvest.distil.distil_offline", lambda conversation: {"facts": ["kept", "other"]}):
        world.run(None)
    world.clock = NOW + timedelta(days=3)
    world.run(says(facts=["kept", "new"]))
    name = path.name
    assert world.text("facts.md").split("\n")[2:-1] == [
        f"- kept [from: {name}, {DATE}]",
        f"- other [from: {name}, {DATE}]",
        f"- new [from: {name}, {DATE}]",
    ]


@pytest.mark.parametrize(
    ("reclaim", "offline_goes", "model_goes"), [("always", 1, 1), ("model", 0, 1), ("never", 0, 0)]
)
def test_the_setting_decides_what_may_go(world: World, reclaim: str, offline_goes: int, model_goes: int) -> None:
    world.limits(reclaim=reclaim)
    world.converse("a")
    assert world.run(None).reclaimed == offline_goes
    world.converse("b")
    assert world.run(FakeModel()).reclaimed >= model_goes and (world.run(FakeModel()).reclaimed == 0)
    assert any(world.paths.conversations.glob("talk-*")) == (reclaim == "never")


def test_keep_harvests_and_reclaims_nothing(world: World) -> None:
    path = world.converse("a")
    report = world.limits(keep=True).run(FakeModel())
    assert path.exists() and report.harvested == 1 and report.reclaimed == 0
    assert world.limits(keep=False).run(FakeModel(never)).reclaimed == 1


def test_without_grace_period_a_conversation_is_unlinked(world: World) -> None:
    path = world.converse("a")
    world.run(FakeModel(), trash_days=0)
    assert not path.exists() and not world.trash() and world.entry("a")["deleted"]


def test_a_conversation_saved_while_the_model_was_thinking_stays(world: World) -> None:
    """The user clicks "keep" during a long run: the plan was made before that."""
    path = world.converse("a")

    def save(number: int, prompt: str) -> dict[str, Any]:
        index = {"conversations": [{"path": str(path)}]}
        world.converse(json.dumps(index), "index-saved-conversations-9.json")
        return ordinary(number, prompt)

    report = world.run(FakeModel(save))
    assert path.exists() and report.harvested == 1 and any("saved by you" in note for note in report.notes)


def test_a_conversation_that_grew_while_the_model_was_thinking_stays(world: World) -> None:
    path = world.converse("a")

    def grow(number: int, prompt: str) -> dict[str, Any]:
        path.write_text("a and more")
        return ordinary(number, prompt)

    report = world.run(FakeModel(grow))
    assert path.read_text() == "a and more" and report.errors[0].code == "changed"


def test_a_limit_holds_for_what_was_harvested_before_as_well(world: World) -> None:
    """Who says --limit 1 wants to see one conversation go, not a hundred that an earlier run had read."""
    paths = [world.converse(text) for text in ("a", "b", "b", "c")]
    world.limits(keep=True).run(FakeModel())
    report = world.limits(keep=False, limit=1).run(FakeModel(never))
    assert (report.reclaimed, report.deferred, [path.exists() for path in paths].count(True)) == (1, 3, 3)
    assert world.limits(limit=0).run(FakeModel(never)).reclaimed == 0
    assert world.limits(limit=9).run(FakeModel(never)).reclaimed == 3


def test_a_limit_counts_copies_of_one_content(world: World) -> None:
    for text in ("a", "a", "a"):
        world.converse(text)
    report = world.limits(limit=2).run(FakeModel())
    assert (report.harvested, report.reclaimed, report.deferred) == (1, 2, 1)


# --- the user's own doing ------------------------------------------------------------------------------------------


def test_what_the_person_deletes_leaves_the_digest_and_does_not_come_back(world: World) -> None:
    world.converse("a")
    world.run(says(facts=["one", "two"]))
    kept = "\n".join(line for line in world.text("facts.md").split("\n") if not line.startswith("- one"))
    world.knowledge("facts.md", kept)
    world.run(FakeModel(never))
    assert "one" not in world.text("digest.md").replace("Knowledge", "") and "- two" in world.text("digest.md")
    assert world.text("facts.md") == kept


def test_a_deleted_digest_comes_back_with_the_next_run_and_not_when_it_is_off(world: World) -> None:
    world.converse("a")
    world.run(says(facts=["one"]))
    world.paths.digest.unlink()
    world.run(FakeModel(never), digest_max_bytes=None)
    assert not world.paths.digest.exists()
    world.run(FakeModel(never))
    assert world.paths.digest.exists()


def test_a_second_run_changes_nothing(world: World) -> None:
    world.converse("a")
    world.converse(b"x" * ((1 << 20) + 1))
    world.run(FakeModel())
    before = snapshot(world.paths.home)
    world.clock = NOW + timedelta(hours=1)
    world.run(FakeModel(never))
    after = snapshot(world.paths.home)
    lock = str(world.paths.lock.relative_to(world.paths.home))
    assert {**after, lock: before[lock]} == before


# --- Conversations that are written together: each file once for all of them, nobody held up, every promise as before.


def text(number: int) -> str:
    """A conversation in which the rules find a decision and a task."""
    said = f"User: We decided to use way {number} because it is short."
    return f"{said}\n\nAssistant: Noted.\n\nTODO: write part {number}.\n"


def by_rules(world: World, number: int) -> None:
    """This many conversations harvested in one thread."""
    for one in range(number):
        world.converse(text(one))
    report = world.run(None)
    assert report.harvested == number and not report.errors


# --- written once ----------------------------------------------------------------------------------------------------


def spent(folder: Path, number: int, clock: Callable[[], float]) -> tuple[float, float]:
    """Bytes written and read for each of that many conversations."""
    counted, real = Counter[str](), disk.perform

    def perform(name: str, call: Any, *arguments: Any, **named: Any) -> Any:
        done = real(name, call, *arguments, **named)
        if name in ("read", "write"):
            counted[name] += done if name == "write" else len(done)
        return done

    with patch.object(disk, "perform", perform), patch("core.harvest.committer.Batch", partial(Batch, clock=clock)):
        by_rules(World(folder), number)
    return counted["write"] / number, counted["read"] / number


_FEW: list[tuple[float, float]] = []


@pytest.fixture
def few(tmp_path: Path) -> tuple[float, float]:
    """What each of 300 conversations costs a machine on which no time passes: harvested once, below a test's own
    folders."""
    if not _FEW:
        _FEW.append(spent(tmp_path / "few", 300, lambda: 0.0))
    return _FEW[0]


def test_bytes_for_a_conversation_do_not_grow_with_the_store(tmp_path: Path, few: tuple[float, float]) -> None:
    """A store of ten thousand conversations wrote gigabytes, for each of them rewrote all tasks."""
    many = spent(tmp_path / "many", 300, lambda: 0.0)
    assert many[0] < few[0] * 1.1 and many[1] < few[1] * 1.1


def test_a_slow_machine_writes_no_more_than_a_fast_one(tmp_path: Path, few: tuple[float, float]) -> None:
    """A busy one rewrote tasks and ledger by the clock, for every few conversations: 20 % more in a store of 16,000."""
    looks = count()
    slow, _ = spent(tmp_path / "slow", 300, lambda: 0.1 * next(looks))
    assert slow < few[0] * 1.1


def test_a_batch_is_one_append_and_one_exchange(world: World) -> None:
    for name in ("decisions.md", "tasks.md"):
        world.knowledge(name, "# mine\n")
    written: list[str] = []
    append, exchange = files.append, files.exchange

    def appended(fd: int, data: bytes, size: int) -> None:
        written.append(os.readlink(f"/proc/self/fd/{fd}").rsplit("/", 1)[1])
        append(fd, data, size)

    def exchanged(one: Path, other: Path) -> bool:
        written.append(other.name)
        return exchange(one, other)

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not list open descriptors")
    with patch.multiple(files, append=appended, exchange=exchanged):
        by_rules(world, 20)
    assert Counter(written) == {"decisions.md": 1, "tasks.md": 1, "changes.jsonl": 1}


def test_a_batch_is_full_at_a_quarter_of_what_it_touches_or_of_the_run(world: World) -> None:
    """Or a large store is rewritten for a few lines, or a slow model's answers are in no file for the whole run."""
    now = [0.0]
    world.knowledge("facts.md", "- x\n" * 10_000)
    waiting = Batch(world.paths, lambda: now[0])
    assert not waiting.is_full() and waiting.seconds_left() is None

    def add(line: str) -> None:
        step: Any = type("Step", (), {"artifact": type("Artifact", (), {"name": "talk"})()})()
        plan = FrozenPlan((PlannedFile("facts.md", "# Facts", (line,)),), {})
        waiting.add(Staged(step, Harvest(()), None, plan))

    for _ in range(batch.CONVERSATIONS):
        add("y" * 100)
    assert not waiting.is_full()
    assert waiting.seconds_left() == pytest.approx(40_000 / batch.BYTES_A_SECOND)
    now[0] = 1.0
    assert waiting.seconds_left() == 0.0 and not waiting.is_full()
    add("y" * 10_000)
    assert waiting.is_full()
    assert len(waiting.take()) == batch.CONVERSATIONS + 1 and waiting.seconds_left() is None
    add("y")
    assert not waiting.is_full()
    now[0] += batch.SETTLED_SECONDS
    assert waiting.is_full() and waiting.take()
    now[0] = 120.0
    add("y")
    now[0] = 140.0
    assert not waiting.is_full() and waiting.seconds_left() == pytest.approx(15.0)
    now[0] = 160.0
    assert waiting.is_full() and waiting.seconds_left() == 0.0 and waiting.take()
    now[0] = 36_000.0
    add("y")
    now[0] += batch.LONGEST_SECONDS
    assert waiting.is_full()


# --- nobody is held up -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [2, 4])
def test_a_slow_answer_holds_nobody_up(world: World, jobs: int) -> None:
    """All others are asked, written and told of while one call is at work; before, a few calls ahead of it was all."""
    names = [world.converse(f"User: {number}\n").name for number in range(30)]
    told: list[Progress] = []
    others = threading.Event()

    def progress(row: Progress) -> None:
        if row.kind == THROUGH:
            told.append(row)
        if row.done == len(names) - 1:
            others.set()

    def answer(number: int, prompt: str) -> dict[str, Any]:
        if names[1] in prompt:
            assert others.wait(PATIENCE_SECONDS), f"only {len(told)} were through"
            until = time.monotonic() + PATIENCE_SECONDS
            while len(world.bullets()) < len(names) - 1:
                assert time.monotonic() < until, "what was answered is in no file"
        return {"facts": [f"fact {number}"]}

    report = world.run(FakeModel(answer), jobs=jobs, progress=progress)
    assert report.harvested == len(names) and not report.errors
    assert told[-1].name == names[1] and [row.done for row in told] == [*range(1, len(names) + 1)]
    assert len(world.bullets()) == len(names)


def test_what_was_told_and_could_not_be_written_is_told_as_failed(world: World) -> None:
    """Lines wait for others to be written with; who looks on must not believe that they stand in a file."""
    path, told = world.converse("one"), list[tuple[int, str]]()

    def refused(*arguments: Any, **named: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    with patch.object(batch, "ensure_lines", refused):
        report = world.run(
            says(facts=["one"]),
            progress=lambda row: told.append((row.done, row.outcome)) if row.kind == THROUGH else None,
        )
    assert told == [(1, "1 item"), (1, "failed")] and path.exists()
    assert (report.failed, report.harvested) == (1, 0)


def test_a_copy_goes_only_after_its_twin_is_written(world: World) -> None:
    """The steps that ask nobody go ahead of the answers; a copy's proof is the answer about its twin."""
    slow = threading.Event()
    paths = [world.converse("same") for _ in range(2)] + [world.converse(str(number)) for number in range(5)]

    def answer(number: int, prompt: str) -> dict[str, Any]:
        if "same" in prompt:
            slow.wait(0.2)
            assert paths[1].exists()
        return ordinary(number, prompt)

    report = world.run(FakeModel(answer), jobs=3)
    assert report.reclaimed == 7 and not report.errors and not any(path.exists() for path in paths)


# --- every promise as before -----------------------------------------------------------------------------------------


def test_what_was_answered_before_a_kill_is_not_asked_again(world: World) -> None:
    """It waits for its batch, and stands in the journal: an answer that was paid for is never lost."""
    for number in range(5):
        world.converse(f"User: {number}\n")
    model = FakeModel()
    with patch.object(Committer, "flush", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(model)
    asked, planned = model.calls, sum(row["t"] == "intent" for row in read_journal(world.paths.journal))
    report = world.run(model)
    assert planned and model.calls == asked + 5 - planned and not report.errors
    assert len(set(world.bullets())) == len(world.bullets()) == 5 * 4


def test_an_editor_that_saves_in_the_middle_of_a_batch_is_noticed(world: World) -> None:
    """It had loaded the file before the batch, and writes the old text over it: nothing of the batch is proven by what
    was there a moment ago."""
    path = world.knowledge("decisions.md", "# Decisions\n")
    paths = [world.converse(text(one)) for one in range(5)]
    world.limits(reclaim="always")
    real = require_lines

    def saved_just_now(folder: Path, planned: PlannedFile) -> list[str]:
        other = path.with_name("other")
        other.write_text("# Decisions\n\n- mine\n")
        other.replace(path)
        return real(folder, planned)

    with patch.object(batch, "require_lines", saved_just_now):
        report = world.run(None)
    assert report.failed == 5 and all(one.exists() for one in paths)
    assert {error.message.split(": ")[1] for error in report.errors} == {"decisions.md"}


def test_a_file_that_cannot_be_written_costs_only_who_wants_lines_in_it(world: World) -> None:
    paths = [world.converse(f"User: {number}\n") for number in range(6)]
    (world.paths.knowledge / "questions.md").mkdir(parents=True)

    def answer(number: int, prompt: str) -> dict[str, Any]:
        return {"facts": [f"fact {number}"], "questions": ["why?"] if "User: 3\n" in prompt else []}

    report = world.run(FakeModel(answer))
    assert (report.harvested, report.failed) == (5, 1)
    assert [path.exists() for path in paths] == [number == 3 for number in range(6)]


def test_what_a_person_types_while_a_plan_waits_is_not_taken_for_a_torn_line(world: World) -> None:
    path = world.knowledge("facts.md", "# Facts\n\n")
    world.converse("a")
    real = Batch.take

    def typed(self: Batch) -> list[Staged]:
        rows = real(self)
        if rows:
            path.write_text("# Facts\n\n- Fact")
        return rows

    with (
        patch.object(Batch, "take", typed),
        patch.object(files, "append", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        world.run(FakeModel())
    world.run(FakeModel(never))
    assert world.text("facts.md").startswith("# Facts\n\n- Fact\n- Fact 1 about the cache [from: ")


def test_recovery_writes_each_file_once_for_all_plans_that_wait(world: World) -> None:
    """After a kill in a large store it rewrote every file for each of thousands of plans."""
    for one in range(25):
        world.converse(text(one))
    for name in CATEGORY_FILES:
        world.knowledge(name, f"# {name}\n")
    with patch.object(batch, "ensure_lines", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(None)
    written: list[str] = []

    def ensured(folder: Path, planned: PlannedFile, **named: Any) -> Any:
        written.append(planned.name)
        return ensure_lines(folder, planned, **named)

    with patch.object(batch, "ensure_lines", ensured):
        report = world.run(None)
    told = [
        note for note in report.notes if note.startswith("finished 25 harvests that the last run left in the middle")
    ]
    undone = taken_back(world, told[0].split("'knowledge undo ")[1].split("'")[0])
    assert undone.forgotten == 25, "the run that is named is the one that wrote them"
    assert len(written) == len(set(written)) and {"decisions.md", "tasks.md"} <= set(written)


def test_a_run_writes_its_ledger_once(world: World) -> None:
    """Of a hundred thousand conversations it is rewritten for none: what a run has done stands in its journal."""
    sizes: list[int] = []
    real = files.write_atomic

    def write_atomic(path: Path, data: bytes, mode: int | None = None, *, lasting: bool = True) -> None:
        if path == world.paths.ledger:
            sizes.append(len(data))
        real(path, data, mode, lasting=lasting)

    with patch.object(files, "write_atomic", write_atomic):
        by_rules(world, 200)
    assert len(sizes) == 1 and len(world.entries()) == 200


def test_what_a_batch_wrote_is_journaled_once_a_file_not_once_a_conversation(world: World) -> None:
    """And what gets a new name last of all, with DONE: until then a bullet that the user deletes may come back."""
    world.knowledge("facts.md", "# Facts\n")
    rows: list[list[str]] = []
    plans = [
        (
            sha,
            FrozenPlan((PlannedFile("tasks.md", "", (f"- do {sha}",)), PlannedFile("facts.md", "", (f"- {sha}",))), {}),
        )
        for sha in ("a", "b")
    ]
    _, last = batch.write_together(
        world.paths,
        plans,
        known=lambda _: False,
        on_applied=lambda applied: rows.append([f"{row.sha256} {row.name}" for row in applied]),
        editor_wait=HURRIED,
    )
    assert rows == [["a facts.md", "b facts.md"]]
    assert [(row.sha256, row.name, row.added) for row in last] == [
        ("a", "tasks.md", ("- do a",)), ("b", "tasks.md", ("- do b",))
    ]  # fmt: skip


def test_the_same_words_of_two_conversations_of_one_name_are_told_once(world: World) -> None:
    planned = PlannedFile("facts.md", "# Facts", ("- same [from: talk, 2026-01-01]",))
    world.paths.knowledge.mkdir(parents=True)
    wrong, last = batch.write_together(
        world.paths,
        [(sha256("a"), FrozenPlan((planned,), {})), (sha256("b"), FrozenPlan((planned,), {}))],
        known=lambda _: False,
        on_applied=lambda rows: None,
        editor_wait=HURRIED,
    )
    assert wrong == {} and [(row.sha256, row.added) for row in last] == [
        (sha256("a"), planned.lines),
        (sha256("b"), ()),
    ]
    assert world.text("facts.md").count("- same") == 1


def test_thousands_of_lines_that_a_user_deleted_are_told_at_once(tmp_path: Path) -> None:
    """All changes and all files were read again for each harvest that lost one: 48 seconds for 1,600 of them."""
    paths = Paths(tmp_path / "home")
    paths.knowledge.mkdir(parents=True)
    proofs, entries, changes, left = Proofs(paths), {}, [], []
    for at in range(3000):
        lines = [f"- {word} {at} takes port {at} [from: s{at}, 2026-01-02]" for word in ("Server", "Queue")]
        plan = FrozenPlan((PlannedFile("facts.md", "# Facts", tuple(lines)),), {})
        proofs.add(f"{at}", plan)
        entries[f"{at}"] = {"status": "harvested", "at": NOW.isoformat(), "run": "r", "path": f"/s/{at}"}
        changes.append(Change(NOW.isoformat(), "r", "facts.md", tuple(lines), sha=f"{at}"))
        left += lines[:1]
    (paths.knowledge / "facts.md").write_text("# Facts\n\n" + "\n".join(left) + "\n")
    append_changes(paths, changes)
    begun = time.process_time()
    assert find_missing(paths, entries, proofs, NOW, 30) == []
    assert len(find_missing(paths, entries, proofs, NOW, 30, single=True)) == 3000
    assert time.process_time() - begun < 5
