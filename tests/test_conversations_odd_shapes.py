"""Records that are almost right: a new version of a tool changes one member. What a user would lose is the whole
conversation, or the whole harvest, to a member that is suddenly a list."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conversations.read import READERS, read_conversation
from tests import test_conversations_chatgpt as chatgpt
from tests import test_conversations_claude_ai as claude_ai
from tests import test_conversations_claude_code as claude_code
from tests import test_conversations_cline_tasks as cline
from tests import test_conversations_codex as codex
from tests import test_conversations_copilot_cli as copilot_cli
from tests import test_conversations_gemini_cli as gemini_cli
from tests import test_conversations_goose as goose
from tests import test_conversations_opencode as opencode
from tests import test_conversations_swe_agent as swe_agent

ANSWERED = "User has answered your questions"
PART = {"type": "text", "text": "x"}
# A list is a file of lines, anything else a document.
SAMPLES: dict[str, Any] = {
    "claude_code": [
        claude_code.line("user", claude_code.text("fix it")),
        claude_code.line("assistant", [*claude_code.text("I fix."), *claude_code.call("Bash", command="make")]),
        claude_code.line("user", claude_code.result(ANSWERED), toolUseResult={"answers": {"a": "b"}}),
        {"type": "summary", "summary": "Fixing", "leafUuid": "u"},
    ],
    "codex": [
        codex.META,
        codex.item("user", "fix it"),
        codex.event("user_message", "fix it"),
        codex.row("response_item", type="function_call", name="shell", arguments='{"command":["make"]}'),
        codex.row("response_item", type="function_call_output", output='{"output":"ok","metadata":{"exit_code":0}}'),
        codex.row("event_msg", type="thread_rolled_back", num_turns=1),
        codex.event("user_message", "fix that"),
    ],
    "gemini_cli": [
        gemini_cli.HEAD,
        *gemini_cli.TALK,
        {"$set": {"directories": ["/w"], "messages": [*gemini_cli.TALK, gemini_cli.message("9", "user", [PART])]}},
        {"$rewindTo": "2"},
    ],
    "copilot_cli": [
        copilot_cli.event("session.start", sessionId="p", context={"cwd": "/w"}),
        copilot_cli.event("user.message", content="fix it"),
        copilot_cli.event("assistant.message", content="ok", toolRequests=[{"name": "bash", "arguments": {}}]),
        copilot_cli.event("tool.execution_complete", result={"content": "ok"}, error={"message": "m"}),
    ],
    "goose": [goose.ABOUT, *goose.TALK],
    "opencode": {
        "info": opencode.INFO | {"time": {"created": 1, "updated": 2}},
        "messages": [
            opencode.message("user", opencode.text("fix it")),
            opencode.message("assistant", {"type": "tool", "tool": "bash", "state": opencode.BASH}),
        ],
    },
    "cline": ([cline.message("user", cline.text("<task>\nfix\n</task>"), {"type": "tool_result", "content": [PART]})],),
    "chatgpt": ([chatgpt.tree("One", 1, "a2", *chatgpt.TALK)],),
    "claude_ai": ([claude_ai.TALK],),
    "swe_agent": {"environment": "e", "trajectory": swe_agent.STEPS, "history": swe_agent.HISTORY},
}  # fmt: skip
ODD = (
    None, True, 0, -1, 1e300, 10**400, "", "\ud800", "user", [], {}, [[]], [{}], [None], ["x"], {"type": []},
    {"a": "b"}, [{"type": "text", "text": 7}],
)  # fmt: skip


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, below in inside for place in [(*above, key), *places(below, (*above, key))]]


def put(value: Any, place: tuple[Any, ...], odd: Any) -> None:
    for key in place[:-1]:
        value = value[key]
    value[place[-1]] = copy.deepcopy(odd)


@pytest.mark.parametrize("kind", SAMPLES)
def test_each_sample_is_read_in_its_own_format(kind: str) -> None:
    conversation = read_conversation("x", data_of(SAMPLES[kind]))
    assert conversation.format == kind
    assert conversation.skipped <= 1
    assert conversation.turns


def data_of(sample: Any) -> bytes:
    if isinstance(sample, list):
        return "\n".join(json.dumps(row) for row in sample).encode()
    return json.dumps(sample[0] if isinstance(sample, tuple) else sample).encode()


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_one_member_of_another_shape_is_never_fatal(kind: str, draw: st.DataObject) -> None:
    sample = copy.deepcopy(SAMPLES[kind])
    inner = sample[0] if isinstance(sample, tuple) else sample
    for _ in range(draw.draw(st.integers(1, 2))):
        put(inner, draw.draw(st.sampled_from(places(inner))), draw.draw(st.sampled_from(ODD)))
    data = data_of(sample)
    own = [reader for reader in READERS if reader.name.startswith(kind)]
    assert own
    for reader in own:
        conversation = reader.read("x", data)
        for turn in conversation.turns:
            assert turn.text.strip()
            (turn.text + turn.time).encode()
        (
            conversation.id + conversation.title + conversation.folder + conversation.started + conversation.ended
        ).encode()
