"""Taken back and done again: a person's edits, one at a time, beside somebody who writes in the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.base.result import Err, Ok
from core.commands import bullets
from core.commands.undo import redo, undo
from core.commands.workspace import Workspace
from gui.state import History, Step
from tests.made_home import make_home, read, value, write

FACTS = "# Facts\n\n- one [from: by-hand, 2026-05-01]\n- two [from: by-hand, 2026-05-01]\n"
TASKS = "# Tasks\n\n## Open\n\n- buy tea\n- clean the kettle\n\n## Done\n\n- boil water\n"


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    write(workspace, "tasks.md", TASKS)
    return workspace


ACTS: dict[str, Any] = {
    "add": lambda home: bullets.add(home, "facts", "three"),
    "edit": lambda home: bullets.edit(home, "facts", "one", "first"),
    "remove": lambda home: bullets.remove(home, "facts", "one"),
    "strike": lambda home: bullets.strike(home, "facts", "two"),
    "done": lambda home: bullets.done(home, "buy tea"),
    "reopen": lambda home: bullets.reopen(home, "boil water"),
}


@pytest.mark.parametrize("between", ["nobody", "another process"])
@pytest.mark.parametrize("act", sorted(ACTS))
def test_an_edit_is_taken_back_and_done_again_as_often_as_one_likes(home: Workspace, act: str, between: str) -> None:
    run = value(ACTS[act](home)).run
    for number in range(3):
        if between != "nobody":
            value(bullets.add(home, "facts", f"theirs {number}"))
            value(bullets.add(home, "tasks_open", f"their task {number}"))
        after = {name: read(home, name) for name in ("facts.md", "tasks.md")}
        report = value(undo(home, run))
        assert report.edits and report.edits[0]["file"] in after and not report.stayed
        assert any(read(home, name) != text for name, text in after.items())
        again = value(redo(home, run))
        assert {name: sorted(read(home, name).split("\n")) for name in after} == {
            name: sorted(text.split("\n")) for name, text in after.items()
        }
        run = again.run
    if between == "nobody":
        value(undo(home, run))
        assert (read(home, "facts.md"), read(home, "tasks.md")) == (FACTS, TASKS)
    theirs = read(home, "facts.md").count("theirs ")
    assert theirs == (0 if between == "nobody" else 3)


def test_what_somebody_has_changed_since_is_not_done_again(home: Workspace) -> None:
    run = value(bullets.edit(home, "facts", "one", "first")).run
    value(undo(home, run))
    value(bullets.edit(home, "facts", "one", "theirs"))
    text = read(home, "facts.md")
    refused = redo(home, run)
    assert isinstance(refused, Err) and refused.error.code == "changed-since" and read(home, "facts.md") == text


def test_only_what_was_taken_back_is_done_again(home: Workspace) -> None:
    run = value(bullets.add(home, "facts", "three")).run
    refused = redo(home, run)
    assert isinstance(refused, Err) and refused.error.code == "not-undone"
    assert isinstance(undo(home, run), Ok) and isinstance(redo(home, run), Ok)
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
