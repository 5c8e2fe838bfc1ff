"""An edit of a project's memory, taken back: without it the answer promises an undo that does not exist."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import disk, locks
from core.base.paths import project_paths
from core.base.result import Err, Ok
from core.commands.memories import memories_edit, save
from core.commands.undo import undo
from core.commands.workspace import Workspace, open_workspace
from core.knowledge.changes import read_changes
from core.knowledge.journal import read_journal
from tests.faults.fault import Counter, Fault
from tests.histories.ground import in_child
from tests.made_home import error, trusted, value

NOW = datetime(2026, 2, 9, 10, 0, tzinfo=UTC)


def opened(tmp_path: Path, cwd: Path) -> Workspace:
    return value(open_workspace(str(tmp_path / "home"), None, {"HOME": str(tmp_path)}, cwd))


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "app"
    (folder / "src").mkdir(parents=True)
    (folder / ".git").mkdir()
    value(save(opened(tmp_path, folder), "Tabs here.", project=str(folder), now=lambda: NOW))
    return folder


def edit(workspace: Workspace, words: str, project: str = "") -> str:
    """The run of an edit of the project's first memory."""
    done = value(memories_edit(workspace, "project:1", words, project=project, now=lambda: NOW))
    return str(vars(done)["run"])


def the_text(project: Path) -> str:
    (path,) = project_paths(project).memories.glob("*.md")
    return path.read_text(encoding="utf-8")


def test_an_edit_of_a_projects_memory_is_taken_back_from_any_folder_of_it(tmp_path: Path, project: Path) -> None:
    before = the_text(project)
    run = edit(opened(tmp_path, project), "Spaces here.")
    assert "Spaces" in the_text(project)
    assert error(undo(opened(tmp_path, tmp_path), run)).code == "unknown-run"
    report = value(undo(opened(tmp_path, project / "src"), run))
    assert the_text(project) == before and report.lines_back and not report.errors
    again = value(undo(opened(tmp_path, project), run))
    assert again.already and the_text(project) == before
    unknown = error(undo(opened(tmp_path, project), "edit-20260101T000000-abcdef"))
    assert unknown.code == "unknown-run"


def test_who_edits_from_elsewhere_is_told_where_the_undo_works(tmp_path: Path, project: Path) -> None:
    far = memories_edit(opened(tmp_path, tmp_path), "project:1", "Far away.", project=str(project), now=lambda: NOW)
    assert isinstance(far, Ok) and str(project) in str(vars(far.value)["warning"])
    near = memories_edit(opened(tmp_path, project), "project:1", "Near by.", now=lambda: NOW)
    assert isinstance(near, Ok) and not vars(near.value)["warning"]


def test_what_the_person_wrote_since_stays(tmp_path: Path, project: Path) -> None:
    run = edit(opened(tmp_path, project), "Spaces here.")
    (path,) = project_paths(project).memories.glob("*.md")
    path.write_text(the_text(project).replace("Spaces here.", "Spaces here, by hand."), encoding="utf-8")
    report = value(undo(opened(tmp_path, project), run))
    assert not report.lines_back and "Spaces here, by hand." in the_text(project)


def test_two_undos_at_once_are_one_after_the_other(tmp_path: Path, project: Path) -> None:
    run = edit(opened(tmp_path, project), "Spaces here.")
    with locks.locked(project_paths(project).lock):
        assert error(undo(opened(tmp_path, project), run)).code == "lock-held"
    assert value(undo(opened(tmp_path, project), run)).lines_back


@pytest.mark.parametrize("then", ["undo", "edit"])
@pytest.mark.parametrize("at", range(1, 36, 2))
def test_an_edit_that_was_killed_can_be_taken_back_in_the_project(
    tmp_path: Path, project: Path, at: int, then: str
) -> None:
    """No harvest ever looks into a project: a promise that a crash left there would wait for ever, its undo lost."""
    before, paths, here = the_text(project), project_paths(project), opened(tmp_path, project)
    trusted(project, here.environment)

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, "after"))):
            edit(here, "Spaces here.")

    assert in_child(killed) in (0, -9)
    made = the_text(project) != before
    if then == "edit":
        edit(here, "Both here.")
        cut = [row.run for row in read_changes(paths) if any("Spaces" in line for line in row.added)]
        assert len(cut) == made
    else:
        promised = [row["change"]["run"] for row in read_journal(paths.log) if row["t"] == "intent"]
        runs = list(dict.fromkeys(promised)) or [row.run for row in read_changes(paths)]
        found = [undo(here, run) for run in runs]
        assert the_text(project) == before and (not made or [one for one in found if isinstance(one, Ok)])
        assert made or all(isinstance(one, Err) for one in found)
    assert not paths.log.exists() or not made
