"""The text of `knowledge import`: each file with what it brings."""

from __future__ import annotations

from core.cli.figures import count
from core.cli.text import fed, one_line
from core.commands.imports import ImportReport

SHOWN = 200


def imports_text(report: ImportReport) -> str:
    """A dry run shows every item (the first `SHOWN` of them); an import tells what became of the files."""
    lines: list[str] = []
    left = 0 if report.applied else SHOWN
    for row in report.rows:
        number = f": {count(len(row.items), 'item')}" if row.items else ""
        lines.append(f"{one_line(row.path)} ({row.status}){number}")
        lines += [f"  {item.category:<10}  {one_line(item.text)}{_held(item.held)}" for item in row.items[:left]]
        left = max(0, left - len(row.items))
    total = sum(report.items.values())
    told = ", ".join(f"{name}:{number}" for name, number in report.items.items())
    told = f" ({told})" if told else ""
    if report.applied:
        lines.append(f"imported: {count(total, 'item')} of {count(report.imported, 'file')}{told}")
        lines += [f"'knowledge undo {report.run}' takes this back"] if report.run else []
        lines += fed(report.facts)
    else:
        lines.append(f"would import: {count(total, 'item')}{told}")
        lines.append("dry run; pass --apply to import")
    if report.skipped:
        lines.append("left out: " + ", ".join(f"{kind}:{number}" for kind, number in sorted(report.skipped.items())))
    return "\n".join(lines + [f"note: {one_line(note)}" for note in report.notes]) + "\n"


def _held(why: str) -> str:
    return f"  [to the quarantine: {why}]" if why else ""
