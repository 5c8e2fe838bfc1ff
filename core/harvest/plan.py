"""Stages 1 and 2 together: what a run would do. This is the dry run; it writes nothing below the home folder."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from core.base.paths import Paths
from core.harvest.classify import HarvestPlan, classify, plan_steps
from core.harvest.hashes import HashCache, hash_artifacts
from core.harvest.options import HarvestOptions
from core.harvest.scan import Scan, scan
from core.harvest.survey import survey


def plan_harvest(
    paths: Paths, options: HarvestOptions, entries: Mapping[str, Mapping[str, Any]], now: datetime, cache: HashCache
) -> HarvestPlan:
    """Stages 1 and 2. Reads only; `cache` is updated in place. Raises OSError."""
    collecting = gc.isenabled()
    gc.disable()  # very many small records and no cycles: looking for cycles again and again is a third of the time
    try:
        return _plan(paths, options, entries, now, cache)
    finally:
        if collecting:
            gc.enable()


def _plan(
    paths: Paths, options: HarvestOptions, entries: Mapping[str, Mapping[str, Any]], now: datetime, cache: HashCache
) -> HarvestPlan:
    found = scan(paths, cache) if options.home else Scan(())
    notes: list[str] = []
    if options.places:
        elsewhere = survey(options.places)
        foreign = [row for row in elsewhere.artifacts if row.kind == "conversation"]
        found, notes = replace(found, artifacts=(*found.artifacts, *foreign)), elsewhere.notes
    classified = classify(found, entries, now, options.trash_days)
    hashes = hash_artifacts([row.artifact for row in classified if row.klass == "harvest"], cache)
    is_proven = _proofs(paths) if entries else _never  # without entries nothing can be proven yet
    plan = plan_steps(classified, hashes, entries, options.limits, found.protection.unreadable, is_proven)
    return replace(plan, notes=tuple(notes)) if notes else plan


def _never(_sha256: str, _entry: Mapping[str, Any]) -> bool:
    return False


def _proofs(paths: Paths) -> Callable[[str, Mapping[str, Any]], bool]:
    from core.harvest.proofs import Proofs

    return Proofs(paths).is_proven
