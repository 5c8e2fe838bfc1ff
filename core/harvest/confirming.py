"""Writes down which statements the plans of a run confirm; the plans are the truth, and from them it is made again."""

from __future__ import annotations

from collections.abc import Iterable

from core.base import files
from core.base.entry import mark_of_key
from core.base.markdown import split_provenance
from core.base.paths import Paths
from core.harvest.landed import Standing
from core.knowledge.confirmed import CONFIRMED, Confirmations, read_confirmed, with_more, write_confirmed
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import FORGOTTEN, seen_ledger
from core.knowledge.lines import key_of


def tell_confirmed(paths: Paths, plans: Iterable[FrozenPlan]) -> None:
    """Add what the proven plans of a run say again. Repeating it changes nothing. Raises OSError."""
    rows = read_confirmed(paths)
    write_confirmed(paths, _with_plans(paths, rows if rows is not None else {}, plans))


def mend_confirmed(paths: Paths) -> str:
    """Make the list from the archived plans where it is missing, damaged or cannot be read; a sentence about the last,
    "" for nothing. Raises OSError."""
    note = ""
    if not paths.plans.is_dir():
        return note
    try:
        if read_confirmed(paths) is not None:
            return note
    except OSError as error:
        note = f"who said what again cannot be read ({error.strerror}); it was made again from the plans"
        files.remove_file(paths.state / CONFIRMED)
    make_confirmed(paths)
    return note


def make_confirmed(paths: Paths) -> None:
    """Make the list from the archived plans. Raises OSError."""
    names = [path.stem for path in sorted(paths.plans.glob("*.jsonl"))]
    forgotten = {sha for sha, entry in seen_ledger(paths).items() if entry.get("status") == FORGOTTEN}
    plans = (plan for name in names for sha, plan in read_plans(paths.plans, name).items() if sha not in forgotten)
    write_confirmed(paths, _with_plans(paths, {}, plans))


def _with_plans(paths: Paths, rows: Confirmations, plans: Iterable[FrozenPlan]) -> Confirmations:
    standing = Standing(paths, many=True)
    for plan in plans:
        for file, line in standing.confirmed(plan):
            if (came := split_provenance(line)[1]) is not None:
                with_more(rows, file, mark_of_key(key_of(line)), [came])
    return rows
