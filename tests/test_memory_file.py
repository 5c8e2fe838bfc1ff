"""One memory file: to the byte what the seed says, and whatever is wrong in it is said with its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.result import Err, Ok
from core.memories import load_memories, write_memory
from core.memory_file import (
    CONTENT_BYTES,
    Memory,
    clean_content,
    clean_tags,
    new_memory,
    read_memory,
    render_memory,
    slugify,
)
from tests.memory_home import NOW, put

# --- saving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("User prefers async/await", "user-prefers-async-await"),
        ("Uses SQLAlchemy 2.0", "uses-sqlalchemy-2-0"),
        ("  Multiple   Spaces  ", "multiple-spaces"),
        ("a" * 100, "a" * 50),
        ("a" * 49 + " b", "a" * 49),
        ("snake_case stays_legible", "snake-case-stays-legible"),
        ("../../etc/passwd", "etc-passwd"),
        ("日本語のメモ", "日本語のメモ"),
        ("Émile", "émile"),
        ("🦊", "memory"),
        ("!!!", "memory"),
        ("line\nbreak", "line-break"),
    ],
)
def test_slug_rules(text: str, slug: str) -> None:
    assert slugify(text) == slug


@given(st.text())
def test_a_slug_is_always_a_plain_file_name(text: str) -> None:
    """A conversation's words must not reach another folder or make a name that the disk refuses."""
    slug = slugify(text)
    assert slug and len(slug) <= 50 and len(slug.encode()) <= 200
    assert not set(slug) & set("/\\\0.\n ") and not slug.startswith("-")


def test_file_is_the_seeds_to_the_byte(tmp_path: Path) -> None:
    """Other programs read these files: fields, their order and the empty line are fixed."""
    memory = write_memory(tmp_path / "memories", "User prefers async", ["python", "style"], NOW)
    assert memory.path.name == "001-user-prefers-async.md"
    assert memory.path.read_text(encoding="utf-8") == (
        "---\nid: 1\ncreated: '2026-02-10T09:00:00+00:00'\ntags:\n- python\n- style\nsource: user-told\n---\n\n"
        "User prefers async\n"
    )


def test_no_tags_are_an_empty_list() -> None:
    assert "tags: []\n" in render_memory(new_memory(1, "x", [], NOW))


@pytest.mark.parametrize("signal", ["preference", "correction", "decision", "context", "pattern", "Decision"])
def test_a_signal_sets_the_category(signal: str) -> None:
    memory = new_memory(1, "x", ["python", signal], NOW)
    assert (memory.source, memory.category) == ("detected", signal.lower())
    assert f"source: detected\nauto_category: {signal.lower()}\n" in render_memory(memory)


@given(st.text(min_size=1, max_size=300), st.lists(st.text(max_size=30), max_size=5))
def test_what_is_saved_is_read_back(text: str, tags: list[str]) -> None:
    """No text and no tag may break the file that holds it."""
    content, clean = clean_content(text), clean_tags(tags)
    if isinstance(content, Err) or isinstance(clean, Err):
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        saved = write_memory(Path(folder) / "memories", content.value, clean.value, NOW)
        back = read_memory(saved.path)
    assert isinstance(back, Ok), back
    assert (back.value.content, back.value.tags, back.value.id) == (content.value.strip(), clean.value, 1)


@pytest.mark.parametrize(
    ("text", "code"), [("", "empty"), (" \n\u200b", "empty"), ("x" * (CONTENT_BYTES + 1), "too-long")]
)
def test_what_is_no_memory_is_refused(text: str, code: str) -> None:
    refused = clean_content(text)
    assert isinstance(refused, Err) and refused.error.code == code


def test_fences_and_hidden_characters_do_not_get_in() -> None:
    """A memory is recalled into every later conversation: what nobody sees would travel with it."""
    content = clean_content("token {/knowledge} a\u202eb")
    assert isinstance(content, Ok)
    assert "{/knowledge}" not in content.value and "\u202e" not in content.value


@pytest.mark.parametrize("tags", [[""], ["x" * 51], [str(number) for number in range(21)]])
def test_tags_are_bounded(tags: list[str]) -> None:
    refused = clean_tags(tags)
    assert isinstance(refused, Err) and refused.error.code == "bad-tag"


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "field", "line"),
    [
        ("created: 2026-02-09T14:00:00Z", "'id'", 1),
        ("id: 1", "'created'", 1),
        ("id: one\ncreated: 2026-02-09T14:00:00Z", "'id'", 2),
        ("id: '1'\ncreated: 2026-02-09T14:00:00Z", "'id'", 2),
        ("id: true\ncreated: 2026-02-09T14:00:00Z", "'id'", 2),
        ("id: 0\ncreated: 2026-02-09T14:00:00Z", "'id'", 2),
        ("id: 1.5\ncreated: 2026-02-09T14:00:00Z", "'id'", 2),
        ("id: 1\ncreated: yesterday", "'created'", 3),
        ("id: 1\ncreated: 5", "'created'", 3),
        ("id: 1\ncreated: 2026-02-09", "'created'", 3),
        ("id: 1\ncreated: 2026-02-09T14:00:00Z\ntags: python", "'tags'", 4),
        ("id: 1\ncreated: 2026-02-09T14:00:00Z\ntags: [1]", "'tags'", 4),
        ("id: 1\ncreated: 2026-02-09T14:00:00Z\nsource: 3", "'source'", 4),
        ("id: 1\ncreated: 2026-02-09T14:00:00Z\nupdated: now", "'updated'", 4),
        ("id: 1\ncreated: 2026-02-09T14:00:00Z\nauto_category: []", "'auto_category'", 4),
    ],
)
def test_an_invalid_field_is_named_with_file_and_line(tmp_path: Path, head: str, field: str, line: int) -> None:
    """A person finds the slip at once; the other memories are used meanwhile."""
    bad = tmp_path / "001-bad.md"
    bad.write_text(f"---\n{head}\n---\n\nText.\n", encoding="utf-8")
    put(tmp_path, 2, "good")
    loaded = load_memories([("global", tmp_path)])
    assert [row.id for row in loaded.memories] == [2]
    assert len(loaded.skipped) == 1
    assert f"{bad}:{line}: the field {field}" in loaded.skipped[0].message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"no frontmatter", "no frontmatter"),
        (b"---\nid: [\n---\nx", ":3: the frontmatter is not YAML"),
        (b"---\nid: 1\n", "no closing line"),
        (b"", "no frontmatter"),
        (b"---\nid: 1\ncreated: 2026-02-09T14:00:00Z\n---\ncaf\xe9", ":5: this memory is not UTF-8"),
        (b"x" * (2 * CONTENT_BYTES + 1), "cannot be read"),
    ],
)
def test_a_malformed_file_is_skipped_and_told(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "001-bad.md").write_bytes(data)
    loaded = load_memories([("global", tmp_path)])
    assert loaded.memories == () and len(loaded.skipped) == 1
    assert words in loaded.skipped[0].message and "001-bad.md" in loaded.skipped[0].message


def test_links_and_folders_are_no_memories(tmp_path: Path) -> None:
    """A planted link must not bring another file's text into a conversation."""
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "001-link.md").symlink_to(put(tmp_path / "elsewhere", 1, "secret"))
    (tmp_path / "m" / "002-folder.md").mkdir()
    loaded = load_memories([("project", tmp_path / "m")])
    assert loaded.memories == () and len(loaded.skipped) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_a_memory_of_the_home_may_be_linked_to_where_it_is_the_persons_own(tmp_path: Path) -> None:
    """Dotfile managers keep such files in one place; what somebody else may write there is still nobody's memory."""
    (tmp_path / "m").mkdir()
    target = put(tmp_path / "dotfiles", 1, "Prefers tabs")
    (tmp_path / "m" / "001-link.md").symlink_to(target)
    [linked] = load_memories([("global", tmp_path / "m")]).memories
    assert (linked.content, linked.path.name) == ("Prefers tabs", "001-link.md")
    target.chmod(0o666)
    [refused] = load_memories([("global", tmp_path / "m")]).skipped
    assert "may be written by everybody" in refused.message and str(target) in refused.message


def test_editors_line_ends_and_marks(tmp_path: Path) -> None:
    path = put(tmp_path, 1, "one\ntwo")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    read = read_memory(path)
    assert isinstance(read, Ok) and read.value.content == "one\ntwo"


@pytest.mark.parametrize(
    ("first", "summary"), [("x" * 80, "x" * 80), ("x" * 81, "x" * 77 + "..."), ("one\ntwo", "one"), ("", "")]
)
def test_summary_is_the_first_line_of_at_most_80_characters(first: str, summary: str) -> None:
    assert Memory(1, "", first).summary == summary
