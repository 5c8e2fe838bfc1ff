"""The exam judges rightly, and its runner asks the program: on two made-up sessions, without the corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.read import read_conversation
from tests.quality.exam.__main__ import BOTH, COMMAND, DOORS, TOOLS, problems, questions, rows_of, run, sessions, table
from tests.quality.exam.grep import grepped
from tests.quality.exam.score import NEVER, Question, content_words, has_point, scored, together, turns_of, wanted_words
from tests.quality.reach import TASKS, facts, has_fact, prompts_about_nothing, session_of
from tests.quality.real_home import Answer, Hit, RealHome

ASKED = Question(
    "1",
    "decision",
    "claude_code/o__shop/a.jsonl",
    "/srv/work/shop",
    "Which database does the shop keep its orders in?",
    points=("SQLite, because two programs write at the same time",),
    turns=({"role": "user", "quote_start": "We decided to use\nSQLite"},),
)
NEVER_SAID = Question("2", NEVER, "", "/srv/work/shop", "Which payment provider?", near="claude_code/o__shop/a.jsonl")
RIGHT = {"claude_code/o__shop/a.jsonl": frozenset({3})}


def hit(session: str, turn: int = 0, text: str = "", *, kind: str = "conversation", weak: bool = False) -> Hit:
    return Hit(kind, frozenset({f"claude_code/{session}"}), turn, text, weak)


def test_a_hit_answers_by_its_turn_or_as_what_was_harvested() -> None:
    """A figure that counts the right session with any turn would call every long session an answer."""
    beside, other = hit("o__shop/a.jsonl", 2), hit("o__till/b.jsonl", 3, weak=True)
    for first, answered in ((hit("o__shop/a.jsonl", 3), 1), (hit("o__shop/a.jsonl", kind="bullet"), 1), (beside, 0)):
        score = scored(ASKED, Answer((first, other), 900, 0.5), RIGHT)
        assert (score.session, score.answer, score.other, score.firm, score.hits) == (1, answered, 1, 1, 2)
    score = scored(ASKED, Answer((other, beside), 900, 0.5), RIGHT)
    assert (score.session, score.answer, score.passage, score.characters) == (2, 0, 0, 900)
    assert together([score, scored(ASKED, Answer((), 100, 0.1), RIGHT)])[:4] == (2, 2, 0, 0)


def test_a_passage_has_what_the_question_does_not_say_itself() -> None:
    """A turn that only repeats the question would pass for an answer."""
    point = ASKED.points[0]
    assert content_words("The programs are writing, at 8 a") == content_words("program write 8")
    assert wanted_words("the orders", ASKED.question) == content_words("orders"), "nothing would be left of it"
    assert has_point("SQLite: two programs may write to it", point, ASKED.question)
    assert not has_point(ASKED.question, point, ASKED.question)
    assert not has_point("Shall the orders go?", "the orders stay", ASKED.question)
    score = scored(ASKED, Answer((hit("o__till/b.jsonl", 1, "No."), hit("o__shop/a.jsonl", 3, point)), 1, 0.0), RIGHT)
    assert (score.passage, score.told) == (2, 1.0)


def test_turns_are_found_by_who_spoke_and_how_the_quote_begins() -> None:
    words = "We decided to use  SQLite instead"
    talk = Conversation("a", "x", (Turn("user", "Why?"), Turn("tool", words), Turn("user", words)))
    assert turns_of(talk, ASKED.turns) == {3} and turns_of(talk, ()) == frozenset()
    assert turns_of(talk, ASKED.turns, any_role=True) == {2, 3}


def test_grep_counts_words_and_takes_the_best_lines() -> None:
    texts = {"a": "orders in a database\nsqlite, two programs write", "b": "orders orders orders\norders", "c": "none"}
    found = grepped(ASKED, list(texts), texts.__getitem__, frozenset("a"))
    assert found.ranks == {"most": 2, "different": 1} and not found.passage
    assert found.characters == len("orders in a database") + len("orders orders orders") + len("orders")


def test_the_questions_are_whole() -> None:
    """One without a session, a quote or a key point would count as missed whatever the program does."""
    asked, known = questions(), set(sessions())
    assert len({one.id for one in asked}) == len(asked) == 40
    assert {one.kind for one in asked} == {"fact", "decision", "open", "how-to", "file", "preference", NEVER}
    for one in asked:
        told = one.session and one.points and one.turns and all(turn["quote_start"] for turn in one.turns)
        assert told if one.kind != NEVER else one.near and not one.session, one.id
        assert one.about in known, one.id


def transcript(folder: str, *said: str) -> bytes:
    rows: list[dict[str, Any]] = []
    for at, words in enumerate(said):
        role = "assistant" if at % 2 else "user"
        about = {"sessionId": folder, "cwd": folder, "timestamp": f"2026-06-0{at + 1}T10:00:00Z", "uuid": f"u{at}"}
        rows.append({"type": role, "message": {"role": role, "content": words}} | about)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_the_exam_runs_over_two_sessions(tmp_path: Path) -> None:
    """The folders of the sessions are not there, as those of real ones are not; an agent in one is not told the
    other's."""
    home = RealHome(tmp_path / "made")
    home.put(
        "claude_code/o__shop/a.jsonl",
        transcript(
            "/srv/work/shop", "Where shall we put them?", "A JSON file or a server.",
            "We decided to use SQLite as the database of the orders, because two programs write at the same time.",
        ),
    )  # fmt: skip
    home.put(
        "claude_code/o__till/b.jsonl",
        transcript("/srv/work/till", "Which database does the till keep its orders in?", "In PostgreSQL."),
    )
    home.harvest()
    assert home.folders == {
        f"claude_code/o__{name}": f"/srv/work/{name[:4]}" for name in ("shop/a.jsonl", "till/b.jsonl")
    }
    asked = [ASKED, NEVER_SAID]
    found = run(home, asked)
    spoken, everywhere = found["1"]["search_conversations"], found["1"][COMMAND]
    assert (spoken.session, spoken.answer, spoken.passage, spoken.other) == (1, 1, 1, 0), spoken
    assert everywhere.session and everywhere.other and everywhere.characters > 100
    assert all(not found["2"][tool].other for tool in TOOLS)
    assert problems(asked, home, found) == []
    assert len(rows_of(asked, found)) == len(asked) * len(DOORS)
    lines = table(asked, found)
    assert (
        lines[0].startswith(TOOLS[0]) and any(line.startswith(BOTH) for line in lines) and lines[-1].split()[2] == "1"
    )


def test_a_fact_is_told_from_every_prompt_and_from_the_other_facts(tmp_path: Path) -> None:
    """A prompt that holds its own needles would make every answer that repeats it a success."""
    if not TASKS.is_file():
        pytest.skip("the tasks are not beside the project: ../shared/corpus/benchmarks/remem")
    tasks = json.loads(TASKS.read_text(encoding="utf-8"))["tasks"]
    assert facts().keys() == {task["id"] for task in tasks} and len(prompts_about_nothing()) == 24
    talks = {task["id"]: read_conversation("x", session_of(task, tmp_path)) for task in tasks}
    for name, needles in facts().items():
        told = {one for one, talk in talks.items() if has_fact("\n".join(turn.text for turn in talk.turns), needles)}
        assert told == {name}, f"the fact of {name} is in the sessions of {told}"
        assert not [task["id"] for task in tasks if has_fact(task["prompt"], needles)]
    assert {talk.folder for talk in talks.values()} == {str(tmp_path)}
