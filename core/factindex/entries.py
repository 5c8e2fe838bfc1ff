"""Facts as rows for the search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from core.base.search_entry import SearchEntry
from core.factindex.facts import Fact


def entries(facts: Iterable[Fact], places: Mapping[str, str] | None = None) -> Iterator[SearchEntry]:
    """One row a fact that has not expired: its id is the key, its category and domain the title, its domain is among
    the tags. `places` tells the path of the YAML file of an id, where that is known."""
    for fact in facts:
        if not fact.stale:
            yield SearchEntry(
                "fact",
                fact.id,
                f"{fact.category} ({fact.domain})",
                fact.fact,
                fact.last_confirmed or fact.first_seen,
                f"[fact: {fact.id}, {fact.confidence:g}]",
                tuple(dict.fromkeys((*fact.tags, fact.domain))),
                "",
                (places or {}).get(fact.id, ""),
            )
