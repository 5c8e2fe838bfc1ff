"""Words that are typed at once, as quick as a hand on a slow machine: none of them is lost, and none does anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.base.result import Ok, attempt
from core.commands.bullets import add
from gui.toolkit.keys import KeyGate
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import Seat, at_home_fixture, control_of, harvested_at, seated, workspace_at  # noqa: F401

LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
# What a plain letter may do: show something, begin to write, or what its toast takes back with Undo.
ALLOWED = {
    "conversations": {"M"},  # a menu
    # what wants a look: yes, no, later, read it; each but the last is taken back with Undo
    "knowledge": {"N", "E", "S", "W", "Y", "L", "R", "U"},
    "files": {"S"},
    # how the chosen passage served, and ways to what it is about; another kind of task, order or period is shown
    "library": {"W", "P", "M", "L", "N", "G", "R", "U", "T", "S", "D"},
    "memories": {"N", "E", "R", "O"},
    "settings": {"O"},  # opens the file
    "search": {"I"},
}


def at_once(seat: Seat, *words: str) -> None:
    """Let xdotool do all of it before the next frame, and wait for what comes of it."""
    seat.desk.xdotool(*words)
    seat.desk.frames(12)
    seat.settle()


def value_of(seat: Seat, item: int) -> str:
    return str(seat.desk.dpg.get_value(item))


def test_search_takes_every_word_however_one_came_there(desk: Desk, at_home: Path) -> None:
    """A user opens Search and types: by number, by mouse, and again after a look at the list."""
    workspace = workspace_at(at_home)
    before = workspace.loaded.file.read_bytes()
    with seated(desk, workspace) as seat:
        light = seat.panel.look.palette.name
        at_once(seat, "key", "ctrl+k", "type", "--delay", "1", "Dt flask 4")
        view: Any = seat.panel.workbench.views["search"]
        assert value_of(seat, view.filter) == "Dt flask 4" == view.words
        assert workspace.loaded.file.read_bytes() == before and seat.panel.look.palette.name == light
        desk.press(control_of("conversations"))
        assert seat.state.view == "conversations" and not seat.panel.look.typing()
        desk.press(control_of("knowledge"))
        assert seat.state.view == "knowledge"
        desk.click(seat.panel.header.search)
        at_once(seat, "type", "--delay", "1", "retry")
        assert value_of(seat, view.filter) == "retry"
        desk.press("Escape")
        desk.frames(3)
        assert not seat.panel.look.typing()
        at_once(seat, "type", "--delay", "1", "session")
        assert value_of(seat, view.filter) == "session" == view.words


def test_the_first_letters_after_a_key_that_opens_a_field_are_not_lost(desk: Desk, at_home: Path) -> None:
    """Slash, Ctrl+K, N and E are pressed by hands that go on at once."""
    workspace = harvested_at(at_home)
    assert isinstance(attempt(add, workspace, "facts", "The kettle boils"), Ok)
    with seated(desk, workspace) as seat:
        search: Any = seat.panel.workbench.views["search"]
        at_once(seat, "key", "slash", "type", "--delay", "1", "flask endpoint")
        assert value_of(seat, search.filter) == "flask endpoint"
        desk.press("Escape")
        desk.press("Escape")
        desk.xdotool("key", "ctrl+k", "type", "--delay", "1", ">go to files")
        at_once(seat, "key", "Return")
        assert seat.state.view == "files"
        at_once(seat, "key", control_of("knowledge"), "key", "n", "type", "--delay", "1", "So it is")
        view: Any = seat.panel.workbench.views["knowledge"]
        assert view.session.editor.words == "So it is"
        at_once(seat, "key", "ctrl+Return")
        assert {"So it is", "The kettle boils"} <= {row.text for row in view.list.rows}


def test_a_line_is_added_at_once_to_a_list_longer_than_the_window(desk: Desk, at_home: Path) -> None:
    """The new row stands above all others before the list has a size: out of sight, it would never get the keyboard."""
    workspace = workspace_at(at_home)
    for number in range(40):
        assert isinstance(attempt(add, workspace, "facts", f"The kettle number {number} boils"), Ok)
    with seated(desk, workspace) as seat:
        at_once(seat, "key", control_of("knowledge"), "key", "n", "type", "--delay", "1", "So it is")
        view: Any = seat.panel.workbench.views["knowledge"]
        assert view.session.editor.words == "So it is" and view.list.canvas.scroll == 0


def test_words_that_were_not_saved_are_there_again_after_the_window_was_closed(desk: Desk, at_home: Path) -> None:
    workspace = workspace_at(at_home)
    assert isinstance(attempt(add, workspace, "facts", "The kettle boils"), Ok)
    with seated(desk, workspace) as seat:
        desk.press(control_of("knowledge"))
        seat.settle()
        desk.press("Down")
        at_once(seat, "key", "e", "type", "--delay", "1", "Mine: ")
        choices = seat.panel.choices()
    assert isinstance(attempt(add, workspace, "facts", "Another"), Ok)
    elsewhere = workspace_at(at_home / "elsewhere")
    assert isinstance(attempt(add, elsewhere, "facts", "The kettle boils"), Ok)
    with seated(desk, elsewhere, choices=choices) as seat:
        other: Any = seat.panel.workbench.views["knowledge"]
        assert not other.is_editing
        choices = seat.panel.choices()
    with seated(desk, workspace, choices=choices) as seat:
        view: Any = seat.panel.workbench.views["knowledge"]
        assert view.session.editor.words == "Mine: The kettle boils"
        at_once(seat, "key", "ctrl+Return")
        rows = {row.text for row in view.list.rows}
        assert {"Mine: The kettle boils", "Another"} <= rows and "The kettle boils" not in rows
        assert "unsaved" not in seat.panel.choices()


def test_an_edit_and_the_next_key_at_once_are_both_done(desk: Desk, at_home: Path) -> None:
    """The panel must not take its own write for somebody else's."""
    workspace = workspace_at(at_home)
    for words in ("The first", "The second", "The third"):
        assert isinstance(attempt(add, workspace, "facts", words), Ok)
    with seated(desk, workspace) as seat:
        desk.press(control_of("knowledge"))
        seat.settle()
        view: Any = seat.panel.workbench.views["knowledge"]
        desk.press("Down")
        at_once(seat, "key", "e", "type", "--delay", "1", "Mine: ")
        assert view.session.editor.words == "Mine: The third"
        desk.xdotool("key", "ctrl+Return")
        desk.frames(1)
        at_once(seat, "key", "Delete", "key", "s")
        desk.frames(4)
        seat.settle()
        assert seat.panel.workbench.banner.shown is None
        assert [row.text for row in view.list.rows[1:]] == ["The second", "The first"]
        assert "~~The second~~" in (workspace.paths.knowledge / "facts.md").read_text(encoding="utf-8")


def test_without_glfw_the_keys_come_from_dear_pygui() -> None:
    """On a system whose wheel exports no GLFW the panel works, too."""
    gate = KeyGate()
    gate.listen(None)
    assert not gate.listens
    gate.replay("abc")
    gate.drawn()
    gate.close()


LONG = "The retry policy of the session layer is that idempotent requests are sent again, thrice at the most, "


def test_a_bullet_wraps_while_it_is_written_and_comes_back_as_one_line(desk: Desk, at_home: Path) -> None:
    """Whoever writes a long bullet must see all of it, and nothing of the breaks may come into the file."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        desk.press(control_of("knowledge"))
        seat.settle()
        view: Any = seat.panel.workbench.views["knowledge"]
        desk.press("n")
        desk.frames(5)
        editor = view.session.editor
        high = editor.height
        for words in (*([LONG] * 4), "so it is "):
            desk.xdotool("type", "--delay", "1", words)
            desk.frames(2)
        desk.notice(lambda: editor.area.words.endswith("so it is "))
        area = editor.area
        assert area.words == LONG * 4 + "so it is " and editor.height > high
        widths = [area.layout.offsets[row.end - 1] - area.layout.offsets[row.begin] for row in area.layout.rows]
        assert len(widths) >= 2 and max(widths) <= area.canvas.width and min(widths[:-1]) > area.canvas.width / 2
        desk.dpg.set_clipboard_text(f"two\n{LONG.strip()}")
        desk.press("ctrl+Home")
        desk.press("ctrl+v")
        desk.press("ctrl+End")
        seat.settle()
        assert editor.words == f"two {LONG.strip()}{LONG * 4}so it is"
        desk.press("ctrl+z")
        desk.frames(3)
        assert area.words == LONG * 4 + "so it is " and area.draft.caret == 0
        desk.press("ctrl+Return")
        seat.settle()
        text = (workspace.paths.knowledge / "facts.md").read_text("utf-8")
        assert f"- {LONG * 4}so it is [from" in text


def test_an_editor_has_the_keys_and_the_mouse_of_every_editor(desk: Desk, at_home: Path) -> None:
    """Moves and selections by word and row, cut and paste, undo within it: hands do these without a thought."""
    workspace = workspace_at(at_home)
    assert isinstance(attempt(add, workspace, "facts", "alpha beta gamma"), Ok)
    with seated(desk, workspace) as seat:
        desk.press(control_of("knowledge"))
        seat.settle()
        view: Any = seat.panel.workbench.views["knowledge"]
        desk.press("Down")
        desk.press("e")
        seat.settle()
        area = view.session.editor.area

        def pressed(*keys: str) -> tuple[str, str]:
            for key in keys:
                desk.press(key)
            desk.frames(3)
            return area.words, area.draft.selected

        assert pressed("ctrl+Right", "ctrl+shift+Right") == ("alpha beta gamma", "beta ")
        assert pressed("ctrl+x", "End", "ctrl+v") == ("alpha gammabeta ", "")
        assert pressed("ctrl+z", "ctrl+z") == ("alpha beta gamma", "beta ")
        assert pressed("ctrl+y", "ctrl+y", "ctrl+shift+Home", "BackSpace", "ctrl+z") == (
            "alpha gammabeta ",
            "alpha gammabeta ",
        )
        assert pressed("Home", "shift+End", "ctrl+c", "Right", "ctrl+BackSpace", "ctrl+BackSpace") == ("", "")
        desk.xdotool("type", "--delay", "1", "ab")
        desk.xdotool("key", "Left")
        at_once(seat, "type", "--delay", "1", "x y")
        assert area.words == "ax yb"
        left, top = desk.dpg.get_item_rect_min(area.canvas.drawn)
        desk.move(int(left) + 2, int(top) + 8)
        desk.hand.button(1, True)
        desk.frames(3)
        desk.move(int(left) + 200, int(top) + 8)
        desk.frames(3)
        desk.hand.button(1, False)
        desk.frames(4)
        assert area.draft.selected == "ax yb" and seat.panel.look.typing()
        at_once(seat, "type", "--delay", "1", "done")
        assert area.words == "done"
        desk.press("Return")
        seat.settle()
        assert [row.text for row in view.list.rows[1:]] == ["done"]


def test_letters_come_into_an_editor_in_a_hosts_window_too(desk: Desk, at_home: Path) -> None:
    """A host that hears no keys for us leaves them to Dear PyGui, whose little field catches them."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        desk.press(control_of("knowledge"))
        desk.press("n")
        seat.settle()
        area: Any = seat.panel.workbench.views["knowledge"].session.editor.area
        seat.panel.keyboard.dispose()
        seat.panel.look.gate = KeyGate()
        desk.gate.forget(id(seat.panel.look))
        desk.xdotool("type", "--delay", "30", "one twx")
        desk.frames(12)
        for key in ("BackSpace", "o", "Left", "shift+Left", "t"):
            desk.press(key)
            desk.frames(6)
        assert area.words == "one tto"
        desk.dpg.set_clipboard_text("漢字")
        desk.press("ctrl+v")
        desk.frames(8)
        assert area.words == "one tt漢字o"


def test_an_editor_takes_a_long_paste_and_keeps_it_through_whatever_happens(desk: Desk, at_home: Path) -> None:
    """Ten thousand letters of somewhere else, with marks that nobody sees: what stands there is what will be saved, and
    no click, size or scale loses a letter of it."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        desk.press(control_of("knowledge"))
        desk.press("n")
        seat.settle()
        view: Any = seat.panel.workbench.views["knowledge"]
        editor, dpg = view.session.editor, desk.dpg
        area = editor.area
        words = "".join(f"line {number} of it\r\n" for number in range(700))
        dpg.set_clipboard_text(f"a\u202eb\x1b[31m\x07c\u200b {words}")
        desk.press("shift+Insert")
        desk.frames(4)
        text = area.words
        assert text == "ab[31mc " + words.replace("\r\n", " ") and len(text) > 10_000
        assert dpg.get_y_scroll(area.holder) > 0 and area.draft.caret == len(text)
        desk.press("ctrl+Home")
        desk.frames(4)
        left, top = (int(part) for part in dpg.get_item_rect_min(area.canvas.drawn))
        x, y = (int(part) for part in dpg.get_viewport_pos())
        desk.move(x + left + 2, y + top + 8)
        desk.hand.button(1, True)
        desk.frames(3)
        desk.move(x + left + 60, y + top + int(area.canvas.tall) + 12)  # below the edge: the text comes to the mouse
        desk.until(lambda: dpg.get_y_scroll(area.holder) > 3 * area.canvas.tall)
        desk.hand.button(1, False)
        desk.frames(4)
        chosen = area.draft.selected
        assert len(chosen) > 300 and text.startswith(chosen)
        desk.press("shift+Delete")
        desk.frames(3)
        assert area.words == text[len(chosen) :] and dpg.get_clipboard_text() == chosen
        desk.press("ctrl+z")
        desk.press("End")
        desk.click(seat.panel.header.mark)
        for act in (lambda: desk.resize(900, 640), desk.resize, lambda: seat.panel.set_scale(1.5)):
            act()
            desk.frames(5)
            widths = [area.layout.offsets[row.end - 1] - area.layout.offsets[row.begin] for row in area.layout.rows]
            assert area.words == text and max(widths) <= area.canvas.width, "every row fits"
        seat.panel.set_scale(1.0)
        desk.frames(5)
        desk.click(lambda: area.canvas.in_window(20, area.canvas.scroll + 8))
        desk.press("ctrl+Home")
        desk.type_text("x")
        assert area.words == f"x{text}" and seat.panel.look.typing()
        desk.press("ctrl+Return")
        seat.settle()
        assert area.words == f"x{text}" and view.session.target is not None, "too long for a bullet: nothing is lost"
        for keys in ("ctrl+Home", "Down", "Down", "ctrl+shift+End", "Delete", "ctrl+Return"):
            desk.press(keys)
        seat.settle()
        lines = (workspace.paths.knowledge / "facts.md").read_text("utf-8").splitlines()
        assert lines[-1].startswith("- xab[31mc line 0 of it line 1 of it") and text.startswith(lines[-1][3:60])
