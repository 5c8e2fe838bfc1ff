"""The error campaign: every operation fails with every errno, once and from then on, reads and opens among them."""

from __future__ import annotations

from tests.faults.fault import EVERYTHING, Counter, Fault, error_points
from tests.faults.invariants import Seen, loss
from tests.faults.server import Finding, Told, Tried, count, in_child, judge, run_with
from tests.faults.store import Store


def errors(store: Store, stride: int = 1, start: int = 0) -> Tried:
    """One scenario with an error at every `stride`-th point."""
    store.put_back()
    tried = Tried()
    for fault in error_points(count(store, EVERYTHING), stride, start):
        wrong = failed_at(store, fault)
        tried.points += 1
        if wrong:
            tried.findings.append(Finding(store.scenario.name, str(fault), wrong))
    return tried


def failed_at(store: Store, fault: Fault) -> list[str]:
    """What is wrong after the act met one error: with what it said, with what it left, and after the next run."""
    store.put_back()
    counter = Counter(fault, EVERYTHING)
    killed, told = in_child(lambda: run_with(store, counter))
    if killed or not isinstance(told, Told):
        return [f"a traceback: {told}"]
    wrong = said_wrong(store, told) + [f"while it fails: {line}" for line in loss(Seen(store))]
    if told.taken_after_failed_sync:
        wrong.append("a conversation was taken away after a failed sync")
    return wrong + judge(store)


def said_wrong(store: Store, told: Told) -> list[str]:
    """What is wrong with the words and the exit status of a command that met an error."""
    spoken = told.out + told.err
    if "Traceback" in spoken or "unexpected" in spoken:
        return [f"a bug instead of a sentence: {spoken[-300:]}"]
    if told.code not in (0, 1):
        return [f"exit status {told.code}"]
    sentences = [line for line in spoken.split("\n") if line.startswith("knowledge: ")]
    if told.code == 1 and not sentences:
        return ["exit status 1 without a sentence"]
    if told.code == 0 and told.hit and not _is_tolerated(store, told):
        return [f"exit status 0, though {told.hit} failed at {told.where}: {spoken}"]
    return [f"no sentence: {line!r}" for line in sentences if not line.rstrip().endswith((".", ")"))]


def _is_tolerated(store: Store, told: Told) -> bool:
    """What may fail without failing the command: the cache of hashes, which is a projection, and a look at the source
    file of a note, which then becomes a fact."""
    name = told.where.removeprefix(f"{store.folder}/")
    return name.startswith("cache") or name in ("code.py", "other.py")
