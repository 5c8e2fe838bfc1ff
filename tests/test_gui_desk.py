"""What the first screen answers, and what is decided on it: if these fail, a user sees a wrong start of their next
conversation, or lets something in that they wanted to drop."""

from __future__ import annotations

import json
import threading
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import gui.views.start
from core.commands.bullets import add
from core.commands.context import digest_on
from core.commands.panel.start import digest_lines, start_of
from core.commands.workspace import Workspace
from core.knowledge.same import mark_of_text
from gui.state import Selection, State
from gui.toolkit.rows import Line, Rows
from gui.views.knowledge import KnowledgeView
from gui.views.strip import WEEKS, Strip, shades
from tests.cli_call import call
from tests.gui_stand import Stand, standing
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.harvest_world import session
from tests.made_home import Clock, Model, converse, harvested, make_home, read, write
from tests.panel_desk import (  # noqa: F401 - pytest finds the fixture by itself
    CONFIG,
    asks,
    at_home_fixture,
    harvested_at,
    place_in,
    seated,
    workspace_at,
    write_ledger,
)
from tests.waiting import PATIENCE_SECONDS

HELD = "# Quarantine\n\n" + "".join(
    f'- [quote-not-found] facts: tea of kind {number} (quote: "nobody said {number}") [from: tea, 2026-05-0{number}]\n'
    for number in range(1, 5)
)
TASKS = "# Tasks\n\n## Open\n\n- buy tea\n- mend the lid\n\n## Done\n"


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path) -> Workspace:
    workspace = make_home(tmp_path)
    converse(workspace, "kettle", "The kettle needs descaling")
    harvested(workspace, Model(facts=["Descale the kettle monthly"]), Clock())
    write(workspace, "quarantine.md", HELD)
    write(workspace, "tasks.md", TASKS)
    ledger = json.loads(workspace.paths.ledger.read_text())
    entry = next(iter(ledger["entries"].values()))
    entry["offers"] = [{"kind": "finishes", "category": "tasks_open", "old": mark_of_text("buy tea")}]
    workspace.paths.ledger.write_text(json.dumps(ledger))
    return workspace


stand_fixture = standing(KnowledgeView, width=860)


def looked(stand: Stand) -> Any:
    """The card, once it has found what waits."""
    card = stand.view.looks
    card.ask(stand.view.data, object())
    stand.settle()
    return card


def test_what_wants_a_look_is_decided_one_by_one_by_keys(home: Workspace, stand: Stand) -> None:
    card = looked(stand)
    assert stand.desk.dpg.is_item_shown(card.item) and not card.is_open
    stand.view.select(stand.view.list.rows[1])
    assert stand.desk.dpg.get_item_label(card.kinds["held"].item) == "4 held"
    stand.press("w")
    assert card.row is not None and card.row.kind == "held" and "tea of kind" in card.row.text
    assert not stand.shell.state.selected.kind, "evidence would lie over the answers"
    first = card.row.text
    assert stand.desk.dpg.get_value(card._place) == "1 of 6"
    stand.press("y")
    assert stand.desk.dpg.get_value(card._place) == "2 of 6", "what was answered counts"
    assert first in read(home, "facts.md") and first not in read(home, "quarantine.md")
    second = card.row.text
    stand.press("n")
    assert second not in read(home, "facts.md") + read(home, "quarantine.md")
    stand.press("ctrl+z", "ctrl+z")
    assert read(home, "quarantine.md").count("[quote-not-found]") == 4 and first not in read(home, "facts.md")
    looked(stand)
    place = stand.desk.dpg.get_value(card._place)
    assert place.endswith(" of 6") and len(card.waiting) == 6, "what was taken back is asked again"
    stand.press("ctrl+y")
    looked(stand)
    place = stand.desk.dpg.get_value(card._place)
    assert place.endswith(" of 6") and len(card.waiting) == 5, "what is done again counts again"
    stand.press("ctrl+z")
    looked(stand)
    stand.press("Escape", "w")
    assert stand.desk.dpg.get_value(card._place) == "1 of 6", "it begins at the first"


def test_all_of_a_kind_are_let_in_after_one_question_and_taken_back_at_once(home: Workspace, stand: Stand) -> None:
    card = looked(stand)
    stand.press("w", "ctrl+Return")
    assert asks(stand.shell) and "tea of kind" not in read(home, "facts.md")
    stand.press("Return")
    assert read(home, "facts.md").count("tea of kind") == 4 and "[quote" not in read(home, "quarantine.md")
    assert card.row is None or card.row.kind != "held"
    stand.press("Escape", "ctrl+z")
    assert read(home, "quarantine.md").count("[quote-not-found]") == 4


def test_a_click_on_a_kind_and_on_no_leaves_the_task_open(home: Workspace, stand: Stand) -> None:
    """What a model offers changes nothing before somebody says yes."""
    card = looked(stand)
    stand.click(card.kinds["finished"].item)
    assert card.row is not None and card.row.text == "buy tea" and read(home, "tasks.md") == TASKS
    stand.click(card.answers["no"].item)
    assert read(home, "tasks.md") == TASKS
    assert all(row.kind != "finished" for row in looked(stand).waiting)


def test_the_start_is_what_a_conversation_gets_to_the_byte(desk: Desk, at_home: Path) -> None:
    workspace = harvested_at(at_home)
    (workspace.paths.knowledge / "context.md").write_text("---\nversion: 1\n---\nAnswer briefly.\n", encoding="utf-8")
    start = start_of(workspace, "")
    assert start.bytes == len(workspace.paths.digest.read_bytes()) and start.injected
    assert start.words == "Answer briefly." and start.file.endswith("context.md")
    assert start.lines == tuple(digest_lines(workspace.paths.digest.read_text(encoding="utf-8"))) != ()
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        assert desk.dpg.get_value(side._bytes) == f"{start.bytes:,}" and desk.dpg.get_value(side._of).startswith(
            "of 4,096"
        )
        assert desk.dpg.get_value(side._words) == "Answer briefly."
        words = side.lines.lines[0].key
        desk.click_at(*place_in(side.lines, words))
        seat.settle()
        assert seat.state.selected.kind == "bullet", "a line of the digest selects its bullet"
        for added in (" (in 3 conversations)", " (perhaps outdated) (in 2 conversations)"):
            seat.panel.shell.select("file", "digest.md")
            seat.panel.shell.put({"wanted": Selection("words", words[1] + added)})
            seat.settle()
            assert seat.state.selected.kind == "bullet", "also one to which the digest has added something"
        desk.click_at(*place_in(side.ledger, ("status", "harvested")))
        seat.settle()
        view: Any = seat.panel.workbench.views["conversations"]
        assert seat.state.view == "conversations" and view.wish.statuses == {"harvested"} and len(view.table.rows) == 6


def test_a_project_that_is_chosen_comes_first_and_one_that_is_gone_cannot_be_chosen(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = workspace_at(at_home)
    for name in ("api", "shop"):
        (at_home / name).mkdir()
    read = {"status": "harvested", "at": "2026-05-02T12:00:00+00:00", "title": "Talk"}
    write_ledger(workspace, [{**read, "path": f"/t/{name}", "name": name, "project_root": str(at_home / name)}
                             for name in ("api", "shop", "gone")])  # fmt: skip
    write(workspace, "facts.md", "- Old [from: shop, 2026-05-01]\n- New [from: api, 2026-05-02]\n")
    by_window = []  # of thousands of folders the names take as long as three frames
    real = gui.views.start.named_projects

    def named(*of: Any) -> dict[str, str]:
        by_window.append(threading.current_thread() is threading.main_thread())
        return real(*of)

    monkeypatch.setattr(gui.views.start, "named_projects", named)
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        view: Any = seat.panel.workbench.views["knowledge"]
        assert sorted(view.side.projects) == ["No project", "api", "shop"] and by_window == [False]
        assert [row.text for row in view.list.rows] == ["api", "New", "shop", "Old"]
        view.side.choose(str(at_home / "shop"))
        seat.settle()
        assert [row.text for row in view.list.rows] == ["shop", "Old", "api", "New"]


def test_projects_and_words_that_have_no_letters_here_are_named(desk: Desk, at_home: Path) -> None:
    """Two projects were two rows of empty boxes in the list."""
    workspace = workspace_at(at_home)
    for name in ("מטבח", "קפה"):
        (at_home / name).mkdir()
    read = {"status": "harvested", "at": "2026-05-02T12:00:00+00:00", "title": "Talk"}
    write_ledger(workspace, [{**read, "path": f"/t/{name}", "name": name, "project_root": str(at_home / name)}
                             for name in ("מטבח", "קפה")])  # fmt: skip
    write(workspace, "context.md", "---\nversion: 1\n---\nענה בקצרה\n")
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        assert desk.dpg.get_value(side._words) == "[Hebrew: open it in your editor]"
        listed = desk.dpg.get_item_configuration(side.project)["items"]
        assert [name.partition(":")[0] for name in listed] == ["No project", "[Hebrew", "[Hebrew"]
        assert len({*listed}) == 3
        for words, folder in zip(listed[1:], list(side.projects.values())[1:], strict=True):
            side.chosen(words)
            seat.settle()
            assert side.start.project == folder and desk.dpg.get_value(side.project) == words


def test_what_did_not_fit_is_said_of_the_project_that_is_shown(desk: Desk, at_home: Path) -> None:
    """Half a line of 4,096 bytes was full, said the card: 40 lines of other projects did not fit."""
    workspace = workspace_at(at_home, config=CONFIG + "digest_max_bytes = 700\n")
    for name in ("api", "shop"):
        (at_home / name).mkdir()
    read = {"status": "harvested", "at": "2026-05-02T12:00:00+00:00", "title": "Talk"}
    write_ledger(workspace, [{**read, "path": f"/t/{name}", "name": name, "project": str(at_home / name),
                              "project_root": str(at_home / name)} for name in ("api", "shop")])  # fmt: skip
    many = "".join(f"- The gate {at} of the api opens at noon [from: api, 2026-05-02]\n" for at in range(40))
    shop = "- The total skips returned rows [from: shop, 2026-05-01]\n"
    write(workspace, "facts.md", shop + many)
    checks = "- **Checks**: `make lint` → `make test` [from: shop, 2026-05-01]\n"
    write(workspace, "playbooks.md", checks)
    digest_on(workspace)
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        assert side.lines.lines[-1].aside == "the rest did not fit"
        side.choose(str(at_home / "shop"))
        seat.settle()
        told = [("The total skips returned rows", ""), ("Checks: `make lint` → `make test`", "")]
        assert [(line.words, line.aside) for line in side.lines.lines] == told
        side.picked(side.lines.lines[1].key)
        seat.settle()
        assert seat.state.selected.raw.startswith("- **Checks**"), "a playbook has signs that its row has not"
        side.picked(side.lines.lines[0].key)
        seat.settle()
        assert seat.state.selected.raw.startswith("- The total"), "its bullet, not a file"
        tip = desk.dpg.get_item_parent(desk.dpg.get_item_parent(side._why_tip))
        assert not desk.dpg.is_item_shown(side._why) and not desk.dpg.is_item_shown(tip), "or the lines would show it"


def test_a_recent_conversation_leads_to_itself(desk: Desk, at_home: Path) -> None:
    """It is no bullet: a click that looks for one would find nothing."""
    workspace = workspace_at(at_home)
    write(workspace, "facts.md", "- I like tea\n")
    digest_on(workspace)
    (at_home / "shop" / ".git").mkdir(parents=True)
    (at_home / "kept").mkdir()
    said = ("Rename the cart to basket", "I looked.", "Fine, go on with that.", "It is renamed.")
    (at_home / "kept" / "talk-7.jsonl").write_text(session(at_home / "shop", 7, *said, day="2026-05-02"))
    home = ("--home", str(workspace.paths.home))
    assert call("harvest", "--source", str(at_home / "kept"), "--apply", "--now", *home)[0] == 0
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        side.choose(str(at_home / "shop"))
        seat.settle()
        assert [line.words for line in side.lines.lines] == ["I like tea", "“Rename the cart to basket”"]
        assert sum(size for _, size in side.start.sections) > len("“Rename the cart to basket”") + 30
        desk.click_at(*place_in(side.lines, side.lines.lines[1].key))
        seat.settle()
        assert seat.state.selected.kind == "talk" and seat.state.selected.key.startswith("talk-7")
        page = seat.panel.inspector.page
        assert "Rename the cart" in str(page)


def test_esc_closes_the_list_of_projects_and_nothing_else(desk: Desk, at_home: Path) -> None:
    """It stayed open, and the next click only closed it."""
    with seated(desk, harvested_at(at_home), choices={"view": "knowledge"}) as seat:
        view: Any = seat.panel.workbench.views["knowledge"]
        view.select(view.list.rows[1])
        seat.settle()
        project = view.side.project
        desk.click(project)
        assert desk.until(lambda: not desk.dpg.is_item_visible(project))
        desk.press("Escape")
        assert desk.until(lambda: desk.dpg.is_item_visible(project))
        assert seat.state.selected.kind == "bullet"
        desk.press("Escape")
        assert desk.until(lambda: not seat.state.selected.kind)
        desk.click(view.side.digest.toggle.item)
        seat.until(lambda: "digest_enabled = false" in (at_home / "config.toml").read_text("utf-8"))


@pytest.mark.parametrize(("width", "scale"), [(200, 1.0), (430, 2.0)])
def test_esc_acts_where_a_field_with_a_list_is_out_of_sight(
    desk: Desk, at_home: Path, width: int, scale: float
) -> None:
    """It was taken for a list that is open: Esc did nothing, and took the keyboard from the host."""
    workspace = harvested_at(at_home)
    field = int(desk.dpg.add_input_text(parent=desk.page))
    with seated(desk, workspace, width=width, scale=scale, choices={"view": "knowledge"}) as seat:
        view: Any = seat.panel.workbench.views["knowledge"]
        assert not desk.dpg.is_item_visible(view.side.project)
        view.select(view.list.rows[1])
        seat.settle()
        desk.press("Escape")
        assert desk.until(lambda: not seat.state.selected.kind)
    with seated(desk, workspace, width=width, scale=scale, hears=False, choices={"view": "knowledge"}) as seat:
        desk.click(field)
        assert not seat.panel.keyboard.press("Esc")
        desk.frames(5)
        assert desk.dpg.is_item_active(field)
    desk.dpg.delete_item(field)


def test_the_switch_writes_what_it_shows(desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited for the start of a conversation to be read: a press before that switched off what it should put on."""
    gate, config = threading.Event(), at_home / "config.toml"
    with seated(desk, harvested_at(at_home), choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        real = gui.views.start.start_of
        monkeypatch.setattr(gui.views.start, "start_of", lambda *of: gate.wait(PATIENCE_SECONDS) and real(*of))
        desk.click(side.digest.toggle.item)
        seat.until(lambda: "digest_enabled = false" in config.read_text("utf-8"))
        seat.until(lambda: not seat.panel.reader.waiting and not seat.panel.shell.settling)
        shown = side.digest.toggle.on
        desk.click(side.digest.toggle.item)
        gate.set()
        seat.until(lambda: "digest_enabled = true" in config.read_text("utf-8"))
        assert not shown


def test_while_the_settings_cannot_be_read_no_bytes_are_promised(desk: Desk, at_home: Path) -> None:
    workspace = harvested_at(at_home)
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        (at_home / "config.toml").write_text("[[broken", encoding="utf-8")
        seat.panel.shell.refresh()
        seat.settle()
        assert "cannot be read" in desk.dpg.get_value(side._why) and not side.digest.toggle.on
        assert desk.dpg.get_value(side._bytes) == "0"


def test_a_narrow_panel_says_what_a_conversation_starts_with_and_how_the_ledger_stands(
    desk: Desk, at_home: Path
) -> None:
    """Below 640 there is no left column: what stands in it must not be lost, and be one click away."""
    workspace = harvested_at(at_home)
    facts = workspace.paths.knowledge / "facts.md"
    facts.write_text(facts.read_text("utf-8") + "- One more, by hand\n", encoding="utf-8")
    with seated(desk, workspace, choices={"view": "knowledge"}, width=480) as seat:
        brief, dpg = seat.panel.brief, desk.dpg
        side: Any = seat.panel.workbench.sides["knowledge"]
        assert dpg.is_item_shown(brief.card) and dpg.get_item_height(brief.foot) == 40
        assert dpg.get_value(brief._words).startswith(f"{side.start.bytes:,} of 4,096 bytes in ")
        words = [link.label for link in brief.links if dpg.is_item_shown(link.item)]
        assert words == ["1 edited", "6 harvested"], "what is zero is not named"
        desk.click(brief.links[1].item)
        seat.settle()
        view: Any = seat.panel.workbench.views["conversations"]
        assert seat.state.view == "conversations" and view.wish.statuses == {"harvested"}
        assert not dpg.is_item_shown(brief.card), "it is of Knowledge alone"
    with seated(desk, workspace, choices={"view": "knowledge"}, width=900) as seat:
        assert not desk.dpg.is_item_shown(seat.panel.brief.card) and seat.panel.columns.shown


def test_a_host_hears_of_a_harvest_and_shows_the_notes_of_a_file(desk: Desk, at_home: Path) -> None:
    heard: list[Any] = []
    workspace = workspace_at(at_home)
    add(workspace, "files", "`add` keeps every book in one dict.", file=str(workspace.paths.home / "project/shelf.py"))
    with seated(desk, workspace, compact=True, project=str(at_home), on_harvest=heard.append) as seat:
        assert not seat.panel.columns.shown and seat.panel.shell.choice("project") == str(at_home)
        desk.press("ctrl+h")
        seat.until(lambda: seat.panel.run.now.phase == "planned")
        desk.press("Return")
        seat.until(lambda: seat.panel.run.now.phase == "ended")
        desk.press("Return")
        seat.settle()
        assert [report.harvested for report in heard] == [6]
        note = seat.state.of("files").notes[0]
        seat.panel.show(note.source, 3)
        seat.settle()
        view: Any = seat.panel.workbench.views["files"]
        assert seat.state.view == "files" and view.chosen == note.note


def test_a_click_and_a_drag_on_the_strip_choose_weeks(desk: Desk) -> None:
    spans: list[tuple[str, str]] = []
    strip = Strip(desk.look, desk.page, lambda first, last: spans.append((first, last)))
    strip.set({date.today().isoformat(): 4})
    desk.frames(4)
    left, top = desk.dpg.get_item_rect_min(strip.drawing.item)
    x, y = (int(part) for part in desk.dpg.get_viewport_pos())
    week = strip.drawing.width / WEEKS
    desk.click_at(int(x + left + week * (WEEKS - 0.5)), int(y + top + 10))
    monday = date.today() - timedelta(days=date.today().weekday())
    assert spans[-1] == (monday.isoformat(), (monday + timedelta(days=6)).isoformat())
    desk.move(int(x + left + week * 10.5), int(y + top + 10))
    desk.button(1, True)
    desk.move(int(x + left + week * 13.5), int(y + top + 10))
    desk.button(1, False)
    desk.frames(4)
    assert strip.chosen == (10, 13)
    strip.clear()
    assert spans[-1] == ("", "") and shades(9) == (1, 3, 6) and State().view == "knowledge"


def test_drawn_lines_in_two_columns_tell_which_one_was_clicked(desk: Desk) -> None:
    picked: list[object] = []
    rows = Rows(desk.look, desk.page, picked.append, columns=2)
    rows.set([Line(f"line {number}", aside=str(number), key=("line", str(number))) for number in range(5)])
    desk.frames(4)
    for number in (4, 0, 3):
        desk.click_at(*place_in(rows, ("line", str(number))))
    assert picked == [("line", "4"), ("line", "0"), ("line", "3")]


def test_the_evidence_gives_an_editor_its_room(desk: Desk, at_home: Path) -> None:
    """It lay over the right half of what was being written."""
    with seated(desk, harvested_at(at_home), choices={"view": "knowledge"}) as seat:
        view: Any = seat.panel.workbench.views["knowledge"]

        def evident() -> bool:
            return bool(desk.dpg.get_item_configuration(seat.panel.evidence)["show"])

        view.select(view.list.rows[1])
        seat.until(evident)
        view.list.select(view.list.rows[1].key)
        desk.press("F2")
        seat.until(lambda: view.session.target is not None and not evident())
        desk.press("Escape")
        seat.until(lambda: view.session.target is None and evident())
