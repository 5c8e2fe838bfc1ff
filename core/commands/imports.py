"""`knowledge import`: what other tools remember, as bullets of our own."""

from __future__ import annotations

import os
from pathlib import Path

from core.base.result import KnowledgeError, Ok, attempt
from core.commands.harvest import feed_facts
from core.commands.harvest_options import HarvestRequest, harvest_options
from core.commands.row import flag, needed, top
from core.commands.text import count, fed, one_line
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.imports import ImportReport, plan_import, run_import
from core.knowledge.ledger import rebuild, seen_ledger
from core.knowledge.swap import EDITOR_WAIT, EditorWait


def import_memories(
    workspace: Workspace, path: str, *, apply: bool = False, now: Clock = utc_now, editor_wait: EditorWait = EDITOR_WAIT
) -> ImportReport:
    """A dry run, or with `apply` the import. Raises KnowledgeError when nothing is there or the store cannot be
    used."""
    if not path.strip():
        raise KnowledgeError("usage", "which file or folder?", hint="'knowledge import .' takes the current folder")
    where = Path(os.path.abspath(workspace.cwd / os.path.expanduser(path)))
    if not apply:
        ledger = attempt(seen_ledger, workspace.paths)
        entries = ledger.value if isinstance(ledger, Ok) else rebuild(workspace.paths)
        return plan_import(workspace.paths, where, entries, secrets=workspace.config.redact)
    options = harvest_options(workspace, HarvestRequest(), editor_wait)
    done = run_import(workspace.paths, where, options, now)
    if done.imported:
        feed_facts(workspace, done, now)
    return done


ITEMS_SHOWN = 200
"""This many items are shown before an import."""


def imports_text(report: ImportReport) -> str:
    """A dry run shows every item (the first `ITEMS_SHOWN` of them); an import tells what became of the files."""
    lines: list[str] = []
    left = 0 if report.applied else ITEMS_SHOWN
    for row in report.rows:
        number = f": {count(len(row.items), 'item')}" if row.items else ""
        lines.append(f"{one_line(row.path)} ({row.status}){number}")
        for item in row.items[:left]:
            held = f"  [to the quarantine: {item.held}]" if item.held else ""
            lines.append(f"  {item.category:<10}  {one_line(item.text)}{held}")
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


COMMANDS = (
    top(
        "import",
        ". --apply",
        import_memories,
        imports_text,
        needed("path", "a file, or a folder to look for memories in"),
        flag("--apply", "add the bullets; without it nothing changes"),
    ),
)
