"""A fact index in a folder of its own, taught by made-up conversations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from core.factindex.facts import Fact
from core.factindex.feed import Lesson, Taught
from core.factindex.index import read_index
from core.factindex.record import History
from core.factindex.sync import Harvests, SyncReport, sync
from core.knowledge.swap import replace_expected

NOW = datetime(2026, 6, 12, 14, 23, 45, tzinfo=UTC)


@dataclass
class Shelf:
    """A knowledge folder, and the harvests that are committed so far, in their order."""

    knowledge: Path
    taught: list[Taught] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    clock: datetime = NOW
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def state(self) -> Path:
        return self.knowledge / ".state"

    def teach(self, *texts: str | Lesson, path: str = "", sha: str = "", day: str = "2026-06-12") -> str:
        """Commit one harvest in a run of its own and return that run."""
        number = next(self._numbers)
        run = f"run-{number:05d}"
        lessons = tuple(one if isinstance(one, Lesson) else lesson(one) for one in texts)
        self.taught.append(Taught(sha or f"sha{number}", run, path or f"/talks/{number}", day, lessons))
        return run

    def silence(self, conversations: int) -> None:
        """This many further conversations that teach nothing."""
        for _ in range(conversations):
            self.teach()

    def undo(self, run: str) -> None:
        self.taught = [one for one in self.taught if one.run != run]
        self.undone.add(run)

    def sync(self, *, accept_removals: bool = False) -> SyncReport:
        self.knowledge.mkdir(parents=True, exist_ok=True)
        state, now = self.state, self.clock
        return sync(
            self.knowledge, state, self._harvests, now, replace=replace_expected, accept_removals=accept_removals
        )

    def _harvests(self, history: History) -> Harvests:
        committed = {(one.sha, one.run) for one in self.taught}
        return Harvests(list(self.taught), committed, self.undone, {})

    def facts(self) -> list[Fact]:
        """What index.json holds."""
        return read_index(self.knowledge)

    def fact(self, fact_id: str) -> Fact:
        return next(row for row in self.facts() if row.id == fact_id)

    def ids(self) -> list[str]:
        return [row.id for row in self.facts()]

    def text(self, name: str) -> str:
        return (self.knowledge / name).read_bytes().decode()

    def write(self, name: str, text: str) -> None:
        """Write a file as a user would."""
        (self.knowledge / name).parent.mkdir(parents=True, exist_ok=True)
        (self.knowledge / name).write_bytes(text.encode())

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.text(name)
        assert old in text, text
        self.write(name, text.replace(old, new))

    def cut(self, name: str, mark: str) -> None:
        """Take away all of a file from a mark on."""
        text = self.text(name)
        self.write(name, text[: text.index(mark)])

    def files(self) -> dict[str, bytes]:
        """Every file with its bytes, the lock apart."""
        found = sorted(path for path in self.knowledge.rglob("*") if path.is_file())
        return {str(path.relative_to(self.knowledge)): path.read_bytes() for path in found}


def lesson(
    text: str, category: str = "fact", domain: str = "global", confidence: float = 0.5, tags: Sequence[str] = ()
) -> Lesson:
    return Lesson(text, category, domain, confidence, tuple(tags))
