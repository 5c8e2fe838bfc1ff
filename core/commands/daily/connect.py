"""`knowledge connect`: other tools use this program, and are told so in their own files."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from core.agents.connections import (
    FileChange,
    Standing,
    carry_out,
    entries_of,
    known_tools,
    plan_connection,
    plan_removal,
    read_record,
    shown_text,
    standing,
    take_back,
)
from core.agents.hand_over import CHECK, HARVEST, is_ours, is_tried, set_free
from core.agents.tools import AGENT, AGENTS, HINTS, PARTS, SERVER, START, Program, agent_name, own_program
from core.base import locks
from core.base.paths import choose_home
from core.base.result import ErrorInfo, KnowledgeError
from core.commands.row import DRY_RUN, NO_OR_YES, YES, Argument, Ask, flag, nobody, top
from core.commands.text import collected, count, one_line
from core.commands.workspace import Workspace
from core.knowledge.check import Finding

CONTEXT_LINES = 1


@dataclass
class ChangeReport:
    """What was, or would be, changed in files of other programs (`changes`), and told the system (`commands`).
    `applied` is false for a dry run, for a no (`refused`), where nobody could be asked, and where nothing was to be
    changed; `shown` when the user has seen the changes already."""

    changes: list[FileChange] = field(default_factory=list)
    applied: bool = False
    removing: bool = False
    dry_run: bool = False
    refused: bool = False
    shown: bool = False
    commands: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)

    @property
    def planned(self) -> bool:
        """Whether there is anything to change, or to tell the system."""
        return bool(self.changes or self.commands)

    def agreed(self, question: str, ask: Ask) -> bool:
        """Whether the user wants what is planned. Where nobody can be asked it is not done, and that is an error."""
        answer = ask(self.text(), question, NO_OR_YES, 0)
        self.shown, self.refused = answer is not None, answer == 0
        if answer is None:
            hint = "look at the changes, then run it with --yes"
            self.errors.append(ErrorInfo("needs-yes", "nobody can be asked here, so nothing was changed", "", hint))
        return answer == 1

    def text(self) -> str:
        """The lines that come and go in each file, without secrets, and what the system is told."""
        return changes_text(self.changes) + "".join(f"$ {line}\n" for line in self.commands)

    def rows(self) -> list[str]:
        """How its report begins: what is planned, where the user has not seen it yet, and why it is not done."""
        rows = [] if self.shown else self.text().splitlines()
        if self.refused:
            rows.append("nothing was changed")
        elif self.dry_run and self.planned:
            rows.append("dry run; without --dry-run this is done")
        return rows

    def to_json(self) -> dict[str, Any]:
        return {
            "applied": self.applied,
            "removing": self.removing,
            "files": self.changes,
            "notes": self.notes,
            "errors": self.errors,
        }


@dataclass
class ConnectReport(ChangeReport):
    """What connecting changed, and how every tool stands then."""

    tools: list[Standing] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "tools": [standing_json(row) for row in self.tools]}


def standing_json(row: Standing) -> dict[str, Any]:
    """One tool for `--json`."""
    return {"name" if key == "tool" else key: value for key, value in vars(row).items()}


def program_for(workspace: Workspace) -> Program:
    """How others start this program for this home."""
    usual = choose_home("", workspace.loaded.home_setting, {})
    home = () if workspace.paths.home == usual else ("--home", str(workspace.paths.home))
    if workspace.named is not None:
        home = (*home, "--config", str(workspace.named.absolute()))
    return own_program(home)._replace(place=str(workspace.paths.home))


def hand_over(workspace: Workspace) -> None:
    """Begin a harvest in a process of its own, unless this one answers for another or is only tried."""
    program = program_for(workspace)
    if not (is_ours(workspace.environment) or is_tried(workspace.environment)):
        set_free([*program.words, *program.home, *HARVEST])


def connections(workspace: Workspace) -> list[Standing]:
    """How each tool stands, in the order of the table."""
    program, record = program_for(workspace), read_record(workspace.environment)
    return [standing(agent, program, workspace.environment, record) for agent in AGENTS]


def connect(
    workspace: Workspace,
    tool: Sequence[str] = (),
    *,
    everything: bool = False,
    remove: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    check_it: bool = False,
    ask: Ask = nobody,
) -> ConnectReport:
    """Connect tools, or take their connections back. `everything`: all that are on this computer (with `remove`: that
    are connected). Without any tool it only tells how they stand. The changes are shown first: on a terminal the user
    is asked, unless they said `yes`. A tool that cannot be connected is reported and does not keep others from it. With
    `check_it` nothing is written: what stands there is run."""
    names = list(_named(tool))
    if check_it:
        return ConnectReport(notes=check(workspace, names))
    program, environment = program_for(workspace), workspace.environment
    record = read_record(environment)
    if everything:
        there = known_tools(record) if remove else [row.name for row in AGENTS if row.is_there(environment)]
        names += [name for name in there if name not in names]
    report = ConnectReport(removing=remove, dry_run=dry_run)
    if everything and not names:
        report.notes.append("none is connected" if remove else "none of the tools that are known is on this computer")
    plans = [
        plan_removal(AGENT[name], program, environment, record)
        if remove
        else plan_connection(AGENT[name], program, environment, record)
        for name in names
    ]
    for plan in plans:
        report.changes += [row for row in plan.changes if row.is_change]
        report.errors += plan.errors
        report.notes += [note for note in plan.notes if note not in report.notes]
    ready = [plan for plan in plans if plan.changes and not plan.errors]
    if ready and not dry_run and (yes or not report.changes or report.agreed("write this?", ask)):
        for plan in ready:
            agent = AGENT[plan.tool]
            with collected(report.errors), locks.folder_lock(record.folder.parent):
                record.tools = read_record(environment).tools  # others may have written while the user was asked
                if remove:
                    take_back(plan, agent, record)
                else:
                    carry_out(plan, agent, program, environment, record)
                report.applied = report.applied or any(row.is_change for row in plan.changes)
    report.tools = [standing(row, program, environment, record) for row in AGENTS if not names or row.name in names]
    return report


def check(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Run what stands in the files of connected tools as these would, in this folder, but for what ends a session or
    begins a harvest: a sentence each, with what it gave and how long it took."""
    record, told = read_record(workspace.environment), list[str]()
    for name in [row for row in known_tools(record) if not names or row in names]:
        for entry, idle in entries_of(name, record):
            what = f"{name}, {PARTS[entry.part]}" + (f" ({entry.path[-1]})" if entry.append else "")
            if idle:
                told.append(f"{what}: does not work: {idle[0]}")
            elif entry.part == SERVER and isinstance(entry.value, dict):
                told.append(f"{what}: {_tried(_words_of(entry.value), _HELLO, workspace)}")
            elif entry.part in (START, HINTS) and isinstance(entry.value, dict) and os.name == "posix":
                for line, seconds in _lines_of(entry.value):
                    said = _SAID | {"hook_event_name": entry.path[-1], "cwd": str(workspace.cwd)}
                    # Codex runs it in the user's own shell, as at a login.
                    login = [workspace.environment.get("SHELL", "/bin/sh"), "-lc"]
                    words = [*(login if name == "codex" else ["/bin/sh", "-c"]), line]
                    told.append(f"{what}: {_tried(words, json.dumps(said), workspace, seconds)}")
    return list(dict.fromkeys(told)) or ["nothing is connected, so there is nothing to run"]


CHECK_SECONDS = 20.0
_SAID = {
    "session_id": "knowledge-connect-check", "prompt": "ok", "source": "startup", "transcript_path": "",
    "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "check",
    "tool_input": {"command": "knowledge-connect-check"}, "tool_response": "", "error": "", "trigger": "manual",
}  # fmt: skip
_HELLO = json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}},
}) + "\n"  # fmt: skip


def _words_of(value: Mapping[str, Any]) -> list[str]:
    command = value.get("command", "")
    return [*command] if isinstance(command, list) else [str(command), *map(str, value.get("args", ()))]


def _lines_of(value: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The command lines of a hook, each with the seconds that its tool gives it."""
    rows = [row for row in value.get("hooks", [value]) if isinstance(row, dict) and row.get("command")]
    return [(str(row["command"]), _seconds(row.get("timeout"))) for row in rows]


def _seconds(limit: Any) -> float:
    """A time-out of a hook in seconds: Gemini CLI counts in milliseconds."""
    given = float(limit) if isinstance(limit, int) and limit > 0 else CHECK_SECONDS
    return given / 1000 if given >= 1000 else given


def _tried(words: Sequence[str], said: str, workspace: Workspace, seconds: float = CHECK_SECONDS) -> str:
    """What came of one of them."""
    began = time.monotonic()
    environment = {"PATH": "/usr/bin:/bin", **workspace.environment, CHECK: "1"}
    try:
        done = subprocess.run(
            words, input=said, cwd=workspace.cwd, env=environment, capture_output=True, text=True,
            timeout=seconds, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return f"does not work: {one_line(error)}"
    took = f"{time.monotonic() - began:.1f} s"
    if done.returncode:
        return f"does not work: status {done.returncode} after {took}, {one_line(done.stderr.strip()[-200:])}"
    return f"works ({took}, {count(len(done.stdout), 'character')})"


def _named(typed: Sequence[str]) -> tuple[str, ...]:
    names = [agent_name(text) for text in typed]
    unknown = [text for text, name in zip(typed, names, strict=True) if not name]
    if unknown:
        known = ", ".join(AGENT)
        message = f"there is no tool {unknown[0]!r} that can be connected"
        raise KnowledgeError("unknown-tool", message, hint=f"choose of {known}")
    return tuple(dict.fromkeys(names))


def changes_text(changes: Sequence[FileChange]) -> str:
    """The changes as a user reads them: the lines that come and go, file by file, without secrets."""
    rows = []
    for change in changes:
        how = "new" if change.before is None else "goes" if change.after is None else "changes"
        before, after = shown_text(change.before), shown_text(change.after)
        if len(before.splitlines()) == len(after.splitlines()) == 1:
            with suppress(ValueError):
                before, after = (json.dumps(json.loads(text), indent=2, ensure_ascii=False) for text in (before, after))
                how += "; its one line, shown in several"
        rows.append(f"{change.path} ({how})")
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=CONTEXT_LINES)
        for line in list(lines)[2:]:
            rows.append(f"  {line}" if not line.startswith("@@") else "  …")
    return "\n".join(rows) + "\n" if rows else ""


def check_connections(workspace: Workspace) -> Iterator[Finding]:
    """For `knowledge doctor`: which connections stand, and why one does not work. Of a tool that is not connected
    nothing is said."""
    for row in connections(workspace):
        where = row.files[0] if row.files else ""
        for at, problem in enumerate(row.problems):
            yield Finding("connection-idle", f"{row.title}: {problem}", where, at=at)
        if row.missing:
            gone = ", ".join(PARTS[part] for part in row.missing)
            message = f"{row.title} was connected, and this is gone from its files, or changed: {gone}"
            message += " ('knowledge connect' again)"
            yield Finding("connection-gone", message, where, note=True)
        elif row.connected and not row.problems:
            message = f"{row.title} is connected: {', '.join(PARTS[part] for part in row.parts)}"
            message += f"; {row.less}" if row.less else ""
            yield Finding("connected", message, where, note=True)
        if row.outdated:
            message = f"{row.title} was connected by another version of this program, or for another home"
            message += f" ('knowledge connect {row.tool}' writes its files again)"
            yield Finding("connection-outdated", message, where, note=True)


def connect_text(report: ConnectReport) -> str:
    """The changes where they were not shown before, what came of them, and how the tools stand."""
    rows = report.rows()
    width = max((len(row.tool) for row in report.tools), default=0)
    for row in report.tools:
        state = "connected" if row.connected else "not connected" if row.there else "not on this computer"
        if row.connected:
            state += f" ({', '.join(PARTS[part] for part in row.parts)})"
        if row.missing:
            state += f"; gone from its files, or changed: {', '.join(PARTS[part] for part in row.missing)}"
        rows.append(f"{row.tool:<{width}}  {state}")
        rows += [f"{'':<{width}}  {one_line(problem)}" for problem in row.problems]
        if row.connected and row.outdated:
            rows.append(f"{'':<{width}}  by another version, or for another home: connect it again")
        if row.less and (row.connected or report.changes):
            rows.append(f"{'':<{width}}  {row.less}")
    rows += [f"note: {one_line(note)}" for note in report.notes]
    return "\n".join(rows) + "\n"


COMMANDS = (
    top(
        "connect",
        "claude_code codex --dry-run",
        connect,
        connect_text,
        Argument(
            ("tool",),
            "claude_code, codex, antigravity, gemini_cli, cursor, vscode, opencode, copilot_cli; none: how they stand",
            {"nargs": "*", "default": (), "metavar": "TOOL"},
            lambda: AGENT,
        ),
        flag("--all", "every tool that is on this computer; with --remove every one connected", dest="everything"),
        flag("--remove", "take the connection back: the files are as they were"),
        DRY_RUN,
        YES,
        flag("--check", "run what is written there as the tool would, and say what came of it", dest="check_it"),
        asks=True,
    ),
)
