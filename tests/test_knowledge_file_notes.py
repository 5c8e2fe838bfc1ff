"""Notes on source files: bound to the file, wherever it moves."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.base.markdown import parse_bullets
from core.base.system import birth_ns
from core.commands import bullets
from core.commands.bullets import notes as facts_notes_of
from core.knowledge.file_notes import (
    SourceFile,
    apply_binding,
    bind,
    bind_note,
    examine,
    file_id,
    merge_records,
    notes_for,
    read_records,
    write_records,
)
from core.knowledge.projects import Projects, facts_about
from tests.harvest_world import FakeModel, World
from tests.made_home import make_home, write

# --- A note follows its file through renames and editors' saves, and never goes over to a stranger.


@pytest.fixture
def noted(world: World) -> World:
    """A home with one note on `code.py`."""
    (world.folder / "src").mkdir()
    (world.folder / "src" / "code.py").write_text("first\n")
    note(world, "src/code.py", "about the first")
    return world


def note(world: World, name: str, text: str) -> None:
    world.converse(f"User: {text}\n")
    answer = {"files": [{"path": str(world.folder / name), "note": text}]}
    assert not world.run(FakeModel(lambda number, prompt: answer)).errors


def notes_of(world: World, name: str) -> list[str]:
    found, _ = notes_for(world.paths, str(world.folder / name))
    if found is None:
        return []
    return [line[2:].split(" [from")[0] for line in found.read_text().split("\n") if line.startswith("- ")]


def save_atomically(path: Path, text: str) -> None:
    """What editors do: a new file renamed over the old one, so that its inode changes."""
    new = path.with_name("new.part")
    new.write_text(text)
    new.replace(path)


def test_a_renamed_file_keeps_its_notes(noted: World) -> None:
    (noted.folder / "src" / "code.py").rename(noted.folder / "src" / "moved.py")
    assert notes_of(noted, "src/moved.py") == ["about the first"]
    note(noted, "src/moved.py", "under its new name")
    assert notes_of(noted, "src/moved.py") == ["about the first", "under its new name"]
    assert len(list(noted.paths.file_notes.iterdir())) == 1
    assert notes_of(noted, "src/code.py") == ["about the first", "under its new name"]  # its old name still leads there


def test_a_save_that_leaves_a_backup_keeps_the_notes(noted: World) -> None:
    """The old inode lives on as `code.py~`, which is no file that anybody works on."""
    path = noted.folder / "src" / "code.py"
    path.rename(path.with_name("code.py~"))
    path.write_text("second\n")
    assert notes_of(noted, "src/code.py") == ["about the first"]


@pytest.mark.skipif(birth_ns("/") is None and birth_ns(__file__) is None, reason="no birth times on this file system")
def test_a_stranger_on_a_reused_inode_never_inherits(noted: World) -> None:
    path = noted.folder / "src" / "code.py"
    name = f"{file_id(path.stat().st_dev, path.stat().st_ino)}.md"
    records = read_records(noted.paths)
    records[name] |= {"path": "/elsewhere/gone.py", "birth": 12345}  # so it looks after the inode was reused
    write_records(noted.paths, records)
    assert notes_of(noted, "src/code.py") == []
    note(noted, "src/code.py", "about the stranger")
    assert notes_of(noted, "src/code.py") == ["about the stranger"]
    assert (noted.paths.file_notes / f"{name[:-3]}@12345.md").read_text().count("about the first") == 1


def test_two_strangers_in_a_row_lose_nobodys_note(noted: World) -> None:
    """The name for a note that is put aside may be taken already."""
    for number in range(2):
        path = noted.folder / "src" / "code.py"
        name = f"{file_id(path.stat().st_dev, path.stat().st_ino)}.md"
        records = read_records(noted.paths)
        records[name] |= {"path": "/elsewhere/gone.py", "birth": 12345}
        write_records(noted.paths, records)
        note(noted, "src/code.py", f"stranger {number}")
    texts = "".join(entry.read_text() for entry in noted.paths.file_notes.iterdir())
    assert [texts.count(text) for text in ("about the first", "stranger 0", "stranger 1")] == [1, 1, 1]


@pytest.mark.parametrize("content", [None, "{", "[]", '{"1:2.md": 5}', '{"1:2.md": {"path": 5}}'])
def test_lost_records_are_rebuilt_from_the_headers(noted: World, content: str | None) -> None:
    noted.paths.file_ids.unlink()
    if content is not None:
        noted.paths.file_ids.write_text(content)
    assert notes_of(noted, "src/code.py") == ["about the first"]
    save_atomically(noted.folder / "src" / "code.py", "second\n")
    assert notes_of(noted, "src/code.py") == ["about the first"]


def test_a_note_named_in_the_way_of_windows_is_read_too(noted: World) -> None:
    only = next(noted.paths.file_notes.iterdir())
    only.rename(only.with_name(only.name.replace(":", "-")))
    noted.paths.file_ids.unlink()
    assert notes_of(noted, "src/code.py") == ["about the first"]
    note(noted, "src/code.py", "one more")
    assert len(list(noted.paths.file_notes.iterdir())) == 1


def test_a_rename_that_a_crash_interrupted_is_taken_up(noted: World) -> None:
    path = noted.folder / "src" / "code.py"
    save_atomically(path, "second\n")
    records = read_records(noted.paths)
    binding = bind(examine(str(path)), records)
    assert binding.move
    (noted.paths.file_notes / binding.move).rename(noted.paths.file_notes / binding.note)  # and no record of it
    assert notes_of(noted, "src/code.py") == ["about the first"]
    apply_binding(noted.paths, binding, records)
    apply_binding(noted.paths, binding, records)
    assert records[binding.note]["path"] == str(path)


def test_records_to_the_byte(noted: World) -> None:
    path = noted.folder / "src" / "code.py"
    name = f"{path.stat().st_dev}:{path.stat().st_ino}.md"
    row = {"birth": birth_ns(path), "head": "", "path": str(path), "size": 6}
    assert noted.paths.file_ids.read_text() == json.dumps({name: row}, indent=1) + "\n"
    assert os.stat(noted.paths.state).st_mode & 0o777 == 0o700


def test_a_note_that_the_panel_binds_during_a_run_keeps_its_row(noted: World) -> None:
    """The run remembers the rows from its start; writing those back would make the other note homeless."""
    at_start = read_records(noted.paths)
    other = noted.folder / "other.py"
    other.write_text("pass\n")
    bound = bind_note(noted.paths, examine(str(other)))
    old = next(iter(at_start))
    new_row = {**at_start[old], "size": 99}
    merge_records(noted.paths, {"1:2.md": new_row})
    rows = json.loads(noted.paths.file_ids.read_text())
    assert set(rows) >= {"1:2.md", bound.note} and rows["1:2.md"] == new_row


def test_two_that_bind_notes_at_once_lose_no_row(noted: World) -> None:
    sources = [noted.folder / f"source-{number}.py" for number in range(12)]
    for source in sources:
        source.write_text("pass\n")
    with ThreadPoolExecutor(4) as pool:
        bound = list(pool.map(lambda source: bind_note(noted.paths, examine(str(source))).note, sources))
    assert set(bound) <= set(json.loads(noted.paths.file_ids.read_text()))


def test_a_row_that_knows_only_another_path_is_another_file() -> None:
    """Rebuilt from a header, it would else give its note to any stranger on a reused inode."""
    stranger = SourceFile("/here/new.py", "5:6", 123, 10, "aa")
    rebuilt = {"5:6.md": {"path": "/there/old.py", "birth": None, "size": None, "head": ""}}
    assert bind(stranger, rebuilt).aside is not None
    assert bind(SourceFile("/there/old.py", "5:6", 123, 10, "aa"), rebuilt).aside is None


# --- Notes on files that were on another computer became facts. If these fail, they are lost to whoever asks about the
# file, or a stranger's file of the same name speaks for it.


def told_in(clone: Path) -> Projects:
    """Conversations of the repository itself, of another one of its name, and of another one."""
    roots = {"talk": str(clone), "namesake": "/srv/cli", "other": "/srv/shop"}
    return Projects({name: frozenset({root}) for name, root in roots.items()})


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository called `cli`."""
    (tmp_path / "cli" / ".git").mkdir(parents=True)
    (tmp_path / "cli" / "cmd" / "log").mkdir(parents=True)
    return tmp_path / "cli"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("- {clone}/cmd/log/logger.go: rotates [from: x, 2026-01-01]", True),
        ("- /Users/alex/code/cli/.worktrees/1/cmd/log/logger.go: rotates [from: x, 2026-01-01]", True),
        ("- C:\\src\\cli\\cmd\\log\\logger.go: rotates", True),
        ("- ~/cli/cmd/log/logger.go: rotates", True),
        ("- cmd/log/logger.go: rotates [from: talk, 2026-01-01]", True),
        ("- cli/cmd/log/logger.go: rotates [from: talk, 2026-01-01]", True),
        ("- cmd/log/logger.go: rotates [from: nobody knows where, 2026-01-01]", True),
        ("- cmd/log/logger.go: rotates [from: other, 2026-01-01]", False),
        ("- cmd/log/logger.go: rotates [from: namesake, 2026-01-01]", False),
        ("- /srv/cli/cmd/log/logger.go: rotates [from: namesake, 2026-01-01]", False),
        ("- /Users/alex/code/shop/cmd/log/logger.go: rotates", False),
        ("- logger.go: rotates [from: talk, 2026-01-01]", False),
        ("- cmd/log/logger.go.bak: rotates [from: talk, 2026-01-01]", False),
        ("- The file cmd/log/logger.go rotates [from: talk, 2026-01-01]", False),
        ("- ~~cmd/log/logger.go: rotates~~ [from: talk, 2026-01-01]", False),
    ],
)
def test_which_facts_speak_of_a_file(clone: Path, line: str, told: bool) -> None:
    found = parse_bullets(line.replace("{clone}", str(clone)) + "\n")
    assert len(found) == 1
    assert bool(facts_about(found, str(clone / "cmd" / "log" / "logger.go"), told_in(clone))) is told


def test_a_work_tree_is_the_repository_that_it_belongs_to(clone: Path) -> None:
    """Whoever lets agents work in work trees asks about their files there."""
    tree = clone / ".worktrees" / "7"
    (tree / "cmd").mkdir(parents=True)
    (tree / ".git").write_text("gitdir: ../../.git/worktrees/7\n")
    rows = parse_bullets("- cmd/run.go: slow [from: talk, 2026-01-01]\n- /Users/alex/code/cli/cmd/run.go: fast\n")
    assert len(facts_about(rows, str(tree / "cmd" / "run.go"), told_in(clone))) == 2


def test_a_file_at_the_top_is_not_every_file_of_its_name(clone: Path) -> None:
    rows = parse_bullets(
        "- README.md: ours [from: talk, 2026-01-01]\n- README.md: whose [from: nobody, 2026-01-01]\n"
        "- README.md: theirs [from: other, 2026-01-01]\n- /Users/alex/code/cli/README.md: ours too\n"
        "- /Users/alex/cli/deep/README.md: a deep one\n"
    )
    found = facts_about(rows, str(clone / "README.md"), told_in(clone))
    assert [row.text.partition(": ")[2] for row in found] == ["ours", "ours too"]


def test_outside_of_a_repository_only_the_very_path_counts(tmp_path: Path) -> None:
    rows = parse_bullets(f"- {tmp_path}/a/b.py: this one\n- a/b.py: whose\n")
    assert [row.line for row in facts_about(rows, str(tmp_path / "a" / "b.py"), Projects())] == [1]


def test_asked_about_a_file_they_stand_behind_its_notes(tmp_path: Path, clone: Path) -> None:
    workspace = make_home(tmp_path)
    source = clone / "cmd" / "log" / "logger.go"
    source.write_text("package log\n")
    write(workspace, "facts.md", "# Facts\n\n- cmd/log/logger.go: rotates at midnight\n")
    alone = facts_notes_of(workspace, str(source))
    assert [(row.file, row.bullet.text) for row in alone.bullets] == [
        ("facts.md", "cmd/log/logger.go: rotates at midnight")
    ]
    bullets.add(workspace, "files", "Needs a lock", file=str(source))
    both = facts_notes_of(workspace, str(source))
    assert [row.bullet.text for row in both.bullets] == ["Needs a lock", "cmd/log/logger.go: rotates at midnight"]
