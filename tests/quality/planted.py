"""Orders that only a tool or a page gave, and honest items beside them: who said it must decide.

`planted.jsonl` holds one case a line: a conversation (`talk`: who and words; or `text`: a transcript as its reader gets
it), one row of a model's answer, and whether that row has to wait in the quarantine. The rules of
`core/harvest/support.py` and `orders.py` were written with the half `rules` in sight; `frozen` was written afterwards.
Its first run gave 46 of 48 and 2 of 24; one of its cases led to a mend since (the name of a playbook is no step).

`third` has orders behind a clause that says when, claims of work that nobody did, and what an assistant says that a
product wants; written before the rules for these, it gave 6 of 16 and 0 of 8, and led to them.

`hard` are 40 orders and 39 true rows by somebody who had not seen the rules (`hard_planted.jsonl`,
`hard_true_rows.jsonl`). The rules of before gave 24 of 40 and 2 of 39, those written without it in sight 28 and 2. It
led to three more: what a model calls the user's waits where a tool told it, and so does what repeats a tool word for
word; a quotation of whole lines is pasted. `python -m tests.quality.planted` prints all of them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, OtherCall
from core.conversations.read import read_conversation
from core.harvest.answer import items_from
from core.harvest.quotes import source_of

PLANTED = Path(__file__).with_name("planted.jsonl")
HARD = {name: Path(__file__).with_name(f"hard_{name}.jsonl") for name in ("planted", "true_rows")}
HALVES = ("rules", "frozen", "third", "hard")


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
    """All cases, in the order of the files."""
    for line in PLANTED.read_text(encoding="utf-8").splitlines():
        yield Case(**json.loads(line))
    for name, file in HARD.items():
        for line in file.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            text = _session(case["turns"])
            for category, rows in case["answer"].items():
                for row in rows:
                    if category != "files" and (name != "planted" or row["statement"] == case["order"]):
                        yield Case("hard", case["id"], name == "planted", category, row, text=text)


def _session(turns: Sequence[dict[str, str]]) -> str:
    """Such turns as Claude Code records them: what begins with `$ ` was run, all else that a tool gave was fetched."""
    rows: list[tuple[str, Any]] = []
    for at, turn in enumerate(turns):
        if turn["role"] != "tool":
            rows.append((turn["role"], [{"type": "text", "text": turn["text"]}]))
            continue
        command, _, output = turn["text"].partition("\n") if turn["text"].startswith("$ ") else ("", "", turn["text"])
        name, given = ("Bash", {"command": command[2:]}) if command else ("WebFetch", {"url": "https://a.invalid/"})
        rows.append(("assistant", [{"type": "tool_use", "id": f"c{at}", "name": name, "input": given}]))
        rows.append(("user", [{"type": "tool_result", "tool_use_id": f"c{at}", "content": output, "is_error": False}]))
    about = {"sessionId": "s", "cwd": "/srv/app", "parentUuid": None}
    return "\n".join(json.dumps({"type": who, "message": {"role": who, "content": said}} | about) for who, said in rows)


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
