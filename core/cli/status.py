"""`knowledge status` and `knowledge doctor`: the store at a glance, and what is wrong with it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from core.cli.table import flag, single
from core.cli.text import age, count, size

if TYPE_CHECKING:
    from core.commands.daily.autopilot import Autopilot
    from core.commands.doctor import DoctorReport
    from core.commands.status import Status


def status_text(state: Status) -> str:
    new = "" if state.exists else " (does not exist yet: the first 'knowledge add' or 'harvest --apply' makes it)"
    from core.knowledge.run_state import DELETED, DIFFERENT, INTERRUPTED

    rows = [f"home: {state.home}{new}", ""]
    if any(row.exists for row in state.files):
        rows.append(f"  {'file':<14}{'size':>8}  {'bullets':>12}  {'changed':>7}")
    for row in state.files:
        detail = "  absent"
        if row.exists:
            detail = f"{size(row.bytes):>8}  {count(row.bullets, 'bullet'):>12}  {age(row.modified):>7}"
            if row.name == "tasks":
                detail += f"  ({state.tasks['open']} open, {state.tasks['done']} done)"
        rows.append(f"  {'files/' if row.name == 'files' else f'{row.name}.md':<14}{detail}")
    digest = state.digest
    rows += ["", f"digest: {digest.bytes} of {digest.max_bytes} bytes, {digest.why}"]
    stands = state.stands
    if stands.digest.state in (DELETED, DIFFERENT):
        rows[-1] += f" ({stands.digest.words})"
    for file in state.context:
        fits = " of its budget of {}" if file.bytes <= file.budget else ", over its budget of {}; shorten it"
        rows.append(f"context ({file.scope}): {size(file.bytes)}{fits.format(size(file.budget))}")
    if state.memories:
        rows.append(f"memories: {state.memories}")
    rows.append("ledger: " + ", ".join(f"{name}:{number}" for name, number in state.ledger.items()))
    waiting = state.pending
    rows.append(f"pending: {count(waiting['conversations'], 'conversation')}, {size(waiting['bytes'])}")
    if waiting.get("writing"):
        rows[-1] += f"; {waiting['writing']} more perhaps still being written"
    if waiting.get("undone"):
        rows[-1] += f"; {waiting['undone']} more whose harvest you undid ('knowledge harvest --again' shows them)"
    if waiting.get("elsewhere"):
        rows.append(waiting["elsewhere"])
    way = "; 'knowledge harvest --finish' puts that right" if stands.run.state == INTERRUPTED else ""
    rows.append(f"run: {stands.run.words}{way}")
    rows.append(f"trash: {count(state.trash['files'], 'conversation')}, {size(state.trash['bytes'])}")
    if state.quarantined:
        rows.append(f"quarantine: {count(state.quarantined, 'item')} held back ('knowledge quarantine' shows them)")
    if state.outdated:
        rows.append(f"possibly outdated: {count(state.outdated, 'bullet')} ('knowledge supersede' lists them)")
    if state.autopilot is not None:
        rows += _autopilot_rows(state.autopilot)
    if state.prompts:
        rows.append(f"your own prompts: {', '.join(state.prompts)}")
    return "\n".join(rows) + "\n"


def _autopilot_rows(last: Autopilot) -> list[str]:
    """The last harvest that nobody waited for: what it did, what it left, what it cost, why it could not."""

    try:
        ago = f"{age(datetime.fromisoformat(last.at).timestamp())} ago"
    except ValueError:
        ago = last.at
    row = f"last harvest by itself: {ago}, {count(last.harvested, 'conversation')}, {count(last.items, 'item')}"
    rest = ((last.left, "left for the next"), (last.writing, "still being written"), (last.failed, "failed"))
    for number, words in rest:
        row += f", {number} {words}" if number else ""
    rows = [row]
    if last.tokens_today or last.dollars_month:
        rows.append(
            f"spent: {last.tokens_today:,} tokens on the day of that harvest, ${last.dollars_month:.2f} in its month"
        )
    if last.note:
        rows.append(f"note: {last.note}")
    if last.problem is not None:
        times = "" if last.problem.times == 1 else f" ({last.problem.times} times since {last.problem.since[:16]})"
        rows.append(f"it could not harvest{times}: {last.problem}")
    return rows


def doctor_text(report: DoctorReport) -> str:
    rows = []
    for found in report.findings:
        kinds = (("repaired", found.repaired), ("note", found.note), ("repairable", found.repairable), ("found", True))
        where = f" ({found.path})" if found.path and found.path not in found.message else ""
        rows.append(f"{next(kind for kind, so in kinds if so)}: {found.message}{where}")
    left = len(report.errors)
    end = "the store is whole" if not left else f"{count(left, 'problem')} left"
    if any(found.repairable and not found.repaired for found in report.findings):
        mends = "mends what can be mended" if left else "fixes what the notes mention"
        end += f"; 'knowledge doctor --repair' {mends}"
    return "\n".join([*rows, end]) + "\n"


COMMANDS = (
    single("status", "the store at a glance", "", ".status:status", status_text),
    single(
        "doctor",
        "check the store, like a file system check",
        "--repair",
        ".doctor:doctor",
        doctor_text,
        flag("--repair", "mend what can be mended"),
        flag("--merge-conflicts", "end merge conflicts: keep the bullets and facts of both sides, each once"),
        names_errors=True,
    ),
)
