"""The texts of `knowledge facts`."""

from __future__ import annotations

import csv
import io
import json
from itertools import groupby
from typing import Any

from core.cli.figures import count
from core.commands.fact_edits import Merged, Renumbering
from core.commands.facts import Bootstrap, Fact, FactList, SyncReport, Validation, fact_yaml

KEYS = (
    "id", "fact", "category", "domain", "confidence", "tags", "source_count", "first_seen", "last_confirmed",
    "expires", "related", "stale", "unread",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t")


def facts_text(value: Any) -> str:
    """Whatever an action of `knowledge facts` returned."""
    match value:
        case FactList():
            return list_text(value)
        case Validation():
            return validation_text(value)
        case SyncReport():
            return sync_text(value)
        case Bootstrap():
            return value.text or f"no facts for {', '.join(value.domains)}\n"
        case Merged():
            return merged_text(value)
        case Renumbering():
            return renumbered_text(value)
    raise TypeError(type(value).__name__)


def validation_text(found: Validation) -> str:
    number = len(found.problems)
    told = f"{count(found.facts, 'valid fact')} in {count(found.files, 'file')}"
    rows = [f"{told}, {count(number, 'problem')}" if number else f"{told}, no problem"]
    if found.too_long:
        where = ", ".join(found.too_long)
        rows.append(f"note: {count(len(found.too_long), 'line')} longer than a fact may be, so no fact: {where}")
    return "\n".join(rows) + "\n"


def sync_text(report: SyncReport) -> str:
    rows = [
        f"facts: {report.new} new, {report.confirmed} confirmed, {report.taken_back} taken back, {report.total} in all"
        f" ({report.stale} stale, {report.decayed} faded)",
        f"index: {report.index}{'' if report.written else ' (unchanged)'}",
    ]
    if report.gone:
        rows.append(f"deleted by hand before, and left so: {report.gone}")
    rows += [f"stayed, because it was changed since: {name}" for name in report.stayed]
    return "\n".join(rows + [f"note: {note}" for note in report.notes]) + "\n"


def merged_text(merged: Merged) -> str:
    rows = [
        f"{merged.into.id}: {merged.into.fact}",
        f"  now holds {merged.gone.id}: {merged.gone.fact}",
        f"'knowledge undo {merged.run}' takes this back",
    ]
    return "\n".join(rows + [f"note: {merged.warning}"] * bool(merged.warning)) + "\n"


def renumbered_text(done: Renumbering) -> str:
    """What gets, or got, another number, and what to do next."""
    if not done.rows and not done.parted:
        return "every number stands once: nothing to do\n"
    rows = [f"both sides of a merge stood in one item, which becomes two ({file})" for file in done.parted]
    rows += [
        f"{row.old} -> {row.new or 'joined with the same words'}  {row.fact} ({row.file}:{row.line})"
        for row in done.rows
    ]
    if done.references:
        rows.append(
            f"{count(done.references, 'fact')} related to one of them: both are named, for it is not known which"
        )
    end = f"'knowledge undo {done.run}' takes this back" if done.applied else "nothing was written; --apply does it"
    return "\n".join([*rows, end]) + "\n"


# --- the list --------------------------------------------------------------------------------------------------------


def list_text(found: FactList) -> str:
    """The facts in the format that was asked for, or the pairs that are alike."""
    if found.pairs is not None:
        rows = []
        for pair in found.pairs:
            rows += [
                f"{pair.likeness:.0f} of 100",
                *(f"  {fact.id}  {fact.fact}" for fact in (pair.first, pair.second)),
            ]
        end = [f"{count(len(found.pairs), 'pair')}; 'knowledge facts merge A B' makes B a part of A"]
        return "\n".join(rows + end) + "\n"
    if found.format == "json":
        return json.dumps([fact.to_json() for fact in found.facts], indent=2, ensure_ascii=False) + "\n"
    if found.format == "yaml":
        return "".join(map(fact_yaml, found.facts)) or "[]\n"
    if found.format == "csv":
        return _csv(found.facts)
    if found.format == "md":
        return _markdown(found.facts)
    width = max((len(fact.id) for fact in found.facts), default=0)
    rows = [f"{fact.id:<{width}}  {fact.confidence:<6g} {_age(fact)}{fact.fact}" for fact in found.facts]
    return "\n".join([*rows, count(len(found.facts), "fact")]) + "\n"


def _age(fact: Fact) -> str:
    confirmed = f"{fact.source_count}x " if fact.source_count is not None and fact.source_count > 1 else ""
    return f"{'[stale] ' * fact.stale}{'[file unreadable] ' * fact.unread}{confirmed}"


def _marks(fact: Fact) -> str:
    return ", stale" * fact.stale + ", file unreadable" * fact.unread


def _csv(facts: tuple[Fact, ...]) -> str:
    """One row a fact. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(KEYS)
    for fact in facts:
        row = fact.to_json()
        cells = [" ".join(cell) if isinstance(cell := row.get(key, ""), list) else str(cell) for key in KEYS]
        writer.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells])
    return out.getvalue()


def _markdown(facts: tuple[Fact, ...]) -> str:
    rows: list[str] = []
    for (domain, category), group in groupby(facts, key=lambda fact: (fact.domain, fact.category)):
        rows += ["", f"## {domain}: {category}", ""] if rows else [f"## {domain}: {category}", ""]
        for fact in group:
            tags = f" ({', '.join(fact.tags)})" if fact.tags else ""
            rows.append(f"- {fact.fact} [{fact.id}, {fact.confidence:g}{_marks(fact)}]{tags}")
    return "\n".join(rows) + "\n" if rows else ""
