"""The queue asked one by one: what a user answers at a terminal is done at once, and the rest waits on."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.base.result import KnowledgeError, attempt
from core.commands.review.decide import CHOICES, Decided, Queue, answer_ids, review, review_text
from core.commands.workspace import Workspace, open_workspace
from tests.cli_call import call

HELD = "# Quarantine\n\n" + "".join(f"- [no-quote] facts: item {at} [from: a, 2026-01-01]\n" for at in range(1, 5))
NOW = datetime(2026, 6, 12, 12, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "home" / "knowledge"
    folder.mkdir(parents=True)
    (folder / "quarantine.md").write_text(HELD)
    return open_workspace(str(tmp_path / "home"), environment={"HOME": str(tmp_path)}, cwd=tmp_path)


def text(workspace: Workspace, name: str) -> str:
    path = workspace.paths.knowledge / name
    return path.read_text() if path.exists() else ""


def test_answers_at_a_terminal_are_done_at_once_and_quit_leaves_the_rest(workspace: Workspace) -> None:
    """Who stops in the middle of forty must not lose what they decided, nor decide what they did not see."""
    said, shown = ["yes", "no", "later", "quit"], []

    def ask(words: str, question: str, choices: Sequence[str], default: int) -> int:
        shown.append(words)
        assert choices[default] == "quit", "Enter decides nothing"
        return CHOICES.index(said[len(shown) - 1])

    done = review(workspace, ask=ask, now=lambda: NOW)
    assert isinstance(done, Decided) and [row.answer for row in done.rows] == ["yes", "no", "later"]
    assert "1 of 4" in shown[0] and "item 1" in shown[0] and "drop it" in shown[0]
    assert "item 1" in text(workspace, "facts.md") and text(workspace, "quarantine.md").count("item") == 2
    assert "later (asked again in 7 days): item 3" in review_text(done)
    for days, waiting in ((0, 1), (6, 1), (7, 2)):
        queue = review(workspace, now=lambda days=days: NOW + timedelta(days=days))
        assert isinstance(queue, Queue) and len(queue.rows) == waiting, days


def test_each_answer_stands_among_the_runs_that_can_be_taken_back(workspace: Workspace) -> None:
    """The sentence behind an answer names the run; whoever did not write it down finds it by `knowledge undo`."""
    home = str(workspace.paths.home)
    ids = [row["id"] for row in json.loads(call("review", "--json", "--home", home)[1])["waiting"]]
    told = call("review", "later", *ids[:2], "--home", home)[1]
    run = told.partition("'knowledge undo ")[2].partition("'")[0]
    listed = call("undo", "--home", home)[1]
    assert listed.startswith(f"{run}  edit\n    2 answers to what waits\n")
    told = call("undo", run, "--home", home)[1]
    assert told == f"undone: {run}\nnote: what was answered is asked again: 'knowledge review' shows it\n"
    assert call("undo", "--home", home)[1] == "there is no run to undo\n"
    call("add", "facts", "The cellar is dry", "--home", home)
    run = call("undo", "--home", home)[1].partition(" ")[0]
    assert call("undo", run, "--home", home)[1] == f"undone: {run} (1 line taken out)\n"


def test_all_projects_are_called_so_by_review_as_by_list(workspace: Workspace) -> None:
    home = str(workspace.paths.home)
    assert call("list", "--project", "all", "--home", home)[0] == 0
    whole = call("review", "--home", home)[1]
    assert "4 items waiting" in whole and call("review", "--project", "all", "--home", home)[1] == whole
    told = call("review", "all", "held", "--no", "--project", "all", "--home", home)[1]
    assert all(f"item {at}" in told for at in range(1, 5))


def test_where_nobody_can_be_asked_nothing_is_decided(workspace: Workspace) -> None:
    assert isinstance(review(workspace, ask=lambda *_: None), Queue)
    assert text(workspace, "quarantine.md") == HELD


def test_what_was_kept_as_no_contradiction_is_not_asked_as_alike(workspace: Workspace) -> None:
    """One pair would be asked about twice; and earlier versions kept a list of what was dismissed."""
    lines = (
        "- The port is 8080 on the server [from: a, 2026-01-01]",
        "- The port is 8081 on the server [from: b, 2026-01-02]",
    )
    (workspace.paths.knowledge / "facts.md").write_text("\n".join(("# Facts", "", *lines, "")))
    (workspace.paths.knowledge / "quarantine.md").unlink()
    queue = review(workspace)
    assert isinstance(queue, Queue)
    [pair] = queue.rows
    assert pair.kind == "outdated"
    workspace.paths.state.mkdir()
    (workspace.paths.state / "dismissed.json").write_text(f'["{pair.key}"]\n')
    assert review(workspace) == Queue(())


def test_a_statement_is_asked_about_once_however_many_came_after_it(workspace: Workspace) -> None:
    """665 lines that differ in a number asked 11,773 questions."""
    lines = [f"- The port is 808{at} on the server [from: {name}, 2026-01-0{at}]" for at, name in enumerate("abcd", 1)]
    (workspace.paths.knowledge / "facts.md").write_text("\n".join(("# Facts", "", *lines, "")))
    (workspace.paths.knowledge / "quarantine.md").unlink()
    queue = review(workspace)
    assert isinstance(queue, Queue)
    assert [(row.text, row.other) for row in queue.rows] == [
        (f"The port is 808{at} on the server", "The port is 8084 on the server") for at in (1, 2, 3)
    ]


@pytest.mark.parametrize("steps", ["{} -> {} -> tag the release", "1. {} 2. {} 3. tag the release"])
def test_steps_in_another_order_are_not_asked_as_alike(workspace: Workspace, steps: str) -> None:
    """A yes would strike a playbook through that says something else; the same words in another order are doubles."""
    lines = (
        f"- **Ship**: {steps.format('test all', 'lint the sources')} [from: a, 2026-01-01]",
        f"- **Ship**: {steps.format('lint the sources', 'test all')} [from: b, 2026-01-02]",
    )
    (workspace.paths.knowledge / "playbooks.md").write_text("\n".join(("# Playbooks", "", *lines, "")))
    (workspace.paths.knowledge / "quarantine.md").unlink()
    assert review(workspace) == Queue(())
    words = ("every host keeps its cache for a day", "its cache every host keeps for a day")
    facts = [f"- {said} [from: {name}, 2026-01-01]" for said, name in zip(words, "ab", strict=True)]
    (workspace.paths.knowledge / "facts.md").write_text("\n".join(("# Facts", "", *facts, "")))
    queue = review(workspace)
    assert isinstance(queue, Queue) and [row.kind for row in queue.rows] == ["alike"]


def test_an_id_that_names_nothing_lets_none_of_the_others_be_answered(workspace: Workspace) -> None:
    """Who mistypes one of two ids would have decided half of it without knowing which half."""
    queue = review(workspace)
    assert isinstance(queue, Queue)
    failed = attempt(answer_ids, workspace, [queue.rows[0].id, "zzzz"], answer="yes")
    assert isinstance(failed, KnowledgeError) and failed.error.code == "no-match" and "zzzz" in failed.error.message
    assert text(workspace, "quarantine.md") == HELD and text(workspace, "facts.md") == ""


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_an_answer_is_not_given_to_an_item_that_changed_meanwhile(workspace: Workspace, answer: str) -> None:
    """The user said yes or no to words that no longer stand there."""
    quarantine = workspace.paths.knowledge / "quarantine.md"

    def ask(words: str, question: str, choices: Sequence[str], default: int) -> int:
        quarantine.write_text(quarantine.read_text().replace("item 1 ", "another item "))
        return CHOICES.index(answer if "item 1" in words else "quit")

    done = review(workspace, ask=ask, now=lambda: NOW)
    assert isinstance(done, Decided) and not done.rows and [error.code for error in done.errors] == ["changed-outside"]
    assert "another item" in text(workspace, "quarantine.md") and text(workspace, "facts.md") == ""


def test_the_age_of_a_fact_counts_from_its_harvest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever harvests the history of years for the first time was asked about nearly all of it at once."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home, talk = str(tmp_path / "home"), tmp_path / "talk.md"
    talk.write_text("User: why?\n\nAssistant: It turned out that the proxy strips `Authorization` headers.\n")
    at = (datetime.now(UTC) - timedelta(days=800)).timestamp()
    os.utime(talk, (at, at))
    assert call("harvest", "--source", str(talk), "--apply", "--home", home)[0] == 0
    assert "proxy strips" in call("facts", "list", "--home", home)[1]
    assert "nothing waits" in call("review", "--kind", "stale", "--home", home)[1]
    assert json.loads(call("status", "--json", "--home", home)[1])["waiting"]["stale"] == 0
    later = datetime.now(UTC) + timedelta(days=367)
    queue = review(open_workspace(home), kind="stale", now=lambda: later)
    assert isinstance(queue, Queue) and [row.text for row in queue.rows] == [
        "The proxy strips `Authorization` headers."
    ]
