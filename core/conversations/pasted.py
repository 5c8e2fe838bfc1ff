"""What a user pasted into a message: an issue, a review, a mail, an output, a quotation. Somebody else wrote that.

No format records it, so the text must tell. A line announces somebody's text and ends with a colon, or it is one that
only trackers, mail programs and interpreters print: from there to the end of the message all counts as pasted, for
nothing tells where it ends. What is fenced or quoted is pasted wherever it stands.
"""

from __future__ import annotations

import re

from core.base.late import late

_TEXTS = (
    "issues?|tickets?|bug|reports?|pull request|pr|reviews?|comments?|feedback|logs?|outputs?|errors?|traceback|trace|"
    "e-?mails?|messages?|pages?|articles?|readme|docs|documentation|posts?|threads?|notes?|instructions"
)
_ANNOUNCED = late(
    rf"\b(?:here(?:'s| is| are)|this|these|following|below|from|see|got|get|gives?|shows?|pasted?)\b[^\n:]{{0,80}}"
    rf"\b(?:{_TEXTS})\b[^\n:]{{0,40}}:[ \t]*\n"
    rf"|^[ \t#*]*(?:{_TEXTS})\b[^\n:]{{0,40}}:[ \t*]*\n"
    r"|\b(?:sent|gave|forwarded|mailed|posted|wrote) (?:me|us|this|these)\b[^\n:?]{0,60}[:?][ \t]*\n"
    r"|\b(?:(?:note|text|message|issue)s? below|(?:he|she|they|somebody|someone|colleague|reviewer|team|customer|"
    r"client) (?:wrote|writes|said|says))\s?:",
    re.IGNORECASE | re.MULTILINE,
)
_PRINTED = late(
    r"^[ \t]*(?:@?[\w-]+ (?:opened|closed) (?:this (?:issue|pull request)|on \w+ \d)|@?[\w-]+ commented (?:on )?\w+|"
    r"(?:Reported by|Reporter|Labels|Assignees?|Milestone|Reply-To) ?: |From: .*\nSubject: |"
    r"[#*\s]*(?:describe the bug|steps to reproduce|to reproduce|expected behaviou?r|actual behaviou?r|"
    r"additional context|bug report)\b[*: \t]*$|Traceback \(most recent call last\)|at [\w.$<>]+ ?\([^)\n]+:\d+)",
    re.IGNORECASE | re.MULTILINE,
)
# Where a template has a place for what the user asks, the fence there is theirs.
_SHOWN = late(
    r"^## User Input\n\n(?P<slot>`{3,})[^\n]*\n.*?^(?P=slot)[ \t]*$"
    r"|^[ \t]*(?P<fence>`{3,}|~{3,}|\"{3})[^\n]*\n.*?(?:^[ \t]*(?P=fence)[ \t]*$|\Z)"
    r"|^>[^\n]*$|^[ \t]*[\"“„«「『][^\n]{20,}[\"”“»」』][.,]?[ \t]*$",
    re.DOTALL | re.MULTILINE,
)


def pasted_in(text: str) -> list[tuple[int, int]]:
    """Where pasted text stands in a message of a user: (first, behind the last character), ascending."""
    begins = [found.end() for found in [_ANNOUNCED.search(text)] if found and text[found.end() :].strip()]
    begins += [found.start() for found in [_PRINTED.search(text)] if found]
    end = min(begins, default=len(text))
    spans = [found.span() for found in _SHOWN.finditer(text, 0, end) if not found["slot"]]
    return [*spans, (end, len(text))] if end < len(text) else spans
