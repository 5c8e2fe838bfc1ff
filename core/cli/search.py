"""`knowledge search`: what was found, best first, each with where it stands and why it was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.base.choices import ENTRY_KINDS
from core.cli.table import Argument, Command, listed, option, repeated, whole_number
from core.cli.text import count, one_line

if TYPE_CHECKING:
    from core.commands.search import SearchReport, VectorsReport

LINES = 6
"""So many lines of one hit are shown."""


def search_text(report: SearchReport) -> str:
    """Each hit with its number; below it, where it stands and why it was found."""
    from core.base.markdown import split_lines

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


def vectors_text(report: VectorsReport) -> str:
    """How many entries can be found by meaning now."""
    return f"{_entries(report.entries)} can be found by meaning ({report.embedder})\n"


COMMANDS = (
    Command(
        "search",
        "find anything in the store, best first",
        "knowledge search port 8080 --kind bullet --since 2026-05",
        "core.commands.search:search",
        search_text,
        (
            Argument(("query",), "any words; in quotation marks: a phrase", {"nargs": "+", "metavar": "QUERY"}),
            option("--kind", f"only {listed(ENTRY_KINDS)}", "KIND", choices=ENTRY_KINDS),
            option("--since", "only what is dated from then on: 2026, 2026-05 or 2026-05-31", "DATE"),
            repeated("--tag", "only what has this tag, such as decisions (repeatable)", "T"),
            option("--project", "only what belongs to this folder", "DIR"),
            whole_number("--limit", "at most N hits (default: 10)", 10),
        ),
    ),
    Command(
        "vectors",
        "make what a search by meaning compares, all of it; a search itself makes some of it each time",
        "knowledge vectors",
        "core.commands.search:build_vectors",
        vectors_text,
        (option("--project", "with what belongs to this folder", "DIR"),),
    ),
)
