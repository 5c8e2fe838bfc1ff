"""Recording and reflecting: how uses went, told or read from conversations, and what that says of the library."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.base.result import KnowledgeError, attempt
from core.conversations.conversation import Conversation, Turn
from core.experience.heard import Told, outcomes
from core.library.catalogue import chosen, shown_document
from core.library.database import Library
from core.library.records import UsageTrace, new_id
from core.library.rows import traces
from core.library.use import usage
from core.library.use.changes import undo
from core.library.use.consolidate import Consolidation
from core.library.use.inference import heard_in, record_heard
from core.library.use.reflect import Reflection, reflect
from core.library.use.usage import record
from tests.library_shelf import Shelf

HANG = "Calling await inside a sync callback hangs forever; schedule it with create_task or move it to an executor."
POOL = "A connection pool that is never closed keeps the event loop alive after the last request."


@pytest.fixture
def shelf(library: Library) -> Shelf:
    made = Shelf(library)
    made.document("Gotchas", {"hang": HANG, "pool": POOL})
    made.document("Loops", {"loop": "The event loop runs callbacks one after the other."}, source="docs.python.org")
    return made


# --- told -------------------------------------------------------------------------------------------------------------


def test_a_document_tells_how_its_chunks_were_used(shelf: Shelf) -> None:
    """By what stands there a record is taken back: one that is not listed stays for good."""
    for name in ("hang", "loop", "pool"):
        shelf.used(name, session="monday", notes=name)
    gotchas = chosen(shelf.library, shelf.chunks["pool"], Path())
    assert [trace.notes for trace in shown_document(shelf.library, gotchas).traces] == ["pool", "hang"]


def test_a_trace_that_says_nothing_is_refused_in_one_sentence(shelf: Shelf) -> None:
    whole = UsageTrace(new_id(), (shelf.chunks["hang"],), "other", "win", shelf.now, "s")
    wrong: dict[str, dict[str, Any]] = {
        "is no outcome": {"outcome": "great"},
        "is no kind of task": {"task_type": "guessing"},
        "a use has 1 to 100 chunks": {"chunk_ids": ()},
        "no chunk's id begins": {"chunk_ids": ("00000000-0000-0000-0000-000000000000",)},
        "too short": {"chunk_ids": ("ab",)},
    }
    for says, given in wrong.items():
        found = attempt(record, shelf.library, replace(whole, **given))
        assert isinstance(found, KnowledgeError) and says in str(found.error)
    with shelf.library.reading() as connection:
        assert traces(connection) == []


# --- inferred ---------------------------------------------------------------------------------------------------------


def talk(shelf: Shelf, *rest: tuple[str, str]) -> list[UsageTrace]:
    """A conversation in which two chunks are retrieved; its other turns come after."""
    found = shelf.ask("why does my callback hang in the event loop", limit=3)
    assert {"hang", "pool"} <= set(shelf.names(found))
    turns = (Turn("user", "why does my callback hang?"), Turn("tool", f'{{"retrieval": "{found.id}", "results": []}}'),
             *(Turn(role, text) for role, text in rest))  # fmt: skip
    with shelf.library.writing() as connection:
        return record_heard(connection, heard_in(Conversation("chat-7", "plain", turns, title="A hang")))


USING = "You are calling await inside a sync callback; schedule it with create_task or move it to an executor."


def test_a_conversation_shows_what_it_used_and_how_that_went(shelf: Shelf) -> None:
    for verdict, outcome in (("Thanks, that fixed it", "win"), ("No, that is wrong, it still hangs", "misleading"),
                             ("Now rename the function", "partial"), ("", "partial")):  # fmt: skip
        made = talk(shelf, ("assistant", USING), ("user", verdict))
        assert [(trace.outcome, trace.recorded, trace.session_id) for trace in made] == [
            (outcome, "inferred", "chat-7"), ("miss", "inferred", "chat-7"),
        ]  # fmt: skip
        assert made[0].chunk_ids == (shelf.chunks["hang"],) and shelf.chunks["pool"] in made[1].chunk_ids
        assert made[0].query == "why does my callback hang in the event loop"


def test_a_conversation_is_read_once_and_what_was_told_is_not_guessed(shelf: Shelf) -> None:
    assert len(talk(shelf, ("assistant", USING))) == 2
    found = shelf.ask("why does my callback hang", session_id="chat-8")
    shelf.used("hang", outcome="misleading", session="chat-8", query="why does my callback hang")
    turns = (Turn("tool", found.id), Turn("assistant", USING), Turn("user", "thanks"))
    with shelf.library.writing() as connection:
        assert record_heard(connection, heard_in(Conversation("chat-8", "plain", turns))) == []


def test_an_answer_that_used_nothing_says_nothing(shelf: Shelf) -> None:
    assert talk(shelf, ("assistant", "Have you tried turning it off and on again?"), ("user", "thanks")) == []


def test_the_words_of_the_question_are_no_use_of_a_chunk() -> None:
    question = "calling await inside a sync callback hangs forever, why"
    key = "abcdef12-0000-4000-8000-000000000000"

    def is_used(answer: str) -> bool:
        return bool(outcomes([Told(HANG, key, "")], question, [Turn("assistant", answer)]))

    assert not is_used(f"You ask why {question}. I do not know.")
    assert is_used("Schedule it with create_task or move it to an executor.")
    assert is_used("see chunk abcdef12")


# --- reflecting -------------------------------------------------------------------------------------------------------


def reflected(shelf: Shelf, **more: Any) -> Reflection:
    return reflect(shelf.library, now=shelf.now, **more)


def test_the_questions_of_the_seed_have_answers(shelf: Shelf) -> None:
    shelf.concept("event loop", "loop", "pool", "hang")
    shelf.concept("executor", "hang")
    shelf.document("Noise", {"noise": "Upvote this event loop executor if you agree."}, source="noise.example")
    for at in range(4):
        shelf.used("hang", "noise", query=f"why does it hang {at}")
        shelf.used("pool", task="factual_lookup", outcome="misleading", query="which executor is the default")
        shelf.unfound("zebra executor")
    shelf.used("loop", task="factual_lookup", outcome="misleading")
    shelf.consolidate()
    shelf.now += timedelta(days=100)
    found = reflected(shelf, concept="Event Loop")
    tasks = {one.task_type: one for one in found.tasks}
    assert (tasks["debugging"].verdict, tasks["debugging"].success) == ("served well", 1.0)
    assert (tasks["factual_lookup"].verdict, tasks["factual_lookup"].success) == ("served badly", 0.0)
    sources = {one.domain: one for one in found.sources}
    assert sources["noise.example"].verdict == "pulls its weight"
    assert sources["reddit.com/r/python"].outcomes == {"misleading": 4, "win": 4}
    assert sources["reddit.com/r/python"].verdict == "good for debugging, not for factual lookup"
    assert [one.chunk_id for one in found.retire] == [shelf.chunks["pool"]]
    assert "executor" in {one.concept for one in found.gaps}
    assert {"which executor is the default", "zebra executor"} <= {one["query"] for one in found.unanswered}
    assert [{one.one, one.other} for one in found.connections] == [{shelf.chunks["hang"], shelf.chunks["noise"]}]
    assert found.stale == 4 and found.concept is not None
    assert found.concept.documents == {"2026-11": 2} and found.concept.outcomes == {
        "2026-11": {"misleading": 5, "win": 4}
    }
    assert len(found.concept.profiles) == 1 and "Good for debugging (4 wins" in found.concept.profiles[0]["text"]


def test_an_unused_library_reflects_nothing_a_scope_is_answered_alone_and_an_unknown_one_refused(shelf: Shelf) -> None:
    empty = reflected(shelf)
    assert empty.traces == 0 and empty.tasks == () and empty.gaps == ()
    shelf.used("hang")
    only = reflected(shelf, scope="tasks")
    assert only.tasks and only.sources == () and only.retire == ()
    for given in ({"scope": "feelings"}, {"scope": "concept"}, {"scope": "concept", "concept": "no such"}):
        assert isinstance(attempt(reflect, shelf.library, now=shelf.now, **given), KnowledgeError)


# --- taken back -------------------------------------------------------------------------------------------------------


def state_of(shelf: Shelf, chunk: str) -> tuple[str | None, dict[str, int], int]:
    """What is known of a chunk: its profile, its outcomes at debugging, how many of its uses are told."""
    dossiers = shelf.ask("pool deadlock", log=False).dossiers
    (one,) = [one for one in dossiers if one.chunk.id == shelf.chunks[chunk]]
    return one.chunk.functional_profile, dict(one.tally.get("debugging", {})), len(one.traces)


@pytest.fixture
def pool(library: Library) -> Shelf:
    made = Shelf(library)
    made.document("pool", {"pool": "a pool that is asked again inside its own task ends in a deadlock"})
    return made


def consolidated(shelf: Shelf) -> Consolidation:
    done = shelf.consolidate()
    assert shelf.consolidate().changes == ()
    return done


def test_an_outcome_that_was_taken_back_counts_no_more_nor_does_what_was_learned_from_it(pool: Shelf) -> None:
    shelf, library = pool, pool.library
    traces = [shelf.used("pool", query=f"pool deadlock {at}") for at in range(9)]
    wrong = shelf.used("pool", outcome="misleading", notes="led astray", query="pool deadlock")
    consolidated(shelf)
    profile, counts, _told = state_of(shelf, "pool")
    assert profile and "misleading" in profile and counts == {"win": 9, "misleading": 1}

    assert usage.withdraw(library, wrong.id[:12]).id == wrong.id
    assert state_of(shelf, "pool")[1] == {"win": 9}
    # One more win: as many traces as before, and yet the profile must be written again.
    traces.append(shelf.used("pool", query="pool deadlock once more"))
    consolidated(shelf)
    profile, counts, _told = state_of(shelf, "pool")
    assert profile and "misleading" not in profile and counts == {"win": 10}

    for trace in traces[:6]:
        usage.withdraw(library, trace.id)
    done = consolidated(shelf)
    profile, counts, told = state_of(shelf, "pool")
    assert profile is None and counts == {"win": 4} and told == 4
    (source,) = done.of("source_profile")
    assert source.after is not None and source.after["functional_profile"] is None
    assert source.after["trace_counts_by_task"] == {"debugging": {"win": 4}}


def test_a_consolidation_that_is_undone_after_that_counts_no_use_twice(pool: Shelf) -> None:
    traces = [pool.used("pool", query=f"pool deadlock {at}") for at in range(7)]
    run = consolidated(pool).run_id
    usage.withdraw(pool.library, traces[2].id)
    undo(pool.library, run, pool.now)
    assert state_of(pool, "pool")[1] == {"win": 6}


def test_what_was_never_recorded_cannot_be_taken_back(pool: Shelf) -> None:
    trace = pool.used("pool")
    usage.withdraw(pool.library, trace.id)
    for which in ("", "abc", "zzzz", pool.chunks["pool"], trace.id):
        refused = attempt(usage.withdraw, pool.library, which)
        assert isinstance(refused, KnowledgeError) and refused.error.code == "no-trace"


def test_what_serves_one_kind_of_task_is_not_told_to_keep_failing(shelf: Shelf) -> None:
    for _ in range(3):
        shelf.used("hang")
        for _ in range(5):
            shelf.used("hang", task="factual_lookup", outcome="misleading")
        shelf.used("pool", task="factual_lookup", outcome="miss")
    assert [one.chunk_id for one in reflected(shelf).retire] == [shelf.chunks["pool"]]
