"""Whose work an open task is: three of five open tasks were findings about somebody else's pull request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harvest_world import FakeModel, World

VIEW = "title:\tPrint to stdout\nstate:\tOPEN\nauthor:\t{author}\nnumber:\t166\nadditions:\t142\n"
TASKS = [
    {"statement": "Give the print path a test", "quote": "The print path has no test at all, which is a gap."},
    {"statement": "Let both options stand together", "quote": "let both options stand together, nobody minds"},
    {"statement": "Rename the counter", "quote": "I renamed nothing yet: the counter still has its old name."},
]


def session(folder: Path, author: str, *, asked: str = "review PR #166", opens: bool = False) -> str:
    """A transcript of Claude Code in which a pull request is looked at, judged, and then changed."""
    calls = [("Bash", {"command": "gh pr view 166"}, VIEW.format(author=author))]
    calls += [("Bash", {"command": "gh pr create --fill"}, "https://github.com/a/b/pull/166")] if opens else []
    later = ("Edit", {"file_path": str(folder / "main.go"), "old_string": "a", "new_string": "b"}, "updated")
    rows: list[tuple[str, Any]] = [("user", asked)]

    def call(number: int, name: str, given: dict[str, Any], result: str) -> None:
        rows.append(("assistant", [{"type": "tool_use", "id": f"c{number}", "name": name, "input": given}]))
        rows.append(("user", [{"type": "tool_result", "tool_use_id": f"c{number}", "content": result}]))

    for number, (name, given, result) in enumerate(calls):
        call(number, name, given, result)
    rows.append(("assistant", [{"type": "text", "text": TASKS[0]["quote"]}]))
    rows.append(("user", TASKS[1]["quote"]))
    call(9, *later)
    rows.append(("assistant", [{"type": "text", "text": TASKS[2]["quote"]}]))
    return "".join(
        json.dumps({
            "type": who, "sessionId": "s", "uuid": str(at), "parentUuid": str(at - 1), "cwd": str(folder),
            "timestamp": f"2026-03-01T10:{at:02d}:00.000Z", "message": {"role": who, "content": content},
        }) + "\n"
        for at, (who, content) in enumerate(rows)
    )  # fmt: skip


def open_tasks(world: World, text: str) -> tuple[list[str], str]:
    world.converse(text)
    world.run(FakeModel(lambda number, prompt: {"tasks_open": TASKS, "facts": [f"Seen {number}"]}))
    tasks = world.text("tasks.md").partition("## Done")[0]
    held = world.text("quarantine.md") if (world.paths.knowledge / "quarantine.md").exists() else ""
    return [row["statement"] for row in TASKS if row["statement"] in tasks], held


def test_a_finding_about_somebody_elses_pull_request_is_no_open_task(world: World) -> None:
    folder = world.folder / "Users" / "mo" / "app"
    folder.parent.mkdir(parents=True)
    kept, held = open_tasks(world, session(folder, "kim"))
    assert kept == ["Let both options stand together", "Rename the counter"]
    assert "- [others-work] tasks_open: Give the print path a test" in held


@pytest.mark.parametrize(
    "own", [{"author": "mo"}, {"author": "kim", "opens": True}, {"author": "kim", "asked": "go on"}]
)
def test_what_is_to_do_in_the_persons_own_work_stays_open(own: dict[str, Any], world: World) -> None:
    """Their own pull request, one that was opened here, or work on a branch that was never said to be a review."""
    folder = world.folder / "home" / "mo" / "app"
    folder.parent.mkdir(parents=True)
    kept, _ = open_tasks(world, session(folder, **own))
    assert kept == [row["statement"] for row in TASKS]
