"""What the assistant and its tools tell of a session: causes, quirks, open work, what commits say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, Commit, Edit, PullRequest
from core.harvest.distil import borne_out
from core.offline.closing import request_of
from core.offline.reviews import NUMBERS
from core.offline.rules import distil_offline
from tests.cpu_time import grows_faster
from tests.test_offline_recurring import session
from tests.test_offline_sessions import committed, edited, harvest, ran, said, says, user

FEED = ran("cat feed.py", "class RateFeed: def load_rates(self): return self._cache")


# --- causes ---


def test_a_cause_is_told_with_the_sentences_that_explain_it() -> None:
    text = (
        "## Root cause\n\n`RateFeed` was keeping the empty answer of the bank. `load_rates` then returned it for a "
        "day.\n\nThe fix is small."
    )
    (fact,) = harvest(user("Why is the table empty?"), FEED, says(text))["facts"]
    assert fact["statement"] == (
        "`RateFeed` was keeping the empty answer of the bank. `load_rates` then returned it for a day."
    )
    assert fact["detail"] == "", "that nothing mended it nobody can know"


def test_what_a_cause_points_at_is_told_with_it_or_it_is_not_told() -> None:
    points = "When these methods race, `RateFeed` loses its lock, causing the failure."
    led = f"Two methods share the lock of `RateFeed`:\n\n- `load_rates`\n- `save_rates`\n\n{points}"
    assert said(harvest(user("Why?"), FEED, says(led)), "facts") == [
        f"Two methods share the lock of `RateFeed`. {points}"
    ]
    assert said(harvest(user("Why?"), FEED, says(points)), "facts") == []


@pytest.mark.parametrize(
    "text",
    [
        "The root cause is well-understood and `RateFeed` is the right place.",
        "The problem is the indentation of `RateFeed`, which broke the class.",
        "The issue is that `RateFeed` only checks if:",
        "The cause: your `RateFeed` may be stale.",
    ],
)
def test_praise_slips_and_halves_are_no_causes(text: str) -> None:
    assert said(harvest(user("Why?"), FEED, says(text)), "facts") == []


def test_a_cause_says_what_mended_it_only_where_that_names_the_same() -> None:
    cause = says("The root cause is that `RateFeed` cached the empty answer of the bank.")
    done = "Changed `RateFeed` to keep no empty answer of a bank any more."
    other = (edited("tax.py"), says("Added a column for the `TaxTable` of next year to the report."))
    mended = (user("Mend it"), FEED, edited("feed.py"), says(f"{cause.text}\n\n{done}"))
    (fact,) = harvest(*mended)["facts"]
    assert fact["detail"].startswith("mended in the session: Changed `RateFeed`")
    for later in (
        "The rates of noon are still stale.",
        "昼のレートはまだ古いです。",
        "Die Raten sind immer noch falsch.",
    ):
        (fact,) = harvest(*mended, user("And now?"), says(later))["facts"]
        assert fact["detail"] == "", later
    found = harvest(user("Why?"), FEED, cause, user("Now the taxes"), *other)
    assert found["facts"][0]["detail"] == ""
    found = harvest(user("Why?"), FEED, cause, user("Mend it"), edited("feed.py"), says(done))
    assert found["facts"] == [], "a finding that was worked on afterwards tells of yesterday"


def test_what_the_person_pasted_bears_a_cause_out() -> None:
    cause = says("The root cause is that `RateFeed` cached the empty answer of the bank.")
    pasted = user("It fails with this:\n" + "RateFeed: no rates for today\n" * 10)
    assert len(said(harvest(pasted, cause), "facts")) == 1
    assert said(harvest(user("RateFeed fails"), cause), "facts") == []


# --- what an answer says first ---


def test_what_an_answer_says_first_of_ones_own_code_is_a_fact() -> None:
    first = "`RateFeed` reads its rates from `self._cache`, which `load_rates` fills at noon."
    text = f"{first} The bank is asked once a day."
    asked = (user("where do the rates come from?"), FEED)
    assert said(harvest(*asked, says(text)), "facts") == [first]
    assert said(harvest(*asked, says(text), user("no, that's wrong")), "facts") == []
    assert said(harvest(*asked, says(text), user("ask it twice"), edited("RateFeed.py"), says("OK")), "facts") == []
    assert said(harvest(user("Go on"), FEED, says(text)), "facts") == [], "nobody asked"
    assert said(harvest(*asked, says("`TaxTable` reads its taxes from `self._taxes`.")), "facts") == [], (
        "no tool said so"
    )


# --- linters, machines, tools ---

LINT = "make lint"
REJECTED = "feed.py:12:5: S310 Audit URL open for permitted schemes (bandit)"


def noted(path: str, text: str) -> Turn:
    edit = Edit(tool="Edit", path=path, how="changed", answered=True, failed=False)
    return Turn("tool", f"Edit {path}\nnew_string: {text}", events=(edit,))


def test_a_rule_of_a_linter_is_told_with_the_comment_that_passes() -> None:
    comment = noted("feed.py", "urlopen(url)  # noqa: S310 the address is ours")
    found = harvest(user("Lint"), ran(LINT, REJECTED, True), comment, ran(LINT, "All checks passed"))
    (fact,) = found["facts"]
    assert fact["statement"] == (
        "`make lint` rejects “S310 Audit URL open for permitted schemes (bandit)”; "
        "here it passes with `# noqa: S310 the address is ours`"
    )
    assert fact["quote"] == REJECTED and fact["kind"] == "tool-quirk"


def test_a_comment_that_did_not_help_or_that_nobody_asked_for_is_not_told() -> None:
    comment = noted("feed.py", "urlopen(url)  # noqa: S310 the address is ours")
    assert harvest(user("Lint"), ran(LINT, REJECTED, True), comment, ran(LINT, REJECTED, True))["facts"] == []
    assert harvest(user("Lint"), ran(LINT, "All checks passed"), comment)["facts"] == []


ENGINE = "ERR_PNPM_UNSUPPORTED_ENGINE  Unsupported environment\n\nExpected version: >=20.0.0\nGot: v14.16.0"


def test_a_machine_that_cannot_run_a_command_is_told_with_the_versions() -> None:
    (fact,) = harvest(user("Test"), ran("pnpm test", ENGINE, True))["facts"]
    assert fact["statement"].startswith("`pnpm test` fails on this machine (“ERR_PNPM_UNSUPPORTED_ENGINE")
    assert "Expected version: >=20.0.0; Got: v14.16.0" in fact["statement"]
    assert fact["statement"].endswith("nothing in the session made it work")
    cured = harvest(user("Test"), ran("pnpm test", ENGINE, True), ran("nvm exec 20 pnpm test", "12 passed"))
    assert cured["facts"][0]["statement"].endswith("`nvm exec 20 pnpm test` works")


def test_a_limitation_of_a_tool_that_was_run_needs_no_second_session() -> None:
    text = "The undefined names are a golangci-lint limitation for a single file."
    ran_it = ran("golangci-lint run rates.go", "rates.go:3:1: undefined: Rates")
    assert said(harvest(user("Lint"), ran_it, says(text), says("Done.")), "facts") == [text]
    assert said(harvest(user("Lint"), ran("go build", ""), says(text), says("Done.")), "facts") == []


def test_a_remark_counts_only_when_somebody_named_the_tool(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    borne_out(session("a", "The diagnostics are stale and show the old errors."), file)
    assert borne_out(session("b", "The diagnostics are stale and show the old errors again."), file).get("facts") == []
    (fact,) = borne_out(session("c", "The gopls diagnostics are stale and show errors."), file)["facts"]
    assert fact["statement"] == "The gopls diagnostics are stale and show errors."


# --- what commits, pull requests and issues say of themselves ---


def with_message(message: str, subject: str) -> Turn:
    words = f"git commit -m \"$(cat <<'EOF'\n{message}\nEOF\n)\""
    commit = Commit(subject=subject, hash="1a2b3c4d5", succeeded=True)
    event = Command(tool="Bash", words=words, answered=True, failed=False, output=f"[feat/x 1a2b3c4d5] {subject}")
    return Turn("tool", event.output, events=(event, commit))


def test_the_body_of_a_commit_is_its_detail_without_the_trailers() -> None:
    message = (
        "fix: round `rates` to cents\n\nThe bank sends five digits and the ledger\nkeeps two.\n\n- round half to even\n"
        "- old rows stay\n\nCo-Authored-By: A Tool <tool@example.org>"
    )
    done = harvest(
        user("Round"), edited("rates.py"), with_message(message, "fix: round `rates` to cents"), says("Done.")
    )["tasks_done"]
    assert done[0]["detail"] == "The bank sends five digits and the ledger keeps two. round half to even; old rows stay"


def test_a_long_body_of_a_commit_ends_with_a_sentence_and_never_within_a_list() -> None:
    """A list that breaks off reads as if it were whole."""
    first = "The bank sends five digits and the ledger keeps two of them in each row."
    listed = "\n".join(f"- #{at} round the table of the {at}th branch of the bank to cents" for at in range(12))
    message = f"fix: round `rates`\n\n{first}\n\n{listed}"
    done = harvest(user("Round"), edited("rates.py"), with_message(message, "fix: round `rates`"), says("Done."))
    assert done["tasks_done"][0]["detail"] == first


def test_a_closing_message_about_other_work_is_not_glued_to_a_commit() -> None:
    other = says("Added a column for the taxes of next year, `tax_column`, as it was asked for.")
    work = (edited("report.html"), other, user("Round"), edited("rates.py"), committed("fix: round `rates` to cents"))
    assert [row["detail"] for row in harvest(user("Report"), *work)["tasks_done"]] == ["in `rates.py`"]


def test_a_commit_of_a_tool_without_a_word_is_no_work_but_one_that_says_more_is() -> None:
    bare = with_message("checkpoint: rates", "checkpoint: rates")
    assert said(harvest(user("Round"), edited("rates.py"), bare, says("Done.")), "tasks_done")[:1] != [
        "checkpoint: rates (commit 1a2b3c4d, not pushed in the session)"
    ]
    told = with_message("checkpoint: rates\n\nRounded by bank, the ledger is next.", "checkpoint: rates")
    assert said(harvest(user("Round"), edited("rates.py"), told, says("Done.")), "tasks_done")[0].startswith(
        "checkpoint: rates (commit 1a2b3c4d"
    )


@pytest.mark.parametrize("subject", ["fix: typos in `rates.py`", "Add missing docstrings to `rates.py`"])
def test_small_repairs_are_not_told_as_work(subject: str) -> None:
    found = harvest(user("Go on with rates.py"), edited("rates.py"), committed(subject), says("Done."))
    assert not any(subject in text for text in said(found, "tasks_done"))


def test_what_was_replaced_or_deleted_again_is_not_told_as_done() -> None:
    first, later = (
        committed("Call `load_rates()` with a timeout"),
        committed("Replace `load_rates()` with `feed()`", "9f9f9f9"),
    )
    found = harvest(user("Load"), edited("feed.py"), first, edited("feed.py"), later)
    assert [text.split(" (")[0] for text in said(found, "tasks_done")] == ["Replace `load_rates()` with `feed()`"]
    gone = (edited("feed.py"), committed("feat: a feed of rates"), ran("rm feed.py"))
    assert said(harvest(user("Feed"), *gone), "tasks_done") == []


def test_a_tryout_of_the_tool_is_no_work() -> None:
    text = "Created `docs/geese.md` with an overview of geese and where they live."
    found = harvest(user("write a file about geese"), edited("docs/geese.md"), says(text))
    assert said(found, "tasks_done") == []


def pull_request(body: str, title: str = "Round rates to cents", words: str = "gh pr create") -> Turn:
    url = "https://example.org/m/rates/pull/7"
    line = f'{words} --title "{title}" --body "$(cat <<\'EOF\'\n{body}\nEOF\n)"'
    event = Command(tool="Bash", words=line, answered=True, failed=False, output=url)
    return Turn("tool", url, events=(event, PullRequest(url=url)))


def test_a_pull_request_says_how_things_are_and_what_is_not_checked() -> None:
    body = (
        "## Summary\n\n- `load_rates()` no longer rounds by itself\n- Add a test\n\n## Test plan\n\n- [x] unit tests\n"
        "- [ ] Compare the ledger of March on staging"
    )
    found = harvest(user("Round"), edited("rates.py"), committed("Round rates to cents"), pull_request(body))
    assert said(found, "facts") == ["`load_rates()` no longer rounds by itself"]
    assert "not ticked off: Compare the ledger of March on staging" in said(found, "tasks_open")[0]
    alone = harvest(user("Open it"), ran("git status", "clean"), pull_request("- a summary"))
    assert said(alone, "tasks_done") == ["Round rates to cents (https://example.org/m/rates/pull/7)"]


def test_an_issue_that_was_opened_is_open_until_it_is_closed() -> None:
    words = 'gh issue create --title "Rates of Sunday are missing" --body "The bank sends none."'
    opened = ran(words, "https://example.org/m/rates/issues/12")
    assert said(harvest(user("File it"), opened), "tasks_open") == [
        "Rates of Sunday are missing (https://example.org/m/rates/issues/12)"
    ]
    assert said(harvest(user("File it"), opened, ran("gh issue close 12", "closed")), "tasks_open") == []


# --- what is so from now on ---


def test_how_things_are_now_is_work_that_was_done() -> None:
    text = "All handlers now use `load_rates()` instead of `fetch()`."
    assert said(harvest(user("Use it"), edited("rates.py", "feed.py"), says(text)), "tasks_done") == [text]
    text = "All tests of `rates.py` are now green."
    assert said(harvest(user("Use it"), edited("rates.py"), says(text)), "tasks_done") == []
    listed = "## What changed\n\n- `rates show` prints the local table when there is no network"
    assert said(harvest(user("Use it"), edited("rates.py"), says(listed)), "tasks_done") == [
        "`rates show` prints the local table when there is no network (in `rates.py`)"
    ]


def test_work_stays_told_where_a_guess_follows_in_its_sentence() -> None:
    text = "Added `load_rates` to `feed.py`, which should make the nightly run shorter."
    assert said(harvest(user("Add it"), edited("feed.py"), says(text)), "tasks_done") == [text]


# --- open work ---

REVIEW = (
    "## Review\n\n### 1. Silent error in `load_rates` (medium)\n\nWhen the bank sends nothing, `load_rates` returns "
    "the rates of last year.\n\n### 2. Missing lock in `save_rates`\n\nTwo writers of `save_rates` overwrite each "
    "other.\n"
)


def test_numbered_findings_stay_open_when_nobody_speaks_of_them() -> None:
    found = harvest(user("Review my branch"), FEED, says(REVIEW))
    assert [text.split(":")[0] for text in said(found, "tasks_open")] == [
        "Silent error in `load_rates` (medium)",
        "Missing lock in `save_rates`",
    ]
    mended = (user("Mend the lock"), edited("rates.py"), says("Added a lock to `save_rates` for the writers."))
    found = harvest(user("Review my branch"), FEED, says(REVIEW), *mended)
    assert [text.split(":")[0] for text in said(found, "tasks_open")] == ["Silent error in `load_rates` (medium)"]
    other = (user("Only the taxes"), edited("tax.py"), says("Added a column to `tax.py` for the report."))
    found = harvest(user("Review my branch"), FEED, says(REVIEW), *other)
    assert not any("save_rates" in text for text in said(found, "tasks_open")), "the user chose what to mend"
    found = harvest(user("Review"), FEED, says(REVIEW), user("`load_rates` and `save_rates` are fine"), says("Good."))
    assert said(found, "tasks_open") == []


WISHED = (
    "Sound work.\n\n## Most important improvements (in order)\n\n1. **(12) Give `load_rates` a time limit.** The bank "
    "never answers on Sundays.\n2. **Split `self._cache` by currency** (finding 7). A rate of `RateFeed` is "
    "lost otherwise.\n"
    "3. **(3) Rename `RateFeed`**, which reads better.\n4. Optional: cache `load_rates` in `self._cache` for a day.\n"
)


@pytest.mark.parametrize(
    ("later", "open_"),
    [
        ((), ["Give `load_rates`", "Split `self._cache`"]),
        ((user("Do 12"), edited("tax.py"), says("Done.")), ["Split `self._cache`"]),
        ((user("Leave 7 for now"),), ["Give `load_rates`"]),
        ((user("Do 3"), edited("rates.py"), says("Added a time limit to `load_rates`.")), ["Split `self._cache`"]),
        ((user("Do 3"), edited("load_rates.py"), says("Done.")), ["Split `self._cache`"]),
        ((user("Go on"), edited("tax.py"), says("Done.")), []),
        ((user("What about the taxes?"), says("`tax.py` has none.")), ["Give `load_rates`", "Split `self._cache`"]),
    ],
    ids=[
        "nothing was done",
        "chosen by its number",
        "put off by its number",
        "told as done",
        "written",
        "work without a choice",
        "spoken of other things",
    ],
)
def test_what_a_review_wants_first_is_open_until_somebody_chose_or_did_it(
    later: tuple[Turn, ...], open_: list[str]
) -> None:
    found = said(harvest(user("Review the feed"), FEED, says(WISHED), *later), "tasks_open")
    assert [text.split(" ")[:2] for text in found] == [text.split(" ") for text in open_]


def test_what_nobody_saw_or_a_list_of_ideas_asks_for_is_no_open_work() -> None:
    other = ran("cat tax.py", "class Tax: pass")
    assert said(harvest(user("Review the feed"), other, says(WISHED)), "tasks_open") == [], (
        "no tool has shown any of it"
    )
    ideas = f"{WISHED}\n## Risks\n\n- All is well."
    assert said(harvest(user("Review the feed"), FEED, says(ideas)), "tasks_open") == []
    made = harvest(user("Make the feed"), FEED, edited("feed.py"), says(WISHED))
    assert said(made, "tasks_open") == [], "what could be done next after work is an idea"


def test_open_work_below_a_heading_stands_beside_the_findings_of_a_review() -> None:
    text = f"{WISHED}\n## Recommended follow-ups\n\n- Load `rates.db` again after the bank's holiday\n"
    found = said(harvest(user("Review the feed"), FEED, says(text)), "tasks_open")
    assert found[-1] == "Load `rates.db` again after the bank's holiday"
    again = f"{WISHED}\n## Not done\n\n- Give `load_rates` a time limit, the bank never answers on Sundays\n"
    assert sum("time limit" in text for text in said(harvest(user("Review"), FEED, says(again)), "tasks_open")) == 1


BLOCKED = "## Not done\n\n- (12) `load_taxes` does not write `tax.db` and `ledger.csv` yet\n"
GO_ON = (user("Go on"), edited("page.html"))


@pytest.mark.parametrize(
    ("left", "later", "is_open"),
    [
        (BLOCKED, (), True),
        (BLOCKED, (*GO_ON, says("Added a column to `page.html`.")), True),
        (BLOCKED, (*GO_ON, says("Mind that `load_taxes` belongs to the bank.")), False),
        ("Wired `tax.py` to the timer, but `load_taxes` was not run against the bank.", (), True),
        ("Wired `tax.py` to the timer, but it was not run.", (), False),
        ("Wired `tax.py` to the timer, but the tests of `core/taxes.py` have not been run.", (), True),
        ("The table of `taxes.sql` has not been touched yet, so `load_taxes` is still missing.", (), True),
        ("## What was not done\n\n- `load_taxes` keeps the answer of the bank for a day\n", (), True),
        ("## Not affected\n\n- `load_taxes` keeps the answer of the bank for a day\n", (), False),
        ("## Not needed\n\n- `load_taxes` keeps the answer of the bank for a day\n", (), False),
        ("## No blockers\n\n- `load_taxes` keeps the answer of the bank for a day\n", (), False),
        ("Not a bug: `load_taxes` keeps the answer of the bank for a day", (), False),
        ("## Not done\n\n- `load_taxes` was left untouched, as were its tests\n", (), False),
        ("## Not done\n\n- Re-run `load_taxes` when the bank is open again\n", (), False),
    ],
)
def test_what_is_left_is_open_until_it_is_spoken_of_again(left: str, later: tuple[Turn, ...], is_open: bool) -> None:
    found = said(harvest(user("Load the taxes of the bank"), FEED, says(left), *later), "tasks_open")
    assert bool(found) == is_open
    assert not any("(12)" in text for text in found), "the number means nothing outside the message"
    assert not any("Wired" in text for text in found), "what was done is told elsewhere"


def test_what_a_review_says_is_not_tested_is_not_left_once_work_went_on() -> None:
    text = f"`RateFeed` is not tested for the days on which the bank is shut.\n\n{WISHED}"
    assert len(said(harvest(user("Review the feed"), FEED, says(text)), "tasks_open")) == 3
    assert (
        len(said(harvest(user("Review the feed"), FEED, says(text), user("Do 3"), *GO_ON, says("Fine.")), "tasks_open"))
        == 2
    )


def test_a_picture_that_was_pasted_is_no_request() -> None:
    assert request_of("[Image: source: /home/m/pictures/of/the/rates/of/a/bank/that/is/made-up/rates.png]") == ""
    assert request_of("Load the made-up rates of the bank in a table") != ""


def test_of_much_that_is_left_the_newest_stands() -> None:
    days = ("Monday", "Tuesday", "Friday", "Saturday", "Sunday")
    turns = [part for day in days for part in (user("Go on"), says(f"## Blocked\n\n- `{day}.csv` has not been loaded"))]
    found = said(harvest(FEED, *turns), "tasks_open")
    assert found == [f"`{day}.csv` has not been loaded" for day in days[1:]]


def test_a_sentence_of_what_is_left_that_leans_on_the_one_before_stands_with_it() -> None:
    text = "The tests of `load_rates` use a made-up bank. This is out of scope here and left for later."
    found = said(harvest(user("Round"), edited("feed.py"), says(f"Rounded `feed.py`.\n\n{text}")), "tasks_open")
    assert found == [text]


def test_a_weak_point_that_nobody_came_back_to_is_open() -> None:
    text = "## Risks\n\n- `RateFeed` writes `rates.db` without a lock and loses rows\n- It is fine otherwise"
    found = harvest(user("Assess the design"), FEED, says(text), user("thanks"), says("Gladly."))
    assert said(found, "tasks_open") == ["`RateFeed` writes `rates.db` without a lock and loses rows"]
    mended = (user("Mend it"), edited("feed.py"), says("Locked `rates.db` while `RateFeed` writes."))
    assert said(harvest(user("Assess the design"), FEED, says(text), *mended), "tasks_open") == []


@pytest.mark.parametrize(
    "text",
    [
        "## Next steps\n\n- Deploy `feed.py` to staging and compare the ledger",
        "You'll need to install `ratelib` before you run `feed.py`.",
        "Note: `feed.py` asks for a password, which has not been set up to be run by a timer.",
        "The pages of `rates.html` and `tax.html` don't need to be changed.",
        "Once #175 merges to main, the field names of `rates.py` are the same everywhere.",
    ],
)
def test_advice_and_what_needs_no_work_are_no_open_task(text: str) -> None:
    """Who reads a list of what is open looks for work, not for how to use what was made."""
    found = harvest(user("Round the rates"), edited("feed.py"), says(f"Rounded the rates in `feed.py`.\n\n{text}"))
    assert said(found, "tasks_open") == []


def test_conflicts_of_a_merge_that_was_aborted_are_not_open() -> None:
    conflict = "Automatic merge failed; fix conflicts and then commit the result."
    first, abort = ran("git merge origin/main", conflict), ran("git merge --abort")
    assert said(harvest(user("Merge"), first, abort), "tasks_open") == []
    second = ran("git merge origin/feat/parent --no-commit 2>&1 || true", conflict)
    found = harvest(
        user("Merge"), first, abort, second, edited("rates.py"), says("The conflicts of `rates.py` are gone.")
    )
    assert said(found, "tasks_open")[0].startswith("Commit the conflicts of `git merge origin/feat/parent` on branch")


def test_checks_that_ran_are_told_without_an_edit_too() -> None:
    asked = user("Review, then run pnpm lint and pnpm test")
    found = harvest(asked, ran("pnpm lint", "ok"), ran("pnpm test", "12 passed"), says("Fine."))
    assert [row["steps"] for row in found["playbooks"]] == ["pnpm lint -> pnpm test"]


# --- lines that hold more of a message ---


def test_how_things_behave_since_a_change_stands_behind_what_was_done() -> None:
    text = (
        "Added the class `RateFeed` (in `feed.py`).\n\n- `load_rates` no longer asks the bank twice a day.\n"
        "- `load_rates` documents the trade-off.\n"
    )
    done = harvest(user("Move the rates"), edited("feed.py"), says(text))["tasks_done"]
    assert [("no longer asks the bank" in row["detail"], "documents" in row["detail"]) for row in done] == [
        (True, False)
    ]
    alone = harvest(user("Go on"), edited("feed.py"), says("All set.\n\n- `load_rates` no longer asks the bank twice."))
    assert alone["tasks_done"] == [], "without what was done it is no work"


def test_open_work_behind_a_label_is_open_work() -> None:
    text = "Rounded the rates in `feed.py`.\n\nResidual risk: `load_rates` was never tried against the live bank feed."
    found = harvest(user("Round the rates"), edited("feed.py"), says(text))
    assert said(found, "tasks_open") == ["Residual risk: `load_rates` was never tried against the live bank feed."]


def test_a_chat_gives_no_fact_of_what_its_assistant_says_of_code() -> None:
    """It never saw the user's machine: what it says of their files it guesses, also beside a sandbox's output."""
    text = "`RateFeed` reads its rates from `self._cache`, which `load_rates` fills at noon."
    turns = (user("where do the rates come from?"), FEED, says(text))
    facts = [distil_offline(Conversation("s1", tool, turns))["facts"] for tool in ("codex", "chatgpt", "claude_ai")]
    assert [len(rows) for rows in facts] == [1, 0, 0]


@pytest.mark.parametrize(("later", "left"), [("Now bump it to v3.14 for 127.0.0.3", 1), ("Do 3.", 0), ("#3 and 4", 0)])
def test_only_the_number_of_a_point_is_an_answer_to_it(later: str, left: int) -> None:
    point = "Give `load_rates` a time limit, the bank never answers on Sundays"
    text = f"## Recommendations\n\n1. (finding 3) {point}\n2. (finding 7) Split `RateFeed` into a reader and a cache"
    found = said(harvest(user("Review the feed"), FEED, says(text), user(later), says("Well.")), "tasks_open")
    assert sum("time limit" in text for text in found) == left


def test_the_clause_that_is_open_is_not_cut_within_a_name() -> None:
    text = "Wired the timer; the tests of `core/taxes.py` have not been run."
    found = said(harvest(user("Load the taxes"), FEED, says(text)), "tasks_open")
    assert found == ["The tests of `core/taxes.py` have not been run"]


def test_blanks_before_the_number_of_a_point_cost_no_more_than_words() -> None:
    assert not grows_faster(
        lambda: NUMBERS.search("a" + " " * 1000 + "b"), lambda: NUMBERS.search("a" + " " * 16_000 + "b"), 40
    )
