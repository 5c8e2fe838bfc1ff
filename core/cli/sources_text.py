"""The text of `knowledge sources`: one line a source that has anything, then what a person should know."""

from __future__ import annotations

from core.cli.figures import count, size
from core.cli.text import one_line
from core.commands.sources import SOON_DAYS, SourceFound, SourcesReport


def sources_text(report: SourcesReport) -> str:
    """A table of what was found; places only for one that was asked for alone."""
    alone = len(report.rows) == 1
    shown = [row for row in report.rows if row.conversations or row.picked or alone]
    absent = [row.name for row in report.rows if row not in shown]
    width = max([len(row.name) for row in shown], default=0)
    lines = [_row(row, width) for row in shown]
    if alone:
        lines += [f"  {one_line(place)}" for place in report.rows[0].places]
    if absent:
        lines.append(f"nothing of: {', '.join(absent)}")
    lines += [line for row in shown for line in _expiry(row)]
    unpicked = [row.name for row in shown if not row.picked and row.conversations]
    if unpicked and not alone:
        name = unpicked[0]
        lines.append(f"* is read by 'knowledge harvest'; 'knowledge harvest --source {name}' reads another, and")
        lines.append(f"""  knowledge config set sources '["home", "{name}"]' makes it one of them""")
    return "\n".join(lines + [f"note: {one_line(note)}" for note in report.notes]) + "\n"


def _row(row: SourceFound, width: int) -> str:
    mark = "*" if row.picked else " "
    if not row.conversations:
        return f"{mark} {row.name:<{width}}  nothing found"
    told = [f"{number} {word}" for number, word in ((row.harvested, "harvested"), (row.grown, "grown since")) if number]
    told += [f"{row.too_large} too large"] if row.too_large else []
    told += [f"{row.new} new"] if row.new or not told else []
    number = count(row.conversations, "conversation")
    return f"{mark} {row.name:<{width}}  {number}, {size(row.bytes)}, newest {row.newest[:10]}: {', '.join(told)}"


def _expiry(row: SourceFound) -> list[str]:
    if not row.expires_days or not row.conversations:
        return []
    told = f"{row.title} deletes what has not changed for {count(row.expires_days, 'day')}"
    if not row.expiring:
        return [f"{told}; the next on {row.next_expiry[:10]}"]
    lost = f", {row.expiring_unharvested} of them not harvested" if row.expiring_unharvested else ", all harvested"
    return [f"{told}: {count(row.expiring, 'conversation')} within {count(SOON_DAYS, 'day')}{lost}"]
