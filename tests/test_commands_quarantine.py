"""The quarantine: if these fail, an item that the person let in is lost, or one that was held back gets in unasked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from core.commands.history import undo
from core.commands.quarantine import quarantine, quarantine_accept, quarantine_drop, quarantine_list
from tests.made_home import HURRIED, Clock, Model, converse, error, harvested, make_home, read, value, write

TOLD = "[from: chat, 2026-05-01]"
HELD = f"# Quarantine\n\n- [quote-not-found] facts: water is dry {TOLD}\n- [no-quote] tasks_done: swept {TOLD}\n"


def test_a_harvest_s_held_item_is_listed_and_let_in_with_its_provenance(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    converse(workspace)
    harvested(workspace, Model(decisions=[{"statement": "use tabs", "quote": "nobody ever said so"}]), Clock())
    [item] = value(quarantine_list(workspace))
    assert (item.held, item.category, item.text) == ("quote-not-found", "decisions", "use tabs")
    done = value(quarantine_accept(workspace, "use tabs"))
    assert done.file == "decisions.md"
    assert read(workspace, "decisions.md") == f"# Decisions\n\n- use tabs {item.provenance}\n"
    assert "use tabs" not in read(workspace, "quarantine.md")
    assert value(quarantine(workspace)) == []
    assert "use tabs" in read(workspace, "digest.md")


def test_a_done_task_goes_below_done(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD)
    value(quarantine(workspace, "accept", "swept"))
    assert read(workspace, "tasks.md") == f"# Tasks\n\n## Open\n\n## Done\n\n- swept {TOLD}\n"


def test_a_held_note_goes_to_its_file_or_else_to_the_facts(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    source = tmp_path / "odd: name.py"
    source.write_text("")
    lines = f"- [no-quote] files {source}: is empty {TOLD}\n- [no-quote] files /nowhere/x.py: is lost {TOLD}\n"
    write(workspace, "quarantine.md", lines)
    note = value(quarantine_accept(workspace, "is empty"))
    assert note.file.startswith("files/")
    assert read(workspace, note.file) == f"# {source}\n\n- is empty {TOLD}\n"
    value(quarantine_accept(workspace, "is lost"))
    assert f"- /nowhere/x.py: is lost {TOLD}\n" in read(workspace, "facts.md")
    assert read(workspace, "quarantine.md") == ""


def test_an_item_stays_held_when_its_file_cannot_take_it(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", "- a\n").chmod(0o444)
    assert error(quarantine_accept(workspace, "water")).code == "read-only"
    assert read(workspace, "quarantine.md") == HELD


def test_accepting_again_after_a_crash_between_the_two_files_only_clears_the_quarantine(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", f"# Facts\n\n- water is dry {TOLD}\n")
    value(quarantine_accept(workspace, "water"))
    assert read(workspace, "facts.md").count("water") == 1 and "water" not in read(workspace, "quarantine.md")


def test_a_write_that_does_not_hold_keeps_the_item(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", "- a\n")
    monkeypatch.setattr("core.knowledge.edit.replace_expected", lambda *_: True)
    assert error(quarantine_accept(workspace, "water")).code == "not-proven"
    assert read(workspace, "quarantine.md") == HELD


def test_dropping_and_accepting_can_be_undone(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", "- a\n")
    dropped = value(quarantine_drop(workspace, "swept"))
    accepted = value(quarantine_accept(workspace, "water"))
    assert read(workspace, "quarantine.md") == "# Quarantine\n\n"
    value(undo(workspace, accepted.run, patience=HURRIED))
    assert read(workspace, "facts.md") == "- a\n"
    value(undo(workspace, dropped.run, patience=HURRIED))
    assert sorted(read(workspace, "quarantine.md").split("\n")) == sorted(HELD.split("\n"))


def test_a_stale_view_a_wrong_match_and_a_foreign_line_are_refused(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    assert error(quarantine_accept(workspace, "water")).code == "no-match"
    write(workspace, "quarantine.md", HELD + "- my own line\n")
    old = hashlib.sha256(b"other").hexdigest()
    assert error(quarantine_accept(workspace, "water", seen=old)).code == "changed-outside"
    assert error(quarantine_drop(workspace, "water", seen=old)).code == "changed-outside"
    assert error(quarantine_accept(workspace, "fire")).code == "no-match"
    assert error(quarantine_accept(workspace, "my own")).code == "not-an-item"
    assert read(workspace, "quarantine.md") == HELD + "- my own line\n"


@pytest.mark.parametrize("path", [f"/a: {'x' * 300}.py", "/proc/self/mem: x", "/dev/tty: y", "//host/share: z"])
def test_a_path_that_a_model_wrote_is_not_looked_at_when_it_is_listed(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name too long for the file system stopped the whole list, and a path that is not allowed was looked at."""
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", f"- [no-quote] files {path}: a note {TOLD}\n")
    looked: list[str] = []
    real = os.stat

    def stat(file: object, *arguments: object, **options: object) -> os.stat_result:
        looked.append(str(file))
        return real(file, *arguments, **options)  # type: ignore[call-overload,no-any-return]

    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", stat)
        [item] = value(quarantine_list(workspace))
    assert item.category == "files" and not any(name.startswith(path[:4]) for name in looked if "pytest" not in name)
    value(quarantine_accept(workspace, "a note"))
    assert f"- {path}: a note {TOLD}\n" in read(workspace, "facts.md")
