"""The queue asked one by one: what a user answers at a terminal is done at once, and the rest waits on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.base.result import KnowledgeError, attempt
from core.commands.fact_feed import sync_facts
from core.commands.facts import list_facts
from core.commands.history.undo import undo
from core.commands.review.decide import CHOICES, Decided, Queue, answer_all, answer_ids, review, review_text
from core.commands.workspace import Workspace, open_workspace
from tests.harvest_world import World, says

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


WORDS = (
    "every host keeps its cache for a day",
    "its cache every host keeps for a day",
    "for a day every host keeps its cache",
)


def told(workspace: Workspace, bullets: str = "", facts: str = "") -> None:
    """A store in which conversations said some of the WORDS and a YAML file says others: their numbers, the oldest
    first."""
    (workspace.paths.knowledge / "quarantine.md").unlink(missing_ok=True)
    world = World(workspace.paths.home.parent)
    for at in map(int, bullets):
        path = world.converse(f"User: look {at}\n")
        os.utime(path, (datetime(2026, 1, at + 1, 12, tzinfo=UTC).timestamp(),) * 2)
        world.run(says(facts=[WORDS[at]]))
    (workspace.paths.knowledge / "global").mkdir(exist_ok=True)
    (workspace.paths.knowledge / "global" / "mine.yaml").write_text(
        "# What I know\n" * bool(bullets)
        + "".join(
            f"- id: global:fact:10{at}\n  fact: {WORDS[int(at)]}\n  category: fact\n  domain: global\n"
            f"  confidence: 0.9\n  last_confirmed: 2026-01-0{int(at) + 1}\n"
            for at in facts
        )
    )
    sync_facts(workspace)


def left(workspace: Workspace) -> tuple[str, str]:
    """The numbers of the WORDS that bullets say, and those that facts say."""
    live = [line for line in text(workspace, "facts.md").splitlines() if line.startswith("- ") and "~~" not in line]
    facts = [fact.fact for fact in list_facts(workspace).facts]
    return tuple(  # type: ignore[return-value]
        "".join(str(at) for at, said in enumerate(WORDS) if any(said in one for one in rows)) for rows in (live, facts)
    )


@pytest.mark.parametrize(
    ("bullets", "facts", "stays"),
    [
        ("", "01", ("", "1")),
        ("0", "01", ("", "1")),
        ("1", "0", ("1", "1")),
        ("0", "1", ("", "1")),
        ("01", "0", ("1", "1")),
        ("01", "01", ("1", "1")),
        ("", "012", ("", "2")),
        ("012", "", ("2", "2")),
        ("01", "2", ("", "2")),
        ("12", "0", ("2", "2")),
        ("02", "1", ("2", "2")),
    ],
)
def test_a_yes_joins_what_is_alike_wherever_it_stands(
    workspace: Workspace, bullets: str, facts: str, stays: tuple[str, str]
) -> None:
    """The bullet of the older fact was left and said it on; a third that was alike ended the answer with an error."""
    told(workspace, bullets, facts)
    before, at_first = {name: text(workspace, name) for name in ("facts.md", "global/mine.yaml")}, left(workspace)
    done = answer_all(workspace, "alike", yes=True)
    assert done.rows and not done.errors and left(workspace) == stays
    assert review(workspace, kind="alike") == Queue(())
    [run] = dict.fromkeys(row.run for row in done.rows)
    assert not undo(workspace, run).errors
    assert {name: text(workspace, name) for name in before} == before and left(workspace) == at_first


@pytest.mark.parametrize(("rows", "stay"), [("11", 1), ("111", 1), ("11 2", 1)])
def test_a_fact_that_was_typed_twice_is_kept_once(workspace: Workspace, rows: str, stay: int) -> None:
    """Both said the same words, and a yes must not take both."""
    told(workspace)
    said = [WORDS[int(at)] for at in rows.replace(" ", "")]
    (workspace.paths.knowledge / "global" / "mine.yaml").write_text(
        "".join(f"- id: global:fact:20{at}\n  fact: {one}\n  confidence: 0.9\n" for at, one in enumerate(said))
    )
    done = answer_all(workspace, "alike", yes=True)
    assert done.rows and not done.errors and len(list_facts(workspace).facts) == stay
    assert review(workspace, kind="alike") == Queue(())
    assert not undo(workspace, done.rows[0].run).errors and len(list_facts(workspace).facts) == len(said)


def test_facts_that_are_alike_are_asked_about_once_and_in_their_own_domain(workspace: Workspace) -> None:
    """A no to two facts of a YAML file is remembered; what another project says of itself is nothing to join."""
    told(workspace, "", "01")
    other = workspace.paths.knowledge / "repos" / "shop"
    other.mkdir(parents=True)
    mine = text(workspace, "global/mine.yaml")
    (other / "facts.yaml").write_text(mine.partition("- id: global:fact:101")[0].replace("global", "shop"))
    queue = review(workspace, kind="alike")
    assert isinstance(queue, Queue)
    [pair] = queue.rows
    assert (pair.text, pair.other) == WORDS[:2] and "global:fact:100 and global:fact:101" in review_text(queue)
    assert review(workspace, kind="alike", project=".") == queue
    answer_ids(workspace, [pair.id], answer="no")
    assert review(workspace, kind="alike") == Queue(()) and text(workspace, "global/mine.yaml") == mine


def test_what_has_gone_with_another_pair_is_not_asked_at_a_terminal(workspace: Workspace) -> None:
    """The second question was about a bullet that the first answer had struck through, and a yes ended in an error."""
    told(workspace, "012")
    done = review(workspace, kind="alike", ask=lambda *_: 0)
    assert isinstance(done, Decided) and not done.errors and left(workspace)[0] == "2"


def test_of_three_values_the_newest_is_left_by_one_answer(workspace: Workspace) -> None:
    """The oldest gave way to the second, and its pair with the newest ended the answer with an error."""
    ports = [f"- The port is 808{at} on the server [from: c{at}, 2026-01-0{at + 1}]\n" for at in range(3)]
    (workspace.paths.knowledge / "facts.md").write_text("# Facts\n\n" + "".join(ports))
    done = answer_all(workspace, "outdated", yes=True)
    assert len(done.rows) == 3 and not done.errors
    live = [line for line in text(workspace, "facts.md").splitlines() if line.startswith("- The")]
    assert live == [ports[2].rstrip()]
    assert not undo(workspace, done.rows[0].run).errors and text(workspace, "facts.md").endswith("".join(ports))


def test_a_fact_that_changed_meanwhile_is_not_joined(workspace: Workspace) -> None:
    """The user said yes to other words than stand there now."""
    told(workspace, "0", "01")
    place = workspace.paths.knowledge / "global" / "mine.yaml"

    def ask(*_: object) -> int:
        place.write_text(place.read_text().replace(WORDS[1], f"{WORDS[1]} at least"))
        return 0

    done = review(workspace, kind="alike", ask=ask)
    assert isinstance(done, Decided) and [error.code for error in done.errors] == ["changed-outside"]
    assert left(workspace)[0] == "0"


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
