"""A name that stands nowhere is not answered with whatever shares an ending or a number with it, and a date not with
every text that was written on a day of that number."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.base.entry import Entry
from core.search.query import search
from tests.search_shelf import Shelf, indexed

LINES = (
    "Run app.py with Python 3",
    "The store keeps one session for each user",
    "ConfigLoader reads toml",
    "The C compiler is clang",
    "Closes the issue 42 and takes 11 seconds",
    "Our cli prints JSON",
)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.write("lines", *LINES)
    return made


@pytest.mark.parametrize("query", ["manage_x.py", "C++", "3.11", "x.toml", "C#", "-c", "v2.py", "2.11", "42.11"])
def test_a_name_that_is_nowhere_brings_no_fragments(shelf: Shelf, query: str) -> None:
    """Someone looks for a file or a language that the store does not know: eight hits for `py` would hide that."""
    assert shelf.texts(query) == []


@pytest.mark.parametrize(
    ("query", "text", "why"),
    [
        ("session_store.py", LINES[1], "part of the name: session, store"),
        ("co-cli", LINES[5], "part of the name: cli"),
        ("src/app.py", LINES[0], "part of the name: app"),
        ("#42", LINES[4], "part of the name: 42"),
        ("config_loader.toml", LINES[2], "begins like: config, loader"),
        ("session-store", LINES[1], "part of the name: session, store"),
        ("app.py", LINES[0], "exact: app.py"),
        ("store session", LINES[1], "words: session, store"),
        ("py", LINES[0], "words: py"),
    ],
)
def test_a_part_of_a_name_is_said_to_be_one(shelf: Shelf, query: str, text: str, why: str) -> None:
    """What may still be meant is shown, and cannot be taken for the name itself."""
    (hit,) = shelf.find(query)
    assert (hit.entry.text, hit.why[0]) == (text, why)


@pytest.mark.parametrize("literal", ["C++", "3.11", "session_store.py", "co-cli", "src/app.py", "-v", "x.y", "数据.md"])
def test_what_stands_there_as_typed_is_always_found(shelf: Shelf, literal: str) -> None:
    """Nothing that has the letters of the query is left out, whatever they are a part of."""
    shelf.write("more", f"Note that {literal} is meant", f"and again x{literal}x in a word")
    assert {"Note", "and"} <= {text.split()[0] for text in shelf.texts(literal)}


def test_the_number_of_a_day_is_no_reason(tmp_path: Path) -> None:
    """Whoever asks for a day gets what was said on it or names it, and not every text with that number."""
    shelf = Shelf(tmp_path)
    shelf.write(
        "a",
        "bullet|2026-11-21|||Backups run at night",
        "bullet|2026-11-23|||Restores of 21 disks take an hour",
        "bullet|2026-05-21|||Told on another 21st",
        "bullet|2026-05-02|||The window is 21 wide",
        "bullet|2026-05-03|||The release is planned for 21 November",
        "bullet|2026-05-04|||The freeze begins on 2026-11-21",
    )
    why = {hit.entry.text: hit.why for hit in shelf.find("on 21 November")}
    assert why == {
        "Backups run at night": ("date: 2026-11-21",),
        "The release is planned for 21 November": ("words: november",),
        "The freeze begins on 2026-11-21": ("names the date",),
    }
    assert shelf.find("21 disks")[0].why == ("exact: 21 disks", "words: 21, disks")


@pytest.mark.parametrize("query", ["in May 2026", "3.11", "on 21 November"])
def test_the_date_of_an_entry_is_no_reason_for_its_numbers(query: str, tmp_path: Path) -> None:
    """A fact has its date beside the text and no source in brackets: all facts of a year would be `related`."""
    dates = ((3, "a"), (11, "b"))
    rows = [Entry("fact", f"f:{at}", "", f"Fact {name}", f"2026-{at:02}-21") for at, name in dates]
    with indexed(tmp_path, rows) as index:
        found = {hit.entry.text: hit.why for hit in search(index, query)}
    assert found == ({"Fact b": ("date: 2026-11-21",)} if "November" in query else {})
