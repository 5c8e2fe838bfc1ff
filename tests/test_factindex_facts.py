"""The seven validations of seed 5. Each must reject exactly its case: one that is too strict loses a person's fact, one
that is too lax lets a broken one into the index that other tools read."""

from __future__ import annotations

from typing import Any

import pytest

from core.factindex.facts import CATEGORIES, check, fact_from, mark_of, split_id
from core.factindex.index import validate_index
from core.factindex.places import read_one, together

GOOD: dict[str, Any] = {
    "id": "the-nexus:pitfall:001",
    "fact": "The port is 8080",
    "category": "pitfall",
    "domain": "the-nexus",
    "confidence": 0.5,
    "tags": ["git", "api-v1", "2024"],
}


def codes(**changes: Any) -> list[str]:
    return [code for code, _ in check({**GOOD, **changes})]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"fact": "x" * 280},
        {"confidence": 0.0},
        {"confidence": 1.0},
        {"confidence": 1},
        {"tags": []},
        {"id": "the-nexus:pitfall:1234"},
        {"id": "global:tool-quirk:012", "category": "tool-quirk", "domain": "global"},
        {"id": "проект:pitfall:001", "domain": "проект"},
        {"source_count": 0, "first_seen": "2026-03-27", "expires": "2026-03-27T10:00:00Z", "related": ["x:fact:001"]},
    ],
)
def test_what_the_seed_allows_is_allowed(changes: dict[str, Any]) -> None:
    assert codes(**changes) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"id": "the-nexus:pitfall:1"}, "bad-id"),
        ({"id": "the-nexus:pitfall:01"}, "bad-id"),
        ({"id": "the-nexus:pitfall"}, "bad-id"),
        ({"id": "the-nexus:pitfall:001 "}, "bad-id"),
        ({"id": None}, "bad-id"),
        ({"id": "other:pitfall:001"}, "bad-id"),
        ({"id": "the-nexus:fact:001"}, "bad-id"),
        ({"category": "pitfalls"}, "bad-category"),
        ({"id": "the-nexus:bug:001", "category": "bug"}, "bad-category"),
        ({"category": None}, "bad-category"),
        ({"confidence": -0.01}, "bad-confidence"),
        ({"confidence": 1.01}, "bad-confidence"),
        ({"confidence": "0.5"}, "bad-confidence"),
        ({"confidence": True}, "bad-confidence"),
        ({"confidence": float("nan")}, "bad-confidence"),
        ({"confidence": None}, "bad-confidence"),
        ({"fact": ""}, "bad-fact"),
        ({"fact": "  "}, "bad-fact"),
        ({"fact": "x" * 281}, "bad-fact"),
        ({"fact": None}, "bad-fact"),
        ({"domain": ""}, "bad-domain"),
        ({"domain": "  "}, "bad-domain"),
        ({"domain": None}, "bad-domain"),
        ({"id": "a,b:pitfall:001", "domain": "a,b"}, "bad-domain"),
        ({"tags": ["Git"]}, "bad-tags"),
        ({"tags": ["a b"]}, "bad-tags"),
        ({"tags": [""]}, "bad-tags"),
        ({"tags": "git"}, "bad-tags"),
        ({"tags": [7]}, "bad-tags"),
        ({"source_count": -1}, "bad-field"),
        ({"expires": "soon"}, "bad-field"),
        ({"expires": "2026-02-30"}, "bad-field"),
        ({"related": ["x"]}, "bad-field"),
    ],
)
def test_each_validation_rejects_its_case_and_no_other_does(changes: dict[str, Any], code: str) -> None:
    assert codes(**changes) == [code]


def test_an_id_of_one_digit_is_named_with_what_is_allowed() -> None:
    """`x:fact:1` is the usual slip; the sentence must say how it should look."""
    (problem,) = check({**GOOD, "id": "x:fact:1", "domain": "x", "category": "fact"})
    assert problem[0] == "bad-id"
    assert "'x:fact:1'" in problem[1] and "global:pitfall:001" in problem[1]


def test_a_problem_names_file_line_id_and_what_is_allowed() -> None:
    """Without the line a person searches a file of hundreds of facts."""
    data = b"---\ndomain: global\ncategory: fact\n---\n# T\n\n- id: global:fact:001\n  fact: a\n  confidence: 1.01\n"
    (problem,) = read_one("global/facts.yaml", data).problems
    assert str(problem.error) == (
        "global/facts.yaml:7: global:fact:001: the confidence is 1.01; allowed: a number from 0.0 to 1.0."
    )


def test_the_same_id_twice_is_refused_wherever_it_stands() -> None:
    """Two facts under one id: everything that points to it would point to either."""
    item = "- id: global:fact:001\n  fact: {}\n  confidence: 0.5\n"
    one = read_one("global/a.yaml", item.format("first").encode())
    both = together([one, read_one("global/b.yaml", ("\n\n" + item.format("second")).encode())])
    assert [row.fact.fact for row in both.placed.values()] == ["first"]
    (problem,) = both.problems
    assert (problem.code, problem.file, problem.line) == ("duplicate-id", "global/b.yaml", 3)
    assert "global/a.yaml:1" in problem.message


def test_an_index_is_validated_with_lines() -> None:
    """The index that another tool has written is checked like ours, each error at its line."""
    text = """{
  "version": 1, "last_updated": "x", "total_facts": 3,
  "facts": [
    {"id": "global:fact:001", "fact": "a [ { \\"facts\\": [", "category": "fact", "domain": "global", "confidence": 1},
    {"id": "global:fact:001", "fact": "b", "category": "fact", "domain": "global", "confidence": 2},
    7
  ]
}"""
    number, problems = validate_index("index.json", text.encode())
    assert number == 3
    assert [(row.code, row.line) for row in problems][:2] == [("bad-confidence", 5), ("duplicate-id", 5)]
    assert {(row.line, row.code) for row in problems[2:]} == {
        (6, "bad-id"), (6, "bad-category"), (6, "bad-domain"), (6, "bad-confidence"), (6, "bad-fact"),
    }  # fmt: skip
    assert validate_index("index.json", b'{"facts": ')[1][0].code == "bad-index"
    assert validate_index("index.json", b"[]")[1][0].code == "bad-index"
    assert validate_index("index.json", b'{"version": 2, "total_facts": 1, "facts": []}')[0] == 0


def test_what_is_the_same_fact() -> None:
    """The same words in other clothes confirm a fact instead of doubling it; other words are another fact."""
    assert mark_of("The  Port is `8080`.") == mark_of("the port is 8080") == mark_of("**The port** is 8080!")
    assert mark_of("The port is 8081") != mark_of("The port is 8080")
    assert mark_of("session_store") != mark_of("sessionstore")


def test_ids_come_apart() -> None:
    assert split_id("a.b:tool-quirk:0123") == ("a.b", "tool-quirk", 123)
    assert split_id("a:b:c:001") is None
    assert fact_from({**GOOD, "related": None}).related == ()
    assert CATEGORIES == ("fact", "pitfall", "pattern", "tool-quirk", "question")
