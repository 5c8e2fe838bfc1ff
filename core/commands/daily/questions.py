"""`knowledge setup` as a talk: what it says and asks, in the same sentences on the command line and in the window."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from core.base.figures import size
from core.commands.daily.connect import NO_OR_YES, Ask, nobody
from core.commands.daily.setup import SetupReport, apply_answers, default_model, survey, wanted
from core.commands.row import flag, top
from core.commands.sources import expiry_text, table_rows
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

    def answered(question: str, choices: Sequence[str], default: int) -> int | None:
        nonlocal shown
        answer = ask(shown, question, choices, default)
        report.asked, shown = report.asked or answer is not None, ""
        return answer

    if not yes:
        ready = [at for at, row in enumerate(report.models) if row.ready]
        if len(ready) > 1:
            words = [report.models[at].words for at in ready]
            answer = answered("Who shall read them?", words, ready.index(model) if model in ready else 0)
            model = ready[answer] if answer is not None and not (model < 0 and answer == 0) else model
        if "sources" in wanted(workspace, report, -1, True):
            names = ", ".join(row.title for row in report.found if row.name != "home" and not row.picked)
            question = f"Read the conversations of {names} in every harvest? (they stay where they are)"
            read_all = answered(question, NO_OR_YES, 1) == 1
        open_tools = [row for row in report.tools if row.there and not row.connected]
        if open_tools:
            answer = answered(_connect_question(open_tools), NO_OR_YES, 0)
            tools = [row.tool for row in open_tools] if answer == 1 else []
        deletes = [row for row in report.found if row.expires_days]
        if workspace.config.archive == "off" and deletes:
            archive = KEEPS[answered(_archive_question(deletes), _archive_choices(report, deletes), 0) or 0]
        if not report.asked:
            return report
    return apply_answers(workspace, report, model, read_all, tools, archive)


def overview(report: SetupReport) -> str:
    """What was found, as lines: conversations and what becomes of them, what is set, what is new."""
    rows = [found_sentence(report), *table_rows(report.found), *filter(None, map(expiry_text, report.found))]
    if report.set:
        rows += ["", "set up already:", *(f"  {words}" for words in report.set)]
        rows += ["new:", *(f"  {words}" for words in report.new)] if report.new else ["nothing new since then"]
    return "\n".join(rows) + "\n"


def found_sentence(report: SetupReport) -> str:
    """`27 Claude Code, 5 Codex conversations; Claude Code deletes the first on 2026-12-22`."""
    counted = [f"{row.conversations} {'of your own' if row.name == 'home' else row.title}" for row in report.found]
    if not counted:
        return "no conversations were found on this computer yet"
    one = sum(row.conversations for row in report.found) == 1
    sentence = f"{', '.join(counted)} conversation{'' if one else 's'}"
    expiring = [row for row in report.found if row.next_expiry]
    if expiring:
        first = min(expiring, key=lambda row: row.next_expiry)
        when = first.next_expiry[:10]
        late = datetime.now(UTC).date().isoformat() > when
        sentence += f"; {first.title} deletes the first {'as soon as it starts' if late else f'on {when}'}"
    return sentence


def _connect_question(tools: Sequence[Standing]) -> str:
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


def _archive_question(deletes: Sequence[SourceFound]) -> str:
    """The fourth question, which is asked where a tool deletes conversations."""
    habits = " and ".join(f"{row.title} deletes a conversation after {row.expires_days} days" for row in deletes)
    return f"{habits}. Keep a copy, without secrets, so that it can still be found and read?"


def _archive_choices(report: SetupReport, deletes: Sequence[SourceFound]) -> list[str]:
    """The answers to it, with what each takes of the disk."""
    soon = sum(row.bytes for row in deletes)
    everything = sum(row.bytes for row in report.found if row.name != "home")
    return [
        "no",
        f"yes, what is about to be deleted (about {size(round(soon * PACKED_SHARE))} for what is there now)",
        f"yes, of every tool at once (about {size(round(everything * PACKED_SHARE))})",
    ]


def report_text(report: SetupReport) -> str:
    """The whole report."""
    rows = [] if report.asked else [overview(report)]
    if not report.asked and not report.changed:
        rows += ["models:", *(f"  {row.words}" for row in report.models[:MODELS_SHOWN])]
        rows += [f"  and {len(report.models) - MODELS_SHOWN} more"] * (len(report.models) > MODELS_SHOWN) + [""]
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
    top(
        "setup",
        "",
        setup,
        report_text,
        flag("--yes", "take the defaults: nothing that costs money, no hook, no timer"),
        asks=True,
    ),
)
