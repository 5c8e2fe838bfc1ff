"""What is on the disk, as a face shows it: overview, project, settings, the demo."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.answer import Answer
from core.base.result import KnowledgeError, Ok, attempt
from core.commands import bullets
from core.commands.context import context
from core.commands.demo import demo, demo_home, demo_text, make_demo_home, opened_demo
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.history.trash import trash_restore
from core.commands.history.undo import undo
from core.commands.memories import Listed, memories_list, recall_command, save
from core.commands.panel import files
from core.commands.panel.bullets import bullets_of, category_view, category_views, events_of
from core.commands.panel.conversations import conversation_key, conversation_view
from core.commands.panel.files import decoded, mentioned_lines, notes_overview, source_mark, source_text
from core.commands.panel.overview import overview
from core.commands.panel.titles import called
from core.commands.project import find_project
from core.commands.quarantine import quarantine_accept
from core.commands.search import search
from core.commands.settings import config_set, settings_to_open
from core.commands.sources import sources
from core.commands.statements import Found
from core.commands.status import status, status_text
from core.commands.workspace import Workspace, open_workspace, reopened
from core.conversations.plain import UNKNOWN_JSON
from core.injection import prompt_prefix
from tests.made_home import HURRIED, Clock, Model, converse, error, harvested, make_home

# --- What a window reads: if it is wrong, a user edits a line that is not the one they saw, or looks in vain.


def knowledge(workspace: Workspace, name: str, text: str) -> Path:
    path = workspace.paths.knowledge / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# --- categories ------------------------------------------------------------------------------------------------------


def test_a_category_carries_the_hash_of_what_was_seen(tmp_path: Path) -> None:
    """With another hash an edit would be refused for ever, or worse, let through."""
    workspace = make_home(tmp_path)
    path = knowledge(workspace, "facts.md", "# Facts\n\n- one [from: a, 2026-01-01]\n  detail\n- ~~two~~\n")
    view = category_view(workspace, "facts")
    assert view.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    rows = [(row.bullet.text, row.bullet.line, row.bullet.struck) for row in view.rows]
    assert rows == [("one", 3, False), ("two", 5, True)]
    assert view.rows[0].bullet.more == ("  detail",)
    edited = bullets.edit(workspace, "facts", view.rows[0].ref, "uno", seen=view.sha256)
    assert edited.sha256 == category_view(workspace, "facts").sha256


def test_a_file_that_is_not_there_can_be_added_to(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    view = category_view(workspace, "tasks_open")
    assert view.rows == ()
    assert isinstance(attempt(bullets.add, workspace, "tasks_open", "first", seen=view.sha256), Ok)
    assert [row.bullet.text for row in category_view(workspace, "tasks_open").rows] == ["first"]
    assert category_view(workspace, "tasks_done").rows == ()
    assert isinstance(attempt(category_view, workspace, "people"), KnowledgeError)


def test_what_did_not_change_is_the_same_object(tmp_path: Path) -> None:
    """Else every harvest would draw every view again."""
    workspace = make_home(tmp_path)
    knowledge(workspace, "facts.md", "# Facts\n\n- one\n")
    before = category_views(workspace)
    assert category_views(workspace, before) is before
    knowledge(workspace, "facts.md", "# Facts\n\n- two\n")
    after = category_views(workspace, before)
    assert after is not before and after[0] is not before[0] and after[1] is before[1]


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc").exists(), reason="needs links")
def test_one_unreadable_file_does_not_hide_the_others(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    knowledge(workspace, "facts.md", "# Facts\n\n- one\n")
    knowledge(workspace, "files/1-2.md", "# /tmp/x\n\n- note\n")
    (workspace.paths.knowledge / "decisions.md").symlink_to(tmp_path / "elsewhere")
    assert [row.bullet.text for file in ("facts.md", "files/1-2.md") for row in bullets_of(workspace, file)] == [
        "one", "note",
    ]  # fmt: skip
    assert bullets_of(workspace, "decisions.md") == []
    assert category_views(workspace)[1].problem is not None


# --- history ---------------------------------------------------------------------------------------------------------


def test_a_bullet_tells_its_past(tmp_path: Path) -> None:
    """Through an edit, a strike and an undo, back to the conversation."""
    workspace = make_home(tmp_path)
    converse(workspace, "kettle", "words")
    harvested(workspace, Model(facts=["water boils"]), Clock())

    def boiling() -> Found:
        return next(row for row in category_view(workspace, "facts").rows if "water boils" in row.bullet.text)

    bullets.edit(workspace, "facts", boiling().ref, "water boils at 100")
    struck = bullets.remove(workspace, "facts", boiling().ref, strike=True)
    events = events_of(workspace, "facts.md", boiling().bullet.raw)
    assert [event.what for event in events] == ["struck", "edited", "harvested"]
    assert events[-1].sha and events[-1].before == "" and "water boils [" in events[1].before
    assert isinstance(attempt(undo, workspace, struck.run, editor_wait=HURRIED), Ok)
    assert events_of(workspace, "facts.md", boiling().bullet.raw)[0].what == "undone"
    assert events_of(workspace, "facts.md", "- never seen") == ()


def test_a_task_that_was_done_and_an_item_that_was_let_in_keep_their_past(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    knowledge(workspace, "quarantine.md", "# Quarantine\n\n- [no-quote] facts: held words [from: a, 2026-01-01]\n")
    row = category_view(workspace, "quarantine").rows[0]
    assert isinstance(attempt(quarantine_accept, workspace, row.ref), Ok)
    fact = category_view(workspace, "facts").rows[0]
    assert [event.what for event in events_of(workspace, "facts.md", fact.bullet.raw)] == ["accepted"]
    bullets.add(workspace, "tasks_open", "paint")
    task = category_view(workspace, "tasks_open").rows[0]
    bullets.done(workspace, task.ref)
    task = category_view(workspace, "tasks_done").rows[0]
    assert [event.what for event in events_of(workspace, "tasks.md", task.bullet.raw)] == ["moved", "added"]


# --- source files ----------------------------------------------------------------------------------------------------


def test_notes_follow_their_file_and_say_when_it_is_gone(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    source = tmp_path / "project" / "app.py"
    source.parent.mkdir()
    source.write_text("def run():\n    pass\n", encoding="utf-8")
    assert isinstance(attempt(bullets.add, workspace, "files", "`run()` starts it", file=str(source)), Ok)
    first = notes_overview(workspace)
    assert [(row.source, row.exists, row.renamed) for row in first.notes] == [(str(source), True, False)]
    assert notes_overview(workspace, first) is first
    moved = source.with_name("main.py")
    source.rename(moved)
    second = notes_overview(workspace, first)
    assert [(row.source, row.exists, row.renamed) for row in second.notes] == [(str(moved), True, True)]
    assert second.notes[0].rows[0].bullet.text == "`run()` starts it"
    kept = moved.read_bytes()
    moved.unlink()
    third = notes_overview(workspace, second)
    assert [(row.exists, len(row.rows)) for row in third.notes] == [(False, 1)]
    assert notes_overview(workspace, third) is third  # not looked for again at once
    source.write_bytes(kept)
    assert notes_overview(workspace).notes[0].exists


def test_an_editor_that_saves_by_rename_keeps_the_notes(tmp_path: Path) -> None:
    workspace, source, fresh = make_home(tmp_path), tmp_path / "app.py", tmp_path / "app.py.new"
    source.write_text("a = 1\n", encoding="utf-8")
    bullets.add(workspace, "files", "note", file=str(source))
    before = notes_overview(workspace)
    fresh.write_text("a = 2\n", encoding="utf-8")
    fresh.rename(source)
    [after] = notes_overview(workspace, before).notes
    assert after.exists and after.source == str(source)


def test_a_source_is_shown_whatever_it_holds(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    big = tmp_path / "big.txt"
    big.write_text("ü" * 100 + "\n" + "x" * 500, encoding="utf-8")
    shown = source_text(workspace, str(big), 300)
    assert shown.cut and shown.text == "ü" * 100 + "\n"
    assert shown.mark == source_mark(str(big))
    assert decoded("\ufeffé".encode("utf-16-be")) == "é" and decoded(b"\xef\xbb\xbfa") == "a"
    assert decoded(b"caf\xe9") == "caf\ufffd" and decoded(b"\x7fELF\0\0") is None
    assert decoded("ab\nü".encode()[:-1], cut=True) == "ab\n"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A name from a conversation must not show what stands elsewhere."""
    workspace = make_home(tmp_path)
    (tmp_path / "secret").write_text("hidden", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name, code in (("link", "unreadable"), ("pipe", "unreadable"), (".", "unreadable"), ("gone", "missing")):
        result = attempt(source_text, workspace, str(tmp_path / name))
        assert isinstance(result, KnowledgeError) and result.error.code == code, name
    assert source_mark(str(tmp_path / "gone")) == (0, 0, 0)
    assert files.SOURCE_BYTES == 2_000_000


def test_notes_find_their_lines() -> None:
    lines = ["import os", "", "MAX = 3", "def foo():", "    return bar", "class Tea_Pot:", "## Back-off", "x = 'a b c'"]
    notes = [
        "line 5 returns", "see lines 3-4", "L2", "app.py:6 is odd", "`foo()` is slow", "the Tea_Pot leaks",
        "calls bar() twice", "`a b c` is odd", "nothing of that", "line 99 is not there", "`MAX` rules",
    ]  # fmt: skip
    expected = [(5, 5), (3, 4), (2, 2), (6, 6), (4, 4), (6, 6), (5, 5), (8, 8), None, None, (3, 3)]
    assert mentioned_lines(notes, lines) == expected
    assert mentioned_lines(["`foo()`"], []) == [None]
    assert mentioned_lines(["`foo()`"], ["foo()", "def foo():", "foo()"]) == [(2, 2)]


# --- conversations ---------------------------------------------------------------------------------------------------


def test_a_conversation_is_found_in_the_trash_and_back_in_its_place(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    path = converse(workspace, "kettle", "hundred degrees")
    harvested(workspace, Model(facts=["water boils"]), Clock())
    key = conversation_key(workspace, path.name)
    view = conversation_view(workspace, key)
    assert view.where == "trash" and view.trash == key and view.now.endswith(key) and view.name == path.name
    given = {row.text: row for row in view.given}
    assert given["water boils"].file == "facts.md" and given["water boils"].line > 0
    row = next(row for row in category_view(workspace, "facts").rows if row.bullet.text == "water boils")
    assert given["water boils"].line == row.bullet.line
    bullets.remove(workspace, "facts", row.ref)
    assert {row.text: row.line for row in conversation_view(workspace, key).given}["water boils"] == 0
    trash_restore(workspace, key, editor_wait=HURRIED)
    assert conversation_view(workspace, key).where == "in place"
    path.write_text("other words", encoding="utf-8")
    assert conversation_view(workspace, key).where == "changed"
    path.unlink()
    gone = conversation_view(workspace, key)
    assert (gone.where, gone.now) == ("gone", "") and gone.given
    assert isinstance(attempt(conversation_view, workspace, "0" * 64), KnowledgeError)
    assert isinstance(attempt(conversation_key, workspace, "nobody"), KnowledgeError)


# --- Which folder is a project: if these fail, what one home knows is read as if it were another's.


def opened(home: Path, cwd: Path) -> Workspace:
    cwd.mkdir(parents=True, exist_ok=True)
    return open_workspace(str(home), environment=dict(os.environ), cwd=cwd)


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder with the default home in it, which knows of port 8080, tabs and a context."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    mine = opened(folder / ".manual_slop", folder)
    bullets.add(mine, "decisions", "We decided to use port 8080")
    save(mine, "Prefers tabs in Makefiles")
    (mine.paths.context).write_text("---\nversion: 1\n---\n\nAnswer in short sentences.\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("where", ["", "work/deep"])
def test_the_default_home_is_no_project_of_another_home(person: Path, tmp_path: Path, where: str) -> None:
    """Who names another home anywhere below the own folder must not be told what the default one knows."""
    other = opened(tmp_path / "other", person / where)
    assert find_project(other) is None
    assert search(other, "port").entries == 0
    assert recall_command(other, "tabs").memories == ()
    listed = memories_list(other)
    assert isinstance(listed, Listed) and listed.memories == ()
    assert context(other).prefix.text == ""
    told = status(other)
    assert told.memories == 0 and told.context == []


@pytest.mark.parametrize("mark", ["conversations", "knowledge/ledger.json", "knowledge/digest.md"])
def test_a_folder_whose_store_is_a_home_is_no_project(tmp_path: Path, mark: str) -> None:
    """A home that lies at some other place is no project either."""
    place = tmp_path / "elsewhere" / ".manual_slop"
    (place / "knowledge").mkdir(parents=True)
    (place / "knowledge" / "facts.md").write_text("- Ports start at 8080.\n", encoding="utf-8")
    mine = opened(tmp_path / "home", place.parent)
    assert find_project(mine) == place.parent  # with facts of its own, and nothing that only a home has
    (place / mark).mkdir() if mark == "conversations" else (place / mark).write_text("{}", encoding="utf-8")
    assert find_project(mine) is None
    assert search(mine, "ports").entries == 0


def test_a_home_that_the_environment_names_is_no_project(tmp_path: Path) -> None:
    """`--home` beside MANUAL_SLOP_HOME: that one is a home too, though it holds nothing but a memory."""
    named = tmp_path / "work" / ".manual_slop"
    save(opened(named, tmp_path), "Prefers tabs")
    variables = {**os.environ, "MANUAL_SLOP_HOME": str(named)}
    mine = open_workspace(str(tmp_path / "home"), environment=variables, cwd=named.parent)
    assert find_project(mine) is None


def test_a_project_that_is_asked_for_and_is_another_home_is_refused(person: Path, tmp_path: Path) -> None:
    """A memory for "the project" would otherwise go into a home that was not named, and be read from one."""
    other = opened(tmp_path / "other", tmp_path)
    for refused in (error(find_project, other, str(person)), error(save, other, "Mine", project=str(person))):
        assert refused.code == "other-home" and "home" in refused.message and "--home" in refused.hint
    assert find_project(opened(person / ".manual_slop", tmp_path), str(person)) is None


def test_a_project_below_a_home_is_found_all_the_same(person: Path, tmp_path: Path) -> None:
    """The search upwards goes past nothing that is a project's."""
    project = person / "work"
    (project / ".manual_slop" / "knowledge" / "memories").mkdir(parents=True)
    assert find_project(opened(tmp_path / "other", project / "src")) == project
    assert find_project(opened(person / ".manual_slop", project / "src")) == project


def test_a_host_gets_the_homes_context_once(person: Path, tmp_path: Path) -> None:
    """A host passes the current folder as the project: in one's own folder the context must not stand there twice, and
    another home's must not stand there at all."""

    def text(home: Path) -> str:
        found = prompt_prefix(person, home=home, environment={})
        assert isinstance(found, Ok), found
        return found.value.text

    own = text(person / ".manual_slop")
    assert own.count("Answer in short sentences.") == 1 and "### Project Context" not in own
    assert text(tmp_path / "other") == ""


# --- Settings through a face that has seen the file: what somebody else wrote meanwhile must stay.

BEFORE = b"# mine\n[ai_settings.knowledge]\ndigest_enabled = true   # on since spring\n"


def test_a_switch_is_refused_when_the_file_changed_since_it_was_seen(tmp_path: Path) -> None:
    """The panel's switch must not write over an edit that an editor saved a moment ago."""
    file = tmp_path / "config.toml"
    file.write_bytes(BEFORE)
    workspace, theirs = open_workspace(str(tmp_path / "home"), file, {}, tmp_path), BEFORE + b"# theirs\n"
    file.write_bytes(theirs)
    refused = attempt(config_set, workspace, "digest_enabled", "false", hashlib.sha256(BEFORE).hexdigest())
    assert (
        isinstance(refused, KnowledgeError) and refused.error.code == "changed-outside" and file.read_bytes() == theirs
    )
    config_set(workspace, "digest_enabled", "false", hashlib.sha256(theirs).hexdigest())
    assert file.read_bytes() == BEFORE.replace(b"= true ", b"= false ") + b"# theirs\n"


def test_settings_that_are_gone_are_no_longer_in_force(tmp_path: Path) -> None:
    """A user deletes their settings file while the panel or the server runs: the shipped ones count, and nobody is
    told of a --config that was never given."""
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    file = tmp_path / "config" / "manual_slop" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("[ai_settings.knowledge]\njobs = 2\n")
    (tmp_path / "elsewhere").mkdir()
    workspace = open_workspace(str(tmp_path / "home"), None, environment, tmp_path / "elsewhere")
    assert workspace.config.jobs == 2 and reopened(workspace).loaded.found_by == workspace.loaded.found_by
    file.unlink()
    gone = reopened(workspace)
    assert gone.loaded.found_by == "shipped"
    file.write_text("[ai_settings.knowledge]\njobs = 3\n")
    assert reopened(gone).config.jobs == 3


def test_the_file_that_is_opened_for_settings_is_ones_own(tmp_path: Path) -> None:
    """What a user writes into the shipped file is gone with the next update."""
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    workspace = open_workspace(str(tmp_path / "home"), None, environment, tmp_path)
    assert workspace.loaded.found_by == "shipped"
    made = settings_to_open(workspace)
    assert made == tmp_path / "config" / "manual_slop" / "config.toml"
    assert made.read_text().startswith("# Your settings") and isinstance(attempt(reopened, workspace), Ok)
    made.write_text("[ai_settings.knowledge]\njobs = 3\n")
    assert settings_to_open(workspace) == made and "jobs" in made.read_text()


# --- The demo is what a newcomer runs first, with or without settings of their own. If these fail, trying the program
# out touches conversations that belong to somebody's daily work.

SESSION = "cbc02750-9666-4984-9b29-b554a7d9d9e3"
LINE = (
    '{"type":"user","uuid":"1","sessionId":"%s","timestamp":"2026-01-01T00:00:00Z","cwd":"/w","message":'
    '{"role":"user","content":"We decided to use Postgres instead of MySQL because of jsonb."}}\n'
)
BOLD = (
    '[ai_settings.knowledge]\nsources = ["home", "claude_code"]\nreclaim = "always"\nreclaim_foreign = true\n'
    "trash_days = 0\n"
)


def bold(tmp_path: Path) -> tuple[Workspace, Path]:
    """A user whose harvests take everything away at once, and a conversation of theirs in another tool."""
    theirs = tmp_path / ".claude" / "projects" / "-w" / f"{SESSION}.jsonl"
    theirs.parent.mkdir(parents=True)
    theirs.write_text(LINE % SESSION)
    os.utime(theirs, (1_767_225_600, 1_767_225_600))
    (tmp_path / "settings.toml").write_text(BOLD)
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    opened = open_workspace(str(tmp_path / "own"), tmp_path / "settings.toml", environment, tmp_path)
    return opened, theirs


def test_a_demo_and_a_harvest_in_its_window_read_and_take_nothing_of_the_persons_own(tmp_path: Path) -> None:
    workspace, theirs = bold(tmp_path)
    shown = demo(workspace, into=str(tmp_path / "demo"))
    assert theirs.read_text() == LINE % SESSION and not (tmp_path / "own").exists()
    assert shown.applied.harvested == 4 and shown.applied.reclaimed == 0, "two are left to whoever tries it"
    told = "".join(path.read_text() for path in (tmp_path / "demo").rglob("*") if path.is_file())
    assert SESSION not in told and "jsonb" not in told
    assert "claude_code" not in demo_text(shown), "nor does it say what lies there"
    inside = demo_home(workspace)
    again = attempt(harvest, inside, HarvestRequest(apply=True))
    assert isinstance(again, Ok) and again.value.plan.counts.get("harvest", 0) <= 6
    assert theirs.read_text() == LINE % SESSION
    assert SESSION not in inside.paths.ledger.read_text()


@pytest.mark.parametrize("of", ["window", "command"])
def test_a_demo_counts_and_warns_of_no_conversation_of_another_tool(tmp_path: Path, of: str) -> None:
    """Neither in the tool's usual folder nor where a variable names one, with two days left."""
    workspace, _ = bold(tmp_path)
    moved = tmp_path / "moved" / "projects" / "-w" / f"{SESSION}.jsonl"
    moved.parent.mkdir(parents=True)
    moved.write_text(LINE % SESSION)
    os.utime(moved, (time.time() - 28 * 86_400,) * 2)
    workspace = replace(workspace, environment={**workspace.environment, "CLAUDE_CONFIG_DIR": str(tmp_path / "moved")})
    shown = overview(workspace)
    assert "will be deleted" in shown.status.late and shown.ends and shown.status.late_sources == ("claude_code",)
    made = demo_home(workspace) if of == "window" else None
    inside = made or opened_demo(workspace, demo(workspace, into=str(tmp_path / "demo")).home)
    found = {row.name: row.conversations for row in sources(inside).rows if row.conversations}
    assert list(found) == ["home"]
    shown = overview(inside)
    assert not shown.ends and not shown.status.late and not shown.status.late_sources


def test_a_conversation_that_failed_is_told_once(tmp_path: Path) -> None:
    """It stood among those that wait and among those that failed."""
    workspace = make_home(tmp_path)
    converse(workspace)
    harvested(workspace, lambda prompt, schema=None: Answer("no JSON"), Clock())
    converse(workspace, "later", "bye")
    shown = overview(workspace)
    assert (shown.status.ledger["harvest-failed"], shown.status.pending["conversations"]) == (1, 2)
    assert [row.entry["name"].partition("-")[0] for row in shown.waiting] == ["later"]
    assert "B; 1 of them failed before and will be tried again" in status_text(shown.status)


# --- its folder ------------------------------------------------------------------------------------------------------


def test_a_demo_takes_a_new_folder_that_is_the_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else may read or put anything there, and a window that is open on an earlier demo keeps its store."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, second = make_demo_home(), make_demo_home()
    assert first != second and (first / "conversations").is_dir() and (second / "conversations").is_dir()
    assert all(stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in tmp_path.iterdir())


def test_json_of_no_known_kind_is_no_tool() -> None:
    """A row would name a tool that nobody has, and the filter of tools would offer it."""
    assert called({"source": "home", "format": UNKNOWN_JSON, "title": "T"}).tool_title == ""
    assert called({"source": "codex", "format": UNKNOWN_JSON}).tool_title
