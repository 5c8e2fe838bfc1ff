"""Which repository a folder belongs to. A wrong name scatters one repository's facts, or mixes two."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.repository import domain_of, repository_root, slug


def test_the_nearest_git_folder_names_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "The Nexus"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    assert repository_root(str(root / "src" / "deep")) == str(root)
    assert domain_of(str(root / "src" / "deep")) == domain_of(str(root)) == "the-nexus"
    (tmp_path / "worktree").mkdir()
    (tmp_path / "worktree" / ".git").write_text("gitdir: elsewhere")
    assert domain_of(str(tmp_path / "worktree" / "a" / "b")) == "worktree"
    assert domain_of(str(tmp_path / "plain")) == "plain"


@pytest.mark.parametrize(
    "folder",
    ["", "relative/path", "/", "/etc/nginx", "/home/somebody", "/Users/somebody", "/root", "/tmp", "/proc/1/cwd",
     "C:\\", "C:\\Users\\somebody", "/home/somebody/x\0y", "/" + "a" * 5000, "/home/somebody/..", "~"],
)  # fmt: skip
def test_what_is_no_repository_is_global(folder: str) -> None:
    """A person's own name must not become a repository, and a hostile path no look at the disk."""
    assert domain_of(folder) == "global"


@pytest.mark.parametrize(
    ("folder", "domain"),
    [
        ("/home/somebody/src/gone", "gone"),
        ("C:\\Users\\somebody\\src\\My Repo", "my-repo"),
        ("D:\\work\\api_v2", "api_v2"),
        ("/srv/code/global", "global-repo"),
        ("/srv/code/CON", "con-repo"),
        ("/srv/code/проект", "проект"),
        ("/srv/code/a:b/../c d", "c-d"),
        ("/srv/code/---", "global"),
        ("/Users/somebody/workspace/cli/.worktrees/1", "cli"),
        ("/home/somebody/cli/.claude/worktrees/fix-it/cmd", "cli"),
        ("/home/somebody/.codex/worktrees/ab12/cli", "cli"),
        ("/home/somebody/code/.dotfiles", "dotfiles"),
        ("/home/somebody/src/agentv__worktrees/dashboard-ux", "agentv"),
        ("/home/somebody/src/agentv.worktrees/x/.agentv/results/run-1", "agentv"),
        ("/home/somebody/src/git-worktree/notes", "notes"),
        ("/home/somebody/src/my-worktrees", "my-worktrees"),
        ("/home/somebody/worktrees/cli", "cli"),
    ],
)
def test_the_rule_of_the_name(folder: str, domain: str) -> None:
    assert domain_of(folder) == domain
    assert slug(domain) == domain


def test_a_work_tree_is_of_its_repository_and_a_hidden_repository_its_own(tmp_path: Path) -> None:
    """A work tree called `1` made a repository of that name, beside the one that it belongs to."""
    for folder in ("cli/.git", "cli/.worktrees/1/cmd", ".dotfiles/.git", ".dotfiles/vim"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "cli" / ".worktrees" / "1" / ".git").write_text("gitdir: ../../.git/worktrees/1\n")
    assert domain_of(str(tmp_path / "cli" / ".worktrees" / "1" / "cmd")) == "cli"
    assert domain_of(str(tmp_path / ".dotfiles" / "vim")) == "dotfiles"
