"""What the harvest dialog says: the dry run and the result as plain rows and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.base.config import Config
from core.base.figures import count, dollars, size, tokens
from core.commands.quarantine import HELD
from core.commands.sources import title_of
from core.commands.view import local_day
from core.harvest.report import HarvestReport
from gui.toolkit.columns import Cell, Column
from gui.toolkit.icons import icon
from gui.toolkit.layout import Line
from gui.views.looks import CATEGORIES, capital, short_name

# what happens to a conversation -> (group, icon, colour, in words)
ACTIONS: dict[str, tuple[str, str, str, str]] = {
    "harvest": ("Harvest", "wheat", "accent", "harvest"),
    "duplicate": ("Harvest", "copy", "accent", "same content, once"),
    "reclaim": ("To the trash", "archive", "harvested", "to the trash"),
    "discard": ("To the trash", "archive", "deleted", "to the trash, unread"),
    "prune": ("To the trash", "trash-2", "deleted", "remove for good"),
    "too-large": ("Skip", "weight", "too-large", "too large"),
    "defer": ("Skip", "hourglass", "muted", "next time"),
    "unreadable": ("Skip", "circle-x", "failed", "cannot be read"),
    "live": ("Keep", "circle-dot", "hint", "live"),
    "user-kept": ("Keep", "bookmark", "hint", "saved by you"),
    "keep": ("Keep", "shield", "hint", "keep"),
}
GROUPS = {"Harvest": "accent", "To the trash": "harvested", "Skip": "too-large", "Keep": "muted"}

PLAN_COLUMNS = (
    Column("icon", "", 26, sortable=False),
    Column("name", "Conversation", 0, 1.5, sortable=False),
    Column("what", "What happens", 138, sortable=False, color="muted"),
    Column("size", "Size", 68, role="mono", chars=7, sortable=False, color="hint"),
    Column("why", "Why", 0, 1.2, sortable=False, color="hint"),
)


@dataclass(frozen=True)
class PlanRow:
    """One conversation of the dry run."""

    action: str
    name: str
    bytes: int
    why: str

    @property
    def group(self) -> str:
        """One of `GROUPS`."""
        return ACTIONS.get(self.action, ACTIONS["keep"])[0]


def plan_rows(report: HarvestReport) -> list[PlanRow]:
    """What is done with each conversation, those that are touched first, then those that stay and why."""
    steps = [(step.action, step.artifact, step.reason) for step in report.plan.steps]
    kept = [row for row in report.plan.classified if row.verdict in ("live", "user-kept", "keep")]
    order = {"keep": 0, "user-kept": 1, "live": 2}
    kept.sort(key=lambda row: order.get(row.verdict, 3))
    steps += [(row.verdict, row.artifact, row.reason) for row in kept]
    told = {name: words for name, (_, _, _, words) in ACTIONS.items()}  # said once, under "What happens"
    return [
        PlanRow(action, short_name(found.name), found.size, "" if why == told.get(action) else why)
        for action, found, why in steps
    ]


def group_counts(rows: Sequence[PlanRow]) -> dict[str, int]:
    """How many rows each group has."""
    counts = dict.fromkeys(GROUPS, 0)
    for row in rows:
        counts[row.group] += 1
    return counts


def plan_cell(row: PlanRow, column: int) -> Cell:
    """What stands in one cell of the dry run's table."""
    _, sign, color, words = ACTIONS.get(row.action, ACTIONS["keep"])
    if column == 0:
        return icon(sign), color
    if column == 2:
        return words, color if color not in ("hint",) else "muted"
    return (row.name, "", size(row.bytes), row.why)[column - 1]


def plan_tip(row: PlanRow) -> str:
    """What the tooltip of a row says: everything that may be cut in its cells."""
    return f"{row.name}\n{ACTIONS.get(row.action, ACTIONS['keep'])[3]}: {row.why}"


def plan_title(sources: Sequence[str]) -> str:
    """The title of a dry run: which sources it is of, where some were named."""
    return f"Dry run: {', '.join(map(title_of, sources))}" if sources else "Dry run"


def plan_lines(report: HarvestReport, config: Config) -> list[Line]:
    """What Apply would do, in sentences; what would not happen is not mentioned."""
    steps: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for step in report.plan.steps:
        steps[step.action] = steps.get(step.action, 0) + 1
        sizes[step.action] = sizes.get(step.action, 0) + step.artifact.size
    lines = []
    number = steps.get("harvest", 0)
    if number:
        lines.append(Line("wheat", "accent", f"harvest {count(number, 'conversation')}", size(sizes["harvest"])))
    moved = steps.get("reclaim", 0) + steps.get("discard", 0)
    if moved:
        words = f"move {count(moved, 'harvested conversation')} to the trash"
        lines.append(Line("archive", "harvested", words, f"{config.trash_days} days"))
    if steps.get("prune"):
        words = f"remove {count(steps['prune'], 'leftover')} for good"
        lines.append(Line("trash-2", "deleted", words, size(sizes["prune"])))
    if steps.get("too-large"):
        words = f"skip {count(steps['too-large'], 'conversation')} above the limit"
        lines.append(Line("weight", "too-large", words, f"> {size(config.max_harvest_source_bytes)}"))
    if steps.get("defer"):
        lines.append(Line("hourglass", "muted", f"leave {count(steps['defer'], 'conversation')} for the next time"))
    if steps.get("unreadable"):
        lines.append(Line("circle-x", "failed", f"skip {steps['unreadable']} that cannot be read"))
    if number and config.digest_enabled:
        lines.append(Line("sparkles", "accent", "write digest.md anew", f"≤ {config.digest_max_bytes:,} B"))
    return lines


def provider_line(config: Config, report: HarvestReport) -> Line:
    """Who reads the conversations, and what that means for them."""
    if config.provider == "offline":
        words = "Read by rules on this computer: nothing is sent anywhere. Settings → provider changes that."
        if config.reclaim == "always":
            words = (
                "Read by rules on this computer: nothing is sent anywhere. Harvested conversations move to the trash."
            )
        return Line("cpu", "harvested", words)
    model = f"{config.provider} {config.model}".strip()
    fate = {
        "never": "Conversations stay where they are.",
        "always": f"Harvested conversations wait {config.trash_days} days in the trash.",
        "model": f"Harvested conversations wait {config.trash_days} days in the trash.",
    }[config.reclaim]
    if config.provider == "command":
        program = config.command[0] if config.command else "no program is set"
        return Line("terminal", "accent", f"Read by the program {program}. {fate}")
    secrets = "Secrets are replaced before." if config.redact else "Secrets are NOT replaced (redact = false)."
    return Line("globe", "accent", f"Sent to {model}. {secrets} {fate}")


def note_words(note: str) -> str:
    """A note of a run as the window says it: with the setting's name where the command line names a command."""
    return capital(re.sub(r", and 'knowledge config set (\w+) \d+' raises it", r" (\1)", note))


def enough_bytes(report: HarvestReport, limit: int) -> int:
    """The limit, doubled until nothing of the dry run is too large, in bytes; 0 when nothing is."""
    sizes = [step.new_bytes for step in report.plan.steps if step.action == "too-large"]
    enough = max(1, limit)
    while sizes and enough < max(sizes):
        enough *= 2
    return enough if sizes else 0


def estimate_words(report: HarvestReport) -> str:
    """Tokens and price beside the buttons."""
    if not report.tokens:
        return ""
    words = f"~{tokens(report.tokens)} tokens"
    if report.price is None:
        return f"{words} · price unknown"
    return f"{words} · {'free' if not report.price else 'about ' + dollars(report.price)}"


def has_work(report: HarvestReport) -> bool:
    """Whether Apply would do anything."""
    nothing = ("too-large", "defer", "unreadable")
    return report.interrupted or any(step.action not in nothing for step in report.plan.steps)


def result_lines(report: HarvestReport) -> list[Line]:
    """What came of a run, in sentences."""
    lines = []
    words = f"{count(report.harvested, 'conversation')} harvested"
    if report.empty:
        words += f", {report.empty} of them with nothing durable"
    lines.append(Line("circle-check", "harvested", words, spent_words(report)))
    if report.reclaimed:
        gone = report.reclaimed - report.trashed
        if report.trashed:
            until = f" until {local_day(report.trash_until)}" if report.trash_until else ""
            words = f"{count(report.trashed, 'conversation')} moved to the trash{until}"
            lines.append(Line("archive", "harvested", words, size(report.trashed_bytes)))
        if gone:
            words = f"{count(gone, 'conversation')} removed for good"
            lines.append(Line("trash-2", "deleted", words, size(report.reclaimed_bytes - report.trashed_bytes)))
    if report.kept:
        lines.append(Line("shield", "muted", f"{count(report.kept, 'conversation')} stay where they are"))
    if report.failed:
        lines.append(Line("circle-x", "failed", f"{count(report.failed, 'conversation')} failed and stay"))
    if len(report.errors) > report.failed:
        words = f"{count(len(report.errors) - report.failed, 'other problem')}: see below"
        lines.append(Line("circle-alert", "failed", words))
    if report.quarantined:
        words = f"{count(report.quarantined, 'item')} held back in quarantine.md for you to look at"
        why = ", ".join(f"{number} {HELD.get(mark, mark)}" for mark, number in sorted(report.held_by.items()))
        lines.append(Line("shield", "edited", f"{words}: {why}" if why else words))
    if report.skipped:
        number = sum(report.skipped.values())
        words = ", ".join(f"{of} {why}" for why, of in sorted(report.skipped.items()))
        lines.append(Line("circle-alert", "muted", f"{count(number, 'row')} of answers not read: {words}"))
    if report.redacted:
        words = ", ".join(f"{number} {kind}" for kind, number in sorted(report.redacted.items()))
        lines.append(Line("key", "edited", f"secrets replaced: {words}"))
    return lines


def undone_lines(lines_out: int, restored: int, stayed: int) -> list[Line]:
    """What a run that was taken back left, in sentences."""
    lines = [Line("undo-2", "accent", f"{count(lines_out, 'line')} of it left your files")]
    if restored:
        lines.append(Line("archive", "harvested", f"{count(restored, 'conversation')} came back from the trash"))
    if stayed:
        words = f"{count(stayed, 'line')} stayed, because you changed {'it' if stayed == 1 else 'them'} since"
        lines.append(Line("shield", "edited", words))
    return lines


def spent_words(report: HarvestReport) -> str:
    """Tokens and money that a run took, "" for none."""
    used = report.input_tokens + report.output_tokens
    if not used:
        return ""
    return f"{tokens(used)} tokens" + (f" · {dollars(report.spent)}" if report.spent else "")


def item_lines(report: HarvestReport) -> list[Line]:
    """New lines by category, in the order of every report; all of them, zeros too."""
    lines = []
    for name, (label, sign, color, _) in CATEGORIES.items():
        if name == "quarantine":
            continue  # what is held has a sentence of its own
        number = report.items.get(name, 0)
        lines.append(Line(sign, color if number else "hint", label, f"{number:,}" if number else "–"))
    return lines


def outcome_look(words: str) -> tuple[str, str]:
    """Icon and colour of what became of one conversation."""
    if words == "failed":
        return "circle-x", "failed"
    if words in ("reclaimed", "nothing durable") or words.endswith(("item", "items")):
        return "circle-check", "harvested"
    if words == "deferred":
        return "hourglass", "muted"
    return ("trash-2", "deleted") if words in ("pruned", "removed without harvest") else ("shield", "muted")
