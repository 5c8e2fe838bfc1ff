"""A library as somebody sees it who may not be told all of it: documents of some places, and what was asked and
recorded in some projects. Every statement that reads then finds what may be told, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True)
class Told:
    """What may be told: documents from a `source` (a path or an address) that lay in a project, and uses of a
    `project`; that is the root of its folder, "" for none, None where nobody knows."""

    source: Callable[[str, str | None], bool]
    project: Callable[[str], bool]


_CHUNKS = "SELECT id FROM told_chunk"
_ENTITIES = f"SELECT id FROM document UNION ALL {_CHUNKS} UNION ALL SELECT id FROM concept"
_VIEWS = {
    # A view may name those above it: what stands before the dot is the table behind the view of its name.
    "chunk": "id IN (SELECT id FROM told_chunk)",
    "location": "source IN (SELECT source FROM told_source)",
    "mention": f"chunk_id IN ({_CHUNKS})",
    "concept_alias": "concept_id IN (SELECT id FROM concept)",
    "link": f"source_id IN ({_ENTITIES}) AND target_id IN ({_ENTITIES})",
    "source_profile": "id IN (SELECT source_profile_id FROM document)",
    "usage_trace": "project IN (SELECT project FROM told_project) AND id NOT IN (SELECT trace_id FROM {0}trace_chunk "
    f"WHERE chunk_id NOT IN ({_CHUNKS}))",
    "trace_chunk": "trace_id IN (SELECT id FROM usage_trace)",
    "retrieval": "project IN (SELECT project FROM told_project)",
    "retrieval_chunk": f"retrieval_id IN (SELECT id FROM retrieval) AND chunk_id IN ({_CHUNKS})",
}


MADE_OF_SEVERAL = ("description", "functional_profile", "gap_notes")
"""What a concept says that may come from any document that mentions it."""


def narrow(connection: Connection, told: Told) -> None:
    """Put views in front of the tables for as long as this transaction lasts; it must be rolled back."""
    from sqlalchemy import select, text

    from core.library import schema  # database.py imports this file, also where its packages are missing

    sqlite = connection.dialect.name == "sqlite"
    behind = "main." if sqlite else f'"{connection.execute(text("SELECT current_schema()")).scalar_one()}".'
    d, place = schema.document.c, schema.location.c
    sources: dict[str, str] = {}
    known = connection.execute(select(place.source, place.document_id, place.project)).all()
    rows = {source: told.source(source, project) for source, _, project in known}
    for document, source in connection.execute(select(d.id, d.source)):
        if rows.get(source) or (source not in rows and told.source(source, None)):
            sources[document] = source
    for source, document, _ in known:
        if rows[source]:
            sources.setdefault(document, source)
    asked = select(schema.usage_trace.c.project).union(select(schema.retrieval.c.project))
    projects = [row[0] for row in connection.execute(asked) if row[0] is not None and told.project(row[0])]
    held: dict[str, Sequence[tuple[str, ...]]] = {
        "told_document(id, source)": list(sources.items()),
        "told_source(source)": [(source,) for source, may in rows.items() if may],
        "told_project(project)": [(one,) for one in projects],
    }
    for table, values in held.items():
        columns = table.partition("(")[2].rstrip(")").split(", ")
        typed = ", ".join(f"{name} TEXT" for name in columns).replace(" TEXT", " TEXT PRIMARY KEY", 1)
        connection.exec_driver_sql(f"CREATE TEMP TABLE {table.partition('(')[0]}({typed})")
        if values:
            marks = ", ".join(f":{name}" for name in columns)
            given = [dict(zip(columns, row, strict=True)) for row in values]
            connection.execute(text(f"INSERT INTO {table} VALUES ({marks})"), given)
    connection.exec_driver_sql("CREATE TEMP TABLE told_chunk(id TEXT PRIMARY KEY)")
    chunks = f"SELECT id FROM {behind}chunk WHERE document_id IN (SELECT id FROM told_document)"
    connection.exec_driver_sql(f"INSERT INTO told_chunk {chunks}")
    connection.execution_options(narrowed=True)
    # Where a document is in two places, the one that may be told.
    shown = ", ".join("t.source" if column.name == "source" else f"d.{column.name}" for column in schema.document.c)
    joined = f"FROM {behind}document d JOIN told_document t ON t.id = d.id"
    connection.exec_driver_sql(f"CREATE TEMP VIEW document AS SELECT {shown} {joined}")
    # What was made of several documents is told where all of them may be.
    spans = f"SELECT concept_id FROM {behind}mention WHERE chunk_id NOT IN ({_CHUNKS})"
    shown = ", ".join(
        f"CASE WHEN k.id NOT IN ({spans}) THEN k.{column.name} ELSE '' END AS {column.name}"
        if column.name in MADE_OF_SEVERAL
        else f"k.{column.name}"
        for column in schema.concept.columns
    )
    mentioned = f"SELECT concept_id FROM {behind}mention WHERE chunk_id IN ({_CHUNKS})"
    connection.exec_driver_sql(
        f"CREATE TEMP VIEW concept AS SELECT {shown} FROM {behind}concept k WHERE k.id IN ({mentioned})"
    )
    for name, condition in _VIEWS.items():
        where = "experience." if sqlite and name in schema.OF_CHUNKS else behind
        body = f"SELECT * FROM {where}{name} WHERE {condition.replace('{0}', where)}"
        connection.exec_driver_sql(f"CREATE TEMP VIEW {name} AS {body}")


# --- what the user has removed ---------------------------------------------------------------------------------------

_SENTENCE = re.compile(r"(?<=[.!?\])])\s+")
_DASH = re.compile(r"\A\s*(?:[-*+]|\d+[.)])\s+")
_SOURCE = re.compile(r"\s*[\[(]from: [^\[\]]*[\])]\s*\Z")


def leaving_out(value: Any, hidden: Callable[[str], bool]) -> Any:
    """A record, with all that is in it, without the lines and sentences that are `hidden`: somebody may have ingested a
    page, or a file of the store, that says what the user has removed."""
    if isinstance(value, str):
        return "\n".join(row for line in value.split("\n") if (row := _line(line, hidden)) is not None)
    if isinstance(value, tuple):
        made = [leaving_out(one, hidden) for one in value]
        return type(value)(*made) if hasattr(value, "_fields") else tuple(made)
    if isinstance(value, list):
        return [leaving_out(one, hidden) for one in value]
    if isinstance(value, Mapping):
        return {key: leaving_out(one, hidden) for key, one in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    old = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    new = {name: row for name, one in old.items() if (row := leaving_out(one, hidden)) != one}
    return replace(value, **new) if new else value


def _line(line: str, hidden: Callable[[str], bool]) -> str | None:
    """A line without what is hidden in it, None where nothing else was."""
    bare = _SOURCE.sub("", _DASH.sub("", line)).strip()
    if not bare:
        return line
    if hidden(bare):
        return None
    sentences = _SENTENCE.split(line)
    left = [one for one in sentences if not hidden(_SOURCE.sub("", _DASH.sub("", one)).strip())]
    return line if len(left) == len(sentences) else " ".join(left) or None
