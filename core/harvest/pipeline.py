"""The driver of the stages that core/README.md tells: recover, look and plan, distil, freeze, write, reclaim, close,
digest; and how conversations are handed to a model and back."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from core.base import files
from core.base.answer import Answer, Generate
from core.base.figures import count
from core.base.paths import Paths
from core.base.result import ErrorInfo, Ok, Result, attempt
from core.harvest.asking import KeptAnswers
from core.harvest.classify import may_reclaim
from core.harvest.committer import Committer
from core.harvest.distil import CHANGED, Harvest, distil_step, leave_undone
from core.harvest.keeping import keep
from core.harvest.known import KnownStore
from core.harvest.meter import NO_ANSWER, NOT_TRIED, TOKEN_CAP, Breaker, Budget, Meter, stopped_note
from core.harvest.plan import plan_harvest
from core.harvest.prune import prune
from core.harvest.recovery import alone_with, recover
from core.harvest.report import ANSWERED, BEGUN, HarvestReport, NewLine, Progress, Report, add_counts
from core.harvest.steps import HarvestOptions, HarvestPlan, Step
from core.harvest.unproven import leave_unproven
from core.knowledge.digest import regenerate_digest, written_once
from core.knowledge.spending import Account, Purse
from core.sources.artifact import HashCache
from core.sources.sessions import StoreCache

TOGETHER = 32
"""This many conversations that were harvested before share one wait for the disk when they are taken away."""
AHEAD = 2
"""This many conversations for each job are handed to the model before their answers are used."""
CANCELLED = "cancelled"
"""The code with which a provider says that it gave up because the user asked for it."""


@dataclass(frozen=True)
class Distilled:
    """One step on its way to the files: of a harvest what the model (or the rules) gave, of any other step an empty
    `Harvest`. `answers` are kept until it is proven."""

    step: Step
    result: Result[Harvest]
    meter: Meter | None
    answers: KeptAnswers | None = None


class Live:
    """What a run tells while it waits: which conversations are being read, and what every answer has cost so far. For
    all threads of a run. `spent` are the tokens sent and received, as the provider counts them."""

    def __init__(self, progress: Report, total: int) -> None:
        self._progress, self._total = progress, total
        self._lock = threading.Lock()
        self.spent = (0, 0)

    def begun(self, step: Step) -> None:
        """A conversation is being read."""
        self._report(step, BEGUN, 0)

    def answered(self, step: Step, calls: int, answer: Answer) -> None:
        """A model has answered about a part of it, the `calls`-th time."""
        with self._lock:
            sent, received = self.spent
            self.spent = sent + (answer.input_tokens or 0), received + (answer.output_tokens or 0)
        self._report(step, ANSWERED, calls)

    def _report(self, step: Step, kind: str, calls: int) -> None:
        sent, received = self.spent
        item = step.artifact
        self._progress(Progress(0, self._total, item.name, "", 0, kind, item.path, calls, sent=sent, received=received))


OFFERED = {
    "supersedes": ("may correct an earlier bullet", 5),
    "answers": ("answers an open question", 4),
    "finishes": ("finishes a task", 3),
}
"""What makes a new line worth a look, when it says something of an old one."""
_WORTH = {"decisions": 2, "playbooks": 2, "facts": 1, "questions": 1, "files": 1}


def new_lines(harvest: Harvest) -> tuple[NewLine, ...]:
    """What a conversation gave, the best first. What is held back is not in a file, and not among them."""
    said = {offer.new: OFFERED[offer.kind] for offer in harvest.offers if offer.new and offer.kind in OFFERED}
    found = []
    for item in harvest.items:
        if item.held:
            continue
        why, score = said.get(item.text, ("", 0))
        if not why and len(item.steps) > 1:
            why, score = f"{len(item.steps)} steps", 2
        if not why and item.kind == "pitfall":
            why, score = "a pitfall", 2
        if not why and item.scope == "person":
            why, score = "about you", 1
        found.append(NewLine(item.category, item.text, why, score + _WORTH.get(item.category, 0), item.confirms))
    return tuple(sorted(found, key=lambda line: (line.again, -line.score)))


def run_harvest(
    paths: Paths,
    options: HarvestOptions,
    generate: Generate | None,
    *,
    now: Callable[[], datetime],
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
    cache: HashCache | None = None,
) -> HarvestReport:
    """Harvest and reclaim. `generate` None means the offline rules, whatever provider the options name.

    Raises KnowledgeError only when the run could not start (another one holds the lock, the store cannot be written);
    whatever happens to single conversations stands in the report.
    """
    if generate is None:
        options = replace(options, limits=replace(options.limits, provider="offline"))
    with alone_with(paths, "harvest"):
        recovered = recover(paths, now(), options.editor_wait)
        plan = plan_harvest(paths, options, recovered.entries, now(), cache or HashCache())
        if generate is not None:
            options = replace(options, known=KnownStore.read(paths, recovered.entries))
        elif options.distil.waiting is not None:
            leave_undone(options.distil.waiting, recovered.entries, recovered.unfinished)
        report = HarvestReport(applied=True, run=new_run(now()), plan=plan, ledger=str(paths.ledger))
        report.finished = recovered.finished
        report.errors += [*recovered.errors, *plan.errors]
        careful = [f"nothing is reclaimed: {plan.careful}"] if plan.careful else []
        unread = [options.known.unread] if options.known is not None and options.known.unread else []
        report.notes += [*recovered.notes, *plan.notes, *careful, *unread]
        committer = Committer(paths, options, recovered, report, now)
        total = sum(step.action != "defer" for step in plan.steps)  # what another run will read is none of its work
        live = Live(progress, total)
        run = _Run(committer, live, progress, total)
        reader = _Reader(options, generate, live, Account(paths.spending, now) if options.caps else None)
        try:
            committer.notice_missing(step.sha256 for step in plan.steps if step.action in ("reclaim", "duplicate"))
            leave_unproven(committer, plan.steps, new_run(now()))
            keep(committer, options, plan, progress, cancelled)
            with closing(_distilled(plan, options, reader, committer, cancelled)) as results:
                for distilled in results:
                    run.go_on(distilled)
                    if not committer.trusted:
                        break
            run.end()
            if report.held and report.reclaimed:
                report.notes.append(_held_note(report.held, options.trash_days))
            if reader.breaker.reason is not None and report.not_tried:
                report.notes.append(stopped_note(report.not_tried, reader.breaker.reason))
        finally:
            committer.finish()
        write_digest(paths, options, report)
        return report


@dataclass
class _Run:
    """The way of the steps of a plan from their answers to the files, and what the user is told on it. Of the `total`
    that this run is about `done` are through; `_twins` wait for the one conversation of their content that is
    harvested; `_paid` are the answers that are kept until the lines are written, both by sha256; `_leaving` were
    harvested before, and go together."""

    committer: Committer
    live: Live
    progress: Report
    total: int
    done: int = 0
    _twins: dict[str, list[Step]] = field(default_factory=dict)
    _paid: dict[str, KeptAnswers] = field(default_factory=dict)
    _leaving: list[Step] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.report = self.committer.report
        self._waiting = {step.sha256 for step in self.report.plan.steps if step.action == "harvest"}

    def go_on(self, distilled: Distilled | None) -> None:
        """Go on with one step as it came back; None where no answer is there: time to write what is staged, if there is
        enough of it."""
        if distilled is None:
            self.committer.flush() if self.committer.batch.seconds_left() == 0 else self.committer.sync()
        elif distilled.step.action == "duplicate" and distilled.step.sha256 in self._waiting:
            self._twins.setdefault(distilled.step.sha256, []).append(distilled.step)
        elif distilled.step.action in ("reclaim", "duplicate"):
            self._leaving.append(distilled.step)
        else:
            if distilled.step.action == "prune":
                self._write()
            self._take(distilled)
        self._finish_written()
        if distilled is None or len(self._leaving) >= TOGETHER:
            self._take_away()

    def end(self) -> None:
        """Write what is still staged."""
        self._write()
        cut = self.done < self.total and self.committer.trusted
        self.report.cancelled = self.report.cancelled or cut

    def _write(self) -> None:
        if self.committer.trusted:
            self.committer.flush()
        self._finish_written()
        self._take_away()

    def _take_away(self) -> None:
        leaving, self._leaving = self._leaving, []
        why = {step: _why_kept(step, self.committer) for step in leaving}
        gone = self.committer.take_away([step for step in leaving if not why[step]])
        for step in leaving:
            self.report.kept += bool(why[step])
            self._through(step, why[step] or ("reclaimed" if step in gone else "kept"))

    def _take(self, distilled: Distilled) -> None:
        step = distilled.step
        if distilled.answers is not None:
            self._paid[step.sha256] = distilled.answers
        outcome = _do_step(distilled, self.committer)
        if outcome is not None:
            self._through(step, outcome)
            if step.action == "harvest":
                self._release_twins(step)
        elif isinstance(distilled.result, Ok):
            self._through(step, _gave(distilled.result.value), new_lines(distilled.result.value))
            if self.committer.batch.is_full():
                self.committer.flush()

    def _finish_written(self) -> None:
        """For what was written since: the answers need not be kept any more, and the twins may go."""
        for row in self.committer.written():
            if row.error is not None:
                self._report(row.step, "failed")
            else:
                entry = row.harvest.entry
                add_counts(self.report.changed, {entry["change"]: 1} if "change" in entry else {})
                if row.step.sha256 in self._paid:
                    self._paid.pop(row.step.sha256).drop()
            self._release_twins(row.step)

    def _release_twins(self, step: Step) -> None:
        self._waiting.discard(step.sha256)
        self._leaving += self._twins.pop(step.sha256, ())

    def _through(self, step: Step, outcome: str, lines: tuple[NewLine, ...] = ()) -> None:
        self.done += step.action != "defer"
        self._report(step, outcome, lines)

    def _report(self, step: Step, outcome: str, lines: tuple[NewLine, ...] = ()) -> None:
        used = self.report.input_tokens + self.report.output_tokens  # as the report counts them: of what is through
        item, (sent, received) = step.artifact, self.live.spent
        self.progress(
            Progress(self.done, self.total, item.name, outcome, used, path=item.path, sent=sent,
                     received=received, lines=lines)
        )  # fmt: skip


class _Reader:
    """Hands single conversations to the model (`generate` None: to the rules), within what a run may spend."""

    def __init__(self, options: HarvestOptions, generate: Generate | None, live: Live, account: Account | None) -> None:
        self._options, self.generate, self._live = options, generate, live
        self._budget, self.breaker = Budget(options.max_run_tokens), Breaker()
        self._purse = Purse(options.caps, account, options.price)

    def read(self, opened: StoreCache, step: Step, *, is_first: bool = True) -> Distilled:
        """Stage 3 for one step; from any thread. The first call of a run goes alone: where the provider refuses it, the
        others need not be tried."""
        if not is_first:
            self.breaker.first_call.wait()
        try:
            return self._read(opened, step)
        finally:
            self.breaker.first_call.set()  # nothing may have been asked about it
            if self._options.known is not None:
                self._options.known.is_read(step.sha256)

    def expect(self, step: Step) -> None:
        """A step will be read, after those of before."""
        if self._options.known is not None:
            self._options.known.expect(step.sha256)

    def _read(self, opened: StoreCache, step: Step) -> Distilled:
        if self.breaker.reason is not None:
            return Distilled(step, self.breaker.refusal(), None)
        self._live.begun(step)
        meter = None
        if self.generate is not None:
            heard = partial(self._live.answered, step)
            meter = Meter(self.generate, self._budget, self.breaker, self._purse, heard)
        if meter is None or self._options.kept is None:
            return Distilled(step, attempt(distil_step, step, self._options, meter, opened), meter)
        paid = KeptAnswers(meter, self._options.kept, step.sha256, self._options.asked)
        return Distilled(step, attempt(distil_step, step, self._options, paid, opened), meter, paid)


def _distilled(
    plan: HarvestPlan,
    options: HarvestOptions,
    reader: _Reader,
    committer: Committer,
    cancelled: Callable[[], bool],
) -> Generator[Distilled | None, None, None]:
    """All steps of a plan in their order, those that ask the model as their answers come: a slow one holds nobody up.
    What needs no answer, or is not to be harvested now, passes through. None stands for a moment in which no answer is
    there. Ends early when cancelled."""
    left = {*committer.recovered.unfinished, *committer.recovered.unproven}
    # A conversation knows what those before it taught.
    wanted = [step for step in plan.steps if step.action == "harvest"]
    oldest = iter(wanted if reader.generate is None else sorted(wanted, key=lambda step: step.artifact.mtime_ns))
    jobs = max(1, options.jobs)
    waits: list[Future[Distilled]] = []

    def come() -> list[Distilled]:
        """The answers that are there, in the order in which they were asked for."""
        done = [future for future in waits if future.done()]
        waits[:] = [future for future in waits if future not in done]
        return [future.result() for future in done if not future.cancelled()]

    def answers() -> Iterator[Distilled | None]:
        """The same, and None before it is waited for the next one, as long as what is staged may wait."""
        found = come()
        if not found:
            yield None
            wait(waits, committer.batch.seconds_left(), FIRST_COMPLETED)
        yield from found

    def give_up() -> None:
        """The last first: who is begun meanwhile may wait for those before it."""
        for future in reversed(waits):
            future.cancel()

    with StoreCache(options.copies) as opened, ThreadPoolExecutor(jobs) as pool:
        is_first = True
        try:
            for planned in plan.steps:
                if cancelled():
                    break
                step = next(oldest) if planned.action == "harvest" else planned
                while step.action == "prune" and waits and not cancelled():  # that is for the end of a run
                    yield from answers()
                if step.action != "harvest" or step.sha256 in left:
                    yield Distilled(step, Ok(Harvest(())), None)
                elif reader.generate is None:
                    yield reader.read(opened, step)
                else:
                    reader.expect(step)
                    waits.append(pool.submit(partial(reader.read, opened, step, is_first=is_first)))
                    is_first = False
                    while not cancelled() and (len(waits) >= jobs * AHEAD or any(one.done() for one in waits)):
                        yield from answers()
            while waits and not cancelled():
                yield from answers()
            give_up()
            wait(waits)  # those that are being asked end soon
            yield from come()  # of a run that was cancelled: they were paid for
        finally:
            give_up()


def _do_step(distilled: Distilled, committer: Committer) -> str | None:
    """Do one step, or stage its harvest; returns what became of it, in a word or two for the progress line. None: it is
    staged, `Committer.flush` does the rest, and `Committer.written` tells when it was written, or why not."""
    step, meter, report = distilled.step, distilled.meter, committer.report
    if meter is not None:
        report.input_tokens += meter.input_tokens or 0
        report.output_tokens += meter.output_tokens or 0
        report.calls += meter.requests
    if why := _why_kept(step, committer):
        report.kept += 1
        return why
    match step.action:
        case "harvest":
            return _stage(distilled, committer)
        case "discard":
            return "removed without harvest" if committer.discard(step) else "kept"
        case "too-large":
            committer.too_large(step)
            return "kept: too large"
        case "prune":
            return "pruned" if prune(committer, step) else "kept"
        case "defer":
            report.deferred += 1
            return "deferred"
        case _:
            committer.fail(step, ErrorInfo("unreadable", "the conversation cannot be read"), None)
            return "failed"


def _why_kept(step: Step, committer: Committer) -> str:
    """Why nothing is done with this step, in a word or two; "" if something is."""
    if step.sha256 in committer.recovered.unfinished:
        return "waits for its plan to be written"
    if step.sha256 in committer.recovered.unproven:
        return "waits: lines of an earlier harvest stand"
    if step.action != "duplicate":
        return ""
    if not committer.proofs.is_proven(step.sha256, committer.entries.get(step.sha256)):
        return "kept: its twin was not harvested"
    return "" if may_reclaim(committer.entries[step.sha256], committer.limits, step.artifact) else "kept"


def _stage(distilled: Distilled, committer: Committer) -> str | None:
    step, result, report = distilled.step, distilled.result, committer.report
    if isinstance(result, Ok):
        return None if committer.stage(step, result.value, distilled.meter) else "failed"
    code = result.error.code
    sent = distilled.meter is not None and distilled.meter.requests > 0
    report.unanswered += sent and code in (CANCELLED, NOT_TRIED)
    if code == NOT_TRIED and sent:
        message = "it was sent, and no answer came before the run gave the model up"
        committer.fail(step, ErrorInfo(NO_ANSWER, message, hint="run again to go on"), distilled.meter)
        return "sent, no answer"
    if code in (CANCELLED, NOT_TRIED):  # neither is a failure of this conversation
        report.kept += 1
        report.cancelled = report.cancelled or code == CANCELLED
        report.not_tried += code == NOT_TRIED
        return "sent, no answer" if sent else "untouched" if code == CANCELLED else "not tried"
    if code == CHANGED and step.artifact.is_foreign:  # its tool writes it; the next run finds it as it is then
        report.deferred += 1
        return "still being written"
    if code == TOKEN_CAP:
        report.deferred += 1
        if (note := str(result.error)) not in report.notes:
            report.notes.append(note)
        return "deferred"
    committer.fail(step, result.error, distilled.meter)
    return "failed"


def _gave(harvest: Harvest) -> str:
    """What a conversation gave, in a word or two."""
    held = sum(bool(item.held) for item in harvest.items)
    number = len(harvest.items) - held
    if not harvest.items:
        return "nothing durable"
    return count(number, "item") + (f", {held} held back" if held else "")


def _held_note(number: int, trash_days: int) -> str:
    """The quarantine is a proof like any file, so its conversations may go: a user should look while they can."""
    until = f"; what was taken away stays in the trash for {trash_days} days" if trash_days else ""
    whose = count(number, "conversation")
    return f"nothing of {whose} is in a file or digest before you let it in ('knowledge review --kind held'){until}"


def write_digest(paths: Paths, options: HarvestOptions, report: HarvestReport) -> None:
    """Stage 8. A projection: a failure is reported and blocks nothing."""
    if options.digest_max_bytes is None:
        return
    try:
        if options.unattended and not files.exists(paths.digest) and written_once(paths):
            return
        written = regenerate_digest(paths, options.digest_max_bytes, secrets=options.distil.redact)
        report.digest = str(written) if written is not None else ""
    except OSError as error:
        message = f"the digest could not be written: {error.strerror}"
        report.errors.append(
            ErrorInfo("digest-failed", message, str(paths.digest), "'knowledge digest on' tries again")
        )


def new_run(now: datetime) -> str:
    """A run's id: sorts by time, never repeats."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
