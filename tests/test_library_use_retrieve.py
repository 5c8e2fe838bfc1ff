"""Retrieval: what a person asks for comes first, with what it has been good for, on SQLite and PostgreSQL alike."""

from __future__ import annotations

import pytest

from core.library.database import Library
from tests.library_shelf import Shelf


@pytest.fixture
def shelf(library: Library) -> Shelf:
    return Shelf(library)


def test_words_find_and_dossiers_tell(shelf: Shelf) -> None:
    shelf.document("Async notes", {
        "hang": "Ran into a deadlock when await was called inside a sync callback of asyncio.",
        "theory": "Coroutines are functions that can be suspended and resumed later.",
    })  # fmt: skip
    shelf.document("Cooking", {"soup": "Lentils need twenty minutes and a little salt."})
    found = shelf.ask("why does my asyncio callback deadlock?")
    assert shelf.names(found)[0] == "hang" and "soup" not in shelf.names(found)
    assert found.task_type == "debugging" and found.inferred
    assert found.dossiers[0].why["keyword"] > 0
