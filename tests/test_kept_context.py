"""The answer that is given before the program is loaded: never other than the one that it would give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.base.paths import Paths
from core.cli import kept_context, main
from core.cli.kept_context import kept_answer
from core.knowledge.digest import regenerate_digest
from core.knowledge.ledger import write_ledger
from tests.cli_call import call
from tests.spoken_home import wait_until_settled

ROOT = Path(__file__).resolve().parents[1]
TODAY = "[from: a talk, 2026-05-01]"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in; beside it a person's folder, with a home that has been asked for twice."""
    if not sys.platform.startswith("linux"):
        pytest.skip("only where the cache folder is known without a library")
    for name in ("MANUAL_SLOP_HOME", "SLOP_CONFIG", "GIT_CEILING_DIRECTORIES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 60)  # what was written before this test is settled
    paths = Paths(tmp_path / "me/.manual_slop")
    paths.knowledge.mkdir(parents=True)
    (paths.knowledge / "facts.md").write_text(f"# Facts\n\n- The server listens on port 8080 {TODAY}\n")
    write_ledger(paths, {})
    regenerate_digest(paths, 4096)
    folder = tmp_path / "me/work/app"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    for _ in range(3):
        assert call("context")[0] == 0
    return folder


def knowledge(place: Path) -> Path:
    return place.parents[1] / ".manual_slop/knowledge"


def test_the_same_words_get_the_same_answer(place: Path) -> None:
    """And without the program: a hook has one twentieth of a second."""
    _, said, _ = call("context")
    assert "port 8080" in said
    assert kept_answer(["context"]) == said
    script = (
        "import sys\nfrom core.cli.main import run\nsys.argv = ['knowledge', 'context']\n"
        "try:\n    run()\nfinally:\n    print(sorted({'argparse', 'typing', 'pathlib', 'hashlib'} & set(sys.modules)))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60)
    # The interpreter's own version is part of the question: ours asked in this process, so it is the same.
    assert done.stdout == f"{said}[]\n", done.stderr


def strike(place: Path) -> None:
    (knowledge(place) / "digest.md").write_text("# Knowledge digest\n\nOther words.\n")


def switch_off(place: Path) -> None:
    (knowledge(place) / "digest.md").unlink()


def tell(place: Path) -> None:
    (knowledge(place) / "context.md").write_text("Tabs in Makefiles.\n")


def harvest(place: Path) -> None:
    write_ledger(Paths(place.parents[1] / ".manual_slop"), {"0" * 64: {"status": "harvested", "path": "/x/a talk"}})


def set_own(place: Path) -> None:
    own = place.parents[2] / "settings/manual_slop/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[ai_settings.knowledge]\ndigest_enabled = false\n")


def set_here(place: Path) -> None:
    (place / "config.toml").write_text("[ai_settings.knowledge]\ndigest_enabled = false\n")


def begin_project(place: Path) -> None:
    (place.parent / ".manual_slop/knowledge").mkdir(parents=True)


def clone(place: Path) -> None:
    (place / ".git").mkdir()


def open_to_all(place: Path) -> None:
    place.chmod(0o777)


def link_home(place: Path) -> None:
    home = knowledge(place).parent
    home.rename(home.with_name("moved"))
    home.symlink_to(home.with_name("moved"))


def trust(place: Path) -> None:
    file = place.parents[2] / "settings/manual_slop/trusted.json"
    file.parent.mkdir(parents=True)
    file.write_text("{}")


CHANGES: list[Callable[[Path], None]] = [
    strike, switch_off, tell, harvest, set_own, set_here, begin_project, clone, open_to_all, link_home, trust,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_whatever_changes_is_asked_anew(change: Callable[[Path], None], place: Path) -> None:
    """What an agent is told at its start must be what the person's files and settings say now."""
    assert kept_answer(["context"]) is not None
    change(place)
    assert kept_answer(["context"]) is None


@pytest.mark.parametrize(
    "words", [["context", "--json"], ["context", "--config", "x"], ["context", "--home", "/x"], ["status"], []]
)
def test_other_words_are_another_question(words: list[str], place: Path) -> None:
    assert kept_answer(words) is None


def test_another_folder_and_another_home_are_other_questions(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.parent)
    assert kept_answer(["context"]) is None
    monkeypatch.chdir(place)
    assert kept_answer(["context"]) is not None
    monkeypatch.setenv("MANUAL_SLOP_HOME", str(place))
    assert kept_answer(["context"]) is None


def test_what_was_edited_while_the_answer_was_made_is_not_taken_for_old(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that nobody reads holds an answer up for as long as it likes; by then the files say something else."""
    usual = main._printed
    wait_until_settled()

    def clock() -> float:
        return time.clock_gettime(time.CLOCK_REALTIME)

    def printed(*given: Any, **named: Any) -> bool:
        done = usual(*given, **named)
        tell(place)
        monkeypatch.setattr(time, "time", lambda: clock() + 60)
        return done

    [kept] = (place.parents[2] / "cache").rglob("start/*")
    kept.unlink()
    monkeypatch.setattr(time, "time", clock)
    monkeypatch.setattr(main, "_printed", printed)
    assert "Tabs in" not in call("context")[1]
    assert kept_answer(["context"]) is None


def test_a_group_that_others_join_is_asked_about_anew(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that a group may write is the person's alone while nobody else is in the group."""
    rows = kept_rows(place)
    assert {"/etc/group", "/etc/passwd"} <= {row[0] for row in rows}
    home = knowledge(place).parent
    assert all(os.stat(home).st_gid in row[1:] for row in rows if row[0] == str(home))
    [named] = [row for row in rows if row[0] == "/etc/group"]
    seen = kept_context._seen
    monkeypatch.setattr(
        kept_context, "_seen", lambda *asked: [*named[:-1], 0] if asked[0] == named[0] else seen(*asked)
    )
    assert kept_answer(["context"]) is None


def kept_rows(place: Path) -> list[list[Any]]:
    [kept] = (place.parents[2] / "cache").rglob("start/*")
    rows: list[list[Any]] = json.loads(kept.read_bytes())["paths"]
    return rows


def test_a_pipe_or_a_link_in_the_place_of_an_answer_is_passed_over(place: Path) -> None:
    [kept] = (place.parents[2] / "cache").rglob("start/*")
    kept.rename(kept.with_name("moved"))
    kept.symlink_to("moved")
    assert kept_answer(["context"]) is None
    kept.unlink()
    os.mkfifo(kept, 0o600)
    assert kept_answer(["context"]) is None, "and nobody waits for who writes into it"


def test_an_answer_that_others_could_have_written_is_passed_over(place: Path) -> None:
    """Who can write it could speak to every agent; a damaged one must not stop a session either."""
    [kept] = (place.parents[2] / "cache").rglob("start/*")
    kept.chmod(0o644)
    assert kept_answer(["context"]) is None
    kept.chmod(0o600)
    assert kept_answer(["context"]) is not None
    kept.write_text('{"asked": 1}')
    assert kept_answer(["context"]) is None
    assert call("context")[0] == 0
