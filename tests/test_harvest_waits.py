"""What a harvest leaves alone until somebody asks: a session that is still written, a harvest that was undone, a digest
that was deleted. And what it takes back by itself: open tasks that the rest of a session has settled.

What a user would lose otherwise: trust in the list of open tasks, in undo, and in rm.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.base import disk
from core.commands.harvest_report import harvest_text
from core.rules.distil import RULES
from core.rules.sentence import found
from tests.cli_call import call
from tests.faults.fault import path_of
from tests.harvest_world import FakeModel, World, says
from tests.llm_server import model_server, reply

COMMIT = "Check whether the commit “feat(orders): add the parser” went through"


def told(role: str, content: Any, number: int) -> str:
    row = {"type": role, "sessionId": "s", "uuid": f"u{number}", "parentUuid": None, "cwd": "/src/shop"}
    return json.dumps({**row, "message": {"role": role, "content": content}}) + "\n"


def ran(number: int, command: str) -> str:
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    return told("assistant", [call], number)


def gave(number: int, output: str) -> str:
    return told("user", [{"type": "tool_result", "tool_use_id": f"t{number}", "content": output}], number + 1)


WHY = (
    "`orders.csv` cannot be loaded whole with `read_all`: its orders are too large for memory, so `parse_orders` reads "
    "them line by line."
)
COMMITS = 'git commit -m "feat(orders): add the parser"'
BEGUN = told("user", "Write a parser for the orders and commit it.", 0) + ran(2, "git add -A && git status")
BEGUN += gave(2, "On branch orders\nnew file: orders.csv") + ran(4, COMMITS)
"""A session that its tool is writing: cut between a call and its result."""
ENDED = gave(4, "[orders 1a2b3c4] feat(orders): add the parser\n 1 file changed") + told(
    "assistant", f"The parser is committed. {WHY}", 8
)


class Desk:
    """A user's home with one session of Claude Code, as the command line sees it."""

    def __init__(self, home: Path) -> None:
        self.session = home / ".claude" / "projects" / "-src-shop" / "s.jsonl"
        self.session.parent.mkdir(parents=True)
        self.knowledge = home / ".manual_slop" / "knowledge"
        self.settings = home / ".config" / "manual_slop" / "config.toml"

    def configure(self, lines: str) -> None:
        self.settings.parent.mkdir(parents=True, exist_ok=True)
        self.settings.write_text(f'[ai_settings.knowledge]\nsources = ["claude_code"]\n{lines}')

    def say(self, text: str, age: float = 3600) -> None:
        """Write the session as it stood `age` seconds ago."""
        self.session.write_text(text)
        os.utime(self.session, (time.time() - age,) * 2)

    def text(self, name: str) -> str:
        path = self.knowledge / name
        return path.read_text() if path.exists() else ""

    def harvest(self, *words: str, apply: bool = True) -> str:
        code, out, err = call("harvest", *(("--apply",) if apply else ()), *words)
        assert code == 0 and "error" not in err, err
        return out

    def runs(self) -> list[str]:
        return [row["run"] for row in json.loads(call("undo", "--json")[1])]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / f".{name.lower()}"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(home)
    found = Desk(home)
    found.configure("")
    return found


# --- a session that is still written ---------------------------------------------------------------------------------


def test_a_session_that_is_still_written_waits(desk: Desk) -> None:
    desk.say(BEGUN, age=60)
    for apply in (False, True):
        out = desk.harvest(apply=apply)
        assert "note: 1 conversation waits: changed in the last 10 minutes, perhaps still being written" in out
        assert "nothing new" not in out and "plan: 1" not in out
    assert desk.text("tasks.md") == ""
    assert "not harvested yet: 0 conversations, 0B; 1 more perhaps still being written" in _status(desk)


def test_what_is_harvested_as_it_is_waits_no_more_until_it_goes_on(desk: Desk) -> None:
    """Right behind a harvest of all that there is, the status said that it is perhaps still being written."""
    desk.say(BEGUN, age=60)
    desk.harvest("--now")
    assert "not harvested yet: 0 conversations, 0B\n" in _status(desk)
    assert "nothing new" in desk.harvest()
    desk.say(BEGUN + ENDED, age=30)
    assert "1 more perhaps still being written" in _status(desk)


@pytest.mark.parametrize("how", ["--now", "its path", "an hour later"])
def test_it_is_read_when_somebody_asks_or_it_rests(desk: Desk, how: str) -> None:
    desk.say(BEGUN, age=3600 if how == "an hour later" else 60)
    desk.harvest(*{"--now": ["--now"], "its path": ["--source", str(desk.session)], "an hour later": []}[how])
    assert COMMIT in desk.text("tasks.md")


def test_a_session_that_is_dated_into_the_future_does_not_wait_for_ever(desk: Desk) -> None:
    """A clock that was wrong, or a disk of another computer: nobody is writing it now."""
    desk.say(BEGUN + ENDED, age=-30 * 86400)
    desk.harvest()
    assert WHY in desk.text("facts.md")


def test_a_folder_that_is_named_asks_for_nothing_in_particular(desk: Desk) -> None:
    desk.say(BEGUN, age=60)
    assert "1 conversation waits" in desk.harvest("--source", str(desk.session.parent))
    assert desk.text("tasks.md") == ""


def test_what_only_waits_to_be_taken_away_is_harvested(desk: Desk) -> None:
    """Who had harvested everything read that all of it was not harvested yet."""
    desk.say(BEGUN + ENDED)
    desk.harvest()
    desk.configure('reclaim_foreign = true\nreclaim = "always"\n')
    assert "plan: 1 harvested before, to take away" in desk.harvest(apply=False)
    left = "not harvested yet: 0 conversations, 0B; 1 harvested before, to take away (1.4KB)"
    assert left in _status(desk)


# --- what the rest of a session settles ------------------------------------------------------------------------------


def test_a_task_that_the_rest_of_its_session_settles_goes(desk: Desk) -> None:
    desk.say(BEGUN)
    desk.harvest()
    before = desk.text("tasks.md")
    assert COMMIT in before
    desk.say(BEGUN + ENDED)
    out = desk.harvest()
    assert COMMIT not in desk.text("tasks.md") and WHY in desk.text("facts.md")
    assert "note: 1 line settled by the rest of the session, and taken out: Check whether the commit" in out
    assert COMMIT not in desk.text("digest.md")
    assert call("undo", desk.runs()[0])[0] == 0
    assert desk.text("tasks.md").rstrip() == before.rstrip(), "undo brings it back where it stood"


def test_an_update_of_the_program_settles_no_task(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rules of today do not find any more was as open as before: nothing that was said later settles it."""
    desk.say(BEGUN)
    left = "Weigh the orders of the shop by hand"
    with monkeypatch.context() as earlier:
        old = (*RULES, lambda _: iter([found("tasks_open", left, 0)]))
        earlier.setattr("core.rules.distil.RULES", old)
        desk.harvest()
    assert left in desk.text("tasks.md") and COMMIT in desk.text("tasks.md")
    desk.say(BEGUN + ENDED)
    assert "note: 1 line settled by the rest of the session, and taken out: Check whether" in desk.harvest()
    assert left in desk.text("tasks.md") and COMMIT not in desk.text("tasks.md")


def test_a_task_is_settled_also_where_the_tool_writes_the_file_anew(desk: Desk) -> None:
    """Databases and JSON files have the result in the call that was open before: nobody can look at what was there."""
    desk.say(BEGUN)
    desk.harvest()
    assert COMMIT in desk.text("tasks.md")
    desk.say(told("user", "A first turn that was not there.", 0) + BEGUN + ENDED)
    desk.harvest()
    assert COMMIT not in desk.text("tasks.md")


def test_what_git_showed_beside_a_model_goes_with_the_commit(tmp_path: Path) -> None:
    """The line is the rules' own, and a model that reads the end has no word for it."""

    def edited(number: int, path: str) -> str:
        call = {"type": "tool_use", "id": f"t{number}", "name": "Edit",
                "input": {"file_path": path, "old_string": "a", "new_string": "b"}}  # fmt: skip
        return told("assistant", [call], number) + gave(number, "updated")

    dirty = told("user", "Change the parser.", 0) + edited(2, "/src/shop/parser.py") + edited(4, "/src/shop/till.py")
    dirty += told("user", "Is it all?", 5)
    dirty += ran(6, "git status --short") + gave(6, " M parser.py\n M till.py") + told("assistant", "Both changed.", 8)
    world = World(tmp_path).limits(keep=True)
    world.converse(dirty, NAME)
    world.run(says(tasks_open=["Commit parser.py, still uncommitted"]))
    assert "Commit `parser.py`, `till.py`: changed and not committed" in world.text("tasks.md")
    sent = ran(12, 'git commit -am "feat: parse"') + gave(12, "[main 1a2b3c4] feat: parse\n 2 files changed")
    world.converse(dirty + told("user", "Good.", 10) + sent + told("assistant", "It is done.", 14), NAME)
    world.run(says())
    assert "parser.py" not in world.text("tasks.md")


@pytest.mark.parametrize("touch", ["reworded", "detailed", "done"])
def test_a_task_that_the_user_touched_stays(desk: Desk, touch: str) -> None:
    desk.say(BEGUN)
    desk.harvest()
    path = desk.knowledge / "tasks.md"
    [line] = [line for line in path.read_text().split("\n") if COMMIT in line]
    if touch == "done":
        path.write_text(path.read_text().replace(f"{line}\n", "").replace("## Done\n", f"## Done\n\n{line}\n"))
    else:
        new = line.replace("Check", "Please check") if touch == "reworded" else f"{line}\n  ask Ada"
        path.write_text(path.read_text().replace(line, new))
    desk.say(BEGUN + ENDED)
    desk.harvest()
    assert "whether the commit “feat(orders): add the parser” went through" in desk.text("tasks.md")


def test_a_task_is_told_again_where_it_is_open_again(desk: Desk) -> None:
    """What a harvest took out by itself is not what a user removed."""
    for text in (BEGUN, BEGUN + ENDED):
        desk.say(text)
        desk.harvest()
    assert COMMIT not in desk.text("tasks.md")
    desk.say(BEGUN + ENDED + ran(10, COMMITS))
    desk.harvest()
    assert desk.text("tasks.md").count(COMMIT) == 1


def talk(*numbers: int) -> str:
    return "".join(f"User: question {number}\nAssistant: answer {number}\n" for number in numbers)


NAME = "talk-0f8fad5b-d9cb-469f-a165-70867728950e"


@pytest.mark.parametrize("how", ["finishes", "same words"])
def test_a_task_that_a_model_finishes_in_the_same_session_goes(tmp_path: Path, how: str) -> None:
    world = World(tmp_path).limits(keep=True)
    world.converse(BEGUN, NAME)
    world.run(says(tasks_open=["Write the release notes", "Measure the parser on a long file"]))
    world.converse(BEGUN + ENDED, NAME)

    def answer(_: int, prompt: str) -> dict[str, Any]:
        [known] = [line for line in prompt.split("\n") if "Write the release notes" in line]
        mark = known.partition(" ")[0] if how == "finishes" else ""
        done = {"statement": "The parser is committed and noted"} if mark else {"statement": "Write the release notes"}
        return {"tasks_done": [{**done, **({"finishes": mark} if mark else {})}]}

    world.run(FakeModel(answer))
    opened, _, done = world.text("tasks.md").partition("## Done")
    assert "release notes" not in opened and "Measure the parser on a long file" in opened
    assert ("The parser is committed and noted" if how == "finishes" else "Write the release notes") in done


def test_what_the_user_removed_stays_away_however_often_the_session_grows(tmp_path: Path) -> None:
    world = World(tmp_path).limits(keep=True)
    world.converse(talk(1), NAME)
    world.run(says(facts=["the port is 8080", "the cache is small"]))
    facts = world.paths.knowledge / "facts.md"
    facts.write_text("".join(line for line in facts.open() if "8080" not in line))
    for last in (2, 3, 4):
        world.converse(talk(*range(1, last + 1)), NAME)
        world.run(says(facts=["the port is 8080", f"fact {last}"]))
    lines = [line.partition(" [from")[0] for line in world.text("facts.md").split("\n") if line.startswith("- ")]
    assert lines == ["- the cache is small", "- fact 2", "- fact 3", "- fact 4"]


def test_a_kill_before_the_close_leaves_no_settled_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path).limits(keep=True)
    world.converse(BEGUN, NAME)
    world.run(None)
    world.converse(BEGUN + ENDED, NAME)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as cut:
        cut.setattr("core.harvest.committer.close_run", killed)
        with pytest.raises(KeyboardInterrupt):
            world.run(None)
    assert COMMIT in world.text("tasks.md")
    world.run(None)
    assert COMMIT not in world.text("tasks.md") and WHY in world.text("facts.md")


# --- what was undone -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["--since-last"], []])
def test_what_was_undone_is_not_harvested_again_unasked(desk: Desk, words: list[str]) -> None:
    desk.say(BEGUN + ENDED)
    desk.harvest()
    written = desk.text("facts.md")
    assert WHY in written
    assert call("undo", desk.runs()[0])[0] == 0
    note = "note: 1 conversation waits: you undid the harvest ('--again' harvests it again)"
    assert note in desk.harvest(*words) and note in desk.harvest(apply=False)
    assert WHY not in desk.text("facts.md")
    assert "1 more whose harvest you undid" in _status(desk)
    assert "undone:1" in _status(desk)
    assert "plan: 1 to harvest" in desk.harvest("--again", apply=False)
    desk.harvest("--again")
    assert desk.text("facts.md") == written and "undone:0" in _status(desk)


def test_a_models_harvest_that_was_undone_is_not_made_again_where_the_rules_had_read_it_before(desk: Desk) -> None:
    """Their harvest stands; that must not bring the other one back, nor have it paid for once more."""
    world = World(desk.session.parent).limits(keep=True)
    world.converse(BEGUN + ENDED, NAME)
    world.run(None)
    run = world.run(says(facts=["the port is 8080"])).run
    assert "8080" in world.text("facts.md")
    assert call("--home", str(world.paths.home), "undo", run)[0] == 0
    assert WHY in world.text("facts.md")
    again = says(facts=["the port is 8080"])
    world.run(again)
    assert again.prompts == [] and "8080" not in world.text("facts.md")


def test_a_session_that_was_cut_back_and_undone_throughout_is_planned(desk: Desk) -> None:
    """Each of its two states came after the other, and the search for one that stands went round for ever."""
    for text, undone in ((BEGUN, True), (BEGUN + ENDED, False), (BEGUN, True)):
        desk.say(text)
        desk.harvest("--again")
        if undone:
            assert call("undo", desk.runs()[0])[0] == 0
    assert call("undo", desk.runs()[1])[0] == 0
    desk.say(BEGUN + ENDED + told("user", "Thank you.", 20))
    assert "plan: 1" in desk.harvest("--again", apply=False)


def test_what_is_named_by_its_path_is_asked_for(desk: Desk) -> None:
    desk.say(BEGUN + ENDED)
    desk.harvest()
    call("undo", desk.runs()[0])
    desk.harvest("--source", str(desk.session))
    assert WHY in desk.text("facts.md")


@pytest.mark.parametrize("model", [True, False])
def test_of_a_session_that_goes_on_after_an_undo_only_the_new_part_counts(desk: Desk, model: bool) -> None:
    """It must neither come back by the back door, nor be lost for good."""
    world = World(desk.session.parent)
    world.limits(keep=True)
    first = BEGUN + ENDED
    world.converse(first, NAME)
    world.run(says(facts=["the port is 8080"]) if model else None)
    assert world.bullets()
    assert call("--home", str(world.paths.home), "undo", _newest(world))[0] == 0
    undone = world.text("facts.md")
    assert WHY not in undone and "8080" not in undone
    second = gave(10, "[orders 5d6e7f8] feat(orders): add the lexer\n 1 file changed")
    second += told(
        "assistant",
        "The lexer is committed. Words cannot be cached in `lexer.py`: `find_word` looks them up in `words.csv`, which "
        "the shop changes.",
        12,
    )
    world.converse(
        first + ran(10, COMMITS.replace("parser", "lexer")) + second,
        NAME,
    )
    asked = says(facts=["the port is 8080", "the lexer is new"])
    world.run(asked if model else None)
    if model:
        assert "Write a parser" not in asked.prompts[0].partition("[What stands above")[2]
        assert "the lexer is new" in world.text("facts.md") and "8080" not in world.text("facts.md")
    else:
        assert "looks them up in `words.csv`" in world.text("facts.md") and WHY not in world.text("facts.md")


def _newest(world: World) -> str:
    return max(path.stem for path in world.paths.plans.iterdir())


# --- a digest that was deleted ---------------------------------------------------------------------------------------


def test_a_deleted_digest_stays_away_until_a_user_harvests(desk: Desk) -> None:
    desk.say(BEGUN)
    desk.harvest("--since-last")
    digest = desk.knowledge / "digest.md"
    assert digest.exists(), "nobody has deleted one"
    digest.unlink()
    desk.say(BEGUN + ENDED + ran(10, COMMITS))
    out = desk.harvest("--since-last")
    assert not digest.exists() and "digest: none" in out
    assert "you deleted digest.md" in _status(desk)
    desk.harvest()
    assert digest.exists()


def _status(desk: Desk) -> str:
    return call("status")[1]


# --- a harvest that was not written ----------------------------------------------------------------------------------


def test_what_the_next_harvest_finishes_is_told_with_its_lines_and_goes_back_as_it_is_told(desk: Desk) -> None:
    """Four lines came into the files, "nothing new" was said, and the run that was named did not take them back."""
    call("add", "facts", "The otter is mine")
    desk.say(BEGUN + ENDED)
    facts = desk.knowledge / "facts.md"
    facts.chmod(0o444)
    assert call("harvest", "--apply")[0] == 1 and WHY not in desk.text("facts.md")
    facts.chmod(0o644)
    out = desk.harvest()
    assert WHY in desk.text("facts.md") and "nothing new" not in out
    assert "\nfacts of the run that was finished (1):\n" in out and "orders.csv cannot be loaded whole" in out
    named = out.partition("'knowledge undo ")[2].partition("'")[0]
    assert call("undo", named)[1].startswith(f"undone: {named} (1 conversation undone, ")
    assert WHY not in desk.text("facts.md") and "The otter is mine" in desk.text("facts.md")


# --- what was sent ---------------------------------------------------------------------------------------------------


def _ledger(desk: Desk) -> list[dict[str, Any]]:
    entries = json.loads(desk.text("ledger.json"))["entries"]
    return list(entries.values())


def _say_more(desk: Desk, number: int) -> None:
    """This many sessions more, each with words and a project of its own: those of one are read in turn."""
    for at in range(number):
        path = desk.session.with_name(f"s{at}.jsonl")
        path.write_text(BEGUN.replace("orders", f"orders {at}").replace("/src/shop", f"/src/shop{at}"))
        os.utime(path, (time.time() - 3600,) * 2)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the program")
def test_text_that_left_is_told_as_sent(desk: Desk, tmp_path: Path) -> None:
    """A program that fails: the first goes alone, then two at a time; the third has its text when the second fails."""
    program, got = tmp_path / "program", tmp_path / "got"
    program.write_text(
        f"#!/bin/sh\ncat > /dev/null\necho one >> {got}\nsleep 0.3\nwc -l < {got} | grep -q 3 && sleep 1\nexit 1\n"
    )
    program.chmod(0o755)
    desk.configure(f'provider = "command"\ncommand = ["{program}"]\njobs = 2\n')
    _say_more(desk, 5)
    code, out, _ = call("harvest", "--apply")
    sent = len(got.read_text().split())
    assert code == 1 and sent == 3
    assert "sent to the model: 3 requests" in out and "sent, no answer: 1\n" in out
    assert "2 conversations were not tried" in out
    told = [row["error"] for row in _ledger(desk)]
    assert len(told) == sent and sum("it was sent, and no answer came" in error for error in told) == 1
    assert [(row["provider"], row["calls"]) for row in _ledger(desk)] == [("command", 1)] * 3


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the program")
def test_after_ctrl_c_nothing_more_is_sent_and_what_was_sent_is_told(desk: Desk, tmp_path: Path) -> None:
    """The first question is answered; Ctrl-C comes while two are being asked and others wait for their turn."""
    program, got = tmp_path / "program", tmp_path / "got"
    program.write_text(
        f"#!/bin/sh\ncat > /dev/null\necho one >> {got}\nif test $(wc -l < {got}) -gt 1; then\n"
        f"test $(wc -l < {got}) -gt 2 && mkdir {tmp_path}/pressed 2> /dev/null && kill -INT $PPID\n"
        "sleep 20\nfi\necho '{\"facts\": []}'\n"
    )
    program.chmod(0o755)
    desk.configure(f'provider = "command"\ncommand = ["{program}"]\njobs = 2\n')
    _say_more(desk, 6)
    code, out, err = call("harvest", "--apply")
    assert code == 130 and len(got.read_text().split()) == 3
    assert "sent to the model: 3 requests" in out and "sent, no answer: 2\n" in out
    assert err.count("sent, no answer") == 2
    assert len(_ledger(desk)) == 1, "who was not answered has not failed"


def test_requests_that_fail_are_counted_and_name_their_model(desk: Desk) -> None:
    with model_server(*[reply({"error": "oops"}, 500)] * 20) as server:
        desk.configure(
            f'provider = "openai"\nmodel = "played-1"\nbase_url = "{server.url}/v1"\njobs = 1\n'
            "request_timeout_seconds = 3\nmodel_context_tokens = 32000\n"
        )
        _say_more(desk, 2)
        code, out, _ = call("harvest", "--apply")
        sent = len(server.requests)
    assert code == 1 and sent > 2
    assert f"sent to the model: {sent} requests" in out
    assert sum(row["calls"] for row in _ledger(desk)) == sent
    assert [row["model"] for row in _ledger(desk)] == ["played-1", "played-1"]


def test_a_full_disk_is_told_by_the_next_start(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing could be marked: whoever looks later must not read that the harvest came to its end."""
    desk.say(BEGUN + ENDED)
    desk.harvest()
    _say_more(desk, 1)
    perform = disk.perform

    def full(name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if name == "write" and not path_of(arguments).endswith("lock"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return perform(name, call, *arguments, **named)

    with monkeypatch.context() as small:
        small.setattr(disk, "perform", full)
        code, _, err = call("harvest", "--apply", "--quiet")
        assert code == 1 and "No space left on device" in err
        assert "run: the last harvest was cut off before it wrote anything into your files" in _status(desk)
    out = desk.harvest()
    assert "note: the last harvest could write nothing" in out and "1 harvested" in out
    assert "run: the last harvest left nothing half done" in _status(desk)


def test_a_journal_that_cannot_be_written_leaves_the_mark_in_the_ledger(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.say(BEGUN + ENDED)
    desk.harvest()
    _say_more(desk, 1)

    def broken(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as damaged:
        damaged.setattr("core.knowledge.journal.Journal.append", broken)
        assert call("harvest", "--apply", "--quiet")[0] == 1
    assert "harvest-failed:1" in _status(desk)


# --- notes on files outside the home ---------------------------------------------------------------------------------


def test_the_repository_of_a_conversation_is_reason_enough_for_a_note(tmp_path: Path) -> None:
    """A session in a folder of the repository tells of a file beside that folder; nobody has set file_roots for it."""
    shop, world = tmp_path / "srv" / "shop", World(tmp_path / "user").limits(keep=True)
    (shop / "api").mkdir(parents=True)
    (shop / ".git").mkdir()
    (shop / "orders.py").write_text("pass\n")
    (tmp_path / "srv" / "other.py").write_text("pass\n")
    world.options = replace(world.options, file_roots=())
    world.converse((BEGUN + ENDED).replace("/src/shop", str(shop / "api")), NAME)
    paths = (shop / "orders.py", tmp_path / "srv" / "other.py", shop / "gone.py")
    report = world.run(says(files=[{"path": str(path), "note": "It reads the orders"} for path in paths]))
    assert "orders.py" in next(world.paths.file_notes.iterdir()).read_text()
    text = harvest_text(report)
    assert "\nnotes on files that became facts: 1 of files not found, 1 of files outside file_roots" in text


def test_notes_tell_why_a_file_has_none(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.py"
    file.write_text("pass\n")
    assert call("add", "facts", f"{file}: it reads the orders")[0] == 0
    assert "it lies outside file_roots (facts.md):" in call("notes", str(file))[1]
