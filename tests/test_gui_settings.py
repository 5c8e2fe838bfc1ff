"""The view of the settings in a real window: typed, refused, and changed without a mouse."""

from __future__ import annotations

from pathlib import Path

from core.commands.settings import config_show
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, control_of, seated, workspace_at  # noqa: F401


def test_a_setting_is_typed_refused_and_taken(desk: Desk, at_home: Path) -> None:
    """The sentence about a wrong value stands beside its field, and the file is not touched."""
    workspace = workspace_at(at_home)
    file = workspace.loaded.file
    before = file.read_bytes()
    with seated(desk, workspace) as seat:
        desk.press(control_of("settings"))
        seat.settle()
        view = seat.panel.workbench.views["settings"]
        editor = view.editors["digest_max_bytes"]  # type: ignore[attr-defined]
        desk.click(editor.item)
        for typed, shown in (("no", True), ("512", False)):
            desk.press("ctrl+a")  # what was refused keeps the keyboard: its correction must not open views
            desk.type_text(typed)
            desk.press("Return")
            seat.settle()
            assert desk.dpg.is_item_shown(editor._problem) is shown
            assert (b"digest_max_bytes = 512" in file.read_bytes()) is not shown
            assert desk.dpg.is_item_active(editor.item) is shown and seat.state.view == "settings"
        desk.click(editor.item)
        desk.press("ctrl+a")
        desk.type_text("no")
        desk.press("Return")
        seat.until(lambda: desk.dpg.is_item_shown(editor._problem) and desk.dpg.is_item_active(editor.item))
        desk.press("Escape")
        seat.settle()
        assert desk.dpg.get_value(editor.item) == "512" and not desk.dpg.is_item_shown(editor._problem)
        desk.press("ctrl+z")
        seat.until(lambda: b"digest_max_bytes = 512" not in file.read_bytes())
        seat.settle()
        assert file.read_bytes().startswith(before[:60]) and b"# on since spring" in file.read_bytes()


def test_every_choice_is_told_in_words(at_home: Path) -> None:
    """`both` and `model` beside a sentence tell nobody what is chosen."""
    from gui.views.settings import setting_rows, shown

    for row in setting_rows(config_show(workspace_at(at_home))):
        words = [shown(row.key, choice) for choice in row.choices]
        assert len({*words}) == len(words) and not {*words} & {"both", "model", "global", "offline"}, row.key
        assert not any("_" in word for word in words), row.key
    assert shown("provider", "ollama") == "Ollama", "it may be on another computer: base_url says where"


def test_a_narrow_window_shows_the_whole_of_each_sentence(desk: Desk, at_home: Path) -> None:
    """ "A conversation gets w…" beside its choice tells nobody what is chosen."""
    from gui.views.settings import NAMED

    with seated(desk, workspace_at(at_home), choices={"view": "settings"}, width=480) as seat:
        view = seat.panel.workbench.views["settings"]
        choice = view.editors["digest_scope"]  # type: ignore[attr-defined]
        seat.until(lambda: desk.dpg.is_item_visible(choice.item))
        texts = [desk.dpg.get_value(item).replace("\n", " ") for item in desk.dpg.get_all_items()
                 if desk.dpg.get_item_type(item) == "mvAppItemType::mvText"]  # fmt: skip
        assert {words for words, _ in NAMED.values()} <= {*texts} and NAMED["digest_scope"][1] in texts
        desk.dpg.configure_item(seat.page, width=900)
        seat.until(lambda: desk.dpg.get_item_rect_min(choice.item)[0] > 400)


def test_the_sentence_of_the_trash_says_its_days(at_home: Path) -> None:
    """ "Two weeks", and with `trash_days = 0` it was gone at once."""
    from gui.views.settings import FOR_GOOD, setting_rows

    said = []
    for days in ("3", "1", "0"):
        workspace = workspace_at(at_home, demo=False, config=f"[ai_settings.knowledge]\ntrash_days = {days}\n")
        said.append(next(row.about for row in setting_rows(config_show(workspace)) if row.key == "reclaim"))
    assert said == ["It stays there for 3 days.", "It stays there for 1 day.", FOR_GOOD]


def test_the_settings_are_changed_by_keys_alone(desk: Desk, at_home: Path) -> None:
    """Whoever has no mouse must reach every switch, choice and field, and see which one the keys are for."""
    workspace = workspace_at(at_home)
    file = workspace.loaded.file
    before = file.read_bytes()

    def says(line: str) -> bool:
        return line in file.read_text(encoding="utf-8").splitlines()

    with seated(desk, workspace) as seat:
        desk.press(control_of("settings"))
        seat.settle()
        view = seat.panel.workbench.views["settings"]
        desk.press("space")
        desk.press("Right")
        seat.settle()
        assert file.read_bytes() == before and not view.chosen, "a bare key has changed a setting that nobody chose"
        for key, keys, wanted in (
            ("digest_scope", ["Down", "Down", "Down", "Left"], 'digest_scope = "project"'),
            ("redact", ["Down", "Down", "Down", "space"], "redact = false"),
            ("max_month_price", ["Up", "Return"], ""),
        ):
            for one in keys:
                desk.press(one)
            seat.settle()
            assert view.chosen == key
            seat.until(lambda wanted=wanted: wanted in file.read_text(encoding="utf-8"))
        assert desk.dpg.get_value(view.editors["digest_scope"].item) == "its own project"
        seat.until(lambda: desk.dpg.is_item_active(view.editors["max_month_price"].item))
        desk.press("ctrl+a")
        desk.type_text("5")
        desk.press("Return")
        seat.until(lambda: says("max_month_price = 5"))
        seat.settle()
        for key in ("End", "Home", "Page_Down"):
            desk.press(key)
            assert desk.until(lambda: desk.dpg.is_item_visible(view.editors[view.chosen].item)), key
