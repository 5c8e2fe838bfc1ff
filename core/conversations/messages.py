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
from core.conversations.turns import Reading, kind_of, list_of, text_of, truth_of

_SILENT = frozenset({
    "thinking", "redacted_thinking", "reasoning", "image", "document", "image_url", "input_image", "token_budget",
    "flag", "voice_note",
})  # fmt: skip


def read_blocks(
    role: str, content: Any, reading: Reading, result: Callable[[dict[str, Any], Reading], None] | None = None
) -> None:
    """One message of `role` user or assistant. `result` reads a block of what a tool gave back where the tool writes
    one of its own."""
    said: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        kind = "text" if isinstance(block, str) else kind_of(block)
        if kind == "text" and role == "assistant":
            reading.say("assistant", text_of([block]))
        elif kind == "text":
            said.append(text_of([block]))
        elif kind in ("tool_use", "toolCall"):
            given = block.get("input", block.get("arguments"))
            reading.call(block.get("name"), given, id=text_of(block.get("id") or block.get("name")))
        elif kind == "tool_result":
            (result or read_result)(block, reading)
        elif kind not in _SILENT:
            reading.skipped += 1
    reading.person("\n".join(said))


def read_result(block: dict[str, Any], reading: Reading) -> None:
    """A block `tool_result`."""
    failed = truth_of(block.get("is_error"))
    key = text_of(block.get("tool_use_id") or block.get("name"))
    reading.result(text_of(block.get("content")), id=key, failed=failed)


def read_calls(calls: Any, reading: Reading) -> None:
    """The `tool_calls` of an answer; the function and its arguments may stand one level higher."""
    for call in list_of(calls):
        if not isinstance(call, dict):
            reading.skipped += 1
            continue
        inside = call.get("function")
        asked = inside if isinstance(inside, dict) else call
        given = asked.get("arguments", asked.get("input"))
        reading.call(asked.get("name"), arguments(given), id=text_of(call.get("id") or call.get("tool_call_id")))


def arguments(given: Any) -> Any:
    """The arguments of a call, which many tools keep as JSON inside a string."""
    return parse_object(given) or given if isinstance(given, str) else given


def answered(event: Call, answer: Callable[[int, str], str]) -> Call:
    """A question with its answers; `answer` says which belongs to a question's number (from 0) and words."""
    if not isinstance(event, Question):
        return event
    rows = [(asked, options, answer(at, asked)) for at, (asked, options, _) in enumerate(event.asked)]
    return replace(event, asked=tuple(rows))
