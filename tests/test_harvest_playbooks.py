"""Playbooks: a person pastes them. A command that lost its line break, or its end, does something else."""

from __future__ import annotations

from typing import Any

import pytest

from core.harvest.answer import items_from
from core.harvest.lessons import lessons_of, mark_of_text
from core.harvest.playbook import steps_in
from core.harvest.quotes import NO_SOURCE
from core.knowledge.categories import CATEGORIES
from core.knowledge.journal import read_plans
from tests.harvest_world import FakeModel, World

EMPTY: dict[str, list[Any]] = {row.name: [] for row in CATEGORIES}


def playbook(steps: Any) -> Any:
    rows = {**EMPTY, "playbooks": [{"name": "Own the tree", "steps": steps, "quote": ""}]}
    [item] = items_from(rows, NO_SOURCE, quotes="off", secrets=False).items
    return item


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        ("sudo chown A\nsudo chown -R B", ["sudo chown A", "sudo chown -R B"]),
        (["sudo chown A", "sudo chown -R B"], ["sudo chown A", "sudo chown -R B"]),
        ("sudo chown A -> sudo chown -R B", ["sudo chown A", "sudo chown -R B"]),
        ("1. stop it\n2. start it", ["stop it", "start it"]),
        ("```bash\nmake\nmake install\n```", ["make", "make install"]),
        ("docker run \\\n  -p 80:80 \\\n  image", ["docker run -p 80:80 image"]),
        ('git commit -m "it\'s done"', ['git commit -m "it\'s done"']),
        (["echo 'a' | tr a b", 'printf "%s\\n" x'], ["echo 'a' | tr a b", 'printf "%s\\n" x']),
        ("Don't stop it\nIt's slow", ["Don't stop it", "It's slow"]),
    ],
)
def test_steps_come_back_from_their_line_in_their_order(said: Any, steps: list[str]) -> None:
    item = playbook(said)
    assert not item.held and list(item.steps) == steps
    assert list(steps_in(item.text)) == (steps if len(steps) > 1 else [])
    if len(steps) > 1:
        told = lessons_of([item], "", [], quotes_checked=False)
        assert told["steps"] == {mark_of_text(item.text): steps}


@pytest.mark.parametrize(
    "said",
    [
        "cat > x <<EOF\na: 1\nEOF",
        "cat <<-'END' > x\n\tb\nEND",
        "for f in *; do\n  rm $f\ndone",
        "python -c '\nimport os\nprint(os)'",
        'git commit -m "first\n\nsecond"',
        ["tr 'a  b' x", "ls"],
        ["echo a -> b", "ls"],
        ["def f():\n    return 1"],
        ["echo {knowledge}", "ls"],
    ],
)
def test_what_fits_no_line_is_held_whole(said: Any) -> None:
    item = playbook(said)
    assert item.held == "not-one-line"
    text = said if isinstance(said, str) else "\n".join(said)
    for word in text.split():
        assert word.strip("{}") in item.text, "something was cut"
    assert item.text.count("⏎") == text.count("\n")


def test_the_plan_keeps_the_steps_and_the_evidence(world: World) -> None:
    """The line is for reading; what is copied is the list, and a reader can be shown the place."""
    talk = "User: how?\n\nAssistant: First run make clean, then run make all, as the notes on building say.\n"
    rows = {"playbooks": [{"name": "Build", "steps": ["make clean", "make all"], "quote": "First run make clean"}]}
    world.converse(talk)
    report = world.run(FakeModel(lambda number, prompt: rows | {"facts": [f"Fact {number} stands alone"]}))
    [plan] = read_plans(world.paths.plans, report.run).values()
    mark = mark_of_text("**Build**: make clean -> make all")
    assert plan.facts["steps"] == {mark: ["make clean", "make all"]}
    place = plan.facts["evidence"][mark]
    assert "make clean" in talk.encode()[place["start"] : place["end"]].decode() and place["turn"] == 1
    assert "- **Build**: make clean -> make all [from: " in world.text("playbooks.md")
