"""A home in a folder of its own, a model that never says the same thing twice, and runs that wait for nobody."""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.commands.history.runs import UndoReport
from core.commands.history.undo import undo
from core.commands.workspace import Workspace, open_workspace
from core.harvest.pipeline import run_harvest
from core.harvest.plan import plan_harvest
from core.harvest.report import HarvestReport
from core.harvest.steps import DistilSettings, HarvestOptions, HarvestPlan, Limits
from core.knowledge.ledger import Entries, read_ledger
from core.knowledge.swap import EDITOR_WAIT, EditorWait
from core.sources.artifact import HashCache

NOW = datetime(2026, 6, 12, 14, 23, 45, 123456, tzinfo=UTC)
HURRIED = EditorWait(missing=0, settle=0, swap_file=0, sleep=lambda _: None)
CATEGORY_FILES = ("facts.md", "decisions.md", "questions.md", "playbooks.md", "tasks.md")

Answering = Callable[[int, str], "dict[str, Any] | str | Answer"]


def sha256(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def ordinary(number: int, prompt: str) -> dict[str, Any]:
    """An answer with a row for most files; the number makes it one that was never given before."""
    return {
        "facts": [{"statement": f"Fact {number} about the cache", "detail": ""}],
        "decisions": [{"statement": f"Choice {number}", "detail": "it is shorter"}],
        "tasks_open": [{"statement": f"Write part {number}"}],
        "tasks_done": [{"statement": f"Read part {number}"}],
    }


class FakeModel:
    """Plays a language model. Answers differently each time it is asked: a question that is put again would show."""

    def __init__(self, answering: Answering = ordinary) -> None:
        self.answering = answering
        self.prompts: list[str] = []
        self._numbers = count(1)

    @property
    def calls(self) -> int:
        return len(self.prompts)

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        self.prompts.append(prompt)
        answer = self.answering(next(self._numbers), prompt)
        if isinstance(answer, dict):
            answer = json.dumps(answer)
        return Answer(answer, "fake-1", 100, 10) if isinstance(answer, str) else answer


def says(**rows: Any) -> FakeModel:
    """A model with one answer for everything."""
    return FakeModel(lambda number, prompt: rows)


def never(number: int, prompt: str) -> Answer:
    raise AssertionError("the model was asked")


def unreachable(number: int, prompt: str) -> Answer:
    raise KnowledgeError("no-credentials", "provider 'openai' has no key")


@dataclass
class World:
    """One home. `options` are those of every run unless it is given others."""

    folder: Path
    options: HarvestOptions = field(
        default_factory=lambda: HarvestOptions(
            Limits("openai", 1 << 20),
            DistilSettings(2, 65536, "check", True, "HARVEST", "SUMMARIZE"),
            trash_days=14,
            file_roots=(),
            digest_max_bytes=4096,
            jobs=1,
            editor_wait=HURRIED,
        )
    )
    clock: datetime = NOW
    _ages: Any = field(default_factory=count)

    def __post_init__(self) -> None:
        self.options = replace(self.options, file_roots=(str(self.folder),))

    @property
    def paths(self) -> Paths:
        return Paths(self.folder / "home")

    def converse(self, text: str | bytes = "User: hello\n", name: str = "") -> Path:
        """Leave a conversation behind, archived unless it is given a name; later ones are younger."""
        path = self.paths.conversations / (name or f"talk-{uuid.uuid4()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        age = NOW.timestamp() - 10_000 + next(self._ages)  # of one day: what is told of a line is the conversation's
        os.utime(path, (age, age))
        return path

    def knowledge(self, name: str, text: str | bytes) -> Path:
        """Write a knowledge file as the user would."""
        path = self.paths.knowledge / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def text(self, name: str) -> str:
        return (self.paths.knowledge / name).read_bytes().decode()

    def bullets(self) -> list[str]:
        """Every bullet in every category and note file."""
        names = [path for path in self.paths.knowledge.rglob("*.md") if path.name not in ("digest.md", "removed.md")]
        return [line for path in names for line in path.read_text().split("\n") if line.startswith("- ")]

    def trash(self) -> list[Path]:
        return sorted(self.paths.trash.iterdir()) if self.paths.trash.is_dir() else []

    def entries(self) -> Entries:
        return read_ledger(self.paths)

    def entry(self, text: str | bytes) -> dict[str, Any]:
        return self.entries()[sha256(text)]

    def limits(self, **changes: Any) -> World:
        """The same home under other limits."""
        self.options = replace(self.options, limits=replace(self.options.limits, **changes))
        return self

    def run(self, model: FakeModel | None = None, cache: HashCache | None = None, **changes: Any) -> HarvestReport:
        """Harvest; without a model, with the offline rules. `changes` are options for this run only."""
        return self.try_run(model, cache, **changes)

    def try_run(self, model: FakeModel | None = None, cache: HashCache | None = None, **changes: Any) -> HarvestReport:
        cancelled = changes.pop("cancelled", lambda: False)
        progress = changes.pop("progress", lambda _: None)
        options = replace(self.options, **changes)
        return run_harvest(
            self.paths,
            options,
            model,
            now=lambda: self.clock,
            cache=cache or HashCache(),
            cancelled=cancelled,
            progress=progress,
        )

    def plan(self) -> HarvestPlan:
        return plan_harvest(self.paths, self.options, self.entries(), self.clock, HashCache())


def nobody_waits_for_editors(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if no editor had anything open: a file that a test has just written looks like one that a user saves."""
    for name in ("missing", "settle", "swap_file"):
        monkeypatch.setitem(vars(EDITOR_WAIT), name, 0.0)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder: its bytes and its time of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            found[str(path.relative_to(folder))] = (path.read_bytes(), path.stat().st_mtime_ns)
    return found


def workspace_of(world: World) -> Workspace:
    """The world's home as a command sees it, with the shipped settings."""
    return open_workspace(str(world.paths.home), environment={"XDG_CONFIG_HOME": str(world.folder)}, cwd=world.folder)


def taken_back(world: World, run: str) -> UndoReport:
    """A run is undone."""
    return undo(workspace_of(world), run, editor_wait=HURRIED)


def session(folder: Path, number: int, *said: str, day: str = "2026-06-01") -> str:
    """A transcript of Claude Code in which a user and the assistant take turns."""
    folder.mkdir(exist_ok=True)
    rows = []
    for at, text in enumerate(said):
        who = "assistant" if at % 2 else "user"
        message = {"role": who, "content": [{"type": "text", "text": text}] if at % 2 else text}
        rows.append({
            "type": who, "sessionId": f"s{number}", "uuid": f"{number}-{at}", "parentUuid": f"{number}-{at - 1}",
            "cwd": str(folder), "timestamp": f"{day}T10:{at:02d}:00.000Z", "message": message,
        })  # fmt: skip
    return "\n".join(json.dumps(row) for row in rows) + "\n"


def known_id(prompt: str, words: str) -> str:
    """The id under which a line is shown, "" where it is not."""
    block = prompt.partition("<known>")[2].partition("</known>")[0]
    found = re.search(rf"^(k\d+) \([\w ]+(?:, [\w-]+)?\): .*{re.escape(words)}", block, re.MULTILINE)
    return found[1] if found else ""
