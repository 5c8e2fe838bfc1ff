"""Seven questions a conversation, paid for one by one: an answer that came is not paid for again because another one
did not."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import Ok, Result, fail
from core.commands.harvest_options import CATEGORY_PROMPT, SUMMARIZE_PROMPT
from core.harvest.asking import KEPT_DAYS
from core.harvest.committer import Committer
from core.knowledge.categories import CATEGORIES
from tests.harvest_world import World

NAMES = [row.name for row in CATEGORIES]
PROMPTS = Path(__file__).resolve().parents[1] / "assets" / "prompts"
TALK = "User: which port?\n\nAssistant: The server listens on 8123.\n"


class Asked:
    """Answers each question, never twice with the same words, but says what `spoiled` holds for a category."""

    def __init__(self, **spoiled: str | Result[Answer]) -> None:
        self.spoiled = spoiled
        self.asked: list[str] = []
        self.numbers = count(1)

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        number = next(self.numbers)
        name = schema["required"][0] if schema else "summary"
        self.asked.append(name)
        said = self.spoiled.get(name)
        if said is None:
            row = {"path": f"/srv/{number}.py", "note": f"note {number}"} if name == "files" else f"{name} {number}"
            said = json.dumps({name: [row]}) if schema else f"summary {number}"
        return Ok(Answer(said, "fake", 10, 5)) if isinstance(said, str) else said


@pytest.fixture
def world(tmp_path: Path) -> World:
    found = World(tmp_path)
    texts = [(PROMPTS / name).read_text().strip() for name in (CATEGORY_PROMPT, SUMMARIZE_PROMPT)]
    distil = replace(found.options.distil, style="per_category", harvest_prompt=texts[0], summarize_prompt=texts[1])
    found.options = replace(found.options, distil=distil, kept=tmp_path / "answers", asked="openai fake")
    return found


def kept(world: World) -> list[Path]:
    return sorted((world.folder / "answers").glob("*")) if (world.folder / "answers").exists() else []


@pytest.mark.parametrize("broken", ["no json at all", fail("server-error", "it fell over"), fail("token-cap", "cap")])
def test_only_what_was_not_answered_is_asked_again(world: World, broken: str | Result[Answer]) -> None:
    path = world.converse(TALK)
    first = Asked(questions=broken)
    world.run(first)  # type: ignore[arg-type]
    at = NAMES.index("questions")
    assert first.asked[: at + 1] == NAMES[: at + 1] and path.exists() and len(kept(world)) == 1
    second = Asked()
    report = world.run(second)  # type: ignore[arg-type]
    assert second.asked == NAMES[at:] and report.harvested == 1 and sum(report.items.values()) == 7
    assert report.input_tokens == 10 * len(second.asked)
    assert "facts 1 " in world.text("facts.md") and kept(world) == [] and not path.exists()


def test_the_words_of_another_model_or_another_prompt_are_not_taken(world: World) -> None:
    """Who changes the model because the old one failed wants the new one's words."""
    world.converse(TALK)
    world.run(Asked(files="no"))  # type: ignore[arg-type]
    other = Asked(files="no")
    world.run(other, asked="openai better")  # type: ignore[arg-type]
    assert other.asked == [*NAMES, "files"]
    again = Asked()
    words = world.options.distil.harvest_prompt.replace("conversation", "talk")
    world.run(again, distil=replace(world.options.distil, harvest_prompt=words))  # type: ignore[arg-type]
    assert again.asked == NAMES


def test_the_summaries_of_a_long_conversation_are_kept_too(world: World) -> None:
    turns = [f"User: part {number} {'word ' * 300}\n\nAssistant: noted {number}\n" for number in range(6)]
    world.converse("\n".join(turns))
    distil = replace(world.options.distil, summarize_bytes=4000, part_bytes=3000, long="summarise")
    first, second = Asked(decisions="no"), Asked()
    world.run(first, distil=distil)  # type: ignore[arg-type]
    assert first.asked.count("summary") > 2
    assert world.run(second, distil=distil).harvested == 1  # type: ignore[arg-type]
    assert second.asked == NAMES[1:]


def test_an_answer_with_a_secret_in_it_is_asked_for_again(world: World) -> None:
    """Else a key that a model repeats would lie in a folder where nobody looks for one."""
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    world.converse(TALK)
    world.run(Asked(facts=json.dumps({"facts": [f"The token is {key}"]}), files="no"))  # type: ignore[arg-type]
    assert len(kept(world)) == 1 and key not in kept(world)[0].read_text()
    again = Asked()
    world.run(again)  # type: ignore[arg-type]
    assert again.asked == ["facts", "files"]


def test_a_damaged_file_or_an_old_one_is_as_if_it_were_not_there(world: World) -> None:
    world.converse(TALK)
    world.run(Asked(files="no"))  # type: ignore[arg-type]
    [file] = kept(world)
    file.write_text("[1, 2")
    old = file.with_name("0" * 64 + ".json")
    old.write_text("{}")
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    os.utime(old, (long_ago, long_ago))
    again = Asked(files="no")
    world.run(again)  # type: ignore[arg-type]
    assert again.asked == [*NAMES, "files"] and kept(world) == [file]


@pytest.mark.parametrize("ends", [KeyboardInterrupt, OSError])
def test_a_run_that_is_ended_at_once_loses_no_answer(
    world: World, ends: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second Ctrl-C threw away what had been answered and paid for, and the next run paid for it again."""
    talks = [world.converse(f"{TALK}\n\nUser: and number {number}?\n") for number in range(4)]
    first, commit = Asked(), Committer.stage

    def interrupted(committer: Committer, *step: Any) -> bool:
        while len(first.asked) < 4 * len(NAMES):  # all of them were answered meanwhile
            time.sleep(0.01)
        raise ends()

    monkeypatch.setattr(Committer, "stage", interrupted)
    if ends is KeyboardInterrupt:
        with pytest.raises(ends):
            world.run(first, jobs=4)  # type: ignore[arg-type]
    else:
        world.try_run(first, jobs=4)  # type: ignore[arg-type]
    assert len(kept(world)) == 4 and all(path.exists() for path in talks)
    monkeypatch.setattr(Committer, "stage", commit)
    second = Asked()
    report = world.run(second)  # type: ignore[arg-type]
    assert second.asked == [] and report.harvested == 4 and kept(world) == []


def test_an_answer_that_could_not_be_written_down_is_not_paid_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk kept the conversation and lost the answer."""
    world.converse(TALK)
    monkeypatch.setattr("core.harvest.committer.freeze", refuse)
    assert world.run(Asked()).failed == 1  # type: ignore[arg-type]
    monkeypatch.undo()
    again = Asked()
    assert world.run(again).harvested == 1 and again.asked == [] and kept(world) == []  # type: ignore[arg-type]


def refuse(*_: Any, **__: Any) -> None:
    raise OSError(28, "no space left on device")


def test_what_can_not_be_kept_costs_money_and_nothing_else(world: World) -> None:
    world.converse(TALK)
    (world.folder / "answers").write_text("a file where the folder should be")
    report = world.run(Asked(files="no"))  # type: ignore[arg-type]
    assert report.failed == 1 and [error.code for error in report.errors] == ["invalid-answer"]
    assert world.run(Asked()).harvested == 1  # type: ignore[arg-type]
