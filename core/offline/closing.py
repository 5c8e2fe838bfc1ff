"""What the last words of a turn leave, and what the person said: the two places where most of a session's knowledge is.

An assistant's closing message says *what* was done and what is left; only of its facts a strict choice is taken, since
the *why* in it is often wrong. What a later word of the person refuted is not taken at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Commit, Edit
from core.offline import words
from core.offline.prose import Row, begun, looks_like_code, read_prose, sentences, whole
from core.offline.sessions import closing_turns, compactions
from core.offline.statements import Found

MOST_FACTS = 4
MOST_LEFT = 3
SHORT, LONG = 30, 300
MOST_WILL = 3


def find_closing(conversation: Conversation) -> Iterator[Found]:
    """Facts, finished and unfinished work out of the assistant's closing messages."""
    closing = list(closing_turns(conversation))
    refuted = _refuted(conversation)
    worked = {
        number: [event for event in turn.events if isinstance(event, Edit | Commit)]
        for number, turn in enumerate(conversation.turns)
    }
    facts: list[Found] = []
    left: list[Found] = []
    previous = -1
    for number, turn, at_end in closing:
        changed = any(worked[at] for at in range(previous + 1, number + 1))
        committed = any(isinstance(event, Commit) for at in range(previous + 1, number + 1) for event in worked[at])
        previous = number
        if number in refuted:
            continue
        rows = _rows(turn, number)
        facts += _facts(rows, number, at_end)
        if at_end or turn is closing[-1][1]:
            left += _left(rows, number)
        elif not changed:
            left += [row for row in _left(rows, number) if row.score >= 60]
        if changed and not committed:
            yield from _done(rows, number)
    yield from _newest(facts, MOST_FACTS)
    yield from _newest(left, MOST_LEFT)


def _newest(found: list[Found], most: int) -> list[Found]:
    ranked = sorted(found, key=lambda row: (row.score, row.turn), reverse=True)
    return sorted(ranked[:most], key=lambda row: row.turn)


def _rows(turn: Turn, number: int) -> list[Row]:
    rows, _ = read_prose(Conversation("", "", (turn,)))
    return [replace(row, turn=number) for row in rows]


def _refuted(conversation: Conversation) -> set[int]:
    """Closing messages that the person contradicted in their next words."""
    found = set()
    last = -1
    for number, turn in enumerate(conversation.turns):
        if turn.role == "assistant" and not turn.agent:
            last = number
        elif turn.role == "user" and last >= 0 and words.CORRECTION.match(turn.text.strip()):
            found.add(last)
    return found


def _stands_alone(text: str) -> bool:
    """Whether a sentence can be read by somebody who was not there, and says something."""
    return (
        SHORT <= len(text) <= LONG
        and not words.MONOLOGUE.match(text)
        and not words.DANGLING.match(text)
        and not words.OFFER.search(text)
        and not words.TEMPLATE.search(text)
        and not looks_like_code(text)
        and not text.endswith(("?", ":", "…"))
        and words.ANCHOR.search(text) is not None
    )


def _facts(rows: list[Row], number: int, at_end: bool) -> list[Found]:
    found = []
    for row in rows:
        if row.kind == "check" or words.LEFT_HEADING.match(row.heading):
            continue
        for sentence in sentences(row):
            text = sentence.text
            cause, rule = bool(words.CAUSE.search(text)), bool(words.RULE.search(text))
            if not (cause or rule) or not _stands_alone(text) or words.HEDGE.search(text) or words.LEFT.search(text):
                continue
            if re.search(r"\b(?:I|I've|we|you|your|my)\b", text) or words.DONE.match(text):
                continue
            score = 40 + 10 * cause + 5 * rule + 5 * at_end + 5 * ("`" in sentence.quote)
            fields = {"statement": begun(text), "detail": "", "quote": sentence.quote}
            found.append(Found("facts", fields, score, number))
    return found


def _left(rows: list[Row], number: int) -> list[Found]:
    """What a closing message says is not done: bullets below such a heading, and sentences that say so."""
    found = []
    for row in rows:
        below = bool(words.LEFT_HEADING.match(row.heading)) and row.kind in ("bullet", "check") and row.mark != "x"
        for sentence in [whole(row)] if below and len(row.text) <= LONG else sentences(row):
            text = sentence.text
            if not below and not words.LEFT.search(text):
                continue
            if not SHORT <= len(text) <= LONG or words.OFFER.search(text) or words.MONOLOGUE.match(text):
                continue
            if text.endswith("?") or words.TEMPLATE.search(text) or words.DANGLING.match(text):
                continue
            if not below and not words.ANCHOR.search(text):
                continue
            fields = {"statement": begun(text), "detail": "", "quote": sentence.quote}
            found.append(Found("tasks_open", fields, 65 if below else 55, number))
    return found


_SUBJECT = re.compile(r"^(?:I(?:'ve| have)?|we(?:'ve| have)?)\s+(?:also |now |successfully )?", re.IGNORECASE)


def _done(rows: list[Row], number: int) -> Iterator[Found]:
    """What a turn with changes and no commit says it did: its first sentence that says so, no list of files."""
    for row in rows[:6]:
        for sentence in sentences(row):
            text = sentence.text.removeprefix("Done. ").strip()
            if not (words.DONE.match(text) or words.IS_DONE.match(text)):
                continue
            if not SHORT <= len(text) <= LONG or words.HEDGE.search(text) or words.OFFER.search(text):
                continue
            if words.DANGLING.match(text) or text.endswith(("?", ":")) or not words.ANCHOR.search(text):
                continue
            text = _SUBJECT.sub("", text)
            yield Found("tasks_done", {"statement": begun(text), "detail": "", "quote": sentence.quote}, 50, number)
            return


# --- the person  ---


_BARE_SUBJECT = re.compile(r"(?:this|that|it|these|those|they)\b", re.IGNORECASE)


def find_will(conversation: Conversation) -> Iterator[Found]:
    """Short sentences in which the person says what they want for good: rules, preferences, choices, corrections."""
    found: list[Found] = []
    for number, turn in enumerate(conversation.turns):
        if turn.role != "user" or turn.agent or len(turn.text) > 1500 or words.TEMPLATE.search(turn.text):
            continue
        if re.search(r"^\s{0,3}(?:#{1,4}\s|\|)", turn.text, re.MULTILINE):
            continue  # a document that was pasted
        for row in _rows(turn, number):
            for sentence in sentences(row):
                text = sentence.text
                if not words.WILL.search(text) or not 15 <= len(text) <= 220 or words.POINTING.search(text):
                    continue
                if text.endswith("?") or looks_like_code(text) or words.HEDGE.search(text):
                    continue
                if _BARE_SUBJECT.match(text) or (len(text.split()) < 4 and text.isascii()):
                    continue
                fields = {"statement": begun(text), "detail": "", "quote": sentence.quote}
                found.append(Found("decisions", fields, 60, number))
    yield from _newest(found, MOST_WILL)


def find_unanswered(conversation: Conversation) -> Iterator[Found]:
    """The person's last request when nothing was done about it any more."""
    turns = [(number, turn) for number, turn in enumerate(conversation.turns) if not turn.agent]
    asked = next(((number, turn) for number, turn in reversed(turns) if turn.role == "user"), None)
    if asked is None or len(turns) < 3:
        return
    number, turn = asked
    behind = [row for at, row in turns if at > number]
    if any(row.role == "assistant" for row in behind) or any(row.events for row in behind if row.role == "tool"):
        return
    text = " ".join(turn.text.split())
    if not 12 <= len(text) <= 240 or text.startswith(("/", "<")) or words.POINTING.match(text):
        return
    category = "questions" if text.endswith(("?", "？")) else "tasks_open"
    fields = {"statement": begun(text), "detail": "asked at the end of the session, nothing was done", "quote": text}
    yield Found(category, fields, 60, number)


# --- summaries after compaction  ---

_PART = re.compile(r"^\s{0,3}(?:#{1,4}\s*)?(?:\d+\.\s*)?\**([A-Z][\w /&-]{4,40}?)\**:?\s*$", re.MULTILINE)


def find_compacted(conversation: Conversation) -> Iterator[Found]:
    """Errors with their cures and pending work out of the summary that a tool made of a long session."""
    for number, text in compactions(conversation):
        parts = _PART.split(text)
        for name, body in zip(parts[1::2], parts[2::2], strict=False):
            low = name.strip().lower()
            rows = [row for row in _rows(Turn("assistant", body), number) if row.kind in ("bullet", "check")]
            if low.startswith("pending") or "next step" in low:
                for row in rows[:4]:
                    item = whole(row)
                    if SHORT <= len(item.text) <= LONG and not words.OFFER.search(item.text):
                        fields = {"statement": item.text, "detail": "", "quote": item.quote}
                        yield Found("tasks_open", fields, 55, number)
            elif "user messages" in low:
                yield from _will_of(rows, number)


def _will_of(rows: list[Row], number: int) -> Iterator[Found]:
    for row in rows:
        for sentence in sentences(row):
            text = sentence.text.strip('"“”')
            if words.WILL.search(text) and 15 <= len(text) <= 220 and not words.POINTING.search(text):
                fields = {"statement": begun(text), "detail": "", "quote": sentence.quote}
                yield Found("decisions", fields, 60, number)
