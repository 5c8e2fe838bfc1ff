"""What harvests have cost, day by day, and the caps that the user set on a day, a run and a month.

The account is one small file of the store. While a cap holds, what a call may cost at most is written down before the
call and corrected after it: whoever is killed in between has rather spent too much than too little, and no second
process begins from a stale number. Days and months are those of the user's own clock.
"""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.homes import advice

KEPT_DAYS = 70
"""This many days stand in the account: the month now, and the one before for whoever looks."""
MAX_FILE_BYTES = 1 << 20
WORST_BYTES_A_TOKEN = 3
"""How much of a text fits a token at the worst: a cap must hold, and what does not fit a window is cut by some servers
without a word. Text of many bytes a character takes more tokens for its length, and more bytes as well."""

Price = Callable[[int, int], float | None]
"""Input and output tokens -> US dollars, None where the price is not known."""


@dataclass(frozen=True)
class Caps:
    """What may be spent, 0 for no cap: tokens on a day, US dollars in a run and in a month. `answer_tokens` is the
    longest answer that is asked for, `factor` how many tokens the provider counts for one of ours."""

    day_tokens: int = 0
    run_price: float = 0.0
    month_price: float = 0.0
    answer_tokens: int = 0
    factor: float = 1.0

    @property
    def in_money(self) -> bool:
        return bool(self.run_price or self.month_price)

    def __bool__(self) -> bool:
        return bool(self.day_tokens or self.in_money)


@dataclass(frozen=True)
class Spent:
    """Tokens, input and output together, and US dollars as far as prices were known."""

    tokens: int = 0
    dollars: float = 0.0

    def plus(self, tokens: int, dollars: float) -> Spent:
        return Spent(max(0, self.tokens + tokens), max(0.0, self.dollars + dollars))


_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z")


class Account:
    """The spending of one home. Raises OSError where its file cannot be read or written: then nothing is spent."""

    def __init__(self, file: Path, now: Callable[[], datetime]) -> None:
        self._file, self._now = file, now
        self._days = read_days(file)
        self._lock = threading.Lock()

    @property
    def _today(self) -> str:
        return f"{self._now().astimezone():%Y-%m-%d}"

    @property
    def day(self) -> Spent:
        """What this day has cost."""
        return self._days.get(self._today, Spent())

    @property
    def month(self) -> Spent:
        """What this month has cost."""
        month, total = self._today[:7], Spent()
        for day, spent in self._days.items():
            if day.startswith(month):
                total = total.plus(spent.tokens, spent.dollars)
        return total

    def add(self, tokens: int, dollars: float) -> None:
        """Book an amount, or with negative numbers take some back, durably enough that another process sees it."""
        with self._lock:
            self._days[self._today] = self.day.plus(tokens, dollars)
            kept = sorted(self._days)[-KEPT_DAYS:]
            self._days = {day: self._days[day] for day in kept}
            rows = {day: [spent.tokens, round(spent.dollars, 9)] for day, spent in self._days.items()}
            files.make_folder(self._file.parent)
            files.write_atomic(self._file, json.dumps({"days": rows}).encode(), 0o600, lasting=False)


def read_days(file: Path) -> dict[str, Spent]:
    """The account as it stands; a file that is no account any more is taken for a day of unknown cost by nobody: its
    days are lost, and a cap counts from now on. Raises OSError."""
    try:
        data = files.read_file(file, MAX_FILE_BYTES).data
    except FileNotFoundError:
        return {}
    try:
        rows: Any = json.loads(data).get("days", {})
    except (ValueError, AttributeError, RecursionError):
        return {}
    found = {}
    for day, row in rows.items() if isinstance(rows, Mapping) else ():
        if _DAY.match(str(day)) and isinstance(row, list) and len(row) == 2 and all(map(_is_amount, row)):
            found[day] = Spent(int(row[0]), float(row[1]))
    return found


def _is_amount(value: object) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value < 1e15
    )


class Purse:
    """Keeps the caps of a run over all its threads: `reserve` before a call, `settle` after it.

    A call that does not fit beside those under way waits for them: they were reckoned at their worst and mostly cost
    less. `reason` is a sentence about the cap that ended the spending, "" until then.
    """

    def __init__(self, caps: Caps, account: Account | None, price: Price) -> None:
        self._caps, self._account, self._price = caps, account, price
        self._ready = threading.Condition()
        self._open = 0
        self._run_dollars = 0.0
        self.reason = ""

    def reserve(self, prompt_bytes: int) -> Spent | None:
        """What a call may cost at most, booked; None when that does not fit any more. Raises OSError."""
        if not self._caps or self._account is None:
            return Spent()
        tokens_in = math.ceil(max(prompt_bytes / WORST_BYTES_A_TOKEN, prompt_bytes / 4 * self._caps.factor))
        worst = Spent(tokens_in + self._caps.answer_tokens, self._price(tokens_in, self._caps.answer_tokens) or 0.0)
        with self._ready:
            while reason := self._over(worst):
                if not self._open:
                    self.reason = reason
                    return None
                self._ready.wait(1.0)
            self._account.add(worst.tokens, worst.dollars)
            self._run_dollars += worst.dollars
            self._open += 1
        return worst

    def settle(self, reserved: Spent, tokens_in: int, tokens_out: int) -> None:
        """Replace what was booked by what the call really cost. Raises OSError."""
        if self._account is None or reserved == Spent():
            return
        dollars = self._price(tokens_in, tokens_out) or 0.0
        with self._ready:
            self._open -= 1
            self._run_dollars += dollars - reserved.dollars
            self._ready.notify_all()
            self._account.add(tokens_in + tokens_out - reserved.tokens, dollars - reserved.dollars)

    def _over(self, more: Spent) -> str:
        caps, account = self._caps, self._account
        assert account is not None
        if caps.day_tokens and account.day.tokens + more.tokens > caps.day_tokens:
            return f"the budget of {caps.day_tokens:,} tokens a day (max_day_tokens) is reached; what is left waits"
        if caps.run_price and self._run_dollars + more.dollars > caps.run_price:
            return f"the budget of ${caps.run_price:.2f} a run (max_run_price) is reached; what is left waits"
        if caps.month_price and account.month.dollars + more.dollars > caps.month_price:
            return f"the budget of ${caps.month_price:.2f} a month (max_month_price) is reached; what is left waits"
        return ""


def account_trouble(error: OSError) -> str:
    """A sentence about an account that cannot be kept, so that nothing is spent."""
    return f"the account of what was spent cannot be kept: {error.strerror or error}. {advice(error)}".strip()
