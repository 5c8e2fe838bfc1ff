"""Which folder is a project: if these fail, what one home knows is read as if it were another's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.base.result import Err
from core.commands import bullets
from core.commands.context import context
from core.commands.memories import Listed, memories_list, recall_command, save
from core.commands.project import find_project
from core.commands.search import search
from core.commands.status import status
from core.commands.workspace import Workspace, open_workspace
from core.injection import prompt_prefix
from tests.made_home import value


def opened(home: Path, cwd: Path) -> Workspace:
    cwd.mkdir(parents=True, exist_ok=True)
    return value(open_workspace(str(home), environment=dict(os.environ), cwd=cwd))


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's folder with the default home in it, which knows of port 8080, tabs and a context."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    mine = opened(folder / ".manual_slop", folder)
    value(bullets.add(mine, "decisions", "We decided to use port 8080"))
    value(save(mine, "Prefers tabs in Makefiles"))
    (mine.paths.context).write_text("---\nversion: 1\n---\n\nAnswer in short sentences.\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("where", ["", "work/deep"])
def test_the_default_home_is_no_project_of_another_home(person: Path, tmp_path: Path, where: str) -> None:
    """Who names another home anywhere below the own folder must not be told what the default one knows."""
    other = opened(tmp_path / "other", person / where)
    assert value(find_project(other)) is None
    assert value(search(other, "port")).entries == 0
    assert value(recall_command(other, "tabs")).memories == ()
    listed = value(memories_list(other))
    assert isinstance(listed, Listed) and listed.memories == ()
    assert value(context(other)).prefix.text == ""
    told = value(status(other))
    assert told.memories == 0 and told.context == []


@pytest.mark.parametrize("mark", ["conversations", "knowledge/ledger.json", "knowledge/digest.md"])
def test_a_folder_whose_store_is_a_home_is_no_project(tmp_path: Path, mark: str) -> None:
    """A home that lies at some other place is no project either."""
    place = tmp_path / "elsewhere" / ".manual_slop"
    (place / "knowledge").mkdir(parents=True)
    (place / "knowledge" / "facts.md").write_text("- Ports start at 8080.\n", encoding="utf-8")
    mine = opened(tmp_path / "home", place.parent)
    assert value(find_project(mine)) == place.parent  # with facts of its own, and nothing that only a home has
    (place / mark).mkdir() if mark == "conversations" else (place / mark).write_text("{}", encoding="utf-8")
    assert value(find_project(mine)) is None
    assert value(search(mine, "ports")).entries == 0


def test_a_home_that_the_environment_names_is_no_project(tmp_path: Path) -> None:
    """`--home` beside MANUAL_SLOP_HOME: that one is a home too, though it holds nothing but a memory."""
    named = tmp_path / "work" / ".manual_slop"
    value(save(opened(named, tmp_path), "Prefers tabs"))
    variables = {**os.environ, "MANUAL_SLOP_HOME": str(named)}
    mine = value(open_workspace(str(tmp_path / "home"), environment=variables, cwd=named.parent))
    assert value(find_project(mine)) is None


def test_a_project_that_is_asked_for_and_is_another_home_is_refused(person: Path, tmp_path: Path) -> None:
    """A memory for "the project" would otherwise go into a home that was not named, and be read from one."""
    other = opened(tmp_path / "other", tmp_path)
    for result in (find_project(other, str(person)), save(other, "Mine", project=str(person))):
        assert isinstance(result, Err) and result.error.code == "no-project"
        assert "home" in result.error.message and "--home" in result.error.hint
    assert value(find_project(opened(person / ".manual_slop", tmp_path), str(person))) is None


def test_a_project_below_a_home_is_found_all_the_same(person: Path, tmp_path: Path) -> None:
    """The search upwards goes past nothing that is a project's."""
    project = person / "work"
    (project / ".manual_slop" / "knowledge" / "memories").mkdir(parents=True)
    assert value(find_project(opened(tmp_path / "other", project / "src"))) == project
    assert value(find_project(opened(person / ".manual_slop", project / "src"))) == project


def test_a_host_gets_the_homes_context_once(person: Path, tmp_path: Path) -> None:
    """A host passes the current folder as the project: in one's own folder the context must not stand there twice, and
    another home's must not stand there at all."""
    own = value(prompt_prefix(person, home=person / ".manual_slop", environment={})).text
    assert own.count("Answer in short sentences.") == 1 and "### Project Context" not in own
    assert value(prompt_prefix(person, home=tmp_path / "other", environment={})).text == ""
