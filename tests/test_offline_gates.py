"""What keeps a true but worthless, stale or half sentence out of a harvest: one test for each gate."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, Commit, Compaction, Edit, PullRequest, Push, Question
from core.offline.rules import distil_offline
from tests.test_offline_findings import FEED
from tests.test_offline_sessions import committed, edited, harvest, ran, said, says, user


def by_itself(subject: str, *paths: str, sha: str = "1a2b3c4") -> Turn:
    """A tool that commits each edit without being told."""
    edits = tuple(Edit(tool="aider", path=path, how="changed", answered=True, failed=False) for path in paths)
    return Turn("assistant", f"Edited.\n\nCommit {sha} {subject}", events=(*edits, Commit(subject=subject, hash=sha)))


def saved(subject: str, *paths: str, sha: str = "1a2b3c4") -> Turn:
    turn = by_itself(subject, *paths, sha=sha)
    return replace(turn, events=(*turn.events[:-1], replace(turn.events[-1], succeeded=True)))


# --- commits that a tool makes by itself ---


def test_of_commits_a_tool_made_by_itself_the_last_of_a_file_stands() -> None:
    found = harvest(
        user("Read the rates"),
        saved("Pass the key of the bank to `load_rates()`.", "feed.py", sha="aaaaaa1"),
        user("It fails"),
        saved("Take the date from `rates.xml` in the feed.", "feed.py", sha="aaaaaa2"),
    )
    assert said(found, "tasks_done") == ["Take the date from `rates.xml` in the feed. (in `feed.py`, commit aaaaaa2)"]


def test_a_commit_that_names_a_new_thing_stays_and_what_mends_it_goes() -> None:
    found = harvest(
        user("Add a test"),
        saved("Added a test `test_rates` that reads `feed.py`", "test_feed.py", sha="aaaaaa1"),
        user("It fails"),
        saved("Pass a string to `feed.py`", "test_feed.py", sha="aaaaaa2"),
    )
    told = "Added a test `test_rates` that reads `feed.py` (in `test_feed.py`, commit aaaaaa1)"
    assert said(found, "tasks_done") == [told]


def test_a_commit_of_a_tool_without_an_edit_is_of_something_else() -> None:
    found = harvest(user("Style the page"), saved("Added a note about `index.html`", sha="aaaaaa1"), says("OK"))
    assert said(found, "tasks_done") == []


def test_a_commit_of_a_tool_that_only_changed_a_page_for_readers_is_not_told() -> None:
    """Its message says what was asked, also what the tool did not do."""
    subject = "Updated the arguments of `main()` and README.md to describe them"
    assert said(harvest(user("Describe them"), saved(subject, "README.md"), says("OK")), "tasks_done") == []
    assert len(said(harvest(user("Describe"), saved(subject, "README.md", "main.py"), says("OK")), "tasks_done")) == 1


# --- pushes ---


@pytest.mark.parametrize(
    ("output", "ends"),
    [
        ("Everything up-to-date", "branch feat/rates)"),
        ("   9f9f9f9..8e8e8e8  main -> main", "branch feat/rates)"),
        ("   9f9f9f9..1a2b3c4  feat/rates -> feat/rates", "branch feat/rates, pushed)"),
        (" * [new branch]      feat/rates -> feat/rates", "branch feat/rates, pushed)"),
        (" * [new branch]      HEAD -> feat/rates", "branch feat/rates, pushed)"),
    ],
)
def test_pushed_is_said_of_a_branch_that_moved(output: str, ends: str) -> None:
    words = "git push origin main"
    event = Command(tool="Bash", words=words, answered=True, failed=False, output=output, start=500)
    push = Turn("tool", output, events=(event, Push(words=words, succeeded=True, start=500)))
    found = harvest(user("Round"), edited("rates.py"), committed("fix: round rates to cents"), push)
    assert said(found, "tasks_done")[0].endswith(ends)


# --- work that no commit tells of ---


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        (("README.md",), "Added the steps of the installation to the page `README.md`."),
        (("feed.py",), "Removed the three lines that rejected `--print` together with `--local`."),
        (("feed.py",), "Updated the call of `fetch_rates` in the body of the loop."),
        (("feed.py", "b.py"), "Dropped the names of the banks from the two `--rates` comments."),
        (("feed.py", "b.py"), "Added a trailing newline to what `write_rates` puts out."),
        (("feed.py", "b.py"), "Completed the task of the rates in `feed.py` and `b.py`."),
        (("feed.py", "b.py"), "`feed.py` now includes the following functions"),
        (("plan.md", "b.md"), "`specs/plan.md` now captures the whole strategy of the rates from end to end."),
    ],
)
def test_slight_work_without_a_commit_is_not_told(paths: tuple[str, ...], text: str) -> None:
    found = harvest(user("Go on"), edited(*paths), says(text))
    assert not any(text[:20] in told for told in said(found, "tasks_done")), found


def test_what_is_new_or_whole_is_told_without_a_commit() -> None:
    text = "Removed the plugin `rate-trace` with everything below `plugins/rate-trace`."
    assert said(harvest(user("Go on"), edited("a.py"), says(text)), "tasks_done") == [text]
    text = "Updated the calls of `fetch_rates` to the new order of its arguments."
    assert said(harvest(user("Go on"), edited("a.py", "b.py", "c.py"), says(text)), "tasks_done") == [text]
    both = "- Removed the field `only_local` from `Rates`.\n- Added the flag `--only-local` to `rates show` for tests."
    (row,) = harvest(user("Go on"), edited("a.py", "b.py"), says(both))["tasks_done"]
    assert row["statement"].startswith("Added the flag") and "Removed the field" in row["detail"]


def test_work_is_called_uncommitted_only_where_git_says_so_at_the_end() -> None:
    turns = (user("Cache"), edited("cache.py"))
    end = says("Added a cache to `fetch_rates` that is dropped every hour.")

    def detail(*between: Turn) -> str:
        return harvest(*turns, *between, end)["tasks_done"][0]["detail"]

    assert detail() == "" and detail(ran("git status --short", "")) == ""
    assert detail(ran("git status --short", " M cache.py")) == "not committed when the session ended"
    assert detail(ran("git status --short", " M cache.py"), edited("cache.py")) == ""


def test_work_that_breaks_off_in_an_edit_is_open() -> None:
    last = Turn("tool", "edit", events=(Edit(tool="Edit", path="specs/c.md", how="changed"),))
    found = harvest(user("Fill in the templates"), edited("a.md"), edited("b.md"), edited("b.md"), last)
    assert said(found, "tasks_open") == [
        "Check `specs/c.md` and go on: the session breaks off while it is written, after changes of `a.md`, `b.md`"
    ]
    assert said(harvest(user("Fill in"), edited("a.md"), last), "tasks_open") == []


# --- pull requests ---

_CREATED = 'gh pr create --title "Round the rates of the bank" --body "{}"'


def test_a_box_whose_command_ran_is_not_open() -> None:
    words = _CREATED.format("- [ ] Run `npm test`\n- [ ] Look at the rates on staging")
    url = "https://example.org/m/rates/pull/7"
    event = Command(tool="Bash", words=words, answered=True, failed=False, output=url)
    created = Turn("tool", url, events=(event, PullRequest(url=url)))
    found = harvest(user("Open it"), ran("cd app && npm test", "12 passed"), created)
    assert said(found, "tasks_open")[0].endswith("not ticked off: Look at the rates on staging")
    found = harvest(user("Open it"), ran("npm test", "2 failed", True), created)
    assert any("Run `npm test`" in text for text in said(found, "tasks_open"))


# --- facts ---

_CLASS = "class RateFeed: load_rates save_rates"


@pytest.mark.parametrize(
    "text",
    [
        "Falls back to the rates of yesterday only when `RateFeed` is empty.",
        "Write-once: every row is only written by `RateFeed`, never by hand.".replace(":", " —"),
        "The remote `RateFeed` has no branches and no tags of the old tool.",
    ],
)
def test_a_fact_without_a_subject_or_of_one_look_is_not_told(text: str) -> None:
    looked = ran("cat feed.py", _CLASS)
    assert said(harvest(user("Why?"), looked, edited("a.py", "b.py"), says(text)), "facts") == []


def test_a_cause_stands_without_the_title_of_its_pull_request() -> None:
    text = "PR #7 — fix: load the rates The root cause was that `RateFeed` cached the empty answer of the bank."
    found = harvest(
        user("Fix"), ran("cat feed.py", _CLASS), edited("a.py"), committed("fix: load the rates"), says(text)
    )
    assert said(found, "facts") == ["The root cause was that `RateFeed` cached the empty answer of the bank."]


def test_a_cause_names_what_it_is_about_first() -> None:
    text = "The root cause: falls back to an empty answer of the bank, which broke `RateFeed` on every holiday."
    assert said(harvest(user("Why?"), ran("cat feed.py", _CLASS), says(text)), "facts") == []


def test_trouble_of_the_session_itself_is_no_pitfall() -> None:
    summary = "4. Errors and fixes:\n   - **Task 4 subagent**: It said that it was done before `rates.py` was there.\n"
    compacted = Turn("system", "summary", events=(Compaction(text=summary),))
    assert said(harvest(compacted, says("OK")), "facts") == []


def test_why_something_was_removed_is_no_cause() -> None:
    text = "Summary: Removed the error from `RateFeed` since it always failed with an empty answer."
    assert said(harvest(user("Fix"), ran("cat feed.py", _CLASS), edited("a.py"), says(text)), "facts") == []


def test_what_the_body_of_a_commit_says_is_not_told_again_as_a_fact() -> None:
    body = "`RateFeed` cached the empty answer of the bank, which broke `load_rates` on holidays."
    words = f'git commit -m "fix: empty rates" -m "{body}"'
    line = "[feat/x 1a2b3c4d5] fix: empty rates"
    event = Command(tool="Bash", words=words, answered=True, failed=False, output=line, start=500)
    commit = Turn(
        "tool", line, events=(event, Commit(subject="fix: empty rates", hash="1a2b3c4d5", succeeded=True, start=500))
    )
    looked = ran("cat feed.py", _CLASS)
    assert len(said(harvest(user("Why?"), looked, says(f"The root cause: {body}")), "facts")) == 1
    found = harvest(user("Fix"), looked, edited("a.py"), commit, says(f"The root cause: {body}"))
    assert said(found, "facts") == [] and len(found["tasks_done"]) == 1


# --- answers ---


def test_an_answer_counts_when_a_tool_showed_it_and_nothing_changed_it() -> None:
    asked = user("does `fetch_rates` need the key of the bank?")
    answer = says("No, `fetch_rates` reads the public feed without a key.")
    shown = ran("cat feed.py", "def fetch_rates(): ...")
    assert len(harvest(user("rates"), shown, says("OK"), asked, answer)["facts"]) == 1
    assert harvest(user("rates"), ran("cat tax.py", "def tax(): ..."), says("OK"), asked, answer)["facts"] == []
    later = (user("use a key then"), edited("fetch_rates.py"), says("OK"))
    assert harvest(user("rates"), shown, says("OK"), asked, answer, *later)["facts"] == []
    world = user("do virtual environments count as a part of the program?")
    told = says("No, virtual environments do not count as a part of the program.")
    assert harvest(user("rates"), shown, says("OK"), world, told)["facts"] == []


# --- the user's words ---


def test_a_sentence_that_shows_a_file_is_no_decision() -> None:
    def decided(text: str) -> list[str]:
        return said(harvest(user("rates"), ran("ls"), says("OK"), user(text), edited("a.py"), says("OK")), "decisions")

    assert decided("My routes should be in @routes.py") == []
    assert decided("All routes must be in one file, never spread over @routes.py and the views") != []


def test_what_the_person_needed_otherwise_later_is_no_decision() -> None:
    agreed = says("You're right, `fetch_rates` takes the name of the bank as its constant.")
    wish = user("The name of the bank is not passed in, `fetch_rates` knows it.")
    start = (user("rates"), edited("a.py"), says("Done"), wish, agreed, edited("a.py"), says("OK"))
    assert len(harvest(*start)["decisions"]) == 1
    later = user("I need `fetch_rates` to take the name of the bank, for all of them")
    assert said(harvest(*start, later, edited("a.py"), says("OK")), "decisions") == [later.text]


def test_a_prompt_that_nothing_answered_and_that_names_nothing_is_no_question() -> None:
    first = (user("/add /home/m/rates/feed.py"), Turn("tool", "Added feed.py to the chat"))
    assert harvest(*first, user("is something missing in how I treat the rates of the bank?"))["questions"] == []
    named = user("is something missing in how `load_rates` treats the bank?")
    assert len(harvest(*first, named)["questions"]) == 1


# --- lines that lost what they are about ---


def listed(text: str) -> list[str]:
    """What a harvest tells as done of one closing message."""
    return said(harvest(user("Go on"), edited("feed.py", "bank.py"), says(text)), "tasks_done")


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("Added `load_rates` to the feed, so that Case B reads the bank as well.", True),
        ("Added `load_rates` to the feed for Chunk 5 and its list of the banks.", True),
        ("Added `load_rates` to the feed, as オプションA of the page says.", True),
        ("Added `load_rates` to the feed, which reads all banks in that case too.", False),
        ("Added `load_rates` to the feed for phase 14 of the roadmap of the bank.", False),
    ],
)
def test_work_that_only_a_label_explains_is_not_told(text: str, lost: bool) -> None:
    assert (listed(text) == []) is lost


def test_a_sentence_of_the_detail_that_hangs_on_a_label_is_left_out() -> None:
    both = "- Added the flag `--only-local` to `rates show`.\n- Moved `read_bank` before Case A and Case B of the loop."
    (row,) = harvest(user("Go on"), edited("a.py", "b.py"), says(both))["tasks_done"]
    assert row["statement"].startswith("Added the flag") and "Case A" not in row["detail"]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("The list's checks of `rates.py` have not been run on a second machine yet.", True),
        ("The doc is not yet updated for `rates.py` and its three new flags.", True),
        ("Questo file `rates.py` is not yet covered by a single test of the bank.", True),
        ("これは `rates.py` の上限を見ていないので、まだ対応が必要です。", True),
        ("The list of the banks in `rates.py` has not been updated for next year.", False),
    ],
)
def test_open_work_with_a_pointing_subject_is_not_told(text: str, gone: bool) -> None:
    found = harvest(user("Go on"), FEED, edited("a.py"), says(text))
    assert (said(found, "tasks_open") == []) is gone


def test_a_wish_for_something_instead_says_in_place_of_what() -> None:
    first, second = "let's use the Harbor font for all buttons", "let's use the Meadow font for all buttons instead"
    (row,) = harvest(user(first), says("Done."), user(second), says("Done."))["decisions"]
    assert "Meadow" in row["statement"] and "in place of “Let's use the Harbor font" in row["detail"]
    assert harvest(user("Style it"), says("Done."), user(second), says("Done."))["decisions"] == []


def test_a_request_for_the_same_again_stands_with_the_earlier_one() -> None:
    made = committed("feat: frame the heading of `page.css` in blue", "2b2b2b2b2")
    asked = "please draw the same frame around the heading of the page"
    before = (user("draw a rounded frame in blue around every table"), edited("a.css"), says("OK"))
    (row,) = harvest(*before, user(asked), edited("b.css"), made)["tasks_done"]
    assert row["detail"] == f"asked for: “{asked}”, after “draw a rounded frame in blue around every table”"
    (row,) = harvest(user(asked), edited("b.css"), made)["tasks_done"]
    assert "the same" not in row["detail"]


@pytest.mark.parametrize(
    ("subject", "path", "told"),
    [
        ("fix: rates", "", False),
        ("fix: make it better for everybody here", "", False),
        ("fix(bank): keep private rates remote", "", True),
        ("fix: keep the private rates of the bank", "rates.py", True),
    ],
)
def test_a_title_alone_says_several_words_and_a_named_thing(subject: str, path: str, told: bool) -> None:
    work = (edited(path),) if path else ()
    assert bool(said(harvest(user("Go on"), *work, committed(subject)), "tasks_done")) is told


# --- answers, commands of a tool, general knowledge ---


def test_a_letter_is_paired_with_the_message_before_it_alone() -> None:
    options = "A) keep the table of `rates.py`\nB) a cache by bank\n\nTell me which you prefer."
    asked = user("Make `rates.py` faster for the banks of next year")
    (row,) = harvest(asked, says(options), user("B"), edited("rates.py"), says("OK"))["decisions"]
    assert row["statement"].startswith("For “Make `rates.py` faster") and "cache by bank" in row["statement"]
    later = (says("Done."), user("why so?"), says(options), user("B"), edited("rates.py"), says("OK"))
    assert harvest(asked, *later)["decisions"] == []
    pasted = (says("Done."), user("<log>rates: none today</log>"), *later[2:])
    assert harvest(asked, *pasted)["decisions"] == []


@pytest.mark.parametrize(
    ("question", "told"), [("What should the limit removal cover?", False), ("What should `read_bank` cover?", True)]
)
def test_a_question_about_the_work_in_hand_is_no_decision(question: str, told: bool) -> None:
    asked = Question(asked=((question, "All banks | One bank", "All banks"),), answered=True)
    found = harvest(user("Plan the feed"), Turn("tool", "answers", events=(asked,)), edited("feed.py"), says("OK"))
    assert bool(found["decisions"]) is told


@pytest.mark.parametrize("command", ["/copy-context", "/clear", "/review-rates"])
def test_a_command_of_the_tool_is_no_order(command: str) -> None:
    work = (user("Look at the rates"), FEED, says("They come at noon."))
    order = "add the rates of the second bank to `rates.py`"
    assert len(said(harvest(*work, user(f"/ask {order}")), "tasks_open")) == 1
    assert said(harvest(*work, user(f"{command} {order}")), "tasks_open") == []
    assert said(harvest(*work, user(f"{command} 请把第二家银行的汇率加到 rates.py 里面去")), "tasks_open") == []


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("`RateFeed` reads its rates from `self._cache`, which `load_rates` fills at noon.", True),
        ("In XML (the Extensible Markup Language) an element holds its text and its children.", False),
        ("`RateFeed` fills `self._cache` at lines ~40-48, as `load_rates` does at noon.", False),
    ],
)
def test_an_answer_is_a_fact_where_it_names_something_of_the_project(first: str, told: bool) -> None:
    shown = ran("cat feed.py", "class RateFeed: self._cache = load_rates()  # XML")
    found = harvest(user("where do the rates come from?"), shown, says(first))
    assert bool(said(found, "facts")) is told


def test_where_no_edits_are_told_an_answer_is_stale_once_the_same_is_spoken_of_again() -> None:
    first = "`RateFeed` reads its rates from `self._cache`, which `load_rates` fills at noon."
    asked = (user("where do they come from?"), Turn("tool", "class RateFeed: self._cache = load_rates()"), says(first))

    def facts(later: str) -> list[str]:
        turns = (*asked, user("And the ledger, please"), says(later))
        arrays = distil_offline(Conversation("s1", "specstory", turns))
        return [row["statement"] for row in arrays["facts"]]

    assert facts("The ledger asks `RateFeed` too.") == [first]
    assert facts("The ledger lets `RateFeed` and `load_rates` write to `self._cache` at six.") == []


def test_an_answer_about_a_file_that_was_edited_afterwards_is_no_fact() -> None:
    shown = ran("cat feed.py", "class RateFeed: self._cache = load_rates()")
    first = "`RateFeed` reads its rates from `self._cache`, which `load_rates` fills at noon."
    answer = says(f"{first}\n\nIt stands in `feed.py`.")
    assert len(said(harvest(user("where do they come from?"), shown, answer), "facts")) == 1
    assert said(harvest(user("where do they come from?"), shown, answer, user("ok"), edited("feed.py")), "facts") == []
