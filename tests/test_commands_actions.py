"""What an action does not take is refused: it would be done to more than the person named."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from core.cli.main import main


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("trash purge 3fa9", "'knowledge trash purge' takes no SHA"),
        ("trash list 3fa9", "takes no SHA"),
        ("trash list --all", "--all goes with purge"),
        ("trash restore 3fa9 --all", "takes no --all"),
        ("quarantine list port", "MATCH goes with accept or drop"),
        ("config show jobs 2", "VALUE goes with set"),
        ("digest off --project .", "--project goes with show"),
        ("memories list 7", "takes no ID"),
    ],
)
def test_what_an_action_does_not_take_is_refused(words: str, told: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "conversations" / ".trash").mkdir(parents=True)
    out, err = io.StringIO(), io.StringIO()
    assert main([*words.split(), "--home", str(home)], out, err) == 2
    assert told in err.getvalue() and out.getvalue() == ""


def test_an_import_of_nothing_is_refused(tmp_path: Path) -> None:
    """An empty variable of a script would import the folder that it happens to run in."""
    out, err = io.StringIO(), io.StringIO()
    assert main(["import", "", "--home", str(tmp_path / "home"), "--apply"], out, err) == 2
    assert "which file or folder" in err.getvalue() and not (tmp_path / "home").exists()
