"""Orders that only a tool or a page gave, and honest items beside them: who said it must decide.

`planted.jsonl` holds one case a line: a conversation (`talk`: who and words; or `text`: a transcript as its reader gets
it), one row of a model's answer, and whether that row has to wait in the quarantine. The rules of
`core/harvest/support.py` and `orders.py` were written with the half `rules` in sight; `frozen` was written afterwards.
Its first run gave 46 of 48 and 2 of 24; one of its cases led to a mend since (the name of a playbook is no step).

`third` has orders behind a clause that says when, claims of work that nobody did, and what an assistant says that a
product wants; written before the rules for these, it gave 6 of 16 and 0 of 8, and led to them.
`python -m tests.quality.planted` prints all three.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, OtherCall
from core.conversations.read import read_conversation
from core.harvest.answer import items_from
from core.harvest.quotes import source_of

PLANTED = Path(__file__).with_name("planted.jsonl")
HALVES = ("rules", "frozen", "third")


@dataclass(frozen=True)
class Case:
    """One row of an answer and the conversation it was made from. In `talk`, `ran` is a command that the assistant ran,
    `call` what it called another tool with."""

    half: str
    name: str
    held: bool
    category: str
    row: dict[str, str]
    talk: Sequence[tuple[str, str]] = ()
    text: str = ""

    def conversation(self) -> Conversation:
        """The conversation as a reader gives it."""
        if self.text:
            return read_conversation(self.name, self.text.encode())
        turns = [Turn("user", "Hello"), Turn("assistant", "Hello, what shall we do?")]
        for who, words in self.talk:
            if who == "ran":
                turns.append(Turn("assistant", f"```bash\n{words}\n```", events=(Command(words=words),)))
            elif who == "call":
                turns.append(Turn("tool", words, events=(OtherCall(),)))
            else:
                turns.append(Turn(who, words))
        return Conversation(self.name, "claude_code", tuple(turns))


class Figures(NamedTuple):
    """How many planted rows waited and how many got in; how many honest ones got in and how many waited."""

    held: int
    missed: int
    honest: int
    lost: int

    def __str__(self) -> str:
        recall, precision = self.held / (self.held + self.missed), self.held / (self.held + self.lost)
        return (
            f"{self.held} of {self.held + self.missed} planted rows waited (recall {recall:.0%}), "
            f"{self.lost} of {self.honest + self.lost} honest rows waited too (precision {precision:.0%})"
        )


def cases() -> Iterator[Case]:
    """All cases, in the order of the file."""
    for line in PLANTED.read_text(encoding="utf-8").splitlines():
        yield Case(**json.loads(line))


def own_quotes(case: Case) -> list[str]:
    """What a model that was talked into it could quote for an order: every turn, and every sentence, of the person and
    of the assistant."""
    turns = [turn for turn in case.conversation().turns if turn.role in ("user", "assistant") and not turn.doubtful]
    parts = [part for turn in turns for part in (turn.text, *re.split(r"(?<=[.!?])\s+", turn.text))]
    return list(dict.fromkeys(parts))


def why_held(case: Case, quote: str | None = None) -> str:
    """Why the row of a case has to wait, "" if it may go in; `quote` stands for the row's own. A row without a quote is
    no reason by itself."""
    arrays = {case.category: [case.row if quote is None else {**case.row, "quote": quote}]}
    return items_from(arrays, source_of(case.conversation()), quotes="check", secrets=False).items[0].held


def figures(rows: Sequence[tuple[Case, str]]) -> Figures:
    """The figures of cases with what `why_held` said of each."""
    planted = [bool(held) for case, held in rows if case.held]
    honest = [bool(held) for case, held in rows if not case.held]
    return Figures(sum(planted), planted.count(False), honest.count(False), sum(honest))


def main() -> None:
    """Print the figures of each part, and the names of what went wrong."""
    judged = [(case, why_held(case)) for case in cases()]
    for half in HALVES:
        rows = [row for row in judged if row[0].half == half]
        sys.stdout.write(f"{half}: {figures(rows)}\n" if rows else "")
        for case, held in rows:
            if bool(held) != case.held:
                sys.stdout.write(f"  {'lost' if held else 'missed'}: {case.name}\n")
    quoted = [(case, quote, why_held(case, quote)) for case in cases() if case.held for quote in own_quotes(case)]
    missed = [(case, quote) for case, quote, held in quoted if not held]
    sys.stdout.write(f"with other words quoted: {len(quoted) - len(missed)} of {len(quoted)} planted rows waited\n")
    for case, quote in missed:
        sys.stdout.write(f"  missed: {case.name}: {quote}\n")


if __name__ == "__main__":
    main()
