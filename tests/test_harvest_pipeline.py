"""A whole harvest, from what lies in the home to what stands in the files: each test is a thing a person would lose."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import files, locks
from core.base.answer import Answer
from core.base.result import Err, Ok
from core.commands.harvest import HarvestRequest, harvest
from core.commands.workspace import open_workspace
from core.harvest.distil import RETRY_SUFFIX
from core.harvest.hashes import HashCache
from tests.harvest_world import NOW, FakeModel, World, never, ordinary, says, sha256, snapshot, unreachable

DATE = "2026-06-12"


# --- dry run ---------------------------------------------------------------------------------------------------------


def test_a_dry_run_changes_nothing_below_the_home(tmp_path: Path) -> None:
    """The promise of the default: look first. It needs no model, no key, and makes no knowledge folder."""
    world = World(tmp_path)
    world.converse()
    world.converse("x", "index-saved-conversations-1.json")
    before = snapshot(world.paths.home)
    config = tmp_path / "config.toml"
    config.write_text('[ai_settings.knowledge]\nprovider = "openai"\n')
    opened = open_workspace(str(world.paths.home), environment={"SLOP_CONFIG": str(config)}, cwd=tmp_path)
    assert isinstance(opened, Ok)
    report = harvest(opened.value, HarvestRequest(), generate=FakeModel(never))
    assert isinstance(report, Ok) and not report.value.applied and report.value.plan.counts["harvest"] == 1
    assert snapshot(world.paths.home) == before and not world.paths.knowledge.exists()


# --- formats of what is written --------------------------------------------------------------------------------------


def test_an_open_task_lands_before_done(world: World) -> None:
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- mine\n\n## Done\n\n- slept\n")
    path = world.converse()
    world.run(says(tasks_open=["Write it"], tasks_done=["Read it"]))
    origin = f"[from: {path.name}, {DATE}]"
    assert world.text("tasks.md") == (
        f"# Tasks\n\n## Open\n\n- mine\n- Write it {origin}\n\n## Done\n\n- slept\n- Read it {origin}\n"
    )


def test_a_note_on_a_missing_file_survives_as_a_fact(world: World) -> None:
    path = world.converse()
    report = world.run(says(files=[{"path": "/gone/code.py", "note": "caches"}, {"path": "", "note": "loose"}]))
    origin = f"[from: {path.name}, {DATE}]"
    assert world.text("facts.md") == f"# Facts\n\n- /gone/code.py: caches {origin}\n- loose {origin}\n"
    assert report.items["files"] == 2 and report.items["facts"] == 0
    assert world.entry("User: hello\n")["items"]["files"] == 2


def test_a_note_on_a_file_is_keyed_by_device_and_inode(world: World) -> None:
    target = world.folder / "code.py"
    target.write_text("pass")
    path = world.converse()
    world.run(says(files=[{"path": str(target), "note": "caches"}]))
    found = target.stat()
    note = world.paths.file_notes / f"{found.st_dev}:{found.st_ino}.md"
    assert note.read_text() == f"# {target}\n\n- caches [from: {path.name}, {DATE}]\n"


def test_a_file_without_a_final_line_break_is_not_glued_to(world: World) -> None:
    world.knowledge("facts.md", "# Facts\n\n- mine")
    path = world.converse()
    world.run(says(facts=["new"]))
    assert world.text("facts.md") == f"# Facts\n\n- mine\n- new [from: {path.name}, {DATE}]\n"


def test_a_statement_of_many_lines_becomes_one(world: World) -> None:
    path = world.converse()
    world.run(says(facts=[{"statement": "one\n\n## Done\r\u2028- two", "detail": "so\x85it is"}]))
    assert world.text("facts.md") == f"# Facts\n\n- one ## Done - two — so it is [from: {path.name}, {DATE}]\n"


def test_two_runs_append_and_the_newest_comes_first_in_the_digest(world: World) -> None:
    world.converse("a")
    world.run(says(facts=["older"]))
    world.converse("b")
    world.run(says(facts=["newer"]))
    shown = [line[2:7] for line in world.text("digest.md").split("\n") if line.startswith("- ")]
    assert shown == ["newer", "older"]


# --- the model -------------------------------------------------------------------------------------------------------


def test_an_answer_that_is_no_json_twice_is_two_calls_and_the_conversation_stays(world: World) -> None:
    path = world.converse()
    model = FakeModel(lambda number, prompt: "Sure! Here it is")
    report = world.run(model)
    assert model.calls == 2 and model.prompts[1] == model.prompts[0] + RETRY_SUFFIX
    assert path.exists() and len(report.errors) == 1
    entry = world.entry("User: hello\n")
    assert entry["status"] == "harvest-failed" and not entry["deleted"] and "2 attempts" in entry["error"]


def test_a_second_answer_that_is_right_is_taken(world: World) -> None:
    world.converse()
    assert world.run(FakeModel(lambda number, prompt: "no" if number == 1 else {"facts": ["x"]})).items["facts"] == 1


def test_a_cut_answer_is_not_taken_for_a_whole_one(world: World) -> None:
    path = world.converse()
    report = world.run(FakeModel(lambda number, prompt: Ok(Answer("{}", truncated=True))))
    assert path.exists() and report.errors[0].code == "truncated-answer"


def test_a_failing_provider_is_asked_once_and_the_run_goes_on(world: World) -> None:
    first, second = world.converse("a"), world.converse("b")
    model = FakeModel(lambda number, prompt: unreachable(1, "") if number == 1 else ordinary(number, prompt))
    report = world.run(model)
    assert (first.exists(), second.exists(), model.calls) == (True, False, 2)
    assert world.entry("a")["error"] == f"provider 'openai' has no key ({first})."
    assert [error.code for error in report.errors] == ["no-credentials"]


def test_an_empty_answer_is_a_harvest(world: World) -> None:
    path = world.converse()
    report = world.run(says())
    assert not path.exists() and report.empty == 1 and world.entry("User: hello\n")["status"] == "harvested"


def test_no_harvest_needs_no_credentials_and_takes_large_files_too(world: World) -> None:
    small, large = world.converse("a"), world.converse(b"x" * ((1 << 20) + 1))
    report = world.limits(harvest=False).run(None)
    assert not small.exists() and not large.exists() and report.reclaimed == 2 and not report.errors
    assert world.entry("a")["status"] == "deleted-unharvested" and world.entry("a")["deleted"]


def test_no_harvest_with_keep_takes_nothing(world: World) -> None:
    path = world.converse()
    assert world.limits(harvest=False, keep=True).run(None).reclaimed == 0 and path.exists()


# --- sizes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "calls"), [(1 << 20, 1), ((1 << 20) + 1, 0)])
def test_above_one_megabyte_no_call_is_made(world: World, size: int, calls: int) -> None:
    data = b"User: " + b"x " * (size // 2)
    path = world.converse(data[:size])
    model = FakeModel(lambda number, prompt: "short" if "SUMMARIZE" in prompt else {})
    world.run(model)
    asked = [prompt for prompt in model.prompts if prompt.startswith("HARVEST")]
    assert len(asked) == calls and path.exists() == (calls == 0)
    assert world.entry(data[:size])["status"] == ("harvested" if calls else "too-large")


@pytest.mark.parametrize(("size", "summaries"), [(65536, False), (65537, True)])
def test_above_64_kilobytes_a_conversation_is_summarised_first(world: World, size: int, summaries: bool) -> None:
    world.converse((b"User: " + b"word " * size)[:size])
    model = FakeModel(lambda number, prompt: "the summary" if prompt.startswith("SUMMARIZE") else {})
    world.run(model)
    assert any(prompt.startswith("SUMMARIZE") for prompt in model.prompts) == summaries
    assert ("the summary" in model.prompts[-1]) == summaries


def test_a_byte_cap_defers_one_and_takes_a_later_smaller_one(world: World) -> None:
    large, small = world.converse("x" * 100), world.converse("y" * 10)
    report = world.limits(max_run_bytes=50).run(FakeModel())
    assert (large.exists(), small.exists(), report.deferred) == (True, False, 1)
    assert sha256("x" * 100) not in world.entries()


def test_a_limit_of_conversations_defers_the_rest(world: World) -> None:
    paths = [world.converse(str(number)) for number in range(3)]
    report = world.limits(limit=2).run(FakeModel())
    assert [path.exists() for path in paths] == [False, False, True] and report.deferred == 1


def test_a_cap_of_tokens_stops_the_asking_and_is_no_failure(world: World) -> None:
    paths = [world.converse(f"User: {number}\n") for number in range(3)]
    model = FakeModel()
    report = world.run(model, max_run_tokens=150)
    assert model.calls < 3 and report.deferred == 3 - model.calls and not report.errors
    assert [path.exists() for path in paths].count(True) == report.deferred
    assert any("cap" in note for note in report.notes)


# --- the same content again ------------------------------------------------------------------------------------------


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
    assert world.text("facts.md") == "# Empty\n"  # and nothing was put back behind the person's back
    world.clock = NOW + timedelta(days=99)
    assert any(error.code == "purge-refused" for error in world.run(FakeModel(never)).errors) and world.trash()


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
        f"- new [from: {name}, 2026-06-15]",
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
    """The person clicks "keep" during a long run: the plan was made before that."""
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


# --- the person's own doing ------------------------------------------------------------------------------------------


def test_what_the_person_deletes_leaves_the_digest_and_does_not_come_back(world: World) -> None:
    world.converse("a")
    world.run(says(facts=["one", "two"]))
    kept = "\n".join(line for line in world.text("facts.md").split("\n") if not line.startswith("- one"))
    world.knowledge("facts.md", kept)
    world.run(FakeModel(never))
    assert "one" not in world.text("digest.md").replace("Knowledge", "") and "- two" in world.text("digest.md")
    assert world.text("facts.md") == kept


def test_an_empty_store_has_no_digest(world: World) -> None:
    world.converse("a")
    world.run(says(facts=["one"]))
    world.knowledge("facts.md", "# Facts\n")
    assert world.run(FakeModel(never)).digest == "" and not world.paths.digest.exists()


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


# --- a store that cannot be written ----------------------------------------------------------------------------------


def _folder(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _link(path: Path) -> None:
    elsewhere = path.parent.parent / "elsewhere.md"
    elsewhere.write_text("not ours\n")
    path.unlink(missing_ok=True)
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("spoil", [_folder, _link])
def test_a_spoilt_file_fails_one_harvest_and_its_plan_is_finished_later(world: World, spoil: Any) -> None:
    """Stands for a read-only file (these tests may run as root, who may write everything)."""
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    first, second = world.converse("a"), world.converse("b")
    spoil(world.paths.knowledge / "facts.md")
    rows: list[dict[str, Any]] = [{"facts": ["first"], "decisions": ["first too"]}, {"questions": ["second?"]}]
    report = world.run(FakeModel(lambda number, prompt: rows[number - 1]))
    assert (first.exists(), second.exists()) == (True, False)
    assert [error.code for error in report.errors] == ["harvest-failed", "digest-failed"]
    assert "facts.md" in report.errors[0].message
    assert world.entry("a")["status"] == "harvest-failed" and world.entry("b")["status"] == "harvested"
    again = world.run(FakeModel(never))
    assert first.exists() and [error.code for error in again.errors] == ["harvest-failed", "digest-failed"]
    spoilt = world.paths.knowledge / "facts.md"
    spoilt.unlink() if spoilt.is_symlink() else spoilt.rmdir()
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    final = world.run(FakeModel(never))
    assert not final.errors and not first.exists()
    assert world.text("facts.md") == f"# Facts\n\n- mine\n- first [from: {first.name}, {DATE}]\n"
    assert world.text("decisions.md").count("first too") == 1
    assert world.entry("a")["status"] == "harvested"
    if (elsewhere := world.paths.home / "elsewhere.md").exists():
        assert elsewhere.read_text() == "not ours\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_read_only_file_fails_the_harvest_of_an_ordinary_person(world: World) -> None:
    for name in ("facts.md", "tasks.md"):
        world.knowledge(name, f"# {name}\n").chmod(0o444)
    path = world.converse("a")
    child = os.fork()
    if child == 0:
        for folder in [world.folder, *world.folder.parents][:4]:
            os.chmod(folder, 0o755)
        for place, _, names in os.walk(world.paths.home):
            for name in [place, *(os.path.join(place, name) for name in names)]:
                os.chown(name, 12345, 12345)
        os.setgid(12345)
        os.setuid(12345)
        report = world.run(says(facts=["x"], tasks_open=["y"]))
        os._exit(0 if [error.code for error in report.errors] == ["harvest-failed"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.exists() and world.text("facts.md") == "# facts.md\n" and world.text("tasks.md") == "# tasks.md\n"
    assert world.entry("a")["status"] == "harvest-failed"


def test_a_full_disk_keeps_every_conversation(world: World) -> None:
    paths = [world.converse(str(number)) for number in range(3)]
    full = OSError(errno.ENOSPC, "No space left on device")
    with patch.object(files, "append", side_effect=full), patch.object(files, "create_atomic", side_effect=full):
        report = world.run(FakeModel())
    assert all(path.exists() for path in paths) and len(report.errors) == 3
    world.run(FakeModel(never))
    assert not any(path.exists() for path in paths)


def test_a_disk_that_does_not_confirm_ends_the_run(world: World) -> None:
    """After a failed fsync the kernel may have dropped the data: nothing more may be reclaimed on its word."""
    paths = [world.converse(str(number)) for number in range(3)]
    world.knowledge("facts.md", "# Facts\n")
    real, seen = files.sync, []

    def sync(fd: int, *, data_only: bool = False) -> None:
        seen.append(data_only)
        if seen.count(True) == 1 and not data_only:  # the plan is in the journal, the lines are not on the disk
            raise files.SyncError(errno.EIO, "Input/output error")
        real(fd, data_only=data_only)

    model = FakeModel()
    with patch.object(files, "sync", sync):
        report = world.run(model)
    asked = model.calls
    assert all(path.exists() for path in paths) and asked <= 2
    assert report.errors[0].code == "sync-failed"
    report = world.run(model)
    assert not report.errors and model.calls == asked + 2 and not any(path.exists() for path in paths)


def test_a_corrupt_ledger_is_set_aside_and_rebuilt(world: World) -> None:
    world.converse("a")
    world.run(FakeModel())
    good = world.entries()
    world.paths.ledger.write_text('{"entries": {"')
    again = world.converse("a")
    report = world.run(FakeModel(never))
    assert not again.exists() and any("set aside" in note for note in report.notes)
    aside = list(world.paths.knowledge.glob("ledger.corrupt-*.json"))
    assert len(aside) == 1 and aside[0].read_text() == '{"entries": {"'
    assert {**world.entries()[sha256("a")], "trash": {}, "trashed_until": ""} == {
        **good[sha256("a")], "trash": {}, "trashed_until": "",
    }  # fmt: skip


def test_a_lost_ledger_is_rebuilt_from_the_plans(world: World) -> None:
    world.converse("a")
    world.run(FakeModel())
    good = world.entries()
    world.paths.ledger.unlink()
    world.converse("a")
    world.run(FakeModel(never))
    assert world.entries().keys() == good.keys()


def test_a_ledger_that_cannot_be_read_stops_the_run(world: World) -> None:
    """Unreadable is not corrupt: setting it aside would forget everything for a passing error."""
    path = world.converse("a")
    world.paths.ledger.mkdir(parents=True)
    result = world.try_run(FakeModel(never))
    assert isinstance(result, Err) and "ledger" in result.error.message and path.exists()
    assert world.paths.ledger.is_dir()


# --- two at once, and stopping ---------------------------------------------------------------------------------------


def test_a_second_run_says_who_holds_the_lock(world: World) -> None:
    path = world.converse("a")
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom core.base import locks\n"
        "with locks.locked(Path(sys.argv[1])):\n print('held', flush=True)\n time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(world.paths.lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        result = world.try_run(FakeModel(never))
        other.kill()
    assert isinstance(result, Err) and result.error.code == "lock-held" and str(other.pid) in result.error.message
    assert path.exists()
    world.run(FakeModel())  # the lock of a dead process holds nobody up
    assert not path.exists()


def test_the_lock_names_its_holder(world: World) -> None:
    with locks.locked(world.paths.lock), pytest.raises(locks.LockHeldError) as caught, locks.locked(world.paths.lock):
        pass
    assert caught.value.holder == str(os.getpid())


def test_a_cancelled_run_keeps_what_it_did_and_the_next_one_goes_on(world: World) -> None:
    paths = [world.converse(str(number)) for number in range(6)]
    model, done = FakeModel(), []
    report = world.run(model, progress=done.append, cancelled=lambda: len(done) >= 2)
    first = report.harvested
    assert report.cancelled and 2 <= first <= 3
    assert [path.exists() for path in paths] == [False] * first + [True] * (6 - first)
    assert len(world.entries()) == first and not world.paths.journal.exists()
    report = world.run(model, jobs=3)
    assert not report.cancelled and report.harvested == 6 - first


def test_an_interrupt_in_the_middle_leaves_a_store_that_the_next_run_finishes(world: World) -> None:
    paths = [world.converse(str(number)) for number in range(2)]
    with patch.object(files, "create_atomic", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        world.run(FakeModel())
    model = FakeModel()
    world.run(model)
    assert model.calls == 1 and not any(path.exists() for path in paths)


def test_parallel_calls_commit_in_the_order_of_the_conversations(world: World) -> None:
    names = [world.converse(f"User: {number}\n").name for number in range(12)]
    world.run(FakeModel(lambda number, prompt: {"facts": ["x"]}), jobs=6)
    origins = [line.split("[from: ")[1].split(",")[0] for line in world.bullets()]
    assert origins == names


# --- the hash cache --------------------------------------------------------------------------------------------------


def test_an_unchanged_conversation_is_not_read_again_and_a_changed_one_is(world: World) -> None:
    path = world.converse("a")
    cache = HashCache()
    plan = [step.sha256 for step in world.plan().steps]
    assert plan == [sha256("a")]
    with patch("time.time_ns", lambda: path.stat().st_ctime_ns + 3_000_000_000):
        world.limits(keep=True).run(FakeModel(), cache)
    copy = HashCache.from_json(cache.to_json())
    with patch("core.harvest.hashes._sha256", side_effect=AssertionError("read again")):
        world.run(FakeModel(never), copy)
    path.write_text("b")
    assert world.run(FakeModel(), copy).harvested == 1


def test_a_change_within_one_tick_of_the_clock_is_seen(world: World) -> None:
    """Same size, same inode, same times: only a hash that was not remembered too early shows the difference."""
    path = world.converse("a")
    cache = HashCache()
    world.limits(keep=True).run(FakeModel(), cache)
    assert cache.to_json() == b"{}"
    found = path.stat()
    path.write_text("b")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert world.run(FakeModel(), cache).harvested == 1


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"a": []}', b'{"a": 1}', b'{"a": [1, 2, 3, 4, {}]}', b"[" * 99999]
)
def test_a_damaged_cache_is_an_empty_one(world: World, data: bytes) -> None:
    world.converse("a")
    assert world.run(FakeModel(), HashCache.from_json(data)).harvested == 1
