"""What the commands tell a person who is new here: if these fail, a sound store looks damaged, a name that was mistyped
looks like an empty store, and an answer leaves out what it is about."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from core.cli.main import main


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(tmp_path: Path, *words: str, code: int = 0) -> str:
    out, err = io.StringIO(), io.StringIO()
    assert main([*words, "--home", str(tmp_path / "home")], out, err) == code, out.getvalue() + err.getvalue()
    return out.getvalue()


def test_a_context_file_from_an_editor_is_no_damage(tmp_path: Path) -> None:
    """Editors write 0644, as the README says to; the folder is closed, so nobody else can read it."""
    told(tmp_path, "add", "facts", "Ports start at 8080")
    context = tmp_path / "home" / "knowledge" / "context.md"
    context.write_text("---\nversion: 1\nupdated: '2026-06-01T00:00:00'\n---\n\nBe brief.\n", encoding="utf-8")
    context.chmod(0o644)
    said = told(tmp_path, "doctor")
    assert "the store is whole" in said and "damage" not in said
    assert "note: " in said and "context.md" in said
    assert "repaired: " in told(tmp_path, "doctor", "--repair")
    assert context.stat().st_mode & 0o777 == 0o600


def test_files_in_an_open_folder_are_named(tmp_path: Path) -> None:
    """A person who is to close files must know which."""
    told(tmp_path, "add", "facts", "Ports start at 8080")
    knowledge = tmp_path / "home" / "knowledge"
    knowledge.chmod(0o755)
    (knowledge / "facts.md").chmod(0o644)
    said = told(tmp_path, "doctor", code=1)
    assert "2 problems left" in said and "facts.md" in said


def test_an_index_that_is_behind_is_told_in_plain_words(tmp_path: Path) -> None:
    """Right after `add` nothing is wrong, and no name of the program's inside is needed to say so."""
    told(tmp_path, "add", "facts", "Ports start at 8080")
    told(tmp_path, "search", "ports")
    told(tmp_path, "add", "facts", "Keys are rotated in May")
    said = told(tmp_path, "doctor")
    assert "note: facts.md has changed since the last search" in said and "bullets:" not in said
    assert said.endswith("the store is whole; 'knowledge doctor --repair' fixes what the notes mention\n")


def test_a_home_that_does_not_exist_is_said(tmp_path: Path) -> None:
    """A typing mistake after --home must not look like a store that lost everything."""
    said = told(tmp_path, "status")
    assert said.startswith(f"home: {tmp_path / 'home'} (does not exist yet")
    assert json.loads(told(tmp_path, "status", "--json"))["exists"] is False
    told(tmp_path, "add", "facts", "Ports start at 8080")
    assert "does not exist" not in told(tmp_path, "status")
    assert json.loads(told(tmp_path, "status", "--json"))["exists"] is True


def test_the_facts_of_a_new_home_are_valid(tmp_path: Path) -> None:
    """Nothing there is nothing wrong; a path that was asked for and is not there is."""
    assert told(tmp_path, "facts", "validate").startswith("0 valid facts in 0 files")
    told(tmp_path, "facts", "validate", str(tmp_path / "typo"), code=2)
