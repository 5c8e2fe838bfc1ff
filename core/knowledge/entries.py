"""What the knowledge folder yields to the search: the bullets of the category files and of the per-file notes.

Struck bullets are history, and what lies in quarantine is not knowledge yet: neither is yielded.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from core.base.entry import Entry, SearchSource
from core.base.markdown import Bullet, parse_bullets, without_emphasis
from core.base.paths import PROJECT_FOLDER, Paths
from core.knowledge.categories import CATEGORIES, CATEGORY_FILES, bullets_in, note_files, text_in


def sources(paths: Paths, project: str = "") -> list[SearchSource]:
    """One source for each file that holds bullets. `project` is the folder that the store belongs to, "": none.
    Raises OSError when the notes cannot be listed."""
    begin = f"bullets:{project}:" if project else "bullets:"
    found = [
        SearchSource(f"{begin}{file}", paths.knowledge / file, partial(_bullets, paths.knowledge / file, project))
        for file in CATEGORY_FILES
    ]
    return found + [
        SearchSource(f"{begin}files/{note.name}", note, partial(_notes, note, project)) for note in note_files(paths)
    ]


def _bullets(path: Path, project: str, data: bytes) -> Sequence[Entry]:
    text = text_in(data)
    found = []
    for row in CATEGORIES:
        if row.file != path.name:
            continue
        tags = ("tasks", row.name) if row.name.startswith("tasks") else (row.name,)
        for bullet in bullets_in(text, row.name):
            if not bullet.struck:
                found.append(_entry("bullet", _named(path.name, project), path, bullet, tags, project))
    return found


def _notes(path: Path, project: str, data: bytes) -> Sequence[Entry]:
    text = text_in(data)
    source = noted_file(text)
    folder = project or source.replace("\\", "/").rpartition("/")[0]
    file = _named(f"files/{path.name}", project)
    rows = [bullet for bullet in parse_bullets(text) if not bullet.struck]
    return [_entry("note", file, path, bullet, ("files",), folder, source) for bullet in rows]


def _named(file: str, project: str) -> str:
    """A file as commands take it; one of a project's own by its path there, for they change those of the home alone."""
    return f"{PROJECT_FOLDER}/knowledge/{file}" if project else file


def noted_file(text: str) -> str:
    """The source file that a note is about, which its first line names (`# /home/…/app.py`), "" for none."""
    first = text.split("\n", 1)[0].strip()
    return first[2:].strip() if first.startswith("# ") else ""


def _entry(
    kind: str, file: str, path: Path, bullet: Bullet, tags: tuple[str, ...], project: str, title: str = ""
) -> Entry:
    """`key` is FILE:LINE, which the commands for single bullets take."""
    source = bullet.provenance
    text = "\n".join([without_emphasis(bullet.text), *(line.strip() for line in bullet.more)])
    return Entry(
        kind,
        f"{file}:{bullet.line}",
        title,
        text,
        source.date if source is not None else "",
        str(source) if source is not None else "",
        tags,
        project,
        str(path),
    )
