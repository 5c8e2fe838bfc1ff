"""Stage 3 for one step of the plan: its conversation is read again, made sure of, and distilled.

A very long transcript is read line by line where its format lets it (`conversations/stream.py`).
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.answer import Generate
from core.base.result import Err, Ok, Result, fail
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Edit
from core.conversations.read import read_conversation, why_unread
from core.harvest.distil import Harvest, distil, shown_bytes
from core.harvest.options import HarvestOptions
from core.harvest.steps import Step
from core.knowledge.projects import UNTOLD
from core.sources.artifact import Artifact
from core.sources.incremental import REWRITTEN, Earlier, Tail, TailSink, facts_of, tail_of
from core.sources.sessions import StoreCache
from core.sources.tools import project_at

if TYPE_CHECKING:
    from core.conversations.stream import Streamed

STREAM_BYTES = 8 << 20
"""A transcript above this is read line by line, if its format lets it."""
END_CHARACTERS = 400
MEASURED_BYTES = 64 << 20
"""A file above this counts with its size: to measure what is sent of it would take too long."""


def distil_step(step: Step, options: HarvestOptions, generate: Generate | None, opened: StoreCache) -> Result[Harvest]:
    """Stage 3 for one conversation: read it again, make sure it is what was planned, distil. `generate` None
    means the rules."""
    item, entry = step.artifact, dict[str, Any]()
    whole = None
    try:
        streamed = _streamed(step, options.limits.max_source_bytes, context=generate is not None)
        if isinstance(streamed, Err):
            return streamed
        if streamed is not None:
            tail, sha256, facts = streamed
        else:
            if item.kind == "session":
                data = opened.content(item)
                sha256 = hashlib.sha256(data).hexdigest()
            else:
                known = step.earlier.bytes if step.earlier is not None else 0
                # The plan has measured what is sent of a larger file; what has grown since is for the next run.
                read = files.read_file(item.path, max(options.limits.max_source_bytes + known, item.size))
                data, sha256 = read.data, read.sha256
            conversation = read_conversation(item.name, data)
            unread = why_unread(data, conversation)
            if unread is not None:
                return fail(unread.code, unread.message, item.path, unread.hint)
            tail = tail_of(conversation, step.earlier, context=generate is not None)
            whole = conversation
            facts = facts_of(conversation.turns)
    except OSError as error:
        return fail("unreadable", f"the conversation cannot be read: {error.strerror or error}", item.path)
    if sha256 != step.sha256:
        return fail("changed", "the conversation changed since it was looked at", item.path, "run the harvest again")
    if tail.kind == REWRITTEN and item.size > options.limits.max_source_bytes:
        hint = "raise max_harvest_source_bytes to read it whole again"
        return fail(
            "too-large", "the conversation was rewritten since its last harvest and is too large", item.path, hint
        )
    if not tail.conversation.folder and (folder := project_at(item.path)):
        tail = tail._replace(conversation=replace(tail.conversation, folder=folder))
    date = day_of(tail.conversation, item.mtime_ns)
    found = distil(tail.conversation, item.name, options.distil, generate, whole, options.known, date)
    if isinstance(found, Err):
        return found
    entry |= {"bytes": item.size, **facts}
    if tail.conversation.folder:
        entry["project"] = tail.conversation.folder
    elif any(isinstance(event, Edit) for turn in tail.conversation.turns for event in turn.events):
        entry["project"] = UNTOLD  # it changed files of a project, and nothing tells of which
    if step.earlier is not None:
        entry |= {"after": step.earlier.sha256, "change": tail.kind, "first_turn": tail.first}
    if date:
        entry["date"] = date
    folder = tail.conversation.folder
    return Ok(replace(found.value, folder=folder, date=date, entry={**found.value.entry, **entry}))


def shown_size(item: Artifact) -> int:
    """How many bytes a model would be shown of a file: of most formats far less than it has. Its size where nobody can
    tell."""
    if item.kind == "session" or item.size > MEASURED_BYTES:
        return item.size
    try:
        return shown_bytes(read_conversation(item.name, files.read_file(item.path, item.size).data))
    except OSError:
        return item.size


class ShownSizes:
    """`shown_size`, remembered by content in `file` (None: not at all); deleting it costs time only."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, int] | None = None

    def __call__(self, item: Artifact, sha256: str) -> int:
        if self._known is None:
            self._known = self._read()
        if sha256 not in self._known:
            self._known[sha256] = shown_size(item)
            if self._file is not None:
                files.write_cache(self._file, json.dumps(self._known).encode())
        return self._known[sha256]

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(files.read_or_empty(self._file) or b"{}") if self._file is not None else {}
        except (OSError, ValueError, RecursionError):
            return {}
        return {key: size for key, size in found.items() if isinstance(size, int)} if isinstance(found, dict) else {}


def day_of(conversation: Conversation, mtime_ns: int) -> str:
    """The UTC day (YYYY-MM-DD) of a conversation: that of its last turn, else of the end or the beginning that its file
    tells, else of the file itself; "" where nothing does."""
    times = (turn.time for turn in reversed(conversation.turns) if turn.time)
    for told in (next(times, ""), conversation.ended, conversation.started):
        with suppress(ValueError, OverflowError):
            at = datetime.fromisoformat(told)
            return (at if at.tzinfo is None else at.astimezone(UTC)).date().isoformat()
    with suppress(ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(mtime_ns / 1e9, UTC).date().isoformat() if mtime_ns > 0 else ""
    return ""


def _streamed(step: Step, limit: int, *, context: bool) -> tuple[Tail, str, dict[str, Any]] | Err | None:
    """What is to be read of a very long transcript, read line by line: the tail, the hash of the file, and the
    facts. None where it is read as a whole, Err(damaged-conversation) for one with much damage.

    `context` says that a model reads: then every word is kept. The rules take nothing out of what tools said but
    whether it went well, so that of a long one its two ends will do.
    """
    item, earlier = step.artifact, step.earlier
    if item.kind == "session" or item.size < STREAM_BYTES:
        return None
    from core.conversations.stream import stream_turns

    def look(earlier: Earlier | None) -> tuple[Streamed | None, TailSink]:
        sink = TailSink(earlier) if context else TailSink(earlier, _brief)
        return stream_turns(item.name, lambda: os.fdopen(files.open_regular(item.path), "rb"), sink), sink

    base = None if earlier is None or earlier.whole else earlier
    found, sink = look(base)
    if found is None or not len(sink):
        return None
    if found.damage:
        return fail("damaged-conversation", f"the file {found.damage}", item.path, "look whether the file is whole")
    tail = sink.tail(found.conversation, context=context)
    if base is not None and tail.kind == REWRITTEN and item.size <= limit:
        found, sink = look(None)
        if found is None:
            return None
        tail = sink.tail(found.conversation, context=context)._replace(kind=REWRITTEN)
    elif base is None:
        tail = tail._replace(kind="" if earlier is None else REWRITTEN)
    return tail, found.sha256, sink.facts()


def _brief(turn: Turn) -> Turn:
    if turn.role in ("user", "assistant") or len(turn.text) <= 2 * END_CHARACTERS:
        return turn
    return replace(turn, text=f"{turn.text[:END_CHARACTERS]}\n…\n{turn.text[-END_CHARACTERS:]}")
