"""Reads one conversation of any known format, and shows it to a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.base.result import ErrorInfo
from core.conversations import (
    aider,
    amp,
    antigravity,
    chatgpt,
    claude_ai,
    claude_code,
    cline,
    cline_tasks,
    codex,
    continue_dev,
    copilot_cli,
    cursor,
    droid,
    gemini_cli,
    goose,
    grok,
    home,
    kimi,
    kiro,
    manual_slop,
    opencode,
    pi,
    plain,
    qwen,
    specstory,
    stores,
    swe_agent,
    unknown_json,
)
from core.conversations.conversation import Conversation
from core.conversations.lines import BOM
from core.conversations.packed import is_packed, unpack

HEAD_BYTES = 4096


@dataclass(frozen=True)
class Reader:
    """One format. `sniff` sees the first `HEAD_BYTES` bytes as text; `read` takes a name and all bytes.

    `read_all` is there for files that can hold many conversations, and gives each on its own.
    """

    name: str
    sniff: Callable[[str], bool]
    read: Callable[[str, bytes], Conversation]
    read_all: Callable[[str, bytes], tuple[Conversation, ...]] | None = None


# The first that recognises the content reads it. Plain text takes everything and stays last.
READERS: tuple[Reader, ...] = (
    Reader("store", stores.sniff, stores.read),
    Reader("gemini_cli", gemini_cli.sniff, gemini_cli.read, gemini_cli.read_all),
    Reader("codex", codex.sniff, codex.read, codex.read_all),
    Reader("qwen", qwen.sniff, qwen.read),
    Reader("claude_code", claude_code.sniff, claude_code.read, claude_code.read_all),
    Reader("copilot_cli", copilot_cli.sniff, copilot_cli.read),
    Reader("pi", pi.sniff, pi.read),
    Reader("droid", droid.sniff, droid.read),
    Reader("kimi", kimi.sniff, kimi.read),
    Reader("antigravity", antigravity.sniff, antigravity.read),
    Reader("kiro", kiro.sniff, kiro.read),
    Reader("amp", amp.sniff, amp.read),
    Reader("continue_dev", continue_dev.sniff, continue_dev.read),
    Reader("grok", grok.sniff, grok.read),
    Reader("opencode", opencode.sniff, opencode.read),
    Reader("chatgpt", chatgpt.sniff, chatgpt.read, chatgpt.read_all),
    Reader("claude_ai", claude_ai.sniff, claude_ai.read, claude_ai.read_all),
    Reader("cline_tasks", cline_tasks.sniff, cline_tasks.read),
    Reader("swe_agent", swe_agent.sniff, swe_agent.read),
    Reader("goose", goose.sniff, goose.read),
    Reader("cursor", cursor.sniff, cursor.read),
    Reader("specstory", specstory.sniff, specstory.read),
    Reader("cline", cline.sniff, cline.read),
    Reader("aider", aider.sniff, aider.read),
    Reader("home", home.sniff, home.read),
    Reader("manual_slop", manual_slop.sniff, manual_slop.read, manual_slop.read_all),
    Reader(unknown_json.NAME, unknown_json.sniff, unknown_json.read),
    Reader("plain", plain.sniff, plain.read),
)


def read_conversation(name: str, data: bytes) -> Conversation:
    """Understand any bytes as a conversation. The format is told by the content, never by `name`.

    Total: bytes that are no UTF-8 become U+FFFD, a byte order mark is left out, unknown text is plain text.
    JSON of no known kind has no turns; `why_unread` tells.
    For text formats `data[turn.start:turn.end]` is the part of the file in which the turn stands, markers included;
    those parts ascend and do not overlap. For formats of records it is the record, or the records from the first to
    the last that the turn was joined from; several turns can stand in one record. Of a packed file the range is in the
    unpacked bytes.

    A file that holds many conversations is read as one, oldest first, each below a system turn with its title: it is
    harvested and reclaimed as a whole, so nothing of it may be left out. `read_all` gives them one by one.
    """
    inside, whole = _unpacked(data)
    if inside is None:
        return Conversation(name, "packed", (), skipped=1)
    found = _reader(inside).read(name, inside)
    return found if whole else replace(found, skipped=found.skipped + 1)


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """The conversations of a file one by one, in the file's order; of most formats there is exactly one."""
    inside, whole = _unpacked(data)
    reader = _reader(inside) if inside is not None else None
    if inside is None or reader is None or reader.read_all is None or not whole:
        return (read_conversation(name, data),)
    return reader.read_all(name, inside)


def spoken_bytes(data: bytes, conversation: Conversation) -> int:
    """How long a conversation is: the bytes of its file, or of its words where the file is packed."""
    return words_bytes(conversation) if is_packed(data) else len(data)


def words_bytes(conversation: Conversation) -> int:
    """The bytes of all that was said."""
    return sum(len(turn.text.encode("utf-8", "replace")) for turn in conversation.turns)


def why_unread(data: bytes, conversation: Conversation) -> ErrorInfo | None:
    """Why a file that is not empty gave no turn at all, or None when it was read.

    Such a file must not count as harvested: nobody knows yet what is in it.
    """
    if conversation.turns or not conversation.skipped or not data.strip():
        return None
    if conversation.format == "packed":
        hint = "install the library for it: knowledge-memory[zst]"
        return ErrorInfo("packed-conversation", "the conversation is packed with Zstandard", conversation.id, hint)
    if conversation.format == unknown_json.NAME:
        hint = "only conversations are harvested; see the list of tools in the README"
        told = "the file holds JSON records of no kind that is known"
        return ErrorInfo("unknown-format", told, conversation.id, hint)
    told = f"nothing in it could be read as a {conversation.format} conversation"
    return ErrorInfo("unread-conversation", told, conversation.id, "look whether the file is whole")


def _unpacked(data: bytes) -> tuple[bytes | None, bool]:
    if not is_packed(data):
        return data, True
    found = unpack(data)
    return (None, False) if found is None else found


def _reader(data: bytes) -> Reader:
    head = data[:HEAD_BYTES].removeprefix(BOM).decode("utf-8", "replace").replace("\r\n", "\n")
    return next(row for row in READERS if row.sniff(head))


def format_of(head: bytes) -> str:
    """The name of the reader that takes a file which begins like this; "packed" for a compressed one."""
    return "packed" if is_packed(head) else _reader(head).name


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
