"""Confidence that fades and facts that expire. If these fail, old facts are trusted for ever, or new ones go."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.factindex.record import decayed
from tests.factindex_world import NOW, Shelf
from tests.facts_home import facts_of, harvested
from tests.harvest_world import FakeModel, World


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "knowledge")


def test_confidence_fades_once_at_each_crossing(shelf: Shelf) -> None:
    """Ten runs in a row must not fade it ten times, and the person's number in the file stays."""
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
    """Whether a person runs the harvest daily or once a year, the index is the same."""
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
    """A person's bytes are worth more than a count; but nothing is passed over in silence."""
    text = '- {id: global:fact:001, fact: "One", confidence: 1} # a remark with a brace }\n'
    shelf.write("global/facts.yaml", text)
    shelf.teach("One")
    report = shelf.sync()
    assert shelf.text("global/facts.yaml") == text
    assert any("global:fact:001" in note for note in report.notes)
    assert shelf.fact("global:fact:001").confidence == 1.0


def test_what_a_person_writes_counts_from_then_on(shelf: Shelf) -> None:
    """A confidence that a person sets is not faded for the time before."""
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
    assert not shelf.fact("global:fact:001").stale, "a later date is the person's word"


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
    facts = facts_of(world)
    assert len(facts) == 130 and {(fact.confidence, fact.stale) for fact in facts} == {(0.5, False)}
    assert {fact.first_seen for fact in facts} == {"2024-06-01", "2023-06-01"}
