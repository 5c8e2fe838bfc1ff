"""The dossier of a chunk: what it says, what it has been good for, where it comes from, and why it was retrieved.

Who reads it decides what to trust for the task at hand. A short history is shown whole; a longer one as profile, the
last uses for this kind of task and numbers; a long one that has become a profile as the profile alone, with numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.base.choices import DOSSIER_SIZES
from core.experience.kinds import Tally, outcomes_text, rate_text, success, total
from core.experience.record import at_tasks, misled_at
from core.library.records import Chunk, Document, SourceProfile, UsageTrace
from core.library.searched import titled

FULL, COMPACT, MINIMAL = DOSSIER_SIZES
"""How much of a dossier is told: all; what answers, with its record; a line or two, whatever it holds."""
FULL_TRACES = 8
"""The traces up to which the history is whole."""
COMPACT_TRACES = 30
"""The traces up to which its last uses are shown."""
RECENT = 3
TEXT_CHARACTERS, COMPACT_CHARACTERS, MINIMAL_CHARACTERS = 4_000, 700, 400
"""Characters of the text in a full and a compact dossier; of a minimal one as a whole."""


@dataclass(frozen=True)
class Dossier:
    """One retrieved chunk. `why` is strategy -> score; `traces` are those that are shown, newest first, of `used` in
    all; `beside` are other chunks that it is linked to in a way one should know (`contradicts`, `better_for`); `place`
    is where it stands in its document (`page 3`), "" where nobody can tell; `answer` are the sentences of it
    that answer the question."""

    chunk: Chunk
    document: Document
    source: SourceProfile | None
    score: float
    why: Mapping[str, float]
    task_type: str
    tally: Tally
    traces: tuple[UsageTrace, ...]
    level: str
    beside: tuple[str, ...] = ()
    place: str = ""
    answer: str = ""

    @property
    def used(self) -> int:
        return total(self.tally)

    @property
    def success(self) -> float | None:
        """How well it served this kind of task; None where too little is known."""
        return success(self.tally.get(self.task_type, {}))

    def shortened(self, most: int) -> str:
        """The text where it is short, else what of it answers."""
        content = self.chunk.content.strip()
        if len(content) <= most:
            return content
        said = self.answer or content
        return said if len(said) <= most else f"{said[: said.rfind(' ', 0, most) + 1 or most].rstrip()} …"

    @property
    def origin(self) -> str:
        """Where it comes from, in a few words."""
        day = (self.document.written_at or self.document.ingested_at).date().isoformat()
        return f"[from: {self.document.title or self.document.source}, {day}]"

    def to_json(self, size: str = FULL) -> dict[str, Any]:
        """Stable keys for `--json`, of which smaller sizes leave some empty."""
        if size != FULL:
            text = self.shortened(COMPACT_CHARACTERS) if size == COMPACT else as_text(self, size=MINIMAL)
            smaller: dict[str, Any] = {"text": text, "summary": "", "why": {}, "level": size}
            profiled = size == COMPACT and self.source is not None and self.source.functional_profile
            smaller |= {} if profiled else {"source_profile": None}
            smaller |= {} if size == COMPACT else {"usage": [], "functional_profile": None, "beside": [], "counts": {}}
            return {**self.to_json(), **smaller}
        source = self.source
        return {
            "kind": "document",
            "key": self.chunk.id,
            "text": self.chunk.content,
            "summary": self.chunk.summary,
            "heading": self.chunk.heading or None,
            "score": round(self.score, 4),
            "why": {name: round(score, 4) for name, score in self.why.items()},
            "provenance": self.origin,
            "functional_profile": self.chunk.functional_profile,
            "source_profile": None if source is None else {
                **_fields(source, "domain", "source_type", "functional_profile"),
                "strengths": list(source.strengths),
                "weaknesses": list(source.weaknesses),
            },
            "usage": [
                {"at": trace.timestamp.isoformat(timespec="seconds"), **_fields(trace, "task_type", "outcome", "notes")}
                for trace in self.traces
            ],
            "counts": {task: dict(counts) for task, counts in self.tally.items()},
            "success": None if self.success is None else round(self.success, 4),
            "level": self.level,
            **_fields(self.chunk, "chunk_type", "rhetorical_mode", "needs_context"),
            "beside": list(self.beside),
            "document": {
                **_fields(self.document, "id", "title", "source", "content_type"),
                "summary": self.document.top_summary,
                "position": self.chunk.position,
                "place": self.place or None,
            },
        }  # fmt: skip


def _fields(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def level_of(used: int, profile: str | None) -> str:
    """How much of a history is shown: less, the longer it is and the more of it has become a profile."""
    if used <= FULL_TRACES:
        return FULL
    return MINIMAL if used > COMPACT_TRACES and profile else COMPACT


def shown_traces(history: Sequence[UsageTrace], task_type: str, level: str) -> tuple[UsageTrace, ...]:
    """Which traces of a history, newest first, a dossier shows."""
    if level == FULL:
        return tuple(history)
    if level == MINIMAL:
        return ()
    return tuple([trace for trace in history if trace.task_type == task_type][:RECENT])


def as_text(dossier: Dossier, number: int = 0, size: str = FULL) -> str:
    """A dossier for a user or a model to read. What it says of others is quoted: it is data."""
    if size == MINIMAL:
        return _minimal(dossier, number)
    chunk, document, source = dossier.chunk, dossier.document, dossier.source
    lines = [f"{f'{number}. ' if number else ''}chunk {chunk.id[:8]}: {titled(document.title, chunk.heading)}"]
    if times := misled_at(dossier.tally, dossier.task_type):
        notes = (one.notes for one in dossier.traces if one.outcome == "misleading" and one.task_type in times)
        lines.append(f"Warning: misled {at_tasks(times)}. {_line(next(notes, ''))}".rstrip())
    at = f", {dossier.place}" if dossier.place else ""
    lines.append(f"Document: {document.content_type} from {document.source}{at} {dossier.origin}")
    if document.top_summary and size == FULL:
        lines.append(f"  About: {_line(document.top_summary)}")
    content = dossier.shortened(TEXT_CHARACTERS if size == FULL else COMPACT_CHARACTERS)
    lines += ["Content:", *(f"  {line}" for line in content.splitlines())]
    if size == FULL:
        if chunk.summary and chunk.summary.strip() not in content:
            lines.append(f"Summary: {_line(chunk.summary)}")
        manner = [chunk.chunk_type, chunk.rhetorical_mode] + ["needs what stands around it"] * chunk.needs_context
        lines.append(f"Manner: {', '.join(part for part in manner if part)}")
    if chunk.functional_profile:
        lines.append(f"Functional profile: {_line(chunk.functional_profile)}")
    lines += _history(dossier) if dossier.used or size == FULL else []
    if source is not None and (source.functional_profile or size == FULL):
        profile = _line(source.functional_profile) if source.functional_profile else "nothing learned yet"
        lines.append(f"Source profile ({source.domain}, {source.source_type}): {profile}")
    lines += [f"Note: {_line(one)}" for one in dossier.beside]
    if size == FULL:
        why = ", ".join(f"{name} {score:.2f}" for name, score in dossier.why.items())
        lines.append(f"Retrieved because: {why} (score {dossier.score:.2f})")
    return "\n".join([lines[0], *(f"   {line}" for line in lines[1:])])


_END = re.compile(r" (?:chunk|document|concept) (?=[0-9a-f]{8}:|\")")
"""Where a sentence about a link names its other end."""


def _minimal(dossier: Dossier, number: int) -> str:
    """Where it stands, what warns of it or speaks for it, and as much of what answers as there is room for."""
    counts = dossier.tally.get(dossier.task_type, {})
    said = [f"{dossier.task_type}: {outcomes_text(counts)}"] if counts else []
    warns = (one for one in dossier.beside if "newer than" not in one)  # of its own former version
    said += [_END.split(one)[0] for one in warns][:1]
    place = ", ".join(filter(None, (titled(dossier.document.title, dossier.chunk.heading)[:120], dossier.place)))
    record = f" [{_line('; '.join(said))[:90]}]" if said else ""
    head = f"{f'{number}. ' if number else ''}{dossier.chunk.id[:8]} {_line(place)}{record}: "
    return head + _line(dossier.shortened(MINIMAL_CHARACTERS - len(head) - 2))


def _history(dossier: Dossier) -> list[str]:
    if not dossier.used:
        return ["Usage history: never used yet"]
    lines = ["Usage history:"]
    if dossier.level != FULL:
        counted = {dossier.task_type: {}, **dossier.tally}  # that of the task comes first
        lines = [
            f"Usage history ({task}): {outcomes_text(counts)}{rate_text(success(counts))}"
            for task, counts in counted.items()
        ]
    for trace in dossier.traces:
        said = f': "{_line(trace.notes)}"' if trace.notes else ""
        guessed = " (inferred)" if trace.recorded == "inferred" else ""
        lines.append(
            f"- {trace.timestamp.date().isoformat()} [{trace.task_type}] → {trace.outcome.upper()}{said}{guessed}"
        )
    return lines


def _line(text: str) -> str:
    return " ".join(text.split())
