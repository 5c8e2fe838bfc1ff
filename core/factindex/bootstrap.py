"""The facts that a new conversation starts with, worth their tokens: chosen by domain, order and confidence.

What is known of the repository comes before what holds everywhere. Shown are pitfalls first, then patterns, quirks,
facts and questions; in each the most confident, then the most often confirmed.
A fact stands on one line and no line is ever cut: one that does not fit is left out, a shorter one behind it may fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base.markdown import sanitise_line
from core.base.secrets.redact import redact
from core.factindex import index
from core.factindex.facts import GLOBAL, Fact, split_id

ORDER = ("pitfall", "pattern", "tool-quirk", "fact", "question")
TITLES = {
    "pitfall": "Pitfalls",
    "pattern": "Patterns that worked",
    "tool-quirk": "Tool quirks",
    "fact": "Facts",
    "question": "Open questions",
}
BUDGET = 2000
FILE_NOTE = "file-note"
"""The tag of a fact that is a note on one file, which was not found. In `global` it is of no use to a conversation
about anything else."""
BYTES_PER_TOKEN = 4
HEAD = "# Facts from earlier conversations\n"


@dataclass(frozen=True)
class Bootstrap:
    """The chosen facts in their order, their text, its size in tokens (bytes // 4, rounded up), and how many facts of
    these domains did not fit."""

    domains: tuple[str, ...]
    budget: int
    tokens: int
    facts: tuple[Fact, ...]
    left_out: int
    text: str

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge facts bootstrap --json`."""
        return {**vars(self), "domains": list(self.domains), "facts": [fact.to_json() for fact in self.facts]}


def tokens_of(text: str) -> int:
    """How many tokens a text takes: four bytes each, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def from_index(
    knowledge: Path,
    domains: Collection[str],
    now: datetime,
    tells: Callable[[str, str], bool] = lambda fact_id, text: True,
    *,
    secrets: bool = True,
) -> Bootstrap:
    """The facts of these domains as index.json has them (that is what it is for), without those that have expired since
    it was written, and those that must not be told any more, by id and words. Raises KnowledgeError when it is missing
    or damaged."""
    read = index.read_index(knowledge)
    today = now.astimezone(UTC).date().isoformat()
    valid = [fact for fact in read if not (fact.expires and today > fact.expires)]
    return choose(valid, domains, BUDGET, lambda text: redact(text).text if secrets else text, tells)


def choose(
    facts: Iterable[Fact],
    domains: Collection[str],
    budget: int = BUDGET,
    clean: Callable[[str], str] = lambda text: text,
    tells: Callable[[str, str], bool] = lambda fact_id, text: True,
) -> Bootstrap:
    """The facts of `domains` (repository, agent, global) that fit into `budget` tokens, headings included. Those of a
    repository or agent are chosen before the global ones; notes on single files are none of the global ones. `clean` is
    handed each line and returns it without secrets; `tells` is asked of each that there is room for."""
    fitting = [fact for fact in facts if fact.domain in domains and not fact.stale]
    fitting = [fact for fact in fitting if fact.domain != GLOBAL or FILE_NOTE not in fact.tags]
    fitting.sort(key=lambda fact: (fact.domain == GLOBAL, _rank(fact)))
    left = budget * BYTES_PER_TOKEN
    lines: dict[str, str] = {}
    chosen: list[Fact] = []
    headed: set[str] = set()
    untold = 0
    for fact in fitting:
        if left < 16 and chosen:
            break
        lead = (HEAD if not chosen else "") + ("" if fact.category in headed else _heading(fact.category))
        line = _line(fact, clean)
        cost = len((lead + line).encode("utf-8", "replace"))
        if cost > left:
            continue
        if not tells(fact.id, fact.fact):
            untold += 1
            continue
        left -= cost
        lines[fact.id] = line
        headed.add(fact.category)
        chosen.append(fact)
    chosen.sort(key=lambda fact: (ORDER.index(fact.category), fact.domain == GLOBAL, _rank(fact)))
    text, category = HEAD if chosen else "", ""
    for fact in chosen:
        text += (_heading(fact.category) if fact.category != category else "") + lines[fact.id]
        category = fact.category
    return Bootstrap(tuple(domains), budget, tokens_of(text), tuple(chosen), len(fitting) - len(chosen) - untold, text)


def _heading(category: str) -> str:
    return f"\n## {TITLES[category]}\n\n"


def _rank(fact: Fact) -> tuple[int, float, int, tuple[int, ...], str, int]:
    parts = split_id(fact.id)
    newest = tuple(-ord(char) for char in fact.last_confirmed)
    number = parts[2] if parts else 0
    return ORDER.index(fact.category), -fact.confidence, -(fact.source_count or 0), newest, fact.domain, number


def _line(fact: Fact, clean: Callable[[str], str]) -> str:
    text = sanitise_line(clean(sanitise_line(fact.fact, None)), None)
    return f"- {text} ({sanitise_line(fact.domain, None)}, {fact.confidence:g})\n"
