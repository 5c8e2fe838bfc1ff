"""Messages in the two shapes that the interfaces of language models have, and that many tools write down as they are.

Blocks (`text`, `tool_use`, `tool_result`) as in Anthropic's Messages API, and `tool_calls` beside the content as in
OpenAI's Chat Completions API; both are documented by their makers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.conversations.events import Call, Question
from core.conversations.records import parse_object
from core.conversations.turns import Reading, kind_of, text_of

_SILENT = frozenset({"thinking", "redacted_thinking", "reasoning", "image", "document", "image_url", "input_image"})


def read_blocks(
    role: str,
    content: Any,
    place: tuple[str, int, int],
    reading: Reading,
    *,
    delegated: bool = False,
    result: Callable[[dict[str, Any], tuple[str, int, int], Reading], None] | None = None,
) -> None:
    """One message of `role` user or assistant. In a delegated session an assistant wrote what stands as the person's
    words. `result` reads a block of what a tool gave back where the tool writes one of its own."""
    said: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        kind = "text" if isinstance(block, str) else kind_of(block)
        if kind == "text" and role == "assistant":
            reading.say("assistant", text_of([block]), *place)
        elif kind == "text":
            said.append(text_of([block]))
        elif kind == "tool_use":
            reading.call(block.get("name"), block.get("input"), *place, id=text_of(block.get("id")))
        elif kind == "tool_result":
            (result or read_result)(block, place, reading)
        elif kind not in _SILENT:
            reading.skipped += 1
    if delegated:
        reading.say("system", "\n".join(said), *place)
    else:
        reading.person("\n".join(said), *place)


def read_result(block: dict[str, Any], place: tuple[str, int, int], reading: Reading) -> None:
    """A block `tool_result`."""
    failed = block.get("is_error")
    is_error = failed if isinstance(failed, bool) else None
    reading.result(text_of(block.get("content")), *place, id=text_of(block.get("tool_use_id")), failed=is_error)


def read_calls(calls: Any, place: tuple[str, int, int], reading: Reading) -> None:
    """The `tool_calls` of an answer; the function and its arguments may stand one level higher."""
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            reading.skipped += 1
            continue
        inside = call.get("function")
        asked = inside if isinstance(inside, dict) else call
        given = asked.get("arguments", asked.get("input"))
        reading.call(
            asked.get("name"), arguments(given), *place, id=text_of(call.get("id") or call.get("tool_call_id"))
        )


def arguments(given: Any) -> Any:
    """The arguments of a call, which many tools keep as JSON inside a string."""
    return parse_object(given) or given if isinstance(given, str) else given


def answered(event: Call, answers: list[str]) -> Call:
    """A question with its answers, in their order."""
    if not isinstance(event, Question):
        return event
    answers_given = [*answers, *[""] * len(event.asked)]
    rows = [(asked, options, said) for (asked, options, _), said in zip(event.asked, answers_given, strict=False)]
    return replace(event, asked=tuple(rows))
