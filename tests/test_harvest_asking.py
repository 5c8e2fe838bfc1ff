"""One call or one question a category: what is asked, what is merged, and that no half harvest counts as one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import Err, Ok, Result, fail
from core.commands.harvest_options import CATEGORY_PROMPT, HARVEST_PROMPT, SUMMARIZE_PROMPT
from core.conversations.read import read_conversation
from core.harvest.asking import MAX_ROWS, RETRY_SUFFIX, ask, category_questions, category_schema, split_version
from core.harvest.distil import Harvest, distil
from core.harvest.steps import DistilSettings
from core.knowledge.categories import CATEGORIES

PROMPTS = Path(__file__).resolve().parents[1] / "assets" / "prompts"
NAMES = [row.name for row in CATEGORIES]
TALK = read_conversation("t", b"User: which port?\n\nAssistant: The server listens on 8123.\n")


class Asked:
    """A model that answers each question with one row for what was asked; keeps prompts and schemas."""

    def __init__(self, *spoiled: str | Result[Answer]) -> None:
        self.prompts: list[str] = []
        self.schemas: list[dict[str, Any]] = []
        self.spoiled = list(spoiled)

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        self.prompts.append(prompt)
        self.schemas.append(dict(schema or {}))
        if self.spoiled:
            first = self.spoiled.pop(0)
            return Ok(Answer(first)) if isinstance(first, str) else first
        rows = {name: [_row(name)] for name in self.schemas[-1]["required"]}
        return Ok(Answer(json.dumps(rows)))


def _row(name: str) -> dict[str, str]:
    if name == "playbooks":
        return {"name": "Ask", "steps": "curl localhost", "quote": ""}
    if name == "files":
        return {"path": "/srv/app.py", "note": "holds the port", "quote": ""}
    return {"statement": f"one for {name}", "detail": "", "quote": ""}


def shipped(name: str) -> str:
    return (PROMPTS / name).read_text(encoding="utf-8").strip()


def settings(style: str = "per_category", prompt: str = "") -> DistilSettings:
    return DistilSettings(2, 65_536, "check", True, prompt or shipped(CATEGORY_PROMPT), style=style)


def harvested(model: Asked, chosen: DistilSettings) -> Harvest:
    found = distil(TALK, "t", chosen, model)
    assert isinstance(found, Ok), found
    return found.value


def test_each_category_is_asked_once_and_all_answers_count() -> None:
    model = Asked()
    found = harvested(model, settings())
    assert [list(schema["properties"]) for schema in model.schemas] == [[name] for name in NAMES]
    assert sorted(item.category for item in found.items) == sorted(NAMES)


def test_the_conversation_comes_first_and_stays_the_same() -> None:
    """Otherwise the server's cache is of no use, and seven questions cost seven conversations."""
    model = Asked()
    harvested(model, settings())
    ends = {prompt.index("</conversation>") for prompt in model.prompts}
    assert len({prompt[: max(ends)] for prompt in model.prompts}) == 1 and len(ends) == 1
    assert all(len(prompt) - max(ends) < 500 for prompt in model.prompts)


def test_one_question_without_an_answer_keeps_the_conversation() -> None:
    """Six of seven answers are no harvest: what the seventh would have told would go with the conversation."""
    gone = Asked('{"facts": []}', fail("http-error", "the server is gone"))
    refused = distil(TALK, "t", settings(), gone)
    assert isinstance(refused, Err) and refused.error.code == "http-error" and len(gone.prompts) == 2
    cut = Ok(Answer('{"facts": [', truncated=True))
    refused = distil(TALK, "t", settings(), Asked(cut, cut))
    assert isinstance(refused, Err) and refused.error.code == "truncated-answer"


def test_an_answer_that_cannot_be_read_is_asked_for_again_and_only_that_one() -> None:
    model = Asked("no json")
    harvested(model, settings())
    assert len(model.prompts) == len(NAMES) + 1
    assert model.prompts[1] == model.prompts[0] + RETRY_SUFFIX


def test_an_empty_answer_is_asked_for_again() -> None:
    """Some models say nothing once in a while; the conversation failed for it."""
    nothing = fail("empty-answer", "the model said nothing")
    assert harvested(Asked(nothing), settings("one_call", "my words")).items
    model = Asked(nothing, nothing)
    refused = distil(TALK, "t", settings(), model)
    assert isinstance(refused, Err) and refused.error.code == "empty-answer" and len(model.prompts) == 2


def test_rows_for_another_question_and_a_category_that_came_to_its_end_are_told() -> None:
    full = json.dumps({"facts": [f"fact {at}" for at in range(MAX_ROWS)], "questions": ["why?"]})
    found = harvested(Asked(full), settings())
    assert found.skipped == {"not asked for": 1, "category full": 1}
    other = Asked('{"decisions": ["a"]}', '{"decisions": ["a"]}')
    refused = distil(TALK, "t", settings(), other)
    assert isinstance(refused, Err) and refused.error.code == "invalid-answer"


def test_a_prompt_without_questions_is_told_as_such() -> None:
    refused = ask("say something", "per_category", "t", "text", 2, Asked())
    assert isinstance(refused, Err) and refused.error.code == "bad-prompt"


def test_a_category_that_the_prompt_leaves_out_is_not_asked_for() -> None:
    head, questions = category_questions("Read.\n\n## rules\n\nbe short\n\n## facts\n\nwhich?\n\n## files\n\nwhat?")
    assert head == "Read.\n\n## rules\n\nbe short" and questions == {"facts": "which?", "files": "what?"}


@pytest.mark.parametrize("category", NAMES)
def test_the_schema_of_one_category_ends_a_model_that_repeats_itself(category: str) -> None:
    rows = category_schema(category)["properties"][category]
    assert rows["maxItems"] == MAX_ROWS
    for field in rows["items"]["properties"].values():
        bounded = {"string": "enum" in field or "maxLength" in field, "array": "maxItems" in field}
        assert bounded.get(field["type"], True), field


@pytest.mark.parametrize("name", [HARVEST_PROMPT, CATEGORY_PROMPT, SUMMARIZE_PROMPT])
def test_a_shipped_prompt_names_its_version_and_the_model_does_not_see_it(name: str) -> None:
    text, version = split_version(shipped(name))
    assert version.split()[0] == Path(name).stem and version.split()[1].isdigit()
    assert text.startswith("# ") and "<!--" not in text


def test_the_harvest_says_which_prompt_was_used() -> None:
    """Without this nobody can tell later which conversations an older, worse prompt has read."""
    assert harvested(Asked(), settings()).entry["prompt"] == split_version(shipped(CATEGORY_PROMPT))[1]
    mine = harvested(Asked(), settings("one_call", "my own words")).entry["prompt"]
    assert mine.startswith("own ") and mine != harvested(Asked(), settings("one_call", "other words")).entry["prompt"]


def test_the_shipped_question_for_each_category_names_its_array() -> None:
    _, questions = category_questions(split_version(shipped(CATEGORY_PROMPT))[0])
    assert list(questions) == NAMES
    assert all(f'"{name}"' in question for name, question in questions.items())
