"""What the gate on "who said it" costs on real sessions: the items that their readers kept, as if a model had answered
with them, once with their quotes and once without. `python -m tests.quality.kept` prints how many have to wait, and
no item: rules are judged on these sessions, so nobody who writes rules should read them.

The statements are a reader's own words, so that they share less with the session than a model's would. Three sets are
read: the given one, and the two of our own (`sessions.py`).
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from core.conversations.read import read_conversation
from core.harvest.answer import items_from
from core.harvest.distil import redacted_conversation
from core.harvest.quotes import Source, source_of
from core.knowledge.categories import CATEGORIES
from tests.corpus import CORPUS
from tests.quality.sessions import OWN, SECOND, with_quotes

CATEGORY = {
    "decision": "decisions",
    "preference": "decisions",
    "playbook": "playbooks",
    "open-task": "tasks_open",
    "done-task": "tasks_done",
    "fact": "facts",
    "question": "questions",
    "file-note": "files",
}
FROM_TOOL = "from-tool-output"


class Judged(NamedTuple):
    """One kept item: its category in the labels, by which structure it could be found, its words, why it waits."""

    kind: str
    structure: str
    statement: str
    quoted: bool
    held: str
    by_tool: bool


def judged(kinds: frozenset[str] = frozenset(CATEGORY), every: int = 1) -> Iterator[Judged]:
    """Every kept item of these kinds with what the gate says, of each `every`-th session. Needs the corpus."""
    sets = (CORPUS / "labels" / "kept" / "kept.jsonl", OWN, SECOND)
    rows = [json.loads(line) for path in sets for line in path.read_text(encoding="utf-8").splitlines()]
    for session in map(with_quotes, rows[::every]):
        wanted = [item for item in session["items"] if item["category"] in kinds]
        if not wanted:
            continue
        data = (CORPUS / "conversations" / session["file"]).read_bytes()
        source = source_of(redacted_conversation(read_conversation(session["file"].rpartition("/")[2], data))[0])
        for quoted in (True, False):
            yield from _answered(wanted, source, quoted)


def _answered(wanted: list[dict[str, Any]], source: Source, quoted: bool) -> Iterator[Judged]:
    """All of them in one answer, as a model gives them: the conversation is gone through once."""
    arrays: dict[str, list[dict[str, Any]]] = {}
    for item in wanted:
        category = CATEGORY[item["category"]]
        row = _row(category, item["statement"], item.get("quote", "") if quoted else "")
        arrays.setdefault(category, []).append(row)
    found = items_from(arrays, source, quotes="check", secrets=False)
    order = [row.name for row in CATEGORIES]
    answered = sorted(wanted, key=lambda item: order.index(CATEGORY[item["category"]]))
    for item, got in zip(answered, found.items, strict=True):
        yield Judged(item["category"], item.get("structure", ""), got.text, quoted, got.held, got.by_tool)


def _row(category: str, statement: str, quote: str) -> dict[str, Any]:
    if category == "playbooks":
        name, _, steps = statement.partition(":")
        return {"name": name, "steps": steps.strip(), "quote": quote}
    if category == "files":
        return {"path": "/kept", "note": statement, "quote": quote}
    return {"statement": statement, "detail": "", "quote": quote}


def main() -> None:
    """Print how many of each category wait."""
    rows = list(judged())
    for quoted in (True, False):
        mine = [row for row in rows if row.quoted == quoted]
        sums = Counter(row.kind for row in mine)
        held = Counter(row.kind for row in mine if row.held == FROM_TOOL)
        told = ", ".join(f"{held[kind]} of {number} {kind}s" for kind, number in sorted(sums.items()))
        sys.stdout.write(f"{'with' if quoted else 'without'} quotes, waiting for a person's word: {told}\n")


if __name__ == "__main__":
    main()
