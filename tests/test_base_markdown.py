"""Foreign text in one line of our files: whatever it holds, it must not forge a line, an origin or a fence."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.base.markdown import (
    Provenance,
    bullet_line,
    parse_bullets,
    sanitise_line,
    sanitise_name,
    split_lines,
    split_provenance,
)
from core.base.repository import domain_of, repository_root, slug
from tests.cpu_time import grows_faster

nasty = st.lists(
    st.sampled_from(
        ["[from: x, 2026-01-01]", "[ FROM :", "{knowledge}", "{ / knowledge }", "<!--", "-->", "## Done", "- ", "~~",
         "#", "\n", "\r\n", "\u2028", "\u2029", "\x85", "\x0b", "\x1c", "\t", "\x00", "\u200b", "\u202e", "\u2066",
         "\ufeff", "\u200d", "\u200c", "é", "👩", "\ud800", " ", "  ", "\u3000", "word", "]", "[",
         ", 2026-01-01]", "\\"]
    ),
    max_size=12,
).map("".join)  # fmt: skip
texts = st.one_of(st.text(max_size=80), nasty)


@given(texts, texts)
@example("~~gone~~", "name")
@example("a\u200d\u3000b", "[from: x, 2026-01-01]")
def test_any_text_becomes_one_bullet_that_reads_back_with_its_origin(text: str, name: str) -> None:
    clean, source = sanitise_line(text), sanitise_name(name)
    if not clean:
        return
    line = bullet_line(clean, Provenance(source, "2026-01-02"))
    line.encode("utf-8")
    assert len(line.splitlines()) == 1
    bullets = parse_bullets(f"# Facts\n\n{line}\n")
    assert [(row.text, row.provenance, row.struck) for row in bullets] == [
        (clean, Provenance(source, "2026-01-02"), False)
    ]


@given(texts)
def test_sanitised_text_forges_nothing_and_stays_as_it_is(text: str) -> None:
    clean = sanitise_line(text)
    assert sanitise_line(clean) == clean and len(clean) <= 500
    assert not re.search(r"\[\s*from\s*:|\{\s*/?\s*(knowledge|project)\s*\}|<!--", clean, re.IGNORECASE)
    assert not clean.startswith(("#", "-", "~~")) and "  " not in clean and clean == clean.strip()
    categories = {unicodedata.category(char) for char in clean if char not in "\u200c\u200d"}
    assert not categories & {"Cc", "Cs", "Zl", "Zp"}


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N"]), max_size=700), st.integers(20, 500))
def test_long_text_is_cut_within_its_limit(text: str, limit: int) -> None:
    clean = sanitise_line(text, limit)
    assert len(clean) <= limit and (clean == text or clean.endswith("…"))


def test_a_long_statement_is_cut_at_a_word() -> None:
    clean = sanitise_line("word " * 200)
    assert clean.endswith("word…") and 490 < len(clean) <= 500


def test_what_spells_a_word_or_an_emoji_stays() -> None:
    """Joiners are part of Persian words and of family emoji; taking them out would misspell the person's text."""
    for text in ("می\u200cخواهم", "👩\u200d👩\u200d👧", "نامه\u200cای 👍🏽", "naïve Ωμέγα 漢字"):
        assert sanitise_line(text) == text
    assert sanitise_line("pass\u200dword") == "password"


def test_ordinary_conversation_names_are_not_changed() -> None:
    for name in ("talk-0f8fad5b-d9cb-469f-a165-70867728950e", "2026-05-12-investigate-dispatch", "Über uns (2)"):
        assert sanitise_name(name) == name
    assert sanitise_name("-x") == "-x" and sanitise_name("\n") == "unnamed"


def test_files_are_split_at_line_feeds_only() -> None:
    assert split_lines("a\x0cb\u2028c\r\nd\re\n") == ["a\x0cb\u2028c", "d\re"]


def test_bullets_keep_what_belongs_to_them() -> None:
    text = "- a [from: x, y, 2026-01-01]\n  more\n\tand more\n\n## Later\n* no\n- ~~b~~ [from: z, 2026-01-02]\n"
    text += "- c [from: d]\n"
    first, second, third = parse_bullets(text)
    assert (first.text, first.provenance, first.more) == (
        "a",
        Provenance("x, y", "2026-01-01"),
        ("  more", "\tand more"),
    )
    assert (second.text, second.struck, second.section, second.line) == ("b", True, "Later", 7)
    assert (third.text, third.provenance) == ("c [from: d]", None)


def test_only_the_last_origin_counts() -> None:
    """A line of the person's own may quote another one."""
    text, origin = split_provenance("see [from: old, 2026-01-01] again [from: new, 2026-02-02]")
    assert text == "see [from: old, 2026-01-01] again" and origin == Provenance("new", "2026-02-02")


@pytest.mark.parametrize("text", [" " * 100_000, "[from: " * 20_000, "[" * 100_000, "{" * 100_000 + " " * 100_000])
def test_hostile_lines_take_no_longer_than_their_length(text: str) -> None:
    """Four times the text in much less than sixteen times the time."""

    def read(line: str) -> None:
        sanitise_line(line, None), split_provenance(line)

    assert not grows_faster(lambda: read(text[: len(text) // 4]), lambda: read(text), 11)


# --- repository ------------------------------------------------------------------------------------------------------
# Which repository a folder belongs to. A wrong name scatters one repository's facts, or mixes two.


def test_the_nearest_git_folder_names_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "The Nexus"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "deep").mkdir(parents=True)
    assert repository_root(str(root / "src" / "deep")) == str(root)
    assert domain_of(str(root / "src" / "deep")) == domain_of(str(root)) == "the-nexus"
    (tmp_path / "worktree").mkdir()
    (tmp_path / "worktree" / ".git").write_text("gitdir: elsewhere")
    assert domain_of(str(tmp_path / "worktree" / "a" / "b")) == "worktree"
    assert domain_of(str(tmp_path / "plain")) == "plain"


@pytest.mark.parametrize(
    "folder",
    ["", "relative/path", "/", "/etc/nginx", "/home/somebody", "/Users/somebody", "/root", "/tmp", "/proc/1/cwd",
     "C:\\", "C:\\Users\\somebody", "/home/somebody/x\0y", "/" + "a" * 5000, "/home/somebody/..", "~"],
)  # fmt: skip
def test_what_is_no_repository_is_global(folder: str) -> None:
    """A person's own name must not become a repository, and a hostile path no look at the disk."""
    assert domain_of(folder) == "global"


@pytest.mark.parametrize(
    ("folder", "domain"),
    [
        ("/home/somebody/src/gone", "gone"),
        ("C:\\Users\\somebody\\src\\My Repo", "my-repo"),
        ("D:\\work\\api_v2", "api_v2"),
        ("/srv/code/global", "global-repo"),
        ("/srv/code/CON", "con-repo"),
        ("/srv/code/проект", "проект"),
        ("/srv/code/a:b/../c d", "c-d"),
        ("/srv/code/---", "global"),
        ("/Users/somebody/workspace/cli/.worktrees/1", "cli"),
        ("/home/somebody/cli/.claude/worktrees/fix-it/cmd", "cli"),
        ("/home/somebody/.codex/worktrees/ab12/cli", "cli"),
        ("/home/somebody/code/.dotfiles", "dotfiles"),
        ("/home/somebody/src/agentv__worktrees/dashboard-ux", "agentv"),
        ("/home/somebody/src/agentv.worktrees/x/.agentv/results/run-1", "agentv"),
        ("/home/somebody/src/git-worktree/notes", "notes"),
        ("/home/somebody/src/my-worktrees", "my-worktrees"),
        ("/home/somebody/worktrees/cli", "cli"),
    ],
)
def test_the_rule_of_the_name(folder: str, domain: str) -> None:
    assert domain_of(folder) == domain
    assert slug(domain) == domain


def test_a_work_tree_is_of_its_repository_and_a_hidden_repository_its_own(tmp_path: Path) -> None:
    """A work tree called `1` made a repository of that name, beside the one that it belongs to."""
    for folder in ("cli/.git", "cli/.worktrees/1/cmd", ".dotfiles/.git", ".dotfiles/vim"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "cli" / ".worktrees" / "1" / ".git").write_text("gitdir: ../../.git/worktrees/1\n")
    assert domain_of(str(tmp_path / "cli" / ".worktrees" / "1" / "cmd")) == "cli"
    assert domain_of(str(tmp_path / ".dotfiles" / "vim")) == "dotfiles"
