"""What people and assistants said in a conversation, as rows of prose: code, logs, quotes and tables left out.

One pass over each turn, a constant amount of work a line. Cleaning and sentence splitting happen only for rows in
which a rule has found a cue.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.conversations.conversation import Conversation, Turn

MAX_LINE = 2000  # longer lines are data: minified code, base64, one-line JSON
MAX_PARAGRAPH = 4000
MAX_TURN_OF_PERSON = 12_000  # more than this was pasted, where somebody else speaks as well

_BULLET = re.compile(r"(\s{0,12})(?:[-*+•–]|\d{1,3}[.)])\s+(?:\[([ xX✓✔~/-])\]\s+)?(\S.*)")
_FENCE = re.compile(r"\s{0,8}(`{3,}|~{3,})\s*[\w+-]*")
_HEADING = re.compile(r"#{1,6}\s+(\S.*?)\s*#*$")
_RULE = re.compile(r"[-=*_]{3,}$")
_DIFF = ("diff --git", "@@ ", "+++ ", "--- a/", "<<<<<<<", ">>>>>>>", "=======", "index ")
_SENTENCE_END = re.compile(r"[。！？](?![」』”）])|[.!?][\"')\]*_`]{0,4}\s+(?=[\"'(\[*_`]{0,4}[A-Z0-9À-ÖØ-ÞА-ЯΑ-Ω/]|`)")
_ABBREVIATION = re.compile(r"(?:\be\.g|\bi\.e|\betc|\bvs|\bcf|\bapprox|\bno|\bDr|\bMr|\bMs|^\d{1,3})\.$")
_LINK = re.compile(r"!?\[([^\]\[\n]{1,200})\]\([^()\s]{1,400}\)")
_BOLD = re.compile(r"`[^`\n]*`|(\*{1,3}|(?<![\w/\\.-])_{1,3})(?=\S)([^*\n]{1,400}?)(?<=\S)\1(?![\w/\\])")
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


def by_person(turn: Turn) -> bool:
    """Whether the user spoke: what stands in that role for a sub-agent is an assistant's order."""
    return turn.role == "user" and not turn.agent


def read_prose(conversation: Conversation) -> list[Row]:
    """The rows of all turns of `user` and `assistant`, in their order. Tool and system turns give none."""
    rows: list[Row] = []
    marked = any(turn.role == "assistant" for turn in conversation.turns)
    for number, turn in enumerate(conversation.turns):
        pasted = marked and turn.role == "user" and len(turn.text) > MAX_TURN_OF_PERSON
        if turn.role in ("user", "assistant") and not pasted:
            lines = _Lines(number, turn.role, rows)
            for at, line in enumerate(turn.text.split("\n")):
                lines.take(at, line)
            lines.flush()
    return rows


def sentences(row: Row, cues: Sequence[str] = ("",)) -> Iterator[Sentence]:
    """The sentences of a row in which one of `cues` (lower case) stands; not those too short or long to be one."""
    text, start = row.text, 0
    dots = ((found.start(), found.end()) for found in _SENTENCE_END.finditer(text))
    ends = [end for dot, end in dots if not _ABBREVIATION.search(text, max(0, dot - 8), dot + 1)]
    for end in [*ends, len(text)]:
        raw = text[start:end].strip()
        low = raw.lower() if 8 <= len(raw) <= 500 else ""
        if low and has(low, cues):
            offset = text.index(raw, start)
            yield Sentence(clean(raw), row, offset, offset + len(raw))
        start = end


def has(low: str, cues: Sequence[str]) -> bool:
    """Whether one of `cues` is in `low`."""
    return any(cue in low for cue in cues)


def whole(row: Row) -> Sentence:
    """The row as one sentence."""
    return Sentence(clean(row.text), row, 0, len(row.text))


_NAME = re.compile(r"[/\\._0-9`@=:$]")


def _plain(found: re.Match[str]) -> str:
    """What emphasis stands around; code and Python's own names (`__init__`) are none."""
    is_name = found[1] is None or (found[1] == "__" and re.fullmatch(r"[a-z_]+", found[2]))
    return found[0] if is_name else found[2]


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


def _longest_line(row: Row, start: int, end: int) -> str:
    edges = [*row.bounds, len(row.text) + 1]
    parts = (
        row.text[max(start, first) : min(end, after - 1)].strip()
        for first, after in pairwise(edges)
        if first < end and after > start
    )
    return max(parts, key=len, default="")


class _Lines:
    """Takes the lines of one turn: those of one paragraph or item become a row, those of a fence nothing."""

    def __init__(self, number: int, role: str, rows: list[Row]) -> None:
        self._number, self._role, self._rows = number, role, rows
        self._parts: list[str] = []
        self._kind = self._mark = ""
        self._length = self._begun = 0
        self._section = self._heading = self._fence = ""
        self._blank, self._diff = True, False

    def flush(self) -> None:
        """What was gathered is a row."""
        parts = self._parts
        if parts and self._kind != "skip":
            text, bounds = parts[0], [0]
            if len(parts) > 1:
                text = " ".join(parts)
                for part in parts[:-1]:
                    bounds.append(bounds[-1] + len(part) + 1)
            self._rows.append(
                Row(text, text.lower(), tuple(bounds), self._kind, self._role, self._number, self._mark, self._heading,
                    self._begun)
            )  # fmt: skip
        parts.clear()
        self._kind = self._mark = ""

    def take(self, at: int, line: str) -> None:
        """The next line, with its number in the turn."""
        if self._fence:
            if line.lstrip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
            return
        bare = line.strip()
        if not bare:
            self.flush()
            self._blank, self._diff = True, False
            return
        if ("``" in line or "~~" in line) and self._opens_fence(line):
            return
        if self._diff or bare.startswith(_DIFF):
            self.flush()
            self._diff = True
            return
        first = bare[0]
        if first in ">|<" or len(line) > MAX_LINE or (first in "-=*_" and _RULE.match(bare)):
            self.flush()
            return
        if first == "#" and self._is_heading(bare):
            return
        item = _BULLET.match(line) if first in "-*+•–0123456789" else None
        if item:
            self._begin_item(at, bare, item)
        elif self._blank and line.startswith(("    ", "\t")):
            # An indented block below a blank line is code in markdown.
            self._kind, self._begun = "skip", at
            self._parts.append(bare)
        else:
            self._take_words(at, line, bare)
        self._blank = False

    def _opens_fence(self, line: str) -> bool:
        opening = _FENCE.match(line)
        if not opening or "`" in line[opening.end() :]:
            return False
        self.flush()
        self._fence = opening[1]
        return True

    def _is_heading(self, bare: str) -> bool:
        found = _HEADING.match(bare)
        if found:
            self.flush()
            self._section = self._heading = clean(found[1])
        return found is not None

    def _begin_item(self, at: int, bare: str, item: re.Match[str]) -> None:
        self.flush()
        self._kind, self._mark = ("check", item[2].lower()) if item[2] else ("bullet", "")
        self._parts.append(item[3].rstrip())
        self._length, self._begun = len(bare), at

    def _take_words(self, at: int, line: str, bare: str) -> None:
        parts = self._parts
        if parts and (self._kind != "prose" or _line_ends(parts[-1], bare)) and not line.startswith((" ", "\t")):
            # Words at the margin are no part of the item above them, nor of a short line of its own.
            self.flush()
        if not parts:
            self._kind, self._length, self._begun = "prose", 0, at
            # A lead-in line stands above the list that follows it, and no further.
            self._heading = clean(bare[:-1]) if bare.endswith(":") else self._section
        parts.append(bare)
        self._length += len(bare)
        if self._length > MAX_PARAGRAPH:
            self.flush()
