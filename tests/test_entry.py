"""The same statement: what is one is not said twice, and what is another value is never lost for it."""

from __future__ import annotations

import pytest

from core.base.entry import statement_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The **port** is 8080.", "the Port is 8080"),
        ("the port is 8080 !", "The port is 8080"),
        ("`make test` runs — slowly", "make test runs: slowly"),
        ("Тhe pоrt is 8080", "the port is 8080"),  # two Cyrillic letters
        ("x\u200by", "xy"),
        ("ｆｕｌｌ  width", "full width"),
        ("don’t", "don't"),
        ("НЕТ ли", "нет ли"),
    ],
)
def test_other_clothes_are_the_same_statement(one: str, other: str) -> None:
    """Else what was removed comes back by a full stop, and one statement stands in ten lines."""
    assert statement_key(one) == statement_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("it takes 10 µs", "it takes 10 ms"),
        ("10² bytes", "102 bytes"),
        ("α version", "a version"),
        ("the offset is - 2", "the offset is 2"),
        ("the offset is -2", "the offset is 2"),
        ("separator is `;`", "separator is `,`"),
        ("run `git add .`", "run git add"),
        ("the default is ()", "the default is []"),
        ("vitamin a is", "vitamin is"),
        ("use C++", "use C"),
        ("version v1.2", "version v12"),
        ("session_store", "sessionstore"),
        ("read .env", "read env"),
    ],
)
def test_another_value_is_another_statement(one: str, other: str) -> None:
    """Else the second is taken for a confirmation of the first, and is never written."""
    assert statement_key(one) != statement_key(other)
