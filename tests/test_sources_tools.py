"""Conversations of other tools, harvested where they lie. A user would lose another tool's files, or miss theirs."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.base.result import Ok, attempt
from core.commands.sources import days_kept, sources, sources_text
from core.commands.workspace import Workspace, open_workspace
from core.harvest.steps import HarvestOptions
from core.sources.tools import FILES, SOURCE, Place, disambiguate, known_name, places, project_at
from core.sources.walk import survey
from tests.cli_call import call as call_program
from tests.harvest_world import FakeModel, World, ordinary

SESSION = (
    '{{"type":"user","sessionId":"s{n}","uuid":"u{n}","parentUuid":null,"timestamp":"2026-01-02T03:04:05Z",'
    '"cwd":"/srv/code/app","message":{{"role":"user","content":"We decided to use port {n}"}}}}\n'
)
OLD = 1_700_000_000
LOGS = "s1/.system_generated/logs"


def leave(path: Path, text: str = "User: hello\n\nAssistant: hello\n", age: int = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (age, age))
    return path


def claude(home: Path, number: int = 1) -> Path:
    return leave(home / f".claude/projects/-srv-work-app/s{number}.jsonl", SESSION.format(n=number))


def of_claude(home: Path) -> tuple[Place, ...]:
    return places(["claude_code"], {"HOME": str(home)}, ())


def reading(world: World, home: Path, **limits: bool) -> HarvestOptions:
    """Options for a run over Claude Code's folder alone."""
    changed = replace(world.options.limits, **limits)
    return replace(world.options, home=False, places=of_claude(home), limits=changed)


@pytest.mark.parametrize(
    ("source", "path", "name"),
    [
        ("claude_code", ".claude/projects/-a/s1.jsonl", "claude_code/s1"),
        ("claude_code", ".claude/projects/-a/s1/subagents/agent-x.jsonl", "claude_code/agent-x"),
        ("claude_code", ".claude/projects/-a/s1/deeper/still/s2.jsonl", "claude_code/s2"),
        ("codex", ".codex/sessions/2026/01/02/rollout-1.jsonl", "codex/rollout-1"),
        ("codex", ".codex/sessions/2026/01/02/rollout-1.jsonl.zst", "codex/rollout-1"),
        ("gemini_cli", ".gemini/tmp/abc/chats/session-1.json", "gemini_cli/session-1"),
        ("cursor_cli", ".cursor/projects/p/agent-transcripts/a/a.jsonl", "cursor_cli/a"),
        ("copilot_cli", ".copilot/session-state/one/events.jsonl", "copilot_cli/one"),
        ("goose", ".local/share/goose/sessions/20250101.jsonl", "goose/20250101"),
        ("cline", ".cline/data/tasks/17/api_conversation_history.json", "cline/17"),
        (
            "cline",
            ".vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/tasks/9/api_conversation_history.json",
            "cline/9",
        ),
        ("cline", ".cline/data/sessions/17_ab/17_ab.messages.json", "cline/17_ab/17_ab"),
        ("cline", ".cline/data/sessions/17_ab/explore.messages.json", "cline/17_ab/explore"),
        ("kilo", ".local/share/kilo/kilo.db", "kilo/kilo.db"),
        ("opencode", ".local/share/opencode/opencode-next.db", "opencode/opencode-next.db"),
        ("aider", "code/app/.aider.chat.history.md", "aider/app/.aider.chat.history.md"),
        ("deepseek", ".dsh/sessions/--srv-app--/session-1/session.jsonl", "deepseek/session-1"),
        ("deepseek", ".dsh/sessions/--srv-app--/session-1/session.jsonl.zstd", "deepseek/session-1"),
        ("droid", ".factory/sessions/-srv-app/s1.jsonl", "droid/s1"),
        ("kimi", ".kimi/sessions/abc/s1/wire.jsonl", "kimi/s1"),
        ("kimi_code", ".kimi-code/sessions/wd/session_1/agents/main/wire.jsonl", "kimi_code/session_1/agents/main"),
        ("grok", ".grok/sessions/%2Fsrv/s1/chat_history.jsonl", "grok/s1"),
        ("qwen", ".qwen/projects/-srv-app/chats/s1.jsonl", "qwen/s1"),
        ("pi", ".pi/agent/sessions/--srv--/2026_s1.jsonl", "pi/2026_s1"),
        ("openclaw", ".openclaw/agents/main/sessions/s1.jsonl", "openclaw/s1"),
        ("antigravity", f".gemini/antigravity/brain/{LOGS}/transcript_full.jsonl", f"antigravity/{LOGS}"),
        ("antigravity", f".gemini/antigravity-cli/brain/{LOGS}/transcript_full.jsonl", f"antigravity/{LOGS}"),
        ("antigravity", f".gemini/antigravity-ide/brain/{LOGS}/transcript_full.jsonl", f"antigravity/{LOGS}"),
        ("vscode", ".config/Code/User/workspaceStorage/a1/chatSessions/s1.jsonl", "vscode/s1"),
        ("vscode", ".config/Code - Insiders/User/workspaceStorage/a1/chatSessions/s1.json", "vscode/s1"),
        ("vscode", ".config/VSCodium/User/globalStorage/emptyWindowChatSessions/s1.jsonl", "vscode/s1"),
        ("amp", ".local/share/amp/threads/T-1.json", "amp/T-1"),
        ("kiro", ".kiro/sessions/cli/s1.jsonl", "kiro/s1"),
        ("kiro", ".kiro/sessions/8e89/sess_37/messages.jsonl", "kiro/sess_37"),
        ("continue_dev", ".continue/sessions/a-b.json", "continue_dev/a-b"),
        ("specstory", "code/app/.specstory/history/a-b.md", "specstory/a-b.md"),
    ],
)
def test_every_tools_conversations_are_found_where_it_keeps_them(
    tmp_path: Path, source: str, path: str, name: str
) -> None:
    leave(tmp_path / path)
    found = survey(places([source], {"HOME": str(tmp_path)}, ["~"]))
    assert [(row.source, row.name) for row in found.artifacts] == [(source, name)]
    assert not found.notes


@pytest.mark.skipif(os.name == "nt", reason="the places of Linux")
def test_stores_and_editors_are_found_on_this_system(tmp_path: Path) -> None:
    wanted = {
        "opencode": ".local/share/opencode/opencode.db",
        "cursor": ".config/Cursor/User/globalStorage/state.vscdb",
        "llm": ".config/io.datasette.llm/logs.db",
        "goose": ".local/share/goose/sessions/sessions.db",
        "roo": ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/9/api_conversation_history.json",
    }
    for path in wanted.values():
        leave(tmp_path / path)
    found = survey(places([*SOURCE], {"HOME": str(tmp_path)}, ()))
    assert {row.source: os.path.relpath(row.path, tmp_path) for row in found.artifacts} == wanted


def test_a_moved_folder_is_found_by_its_variable(tmp_path: Path) -> None:
    leave(tmp_path / "elsewhere/projects/-a/s1.jsonl")
    environment = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert len(survey(places(["claude_code"], environment, ())).artifacts) == 1
    assert not survey(of_claude(tmp_path)).artifacts


def test_links_and_special_files_are_never_taken_for_conversations(tmp_path: Path) -> None:
    """A link in a project folder could make us read, and reclaim, anything."""
    real = claude(tmp_path)
    folder = real.parent
    os.symlink(real, folder / "link.jsonl")
    os.mkfifo(folder / "pipe.jsonl")
    os.symlink(folder, folder.parent / "linked")
    leave(tmp_path / "src/node_modules/x/.aider.chat.history.md")
    leave(tmp_path / "src/.hidden/.aider.chat.history.md")
    os.symlink(tmp_path / "src", tmp_path / "work")
    found = survey(places(["claude_code", "aider"], {"HOME": str(tmp_path)}, ["~"]))
    assert [row.path for row in found.artifacts] == [str(real)]


def test_one_conversation_in_two_files_is_one(tmp_path: Path) -> None:
    task = tmp_path / ".cline/data/tasks/17"
    leave(task / "ui_messages.json", "[]")
    best = leave(task / "api_conversation_history.json", "[]")
    leave(tmp_path / ".codex/sessions/2026/rollout-1.jsonl.zst")
    plain = leave(tmp_path / ".codex/sessions/2026/rollout-1.jsonl")
    found = survey(places(["cline", "codex"], {"HOME": str(tmp_path)}, ()))
    assert {row.path for row in found.artifacts} == {str(best), str(plain)}


def test_projects_called_alike_are_told_apart_and_what_was_harvested_keeps_its_name(tmp_path: Path) -> None:
    """Under one name nobody could tell whose words a line holds; under a new one its lines would lose their source."""
    history = ".aider.chat.history.md"
    for folder in ("code/app", "old/app", "old/web", "x/code/app", "app"):
        leave(tmp_path / folder / history)
    for folder in ("code/app", "old/app"):
        leave(tmp_path / folder / ".specstory/history/talk.md")
    rows = survey(places(["aider", "specstory"], {"HOME": str(tmp_path)}, ["~"])).artifacts

    def names(entries: dict[str, dict[str, object]]) -> dict[str, str]:
        return {os.path.relpath(row.path, tmp_path): row.name for row in disambiguate(rows, entries)}

    home = str(tmp_path).strip("/")
    assert names({}) == {
        f"code/app/{history}": f"aider/{tmp_path.name}/code/app/{history}",
        f"old/app/{history}": f"aider/old/app/{history}",
        f"old/web/{history}": f"aider/web/{history}",
        f"x/code/app/{history}": f"aider/x/code/app/{history}",
        f"app/{history}": f"aider/{tmp_path.name}/app/{history}",
        "code/app/.specstory/history/talk.md": "specstory/code/app/talk.md",
        "old/app/.specstory/history/talk.md": "specstory/old/app/talk.md",
    }
    before = {"path": str(tmp_path / "code/app" / history), "name": f"aider/app/{history}", "at": "2026-01-01"}
    gone = {"path": str(tmp_path / "gone/web" / history), "name": f"aider/web/{history}", "at": "2026-01-02"}
    later = names({"1" * 64: dict(before), "2" * 64: dict(gone)})
    assert later[f"code/app/{history}"] == f"aider/app/{history}"
    assert later[f"old/app/{history}"] == f"aider/old/app/{history}"
    assert later[f"old/web/{history}"] == f"aider/old/web/{history}"
    whole = {"path": "/elsewhere", "name": f"aider/{home}/old/web/{history}", "at": "2026-01-03"}
    assert len(set(names({"3" * 64: dict(whole)}).values())) == len(rows)


def test_a_walk_through_very_many_folders_ends_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.sources.walk.MAX_FOLDERS", 3)
    for number in range(5):
        leave(tmp_path / f"p{number}/.aider.chat.history.md")
    found = survey(places(["aider"], {"HOME": str(tmp_path)}, ["~"]))
    assert len(found.artifacts) == 2
    assert "more than 3 folders" in found.notes[0]


def test_a_named_folder_is_looked_through_to_its_last_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six levels were looked at, and what lay deeper was left out without a word."""
    deep = leave(tmp_path / "notes" / "/".join("abcdefghij") / "talk.md")
    found = survey([Place(FILES, str(tmp_path / "notes"))])
    assert [row.path for row in found.artifacts] == [str(deep)] and not found.notes
    monkeypatch.setattr("core.sources.walk.MAX_FOLDERS", 4)
    found = survey([Place(FILES, str(tmp_path / "notes"))])
    assert not found.artifacts and "more than 4 folders" in found.notes[0]


def test_a_path_is_a_source_and_other_words_are_not(tmp_path: Path) -> None:
    one = leave(tmp_path / "notes/talk.md")
    leave(tmp_path / "notes/picture.png")
    assert [row.path for row in survey([Place(FILES, str(tmp_path / "notes"))]).artifacts] == [str(one)]
    assert [row.name for row in survey([Place(FILES, str(one))]).artifacts] == ["files/talk.md"]
    assert known_name("Claude-Code") == "claude_code"
    assert known_name("./talk.md") == "./talk.md"
    assert known_name("claude") == known_name("Claude Code") == "claude_code"
    assert known_name("nobody") == known_name("") == ""


def test_a_foreign_conversation_is_harvested_and_stays(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = claude(tmp_path)
    before = path.read_bytes()
    report = world.run(FakeModel(), **vars(reading(world, tmp_path)))
    assert (report.harvested, report.reclaimed, report.kept) == (1, 0, 1)
    assert path.read_bytes() == before
    entry = next(iter(world.entries().values()))
    assert (entry["source"], entry["name"], entry["project"]) == ("claude_code", "claude_code/s1", "/srv/code/app")
    assert (entry["path"], entry["bytes"]) == (str(path), len(before))
    assert any("[from: claude_code/s1, " in line for line in world.bullets())
    again = world.run(FakeModel(), **vars(reading(world, tmp_path)))
    assert (again.harvested, again.reclaimed) == (0, 0)
    assert [row.reason for row in again.plan.classified] == ["harvested; it stays with Claude Code"]


def test_a_foreign_conversation_goes_only_when_asked_for_and_comes_back(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = claude(tmp_path)
    before = path.read_bytes()
    report = world.run(FakeModel(), **vars(reading(world, tmp_path, reclaim_foreign=True)))
    assert (report.reclaimed, path.exists()) == (1, False)
    assert [row.read_bytes() for row in world.trash()] == [before]


def test_a_foreign_conversation_that_is_still_written_stays(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = claude(tmp_path)
    os.utime(path)
    report = world.run(FakeModel(), **vars(reading(world, tmp_path, reclaim_foreign=True)))
    assert (report.harvested, report.reclaimed) == (1, 0)
    assert path.exists()
    assert "may still be writing" in report.notes[0]


def test_a_foreign_conversation_that_vanishes_meanwhile_costs_itself_alone(tmp_path: Path) -> None:
    """The run ended there, and said that the knowledge folder cannot be used: what came after waited for another."""
    world = World(tmp_path)
    path = claude(tmp_path)

    def vanishing(number: int, prompt: str) -> dict[str, Any]:
        path.unlink()
        return ordinary(number, prompt)

    report = world.run(FakeModel(vanishing), **vars(reading(world, tmp_path, reclaim_foreign=True)))
    assert (report.harvested, report.reclaimed, [error.code for error in report.errors]) == (1, 0, ["reclaim-failed"])


def test_no_harvest_never_takes_a_foreign_conversation(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = claude(tmp_path)
    for asked in (False, True):
        report = world.run(FakeModel(), **vars(reading(world, tmp_path, harvest=False, reclaim_foreign=asked)))
        assert report.reclaimed == 0
        assert path.exists()


def test_a_run_over_one_source_leaves_the_home_folder_alone(tmp_path: Path) -> None:
    world = World(tmp_path)
    mine = world.converse()
    claude(tmp_path)
    report = world.run(FakeModel(), **vars(reading(world, tmp_path)))
    assert report.harvested == 1
    assert mine.exists()
    counts = report.to_json()["sources"]
    assert set(counts) == {"claude_code"}
    assert counts["claude_code"]["conversations"] == 1


# --- the list --------------------------------------------------------------------------------------------------------


def workspace(tmp_path: Path, settings: str = "") -> Workspace:
    config = tmp_path / "config.toml"
    config.write_text(f"[ai_settings.knowledge]\n{settings}")
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    return open_workspace(str(tmp_path / "home"), config, environment, tmp_path)


def test_the_list_tells_what_is_new_harvested_grown_and_about_to_be_deleted(tmp_path: Path) -> None:
    world = World(tmp_path)
    first, second = claude(tmp_path, 1), claude(tmp_path, 2)
    world.run(FakeModel(), **vars(reading(world, tmp_path)))
    claude(tmp_path, 3)
    with second.open("a") as stream:
        stream.write(SESSION.format(n=9))
    leave(tmp_path / ".claude/settings.json", '{"cleanupPeriodDays": 60}')
    found = sources(workspace(tmp_path, 'sources = ["home", "claude-code"]'), "claude_code")
    row = found.rows[0]
    assert (row.conversations, row.harvested, row.grown, row.new) == (3, 1, 1, 1)
    assert (row.picked, row.expires_days, row.expiring, row.expiring_unharvested) == (True, 60, 2, 1)
    assert row.bytes == sum(path.stat().st_size for path in first.parent.iterdir())
    assert row.next_expiry.startswith("2024-01-13")


@pytest.mark.parametrize("days", ["99999", "10000000", "1" + "0" * 400, "-3"])
def test_a_tool_that_keeps_all_for_ever_deletes_nothing(tmp_path: Path, days: str) -> None:
    """A day beyond the calendar ended the list of all tools, and with it the first start."""
    claude(tmp_path)
    leave(tmp_path / ".claude/settings.json", f'{{"cleanupPeriodDays": {days}}}')
    found = sources(workspace(tmp_path), "claude_code")
    row = found.rows[0]
    assert (row.expires_days, row.next_expiry, row.expiring) == (0, "", 0)


@pytest.mark.parametrize(("age", "days"), [("30d", 30), ("2w", 14), ("36h", 1), ("1m", 30), ("soon", 0)])
def test_what_gemini_cli_deletes_is_told_by_its_settings(tmp_path: Path, age: str, days: int) -> None:
    kept = {"general": {"sessionRetention": {"enabled": True, "maxAge": age}}}
    leave(tmp_path / ".gemini/settings.json", json.dumps(kept))
    rows = places(["gemini_cli"], {"HOME": str(tmp_path)}, ())
    assert days_kept("gemini_cli", rows) == days


def test_claude_codes_own_default_is_thirty_days_and_a_broken_setting_does_not_stop_the_list(tmp_path: Path) -> None:
    claude(tmp_path)
    leave(tmp_path / ".claude/settings.json", "{")
    found = sources(workspace(tmp_path))
    rows = {row.name: row for row in found.rows}
    assert rows["claude_code"].expires_days == 30
    assert rows["home"].picked
    assert not rows["claude_code"].picked


def test_the_command_that_adds_a_source_keeps_those_that_are_read(tmp_path: Path) -> None:
    """It named the home and the new one alone: pasted, it ended the harvest of all others."""
    claude(tmp_path)
    told = sources_text(sources(workspace(tmp_path, 'sources = ["home", "codex", "/srv/会議.zip"]')))
    assert """config set sources '["home", "codex", "/srv/会議.zip", "claude_code"]' makes it""" in told


def test_a_source_that_there_is_not_is_one_clear_sentence(tmp_path: Path) -> None:
    found = attempt(sources, workspace(tmp_path), "clod")
    assert not isinstance(found, Ok)
    assert "clod" in str(found.error)
    assert "claude_code" in found.error.hint


def test_of_a_named_folder_the_settings_beside_the_conversations_are_not_read(tmp_path: Path) -> None:
    """A model would be paid to read package.json, and what stands in it might be taken for something that was said."""
    leave(tmp_path / "talk.jsonl", SESSION.format(n=1))
    leave(tmp_path / "package.json", '{"name": "x"}')
    leave(tmp_path / ".specstory/history/2026.md", "# a day\n")
    leave(tmp_path / ".git/notes.md", "not ours\n")
    found = survey([Place(FILES, str(tmp_path))])
    assert [row.name for row in found.artifacts] == ["files/.specstory/history/2026.md", "files/talk.jsonl"]
    assert found.notes == [f"not read: package.json in {tmp_path} (no conversations of a known kind)"]
    alone = survey([Place(FILES, str(tmp_path / "package.json"))])
    why = f"no conversation, and not read: {tmp_path}/package.json (JSON of no known kind)"
    assert (alone.artifacts, alone.notes) == ([], [why])


def _database(rows: int) -> bytes:
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE payroll (who TEXT, pay TEXT)")
    made.executemany("INSERT INTO payroll VALUES (?, ?)", [("somebody", MARK)] * rows)
    return made.serialize()


MARK = "the-salary-of-everybody"
_ROW = {"employee": "somebody", "salary": MARK, "history": [1, 2], "messages": 3, "role": "cook", "type": "user"}
JUNK: dict[str, Callable[[int], str | bytes]] = {
    "payroll.json": lambda size: json.dumps({"salaries": [_ROW] * (size // 100 + 1)}),
    "pretty.json": lambda size: json.dumps([_ROW] * (size // 120 + 1), indent=2),
    "strings.json": lambda size: json.dumps([MARK] * (size // 24 + 2)),
    "numbers.json": lambda size: json.dumps([[1.5, 2], [3, 4]] * (size // 16 + 1) + [MARK]),
    "package.json": lambda size: json.dumps({"name": MARK, "scripts": {"test": "x" * size}, "version": "1.0.0"}),
    "package-lock.json": lambda size: json.dumps({"lockfileVersion": 3, "packages": {MARK: {"v": "x" * size}}}),
    "composer.lock.json": lambda size: json.dumps({"_readme": [MARK], "content-hash": "0" * size}),
    "torn.json": lambda size: json.dumps({"salaries": [_ROW] * (size // 100 + 1)})[:-40],
    "settings.json": lambda size: "// a comment\n" + json.dumps({"editor.fontSize": 12, "x": MARK, "y": "x" * size}),
    "trace.jsonl": lambda size: f'{{"level": "info", "msg": "{MARK}"}}\n' * (size // 60 + 2),
    "training.jsonl": lambda size: f'{{"text": "{MARK}", "label": 1}}\n' * (size // 60 + 2),
    "events.txt": lambda size: f'{{"level": "info", "msg": "{MARK}"}}\n' * (size // 60 + 2),
    "Cargo.toml": lambda size: f'[package]\nname = "{MARK}"\n' + "# padding\n" * (size // 10),
    "pyproject.toml": lambda size: f'[project]\nname = "{MARK}"\n' + "# padding\n" * (size // 10),
    "poetry.lock": lambda size: f'[[package]]\nname = "{MARK}"\n' + "# padding\n" * (size // 10),
    "yarn.lock": lambda size: f"{MARK}@^1.0.0:\n" + "  version 1\n" * (size // 12),
    "people.csv": lambda size: f"who,pay\nsomebody,{MARK}\n" * (size // 40 + 1),
    "analysis.ipynb": lambda size: json.dumps({"cells": [{"source": [MARK * (size // 20 + 1)]}], "nbformat": 4}),
    "app.min.js": lambda size: f'var a="{MARK}";' * (size // 30 + 1),
    "server.log": lambda size: f"2026-01-02 INFO {MARK}\n" * (size // 40 + 1),
    "photo.png": lambda size: b"\x89PNG\r\n\x1a\n" + MARK.encode() + bytes(size),
    "renamed.md": lambda size: b"\x89PNG\r\n\x1a\n" + MARK.encode() + bytes(size),
    "dump.txt": lambda size: MARK.encode() + b"\xff\xfe\x01" * (size // 3 + 1),
    "rollout.traj": lambda size: json.dumps({"steps": [MARK] * (size // 26 + 1)}),
    "payroll.db": lambda size: _database(size // 30 + 1),
}


@pytest.mark.parametrize("size", [100, 3_900, 4_096, 4_097, 12_000, 300_000])
def test_of_a_named_folder_no_junk_goes_to_a_model_whatever_its_size(tmp_path: Path, world: World, size: int) -> None:
    """A payroll.json of ten kilobytes was sent whole: what was larger than the beginning that is looked at counted as
    a conversation."""
    folder = tmp_path / "named"
    for name, make in JUNK.items():
        made = make(size)
        leave(folder / name, "").write_bytes(made if isinstance(made, bytes) else made.encode())
    talk = leave(folder / "talk.jsonl", SESSION.format(n=8123) * (size // 150 + 1))
    note = leave(folder / "note.md", "We decided to use port 8124.\n" + "more words\n" * (size // 11))
    world.options = replace(world.options, home=False, places=(Place(FILES, str(folder)),))
    model = FakeModel()
    report = world.run(model)
    assert (report.harvested, report.failed) == (2, 0), report.errors
    assert not [prompt for prompt in model.prompts if MARK in prompt]
    assert talk.exists() and note.exists()
    told = " ".join(report.notes)
    assert "not read: " in told and "more" in told


@pytest.mark.parametrize("name", ["payroll.json", "strings.json", "trace.jsonl", "torn.json", "Cargo.toml"])
@pytest.mark.parametrize("size", [100, 12_000])
def test_named_alone_data_of_no_known_kind_is_told_and_not_sent(
    tmp_path: Path, world: World, name: str, size: int
) -> None:
    made = JUNK[name](size)
    assert isinstance(made, str)
    path = leave(tmp_path / name, made)
    world.options = replace(world.options, home=False, places=(Place(FILES, str(path)),))
    model = FakeModel()
    report = world.run(model)
    assert model.prompts == [] and report.harvested == report.failed == 0
    assert any(str(path) in note and "not read" in note for note in report.notes)


def test_a_history_in_a_project_belongs_to_it(tmp_path: Path, world: World) -> None:
    """Its lines would never be seen by a conversation that starts in that project."""
    path = leave(
        tmp_path / "app/.aider.chat.history.md", "#### user: hi\n\nTODO: renew the certificate of the mirror\n"
    )
    world.options = replace(world.options, home=False, places=(Place("aider", str(tmp_path)),))
    assert world.run(FakeModel()).harvested == 1
    assert [entry["project"] for entry in world.entries().values()] == [str(path.parent)]
    assert project_at(f"{tmp_path}/x/.specstory/history/1.md") == f"{tmp_path}/x"
    assert project_at(f"{tmp_path}/x/history/1.md") == ""


def test_two_files_of_one_name_are_two_conversations_that_can_be_told_apart(tmp_path: Path) -> None:
    """Each repository has an `.aider.chat.history.md`; what one said was shown as the other's."""
    home = ("--home", str(tmp_path / "home"))
    paths = [tmp_path / folder / "talk.md" for folder in ("shop", "till")]
    for path, word in zip(paths, ("zebra", "walrus"), strict=True):
        path.parent.mkdir()
        path.write_text(f"User: Why does the {word} stall?\n\nAssistant: The {word} stalls on a header.\n")
    named = [part for path in paths for part in ("--source", str(path))]
    assert call_program(*home, "harvest", "--apply", "--now", "--keep", "--provider", "offline", *named)[0] == 0
    for folder, word in (("shop", "zebra"), ("till", "walrus")):
        assert f"files/{folder}/talk.md" in call_program(*home, "search", word)[1]
        assert f"the {word} stall" in call_program(*home, "show", f"files/{folder}/talk.md")[1]
