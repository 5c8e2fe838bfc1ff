"""Where what the library holds is found outside it: the page or lines of a chunk, and the file of a document, which may
have moved or gone since it was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Integer, case, cast, func, select

from core.library import schema
from core.library.fetch import is_address
from core.library.rows import in_parts

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
    found: dict[str, str] = {}
    for part in in_parts(chunks):
        asked = select(c.id, d.source, cast(paged, Integer).label("paged"), *columns)
        joined = asked.join(schema.document, d.id == c.document_id)
        for row in connection.execute(joined.where(c.id.in_(part), d.content_type != "conversation")):
            if row.paged or not (is_address(row.source) or row.source.lower().endswith(_NO_LINES)):
                name, first, last = "page" if row.paged else "line", row.first + 1, row.first + row.more + 1
                found[row.id] = f"{name} {first}" if first == last else f"{name}s {first} to {last}"
    return found
