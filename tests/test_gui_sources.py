"""Other tools' conversations in the window: if these fail, a user does not see what will be deleted unread."""

from __future__ import annotations

import os
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.commands.forget import forget
from core.commands.harvest_options import HarvestRequest
from core.commands.panel.titles import Called
from core.commands.sources import SourceFound, SourcesReport
from core.commands.workspace import Workspace
from gui.gather import LATE, gather
from gui.views.sources import (
    SourcesColumn,
    expiry_words,
    is_here,
    is_picked,
    named_paths,
    source_words,
    summary,
    switched,
)
from tests.gui_stand import Stand, standing
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import make_home
from tests.panel_desk import CONFIG, at_home_fixture, claude_talk, workspace_at  # noqa: F401 - pytest finds the fixture by itself

DAY = 86_400
SESSION = (
    '{{"type":"user","sessionId":"s{n}","uuid":"u{n}","parentUuid":null,"timestamp":"2026-01-02T03:04:05Z",'
    '"cwd":"/srv/code/app","message":{{"role":"user","content":"We decided to use port {n}"}}}}\n'
)


class Column(SourcesColumn):
    """The column as a view of its own."""

    name = "sources"

    def press(self, _key: str, _typing: bool) -> bool:
        """It has no keys."""
        return False


def leave(home: Path, number: int, days: float) -> Path:
    """A transcript of Claude Code that was last changed so many days ago."""
    path = home / f".claude/projects/-srv-会議/s{number}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SESSION.format(n=number))
    at = time.time() - days * DAY
    os.utime(path, (at, at))
    return path


@pytest.fixture(name="home")
def home_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    workspace = make_home(tmp_path, f'project_roots = ["{tmp_path}/projects"]\nsources = ["home", "~/notes"]')
    for number, days in enumerate((1, 2, 28)):
        leave(tmp_path, number, days)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return replace(workspace, environment={**workspace.environment, "HOME": str(tmp_path)})


stand_fixture = standing(Column)


def setting(home: Workspace) -> list[str]:
    found = tomllib.loads(home.loaded.file.read_text())["ai_settings"]["knowledge"]["sources"]
    assert isinstance(found, list)
    return found


# --- plain -----------------------------------------------------------------------------------------------------------


def test_a_source_says_how_much_is_here_and_how_much_of_it_is_harvested() -> None:
    found = SourceFound("codex", "Codex", False, ["/srv/会議"], 12, 3 << 20, "2026-05-01T10:00:00Z", 7, 2, 3)
    words = source_words(found, 1_777_633_200.0)  # an hour after the newest
    assert words == "12 conversations  ·  3.0MB  ·  the newest 1 h ago  ·  7 harvested  ·  2 grown since  ·  3 new"
    found.new, found.too_large = 1, 2
    assert source_words(found, 0.0).endswith("1 new  ·  2 too large")


def test_what_a_tool_will_delete_is_louder_the_more_would_be_lost() -> None:
    found = SourceFound("claude_code", "Claude Code", True, [], 5, expires_days=30, next_expiry="2026-05-09T10:00:00Z")
    assert expiry_words(found) == ("Claude Code deletes what is older than 30 days; the first on 9 May 2026", "hint")
    safe = replace(found, expiring=2)
    assert expiry_words(safe) == ("Claude Code deletes 2 of them within 7 days; all are harvested", "edited")
    lost = replace(safe, expiring_unharvested=1)
    assert expiry_words(lost) == ("Claude Code deletes 2 of them within 7 days, 1 not harvested yet", "failed")
    every = replace(safe, expiring_unharvested=2)
    assert expiry_words(every)[0].endswith("2 of them within 7 days, not harvested yet")
    assert expiry_words(replace(found, expires_days=0)) == ("", "hint")
    assert expiry_words(every, told=False) == ("Claude Code deletes 2 of them within 7 days", "edited")


def test_while_the_ledger_is_damaged_nothing_is_said_to_be_lost(at_home: Path) -> None:
    """Conversations that were harvested long ago stood there in red as not harvested."""
    workspace = workspace_at(at_home, demo=False, config=CONFIG + 'sources = ["claude_code"]\n')
    claude_talk(at_home)
    assert LATE in [one.code for one in gather(workspace, {}).snapshot.problems]
    workspace.paths.knowledge.mkdir(parents=True)
    workspace.paths.ledger.write_text('{"entries": {"', encoding="utf-8")
    assert [one.code for one in gather(workspace, {}).snapshot.problems] == ["ledger-corrupt"]


def test_what_was_found_is_counted_and_the_settings_say_what_is_read() -> None:
    rows = [SourceFound("home", "home", True), SourceFound("codex", "Codex", False),
            SourceFound("goose", "Goose", False, ["/x"], 2, new=2)]  # fmt: skip
    assert [is_picked(("home", "claude-code", "codex"), row.name) for row in rows] == [True, True, False]
    assert all(is_picked(("all",), row.name) for row in rows)
    assert summary(rows) == "1 other tool left something here  ·  2 conversations in all"


def test_switching_changes_one_word_of_the_setting_and_keeps_the_others() -> None:
    """Else a folder that a user named by hand would no longer be read."""
    assert switched(("home", "~/notes"), "codex", True) == ["home", "~/notes", "codex"]
    assert switched(("home", "claude-code", "~/x"), "claude_code", False) == ["home", "~/x"]
    assert switched(("home", "claude-code"), "claude_code", True) == ["home", "claude-code"]
    assert switched(("all",), "codex", True) == ["all"]
    without = switched(("all", "~/x"), "codex", False)
    assert "codex" not in without and "goose" in without and without[-1] == "~/x" and "all" not in without
    assert named_paths(("home", "codex", "~/x", "all")) == ["~/x"]


# --- in the window ---------------------------------------------------------------------------------------------------


def shown(stand: Stand) -> list[str]:
    return [card.row.name for card in stand.view.lines if stand.desk.dpg.is_item_shown(card.item)]


def test_a_switch_is_written_at_once_and_back_again(stand: Stand, home: Workspace) -> None:
    assert shown(stand) == ["home", "claude_code"]
    card = stand.view.lines[1]
    assert "not harvested yet" in stand.desk.dpg.get_value(card.warning) and not card.toggle.on
    stand.click(card.toggle.item)
    assert setting(home) == ["home", "~/notes", "claude_code"] and card.toggle.on
    assert stand.toast()[0] == "Harvests read Claude Code from now on"
    stand.click(card.toggle.item)
    assert setting(home) == ["home", "~/notes"] and not card.toggle.on
    stand.press("ctrl+z")
    assert setting(home) == ["home", "~/notes", "claude_code"] and card.toggle.on, "Ctrl+Z knows of it"
    stand.press("ctrl+y")
    assert setting(home) == ["home", "~/notes"] and not card.toggle.on
    stand.view.switch("goose", True)
    stand.settle()
    assert shown(stand) == ["home", "claude_code", "goose"], "what is read is shown, also where nothing lies yet"


def test_two_switches_one_right_after_the_other_both_count(stand: Stand, home: Workspace) -> None:
    """The second knew the settings as they were before the first: it was refused, or took the first one back."""
    stand.view.switch("home", False)
    stand.view.switch("claude_code", True)
    stand.settle()
    assert setting(home) == ["~/notes", "claude_code"] and stand.errors == []


def test_a_refused_switch_goes_back(stand: Stand, home: Workspace) -> None:
    home.loaded.file.write_text("[ai_settings.knowledge\n")
    stand.click(stand.view.lines[1].toggle.item)
    assert not stand.view.lines[1].toggle.on and stand.errors


def test_the_button_asks_for_a_dry_run_of_this_source_alone(stand: Stand) -> None:
    asked: list[str] = []
    for name in ("home", "claude_code"):
        stand.shell.add_action(f"harvest.{name}", "", "wheat", lambda name=name: asked.append(name))  # type: ignore[misc]
    stand.click(stand.view.lines[1].harvest.item)
    assert asked == ["claude_code"] and not stand.view.lines[0].harvest.shown, (
        "the home folder is empty: nothing to harvest there"
    )


def test_looking_again_sees_what_is_new_and_makes_no_item(stand: Stand, tmp_path: Path) -> None:
    before = stand.desk.items()
    leave(tmp_path, 7, 0)
    stand.click(stand.view.again.item)
    assert stand.view.lines[1].row.conversations == 4
    leave(tmp_path, 8, 0)
    stand.click(stand.view.again.item)
    assert stand.view.lines[1].row.conversations == 5 and stand.desk.items() == before


def test_a_harvest_of_one_source_leaves_the_others_alone(desk: Desk, home: Workspace) -> None:
    """Its dry run and its Apply must mean the same conversations."""
    from gui.harvest_run import PLANNED, HarvestRun
    from gui.views.harvest_dialog import plan_title

    stand = Stand(desk, home, Column, width=640)
    run = HarvestRun(stand.shell)
    run.look(("codex",))
    stand.settle()
    assert run.now.phase == PLANNED and run.now.plan is not None and not run.now.plan.plan.steps
    assert plan_title(run.now.sources) == "Dry run: Codex" and plan_title(()) == "Dry run"
    assert plan_title(("/srv/chats/talk.jsonl",)) == "Dry run: talk.jsonl", "a whole path ran out of the dialog"
    assert plan_title(("/srv/t.jsonl",), {"/srv/t.jsonl": Called("Cold tea")}) == "Dry run: Cold tea"
    run.look(("claude_code",))
    stand.settle()
    assert run.now.plan is not None and len(run.now.plan.plan.steps) == 3 and HarvestRequest().sources == ()
    run.apply()
    stand.settle()
    assert run.now.report is not None and run.now.report.harvested == 3
    stand.view.look()
    stand.settle()
    assert stand.view.lines[1].row.harvested == 3
    stand.close()


def test_the_dry_run_tells_no_title_of_what_the_user_wants_forgotten(desk: Desk, home: Workspace) -> None:
    from gui.harvest_run import HarvestRun
    from gui.views.harvest_dialog import plan_rows

    stand = Stand(desk, home, Column, width=640)
    run = HarvestRun(stand.shell)

    def shown() -> str:
        run.look(("claude_code",))
        stand.settle()
        assert run.now.plan is not None
        return "\n".join(str(row) for row in plan_rows(run.now.plan, run.now.names))

    assert shown().count("We decided to use port") == 3  # and remembers the titles
    run.apply()
    stand.settle()
    forget(home, "s1", strike=True)
    rows = shown()
    assert "port 1" not in rows and "forgotten, as you asked" in rows and rows.count("We decided to use port") == 2
    remembered = [file.read_text() for file in Path(home.cache).rglob("titles.json")]
    assert remembered and not [text for text in remembered if "port 1" in text]
    stand.close()


def test_apply_is_of_the_home_that_the_dry_run_looked_at(desk: Desk, home: Workspace, tmp_path: Path) -> None:
    """Another one may be shown by then, and nobody has seen what a harvest would do there."""
    from gui.harvest_run import PLANNED, HarvestRun

    stand = Stand(desk, home, Column, width=640)
    run = HarvestRun(stand.shell)
    run.look(("claude_code",))
    stand.settle()
    assert run.now.phase == PLANNED
    stand.shell.workspace = replace(home, paths=Paths(tmp_path / "another"))
    run.apply()
    stand.settle()
    assert run.now.report is not None and run.now.report.harvested == 3
    assert home.paths.ledger.exists() and not (tmp_path / "another").exists()
    stand.close()


def test_a_look_that_fails_is_told_once_and_not_begun_again(
    desk: Desk, home: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where conversations lie behind a folder that is none, the panel looked four thousand times in three seconds."""
    looks = []

    def broken(*_: object, **__: object) -> SourcesReport:
        looks.append(1)
        raise KnowledgeError("unreadable", "the disk is gone")

    monkeypatch.setattr("gui.views.sources.sources", broken)
    stand = Stand(desk, home, Column)
    try:
        for _ in range(5):
            stand.desk.frames(5)
            stand.settle()
        assert len(looks) == len(stand.errors) == 1
        monkeypatch.undo()
        stand.click(stand.view.again.item)
        assert stand.view.report is not None
    finally:
        stand.close()


def test_what_is_here_stands_before_what_is_only_chosen(stand: Stand) -> None:
    shown = [line.row for line in stand.view.lines if line.row.name]
    assert len(shown) > 1 and shown == sorted(shown, key=is_here, reverse=True)


def test_a_dry_run_that_comes_late_from_another_home_changes_nothing(
    desk: Desk, home: Workspace, tmp_path: Path
) -> None:
    """Its plan stood below the title of the home that was asked about since, with a button that applies it."""
    from gui.harvest_run import PLANNED, HarvestRun

    stand, other = Stand(desk, home, Column, width=640), replace(home, paths=Paths(tmp_path / "another"))
    run, planned = HarvestRun(stand.shell), []
    run.on_change = lambda: planned.append(run.workspace) if run.now.phase == PLANNED else None
    run.look(("claude_code",))
    stand.shell.workspace = other
    run.look(("claude_code",))
    stand.settle()
    assert [one.paths.home for one in planned if one is not None] == [other.paths.home]
    stand.close()
