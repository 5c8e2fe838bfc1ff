"""What the view of the sources shows, and the one thing it changes. Plain functions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.base.figures import age, count, size
from core.base.result import Err, Ok, Result
from core.commands.settings import Settings, config_set
from core.commands.sources import ALL, HOME, NAMES, SOON_DAYS, SourceFound, SourcesReport, known_name
from core.commands.view import local_day
from core.commands.workspace import Workspace, reopened
from gui.toolkit.charts import Part
from gui.views.looks import seconds_of, short_folder

KEY = "sources"


@dataclass(frozen=True)
class SourceRow:
    """One tool. `on`: a harvest reads it. `parts` divide its conversations for the bar; `warning` says what its tool
    will delete, in `color`. `found`: it left something here (the home folder always counts as found)."""

    name: str
    title: str
    on: bool
    found: bool
    words: str = ""
    parts: tuple[Part, ...] = ()
    total: int = 0
    warning: str = ""
    color: str = "hint"
    folders: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where its conversations lie, as a person writes it."""
        return "   ".join(short_folder(row) for row in self.folders)


def rows_of(report: SourcesReport, picked: Sequence[str], now: float) -> tuple[SourceRow, ...]:
    """What was found first, in the order of the report. `picked` are the sources of the settings, `now` in seconds."""
    names = {known_name(name) for name in picked}
    rows = [row_of(found, found.name in names or ALL in names, now) for found in report.rows]
    return tuple(sorted(rows, key=lambda row: not row.found))


def row_of(found: SourceFound, on: bool, now: float) -> SourceRow:
    """One source as a row."""
    title = "This home" if found.name == HOME else found.title
    row = SourceRow(found.name, title, on, bool(found.conversations) or found.name == HOME)
    if not found.conversations:
        return replace(row, words="nothing waits here", folders=tuple(found.places)) if row.found else row
    parts: tuple[Part, ...] = (
        Part("harvested", found.harvested, "harvested", f"{found.harvested:,} harvested"),
        Part("grown", found.grown, "edited", f"{found.grown:,} grown since"),
        Part("new", found.new, "accent", f"{found.new:,} new"),
    )
    if found.too_large:
        parts = (*parts, Part("too large", found.too_large, "hint", f"{found.too_large:,} too large"))
    words = [count(found.conversations, "conversation"), size(found.bytes)]
    if found.newest:
        words.append(f"the newest {age(seconds_of(found.newest), now)} ago")
    warning, color = expiry_words(found)
    return replace(row, words="  ·  ".join(words), parts=parts, total=found.conversations, warning=warning,
                   color=color, folders=tuple(found.places))  # fmt: skip


def expiry_words(found: SourceFound) -> tuple[str, str]:
    """What the tool itself deletes, in a sentence, and its colour: a warning when it is soon, louder when something
    would be lost. Two empty words for a tool that keeps everything."""
    if not found.expires_days:
        return "", "hint"
    if not found.expiring:
        first = f"; the first on {local_day(found.next_expiry[:10])}" if found.next_expiry else ""
        return f"{found.title} deletes what is older than {count(found.expires_days, 'day')}{first}", "hint"
    soon = f"{found.title} deletes {found.expiring:,} of them within {SOON_DAYS} days"
    lost = found.expiring_unharvested
    return (f"{soon}, {lost:,} not harvested yet", "failed") if lost else (f"{soon}; all are harvested", "edited")


def summary(rows: Sequence[SourceRow], report: SourcesReport) -> str:
    """The line above the rows."""
    tools = sum(row.found for row in rows if row.name != HOME)
    total = sum(row.conversations for row in report.rows)
    if not tools:
        return f"No other tool left anything here  ·  {count(total, 'conversation')} in all"
    return f"{count(tools, 'other tool')} left something here  ·  {total:,} conversations in all"


def named_paths(picked: Sequence[str]) -> list[str]:
    """Files and folders that the settings name beside the tools."""
    return [name for name in picked if known_name(name) not in (*NAMES, ALL)]


def switched(picked: Sequence[str], name: str, on: bool) -> list[str]:
    """The setting with one source switched on or off; every other word of it stays as it was written."""
    named = {known_name(one) for one in picked}
    if on:
        return [*picked] if named & {name, ALL} else [*picked, name]
    spread = [part for one in picked for part in (NAMES if known_name(one) == ALL else (one,))]
    return [one for one in dict.fromkeys(spread) if known_name(one) != name]


def switch_source(workspace: Workspace, name: str, on: bool) -> Result[tuple[str, ...]]:
    """Switch one source on or off in the settings as they are on disk now; what they are then."""
    opened = reopened(workspace)
    if isinstance(opened, Err):
        return opened
    words = json.dumps(switched(opened.value.config.sources, name, on), ensure_ascii=False)
    done: Result[Settings] = config_set(opened.value, KEY, words)
    if isinstance(done, Err):
        return done
    return Ok(next((tuple(row.value) for row in done.value.settings if row.key == KEY), ()))
