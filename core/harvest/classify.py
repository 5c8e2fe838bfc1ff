"""Stage 2: what each artifact is and what will be done with it. Pure: a dry run prints the plan and stops here.

The first class that fits is the one; `assets/docs/sources.md` tells a person of them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from core import __version__
from core.harvest.steps import CLASSES, Classified, HarvestPlan, Limits, Step
from core.knowledge.ledger import restored_paths
from core.sources.artifact import Artifact
from core.sources.incremental import Earlier, earlier_by_path, earlier_of
from core.sources.scan import Protection, Scan, grace_end, sha_in_trash, split_in_trash, why_careful
from core.sources.tools import known_as, title_of

UNREAD = "could not be read before, and has not changed since"
RESTORED = "brought back by you"
UNKNOWN_NAME = "not a name that we know; kept"

_UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_ARCHIVED = re.compile(rf"-{_UUID4}\Z")
_ARCHIVED_LENGTH = 37
_DELEGATED = re.compile(rf"\A{_UUID4}-")


def classify(scan: Scan, entries: Mapping[str, Mapping[str, Any]], now: datetime, trash_days: int) -> list[Classified]:
    """The class of every artifact, by name and state alone (no content is looked at)."""
    protection, folder = scan.protection, scan.folder
    rows = [
        classify_conversation(item, protection, folder)
        if item.kind in ("conversation", "session")
        else _classify(item, scan, entries, now, trash_days)
        for item in scan.artifacts
    ]
    return [row for row in rows if row is not None]


def _classify(
    item: Artifact, scan: Scan, entries: Mapping[str, Mapping[str, Any]], now: datetime, trash_days: int
) -> Classified | None:
    if item.kind == "trash":
        sha, split = sha_in_trash(item.name), split_in_trash(item.name)
        if not sha and split is None:
            return Classified(item, "keep", "in the trash, but not put there by us")
        until = split[1] if split is not None else grace_end(entries.get(sha, {}), item.ctime_ns / 1e9, trash_days)
        return Classified(item, "prune", f"in the trash until {until:%Y-%m-%d}") if until <= now else None
    if item.kind == "odd":
        return Classified(item, "keep", item.trouble)
    if item.kind == "index":
        return Classified(item, "live", "index file of the host application")
    return _classify_split(item, scan)


def classify_conversation(item: Artifact, protection: Protection, folder: str) -> Classified:
    """The class of a regular file in the conversations folder, whose resolved path is `folder`, or of a conversation
    of another tool."""
    name = item.name
    if item.is_foreign:
        return Classified(item, "harvest", f"conversation of {title_of(item.source)}")
    if protection.saved and f"{folder}{os.sep}{name}" in protection.saved:
        return Classified(item, "user-kept", "saved by you")
    if name in protection.owners:
        path, exists = protection.owners[name]
        if exists:
            return Classified(item, "live", f"belongs to {path}")
        return Classified(item, "harvest", f"its file is gone: {path or 'unknown'}")
    if _ARCHIVED.match(name, max(0, len(name) - _ARCHIVED_LENGTH)):
        return Classified(item, "harvest", "its name ends in an id")
    if _DELEGATED.match(name):
        return Classified(item, "harvest", "its name begins with an id")
    if name.startswith("latest-"):
        return Classified(item, "live", "still being written")
    return Classified(item, "keep", UNKNOWN_NAME)


def _classify_split(item: Artifact, scan: Scan) -> Classified:
    split = scan.splits[item.path]
    if not split.readable:
        return Classified(item, "keep", "its index.json or the file that it names cannot be read")
    if not split.source_exists:
        return Classified(item, "prune", "the file it was cut from is gone")
    if not split.hash_matches:
        return Classified(item, "prune", "the file it was cut from has changed")
    return Classified(item, "live", "matches the file it was cut from")


def may_reclaim(entry: Mapping[str, Any], limits: Limits, item: Artifact) -> bool:
    """Whether the settings let this harvest take its conversation away. One of another tool only when that is asked
    for, and only a whole file: nothing is ever taken out of a store."""
    if limits.keep or limits.reclaim == "never" or item.kind == "session":
        return False
    if item.is_foreign and not (limits.reclaim_foreign and limits.harvest):
        return False
    return limits.reclaim == "always" or not limits.harvest or entry.get("provider") != "offline"


def plan_steps(
    classified: list[Classified],
    hashes: Mapping[str, str],
    entries: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    unreadable: tuple[str, ...] = (),
    is_proven: Callable[[str, Mapping[str, Any]], bool] = lambda sha256, entry: True,
    shown: Callable[[Artifact, str], int] = lambda item, sha256: item.size,
    goes_soon: Callable[[Artifact], bool] = lambda item: False,
) -> HarvestPlan:
    """Decide what happens to each candidate. Oldest first, so that the newest knowledge
    ends up last in the files and first in the digest; what failed the last time waits behind all others, or a handful
    that fails for ever would use up every `limit`. `is_proven` says whether the committed plan of a harvest is
    there; without it the content is harvested again; `shown` how many bytes a model would be shown of a large file.
    Before all others stands what `goes_soon`: its tool will delete it.
    """
    kept: dict[str, Classified] = {}
    steps: list[Step] = []
    seen: dict[str, Artifact] = {}
    before = _before(classified, hashes, entries)
    used_bytes = used_count = 0
    candidates = [row for row in classified if row.verdict == "harvest"]
    # Those of one moment stay in the order of their names.
    candidates.sort(
        key=lambda row: (
            not goes_soon(row.artifact),
            _has_failed(row.artifact, hashes, entries),
            row.artifact.mtime_ns,
        )
    )
    for item, _, reason in candidates:
        sha = hashes.get(item.path, "")
        entry = entries.get(sha)
        settled = entry is not None and entry.get("status") == "harvested"
        last = "" if settled else before.get(known_as(item.path, item.source), "")
        earlier = _earlier(last, entries, limits, is_proven)
        size = Step(item, "", sha, "", earlier).new_bytes if earlier is not None else item.size
        if was_unread(entry if sha else entries.get(f"path:{item.path}"), item) and limits.harvest:
            kept[item.path] = Classified(item, "keep", UNREAD)
        elif not sha:
            steps.append(Step(item, "unreadable", "", "cannot be read"))
        elif entry is not None and item.path in restored_paths(entry) and _is_settled(entry, limits):
            kept[item.path] = Classified(item, "keep", f"{RESTORED}; 'knowledge trash release {sha[:12]}' lets it go")
        elif entry is not None and _is_harvested(entry, limits) and not may_reclaim(entry, limits, item):
            kept[item.path] = Classified(item, "keep", _kept_because(entry, limits, item))
        elif entry is not None and _is_harvested(entry, limits) and is_proven(sha, entry):
            if limits.limit is not None and used_count >= limits.limit:
                steps.append(Step(item, "defer", sha, "over --limit"))
                continue
            used_count += 1
            steps.append(Step(item, "reclaim", sha, "already harvested"))
        elif not limits.harvest and item.is_foreign:
            kept[item.path] = Classified(item, "keep", "--no-harvest leaves the conversations of other tools alone")
        elif not limits.harvest:
            if limits.keep or (limits.limit is not None and used_count >= limits.limit):
                steps.append(Step(item, "defer", sha, "kept by --keep" if limits.keep else "over --limit"))
                continue
            used_count += 1
            steps.append(Step(item, "discard", sha, "removed without harvest, as you asked"))
        elif size > limits.max_source_bytes and (sent := shown(item, sha)) > limits.max_source_bytes:
            why = f"{sent:,} bytes to read, above max_harvest_source_bytes ({limits.max_source_bytes:,})"
            steps.append(Step(item, "too-large", sha, why, None, sent))
        elif limits.retry_before and _failed_since(entry, limits.retry_before):
            steps.append(Step(item, "defer", sha, "failed a short while ago"))
        elif sha in seen and (limits.limit is None or used_count < limits.limit):
            used_count += 1
            steps.append(Step(item, "duplicate", sha, f"same content as {seen[sha].name}"))
        elif limits.max_run_bytes is not None and used_bytes + size > limits.max_run_bytes:
            steps.append(Step(item, "defer", sha, "over --max-harvest-bytes, the budget of this run"))
        elif limits.limit is not None and used_count >= limits.limit:
            steps.append(Step(item, "defer", sha, "over --limit"))
        else:
            seen[sha], used_bytes, used_count = item, used_bytes + size, used_count + 1
            steps.append(Step(item, "harvest", sha, "changed since its last harvest" if earlier else reason, earlier))
    steps += [Step(row.artifact, "prune", "", row.reason) for row in classified if row.verdict == "prune"]
    final = tuple(kept.get(row.artifact.path, row) for row in classified) if kept else tuple(classified)
    classes = [verdict for _, verdict, _ in final]
    counts = {name: classes.count(name) for name in CLASSES}
    return HarvestPlan(final, tuple(steps), why_careful(unreadable), counts)


def unread_mark(item: Artifact) -> list[object]:
    """What the ledger notes of a conversation that could not be read: by this version of the program, in this state."""
    return [__version__, item.size, item.mtime_ns]


def was_unread(entry: Mapping[str, Any] | None, item: Artifact) -> bool:
    """Whether a conversation as it is now was found to be unreadable before, which was told then."""
    return entry is not None and entry.get("status") == "harvest-failed" and entry.get("unread") == unread_mark(item)


def _has_failed(item: Artifact, hashes: Mapping[str, str], entries: Mapping[str, Mapping[str, Any]]) -> bool:
    return entries.get(hashes.get(item.path, ""), {}).get("status") == "harvest-failed"


def _failed_since(entry: Mapping[str, Any] | None, when: str) -> bool:
    return entry is not None and entry.get("status") == "harvest-failed" and str(entry.get("at", "")) >= when


def _before(
    classified: list[Classified], hashes: Mapping[str, str], entries: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Path -> hash of the last harvest, if any content here was not harvested yet."""
    wanted = (entries.get(hashes.get(row.artifact.path, ""), {}) for row in classified if row.verdict == "harvest")
    unknown = any(entry.get("status") != "harvested" for entry in wanted)
    return earlier_by_path(entries) if unknown and entries else {}


def _earlier(
    sha256: str,
    entries: Mapping[str, Mapping[str, Any]],
    limits: Limits,
    is_proven: Callable[[str, Mapping[str, Any]], bool],
) -> Earlier | None:
    """The last harvest of what stood at a path, if it is proven: what is not is no base for anything."""
    if not sha256 or not is_proven(sha256, entries[sha256]):
        return None
    return earlier_of(sha256, entries[sha256], whole=not _is_harvested(entries[sha256], limits))


def _is_harvested(entry: Mapping[str, Any], limits: Limits) -> bool:
    """An offline harvest counts only until a model is there to do it better."""
    wants_model = limits.harvest and entry.get("provider") == "offline" and limits.provider != "offline"
    return entry.get("status") == "harvested" and not wants_model


def _is_settled(entry: Mapping[str, Any], limits: Limits) -> bool:
    """Whether all that a run could still do with a conversation is to take it away."""
    return _is_harvested(entry, limits) or not limits.harvest


def _kept_because(entry: Mapping[str, Any], limits: Limits, item: Artifact) -> str:
    if limits.keep:
        return "harvested; kept by --keep"
    if limits.reclaim == "never":
        return 'harvested; kept by reclaim = "never"'
    if item.is_foreign and not (limits.reclaim_foreign and item.kind != "session"):
        return f"harvested; it stays with {title_of(item.source)}"
    return "harvested offline; kept until a language model has read it"
