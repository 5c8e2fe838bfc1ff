"""A conversation in words: for a terminal, and as markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from core.base.markdown import split_lines
from core.commands.text import count, one_line
from core.conversations.turns import cut as cut

if TYPE_CHECKING:
    from core.conversations.readable import ReadableConversation

LINES = 6
"""This many lines of one hit are shown."""
WIDE = 320
"""The characters of a line of a tool's output that are shown."""
SPEAKERS = {"user": "you", "assistant": "assistant", "tool": "tool", "system": "put in by the tool", "": ""}


def readable(talk: ReadableConversation) -> Iterator[str]:
    """For a terminal, a turn under its speaker and time."""
    yield talk.title or talk.name
    about = [talk.tool, talk.folder, talk.branch, _period(talk), count(talk.count, "turn")]
    about += ["in the trash"] if talk.in_trash else ["in the archive"] if talk.archived else []
    yield "; ".join(one_line(one) for one in about if one)
    if talk.end:
        yield f"as it was left: {one_line(talk.end)}"
    if talk.resume:
        yield f"go on with it: {one_line(talk.resume)}"
    for turn in talk.turns:
        yield ""
        yield f"── {_speaker(turn)}  {turn.number}{_clock(turn.time)}"
        yield from _body(turn)
        for item in turn.items:
            place = f"{item.file}:{item.line}" if item.line else f"{item.file}, not there any more"
            yield f"   ◂ {item.category}: {one_line(item.text)} ({place})"
    loose = [item for item in talk.items if not item.turn]
    if loose:
        yield ""
        yield "harvested from it, the turn is not known:"
        yield from (f"   ◂ {item.category}: {one_line(item.text)}" for item in loose)
    if talk.next is not None:
        yield ""
        reads_on = f"'knowledge show {one_line(talk.name)}:{talk.next}' reads on"
        yield f"turns {talk.first} to {talk.next - 1} of {talk.count}; {reads_on}"


def _body(turn: Any) -> Iterator[str]:
    """Words as they are; what a tool gave back by its first and last lines."""
    lines = split_lines(turn.text.strip())  # all are indented: none can pass for a line of ours
    if turn.role != "tool":
        yield from (f"   {line}".rstrip() for line in lines)
        return
    left = len(lines) - 2 * LINES
    shown = lines if left <= 0 else [*lines[:LINES], f"… {count(left, 'line')} …", *lines[-LINES:]]
    yield from (f"   {line if len(line) <= WIDE else line[:WIDE] + ' …'}".rstrip() for line in shown)


def markdown(talk: ReadableConversation) -> Iterator[str]:
    """Headings for turns; what tools gave back in fences that nothing in it closes."""
    yield f"# {one_line(talk.title or talk.name)}"
    yield ""
    about = (("Conversation", talk.name), ("Tool", talk.tool), ("Folder", talk.folder), ("Branch", talk.branch),
             ("Day", _period(talk)), ("As it was left", talk.end))  # fmt: skip
    yield from (f"- {name}: {one_line(value)}" for name, value in about if value)
    for turn in talk.turns:
        yield ""
        yield f"## {turn.number}. {_speaker(turn)}{_clock(turn.time)}"
        yield ""
        if turn.role == "tool":
            fence = "```"
            while fence in turn.text:
                fence += "`"
            yield from (fence, turn.text.strip("\n"), fence)
        else:
            yield _harmless(turn.text.strip("\n"))
        for item in turn.items:
            yield f"> {item.category}: {one_line(item.text)}"


def _harmless(text: str) -> str:
    """Words that cannot pass for a heading of ours, nor hide what follows in a fence that they leave open."""
    text = re.sub(r"^(?=## \d+\. )", r"\\", text, flags=re.MULTILINE)
    fences = re.findall(r"^ {0,3}(`{3,}|~{3,})", text, re.MULTILINE)
    return f"{text}\n{fences[-1]}" if len(fences) % 2 else text


def _speaker(turn: Any) -> str:
    name = "tool call" if turn.is_call else SPEAKERS.get(turn.role, turn.role)
    return f"{name} (sub-agent {one_line(turn.agent)})" if turn.agent else name


def _period(talk: Any) -> str:
    return f"{talk.started[:10]} to {talk.ended[:10]}" if talk.started[:10] != talk.ended[:10] else talk.started[:10]


def _clock(time: str) -> str:
    """The time of a turn as the user's clock has it."""
    try:
        return f"  {datetime.fromisoformat(time).astimezone():%Y-%m-%d %H:%M}" if time else ""
    except (ValueError, OverflowError):
        return ""
