"""Facts and the lines they were made of follow each other: a fact goes or is reworded with its line, and what the user
does to a fact is done to its lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from core.base import files
from core.base.checked_lines import Record
from core.base.conflict import may_conflict
from core.base.entry import as_fact, statement_key, statement_mark
from core.base.markdown import BY_HAND, Bullet, Provenance, parse_bullets
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.commands.statements import Found, LineChange, bullets_of, change_lines
from core.commands.text import count
from core.commands.workspace import Clock, Workspace
from core.factindex.feed import OF_CATEGORY
from core.factindex.follow import Bullets
from core.knowledge.bullet_text import clean_text
from core.knowledge.categories import CATEGORY_FILES, note_files, read_text
from core.knowledge.changes import Change, read_changes
from core.knowledge.removed import read_removed

LINE_STAYS = "the fact was changed, its line not"


def bullets_of_store(paths: Paths) -> Bullets | None:
    """What the category files and notes say, as facts would; None while one of them cannot be trusted: it stands in
    a merge conflict, or was there and is gone. Raises OSError when one cannot be read: facts that did not follow a
    removal must not pass for settled."""
    told, sure = bullets_told(paths)
    return told if sure else None


def bullets_told(paths: Paths) -> tuple[Bullets, bool]:
    """The same for who only reads, and whether every file can be trusted: what none of them says now is not told."""
    sure = True
    live: dict[str, str] = {}
    changes = read_changes(paths)
    known = {row.file for row in changes}
    removed = read_removed(paths)  # without what expired: that stands, though nobody is told it
    standing: dict[str, list[Bullet]] = {}
    for file in (*CATEGORY_FILES, *(f"files/{note.name}" for note in note_files(paths))):
        path = paths.knowledge / file
        text = read_text(path)
        if may_conflict(text) or (file in CATEGORY_FILES and file in known and not files.exists(path)):
            sure = False
        standing[file] = parse_bullets(text)
        rows = (row for row in standing[file] if not row.struck and not removed.keeps_away(row))
        live.update((statement_mark(text), text) for text in (as_fact(row.text) for row in rows))
    away = frozenset(statement_mark(as_fact(row.text)) for row in removed.rows)
    replaced = _replaced_in_editor(changes, standing) | _replaced(changes)
    return Bullets(live, replaced, away, removed.is_purged), sure


def _replaced(changes: Iterable[Change]) -> dict[str, str]:
    """What edits put in the place of a line: the mark of the old words -> the new ones."""
    found: dict[str, str] = {}
    for row in changes:
        if row.sha or len(row.removed) != len(row.added):
            continue
        for was, now in zip(parse_bullets("\n".join(row.removed)), parse_bullets("\n".join(row.added)), strict=False):
            old, new = as_fact(was.text), as_fact(now.text)
            if was.provenance == now.provenance and not now.struck and statement_key(old) != statement_key(new):
                found[statement_mark(old)] = new
    return found


def _replaced_in_editor(changes: Iterable[Change], standing: Mapping[str, Sequence[Bullet]]) -> dict[str, str]:
    """The same where no edit tells it: of one conversation a single line that was written is gone from a file, and a
    single one stands there that nobody has told of."""
    told: dict[str, set[str]] = {}
    wrote: dict[str, set[str]] = {}
    for row in changes:
        told.setdefault(row.file, set()).update(row.added)
        wrote.setdefault(row.file, set()).difference_update(row.removed)
        wrote[row.file].update(row.added)
    found: dict[str, str] = {}
    for file, rows in standing.items():
        new: dict[Provenance, list[str]] = {}
        for bullet in rows:
            if bullet.provenance is not None and not bullet.struck and bullet.raw not in told.get(file, ()):
                new.setdefault(bullet.provenance, []).append(as_fact(bullet.text))
        if not new:
            continue
        here = {bullet.raw for bullet in rows}
        gone: dict[Provenance, list[str]] = {}
        for bullet in parse_bullets("\n".join(sorted(wrote.get(file, set()) - here))):
            if bullet.provenance in new:
                gone.setdefault(bullet.provenance, []).append(as_fact(bullet.text))
        pairs = ((old, new[came]) for came, old in gone.items())
        found |= {statement_mark(old[0]): now[0] for old, now in pairs if len(old) == len(now) == 1}
    return found


def change_bullets(
    workspace: Workspace,
    dropped: Mapping[str, Sequence[str]],
    reworded: Mapping[str, tuple[str, str]],
    run: str,
    now: Clock,
) -> tuple[list[str], list[Record]]:
    """Do to bullets of conversations what the user did to their facts: what the user wrote by hand is their word.
    Sentences about it, and the records of what is done with; what could not be done is tried again by the next sync."""
    notes: list[str] = []
    records: list[Record] = []
    lines: dict[str, dict[str, list[Found]]] = {}
    for row in bullets_of(workspace.paths, tuple(OF_CATEGORY)):
        mark, came = statement_mark(as_fact(row.bullet.text)), row.bullet.provenance
        if not row.bullet.struck and came is not None and came.source != BY_HAND:
            lines.setdefault(mark, {}).setdefault(row.file, []).append(row)
    for mark, (name, fact) in reworded.items():  # first, for other words move no line below them
        for rows in lines.get(mark, {}).values():
            text = _in_place_of(rows[0].bullet.text, fact)
            if statement_mark(as_fact(clean_text(text))) != statement_mark(fact):
                continue  # a line cannot say it in these words, and stays as it is
            if problem := _changed(workspace, "edit", rows, text, run, now):
                notes.append(problem)
            else:
                records.append({"t": "reworded", "id": name, "mark": statement_mark(fact)})
    by_file: dict[str, list[Found]] = {}
    for mark in dropped:
        for file, rows in lines.get(mark, {}).items():
            by_file.setdefault(file, []).extend(rows)
    failed = set()
    for file, rows in by_file.items():
        if problem := _changed(workspace, "delete", rows, "", run, now):
            notes.append(problem)
            failed.add(file)
    records += [
        {"t": "told", "ids": sorted(ids)} for mark, ids in dropped.items() if failed.isdisjoint(lines.get(mark, {}))
    ]
    if not run and (gone := sum(len(rows) for file, rows in by_file.items() if file not in failed)):
        notes.append(f"{count(gone, 'bullet')} taken out, as their facts were ('knowledge undo' takes it back)")
    return notes, records


def _changed(workspace: Workspace, act: str, rows: Sequence[Found], text: str, run: str, now: Clock) -> str:
    """What went wrong, in words, or ""."""
    change = LineChange(act, [row.ref for row in rows], text, keep_secrets=True, run=run)
    try:
        change_lines(workspace, change, now=now)
    except KnowledgeError as failed:
        return f"{LINE_STAYS}: {failed.error}"
    return ""


def _in_place_of(bullet: str, fact: str) -> str:
    """The text of a bullet with other words for what is its fact: the stars of a playbook's name and a detail that is
    too long for a fact stay."""
    plain, old = bullet.replace("**", "", 2) if bullet.startswith("**") else bullet, as_fact(bullet)
    name, colon, rest = fact.partition(": ")
    starred = f"**{name}**: {rest}" if bullet.startswith("**") and colon else fact
    return starred + (plain.removeprefix(old) if len(plain) > len(old) else "")
