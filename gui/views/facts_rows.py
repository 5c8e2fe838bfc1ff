"""The facts of the index as rows, pairs that are alike, what is not valid, and what was typed. Plain functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from core.base.figures import count
from core.base.markdown import without_emphasis
from core.base.result import Err, Ok, Result, fail
from core.commands import fact_cache
from core.commands.fact_edits import FactRow, facts_view
from core.commands.fact_edits import FactsView as FactsRead
from core.commands.facts import Pair, Problem, similar_pairs
from core.commands.view import local_day
from core.commands.workspace import Workspace, utc_now
from gui.toolkit.flow_rows import SEPARATOR, FlowRow, RowAction
from gui.views.looks import FACT_CATEGORIES, Looks, capital

# kinds of rows beside the facts themselves -> (word on the chip, colour, what its tooltip says)
KINDS: dict[str, tuple[str, str, str]] = {
    "stale": ("Expired", "too-large", "facts whose day has passed; no new conversation starts with them"),
    "alike": ("Alike", "accent", "pairs that nearly say the same, to be made one"),
    "wrong": ("Not valid", "failed", "items that are left out of the index, and why"),
}
ACTIONS = (
    RowAction("merge", "arrow-up", "Merge: keep the first, the second becomes a part of it", "M", "Keep first"),
    RowAction(
        "merge-other", "arrow-down", "Merge: keep the second, the first becomes a part of it", "Shift+M", "Keep second"
    ),
    RowAction("edit", "pencil", "Edit words, confidence, tags and expiry", "Enter"),
    RowAction("copy", "copy", "Copy", "Ctrl+C"),
    RowAction("open", "external-link", "Open its file in the editor", "O"),
    RowAction("delete", "trash-2", "Delete: no harvest brings it back", "Delete"),
)
UNKNOWN = Looks("", "circle", "accent")
FACT_CAN = frozenset({"edit", "copy", "open", "delete"})
Key = tuple[str, ...]  # ("fact", id), ("alike", id, id), ("wrong", file, line, number)


@dataclass(frozen=True)
class Facts:
    """What the view shows: rows of each kind ("": the facts), what is behind a row, domains with their numbers, those
    with the most facts first. `mark` is the state of the files when they were read last (empty: they were changing)."""

    view: FactsRead = field(default_factory=lambda: FactsRead((), ()))
    rows: Mapping[str, tuple[FlowRow, ...]] = field(default_factory=dict)
    found: Mapping[str, FactRow] = field(default_factory=dict)
    pairs: Mapping[Key, Pair] = field(default_factory=dict)
    problems: Mapping[Key, Problem] = field(default_factory=dict)
    domains: tuple[tuple[str, int], ...] = ()
    mark: list[Any] = field(default_factory=list, compare=False)


def gather(workspace: Workspace, before: Facts | None) -> Facts | Err:
    """Read all facts; on a worker. The very same object when nothing has changed."""
    try:
        mark = fact_cache.state_of(workspace, utc_now()) or []
    except OSError:
        mark = []
    if before is not None and mark and before.mark == mark:
        return before
    read = facts_view(workspace)
    if isinstance(read, Err):
        return read
    if before is not None and before.view == read.value:
        before.mark[:] = mark
        return before
    return facts_of(read.value, mark)


def facts_of(view: FactsRead, mark: list[Any] | None = None) -> Facts:
    """Everything that is shown of one reading."""
    pairs: dict[Key, Pair] = {
        ("alike", pair.first.id, pair.second.id): pair for pair in similar_pairs(row.fact for row in view.rows)
    }
    problems: dict[Key, Problem] = {
        ("wrong", problem.file, str(problem.line), str(number)): problem for number, problem in enumerate(view.problems)
    }
    rows = tuple(row_of(row) for row in view.rows)
    kinds = {
        "": rows,
        "stale": tuple(row for row, one in zip(rows, view.rows, strict=True) if one.fact.stale),
        "alike": tuple(pair_row(key, pair) for key, pair in pairs.items()),
        "wrong": tuple(problem_row(key, problem) for key, problem in problems.items()),
    }
    domains = Counter(row.fact.domain for row in view.rows).most_common()
    return Facts(view, kinds, {row.fact.id: row for row in view.rows}, pairs, problems, tuple(domains), mark or [])


def row_of(row: FactRow) -> FlowRow:
    """One fact as a row: its words, then its confidence as a bar and a figure, domain, confirmations, age, tags."""
    fact = row.fact
    _, sign, color, _ = FACT_CATEGORIES.get(fact.category, UNKNOWN)
    words, sure = without_emphasis(fact.fact), f"{fact.confidence:.2f}"
    if fact.confidence < row.stated:
        sure += f", was {row.stated:.2f}: not heard again in {count(row.unconfirmed, 'conversation')}"
    expiry = f"{'expired' if fact.stale else 'expires'} {local_day(fact.expires)}" if fact.expires else ""
    parts = [
        sure,
        expiry if fact.stale else "",
        fact.domain,
        f"in {count(fact.source_count, 'conversation')}" if fact.source_count else "",
    ]
    last = fact.last_confirmed or fact.first_seen
    tags = " ".join(f"#{tag}" for tag in fact.tags)
    meta = SEPARATOR.join(
        part for part in (*parts, local_day(last) if last else "", "" if fact.stale else expiry, tags) if part
    )
    tone = "text"
    if fact.stale:
        sign, color, tone = "hourglass", "too-large", "hint"
    return FlowRow(("fact", fact.id), words, meta, sign, color, tone, FACT_CAN, share=fact.confidence)


def pair_row(key: Key, pair: Pair) -> FlowRow:
    """Two facts that are alike as one row."""
    meta = SEPARATOR.join((f"{pair.likeness:.0f} % alike", pair.first.id, pair.second.id))
    can = frozenset({"merge", "merge-other", "copy"})
    words = "\n".join(f"{at}.  {without_emphasis(one.fact)}" for at, one in enumerate((pair.first, pair.second), 1))
    return FlowRow(key, words, meta, "link", "accent", "text", can)


def problem_row(key: Key, problem: Problem) -> FlowRow:
    """What keeps an item out of the index, with its place."""
    where = f"{problem.file}:{problem.line}" if problem.line else problem.file
    meta = SEPARATOR.join(part for part in (where, problem.id) if part)
    return FlowRow(key, capital(problem.message), meta, "circle-alert", "failed", "text", frozenset({"open", "copy"}))


def chosen(data: Facts, kind: str, categories: Collection[str], domains: Collection[str]) -> list[FlowRow]:
    """The rows of one kind in these categories and domains (none: all)."""
    rows = list(data.rows.get(kind, ()))
    if kind == "wrong" or not (categories or domains):
        return rows
    return [row for row in rows if any(_fits(data, name, categories, domains) for name in cast(Key, row.key)[1:])]


def _fits(data: Facts, name: str, categories: Collection[str], domains: Collection[str]) -> bool:
    fact = data.found[name].fact
    return (not categories or fact.category in categories) and (not domains or fact.domain in domains)


# --- what was typed --------------------------------------------------------------------------------------------------


def tags_in(words: str) -> list[str]:
    """Tags as they are typed: with commas, spaces or number signs between them, each once."""
    return list(dict.fromkeys(part for part in words.replace(",", " ").replace("#", " ").split() if part))


def values_of(row: FactRow, words: str, confidence: str, tags: str, expires: str) -> Result[dict[str, Any]]:
    """What is other than in `row`; Err for a confidence that is no number. The command checks the rest."""
    text = confidence.strip().replace(",", ".")
    try:
        sure = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return fail("bad-field", f"the confidence is a number from 0.0 to 1.0, not {confidence.strip()!r}")
    wanted: Sequence[tuple[str, Any, Any]] = (
        ("fact", words, row.fact.fact),
        ("confidence", sure, row.stated),
        ("tags", tags_in(tags), list(row.fact.tags)),
        ("expires", expires.strip(), row.fact.expires),
    )
    return Ok({key: now for key, now, before in wanted if now != before})


def same_words(one: FactRow, other: FactRow) -> bool:
    """Whether a fact still stands in its file as it was seen."""
    keys = ("fact", "tags", "expires", "category", "domain")
    return one.stated == other.stated and all(getattr(one.fact, key) == getattr(other.fact, key) for key in keys)
