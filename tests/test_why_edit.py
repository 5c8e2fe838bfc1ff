"""Which edit a line is said to come from: the one that put it in, in that file and before the commit, and no words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli_call import call
from tests.shop import edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")

LINE = "weigh_each_coin(tray, twice=True)"
ASKED = "The tray must be weighed twice, coins stick to it"


def committed(shop: Path, files: dict[str, str], time: str) -> None:
    """Commit the files at a time of the sessions' day, in any zone."""
    for name, text in files.items():
        (shop / name).parent.mkdir(exist_ok=True)
        (shop / name).write_text(text)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    dates = {"GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time}
    for words in (["add", "--all"], [*who, "commit", "-qm", "Trays"]):
        subprocess.run(["git", *words], cwd=shop, check=True, capture_output=True, env=dates)


def said(words: str, at: int, shop: Path) -> list[dict[str, Any]]:
    return [turn("assistant", [{"type": "text", "text": words}], at, "s9", shop)]


@pytest.mark.parametrize("zone", ["09:10:00+00:00", "11:10:00+02:00"])
def test_an_edit_later_than_the_commit_did_not_write_its_line(shop: Path, zone: str) -> None:
    """The session of the afternoon moved the line, and was named for what the morning's had committed."""
    rows = [turn("user", ASKED, 0, "s9", shop), *edited(shop / "till.py", "pass", LINE, 1, "s9", shop)]
    rows += [turn("user", "Now sort the functions of the till by their names", 20, "s9", shop)]
    kept("s9", [*rows, *edited(shop / "till.py", "import sys", f"import sys\n{LINE}", 21, "s9", shop)])
    committed(shop, {"till.py": f"{LINE}\n"}, f"2026-05-09T{zone}")
    assert f"asked for (turn 1): {ASKED}" in (out := call("why", "till.py:1")[1]), out


def test_the_newest_edit_before_the_commit_wrote_the_line_whichever_session_ended_last(shop: Path) -> None:
    """Of two sessions that wrote a line, the one that went on for longer was taken."""
    first = [turn("user", "Count what lies in the till", 0, "s9", shop)]
    first += edited(shop / "till.py", "pass", LINE, 1, "s9", shop)
    kept("s9", [*first, turn("user", "and what is in the drawer now, after lunch?", 50, "s9", shop)])
    second = [turn("user", ASKED, 10, "s19", shop), *edited(shop / "till.py", "pass", LINE, 11, "s19", shop)]
    kept("s19", second)
    committed(shop, {"till.py": f"{LINE}\n"}, "2026-05-09T09:30:00+00:00")
    assert f"asked for (turn 1): {ASKED}" in (out := call("why", "till.py:1")[1]), out


@pytest.mark.parametrize(
    "later",
    [
        "explained",
        "committed",
        "of another file",
        "by a command in another folder",
        "by a command with the path of another",
    ],
)
def test_only_an_edit_of_the_file_can_have_written_its_line(shop: Path, later: str) -> None:
    """An explanation with the same code, the message of a commit and a file of the same name stood for the edit."""
    shown = f"In `till.py` the tray is now weighed:\n\n```python\n{LINE}\n```\n"
    message = f"cat > /dev/null <<'EOF'\nEOF\ngit commit -qm \"$(cat <<'EOF'\nWeigh in app/till.py\n\n{LINE}\nEOF\n)\""
    elsewhere = f"cd tests && cat > till.py <<'EOF'\n{LINE}\nEOF"
    other = f"cat > tests/till.py <<'EOF'\n{LINE}\nEOF"
    rows = {
        "explained": said(shown, 21, shop),
        "committed": ran(message, "[main 1a2b3c4] Weigh", False, 21, "s9", shop),
        "of another file": edited(shop / "tests" / "till.py", "pass", LINE, 21, "s9", shop),
        "by a command in another folder": ran(elsewhere, "", False, 21, "s9", shop),
        "by a command with the path of another": ran(other, "", False, 21, "s9", shop),
    }[later]
    asked = [turn("user", ASKED, 0, "s9", shop), *edited(shop / "app" / "till.py", "pass", LINE, 1, "s9", shop)]
    kept("s9", [*asked, turn("user", "Explain the new scale of the shop to me once more", 20, "s9", shop), *rows])
    committed(shop, {"app/till.py": f"{LINE}\n"}, "2026-05-09T12:00:00+00:00")
    assert "/s9:2 (" in (out := call("why", "app/till.py:1")[1]), out


def test_a_line_of_which_a_part_was_replaced_is_found(shop: Path) -> None:
    """Nobody had written a line in which one name was put for another everywhere."""
    asked = turn("user", "Call it a saucer wherever the till says tray", 0, "s9", shop)
    given = {"file_path": str(shop / "till.py"), "old_string": "weigh_tray", "new_string": "weigh_saucer"}
    call_of = {"type": "tool_use", "id": "e1", "name": "Edit", "input": {**given, "replace_all": True}}
    back = {"type": "tool_result", "tool_use_id": "e1", "content": "updated"}
    kept("s9", [asked, turn("assistant", [call_of], 1, "s9", shop), turn("user", [back], 2, "s9", shop)])
    committed(shop, {"till.py": "total = weigh_saucer(coins) + rest\n"}, "2026-05-09T12:00:00+00:00")
    assert "asked for (turn 1): Call it a saucer" in (out := call("why", "till.py:1")[1]), out


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("till.py", "git add -A && git commit -qm 'wip'; cat > till.py"),
        ("src/till.py", "cd tests && make; cd ../src && cat > till.py"),
        ("[slug]/till.py", "cat > '[slug]/till.py'"),
        ("my app/till.py", "cat > my\\ app/till.py"),
        ("src/$id.tsx", "cd src && cat > '$id.tsx'"),
    ],
)
def test_a_command_line_that_writes_a_file_is_its_edit(shop: Path, name: str, line: str) -> None:
    """Behind a commit or a second `cd`, or with a bracket in its name, the file was not seen."""
    rows = [turn("user", ASKED, 0, "s9", shop), *ran(f"{line} <<'EOF'\n{LINE}\nEOF", "", False, 1, "s9", shop)]
    kept("s9", rows)
    committed(shop, {name: f"{LINE}\n"}, "2026-05-09T12:00:00+00:00")
    assert "/s9:2 (" in (out := call("why", f"{name}:1")[1]), out


def test_who_wrote_a_line_goes_before_who_later_wrote_a_part_of_it(shop: Path) -> None:
    """A new name put elsewhere into the file stands in the line too, and was told to have written it."""
    wrote = edited(shop / "till.py", "pass", f"total = {LINE} + rest\n\ncount = weigh_coins(tray)", 1, "s8", shop)
    kept("s8", [turn("user", ASKED, 0, "s8", shop), *wrote])
    asked = turn("user", "The drawer must be counted with the new function too", 0, "s9", shop)
    kept("s9", [asked, *edited(shop / "till.py", "weigh_coins", "weigh_each_coin", 1, "s9", shop)])
    committed(shop, {"till.py": f"total = {LINE} + rest\n"}, "2026-05-10T12:00:00+00:00")
    assert f"asked for (turn 1): {ASKED}" in (out := call("why", "till.py:1")[1]), out


def test_a_commit_that_only_takes_lines_away_has_a_writer(shop: Path) -> None:
    """Of a list from which a row went, nothing was known but the commit."""
    committed(shop, {"till.py": f"import sys\n{LINE}\n"}, "2026-05-08T12:00:00+00:00")
    asked = turn("user", "Stop weighing the tray, the new scale does that by itself", 0, "s9", shop)
    kept("s9", [asked, *edited(shop / "till.py", f"import sys\n{LINE}", "import sys", 1, "s9", shop)])
    committed(shop, {"till.py": "import sys\n"}, "2026-05-09T12:00:00+00:00")
    newest = call("why", "till.py")[1].split("2026-05-08")[0]
    assert "asked for (turn 1): Stop weighing the tray" in newest, newest


def test_a_comment_of_two_dashes_that_went_has_a_writer(shop: Path) -> None:
    """In a patch such a row of SQL begins like the head of a file."""
    comment = "-- the till is weighed twice here"
    committed(shop, {"till.sql": f"{comment}\nselect 1;\n"}, "2026-05-08T12:00:00+00:00")
    asked = turn("user", "Drop that comment, the scale is gone", 0, "s9", shop)
    kept("s9", [asked, *edited(shop / "till.sql", f"{comment}\nselect 1;", "select 1;", 1, "s9", shop)])
    committed(shop, {"till.sql": "select 1;\n"}, "2026-05-09T12:00:00+00:00")
    newest = call("why", "till.sql")[1].split("2026-05-08")[0]
    assert "/s9:2 (" in newest, newest


def test_sessions_that_began_after_the_commit_do_not_crowd_out_its_writer(shop: Path) -> None:
    """Only the newest twelve that name a file are read, and all of them had been held since."""
    kept("s1", [turn("user", ASKED, 0, "s1", shop), *edited(shop / "till.py", "pass", LINE, 1, "s1", shop)])
    committed(shop, {"till.py": f"{LINE}\n"}, "2026-05-01T12:00:00+00:00")
    for at in range(12):
        asked = turn("user", "Look at the till.py of the shop, please", 0, f"b{at}-9", shop)
        kept(f"b{at}-9", [asked, turn("assistant", "till.py is long.", 1, f"b{at}-9", shop)])
    assert "/s1:2 (" in (out := call("why", "till.py:1")[1]), out


def test_of_a_message_that_made_two_calls_the_one_of_the_file_wrote_its_line(shop: Path) -> None:
    """The long text of the second was cut, and what the first replaced was taken for it."""
    fill = "\n".join(f"filler_{at} = value_of({at}, one, two)" for at in range(900))
    given = {
        "Edit": {"file_path": str(shop / "other.py"), "old_string": "a", "new_string": "count = 1"},
        "Write": {"file_path": str(shop / "till.py"), "content": f"{fill}\n{LINE}\n{fill}"},
    }
    calls = [{"type": "tool_use", "id": name, "name": name, "input": value} for name, value in given.items()]
    back = [{"type": "tool_result", "tool_use_id": name, "content": "updated"} for name in given]
    asked = turn("user", ASKED, 0, "s9", shop)
    kept("s9", [asked, turn("assistant", calls, 1, "s9", shop), turn("user", back, 2, "s9", shop)])
    committed(shop, {"till.py": f"{fill}\n{LINE}\n{fill}\n"}, "2026-05-09T12:00:00+00:00")
    assert f"asked for (turn 1): {ASKED}" in (out := call("why", "till.py:901")[1]), out


@pytest.mark.parametrize("time", ["2026-05-09T09:10:00+00:00", "2026-05-09T19:10:00+10:00"])
def test_a_time_without_a_zone_may_be_of_any(shop: Path, time: str) -> None:
    """Aider tells the time of the user's clock; a commit made in another zone seemed to be before the edit."""
    swap = f"<<<<<<< SEARCH\npass\n=======\n{LINE}\n>>>>>>> REPLACE"
    told = f"# aider chat started at 2026-05-09 19:00:00\n\n#### {ASKED}\n\ntill.py\n```python\n{swap}\n```\n\n"
    (shop / ".aider.chat.history.md").write_text(f"{told}> Applied edit to till.py\n")
    (shop / ".gitignore").write_text(".aider*\n")
    committed(shop, {"till.py": f"{LINE}\n"}, time)
    assert call("search", "--build", "--quiet")[0] == 0
    assert f"asked for (turn 1): {ASKED}" in (out := call("why", "till.py:1")[1]), out


def test_a_finding_that_names_what_the_line_has_is_its_reason(shop: Path) -> None:
    """A review had said what is wrong in an item without "because", and the line was told to have no reason."""
    found = "`till.weigh_each_coin` calls a scale that shops abroad have not got"
    review = f"The design reads well.\n\n- {found}\n- The tray is long.\n\nShall I mend these points one by one?"
    rows = [turn("user", "Look at the design of the shop, please", 0, "s9", shop), *said(review, 1, shop)]
    kept("s9", [*rows, turn("user", "yes", 2, "s9", shop), *edited(shop / "till.py", "pass", LINE, 3, "s9", shop)])
    committed(shop, {"till.py": f"{LINE}\n"}, "2026-05-09T12:00:00+00:00")
    assert f"reason (assistant, turn 2): {found}" in (out := call("why", "till.py:1")[1]), out


def test_what_was_asked_for_is_told_from_the_summary_of_what_went_before(shop: Path) -> None:
    """The file of a session that had been shortened has no request in it."""
    summary = "This session is being continued from a previous conversation that ran out of context.\n\n"
    summary += f"1. Primary Request and Intent:\n   - {ASKED}\n\n2. Pending Tasks:\n   - Weigh each coin in till.py"
    begun = {**turn("user", summary, 0, "s9", shop), "isCompactSummary": True}
    kept("s9", [begun, *edited(shop / "till.py", "pass", LINE, 1, "s9", shop)])
    committed(shop, {"till.py": f"{LINE}\n"}, "2026-05-09T12:00:00+00:00")
    assert f"from the summary of what went before: - {ASKED}" in (out := call("why", "till.py:1")[1]), out


def test_a_work_tree_is_the_project_of_its_repository(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked in one, the session of the repository was called one of another folder, and did not know a short line."""
    short = "twice = True"
    rows = [turn("user", ASKED, 0, "s9", shop), *edited(shop / "till.py", "pass", short, 1, "s9", shop)]
    kept("s9", rows)
    committed(shop, {"till.py": f"{short}\n"}, "2026-05-09T09:30:00+00:00")
    told = call("why", "till.py:1")[1]
    assert f"asked for (turn 1): {ASKED}" in told
    subprocess.run(["git", "worktree", "add", "-q", "../tree"], cwd=shop, check=True)
    monkeypatch.chdir(shop.parent / "tree")
    assert call("why", "till.py:1")[1] == told
    assert "the limit is 0" in call("why", "till.py", "--limit", "0")[2]


def test_the_first_reply_to_a_request_may_say_why_without_a_word_of_the_line(shop: Path) -> None:
    """It named the file and what has to be so for the request's sake, and the line was told to have no reason."""
    reason = "To make this hold on your other machines, the private drawer needs to be in the tracked `ab.py`."
    rows = [turn("user", "can you set it up so that nobody else sends it to the public", 0, "s9", shop)]
    rows += said(f"{reason} I'll update that file and commit it alone.", 1, shop)
    rows += ran("git status --short", "M sign.svg", False, 2, "s9", shop)
    rows += said("One picture was drawn anew by hand.", 4, shop)
    line = '"strategy_options": {"checkpoint": 3},'
    kept("s9", [*rows, *edited(shop / "ab.py", "pass", line, 5, "s9", shop)])
    committed(shop, {"ab.py": f"{line}\n"}, "2026-05-09T12:00:00+00:00")
    assert f"reason (assistant, turn 2): {reason}" in (out := call("why", "ab.py:1")[1]), out
