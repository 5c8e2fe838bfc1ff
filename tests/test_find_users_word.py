"""What the user wrote, changed and left open, and names with their punctuation: `find` tells it before what merely
shares words with the question."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from core.cli.main import main
from tests.cli_call import call
from tests.shop import kept, shop_fixture, turn  # noqa: F401 - pytest finds the fixture by itself


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def found(*words: str) -> list[str]:
    code, out, err = call("find", *words)
    assert code == 0, err
    return out.splitlines()


def listed_id(words: str) -> str:
    return next(row.split()[0] for row in call("list", "--project", "all")[1].splitlines() if words in row)


def test_a_line_that_was_written_by_hand_holds_in_each_project(shop: Path) -> None:
    """It stood behind each hit of the project, or beyond the fifth, where nobody saw it."""
    call("add", "decisions", "make is banned: it was too slow on CI")
    first = found("why is make banned?")[0]
    assert "too slow on CI" in first and "weak" not in first


def test_all_projects_are_searched_when_they_are_named(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--project all` searched the project around the folder; outside of one it told that a server has no project."""
    (other := shop.parent / "farm").mkdir()
    kept("s9", [turn("user", "Which pump waters the quinces?", 0, "s9", other)])
    assert "quinces" in found("pump of the quinces", "--project", "all")[0]
    monkeypatch.chdir(Path.home())
    assert "quinces" in found("pump of the quinces", "--project", "all")[0]


def test_what_was_changed_stands_before_what_was_said_once(shop: Path) -> None:
    """After an edit the conversation went on telling the old hour first, and nothing said that it is not so."""
    rule = "Always run the nightly upload at 03:00, never before that."
    said = [{"type": "text", "text": "Understood."}]
    kept("s8", [turn("user", rule, 0, "s8", shop), turn("assistant", said, 1, "s8", shop)])
    assert call("harvest", "--apply", "--now", "--source", "claude_code")[0] == 0
    call("edit", listed_id("03:00"), rule.replace("03:00", "04:15"))
    first, second, *_ = found("when does the nightly upload run?")
    assert "04:15" in first and "the user changed" not in first
    assert "03:00" in second and "the user changed on" in second
    hits = json.loads(call("find", "when does the nightly upload run?", "--json")[1])["hits"]
    assert [("against" in hit) for hit in hits[:2]] == [False, True]
    call("retract", listed_id("04:15"))
    rows = found("when does the nightly upload run?")
    assert all("the user" in row for row in rows if "03:00" in row) and not any("04:15" in row for row in rows[:1])


def test_what_still_holds_in_other_words_is_not_marked(shop: Path) -> None:
    """A line that was made more exact, or that was one word, marked each conversation that shares its words."""
    kept("s8", [turn("user", "We use Redis 7 for the session cache of the shop now.", 0, "s8", shop)])
    call("add", "facts", "We use Redis for the session cache of the shop.")
    call("edit", listed_id("Redis"), "We use Redis 7 for the session cache of the shop.")
    call("add", "facts", "Redis")
    call("rm", "facts.md:4")
    assert not any("the user" in row for row in found("which Redis is the session cache?"))


@pytest.mark.parametrize("question", ["what is still open?", "open tasks", "what is left to do", "offene Aufgaben"])
def test_who_asks_what_is_open_is_told_the_open_tasks(shop: Path, question: str) -> None:
    call("add", "tasks", "Write the page on thumbnails")
    call("add", "tasks", "Order the labels")
    call("done", "Order the labels")
    rows = found(question)
    assert "Write the page on thumbnails" in rows[0] and "weak" not in rows[0] and "no task is open" not in str(rows)
    assert not any("Order the labels" in row for row in rows)
    assert "Order the labels → tasks.md" in found("who orders the labels")[0]
    assert "(done)" in found("who orders the labels")[0]
    assert not any("thumbnails" in row for row in found(question, "--kind", "conversation", "--before", "2020-01-01"))


def test_where_nothing_is_open_and_where_nothing_fits_that_is_said_first(shop: Path) -> None:
    """Five scraps of talks stood above the sentence that nobody had said it."""
    call("add", "tasks", "Order the labels")
    call("done", "Order the labels")
    kept("s7", [turn("user", "What is open on Sundays, and which task is left?", 0, "s7", shop)])
    assert "no task is open" in str(found("which task is still open?"))
    rows = found("bake sourdough bread on Sundays")
    assert rows[0].startswith("(weak: ") and "nobody said bake, sourdough, bread" in rows[0]


def test_a_word_that_was_taken_for_another_is_told(shop: Path) -> None:
    """A captcha was "catch", and the answer sure."""
    kept("s7", [turn("user", "Catch the thunder of the exporter in rows.py", 0, "s7", shop)])
    rows = found("captcha")
    assert "nobody said captcha: it was taken for catch" in rows[0] and "[weak; " in rows[1]
    rows = found("which thundre of the exporter was caught in rows.py?")
    assert "→ s7:1" in rows[0] and "weak" not in rows[0]
    assert rows[-1] == "(nobody said thundre: it was taken for thunder)"
    assert "nobody said" not in str(found("the thunder of the exporter in rows.py"))


def test_a_hit_that_only_says_again_what_stands_before_it_makes_room_for_another(shop: Path) -> None:
    """Of two that fitted one was shown, and the third only to who asked for more."""
    again = "The exporter writes all of the rows of the shop for the bank"
    for said in (again, f"{again} today", "The exporter of rows needs a key of the bank, a lamp and a long walk"):
        call("add", "facts", said)
    rows = found("exporter rows", "--kind", "bullet", "--limit", "2")
    assert [row.partition("] ")[2].partition(" →")[0] for row in rows if row[:1].isdigit()] == [
        again,
        "The exporter of rows needs a key of the bank, a lamp and a long walk",
    ]


def test_a_name_is_found_as_it_is_spelled_or_told_to_be_nowhere(shop: Path) -> None:
    """`MAX_SIZE` was taken for two words: what had either came first, and unmarked where nothing has the name."""
    kept("s7", [turn("user", "The size of the label must be at the max, please", 0, "s7", shop)])
    kept("s6", [turn("user", "Set LABEL_MAX_SIZE to 40 in config.py", 0, "s6", shop)])
    rows = found("LABEL_MAX_SIZE")
    assert "→ s6:1" in rows[0] and not any("→ s7" in row for row in rows)
    rows = found("LABEL_MIN_SIZE")
    assert "'label_min_size' stands nowhere" in rows[0] and all("[weak" in row for row in rows if "→" in row)


def test_what_a_date_leaves_out_is_not_called_never_said(shop: Path) -> None:
    kept("s5", [turn("user", "Print the zebra labels", 0, "s5", shop)])
    assert "zebra" in found("zebra")[0]
    told = " ".join(found("zebra", "--before", "2020-01-01"))
    assert "never said" not in told and "without a date" in told


def test_a_person_at_a_terminal_reads_lines_of_their_width(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hit was one line of 2,000 characters, with its place at the end of it."""
    monkeypatch.setenv("COLUMNS", "80")
    said = [{"type": "text", "text": "The zebra labels are printed twice. " + "Each pallet has two sides. " * 60}]
    kept("s4", [turn("user", "Why two zebra labels?", 0, "s4", shop), turn("assistant", said, 1, "s4", shop)])
    out, terminal = found("zebra labels"), Terminal()
    assert main(["find", "zebra labels"], terminal, io.StringIO()) == 0
    rows = terminal.getvalue().splitlines()
    assert len(out[0]) > 80 and "→ s4" in rows[0] and rows[1].startswith("   [1 user] Why two zebra labels?")
    assert all(len(row) <= 80 for row in rows) and len(rows) < 30


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("clinet", "clients"), ("clinets", "client"), ("invoce", "invoices"), ("tenent", "tenants"),
        ("uberweisng", "überweisung"), ("wahrungskurrs", "währungskurs"), ("facadde", "façade"),
    ],
)  # fmt: skip
def test_a_slip_in_a_word_with_marks_or_of_a_plural_is_set_right(shop: Path, typed: str, said: str) -> None:
    """That a word was never said tells an agent to stop searching."""
    kept("s7", [turn("user", f"The {said} of the exporter in rows.py", 0, "s7", shop)])
    assert f"nobody said {typed}: it was taken for {said}" in str(found(typed)) and "→ s7:1" in str(found(typed))


def test_a_word_that_only_another_project_has_is_not_told(shop: Path) -> None:
    """Its conversations are not searched from here, and its names are its own."""
    other = shop.with_name("other")
    other.mkdir()
    kept("s6", [turn("user", "The zanzibar key of the bank is in the vault", 0, "s6", other)])
    kept("s7", [turn("user", "How do we roll out the server of the shop?", 0, "s7", shop)])
    rows = str(found("server zanzibaar", "--project", str(shop)))
    assert "→ s7:1" in rows and "nobody said zanzibaar" in rows and "zanzibar " not in rows and "zanzibar)" not in rows
