"""The panel's first start, and what it tells of harvests that nobody waited for."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

from core.commands.daily.setup import Cost, ModelChoice
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.knowledge.ledger import read_ledger
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, seated, workspace_at  # noqa: F401


def talks_of_three_tools(folder: Path) -> None:
    """What Claude Code, Codex and Gemini CLI leave behind, where they do."""
    line = '{"type":"user","sessionId":"s","cwd":"/w","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user",'
    line += '"content":"We decided to use SQLite because two programs write."}}\n'
    codex = '{"timestamp":"2026-05-01T10:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/w"}}\n'
    codex += '{"timestamp":"2026-05-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user",'
    codex += '"content":[{"type":"input_text","text":"Always run the tests before a commit."}]}}\n'
    gemini = '{"sessionId":"g","messages":[{"id":"1","type":"user","content":"Which port?"}]}'
    files = {
        f".claude/projects/-w/{'0f8fad5b-d9cb-469f-a165-70867728950e'}.jsonl": line,
        f".claude/projects/-w/{'1f8fad5b-d9cb-469f-a165-70867728950e'}.jsonl": line.replace("SQLite", "a file"),
        ".codex/sessions/2026/05/01/rollout-2026-05-01T10-00-00-2f8fad5b-d9cb-469f-a165-70867728950e.jsonl": codex,
        ".gemini/tmp/abc/chats/session-2026-05-01.json": gemini,
    }
    for name, words in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(words)
        at_rest = time.time() - 1200  # what may still be written waits
        os.utime(folder / name, (at_rest, at_rest))


def test_the_first_start_names_what_is_here_and_harvests_it_with_one_button(desk: Desk, at_home: Path) -> None:
    """A user who has just installed it sees their own conversations, and is two clicks from the first line."""
    talks_of_three_tools(at_home)
    workspace = workspace_at(at_home, demo=False)
    with seated(desk, workspace) as seat:
        page = seat.panel.first_start
        seat.until(lambda: page.report is not None)
        found = [(row.name, row.conversations) for row in page.tools]
        assert found == [("claude_code", 2), ("codex", 1), ("gemini_cli", 1)]
        warned = [str(desk.dpg.get_value(line.warning)) for line in page.lines[:2]]
        assert warned[0].startswith("Claude Code deletes") and not warned[1], "Codex deletes nothing"
        line = page.lines[0]
        assert desk.dpg.get_value(line._number) == "2" and (line.row.conversations, line.row.bytes) == (2, 338)
        assert page.models[0].at == page.chosen and page.models[0].words.startswith("Stays on this computer")
        assert "4 conversations" in page.begin.label
        page.lines[1].toggle._switch()  # not Codex
        assert "3 conversations" in page.begin.label
        assert not workspace.paths.home.exists(), "looking changes nothing"
        desk.click(page.begin.item)
        seat.until(lambda: seat.panel.harvest.dialog.is_open and seat.panel.run.now.phase == "planned")
        plan = seat.panel.run.now.plan.plan  # type: ignore[union-attr]
        assert {step.artifact.source for step in plan.steps} == {"claude_code", "gemini_cli"}
        desk.press("Return")
        seat.until(lambda: seat.panel.run.now.phase == "ended")
        seat.settle()
        told = read_ledger(workspace.paths).values()
        assert sorted(str(row["source"]) for row in told) == ["claude_code", "claude_code", "gemini_cli"]


def test_in_a_narrow_window_the_one_button_stays_in_sight(desk: Desk, at_home: Path) -> None:
    """Who has to scroll to find how to begin does not begin."""
    talks_of_three_tools(at_home)
    with seated(desk, workspace_at(at_home, demo=False), width=700) as seat:
        page, dpg = seat.panel.first_start, desk.dpg
        seat.until(lambda: page.report is not None)
        seat.settle()
        assert not dpg.is_item_shown(page.begin.item) and "4 conversations" in page.foot.label
        assert dpg.is_item_visible(page.foot.item)
        assert dpg.get_item_rect_max(page.foot.item)[1] < dpg.get_viewport_client_height()
        desk.click(page.foot.item)
        seat.until(lambda: seat.panel.harvest.dialog.is_open)
        desk.press("Escape")


def test_a_model_that_is_not_ready_is_not_taken(desk: Desk, at_home: Path) -> None:
    """It says why instead: a user who chose it would wait for a harvest that cannot begin."""
    talks_of_three_tools(at_home)
    with seated(desk, workspace_at(at_home, demo=False)) as seat:
        page = seat.panel.first_start
        seat.until(lambda: page.report is not None)
        assert page.report is not None
        cost = Cost(4, 4000, 400, 0.5)
        paid = ModelChoice(
            "openai", "big", "api.example", True, "", False, cost, {"provider": "openai", "model": "big"}
        )
        broken = replace(paid, model="old", ready=False, problem="log in first")
        page.take(replace(page.report, models=[*page.report.models[:1], paid, broken]))
        assert page.chosen == 0, "what costs money is never chosen unasked"
        assert page.models[1].words == "Sent to api.example · about $0.50 · about 4K tokens"
        page.choose(2)
        assert page.chosen == 0
        desk.press("Down")
        assert page.chosen == 1
        desk.press("Up")
        assert page.chosen == 0
        page.take(replace(page.report, models=[page.report.models[0], broken, paid]))
        desk.press("Down")
        assert page.chosen == 2, "one that is not ready does not stand in the way of the next"
        desk.press("Down")
        assert page.chosen == 2


def test_the_harvest_that_nobody_waited_for_tells_the_panel(desk: Desk, at_home: Path) -> None:
    """What came overnight, or why nothing did: else a user believes that all is read."""
    workspace = workspace_at(at_home)
    paths = workspace.paths
    paths.state.mkdir(parents=True, exist_ok=True)

    def told(**more: object) -> str:
        report = {"at": "2026-11-22T06:00:00+00:00", "harvested": 3, "items": 7, "left": 2, **more}
        paths.autopilot.write_text(json.dumps(report))
        seat.panel.shell.refresh()
        seat.settle()
        from gui.views.state_line import resting_words

        return resting_words(seat.state, 1795330000.0)[2]

    with seated(desk, workspace) as seat:
        words = told()
        assert "3 conversations, 7 bullets · 2 left for the next time" in words and words.startswith(
            "Harvested by itself"
        )
        words = told(problem={"code": "server-down", "message": "the server does not answer"})
        assert words == "The harvest by itself could not: the server does not answer."
        harvest(workspace, HarvestRequest(apply=True))
        words = told(problem={"code": "server-down", "message": "the server does not answer"})
        assert words.startswith("Last harvest: "), "what was harvested by hand since is newer"


def test_a_computer_without_conversations_is_looked_at_again(desk: Desk, at_home: Path) -> None:
    """Who talked to a tool meanwhile, and came back or pressed F5, still read that none was found."""
    with seated(desk, workspace_at(at_home, demo=False)) as seat:
        page = seat.panel.first_start
        seat.until(lambda: page.report is not None)
        assert not page.tools
        talks_of_three_tools(at_home)
        desk.press("F5")
        seat.until(lambda: page.tools)
        assert "4 conversations" in page.begin.label
        page.lines[1].toggle._switch()
        seat.panel.returned()
        seat.settle()
        assert "3 conversations" in page.begin.label, "what was chosen stays"
