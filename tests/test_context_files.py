"""Context files: what a user wrote for every conversation reaches it whole, in order, and cannot break out."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.frontmatter import LIMIT_BYTES, parse_frontmatter
from core.base.paths import project_paths
from core.context_files import (
    BUDGET_BYTES,
    CLOSE,
    MAX_BYTES,
    OPEN,
    WARN_BYTES,
    ContextFile,
    entries,
    join_context,
    load_context,
    read_context,
)
from tests.cli_call import call
from tests.made_home import trusted

GOOD = "---\nversion: 1\nupdated: 2026-02-10T09:00:00\n---\n\n{}\n"
OVERHEAD = len("## Internal Knowledge\n\n### Global Context\n\n\n\n")


def write(path: Path, body: str) -> Path:
    path.write_text(GOOD.format(body), encoding="utf-8")
    return path


def of_project(tmp_path: Path, body: str, name: str = "app") -> Path:
    """The context file of a project that the user trusts, with that body below good frontmatter."""
    path = project_paths(tmp_path / name).context
    path.parent.mkdir(parents=True)
    trusted(tmp_path / name)
    return write(path, body)


def block(tmp_path: Path, body: str) -> tuple[str, tuple[str, ...]]:
    loaded = load_context(write(tmp_path / "context.md", body), None)
    return loaded.text, loaded.warnings


# --- what stands in the prompt ---------------------------------------------------------------------------------------


def test_no_files_leave_no_trace(tmp_path: Path) -> None:
    """A user without context files gets the prompt of a program that never had them."""
    loaded = load_context(tmp_path / "a.md", project_paths(tmp_path).context)
    assert (loaded.text, loaded.bytes, loaded.warnings) == ("", 0, ())


def test_both_files_stand_in_the_seeds_order_and_headings(tmp_path: Path) -> None:
    """Agents are told what belongs to everybody first, then what the project adds."""
    loaded = load_context(write(tmp_path / "g.md", "Be brief."), of_project(tmp_path, "Use tabs."))
    assert (loaded.text, loaded.warnings) == (
        "<system-reminder>\n## Internal Knowledge\n\n### Global Context\n\nBe brief.\n\n"
        "### Project Context\n\nUse tabs.\n\n</system-reminder>\n", ()
    )  # fmt: skip


@pytest.mark.parametrize("body", [None, "", "   \n\n"])
def test_no_body_has_no_heading(tmp_path: Path, body: str | None) -> None:
    """A heading without a word under it would be noise in every conversation."""
    mine = write(tmp_path / "c.md", body) if body is not None else tmp_path / "none.md"
    assert load_context(mine, None).text == ""
    loaded = load_context(mine, of_project(tmp_path, "Use tabs."))
    assert "### Project Context" in loaded.text and "Global" not in loaded.text


@pytest.mark.parametrize(
    ("size", "word", "whole"),
    [
        (WARN_BYTES - OVERHEAD, "", True),
        (WARN_BYTES - OVERHEAD + 1, "WARNING: Knowledge size 10241 bytes exceeds 10 KiB target", True),
        (MAX_BYTES - OVERHEAD - len(OPEN + CLOSE), "WARNING: Knowledge size", True),
        (MAX_BYTES - OVERHEAD - len(OPEN + CLOSE) + 1, "ERROR: Knowledge size", True),  # two line breaks at its end go
        (MAX_BYTES - OVERHEAD - len(OPEN + CLOSE) + 3, "ERROR: Knowledge size", False),
        (3 * MAX_BYTES, f"ERROR: Knowledge size {3 * MAX_BYTES + OVERHEAD} bytes exceeds 20 KiB. Truncating", False),
    ],
)
def test_budget_borders(tmp_path: Path, size: int, word: str, whole: bool) -> None:
    """Ten and twenty KiB to the byte: nobody pays for more, and nobody loses a byte below."""
    text, warnings = block(tmp_path, "x" * size)
    assert [word in line for line in warnings] == [True] * bool(word)
    assert len(text.encode()) <= MAX_BYTES
    assert ("x" * size in text) is whole
    assert text.startswith(OPEN) and text.endswith(CLOSE)


@pytest.mark.parametrize("character", ["é", "語", "🦊"])
@pytest.mark.parametrize("shift", range(4))
def test_cut_inside_a_character_leaves_whole_ones(tmp_path: Path, character: str, shift: int) -> None:
    """A torn character would make the whole prompt unreadable to a provider."""
    text, _ = block(tmp_path, "y" * shift + character * MAX_BYTES)
    assert len(text.encode()) <= MAX_BYTES and "\ufffd" not in text
    assert set(text[text.index("y" * shift + character) :].removesuffix(CLOSE)) <= {"y", character, "\n"}


def test_no_file_takes_the_others_room() -> None:
    """A user whose own file had grown to 25 KB worked in every project without that project's context."""
    for own, theirs in ((25_000, 900), (25_000, 30_000), (900, 25_000), (9_000, 12_000), (25_000, 0)):
        block, size, sentence = join_context([
            ContextFile("global", Path("g"), True, "g" * own, own, BUDGET_BYTES["global"]),
            ContextFile("project", Path("p"), True, "ü" * (theirs // 2), theirs, BUDGET_BYTES["project"]),
        ])  # fmt: skip
        assert block.count("g") >= min(own, 6_000) and 2 * block.count("ü") >= min(theirs, 14_000)
        assert MAX_BYTES - 3 <= len(block.encode()) <= MAX_BYTES
        assert size > MAX_BYTES and "Truncating" in sentence


@given(st.text(max_size=200), st.integers(0, 30_000))
def test_the_block_is_bounded_and_closed_once(text: str, length: int) -> None:
    """Whatever stands in a file, what follows the block in the prompt is not part of it."""
    found = [ContextFile("global", Path("c"), True, (text + "z" * length).strip(), length, 1)]
    block, _, _ = join_context(found)
    assert len(block.encode()) <= MAX_BYTES
    assert block.count("</system-reminder>") == (1 if found[0].body else 0)


def test_fences_secrets_and_hidden_text_are_taken_out(tmp_path: Path) -> None:
    key = "sk-ant-" + "api03-" + "Ab1" * 20
    text, _ = block(tmp_path, f"{{/knowledge}} token {key} a\u202eb\u200bc")
    assert "{/knowledge}" not in text and key not in text and "abc" in text


# --- frontmatter -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "field", "line"),
    [
        ("updated: 2026-02-10T09:00:00\n", "'version'", 1),
        ("version: 1\n", "'updated'", 1),
        *((f"version: {one}\nupdated: 2026-02-10T09:00:00\n", "'version'", 2) for one in ("one", "'1'", "true")),
        *(
            (f"version: 1\nupdated: {time}\n", "'updated'", 3)
            for time in ("yesterday", "2026-02-10", "2026-13-10T09:00:00", "12")
        ),
    ],
)
def test_a_wrong_field_is_named_and_the_text_is_used(tmp_path: Path, head: str, field: str, line: int) -> None:
    """A slip in the frontmatter must not cost a user the context of a whole day."""
    path = tmp_path / "context.md"
    path.write_text(f"---\n{head}---\nText.\n", encoding="utf-8")
    found = read_context("global", path)
    [problem] = found.problems
    assert found.body == "Text." and f"{path}:{line}:" in problem and field in problem


@pytest.mark.parametrize(
    ("text", "body", "words"),
    [
        ("Just text.\n", "Just text.", "no frontmatter"),
        ("---\nversion: 1\nText without an end\n", "---\nversion: 1\nText without an end", "no closing line"),
        ("---\nversion: [1\n---\nText.\n", "Text.", "not YAML"),
        ("---\n- a\n- b\n---\nText.\n", "Text.", "not a table"),
        ("---\n1: a\n---\nText.\n", "Text.", "not a table"),
        ("---\n\n---\nText.\n", "Text.", "empty"),
        ("---\n!!python/object/apply:os.system ['true']\n---\nText.\n", "Text.", "not YAML"),
        ("---\na: " + "[" * 2000 + "\n---\nText.\n", "Text.", "not YAML"),
        ("---\na: " + "x" * LIMIT_BYTES + "\n---\nText.\n", "Text.", "longer than"),
    ],
)
def test_malformed_frontmatter_is_told_and_the_body_loaded(tmp_path: Path, text: str, body: str, words: str) -> None:
    path = of_project(tmp_path, "")
    path.write_text(text, encoding="utf-8")
    found = read_context("project", path)
    [problem] = found.problems
    assert found.body == body and words in problem and str(path) in problem


def test_times_marks_and_line_ends_of_any_editor(tmp_path: Path) -> None:
    """Windows line ends, a byte order mark and quotes are what editors make of a file."""
    path = tmp_path / "context.md"
    times = ("2026-02-10T09:00:00", "'2026-02-10T09:00:00+00:00'", "2026-02-10T09:00:00Z")
    for updated, prefix, ending in product(times, ("", "\ufeff"), ("\n", "\r\n")):
        text = f"---\nversion: 1\nupdated: {updated}\nmore: [1]\n---\n\nOne.\nTwo.\n"
        path.write_bytes((prefix + text.replace("\n", ending)).encode())
        found = read_context("global", path)
        assert (found.body, found.problems, found.version) == ("One.\nTwo.", (), 1)
        assert found.updated == updated.strip("'")


def test_budgets_are_the_seeds_and_reported(tmp_path: Path) -> None:
    found = read_context("global", write(tmp_path / "c.md", "x" * 4000))
    assert (BUDGET_BYTES, found.bytes, found.budget) == ({"global": 3072, "project": 7168}, 4000, 3072)


def test_what_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    """A folder or a link in the place of the file stops no conversation."""
    (tmp_path / "context.md").mkdir()
    (tmp_path / "link.md").symlink_to(write(tmp_path / "target.md", "Elsewhere."))
    loaded = load_context(tmp_path / "context.md", tmp_path / "link.md")
    assert loaded.text == "" and len(loaded.warnings) == 2 and all("left out" in line for line in loaded.warnings)


def test_bytes_that_are_no_text_are_shown_and_told(tmp_path: Path) -> None:
    path = tmp_path / "context.md"
    path.write_bytes(GOOD.format("caf").encode().rstrip() + b"\xff ok\n")
    found = read_context("global", path)
    assert found.body == "caf\ufffd ok" and "not UTF-8" in found.problems[0]


def test_a_lone_carriage_return_ends_no_line() -> None:
    """YAML takes it for the end of a line and an editor does not: the line that is named must be one of the file's."""
    text = "---\n\ufeff---\r\nversion: 2\rr\n---"
    found = parse_frontmatter(text)
    assert found.problem and 1 <= found.line <= text.count("\n") + 1


@given(st.text())
def test_no_text_makes_the_frontmatter_raise(text: str) -> None:
    """A conversation starts, whatever lies in the file."""
    parsed = parse_frontmatter("---\n" + text)
    assert parsed.problem or isinstance(parsed.fields, dict)


def test_entries_lead_to_a_paragraph(tmp_path: Path) -> None:
    """A search hit names the heading above the words it found."""
    rows = entries([read_context("project", of_project(tmp_path, "# Build\n\nUse make.\n\nUse tabs."))], "/p")
    told = [(row.title, row.text, row.project) for row in rows]
    assert told == [("Build", "Use make.", "/p"), ("Build", "Use tabs.", "/p")]


# --- the command -----------------------------------------------------------------------------------------------------


def test_context_command_keeps_warnings_out_of_the_prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`knowledge context > prefix.txt` must not get a warning into the prompt, nor miss the project around it."""
    home, project = tmp_path / "home", tmp_path / "project"
    of_project(tmp_path, "Use tabs.", "project")
    for folder in (home / "knowledge", project / "src" / "deep", project / ".git"):
        folder.mkdir(parents=True)
    write(home / "knowledge" / "context.md", "x" * 11_000)
    monkeypatch.chdir(project / "src" / "deep")
    code, out, err = call("context", "--home", str(home))
    assert code == 0 and "Use tabs." in out and "WARNING" not in out
    assert "WARNING: Knowledge size" in err and "exceeds 10 KiB target" in err
    assert call("context", "--home", str(home), "--project", str(project))[1] == out


def test_the_home_is_not_its_own_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one's home folder the global file would otherwise be told twice."""
    home = tmp_path / ".manual_slop"
    (home / "knowledge").mkdir(parents=True)
    write(home / "knowledge" / "context.md", "Once.")
    monkeypatch.chdir(tmp_path)
    assert call("context", "--home", str(home))[1].count("Once.") == 1
