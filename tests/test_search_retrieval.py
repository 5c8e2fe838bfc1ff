"""The benchmark judges rightly, and on real questions the search stays ahead of plain full text."""

from __future__ import annotations

import numpy as np
import pytest

from core.base.search_entry import SearchEntry
from core.search.weights import NAMES, THREAD_WEIGHTS, WEIGHTS
from tests.bench.retrieval import floor, ours, scored
from tests.bench.retrieval_fit import fit, questions, ranked_by
from tests.bench.retrieval_sets import FOLDER, Asked, Collection, locomo


def test_scores_are_what_their_names_say() -> None:
    """Two answers wanted, one found at rank 2 and one at rank 7; then a question with none found."""
    got = ["a", "x", "b", "c", "d", "e", "y", "f", "g", "h"]
    score = scored([[(got, frozenset("xy"))], [(["a"], frozenset("z"))]])
    assert (score.recall5, score.recall10, score.any5, score.any10) == (25.0, 50.0, 50.0, 50.0)
    assert (score.mrr, score.queries, score.spread) == (25.0, 2, 50.0)


def test_answers_in_real_conversations_are_found_more_often_than_by_words_alone() -> None:
    """Someone who asks about an old conversation gets the turn that answers, not one that repeats the question."""
    if not (FOLDER / "locomo").is_dir():
        pytest.skip("the retrieval sets are not beside the project")
    conversation = next(locomo())
    asked = conversation.asked[::15]
    results = {}
    for name, make in (("ours", ours), ("floor", floor)):
        with make(conversation.entries) as (find, _):
            results[name] = scored([[(find(one), one.answers) for one in asked]])
    assert results["ours"].recall10 > results["floor"].recall10 + 5
    assert results["ours"].recall10 > 70


def test_fitting_learns_which_feature_tells_the_answer() -> None:
    """Weights that were fitted the wrong way round would put answers last, for everybody."""
    rows = np.array([[0.0, 1.0], [1.0, 0.2], [0.3, 0.9]])
    weights = fit([(rows, [1]), (rows * 2, [1])])
    assert (rows @ weights).argmax() == 1
    assert weights[0] > 0 > weights[1]


def test_left_out_conversations_are_ranked_by_the_features_of_the_product() -> None:
    """What the fitting script measures is what a person's search does, not a copy of it that has moved on."""
    entries = [
        SearchEntry("document", f"{thread}{at}", who, text, "2024-06-03", thread=thread, position=at)
        for thread in "ab"
        for at, (who, text) in enumerate([("Ann", f"the harbour {thread} is open?"), ("Bob", "Yes."), ("Ann", "Good.")])
    ]
    asked = Asked("harbour on 3 June", frozenset({"a1"}))
    (question,) = questions(Collection("talk", entries, [asked]), None)
    assert question.rows.shape == (len(question.keys), len(NAMES)) and "a1" in question.keys
    keys, threads = ranked_by(question, np.array(list(WEIGHTS.values())), np.array(list(THREAD_WEIGHTS.values())))
    assert keys == question.keys and set(threads) == {"a", "b"}
