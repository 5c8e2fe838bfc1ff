"""The quarantine: if these fail, an item that the person let in is lost, or one that was held back gets in unasked."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from core.cli.quarantine import quarantine_text
from core.commands.quarantine import ReleasedMany, quarantine, quarantine_accept, quarantine_drop, quarantine_list
from core.commands.undo import undo
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
    monkeypatch.setattr("core.knowledge.log.append_expected", lambda *_: True)
    assert error(quarantine_accept(workspace, "water")).code == "not-proven"
    assert read(workspace, "quarantine.md") == HELD


def test_dropping_and_accepting_can_be_undone(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD)
    write(workspace, "facts.md", "- a\n")
    dropped = value(quarantine_drop(workspace, "swept"))
    accepted = value(quarantine_accept(workspace, "water"))
    assert read(workspace, "quarantine.md") == "# Quarantine\n\n"
    value(undo(workspace, accepted.run, editor_wait=HURRIED))
    assert read(workspace, "facts.md") == "- a\n"
    value(undo(workspace, dropped.run, editor_wait=HURRIED))
    assert sorted(read(workspace, "quarantine.md").split("\n")) == sorted(HELD.split("\n"))


def test_the_quote_is_shown_and_does_not_go_into_the_file(tmp_path: Path) -> None:
    """Without it nobody could judge whether the item is true."""
    workspace = make_home(tmp_path)
    converse(workspace)
    rows = [
        {"statement": "use tabs", "quote": 'he "never" said\nso'},
        {"statement": 'it prints (quote: "x")', "quote": "nobody ever said that either"},
        {"statement": 'it reads (quote: "y")'},
        {"statement": "z" * 600},
    ]
    harvested(workspace, Model(decisions=rows), Clock())
    items = value(quarantine_list(workspace))
    assert [(item.text, item.quote, item.number) for item in items] == [
        ("use tabs", "he 'never' said so", 1), ('it prints (quote: "x")', "nobody ever said that either", 2),
        ("z" * 600, "", 3),
    ]  # fmt: skip
    shown = quarantine_text(items)
    assert "1  [quote-not-found] decisions: use tabs [from:" in shown and "quote: \"he 'never' said so\"" in shown
    assert items[0].to_json()["quote"] == "he 'never' said so" and items[2].to_json()["quote"] is None
    value(quarantine(workspace, "accept", all=True))
    text = read(workspace, "decisions.md")
    assert "- use tabs [from:" in text and '- it prints (quote: "x") [from:' in text and f"- {'z' * 600} [from:" in text


@pytest.mark.parametrize("action", ["accept", "drop"])
def test_many_are_let_in_or_dropped_at_once_and_one_undo_takes_it_back(tmp_path: Path, action: str) -> None:
    """A person with forty held items had to type the words of each."""
    workspace = make_home(tmp_path)
    source = tmp_path / "a.py"
    source.write_text("")
    lines = [f"- [no-quote] {name}: item {at} {TOLD}" for at, name in enumerate(("facts", "facts", "tasks_done"), 1)]
    lines += [f"- [no-quote] files {source}: item 4 {TOLD}", f"- [too-long] tasks_open: {'x ' * 400}5 {TOLD}"]
    held = "# Quarantine\n\n" + "\n".join(lines) + "\n- mine\n"
    write(workspace, "quarantine.md", held)
    write(workspace, "facts.md", "# Facts\n\n- a\n")
    write(workspace, "tasks.md", "# Tasks\n\n## Open\n\n## Done\n")
    done = value(quarantine(workspace, action, ["1", "3-5"]))
    assert isinstance(done, ReleasedMany) and len(done.items) == 4 and not done.errors
    assert read(workspace, "quarantine.md") == f"# Quarantine\n\n{lines[1]}\n- mine\n"
    assert ("item 1" in read(workspace, "facts.md")) == (action == "accept")
    assert read(workspace, "tasks.md").count("5 [from") == (action == "accept")
    rest = value(quarantine(workspace, action, all=True)) if action == "drop" else None
    assert rest is None or read(workspace, "quarantine.md") == "# Quarantine\n\n"
    for run in filter(None, (rest and rest.run, done.run)):  # type: ignore[union-attr]
        value(undo(workspace, run, editor_wait=HURRIED))
    assert sorted(read(workspace, "quarantine.md").split("\n")) == sorted(held.split("\n"))
    assert read(workspace, "facts.md") == "# Facts\n\n- a\n"
    assert read(workspace, "tasks.md") == "# Tasks\n\n## Open\n\n## Done\n"


def test_what_one_run_has_held_back_is_named_by_the_run(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    runs = []
    for word in ("first", "second"):
        converse(workspace, word, word)
        wrong = {"statement": f"{word} wrong", "quote": "nobody has ever said so"}
        runs.append(harvested(workspace, Model(facts=[wrong], decisions=[wrong]), Clock()).run)
    shown = value(quarantine(workspace, "list", run=runs[1]))
    assert [item.text for item in shown] == ["second wrong"] * 2  # type: ignore[union-attr]
    value(quarantine(workspace, "accept", run=runs[1]))
    assert "second wrong" in read(workspace, "facts.md") and "second wrong" in read(workspace, "decisions.md")
    assert read(workspace, "quarantine.md").count("first wrong") == 2
    assert "none is held any more" in error(quarantine(workspace, "drop", run=runs[1])).message
    assert error(quarantine(workspace, "drop", run="20200101T000000-abcdef")).code == "no-match"


def test_numbers_are_numbers_only_where_there_is_such_an_item(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD.replace("water is dry", "port 8080 is open"))
    assert value(quarantine(workspace, "drop", ["2"])).text.endswith(f"swept {TOLD}")  # type: ignore[union-attr]
    assert value(quarantine(workspace, "accept", ["8080"])).file == "facts.md"  # type: ignore[union-attr]
    assert error(quarantine(workspace, "accept", ["7"])).code == "no-match"
    assert error(quarantine(workspace, "accept", all=True)).code == "no-match"
    assert error(quarantine(workspace, "accept", ["1"], all=True)).code == "usage"
    assert error(quarantine(workspace, "list", ["1"])).code == "usage"


def test_of_many_those_that_cannot_go_in_stay_and_are_told(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "quarantine.md", HELD + "- mine\n")
    write(workspace, "facts.md", "- a\n").chmod(0o444)
    done = value(quarantine(workspace, "accept", all=True))
    assert isinstance(done, ReleasedMany) and [file for file, _ in done.items] == ["tasks.md"]
    assert sorted(row.code for row in done.errors) == ["not-an-item", "read-only"]
    assert "water" in read(workspace, "quarantine.md") and "- mine" in read(workspace, "quarantine.md")
    assert "swept" not in read(workspace, "quarantine.md")


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
