"""What a harvest tells: progress while it runs, a report when it is over. `to_json` gives the stable keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.base.result import ErrorInfo
from core.harvest.steps import CLASSES, Fate, HarvestPlan
from core.knowledge.categories import CATEGORIES

THROUGH, BEGUN, ANSWERED = "through", "begun", "answered"


class NewLine(NamedTuple):
    """One line that a conversation gave, as it comes: `why` says in words what makes it worth a look ("" for nothing),
    `score` orders lines, the best the highest; `again` says that the store has it already, and heard it once more."""

    category: str
    text: str
    why: str = ""
    score: int = 0
    again: bool = False


@dataclass(frozen=True)
class Progress:
    """What happens in a run. `kind` is THROUGH: one conversation is, `done` of `total`, `outcome` is what became of it
    and `lines` what it gave; what the journal has is written with others, and should that fail it is told once more, as
    "failed"; BEGUN: it is being read; ANSWERED: a model has answered about a part of it, the
    `calls`-th time. `path` is the conversation's. `tokens` are those of conversations that are through, `sent` and
    `received` those of every answer so far, as its provider counts them. Only THROUGH comes on the thread of the run.
    """

    done: int
    total: int
    name: str
    outcome: str
    tokens: int = 0
    kind: str = THROUGH
    path: str = ""
    calls: int = 0
    sent: int = 0
    received: int = 0
    lines: tuple[NewLine, ...] = ()


Report = Callable[[Progress], None]


@dataclass
class HarvestReport:
    """One run, dry or applied. `changed` counts conversations that were harvested before: grown (read from their last
    turn on), rewritten (read whole), same (nothing was said). `calls`,
    `tokens` (of the input), `expected_output` (tokens) and `price` (US dollars, None when it is not known) are what a
    dry run expects of a model; of an applied run, what it cost. Sizes in bytes."""

    applied: bool
    run: str = ""
    plan: HarvestPlan = field(default_factory=lambda: HarvestPlan((), ()))
    calls: int = 0
    tokens: int = 0
    expected_output: int = 0
    price: float | None = None
    seconds: tuple[float, float] = (0.0, 0.0)
    """Of a dry run: about how long the model would take at least and at most, 0.0 while nobody knows: conversations of
    one project are read one after the other, others at once."""
    token_factor: float = 1.0
    """How many tokens the provider counted for one of ours in `factor_calls` earlier calls; the price is of that
    many."""
    factor_calls: int = 0
    sent_tokens: int = 0
    """Of an applied run: bytes // 4 of what was asked for the first time, to be held against the estimate."""
    reclaimed_bytes: int = 0
    reclaimed: int = 0
    items: dict[str, int] = field(default_factory=lambda: {row.name: 0 for row in CATEGORIES})
    harvested: int = 0
    empty: int = 0
    trashed: int = 0
    """Conversations that were reclaimed into the trash; the others are gone for good (`trash_days = 0`)."""
    trashed_bytes: int = 0
    trash_until: str = ""
    """Until when the last of them stays there, ISO 8601."""
    quarantined: int = 0
    held_by: dict[str, int] = field(default_factory=dict)
    """How many of the quarantined items are held back for which reason, such as `too-long`."""
    held: int = 0
    """Conversations of which every item is in the quarantine: harvested, but nothing of them is in a file or digest."""
    notes_as_facts: int = 0
    """Notes on files that were not found: they count under `files` and stand in facts.md."""
    notes_outside: int = 0
    """Those of them whose path is not in `file_roots`, nor where their conversation worked."""
    skipped: dict[str, int] = field(default_factory=dict)
    redacted: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    too_large: int = 0
    deferred: int = 0
    not_tried: int = 0
    """Conversations that the model was not asked about, after it had turned out that it cannot be asked."""
    unanswered: int = 0
    """Conversations that were sent, at least in part, before the run was ended or gave the model up."""
    kept: int = 0
    failed: int = 0
    """Conversations that could not be harvested. Each is one of `errors`, which also tell of everything else."""
    errors: list[ErrorInfo] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    digest: str = ""
    ledger: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    spent: float | None = None
    cancelled: bool = False
    interrupted: bool = False
    """Of a dry run: the last run was cut off, and the next one finishes it first."""
    fate: Fate = field(default_factory=Fate)
    """Of a dry run: what becomes of the conversations; its sentence is one of `notes`."""
    lines: list[tuple[str, str, int]] = field(default_factory=list)
    """What a run wrote that was not there before: category, text, and how many conversations have said it now."""
    finished: str = ""
    """The run under which harvests were finished that the last run had left in the middle; "" for none."""
    finished_lines: list[tuple[str, str, int]] = field(default_factory=list)
    """What that run wrote, as `lines` has it."""
    facts: dict[str, int] | None = None
    """What the fact index got: new, confirmed and total; None when it is switched off or could not be fed."""

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge harvest --json`."""

        def same(*names: str) -> dict[str, Any]:
            return {name: getattr(self, name) for name in names}

        return {
            "applied": self.applied,
            "run": self.run or None,
            "artifacts": {name: self.plan.counts.get(name, 0) for name in CLASSES},
            "candidates": {
                "bytes": self.plan.candidate_bytes(),
                "calls": self.calls,
                "tokens": self.tokens,
                "output_tokens": self.expected_output,
                "price": self.price,
                "token_factor": self.token_factor,
                "seconds": [round(seconds) for seconds in self.seconds] if self.seconds[1] else None,
            },
            "sources": {name: row._asdict() for name, row in self.plan.by_source().items()},
            "prune_bytes": self.plan.bytes_of("prune"),
            **same("reclaimed_bytes", "reclaimed"),
            "trash": {"conversations": self.trashed, "bytes": self.trashed_bytes, "until": self.trash_until or None},
            **same("harvested", "empty", "items", "quarantined", "held_by", "held", "notes_as_facts", "notes_outside"),
            "skipped_rows": self.skipped,
            **same("redacted", "changed", "too_large", "deferred"),
            "writing": self.plan.writing,
            "undone": self.plan.undone,
            **same("not_tried", "unanswered", "kept"),
            "failed": [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors],
            "notes": self.notes,
            "spent": {**same("input_tokens", "output_tokens"), "price": self.spent, **same("sent_tokens")},
            **same("cancelled", "interrupted"),
            "lines": _lines_json(self.lines),
            "finished": {"run": self.finished, "lines": _lines_json(self.finished_lines)} if self.finished else None,
            "facts": self.facts,
            "digest": self.digest or None,
            "ledger": self.ledger,
            "steps": [
                {"path": step.artifact.path, "action": step.action, "bytes": step.artifact.size, "reason": step.reason}
                for step in self.plan.steps
            ],
        }


def _lines_json(lines: list[tuple[str, str, int]]) -> list[dict[str, Any]]:
    return [{"category": category, "text": text, "conversations": number} for category, text, number in lines]


def add_counts(total: dict[str, int], more: dict[str, int]) -> None:
    for key, number in more.items():
        total[key] = total.get(key, 0) + number
