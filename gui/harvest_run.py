"""One harvest as the panel runs it: a dry run, the run itself, its result. It goes on while its dialog is closed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from core.base.figures import count
from core.base.result import ErrorInfo
from core.commands.harvest import finish_harvest, harvest
from core.commands.harvest_options import HarvestRequest, price_of
from core.commands.history.runs import UndoReport
from core.commands.panel.titles import UNCALLED, Called, titles_of
from core.commands.workspace import Workspace, reopened
from core.harvest.report import THROUGH, HarvestReport, NewLine, Progress
from core.harvest.steps import FORGOTTEN_BY_YOU
from core.knowledge.run_state import ELSEWHERE
from gui.shell import RUN, Shell
from gui.state import Activity, State
from gui.toolkit.jobs import Job
from gui.views.looks import plain_name

RESTING, PLANNING, PLANNED, RUNNING, ENDED, FAILED = "resting", "planning", "planned", "running", "ended", "failed"
WAITING, READING, READ, BROKEN, LEFT = "waiting", "being read", "read", "failed", "left"
BEST = 60
"""The best new lines that are kept for the list."""
BEST_OF_ONE = 4
"""Those of one conversation."""


@dataclass(frozen=True)
class Talk:
    """One conversation of a run: what it is called, how far it is, and the order in which news of it came."""

    path: str
    name: str
    bytes: int = 0
    called: Called = UNCALLED
    state: str = WAITING
    calls: int = 0
    order: int = 0

    @property
    def title(self) -> str:
        """What a user calls it."""
        return self.called.title or plain_name(self.name)


@dataclass(frozen=True)
class Came:
    """A new line with the conversation that it came from, and when it came (seconds of `time.monotonic`)."""

    line: NewLine
    talk: Talk
    at: float


class Watch:
    """A run as one can watch it: changed with every piece of news, on the interface thread alone."""

    def __init__(self, plan: HarvestReport | None, names: Mapping[str, Called], begun: float) -> None:
        steps = [step for step in plan.plan.steps if step.action in ("harvest", "duplicate")] if plan else []
        self.talks = {
            step.artifact.path: Talk(
                step.artifact.path, step.artifact.name, step.new_bytes, names.get(step.artifact.path, Called())
            )
            for step in steps
        }
        # Counted as they come: of ten thousand conversations each piece of news would look at all.
        self._states = Counter(talk.state for talk in self.talks.values())
        self._done, self._all = 0, sum(talk.bytes or 1 for talk in self.talks.values())
        self.begun, self.sent, self.received, self.again = begun, 0, 0, 0
        self.counts: dict[str, int] = {}
        self.best: list[Came] = []
        self._lines: dict[str, list[NewLine]] = {}
        self.left = 0.0
        """Seconds that it will still take, 0 while nobody can know."""
        self._news = 0

    def hear(self, news: Progress, now: float) -> None:
        """One piece of news."""
        self._news += 1
        self.sent, self.received = max(self.sent, news.sent), max(self.received, news.received)
        talk = self.talks.get(news.path)
        if talk is None:
            return
        if news.kind != THROUGH:
            if talk.state == WAITING or news.calls > talk.calls:
                self._put(talk, replace(talk, state=READING, calls=news.calls, order=self._news))
            return
        self._forget(talk)
        fresh = [line for line in news.lines if not line.again]
        self.again += len(news.lines) - len(fresh)
        for line in fresh:
            self.counts[line.category] = self.counts.get(line.category, 0) + 1
        if fresh:
            self._lines[talk.path] = fresh
        state = BROKEN if news.outcome == "failed" else LEFT if news.outcome in NOT_READ else READ
        before, talk = talk, replace(talk, state=state, order=self._news)
        self._put(before, talk)
        said = {came.line.text for came in self.best}  # at once, by two conversations that were read side by side
        self.best += [Came(line, talk, now) for line in fresh[:BEST_OF_ONE] if line.text not in said]
        self.best = sorted(self.best, key=lambda came: (-came.line.score, -came.at))[:BEST]
        self._estimate(now)

    def _forget(self, talk: Talk) -> None:
        """What was said of it before: its lines could not be written after all."""
        for line in self._lines.pop(talk.path, ()):
            self.counts[line.category] -= 1
            self.best = [came for came in self.best if came.talk.path != talk.path]

    def _put(self, before: Talk, talk: Talk) -> None:
        self.talks[talk.path] = talk
        self._states[before.state] -= 1
        self._states[talk.state] += 1
        if before.state in (WAITING, READING) and talk.state not in (WAITING, READING):
            self._done += talk.bytes or 1

    def count(self, state: str) -> int:
        """How many conversations are in a state."""
        return self._states[state]

    @property
    def through(self) -> int:
        """How many are through."""
        return len(self.talks) - self.count(WAITING) - self.count(READING)

    def _estimate(self, now: float) -> None:
        rest = self._all - self._done
        if self.through >= 2:
            left = (now - self.begun) * rest / self._done
            self.left = min(left, self.left) if self.left and rest else left  # it never counts up


NOT_READ = ("deferred", "untouched", "not tried")
"""What became of a conversation that waits for another run."""


@dataclass(frozen=True)
class Run:
    """Where the harvest stands. `plan` is the dry run, `names` what its conversations are called by their paths;
    `report` is the result, `watch` how it went, `digest` the bytes of the digest before; `sources` are those that were
    asked for alone, none: as the settings say."""

    phase: str = RESTING
    plan: HarvestReport | None = None
    report: HarvestReport | None = None
    error: ErrorInfo | None = None
    names: Mapping[str, Called] = field(default_factory=dict)
    watch: Watch | None = None
    digest: int = 0
    took: float = 0.0
    undone: UndoReport | None = None
    sources: tuple[str, ...] = ()
    pending: Mapping[str, object] = field(default_factory=dict)
    """What waited as the dry run began."""


class HarvestRun:
    """At most one dry run or harvest at a time. `now` is what stands; `on_change()` hears of every step."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self.workspace = shell.workspace
        """What the dry run looked at; the harvest is of the same, whatever the window shows by then."""
        self.now = Run()
        self.on_change: Callable[[], object] = lambda: None
        self.on_end: Callable[[HarvestReport], object] = lambda _report: None
        self._job: Job | None = None

    @property
    def of_shown(self) -> bool:
        """Whether the home of the run is the one that the window shows."""
        return self.workspace.paths.home == self._shell.workspace.paths.home

    @property
    def digest(self) -> int:
        """The bytes of the digest now, as far as anybody has looked."""
        snapshot = self._shell.state.snapshot if self.of_shown else None
        return snapshot.overview.status.digest.bytes if snapshot is not None else self.now.digest

    def look(self, sources: tuple[str, ...] = ()) -> None:
        """Make a dry run, of these sources alone where some are named; while a harvest runs, nothing, and while another
        program is at work, only say so."""
        same = self.of_shown and sources == self.now.sources
        if self.now.phase == RUNNING or (self.now.phase == PLANNING and same):
            return
        self.workspace = self._shell.workspace
        if is_elsewhere(self._shell.state):
            # Without its figures: the line of state has them, and these would stand still.
            held_up = ErrorInfo("held-up", "Another program is at work: nothing starts here before it has ended")
            self._set(Run(FAILED, error=held_up, sources=sources))
            return
        self._set(Run(PLANNING, sources=sources))
        self._plan()

    def keep_up(self) -> None:
        """Make the dry run that is shown once more, in its place, where something else waits now."""
        state = self._shell.state
        free = self.now.phase == PLANNED and self._job is None and not is_elsewhere(state)
        if free and pending_of(state) != self.now.pending:
            self._plan()

    def _plan(self) -> None:
        asked, workspace, pending = self.now, self.workspace, pending_of(self._shell.state)
        request = HarvestRequest(sources=asked.sources)

        def planned(found: tuple[Run, Workspace]) -> None:
            self._job = None
            run, self.workspace = found
            self._set(run)

        def work(_job: Job) -> tuple[Run, Workspace]:
            settled = reopened(workspace)  # no run on settings that are not those of the file
            report = harvest(settled, request)
            rows = [row.artifact for row in report.plan.classified if row.reason != FORGOTTEN_BY_YOU]
            names = titles_of(workspace, rows)
            return replace(asked, phase=PLANNED, plan=report, names=names, pending=pending), settled

        # Else another home has been asked about since.
        self._job = self._shell.submit("The dry run", work, planned, failed=self._failed, lane=RUN,
                                       wanted=lambda: self.now is asked)  # fmt: skip

    def apply(self) -> None:
        """Do what the dry run showed."""
        workspace, begun, sources = self.workspace, time.monotonic(), self.now.sources
        watch = Watch(self.now.plan, self.now.names, begun)
        self._shell.change(activity=Activity())
        self._set(replace(self.now, phase=RUNNING, watch=watch, digest=self.digest))

        def work(job: Job) -> HarvestReport:
            reopened(workspace)  # raises for settings that cannot be read any more
            request = HarvestRequest(apply=True, sources=sources)
            return harvest(workspace, request, progress=job.report, cancelled=lambda: job.cancelled)

        self._job = self._shell.submit(
            "The harvest", work, lambda report: self._ended(report, time.monotonic() - begun),
            failed=self._failed, progress=partial(self._step, watch), lane=RUN,
        )  # fmt: skip

    def cancel(self) -> None:
        """Stop after the current durable step."""
        activity = self._shell.state.activity
        if self._job is None or activity is None:
            return
        self._job.cancel()
        self._shell.change(activity=replace(activity, stopping=True))

    def finish(self) -> None:
        """Bring to its end what a harvest left that was cut off."""
        workspace = self._shell.workspace

        def failed(error: ErrorInfo) -> None:
            self._shell.error(error)
            self._shell.refresh()

        def finished(report: HarvestReport) -> None:
            if report.errors:
                self._shell.error(report.errors[0])
            else:
                self._shell.on_success("Finishing the harvest")
                self._shell.toast("The harvest that was cut off is finished: its lines are in your files")
            self._shell.refresh()

        self._shell.submit("Finishing the harvest", lambda _job: finish_harvest(reopened(workspace)), finished,
                           failed=failed, lane=RUN)  # fmt: skip

    def undo(self) -> None:
        """Take back what the run did."""
        if self._shell.defers(self.undo):  # of two quick clicks the second would say that nothing was there
            return
        report = self.now.report
        if report is not None and report.run and not self.now.undone:
            self._shell.undo(report.run, lambda undone: self._set(replace(self.now, undone=undone)), self.workspace)

    def rest(self) -> None:
        """Forget a result or a plan that was looked at."""
        if self.now.phase in (PLANNED, ENDED, FAILED):
            self._set(Run())

    def _set(self, run: Run) -> None:
        self.now = run
        self.on_change()

    def _failed(self, error: ErrorInfo) -> None:
        """The dry run, or the harvest itself, came to nothing."""
        self._job = None
        self._shell.change(activity=None)
        self._set(replace(self.now, phase=FAILED, error=error))
        self._shell.refresh()

    def _step(self, watch: Watch, news: Progress) -> None:
        workspace = self.workspace
        config, activity = workspace.config, self._shell.state.activity or Activity()
        watch.hear(news, time.monotonic())
        spent = watch.sent + watch.received
        self._shell.change(
            activity=replace(
                activity,
                done=watch.through,
                total=len(watch.talks),
                tokens=spent,
                price=price_of(workspace, config.provider, config.model, watch.sent, watch.received) if spent else None,
                left=watch.left,
                failed=watch.count(BROKEN),
            )
        )

    def _ended(self, report: HarvestReport, took: float) -> None:
        self._job = None
        self._shell.change(activity=None)
        if not report.errors:
            self._shell.on_success("The harvest")
        self._set(replace(self.now, phase=ENDED, report=report, took=took))
        self._shell.look.jobs.attempt(self.on_end, report)
        self._shell.refresh()


def pending_of(state: State) -> Mapping[str, object]:
    """What waits for a harvest, as far as it was read."""
    return state.snapshot.overview.status.pending if state.snapshot is not None else {}


def is_elsewhere(state: State) -> bool:
    """Whether another program changes the store now."""
    return state.snapshot is not None and state.snapshot.overview.status.stands.run.state == ELSEWHERE


def ended_words(report: HarvestReport) -> str:
    """One sentence about a run."""
    if report.failed and not report.harvested:
        return f"Nothing was harvested: {count(report.failed, 'conversation')} failed"
    begun = "Stopped" if report.cancelled else "Harvested"
    words = f"{begun}: {count(report.harvested, 'conversation')}, {count(len(report.lines), 'new bullet')}"
    return f"{words}, {report.failed:,} failed" if report.failed else words
