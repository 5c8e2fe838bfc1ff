"""Several lines that say the same, changed as one: if these fail, a statement that a person deleted comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.commands.panel.bullets import category_view
from core.commands.statements import change_all, said, said_with
from core.commands.undo import undo
from core.commands.workspace import Workspace
from tests.made_home import error, make_home, read, value, write

FACTS = """# Facts

- The port is 8080. [from: alpha, 2026-05-01]
- Something else [from: alpha, 2026-05-01]
  with a detail
- the port is `8080` [from: beta, 2026-05-02]
- The port is 8080 [from: by-hand, 2026-05-03]
"""
TASKS = """# Tasks

## Open

- buy tea [from: a, 2026-05-01]
- sweep
- Buy tea [from: b, 2026-05-02]

## Done

- old
"""


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    write(workspace, "facts.md", FACTS)
    write(workspace, "tasks.md", TASKS)
    return workspace


def test_lines_that_say_the_same_are_one_statement_with_its_conversations(home: Workspace) -> None:
    rows = value(category_view(home, "facts")).rows
    other, port = said(rows)
    assert other.others == () and other.conversations == 1
    assert [ref.line for ref in port.refs] == [7, 6, 3] and port.conversations == 2, "by hand is no conversation"
    assert [ref.line for ref in said_with(rows, rows[0]).refs] == [3, 7, 6]
    held = "# Quarantine\n\n- [secret] facts: x\n- [secret] facts: x\n"
    write(home, "quarantine.md", held)
    assert len(said(value(category_view(home, "quarantine")).rows)) == 2, "each is let in or dropped alone"


@pytest.mark.parametrize("act", ["edit", "strike", "delete"])
def test_every_line_is_changed_in_one_step_and_comes_back_in_one(home: Workspace, act: str) -> None:
    view = value(category_view(home, "facts"))
    port = said(view.rows)[1]
    done = value(change_all(home, act, port.refs, "It listens on 9090" if act == "edit" else "", seen=view.sha256))
    text = read(home, "facts.md")
    assert "- Something else [from: alpha, 2026-05-01]\n  with a detail\n" in text
    lines = [line for line in text.splitlines() if "8080" in line or "9090" in line]
    if act == "edit":
        assert lines == [f"- It listens on 9090 [from: {name}" for name in (
            "alpha, 2026-05-01]", "beta, 2026-05-02]", "by-hand, 2026-05-03]")]  # fmt: skip
    elif act == "strike":
        assert [line[:4] for line in lines] == ["- ~~"] * 3
        again = [row.ref for row in value(category_view(home, "facts")).rows if row.bullet.struck]
        value(change_all(home, "unstrike", again))
        assert read(home, "facts.md") == FACTS
        return
    else:
        assert lines == []
    value(undo(home, done.run))
    assert read(home, "facts.md") == FACTS


def test_a_task_that_two_conversations_wanted_is_done_once_and_for_both(home: Workspace) -> None:
    view = value(category_view(home, "tasks_open"))
    tea = next(one for one in said(view.rows) if one.others)
    value(change_all(home, "done", tea.refs, seen=view.sha256))
    wanted = "- sweep\n\n## Done\n\n- old\n- buy tea [from: a, 2026-05-01]\n- Buy tea [from: b, 2026-05-02]\n"
    assert read(home, "tasks.md").endswith(wanted)
    back = next(one for one in said(value(category_view(home, "tasks_done")).rows) if one.others)
    value(change_all(home, "reopen", back.refs))
    assert [row.bullet.text for row in value(category_view(home, "tasks_open")).rows] == ["sweep", "buy tea", "Buy tea"]


def test_nothing_is_written_when_one_of_the_lines_is_gone_or_the_file_is_another(home: Workspace) -> None:
    view = value(category_view(home, "facts"))
    refs = said(view.rows)[1].refs
    outside = FACTS.replace("- the port is `8080`", "- the port is 9090")
    write(home, "facts.md", outside)
    assert error(change_all(home, "delete", refs, seen=view.sha256)).code == "changed-outside"
    assert error(change_all(home, "delete", refs)).code == "changed-outside" and read(home, "facts.md") == outside
    assert error(change_all(home, "paint", refs)).code == "usage"


def test_lines_that_are_as_wanted_already_do_not_stop_the_others(home: Workspace) -> None:
    refs = said(value(category_view(home, "facts")).rows)[1].refs
    value(change_all(home, "edit", refs, "The port is 8080"))
    assert read(home, "facts.md").count("- The port is 8080 [") == 3
    now = said(value(category_view(home, "facts")).rows)[1].refs
    assert error(change_all(home, "edit", now, "The port is 8080")).code == "unchanged"
