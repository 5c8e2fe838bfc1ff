"""What may be taken away, and when: the same content again, the settings, the person's own doing in between."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest

from tests.harvest_world import NOW, FakeModel, World, never, ordinary, says, snapshot, unreachable

DATE = "2026-06-12"


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
    assert "'knowledge missing restore' puts them back" in report.notes[0]
    world.clock = NOW + timedelta(days=99)
    for _ in range(2):  # said once; kept as long as the person says nothing
        report = world.run(FakeModel(never))
        assert (report.errors, report.notes) == ([], []) and again.exists() and len(world.trash()) == 1


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
