"""The dossier of a chunk: what it says, what it has been good for, where it comes from, and why it was retrieved.

Who reads it decides what to trust for the task at hand. A short history is shown whole; a longer one as profile, the
last uses for this kind of task and numbers; a long one that has become a profile as the profile alone, with numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.library.records import Chunk, Document, SourceProfile, UsageTrace
from core.library.use.tasks import Tally, outcomes_text, success, total

FULL, COMPACT, MINIMAL = "full", "compact", "minimal"
FULL_TRACES, COMPACT_TRACES = 8, 30
"""Up to so many traces the history is whole; up to so many its last uses are shown."""
RECENT = 3
TEXT_CHARACTERS = 4_000


@dataclass(frozen=True)
class Dossier:
    """One retrieved chunk. `why` is strategy -> score; `traces` are those that are shown, newest first, of `used` in
    all; `beside` are other chunks that it is linked to in a way one should know (`contradicts`, `better_for`)."""

    chunk: Chunk
    document: Document
    source: SourceProfile | None
    score: float
    why: Mapping[str, float]
    task_type: str
    tally: Tally
    traces: tuple[UsageTrace, ...]
    level: str
    beside: tuple[str, ...] = field(default=())
    advice: str = ""

    @property
    def used(self) -> int:
        return total(self.tally)

    @property
    def success(self) -> float | None:
        """How well it served this kind of task; None where too little is known."""
        return success(self.tally.get(self.task_type, {}))

    @property
    def origin(self) -> str:
        """Where it comes from, in a few words."""
        day = (self.document.written_at or self.document.ingested_at).date().isoformat()
        return f"[from: {self.document.title or self.document.source}, {day}]"

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
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
            "advice": self.advice or None,
            "document": {
                **_fields(self.document, "id", "title", "source", "content_type"),
                "summary": self.document.top_summary,
                "position": self.chunk.position,
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


def as_text(dossier: Dossier, number: int = 0) -> str:
    """A dossier for a person or a model to read. What it says of others is quoted: it is data."""
    chunk, document, source = dossier.chunk, dossier.document, dossier.source
    begins = chunk.heading == document.title or chunk.heading.startswith(f"{document.title} > ")
    place = chunk.heading if begins else " > ".join(part for part in (document.title, chunk.heading) if part)
    lines = [f"{f'{number}. ' if number else ''}chunk {chunk.id[:8]}: {place}"]
    lines.append(f"Document: {document.content_type} from {document.source} {dossier.origin}")
    if document.top_summary:
        lines.append(f"  About: {_line(document.top_summary)}")
    content = chunk.content.strip()
    if len(content) > TEXT_CHARACTERS:
        content = f"{content[:TEXT_CHARACTERS]} …"
    lines += ["Content:", *(f"  {line}" for line in content.split("\n"))]
    if chunk.summary and chunk.summary.strip() not in content:
        lines.append(f"Summary: {_line(chunk.summary)}")
    manner = [chunk.chunk_type, chunk.rhetorical_mode] + ["needs what stands around it"] * chunk.needs_context
    lines.append(f"Manner: {', '.join(part for part in manner if part)}")
    if chunk.functional_profile:
        lines.append(f"Functional profile: {_line(chunk.functional_profile)}")
    lines += _history(dossier)
    if source is not None:
        profile = _line(source.functional_profile) if source.functional_profile else "nothing learned yet"
        lines.append(f"Source profile ({source.domain}, {source.source_type}): {profile}")
    lines += [f"Note: {_line(one)}" for one in dossier.beside]
    if dossier.advice:
        lines.append(f"Reasoning: {_line(dossier.advice)}")
    why = ", ".join(f"{name} {score:.2f}" for name, score in dossier.why.items())
    lines.append(f"Retrieved because: {why} (score {dossier.score:.2f})")
    return "\n".join([lines[0], *(f"   {line}" for line in lines[1:])])


def _history(dossier: Dossier) -> list[str]:
    if not dossier.used:
        return ["Usage history: never used yet"]
    lines = ["Usage history:"]
    if dossier.level != FULL:
        counted = {dossier.task_type: {}, **dossier.tally}  # that of the task comes first
        lines = [
            f"Usage history ({task}): {outcomes_text(counts)}{_rate(success(counts))}"
            for task, counts in counted.items()
        ]
    for trace in dossier.traces:
        said = f': "{_line(trace.notes)}"' if trace.notes else ""
        guessed = " (inferred)" if trace.recorded == "inferred" else ""
        lines.append(
            f"- {trace.timestamp.date().isoformat()} [{trace.task_type}] → {trace.outcome.upper()}{said}{guessed}"
        )
    return lines


def _rate(rate: float | None) -> str:
    return "" if rate is None else f", success {rate:.2f}"


def _line(text: str) -> str:
    return " ".join(text.split())
