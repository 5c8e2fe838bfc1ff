"""A home that this person may not open or not write: if these fail, the answer is a crash or a wrong hint.

Root may do all, so the program runs without its privileges here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base.paths import Paths

IS_ROOT = os.name != "nt" and os.geteuid() == 0
UNPRIVILEGED = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] if IS_ROOT else []
ROOT = Path(__file__).resolve().parents[1]
ADVICE = "Check its owner and rights, or name another with --home."

pytestmark = pytest.mark.skipif(
    os.name == "nt" or (IS_ROOT and shutil.which("setpriv") is None), reason="needs a person without root's privileges"
)


def knowledge(home: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [*UNPRIVILEGED, sys.executable, "-m", "core", *words, "--home", str(home)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd or home.parent, env=variables, text=True, capture_output=True, timeout=60)


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[Paths]:
    """A home with one fact."""
    place = Paths(tmp_path / "home")
    assert knowledge(place.home, "add", "facts", "Ports start at 8080").returncode == 0
    yield place
    for folder in (place.home, place.knowledge, place.state, place.file_notes):
        if folder.is_dir():
            folder.chmod(0o700)


@pytest.mark.parametrize(
    "words", [["doctor"], ["status"], ["harvest"], ["search", "port"], ["add", "facts", "x"], ["context"]]
)
def test_every_command_says_that_the_home_is_closed(paths: Paths, words: list[str]) -> None:
    paths.home.chmod(0)
    ended = knowledge(paths.home, *words)
    assert ended.returncode == 1 and ended.stdout == ""
    assert ended.stderr == f"knowledge: you do not have permission to open this home ({paths.home}). {ADVICE}\n"


@pytest.mark.parametrize(("closed", "mode"), [("knowledge", 0), ("home", 0o600), ("state", 0)])
def test_the_folder_that_is_closed_is_named(paths: Paths, closed: str, mode: int) -> None:
    """`sudo` leaves one folder behind that belongs to somebody else."""
    folder: Path = getattr(paths, closed)
    folder.chmod(mode)
    ended = knowledge(paths.home, "doctor")
    assert ended.stderr == f"knowledge: you do not have permission to open this home ({folder}). {ADVICE}\n"


def test_a_home_below_a_closed_folder_is_told_too(paths: Paths, tmp_path: Path) -> None:
    paths.home.chmod(0)
    ended = knowledge(paths.home / "deeper", "status", cwd=tmp_path)
    assert ended.returncode == 1
    assert (
        ended.stderr == f"knowledge: you do not have permission to open this home ({paths.home / 'deeper'}). {ADVICE}\n"
    )


@pytest.mark.parametrize("closed", ["home", "knowledge"])
def test_a_home_that_cannot_be_written_is_told_before_it_is_needed(paths: Paths, closed: str) -> None:
    """The doctor and the dry run say it; otherwise a person learns it from an --apply that fails."""
    folder: Path = getattr(paths, closed)
    folder.chmod(0o500)
    ended = knowledge(paths.home, "doctor")
    assert ended.returncode == 1 and "the store is whole" not in ended.stdout
    assert f"you do not have permission to write to this home: check its owner and rights ({folder})" in ended.stdout
    notes = json.loads(knowledge(paths.home, "harvest", "--json").stdout)["notes"]
    assert [note for note in notes if "you cannot write to this home" in note and str(folder) in note]


def test_an_apply_there_says_what_to_do(paths: Paths) -> None:
    paths.state.chmod(0o500)
    (paths.lock).unlink(missing_ok=True)
    ended = knowledge(paths.home, "harvest", "--apply")
    assert ended.returncode == 1 and ended.stderr.endswith(f"{ADVICE}\n"), ended.stderr


def test_the_doctor_names_a_folder_that_it_cannot_look_into(paths: Paths) -> None:
    """One closed folder inside must not keep the doctor from saying what else there is."""
    paths.file_notes.mkdir(exist_ok=True)
    paths.file_notes.chmod(0)
    ended = knowledge(paths.home, "doctor")
    assert ended.returncode == 1 and str(paths.file_notes) in ended.stdout, ended.stderr
    assert "unexpected" not in ended.stderr


def run_in(tmp_path: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line of shell, with `knowledge` in it, in a folder of its own."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = f'knowledge() {{ "{sys.executable}" -m core "$@"; }}; {line}'
    return subprocess.run(["sh", "-c", words], env=variables, cwd=tmp_path, capture_output=True, text=True, timeout=60)


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
    ended = run_in(tmp_path, line)
    assert (ended.returncode, ended.stderr) == (code, told)
