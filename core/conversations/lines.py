"""Lines of a text conversation with their byte offsets, and the turns that labelled lines add up to.

Every text format is read the same way: a reader gives each line a `Label` (who speaks, which words remain), and
`fold_turns` joins neighbours into turns. Tags that a tool wraps around injected text are found by `block_ends`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.conversations.conversation import Turn
from core.conversations.events import Event, follow_ups

BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line: `text` without its line end, `start` and `end` in bytes (`end` is behind the line end)."""

    text: str
    start: int
    end: int


class Label(NamedTuple):
    """What a reader knows about one line.

    `role` "" goes on with whoever spoke before. `text` None means that the line holds no words (a marker).
    `opens` begins a new turn even when the role stays; `time` (ISO 8601) then belongs to what follows. `agent` names
    the sub-agent that speaks from here on, "" the conversation's own people; None changes nothing.
    """

    role: str
    text: str | None
    opens: bool = False
    time: str = ""
    agent: str | None = None


# Tags around text that nobody in the conversation said: context put in by the tool, and what tools gave back.
# A model's thoughts count as context as well: they were not said, and guesses in them are not knowledge.
INJECTED: dict[str, str] = {
    **dict.fromkeys((
        "initial-context", "system-reminder", "environment-details", "environment-context", "user-instructions",
        "ide-opened-file", "command-name", "command-message", "command-args", "command-contents",
        "local-command-caveat", "think", "thinking", "knowledge",
    ), "system"),
    **dict.fromkeys((
        "local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr", "command-output", "shell-output",
        "task-notification", "tool-use", "tool-call", "tool-result", "tool-output", "function-calls",
        "function-results", "persisted-output",
    ), "tool"),
}  # fmt: skip

_OPENING = re.compile(r"\s{0,16}<([A-Za-z][\w:.-]{0,40})(?=[\s>])")
_CLOSING = re.compile(r"</([A-Za-z][\w:.-]{0,40})\s?>")


def split_lines(data: bytes) -> list[Line]:
    """Split on the newline byte alone; a byte order mark is left out, bytes that are no UTF-8 become U+FFFD."""
    start = len(BOM) if data.startswith(BOM) else 0
    rows = data[start:].split(b"\n")
    if not rows[-1]:
        rows.pop()
    lines: list[Line] = []
    for row in rows:
        end = min(start + len(row) + 1, len(data))
        lines.append(Line(row.decode("utf-8", "replace").rstrip("\r"), start, end))
        start = end
    return lines


def fold_turns(lines: Sequence[Line], labels: Iterable[Label]) -> tuple[Turn, ...]:
    """Join labelled lines into turns; a turn without words is left out. There is one label for each line."""
    turns: list[Turn] = []
    role, time, agent, words = "", "", "", list[str]()
    start = end = 0

    def close() -> None:
        text = "\n".join(words).strip("\n").rstrip()
        if role and text.strip():
            turns.append(Turn(role, text, time, start, end, agent=agent))
        words.clear()

    for line, label in zip(lines, labels, strict=True):
        now, who = label.role or role, agent if label.agent is None else label.agent
        if label.opens or now != role or who != agent:
            close()
            role, start, agent = now, line.start, who
            time = label.time if label.opens else time
        end = line.end
        if label.text is not None and role:
            words.append(label.text)
    close()
    return tuple(turns)


def doubt_after_tools(
    turns: Sequence[Turn], lines: Sequence[Line], labels: Sequence[Label], stray: bool = False
) -> tuple[Turn, ...]:
    """The turns of a text in which nothing marks where a tool's output ends but what any output can print: whoever
    speaks behind the line where the first one begins may be that tool, also where it begins with the mark of another.
    The roles stay, for reading; their words count as a tool's.

    `stray`: nothing marks where an output begins either, or a mark stands where its format never puts one, so that an
    answer may hold a forged end; then whoever speaks behind the first answer is in doubt as well.
    """
    roles = ("tool", "assistant") if stray else ("tool",)
    first = next((line.start for line, label in zip(lines, labels, strict=True) if label.role in roles), math.inf)
    return _doubted(turns, lambda start: start > first)


def _doubted(turns: Sequence[Turn], unsure: Callable[[int], bool]) -> tuple[Turn, ...]:
    """The turns, in doubt who of user and assistant speaks where that is `unsure` by the byte at which they begin."""
    return tuple(
        replace(turn, doubtful=True) if turn.role in ("user", "assistant") and unsure(turn.start) else turn
        for turn in turns
    )


def with_events(turns: Sequence[Turn], events: Iterable[Event]) -> tuple[Turn, ...]:
    """Turns with what happened in them: an event belongs to the turn in whose bytes it begins, else to the one before.
    What a command line made (a commit, a push) stands behind it."""
    starts = [turn.start for turn in turns]
    held: dict[int, list[Event]] = {}
    for event in events:
        at = max(bisect_right(starts, event.start) - 1, 0)
        held.setdefault(at, []).extend((event, *follow_ups(event)))
    return tuple(replace(turn, events=tuple(held[at])) if at in held else turn for at, turn in enumerate(turns))


class Fences(NamedTuple):
    """The code fences of a text: the numbers of the lines `inside` those that are closed, their own lines among them,
    where one begins that never is (`open`, else the number of lines), and the lines that `begin` a closed one."""

    inside: frozenset[int]
    open: int
    begin: frozenset[int]


_FENCE = re.compile(r"((?:[ \t>]|[*+-] |\d{1,3}[.)] ){0,24})(`{3,}|~{3,})")
_CODE_INDENT = 4
"""The columns by which code that shows a fence is deeper than the line that opened its own."""


def code_fences(lines: Sequence[Line]) -> Fences:
    """Where code stands, as CommonMark tells: what opens a fence is closed by as many of the same sign alone on a line.
    One that is never closed hides nothing, and what stands behind it may be code or not."""
    inside, begin = set[int](), set[int]()
    opened, fence, indent = -1, "", 0
    for number, (text, _, _) in enumerate(lines):
        found = _FENCE.match(text) if "``" in text or "~~" in text else None
        if found is None:
            continue
        behind = text[found.end() :]
        if opened < 0:
            if found[2][0] == "~" or "`" not in behind:
                opened, fence, indent = number, found[2], len(found[1])
        elif found[2].startswith(fence) and not behind.strip() and len(found[1]) < indent + _CODE_INDENT:
            inside.update(range(opened, number + 1))
            begin.add(opened)
            opened = -1
    return Fences(frozenset(inside), opened if opened >= 0 else len(lines), frozenset(begin))


def users_in_doubt(turns: Iterable[Turn]) -> tuple[Turn, ...]:
    """The turns of a text for people, in which what was printed can look like what somebody typed: nothing in it is the
    user's word without theirs."""
    return tuple(replace(turn, doubtful=turn.doubtful or turn.role == "user") for turn in turns)


def doubt_in_fences(turns: Sequence[Turn], lines: Sequence[Line]) -> tuple[Turn, ...]:
    """The turns of a text whose marks are believed inside code as well: who begins to speak inside a fence, or behind
    one that is never closed, may be a file or a tool that is shown there; a call whose own fence it is, is not. The
    roles stay, for reading; their words count as a tool's."""
    fences = code_fences(lines)
    if not fences.inside and fences.open >= len(lines):
        return tuple(turns)
    shown = {lines[number].start for number in fences.inside - fences.begin}
    behind = lines[fences.open].start if fences.open < len(lines) else -1
    return _doubted(turns, lambda start: start in shown or 0 <= behind < start)


def line_above(lines: Sequence[Line], number: int) -> int:
    """The nearest line with words above `number`; -1 for none."""
    number -= 1
    while number >= 0 and not lines[number].text.strip():
        number -= 1
    return number


def line_below(lines: Sequence[Line], number: int) -> int:
    """The nearest line with words below `number`; the number of lines for none."""
    return next((at for at in range(number + 1, len(lines)) if lines[at].text.strip()), len(lines))


def tag_name(text: str) -> str:
    """The tag that a line opens with, in lower case and with dashes, or ""."""
    found = _OPENING.match(text) if "<" in text else None
    return found[1].lower().replace("_", "-") if found else ""


def block_ends(
    lines: Sequence[Line], tags: Mapping[str, str], stops: Sequence[int] = (), *, message: bool = False
) -> dict[int, tuple[int, str]]:
    """Opening line -> (last line, role) of every block whose tag is in `tags`.

    The first closing tag ends a block. One that is never closed ends before the next of `stops` (ascending line
    numbers, where the format itself says that somebody else speaks), else with the text.

    In one `message` of a user an output may print its own closing tag, so the last one ends it; and a block in a tag
    that is not in `tags` is a tool's: a version of it that nobody knows yet put it in, or it was pasted.
    """
    closes: dict[str, list[int]] = {}
    opens: list[tuple[int, str]] = []
    for number in [at for at, (text, _, _) in enumerate(lines) if "<" in text]:
        text = lines[number].text
        name = tag_name(text)
        if name in tags or (message and name):
            opens.append((number, name))
        if "</" in text:
            for found in _CLOSING.findall(text):
                closing = found.lower().replace("_", "-")
                if closing == name or _closes(text, closing):
                    closes.setdefault(closing, []).append(number)
    blocks: dict[int, tuple[int, str]] = {}
    for number, name in opens:
        ends, role = closes.get(name, []), tags.get(name, "tool")
        at = bisect_left(ends, number)
        if at < len(ends):
            last = ends[-1] if message and role == "tool" else ends[at]
        elif name in tags:
            after = bisect_left(stops, number + 1)
            last = stops[after] - 1 if after < len(stops) else len(lines) - 1
        else:
            continue
        blocks[number] = (last, role)
    return blocks


def _closes(text: str, tag: str) -> bool:
    """Whether a closing tag is one, and not part of a diff or a listing that shows such a tag."""
    if tag == "think" and text.rstrip().endswith("</details></think>"):
        return True  # SpecStory closes a thought behind its last words, those of an item among them
    if not text.rstrip().endswith(">") or text[0] in "+-|>0123456789":
        return False
    return tag != "tool-use" or text[0] == "<"


TITLE_TURNS = 5
"""The first turns among which one that says something gives the title."""
TITLE_CHARACTERS = 80
"""The characters of the title."""
_PLAN = re.compile(r"implement (?:the following|this) plan\b", re.IGNORECASE)
_SET_UP = re.compile(r"/(?:add|drop|read-only|ls|model|clear|reset|config|init|mcp|resume)(?=\s|$)", re.IGNORECASE)
"""Orders to a tool before the work: files for it to see, the model that it asks."""
_TAG = re.compile(r"</?([\w-]+)>|<([\w-]+)>.*</\2>")
"""A line that a tool puts around what was typed: its time, where it begins."""
_DECORATION = re.compile(r"^(?:[#>\s]|[-*]{1,9}(?:\s|$))+|`+|\*{2,}")
"""What a title does without: marks of headings and quotations, code and emphasis; a name such as `MAX_SIZE` or `*args`
keeps its own."""


def first_line(turns: Sequence[Turn]) -> str:
    """What the user asked for first, shortened: a title where the format has none.

    A greeting, a number, a single letter and a file that is added to a chat are passed by while something else follows;
    where a plan was handed over, its heading is the request.
    """
    best, seen = "", 0
    for at, turn in enumerate(turns):
        if turn.role != "user":
            continue
        seen += 1
        if seen > TITLE_TURNS:
            break
        typed = [row for row in turn.text[:4000].split("\n") if not row.lstrip().startswith("```")]
        rows = [_DECORATION.sub("", row).strip() for row in typed]
        line = next((row for row in rows if row and not _TAG.fullmatch(row)), next(filter(None, rows), ""))
        if _PLAN.match(line):
            said = next((turn.text[:4000] for turn in turns[at + 1 : at + 3] if turn.role == "assistant"), "")
            behind = rows[1:] or [_DECORATION.sub("", row).strip() for row in said.split("\n")]
            line = next((row for row in behind if row), line)
        if (len(line.split()) >= 3 or len(line) >= 16 or not line.isascii()) and not _SET_UP.match(line):
            best = line
            break
        best = best or line
    return best if len(best) <= TITLE_CHARACTERS else best[: TITLE_CHARACTERS - 1].rstrip() + "…"
