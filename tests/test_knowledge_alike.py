"""Alike and outdated bullets: a person hears of them, and nothing is done without their word."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base import locks
from core.base.markdown import parse_bullets
from core.knowledge import log
from core.knowledge.alike import alike, placed, superseding
from tests.cli_call import call


def pair(old: str, new: str) -> list[str]:
    text = f"- {old} [from: a, 2026-06-01]\n- {new} [from: b, 2026-06-02]\n"
    return [row.why for row in superseding(placed("facts", "facts.md", parse_bullets(text)))]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("The server listens on port 8080.", "The server listens on port 8081.", "8080 -> 8081"),
        ("The cache is Redis", "The cache is Memcached", "redis -> memcached"),
        ("We use SQLite for the ledger", "We use Postgres for the ledger", "sqlite -> postgres"),
        ("Python 3.11 is the oldest supported version", "Python 3.12 is the oldest supported version", "3.11 -> 3.12"),
        ("Strict mode is enabled in CI", "Strict mode is disabled in CI", "enabled -> disabled"),
        ("Tests need the network", "Tests do not need the network", "one says not"),
        ("The build doesn't need Docker", "The build needs Docker", ""),
        ("Alice owns module a1", "Bob owns module b2", ""),
        ("The server listens on port 8080", "The client reads from port 8081", ""),
        ("Server one listens on port 8080", "Server two listens on port 8081", ""),
        ("Releases are cut on Friday by hand", "A release needs a changelog", ""),
        ("The parser keeps comments", "The parser keeps comments and blank lines", ""),
        ("The server listens on port 8080.", "the server listens on port `8080`", ""),
        ("src/one.py: the server listens on port 8080", "src/two.py: the server listens on port 8081", ""),
        ("w/2026-01-05-design.md: the ledger is written last", "w/2026-01-06-impl.md: the ledger is written last", ""),
        ("src/one.py: the server listens on port 8080", "src/one.py: the server listens on port 8081", "8080 -> 8081"),
    ],
)
def test_what_seems_outdated(old: str, new: str, why: str) -> None:
    """A changed value is proposed; a different subject, more detail or the same again is not."""
    assert pair(old, new) == ([why] if why else [])


def test_the_newer_one_wins_wherever_it_stands() -> None:
    rows = placed(
        "facts",
        "facts.md",
        parse_bullets("- The cache is Memcached [from: b, 2026-06-09]\n- The cache is Redis [from: a, 2026-06-01]\n"),
    )
    (found,) = superseding(rows)
    assert (found.old.bullet.text, found.new.bullet.text) == ("The cache is Redis", "The cache is Memcached")


@pytest.mark.parametrize(
    "text",
    [
        "- The cache is Redis [from: a, 2026-06-01]\n- The cache is Memcached [from: a, 2026-06-02]\n",
        "- The cache is Redis\n- The cache is Memcached [from: a, 2026-06-02]\n",
        "- ~~The cache is Redis~~ [from: a, 2026-06-01]\n- The cache is Memcached [from: b, 2026-06-02]\n",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    """One conversation may weigh both; a person's own line has no date; what is struck through is decided."""
    assert superseding(placed("facts", "facts.md", parse_bullets(text))) == []


def test_alike_is_not_the_same() -> None:
    text = (
        "- Run make test before a commit\n- Run make test before each commit\n- run make test before a commit.\n- X\n"
    )
    (found,) = alike(placed("playbooks", "playbooks.md", parse_bullets(text)))
    assert found.score > 90
    assert {found.first.bullet.text, found.second.bullet.text} == {
        "run make test before a commit.",
        "Run make test before each commit",
    }


def test_ten_thousand_bullets_are_not_compared_pair_by_pair() -> None:
    """Fifty million comparisons would freeze the panel."""
    text = "".join(f"- Item number {at} has colour c{at % 977} and size s{at % 613}\n" for at in range(10_000))
    rows = placed("facts", "facts.md", parse_bullets(text))
    from core.knowledge import alike as module

    pairs = sum(1 for _ in module._candidates(rows, [module._words(row.bullet.text) for row in rows]))
    assert pairs < 500_000


WORDS = ("port", "8080", "8081", "the", "server", "listens", "on", "cache", "is", "Redis", "not", "{", "~~")


@given(st.lists(st.text(max_size=40) | st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), max_size=6))
def test_no_text_breaks_the_comparison(texts: list[str]) -> None:
    lines = "".join(f"- {text} [from: {at}, 2026-06-0{at + 1}]\n" for at, text in enumerate(texts))
    rows = placed("facts", "facts.md", parse_bullets(lines))
    for found in superseding(rows):
        assert found.old.bullet.raw != found.new.bullet.raw
    for pair in alike(rows, 50):
        assert 50 <= pair.score <= 100 and pair.first.bullet.raw != pair.second.bullet.raw


# --- the commands ----------------------------------------------------------------------------------------------------

FACTS = (
    "# Facts\n\n- The server listens on port 8080. [from: a, 2026-06-01]\n- Mine, by hand\n"
    "- the server listens on port 8080 [from: b, 2026-06-02]\n"
    "- The server listens on port 8081. [from: c, 2026-06-03]\n"
)


def run(home: Path, *words: str) -> tuple[int, str, str]:
    return call(*words, "--home", str(home))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "knowledge").mkdir()
    (tmp_path / "knowledge" / "facts.md").write_text(FACTS, encoding="utf-8")
    return tmp_path


def test_accepting_strikes_every_copy_and_undo_brings_them_back(home: Path) -> None:
    """The old statement leaves the digest with all its confirmations, stays readable, and can be brought back."""
    facts = home / "knowledge" / "facts.md"
    assert "possibly outdated: 1 bullet" in run(home, "status")[1]
    code, out, _ = run(home, "supersede", "accept", "port 8080")
    assert code == 0
    pointer = "  superseded by: The server listens on port 8081. [from: c, 2026-06-03]\n"
    assert facts.read_text(encoding="utf-8") == (
        "# Facts\n\n- ~~The server listens on port 8080.~~ [from: a, 2026-06-01]\n" + pointer + "- Mine, by hand\n"
        "- ~~the server listens on port 8080~~ [from: b, 2026-06-02]\n"
        + pointer
        + "- The server listens on port 8081. "
        "[from: c, 2026-06-03]\n"
    )
    digest = run(home, "digest", "on")[1]
    assert "8081" in digest and "8080" not in digest
    assert run(home, "supersede")[1] == "nothing seems to be outdated\n"
    undo = next(word.strip("'") for word in out.split() if word.startswith("edit-"))
    assert run(home, "undo", undo)[0] == 0
    assert facts.read_text(encoding="utf-8") == FACTS


def test_accepting_writes_all_lines_or_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that saves in the middle would leave half of a statement struck, and the answer would deny it."""
    facts = home / "knowledge" / "facts.md"
    first = log.replace_expected
    saves = ["- The server listens somewhere. [from: a, 2026-06-01]\n"]

    def save_between(path: Path, data: bytes, expected: bytes) -> bool:
        placed = first(path, data, expected)
        if saves:  # right after the first write, as often as one is made
            text = facts.read_text(encoding="utf-8")
            facts.write_text(text.replace("- The server listens on port 8080. [from: a, 2026-06-01]\n", saves.pop()))
        return placed

    monkeypatch.setattr(log, "replace_expected", save_between)
    code, out, err = run(home, "supersede", "accept", "port 8080")
    text = facts.read_text(encoding="utf-8")
    assert (code, err) == (0, "")
    assert text.count("superseded by: ") == 2 and "somewhere" not in text
    assert out.count("undo edit-") == 1
    facts.write_text(FACTS, encoding="utf-8")
    monkeypatch.setattr(log, "replace_expected", lambda path, data, expected: False)
    code, _, err = run(home, "supersede", "accept", "port 8080")
    assert code == 1 and "nothing was written" in err and facts.read_text(encoding="utf-8") == FACTS


def test_a_dismissed_pair_never_comes_back(home: Path) -> None:
    before = (home / "knowledge" / "facts.md").read_bytes()
    key = json.loads(run(home, "supersede", "--json")[1])[0]["key"]
    assert run(home, "supersede", "dismiss", key)[0] == 0
    assert run(home, "supersede")[1] == "nothing seems to be outdated\n"
    assert "outdated" not in run(home, "status")[1]
    assert (home / "knowledge" / "facts.md").read_bytes() == before


def test_two_dismissals_at_once_wait_for_each_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A double click, or a script beside the panel, is no reason to fail."""
    key = json.loads(run(home, "supersede", "--json")[1])[0]["key"]
    other, tries, take = locks.take(home / "knowledge" / ".state" / "dismissed.lock"), [], locks.take

    def let_go_at_the_second_try(path: Path, *, work: str = "") -> int:
        tries.append(path.name)
        if len(tries) == 2:
            os.close(other)
        return take(path, work=work)

    monkeypatch.setattr(locks, "take", let_go_at_the_second_try)
    assert run(home, "supersede", "dismiss", key)[0] == 0 and tries.count("dismissed.lock") == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("supersede", "accept", "zebra"), "knowledge: no proposal matches that. 'knowledge supersede' lists them.\n"),
        (("supersede", "accept"), "knowledge: name the old bullet: a part of its text, or FILE:LINE.\n"),
        (("similar", "--least", "10"), "knowledge: --least must be between 50 and 100.\n"),
    ],
)
def test_wrong_words_get_one_sentence(home: Path, words: tuple[str, ...], sentence: str) -> None:
    assert run(home, *words)[2] == sentence


def test_similar_lists_pairs_with_their_places(home: Path) -> None:
    out = run(home, "similar")[1]
    assert "facts.md:5 the server listens on port 8080" in out and "1 pair alike" in out


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("the port is 8080", "the port is 8081"),
        ("port 8080 for the server", "port 9090 for the server"),
        ("The cache is Redis", "The cache is Memcached"),
    ],
)
def test_what_was_typed_in_is_compared_like_what_was_harvested(tmp_path: Path, old: str, new: str) -> None:
    """The README's own example: both lines are by hand, and no conversation has weighed the one against the other."""
    for text in (old, new):
        assert run(tmp_path, "add", "facts", text)[0] == 0
    code, out, _ = run(tmp_path, "supersede")
    assert code == 0 and old in out and new in out and "1 " in out
    assert run(tmp_path, "supersede", "accept", old)[0] == 0
    assert f"~~{old}~~" in (tmp_path / "knowledge" / "facts.md").read_text()


def test_two_typed_lines_of_two_things_are_left_alone() -> None:
    for old, new in (
        ("Sort a file in ascending order", "Sort a file in random order"),
        ("Ask Ann for it", "Ask Bob for it"),
    ):
        lines = f"- {old} [from: by-hand, 2026-06-01]\n- {new} [from: by-hand, 2026-06-02]\n"
        assert superseding(placed("facts", "facts.md", parse_bullets(lines))) == []
