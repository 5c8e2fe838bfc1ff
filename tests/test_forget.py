"""What a user removes for good is nowhere any more; what they forget takes along what rests on it alone."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.base.result import KnowledgeError
from core.commands.transcript import read_entry
from core.commands.workspace import open_workspace
from core.knowledge import edit
from core.knowledge import purge as purging
from tests.cli_call import call
from tests.export_makers import chat, zipped
from tests.harvest_world import FakeModel, World, never, nobody_waits_for_editors, sha256

RARE = "zyzzogeton"
SAID = f"The {RARE} pump listens on port 8080"
OTHER = "The cellar is dry"
TALK = f"User: we have a pump. {SAID}. The cellar is dry.\n\nAssistant: Noted.\n"
LATER = "User: and one more talk. The cellar is dry.\n\nAssistant: Noted.\n"


@pytest.fixture(name="world")
def world_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    nobody_waits_for_editors(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    world = World(tmp_path)
    world.options = replace(world.options, trash_days=0)
    yield world


def run(world: World, *words: str) -> str:
    code, out, err = call(*words, "--home", str(world.paths.home))
    assert code == 0, (words, out, err)
    return out


def document(world: World, *words: str) -> Any:
    return json.loads(run(world, *words, "--json"))


def places(folder: Path, but: str = "conversations") -> list[str]:
    """Every file below a folder that has the rare word in it."""
    found = [path for path in folder.rglob("*") if path.is_file() and f"/home/{but}/" not in str(path)]
    return [str(path.relative_to(folder)) for path in found if RARE.encode() in path.read_bytes().lower()]


def everywhere(world: World) -> dict[str, Path]:
    """A home in which every kind of store has the sentence; the conversations by their text."""
    talks = {"first": world.converse(TALK)}

    def answer(asked: int, prompt: str) -> dict[str, Any]:
        row = {"statement": SAID, "quote": SAID, "kind": "pitfall"}
        dry = {"statement": OTHER, "quote": "The cellar is dry"}
        held = {"statement": f"{SAID}.", "quote": "nobody ever said anything like it"}
        known = next((line.split()[0] for line in prompt.split("\n") if RARE in line and line.startswith("k")), "k1")
        outdated = {"statement": "The port is another one", "quote": "one more talk", "supersedes": known}
        return (
            {"facts": [row, dry], "decisions": [held]}
            if SAID in prompt and "and one more" not in prompt
            else {"facts": [dry, outdated]}
        )

    world.run(FakeModel(answer))
    talks["second"] = world.converse(LATER)
    world.run(FakeModel(answer))
    run(world, "facts", "sync")
    run(world, "add", "facts", "A line of mine below it")
    run(world, "edit", "A line of mine below it", "My line below it")
    run(world, "digest", "on")
    page = world.folder / "page.md"
    page.write_text(f"# Pumps\n\nBefore it. {SAID}. What stands behind it stays.\n")
    run(world, "library", "ingest", str(page))
    [chunk] = document(world, "library", "retrieve", "pump port")
    words = ("--chunk", chunk["key"], "--task", "debugging", "--outcome", "win", "--context", f"I learned: {SAID}")
    run(world, "library", "record", "--session", "s", *words)
    run(world, "library", "consolidate")
    page.unlink()
    run(world, "search", "pump port")
    answers = next((world.folder / "cache").rglob("search")).parent / "answers"
    answers.mkdir()
    (answers / f"{sha256(TALK)}.json").write_text(json.dumps({"k": json.dumps({"facts": [{"statement": SAID}]})}))
    (world.paths.state / "autopilot.json").write_text(json.dumps({"lines": [{"text": SAID}]}))
    return talks


def test_what_is_removed_for_good_is_in_no_byte_of_the_home_or_the_cache(world: World) -> None:
    everywhere(world)
    before = places(world.folder)
    kinds = ("facts.md", "quarantine.md", "changes.jsonl", "plans/", "library.db", "search.db", "answers/", ".yaml")
    assert all(any(kind in place for place in before) for kind in kinds), before
    done = document(world, "rm", "facts", SAID, "--forever", "--yes")
    assert done["errors"] == [] and done["left"] == []
    assert places(world.folder) == []
    for words in (("facts", "sync"), ("search", "port"), ("harvest", "--apply"), ("digest", "on"), ("library", "list")):
        run(world, *words)
    assert places(world.folder) == []
    lines = world.text("facts.md")
    assert OTHER in lines and "My line below it" in lines
    assert "What stands behind it stays." in run(world, "library", "retrieve", "what stands behind")
    assert "the store is whole" in run(world, "doctor")


def test_the_title_of_a_conversation_that_begins_with_it_goes_too(world: World) -> None:
    """Cut to 80 letters it stood in the ledger and the plan on, which git carries to other computers."""
    said = f"{SAID} of the old control unit, which nobody but the night shift may ever switch off"
    world.converse(f"User: {said}. Please write that down.\n\nAssistant: Noted.\n")
    world.run(FakeModel(lambda *_: {"facts": [{"statement": said, "quote": said}, OTHER]}))
    assert any(RARE in str(entry.get("title")) for entry in world.entries().values())
    assert document(world, "rm", "facts", SAID, "--forever", "--yes")["errors"] == []
    assert places(world.folder) == [] and OTHER in world.text("facts.md")


def test_the_same_words_stay_away_after_a_removal_for_good(world: World) -> None:
    everywhere(world)
    run(world, "rm", "facts", SAID, "--forever", "--yes")
    world.converse(TALK + "User: once more.\n")
    world.run(FakeModel(lambda *_: {"facts": [{"statement": f"the {RARE} pump listens on port 8080.", "quote": ""}]}))
    assert RARE not in world.text("facts.md")
    assert "[forever: " in world.text("removed.md")


def test_a_removal_for_good_takes_the_backup_along_and_names_the_memory_that_still_holds_it(world: World) -> None:
    everywhere(world)
    run(world, "library", "backup")
    run(world, "save", f"Remember that {SAID}")
    done = document(world, "rm", "facts", SAID, "--forever", "--yes")
    assert [place.partition("/")[0] for place in done["left"]] == ["memories"]
    assert [name.partition("-")[0] for name in done["backups"]] == ["backups/experience", "backups/library"]
    assert not any((world.paths.knowledge / name).exists() for name in done["backups"])


def test_nobody_is_asked_without_a_terminal_and_nothing_goes(world: World) -> None:
    everywhere(world)
    before = places(world.folder)
    code, _, err = call("rm", "facts", SAID, "--forever", "--home", str(world.paths.home))
    assert code == 1 and "--yes" in err
    assert places(world.folder) == before


def test_a_removal_that_was_cut_off_is_completed_by_the_doctor(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere(world)

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(purging, "purge_files", cut)
        call("rm", "facts", SAID, "--forever", "--yes", "--home", str(world.paths.home))
    assert (world.paths.state / purging.PURGING).exists() and places(world.folder)
    assert RARE.encode() not in (world.paths.state / purging.PURGING).read_bytes()
    run(world, "doctor", "--repair")
    assert places(world.folder) == []


def test_what_rests_on_a_forgotten_conversation_alone_is_in_no_byte(world: World) -> None:
    talks = everywhere(world)
    struck = f"\n- ~~{SAID}~~ [from: somewhere-else, 2026-06-01]\n"  # nobody says it any more
    world.knowledge("facts.md", world.text("facts.md") + struck)
    found = document(world, "forget", talks["first"].name, "--yes")
    assert [row["text"] for row in found["stayed"]] == [OTHER] and found["errors"] == []
    assert places(world.folder) == []
    assert world.text("facts.md").count(OTHER) == 1 and talks["second"].name in world.text("facts.md")
    assert world.entry(TALK)["status"] == "forgotten" and world.entry(LATER)["status"] == "harvested"
    world.converse(TALK, talks["first"].name)
    run(world, "harvest", "--apply")
    assert places(world.folder) == [] and talks["first"].exists()
    world.converse(f"{TALK}User: what else is there to say of the pump?\n", talks["first"].name)
    world.run(FakeModel(never))
    assert places(world.folder) == [], "nor where it went on"
    code, _, err = call("show", talks["first"].name, "--home", str(world.paths.home))
    assert code == 1 and "forgotten" in err


def test_a_forgotten_conversation_is_struck_through_and_undo_brings_its_lines_back(world: World) -> None:
    talks = everywhere(world)
    found = document(world, "forget", talks["first"].name, "--strike")
    assert f"- ~~{SAID}~~ [from: {talks['first'].name}" in world.text("facts.md")
    assert f"- {SAID} [forgotten: " in world.text("removed.md")
    assert f"- {OTHER} [from: {talks['second'].name}" in world.text("facts.md")
    assert RARE not in run(world, "context") and SAID not in run(world, "search", "pump port", "--kind", "bullet")
    assert RARE not in world.text("quarantine.md")
    run(world, "undo", found["run"])
    assert RARE in world.text("quarantine.md")
    assert f"- {SAID} [from: {talks['first'].name}" in world.text("facts.md")


def test_nothing_is_forgotten_where_nobody_can_be_asked_and_the_ledger_takes_the_same_names(world: World) -> None:
    """`forget` struck at once what no command brings wholly back, and told nobody that it does not ask."""
    talks, home = everywhere(world), ("--home", str(world.paths.home))
    before, part = world.text("facts.md"), talks["first"].name[:-9]
    code, out, err = call("forget", part, *home)
    assert code == 1 and not out and "nothing was changed" in err
    assert "--strike" in err and "--yes" in err and "in a terminal" in err and "nothing lifts" in err
    assert call("forget", part, "--strike", "--yes", *home)[0] == 2
    assert world.text("facts.md") == before and world.entry(TALK)["status"] == "harvested"
    for named in (part, talks["first"].name, sha256(TALK)[:8], document(world, "ledger", part)[0]["path"]):
        assert [row["sha256"] for row in document(world, "ledger", named)] == [sha256(TALK)], named
    assert "2 conversations match" in call("ledger", "-", *home)[2]


def test_no_command_shows_what_was_said_in_a_forgotten_conversation(world: World) -> None:
    """Also where an undo has brought its lines back, by which its words are found."""
    world.options = replace(world.options, limits=replace(world.options.limits, keep=True))
    talk = world.converse(TALK)
    world.run(FakeModel(lambda *_: {"facts": [{"statement": SAID, "quote": SAID}]}))
    around = "we have a pump"
    assert around in run(world, "evidence", SAID) and around in run(world, "show", talk.name)
    told = run(world, "forget", talk.name, "--strike")
    assert "the conversation stays forgotten" in told
    run(world, "undo", told.partition("'knowledge undo ")[2].partition("'")[0])
    proof = document(world, "evidence", SAID)
    assert (proof["text"], proof["problem"], proof["quote"], proof["passage"]) == (SAID, "forgotten", None, None)
    assert "is forgotten, as you asked" in run(world, "evidence", SAID) and not proof["conversation"]
    for words in (("show", talk.name), ("handoff", talk.name), ("find", around), ("search", around), ("list",)):
        _, out, err = call(*words, "--home", str(world.paths.home))
        assert around not in out + err, words
    with pytest.raises(KnowledgeError, match="forgotten"):  # as the panel reads what the ledger lists
        read_entry(open_workspace(str(world.paths.home)), sha256(TALK))


def test_the_ledger_does_not_tell_the_title_of_a_forgotten_talk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A talk of an export is named by its title."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = ("--home", str(tmp_path / "home"))
    talks = [chat("id-1", "The zyzzogeton papers", "What about it?", SAID), chat("id-2", "Other", "hm?", OTHER)]
    export = zipped(tmp_path / "export.zip", {"conversations.json": json.dumps(talks)})
    assert call("harvest", "--source", str(export), "--apply", *home)[0] == 0
    [name] = [row["name"] for row in json.loads(call("ledger", "--json", *home)[1]) if "id-1" in row["name"]]
    assert call("forget", name, "--yes", *home)[0] == 0
    assert RARE not in call("ledger", *home)[1]


def test_a_forgotten_conversation_is_no_new_one_and_nobody_warns_of_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sources`, the dry run and `doctor` counted it as not harvested, and told to harvest it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home, file = ("--home", str(tmp_path / "home")), tmp_path / ".claude/projects/-srv-app/s1.jsonl"
    file.parent.mkdir(parents=True)
    row = {"type": "user", "message": {"role": "user", "content": SAID}, "uuid": "u", "sessionId": "s1", "cwd": "/srv"}
    file.write_text(json.dumps(row) + "\n")
    at = datetime.now(UTC).timestamp() - 28 * 86_400
    os.utime(file, (at, at))
    assert call("harvest", "--source", "claude_code", "--apply", *home)[0] == 0
    assert "claude_code/s1" in call("ledger", *home)[1], "named as 'show' and 'forget' take it"
    assert call("forget", "claude_code/s1", "--strike", *home)[0] == 0
    told = [call(*words, *home)[1] for words in (("sources",), ("harvest",), ("doctor",))]
    assert " new" not in told[0] and "not looked at" not in told[1] and "will be deleted" not in told[2], told
    assert "as you asked" not in told[1]
    assert "1 conversation stays unread: forgotten, as you asked" in call("harvest", "--source", str(file), *home)[1]


@pytest.mark.parametrize("how", ["--strike", "--yes"])
def test_what_was_said_in_a_forgotten_conversation_and_stands_in_no_line_is_gone_too(world: World, how: str) -> None:
    """From what is searched and kept ready at least; with a yes from the trash and the record of uses as well."""
    world.options = replace(world.options, trash_days=14)
    said = f"User: the {RARE} valve is loose. The cellar is dry.\n\nAssistant: Noted.\n"
    talk = world.converse(said)
    world.run(FakeModel(lambda *_: {"facts": [{"statement": OTHER, "quote": OTHER}]}))
    assert RARE in run(world, "search", RARE)
    run(world, "worked", f"{talk.name}:1", "--outcome", "win", "--why", f"it was the {RARE} valve")
    answers = next((world.folder / "cache").rglob("conversations")).parent / "answers"
    answers.mkdir()
    (answers / f"{sha256(said)}.json").write_text(json.dumps({"k": RARE}))
    assert len(world.trash()) == 1
    run(world, "forget", talk.name, how)
    assert not [place for place in places(world.folder) if place.startswith("cache/")]
    assert how == "--strike" or (places(world.folder), world.trash()) == ([], [])


def test_a_line_that_was_removed_before_is_in_no_byte_when_its_conversation_is_forgotten(world: World) -> None:
    """It stands in removed.md and in the record of changes, and no line rests on the conversation any more."""
    talks = everywhere(world)
    run(world, "rm", "facts", SAID)
    run(world, "review", "all", "held", "--no")
    assert any("removed.md" in place for place in places(world.folder))
    run(world, "forget", talks["first"].name, "--yes")
    assert places(world.folder) == []


def test_a_conversation_that_went_on_is_forgotten_whole_by_the_hash_of_its_end(world: World) -> None:
    """Else what the shorter one taught stays, and the longer one is read again when it grows."""
    world.options = replace(world.options, limits=replace(world.options.limits, keep=True))
    talk = world.converse(TALK)
    world.run(FakeModel(lambda *_: {"facts": [{"statement": SAID, "quote": SAID}]}))
    longer = TALK + "User: The roof leaks.\n\nAssistant: Noted.\n"
    world.converse(longer, talk.name)
    world.run(FakeModel(lambda *_: {"facts": [{"statement": "The roof leaks", "quote": "The roof leaks"}]}))
    assert SAID in world.text("facts.md")
    run(world, "forget", sha256(longer)[:12], "--yes")
    assert places(world.folder) == []
    assert {world.entry(text)["status"] for text in (TALK, longer)} == {"forgotten"}


def test_a_short_part_of_a_name_is_not_taken_for_the_beginning_of_another_conversations_hash(world: World) -> None:
    world.converse(TALK)
    short = sha256(TALK)[:3]
    third = world.converse("User: a third talk.\n", f"{short}y-{uuid.uuid4()}")
    world.run(FakeModel(lambda *_: {"facts": [{"statement": OTHER, "quote": ""}]}))
    assert document(world, "forget", short, "--strike")["name"] == third.name
    assert world.entry(TALK)["status"] == "harvested"


def test_a_line_that_others_say_too_loses_the_name_though_an_editor_saves_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second attempt took the lines of the first for handed over, and said that all was done."""
    talks, put, facts = everywhere(world), edit.put_in_place, world.paths.knowledge / "facts.md"
    saved = list[str]()

    def meanwhile(*words: Any) -> str | None:
        if not saved:
            saved.append("- A line of the editor\n")
            facts.write_text(facts.read_text() + saved[0])
        return put(*words)

    monkeypatch.setattr(edit, "put_in_place", meanwhile)
    found = document(world, "forget", talks["first"].name, "--yes")
    assert saved and found["errors"] == [] and "A line of the editor" in facts.read_text()
    assert talks["first"].name not in facts.read_text() and talks["second"].name in facts.read_text()


def test_no_sentence_of_a_forgotten_document_is_left_in_the_library(world: World) -> None:
    page = world.folder / "page.md"
    page.write_text(f"# The pump\n\nThe pump is what lifts the {RARE} water out of the cellar. It hums at night.\n")
    run(world, "library", "ingest", str(page))
    [chunk] = document(world, "library", "retrieve", "pump")
    said = f"The pump is what lifts the {RARE} water out of the cellar."
    words = ("--chunk", chunk["key"], "--task", "debugging", "--outcome", "win", "--context", said)
    run(world, "library", "record", "--session", "s", *words)
    run(world, "library", "consolidate")
    run(world, "library", "forget", str(page), "--yes")
    assert places(world.paths.knowledge) == []
    assert b"hums at night" not in world.paths.library.read_bytes()


def test_what_was_purged_from_a_document_shifts_no_other_passage_of_it(world: World) -> None:
    """Each is cut from the text by its place: one letter off, and all that come after are torn."""
    page = world.folder / "page.md"
    behind = "\n\n".join(f"# Part {at}\n\n{f'Valve {at} is blue and hangs on the wall. ' * 20}" for at in range(6))
    page.write_text(f"# Pumps\n\nBefore. {SAID}. After. {SAID}.\n\n{behind}\n")
    run(world, "add", "facts", SAID)
    run(world, "library", "ingest", str(page))

    def told() -> list[str]:
        rows = document(world, "library", "retrieve", "valve on the wall", "--limit", "10")
        return sorted(row["text"] for row in rows if RARE not in row["text"])

    before = told()
    run(world, "rm", "facts", SAID, "--forever", "--yes")
    assert len(before) > 3 and set(before) <= set(told())


def test_the_library_leaves_out_what_the_user_has_removed_and_gives_no_more_than_was_asked_for(world: World) -> None:
    page = world.folder / "page.md"
    page.write_text(
        f"# Pumps\n\n- {SAID} [from: by-hand, 2026-01-01]\n- Pumps hum at night\n\nBefore. {SAID}. After.\n"
    )
    run(world, "add", "facts", SAID)
    run(world, "library", "ingest", str(page))
    assert len(document(world, "library", "retrieve", "pump port", "--limit", "1")) == 1
    run(world, "rm", "facts", SAID)
    for words in (("retrieve", "pumps port"), ("show", str(page)), ("reflect",)):
        assert RARE not in run(world, "library", *words)
    assert "Pumps hum at night" in run(world, "library", "retrieve", "pumps")


@pytest.mark.parametrize("word", ["status", "added", "harvested", "facts.md", "file"])
def test_a_word_that_records_use_themselves_is_purged_from_what_is_said_alone(world: World, word: str) -> None:
    """Else the ledger would lose what it says of every conversation, and undo its rows."""
    everywhere(world)
    before = {entry["path"]: entry["status"] for entry in document(world, "ledger")}
    runs = [row["added"] for row in document(world, "undo") if row["kind"] == "harvest"]
    run(world, "add", "tasks", word)
    document(world, "rm", "tasks", word, "--forever", "--yes")
    assert {entry["path"]: entry["status"] for entry in document(world, "ledger")} == before
    assert [row["added"] for row in document(world, "undo") if row["kind"] == "harvest"] == runs


def test_a_removal_that_could_not_reach_the_library_goes_on_later(world: World) -> None:
    """Else the words stay there for good, and nothing says so any more."""
    everywhere(world)
    library = world.paths.library
    whole = library.read_bytes()
    library.write_bytes(b"no database" * 1000)
    code, out, _ = call("rm", "facts", SAID, "--forever", "--yes", "--json", "--home", str(world.paths.home))
    assert code == 1 and json.loads(out)["errors"]
    library.write_bytes(whole)
    run(world, "doctor", "--repair")
    assert places(world.folder) == []


def test_a_damaged_record_that_holds_it_goes_too_and_what_was_written_below_the_line(world: World) -> None:
    everywhere(world)
    plan = next(path for path in world.paths.plans.iterdir() if RARE in path.read_text())
    plan.write_text(plan.read_text() + f'{{"t": "intent", "said": "{SAID}\n')
    facts = world.text("facts.md")
    [line] = [row for row in facts.split("\n") if SAID in row]
    world.knowledge("facts.md", facts.replace(line, f"{line}\n  - it is the {RARE} in the cellar"))
    run(world, "rm", "facts", SAID, "--forever", "--yes")
    assert places(world.folder) == []


def test_the_users_own_files_and_a_damaged_copy_are_named_and_left_as_they_are(world: World) -> None:
    everywhere(world)
    own = world.paths.knowledge / "mine/own.jsonl"
    own.parent.mkdir()
    own.write_text(json.dumps({"file": "x.yaml", "said": SAID}) + "\n")
    world.paths.backups.mkdir(exist_ok=True)
    copy = world.paths.backups / "old.tar.gz"
    copy.write_bytes(b"\x1f\x8b\x08 cut off")
    done = document(world, "rm", "facts", SAID, "--forever", "--yes")
    assert "mine/own.jsonl" in done["left"] and SAID in own.read_text()
    assert any(name.startswith("backups/old.tar.gz (damaged") for name in done["left"]) and copy.exists()
    assert not (world.paths.state / purging.PURGING).exists()
