"""Still true? What git no longer has, and what it has since: marked, and offered to the user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_call import call
from tests.shop import edited, kept, ran, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


def test_a_function_that_is_no_more_is_marked(shop: Path) -> None:
    """By name, in any file of the repository; a name that git never had says nothing, and nor does a command."""
    from core.give.still import gone

    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    text = "Use `open_shelf()` of `shelf.ShelfPool`, never `close_shelf`, with `make check`"
    for body in ("def open_shelf(): ...\nclass ShelfPool: ...\n", "class ShelfPool: ...\n"):
        (shop / "shelf.py").write_text(body)
        assert gone(str(shop), text) == (["open_shelf"] if "open" not in body else [])
        for words in (["add", "."], ["commit", "-qm", "A shelf"]):
            subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    assert gone(str(shop), text) == ["open_shelf"]


def test_what_names_a_file_that_is_gone_is_asked_about(shop: Path) -> None:
    """Yes strikes the line through."""
    said = turn("user", "From now on always update docs/old.md when the pool changes.", 0, "s3", shop)
    kept = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop" / "s3.jsonl"
    kept.write_text(json.dumps(said) + "\n" + json.dumps(turn("assistant", "Understood.", 1, "s3", shop)) + "\n")
    assert call("harvest", "--apply", "--source", "claude_code", "--now", "--quiet")[0] == 0
    rows = json.loads(call("review", "--json")[1])
    rows = rows["waiting"] if isinstance(rows, dict) else rows
    gone = [row for row in rows if "docs/old.md" in (row["why"] or "")]
    assert any(row["text"].startswith("From now on") for row in gone)
    for row in gone:
        assert row["kind"] == "outdated" and row["yes"] == "strike it through"
        assert call("review", "yes", row["id"])[0] == 0
    assert "docs/old.md" not in call("review")[1]


def test_files_that_were_committed_since_are_asked_about(shop: Path) -> None:
    """The user commits by hand: a task that nobody settles would greet each new session for good."""
    for name in ("till.py", "drawer.py"):
        (shop / name).write_text("SUM = 1\n")
        os.utime(shop / name, (1_777_800_000, 1_777_800_000))  # on the day of the session
    rows = [
        turn("user", "Round the sums of the till", 0, "s3", shop),
        *edited(shop / "till.py", "SUM = 0", "SUM = 1", 1, "s3", shop),
        *edited(shop / "drawer.py", "SUM = 0", "SUM = 1", 3, "s3", shop),
        *ran("git status --short", " M till.py\n M drawer.py", False, 5, "s3", shop),
        turn("assistant", [{"type": "text", "text": "The sums are rounded."}], 7, "s3", shop),
    ]
    kept("s3", rows)
    assert call("harvest", "--apply", "--source", "claude_code", "--now", "--quiet")[0] == 0
    assert "changed and not committed" in call("list", "tasks")[1]
    finished = ("review", "list", "--kind", "finished", "--json")
    assert json.loads(call(*finished)[1])["waiting"] == []
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["add", "till.py"], ["commit", "-qm", "Half"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    assert json.loads(call(*finished)[1])["waiting"] == [], "half of it is not all"
    (shop / "docs").mkdir(exist_ok=True)
    (shop / "docs" / "drawer.py").write_text("another file of that name\n")
    for words in (["add", "docs/drawer.py"], ["commit", "-qm", "Another"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    assert json.loads(call(*finished)[1])["waiting"] == [], "the file of another folder is another file"
    for words in (["rm", "-q", "docs/drawer.py"], ["commit", "-qm", "No other"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    for words in (["add", "drawer.py"], ["commit", "-qm", "Whole"]):
        subprocess.run([*git, *words], cwd=shop, check=True, capture_output=True)
    tasks = Path(os.environ["HOME"]) / ".manual_slop" / "knowledge" / "tasks.md"
    as_it_was = tasks.read_text()
    tasks.write_text(as_it_was.replace("2026-05-03", "2026-02-30"))
    assert call(*finished)[0] == 0, "a date that is none"
    tasks.write_text(as_it_was)
    os.utime(shop / "till.py", (1_900_000_000, 1_900_000_000))
    assert json.loads(call(*finished)[1])["waiting"] == [], "touched since: nobody knows"
    os.utime(shop / "till.py", (1_777_800_000, 1_777_800_000))
    [row] = json.loads(call(*finished)[1])["waiting"]
    assert row["why"].startswith("committed since, in ") and row["yes"] == "mark the task done"
    assert call("review", "yes", row["id"])[0] == 0
    assert "till.py" not in call("list", "tasks")[1] and "till.py" in call("list", "--done")[1]
