"""Every real conversation beside the checkout: read as what its folder says, with the turns of the user counted a
second time, from the raw records, by the simplest rule that could be right."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.conversations.read import read_all, read_conversation, why_unread
from core.rules.distil import distil_offline
from tests.corpus import CORPUS
from tests.made_records import check_ranges

FOLDER = CORPUS / "conversations"
# Kept by its owner's own script beside a session, and no record of the tool that the folder is named after.
NOT_OF_THE_TOOL = "estherholleman__command-module"
FIXTURES_OF = {"format_fixtures": "claude_code"}


def rows(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def in_claude_code(data: bytes) -> int:
    """User lines with text of their own; refusals with a reason and answers to questions are the user's as well, and
    so is what was typed into the queue and taken out of it in the middle of a turn."""
    count, queue = 0, []
    for row in rows(data):
        message = row.get("message")
        if row.get("operation") == "enqueue" and not row["content"].startswith("{"):
            queue.append(row["content"])
        elif row.get("operation") == "popAll":
            queue = []
        elif row.get("operation") in ("remove", "dequeue") and queue:
            queue.pop(0)
            count += row["operation"] == "remove"
        if (
            row.get("type") != "user"
            or row.get("isMeta")
            or row.get("isCompactSummary")
            or not isinstance(message, dict)
        ):
            continue
        content = message.get("content", "")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        parts = [block if isinstance(block, str) else block.get("text", "") for block in content]
        text = "".join(parts)
        results = [str(block.get("content")) for block in blocks if block["type"] == "tool_result"]
        count += sum("To tell you how to proceed, the user said:" in result[:300] for result in results)
        count += sum(result.startswith("User has answered your questions") for result in results)
        if "<command-args>" in text:
            count += bool(text.split("<command-args>")[1].split("</command-args>")[0].strip())
        else:
            by_the_tool = ("<", "[Request interrupted", "Caveat:")
            count += bool(text.strip()) and (not text.startswith(by_the_tool) or text.startswith("<ide_opened_file>"))
    return count


def in_codex(data: bytes) -> int:
    return sum("ts" in row or (row.get("payload") or {}).get("type") == "user_message" for row in rows(data))


def in_copilot_cli(data: bytes) -> int:
    return sum(row["type"] == "user.message" for row in rows(data))


def in_gemini_cli(data: bytes) -> int:
    return sum(row["type"] == "user" for row in json.loads(data)["messages"])


def in_opencode(data: bytes) -> int:
    """Sessions below another one were opened by the assistant, and nobody speaks in them as a user."""
    value = json.loads(data)
    return 0 if value["info"].get("parentID") else sum(row["info"]["role"] == "user" for row in value["messages"])


def in_chatgpt(data: bytes) -> int:
    count = 0
    for row in json.loads(data):
        key = row["current_node"]
        while key:
            node = row["mapping"][key]
            said = node["message"] or {"author": {"role": ""}}
            count += said["author"]["role"] == "user" and any(str(part).strip() for part in said["content"]["parts"])
            key = node["parent"]
    return count


def in_swe_agent(data: bytes) -> int:
    return 1  # the issue


def in_aider(data: bytes) -> int:
    """Runs of prompt lines; aider ends each with two blanks, but for its published pages without a banner."""
    lines = data.decode("utf-8", "replace").split("\n")
    banner = any(line.startswith("# aider chat started at ") for line in lines)
    marks = [
        line.startswith("####") and line[4:5] in ("", " ") and (line.endswith("  ") or not banner) for line in lines
    ]
    marks = [mark and "(Y)es/(N)o" not in line for mark, line in zip(marks, lines, strict=True)]
    return sum(mark and not before for before, mark in zip([False, *marks], marks, strict=False))


def in_specstory(data: bytes) -> int:
    """Messages of the user with words outside of tags, but for what a slash command expands to, and the tool's own note
    that the user broke off."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    parts = re.split(r"(?m)^_\*\*(User|Assistant|Agent)(.*?)\*\*_$", text)[1:]
    count, called = 0, ""
    for who, when, said in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        words = re.sub(r"(?s)<([a-z][a-z_-]+)[^>]*>.*?</\1>", "", said).replace("\n---\n", "\n").strip("- \n")
        noted = not words or words.startswith("[Request interrupted")
        count += who == "User" and not noted and not (called and when == called)
        called = "" if who != "User" else when if re.search("<command-(?:message|name)>", said) else called
    return count


def in_cline(data: bytes) -> int:
    """What stands in the tags that Cline puts around the user's words, in messages of theirs."""
    parts = re.split(r"(?m)^\*\*(?=(?:User|Assistant):\*\*)", data.decode("utf-8", "replace"))
    said = [part for part in parts if part.startswith("User:**")]
    return sum(len(re.findall(r"<(?:task|feedback|answer|user_message)>\s*[^<\s]", part)) for part in said)


COUNTS: dict[str, Callable[[bytes], int]] = {
    "claude_code": in_claude_code,
    "codex": in_codex,
    "copilot_cli": in_copilot_cli,
    "gemini_cli": in_gemini_cli,
    "opencode": in_opencode,
    "chatgpt": in_chatgpt,
    "swe_agent": in_swe_agent,
    "format_fixtures": in_claude_code,
    "aider": in_aider,
    "specstory": in_specstory,
    "cline": in_cline,
}
# A message with a whole transcript of the same tool pasted into it: its injected blocks cut it into three turns.
PASTED = {"2026-07-14_15-03-52Z.md": 2}


DAMAGED = ("edge_cases.jsonl",)
"""A fixture in which three of nineteen records are broken on purpose."""


def files_of(kind: str) -> list[Path]:
    if not (FOLDER / kind).is_dir():
        pytest.skip(f"the corpus of real conversations has no {kind} here")
    found = [path for path in sorted((FOLDER / kind).rglob("*")) if path.is_file()]
    found = [path for path in found if not path.name.endswith(".metadata.json") and NOT_OF_THE_TOOL not in str(path)]
    assert found, f"the corpus has an empty folder {kind}"
    return found


@pytest.mark.parametrize("kind", COUNTS)
def test_every_real_file_is_read_as_what_it_is_with_the_persons_turns(kind: str) -> None:
    for path in files_of(kind):
        data = path.read_bytes()
        conversation = read_conversation(path.name, data)
        assert conversation.format == FIXTURES_OF.get(kind, kind), path
        if kind in ("aider", "specstory", "cline"):  # text, in which the words stand as they were said
            check_ranges(conversation, data)
        asked = sum(turn.role == "user" for turn in conversation.turns)
        assert asked == COUNTS[kind](data) + PASTED.get(path.name, 0), path
        assert (why_unread(data, conversation) is None) == (path.name not in DAMAGED), path
        assert kind == "format_fixtures" or conversation.skipped == 0, path
        assert sum(len(one.turns) for one in read_all(path.name, data)) <= len(conversation.turns)


@pytest.mark.parametrize("kind", COUNTS)
def test_every_turn_of_a_real_file_stands_in_the_bytes_that_it_names(kind: str) -> None:
    """A quote is looked up there."""
    for path in files_of(kind):
        data = path.read_bytes()
        for turn in read_conversation(path.name, data).turns:
            assert 0 <= turn.start < turn.end <= len(data), path
            if turn.role != "user":
                continue
            first = max(turn.text.split("\n"), key=len).strip()[:60]
            there = data[turn.start : turn.end].decode()
            spelt = (first, json.dumps(first)[1:-1], json.dumps(first, ensure_ascii=False)[1:-1])
            assert any(way in there for way in spelt), (path, first)


@pytest.mark.parametrize("kind", ["claude_code", "codex", "opencode", "chatgpt"])
def test_real_files_can_be_distilled_offline_and_each_quote_is_in_what_was_kept(kind: str) -> None:
    for path in files_of(kind)[:8]:
        conversation = read_conversation(path.name, path.read_bytes())
        told = "\n".join(turn.text for turn in conversation.turns)
        for items in distil_offline(conversation).values():
            assert all(item["quote"] in told for item in items), path


@pytest.mark.parametrize("kind", ["claude_code", "codex", "gemini_cli", "opencode", "chatgpt"])
def test_a_real_file_cut_anywhere_is_still_read(kind: str) -> None:
    """The owner may be writing it while it is read."""
    path = min(files_of(kind), key=lambda path: path.stat().st_size)
    data = path.read_bytes()
    whole = read_conversation(path.name, data)
    for part in range(1, 12):
        cut = read_conversation(path.name, data[: len(data) * part // 12])
        assert len(cut.turns) <= len(whole.turns) + 1
        assert cut.turns or cut.skipped or part < 4
