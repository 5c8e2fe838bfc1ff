"""Rules over the structure of a coding session: what a user would miss, and what they would be told wrongly."""

from __future__ import annotations

from itertools import count

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import (
    Command,
    Commit,
    Compaction,
    Edit,
    Event,
    OtherCall,
    Plan,
    PullRequest,
    Push,
    Question,
)
from core.offline.rules import distil_offline

_number = count(1)


def user(text: str) -> Turn:
    return Turn("user", text)


def says(text: str) -> Turn:
    return Turn("assistant", text)


def ran(
    words: str, output: str = "", failed: bool = False, *, refused: bool = False, more: tuple[Event, ...] = ()
) -> Turn:
    event = Command(tool="Bash", words=words, answered=True, failed=failed or refused, refused=refused, output=output)
    return Turn("tool", output or words, events=(event, *more))


def edited(*paths: str) -> Turn:
    events = tuple(Edit(tool="Edit", path=path, how="changed", answered=True, failed=False) for path in paths)
    return Turn("tool", "edited " + " ".join(paths), events=events)


def committed(subject: str, sha: str = "1a2b3c4d5", branch: str = "feat/rates") -> Turn:
    line = f"[{branch} {sha}] {subject}"
    commit = Commit(subject=subject, hash=sha, succeeded=True)
    return ran(f'git commit -m "{subject}"', line, more=(commit,))


def harvest(
    *turns: Turn, folder: str = "/home/m/rates", branch: str = "feat/rates", title: str = ""
) -> dict[str, list[dict[str, str]]]:
    name = f"c{next(_number)}"
    return distil_offline(Conversation(name, "claude_code", turns, folder=folder, branch=branch, title=title))


def said(found: dict[str, list[dict[str, str]]], category: str) -> list[str]:
    return [row["statement"] for row in found[category]]


# --- commits, pushes, pull requests ---


def test_a_commit_is_done_work_with_its_branch_and_how_far_it_went() -> None:
    found = harvest(user("Round the rates"), edited("rates.py"), committed("fix: round rates to cents"))
    assert said(found, "tasks_done") == ["fix: round rates to cents (commit 1a2b3c4d, branch feat/rates)"]
    assert said(found, "tasks_open") == [], "nobody asked for a push"
    found = harvest(user("Round the rates, then push"), edited("rates.py"), committed("fix: round rates to cents"))
    told = "Push branch feat/rates: “fix: round rates to cents” was committed and not pushed in the session"
    assert said(found, "tasks_open") == [told]
    pushed = ran("git push", more=(Push(words="git push", succeeded=True),))
    found = harvest(user("Round the rates"), edited("rates.py"), committed("fix: round rates to cents"), pushed)
    assert said(found, "tasks_done")[0].endswith("pushed)") and said(found, "tasks_open") == []
    opened = ran("gh pr create", more=(PullRequest(url="https://example.org/r/pull/7"),))
    found = harvest(user("Round the rates"), edited("rates.py"), committed("fix: round rates to cents"), opened)
    assert "https://example.org/r/pull/7" in said(found, "tasks_done")[0]


def test_a_commit_that_was_taken_back_is_no_work_done() -> None:
    back = committed('Revert "fix: round rates to cents"', "9f9f9f9f9")
    found = harvest(user("Round the rates"), edited("rates.py"), committed("fix: round rates to cents"), back)
    assert said(found, "tasks_done") == []


def test_the_commit_carries_what_the_closing_message_says_was_done() -> None:
    found = harvest(
        user("Round the rates"),
        edited("rates.py"),
        committed("fix: rounding"),
        says("Added `round_cents` to `rates.py`, which rounds half to even. All tests pass."),
    )
    assert "Added `round_cents` to `rates.py`" in found["tasks_done"][0]["detail"]


def test_a_push_without_a_result_at_the_end_is_open() -> None:
    push = Command(tool="Bash", words="git push origin feat/rates", answered=False)
    turn = Turn("tool", "git push", events=(push, Push(words="git push origin feat/rates")))
    found = harvest(user("Push it"), ran("git status", "clean"), turn)
    assert "`git push origin feat/rates` went through" in said(found, "tasks_open")[0]
    found = harvest(user("Push it"), ran("git status", "clean"), ran("git push origin feat/rates", "a..b  x -> x"))
    assert said(found, "tasks_open") == []


def test_a_merge_with_conflicts_that_nobody_committed_is_open() -> None:
    conflict = ran("git merge origin/main", "Automatic merge failed; fix conflicts and then commit the result.")
    found = harvest(user("Merge main"), conflict, edited("rates.py"), says("The conflicts are gone from `rates.py`."))
    assert said(found, "tasks_open")[0].startswith("Commit the conflicts of `git merge origin/main` on branch")
    found = harvest(user("Merge main"), conflict, edited("rates.py"), committed("Take both rates", branch="main"))
    assert said(found, "tasks_open") == []


# --- closing messages ---


def test_done_work_stands_in_a_closing_message_of_any_turn() -> None:
    found = harvest(
        user("Cache the rates"),
        edited("cache.py"),
        says("Added a cache to `fetch_rates` that is dropped every hour."),
        user("And the taxes?"),
        says("These are computed on the fly."),
    )
    assert said(found, "tasks_done") == ["Added a cache to `fetch_rates` that is dropped every hour (in `cache.py`)."]


@pytest.mark.parametrize(
    "answer",
    ["no, that's wrong, it still fails", "Actually the cache must not be there", "nein, falsch", "不对，还是不行"],
)
def test_what_the_person_refuted_next_is_not_taken(answer: str) -> None:
    found = harvest(
        user("Cache the rates"),
        edited("cache.py"),
        says("Added a cache to `fetch_rates` that is dropped every hour."),
        user(answer),
    )
    assert said(found, "tasks_done") == []


def test_a_proposal_without_a_change_is_no_work_done() -> None:
    found = harvest(user("How would you?"), ran("ls"), says("Added a cache to `fetch_rates` that is dropped hourly."))
    assert said(found, "tasks_done") == []


def test_a_file_that_was_deleted_again_is_forgotten() -> None:
    turns = (
        user("Write notes on geese"),
        edited("docs/geese.md"),
        says("Created `docs/geese.md` with an overview of geese."),
    )
    assert said(harvest(*turns), "tasks_done")
    assert said(harvest(*turns, user("delete that"), ran("rm docs/geese.md")), "tasks_done") == []


@pytest.mark.parametrize(
    "text",
    [
        "Ich habe `fetch_rates` um einen Zwischenspeicher mit einer Stunde Dauer ergänzt.",
        "Corrigé `fetch_rates` pour garder les taux pendant une heure.",
        "He corregido `fetch_rates` para guardar las tasas durante una hora.",
        "已修复 `fetch_rates` 的缓存，每小时失效一次。",
        "`fetch_rates` のキャッシュを修正しました。",
        "`fetch_rates` 캐시를 수정했습니다.",
    ],
)
def test_done_work_is_understood_in_seven_languages(text: str) -> None:
    found = harvest(user("fetch_rates"), edited("cache.py"), says(text))
    assert len(found["tasks_done"]) == 1 and "fetch_rates" in said(found, "tasks_done")[0]


def test_a_request_whose_closing_message_says_nothing_is_not_told_by_its_files() -> None:
    """That a file was changed for a request does not say that it was done."""
    asked = user("Let the rates be read from the new bank feed.")
    assert said(harvest(asked, edited("src/feed.py", "src/rates.py"), says("All green!")), "tasks_done") == []


def test_what_stands_below_a_heading_of_what_is_left_is_open() -> None:
    text = "Added `round_cents`.\n\n## Not done\n\n- The feed in `feed.py` still rounds down\n- Want me to do it?"
    found = harvest(user("Round the rates"), edited("rates.py"), says(text))
    assert said(found, "tasks_open") == ["The feed in `feed.py` still rounds down"]


def test_what_was_left_and_then_done_is_not_open() -> None:
    text = "Added `round_cents`.\n\n## Remaining\n\n- The feed in `feed.py` still rounds down"
    found = harvest(
        user("Round"), edited("rates.py"), says(text), user("do that too"), edited("feed.py"), says("Done.")
    )
    assert said(found, "tasks_open") == []


@pytest.mark.parametrize(
    "text",
    [
        "`rates.py` is tested, the migration in `schema.sql` has not been run on staging.",
        "Die Migration in `schema.sql` ist noch nicht auf dem Server gelaufen.",
        "`schema.sql` 的迁移尚未在服务器上运行。",
    ],
)
def test_a_sentence_that_says_what_is_not_done_is_open(text: str) -> None:
    assert len(harvest(user("Migrate"), edited("rates.py"), says(text))["tasks_open"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Would you like me to run the migration in `schema.sql`, which has not been run?",
        "If you want, I can run the migration in `schema.sql` that was not run yet.",
        "Let me check why `schema.sql` has not been run on the server.",
        "The deploy to [name of server] with `schema.sql` has not been run.",
    ],
)
def test_an_offer_a_plan_and_a_template_are_no_open_task(text: str) -> None:
    assert said(harvest(user("Migrate"), edited("rates.py"), says(text)), "tasks_open") == []


# --- facts ---

_CAUSE = "The root cause was that `RateFeed` cached the empty answer of the bank."


def test_a_cause_is_a_fact_only_when_an_output_bears_it_out() -> None:
    found = harvest(user("Why is it empty?"), ran("cat feed.py", "class RateFeed:"), says(_CAUSE))
    assert said(found, "facts") == [_CAUSE]
    assert said(harvest(user("Why?"), ran("cat other.py", "nothing here"), says(_CAUSE)), "facts") == []


@pytest.mark.parametrize(
    "text",
    [
        "The root cause might be that `RateFeed` cached the empty answer.",
        "It turned out that this was `RateFeed` again.",
        "`feed.py:12` only works because the comment is right.",
        "I think `RateFeed` only works on weekdays.",
        "`RateFeed`: the class that only supports one bank",
        "and `RateFeed` does not support two banks",
    ],
)
def test_guesses_remarks_and_fragments_are_no_facts(text: str) -> None:
    assert said(harvest(user("Why?"), ran("cat feed.py", "class RateFeed: feed.py"), says(text)), "facts") == []


# --- a command that fails, and what works ---


def test_a_call_that_fails_and_its_variant_that_passes_are_a_quirk() -> None:
    found = harvest(
        user("Open the pull request"),
        ran(
            "gh pr create --draft --base feat/old --title Rates", "Base ref must be a branch (createPullRequest)", True
        ),
        ran("gh pr create --draft --base main --title Rates 2>&1 | tail -3", "https://example.org/r/pull/7"),
    )
    (row,) = found["facts"]
    assert row["kind"] == "tool-quirk" and row["quote"] == "", "with a quote of a tool it would wait"
    assert row["statement"] == (
        "`gh pr create --draft --base feat/old --title Rates` fails (“Base ref must be a branch (createPullRequest)”); "
        "`gh pr create --draft --base main --title Rates` works"
    )


def test_a_command_that_works_in_another_folder_says_which() -> None:
    found = harvest(
        user("Test"),
        ran("pnpm test", 'ERR_PNPM_NO_SCRIPT Missing script: "test"', True),
        ran("cd apps/api && pnpm test", "ok"),
    )
    assert "it works in the folder `apps/api`" in said(found, "facts")[0]


@pytest.mark.parametrize(
    ("wrong", "output", "between", "right"),
    [
        ("pytest -q", "1 failed, 3 passed", None, "pytest -x"),  # a red test is work
        ("make docs", "error: unknown option --all", "Makefile", "make docs --fast"),  # the code was changed between
        ("kill 5083 5792", "error: no such option", None, "kill 5083"),
        ("cat /tmp/x/log", "No such file or directory", None, "cat /tmp/y/log"),
        ("cargo build", "error: no such command", None, "npm run build"),
    ],
)
def test_red_tests_changed_code_and_one_off_commands_are_no_quirk(
    wrong: str, output: str, between: str | None, right: str
) -> None:
    middle = (edited(between),) if between else ()
    assert said(harvest(user("Go"), ran(wrong, output, True), *middle, ran(right, "ok")), "facts") == []


# --- checks and hooks ---


def test_the_checks_that_passed_after_an_edit_are_how_the_place_is_checked() -> None:
    found = harvest(
        user("Go, with npm run lint and npm test at the end"),
        ran("npm run build", "ok"),
        edited("a.ts"),
        ran("npm run lint 2>&1 | tail -5", "ok"),
        ran("npm test -- --grep rates", "ok"),
        ran("npm test", "ok"),
    )
    (row,) = found["playbooks"]
    assert (row["name"], row["steps"]) == ("Checks of rates", "npm run lint -> npm test")


def test_checks_stand_in_the_order_in_which_they_ran() -> None:
    ways = user("Go, with npm run build, npm run lint and npm test at the end")
    lines = ("npm run lint", "npm run build", "npm run lint", "npm test")
    found = harvest(ways, edited("a.ts"), *(ran(line, "ok") for line in lines))
    assert [row["steps"] for row in found["playbooks"]] == ["npm run build -> npm run lint -> npm test"]


def test_a_check_that_failed_or_ran_for_one_file_is_no_playbook() -> None:
    found = harvest(user("Go"), edited("a.ts"), ran("npm run lint", "3 errors", True), ran("npx eslint src/a.ts", "ok"))
    assert found["playbooks"] == []


def test_a_hook_that_runs_by_itself_is_a_fact() -> None:
    output = "husky - pre-push hook\n$ bun run build\n$ bun test\n   a..b  x -> x"
    found = harvest(user("Push"), ran("git push", output, more=(Push(words="git push", succeeded=True),)))
    assert said(found, "facts") == ["`git push` in rates runs a hook (husky): `bun run build`, `bun test`"]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("husky - pre-commit hook\n[STARTED] eslint\n✖ eslint --fix:\nNo rules are set up for rates.ts", True),
        ("husky - commit-msg hook\n✖   subject may not be empty [subject-empty]\n✖   found 1 problems", True),
        ("husky - commit-msg hook\n✖   found 1 problems, 0 warnings", False),
        ("fatal: unable to auto-detect email address", False),
    ],
)
def test_a_hook_that_stops_a_commit_is_told_with_what_it_says(output: str, why: bool) -> None:
    """Who commits here next has the same hook in the way."""
    facts = said(harvest(user("Commit"), ran('git commit -m "Rates"', output, True)), "facts")
    lasting = (
        "`eslint --fix` has to pass (“No rules are set up for rates.ts”)",
        "“subject may not be empty [subject-empty]”",
    )
    expected = [f"`git commit` in rates runs a hook that stops it: {text}" for text in lasting]
    assert [text in expected for text in facts] == ([True] if why else [])
    passed = harvest(user("Commit"), ran('git commit -m "Rates"', output))
    assert said(passed, "facts") == [], "it stopped nothing"


# --- plans, questions ---

_PLAN = (
    "# Read the rates from the feed\n\n## Context\n\nThe bank changes its page every month.\n\n## Approach\n\n"
    "Read `rates.xml` from the feed instead of the page.\n\n"
    "### 1. Read the feed in `feed.py`\n\n### 2. Drop `page.py`\n"
)


def test_an_approved_plan_is_a_decision_with_its_reason_and_what_it_left_out_is_open() -> None:
    plan = Turn("tool", "plan", events=(Plan(text=_PLAN, approved=True, answered=True),))
    found = harvest(user("Plan it"), plan, edited("feed.py"), says("Done."))
    assert found["decisions"][0]["statement"] == "Read `rates.xml` from the feed instead of the page."
    assert "The bank changes its page every month." in found["decisions"][0]["detail"]
    assert "one step was not carried out: Drop `page.py`" in said(found, "tasks_open")[0]


def test_a_plan_that_was_refused_is_an_open_task_and_no_decision() -> None:
    plan = Turn("tool", "plan", events=(Plan(text=_PLAN, approved=False, answered=True),))
    found = harvest(user("Plan it"), plan)
    assert said(found, "decisions") == []
    assert said(found, "tasks_open") == ["Planned and not carried out: Read the rates from the feed"]


def test_an_answer_is_a_decision_and_a_last_question_without_one_is_open() -> None:
    asked = (("Which bank is asked first?", "ECB | SNB", "ECB (Recommended)"),)
    turn = Turn("tool", "ECB (Recommended)", events=(Question(asked=asked, answered=True),))
    assert said(harvest(user("Go"), turn, edited("a.py")), "decisions") == ["Which bank is asked first? → ECB"]
    turn = Turn("tool", "", events=(Question(asked=(("Which bank is asked first?", "ECB | SNB", ""),)),))
    assert said(harvest(user("Go"), turn), "questions") == ["Which bank is asked first?"]


def test_options_that_nobody_chose_from_are_a_question_with_its_subject() -> None:
    text = "Two ways:\n\n**Option 1: Ask the bank each time**\n\n**Option 2: Keep the old one**\n\nWhich do you prefer?"
    found = harvest(user("Why are the rates empty?"), ran("cat feed.py", "x"), says(text))
    assert said(found, "questions") == [
        "Not decided at the end of “Why are the rates empty?”: Ask the bank each time; or Keep the old one?"
    ]


# --- the user ---


@pytest.mark.parametrize(
    "text",
    [
        "Never push to the staging branch by hand.",
        "no, we always go through a pull request for the rates",
        "Bitte keine neuen Abhängigkeiten einbauen",
        "N'utilise jamais la base de production",
        "Nunca uses la base de producción",
        "以后不要直接修改数据库",
        "必ずテストを先に書いてください",
        "항상 테스트를 먼저 작성하세요",
    ],
)
def test_short_words_of_will_are_decisions_in_seven_languages(text: str) -> None:
    found = harvest(user(text), edited("a.py"), says("OK"))
    assert len(found["decisions"]) == 1, found


@pytest.mark.parametrize(
    "text",
    [
        "Do not add markdown or explanation. Always respond with JSON.",
        "You are a reviewer. Never change the code.",
        "Always use {{language}} for the answer.",
        "Rewrite the parser to use a table instead of the loops.",
        "Should we always ask the bank first?",
        "I think that should never have been there, maybe?",
        "x" * 700 + " never push by hand",
    ],
)
def test_boilerplate_requests_and_questions_are_no_decisions(text: str) -> None:
    assert said(harvest(user(text), edited("a.py"), says("OK")), "decisions") == []


def test_of_two_wishes_for_the_same_thing_the_later_stands() -> None:
    found = harvest(
        user("let's use the Graphik font instead"), edited("a.css"), says("OK"),
        user("let's use the Jakarta Sans font instead"), edited("a.css"), says("OK"),
    )  # fmt: skip
    assert said(found, "decisions") == ["Let's use the Jakarta Sans font instead"]


def test_what_the_person_set_right_is_a_fact_beside_what_was_said() -> None:
    found = harvest(
        user("Fix the call"), edited("a.py"), says("The third argument is the agent's name."),
        user("technically the third argument of `open_feed` is the path of the transcript"),
    )  # fmt: skip
    (row,) = found["facts"]
    assert row["statement"] == "The third argument of `open_feed` is the path of the transcript"
    assert "The third argument is the agent's name." in row["detail"]


def test_the_last_request_that_nobody_took_up_is_open() -> None:
    found = harvest(user("Hi"), says("Hello"), user("Write the tests of the feed first"))
    assert said(found, "tasks_open") == ["Write the tests of the feed first"]


# --- compaction, reviews ---

_SUMMARY = """4. Errors and fixes:
   - **Stale cache**: The feed gave the rates of the day before. Emptied it.

5. Problem Solving:
   - Decided that the feed replaces the page of the bank

6. All user messages:
   - "put the plan into the ticket" (feedback to not make a file of it)
   - "never push by hand to staging please"
   - "yes"

7. Pending Tasks:
   - Read the holidays of the bank in `holidays.py`
   - Round in `rates.py`
"""


def test_a_summary_is_read_by_its_headings_and_what_was_done_since_is_not_pending() -> None:
    summary = Turn("system", "summary", events=(Compaction(text=_SUMMARY),))
    found = harvest(summary, edited("rates.py"), says("Added `round_cents` to `rates.py` for all the rates."))
    assert said(found, "facts") == ["Stale cache: The feed gave the rates of the day before."]
    assert said(found, "decisions") == [
        "Decided that the feed replaces the page of the bank",
        "Put the plan into the ticket (feedback to not make a file of it)",
        "Never push by hand to staging please",
    ]
    assert said(found, "tasks_open") == ["Read the holidays of the bank in `holidays.py`"]


_REVIEW = (
    "- **High – A retry of a queued payment is lost for ever** (`src/queue/pay.ts:24`)\n"
    "  - `handlePay` only sends new payments.\n"
    "- **Low – a name is odd** (`src/queue/pay.ts:3`)\n"
)


def test_grave_findings_about_ones_own_code_are_open_tasks() -> None:
    found = harvest(user("Review my changes"), ran("git diff", "src/queue/pay.ts"), says(_REVIEW))
    assert said(found, "tasks_open")[0] == (
        "A retry of a queued payment is lost for ever (`src/queue/pay.ts:24`) (review finding, high)"
    )


def test_a_review_of_somebody_elses_pull_request_is_no_task_of_mine() -> None:
    found = harvest(user("Review PR #12"), ran("gh pr diff 12", "src/queue/pay.ts"), says(_REVIEW))
    assert said(found, "tasks_open") == [] and said(found, "facts") == []


def test_a_finding_that_was_mended_is_no_task() -> None:
    found = harvest(user("Review"), says(_REVIEW), user("fix the first"), edited("src/queue/pay.ts"), says("Done."))
    assert said(found, "tasks_open") == []


def test_an_issue_that_was_updated_is_work_done_without_a_file() -> None:
    call = Turn("tool", "RATE-7", events=(OtherCall(tool="mcp__tracker__update_issue", answered=True),))
    found = harvest(user("Link them"), call, says("RATE-7 is marked as a duplicate of RATE-3."))
    assert said(found, "tasks_done") == ["RATE-7 is marked as a duplicate of RATE-3."]
