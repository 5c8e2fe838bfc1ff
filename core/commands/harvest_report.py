"""How the report of a harvest reads: what would be done, or what was done, and what was left and why."""

from __future__ import annotations

from collections.abc import Sequence

from core.base.figures import dollars, local_date, tokens
from core.base.markdown import ARROW, without_emphasis
from core.commands.sources import day_of, title_of
from core.commands.text import count, fed, one_line, short, size
from core.harvest.report import HarvestReport
from core.harvest.steps import CLASSES
from core.knowledge.categories import CATEGORIES

SHOWN = 20
"""The most conversations that are named before a run."""
NAME = 80
"""The characters of such a name."""
LINES = 10
"""The most new lines of a category that are shown."""
LINE_CHARACTERS = 300
"""The characters of such a line."""
HEADINGS = {"tasks_done": "tasks done", "files": "notes on files"}
"""What categories are called that have no heading in the digest."""
# What a step of the plan does, in the order of the report's line.
_ACTIONS = (
    ("harvest", "to harvest"),
    ("duplicate", "with the same content as another"),
    ("reclaim", "harvested before, to take away"),
    ("discard", "to take away without harvest"),
    ("unreadable", "unreadable"),
    ("prune", "to remove, for nothing needs it any more"),
)


def harvest_text(report: HarvestReport, *, quiet: bool = False) -> str:
    """The whole report: of a dry run what would be done, of a run what was done and, unless it is to be `quiet`, what
    is new in the files."""
    lines = _done(report) if report.applied else _planned(report)
    lines += [*_left(report), *(f"note: {one_line(note)}" for note in report.notes)]
    if not quiet:
        lines += _new_lines_text("new {}", report.lines)
        lines += _new_lines_text("{} of the run that was finished", report.finished_lines)
    return "\n".join(lines) + "\n"


def _planned(report: HarvestReport) -> list[str]:
    plan = report.plan
    lines = [
        "artifacts: " + ", ".join(f"{name}:{plan.counts.get(name, 0)}" for name in CLASSES),
        f"harvest candidates: {size(plan.candidate_bytes())} (~{tokens(report.tokens)} input tokens), "
        f"prune candidates: {size(plan.bytes_of('prune'))}",
        "dry run; pass --apply to harvest and reclaim",
    ]
    return lines + _plan_lines(report) + _named(report) + _source_lines(report)


def _done(report: HarvestReport) -> list[str]:
    lines = [
        f"reclaimed: {size(report.reclaimed_bytes)}",
        "harvested items: " + ", ".join(f"{name}:{number}" for name, number in report.items.items()),
        f"digest: {report.digest or 'none'}",
        f"ledger: {report.ledger}",
    ]
    if items := sum(report.items.values()):
        new = min(items, len(report.lines))
        lines.append(f"of these: {new} new, {items - new} known")
    if report.trashed:
        until = local_date(report.trash_until) or report.trash_until
        lines.append(
            f"moved to the trash until {until}: {count(report.trashed, 'conversation')}, "
            f"{size(report.trashed_bytes)} ('knowledge trash' lists them)"
        )
    if report.reclaimed > report.trashed:
        gone, freed = report.reclaimed - report.trashed, report.reclaimed_bytes - report.trashed_bytes
        lines.append(f"removed for good: {count(gone, 'conversation')}, {size(freed)} (trash_days is 0)")
    if report.harvested or report.reclaimed or report.errors:
        lines.append(
            f"run: {report.run} (conversations: {report.harvested} harvested, {report.empty} of them with nothing "
            f"worth keeping, {report.failed} failed; {report.reclaimed} taken away)"
        )
    elif not (report.deferred or report.too_large or report.cancelled or report.plan.writing or report.finished):
        lines.append("nothing new: no conversation waits to be harvested")
    if report.notes_as_facts:
        lines.append(
            f"notes on files that became facts: {report.notes_as_facts - report.notes_outside} of files not found, "
            f"{report.notes_outside} of files outside file_roots and the folder of their conversation"
        )
    lines += fed(report.facts)
    if report.calls:
        lines.append(f"sent to the model: {count(report.calls, 'request')}")
    if report.input_tokens or report.output_tokens:
        cost = f", {dollars(report.spent)}" if report.spent else ""
        lines.append(
            f"spent: {tokens(report.input_tokens)} input and {tokens(report.output_tokens)} output tokens{cost}"
            f" (as the provider counts them; ~{tokens(report.sent_tokens)} input as the dry run does)"
        )
    return lines


def _left(report: HarvestReport) -> list[str]:
    """What was not harvested, not let in or not read as it stood, of a plan as of a run."""
    left = {
        "left for a later run": report.deferred,
        "too large": report.too_large,
        "sent, no answer": report.unanswered,
    }
    lines = [f"{name}: {number}" for name, number in left.items() if number]
    if report.quarantined:
        why = ", ".join(f"{mark}:{number}" for mark, number in sorted(report.held_by.items()))
        whole = f", all that {count(report.held, 'conversation')} taught" if report.held else ""
        why = f" ({why})" if why else ""
        lines.append(f"quarantined: {report.quarantined}{why}{whole} ('knowledge review --kind held' shows them)")
    for name, counts in (
        ("changed since their last harvest", report.changed),
        ("secrets replaced", report.redacted),
        ("rows skipped", report.skipped),
    ):
        if counts:
            lines.append(f"{name}: " + ", ".join(f"{kind}:{number}" for kind, number in sorted(counts.items())))
    return lines


def _new_lines_text(heading: str, found: Sequence[tuple[str, str, int]]) -> list[str]:
    """What is new in the files, grouped, the best first."""
    lines: list[str] = []
    for row in CATEGORIES:
        rows = [(text, number) for category, text, number in found if category == row.name]
        if rows:
            title = HEADINGS.get(row.name) or row.digest_title.lower()
            lines += ["", f"{heading.format(title)} ({len(rows)}):"]
        for text, number in rows[:LINES]:
            often = f" (in {number} conversations)" if number > 1 else ""
            lines.append(f"  - {_shown(row.name, without_emphasis(text))}{often}")
        if len(rows) > LINES:
            lines.append(f"  and {len(rows) - LINES} more in {row.file or 'files/'}")
    return lines


def _shown(category: str, text: str) -> str:
    """A line as it fits the screen. Of a playbook whole steps: half a command is one that does something else."""
    if category != "playbooks" or len(text) <= LINE_CHARACTERS:
        return short(text, LINE_CHARACTERS)
    name, _, rest = text.partition(": ")
    steps = rest.split(ARROW)
    shown, room = list[str](), LINE_CHARACTERS - len(name)
    for step in steps:
        room -= len(step) + len(ARROW)
        if room < 0:
            break
        shown.append(step)
    left = len(steps) - len(shown)
    word = ("more " if shown else "") + ("step" if left == 1 else "steps")
    return f"{short(name, LINE_CHARACTERS)}: {ARROW.join([*shown, f'({left} {word})'])}"


def _source_lines(report: HarvestReport) -> list[str]:
    """How much there is of each source, once another than the home folder is read."""
    counts = report.plan.by_source()
    if set(counts) <= {"home"}:
        return []
    counted = [
        f"{name}:{row.conversations} ({size(row.bytes)}; {row.to_harvest} to harvest"
        + (f", {size(row.to_read)})" if row.to_read else ")")
        for name, row in counts.items()
    ]
    return [f"sources: {', '.join(counted)}"]


def _named(report: HarvestReport) -> list[str]:
    """What --apply would read: the day of its last change, how big it is, which tool's it is, and its name."""
    found = [step.artifact for step in report.plan.steps if step.action == "harvest"]
    whose = [title_of(row.source) if row.is_foreign else "home" for row in found[:SHOWN]]
    width = max(map(len, whose), default=0)
    lines = [
        f"  {day_of(row.mtime_ns) or ''!s:<10}  {size(row.size):>7}  {source:<{width}}  {short(row.name, NAME)}"
        for row, source in zip(found, whose, strict=False)
    ]
    return lines + [f"  and {len(found) - SHOWN} more"] * (len(found) > SHOWN)


def _plan_lines(report: HarvestReport) -> list[str]:
    """What --apply would do, and what it would cost."""
    actions = [step.action for step in report.plan.steps]
    steps = [f"{actions.count(name)} {words}" for name, words in _ACTIONS if name in actions]
    lines = [f"plan: {', '.join(steps)}"] if steps else []
    what = f"~{tokens(report.tokens)} input and ~{tokens(report.expected_output)} output tokens"
    asked = f"{count(report.calls, 'call')}, {what}"
    if report.price:
        lines.append(f"price: about {dollars(report.price)} ({asked})")
    elif report.price is None and report.tokens:
        lines.append(
            f"price: unknown for this model ({asked}); set price_input_per_million and price_output_per_million"
        )
    elif report.calls:
        lines.append(f"price: nothing ({asked})")
    least, most = (max(1, round(seconds / 60)) for seconds in report.seconds)
    if report.seconds[1]:
        lines.append(f"time: about {f'{least} to ' if least < most else ''}{count(most, 'minute')}")
    if report.factor_calls and report.token_factor != 1.0:
        priced = tokens(round(report.tokens * report.token_factor))
        lines.append(
            f"tokens: about {priced} input as the provider counts them, {report.token_factor:g} for each of these "
            f"({count(report.factor_calls, 'call')} so far){'; the price is of those' if report.price else ''}"
        )
    return lines
