"""The quick way to read candidates sees what the slow way sees."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from core.base.entry import Entry
from core.search import reading
from core.search.candidates import SMALL, Candidates, Filters, choices, match_choice
from core.search.query import search
from core.search.reading import see_all
from core.search.store import Row
from core.search.terms import Query, Term, parse_query
from core.search.words import Stems, words_of
from tests.search_shelf import indexed

PROSE = (
    "relational relation valence valency hopping hope happy happily flies fly dying die ran running runner's use used "
    "us organization organ session_store.py c++ co-cli troubles possibly sensibility rate rating at-at"
)
TEXTS = st.lists(st.sampled_from(PROSE.split()), min_size=1, max_size=14).map(" ".join)


def slow(text: str, query: Query, stems: Stems) -> tuple[list[float], set[str]]:
    """How often a text has each term, by looking at every word of it."""
    words = words_of(text)
    known = stems.learn(words)
    counts = [sum(term.stems.get(known[word], 0.0) for word in words) for term in query.terms]
    return counts, {word for word in words if any(known[word] in term.stems for term in query.terms)}


@given(texts=st.lists(TEXTS, min_size=1, max_size=4), asked=TEXTS)
def test_no_word_is_overlooked(texts: list[str], asked: str) -> None:
    """Whatever its ending: a word that has the stem of a word that was asked for counts."""
    stems = Stems()
    database = sqlite3.connect(":memory:")
    database.executescript(
        "CREATE TABLE counted(entries INTEGER); INSERT INTO counted VALUES (9); CREATE TABLE stems(term, doc)"
    )
    query = parse_query(asked, database, stems)
    texts = [*texts, f"{texts[0]} é"]  # not plain ASCII: read the other way
    rows = [Row(at, "bullet", "", "", text, "", "", "", "", "", "", 0, "") for at, text in enumerate(texts)]
    for one in see_all(query, Candidates({row.id: row for row in rows}, {}), stems):
        counts, words = slow(one.row.text, query, stems)
        assert [round(count, 6) for count in one.counts] == [round(count, 6) for count in counts]
        assert one.words == words


def test_a_stem_starts_as_its_word_does() -> None:
    """Every word of this project's own prose is found by its stem; a stemmer that changed more would hide answers."""
    stems = Stems()
    prose = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    known = stems.learn(words_of(prose))
    for word in set(words_of(prose)):
        stem = known[word]
        if word.isascii():
            begins = reading._beginnings({stem})
            assert word.startswith(begins), (word, stem)


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
