"""Facts, their items in files, and how confidence falls with time."""

from __future__ import annotations

import json
import os
import re
import string
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.entry import statement_mark
from core.factindex.edits import apply_operations, item_text, new_file_text, with_values
from core.factindex.facts import CATEGORIES, Fact, check, fact_from, format_id, split_id
from core.factindex.index import validate_index
from core.factindex.items import scan
from core.factindex.places import read_one, together
from core.factindex.record import decayed
from tests.factindex_world import NOW, Shelf
from tests.facts_home import facts_of as decay_facts_of
from tests.facts_home import harvested
from tests.harvest_world import FakeModel, World

# --- Facts in files that people edit: whatever a user does to such a file, its facts are found again, and what the
# program writes into it leaves every other byte as it was.

SEED = Path(__file__).resolve().parents[2] / "shared" / "seeds" / "5-compounding-intelligence-schema.md"

# The shape of the seed's example, with the keys flush with the dash as the document has them.
FLUSH = """---
domain: global # or repo name or agent name
category: tool-quirk # fact, pitfall, pattern, tool-quirk, question
version: 1
last_updated: "2026-04-13"
---
# Tool Quirks (Global)
What tools do that nobody expects.
## Authentication
- id: global:tool-quirk:001
fact: "The token lies in ~/.config, not in the environment"
confidence: 0.95
tags: [git, auth]
source_count: 23
first_seen: "2026-03-27"
last_confirmed: "2026-04-13"
related: [global:pitfall:003]
- id: global:tool-quirk:002
fact: "Header format: 'Authorization: token TOKEN'"
confidence: 0.9
tags: [git, api]
source_count: 8
first_seen: "2026-03-28"
"""

WILD = """---
domain: global
category: pitfall
---
# T
- a list in prose
- Note: prose with a colon
- id: global:pitfall:001
  # a remark
  fact: >
    folded text
    - with a dash

    and more
# a remark at the margin
  confidence: .9
  tags:
  - git
  - "2024"
  owner: bob

## next
  - {id: global:pitfall:002, fact: "x: y", confidence: 1}
-
    id: global:pitfall:003
    fact: 'it''s'
    confidence: 0.5
    last_confirmed: 2026-01-02 # ok

    indented prose, or code

```yaml
- fact: "keys in another order"
  confidence: 0.25
  id: global:pitfall:004
```
"""


def facts_of(text: str) -> list[Fact]:
    read = read_one("global/x.yaml", text.encode())
    assert not read.problems, read.problems
    return [row.fact for row in read.placed]


def test_the_shape_of_the_seeds_example_gives_its_two_facts() -> None:
    """A plain YAML load of such a file fails; who followed the seed's document must not lose their facts."""
    one, two = facts_of(FLUSH)
    assert one == Fact(
        "global:tool-quirk:001", "The token lies in ~/.config, not in the environment", "tool-quirk", "global", 0.95,
        ("git", "auth"), 23, "2026-03-27", "2026-04-13", "", ("global:pitfall:003",),
    )  # fmt: skip
    assert (two.fact, two.last_confirmed) == ("Header format: 'Authorization: token TOKEN'", "")


def test_the_seeds_own_example() -> None:
    """The document itself, where it lies beside the project."""
    if not SEED.is_file():
        pytest.skip("the seed documents are not beside the project")
    found = re.search(r"```yaml\n(.*?)```", SEED.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    facts = facts_of(found[1])
    assert [fact.id for fact in facts] == ["global:tool-quirk:001", "global:tool-quirk:002"]
    assert (facts[0].source_count, facts[0].related, facts[1].confidence) == (23, ("global:pitfall:003",), 0.9)


def test_a_persons_own_ways_of_writing_are_understood() -> None:
    """Folded text, braces, quotes, remarks, other orders, code fences: all of it is somebody's fact."""
    one, two, three, four = facts_of(WILD)
    assert (one.fact, one.confidence, one.tags) == ("folded text - with a dash and more", 0.9, ("git", "2024"))
    assert (two.fact, two.confidence) == ("x: y", 1.0)
    assert (three.fact, three.last_confirmed) == ("it's", "2026-01-02")
    assert (four.id, four.confidence) == ("global:pitfall:004", 0.25)


def test_what_cannot_be_read_is_told_with_its_line_and_harms_no_other_fact() -> None:
    """A forgotten quote in one item must not take the others with it, nor go unnoticed."""
    text = (
        WILD + '\n- id: global:pitfall:005\n  fact: "broken\n\n- id: global:pitfall:006\n  fact: b\n  confidence: 1\n'
    )
    read = read_one("global/x.yaml", text.encode())
    assert [row.fact.id[-3:] for row in read.placed] == ["001", "002", "003", "004", "006"]
    (problem,) = read.problems
    assert (problem.code, problem.id) == ("bad-yaml", "global:pitfall:005")
    assert text.split("\n")[problem.line - 1].startswith(('  fact: "broken', "- id: global:pitfall:005"))
    assert "global:pitfall:005" in read.ids


@pytest.mark.parametrize(
    "item",
    [
        "- id: &a global:fact:001\n  fact: *a\n  confidence: 0.5\n",
        "- id: global:fact:001\n  fact: " + "[" * 3000 + "\n  confidence: 0.5\n",
        "- id: global:fact:001\n  fact: !!python/object/apply:os.system [echo]\n  confidence: 0.5\n",
        "- id: global:fact:001\n  id: global:fact:002\n  fact: a\n  confidence: 0.5\n",
        "- id: global:fact:001\n\tfact: a\n  confidence: 0.5\n",
        "- id: global:fact:001\n  fact: " + "a" * 70_000 + "\n",
        "- fact: no id\n  confidence: 0.5\n",
        "- id: global:fact:001\n",
    ],
)
def test_hostile_items_are_problems_or_plain_text_never_an_exception(item: str) -> None:
    """A file can come from anywhere: nothing in it may stop the others from being read, or run anything."""
    read = read_one(
        "global/x.yaml", (item + "\n## more\n\n- id: global:fact:009\n  fact: b\n  confidence: 1\n").encode()
    )
    assert "global:fact:009" in [row.fact.id for row in read.placed]
    assert read.problems or read.placed[0].fact.fact in ("global:fact:001", "a list", "a sequence")


# --- changes in place ------------------------------------------------------------------------------------------------


def test_a_new_value_touches_nothing_else() -> None:
    """A confirmation must not reformat what a user has written: not their quotes, not their remarks."""
    for text in (FLUSH, WILD, WILD.replace("\n", "\r\n")):
        for at, item in enumerate(scan(text)):
            changed = with_values(text, item, {"confidence": 0.75, "source_count": 77, "last_confirmed": "2026-09-09"})
            if "{" in text[item.start : item.end]:
                assert changed is None, "values in braces are left to the user"
                continue
            assert changed is not None, (item, text)
            new = text[: item.start] + changed + text[item.end :]
            before, after = facts_of(text), facts_of(new)
            wanted = before[at]._replace(confidence=0.75, source_count=77, last_confirmed="2026-09-09")
            assert after == [*before[:at], wanted, *before[at + 1 :]]
            for remark in ("# a remark", "# ok", "# a remark at the margin", "owner: bob", "folded text"):
                assert text.count(remark) == new.count(remark)


def test_tags_and_words_in_any_style_can_be_replaced() -> None:
    """The panel edits what a user wrote as a list of lines or as folded text."""
    item = scan(WILD)[0]
    changed = with_values(WILD, item, {"fact": 'New "words"', "tags": ("a", "true"), "expires": "2027-01-01"})
    assert changed is not None
    new = facts_of(WILD[: item.start] + changed + WILD[item.end :])[0]
    assert (new.fact, new.tags, new.expires, new.confidence) == ('New "words"', ("a", "true"), "2027-01-01", 0.9)
    assert "# a remark at the margin" in changed


def test_operations_are_done_once_however_often_they_are_carried_out() -> None:
    """After a crash all of them are carried out again."""
    fact = Fact("global:pitfall:009", "new", "pitfall", "global", 0.5, (), 1, "2026-06-12", "2026-06-12")
    operations = [
        {"op": "add", "fact": fact.to_json()},
        {"op": "set", "id": "global:pitfall:003", "from": {"source_count": None}, "to": {"source_count": 2}},
        {"op": "date", "day": "2026-06-12"},
    ]
    text = WILD.replace("category: pitfall\n", 'category: pitfall\nlast_updated: "2026-01-01" # mine\n')
    once = apply_operations(text, operations)
    assert apply_operations(once, operations) == once
    assert 'last_updated: "2026-06-12" # mine' in once
    after = {row.id: row for row in facts_of(once)}
    assert after["global:pitfall:009"] == fact and after["global:pitfall:003"].source_count == 2
    removal = [{"op": "remove", "id": fact.id, "raw": item_text(fact)}]
    assert fact.id not in [row.id for row in facts_of(apply_operations(once, removal))]
    mine = once.replace('"new"', '"mine"')
    assert apply_operations(mine, removal) == mine, "what a user has changed is not taken out"


def test_new_facts_come_to_the_section_of_harvested_ones() -> None:
    """A user's headings keep what the user put under them."""
    fact = Fact("global:pitfall:009", "new", "pitfall", "global", 0.5, (), 1)
    operations = [{"op": "add", "fact": fact.to_json()}]
    text = "# T\n\n## Harvested\n\n- id: global:pitfall:001\n  fact: a\n  confidence: 1\n\n## Mine\n\nwords\n"
    new = apply_operations(text, operations)
    assert new.index("global:pitfall:009") < new.index("## Mine")
    assert new.replace(item_text(fact), "") == text
    assert apply_operations("words", operations).startswith("words\n\n## Harvested\n\n- id")
    assert apply_operations("words\r\n", operations).count("\r\n") == 8


# --- properties ------------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).map(lambda text: " ".join(text.split()))
TAGS = st.lists(st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=8), max_size=4, unique=True)
DAYS = st.dates().map(lambda day: f"{max(day.year, 1900):04d}-{day.month:02d}-{min(day.day, 28):02d}")


@st.composite
def fact_lists(draw: st.DrawFn) -> list[Fact]:
    domain = draw(st.sampled_from(["global", "the-nexus", "a.b_c", "проект"]))
    category = draw(st.sampled_from(CATEGORIES))
    numbers = draw(st.lists(st.integers(1, 99_999), min_size=1, max_size=6, unique=True))
    return [
        Fact(
            format_id(domain, category, number),
            draw(TEXTS.filter(bool)),
            category,
            domain,
            draw(st.integers(0, 10_000)) / 10_000,
            tuple(draw(TAGS)),
            draw(st.none() | st.integers(0, 10**6)),
            draw(st.just("") | DAYS),
            draw(st.just("") | DAYS),
            draw(st.just("") | DAYS),
            tuple(draw(st.lists(st.sampled_from(["global:fact:001", "x-y:tool-quirk:1234"]), max_size=2, unique=True))),
        )
        for number in numbers
    ]


def written(facts: list[Fact]) -> str:
    head = new_file_text(facts[0].domain, facts[0].category, "2026-06-12")
    return apply_operations(head, [{"op": "add", "fact": fact.to_json()} for fact in facts])


@given(fact_lists())
def test_any_facts_survive_write_read_write(facts: list[Fact]) -> None:
    """Byte for byte: else every run would touch files that nobody changed."""
    assert all(not check(fact._asdict()) for fact in facts)
    text = written(facts)
    assert facts_of(text) == facts
    assert written(facts_of(text)) == text


REMARKS = ["# a remark", "", "  # an indented one"]


@given(fact_lists(), st.randoms(use_true_random=False))
def test_any_edit_by_hand_keeps_the_facts(facts: list[Fact], chance: object) -> None:
    """Reordered, indented, remarked, under new headings, with other line ends: the facts are the same."""
    from random import Random

    assert isinstance(chance, Random)
    text = written(facts)
    items = [text[item.start : item.end] for item in scan(text)]
    chance.shuffle(items)
    edited = [text[: scan(text)[0].start]]
    for item in items:
        if chance.random() < 0.4:
            edited.append(f"\n## Heading {chance.random()}\n\nSome words - with a dash.\n\n- a list: of prose\n\n")
        first, *rows = item.rstrip("\n").split("\n")
        id_line = "  " + first[2:]
        if chance.random() < 0.5:
            rows = [*rows, id_line]
            chance.shuffle(rows)
            first = "- " + rows.pop(0).lstrip()
        margin = " " * chance.choice([0, 2, 4])
        deeper = " " * chance.choice([0, 0, 1, 3])
        lines = [f"{margin}-{deeper} {first[2:]}"]
        for row in rows:
            if chance.random() < 0.2:
                lines.append(chance.choice(REMARKS[:2]) if chance.random() < 0.5 else margin + deeper + "  # remark")
            lines.append(margin + deeper + row + chance.choice(["", "", "  ", "  # said so"]))
        edited.append("\n".join(lines) + "\n" + chance.choice(["", "\n", "# at the margin\n"]))
    new = "".join(edited)
    if chance.random() < 0.3:
        new = new.replace("\n", "\r\n")
    assert sorted(facts_of(new)) == sorted(facts), new


# --- The seven validations of seed 5. Each must reject exactly its case: one that is too strict loses a person's fact,
# one that is too lax lets a broken one into the index that other tools read.

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
    """Without the line a user searches a file of hundreds of facts."""
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
  "version": 1, "last_updated": "x", "total_facts": 4,
  "facts": [
    {"id": "global:fact:001", "fact": "a [ { \\"facts\\": [", "category": "fact", "domain": "global", "confidence": 1,
     "related": ["global:fact:002"]},
    {"id": "global:fact:001", "fact": "b", "category": "fact", "domain": "global", "confidence": 2},
    {"id": "global:fact:002", "fact": "c", "category": "fact", "domain": "global", "confidence": 3},
    7
  ]
}"""
    number, problems = validate_index("index.json", text.encode())
    assert number == 4
    found = [(row.code, row.line) for row in problems][:3]
    assert found == [("bad-confidence", 6), ("duplicate-id", 6), ("bad-confidence", 7)]
    assert {(row.line, row.code) for row in problems[3:]} == {
        (8, "bad-id"), (8, "bad-category"), (8, "bad-domain"), (8, "bad-confidence"), (8, "bad-fact"),
    }  # fmt: skip
    assert validate_index("index.json", b'{"facts": ')[1][0].code == "bad-index"
    assert validate_index("index.json", b"[]")[1][0].code == "bad-index"
    assert validate_index("index.json", b'{"version": 2, "total_facts": 1, "facts": []}')[0] == 0


def test_what_is_the_same_fact() -> None:
    """The same words in other clothes confirm a fact instead of doubling it; other words are another fact."""
    assert (
        statement_mark("The  Port is `8080`.")
        == statement_mark("the port is 8080")
        == statement_mark("**The port** is 8080!")
    )
    assert statement_mark("The port is 8081") != statement_mark("The port is 8080")
    assert statement_mark("session_store") != statement_mark("sessionstore")


def test_ids_come_apart() -> None:
    assert split_id("a.b:tool-quirk:0123") == ("a.b", "tool-quirk", 123)
    assert split_id("a:b:c:001") is None
    assert fact_from({**GOOD, "related": None}).related == ()
    assert CATEGORIES == ("fact", "pitfall", "pattern", "tool-quirk", "question")


# --- Confidence that fades and facts that expire. If these fail, old facts are trusted for ever, or new ones go.


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "knowledge")


def test_confidence_fades_once_at_each_crossing(shelf: Shelf) -> None:
    """Ten runs in a row must not fade it ten times, and the user's number in the file stays."""
    shelf.teach("One")
    shelf.silence(29)
    shelf.sync()
    assert shelf.fact("global:fact:001").confidence == 0.5
    shelf.silence(1)
    for _ in range(3):
        shelf.sync()
        assert shelf.fact("global:fact:001").confidence == 0.45
    shelf.silence(29)
    shelf.sync()
    assert shelf.fact("global:fact:001").confidence == 0.45
    shelf.silence(1)
    report = shelf.sync()
    assert shelf.fact("global:fact:001").confidence == 0.405
    assert report.decayed == 1
    assert "confidence: 0.5\n" in shelf.text("global/facts.yaml")
    assert decayed(0.5, 30) == decayed(0.5, 59) == 0.45


def test_a_confirmation_ends_the_fading(shelf: Shelf) -> None:
    shelf.teach("One")
    shelf.silence(30)
    shelf.teach("One")
    shelf.silence(29)
    shelf.sync()
    assert shelf.fact("global:fact:001").confidence == 0.5


def test_conversations_fed_one_by_one_fade_as_all_at_once(shelf: Shelf, tmp_path: Path) -> None:
    """Whether a user runs the harvest daily or once a year, the index is the same."""
    other = Shelf(tmp_path / "other")
    for number in range(70):
        for one in (shelf, other):
            one.teach(*(["One"] if number % 40 == 0 else []), *([f"Only {number}"] if number % 9 == 0 else []))
        shelf.sync()
    other.sync()
    assert shelf.facts() == other.facts()


def test_a_conversation_that_is_harvested_again_is_no_further_one(shelf: Shelf) -> None:
    """Else one long conversation, harvested thirty times while it grows, would fade everything."""
    shelf.teach("One")
    for number in range(40):
        shelf.teach(path="/talks/long", sha=f"grown{number}")
    shelf.sync()
    assert shelf.fact("global:fact:001").confidence == 0.5


def test_last_updated_never_goes_back(shelf: Shelf) -> None:
    """Whoever copies the newer of two indexes would take the older one."""
    shelf.teach("One")
    shelf.sync()
    shelf.clock = NOW - timedelta(days=9)
    shelf.teach("Two")
    shelf.sync()
    assert json.loads(shelf.text("index.json"))["last_updated"] == "2026-06-12T14:23:45+00:00"


def test_an_item_that_cannot_be_changed_in_place_is_left_as_it_is_and_told(shelf: Shelf) -> None:
    """A user's bytes are worth more than a count; but nothing is passed over in silence."""
    text = '- {id: global:fact:001, fact: "One", confidence: 1} # a remark with a brace }\n'
    shelf.write("global/facts.yaml", text)
    shelf.teach("One")
    report = shelf.sync()
    assert shelf.text("global/facts.yaml") == text
    assert any("global:fact:001" in note for note in report.notes)
    assert shelf.fact("global:fact:001").confidence == 1.0


def test_what_a_person_writes_counts_from_then_on(shelf: Shelf) -> None:
    """A confidence that a user sets is not faded for the time before."""
    shelf.teach("One")
    shelf.silence(45)
    shelf.sync()
    shelf.edit("global/facts.yaml", "confidence: 0.5", "confidence: 0.9")
    shelf.write("global/pitfalls.yaml", "- id: global:pitfall:001\n  fact: By hand\n  confidence: 1.0\n")
    shelf.sync()
    assert {fact.fact: fact.confidence for fact in shelf.facts()} == {"One": 0.9, "By hand": 1.0}
    shelf.silence(29)
    shelf.sync()
    assert {fact.fact: fact.confidence for fact in shelf.facts()} == {"One": 0.9, "By hand": 1.0}
    shelf.silence(1)
    shelf.sync()
    assert {fact.fact: fact.confidence for fact in shelf.facts()} == {"One": 0.81, "By hand": 0.9}


def test_an_expired_fact_is_stale_and_a_clock_set_back_does_not_revive_it(shelf: Shelf) -> None:
    shelf.teach("One")
    shelf.sync()
    shelf.edit("global/facts.yaml", "confidence: 0.5", 'confidence: 0.5\n  expires: "2026-06-12"')
    shelf.sync()
    assert not shelf.fact("global:fact:001").stale, "the day itself still counts"
    shelf.clock = NOW + timedelta(days=1)
    assert shelf.sync().stale == 1
    before = shelf.files()
    shelf.clock = NOW - timedelta(days=30)
    shelf.sync()
    assert shelf.fact("global:fact:001").stale
    assert shelf.files() == before
    shelf.edit("global/facts.yaml", "2026-06-12", "2026-12-31")
    shelf.sync()
    assert not shelf.fact("global:fact:001").stale, "a later date is the user's word"


def test_a_harvest_of_old_conversations_ages_nothing_at_birth(tmp_path: Path) -> None:
    """A fact eleven seconds old said "0.41, was 0.50: not heard again in 60 conversations"."""
    world = World(tmp_path)
    said = FakeModel(lambda number, prompt: {"facts": [{"statement": f"Valve {number} is shut", "confidence": 0.5}]})
    for year in (2024, 2023):  # the second import is older still
        for number in range(65):
            talk = world.converse(f"User: what of valve {year}.{number}?\n\nAssistant: it is shut.\n")
            at = datetime(year, 6, 1, number % 24, tzinfo=UTC).timestamp() + number
            os.utime(talk, (at, at))
        harvested(world, said)
    facts = decay_facts_of(world)
    assert len(facts) == 130 and {(fact.confidence, fact.stale) for fact in facts} == {(0.5, False)}
    assert {fact.first_seen for fact in facts} == {"2024-06-01", "2023-06-01"}
