"""Stages 1 and 2 together: what a run would do. This is the dry run; it writes nothing below the home folder.

What a plan leaves out is told in sentences: which conversations they are about and what a user can do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.figures import count, size
from core.base.paths import Paths
from core.harvest.classify import UNKNOWN_NAME, UNREAD, classify, is_done, plan_steps
from core.harvest.proofs import Proofs
from core.harvest.steps import (
    FORGOTTEN_BY_YOU,
    QUIET_SECONDS,
    Classified,
    HarvestOptions,
    HarvestPlan,
    Limits,
    Step,
    expires,
)
from core.sources.archive import stand_ins
from core.sources.artifact import Artifact, HashCache, hash_artifacts
from core.sources.scan import Scan, scan
from core.sources.sessions import StoreCache, hash_sessions, list_sessions
from core.sources.tools import FILES, disambiguate, known_as
from core.sources.walk import survey

SOON_DAYS = 3
"""What its tool deletes within this many days is harvested before all else."""
ODD_NAMED = 5
"""This many odd things are named; of more only the number."""


def plan_harvest(
    paths: Paths, options: HarvestOptions, entries: Mapping[str, Mapping[str, Any]], now: datetime, cache: HashCache
) -> HarvestPlan:
    """Stages 1 and 2. Reads only; `cache` is updated in place. Raises OSError."""
    found = scan(paths, cache) if options.home else Scan(())
    if not options.places:
        return _judged(paths, options, entries, now, found, cache, {})

    elsewhere = survey(options.places)
    with StoreCache(options.copies) as opened:
        named = {place.folder for place in options.places if place.source == FILES}
        inside = list_sessions([row for row in elsewhere.artifacts if row.kind == "store"], opened, named)
        hashes = hash_sessions(inside.artifacts, opened, cache)
    foreign = disambiguate([row for row in elsewhere.artifacts if row.kind != "store"], entries)
    seen = [*foreign, *inside.artifacts]
    there = {known_as(row.path, row.source) for row in seen}
    gone = dict(stand_ins(paths.archive, entries, {place.source for place in options.places}, there))
    seen += gone
    hashes |= {row.path: sha256 for row, sha256 in gone.items()}
    fresh = [item for item in seen if _is_written(item, options, now)]
    hashes |= hash_artifacts([item for item in fresh if item.path not in hashes], cache)
    left = {row.path for row in fresh if not is_done(entries.get(hashes.get(row.path, "")), options.limits, row)}
    settled = [item for item in seen if item.path not in left]
    found = replace(found, artifacts=(*found.artifacts, *settled))
    plan = _judged(paths, options, entries, now, found, cache, hashes, writing=len(left))
    notes = (*elsewhere.notes, *inside.notes, *plan.notes)
    return replace(plan, notes=notes, errors=(*elsewhere.errors, *inside.errors))


def _is_written(item: Artifact, options: HarvestOptions, now: datetime) -> bool:
    """Whether the tool may still be writing a conversation: it changed a moment ago, and nobody said that it ended."""
    if options.ended.get(item.path) == item.mtime_ns or options.limits.names(item):
        return False
    age = now.timestamp() - item.mtime_ns / 1e9
    return abs(age) < options.quiet_seconds  # a file dated far into the future is not being written now


def _judged(
    paths: Paths,
    options: HarvestOptions,
    entries: Mapping[str, Mapping[str, Any]],
    now: datetime,
    found: Scan,
    cache: HashCache,
    hashes: dict[str, str],
    writing: int = 0,
) -> HarvestPlan:
    """Stage 2 over all that was found. `hashes` are known for sessions; `writing` conversations were left aside."""
    classified = classify(found, entries, now, options.trash_days)
    wanted = [row.artifact for row in classified if row.verdict == "harvest" and row.artifact.kind == "conversation"]
    hashes = {**hash_artifacts(wanted, cache), **hashes}
    # Without entries nothing can be proven yet; a large ledger is not read where nothing asks for it.
    entries = entries if classified and entries else {}
    is_proven = Proofs(paths).is_proven if entries else lambda sha256, entry: False
    judged = plan_steps(
        classified,
        hashes,
        entries,
        options.limits,
        found.protection.unreadable,
        is_proven,
        _ShownSizes(options.kept.with_name("shown_sizes") if options.kept is not None else None),
        lambda item: expires(item, options.days_kept, now, SOON_DAYS),
    )
    plan = replace(judged, writing=writing) if writing else judged
    notes = (
        *_never_read(plan.classified, options.limits),
        *_unknown_names(plan, str(paths.conversations)),
        *_too_large(plan, options.limits.max_source_bytes),
        *_waiting(plan),
    )
    return replace(plan, notes=notes) if notes else plan


class _ShownSizes:
    """How much of a large file a model would be shown, remembered by content in `file` (None: not at all); deleting it
    costs time only."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, int] | None = None

    def __call__(self, item: Artifact, sha256: str) -> int:
        if self._known is None:
            kept = {} if self._file is None else files.read_object(self._file) or {}
            self._known = {key: size for key, size in kept.items() if isinstance(size, int)}
        if sha256 not in self._known:
            from core.harvest.distil import shown_size  # it reads the conversation, and most are known

            self._known[sha256] = shown_size(item)
            if self._file is not None:
                files.write_cache(self._file, json.dumps(self._known).encode())
        return self._known[sha256]


def _never_read(classified: Sequence[Classified], limits: Limits) -> list[str]:
    """A sentence for each thing that has a conversation's place and is none, and what the user named and had forgotten:
    they should know why it stays."""
    odd = [f"stays unread: {row.artifact.name} ({row.reason})" for row in classified if row.artifact.kind == "odd"]
    if len(odd) > ODD_NAMED:
        odd[ODD_NAMED:] = [f"stay unread: {len(odd) - ODD_NAMED} more of that kind"]
    if number := sum(row.reason == UNREAD for row in classified):
        listed = "'knowledge ledger --status harvest-failed' lists them"
        odd.append(f"stay unread: {number} that could not be read before and have not changed ({listed})")
    if number := sum(row.reason == FORGOTTEN_BY_YOU and limits.names(row.artifact) for row in classified):
        odd.append(f"{count(number, 'conversation stays', 'conversations stay')} unread: {FORGOTTEN_BY_YOU}")
    return odd


def _waiting(plan: HarvestPlan) -> list[str]:
    """Sentences about conversations that are not read unless the user asks: those that their tool may still write, and
    those whose harvest was undone."""
    minutes = round(QUIET_SECONDS / 60)
    rows = (
        (plan.writing, f"changed in the last {minutes} minutes, perhaps still being written ('--now' reads", "too)"),
        (plan.undone, "you undid the harvest ('--again' harvests", "again)"),
    )
    return [
        f"{count(number, 'conversation waits', 'conversations wait')}: {why} {'it' if number == 1 else 'them'} {end}"
        for number, why, end in rows
        if number
    ]


# --- what a plan leaves out, in sentences -----------------------------------------------------------------------------

NAMED = 4
"""This many are named; of more only the number."""


def _unknown_names(plan: HarvestPlan, folder: str) -> list[str]:
    """Files of the home folder whose names fit none of the rules; not those that the user named elsewhere."""
    asked = {row.artifact.path for row in plan.classified if row.artifact.is_foreign}
    unknown = [row.artifact for row in plan.classified if row.reason == UNKNOWN_NAME]
    names = [item.name for item in unknown if item.path not in asked]
    if not names:
        return []
    one = len(names) == 1
    return [
        f"{count(len(names), 'file')} of {folder} {'is' if one else 'are'} left alone, for {'its' if one else 'their'} "
        f"name{' does' if one else 's do'} not say that {'it' if one else 'they'} may be harvested: {first(names)}; "
        f"give {'it' if one else 'each'} a name that ends in -<uuid4>, or read one as it is with '--source PATH'"
    ]


def _too_large(plan: HarvestPlan, limit: int) -> list[str]:
    steps = [step for step in plan.steps if step.action == "too-large"]
    if not steps:
        return []
    alike = any(size(_sent(step)) == size(limit) for step in steps)  # "1.0MB, the limit is 1.0MB" helps nobody
    shown = "{:,} bytes".format if alike else size
    names = [f"{step.artifact.name} ({shown(_sent(step))})" for step in steps]
    largest, enough = max(map(_sent, steps)), max(1, limit)
    while enough < largest:
        enough *= 2
    return [
        f"too large to be read: {first(names)}; the limit is {shown(limit)}, and "
        f"'knowledge config set max_harvest_source_bytes {enough}' raises it"
    ]


def _sent(step: Step) -> int:
    return step.shown or step.new_bytes


def first(names: Sequence[str]) -> str:
    """The first names of a list and how many there are beside them."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
