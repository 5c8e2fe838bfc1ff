"""Memories: what was saved is found again, in files that stay readable, and one bad file costs only itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.base.result import Err, Ok
from core.memories import entries, load_memories, next_id, recall
from core.memory_file import (
    Memory,
)
from tests.cli_call import call
from tests.memory_home import put


def found(folder: Path, query: str, limit: int = 5) -> list[int]:
    return [row.id for row in recall(load_memories([("global", folder)]).memories, query)][:limit]


# --- ids -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], 1),
        (["001-a.md", "003-b.md"], 4),
        (["007-not-a-memory.md"], 8),
        (["1000-a.md"], 1001),
        (["notes.md", "x1.md"], 1),
        (["archive/009-old.md"], 10),
    ],
)
def test_next_id_with_gaps(tmp_path: Path, names: list[str], expected: int) -> None:
    """An id is never given twice, not even that of a broken or archived file."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("no frontmatter", encoding="utf-8")
    assert next_id(tmp_path) == expected


def test_next_id_believes_the_file_over_its_name(tmp_path: Path) -> None:
    put(tmp_path, 12, "x").rename(tmp_path / "001-renamed.md")
    assert next_id(tmp_path) == 13


# --- recalling -------------------------------------------------------------------------------------------------------


def test_recall_rules(tmp_path: Path) -> None:
    """Words and tags, whatever the case; newest first; at most so many; an empty query is all."""
    put(tmp_path, 1, "User prefers ASYNC/AWAIT", created="2026-02-09T10:00:00Z", tags="[python]")
    put(tmp_path, 2, "Uses SQLAlchemy ORM", created="2026-02-09T20:00:00Z", tags="[database]")
    put(tmp_path, 3, "Async database connections", created="2026-02-08T10:00:00Z", tags="[Python, database]")
    assert found(tmp_path, "async") == [1, 3]
    assert found(tmp_path, "PYTHON") == [1, 3]
    assert found(tmp_path, "database") == [2, 3]
    assert found(tmp_path, "") == [2, 1, 3]
    assert found(tmp_path, "", 2) == [2, 1]
    assert found(tmp_path, "nonexistent") == []


def test_several_words_are_a_search(tmp_path: Path) -> None:
    """Whoever asks in other words than those that were written finds it too."""
    put(tmp_path, 1, "Tabs in every Makefile")
    put(tmp_path, 2, "Spaces in Python")
    assert found(tmp_path, "makefile tabs") == [1]
    assert found(tmp_path, "makefile zebra") == []


def test_recency_compares_moments_and_not_letters(tmp_path: Path) -> None:
    put(tmp_path, 1, "x", created="2026-02-09T10:00:00+09:00")
    put(tmp_path, 2, "x", created="2026-02-09T02:00:00Z")
    assert found(tmp_path, "x") == [2, 1]


def test_entries_for_the_search() -> None:
    row = entries([Memory(3, "2026-02-09T10:00:00Z", "Tabs.\nAlways.", ("style",), scope="project")], "/p")[0]
    assert (row.kind, row.key, row.title, row.tags, row.project) == ("memory", "project:3", "Tabs.", ("style",), "/p")


# --- the commands ----------------------------------------------------------------------------------------------------


def run(home: Path, *words: str) -> tuple[int, str, str]:
    home.mkdir(exist_ok=True)
    return call(*words, "--home", str(home))


def test_display_texts_are_the_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents were taught these very sentences."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    assert run(home, "memories")[1] == "No memories saved yet.\n"
    (home / "knowledge" / "memories").mkdir(parents=True)
    assert run(home, "memories")[1] == "No memories found.\n"
    before = datetime.now(UTC)
    code, out, _ = run(home, "save", "Prefers tabs", "--tag", "style", "--tag", "make")
    path = home / "knowledge" / "memories" / "001-prefers-tabs.md"
    assert (code, out) == (0, f"✓ Saved memory 1: 001-prefers-tabs.md\nLocation: {path}\n")
    text = path.read_text(encoding="utf-8")
    day = next(day for moment in (before, datetime.now(UTC)) if (day := f"{moment:%Y-%m-%d}") in text)
    assert run(home, "recall", "tabs")[1] == (
        f"Found 1 memory matching 'tabs':\n\n**Memory 1** (created {day})\nTags: style, make\nPrefers tabs\n"
    )
    run(home, "save", "Tabs again\nand more")
    assert run(home, "recall", "tabs")[1].startswith("Found 2 memories matching 'tabs':\n\n**Memory ")
    assert run(home, "recall", "nothing")[1] == "No memories found matching 'nothing'\n"
    assert re.sub(r"\d{4}-\d\d-\d\d", day, run(home, "memories")[1]) == (  # midnight may lie between the two
        f"Total memories: 2\n\n**001** ({day}) [style, make]: Prefers tabs\n**002** ({day}): Tabs again\n"
    )


def test_words_that_no_memory_has_all_of_are_searched_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person remembers the sense and not the words: other forms of a word and some of the words are enough."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "home"
    run(home, "save", "Releases are cut on Fridays")
    run(home, "save", "Tabs in every Makefile")
    assert "Releases are cut" in run(home, "recall", "release zebra")[1]
    first = run(home, "recall", "makefiles with tab characters")[1]
    assert "Tabs in every Makefile" in first and "Releases" not in first
    assert run(home, "recall", "zebra yak")[1] == "No memories found matching 'zebra yak'\n"


def test_json_is_the_seeds_return_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved = json.loads(run(tmp_path, "save", "Prefers tabs", "--json")[1])
    assert set(saved) == {"display", "path", "memory_id"}
    listed = json.loads(run(tmp_path, "memories", "--json")[1])
    assert listed["count"] == 1 and listed["memories"][0]["summary"] == "Prefers tabs"
    recalled = json.loads(run(tmp_path, "recall", "--json")[1])
    assert {"kind", "key", "text", "score", "why", "provenance"} <= set(recalled[0])


def test_edit_and_archive_can_be_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other words for a memory cost no line: undo brings the old ones back, and the archive keeps the file."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    run(home, "save", "Prefers tabs", "--tag", "style")
    path = home / "knowledge" / "memories" / "001-prefers-tabs.md"
    path.write_text(path.read_text(encoding="utf-8").replace("source:", "mood: calm\nsource:"), encoding="utf-8")
    before = path.read_bytes()
    code, out, _ = run(home, "memories", "edit", "1", "Prefers spaces")
    assert code == 0 and b"mood: calm" in path.read_bytes() and b"Prefers spaces" in path.read_bytes()
    undo = next(word.strip("'") for word in out.split() if word.startswith("edit-"))
    assert run(home, "undo", undo)[0] == 0
    assert path.read_bytes() == before
    code, out, _ = run(home, "memories", "archive", "1")
    assert code == 0 and not path.exists()
    assert (path.parent / "archive" / path.name).read_bytes() == before
    assert run(home, "save", "Another")[1].startswith("✓ Saved memory 2")
    assert run(home, "memories", "restore", "1")[0] == 0
    assert path.read_bytes() == before


def test_an_edit_of_what_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    """The panel shows one text and must not write over another."""
    from core.commands.memories import memories_archive, memories_edit, save
    from core.commands.workspace import open_workspace

    opened = open_workspace(str(tmp_path / "home"), cwd=tmp_path)
    assert isinstance(opened, Ok)
    saved = save(opened.value, "Prefers tabs")
    assert isinstance(saved, Ok)
    path = saved.value.memory.path
    path.write_text(path.read_text(encoding="utf-8") + "By hand.\n", encoding="utf-8")
    seen = saved.value.memory.sha256
    for refused in (
        memories_edit(opened.value, "1", "New", seen=seen),
        memories_archive(opened.value, "1", seen=seen),
    ):
        assert isinstance(refused, Err) and refused.error.code == "changed-outside"
    assert path.read_text(encoding="utf-8").endswith("By hand.\n")


def test_a_project_has_memories_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds for one project is not told in another."""
    project, other, home = tmp_path / "project", tmp_path / "other", tmp_path / "home"
    project.mkdir()
    other.mkdir()
    monkeypatch.chdir(project)
    assert run(home, "save", "Only here", "--project", str(project))[0] == 0
    assert run(home, "save", "Everywhere")[0] == 0
    assert "Only here" in run(home, "recall", "")[1]
    assert run(home, "memories", "edit", "1", "x")[2].startswith("knowledge: 2 memories have the id 1")
    assert run(home, "memories", "edit", "project:1", "Only there")[0] == 0
    monkeypatch.chdir(other)
    assert "Only" not in run(home, "recall", "")[1]


def test_two_processes_never_give_one_id_twice(tmp_path: Path) -> None:
    """Two agents that save at the same moment both keep what they said."""
    words = [sys.executable, "-m", "core", "--home", str(tmp_path), "save"]
    root = Path(__file__).resolve().parents[1]
    started = [
        subprocess.Popen([*words, f"text {number}"], cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(6)
    ]
    assert [process.wait(60) for process in started] == [0] * 6, [process.stderr for process in started]
    for process in started:
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()
    loaded = load_memories([("global", tmp_path / "knowledge" / "memories")])
    assert [row.id for row in loaded.memories] == [1, 2, 3, 4, 5, 6]
    assert {row.content for row in loaded.memories} == {f"text {number}" for number in range(6)}
