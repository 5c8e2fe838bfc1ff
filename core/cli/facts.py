"""`knowledge facts`: the fact index."""

from __future__ import annotations

import csv
import io
import json
from itertools import groupby
from typing import TYPE_CHECKING

from core.base.choices import FACT_CATEGORIES, FACT_FORMATS
from core.cli.table import flag, group, listed, needed, option, optional, repeated, single, whole_number
from core.cli.text import count

if TYPE_CHECKING:
    from core.commands.facts import Bootstrap, Fact, FactList, Merged, Renumbering, SyncReport, Validation
KEYS = (
    "id", "fact", "category", "domain", "confidence", "tags", "source_count", "first_seen", "last_confirmed",
    "expires", "related", "stale", "unread",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t")


def bootstrap_text(value: Bootstrap) -> str:
    return value.text or f"no facts for {', '.join(value.domains)}\n"


def validation_text(found: Validation) -> str:
    number = len(found.problems)
    valid = f"{count(found.facts, 'valid fact')} in {count(found.files, 'file')}"
    rows = [f"{valid}, {count(number, 'problem')}" if number else f"{valid}, no problem"]
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
        related = count(done.references, "fact")
        rows.append(f"{related} related to one of them: both are named, for it is not known which")
    end = f"'knowledge undo {done.run}' takes this back" if done.applied else "nothing was written; --apply does it"
    return "\n".join([*rows, end]) + "\n"


# --- the list --------------------------------------------------------------------------------------------------------


def list_text(found: FactList) -> str:
    """The facts in the format that was asked for, or the pairs that are alike."""
    if found.pairs is not None:
        rows = []
        for pair in found.pairs:
            rows += [f"{pair.likeness:.0f} of 100"]
            rows += [f"  {fact.id}  {fact.fact}" for fact in (pair.first, pair.second)]
        end = [f"{count(len(found.pairs), 'pair')}; 'knowledge facts merge A B' makes B a part of A"]
        return "\n".join(rows + end) + "\n"
    if found.format == "json":
        return json.dumps([fact.to_json() for fact in found.facts], indent=2, ensure_ascii=False) + "\n"
    if found.format == "yaml":
        from core.commands.facts import fact_yaml

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
    for (domain, category), held in groupby(facts, key=lambda fact: (fact.domain, fact.category)):
        rows += [*[""] * bool(rows), f"## {domain}: {category}", ""]
        for fact in held:
            tags = f" ({', '.join(fact.tags)})" if fact.tags else ""
            rows.append(f"- {fact.fact} [{fact.id}, {fact.confidence:g}{_marks(fact)}]{tags}")
    return "\n".join(rows) + "\n" if rows else ""


_DOMAIN = repeated("--domain", "a repository, an agent or global (repeatable)", "NAME", dest="domains", default=[])
COMMANDS = (
    group(
        "facts",
        "the fact index: list, validate PATH, sync, bootstrap, merge ID ID, renumber",
        "list --category pitfall --format md",
        single(
            "list",
            "the facts, or the pairs of them that are alike",
            "--category pitfall --format md",
            ".facts:facts_list",
            list_text,
            _DOMAIN,
            option("--category", listed(FACT_CATEGORIES), "C"),
            option("--tag", "only facts with this tag", "T"),
            flag("--stale", "only facts that have expired"),
            flag("--similar", "pairs of facts that nearly say the same"),
            option("--format", listed(FACT_FORMATS), "F", choices=FACT_FORMATS),
        ),
        single(
            "validate",
            "check the fact files, or one file or folder",
            "global.yaml",
            ".facts:validate",
            validation_text,
            optional("path", "a YAML file, an index.json, or a folder with both (default: the knowledge folder)"),
        ),
        single(
            "sync",
            "bring the fact files, the record and the index together",
            "",
            ".fact_feed:sync_facts",
            sync_text,
            flag("--accept-removals", "let go of the facts of files that are broken or gone"),
        ),
        single(
            "bootstrap",
            "the facts that a new conversation starts with",
            "--domain global --budget 500",
            ".facts:bootstrap",
            bootstrap_text,
            _DOMAIN,
            whole_number("--budget", "at most N tokens (default: 2000)"),
        ),
        single(
            "merge",
            "make the second of two facts a part of the first",
            "global:fact:001 global:fact:002",
            ".facts:merge_facts",
            merged_text,
            needed("keep", "the id of the fact that stays", "ID"),
            needed("gone", "the id of the other", "OTHER"),
        ),
        single(
            "renumber",
            "give ids that stand twice, as after a merge, a number each",
            "--apply",
            ".facts:renumber_facts",
            renumbered_text,
            flag("--apply", "write it (without: show what would be written)"),
        ),
    ),
)
