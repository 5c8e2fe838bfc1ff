"""Reads one conversation of any known format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.base.paths import ASKED_LINE
from core.base.result import ErrorInfo
from core.conversations import archived, plain
from core.conversations.collections import stores
from core.conversations.conversation import Conversation
from core.conversations.damage import as_utf8, begins_like_json, json_values, why_damaged, why_no_text
from core.conversations.formats import (
    aider,
    amp,
    antigravity,
    antigravity_markdown,
    chatgpt,
    claude_ai,
    claude_code,
    claude_code_screen,
    cline,
    cline_sessions,
    cline_tasks,
    codex,
    continue_dev,
    copilot,
    cursor,
    gemini_cli,
    goose,
    grok,
    home,
    kimi,
    kiro,
    manual_slop,
    opencode,
    opencode_markdown,
    pi,
    qwen,
    session_logs,
    specstory,
    swe_agent,
)
from core.conversations.lines import BOM
from core.conversations.packed import OverpackedError, is_packed, most_unpacked, unpack
from core.conversations.turns import joined

HEAD_BYTES = 4096
OPENINGS = (
    ASKED_LINE,
    "# Keep what stays useful\n\nBelow is one conversation between a developer and AI assistants",
    "# Read a conversation, then answer one question\n\nBelow is one conversation between a developer",
    "# Shorten one part of a conversation\n\nBelow is one part of a long conversation",
)
"""How what this program asks a tool begins: our line, or before there was one the shipped prompts."""


@dataclass(frozen=True)
class Reader:
    """One format. `sniff` sees the first `HEAD_BYTES` bytes as text; `read_one` takes a name and all bytes. Files
    that can hold many conversations have `read_all` instead, which gives each on its own.
    """

    name: str
    sniff: Callable[[str], bool]
    read_one: Callable[[str, bytes], Conversation] | None = None
    read_all: Callable[[str, bytes], tuple[Conversation, ...]] | None = None

    def read(self, name: str, data: bytes) -> Conversation:
        """All conversations of a file as one, oldest first: it is harvested as a whole."""
        if self.read_one is not None:
            return self.read_one(name, data)
        return joined(name, self.name, self.read_all(name, data) if self.read_all is not None else ())


# The first that recognises the content reads it. Plain text takes everything and stays last.
READERS: tuple[Reader, ...] = (
    Reader("archive", archived.sniff, archived.read),
    Reader("store", stores.sniff, stores.read),
    Reader("gemini_cli", gemini_cli.sniff, read_all=gemini_cli.read_all),
    Reader("codex", codex.sniff, read_all=codex.read_all),
    Reader("qwen", qwen.sniff, qwen.read),
    Reader("claude_code", claude_code.sniff, read_all=claude_code.read_all),
    Reader("copilot_cli", copilot.sniff, copilot.read),
    Reader("vscode", copilot.sniff_chat, copilot.read_chat),
    Reader("pi", pi.sniff, pi.read),
    Reader("droid", session_logs.sniff_droid, session_logs.read_droid),
    Reader("deepseek", session_logs.sniff_deepseek, session_logs.read_deepseek),
    Reader("kimi", kimi.sniff, kimi.read),
    Reader("antigravity", antigravity.sniff, antigravity.read),
    Reader("kiro", kiro.sniff, kiro.read),
    Reader("amp", amp.sniff, amp.read),
    Reader("continue_dev", continue_dev.sniff, continue_dev.read),
    Reader("grok", grok.sniff, grok.read),
    Reader("opencode", opencode.sniff, opencode.read),
    Reader("opencode", opencode_markdown.sniff, opencode_markdown.read),
    Reader("chatgpt", chatgpt.sniff, read_all=chatgpt.read_all),
    Reader("claude_ai", claude_ai.sniff, read_all=claude_ai.read_all),
    Reader("cline_tasks", cline_tasks.sniff, cline_tasks.read),
    Reader("cline_tasks", cline_sessions.sniff, cline_sessions.read),
    Reader("swe_agent", swe_agent.sniff, swe_agent.read),
    Reader("goose", goose.sniff, goose.read),
    Reader("cursor", cursor.sniff, cursor.read),
    Reader("specstory", specstory.sniff, specstory.read),
    Reader("cline", cline.sniff, cline.read),
    Reader("aider", aider.sniff, aider.read),
    Reader("home", home.sniff, home.read),
    Reader("manual_slop", manual_slop.sniff, read_all=manual_slop.read_all),
    Reader("claude_code", claude_code_screen.sniff, claude_code_screen.read),
    Reader("antigravity", antigravity_markdown.sniff, antigravity_markdown.read),
    Reader(plain.UNKNOWN_JSON, begins_like_json, plain.read_json),
    Reader("plain", plain.sniff, plain.read),
)


def read_conversation(name: str, data: bytes) -> Conversation:
    """Understand any bytes as a conversation. The format is told by the content, never by `name`.

    Total: bytes that are no UTF-8 become U+FFFD, a byte order mark is left out, unknown text is plain text, JSON of no
    known kind has no turns; whether such a reading may be relied on, `why_unread` tells. Text that says it is UTF-16 or
    UTF-32 is read as what it is.
    For text formats `data[turn.start:turn.end]` is the part of the file in which the turn stands, markers included;
    those parts ascend and do not overlap. For formats of records it is the record, or the records from the first to
    the last that the turn was joined from; several turns can stand in one record. Of a packed file the range is in the
    unpacked bytes, of one in UTF-16 in those of UTF-8.

    A conversation that begins with a question of this program has no turns: what the question quotes would else stand
    there as the word of the user.

    A file that holds many conversations is read as one, oldest first, each below a system turn with its title: it is
    harvested and reclaimed as a whole, so nothing of it may be left out. `read_all` gives them one by one.
    """
    inside, whole = _unpacked(data)
    if inside is None:
        return Conversation(name, "overpacked", (), skipped=1)
    found = _reader(inside).read(name, inside)
    asked = next((turn.text for turn in found.turns if turn.role == "user"), "")
    found = replace(found, turns=(), skipped=0) if asked.lstrip().startswith(OPENINGS) else found
    return found if whole else replace(found, skipped=found.skipped + 1)


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """The conversations of a file one by one, in the file's order; of most formats there is exactly one."""
    inside, whole = _unpacked(data)
    reader = _reader(inside) if inside is not None else None
    if inside is None or reader is None or reader.read_all is None or not whole:
        return (read_conversation(name, data),)
    return reader.read_all(name, inside)


def why_unread(data: bytes, conversation: Conversation) -> ErrorInfo | None:
    """Why the reading of a file must not count as one, or None when it may: it gave no turn at all, its bytes are no
    text or damaged records (damage.py says where the border lies), or it is data that no reader knows.

    Such a file must not count as harvested: nobody knows yet what is in it.
    """
    if not data.strip():
        return None
    if not conversation.turns and conversation.skipped:
        if conversation.format == "overpacked":
            message = f"the conversation is {len(data):,} bytes that unpack to more than {most_unpacked(len(data)):,}"
            return ErrorInfo("overpacked-conversation", message, conversation.id, "unpack it yourself if you trust it")
        if conversation.format == plain.UNKNOWN_JSON:
            hint = "it stays as it is, and no model is shown it; the README lists the tools that are read"
            reason = "it is JSON, and no conversation of a known kind"
            return ErrorInfo("unknown-format", reason, conversation.id, hint)
        reason = f"nothing in it could be read as a {conversation.format} conversation"
        return ErrorInfo("unread-conversation", reason, conversation.id, "look whether the file is whole")
    inside, whole = _unpacked(data)
    if inside is None:
        return None
    if not whole:
        reason = "the packed file breaks off, or is damaged"
        return ErrorInfo("damaged-conversation", reason, conversation.id, "look whether the file is whole")
    if conversation.format in TEXTS and not json_values(inside):
        problem, hint = why_no_text(inside), "save it as UTF-8, or move it away if it is no conversation"
    else:
        suspect = conversation.skipped or not _is_utf8(inside)
        problem, hint = why_damaged(inside) if suspect else "", "look whether the file is whole"
    return ErrorInfo("damaged-conversation", f"the file {problem}", conversation.id, hint) if problem else None


TEXTS = frozenset(("plain", "home", "aider", "specstory", "cursor", "cline", "manual_slop"))
"""The formats of words in lines (two of these tools write JSON as well); all others are of JSON."""


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _unpacked(data: bytes) -> tuple[bytes | None, bool]:
    """What is inside and whether it is whole; None for what would be too much."""
    if not is_packed(data):
        return as_utf8(data), True
    try:
        return unpack(data)
    except OverpackedError:
        return None, False


def _reader(data: bytes) -> Reader:
    head = data[:HEAD_BYTES].removeprefix(BOM).decode("utf-8", "replace").replace("\r\n", "\n")
    return next(row for row in READERS if row.sniff(head))


def format_of(head: bytes) -> str:
    """The name of the reader that takes a file which begins like this; "packed" for a compressed one."""
    return "packed" if is_packed(head) else _reader(as_utf8(head, cut=True)).name


def why_not_read(head: bytes) -> str:
    """Why a file that begins like this cannot be a conversation, in words; "" when it may be one. `head` is the first
    `HEAD_BYTES` bytes of it, or all when it is shorter."""
    kind = format_of(head)
    text, cut = as_utf8(head, cut=True), len(head) >= HEAD_BYTES
    if kind == plain.UNKNOWN_JSON or (kind == "plain" and json_values(text)):
        return "JSON of no known kind"
    return "no text" if kind in TEXTS and why_no_text(text, cut) else ""
