"""What an agent that asks is told at the moment of its work: `find` and `read`, hand-offs, and whys."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli_call import call
from tests.shop import FAILS, WORKS, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


# --- find -------------------------------------------------------------------------------------------------------------


def test_find_answers_in_a_line_with_the_place_the_state_and_what_is_gone(shop: Path) -> None:
    code, out, _ = call("find", "why are release notes generated?")
    line = out.splitlines()[0]
    assert code == 0 and "because the bot refuses those of docs/old.md" in line and "→ s1:2" in line
    assert "a question open" in line and "gone from git since: docs/old.md" in line and "shop" in line


def answered(tool: str, **given: Any) -> str:
    """What an agent that works here gets from a tool."""
    import asyncio

    from mcp import Client

    from core.commands.workspace import open_workspace
    from core.mcp_server.server import build_server

    async def run() -> str:
        async with Client(build_server(open_workspace())) as client:
            return "".join(row.text for row in (await client.call_tool(tool, given)).content)

    return asyncio.run(run())


def test_one_call_brings_the_cause_that_a_later_exchange_found(shop: Path) -> None:
    """The words of the question stand in the question, the cause behind work and talk: without the passage an agent
    reads on for thousands of characters, and the middle of a long message is where it loses the answer."""
    filler = [f"- Step {number} of the list is done and was looked at twice." for number in range(60)]
    cause = "The importer opened the ledger twice, therefore the rows came twice; a lock in `ledger.py` cured it."
    said = [
        "Why does the nightly import write every row twice?",
        "Let me look at the nightly import.",
        "And?",
        "\n".join([*filler[:30], f"**Root cause**: {cause}", *filler[30:]]),
        "Thanks, and what of the colours?",
        "They are blue.",
    ]
    rows = [
        turn("user" if at % 2 == 0 else "assistant", [{"type": "text", "text": text}], at, "s3", shop)
        for at, text in enumerate(said)
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s3.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    asked = "the nightly import writes rows twice again: why?"
    page = answered("read", name="s3:4", query=asked)
    assert cause in page and len(page) <= 3000
    found = answered("find", query=asked)
    assert cause in found and len(found) <= 2500
    more = answered("read", name="s3:4", query=asked)
    assert cause not in more and "They are blue" in more and "what was shown before is left out" in more
    assert more.splitlines()[1] == "s3, what was shown before is left out:"
    assert cause not in answered("read", name="s3:4"), "without a query its beginning and end"


def test_a_turn_that_is_named_or_asked_for_by_role_is_not_cut_hard(shop: Path) -> None:
    """A patch or a stack trace in the middle of an output is what an agent reads a session for."""
    output = "\n".join(f"line {number} of the report" for number in range(120))
    rows = [
        turn("user", [{"type": "text", "text": "Run the report of the warehouse."}], 0, "s4", shop),
        turn(
            "assistant",
            [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "report"}}],
            1,
            "s4",
            shop,
        ),
        turn("user", [{"type": "tool_result", "tool_use_id": "t1", "content": output}], 2, "s4", shop),
        turn("assistant", [{"type": "text", "text": "The warehouse report is there."}], 3, "s4", shop),
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s4.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    named = re.search(r"\[(\d+) tool\]", answered("read", name="s4"))
    assert named is not None and "line 60 of" not in answered("read", name="s4")
    assert "line 60 of" in answered("read", name=f"s4:{named[1]}", characters=6000)
    assert "line 60 of" in answered("read", name="s4", role="tool", characters=6000)
    assert "warehouse" in answered("read", name="s4", role="assistant", query="is the warehouse report there?")


def test_the_head_of_a_page_does_not_list_files(shop: Path) -> None:
    """Every character above the page is one less of it, and the names of files are most of it."""
    rows = [turn("user", "Why does the parcel label tear?", 0, "s7", shop)]
    for number in range(6):
        path = shop / f"a_rather_long_name_of_a_module_{number}.py"
        rows += edited(path, "x", "y", 1 + 2 * number, "s7", shop)
    kept("s7", [*rows, turn("assistant", [{"type": "text", "text": "Its paper is thin."}], 20, "s7", shop)])
    head = answered("read", name="s7:1").splitlines()[1]
    assert "6 files changed" in head and "module_0" not in head and len(head) < 200


def test_what_one_side_said_is_read_from_the_whole_session(shop: Path) -> None:
    said = [f"{'Ask' if at % 2 == 0 else 'Reply'} number {at} about the warehouse." for at in range(30)]
    kept_talk(shop, "s4", said)
    page = answered("read", name="s4:15", role="user")
    assert "[1 user]" in page and "[29 user]" in page and "Reply" not in page
    assert "[1 user]" not in answered("read", name="s4:15", role="user", around=4)


def test_a_question_about_commands_is_told_the_usual_ones(shop: Path) -> None:
    for name in ("s5", "s6"):
        ran = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make lint 2>&1 | tail -3"}}
        done = {"type": "tool_result", "tool_use_id": "t1", "content": "all clean"}
        rows = [turn("assistant", [ran], 0, name, shop), turn("user", [done], 1, name, shop)]
        kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
        (kept / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    assert "usual here: `make lint` (2 sessions)" in answered("find", query="which checks do I run before a commit?")
    assert "usual here" not in answered("find", query="why do rows come twice?")


def test_a_session_in_another_script_is_asked_for_in_it(shop: Path) -> None:
    kept_talk(shop, "s7", ["请说明 tunnel 目前只支持 free 套餐", "好的，我会在 README 里说明只支持 free 套餐。"])
    assert "another language" in answered("find", query="which tunnel plans does the README name: free?")
    assert "another language" not in answered("find", query="tunnel 支持哪些 free 套餐?")


def kept_talk(shop: Path, name: str, said: list[str]) -> None:
    """A conversation of this project: the user and the assistant by turns."""
    rows = [
        turn("user" if at % 2 == 0 else "assistant", [{"type": "text", "text": text}], at, name, shop)
        for at, text in enumerate(said)
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0


def test_of_two_projects_of_one_name_it_is_told_which_was_searched(shop: Path, tmp_path: Path) -> None:
    """ "Never said" of the one was taken for an answer about the other."""
    other = tmp_path / "elsewhere" / "shop"
    other.mkdir(parents=True)
    rows = [turn("user", "Why does the zebra importer stall?", 0, "s7", other),
            turn("assistant", "The zebra importer stalls on a quagga header.", 1, "s7", other)]  # fmt: skip
    kept("s7", rows)
    assert call("search", "--build", "--quiet")[0] == 0
    assert f"another project of that name: {other}" in call("find", "zebra", "--project", str(shop))[1]
    assert "another project" not in call("find", "zebra")[1]
    assert "quagga" in call("find", "zebra", "--project", "elsewhere/shop")[1]


def test_what_the_user_said_last_about_it_is_told_as_theirs(shop: Path) -> None:
    """A plan says one thing at length and the user overturned it in ten words much later: who is told the plan alone
    does the opposite of what holds."""
    plan = "\n".join(
        f"- The export dialog appends the server address to the copied command, rule {n}." for n in range(40)
    )
    said = ["Design the export dialog and the copied command.", plan, "And the colours?", "Blue, and the icons grey."]
    for number in range(12):
        said += [f"What of page {number}?", f"Page {number} lists the orders of that day, the newest of them first."]
    said += [
        "No server address in the copied command, that was on purpose.",
        "Taken out of the dialog and of the page.",
    ]
    kept_talk(shop, "s4", said)
    found = answered("find", query="does the export dialog append the server address to the copied command?")
    assert "user] No server address in the copied command, that was on purpose." in found and len(found) <= 2500


def test_a_line_that_the_user_overturned_says_so(shop: Path) -> None:
    said = [
        "Always put new tables into the FullSchema baseline migration.",
        "Good, new tables go into the FullSchema baseline.",
        "Why would new tables go into the FullSchema baseline migration instead of their own?",
        "Right, that is taken out again.",
    ]
    kept_talk(shop, "s6", said)
    assert call("harvest", "--apply", "--now", "--quiet", "--source", "claude_code")[0] == 0
    kept = shop.parents[1] / ".manual_slop" / "knowledge" / "decisions.md"
    kept.write_text(
        "# Decisions\n\n- Always put new tables into the FullSchema baseline. [from: claude_code/s6, 2026-05-06]\n"
    )
    lines = [
        row for row in call("find", "new tables FullSchema baseline")[1].splitlines() if "[conversation" not in row
    ]
    assert any("Always put new tables" in row and "but later [3 user] Why would" in row for row in lines), lines


def test_a_session_and_the_index_of_its_prompts_are_one_hit(shop: Path) -> None:
    """Copies and histories tried one by one cost an agent a call each."""
    asked = "Why does the zebra importer skip every third invoice of the archive?"
    kept_talk(shop, "s5", [asked, "The zebra importer skips them because the archive numbers invoices from zero."])
    prompt = {"display": asked, "timestamp": 1766000000000, "project": str(shop), "sessionId": "s5"}
    (Path(os.environ["HOME"]) / ".claude" / "history.jsonl").write_text(json.dumps(prompt) + "\n")
    assert call("search", "--build", "--quiet")[0] == 0
    found = answered("find", query=asked)
    assert "from zero" in found and found.count("[conversation") == 1


def test_the_place_of_a_hit_is_never_taken_for_a_secret(shop: Path) -> None:
    """Behind "password is" stands the name of the session, and an agent must be able to read on there."""
    kept_talk(
        shop, "b4-b33d460b93-0", ["Where is the login password?", "It is off unless LOGIN_SECRET or the password is"]
    )
    assert "→ b4-b33d460b93-0:2" in answered("find", query="where is the login password set?")


def test_what_is_not_there_is_called_weak_and_is_short(shop: Path) -> None:
    """An agent that takes what stands beside a question for its answer is worse off than one that knows nothing."""
    found = answered("find", query="which broker and topic does the shop publish its invoices to at night")
    assert ("weak:" in found or "never said" in found) and len(found) < 1500
    assert "nobody said" in found and "broker" in found.rpartition("nobody said")[2], "which words are missing"
    assert "weak" not in answered("find", query="how are the release notes of the shop generated")


def test_a_long_question_is_not_weak_for_the_words_that_no_answer_repeats(shop: Path) -> None:
    """A mark that stands on right answers makes an agent search on; that the zebra importer was said is enough."""
    kept_talk(shop, "s8", ["Why does the zebra importer stall?", "The zebra importer stalls on a quagga header."])
    asked = (
        "I am about to hand the weekend release over to a colleague, who noticed that the zebra importer stalls "
        "whenever two warehouses deliver their monthly totals late and the operator restarts the terminal in between: "
        "is anything known about the reasons, and would splitting the spreadsheet into smaller archives help?"
    )
    found = answered("find", query=asked)
    assert "quagga" in found and "weak" not in found and "nobody said" not in found, "no answer says colleague"
    assert "weak:" in answered("find", query=asked.replace("zebra importer stalls", "tariff calculator rounds"))


def test_a_hit_that_does_not_fit_is_shortened_and_not_dropped(shop: Path) -> None:
    """What was left out of a long answer was the rule that holds, and there was room for most of it."""

    def words(start: int, number: int) -> str:
        return " ".join(f"part{at}x" for at in range(start, start + number))

    said = [f"The parcel printer jams on {words(at * 5, 5)}." for at in range(60)]
    kept_talk(shop, "s8", ["Why does the parcel printer jam?", "\n".join(said)])
    kept = shop.parents[1] / ".manual_slop" / "knowledge"
    kept.mkdir(parents=True, exist_ok=True)
    rules = [
        f"The parcel printer jams on {words(400, 1)}.",
        f"The parcel printer jams on {words(420, 10)}. It is cleaned with {words(520, 12)}. So {words(600, 4)}",
    ]
    bullets = [f"- {rule} [from: claude_code/s8, 2026-05-06]\n" for rule in rules]
    (kept / "decisions.md").write_text("# Decisions\n\n" + "".join(bullets))
    found = answered("find", query="why does the parcel printer jam?")
    shortened = [row for row in found.splitlines() if "[decision" in row and ". … → s8" in row]
    assert len(found) <= 2400 and len(shortened) == 1, found


def test_a_function_that_is_no_more_is_marked(shop: Path) -> None:
    """By name, in any file of the repository; a name that git never had says nothing, and nor does a command."""
    from core.give.still import gone

    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    text = "Use `open_shelf()` of `shelf.ShelfPool`, never `close_shelf`, with `make check`"
    for body in ("def open_shelf(): ...\nclass ShelfPool: ...\n", "class ShelfPool: ...\n"):
        (shop / "shelf.py").write_text(body)
        assert gone(str(shop), text) == (["open_shelf"] if "open" not in body else [])
        for words in (["add", "."], ["commit", "-qm", "A shelf"]):
            subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    assert gone(str(shop), text) == ["open_shelf"]


def test_a_hand_off_tells_goal_state_and_what_was_tried(shop: Path) -> None:
    """Enough to go on in another tool, and short; by its command line the other tool starts with it."""
    code, out, err = call("handoff", "s1")
    assert code == 0 and len(out.encode()) <= 6000, err
    assert "> How do we write the release notes for the shop?" in out and "## State" in out
    assert FAILS in out and WORKS in out and "Shall I commit it?" in out and "## Verify" in out
    assert 'codex "$(knowledge handoff ' in call("handoff", "s1", "--to", "codex")[1]
    assert "no conversation of that name" in call("handoff", "s9")[2]


def test_a_model_makes_the_hand_off_and_where_it_fails_the_rules_do(shop: Path, tmp_path: Path) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import sys\nread = sys.stdin.read()\nprint('Sure.\\n## Goal\\nNotes by ' + str('s1' in read))\n"
    )
    for key, value in (("provider", "command"), ("command", json.dumps([sys.executable, str(program)]))):
        assert call("config", "set", key, value)[0] == 0, key
    assert "## Goal\nNotes by " in call("handoff", "s1")[1]
    assert "Notes by" not in call("handoff", "s1", "--rules")[1]
    program.write_text("print('I cannot help with that')\n")
    told = json.loads(call("handoff", "s1", "--json")[1])
    assert told["made_by"] == "rules" and FAILS in told["text"] and "no hand-off" in told["warnings"][0]


@pytest.mark.parametrize(
    "sweep", ["git reset --hard origin/main", "git rebase --continue && git push", "git checkout ."]
)
def test_a_hand_off_calls_nothing_uncommitted_that_git_swept_away(shop: Path, sweep: str) -> None:
    """Who goes on looked for changes that were gone, and was told that `/exit` was wanted last."""
    rows = [
        turn("user", "Make the till of the shop round its sums, please", 0, "s9", shop),
        *edited(shop / "till.py", "ROUND = 0", "ROUND = 1", 1, "s9", shop),
        *ran(sweep, "HEAD is now at 1a2b3c4", False, 3, "s9", shop),
        turn("user", "/exit", 5, "s9", shop),
    ]
    kept("s9", rows)
    out = call("handoff", "s9")[1]
    assert "round its sums" in out and "not committed" not in out and "/exit" not in out


def test_a_hand_off_gives_no_secret_away_that_is_told_once_and_said_again_alone(shop: Path, tmp_path: Path) -> None:
    """Neither to the next tool, nor to the model that writes it."""
    token = "Zk7qP2x" + "W9vLm3"
    rows = [
        turn("user", "Open the till for the auditors of the shop, please", 0, "s9", shop),
        turn("user", f"the password: {token}", 1, "s9", shop),
        *(turn("assistant", "I count the drawers of the till, one by one.", at, "s9", shop) for at in range(2, 40)),
        turn("user", f"Now lock the till of the shop with {token} and tell me", 41, "s9", shop),
        turn("assistant", f"The till is locked, and {token} opens it again for the auditors.", 42, "s9", shop),
    ]
    kept("s9", rows)
    assert "lock the till" in (out := call("handoff", "s9")[1]) and token not in out
    asked = tmp_path / "asked"
    program = tmp_path / "model.py"
    program.write_text(f"import sys\nopen({str(asked)!r}, 'w').write(sys.stdin.read())\nprint('## Goal\\nLock it')\n")
    for key, value in (("provider", "command"), ("command", json.dumps([sys.executable, str(program)]))):
        assert call("config", "set", key, value)[0] == 0, key
    assert "Lock it" in call("handoff", "s9")[1]
    assert "opens it again" in asked.read_text() and token not in asked.read_text()


def test_why_names_the_commit_its_session_and_the_reason(shop: Path) -> None:
    """By the hash that git answered in the session; a commit of nobody's is said to be so."""
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    (shop / "pool.py").write_text("SIZE = 4\n")
    for words in (["add", "."], ["commit", "-qm", "Four workers"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    made = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=shop, capture_output=True, text=True, check=True)
    edit = {
        "type": "tool_use",
        "id": "e1",
        "name": "Write",
        "input": {"file_path": str(shop / "pool.py"), "content": "x"},
    }
    rows = [
        turn("user", "The pool dies on the small runner, make it smaller please", 0, "s2", shop),
        turn(
            "assistant",
            [{"type": "text", "text": "Four workers, because the runner kills the pool at five."}, edit],
            1,
            "s2",
            shop,
        ),
        turn("user", [{"type": "tool_result", "tool_use_id": "e1", "content": "written"}], 2, "s2", shop),
        *ran("git commit -am 'Four workers'", f"[main {made.stdout.strip()}] Four workers", False, 3, "s2", shop),
    ]
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    (kept / "s2.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0
    code, out, err = call("why", "pool.py:1")
    assert code == 0, err
    assert "Four workers" in out and "s2:" in out and "known by its hash" in out
    assert "reason (assistant, turn 2): Four workers, because the runner kills the pool at five." in out
    assert "asked for (turn 1): The pool dies" in out
    (shop / "other.py").write_text("pass\n")
    for words in (["add", "."], ["commit", "-qm", "Nobody said why"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    assert "no session that was read made this commit" in call("why", "other.py")[1]
    assert "git tells nothing of line 9" in call("why", "other.py:9")[2]


def edited(
    path: Path, old: str, new: str, at: int, session: str, folder: Path, words: str = ""
) -> list[dict[str, Any]]:
    """A replacement in a file, after what the assistant says of it, and that it was done."""
    given = {"file_path": str(path), "old_string": old, "new_string": new}
    call = {"type": "tool_use", "id": f"e{session}{at}", "name": "Edit", "input": given}
    said = [{"type": "text", "text": words}] if words else []
    back = {"type": "tool_result", "tool_use_id": f"e{session}{at}", "content": "updated"}
    return [turn("assistant", [*said, call], at, session, folder), turn("user", [back], at + 1, session, folder)]


def kept(session: str, rows: list[dict[str, Any]]) -> None:
    """A session where Claude Code keeps it, read into the index."""
    place = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop" / f"{session}.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0


def test_a_line_is_its_writers_and_not_the_committers(shop: Path) -> None:
    """Who commits sweeps up what lay there: their reason for something else, told as the line's, misleads."""
    lines = ["RETRIES = 7  # the bank answers late", "WORKERS = cores - 2", "TIMEOUT = 30  # nobody says"]
    (shop / "bank.py").write_text("\n".join(lines) + "\n")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["add", "."], ["commit", "-qm", "Sort the imports"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    made = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=shop, capture_output=True, text=True, check=True)
    late = "Seven tries, because the bank answers late on Mondays."
    kept("s4", edited(shop / "bank.py", "RETRIES = 3", lines[0], 0, "s4", shop, late))
    rows = edited(shop / "bank.py", f"{lines[1]}\nWIDE", f"{lines[1]}\nNARROW", 0, "s5", shop, "Narrow avoids a crash.")
    receipt = f"[main {made.stdout.strip()}] Sort the imports"
    kept("s5", [*rows, *ran("git commit -am 'Sort the imports'", receipt, False, 2, "s5", shop)])
    out = call("why", "bank.py:1")[1]
    assert "s4:2 (turn 2, known by its edit of the line)" in out and f"turn 1): {late}" in out
    assert "committed in" in out and "s5:4 (turn 4)" in out and "Narrow" not in out
    for line in (2, 3):
        out = call("why", f"bank.py:{line}")[1]
        assert "no session is known to have written this" in out and "reason" not in out and "asked" not in out


def test_why_reads_the_discussion_the_whole_request_and_what_was_deleted(shop: Path) -> None:
    """The reason is seldom beside the edit: it was agreed on before, stands in the middle of a long order, or is why a
    file went; the words beside another edit are not it."""
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    lines = ["ROUNDING_MODE = 'half even'", "MAX_BASKET_ITEMS = 40"]
    (shop / "till.py").write_text("\n".join(lines) + "\n")
    for words in (["add", "."], ["commit", "-qm", "The till"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    agreed = "I would keep the rounding mode that the auditors use, half even, for the yearly report."
    long = f"Tidy the till. {'It is a bit of a mess by now. ' * 12}Limit max basket items to what the printer can take."
    rows = [
        turn("user", agreed, 0, "s6", shop),
        turn("assistant", [{"type": "text", "text": "Understood, that is better."}], 1, "s6", shop),
        turn("user", f"{long} {'Take care of the tests as well. ' * 12}", 2, "s6", shop),
        *edited(shop / "other.py", "a", "b", 3, "s6", shop, "Sorting avoids a crash in the exporter."),
        *edited(shop / "till.py", "ROUNDING_MODE = 'up'", lines[0], 5, "s6", shop),
        *edited(shop / "till.py", "MAX_BASKET_ITEMS = 9", lines[1], 7, "s6", shop),
        turn("user", "The old ledger.py must go because nobody reads its numbers any more.", 9, "s6", shop),
        *ran("git rm ledger.py", "rm 'ledger.py'", False, 10, "s6", shop),
    ]
    kept("s6", rows)
    assert f"reason (user, turn 1): {agreed}" in call("why", "till.py:1")[1]
    out = call("why", "till.py:2")[1]
    assert "asked for (turn 3): Tidy the till." in out and "Limit max basket items" in out
    assert "no reason found around the edit; what was asked for is all that is known" in out
    (shop / "ledger.py").write_text("pass\n")
    for words in (["add", "."], ["commit", "-qm", "Ledger"], ["rm", "-q", "ledger.py"], ["commit", "-qm", "No ledger"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    out = call("why", "ledger.py")[1]
    assert "No ledger" in out and "nobody reads its numbers" in out
    assert "there is no such file" in call("why", "never.py")[2]


def committed(shop: Path, files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        (shop / name).write_text(text)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["add", "."], ["commit", "-qm", message]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)


def test_what_was_asked_for_is_told_apart_from_why(shop: Path) -> None:
    """A finding long before the edit, in whole sentences; no announcement, no code, nothing about another file."""
    lines = ["DRAIN_QUEUE_FIRST = True", "QUEUE_SLOTS = compute(5)", "LEDGER_COPIES = mirrors(2)"]
    found = "The export loses rows because the queue is not drained before the worker stops."
    other = "The export in `mailer.py` is slow because the queue is long."
    token = "Zk7qP2x" + "W9vLm3"  # told as a password once, and said again alone
    thought = f"QUEUE_SLOTS must be computed because the runner of {token} changes."
    guess = "Maybe QUEUE_SLOTS = compute(5) must be nine because QUEUE_SLOTS of the runner changes."
    body = "Two copies of the ledger,\nbecause the auditors ask for\na second one."
    rows = [
        turn("user", "Find out why the nightly export of the shop loses rows and mend it", 0, "s8", shop),
        turn("assistant", [{"type": "text", "text": f"{found} {other}"}], 1, "s8", shop),
        *edited(shop / "mailer.py", "a", "b", 2, "s8", shop, "Now let me update the drain of the queue in the worker."),
        *edited(
            shop / "q.py", "DRAIN = 0", lines[0], 4, "s8", shop, "Now let me fix the queue so that it drains first:"
        ),
        turn("user", f"the password: {token}", 5, "s8", shop),
        turn("user", f"yes, go on with {token}", 6, "s8", shop),
        turn("assistant", [{"type": "thinking", "thinking": f"{guess} {thought}"}], 6, "s8", shop),
        *edited(shop / "q.py", "SLOTS = 1", lines[1], 7, "s8", shop),
        *edited(shop / "q.py", "COPIES = 1", lines[2], 9, "s8", shop),
    ]
    committed(
        shop, {"q.py": "\n".join(lines) + "\n"}, f"Mend the export\n\n{body}\n\nCo-Authored-By: A <a@example.org>"
    )
    made = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=shop, capture_output=True, text=True, check=True)
    kept("s8", [*rows, *ran("git commit -a", f"[main {made.stdout.strip()}] Mend the export", False, 11, "s8", shop)])
    out = call("why", "q.py:1")[1]
    assert "asked for (turn 1): Find out why the nightly export" in out
    assert f"reason (assistant, turn 2): {found}" in out, out
    assert "let me" not in out and "mailer.py" not in out and "Co-Authored" not in out
    assert "  Two copies of the ledger, because the auditors ask for a second one.\n" in out
    out = call("why", "q.py:2")[1]
    assert "loses rows and mend it … then: yes, go on" in out and "Maybe" not in out
    assert "reason (thought, turn 9): QUEUE_SLOTS must be computed" in out and token not in out, out
    told = json.loads(call("why", "q.py:1", "--json")[1])["reasons"][0]
    assert told["quotes"][0] == {"text": found, "turn": 2, "by": "assistant"} and told["asked_turn"] == 1


def test_a_line_is_found_in_what_any_tool_calls_an_edit(shop: Path) -> None:
    """Blocks of aider in the answer before, a patch in a shell, several edits at once, a plain here-document; and in a
    repository that has moved since."""
    block = "till.py\n```python\n<<<<<<< SEARCH\nTAX_RATE = 7\n=======\nTAX_RATE_OF_BOOKS = 5\n>>>>>>> REPLACE\n```"
    (shop / ".aider.chat.history.md").write_text(
        "\n# aider chat started at 2025-07-15 11:38:37\n\n#### books are taxed at five percent since the spring\n\n"
        f"The rate of books changes, because the law says so.\n\n{block}\n\n> Applied edit to till.py  \n"
    )
    added = "*** Update File: a/pot.py\n@@\n-x = 1\n+POT_OF_COPPER = 'x'"
    patch = f"apply_patch <<'EOF'\n*** Begin Patch\n{added}\n*** End Patch\nEOF"
    swaps = [
        {"old_string": "old", "new_string": 'COLOUR_OF_MUGS = "grey"\nmore'},
        {"old_string": "b", "new_string": "c"},
    ]
    moved = {"file_path": "/elsewhere/shop/cup.py", "edits": swaps}
    call_of = {"type": "tool_use", "id": "m1", "name": "MultiEdit", "input": moved}
    other = Path("/elsewhere/shop")
    rows = [
        turn("user", "Grey mugs please, the white ones are sold out", 0, "s9", other),
        turn("assistant", [call_of], 1, "s9", other),
        turn("user", [{"type": "tool_result", "tool_use_id": "m1", "content": "updated"}], 2, "s9", other),
    ]
    kept("s9", rows)
    shell = [
        turn("user", "The pot must be of copper, tin melts on the new stove", 0, "s10", shop),
        *ran(patch, "Success", False, 1, "s10", shop),
        turn("user", "Write down how long the kettle boils in kettle.cfg", 3, "s10", shop),
        *ran("cat > kettle.cfg <<'EOF'\nboiling_seconds = 140\nEOF", "", False, 4, "s10", shop),
    ]
    kept("s10", shell)
    files = {
        "till.py": "TAX_RATE_OF_BOOKS = 5\n",
        "cup.py": 'COLOUR_OF_MUGS = "grey"\n',
        "kettle.cfg": "boiling_seconds = 140\n",
    }
    (shop / "a").mkdir()
    committed(shop, {**files, "a/pot.py": "POT_OF_COPPER = 'x'\n"}, "Wares")
    for place, asked in (
        ("till.py:1", "books are taxed at five percent since the spring"), ("a/pot.py:1", "The pot must be of copper"),
        ("cup.py:1", "Grey mugs please"), ("kettle.cfg:1", "Write down how long the kettle boils"),
    ):  # fmt: skip
        assert asked in (out := call("why", place)[1]), out
    assert "because the law says so" in call("why", "till.py:1")[1] and "because the law" in call("why", "till.py")[1]
    assert "in a session of another folder" in call("why", "cup.py:1")[1]


def test_a_hand_off_tells_what_was_last_asked_how_checks_ended_and_what_is_gone(shop: Path) -> None:
    """A file that is as before, a test that fails, a `yes` without its question: who goes on would begin wrongly."""
    command = (
        "<command-message>mend</command-message>\n<command-name>/mend</command-name>\n<command-args>31</command-args>"
    )
    kept(
        "s6",
        [
            turn("user", command, 0, "s6", shop),
            *edited(shop / "a.py", "keep\none", "keep\ntwo", 1, "s6", shop),
            *edited(shop / "b.py", "x", "y", 3, "s6", shop),
            *edited(shop / "c.py", "x", "y", 5, "s6", shop),
            *ran("make test | tail -3", "2 failed, 3 passed", False, 7, "s6", shop),
            *edited(shop / "a.py", "two\nend", "one\nend", 9, "s6", shop),
            *ran("rm b.py ; ls", "c.py", False, 11, "s6", shop),
            *ran("make lint", "fine", False, 13, "s6", shop),
            turn("assistant", [{"type": "text", "text": "Shall I push it?"}], 15, "s6", shop),
            turn("user", "yes do", 16, "s6", shop),
        ],
    )
    out = call("handoff", "s6")[1]
    assert "> /mend\n" in out and "- then asked (turn 2): 31\n  - came to: Shall I push it?\n" in out
    assert "): yes do (asked: “Shall I push it?”)" in out
    assert "`a.py` (changed and taken back)" in out and "`b.py` (deleted)" in out and "`c.py`" in out
    assert "- `make test` (turn 9: failed: 2 failed, 3 passed; files were written since)" in out
    assert "- `make lint` (turn " in out and ": passed)" in out
    still_open = out.partition("## Open")[2].partition("##")[0]
    assert "`c.py`" in still_open and "`a.py`" not in still_open, "what is not committed is open, not what is as before"
    kept("s7", [*ran("make test", "ok", False, 0, "s7", shop), turn("user", "now make the coffee", 2, "s7", shop)])
    assert "- the last request was not answered: “now make the coffee”" in call("handoff", "s7")[1]


@pytest.mark.parametrize("row", ["| {} | {} |", "{}) {}", "- **{}.** {}"])
def test_a_letter_that_answers_a_list_is_told_with_the_question_and_what_was_chosen(shop: Path, row: str) -> None:
    """ "A" alone says nothing to who goes on."""
    listed = "\n".join(row.format(*one) for one in (("A", "Title and notes"), ("B", "Notes only"), ("C", "Nothing")))
    offered = f"May an idea be edited once it is there?\n\n{listed}"
    rows = [
        turn("user", "Make a plan for the ideas of the shop, please", 0, "s9", shop),
        turn("assistant", [{"type": "text", "text": offered}], 1, "s9", shop),
        turn("user", "B", 2, "s9", shop),
        turn("assistant", [{"type": "text", "text": "Notes it is."}], 3, "s9", shop),
    ]
    kept("s9", rows)
    out = call("handoff", "s9")[1]
    assert "B (of the list: “May an idea be edited once it is there?” “" in out and "Notes only”)" in out, out


def test_a_hand_off_of_a_long_session_can_be_read(shop: Path) -> None:
    """What is wanted now and what to do next come first; what was asked long ago is a line, the newest in sentences."""
    rows = [turn("user", "Mend the export of the shop so that no rows are lost", 0, "s11", shop)]
    for at in range(1, 41, 2):
        said = (
            f"I apologize for the confusion. Step {at} of the export is mended in `export.py`. {'It took long. ' * 60}"
        )
        rows += [
            turn("assistant", [{"type": "text", "text": said}], at, "s11", shop),
            turn(
                "user",
                f"Look at step {at + 2} of the export too, rows are lost there as well I think",
                at + 1,
                "s11",
                shop,
            ),
        ]
    todo = "You will need to restart the worker of the export on the runner by hand."
    note = f"It is pushed. {todo}\n\n```bash\nmake restart\n```"
    looking = "I'm doing one last look at the export because the runner is slow, and then the rest of it."
    rows += [
        turn("assistant", [{"type": "text", "text": looking}], 40, "s11", shop),
        *ran("make lint", "export.py:3: unused name", True, 41, "s11", shop),
        *ran("make fmt && make lint", "fine", False, 43, "s11", shop),
        turn("assistant", [{"type": "text", "text": note}], 45, "s11", shop),
        turn("user", "Now count the rows of the export of last night", 46, "s11", shop),
        turn("assistant", [{"type": "text", "text": "There are 312 rows. All tests pass."}], 47, "s11", shop),
        turn("user", "nice, that worked!", 48, "s11", shop),
        turn("assistant", [{"type": "text", "text": "Glad to hear it."}], 49, "s11", shop),
    ]
    kept("s11", rows)
    out = call("handoff", "s11")[1]
    parts = {part.partition("\n")[0]: part for part in out.split("\n## ")}
    assert len(out.encode()) <= 6000 and list(parts)[1:4] == ["Goal", "State", "Open"]
    assert "Mend the export" in parts["Goal"] and "asked last (turn 47): Now count the rows" in parts["Goal"]
    assert "the user then said (turn 49): nice, that worked!" in parts["Goal"]
    assert f": {todo}" in parts["Open"] and "one last look" not in out
    went = parts["How it went"].strip().split("\n")
    assert "There are 312 rows." in went[-1] and "requests between are left out" in parts["How it went"]
    assert "left out …]" not in parts["How it went"] and "apologize" not in out
    assert "- no edit is recorded; named most in the talk: `export.py`" in parts["Files"]


def test_unknown_never_said_and_a_missing_phrase_are_told_apart(shop: Path) -> None:
    assert "no project of that name is known" in call("find", "notes", "--project", "nowhere")[2]
    assert "never said" in call("find", "zeppelin", "--project", "shop")[1]
    assert "'purple elephant' stands nowhere" in call("find", '"purple elephant" notes')[1]


@pytest.mark.parametrize("name", ["shop", "acme/shop", "{folder}", "{folder}/", "{folder}/.worktrees/1"])
def test_a_project_is_named_as_hits_print_it(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "towncrier" in call("find", "release notes", "--project", name.format(folder=shop))[1]


def test_show_reads_the_part_that_matters(shop: Path) -> None:
    around = call("show", "s1:2", "--around", "1")[1]
    assert "towncrier" in around and "How do we write" in around and "all checks passed" not in around
    assert "Shall I commit" in (end := call("show", "s1", "--end", "--limit", "1")[1]) and "towncrier" not in end
    assert "towncrier" not in call("show", "s1", "--role", "user")[1]


def test_what_connect_wrote_can_be_run_as_the_tool_would(shop: Path) -> None:
    """Whoever connected a tool wants to see it work before the next session."""
    assert call("connect", "claude_code", "--yes")[0] == 0
    code, out, _ = call("connect", "claude_code", "--check")
    assert code == 0 and out.count("works (") == 6 and "does not work" not in out, out
