"""Lines that a person has struck through. A harvest that finds the same in the same conversation once more, after an
undo that had to leave them, does not write it again beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.base.markdown import parse_bullets, split_provenance
from core.base.paths import Paths
from core.base.result import ErrorInfo
from core.knowledge.categories import read_text
from core.knowledge.journal import FrozenPlan

_MARK = "~~"


class StruckLines:
    """The struck lines of each file, read once in a run: file -> (conversation, words) -> the line as it stands."""

    def __init__(self, paths: Paths) -> None:
        self._problems: list[ErrorInfo] = []
        self._knowledge = paths.knowledge
        self._files: dict[str, dict[tuple[str, str], str]] = {}

    def kept(self, plan: FrozenPlan) -> FrozenPlan:
        """The plan with a line as the person has struck it where that stands. A file that cannot be read has none, and
        that is told: the plan must be made all the same, for it holds what a model has said."""
        self._problems = []
        rows = [
            replace(one, lines=self._as_struck(one.name, one.lines), done=self._as_struck(one.name, one.done))
            for one in plan.files
        ]
        return replace(plan, files=tuple(rows))

    @property
    def problems(self) -> list[ErrorInfo]:
        """What could not be looked through for the last plan."""
        return self._problems

    def _as_struck(self, name: str, lines: Sequence[str]) -> tuple[str, ...]:
        struck = self._of(name) if lines else {}
        if not struck:
            return tuple(lines)
        return tuple(dict.fromkeys(struck.get(_said(line), line) for line in lines))

    def _of(self, name: str) -> dict[tuple[str, str], str]:
        if name not in self._files:
            try:
                text = read_text(self._knowledge / name)
            except OSError as error:
                path = str(self._knowledge / name)
                message = f"the file cannot be looked through for what you struck through: {error.strerror}"
                self._problems.append(
                    ErrorInfo("unreadable", message, path, "such a line may stand there a second time")
                )
                return {}
            bullets = parse_bullets(text) if _MARK in text else []
            self._files[name] = {
                (row.provenance.source, row.text): row.raw for row in bullets if row.struck and row.provenance
            }
        return self._files[name]


def _said(line: str) -> tuple[str, str]:
    text, provenance = split_provenance(line.removeprefix("- "))
    return (provenance.source if provenance is not None else "", text)
