"""What a harvest kept beside a line: the quote that showed it to be true, where that stands, and a playbook's steps.

The plan of the run has it, below `facts` (core/harvest/freeze.py), under the mark of the line's words. It is of the
line as the harvest wrote it: words that a user has changed since have no proof of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core.base import files
from core.base.markdown import parse_bullets, split_provenance, unmarked
from core.base.result import KnowledgeError
from core.base.secrets.redact import redact
from core.commands.panel.bullets import Event, confirmed_here, events_of, plan_of
from core.commands.panel.conversations import conversation_key, place_of_entry
from core.commands.row import NAMED, flag, needed, top
from core.commands.statements import resolve_bullet
from core.commands.text import one_line
from core.commands.workspace import Workspace, utc_now
from core.conversations.conversation import Conversation, Turn
from core.conversations.read import read_conversation
from core.experience import record
from core.harvest.playbook import steps_in as steps_in
from core.harvest.quotes import reduce_to_words
from core.harvest.quotes import span_of as span_of
from core.knowledge.confirmed import confirmed_bullets
from core.knowledge.ledger import FORGOTTEN, Entry, known_entries, table_in
from core.knowledge.same import mark_of_text

READ_BYTES = 4_000_000
"""A longer conversation is not read for one passage."""
AROUND = 400
"""This many characters on either side of a quote are shown."""
_TAIL = re.compile(r"[^\w\s]{1,4}(?=\s|\Z)")
"""Marks that end a sentence belong to it."""
GONE, LONG, ELSEWHERE = "gone", "long", "elsewhere"


@dataclass(frozen=True)
class Passage:
    """A quote in its place: the words before it, itself, and the words behind it, secrets replaced. `turn` counts from
    1, `of` is how many turns there are, `role` and `time` are those of the turn."""

    before: str
    quote: str
    after: str
    turn: int
    of: int
    role: str
    time: str = ""


@dataclass(frozen=True)
class Evidence:
    """What is known of one line. `line` counts from 1, `text` are its words.

    `sha256` is the conversation that gave it, `conversation` its file. `quote` is "" where none was kept; `turn` (from
    1, 0 for none), `start` and `end` tell the turn it stands in and that turn's bytes in the file. `steps` are those of
    a playbook. `passage` is the place itself; where it is None, `problem` says why: `gone` (the conversation is not
    there any more), `long` (too long to be read for one passage), `elsewhere` (it stands there no more) or `forgotten`
    (the user wants it so: then there is no quote either).
    """

    file: str
    line: int
    text: str
    run: str = ""
    sha256: str = ""
    conversation: str = ""
    quote: str = ""
    turn: int = 0
    start: int = 0
    end: int = 0
    steps: tuple[str, ...] = ()
    passage: Passage | None = None
    problem: str = ""
    again: tuple[str, ...] = ()
    """The other conversations that said the same, the newest first, as `[from: NAME, DAY]`."""

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge evidence --json`."""
        row = {key: value or None for key, value in asdict(self).items()}
        return {**row, "steps": list(self.steps), "again": list(self.again)}


def evidence(workspace: Workspace, match: str, *, steps: bool = False) -> Evidence | tuple[str, ...]:
    """`knowledge evidence MATCH`: what showed one line to be true; with `steps` the steps of a playbook alone."""
    ref = resolve_bullet(workspace.paths, "", match).refs[0]
    text = split_provenance(unmarked(ref.raw))[0]
    if steps:
        parts = steps_in(text) if ref.file == "playbooks.md" else ()
        if not parts:
            hint = "steps stand in playbooks.md, joined by ' -> '"
            raise KnowledgeError("no-steps", f"{ref.file}:{ref.line} is no list of steps", hint=hint)
        return parts
    events = events_of(workspace, ref.file, ref.raw)
    return evidence_of(workspace, ref.file, ref.line, ref.raw, events)


def evidence_of(workspace: Workspace, file: str, line: int, raw: str, events: Sequence[Event]) -> Evidence:
    """What is kept of a line whose past is known (`events`, newest first). Where nothing is, only its own words."""
    text, came = split_provenance(unmarked(raw))
    steps = steps_in(text) if file == "playbooks.md" else ()
    [bullet] = confirmed_bullets(confirmed_here(workspace), file, parse_bullets(raw))
    bare = Evidence(file, line, text, steps=steps, again=tuple(map(str, bullet.again)))
    harvested = next((event for event in reversed(events) if event.what == "harvested" and event.sha), None)
    sha, run = (harvested.sha, harvested.run) if harvested is not None else ("", "")
    if not sha and came is not None:
        with suppress(KnowledgeError):
            sha = conversation_key(workspace, came.source)
    entry = (known_entries(workspace.paths).get(sha) or {}) if sha else {}
    if entry.get("status") == FORGOTTEN:
        return replace(bare, problem=FORGOTTEN)
    plan = plan_of(workspace, run or str(entry.get("run", "")), sha)
    if plan is None:
        return bare
    words = split_provenance(unmarked(harvested.after))[0] if harvested is not None else text
    mark = mark_of_text(words)
    quote, place = table_in(plan.facts, "quotes").get(mark), table_in(table_in(plan.facts, "evidence"), mark)
    kept = table_in(plan.facts, "steps").get(mark)
    if words == text and isinstance(kept, list) and all(isinstance(step, str) for step in kept):
        steps = tuple(kept)
    turn, start, end = (_whole(place.get(key)) for key in ("turn", "start", "end"))
    known = Evidence(
        file, line, text, run or str(entry.get("run", "")), sha, str(entry.get("path", "")), _clear(workspace, quote),
        max(0, turn + 1), max(0, start), max(0, end), steps, again=bare.again,
    )  # fmt: skip
    if not known.quote:
        return known
    passage, problem = _passage(workspace, known, entry, str(place.get("said", "")))
    return replace(known, passage=passage, problem=problem)


def _clear(workspace: Workspace, words: object) -> str:
    """A text without its secrets; "" for what is none."""
    if not isinstance(words, str):
        return ""
    return redact(words).text if workspace.config.redact else words


def _whole(value: object) -> int:
    return value if isinstance(value, int) else -1


# --- the place -------------------------------------------------------------------------------------------------------


def _passage(workspace: Workspace, known: Evidence, entry: Entry, said: str) -> tuple[Passage | None, str]:
    """The quote among the words around it, or why it cannot be shown."""
    path, content = place_of_entry(workspace, known.sha256, entry)
    if content is None:
        try:
            data = files.read_file(path).data if path and os.stat(path).st_size <= READ_BYTES else None
        except OSError:
            return None, GONE
        if data is None:
            return None, LONG if path else GONE
        content = read_conversation(Path(path).name, data)
    at = turn_of(content, known.turn - 1, known.start, known.end, said, known.quote)
    if at < 0:
        return None, ELSEWHERE
    turn = content.turns[at]
    text = _clear(workspace, turn.text)
    span = span_of(known.quote, text)
    if span is None:
        return None, ELSEWHERE
    tail = _TAIL.match(text, span[1])
    span = (span[0], tail.end() if tail is not None else span[1])
    before, after = text[: span[0]], text[span[1] :]
    before = f"… {before[-AROUND:].lstrip()}" if len(before) > AROUND else before
    after = f"{after[:AROUND].rstrip()} …" if len(after) > AROUND else after
    place = Passage(before, text[span[0] : span[1]], after, at + 1, len(content.turns), turn.role, turn.time)
    return place, ""


def turn_of(conversation: Conversation, number: int, start: int, end: int, said: str, quote: str) -> int:
    """The number of the turn (from 0) that a quote was found in, -1 for none: the one at those bytes, else the one that
    says the same (in a session that went on, a snapshot), else the first in which the quote stands."""
    turns = conversation.turns

    def holds(turn: Turn) -> bool:
        return span_of(quote, turn.text) is not None

    if 0 <= number < len(turns) and (turns[number].start, turns[number].end) == (start, end) and holds(turns[number]):
        return number
    same = [at for at, turn in enumerate(turns) if said and mark_of_text(reduce_to_words(turn.text)) == said]
    return next((at for at in (*same, *range(len(turns))) if holds(turns[at])), -1)


# --- at the command line ----------------------------------------------------------------------------------------------

WHY = {
    GONE: "its conversation is not there any more",
    LONG: "its conversation is too long to be read for one passage",
    ELSEWHERE: "it does not stand in its conversation any more, or not in these words",
    FORGOTTEN: "its conversation is forgotten, as you asked",
}
"""Why there is no passage."""
_EDGE = "   | "


def evidence_text(value: Evidence | tuple[str, ...]) -> str:
    """The line, its quote, the passage in which it stands, and the steps; of `--steps` the steps alone."""
    if isinstance(value, tuple):
        return "".join(f"{step}\n" for step in value)
    rows = [f"{value.file}:{value.line} {value.text}"]
    if value.problem == FORGOTTEN:
        rows.append(WHY[FORGOTTEN])
    elif not value.quote:
        rows.append("no quote was kept: it was written by hand or changed, or its harvest gave none")
    elif value.passage is None:
        rows.append(f'"{value.quote}"')
        rows.append(f"   ({_where(value)}; {WHY.get(value.problem, value.problem)})")
    else:
        place = value.passage
        when = f", {one_line(place.time)}" if place.time else ""
        rows.append(f"{place.role} in turn {place.turn} of {place.of}{when}:")
        marked = f"{place.before}>>{place.quote}<<{place.after}"
        rows += [_EDGE + one_line(line) for line in marked.strip().split("\n")]
        rows.append(f"   ({_where(value)})")
    rows += [f"also said in {one_line(came.removeprefix('[from: ').removesuffix(']'))}" for came in value.again]
    rows += [f"{number}. {step}" for number, step in enumerate(value.steps, start=1)]
    return "\n".join(rows) + "\n"


def _where(value: Evidence) -> str:
    turn = f"turn {value.turn}, bytes {value.start:,} to {value.end:,} of " if value.turn else ""
    return turn + one_line(value.conversation or value.sha256)


COMMANDS = (
    top(
        "evidence",
        "facts.md:12",
        evidence,
        evidence_text,
        needed("match", "the bullet's text or a unique part of it, or FILE:LINE"),
        flag("--steps", "the steps of a playbook alone, one a line"),
        words=NAMED,
    ),
)


def how_it_served(workspace: Workspace, text: str) -> str:
    """`helped 3×, misled 1×`: how a line went where it was handed out; "" while nobody has said."""
    known = record.served(workspace.paths.experience, [text]).get(text, record.Served())
    return record.in_words(known.counts())


def say_how_it_served(workspace: Workspace, text: str, outcome: str) -> str:
    """Write down how a line served, one of `OUTCOMES`; what all said of it by then. Raises KnowledgeError where it
    cannot be written."""
    use = record.Use(text, outcome, utc_now().isoformat(), by="user")
    record.record(workspace.paths.experience, [use])
    return how_it_served(workspace, text)
