"""JSON of no kind that is known: settings, logs, data, or the conversations of a tool that has no reader here.

Nothing in it is taken for words of anybody: it gives no turn and counts as skipped, so that the person is told. Text
that merely begins with a bracket is plain text.
"""

from __future__ import annotations

import json
import re

from core.conversations import plain
from core.conversations.conversation import Conversation
from core.conversations.lines import BOM
from core.conversations.records import json_lines

NAME = "unknown-json"
_STRING = r'"(?:[^"\\]|\\.)*+"'
# An object with a name and a colon, alone or in a list: no text begins like this by chance.
_SURELY = re.compile(rf"\s*(?:\[\s*)?\{{\s*{_STRING}\s*:")
_PERHAPS = re.compile(rf"\s*(?:\{{\s*\}}|\[\s*(?:\{{|\[|\]|(?:{_STRING}|-?\d[\d.eE+-]*|true|false|null)\s*[,\]]))")


def sniff(head: str) -> bool:
    """The beginning of an object or a list."""
    return bool(_SURELY.match(head) or _PERHAPS.match(head))


def read(name: str, data: bytes) -> Conversation:
    """No turns; or the text, where it is none of JSON after all."""
    records = _records(data)
    return Conversation(name, NAME, (), skipped=records) if records else plain.read(name, data)


def _records(data: bytes) -> int:
    """How many JSON values there are: one document, or one a line; 0 for text."""
    text = data.removeprefix(BOM).decode("utf-8", "replace").lstrip()
    try:
        end = json.JSONDecoder(strict=False).raw_decode(text)[1]
    except RecursionError:
        return 1
    except ValueError:  # it may be written still, or cut
        return 1 if _SURELY.match(text) else 0
    if not text[end:].strip():
        return 1
    rows = [record.value is not None for record in json_lines(data)]
    return len(rows) if sum(rows) * 10 >= len(rows) * 9 else 0
