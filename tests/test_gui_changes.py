"""The whole panel in a real window, while tools, editors, other programs and steps back change what it shows."""

from __future__ import annotations

import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.commands.bullets import add
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.history.undo import undo
from core.commands.settings import config_set, trust_allow
from core.harvest.report import Progress
from gui import harvest_run
from gui.watch import Watcher
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import (  # noqa: F401 - pytest finds the fixture by itself
    CONFIG,
    Seat,
    asks,
    at_home_fixture,
    claude_talk,
    control_of,
    harvested_at,
    seated,
    workspace_at,
    write_ledger,
)
from tests.waiting import PATIENCE_SECONDS


def test_what_a_tool_has_written_is_noticed_while_somebody_is_there(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is not watched: the button said for hours that nothing waits. Nor does an idle window read."""
    import gui.panel

    workspace = workspace_at(at_home, demo=False, config=CONFIG + 'sources = ["claude_code"]\n')
    write_ledger(workspace, [{"path": "/t/a", "status": "harvested", "at": "2026-05-02T12:00:00+00:00"}])
    with seated(desk, workspace) as seat:
        claude_talk(at_home)
        desk.move(300, 300)
        monkeypatch.setattr(gui.panel, "AGES_SECONDS", 59)
        seat.until(lambda: seat.panel.status.harvest.label.endswith("Harvest 1…"))
        ended = seat.panel.reader._ended
        monkeypatch.setattr(gui.panel, "AGES_SECONDS", 58)
        seat.settle()
        assert seat.panel.reader._ended == ended
        desk.press("Down")
        monkeypatch.setattr(gui.panel, "AGES_SECONDS", 57)
        seat.until(lambda: seat.panel.reader._ended != ended)


def test_what_others_change_appears_by_itself(desk: Desk, at_home: Path) -> None:
    """A line written in an editor, or by the command line, must not wait for a key."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        watcher = seat.panel.homes._watcher
        assert watcher is not None and watcher.ready.wait(PATIENCE_SECONDS)
        workspace.paths.knowledge.mkdir()
        facts = workspace.paths.knowledge / "facts.md"
        facts.write_text("# Facts\n\n- Порт 8080 занят.\n", encoding="utf-8")
        seat.until(lambda: seat.state.snapshot.overview.file("facts.md").bullets == 1)
        facts.write_text("# Facts\n\n- Порт 8080 занят.\n- 二つ目\n", encoding="utf-8")
        seat.until(lambda: seat.state.snapshot.overview.file("facts.md").bullets == 2)
        assert seat.state.snapshot.overview.file("facts.md").by_hand


def test_the_dry_run_that_is_shown_follows_what_others_do(desk: Desk, at_home: Path) -> None:
    """It said that six would be read; another program had read them, and Apply came to nothing."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        watcher, dialog = seat.panel.homes._watcher, seat.panel.harvest
        assert watcher is not None and watcher.ready.wait(PATIENCE_SECONDS)
        desk.press("ctrl+h")
        seat.until(lambda: dialog.list.rows and dialog.list.rows[0].text == "harvest 6 conversations")
        assert isinstance(attempt(harvest, workspace, HarvestRequest(apply=True)), Ok)
        seat.until(lambda: "nothing to do" in str(desk.dpg.get_value(dialog._intro)))
        desk.press("Return")
        seat.settle()
        assert dialog.dialog.is_open and seat.panel.run.now.phase == "planned"
        desk.press("Escape")


def test_what_git_has_since_is_asked_about_when_the_user_is_back(desk: Desk, at_home: Path) -> None:
    """A commit by hand changes nothing in the store: the task stood there as if nobody had done it."""
    workspace, shop = workspace_at(at_home, demo=False), at_home / "shop"
    shop.mkdir()
    git = ["git", "-C", str(shop), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["commit", "-qm", "Begin", "--allow-empty"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (shop / "till.py").write_text("SUM = 1\n")
    read = {"status": "harvested", "at": "2026-05-02T12:00:00+00:00", "title": "Talk"}
    write_ledger(workspace, [{**read, "path": "/t/till", "name": "till", "project": str(shop),
                             "project_root": str(shop)}])  # fmt: skip
    task = "- Commit `till.py`: changed and not committed when the session ended [from: till, 2026-05-02]\n"
    (workspace.paths.knowledge / "tasks.md").write_text(f"# Tasks\n\n## Open\n\n{task}\n## Done\n", encoding="utf-8")
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        view: Any = seat.panel.workbench.views["knowledge"]
        seat.settle()
        assert view.looks.waiting == []
        for words in (["add", "till.py"], ["commit", "-qm", "The till"]):
            subprocess.run([*git, *words], check=True, capture_output=True)
        seat.panel.returned()
        seat.until(lambda: view.looks.waiting)
        assert [row.kind for row in view.looks.waiting] == ["finished"]


def test_what_changes_while_the_watch_begins_anew_is_not_missed(at_home: Path) -> None:
    """When another file is watched it begins anew: for a moment it saw nothing, and told nobody."""
    news, workspace = threading.Event(), workspace_at(at_home, demo=False)
    watcher = Watcher(workspace.paths, news.set)
    try:
        assert watcher.ready.wait(PATIENCE_SECONDS) and not news.is_set()
        watcher.also([str(workspace.loaded.file)])
        assert news.wait(PATIENCE_SECONDS)
    finally:
        watcher.stop()


@pytest.mark.parametrize("room", ["home", "knowledge"])
def test_a_folder_that_a_backup_took_the_place_of_is_watched(at_home: Path, room: str) -> None:
    """Under the same name it is another one: nothing that was edited in it came into the window any more."""
    news, workspace = threading.Event(), workspace_at(at_home, demo=False)
    folder, facts = getattr(workspace.paths, room), workspace.paths.knowledge / "facts.md"
    facts.parent.mkdir(parents=True)
    facts.write_text("- One\n", encoding="utf-8")
    shutil.copytree(folder, at_home / "backup")
    watcher = Watcher(workspace.paths, news.set)
    try:
        assert watcher.ready.wait(PATIENCE_SECONDS)
        folder.rename(at_home / "before")
        (at_home / "backup").rename(folder)
        while news.wait(2.5):  # until all of that was told, and it watches again
            news.clear()
        facts.write_text("- Another\n", encoding="utf-8")
        assert news.wait(10.0)
    finally:
        watcher.stop()


def test_a_broken_settings_file_is_told_and_mended_without_a_restart(desk: Desk, at_home: Path) -> None:
    """A slip in an editor must not take the panel away."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        good = workspace.loaded.file.read_text(encoding="utf-8")
        workspace.loaded.file.write_text("[ai_settings.knowledge\n", encoding="utf-8")
        desk.press("F5")
        seat.settle()
        assert seat.panel.workbench.banner.shown is not None and seat.state.snapshot is not None
        workspace.loaded.file.write_text(good, encoding="utf-8")
        desk.press("F5")
        seat.settle()
        assert seat.panel.workbench.banner.shown is None


def test_no_harvest_runs_on_settings_that_are_not_those_of_the_file(desk: Desk, at_home: Path) -> None:
    """The banner said that config.toml is broken, and Harvest ran on what it had said an hour ago."""
    workspace = workspace_at(at_home)
    file, good = workspace.loaded.file, workspace.loaded.file.read_text(encoding="utf-8")
    with seated(desk, workspace) as seat:
        run = seat.panel.run
        file.write_text("[ai_settings.knowledge\n", encoding="utf-8")
        desk.press("ctrl+h")
        seat.until(lambda: run.now.phase == "failed")
        assert run.now.error is not None and "config.toml" in str(run.now.error)
        assert "config.toml" in desk.dpg.get_value(seat.panel.harvest._wait)
        file.write_text(good, encoding="utf-8")
        desk.press("Return")
        seat.until(lambda: run.now.phase == "planned")
        file.write_text("[ai_settings.knowledge\n", encoding="utf-8")
        desk.press("Return")
        seat.until(lambda: run.now.phase == "failed")
        assert not workspace.paths.ledger.exists(), "it harvested on older settings"
        file.write_text(good, encoding="utf-8")


def test_a_harvest_that_breaks_off_is_not_said_not_to_have_begun(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that fills up in the middle: one conversation is in the files already."""
    with seated(desk, workspace_at(at_home)) as seat:
        run = seat.panel.run
        desk.press("ctrl+h")
        seat.until(lambda: run.now.phase == "planned")
        first = next(step.artifact for step in run.now.plan.plan.steps if step.action == "harvest")

        def breaks(_workspace: object, _request: object, progress: Any, **_more: object) -> None:
            progress(Progress(1, 6, first.name, "harvested", path=first.path))
            raise KnowledgeError("disk", "no space is left")

        monkeypatch.setattr(harvest_run, "harvest", breaks)
        desk.press("Return")
        seat.until(lambda: run.now.phase == "failed")
        assert desk.dpg.get_value(seat.panel.harvest.dialog._title) == "The harvest ended early"


def test_a_misspelt_setting_is_told_in_the_window_too(desk: Desk, at_home: Path) -> None:
    """Only the command line said that a setting has no effect."""
    workspace = workspace_at(at_home)
    file, good = workspace.loaded.file, workspace.loaded.file.read_text(encoding="utf-8")
    with seated(desk, workspace) as seat:
        banner = seat.panel.workbench.banner
        file.write_text(good + "digest_max_byte = 9\n", encoding="utf-8")
        desk.press("F5")
        seat.until(lambda: banner.shown is not None)
        assert "unknown setting 'digest_max_byte' is ignored" in desk.dpg.get_value(banner._words)
        file.write_text(good, encoding="utf-8")
        desk.press("F5")
        seat.until(lambda: banner.shown is None)


def test_a_smaller_limit_is_no_change_of_the_files(desk: Desk, at_home: Path) -> None:
    """The digest card said "your files have changed since", and nobody had touched them."""
    workspace = harvested_at(at_home)
    held = len(workspace.paths.digest.read_bytes())
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        assert isinstance(attempt(config_set, workspace, "digest_max_bytes", "512"), Ok)
        desk.press("F5")
        seat.until(lambda: seat.state.snapshot.overview.status.digest.max_bytes == 512)
        seat.settle()
        said = " ".join(str(desk.dpg.get_value(side._why)).split())
        assert held > 512 and "larger than your limit of 512 bytes" in said and "changed" not in said
        assert isinstance(attempt(config_set, workspace, "digest_max_bytes", "300"), Ok)
        desk.press("F5")
        seat.until(lambda: desk.dpg.get_value(side._of) == "of 300 bytes")


def test_a_setting_is_taken_back_and_done_again_by_the_keys_of_undo(desk: Desk, at_home: Path) -> None:
    """Ctrl+Z takes back what was done last in this window, and a setting was not among it."""
    workspace = harvested_at(at_home, config=f"{CONFIG}digest_max_bytes = 4000\n")
    file = workspace.loaded.file
    before = file.read_bytes()
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        desk.click(seat.panel.workbench.sides["knowledge"].digest.toggle.item)  # type: ignore[attr-defined]
        seat.settle()
        off = file.read_bytes()
        view: Any = seat.panel.workbench.views["settings"]
        seat.panel.shell.run("view.settings")
        seat.settle()
        view._change("digest_max_bytes", "int", "300")
        seat.settle()
        both = file.read_bytes()
        assert before != off != both
        for key, expected in (("z", off), ("z", before), ("y", off), ("y", both), ("z", off)):
            desk.press(f"ctrl+{key}")
            seat.settle()
            assert file.read_bytes() == expected, key


def test_what_somebody_took_back_is_not_called_a_change_of_the_file(desk: Desk, at_home: Path) -> None:
    """After Undo the inspector said that the file has changed, as if another program had been there."""
    workspace = harvested_at(at_home)
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        shell, inspector = seat.panel.shell, seat.panel.inspector
        done = add(workspace, "facts", "The kettle is warm")
        desk.press("F5")
        seat.settle()
        raw = next(key[1] for key in shell.state.of("knowledge").said if "kettle" in key[1])
        shell.select("bullet", "facts.md", 0, raw)
        seat.settle()
        shell.undo(done.run)
        seat.settle()
        assert inspector.page is not None and inspector.page.title == "Taken back"
        assert "was taken back" in inspector.page.warning and "changed" not in inspector.page.warning


def ended_harvest(seat: Seat) -> Any:
    """The dialog of a harvest that has just ended."""
    run = seat.panel.run
    seat.panel.shell.run("harvest")
    seat.until(lambda: run.now.phase == "planned")
    run.apply()
    seat.until(lambda: run.now.phase == "ended")
    seat.settle()
    return seat.panel.harvest


def test_a_double_click_takes_a_run_back_once(desk: Desk, at_home: Path) -> None:
    """All bullets had left the files, and the dialog said that 0 had."""
    with seated(desk, workspace_at(at_home)) as seat:
        dialog = ended_harvest(seat)
        number = len(seat.panel.run.now.report.lines)  # type: ignore[union-attr]
        desk.click(dialog.undo.item, times=2)
        seat.until(lambda: seat.panel.run.now.undone)
        seat.settle()
        assert dialog.watch.result.rows[0].text == f"{number} bullets of it left your files"


def test_a_run_that_another_program_took_back_is_said_to_be(desk: Desk, at_home: Path) -> None:
    """The dialog said that 0 bullets had left the files, the toast that 0 lines were taken out."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        dialog = ended_harvest(seat)
        undo(workspace, seat.panel.run.now.report.run)  # type: ignore[union-attr]
        desk.click(dialog.undo.item)
        seat.until(lambda: seat.panel.run.now.undone)
        seat.settle()
        toast = str(desk.dpg.get_value(seat.panel.shell._toast._words))
        for said in (dialog.watch.result.rows[0].text, toast):
            assert "was taken back" in said and "0" not in said, said


def test_a_run_is_taken_back_in_its_own_home(desk: Desk, at_home: Path) -> None:
    """It ended after the demo had been left: "there is no run", and its digest had the bytes of the other home's."""
    folders = [at_home / name for name in ("own", "demo")]
    for folder in folders:
        folder.mkdir()
    own, demo = harvested_at(folders[0]), workspace_at(folders[1])
    with seated(desk, demo, own=own) as seat:
        dialog, run = seat.panel.harvest, seat.panel.run
        seat.panel.shell.run("harvest")
        seat.until(lambda: run.now.phase == "planned")
        run.apply()
        desk.press("Escape")
        seat.panel.shell.run("home.own")
        seat.until(lambda: run.now.phase == "ended")
        seat.settle()
        dialog._show_again(run.now)
        seat.settle()
        assert "digest" not in str(desk.dpg.get_value(dialog.watch._about))
        desk.click(dialog.undo.item)
        seat.settle()
        assert run.now.undone is not None and run.now.undone.lines_out
        assert "\n- " not in (demo.paths.knowledge / "facts.md").read_text(encoding="utf-8")
        assert "\n- " in (own.paths.knowledge / "facts.md").read_text(encoding="utf-8")


def test_a_dry_run_of_one_is_not_the_one_of_all_that_was_at_work(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its key was pressed while all were still looked at: the dialog showed all, and Apply would have read them."""
    workspace, go, real = workspace_at(at_home), threading.Event(), harvest_run.harvest

    def slow(*given: Any, **how: Any) -> Any:
        go.wait(PATIENCE_SECONDS)
        return real(*given, **how)

    with seated(desk, workspace) as seat:
        run, dialog = seat.panel.run, seat.panel.harvest
        monkeypatch.setattr(harvest_run, "harvest", slow)
        desk.press("ctrl+h")
        seat.until(lambda: run.now.phase == "planning")
        for key in ("Escape", "Down", "Down", "h"):
            desk.press(key)
        assert dialog.dialog.is_open and run.now.phase == "planning"
        go.set()
        seat.until(lambda: run.now.phase == "planned")
        seat.settle()
        assert run.now.sources and dialog.list.rows[0].text == "harvest 1 conversation"
        desk.press("Escape")


def test_the_words_of_another_project_are_read_when_the_user_is_back(desk: Desk, at_home: Path) -> None:
    """They had been changed in an editor, and the card showed the old ones, also after F5."""
    workspace, project = harvested_at(at_home), at_home / "shop"
    words = project / ".manual_slop" / "knowledge" / "context.md"
    words.parent.mkdir(parents=True)
    words.write_text("Closed today.", encoding="utf-8")
    trust_allow(workspace, str(project))
    with seated(desk, workspace, choices={"view": "knowledge", "project": str(project)}) as seat:
        side: Any = seat.panel.workbench.sides["knowledge"]
        assert side.start.words == "Closed today."
        for text, come_back in (
            ("The till rounds.", seat.panel.returned),
            ("Open on Monday.", lambda: desk.press("F5")),
        ):
            words.write_text(text, encoding="utf-8")
            come_back()
            seat.settle()
            assert side.start.words == text and "context.md" in side.write.label


def test_a_conversation_that_its_tool_has_deleted_is_not_harvested_alone(desk: Desk, at_home: Path) -> None:
    """H on it began a dry run of all that the tool has."""
    workspace = workspace_at(at_home, demo=False, config=CONFIG + 'sources = ["claude_code"]\n')
    claude_talk(at_home)
    harvest(workspace, HarvestRequest(apply=True))
    shutil.rmtree(at_home / ".claude")
    with seated(desk, workspace) as seat:
        for key in ("Down", "Down", "h"):
            desk.press(key)
        seat.settle()
        assert not seat.panel.harvest.dialog.is_open
        assert "not in its place any more" in str(desk.dpg.get_value(seat.panel.shell._toast._words))


def test_a_demo_that_comes_puts_the_dry_run_of_the_own_home_away(desk: Desk, at_home: Path) -> None:
    """Apply would have read the user's own conversations, with the demo's to be seen behind it."""
    with seated(desk, workspace_at(at_home)) as seat:
        for name in ("demo", "harvest"):
            seat.panel.shell.run(name)
        assert seat.panel.harvest.dialog.is_open
        seat.until(lambda: seat.state.away)
        seat.settle()
        assert not seat.panel.harvest.dialog.is_open
        desk.press("ctrl+h")
        seat.until(lambda: seat.panel.run.now.phase == "planned" and seat.panel.run.of_shown)
        assert seat.panel.harvest.list.rows[0].text == "harvest 2 conversations"
        desk.press("Escape")


def test_a_harvest_that_succeeds_ends_the_error_of_an_earlier_act(desk: Desk, at_home: Path) -> None:
    """ "No space left", or that a harvest is at work elsewhere, stood below one that had just gone well."""
    with seated(desk, workspace_at(at_home)) as seat:
        banner, run = seat.panel.workbench.banner, seat.panel.run
        seat.panel.shell.error(ErrorInfo("made-up", "No space left on device"))
        ended_harvest(seat)
        assert banner.shown is None
        desk.press("Return")
        seat.panel.shell.error(ErrorInfo("made-up", "'knowledge harvest' is at work"))
        run.finish()
        seat.settle()
        assert banner.shown is None


def test_what_was_found_in_one_home_is_not_repaired_in_another(desk: Desk, at_home: Path) -> None:
    """The check of the demo ended after it had been left, and a yes to it wrote the user's own ledger."""
    folders = [at_home / name for name in ("own", "demo")]
    for folder in folders:
        folder.mkdir()
    own, demo = (harvested_at(folder) for folder in folders)
    demo.paths.ledger.write_text("{ broken", encoding="utf-8")
    with seated(desk, demo, own=own) as seat:
        for name in ("doctor", "home.own"):
            seat.panel.shell.run(name)
        seat.settle()
        assert not asks(seat.panel.shell) and not seat.state.away
        seat.panel.shell.use_home(demo)
        seat.panel.shell.run("doctor")
        seat.settle()
        assert asks(seat.panel.shell)
        desk.press("Escape")
