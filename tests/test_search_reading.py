"""What a large index ranks: what has one of the rarest words, or two of the others."""

from __future__ import annotations

from pathlib import Path

from core.base.entry import Entry
from core.search.candidates import SMALL, Filters, choices, match_choice
from core.search.query import search
from core.search.terms import Query, Term
from tests.search_shelf import indexed


def test_in_a_large_index_frequent_words_are_ranked_in_pairs() -> None:
    """A query of one rare and two frequent words does not rank what has a frequent word alone, unless too little is
    found otherwise."""
    terms = [Term(word, {word: 1.0}, found, 1.0) for word, found in (("often", 9000), ("rare", 90), ("usual", 5000))]
    query = Query("", "", (), (), tuple(terms), False, SMALL + 1)
    first, second = map(match_choice, choices(query, terms))
    assert first == '"rare" OR (("usual") AND ("often"))'
    assert second == '"rare" OR "usual" OR "often"'
    assert list(map(match_choice, choices(query, terms[:1]))) == ['"often"']


def test_a_filter_that_few_pass_still_finds_what_has_a_frequent_word_alone(tmp_path: Path) -> None:
    """Someone who asks for memories only is not left without because other entries were chosen first."""
    rows = [Entry("bullet", f"b{at}", "", f"usual often thing {at}") for at in range(SMALL + 20)]
    rows += [Entry("bullet", f"r{at}", "", f"rare thing {at}") for at in range(100)]
    rows.append(Entry("memory", "m", "", "the usual way is best"))
    with indexed(tmp_path, rows) as index:
        assert [hit.entry.key for hit in search(index, "rare usual often", Filters(kinds=("memory",)))] == ["m"]
