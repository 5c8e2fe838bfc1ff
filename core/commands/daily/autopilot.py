"""Harvests that nobody waits for: begun by a hook when a session ends, or by the system's own scheduler.

One runs at a time. It reads what changed since the last run and leaves alone what a tool may still be writing; what it
leaves, for that reason or for a budget, the next one takes. Its report lies in the store, for `knowledge status` and
the panel; a failure is reported once, where the user is: at the start of their next session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files, locks
from core.base.figures import seconds_of
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, Ok, Result, attempt, disk_errors
from core.commands.workspace import Clock, Workspace, utc_now
from core.knowledge.spending import Account

if TYPE_CHECKING:  # the start of a session does not wait for the rooms of a harvest
    from core.commands.harvest_options import HarvestRequest
    from core.harvest.report import HarvestReport

    Harvest = Callable[..., HarvestReport]

ROUNDS = 5
"""The most rounds of one run: each reads what ended while the one before was at work."""
RETRY_HOURS = 24
"""The hours after which a failed conversation is tried again; at once where the model could not be asked."""
CATCH_UP_HOURS = 1
"""The start of a session begins a run where the last one is older than that."""
MAX_FILE_BYTES = 1 << 20


@dataclass(frozen=True)
class Problem:
    """Why the last run could not do its work. `since` and `times` tell how long that has been so."""

    code: str
    message: str
    hint: str = ""
    since: str = ""
    times: int = 1
    told: bool = False

    def __str__(self) -> str:
        return str(ErrorInfo(self.code, self.message, "", self.hint))


@dataclass(frozen=True)
class Autopilot:
    """The last run that nobody waited for. Times are ISO 8601 in UTC; `left` are conversations for the next run (over a
    budget, or not asked about), `writing` those that their tool may still write; `tokens_today` and `dollars_month` are
    those of all harvests."""

    at: str
    run: str = ""
    harvested: int = 0
    items: int = 0
    left: int = 0
    writing: int = 0
    failed: int = 0
    tokens: int = 0
    dollars: float | None = None
    tokens_today: int = 0
    dollars_month: float = 0.0
    note: str = ""
    problem: Problem | None = None


def read_autopilot(paths: Paths) -> Autopilot | None:
    """The report of the last run; None where there was none, or it cannot be read."""
    try:
        row = json.loads(files.read_file(paths.autopilot, MAX_FILE_BYTES).data)
        problem = row.pop("problem", None)
        return Autopilot(**row, problem=Problem(**problem) if problem else None)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None


def _write(paths: Paths, state: Autopilot) -> None:
    with suppress(OSError):  # a report that cannot be written stops nothing: the ledger knows what was done
        files.make_folder(paths.state)
        files.write_atomic(paths.autopilot, json.dumps(asdict(state), indent=1).encode(), 0o600, lasting=False)


# --- a run -----------------------------------------------------------------------------------------------------------


def run_by_itself(
    workspace: Workspace,
    request: HarvestRequest,
    ended: Sequence[str],
    harvest: Harvest,
    *,
    now: Clock = utc_now,
    **named: Any,
) -> HarvestReport:
    """`harvest --apply --since-last`; `harvest` does one, and gets what is `named` too.

    Where another such run is at work this one only leaves a note of what has ended, which that one finds. The report is
    that of the last round; failures that were told before are not told again.
    """
    from core.harvest.report import HarvestReport

    paths = workspace.paths
    request = replace(request, sources=request.sources or sources_of(workspace))
    with disk_errors("store-failed", "the knowledge folder cannot be used", hint="check its owner and rights"):
        try:
            _note_ended(paths, ended)
            with locks.locked(paths.autopilot_lock, work="harvest --since-last"):
                return _rounds(workspace, request, partial(harvest, **named), now)
        except locks.LockHeldError:
            return HarvestReport(True, notes=["a harvest is at work; it reads this too"], ledger=str(paths.ledger))


def _rounds(workspace: Workspace, request: HarvestRequest, harvest: Harvest, now: Clock) -> HarvestReport:
    from core.harvest.meter import DOUBTFUL, HOPELESS  # a hook that has nothing to do loads no harvest
    from core.harvest.report import HarvestReport

    paths, before = workspace.paths, read_autopilot(workspace.paths)
    report = HarvestReport(True, ledger=str(paths.ledger))
    for number in range(ROUNDS):
        if number and not files.exists(paths.ended):
            break
        sessions = _take_ended(paths)
        retry = before is not None and before.problem is not None and before.problem.code in HOPELESS | DOUBTFUL
        since = "" if retry else (now() - timedelta(hours=RETRY_HOURS)).astimezone(UTC).isoformat()
        asked = replace(request, apply=True, unattended=True, ended=sessions, retry_before=since)
        result = attempt(_within_budget, workspace, asked, harvest, now)
        if isinstance(result, KnowledgeError) and result.error.code == "lock-held":
            _note_ended(paths, tuple(sessions))  # a user harvests by hand: that finds everything too
            return HarvestReport(True, notes=[str(result.error)], ledger=str(paths.ledger))
        state = _state(workspace, result, before, now)
        _write(paths, state)
        if state.problem is not None and state.problem.times > 1:
            return _silent(result, state.problem)
        if isinstance(result, KnowledgeError):
            raise result
        report, before = result.value, state
        if state.problem is not None:
            break
    return report


def _within_budget(workspace: Workspace, request: HarvestRequest, harvest: Harvest, now: Clock) -> HarvestReport:
    require_budget(workspace, request)
    return harvest(workspace, request, now=now)


def sources_of(workspace: Workspace) -> tuple[str, ...]:
    """Whose conversations are read: those of the settings, and of the tools that are connected. () where the settings
    are wrong: the harvest says so."""
    from core.agents.connections import known_tools, read_record
    from core.agents.tools import AGENT
    from core.commands.sources import set_sources

    names, problem = set_sources(workspace)
    if problem:
        return ()
    connected = [name for tool in known_tools(read_record(workspace.environment)) for name in AGENT[tool].sources]
    return tuple(dict.fromkeys((*names, *connected)))


def require_budget(workspace: Workspace, request: HarvestRequest) -> None:
    """Refuse where nobody waits, a stranger's server sends a bill, and nobody said how much it may be. A model on this
    computer, a program and the rules need no budget."""
    from core.base.exchange import is_loopback
    from core.llm.generate import PROVIDERS

    config = workspace.config
    provider = request.provider or config.provider
    spec = PROVIDERS.get(provider)
    capped = config.max_run_tokens or config.max_day_tokens or config.max_run_price or config.max_month_price
    if spec is None or not spec.key_variables or capped or is_loopback(config.base_url):
        return
    message = f"a harvest that nobody waits for asks {provider} only within a budget, and none is set"
    hint = "'knowledge config set max_day_tokens 200000' sets one (or max_month_price)"
    raise KnowledgeError("no-budget", message, hint=hint)


def _silent(result: Result[HarvestReport], problem: Problem) -> HarvestReport:
    """A report without the failure, which was told before and stands in `knowledge status`."""
    from core.harvest.report import HarvestReport

    report = result.value if isinstance(result, Ok) else HarvestReport(True)
    report.errors = [error for error in report.errors if error.code != problem.code]
    report.notes.append(f"as before ({problem.times} times since {problem.since}): {problem.message}")
    return report


def _state(workspace: Workspace, result: Result[HarvestReport], before: Autopilot | None, now: Clock) -> Autopilot:
    at = now().astimezone(UTC).isoformat(timespec="seconds")
    problem = _problem(result, before.problem if before is not None else None, at)
    state = Autopilot(at, problem=problem)
    if isinstance(result, Ok):
        report = result.value
        caps = [note for note in report.notes if "budget of" in note or "max_run_tokens" in note]
        state = replace(
            state,
            run=report.run,
            harvested=report.harvested,
            items=sum(report.items.values()),
            left=report.deferred + report.not_tried,
            writing=report.plan.writing,
            failed=report.failed,
            tokens=report.input_tokens + report.output_tokens,
            dollars=report.spent,
            note=caps[0] if caps else "",
        )
    with suppress(OSError):
        account = Account(workspace.paths.spending, now)
        state = replace(state, tokens_today=account.day.tokens, dollars_month=round(account.month.dollars, 6))
    return state


def _problem(result: Result[HarvestReport], before: Problem | None, at: str) -> Problem | None:
    """What kept a run from its work; None where it did it, even if single conversations failed."""
    from core.harvest.meter import DOUBTFUL, HOPELESS

    if isinstance(result, KnowledgeError):
        error = result.error
    else:
        report = result.value
        grave = [error for error in report.errors if error.code in HOPELESS | DOUBTFUL]
        if not grave or not (report.not_tried or not report.harvested):
            return None
        error = grave[0]
    message = error.message
    if isinstance(result, KnowledgeError) and error.path:  # what is read later must make sense without the place
        message = f"{message.rstrip('.')} ({error.path})"
    if before is not None and before.code == error.code:
        return replace(before, message=message, hint=error.hint, times=before.times + 1)
    return Problem(error.code, message, error.hint, since=at)


def _note_ended(paths: Paths, ended: Sequence[str]) -> None:
    """Add sessions to those that no harvest has looked at since they ended, as they are now."""
    rows = []
    for name in ended:
        with suppress(OSError, ValueError):
            path = os.path.abspath(name)
            rows.append(json.dumps([path, os.stat(path).st_mtime_ns]))
    if not rows:
        return
    files.make_folder(paths.state)
    fd = files.open_for_append(paths.ended)
    try:
        files.write_all(fd, "".join(f"{row}\n" for row in rows).encode())
    finally:
        os.close(fd)


def _take_ended(paths: Paths) -> Mapping[str, int]:
    """The notes that lie there, which are gone then: what one run leaves of them the next finds without."""
    taken = Path(f"{paths.ended}.read")
    try:
        files.replace_file(paths.ended, taken)
        data = files.read_file(taken, MAX_FILE_BYTES).data
        files.discard(taken)
    except OSError:
        return {}
    found = {}
    for line in data.decode("utf-8", "replace").splitlines():
        try:
            path, mtime = json.loads(line)
        except (ValueError, TypeError, RecursionError):
            continue
        if isinstance(path, str) and isinstance(mtime, int):
            found[path] = mtime
    return found


# --- where the user is ---------------------------------------------------------------------------------------------


def at_session_start(workspace: Workspace, now: Clock = utc_now) -> str:
    """For the hook of a tool whose session begins: what the user should be told, and a run for what was missed."""
    state = read_autopilot(workspace.paths)
    at = seconds_of(state.at) if state is not None else 0.0
    if now().timestamp() >= at + CATCH_UP_HOURS * 3600 or files.exists(workspace.paths.ended):
        from core.commands.daily.connect import hand_over

        hand_over(workspace)
    if state is None or state.problem is None or state.problem.told:
        return ""
    _write(workspace.paths, replace(state, problem=replace(state.problem, told=True)))
    return f"Knowledge memory could not harvest: {state.problem} ('knowledge status' tells more.)"
