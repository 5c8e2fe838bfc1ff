"""One harvest as the panel runs it: a dry run, the run itself, its result. It goes on while its dialog is closed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from core.base.result import Err, ErrorInfo, Result
from core.commands.harvest import finish_harvest, harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import Workspace
from core.harvest.report import HarvestReport, Progress
from gui.shell import RUN, Shell
from gui.state import Activity, State
from gui.toolkit.jobs import Job

RESTING, PLANNING, PLANNED, RUNNING, ENDED, FAILED = "resting", "planning", "planned", "running", "ended", "failed"
LATEST = 200
"""So many of the newest outcomes are kept for the list."""


@dataclass(frozen=True)
class Outcome:
    """What became of one conversation while the run goes on."""

    name: str
    words: str


@dataclass(frozen=True)
class Run:
    """Where the harvest stands. `plan` is the dry run, `report` the result; `outcomes` are newest first;
    `sources` are those that were asked for alone, none: as the settings say."""

    phase: str = RESTING
    plan: HarvestReport | None = None
    report: HarvestReport | None = None
    error: ErrorInfo | None = None
    outcomes: tuple[Outcome, ...] = ()
    provider: str = "offline"
    took: float = 0.0
    undone: bool = False
    lines_out: int = 0
    restored: int = 0
    stayed: int = 0
    """So many of its lines the undo left, because the person has changed them since."""
    sources: tuple[str, ...] = ()
    workspace: Workspace | None = None
    """What the dry run looked at; the harvest is of the same, whatever the window shows by then."""


class HarvestRun:
    """At most one dry run or harvest at a time. `now` is what stands; `on_change()` hears of every step."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.now = Run()
        self.on_change: Callable[[], object] = lambda: None
        self._job: Job | None = None

    def look(self, sources: tuple[str, ...] = ()) -> None:
        """Make a dry run, of these sources alone where some are named; while a harvest runs, nothing."""
        workspace, before = self._shell.workspace, self.now.workspace
        same = before is not None and before.paths.home == workspace.paths.home
        if self.now.phase == RUNNING or (self.now.phase == PLANNING and same):
            return
        asked = Run(PLANNING, provider=workspace.config.provider, sources=sources, workspace=workspace)
        self._set(asked)
        request = HarvestRequest(sources=sources)

        def planned(result: Result[HarvestReport]) -> None:
            if self.now is asked:  # else another home has been asked about since
                self._planned(result)

        self._job = self._shell.submit("The dry run", lambda _job: harvest(workspace, request), planned, lane=RUN)

    def apply(self) -> bool:
        """Do what the dry run showed; False when there is no dry run to do."""
        workspace = self.now.workspace
        if self.now.phase != PLANNED or workspace is None:
            return False
        self._set(replace(self.now, phase=RUNNING, outcomes=()))
        begun, sources = time.monotonic(), self.now.sources
        self._shell.change(activity=Activity("Harvesting", words="begins", begun=begun), event="Harvest began")

        def finish(result: Result[Any]) -> None:
            self._ended(result, time.monotonic() - begun)

        def work(job: Job) -> Result[HarvestReport]:
            return run_harvest(workspace, job, sources)

        self._job = self._shell.submit("The harvest", work, finish, progress=self._step, lane=RUN)
        return True

    def cancel(self) -> None:
        """Stop after the current durable step."""
        activity = self._shell.state.activity
        if self._job is None or activity is None:
            return
        self._job.cancel()
        self._shell.change(activity=replace(activity, stopping=True))
        self.on_change()

    def finish(self) -> None:
        """Bring to its end what a harvest left that was cut off."""
        workspace = self._shell.workspace

        def finished(result: Result[HarvestReport]) -> None:
            if isinstance(result, Err):
                self._shell.error(result.error)
            elif result.value.errors:
                self._shell.error(result.value.errors[0])
            else:
                words = "The harvest that was cut off is finished: its lines are in your files"
                self._shell.toast(words)
                self._shell.change(event=words)
            self._shell.refresh()

        self._shell.submit("Finishing the harvest", lambda _job: finish_harvest(workspace), finished, lane=RUN)

    def undo(self) -> None:
        """Take back what the run did."""
        report = self.now.report
        if report is not None and report.run and not self.now.undone:
            self._shell.undo(report.run, self._undone)

    def _undone(self, report: Any) -> None:
        out, back, stayed = report.lines_out, len(report.restored), len(report.stayed)
        self._set(replace(self.now, undone=True, lines_out=out, restored=back, stayed=stayed))

    def rest(self) -> None:
        """Forget a result or a plan that was looked at."""
        if self.now.phase in (PLANNED, ENDED, FAILED):
            self._set(Run())

    def refresh(self, _state: State) -> None:
        """Nothing of its own is on the screen."""

    def _set(self, run: Run) -> None:
        self.now = run
        self.on_change()

    def _planned(self, result: Result[HarvestReport]) -> None:
        self._job = None
        if isinstance(result, Err):
            self._set(replace(self.now, phase=FAILED, error=result.error))
            return
        self._set(replace(self.now, phase=PLANNED, plan=result.value))

    def _step(self, news: Progress) -> None:
        activity = self._shell.state.activity
        if activity is None:
            return
        self._shell.change(
            activity=replace(
                activity,
                done=news.done,
                total=news.total,
                words=f"{news.name}: {news.outcome}",
                tokens=news.tokens,
                price=spent_so_far(self.now.plan, news.tokens),
            )
        )
        self._set(replace(self.now, outcomes=(Outcome(news.name, news.outcome), *self.now.outcomes[: LATEST - 1])))

    def _ended(self, result: Result[HarvestReport], took: float) -> None:
        self._job = None
        if isinstance(result, Err):
            self._shell.change(activity=None, event="The harvest could not be done")
            self._set(replace(self.now, phase=FAILED, error=result.error))
        else:
            words = ended_words(result.value)
            self._shell.change(activity=None, event=words)
            self._set(replace(self.now, phase=ENDED, report=result.value, took=took))
        self._shell.refresh()


def run_harvest(workspace: Workspace, job: Job, sources: tuple[str, ...] = ()) -> Result[HarvestReport]:
    """The harvest as a job of the worker: tells each conversation, looks whether it shall stop."""
    request = HarvestRequest(apply=True, sources=sources)
    return harvest(workspace, request, progress=job.report, cancelled=lambda: job.cancelled)


def spent_so_far(plan: HarvestReport | None, tokens: int) -> float | None:
    """About what so many tokens cost, by the estimate of the dry run; None where that does not know a price."""
    if plan is None or not plan.price or not plan.tokens:
        return None
    return plan.price * tokens / (plan.tokens + plan.expected_output)


def ended_words(report: HarvestReport) -> str:
    """One sentence about a run."""
    begun = "Stopped" if report.cancelled else "Harvested"
    items = sum(report.items.values())
    words = f"{begun}: {report.harvested} conversation{'' if report.harvested == 1 else 's'}, {items} new lines"
    return f"{words}, {report.failed} failed" if report.failed else words
