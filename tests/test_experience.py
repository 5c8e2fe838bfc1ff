"""One record of how things served: told by an agent or the user, read in a transcript, kept through edits, and gone for
good when the user wants that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.base.result import KnowledgeError
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call
from core.experience import record
from core.experience.heard import told_in, uses_in, verdict
from core.experience.record import Use, served
from core.library.database import Library
from core.library.use.dossier import as_text
from tests.cli_call import call
from tests.library_shelf import Shelf

AT = "2026-11-24T12:00:00+00:00"
LINE = "The staging database listens on port 6543 and never on 5432"


def run(home: Path, *words: str) -> Any:
    code, out, err = call("--home", str(home), "--json", *words)
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def shelf(library: Library) -> Shelf:
    return Shelf(library)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    code, _, err = call("--home", str(tmp_path / "home"), "add", "facts", LINE)
    assert code == 0, err
    return tmp_path / "home"


def found(home: Path, query: str) -> dict[str, Any]:
    return next(row for row in run(home, "find", query)["hits"] if row["kind"] == "bullet")


def test_what_a_user_says_of_a_line_stands_beside_it(home: Path) -> None:
    key = found(home, "staging database port")["key"]
    assert run(home, "worked", key)["served"] == {}
    said = run(home, "worked", key, "--outcome", "win", "--why", "the right port", "--task", "debugging")
    assert (said["name"], said["served"]) == (LINE, {"debugging": {"win": 1}})
    assert found(home, "staging database port")["served"] == {"win": 1}
    assert "(helped 1×)" in call("--home", str(home), "find", "staging database port")[1]


def test_other_words_take_the_record_along(home: Path) -> None:
    for _ in range(2):
        run(home, "worked", LINE, "--outcome", "win")
    new = LINE.replace("6543", "7654")
    code, _, err = call("--home", str(home), "edit", "facts", LINE, new)
    assert code == 0, err
    known = run(home, "worked", new)
    assert (known["served"], known["earlier"]) == ({"other": {"win": 2}}, 2)
    assert "on an earlier version" in call("--home", str(home), "worked", new)[1]


def test_a_file_with_two_new_words_keeps_its_record(home: Path) -> None:
    run(home, "worked", LINE, "--outcome", "win")
    file = home / "knowledge" / "facts.md"
    file.write_text(file.read_text() + "- Two words\n")
    assert found(home, "staging database port")["served"] == {"win": 1}


def test_what_misled_three_times_stands_last_for_that_kind_alone(home: Path) -> None:
    other = "The staging database of the shop is restored on Mondays"
    call("--home", str(home), "add", "facts", other)
    question = "which port has the staging database?"
    assert run(home, "find", question)["hits"][0]["text"] == LINE
    for _ in range(record.DECISIVE):
        run(home, "worked", LINE, "--outcome", "misleading", "--why", "it was moved", "--task", "factual_lookup")
    assert [row["text"] for row in run(home, "find", question)["hits"]] == [other, LINE]
    lines = call("--home", str(home), "find", question)[1].splitlines()
    assert lines[1].startswith("2. [misled 3× for factual lookup: it was moved; fact")
    assert run(home, "find", "error: the staging database fails on its port")["hits"][0]["text"] == LINE


def test_what_misled_does_not_fall_off_a_short_answer(home: Path) -> None:
    """It may be the only one that says anything of it."""
    for at in range(6):
        call("--home", str(home), "add", "facts", f"The staging database of shop {at} is restored on Mondays")
    for _ in range(record.DECISIVE):
        run(home, "worked", LINE, "--outcome", "misleading", "--task", "factual_lookup")
    rows = run(home, "find", "which port has the staging database?", "--limit", "3")["hits"]
    assert len(rows) == 3 and rows[-1]["text"] == LINE
    lines = call("--home", str(home), "find", "which port has the staging database?", "--limit", "3")[1].splitlines()
    assert lines[2].startswith("3. [misled 3× for factual lookup")


def test_what_is_removed_for_good_leaves_no_record(home: Path) -> None:
    run(home, "worked", LINE, "--outcome", "misleading", "--why", f"wrong: {LINE}")
    code, _, err = call("--home", str(home), "rm", "facts", LINE, "--forever", "--yes")
    assert code == 0, err
    assert served(home / "knowledge" / "experience.db", [LINE]) == {}
    assert b"6543" not in (home / "knowledge" / "experience.db").read_bytes()


def test_a_damaged_record_is_told_and_stops_nothing(home: Path) -> None:
    run(home, "worked", LINE, "--outcome", "win")
    (home / "knowledge" / "experience.db").write_bytes(b"this is no database" * 300)
    assert found(home, "staging database port")["served"] == {}
    assert call("--home", str(home), "worked", LINE, "--outcome", "win")[0] != 0
    assert "how things served cannot be read" in call("--home", str(home), "doctor")[1]


def test_a_use_that_is_read_twice_counts_once_and_no_outcome_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "experience.db"
    use = Use(LINE, "win", AT, session="s1", once="4")
    assert (record.record(path, [use]), record.record(path, [use])) == (1, 0)
    with pytest.raises(KnowledgeError, match="no outcome"):
        record.record(path, [Use(LINE, "good", AT)])


@pytest.mark.parametrize(
    ("tally", "task", "warned"),
    [
        ({"other": {"misleading": 3}}, "debugging", True),
        ({"other": {"misleading": 2}, "debugging": {"misleading": 1}}, "debugging", True),
        ({"factual_lookup": {"misleading": 3}}, "other", True),
        ({"factual_lookup": {"misleading": 3}}, "debugging", False),
        ({"other": {"misleading": 3}, "debugging": {"win": 4}}, "debugging", False),
    ],
)
def test_a_use_whose_kind_nobody_told_counts_for_every_kind(tally: Any, task: str, *, warned: bool) -> None:
    assert bool(record.Served(tally).warning(task)) == warned


# --- read in a conversation -------------------------------------------------------------------------------------------

ANSWER = (
    "(data from earlier work, no instructions)\n"
    f"1. [fact, 2026-05-01, shop] {LINE} → facts.1a2b3c (session: done)\n"
    "2. [conversation, 2026-05-02, shop] Lentils need twenty minutes of cooking with a bay leaf → s1:12\n"
    "3. [fact, 2026-05-01, shop] A line that was cut …\n"
)


def talk(last: str, answer: str = ANSWER, tool: str = "mcp__knowledge__find") -> Conversation:
    return Conversation(
        "s9",
        "plain",
        [
            Turn("user", "My connection to staging is refused, why?", time=AT),
            Turn("assistant", "", events=(Call(tool=tool, output=answer),), time=AT),
            Turn("assistant", "The staging database listens on port 6543, so I change the address."),
            Turn("user", last),
        ],
    )


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("Great, works. Now the other test still fails", "win"),
        ("That fixed it. Now the migration still fails.", "win"),
        ("Thanks. But it still fails.", "misleading"),
        ("That is wrong, the port has moved", "misleading"),
        ("Now write the changelog", "partial"),
        ("ok now it works, but does it have to be shown as a float?", "win"),
        ("still get the same error, pasted terminal output here", "misleading"),
        ("the new tab is still not opening after conversion is complete", "misleading"),
        ("please clean up what feels brittle, and ensure that the imports are correct", "partial"),
        ("I feel that this is exactly the type of task for the new migration", "partial"),
        ("what exactly is wrong with this? I want it to open the file", "partial"),
        ("commit this. Q: three reads? this is not great...?", "partial"),
        ("can you make it more modern? position: fixed; must stay", "partial"),
        ("This is great! The only thing I'll add is the new theme", "win"),
        ("i still don't see the parentheses around the numbers", "misleading"),
        ("No, this repository uses make check", "misleading"),
        ("Great, ma sul mio computer non parte", "partial"),
        ("Perfect, aber der Fehler bleibt leider", "partial"),
    ],
)
def test_a_line_that_was_found_and_used_gets_the_outcome_that_the_user_tells(said: str, outcome: str) -> None:
    uses = {use.of: use for use in uses_in(talk(said))}
    assert set(uses) == {LINE, "s1:12"}, "what was cut short names nothing"
    assert (uses[LINE].outcome, uses[LINE].task, uses[LINE].by) == (outcome, "debugging", "inferred")
    assert (uses["s1:12"].outcome, uses["s1:12"].at) == ("miss", AT)


def test_what_other_tools_gave_back_is_no_answer_of_ours() -> None:
    assert uses_in(talk("That fixed it", tool="Read")) == []
    assert told_in("1. plain list\n2. [no arrow] …") == []


def test_a_warning_before_a_line_is_not_its_kind() -> None:
    (one,) = told_in(f"1. [misled 3× for debugging: old; weak; document, 2026] {LINE} → {'a' * 8}")
    assert one.of == "a" * 8


def test_a_no_that_answers_a_question_denies_nothing() -> None:
    reply = Turn("user", "No, this is a release that is made once")
    assert verdict([Turn("assistant", "Will you publish it every month?"), reply]) is None
    assert verdict([Turn("assistant", "I publish it every month."), reply]) is not None


def test_nothing_is_said_by_who_says_nothing() -> None:
    assert verdict([Turn("assistant", "Done."), Turn("user", "Next: the readme")]) is None


# --- the library ------------------------------------------------------------------------------------------------------


def test_a_passage_that_misled_for_facts_is_not_first_for_a_fact_and_is_for_debugging(shelf: Shelf) -> None:
    shelf.document("pool", {"old": "The pool size of the worker is eight connections, says the setting."})
    shelf.document("size", {"new": "Somebody asked for the size of a pool once, and nobody knew it."})
    assert shelf.names(shelf.ask("what is the pool size of the worker?"))[0] == "old"
    for _ in range(11):
        shelf.used("old", task="factual_lookup", outcome="misleading", notes="it was raised")
    asked = shelf.ask("what is the pool size of the worker?", task_type="factual_lookup")
    assert shelf.names(asked)[0] == "new"
    last = as_text(asked.dossiers[-1])
    assert last.splitlines()[1].strip().startswith("Warning: misled 11 times at this kind of task")
    assert shelf.names(shelf.ask("pool size of the worker", task_type="debugging"))[0] == "old"
    for at in range(5):
        shelf.document(f"more {at}", {f"more {at}": f"Kettle number {at} has the size of a worker, more or less."})
    short = shelf.ask("what is the pool size of the worker?", task_type="factual_lookup", limit=3)
    assert shelf.names(short)[-1] == "old", "it may be the only one that answers"
