"""What became of things, and the way back: `ledger`, `trash`, `undo`, `missing`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import NAMED, flag, group, needed, option, optional, single
from core.cli.text import KEY_CHARACTERS, count, one_line, size

if TYPE_CHECKING:
    from core.commands.history import LedgerRow
    from core.commands.missing import Missing, Settled
    from core.commands.runs import Run, UndoReport
    from core.commands.trash import PurgeReport, ReleasedFromTrash, Restored, Trashed


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
        name, at = str(entry.get("path", "")).rstrip("/").rpartition("/")[2], str(entry.get("at", ""))[:19]
        lines.append(f"{key}  {at}  {entry.get('status', '?'):<19}  {one_line(name)}  {one_line(detail)}".rstrip())
    return "\n".join([*lines, count(len(rows), "entry").replace("entrys", "entries")]) + "\n"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}:{number}" for name, number in value.items())
    return one_line(value)


# --- trash -----------------------------------------------------------------------------------------------------------


def trash_text(value: list[Trashed]) -> str:
    rows = []
    for row in value:
        name = row.name[:KEY_CHARACTERS] if row.sha256 else row.name
        rows.append(f"{name}  until {row.until[:10]}  {size(row.size):>8}  {row.path or '?'}")
    total = sum(row.size for row in value)
    return "\n".join([*rows, f"{count(len(value), 'conversation')}, {size(total)}"]) + "\n"


def restored_text(value: Restored) -> str:
    return f"restored: {value.path}\n" + (f"note: {value.note}\n" if value.note else "")


def released_text(value: ReleasedFromTrash) -> str:
    rows = [f"released: {one_line(path)}" for path in value.paths]
    return "\n".join([*rows, "note: the next 'knowledge harvest --apply' may take it away again"]) + "\n"


def purged_text(value: PurgeReport) -> str:
    kept = f", {value.waiting} still in their grace period" if value.waiting else ""
    return f"purged: {count(len(value.purged), 'conversation')}, {size(value.bytes)}{kept}\n"


# --- undo and missing ------------------------------------------------------------------------------------------------


def undo_text(value: list[Run] | UndoReport) -> str:
    """The runs that there are, or what taking one back did."""
    return runs_text(value) if isinstance(value, list) else undone_text(value)


def undone_text(value: UndoReport) -> str:
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


def runs_text(value: list[Run]) -> str:
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


def missing_text(value: list[Missing]) -> str:
    if not value:
        return "nothing is missing\n"
    lost, edited = [row for row in value if not row.single], [row for row in value if row.single]
    rows = _missing(lost)
    if lost:
        rows.append(
            f"{_lines(lost)} missing: 'knowledge missing restore' puts back, 'knowledge missing accept' lets go"
        )
    if edited:
        rows += [*_missing(edited), f"{_lines(edited)} {_BY_HAND}"]
    return "\n".join(rows) + "\n"


_BY_HAND = (
    "gone beside others that stand, as an edit by hand leaves it: 'knowledge missing restore HASH' puts them back"
)


def settled_text(value: Settled) -> str:
    found = list(value.rows)
    left = [f"{count(value.single, 'line')} {_BY_HAND}"] if value.single else []
    if not found:
        return "\n".join(left or ["nothing is missing"]) + "\n"
    rows = [*_missing(found), f"{_lines(found)} {'put back' if value.restored else 'gone on purpose'}", *left]
    rows.append(f"'knowledge undo {value.run}' takes this back")
    return "\n".join(rows + [f"note: {value.warning}"] * bool(value.warning)) + "\n"


def _missing(found: list[Missing]) -> list[str]:
    rows = []
    for row in found:
        rows.append(f"{row.sha256[:KEY_CHARACTERS]}  {row.file}  {one_line(row.path.rpartition('/')[2])}")
        rows += [f"    {line}" for line in row.lines]
    return rows


def _lines(found: list[Missing]) -> str:
    return count(sum(len(row.lines) for row in found), "line")


_SHA = needed("which", "the beginning of its hash, as 'knowledge trash' lists it", "SHA")
_MISSING = ".missing:missing"
_OF = optional("which", "a run, or the beginning of a hash; all without it")
COMMANDS = (
    single(
        "ledger",
        "the audit log: what became of each conversation",
        "--status harvest-failed",
        ".history:ledger",
        ledger_text,
        optional("sha", "only the entry whose hash begins with this"),
        option("--status", "only entries of this status", "S"),
        option("--project", "say in which project this conversation was held: its folder, or 'none'", "DIR"),
        words=NAMED,
    ),
    group(
        "trash",
        "reclaimed conversations: list, restore SHA, release SHA, purge",
        "restore 3fa9",
        single("list", "what lies in the trash, and until when", "", ".trash:trash_list", trash_text, words=NAMED),
        single(
            "restore",
            "put a conversation back where it was",
            "3fa9",
            ".trash:trash_restore",
            restored_text,
            _SHA,
            words=NAMED,
        ),
        single(
            "release", "let a restored one go again", "3fa9", ".trash:trash_release", released_text, _SHA, words=NAMED
        ),
        single(
            "purge",
            "remove for good what has outlived its grace period",
            "",
            ".trash:trash_purge",
            purged_text,
            flag("--all", "also conversations still in their grace period", dest="everything"),
            words=NAMED,
        ),
    ),
    single(
        "undo",
        "take back one run or one edit (without a name: list them)",
        "20260612T142300-a1b2c3",
        ".history:undo_command",
        undo_text,
        optional("run", "the id of the run"),
    ),
    group(
        "missing",
        "harvested lines that vanished from the files: list, restore, accept",
        "restore",
        single("list", "which lines, and of which conversation", "", ".missing:missing_list", missing_text, _OF),
        single("restore", "put them back", "", _MISSING, settled_text, _OF, given={"action": "restore"}),
        single("accept", "they are gone on purpose", "3fa9", _MISSING, settled_text, _OF, given={"action": "accept"}),
    ),
)
