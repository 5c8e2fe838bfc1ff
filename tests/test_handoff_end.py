"""What a hand-off says of how a session ended and what it left undone, of which session of a history, and how long it
takes."""

from __future__ import annotations

import cProfile
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.conversations.read import read_conversation
from core.rules.handoff import handoff
from core.rules.session import read_session
from tests.cli_call import call
from tests.shop import edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


def of_tool(name: str, given: Mapping[str, object], back: str, at: int, shop: Path, failed: bool = False) -> list[Any]:
    """A call of any tool of Claude Code in session s9, and what came back."""
    call_of = {"type": "tool_use", "id": f"c{at}", "name": name, "input": given}
    result = {"type": "tool_result", "tool_use_id": f"c{at}", "content": back, "is_error": failed}
    return [turn("assistant", [call_of], at, "s9", shop), turn("user", [result], at + 1, "s9", shop)]


def said(text: str, at: int, shop: Path) -> list[Any]:
    return [turn("assistant", [{"type": "text", "text": text}], at, "s9", shop)]


STEPS = [("Count the drawers", "completed"), ("Mend the scale", "in_progress"), ("Write the notes", "pending")]
MISSED = "<tool_use_error>String to replace not found</tool_use_error>"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit"


def broken_off(kind: str, shop: Path) -> list[Any]:
    todos = {"todos": [{"content": text, "status": state} for text, state in STEPS]}
    plan = {"plan": "# Mend the scale\n\nFirst the tray."}
    return {
        "work": ran("make scale", "weighing", False, 1, "s9", shop),
        "steps": of_tool("TodoWrite", todos, "Todos have been modified", 1, shop),
        "edit": of_tool("Edit", {"file_path": f"{shop}/scale.py"}, MISSED, 1, shop, failed=True),
        "check": ran("make test", "2 failed, 3 passed", True, 1, "s9", shop),
        "plan": of_tool("ExitPlanMode", plan, "User has approved your plan.", 1, shop),
        "refused": of_tool("Bash", {"command": "make wipe"}, REFUSED, 1, shop, failed=True),
        "items": said("Left:\n\n- [ ] Ship the scale to all shops\n- [ ] Ship the scale\n", 1, shop),
        "asked": [*said("Shall I?", 1, shop), turn("user", "ja", 2, "s9", shop)],
        "dropped": [
            *of_tool("TaskCreate", {"subject": "Cut the tray"}, "Task #1 created successfully: Cut the tray", 1, shop),
            *of_tool("TaskCreate", {"subject": "Oil it"}, "Task #2 created successfully: Oil it", 3, shop),
            *of_tool("TaskUpdate", {"taskId": "1", "status": "deleted"}, "Updated task #1 status", 5, shop),
        ],
        "loud": [*said("It is mended.", 1, shop), turn("user", "!! it is broken again, mend it", 2, "s9", shop)],
        "path": [*said("It is mended.", 1, shop), turn("user", "/srv/till.py is broken, mend it", 2, "s9", shop)],
        "said": [
            *edited(shop / "b.py", "a", "b", 1, "s9", shop),
            *said("The tray is too wide. Let me cut it.", 3, shop),
        ],
        "plain": [*edited(shop / "b.py", "a", "b", 1, "s9", shop), *said("I'll add the test.", 3, shop)],
        "numbers": [
            *of_tool("TaskCreate", {"subject": "Cut the tray"}, "Task #1 created successfully: Cut the tray", 1, shop),
            *of_tool("TaskCreate", {"subject": "Oil it"}, "Task #2 created successfully: Oil it", 3, shop),
            *of_tool("TaskUpdate", {"taskId": "1", "status": "completed"}, "Updated task #1 status", 5, shop),
        ],
    }[kind]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("work", "breaks off at work: behind `make scale` (turn 2) the assistant said nothing more"),
        ("steps", "list of steps (1 of 3 are): “Mend the scale” (in_progress); “Write the notes”\n"),
        ("edit", "scale.py` failed (turn 2) and was not made later: String to replace not found\n"),
        ("check", "- `make test` failed when it ran last (turn 2)"),
        ("plan", "breaks off at work: behind `ExitPlanMode` (turn 2) the assistant said nothing more"),
        ("plan", "- the plan of turn 2 was approved, and nothing was written or run behind it"),
        ("refused", "- the user refused `make wipe` (turn 2)"),
        ("dropped", "list of steps (0 of 1 are): “Oil it”\n"),
        ("loud", "- the last request was not answered: “!! it is broken again, mend it”"),
        ("path", "- the last request was not answered: “/srv/till.py is broken, mend it”"),
        ("items", "- Ship the scale\n"),
        ("asked", "- the last request was not answered: “ja”"),
        ("said", "ends as the assistant announces “Let me cut it.”"),
        ("plain", "ends as the assistant announces “I'll add the test.”"),
        ("numbers", "list of steps (1 of 2 are): “Oil it”\n"),
    ],
)
def test_a_hand_off_says_how_a_session_broke_off_and_what_it_left(shop: Path, kind: str, told: str) -> None:
    """Who goes on took it for done, for the assistant's last words say nothing of what came behind them."""
    begun = turn("user", "Mend the scale of the shop so that it weighs the coins", 0, "s9", shop)
    rows = [begun, *broken_off(kind, shop)]
    kept("s9", rows)
    assert told in (out := call("handoff", "s9")[1]), out
    done = {
        "edit": edited(shop / "scale.py", "a", "b", 5, "s9", shop),
        "check": ran("make test", "", False, 5, "s9", shop),
    }
    again = done.get(kind, edited(shop / "tray.py", "a", "b", 5, "s9", shop))
    kept("s9", [*rows, *again, *said("The scale weighs the coins.", 9, shop)])
    out = call("handoff", "s9")[1]
    assert (told in out) is (kind in ("steps", "refused")), out
    assert "- the session ends with the words of the assistant (turn " in out


def done(kind: str, shop: Path) -> list[Any]:
    missed = of_tool("Edit", {"file_path": f"{shop}/scale.py"}, MISSED, 1, shop, failed=True)
    helper = of_tool("Task", {"prompt": "Mend the scale in scale.py"}, "It is mended.", 5, shop)
    plan = of_tool("ExitPlanMode", {"plan": "# Mend the scale"}, "User has approved your plan.", 1, shop)
    till = edited(shop / "till.py", "a", "b", 1, "s9", shop)
    question = {"questions": [{"question": "Round it up?", "options": [{"label": "Yes"}]}]}
    return {
        "plan of a helper": [*plan, *helper, *said("The scale weighs the coins.", 7, shop)],
        "edit of a helper": [*missed, *helper, *said("The scale weighs the coins.", 7, shop)],
        "edit by another path": [*missed, *of_tool("Write", {"file_path": "scale.py"}, "ok", 3, shop), *till],
        "question": [*till, turn("assistant", [{"type": "tool_use", "id": "q", "name": "AskUserQuestion",
                                                "input": question}], 3, "s9", shop)],
    }[kind]  # fmt: skip


AWAY = Path("/srv/shop")


def left(kind: str) -> list[Any]:
    till = edited(AWAY / "till.py", "a", "b", 1, "s9", AWAY)
    plan = of_tool("Write", {"file_path": "/home/mira/.claude/plans/blue-tray.md"}, "ok", 5, AWAY)
    notes = of_tool("Write", {"file_path": "/private/tmp/notes.md"}, "ok", 7, AWAY)
    scratch = ran("cd /tmp && cat > probe.py <<'EOF'\nprint(1)\nEOF", "", False, 9, "s9", AWAY)
    return {
        "aside": [*till, *plan, *notes, *scratch],
        "work below /tmp": [
            *edited(Path("/tmp/shop/till.py"), "a", "b", 1, "s9", AWAY),
            *edited(Path("/home/mira/shop.toml"), "a", "b", 5, "s9", AWAY),
        ],
        "clean": [*till, *ran("git status --short", "", False, 5, "s9", AWAY)],
        "clean here": [*till, *ran(f"cd {AWAY} && git status", "working tree clean", False, 5, "s9", AWAY)],
        "clean elsewhere": [*till, *ran("cd ../docs && git status", "working tree clean", False, 5, "s9", AWAY)],
        "stashed": [
            *till,
            *ran("git stash", "Saved working directory", False, 5, "s9", AWAY),
            *ran("git status", "nothing to commit, working tree clean", False, 7, "s9", AWAY),
        ],
        "not clean": [*till, *ran("git status --short", " M till.py", False, 5, "s9", AWAY)],
        "up-to-date": [
            *ran('git commit -m "Count"', "[main 1a2b3c4] Count", False, 5, "s9", AWAY),
            *ran("git push", "Everything up-to-date", False, 7, "s9", AWAY),
        ],
        "refused": of_tool("ExitPlanMode", {"plan": "# Mend the scale\n\nThe tray."}, REFUSED, 5, AWAY, failed=True),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "told", "untrue"),
    [
        ("aside", "- `till.py` was changed and not committed in the session\n", "`probe.py`"),
        ("work below /tmp", "`till.py`, `shop.toml` were changed and not committed", "`probe.py`"),
        ("clean", "- `till.py`", "not committed"),
        ("clean here", "- `till.py`", "not committed"),
        ("clean elsewhere", "- `till.py` was changed and not committed in the session\n", "`probe.py`"),
        ("stashed", "- `till.py` was changed and not committed in the session\n", "`probe.py`"),
        ("not clean", "- `till.py` was changed and not committed in the session\n", "`probe.py`"),
        ("up-to-date", "- commit 1a2b3c4 is not known to be pushed\n", "was pushed"),
        ("refused", "- Planned and not carried out by the user's word: Mend the scale\n", "approved"),
    ],
)
def test_a_hand_off_says_what_git_and_the_user_said(shop: Path, kind: str, told: str, untrue: str) -> None:
    """Who goes on would commit a scratch file or what is committed, and take for sent what was not."""
    begun = turn("user", "Mend the scale of the shop so that it weighs the coins", 0, "s9", AWAY)
    kept("s9", [begun, *left(kind)])
    out = call("handoff", "s9")[1]
    assert told in out and untrue not in out, out


@pytest.mark.parametrize(
    ("kind", "untrue"),
    [
        ("plan of a helper", "breaks off"),
        ("edit of a helper", "was not made later"),
        ("edit by another path", "was not made later"),
        ("question", "breaks off"),
    ],
)
def test_a_hand_off_calls_nothing_undone_that_is_done(shop: Path, kind: str, untrue: str) -> None:
    """Who goes on would do it again: a helper did it, or the file was named by its short path."""
    kept(
        "s9", [turn("user", "Mend the scale of the shop so that it weighs the coins", 0, "s9", shop), *done(kind, shop)]
    )
    out = call("handoff", "s9")[1]
    assert "## Goal" in out and untrue not in out, out


@pytest.mark.parametrize(
    "words",
    [
        "I'm recommending option B for the release.",
        "I'll add a line to the changelog too if you want one.",
        "Let's merge once the checks are green.",
        "Running the tests needs a daemon on your machine.",
        "Let me explain it if that helps.",
        "I'll add the test.",
    ],
)
def test_words_that_end_a_session_announce_no_work(shop: Path, words: str) -> None:
    """Of sessions that were done it was said that they did not end by themselves."""
    begun = turn("user", "Mend the scale of the shop so that it weighs the coins", 0, "s9", shop)
    kept("s9", [begun, *edited(shop / "b.py", "a", "b", 1, "s9", shop), *said(f"It is mended. {words}", 3, shop)])
    out = call("handoff", "s9")[1]
    assert "ends with the words of the assistant" in out and "did not end by itself" not in out, out


@pytest.mark.parametrize(
    "words",
    [
        "I'll need your approval of the diff before it is merged.",
        "I'll recommend option B for the release",
        "I will always run the tests first in this repository",
    ],
)
def test_one_sentence_that_ends_a_session_announces_work_only_where_it_names_some(shop: Path, words: str) -> None:
    begun = turn("user", "Mend the scale of the shop so that it weighs the coins", 0, "s9", shop)
    kept("s9", [begun, *edited(shop / "b.py", "a", "b", 1, "s9", shop), *said(words, 3, shop)])
    assert "did not end by itself" not in call("handoff", "s9")[1]


def test_a_hand_off_of_a_session_that_was_only_told_to_continue_calls_it_no_task(shop: Path) -> None:
    """The summary that it goes on from is no order of another assistant."""
    summary = "This session is being continued from a previous conversation. The till is mended."
    rows = [turn("user", summary, 0, "s9", shop) | {"isCompactSummary": True}, turn("user", "continue", 1, "s9", shop)]
    kept("s9", [*rows, *said("The till rounds its sums now, and the tests pass.", 2, shop)])
    assert "another assistant" not in (out := call("handoff", "s9")[1]) and "## Goal" in out, out


@pytest.mark.parametrize("before", ["2025-07-15 11:38:37", "2025-07-16 09:30:00"])
def test_a_hand_off_of_a_history_is_about_its_newest_session(before: str, tmp_path: Path) -> None:
    """aider writes all sessions into one file, the newest below, also where the clock was set back; what the user
    refused it, and the whole message of a commit, are its own words and nobody's answer."""
    history = tmp_path / "copies" / ".aider.chat.history.md"
    history.parent.mkdir()
    history.write_text(
        f"\n# aider chat started at {before}\n\n#### paint the old door  \n\nIt is red.\n\n> Tokens: 1k  \n\n"
        "# aider chat started at 2025-07-16 09:00:00\n\n#### weigh the coins of the till  \n\nThe till weighs them.\n\n"
        "till.py\n```python\n<<<<<<< SEARCH\na = 1\n=======\n> quoted\na = 2\n>>>>>>> REPLACE\n```\n\n"
        "> Tokens: 1k sent  \n> tray.py  \n> Create new file? (Y)es/(N)o [Yes]: n  \n"
        "> # 1 SEARCH/REPLACE block failed to match!\n\n"
        "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in pot.py\nx\n\nAgain.  \n"
        "> Skipping edits to lid.py that matches gitignore spec.  \n"
        "> Applied edit to till.py  \n> Commit 1a2b3c4 feat: weigh the coins\n\n- because the bank counts again  \n"
        "> make wipe   \nmake all  \n> Run shell commands? (Y)es/(N)o/(D)on't ask again [Yes]: n  \n\n"
        "#### Add file to the chat? (Y)es/(N)o [Yes]: n  \n\n#### /add till.py  \n####   tray.py  \n\n#### /exit  \n"
    )
    out = call("--home", str(tmp_path / "home"), "handoff", str(history))[1]
    parts = {part.partition("\n")[0]: part for part in out.split("\n## ")}
    assert "(the newest of 2 in this file; nothing is told of those before it)" in out and "- Day: 2025-07-16\n" in out
    assert "> weigh the coins" in parts["Goal"] and "door" not in out and "a = 2" not in out
    assert parts["State"].endswith("ends with the words of the assistant (turn 5):\n> The till weighs them.\n"), out
    assert "an edit of `pot.py` failed" in parts["Open"] and "tray.py" not in parts["Files"]
    assert "an edit of `lid.py` failed (turn 6) and was not made later: skipped: .gitignore" in parts["Open"], out
    assert "refused an edit of `tray.py`" in parts["Tried"] and "refused `make wipe make all`" in parts["Tried"]


def calls_of_a_hand_off(checks: int, shop: Path) -> int:
    """How many functions are called to make the hand-off of a session that ran so many checks."""
    rows = [turn("user", "Run every check of the shop, one after the other", 0, "s9", shop)]
    for at in range(checks):
        rows += ran(f"pytest tests/test_{at}.py -q", "3 passed", False, 2 * at + 1, "s9", shop)
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    session = read_session(read_conversation("s9.jsonl", data))
    profile = cProfile.Profile()
    assert f"test_{checks - 1}.py" in profile.runcall(handoff, session, {})
    return sum(row.callcount for row in profile.getstats())


def test_a_hand_off_of_four_times_the_commands_costs_four_times_as_much(tmp_path: Path) -> None:
    """Each was compared with each: of a session of 3000 that took longer than to read it."""
    assert calls_of_a_hand_off(400, tmp_path) < 6 * calls_of_a_hand_off(100, tmp_path)


def test_a_hand_off_of_what_was_typed_alone_calls_nothing_unanswered(tmp_path: Path) -> None:
    """No answer is kept there, whatever was said."""
    history = tmp_path / "history.jsonl"
    rows = [
        {"session_id": "s1", "ts": 1758000000 + at, "text": text} for at, text in enumerate(("weigh the coins", "ja"))
    ]
    history.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = call("--home", str(tmp_path / "home"), "handoff", str(history))[1]
    assert "only what the user typed is recorded" in out and "not answered" not in out
