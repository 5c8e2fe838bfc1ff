"""What a session ran, what came of each command, and how the session stood at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from core.base.command_line import command_key, error_key, error_line, is_invocation
from core.conversations.conversation import Turn
from core.conversations.events import Command, Commit, Edit, PullRequest, Push

WORDS, ERROR = 300, 200


class Ran(NamedTuple):
    """One command, in the turn at `position` (from 0): its key and words, whether it `failed` (1, 0, or -1 where nobody
    told), the key of the error, its line, and whether it was called wrongly. An edit between commands has no key."""

    position: int
    key: str
    words: str
    failed: int
    error: str = ""
    line: str = ""
    wrong: int = 0


def ran_in(turns: Sequence[Turn], first: int, clear: Callable[[str], str]) -> list[Ran]:
    """The commands of these turns, in their order; of edits in a row one. `clear` takes secrets out of a text before
    it is shortened."""
    rows: list[Ran] = []
    for number, turn in enumerate(turns, start=first):
        for event in turn.events:
            if isinstance(event, Edit):
                if rows and rows[-1].key:
                    rows.append(Ran(number, "", clear(event.path)[:WORDS], -1))
            elif isinstance(event, Command) and not event.refused and command_key(event.words):
                words, output = clear(event.words), ""
                failed = -1 if event.failed is None else int(event.failed)
                if failed == -1 and event.answered:
                    failed = int(is_invocation(error_line(event.output)))
                if failed == 1:
                    output = clear(event.output)
                line = error_line(output)
                wrong = int(is_invocation(line) or event.status in (126, 127))
                short = " ".join(words.split())[:WORDS]
                rows.append(Ran(number, command_key(words), short, failed, error_key(output), line[:ERROR], wrong))
    return rows


def how_it_ended(turns: Sequence[Turn]) -> str:
    """The last state of a session as its events tell it: `committed 1a2b3c4, pushed`, `edits not committed`,
    `a question open`; "" where nothing is told."""
    commit, changed, pushed, pull = "", False, False, ""
    for turn in turns:
        for event in turn.events:
            if isinstance(event, Edit):
                changed = True
            elif isinstance(event, Commit) and event.succeeded is not False:
                commit, changed, pushed = event.hash[:9] or "yes", False, False
            elif isinstance(event, Commit):
                changed = True
            elif isinstance(event, Push) and event.succeeded is not False:
                pushed = True
            elif isinstance(event, PullRequest):
                pull = event.url
    parts = [f"committed {commit}".removesuffix(" yes")] if commit else []
    parts += ["pushed"] if pushed else []
    parts += [pull] if pull else []
    parts += ["edits not committed"] if changed else []
    said = next((turn for turn in reversed(turns) if turn.role in ("user", "assistant") and turn.text.strip()), None)
    if said is not None and said.role == "assistant" and said.text.rstrip(" *_\n)`").endswith(("?", "？")):
        parts.append("a question open")
    elif said is not None and said.role == "user":
        parts.append("the last word was the user's")
    return ", ".join(parts)
