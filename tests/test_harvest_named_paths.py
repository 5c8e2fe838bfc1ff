"""Paths that a model wrote, shown with a trace of system calls: a path that is not allowed is never touched.

Without this a planted answer could find out which keys lie in a home, wake a device, or hang a run on a FIFO.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.harvest.named_paths import is_working_folder, source_file

ROOT = Path(__file__).resolve().parents[1]
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
MARK = "SENTINEL"


def links(tmp_path: Path) -> tuple[Path, Path]:
    """A root with files and links in it, and a folder outside to which some of them lead."""
    root, outside = tmp_path / "root", tmp_path / f"outside-{MARK}"
    root.mkdir()
    outside.mkdir()
    (outside / "key.py").write_text("x")
    (root / "inside.py").write_text("x")
    (root / "leads-out.py").symlink_to(outside / "key.py")
    (root / "folder-out").symlink_to(outside)
    (root / "two-steps.py").symlink_to("leads-out.py")
    (root / "dots.py").symlink_to(f"../outside-{MARK}/key.py")
    (root / "stays.py").symlink_to("./inside.py")
    (root / "here").symlink_to(".")
    (root / "loop.py").symlink_to("loop.py")
    (root / "ping.py").symlink_to("pong.py")
    (root / "pong.py").symlink_to("ping.py")
    return root, outside


def forbidden(tmp_path: Path) -> list[str]:
    """What a model may name and nobody may look at."""
    return [
        f"/etc/{MARK}",
        f"/proc/self/{MARK}",
        f"/dev/{MARK}",
        f"/sys/{MARK}",
        f"/run/{MARK}",
        f"//host/{MARK}",
        f"{MARK}.py",
        f"~/{MARK}",
        f"{tmp_path}/root/../{MARK}",
        f"{tmp_path}/root//{MARK}",
        f"{tmp_path}/root\\{MARK}",
        f"{tmp_path}/rooted/{MARK}",
        f"{tmp_path}/root/{MARK}\0.py",
        f"{tmp_path}/root/{MARK}\n.py",
        f"{tmp_path}/root/{MARK}" + "x" * 1100,
        f"file://{tmp_path}/root/{MARK}",
        f"C:/{MARK}",
        f"{tmp_path}/outside-{MARK}/key.py",
        f"{tmp_path}/root/leads-out.py",
        f"{tmp_path}/root/folder-out/key.py",
        f"{tmp_path}/root/two-steps.py",
        f"{tmp_path}/root/dots.py",
        f"{tmp_path}/root/here/leads-out.py",
        f"{tmp_path}/root/loop.py",
        f"{tmp_path}/root/ping.py",
    ]


def test_a_trace_of_system_calls_shows_no_forbidden_path(tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed here")
    root, _ = links(tmp_path)
    talks = tmp_path / "home" / "conversations"
    talks.mkdir(parents=True)
    (talks / f"chat-{UUID}").write_text("User: hello\n")
    rows = [
        {"path": path, "note": "a note"}
        for path in [*forbidden(tmp_path), f"{root}/stays.py", f"{root}/here/inside.py"]
    ]
    (tmp_path / "answer.json").write_text(json.dumps({"files": rows}))
    (tmp_path / "config.toml").write_text(
        f'[ai_settings.knowledge]\nfile_roots = ["{root}"]\nprovider = "command"\ncommand = ["cat", "answer.json"]\n'
    )
    trace = tmp_path / "trace"
    program = "import sys; from core.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = ["harvest", "--apply", "--home", str(tmp_path / "home"), "--config", str(tmp_path / "config.toml")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run(
        ["strace", "-f", "-qq", "-e", "trace=%file,%desc", "-e", "trace=!write,read", "-s", "4096", "-o", str(trace),
         sys.executable, "-c", program, *words],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    if "ptrace" in done.stderr.lower() and "permit" in done.stderr.lower():
        pytest.skip("strace may not look at a process here")
    assert done.returncode == 0, done.stderr
    calls = trace.read_text("utf-8", "replace").split("\n")
    touched = [line for line in calls if MARK in line and "readlink" not in line and "execve" not in line]
    assert touched == []
    assert any("root/inside.py" in line and "O_PATH" in line for line in calls), "the allowed file was looked at"
    notes = tmp_path / "home" / "knowledge"
    assert [note.read_text().count("a note") for note in (notes / "files").glob("*.md")] == [1]
    assert (notes / "facts.md").read_text().count("a note") == len(forbidden(tmp_path))


@pytest.mark.parametrize("name", ["stays.py", "here/inside.py", "here/here/stays.py", "inside.py"])
def test_a_link_that_stays_inside_is_followed(tmp_path: Path, name: str) -> None:
    """A project with links in it keeps its notes."""
    root, _ = links(tmp_path)
    found = source_file(f"{root}/{name}", [str(root)])
    assert found is not None and found.path == str(root / "inside.py")


def test_a_root_that_is_a_link_itself_is_a_root(tmp_path: Path) -> None:
    """Many homes are: /home -> /usr/home, or a project folder on another disk."""
    root, _ = links(tmp_path)
    (tmp_path / "alias").symlink_to(root)
    roots = [str(tmp_path / "alias")]
    found = source_file(f"{tmp_path}/alias/stays.py", roots)
    assert found is not None and found.path == str(root / "inside.py")
    assert source_file(f"{tmp_path}/alias/leads-out.py", roots) is None
    assert source_file(f"{root}/inside.py", roots) is None, "only what the person named is a root"


def test_a_link_into_another_root_is_followed_and_a_chain_without_end_is_not(tmp_path: Path) -> None:
    root, outside = links(tmp_path)
    both = [str(root), str(outside)]
    for name in ("leads-out.py", "folder-out/key.py", "two-steps.py", "dots.py"):
        found = source_file(f"{root}/{name}", both)
        assert found is not None and found.path == str(outside / "key.py"), name
    assert source_file(f"{root}/loop.py", both) is None
    (root / "sly.py").symlink_to("here/../inside.py")
    assert source_file(f"{root}/sly.py", both) is None, "two dots behind a link say nothing without looking"
    for number in range(20):
        (root / f"chain-{number}").symlink_to(f"chain-{number + 1}" if number < 19 else "inside.py")
    assert source_file(f"{root}/chain-0", both) is None
    assert source_file(f"{root}/chain-8", both) is not None
    assert source_file("/", ["/"]) is None and source_file(f"{root}/inside.py", ["/"]) is not None


SYSTEM = ("etc", "usr", "bin", "sbin", "lib", "boot", "proc", "sys", "dev", "run", "var")
PRIVATE = ("/home/a/.ssh", "/home/a/.config/x", "/", "/home", "home/a/x", "", "/home/a\0b")


@pytest.mark.parametrize("folder", [*PRIVATE, *(f"/{name}/a/b" for name in SYSTEM)])
def test_a_conversation_cannot_open_a_private_folder_for_notes(folder: str) -> None:
    """A forged working folder must not let a model ask which of your keys exist."""
    assert not is_working_folder(folder)
    assert is_working_folder("/home/a/project") and is_working_folder("/srv/app")
