"""The text of `search`."""

from __future__ import annotations

from core.base.markdown import split_lines
from core.cli.figures import count
from core.cli.text import one_line
from core.commands.search import SearchReport

LINES = 6


def search_text(report: SearchReport) -> str:
    """Each hit with its number; below it, where it stands and why it was found."""
    if not report.hits:
        return f"nothing found for {one_line(report.query)!r} in {_entries(report.entries)}\n"
    rows = []
    for number, hit in enumerate(report.hits, start=1):
        entry = hit.entry
        lines = split_lines(entry.text) or [""]
        rows.append(f"{number}. {lines[0]} {entry.provenance}".rstrip())
        rows += [f"   {line}" for line in lines[1:LINES]]
        if len(lines) > LINES:
            rows.append(f"   … {count(len(lines) - LINES, 'line')} more")
        about = [f"{entry.kind} {one_line(entry.key)}"]
        about += [one_line(entry.title)] if entry.kind == "note" and entry.title else []
        about += [one_line(", ".join(entry.tags))] if entry.tags and entry.kind != "note" else []
        rows.append(f"   ({'; '.join([*about, one_line(', '.join(hit.why))])})")
        rows += [f"   also {one_line(source)}" for source in hit.confirmations]
    return "\n".join([*rows, f"{count(len(report.hits), 'hit')} shown, {_entries(report.entries)} searched"]) + "\n"


def _entries(number: int) -> str:
    return count(number, "entry").replace("entrys", "entries")
