"""The small parts in a real window: what a click, a key or a change does."""

from __future__ import annotations

import time
from typing import Any

import pytest

from core.base.result import ErrorInfo
from gui.toolkit.keys import Shortcut
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself


def test_a_click_on_a_button_is_heard_once_and_a_disabled_one_is_silent(desk: Desk) -> None:
    from gui.toolkit.widgets import Button

    heard: list[str] = []
    button = Button(desk.look, desk.page, "Harvest…", lambda: heard.append("go"), icon="wheat", kind="primary")
    desk.frames(3)
    desk.click(button.item)
    assert heard == ["go"]
    button.enable(False)
    desk.frames(2)
    desk.click(button.item)
    assert heard == ["go"]


def test_one_failing_click_leaves_an_error_and_the_next_click_works(desk: Desk) -> None:
    from gui.toolkit.widgets import Button

    heard: list[str] = []
    bad = Button(desk.look, desk.page, "Bad", lambda: heard.append(str(1 / 0)))
    good = Button(desk.look, desk.page, "Good", lambda: heard.append("good"))
    raw = desk.dpg.add_button(label="raw", parent=desk.page, callback=lambda: 1 / 0)
    desk.frames(3)
    for item in (bad.item, raw, good.item):
        desk.click(item)
    assert heard == ["good"]
    assert [error.code for error in desk.jobs.errors] == ["panel-fault", "panel-fault"]


def test_a_key_waits_until_it_shows_whose_the_keyboard_is(desk: Desk) -> None:
    """A press that falls into a frame of nobody's may be meant for the host."""
    from gui.toolkit.keyboard import Keyboard

    heard: list[str] = []
    whose: list[bool | None] = [None]
    Keyboard(desk.look, [Shortcut("D", "digest", "")], heard.append, active=lambda: whose[0])
    for now, done in ((False, []), (True, ["digest"])):
        whose[0] = None
        desk.press("d")
        desk.frames(3)
        assert heard == []
        whose[0] = now
        desk.frames(3)
        assert heard == done


def test_chips_and_switches_show_their_state_and_tell_it(desk: Desk) -> None:
    from gui.toolkit.layout import ChipRow
    from gui.toolkit.widgets import Toggle

    heard: list[Any] = []
    row = ChipRow(desk.look, desk.page, desk.page)
    chip = row.add("Failed", "failed", lambda: heard.append(chip.on))
    chip.set_count(4062)
    toggle = Toggle(desk.look, desk.page, "Digest in prompt", heard.append)
    desk.frames(3)
    assert desk.dpg.get_item_label(chip.item) == "Failed  4,062"
    desk.click(chip.item)
    desk.click(chip.item)
    assert heard == [True, False]
    desk.click(toggle.item)
    assert heard[-1] is True and toggle.on
    toggle.set_on(False)
    assert heard == [True, False, True]  # a change from inside calls nobody


@pytest.mark.parametrize("tip", ["", "what it does"])
def test_chips_wrap_instead_of_being_cut_and_begin_every_line_at_the_left(desk: Desk, tip: str) -> None:
    """A tooltip that stayed behind in its line would push the first chip in."""
    from gui.toolkit.layout import ChipRow, box

    narrow = box(desk.look, desk.page, "card", width=300)
    row = ChipRow(desk.look, narrow, narrow)
    for name in ("Harvested", "Failed", "Deleted", "Too large", "Kept", "Waiting"):
        row.add(name, "muted", lambda: None, tip).set_count(100_000)
    desk.frames(6)
    places = [desk.dpg.get_item_rect_min(chip.item) for chip in row.chips]
    ends = [desk.dpg.get_item_rect_max(chip.item)[0] for chip in row.chips]
    lines = {top: min(x for x, y in places if y == top) for _, top in places}
    assert len(lines) > 1 and len(set(lines.values())) == 1, places
    assert max(ends) <= places[0][0] + 300


def test_esc_cancels_and_enter_confirms_a_dialog(desk: Desk) -> None:
    from gui.toolkit.dialogs import Dialog
    from gui.toolkit.keyboard import Keyboard

    heard: list[str] = []
    keyboard = Keyboard(desk.look, [Shortcut("D", "digest", "")], heard.append)
    dialog = Dialog(desk.look, "Dry run", "Apply", lambda: heard.append("apply"), on_cancel=lambda: heard.append("no"),
                    icon="wheat")  # fmt: skip
    keyboard.layers.append(dialog.key)
    dialog.open()
    desk.frames(6)
    desk.press("d")
    desk.press("Escape")
    assert heard == ["no"] and not dialog.is_open and not desk.dpg.is_item_shown(dialog.item)
    dialog.open()
    desk.frames(6)
    dialog.enable(False)
    desk.press("Return")
    assert heard == ["no"] and dialog.is_open
    dialog.set_title("Dry run: لماذا")
    assert desk.dpg.get_value(dialog._title).startswith("Dry run: [Arabic"), "a row of empty boxes"
    dialog.enable(True)
    desk.press("Return")
    assert heard == ["no", "apply"] and not dialog.is_open
    dialog.open()
    desk.frames(6)
    desk.click(dialog.cancel_button.item)
    assert heard[-1] == "no" and not dialog.is_open
    desk.press("d")
    assert heard[-1] == "digest"


def test_a_letter_typed_into_a_field_is_no_shortcut(desk: Desk) -> None:
    from gui.toolkit.keyboard import Keyboard
    from gui.toolkit.widgets import text_field

    commands: list[str] = []
    typed: list[str] = []
    Keyboard(desk.look, [Shortcut("D", "digest", ""), Shortcut("K", "search", "", ("Ctrl",))], commands.append)
    item = text_field(desk.look, desk.page, on_change=typed.append)
    desk.frames(3)
    desk.click(item)
    desk.type_text("add")
    assert typed[-1:] == ["add"] and commands == []
    desk.press("ctrl+k")
    assert commands == ["search"]
    desk.press("Return")
    desk.press("d")
    assert commands == ["search", "digest"]


def test_errors_stand_where_they_happen_with_the_way_out(desk: Desk) -> None:
    from gui.toolkit.messages import Banner

    heard: list[str] = []
    banner = Banner(desk.look, desk.page)
    assert not desk.dpg.is_item_shown(banner.item)
    banner.set(ErrorInfo("no-key", "No key was found", hint="Set it"), "Open settings", lambda: heard.append("out"))
    desk.frames(4)
    assert desk.dpg.get_value(banner._words) == "No key was found. Set it."
    from gui.toolkit.messages import begun

    assert [begun(one) for one in ("the ledger is torn", "config.toml is torn", "~/a is")] == [
        "The ledger is torn", "config.toml is torn", "~/a is",
    ]  # fmt: skip
    desk.click(banner._button.item)
    assert heard == ["out"]
    desk.click(banner._close.item)
    assert banner.shown is None and not desk.dpg.is_item_shown(banner.item)


def test_a_toast_goes_away_by_itself_and_its_button_acts(desk: Desk) -> None:
    from gui.toolkit.messages import Toast

    now, heard = [0.0], []
    toast = Toast(desk.look, now=lambda: now[0])
    toast.show("12 bullets added", action="Undo", on_action=lambda: heard.append("undo"))
    desk.frames(5)
    desk.click(toast._button.item)
    assert heard == ["undo"] and not toast._until
    toast.show("Saved")
    now[0] = 6.5
    desk.frames(2)
    assert not toast._until and not desk.dpg.is_item_shown(toast.item)


def test_updates_make_no_items(desk: Desk) -> None:
    """Items that are made and deleted again leak kilobytes each: a panel that is left open would grow."""
    from gui.toolkit.drawing import SegmentBar
    from gui.toolkit.messages import EmptyState, Teach
    from gui.toolkit.styles import DARK, LIGHT
    from gui.toolkit.widgets import Progress, copy_text

    look = desk.look
    segments = SegmentBar(look, desk.page, height=12)
    progress, words = Progress(look, desk.page), copy_text(look, desk.page)
    empty = EmptyState(look, desk.page, Teach("wheat", "Nothing", "yet"))
    empty.show(True)  # its font is read with the first one that somebody sees
    segments.set([(1.0, "ramp:1")] * 8, 8)
    desk.frames(8)
    before = desk.items()
    for round_ in range(3):
        parts = [(n + round_, f"ramp:{n}") for n in range(round_ + 1, 9)]
        segments.set(parts, 100)
        progress.set(0.3 * round_)
        desk.dpg.set_value(words, f"text {round_}")
        empty.show(round_ % 2 == 0)
        look.change(LIGHT if round_ % 2 else DARK)
        desk.frames(2)
    assert desk.items() == before and not desk.jobs.errors


def test_a_look_gives_everything_back(desk: Desk) -> None:
    """A host that opens and closes the panel a hundred times must not grow (fonts stay, and are shared)."""
    from gui.toolkit.dialogs import Dialog
    from gui.toolkit.messages import Toast
    from gui.toolkit.theme import Look
    from gui.toolkit.widgets import Button, Toggle

    def once() -> int:
        root = int(desk.dpg.add_child_window(parent=desk.page))
        look = Look(desk.jobs)
        look.bind(root)
        Button(look, root, "a", lambda: None, tip="b", shortcut="C")
        Toggle(look, root, "a", lambda _on: None)
        Dialog(look, "a", "b", lambda: None, icon="wheat")
        Toast(look)
        desk.frames(3)
        desk.dpg.delete_item(root)
        look.dispose()
        desk.frames(2)
        return desk.items()

    first = once()
    assert once() == first and once() == first


def test_text_can_be_copied(desk: Desk) -> None:
    """Labels of Dear PyGui cannot be selected: a path could not be taken anywhere."""
    from gui.toolkit.widgets import copy_text

    words = copy_text(desk.look, desk.page)
    desk.dpg.set_value(words, "src/net/retry_policy.md")
    desk.frames(3)
    desk.click(words)
    desk.press("ctrl+a")
    desk.press("ctrl+c")
    assert desk.dpg.get_clipboard_text() == "src/net/retry_policy.md"
    desk.press("x")
    assert desk.dpg.get_value(words) == "src/net/retry_policy.md"  # it can be read, not changed


def test_a_tooltip_names_the_shortcut_but_not_at_once(desk: Desk) -> None:
    from gui.toolkit.widgets import Button, hint

    button = Button(desk.look, desk.page, "Harvest…", lambda: None)
    words = hint(desk.look, button.item, "Opens the dry run", "Ctrl+H")
    desk.frames(3)
    desk.move(*desk.middle(button.item))
    assert not desk.dpg.is_item_visible(words)
    assert desk.until(lambda: desk.dpg.is_item_visible(words))


def test_a_hidden_button_says_nothing_over_its_neighbour(desk: Desk) -> None:
    """The tooltip of "Mark it done" stood below that of "Keep old", on a row that cannot be done."""
    from gui.toolkit.widgets import Button

    row = int(desk.dpg.add_group(horizontal=True, parent=desk.page))
    old = Button(desk.look, row, "Keep old", lambda: None, tip="the old one stays")
    done = Button(desk.look, row, "Done", lambda: None, tip="mark it done")
    desk.frames(3)
    done.show(False)
    desk.point(old.item)

    def seen(words: str) -> bool:
        texts = [item for item in desk.dpg.get_all_items() if desk.dpg.get_value(item) == words]
        return any(desk.dpg.get_item_state(item).get("visible") for item in texts)

    assert desk.until(lambda: seen("the old one stays"))
    desk.frames(5)
    assert not seen("mark it done")


def test_a_tooltip_goes_with_the_next_key_and_with_the_mouse(desk: Desk) -> None:
    """It lay over what the arrow keys had gone to, and over the button beside the one that it was of."""
    from gui.toolkit.keyboard import Keyboard
    from gui.toolkit.widgets import TOOLTIP_SECONDS, Button, tip_of

    dpg = desk.dpg
    keyboard = Keyboard(desk.look, [], lambda _name: None)
    keyboard.hear(desk.gate)
    one, other = (Button(desk.look, desk.page, name, lambda: None, tip=f"What {name} does") for name in ("One", "Two"))
    other.show(False)
    desk.frames(3)

    def rests(seconds: float = 3 * TOOLTIP_SECONDS) -> bool:
        end = time.monotonic() + seconds
        return desk.until(lambda: dpg.is_item_visible(one._hint) or time.monotonic() > end) and bool(
            dpg.is_item_visible(one._hint)
        )

    desk.point(one.item)
    assert not dpg.is_item_visible(one._hint) and rests()
    desk.press("Down")
    assert not dpg.is_item_visible(one._hint) and not rests(), "the mouse rests still: nobody asks again"
    x, y = desk.middle(one.item)
    desk.move(x + 3, y)
    assert rests(), "whoever comes back to it is told again"
    desk.press("x")
    other.show(True)
    desk.point(other.item)
    desk.frames(2)
    assert not dpg.is_item_visible(one._hint) and dpg.is_item_shown(tip_of(one._hint))
    keyboard.dispose()
