"""What is too weak to be kept when it is said once, and knowledge when another session of the project says it again.

In the middle of their work assistants remark on the tools they use: "The diagnostics are stale", "the linter only
checks new code". Most such remarks are worth nothing tomorrow; one that comes back in another session is how the place
is. So a remark waits, and counts when a second session bears it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.conversations.conversation import Conversation
from core.rules import words
from core.rules.checks import are_checks, checks_of
from core.rules.closing import TO_READER, is_past
from core.rules.prose import begun, looks_like_code, sentences
from core.rules.sentence import LONG, Found
from core.rules.session import Session, rows_of

SAME = 0.6
"""Of the words of the shorter of two remarks so many stand in the other."""
LEAST_SHARED = 2
MAX_WAITING = 200
MAX_REMARKS = 20
SHORTEST = 15

_WORD = re.compile(r"[A-Za-zÀ-ÿ][\w+-]{2,}|[぀-ヿ一-鿿가-힣]{2,}")
_OF_THE_MOMENT = re.compile(r"\b(?:old|these|those|this|here)\b", re.IGNORECASE)
"""What only the moment knows: the old errors, this diagnostic."""
_UNNAMED = frozenset({"diagnostic", "linter", "formatter", "type checker", "typechecker", "compiler", "ide", "ci"})
_CITES = re.compile(r"(?<=\()(?:per|see|as per) [\w./]+\.md, ")
_EMPTY = frozenset({
    "the", "and", "that", "this", "these", "those", "are", "was", "were", "has", "have", "had", "its", "from", "for",
    "with", "they", "there", "here", "still", "just", "also", "after", "before", "because", "only", "not", "does",
    "when", "while", "all", "any", "our", "your", "can", "will", "may", "now", "new", "old", "issue", "issues", "die",
    "der", "das", "und", "ist", "sind", "les", "des", "est", "sont", "los", "las", "son",
})  # fmt: skip


@dataclass(frozen=True)
class Remark:
    """A sentence about a tool, with its words, the turn it stands in, and that turn's time ("" if unknown)."""

    statement: str
    quote: str
    words: frozenset[str]
    turn: int
    time: str


def find_remarks(conversation: Conversation, of: re.Pattern[str] = words.TRAIT) -> Iterator[Remark]:
    """Sentences in which the assistant says how a tool behaves; of the turns in which `of` stands."""
    for number, turn in enumerate(conversation.turns):
        if turn.role != "assistant" or turn.agent or not of.search(turn.text) or not words.TOOL.search(turn.text):
            continue
        for row in rows_of(turn, number):
            for sentence in sentences(row):
                text = sentence.text
                if not SHORTEST <= len(text) <= LONG or not words.TOOL.search(text) or not words.TRAIT.search(text):
                    continue
                if words.OFFER.search(text) or words.MONOLOGUE.match(text) or looks_like_code(text) or "?" in text:
                    continue
                known = frozenset(word.casefold() for word in _WORD.findall(text)) - _EMPTY
                if len(known) >= LEAST_SHARED:
                    yield Remark(begun(_CITES.sub("", text)), sentence.quote, known, number, turn.time)


def find_quirks(session: Session) -> Iterator[Found]:
    """Remarks that need no second session: of a limitation of a tool that was run in this one, or with the setting that
    makes it so, as it stands in what a tool gave back."""
    ran = " ".join(row.words for _, row in session.commands).casefold()
    kept: list[Remark] = []
    for remark in find_remarks(session.conversation, _LIMITS):
        text = remark.statement
        if not _LIMITS.search(text) or is_past(text) or TO_READER.search(text):
            continue
        if words.HEDGE.search(text) or words.CAUSE.search(text) or _OF_THE_MOMENT.search(text):
            continue
        tools = {found[0].casefold() for found in words.TOOL.finditer(text)}
        shown = "`" in text and session.bears_out(text)
        if not shown and not any(tool.rstrip("s") not in _UNNAMED and tool in ran for tool in tools):
            continue
        if not any(_alike(remark.words, other.words) for other in kept):
            kept.append(remark)
            fields = {"statement": text, "detail": "", "quote": remark.quote, "kind": "tool-quirk"}
            yield Found("facts", fields, 58, remark.turn)


_LIMITS = re.compile(
    r"\blimitations?\b|\bonly (?:checks?|works?|runs?|sees?|accepts?|supports?|flags?)\b|"
    r"\bknown (?:issue|bug|limitation)\b|\bdo(?:es)?(?:n't| not) (?:support|work|see|check|pick up|recogni[sz]e)\b|"
    r"\b(?:ignores?|wants|enforces|insists)\b",
    re.IGNORECASE,
)


def bear_out(
    remarks: Sequence[Remark], waiting: Sequence[Mapping[str, Any]], session: str
) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Facts that another session bears out, and what waits from now on.

    `waiting` holds rows of `session`, `words`, `statement` and `time`, of one project; a row that is none is left out.
    The same sentence of the same moment in two files is one session that was copied, and bears nothing out.
    """
    rows = [dict(row) for row in waiting if _is_row(row)]
    facts: list[dict[str, str]] = []
    taken: set[int] = set()
    own = list(remarks)[:MAX_REMARKS]
    for remark in own:
        same = [
            at
            for at, row in enumerate(rows)
            if row["session"] != session
            and not row.get("checks")
            and not (remark.time and row["time"] == remark.time)
            and _alike(remark.words, frozenset(row["words"]))
        ]
        if not same or taken & set(same):
            continue
        taken.update(same)
        statement = next((rows[at]["told"] for at in same if isinstance(rows[at].get("told"), str)), "")
        if not statement:
            said = [remark.statement, *(rows[at]["statement"] for at in same)]
            named = [text for text in said if _names_its_tool(text)]
            statement = max([text for text in named if not words.HEDGE.search(text)] or named, key=len, default="")
        if not statement:
            continue  # nobody has named the tool yet
        for at in same:  # the next session tells it in the same words, so that it is confirmed and not doubled
            rows[at]["told"] = statement
        number = len({rows[at]["session"] for at in same}) + 1
        detail = f"said in {number} sessions of this project"
        facts.append({"statement": statement, "detail": detail, "quote": remark.quote, "kind": "tool-quirk"})
    known = {(row["session"], row["statement"]) for row in rows}
    for remark in own:
        if (session, remark.statement) not in known:
            row = {"session": session, "words": sorted(remark.words), "statement": remark.statement}
            rows.append(row | {"time": remark.time})
    return facts, rows[-MAX_WAITING:]


def checks_borne_out(
    project: str, steps: Sequence[str], waiting: Sequence[Mapping[str, Any]], session: str, time: str
) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """The playbook of the checks that another session of the project ran too, and what waits from now on."""
    rows = [dict(row) for row in waiting if _is_row(row)]
    ran = [
        row for row in rows if row.get("checks") and row["session"] != session and not (time and row["time"] == time)
    ]
    both = [step for step in steps if any(step in row["words"] for row in ran)]
    if steps and not any(row.get("checks") and row["session"] == session for row in rows):
        rows.append({"session": session, "words": list(steps), "statement": "", "time": time, "checks": True})
    return ([checks_of(project, both)] if are_checks(both) else []), rows[-MAX_WAITING:]


def add_borne_out(arrays: Mapping[str, list[dict[str, str]]], found: Mapping[str, list[dict[str, str]]]) -> None:
    """Add what another session bore out to what this one gave; of two playbooks of a name the longer one stands."""
    for kind, rows in found.items():
        kept = arrays[kind]
        for row in rows:
            at = next((at for at, other in enumerate(kept) if "name" in row and other.get("name") == row["name"]), -1)
            if at < 0 and row not in kept:
                kept.append(row)
            elif at >= 0 and row["steps"].count(" -> ") > kept[at]["steps"].count(" -> "):
                kept[at] = row


def _names_its_tool(text: str) -> bool:
    """Whether a remark says which tool it is about, and nothing that only its moment knows."""
    tools = {found[0].casefold().rstrip("s") for found in words.TOOL.finditer(text)} - _UNNAMED
    return bool(tools or words.ANCHOR.search(text)) and not _OF_THE_MOMENT.search(text)


def _is_row(row: Mapping[str, Any]) -> bool:
    """Whether a row has what is asked of it: the file lies in a cache, and anything may have happened to it."""
    texts = all(isinstance(row.get(name), str) for name in ("session", "statement", "time"))
    held = row.get("words")
    return texts and isinstance(held, list) and all(isinstance(word, str) for word in held)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(one & other)
    return shared >= LEAST_SHARED and shared >= SAME * min(len(one), len(other))
