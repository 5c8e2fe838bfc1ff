"""Notes beside their source files: if these fail, a user cannot see what a note is about, or loses it on a rename."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.result import Ok, attempt
from core.commands import bullets
from core.commands.panel.files import notes_overview
from core.commands.workspace import Workspace
from gui.toolkit.source_lines import LETTER, LONGEST, PITCH, colored, drawable, rows_of
from gui.views.files import FilesView, cell, headline, load, looks_of, note_rows, tree
from tests.gui_stand import Stand, standing
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import make_home
from tests.panel_desk import at_home_fixture, control_of, seated  # noqa: F401

CODE = "import os\n\n\ndef boil(water):\n    return water * 2  # お湯\n\n\nLIMIT = 8\n" + "\n".join(
    f"line_{number} = {number}" for number in range(9, 400)
)


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    (project / "kettle.py").write_text(CODE, encoding="utf-8")
    (project / "設計.md").write_text("# 設計\n", encoding="utf-8")
    notes = [
        ("kettle.py", "The whole file is about tea"), ("kettle.py", "`boil()` doubles the water"),
        ("kettle.py", "see line 300 for the odd number"), ("設計.md", "the plan"),
    ]  # fmt: skip
    for name, text in notes:
        assert isinstance(attempt(bullets.add, workspace, "files", text, file=str(project / name)), Ok)
    return workspace


stand_fixture = standing(FilesView, 1200)


def shown_lines(stand: Stand) -> dict[int, str]:
    """Numbers and lines of the source that are in sight; a line is drawn in one text for each stretch of a colour."""
    source, found = stand.view.source, dict[int, str]()
    canvas = source.canvas
    pool = canvas.pen._by_role["mono"]
    drawn = sorted((y + canvas._from, x, words) for x, y, words, _color in pool._shown[: pool.used])
    begin = 0.0
    for y, x, words in drawn:
        name = words.strip().split(" ")[-1]
        if x < 20 and name.isdecimal() and canvas.scroll <= y <= canvas.scroll + canvas.tall:
            line = ""
            for at, left, said in drawn:
                if at == y and left > 20:
                    begin = begin if line else left
                    line = line.ljust(round((left - begin) / LETTER)) + said  # blanks are not drawn
            found[int(name)] = line
    return found


def test_notes_stand_in_the_order_of_their_lines(home: Workspace, tmp_path: Path) -> None:
    data = notes_overview(home, None)
    assert [os.path.basename(note.source) for note in data.notes] == ["kettle.py", "設計.md"]
    loaded = load(home, data.notes[0])
    assert loaded.spans == (None, (4, 4), (300, 300)) and loaded.marks == {4, 300} and loaded.lines[7] == "LIMIT = 8"
    assert [row.meta.split("  ·  ")[0] for row in note_rows(loaded)] == ["whole file", "line 4", "line 300"]
    assert headline(data.notes[0]) == ("", "hint")
    os.remove(data.notes[0].source)
    gone = notes_overview(home, data).notes[0]
    assert looks_of(gone)[1] == "failed" and "not there any more" in headline(gone)[0]
    missing = load(home, gone)
    assert missing.problem is not None and len(note_rows(missing)) == 3


def test_a_long_file_is_made_ready_by_the_worker(home: Workspace, tmp_path: Path) -> None:
    """The window stood still for as long as two megabytes in Arabic took."""
    (tmp_path / "project" / "kettle.py").write_text("\tקפה\n", encoding="utf-8")
    assert load(home, notes_overview(home, None).notes[0]).lines == ("    [Hebrew: open it in your editor]",)


def test_the_tree_has_the_folders_of_files_with_notes_and_no_other(home: Workspace) -> None:
    """A user finds a file where it lies on the disk, and sees which folder has how many notes."""
    note = notes_overview(home, None).notes[0]
    names = ("/srv/shelf/src/export.py", "/srv/shelf/src/a/b/cli.ts", "/srv/shelf/AGENTS.md", "/srv/harbor/x/y.py", "")
    notes = [replace(note, source=name, exists=name != "/srv/harbor/x/y.py") for name in names]
    rows = tree(notes)
    assert [(row.depth, row.name, row.number) for row in rows] == [
        (0, "Nobody knows where", 3), (1, os.path.basename(note.note), 3), (0, "/srv", 12), (1, "harbor/x", 3),
        (2, "y.py", 3), (1, "shelf", 9), (2, "src", 6), (3, "a/b", 3), (4, "cli.ts", 3), (3, "export.py", 3),
        (2, "AGENTS.md", 3),
    ]  # fmt: skip
    assert [row.name for row in tree(notes, {"/srv/shelf"})][-2:] == ["y.py", "shelf"], "folded"
    other = tree([replace(note, source="/srv/קפה/תה.py")])
    told = [cell(row, note if row.at >= 0 else None, 0)[0].split("  ")[-1] for row in other]
    assert told == ["/srv/[Hebrew: open it in your editor]", "[Hebrew: open it in your editor].py"], "rows of boxes"
    assert cell(rows[4], notes[rows[4].at], 1) == "gone, 3" and cell(rows[5], None, 1) == "9"


def test_a_line_of_any_kind_can_be_drawn() -> None:
    assert drawable("\tx") == "    x" and drawable("a\x1b[0mb") == "a\ufffd[0mb" and drawable("日本") == "日本"
    assert len(drawable("x" * 5000)) == LONGEST + 1 and drawable("# קפה") == "# [Hebrew: open it in your editor]"
    assert drawable("ק" * 3000).endswith("…") and len(drawable("קx" * 3000)) == LONGEST + 1


def test_a_note_stands_at_the_height_of_its_line_and_leads_there(stand: Stand) -> None:
    """Beside another line it would explain what it is not about."""
    view, dpg = stand.view, stand.desk.dpg
    assert shown_lines(stand)[4] == "def boil(water):" and 300 not in shown_lines(stand)
    stand.click(stand.slot("boil() doubles the water"))
    assert shown_lines(stand)[4] == "def boil(water):" and view.source.lit == (4, 4)
    note, bar = view.list.heights.tops[1], dpg.get_item_pos(view.list.bar.item)[1]
    assert note < bar < note + 90, "its buttons stand at the note, however far the next one is"
    assert stand.shell.state.selected.kind == "bullet" and stand.shell.state.selected.key.startswith("files/")
    stand.press("End")
    assert shown_lines(stand)[300] == "line_300 = 300" and view.source.lit == (300, 300)
    assert stand.desk.until(lambda: view.list.canvas.scroll == view.source.canvas.scroll > 0)
    stand.settle()
    at = view.list.position(stand.row("see line 300 for the odd number").key)
    assert view.list.heights.tops[at] == view.source.top_of(300)
    before = view.source.canvas.scroll
    stand.click(stand.slot("see line 300 for the odd number"))
    assert view.source.canvas.scroll == before, "what is in sight does not move"
    boxes = [one["pmax"][1] - one["pmin"][1] for one in stand.desk.drawn(view.list.canvas.drawn) if "pmin" in one]
    assert max(boxes) < 90, "the colour behind the note ends with it, not with the file"
    view.source.scroll_by(-0.5)
    stand.settle()
    assert dpg.get_y_scroll(view.list.holder) == dpg.get_y_scroll(view.source.item), "both move as one"


def test_in_a_narrow_window_a_note_stands_below_its_line(desk: Desk, stand: Stand, home: Workspace) -> None:
    """Beside eighty letters of text there is no room for it, and below 1,080 it would hide what it is about."""
    assert not any(row.note for row in stand.view.source.rows)
    stand.close()
    bullets.add(home, "files", "`LIMIT` is גבול", file=str(home.paths.home.parent / "project" / "kettle.py"))
    narrow = Stand(desk, home, FilesView, width=800)
    try:
        source = narrow.view.source
        at = next(at for at, row in enumerate(source.rows) if row.note.startswith("boil() doubles the water"))
        assert source.lines[source.rows[at - 1].line] == "def boil(water):" and not narrow.view.columns.shown
        source._clicked(50.0, (at + 0.5) * narrow.look.px(PITCH), 0.0)
        narrow.settle()
        assert narrow.shell.state.selected.kind == "bullet" and source.lit == (4, 4)
        assert any("[Hebrew: open it in your editor]" in row.note for row in source.rows)
        narrow.press("Delete")
        assert not any(row.note.startswith("boil() doubles") for row in source.rows)
    finally:
        narrow.close()


def test_a_file_renamed_outside_is_still_there_with_its_notes(stand: Stand, tmp_path: Path) -> None:
    (tmp_path / "project" / "kettle.py").rename(tmp_path / "project" / "teapot.py")
    stand.read_again()
    value = stand.desk.dpg.get_value
    assert stand.desk.until(lambda: value(stand.view.path).endswith("teapot.py"))
    stand.settle()
    assert "It was renamed; before, it was" in value(stand.view._head) and len(stand.view.list.rows) == 3
    assert shown_lines(stand)[4] == "def boil(water):"


def test_a_file_that_is_gone_keeps_its_notes_and_says_so(stand: Stand, tmp_path: Path) -> None:
    (tmp_path / "project" / "kettle.py").unlink()
    stand.read_again()
    value = stand.desk.dpg.get_value
    assert stand.desk.until(lambda: "not there any more" in value(stand.view._head))
    stand.settle()
    assert len(stand.view.list.rows) == 3 and not stand.desk.dpg.is_item_shown(stand.view.source.item)
    assert "The file is not there any more" in value(stand.view._no_text)


def test_a_file_saved_outside_is_shown_anew_at_the_same_place(stand: Stand, tmp_path: Path) -> None:
    stand.view.source.light(300, 300)
    stand.settle()
    source = tmp_path / "project" / "kettle.py"
    source.write_text(CODE.replace("line_300 = 300", "line_300 = 'new'"), encoding="utf-8")
    assert stand.desk.until(lambda: shown_lines(stand).get(300) == "line_300 = 'new'")


def test_the_source_that_is_shown_is_watched(desk: Desk, home: Workspace, tmp_path: Path) -> None:
    """Notes beside a text that is an hour old stand at the wrong lines. Nobody presses anything."""
    with seated(desk, home) as seat:
        desk.press(control_of("files"))
        view = seat.panel.workbench.views["files"]
        seat.until(lambda: view.loaded is not None and seat.panel.homes._watcher.ready.is_set())
        source = tmp_path / "project" / "kettle.py"
        assert view.note.source == str(source)
        source.write_text("print('new')\n", encoding="utf-8")
        seat.until(lambda: view.loaded.lines == ("print('new')",))
        source = source.rename(tmp_path / "project" / "teapot.py")
        seat.until(lambda: view.loaded.note.source == str(source))
        source.unlink()
        seat.until(lambda: view.loaded.problem is not None)


def test_keys_alone_choose_a_file_a_note_and_delete_it(stand: Stand, home: Workspace) -> None:
    view = stand.view
    assert view.note.source.endswith("kettle.py")
    stand.press("Down", "Down")
    assert view.note.source.endswith("設計.md") and stand.shell.state.selected.kind == ""
    stand.press("Up", "Right", "Down", "Delete")
    notes = notes_overview(home, None).notes[0]
    assert [row.bullet.text for row in notes.rows] == ["The whole file is about tea", "see line 300 for the odd number"]
    stand.click(stand.toast()[1])
    assert len(notes_overview(home, None).notes[0].rows) == 3


def test_a_selection_from_elsewhere_brings_its_file_and_line(stand: Stand, tmp_path: Path) -> None:
    stand.shell.select("source", str(tmp_path / "project" / "設計.md"))
    stand.settle()
    assert stand.view.note.source.endswith("設計.md")
    stand.shell.select("source", str(tmp_path / "project" / "kettle.py"), line=200)
    stand.settle()
    assert 200 in shown_lines(stand) and stand.view.source.lit == (200, 200)


def test_scrolling_and_refreshing_make_no_item(stand: Stand, tmp_path: Path, home: Workspace) -> None:
    big = tmp_path / "project" / "big.py"
    big.write_text("x = 1\n" * 100_000, encoding="utf-8")
    bullets.add(home, "files", "a big one", file=str(big))
    stand.read_again()
    stand.shell.select("source", str(big))
    stand.settle()
    before = 0
    for line in (90_000, 5, 100_000, 90_000, 5):
        before = stand.desk.items() if line == 100_000 else before  # what draws a screen of it comes from pools
        stand.view.source.light(line, line)
        stand.desk.frames(4)
        assert line in shown_lines(stand)
    stand.read_again()
    assert stand.desk.items() == before


def test_without_notes_it_teaches(desk: Desk, tmp_path: Path) -> None:
    from gui.views.files import FilesView

    stand = Stand(desk, make_home(tmp_path), FilesView, width=640)
    assert desk.dpg.is_item_shown(stand.view._none.item) and not desk.dpg.is_item_shown(stand.view._full)
    stand.close()


def test_a_source_is_in_colour_and_broken_where_it_is_too_long() -> None:
    """Every letter of the file is there, in its order, whatever the width; colours stand where their words are."""
    lines = ["def total(rows: list) -> int:  # of an invoice", '    return "половина" + str(12)', "x = 1", ""]
    spans = colored("shop.py", lines)
    kinds = {kind for line in spans for _, _, kind in line}
    assert {"code-word", "code-note", "code-text", "code-number"} <= kinds
    for columns in (12, 20, 30, 200):
        rows = rows_of(lines, columns)
        assert ["".join(lines[at][row.start : row.end] for row in rows if row.line == at) for at in range(4)] == lines
        assert all(len(lines[row.line][row.start : row.end].rstrip()) + row.indent <= columns for row in rows)
    assert next(lines[1][a:b] for a, b, kind in spans[1] if kind == "code-number") == "12", "also behind wide letters"
    assert colored("notes.unknown-kind", lines) == ()
