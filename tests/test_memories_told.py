"""What `save`, `recall` and `memories` tell a person beside the memories themselves. If these fail, something was
changed, left out or not found, and nobody was told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.base.result import Ok, fail
from core.commands.memories import Recalled, recall_command
from core.commands.search import SearchReport
from core.commands.workspace import Workspace, open_workspace
from tests.test_memories import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def workspace_of(home: Path) -> Workspace:
    opened = open_workspace(str(home), cwd=home.parent)
    assert isinstance(opened, Ok)
    return opened.value


def recalled(home: Path, query: str) -> Recalled:
    found = recall_command(workspace_of(home), query)
    assert isinstance(found, Ok)
    return found.value


def test_a_number_of_thousands_of_digits_names_no_memory(home: Path) -> None:
    """One sentence, as for any other id that there is not."""
    run(home, "save", "Prefers tabs")
    code, _, err = run(home, "memories", "archive", "9" * 5000)
    assert code == 1 and "there is no memory" in err


@pytest.mark.parametrize("broken", [True, False])
def test_a_search_that_found_less_than_there_is_says_so(
    home: Path, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    """'No memories found' must not stand for 'nobody could look'."""
    run(home, "save", "Prefers tabs")
    answer: Any = (
        fail("store-failed", "the index cannot be made")
        if broken
        else Ok(SearchReport("tabs zebra", (), 0, ("the index cannot be made",)))
    )
    monkeypatch.setattr("core.commands.search.search", lambda *_, **__: answer)
    found = recalled(home, "tabs zebra")
    assert not found.memories and "the index cannot be made" in " ".join(found.warnings)
    assert "the index cannot be made" in run(home, "recall", "tabs zebra")[2]
