"""Changes of what the library has learned: each is logged with the values before and after, and can be taken back.

A change is applied only where the row still has the values that it was planned upon; undoing is the same, the other way
round. So whatever somebody else changed meanwhile stays as they left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, and_, select

from core.base.result import KnowledgeError
from core.library import schema
from core.library.database import Library
from core.library.records import ChangeRun, new_id
from core.library.rows import put, read
from core.library.schema import Moment

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One row. `before` and `after` have the columns that change, None where there is no row; `what` says it to a
    person. Values are such as JSON knows; a time is in ISO form."""

    table: str
    key: Values
    before: Values | None
    after: Values | None
    what: str = ""


def plain(value: Any) -> Any:
    """A value as the log keeps it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return value


def of_link(row: Values, what: str, *, goes: bool = False) -> Change:
    """A link that comes, or goes, by its columns."""
    values = {name: plain(value) for name, value in row.items() if name != "id"}
    before, after = (values, None) if goes else (None, values)
    return Change("link", {"id": row["id"]}, before, after, what)


def _typed(table: Table, values: Values) -> dict[str, Any]:
    """Values from the log as the columns take them."""
    made = dict(values)
    for name, value in values.items():
        if isinstance(value, str) and isinstance(table.c[name].type, Moment):
            made[name] = datetime.fromisoformat(value)
    return made


def _where(table: Table, key: Values) -> Any:
    return and_(*(table.c[name] == value for name, value in key.items()))


def _is(connection: Connection, table: Table, key: Values, expected: Values | None) -> bool:
    """Whether a row is as it is expected to be; None: not there."""
    columns = [table.c[name] for name in (expected if expected is not None else key)]
    found = connection.execute(select(*columns).where(_where(table, key))).mappings().first()
    if found is None or expected is None:
        return found is None and expected is None
    return bool({name: plain(value) for name, value in found.items()} == plain(expected))


def _set(connection: Connection, table: Table, key: Values, before: Values | None, after: Values | None) -> None:
    if after is None:
        connection.execute(table.delete().where(_where(table, key)))
    elif before is None:
        connection.execute(table.insert().values(**_typed(table, {**key, **after})))
    else:
        connection.execute(table.update().where(_where(table, key)).values(**_typed(table, after)))


def apply(
    connection: Connection, kind: str, changes: Iterable[Change], report: Values, now: datetime
) -> tuple[str, tuple[Change, ...]]:
    """Make changes, all in the transaction of this connection, and log them as one run: its id, and those that were
    made; the rows of the others had changed meanwhile."""
    made = []
    for change in changes:
        table = schema.metadata.tables[change.table]
        if _is(connection, table, change.key, change.before):
            _set(connection, table, change.key, change.before, change.after)
            made.append(change)
    run = ChangeRun(new_id(), kind, now, now, None, {**report, "changed": len(made)})
    put(connection, schema.change_run, run)
    for change in made:
        logged = {"before": plain(change.before), "after": plain(change.after), "row_key": plain(change.key)}
        connection.execute(schema.change.insert().values(run_id=run.id, table_name=change.table, **logged))
    return run.id, tuple(made)


@dataclass(frozen=True)
class Undone:
    """What taking a run back did: how many rows have their former values again, and which were left because somebody
    changed them since."""

    run_id: str
    changed: int
    kept: tuple[str, ...] = ()
    already: bool = False

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {"run": self.run_id, "changed": self.changed, "kept": list(self.kept), "already": self.already}


def _runs(connection: Connection) -> list[ChangeRun]:
    c = schema.change_run.c
    return read(connection, schema.change_run, ChangeRun, order=(c.started_at.desc(), c.id))


def undo(library: Library, run: str, now: datetime) -> Undone:
    """Take a run back, named by its id or the beginning of it. Later runs are not touched: what they changed again
    stays, and is told."""
    c = schema.change.c
    with library.writing() as connection:
        found = [one for one in _runs(connection) if one.id.startswith(run.strip().lower())] if run.strip() else []
        if len(found) != 1:
            what = "no run begins" if not found else "several runs begin"
            raise KnowledgeError("no-run", f"{what} with {run!r}", hint="'knowledge library undo' lists them")
        record = found[0]
        if record.undone_at is not None:
            return Undone(record.id, 0, already=True)
        asked = select(c.table_name, c.row_key, c.before, c.after).where(c.run_id == record.id).order_by(c.id.desc())
        changed, kept = 0, []
        for row in connection.execute(asked).all():
            table = schema.metadata.tables[row.table_name]
            if _is(connection, table, row.row_key, row.after):
                _set(connection, table, row.row_key, row.after, row.before)
                changed += 1
            else:
                named = ", ".join(str(value)[:36] for value in row.row_key.values())
                kept.append(f"{row.table_name} {named}: changed since")
        put(connection, schema.change_run, replace(record, undone_at=now))
    return Undone(record.id, changed, tuple(kept))


def list_runs(library: Library) -> list[ChangeRun]:
    """The runs that can be taken back, and those that were, newest first."""
    with library.reading() as connection:
        return _runs(connection)


def difference(table: str, key: Values, now: Values, wanted: Values, what: str) -> Sequence[Change]:
    """The change from what a row has to what it should have; none where they are the same."""
    new = {name: value for name, value in wanted.items() if plain(now[name]) != plain(value)}
    if not new:
        return ()
    return (Change(table, key, {name: plain(now[name]) for name in new}, plain(new), what),)
