"""Working on while a slow model harvests hundreds of conversations; longer: `python -m tests.panel_endurance`."""

from __future__ import annotations

from pathlib import Path

from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture  # noqa: F401
from tests.panel_endurance import faults_of, working_day

CONVERSATIONS = 500


def test_a_person_writes_and_looks_around_while_a_slow_model_harvests(desk: Desk, at_home: Path) -> None:
    """The promise of the panel: it never stands still, and neither the person's words nor a conversation get lost."""
    day, workspace = working_day(desk, at_home, CONVERSATIONS, 0.08)
    assert faults_of(day, workspace, CONVERSATIONS) == []
    assert len(day.bullets) >= 1 and day.steps == sorted(day.steps) and len(set(day.steps)) >= 3
    assert len(day.frames) > 100 and day.long_frames <= len(day.frames) // 50
