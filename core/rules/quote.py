"""Somebody's words as a hand-off quotes them: without thoughts, edits and code, and shortened so that each step and
point stays."""

from __future__ import annotations

import re
from itertools import accumulate

from core.conversations.events import ends
from core.rules.sentence import ENDS, FENCED, is_prose

LONGEST_STEP, LEAST_WORDS = 240, 8
_TICKED = re.compile(r"^[ \t]*[-*] \[[xX]\] .*\n?", re.MULTILINE)
_SHORT = re.compile(
    r"```(?:(?:bash|sh|shell|console|zsh)[ \t]*\n(?P<shell>.{1,400}?)|\w*[ \t]*\n(?P<line>[^\n]{1,120}))\n\s*```",
    re.DOTALL,
)
_WORDS = re.compile(r"```(?:te?xt|md|markdown)[ \t]*\n(.*)\n\s*```", re.DOTALL)
_END_OF_EDITS = r"^>{5,9} (?:REPLACE|UPDATED)\n`{3,}$"
_BLOCKS_OF_EDITS = re.compile(
    r"^(?:(?=[^\s`<>]*[./])[^\s`<>]++[ \t]*\n)?```[^\n]*\n(?:[^\n`]*\n)?"
    rf"<{{5,9}} (?:SEARCH|ORIGINAL)\n.*?{_END_OF_EDITS}",
    re.DOTALL | re.MULTILINE,
)
"""What `Files` and the files themselves tell."""
_THOUGHT = re.compile(r"\A\s*<(think(?:ing)?(?:-content-\w+)?)>.*?</\1>", re.DOTALL)
_FILLING = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$|(?<=\S)[ \t]{4,}", re.MULTILINE)
"""Lines between parts, and runs of blanks within a line."""
_FRAME = r"[ \t]*at \S[^\n:(]*[:(]"
_FRAMES = re.compile(rf"((?:^{_FRAME}.*\n){{2}})(?:{_FRAME}.*\n)+(?={_FRAME})", re.MULTILINE)
"""The middle of a stack trace that was pasted; what somebody wrote behind it may stand in its last line."""
_LEADS_TO = re.compile(r":\s+ `")
_HEAD_OF_TABLE = re.compile(r"^[ \t]*\|.*\|\s*\n[ \t]*\|[ \t:|-]+\|\s*$|^#+ +|^-{3,}$", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_STEP = re.compile(
    r"^[ \t]*(?:#{2,6} +\S|\d+[.)] +\S|[-*] +(?:\*\*|\[ \] )|\*\*|\w[\w ,'’-]{2,40}: \S).*", re.MULTILINE
)
"""A line that begins a step or a point: what stands below it is its detail."""


def one_line(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def without_edits(text: str) -> str:
    """A text without the thoughts before it and the text of edits."""
    text = _THOUGHT.sub("", text)
    *_, end = 0, *(found.end() for found in re.finditer(_END_OF_EDITS, text, re.MULTILINE))
    return _BLOCKS_OF_EDITS.sub("\n", text[:end]) + text[end:]  # a block that is not closed is sought once


def without_ticked(text: str) -> str:
    """A message of the assistant without what is ticked off in it, where it says something else too."""
    left = _TICKED.sub("", text)
    return left if left.strip() else text


def prose(text: str) -> str:
    """A message of the assistant without its code, its tables as lists."""
    plain = _HEAD_OF_TABLE.sub("", _without_code(without_edits(without_ticked(text))))
    return _ROW.sub(lambda row: f"- {' — '.join(cell.strip() for cell in row[1].split('|'))};", plain)


def _without_code(text: str) -> str:
    """A text without its code, of which short command lines and single lines stay, in the line before, and words."""

    def shown(found: re.Match[str]) -> str:
        words = _WORDS.fullmatch(found[0].strip())
        if words and is_prose(words[1]) and len(words[1].split()) >= LEAST_WORDS:
            return f"\n{words[1]}\n"  # somebody put their words into a fence
        short = _SHORT.fullmatch(found[0].strip())
        return f" `{'; '.join((short['shell'] or short['line']).strip().splitlines())}`" if short else "\n"

    return _LEADS_TO.sub(": `", FENCED.sub(shown, text))


def quoted(text: str, most: int) -> list[str]:
    """The beginning and the end of somebody's words, as a quotation; of long ones without the code. Between, of each
    step or point its first sentence, as far as there is room."""
    text = _FILLING.sub(" ", _FRAMES.sub(r"\1…\n", without_edits(text)))
    text = text if len(text) <= most else _without_code(text)
    return [f"> {line}".rstrip() for line in _shortened(text.strip(), most).splitlines() if line.strip()]


def _shortened(text: str, most: int) -> str:
    """A text of at most `most` characters: its beginning, the steps and points behind that, and its end."""
    if len(text) <= most:
        return text
    first, last = ends(text, most * 2 // 3, most // 3)
    room = len("\n".join(_steps(text[len(first) : len(text) - len(last)], most // 4)))
    first, last = ends(text, (most - room) * 2 // 3, (most - room) // 3)
    line = last.find("\n") + 1
    if line < len(last) // 2 and not text[: len(text) - len(last)].endswith("\n"):
        last = last[line:]  # no end of a line
    between = text[len(first) : len(text) - len(last)]
    steps = _steps(between, room + 1)
    number = len(between) - sum(map(len, steps))
    return "\n".join((first, f"[… {number} characters left out …]", *steps, last))


def _steps(text: str, room: int) -> list[str]:
    """The lines of a text that begin a step or a point, each in its first sentence: the last that have room."""
    found = [ENDS.split(row[0].strip(), maxsplit=1)[0] for row in _STEP.finditer(text)]
    rows = [beginning(row, LONGEST_STEP) for row in reversed(found)]
    sizes = accumulate(len(row) + 1 for row in rows)
    return [row for row, size in zip(rows, sizes, strict=True) if size <= room][::-1]


def gist(came: str, said: str, most: int) -> str:
    """The beginning of an answer in a line, and where it is long what its later steps and points begin with."""
    begun = beginning(came, most * 2 // 3)
    steps = [step for step in map(one_line, _steps(said, most // 3)) if step not in begun]
    return f"{begun} {' … '.join(steps)} …" if steps and len(came) > most else beginning(came, most)


def beginning(text: str, most: int) -> str:
    """The beginning of a text in whole sentences, or where the first is too long in whole words."""
    if len(text) <= most:
        return text
    ends = [found.start() for found in ENDS.finditer(text, 0, most)]
    at = ends[-1] if ends and ends[-1] > most // 2 else text.rfind(" ", 0, most)
    return f"{text[: at if at > 0 else most]} …"
