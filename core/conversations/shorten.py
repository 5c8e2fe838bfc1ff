"""What tools print, shortened for a model: no codes of a terminal, no clocks, nothing twice, of a long text its ends
and the lines that tell of an error.

`LEFT_OUT` stands where something is missing. A quote across it is still found: it parts a quote as an ellipsis does.
"""

from __future__ import annotations

import re

from core.conversations.events import ends
from core.conversations.readable import without_codes

LEFT_OUT = "[…]"
LEAST_LINE = 12
"""A shorter line is left out only behind one that is: alone it says nothing of where it came from."""
LEAST_SAID_LINE = 40
"""The characters from which a line that somebody says again is left out: a shorter one may be a new answer."""

_CLOCK = re.compile(
    r"^(?:[^\t\n]{0,80}\t){0,2}\ufeff?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\]? ", re.M
)
_NUMBERED = re.compile(r"^ {0,8}\d{1,6}(?:→|\t|: |\| )", re.MULTILINE)
_BLANKS = re.compile(r"[ \t]+$|(?<=^ )[ \t]+|\n(?=\n\n)", re.MULTILINE)
_OF_ITSELF = re.compile(
    r"\n*^exit code: 0\s*\Z|^Tokens: .+ sent, .+ received\..*\n?|^Add file to the chat\?.*\n?|"
    r"^<tool-use [^\n]*\n?|^<summary>Tool use: \*\*\w+\*\*</summary>\n?|^</details></tool-use>\n?|"
    r"^\(\w+ completed with no output\)\n?|^Shell cwd was reset to .*\n?|^<shellId: \d+ completed with exit code 0>\n?|"
    r"^```\w*$\n?",
    re.MULTILINE,
)
"""What a tool says of itself, and the marks around what it printed."""
_CUT = re.compile(r"\[… \d+ characters left out …\]")
_CHANGING = re.compile(r"\d+(?:\.\d+)? ?(?:m?s|seconds)\b|\d\d?:\d\d:\d\d(?:[.,]\d+)?|0x[0-9a-f]+")
_TELLS = re.compile(
    r"\b(?:errors?|fail(?:ed|ure|s|ing)?|fatal|panic|denied|refused|rejected|not found|no such|undefined|unknown|"
    r"cannot|can't|could not|unable|invalid|missing|deprecated|exception|traceback|timed? ?out|exceed(?:s|ed)?|"
    r"expected|required|unsupported|conflict|warning|hint|limit)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\(?\bhttps?://[^\s)\"'\]>]+\)?")
_FENCE = re.compile(
    r"^(?P<open>[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n)(?P<code>.*?)(?P<close>^[ \t]*(?P=mark)[ \t]*$)",
    re.DOTALL | re.MULTILINE,
)


def plain(text: str) -> str:
    """What a tool printed, without what teaches nothing: colours, the time before each line, numbers of lines, depth,
    blank lines, the status of what went well."""
    text = _CUT.sub(LEFT_OUT, without_codes(text))
    text = _NUMBERED.sub("", _CLOCK.sub("", text))
    return _BLANKS.sub("", _OF_ITSELF.sub("", text)).strip("\n")


def without_addresses(text: str) -> str:
    """What a search of the web gave back as text alone."""
    return _ADDRESS.sub("", text)


class Once:
    """The lines that a conversation has shown: what stands there again is left out."""

    def __init__(self) -> None:
        self._lines: set[str] = set()

    def rest(self, text: str) -> str:
        """The text without the lines that were shown before, whatever time they took then."""
        kept, gone = list[str](), False
        for line in text.split("\n"):
            key = _key(line)
            gone = key in self._lines if len(key) >= LEAST_LINE else gone
            if not gone:
                kept.append(line)
            elif not kept or kept[-1] != LEFT_OUT:
                kept.append(LEFT_OUT)
        return "\n".join(kept)

    def said(self, text: str) -> str:
        """What somebody said, without long lines that were said before, to the letter; a question is asked again."""
        kept = list[str]()
        for line in text.split("\n"):
            said = line.strip()
            if len(said) < LEAST_SAID_LINE or said.endswith("?") or said not in self._lines:
                kept.append(line)
            elif not kept or kept[-1] != LEFT_OUT:
                kept.append(LEFT_OUT)
            self._lines.add(said)
        return "\n".join(kept)

    def note(self, text: str) -> str:
        """Remember what is shown; the text as it is."""
        self._lines.update(key for line in text.split("\n") if len(key := _key(line)) >= LEAST_LINE)
        return text


def _key(line: str) -> str:
    return _CHANGING.sub("0", line.strip())


def outlined(text: str, head: int, tail: int, telling: int = 0) -> str:
    """The ends of a long text and, between them, up to `telling` characters of lines that tell of an error."""
    first, last = ends(text, head, tail)
    if len(first) + len(last) >= len(text):
        return text
    middle, room, told = text[len(first) : len(text) - len(last)], telling, list[str]()
    for line in middle.split("\n"):
        if room > len(line) and line not in told and _TELLS.search(line):
            room -= len(line) + 1
            told.append(line)
    return "\n".join([first, LEFT_OUT, *(told and [*told, LEFT_OUT]), last]).strip("\n")


_ONE_LINE = re.compile(r"^```(?:bash|sh|shell|powershell)?\n([^\n]+)\n```$", re.MULTILINE)


def short_commands(text: str) -> str:
    """What was said in a turn that ran commands: a command of one line without its fence."""
    return _ONE_LINE.sub(r"$ \1", text)


def short_fences(text: str, head: int, tail: int) -> str:
    """What somebody said, its blocks of code cut in the middle."""
    if len(text) <= head + tail or ("```" not in text and "~~~" not in text):
        return text
    return _FENCE.sub(
        lambda found: f"{found['open']}{outlined(found['code'].strip(chr(10)), head, tail)}\n{found['close']}", text
    )
