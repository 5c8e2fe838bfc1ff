"""What is alike and what seems outdated, for a user to decide: `knowledge review` and the panel ask them."""

from __future__ import annotations

from core.base.markdown import sanitise_line
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, attempt, disk_errors
from core.commands.bullets import change_all
from core.commands.workspace import Clock, Workspace, utc_now
from core.knowledge.alike import Alike as Alike
from core.knowledge.alike import Placed as Placed
from core.knowledge.alike import Superseding as Superseding
from core.knowledge.alike import alike, offered, placed, superseding
from core.knowledge.answers import silenced
from core.knowledge.bullet_text import BulletRef
from core.knowledge.categories import CATEGORIES, read_category
from core.knowledge.edit import Edited
from core.knowledge.ledger import seen_ledger

COMPARED = ("facts", "decisions", "questions", "playbooks", "tasks_open")
CONTRADICTED = ("facts", "decisions")


def similar(paths: Paths) -> list[Alike]:
    """Pairs of bullets of one category that are alike without being the same, the likest first."""
    return alike(_placed(paths, COMPARED))


def unstruck(paths: Paths) -> list[Placed]:
    """The facts and decisions that stand."""
    return _placed(paths, CONTRADICTED)


def proposals(paths: Paths, problems: list[ErrorInfo] | None = None) -> list[Superseding]:
    """What a newer statement seems to contradict, and what a model has said to be outdated, finished or answered,
    without what the user has dismissed. `problems` hears of a ledger whose offers could not be read; the others are
    given all the same."""
    rows = unstruck(paths)
    dismissed = silenced(paths, utc_now().date().isoformat())
    pairs = {pair.key: pair for pair in (*superseding(rows), *_offered(paths, problems))}
    return [pair for pair in pairs.values() if pair.key not in dismissed]


def replace_old(
    workspace: Workspace,
    old: Placed,
    new: Placed,
    act: str = "supersede",
    *,
    seen: str | None = None,
    run: str = "",
    now: Clock = utc_now,
) -> Edited:
    """The same for any two statements: all lines that say the old one, in one write."""
    words = f"{sanitise_line(new.bullet.text, None)} {new.bullet.provenance}" if act == "supersede" else ""
    lines = (old.bullet, *old.statement.others)
    refs = [BulletRef(old.file, row.line, row.raw) for row in lines]
    return change_all(workspace, act, refs, words, keep_secrets=True, seen=seen, run=run, now=now)


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


def _placed(paths: Paths, categories: tuple[str, ...]) -> list[Placed]:
    rows: list[Placed] = []
    for category in CATEGORIES:
        if category.name not in categories:
            continue
        with disk_errors("unreadable", "the bullets cannot be read"):
            rows += placed(category.name, category.file, read_category(paths, category.name))
    return rows
