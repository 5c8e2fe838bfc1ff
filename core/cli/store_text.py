"""The texts of the commands that work on bullets and on history."""

from __future__ import annotations

from core.base.markdown import Bullet
from core.cli.figures import count, size
from core.cli.text import one_line
from core.commands.bullets import Notes
from core.commands.doctor import DoctorReport
from core.commands.history import LedgerRow
from core.commands.missing import Missing, Settled
from core.commands.quarantine import HELD, HeldItem, Released, ReleasedMany
from core.commands.runs import Run
from core.commands.trash import LetGo, PurgeReport, Restored, Trashed
from core.commands.undo import UndoReport
from core.knowledge.edit import Edited

KEY_CHARACTERS = 12
SHOWN = 5000
"""So much of a held item is printed: a playbook that is somewhat too long in whole, a flood not."""


def notes_text(notes: Notes) -> str:
    if not notes.note and not notes.bullets:
        return f"{notes.path}: no notes\n"
    own = [_bullet(found.bullet) for found in notes.bullets if found.category == "files"]
    facts = [_bullet(found.bullet) for found in notes.bullets if found.category != "files"]
    rows = [notes.path, *own]
    if notes.note:
        rows.append(f"({notes.note})")
    if facts:
        rows += ["told of it before it was on this disk (facts.md):", *facts]
    return "\n".join(rows) + "\n"


def _bullet(bullet: Bullet) -> str:
    return "\n".join([bullet.raw, *bullet.more])


def change_text(edited: Edited) -> str:
    rows = [edited.file]
    rows += [f"  - {line.removeprefix('- ')}" for line in edited.removed]
    rows += [f"  + {line.removeprefix('- ')}" for line in edited.added]
    if not edited.removed and not edited.added:
        rows.append("  nothing to change: it is there already")
    elif edited.run:
        rows.append(f"'knowledge undo {edited.run}' takes this back")
    return "\n".join(rows + [f"note: {edited.warning}"] * bool(edited.warning)) + "\n"


def done_text(edited: Edited) -> str:
    return _moved_text(edited, "Done")


def reopen_text(edited: Edited) -> str:
    return _moved_text(edited, "Open")


def _moved_text(edited: Edited, section: str) -> str:
    """A task that is done says the same as before: what changed is where it stands."""
    tasks = [line for line in edited.removed if line.startswith("- ")]
    if not tasks or not set(tasks) <= set(edited.added):
        return change_text(edited)
    rows = [edited.file, *(f"  moved to {section}: {line.removeprefix('- ')}" for line in tasks)]
    rows += [f"'knowledge undo {edited.run}' takes this back", *([f"note: {edited.warning}"] if edited.warning else [])]
    return "\n".join(rows) + "\n"


def ledger_text(rows: list[LedgerRow]) -> str:
    if len(rows) == 1:
        row = rows[0]
        return f"{row.key}\n" + "".join(f"  {name}: {_value(value)}\n" for name, value in row.entry.items())
    lines = []
    for row in rows:
        entry = row.entry
        items = entry.get("items")
        number = sum(items.values()) if isinstance(items, dict) else 0
        held = f", {entry['quarantined']} held back" if entry.get("quarantined") else ""
        detail = entry.get("error") or (f"{count(number, 'item')}{held}" if items is not None else "")
        key = row.key[:KEY_CHARACTERS] if not row.key.startswith("path:") else "-" * KEY_CHARACTERS
        name = str(entry.get("path", "")).rstrip("/").rpartition("/")[2]
        name, detail = one_line(name), one_line(detail)
        lines.append(
            f"{key}  {str(entry.get('at', ''))[:19]}  {entry.get('status', '?'):<19}  {name}  {detail}".rstrip()
        )
    return "\n".join([*lines, count(len(rows), "entry").replace("entrys", "entries")]) + "\n"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{number}" for name, number in value.items())
    return one_line(value)


def trash_text(value: list[Trashed] | Restored | LetGo | PurgeReport) -> str:
    if isinstance(value, LetGo):
        rows = [f"released: {one_line(path)}" for path in value.paths]
        return "\n".join([*rows, "note: the next 'knowledge harvest --apply' may take it away again"]) + "\n"
    if isinstance(value, Restored):
        return f"restored: {value.path}\n" + (f"note: {value.note}\n" if value.note else "")
    if isinstance(value, PurgeReport):
        kept = f", {value.waiting} still in their grace period" if value.waiting else ""
        return f"purged: {count(len(value.purged), 'conversation')}, {size(value.bytes)}{kept}\n"
    rows = [
        f"{row.name[:KEY_CHARACTERS] if row.sha256 else row.name}  until {row.until[:10]}  {size(row.size):>8}  "
        f"{row.path or '?'}"
        for row in value
    ]
    total = sum(row.size for row in value)
    return "\n".join([*rows, f"{count(len(value), 'conversation')}, {size(total)}"]) + "\n"


def undo_text(value: list[Run] | UndoReport) -> str:
    if isinstance(value, UndoReport):
        if value.already:
            return "\n".join([f"already undone: {value.run}", *(f"note: {note}" for note in value.notes)]) + "\n"
        back, out = count(len(value.restored), "conversation"), count(value.lines_out, "line")
        rows = [
            f"undone: {value.run} ({back} restored, {value.forgotten} forgotten by the ledger, {out} taken out, "
            f"{count(value.lines_back, 'line')} brought back)"
        ]
        why = value.stayed_why
        rows += [f"stayed{f' ({why[line]})' if line in why else ''}: {line}" for line in value.stayed]
        rows += [f"gone before: {line}" for line in value.gone]
        return "\n".join(rows + [f"note: {note}" for note in value.notes]) + "\n"
    if not value:
        return "there is no run to undo\n"
    rows = []
    for run in value:
        what = f"{run.harvested} harvested, {run.reclaimed} reclaimed, " if run.kind == "harvest" else ""
        undone = "  (undone)" if run.undone else ""
        rows.append(f"{run.run}  {run.kind:<7}  {what}+{run.added} -{run.removed} lines{undone}")
        if run.text:
            rows.append(f"    {one_line(run.text)}")
    return "\n".join([*rows, "'knowledge undo RUN' takes one back"]) + "\n"


def missing_text(value: list[Missing] | Settled) -> str:
    found = list(value.rows) if isinstance(value, Settled) else value
    if not found:
        return "nothing is missing\n"
    number = count(sum(len(row.lines) for row in found), "line")
    rows = []
    for row in found:
        rows.append(f"{row.sha256[:KEY_CHARACTERS]}  {row.file}  {one_line(row.path.rpartition('/')[2])}")
        rows += [f"    {line}" for line in row.lines]
    if isinstance(value, Settled):
        rows.append(f"{number} {'put back' if value.restored else 'gone on purpose'}")
        rows.append(f"'knowledge undo {value.run}' takes this back")
        return "\n".join(rows + [f"note: {value.warning}"] * bool(value.warning)) + "\n"
    rows.append(f"{number} missing: 'knowledge missing restore' puts back, 'knowledge missing accept' lets go")
    return "\n".join(rows) + "\n"


def quarantine_text(value: list[HeldItem] | Released | ReleasedMany) -> str:
    if not isinstance(value, list):
        items = value.items if isinstance(value, ReleasedMany) else ((value.file, value.text),)
        rows = [f"{f'now in {file}' if file else 'dropped'}: {text}" for file, text in items]
        rows += [f"'knowledge undo {value.run}' takes this back"]
        return "\n".join(rows + [f"note: {value.warning}"] * bool(value.warning)) + "\n"
    rows = []
    for row in value:
        about = f" {row.path}" if row.path else ""
        text = row.text if len(row.text) <= SHOWN else f"{row.text[:SHOWN]}… ({len(row.text):,} characters in all)"
        rows.append(f"{row.number}  [{row.held or '?'}] {row.category}{about}: {text} {row.provenance}".rstrip())
        rows += [f'      quote: "{row.quote}"'] * bool(row.quote)
    marks = [mark for mark in HELD if any(row.held == mark for row in value)]
    rows.append(f"{count(len(value), 'item')} held back")
    if value:
        rows.append(f"note: {'; '.join(f'[{mark}] {HELD[mark]}' for mark in marks)}" if marks else "")
        rows.append(
            "'knowledge quarantine accept' lets one in, 'drop' removes it: by its words or number, --run or --all"
        )
    return "\n".join(row for row in rows if row) + "\n"


def doctor_text(report: DoctorReport) -> str:
    rows = []
    for found in report.findings:
        state = (
            "repaired" if found.repaired else "note" if found.note else "repairable" if found.repairable else "found"
        )
        rows.append(
            f"{state}: {found.message}{f' ({found.path})' if found.path and found.path not in found.message else ''}"
        )
    left = len(report.errors)
    end = "the store is whole" if not left else f"{count(left, 'problem')} left"
    if any(found.repairable and not found.repaired for found in report.findings):
        mends = "mends what can be mended" if left else "fixes what the notes mention"
        end += f"; 'knowledge doctor --repair' {mends}"
    return "\n".join([*rows, end]) + "\n"
