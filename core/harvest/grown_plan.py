"""The plan of a conversation that went on since its last harvest.

It holds the lines of the earlier plan that still stand beside the new ones: it alone proves all parts. A line of the
earlier plan that stands no more was the person's to remove, and neither it nor the same words come back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.base import files
from core.base.markdown import split_provenance
from core.base.paths import Paths
from core.knowledge.file_notes import note_now, read_records
from core.knowledge.journal import FrozenPlan
from core.knowledge.lines import PlannedFile, missing_lines


def onto(paths: Paths, plan: FrozenPlan, earlier: FrozenPlan) -> FrozenPlan:
    """A plan with what still stands of the earlier one, without what it had and stands no more. Raises OSError."""
    rows = {planned.name: planned for planned in plan.files}
    notes = dict(plan.notes)
    for old in earlier.files:
        row = earlier.notes.get(old.name.removeprefix("files/"))
        name = note_now(paths, old.name, old.all_lines, row) if old.all_lines else old.name
        if row is not None and name.removeprefix("files/") not in notes:
            notes |= {note: row for note, row in read_records(paths).items() if f"files/{note}" == name}
        here = files.read_or_empty(paths.knowledge / name) if old.all_lines else b""
        gone = {line.decode("utf-8") for line in missing_lines(here, old.all_lines)}
        said = {_words(line) for line in old.all_lines}
        new = rows.get(name, PlannedFile(name, old.header, ()))
        rows[name] = replace(
            new,
            lines=(*(line for line in old.lines if line not in gone), *_unsaid(new.lines, said)),
            done=(*(line for line in old.done if line not in gone), *_unsaid(new.done, said)),
        )
    kept = tuple(row for row in rows.values() if row.all_lines or row.name in {one.name for one in plan.files})
    return replace(plan, files=kept, notes=notes)


def _words(line: str) -> str:
    return split_provenance(line.removeprefix("- "))[0]


def _unsaid(lines: Sequence[str], said: set[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if _words(line) not in said)
