"""A small, always equal sample of tests/histories: what a person, their editors and other processes do to one home.

If one of these fails, a line that somebody wrote is lost, doubled or torn. `make faults` runs the whole campaigns.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.histories import editors, processes
from tests.histories.ground import STEPS
from tests.histories.machine import Histories

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def test_no_history_breaks_an_invariant() -> None:
    before = STEPS["histories"]
    sample = settings(
        max_examples=20,
        stateful_step_count=15,
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Histories, settings=sample)
    assert STEPS["histories"] - before >= 20 and STEPS["steps"] > 100 and STEPS["harvest killed"]


def test_three_processes_leave_the_home_as_if_one_after_the_other() -> None:
    assert processes.rounds(3) == {}


@pytest.mark.parametrize("name", editors.NAMES)
def test_an_editor_beside_a_harvest_loses_nothing_for_good(name: str, tmp_path: Path) -> None:
    """The person's bytes stay, and what a stale save swallowed is told and brought back by the command it names."""
    if not editors.can_run(name):
        pytest.skip(f"{name} is not installed")
    wrong, _ = editors.session(name, tmp_path)
    assert wrong == []
