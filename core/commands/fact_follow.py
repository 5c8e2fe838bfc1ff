"""Facts and the lines they were made of follow each other: a fact goes or is reworded with its line, and what the user
does to a fact is done to its lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from core.base import files
from core.base.conflict import may_conflict
from core.base.entry import statement_key, statement_mark
from core.base.markdown import parse_bullets
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.commands.statements import bullets_of, change_lines
from core.commands.workspace import Clock, Workspace
from core.factindex.facts import as_fact
from core.factindex.follow import Bullets
from core.knowledge.bullet_text import BulletRef
from core.knowledge.categories import CATEGORY, CATEGORY_FILES, note_files, read_text
from core.knowledge.changes import Change, read_changes
from core.knowledge.removed import read_removed

LINE_STAYS = "the fact was changed, its line not"


def bullets_of_store(paths: Paths) -> Bullets | None:
    """What the category files and notes say, as facts would; None while one of them cannot be trusted: it stands in
    a merge conflict, or was there and is gone. Raises OSError when one cannot be read: facts that did not follow a
    removal must not pass for settled."""
    live: set[str] = set()
    changes = read_changes(paths)
    known = {row.file for row in changes}
    removed = read_removed(paths)  # without what expired: that stands, though nobody is told it
    for file in (*CATEGORY_FILES, *(f"files/{note.name}" for note in note_files(paths))):
        path = paths.knowledge / file
        text = read_text(path)
        if may_conflict(text) or (file in CATEGORY_FILES and file in known and not files.exists(path)):
            return None
        rows = (row for row in parse_bullets(text) if not row.struck and not removed.keeps_away(row))
        live.update(statement_mark(as_fact(row.text)) for row in rows)
    away = frozenset(statement_mark(as_fact(row.text)) for row in removed.rows)
    return Bullets(frozenset(live), _replaced(changes), away, removed.is_purged)


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


def change_bullets(
    workspace: Workspace, dropped: Collection[str], reworded: Mapping[str, str], run: str, now: Clock
) -> list[str]:
    """Do to bullets what the user did to their facts; sentences about what could not be done."""
    notes: list[str] = []
    by_words: dict[tuple[str, str, str], list[BulletRef]] = {}
    for row in bullets_of(workspace.paths, tuple(CATEGORY)):
        mark = statement_mark(as_fact(row.bullet.text))
        if not row.bullet.struck and (mark in dropped or mark in reworded):
            by_words.setdefault((row.file, mark, row.bullet.text), []).append(row.ref)
    for (_, mark, text), refs in by_words.items():
        new = _in_place_of(text, reworded[mark]) if mark in reworded else ""
        try:
            change_lines(workspace, "edit" if new else "delete", refs, new, keep_secrets=True, run=run, now=now)
        except KnowledgeError as failed:
            notes.append(f"{LINE_STAYS}: {failed.error}")
    return notes


def _in_place_of(bullet: str, fact: str) -> str:
    """The text of a bullet with other words for what is its fact: the stars of a playbook's name and a detail that is
    too long for a fact stay."""
    plain, old = bullet.replace("**", "", 2) if bullet.startswith("**") else bullet, as_fact(bullet)
    name, colon, rest = fact.partition(": ")
    starred = f"**{name}**: {rest}" if bullet.startswith("**") and colon else fact
    return starred + (plain.removeprefix(old) if len(plain) > len(old) else "")
