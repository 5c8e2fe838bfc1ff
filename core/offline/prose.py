"""What people and assistants said in a conversation, as rows of prose: code, logs, quotes and tables left out.

One pass over each turn, a constant amount of work a line. Cleaning and sentence splitting happen only for rows in
which a rule has found a cue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.conversations.conversation import Conversation, Turn

MAX_LINE = 2000  # longer lines are data: minified code, base64, one-line JSON
MAX_PARAGRAPH = 4000
MAX_TURN_OF_PERSON = 12_000  # more than this was pasted, where somebody else speaks as well

_BULLET = re.compile(r"(\s{0,12})(?:[-*+•–]|\d{1,3}[.)])\s+(?:\[([ xX✓✔~/-])\]\s+)?(\S.*)")
_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})\s*([\w+-]*)")
_HEADING = re.compile(r"#{1,6}\s+(\S.*?)\s*#*$")
_RULE = re.compile(r"[-=*_]{3,}$")
_DIFF = ("diff --git", "@@ ", "+++ ", "--- a/", "<<<<<<<", ">>>>>>>", "=======", "index ")
_SENTENCE_END = re.compile(r"[.!?][\"')\]*_`]{0,4}\s+(?=[\"'(\[*_`]{0,4}[A-Z0-9À-ÖØ-ÞА-ЯΑ-Ω/])")
_ABBREVIATION = re.compile(r"(?:\be\.g|\bi\.e|\betc|\bvs|\bcf|\bapprox|\bno|\bDr|\bMr|\bMs|^\d{1,3})\.$")
_LINK = re.compile(r"!?\[([^\]\[\n]{1,200})\]\([^()\s]{1,400}\)")
_BOLD = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*\n]{1,400}?)(?<=\S)\1(?!\w)")
_CODE_LINE = re.compile(
    r"[{};]\s*$|^\s*(?:def|class|import|from|return|const|let|var|public|private|func|fn|if|for|while|#include)\b"
    r".*[({:;=]|^\s*[\w.\[\]\"']+\s*(?:=|\+=|:=)\s*\S|^\s*at\s+\S+\(|^\s*File \"|^Traceback|=>|\);|</\w+>|^\s*[$%#]\s"
)
_LOG_LINE = re.compile(
    r"^\W{0,2}(?:\d{4}-\d\d-\d\d[T ]\d\d:|\d\d:\d\d:\d\d|\[?(?:INFO|WARN(?:ING)?|DEBUG|TRACE|ERROR|FATAL)\b)|"
    r"^[\w.]{1,60}(?:Error|Exception):\s|^npm (?:ERR|WARN)|^(?:warning|error)(?:\[\w+\])?: "
)


@dataclass(frozen=True)
class Row:
    """A paragraph or a list item as it stands in a turn.

    `text` is its lines joined by one blank, `bounds` where each line begins in it. `mark` is what stands in a
    checkbox (" " or "x"), "" for none. `heading` is the clean heading or lead-in line above, `low` the text
    in lower case, for the search for cues. `at` is the number of its first line in the turn.
    """

    text: str
    low: str
    bounds: tuple[int, ...]
    kind: str
    role: str
    turn: int
    mark: str = ""
    heading: str = ""
    at: int = 0


@dataclass(frozen=True)
class Code:
    """A fenced block: its language, its lines, the clean line above it, the turn and the line that it begins in."""

    language: str
    lines: tuple[str, ...]
    lead: str
    role: str
    turn: int
    at: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a row: `text` without markup, `start` and `end` in the row's text."""

    text: str
    row: Row
    start: int
    end: int

    @property
    def quote(self) -> str:
        """The sentence as it stands in the source; of a wrapped one the line that holds most of it."""
        return _longest_line(self.row, self.start, self.end)


@dataclass
class _Reading:
    rows: list[Row] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)


def read_prose(conversation: Conversation) -> tuple[list[Row], list[Code]]:
    """Rows and code blocks of all turns of `user` and `assistant`, in their order. Tool and system turns give none."""
    reading = _Reading()
    marked = any(turn.role == "assistant" for turn in conversation.turns)
    for number, turn in enumerate(conversation.turns):
        pasted = marked and turn.role == "user" and len(turn.text) > MAX_TURN_OF_PERSON
        if turn.role in ("user", "assistant") and not pasted:
            _read_turn(number, turn, reading)
    return reading.rows, reading.codes


def sentences(row: Row, cues: Sequence[str] = ("",)) -> Iterator[Sentence]:
    """The sentences of a row in which one of `cues` (lower case) stands; not those too short or long to be one."""
    text, start = row.text, 0
    ends = [found.end() for found in _SENTENCE_END.finditer(text) if not _abbreviated(text, found.start())]
    for end in [*ends, len(text)]:
        raw = text[start:end].strip()
        low = raw.lower() if 8 <= len(raw) <= 500 else ""
        if low and has(low, cues):
            offset = text.index(raw, start)
            yield Sentence(clean(raw), row, offset, offset + len(raw))
        start = end


def has(low: str, cues: Sequence[str]) -> bool:
    """Whether one of `cues` is in `low`. A plain loop: this is where most of the time goes."""
    for cue in cues:  # noqa: SIM110
        if cue in low:
            return True
    return False


def whole(row: Row) -> Sentence:
    """The row as one sentence."""
    return Sentence(clean(row.text), row, 0, len(row.text))


_NAME = re.compile(r"[/\\._0-9`@=:$]")


def _plain(found: re.Match[str]) -> str:
    """What emphasis stands around; Python's own names (`__init__`) are none."""
    return found[0] if found[1] == "__" and re.fullmatch(r"[a-z_]+", found[2]) else found[2]


def clean(text: str) -> str:
    """Without emphasis, links and doubled blanks; code in backticks stays."""
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "*" in text or "_" in text:
        text = _BOLD.sub(_plain, text)
    return " ".join(text.split())


def begun(text: str) -> str:
    """With a capital at its beginning, unless a name stands there: of a file, a module, a command."""
    first = text.split(" ", 1)[0]
    if not text[:1].isalpha() or _NAME.search(first.rstrip(".,:;!?")) or first[1:] != first[1:].lower():
        return text
    return text[0].upper() + text[1:]


def looks_like_code(text: str) -> bool:
    """Whether a line is program text or a log line that was pasted without a fence."""
    if _LOG_LINE.search(text) or _CODE_LINE.search(text):
        return True
    letters = sum(char.isalpha() or char == " " for char in text)
    return letters < 0.7 * len(text)


def _line_ends(above: str, below: str) -> bool:
    """Whether two neighbouring lines are two statements and not one that was wrapped."""
    if above.endswith("**") and above.startswith("**"):
        return True
    return len(above) < 60 and above[-1] not in ",;(&/-" and (below[0].isupper() or below[0] in '*_`["')


def _abbreviated(text: str, dot: int) -> bool:
    return _ABBREVIATION.search(text, max(0, dot - 8), dot + 1) is not None


def _longest_line(row: Row, start: int, end: int) -> str:
    edges = [*row.bounds, len(row.text) + 1]
    parts = (
        row.text[max(start, first) : min(end, after - 1)].strip()
        for first, after in pairwise(edges)
        if first < end and after > start
    )
    return max(parts, key=len, default="")


def _read_turn(number: int, turn: Turn, reading: _Reading) -> None:
    parts: list[str] = []
    kind, mark, section, heading, above = "", "", "", "", ""
    fence = language = ""
    code: list[str] = []
    blank, diff = True, False
    begun = 0

    def flush() -> None:
        nonlocal kind, mark
        if parts and kind != "skip":
            text, bounds = parts[0], [0]
            if len(parts) > 1:
                text = " ".join(parts)
                for part in parts[:-1]:
                    bounds.append(bounds[-1] + len(part) + 1)
            reading.rows.append(Row(text, text.lower(), tuple(bounds), kind, turn.role, number, mark, heading, begun))
        parts.clear()
        kind = mark = ""

    length = 0
    for at, line in enumerate(turn.text.split("\n")):
        if fence:
            if line.lstrip().startswith(fence) and not line.strip().strip(fence[0]):
                reading.codes.append(Code(language, tuple(code), clean(above), turn.role, number, begun))
                fence = ""
            elif len(code) < 200:
                code.append(line)
            continue
        bare = line.strip()
        if not bare:
            flush()
            blank, diff = True, False
            continue
        if "``" in line or "~~" in line:
            opening = _FENCE.match(line)
            if opening and "`" not in line[opening.end() :]:
                flush()
                fence, language = opening[1], opening[2].lower()
                code, begun = [], at
                continue
        if diff or bare.startswith(_DIFF):
            flush()
            diff = True
            continue
        first = bare[0]
        if first in ">|<" or len(line) > MAX_LINE or (first in "-=*_" and _RULE.match(bare)):
            flush()
            continue
        if first == "#":
            found = _HEADING.match(bare)
            if found:
                flush()
                section = heading = above = clean(found[1])
                continue
        item = _BULLET.match(line) if first in "-*+•–0123456789" else None
        if item:
            flush()
            kind, mark = ("check", item[2].lower()) if item[2] else ("bullet", "")
            parts.append(item[3].rstrip())
            length, begun = len(bare), at
        elif blank and line.startswith(("    ", "\t")):
            # An indented block below a blank line is code in markdown.
            kind = "skip"
            parts.append(bare)
            begun = at
        else:
            if parts and (kind != "prose" or _line_ends(parts[-1], bare)) and not line.startswith((" ", "\t")):
                # Words at the margin are no part of the item above them, nor of a short line of its own.
                flush()
            if not parts:
                kind, length, begun = "prose", 0, at
                # A lead-in line stands above the list that follows it, and no further.
                heading = clean(bare[:-1]) if bare.endswith(":") else section
            parts.append(bare)
            length += len(bare)
            if length > MAX_PARAGRAPH:
                flush()
        # Only a heading or a line that ends in a colon announces the code below it.
        above, blank = bare if bare.endswith(":") else "", False
    flush()
