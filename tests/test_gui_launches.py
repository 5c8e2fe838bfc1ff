"""The real program on homes that are not as they should be; many more launches: `python -m tests.panel_launches`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gui_window import open_screen
from tests.panel_launches import fault, launch


@pytest.mark.parametrize("home", ["unwritable", "broken geometry", "broken config"])
def test_it_opens_and_closes_by_its_button_or_says_why_not(tmp_path: Path, home: str) -> None:
    """A store on a read-only disk can still be read; a torn file of ours must not keep the window from opening; a slip
    in config.toml is told in one line. Nothing in the home changes by being looked at."""
    open_screen()  # skips where there is no display to be had, and starts one
    assert fault(launch(home, tmp_path, after=0.1)) == ""


def test_ctrl_c_at_the_very_moment_the_window_comes_closes_it_like_its_button(tmp_path: Path) -> None:
    """An impatient person must not be answered with a traceback; what is remembered is written all the same."""
    open_screen()
    assert fault(launch("existing", tmp_path, after=0.0, button=False)) == ""
