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


# --- secrets ---------------------------------------------------------------------------------------------------------

KEY = "ghp_" + "a1B2" * 9
TOLD = "secrets replaced: github-token:1 (to write them as they are: knowledge save or memories edit --keep-secrets)"


def files_of(home: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in (home / "knowledge" / "memories").glob("*.md"))


@pytest.mark.parametrize("text", [f"token {KEY}", f"token {KEY[:12]}\u200b{KEY[12:]}"])
def test_a_secret_is_replaced_in_a_memory_and_the_person_hears_of_it(home: Path, text: str) -> None:
    """A memory is recalled into every later conversation: a key in it would travel with it. And a text that was
    changed without a word is not the text that the person saved."""
    code, _, err = run(home, "save", text)
    assert code == 0 and KEY not in files_of(home) and TOLD in err
    assert run(home, "save", "Plain")[2] == ""
    code, out, _ = run(home, "memories", "edit", "2", text)
    assert code == 0 and KEY not in files_of(home) and f"note: {TOLD}" in out


def test_a_secret_in_a_tag_is_one_too(home: Path) -> None:
    code, _, err = run(home, "save", "Plain", "--tag", KEY)
    assert code == 0 and KEY not in files_of(home) and "secrets replaced" in err


def test_the_person_may_insist_on_a_secret(home: Path) -> None:
    """What only looks like a key must be possible to write, as it is in a bullet."""
    assert run(home, "save", f"token {KEY}", "--keep-secrets")[2].count("secrets") == 0
    assert KEY in files_of(home)
    assert run(home, "memories", "edit", "1", f"now {KEY}", "--keep-secrets")[0] == 0
    assert f"now {KEY}" in files_of(home)


def test_with_redaction_switched_off_nothing_is_replaced(home: Path) -> None:
    """The setting says so for everything else that is written."""
    run(home, "config", "set", "redact", "false")
    assert "replaced" not in run(home, "save", f"token {KEY}")[2]
    assert KEY in files_of(home)


# --- what an action does not take ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["list", "99"], "takes no ID"),
        (["archive", "1", "text"], "takes no TEXT. TEXT goes with edit"),
        (["restore", "1", "--keep-secrets"], "takes no --keep-secrets"),
    ],
)
def test_an_argument_that_would_do_nothing_is_refused(home: Path, words: list[str], named: str) -> None:
    """Who asked for memory 99 and sees all of them may take them for that one."""
    run(home, "save", "Prefers tabs")
    code, out, err = run(home, "memories", *words)
    assert (code, out) == (2, "") and named in err


def test_an_undo_says_when_the_person_has_reworded_the_memory_since(home: Path) -> None:
    """Told that all is as before the edit, they would look for their first words in vain."""
    run(home, "save", "one line")
    [path] = (home / "knowledge" / "memories").glob("*.md")
    _, said, _ = run(home, "memories", "edit", "1", "two lines")
    edit = said.split("undo ")[1].split("'")[0]
    path.write_text(path.read_text().replace("two lines", "three lines"))
    _, out, _ = run(home, "undo", edit)
    assert "already" not in out and "stayed (changed since): two lines" in out and "three lines" in path.read_text()
