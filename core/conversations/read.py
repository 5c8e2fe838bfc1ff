"""Reads one conversation of any known format, and shows it to a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.conversations import aider, cline, home, plain, specstory
from core.conversations.conversation import Conversation
from core.conversations.lines import BOM

HEAD_BYTES = 4096


@dataclass(frozen=True)
class Reader:
    """One format. `sniff` sees the first `HEAD_BYTES` bytes as text; `read` takes a name and all bytes."""

    name: str
    sniff: Callable[[str], bool]
    read: Callable[[str, bytes], Conversation]


# The first that recognises the content reads it. Plain text takes everything and stays last.
READERS: tuple[Reader, ...] = (
    Reader("specstory", specstory.sniff, specstory.read),
    Reader("cline", cline.sniff, cline.read),
    Reader("aider", aider.sniff, aider.read),
    Reader("home", home.sniff, home.read),
    Reader("plain", plain.sniff, plain.read),
)


def read_conversation(name: str, data: bytes) -> Conversation:
    """Understand any bytes as a conversation. The format is told by the content, never by `name`.

    Total: bytes that are no UTF-8 become U+FFFD, a byte order mark is left out, unknown text is plain text.
    For text formats `data[turn.start:turn.end]` is the part of the file in which the turn stands, markers included;
    those parts ascend and do not overlap.
    """
    head = data[:HEAD_BYTES].removeprefix(BOM).decode("utf-8", "replace").replace("\r\n", "\n")
    reader = next(row for row in READERS if row.sniff(head))
    return reader.read(name, data)


def transcript(conversation: Conversation) -> str:
    """The conversation as a model is shown it: `[role]` on a line, the words below, one blank line between turns.

    A line of the text itself that looks like such a label is indented by one blank, so nobody can speak as another.
    """
    parts: list[str] = []
    for turn in conversation.turns:
        words = turn.text.replace("\x00", "")
        for role in ("user", "assistant", "tool", "system"):
            if f"[{role}]" in words:
                words = "\n".join(f" {row}" if row.strip() == f"[{role}]" else row for row in words.split("\n"))
        parts.append(f"[{turn.role}]\n{words}\n")
    return "\n".join(parts)
