"""The estimate before a run: right where it is known, silent where it is not."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from core.base.price import PRICES_FILE, price

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("provider", "model", "dollars"),
    [
        ("openai", "gpt-5.4", 17.5),
        ("openai", "gpt-5.4-mini-2026-03-17", 5.25),
        ("openai", "gpt-5.41", None),
        ("openai", "gpt-4.1-mini", None),
        ("openai", "deepseek/deepseek-flash", 1.5),
        ("anthropic", "claude-opus-4-1-20250805", 90.0),
        ("anthropic", "claude-opus-4-6", 30.0),
        ("anthropic", "Claude-Haiku-4-5", 6.0),
        ("gemini", "models/gemini-2.5-flash-lite", 0.5),
        ("gemini", "claude-opus-4-6", None),
        ("openai", "a-model-nobody-knows", None),
        ("openai", "", None),
        ("ollama", "llama3", 0.0),
        ("offline", "", 0.0),
        ("command", "gpt-5.4", None),
    ],
)
def test_the_price_of_a_million_tokens_each_way(provider: str, model: str, dollars: float | None) -> None:
    """A wrong price shows a bill that does not come; a guessed one is worse than none."""
    found = price(provider, model, MILLION, MILLION)
    assert found is None if dollars is None else found == pytest.approx(dollars)


def test_the_users_own_prices_win() -> None:
    """Whoever has a contract of their own must see their own figures, for a command as well."""
    assert price("command", "", 2 * MILLION, MILLION, (1.0, 3.0)) == pytest.approx(5.0)
    assert price("openai", "gpt-5.4", MILLION, MILLION, (0.0, -1.0)) == pytest.approx(15.0)
    assert price("openai", "gpt-5.4", 1000, 0, (-1.0, -1.0)) == pytest.approx(0.0025)


def test_every_row_of_the_shipped_table_is_whole_and_dated() -> None:
    """A price without a date cannot be trusted, and a broken row would silently drop the estimate."""
    for maker, table in tomllib.loads(PRICES_FILE.read_text("utf-8")).items():
        assert re.fullmatch(r"2026-\d\d-\d\d", table["checked"]), maker
        for model, row in table["models"].items():
            assert not row or (set(row) == {"input", "output"} and 0 < row["input"] < row["output"]), model


def test_the_table_is_read_only_when_asked() -> None:
    """Every command imports this module; most never ask for a price."""
    code = "import sys, core.base.price; print('tomllib' in sys.modules)"
    root = PRICES_FILE.parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "False"
