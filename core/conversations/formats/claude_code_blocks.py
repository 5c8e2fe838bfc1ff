"""Claude Code's screen in blocks: what each line belongs to, and what was wrapped joined again.

At the left edge stand `> ` or `❯ ` before what the user typed, `! ` before a command of theirs, `● ` or `⏺ ` before
what the assistant said or called, other signs before what the tool tells; what came back stands behind `  ⎿  `. All
goes on indented, an output by five columns, so that no line of an output looks like a mark. What the user typed does
not always: in versions 2.0 it goes on at the left edge, where a blank ends its last line; from 2.1 on its lines, the
empty ones too, are filled with blanks. A line in it that looks like a mark is none where those blanks tell so. Where
they do not, or where the indentation was lost, a block is in doubt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.conversations.lines import Line

PROMPT, ANSWER, BACK, THOUGHT, TOLD, NOTICE = "prompt", "answer", "back", "thought", "told", "notice"
BANNER = re.compile(r"\s{0,3}(?:(?:▐▛|▟█)\S{1,8}\s+Claude Code v\d|╭─+ Claude Code v\d|│ [✻*] Welcome to Claude Code)")
_PROMPT = re.compile(r"[>❯!](?= |$)")
_ANSWER = re.compile(r"[●⏺] ")
_BACK = re.compile(r"  ⎿(?= |$)")
_BACK_BEHIND = re.compile(r"(?<=\S)  ⎿ {1,2}(?=\S)")
_BACK_AT_EDGE = "⎿"
_THINKS = re.compile(r"[✻✽∴] Thinking…")
_NOTICE = re.compile(r"[✻✽✶✳✢✺✸∴※⏵⏸↑⚠═─━╌╭│╰▐▝▜▘·]")
_RULE = re.compile(r"[─━═]{20,}")
_TOLD = re.compile(r"(?:[●⏺] |  )[^⎿\s].* \(ctrl\+[or] (?:to expand|to see all|for history)\)\s*$")
_TOLD_ABOVE = re.compile(r"(?:[●⏺] |  )(?:Called|Edited|Fetched|Listed|Ran|Read|Recalled|Searched|Thought|Wrote) ")
_UNMARKED_CALL = re.compile(r"  (?:[A-Z]\w+(?: [A-Z]\w+)?\(|Update Todos$|\S.{0,80} \(MCP\)\()")
_CALL_LINES = 40
"""The lines within which the result of a call without a mark of its own must begin."""
_LEAST_WIDTH = 60
"""Narrower windows are rare: what is shorter was not wrapped."""
_WIDE, _NEAR = 100, 3
"""The columns of a line that are surely those of its window; the blocks before and behind that tell of it else."""
_SPOKEN = (PROMPT, ANSWER, THOUGHT)
_ITEM = re.compile(r"[-*•·] |\d{1,3}[.)] |#{1,6} |```|[│┌├└╭╰─☐☒☑✔◻◼⎿>❯●⏺]")
_BOX_ENDS = tuple("│┐┤┘╮╯")


@dataclass
class Block:
    """Lines that belong together, from the one with the mark on, and whether nobody is sure whose they are."""

    kind: str
    doubtful: bool = False
    rows: list[Line] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """The lines, two blanks in the place of the mark."""
        first = "" if self.kind in (BACK, NOTICE) or self.rows[0].text[:1] == " " else f"  {self.rows[0].text[2:]}"
        return [first or self.rows[0].text, *(row.text for row in self.rows[1:])]


def cut(lines: Sequence[Line], data: bytes) -> list[Block]:
    """All lines in blocks. Those in front of the banner, or else of the first mark, are the tool's."""
    gaps = [above.text for above, line in pairwise(lines) if _ANSWER.match(line.text) and not above.text.strip()]
    if 2 * sum(map(bool, gaps)) > len(gaps):  # a terminal has filled all lines, and blanks tell nothing
        lines = [line._replace(text=line.text.rstrip()) for line in lines]
    banner = next((at for at, line in enumerate(lines) if BANNER.match(line.text)), -1)
    begin = next((at for at, line in enumerate(lines) if at >= banner and opens(line.text)), len(lines))
    found, lost, doubtful = [Block(NOTICE, rows=list(lines[:begin]))], False, False
    for at in range(begin, len(lines)):
        line, last = lines[at], found[-1]
        kind = _kind(lines, at, last)
        lost = lost or line.text.startswith(_BACK_AT_EDGE) or (not kind and _is_foreign(lines, at, last))
        if not kind and lost and last.kind != NOTICE and _is_foreign(lines, at, last):
            kind = NOTICE
        if BANNER.match(line.text) and kind:
            lost = doubtful = False
        if kind:
            doubtful = kind != PROMPT and (doubtful or (last.kind == PROMPT and not _is_closed(last)))
            last = Block(kind, lost or doubtful)
            found.append(last)
        behind = _BACK_BEHIND.search(line.text) if last.kind == ANSWER else None
        if behind:
            middle = data.find("  ⎿".encode(), line.start, line.end)
            last.rows.append(Line(line.text[: behind.start()], line.start, middle))
            found.append(Block(BACK, last.doubtful, [Line(line.text[behind.start() :], middle, line.end)]))
        else:
            last.rows.append(line)
    for block in found:
        while block.rows and not block.rows[-1].text.strip():
            block.rows.pop()
    return [block for block in found if block.rows]


def opens(text: str) -> bool:
    """Whether a line looks as if somebody speaks there."""
    return bool(_ANSWER.match(text) or (_PROMPT.match(text) and text[1:].strip()))


def _kind(lines: Sequence[Line], at: int, last: Block) -> str:
    """The kind of the block that a line opens, "" where the one before goes on."""
    text = lines[at].text
    above = lines[at - 1].text if at else ""
    gap = not above.strip()
    if last.kind == PROMPT:
        filled = len(last.rows[0].text) if last.rows[0].text.endswith(" ") else 0
        if _BACK.match(text):
            return "" if filled and text.endswith(" ") and len(text) >= filled else BACK
        if not gap or (above and len(above) >= filled > 0):
            return ""
    if BANNER.match(text):
        return NOTICE
    if _PROMPT.match(text) and gap:
        return PROMPT if text[1:].strip() else NOTICE
    if _TOLD_ABOVE.match(text) and gap and at + 1 < len(lines) and _TOLD.match(lines[at + 1].text):
        return TOLD  # a narrow window has wrapped it
    if _PROMPT.match(text) and _RULE.match(above):  # what is being typed when the screen is copied
        return NOTICE
    for kind, pattern in ((TOLD, _TOLD), (ANSWER, _ANSWER), (BACK, _BACK), (THOUGHT, _THINKS), (NOTICE, _NOTICE)):
        if pattern.match(text) and (kind != TOLD or gap or text[0] != " "):
            return kind
    if text.startswith(_BACK_AT_EDGE):
        return BACK
    if gap and last.kind != NOTICE and _is_call(lines, at):
        return ANSWER
    filled = last.kind == PROMPT and last.rows[0].text.endswith("  ") and len(last.rows[0].text) >= _LEAST_WIDTH
    return TOLD if filled and text.strip() and not text.endswith(" ") else ""


def _is_call(lines: Sequence[Line], at: int) -> bool:
    """Whether a call stands here without a mark of its own: its result follows at once."""
    if not _UNMARKED_CALL.match(lines[at].text):
        return False
    below = (line.text for line in lines[at + 1 : at + _CALL_LINES])
    return _BACK.match(next((text for text in below if _BACK.match(text) or not text.strip()), "")) is not None


def _is_foreign(lines: Sequence[Line], at: int, last: Block) -> bool:
    """Whether a line is none of this screen: words at the left edge behind an empty line."""
    text = lines[at].text
    return last.kind not in (PROMPT, NOTICE) and text[:1].strip() != "" and at > 0 and not lines[at - 1].text.strip()


def _is_closed(prompt: Block) -> bool:
    """Whether it is certain where the user's words end: they go on indented, or a blank ends them."""
    rows = [row.text for row in prompt.rows if row.text.strip()]
    return rows[-1].endswith(" ") or all(text.startswith(" ") for text in rows[1:])


# --- what was wrapped ------------------------------------------------------------------------------------------------


def widths(blocks: Sequence[Block]) -> list[int]:
    """For each block the columns of the window in which it was wrapped: the longest line around it, for the window may
    have been resized. A line of 100 columns and more was wrapped where it stands."""
    own = [
        max((_columns(row.text.rstrip()) for row in block.rows if row.text.rstrip()[-1:] not in _BOX_ENDS), default=0)
        if block.kind in _SPOKEN
        else 0
        for block in blocks
    ]
    spoken = [at for at, block in enumerate(blocks) if block.kind in _SPOKEN]
    around = {at: max(own[other] for other in spoken[max(n - _NEAR, 0) : n + _NEAR + 1]) for n, at in enumerate(spoken)}
    found, width = [], _LEAST_WIDTH
    for at, columns in enumerate(own):
        width = (columns if columns >= _WIDE else max(around[at], _LEAST_WIDTH)) if at in around else width
        found.append(width)
    return found


def joined(texts: Sequence[str], width: int, indent: int = 2) -> str:
    """The lines without their indent, and on one line again what the window wrapped: where the next word would not have
    fitted."""
    found: list[list[str]] = []
    above = ""
    for text in texts:
        words = text.strip()
        if found and words and _goes_on(above, words, width):
            glue = "" if _is_wide(above.rstrip()[-1]) and _is_wide(words[0]) else " "
            found[-1].append(f"{glue}{words}")
        else:
            found.append([text[min(indent, len(text) - len(text.lstrip())) :].rstrip()])
        above = text
    return "\n".join("".join(parts) for parts in found).strip("\n")


def _goes_on(above: str, words: str, width: int) -> bool:
    end = above.rstrip()
    if not end or end[-1] in _BOX_ENDS or _ITEM.match(words):
        return False
    first = 2 if _is_wide(words[0]) else _columns(words.split(None, 1)[0])
    return _columns(end) + 1 + first > width


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"


def _columns(text: str) -> int:
    return len(text) if text.isascii() else len(text) + sum(map(_is_wide, text))
