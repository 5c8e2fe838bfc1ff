"""The command line as a program: what goes in, what comes out, with which exit status."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base import figures
from core.base.paths import Paths
from core.cli.main import main
from core.cli.terminal import reporter
from core.commands.demo import make_demo_home
from core.commands.row import Command
from core.commands.table import command, commands
from core.harvest.report import ANSWERED, BEGUN, Progress
from tests.cli_call import call
from tests.made_home import make_home, read, write
from tests.waiting import PATIENCE_SECONDS

# --- How the command line behaves whatever it is asked: JSON, exit statuses, no traceback, Ctrl-C, pipes.

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make_demo_home(str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return made


READING = [
    ["harvest"], ["status"], ["digest"], ["context"], ["notes", "x.py"], ["ledger"], ["trash"], ["undo"],
    ["review"], ["config"], ["doctor"],
]  # fmt: skip


@pytest.mark.parametrize("words", READING, ids=lambda words: words[0])
def test_json_is_one_document_and_nothing_changes(words: list[str], home: Path) -> None:
    """A script parses stdout as it is; a command that only looks writes nothing below the home."""
    before = sorted(path for path in home.rglob("*"))
    code, out, err = call(*words, "--json", "--home", str(home))
    assert code == 0, err
    json.loads(out)
    assert sorted(path for path in home.rglob("*")) == before


def test_harvest_json_has_the_promised_keys(home: Path) -> None:
    """Other programs are built on these names."""
    code, out, _ = call("harvest", "--apply", "--json", "--quiet", "--home", str(home))
    report = json.loads(out)
    assert code == 0
    assert report["applied"] is True
    assert set(report["artifacts"]) == {"live", "user-kept", "prune", "harvest", "keep"}
    assert set(report["candidates"]) == {
        "bytes",
        "calls",
        "tokens",
        "output_tokens",
        "price",
        "token_factor",
        "seconds",
    }
    assert " ".join(report["items"]) == "facts decisions tasks_done tasks_open questions playbooks files"
    assert {"reclaimed_bytes", "failed", "deferred", "digest", "ledger"} <= set(report)
    _, out, _ = call("status", "--json", "--home", str(home))
    state = json.loads(out)
    assert {"path", "exists", "bytes", "max_bytes", "enabled", "injected"} <= set(state["digest"])
    assert {"path", "exists", "bytes", "bullets"} <= set(state["categories"]["facts"])
    assert {"home", "ledger", "pending", "trash"} <= set(state)
    assert {"files", "bytes"} <= set(state["trash"])


@pytest.mark.parametrize(("columns", "widest"), [("50", 48), ("120", 118), ("x", 78)])
def test_help_fits_the_terminal(
    columns: str, widest: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A narrow terminal would break the lines wherever it likes, in the middle of a word."""
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["harvest", "--help"]) == 0
    longest = max(map(len, capsys.readouterr().out.splitlines()))
    assert widest - 20 < longest <= widest


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["harvest", "--limit", "many"], 2),
        (["nonsense"], 2),
        (["add", "facts"], 2),
        (["harvest", "--limit", "-1"], 2),
        (["ledger", "ffff"], 1),
        (["status", "--config", "/nowhere/config.toml"], 1),
    ],
    ids=str,
)
def test_exit_status_tells_wrong_use_from_failure(words: list[str], code: int, home: Path) -> None:
    """Scripts tell a typing mistake (2) from something that went wrong (1); neither shows a traceback."""
    found, out, err = call(*words, "--home", str(home))
    assert found == code
    assert "Traceback" not in out + err


def test_a_broken_config_is_one_sentence(home: Path, tmp_path: Path) -> None:
    """A slip in config.toml names the place instead of a stack of Python."""
    config = tmp_path / "mine.toml"
    config.write_text('[ai_settings.knowledge]\njobs = "four"\n', encoding="utf-8")
    code, out, err = call("status", "--home", str(home), "--config", str(config))
    assert (code, out) == (1, "") and "jobs" in err and "whole number" in err and err.count("\n") == 1


def test_a_home_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    """`--home` pointed at a file must not end in a traceback."""
    path = tmp_path / "file"
    path.write_text("no home", encoding="utf-8")
    for words in (["status"], ["harvest"], ["harvest", "--apply"], ["add", "facts", "x"], ["doctor"], ["undo"]):
        _, out, err = call(*words, "--home", str(path))
        assert "Traceback" not in out + err
        assert "unexpected" not in err, (words, err)
    assert path.read_text(encoding="utf-8") == "no home"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "knowledge").write_text("no folder", encoding="utf-8")
    for words in (["search", "x"], ["status"], ["harvest", "--apply"]):
        code, out, err = call(*words, "--home", str(tmp_path / "home"))
        assert (code, out) == (1, "") and "a file stands where the knowledge belongs" in err, (
            "not: nothing is known yet"
        )


def test_names_cannot_command_the_terminal(home: Path) -> None:
    """A conversation named with escape codes must not clear the screen of who lists it."""
    name = "\x1b[2Jboo-0f8fad5b-d9cb-469f-a165-70867728950e"
    (home / "conversations" / name).write_text("hello", encoding="utf-8")
    code, out, err = call("harvest", "--apply", "--home", str(home))
    assert code == 0
    _, ledger, _ = call("ledger", "--home", str(home))
    assert "\x1b" not in out + err + ledger and "boo-0f8fad5b" in ledger


def test_a_closed_pipe_is_no_error(home: Path) -> None:
    """`knowledge ledger | head -1` ends without a complaint."""
    call("harvest", "--apply", "--quiet", "--home", str(home))
    command = f'"{sys.executable}" -m core ledger --home "{home}" | head -n 1'
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert done.stderr == "" and done.stdout.count("\n") == 1


def test_ctrl_c_stops_after_a_durable_step_and_the_next_run_goes_on(home: Path, tmp_path: Path) -> None:
    """Whoever presses Ctrl-C in a long harvest loses nothing and sees what was done."""
    program = tmp_path / "slow-model"
    program.write_text(  # thinks about the second conversation until somebody has had enough
        f"#!/bin/sh\nif test -e {tmp_path}/asked; then until test -e {tmp_path}/enough; do sleep 0.02; done; fi\n"
        f"touch {tmp_path}/asked\nn=$(date +%N)\necho '{{\"facts\": [\"fact '$n'\"]}}'\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    config = tmp_path / "config.toml"
    settings = f'[ai_settings.knowledge]\nprovider = "command"\ncommand = ["{program}"]\njobs = 1\n'
    config.write_text(settings, encoding="utf-8")
    words = [sys.executable, "-m", "core", "harvest", "--apply", "--home", str(home), "--config", str(config)]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("(1/6)")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 130, err
    assert "nothing is lost" in err and "Traceback" not in err and out.startswith("reclaimed: ")
    trash = home / "conversations" / ".trash"
    assert len(list(trash.iterdir())) == 1
    assert len(list(trash.parent.glob("*-*-*-*-*-*"))) == 6  # five to harvest and one that the user saved
    (tmp_path / "enough").touch()
    code, _, err = call("harvest", "--apply", "--quiet", "--home", str(home), "--config", str(config))
    assert code == 0, err
    assert len(list(trash.iterdir())) == 6


def test_progress_on_a_terminal_is_a_bar_and_elsewhere_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log file gets one line a conversation; a terminal gets a bar that leaves nothing behind."""
    lines = io.StringIO()
    for at in (1, 2):
        reporter(lines, False)(Progress(at, 2, "a\x1b[1mname", "3 items"))
    assert lines.getvalue() == "(1/2) a?[1mname: 3 items\n(2/2) a?[1mname: 3 items\n"

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    report = reporter(terminal, False)
    report(Progress(0, 2, "slow one", "", kind=BEGUN))
    assert "0/2" in terminal.getvalue() and "reading slow one" in terminal.getvalue()
    report(Progress(0, 2, "slow one", "", kind=ANSWERED, calls=3, sent=4000, received=500))
    assert "4,500 tokens, reading slow one, answer 3" in terminal.getvalue()
    for at in (1, 2):
        report(Progress(at, 2, "name", "3 items", tokens=1200))
    assert "2/2" in terminal.getvalue() or "1/2" in terminal.getvalue()
    assert reporter(terminal, True)(Progress(1, 1, "", "")) is None


def test_figures_have_the_seeds_forms() -> None:
    """Sizes and tokens in reports are read by people and by scripts of old."""
    assert [figures.size(number) for number in (0, 17, 2355, 2_411_725)] == ["0B", "17B", "2.3KB", "2.3MB"]
    assert [figures.tokens(number) for number in (950, 12_300, 600_000, 1_240_000)] == ["950", "12K", "600K", "1.2M"]
    assert [figures.dollars(amount) for amount in (0, 0.0123, 1.5)] == ["$0.00", "$0.0123", "$1.50"]
    assert figures.age(time.time() - 7200) == "2 h"


def test_demo_shows_the_whole_journey(tmp_path: Path) -> None:
    """The first command a newcomer types must work on a machine that has nothing."""
    target = tmp_path / "demo"
    code, out, err = call("demo", "--no-panel", "--quiet", "--into", str(target))
    assert code == 0, err
    assert "dry run; pass --apply" in out and "harvested items: facts:3" in out and "## Open tasks" in out
    assert (target / "knowledge" / "digest.md").stat().st_size <= 4096
    code, _, err = call("demo", "--no-panel", "--into", str(target))
    assert code == 1 and "exists already" in err


def test_a_new_home_is_made_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the first day there is none; a mistyped name is noticed by this line, and looking makes nothing."""
    named, meant = tmp_path / "hoem", tmp_path / "new"
    monkeypatch.setenv("MANUAL_SLOP_HOME", str(meant))
    for home, words in ((meant, []), (named, ["--home", str(named)])):
        assert call("status", *words)[2] == "" and not home.exists()
        assert call("harvest", *words)[0] == 0 and not home.exists()
        assert call("add", "facts", "x", *words)[2] == f"knowledge: made a new home: {home}\n"
        assert call("add", "facts", "y", *words)[2] == ""


def test_more_jobs_than_the_setting_allows_are_refused(home: Path) -> None:
    """A thousand calls at once would end in a provider's ban, or in a thousand threads."""
    code, _, err = call("harvest", "--jobs", "999", "--home", str(home))
    assert (code, err) == (2, "knowledge: --jobs cannot be 999. Accepted: a whole number from 1 to 64.\n")
    assert call("harvest", "--jobs", "64", "--home", str(home))[0] == 0


# --- A system that refuses every file from some moment on, also those of this program: a sentence, and nothing lost.

needs_limits = pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of open files")
TASKS = "# Tasks\n\n## Open\n\n- buy tea\n- clean the kettle\n\n## Done\n\n"


@needs_limits
def test_what_the_system_says_is_passed_on_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> int:
        raise OSError(24, "Too many open files", "/a/\x1b[31mplace")

    monkeypatch.setattr("core.cli.main._dispatch", refused)
    assert main(["status"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(
        "knowledge: the system refuses to go on: Too many open files (/a/?[31mplace); nothing is lost"
    )


# --- A home that this user may not open or not write: if these fail, the answer is a crash or a wrong hint.

IS_ROOT = os.name != "nt" and os.geteuid() == 0
UNPRIVILEGED = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if IS_ROOT else []
ADVICE = "Check its owner and rights, or name another with --home."

needs_privileges = pytest.mark.skipif(
    os.name == "nt" or (IS_ROOT and shutil.which("setpriv") is None), reason="needs a user without root's privileges"
)


def started(cwd: Path, *command: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, env=variables, text=True, capture_output=True, timeout=PATIENCE_SECONDS)


def knowledge(home: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return started(cwd or home.parent, *UNPRIVILEGED, sys.executable, "-m", "core", *words, "--home", str(home))


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[Paths]:
    """A home with one fact."""
    place = Paths(tmp_path / "home")
    assert call("add", "facts", "Ports start at 8080", "--home", str(place.home))[0] == 0
    yield place
    for folder in (place.home, place.knowledge, place.state, place.file_notes):
        if folder.is_dir():
            folder.chmod(0o700)


CLOSING = """
import io, json, os, sys
from core.cli.main import main
for words, home, closed, mode in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    os.chmod(closed, mode)
    code = main([*words.split(), "--home", home], out, err)
    os.chmod(closed, 0o700)
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


@needs_privileges
def test_every_command_names_the_folder_that_is_closed(paths: Paths) -> None:
    """`sudo` leaves one folder behind that belongs to somebody else, perhaps the one above the home."""
    home, deeper = str(paths.home), str(paths.home / "deeper")
    rows = [
        ("doctor", home, home, 0o600),
        ("doctor", home, str(paths.knowledge), 0),
        ("doctor", home, str(paths.state), 0),
        *((words, home, home, 0) for words in ("status", "harvest", "search port", "add facts x", "context")),
        ("status", deeper, home, 0),
    ]
    ended = started(paths.home.parent, *UNPRIVILEGED, sys.executable, "-c", CLOSING, json.dumps(rows))
    told = [json.loads(line) for line in ended.stdout.splitlines()]
    for row, said in zip(rows, told, strict=True):
        named = deeper if row[1] == deeper else row[2]
        assert said == [1, "", f"knowledge: you do not have permission to open this home ({named}). {ADVICE}\n"], row


@needs_privileges
@pytest.mark.parametrize("closed", ["home", "knowledge"])
def test_a_home_that_cannot_be_written_is_told_before_it_is_needed(paths: Paths, closed: str) -> None:
    """The doctor and the dry run say it; otherwise a user learns it from an --apply that fails."""
    folder: Path = getattr(paths, closed)
    folder.chmod(0o500)
    ended = knowledge(paths.home, "doctor")
    assert ended.returncode == 1 and "the store is whole" not in ended.stdout
    assert f"you do not have permission to write to this home: check its owner and rights ({folder})" in ended.stdout
    notes = json.loads(knowledge(paths.home, "harvest", "--json").stdout)["notes"]
    assert [note for note in notes if "you cannot write to this home" in note and str(folder) in note]


@needs_privileges
def test_an_apply_there_says_what_to_do_and_the_doctor_names_a_folder_that_it_cannot_look_into(paths: Paths) -> None:
    """One closed folder inside must not keep the doctor from saying what else there is."""
    paths.state.chmod(0o500)
    paths.lock.unlink(missing_ok=True)
    ended = knowledge(paths.home, "harvest", "--apply")
    assert ended.returncode == 1 and ended.stderr.endswith(f"{ADVICE}\n"), ended.stderr
    paths.state.chmod(0o700)
    paths.file_notes.mkdir(exist_ok=True)
    paths.file_notes.chmod(0)
    ended = knowledge(paths.home, "doctor")
    assert ended.returncode == 1 and str(paths.file_notes) in ended.stdout, ended.stderr
    assert "unexpected" not in ended.stderr


@needs_privileges
@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("knowledge status >&-", 0, ""),
        ("knowledge status >&- 2>&-", 0, ""),
        ("knowledge status > /dev/full", 1, "knowledge: the output cannot be written: No space left on device.\n"),
        (
            "mkdir gone; cd gone; rmdir ../gone; knowledge status",
            1,
            "knowledge: the folder that you are in does not exist any more. Go to another one (cd).\n",
        ),
        (
            "knowledge config set model \"$(printf 'a\\377b')\"",
            1,
            "knowledge: the value for model holds bytes that are no text.\n",
        ),
    ],
)
def test_a_strange_place_to_be_started_in_is_no_traceback(tmp_path: Path, line: str, code: int, told: str) -> None:
    """A timer with closed streams, a full disk, a folder that another program removed, bytes pasted by accident."""
    ended = started(tmp_path, "sh", "-c", f'knowledge() {{ "{sys.executable}" -m core "$@"; }}; {line}')
    assert (ended.returncode, ended.stderr) == (code, told)


# --- What the command line says to a slip of the fingers, and where it needs to be told less. Without it a person reads
# twenty-seven names to find the letter that is missing.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("harvst", "there is no command 'harvst'; the nearest is harvest."),
        ("stats --json", "there is no command 'stats'; the nearest is status."),
        ("xyzzy", "there is no command 'xyzzy'. 'knowledge --help' lists them."),
        ("harvest --aply", "'knowledge harvest' has no option '--aply'; the nearest is --apply."),
        ("harvest --limt=3", "'knowledge harvest' has no option '--limt'; the nearest is --limit."),
        ("mcp --allow-write", "'knowledge mcp' has no option '--allow-write'; the nearest is --allow-writes."),
        ("--hom /tmp/x status", "there is no option '--hom'; the nearest is --home."),
        ("--home /tmp/x stats", "there is no command 'stats'; the nearest is status."),
        ("status --jsn", "'knowledge status' has no option '--jsn'; the nearest is --json."),
        ("trash lst", "'knowledge trash' has no 'lst', only list, restore, purge; the nearest is list."),
        ("facts --domain list synk", "'knowledge facts' has no 'synk', only list, validate, sync,"),
        ("review list --acept", "'knowledge review' has no option '--acept'"),
        (
            "trash restore",
            "'knowledge trash restore' needs SHA: the beginning of its hash, as 'knowledge trash' lists it. "
            "For example 'knowledge trash restore 3fa9'.",
        ),
        ("config set jobs", "'knowledge config set' needs VALUE: its new value. For example 'knowledge config"),
        ("harvest --limit few", "--limit takes a whole number, and 'few' is none."),
        ("--quiet", "'knowledge' needs COMMAND. 'knowledge --help' lists them."),
    ],
    ids=str,
)
def test_a_slip_is_answered_with_the_nearest_name(words: str, told: str) -> None:
    code, out, err = call(*words.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"knowledge: {told}") and err.count("\n") == 1


def test_words_that_only_look_like_slips_are_taken_as_they_are(tmp_path: Path) -> None:
    """A bullet about an option is a bullet; the value of an option is no command."""
    home = str(make_home(tmp_path).paths.home)
    assert call("--home", home, "add", "facts", "--aply is no option of harvest")[0] == 0
    assert call("add", "--home", home, "facts", "--", "--aply")[0] == 0


def test_a_place_says_the_category_itself(tmp_path: Path) -> None:
    """`knowledge similar` prints FILE:LINE; pasted behind `rm` or `edit` it was refused as no category."""
    workspace = make_home(tmp_path)
    home = ("--home", str(workspace.paths.home))
    write(workspace, "facts.md", "# Facts\n\n- One\n- Two\n- Three\n")
    assert call("rm", "facts.md:4", *home)[0] == 0
    assert call("rm", "--strike", *home, "facts.md:3")[0] == 0
    assert call("edit", *home, "facts.md:4", "facts")[0] == 0
    assert read(workspace, "facts.md") == "# Facts\n\n- ~~One~~\n- facts\n"
    assert call("edit", "facts", "facts.md:4", "Four", *home)[0] == 0
    assert call("rm", "facts", "--strike", "Four", *home)[0] == 0
    assert read(workspace, "facts.md") == "# Facts\n\n- ~~One~~\n- ~~Four~~\n"
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n- Buy milk\n\n## Done\n")
    assert call("done", "tasks.md:4", *home)[0] == 0
    assert call("rm", "tasks.md:7", *home)[0] == 0
    assert "milk" not in read(workspace, "tasks.md")


def test_words_that_one_bullet_has_need_no_category(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    home = ("--home", str(workspace.paths.home))
    write(workspace, "facts.md", "# Facts\n\n- The port is 8080\n- Shared words\n")
    write(workspace, "decisions.md", "# Decisions\n\n- Shared words\n- We use SQLite\n")
    assert call("edit", "port is 8080", "The port is 8081", *home)[0] == 0
    assert call("rm", *home, "We use SQLite")[0] == 0
    assert "8081" in read(workspace, "facts.md") and "SQLite" not in read(workspace, "decisions.md")
    code, _, err = call("edit", "Shared words", "Other words", *home)
    assert code == 1 and "2 bullets match" in err and "facts.md:4" in err and "decisions.md:3" in err
    assert "no bullet in any category matches 'nowhere'" in call("edit", "nowhere", "Other words", *home)[2]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("rm", "facts.md:99"),
            "there is no bullet of facts in line 99 of facts.md; the first stands in line 3, the last in",
        ),
        (("rm", "questions.md:3"), "there is no bullet of questions in line 3 of questions.md"),
        (("done", "nope"), "no open task matches 'nope'"),
        (("done", "tasks.md:99"), "there is no open task in line 99 of tasks.md; the first stands in line 4"),
        (("reopen", "nope"), "no task that is done matches 'nope'"),
        (("add", "files", "words", "--file", "."), "this is a folder; a note belongs to one file"),
    ],
    ids=str,
)
def test_what_is_not_there_is_said_in_plain_words(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", "# Facts\n\n- One\n- Two\n")
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n- Buy milk\n\n## Done\n")
    code, _, err = call(*words, "--home", str(workspace.paths.home))
    assert code == 1 and told in err and "tasks_" not in err


@pytest.mark.parametrize("name", [row.name for row in commands() if row.subcommands])
def test_a_command_without_its_subcommand_runs_the_first(tmp_path: Path, name: str) -> None:
    """`knowledge trash` has always listed; options may stand on either side of the subcommand."""
    workspace = make_home(tmp_path)
    home = ("--home", str(workspace.paths.home))
    first = command(name).subcommands[0].name
    whole = call(name, first, "--json", *home)
    assert whole[0] == 0 and whole[1]
    for words in ((name, *home, "--json"), ("--json", *home, name), (name, "--json", first, *home)):
        assert call(*words) == whole


def test_an_option_of_a_subcommand_may_stand_before_it(tmp_path: Path) -> None:
    home = ("--home", str(make_home(tmp_path).paths.home))
    for words in ("facts --category pitfall list", "facts --category pitfall", "facts --category=pitfall list"):
        assert call(*words.split(), *home) == call("facts", "list", "--category", "pitfall", *home)
    code, _, err = call("facts", "--tag", "list", *home)  # a tag that is called like a subcommand
    assert (code, err) == (0, "")


def test_the_help_begins_with_what_comes_first() -> None:
    """A new user reads the first lines, and the last one."""
    _, shown, _ = call("--help")
    assert re.findall(r"^    (\w+) ", shown, re.M)[:2] == ["setup", "harvest"]
    last = shown.strip().rpartition("\n\n")[2]
    assert last.startswith("Begin with 'knowledge setup', then 'knowledge harvest'")


@pytest.mark.parametrize("row", [row for row in commands() if row.subcommands], ids=lambda row: row.name)
def test_help_names_every_subcommand_and_each_helps(row: Command) -> None:
    code, shown, _ = call(row.name, "--help")
    assert code == 0
    for leaf in row.subcommands:
        assert f"\n    {leaf.name} " in shown and f"Without one: {row.subcommands[0].name}." in shown
        code, helped, _ = call(row.name, leaf.name, "--help")
        assert code == 0
        assert f"example: knowledge {row.name} {leaf.name} {leaf.example}".rstrip() in helped


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("connect cl", "claude_code"),
        ("connect claude_code cod", "codex"),
        ("config set digest_en", "digest_enabled"),
        ("help troub", "troubleshooting"),
        ("harvest --apply --source aid", "aider"),
        ("sources aid", "aider"),
    ],
)
def test_a_shell_offers_the_words_that_a_command_takes(tmp_path: Path, typed: str, offered: str) -> None:
    """Nobody knows by heart what tools, settings and pages are called."""
    script = tmp_path / "script"
    script.write_text(call("completion", "bash")[1])
    press = f"source {script}; COMP_WORDS=(knowledge {typed}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
    press += '_shtab_knowledge knowledge "${COMP_WORDS[COMP_CWORD]}"; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", press], capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert done.stdout.split() == [offered], done.stderr


def test_a_line_about_a_secret_keeps_its_provenance_in_the_digest(home: Path) -> None:
    """What words before it call a secret was taken for one: the name of the conversation that the line is from."""
    facts = home / "knowledge" / "facts.md"
    facts.parent.mkdir(parents=True, exist_ok=True)
    line = "- Falls back when `TEST_LOGIN_SECRET` is not set [from: cb-3f-fd97fcb699-0, 2026-02-13]"
    facts.write_text(f"# Facts\n\n{line}\n", encoding="utf-8")
    assert call("digest", "on", "--home", str(home))[0] == 0
    shown = call("digest", "--home", str(home))[1] + call("context", "--home", str(home))[1]
    assert "[from: cb-3f-fd97fcb699-0, 2026-02-13]" in shown and "redacted" not in shown
