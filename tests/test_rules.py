"""What a harvest by rules leaves of a session, as data: `tests/cases/rules/*.yaml`. If a case fails, a user misses a
line that would have saved them something, or reads one that is wrong, stale or worth nothing.

`talk` is a session, one entry a line, a longer one going on in the lines below: `> ` the user says, `< ` the assistant
says, `$ ` a command runs (`= ` it prints and goes well, `! ` it fails with this, `x ` the user refuses it, none of
them: it has no result), `~ ` a file is written, `% ` a question is put (`question | option | option => answer`),
`& ` a plan is put (approved where `& yes: ` begins it), `* ` the assistant's list of steps (`[x] `, `[ ] `),
`# ` a summary takes the place of what was said, `| ` the tool says. `lines` is all that is harvested, as
`category: statement — detail`; `has` and `hasnt` are parts of lines that have to be there or not, `end` is the state in
which the session was left. `tool` is the tool that kept the session, `branch` what was checked out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.conversations.conversation import Conversation, Turn
from core.conversations.events import (
    Command,
    Compaction,
    Edit,
    Event,
    Plan,
    Question,
    Todos,
    follow_ups,
)
from core.conversations.ran import read_end
from core.harvest.answer import items_from
from core.harvest.distil import distil
from core.harvest.quotes import source_of
from core.harvest.steps import DistilSettings
from core.rules.distil import CATEGORIES, distil_offline

_MARK = re.compile(r"^([><$=!x~%&*#|]) ?(.*)$")
_NUMBER = count(1)


def entries(talk: str) -> list[tuple[str, str]]:
    """The entries of a talk: a mark and its text."""
    found: list[tuple[str, str]] = []
    for line in talk.rstrip("\n").split("\n"):
        marked = _MARK.match(line)
        if marked:
            found.append((marked[1], marked[2]))
        else:
            mark, text = found.pop()
            found.append((mark, f"{text}\n{line.removeprefix('  ')}"))
    return found


def turns_of(talk: str) -> Iterator[Turn]:
    """The turns of a talk, with their events."""
    rows = entries(talk)
    for at, (mark, text) in enumerate(rows):
        after = rows[at + 1] if at + 1 < len(rows) else ("", "")
        if mark in "><|":
            yield Turn({">": "user", "<": "assistant", "|": "system"}[mark], text)
        elif mark == "$":
            ended: dict[str, Any] = {"answered": after[0] in ("=", "!", "x") and bool(after[0])}
            ended |= {"failed": after[0] in ("!", "x"), "refused": after[0] == "x"} if ended["answered"] else {}
            output = after[1] if ended["answered"] else ""
            event = Command(tool="Bash", words=text, output=output, start=next(_NUMBER), **ended)
            yield Turn("tool", f"{text}\n{output}", events=(event, *follow_ups(event)))
        elif mark not in "=!x":
            yield Turn("tool", text, events=tuple(_event(mark, text)))


def _event(mark: str, text: str) -> Iterator[Event]:
    if mark == "~":
        first = text.split("\n")[0]
        yield Edit(tool="Edit", path=first, how="changed", answered=True, failed=False)
    elif mark == "%":
        asked, _, answer = text.partition(" => ")
        question, *options = asked.split(" | ")
        yield Question(tool="Ask", asked=((question, " | ".join(options), answer),), answered=bool(answer))
    elif mark == "&":
        approved = text.startswith("yes: ")
        yield Plan(tool="Plan", text=text.removeprefix("yes: "), approved=approved, answered=True)
    elif mark == "*":
        steps = tuple((line[4:], "completed" if line.startswith("[x]") else "pending") for line in text.split("\n"))
        yield Todos(tool="TodoWrite", items=steps, answered=True)
    elif mark == "#":
        yield Compaction(text=text)


def read(case: dict[str, Any]) -> Conversation:
    """The conversation of a case."""
    told = {name: case.get(name, "") for name in ("branch", "title")}
    folder = case.get("folder", "/home/m/rates")
    return Conversation("c", case.get("tool", "claude_code"), tuple(turns_of(case["talk"])), folder=folder, **told)


def lines_of(conversation: Conversation) -> list[str]:
    """All that is harvested of a conversation, a line an item; the same each time."""
    arrays = distil_offline(conversation)
    assert tuple(arrays) == CATEGORIES and arrays == distil_offline(conversation)
    source = source_of(conversation)
    items_from(arrays, source, quotes="check", secrets=True)
    return [f"{name}: {_text(row)}" for name, rows in arrays.items() for row in rows]


def _text(row: dict[str, str]) -> str:
    if "steps" in row:
        return f"{row['name']}: {row['steps']}"
    said = row.get("statement") or f"{row['path']}: {row['note']}"
    return f"{said} — {row['detail']}" if row.get("detail") else said


def cases() -> Iterator[Any]:
    for path in sorted((Path(__file__).parent / "cases" / "rules").glob("*.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")):
            for at, talk in enumerate(case.pop("talks", [case.get("talk")])):
                name = f"{path.stem}: {case['case']}" + (f" ({at + 1})" if at else "")
                yield pytest.param({**case, "talk": talk}, id=name)


@pytest.mark.parametrize("case", list(cases()))
def test_a_session_leaves_what_is_worth_a_line(case: dict[str, Any]) -> None:
    conversation = read(case)
    lines = lines_of(conversation)
    if "lines" in case:
        assert lines == [_plain(line) for line in case["lines"]]
    for part in case.get("has", ()):
        assert any(_plain(part) in line for line in lines), (part, lines)
    for part in case.get("hasnt", ()):
        assert not any(_plain(part) in line for line in lines), (part, lines)
    if "end" in case:
        assert read_end(conversation.turns).text == case["end"]


def _plain(line: str | dict[str, str]) -> str:
    """A line; YAML reads `facts: …` as a table of one row."""
    return line if isinstance(line, str) else "; ".join(f"{name}: {said}" for name, said in line.items())


def test_the_file_of_a_sub_agent_alone_is_read_like_a_session() -> None:
    talk = (
        "> the import fails\n$ python -m rates.nightly\n! KeyError: 'date'\n~ rates.py\n< The import failed because "
        "`load_rates` in `rates.py` expects a `date` in each row, but the bank sends rows without one on Sundays, so "
        "the whole file was dropped silently."
    )
    plain = Conversation("c", "claude_code", tuple(turns_of(talk)), folder="/home/m/rates")
    inside = replace(plain, turns=tuple(replace(turn, agent="helper") for turn in plain.turns))
    assert distil_offline(inside)["facts"] == distil_offline(plain)["facts"] != []


def test_the_ledger_keeps_how_a_session_ended_without_its_secrets() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    talk = f"> Read\n~ rates.py\n$ make rates\n= ok\n< It is read.\n> please set the token {key} in `rates.py` now"
    settings = DistilSettings(attempts=1, summarize_bytes=1, quotes="check", redact=True, waiting=None)
    entry = distil(read({"talk": talk}), "c", settings, None).entry
    assert entry["end"].startswith("1 file changed and not committed in the session (`rates.py`)")
    assert key not in entry["end"]
