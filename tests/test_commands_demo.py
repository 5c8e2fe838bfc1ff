"""The demo is what a newcomer runs first, with or without settings of their own. If these fail, trying the program
out touches conversations that belong to somebody's daily work."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from core.base.result import Ok
from core.commands import demo as demo_folders
from core.commands.demo import demo, demo_home, make_demo_home
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import Workspace, open_workspace
from tests.made_home import value

SESSION = "cbc02750-9666-4984-9b29-b554a7d9d9e3"
LINE = (
    '{"type":"user","uuid":"1","sessionId":"%s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w","message":'
    '{"role":"user","content":"We decided to use Postgres instead of MySQL because of jsonb."}}\n'
)
BOLD = (
    '[ai_settings.knowledge]\nsources = ["home", "claude_code"]\nreclaim = "always"\nreclaim_foreign = true\n'
    "trash_days = 0\n"
)


def bold(tmp_path: Path) -> tuple[Workspace, Path]:
    """A person whose harvests take everything away at once, and a conversation of theirs in another tool."""
    theirs = tmp_path / ".claude" / "projects" / "-w" / f"{SESSION}.jsonl"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(LINE % SESSION)
    os.utime(theirs, (1_767_225_600, 1_767_225_600))
    (tmp_path / "settings.toml").write_text(BOLD)
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    opened = open_workspace(str(tmp_path / "own"), tmp_path / "settings.toml", environment, tmp_path)
    return value(opened), theirs


def test_a_demo_reads_and_takes_nothing_of_the_persons_own(tmp_path: Path) -> None:
    workspace, theirs = bold(tmp_path)
    shown = value(demo(workspace, into=str(tmp_path / "demo")))
    assert theirs.read_text() == LINE % SESSION and not (tmp_path / "own").exists()
    assert shown.applied.harvested == 6 and shown.applied.reclaimed == 0
    told = "".join(path.read_text() for path in (tmp_path / "demo").rglob("*") if path.is_file())
    assert SESSION not in told and "jsonb" not in told


def test_a_harvest_in_the_demos_window_stays_in_the_demo(tmp_path: Path) -> None:
    workspace, theirs = bold(tmp_path)
    inside = value(demo_home(workspace))
    again = harvest(inside, HarvestRequest(apply=True))
    assert isinstance(again, Ok) and again.value.plan.counts.get("harvest", 0) <= 6
    assert theirs.read_text() == LINE % SESSION
    assert SESSION not in inside.paths.ledger.read_text()


# --- its folder ------------------------------------------------------------------------------------------------------


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(demo_folders, "_held", {})
    return folder


def test_many_demos_leave_one_folder(temporary: Path) -> None:
    """Each try left a home behind; now the next one begins where the last one lay, with nothing of it."""
    first = value(make_demo_home())
    (first / "mine.txt").write_text("tried")
    second = value(make_demo_home())
    assert second == first and not (second / "mine.txt").exists() and (second / "conversations").is_dir()
    [folder] = temporary.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_demo_that_is_open_elsewhere_is_not_cleared(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its window would lose the store while somebody looks at it."""
    first = value(make_demo_home())
    monkeypatch.setattr(demo_folders, "_held", {})  # as another process would find it
    second = value(make_demo_home())
    assert second != first and (first / "conversations").is_dir() and len(list(temporary.iterdir())) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="temporary files are the person's own there")
@pytest.mark.parametrize("how", ["open", "link"])
def test_a_folder_that_others_can_reach_is_not_taken(how: str, temporary: Path, tmp_path: Path) -> None:
    """Anybody may put something of that name among the temporary files, and what lies behind it would be removed."""
    own = temporary / f"knowledge-demo-{os.getuid():08}"
    theirs = tmp_path / "theirs"
    (theirs / "home").mkdir(parents=True, mode=0o700)
    if how == "link":
        own.symlink_to(theirs)
    else:
        own.mkdir()
        own.chmod(0o777)
    home = value(make_demo_home())
    assert home.parent != own and (theirs / "home").is_dir() and list(theirs.iterdir()) == [theirs / "home"]
