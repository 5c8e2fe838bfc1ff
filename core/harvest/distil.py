"""Stage 3: one conversation in, items out, through a language model or through rules.

At most `attempts` calls for an answer that cannot be parsed; any other failure ends the attempt at once and keeps the
conversation (seed 1, 4.2). Above `summarize_bytes` the conversation is summarised first, part by part between turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.base.answer import Generate
from core.base.redact import redact
from core.base.result import Err, Ok, Result
from core.conversations.conversation import Conversation
from core.conversations.events import with_text
from core.conversations.read import transcript
from core.harvest.answer import Item, items_from, needs_source
from core.harvest.asking import ask, split_version
from core.harvest.options import DistilSettings
from core.harvest.parts import summarize
from core.harvest.quotes import NO_SOURCE, source_of
from core.harvest.waiting import borne_out
from core.offline.rules import distil_offline


@dataclass(frozen=True)
class Harvest:
    """What a conversation taught. `skipped` counts rows left out, `redacted` secrets replaced, both by kind; `folder`
    is the working folder of the session, "" when it is not known; `entry` holds what else the ledger will say."""

    items: tuple[Item, ...]
    skipped: dict[str, int] = field(default_factory=dict)
    redacted: dict[str, int] = field(default_factory=dict)
    folder: str = ""
    entry: Mapping[str, Any] = field(default_factory=dict)


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
    title, folder = _masked(conversation.title), _masked(conversation.folder)
    branch, repository = _masked(conversation.branch), _masked(conversation.repository)
    clean_one = replace(conversation, title=title, folder=folder, branch=branch, repository=repository)
    return replace(clean_one, turns=tuple(turns)), counts


def _masked(text: str) -> str:
    return redact(text).text


def distil(
    conversation: Conversation,
    name: str,
    size: int,
    settings: DistilSettings,
    generate: Generate | None,
    whole: Conversation | None = None,
) -> Result[Harvest]:
    """Turn one conversation into items. `size` is the bytes of its file; `generate` None means the offline rules;
    `whole` is the conversation that this one is the end of: who said something is judged by all of it.

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
            arrays["facts"] += borne_out(conversation, settings.waiting)
        return Ok(_finish(arrays, conversation, settings, counts, whole))
    told = redact(name).text if settings.redact else name
    if size > settings.summarize_bytes:
        shorten, _ = split_version(settings.summarize_prompt)
        summary = summarize(conversation, replace(settings, summarize_prompt=shorten), generate)
        if isinstance(summary, Err):
            return summary
        text = summary.value
    else:
        text = transcript(conversation)
    prompt, version = split_version(settings.harvest_prompt)
    asked = ask(prompt, settings.style, told, text, settings.attempts, generate)
    if isinstance(asked, Err):
        return asked
    return Ok(replace(_finish(asked.value, conversation, settings, counts, whole), entry={"prompt": version}))


def _finish(
    arrays: Mapping[str, list[Any]],
    conversation: Conversation,
    settings: DistilSettings,
    counts: dict[str, int],
    whole: Conversation | None,
) -> Harvest:
    source = source_of(conversation, whole) if needs_source(arrays) else NO_SOURCE
    found = items_from(arrays, source, quotes=settings.quotes, secrets=settings.redact)
    skipped = found.skipped | ({"unknown records": conversation.skipped} if conversation.skipped else {})
    return Harvest(found.items, skipped, counts, conversation.folder)
