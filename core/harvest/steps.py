"""The plan of a run as plain records: what each artifact is, and what will be done with it. `classify` makes them. And
what a run is told: its limits, how to distil, where notes may be bound, how patient to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.base.figures import count
from core.base.result import ErrorInfo
from core.knowledge.spending import Caps
from core.knowledge.swap import EDITOR_WAIT, EditorWait
from core.sources.artifact import Artifact
from core.sources.incremental import Earlier
from core.sources.tools import Place

if TYPE_CHECKING:
    from core.conversations.conversation import Conversation
    from core.harvest.known import KnownStore

QUIET_SECONDS = 600.0
"""A conversation of another tool that changed less than this ago may still be written."""
UNDONE_BY_YOU = "its harvest was undone by you"
FORGOTTEN_BY_YOU = "forgotten, as you asked"
"""Why a conversation is kept that was harvested before, and is not harvested again unless the user asks."""
KEEP_DAYS = 7
"""What its tool deletes within this many days is kept, and told of."""
CLASSES = ("live", "user-kept", "prune", "harvest", "keep")


class Classified(NamedTuple):
    """An artifact with what it is (`verdict`, one of CLASSES) and the reason in words."""

    artifact: Artifact
    verdict: str
    reason: str


@dataclass(frozen=True)
class Limits:
    """What a run may do. Sizes in bytes; None means no limit. `reclaim` is always, model or never; `limit` counts every
    conversation that is harvested or taken away, also one that was harvested before."""

    provider: str
    max_source_bytes: int
    reclaim: str = "model"
    harvest: bool = True
    keep: bool = False
    max_run_bytes: int | None = None
    limit: int | None = None
    reclaim_foreign: bool = False
    retry_before: str = ""
    """Conversations that failed at this time (ISO 8601, UTC) or later wait for another run; "" for none."""
    again: bool = False
    """Whether conversations are harvested whose harvest was undone."""
    named: frozenset[str] = frozenset()
    """Files that the user asked for by their paths: these are read although somebody may still write them, and although
    their harvest was undone."""

    def names(self, item: Artifact) -> bool:
        """Whether the user asked for this conversation, or the export that holds it, by its path."""
        return (item.path.rpartition("#")[0] if item.kind == "session" else item.path) in self.named


class Step(NamedTuple):
    """One thing that the run will do. `action` is one of:

    harvest, reclaim (already harvested), discard (`--no-harvest`), too-large, defer, duplicate (same content as an
    earlier step), unreadable, prune. `earlier` is the last harvest of what stood at this path, before it changed;
    `shown` is how many bytes a model would be shown of a large file, 0 where nobody has measured.
    """

    artifact: Artifact
    action: str
    sha256: str
    reason: str
    earlier: Earlier | None = None
    shown: int = 0

    @property
    def new_bytes(self) -> int:
        """About how many bytes are to be read: of a conversation that has grown, what was added."""
        known = 0 if self.earlier is None or self.earlier.whole else self.earlier.bytes
        return self.artifact.size - known if known < self.artifact.size else self.artifact.size


@dataclass(frozen=True)
class Fate:
    """What becomes of the conversations of a plan, in numbers of them: those that leave their place were harvested
    `before`, are `new` (this run harvests them) or go `unread`; `stay` counts those that it harvests and leaves. `days`
    they lie in the trash, 0 for none at all. `later`: some would leave if a language model read them. `interrupted`:
    the run before was cut off, and what it has harvested may leave as well."""

    before: int = 0
    new: int = 0
    unread: int = 0
    stay: int = 0
    days: int = 0
    later: bool = False
    interrupted: bool = False

    @property
    def going(self) -> int:
        """How many leave their place."""
        return self.before + self.new + self.unread

    @property
    def words(self) -> str:
        """The same in one sentence, for every face; "" for a plan that neither reads nor takes anything."""
        if not self.going:
            later = "; what a language model has read would go to the trash" if self.later else ""
            return f"every conversation stays where it is{later}" if self.stay and not self.interrupted else ""
        where = f"to the trash for {count(self.days, 'day')}" if self.days else "for good, for trash_days is 0"
        kinds = ((self.before, "harvested before"), (self.new, "once harvested"), (self.unread, "unread"))
        parts = [(number, words) for number, words in kinds if number]
        which = ", ".join(f"{number:,} {words}" for number, words in parts) if len(parts) > 1 else parts[0][1]
        rest = f"; {count(self.stay, 'is', 'are')} harvested and left in place" if self.stay else ""
        return f"{count(self.going, 'conversation goes', 'conversations go')} {where} ({which}){rest}"


class SourceCount(NamedTuple):
    """What a plan holds of one source: conversations, their bytes, how many of them are to be harvested, and how many
    bytes this run will read of these."""

    conversations: int = 0
    bytes: int = 0
    to_harvest: int = 0
    to_read: int = 0


@dataclass(frozen=True)
class HarvestPlan:
    """The plan of a run as plain data. `careful` tells, if not empty, why nothing may be reclaimed; `notes` what kept a
    look at other tools' places from being whole, `errors` what the user named and cannot be read."""

    classified: tuple[Classified, ...]
    steps: tuple[Step, ...]
    careful: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()
    writing: int = 0
    """Conversations of other tools that were left alone, for they changed a moment ago."""

    @property
    def undone(self) -> int:
        """Conversations that are not harvested again, for the user undid it."""
        return sum(reason == UNDONE_BY_YOU for _, _, reason in self.classified)

    def bytes_of(self, verdict: str) -> int:
        """Bytes of everything of this class."""
        return sum([item.size for item, its, _ in self.classified if its == verdict])

    def candidate_bytes(self) -> int:
        """Bytes of what is to be harvested, without what is too large to be read."""
        return self.bytes_of("harvest") - sum([row.artifact.size for row in self.steps if row.action == "too-large"])

    def bytes_to_send(self) -> int:
        """Bytes of the conversations that will be given to the model."""
        return sum([step.new_bytes for step in self.steps if step.action == "harvest"])

    def by_source(self) -> dict[str, SourceCount]:
        """How much there is of each source: conversations alone, not what the home folder holds beside them."""
        waiting = {
            step.artifact.path: step.new_bytes if step.action == "harvest" else 0
            for step in self.steps
            if step.action in ("harvest", "duplicate", "defer")
        }
        rows: dict[str, list[Artifact]] = {}
        for item, verdict, _ in self.classified:
            if item.kind in ("conversation", "session") and (verdict in ("harvest", "keep") or item.is_foreign):
                rows.setdefault(item.source, []).append(item)
        counts: dict[str, SourceCount] = {}
        for source, items in rows.items():
            to_read = [waiting[item.path] for item in items if item.path in waiting]
            counts[source] = SourceCount(len(items), sum([item.size for item in items]), len(to_read), sum(to_read))
        return counts


@dataclass(frozen=True)
class DistilSettings:
    """How to distil. `quotes` is check, require or off; sizes in bytes; prompts are the texts themselves.

    `style` is one_call or per_category; `harvest_prompt` is the prompt of that style. `waiting` is the file of what is
    too weak alone (None: none waits). `long` is parts or summarise; `context_tokens` is the model's window (0: nobody
    knows), `answer_tokens` the longest answer that is asked for. Without `judge` nothing is looked for in the
    conversation: for an estimate, which keeps no item.
    """

    attempts: int
    summarize_bytes: int
    quotes: str
    redact: bool
    harvest_prompt: str = ""
    summarize_prompt: str = ""
    part_bytes: int = 49152
    style: str = "one_call"
    waiting: Path | None = None
    long: str = "parts"
    context_tokens: int = 0
    answer_tokens: int = 8192
    judge: bool = True


@dataclass(frozen=True)
class Archiving:
    """Which conversations of other tools are kept: `which` is off, expiring or all; none of the tools and the folders
    of projects that are left out."""

    which: str = "off"
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class HarvestOptions:
    """All settings of a run. `file_roots` are absolute folders; `digest_max_bytes` None: the digest is off. `home` says
    whether the home folder is read, `places` what else is; `copies` is a folder of ours for the rare store that can be
    read only as a copy, `kept` one for answers of the model `asked` that are still of use (None: none are kept),
    `usage` the file of what that model's provider reported (None: nothing is kept). `model_name` is that of the
    settings; an answer may name the model more exactly."""

    limits: Limits
    distil: DistilSettings
    trash_days: int
    file_roots: tuple[str, ...]
    digest_max_bytes: int | None
    jobs: int = 4
    max_run_tokens: int = 0
    editor_wait: EditorWait = field(default_factory=lambda: EDITOR_WAIT)
    home: bool = True
    places: tuple[Place, ...] = ()
    copies: Path = Path("copies")
    kept: Path | None = None
    asked: str = ""
    model_name: str = ""
    usage: Path | None = None
    known: KnownStore | None = None
    caps: Caps = field(default_factory=Caps)
    price: Callable[[int, int], float | None] = lambda _tokens_in, _tokens_out: None
    quiet_seconds: float = 0.0
    """Conversations of other tools that changed so recently are left alone, for the tool may still write (0: none);
    those of `ended` are not, unless they changed since, and what the user named by its path is not either."""
    ended: Mapping[str, int] = field(default_factory=dict)
    """Path -> modification time in nanoseconds of conversations whose session has ended."""
    days_kept: Mapping[str, int] = field(default_factory=dict)
    """Source -> after how many days without a change its tool deletes a conversation."""
    archive: Archiving = field(default_factory=Archiving)
    unattended: bool = False
    """Whether nobody asked for this run at this moment: then a digest that the user deleted is not written again."""
    read_by: Callable[[Conversation], None] | None = None
    """Who else is told of each conversation that was distilled, in the thread that did it."""


def expires(item: Artifact, days_kept: Mapping[str, int], now: datetime, within: int) -> bool:
    """Whether its tool deletes a conversation `within` some days."""
    days = days_kept.get(item.source, 0)
    return bool(days) and item.mtime_ns / 1e9 + (days - within) * 86_400 <= now.timestamp()


def read_prompt(name: str, user_folder: Path, shipped_folder: Path) -> str:
    """The user's own prompt if there is one, else the shipped one. Raises OSError or UnicodeDecodeError."""
    own = user_folder / name
    chosen = own if own.is_file() else shipped_folder / name
    return chosen.read_text(encoding="utf-8").strip()
