"""`knowledge sources` and `knowledge import`: conversations and memories that other tools keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import flag, needed, optional, single
from core.cli.text import count, fed, one_line, size

if TYPE_CHECKING:
    from core.commands.harvest import ImportReport
    from core.commands.sources import SourceFound, SourcesReport

ITEMS_SHOWN = 200
"""So many items are shown before an import."""


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
    counted = ((row.harvested, "harvested"), (row.grown, "grown since"), (row.too_large, "too large"))
    states = [f"{number} {word}" for number, word in counted if number]
    states += [f"{row.new} new"] if row.new or not states else []
    number = count(row.conversations, "conversation")
    return f"{mark} {row.name:<{width}}  {number}, {size(row.bytes)}, newest {row.newest[:10]}: {', '.join(states)}"


def _expiry(row: SourceFound) -> list[str]:
    if not row.expires_days or not row.conversations:
        return []
    habit = f"{row.title} deletes what has not changed for {count(row.expires_days, 'day')}"
    if not row.expiring:
        return [f"{habit}; the next on {row.next_expiry[:10]}"]
    from core.commands.sources import SOON_DAYS

    lost = f", {row.expiring_unharvested} of them not harvested" if row.expiring_unharvested else ", all harvested"
    return [f"{habit}: {count(row.expiring, 'conversation')} within {count(SOON_DAYS, 'day')}{lost}"]


# --- import ----------------------------------------------------------------------------------------------------------


def imports_text(report: ImportReport) -> str:
    """A dry run shows every item (the first `ITEMS_SHOWN` of them); an import tells what became of the files."""
    lines: list[str] = []
    left = 0 if report.applied else ITEMS_SHOWN
    for row in report.rows:
        number = f": {count(len(row.items), 'item')}" if row.items else ""
        lines.append(f"{one_line(row.path)} ({row.status}){number}")
        lines += [f"  {item.category:<10}  {one_line(item.text)}{_held(item.held)}" for item in row.items[:left]]
        left = max(0, left - len(row.items))
    total = sum(report.items.values())
    items = ", ".join(f"{name}:{number}" for name, number in report.items.items())
    items = f" ({items})" if items else ""
    if report.applied:
        lines.append(f"imported: {count(total, 'item')} of {count(report.imported, 'file')}{items}")
        lines += [f"'knowledge undo {report.run}' takes this back"] if report.run else []
        lines += fed(report.facts)
    else:
        lines.append(f"would import: {count(total, 'item')}{items}")
        lines.append("dry run; pass --apply to import")
    if report.skipped:
        lines.append("left out: " + ", ".join(f"{kind}:{number}" for kind, number in sorted(report.skipped.items())))
    return "\n".join(lines + [f"note: {one_line(note)}" for note in report.notes]) + "\n"


def _held(why: str) -> str:
    return f"  [to the quarantine: {why}]" if why else ""


COMMANDS = (
    single(
        "sources",
        "list the conversations that other tools keep, how many there are, and when they expire",
        "--json",
        ".sources:sources",
        sources_text,
        optional("name", "only this source, with its places"),
    ),
    single(
        "import",
        "import what other tools remember: CLAUDE.md, MEMORY.md, memory banks (a dry run unless --apply)",
        ". --apply",
        ".harvest:import_memories",
        imports_text,
        needed("path", "a file, or a folder to look for memories in"),
        flag("--apply", "add the bullets; without it nothing changes"),
    ),
)
