"""A query that names a date finds what was said then, and one that does not is not taken for a date."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.when import FAR, Moment, closeness, match_dates, moments_of
from tests.search_shelf import Shelf


@pytest.mark.parametrize(
    ("text", "moments"),
    [
        ("what broke on 11 December, 2025?", [(2025, 12, 11)]),
        ("what broke on December 11th, 2025?", [(2025, 12, 11)]),
        ("on the 3rd of June", [(0, 6, 3)]),
        ("plans of January 2026", [(2026, 1, 0)]),
        ("decided in May", [(0, 5, 0)]),
        ("backup 2026-05-03 failed", [(2026, 5, 3)]),
        ("backup 2026-05", [(2026, 5, 0)]),
        ("what did we ship in 2025", [(2025, 0, 0)]),
        ("Sept. 3 and Oct 4", [(0, 9, 3), (0, 10, 4)]),
        ("29 February", [(0, 2, 29)]),
    ],
)
def test_dates_are_read_as_people_write_them(text: str, moments: list[tuple[int, int, int]]) -> None:
    assert moments_of(text) == tuple(Moment(*one) for one in moments)


WORDS = ["", "may I ask", "a march of ants", "mar and dec"]
NUMBERS = ["port 8080", "31 June", "2026-13-40", "1.2026-05-3.4", "123456"]


@pytest.mark.parametrize("text", WORDS + NUMBERS)
def test_what_is_no_date_is_none(text: str) -> None:
    """A number or a verb does not push what was asked for off the list."""
    assert moments_of(text) == ()


def test_closer_days_count_more_and_any_year_will_do() -> None:
    """What was said the day after comes before what was said a month later."""
    asked = moments_of("on 3 June")
    assert closeness(asked, "2024-06-03") == (1, 0, 0)
    later, latest = closeness(asked, "2024-06-04"), closeness(asked, "2024-07-04")
    assert later.within == 0 and later.after > latest.after > 0
    assert closeness(moments_of("in May 2026"), "2026-04-30").before > 0.8
    assert closeness(moments_of("29 February 2024"), "2023-02-28").after == 0
    assert closeness(asked, "no date") == closeness((), "2024-06-03") == FAR


@given(text=st.text(max_size=80), day=st.text(max_size=12))
def test_any_text_may_be_asked(text: str, day: str) -> None:
    """No query and no date in a file ends in an error, and what goes to the database is always well formed."""
    moments = moments_of(text)
    assert all(0 <= value <= 1 for value in closeness(moments, day))
    assert match_dates(moments).count('"') % 2 == 0


@given(year=st.integers(0, 9999), month=st.integers(0, 99), day=st.integers(0, 99))
def test_days_that_the_calendar_lacks_are_none(year: int, month: int, day: int) -> None:
    for moment in moments_of(f"{year:04}-{month:02}-{day:02}"):
        assert closeness([moment], f"{year:04}-{month:02}-{day:02}").within == 1


def test_an_entry_is_found_by_its_date(tmp_path: Path) -> None:
    """Someone who remembers only the day gets what was noted on it, and is shown why."""
    shelf = Shelf(tmp_path)
    shelf.write(
        "a", "bullet|2026-05-02|||The exporter listens on port 8080", "bullet|2026-03-09|||Backups run at night"
    )
    shelf.write("b", "bullet|2026-03-20|||Restores take an hour", "bullet|2025-01-01|||Nothing was on this day")
    hits = shelf.find("what happened on 9 March 2026")
    assert hits[0].entry.text == "Backups run at night"
    assert "date: 2026-03-09" in hits[0].why
    assert shelf.texts("exporter port in March")[0] == "The exporter listens on port 8080"
