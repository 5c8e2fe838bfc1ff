"""Taking back, doing again and putting back: the user's own lines survive each of them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk, locks
from core.base.checked_lines import encode
from core.base.paths import project_paths
from core.base.result import KnowledgeError, Ok, attempt
from core.commands import bullets
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.history import trash as trash_commands
from core.commands.history.ledger import undo_text
from core.commands.history.runs import runs
from core.commands.history.trash import trash_list, trash_restore
from core.commands.history.undo import redo, undo
from core.commands.memories import memories_edit, save
from core.commands.quarantine import quarantine_accept
from core.commands.workspace import Workspace, open_workspace
from core.knowledge.changes import Change, read_changes
from core.knowledge.hunks import FileEdit, Hunk
from core.knowledge.journal import read_journal
from core.knowledge.ledger import read_ledger
from gui.state import History, Step
from tests.edited import held_line
from tests.faults.fault import Counter, Fault
from tests.harvest_world import (
    HURRIED,
    FakeModel,
    World,
    nobody_waits_for_editors,
    says,
    sha256,
    taken_back,
    workspace_of,
)
from tests.histories.ground import in_child
from tests.made_home import HURRIED as RESTORED_HURRIED
from tests.made_home import (
    Clock,
    Model,
    clock_fixture,
    converse,
    error,
    harvested,
    one_harvest,
    read,
    trusted,
    workspace_fixture,
    write,
)

__all__ = ["clock_fixture", "workspace_fixture"]


@pytest.fixture(autouse=True)
def _no_editor_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_waits_for_editors(monkeypatch)


# --- Undo at its edges: plans that wait, files that an edit made. If these fail, what was undone returns or is halved.


def test_a_plan_that_waits_to_be_written_is_forgotten_too(world: World) -> None:
    """Otherwise the undone harvest comes back by itself as soon as the file is mended."""
    spoilt = world.paths.knowledge / "questions.md"
    spoilt.mkdir(parents=True)
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    world.converse("a")
    report = world.run(says(facts=["first"], questions=["really?"]))
    assert report.errors and world.paths.journal.exists()
    done = taken_back(world, report.run)
    assert done.errors == [] or [error.code for error in done.errors] == ["harvest-failed"]
    assert world.text("facts.md") == "# Facts\n\n- mine\n" and not world.paths.journal.exists()
    spoilt.rmdir()
    model = says(facts=["second"])
    world.run(model)
    assert model.calls == 1 and [line.split(" [")[0] for line in world.bullets()] == ["- mine", "- second"]


def test_a_plan_of_another_run_goes_on_waiting(world: World) -> None:
    world.converse("a")
    first = world.run(FakeModel())
    spoilt = world.paths.knowledge / "questions.md"
    spoilt.mkdir()
    world.converse("b")
    world.run(says(questions=["really?"]))
    taken_back(world, first.run)
    assert world.paths.journal.exists()
    spoilt.rmdir()
    world.run(says())
    assert "- really?" in world.text("questions.md")


def test_a_row_that_a_power_cut_tore_costs_no_later_harvest_its_undo(world: World) -> None:
    """Its lines would stay for good."""
    changes = world.paths.changes
    changes.parent.mkdir(parents=True)
    changes.write_bytes(b'{"when": "2026-06-12T14:23:45Z", "run": "ol')
    world.converse("a")
    report = world.run(says(facts=["one"]))
    assert taken_back(world, report.run).lines_out == 1 and "one" not in world.text("facts.md")


@pytest.mark.parametrize("category", ["facts", "tasks_open", "tasks_done"])
def test_an_accepted_item_with_details_goes_back_whole(world: World, category: str) -> None:
    """Its file was made for it: the details must not stay behind without their bullet."""
    world.paths.conversations.mkdir(parents=True)
    held = f"# Quarantine\n\n- [no-quote] {category}: held [from: c, 2026-01-01]\n  one\n  two\n"
    world.knowledge("quarantine.md", held)
    workspace = open_workspace(str(world.paths.home))
    accepted = quarantine_accept(workspace, held_line(world.paths, "held"))
    assert "  two\n" in world.text(accepted.file)
    done = taken_back(world, accepted.run)
    assert not done.stayed and world.text("quarantine.md") == held
    assert not {"held", "one", "two"} & set(re.findall(r"\w+", world.text(accepted.file)))


# --- what an undo tells ----------------------------------------------------------------------------------------------


def test_a_line_that_has_vanished_is_not_said_to_stay(world: World) -> None:
    """Whoever reads "stayed" looks for the line in the file, and it is not there."""
    world.converse("a")
    report = world.run(says(facts=["one", "two", "three"]))
    lines = world.text("facts.md").split("\n")
    vanished, detailed = lines[2], lines[4]
    world.knowledge("facts.md", "\n".join([*lines[:2], *lines[3:5], "  my details", ""]))
    done = taken_back(world, report.run)
    assert (done.gone, done.stayed, done.lines_out) == ([vanished], [detailed], 1)
    assert f"gone before: {vanished}\n" in undo_text(done)
    assert f"stayed (details were written below it): {detailed}\n" in undo_text(done)
    assert done.to_json()["stayed_why"] == {detailed: "details were written below it"}


def test_a_line_in_the_persons_own_words_is_said_to_stay(world: World) -> None:
    world.converse("a")
    report = world.run(says(facts=["one"]))
    line = world.text("facts.md").split("\n")[2]
    world.knowledge("facts.md", f"# Facts\n\n{line.replace('one', 'number one')}\n")
    done = taken_back(world, report.run)
    assert (done.gone, done.stayed) == ([], [line.replace("one", "number one")])
    assert done.stayed_why == {done.stayed[0]: "reworded since"} and done.stayed[0] in world.text("facts.md")


def test_a_task_that_a_model_called_done_and_the_user_reopened_stays(world: World) -> None:
    """What a harvest itself called done leaves with it; what the user has opened again is theirs."""
    world.converse("a")
    report = world.run(says(tasks_done=["one", "two"]))
    bullets.reopen(workspace_of(world), "one")
    line = next(row for row in world.text("tasks.md").split("\n") if row.startswith("- one"))
    done = taken_back(world, report.run)
    assert (done.lines_out, done.stayed_why) == (1, {line: "moved to Open since"})
    assert world.text("tasks.md").index(line) < world.text("tasks.md").index("## Done")
    assert "- two" not in world.text("tasks.md") and taken_back(world, report.run).already


def test_an_edit_that_was_deleted_in_an_editor_is_gone_and_not_changed(world: World) -> None:
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    added = bullets.add(workspace_of(world), "facts", "a thought")
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    done = taken_back(world, added.run)
    assert done.gone == list(added.added) or "as it was before" in done.notes[0]
    assert not done.stayed and world.text("facts.md") == "# Facts\n\n- mine\n"


@pytest.mark.parametrize("kind", ["edit", "harvest"])
def test_a_second_undo_says_that_there_was_nothing_to_do(world: World, kind: str) -> None:
    """ "undone" for the second time reads as if something had happened again."""
    if kind == "edit":
        world.knowledge("facts.md", "# Facts\n\n- mine\n")
        edited = bullets.edit(workspace_of(world), "facts", "mine", "mine, and better")
        run = edited.run
    else:
        world.converse("a")
        run = world.run(FakeModel()).run
    first, before = taken_back(world, run), world.text("facts.md")
    assert not first.already and undo_text(first).startswith(f"undone: {run}")
    second = taken_back(world, run)
    assert second.already and undo_text(second).startswith(f"already undone: {run}")
    assert world.text("facts.md") == before


def test_the_list_of_runs_says_what_each_one_changed(world: World) -> None:
    """A list of bare ids does not tell which of ten edits the user wants back."""
    world.knowledge("facts.md", "# Facts\n\n- the port is 8080\n- other\n")
    workspace = workspace_of(world)
    bullets.edit(workspace, "facts", "8080", "the port is 8081")
    bullets.remove(workspace, "facts", "other")
    world.converse("a")
    world.run(says(facts=["first", "x" * 90]))
    listed = runs(workspace)
    texts = sorted(run.text for run in listed)
    assert texts == [
        "facts.md: + first (and 1 more)",
        "facts.md: - other",
        "facts.md: the port is 8080 -> the port is 8081",
    ]
    assert f"\n    {texts[2]}\n" in undo_text(listed)


def test_a_run_of_which_every_conversation_failed_is_not_offered(world: World) -> None:
    """Five runs with a wrong key stood above the one that the user wanted back."""
    world.converse("a")
    for _ in range(5):
        world.run(FakeModel(lambda number, prompt: "no json"))
    world.converse("b")
    kept = world.run(FakeModel(lambda number, prompt: "no json" if number < 3 else {"facts": [f"x {number}"]}))
    listed = runs(workspace_of(world))
    assert [run.run for run in listed] == [kept.run]
    unknown = error(undo, workspace_of(world), "20200101T000000-abcdef", editor_wait=HURRIED)
    assert unknown.hint == f"the newest runs are: {kept.run}"


def test_an_undo_of_a_run_that_failed_says_that_there_is_nothing_to_take_back(world: World) -> None:
    """It said "already undone" of what nobody had ever undone, and forgot that the conversation had failed."""
    world.converse("a")
    run, before = world.run(FakeModel(lambda number, prompt: "no json")).run, world.entries()
    for _ in range(2):
        said = undo_text(taken_back(world, run))
        assert said.startswith(f"nothing undone: {run}\nnote: there is nothing of this run to take back")
    assert world.entries() == before


def test_the_list_does_not_say_of_what_was_undone_that_nothing_had_been_harvested(world: World) -> None:
    world.converse("a")
    run = world.run(says(facts=["first"])).run
    assert f"{run}  harvest  1 harvested, 1 taken away, +1 -0 lines\n" in undo_text(runs(workspace_of(world)))
    taken_back(world, run)
    assert f"{run}  harvest  +1 -0 lines  (undone)\n" in undo_text(runs(workspace_of(world)))


# --- An edit of a project's memory, taken back: without it the answer promises an undo that does not exist.

NOW = datetime(2026, 2, 9, 10, 0, tzinfo=UTC)


def opened(tmp_path: Path, cwd: Path) -> Workspace:
    return open_workspace(str(tmp_path / "home"), None, {"HOME": str(tmp_path)}, cwd)


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "app"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    save(opened(tmp_path, folder), "Tabs here.", project=str(folder), now=lambda: NOW)
    return folder


def edit(workspace: Workspace, words: str, project: str = "") -> str:
    """The run of an edit of the project's first memory."""
    done = memories_edit(workspace, "project:1", words, project=project, now=lambda: NOW)
    return str(vars(done)["run"])


def the_text(project: Path) -> str:
    (path,) = project_paths(project).memories.glob("*.md")
    return path.read_text(encoding="utf-8")


def test_an_edit_of_a_projects_memory_is_taken_back_from_any_folder_of_it(tmp_path: Path, project: Path) -> None:
    before = the_text(project)
    run = edit(opened(tmp_path, project), "Spaces here.")
    assert "Spaces" in the_text(project)
    assert error(undo, opened(tmp_path, tmp_path), run).code == "unknown-run"
    report = undo(opened(tmp_path, project / "src"), run)
    assert the_text(project) == before and report.lines_back and not report.errors
    assert undo(opened(tmp_path, project), run).already and the_text(project) == before
    assert error(undo, opened(tmp_path, project), "edit-20260101T000000-abcdef").code == "unknown-run"


def test_who_edits_from_elsewhere_is_told_where_the_undo_works(tmp_path: Path, project: Path) -> None:
    far = memories_edit(opened(tmp_path, tmp_path), "project:1", "Far away.", project=str(project), now=lambda: NOW)
    assert str(project) in str(vars(far)["warning"])
    near = memories_edit(opened(tmp_path, project), "project:1", "Near by.", now=lambda: NOW)
    assert not vars(near)["warning"]


def test_what_the_person_wrote_since_stays(tmp_path: Path, project: Path) -> None:
    run = edit(opened(tmp_path, project), "Spaces here.")
    (path,) = project_paths(project).memories.glob("*.md")
    path.write_text(the_text(project).replace("Spaces here.", "Spaces here, by hand."), encoding="utf-8")
    report = undo(opened(tmp_path, project), run)
    assert not report.lines_back and "Spaces here, by hand." in the_text(project)


def test_two_undos_at_once_are_one_after_the_other(tmp_path: Path, project: Path) -> None:
    run = edit(opened(tmp_path, project), "Spaces here.")
    with locks.locked(project_paths(project).lock):
        assert error(undo, opened(tmp_path, project), run).code == "lock-held"
    assert undo(opened(tmp_path, project), run).lines_back


@pytest.mark.parametrize("then", ["undo", "edit"])
@pytest.mark.parametrize("at", range(1, 36, 2))
def test_an_edit_that_was_killed_can_be_taken_back_in_the_project(
    tmp_path: Path, project: Path, at: int, then: str
) -> None:
    """No harvest ever looks into a project: a promise that a crash left there would wait for ever, its undo lost."""
    before, paths, here = the_text(project), project_paths(project), opened(tmp_path, project)
    trusted(project, here.environment)

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, "after"))):
            edit(here, "Spaces here.")

    assert in_child(killed) in (0, -9)
    made = the_text(project) != before
    if then == "edit":
        edit(here, "Both here.")
        cut = [row.run for row in read_changes(paths) if any("Spaces" in line for line in row.added)]
        assert len(cut) == made
    else:
        promised = [row["change"]["run"] for row in read_journal(paths.log) if row["t"] == "intent"]
        runs = list(dict.fromkeys(promised)) or [row.run for row in read_changes(paths)]
        found = [attempt(undo, here, run) for run in runs]
        assert the_text(project) == before and (not made or [one for one in found if isinstance(one, Ok)])
        assert made or all(isinstance(one, KnowledgeError) for one in found)
    assert not paths.log.exists() or not made


def test_a_log_that_somebody_sent_completes_no_file_outside_the_knowledge(tmp_path: Path, project: Path) -> None:
    """A project comes from others: its log could put words behind the beginning of any file that it can guess."""
    here, paths = opened(tmp_path, project), project_paths(project)
    trusted(project, here.environment)
    mine = project / "profile"
    mine.write_text("abc\nde")
    data = b"abc\ndefault\n"
    edit_of_it = FileEdit(sha256("abc\n"), sha256(data), (Hunk(2, (), ("default\n",), "abc", None),))
    change = Change(
        "2026-02-09T10:00:00+00:00", "edit-20260209T100000-abcdef", "../../profile", ("default",), edit=edit_of_it
    )
    record = {"t": "intent", "id": "0-0", "pid": 1 << 30, "change": change.to_json(), "before": sha256("abc\n")}
    paths.log.parent.mkdir(parents=True, exist_ok=True)
    paths.log.write_bytes(encode(record | {"after": sha256(data), "size": 4}))
    attempt(undo, here, change.run)
    edit(here, "Spaces here.")
    assert mine.read_text() == "abc\nde"


# --- Taken back and done again: a user's edits, one at a time, beside somebody who writes in the same file.

FACTS = "# Facts\n\n- one [from: by-hand, 2026-05-01]\n- two [from: by-hand, 2026-05-01]\n"
TASKS = "# Tasks\n\n## Open\n\n- buy tea\n- clean the kettle\n\n## Done\n\n- boil water\n"


@pytest.fixture(name="home")
def home_fixture(workspace: Workspace) -> Workspace:
    write(workspace, "facts.md", FACTS)
    write(workspace, "tasks.md", TASKS)
    return workspace


ACTS: dict[str, Any] = {
    "add": lambda home: bullets.add(home, "facts", "three"),
    "edit": lambda home: bullets.edit(home, "facts", "one", "first"),
    "remove": lambda home: bullets.remove(home, "facts", "one"),
    "strike": lambda home: bullets.remove(home, "facts", "two", strike=True),
    "done": lambda home: bullets.done(home, "buy tea"),
    "reopen": lambda home: bullets.reopen(home, "boil water"),
}


@pytest.mark.parametrize("between", ["nobody", "another process"])
@pytest.mark.parametrize("act", sorted(ACTS))
def test_an_edit_is_taken_back_and_done_again_as_often_as_one_likes(home: Workspace, act: str, between: str) -> None:
    run = ACTS[act](home).run
    for number in range(3):
        if between != "nobody":
            bullets.add(home, "facts", f"theirs {number}")
            bullets.add(home, "tasks_open", f"their task {number}")
        after = {name: read(home, name) for name in ("facts.md", "tasks.md")}
        report = undo(home, run)
        assert report.edits and report.edits[0]["file"] in after and not report.stayed
        assert any(read(home, name) != text for name, text in after.items())
        again = redo(home, run)
        assert {name: sorted(read(home, name).split("\n")) for name in after} == {
            name: sorted(text.split("\n")) for name, text in after.items()
        }
        run = again.run
    if between == "nobody":
        undo(home, run)
        assert (read(home, "facts.md"), read(home, "tasks.md")) == (FACTS, TASKS)
    theirs = read(home, "facts.md").count("theirs ")
    assert theirs == (0 if between == "nobody" else 3)


def test_what_somebody_has_changed_since_is_not_done_again(home: Workspace) -> None:
    run = bullets.edit(home, "facts", "one", "first").run
    undo(home, run)
    bullets.edit(home, "facts", "one", "theirs")
    text = read(home, "facts.md")
    assert error(redo, home, run).code == "changed-since" and read(home, "facts.md") == text


def test_only_what_was_taken_back_is_done_again(home: Workspace) -> None:
    run = bullets.add(home, "facts", "three").run
    assert error(redo, home, run).code == "not-undone"
    assert undo(home, run) and redo(home, run)
    assert read(home, "facts.md").count("three") == 1


def test_the_history_of_a_window_goes_back_and_on_and_forgets_what_was_left_behind() -> None:
    history, steps = History(), [Step(lambda: None, f"edit-{number}") for number in range(3)]
    for step in steps:
        history.did(step)
    history.went_back(Step(lambda: None, "edit-1"), "edit-1")  # by the button of a toast, not the last one
    assert [step.run for step in history.done] == ["edit-0", "edit-2"]
    history.went_on(Step(lambda: None, "edit-9"), "edit-1")
    assert [step.run for step in history.done] == ["edit-0", "edit-2", "edit-9"] and not history.taken_back
    history.went_back(steps[0], "of another window")
    assert not history.taken_back
    history.went_back(steps[2], "edit-9")
    history.did(steps[1])
    assert not history.taken_back


# --- A user who brings a conversation back from the trash wants to have it: no later harvest takes it away again.


def restored(workspace: Workspace, clock: Clock, at: int = 0) -> str:
    """Bring the one at that place of the list back; its hash."""
    row = trash_list(workspace)[at]
    trash_restore(workspace, row.name, now=clock, editor_wait=RESTORED_HURRIED)
    return row.sha256


def test_a_restored_conversation_stays_through_any_number_of_harvests(workspace: Workspace, clock: Clock) -> None:
    model = Model()
    path = converse(workspace)
    harvested(workspace, model, clock)
    restored(workspace, clock)
    for _ in range(3):
        report = harvested(workspace, model, clock)
        assert path.exists() and report.reclaimed == 0 and not report.errors
    assert report.plan.counts["keep"] == 1 and "brought back by you" in report.plan.classified[0].reason
    harvested(workspace, model, clock, no_harvest=True)
    assert path.exists() and model.asked == 1


def test_it_is_taken_again_once_it_has_changed(workspace: Workspace, clock: Clock) -> None:
    path, _ = one_harvest(workspace, clock)
    restored(workspace, clock)
    path.write_text(path.read_text() + "User: and one more thing\n")
    assert harvested(workspace, Model(), clock).harvested == 1 and not path.exists()


def test_another_copy_of_the_same_content_goes_as_ever(workspace: Workspace, clock: Clock) -> None:
    path = converse(workspace, "one", "same")
    harvested(workspace, Model(), clock)
    restored(workspace, clock)
    other = converse(workspace, "two", "same")
    harvested(workspace, Model(), clock)
    assert path.exists() and not other.exists()


def test_a_better_model_reads_it_and_leaves_it_there(workspace: Workspace, clock: Clock) -> None:
    """The harvest of the rules is done again by a model; the conversation is still the user's."""
    model = Model()
    path = converse(workspace)
    with patch("core.harvest.distil.distil_offline", lambda conversation: {"facts": ["by rule"], "tasks_open": []}):
        harvest(workspace, HarvestRequest(apply=True, provider="offline"), now=clock, editor_wait=RESTORED_HURRIED)
    assert not path.exists()
    restored(workspace, clock)
    report = harvested(workspace, model, clock)
    assert path.exists() and report.harvested == 1 and any("brought back by you" in note for note in report.notes)


def test_a_crash_between_the_promise_and_the_move_keeps_the_promise(workspace: Workspace, clock: Clock) -> None:
    """The file is back in its place; without the note in the ledger the next harvest would take it again."""
    path, _ = one_harvest(workspace, clock)
    [row] = trash_list(workspace)
    with patch.object(trash_commands, "note_restored", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        trash_restore(workspace, row.name, now=clock, editor_wait=RESTORED_HURRIED)
    assert path.exists() and harvested(workspace, Model(), clock).reclaimed == 0 and path.exists()


def test_a_refused_restore_promises_nothing(workspace: Workspace, clock: Clock) -> None:
    path, _ = one_harvest(workspace, clock)
    path.write_text("another one of that name")
    [row] = trash_list(workspace)
    assert error(trash_restore, workspace, row.name, now=clock, editor_wait=RESTORED_HURRIED).code == "occupied"
    assert "restored" not in json.dumps(read_ledger(workspace.paths))


def test_an_undo_that_cannot_write_leaves_what_stays_away(world: World) -> None:
    """The old words would come back with the next harvest, beside the new ones that stand."""
    world.converse("a")
    world.run(says(facts=["one"]))
    workspace = workspace_of(world)
    run = bullets.edit(workspace, "facts", "one", "another").run
    kept, facts = world.text("removed.md"), world.paths.knowledge / "facts.md"
    facts.chmod(0o444)
    report = taken_back(world, run)
    facts.chmod(0o644)
    assert report.errors and "another" in world.text("facts.md") and world.text("removed.md") == kept


def test_an_undone_harvest_stays_undone_where_the_next_attempt_fails(world: World) -> None:
    """A failed `--again` had the next run read by itself what the user had taken back."""
    world.converse("chat")
    taken_back(world, world.run(says(facts=["The pump is blue"])).run)
    world.limits(again=True)
    assert world.run(FakeModel(lambda *_: "no JSON")).failed == 1
    world.limits(again=False)
    assert world.run(says(facts=["The pump is blue"])).harvested == 0
    assert "pump" not in world.text("facts.md")
    world.limits(again=True)
    assert world.run(says(facts=["The pump is blue"])).harvested == 1


def test_an_undone_harvest_stays_undone_where_the_attempt_that_failed_is_undone_too(world: World) -> None:
    """To take back the run that had failed made the next one read by itself what the user had taken back."""
    world.converse("chat")
    taken_back(world, world.run(says(facts=["The pump is blue"])).run)
    world.limits(again=True)
    taken_back(world, world.run(FakeModel(lambda *_: "no JSON")).run)
    world.limits(again=False)
    assert world.run(says(facts=["The pump is blue"])).harvested == 0
    assert "pump" not in world.text("facts.md")
