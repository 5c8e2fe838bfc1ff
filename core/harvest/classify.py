"""Stage 2: what each artifact is and what will be done with it. Pure: a dry run prints the plan and stops here.

The first class that fits is the one; `assets/docs/sources.md` tells a user of them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from core import __version__
from core.harvest.steps import CLASSES, FORGOTTEN_BY_YOU, UNDONE_BY_YOU, Classified, Fate, HarvestPlan, Limits, Step
from core.knowledge.ledger import FORGOTTEN, UNDONE, restored_paths
from core.sources.artifact import Artifact
from core.sources.incremental import Earlier, earlier_by_path, earlier_of
from core.sources.scan import Protection, Scan, grace_end, sha_in_trash, split_in_trash, why_careful
from core.sources.tools import known_as, title_of

UNREAD = "could not be read before, and has not changed since"
RESTORED = "brought back by you"
UNKNOWN_NAME = "not a name that we know; kept"

_UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_ARCHIVED = re.compile(rf"-{_UUID4}\Z")
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
    cut = scan.splits[item.path]
    if not cut.readable:
        return Classified(item, "keep", "its index.json or the file that it names cannot be read")
    if not cut.source_exists:
        return Classified(item, "prune", "the file it was cut from is gone")
    if not cut.hash_matches:
        return Classified(item, "prune", "the file it was cut from has changed")
    return Classified(item, "live", "matches the file it was cut from")


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
    if _ARCHIVED.search(name):
        return Classified(item, "harvest", "its name ends in an id")
    if _DELEGATED.match(name):
        return Classified(item, "harvest", "its name begins with an id")
    if name.startswith("latest-"):
        return Classified(item, "live", "still being written")
    return Classified(item, "keep", UNKNOWN_NAME)


def may_reclaim(entry: Mapping[str, Any], limits: Limits, item: Artifact) -> bool:
    """Whether the settings let this harvest take its conversation away. One of another tool only when that is asked
    for, and only a whole file: nothing is ever taken out of a store."""
    if limits.keep or limits.reclaim == "never" or item.kind == "session":
        return False
    if item.is_foreign and not (limits.reclaim_foreign and limits.harvest):
        return False
    return limits.reclaim == "always" or not limits.harvest or entry.get("provider") != "offline"


def fate_of(plan: HarvestPlan, limits: Limits, trash_days: int, interrupted: bool = False) -> Fate:
    """What a run with these limits makes of the conversations of its plan; see `Fate`."""
    read = [step.artifact for step in plan.steps if step.action in ("harvest", "duplicate")]
    if plan.careful:
        return Fate(stay=len(read), interrupted=interrupted)
    by_model = replace(limits, provider="", reclaim="always" if limits.reclaim == "model" else limits.reclaim)
    later = sum(may_reclaim({}, by_model, item) for item in read)
    new = sum(may_reclaim({"provider": limits.provider}, limits, item) for item in read)
    taken = Counter(step.action for step in plan.steps)
    return Fate(taken["reclaim"], new, taken["discard"], len(read) - new, trash_days, later > new, interrupted)


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
    """Decide what happens to each candidate. Oldest first, so that the newest knowledge ends up last in the files and
    first in the digest; what failed the last time waits behind all others, or a handful that fails for ever would use
    up every `limit`. `is_proven` says whether the committed plan of a harvest is there; without it the content is
    harvested again; `shown` how many bytes a model would be shown of a large file. Before all others stands what
    `goes_soon`: its tool will delete it.
    """
    candidates = [row for row in classified if row.verdict == "harvest"]
    known = {row.artifact.path: entries.get(hashes.get(row.artifact.path, "")) for row in candidates}
    failed = {path for path, entry in known.items() if entry is not None and entry.get("status") == "harvest-failed"}
    # The last order counts most; those of one moment stay in that of their names.
    candidates.sort(key=lambda row: row.artifact.mtime_ns)
    candidates.sort(key=lambda row: row.artifact.path in failed)
    candidates.sort(key=lambda row: not goes_soon(row.artifact))
    unknown = {known_as(row.artifact.path, row.artifact.source) for row in candidates
               if (known[row.artifact.path] or {}).get("status") != "harvested"}  # fmt: skip
    earlier = earlier_by_path(entries, unknown) if unknown and entries else {}
    choices = _Choices(hashes, entries, limits, is_proven, shown, lambda path: earlier.get(path, ""))
    chosen = [choices.of(row, known[row.artifact.path]) for row in candidates]
    steps = [one for one in chosen if isinstance(one, Step)]
    steps += [Step(row.artifact, "prune", "", row.reason) for row in classified if row.verdict == "prune"]
    kept = {one.artifact.path: one for one in chosen if isinstance(one, Classified)}
    final = tuple(kept.get(row.artifact.path, row) for row in classified) if kept else tuple(classified)
    classes = [verdict for _, verdict, _ in final]
    counts = {name: classes.count(name) for name in CLASSES}
    return HarvestPlan(final, tuple(steps), why_careful(unreadable), counts)


@dataclass
class _Choices:
    """What is done with one candidate after the other: a step, or it is kept after all. The limits of the run fill up
    meanwhile. `before` says of a path the hash of the last harvest of what stood there."""

    hashes: Mapping[str, str]
    entries: Mapping[str, Mapping[str, Any]]
    limits: Limits
    is_proven: Callable[[str, Mapping[str, Any]], bool]
    shown: Callable[[Artifact, str], int]
    before: Callable[[str], str]
    number: int = 0
    bytes: int = 0
    first_of: dict[str, Artifact] = field(default_factory=dict)
    """Hash -> the first conversation of this run with that content."""

    def of(self, row: Classified, entry: Mapping[str, Any] | None) -> Step | Classified:
        item = row.artifact
        sha = self.hashes.get(item.path, "")
        if self._is_forgotten(entry, item):
            return Classified(item, "keep", FORGOTTEN_BY_YOU)
        if self.limits.harvest and was_unread(entry if sha else self.entries.get(f"path:{item.path}"), item):
            return Classified(item, "keep", UNREAD)
        if not sha:
            return Step(item, "unreadable", "", "cannot be read")
        if entry is not None and self._is_undone(entry, item) and not _is_harvested(entry, self.limits):
            return Classified(item, "keep", UNDONE_BY_YOU)
        known = self._of_known(item, sha, entry) if entry is not None else None
        if known is not None:
            return known
        return self._to_harvest(row, sha, entry) if self.limits.harvest else self._to_discard(item, sha)

    def _is_forgotten(self, entry: Mapping[str, Any] | None, item: Artifact) -> bool:
        """Whether the user wants it forgotten, also where it went on since."""
        if entry is None or entry.get("status") != "harvested":
            entry = self.entries.get(self.before(known_as(item.path, item.source)), entry)
        return entry is not None and entry.get("status") == FORGOTTEN

    def _is_undone(self, entry: Mapping[str, Any], item: Artifact) -> bool:
        """Whether the user took back the harvest of what this is, and has not asked for it again."""
        return UNDONE in entry and self.limits.harvest and not (self.limits.again or self.limits.names(item))

    def _of_known(self, item: Artifact, sha: str, entry: Mapping[str, Any]) -> Step | Classified | None:
        """For content that is in the ledger; None where it is to be harvested as if it were new."""
        settled = not self.limits.harvest or _is_harvested(entry, self.limits)  # all that is left is to take it away
        if item.path in restored_paths(entry) and settled:
            return Classified(item, "keep", RESTORED)
        if not _is_harvested(entry, self.limits):
            return None
        if not may_reclaim(entry, self.limits, item):
            return Classified(item, "keep", _kept_because(self.limits, item))
        return (
            self._within_limit(Step(item, "reclaim", sha, "already harvested")) if self.is_proven(sha, entry) else None
        )

    def _to_discard(self, item: Artifact, sha: str) -> Step | Classified:
        if item.is_foreign:
            return Classified(item, "keep", "--no-harvest leaves the conversations of other tools alone")
        if self.limits.keep:
            return Step(item, "defer", sha, "kept by --keep")
        return self._within_limit(Step(item, "discard", sha, "removed without harvest, as you asked"))

    def _to_harvest(self, row: Classified, sha: str, entry: Mapping[str, Any] | None) -> Step:
        item, limits = row.artifact, self.limits
        earlier = self._earlier(item, entry)
        size = Step(item, "", sha, "", earlier).new_bytes if earlier is not None else item.size
        if size > limits.max_source_bytes and (sent := self.shown(item, sha)) > limits.max_source_bytes:
            why = f"{sent:,} bytes to read, above max_harvest_source_bytes ({limits.max_source_bytes:,})"
            return Step(item, "too-large", sha, why, None, sent)
        failed = str(entry.get("at", "")) if entry is not None and entry.get("status") == "harvest-failed" else ""
        if limits.retry_before and failed >= limits.retry_before:
            return Step(item, "defer", sha, "failed a short while ago")
        if sha in self.first_of and not self._is_full():
            return self._within_limit(Step(item, "duplicate", sha, f"same content as {self.first_of[sha].name}"))
        if limits.max_run_bytes is not None and self.bytes + size > limits.max_run_bytes:
            return Step(item, "defer", sha, "over --max-harvest-bytes, the budget of this run")
        reason = "changed since its last harvest" if earlier else row.reason
        step = self._within_limit(Step(item, "harvest", sha, reason, earlier))
        if step.action == "harvest":
            self.first_of[sha] = item
            self.bytes += size
        return step

    def _earlier(self, item: Artifact, entry: Mapping[str, Any] | None) -> Earlier | None:
        """The last harvest of what stood at this path, if it is proven: what is not is no base for anything. After one
        that was undone only what was said since is read, unless the user asked for it again."""
        if not self.entries or (entry is not None and entry.get("status") == "harvested"):
            return None
        last = self.before(known_as(item.path, item.source))
        known = self.entries.get(last) if last else None  # the ledger may be another one by now
        if known is not None and self._is_undone(known, item):
            return earlier_of(last, known, whole=False)
        seen = set[str]()  # a conversation that was cut back to what it was comes after itself
        while known is not None and known.get("status") == UNDONE and last not in seen:
            seen.add(last)
            last = str(known.get("after", ""))
            known = self.entries.get(last)
        if known is None or not self.is_proven(last, known):
            return None
        return earlier_of(last, known, whole=not _is_harvested(known, self.limits))

    def _is_full(self) -> bool:
        return self.limits.limit is not None and self.number >= self.limits.limit

    def _within_limit(self, step: Step) -> Step:
        """The step, counted; deferred where the run has as many as it may have."""
        if self._is_full():
            return Step(step.artifact, "defer", step.sha256, "over --limit")
        self.number += 1
        return step


def unread_mark(item: Artifact) -> list[object]:
    """What the ledger notes of a conversation that could not be read: by this version of the program, in this state."""
    return [__version__, item.size, item.mtime_ns]


def was_unread(entry: Mapping[str, Any] | None, item: Artifact) -> bool:
    """Whether a conversation as it is now was found to be unreadable before, which was told then."""
    return entry is not None and entry.get("status") == "harvest-failed" and entry.get("unread") == unread_mark(item)


def _is_harvested(entry: Mapping[str, Any], limits: Limits) -> bool:
    """An offline harvest counts only until a model is there to do it better."""
    wants_model = limits.harvest and entry.get("provider") == "offline" and limits.provider != "offline"
    return entry.get("status") == "harvested" and not wants_model


def is_done(entry: Mapping[str, Any] | None, limits: Limits, item: Artifact) -> bool:
    """Whether a conversation is harvested as it is now, and stays where it is."""
    return entry is not None and _is_harvested(entry, limits) and not may_reclaim(entry, limits, item)


def _kept_because(limits: Limits, item: Artifact) -> str:
    if limits.keep:
        return "harvested; kept by --keep"
    if limits.reclaim == "never":
        return 'harvested; kept by reclaim = "never"'
    if item.kept:
        return "harvested; its tool has deleted it, the archive keeps it"
    if item.is_foreign and not (limits.reclaim_foreign and item.kind != "session"):
        return f"harvested; it stays with {title_of(item.source)}"
    return "harvested offline; kept until a language model has read it"
