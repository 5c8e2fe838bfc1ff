"""What the structure of a session gives that no words of a list do: what was asked for, what stood in the way of a
command. Sessions are made up; nothing of the corpus is here."""

from __future__ import annotations

import pytest

from core.conversations.conversation import Turn
from core.conversations.events import Command, Commit, Push
from core.offline.recurring import add_borne_out
from tests.test_offline_sessions import committed, edited, harvest, ran, said, says, user

# --- what was asked for ---


def test_what_was_done_stands_with_what_the_person_asked_for() -> None:
    asked = "The rates of the bank come too late, can you load them at six in the morning?"
    made = committed("feat: load the rates of the bank by a timer")
    (row,) = harvest(user(asked), edited("cron.txt"), made)["tasks_done"]
    assert row["statement"].startswith("feat: load the rates of the bank by a timer")
    assert row["detail"] == f"asked for: “{asked}”"
    other = harvest(user("Mind the escapes in line 12 of the letters"), edited("cron.txt"), made)["tasks_done"]
    assert other[0]["detail"] == "in `cron.txt`", "a request that shares no word with the work may be another one"


def test_a_request_of_an_earlier_message_is_not_glued_to_the_work() -> None:
    """Which of two messages asked for it nobody can tell; a wrong pair reads like a fact."""
    made = committed("feat: load the feed by a timer")
    asked = user("Why are the rates of the bank kept in the page at all?")
    found = harvest(asked, says("For the letters."), user("You make the fix"), edited("cron.txt"), made)
    assert "asked for" not in found["tasks_done"][0]["detail"]
    found = harvest(user("Commit it to the branch of the bank and push it, please"), edited("cron.txt"), made)
    assert "asked for" not in found["tasks_done"][0]["detail"]


@pytest.mark.parametrize(
    "asked",
    ["commit it", "Implement the following plan:", "/load the rates of the bank", "You are a reviewer of rates."],
)
def test_an_order_a_lead_in_or_a_template_is_no_request(asked: str) -> None:
    found = harvest(user(asked), edited("cron.txt"), committed("feat: load the feed by a timer"))
    assert "asked for" not in found["tasks_done"][0]["detail"]


# --- what a piece of work should be like ---

WANTED = "the page of `rates.html` needs the colours of the bank, as the letters have them"
ALWAYS = "always write the page of `rates.html` in the colours of the bank"


@pytest.mark.parametrize(
    "text",
    [
        WANTED,
        "some `\\n` in `rates.html` need to be real lines, they are escaped at the beginning",
        "you only made changes to the comments in @rates.html",
        "after completing this, there should be no old colours in the folder `pages/`",
        "we don't want a cap",
        "Don't just push the migrations to the server",
        "Stats should have the id, not the name",
        " * Serving Flask app\n * Debug mode: on\nWARNING: never use it in a production `wsgi.py`.\nPress CTRL+C 2",
    ],
)
def test_a_piece_of_work_and_a_complaint_are_no_decision(text: str) -> None:
    """That a file was changed after somebody spoke does not make a rule of what they said."""
    turns = (user("Look at the page"), says("It is red."), user(text), edited("rates.html"), says("OK"))
    assert said(harvest(*turns), "decisions") == []


def test_what_is_typed_around_a_pasted_text_is_the_persons() -> None:
    log = "\n".join(f"2026-01-02T10:00:{at:02} INFO rates {at} read from the feed" for at in range(40))
    found = harvest(user("Look"), says("It is red."), user(f"{log}\n\n{ALWAYS}"), ran("make"), says("OK"))
    assert said(found, "decisions") == [ALWAYS[0].upper() + ALWAYS[1:]]
    inside = log.replace("read from the feed", "always reads the feed of `bank.xml` first")
    assert said(harvest(user("Look"), says("Red."), user(inside), ran("make"), says("OK")), "decisions") == []


def test_an_order_to_the_tool_is_not_the_last_word() -> None:
    left = (user("Look"), says("The rates of `feed.py` are read."), user("Write a test for `save_rates` of the feed"))
    for said_last in ("Perfect! The page should appear above the fold.", "Let me try it. Can you help if I get stuck?"):
        assert not any(harvest(*left[:2], user(said_last)).values()), "chatter is no work"
    for order in ("/exit", "/clear all"):
        assert said(harvest(*left, user(order)), "tasks_open") == ["Write a test for `save_rates` of the feed"]


# --- a command that failed, and what made it pass ---

MISSING = "Error: rates.lock: version 3 wanted"


def test_another_way_to_write_a_command_needs_no_known_error() -> None:
    """Nothing was changed between the two: what differs in the lines is what made it pass."""
    found = harvest(
        user("Print"), ran("bankctl print --all rates", MISSING, True), ran("bankctl print rates --locked", "12 rates")
    )
    (fact,) = found["facts"]
    assert fact["statement"] == f"`bankctl print --all rates` fails (“{MISSING}”); `bankctl print rates --locked` works"


def test_a_command_that_passes_after_others_is_told_with_them() -> None:
    fails, passes = ran("bankctl print rates", MISSING, True), ran("bankctl print rates", "12 rates")
    found = harvest(user("Print"), fails, ran("ls -la", "rates.lock"), ran("bankctl lock --refresh", "ok"), passes)
    assert said(found, "facts") == [
        f"`bankctl print rates` fails (“{MISSING}”); it works after `bankctl lock --refresh`"
    ]
    assert said(harvest(user("Print"), fails, ran("ls -la", "rates.lock"), passes), "facts") == [], "it is not steady"
    assert said(harvest(user("Print"), fails, edited("bank.py"), ran("bankctl lock", "ok"), passes), "facts") == []


def test_of_another_way_behind_other_commands_nobody_knows_which_helped() -> None:
    found = harvest(
        user("Print"),
        ran("bankctl print --all rates", MISSING, True),
        ran("bankctl lock --refresh", "ok"),
        ran("bankctl print rates --locked", "12 rates"),
    )
    assert said(found, "facts") == []


def test_another_command_in_the_place_of_one_that_cannot_run_is_told_with_it() -> None:
    why = "error: the port of 'main' is already used by another bank"
    refused = ran("bankctl serve main", why, True)
    found = harvest(user("Start"), refused, ran("bankctl attach --branch main", "ok"))
    told = f"`bankctl serve main` fails (“{why}”); `bankctl attach --branch main` was run instead and works"
    assert said(found, "facts") == [told]
    assert said(harvest(user("Start"), refused, ran("bankctl help main", "main serves rates")), "facts") == [], "a look"
    assert said(harvest(user("Start"), refused, ran("bankctl print rates", "ok")), "facts") == [], "something else"
    refused = ran("git checkout main", "fatal: 'main' is already used by worktree at '/home/m/rates'", True)
    found = harvest(user("Start"), refused, ran("git checkout -b feed origin/main", "ok"))
    assert said(found, "facts") == [], "what git refuses lies in how things stood at that moment"


# --- checks ---


def test_checks_that_ran_again_are_how_the_work_was_checked() -> None:
    red = (ran("make lint", "2 problems", True), ran("make test", "2 failed", True))
    work = (user("Round the rates"), edited("a.py"), *red)
    assert harvest(*work, edited("a.py"), ran("make lint", "ok"))["playbooks"] == []
    twice = harvest(*work, edited("a.py"), ran("make lint", "ok"), ran("make test", "ok"))
    assert [row["steps"] for row in twice["playbooks"]] == ["make lint -> make test"]


def test_of_two_playbooks_of_a_name_the_longer_one_stands() -> None:
    short, long = (
        {"name": "Checks of bank", "steps": steps, "quote": ""} for steps in ("make lint", "make lint -> make test")
    )
    for first, second in ((short, long), (long, short)):
        arrays = {"facts": [], "playbooks": [dict(first)]}
        add_borne_out(arrays, {"facts": [], "playbooks": [second]})
        assert [row["steps"] for row in arrays["playbooks"]] == [long["steps"]]


# --- files without results ---


def test_a_commit_without_a_result_counts_when_the_session_goes_on_from_it() -> None:
    words = 'git commit -m "feat(feed): load the rates by a timer"'
    row = Turn(
        "assistant",
        words,
        start=10,
        events=(Command(words=words, start=10), Commit(subject="feat(feed): load the rates by a timer", start=10)),
    )
    assert said(harvest(user("Commit"), row, says("Shall I go on?")), "tasks_done") == []
    pushed = Turn(
        "assistant",
        "git push",
        start=20,
        events=(Command(words="git push", start=20), Push(words="git push", start=20)),
    )
    for behind in ((pushed, says("Done.")), (says("I committed the timer."),)):
        (told,) = said(harvest(user("Commit"), row, *behind), "tasks_done")
        assert told.startswith("feat(feed): load the rates by a timer (committed")
