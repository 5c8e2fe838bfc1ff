"""The one file to download, and the scripts beside the program: what a user without Python starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.agents.tools import own_program
from one_file import start
from one_file.build import NAME, ROOT, words
from tests.waiting import PATIENCE_SECONDS

BUILT = ROOT / "dist" / (NAME + (".exe" if sys.platform == "win32" else ""))


def test_the_build_takes_along_what_is_found_by_name(tmp_path: Path) -> None:
    """Commands, views, settings and pictures: no import names them."""
    pytest.importorskip("PyInstaller", reason="PyInstaller is not installed: make binary")
    told = words(tmp_path, tmp_path)
    taken = {told[at + 1] for at, word in enumerate(told) if word == "--collect-submodules"}
    assert taken == {"core", "gui"}
    sources = [told[at + 1].split(os.pathsep)[0] for at, word in enumerate(told) if word == "--add-data"]
    assert {Path(row).name for row in sources} == {"assets", "config.toml"}
    assert all(Path(row).exists() for row in (*sources, told[-1]))


@pytest.mark.skipif(not BUILT.exists(), reason="the one file is not built: make binary")
def test_the_one_file_runs_the_demo_and_names_its_version(tmp_path: Path) -> None:
    """Built and started: a user's first command gives what the program gives."""
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("PYTHONPATH", None)
    for arguments, said in ((["--version"], "knowledge "), (["demo", "--no-panel"], "harvested items")):
        done = subprocess.run(
            [str(BUILT), *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert said in done.stdout


@pytest.mark.parametrize(
    "words, part",
    [
        (["harvest"], ("core", ["harvest"])),
        (["-m", "core", "status"], ("core", ["status"])),
        (["-I", "-m", "core", "status"], ("core", ["status"])),
        (["panel", "--demo"], ("gui", ["--demo"])),
        (["-m", "gui", "--home", "x"], ("gui", ["--home", "x"])),
        (["-m", "core.agents.hand_over", "codex", "k"], ("hand_over", ["codex", "k"])),
        (["-m", "core.library.extract_process"], ("extract_process", [])),
    ],
)
def test_one_file_is_all_the_programs(
    words: list[str], part: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the program starts of itself (the window, the end of a session, who reads files) is in the same file."""
    heard: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(sys, "argv", ["/opt/knowledge", *words])
    monkeypatch.setattr("core.cli.main.run", lambda: heard.append(("core", sys.argv[1:])))
    monkeypatch.setattr("core.agents.hand_over.main", lambda given: heard.append(("hand_over", given)))
    monkeypatch.setattr("core.library.extract_process.main", lambda: heard.append(("extract_process", [])))
    monkeypatch.setitem(
        sys.modules, "gui.app", type("App", (), {"run": staticmethod(lambda given: heard.append(("gui", given)))})
    )
    start.main()
    assert heard == [part]


def test_its_hooks_start_the_file_and_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which it unpacks itself is gone when a hook runs."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", "/opt/knowledge")
    program = own_program(())
    assert program.words == ("/opt/knowledge",)
    line = "/opt/knowledge -m core.agents.hand_over codex /opt/knowledge"
    assert program.end("codex").startswith(f"test ! -e /opt/knowledge || {line}")
    assert "/opt/knowledge -m core.agents.hand_over start antigravity" in program.start_once("antigravity")


def test_the_validation_script_names_what_is_wrong(tmp_path: Path) -> None:
    """Seed 5 calls it scripts/validate_knowledge.py: a hook of a repository runs it without our program installed."""
    (tmp_path / "facts.yaml").write_text("---\ndomain: global\ncategory: fact\nversion: 1\n---\n\n- id: nonsense\n")
    script = ROOT / "scripts" / "validate_knowledge.py"
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "facts.yaml")],
        env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    assert done.returncode == 1
    assert "facts.yaml:" in done.stderr + done.stdout
