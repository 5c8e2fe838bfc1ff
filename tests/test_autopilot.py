"""Harvests that nobody waits for: a day of sessions, budgets, a server that is down, a laptop that sleeps.

What a user would lose: money beyond their cap, conversations that a tool deletes before anybody read them, lines that
stand twice, or a store that silently stopped learning weeks ago.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.agents import timers
from core.base import locks
from core.base.answer import Answer
from core.base.result import KnowledgeError, Ok, attempt
from core.commands.daily.autopilot import at_session_start, read_autopilot, run_by_itself
from core.commands.daily.schedule import check_schedule, schedule
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.status import status
from core.commands.workspace import open_workspace
from core.harvest.report import HarvestReport
from core.harvest.steps import QUIET_SECONDS
from core.knowledge.categories import bullets_in
from core.knowledge.spending import Account, Caps, Purse, read_days
from tests.autopilot_day import START, Day, Model, by_hand, facts, last_run, run, settings, topics_told
from tests.autopilot_day import day as day
from tests.autopilot_day import freed as freed
from tests.cli_call import call
from tests.made_home import error
from tests.waiting import PATIENCE_SECONDS, wait_until

# --- a day -----------------------------------------------------------------------------------------------------------


def test_a_day_of_many_sessions(day: Day) -> None:
    """Three tools (SESSIONS_A_DAY=300 plays a larger day); sessions grow, end, and some are taken up again. The budget
    of the day is reached, the server is down for an hour, the laptop sleeps through the evening, hooks are lost. In the
    end everything said stands in the store once, no budget was passed at any moment, and nothing was read while it was
    being written."""
    dice, model = random.Random(7), Model()
    many = int(os.environ.get("SESSIONS_A_DAY", "15"))
    cap = 433 * many
    workspace = settings(day, max_day_tokens=cap)
    tools = ("claude_code", "codex", "gemini_cli")
    live: dict[int, tuple[str, int]] = {}
    number, spent_on, most_lines, down_told = 0, Counter[str](), 0, 0
    for minute in range(0, 16 * 60, 15):
        day.now = START + timedelta(minutes=minute)
        asleep = 11 * 60 <= minute < 13 * 60
        model.down = 2 * 60 <= minute < 3 * 60
        if asleep:
            continue
        for _ in range(max(1, many // 37)):
            if number < many:
                number += 1
                live[number] = (dice.choice(tools), dice.randint(1, 3))
        ended = []
        for which in list(live):
            tool, left = live[which]
            if dice.random() < 0.8:
                path = day.say(tool, which, f"topic-{which}-{left}")
                if left == 1:
                    del live[which]
                    ended.append(path)
                else:
                    live[which] = (tool, left - 1)
        if number == many and not live and minute % 60 == 0:
            day.say("codex", dice.randint(1, many), f"topic-again-{minute}")  # somebody takes an old one up again
        before = model.tokens
        if ended and dice.random() < 0.6:  # the others were cancelled by their tool
            result = attempt(run, day, workspace, model, *ended)
        elif minute % 60 == 0:
            result = attempt(run, day, workspace, model)  # the timer
        else:
            continue
        if isinstance(result, Ok):
            down_told += any(error.code == "unreachable" for error in result.value.errors)
        spent_on[f"{day.now.astimezone():%Y-%m-%d}"] += model.tokens - before
        assert all(spent <= cap for spent in spent_on.values()), f"{spent_on} at {day.now}"
        assert len(facts(day)) >= most_lines
        most_lines = len(facts(day))
        assert max(topics_told(day).values(), default=1) == 1, "a line stands twice"
    assert down_told == 1, "the failure is told once"
    assert number == many and max(spent_on.values()) > cap / 2, "the budget was never near, so nothing was tried"
    assert last_run(workspace).problem is None
    left_at_night = len(day.topics() - set(topics_told(day)))
    for hours in range(24, 24 * 12, 24):  # the days after: the timer alone catches up
        if set(topics_told(day)) >= day.topics():
            break
        day.now = START + timedelta(hours=hours)
        before = model.tokens
        assert isinstance(attempt(run, day, workspace, model), Ok)
        assert model.tokens - before <= cap
    told = topics_told(day)
    assert set(told) == day.topics() and set(told.values()) == {1}
    assert left_at_night > 0, "the budget left nothing over, so catching up was not tried"
    calls = model.calls
    day.now += timedelta(days=1)
    done = run(day, workspace, model)
    assert model.calls == calls and done.harvested == 0, "nothing is read twice"
    ledger = json.loads((workspace.paths.knowledge / "ledger.json").read_text())
    assert all(path.exists() for path in day.said), "conversations of other tools stay where they are"
    assert "harvested" in json.dumps(ledger)


class Worker(Model):
    """Answers with an open task for each part that was begun and not ended in what it is shown, and ends those that it
    is told are known. `meanwhile` is what happens while it answers."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self.meanwhile = meanwhile

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        self.meanwhile()
        before, _, inside = prompt.rpartition("<conversation>")
        new = inside.rpartition("[What stands above")[2] or inside
        begun, ended = ({*re.findall(rf"{word}-([\d-]+)", new)} for word in ("begun", "ended"))
        known = {part: mark for mark, part in re.findall(r"(k\d+) \(open task.*: Finish part ([\d-]+)", before)}
        done = [{"statement": f"Part {part} is there", "finishes": known[part]} for part in ended & known.keys()]
        rows = {"tasks_open": [f"Finish part {part}" for part in sorted(begun - ended)], "tasks_done": done}
        return Answer(json.dumps(rows), "played", 10, 10)


def work(number: int, steps: int, folder: str) -> str:
    """A session of Claude Code after this many of its steps: a commit is called for in each even one, and its result
    comes in the odd one after it. `begun-…` and `ended-…` say the same in words."""
    rows: list[tuple[str, Any]] = [("user", f"Work on shop {number} and commit each part.")]
    for step in range(steps):
        part = f"{number}-{step // 2}"
        name = f"feat(shop{number}): add part {part}"
        if step % 2 == 0:
            rows.append(("user", f"Now the part begun-{part}, please."))
            command = f'git commit -m "{name}" -m "It is read line by line from part{part}.csv."'
            call = {"type": "tool_use", "id": f"t{step}", "name": "Bash", "input": {"command": command}}
            rows.append(("assistant", [call]))
        else:
            said = f"[topic {number:03x}{step:04x}] {name}\n 1 file changed"
            rows.append(("user", [{"type": "tool_result", "tool_use_id": f"t{step - 1}", "content": said}]))
            rows.append(("assistant", f"It is committed: ended-{part}."))
    made = (
        {"type": role, "uuid": f"{at}", "parentUuid": None, "sessionId": f"w{number}", "cwd": folder,
         "timestamp": START.isoformat(), "message": {"role": role, "content": content}}
        for at, (role, content) in enumerate(rows)
    )  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in made)


@pytest.mark.parametrize("reader", ["rules", "model"])
def test_no_line_that_the_finished_sessions_disprove(reader: str, day: Day) -> None:
    """Sessions (SESSIONS_A_DAY=300 for a larger day) are written while harvests read them; many rest for an hour in the
    middle of a call, so that a harvest takes them for finished. In the end the store says what a harvest of the
    finished sessions alone says: the same tasks are open, and every part is told as done."""
    dice, many = random.Random(11), int(os.environ.get("SESSIONS_A_DAY", "15"))
    choice = {"provider": "offline", "model": "", "base_url": ""} if reader == "rules" else {}
    workspace = settings(day, sources=["claude_code"], jobs=2, **choice)
    ends = {number: dice.randint(2, 7) for number in range(many)}  # an odd one stops in the middle of a call
    at = dict.fromkeys(ends, 0)
    grown_meanwhile = 0

    def grow(number: int) -> Path:
        at[number] += 1
        path = day.path("claude_code", number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(work(number, at[number], f"/src/shop{number % 5}"))
        os.utime(path, (day.now.timestamp(),) * 2)
        return path

    def meanwhile(*_: object) -> None:
        nonlocal grown_meanwhile
        left = [number for number, step in at.items() if 0 < step < ends[number]]
        if left and dice.random() < 0.5:
            grow(dice.choice(left))
            grown_meanwhile += 1

    model = Worker(meanwhile)

    def harvest_now(*ended: Path) -> HarvestReport:
        if reader == "model":
            return run(day, workspace, model, *ended)
        asked, names = HarvestRequest(apply=True), [str(path) for path in ended]
        return run_by_itself(workspace, asked, names, harvest, now=lambda: day.now, progress=meanwhile)

    read_too_early = 0
    for minute in range(0, 16 * 60, 15):
        day.now = START + timedelta(minutes=minute)
        ended = []
        for number, step in at.items():
            if step < ends[number] and dice.random() < 0.15:
                path = grow(number)
                ended += [path] if at[number] == ends[number] and dice.random() < 0.6 else []
        report = harvest_now(*ended)
        assert not report.failed, report.errors
        read_too_early += report.harvested
    for number, step in at.items():
        for _ in range(step, ends[number]):
            grow(number)
    day.now += timedelta(hours=1)
    model.meanwhile = lambda: None
    harvest_now()
    assert grown_meanwhile > many // 4 and read_too_early > many, "nothing was read too early, so nothing was tried"
    tasks = (workspace.paths.knowledge / "tasks.md").read_text()
    shutil.move(workspace.paths.home, day.home / "kept")
    (by_hand(day, workspace, model) if reader == "model" else harvest(
        workspace, HarvestRequest(apply=True, at_once=True), now=lambda: day.now))  # fmt: skip
    alone = (workspace.paths.knowledge / "tasks.md").read_text()
    assert alone.count("\n- ") > many // 3
    for category in ("tasks_open", "tasks_done"):
        said, wanted = ({row.text for row in bullets_in(text, category)} for text in (tasks, alone))
        if category == "tasks_open" or reader == "rules":
            assert said == wanted, (category, said ^ wanted)


def test_what_is_still_written_waits_unless_its_session_has_ended(day: Day) -> None:
    workspace, model = settings(day), Model()
    one, two = day.say("claude_code", 1, "topic-one"), day.say("claude_code", 2, "topic-two")
    assert run(day, workspace, model, one).plan.writing == 1
    assert set(topics_told(day)) == {"topic-one"}
    assert last_run(workspace).writing == 1
    day.now += timedelta(seconds=QUIET_SECONDS - 60)
    day.say("claude_code", 2, "topic-more")
    day.now += timedelta(seconds=QUIET_SECONDS - 60)
    run(day, workspace, model)
    assert set(topics_told(day)) == {"topic-one"}, "it grew in between"
    day.now += timedelta(seconds=120)
    run(day, workspace, model)
    assert set(topics_told(day)) == {"topic-one", "topic-two", "topic-more"}
    assert two.exists()


def test_a_session_that_goes_on_after_its_end_is_not_taken_for_ended(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note tells the state at the end; what was written since is being written."""
    workspace, model = settings(day), Model()
    path = day.say("claude_code", 1, "topic-one")
    with locks.locked(workspace.paths.autopilot_lock):
        assert isinstance(attempt(run, day, workspace, model, path), Ok)
    day.now += timedelta(seconds=30)
    day.say("claude_code", 1, "topic-two")
    run(day, workspace, model)
    assert model.calls == 0 and not workspace.paths.ended.exists()


def test_one_run_at_a_time_and_the_one_at_work_reads_what_ended_meanwhile(day: Day) -> None:
    """A hook that finds a run at work leaves a note and goes; the session is not lost."""
    workspace, model = settings(day), Model()
    first, second = day.say("claude_code", 1, "topic-one"), day.say("codex", 2, "topic-two")

    class Meanwhile(Model):
        def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
            if not self.calls:
                other = run(day, workspace, model, second)
                assert "at work" in other.notes[0] and not other.harvested
            return super().__call__(prompt, schema)

    at_work = Meanwhile()
    assert isinstance(attempt(run, day, workspace, at_work, first), Ok)
    assert set(topics_told(day)) == {"topic-one", "topic-two"} and model.calls == 0


def test_a_harvest_by_hand_goes_first(day: Day) -> None:
    workspace, model = settings(day), Model()
    path = day.say("claude_code", 1, "topic-one")
    with locks.locked(workspace.paths.lock, work="harvest"):
        assert "harvest" in run(day, workspace, model, path).notes[0]
        assert read_autopilot(workspace.paths) is None, "that is no failure"
    run(day, workspace, model)
    assert set(topics_told(day)) == {"topic-one"}


def test_what_a_tool_will_delete_goes_first(day: Day) -> None:
    """Claude Code deletes after 30 days; a budget for one conversation must not go to one that nobody deletes."""
    workspace, model = settings(day), Model()
    day.now = START - timedelta(days=60)
    day.say("codex", 1, "topic-codex-never-deleted")
    day.now = START - timedelta(days=28)
    day.say("claude_code", 2, "topic-goes-in-two-days")
    day.now = START - timedelta(days=10)
    day.say("claude_code", 3, "topic-has-time")
    day.now = START
    request = HarvestRequest(apply=True, limit=1)
    assert isinstance(attempt(run_by_itself, workspace, request, (), harvest, now=lambda: day.now, generate=model), Ok)
    assert set(topics_told(day)) == {"topic-goes-in-two-days"}


# --- failures --------------------------------------------------------------------------------------------------------


def test_a_failure_is_told_once_and_stands_in_status_while_it_lasts(day: Day, freed: list[list[str]]) -> None:
    """On standard error of the first run, and at the start of the next session; then it is quiet until it changes."""
    workspace, model = settings(day), Model()
    model.down = True
    for number in range(3):
        day.say("claude_code", number, f"topic-{number}")
    day.now += timedelta(hours=1)
    first = run(day, workspace, model)
    assert any(error.code == "unreachable" for error in first.errors)
    assert "cannot be reached" in at_session_start(workspace, lambda: day.now)
    assert at_session_start(workspace, lambda: day.now) == ""
    for _ in range(3):
        day.now += timedelta(minutes=10)
        again = run(day, workspace, model)
        assert not again.errors and "as before" in again.notes[-1]
    assert at_session_start(workspace, lambda: day.now) == ""
    seen = status(workspace, day.now).autopilot
    assert seen is not None and seen.problem is not None and seen.problem.times == 4
    shown = call("status")[1]
    assert "it could not harvest (4 times since" in shown and "Start it" in shown
    model.down = False
    day.now += timedelta(minutes=10)
    run(day, workspace, model)
    assert set(topics_told(day)) == {"topic-0", "topic-1", "topic-2"}, "what failed with the server is tried at once"
    assert "could not harvest" not in call("status")[1]


def test_settings_that_are_wrong_are_a_failure_too(day: Day) -> None:
    workspace = settings(day, max_run_price=1.0)
    assert error(run, day, workspace, Model()).code == "price-unknown"
    assert not run(day, workspace, Model()).errors
    assert "max_run_price" in str(last_run(workspace).problem)


def test_a_paid_model_is_not_asked_in_the_background_without_a_budget(day: Day) -> None:
    """The classic of such tools: a bill that nobody saw coming."""
    model = Model()
    day.say("claude_code", 1, "topic-one")
    day.now += timedelta(hours=1)
    refused = error(run, day, settings(day, base_url="", provider="anthropic"), model)
    assert refused.code == "no-budget" and "max_day_tokens" in refused.hint and model.calls == 0
    assert isinstance(
        attempt(run, day, settings(day, base_url="", provider="anthropic", max_day_tokens=50_000), model), Ok
    )
    assert set(topics_told(day)) == {"topic-one"}


def test_a_conversation_that_always_fails_does_not_eat_the_budget_of_every_hour(day: Day) -> None:
    workspace = settings(day)

    class Senseless(Model):
        def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
            self.calls += 1
            return Answer("no JSON at all")

    model = Senseless()
    day.say("claude_code", 1, "topic-one")
    for _ in range(6):
        day.now += timedelta(hours=1)
        run(day, workspace, model)
    assert model.calls == workspace.config.harvest_max_attempts
    day.now += timedelta(hours=25)
    run(day, workspace, model)
    assert model.calls == 2 * workspace.config.harvest_max_attempts


def test_the_start_of_a_session_catches_up_with_what_was_missed(day: Day, freed: list[list[str]]) -> None:
    """A hook that was cancelled at the end, a timer that did not run: the next start begins a run in the background."""
    workspace, model = settings(day), Model()
    at_session_start(workspace, lambda: day.now)
    assert len(freed) == 1 and freed[0][-4:] == ["harvest", "--apply", "--since-last", "--quiet"]
    day.say("claude_code", 1, "topic-one")
    day.now += timedelta(hours=2)
    run(day, workspace, model)
    at_session_start(workspace, lambda: day.now)
    assert len(freed) == 1, "a minute after a run there is nothing to catch up with"
    at_session_start(workspace, lambda: day.now + timedelta(hours=3))
    assert len(freed) == 2


def test_a_damaged_report_or_note_costs_itself_only(day: Day) -> None:
    workspace, model = settings(day), Model()
    path = day.say("claude_code", 1, "topic-one")
    run(day, workspace, model, path)
    workspace.paths.autopilot.write_text('{"at": 3, "what": []}')
    workspace.paths.ended.write_bytes(b'\xff\n["/x"]\n[1, 2]\nnot json\n')
    workspace.paths.spending.write_text("[]")
    day.say("claude_code", 2, "topic-two")
    day.now += timedelta(hours=1)
    assert isinstance(attempt(run, day, workspace, model), Ok)
    assert set(topics_told(day)) == {"topic-one", "topic-two"}
    assert call("status")[0] == 0


# --- budgets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("caps", [{"max_run_price": 0.02}, {"max_month_price": 0.02}, {"max_day_tokens": 2500}])
def test_a_harvest_by_hand_keeps_the_caps_too(caps: dict[str, float], day: Day) -> None:
    """What does not fit waits and is told; the account says what was spent."""
    workspace = settings(day, price_input_per_million=10.0, price_output_per_million=30.0, **caps)
    for number in range(30):
        day.say("claude_code", number, f"topic-{number}")
    model = Model()
    done = by_hand(day, workspace, model)
    assert 0 < done.harvested < 30 and done.deferred == 30 - done.harvested
    (note,) = (note for note in done.notes if "budget of" in note)
    assert next(iter(caps)) in note
    account = Account(workspace.paths.spending, lambda: day.now)
    assert account.day.tokens == model.tokens, "what is booked is what it cost"
    dollars = account.month.dollars
    assert dollars <= 0.02 if "max_day_tokens" not in caps else model.tokens <= 2500
    assert (by_hand(day, workspace, model).harvested > 0) is ("max_run_price" in caps)
    day.now += timedelta(days=31)
    assert by_hand(day, workspace, model).harvested > 0, "a new day, a new month"


def test_an_unknown_price_under_a_cap_in_money_is_refused_before_anything_is_sent(day: Day) -> None:
    workspace, model = settings(day, max_month_price=5.0), Model()
    day.say("claude_code", 1, "topic-one")
    refused = error(by_hand, day, workspace, model)
    assert refused.code == "price-unknown" and model.calls == 0 and "price_input_per_million" in refused.hint
    assert any("will be refused" in note for note in by_hand(day, workspace, model, apply=False).notes)
    free = settings(day, max_month_price=5.0, price_input_per_million=0, price_output_per_million=0)
    assert by_hand(day, free, model)
    assert by_hand(day, workspace, model, provider="offline"), "the rules cost nothing"


def test_a_run_that_is_killed_has_spent_too_much_rather_than_too_little(tmp_path: Path) -> None:
    """What a call may cost stands in the account before it is made."""
    file = tmp_path / "spending.json"
    purse = Purse(Caps(day_tokens=5000, answer_tokens=300), Account(file, lambda: START), lambda one, other: None)
    booked = purse.reserve(3000)
    assert booked is not None and booked.tokens == 1300
    (today,) = read_days(file).values()
    assert today.tokens == 1300
    other = Purse(Caps(day_tokens=5000, answer_tokens=300), Account(file, lambda: START), lambda one, other: None)
    assert other.reserve(12_000) is None and "5,000 tokens a day" in other.reason
    purse.settle(booked, 800, 40)
    (today,) = read_days(file).values()
    assert today.tokens == 840


def test_a_call_that_does_not_fit_beside_another_waits_for_it(tmp_path: Path) -> None:
    """Two at their worst are too much, and both as they really are fit: none is put off."""
    account = Account(tmp_path / "spending.json", lambda: START)
    purse = Purse(Caps(day_tokens=2000, answer_tokens=1000), account, lambda one, other: None)
    first = purse.reserve(300)
    assert first is not None
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(purse.reserve(300)))
    thread.start()
    time.sleep(0.1)
    assert not answers
    purse.settle(first, 90, 30)
    thread.join(PATIENCE_SECONDS)
    assert answers and answers[0] is not None and account.day.tokens == 120 + 1100


def test_an_account_that_cannot_be_written_stops_the_spending(day: Day, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cap that nobody can keep is no cap."""
    workspace, model = settings(day, max_day_tokens=100_000), Model()
    day.say("claude_code", 1, "topic-one")
    workspace.paths.spending.mkdir(parents=True)
    done = attempt(by_hand, day, workspace, model)
    assert model.calls == 0
    assert isinstance(done, KnowledgeError) or any("account" in error.message for error in done.value.errors)


# --- the command and the hooks ---------------------------------------------------------------------------------------


def test_the_command_runs_without_a_word(day: Day) -> None:
    settings(day, provider="offline", model="", base_url="")
    path = day.say("claude_code", 1, "topic-one")
    os.utime(path)
    code, out, err = call("harvest", "--apply", "--since-last", "--quiet", "--ended", str(path))
    assert (code, err) == (0, "") and "harvested items" in out
    assert "last harvest by itself" in call("status")[1]
    told = json.loads(call("status", "--json")[1])["autopilot"]
    assert told["harvested"] == 1 and told["problem"] is None


@pytest.mark.skipif(sys.platform == "win32", reason="processes")
def test_a_session_end_hook_ends_in_a_harvest(day: Day) -> None:
    """The whole way: the hook of the settings, run as the tool runs it, hands over, and the lines come. Who connected a
    tool need not name it among the sources too."""
    settings(day, provider="offline", model="", base_url="", sources=["home"])
    path = day.say("claude_code", 1, "topic-one")
    os.utime(path)
    assert call("connect", "claude_code", "--yes")[0] == 0
    hooks = json.loads((day.home / ".claude" / "settings.json").read_text())["hooks"]
    line = hooks["SessionEnd"][0]["hooks"][0]["command"]
    told = json.dumps({"transcript_path": str(path), "hook_event_name": "SessionEnd"})
    subprocess.run(line, shell=True, input=told, text=True, check=True, timeout=PATIENCE_SECONDS)
    report = day.home / ".manual_slop" / "knowledge" / ".state" / "autopilot.json"
    assert wait_until(report.exists), "the hook handed nothing over"
    assert json.loads(report.read_text())["harvested"] == 1


# --- the timer -------------------------------------------------------------------------------------------------------


@pytest.fixture
def scheduler(day: Day, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A stand-in for systemctl, launchctl and schtasks: writes down what it is told, and knows if a timer is on."""
    folder, log = tmp_path / "bin", tmp_path / "told"
    folder.mkdir()
    on, refuse = tmp_path / "on", tmp_path / "refuse"
    script = (
        f'#!/bin/sh\nPATH=/usr/bin:/bin\necho "$(basename $0) $*" >> {log}\ncase "$*" in\n'
        f"*is-active*|*print*|*Query*) test -e {on} ;;\n"
        f"*enable*|*bootstrap*|*Create*) test -e {refuse} && echo no bus >&2 && exit 1; touch {on} ;;\n"
        f"*disable*|*bootout*|*Delete*) rm -f {on} ;;\nesac\n"
    )
    for name in ("systemctl", "launchctl", "schtasks"):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    yield tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the scheduler")
@pytest.mark.parametrize("system", ["linux", "darwin", "win32"])
def test_a_timer_is_shown_set_checked_and_taken_away(
    system: str, day: Day, scheduler: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timers, "this_system", lambda: system)
    workspace = settings(day)
    before = {path for path in day.home.rglob("*") if path.is_file()}
    dry = schedule(workspace, dry_run=True)
    assert dry.changes and dry.commands and not dry.on
    assert {path for path in day.home.rglob("*") if path.is_file()} == before
    refused = schedule(workspace)
    assert [error.code for error in refused.errors] == ["needs-yes"] and not refused.applied and not refused.on
    assert {path for path in day.home.rglob("*") if path.is_file()} == before, "nobody was there to say yes"
    done = schedule(workspace, yes=True)
    assert done.on and done.applied
    texts = [row.path.read_text() for row in done.changes]
    assert any("--since-last" in text and "harvest" in text for text in texts)
    assert any(
        word in text for word in ("Persistent=true", "StartCalendarInterval", "StartWhenAvailable") for text in texts
    )
    (finding,) = check_schedule(workspace)
    assert finding.code == "scheduled" and finding.note
    again = schedule(workspace, yes=True)
    assert not again.changes and not again.commands
    (scheduler / "on").unlink()
    (finding,) = check_schedule(workspace)
    assert finding.code == "schedule-off" and not finding.note
    (scheduler / "on").touch()
    assert not schedule(workspace, remove=True, yes=True).on and check_schedule(workspace) == []
    assert {path for path in day.home.rglob("*") if path.is_file()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script plays the scheduler")
def test_a_system_that_refuses_leaves_no_half_timer(day: Day, scheduler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container there is no bus; without systemd there is cron."""
    monkeypatch.setattr(timers, "this_system", lambda: "linux")
    (scheduler / "refuse").touch()
    workspace = settings(day)
    done = attempt(schedule, workspace, yes=True)
    assert isinstance(done, KnowledgeError) and "no bus" in done.error.message
    assert not list((day.home / ".config").rglob("knowledge-harvest.*"))
    monkeypatch.setenv("PATH", str(scheduler / "nowhere"))
    opened = open_workspace()
    none = attempt(schedule, replace(opened))
    assert isinstance(none, KnowledgeError) and "crontab -e" in none.error.hint and "--since-last" in none.error.hint


def test_a_key_that_only_the_shell_has_is_told(day: Day, scheduler: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "made-up")
    monkeypatch.setattr(timers, "this_system", lambda: "linux")
    done = schedule(settings(day), dry_run=True)
    assert "credentials.toml" in done.notes[0] and "OPENAI_API_KEY" in done.notes[0]


def test_words_with_blanks_and_signs_reach_the_scheduler_whole() -> None:
    words = ["/opt/my tools/knowledge", "--home", '/x/100% "mine" & <yours> $HOME']
    for system in ("darwin", "win32"):
        made = timers.timer_of(system, words, {"HOME": "/x", "XDG_CONFIG_HOME": "/x/c"})
        import xml.etree.ElementTree as tree

        root = tree.fromstring(made.files[0][1])
        texts = [node.text or "" for node in root.iter()]
        assert any("<yours>" in text for text in texts) and any("my tools" in text for text in texts)
    quoted = timers._quoted(words[2])
    assert quoted == '"/x/100%% \\"mine\\" & <yours> $$HOME"'
