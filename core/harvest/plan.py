"""Stages 1 and 2 together: what a run would do. This is the dry run; it writes nothing below the home folder."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.base.paths import Paths
from core.harvest.classify import HarvestPlan, classify, plan_steps
from core.harvest.hashes import HashCache, hash_artifacts
from core.harvest.options import HarvestOptions
from core.harvest.scan import scan


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
    found = scan(paths, cache)
    classified = classify(found, entries, now, options.trash_days)
    hashes = hash_artifacts([row.artifact for row in classified if row.klass == "harvest"], cache)
    if not entries:  # nothing can be proven yet
        return plan_steps(classified, hashes, entries, options.limits, found.protection.unreadable)
    from core.harvest.proofs import Proofs

    is_proven = Proofs(paths).is_proven
    return plan_steps(classified, hashes, entries, options.limits, found.protection.unreadable, is_proven)
