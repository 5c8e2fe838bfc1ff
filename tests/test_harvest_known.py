"""What a run knows already, of which day and of whose it is: without it the same fact stands in three wordings, and
nothing is ever confirmed."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from core.base.markdown import parse_bullets
from core.base.result import Ok, attempt
from core.commands.context import context
from core.commands.review.decide import YES, decide
from core.commands.review.waiting import proposals, waiting
from core.harvest.known import KnownStore, Shown
from core.knowledge.categories import read_category
from core.knowledge.digest import render_digest
from core.knowledge.projects import Projects, is_persons
from core.knowledge.same import statements
from core.llm.generate import connect
from core.llm.wire import ModelSettings
from core.sources.tools import FILES, Place
from tests.harvest_world import FakeModel, World, known_id, says, session, workspace_of
from tests.waiting import wait_until


def test_a_fact_of_three_sessions_stands_once_with_three_confirmations(world: World) -> None:
    """ "36 new, 36 in all": each session had found it again, in words of its own."""
    wordings = (
        "The queue worker listens on port 7700",
        "Port 7700 is where the worker of the queue listens",
        "7700: worker",
    )

    def answering(number: int, prompt: str) -> dict[str, Any]:
        same = known_id(prompt, "worker listens on port 7700")
        row = {"statement": wordings[number - 1], "quote": "it listens on port 7700"}
        return {"facts": [row | ({"confirms": same} if same else {})]}

    model = FakeModel(answering)
    for number in range(3):
        world.converse(session(world.folder / "app", number, "which port?", f"Look {number}: it listens on port 7700."))
        world.run(model)
    [statement] = statements(read_category(world.paths, "facts"))
    assert statement.bullet.text == wordings[0] and statement.conversations == 3


@pytest.mark.parametrize("began", ["2026-06-0{}T10", "2026-06-01T1{}"])
def test_conversations_of_one_run_know_what_those_before_them_taught(world: World, began: str) -> None:
    """Four sessions of a project that were read at once said one thing in four wordings."""
    seen = list[str]()

    def answering(number: int, prompt: str) -> dict[str, Any]:
        look = re.search(r"Look (\d)", prompt)
        assert look is not None
        same = known_id(prompt, "worker listens on port 7700")
        seen.append(f"{look[1]}{'again' if same else ''}")
        row = {
            "statement": f"In wording {look[1]}: the worker listens on port 7700",
            "quote": "it listens on port 7700",
        }
        return {"facts": [row | ({"statement": "", "confirms": same} if same else {})]}

    for number in (3, 1, 0, 2):
        text = session(world.folder / "app", number, "which port?", f"Look {number}: it listens on port 7700.")
        long = '{"type": "progress", "data": {"type": "hook_progress"}}\n' * 20_000 if number == 1 else ""
        path = world.converse(text.replace("2026-06-01T10", began.format(number + 1)) + long)  # slow to read
        os.utime(path, (1_700_000_000 + number * 90_000,) * 2)
    world.run(FakeModel(answering), jobs=4)
    assert seen == ["0", "1again", "2again", "3again"], "the oldest first, one after the other"
    [statement] = statements(read_category(world.paths, "facts"))
    assert statement.bullet.text.startswith("In wording 0") and statement.conversations == 4


def test_a_run_that_is_cancelled_waits_for_nobody_who_was_not_begun(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread took up the next session while those before it were given up, and waited for them for ever."""
    submitted, begun, given_up = list[str](), Event(), Event()
    expect, cancel = KnownStore.expect, Future.cancel

    def expecting(store: KnownStore, name: str) -> None:
        expect(store, name)
        submitted.append(name)

    def cancelling(future: Future[Any]) -> bool:
        done = cancel(future)
        if done and not given_up.is_set():
            given_up.set()
            time.sleep(0.3)  # the thread that is free now looks for what comes next
        return done

    def answering(number: int, prompt: str) -> dict[str, Any]:
        begun.set()
        given_up.wait(5)
        return {"facts": []}

    monkeypatch.setattr(KnownStore, "expect", expecting)
    monkeypatch.setattr(Future, "cancel", cancelling)
    for number in range(4):
        text = session(world.folder / "app", number, "which port?", f"Look {number}: it listens on port 7700.")
        path = world.converse(text)
        os.utime(path, (1_700_000_000 + number * 90_000,) * 2)
    ends = Thread(
        target=lambda: world.run(FakeModel(answering), jobs=2, cancelled=lambda: len(submitted) == 4 and begun.wait(5)),
        daemon=True,
    )
    ends.start()
    ends.join(20)
    assert given_up.is_set() and not ends.is_alive()


def test_what_the_rules_cured_stands_beside_what_a_model_found_and_once(world: World) -> None:
    """The rules' pairs of what failed and what works were better than the model's, everything else the other way."""
    calls = [("pytest -q", "Exit code 127\npytest: command not found", True), ("uv run pytest -q", "41 passed", False)]
    rows: list[dict[str, Any]] = [{"role": "user", "content": "Run the tests of the queue."}]
    for at, (words, text, failed) in enumerate(calls):
        use = {"type": "tool_use", "id": f"c{at}", "name": "Bash", "input": {"command": words}}
        gave = {"type": "tool_result", "tool_use_id": f"c{at}", "content": text, "is_error": failed}
        rows += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [gave]}]
    rows.append({"role": "assistant", "content": [{"type": "text", "text": "All 41 pass. The queue drops old rows."}]})
    about = {"sessionId": "s", "cwd": str(world.folder), "timestamp": "2026-06-01T10:00:00.000Z"}
    records = [
        {"type": row["role"], "uuid": f"{at}", "parentUuid": "", **about, "message": row} for at, row in enumerate(rows)
    ]
    world.converse("".join(json.dumps(record) + "\n" for record in records))
    told = "`pytest -q` fails here because the command is not found, and `uv run pytest -q` works"
    model = FakeModel(lambda number, prompt: {"facts": [told, "The queue drops old rows"]})
    world.run(model)
    facts = world.text("facts.md")
    assert facts.count("uv run pytest -q") == 1 and "The queue drops old rows" in facts
    assert "`pytest -q` fails" in model.prompts[0].partition("<known>")[2]


def test_what_waits_is_not_proposed_again(world: World) -> None:
    """It came back from every session until the user had answered, each time in other words."""
    waits = "- [no-quote] facts: The worker listens on port 7700 [from: x, 2026-01-01]\n"
    world.knowledge("quarantine.md", f"# Quarantine\n\n{waits}")
    text = session(world.folder / "app", 1, "which port?", "The worker listens on port 7700.")

    def answering(number: int, prompt: str) -> dict[str, Any]:
        same = known_id(prompt, "port 7700")
        return {"facts": [{"statement": "The port is 7700", "quote": "listens on port 7700", "confirms": same}]}

    world.converse(text)
    world.run(FakeModel(answering))
    assert not (world.paths.knowledge / "facts.md").exists()
    assert world.text("quarantine.md").count("7700") == 1


def test_a_line_that_is_not_like_the_conversation_is_not_shown(world: World) -> None:
    world.knowledge(
        "facts.md", "# Facts\n\n- The chimney sweep visits on the first Monday of May [from: x, 2026-01-01]\n"
    )
    model = FakeModel(lambda number, prompt: {})
    world.converse(session(world.folder / "app", 1, "which port on Monday?", "The worker listens on port 7700."))
    world.run(model)
    assert "chimney" not in model.prompts[0]


def test_a_line_of_the_project_is_shown_where_its_rarer_words_are_missing(world: World) -> None:
    """Two sessions told one quirk of an editor in other words, and the second was not shown the first."""
    line = "After edits the language server indexes asynchronously, so its diagnostics are stale for a moment"
    world.converse(session(world.folder / "app", 1, "why red?", "So it is."))
    world.run(FakeModel(lambda number, prompt: {"facts": [line]}))
    model = FakeModel(lambda number, prompt: {})
    world.converse(session(world.folder / "app", 2, "still red", "The diagnostics are stale after it."))
    world.converse(session(world.folder / "other", 3, "still red", "The diagnostics are stale after it."))
    world.run(model)
    assert [bool(known_id(prompt, "diagnostics are stale")) for prompt in model.prompts] == [True, False]


def test_what_a_row_adds_is_not_lost_to_a_wrong_id(world: World) -> None:
    """A model that confirms the wrong line would make its own finding vanish."""
    world.knowledge("facts.md", "# Facts\n\n- The worker listens on port 7700 [from: x, 2026-01-01]\n")
    world.converse(
        session(world.folder / "app", 1, "which port?", "The worker now listens on port 8800, not elsewhere.")
    )

    def answering(number: int, prompt: str) -> dict[str, Any]:
        same = known_id(prompt, "port 7700")
        return {"facts": [{"statement": "The worker listens on port 8800", "quote": "", "confirms": same}]}

    world.run(FakeModel(answering))
    assert "- The worker listens on port 8800 [from: " in world.text("facts.md")


def test_another_projects_lines_are_not_shown_to_the_model(world: World) -> None:
    """One client's knowledge would leave the house in a prompt about the other."""
    for name in ("one", "two"):
        world.converse(session(world.folder / name, len(name), "hello", f"The cellar of {name} holds the pumps."))
    world.run(
        FakeModel(lambda number, prompt: {"facts": [f"The cellar of {'one' if 'of one' in prompt else 'two'} is wet"]})
    )
    model = FakeModel(lambda number, prompt: {})
    world.converse(session(world.folder / "one", 9, "and the cellar?", "The cellar of one is being drained."))
    world.run(model)
    assert known_id(model.prompts[-1], "cellar of one") and not known_id(model.prompts[-1], "cellar of two")


def test_a_secret_that_a_person_wrote_down_is_not_shown(world: World) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    world.knowledge("facts.md", f"# Facts\n\n- The deploy token is {secret} [from: by hand, 2026-01-01]\n")
    model = FakeModel(lambda number, prompt: {})
    world.converse(session(world.folder / "app", 1, "where is the deploy token?", "In the vault."))
    world.run(model)
    assert secret not in model.prompts[0]


def test_what_is_shown_stays_within_its_room() -> None:
    lines = "".join(f"- pump number {at} in the cellar hums [from: c, 2026-01-01]\n" for at in range(900))
    told = Shown(KnownStore([("facts", "", parse_bullets(lines))], Projects()), "", 2000)
    block = told.block("the pump in the cellar hums")
    inside = block.partition("<known>")[2]
    assert 1500 < len(inside.encode()) < 2400
    assert told.block("the pump in the cellar hums") == block, "a line changed its id between two parts"


def test_what_is_taken_back_without_other_words_waits_for_the_users_yes(world: World) -> None:
    world.knowledge("facts.md", "# Facts\n\n- The staging server listens on port 8080 [from: x, 2026-01-01]\n")

    def answering(number: int, prompt: str) -> dict[str, Any]:
        return {"facts": [{"statement": "", "detail": "", "quote": "", "retracts": known_id(prompt, "port 8080")}]}

    text = session(world.folder / "app", 1, "Forget what I said about the staging server and its port.", "Done.")
    world.converse(text)
    world.run(FakeModel(answering))
    assert "- The staging server listens on port 8080 [from: x" in world.text("facts.md")
    assert [row["kind"] for row in world.entry(text)["offers"]] == ["retracts"]
    workspace = workspace_of(world)
    [offer] = waiting(workspace, ("outdated",))
    decide(workspace, [offer], YES)
    assert "- ~~The staging server listens on port 8080~~ [from: x, 2026-01-01]\n" in world.text("facts.md")
    assert "superseded by" not in world.text("facts.md")
    assert "- The staging server listens on port 8080 [retracted: " in world.text("removed.md")


def test_offers_are_recorded_and_nothing_changes_by_itself(world: World) -> None:
    world.knowledge("facts.md", "# Facts\n\n- Cache entries live for one hour [from: x, 2026-01-01]\n")
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- Measure the cache hit rate [from: x, 2026-01-01]\n\n## Done\n")
    world.knowledge("questions.md", "# Questions\n\n- How long do cache entries live? [from: x, 2026-01-01]\n")
    before = [world.text(name) for name in ("tasks.md", "questions.md")]

    def answering(number: int, prompt: str) -> dict[str, Any]:
        old, task = known_id(prompt, "live for one hour"), known_id(prompt, "Measure the cache")
        asked = known_id(prompt, "How long do")
        row = {"statement": "Cache entries live for one day", "quote": "", "supersedes": old, "answers": asked}
        return {"facts": [row], "finishes": [task]}

    text = session(
        world.folder / "app", 1, "cache?", "Cache entries live for one day; the cache hit rate was measured."
    )
    world.converse(text)
    world.run(FakeModel(answering))
    offers = world.entry(text)["offers"]
    assert sorted(row["kind"] for row in offers) == ["answers", "finishes", "supersedes"]
    assert [world.text(name) for name in ("tasks.md", "questions.md")] == before
    assert "- Cache entries live for one hour [from: x, 2026-01-01]\n" in world.text("facts.md")
    workspace = workspace_of(world)
    decide(workspace, waiting(workspace, ("outdated", "finished")), YES)
    assert "- ~~Cache entries live for one hour~~" in world.text("facts.md")
    assert world.text("tasks.md").partition("## Done")[2].strip().startswith("- Measure the cache hit rate [from: x")
    assert "~~How long do cache entries live?~~" in world.text("questions.md")
    assert proposals(workspace.paths) == []


def test_what_was_finished_elsewhere_is_offered_without_words(world: World) -> None:
    """The log of the repository showed that a task was done: a row of its own for that waited in the quarantine."""
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- Measure the cache hit rate [from: x, 2026-01-01]\n\n## Done\n")

    def answering(number: int, prompt: str) -> dict[str, Any]:
        task = known_id(prompt, "Measure the cache")
        return {"tasks_done": [{"statement": "", "detail": "", "quote": "was measured", "finishes": task}]}

    text = session(world.folder / "app", 1, "cache?", "By the log the cache hit rate was measured.")
    world.converse(text)
    world.run(FakeModel(answering))
    assert [row["kind"] for row in world.entry(text)["offers"]] == ["finishes"]
    assert not world.paths.quarantine.exists()
    workspace = workspace_of(world)
    decide(workspace, waiting(workspace, ("finished",)), YES)
    assert world.text("tasks.md").partition("## Done")[2].strip().startswith("- Measure the cache hit rate [from: x")


@pytest.mark.parametrize("also", [False, True])
def test_a_task_that_another_project_has_too_is_not_offered_as_finished(world: World, also: bool) -> None:
    """Two projects want the same; one has it, and the yes to that ended the other's task as well."""
    task = "Measure the cache hit rate"
    wanted = {"tasks_open": [{"statement": task, "detail": "", "quote": ""}]}
    for at, name in enumerate(("app", "web") if also else ("app",)):
        (world.folder / name / ".git").mkdir(parents=True)
        world.converse(session(world.folder / name, at, "Measure the cache hit rate next.", "Noted."))
        world.run(says(**wanted))

    def answering(number: int, prompt: str) -> dict[str, Any]:
        return {"tasks_done": [{"statement": "", "quote": "was measured", "finishes": known_id(prompt, task)}]}

    world.converse(session(world.folder / "app", 2, "cache?", "The cache hit rate was measured."))
    world.run(FakeModel(answering))
    assert len(waiting(workspace_of(world), ("finished",))) == (0 if also else 1)


@pytest.mark.parametrize("quote, times", [("port 7700 is open", 1), ("hold the cellar door", 0), ("", 0)])
def test_a_known_line_that_is_said_again_is_never_put_before_the_user(world: World, quote: str, times: int) -> None:
    """A confirmation whose quote was wrong, or a tool's, made the line wait that stood in its file already."""
    world.knowledge("decisions.md", "# Decisions\n\n- The worker must use port 7700 [from: x, 2026-01-01]\n")

    def answering(number: int, prompt: str) -> dict[str, Any]:
        same = known_id(prompt, "port 7700")
        return {"decisions": [{"statement": "", "detail": "", "quote": quote, "confirms": same}]}

    text = session(world.folder / "app", 1, "which port must the worker use?", "I look.", "#", "Fine.")
    gave = [{"type": "tool_result", "tool_use_id": "c", "content": "port 7700 is open"}]
    world.converse(text.replace(json.dumps("#"), json.dumps(gave)))
    world.run(FakeModel(answering))
    assert not world.paths.quarantine.exists()
    [statement] = statements(read_category(world.paths, "decisions"))
    assert statement.conversations == 1 + times


# --- days ------------------------------------------------------------------------------------------------------------


def test_two_conversations_months_apart_are_dated_months_apart(world: World) -> None:
    """A note of February stood beside the decision of March that made it false, both "today"."""
    for number, day in enumerate(("2026-03-09", "2026-01-02")):
        world.converse(session(world.folder / "app", number, "now?", f"It is so {number}.", day=day))
    world.run(FakeModel(lambda number, prompt: {"facts": [f"Noted as number {'one' if 'so 1' in prompt else 'nil'}"]}))
    text = world.text("facts.md")
    assert "number nil [from: " in text and ", 2026-03-09]" in text and ", 2026-01-02]" in text
    digest = render_digest({"facts": read_category(world.paths, "facts")}, 4096)
    assert digest is not None and digest.text.index("2026-03-09") < digest.text.index("2026-01-02")


def test_a_conversation_without_times_has_the_day_of_its_file_and_none_lies_ahead(world: World) -> None:
    old, ahead = world.converse("User: a\n\nAssistant: b\n"), world.converse("User: c\n\nAssistant: d\n")
    os.utime(old, (datetime(2024, 5, 6, 7, tzinfo=UTC).timestamp(),) * 2)
    os.utime(ahead, (world.clock.timestamp() + 10**7,) * 2)
    world.run(FakeModel(lambda number, prompt: {"facts": [f"Answer {number} of a few"]}))
    days = sorted(row.provenance.date for row in read_category(world.paths, "facts") if row.provenance)
    assert days == ["2024-05-06", "2026-06-12"]


def test_of_one_day_what_more_conversations_said_stands_first(world: World) -> None:
    rows = [
        "- Said twice [from: a, 2026-02-01]",
        "- Said twice [from: b, 2026-02-03]",
        "- Said once [from: c, 2026-02-03]",
    ]
    world.knowledge("facts.md", "# Facts\n\n" + "\n".join(rows) + "\n")
    digest = render_digest({"facts": read_category(world.paths, "facts")}, 4096)
    assert digest is not None and digest.text.index("Said twice") < digest.text.index("Said once")


# --- whose it is -----------------------------------------------------------------------------------------------------


def test_what_the_person_prefers_goes_along_and_a_projects_lines_do_not(world: World) -> None:
    world.converse(session(world.folder / "one", 1, "hi", "On this machine gh needs its token in the keyring."))
    rows = [
        {"statement": "The ledger of this project is sealed at night", "quote": ""},
        {"statement": "The user wants answers in two sentences", "quote": "", "scope": "person"},
    ]
    world.run(FakeModel(lambda number, prompt: {"facts": rows, "decisions": [f"Release number {number} waits"]}))
    new = world.folder / "new"
    new.mkdir()
    for _ in range(2):  # the second time the projects are remembered beside the ledger
        shown = context(workspace_of(world), str(new))
        assert "two sentences" in shown.prefix.text
        assert "ledger" not in shown.prefix.text and "Release" not in shown.prefix.text


def test_a_named_file_is_cited_by_its_name_not_by_its_last_letters(world: World) -> None:
    """ "[from: les/talk, …]" stood where the file `talk.jsonl` was meant."""
    path = world.converse(
        session(world.folder / "app", 1, "which builder?", "The builds use ninja."), name="talk.jsonl"
    )
    world.run(FakeModel(lambda *_: {"facts": ["The builds use ninja"]}), places=(Place(FILES, str(path)),))
    assert "[from: files/talk.jsonl, " in world.text("facts.md")
    assert "ninja [from: talk, " in context(workspace_of(world), str(world.folder / "app")).prefix.text


def test_rules_tell_a_preference_from_a_projects_bug() -> None:
    theirs = ("Prefers short commits", "The user prefers tabs", "On Windows git rewrites line endings")
    projects = (
        "On Windows src/app.py crashes",
        "The scheduler prefers idle nodes",
        "npm run build fails on Linux in web/",
        "go-git asks no helper of git, neither osxkeychain on macOS nor the manager on Windows",
    )
    assert all(map(is_persons, theirs)) and not any(map(is_persons, projects))


# --- said again ------------------------------------------------------------------------------------------------------


def test_two_snapshots_of_one_session_leave_one_line(world: World) -> None:
    """Identical and nearly identical lines stood twice in the file; only the digest hid it."""
    told = "We agreed that the nightly export goes to the archive bucket from now on."
    first = session(world.folder / "app", 1, "where to?", told)
    fork = session(world.folder / "app", 1, "where to?", told, "thanks", "Anything else?")
    again = session(world.folder / "app", 2, "where to?", "It was said before: the nightly export goes to the archive.")
    answers = iter(
        ["The nightly export goes to the archive bucket", "The nightly export now goes to the archive bucket"] * 2
    )
    quotes = iter(["the nightly export goes to the archive bucket"] * 2 + ["nightly export goes to the archive"])

    def answering(number: int, prompt: str) -> dict[str, Any]:
        return {"facts": [{"statement": next(answers), "quote": next(quotes)}]}

    model = FakeModel(answering)
    for run in ((first, fork), (again,)):
        for text in run:
            world.converse(text)
        world.run(model)
    assert world.text("facts.md").count("\n- ") == 1
    [statement] = statements(read_category(world.paths, "facts"))
    assert statement.conversations == 2, "two snapshots of one session are one conversation"


def test_two_figures_are_never_one_line(world: World) -> None:
    told = "We agreed that the nightly export keeps 7 copies and the weekly one keeps 9 copies."
    for number in range(2):
        world.converse(session(world.folder / "app", 1, "how many?", told, *["more"] * number))
    world.run(
        FakeModel(lambda number, prompt: {"facts": [{"statement": f"It keeps {5 + 2 * number} copies", "quote": told}]})
    )
    assert {"- It keeps 7 copies", "- It keeps 9 copies"} == {line.partition(" [")[0] for line in world.bullets()}


def test_a_relative_path_is_told_from_the_conversations_folder(world: World) -> None:
    """8 of 8 notes became facts about nowhere: a model writes paths as the conversation does."""
    folder = world.folder / "app"
    folder.mkdir()
    (folder / "run.py").write_text("print()\n")
    world.converse(session(folder, 1, "hi", "run.py starts the pumps; lib/gone.py was the old way."))
    rows = [
        {"path": "run.py", "note": "starts the pumps", "quote": ""},
        {"path": "lib/gone.py", "note": "old", "quote": ""},
    ]
    world.run(
        FakeModel(lambda number, prompt: {"files": [*rows, {"path": "run.py", "note": f"seen {number}", "quote": ""}]})
    )
    [note] = world.paths.file_notes.glob("*.md")
    assert note.read_text().startswith(f"# {folder}/run.py\n") and "- starts the pumps [" in note.read_text()
    assert f"- {folder}/lib/gone.py: old [" in world.text("facts.md")


def test_a_note_on_a_file_of_another_machine_is_found_by_its_path(world: World) -> None:
    """What was learned on Windows about a file stood in facts.md, and asking for that file found nothing."""
    from core.commands.bullets import notes

    rows = [
        json.loads(row) | {"cwd": "C:\\src\\pumps"}
        for row in session(world.folder / "app", 1, "hi", "run.cs starts the pumps.").splitlines()
    ]
    world.converse("\n".join(map(json.dumps, rows)) + "\n")
    note = {"path": "lib\\run.cs", "note": "starts the pumps", "quote": ""}
    world.run(FakeModel(lambda number, prompt: {"files": [note], "questions": [f"Why {number}?"]}))
    found = attempt(notes, workspace_of(world), "C:\\src\\pumps\\lib\\run.cs")
    assert isinstance(found, Ok) and [row.bullet.text for row in found.value.bullets] == [
        "C:\\src\\pumps\\lib\\run.cs: starts the pumps"
    ]


def test_a_large_file_of_which_little_is_sent_is_read(world: World) -> None:
    """Four of 67 ordinary sessions were refused for tool output that no model would have seen."""
    folder = world.folder / "app"
    rows = session(folder, 1, "hi", "The valve of the big tank is shut.").splitlines()
    noise = [json.dumps({"type": "progress", "uuid": str(at), "data": "x" * 4000}) for at in range(400)]
    world.converse("\n".join([rows[0], *noise, rows[1]]) + "\n")
    large = world.converse(session(folder, 2, "hi", "The valve is open. " * 70_000))
    report = world.run(FakeModel(lambda number, prompt: {"facts": [f"Valve {number} was looked at"]}))
    assert (report.harvested, report.too_large) == (1, 1) and large.exists()
    [note] = [note for note in report.notes if "too large" in note]
    assert "max_harvest_source_bytes" in note and "1.3MB" in note


def test_a_reader_can_stand_in_for_the_model(world: World) -> None:
    """A judgement of the program by what a careful reader would answer needs no key and no network."""
    desk = world.folder / "desk"
    command = (sys.executable, str(Path(__file__).with_name("quality") / "by_hand.py"), str(desk), "1")
    model = connect(ModelSettings("command", command=command), credentials=lambda provider, variables: "")
    talk = session(world.folder / "app", 1, "which colour?", "The pipes of the annex are painted green.")
    world.converse(talk)

    def read_and_answer() -> None:
        assert wait_until(lambda: list(desk.glob("*.prompt.md")))
        found = list(desk.glob("*.prompt.md"))
        row = {"statement": "The annex has green pipes", "quote": "The pipes of the annex are painted green"}
        assert row["quote"] in found[0].read_text()
        answer = found[0].with_name(found[0].name.replace(".prompt.md", ".answer.json"))
        answer.write_text(json.dumps({"facts": [row]}))

    reader = Thread(target=read_and_answer, daemon=True)
    reader.start()
    report = world.limits(provider="command").run(model)  # type: ignore[arg-type]
    reader.join()
    assert report.items["facts"] == 1 and "- The annex has green pipes [" in world.text("facts.md")


def test_words_that_join_or_choose_are_not_taken_for_the_same(world: World) -> None:
    """ "A or B" is not "A and B": one of them would have vanished from the file."""
    world.knowledge("facts.md", "# Facts\n\n- The pump needs oil and water [from: x, 2026-01-01]\n")
    world.converse(session(world.folder / "app", 1, "hi", "It needs either."))
    rows = ["The pump needs oil or water", "Pump needs the oil and water"]
    world.run(FakeModel(lambda number, prompt: {"facts": [*rows, f"Seen {number} times"]}))
    lines = [line.partition(" [")[0] for line in world.text("facts.md").split("\n") if line.startswith("- ")]
    assert "- The pump needs oil or water" in lines and lines.count("- The pump needs oil and water") == 1


# --- found by reading what a harvest made of real sessions -----------------------------------------------------------


def test_an_older_conversation_does_not_outdate_what_was_said_later(world: World) -> None:
    """Old conversations are read in any order: the newer statement is offered to supersede the older, never the other
    way round, and a task of June is not finished by a talk of May."""
    world.knowledge("facts.md", "# Facts\n\n- Cache entries live for one hour [from: x, 2026-05-01]\n")
    world.knowledge("tasks.md", "# Tasks\n\n## Open\n\n- Measure the cache hit rate [from: x, 2026-05-01]\n\n## Done\n")
    talk = session(world.folder / "app", 1, "cache?", "Cache entries live for one day; the hit rate was measured.",
                   day="2026-02-01")  # fmt: skip
    world.converse(talk)

    def answering(number: int, prompt: str) -> dict[str, Any]:
        old, task = known_id(prompt, "live for one hour"), known_id(prompt, "Measure the cache")
        assert f"{old} (fact, 2026-05-01): " in prompt, "a model cannot tell which of the two was said later"
        row = {"statement": "Cache entries live for one day", "quote": "", "supersedes": old}
        return {"facts": [row], "finishes": [task]}

    world.run(FakeModel(answering))
    [pair] = proposals(world.paths)
    assert "one day" in pair.old.bullet.text and "one hour" in pair.new.bullet.text


def test_a_long_task_that_a_later_part_finished_is_not_open(world: World) -> None:
    """The next part is shown the beginning of what an earlier one gave; what it says of that is meant for the whole."""
    task = "Fold the printing of sessions into the normal flow of the sync command " + "with an argument for it " * 8
    parts = [f"{'So it goes on. ' * 300} The printing is done twice.", "And now it is folded in. " + "Fine. " * 700]
    world.options = replace(world.options, distil=replace(world.options.distil, context_tokens=3000, answer_tokens=700))
    text = session(world.folder / "app", 1, "print?", parts[0], "do it", parts[1])
    world.converse(text)

    def answering(number: int, prompt: str) -> dict[str, Any]:
        if number == 1:
            return {"tasks_open": [{"statement": task, "quote": ""}]}
        done = known_id(prompt, "Fold the printing")
        return {"tasks_done": [{"statement": f"The printing is folded in ({number})", "quote": "", "finishes": done}]}

    world.run(FakeModel(answering))
    assert world.entry(text)["parts"] > 1
    assert "Fold the printing" not in world.text("tasks.md").partition("## Done")[0]


def test_a_work_tree_is_shown_what_is_known_of_its_repository(world: World) -> None:
    """14 of 20 sessions of one repository were held in work trees: each was a project of its own, that knew nothing."""
    for number, place in enumerate(("cli", "cli/.worktrees/1", "cli.worktrees/fix", "other")):
        (world.folder / place).parent.mkdir(exist_ok=True)
        world.converse(session(world.folder / place, number, "race?", f"os.Chdir races with the tests, seen {number}."))
        model = FakeModel(lambda number, prompt: {"facts": ["Tests that change the folder race"]} if not known_id(
            prompt, "change the folder race") else {})  # fmt: skip
        world.run(model)
        assert bool(known_id(model.prompts[0], "change the folder race")) == (number in (1, 2)), place


def test_what_a_session_without_a_folder_changed_is_no_other_projects(world: World) -> None:
    """A trajectory of somebody's fix, which names no folder, stood in the context of every project."""
    rows = [
        {"role": "system", "content": "You are an agent.", "agent": "main"},
        {"role": "user", "content": "ISSUE:\nrounding is off\nINSTRUCTIONS:\nfix it", "agent": "main"},
        {
            "role": "assistant",
            "content": "I edit.",
            "action": "edit 1:1\nreturn round(x)\nend_of_edit",
            "agent": "main",
        },
        {"role": "user", "content": "File updated.", "agent": "main"},
    ]
    world.converse(json.dumps({"history": rows, "trajectory": [], "environment": "main"}))
    world.converse("User: I prefer short answers.\nAssistant: I will keep them short.")
    cuts, prefers = "Rounding cuts instead of rounding", {"statement": "Prefers short answers", "scope": "person"}
    both = [cuts, prefers | {"statement": "Prefers to cut"}]  # the second is nobody's word, whatever the model calls it
    model = FakeModel(lambda number, prompt: {"facts": both if "rounding" in prompt else [prefers], "questions": []})
    world.run(model)
    (world.folder / "new").mkdir()
    shown = context(workspace_of(world), str(world.folder / "new"))
    assert "short answers" in shown.prefix.text and "Rounding" not in shown.prefix.text
    assert "Prefers to cut" not in shown.prefix.text
