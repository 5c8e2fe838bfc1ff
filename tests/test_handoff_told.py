"""What a hand-off tells of a session's place, of what was only looked at, refused, or never answered, and of tables."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.conversations.read import read_conversation
from core.rules.handoff import handoff
from core.rules.quote import prose, quoted
from core.rules.session import read_session
from tests.cli_call import call
from tests.cpu_time import grows_faster
from tests.shop import edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself
from tests.test_handoff_end import REFUSED, STEPS, of_tool, said

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")

TOLD = """Both are mended:

| File | What it does |
|---|---|
| `src/scale.py` | weighs |

Start it:

```bash
make scale
```
"""


def rows(kind: str, shop: Path) -> list[Any]:
    todos = {"todos": [{"content": text, "status": state} for text, state in STEPS]}
    later = [turn("user", "now oil the scale of the shop", 20, "s9", shop), *said("It is oiled.", 21, shop)]
    wiped = {"file_path": f"{shop}/scale.py"}
    return {
        "table": [*said(TOLD, 1, shop), turn("user", "count the coins of the till", 3, "s9", shop), *later],
        "steps": of_tool("TodoWrite", todos, "Todos have been modified", 1, shop),
        "refused": [row for at in (1, 3) for row in of_tool("Edit", wiped, REFUSED, at, shop, failed=True)],
        "read": of_tool("Read", {"file_path": f"{shop}/till.py"}, "a = 1", 1, shop),
        "linted": [
            *edited(shop / "scale.py", "a", "b", 1, "s9", shop),
            *of_tool("read_lints", {"paths": ["scale.py"]}, "{}", 3, shop),
            *said("It is mended.", 5, shop),
        ],
    }[kind]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("table", "Both are mended: - `src/scale.py` — weighs; Start it: `make scale`"),
        ("steps", "breaks off at work: behind `TodoWrite` (turn 2) the assistant said nothing more"),
        ("refused", "scale.py` (2 times, turns 2 to 4)"),
        ("read", "- no edit is recorded; looked at last: `till.py`\n"),
        ("linted", "- `read_lints` (turn 4: no error shown)"),
    ],
)
def test_a_hand_off_tells_what_happened(shop: Path, kind: str, told: str) -> None:
    kept(
        "s9", [turn("user", "Mend the scale of the shop so that it weighs the coins", 0, "s9", shop), *rows(kind, shop)]
    )
    out = call("handoff", "s9")[1]
    assert told in out, out
    assert "build is recorded" not in out


def test_long_last_words_keep_their_commands_and_leave_out_what_is_ticked_off(shop: Path) -> None:
    """Who goes on read ten ticked boxes, and "to check:" with nothing behind it."""
    code = "```python\n" + "coins = 1\n" * 400 + "```"
    words = (
        f"- [x] Cut the tray\n\nThe scale weighs.\n\n{code}\n\nTo check it:\n\n```bash\nmake scale\nmake tray\n```\n"
    )
    kept("s9", [turn("user", "Mend the scale of the shop so that it weighs", 0, "s9", shop), *said(words, 1, shop)])
    out = call("handoff", "s9")[1]
    assert "To check it: `make scale; make tray`" in out and "Cut the tray" not in out and "coins" not in out, out


def test_what_the_user_ticked_off_is_what_they_asked_for(shop: Path) -> None:
    """A list of decisions that came with the request was cut from it, and last words of ticks alone counted as none."""
    asked = "- [x] Ask Mira which store we use: SQLite\n- [x] Count the coins"
    kept("s9", [turn("user", asked, 0, "s9", shop), *said("- [x] Counted the coins of the till", 1, shop)])
    out = call("handoff", "s9")[1]
    assert "which store we use: SQLite" in out and "Counted the coins" in out and "edits alone" not in out, out


def test_an_answer_is_whole_where_there_is_room(shop: Path) -> None:
    """Of a list of what is to be done next, the items behind the first were left out of a hand-off of 2 kB."""
    items = "\n".join(f"- Drawer {number}: it sticks, oil the rails and count what lies in it" for number in range(30))
    later = [turn("user", "now save that", 3, "s9", shop), *said("It is saved.", 4, shop)]
    begun = turn("user", "Look at all drawers of the shop", 0, "s9", shop)
    kept("s9", [begun, *said(f"These drawers stick:\n\n{items}", 1, shop), *later])
    assert "Drawer 29" in (out := call("handoff", "s9")[1]), out


WANTED = "the till rounds a half down, mend that"


@pytest.mark.parametrize(
    ("typed", "then", "goal"),
    [
        ("", WANTED, WANTED),
        (WANTED, "now save that", f"/gsd:debug {WANTED}"),
        ("", "yes", "/gsd:debug"),
    ],
)
def test_the_goal_is_what_was_wanted_and_no_bare_command_of_the_users(
    shop: Path, typed: str, then: str, goal: str
) -> None:
    """What a command stands for is known to the tool in which it was typed, and to nobody who goes on."""
    command = "<command-message>debug</command-message>\n<command-name>/gsd:debug</command-name>"
    command += f"\n<command-args>{typed}</command-args>"
    answers = [*said("What goes wrong?", 1, shop), turn("user", then, 2, "s9", shop), *said("It is done.", 3, shop)]
    kept("s9", [turn("user", command, 0, "s9", shop), *answers])
    out = call("handoff", "s9")[1]
    assert f"## Goal\n> {goal}" in out and out.count("/gsd") == goal.count("/gsd"), out


def test_a_short_request_stands_beside_the_question_that_came_back(shop: Path) -> None:
    kept(
        "s9",
        [
            turn("user", "Add tests", 0, "s9", shop),
            *said("For which module?", 1, shop),
            turn("user", "the till and the cart", 2, "s9", shop),
            *said("They stand in `till.py`.", 3, shop),
        ],
    )
    out = call("handoff", "s9")[1]
    assert all(words in out for words in ("Add tests", "For which module?", "the till and the cart")), out


@pytest.mark.parametrize("piece", ["| " + " " * 96_000, "`", "a/", "```\n<<<<<<< SEARCH\na\n"])
@pytest.mark.parametrize("shorten", [prose, partial(quoted, most=2_000)])
def test_a_long_message_is_quoted_in_linear_time(piece: str, shorten: Callable[[str], object]) -> None:
    """A message of a hundred thousand backticks took a minute."""
    small, large = ((piece * length)[:length] for length in (8_000, 96_000))
    assert not grows_faster(lambda: shorten(small), lambda: shorten(large), 40)


HISTORY = """
_**User (2025-07-15 10:00:00Z)**_

mend the scale

---

_**Agent (model-4 2025-07-15 10:00:05Z)**_

<tool-use data-tool-type="write" data-tool-name="edit_file"><details>
<summary>Tool use: **edit_file** • Edit file: /srv/shop/src/scale.py</summary>

</details></tool-use>

_**Agent (model-4 2025-07-15 10:00:09Z)**_

`src/scale.py` is mended.
"""


def of_history(text: str, folder: str) -> str:
    return handoff(read_session(read_conversation("x", text.encode())), {"Tool": "tool", "Folder": folder})


def test_a_hand_off_tells_the_root_from_paths_that_are_told_in_two_ways() -> None:
    """The folder of the only file that was written was told for the project."""
    out = of_history(f"<!-- Generated by SpecStory, Markdown v2 -->\n{HISTORY}", "/home/me/Downloads")
    assert "- Folder: /srv/shop\n" in out and "- `src/scale.py`" in out and "- Tool: tool, model-4\n" in out, out


def test_a_hand_off_tells_what_came_instead_of_an_answer_and_what_was_written_unseen() -> None:
    head = "# aider chat started at 2025-07-15 10:00:00\n\n> Aider v0.86.2  \n\n#### weigh the coins of the till  \n"
    failed = of_history(f"{head}> model.APIError: Invalid character in URL  \n> Retrying in 0.2 seconds...  \n", "/srv")
    assert "- the request was not answered; what came was: model.APIError: Invalid character in URL\n" in failed, failed
    wrote = "> till.py  \n> Allow edits to file that has not been added to the chat? (Y)es/(N)o [Yes]: y  \n"
    wrote += "> tray.py  \n> Create new file? (Y)es/(N)o [Yes]: y  \n"
    wrote += "> Applied edit to till.py  \n> Applied edit to tray.py  \n"
    out = of_history(f"{head}\nIt weighs.\n\n{wrote}", "/srv")
    assert "- `till.py` (changed without being in the chat)" in out and "- `tray.py` (created)" in out, out


WEIGHS = "Mend the scale of the shop so that it weighs the coins"
SCRIPT = "> scale@1.0.0 weigh\n> node -e \"console.error('ERROR: weigh twice')\"\n\n"
ECHO = f"{SCRIPT}npm warn errors were mended\nerror: the tray is missing\n"


@pytest.mark.parametrize(
    ("line", "output", "why"),
    [
        ("make check", "The tray has coins in it:\n M tray.py\n", "The tray has coins in it:"),
        ("npm run weigh", ECHO, "error: the tray is missing"),
    ],
)
def test_a_command_that_failed_is_told_with_the_line_that_says_why(
    shop: Path, line: str, output: str, why: str
) -> None:
    """Who went on read that "its status says so", or the script that npm prints before it runs it."""
    kept("s9", [turn("user", WEIGHS, 0, "s9", shop), *ran(line, output, True, 1, "s9", shop)])
    out = call("handoff", "s9")[1]
    assert f"- `{line}` (turn 2) failed: {why}\n" in out, out


def test_a_check_passed_where_its_output_says_so_behind_a_pipe(shop: Path) -> None:
    """The status behind a pipe is that of `tail`; who went on ran the tests once more."""
    runs = [("go test ./... | tail", "ok  \texample.com/scale\t0.3s"), ("make lint | tail", "not ok 1 - tray")]
    rows = [row for at, (line, output) in enumerate(runs) for row in ran(line, output, False, 2 * at + 1, "s9", shop)]
    kept("s9", [turn("user", WEIGHS, 0, "s9", shop), *rows])
    out = call("handoff", "s9")[1]
    assert "`go test ./...` (turn 2: passed)" in out and "`make lint` (turn 4: no error shown)" in out, out


def test_a_plan_that_is_shortened_keeps_its_steps(shop: Path) -> None:
    """The last step of a plan, an answer to a reviewer, was in the middle that was cut out: nobody did it."""
    detail = "The tray is weighed with each coin of the till in it, one after the other.\n" * 24
    steps = "".join(f"### Step {at}: Weigh tray {at}\n\n{detail}\n" for at in range(1, 4))
    plan = (
        f"# Plan\n\n{detail}{steps}### Step 4: Answer the reviewer. It can wait.\n\n{detail}## Notes\n\n{detail}Ende."
    )
    kept("s9", [turn("user", plan, 0, "s9", shop), *said("It weighs.", 1, shop)])
    goal = call("handoff", "s9")[1].split("\n## State")[0]
    assert "> ### Step 2: Weigh tray 2\n" in goal and "> ### Step 4: Answer the reviewer.\n" in goal, goal
    assert "characters left out …]\n> #" in goal and "can wait" not in goal and goal.endswith("> Ende.\n"), goal
    quoted = [line[2:] for line in goal.splitlines() if line.startswith(">")]
    assert len(goal) < 5800 and all(line.startswith(("#", "The tray", "[…", "Ende")) for line in quoted), goal


def test_an_answer_that_is_shortened_keeps_its_later_points(shop: Path) -> None:
    """The second bug that an answer named, behind a long explanation of the first, was found anew."""
    long = "\n\n".join(f"The tray of drawer {at} is not what the scale weighs, it weighs the coin." for at in range(90))
    answer = f"{long}\n\nSecondary but important: the till rounds down. That may be seen later.\n\n{long}"
    asked = [turn("user", WEIGHS, 0, "s9", shop), *said(answer, 1, shop), turn("user", "mend the tray", 2, "s9", shop)]
    kept("s9", [*asked, *said("The tray is mended.", 3, shop)])
    out = call("handoff", "s9")[1].split("## How it went")[1]
    assert "The tray of drawer 0" in out and "… Secondary but important: the till rounds down. …”" in out, out


def test_a_hand_off_tells_no_thoughts_rules_or_blanks(tmp_path: Path) -> None:
    """aider keeps the thoughts of a model in its history, and writes `<blank>` where the user typed nothing."""
    history = tmp_path / ".aider.chat.history.md"
    thought = "<thinking-content-1a2b>\n\nMaybe the tray is the cause of it.\n\n</thinking-content-1a2b>\n\n"
    history.write_text(
        f"\n# aider chat started at 2025-07-16 09:00:00\n\n#### weigh the coins{' ' * 80}of the till  \n\n{thought}"
        "The till weighs all the coins.\n\n#### <blank>  \n\n"
        f"#### oil the tray of the till  \n\n{thought}It is oiled.\n\n---\n\nAsk me.\n"
    )
    out = call("--home", str(tmp_path / "home"), "handoff", str(history))[1]
    assert "> weigh the coins of the till\n" in out and "(turn 5):\n> It is oiled.\n> Ask me.\n" in out, out
    assert "answered: “The till weighs all the coins.”" in out and "blank" not in out and "Maybe" not in out, out


@pytest.mark.parametrize(
    ("line", "passing"),
    [
        ('T=$(mktemp -d /tmp/till.XX)\n(\n  cd "$T"\n  git commit -qm "Weigh twice"\n)', True),
        ('git clone . /tmp/till && cd /tmp/till && git commit -qm "Weigh twice"; rm -rf /tmp/till', True),
        ('T=$(mktemp -d); git diff > "$T/a"; git commit -qm "Weigh twice"', False),
        ('cd /tmp/till-1 && git commit -qm "Weigh twice"; rm -rf /tmp/till-2', False),
    ],
)
def test_a_commit_in_a_folder_that_goes_with_the_command_is_none(shop: Path, line: str, passing: bool) -> None:
    """A trial of a release in a copy stood in `State` as a commit of the project."""
    kept("s9", [turn("user", WEIGHS, 0, "s9", shop), *ran(line, "HEAD is now at 1a2b3c4", False, 1, "s9", shop)])
    assert ("- a commit was tried" not in call("handoff", "s9")[1]) == passing


ANSWERED = "The font comes from a host that the policy forbids."


@pytest.mark.parametrize(
    ("version", "told"),
    [
        (", Markdown v2.1.0", f"<think><details><summary>Thought</summary>\nEither:\n1. a\n2. b</details></think>\n\n"
         f"---\n\n{ANSWERED}\n\n---\n\n<think><details><summary>Thought</summary>\nSo.</details></think>\n"),
        ("", "Tool use: **WebFetch**\n\nResult:\n\n```\nA host.\n\n---\n\nIt said.\n```\n\n"
         f"_**Agent**_\n\n{ANSWERED}\n"),
        ("", "Tool use: **grep**\n\n<details>\n  <summary>Grep for font</summary>\n\n| `font.css` |\n\n</details>\n"
         f"Tool use: **read_file**\n\nRead file: font.css\n{ANSWERED}\n"),
        ("", f"Tool use: **read_file**\n\nRead file: /srv/shop/font.css\n\n---\n\n{ANSWERED}\n\n---\n\n"
         "Tool use: **todo_write**\n\n## Todo List\n\n- [x] Look\n\n---\n"),
        ("", "Tool use: **grep**\n\n<details>\n  <summary>Grep for font</summary>\n\n| `font.css` |\n\n</details>\n\n"
         f"- [x] {ANSWERED}\n"),
        ("", f"Tool use: **read_file**\n\nResult:\n\n````\n```css\n```\n````\n\n{ANSWERED}\n"),
        ("", f"Tool use: **run_terminal_cmd**\n\n```bash\ncat font.css\n```\n\n```\nIt said.\n```\n\n{ANSWERED}\n"),
    ],
    ids=["a thought ends on an item", "what was fetched", "no rule between", "what was only looked at",
         "a box that is said", "a fence in a fence", "what a shell printed"],
)  # fmt: skip
def test_an_answer_stands_alone_between_thoughts_and_calls_of_a_history(shop: Path, version: str, told: str) -> None:
    """It went with the thought before it, or what the tools gave back was told as words of the assistant."""
    history = shop / ".specstory" / "history"
    history.mkdir(parents=True)
    (history / "2026-01-02_10-00-00Z-font.md").write_text(
        f"<!-- Generated by SpecStory{version} -->\n\n# Font (2026-01-02 10:00:00Z)\n\n_**User**_\n\n"
        f"Why is there no font in the shop?\n\n---\n\n_**Agent**_\n\n{told}"
    )
    assert call("search", "--build", "--quiet")[0] == 0
    out = call("handoff", "2026-01-02_10-00-00Z-font")[1]
    assert re.search(rf"of the assistant \(turn [35]\):\n> (?:- \[x\] )?{re.escape(ANSWERED)}\n", out), out
    assert "Tool use" not in out and "It said" not in out, out


def test_what_is_written_alone_in_an_older_history_is_an_edit_of_its_file(shop: Path) -> None:
    history = shop / ".specstory" / "history"
    history.mkdir(parents=True)
    (history / "2026-01-02_10-00-00Z-plan.md").write_text(
        "<!-- Generated by SpecStory -->\n\n_**User**_\n\nPlan the till of the shop\n\n---\n\n_**Agent**_\n\n"
        "Tool use: **Write**\n\n```md\n# Plan\n\n---\n\n1. Count\n```\n\nResult:\n\n```\n"
        "File created successfully at: /srv/shop/plans/till.md\n```\n\n_**Agent**_\n\n"
        "Tool use: **apply_patch**\n\n<details>\n      <summary>Apply patch for /srv/shop/till.py</summary>\n\n"
        "```diff\n*** Begin Patch\n*** Update File: /srv/shop/till.py\n@@\n-a\n+b\n*** End Patch\n```\n\n---\n\n"
        "Tool use: **WebFetch**\n\nError:\n\n```\nRequest failed with status code 404\n```\n\n_**Agent**_\n\n"
        "Tool use: **todo_write**\n\n## Todo List\n\n- [ ] Count the coins\n- [x] Plan\n\n---\n\nIt is planned.\n"
    )
    assert call("search", "--build", "--quiet")[0] == 0
    out = call("handoff", "2026-01-02_10-00-00Z-plan")[1]
    assert "/till.py` (changed)\n" in out.replace("`till", "`/till") and "till.md`" in out, out
    assert "Count the coins" in out.partition("## Open")[2].partition("##")[0], out


def test_a_call_of_cline_that_was_interrupted_by_the_one_before_is_neither_said_nor_made() -> None:
    """The file that it began to write was told as changed, and its lines as what the assistant had said."""
    call_of = "<write_to_file>\n<path>{}</path>\n<content>{}\n"
    text = (
        "**User:**\n\n<task>\nMake a package of the shop\n</task>\n\n---\n\n**Assistant:**\n\nFirst the entry point.\n"
    )
    text += (
        call_of.format("main.py", "go()\n</content>") + "</write_to_file>" + call_of.format("setup.toml", '[a]\nb = "c')
    )
    text += (
        "\n[Response interrupted by a tool use result. Only one tool may be used at a time.]\n\n---\n\n**User:**\n\n"
    )
    text += "[write_to_file for 'main.py'] Result:\nThe content was successfully saved to main.py.\n"
    out = of_history(text, "/srv/shop")
    assert "First the entry point." in out and 'b = "c' not in out, out
    assert "`main.py`" in out and "setup.toml" not in out, out


def edit_block(old: str, new: str) -> str:
    head = '<tool-use data-tool-type="write" data-tool-name="search_replace">\n<details><summary>Tool use: '
    head += "**search_replace** • Edit file: /srv/shop/till.json</summary>\n\n```diff\n@@ -1,3 +1,3 @@\n  {\n"
    return f'{head}-   "run": "{old}"\n+   "run": "{new}"\n  }}\n```\n\n</details>\n</tool-use>\n\n---\n\n'


@pytest.mark.parametrize(("back", "taken"), [("till", True), ("till --slow", False)])
def test_a_rule_between_calls_is_no_word_and_an_edit_that_was_undone_no_change(back: str, taken: bool) -> None:
    """A history said that it ends with words, "edits alone", and that a file is to be committed which is as it was."""
    head = (
        "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n_**User**_\n\nStart the till\n\n---\n\n_**Agent (m)**_\n\n"
    )
    thought = "<think><details><summary>Thought</summary>\nHm.</details></think>\n\n---\n\n"
    text = head + edit_block("till", "till --fast") + thought + "That flag does not exist.\n\n---\n\n"
    out = of_history(text + edit_block("till --fast", back) + thought, "/srv/shop")
    assert "last words of the assistant (turn 4):\n> That flag does not exist.\n" in out, out
    assert "behind the edit of `/srv/shop/till.json` (turn 5) the assistant said nothing more" in out, out
    assert ("(changed and taken back), 2 edits" in out) == taken == ("not committed" not in out), out


def test_an_edit_is_not_undone_by_one_in_another_place() -> None:
    """Two tills changed places, and the file that is to be committed was told to be as it was."""
    head = "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n_**User**_\n\nSwap them\n\n---\n\n_**Agent (m)**_\n\n"
    second = edit_block("fast", "slow").replace("@@ -1,3 +1,3 @@", "@@ -81,3 +81,3 @@")
    out = of_history(f"{head}{edit_block('slow', 'fast')}And the other.\n\n---\n\n{second}Swapped.\n", "/srv/shop")
    assert "(changed), 2 edits" in out and "not committed" in out, out


@pytest.mark.parametrize(
    ("made", "times"),
    [
        (lambda times: "_**Agent**_\n\nTool use: **grep**\n\n" + "<details>\n" * times, 1500),
        (lambda times: "_**Agent**_\n\n" + "Tool use: **Edit**\n\n```x\nq\n`````\n" * times, 300),
        (lambda times: f"    at x{'(a:b)' * times}\n" * 3, 30),
    ],
    ids=["tables", "fences", "frames"],
)
def test_a_hand_off_takes_no_longer_for_what_repeats(made: Callable[[int], str], times: int) -> None:
    """A history of 200 KB, or a trace of three lines, kept who asked waiting for half a minute."""

    def told(times: int) -> None:
        of_history(f"<!-- Generated by SpecStory -->\n\n_**User**_\n\nWhy?\n\n{made(times)}", "/srv/shop")

    assert not grows_faster(lambda: told(times), lambda: told(times * 4), 8)


def test_a_plan_of_the_tool_alone_is_nothing_to_commit(shop: Path) -> None:
    plan = {"file_path": "/home/me/.claude/plans/oil.md", "content": "Oil it."}
    rows = [*of_tool("Write", plan, "File created successfully", 1, shop), *said("The plan is written.", 3, shop)]
    kept("s9", [turn("user", "Plan how the scale of the shop is oiled", 0, "s9", shop), *rows])
    out = call("handoff", "s9")[1]
    assert "plans/oil.md`" in out and "not committed" not in out, out


def test_of_a_trace_that_was_pasted_the_goal_keeps_the_ends(shop: Path) -> None:
    frames = "\n".join(f"    at step{number} (till.js:{number}:1)" for number in range(1, 9))
    kept("s9", [turn("user", f"Error: no tray\n{frames} what is it?", 0, "s9", shop), *said("A tray.", 1, shop)])
    goal = call("handoff", "s9")[1].partition("## Goal\n")[2].partition("\n\n")[0]
    assert goal.splitlines() == [
        "> Error: no tray", ">     at step1 (till.js:1:1)", ">     at step2 (till.js:2:1)", "> …",
        ">     at step8 (till.js:8:1) what is it?",
    ], goal  # fmt: skip


def test_a_trajectory_is_told_with_its_task_and_what_was_handed_in() -> None:
    """Who goes on read a page of rules of the house and not what had been found."""
    task = (
        "We're currently solving the following CTF challenge. The challenge is named Till.\n\nINSTRUCTIONS:\nBE KIND."
    )
    found = {"role": "assistant", "content": "We found it.\n```\nsubmit FLAG{till}\n```", "action": "submit FLAG{till}"}
    history = [{"role": "system", "content": "s", "agent": "a"}, {"role": "user", "content": task, "agent": "a"}]
    out = of_history(
        json.dumps({"environment": "e", "history": [*history, {**found, "agent": "a"}], "trajectory": []}), ""
    )
    assert "## Goal\n> The challenge is named Till.\n\n" in out, out
    assert "> We found it.\n- handed in by `submit FLAG{till}`\n" in out, out
