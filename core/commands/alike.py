"""`knowledge similar` and `knowledge supersede`: what is alike and what seems outdated, for a user to decide."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from core.base import files, locks
from core.base.markdown import sanitise_line
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.commands.bullets import change_all
from core.commands.row import group, needed, single, whole_number
from core.commands.statements import placed_refs
from core.commands.table import SUMMARY
from core.commands.text import change_text, count
from core.commands.workspace import Clock, Workspace, utc_now
from core.knowledge.alike import LEAST_ALIKE, alike, offered, placed, superseding
from core.knowledge.alike import Alike as Alike
from core.knowledge.alike import Placed as Placed
from core.knowledge.alike import Superseding as Superseding
from core.knowledge.bullet_text import BulletRef
from core.knowledge.categories import CATEGORIES, bullets_in, read_text
from core.knowledge.edit import Edited
from core.knowledge.ledger import seen_ledger
from core.knowledge.log import carry_over

LOCK_SECONDS = 5.0
COMPARED = ("facts", "decisions", "questions", "playbooks", "tasks_open")
CONTRADICTED = ("facts", "decisions")


@dataclass(frozen=True)
class Pairs:
    """Bullets that are alike, the likest first; `least` is the likeness (of 100) from which on they are listed."""

    pairs: tuple[Alike, ...]
    least: int

    def to_json(self) -> list[dict[str, Any]]:
        """The document of `knowledge similar --json`."""
        return [
            {"score": row.score, "category": row.first.category, "first": _row(row.first), "second": _row(row.second)}
            for row in self.pairs
        ]


@dataclass(frozen=True)
class Proposals:
    """What seems to be outdated; nothing of it is done before the user says so."""

    proposals: tuple[Superseding, ...]

    def to_json(self) -> list[dict[str, Any]]:
        """The document of `knowledge supersede --json`."""
        return [
            {"key": row.key, "why": row.why, "category": row.old.category, "old": _row(row.old), "new": _row(row.new)}
            | ({"kind": row.kind, "conversation": row.conversation} if row.kind else {})
            for row in self.proposals
        ]


@dataclass(frozen=True)
class Dismissed:
    """A proposal that will not come back."""

    proposal: Superseding

    def to_json(self) -> dict[str, Any]:
        return {"dismissed": self.proposal.key}


def _row(place: Placed) -> dict[str, Any]:
    provenance = place.bullet.provenance
    return {
        "file": place.file,
        "line": place.bullet.line,
        "text": place.bullet.text,
        "provenance": str(provenance) if provenance is not None else None,
        "conversations": place.statement.conversations,
    }


# --- the commands ----------------------------------------------------------------------------------------------------


def similar(workspace: Workspace, *, least: int = LEAST_ALIKE) -> Pairs:
    """Pairs of bullets of one category that are alike without being the same."""
    if not 50 <= least <= 100:
        raise KnowledgeError("usage", "--least must be between 50 and 100")
    rows = _placed(workspace.paths, COMPARED)
    return Pairs(tuple(alike(rows, least)), least)


def supersede_list(workspace: Workspace) -> Proposals:
    """What a newer statement seems to contradict, and what a model has said to be outdated, finished or answered."""
    return Proposals(tuple(proposals(workspace.paths)))


def supersede_accept(
    workspace: Workspace, match: str | BulletRef, *, seen: str | None = None, now: Clock = utc_now
) -> Edited:
    """Strike the old bullet through with a pointer to the new one, or move a finished task to those done. `match` is
    the old bullet: a part of its text, FILE:LINE, or the pair's key."""
    pair = _chosen(workspace.paths, match)
    new = pair.new.bullet
    pointer = f"{sanitise_line(new.text, None)} {new.provenance}"
    # The same statement from other conversations is as outdated: all of its lines go in the same write.
    refs = placed_refs(pair.old)
    words = pointer if pair.act == "supersede" else ""
    return change_all(workspace, pair.act, refs, words, keep_secrets=True, seen=seen, now=now)


def supersede_dismiss(workspace: Workspace, match: str | BulletRef) -> Dismissed:
    """Keep both for good: the pair is not proposed again."""
    chosen = _chosen(workspace.paths, match)
    paths, path = workspace.paths, workspace.paths.state / "dismissed.json"
    try:
        carry_over(paths)
        with locks.locked(paths.state / "dismissed.lock", work="supersede", editor_wait=LOCK_SECONDS):
            keys = sorted(_dismissed(paths) | {chosen.key})
            files.write_atomic(path, (json.dumps(keys, indent=1) + "\n").encode())
    except locks.LockHeldError as error:
        raise locks.refused(error) from error
    except OSError as error:
        raise KnowledgeError("store-failed", f"this cannot be remembered: {error.strerror or error}", path) from error
    return Dismissed(chosen)


def proposals(paths: Paths, problems: list[ErrorInfo] | None = None) -> list[Superseding]:
    """What seems to be outdated, without what the user has dismissed. `problems` hears of a ledger whose offers could
    not be read; the others are given all the same."""
    rows = _placed(paths, CONTRADICTED)
    dismissed = _dismissed(paths)
    pairs = {pair.key: pair for pair in (*superseding(rows), *_offered(paths, problems))}
    return [pair for pair in pairs.values() if pair.key not in dismissed]


def _offered(paths: Paths, problems: list[ErrorInfo] | None) -> list[Superseding]:
    """What models have offered, as the ledger keeps it; none where it, or a file, cannot be read."""
    ledger, rows = attempt(seen_ledger, paths), attempt(_placed, paths, (*COMPARED, "tasks_done"))
    if isinstance(ledger, KnowledgeError) or isinstance(rows, KnowledgeError):
        if problems is not None:
            problems += [found.error for found in (ledger, rows) if isinstance(found, KnowledgeError)]
        return []
    kept = ((key, entry.get("offers")) for key, entry in ledger.value.items())
    lists = ((key, some) for key, some in kept if isinstance(some, list))
    offers = [{**offer, "conversation": key} for key, some in lists for offer in some if isinstance(offer, dict)]
    return offered(rows.value, offers) if offers else []


# --- reading and remembering -----------------------------------------------------------------------------------------


def _placed(paths: Paths, categories: tuple[str, ...]) -> list[Placed]:
    rows: list[Placed] = []
    for category in CATEGORIES:
        if category.name not in categories:
            continue
        path = paths.knowledge / category.file
        try:
            rows += placed(category.name, category.file, bullets_in(read_text(path), category.name))
        except OSError as error:
            raise KnowledgeError("unreadable", f"the bullets cannot be read: {error.strerror}", path) from error
    return rows


def _chosen(paths: Paths, match: str | BulletRef) -> Superseding:
    """The proposal whose old bullet `match` names."""
    rows = proposals(paths)
    if isinstance(match, BulletRef):
        found = [row for row in rows if row.old.ref == match]
    else:
        wanted = match.strip()
        if not wanted:
            raise KnowledgeError("usage", "name the old bullet: a part of its text, or FILE:LINE")
        folded = wanted.casefold()
        exact = [
            row for row in rows if wanted in (row.key, row.old.bullet.text, f"{row.old.file}:{row.old.bullet.line}")
        ]
        found = exact or [row for row in rows if folded in row.old.bullet.text.casefold()]
    if len(found) == 1:
        return found[0]
    hint = "'knowledge supersede' lists them"
    if found:
        keys = ", ".join(row.key for row in found)
        raise KnowledgeError(
            "ambiguous", f"{len(found)} proposals match: {keys}", hint=f"give one of these keys; {hint}"
        )
    raise KnowledgeError("no-match", "no proposal matches that", hint=hint)


def _dismissed(paths: Paths) -> set[str]:
    """Keys of the pairs that stay as they are. A damaged file forgets them: then they are proposed once more."""
    try:
        found = json.loads(files.read_or_empty(paths.state / "dismissed.json") or b"[]")
    except (OSError, ValueError, RecursionError):
        return set()
    return {key for key in found if isinstance(key, str)} if isinstance(found, list) else set()


# --- at the command line --------------------------------------------------------------------------------------------


def similar_text(value: Pairs) -> str:
    rows = []
    for pair in value.pairs:
        rows += [f"{pair.score:>5.1f}  {_place_text(pair.first)}", f"       {_place_text(pair.second)}"]
    if not rows:
        return f"no two bullets are alike by {value.least} of 100\n"
    how = "'knowledge rm FILE:LINE' or 'knowledge edit FILE:LINE TEXT' changes a bullet"
    end = f"{count(len(value.pairs), 'pair')} alike; {how}"
    return "\n".join([*rows, end]) + "\n"


def proposals_text(value: Proposals) -> str:
    rows = []
    for pair in value.proposals:
        rows += [f"{pair.why}", f"  old  {_place_text(pair.old)}"]
        rows += [f"  new  {_place_text(pair.new)}"] * (pair.new is not pair.old)
    if not rows:
        return "nothing seems to be outdated\n"
    number = count(len(value.proposals), "proposal")
    moves = " and moves a finished task to Done" if any(pair.act == "done" for pair in value.proposals) else ""
    how = f"'knowledge supersede accept FILE:LINE' strikes the old one through{moves}, 'dismiss' keeps both"
    return "\n".join([*rows, f"{number}; {how}"]) + "\n"


def dismissed_text(value: Dismissed) -> str:
    both = "both stay" if value.proposal.new is not value.proposal.old else "it stays open"
    return f"{both}: {_place_text(value.proposal.old)}\n"


def _place_text(place: Placed) -> str:
    provenance = place.bullet.provenance
    return f"{place.file}:{place.bullet.line} {place.bullet.text} {provenance or ''}".rstrip()


_OLD = needed("match", "the old bullet: a part of its text, or FILE:LINE")


COMMANDS = (
    single(
        "similar",
        SUMMARY["similar"],
        "--least 90",
        similar,
        similar_text,
        whole_number("--least", "minimum similarity, 50 to 100 (default: 85)", 85),
    ),
    group(
        "supersede",
        SUMMARY["supersede"],
        "accept facts.md:12",
        single(
            "list",
            "what seems to be outdated, finished or answered, and by what",
            "",
            supersede_list,
            proposals_text,
        ),
        single(
            "accept",
            "strike the old one through, with a pointer to the new one; move a finished task to Done",
            "facts.md:12",
            supersede_accept,
            change_text,
            _OLD,
        ),
        single(
            "dismiss",
            "leave it as it is, and ask no more",
            "facts.md:12",
            supersede_dismiss,
            dismissed_text,
            _OLD,
        ),
    ),
)
