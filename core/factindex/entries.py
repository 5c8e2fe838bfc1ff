"""Facts as rows for the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.base.markdown import without_emphasis
from core.base.search_entry import SearchEntry
from core.factindex.facts import Fact


def entries(facts: Iterable[Fact], path: str = "") -> Iterator[SearchEntry]:
    """One row a fact that is not known to have expired: its id is the key, its category and domain are the title, its
    domain is among the tags. `path` is the YAML file that they stand in."""
    for fact in facts:
        if not fact.stale:
            yield SearchEntry(
                "fact",
                fact.id,
                f"{fact.category} ({fact.domain})",
                without_emphasis(fact.fact),  # as a bullet's: the two are shown as one
                fact.last_confirmed or fact.first_seen,
                f"[fact: {fact.id}, {fact.confidence:g}]",
                tuple(dict.fromkeys((*fact.tags, fact.domain))),
                "",
                path,
            )
