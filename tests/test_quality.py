"""The quality table: that it counts right, and that the offline distiller stays better than a keyword search.

The floors are ratios against the baseline on a small part of the labels; `make quality` prints the whole table with
cross-validated figures. Here the shipped weights are used, so the figures are a guard against loss, no measurement.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.conversations.conversation import Conversation, Turn
from tests.bench.quality import measure, offline
from tests.bench.quality_labels import CORPUS, SETS, Case, LabelSet, strip_minutes, strip_notes
from tests.bench.quality_score import Cleanliness, score, texts
from tests.bench.train_offline import Example, hashed, train

EMPTY = Conversation("c", "plain", (Turn("user", "x"),))
FLOORS = {  # F1, and how much better than the keyword search
    "chat: unanswered": (0.55, 0.10),
    "mail: requests": (0.78, 0.10),
    "notes: actions": (0.60, 0.30),
    "minutes: decisions": (0.60, 0.30),
    "runbooks: steps": (0.70, 0.10),
    "cheat sheets: commands": (0.80, 0.10),
}
SAMPLE = {"mail: requests": 20, "chat: unanswered": 4, "cheat sheets: commands": 6}


def case(**gold: tuple[str, ...]) -> Case:
    return Case("d", EMPTY, gold, ())


@pytest.mark.parametrize("name", FLOORS)
def test_the_offline_distiller_beats_a_keyword_search(name: str) -> None:
    """Whoever harvests without a model would get no more than grep gives."""
    labels: LabelSet = next(row for row in SETS if row.name == name)
    if not (CORPUS / "labels").is_dir():
        pytest.skip("the labels are not beside the project: ../shared/corpus/labels")
    cases = list(labels.read(CORPUS / "labels"))[:: SAMPLE.get(name, 5)]
    row = measure(labels, cases, [offline()])
    floor, gain = FLOORS[name]
    assert row.score.f1 >= floor and row.score.f1 >= row.keyword.f1 + gain, (row.score, row.score.f1, row.keyword.f1)


def test_a_label_counts_once_however_often_it_is_found() -> None:
    labels = case(tasks_open=("Write the guide", "Close issue 12"))
    got = score(labels, "tasks_open", ["write the guide", "Write the guide.", "Ada will write the guide", "call Bo"])
    assert (got.right, got.wrong, got.missed) == (1, 2, 1)
    assert got.precision == 1 / 3 and got.recall == 0.5 and got.f1 == 0.4


def test_what_nobody_judged_counts_neither_way() -> None:
    judged = Case("d", EMPTY, {"questions": ("who is it",)}, (), judged=frozenset(["who is it", "how is it"]))
    got = score(judged, "questions", ["Who is it?", "How is it?", "Where is it?"])
    assert (got.right, got.wrong, got.missed) == (1, 1, 0)
    free = Case("d", EMPTY, {"playbooks": ("run it",)}, (), neutral=frozenset(["look at the log"]))
    got = score(free, "playbooks", ["Run it", "Look at the log", "Sing a song"])
    assert (got.right, got.wrong, got.missed) == (1, 1, 0)


def test_junk_is_what_the_source_does_not_support() -> None:
    clean = Cleanliness()
    rows = {"facts": [{"statement": "The server listens on port 8123"}, {"statement": "Elephants migrate northwards"}]}
    clean.add(rows, "user: the server listens on port 8123, right?")
    clean.add(rows, "elephants migrate northwards and the server listens on port 8123")
    clean.add({}, "nothing")
    assert (clean.items, clean.junk, clean.repeated, clean.conversations, clean.empty) == (4, 1, 2, 3, 1)


def test_the_steps_of_a_playbook_are_judged_one_by_one() -> None:
    assert texts([{"name": "x", "steps": "git pull && make; restart it"}], "playbooks") == [
        "git pull", "make", "restart it",
    ]  # fmt: skip


def test_no_marker_of_the_answer_is_left_in_the_text() -> None:
    """A distiller that only has to find the word RESOLVED proves nothing."""
    text = "---\nx\n---\n**A:** hm\n\n> ***Resolution #1: Keep it***\n{: #resolution1 .resolution}\n\n"
    text += "> ***Action #1: write it (Bo)***\n\n### 4. Resolutions\n\n* [Resolution #1](#r): Keep it\n"
    for spoken in (False, True):
        stripped, decisions, actions = strip_minutes(text, spoken)
        assert decisions == ["Keep it"] and actions == ["write it"]
        assert "esolution" not in stripped and "Action" not in stripped and stripped.count("Keep it") == 1
        assert ("*A:* Keep it" in stripped) is spoken
    stripped, decisions, actions = strip_notes("* VB: fine\n\nACTION: VB to merge\n> DECISION: we merge\n", False)
    assert actions == ["VB to merge"] and decisions == ["we merge"] and "ACTION" not in stripped


def test_training_learns_and_gives_the_same_weights_again() -> None:
    def examples() -> Iterator[Example]:
        for number in range(200):
            features = ["asks"] if number % 2 else ["tells"]
            yield Example(hashed([*features, f"word {number % 7}"], 1 << 12), bool(number % 2), 1.0, str(number))

    first, second = train("unanswered", list(examples())), train("unanswered", list(examples()))
    assert first == second
    yes, no = hashed(["asks"], 1 << 12)[0], hashed(["tells"], 1 << 12)[0]
    assert first.buckets[yes] > 0.5 > -0.5 > first.buckets[no]
