"""What one project is: a user would miss its knowledge in its clone, or a stranger's copy would be answered with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from core.base.project import (
    Project,
    folders_around,
    in_repository,
    is_below,
    normal_remote,
    project_at,
    project_root,
    same_key,
)
from core.harvest.named_paths import is_working_folder

COMMIT = ("-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "--allow-empty", "-q", "-m")


def same_project(one: Project | None, other: Project | None) -> bool:
    """Whether two folders claim to be one project."""
    return one is not None and other is not None and (one.root == other.root or same_key(one.key, other.key))


def git(folder: Path, *words: str) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", "-C", str(folder), *words], check=True, env=plain | quiet, capture_output=True)


def repository(folder: Path, remote: str = "", commit: str = "first") -> Path:
    """A repository with one commit, which differs from those of other messages."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    if commit:
        git(folder, *COMMIT, commit)
    if remote:
        git(folder, "remote", "add", "origin", remote)
    return folder


def test_a_clone_a_moved_folder_and_a_work_tree_are_one_project(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop")
    git(tmp_path, "clone", "-q", str(shop), "copy")
    git(shop, "worktree", "add", "-q", str(tmp_path / "elsewhere" / "fix"))
    (tmp_path / "elsewhere" / "fix" / "src").mkdir()
    other = repository(tmp_path / "other" / "shop", commit="another beginning")
    own, copy = project_at(str(shop)), project_at(str(tmp_path / "copy"))
    assert own is not None and copy is not None
    assert own.root == str(shop)
    assert own.key == copy.key and own.key.startswith("commit:")
    assert project_at(str(tmp_path / "elsewhere" / "fix" / "src")) == own
    assert same_project(own, copy) and not same_project(own, project_at(str(other)))
    shop.rename(tmp_path / "moved")
    moved = project_at(str(tmp_path / "moved"))
    assert moved is not None and moved.key == own.key
    git(tmp_path / "moved", *COMMIT, "second")
    assert same_project(project_at(str(tmp_path / "moved")), own)


def test_a_remote_alone_makes_one_project_and_is_kept_without_what_is_secret(tmp_path: Path) -> None:
    one = repository(tmp_path / "one", "https://me:hunter2@git.example.org:8443/a/Shop.git?token=x", commit="")
    two = repository(tmp_path / "two", "git@git.example.org:a/shop.git", commit="")
    first, second = project_at(str(one)), project_at(str(two))
    assert first is not None and first.key == "remote:git.example.org/a/shop"
    assert same_project(first, second)
    plain = project_at(str(tmp_path / "plain"))
    assert plain is not None and plain.key == f"path:{tmp_path / 'plain'}"
    assert not same_project(first, plain) and not same_project(None, None)


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("git@host.org:a/b.git", "host.org/a/b"),
        ("ssh://git@host.org:22/a/b", "host.org/a/b"),
        ("https://host.org/A/b.git/", "host.org/a/b"),
        ("https://u:p@host.org/a/b#x", "host.org/a/b"),
        ("https://u:p/q@host.org/a/b", ""),
        ("file:///srv/a.git", ""),
        ("/srv/a.git", ""),
        ("C:\\src\\a", ""),
        ("ext::sh -c evil", ""),
        ("https://host.org", ""),
    ],
)
def test_the_address_of_a_remote(url: str, normal: str) -> None:
    assert normal_remote(url) == normal


def test_home_and_temporary_folders_are_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me" / ".git").mkdir(parents=True)
    (tmp_path / "scratch").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    for folder in (tmp_path / "me", tmp_path / "scratch", "/tmp", "/private/tmp", "/var/tmp", "/", "/etc/x", "", "rel"):
        assert project_at(str(folder)) is None, folder
    assert project_root(str(tmp_path / "me" / "notes")) == str(tmp_path / "me" / "notes")


def test_a_work_tree_that_its_repository_does_not_know_is_not_its_own(tmp_path: Path) -> None:
    """A downloaded folder whose file `.git` names the user's repository."""
    shop = repository(tmp_path / "shop")
    git(shop, "worktree", "add", "-q", str(tmp_path / "fix"))
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / ".git").write_text(f"gitdir: {shop}/.git/worktrees/fix\n")
    assert project_root(str(fake)) == str(fake)
    assert project_root(str(tmp_path / "fix")) == str(shop)
    # One that brings along what names it in turn.
    (fake / ".git").write_text("gitdir: inside\n")
    (fake / "inside").mkdir()
    (fake / "inside" / "commondir").write_text("../../shop/.git\n")
    (fake / "inside" / "gitdir").write_text("../.git\n")
    assert project_root(str(fake)) == str(fake) and folders_around(fake) == [fake]
    assert in_repository(str(fake / "app.py")) == str(fake / "app.py")


def test_git_runs_nothing_that_a_strangers_repository_names(tmp_path: Path) -> None:
    stranger = repository(tmp_path / "stranger")
    bait = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {bait}\n")
    program.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "diff.external", "gpg.program"):
        git(stranger, "config", name, str(program))
    for name, said in (
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", f"ext::{program}"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("core.hooksPath", str(tmp_path)),
        ("log.showSignature", "true"),
    ):
        git(stranger, "config", name, said)
    for object_ in (stranger / ".git" / "objects").glob("??/*"):
        object_.unlink()  # so that git would want to fetch
    assert project_at(str(stranger)) is not None
    assert not bait.exists()


def test_whole_names_are_compared() -> None:
    assert is_below("/src/shop/web", "/src/shop") and is_below("/src/shop", "/src/shop")
    assert not is_below("/src/shop-secret", "/src/shop")


def test_homes_that_systems_keep_elsewhere_have_projects() -> None:
    """On Fedora's atomic desktops /home leads to /var/home: no session there had a project."""
    for place in ("/var/home/ann/shop", "/usr/home/ann/shop", "/run/media/ann/disk/shop"):
        assert project_root(place) == place
    assert is_working_folder("/var/home/ann/shop") and not is_working_folder("/var/lib/shop"), "notes go by the same"
    for place in ("/var/home/ann", "/usr/home", "/var/lib/shop", "/run/user/1000", "/usr/src/shop"):
        assert project_root(place) == ""
