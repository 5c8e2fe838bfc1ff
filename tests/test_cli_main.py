"""How the command line behaves whatever it is asked: JSON, exit statuses, no traceback, Ctrl-C, pipes."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.base import figures
from core.base.result import Ok
from core.cli.main import main
from core.cli.progress import reporter
from core.commands.demo import make_demo_home
from core.harvest.report import ANSWERED, BEGUN, Progress
from tests.cli_call import call

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make_demo_home(str(tmp_path / "home"))
    assert isinstance(made, Ok), made
    monkeypatch.chdir(tmp_path)
    return made.value


READING = [
    ["harvest"], ["status"], ["digest"], ["context"], ["notes", "x.py"], ["ledger"], ["trash"], ["undo"],
    ["quarantine"], ["config"], ["doctor"],
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
    assert set(report["candidates"]) == {"bytes", "calls", "tokens", "output_tokens", "price", "token_factor"}
    assert list(report["items"]) == [
        "facts",
        "decisions",
        "tasks_done",
        "tasks_open",
        "questions",
        "playbooks",
        "files",
    ]
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


def test_options_stand_before_or_after_the_command(home: Path) -> None:
    """Nobody should have to remember which side an option belongs on."""
    before = call("--json", "--home", str(home), "status")
    after = call("status", "--home", str(home), "--json")
    assert before[0] == after[0] == 0
    assert json.loads(before[1])["home"] == json.loads(after[1])["home"] == str(home)


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
    assert (code, out) == (1, "")
    assert "jobs" in err
    assert "whole number" in err
    assert err.count("\n") == 1


def test_a_home_that_is_a_file_is_one_sentence(tmp_path: Path) -> None:
    """`--home` pointed at a file must not end in a traceback."""
    path = tmp_path / "file"
    path.write_text("no home", encoding="utf-8")
    for words in (["status"], ["harvest"], ["harvest", "--apply"], ["add", "facts", "x"], ["doctor"], ["undo"]):
        _, out, err = call(*words, "--home", str(path))
        assert "Traceback" not in out + err
        assert "unexpected" not in err, (words, err)
    assert path.read_text(encoding="utf-8") == "no home"


def test_names_cannot_command_the_terminal(home: Path) -> None:
    """A conversation named with escape codes must not clear the screen of who lists it."""
    name = "\x1b[2Jboo-0f8fad5b-d9cb-469f-a165-70867728950e"
    (home / "conversations" / name).write_text("hello", encoding="utf-8")
    code, out, err = call("harvest", "--apply", "--home", str(home))
    assert code == 0
    _, ledger, _ = call("ledger", "--home", str(home))
    assert "\x1b" not in out + err + ledger
    assert "boo-0f8fad5b" in ledger


def test_a_closed_pipe_is_no_error(home: Path) -> None:
    """`knowledge ledger | head -1` ends without a complaint."""
    call("harvest", "--apply", "--quiet", "--home", str(home))
    command = f'"{sys.executable}" -m core ledger --home "{home}" | head -n 1'
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_ctrl_c_stops_after_a_durable_step_and_the_next_run_goes_on(home: Path, tmp_path: Path) -> None:
    """Whoever presses Ctrl-C in a long harvest loses nothing and sees what was done."""
    program = tmp_path / "slow-model"
    program.write_text("#!/bin/sh\nsleep 0.4\nn=$(date +%N)\necho '{\"facts\": [\"fact '$n'\"]}'\n", encoding="utf-8")
    program.chmod(0o755)
    config = tmp_path / "config.toml"
    settings = f'[ai_settings.knowledge]\nprovider = "command"\ncommand = ["{program}"]\njobs = 1\n'
    config.write_text(settings, encoding="utf-8")
    words = [sys.executable, "-m", "core", "harvest", "--apply", "--home", str(home), "--config", str(config)]
    process = subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("(1/6)")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "nothing is lost" in err
    assert "Traceback" not in err
    assert out.startswith("reclaimed: ")
    conversations = list((home / "conversations").glob("*-*-*-*-*-*"))
    trashed = list((home / "conversations" / ".trash").iterdir())
    assert 1 <= len(trashed) < 6
    assert len(conversations) + len(trashed) == 7  # six to harvest and one that the person saved
    code, _, err = call("harvest", "--apply", "--quiet", "--home", str(home), "--config", str(config))
    assert code == 0, err
    assert len(list((home / "conversations" / ".trash").iterdir())) == 6


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
    assert "0/2" in terminal.getvalue() and "reading slow one" in terminal.getvalue(), (
        "nobody waits before a dark screen"
    )
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
    assert "dry run; pass --apply" in out
    assert "harvested items: facts:1" in out
    assert "## Open tasks" in out
    assert (target / "knowledge" / "digest.md").stat().st_size <= 4096
    code, _, err = call("demo", "--no-panel", "--into", str(target))
    assert code == 1
    assert "exists already" in err


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
