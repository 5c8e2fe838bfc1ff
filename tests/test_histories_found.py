"""What the histories have found, each as a test with a name of its own: the shortest way to it, and what it cost."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import disk
from core.knowledge.leftovers import clear_leftovers
from core.knowledge.swap import replace_expected
from tests.faults.fault import Counter, Fault
from tests.harvest_world import World
from tests.histories.machine import in_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@pytest.mark.parametrize("at", range(1, 12))
@pytest.mark.parametrize("kind", ["before", "half", "after"])
def test_a_half_written_copy_never_takes_the_place_of_the_file(world: World, at: int, kind: str) -> None:
    """An edit was killed while it wrote its copy, the person made the same edit again, and the next run took the torn
    copy for a text that somebody had saved in the moment of the swap: it put an empty file in place of quarantine.md.
    """
    path = world.knowledge("facts.md", "# Facts\n\n- one\n- two\n")
    old, new = path.read_bytes(), b"# Facts\n\n- one\n"

    def edit() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            replace_expected(path, new, old)

    assert in_child(edit) in (0, -9)
    if path.read_bytes() == old:
        assert replace_expected(path, new, old)
    clear_leftovers(path.parent)
    assert path.read_bytes() == new
    assert [name for name in os.listdir(path.parent) if name != "facts.md" and Path(name).suffix == ".md"] == []
