"""Stage 3: one conversation in, items out, through a language model or through rules.

At most `attempts` calls for an answer that cannot be parsed; any other failure ends the attempt at once and keeps the
conversation (seed 1, 4.2). One that is longer than the model's window is asked about part by part, each part below the
header and beside what is known; or, where the settings say so, it is summarised first (`parts.py`).
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from core.base.answer import Generate
from core.base.redact import redact
from core.base.result import Err, Ok, Result
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import with_text
from core.conversations.render import transcript
from core.harvest.answer import Item, Offer, given, items_from, needs_source
from core.harvest.asking import Arrays, ask, build_prompt, joined, split_version, words_around
from core.harvest.known import INTRODUCTION, KNOWN_BYTES, KNOWN_SHARE, KnownStore, Told
from core.harvest.lessons import mark_of_text, persons_of
from core.harvest.options import DistilSettings
from core.harvest.parts import parts_of, room_for, summarize
from core.harvest.quotes import NO_SOURCE, shown_source, source_of
from core.harvest.waiting import borne_out
from core.offline.rules import distil_offline

REDACTED = "[redacted]"
_PIECE = re.compile(r"[^\s\"'`|<>()\[\]{},;=]{4,}")


@dataclass(frozen=True)
class Harvest:
    """What a conversation taught. `skipped` counts rows left out, `redacted` secrets replaced, both by kind; `folder`
    is the working folder of the session, "" when it is not known; `entry` holds what else the ledger will say; `offers`
    are what the model says of lines that are known, for the person to decide; `date` is the UTC day of the conversation
    (YYYY-MM-DD), "" when nothing tells it."""

    items: tuple[Item, ...]
    skipped: dict[str, int] = field(default_factory=dict)
    redacted: dict[str, int] = field(default_factory=dict)
    folder: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict)
    offers: tuple[Offer, ...] = ()
    date: str = ""


def redacted_conversation(conversation: Conversation) -> tuple[Conversation, dict[str, int]]:
    """The conversation with every secret replaced, and how many of each kind there were."""
    counts: dict[str, int] = {}
    turns = []
    for turn in conversation.turns:
        clean = redact(turn.text)
        for kind, number in clean.counts.items():
            counts[kind] = counts.get(kind, 0) + number
        # What an event holds stands in a turn as well: it is masked and not counted again.
        events = tuple(with_text(event, _masked) for event in turn.events)
        same = not clean.counts and events == turn.events
        turns.append(turn if same else replace(turn, text=clean.text, events=events))
    # A title is cut from what was said: alone it may not look like a secret any more.
    hidden = _hidden(conversation.turns, turns)
    title, folder = hidden(_masked(conversation.title)), hidden(_masked(conversation.folder))
    branch, repository = hidden(_masked(conversation.branch)), hidden(_masked(conversation.repository))
    clean_one = replace(conversation, title=title, folder=folder, branch=branch, repository=repository)
    return replace(clean_one, turns=tuple(turns)), counts


def _hidden(before: Iterable[Turn], after: Iterable[Turn]) -> Callable[[str], str]:
    """A function that takes out of a short text what was replaced in the turns."""
    gone: set[str] = set()
    for old, new in zip(before, after, strict=True):
        if old.text != new.text:
            gone |= set(_PIECE.findall(old.text)) - set(_PIECE.findall(new.text))

    def hide(text: str) -> str:
        for piece in sorted((piece for piece in gone if piece in text), key=len, reverse=True):
            text = text.replace(piece, REDACTED)
        return text

    return hide


def _masked(text: str) -> str:
    return redact(text).text


def distil(
    conversation: Conversation,
    name: str,
    settings: DistilSettings,
    generate: Generate | None,
    whole: Conversation | None = None,
    known: KnownStore | None = None,
    date: str = "",
) -> Result[Harvest]:
    """Turn one conversation into items. `generate` None means the offline rules; `whole` is the conversation that this
    one is the end of: who said something is judged by all of it; `known` is the store as the run began; `date` is the
    conversation's UTC day (YYYY-MM-DD): what was said later is not outdated by it.

    Err keeps the conversation: codes of the provider, or `invalid-answer`, `truncated-answer`, `empty-summary`.
    """
    counts: dict[str, int] = {}
    if settings.redact:
        conversation, counts = redacted_conversation(conversation)
    if not any(turn.text.strip() for turn in conversation.turns):
        return Ok(Harvest(()))
    if generate is None:
        arrays = distil_offline(conversation)
        if settings.waiting is not None:
            for kind, rows in borne_out(conversation, settings.waiting).items():
                arrays[kind] += [row for row in rows if row not in arrays[kind]]
        return Ok(_finish(arrays, conversation, settings, counts, whole))
    called = redact(name).text if settings.redact else name
    prompt, version = split_version(settings.harvest_prompt)
    around = build_prompt(words_around(prompt, settings.style), called, "", INTRODUCTION)
    room = room_for(around, settings)
    told = Told(known, conversation.folder, min(KNOWN_BYTES, room // KNOWN_SHARE), date)
    summary = ""
    if settings.long == "summarise" and shown_bytes(conversation) > settings.summarize_bytes:
        shorten, _ = split_version(settings.summarize_prompt)
        done = summarize(conversation, replace(settings, summarize_prompt=shorten), generate)
        if isinstance(done, Err):
            return done
        summary = done.value
        parts = [summary]
    else:
        parts = parts_of(conversation, room - 2 * told.room)
    found: list[Arrays] = []
    for part in parts:
        asked = ask(prompt, settings.style, called, part, settings.attempts, generate, told.block(part))
        if isinstance(asked, Err):
            return asked
        found.append(asked.value)
        told.add(given(asked.value))
    entry: dict[str, Any] = {"prompt": version} | ({"parts": len(parts)} if len(parts) > 1 else {})
    harvest = _finish(joined(found), conversation, settings, counts, whole, told, summary)
    return Ok(replace(harvest, entry={**harvest.entry, **entry}))


def shown_bytes(conversation: Conversation) -> int:
    """How long a conversation is as a model is shown it."""
    return len(transcript(conversation).encode("utf-8", "replace"))


def _finish(
    arrays: Mapping[str, list[Any]],
    conversation: Conversation,
    settings: DistilSettings,
    counts: dict[str, int],
    whole: Conversation | None,
    told: Told | None = None,
    summary: str = "",
) -> Harvest:
    """The items of an answer. Quotes are looked for in what the model was shown: of a summary, in the summary."""
    source = source_of(conversation, whole) if settings.judge and needs_source(arrays) else NO_SOURCE
    source = shown_source(summary, source) if summary else source
    found = items_from(arrays, source, quotes=settings.quotes, secrets=settings.redact, told=told or Told(None, "", 0))
    skipped = found.skipped | ({"unknown records": conversation.skipped} if conversation.skipped else {})
    items = tuple(map(partial(_with_whole_path, folder=conversation.folder), found.items))
    entry: dict[str, Any] = {}
    if persons := persons_of(found.items):
        entry["person"] = persons
    if found.offers:
        entry["offers"] = [
            {"kind": one.kind, "category": one.category, "old": mark_of_text(one.old)}
            | ({"new": mark_of_text(one.new)} if one.new else {})
            for one in found.offers
        ]
    return Harvest(items, skipped, counts, conversation.folder, entry, found.offers)


def _with_whole_path(item: Item, folder: str) -> Item:
    """A note's path as a whole one: what a conversation names is told from its working folder, on whatever machine."""
    path = item.path
    if item.category != "files" or not path or not folder or path.startswith(("/", "~", "\\")) or path[1:2] == ":":
        return item
    if folder.startswith("/"):
        return replace(item, path=posixpath.normpath(posixpath.join(folder, path)))
    return replace(item, path=ntpath.normpath(ntpath.join(folder, path)))
