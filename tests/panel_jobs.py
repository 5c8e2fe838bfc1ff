"""What the user's card asks for, with a real mouse: `python -m tests.panel_jobs`.

Harvest, the switch of the digest, notes beside their source, the statuses of the ledger, the size of the digest: each
with the clicks that it takes from the first screen, and the seconds until what was asked for is on the screen and on
the disk. Seconds are those of this machine, without the user's own.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.commands.bullets import add
from tests.gui_window import Desk, open_desk
from tests.panel_desk import Seat, place_in, workspace_at


class Jobs:
    """A panel on the demo's home, and somebody who clicks."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.workspace = workspace_at(folder)
        source = self.workspace.paths.home / "project/shelf.py"
        add(self.workspace, "files", "`is_alive` waits eight seconds at the most.", file=str(source))
        self.seat = Seat(desk, self.workspace, choices={"view": "knowledge"})
        self.seat.settle()
        self.desk, self.panel, self.clicks = desk, self.seat.panel, 0

    def click(self, item: int) -> None:
        """One click in the middle of an item."""
        self.clicks += 1
        self.desk.click(item)

    def click_at(self, place: tuple[int, int]) -> None:
        """One click on a place of the screen."""
        self.clicks += 1
        self.desk.click_at(*place)

    def done(self, job: Callable[[], object]) -> tuple[int, float]:
        """Clicks and seconds of a job, which begins on the first screen."""
        self.panel.shell.run("view.knowledge")
        self.seat.settle()
        self.clicks, begun = 0, time.monotonic()
        job()
        return self.clicks, time.monotonic() - begun

    @property
    def side(self) -> Any:
        return self.panel.workbench.sides["knowledge"]

    # --- the jobs ---

    def harvest(self) -> None:
        """Look what it would do, apply it, close the result."""
        run, dialog = self.panel.run, self.panel.harvest.dialog
        self.click(self.panel.status.harvest.item)
        self.seat.until(lambda: run.now.phase == "planned")
        self.click(dialog.confirm_button.item)
        self.seat.until(lambda: run.now.phase == "ended")
        self.click(dialog.confirm_button.item)
        self.seat.settle()
        assert run.now.phase == "resting" and self.workspace.paths.ledger.exists()

    def toggle(self) -> None:
        """No conversation gets the digest from now on."""
        self.click(self.side.digest.toggle.item)
        config = self.workspace.loaded.file
        self.seat.until(lambda: "digest_enabled = false" in config.read_text("utf-8") and not self.side.start.injected)

    def notes(self) -> None:
        """The note stands at the height of its line."""
        self.click(self.panel.header.tabs["files"].item)
        view: Any = self.panel.workbench.views["files"]
        self.seat.until(lambda: view.loaded is not None and view.list.rows and view.list.rows[0].text)
        assert any(view.loaded.spans), "the note speaks of a line that is there"

    def statuses(self) -> None:
        """The counts stand on the first screen; a click shows the conversations of one."""
        self.click_at(place_in(self.side.ledger, ("status", "harvested")))
        view: Any = self.panel.workbench.views["conversations"]
        self.seat.until(lambda: view.wish.statuses == {"harvested"} and len(view.table.rows) == 6)

    def seen(self) -> None:
        """The digest's bytes stand on the first screen."""
        assert self.desk.dpg.get_value(self.side._of) == "of 4,096 bytes"

    def size(self) -> None:
        """Another limit of the digest."""
        self.click(self.panel.header.tabs["settings"].item)
        view: Any = self.panel.workbench.views["settings"]
        self.seat.until(lambda: view.editors)
        self.click(view.editors["digest_max_bytes"].item)
        self.desk.press("ctrl+a")
        self.desk.type_text("2048")
        self.desk.press("Return")
        config = self.workspace.loaded.file
        self.seat.until(lambda: "digest_max_bytes = 2048" in config.read_text("utf-8"))


def main() -> int:
    """Every job once, in this order."""
    with tempfile.TemporaryDirectory(prefix="knowledge-jobs-") as folder:
        desk = open_desk()
        desk.fresh()
        jobs = Jobs(desk, Path(folder))
        for name, job in (
            ("harvest, from the look to its result", jobs.harvest),
            ("the digest switched off", jobs.toggle),
            ("notes beside their source", jobs.notes),
            ("the conversations of a status", jobs.statuses),
            ("the digest's size seen", jobs.seen),
            ("the digest's size changed", jobs.size),
        ):
            clicks, seconds = jobs.done(job)
            print(f"{name:<40}{clicks} clicks  {seconds:5.1f} s", flush=True)
        assert jobs.seat.faults() == []
        jobs.seat.leave()
    return 0


if __name__ == "__main__":
    sys.exit(main())
