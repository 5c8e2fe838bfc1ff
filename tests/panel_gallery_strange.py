"""Homes that few people have and that somebody meets, for `panel_gallery.py`: a disk that takes nothing, a cap that is
reached, a ledger of 100,000, names longer than any column, and scripts that are written from right to left.

All data in it is made up. It is not a test and not shipped.
"""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.base import disk
from core.base.result import Ok, attempt
from core.commands.bullets import add
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.memories import save
from core.commands.workspace import Workspace
from tests.panel_desk import Seat, workspace_at, write_ledger
from tests.panel_gallery_lists import Shot, choose, opened

WithPanel = Callable[[Workspace, Callable[[Seat], object]], None]
LONG = "an-answer-that-nobody-has-shortened-because-the-tool-took-the-first-message-as-its-name-" * 3
LINES = (
    ("facts", "ה-API מחזיר 429 אחרי 40 בקשות בשנייה, ואז `Retry-After` בשניות."),
    ("facts", "الخادم يعيد المحاولة ثلاث مرات، ثم يكتب `retry.log`."),
    ("facts", f"The path is /srv/{'deep/' * 30}{LONG}.json, and it has no blank to break at."),
    ("decisions", "Mixed: the שרת keeps עברית and English in one line, version 2.4.1."),
)
LARGE = 100_000


def strange(with_panel: WithPanel, shot: Shot) -> None:
    """Each on a home of its own."""
    with_panel(_harvested(), lambda seat: _refused(seat, shot, "read-only", errno.EROFS))
    full = workspace_at(Path(tempfile.mkdtemp()))
    assert isinstance(attempt(add, full, "facts", "The gateway answers 429 after 40 requests a second."), Ok)
    with_panel(full, lambda seat: _refused(seat, shot, "disk-full", errno.ENOSPC))
    with_panel(workspace_at(Path(tempfile.mkdtemp())), lambda seat: _capped(seat, shot))
    with_panel(_long_names(), lambda seat: _names(seat, shot))
    large = workspace_at(Path(tempfile.mkdtemp()), demo=False)
    _large_ledger(large)
    with_panel(large, lambda seat: _large(seat, shot))


def _harvested() -> Workspace:
    workspace = workspace_at(Path(tempfile.mkdtemp()))
    assert isinstance(attempt(harvest, workspace, HarvestRequest(apply=True)), Ok)
    return workspace


def _refused(seat: Seat, shot: Shot, word: str, number: int) -> None:
    """An edit and a harvest on a disk that takes nothing."""
    shell, home = seat.panel.shell, str(seat.panel.shell.workspace.paths.home)
    usual, may = disk.perform, os.access

    def refused(name: str, call: Any, *arguments: Any, **named: Any) -> Any:
        if name in disk.CHANGING and (not isinstance(arguments[0], str | Path) or str(arguments[0]).startswith(home)):
            raise OSError(number, os.strerror(number), str(arguments[0]))
        return usual(name, call, *arguments, **named)

    def denied(path: Any, mode: int, **named: Any) -> bool:
        return not (number == errno.EROFS and mode & os.W_OK and str(path).startswith(home)) and may(
            path, mode, **named
        )

    with patch.object(disk, "perform", refused), patch.object(os, "access", denied):
        view = opened(seat, "knowledge")
        view.act("edit", next(row for row in view.list.rows if "edit" in row.can))
        seat.desk.frames(4)
        seat.desk.type_text("Twice ")
        view.session.editor.press("Ctrl+Enter")
        seat.settle()
        shot(f"{word}-edit")
        view.session.cancel()
        seat.settle()
        shell.run("harvest")
        seat.until(lambda: seat.panel.run.now.phase in ("planned", "failed"))
        shot(f"{word}-dry-run")
        if seat.panel.run.now.phase == "planned" and seat.panel.run.now.plan.plan.steps:  # type: ignore[union-attr]
            seat.panel.harvest.dialog.confirm()
            seat.until(lambda: seat.panel.run.now.phase in ("failed", "ended"))
            seat.settle()
            shot(f"{word}-harvest")
        seat.panel.harvest.dialog.cancel()


def _capped(seat: Seat, shot: Shot) -> None:
    """A harvest that ends at its cap of tokens."""
    folder = Path(seat.panel.shell.workspace.environment["HOME"])
    program = folder / "model.py"
    program.write_text("import sys\nsys.stdin.read()\nprint('{}')\n", encoding="utf-8")
    config, command = folder / "config.toml", f'command = ["{sys.executable}", "{program}"]\n'
    words = f'provider = "command"\n{command}max_run_tokens = 6000\n'
    config.write_text(config.read_text("utf-8") + words, "utf-8")
    seat.panel.shell.refresh()
    seat.settle()
    seat.panel.shell.run("harvest")
    seat.until(lambda: seat.panel.run.now.phase in ("planned", "failed"))
    shot("capped-dry-run")
    seat.panel.harvest.dialog.confirm()
    seat.until(lambda: seat.panel.run.now.phase in ("failed", "ended"))
    seat.settle()
    shot("capped")


def _long_names() -> Workspace:
    workspace = workspace_at(Path(tempfile.mkdtemp()), demo=False)
    now = datetime.now(UTC)
    titles = (LONG, "שיחה על מגבלת הקצב", "محادثة عن إعادة المحاولة", "短い")
    write_ledger(workspace, [
        {"path": str(workspace.paths.home / "conversations" / title), "status": status, "items": {"facts": at},
         "at": (now - timedelta(hours=at)).isoformat(), "deleted": False, "provider": "openai",
         "model": f"a-model-with-a-very-long-name-{at}" * 2,
         "error": f"the answer of the provider was longer than its limit: {LONG}" if status != "harvested" else ""}
        for at, title in enumerate(titles) for status in ("harvested", "harvest-failed")
    ])  # fmt: skip
    for category, words in LINES:
        assert isinstance(attempt(add, workspace, category, words), Ok)
    assert isinstance(attempt(save, workspace, f"{LINES[0][1]}\n\n{LONG}", tag=["עברית", "a-very-long-tag"]), Ok)
    return workspace


def _names(seat: Seat, shot: Shot) -> None:
    ledger: Any = seat.panel.workbench.views["conversations"]
    ledger._select(ledger.table.rows[0])
    seat.settle()
    shot("long-names")
    for name in ("knowledge", "conversations"):
        view = opened(seat, name)
        if name == "knowledge":
            choose(seat, view, view.list.rows[1])
        shot(f"long-{name}")


def _large_ledger(workspace: Workspace) -> None:
    now = datetime.now(UTC)
    write_ledger(workspace, [
        {"path": f"/srv/chats/talk-{number}", "status": "harvested" if number % 9 else "harvest-failed",
         "at": (now - timedelta(minutes=5 * number)).isoformat(), "deleted": False, "items": {"facts": number % 7},
         "error": "" if number % 9 else "the model did not answer within 120 s", "source": "claude_code",
         "title": f"Conversation {number:,} of a long life",
         "date": (now - timedelta(minutes=5 * number)).date().isoformat()}
        for number in range(LARGE)
    ])  # fmt: skip


def _large(seat: Seat, shot: Shot) -> None:
    shot("large")
    ledger: Any = seat.panel.workbench.views["conversations"]
    ledger._only("harvest-failed")
    seat.settle()
    shot("large-filtered")
    seat.panel.shell.run("view.knowledge")
    seat.settle()
    shot("large-knowledge")
