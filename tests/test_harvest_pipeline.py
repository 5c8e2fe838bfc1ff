"""A whole run, from what lies in the home to what stands in the files."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from core.base.result import KnowledgeError, Ok, attempt, refuse
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import open_workspace
from core.conversations.read import read_conversation
from core.harvest import pipeline
from core.harvest.distil import shown_bytes
from core.harvest.report import ANSWERED, Progress
from tests.harvest_world import FakeModel, World, never, ordinary, says, sha256, snapshot

# --- A whole harvest, from what lies in the home to what stands in the files: each test is a thing a user would lose.

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
    report = attempt(harvest, opened, HarvestRequest(), generate=FakeModel(never))
    assert isinstance(report, Ok) and not report.value.applied and report.value.plan.counts["harvest"] == 1
    assert snapshot(world.paths.home) == before and not world.paths.knowledge.exists()


# --- files that the user closed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["facts.md", "tasks.md"])
def test_a_file_that_was_made_read_only_is_left_and_its_conversation_waits(tmp_path: Path, name: str) -> None:
    """Root's harvest wrote into it, and `add` refused."""
    world = World(tmp_path)
    path = world.knowledge(name, "# Mine\n\n- My own line\n")
    path.chmod(0o444)
    talk = world.converse()
    rows = {"facts": [{"statement": "The pump leaks"}], "tasks_open": [{"statement": "Mend the pump"}]}
    [problem] = world.run(says(**rows)).errors
    assert name in problem.message and "Permission denied" in problem.message
    assert path.read_text() == "# Mine\n\n- My own line\n" and talk.exists()
    path.chmod(0o644)
    assert world.run(FakeModel(never)).errors == []
    assert "pump" in path.read_text() and path.read_text().startswith("# Mine\n\n- My own line\n")


# --- a large home ----------------------------------------------------------------------------------------------------


def test_what_a_run_tells_of_a_conversation_costs_the_same_after_thousands(tmp_path: Path) -> None:
    """Each report of progress went through all conversations so far: of 100,000 for more than two minutes."""

    def lines_run(talks: int) -> int:
        """How many lines of the driver a harvest executes."""
        world, executed = World(tmp_path / str(talks)), 0
        for number in range(talks):
            world.converse(f"User: hello {number}\n")

        def trace(frame: FrameType, event: str, _argument: object) -> Any:
            nonlocal executed
            executed += event == "line"
            return trace if frame.f_code.co_filename == pipeline.__file__ else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            assert world.run().harvested == talks
        finally:
            sys.settrace(before)
        return executed

    ten, twenty, forty = lines_run(10), lines_run(20), lines_run(40)
    assert forty - twenty < 2.2 * (twenty - ten), (ten, twenty, forty)


def test_what_was_spent_is_told_with_each_answer(world: World) -> None:
    """Whoever waits for an expensive model sees what it costs before the first conversation is through."""
    for number in range(5):
        world.converse(f"User: hello {number}\n")
    told: list[Progress] = []
    report = world.run(FakeModel(ordinary), jobs=3, progress=told.append)
    answers = [row for row in told if row.kind == ANSWERED]
    assert report.input_tokens and report.output_tokens and len(answers) == 5
    assert max(row.sent for row in answers) == report.input_tokens
    assert (told[-1].sent, told[-1].received) == (report.input_tokens, report.output_tokens)


# --- formats of what is written --------------------------------------------------------------------------------------


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


# --- the model -------------------------------------------------------------------------------------------------------


def test_a_second_answer_that_is_right_is_taken(world: World) -> None:
    world.converse()
    assert world.run(FakeModel(lambda number, prompt: "no" if number == 1 else {"facts": ["x"]})).items["facts"] == 1


def test_a_failing_provider_is_asked_once_and_the_run_goes_on(world: World) -> None:
    first, second = world.converse("a"), world.converse("b")
    busy = KnowledgeError("server-error", "provider 'openai' has no time")
    model = FakeModel(lambda number, prompt: refuse(busy) if number == 1 else ordinary(number, prompt))
    report = world.run(model)
    assert (first.exists(), second.exists(), model.calls) == (True, False, 2)
    assert world.entry("a")["error"] == f"provider 'openai' has no time ({first})."
    assert [error.code for error in report.errors] == ["server-error"]


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
    assert bool(asked) == bool(calls) and path.exists() == (calls == 0)
    assert world.entry(data[:size])["status"] == ("harvested" if calls else "too-large")


@pytest.mark.parametrize(("size", "summaries"), [(65536, False), (65537, True)])
def test_above_64_kilobytes_a_conversation_is_summarised_first(world: World, size: int, summaries: bool) -> None:
    talk = b"User: hi\n\nAssistant: " + b"word " * size
    more = shown_bytes(read_conversation("talk", talk[:1000])) - 1000
    world.converse(talk[: size - more - 1] + b"x")
    model = FakeModel(lambda number, prompt: "the summary" if prompt.startswith("SUMMARIZE") else {})
    world.run(model, distil=replace(world.options.distil, long="summarise"))
    assert any(prompt.startswith("SUMMARIZE") for prompt in model.prompts) == summaries
    assert ("the summary" in model.prompts[-1]) == summaries


def test_a_byte_cap_defers_one_and_takes_a_later_smaller_one(world: World) -> None:
    large, small = world.converse("x" * 100), world.converse("y" * 10)
    report = world.limits(max_run_bytes=50).run(FakeModel())
    assert (large.exists(), small.exists(), report.deferred) == (True, False, 1)
    assert sha256("x" * 100) not in world.entries()


def test_one_that_always_fails_does_not_stand_in_the_way_of_the_others(world: World) -> None:
    """With `--limit` a handful of conversations that no model can read would be asked about for ever, and none behind
    them would ever be harvested."""
    poison, good = world.converse("User: poison\n"), world.converse("User: fine\n")
    model = FakeModel(lambda _, prompt: "no" if "poison" in prompt else {})
    world.limits(limit=1)
    assert len(world.run(model).errors) == 1 and good.exists()
    assert world.run(model).errors == [] and not good.exists() and poison.exists()
    assert len(world.run(model).errors) == 1  # alone, it is tried again


def test_a_cap_of_tokens_stops_the_asking_and_is_no_failure(world: World) -> None:
    paths = [world.converse(f"User: {number}\n") for number in range(3)]
    model = FakeModel()
    report = world.run(model, max_run_tokens=150)
    assert model.calls < 3 and report.deferred == 3 - model.calls and not report.errors
    assert [path.exists() for path in paths].count(True) == report.deferred
    assert any("cap" in note for note in report.notes)
