"""Answers that a newcomer acts on: if these fail, an id means the memory of another place, a list is spelled by
guessing, and an empty question looks like an empty store."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from core.commands.text import visible
from tests.cli_call import call


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")


def told(tmp_path: Path, *words: str, code: int = 0) -> str:
    """What is said on either stream, warnings and all."""
    config = tmp_path / "config.toml"
    config.touch()
    ended, out, err = call(*words, "--home", str(tmp_path / "home"), "--config", str(config))
    assert ended == code, err
    return out + err


def test_memories_of_two_places_are_told_apart(tmp_path: Path) -> None:
    """Both count from 1; the user must see which is which, and how to name the one they mean."""
    told(tmp_path, "save", "Prefers tabs in Makefiles")
    assert "**001** (" in told(tmp_path, "memories") and "**Memory 1**" in told(tmp_path, "recall", "tabs")
    told(tmp_path, "save", "Builds with ninja, tabs or not", "--project", ".")
    listed = told(tmp_path, "memories")
    assert "**global:001** (" in listed and "**project:001** (" in listed
    assert "**Memory project:1** (" in told(tmp_path, "recall", "ninja")
    both = told(tmp_path, "recall", "tabs")
    assert "**Memory project:1** (" in both and "**Memory global:1** (" in both
    assert "project:1 001-builds" in told(tmp_path, "memories", "edit", "1", "Other words", code=1)
    edited = told(tmp_path, "memories", "edit", "project:001", "Builds with make")
    assert edited.startswith("memories/001-builds-with-ninja-tabs-or-not.md of this project\n")
    assert "of this project" not in told(tmp_path, "memories", "edit", "global:1", "Prefers blanks")
    assert json.loads(told(tmp_path, "memories", "edit", "project:1", "Builds", "--json"))["scope"] == "project"


@pytest.mark.parametrize("action", ["edit", "archive", "restore"])
def test_a_memory_without_its_id_is_wrong_usage(tmp_path: Path, action: str) -> None:
    said = told(tmp_path, "memories", action, code=2)
    assert f"'knowledge memories {action}' needs ID" in said and "'knowledge memories' lists them" in said


@pytest.mark.parametrize("query", ["", "  "])
def test_an_empty_query_is_answered_with_a_sentence(tmp_path: Path, query: str) -> None:
    """`nothing found` reads like a store without anything in it."""
    assert "there is nothing to search for. Give some words" in told(tmp_path, "search", query, code=2)
    assert "nothing was said here yet that could be searched" in told(tmp_path, "search", "zebra")


@pytest.mark.parametrize(
    ("key", "typed", "spelled"),
    [
        ("sources", "home", """'["home"]'"""),
        ("sources", "home, codex", """'["home", "codex"]'"""),
        ("sources", "[home]", """'["home"]'"""),
        ("file_roots", "/srv ~", """'["/srv", "~"]'"""),
        ("file_roots", "srv", "in a shell it stands between single quotes"),
        ("command", "", 'such as ["my-agent", "--print"]; in a shell it stands between single quotes'),
    ],
)
def test_a_list_that_was_typed_bare_is_shown_as_it_is_spelled(
    tmp_path: Path, key: str, typed: str, spelled: str
) -> None:
    """Quotes within quotes are not guessed; what is offered is taken as it stands there."""
    said = told(tmp_path, "config", "set", key, typed, code=1)
    assert spelled in said
    if spelled.startswith("'["):
        assert f"{key} = " in told(tmp_path, "config", "set", key, spelled.strip("'"))


# --- a harvest -------------------------------------------------------------------------------------------------------


def conversations(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "home" / "conversations"
    folder.mkdir(parents=True)
    for at in range(number):
        name = f"talk-{at:02}\n-{at:08x}-0000-4000-8000-000000000000"
        (folder / name).write_text(f"User: We decided to use port 80{at:02} because it is free.\n", encoding="utf-8")
        os.utime(folder / name, (1_779_969_600 + 86_400 * at,) * 2)


def test_a_dry_run_names_what_it_would_read(tmp_path: Path) -> None:
    """Before a conversation goes to a model its owner must be able to see that it is one of those."""
    conversations(tmp_path, 23)
    rows = [row for row in told(tmp_path, "harvest").split("\n") if row.startswith("  ")]
    assert len(rows) == 21 and rows[-1] == "  and 3 more"
    assert rows[0] == "  2026-05-28      54B  home  talk-00?-00000000-0000-4000-8000-000000000000"
    assert len(json.loads(told(tmp_path, "harvest", "--json").partition("\nknowledge:")[0])["steps"]) == 23


def test_conversations_of_other_tools_are_named_with_the_tool(tmp_path: Path) -> None:
    (tmp_path / "dl").mkdir()
    (tmp_path / "dl" / f"{'long ' * 30}end.md").write_text("User: hello\n", encoding="utf-8")
    said = told(tmp_path, "harvest", "--now", "--source", str(tmp_path / "dl"))
    [row] = [row for row in said.split("\n") if row.startswith("  ")]
    assert "  your files  " in row and "…" in row and row.endswith("end.md") and len(row) < 120


def test_what_another_run_will_read_is_counted_and_not_listed(tmp_path: Path) -> None:
    """Thirty lines `deferred` would push the five that matter out of sight."""
    conversations(tmp_path, 9)
    said = told(tmp_path, "harvest", "--apply", "--limit", "2")
    assert "left for a later run: 7\n" in said and "nothing new" not in said
    assert [row.split()[0] for row in said.split("\n") if row.startswith("(")] == ["(1/2)", "(2/2)"]
    assert "deferred" not in said
    assert "2 harvested, 0 of them with nothing worth keeping, 0 failed; 0 taken away)" in said
    said = told(tmp_path, "harvest", "--finish")
    assert "left for a later run: 7\n" in said and "nothing new" not in said, "seven do wait"
    told(tmp_path, "harvest", "--apply")
    assert "\nnothing new: no conversation waits to be harvested\n" in told(tmp_path, "harvest", "--apply")


@pytest.mark.parametrize(
    ("started", "path", "called"),
    [
        (".venv/bin/knowledge", "", ".venv/bin/knowledge"),
        (".venv/bin/knowledge", "bin", "knowledge"),
        ("/srv/core/__main__.py", "", f"{sys.executable} -m core"),
    ],
)
def test_the_demo_ends_with_a_command_that_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: str, path: str, called: str
) -> None:
    """After `make run` the program is in no folder of the PATH: `knowledge status` was not found."""
    program = tmp_path / "bin" / "knowledge"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / path) if path else str(tmp_path))
    monkeypatch.setattr(sys, "argv", [started])
    code, out, _ = call("demo", "--no-panel", "--quiet", "--into", str(tmp_path / "demo"))
    assert code == 0 and out.endswith(f"\nNext: {called} status --home {tmp_path / 'demo'}\n")


# --- for somebody who is new here: a sound store looks sound, and a mistyped name not like an empty store -------------


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
    context.parent.chmod(0o755)
    (context.parent / "facts.md").chmod(0o644)
    said = told(tmp_path, "doctor", code=1)
    assert "2 problems left" in said and "facts.md" in said, "a user who is to close files must know which"


def test_an_index_that_is_behind_is_no_news(tmp_path: Path) -> None:
    """Right after `add` nothing is wrong: the next search brings its index up to date."""
    told(tmp_path, "add", "facts", "Ports start at 8080")
    told(tmp_path, "search", "ports")
    told(tmp_path, "add", "facts", "Keys are rotated in May")
    assert told(tmp_path, "doctor") == "the store is whole\n"
    assert "Keys are rotated" in told(tmp_path, "search", "keys")


def test_a_home_that_does_not_exist_is_said(tmp_path: Path) -> None:
    """A typing mistake after --home must not look like a store that lost everything."""
    said = told(tmp_path, "status")
    assert said.startswith(f"home: {tmp_path / 'home'} (does not exist yet")
    assert json.loads(told(tmp_path, "status", "--json"))["exists"] is False
    told(tmp_path, "add", "facts", "Ports start at 8080")
    assert "does not exist" not in told(tmp_path, "status")
    assert json.loads(told(tmp_path, "status", "--json"))["exists"] is True


def test_a_folder_of_notes_that_is_none_hides_no_other_state(tmp_path: Path) -> None:
    """One thing out of place must not keep a user from seeing the rest."""
    told(tmp_path, "add", "facts", "the sea is wet")
    (tmp_path / "home" / "knowledge" / "files").write_text("")
    code, out, err = call("status", "--home", str(tmp_path / "home"))
    assert code == 1 and "facts.md" in out and "1 bullet" in out
    assert "the notes on files cannot be read" in err and "refuses to go on" not in err


def test_the_facts_of_a_new_home_are_valid(tmp_path: Path) -> None:
    """Nothing there is nothing wrong; a path that was asked for and is not there is."""
    assert told(tmp_path, "facts", "validate").startswith("0 valid facts in 0 files")
    told(tmp_path, "facts", "validate", str(tmp_path / "typo"), code=2)


def test_blanks_of_other_widths_are_seen_and_what_commands_a_terminal_is_not() -> None:
    """French and Japanese text had a sign for a broken letter in the place of each of its blanks."""
    words = "Python\u202f3.13\u00a0: 全角\u3000空白"
    assert visible(f"{words}\x1b[2J\u2028") == f"{words}\ufffd[2J\ufffd"
