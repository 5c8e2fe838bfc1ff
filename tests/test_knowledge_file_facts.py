"""Notes on files that were on another computer became facts. If these fail, they are lost to whoever asks about the
file, or a stranger's file of the same name speaks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.markdown import parse_bullets
from core.commands import bullets
from core.commands.bullets import notes as notes_of
from core.knowledge.file_facts import facts_about
from tests.made_home import make_home, value, write

ALEX = {"talk": frozenset({"/Users/alex/code/cli"}), "other": frozenset({"/srv/shop"})}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a repository called `cli`."""
    (tmp_path / "cli" / ".git").mkdir(parents=True)
    (tmp_path / "cli" / "cmd" / "log").mkdir(parents=True)
    return tmp_path / "cli"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("- {clone}/cmd/log/logger.go: rotates [from: x, 2026-01-01]", True),
        ("- /Users/alex/code/cli/.worktrees/1/cmd/log/logger.go: rotates [from: x, 2026-01-01]", True),
        ("- C:\\src\\cli\\cmd\\log\\logger.go: rotates", True),
        ("- ~/cli/cmd/log/logger.go: rotates", True),
        ("- cmd/log/logger.go: rotates [from: talk, 2026-01-01]", True),
        ("- cli/cmd/log/logger.go: rotates [from: talk, 2026-01-01]", True),
        ("- cmd/log/logger.go: rotates [from: nobody knows where, 2026-01-01]", True),
        ("- cmd/log/logger.go: rotates [from: other, 2026-01-01]", False),
        ("- /Users/alex/code/shop/cmd/log/logger.go: rotates", False),
        ("- logger.go: rotates [from: talk, 2026-01-01]", False),
        ("- cmd/log/logger.go.bak: rotates [from: talk, 2026-01-01]", False),
        ("- The file cmd/log/logger.go rotates [from: talk, 2026-01-01]", False),
        ("- ~~cmd/log/logger.go: rotates~~ [from: talk, 2026-01-01]", False),
    ],
)
def test_which_facts_speak_of_a_file(clone: Path, line: str, told: bool) -> None:
    found = parse_bullets(line.replace("{clone}", str(clone)) + "\n")
    assert len(found) == 1
    assert bool(facts_about(found, str(clone / "cmd" / "log" / "logger.go"), ALEX)) is told


def test_a_work_tree_is_the_repository_that_it_belongs_to(clone: Path) -> None:
    """Whoever lets agents work in work trees asks about their files there."""
    tree = clone / ".worktrees" / "7"
    (tree / "cmd").mkdir(parents=True)
    (tree / ".git").write_text("gitdir: ../../.git/worktrees/7\n")
    rows = parse_bullets("- cmd/run.go: slow [from: talk, 2026-01-01]\n- /Users/alex/code/cli/cmd/run.go: fast\n")
    assert len(facts_about(rows, str(tree / "cmd" / "run.go"), ALEX)) == 2


def test_a_file_at_the_top_is_not_every_file_of_its_name(clone: Path) -> None:
    rows = parse_bullets(
        "- README.md: ours [from: talk, 2026-01-01]\n- README.md: whose [from: nobody, 2026-01-01]\n"
        "- README.md: theirs [from: other, 2026-01-01]\n- /Users/alex/code/cli/README.md: ours too\n"
        "- /Users/alex/cli/deep/README.md: a deep one\n"
    )
    found = facts_about(rows, str(clone / "README.md"), ALEX)
    assert [row.text.partition(": ")[2] for row in found] == ["ours", "ours too"]


def test_outside_of_a_repository_only_the_very_path_counts(tmp_path: Path) -> None:
    rows = parse_bullets(f"- {tmp_path}/a/b.py: this one\n- a/b.py: whose\n")
    assert [row.line for row in facts_about(rows, str(tmp_path / "a" / "b.py"), {})] == [1]


def test_asked_about_a_file_they_stand_behind_its_notes(tmp_path: Path, clone: Path) -> None:
    workspace = make_home(tmp_path)
    source = clone / "cmd" / "log" / "logger.go"
    source.write_text("package log\n")
    write(workspace, "facts.md", "# Facts\n\n- cmd/log/logger.go: rotates at midnight\n")
    alone = value(notes_of(workspace, str(source)))
    assert [(row.file, row.bullet.text) for row in alone.bullets] == [
        ("facts.md", "cmd/log/logger.go: rotates at midnight")
    ]
    value(bullets.add(workspace, "files", "Needs a lock", file=str(source)))
    both = value(notes_of(workspace, str(source)))
    assert [row.bullet.text for row in both.bullets] == ["Needs a lock", "cmd/log/logger.go: rotates at midnight"]
