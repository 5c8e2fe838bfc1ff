"""Reads in a conversation which retrieved chunks it used, and how that went.

An agent that retrieved over MCP has the id of the retrieval in its transcript, so the two are matched without guessing.
What was used, and how that went, is told as of all that is handed out (`core/experience/heard.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Call
from core.conversations.searched import title_of
from core.experience.heard import Told, outcomes
from core.experience.record import INFERRED
from core.library import schema
from core.library.extract import moment_of
from core.library.records import Retrieval, UsageTrace, new_id
from core.library.rows import add_trace, among, by_ids

TURN_CHARACTERS = 20_000
"""The characters of a turn that are looked at."""
TALK_CHARACTERS = 200_000
"""Those of all that was said."""

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


@dataclass(frozen=True)
class Heard:
    """What inference needs of a conversation. `places`: ids that stand in what tools gave back, not all of them of
    retrievals, with the number of turns in `said` before each and the time of the turn, None where none is told;
    `said`: what was said from the first of them on."""

    id: str
    title: str
    places: dict[str, tuple[int, datetime | None]]
    said: tuple[Turn, ...]


def heard_in(conversation: Conversation) -> Heard:
    """What inference needs of a conversation whose secrets are replaced: no output of tools, and of very long turns
    and talks the beginning."""
    places: dict[str, tuple[int, datetime | None]] = {}
    said: list[Turn] = []
    whole = conversation.ended or conversation.started
    room = TALK_CHARACTERS
    for turn in conversation.turns:
        if turn.role in ("tool", "assistant"):
            texts = [turn.text, *(event.output for event in turn.events if isinstance(event, Call))]
            for key in (found for text in texts for found in _UUID.findall(text)):  # it may be that of a retrieval
                places.setdefault(key, (len(said), moment_of(turn.time or whole)))
        if places and room > 0 and turn.role in ("user", "assistant") and turn.text.strip():
            said.append(Turn(turn.role, turn.text[:TURN_CHARACTERS]))
            room -= len(said[-1].text)
    return Heard(conversation.id, title_of(conversation.title), places, tuple(said))


# --- into the library -------------------------------------------------------------------------------------------------


def shown_in(connection: Connection, ids: Iterable[str]) -> dict[str, tuple[Retrieval, dict[str, str]]]:
    """The retrievals among these ids that showed something, and of which no trace was recorded yet, each with what it
    showed: chunk -> its text."""
    f, c, t = schema.retrieval_chunk.c, schema.chunk.c, schema.usage_trace.c
    texts = select(f.retrieval_id, c.id, c.content).join(schema.chunk, c.id == f.chunk_id).order_by(f.rank)
    chunks: dict[str, dict[str, str]] = {}
    for key, chunk, content in among(connection, texts, f.retrieval_id, ids):
        chunks.setdefault(key, {})[chunk] = content
    recorded = {row[0] for row in among(connection, select(t.retrieval_id), t.retrieval_id, chunks)}
    asked = by_ids(connection, schema.retrieval, Retrieval, chunks.keys() - recorded)
    return {key: (one, chunks[key]) for key, one in asked.items()}


def record_heard(connection: Connection, heard: Heard) -> list[UsageTrace]:
    """Traces of what a conversation used, grouped under its name and with its time, whenever it is read; none where it
    retrieved nothing, or was read before."""
    known = shown_in(connection, heard.places)
    order = sorted(((*heard.places[key], *one) for key, one in known.items()), key=lambda row: (row[0], row[2].id))
    made = []
    for place, (at, told, about, texts) in enumerate(order):
        end = next((later for later, *_ in order[place + 1 :] if later > at), len(heard.said))
        shown = [Told(text, key, "") for key, text in texts.items()]
        for things, outcome, notes in outcomes(shown, about.query, heard.said[at:end]):
            chunks = tuple(one.of for one in things)
            trace = UsageTrace(
                new_id(), chunks, about.task_type, outcome, told or about.timestamp, heard.id, heard.title,
                about.query, notes, INFERRED, about.id, about.project,
            )  # fmt: skip
            add_trace(connection, trace)
            made.append(trace)
    return made
