"""Conversations that went on after their harvest: a model is shown only what was added. The rules read all of it again,
for that costs nothing, and what a session leaves open is told by its end.

A harvest leaves three facts in its ledger entry: how many turns there were, a hash over all but the last of them (an
answer may still have been growing), and one over all. With them a later look tells whether the conversation has grown,
says the same, or was rewritten. They stand in the journal and in the archived plans as well, so a lost ledger brings
them back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from core.sources.tools import known_as

if TYPE_CHECKING:
    from core.conversations.conversation import Conversation, Turn

GROWN, SAME, REWRITTEN = "grown", "same", "rewritten"
CONTEXT_TURNS = 4
CONTEXT_CHARACTERS = 4000
CONTEXT_ENDS = (
    "[What stands above was harvested before and is shown for context only. Take items from what follows, and from "
    "nothing above this line.]"
)


class Earlier(NamedTuple):
    """The last harvest of what stood at a path. `whole`: it is no base for a tail (the offline rules made it and a
    model reads now, or it left no facts), so the conversation is read from its beginning."""

    sha256: str
    bytes: int = 0
    turns: int = 0
    turns_sha256: str = ""
    words_sha256: str = ""
    whole: bool = True


def earlier_by_path(entries: Mapping[str, Mapping[str, Any]], asked: Container[str] | None = None) -> dict[str, str]:
    """What `known_as` says of a conversation -> hash of its newest harvest, also of one undone or forgotten; of those
    that are `asked` for alone, where they are named: of a large ledger nobody asks for all."""
    newest: dict[str, tuple[str, str]] = {}
    for sha256, entry in entries.items():
        if entry.get("status") in ("harvested", "undone", "forgotten"):
            path, at = known_as(str(entry.get("path", "")), str(entry.get("source", ""))), str(entry.get("at", ""))
            if (asked is None or path in asked) and at >= newest.get(path, ("", ""))[0]:
                newest[path] = (at, sha256)
    return {path: sha256 for path, (_, sha256) in newest.items()}


def earlier_of(sha256: str, entry: Mapping[str, Any], *, whole: bool) -> Earlier:
    """What a ledger entry tells of the last harvest; facts of a wrong type are none."""
    size, turns = entry.get("bytes"), entry.get("turns")
    hashes = (entry.get("turns_sha256"), entry.get("words_sha256"))
    if isinstance(size, int) and isinstance(turns, int) and turns > 0 and all(isinstance(one, str) for one in hashes):
        return Earlier(sha256, size, turns, str(hashes[0]), str(hashes[1]), whole)
    return Earlier(sha256)


def facts_of(turns: Sequence[Turn]) -> dict[str, Any]:
    """What a harvest leaves in its entry."""
    if not turns:
        return {}
    *_, but_last, whole = _hashes(turns)
    return {"turns": len(turns), "turns_sha256": but_last, "words_sha256": whole}


def _hashes(turns: Iterable[Turn]) -> list[str]:
    """The hash over the first n turns, for each n from 0 on."""
    digest = hashlib.sha256()
    found = [digest.hexdigest()]
    for turn in turns:
        words = turn.text.encode("utf-8", "replace")
        digest.update(b"%s %d\n" % (turn.role.encode(), len(words)))
        digest.update(words)
        found.append(digest.hexdigest())
    return found


class Tail(NamedTuple):
    """What is to be read of a conversation. `kind` is grown, same, rewritten, or "" for one never harvested before;
    `first` the number of its first new turn, which the last harvest may have seen the beginning of."""

    conversation: Conversation
    kind: str = ""
    first: int = 0


def tail_of(conversation: Conversation, earlier: Earlier | None, *, context: bool) -> Tail:
    """The part of a conversation that is to be read after its last harvest. With `context` what is new, below a few
    turns of what was there before; without it all of a conversation to which something was added."""
    if earlier is None:
        return Tail(conversation)
    if earlier.whole:
        return Tail(conversation, REWRITTEN)
    turns, known, hashes = conversation.turns, earlier.turns, _hashes(conversation.turns)
    if len(turns) < known or hashes[known - 1] != earlier.turns_sha256:
        return Tail(conversation, REWRITTEN)
    first = known if hashes[known] == earlier.words_sha256 else known - 1
    if first == len(turns):
        return Tail(replace(conversation, turns=()), SAME, first)
    before = _context(turns[:first]) if context else turns[:first]
    return Tail(replace(conversation, turns=(*before, *turns[first:])), GROWN, first)


def _context(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    if not turns:
        return ()
    shown = [
        replace(turn, text=f"… {turn.text[-CONTEXT_CHARACTERS:]}") if len(turn.text) > CONTEXT_CHARACTERS else turn
        for turn in turns[-CONTEXT_TURNS:]
    ]
    from core.conversations.conversation import Turn  # whoever asks what is new in a file reads no turns

    return (*shown, Turn("system", CONTEXT_ENDS, "", shown[-1].end, shown[-1].end))
