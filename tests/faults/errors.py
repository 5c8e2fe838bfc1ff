"""The error campaign: every operation fails with every errno, once and from then on, reads and opens among them."""

from __future__ import annotations

import traceback

from tests.faults.fault import EVERYTHING, Counter, Fault, error_points
from tests.faults.invariants import Seen, loss
from tests.faults.server import Finding, Told, Tried, count, judge, run_with
from tests.faults.store import Store


def errors(store: Store, stride: int = 1, start: int = 0) -> Tried:
    """One scenario with an error at every `stride`-th point."""
    store.put_back()
    tried = Tried()
    for fault in error_points(count(store, EVERYTHING), stride, start):
        tried.add(Finding(store.scenario.name, str(fault), failed_at(store, fault)))
    return tried


def failed_at(store: Store, fault: Fault) -> list[str]:
    """What is wrong after the act met one error: with what it said, with what it left, and after the next run."""
    store.put_back()
    try:
        told = run_with(store, Counter(fault, EVERYTHING))  # no fork: the process is meant to survive this
    except Exception:  # noqa: BLE001 - a finding like any other
        return [traceback.format_exc()]
    wrong = said_wrong(store, told, once=not fault.forever) + [f"while it fails: {line}" for line in loss(Seen(store))]
    if told.taken_after_failed_sync:
        wrong.append("a conversation was taken away after a failed sync")
    return wrong + judge(store)


def said_wrong(store: Store, told: Told, *, once: bool = False) -> list[str]:
    """What is wrong with the words and the exit status of a command that met an error, `once` or from then on."""
    spoken = told.out + told.err
    if "Traceback" in spoken or "unexpected" in spoken:
        return [f"a bug instead of a sentence: {spoken[-300:]}"]
    if told.code not in (0, 1):
        return [f"exit status {told.code}"]
    sentences = [line for line in spoken.split("\n") if line.startswith("knowledge: ")]
    if told.code == 1 and not sentences:
        return ["exit status 1 without a sentence"]
    if told.code == 0 and told.hit and not _is_tolerated(store, told, once):
        return [f"exit status 0, though {told.hit} failed at {told.where}: {spoken}"]
    return [f"no sentence: {line!r}" for line in sentences if not line.rstrip().endswith((".", ")"))]


def _is_tolerated(store: Store, told: Told, once: bool) -> bool:
    """What may fail without failing the command: the cache of hashes, which is a projection; a look at the source file
    of a note (refused, it is not there for us; any other trouble is met again and told); the header of a note, which is
    looked at again; the index of a split, which then stays; a look at the last line of a file that is about to be
    written, which fails by itself if it must; what a model is shown of the store, without which it is asked as well;
    the first look at the store's format, which is asked again before anything is written; a tool's settings, for which
    what it does without them stands in. What was removed or has expired may be missing where a note of the run
    says so; who said what again is made from the plans by the next harvest, and until then a count is missing. A single
    look at the ledger is made again, or was for a sentence behind a harvest that is over; one at the records of notes
    was for what a model is shown."""
    name = told.where.removeprefix(f"{store.folder}/")
    looked = told.hit in ("open", "read") and name.startswith(("home/knowledge/files/", "home/splits/"))
    looked = looked or (told.hit in ("open", "read") and name.startswith("home/knowledge/") and name.endswith(".md"))
    looked = looked or (told.hit in ("open", "read") and name == "home/knowledge/.state/format")
    looked = looked or (told.hit in ("open", "read") and name.endswith("claude/settings.json"))
    looked = looked or (told.hit in ("open", "read") and name == "home/knowledge/.state/confirmed.json")
    again = name in ("home/knowledge/ledger.json", "home/knowledge/.state/file_ids.json")
    looked = looked or (once and again and told.hit in ("open", "read"))
    if name.removeprefix("home/knowledge/") in ("removed.md", "index.json"):
        return told.hit in ("open", "read") and "cannot be read" in told.out + told.err
    return looked or name.startswith("cache") or name in ("code.py", "other.py", "gone.py")
