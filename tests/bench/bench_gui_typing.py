"""How many frames letters take until they stand in a field, and what a frame costs meanwhile, as figures to compare:
`python tests/bench/bench_gui_typing.py [BULLETS]`.

Absolute times depend on the machine. What should not grow is the number of frames: Dear ImGui alone takes one tap of a
key a frame, so that fourteen letters took two seconds where a frame takes a seventh of one.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui_window import open_desk
from tests.panel_desk import seated, workspace_at

LETTERS = "retry policy !"


def main(bullets: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            os.environ[name] = str(Path(folder) / name.lower())
        workspace = workspace_at(Path(folder))
        lines = (f"- {at} retry only idempotent requests, never a POST [from: a-{at % 50}]\n" for at in range(bullets))
        workspace.paths.knowledge.mkdir(parents=True, exist_ok=True)
        (workspace.paths.knowledge / "facts.md").write_text(f"# Facts\n\n{''.join(lines)}", encoding="utf-8")
        desk = open_desk()
        desk.fresh()
        with seated(desk, workspace) as seat:
            for view, field in (("2", "filter"), ("4", "field")):
                desk.press(f"ctrl+{view}")
                seat.settle()
                shown: Any = seat.panel.workbench.views[seat.state.view]
                if view == "2":
                    desk.press("slash")
                    desk.frames(6)
                item = getattr(shown, field)
                idle = time.perf_counter()
                desk.frames(20)
                idle = (time.perf_counter() - idle) / 20
                desk.xdotool("type", "--delay", "1", LETTERS)
                items, frames, begun = desk.items(), desk.loop.frames, time.perf_counter()
                desk.until(lambda item=item: desk.dpg.get_value(item) == LETTERS)
                took, frames = time.perf_counter() - begun, desk.loop.frames - frames
                seat.settle()
                print(
                    f"{bullets:,} bullets, {seat.state.view}: {len(LETTERS)} letters in {frames} frames, "
                    f"{took * 1000:.0f} ms; an idle frame {idle * 1000:.1f} ms; new items {desk.items() - items}"
                )
                desk.press("Escape")
        desk.clear()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3000)
