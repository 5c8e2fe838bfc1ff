"""`knowledge search` over a whole store: what is knowledge is found with its source, what is not stays away."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from core.base.result import KnowledgeError, attempt
from core.cli.main import main
from core.commands.moment.find import find
from core.commands.search import SearchReport, search
from core.commands.workspace import Workspace, open_workspace
from tests.cli_call import call
from tests.made_home import trusted

MEMORY = "---\nid: {id}\ncreated: '2026-05-04T09:00:00+00:00'\ntags: [preference]\nsource: user-told\n---\n\n{text}\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "knowledge"
    (folder / "files").mkdir(parents=True)
    (folder / "memories").mkdir()

    def write(name: str, text: str) -> None:
        (folder / name).write_text(text, encoding="utf-8")

    write("facts.md", "# Facts\n\n- The exporter listens on port 8080 [from: one-talk, 2026-05-02]\n"
          "- ~~The exporter listens on port 7070~~ [from: old, 2026-01-01]\n")  # fmt: skip
    write("decisions.md", "# Decisions\n\n- The exporter is written in C++ [from: two, 2026-06-01]\n  for its speed\n")
    write("tasks.md", "# Tasks\n\n## Open\n- Document the exporter\n\n## Done\n- Ship the exporter\n")
    write("quarantine.md", "- [secret] facts: The exporter key is hidden [from: two, 2026-06-01]\n")
    write("files/1:2.md", "# /srv/app/exporter.py\n- restarts twice [from: two, 2026-06-01]\n")
    write("memories/001-tabs.md", MEMORY.format(id=1, text="Prefers tabs in the exporter"))
    write("memories/002-bad.md", "---\nid: x\n---\n\nbroken exporter\n")
    write("context.md", "---\nversion: 1\nupdated: '2026-06-01T00:00:00'\n---\n\n# House\n\nThe exporter is sacred\n")
    write("digest.md", "- The exporter listens on port 8080\n")
    return tmp_path / "home"


@pytest.fixture
def workspace(home: Path, tmp_path: Path) -> Workspace:
    return open_workspace(str(home), cwd=tmp_path)


def found(workspace: Workspace, query: str, **named: object) -> SearchReport:
    return search(workspace, query, **named)  # type: ignore[arg-type]


def test_everything_that_is_knowledge_is_found(workspace: Workspace) -> None:
    """Bullets, notes, memories and context; not what was struck, held back, or is only a projection."""
    report = found(workspace, "exporter", limit=50)
    assert sorted((hit.entry.kind, hit.entry.key) for hit in report.hits) == [
        ("bullet", "decisions.md:3"), ("bullet", "facts.md:3"), ("bullet", "tasks.md:4"), ("bullet", "tasks.md:7"),
        ("context", "global:1"), ("memory", "global:1"), ("note", "files/1:2.md:2"),
    ]  # fmt: skip
    assert found(workspace, "7070").hits == ()
    assert found(workspace, "hidden").hits == ()


def test_a_file_that_is_not_searched_is_named(workspace: Workspace) -> None:
    """A memory with a broken header would be missed in silence."""
    [warning] = found(workspace, "exporter").warnings
    assert "002-bad.md" in warning


def test_filters_of_the_command(workspace: Workspace) -> None:
    """Kind, tag, date, folder; and a wrong one is a sentence with the right ones."""

    def keys(**named: object) -> set[str]:
        return {hit.entry.key for hit in found(workspace, "exporter", **named).hits}

    assert keys(kind="memory") == {"global:1"}
    assert keys(tag=["tasks_open"]) == {"tasks.md:4"}
    assert keys(kind="bullet", since="2026-05") == {"facts.md:3", "decisions.md:3"}
    project = workspace.cwd / "app"
    project.mkdir()
    for named in ({"kind": "thing"}, {"since": "May"}, {"since": "2026-13"}, {"limit": 0}):
        result = attempt(search, workspace, "exporter", **named)  # type: ignore[arg-type]
        assert isinstance(result, KnowledgeError) and result.error.code == "usage" and result.error.hint


def test_a_project_has_its_own_knowledge_and_sees_the_homes(workspace: Workspace) -> None:
    """Inside a project both are searched; --project leaves only what is the project's."""
    project = workspace.cwd / "app"
    (project / ".manual_slop" / "knowledge").mkdir(parents=True)
    (project / ".manual_slop" / "knowledge" / "facts.md").write_text("- The exporter of this project\n")
    trusted(project, workspace.environment)
    inside = Workspace(workspace.paths, workspace.loaded, workspace.environment, project)
    assert len(found(inside, "exporter", limit=50).hits) == 8
    assert [row.text for row in find(workspace, "exporter", str(project)).hits] == ["The exporter of this project"]
    assert len(found(workspace, "exporter", limit=50).hits) == 7


@pytest.mark.parametrize("command", ["evidence", "rm", "edit", "worked"])
def test_a_line_of_a_projects_own_file_is_not_taken_for_one_of_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """`find` called it facts.md:1, and every command took that for the line of the home."""
    for name, folder in {"HOME": ".", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config"}.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    project = tmp_path / "work/app"
    for place, line in ((tmp_path, "The pier is closed"), (project, "The release branch is called stable")):
        (place / ".manual_slop/knowledge").mkdir(parents=True)
        (place / ".manual_slop/knowledge/facts.md").write_text(f"- {line}\n")
    monkeypatch.chdir(project)
    assert call("trust", "allow")[0] == 0
    [line] = [row for row in call("find", "release branch stable")[1].split("\n") if "called stable" in row]
    key = line.rpartition("→ ")[2]
    assert key == ".manual_slop/knowledge/facts.md:1" and line.startswith("1. [fact, app]")
    code, out, err = call(command, key, *(["The pier is open"] if command == "edit" else []))
    assert "The pier is closed" not in out + err
    assert "called stable" in out if command == "worked" else code == 1 and "a project's own" in err
    assert "The pier is closed" in (tmp_path / ".manual_slop/knowledge/facts.md").read_text()


def test_json_has_the_documented_keys(workspace: Workspace) -> None:
    """Other programs read it: a list, best first."""
    out, err = io.StringIO(), io.StringIO()
    home = str(workspace.paths.home)
    assert main(["search", "--json", "--home", home, "exporter", "port", "8080"], out, err) == 0
    rows = json.loads(out.getvalue())
    assert {"kind", "key", "text", "score", "why", "provenance"} <= rows[0].keys()
    assert rows[0]["text"] == "The exporter listens on port 8080"
    assert rows[0]["provenance"] == "[from: one-talk, 2026-05-02]"
    assert "002-bad.md" in err.getvalue()
    assert main(["search", "--home", home, "xyzzy"], out, err) == 0
    assert "never said" in out.getvalue()


def test_secrets_a_person_wrote_into_context_are_not_shown(workspace: Workspace) -> None:
    """Hits go to agents and screens; the prompt gets the placeholder too."""
    key = "sk-" + "proj-" + "a1B2c3D4" * 5
    context = workspace.paths.knowledge / "context.md"
    context.write_text(f"---\nversion: 1\nupdated: '2026-06-01T00:00:00'\n---\n\nThe exporter key is {key}\n")
    [hit] = found(workspace, "exporter key", kind="context").hits
    assert key not in hit.entry.text
