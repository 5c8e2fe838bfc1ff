"""Where a fact belongs. A fact in the wrong place is put before conversations about something else, and is missing
where it would help; and a folder made of a model's words stays for ever."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.commands.facts import bootstrap
from core.commands.undo import undo
from core.knowledge.swap import replace_expected
from tests.harvest_world import World, says
from tests.test_commands_facts import claude_session, facts_of, harvested, value, workspace_of

WORDS = "To do something: do not obey it and do not turn it into a plan"


def places(world: World) -> dict[str, str]:
    return {fact.fact: fact.domain for fact in facts_of(world)}


def folders(world: World) -> list[str]:
    found = [path for top in ("global", "repos", "agents") for path in (world.paths.knowledge / top).rglob("*")]
    return sorted(str(path.relative_to(world.paths.knowledge)) for path in found)


def repository(world: World, name: str) -> Path:
    folder = world.folder / name
    (folder / ".git").mkdir(parents=True)
    return folder


def test_a_fact_of_a_conversation_with_a_project_is_of_that_project(world: World) -> None:
    """97 of 117 facts were global: each was put before every conversation about anything."""
    world.converse(claude_session(str(repository(world, "cli") / ".worktrees" / "1"), "It listens on 8080"))
    harvested(world, says(facts=["The port is 8080", {"statement": "It is fast", "domain": "global"}]))
    assert places(world) == {"The port is 8080": "cli", "It is fast": "cli"}


def test_a_folder_that_is_not_on_this_disk_has_a_name_all_the_same(world: World) -> None:
    world.converse(claude_session("/Users/somebody/workspace/cli/.worktrees/1", "It listens on 8080"))
    harvested(world, says(facts=["The port is 8080"]))
    assert places(world) == {"The port is 8080": "cli"}


@pytest.mark.parametrize("said", [WORDS, "payments", "a" * 41, "../../etc", "global", "con"])
def test_free_words_of_a_model_make_no_folder(world: World, said: str) -> None:
    world.converse(claude_session(str(repository(world, "shop")), "hello"))
    world.converse("User: no folder is known of this one\n")
    harvested(world, says(facts=[{"statement": "It is fast", "domain": said}]), jobs=1)  # in this order
    assert [name for name in folders(world) if name.count("/") == 1] == ["global/facts.yaml", "repos/shop"]


def test_the_name_of_a_known_project_or_of_the_repository_of_a_file_is_taken(world: World) -> None:
    world.converse(claude_session(str(repository(world, "payments")), "hello"))
    harvested(world, says(facts=["Payments are in cents"]))
    shop, tools = repository(world, "shop"), repository(world, "tools")
    (tools / "run.sh").write_text("true")
    world.converse(claude_session(str(shop), "hello again"))
    rows = [{"statement": f"About {name}", "domain": name} for name in ("Payments", "tools", "orders")]
    notes = [{"path": str(tools / "run.sh"), "note": "starts it"}]
    harvested(world, says(facts=rows, files=notes), file_roots=(str(world.folder),))
    assert places(world) == {
        "Payments are in cents": "payments",
        "About Payments": "payments",
        "About tools": "tools",
        "About orders": "shop",
    }


def test_a_note_on_a_file_is_of_the_project_in_which_the_file_lay(world: World) -> None:
    gone = "/code/of/somebody/cli"
    world.converse(claude_session(gone, "hello"))
    harvested(world, says(facts=["It is written in Go"]))
    world.converse("User: no folder is known of this one\n")
    harvested(world, says(files=[{"path": f"{gone}/cmd/main.go", "note": "parses flags"}]))
    assert places(world)[f"{gone}/cmd/main.go: parses flags"] == "cli"


def test_a_note_on_a_file_goes_before_no_conversation_about_something_else(world: World) -> None:
    world.converse("User: let us write a game\n")
    harvested(world, says(facts=["Tabs are wanted"], files=[{"path": "pong_game.py", "note": "draws the ball"}]))
    assert set(places(world).values()) == {"global"}
    asked = replace(workspace_of(world), cwd=repository(world, "other"))
    assert [fact.fact for fact in value(bootstrap(asked)).facts] == ["Tabs are wanted"]
    assert [fact.fact for fact in facts_of(world) if "file-note" in fact.tags] == ["pong_game.py: draws the ball"]


def test_what_is_known_of_the_project_comes_before_what_holds_everywhere(world: World) -> None:
    """With a small budget nothing of the project was left."""
    own = repository(world, "own")
    world.converse("User: somewhere\n")
    harvested(world, says(facts=[{"statement": f"Everywhere {at}", "confidence": 0.95} for at in range(40)]))
    world.converse(claude_session(str(own), "here"))
    harvested(world, says(facts=[{"statement": "Here alone", "confidence": 0.5}]))
    asked = replace(workspace_of(world), cwd=own)
    few = value(bootstrap(asked, budget=60))
    assert few.facts[0].fact == "Here alone" and 1 < len(few.facts) < 10 and few.tokens <= 60
    assert value(bootstrap(asked, budget=20)).facts[0].fact == "Here alone"


# --- what an undo leaves ----------------------------------------------------------------------------------------------


def test_an_undo_leaves_no_empty_files_and_folders(world: World) -> None:
    world.converse(claude_session(str(repository(world, "one")), "hello"))
    first = harvested(world, says(facts=["Kept"]))
    world.converse(claude_session(str(repository(world, "two")), "hello"))
    second = harvested(world, says(facts=["Gone"], questions=["Why?"]))
    assert "repos/two/questions.yaml" in folders(world)
    value(undo(workspace_of(world), second.run))
    assert folders(world) == ["repos/one", "repos/one/facts.yaml"]
    value(undo(workspace_of(world), first.run))
    assert folders(world) == [] and not (world.paths.knowledge / "repos").exists()
    world.converse(claude_session(str(world.folder / "two"), "hello for the third time"))
    harvested(world, says(facts=["Back"]))
    assert {fact.id[-8:] for fact in facts_of(world)} == {"fact:002"}, "an id is never given twice"


@pytest.mark.parametrize("words", ["\nMine: ask Kim about this.\n", "\n- id: one:fact:900\n  fact: mine\n"])
def test_a_file_with_a_persons_words_in_it_stays(world: World, words: str) -> None:
    world.converse(claude_session(str(repository(world, "one")), "hello"))
    report = harvested(world, says(facts=["Gone"]))
    path = world.paths.knowledge / "repos" / "one" / "facts.yaml"
    path.write_text(path.read_text() + words)
    value(undo(workspace_of(world), report.run))
    assert words.strip() in path.read_text() and "Gone" not in path.read_text()


def test_a_file_saved_in_the_moment_of_its_removal_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "facts.yaml"
    path.write_bytes(b"ours")
    rename = os.rename
    from core.base import files

    def saved_meanwhile(source: Path, target: Path) -> None:
        if source == path:
            path.write_bytes(b"a person's words")
        rename(source, target)

    monkeypatch.setattr(files, "rename_without_replacing", saved_meanwhile)
    assert not replace_expected(path, None, b"ours") and path.read_bytes() == b"a person's words"
    monkeypatch.undo()
    assert not replace_expected(path, None, b"ours") and path.exists()
    assert replace_expected(path, None, b"a person's words") and list(tmp_path.iterdir()) == []
