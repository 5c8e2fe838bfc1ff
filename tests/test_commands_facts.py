"""What a user does with facts from the command line and the panel."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from core.base.answer import Answer
from core.commands.context import context
from core.commands.fact_feed import check_facts, sync_facts
from core.commands.facts import bootstrap, delete_fact, validate, validation_text
from core.commands.harvest_report import harvest_text
from core.commands.history.undo import undo
from core.commands.quarantine import quarantine_accept, quarantine_drop
from core.knowledge.swap import replace_expected
from tests.edited import held_line
from tests.facts_home import (
    YAML,
    claude_session,
    cli,
    code_of,
    facts_of,
    harvested,
    learn,
    taught_fixture,
    workspace_of,
)
from tests.harvest_world import HURRIED, FakeModel, World, says

__all__ = ["taught_fixture"]

# --- The fact index through the commands: harvest, undo, edits, merge, validation, lists. If these fail, a person's
# facts are not what they taught, or an edit is lost.

# --- harvest and undo ------------------------------------------------------------------------------------------------


def test_a_harvest_becomes_facts_patterns_and_questions(world: World) -> None:
    world.converse("User: the port is 8080\n")
    model = says(
        facts=[
            {"statement": "The port is 8080", "quote": "the port is 8080"},
            {"statement": "No quote"},
            {
                "statement": "Slow",
                "kind": "pitfall",
                "confidence": 0.95,
                "tags": ["Git", "API v1", 7],
                "domain": "global",
            },
            {"statement": "Odd", "kind": "bug", "confidence": 7, "tags": "git", "domain": 3},
        ],
        playbooks=[{"name": "Release", "steps": "test, build, push"}],
        questions=["Why?"],
        decisions=["Not a fact"],
        tasks_open=["Not a fact either"],
    )
    report = harvested(world, model)
    assert report.facts == {"new": 6, "confirmed": 0, "total": 6, "too_long": 0} and not report.errors
    found = {fact.id: (fact.fact, fact.confidence, fact.tags) for fact in facts_of(world)}
    assert found == {
        "global:fact:001": ("The port is 8080", 0.8, ()),
        "global:fact:002": ("No quote", 0.6, ()),
        "global:fact:003": ("Odd", 0.6, ()),
        "global:pitfall:001": ("Slow", 0.95, ("git", "api-v1")),
        "global:pattern:001": ("Release: test, build, push", 0.6, ()),
        "global:question:001": ("Why?", 0.6, ()),
    }
    assert validate(workspace_of(world)).problems == ()


def test_the_domain_is_the_repository_of_the_working_folder(world: World) -> None:
    """Else every repository's facts end in one heap."""
    repository = world.folder / "The-Nexus"
    (repository / ".git").mkdir(parents=True)
    learn(
        world,
        claude_session(str(repository / ".worktrees" / "1"), "We decided on a port"),
        facts=["The port is 8080", {"statement": "Everywhere", "domain": "global"}],
    )
    assert [fact.id for fact in facts_of(world)] == ["the-nexus:fact:001", "the-nexus:fact:002"]
    assert (world.paths.knowledge / "repos" / "the-nexus" / "facts.yaml").is_file()
    asked = replace(workspace_of(world), cwd=repository / "src")
    assert bootstrap(asked).domains == ("the-nexus", "global")


def test_the_offline_rules_feed_it_too_with_little_confidence(world: World) -> None:
    world.converse("User: why?\n\nAssistant: The root cause is that several servers answer 403 to `HEAD` requests.\n")
    harvested(world, None)
    assert [fact.confidence for fact in facts_of(world)] == [0.5]


def test_switched_off_nothing_is_made_and_switched_on_all_is_caught_up(world: World) -> None:
    world.converse("User: a\n")
    assert harvested(world, says(facts=["One"]), fact_index=False).facts is None
    assert not (world.paths.knowledge / "global").exists()
    world.knowledge("global/pitfalls.yaml", "- id: global:pitfall:001\n  fact: Mine\n  confidence: 1\n")
    report = sync_facts(workspace_of(world, fact_index=False), now=lambda: world.clock)
    assert (report.new, report.total) == (0, 1), "what a user writes reaches the index all the same"
    assert learn(world, "User: b\n", facts=["Two"]).facts == {"new": 2, "confirmed": 0, "total": 3, "too_long": 0}


def test_a_fact_that_is_too_long_goes_in_without_its_detail_or_not_at_all(world: World) -> None:
    """It stood in the index with an ellipsis in place of its end, which was the part that mattered."""
    world.converse("User: a\n")
    rows = [
        {"statement": "The cache lives in /var/cache", "detail": "because " + "reason " * 50 + "so"},
        {"statement": "s" * 300, "detail": "d" * 100},
        {"statement": "fits " * 40, "detail": "d" * 78},
    ]
    report = harvested(world, says(facts=rows, playbooks=[{"name": "Long", "steps": "step " * 100}]))
    assert {fact.fact for fact in facts_of(world)} == {"The cache lives in /var/cache", f"{'fits ' * 40}— {'d' * 78}"}
    assert report.facts == {"new": 2, "confirmed": 0, "total": 2, "too_long": 2}
    assert "fact index: 2 new, 2 too long for it, 2 in all\n" in harvest_text(report)
    workspace = workspace_of(world)
    found = validate(workspace)
    assert found.too_long == ("facts.md:4", "playbooks.md:3") and not found.problems
    assert "2 lines longer than a fact may be, so no fact: facts.md:4, playbooks.md:3" in validation_text(found)
    told = [row for row in check_facts(workspace) if row.code == "facts-too-long"]
    assert len(told) == 1 and told[0].note and "facts.md:4, playbooks.md:3" in told[0].message
    assert found.to_json()["too_long"] == ["facts.md:4", "playbooks.md:3"]


def test_what_is_let_in_and_too_long_for_a_fact_is_told(world: World) -> None:
    learn(world, facts=["x" * 501])
    done = quarantine_accept(workspace_of(world), held_line(world.paths, "xxx"))
    assert done.file == "facts.md" and "too long for the fact index (280 characters): 1" in done.warning
    assert facts_of(world) == []


def test_what_is_let_out_of_the_quarantine_becomes_a_fact(world: World) -> None:
    """Once, for good, with its conversation; and undoing it takes the fact back."""
    world.converse("User: a\n")
    held = {"statement": "Invented", "quote": "nobody said that at all"}
    waits = {"statement": "Waits", "quote": "nor did anybody say this"}
    harvested(world, says(facts=[held, waits, "Kept"], decisions=[held]))
    assert [fact.fact for fact in facts_of(world)] == ["Kept"]
    workspace = workspace_of(world)
    done = quarantine_accept(workspace, held_line(world.paths, "facts: Invented"), now=lambda: world.clock)
    assert not done.warning
    assert {(fact.fact, fact.id, fact.source_count) for fact in facts_of(world)} == {
        ("Kept", "global:fact:001", 1),
        ("Invented", "global:fact:002", 1),
    }
    quarantine_accept(workspace, held_line(world.paths, "decisions: Invented"), now=lambda: world.clock)
    quarantine_drop(workspace, held_line(world.paths, "facts: Waits"), now=lambda: world.clock)
    report = learn(world, "User: b\n", facts=["Invented"])
    assert report.facts == {"new": 0, "confirmed": 1, "total": 2, "too_long": 0}
    assert sync_facts(workspace, now=lambda: world.clock).new == 0
    undo(workspace, done.run, now=lambda: world.clock, editor_wait=HURRIED)
    left = {fact.fact: fact.source_count for fact in facts_of(world)}
    assert left == {"Kept": 1, "Invented": 1}, "the second conversation still says so"
    assert sync_facts(workspace, now=lambda: world.clock).new == 0


def test_an_accepted_item_whose_feed_was_cut_off_is_a_fact_after_the_next_harvest(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn(world, facts=[{"statement": "Invented", "quote": "nobody said that at all"}])
    with monkeypatch.context() as patch:
        patch.setattr("core.commands.fact_feed.after_accept", lambda *_: "")
        quarantine_accept(workspace_of(world), held_line(world.paths, "Invented"), now=lambda: world.clock)
    assert not facts_of(world)
    assert learn(world, "User: b\n", facts=["Other"]).facts == {"new": 2, "confirmed": 0, "total": 2, "too_long": 0}


def test_a_second_harvest_and_a_second_sync_change_nothing(world: World) -> None:
    learn(world, facts=["One"])
    before = {path: path.read_bytes() for path in world.paths.knowledge.rglob("*") if path.is_file()}
    report = harvested(world, says(facts=["Other words"]))
    assert report.facts == {"new": 0, "confirmed": 0, "total": 1, "too_long": 0}
    sync_facts(workspace_of(world), now=lambda: world.clock)
    after = {path: path.read_bytes() for path in world.paths.knowledge.rglob("*") if path.is_file()}
    locks = {world.paths.lock, world.paths.state / "facts.lock"}
    assert {path for path in before | after if before.get(path) != after.get(path)} <= locks


def test_a_failure_is_told_and_costs_the_harvest_nothing(world: World) -> None:
    """The conversation was harvested and reclaimed; the next run makes up for the facts."""
    world.converse("User: a\n")
    world.knowledge("global", "no folder")
    report = harvested(world, says(facts=["One"]))
    assert [error.code for error in report.errors] == ["facts-failed"]
    assert report.harvested == report.reclaimed == 1
    (world.paths.knowledge / "global").unlink()
    harvested(world, says())
    assert [fact.fact for fact in facts_of(world)] == ["One"]


def test_undo_takes_the_facts_of_the_run_back(world: World) -> None:
    learn(world, facts=["One"])
    run = learn(world, "User: b\n", facts=["Two", "One"]).run
    assert {fact.fact: fact.source_count for fact in facts_of(world)} == {"One": 2, "Two": 1}
    report = undo(workspace_of(world), run, editor_wait=HURRIED)
    assert report.notes == ["1 fact of the run left the fact index too"]
    assert {fact.fact: fact.source_count for fact in facts_of(world)} == {"One": 1}
    harvested(world, says(facts=["Three"]), again=True)
    assert [fact.id for fact in facts_of(world)] == ["global:fact:001", "global:fact:003"]


def test_an_undo_that_was_cut_before_the_facts_is_finished_by_the_next_sync(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = learn(world, facts=["One"]).run
    monkeypatch.setattr("core.commands.history.undo.after_undo", lambda *_: [])
    undo(workspace_of(world), run, editor_wait=HURRIED)
    assert facts_of(world) == [] and "One" in (world.paths.knowledge / YAML).read_text()  # without its bullet, no more
    assert sync_facts(workspace_of(world)).taken_back == 1
    assert facts_of(world) == []


# --- What the fact index shows: lists, validation, context, search, the doctor. If these fail, a user sees other facts
# than their files hold.


def test_validate_ends_with_1_and_names_every_error(taught: World) -> None:
    """A user mends a file in one go, not error by error."""
    assert cli(taught, "facts", "validate")[0] == 0
    path = taught.knowledge(
        "global/pitfalls.yaml",
        "---\ndomain: global\ncategory: pitfall\n---\n- id: x:fact:1\n  fact: a\n  confidence: 2\n"
        "- id: global:pitfall:001\n  fact: a\n  confidence: 1\n  tags: [A]\n- id: global:fact:001\n",
    )
    code, out, err = cli(taught, "facts", "validate")
    assert code == 1 and out == "4 valid facts in 4 files, 6 problems\n"
    for words in ("pitfalls.yaml:5: x:fact:1: the id is", "the confidence is 2", "pitfalls.yaml:8: global:pitfall:001"):
        assert words in err
    assert cli(taught, "facts", "validate", str(path))[0] == 1
    shown = json.loads(cli(taught, "facts", "validate", str(path), "--json")[1])
    assert shown["valid"] is False and {"code", "file", "line", "id", "message"} == set(shown["problems"][0])
    assert cli(taught, "facts", "validate", str(taught.paths.knowledge / "index.json"))[0] == 0
    assert cli(taught, "facts", "validate", "nothing-here.yaml")[0] == 1
    assert cli(taught, "facts", "merge", "a")[0] == 2


def test_an_edit_in_an_editor_shows_at_once_and_a_missing_index_is_no_loss(taught: World) -> None:
    taught.knowledge(YAML, taught.text(YAML).replace('"Two"', '"Two, edited"'))
    (taught.paths.knowledge / "index.json").unlink()
    assert "Two, edited" in cli(taught, "facts", "list")[1]
    assert "Two, edited" in cli(taught, "facts", "bootstrap")[1]
    assert not (taught.paths.knowledge / "index.json").exists()
    assert cli(taught, "facts", "sync")[0] == 0
    assert "Two, edited" in taught.text("index.json")


def test_the_context_carries_facts_only_when_it_is_told_to(taught: World) -> None:
    plain = context(workspace_of(taught)).prefix.text
    with_facts = context(workspace_of(taught, bootstrap_facts=True)).prefix.text
    assert with_facts.startswith(plain) and with_facts.count("{knowledge}") == plain.count("{knowledge}") + 1
    assert "- Two (global, 0.6)" in with_facts[len(plain) :]


def test_facts_are_found_by_the_search(taught: World) -> None:
    found = json.loads(cli(taught, "search", "Two", "--kind", "fact", "--json")[1])
    assert [row["key"] for row in found] == ["global:fact:003"]
    taught.knowledge(YAML, taught.text(YAML).replace('"Two"', '"Zebra"'))
    assert [row["key"] for row in json.loads(cli(taught, "search", "zebra", "--json")[1])] == ["global:fact:003"]


def test_the_doctor_sees_an_index_that_is_not_what_the_files_say(taught: World) -> None:
    """And mends it; what only the user can mend it names."""
    assert cli(taught, "doctor")[0] == 0
    index = taught.paths.knowledge / "index.json"
    whole = index.read_bytes()
    index.write_bytes(b"garbage")
    (taught.paths.state / "facts.journal").write_bytes(b"")
    code, out, _ = cli(taught, "doctor")
    assert code == 1 and "repairable: the index is damaged" in out and "sync of the fact index was interrupted" in out
    assert cli(taught, "doctor", "--repair")[0] == 0
    assert index.read_bytes() == whole and not (taught.paths.state / "facts.journal").exists()
    taught.knowledge(YAML, taught.text(YAML).replace("0.6\n", "0.6.1\n", 1))
    code, out, _ = cli(taught, "doctor")
    assert code == 0 and "note: global/facts.yaml:" in out and "note: the fact index is older" in out


def test_two_processes_at_once_wait_for_each_other(taught: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from core.base import locks

    monkeypatch.setattr("core.commands.fact_feed.LOCK_SECONDS", 0.05)
    with locks.locked(taught.paths.state / "facts.lock"):
        assert code_of(sync_facts, workspace_of(taught)) == "lock-held"


def test_an_unusual_answer_of_a_model_is_no_traceback(world: World) -> None:
    """Every field of a row is a stranger's."""
    world.converse("User: a\n")
    odd = {"statement": "One", "kind": [], "confidence": "NaN", "tags": [[], {}, None, "x" * 99], "domain": "../../etc"}
    answer = json.dumps({"facts": [odd, {"statement": "Two", "confidence": True, "domain": "a" * 500}]})
    report = harvested(world, FakeModel(lambda number, prompt: Answer(answer, "fake", 1, 1)))
    assert not report.errors
    assert [fact.domain for fact in facts_of(world)] == ["global", "global"]


# --- Edits and deletions of single facts. If these fail, an edit is lost, or a removed fact comes back.


def test_a_deleted_fact_stays_deleted_until_it_is_undone(taught: World) -> None:
    workspace = workspace_of(taught)
    before = taught.text(YAML)
    removed = delete_fact(workspace, "global:fact:001")
    learn(taught, "User: b\n", facts=["One"])
    assert "One" not in [fact.fact for fact in facts_of(taught)]
    undo(workspace, removed.run, editor_wait=HURRIED)
    assert taught.text(YAML) == before
    assert code_of(delete_fact, workspace, "global:fact:01") == "no-match"


# --- Where a fact belongs. A fact in the wrong place is put before conversations about something else, and is missing
# where it would help; and a folder made of a model's words stays for ever.

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


def test_a_folder_that_is_not_on_this_disk_has_a_name_all_the_same(world: World) -> None:
    learn(
        world,
        claude_session("/Users/somebody/workspace/cli/.worktrees/1", "It listens on 8080"),
        facts=["The port is 8080"],
    )
    assert places(world) == {"The port is 8080": "cli"}


@pytest.mark.parametrize("said", [WORDS, "payments", "a" * 41, "../../etc", "global", "con"])
def test_free_words_of_a_model_make_no_folder(world: World, said: str) -> None:
    world.converse(claude_session(str(repository(world, "shop")), "hello"))
    world.converse("User: no folder is known of this one\n")
    harvested(world, says(facts=[{"statement": "It is fast", "domain": said}]), jobs=1)  # in this order
    assert [name for name in folders(world) if name.count("/") == 1] == ["global/facts.yaml", "repos/shop"]


def test_the_name_of_a_known_project_or_of_the_repository_of_a_file_is_taken(world: World) -> None:
    learn(world, claude_session(str(repository(world, "payments")), "hello"), facts=["Payments are in cents"])
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
    learn(world, claude_session(gone, "hello"), facts=["It is written in Go"])
    learn(
        world, "User: no folder is known of this one\n", files=[{"path": f"{gone}/cmd/main.go", "note": "parses flags"}]
    )
    assert places(world)[f"{gone}/cmd/main.go: parses flags"] == "cli"


def test_a_note_on_a_file_goes_before_no_conversation_about_something_else(world: World) -> None:
    learn(
        world,
        "User: let us write a game\n",
        facts=["Tabs are wanted"],
        files=[{"path": "pong_game.py", "note": "draws the ball"}],
    )
    assert set(places(world).values()) == {"global"}
    asked = replace(workspace_of(world), cwd=repository(world, "other"))
    assert [fact.fact for fact in bootstrap(asked).facts] == ["Tabs are wanted"]
    assert [fact.fact for fact in facts_of(world) if "file-note" in fact.tags] == ["pong_game.py: draws the ball"]


def test_what_is_known_of_the_project_comes_before_what_holds_everywhere(world: World) -> None:
    """With a small budget nothing of the project was left."""
    own = repository(world, "own")
    learn(world, "User: somewhere\n", facts=[{"statement": f"Everywhere {at}", "confidence": 0.95} for at in range(40)])
    learn(world, claude_session(str(own), "here"), facts=[{"statement": "Here alone", "confidence": 0.5}])
    asked = replace(workspace_of(world), cwd=own)
    few = bootstrap(asked, budget=60)
    assert few.facts[0].fact == "Here alone" and 1 < len(few.facts) < 10 and few.tokens <= 60
    assert bootstrap(asked, budget=20).facts[0].fact == "Here alone"


# --- what an undo leaves ----------------------------------------------------------------------------------------------


def test_an_undo_leaves_no_empty_files_and_folders(world: World) -> None:
    first = learn(world, claude_session(str(repository(world, "one")), "hello"), facts=["Kept"])
    second = learn(world, claude_session(str(repository(world, "two")), "hello"), facts=["Gone"], questions=["Why?"])
    assert "repos/two/questions.yaml" in folders(world)
    undo(workspace_of(world), second.run)
    assert folders(world) == ["repos/one", "repos/one/facts.yaml"]
    undo(workspace_of(world), first.run)
    assert folders(world) == [] and not (world.paths.knowledge / "repos").exists()
    learn(world, claude_session(str(world.folder / "two"), "hello for the third time"), facts=["Back"])
    assert {fact.id[-8:] for fact in facts_of(world)} == {"fact:002"}, "an id is never given twice"


@pytest.mark.parametrize("words", ["\nMine: ask Kim about this.\n", "\n- id: one:fact:900\n  fact: mine\n"])
def test_a_file_with_a_persons_words_in_it_stays(world: World, words: str) -> None:
    report = learn(world, claude_session(str(repository(world, "one")), "hello"), facts=["Gone"])
    path = world.paths.knowledge / "repos" / "one" / "facts.yaml"
    path.write_text(path.read_text() + words)
    undo(workspace_of(world), report.run)
    assert words.strip() in path.read_text() and "Gone" not in path.read_text()


def test_a_file_saved_in_the_moment_of_its_removal_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "facts.yaml"
    path.write_bytes(b"ours")
    rename = os.rename
    from core.base import files

    def saved_meanwhile(source: Path, target: Path) -> None:
        if source == path:
            path.write_bytes(b"a user's words")
        rename(source, target)

    monkeypatch.setattr(files, "rename_without_replacing", saved_meanwhile)
    assert not replace_expected(path, None, b"ours") and path.read_bytes() == b"a user's words"
    monkeypatch.undo()
    assert not replace_expected(path, None, b"ours") and path.exists()
    assert replace_expected(path, None, b"a user's words") and list(tmp_path.iterdir()) == []


# --- what a harvest writes beside the facts of repositories ----------------------------------------------------------


def test_what_a_model_says_of_the_agent_itself_stands_below_agents(world: World) -> None:
    """A quirk of Claude Code must not pass for one of the project in which it showed; free words make no folder."""
    world.converse(claude_session("/nowhere/shop", "the port is 8080"))
    rows = [
        {"statement": "The port is 8080"},
        {"statement": "Claude Code runs hooks with a time-out", "kind": "tool-quirk", "domain": "Claude_Code"},
        {"statement": "Somebody said so", "domain": "some-agent"},
    ]
    harvested(world, says(facts=rows))
    found = {fact.fact: fact.domain for fact in facts_of(world)}
    assert found["Claude Code runs hooks with a time-out"] == "claude-code"
    assert found["Somebody said so"] == found["The port is 8080"] != "some-agent"
    text = (world.paths.knowledge / "agents/claude-code/tool-quirks.yaml").read_text()
    assert "claude-code:tool-quirk:001" in text
    assert validate(workspace_of(world)).problems == ()


def test_the_page_about_the_files_is_left_once_and_is_the_persons_then(world: World) -> None:
    """Their own words in it, or that they deleted it, must outlive every later harvest."""
    page = world.paths.knowledge / "SCHEMA.md"
    learn(world, "User: the port is 8080\n", facts=["The port is 8080"])
    assert "domain:category:number" in page.read_text()
    page.write_text("mine")
    learn(world, "User: the queue is Redis\n", facts=["The queue is Redis"])
    assert page.read_text() == "mine"
    page.unlink()
    learn(world, "User: the cache is Redis\n", facts=["The cache is Redis"])
    assert not page.exists()


def test_a_search_leaves_an_expired_fact_out_and_says_what_time_left_of_another(taught: World) -> None:
    """An agent that finds a rule of last year must not take it for one that holds."""
    place = taught.paths.knowledge / YAML
    head, _, rest = place.read_text().partition('fact: "Two"')
    place.write_text(f'{head}fact: "Two"{rest.rstrip()}\n  expires: "2026-01-02"\n')
    assert cli(taught, "facts", "sync")[0] == 0
    two = next(fact for fact in facts_of(taught) if fact.fact == "Two")
    assert two.stale and two.id in cli(taught, "facts", "list", "--stale")[1]
    assert two.id not in cli(taught, "search", "Two", "--kind", "fact")[1]
    place.write_text(place.read_text().replace('  expires: "2026-01-02"\n', ""))
    assert cli(taught, "facts", "sync")[0] == 0
    index = taught.paths.knowledge / "index.json"
    index.write_text(index.read_text().replace('"confidence": 0.6', '"confidence": 0.54'))
    assert f"[fact: {two.id}, 0.54]" in cli(taught, "search", "Two", "--kind", "fact", "--json")[1]
    for damaged in (index.read_text().replace("0.54", "9" * 400), "{"):
        index.write_text(damaged)
        assert f"[fact: {two.id}, 0.6]" in cli(taught, "search", "Two", "--kind", "fact", "--json")[1]
