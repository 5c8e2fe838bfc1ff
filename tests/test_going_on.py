"""How somebody goes on with what was done: hand-offs, and why a line is as it is."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_call import call
from tests.shop import FAILS, WORKS, edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


def test_a_hand_off_tells_goal_state_and_what_was_tried(shop: Path) -> None:
    """Enough to go on in another tool, and short; by its command line the other tool starts with it."""
    code, out, err = call("handoff", "s1")
    assert code == 0 and len(out.encode()) <= 6000, err
    assert "> How do we write the release notes for the shop?" in out and "## State" in out
    assert FAILS in out and WORKS in out and "Shall I commit it?" in out and "## Verify" in out
    assert 'codex "$(knowledge handoff ' in call("handoff", "s1", "--to", "codex")[1]
    assert "no conversation of that name" in call("handoff", "s9")[2]
    kept("s3", [turn("user", "Count the coins of the shop", 0, "s3", shop / ".worktrees" / "gone")])
    assert call("handoff", "s3", "--to", "codex")[1].startswith(f"cd {shop} && codex"), "a work tree that is gone"
    assert call("handoff", "s1:2")[1] == out, "as a hit prints the session, with a turn"
    assert call("config", "set", "search_conversations", "false")[0] == 0
    assert json.loads(call("show", "s1", "--json")[1])["day"] == "2026-05-01", "no index, and the file is of today"


def test_the_command_line_of_a_hand_off_reads_the_home_it_was_asked_in(shop: Path, tmp_path: Path) -> None:
    """Without it the other tool would start with an error in place of the hand-off, or with the lines of a model."""
    home = ("--home", str(tmp_path / "a home"))
    assert call("search", "--build", "--quiet", *home)[0] == 0
    start = call("handoff", "s1", "--to", "codex", "--rules", *home)[1]
    words = shlex.split(start.partition('codex "$(')[2].partition(')"')[0])
    assert {*home, "--rules"} < set(words)
    assert call(*words[1:])[1] == call("handoff", "s1", *home)[1]


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


def test_a_work_tree_knows_what_was_saved_for_its_repository(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent in a work tree saved a memory for its project by its name, and was never told it again."""
    subprocess.run(["git", "worktree", "add", "-q", "../tree"], cwd=shop, check=True)
    monkeypatch.chdir(shop.parent / "tree")
    assert call("save", "The heron nests in March", "--project", str(shop))[0] == 0
    assert "heron nests" in call("recall", "heron")[1] and "heron nests" in call("find", "heron")[1]
    assert "001-the-heron" in call("trust", "forget")[1], "what was allowed as it was saved"
    assert "heron nests" not in call("recall", "heron")[1] and "holds 1 in memories/" in call("trust")[1]
    assert call("trust", "allow")[0] == 0 and "heron nests" in call("recall", "heron")[1]
    assert call("save", "The egret nests in May", "--project", ".")[0] == 0
    assert "egret nests" in call("recall", "egret")[1], "what it has of its own is nearer"
    monkeypatch.chdir(shop.parent)
    assert "heron nests" not in call("recall", "heron")[1]


@pytest.mark.parametrize(
    "sweep",
    ["git reset --hard origin/main", "git rebase --continue && git push", "git checkout .", "git commit -qam Round"],
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
    assert "there is no line 9: the file has " in call("why", "other.py:9")[2]


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
    assert "no reason is stated around the edit; what was asked for is all that is known" in out
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
    thought = "QUEUE_SLOTS must be computed because the runner changes."
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
        turn("assistant", [{"type": "thinking", "thinking": thought}], 6, "s8", shop),
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
    assert "loses rows and mend it … then: yes, go on" in out and token not in out
    assert thought not in out, "no turn of a conversation shows what was only thought"
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


def test_why_knows_a_commit_of_aider_by_its_hash_and_takes_no_code_for_a_reason(shop: Path) -> None:
    """Its commits stand in notices, which are no words: a line too short for its edit to tell was nobody's. What was
    pasted without a fence is neither reason nor request, and what a change is to spare somebody is a reason."""
    committed(shop, {"rack.ts": "HOOKS = 5\n"}, "Five hooks")
    made = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=shop, capture_output=True, text=True, check=True)
    spares = "Next I'm adding hooks so wet coats can't touch each other on the rack."
    asked = "#### Give the rack of the shop five hooks, here is how rack.ts begins  \n"
    pasted = "#### */ export function hooks of the rack and coats on rack.ts() {  \n" * 9
    block = "rack.ts\n```\n<<<<<<< SEARCH\nHOOKS = 3\n=======\nHOOKS = 5\n>>>>>>> REPLACE\n```"
    (shop / ".aider.chat.history.md").write_text(
        f"\n# aider chat started at 2026-01-02 11:38:37\n\n{asked}{pasted}\n{spares}\n\n{block}\n\n"
        f"> Applied edit to rack.ts  \n> Commit {made.stdout.strip()} Five hooks  \n"
    )
    assert call("search", "--build", "--quiet")[0] == 0
    out = call("why", "rack.ts:1")[1]
    assert "known by its hash" in out and f"reason (assistant, turn 2): {spares}" in out, out
    assert "Give the rack" in out and "export function" not in out, out


def test_a_line_is_found_where_its_transcript_escapes_it_or_cuts_the_call(shop: Path) -> None:
    """Markdown writes `&amp;&amp;`, and of a long patch the middle is not shown; what nobody wrote is said to be so."""
    history = shop / ".specstory" / "history"
    history.mkdir(parents=True)
    (history / "2026-01-02_10-00-00Z-till.md").write_text(
        "<!-- Generated by SpecStory -->\n\n# Till (2026-01-02 10:00:00Z)\n\n_**User**_\n\n"
        "Open the till only for the auditors\n\n"
        '---\n\n_**Agent**_\n\n<tool-use data-tool-type="write" data-tool-name="apply_patch"><details>\n'
        "<summary>Tool use: **apply_patch** • Apply patch to till.js</summary>\n\n"
        "```diff\n@@\n+ if (auditor &amp;&amp; till.closed) {\n```\n</details></tool-use>\n\n---\n"
    )
    line = "DRAWERS_OF_THE_TILL = ['left', 'right']"
    filler = "\n".join(f"+FILLER_{number} = {number}" for number in range(900))
    added = f"*** Add File: drawers.py\n{filler}\n+{line}\n{filler}"
    patch = f"apply_patch <<'EOF'\n*** Begin Patch\n{added}\n*** End Patch\nEOF"
    asked = turn("user", "Write down which drawers the till of the shop has", 0, "s12", shop)
    kept("s12", [asked, *ran(patch, "Success", False, 1, "s12", shop)])
    committed(shop, {"till.js": "if (auditor && till.closed) {\n", "drawers.py": f"{line}\n", "own.py": "x\n"}, "Till")
    assert "asked for (turn 1): Open the till only" in (out := call("why", "till.js:1")[1]), out
    assert "known by its edit of the line" in (out := call("why", "drawers.py:1")[1]) and "which drawers" in out, out
    (shop / "own.py").write_text("MADE_BY_HAND_ALONE = True\n")
    assert "not committed\n  no session that was read wrote this" in call("why", "own.py:1")[1]


def test_an_edit_that_was_refused_in_a_specstory_history_is_no_edit(shop: Path) -> None:
    """The hand-off said that nothing was open; three edits had been refused, and the session broken off."""
    history = shop / ".specstory" / "history"
    history.mkdir(parents=True)
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    (history / "2026-01-02_10-00-00Z-labels.md").write_text(
        "<!-- Generated by SpecStory, Markdown v2 -->\n\n# Labels (2026-01-02 10:00:00Z)\n\n_**User**_\n\n"
        "Take the labels of the shop away\n\n---\n\n_**Agent**_\n\nThere are three. I'll remove each.\n\n"
        '<tool-use data-tool-type="write" data-tool-name="Edit"><details>\n<summary>Tool use: **Edit** '
        f"• Edit file: label.py</summary>\n\n```text\n{refused}\n```\n</details></tool-use>\n\n"
        "---\n\n_**User**_\n\n[Request interrupted by user for tool use]\n"
    )
    assert call("search", "--build", "--quiet")[0] == 0
    told = call("handoff", "2026-01-02_10-00-00Z-labels")[1]
    assert "interrupted by the user" in told and "refused" in told and "nothing" not in told, told


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
    assert "> /mend 31\n" in out and out.count("Shall I push it?") == 2, "the last words are told once"
    assert "): yes do (asked: “Shall I push it?”)" in out
    assert "`a.py` (changed and taken back)" in out and "`b.py` (deleted)" in out and "`c.py`" in out
    assert "- `make test` (turn 9: failed: 2 failed, 3 passed; files were written since)" in out
    assert "- `make lint` (turn " in out and ": passed)" in out
    still_open = out.partition("## Open")[2].partition("##")[0]
    assert "`c.py`" in still_open and "`a.py`" not in still_open, "what is not committed is open, not what is as before"
    kept("s7", [*ran("make test", "ok", False, 0, "s7", shop), turn("user", "now make the coffee", 2, "s7", shop)])
    assert "- the request was not answered" in call("handoff", "s7")[1]


def test_a_hand_off_tells_the_end_and_not_the_beginning(shop: Path) -> None:
    """The branch, what a shell wrote, moved and removed, a pull request that waits, a check in words: who goes on would
    look for what is gone, and in the wrong place."""
    address, closing = (
        "https://example.org/shop/till/pull/7",
        "Done, 6 passed. The scale is blocked by the vendor. We wait until the scale test passes.",
    )
    begun = turn("user", "Tidy the drawers of the till and send it in, please", 0, "s9", shop)
    rows = [
        begun | {"gitBranch": "old"},
        *edited(shop / "gone.py", "a", "b", 1, "s9", shop, "The drawer jams because the coin tray is too wide for it."),
        *edited(shop / "named.py", "a", "b", 3, "s9", shop),
        *ran("rm gone.py && git mv named.py drawer.py", "", False, 5, "s9", shop),
        *ran("git commit -m 'Tidy'", "[tidy 1a2b3c4] Tidy", False, 7, "s9", shop),
        *ran("git push", "old..new  tidy -> tidy", False, 9, "s9", shop),
        *ran("gh pr view --json url,state", f'{{"state":"OPEN","url":"{address}"}}', False, 11, "s9", shop),
        *ran("echo 'a > b.py' >> docs/till.md", "", False, 13, "s9", shop),
        *ran("cat <<'EOF' > coins.md\nrm drawer.py\nEOF", "", False, 14, "s9", shop),
        turn(
            "assistant",
            [{"type": "text", "text": closing}],
            15,
            "s9",
            shop,
        ),
    ]
    kept("s9", rows)
    out = call("handoff", "s9")[1]
    assert "- Branch: tidy\n" in out and "`gone.py` (deleted)" in out, out
    assert "`named.py` (moved to `drawer.py`)" in out
    still_open = out.partition("## Open")[2].partition("##")[0]
    assert "`till.md`, `coins.md` were changed and not committed" in still_open and "`b.py`" not in out
    assert f"{address} is not known to be merged" in still_open and "The scale is blocked" in still_open
    assert "“Done, 6 passed.”" in out and "build is recorded" not in out
    assert "until the scale test" not in out.partition("## Verify")[2].partition("## ")[0], "a wish is no result"
    kept("s9", [*rows, *ran("gh pr merge 7", "", False, 17, "s9", shop)])
    assert address not in call("handoff", "s9")[1].partition("## Open")[2].partition("##")[0]


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
    note = f"It is pushed. {todo} Once it is merged, run:\n\n```bash\nmake restart\n```"
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
    assert f": {todo}" in parts["Open"] and "Once it is merged, run: `make restart`" in parts["Open"]
    assert "one last look" not in out
    went = parts["How it went"].strip().split("\n")
    assert "There are 312 rows." in went[-1] and "requests between are left out" in parts["How it went"]
    assert "left out …]" not in parts["How it went"] and "apologize" not in out
    assert "- no edit is recorded" in parts["Files"] and "export.py" not in parts["Files"]


def test_who_names_no_session_or_a_line_of_the_knowledge_is_told_the_way(shop: Path) -> None:
    assert "'knowledge search --since DAY'" in call("handoff")[2]
    assert "s1" in call("search", "--since", "2026-01-01")[1], "which lists names"
    assert call("add", "facts", "The cellar is dry")[0] == 0
    assert "'knowledge evidence facts.md:3'" in call("why", "facts.md:3")[2]
    assert "The cellar is dry" in call("evidence", "facts.md:3")[1]
    assert "FILE:LINE" in call("why", "nothing.md:3")[2]
