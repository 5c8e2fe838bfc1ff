"""The host program of the page, run as it stands there: who embeds the panel copies these lines, so they must work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from core.base.result import Ok
from core.commands.demo import make_demo_home
from tests.gui_window import open_desk
from tests.test_gui_app import environment
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]

# What a person does with the host: looks at it once it has read the store, presses a key, closes the window. It runs
# inside of the host's own loop, and takes no part in the program above it.
PERSON = """
import subprocess, time
import dearpygui.dearpygui as dpg
from tests.waiting import PATIENCE_SECONDS
drawing, begun, told = dpg.render_dearpygui_frame, time.monotonic(), []

def person():
    drawing()
    panel = host["panel"]
    if time.monotonic() - begun > 270:
        print("it did not come about:", told)
        dpg.stop_dearpygui()
    elif not told and panel.shell.state.snapshot is not None and dpg.get_frame_count() > 5:
        told.append("read")
        print("visible:", dpg.get_item_state(panel.header.mark)["visible"])
        print("waiting:", panel.shell.state.snapshot.overview.status.pending["conversations"])
        found = subprocess.run(["xdotool", "search", "--name", "^My program$"], capture_output=True, text=True)
        subprocess.run(["xdotool", "windowfocus", "--sync", found.stdout.split()[-1], "key", "3"], check=True)
    elif told == ["read"] and panel.shell.state.view == "knowledge":
        told.append("key")
        print("view:", panel.shell.state.view, "mistakes:", panel.jobs.errors)
        dpg.stop_dearpygui()

dpg.render_dearpygui_frame = person
host = {}
exec(compile(PROGRAM, "README.md", "exec"), host)
"""


def example() -> str:
    """The code block below the page's heading."""
    page = (ROOT / "assets" / "docs" / "embed.md").read_text(encoding="utf-8")
    section = page.split("\n## Put the panel into your own window\n")[1]
    blocks = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 1
    return str(blocks[0])


def test_the_readme_example_draws_answers_a_key_and_ends_cleanly(tmp_path: Path) -> None:
    """It lets Dear PyGui run callbacks on its own thread, as most hosts do; the panel must cope with that, too."""
    desk = open_desk(paints=False)  # skips where there is no display to be had, and starts one
    assert isinstance(make_demo_home(str(tmp_path / ".manual_slop")), Ok)
    done = subprocess.run(
        [sys.executable, "-c", f"PROGRAM = {example()!r}\n{PERSON}"], env=environment(tmp_path), cwd=tmp_path,
        capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    desk.focus()  # the other tests' window had the keyboard before
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["visible: True", "waiting: 6", "view: knowledge mistakes: []"]


def test_the_example_stays_small() -> None:
    """Ten lines of Dear PyGui that everybody has anyway, and a handful for the panel."""
    lines = [line for line in example().splitlines() if line.strip()]
    assert len(lines) <= 22 and sum("panel" in line.lower() for line in lines) <= 6
