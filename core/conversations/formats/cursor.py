"""Cursor: its markdown export, and the `agent-transcripts/**/*.jsonl` of its agent.

The export is `# title`, `_Exported on <date, in the writer's own form> from Cursor (<version>)_`, then `**User**` and
`**Cursor**` alone on a line below a `---`; it has no times and no tools. A transcript is `{role, message: {content}}` a
line, the user's words in `<user_query>` and context around it. Neither is documented by the maker; both follow
public files and readers of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.days import written_day
from core.conversations.lines import Label, Line, fold_turns, line_above, split_lines
from core.conversations.records import json_lines, keys_in
from core.conversations.turns import Reading, text_of, truth_of

_EXPORTED = re.compile(r"_Exported on [^\n]{1,120} from Cursor(?: \([^()\n]{1,40}\))?_\s*$", re.MULTILINE)
_HEADERS = {"**User**": "user", "**Cursor**": "assistant"}
_FIRST = re.compile(r'\s*\{\s*"role"\s*:\s*"(?:user|assistant)"\s*,\s*"message"\s*:\s*\{')
_QUERY = re.compile(r"<user_query>\n?(.*?)(?:</user_query>|\Z)", re.DOTALL)
_CONTEXT = (
    "<user_info>", "<attached_files>", "<open_and_recently_viewed_files>", "<git_status>", "<rules>",
    "<agent_transcripts>", "<additional_data>", "<system_reminder>", "<current_file>", "<project_layout>",
    "<agent_skills>", "<timestamp>", "<environment",
)  # fmt: skip


def sniff(head: str) -> bool:
    """The line about the export near the top, or a transcript's first record."""
    if keys_in(head):
        return bool(_FIRST.match(head))
    return "from Cursor" in head and bool(_EXPORTED.search("\n".join(head.split("\n")[:12])))


def read(name: str, data: bytes) -> Conversation:
    """Read an export or a transcript; the name of a transcript's file is its id."""
    if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
        return _read_transcript(name, data)
    lines = split_lines(data)
    title = next((line.text[2:].strip() for line in lines[:12] if line.text.startswith("# ")), "")
    reading = Reading()
    for turn in fold_turns(lines, _labels(lines)):
        reading.place = ("", turn.start, turn.end)
        reading.say(turn.role, turn.text)
    exported = next((found[0] for line in lines[:12] if (found := _EXPORTED.search(line.text))), "")
    return replace(reading.conversation(name, "cursor", title=title), ended=written_day(exported))


def _labels(lines: Sequence[Line]) -> Iterator[Label]:
    heads = {number for number, line in enumerate(lines) if line.text.strip() in _HEADERS and _starts(lines, number)}
    rules = {line_above(lines, number) for number in heads}
    last = line_above(lines, len(lines))
    first = min(heads, default=len(lines))
    for number, line in enumerate(lines):
        if number in heads:
            yield Label(_HEADERS[line.text.strip()], None, opens=True)
        elif number in rules or (number == last and line.text == "---"):
            yield Label("", None)
        elif number < first:
            yield Label("system", line.text)
        else:
            yield Label("", line.text)


def _starts(lines: Sequence[Line], number: int) -> bool:
    above = line_above(lines, number)
    return above < 0 or lines[above].text.strip() == "---"


def _read_transcript(name: str, data: bytes) -> Conversation:
    reading = Reading()
    for value in reading.values(json_lines(data)):
        message, role = value.get("message"), value.get("role")
        if role in ("user", "assistant", "tool", "system") and isinstance(message, dict):
            _read_content(role, message.get("content"), reading)
        elif value.get("type") not in ("turn_ended", "turn_started", "session_started", "metadata"):
            reading.skipped += 1
    return reading.conversation(name, "cursor")


def _read_content(role: str, content: Any, reading: Reading) -> None:
    blocks = content if isinstance(content, list) else [content]
    said: list[str] = []
    for block in blocks:
        kind = block.get("type") if isinstance(block, dict) else "text"
        if kind in ("tool_use", "tool_call") and isinstance(block, dict):
            if role == "assistant" and said:
                reading.say(role, "\n".join(said))
                said = []
            key = text_of(block.get("id", block.get("toolCallId")))
            reading.call(block.get("name", block.get("tool")), block.get("input", block.get("args")), id=key)
        elif kind == "tool_result" and isinstance(block, dict):
            key, failed = text_of(block.get("tool_use_id", block.get("toolCallId"))), truth_of(block.get("is_error"))
            reading.result(text_of(block.get("content")), id=key, failed=failed)
        elif kind == "text":
            said.append(block if isinstance(block, str) else text_of([block]))
    text = "\n".join(said)
    if role == "user":
        _read_person(text, reading)
    else:
        reading.say(role, text)


def _read_person(text: str, reading: Reading) -> None:
    """Where a query is marked, only what stands in the marks is the user's."""
    if "<user_query>" in text:
        own = [found[1].strip() for found in _QUERY.finditer(text)]
        reading.say("system", _QUERY.sub("", text).strip())
        reading.say("user", "\n\n".join(own))
    elif text.lstrip().startswith(_CONTEXT):
        reading.say("system", text)
    else:
        reading.person(text)
