"""Where what the library holds is found outside it: the page or lines of a chunk, and the file of a document, which may
have moved or gone since it was read.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Integer, case, cast, func, select

from core.library import schema
from core.library.fetch import is_address
from core.library.rows import among
from core.library.searched import is_gone

_NO_LINES = (".pdf", ".docx", ".html", ".htm", ".xhtml", ".ipynb")
"""Suffixes of files whose text has other lines than they have."""


def _number(mark: str, text: Any) -> Any:
    return func.length(text) - func.length(func.replace(text, mark, ""))


def standing_at(connection: Connection, chunks: Sequence[str]) -> dict[str, str]:
    """Chunk -> where it stands in its document, as somebody looks it up: `page 3`, `pages 3 to 4`, `lines 10 to 25`. A
    conversation, a web page and a converted file have none."""
    c, d = schema.chunk.c, schema.document.c
    before = func.substr(d.raw_content, 1, c.begins)
    inside = func.substr(d.raw_content, c.begins + 1, c.ends - c.begins)
    paged = (d.content_type != "code") & (_number("\f", d.raw_content) > 0)
    columns = [
        case((paged, _number("\f", part)), else_=_number("\n", part)).label(name)
        for name, part in (("first", before), ("more", inside))
    ]
    asked = select(c.id, d.source, cast(paged, Integer).label("paged"), *columns)
    joined = asked.join(schema.document, d.id == c.document_id).where(d.content_type != "conversation")
    found: dict[str, str] = {}
    for row in among(connection, joined, c.id, chunks):
        if row.paged or not (is_address(row.source) or row.source.lower().endswith(_NO_LINES)):
            name, first, last = "page" if row.paged else "line", row.first + 1, row.first + row.more + 1
            found[row.id] = f"{name} {first}" if first == last else f"{name}s {first} to {last}"
    return found


# --- files ------------------------------------------------------------------------------------------------------------

MAX_LOOKED_AT = 20_000
"""Files among which those that have moved are looked for."""
_REDACTED = "[redacted:"


@dataclass(frozen=True)
class Known:
    """A file that the library has read: its path, what it was (`Location.state`), the domain of its source and the
    documents in it, by the name of their place."""

    path: str
    state: str
    domain: str
    documents: Mapping[str, str]


def known_files(connection: Connection) -> list[Known]:
    """The files that active documents come from. A conversation in an export counts as its file; a path in which a
    secret was replaced leads nowhere and is left out."""
    d, place, p = schema.document.c, schema.location.c, schema.source_profile.c
    asked = select(place.source, place.state, place.document_id, p.domain).join(
        schema.document, d.id == place.document_id
    )
    joined = asked.outerjoin(schema.source_profile, p.id == d.source_profile_id)
    found: dict[str, Known] = {}
    for row in connection.execute(joined.where(d.status == "active").order_by(place.source)):
        if is_address(row.source) or _REDACTED in row.source:
            continue
        export, _, inside = row.source.rpartition("#")
        path = export if inside and export and not os.path.lexists(row.source) else row.source
        before = found.get(path)
        documents = {**(before.documents if before else {}), row.source: row.document_id}
        found[path] = Known(path, row.state, row.domain or "", documents)
    return list(found.values())


def state_of(path: str) -> str:
    """Size, time and number of a file, as `Location.state` keeps them; "" where there is none."""
    try:
        seen = os.stat(path)
    except OSError:
        return ""
    return f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ino}"


def without_file(connection: Connection, documents: Sequence[str]) -> set[str]:
    """Those of these documents of which no file is there any more. A server's library does not know this computer's
    files."""
    if connection.dialect.name != "sqlite" or not documents:
        return set()
    place, stands = schema.location.c, dict[str, bool]()
    asked = select(place.document_id, place.source).where(place.document_id.in_(documents))
    for document, source in connection.execute(asked):
        stands[document] = stands.get(document, False) or not is_gone(source)
    return {document for document, there in stands.items() if not there}


def moved_to(gone: Sequence[Known], known: Sequence[Known]) -> dict[str, str]:
    """Old path -> new one, of files that stand under another name in a folder that the library knows, or directly
    below or above one: the same file, by its number, size and time."""
    wanted = {file.state: file.path for file in gone if file.state}
    folders = {os.path.dirname(file.path) for file in known}
    folders |= {os.path.dirname(folder) for folder in folders}
    taken, left, found = {file.path for file in known}, MAX_LOOKED_AT, dict[str, str]()
    for folder in sorted(folders):
        for path in _files_in(folder):
            left -= 1
            if left < 0:
                return found
            if path not in taken and (old := wanted.get(state_of(path))) is not None:
                found[old] = path
    return found


def _files_in(folder: str) -> Iterator[str]:
    """The files of a folder and of the folders in it."""
    for pattern in ("*", "[!.]*/*"):
        with contextlib.suppress(OSError):
            yield from (
                str(path) for path in sorted(Path(folder).glob(pattern)) if path.is_file() and not path.is_symlink()
            )


def move(connection: Connection, file: Known, path: str) -> None:
    """The documents of a file stand at another path now."""
    place, d = schema.location.c, schema.document.c
    for source, document in file.documents.items():
        to = path + source.removeprefix(file.path)
        connection.execute(schema.location.delete().where(place.source == to))
        connection.execute(schema.location.update().where(place.source == source).values(source=to))
        changed = schema.document.update().where(d.id == document, d.source == source)
        connection.execute(changed.values(source=to))


def leave(connection: Connection, file: Known) -> bool:
    """Forget the path of a file that is gone where all its documents are found elsewhere too; whether that was so."""
    place, d = schema.location.c, schema.document.c
    others: dict[str, str] = {}
    for source, document in file.documents.items():
        asked = select(place.source).where(place.document_id == document, place.source != source)
        standing = [one for one in connection.execute(asked).scalars() if is_address(one) or state_of(one)]
        if not standing:
            return False
        others[source] = standing[0]
    for source, other in others.items():
        connection.execute(schema.location.delete().where(place.source == source))
        changed = schema.document.update().where(d.id == file.documents[source], d.source == source)
        connection.execute(changed.values(source=other))
    return True
