"""Words in too little room: if these fail, a user sees half a word, a path without its file, or a number in two."""

from __future__ import annotations

import pytest

from gui.geometry import Geometry, grown
from gui.toolkit.icons import icon
from gui.toolkit.letters import cells, cut, cut_path, tip_words, wrapped
from gui.toolkit.typeset import lettered, visible
from gui.views.conversations import COLUMNS, cell, row_of, tip
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself


def wide(words: str) -> float:
    return float(len(words))


@pytest.mark.parametrize(
    ("words", "room", "lines"),
    [
        ("in at most 4,096 bytes, and more", 14, ["in at most", "4,096 bytes,", "and more"]),
        ("see https://github.com/one/prompt_sail", 20, ["see", "https://github.com/", "one/prompt_sail"]),
        ("/tmp/home/.manual_slop/conversations", 24, ["/tmp/home/.manual_slop/", "conversations"]),
        ("fits as it is", 40, ["fits as it is"]),
        ("two\nlines", 40, ["two", "lines"]),
        ("検索は語と意味。両方で", 8, ["検索は語と意味。", "両方で"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("", 4, [""]),
        ("one  ·  two", 7, ["one", "two"]),
    ],
)
def test_words_wrap_at_spaces_and_paths_only_where_they_must(words: str, room: int, lines: list[str]) -> None:
    assert wrapped(words, room, wide).split("\n") == lines


@pytest.mark.parametrize("room", [-4, 0, 1, 3, 7, 20, 60])
def test_no_line_is_wider_than_its_room_and_no_letter_is_lost(room: int) -> None:
    words = "Read /a/very-long_path/of.some/kind?x=1 設計メモの検索 in 4,096 bytes, 12 s; а потом ещё 🔥 end."
    lines = wrapped(words, room, wide).split("\n")
    assert all(len(line) <= max(room, 1) for line in lines), "one letter stands in each where there is no room"
    assert "".join("".join(lines).split()) == "".join(words.split())


def test_what_is_cut_says_so_and_a_path_keeps_its_file() -> None:
    assert cut("Search and commands", 10, wide) == "Search an…"
    assert cut("Search", 6, wide) == "Search" and cut("Search", 2, wide) == ""
    assert cut_path("~/.manual_slop/conversations/retry-policy.md", 26, wide) == "~/.manual_…/retry-policy.md"[:9] + (
        "…/retry-policy.md"
    )
    assert cut_path("decisions.md", 8, wide) == "dec…s.md" and cut_path("decisions.md", 5, wide) == "deci…"
    for room in range(3, 50):
        assert len(cut_path("~/.manual_slop/conversations/retry-policy.md", room, wide)) <= room


def test_a_tooltip_is_never_wider_than_sixty_letters() -> None:
    path = "/srv/somebody/.manual_slop/conversations/" + "a-long-name-" * 9
    assert all(cells(line) <= 60 for line in tip_words(f"Harvested\n{path}\n設計{'メモ' * 40}").split("\n"))


def test_the_window_opens_larger_at_a_larger_scale_but_keeps_a_size_that_somebody_chose() -> None:
    assert (grown(Geometry(), 1.5).width, grown(Geometry(), 1.5).height) == (1920, 1200)
    assert grown(Geometry(), 1.0) == Geometry()
    chosen = Geometry(width=1400, height=950)
    assert grown(chosen, 1.5) == chosen


GAVE = next(at for at, column in enumerate(COLUMNS) if column.key == "gave")


def test_the_ledger_and_the_inspector_count_the_same_items() -> None:
    """A conversation of which all is held back would read as one that gave nothing."""
    entry = {"path": "/home/x/talk", "status": "harvested", "items": {"facts": 7, "tasks_open": 2}, "quarantined": 2}
    row = row_of("k", entry)
    shown, color = cell(row, GAVE, 0.0)
    assert [part[2:] for part in str(shown).split("   ")] == ["7", "2", "2"] and color == "muted"
    assert "7 facts  ·  2 tasks\n9 written, 2 held back" in tip(row) and row.items == 11
    held = row_of("k", {"path": "/x", "status": "harvested", "items": {"facts": 0}, "quarantined": 17})
    assert cell(held, GAVE, 0.0) == (f"{icon('shield')} 17", "edited")


def test_scripts_without_letters_are_named_and_not_shown_as_replacement_marks() -> None:
    """Rows of replacement marks look like a damaged file."""
    assert lettered("Mixed: שלום עולם, and שוב 2.4") == "Mixed: [Hebrew: open it in your editor], and [Hebrew] 2.4"
    assert visible("مرحبا retry.log") == "[Arabic: open it in your editor] retry.log"
    assert lettered("héllo, Привет, 日本語, 한국어") == "héllo, Привет, 日本語, 한국어"
    assert lettered("ქართული, հայերեն") == "[Georgian: open it in your editor]"
    assert lettered("தமிழ் 1") == "[Tamil: open it in your editor] 1"


def test_a_row_says_that_its_script_cannot_be_shown(desk: Desk) -> None:
    """Memories, quotes and notes stood as rows of replacement marks, and nothing said so."""
    from gui.toolkit.flow import FlowList
    from gui.toolkit.flow_rows import FlowRow
    from gui.toolkit.layout import box
    from gui.toolkit.rows import Line, Rows

    flow = FlowList(desk.look)
    flow.build(box(desk.look, desk.page, width=500, height=300))
    flow.set_rows([FlowRow(1, "Say `שלום` first", "مرحبا", code=((4, 10),)), FlowRow(2, "日本語 only")])
    desk.frames(5)
    said = [one.get("text", "") for one in desk.drawn(flow.canvas.drawn)]
    assert "[Arabic: open it in your editor]" in said and "日本語 only" in said
    assert any("[Hebrew: open it in your editor]" in words for words in said)
    lines = Rows(desk.look, desk.page, print)
    lines.set([Line("שלום", ("", ""))])
    desk.frames(5)
    assert any("[Hebrew" in one.get("text", "") for one in desk.drawn(lines.drawing.item)), "nor in the left column"
