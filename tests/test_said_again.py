"""One statement, one line: what several conversations say stands once and is counted. Without it a file that a user
reads grows by every conversation, and nobody sees what is said again and again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk
from core.base.markdown import parse_bullets
from core.harvest.landed import make_confirmed
from core.knowledge.confirmed import SOURCES, read_confirmed
from core.knowledge.digest import project_digest
from core.knowledge.ledger import seen_ledger
from core.knowledge.projects import here_in, projects_of
from tests.cli_call import call
from tests.faults.fault import Counter, Fault
from tests.harvest_world import World, says
from tests.histories.ground import in_child

OLD, NEW = "The server listens on port 8080.", "the server listens on PORT `8080`"


@pytest.fixture(name="world")
def world_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    yield World(tmp_path)


def session(name: str, *said: str, day: str = "2026-06-01", folder: str = "") -> str:
    """A transcript of Claude Code, one turn a text."""
    rows = [
        {
            "type": "user", "sessionId": name, "uuid": f"{name}-{at}", "parentUuid": f"{name}-{at - 1}" if at else None,
            "timestamp": f"{day}T10:{at:02d}:00.000Z", "message": {"role": "user", "content": text},
        }
        | ({"cwd": folder} if folder else {})
        for at, text in enumerate(said)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def knowledge(world: World, *words: str) -> Any:
    code, out, err = call(*words, "--home", str(world.paths.home), "--json")
    assert code == 0, err
    return json.loads(out)


def listed(world: World) -> list[tuple[str, int, str]]:
    rows = knowledge(world, "list", "facts", "--project", "all")["bullets"]
    return [(row["text"], row["conversations"], row["last_day"]) for row in rows]


def lines(world: World) -> list[str]:
    return [row.text for row in parse_bullets(world.text("facts.md"))]


def test_the_newest_day_on_which_it_was_said_is_told(world: World) -> None:
    """The file shows the first; a statement of last week is not half a year old."""
    for at, (text, day) in enumerate([(OLD, "2026-01-05"), (NEW, "2026-06-01"), ("Other", "2026-03-01")]):
        world.converse(session(f"s{at}", "hi", day=day))
        world.run(says(facts=[text]))
    assert listed(world) == [(OLD, 2, "2026-06-01"), ("Other", 1, "2026-03-01")]
    assert "2026-01-05" in world.text("facts.md")
    assert f"- {OLD} (in 2 conversations) [from: " in knowledge_digest(world)


def test_an_undo_of_another_harvest_leaves_what_was_confirmed(world: World) -> None:
    """Until the next harvest it would look as if one conversation had said it."""
    for at, text in enumerate([OLD, NEW, "Other"]):
        world.converse(session(f"s{at}", "hi"))
        report = world.run(says(facts=[text]))
    knowledge(world, "undo", report.run)
    assert [row[:2] for row in listed(world)] == [(OLD, 2)]


def knowledge_digest(world: World) -> str:
    call("digest", "on", "--home", str(world.paths.home))
    return world.text("digest.md")


def test_what_the_user_wrote_is_confirmed_and_not_written_again(world: World) -> None:
    world.knowledge("facts.md", f"# Facts\n\n- {OLD}\n  as the manual says\n")
    world.converse()
    world.run(says(facts=[NEW, "The server listens on port 8081."]))
    assert lines(world) == [OLD, "The server listens on port 8081."]
    assert {text: number for text, number, _ in listed(world)}[OLD] == 1


def test_a_model_is_shown_nothing_where_what_was_removed_cannot_be_read(world: World) -> None:
    """Else it would be shown what may not be told."""
    world.converse(session("s", "it is 8080"))
    world.run(says(facts=[OLD]))
    (world.paths.knowledge / "removed.md").mkdir()
    world.converse(session("t", "the server and its port 8080"))
    model = says(facts=["Other"])
    world.run(model)
    assert model.prompts and not [prompt for prompt in model.prompts if OLD in prompt]


def test_a_conversation_that_went_on_says_it_as_one_and_the_same(world: World) -> None:
    """Its later plan stands for all of it: what it confirmed before must not be lost, nor counted twice."""
    world.limits(reclaim="never")
    world.converse()
    world.run(says(facts=[OLD]))
    path = world.converse(session("s", "it is 8080"))
    world.run(says(facts=[NEW, "Mine"]))
    world.converse(session("s", "it is 8080", "as I said"), path.name)
    world.run(says(facts=[NEW.upper(), "More of it"]))
    assert sorted(lines(world)) == ["Mine", "More of it", OLD]
    assert {text: number for text, number, _ in listed(world)}[OLD] == 2


def test_the_list_is_made_again_from_the_plans(world: World) -> None:
    """It is a projection: losing it, or a torn write, costs nothing."""
    for text in (OLD, NEW, NEW.title()):
        world.converse(session(text, text))
        world.run(says(facts=[text]))
    place = world.paths.state / "confirmed.json"
    whole = place.read_bytes()
    assert listed(world)[0][1] == 3
    for damaged in (None, b"", whole[: len(whole) // 2], b'{"Some words": 2}'):
        if damaged is None:
            place.unlink()
        else:
            place.write_bytes(damaged)
        knowledge(world, "doctor", "--repair")
        assert place.read_bytes() == whole


def test_of_many_conversations_the_newest_are_named_and_all_are_counted(world: World) -> None:
    for at in range(SOURCES + 5):
        world.converse(session(f"s{at}", "hi", day=f"2026-0{1 + at // 28}-{1 + at % 28:02d}"))
    world.run(says(facts=[OLD]))
    assert listed(world)[0][1] == SOURCES + 5
    kept = read_confirmed(world.paths)
    make_confirmed(world.paths)
    assert kept == read_confirmed(world.paths)


def test_what_is_said_in_two_projects_belongs_to_both(world: World) -> None:
    """It stands once: a user who works in the second one would miss it, and must not read of the first there."""
    folders = [world.folder / name for name in ("one", "two", "three")]
    for folder in folders:
        (folder / ".git").mkdir(parents=True)
    for folder, text in zip(folders, (OLD, NEW, "Another"), strict=True):
        world.converse(
            session(folder.name, "hi", folder=str(folder)),
            f"talk-{folder.name}-00000000-0000-4000-8000-0000000000{len(folder.name):02d}",
        )
        world.run(says(facts=[text]))
    projects = projects_of(seen_ledger(world.paths))
    told = [
        project_digest(world.paths, 4096, projects, here_in(str(folder), projects), only=True) for folder in folders
    ]
    assert [digest is not None and OLD in digest.text for digest in told] == [True, True, False]
    assert told[1] is not None and "talk-one" not in told[1].text and "talk-two" in told[1].text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("at", range(6, 36, 3))
def test_a_kill_between_neither_doubles_nor_forgets(world: World, at: int) -> None:
    world.converse()
    world.run(says(facts=[OLD]))
    world.clock += timedelta(hours=1)
    for number in range(2):
        world.converse(session(f"s{number}", "hi"))

    def work() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, "after"))):
            world.run(says(facts=[NEW, "One more"]))

    in_child(work)
    world.run(says(facts=[NEW, "One more"]))
    assert lines(world) == [OLD, "One more"]
    assert sorted(number for _, number, _ in listed(world)) == [2, 3]
    assert not list(world.paths.conversations.glob("talk-*"))


def test_undo_of_two_that_rest_on_one_line_leaves_nothing(world: World) -> None:
    """The line of the first run stood for the second: when both are undone, nobody says it any more."""
    for text in (OLD, NEW):
        world.converse(session(text, text))
        world.run(says(facts=[text, text + " now"]))
    for run in [row["run"] for row in knowledge(world, "undo")][::-1]:
        knowledge(world, "undo", run)
    assert lines(world) == []
