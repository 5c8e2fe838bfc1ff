"""What was done and what lies in the trash, as a user asks for it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk, files, locks
from core.base.result import Ok, attempt
from core.commands import bullets
from core.commands.history import ledger as history
from core.commands.history.ledger import ledger
from core.commands.history.runs import UndoReport, runs
from core.commands.history.trash import trash_list, trash_purge, trash_restore
from core.commands.history.undo import undo as take_back
from core.commands.workspace import Workspace
from core.knowledge.changes import read_changes
from core.knowledge.journal import read_plans
from core.knowledge.ledger import read_ledger, write_ledger
from tests.faults.fault import Counter, Fault
from tests.harvest_world import NOW, FakeModel, World, never, workspace_of
from tests.histories.ground import in_child
from tests.made_home import (
    HURRIED,
    Clock,
    Model,
    clock_fixture,
    converse,
    error,
    harvested,
    make_home,
    one_harvest,
    read,
    workspace_fixture,
    write,
)

__all__ = ["clock_fixture", "workspace_fixture"]

# --- Ledger, trash, runs and undo: if these fail, a user cannot get back what a run took, or loses what they wrote.


def undo(workspace: Workspace, run: str) -> UndoReport:
    return take_back(workspace, run, editor_wait=HURRIED)


def entries(workspace: Workspace) -> dict[str, dict[str, Any]]:
    return read_ledger(workspace.paths)


def statuses(workspace: Workspace) -> list[str]:
    return [entry["status"] for entry in entries(workspace).values()]


# --- undo of a harvest -----------------------------------------------------------------------------------------------


def test_undo_brings_the_conversation_back_and_takes_out_exactly_its_lines(workspace: Workspace, clock: Clock) -> None:
    """Each line that goes is told; no harvest asks about the conversation again before the user does."""
    model = Model()
    write(workspace, "facts.md", "# Facts\n\n- mine\n")
    path = converse(workspace)
    before = path.read_bytes()
    report = harvested(workspace, model, clock)
    assert not path.exists() and "fact 1" in read(workspace, "facts.md") and "fact 1" in read(workspace, "digest.md")
    done = undo(workspace, report.run)
    assert (done.restored, done.lines_out, done.stayed, done.errors) == ([str(path)], 2, [], [])
    assert path.read_bytes() == before
    assert read(workspace, "facts.md") == "# Facts\n\n- mine\n"
    assert "task" not in read(workspace, "tasks.md").lower().replace("# tasks", "")
    assert "fact 1" not in read(workspace, "digest.md")
    assert statuses(workspace) == ["undone"] and read_plans(workspace.paths.plans, report.run) == {}
    told = {line for row in read_changes(workspace.paths) if row.run == f"undo-{report.run}" for line in row.removed}
    assert len(told) == 2 and not files.exists(workspace.paths.journal)
    assert harvested(workspace, model, clock).plan.undone == 1 and model.asked == 1
    harvested(workspace, model, clock, again=True)
    assert model.asked == 2 and statuses(workspace) == ["harvested"]
    assert "fact 2" in read(workspace, "facts.md") and "fact 1" not in read(workspace, "facts.md")


def test_a_line_that_the_person_changed_since_stays_and_is_counted(workspace: Workspace, clock: Clock) -> None:
    converse(workspace)
    report = harvested(workspace, Model(decisions=["tabs", "spaces"]), clock)
    bullets.edit(workspace, "facts", "fact 1", "my own words")
    path = workspace.paths.knowledge / "decisions.md"
    path.write_text(path.read_text().replace("- spaces", "- my line\n- spaces") + "  my details\n")
    done = undo(workspace, report.run)
    assert len(done.stayed) == 2 and done.lines_out == 2
    assert "my own words" in read(workspace, "facts.md")
    left = read(workspace, "decisions.md")
    assert "- my line\n- spaces [from:" in left and left.endswith("  my details\n") and "tabs" not in left


def test_an_occupied_name_keeps_the_bullets_and_says_why(workspace: Workspace, clock: Clock) -> None:
    first, second = converse(workspace, "one", "1"), converse(workspace, "two", "2")
    report = harvested(workspace, Model(), clock)
    first.write_text("a new conversation of that name")
    done = undo(workspace, report.run)
    assert [problem.code for problem in done.errors] == ["occupied"]
    assert done.restored == [str(second)] and first.read_text() == "a new conversation of that name"
    left = {entry["status"]: entry["path"] for entry in entries(workspace).values()}
    assert left == {"harvested": str(first), "undone": str(second)}
    facts = read(workspace, "facts.md")
    assert facts.count("- fact") == 1 and f"[from: {first.name}," in facts
    first.unlink()
    assert undo(workspace, report.run).restored == [str(first)]
    assert "- fact" not in read(workspace, "facts.md") and statuses(workspace) == ["undone", "undone"]


def test_what_was_purged_keeps_its_bullets(workspace: Workspace, clock: Clock) -> None:
    _, report = one_harvest(workspace, clock)
    trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED)
    done = undo(workspace, report.run)
    assert [problem.code for problem in done.errors] == ["purged"]
    assert "fact 1" in read(workspace, "facts.md") and len(read_plans(workspace.paths.plans, report.run)) == 1


@pytest.mark.parametrize("which", ["the harvest", "the run that only reclaimed"])
def test_undo_restores_what_a_later_run_reclaimed(workspace: Workspace, clock: Clock, which: str) -> None:
    """The harvest goes with its own run alone."""
    model, path = Model(), converse(workspace)
    first = harvested(workspace, model, clock, keep=True)
    assert path.exists()
    second = harvested(workspace, model, clock)
    assert not path.exists() and model.asked == 1 and first.run != second.run
    done = undo(workspace, first.run if which == "the harvest" else second.run)
    assert path.exists() and done.restored == [str(path)]
    if which == "the harvest":
        assert "fact 1" not in read(workspace, "facts.md")
        return
    assert done.lines_out == 0 and "fact 1" in read(workspace, "facts.md")
    [entry] = entries(workspace).values()
    assert entry["status"] == "harvested" and entry["deleted"] is False and "trash" not in entry
    harvested(workspace, model, clock)
    assert model.asked == 1


def test_undo_of_a_second_harvest_leaves_the_first_proven(tmp_path: Path) -> None:
    """The rules read it first, then a model: taking back the model's work must not touch the rules' lines."""
    workspace, clock = make_home(tmp_path, 'provider = "offline"'), Clock()
    path = converse(workspace, text="We decided to use PostgreSQL. TODO: write the migration guide.")
    first = _offline(workspace, clock)
    by_rules = read(workspace, "tasks.md")
    second = harvested(workspace, Model(), clock)
    undo(workspace, second.run)
    assert path.exists() and "fact 1" not in read(workspace, "facts.md")
    assert [line for line in read(workspace, "tasks.md").split("\n") if line.startswith("- ")] == [
        line for line in by_rules.split("\n") if line.startswith("- ")
    ]
    [entry] = entries(workspace).values()
    assert entry["run"] == first.run and entry["provider"] == "offline"


def _offline(workspace: Workspace, clock: Clock) -> Any:
    from core.commands.harvest import harvest
    from core.commands.harvest_options import HarvestRequest

    wanted = HarvestRequest(apply=True, provider="offline", keep=True)
    return harvest(workspace, wanted, now=clock, editor_wait=HURRIED)


def test_a_line_that_a_later_harvest_rests_on_stays(workspace: Workspace, clock: Clock) -> None:
    """The plan of the first run was lost, so the second read the conversation again and found the line there."""
    converse(workspace)
    first = harvested(workspace, Model(facts=["same"]), clock, keep=True)
    (workspace.paths.plans / f"{first.run}.jsonl").unlink()
    harvested(workspace, Model(facts=["same"]), clock)
    done = undo(workspace, first.run)
    assert read(workspace, "facts.md").count("- same") == 1 and any("- same" in line for line in done.stayed)
    assert set(done.stayed_why.values()) == {"another harvest rests on it"}


def test_undo_restores_only_the_copies_that_its_run_took(workspace: Workspace, clock: Clock) -> None:
    model = Model()
    early = converse(workspace, "early", "same")
    harvested(workspace, model, clock)
    late = converse(workspace, "late", "same")
    second = harvested(workspace, model, clock)
    assert not early.exists() and not late.exists() and model.asked == 1
    assert undo(workspace, second.run).restored == [str(late)]
    assert not early.exists() and late.exists()
    assert [row.path for row in trash_list(workspace)] == [str(early)]
    harvested(workspace, model, clock)  # which does not repeat just what was undone
    assert late.exists() and model.asked == 1


def test_what_the_person_wrote_again_after_an_undo_is_theirs(workspace: Workspace, clock: Clock) -> None:
    _, report = one_harvest(workspace, clock)
    facts = read(workspace, "facts.md")
    undo(workspace, report.run)
    write(workspace, "facts.md", facts)
    assert undo(workspace, report.run).lines_out == 0
    assert read(workspace, "facts.md") == facts


@pytest.mark.parametrize("step", ["write_ledger", "_forget_plans", "take_out"])
def test_undo_cut_at_any_step_is_finished_by_the_next(
    workspace: Workspace, clock: Clock, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path, report = one_harvest(workspace, clock)
    with monkeypatch.context() as cut:

        def power_cut(*_: object) -> None:
            raise KeyboardInterrupt

        cut.setattr(f"core.commands.history.undo.{step}", power_cut)
        with pytest.raises(KeyboardInterrupt):
            undo(workspace, report.run)
    assert path.exists()
    done = undo(workspace, report.run)
    assert done.errors == [] and done.lines_out == 2
    assert "fact 1" not in read(workspace, "facts.md") and statuses(workspace) == ["undone"]
    assert read_plans(workspace.paths.plans, report.run) == {}


def test_an_unknown_run_names_the_newest_and_an_undo_is_no_run(workspace: Workspace) -> None:
    edited = bullets.add(workspace, "facts", "a")
    found = error(take_back, workspace, "20200101T000000-abcdef", editor_wait=HURRIED)
    assert found.code == "unknown-run" and edited.run in found.hint
    for name in ("../../etc/passwd", ".", "", "x" * 999, "a\0b"):
        assert error(take_back, workspace, name, editor_wait=HURRIED).code == "unknown-run"
    undo(workspace, edited.run)
    assert error(take_back, workspace, f"undo-{edited.run}", editor_wait=HURRIED).code == "not-undoable"


def test_undo_waits_for_no_running_harvest(workspace: Workspace) -> None:
    edited = bullets.add(workspace, "facts", "a")
    with locks.locked(workspace.paths.lock):
        assert error(take_back, workspace, edited.run, editor_wait=HURRIED).code == "lock-held"
    assert "- a [from: by-hand" in read(workspace, "facts.md")


# --- undo of an edit -------------------------------------------------------------------------------------------------


def test_an_edit_is_taken_back_once(workspace: Workspace) -> None:
    write(workspace, "facts.md", "- a\n- b\n- b\n- c")
    done = bullets.remove(workspace, "facts", "facts.md:2")
    undo(workspace, done.run)
    assert read(workspace, "facts.md") == "- a\n- b\n- b\n- c"
    again = undo(workspace, done.run)
    assert again.lines_back == 0 and again.notes and read(workspace, "facts.md") == "- a\n- b\n- b\n- c"


def test_details_that_the_person_wrote_below_an_added_bullet_keep_it(workspace: Workspace) -> None:
    write(workspace, "facts.md", "- a\n")
    done = bullets.add(workspace, "facts", "b")
    text = read(workspace, "facts.md") + "  my details\n"
    write(workspace, "facts.md", text)
    assert (taken := undo(workspace, done.run)).stayed == list(done.added)
    assert set(taken.stayed_why.values()) == {"changed since"}
    assert read(workspace, "facts.md") == text


def test_an_edit_below_a_later_one_is_taken_back_alone(workspace: Workspace) -> None:
    write(workspace, "facts.md", "- a\n- b\n- c\n")
    first = bullets.edit(workspace, "facts", "a", "new a")
    bullets.remove(workspace, "facts", "b")
    undo(workspace, first.run)
    assert read(workspace, "facts.md") == "- a\n- c\n"
    third = bullets.edit(workspace, "facts", "c", "new c")
    write(workspace, "facts.md", "- a\n- newest c\n")
    assert undo(workspace, third.run).stayed == ["- new c"]
    assert read(workspace, "facts.md") == "- a\n- newest c\n"


def test_a_file_that_cannot_be_written_is_an_error_in_the_report(workspace: Workspace) -> None:
    path = write(workspace, "facts.md", "- a\n")
    done = bullets.remove(workspace, "facts", "a")
    path.chmod(0o444)
    failed = undo(workspace, done.run)
    assert [problem.code for problem in failed.errors] == ["read-only"]
    assert history.undo_text(failed) == f"nothing undone: {done.run}\n"
    path.chmod(0o600)
    assert undo(workspace, done.run).errors == [] and read(workspace, "facts.md") == "- a\n"


# --- runs and ledger -------------------------------------------------------------------------------------------------


def test_runs_are_listed_newest_first_with_counts(workspace: Workspace, clock: Clock) -> None:
    converse(workspace)
    first = harvested(workspace, Model(), clock)
    clock.days(1)
    edited = bullets.remove(workspace, "facts", "fact 1", now=clock)
    clock.days(1)
    last = bullets.add(workspace, "facts", "b", now=clock)
    undo(workspace, last.run)
    rows = runs(workspace)
    assert [row.run for row in rows] == [last.run, edited.run, first.run]
    assert [(row.kind, row.added, row.removed, row.undone) for row in rows] == [
        ("edit", 1, 0, True),
        ("edit", 0, 1, False),
        ("harvest", 2, 0, False),
    ]
    assert (rows[2].harvested, rows[2].reclaimed) == (1, 1)
    assert history.undo_command(workspace) == rows


def test_the_ledger_is_listed_by_status_and_by_hash(workspace: Workspace, clock: Clock) -> None:
    converse(workspace, "one", "1"), converse(workspace, "two", "2")
    harvested(workspace, Model(), clock)
    rows = ledger(workspace)
    assert len(rows) == 2 and rows[0].entry["at"] > rows[1].entry["at"]
    assert ledger(workspace, sha=rows[1].key[:12]) == [rows[1]]
    assert rows[1].to_json()["sha256"] == rows[1].key
    assert len(ledger(workspace, status="harvested")) == 2
    assert "harvested" in error(ledger, workspace, status="eaten").hint
    assert error(ledger, workspace, sha="zz").code == "no-entry"
    workspace.paths.ledger.write_text("{")
    assert error(ledger, workspace).code == "ledger-corrupt"


# --- The trash through the commands. If these fail, a conversation is gone before its time, or cannot be brought back.


def test_a_trashed_conversation_is_listed_and_restored_by_a_prefix(workspace: Workspace, clock: Clock) -> None:
    path = converse(workspace)
    before = path.read_bytes()
    harvested(workspace, Model(), clock)
    [row] = trash_list(workspace)
    assert (row.path, row.size) == (str(path), len(before)) and row.until.startswith("2026-05-15")
    back = trash_restore(workspace, row.sha256[:8], now=clock, editor_wait=HURRIED)
    assert back.path == str(path) and path.read_bytes() == before and "until it changes" in back.note
    [entry] = entries(workspace).values()
    assert entry["deleted"] is False and "trash" not in entry
    assert trash_list(workspace) == []
    for which in (row.sha256[:8], ""):
        assert error(trash_restore, workspace, which, editor_wait=HURRIED).code == "not-in-trash"


def test_restoring_never_overwrites_and_never_guesses(workspace: Workspace, clock: Clock) -> None:
    first, second = converse(workspace, "one", "same"), converse(workspace, "two", "same")
    harvested(workspace, Model(), clock)
    rows = trash_list(workspace)
    assert {row.path for row in rows} == {str(first), str(second)}
    assert error(trash_restore, workspace, rows[0].sha256[:10], editor_wait=HURRIED).code == "ambiguous"
    first.write_text("new")
    name = next(row.name for row in rows if row.path == str(first))
    other = next(row.name for row in rows if row.path == str(second))
    assert error(trash_restore, workspace, name, editor_wait=HURRIED).code == "occupied"
    assert first.read_text() == "new"
    trash_restore(workspace, other, editor_wait=HURRIED)
    [entry] = [entry for entry in entries(workspace).values() if entry["status"] == "harvested"]
    assert entry["trash"] == {name: str(first)} and second.exists()


def test_purge_takes_only_what_is_past_its_grace_period(workspace: Workspace, clock: Clock) -> None:
    one_harvest(workspace, clock)
    early = trash_purge(workspace, now=clock, editor_wait=HURRIED)
    assert (early.purged, early.waiting) == ([], 1)
    clock.days(20)
    late = trash_purge(workspace, now=clock, editor_wait=HURRIED)
    assert len(late.purged) == 1 and late.bytes > 0 and trash_list(workspace) == []
    assert late.to_json()["purged"] == late.purged
    kinds = sorted(entry["status"] for entry in entries(workspace).values())
    assert kinds == ["harvested", "pruned"]
    assert all("trash" not in entry for entry in entries(workspace).values())


def test_purge_refuses_when_the_harvest_has_vanished_but_not_when_the_person_removed_it(
    workspace: Workspace, clock: Clock
) -> None:
    one_harvest(workspace, clock)
    kept = {name: read(workspace, name) for name in ("facts.md", "tasks.md")}
    for name in kept:
        write(workspace, name, "")
    refused = trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED)
    assert [problem.code for problem in refused.errors] == ["harvest-vanished"] and refused.purged == []
    for name, text in kept.items():
        write(workspace, name, text)
    bullets.remove(workspace, "facts", "fact 1")
    bullets.remove(workspace, "tasks", "task 1")
    assert len(trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED).purged) == 1


def test_purge_refuses_a_damaged_an_unknown_and_an_unproven_conversation(workspace: Workspace, clock: Clock) -> None:
    converse(workspace, "one", "1"), converse(workspace, "two", "2")
    report = harvested(workspace, Model(), clock)
    rows = trash_list(workspace)
    (workspace.paths.trash / rows[0].name).write_text("changed")
    (workspace.paths.trash / ("0" * 64)).write_text("unknown")
    (workspace.paths.trash / "mine.txt").write_text("mine")
    plans = workspace.paths.plans / f"{report.run}.jsonl"
    kept = [line for line in plans.read_bytes().split(b"\n") if rows[1].sha256.encode() not in line]
    plans.write_bytes(b"\n".join(kept))
    refused = trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED)
    assert refused.purged == [] and len(refused.errors) == 3
    assert len(list(workspace.paths.trash.iterdir())) == 4


def test_purge_respects_what_the_host_application_protects(workspace: Workspace, clock: Clock) -> None:
    path, _ = one_harvest(workspace, clock)
    index = workspace.paths.conversations / "index-saved-conversations-1.json"
    for text in ("{", json.dumps({"conversations": [{"path": str(path)}]})):
        index.write_text(text)
        refused = trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED)
        assert refused.purged == [] and len(refused.errors) == 1
    index.write_text('{"conversations": []}')
    assert len(trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED).purged) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("at", range(1, 30, 2))
def test_the_ledger_names_nothing_that_a_killed_purge_has_removed(tmp_path: Path, at: int) -> None:
    """What is gone for good is told as gone, and what is still there can still be brought back."""
    world = World(tmp_path)
    for number in range(3):
        world.converse(f"User: talk {number}\n")
    world.run(FakeModel())
    assert len(world.trash()) == 3

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, "before"))):
            trash_purge(workspace_of(world), everything=True, now=lambda: NOW, editor_wait=HURRIED)

    assert in_child(killed) in (0, -9)
    world.run(FakeModel(never))
    here = {path.name for path in world.trash()}
    named = {name for entry in world.entries().values() for name in entry.get("trash", {})}
    assert named == here
    pruned = [key for key, entry in world.entries().items() if entry.get("status") == "pruned"]
    assert len(pruned) == 3 - len(here)
    for name in sorted(here):
        assert isinstance(attempt(trash_restore, workspace_of(world), name, editor_wait=HURRIED), Ok)


def test_a_large_ledger_says_what_its_json_says(workspace: Workspace) -> None:
    """It is parsed in parts; none becomes another one by that."""
    kinds: list[Any] = [{"facts": 1}, {"facts": True}, {"facts": 1.0}, {"facts": [1]}, {}, None, ["x"], {"facts": 2}]
    made = {
        f"{number:064x}": {"path": f"/talk-{number}", "status": "harvested", "items": kinds[number % 8], "model": None}
        for number in range(2000)
    }
    write_ledger(workspace.paths, made)
    read = read_ledger(workspace.paths)
    wanted = json.loads(workspace.paths.ledger.read_bytes())["entries"]
    assert [repr(row) for row in read.items()] == [repr(row) for row in wanted.items()]
