"""`knowledge setup` as a talk: what it says and asks, in the same sentences on the command line and in the window."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from core.base.figures import count, size
from core.commands.daily.connect import NO_OR_YES, Ask, nobody
from core.commands.daily.setup import SetupReport, apply_answers, default_model, survey, wanted
from core.commands.row import flag, single
from core.commands.table import SUMMARY
from core.commands.workspace import Clock, Workspace, utc_now

if TYPE_CHECKING:
    from core.agents.connections import Standing
    from core.commands.sources import SourceFound

MODELS_SHOWN = 12


def setup(workspace: Workspace, *, yes: bool = False, ask: Ask = nobody, now: Clock = utc_now) -> SetupReport:
    """Look around, ask at most four questions, and write what was answered. `yes` takes the defaults, which turn on
    nothing that costs money, no hook and no timer. Where nobody can be asked and nobody said yes, nothing changes."""
    report = survey(workspace, now)
    shown, archive = overview(report), ""
    model, read_all, tools = default_model(workspace, report), True, list[str]()
    if not yes:
        ready = [at for at, row in enumerate(report.models) if row.ready]
        if len(ready) > 1:
            words = [report.models[at].words for at in ready]
            answer = ask(shown, model_question(), words, ready.index(model) if model in ready else 0)
            model = ready[answer] if answer is not None and not (model < 0 and answer == 0) else model
            report.asked, shown = report.asked or answer is not None, ""
        if "sources" in wanted(workspace, report, -1, True):
            answer = ask(shown, source_question(report), NO_OR_YES, 1)
            read_all = answer == 1
            report.asked, shown = report.asked or answer is not None, ""
        open_tools = [row for row in report.tools if row.there and not row.connected]
        if open_tools:
            answer = ask(shown, connect_question(open_tools), NO_OR_YES, 0)
            tools = [row.tool for row in open_tools] if answer == 1 else []
            report.asked, shown = report.asked or answer is not None, ""
        if workspace.config.archive == "off" and any(row.expires_days for row in report.found):
            answer = ask(shown, archive_question(report), archive_choices(report), 0)
            archive = KEEPS[answer or 0]
            report.asked = report.asked or answer is not None
        if not report.asked:
            return report
    return apply_answers(workspace, report, model, read_all, tools, archive)


def overview(report: SetupReport) -> str:
    """What was found, as lines: conversations and what becomes of them, what is set, what is new."""
    rows = [found_sentence(report), *(f"  {source_line(row)}" for row in report.found)]
    if report.set:
        rows += ["", "set up already:", *(f"  {words}" for words in report.set)]
        rows += ["new:", *(f"  {words}" for words in report.new)] if report.new else ["nothing new since then"]
    return "\n".join(rows) + "\n"


def found_sentence(report: SetupReport) -> str:
    """`27 Claude Code and 5 Codex conversations; Claude Code deletes the first on 22 December`."""
    counted = [f"{row.conversations} {'of your own' if row.name == 'home' else row.title}" for row in report.found]
    if not counted:
        return "no conversations were found on this computer yet"
    listed = " and ".join([", ".join(counted[:-1]), counted[-1]]) if len(counted) > 1 else counted[0]
    total = sum(row.conversations for row in report.found)
    sentence = f"{listed} conversation{'s' if total != 1 else ''}"
    expiring = [row for row in report.found if row.next_expiry]
    if expiring:
        first = min(expiring, key=lambda row: row.next_expiry)
        sentence += f"; {first.title} deletes the first {_on_day(first.next_expiry)}"
    return sentence


def source_line(row: SourceFound) -> str:
    """One source: how many, how big, how many are new, what its tool deletes and when."""
    words = f"{row.title}: {count(row.conversations, 'conversation')}, {size(row.bytes)}, {row.new + row.grown} new"
    if row.expires_days:
        words += f"; deleted {row.expires_days} days after their last change"
        if row.expiring_unharvested:
            words += f", {row.expiring_unharvested} of them within a week and not harvested"
    return words


def _on_day(when: str) -> str:
    try:
        day = datetime.fromisoformat(when.replace("Z", "+00:00")).astimezone()
    except (ValueError, OverflowError):
        return f"on {when}"
    now = datetime.now(day.tzinfo)
    return (
        "as soon as it starts"
        if day < now
        else f"on {day.day} {day:%B}{'' if day.year == now.year else f' {day.year}'}"
    )


def model_question() -> str:
    """The first question."""
    return "Who shall read them?"


def source_question(report: SetupReport) -> str:
    """The second question."""
    names = [row.title for row in report.found if row.name != "home" and not row.picked]
    return f"Read the conversations of {', '.join(names)} in every harvest? (they stay where they are)"


def connect_question(tools: Sequence[Standing]) -> str:
    """The third question. What is written is told by `knowledge connect --all --dry-run`."""
    names = ", ".join(row.title for row in tools)
    return (
        f"Connect {names}? Their settings get the MCP server, the context at the start of a session and a harvest at "
        "its end ('knowledge connect --all --dry-run' shows the lines, '--remove' takes them back)"
    )


KEEPS = ("", "expiring", "all")
"""The setting `archive` behind each answer to the fourth question, in their order."""
PACKED_SHARE = 0.06
"""What a byte of a conversation takes in the archive, about: 0.057 over 62 sessions of two tools."""


def archive_question(report: SetupReport) -> str:
    """The fourth question, which is asked where a tool deletes conversations."""
    deletes = [row for row in report.found if row.expires_days]
    habits = " and ".join(f"{row.title} deletes a conversation after {row.expires_days} days" for row in deletes)
    return f"{habits}. Keep a copy, without secrets, so that it can still be found and read?"


def archive_choices(report: SetupReport) -> list[str]:
    """The answers to it, with what each takes of the disk."""
    deletes = sum(row.bytes for row in report.found if row.expires_days)
    everything = sum(row.bytes for row in report.found if row.name != "home")
    return [
        "no",
        f"yes, what is about to be deleted (about {size(round(deletes * PACKED_SHARE))} for what is there now)",
        f"yes, of every tool at once (about {size(round(everything * PACKED_SHARE))})",
    ]


def report_text(report: SetupReport) -> str:
    """The whole report."""
    rows = [] if report.asked else [overview(report)]
    if not report.asked and not report.changed:
        rows.append("models:")
        rows += [f"  {row.words}" for row in report.models[:MODELS_SHOWN]]
        if len(report.models) > MODELS_SHOWN:
            rows.append(f"  and {len(report.models) - MODELS_SHOWN} more")
        rows.append("")
    for key, value in report.changed.items():
        rows.append(f"set: {key} = {value}")
    rows += [f"connected: {name}" for name in report.connected]
    if not report.changed and not report.connected:
        if report.settings and not report.asked:
            rows.append("nothing was changed; 'knowledge setup --yes' would set:")
            rows += [f"  {key} = {value}" for key, value in report.settings.items()]
        else:
            rows.append("nothing was changed")
    rows += [f"note: {note}" for note in report.notes]
    rows.append("next: 'knowledge harvest' shows what a harvest would do, 'knowledge harvest --apply' does it")
    return "\n".join(rows) + "\n"


# --- at the command line --------------------------------------------------------------------------------------------


COMMANDS = (
    single(
        "setup",
        SUMMARY["setup"],
        "",
        setup,
        report_text,
        flag("--yes", "take the defaults: nothing that costs money, no hook, no timer"),
        asks=True,
    ),
)
