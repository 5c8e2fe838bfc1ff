"""One record of how things served: told by an agent or the user, read in a transcript, kept through edits, and gone for
good when the user wants that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.base.checks import passed
from core.base.result import KnowledgeError
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call, OtherCall
from core.conversations.read import read_conversation
from core.experience import record
from core.experience.heard import told_in, uses_in
from core.experience.record import Use, served
from core.experience.verdict import verdict
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


def test_a_memory_is_named_as_find_prints_it_and_its_use_counts_once(home: Path) -> None:
    """Its key was taken for a place in a conversation, and of several lines each use counted twice."""
    assert call("--home", str(home), "save", "How we deploy:\nby the zebra pipeline, never by hand")[0] == 0
    line = call("--home", str(home), "find", "zebra pipeline")[1].splitlines()[0]
    assert line.endswith("→ memory:global:1")
    run(home, "worked", "memory:global:1", "--outcome", "win")
    assert "→ memory:global:1 (helped 1×)" in call("--home", str(home), "find", "zebra pipeline")[1]


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


def test_what_misled_at_a_task_keeps_its_place_where_no_task_is_told_and_names_it(home: Path) -> None:
    """It was told as misleading for `other` tasks, and stood last for every question whose kind nothing tells."""
    call("--home", str(home), "add", "facts", "The staging database of the shop is restored on Mondays")
    for _ in range(record.DECISIVE):
        run(home, "worked", LINE, "--outcome", "misleading", "--why", "it was moved", "--task", "debugging")
    first = call("--home", str(home), "find", "staging database port")[1].splitlines()[0]
    assert first.startswith("1. [misled 3× for debugging: it was moved; fact") and LINE in first
    for _ in range(record.DECISIVE):
        run(home, "worked", LINE, "--outcome", "misleading")
    last = call("--home", str(home), "find", "staging database port")[1].splitlines()[1]
    assert last.startswith("2. [misled 3× for debugging and 3× for tasks of no known kind") and LINE in last


def test_of_two_lines_that_fit_as_well_the_one_that_helped_comes_first(home: Path) -> None:
    few, many = (f"The importer deadlocks when max_workers is {end}" for end in ("below 4", "above 12"))
    for line in (few, many):
        call("--home", str(home), "add", "facts", line)
    question = "why does the importer deadlock?"
    first, second = [row["text"] for row in run(home, "find", question)["hits"]][:2]
    for _ in range(4):
        run(home, "worked", second, "--outcome", "win", "--task", "debugging")
    assert [row["text"] for row in run(home, "find", question)["hits"]][:2] == [second, first]
    assert run(home, "find", "port of the staging database")["hits"][0]["text"] == LINE, "near ties alone"


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
        ("Great, ma sul mio computer non parte", "misleading"),
        ("Perfect, aber der Fehler bleibt leider", "misleading"),
        ("What is the port of the other database?", "partial"),
        ("can you revert that and keep the old address?", "misleading"),
        ("make sure that it works with the new driver", "partial"),
        ("I want a page for errors, the old one does not load", "partial"),
        ("No, that's fine", "partial"),
        ("No, thanks. Next the readme", "partial"),
        ("no. that is all", "partial"),
        ("You didn't break anything, go on", "partial"),
        ("I don't see any problem, go on", "partial"),
        ("I'm not working tomorrow", "partial"),
        ("There is no change needed in docs", "partial"),
        ("add a message for when the server does not respond", "partial"),
        ("If this is wrong, raise ValueError", "partial"),
        ("If I run it, nothing happens", "misleading"),
        ("did not work until I restarted, now all works", "partial"),
        ("now it works for me to review this tomorrow", "partial"),
        ("Now it is right after the header", "partial"),
        ("Please make it work", "partial"),
        ("It worked before your change", "partial"),
        ("It works as before, thank you", "win"),
        ("all fixed assets move to /static", "partial"),
        ("I hope it works", "partial"),
        ("Thanks to the new parser we need a test", "partial"),
        ("Nice to have: dark mode", "partial"),
        ("Perfect time to refactor the parser", "partial"),
        ("Great. Now the login is broken", "partial"),
        ("nice, now it crashes", "partial"),
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
    assert verdict(LINE, [Turn("assistant", "Will you publish it every month?"), reply]) is None
    assert verdict(LINE, [Turn("assistant", "I publish it every month."), reply]) is not None


def test_nothing_is_said_by_who_says_nothing() -> None:
    assert verdict(LINE, [Turn("assistant", "Done."), Turn("user", "Next: the readme")]) is None
    assert verdict(LINE, [Turn("assistant", "Done."), Turn("user", "that is wrong", agent="reviewer")]) is None


# --- read in a transcript that is harvested ---------------------------------------------------------------------------


def called(number: int, name: str, given: dict[str, str], output: str, *, failed: bool = False) -> list[dict[str, Any]]:
    use = {"type": "tool_use", "id": f"call{number}", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": f"call{number}", "content": output, "is_error": failed}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}] if role == "assistant" else text}


FOUND = called(0, "mcp__knowledge__find", {"query": "staging refused"}, ANSWER)
USED = said("assistant", "The staging database listens on port 6543, so I change the address.")
EDITED = called(
    1, "Edit", {"file_path": "a.py", "old_string": "5432", "new_string": "staging_database(port=6543)"}, "ok"
)
GREEN = called(2, "Bash", {"command": "pytest -q 2>&1 | tail -3"}, "12 passed in 0.41s")
RED = called(3, "Bash", {"command": "pytest -q"}, "1 failed, 11 passed in 0.41s", failed=True)


def served_after(home: Path, *after: dict[str, Any], before: tuple[dict[str, Any], ...] = ()) -> dict[str, int]:
    """How the line served that `find` told in a session, once the session was harvested."""
    return harvested(home, [*before, said("user", "My connection to staging is refused, why?"), *FOUND, *after], LINE)


def transcript(rows: list[dict[str, Any]]) -> str:
    """A session of Claude Code."""
    told = [
        {
            "type": row["role"], "uuid": f"u{at}", "parentUuid": f"u{at - 1}" if at else None, "sessionId": "s9",
            "cwd": "/home/me/shop", "timestamp": f"2026-11-24T12:{at // 60:02}:{at % 60:02}.000Z", "version": "2.0.0",
            "message": row,
        }
        for at, row in enumerate(rows)
    ]  # fmt: skip
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in told) + "\n"


def harvested(home: Path, rows: list[dict[str, Any]], line: str) -> dict[str, int]:
    file = home.parent / "s9.jsonl"
    file.write_text(transcript(rows), encoding="utf-8")
    code, _, err = call(
        "--home", str(home), "harvest", "--source", str(file), "--apply", "--now", "--provider", "offline"
    )
    assert code == 0, err
    return next(iter(run(home, "worked", line)["served"].values()), {})


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("super, jetzt geht es wieder", "win"),
        ("geht leider immer noch nicht", "misleading"),
        ("merci, ça marche maintenant", "win"),
        ("ça ne marche toujours pas", "misleading"),
        ("perfecto, ya funciona", "win"),
        ("no funciona, sigue igual", "misleading"),
        ("ottimo! adesso funziona", "win"),
        ("niente, non risolve", "misleading"),
        ("valeu, agora funcionou", "win"),
        ("não funcionou, mesmo erro", "misleading"),
        ("спасибо, теперь всё работает", "win"),
        ("не помогло, ошибка осталась", "misleading"),
        ("太好了，可以了", "win"),
        ("还是不行", "misleading"),
        ("ありがとう、動きました", "win"),
        ("まだ同じエラーです", "misleading"),
        ("감사합니다, 이제 됩니다", "win"),
        ("여전히 안 됩니다", "misleading"),
        ("come funziona la cache?", "partial"),
        ("prima vorrei sapere un'altra cosa", "partial"),
        ("kannst du auch die Doku ergänzen?", "partial"),
    ],
)
def test_a_reply_in_another_language_tells_how_a_line_served(home: Path, reply: str, outcome: str) -> None:
    assert served_after(home, USED, said("user", reply)) == {outcome: 1}


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("psql: error: connection to server at staging, port 6543 failed: Connection refused", "misleading"),
        ("ModuleNotFoundError: No module named 'tomlkit'", "partial"),
        ('def warn():\n    show_error("port 6543")\n', "partial"),
        ("i can't see any staging database there, same error", "misleading"),
        ("well it listens on the IPv6 address, not on port 6543", "misleading"),
        ("sorry, but port 6543 belongs to the staging database of the shop", "misleading"),
        ("sì grazie", "partial"),
    ],
)
def test_an_error_or_a_correction_counts_where_it_names_what_the_line_names(
    home: Path, reply: str, outcome: str
) -> None:
    asks = said("assistant", "The staging database listens on port 6543. Shall I change the address?")
    assert served_after(home, asks, said("user", reply)) == {outcome: 1}


def test_an_error_that_comes_again_after_the_line_was_followed_says_that_it_did_not_help(home: Path) -> None:
    error = "ModuleNotFoundError: No module named 'tomlkit'"
    told = (said("user", error), said("assistant", "I look."))
    assert served_after(home, USED, said("user", error), before=told) == {"misleading": 1}


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        (RED, (USED, *EDITED, *GREEN), "win"),
        ((), (USED, *EDITED, *GREEN), "win"),
        (GREEN, (USED, *EDITED, *GREEN), "partial"),
        ((), (USED, *GREEN), "partial"),
        ((), (USED, *EDITED, *RED), "partial"),
        ((), (USED, *EDITED, *GREEN, said("user", "that is wrong, revert it")), "misleading"),
        ((), (USED, *EDITED, *GREEN, said("user", "commit this")), "win"),
    ],
)
def test_checks_that_turn_green_after_the_line_was_written_in_are_a_win(
    home: Path, before: Any, after: Any, outcome: str
) -> None:
    assert served_after(home, *after, before=tuple(before)) == {outcome: 1}


@pytest.mark.parametrize(
    ("before", "output", "failed", "outcome"),
    [
        ("", "12 passed in 3.1s", False, {"win": 1}),
        ("", "mise ERROR no task test:db found: No such file or directory", True, {"misleading": 1}),
        ("", "1 failed, 11 passed in 3.1s", True, {"partial": 1}),
        ("12 passed in 3.1s", "12 passed in 3.1s", False, {"partial": 1}),
    ],
)
def test_the_command_that_a_line_names_tells_how_it_served(
    tmp_path: Path, before: str, output: str, failed: bool, outcome: dict[str, int]
) -> None:
    line = "Tests of the staging database run with `mise run test:db` alone"
    assert call("--home", str(tmp_path / "home"), "add", "facts", line)[0] == 0
    told = called(0, "mcp__knowledge__find", {"query": "db"}, f"1. [fact, 2026-05-01, shop] {line} → facts.1a2b3c\n")
    earlier = called(1, "Bash", {"command": "mise run test:db"}, before) if before else []
    ran = called(2, "Bash", {"command": "mise run test:db"}, output, failed=failed)
    uses = said("assistant", "Tests of the staging database run with mise run test:db, so I run that.")
    rows = [*earlier, said("user", "does it still fail?"), *told, uses, *ran]
    assert harvested(tmp_path / "home", rows, line) == outcome


def test_of_two_lines_that_begin_alike_the_one_that_was_told_was_used(home: Path) -> None:
    """Five words in a row that both have were a win of the other, which says the contrary."""
    few, many = (f"The importer deadlocks when max_workers is {end}" for end in ("below 4", "above 12"))
    rows = [f"{at}. [fact, 2026-05-01, shop] {line} → facts.{at}a2b3c" for at, line in enumerate((many, few), start=1)]
    for line in (few, many):
        call("--home", str(home), "add", "facts", line)
    told = called(0, "mcp__knowledge__find", {"query": "deadlock"}, "\n".join(rows) + "\n")
    uses = said("assistant", f"{few}, so I raise it to 8.")
    talked = [said("user", "it hangs, why?"), *told, uses, said("user", "Thanks, that fixed it")]
    assert harvested(home, talked, few) == {"win": 1}
    assert run(home, "worked", many)["served"] == {"debugging": {"miss": 1}}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("You're right. Let me revert the change to the port of the staging database.", "misleading"),
        ("Let me revert the colour of the button.", "partial"),
    ],
)
def test_what_the_assistant_takes_back_has_misled(home: Path, answer: str, outcome: str) -> None:
    asks = said("user", "why would that be needed when the pool knows the address already?")
    assert served_after(home, USED, *EDITED, asks, said("assistant", answer)) == {outcome: 1}


def test_what_came_of_a_line_does_not_read_all_outputs_before_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long session in which an agent asked a hundred times held a harvest up for minutes."""
    read = []

    def counted(command: str, output: str, failed: bool | None) -> bool | None:
        read.append(command)
        return passed(command, output, failed)

    monkeypatch.setattr("core.experience.verdict.passed", counted)
    counts = []
    for times in (10, 100):
        rows = [said("user", "go on"), *(row for at in range(times) for row in RED)]
        rows += [said("user", "My connection to staging is refused, why?"), *FOUND, USED, *EDITED, *GREEN]
        read.clear()
        assert [
            use.outcome for use in uses_in(read_conversation("s9.jsonl", transcript(rows).encode())) if use.of == LINE
        ] == ["win"]
        counts.append(len(read))
    assert counts[0] == counts[1]


def test_find_through_a_tool_that_calls_any_server_is_an_answer_of_ours() -> None:
    given = '{"server_name": "knowledge", "tool_name": "find"}'
    rows = talk("That fixed it").turns
    through = Turn("tool", "", events=(OtherCall(tool="use_mcp_tool", words=given, output=ANSWER),), time=AT)
    uses = uses_in(Conversation("s9", "cline", (rows[0], through, *rows[2:])))
    assert {use.of: use.outcome for use in uses}[LINE] == "win"


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
    assert last.splitlines()[1].strip().startswith("Warning: misled 11× for factual lookup. it was raised")
    assert shelf.names(shelf.ask("pool size of the worker", task_type="debugging"))[0] == "old"
    unknown = shelf.ask("pool size of the worker")
    assert (unknown.task_type, shelf.names(unknown)[0]) == ("other", "old"), "nobody says that it is about facts"
    assert "Warning: misled 11× for factual lookup." in as_text(unknown.dossiers[0])
    for at in range(5):
        shelf.document(f"more {at}", {f"more {at}": f"Kettle number {at} has the size of a worker, more or less."})
    short = shelf.ask("what is the pool size of the worker?", task_type="factual_lookup", limit=3)
    assert shelf.names(short)[-1] == "old", "it may be the only one that answers"
