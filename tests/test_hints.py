"""Hints: the one right line at a prompt, before a command that failed here, after a failure, at a file."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tests.mcp_tools  # noqa: F401 - describes each tool once
from core.agents import tools
from core.agents.tools import HINT
from core.base.choices import HINT_EVENTS
from core.base.command_line import command_key, error_key, goals, is_invocation
from tests.asking import answered
from tests.cli_call import call
from tests.shop import ERROR, FAILS, WORKS, edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

SETTINGS = {"claude_code": ".claude/settings.json", "codex": ".codex/hooks.json"}
SHELLS = {"claude_code": ["/bin/sh", "-c"], "codex": ["/bin/sh", "-lc"]}


def hook(folder: Path, said: dict[str, Any], session: str = "now", tool: str = "claude_code") -> str:
    """What the hook that `connect` writes answers, run as its tool does; it is silent about itself and ends well."""
    settings = Path(os.environ["HOME"]) / SETTINGS[tool]
    if not settings.exists():
        assert call("connect", tool, "--yes")[0] == 0
    rows = json.loads(settings.read_text())["hooks"][said["hook_event_name"]]
    (line,) = [one["command"] for row in rows for one in row["hooks"] if "hint" in one["command"]]
    given = json.dumps({"session_id": session, "cwd": str(folder), "transcript_path": "", **said})
    done = subprocess.run(
        [*SHELLS[tool], line], input=given, text=True, capture_output=True, check=False, cwd=folder, timeout=30
    )
    assert (done.returncode, done.stderr) == (0, "")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["hookEventName"] == said["hook_event_name"] and len(answer["additionalContext"].encode()) <= 1500
    return str(answer["additionalContext"])


def prompt(words: str) -> dict[str, Any]:
    return {"hook_event_name": "UserPromptSubmit", "prompt": words}


def shell(command: str) -> dict[str, Any]:
    return {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")
ASKS = "write the release notes, and generate them like the bot wants"


def test_a_prompt_gets_the_line_that_speaks_to_it_once(shop: Path) -> None:
    """The rule was told in one session and must not be told again by the user in the next; nor does it come twice."""
    assert "towncrier build --draft" in hook(shop, prompt(ASKS))
    assert hook(shop, prompt(ASKS)) == ""
    assert "towncrier" in hook(shop, prompt(ASKS), "another session")
    assert hook(shop, {"hook_event_name": "PreCompact"}) == ""
    assert "towncrier" in hook(shop, prompt(ASKS)), "after a compaction the session has forgotten it"


@pytest.mark.parametrize(
    "words", ["ok", "continue", "yes please, go ahead", "what is the capital of Mongolia", "/clear"]
)
def test_what_is_about_nothing_gets_no_line(shop: Path, words: str) -> None:
    assert hook(shop, prompt(words)) == ""


def test_a_command_that_failed_here_is_warned_about_and_an_error_cured(shop: Path) -> None:
    told = hook(shop, shell(f"cd {shop} && {FAILS} 2>&1 | tail -5"))
    assert WORKS in told and "No rule to make target" in told
    assert WORKS in hook(shop, failed(FAILS, ERROR), "second")
    assert hook(shop, shell(WORKS)) == "" == hook(shop, shell("git status"))


def test_a_program_that_is_not_found_is_told_by_what_took_its_arguments(shop: Path) -> None:
    """A warning that names no way out costs the agent the search that was made once."""
    rows = [
        *ran("tills -h", "zsh: command not found: tills", True, 0, "s3", shop),
        *ran("git status && make paint", "painted", False, 2, "s3", shop),
        *ran("python -m drawers -h", "open", False, 4, "s3", shop),
    ]
    kept("s3", rows)
    assert "`python -m drawers -h` works" in hook(shop, shell("tills -h"))


def test_a_line_out_of_a_list_has_none_of_its_marks_and_is_told_from_the_next(shop: Path) -> None:
    """Two items ran into one sentence behind two dashes."""
    rule = "The crane of the pier must be parked eastward because the gusts of November topple it"
    said = f"- {rule}\n- Its brake holds twelve tons.\n\nThe quay is swept."
    kept("s3", [turn("assistant", [{"type": "text", "text": said}], 1, "s3", shop)])
    told = hook(shop, prompt("park the crane of the pier so that gusts of November do no harm"))
    assert "- The crane" in told and "- - " not in told, told
    assert "topple it; Its brake holds twelve tons." in told, told


@pytest.mark.parametrize("times", [1, 2])
def test_what_a_harvest_by_hand_found_is_there_at_the_next_prompt(shop: Path, times: int) -> None:
    """The lines of a harvest spoke to nobody until somebody searched, or a session ended; and those of what failed more
    than once never."""
    assert call("connect", "claude_code", "--yes")[0] == 0
    error = "fatal: 'trunk' is already used by worktree at '/src/shop'"
    works = "git checkout -b till origin/trunk"
    asked = turn("user", "Make the till of the shop round its sums on a branch of its own, please", 0, "s3", shop)
    rows = [
        asked,
        *[row for at in range(times) for row in ran("git checkout trunk", error, True, 1 + 2 * at, "s3", shop)],
        *ran(works, "Switched to a new branch", False, 5, "s3", shop),
    ]
    kept("s3", rows)
    assert call("harvest", "--source", "claude_code", "--apply", "--now", "--quiet")[0] == 0
    assert works in hook(shop, prompt("open up an appropriate branch off trunk"))


NO_BASE = (
    "pull request create failed: GraphQL: Head sha can't be blank, Base sha can't be blank, No commits between"
    " anna/till-of-the-shop and anna/till-counts-once-and-prints-what-it-counted, Base ref must be a branch"
)


def pull_request(base: str, title: str = "Count the till of the shop in one place only") -> str:
    text = "## Summary\n\n- the till is counted once\n\n## Test plan\n\n- [x] `make -C app check`"
    return f'gh pr create --draft --base {base} --title "{title}" --body "$(cat <<\'EOF\'\n{text}\nEOF\n)"'


def failed_pull_request(shop: Path, base: str = "anna/till") -> dict[str, Any]:
    said = {**shell(pull_request(base)), "hook_event_name": "PostToolUseFailure"}
    return said | {"error": f"Exit code 1\n{NO_BASE}"}


@pytest.fixture(name="pulled")
def pulled_fixture(shop: Path) -> Path:
    """The shop, with a harvested session in which a pull request found no base and was made on another."""
    rows = [
        turn("user", "Open a pull request for the till, please", 0, "s3", shop),
        *ran(pull_request("anna/till"), f"Exit code 1\n{NO_BASE}", True, 1, "s3", shop),
        *ran(pull_request("main"), "https://github.com/shop/shop/pull/7", False, 3, "s3", shop),
    ]
    kept("s3", rows)
    assert call("harvest", "--source", "claude_code", "--apply", "--now", "--quiet")[0] == 0
    return shop


def test_a_kept_line_speaks_before_its_command_and_after_its_error(pulled: Path) -> None:
    """`knowledge list` showed the lesson, and its command ran into the same error again."""
    told = hook(pulled, shell(pull_request("anna/till")))
    assert "--base main" in told and "works" in told and "No commits between" in told
    assert "--base main" in hook(pulled, failed_pull_request(pulled), "second")
    assert "--base main" in hook(pulled, failed_pull_request(pulled, "anna/quay"), "third"), "the same error"
    for silent in (pull_request("main"), pull_request("anna/till", "Paint the pier"), "gh pr create --fill"):
        assert hook(pulled, shell(silent), "fourth") == "", silent
    assert hook(pulled, failed_pull_request(pulled, "main"), "fifth") == "", "it is what the line recommends"
    assert call("rm", "facts", "No commits between", "--strike")[0] == 0
    assert hook(pulled, shell(pull_request("anna/till")), "sixth") == ""
    assert hook(pulled, failed_pull_request(pulled), "seventh") == ""


def test_a_kept_line_is_silent_once_its_command_passes(pulled: Path) -> None:
    kept("s4", ran(pull_request("anna/till"), "https://github.com/shop/shop/pull/8", False, 0, "s4", pulled))
    assert hook(pulled, shell(pull_request("anna/till"))) == ""


def test_a_failure_that_nothing_cured_is_told_before_its_command_alone(shop: Path) -> None:
    error = "ERR_PNPM_UNSUPPORTED_ENGINE Unsupported environment (bad pnpm and/or Node.js version)"
    kept("s3", [turn("user", "Run it", 0, "s3", shop), *ran("pnpm sweep", error, True, 1, "s3", shop)])
    assert call("harvest", "--source", "claude_code", "--apply", "--now", "--quiet")[0] == 0
    assert "nothing in the session made it work" in hook(shop, shell("pnpm sweep"))
    assert hook(shop, shell("pnpm sweep --all")) == ""


def test_a_prompt_hears_what_works_to_the_end_of_the_line(pulled: Path) -> None:
    """A long error filled the line, and the command that works was cut off."""
    told = hook(
        pulled, prompt("gh pr create a draft with base anna/till, title: count the till of the shop in one place only")
    )
    assert "--base main" in told and '--body "…" works → ' in told


def test_a_command_with_its_text_left_out_counts_as_followed(pulled: Path) -> None:
    from core.commands.moment.hints import judge
    from core.commands.workspace import open_workspace

    transcript = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop" / "s9.jsonl"
    assert hook(pulled, shell(pull_request("anna/till")) | {"transcript_path": str(transcript)})
    rows = ran(pull_request("main"), "https://github.com/shop/shop/pull/9", False, 1, "s9", pulled)
    transcript.write_text("".join(json.dumps(row | {"timestamp": "2099-01-01T00:00:00Z"}) + "\n" for row in rows))
    os.utime(transcript, (1, 1))
    judge(open_workspace())
    assert "1 followed" in call("hints")[1]


BODY = "The till is counted once, and what it counted is printed at the end of each day. "


def described(base: str, more: str = "", body: str = BODY) -> str:
    return f'gh pr create --draft --base {base} --body "{body}"{more}'


def learned(shop: Path, fails: str, error: str, works: str) -> None:
    """A session in which a command failed and another one passed, harvested."""
    asked = turn("user", "Open a pull request for the till, please", 0, "s3", shop)
    kept(
        "s3",
        [asked, *ran(fails, f"Exit code 1\n{error}", True, 1, "s3", shop), *ran(works, "done", False, 3, "s3", shop)],
    )
    assert call("harvest", "--source", "claude_code", "--apply", "--now", "--quiet")[0] == 0
    assert call("search", "till")[0] == 0


def failed(command: str, error: str) -> dict[str, Any]:
    return {**shell(command), "hook_event_name": "PostToolUseFailure", "error": f"Exit code 1\n{error}"}


def written(shop: Path, fails: str, told: str, works: str) -> None:
    """A session in which a command failed, and the line that tells so."""
    kept("s3", ran(fails, f"Exit code 1\n{NO_BASE}", True, 0, "s3", shop))
    line = f"`{told}` fails (“{NO_BASE}”); `{works}` works [from: claude_code/s3, 2026-05-03]"
    knowledge = Path(os.environ["HOME"]) / ".manual_slop/knowledge"
    knowledge.mkdir(parents=True, exist_ok=True)
    (knowledge / "facts.md").write_text(f"# Facts\n\n- {line}\n")
    assert call("search", "works")[0] == 0


def test_a_lesson_of_a_command_with_a_very_long_text_is_told(shop: Path) -> None:
    """It was listed, and both hooks were silent: the key of so long a command ends within the text."""
    fails, works, other = (described(base, " --web", BODY * 5) for base in ("anna/till", "main", "anna/quay"))
    told, recommended = (described(base, " --web", "…") for base in ("anna/till", "main"))
    written(shop, fails, told, recommended)
    assert "--base main" in hook(shop, shell(fails))
    assert "--base main" in hook(shop, failed(fails, NO_BASE), "second")
    assert hook(shop, shell(other), "third") == "" == hook(shop, failed(works, NO_BASE), "fourth")


def test_what_follows_a_long_text_makes_it_another_command(shop: Path) -> None:
    """With an option more it counted as the command that the line recommends, and nothing was told of its error."""
    learned(shop, described("anna/till"), NO_BASE, described("main"))
    assert "--base main" in hook(shop, failed(described("main", " --assignee 'anna'"), NO_BASE))
    for body in (BODY, "Short", f'{BODY} The \\"till\\" prints.'):
        assert hook(shop, failed(described("main", body=body), NO_BASE), "second") == "", body


def test_what_has_failed_since_is_recommended_no_more_whatever_its_text(shop: Path) -> None:
    learned(shop, described("anna/till"), NO_BASE, described("main"))
    kept("s4", ran(described("main", body="Another text"), "Exit code 1\nHTTP 500 error", True, 0, "s4", shop))
    assert hook(shop, shell(described("anna/till"))) == ""
    kept("s5", ran(described("main", body="A third"), "done", False, 0, "s5", shop))
    assert "--base main" in hook(shop, shell(described("anna/till")), "second")


def test_a_warning_with_a_long_text_that_the_user_struck_comes_no_more(shop: Path) -> None:
    """The line leaves out the text of both commands, the index does not: the hooks told what the user had struck."""
    fails, works = (f'hg submit {option} -m "{BODY * 3}"' for option in ("--sgin", "--sign"))
    error = "hg submit: unrecognized option '--sgin'"
    learned(shop, fails, error, works)
    assert "--sign" in hook(shop, shell(fails)) and "--sign" in hook(shop, failed(fails, error))
    assert call("rm", "facts", "unrecognized option", "--strike")[0] == 0
    assert hook(shop, shell(fails), "second") == "" == hook(shop, failed(fails, error), "third")


def test_a_line_with_many_long_texts_holds_no_hook_up(shop: Path) -> None:
    """Each "…" stood for anything: fourteen of them against a list of short texts took for hours."""
    given, told = (f"post --wait '[{', '.join(texts)}]'" for texts in (['"0"'] * 50, ['"…"'] * 14))
    written(shop, f"{given} --late", f"{told} --soon", "post --now")
    assert hook(shop, shell(f"{given} --late")) == ""


def test_codex_tells_of_a_failure_by_its_output_alone(shop: Path) -> None:
    """Its PostToolUse has no status, and `transcript_path` may be null: the cure must come, and only with an error."""
    told: dict[str, Any] = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": FAILS}}
    told |= {"transcript_path": None, "turn_id": "t", "model": "m", "permission_mode": "default"}
    assert WORKS in hook(shop, {**told, "tool_response": f"{ERROR}\n"}, tool="codex")
    assert hook(shop, {**told, "tool_response": "all checks passed, 0 errors\n"}, "second", "codex") == ""
    assert WORKS in hook(shop, shell(FAILS), "third", "codex")
    assert "towncrier" in hook(shop, prompt(ASKS), "third", "codex")


def test_a_note_of_a_file_is_told_before_it_is_changed_until_the_user_removes_it(shop: Path) -> None:
    """What was taken out is told to no agent, though nobody has searched since."""
    file = shop / "app.py"
    file.write_text("pass\n")
    said = {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": str(file)}}
    assert call("add", "files", "The retries are counted here", "--file", str(file))[0] == 0
    assert call("search", "retries")[0] == 0
    assert "retries are counted" in hook(shop, said)
    tree = shop.parent / "tree"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=shop, check=True)
    there = {**said, "tool_input": {"file_path": str(tree / "app.py")}}
    assert "- app.py: The retries are counted" in hook(tree, there, "of a work tree")
    assert "retries are counted" in call("notes", str(tree / "app.py"))[1]
    assert call("rm", "files", "The retries are counted here")[0] == 0
    assert hook(shop, said, "another") == ""


def test_a_line_that_the_user_struck_through_speaks_to_no_prompt(shop: Path) -> None:
    knowledge = Path(os.environ["HOME"]) / ".manual_slop/knowledge"
    name = json.loads(call("search", "release notes", "--kind", "conversation", "--json")[1])[0]["key"]
    line = f"Release notes must be generated by `minisign`, for the bot refuses all others [from: {name}, 2026-05-01]"
    knowledge.mkdir(parents=True, exist_ok=True)
    (knowledge / "facts.md").write_text(f"# Facts\n\n- {line}\n")
    assert call("search", "minisign")[0] == 0
    assert "minisign" in hook(shop, prompt(ASKS))
    assert call("rm", "facts", "minisign", "--strike")[0] == 0
    assert "minisign" not in hook(shop, prompt(ASKS), "another")


def test_a_long_line_without_blanks_that_was_removed_is_not_told_again(shop: Path) -> None:
    """Cut within a word its end was no word of the removed line any more, and a merge that brought it back told it."""
    knowledge = said_of_the_readme(shop)
    line = f"minisign签名release的notes，由bot检查generate的结果：{'每次发布之前都要检查变更记录是否完整，' * 20}"
    written = f"# Facts\n\n- {line} [from: claude_code/s4, 2026-05-04]\n"
    (knowledge / "facts.md").write_text(written)
    assert call("rm", "facts", "minisign")[0] == 0
    (knowledge / "facts.md").write_text(written)
    assert call("search", "minisign")[0] == 0
    assert "minisign签名" not in hook(shop, prompt(ASKS))


def test_another_project_is_handed_nothing(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "work" / "other"
    other.mkdir()
    assert hook(other, prompt(ASKS)) == "" == hook(other, shell(FAILS))


@pytest.mark.parametrize("how", ["renamed", "cloned"])
def test_a_project_in_another_place_is_handed_its_lines_once_that_is_allowed(
    shop: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`context`, `list` and `find` gave the lines of the project, and no hint came any more."""
    (shop / "app.py").write_text("pass\n")
    assert call("add", "files", "The retries are counted here", "--file", str(shop / "app.py"))[0] == 0
    assert call("harvest", "--source", "claude_code", "--apply", "--now", "--quiet")[0] == 0
    assert call("review", "all", "held", "--yes")[0] == 0
    assert call("search", "retries")[0] == 0
    other = shop.with_name("till")
    if how == "renamed":
        shop.rename(other)
    else:
        subprocess.run(["git", "clone", "-q", str(shop), str(other)], check=True, capture_output=True)
    edit = {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": f"{other}/app.py"}}
    events = [(prompt(ASKS), "towncrier"), (shell(FAILS), WORKS), (edit, "- app.py: The retries")]
    assert [hook(other, said, how) for said, _ in events] == [""] * 3, "not before the user says that it is the same"
    monkeypatch.chdir(other)
    assert ("retries" in call("notes", "app.py")[1]) == (how == "renamed"), "the file itself is known again"
    assert call("trust", "allow")[0] == 0
    for said, line in events:
        assert line in hook(other, said, how)
    for told in (call("notes", "app.py")[1], answered("notes", path="app.py")):
        assert "retries are counted" in told


def test_an_event_can_be_switched_off_and_what_was_given_is_listed(shop: Path) -> None:
    assert call("hints")[1].startswith("0 hints: they come by the hooks that 'knowledge connect' writes\n")
    assert hook(shop, shell(FAILS))
    code, out, _ = call("hints", "--off", "command")
    assert code == 0 and WORKS in out and "on: prompt, failure, file" in out
    assert hook(shop, shell(FAILS), "after") == ""
    (shop / "config.toml").write_text("[ai_settings.knowledge]\nhints = []\n")
    assert hook(shop, prompt(ASKS)) == "", "a project may narrow"
    assert call("hints", "--limit", "-1")[::2] == (2, "knowledge: --limit must be at least 1.\n")


@pytest.mark.parametrize("harm", ["no index", "damaged", "locked", "of another version", "no JSON", "closed home"])
def test_trouble_is_silent_and_told_by_the_doctor(shop: Path, harm: str, request: pytest.FixtureRequest) -> None:
    """A hook that fails costs the user their prompt."""
    assert call("connect", "claude_code", "--yes")[0] == 0
    (index,) = Path(os.environ["XDG_CACHE_HOME"]).rglob("conversations/search.db")
    if harm == "no index":
        index.unlink()
    elif harm == "damaged":
        index.write_bytes(b"SQLite format 3\0" + b"x" * 9000)
    elif harm == "of another version":
        with sqlite3.connect(index) as database:
            database.execute("PRAGMA user_version = 103")
    elif harm == "locked":
        held = sqlite3.connect(index, isolation_level=None)
        held.execute("BEGIN EXCLUSIVE")
        request.addfinalizer(held.close)
    elif harm == "closed home":
        (Path(os.environ["HOME"]) / ".manual_slop").mkdir(exist_ok=True)
        (Path(os.environ["HOME"]) / ".manual_slop" / "knowledge").write_text("a file where the folder should be")
    assert hook(shop, {"hook_event_name": "PreToolUse"} if harm == "no JSON" else prompt(ASKS)) == ""
    if harm in ("damaged", "locked", "of another version"):
        assert "hook had trouble" in call("doctor")[1]


def test_what_was_learned_on_a_branch_that_was_never_merged_says_so(shop: Path, tmp_path: Path) -> None:
    kept = tmp_path / ".claude" / "projects" / "shop" / "s1.jsonl"
    rows = [json.loads(line) | {"gitBranch": "try-bot"} for line in kept.read_text().splitlines()]
    kept.write_text("".join(json.dumps(row) + "\n" for row in rows))
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["checkout", "-qb", "try-bot"], ["commit", "-q", "--allow-empty", "-m", "Try"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    assert call("search", "--build", "--quiet")[0] == 0
    assert "learned on try-bot, which was never merged" in hook(shop, prompt(ASKS))
    for words in (["checkout", "-q", "main"], ["merge", "-q", "try-bot"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    assert "never merged" not in hook(shop, prompt(ASKS), "after the merge")


def test_what_was_only_proposed_or_concerns_another_branch_is_not_told(shop: Path) -> None:
    """A proposal that nobody tried reads like a fact a month later; a lesson of one branch misleads on another."""
    folder = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop"
    used = "fatal: 'main' is already used by worktree at '/w/shop'"
    proposed = "The viewer should load the ledger stylesheet on startup instead of the printer one."
    rows = [
        turn("user", "Open a branch off main for the spinner.", 0, "s2", shop),
        *ran("git stash && git checkout main && git pull origin main", used, True, 1, "s2", shop),
        *ran("git checkout -b anna/spinner origin/main", "Switched to a new branch", False, 3, "s2", shop),
        turn("assistant", proposed, 5, "s2", shop),
        turn("user", "It is not loaded, try again.", 6, "s2", shop),
        turn("assistant", "The invoice archive must stay in Berlin because of the tax audit.", 7, "s2", shop),
    ]
    (folder / "s2.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("harvest", "--apply", "--source", "claude_code", "--now", "--quiet")[0] == 0
    assert call("search", "invoice", "--quiet")[0] == 0
    assert hook(shop, prompt("which ledger stylesheet has the viewer?")) == ""
    assert "in Berlin" in hook(shop, prompt("where is the invoice archive kept for the tax audit?"))
    assert "anna/spinner" in hook(shop, prompt("open up an appropriate new branch off main"), "second")
    assert "anna/spinner" not in hook(shop, prompt("open up a new branch off ben/parser for this"), "third")
    assert "anna/spinner" in hook(shop, prompt("open a new branch off main, with the change from src/app.py"), "fourth")


def test_nothing_that_a_repository_names_is_run(shop: Path, tmp_path: Path) -> None:
    """Hooks, monitors, filters and other programs of a repository's settings stay unused when git is asked."""
    (shop / "pool.py").write_text("SIZE = 4\nSPARE = 1\n")
    (shop / ".gitattributes").write_text("* diff=bait filter=bait\n")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["add", "."], ["commit", "-qm", "Three"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    ran, bait = tmp_path / "ran", tmp_path / "bait.sh"
    bait.write_text(f"#!/bin/sh\necho $0 $@ >> {ran}\ncat\n")
    bait.chmod(0o755)
    for key in (
        "core.fsmonitor", "core.hooksPath", "core.sshCommand", "core.pager", "core.editor", "diff.external",
        "diff.bait.textconv", "diff.bait.command", "filter.bait.clean", "filter.bait.smudge", "gpg.program",
        "credential.helper", "uploadpack.packObjectsHook", "core.askPass",
    ):  # fmt: skip
        value = str(tmp_path if key == "core.hooksPath" else bait)
        subprocess.run(["git", "config", key, value], cwd=shop, check=True)
    for name in ("post-index-change", "reference-transaction", "post-checkout"):
        (tmp_path / name).write_text(bait.read_text())
        (tmp_path / name).chmod(0o755)
    assert "gone from git since: docs/old.md" in hook(shop, prompt(ASKS))
    (shop / "pool.py").write_text("SIZE = 5\nSPARE = 1\n")
    assert "Three" in call("why", "pool.py:2")[1] and "Three" not in call("why", "pool.py:1")[1]
    assert call("find", "why are release notes generated?")[0] == 0
    assert not ran.exists(), ran.read_text()


def test_how_a_hint_went_is_read_out_of_the_transcript(shop: Path) -> None:
    """Followed, and it passed: it is offered on; ignored five times, it is not."""
    from core.commands.moment.hints import judge
    from core.commands.workspace import open_workspace

    transcript = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop" / "s9.jsonl"
    said = shell(FAILS) | {"transcript_path": str(transcript)}
    for number in range(6):
        session = f"n{number}"
        told = hook(shop, said, session)
        assert bool(told) == (number < 5), "five times it was ignored"
        row = turn("assistant", [{"type": "text", "text": "Something else."}], 1, "s9", shop)
        transcript.write_text(json.dumps(row | {"timestamp": "2099-01-01T00:00:00Z"}) + "\n")
        os.utime(transcript, (1, 1))
        judge(open_workspace())
    assert "5 ignored" in call("hints")[1]


@pytest.mark.parametrize(
    ("said", "went"),
    [
        ("Done: `towncrier build --draft` made them, and the bot took them.", "followed"),
        ("The release notes are no longer generated with towncrier since May.", "contradicted"),
        ("The pool has four workers now.", "ignored"),
    ],
)
def test_a_line_that_holds_no_more_counts_as_contradicted(shop: Path, said: str, went: str) -> None:
    from core.commands.moment.hints import judge
    from core.commands.workspace import open_workspace

    transcript = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop" / "s9.jsonl"
    assert "towncrier" in hook(shop, prompt(ASKS) | {"transcript_path": str(transcript)})
    row = turn("assistant", [{"type": "text", "text": said}], 1, "s9", shop)
    transcript.write_text(json.dumps(row | {"timestamp": "2099-01-01T00:00:00Z"}) + "\n")
    os.utime(transcript, (1, 1))
    judge(open_workspace())
    assert f"1 {went}" in call("hints")[1]


DOCS = "`README.md` must be regenerated by `make docs`, because the bot refuses hand edits of it."
ASKS_DOCS = "should I regenerate the readme by make docs so that the bot takes hand edits"


def said_of_the_readme(shop: Path, *more: str) -> Path:
    """A session that says how the readme is made, and the knowledge folder with that line, where nothing holds it."""
    rows = [turn("user", "How is the readme made?", 0, "s4", shop)]
    kept("s4", [*rows, turn("assistant", [{"type": "text", "text": " ".join([DOCS, *more])}], 1, "s4", shop)])
    knowledge = Path(os.environ["HOME"]) / ".manual_slop/knowledge"
    knowledge.mkdir(parents=True, exist_ok=True)
    return knowledge


@pytest.mark.parametrize("how", ["rm", "rm --strike", "rm --forever --yes", "retract", "quarantine"])
@pytest.mark.parametrize("more", ["", "It is made again at each release of the shop."])
def test_what_the_user_took_back_or_has_not_let_in_speaks_to_no_prompt(shop: Path, how: str, more: str) -> None:
    """The conversation that said it is still there, and in the index: the very sentence came again."""
    knowledge = said_of_the_readme(shop, more)
    if how == "quarantine":
        assert "make docs" in hook(shop, prompt(ASKS_DOCS), "before")
        held = f"- [no-quote] facts: {DOCS} [from: claude_code/s4, 2026-05-04]\n"
        (knowledge / "quarantine.md").write_text(f"# Quarantine\n\n{held}")
    else:
        (knowledge / "facts.md").write_text(f"# Facts\n\n- {DOCS} [from: claude_code/s4, 2026-05-04]\n")
        assert call("search", "regenerated")[0] == 0
        assert "make docs" in hook(shop, prompt(ASKS_DOCS), "before")
        command, *options = how.split()
        assert call(command, "facts", "regenerated", *options)[0] == 0
    assert call("search", "towncrier")[0] == 0
    assert hook(shop, prompt(ASKS_DOCS), "after") == ""
    assert "towncrier" in hook(shop, prompt(ASKS), "after"), "everything else still speaks"


def test_a_warning_that_the_user_removed_comes_before_no_command(shop: Path) -> None:
    """A harvest kept it as a line; whoever takes that back hears of it no more, neither before nor after."""
    knowledge = said_of_the_readme(shop)
    line = f"`{FAILS}` fails (“{ERROR}”); `{WORKS}` works"
    (knowledge / "facts.md").write_text(f"# Facts\n\n- {line} [from: claude_code/s1, 2026-05-01]\n")
    failed = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": FAILS}}
    failed |= {"error": f"Exit code 2\n{ERROR}"}
    assert WORKS in hook(shop, shell(FAILS)) and WORKS in hook(shop, failed)
    assert call("rm", "facts", "fails")[0] == 0
    assert hook(shop, shell(FAILS), "after") == "" == hook(shop, failed, "after")


def test_where_nobody_knows_what_was_removed_nothing_is_handed_out(shop: Path) -> None:
    knowledge = said_of_the_readme(shop)
    (knowledge / "removed.md").mkdir()
    assert hook(shop, prompt(ASKS)) == "" == hook(shop, shell(FAILS))
    assert "hook had trouble" in call("doctor")[1]


def test_a_git_that_does_not_answer_holds_nobody_up(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question had its own half second, and three lines ask many."""
    said_of_the_readme(shop)
    assert call("connect", "claude_code", "--yes")[0] == 0
    asked = tmp_path / "asked"
    (tmp_path / "slow").mkdir()
    slow = tmp_path / "slow" / "git"
    slow.write_text(f"#!/bin/sh\necho asked >> {asked}\nexec sleep 20\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    text = (
        "Release notes must be generated with `towncrier`, because the bot refuses `lib/a.py`, `lib/b.py`, `lib/c.py`."
    )
    kept(
        "s5",
        [
            turn("user", "What of it?", 0, "s5", shop),
            turn("assistant", [{"type": "text", "text": text}], 1, "s5", shop),
        ],
    )
    asked.unlink(missing_ok=True)
    told = hook(shop, prompt(ASKS))
    assert "lib/b.py" in told and "gone from git" not in told
    assert asked.read_text().count("asked") == 1


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_what_can_be_no_path_and_no_command_is_no_trouble(shop: Path, name: str) -> None:
    read = {"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {"file_path": f"{shop}/{name}.md"}}
    failed = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": FAILS}}
    for said in (
        read,
        shell(f"make {name}"),
        {**failed, "error": f"Exit code 2\nmake: *** No rule to make {name}.  Stop."},
    ):
        assert hook(shop, said) == ""
    assert "towncrier" in hook(shop, prompt(f"{ASKS} {name}"))
    assert "hook had trouble" not in call("doctor")[1]


@pytest.mark.parametrize("said", [prompt(ASKS), shell(FAILS)])
def test_a_hint_that_is_given_loads_no_shapes_of_secrets(shop: Path, said: dict[str, Any]) -> None:
    """Somebody waits for it before each command; five hundred shapes took as long as all the rest."""
    given = json.dumps({"session_id": "now", "cwd": str(shop), **said})
    words = [sys.executable, "-X", "importtime", "-I", str(HINT), "claude_code"]
    done = subprocess.run(words, input=given, text=True, capture_output=True, check=True, cwd=shop, timeout=30)
    assert "additionalContext" in done.stdout and "core.give.handed" in done.stderr
    assert "secrets.nets" not in done.stderr and "core.harvest" not in done.stderr


@pytest.mark.parametrize(
    "words", ["--home DIR hint claude_code", "hint --home DIR claude_code", "hint claude_code --home=DIR"]
)
def test_a_home_is_named_before_or_after_the_name_of_the_tool(
    shop: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANUAL_SLOP_HOME", str(shop / "none"))
    given = json.dumps({"session_id": "now", "cwd": str(shop), **prompt(ASKS)})
    line = [sys.executable, "-m", "core", *words.replace("DIR", f"{os.environ['HOME']}/.manual_slop").split()]
    done = subprocess.run(line, input=given, text=True, capture_output=True, check=True, timeout=30)
    assert "towncrier build --draft" in done.stdout


@pytest.mark.parametrize("words", [["--help"], ["claude_code", "-h"]])
def test_the_help_of_the_hook_names_the_events_that_connect_writes_and_their_json(words: list[str]) -> None:
    """It printed nothing, as for an event that nobody knows: who writes a hook by hand had no word to go by."""
    line = [sys.executable, "-m", "core", "hint", *words]
    done = subprocess.run(line, text=True, capture_output=True, check=True, stdin=subprocess.DEVNULL, timeout=30)
    fields = ("session_id", "cwd", "prompt", "tool_input", "error", "tool_response", "additionalContext")
    for told in (*tools._HINTS_CLAUDE, *tools._HINTS_CODEX, *fields, "hints --off", *HINT_EVENTS):
        assert told in done.stdout, told
    for told in ("UserPromptSubmit", "PreToolUse", *HINT_EVENTS):
        assert told in call("hints", "--help")[1], told


def test_a_file_of_a_folder_in_another_is_not_told_the_notes_of_its_namesake(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once a repository was allowed anywhere, a folder below a known one got that one's notes and lost its own."""
    plain = shop.with_name("plain")
    sub = plain / "sub"
    sub.mkdir(parents=True)
    for folder in (plain, sub):
        (folder / "app.py").write_text("pass\n")
    kept("s2", [turn("user", "Which port does the gateway of the shop listen on?", 0, "s2", plain)])
    monkeypatch.chdir(plain)
    call("add", "files", "The retries are counted here", "--file", str(plain / "app.py"))
    call("harvest", "--apply", "--now", "--quiet")
    kept("s3", ran(FAILS, ERROR, True, 0, "s3", sub) + ran(WORKS, "all checks passed", False, 2, "s3", sub))
    call("search", "retries")
    till = shop.with_name("till")
    subprocess.run(["git", "clone", "-q", str(shop), str(till)], check=True, capture_output=True)
    monkeypatch.chdir(till)
    assert call("trust", "allow")[0] == 0
    edit = {"hook_event_name": "PreToolUse", "tool_name": "Edit"}
    assert hook(sub, edit | {"tool_input": {"file_path": f"{sub}/app.py"}}, "a") == ""
    assert "retries" in hook(plain, edit | {"tool_input": {"file_path": f"{plain}/app.py"}}, "b")
    assert "make -C app check" in hook(sub, shell(FAILS), "c")


def test_no_secret_in_a_command_or_a_path_is_written_down(shop: Path) -> None:
    """What was handed out is kept for weeks, and `knowledge hints` prints it."""
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    file = shop / "app.py"
    file.write_text("pass\n")
    (shop / token).symlink_to(shop)
    assert call("add", "files", "The retries are counted here", "--file", str(file))[0] == 0
    kept(
        "s3",
        ran("git checkout trunk", "fatal: 'trunk' is already used by worktree", True, 0, "s3", shop)
        + ran("git checkout -b till origin/trunk", "switched", False, 2, "s3", shop),
    )
    assert call("search", "retries")[0] == 0
    by_link = {"file_path": str(shop / token / "app.py")}
    assert "retries" in hook(shop, {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": by_link})
    assert "origin/trunk" in hook(shop, shell(f"GH_TOKEN={token} git checkout trunk"))
    written = [path.read_text() for path in (Path(os.environ["HOME"]) / ".manual_slop").rglob("hints/*.jsonl")]
    assert "retries" in written[0] and "origin/trunk" in written[0] and token not in "".join(written)
    assert token not in call("hints")[1]


# --- the keys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("cd app && make check 2>&1 | tail -5", "make check"),
        ("FOO=1 timeout 30 make -C app check", "make -C app check"),
        ("git -C /x show HEAD:y", ""),
        ("ls -la && cat x", ""),
        ("npm test > log.txt", "npm test"),
        (". .venv/bin/activate && .venv/bin/pytest -q", ".venv/bin/pytest -q"),
    ],
)
def test_a_command_is_the_same_wherever_it_is_run(words: str, key: str) -> None:
    assert command_key(words) == key


@pytest.mark.parametrize("line", ["a=" * 60 + " !", f"git{' -c' * 80} !", f"pytest {' ' * 90_000}x", "make; " * 20_000])
def test_no_command_line_holds_the_hook_up(shop: Path, line: str) -> None:
    """It runs before every command of somebody at work: a line that it took for hours stopped them."""
    said = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line}}
    assert hook(shop, said) == ""


def test_an_error_is_the_same_without_its_places() -> None:
    one, other = (
        "bash: line 3: /home/a/x.sh: No such file or directory",
        "bash: line 17: /tmp/b/x.sh: No such file or directory",
    )
    assert error_key(one) == error_key(other) != "" and is_invocation(one)
    assert goals("make -C app check") & goals("make check") and not goals("pytest tests/a.py") & goals("ruff check")
