"""The whole panel in a real window, with real clicks and keys: what a user does in their first quarter of an hour."""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import gui.gather
import gui.harvest_run
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.commands.bullets import add
from core.commands.forget import forget
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.status import status
from core.commands.workspace import open_workspace
from core.harvest.report import HarvestReport
from gui.views.conversations import Wish
from tests.chatty_model import chatty_model
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import (  # noqa: F401 - pytest finds the fixture by itself
    CONFIG,
    Seat,
    asks,
    at_home_fixture,
    control_of,
    harvested_at,
    seated,
    workspace_at,
    write_ledger,
)
from tests.waiting import PATIENCE_SECONDS


def test_every_view_opens_by_its_number_and_is_refreshed_without_a_new_item(desk: Desk, at_home: Path) -> None:
    """Items made at each refresh would eat the memory of a panel that stays open for weeks."""
    from gui.workbench import VIEWS

    with seated(desk, workspace_at(at_home)) as seat:
        for view in (*(row.name for row in VIEWS), "conversations"):
            seat.panel.shell.run("search" if view == "search" else f"view.{view}")
            seat.settle()
            assert seat.state.view == view and desk.dpg.is_item_shown(seat.panel.workbench._holders[view])
        items = desk.items()
        for row in VIEWS:
            desk.press(control_of(row.name)) if row.key else seat.panel.shell.run(row.action)
            seat.settle()
            desk.press("F5")
            seat.settle()
        assert desk.items() == items


def test_a_harvest_by_mouse_from_the_dry_run_to_its_undo(desk: Desk, at_home: Path) -> None:
    """The promise: nothing changes before Apply, all of it is told after, and one click takes it back."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        panel = seat.panel
        desk.click(panel.status.harvest.item)
        seat.until(lambda: panel.run.now.phase == "planned")
        assert not workspace.paths.knowledge.exists(), "a dry run has written something"
        at = [row.key for row in panel.harvest.list.rows].index("each")
        assert len(panel.harvest.list.rows[at + 1 :]) == 9 and panel.harvest.dialog.confirm_button
        desk.click(panel.harvest.dialog.confirm_button.item)
        seat.until(lambda: panel.run.now.phase == "ended")
        seat.settle()
        report = panel.run.now.report
        assert report is not None and report.harvested == 6 and sum(report.items.values()) > 5
        facts = workspace.paths.knowledge / "facts.md"
        assert facts.read_text(encoding="utf-8").count("\n- ") + 1 > 1
        assert "6 conversations harvested" in panel.harvest.watch.result.rows[0].text
        desk.click(panel.harvest.undo.item)
        seat.until(lambda: panel.run.now.undone)
        assert "- " not in facts.read_text(encoding="utf-8").replace("# ", "")
        assert desk.dpg.get_value(panel.harvest.dialog._title) == "Harvest taken back"
        assert "left your files" in panel.harvest.watch.result.rows[0].text
        desk.click(panel.harvest.dialog.confirm_button.item)
        seat.settle()
        assert not panel.harvest.dialog.is_open
        pending = seat.state.snapshot.overview.status.pending
        assert (pending["conversations"], pending["undone"]) == (0, 6), "what was undone comes back by itself"


def test_a_harvest_by_keys_alone(desk: Desk, at_home: Path) -> None:
    """Somebody who cannot use a mouse must get from the start to an applied harvest."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        desk.press("ctrl+h")
        seat.until(lambda: seat.panel.run.now.phase == "planned")
        desk.press("Return")
        seat.until(lambda: seat.panel.run.now.phase == "ended")
        desk.press("Return")
        seat.settle()
        assert not seat.panel.harvest.dialog.is_open
        assert seat.panel.workbench.views["conversations"].all.count == 6  # type: ignore[attr-defined]
        desk.press("Down")
        assert seat.state.selected.kind == "conversation"
        desk.press("ctrl+k")
        desk.frames(4)
        desk.press("greater")
        desk.type_text("go to settin")
        desk.press("Return")
        seat.settle()
        assert seat.state.view == "settings"


def test_a_slow_harvest_is_stopped_in_the_middle_and_leaves_whole_conversations(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancel must neither wait for the end nor tear a conversation; the panel stays usable while the model thinks."""
    with chatty_model(failing=0.0, busy=0.0, broken=0.0) as model:
        quick, stopped = model.answer, threading.Event()

        def slowly(prompt: str) -> tuple[int, str]:
            if model.calls >= 2:
                stopped.wait(PATIENCE_SECONDS)  # the third one thinks until the user has had enough
            return quick(prompt)

        monkeypatch.setattr(model, "answer", slowly)
        settings = f'{CONFIG}provider = "openai"\nmodel = "made-up"\nbase_url = "{model.url}"\n'
        workspace = workspace_at(at_home, config=settings)
        with seated(desk, workspace) as seat:
            panel = seat.panel
            desk.press("ctrl+h")
            seat.until(lambda: panel.run.now.phase == "planned")
            desk.press("Return")
            seat.until(lambda: seat.state.activity is not None and seat.state.activity.done >= 1)
            desk.press("Escape")
            assert not panel.harvest.dialog.is_open and seat.state.activity is not None
            assert "Harvesting" in panel.status.harvest.label
            desk.click(panel.status.harvest.item)  # shows the run and begins nothing
            assert panel.harvest.dialog.is_open and panel.run.now.phase == "running"
            desk.press("Escape")
            assert not panel.harvest.dialog.is_open
            desk.press(control_of("settings"))
            assert seat.state.view == "settings"  # the panel works on while the model thinks
            desk.click(panel.status.cancel.item)
            stopped.set()
            assert seat.state.activity is None or seat.state.activity.stopping
            seat.until(lambda: seat.state.activity is None)
            seat.settle()
            report = panel.run.now.report
            assert report is not None and report.cancelled and 1 <= report.harvested < 6
            told = desk.dpg.get_value(panel.shell._toast._words)
            assert told.startswith(f"Stopped: {report.harvested} conversation"), "what ends in the background is told"
            desk.click(panel.shell._toast._button.item)
            assert panel.harvest.dialog.is_open and panel.run.now.report is report, "its end, and no new dry run"
            desk.press("Return")
            assert not panel.harvest.dialog.is_open
            after = attempt(status, workspace)
            assert isinstance(after, Ok) and after.value.ledger["harvested"] == report.harvested
            assert after.value.pending["interrupted"] is False


def test_a_harvest_that_fails_in_the_background_is_told(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its dialog was closed, and nothing said that no conversation had been read."""
    workspace, go = workspace_at(at_home), threading.Event()
    real = gui.harvest_run.harvest

    def slow(*given: Any, **how: Any) -> HarvestReport:
        if "progress" in how:
            go.wait(PATIENCE_SECONDS)
            raise OSError(errno.ENOSPC, "No space left on device", str(workspace.paths.home))
        return real(*given, **how)

    monkeypatch.setattr(gui.harvest_run, "harvest", slow)
    with seated(desk, workspace) as seat:
        panel = seat.panel
        seat.panel.shell.run("harvest")
        seat.until(lambda: panel.run.now.phase == "planned")
        desk.press("Return")
        seat.until(lambda: panel.run.now.phase == "running")
        desk.press("Escape")
        go.set()
        seat.until(lambda: panel.run.now.phase == "failed")
        banner = panel.workbench.banner
        assert banner.shown is not None and "No space left" in banner.shown.message
        desk.click(banner._button.item)
        seat.until(lambda: panel.run.now.phase == "planned")
        assert panel.harvest.dialog.is_open


def test_the_switch_changes_one_word_of_the_settings_file(desk: Desk, at_home: Path) -> None:
    """Comments, order and spaces of config.toml are the user's own; a plain letter writes nothing into it."""
    workspace = harvested_at(at_home)
    file = workspace.loaded.file
    before = file.read_bytes()
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        desk.click(seat.panel.workbench.sides["knowledge"].digest.toggle.item)  # type: ignore[attr-defined]
        seat.settle()
        assert file.read_bytes() == before.replace(b"digest_enabled = true ", b"digest_enabled = false ")
        assert seat.state.snapshot.overview.status.digest.enabled is False
        desk.press("d")
        seat.settle()
        assert seat.state.snapshot.overview.status.digest.enabled is False
        desk.press("ctrl+shift+d")
        seat.settle()
        assert file.read_bytes() == before


def test_a_switch_that_could_not_be_written_shows_what_stands(desk: Desk, at_home: Path) -> None:
    """Else who switched the digest off believes it, and every conversation gets it."""
    workspace = harvested_at(at_home)
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        switch = seat.panel.workbench.sides["knowledge"].digest  # type: ignore[attr-defined]
        with patch("gui.shell.config_set", side_effect=KnowledgeError("settings-failed", "the disk is full", "")):
            desk.click(switch.toggle.item)
            seat.settle()
        assert switch.toggle.on and b"digest_enabled = true" in workspace.loaded.file.read_bytes()


def test_the_digest_is_deleted_by_a_second_yes_and_written_by_the_switch(desk: Desk, at_home: Path) -> None:
    """Enter is what a hand presses while it thinks that it writes: it must not delete anything."""
    workspace = harvested_at(at_home)
    text = workspace.paths.digest.read_bytes()
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        switch = side.digest
        assert switch.toggle.on
        for no in ("Escape", "Return", "ctrl+Return", "d", "space"):
            seat.panel.shell.run("digest.delete")
            desk.frames(4)
            assert asks(seat.panel.shell)
            desk.press(no)
            seat.settle()
            assert workspace.paths.digest.read_bytes() == text, no
            desk.press("Escape")
        desk.click(switch.more.item)
        desk.press("Down")
        desk.press("Down")
        desk.press("Return")
        desk.frames(4)
        desk.press("alt+d")
        seat.settle()
        assert not workspace.paths.digest.exists() and not switch.toggle.on
        words = " ".join(str(desk.dpg.get_value(side._why)).split())
        assert "deleted" in words and f"It would hold {len(text):,} B" in words, "what the switch then writes"
        assert desk.dpg.get_item_label(switch.toggle.label) == "Digest"
        desk.click(switch.toggle.label)
        seat.settle()
        assert workspace.paths.digest.read_bytes() == text and switch.toggle.on
        assert desk.dpg.get_value(side._why) == "", "nothing is wrong with it"


def test_conversations_are_filtered_by_chips_and_weeks(desk: Desk, at_home: Path) -> None:
    """A user looks for the three failures among hundreds."""
    workspace = workspace_at(at_home, demo=False)
    rows = [
        {
            "path": f"/home/someone/chats/会議-{number:03d}",
            "status": "harvest-failed" if number % 100 == 0 else "harvested",
            "at": f"2026-05-{number % 28 + 1:02d}T12:00:00+00:00",
            "items": {"facts": number},
            "error": "the model did not answer" if number % 100 == 0 else "",
            "source": "" if number % 100 == 0 else "codex" if number % 2 else "aider",
        }
        for number in range(1, 301)
    ]
    write_ledger(workspace, rows)
    with seated(desk, workspace) as seat:
        view: Any = seat.panel.workbench.views["conversations"]
        table, row = view.table, view.row
        assert len(table.rows) == 300, "one group has no head"
        desk.click(view.chips["harvest-failed"].item)
        assert [row(at).name for at in table.rows] == ["会議-300", "会議-100", "会議-200"]
        gave = [column.key for column in table.columns].index("gave")
        assert view._cell(table.rows[0], gave)[0] == "The model did not answer"
        desk.click(view.all.item)
        view.strip.set({"2026-11-20": 3})
        desk.press("period")
        assert view.wish.first and not table.rows, "nobody spoke this week"
        desk.press("Escape")
        assert len(table.rows) == 300 and not view.wish.first


def test_conversations_stand_by_project_what_waits_first_and_say_when_their_tool_deletes_them(
    desk: Desk, at_home: Path
) -> None:
    """A user sees what is not harvested yet, and what is lost in three days, without a look at any other list."""
    workspace = workspace_at(at_home, config=CONFIG.replace("jobs = 1", 'jobs = 1\nsources = ["home", "claude_code"]'))
    sessions = at_home / ".claude" / "projects" / "-srv-shelf"
    sessions.mkdir(parents=True)
    line = {"type": "user", "cwd": "/srv/shelf", "sessionId": "one", "timestamp": "2026-10-01T08:00:00Z", "uuid": "a",
            "parentUuid": None, "isSidechain": False, "version": "2.0.1",
            "message": {"role": "user", "content": "Sort the shelf by tag, please"}}  # fmt: skip
    session = sessions / "one.jsonl"
    session.write_text(json.dumps(line) + "\n", encoding="utf-8")
    old = time.time() - 27.5 * 86_400
    os.utime(session, (old, old))
    read = {"path": "/home/someone/chats/read", "status": "harvested", "at": "2026-05-02T12:00:00+00:00"}
    titles = (("harbor", "One", "03"), ("shelf", "Two", "01"), ("harbor", "Three", "04"), ("harbor", "Four", "02"))
    rows = [{**read, "project_root": f"/srv/{name}", "items": {"facts": 2}, "title": title, "date": f"2026-04-{day}"}
            for name, title, day in titles]  # fmt: skip
    write_ledger(workspace, rows)
    with seated(desk, workspace) as seat:
        view: Any = seat.panel.workbench.views["conversations"]
        column = {column.key: at for at, column in enumerate(view.table.columns)}

        def shown(key: str) -> list[str]:
            cells = (view._cell(at, column[key]) for at in view.table.rows)
            return [cell if isinstance(cell, str) else cell[0] for cell in cells]

        names, gave = shown("name"), shown("gave")
        waiting = seat.state.snapshot.overview.status.pending["conversations"]
        assert view.chips["waiting"].count == gave.count("not harvested yet") == waiting > 1
        at = names.index("shelf  ·  2 conversations")
        assert names[at + 1 : at + 3] == ["Sort the shelf by tag, please", "Two"], "what waits is first"
        assert gave[at : at + 2] == ["2 bullets", "not harvested yet"] and shown("ends")[at + 1] == "gone in 2 days"
        read = names[names.index("harbor  ·  3 conversations") + 1 :]
        assert read[:3] == ["Three", "One", "Four"], "the newest day first, whenever it was read"
        for _ in names:
            desk.press("Down")
            assert view.table.selected is None or view.table.selected >= 0, "a head is no conversation"
        seat.panel.shell.run("show.waiting")
        seat.settle()
        assert {view.row(at).status for at in view.table.rows if at >= 0} == {"waiting"}
        place = next(at for at in view.table.rows if view.row(at).path == str(session))
        assert view._cell(place, column["tool"]) == "Claude Code"
        view.table.select(place)
        read = {"path": "/home/someone/chats/new", "status": "harvested", "at": "2026-05-03T12:00:00+00:00"}
        write_ledger(workspace, [*rows, read])
        seat.until(lambda: len(seat.state.snapshot.ledger) == len(rows) + 1)
        seat.settle()
        desk.press("h")
        seat.until(lambda: seat.panel.run.now.phase == "planned")
        planned = seat.panel.run.now.plan.plan.steps
        assert [step.artifact.path for step in planned] == [str(session)], "it alone"


def test_the_dry_run_says_nothing_of_what_a_forgotten_conversation_was_about(desk: Desk, at_home: Path) -> None:
    workspace = workspace_at(at_home)
    harvest(workspace, HarvestRequest(apply=True))
    entry = next(iter(json.loads(workspace.paths.ledger.read_text("utf-8"))["entries"].values()))
    with seated(desk, workspace) as seat:
        seat.panel.shell.run("harvest")
        seat.until(lambda: seat.panel.run.now.phase == "planned")
        assert entry["path"] in seat.panel.run.now.names
        desk.press("Escape")
        forget(workspace, Path(entry["path"]).name, yes=True)
        seat.settle()
        seat.panel.shell.run("harvest")
        seat.until(lambda: seat.panel.run.now.phase == "planned")
        assert entry["path"] not in seat.panel.run.now.names


def test_nothing_is_counted_before_it_is_known(desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For six seconds a full store had 0 conversations, and the digest looked switched off."""
    workspace, go = harvested_at(at_home), threading.Event()
    real = gui.gather.gather

    def slow(*words: Any) -> Any:
        go.wait(PATIENCE_SECONDS)
        return real(*words)

    monkeypatch.setattr(gui.gather, "gather", slow)
    dpg, seat = desk.dpg, Seat(desk, workspace, choices={"view": "knowledge"})

    def words() -> str:
        texts = [item for item in dpg.get_all_items() if dpg.get_item_type(item).endswith("mvText")]
        said = [str(dpg.get_value(item)) for item in texts if dpg.get_item_state(item).get("visible")]
        for item in dpg.get_all_items():
            if dpg.get_item_type(item).endswith("mvDrawText") and dpg.get_item_configuration(item)["show"]:
                drawn = item
                while not dpg.get_item_type(drawn).endswith("mvDrawlist"):
                    drawn = dpg.get_item_parent(drawn)
                if dpg.get_item_state(drawn).get("visible"):
                    said.append(dpg.get_item_configuration(item)["text"])
        return "\n".join(said)

    try:
        for view in ("conversations", "files", "memories", "settings", "knowledge"):
            seat.panel.shell.run(f"view.{view}")
            desk.frames(6)
            said = words()
            assert "Loading…" in said, (view, said)
            for guess in ("0 conversations", "0 bullets", "No facts yet", "No memories yet", "0 waiting"):
                assert guess not in said, view
        side: Any = seat.panel.workbench.sides["knowledge"]
        assert not side.digest.toggle.known
        go.set()
        seat.settle()
        seat.until(lambda: "Loading…" not in words())
        assert side.digest.toggle.known and side.digest.toggle.on and seat.faults() == []
    finally:
        go.set()
        seat.leave()


def test_what_a_folder_of_somebody_else_wants_is_asked_once(desk: Desk, at_home: Path, tmp_path: Path) -> None:
    """A host opens the panel in a clone: its settings wait, the banner says so, and a yes there lets them count."""
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "config.toml").write_text("[ai_settings.knowledge]\njobs = 7\n", encoding="utf-8")
    workspace = open_workspace(str(at_home / "home"), None, workspace_at(at_home).environment, clone)
    with seated(desk, workspace) as seat:
        desk.press("F5")
        seat.settle()
        banner = seat.panel.workbench.banner
        assert banner.shown is not None and "do not count before you trust them" in banner.shown.message
        banner._act()
        seat.settle()
        question = seat.panel.shell._question
        assert question is not None and question.dialog.is_open
        assert "jobs = 7" in desk.dpg.get_value(question.words)
        desk.click(question.dialog.confirm_button.item)
        seat.settle()
        assert seat.panel.workbench.banner.shown is None and seat.panel.shell.workspace.config.jobs == 7
        (clone / "config.toml").write_text("[ai_settings.knowledge]\njobs = 9\n", encoding="utf-8")
        desk.press("F5")
        seat.until(lambda: banner.shown is not None)
        assert seat.panel.shell.workspace.config.jobs == 4


def test_two_panels_in_one_host_leave_nothing_behind(desk: Desk, at_home: Path, tmp_path: Path) -> None:
    """A host opens and closes panels all day; keys go to the one that is clicked."""
    first_home, second_home = tmp_path / "one", tmp_path / "two"
    for folder in (first_home, second_home):
        folder.mkdir()
    row = int(desk.dpg.add_group(horizontal=True, parent=desk.page))
    page, desk.page = desk.page, row
    warm = Seat(desk, workspace_at(first_home), width=640)
    warm.settle()
    desk.click(warm.panel.status._words)
    for name in ("settings", "knowledge"):  # a letter of another size is loaded once, for all panels to come
        desk.press(control_of(name))
    warm.leave()
    items = desk.items()
    first, second = Seat(desk, warm.workspace, width=640), Seat(desk, workspace_at(second_home), width=640)
    try:
        first.settle()
        second.settle()
        desk.click(second.panel.status._words)
        desk.press(control_of("settings"))
        assert (first.state.view, second.state.view) == ("conversations", "settings")
        desk.click(first.panel.status._words)
        desk.press(control_of("knowledge"))
        assert (first.state.view, second.state.view) == ("knowledge", "settings")
        assert first.faults() == [] and second.faults() == []
    finally:
        first.leave()
        second.leave()
        desk.page = page
    desk.frames(3)
    assert desk.items() == items


def test_the_first_start_offers_the_demo_in_the_same_window(desk: Desk, at_home: Path) -> None:
    """Somebody who has nothing yet sees what it would be like, and their own home stays empty."""
    workspace = workspace_at(at_home, demo=False)
    with seated(desk, workspace) as seat:
        assert desk.dpg.is_item_shown(seat.panel.first_start.item)
        desk.click(seat.panel.first_start.demo.item)
        seat.until(lambda: seat.state.home != str(workspace.paths.home))
        seat.settle()
        assert not desk.dpg.is_item_shown(seat.panel.first_start.item)
        assert seat.panel.workbench.views["conversations"].chips["harvested"].count == 4  # type: ignore[attr-defined]
        assert not workspace.paths.home.exists()


def test_the_first_start_leads_to_the_sources(desk: Desk, at_home: Path) -> None:
    """Most people have conversations of other tools and none in our folder: an empty page must not be the end."""
    with seated(desk, workspace_at(at_home, demo=False)) as seat:
        desk.click(seat.panel.first_start.sources.item)
        seat.settle()
        assert seat.state.view == "conversations" and not desk.dpg.is_item_shown(seat.panel.first_start.item)
        assert desk.dpg.is_item_shown(seat.panel.workbench._sides["conversations"])


def test_an_error_of_one_act_goes_with_the_next_one_and_a_state_stays(desk: Desk, at_home: Path) -> None:
    """A sentence of an hour ago above everything makes a user doubt what works."""
    with seated(desk, workspace_at(at_home)) as seat:
        shell, banner = seat.panel.shell, seat.panel.workbench.banner
        shell.error(ErrorInfo("made-up", "The kettle is cold"))
        shell.write("A bullet", lambda workspace: add(workspace, "facts", "The kettle is warm"))
        seat.settle()
        assert banner.shown is None
        seat.panel.workbench.show_error(ErrorInfo("made-up", "The kettle is cold"), stays=True)
        shell.write("A bullet", lambda workspace: add(workspace, "facts", "The kettle is hot"))
        seat.settle()
        assert banner.shown is not None


def test_an_error_moves_nothing_under_the_mouse_and_is_told_once(desk: Desk, at_home: Path) -> None:
    """A banner that pushed all rows down turned the next click into one on another row."""
    dpg = desk.dpg
    with seated(desk, harvested_at(at_home)) as seat:
        panel, table = seat.panel, seat.panel.workbench.views["conversations"].table
        holder = panel.workbench._holders["conversations"]
        tops, tall = [table.place_of(row) for row in table.rows[:4]], dpg.get_item_rect_size(holder)[1]
        panel.shell.error(
            ErrorInfo("no-key", "No key was found for this", "~/keys", "Set one"), "Settings", lambda: None
        )
        banner = panel.workbench.banner
        seat.until(lambda: 20 < banner.height < tall - dpg.get_item_rect_size(holder)[1])
        assert [table.place_of(row) for row in table.rows[:4]] == tops and dpg.is_item_shown(banner.item)
        assert dpg.get_item_rect_min(banner._words)[1] > max(top[1] for top in tops)
        assert "No key" not in str(dpg.get_value(panel.status._words))
        banner.hide()
        seat.until(lambda: dpg.get_item_rect_size(holder)[1] == tall)


def test_an_error_is_seen_whatever_stands_above_it(desk: Desk, at_home: Path) -> None:
    """Over a conversation that is read, and on the page of the first start, an error was not to be seen at all; beside
    the evidence its button was covered, and a message lay over it."""
    dpg = desk.dpg

    def free(seat: Seat, over: int) -> bool:
        """Whether the error is in sight, below an item of the panel."""
        banner, foot = seat.panel.workbench.banner, dpg.get_item_pos(over)[1] + dpg.get_item_rect_size(over)[1]
        return dpg.is_item_visible(banner._words) and foot <= dpg.get_item_pos(banner.item)[1]

    cold = ErrorInfo("made-up", "The kettle is cold")
    with seated(desk, harvested_at(at_home)) as seat:
        panel, table = seat.panel, seat.panel.workbench.views["conversations"].table
        panel.shell.error(cold, "Warm it", lambda: None)
        desk.press("Down")
        panel.shell.toast("12 bullets added", seconds=600)
        seat.until(lambda: dpg.is_item_shown(panel.evidence) and free(seat, panel.evidence))
        seat.until(lambda: free(seat, panel.shell._toast.item))
        panel.shell.read(key=panel.workbench.views["conversations"].entries[table.rows[0]].key)
        seat.until(lambda: panel.reading.is_open and free(seat, panel.reading.item))
    (at_home / "new").mkdir()
    with seated(desk, workspace_at(at_home / "new", demo=False)) as seat:
        seat.panel.shell.error(cold)
        seat.until(lambda: free(seat, seat.panel.first_start.item))


def test_a_long_error_scrolls_in_a_low_window_and_its_button_is_there(desk: Desk, at_home: Path) -> None:
    """It ran out of the window, with its button in the middle of other text."""
    dpg = desk.dpg
    long = ErrorInfo("made-up", "The kettle is cold " + "and nobody warms it " * 30)
    heard: list[str] = []
    with seated(desk, harvested_at(at_home), choices={"view": "knowledge"}, width=480) as seat:
        banner = seat.panel.workbench.banner
        dpg.configure_item(seat.page, height=360)
        seat.panel.shell.error(long, "Warm it", lambda: heard.append("warm"))
        seat.until(lambda: 40 < banner.height == dpg.get_item_rect_size(banner.item)[1])
        desk.frames(10)
        around = dpg.get_item_rect_size(seat.panel.root)[1]
        assert dpg.get_item_pos(banner.item)[1] + banner.height <= around and dpg.get_y_scroll_max(banner._well) > 40
        desk.click(banner._button.item)
        seat.until(lambda: heard == ["warm"])


def will_lose(found: Any, late: ErrorInfo) -> Any:
    """A snapshot in which the conversations of one tool are about to go."""
    status = replace(found.overview.status, late=late.message, late_sources=("claude_code",))
    return replace(found, problems=(late,), overview=replace(found.overview, status=status))


def test_what_will_be_lost_is_told_once_and_leads_to_its_harvest(desk: Desk, at_home: Path) -> None:
    """The same sentence stood at the top and at the foot, and named a command line only; its button led to a column
    that narrow windows do not have, and took the sentence away for good."""
    late = ErrorInfo(gui.gather.LATE, "2 conversations will be deleted within 7 days", hint="harvest them")
    with seated(desk, harvested_at(at_home), choices={"view": "knowledge"}) as seat:
        panel, top = seat.panel, seat.panel.status._words
        panel.shell.change(snapshot=will_lose(seat.state.snapshot, late))
        seat.settle()
        assert "deleted" not in desk.dpg.get_value(top)
        desk.click(panel.workbench.banner._button.item)
        seat.settle()
        seat.until(lambda: panel.run.now.phase == "planned")
        assert panel.harvest.dialog.is_open and panel.run.now.sources == ("claude_code",)
        panel.harvest.dialog.cancel()
        seat.settle()
        assert panel.workbench.banner.shown == late, "it is not over yet"
        panel.shell.change(snapshot=replace(seat.state.snapshot, problems=()))
        seat.settle()
        assert panel.workbench.banner.shown is None
    (at_home / "new").mkdir()
    with seated(desk, workspace_at(at_home / "new", demo=False)) as seat:
        panel = seat.panel
        panel.shell.change(snapshot=will_lose(seat.state.snapshot, late))
        seat.settle()
        assert panel.workbench.banner.shown is None and desk.dpg.is_item_shown(panel.first_start.item)
        panel.shell.run("view.settings")
        seat.settle()
        assert panel.workbench.banner.shown == late, "the page that tells of it is left"


def test_a_damaged_ledger_is_mended_from_the_line_of_state(desk: Desk, at_home: Path) -> None:
    """The button offered a harvest, in whose dialog nothing said that the ledger comes first."""
    workspace = harvested_at(at_home)
    whole = workspace.paths.ledger.read_bytes()
    workspace.paths.ledger.write_bytes(whole[: len(whole) // 2])
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        assert "Repair…" in seat.panel.status.harvest.label
        desk.click(seat.panel.status.harvest.item)
        seat.until(lambda: asks(seat.panel.shell))
        desk.press("Return")
        seat.until(lambda: "Harvest…" in seat.panel.status.harvest.label)
        assert len(json.loads(workspace.paths.ledger.read_bytes())["entries"]) == 6


def test_a_key_too_many_in_an_empty_view_costs_no_keyboard(desk: Desk, at_home: Path) -> None:
    """A week was chosen of a year that is not there; Esc then gave the keys to the host's window, for good."""
    workspace = workspace_at(at_home)
    for conversation in workspace.paths.conversations.iterdir():
        conversation.unlink()
    with seated(desk, workspace) as seat:
        view: Any = seat.panel.workbench.views["conversations"]
        desk.press("period")
        assert not view.wish.first
        view.wish = Wish(first="2026-01-05", last="2026-01-11")
        desk.press("Escape")
        seat.settle()
        desk.press(control_of("settings"))
        assert seat.state.view == "settings"
