"""What a user typed of a message that stands in their role: not what was pasted, what a program said, or a template."""

from __future__ import annotations

import re

from core.rules import words
from core.rules.prose import looks_like_code

LONGEST_MESSAGE, MAX_MESSAGE_LINES = 1000, 15
"""A longer message was mostly pasted: somebody else's words, or a page's."""
LONGEST_TYPED = 3000
LONGEST_PASTED = 20_000
LONGEST_PART = 300
LEAST_OUTPUT = 2
LEAST_REPEATED = 60
"""The characters from which a paragraph that an assistant said before was copied from there."""
_LINE_OF_OUTPUT = (
    r"^[ \t]*(?:[$%*|+✓✗×❯]\s|at \S+[ (]|File \"|Traceback|\[[\w: .-]+\]|\d{2,4}[-:/]\d\d|"
    r"(?:WARN(?:ING)?|ERR(?:OR)?|INFO|DEBUG|FATAL|npm|npx|pip|git|fatal|error|warning|note)\b[:! ]|"
    r"(?:added|found|up to date|press|running|compiled|audited)\b.*\d|"
    r"\d+ \w+ (?:are|were|found|audited|failed|passed)\b|"
    r"[\w./\\-]+:\d+|\w+(?:Error|Exception|Warning)\b|PS [A-Z]:|[\w.-]+@[\w.-]+[: ]\S* ?[%$#]).*$"
)
_OUTPUT = re.compile(_LINE_OF_OUTPUT, re.MULTILINE)
_BETWEEN = re.compile(rf"{_LINE_OF_OUTPUT}(?s:.*){_LINE_OF_OUTPUT}", re.MULTILINE)
"""What stands between the first and the last line that a terminal printed."""
_AT_PROMPT = re.compile(r"^[\w.-]+@[\w.-]+[: ]\S* ?[%$#] .*(?:\n.*\S.*)*", re.MULTILINE)
"""A command at the prompt of a shell with what it printed, up to an empty line."""
_DOCUMENT = re.compile(r"^\s{0,3}(?:#{1,4}\s|\||\d+\.\s+\*\*)", re.MULTILINE)
_HANDED_ON = re.compile(
    r"^.{0,200}\b(?:(?:note|issue|error|message|log|output|text|comments?|review|feedback|ticket|email|spec|reply|"
    r"response|summary|context) ?(?:below|above|follows)?|below|following|(?:he|she|they|claude|codex|gpt|"
    r"chatgpt|copilot|reviewer|coderabbit) (?:said|says|wrote|found))\s*:\s*$(?P<rest>(?s:.*))",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that hands on somebody else's words, and these."""
_OF_ISSUE = re.compile(
    r"^\W*(?:steps to reproduce|expected (?:behaviou?r|result)|actual (?:behaviou?r|result)|acceptance criteria|"
    r"describe the bug|environment|as an? .{3,40}, I want|reviewer|severity)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NO_PLACEHOLDER = re.compile(r"`[^`\n]*`|\[(?:(?:Image|Pasted text) #\d+|redacted: )[^\]\n]*\]|: <\w+>")
"""A command's usage (`resume <agent>`), and what stands where a picture or a secret was."""
_NOT_SAID = ("/", "<", "!", "{")


def typed(text: str, shown: str = "") -> str:
    """What a user typed of a message: all of a short one; of a longer one, which was mostly pasted, the first and the
    last paragraph where these are short sentences; "" for what a program or a template says. `shown` is what the
    assistant said before: what is copied from there is not the user's."""
    handed = _HANDED_ON.match(text)
    if handed and len(handed["rest"].strip()) >= LEAST_REPEATED:
        text = text[: handed.start("rest")]
    if shown:
        parts = re.split(r"(\n\s*\n)", text)
        text = "".join(part for part in parts if len(part) < LEAST_REPEATED or part.strip(' \n>"“”') not in shown)
    text = _AT_PROMPT.sub("", text)
    if len(_OUTPUT.findall(text)) >= LEAST_OUTPUT:  # what somebody wrote stands before or behind it
        text = "\n\n".join(part.strip() for part in _BETWEEN.split(text, maxsplit=1) if part.strip())
    is_long = LONGEST_MESSAGE < len(text) <= LONGEST_TYPED and not text.startswith(_NOT_SAID)
    if own_words(text) or (is_long and not _foreign(text)):  # longer than mostly, and yet sentences
        return text.strip()
    if len(text) > LONGEST_PASTED or text.startswith(_NOT_SAID) or words.BOILERPLATE.search(text):
        return ""
    parts = [
        part.strip() for part in re.split(r"\n\s*\n|^```.*?^```\s*$", text, flags=re.DOTALL | re.MULTILINE) if part
    ]
    ends = [part for part in dict.fromkeys((*parts[:1], *parts[-1:])) if _is_sentence(part)]
    return "\n\n".join(ends) if len(parts) > 1 else ""


def own_words(text: str) -> bool:
    """Whether a message reads as typed by a user: short, no page, no template, no order of a program."""
    if not text or len(text) > LONGEST_MESSAGE or text.count("\n") > MAX_MESSAGE_LINES or text.startswith(_NOT_SAID):
        return False
    return not _foreign(text)


def has_placeholder(text: str) -> bool:
    """Whether a place of a text waits for words."""
    return words.TEMPLATE.search(_NO_PLACEHOLDER.sub("", text)) is not None


def _is_sentence(part: str) -> bool:
    return len(part) <= LONGEST_PART and "\n" not in part and own_words(part) and not looks_like_code(part)


def _foreign(text: str) -> bool:
    """Whether a template, a program or a page speaks."""
    return bool(
        has_placeholder(text)
        or words.BOILERPLATE.search(text)
        or _DOCUMENT.search(text)
        or len(_OF_ISSUE.findall(text)) > 1
    )
