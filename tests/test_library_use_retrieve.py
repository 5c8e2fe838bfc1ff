"""Retrieval: what a user asks for comes first, with what it has been good for, on SQLite and PostgreSQL alike."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from core.base.entry import Entry, SearchSource
from core.base.result import KnowledgeError, attempt, refuse
from core.experience.kinds import infer_task_type
from core.library import rows, schema
from core.library.database import Library
from core.library.told import Told
from core.library.use import usage
from core.library.use.dossier import as_text
from core.library.use.postgresql import Embedder
from core.library.use.reflect import reflect
from core.search.index import open_index
from core.search.query import search
from tests.facts_home import code_of
from tests.library_shelf import Shelf, asked

QUESTION = "Why is my async Python code deadlocking?"


@pytest.fixture
def shelf(library: Library) -> Shelf:
    made = Shelf(library)
    made.document("Deadlock thread", {
        "reddit": "Ran into this exact issue. The problem is you're calling await inside a sync callback. You need "
        "asyncio.create_task() or an executor. My async code was deadlocking for 3 hours lol",
    }, rhetorical_mode="anecdotal")  # fmt: skip
    made.document("Coroutines", {
        "docs": "Async code runs on an event loop. A coroutine is suspended at await and resumed later.",
        "locks": "asyncio.Lock is not reentrant: acquiring it twice in one task waits forever.",
    }, source="docs.python.org")  # fmt: skip
    made.document("Cooking", {"soup": "Lentils need twenty minutes and a little salt."}, source="example.org")
    return made


# --- the seed's example -----------------------------------------------------------------------------------------------


def test_role_casting_as_the_seed_tells_it(shelf: Shelf) -> None:
    """Ingest, retrieve, use, record, consolidate, retrieve: at the end the dossier says what the chunk is good for, and
    that facts are not it."""
    first = shelf.ask(QUESTION, session_id="monday")
    assert first.task_type == "debugging" and first.inferred
    assert "reddit" in shelf.names(first)[:2] and "soup" not in shelf.names(first)
    for note in ("matched my stack trace", "explained the exact gotcha", "create_task was the way out"):
        shelf.used("reddit", notes=note, query=QUESTION, session="monday")
    shelf.used("reddit", task="factual_lookup", outcome="misleading", notes="the answer was wrong",
               query="which Python version added create_task?")  # fmt: skip
    shelf.used("reddit", task="conceptual_understanding", outcome="miss", notes="too specific, needed theory",
               query="how do coroutines work?")  # fmt: skip
    for _ in range(7):
        shelf.used("locks", query="why does my lock wait forever", outcome="partial")
    assert shelf.consolidate().run_id
    again = shelf.ask("my async Python code hangs in a deadlock")
    dossier = again.dossiers[0]
    assert shelf.names(again)[0] == "reddit"
    assert dossier.tally["debugging"] == {"win": 3} and dossier.tally["factual_lookup"] == {"misleading": 1}
    assert dossier.success == 1.0
    text = as_text(dossier, 1)
    for part in ("Good for debugging (3 wins", "factual lookup (1 misleading", "create_task was the way out",
                 '[factual_lookup] → MISLEADING: "the answer was wrong"', "anecdotal",
                 "Source profile (reddit.com/r/python, forum)", "usage "):  # fmt: skip
        assert part in text
    facts = shelf.ask("which Python version added create_task?", task_type="factual_lookup")
    assert next(one for one in facts.dossiers if one.chunk.id == dossier.chunk.id).why["usage"] < 0


@pytest.mark.parametrize(
    ("question", "task"),
    [
        (QUESTION, "debugging"),
        ("TypeError: NoneType has no attribute foo when saving", "debugging"),
        ("how do I configure nginx as a reverse proxy?", "implementation_howto"),
        ("How does garbage collection work in Go?", "conceptual_understanding"),
        ("should we use Postgres or SQLite for this?", "decision_support"),
        ("what do people think of Rust for web backends?", "opinion_gathering"),
        ("when was Python 3.11 released?", "factual_lookup"),
        ("give me an overview of vector databases", "exploratory_research"),
        ("ideas for a name of a coffee shop", "creative_inspiration"),
        ("my connection to staging is refused, why?", "debugging"),
        ("the page is blank after the login", "debugging"),
        ("the build is red again since yesterday", "debugging"),
        ("the importer won't pick up the new rows", "debugging"),
        ("rename the column in every migration", "implementation_howto"),
        ("I want to send the report each Monday", "implementation_howto"),
        ("easiest way to read a CSV in Go", "implementation_howto"),
        ("what happens when two writers meet?", "conceptual_understanding"),
        ("what's the point of a write-ahead log?", "conceptual_understanding"),
        ("why do we not use Redis", "decision_support"),
        ("is it safe to drop the old table?", "decision_support"),
        ("is htmx any good", "opinion_gathering"),
        ("what's the port of staging", "factual_lookup"),
        ("remind me of Anna's address", "factual_lookup"),
        ("look into queues that run on SQLite", "exploratory_research"),
        ("come up with a slogan", "creative_inspiration"),
        ("lentils", "other"),
    ],
)
def test_the_kind_of_task_is_read_from_the_question(question: str, task: str) -> None:
    assert infer_task_type(question) == task


# --- strategies -------------------------------------------------------------------------------------------------------


def test_a_concept_brings_chunks_that_share_no_word(shelf: Shelf) -> None:
    shelf.concept("Asynchronous programming", "reddit", "docs", aliases=("async io",))
    shelf.concept("Legumes", "soup", aliases=("pulses",))
    (soup,) = shelf.ask("what about PULSES?").dossiers
    assert soup.chunk.id == shelf.chunks["soup"] and soup.why["concept"] > 0 == soup.why["keyword"]
    found = shelf.ask("what about ASYNC IO?")
    assert {"reddit", "docs"} <= set(shelf.names(found))


def test_what_helped_with_a_question_like_this_comes_back(shelf: Shelf) -> None:
    shelf.used("locks", query="program freezes after acquiring twice")
    shelf.used("soup", query="program freezes after acquiring twice", outcome="misleading")
    found = shelf.ask("my program freezes after acquiring it twice")
    assert shelf.names(found)[0] == "locks"
    other = shelf.ask("my program freezes after acquiring it twice", task_type="opinion_gathering")
    assert other.dossiers[0].why["usage"] < found.dossiers[0].why["usage"]
    assert "usage" not in shelf.ask("how long do noodles cook in salt").dossiers[0].why


def test_links_lead_to_what_belongs_together(shelf: Shelf) -> None:
    assert "soup" not in shelf.names(shelf.ask(QUESTION))
    shelf.link("reddit", "soup", "complements", weight=0.9, created_by="consolidated")
    found = shelf.ask(QUESTION)
    soup = next(one for one in found.dossiers if one.chunk.id == shelf.chunks["soup"])
    assert set(soup.why) >= {"graph"}


def test_better_for_leads_to_the_better_one_for_its_task_alone(shelf: Shelf) -> None:
    shelf.link("soup", "reddit", "better_for", task_type="debugging", created_by="consolidated")
    for task, leads in (("", True), ("factual_lookup", False)):
        found = shelf.ask(QUESTION, task_type=task)
        assert ("soup" in shelf.names(found)) is leads


def plain_search(shelf: Shelf, folder: Path) -> Callable[[str], list[str]]:
    """A question -> the names of the chunks as `core.search` ranks them, which is told the same of each. Of equals as
    old the one from the source that comes first stands first, and then the earlier."""
    names = {key: name for name, key in shelf.chunks.items()}
    entries, by_key = [], {}
    with shelf.library.reading() as connection:
        document = schema.document.c
        asked = select(schema.chunk, document.source, document.written_at)
        for row in connection.execute(asked.join(schema.document, document.id == schema.chunk.c.document_id)):
            key = f"{row.source} {row.position:04}"
            by_key[key] = names[row.id]
            day = row.written_at.date().isoformat() if row.written_at else ""
            entries.append(Entry("document", key, row.heading, row.content, day, thread=row.document_id,
                                       position=row.position))  # fmt: skip
    (folder / "source").write_text("x", encoding="ascii")
    index = open_index(folder / "cache", lambda: [SearchSource("all", folder / "source", lambda _: entries)])
    return lambda query: [by_key[hit.entry.key] for hit in search(index, query, limit=100)]


@pytest.fixture
def copied(shelf: Shelf) -> Shelf:
    """Talks that were copied whole, some of them with a date, with concepts and with what reading them linked."""
    turns = ("how do I mount the old disk", "try mount -a as root", "it says the disk is busy", "unmount it first",
             "which command shows what keeps the disk busy", "lsof shows it", "thanks", "mount works")  # fmt: skip
    for number in range(12):
        written = shelf.now - timedelta(days=100 * number) if number % 3 else None
        texts = {f"{number} {at}": text for at, text in enumerate(turns[: 5 + number % 4])}
        texts[f"{number} end"] = f"bye {'abcdefghijkl'[number] * 3}"  # no two documents are the same
        shelf.document(f"t{'abcdefghijkl'[number]}", texts, source=f"x{number % 2}", written=written)
    shelf.concept("busy disk", "0 2", "1 2", "7 3", aliases=("keeps the disk busy",))
    shelf.link("3 0", "6 6", "elaborates")
    shelf.link("2 1", "soup", "elaborates")
    return shelf


def test_where_nothing_was_learned_the_order_is_that_of_plain_search(copied: Shelf, tmp_path: Path) -> None:
    """Equals included: what came with the texts, their age and chance must not put a worse answer before a better."""
    searched = plain_search(copied, tmp_path)
    for query in ("how do I mount the disk", "what keeps the disk busy", "unmount it first", "lsof", "thanks",
                  "which comand shows it", "what was said of the disk in 2026", "in 2026", "busy on 14 August 2026",
                  "nmoun", "mount -a as root"):  # fmt: skip
        plain = searched(query)
        found = copied.ask(query, limit=100)
        assert plain and copied.names(found)[: len(plain)] == plain, query
        scores = [one.score for one in found.dossiers]
        assert scores == sorted(scores, reverse=True), "what stands behind scores no more than what stands before it"
        assert copied.names(copied.ask(query, limit=5)) == plain[:5], query


def test_what_a_person_links_moves_up(copied: Shelf) -> None:
    query = "how do I mount the disk"
    before = copied.names(copied.ask(query, limit=100))
    assert before[-1] == "soup" or "soup" not in before[:5]
    copied.link(before[0], before[-2], "complements", created_by="manual")
    after = copied.names(copied.ask(query, limit=100))
    assert after.index(before[-2]) < before.index(before[-2])


def test_of_two_the_newer_one_where_the_newest_is_asked_for(shelf: Shelf) -> None:
    for name, verb, days in (("old", "publish", 900), ("new", "upload", 3)):
        words = f"Release process: tag, build, sign, {verb}."
        shelf.document(name, {name: words}, written=shelf.now - timedelta(days=days))
    found = shelf.ask("what is the latest release process")
    assert shelf.names(found)[:2] == ["new", "old"]
    assert found.dossiers[0].why["temporal"] > 0.9 > 0.1 > found.dossiers[1].why["temporal"]


def test_what_was_written_on_a_day_is_not_lost_among_what_names_it(library: Library) -> None:
    """Hundreds of passages have a year in their heading, and stood before the one that was written in it."""
    shelf, day = Shelf(library), datetime(2025, 5, 4, 12, tzinfo=UTC)
    plans = {f"plan {at}": f"The harbour is open {at}." for at in range(300)}
    shelf.document("Plans", plans, written=day - timedelta(days=2000), heading="Plan of 2025 05 04")
    shelf.document("Meeting", {"meeting": "Lentils were chosen, because they keep."}, written=day)
    for question in ("what was decided on 4 May 2025", "what was decided in 2025"):
        names = shelf.names(shelf.ask(question))
        assert names[0] == "meeting" and "plan 0" in names, question


def axes(texts: Sequence[str]) -> Sequence[Sequence[float]]:
    """An embedder that knows three subjects."""
    subjects = (("async", "await", "hang", "block"), ("lentil", "dinner", "salt"), ("lock", "mutex"))
    return [[0.1 + sum(text.lower().count(word) for word in words) for words in subjects] for text in texts]


def test_meaning_finds_what_no_word_does(shelf: Shelf) -> None:
    embedder = Embedder("axes", axes)
    found = shelf.ask("what is for dinner", embedder=embedder)
    assert shelf.names(found)[0] == "soup" and found.dossiers[0].why["semantic"] > 1
    shelf.document("More", {"stew": "A stew wants salt and time."}, source="example.org")
    assert {"soup", "stew"} <= set(shelf.names(shelf.ask("what is for dinner", embedder=embedder)))
    assert shelf.names(shelf.ask("what is for dinner")) == []


def test_without_its_embedder_words_still_answer(shelf: Shelf) -> None:
    if shelf.library.path is not None:
        pytest.skip("a file's vectors are those of the search index")
    found = shelf.ask(
        QUESTION, embedder=Embedder("gone", lambda texts: refuse(KnowledgeError("no-embedder", "the embedder is gone")))
    )
    assert "reddit" in shelf.names(found)[:2]
    assert found.warnings == ("the embedder is gone. Words alone were compared.",)


def test_any_text_is_a_question(shelf: Shelf) -> None:
    """What somebody pastes must not be an error of the database's query language."""
    for text in ("", "   ", "'", '"', "a' OR 1=1 --", "NEAR(", "AND OR NOT", "*", "c++ & | ! ( ) :*", "日本語", "\x00",
                 "\ud800", "😀", "1", "the of and", "x" * 9000, "don't \\ 'quote\\'"):  # fmt: skip
        shelf.ask(text)
    assert isinstance(attempt(asked, shelf.library, "x", now=shelf.now, task_type="magic"), KnowledgeError)


def test_a_library_without_anything_answers_nothing(library: Library) -> None:
    assert Shelf(library).ask(QUESTION).dossiers == ()


def test_what_is_not_active_any_more_is_not_retrieved(shelf: Shelf) -> None:
    with shelf.library.writing() as connection:
        connection.execute(schema.document.update().where(schema.document.c.title == "Deadlock thread")
                           .values(status="superseded"))  # fmt: skip
    shelf.used("reddit", query=QUESTION)
    assert "reddit" not in shelf.names(shelf.ask(QUESTION))


# --- dossiers ---------------------------------------------------------------------------------------------------------


def test_a_history_is_shown_whole_then_in_parts_then_as_its_profile(shelf: Shelf) -> None:
    for at in range(8):
        shelf.used("reddit", notes=f"note {at}")
    full = shelf.ask(QUESTION).dossiers[0]
    assert full.level == "full" and len(full.traces) == 8
    shelf.used("reddit", task="opinion_gathering", outcome="miss", notes="no opinion in it")
    compact = shelf.ask(QUESTION).dossiers[0]
    assert compact.level == "compact" and [trace.notes for trace in compact.traces] == ["note 7", "note 6", "note 5"]
    assert "8 wins" in as_text(compact) and "note 4" not in as_text(compact)
    for _ in range(25):
        shelf.used("reddit")
    assert shelf.ask(QUESTION).dossiers[0].level == "compact", "there is no profile yet that could stand for it"
    shelf.consolidate()
    minimal = shelf.ask(QUESTION).dossiers[0]
    assert minimal.level == "minimal" and minimal.traces == ()
    assert "33 wins" in as_text(minimal) and "Good for debugging" in as_text(minimal)


def test_a_passage_that_served_often_is_not_slower_to_ask_for(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """What serves well has hundreds of uses; a question read every one of them, twice, to count them."""
    made = []

    class Counted(rows.UsageTrace):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            made.append(self)

    chance = random.Random(5)
    for _ in range(60):
        shelf.used("reddit", "docs", task=chance.choice(["debugging", "factual_lookup"]), notes="it matched")
    shelf.used("docs", outcome="misleading", notes="the newest")
    monkeypatch.setattr(rows, "UsageTrace", Counted)
    found = {one.chunk.id: one for one in shelf.ask(QUESTION, task_type="debugging").dossiers}
    assert len(made) <= 8, "some of the newest of each"
    docs = found[shelf.chunks["docs"]]
    assert sum(sum(row.values()) for row in docs.tally.values()) == 61
    assert [trace.notes for trace in docs.traces] == ["the newest", "it matched", "it matched"]
    assert {trace.task_type for trace in docs.traces} == {"debugging"}


def test_a_dossier_as_json_has_the_keys_that_others_read(shelf: Shelf) -> None:
    shelf.used("reddit", notes="it matched")
    found = shelf.ask(QUESTION)
    row = found.to_json()[shelf.names(found).index("reddit")]
    assert {"kind", "key", "text", "summary", "score", "why", "provenance", "functional_profile", "source_profile",
            "usage", "document", "retrieval", "task_type"} <= row.keys()  # fmt: skip
    used = {"task_type": "debugging", "outcome": "win", "notes": "it matched"}
    assert row["usage"] == [{"at": row["usage"][0]["at"], **used}]
    assert set(row["why"]) <= {"keyword", "semantic", "concept", "usage", "graph", "temporal"} and json.dumps(row)


# --- the log ----------------------------------------------------------------------------------------------------------


def test_what_was_asked_is_remembered_also_where_nothing_was_found(shelf: Shelf) -> None:
    found = shelf.ask(QUESTION, session_id="monday")
    empty = shelf.ask("zebra crossings")
    unlogged = shelf.ask("nobody may know", log=False)
    assert unlogged.id == "" and empty.dossiers == ()
    with shelf.library.reading() as connection:
        asked = {row.id: row.query for row in connection.execute(schema.retrieval.select())}
        shown = connection.execute(schema.retrieval_chunk.select()).all()
        c = schema.chunk.c
        counts = connection.execute(select(c.retrieved_count).where(c.id == shelf.chunks["reddit"])).scalar_one()
    assert asked == {found.id: QUESTION, empty.id: "zebra crossings"}
    assert {row.retrieval_id for row in shown} == {found.id} and counts == 1
    trace = shelf.used("reddit", session="monday")
    assert trace.query == QUESTION and trace.retrieval_id == found.id, "the question is that of the session's retrieval"


# --- for somebody who may not be told all of it -----------------------------------------------------------------------


def test_what_may_not_be_told_is_not_there(shelf: Shelf) -> None:
    """An agent of one project was handed the documents of another, and what was recorded there."""
    used = shelf.used("soup", notes="the lentils were hard", query="how long do lentils need")
    shelf.concept("lentils", "soup")
    shelf.concept("coroutine", "docs", "soup")
    told = replace(shelf.library, told=Told(lambda source, _project: "example.org" not in source, lambda _root: True))
    hidden = shelf.chunks["soup"]
    found = asked(told, "lentils, salt and async code", now=shelf.now, limit=10)
    assert found.dossiers and hidden not in {one.chunk.id for one in found.dossiers}
    for scope in ("all", "concept"):
        report = str(reflect(told, scope=scope, concept="coroutine", now=shelf.now).to_json())
        assert "lentil" not in report.lower() and "example.org" not in report
    assert code_of(reflect, told, scope="concept", concept="lentils", now=shelf.now) == "no-concept"
    assert code_of(usage.record, told, used) == "no-chunk" and code_of(usage.withdraw, told, used.id) == "no-trace"
    assert hidden in {one.chunk.id for one in shelf.ask("lentils and salt").dossiers}, "the others see all of it"
    elsewhere = replace(shelf.library, told=Told(lambda _source, _project: True, lambda root: root == "/srv/shop"))
    [dossier] = [one for one in asked(elsewhere, "lentils", now=shelf.now).dossiers if one.chunk.id == hidden]
    assert dossier.traces == (), "what was recorded in another project is told there"
