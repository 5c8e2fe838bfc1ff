"""What a harvest says about what it did not read. A newcomer whose file is passed over without a word takes the program
for broken, or never learns that a conversation is not in the knowledge."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.commands.harvest_report import harvest_text
from core.harvest.report import THROUGH, HarvestReport
from core.sources.tools import FILES, Place
from gui.views.harvest_dialog import result_lines
from tests.cli_call import call
from tests.harvest_world import NOW, FakeModel, World, says, workspace_of


def about(notes: list[str] | tuple[str, ...], words: str) -> list[str]:
    return [note for note in notes if words in note]


def test_files_whose_names_say_nothing_are_counted_and_named_with_what_to_do(tmp_path: Path) -> None:
    """The first thing a newcomer does is to copy `chat.md` into the folder; nothing happened, and nothing was said."""
    world = World(tmp_path)
    for name in ("a.md", "b.md", "c.md", "d.md", "e.md"):
        world.converse(name=name)
    world.converse("User: We decided to use ninja.\n")
    [note] = about(world.plan().notes, "names do not say")
    assert note.startswith("5 files of ") and "a.md, b.md, c.md, d.md and 1 more" in note
    assert "-<uuid4>" in note and "--source PATH" in note
    assert about(world.run().notes, "names do not say") == [note]


def test_one_such_file_is_told_in_the_singular_and_not_when_it_was_named_itself(tmp_path: Path) -> None:
    """Whoever followed the advice and named the file should not be given it again."""
    world = World(tmp_path)
    path = world.converse(name="chat.md")
    [note] = about(world.plan().notes, "harvested")
    assert note.startswith("1 file of ") and "chat.md" in note and "its name does not say" in note
    world.options = replace(world.options, places=(Place(FILES, str(path)),))
    assert not about(world.plan().notes, "does not say")


def test_a_home_of_proper_names_gets_no_such_note(tmp_path: Path) -> None:
    """A note that is always there is read by nobody."""
    world = World(tmp_path)
    world.converse()
    world.converse(name="latest-x")
    world.converse(name=f"{uuid.uuid4()}-delegated")
    assert world.plan().notes == ()


def test_what_is_too_large_is_told_with_its_size_the_limit_and_the_setting(tmp_path: Path) -> None:
    """aider appends to one file for ever: without this its user would never learn how to have it read."""
    world = World(tmp_path).limits(max_source_bytes=1000)
    big = world.converse("User: hello\n" * 200)
    world.converse("User: hi\n")
    [note] = about(world.plan().notes, "too large")
    assert f"{big.name} (2.4KB)" in note and "1000B" in note
    assert "knowledge config set max_harvest_source_bytes 4000" in note
    assert about(world.run().notes, "too large") == [note]


def test_what_is_too_large_is_not_told_as_to_be_read(tmp_path: Path) -> None:
    """Somebody who pays by the token would be told of a megabyte that nobody will send."""
    world = World(tmp_path).limits(max_source_bytes=1000)
    folder = tmp_path / "dl"
    folder.mkdir()
    (folder / "big.md").write_text("User: hello\n" * 200)
    (folder / "small.md").write_text("User: hello\n")
    world.options = replace(world.options, home=False, places=(Place(FILES, str(folder)),))
    plan = world.plan()
    text = harvest_text(HarvestReport(applied=False, plan=plan, too_large=1))
    assert plan.bytes_to_send() == 12
    assert "sources: files:2 (2.4KB; 1 to harvest, 12B)\n" in text
    assert text.startswith("artifacts: live:0, user-kept:0, prune:0, harvest:2, keep:0\nharvest candidates: 12B (~0 ")


# --- what was named and cannot be read -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bad.zip", "bad.db", "pipe"])
def test_a_named_file_that_cannot_be_read_is_an_error(name: str, tmp_path: Path) -> None:
    """A script that harvests a download would take the loss of all of it for success."""
    path = tmp_path / "dl" / name
    path.parent.mkdir()
    os.mkfifo(path) if name == "pipe" else path.write_bytes(b"neither an archive nor a database" * 40)
    for words in (
        ["harvest", "--source", str(path)],
        ["harvest", "--apply", "--source", str(path)],
        ["sources", str(path)],
    ):
        code, _, err = call(*words, "--home", str(tmp_path / "home"))
        assert code == 1, words
        assert err.count(str(path)) == 1 and any(why in err for why in ("cannot be read", "no SQLite database")), err


def test_the_same_file_in_a_named_folder_stays_a_note(tmp_path: Path) -> None:
    """One broken download among many should not make a good harvest look failed."""
    folder = tmp_path / "dl"
    folder.mkdir()
    (folder / "bad.db").write_bytes(b"no database" * 99)
    (folder / "good.md").write_text("User: hello\n")
    code, out, err = call("harvest", "--now", "--source", str(folder), "--home", str(tmp_path / "home"))
    assert (code, err) == (0, "")
    assert "note: " in out and "bad.db" in out and "plan: 1 to harvest" in out


# --- what is not looked at -------------------------------------------------------------------------------------------


def test_only_what_is_new_elsewhere_is_told_and_only_who_named_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reminder of what was harvested long ago teaches people to pass over reminders."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
    folder = tmp_path / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        row = {"type": "user", "message": {"role": "user", "content": f"hello {name}"}, "uuid": name, "sessionId": name}
        (folder / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    home = ("--home", str(tmp_path / "home"))
    assert "not looked at: claude_code (2);" in call("harvest", *home)[1]
    assert "not looked at: claude_code (2);" in call("harvest", "--apply", *home)[1], "nobody reads the dry run twice"
    assert "not looked at" not in str(call("harvest", "--apply", "--since-last", *home)), "nobody waits for a hook"
    assert "not looked at" not in call("harvest", "--source", "codex", *home)[1]
    assert call("harvest", "--apply", "--now", "--source", "claude_code", "--quiet", *home)[0] == 0
    assert "not looked at" not in call("harvest", *home)[1]
    (folder / "three.jsonl").write_text((folder / "one.jsonl").read_text().replace("one", "three"))
    assert "not looked at: claude_code (1);" in call("harvest", *home)[1]


def test_a_tool_without_a_conversation_is_told_as_one_that_was_not_found(tmp_path: Path) -> None:
    """ "No conversation waits" alone sounds as if all of them had been read."""
    home = ("--home", str(tmp_path / "home"))
    for apply in ((), ("--apply",), ("--apply",)):
        out = call("harvest", "--source", "aider", *apply, *home)[1]
        assert "note: no conversation of aider was found; 'knowledge sources aider' tells where" in out
        assert "fact index were gone" not in out, "nothing was lost where nothing has been"
    assert "aider" not in call("harvest", "--apply", *home)[1]
    talk = tmp_path / "talk.md"
    talk.write_text("User: why?\n\nAssistant: It turned out that the proxy strips `Authorization` headers.\n")
    out = call("harvest", "--source", str(talk), "--now", "--apply", *home)[1]
    assert "fact index: 1 new" in out and "fact index were gone" not in out, "also before the first fact"


def test_what_was_known_already_is_counted_apart(tmp_path: Path) -> None:
    """ "Harvested items: 2" beside one new line sounds as if one were lost."""
    world = World(tmp_path)
    home = ("--home", str(world.paths.home))
    port = "User: We decided to use port 8080 because it is free.\n"
    world.converse(port)
    assert "\nof these: 1 new, 0 known\n" in call("harvest", "--apply", *home)[1]
    world.converse(f"{port}\nUser: We decided to use tabs because spaces are many.\n")
    assert "decisions:2" in (out := call("harvest", "--apply", *home)[1]) and "\nof these: 1 new, 1 known\n" in out
    assert "of these" not in call("harvest", "--apply", *home)[1]


# --- what the offline rules cannot do, and what became of notes ------------------------------------------------------


@pytest.mark.parametrize(
    ("fruitless", "fruitful", "told"), [(9, 0, False), (10, 0, True), (9, 3, False), (10, 3, True)]
)
def test_a_run_of_the_offline_rules_that_finds_next_to_nothing_says_why(
    fruitless: int, fruitful: int, told: bool, tmp_path: Path
) -> None:
    """Whoever talks Italian would take "37 with nothing durable" for a judgement of their conversations."""
    world = World(tmp_path)
    for number in range(fruitless):
        world.converse(f"User: Abbiamo parlato del tempo, numero {number}.\n")
    for number in range(fruitful):
        world.converse(f"User: We decided to use port 80{number} because it is free.\n")
    code, out, _ = call("harvest", "--apply", "--quiet", "--home", str(world.paths.home))
    assert code == 0 and f"{fruitless} of them with nothing worth keeping" in out
    assert ("know English best" in out and "said for good" in out and "knowledge config set provider" in out) is told


def test_notes_on_files_that_are_not_there_are_told_as_what_they_became(tmp_path: Path) -> None:
    """`files:2` and an empty files/ look like a loss; that the notes stand in facts.md should be said."""
    world = World(tmp_path)
    world.converse()
    there = tmp_path / "there.py"
    there.write_text("pass\n")
    rows = [{"path": str(tmp_path / f"gone{number}.py"), "note": f"Holds part {number}"} for number in (1, 2)]
    report = world.run(says(files=[*rows, {"path": str(there), "note": "Is there"}]))
    text = harvest_text(report)
    assert report.items["files"] == 3 and len(world.text("facts.md").split("\n- ")) == 3
    assert "files:3\n" in text and "\nnotes on files that became facts: 2 of files not found" in text
    assert report.to_json()["notes_as_facts"] == 2


def test_a_size_just_over_the_limit_is_told_so_that_the_two_differ(tmp_path: Path) -> None:
    """ "1.0MB; the limit is 1.0MB" sounds like a mistake of the program."""
    world = World(tmp_path).limits(max_source_bytes=1 << 20)
    world.converse("x" * ((1 << 20) + 17_459))
    [note] = about(world.plan().notes, "too large")
    assert " bytes); the limit is 1,048,576 bytes" in note and "(1,066," in note


# --- what is held back ------------------------------------------------------------------------------------------------


def test_the_report_says_where_conversations_went_and_until_when(tmp_path: Path) -> None:
    """ "reclaimed: 68.4KB" sounded like free space, while the bytes lay in the trash."""
    world = World(tmp_path)
    world.converse("User: one\n")
    report = world.run(FakeModel())
    said = harvest_text(report)
    assert said.startswith("reclaimed: 10B\nharvested items: ")
    assert "\nmoved to the trash until 2026-06-26: 1 conversation, 10B ('knowledge trash' lists them)\n" in said
    until = (NOW + timedelta(days=14)).isoformat()
    assert report.to_json()["trash"] == {"conversations": 1, "bytes": 10, "until": until}
    assert "1 conversation moved to the trash until 26 Jun 2026" in [line.text for line in result_lines(report)]
    world.converse("User: two\n")
    report = world.run(FakeModel(), trash_days=0)
    said = harvest_text(report)
    assert "removed for good: 1 conversation, 10B (trash_days is 0)\n" in said and "moved to the trash" not in said
    assert report.to_json()["trash"] == {"conversations": 0, "bytes": 0, "until": None}
    assert "1 conversation removed for good" in [line.text for line in result_lines(report)]
    assert "trash" not in harvest_text(world.run(FakeModel()))


def test_rows_that_were_not_read_and_items_that_were_held_are_told(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.converse("User: one\n")
    report = world.run(says(facts=["a", {"text": "b"}, "c" * 501], insights=["d"]))
    said = harvest_text(report)
    assert "rows skipped: not asked for:1, wrong shape:1\n" in said and "quarantined: 1 (too-long:1) (" in said
    lines = [line.text for line in result_lines(report)]
    assert any("1 longer than an item may be" in line for line in lines)
    assert "2 rows of answers not read: 1 not asked for, 1 wrong shape" in lines


def test_a_conversation_whose_items_are_all_held_back_is_not_told_as_items_or_as_nothing(tmp_path: Path) -> None:
    """ "17 items" while it ran, "0 items" in the ledger, and nothing anywhere: where are they?"""
    world, told = World(tmp_path), list[str]()
    world.converse("User: one\n")
    world.converse("User: two\n")
    invented = {"facts": [{"statement": f"Made up {at}", "quote": "nobody ever said these words"} for at in range(17)]}
    mixed = {"facts": ["Kept", {"statement": "Made up", "quote": "nobody ever said these words"}]}
    model = FakeModel(lambda number, prompt: invented if number == 1 else mixed)
    report = world.run(model, progress=lambda news: told.append(news.outcome) if news.kind == THROUGH else None)
    assert told == ["0 items, 17 held back", "1 item, 1 held back"]
    assert (report.held, report.quarantined, report.empty) == (1, 18, 0)
    assert (
        "quarantined: 18 (quote-not-found:18), all that 1 conversation taught ('knowledge review --kind held' shows "
        "them)" in harvest_text(report)
    )
    [note] = about(report.notes, "let it in")
    assert "nothing of 1 conversation" in note and "14 days" in note
    home = str(world.paths.home)
    assert "0 items, 17 held back" in call("--home", home, "ledger")[1]
    assert "waiting for your word: 18 held" in call("--home", home, "status")[1]


def test_after_a_run_its_new_lines_are_shown_grouped_and_the_best_first(world: World) -> None:
    """A user who must open five files to see what a run found does not look."""
    from core.commands.harvest import _new_lines

    world.knowledge("facts.md", "# Facts\n\n- Said before [from: x, 2026-01-01]\n- Stands [from: x, 2026-01-01]\n")
    world.converse()
    rows = {"facts": ["Said once", "Said before"], "tasks_open": ["Write it"], "files": [{"path": "/x", "note": "odd"}]}
    report = world.run(FakeModel(lambda number, prompt: rows | {"questions": [f"Why {number}?"]}))
    report.lines = _new_lines(workspace_of(world), report.run)
    text = harvest_text(report).partition("\nnew ")[2]
    assert "Stands" not in text and "new open tasks (1):\n  - Write it\n" in text
    assert text.startswith("facts (2):\n") and "- Said once\n" in text and "Said before" not in text, "it is not new"


def test_a_playbook_is_shown_as_it_stands_and_in_whole_steps(world: World) -> None:
    """ "'!node_modules/**'" lost its stars and a command its middle: whoever copied them ran something else."""
    from core.commands.harvest import _new_lines

    world.converse()
    steps = ["rg -n `cat names` . -g '!node_modules/**'", *(f"tool --number {at} " + "x" * 50 for at in range(9))]
    rows = [{"name": "Look", "steps": steps[:1]}, {"name": "Do all of it", "steps": steps}]
    report = world.run(FakeModel(lambda number, prompt: {"playbooks": rows, "questions": [f"Why {number}?"]}))
    report.lines = _new_lines(workspace_of(world), report.run)
    shown = harvest_text(report).partition("new playbooks (2):\n")[2].split("\n")
    assert f"  - Look: {steps[0]}" in shown
    [long] = [line for line in shown if line.startswith("  - Do all of it: ")]
    *told, rest = long.removeprefix("  - Do all of it: ").split(" -> ")
    assert told and told == steps[: len(told)] and rest == f"({len(steps) - len(told)} more steps)"
